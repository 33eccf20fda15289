// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: from their submission to their completion.
 *
 * A completion by the driver, a cancellation and the death of the device race
 * for OCF_BIT_DONE of ocf_request.bits.  The one that sets it delivers the
 * result, so each request is completed once.  All bits are in one word, so that
 * it is certain whether a request was cancelled before it was done.
 */
#include <linux/slab.h>

#include "../core.h"

#include <trace/events/ocf.h>

struct ocf_request *ocf_request_alloc(struct ocf_session *ses, gfp_t gfp)
{
	struct ocf_request *req = kzalloc(sizeof(*req), gfp);

	if (req)
		ocf_request_init(req, ses);
	return req;
}
OCF_EXPORT(ocf_request_alloc);

void ocf_request_wipe(struct ocf_request *req)
{
	memzero_explicit(req, sizeof(*req));
}
OCF_EXPORT(ocf_request_wipe);

void ocf_request_free(struct ocf_request *req)
{
	kfree_sensitive(req);
}
OCF_EXPORT(ocf_request_free);

/*
 * Checks @req and starts it.  Returns as ocf_request_start() does.  0: the
 * result is in req->err, and nothing has been delivered or counted.
 */
static __always_inline int submit_request(struct ocf_request *req, int bits)
{
	struct ocf_session *ses = req->session;
	int err;

	err = ocf_check_request(req, &ses->params, ses->block);
	if (unlikely(err))
		goto refuse;
	req->keys = NULL;
	req->dev = NULL;
	req->used = -1;
	atomic_set(&req->bits, bits);
	req->where = OCF_AT_START;
	req->parks = 0;
	req->excluded = 0;
	req->split.session = NULL;
	req->err = 0;
	req->bytes = max(req->data.len, req->auth.len);
	req->result_len = req->data.len;
	req->in_order = false;
	if (unlikely(ses->params.flags & OCF_SESSION_ORDERED))
		ocf_order_enter(req);
	trace_ocf_request_submit(req, -1, 0);

	err = ocf_request_start(req);
	if (likely(!err || err == -EINPROGRESS))
		return err;
	if (req->in_order)
		ocf_order_leave(req);
refuse:
	trace_ocf_request_refuse(req, -1, err);
	return err;
}

int ocf_submit(struct ocf_request *req)
{
	bool at_once = req->flags & OCF_REQ_INLINE &&
		       !(req->session->params.flags & OCF_SESSION_ORDERED);
	int err = submit_request(req, 0);

	if (err)
		return err;
	if (at_once && ocf_request_end_here(req))
		return 0;
	if (!at_once)
		ocf_request_end(req, req->err, true);
	return -EINPROGRESS;
}
OCF_EXPORT(ocf_submit);

void ocf_batch_end(struct ocf_batch *batch)
{
	struct ocf_device *dev;
	u64 cards = batch->cards;

	batch->cards = 0;
	if (!cards)
		return;
	ocf_read_lock();
	for (; cards; cards &= cards - 1) {
		/*
		 * if another device has this number by now, a kick does no harm
		 */
		dev = ocf_device_at(__ffs64(cards));
		if (dev)
			ocf_queue_kick(dev);
	}
	ocf_read_unlock();
}
OCF_EXPORT(ocf_batch_end);

/* Restarts @req if it was returned to the waiting task, and tells whether. */
static bool restart_returned(struct ocf_request *req)
{
	if (!(atomic_fetch_andnot(OCF_BIT_RETURNED, &req->bits) &
	      OCF_BIT_RETURNED))
		return false;
	ocf_request_restart(req);
	return true;
}

/*
 * A killed task cancels the request that it waits for.  Then the task sets
 * OCF_BIT_ABANDONED, and the other side, which delivers the result or returns
 * the request, sets its own bit.  The side that sets its bit first wins.
 */
static int abandon_wait(struct ocf_request *req)
{
	int old;

	ocf_cancel(req);
	old = atomic_fetch_or(OCF_BIT_ABANDONED, &req->bits);
	if (!(old & (OCF_BIT_WOKEN | OCF_BIT_RETURNED)))
		return -EINTR;
	/* the other side was first, and is about to use @req again */
	wait_for_completion(&req->wait);
	return restart_returned(req) ? -EINTR : req->err;
}

/*
 * The wait of ocf_run() for the result.  Restarts @req each time that it is
 * returned to this task.
 */
static int wait_for_result(struct ocf_request *req)
{
	do {
		if (unlikely(wait_for_completion_killable(&req->wait)))
			return abandon_wait(req);
	} while (unlikely(restart_returned(req)));
	if (req->begun)
		ocf_crossover_woken(ktime_get_ns() - req->begun);
	return req->err;
}

int ocf_run(struct ocf_request *req)
{
	bool ordered = req->session->params.flags & OCF_SESSION_ORDERED;
	int err;

	might_sleep();
	req->flags |= OCF_REQ_MAY_SLEEP;
	req->batch = NULL;
	req->begun = 0;
	err = submit_request(req, OCF_BIT_WAITER);
	if (likely(!err && !ordered)) {
		ocf_session_count(req->session, req->bytes, req->err);
		trace_ocf_request_done(req, req->used, req->err);
		return req->err;
	}
	if (!err) {
		init_completion(&req->wait);
		ocf_request_end(req, req->err, false);
	} else if (err != -EINPROGRESS) {
		return err;
	}
	return wait_for_result(req);
}
OCF_EXPORT(ocf_run);

/* A card that fails this many requests in a row is tested. */
#define FAILURES_MAX	8

/*
 * The requests may be at fault, and no user may put a card out of use by bad
 * requests, so a self-test decides.  Lack of memory, or of support, is no
 * failure of the card.
 */
static void count_failure(struct ocf_device *dev, int err)
{
	if (err == -ENOMEM || err == -EOPNOTSUPP)
		return;
	if ((atomic_inc_return(&dev->failures) & ~OCF_SELFTEST_RUNS) <
	    FAILURES_MAX)
		return;
	atomic_and(OCF_SELFTEST_RUNS, &dev->failures);
	ocf_device_retest(dev);
}

/*
 * Handles a success while @dev->failures is not 0.  Resets the number of
 * failures in a row, unless @req belongs to a self-test.  Return: whether @req
 * is to be counted for the device.
 */
static noinline bool note_success(struct ocf_device *dev,
				  const struct ocf_request *req)
{
	if (req->session->testing)
		return false;
	atomic_and(OCF_SELFTEST_RUNS, &dev->failures);
	return true;
}

/* Whether @err is a result: the stream is invalid, or the buffer too short. */
static bool is_result(const struct ocf_request *req, int err)
{
	return req->session->params.mode == OCF_MODE_COMPRESS &&
	       (err == -ENOSPC || err == -EINVAL);
}

/*
 * For a request that a card failed, or whose tag it called wrong.  The CPU
 * checks such a tag, if the session may use the CPU: forged tags are rare, and
 * a card may be wrong.  Returns whether @req starts again on another device.
 */
static bool replay_elsewhere(struct ocf_device *dev, struct ocf_request *req,
			     int err)
{
	struct ocf_session *ses = req->session;
	int soft = READ_ONCE(ses->soft);

	if (ses->testing || is_result(req, err) ||
	    atomic_read(&req->bits) & OCF_BIT_CANCELLED)
		return false;
	if (err == -EBADMSG) {
		if (soft < 0)
			return false;
		req->excluded = ~BIT_ULL(soft);
	} else {
		count_failure(dev, err);
		req->err = err == -ENOMEM ? err : -EIO;
		req->excluded |= BIT_ULL(dev->number);
	}
	ocf_device_count_replay(dev, OCF_JOB_SYMMETRIC);
	trace_ocf_request_replay(req, dev->number, err);
	ocf_request_restart_later(req);
	return true;
}

static noinline void handle_card_error(struct ocf_device *dev,
				       struct ocf_request *req, int err,
				       bool inside_submit)
{
	if (!req->session->testing)
		ocf_device_count(dev, OCF_JOB_SYMMETRIC, 0, err);
	if (replay_elsewhere(dev, req, err))
		return;
	if (err == -EBADMSG)
		ocf_buffer_deny(req);
	ocf_request_end(req, err, inside_submit);
}

/**
 * ocf_request_complete() - end the work of a card on a request
 * @req: the request
 * @err: its result
 * @inside_submit: the driver's submit() has returned the result
 *
 * Context: process or BH.
 */
void ocf_request_complete(struct ocf_request *req, int err, bool inside_submit)
{
	struct ocf_device *dev = READ_ONCE(req->dev);
	int ret = dev ? ocf_queue_leave(dev, req, err) : -ENOENT;

	if (unlikely(ret == -EINPROGRESS))
		return;
	if (unlikely(ret)) {
		trace_ocf_request_spurious(req, dev ? dev->number : -1, err);
		if (dev)
			atomic64_inc(&dev->spurious);
		return;
	}
	trace_ocf_request_end(req, dev->number, err);
	if (unlikely(err)) {
		handle_card_error(dev, req, err, inside_submit);
		return;
	}
	if (likely(!atomic_read(&dev->failures)) || note_success(dev, req))
		ocf_device_count(dev, OCF_JOB_SYMMETRIC, req->bytes, 0);
	ocf_request_end(req, 0, inside_submit);
}

void ocf_complete(struct ocf_request *req, int err)
{
	struct ocf_device *dev = READ_ONCE(req->dev);

	WARN_ON_ONCE(in_hardirq());
	ocf_request_complete(req, err, false);
	if (dev)
		ocf_queue_try_dispatch(dev);
}
OCF_EXPORT(ocf_complete);

/* Replays all requests of @list, which were in @dev or waited for it. */
void ocf_requests_replay(struct list_head *list, struct ocf_device *dev)
{
	struct ocf_request *req, *next;

	list_for_each_entry_safe(req, next, list, job.node) {
		ocf_device_count_replay(dev, OCF_JOB_SYMMETRIC);
		trace_ocf_request_replay(req, dev->number, 0);
		ocf_request_restart_later(req);
	}
}

bool ocf_cancel(struct ocf_request *req)
{
	int old = atomic_fetch_or(OCF_BIT_CANCELLED, &req->bits);
	struct ocf_device *dev;
	bool mine = false;

	if (old & OCF_BIT_DONE)
		return false;
	/* keeps the device whose queue is searched */
	ocf_read_lock();
	/* before @req->dev: pairs with was_cancelled() in queue.c */
	switch (smp_load_acquire(&req->where)) {
	case OCF_AT_QUEUE:
		dev = READ_ONCE(req->dev);
		mine = dev && ocf_queue_cancel(dev, req);
		break;
	case OCF_AT_PARKED:
		mine = ocf_keys_unpark(req);
		break;
	}
	ocf_read_unlock();
	trace_ocf_request_cancel(req, -1, mine ? 0 : -EINPROGRESS);
	if (mine)
		ocf_request_end(req, -ECANCELED, false);
	return true;
}
OCF_EXPORT(ocf_cancel);

const struct ocf_request_ops ocf_request_calls = {
	.restart = ocf_request_restart_later,
	.end = ocf_request_end,
	.complete = ocf_request_complete,
	.deliver = ocf_order_work,
};
