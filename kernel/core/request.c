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
	req->avoid = 0;
	req->split.session = NULL;
	req->err = 0;
	req->bytes = max(req->data.len, req->auth.len);
	req->result_len = req->data.len;
	req->in_order = false;
	if (unlikely(ses->params.flags & OCF_SESSION_ORDERED))
		ocf_order_enter(req);
	trace_ocf_request_submit(req, -1, 0);

	err = ocf_place(req);
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

	batch->cards = 0;
	if (!cards)
		return;
	ocf_read_lock();
	for (; cards; cards &= cards - 1) {
		/* another device may be in its place: it does not mind */
		dev = ocf_device_at(__ffs64(cards));
		if (dev)
			ocf_queue_kick(dev);
	}
	ocf_read_unlock();
}
OCF_EXPORT(ocf_batch_end);

/**
 * ocf_request_restart() - place a request that was accepted before
 * @req: the request, which is on no list but the order's
 *
 * Context: process; may sleep.
 */
void ocf_request_restart(struct ocf_request *req)
{
	int err, failed = req->err;

	req->batch = NULL;
	req->begun = 0;
	req->err = 0;
	if (atomic_fetch_or(OCF_BIT_RESTARTED, &req->bits) &
	    OCF_BIT_CANCELLED) {
		ocf_request_end(req, -ECANCELED, false);
		return;
	}
	err = ocf_place_again(req);
	if (err == -EINPROGRESS)
		return;
	/* nobody is left, of those who have not failed it */
	if (err == -ENODEV && req->avoid)
		err = failed ?: -EIO;
	ocf_request_end(req, err ?: req->err, false);
}

/* Places @req again; software does it here, at whatever length. */
static void restart_here(struct ocf_request *req)
{
	if (atomic_fetch_or(OCF_BIT_WORKER, &req->bits) & OCF_BIT_HANDED)
		ocf_place_taken(req);
	ocf_request_restart(req);
}

/* Whether the task that waits for @req is to place it again; it then does. */
static bool take_up(struct ocf_request *req)
{
	if (!(atomic_fetch_andnot(OCF_BIT_RETURNED, &req->bits) &
	      OCF_BIT_RETURNED))
		return false;
	restart_here(req);
	return true;
}

/*
 * A killed waiter cancels while the request is still its own; then of the two,
 * it and the result, the first to set its bit wins.  The same holds for a
 * request that was returned to the waiter.
 */
static int abandon(struct ocf_request *req)
{
	int old;

	ocf_cancel(req);
	old = atomic_fetch_or(OCF_BIT_ABANDONED, &req->bits);
	if (!(old & (OCF_BIT_WOKEN | OCF_BIT_RETURNED)))
		return -EINTR;
	/* the other side has set its bit, and is about to look at @req again */
	wait_for_completion(&req->wait);
	return take_up(req) ? -EINTR : req->err;
}

/* The wait of ocf_run(), in which the task does what is its own to do. */
static int wait_for(struct ocf_request *req)
{
	do {
		if (unlikely(wait_for_completion_killable(&req->wait)))
			return abandon(req);
	} while (unlikely(take_up(req)));
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
	err = submit(req, OCF_BIT_WAITER);
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
	return wait_for(req);
}
OCF_EXPORT(ocf_run);

/* A card that fails so many requests one after the other is asked. */
#define FAILURES_MAX	8

/*
 * It may be the requests: nobody may get a card into trouble by what he asks
 * for, so known answers decide.  A want of memory says nothing of it, and what
 * it does not do it need not.
 */
static void count_failure(struct ocf_device *dev, int err)
{
	if (err == -ENOMEM || err == -EOPNOTSUPP)
		return;
	if (atomic_inc_return(&dev->failures) < FAILURES_MAX)
		return;
	atomic_set(&dev->failures, 0);
	ocf_device_doubt(dev);
}

/* What may be wrong with a stream that is expanded, or too long compressed */
static bool is_answer(const struct ocf_request *req, int err)
{
	return req->session->params.mode == OCF_MODE_COMPRESS &&
	       (err == -ENOSPC || err == -EINVAL);
}

/*
 * A card could not do @req, or says that its tag is wrong.  The CPU looks into
 * the latter, if it may: a forged tag is rare, and a card may err.  Returns
 * whether @req is on its way to somewhere else.
 */
static bool try_elsewhere(struct ocf_device *dev, struct ocf_request *req,
			  int err)
{
	struct ocf_session *ses = req->session;
	int soft = READ_ONCE(ses->soft);

	if (ses->testing || is_answer(req, err) ||
	    atomic_read(&req->bits) & OCF_BIT_CANCELLED)
		return false;
	if (err == -EBADMSG) {
		if (soft < 0)
			return false;
		req->avoid = ~BIT_ULL(soft);
	} else {
		count_failure(dev, err);
		req->err = err == -ENOMEM ? err : -EIO;
		req->avoid |= BIT_ULL(dev->number);
	}
	atomic64_inc(&dev->replays);
	trace_ocf_request_replay(req, dev->number, err);
	ocf_request_restart_later(req);
	return true;
}

static noinline void card_erred(struct ocf_device *dev,
				struct ocf_request *req, int err,
				bool inside_submit)
{
	if (try_elsewhere(dev, req, err))
		return;
	if (err == -EBADMSG)
		ocf_buffer_deny(req);
	ocf_request_end(req, err, inside_submit);
}

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
	ocf_device_count(dev, req->bytes, err);
	if (unlikely(err)) {
		card_erred(dev, req, err, inside_submit);
		return;
	}
	if (unlikely(atomic_read(&dev->failures)))
		atomic_set(&dev->failures, 0);
	ocf_request_end(req, 0, inside_submit);
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

/*
 * What workers are to do, and are about, for one flow.  An owner has as many of
 * them as there are CPUs: more would only take those from others.
 */
struct line {
	spinlock_t		lock;	/* protects the others; BH */
	struct list_head	waiting;
	unsigned int		workers;
};

static struct line lines[OCF_FLOWS];

void __init ocf_requests_init(void)
{
	int i;

	for (i = 0; i < OCF_FLOWS; i++) {
		spin_lock_init(&lines[i].lock);
		INIT_LIST_HEAD(&lines[i].waiting);
	}
}

/* A worker of @line goes; the next request gets another, after others'. */
static void make_way(struct line *line)
{
	struct ocf_request *next;

	spin_lock_bh(&line->lock);
	next = list_first_entry_or_null(&line->waiting, struct ocf_request,
					node);
	if (next) {
		list_del(&next->node);
		queue_work(ocf_wq, &next->work);
	} else {
		line->workers--;
	}
	spin_unlock_bh(&line->lock);
}

static void line_work(struct work_struct *work)
{
	struct ocf_request *req = container_of(work, struct ocf_request, work);
	struct line *line = &lines[req->session->flow];

	restart_here(req);
	make_way(line);
}

static void process_work(struct work_struct *work)
{
	struct ocf_request *req = container_of(work, struct ocf_request, work);

	if (ocf_workers_ended(req->workers))
		atomic_or(OCF_BIT_CANCELLED, &req->bits);
	restart_here(req);
}

/* Has the task that waits for @req place it again; false if none does. */
static bool return_to_waiter(struct ocf_request *req)
{
	if (!(atomic_read(&req->bits) & OCF_BIT_WAITER))
		return false;
	if (atomic_fetch_or(OCF_BIT_RETURNED, &req->bits) &
	    OCF_BIT_ABANDONED) {
		atomic_andnot(OCF_BIT_RETURNED, &req->bits);
		return false;
	}
	complete(&req->wait);
	return true;
}

/*
 * Has the submitter of @req place it again, at its own priority and cost: the
 * task that waits, or a thread of the process; false if there is neither.
 */
static bool return_to_submitter(struct ocf_request *req)
{
	if (return_to_waiter(req))
		return true;
	if (!req->workers)
		return false;
	INIT_WORK(&req->work, process_work);
	return ocf_workers_queue(req->workers, &req->work);
}

/**
 * ocf_request_restart_later() - have that done by the submitter, or a worker
 * @req: the request, which is on no list but the order's
 *
 * Context: process or BH.
 */
void ocf_request_restart_later(struct ocf_request *req)
{
	struct line *line = &lines[req->session->flow];

	if (return_to_submitter(req))
		return;
	INIT_WORK(&req->work, line_work);
	spin_lock_bh(&line->lock);
	if (line->workers < num_online_cpus()) {
		line->workers++;
		queue_work(ocf_wq, &req->work);
	} else {
		list_add_tail(&req->node, &line->waiting);
	}
	spin_unlock_bh(&line->lock);
}

/* All of @list, whose requests belong to the caller. */
void ocf_requests_restart(struct list_head *list)
{
	struct ocf_request *req, *next;

	list_for_each_entry_safe(req, next, list, node)
		if (!return_to_submitter(req))
			restart_here(req);
}

/* All of @list, which were in @dev, or waited for it; by workers. */
void ocf_requests_replay(struct list_head *list, struct ocf_device *dev)
{
	struct ocf_request *req, *next;

	list_for_each_entry_safe(req, next, list, node) {
		atomic64_inc(&dev->replays);
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
	/* a device whose queue we look into does not go meanwhile */
	ocf_read_lock();
	/* then @req->dev is as of then: pairs with waits_in_vain() */
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
