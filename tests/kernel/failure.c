// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cards that fail while they are in use: no request is lost, and a card that
 * works again is used again.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "test.h"

#define N	12

/* ms of patience; also on a slow kernel a self-test must end within it */
#define HASTE	(IS_ENABLED(CONFIG_KASAN) ? 6000u : 3000u)
#define LEISURE	24000u	/* ms, no more than work_wait() has */

/* Registers a card that is overdue after @patience ms. */
static struct card *hasty_card(struct test *t, enum card_kind kind,
			       unsigned int patience)
{
	struct card *card = card_alloc(4);

	card->kind = kind;
	card->patience = patience;
	if (EQUAL(t, card_register(card), 0))
		return card;
	card_free(card);
	return NULL;
}

/*
 * Tries to run a request on @card, every 50 ms and @tries times.  Return:
 * whether one ended well.
 */
static bool works_after(struct card *card, int tries)
{
	struct ocf_session *ses = NULL;
	struct work *w;
	int i, err = -ENODEV;

	for (i = 0; i < tries && err; i++) {
		struct ocf_session_params p = {
			.mode = OCF_MODE_CIPHER, .cipher = OCF_NULL_CIPHER,
			.device = card_number(card),
		};

		msleep(50);
		ses = ocf_session_create(&p, GFP_KERNEL);
		if (IS_ERR(ses))
			continue;
		w = work_make(ses, 64, 0);
		err = ocf_run(&w->req);
		work_free(w);
		ocf_session_put(ses);
	}
	return !err;
}

static bool works_again(struct card *card)
{
	return works_after(card, 6000);
}

static void make_all(struct work **w, struct ocf_session *ses)
{
	int i;

	for (i = 0; i < N; i++) {
		w[i] = work_make(ses, 512, 0);
		/* every third works in place */
		if (i % 3 == 0) {
			memcpy(w[i]->out, w[i]->buf, 512);
			w[i]->req.src = &w[i]->dst;
		}
	}
}

static void submit_all(struct test *t, struct work **w, struct ocf_session *ses)
{
	int i;

	make_all(w, ses);
	for (i = 0; i < N; i++)
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
}

static void free_all(struct work **w)
{
	int i;

	for (i = 0; i < N; i++)
		work_free(w[i]);
}

static void all_right(struct test *t, struct work **w)
{
	int i;

	for (i = 0; i < N; i++) {
		EQUAL(t, work_wait(w[i]), 0);
		EQUAL(t, atomic_read(&w[i]->calls), 1);
		CHECK(t, work_right(w[i], WORK_KEY));
	}
	free_all(w);
}

/*
 * Submits @w to @card, the only card, and then registers another card.  Return:
 * whether the other was there before the core gave up the first, so that the
 * requests could go there.
 */
static bool elsewhere(struct test *t, struct card *card, struct card **other,
		      struct work **w)
{
	bool in_time = true;
	int i, err;

	card_hold(card);
	for (i = 0; i < N; i++) {
		err = work_submit(w[i]);
		if (err == -EINPROGRESS)
			continue;
		EQUAL(t, err, -ENODEV);
		w[i]->err = err;
		complete(&w[i]->done);
	}
	*other = card_make_other(t, 4);
	for (i = 0; i < N; i++) {
		in_time &= work_wait(w[i]) != -ENODEV;
		complete(&w[i]->done);
	}
	return in_time;
}

/* Checks @card, which had overdue requests @w and answers again. */
static void was_overdue(struct test *t, struct card *card, struct work **w)
{
	int i;

	/*
	 * the card may hold requests of a later self-test, which it does not
	 * answer either
	 */
	for (i = 0; i < N; i++)
		CHECK(t, !card_has(card, &w[i]->req));
	if (card->kind == CARD_IS_LEFT) {
		CHECK(t, card->detached >= 4);
		CHECK(t, !card->stopped);
	}
	all_right(t, w);
	card_release(card);
	if (card->kind == CARD_IS_STOPPED)
		CHECK(t, !works_after(card, 40));
	else
		CHECK(t, works_again(card));
	EQUAL(t, card->resets > 0, card->kind == CARD_IS_RESET);
}

static bool overdue_once(struct test *t, enum card_kind kind,
			 unsigned int patience)
{
	struct card *card = hasty_card(t, kind, patience), *other;
	struct ocf_session *ses;
	struct work *w[N];
	bool in_time;

	if (!card)
		return false;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	make_all(w, ses);
	in_time = elsewhere(t, card, &other, w);
	if (in_time) {
		CHECK(t, other->submits >= N);
		was_overdue(t, card, w);
	} else {
		free_all(w);
	}
	ocf_session_put(ses);
	card_drop(card);
	card_drop(other);
	return in_time;
}

/*
 * If a card does not answer, the requests inside and in its queue are done by
 * another card.
 */
static void overdue(struct test *t, enum card_kind kind)
{
	unsigned int patience = HASTE;
	bool in_time = false;
	int i;

	/*
	 * if the host stops the machine in between, the other card comes too
	 * late: try again
	 */
	for (i = 0; i < 4 && !in_time && !t->failed; i++) {
		in_time = overdue_once(t, kind, patience);
		patience = min(4 * patience, LEISURE);
	}
	CHECK(t, in_time);
}

static void failure_overdue_stopped(struct test *t)
{
	overdue(t, CARD_IS_STOPPED);
}

static void failure_overdue_reset(struct test *t)
{
	overdue(t, CARD_IS_RESET);
}

static void failure_overdue_left(struct test *t)
{
	overdue(t, CARD_IS_LEFT);
}

/* If there is no other device, requests fail with -ENODEV, and soon. */
static void failure_of_the_last(struct test *t)
{
	struct card *card = hasty_card(t, CARD_IS_LEFT, HASTE);
	struct ocf_session *ses;
	struct work *w[N];
	int i;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	card_hold(card);
	submit_all(t, w, ses);
	for (i = 0; i < N; i++) {
		EQUAL(t, work_wait(w[i]), -ENODEV);
		EQUAL(t, atomic_read(&w[i]->calls), 1);
	}
	EQUAL(t, work_submit(w[0]), -ENODEV);
	card_release(card);
	CHECK(t, works_again(card));
	/* a session without requests has lost its context and got a new one */
	memset(w[1]->req.iv, WORK_IV, OCF_IV_MAX);
	EQUAL(t, ocf_run(&w[1]->req), 0);
	CHECK(t, work_right(w[1], WORK_KEY));
	free_all(w);
	ocf_session_put(ses);
	card_drop(card);
}

/*
 * A request can also be cancelled while it waits for a context on the failed
 * card.
 */
static void failure_cancelled(struct test *t)
{
	struct card *card = hasty_card(t, CARD_IS_LEFT, HASTE);
	struct ocf_session *ses;
	struct work *w[N];
	int i;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, 0, OCF_DEVICE_ANY);
	ocf_session_put(ses);
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	card_hold(card);
	submit_all(t, w, ses);
	for (i = 0; i < N; i++)
		ocf_cancel(&w[i]->req);
	for (i = 0; i < N; i++) {
		EQUAL(t, work_wait(w[i]), -ECANCELED);
		EQUAL(t, atomic_read(&w[i]->calls), 1);
		work_free(w[i]);
	}
	ocf_session_put(ses);
	card_drop(card);
}

/* If a card fails a request, another device does it. */
static void errors(struct test *t, enum card_fault fault)
{
	struct card *card = hasty_card(t, CARD_IS_LEFT, HASTE), *other;
	struct ocf_session *ses;
	struct work *w[N];

	if (!card)
		return;
	other = card_make_other(t, 4);
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	card_faults(card, fault, N);
	submit_all(t, w, ses);
	all_right(t, w);
	card_faults(card, CARD_WORKS, 0);
	CHECK(t, works_again(card));
	card_drop(other);
	/* if there is no other device, the request fails */
	card_faults(card, fault, 1);
	w[0] = work_make(ses, 64, 0);
	EQUAL(t, ocf_run(&w[0]->req), -EIO);
	EQUAL(t, ocf_run(&w[0]->req), 0);
	work_free(w[0]);
	ocf_session_put(ses);
	card_drop(card);
}

static void failure_errors(struct test *t)
{
	errors(t, CARD_FAILS);
}

static void failure_errors_at_once(struct test *t)
{
	errors(t, CARD_FAILS_AT_ONCE);
}

/* After several failed requests in a row the core tests the card. */
static void failure_errors_in_a_row(struct test *t)
{
	struct card *card = hasty_card(t, CARD_IS_LEFT, HASTE);
	struct ocf_session *ses;
	struct work *w;
	int i, err = 0;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, 0, card_number(card));
	w = work_make(ses, 64, 0);
	card_faults(card, CARD_FAILS, UINT_MAX);
	for (i = 0; i < 100 && err != -ENODEV; i++) {
		err = ocf_run(&w->req);
		CHECK(t, err == -EIO || err == -ENODEV);
		/* the self-test takes time */
		msleep(i < 8 ? 0 : 500);
	}
	CHECK(t, i > 4 && i < 20);
	card_faults(card, CARD_WORKS, 0);
	CHECK(t, works_again(card));
	work_free(w);
	ocf_session_put(ses);
	card_drop(card);
}

/* -ENOMEM does not count as a failure of the card. */
static void failure_short_of_memory(struct test *t)
{
	struct card *card = hasty_card(t, CARD_IS_LEFT, HASTE);
	struct ocf_session *ses;
	struct work *w;
	int i;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, 0, card_number(card));
	w = work_make(ses, 64, 0);
	card_faults(card, CARD_IS_SHORT, 2 * N);
	for (i = 0; i < 2 * N; i++)
		EQUAL(t, ocf_run(&w->req), -ENOMEM);
	EQUAL(t, ocf_run(&w->req), 0);
	CHECK(t, work_right(w, WORK_KEY));
	work_free(w);
	ocf_session_put(ses);
	card_drop(card);
}

/*
 * If the requests of one session fail and the card passes its self-test, the
 * card stays in use.
 */
static void failure_of_ones_own(struct test *t)
{
	struct card *card = hasty_card(t, CARD_IS_LEFT, HASTE);
	struct ocf_session *ses, *other;
	struct work *w, *o;
	unsigned int made;
	int i;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, 0, card_number(card));
	other = work_session(t, OCF_AES_CBC, 0, card_number(card));
	w = work_make(ses, 64, 0);
	o = work_make(other, 64, 0);
	EQUAL(t, ocf_run(&o->req), 0);
	made = card->made;
	card->victim = ses;
	card_faults(card, CARD_FAILS, UINT_MAX);
	for (i = 0; i < 600; i++) {
		EQUAL(t, ocf_run(&w->req), -EIO);
		if (i % 20)
			continue;
		msleep(100);
		EQUAL(t, ocf_run(&o->req), 0);
	}
	/*
	 * self-tests ran meanwhile: each of their sessions has made a context
	 */
	CHECK(t, card->made > made);
	EQUAL(t, card->detached, 0);
	work_free(w);
	work_free(o);
	ocf_session_put(ses);
	ocf_session_put(other);
	card_drop(card);
}

/* If a card says that a tag is wrong, the CPU checks the tag. */
static void failure_accuses(struct test *t)
{
	struct card *card = card_make(t, 4);
	struct ocf_session *ses;
	struct work *w;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_GCM, 0, OCF_DEVICE_ANY);
	w = work_make(ses, 512, 0);
	w->req.tag_start = 512;
	EQUAL(t, ocf_run(&w->req), 0);
	ocf_session_put(ses);
	w->req.session = work_session(t, OCF_AES_GCM, 0, OCF_DEVICE_ANY);
	ses = w->req.session;
	/* the next request goes to the card */
	w->req.op = OCF_OP_DECRYPT;
	w->req.src = &w->dst;
	w->req.dst = &w->src;
	memset(w->req.iv, WORK_IV, OCF_IV_MAX);
	card_faults(card, CARD_ACCUSES, UINT_MAX);
	EQUAL(t, ocf_run(&w->req), 0);
	memset(w->req.iv, WORK_IV, OCF_IV_MAX);
	/* a tag that is really wrong gives -EBADMSG */
	w->out[3] ^= 1;
	EQUAL(t, ocf_run(&w->req), -EBADMSG);
	card_faults(card, CARD_WORKS, 0);
	memset(w->req.iv, WORK_IV, OCF_IV_MAX);
	EQUAL(t, ocf_run(&w->req), -EBADMSG);
	work_free(w);
	ocf_session_put(ses);
	card_drop(card);
}

/* The driver reports the failure before a request is overdue. */
static void failure_known_to_the_driver(struct test *t)
{
	struct card *card = card_alloc(4), *other;
	struct ocf_session *ses;
	struct work *w[N];

	card->kind = CARD_IS_LEFT;
	EQUAL(t, card_register(card), 0);
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	card_hold(card);
	submit_all(t, w, ses);
	other = card_make_other(t, 4);
	ocf_device_fail(card->dev);
	ocf_device_fail(card->dev);
	all_right(t, w);
	card_release(card);
	ocf_device_revive(card->dev);
	CHECK(t, works_again(card));
	ocf_device_revive(card->dev);
	ocf_session_put(ses);
	card_drop(card);
	card_drop(other);
}

/* A card is removed during its recovery. */
static void failure_then_gone(struct test *t)
{
	struct ocf_session *ses;
	struct card *card;
	struct work *w[N];
	int i;

	for (i = 0; i < 6; i++) {
		card = hasty_card(t, i % 3, HASTE);
		if (!card)
			return;
		ses = work_session(t, OCF_AES_CBC, 0, OCF_DEVICE_ANY);
		ocf_session_put(ses);
		ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
				   OCF_DEVICE_ANY);
		card_hold(card);
		submit_all(t, w, ses);
		ocf_device_fail(card->dev);
		msleep(i / 3 * 100);
		card_drop(card);
		for (int j = 0; j < N; j++) {
			EQUAL(t, work_wait(w[j]), -ENODEV);
			work_free(w[j]);
		}
		ocf_session_put(ses);
	}
}

/*
 * While a failed card takes long to forget its contexts, sessions of other
 * devices can be opened and rekeyed.
 */
static void failure_forgets_slowly(struct test *t)
{
	struct card *card = hasty_card(t, CARD_IS_LEFT, LEISURE);
	DECLARE_COMPLETION_ONSTACK(forget);
	struct ocf_session *ses, *other;
	int i;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	card->forget = &forget;
	ocf_device_fail(card->dev);
	for (i = 0; i < 2000 && !READ_ONCE(card->forgetting); i++)
		msleep(50);
	CHECK(t, READ_ONCE(card->forgetting));
	other = work_session(t, OCF_AES_CBC, OCF_SESSION_SOFTWARE,
			     OCF_DEVICE_ANY);
	EQUAL(t, ocf_session_rekey(other, NULL, 0, NULL, 0, NULL), 0);
	CHECK(t, READ_ONCE(card->forgetting));
	complete_all(&forget);
	CHECK(t, works_again(card));
	card->forget = NULL;
	ocf_session_put(other);
	ocf_session_put(ses);
	card_drop(card);
}

/*
 * A task that closes a session does not wait until a card has forgotten the
 * context.  Another card forgets its contexts meanwhile.
 */
static void failure_forgets_sessions_slowly(struct test *t)
{
	struct card *card = card_make(t, 4), *other = card_make_other(t, 4);
	DECLARE_COMPLETION_ONSTACK(forget);
	struct ocf_session *ses, *its;
	int i;

	if (!card || !other)
		goto drop;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   card_number(card));
	its = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   card_number(other));
	card->forget = &forget;
	ocf_session_put(ses);
	for (i = 0; i < 60 * HZ && !READ_ONCE(card->forgetting); i++)
		schedule_timeout_uninterruptible(1);
	CHECK(t, READ_ONCE(card->forgetting));
	ocf_session_put(its);
	for (i = 0; i < 60 * HZ && atomic_read(&other->contexts); i++)
		schedule_timeout_uninterruptible(1);
	EQUAL(t, atomic_read(&other->contexts), 0);
	CHECK(t, READ_ONCE(card->forgetting));
	complete_all(&forget);
drop:
	card_drop(other);
	card_drop(card);
}

struct opening {
	struct work_struct	work;
	struct test		*t;
	struct card		*card;
	struct ocf_session	*ses;
};

static void open_one(struct work_struct *work)
{
	struct opening *o = container_of(work, struct opening, work);

	o->ses = work_session(o->t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			      card_number(o->card));
}

/* A card recovers while another card takes long to make a context. */
static void failure_beside_a_slow_card(struct test *t)
{
	struct card *card = hasty_card(t, CARD_IS_LEFT, LEISURE);
	struct opening o = { .t = t, .card = card_make_other(t, 4) };
	DECLARE_COMPLETION_ONSTACK(learn);
	struct ocf_session *ses;
	int i;

	if (!card || !o.card)
		goto drop;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   card_number(card));
	o.card->learn = &learn;
	INIT_WORK_ONSTACK(&o.work, open_one);
	queue_work(system_unbound_wq, &o.work);
	for (i = 0; i < 2000 && !READ_ONCE(o.card->learning); i++)
		msleep(20);
	CHECK(t, READ_ONCE(o.card->learning));
	ocf_device_fail(card->dev);
	CHECK(t, works_again(card));
	CHECK(t, READ_ONCE(o.card->learning));
	complete_all(&learn);
	flush_work(&o.work);
	destroy_work_on_stack(&o.work);
	ocf_session_put(o.ses);
	ocf_session_put(ses);
drop:
	card_drop(o.card);
	card_drop(card);
}

const struct test_case failure_tests[] = {
	TEST(failure_overdue_stopped), TEST(failure_overdue_reset),
	TEST(failure_overdue_left), TEST(failure_of_the_last),
	TEST(failure_cancelled), TEST(failure_errors),
	TEST(failure_errors_at_once), TEST(failure_errors_in_a_row),
	TEST(failure_short_of_memory),
	TEST(failure_of_ones_own),
	TEST(failure_accuses), TEST(failure_known_to_the_driver),
	TEST(failure_then_gone), TEST(failure_forgets_slowly),
	TEST(failure_forgets_sessions_slowly),
	TEST(failure_beside_a_slow_card), {}
};
