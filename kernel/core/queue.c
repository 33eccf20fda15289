// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is inside a hardware device, and what waits in front of it.
 *
 * A device holds at most its depth; the rest waits here, in the order that
 * fair.c says, and moves in as completions make room or, where owners compete,
 * just before it runs dry: pace.c.  A driver that finds its ring full returns
 * -EBUSY: the request goes back to the head of its owner's line and the device
 * counts as full until it says otherwise.
 *
 * Each request has a time by which it should be done, which allows for what is
 * inside the device when it enters.  While a device has any, a timer looks for
 * one that is overdue.  It also looks whether the device has completed nothing
 * at all for longer than what is inside explains, or for more than
 * SILENCE_MAX: a dead device is found soon, however much is inside it.  In both
 * cases the device has failed.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "fair.h"
#include "pace.h"
#include "pk.h"

#include <trace/events/ocf.h>

/* Of one owner, beyond a device's depth; more are refused with -EBUSY. */
#define WAITING_MAX	4096

/*
 * Not each completion corrects the cost of its algorithm, which would be a
 * tenth of what the core does for a request: those that show most do, and one
 * in 4.2 of the others, where this part of 2^32 completes a turn.  If several
 * come at once, each of them is looked at in time: no number is as hard to be
 * in step with as the golden ratio, of which this is the third power.
 */
#define TURN		0x3c6ef372u

/*
 * So many others' requests are handed over by who has made room, or fewer that
 * the driver does inside submit(); a worker goes on from there.
 */
#define LET_IN_MAX	64
#define DONE_WEIGHT	8

/* Looks this many times before a request with no work before it is overdue. */
#define LOOKS		4

/* ns beyond its patience that a device may be silent, whatever is inside */
#define SILENCE_MAX	(10 * NSEC_PER_SEC)

static unsigned long look_interval(const struct ocf_queue *q)
{
	return max(nsecs_to_jiffies(q->patience / LOOKS), 1UL);
}

/* Its public-key operations may be in the way. */
static bool is_overdue(const struct ocf_device *dev,
		       const struct ocf_request *req, u64 now)
{
	return now > req->due && now > req->due + ocf_pk_grace(dev, req->begun);
}

/* Whether @dev has completed nothing for longer than its work explains. */
static bool is_silent(const struct ocf_device *dev, u64 now)
{
	const struct ocf_queue *q = &dev->queue;
	const struct ocf_request *oldest;
	u64 since, work;

	if (list_empty(&q->inflight))
		return false;
	oldest = list_first_entry(&q->inflight, struct ocf_request, node);
	since = max3(q->last_done, oldest->begun, ocf_pk_last(dev));
	work = OCF_LENIENCE * (ocf_queue_inside(dev) + ocf_pk_inside(dev));
	return now > since + q->patience + min_t(u64, work, SILENCE_MAX);
}

static bool any_overdue(const struct ocf_device *dev)
{
	const struct ocf_queue *q = &dev->queue;
	const struct ocf_request *req;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&q->lock);
	/* it has nothing to do, and will not have anything */
	if (q->full && !q->count && now - q->full_since >
	    q->patience + ocf_pk_grace(dev, q->full_since))
		return true;
	if (is_silent(dev, now))
		return true;
	list_for_each_entry(req, &q->inflight, node)
		if (is_overdue(dev, req, now))
			return true;
	return false;
}

static void look(struct timer_list *timer)
{
	struct ocf_device *dev = ocf_timer_container_of(dev, timer,
							queue.watch);
	struct ocf_queue *q = &dev->queue;
	bool was_late, late;

	spin_lock_bh(&q->lock);
	/*
	 * Once is not enough: where this processor was taken away for a while,
	 * the answer may be there, and its interrupt comes after this timer, or
	 * was lost.
	 */
	was_late = q->late;
	q->late = any_overdue(dev);
	late = q->late;
	q->watched = (q->count || q->full) && !q->closed;
	if (q->watched)
		mod_timer(&q->watch, jiffies + look_interval(q));
	spin_unlock_bh(&q->lock);
	if (late && was_late)
		ocf_device_failed(dev, -ETIMEDOUT);
	else if (late && dev->info.ops->nudge)
		dev->info.ops->nudge(dev);
}

static void watch(struct ocf_queue *q)
{
	lockdep_assert_held(&q->lock);
	q->watched = true;
	q->late = false;
	mod_timer(&q->watch, jiffies + look_interval(q));
}

/*
 * Moves @req, which is on no list, into the device.  Returns the number of
 * unblocks so far: if there is one more when the driver refuses, the refusal
 * is out of date.
 */
static __always_inline unsigned int enter(struct ocf_device *dev,
					  struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;

	lockdep_assert_held(&q->lock);
	list_add_tail(&req->node, &q->inflight);
	q->count++;
	ocf_fair_enter(&q->fair, req);
	req->begun = ktime_get_ns();
	req->due = req->begun + q->patience +
		   OCF_LENIENCE * ocf_queue_inside(dev);
	/* after req->dev: pairs with ocf_queue_leave() */
	smp_store_release(&req->where, OCF_AT_DEVICE);
	atomic_inc(&q->handing);
	if (unlikely(!q->watched))
		watch(q);
	return q->unblocks;
}

/* @req does not wait for @dev any more, and is not work of it. */
static void unwait(struct ocf_device *dev, struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;

	lockdep_assert_held(&q->lock);
	ocf_fair_unwait(&q->fair, req);
	q->backlog--;
	req->where = OCF_AT_START;
	req->ctx->users--;
	atomic_long_sub(req->estimate, &dev->load);
}

/*
 * Whether @req, which has been put in line, was cancelled before it could be
 * found there: it is the caller's then, to be ended.
 */
static bool waits_in_vain(struct ocf_device *dev, struct ocf_request *req)
{
	lockdep_assert_held(&dev->queue.lock);
	/* after req->dev: pairs with ocf_queue_cancel() */
	smp_store_release(&req->where, OCF_AT_QUEUE);
	/* whoever cancels it now finds it: pairs with ocf_cancel() */
	smp_mb();
	if (likely(!(atomic_read(&req->bits) & OCF_BIT_CANCELLED)))
		return false;
	unwait(dev, req);
	return true;
}

/* The driver could not take @req: back to the head of the line. */
static void refuse(struct ocf_device *dev, struct ocf_request *req,
		   unsigned int unblocks)
{
	struct ocf_queue *q = &dev->queue;
	bool cancelled;

	spin_lock_bh(&q->lock);
	list_del(&req->node);
	q->count--;
	ocf_fair_leave(&q->fair, req);
	ocf_fair_wait(&q->fair, req, true);
	q->backlog++;
	atomic64_inc(&dev->blocks);
	if (q->unblocks == unblocks && !q->full) {
		q->full_since = ktime_get_ns();
		WRITE_ONCE(q->full, true);
	}
	cancelled = waits_in_vain(dev, req);
	spin_unlock_bh(&q->lock);
	if (unlikely(cancelled))
		ocf_request_end(req, -ECANCELED, true);
}

/*
 * Hands @req, which has entered, to the driver; false if it is not in the
 * device now, which others may wait for.
 */
static __always_inline bool hand_over(struct ocf_device *dev,
				      struct ocf_request *req, bool more,
				      unsigned int unblocks)
{
	int err;

	trace_ocf_request_start(req, dev->number, 0);
	err = req->ctx->submit(req, more && dev->info.ops->kick);
	if (err == -EBUSY)
		refuse(dev, req, unblocks);
	else if (err != -EINPROGRESS)
		ocf_request_complete(req, err, true);
	/* pairs with wait_for_hands() */
	atomic_dec_return_release(&dev->queue.handing);
	return err == -EINPROGRESS;
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

static void let_in_later(struct ocf_device *dev)
{
	ocf_device_get(dev);
	if (!queue_work(ocf_pump_wq, &dev->queue.pump))
		ocf_device_put(dev);
}

/* ns, at most @now for at once */
static u64 runs_low(const struct ocf_device *dev,
		    const struct ocf_request *oldest, u64 now)
{
	const struct ocf_queue *q = &dev->queue;
	struct ocf_pace pace = {
		.now = now,
		.done = q->last_done,
		.begun = oldest->begun,
		.oldest = oldest->estimate,
		.inside = ocf_queue_inside(dev),
		.lag = READ_ONCE(dev->lag),
		.noise = READ_ONCE(dev->noise),
		.late = q->feed_late,
	};

	return ocf_pace_next(&pace);
}

/*
 * Whether @req, whose turn it is, may go into @dev, which is shared: its owner
 * has nothing inside, or @dev is about to run dry.  If it will be before
 * anybody looks, @feed does.
 */
static noinline bool may_follow(struct ocf_device *dev,
				const struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;
	u64 inside = ocf_flow_of(&q->fair, req)->inside;
	const struct ocf_request *oldest;
	u64 now, next;

	lockdep_assert_held(&q->lock);
	if (!inside || list_empty(&q->inflight))
		return true;
	oldest = list_first_entry(&q->inflight, struct ocf_request, node);
	if (req->estimate < OCF_PACE_SHORT) {
		if (ocf_pace_room(inside, req->estimate, READ_ONCE(dev->lag)))
			return true;
		/* it completes soon, and no timer is needed */
		if (oldest->estimate < OCF_PACE_SHORT)
			return false;
	}
	now = ktime_get_ns();
	next = runs_low(dev, oldest, now);
	if (next <= now) {
		if (q->feeds == U64_MAX)
			ocf_pace_untimed(&q->feed_late);
		return true;
	}
	if (next < q->feeds) {
		q->feeds = next;
		hrtimer_start(&q->feed, ns_to_ktime(next),
			      HRTIMER_MODE_ABS_SOFT);
	}
	return false;
}

/* The request that goes into @dev next, or NULL */
static struct ocf_request *next_one(struct ocf_device *dev)
{
	struct ocf_fair *fair = &dev->queue.fair;
	struct ocf_request *req = ocf_fair_next(fair);

	return !ocf_is_shared(fair) || may_follow(dev, req) ? req : NULL;
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
	unsigned int unblocks, left = LET_IN_MAX;
	struct ocf_request *req;

	spin_lock_bh(&q->lock);
	if (q->pumping) {
		spin_unlock_bh(&q->lock);
		return;
	}
	/*
	 * Others leave it to who pumps: nobody takes the CPU away from him, so
	 * softirqs stay off to the end.
	 */
	q->pumping = true;
	while (left && !q->closed && !q->full && q->backlog &&
	       q->count < dev->info.depth &&
	       (req = next_one(dev))) {
		ocf_fair_unwait(&q->fair, req);
		q->backlog--;
		unblocks = enter(dev, req);
		spin_unlock(&q->lock);
		left -= hand_over(dev, req, true, unblocks) ?
				1 : min(left, DONE_WEIGHT);
		spin_lock(&q->lock);
	}
	q->pumping = false;
	spin_unlock(&q->lock);
	if (left < LET_IN_MAX)
		ocf_queue_kick(dev);
	if (unlikely(!left))
		let_in_later(dev);
	local_bh_enable();
}

static void let_in_work(struct work_struct *work)
{
	struct ocf_device *dev = container_of(work, struct ocf_device,
					      queue.pump);

	ocf_queue_let_in(dev);
	ocf_device_put(dev);
}

static enum hrtimer_restart feed(struct hrtimer *timer)
{
	struct ocf_device *dev = container_of(timer, struct ocf_device,
					      queue.feed);
	struct ocf_queue *q = &dev->queue;
	u64 now;

	spin_lock(&q->lock);
	now = ktime_get_ns();
	/* or it was set again meanwhile, for a time to come */
	if (now >= q->feeds)
		ocf_pace_timed(&q->feed_late, now - q->feeds);
	q->feeds = U64_MAX;
	spin_unlock(&q->lock);
	ocf_queue_pump(dev);
	return HRTIMER_NORESTART;
}

void ocf_queue_init(struct ocf_device *dev)
{
	struct ocf_queue *q = &dev->queue;

	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->inflight);
	ocf_fair_init(&q->fair);
	q->patience = (u64)(dev->info.patience ?: MSEC_PER_SEC) * NSEC_PER_MSEC;
	INIT_WORK(&q->pump, let_in_work);
	timer_setup(&q->watch, look, 0);
	ocf_hrtimer_setup(&q->feed, feed, CLOCK_MONOTONIC,
			  HRTIMER_MODE_ABS_SOFT);
	q->feeds = U64_MAX;
	dev->noise = OCF_PACE_UNKNOWN;
}

static __always_inline bool has_room(const struct ocf_device *dev)
{
	return !dev->queue.full && dev->queue.count < dev->info.depth;
}

/* The same, of one that has just come */
static noinline bool is_next(struct ocf_device *dev,
			     const struct ocf_request *req)
{
	return ocf_fair_precedes(&dev->queue.fair, req->session->flow) &&
	       may_follow(dev, req);
}

/*
 * Whether @req may go in without a wait.  If others wait it may not, unless
 * they are of other owners, who have had as much.
 */
static __always_inline bool may_enter(struct ocf_device *dev,
				      const struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;
	unsigned int flow = req->session->flow;

	/* who asks for known answers is nobody's rival; who finds it full is */
	if (req->session->testing || !ocf_fair_came(&q->fair, flow))
		return has_room(dev) && !q->backlog;
	return has_room(dev) && !q->fair.flow[flow].count && is_next(dev, req);
}

static bool may_wait(const struct ocf_queue *q, const struct ocf_request *req)
{
	return q->fair.flow[req->session->flow].count < WAITING_MAX ||
	       atomic_read(&req->bits) & OCF_BIT_RESTARTED ||
	       req->session->testing;
}

/* @req, which is the submitter's, is work of @dev's from now on. */
static __always_inline void belong(struct ocf_device *dev,
				   struct ocf_request *req)
{
	req->ctx->users++;
	atomic_long_add(req->estimate, &dev->load);
	if (req->batch)
		req->batch->cards |= BIT_ULL(dev->number);
	req->batch = NULL;
}

/**
 * ocf_queue_submit() - give a request to a hardware device
 * @dev: the device
 * @req: the request, which holds what it needs
 *
 * Context: process or BH, after ocf_read_lock().
 * Return: -EINPROGRESS, and @req is not the caller's any more; -EBUSY if too
 * many wait; -ENODEV if the device is going.
 */
int ocf_queue_submit(struct ocf_device *dev, struct ocf_request *req)
{
	struct ocf_queue *q = &dev->queue;
	bool more = req->batch;
	unsigned int unblocks = 0;
	int err = -EINPROGRESS;
	bool direct = false, cancelled = false;

	spin_lock_bh(&q->lock);
	if (unlikely(q->closed || !ocf_device_serves(dev, req->session))) {
		err = -ENODEV;
	} else if (may_enter(dev, req)) {
		belong(dev, req);
		unblocks = enter(dev, req);
		direct = true;
	} else if (may_wait(q, req)) {
		belong(dev, req);
		ocf_fair_wait(&q->fair, req, req->session->testing);
		q->backlog++;
		trace_ocf_request_wait(req, dev->number, 0);
		cancelled = waits_in_vain(dev, req);
	} else {
		err = -EBUSY;
	}
	spin_unlock_bh(&q->lock);

	if (direct && !hand_over(dev, req, more, unblocks))
		ocf_queue_pump(dev);
	if (unlikely(cancelled))
		ocf_request_end(req, -ECANCELED, true);
	return err;
}

static noinline void learn(struct ocf_device *dev, struct ocf_request *req,
			   struct ocf_sample sample)
{
	ocf_device_learn(dev, &req->session->params, req->op, req->bytes,
			 &sample);
}

/* Whether @s only shows that @dev has slept; it is as if it had not been. */
static noinline bool wakes(struct ocf_device *dev,
			   const struct ocf_request *req, struct ocf_sample s)
{
	struct ocf_queue *q = &dev->queue;

	lockdep_assert_held(&q->lock);
	q->woken = ocf_sample_wakes(&s, (u64)req->estimate +
				    READ_ONCE(dev->lag), q->woken);
	if (q->woken)
		WRITE_ONCE(q->last_done, q->last_done - s.gap);
	return q->woken;
}

/* @req, which a driver says is complete, is not in @dev, or being rescued. */
static noinline int is_elsewhere(struct ocf_device *dev,
				 struct ocf_request *req, int err)
	__releases(&dev->queue.lock)
{
	int ret = -ENOENT;

	if (req->where == OCF_AT_RESCUE && req->dev == dev) {
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
 * @err: its result, kept if somebody is about to take @req back
 *
 * What it took is counted, and learned from if it is its turn, if it is the
 * first after a long silence or if it is back in half the time it was to take.
 * One that only shows that the device has slept is as if it had not been.
 *
 * Context: process or BH.
 * Return: 0; -EINPROGRESS if it is being taken back, the result will be found;
 * -ENOENT if it was not in the device.
 */
int ocf_queue_leave(struct ocf_device *dev, struct ocf_request *req, int err)
{
	struct ocf_queue *q = &dev->queue;
	struct ocf_sample sample;
	bool teaches;
	u64 now;

	spin_lock_bh(&q->lock);
	/* not before that of another, which may have come first to here */
	now = ktime_get_ns();
	/* then @req->dev is as of then: pairs with enter() */
	if (unlikely(smp_load_acquire(&req->where) != OCF_AT_DEVICE ||
		     req->dev != dev))
		return is_elsewhere(dev, req, err);
	list_del(&req->node);
	q->count--;
	ocf_fair_leave(&q->fair, req);
	sample = (struct ocf_sample){ .latency = now - req->begun,
				      .gap = now - q->last_done };
	teaches = unlikely((q->turn += TURN) < TURN) ||
		  unlikely(2 * sample.latency < req->estimate);
	WRITE_ONCE(q->last_done, now);
	if (unlikely(ocf_sample_is_stale(&sample)))
		teaches = !wakes(dev, req, sample);
	/* for who waits: see ocf_crossover_woken() */
	req->begun = is_idle_task(current) ? now : 0;
	req->where = OCF_AT_START;
	req->ctx->users--;
	atomic_long_sub(req->estimate, &dev->load);
	spin_unlock_bh(&q->lock);
	if (unlikely(err))
		return 0;
	if (unlikely(teaches))
		learn(dev, req, sample);
	ocf_time(dev, req->session, sample.latency);
	return 0;
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
	/* then @req->dev is as of then: pairs with waits_in_vain() */
	was = smp_load_acquire(&req->where) == OCF_AT_QUEUE && req->dev == dev;
	if (was)
		unwait(dev, req);
	spin_unlock_bh(&q->lock);
	/* it may have been its turn, and another's is now */
	if (was)
		ocf_queue_pump(dev);
	return was;
}

/**
 * ocf_queue_uses() - whether a context is in use
 * @dev: the device
 * @ctx: a context on it, which no request finds any more
 *
 * Context: process or BH.
 * Return: whether a request in the device or in front of it works with it.
 */
bool ocf_queue_uses(struct ocf_device *dev, const struct ocf_context *ctx)
{
	struct ocf_queue *q = &dev->queue;
	bool uses;

	spin_lock_bh(&q->lock);
	uses = ctx->users;
	spin_unlock_bh(&q->lock);
	return uses;
}

/**
 * ocf_queue_close() - let nothing in any more
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
	/* what has entered has also been handed over: pairs with hand_over() */
	while (atomic_read_acquire(&q->handing))
		usleep_range(20, 100);
}

/**
 * ocf_queue_end() - take away what looks after a queue
 * @dev: a device that was closed for good, with nothing in it
 *
 * Context: process; may sleep.
 */
void ocf_queue_end(struct ocf_device *dev)
{
	timer_shutdown_sync(&dev->queue.watch);
	hrtimer_cancel(&dev->queue.feed);
}

/**
 * ocf_queue_open() - let in what comes
 * @dev: a device that was closed, with nothing in it
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
 * ocf_queue_rescue() - begin to take a request back from a closed device
 * @dev: the device
 *
 * Context: process or BH.
 * Return: the oldest it has, which ocf_queue_rescued() must follow, or NULL.
 */
struct ocf_request *ocf_queue_rescue(struct ocf_device *dev)
{
	struct ocf_queue *q = &dev->queue;
	struct ocf_request *req;

	spin_lock_bh(&q->lock);
	req = list_first_entry_or_null(&q->inflight, struct ocf_request, node);
	if (req) {
		list_del(&req->node);
		req->where = OCF_AT_RESCUE;
	}
	spin_unlock_bh(&q->lock);
	return req;
}

/**
 * ocf_queue_rescued() - a request was taken back, or was not
 * @dev: the device
 * @req: what ocf_queue_rescue() has returned
 * @detached: the driver has forgotten it
 * @orphans: where to put it in the first case
 *
 * Context: process or BH.
 * Return: false if the device has completed it meanwhile: it is in the device
 * once more, and the caller completes it with @req->err.
 */
bool ocf_queue_rescued(struct ocf_device *dev, struct ocf_request *req,
		       bool detached, struct list_head *orphans)
{
	struct ocf_queue *q = &dev->queue;
	bool answered;

	spin_lock_bh(&q->lock);
	answered = req->where == OCF_AT_ANSWERED;
	if (detached && !answered) {
		q->count--;
		ocf_fair_leave(&q->fair, req);
		req->where = OCF_AT_START;
		req->ctx->users--;
		list_add_tail(&req->node, orphans);
	} else {
		req->where = OCF_AT_DEVICE;
		list_add_tail(&req->node, &q->inflight);
	}
	spin_unlock_bh(&q->lock);
	if (detached && !answered)
		atomic_long_sub(req->estimate, &dev->load);
	return !answered;
}

/**
 * ocf_queue_empty() - take back what is left
 * @dev: the device; closed, and stopped unless nothing is in it
 * @orphans: where to put the requests, oldest first
 *
 * Context: process.
 */
void ocf_queue_empty(struct ocf_device *dev, struct list_head *orphans)
{
	struct ocf_queue *q = &dev->queue;
	struct ocf_request *req;
	LIST_HEAD(left);

	spin_lock_bh(&q->lock);
	list_splice_init(&q->inflight, &left);
	ocf_fair_empty(&q->fair, &left);
	q->count = 0;
	q->backlog = 0;
	list_for_each_entry(req, &left, node) {
		req->where = OCF_AT_START;
		req->ctx->users--;
	}
	atomic_long_set(&dev->load, 0);
	spin_unlock_bh(&q->lock);
	list_splice_tail(&left, orphans);
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
