// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of a card: requests inside the card, and requests that wait.
 *
 * A card holds as many requests as its depth says.  The others wait here, and
 * fair.c says in which order they enter.  They enter as soon as a completion
 * makes room, or, while owners compete for the card, just before it runs dry
 * (pace.c).  A driver whose ring is full returns -EBUSY.  Then the request goes
 * back to the head of its owner's queue, and nothing is dispatched until the
 * driver unblocks.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "fair.h"
#include "pace.h"

#include <trace/events/ocf.h>

/* Requests of one owner that may wait; the next one fails with -EBUSY. */
#define WAITING_MAX	4096

/*
 * Correcting a cost takes a tenth of the core's time for a request.  So only
 * the most telling completions correct a cost, and one in 4.2 of the others:
 * those at which the running sum of this number overflows 32 bits.  It is 2^32
 * divided by the third power of the golden ratio, so no pattern of completions
 * stays in step with it.
 */
#define LEARN_STEP	0x3c6ef372u

/*
 * A task dispatches at most so many requests of others, and then leaves the
 * rest to a worker.  One that the driver completes inside submit() counts more.
 */
#define DISPATCH_MAX	64
#define COMPLETION_COST	8

static void start_watchdog(struct ocf_queue *q)
{
	lockdep_assert_held(&q->lock);
	q->watching = true;
	q->late = false;
	mod_timer(&q->watchdog, jiffies + ocf_watchdog_interval(q));
}

/*
 * Moves @req, which is on no list, into the device.  Returns the number of
 * unblocks so far.  If that has changed when the driver refuses @req, the
 * refusal is out of date.
 */
static __always_inline unsigned int enter_device(struct ocf_device *dev,
						 struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;

	lockdep_assert_held(&q->lock);
	list_add_tail(&req->job.node, &q->inflight);
	q->count++;
	ocf_fair_enter(&q->fair, &req->job);
	req->begun = ktime_get_ns();
	/* the watchdog limits this allowance: see due() in device/watchdog.c */
	req->due = req->begun + q->patience +
		   OCF_LENIENCE * ocf_queue_inside(dev);
	/* after req->dev: pairs with ocf_queue_leave() */
	smp_store_release(&req->where, OCF_AT_DEVICE);
	atomic_inc(&q->submitting);
	if (unlikely(!q->watching))
		start_watchdog(q);
	return q->unblocks;
}

/* Takes @req out of the queue, and off the load of @dev. */
static void dequeue(struct ocf_device *dev, struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;

	lockdep_assert_held(&q->lock);
	ocf_fair_dequeue(&q->fair, &req->job);
	q->backlog--;
	req->where = OCF_AT_START;
	req->ctx->users--;
	atomic_long_sub(req->job.estimate, &dev->load);
}

/*
 * Whether @req was cancelled before ocf_queue_cancel() could find it in the
 * queue.  Then the caller has to end it.
 */
static bool was_cancelled(struct ocf_device *dev, struct ocf_request *req)
{
	lockdep_assert_held(&dev->queue.lock);
	/* after req->dev: pairs with ocf_queue_cancel() */
	smp_store_release(&req->where, OCF_AT_QUEUE);
	/* from here on a cancellation finds it: pairs with ocf_cancel() */
	smp_mb();
	if (likely(!(atomic_read(&req->bits) & OCF_BIT_CANCELLED)))
		return false;
	dequeue(dev, req);
	return true;
}

/* The driver could not take @req, which goes back to the head of its queue. */
static void take_refusal(struct ocf_device *dev, struct ocf_request *req,
			 unsigned int unblocks)
{
	struct ocf_queue *q = &dev->queue;
	bool cancelled;

	spin_lock_bh(&q->lock);
	list_del(&req->job.node);
	q->count--;
	ocf_fair_leave(&q->fair, &req->job);
	ocf_fair_enqueue(&q->fair, &req->job, true);
	q->backlog++;
	atomic64_inc(&dev->blocks);
	if (q->unblocks == unblocks && !q->full) {
		q->full_since = ktime_get_ns();
		WRITE_ONCE(q->full, true);
	}
	cancelled = was_cancelled(dev, req);
	spin_unlock_bh(&q->lock);
	if (unlikely(cancelled))
		ocf_request_ops->end(req, -ECANCELED, true);
}

/*
 * Gives @req, which has entered, to the driver.  False: @req is not inside, so
 * there may be room for another.
 */
static __always_inline bool submit_to_driver(struct ocf_device *dev,
					     struct ocf_request *req, bool more,
					     unsigned int unblocks)
{
	int err;

	trace_ocf_request_start(req, dev->number, 0);
	err = req->ctx->submit(req, more && dev->info.ops->kick);
	if (unlikely(err == -EBUSY))
		take_refusal(dev, req, unblocks);
	else if (unlikely(err != -EINPROGRESS))
		ocf_request_ops->complete(req, err, true);
	/* pairs with ocf_queue_close() */
	atomic_dec_return_release(&dev->queue.submitting);
	return err == -EINPROGRESS;
}

/**
 * ocf_queue_kick() - have a device begin with what it was given
 * @dev: the device
 *
 * Context: process or BH.
 */
void ocf_queue_kick(struct ocf_device *dev)
{
	if (dev->info.ops->kick)
		dev->info.ops->kick(dev);
}

static void dispatch_later(struct ocf_device *dev)
{
	ocf_device_get(dev);
	if (!queue_work(ocf_dispatch_wq, &dev->queue.dispatch))
		ocf_device_put(dev);
}

/*
 * When @dev should get its next request, in ns; at once if that is not after
 * @now
 */
static u64 refill_time(const struct ocf_device *dev,
		       const struct ocf_request *oldest, u64 now)
{
	const struct ocf_queue *q = &dev->queue;
	struct ocf_pace pace = {
		.now = now,
		.done = q->last_done,
		.begun = oldest->begun,
		.oldest = oldest->job.estimate,
		.inside = ocf_queue_inside(dev),
		.lag = READ_ONCE(dev->lag),
		.noise = READ_ONCE(dev->noise),
		.late = q->refill_late,
	};

	return ocf_pace_next(&pace);
}

/*
 * Whether @req, which is next, may enter @dev, which owners share.  It may if
 * its owner has nothing inside, or if @dev is about to run dry.  If @dev will
 * run dry before the next completion, this arms @refill.
 */
static noinline bool may_enter_shared(struct ocf_device *dev,
				      const struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;
	u64 inside = ocf_flow_of(&q->fair, &req->job)->inside;
	const struct ocf_request *oldest;
	u64 now, next;

	lockdep_assert_held(&q->lock);
	if (!inside || list_empty(&q->inflight))
		return true;
	oldest = list_first_entry(&q->inflight, struct ocf_request, job.node);
	if (req->job.estimate < OCF_PACE_SHORT) {
		if (ocf_pace_room(inside, req->job.estimate,
				  READ_ONCE(dev->lag)))
			return true;
		/* the completion comes soon enough without a timer */
		if (oldest->job.estimate < OCF_PACE_SHORT)
			return false;
	}
	now = ktime_get_ns();
	next = refill_time(dev, oldest, now);
	if (next <= now) {
		if (q->refill_at == U64_MAX)
			ocf_pace_untimed(&q->refill_late);
		return true;
	}
	if (next < q->refill_at) {
		q->refill_at = next;
		hrtimer_start(&q->refill, ns_to_ktime(next),
			      HRTIMER_MODE_ABS_SOFT);
	}
	return false;
}

/*
 * The request that may enter @dev now, or NULL.  The caller has checked that
 * requests wait.
 */
static struct ocf_request *next_request(struct ocf_device *dev)
{
	struct ocf_fair *fair = &dev->queue.fair;
	struct ocf_job *job = ocf_fair_next(fair);
	struct ocf_request *req = container_of(job, struct ocf_request, job);

	return !ocf_is_shared(fair) || may_enter_shared(dev, req) ? req : NULL;
}

/**
 * ocf_queue_dispatch() - give a device the requests that it has room for
 * @dev: the device
 *
 * Context: process or BH.
 */
void ocf_queue_dispatch(struct ocf_device *dev)
{
	struct ocf_queue *q = &dev->queue;
	unsigned int unblocks, left = DISPATCH_MAX;
	struct ocf_request *req;

	spin_lock_bh(&q->lock);
	if (q->dispatching) {
		spin_unlock_bh(&q->lock);
		return;
	}
	/*
	 * Other tasks leave the work to this one, so it has to keep its CPU:
	 * softirqs stay off to the end.
	 */
	q->dispatching = true;
	while (left && !q->closed && !q->full && q->backlog &&
	       q->count < dev->info.depth && (req = next_request(dev))) {
		ocf_fair_dequeue(&q->fair, &req->job);
		q->backlog--;
		unblocks = enter_device(dev, req);
		spin_unlock(&q->lock);
		left -= submit_to_driver(dev, req, true, unblocks) ?
				1 : min(left, COMPLETION_COST);
		spin_lock(&q->lock);
	}
	q->dispatching = false;
	spin_unlock(&q->lock);
	if (left < DISPATCH_MAX)
		ocf_queue_kick(dev);
	if (unlikely(!left))
		dispatch_later(dev);
	local_bh_enable();
}

static void dispatch_work(struct work_struct *work)
{
	struct ocf_device *dev =
		container_of(work, struct ocf_device, queue.dispatch);

	ocf_queue_dispatch(dev);
	ocf_device_put(dev);
}

static enum hrtimer_restart refill_device(struct hrtimer *timer)
{
	struct ocf_device *dev =
		container_of(timer, struct ocf_device, queue.refill);
	struct ocf_queue *q = &dev->queue;
	u64 now;

	spin_lock(&q->lock);
	now = ktime_get_ns();
	/* unless it was armed again meanwhile, for later */
	if (now >= q->refill_at)
		ocf_pace_timed(&q->refill_late, now - q->refill_at);
	q->refill_at = U64_MAX;
	spin_unlock(&q->lock);
	ocf_queue_try_dispatch(dev);
	return HRTIMER_NORESTART;
}

void ocf_queue_init(struct ocf_device *dev)
{
	struct ocf_queue *q = &dev->queue;

	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->inflight);
	ocf_fair_init(&q->fair);
	q->patience = (u64)(dev->info.patience ?: MSEC_PER_SEC) * NSEC_PER_MSEC;
	INIT_WORK(&q->dispatch, dispatch_work);
	ocf_hrtimer_setup(&q->refill, refill_device, CLOCK_MONOTONIC,
			  HRTIMER_MODE_ABS_SOFT);
	q->refill_at = U64_MAX;
	dev->noise = OCF_PACE_UNKNOWN;
}

static __always_inline bool has_capacity(const struct ocf_device *dev)
{
	return !dev->queue.full && dev->queue.count < dev->info.depth;
}

/* Whether @req, which has just arrived, is next, and may enter. */
static noinline bool is_next(struct ocf_device *dev,
			     const struct ocf_request *req)
{
	return ocf_fair_precedes(&dev->queue.fair, req->job.flow) &&
	       may_enter_shared(dev, req);
}

/*
 * Whether @req may enter without waiting.  If others wait, it may enter only if
 * none of them is of its own owner, and no waiting owner has a smaller start
 * tag (fair.c).
 */
static __always_inline bool may_enter_now(struct ocf_device *dev,
					  const struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;
	unsigned int flow = req->job.flow;

	/*
	 * every request except a self-test's counts as an arrival, even if the
	 * device is full
	 */
	if (req->session->testing || !ocf_fair_arrive(&q->fair, flow))
		return has_capacity(dev) && !q->backlog;
	return has_capacity(dev) && !q->fair.flow[flow].count &&
	       is_next(dev, req);
}

static bool may_wait(struct ocf_queue *q, const struct ocf_request *req)
{
	return ocf_flow_of(&q->fair, &req->job)->count < WAITING_MAX ||
	       atomic_read(&req->bits) & OCF_BIT_RESTARTED ||
	       req->session->testing;
}

/* Counts @req, which still belongs to its submitter, as load of @dev. */
static __always_inline void charge_load(struct ocf_device *dev,
					struct ocf_request *req)
{
	req->ctx->users++;
	atomic_long_add(req->job.estimate, &dev->load);
	if (req->batch)
		req->batch->cards |= BIT_ULL(dev->number);
	req->batch = NULL;
}

/**
 * ocf_queue_submit() - give a request to a hardware device
 * @dev: the device
 * @req: the request, with references to all that it needs
 *
 * Context: process or BH, after ocf_read_lock().
 * Return: -EINPROGRESS: @req does not belong to the caller any more; -EBUSY:
 * too many wait; -ENODEV: the device does not take requests now.
 */
int ocf_queue_submit(struct ocf_device *dev, struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;
	bool more = req->batch;
	unsigned int unblocks = 0;
	int err = -EINPROGRESS;
	bool direct = false, cancelled = false;

	req->job.flow = req->session->flow;
	spin_lock_bh(&q->lock);
	if (unlikely(q->closed || !ocf_device_serves(dev, req->session))) {
		err = -ENODEV;
	} else if (may_enter_now(dev, req)) {
		charge_load(dev, req);
		unblocks = enter_device(dev, req);
		direct = true;
	} else if (may_wait(q, req)) {
		charge_load(dev, req);
		ocf_fair_enqueue(&q->fair, &req->job, req->session->testing);
		q->backlog++;
		trace_ocf_request_wait(req, dev->number, 0);
		cancelled = was_cancelled(dev, req);
	} else {
		err = -EBUSY;
	}
	spin_unlock_bh(&q->lock);

	if (direct && !submit_to_driver(dev, req, more, unblocks))
		ocf_queue_try_dispatch(dev);
	if (unlikely(cancelled))
		ocf_request_ops->end(req, -ECANCELED, true);
	return err;
}

static noinline void learn_cost(struct ocf_device *dev, struct ocf_request *req,
				struct ocf_sample sample)
{
	ocf_device_learn(dev, &req->session->params, req->op, req->bytes,
			 &sample);
}

/* Whether @s only shows that @dev had slept.  Then it is ignored. */
static noinline bool only_woke_up(struct ocf_device *dev,
				  const struct ocf_request *req,
				  struct ocf_sample s)
{
	struct ocf_queue *q = &dev->queue;

	lockdep_assert_held(&q->lock);
	q->woken = ocf_sample_wakes(&s, (u64)req->job.estimate +
				    READ_ONCE(dev->lag), q->woken);
	if (q->woken)
		WRITE_ONCE(q->last_done, q->last_done - s.gap);
	return q->woken;
}

/* A driver completes @req, which is not in @dev, or is being reclaimed. */
static noinline int leave_elsewhere(struct ocf_device *dev,
				    struct ocf_request *req, int err)
	__releases(&dev->queue.lock)
{
	int ret = -ENOENT;

	if (req->where == OCF_AT_RECLAIM && req->dev == dev) {
		req->where = OCF_AT_ANSWERED;
		req->err = err;
		ret = -EINPROGRESS;
	}
	spin_unlock_bh(&dev->queue.lock);
	return ret;
}

/**
 * ocf_queue_leave() - take a completed request out of a device
 * @dev: the device
 * @req: the request
 * @err: its result, kept in @req->err if @req is being reclaimed
 *
 * The time of @req in the device counts for its owner.  The estimate of the
 * cost is corrected by one completion in 4.2, by the first after a long
 * silence, and by one that took less than half the expected time.  A completion
 * that only shows that the device had slept does not correct it.
 *
 * Context: process or BH.
 * Return: 0; -EINPROGRESS: it is being reclaimed, and ocf_queue_reclaimed()
 * will find the result; -ENOENT: it was not in the device.
 */
int ocf_queue_leave(struct ocf_device *dev, struct ocf_request *req, int err)
{
	struct ocf_queue *q = &dev->queue;
	struct ocf_sample sample;
	bool teaches;
	u64 now;

	spin_lock_bh(&q->lock);
	/* under the lock, so that times are in the order of completions */
	now = ktime_get_ns();
	/* before @req->dev: pairs with enter_device() */
	if (unlikely(smp_load_acquire(&req->where) != OCF_AT_DEVICE ||
		     req->dev != dev))
		return leave_elsewhere(dev, req, err);
	list_del(&req->job.node);
	q->count--;
	ocf_fair_leave(&q->fair, &req->job);
	sample = (struct ocf_sample){ .latency = now - req->begun,
				      .gap = now - q->last_done };
	teaches = unlikely((q->learn_phase += LEARN_STEP) < LEARN_STEP) ||
		  unlikely(2 * sample.latency < req->job.estimate);
	WRITE_ONCE(q->last_done, now);
	if (unlikely(ocf_sample_is_stale(&sample)))
		teaches = !only_woke_up(dev, req, sample);
	/* for a waiter: see ocf_crossover_woken() */
	req->begun = is_idle_task(current) ? now : 0;
	req->where = OCF_AT_START;
	req->ctx->users--;
	atomic_long_sub(req->job.estimate, &dev->load);
	spin_unlock_bh(&q->lock);
	if (unlikely(err))
		return 0;
	if (unlikely(teaches))
		learn_cost(dev, req, sample);
	ocf_time(dev, req->session, sample.latency);
	return 0;
}

/**
 * ocf_queue_cancel() - take a request that waits out of the queue
 * @dev: the device it waits for
 * @req: the request
 *
 * Context: process or BH.
 * Return: whether it waited.  Then it belongs to the caller.
 */
bool ocf_queue_cancel(struct ocf_device *dev, struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;
	bool was;

	spin_lock_bh(&q->lock);
	/* before @req->dev: pairs with was_cancelled() */
	was = smp_load_acquire(&req->where) == OCF_AT_QUEUE && req->dev == dev;
	if (was)
		dequeue(dev, req);
	spin_unlock_bh(&q->lock);
	/* the request behind it may be allowed to enter */
	if (was)
		ocf_queue_try_dispatch(dev);
	return was;
}

/**
 * ocf_queue_close() - let no request enter any more
 * @dev: the device
 *
 * Context: process; may sleep.
 */
void ocf_queue_close(struct ocf_device *dev)
{
	struct ocf_queue *q = &dev->queue;

	spin_lock_bh(&q->lock);
	q->closed = true;
	spin_unlock_bh(&q->lock);
	/* until submit() has returned everywhere: see submit_to_driver() */
	while (atomic_read_acquire(&q->submitting))
		usleep_range(20, 100);
}

/**
 * ocf_queue_watch() - have the watchdog look at a card
 * @dev: the card, which has got a public-key request
 *
 * Context: process or BH.
 */
void ocf_queue_watch(struct ocf_device *dev)
{
	struct ocf_queue *q = &dev->queue;

	spin_lock_bh(&q->lock);
	if (!q->watching && !q->closed)
		start_watchdog(q);
	spin_unlock_bh(&q->lock);
}

/**
 * ocf_queue_end() - stop the timers of a queue
 * @dev: a device that is closed for good, and empty
 *
 * Context: process; may sleep.
 */
void ocf_queue_end(struct ocf_device *dev)
{
	timer_shutdown_sync(&dev->queue.watchdog);
	hrtimer_cancel(&dev->queue.refill);
}

/**
 * ocf_queue_open() - let requests enter again
 * @dev: a device that was closed, and is empty
 *
 * Context: process or BH.
 */
void ocf_queue_open(struct ocf_device *dev)
{
	struct ocf_queue *q = &dev->queue;

	spin_lock_bh(&q->lock);
	q->closed = false;
	WRITE_ONCE(q->full, false);
	spin_unlock_bh(&q->lock);
}

/**
 * ocf_queue_reclaim() - begin to take a request out of a closed device
 * @dev: the device
 *
 * Context: process or BH.
 * Return: its oldest request, for ocf_queue_reclaimed(), or NULL.
 */
struct ocf_request *ocf_queue_reclaim(struct ocf_device *dev)
{
	struct ocf_queue *q = &dev->queue;
	struct ocf_request *req;

	spin_lock_bh(&q->lock);
	req = list_first_entry_or_null(&q->inflight, struct ocf_request,
				       job.node);
	if (req) {
		list_del(&req->job.node);
		req->where = OCF_AT_RECLAIM;
	}
	spin_unlock_bh(&q->lock);
	return req;
}

/**
 * ocf_queue_reclaimed() - end what ocf_queue_reclaim() has begun
 * @dev: the device
 * @req: the request that ocf_queue_reclaim() has returned
 * @detached: the driver has given it up
 * @requeue: gets @req if the driver has given it up
 *
 * Context: process or BH.
 * Return: false: the driver has completed @req meanwhile.  It counts as inside
 * again, and the caller has to complete it with @req->err.
 */
bool ocf_queue_reclaimed(struct ocf_device *dev, struct ocf_request *req,
			 bool detached, struct list_head *requeue)
{
	struct ocf_queue *q = &dev->queue;
	bool answered;

	spin_lock_bh(&q->lock);
	answered = req->where == OCF_AT_ANSWERED;
	if (detached && !answered) {
		q->count--;
		ocf_fair_leave(&q->fair, &req->job);
		req->where = OCF_AT_START;
		req->ctx->users--;
		list_add_tail(&req->job.node, requeue);
	} else {
		req->where = OCF_AT_DEVICE;
		list_add_tail(&req->job.node, &q->inflight);
	}
	spin_unlock_bh(&q->lock);
	if (detached && !answered)
		atomic_long_sub(req->job.estimate, &dev->load);
	return !answered;
}

/**
 * ocf_queue_empty() - take out all requests that are left
 * @dev: the device; closed, and stopped unless nothing is inside
 * @requeue: gets the requests, the oldest first
 *
 * Context: process.
 */
void ocf_queue_empty(struct ocf_device *dev, struct list_head *requeue)
{
	struct ocf_queue *q = &dev->queue;
	struct ocf_request *req;
	LIST_HEAD(left);

	spin_lock_bh(&q->lock);
	list_splice_init(&q->inflight, &left);
	ocf_fair_empty(&q->fair, &left);
	q->count = 0;
	q->backlog = 0;
	list_for_each_entry(req, &left, job.node) {
		req->where = OCF_AT_START;
		req->ctx->users--;
	}
	atomic_long_set(&dev->load, 0);
	spin_unlock_bh(&q->lock);
	list_splice_tail(&left, requeue);
}

void ocf_device_unblock(struct ocf_device *dev)
{
	struct ocf_queue *q = &dev->queue;

	spin_lock_bh(&q->lock);
	q->unblocks++;
	WRITE_ONCE(q->full, false);
	spin_unlock_bh(&q->lock);
	ocf_queue_try_dispatch(dev);
}
OCF_EXPORT(ocf_device_unblock);
