// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: from submission to the one completion that is promised.
 *
 * Completion by a driver, cancellation and a device's death race for
 * OCF_BIT_DONE of ocf_request.bits; who sets it delivers.  All bits are in one
 * word, so that "was it cancelled before it was done?" has one answer.
 */
#include <linux/slab.h>

#include "core.h"

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

u32 ocf_request_maclen(const struct ocf_request *req)
{
	return req->session->params.maclen;
}
OCF_EXPORT(ocf_request_maclen);

/*
 * Checks @req and places it.  Returns what ocf_place() does; with 0 the
 * result is in req->err and nothing has been delivered or counted.
 */
static __always_inline int submit(struct ocf_request *req, int bits)
{
	struct ocf_session *ses = req->session;
	struct ocf_keys *keys;
	int err, idx;

	err = ocf_check_request(req, &ses->params, ses->block);
	if (unlikely(err))
		goto refuse;
	req->keys = NULL;
	req->dev = NULL;
	atomic_set(&req->bits, bits);
	req->where = OCF_AT_START;
	req->parks = 0;
	req->err = 0;
	req->bytes = max(req->data.len, req->auth.len);
	req->result_len = req->data.len;
	req->in_order = false;
	if (unlikely(ses->params.flags & OCF_SESSION_ORDERED))
		ocf_order_enter(req);
	trace_ocf_request_submit(req, -1, 0);

	idx = srcu_read_lock(&ocf_srcu);
	keys = srcu_dereference(ses->keys, &ocf_srcu);
	err = ocf_place(req, keys);
	srcu_read_unlock(&ocf_srcu, idx);
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
	int err = submit(req, 0);

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
	int idx;

	batch->cards = 0;
	if (!cards)
		return;
	idx = srcu_read_lock(&ocf_srcu);
	for (; cards; cards &= cards - 1) {
		/* another device may be in its place: it does not mind */
		dev = ocf_device_at(__ffs64(cards));
		if (dev)
			ocf_queue_kick(dev);
	}
	srcu_read_unlock(&ocf_srcu, idx);
}
OCF_EXPORT(ocf_batch_end);

/*
 * The wait of ocf_run().  A killed waiter cancels while the request is still
 * its own; then of the two, it and the result, the first to set its bit wins.
 */
static int wait_for(struct ocf_request *req)
{
	int old;

	if (likely(!wait_for_completion_killable(&req->wait)))
		return req->err;
	ocf_cancel(req);
	old = atomic_fetch_or(OCF_BIT_ABANDONED, &req->bits);
	if (!(old & OCF_BIT_WOKEN))
		return -EINTR;
	wait_for_completion(&req->wait);
	return req->err;
}

int ocf_run(struct ocf_request *req)
{
	bool ordered = req->session->params.flags & OCF_SESSION_ORDERED;
	int err;

	might_sleep();
	req->flags |= OCF_REQ_MAY_SLEEP;
	req->batch = NULL;
	err = submit(req, OCF_BIT_WAITER);
	if (likely(!err && !ordered)) {
		ocf_session_count(req->session, req->bytes, req->err);
		trace_ocf_request_done(req, req->dev->number, req->err);
		return req->err;
	}
	if (!err) {
		init_completion(&req->wait);
		ocf_request_end(req, req->err, false);
	} else if (err != -EINPROGRESS) {
		return err;
	}
	return wait_for(req);
}
OCF_EXPORT(ocf_run);

/**
 * ocf_request_complete() - a card is done with a request
 * @req: the request
 * @err: its result
 * @inside_submit: the driver's submit() returned it
 *
 * Context: process or BH.
 */
void ocf_request_complete(struct ocf_request *req, int err, bool inside_submit)
{
	struct ocf_device *dev = READ_ONCE(req->dev);
	u64 took, latency;

	if (!dev || !ocf_queue_leave(dev, req, &took, &latency)) {
		trace_ocf_request_spurious(req, dev ? dev->number : -1, err);
		if (dev)
			atomic64_inc(&dev->spurious);
		return;
	}
	trace_ocf_request_end(req, dev->number, err);
	if (err == -EBADMSG)
		ocf_buffer_deny(req);
	if (!err)
		ocf_device_learn(dev, &req->session->params, req->op,
				 req->bytes, took);
	ocf_device_count(dev, req->bytes, err);
	ocf_time(dev, req->session, latency);
	ocf_request_end(req, err, inside_submit);
}

void ocf_complete(struct ocf_request *req, int err)
{
	struct ocf_device *dev = READ_ONCE(req->dev);

	WARN_ON_ONCE(in_hardirq());
	ocf_request_complete(req, err, false);
	if (dev)
		ocf_queue_pump(dev);
}
OCF_EXPORT(ocf_complete);

/**
 * ocf_request_restart() - place a request that was accepted before
 * @req: the request, which is on no list but the order's
 *
 * Context: process; may sleep.
 */
void ocf_request_restart(struct ocf_request *req)
{
	int err, idx;

	req->batch = NULL;
	atomic_or(OCF_BIT_RESTARTED, &req->bits);
	idx = srcu_read_lock(&ocf_srcu);
	err = ocf_place(req, req->keys);
	srcu_read_unlock(&ocf_srcu, idx);
	if (err != -EINPROGRESS)
		ocf_request_end(req, err ?: req->err, false);
}

/* All of @list, whose requests belong to the caller. */
void ocf_requests_restart(struct list_head *list)
{
	struct ocf_request *req, *next;

	list_for_each_entry_safe(req, next, list, node) {
		atomic_or(OCF_BIT_WORKER, &req->bits);
		ocf_request_restart(req);
	}
}

void ocf_request_work(struct work_struct *work)
{
	struct ocf_request *req = container_of(work, struct ocf_request, work);

	req->where = OCF_AT_START;
	atomic_or(OCF_BIT_WORKER, &req->bits);
	ocf_request_restart(req);
}

bool ocf_cancel(struct ocf_request *req)
{
	int old = atomic_fetch_or(OCF_BIT_CANCELLED, &req->bits);
	struct ocf_device *dev;
	bool mine = false;
	int idx;

	if (old & OCF_BIT_DONE)
		return false;
	/* a device whose queue we look into does not go meanwhile */
	idx = srcu_read_lock(&ocf_srcu);
	/* the work of one that a worker has is there: pairs with to_worker() */
	switch (smp_load_acquire(&req->where)) {
	case OCF_AT_QUEUE:
		dev = READ_ONCE(req->dev);
		mine = dev && ocf_queue_cancel(dev, req);
		break;
	case OCF_AT_PARKED:
		mine = ocf_keys_unpark(req);
		break;
	case OCF_AT_WORKER:
		mine = cancel_work(&req->work);
		break;
	}
	srcu_read_unlock(&ocf_srcu, idx);
	trace_ocf_request_cancel(req, -1, mine ? 0 : -EINPROGRESS);
	if (mine)
		ocf_request_end(req, -ECANCELED, false);
	return true;
}
OCF_EXPORT(ocf_cancel);
