// SPDX-License-Identifier: GPL-2.0-only
/* Sessions: invalid parameters, lifetime, and new keys. */
#include <linux/delay.h>
#include <linux/slab.h>

#include "test.h"

static const u8 key[64] = "as many bytes as anybody wants, and not secret";

static int refusal_on(struct ocf_session_params p, int device)
{
	struct ocf_session *ses;

	p.device = device;
	if (!p.key)
		p.key = key;
	if (!p.mackey)
		p.mackey = key;
	ses = ocf_session_create(&p, GFP_KERNEL);
	if (IS_ERR(ses))
		return PTR_ERR(ses);
	ocf_session_put(ses);
	return 0;
}

static int refusal(struct ocf_session_params p)
{
	return refusal_on(p, OCF_DEVICE_ANY);
}

#define PARAMS(...) ((struct ocf_session_params){ __VA_ARGS__ })

static void session_params(struct test *t)
{
	EQUAL(t, refusal(PARAMS(.mode = OCF_MODE_CIPHER,
				.cipher = OCF_AES_CBC, .keylen = 16)), 0);
	EQUAL(t, refusal(PARAMS(.mode = OCF_MODE_NONE,
				.cipher = OCF_AES_CBC, .keylen = 16)), -EINVAL);
	EQUAL(t, refusal(PARAMS(.mode = OCF_MODE_COUNT,
				.cipher = OCF_AES_CBC, .keylen = 16)), -EINVAL);
	EQUAL(t, refusal(PARAMS(.mode = OCF_MODE_CIPHER,
				.cipher = OCF_ALG_COUNT, .keylen = 16)),
	      -EINVAL);
	EQUAL(t, refusal(PARAMS(.mode = OCF_MODE_CIPHER,
				.cipher = OCF_AES_CBC, .keylen = 17)), -EINVAL);
	EQUAL(t, refusal(PARAMS(.mode = OCF_MODE_CIPHER,
				.cipher = OCF_AES_CBC, .keylen = 16,
				.flags = ~0u)), -EINVAL);
	EQUAL(t, refusal(PARAMS(.mode = OCF_MODE_CIPHER,
				.cipher = OCF_SHA256)), -EINVAL);
	EQUAL(t, refusal(PARAMS(.mode = OCF_MODE_CIPHER, .cipher = OCF_DES_CBC,
				.keylen = 8)), -EPERM);
	EQUAL(t, refusal_on(PARAMS(.mode = OCF_MODE_CIPHER,
				   .cipher = OCF_AES_CBC, .keylen = 16), 63),
	      -ENODEV);
	EQUAL(t, refusal(PARAMS(.mode = OCF_MODE_CIPHER,
				.cipher = OCF_AES_CBC, .keylen = 16,
				.flags = OCF_SESSION_HARDWARE)), -EOPNOTSUPP);
}

static void session_info(struct test *t)
{
	struct ocf_session *ses = work_session(t, OCF_AES_CBC, 0,
					       OCF_DEVICE_ANY);
	struct ocf_session_info info;
	struct card *card;

	if (!ses)
		return;
	ocf_session_info(ses, &info);
	EQUAL(t, info.mode, OCF_MODE_CIPHER);
	EQUAL(t, info.cipher, OCF_AES_CBC);
	EQUAL(t, info.mac, OCF_ALG_NONE);
	EQUAL(t, info.ivlen, 16);
	EQUAL(t, info.block, 16);
	CHECK(t, !info.hardware);
	EQUAL(t, info.device, ocf_device_number("cryptosoft0"));
	card = card_make(t, 4);
	ocf_session_info(ses, &info);
	CHECK(t, info.hardware);
	card_drop(card);
	ocf_session_info(ses, &info);
	CHECK(t, !info.hardware);
	ocf_session_put(ses);
}

/*
 * A request holds its session, so the consumer may put the session right after
 * the submission.
 */
static void session_outlived(struct test *t)
{
	struct card *card = card_make(t, 4);
	struct ocf_session *ses;
	struct work *w;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	w = ses ? work_make(ses, 256, 0) : NULL;
	if (CHECK(t, w)) {
		card_hold(card);
		EQUAL(t, work_submit(w), -EINPROGRESS);
		ocf_session_put(ses);
		CHECK(t, !work_arrived(w));
		EQUAL(t, atomic_read(&card->contexts), 1);
		card_release(card);
		EQUAL(t, work_wait(w), 0);
		CHECK(t, work_right(w, WORK_KEY));
	}
	work_free(w);
	card_drop(card);
}

/*
 * ocf_cpu_takes() is true for small requests only, and only if no card may be
 * faster.
 */
static void session_left_to_the_cpu(struct test *t)
{
	struct ocf_session *ses = work_session(t, OCF_AES_CBC, 0,
					       OCF_DEVICE_ANY);
	struct card *card;

	if (!ses)
		return;
	CHECK(t, ocf_cpu_takes(ses, OCF_OP_ENCRYPT, 64));
	CHECK(t, ocf_cpu_takes(ses, OCF_OP_DECRYPT, SZ_16K));
	CHECK(t, !ocf_cpu_takes(ses, OCF_OP_DECRYPT, SZ_16K + 1));
	ocf_cpu_failed(ses, 64);
	card = card_make(t, 4);
	CHECK(t, !ocf_cpu_takes(ses, OCF_OP_ENCRYPT, 64));
	card_drop(card);
	CHECK(t, ocf_cpu_takes(ses, OCF_OP_ENCRYPT, 64));
	ocf_session_put(ses);
}

static void session_put_in_bh(struct test *t)
{
	struct ocf_session *ses = work_session(t, OCF_AES_CBC, 0,
					       OCF_DEVICE_ANY);

	if (!ses)
		return;
	local_bh_disable();
	ocf_session_get(ses);
	ocf_session_put_deferred(ses);
	ocf_session_put_deferred(ses);
	ocf_session_put_deferred(NULL);
	local_bh_enable();
	ocf_session_put(NULL);
}

/*
 * Requests that were submitted before the rekeying use the old keys, and later
 * ones use the new keys.
 */
static void session_rekey(struct test *t)
{
	struct card *card = card_make(t, 8);
	struct ocf_session *ses;
	struct work *old, *new;
	u8 next[16];

	if (!card)
		return;
	memset(next, 0x99, sizeof(next));
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	if (!ses)
		goto drop;
	old = work_make(ses, 512, 0);
	new = work_make(ses, 512, 0);
	card_hold(card);
	EQUAL(t, work_submit(old), -EINPROGRESS);
	EQUAL(t, ocf_session_rekey(ses, next, 16, NULL, 0, NULL), 0);
	EQUAL(t, work_submit(new), -EINPROGRESS);
	/* after keys that are refused the session has its old ones */
	EQUAL(t, ocf_session_rekey(ses, next, 5, NULL, 0, NULL), -EINVAL);
	card_release(card);
	EQUAL(t, work_wait(old), 0);
	EQUAL(t, work_wait(new), 0);
	CHECK(t, work_right(old, WORK_KEY));
	CHECK(t, work_right(new, 0x99));
	work_free(old);
	work_free(new);
	ocf_session_put(ses);
drop:
	card_drop(card);
}

/*
 * New keys for each message: setting them does not wait until the old ones are
 * free.
 */
static void session_rekeyed_often(struct test *t)
{
	struct ocf_session *ses = work_session(t, OCF_AES_CBC,
					       OCF_SESSION_SOFTWARE,
					       OCF_DEVICE_ANY);
	unsigned long slept;
	u8 next[16];
	int i;

	if (!ses)
		return;
	slept = current->nvcsw;
	for (i = 0; i < 100; i++) {
		memset(next, i, sizeof(next));
		EQUAL(t, ocf_session_rekey(ses, next, 16, NULL, 0, NULL), 0);
	}
	/*
	 * if rekeying waited for a grace period, the task would sleep each time
	 */
	CHECK(t, current->nvcsw - slept < 50);
	ocf_session_put(ses);
}

/* A task that is inside the CPU's driver for as long as the test wants */
struct slow {
	struct work_struct	work;
	struct card		*soft;
	struct ocf_session	*ses;
	struct completion	ponder;
	struct work		*w;
	int			err;
};

static void slow_work(struct work_struct *work)
{
	struct slow *s = container_of(work, struct slow, work);

	s->err = ocf_run(&s->w->req);
}

/* Starts the @n-th of these tasks.  Return: whether it is in the driver. */
static bool slow_start(struct test *t, struct slow *s, int n)
{
	s->w = s->ses ? work_make(s->ses, 256, 0) : NULL;
	if (!CHECK(t, s->w))
		return false;
	INIT_WORK_ONSTACK(&s->work, slow_work);
	queue_work(system_unbound_wq, &s->work);
	card_until_pondering(t, s->soft, n);
	return true;
}

/* Opens the session and starts the first of these tasks. */
static bool slow_begin(struct test *t, struct slow *s)
{
	s->soft = card_make_soft(t);
	if (!s->soft)
		return false;
	s->ses = work_session(t, OCF_AES_CBC, OCF_SESSION_SOFTWARE,
			      card_number(s->soft));
	init_completion(&s->ponder);
	s->soft->ponder = &s->ponder;
	return slow_start(t, s, 1);
}

static void slow_finish(struct test *t, struct slow *s)
{
	flush_work(&s->work);
	destroy_work_on_stack(&s->work);
	EQUAL(t, s->err, 0);
	work_free(s->w);
}

static void slow_end(struct test *t, struct slow *s)
{
	EQUAL(t, atomic_read(&s->soft->pondering), 1);
	complete_all(&s->ponder);
	flush_work(&s->work);
	CHECK(t, work_right(s->w, WORK_KEY));
	slow_finish(t, s);
	ocf_session_put(s->ses);
	card_drop(s->soft);
}

/*
 * A card with capacity for one context is registered, used by two sessions, and
 * removed.
 */
static void card_comes_and_goes(struct test *t)
{
	struct card *card = card_make(t, 4);
	struct ocf_session *ses[2];
	struct work *w;
	int i;

	if (!card)
		return;
	card->room = 1;
	for (i = 0; i < ARRAY_SIZE(ses); i++) {
		ses[i] = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
				      card_number(card));
		w = ses[i] ? work_make(ses[i], 256, 0) : NULL;
		if (!CHECK(t, w))
			continue;
		EQUAL(t, work_submit(w), -EINPROGRESS);
		EQUAL(t, work_wait(w), 0);
		work_free(w);
	}
	while (i--)
		ocf_session_put(ses[i]);
	card_drop(card);
}

/*
 * A task that takes long for its work on the CPU does not delay other users'
 * sessions, keys or devices.
 */
static void session_beside_slow_work(struct test *t)
{
	struct ocf_session *ses;
	struct slow s = {};
	u8 next[16];
	int i;

	if (!slow_begin(t, &s))
		return;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_SOFTWARE,
			   OCF_DEVICE_ANY);
	/* more key generations than any limit that users might share */
	for (i = 0; ses && i < 1100; i++) {
		memset(next, i, sizeof(next));
		EQUAL(t, ocf_session_rekey(ses, next, 16, NULL, 0, NULL), 0);
	}
	ocf_session_put(ses);
	card_comes_and_goes(t);
	/*
	 * the session of the slow work can be rekeyed, too; the work goes on
	 * with the old keys
	 */
	for (i = 0; i < 2; i++) {
		memset(next, i, sizeof(next));
		EQUAL(t, ocf_session_rekey(s.ses, next, 16, NULL, 0, NULL), 0);
	}
	slow_end(t, &s);
}

/* Replaced generations that a session may have, as in session.c */
#define KEPT	4

/* A call that another task makes */
struct other {
	struct work_struct	work;
	struct ocf_session	*ses;
	struct task_struct	*task;
	struct completion	done;
	int			err;
};

static void rekey_by_other(struct work_struct *work)
{
	struct other *o = container_of(work, struct other, work);
	u8 next[16] = {};

	WRITE_ONCE(o->task, current);
	o->err = ocf_session_rekey(o->ses, next, 16, NULL, 0, NULL);
}

static void derive_by_other(struct work_struct *work)
{
	struct other *o = container_of(work, struct other, work);
	struct ocf_session *new;

	new = ocf_session_derive(o->ses, OCF_MODE_CIPHER, 0, 0, GFP_KERNEL);
	o->err = PTR_ERR_OR_ZERO(new);
	if (!o->err)
		ocf_session_put(new);
	complete(&o->done);
}

static void other_start(struct other *o, struct ocf_session *ses,
			work_func_t func)
{
	o->ses = ses;
	init_completion(&o->done);
	INIT_WORK_ONSTACK(&o->work, func);
	queue_work(system_unbound_wq, &o->work);
}

static void other_end(struct test *t, struct other *o)
{
	flush_work(&o->work);
	destroy_work_on_stack(&o->work);
	EQUAL(t, o->err, 0);
}

static bool is_waiting(const struct other *o)
{
	struct task_struct *task = READ_ONCE(o->task);

	return task && READ_ONCE(task->__state) & TASK_WAKEKILL;
}

/*
 * A task that sets new keys waits until an old generation is free.  Another
 * task that derives a session does not wait for it.
 */
static void session_rekey_waits_alone(struct test *t)
{
	struct other rekey = {}, derive = {};
	struct slow s[KEPT] = {};
	u8 next[16] = {};
	int i;

	if (!slow_begin(t, &s[0]))
		return;
	for (i = 1; i < KEPT; i++) {
		EQUAL(t, ocf_session_rekey(s[0].ses, next, 16, NULL, 0, NULL),
		      0);
		s[i].soft = s[0].soft;
		s[i].ses = s[0].ses;
		slow_start(t, &s[i], i + 1);
	}
	EQUAL(t, ocf_session_rekey(s[0].ses, next, 16, NULL, 0, NULL), 0);
	other_start(&rekey, s[0].ses, rekey_by_other);
	for (i = 0; !is_waiting(&rekey) && i < 60000; i++)
		usleep_range(1000, 2000);
	CHECK(t, is_waiting(&rekey));
	other_start(&derive, s[0].ses, derive_by_other);
	CHECK(t, wait_for_completion_timeout(&derive.done, 60 * HZ));
	complete_all(&s[0].ponder);
	other_end(t, &rekey);
	other_end(t, &derive);
	for (i = 0; i < KEPT; i++)
		slow_finish(t, &s[i]);
	ocf_session_put(s[0].ses);
	card_drop(s[0].soft);
}

/*
 * A request from before the rekeying uses the old keys, even if it is replayed
 * on another device afterwards.
 */
static void session_rekey_moves(struct test *t)
{
	struct card *card = card_make(t, 8);
	struct ocf_session *ses;
	struct work *old = NULL;
	u8 next[16];

	if (!card)
		return;
	memset(next, 0x99, sizeof(next));
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	if (ses)
		old = work_make(ses, 512, 0);
	if (CHECK(t, old)) {
		struct card *other = card_alloc(8);

		card_hold(card);
		EQUAL(t, work_submit(old), -EINPROGRESS);
		EQUAL(t, ocf_session_rekey(ses, next, 16, NULL, 0, NULL), 0);
		other->name = "other";
		EQUAL(t, card_register(other), 0);
		card_drop(card);
		card = NULL;
		EQUAL(t, work_wait(old), 0);
		CHECK(t, work_right(old, WORK_KEY));
		work_free(old);
		ocf_session_put(ses);
		card_drop(other);
	}
	card_drop(card);
}

/* If the only card refuses the keys, creating or rekeying the session fails. */
static void session_key_refused(struct test *t)
{
	struct card *card = card_make(t, 8);
	struct ocf_session *ses;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	card->refuse_key = -EKEYREJECTED;
	EQUAL(t, refusal(PARAMS(.mode = OCF_MODE_CIPHER,
				.cipher = OCF_AES_CBC, .keylen = 16,
				.flags = OCF_SESSION_HARDWARE)), -EKEYREJECTED);
	if (ses)
		EQUAL(t, ocf_session_rekey(ses, key, 16, NULL, 0, NULL),
		      -EKEYREJECTED);
	card->refuse_key = -ENOSPC;
	EQUAL(t, refusal(PARAMS(.mode = OCF_MODE_CIPHER,
				.cipher = OCF_AES_CBC, .keylen = 16)), 0);
	ocf_session_put(ses);
	card_drop(card);
}

static void session_derive(struct test *t)
{
	struct ocf_session_params p = PARAMS(.mode = OCF_MODE_CHAIN,
					     .cipher = OCF_AES_CBC,
					     .mac = OCF_HMAC_SHA1,
					     .device = OCF_DEVICE_ANY,
					     .key = key, .keylen = 16,
					     .mackey = key, .mackeylen = 20);
	struct ocf_session *ses = ocf_session_create(&p, GFP_KERNEL), *new;
	struct ocf_session_info info;

	if (!EQUAL(t, PTR_ERR_OR_ZERO(ses), 0))
		return;
	new = ocf_session_derive(ses, OCF_MODE_ETA, 12, 0, GFP_KERNEL);
	if (EQUAL(t, PTR_ERR_OR_ZERO(new), 0)) {
		ocf_session_put(ses);
		ocf_session_info(new, &info);
		EQUAL(t, info.mode, OCF_MODE_ETA);
		EQUAL(t, info.maclen, 12);
		ses = ocf_session_derive(new, OCF_MODE_AEAD, 0, 0, GFP_KERNEL);
		EQUAL(t, PTR_ERR_OR_ZERO(ses), -EINVAL);
		ocf_session_put(new);
	} else {
		ocf_session_put(ses);
	}
}

#define SOME	64	/* requests after the first few */

static struct ocf_session *with_policy(struct test *t, enum ocf_policy policy)
{
	struct ocf_session_params p = PARAMS(.mode = OCF_MODE_CIPHER,
					     .cipher = OCF_AES_CBC,
					     .device = OCF_DEVICE_ANY,
					     .policy = policy,
					     .key = key, .keylen = 16);
	struct ocf_session *ses = ocf_session_create(&p, GFP_KERNEL);

	return EQUAL(t, PTR_ERR_OR_ZERO(ses), 0) ? ses : NULL;
}

/* Runs requests one after the other.  Return: how many @card has done. */
static int done_by_card(struct test *t, struct card *card,
			enum ocf_policy policy)
{
	struct ocf_session *ses = with_policy(t, policy);
	int i, n = 0, err;
	struct work *w;

	for (i = 0; ses && i < 2 * SOME; i++) {
		w = work_make(ses, 64, 0);
		err = work_submit(w);
		EQUAL(t, err == -EINPROGRESS ? work_wait(w) : err, 0);
		/* the card has no context for the first of them */
		n += i >= SOME && w->req.used == card_number(card);
		work_free(w);
	}
	ocf_session_put(ses);
	return n;
}

/*
 * A session with the policy to spare the CPU uses the card for requests that
 * the CPU would finish sooner.  If the host stops the machine in between, the
 * estimates are wrong, so one try of ten has to succeed.
 */
static void session_policy(struct test *t)
{
	int soon, sparing, tries = 10;
	struct card *card;

	do {
		card = card_make(t, 8);
		if (!card)
			return;
		soon = done_by_card(t, card, OCF_POLICY_LATENCY);
		sparing = done_by_card(t, card, OCF_POLICY_CPU);
		card_drop(card);
	} while ((soon > SOME / 4 || sparing < 3 * SOME / 4) && --tries);
	CHECK(t, soon <= SOME / 4);
	CHECK(t, sparing >= 3 * SOME / 4);
}

const struct test_case session_tests[] = {
	TEST(session_params), TEST(session_info), TEST(session_outlived),
	TEST(session_left_to_the_cpu), TEST(session_put_in_bh),
	TEST(session_rekey),
	TEST(session_rekeyed_often), TEST(session_rekey_moves),
	TEST(session_beside_slow_work), TEST(session_rekey_waits_alone),
	TEST(session_key_refused), TEST(session_derive), TEST(session_policy),
	{}
};
