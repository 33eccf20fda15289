// SPDX-License-Identifier: GPL-2.0-only
/*
 * Public-key operations, on the CPU and on a card that does one after the
 * other.
 */
#include <linux/delay.h>
#include <linux/ocf_pk.h>
#include <linux/ocf_user.h>
#include <linux/slab.h>

#include "test.h"

/* ms of patience, as in failure.c */
#define HASTE	(IS_ENABLED(CONFIG_KASAN) ? 6000u : 1000u)
#define BYTES	700	/* a size that the self-test has not used */

static DEFINE_SPINLOCK(lock);
static struct ocf_pk_request *held;	/* the request in the card */
static bool hold;			/* the card answers none */
static unsigned int slow;		/* ms that each takes */
static unsigned int submits;
static bool by_submitter;		/* called submit() */

/* Computes the result of @req on the CPU. */
static int compute(const struct ocf_pk_request *req)
{
	struct ocf_pk_request *sub = ocf_pk_alloc(GFP_KERNEL);
	int i, err;

	if (!sub)
		return -ENOMEM;
	sub->op = *req->now;
	sub->flags = OCF_SESSION_SOFTWARE;
	err = ocf_pk_run(sub);
	for (i = 0; i < OCF_PK_OUT_MAX; i++)
		req->now->out[i].len = sub->op.out[i].len;
	ocf_pk_free(sub);
	return err;
}

static int pk_submit(struct ocf_pk_request *req)
{
	int err = compute(req);

	msleep(slow);
	spin_lock_bh(&lock);
	submits++;
	by_submitter |= !(current->flags & PF_WQ_WORKER);
	if (hold && !err) {
		held = req;
		err = -EINPROGRESS;
	}
	spin_unlock_bh(&lock);
	return err;
}

static bool pk_detach(struct ocf_pk_request *req)
{
	bool was;

	spin_lock_bh(&lock);
	was = held == req;
	if (was)
		held = NULL;
	spin_unlock_bh(&lock);
	return was;
}

/* Answers the request in the card.  Return: whether there was one. */
static bool answer(void)
{
	struct ocf_pk_request *req;

	spin_lock_bh(&lock);
	req = held;
	held = NULL;
	hold = false;
	spin_unlock_bh(&lock);
	if (req)
		ocf_pk_complete(req, 0);
	return req;
}

static const struct ocf_pk_ops pk_ops = {
	.codes = BIT(OCF_PK_MOD) | BIT(OCF_PK_ECDH), .depth = 4,
	.submit = pk_submit, .detach = pk_detach,
};

struct reduction {
	struct ocf_pk_request	*req;
	struct completion	over;
	int			err;
	u8			a[BYTES], e[BYTES], m[BYTES], r[BYTES];
};

static void over(struct ocf_pk_request *req, int err)
{
	struct reduction *x = req->cookie;

	x->err = err;
	complete(&x->over);
}

/* 2^8 mod 2^8 - 1, both followed by many zeros. */
static struct reduction *reduction_for(const struct card *card)
{
	struct reduction *x = kzalloc(sizeof(*x), GFP_KERNEL);

	x->req = ocf_pk_alloc(GFP_KERNEL);
	x->a[0] = 1;
	x->m[1] = 0xff;
	x->req->op.code = OCF_PK_MOD;
	x->req->op.in[0] = (struct ocf_pk_operand){ x->a, BYTES };
	x->req->op.in[1] = (struct ocf_pk_operand){ x->m + 1, BYTES - 1 };
	x->req->op.out[0] = (struct ocf_pk_result){ x->r, BYTES - 1 };
	x->req->device = card ? card_number(card) : OCF_DEVICE_ANY;
	x->req->done = over;
	x->req->cookie = x;
	init_completion(&x->over);
	return x;
}

static bool reduction_right(const struct reduction *x)
{
	return !x->err && x->r[0] == 1 && !memchr_inv(x->r + 1, 0, BYTES - 2);
}

static void reduction_free(struct reduction *x)
{
	ocf_pk_free(x->req);
	kfree(x);
}

/*
 * A symmetric request waits behind a slow operation for longer than the card's
 * patience.
 */
static void wait_behind(struct test *t, struct card *card,
			struct ocf_session *ses, struct reduction *x)
{
	struct work *w = work_make(ses, 512, 0);

	EQUAL(t, work_submit(w), -EINPROGRESS);
	/* longer than its patience, but the card does not count as dead yet */
	msleep(HASTE + HASTE / 2);
	CHECK(t, card_has(card, &w->req));
	CHECK(t, answer());
	wait_for_completion(&x->over);
	CHECK(t, reduction_right(x));
	/* now it is next */
	msleep(HASTE / 2);
	CHECK(t, card_has(card, &w->req));
	card_release(card);
	EQUAL(t, work_wait(w), 0);
	EQUAL(t, atomic_read(&w->calls), 1);
	CHECK(t, work_right(w, WORK_KEY));
	work_free(w);
}

/*
 * A symmetric request without an operation in front of it is overdue, and the
 * card has failed.
 */
static void wait_for_nothing(struct test *t, struct card *card,
			     struct ocf_session *ses)
{
	struct work *w = work_make(ses, 512, 0);

	card_hold(card);
	EQUAL(t, work_submit(w), -EINPROGRESS);
	EQUAL(t, work_wait(w), -ENODEV);
	CHECK(t, !card_has(card, &w->req));
	work_free(w);
}

static struct card *pk_card(struct test *t)
{
	struct card *card = card_alloc(4);

	card->kind = CARD_IS_LEFT;
	card->patience = HASTE;
	card->pk = &pk_ops;
	slow = 0;
	hold = false;
	if (EQUAL(t, card_register(card), 0))
		return card;
	card_free(card);
	return NULL;
}

/* A card with slow public-key operations does not count as dead. */
static void pk_is_in_the_way(struct test *t)
{
	struct card *card = pk_card(t);
	struct ocf_session *ses;
	struct reduction *x;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	x = reduction_for(card);
	slow = HASTE;		/* which the core learns */
	EQUAL(t, ocf_pk_run(x->req), 0);
	CHECK(t, reduction_right(x));
	slow = 0;
	hold = true;
	card_hold(card);
	memset(x->r, 0xee, BYTES);
	if (EQUAL(t, ocf_pk_submit(x->req), 0))
		wait_behind(t, card, ses, x);
	wait_for_nothing(t, card, ses);
	card_release(card);
	CHECK(t, !by_submitter);
	reduction_free(x);
	ocf_session_put(ses);
	card_drop(card);
}

static int ecdh(struct card *card, const u8 *point, u32 len, u8 *secret)
{
	struct ocf_pk_request *req = ocf_pk_alloc(GFP_KERNEL);
	static const u8 private[32] = { [31] = 2 };
	int err;

	req->op.code = OCF_PK_ECDH;
	req->op.curve = OCF_PK_P256;
	req->op.in[0] = (struct ocf_pk_operand){ private, 32 };
	req->op.in[1] = (struct ocf_pk_operand){ point, len };
	req->op.out[0] = (struct ocf_pk_result){ secret, 32 };
	req->device = card_number(card);
	err = ocf_pk_run(req);
	ocf_pk_free(req);
	return err;
}

/* The generator of P-256: SP 800-186, 3.2.1.3 */
static const u8 generator[] = {
	4,
	0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47,
	0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2,
	0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0,
	0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96,
	0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b,
	0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16,
	0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce,
	0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
};

/*
 * A point that is not on the curve would give a secret away, and never gets to
 * a card.
 */
static void pk_points(struct test *t)
{
	struct card *card = pk_card(t);
	u8 point[sizeof(generator) + 1] = { 0 }, secret[32];
	unsigned int before, i;

	if (!card)
		return;
	memcpy(point, generator, sizeof(generator));
	before = submits;
	EQUAL(t, ecdh(card, point, 65, secret), 0);
	EQUAL(t, submits, before + 1);
	for (i = 0; i < 65; i++) {
		point[i] ^= 0x10;
		EQUAL(t, ecdh(card, point, 65, secret), -EKEYREJECTED);
		point[i] ^= 0x10;
	}
	for (i = 1; i <= 66; i++)
		if (i != 65)
			EQUAL(t, ecdh(card, point, i, secret), -EKEYREJECTED);
	/* a coordinate that is not below the prime */
	memset(point + 1, 0xff, 32);
	EQUAL(t, ecdh(card, point, 65, secret), -EKEYREJECTED);
	memset(point + 1, 0, 64);
	EQUAL(t, ecdh(card, point, 65, secret), -EKEYREJECTED);
	EQUAL(t, submits, before + 1);
	card_drop(card);
}

#define CROWD	40		/* operations that take long */
#define LONG	256		/* bytes of each */

/* Makes an exponentiation of @len bytes for @owner, on the CPU. */
static struct reduction *power_of(struct test *t, u32 owner, u32 len)
{
	struct reduction *x = reduction_for(NULL);

	memset(x->a, 0x5a, len);
	memset(x->m, 0xff, len);
	memset(x->e, 0xa5, len);
	x->req->op.code = OCF_PK_MOD_EXP;
	x->req->op.in[0] = (struct ocf_pk_operand){ x->a, len };
	x->req->op.in[1] = (struct ocf_pk_operand){ x->e, len };
	x->req->op.in[2] = (struct ocf_pk_operand){ x->m, len };
	x->req->op.out[0] = (struct ocf_pk_result){ x->r, len };
	x->req->flags = OCF_SESSION_SOFTWARE;
	x->req->owner = owner;
	EQUAL(t, ocf_pk_submit(x->req), 0);
	return x;
}

/*
 * The CPU has many operations of one owner.  Those of another owner do not wait
 * for them, and a waiting one can be cancelled at once.
 */
static void pk_turns(struct test *t)
{
	struct reduction *many[CROWD], *one;
	int i, over = 0;

	for (i = 0; i < CROWD; i++)
		many[i] = power_of(t, 1, LONG);
	one = power_of(t, 2, LONG);
	ocf_pk_cancel(many[CROWD - 1]->req);
	CHECK(t, completion_done(&many[CROWD - 1]->over));
	wait_for_completion(&one->over);
	EQUAL(t, one->err, 0);
	for (i = 0; i < CROWD; i++)
		over += completion_done(&many[i]->over);
	CHECK(t, over < CROWD / 2);
	for (i = 0; i < CROWD; i++) {
		wait_for_completion(&many[i]->over);
		EQUAL(t, many[i]->err, i < CROWD - 1 ? 0 : -ECANCELED);
		reduction_free(many[i]);
	}
	reduction_free(one);
}

static void power_end(struct test *t, struct reduction *x)
{
	wait_for_completion(&x->over);
	EQUAL(t, x->err, 0);
	reduction_free(x);
}

/* Owners get equal time, and not equally many operations. */
static void pk_times(struct test *t)
{
	struct reduction *large[CROWD], *small[CROWD];
	int i, over = 0;

	/* the core learns how long each takes */
	large[0] = power_of(t, 1, LONG);
	small[0] = power_of(t, 2, LONG / 4);
	power_end(t, large[0]);
	power_end(t, small[0]);
	for (i = 0; i < CROWD; i++) {
		large[i] = power_of(t, 1, LONG);
		small[i] = power_of(t, 2, LONG / 4);
	}
	for (i = 0; i < CROWD; i++)
		power_end(t, small[i]);
	for (i = 0; i < CROWD; i++)
		over += completion_done(&large[i]->over);
	CHECK(t, over < CROWD / 2);
	for (i = 0; i < CROWD; i++)
		power_end(t, large[i]);
}

static struct completion callback_begun;
static bool callback_over;

static void take_long(struct ocf_pk_request *req, int err)
{
	complete(&callback_begun);
	msleep(200);
	WRITE_ONCE(callback_over, true);
}

/* A consumer's code may be unloaded after ocf_pk_flush(). */
static void pk_flush(struct test *t)
{
	struct reduction *x = reduction_for(NULL);
	struct ocf_workers *workers = ocf_workers_get();

	init_completion(&callback_begun);
	WRITE_ONCE(callback_over, false);
	ocf_workers_start(workers);
	x->req->workers = workers;
	x->req->flags = OCF_SESSION_SOFTWARE;
	x->req->done = take_long;
	if (EQUAL(t, ocf_pk_submit(x->req), 0)) {
		wait_for_completion(&callback_begun);
		ocf_pk_flush();
		CHECK(t, READ_ONCE(callback_over));
	}
	reduction_free(x);
	ocf_workers_put(workers);
}

const struct test_case pk_tests[] = {
	TEST(pk_flush),
	TEST(pk_turns), TEST(pk_times),
	TEST(pk_is_in_the_way),
	TEST(pk_points),
	{}
};
