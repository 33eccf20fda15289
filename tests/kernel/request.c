// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: each way from the submission to the callback, which is called once.
 */
#include <linux/bottom_half.h>
#include <linux/slab.h>

#include "test.h"

/* Makes a session of AES-CBC and a request of @len bytes for it. */
static struct work *make(struct test *t, u32 session_flags, u32 len, u32 flags)
{
	struct ocf_session *ses = work_session(t, OCF_AES_CBC, session_flags,
					       OCF_DEVICE_ANY);
	struct work *w = ses ? work_make(ses, len, flags) : NULL;

	CHECK(t, w);
	return w;
}

static void drop(struct work *w)
{
	if (!w)
		return;
	ocf_session_put(w->req.session);
	work_free(w);
}

/*
 * On the CPU, with OCF_REQ_INLINE: the request is done when ocf_submit()
 * returns.
 */
static void request_inline(struct test *t)
{
	struct work *w = make(t, OCF_SESSION_SOFTWARE, 256, OCF_REQ_INLINE);

	if (!w)
		return;
	EQUAL(t, work_submit(w), 0);
	EQUAL(t, atomic_read(&w->calls), 1);
	EQUAL(t, w->err, 0);
	EQUAL(t, w->req.result_len, 256);
	CHECK(t, work_right(w, WORK_KEY));
	drop(w);
}

/*
 * On the CPU, without OCF_REQ_INLINE: the callback comes after ocf_submit() has
 * returned.
 */
static void request_later(struct test *t)
{
	struct work *w = make(t, OCF_SESSION_SOFTWARE, 256, 0);

	if (!w)
		return;
	local_bh_disable();
	EQUAL(t, work_submit(w), -EINPROGRESS);
	EQUAL(t, atomic_read(&w->calls), 0);
	local_bh_enable();
	EQUAL(t, work_wait(w), 0);
	EQUAL(t, atomic_read(&w->calls), 1);
	CHECK(t, work_right(w, WORK_KEY));
	drop(w);
}

static void request_run(struct test *t)
{
	struct work *w = make(t, OCF_SESSION_SOFTWARE, 256, 0);
	struct card *card;

	if (!w)
		return;
	EQUAL(t, ocf_run(&w->req), 0);
	EQUAL(t, atomic_read(&w->calls), 0);
	CHECK(t, work_right(w, WORK_KEY));
	drop(w);
	card = card_make(t, 4);
	if (!card)
		return;
	w = make(t, OCF_SESSION_HARDWARE, 256, 0);
	if (w) {
		EQUAL(t, ocf_run(&w->req), 0);
		EQUAL(t, atomic_read(&w->calls), 0);
		CHECK(t, work_right(w, WORK_KEY));
		EQUAL(t, card->submits, 1);
	}
	drop(w);
	card_drop(card);
}

/* An invalid request is refused, and its callback is not called. */
static void request_invalid(struct test *t)
{
	struct work *w = make(t, 0, 256, OCF_REQ_INLINE);

	if (!w)
		return;
	w->req.data.len = 255;
	EQUAL(t, work_submit(w), -EINVAL);
	w->req.data.len = 256;
	w->req.flags = ~0u;
	EQUAL(t, work_submit(w), -EINVAL);
	w->req.flags = OCF_REQ_VERIFY;
	EQUAL(t, work_submit(w), -EINVAL);
	w->req.flags = 0;
	w->req.op = OCF_OP_COUNT;
	EQUAL(t, work_submit(w), -EINVAL);
	w->req.op = OCF_OP_ENCRYPT;
	w->req.data.len = OCF_REQUEST_MAX + 16;
	EQUAL(t, work_submit(w), -E2BIG);
	w->req.data.len = 256;
	w->req.data.start = U32_MAX - 15;
	CHECK(t, work_submit(w) < 0 && work_submit(w) != -EINPROGRESS);
	EQUAL(t, atomic_read(&w->calls), 0);
	drop(w);
}

/* With OCF_REQ_OFFLOAD a worker does a long request. */
static void request_offload(struct test *t)
{
	struct work *w = make(t, OCF_SESSION_SOFTWARE, 256 << 10,
			      OCF_REQ_OFFLOAD);

	if (!w)
		return;
	EQUAL(t, work_submit(w), -EINPROGRESS);
	EQUAL(t, work_wait(w), 0);
	CHECK(t, work_right(w, WORK_KEY));
	EQUAL(t, atomic_read(&w->calls), 1);
	drop(w);
}

/*
 * A task that waits for its request does the work itself, at its own priority
 * and in its own CPU time, and not behind other users' requests.
 */
static void request_in_own_time(struct test *t)
{
	struct card *soft = card_make_soft(t);
	struct ocf_session *ses;
	struct work *w;
	int i;

	if (!soft)
		return;
	soft->who = current;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_SOFTWARE,
			   card_number(soft));
	w = ses ? work_make(ses, (2 << 20) - OCF_TAG_MAX, 0) : NULL;
	soft->submits = 0;
	soft->by_who = 0;
	/* the core learns the time from one request in 16 */
	for (i = 0; CHECK(t, w) && i < 64; i++)
		EQUAL(t, ocf_run(&w->req), 0);
	EQUAL(t, soft->submits, 64);
	EQUAL(t, soft->by_who, 64);
	work_free(w);
	ocf_session_put(ses);
	card_drop(soft);
}

#define CROWD	(4 * num_online_cpus())

/* Opens a session for @owner that only @soft may serve. */
static struct ocf_session *owned(struct test *t, struct card *soft, u32 owner)
{
	static const u8 key[16] = { [0 ... 15] = WORK_KEY };
	struct ocf_session_params p = {
		.mode = OCF_MODE_CIPHER, .cipher = OCF_AES_CBC,
		.device = card_number(soft), .owner = owner,
		.key = key, .keylen = 16,
	};
	struct ocf_session *ses = ocf_session_create(&p, GFP_KERNEL);

	return EQUAL(t, PTR_ERR_OR_ZERO(ses), 0) ? ses : NULL;
}

static void crowd_is_served(struct test *t, struct card *soft,
			    struct ocf_session **ses)
{
	int i, n = CROWD, cpus = num_online_cpus();
	struct work **w = kcalloc(n + 1, sizeof(*w), GFP_KERNEL);
	DECLARE_COMPLETION_ONSTACK(ponder);

	soft->ponder = &ponder;
	for (i = 0; CHECK(t, w) && i <= n; i++) {
		w[i] = work_make(ses[i == n], 128 << 10, OCF_REQ_OFFLOAD);
		if (i == n) {
			/*
			 * as many workers as one owner may have are now busy
			 * for the first owner
			 */
			card_until_pondering(t, soft, cpus);
			schedule_timeout_uninterruptible(HZ / 5);
			EQUAL(t, atomic_read(&soft->pondering), cpus);
		}
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
	}
	card_until_pondering(t, soft, cpus + 1);
	complete_all(&ponder);
	for (i = 0; w && i <= n; i++) {
		EQUAL(t, work_wait(w[i]), 0);
		CHECK(t, work_right(w[i], WORK_KEY));
		work_free(w[i]);
	}
	soft->ponder = NULL;
	kfree(w);
}

/*
 * However many requests one owner has for workers, those of another owner are
 * done beside them.
 */
static void request_workers_of_owners(struct test *t)
{
	struct card *soft = card_make_soft(t);
	struct ocf_session *ses[2];

	if (!soft)
		return;
	ses[0] = owned(t, soft, 1);
	ses[1] = owned(t, soft, 2);
	if (ses[0] && ses[1])
		crowd_is_served(t, soft, ses);
	ocf_session_put(ses[0]);
	ocf_session_put(ses[1]);
	card_drop(soft);
}

/* Requests beyond the card's depth wait in its queue, and none is lost. */
static void request_depth(struct test *t)
{
	struct card *card = card_make(t, 2);
	struct work *w[8];
	struct ocf_session *ses;
	int i;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	card_hold(card);
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		w[i] = work_make(ses, 64, 0);
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
	}
	EQUAL(t, card->count, 2);
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		card_complete(card, 0, 0);
		EQUAL(t, work_wait(w[i]), 0);
		/* another CPU may be submitting one to the card just now */
		card_settle(card);
		EQUAL(t, card->count, min(2, 7 - i));
		CHECK(t, work_right(w[i], WORK_KEY));
		EQUAL(t, atomic_read(&w[i]->calls), 1);
		work_free(w[i]);
	}
	ocf_session_put(ses);
	card_drop(card);
}

/*
 * A card completes requests inside submit().  A request that found the card
 * full meanwhile is submitted afterwards.
 */
static void request_at_once(struct test *t)
{
	struct card *card = card_make(t, 1);
	struct work *w[2];
	int i;

	if (!card)
		return;
	for (i = 0; i < 2; i++)
		w[i] = make(t, OCF_SESSION_HARDWARE, 256, 0);
	/* both have a context on the card */
	for (i = 0; i < 2; i++)
		EQUAL(t, ocf_run(&w[i]->req), 0);
	for (i = 0; i < 2; i++) {
		memset(w[i]->req.iv, WORK_IV, OCF_IV_MAX);
		memset(w[i]->out, 0, 256);
	}
	card_faults(card, CARD_AT_ONCE, 2);
	card->meanwhile = w[1];
	EQUAL(t, work_submit(w[0]), -EINPROGRESS);
	for (i = 0; i < 2; i++) {
		EQUAL(t, work_wait(w[i]), 0);
		EQUAL(t, atomic_read(&w[i]->calls), 1);
		CHECK(t, work_right(w[i], WORK_KEY));
	}
	drop(w[0]);
	drop(w[1]);
	card_drop(card);
}

/* The queue is bounded. */
static void request_line_full(struct test *t)
{
	struct card *card = card_make(t, 1);
	struct ocf_session *ses;
	struct work *first, **w;
	int n, err = 0, i;

	if (!card)
		return;
	w = kcalloc(OCF_DEPTH_MAX * 2, sizeof(*w), GFP_KERNEL);
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	first = work_make(ses, 16, 0);
	card_hold(card);
	EQUAL(t, work_submit(first), -EINPROGRESS);
	for (n = 0; n < OCF_DEPTH_MAX * 2; n++) {
		w[n] = work_make(ses, 16, 0);
		err = work_submit(w[n]);
		if (err != -EINPROGRESS)
			break;
	}
	EQUAL(t, err, -EBUSY);
	EQUAL(t, n, 4096);
	card_release(card);
	EQUAL(t, work_wait(first), 0);
	for (i = 0; i < n; i++) {
		EQUAL(t, work_wait(w[i]), 0);
		EQUAL(t, atomic_read(&w[i]->calls), 1);
	}
	EQUAL(t, atomic_read(&w[n]->calls), 0);
	for (i = 0; i <= n && i < OCF_DEPTH_MAX * 2; i++)
		work_free(w[i]);
	kfree(w);
	work_free(first);
	ocf_session_put(ses);
	card_drop(card);
}

/*
 * If submit() returns -EBUSY, the driver gets the same request again, and in
 * the same order.
 */
static void request_busy(struct test *t)
{
	struct card *card = card_make(t, 8);
	struct ocf_session *ses;
	struct work *w[6];
	int last = 0, i;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	card_faults(card, CARD_BUSY, 9);
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		w[i] = work_make(ses, 64, 0);
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
	}
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		EQUAL(t, work_wait(w[i]), 0);
		CHECK(t, work_right(w[i], WORK_KEY));
		CHECK(t, w[i]->serial > last);
		last = w[i]->serial;
		work_free(w[i]);
	}
	EQUAL(t, card->submits, ARRAY_SIZE(w));
	ocf_session_put(ses);
	card_drop(card);
}

static void request_fails(struct test *t)
{
	struct card *card = card_make(t, 8);
	struct work *w;

	if (!card)
		return;
	w = make(t, OCF_SESSION_HARDWARE, 256, 0);
	card_faults(card, CARD_FAILS, 1);
	EQUAL(t, work_submit(w), -EINPROGRESS);
	EQUAL(t, work_wait(w), -EIO);
	card_faults(card, CARD_FAILS_AT_ONCE, 1);
	EQUAL(t, work_submit(w), -EINPROGRESS);
	EQUAL(t, work_wait(w), -EIO);
	card_faults(card, CARD_FAILS_AT_ONCE, 1);
	EQUAL(t, ocf_run(&w->req), -EIO);
	EQUAL(t, work_submit(w), -EINPROGRESS);
	EQUAL(t, work_wait(w), 0);
	EQUAL(t, atomic_read(&w->calls), 3);
	drop(w);
	card_drop(card);
}

/* A second completion of a request is counted and has no other effect. */
static void request_twice(struct test *t)
{
	struct card *card = card_make(t, 8);
	struct work *w;

	if (!card)
		return;
	w = make(t, OCF_SESSION_HARDWARE, 256, 0);
	card_faults(card, CARD_TWICE, 1);
	EQUAL(t, work_submit(w), -EINPROGRESS);
	EQUAL(t, work_wait(w), 0);
	card_settle(card);
	EQUAL(t, atomic_read(&w->calls), 1);
	EQUAL(t, w->err, 0);
	CHECK(t, work_right(w, WORK_KEY));
	drop(w);
	card_drop(card);
}

/* A wrong tag gives an error, and no decrypted data. */
static void request_wrong_tag(struct test *t)
{
	struct card *card = card_make(t, 8);
	struct ocf_session *ses[2];
	struct work *w;
	int i;

	if (!card)
		return;
	ses[0] = work_session(t, OCF_AES_GCM, OCF_SESSION_HARDWARE,
			      OCF_DEVICE_ANY);
	ses[1] = work_session(t, OCF_AES_GCM, OCF_SESSION_SOFTWARE,
			      OCF_DEVICE_ANY);
	for (i = 0; i < 2; i++) {
		w = work_make(ses[i], 256, 0);
		w->req.op = OCF_OP_DECRYPT;
		w->req.tag_start = 256;
		memset(w->out, 0xaa, 256 + OCF_TAG_MAX);
		EQUAL(t, work_submit(w), -EINPROGRESS);
		EQUAL(t, work_wait(w), -EBADMSG);
		CHECK(t, !memchr_inv(w->out, 0, 256));
		CHECK(t, !memchr_inv(w->out + 256, 0xaa, OCF_TAG_MAX));
		work_free(w);
		ocf_session_put(ses[i]);
	}
	card_drop(card);
}

/* A batch of requests rings the card's doorbell once. */
static void request_batch(struct test *t)
{
	struct card *card = card_make(t, 16);
	struct ocf_batch batch = {};
	struct ocf_session *ses;
	struct work *w[8];
	int i;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		w[i] = work_make(ses, 64, 0);
		w[i]->req.batch = &batch;
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
	}
	EQUAL(t, card->submits, 8);
	EQUAL(t, card->more, 8);
	EQUAL(t, card->kicks, 0);
	CHECK(t, !work_arrived(w[7]));
	ocf_batch_end(&batch);
	EQUAL(t, card->kicks, 1);
	EQUAL(t, batch.cards, 0);
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		EQUAL(t, work_wait(w[i]), 0);
		work_free(w[i]);
	}
	ocf_batch_end(&batch);
	EQUAL(t, card->kicks, 1);
	ocf_session_put(ses);
	card_drop(card);
}

/* A callback submits the next request, many times. */
struct again {
	struct work	*w;
	int		left, deep, deepest;
	int		err;
};

static void submit_again(struct ocf_request *req, int err)
{
	struct again *a = req->cookie;

	a->deep++;
	a->deepest = max(a->deepest, a->deep);
	if (err || !a->left--) {
		a->err = err;
		complete(&a->w->done);
	} else {
		err = ocf_submit(req);
		if (err && err != -EINPROGRESS) {
			a->err = err;
			complete(&a->w->done);
		}
	}
	a->deep--;
}

static void request_nested(struct test *t)
{
	static const u32 flags[] = { 0, OCF_REQ_INLINE };
	/* static, because a callback still writes to it after complete() */
	static struct again all[ARRAY_SIZE(flags)];
	struct again *a = all;
	struct work *w;

	for (; a < all + ARRAY_SIZE(flags); a++) {
		w = make(t, OCF_SESSION_SOFTWARE, 64, flags[a - all]);
		*a = (struct again){ .w = w, .left = 1000, .err = -ETIME };
		w->req.done = submit_again;
		w->req.cookie = a;
		ocf_submit(&w->req);
		CHECK(t, wait_for_completion_timeout(&w->done, 20 * HZ));
		EQUAL(t, a->err, 0);
		EQUAL(t, a->left, -1);
		CHECK(t, a->deepest <= 2);
		drop(w);
	}
}

/* A callback may free its request and put the last reference to its session. */
static void free_all(struct ocf_request *req, int err)
{
	struct completion *gone = req->cookie;
	struct ocf_session *ses = req->session;

	ocf_request_free(req);
	ocf_session_put_deferred(ses);
	complete(gone);
}

static void request_freed_in_callback(struct test *t)
{
	DECLARE_COMPLETION_ONSTACK(gone);
	struct scatterlist sg;
	struct card *card = card_make(t, 8);
	u8 *buf = kzalloc(64, GFP_KERNEL);
	u32 from[] = { OCF_SESSION_HARDWARE, OCF_SESSION_SOFTWARE };
	int i;

	if (!card)
		return;
	sg_init_one(&sg, buf, 64);
	for (i = 0; i < 4; i++) {
		struct ocf_session *ses = work_session(t, OCF_AES_CBC,
						       from[i / 2],
						       OCF_DEVICE_ANY);
		struct ocf_request *req = ocf_request_alloc(ses, GFP_KERNEL);

		req->src = &sg;
		req->dst = &sg;
		req->data.len = 64;
		req->done = free_all;
		req->cookie = &gone;
		req->flags = i & 1 ? OCF_REQ_INLINE : 0;
		reinit_completion(&gone);
		/*
		 * the caller has to hold the session until ocf_submit() has
		 * returned
		 */
		ocf_session_get(ses);
		ocf_submit(req);
		ocf_session_put(ses);
		CHECK(t, wait_for_completion_timeout(&gone, 20 * HZ));
	}
	card_drop(card);
	kfree(buf);
}

/*
 * Two requests, the second with the IV that the first has left, give the same
 * as one request over all data.
 */
static void request_chained_iv(struct test *t)
{
	struct work *whole = make(t, OCF_SESSION_SOFTWARE, 512, OCF_REQ_INLINE);
	struct work *parts;
	u8 first[256];

	if (!whole)
		return;
	parts = work_make(whole->req.session, 256,
			  OCF_REQ_INLINE | OCF_REQ_NEXT_IV);
	memcpy(parts->buf, whole->buf, 256);
	EQUAL(t, work_submit(whole), 0);
	EQUAL(t, work_submit(parts), 0);
	memcpy(first, parts->out, 256);
	memcpy(parts->buf, whole->buf + 256, 256);
	EQUAL(t, work_submit(parts), 0);
	CHECK(t, !memcmp(whole->out, first, 256));
	CHECK(t, !memcmp(whole->out + 256, parts->out, 256));
	work_free(parts);
	drop(whole);
}

const struct test_case request_tests[] = {
	TEST(request_inline), TEST(request_later), TEST(request_run),
	TEST(request_invalid), TEST(request_offload),
	TEST(request_in_own_time), TEST(request_workers_of_owners),
	TEST(request_depth),
	TEST(request_at_once), TEST(request_line_full), TEST(request_busy),
	TEST(request_fails), TEST(request_twice), TEST(request_wrong_tag),
	TEST(request_batch),
	TEST(request_nested), TEST(request_freed_in_callback),
	TEST(request_chained_iv), {}
};
