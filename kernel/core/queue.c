// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is inside a hardware device, and what waits in front of it.
 *
 * A device holds at most its depth; the rest waits here, oldest first, and
 * moves in as completions make room.  A driver that finds its ring full
 * returns -EBUSY: the request goes back to the head of the line and the device
 * counts as full until it says otherwise.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "core.h"

#include <trace/events/ocf.h>

/* Of one device, beyond its depth; more are refused with -EBUSY. */
#define WAITING_MAX	4096

void ocf_queue_init(struct ocf_queue *q)
{
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->inflight);
	INIT_LIST_HEAD(&q->waiting);
}

/*
 * Moves @req, which is on no list, into the device.  Returns the number of
 * unblocks so far: if there is one more when the driver refuses, the refusal
 * is out of date.
 */
static unsigned int enter(struct ocf_device *dev, struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;

	lockdep_assert_held(&q->lock);
	list_add_tail(&req->node, &q->inflight);
	q->count++;
	req->begun = ktime_get_ns();
	req->where = OCF_AT_DEVICE;
	return q->unblocks;
}

/* The driver could not take @req: back to the head of the line. */
static void refuse(struct ocf_device *dev, struct ocf_request *req,
		   unsigned int unblocks)
{
	struct ocf_queue *q = &dev->queue;

	spin_lock_bh(&q->lock);
	list_move(&req->node, &q->waiting);
	q->count--;
	q->backlog++;
	req->where = OCF_AT_QUEUE;
	atomic64_inc(&dev->blocks);
	if (q->unblocks == unblocks)
		WRITE_ONCE(q->full, true);
	spin_unlock_bh(&q->lock);
}

/* Hands @req, which has entered, to the driver; false if that was full. */
static __always_inline bool hand_over(struct ocf_device *dev,
				      struct ocf_request *req, bool more,
				      unsigned int unblocks)
{
	int err;

	trace_ocf_request_start(req, dev->number, 0);
	err = req->ctx->submit(req, more && dev->info.ops->kick);
	if (err == -EBUSY) {
		refuse(dev, req, unblocks);
		return false;
	}
	if (err != -EINPROGRESS)
		ocf_request_complete(req, err, true);
	return true;
}

/**
 * ocf_queue_kick() - have a device look at what it was given
 * @dev: the device
 *
 * Context: process or BH.
 */
void ocf_queue_kick(struct ocf_device *dev)
{
	if (dev->info.ops->kick)
		dev->info.ops->kick(dev);
}

/**
 * ocf_queue_let_in() - let in what there is room for
 * @dev: the device
 *
 * Context: process or BH.
 */
void ocf_queue_let_in(struct ocf_device *dev)
{
	struct ocf_queue *q = &dev->queue;
	struct ocf_request *req;
	unsigned int unblocks;
	bool handed = false;

	spin_lock_bh(&q->lock);
	if (q->pumping) {
		spin_unlock_bh(&q->lock);
		return;
	}
	q->pumping = true;
	while (dev->state < OCF_DEVICE_DRAINING && !q->full && q->backlog &&
	       q->count < dev->info.depth) {
		req = list_first_entry(&q->waiting, struct ocf_request, node);
		list_del(&req->node);
		q->backlog--;
		unblocks = enter(dev, req);
		spin_unlock_bh(&q->lock);
		hand_over(dev, req, true, unblocks);
		handed = true;
		spin_lock_bh(&q->lock);
	}
	q->pumping = false;
	spin_unlock_bh(&q->lock);
	if (handed)
		ocf_queue_kick(dev);
}

/**
 * ocf_queue_submit() - give a request to a hardware device
 * @dev: the device
 * @req: the request, which holds what it needs
 *
 * Context: process or BH, inside ocf_srcu.
 * Return: -EINPROGRESS, and @req is not the caller's any more; -EBUSY if too
 * many wait; -ENODEV if the device is going.
 */
int ocf_queue_submit(struct ocf_device *dev, struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;
	bool more = req->batch;
	unsigned int unblocks = 0;
	int err = -EINPROGRESS;
	bool direct = false;

	spin_lock_bh(&q->lock);
	if (dev->state >= OCF_DEVICE_DRAINING) {
		err = -ENODEV;
	} else if (!q->full && !q->backlog &&
		   q->count < dev->info.depth) {
		unblocks = enter(dev, req);
		direct = true;
	} else if (q->backlog < WAITING_MAX ||
		   atomic_read(&req->bits) & OCF_BIT_RESTARTED) {
		req->where = OCF_AT_QUEUE;
		list_add_tail(&req->node, &q->waiting);
		q->backlog++;
		trace_ocf_request_wait(req, dev->number, 0);
	} else {
		err = -EBUSY;
	}
	if (err == -EINPROGRESS) {
		atomic_long_add(req->estimate, &dev->load);
		if (more)
			req->batch->cards |= BIT_ULL(dev->number);
		req->batch = NULL;
	}
	spin_unlock_bh(&q->lock);

	if (direct && !hand_over(dev, req, more, unblocks))
		ocf_queue_pump(dev);
	return err;
}

/**
 * ocf_queue_leave() - take a completed request out of a device
 * @dev: the device
 * @req: the request
 * @took: ns the device worked on it: since it began, or since the device was
 *	done with the one before, whichever is later
 * @latency: ns since it began
 *
 * Context: process or BH.
 * Return: false if it was not in the device.
 */
bool ocf_queue_leave(struct ocf_device *dev, struct ocf_request *req,
		     u64 *took, u64 *latency)
{
	struct ocf_queue *q = &dev->queue;
	u64 now = ktime_get_ns(), begun;

	spin_lock_bh(&q->lock);
	if (req->where != OCF_AT_DEVICE || req->dev != dev) {
		spin_unlock_bh(&q->lock);
		return false;
	}
	list_del(&req->node);
	q->count--;
	begun = max(req->begun, q->last_done);
	q->last_done = now;
	req->where = OCF_AT_START;
	spin_unlock_bh(&q->lock);
	atomic_long_sub(req->estimate, &dev->load);
	*took = now > begun ? now - begun : 0;
	*latency = now - req->begun;
	return true;
}

/**
 * ocf_queue_cancel() - take back a request that waits
 * @dev: the device it waits for
 * @req: the request
 *
 * Context: process or BH.
 * Return: whether it waited, and is the caller's now.
 */
bool ocf_queue_cancel(struct ocf_device *dev, struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;
	bool was;

	spin_lock_bh(&q->lock);
	was = req->where == OCF_AT_QUEUE && req->dev == dev;
	if (was) {
		list_del(&req->node);
		q->backlog--;
		req->where = OCF_AT_START;
		atomic_long_sub(req->estimate, &dev->load);
	}
	spin_unlock_bh(&q->lock);
	return was;
}

/**
 * ocf_queue_empty() - take everything back from a device that is going
 * @dev: the device; quiesced, its state lets nothing in
 * @orphans: where to put the requests, oldest first
 *
 * Context: process.
 */
void ocf_queue_empty(struct ocf_device *dev, struct list_head *orphans)
{
	struct ocf_queue *q = &dev->queue;
	struct ocf_request *req;

	spin_lock_bh(&q->lock);
	list_splice_tail_init(&q->inflight, orphans);
	list_splice_tail_init(&q->waiting, orphans);
	q->count = 0;
	q->backlog = 0;
	list_for_each_entry(req, orphans, node)
		req->where = OCF_AT_START;
	atomic_long_set(&dev->load, 0);
	spin_unlock_bh(&q->lock);
}

void ocf_device_unblock(struct ocf_device *dev)
{
	struct ocf_queue *q = &dev->queue;

	spin_lock_bh(&q->lock);
	q->unblocks++;
	WRITE_ONCE(q->full, false);
	spin_unlock_bh(&q->lock);
	ocf_queue_pump(dev);
}
OCF_EXPORT(ocf_device_unblock);
