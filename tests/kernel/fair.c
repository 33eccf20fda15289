// SPDX-License-Identifier: GPL-2.0-only
/* Owners that share a card. */
#include <linux/delay.h>
#include <linux/slab.h>

#include "test.h"

static struct ocf_session *session_of(u32 owner, struct card *card)
{
	struct ocf_session_params p = {
		.mode = OCF_MODE_CIPHER, .cipher = OCF_NULL_CIPHER,
		.device = card_number(card), .owner = owner,
	};

	return ocf_session_create(&p, GFP_KERNEL);
}

static struct work **submit_n(struct test *t, struct ocf_session *ses, u32 len,
			      int n)
{
	struct work **w = kcalloc(n, sizeof(*w), GFP_KERNEL);
	int i;

	for (i = 0; i < n; i++) {
		w[i] = work_make(ses, len, 0);
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
	}
	return w;
}

/*
 * Waits for @n requests and frees them.  Return: how many were among the first
 * @serial callbacks.
 */
static int done_by(struct test *t, struct work **w, int n, int serial)
{
	int i, count = 0;

	for (i = 0; i < n; i++) {
		EQUAL(t, work_wait(w[i]), 0);
		EQUAL(t, atomic_read(&w[i]->calls), 1);
		count += w[i]->serial <= serial;
		work_free(w[i]);
	}
	kfree(w);
	return count;
}

/**
 * struct rivals - two owners who want the same card
 * @card: the card, which answers nothing yet
 * @a: a session of one
 * @b: and of the other
 * @begun: callbacks that there had been
 */
struct rivals {
	struct card		*card;
	struct ocf_session	*a, *b;
	int			begun;
};

/* Return: whether there is a card; if not, the test has failed. */
static bool rivals_are(struct test *t, struct rivals *r, int depth, u32 a,
		       u32 b)
{
	r->card = card_make(t, depth);
	if (!r->card)
		return false;
	r->a = session_of(a, r->card);
	r->b = session_of(b, r->card);
	r->begun = atomic_read(&work_serial);
	card_hold(r->card);
	return true;
}

static bool rivals_make(struct test *t, struct rivals *r, int depth)
{
	return rivals_are(t, r, depth, 1, 2);
}

static void rivals_drop(struct rivals *r)
{
	ocf_session_put(r->a);
	ocf_session_put(r->b);
	card_drop(r->card);
}

static void one_beside_many(struct test *t, u32 owner, u32 other)
{
	struct work **many, **one;
	struct rivals r;

	if (!rivals_are(t, &r, 4, owner, other))
		return;
	many = submit_n(t, r.a, 4096, 100);
	one = submit_n(t, r.b, 64, 1);
	card_release(r.card);
	EQUAL(t, done_by(t, one, 1, r.begun + 12), 1);
	EQUAL(t, done_by(t, many, 100, r.begun + 101), 100);
	rivals_drop(&r);
}

/* One request of an owner does not wait for a hundred of another owner. */
static void fair_one_beside_many(struct test *t)
{
	one_beside_many(t, 1, 2);
}

/*
 * No owner can choose a number that puts its requests into another owner's
 * queue.
 */
static void fair_numbers(struct test *t)
{
	u32 other;

	for (other = 1; other < 40; other++)
		one_beside_many(t, 1000, 1000 + other);
}

/*
 * An owner submits a request @later ms after another owner has filled the card.
 */
static void found_full(struct test *t, unsigned int later)
{
	struct work **many, **one;
	struct rivals r;
	int i;

	if (!rivals_make(t, &r, 64))
		return;
	many = submit_n(t, r.a, 4096, 200);
	EQUAL(t, r.card->count, 64);
	msleep(later);
	one = submit_n(t, r.b, 64, 1);
	for (i = 0; i < 24; i++)
		card_complete(r.card, 0, 0);
	CHECK(t, r.card->count < 64 - 16);
	card_release(r.card);
	EQUAL(t, done_by(t, one, 1, r.begun + 201), 1);
	EQUAL(t, done_by(t, many, 200, r.begun + 201), 200);
	rivals_drop(&r);
}

/*
 * An owner that comes while the card is full of another's requests gets its
 * share: from then on the other has only as many requests inside as keep the
 * card busy.
 */
static void fair_found_full(struct test *t)
{
	found_full(t, 0);
}

/*
 * As fair_found_full(), but the second owner comes when the card has been full
 * for 150 ms.
 */
static void fair_found_full_later(struct test *t)
{
	found_full(t, 150);
}

/*
 * If two owners always have requests waiting, each gets about half of the
 * card's time.
 */
static void fair_halves(struct test *t)
{
	struct work **a, **b;
	struct rivals r;
	int early;

	if (!rivals_make(t, &r, 4))
		return;
	a = submit_n(t, r.a, 1024, 200);
	b = submit_n(t, r.b, 1024, 200);
	card_release(r.card);
	early = done_by(t, a, 200, r.begun + 200);
	CHECK(t, early > 80 && early < 120);
	early += done_by(t, b, 200, r.begun + 200);
	EQUAL(t, early, 200);
	rivals_drop(&r);
}

/* Requests of one owner enter the card in the order of submission. */
static void fair_alone(struct test *t)
{
	struct card *card = card_make(t, 4);
	struct ocf_session *ses;
	struct work **w;
	int i, begun;

	if (!card)
		return;
	ses = session_of(7, card);
	begun = atomic_read(&work_serial);
	card_hold(card);
	w = submit_n(t, ses, 64, 100);
	EQUAL(t, card->count, 4);
	card_release(card);
	for (i = 0; i < 100; i++) {
		EQUAL(t, work_wait(w[i]), 0);
		EQUAL(t, w[i]->serial, begun + 1 + i);
		complete(&w[i]->done);
	}
	done_by(t, w, 100, begun);
	ocf_session_put(ses);
	card_drop(card);
}

/*
 * Requests of several owners are cancelled in the queue; each ends with
 * -ECANCELED.
 */
static void fair_cancelled(struct test *t)
{
	struct card *card = card_make(t, 2);
	struct ocf_session *ses[3];
	struct work **w[3];
	int i, j;

	if (!card)
		return;
	card_hold(card);
	for (i = 0; i < 3; i++) {
		ses[i] = session_of(i, card);
		w[i] = submit_n(t, ses[i], 64, 10);
	}
	for (i = 0; i < 3; i++)
		for (j = 0; j < 10; j++)
			CHECK(t, ocf_cancel(&w[i][j]->req));
	card_release(card);
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 10; j++) {
			EQUAL(t, work_wait(w[i][j]), -ECANCELED);
			work_free(w[i][j]);
		}
		kfree(w[i]);
		ocf_session_put(ses[i]);
	}
	card_drop(card);
}

/* A task that completes one request does not have to submit all that wait. */
static void fair_work(struct test *t)
{
	struct work **many;
	struct rivals r;

	if (!rivals_make(t, &r, 4))
		return;
	many = submit_n(t, r.a, 64, 300);
	card_faults(r.card, CARD_AT_ONCE, 296);
	r.card->who = current;
	card_complete(r.card, 0, 0);
	r.card->who = NULL;
	CHECK(t, r.card->by_who <= 64);
	card_release(r.card);
	EQUAL(t, done_by(t, many, 300, r.begun + 300), 300);
	rivals_drop(&r);
}

const struct test_case fair_tests[] = {
	TEST(fair_one_beside_many), TEST(fair_numbers),
	TEST(fair_found_full), TEST(fair_found_full_later), TEST(fair_halves),
	TEST(fair_alone), TEST(fair_cancelled), TEST(fair_work), {}
};
