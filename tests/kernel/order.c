// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ordered sessions: callbacks come in the order of submission, one at a time.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "test.h"

#define N	80	/* requests; more than the core delivers at a time */

static struct ocf_session *ordered(struct test *t, u32 flags)
{
	return work_session(t, OCF_AES_CBC, OCF_SESSION_ORDERED | flags,
			    OCF_DEVICE_ANY);
}

static void check_order(struct test *t, struct work **w, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		EQUAL(t, work_wait(w[i]), 0);
		EQUAL(t, atomic_read(&w[i]->calls), 1);
		CHECK(t, work_right(w[i], WORK_KEY));
		CHECK(t, !i || w[i]->serial > w[i - 1]->serial);
	}
}

/*
 * The card completes in random order; the callbacks come in the order of
 * submission.
 */
static void order_of_a_card(struct test *t)
{
	struct card *card = card_make(t, N);
	struct ocf_session *ses;
	struct work *w[N];
	int i;

	if (!card)
		return;
	ses = ordered(t, OCF_SESSION_HARDWARE);
	card_hold(card);
	for (i = 0; i < N; i++) {
		w[i] = work_make(ses, 64, 0);
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
	}
	for (i = N - 1; i > 0; i--)
		card_complete(card, 1 + test_random(i), 0);
	for (i = 0; i < N; i++)
		EQUAL(t, atomic_read(&w[i]->calls), 0);
	card_complete(card, 0, 0);
	check_order(t, w, N);
	for (i = 0; i < N; i++)
		work_free(w[i]);
	ocf_session_put(ses);
	card_drop(card);
}

/*
 * Requests on the CPU and on a card: while the first is in the card, no
 * callback comes for the others.
 */
static void order_of_both(struct test *t)
{
	struct card *card = card_make(t, 1);
	struct ocf_session *ses;
	struct work *w[N];
	int i;

	if (!card)
		return;
	ses = ordered(t, 0);
	for (i = 0; i < N; i++) {
		w[i] = work_make(ses, 16 << test_random(10), i & 1 ?
				 OCF_REQ_INLINE : i & 2 ? OCF_REQ_OFFLOAD : 0);
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
	}
	check_order(t, w, N);
	for (i = 0; i < N; i++)
		work_free(w[i]);
	ocf_session_put(ses);
	card_drop(card);
}

/* Cancelled and refused requests do not hold up those behind them. */
static void order_with_gaps(struct test *t)
{
	struct card *card = card_make(t, 1);
	struct ocf_session *ses;
	struct work *w[4];
	int i;

	if (!card)
		return;
	ses = ordered(t, OCF_SESSION_HARDWARE);
	card_hold(card);
	for (i = 0; i < 4; i++) {
		w[i] = work_make(ses, 64, 0);
		if (i == 2) {
			w[i]->req.data.len = 63;
			EQUAL(t, work_submit(w[i]), -EINVAL);
		} else {
			EQUAL(t, work_submit(w[i]), -EINPROGRESS);
		}
	}
	/*
	 * the cancelled request has a result, but its callback has to wait for
	 * the request before it
	 */
	CHECK(t, ocf_cancel(&w[1]->req));
	EQUAL(t, atomic_read(&w[1]->calls), 0);
	card_release(card);
	EQUAL(t, work_wait(w[0]), 0);
	EQUAL(t, work_wait(w[1]), -ECANCELED);
	EQUAL(t, work_wait(w[3]), 0);
	CHECK(t, w[0]->serial < w[1]->serial && w[1]->serial < w[3]->serial);
	EQUAL(t, atomic_read(&w[2]->calls), 0);
	for (i = 0; i < 4; i++)
		work_free(w[i]);
	ocf_session_put(ses);
	card_drop(card);
}

/* ocf_run() also returns in the order of submission. */
static void order_and_run(struct test *t)
{
	struct ocf_session *ses = ordered(t, OCF_SESSION_SOFTWARE);
	struct work *w[3];
	int i;

	for (i = 0; i < 3; i++)
		w[i] = work_make(ses, 64, 0);
	EQUAL(t, work_submit(w[0]), -EINPROGRESS);
	EQUAL(t, ocf_run(&w[1]->req), 0);
	EQUAL(t, atomic_read(&w[0]->calls), 1);
	EQUAL(t, work_submit(w[2]), -EINPROGRESS);
	EQUAL(t, work_wait(w[2]), 0);
	for (i = 0; i < 3; i++)
		work_free(w[i]);
	ocf_session_put(ses);
}

/* ocf_cpu_takes() is false until all callbacks have returned. */
static void order_and_cpu(struct test *t)
{
	struct ocf_session *ses = ordered(t, OCF_SESSION_SOFTWARE);
	struct work *w = work_make(ses, 64, 0);
	int i;

	CHECK(t, ocf_cpu_takes(ses, OCF_OP_ENCRYPT, 64));
	/* no callback comes meanwhile */
	local_bh_disable();
	EQUAL(t, work_submit(w), -EINPROGRESS);
	CHECK(t, !ocf_cpu_takes(ses, OCF_OP_ENCRYPT, 64));
	local_bh_enable();
	EQUAL(t, work_wait(w), 0);
	/* the callback was called; wait until it has returned */
	for (i = 0; i < 500 && !ocf_cpu_takes(ses, OCF_OP_ENCRYPT, 64); i++)
		msleep(20);
	CHECK(t, i < 500);
	/* a request that was refused has left the order */
	w->req.data.len = 63;
	EQUAL(t, work_submit(w), -EINVAL);
	CHECK(t, ocf_cpu_takes(ses, OCF_OP_ENCRYPT, 64));
	work_free(w);
	ocf_session_put(ses);
}

/*
 * The card is removed with all requests inside: each has one callback, in
 * order.
 */
static void order_after_unplug(struct test *t)
{
	struct card *card = card_make(t, 4);
	struct ocf_session *ses;
	struct work *w[N];
	int last = 0, i;

	if (!card)
		return;
	ses = ordered(t, OCF_SESSION_HARDWARE);
	card_hold(card);
	for (i = 0; i < N; i++) {
		w[i] = work_make(ses, 64, 0);
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
	}
	card_complete(card, 1, 0);
	card_complete(card, 2, 0);
	card_drop(card);
	for (i = 0; i < N; i++) {
		EQUAL(t, work_wait(w[i]), i == 1 || i == 3 ? 0 : -ENODEV);
		EQUAL(t, atomic_read(&w[i]->calls), 1);
		CHECK(t, w[i]->serial > last);
		last = w[i]->serial;
		work_free(w[i]);
	}
	ocf_session_put(ses);
}

const struct test_case order_tests[] = {
	TEST(order_of_a_card), TEST(order_of_both), TEST(order_with_gaps),
	TEST(order_and_run), TEST(order_and_cpu),
	TEST(order_after_unplug), {}
};
