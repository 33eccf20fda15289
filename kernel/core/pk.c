// SPDX-License-Identifier: GPL-2.0-only
/*
 * A public-key request's life.
 *
 * ocf_pk_submit() checks it, and whoever comes here with it in hand places it:
 * a submitter, or the worker of a request that starts over.  On the CPU it is
 * worked on where it is placed, if its submitter waits for it, or by a worker.
 * On a card it is inside, or waits for room.  What a card has answered is
 * looked at by the request's worker, which ends it or places it anew.
 *
 * Who moves a request from one state to another under pk_lock has it in hand;
 * see the states in pk.h.  Nobody else touches it, so it ends once.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "pk.h"

#include <trace/events/ocf.h>

#define FAILURES_MAX	4		/* in a row */
#define RETRY		max(HZ / 500, 1) /* jiffies, of a card that is busy */

DEFINE_SPINLOCK(ocf_pk_lock);
static struct workqueue_struct *pk_wq;
/* What takes the CPU long: an administrator may bind it, and give it a nice */
static struct workqueue_struct *pk_cpu_wq;

static bool is_card(const struct ocf_device *dev)
{
	return dev->info.kind == OCF_KIND_HARDWARE;
}

static const struct ocf_pk_ops *ops_of(const struct ocf_device *dev)
{
	return dev->info.pk;
}

/* ---- the end ---- */

/* @req has its result.  Context: process; @req is in the caller's hand. */
static void end(struct ocf_pk_request *req, int err)
{
	if (err)
		ocf_pk_wipe(&req->op);
	ocf_pk_rsa_free(req);
	ocf_flow_put(req->flow);
	req->err = err;
	trace_ocf_pk_done(req, err);
	if (req->waiter)
		complete(&req->over);
	else
		req->done(req, err);
}

/* Takes @req off its device, which counts it. */
static void leave(struct ocf_pk_request *req, int err)
{
	struct ocf_device *dev = req->dev;

	spin_lock_bh(&ocf_pk_lock);
	dev->pk->done++;
	dev->pk->errors += !!err;
	spin_unlock_bh(&ocf_pk_lock);
	req->used = dev->number;
	req->dev = NULL;
	ocf_device_put(dev);
}

static int place(struct ocf_pk_request *req);

/* Another device may do it. */
static void place_anew(struct ocf_pk_request *req, int err)
{
	int again;

	req->tried |= BIT_ULL(req->dev->number);
	trace_ocf_pk_replay(req, req->dev, err);
	spin_lock_bh(&ocf_pk_lock);
	req->dev->pk->replays++;
	spin_unlock_bh(&ocf_pk_lock);
	leave(req, err);
	again = READ_ONCE(req->cancelled) ? -ECANCELED : place(req);
	if (!again)
		return;
	/* what the last one has said is more than that there is no other */
	end(req, again == -EOPNOTSUPP || again == -ENODEV ? err : again);
}

/*
 * The device has made a mistake, or has it?  Keys whose numbers do not belong
 * together give wrong results and errors, too, and nobody may get a card into
 * trouble by bringing one.  So the card is asked what is known, and that
 * decides.
 */
static int judge(struct ocf_pk_request *req, int err)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool doubt = false;

	if (!err) {
		err = ocf_pk_rsa_prove(req);
		doubt = err == -EBADMSG;
	}
	if (req->testing)
		return err;
	if (doubt)
		err = -EIO;
	spin_lock_bh(&ocf_pk_lock);
	unit->failures = err == -EIO ? unit->failures + 1 : 0;
	if (unit->failures >= FAILURES_MAX) {
		unit->failures = 0;
		doubt = true;
	}
	spin_unlock_bh(&ocf_pk_lock);
	if (doubt)
		ocf_device_doubt(req->dev);
	return err;
}

/* The device is done with @req, which is in the caller's hand. */
static void answered(struct ocf_pk_request *req, int err)
{
	bool card = is_card(req->dev);

	if (card)
		err = judge(req, err);
	if (READ_ONCE(req->cancelled))
		err = -ECANCELED;
	else if (err && card && !req->testing)
		return place_anew(req, err);
	if (!err)
		err = ocf_pk_check_result(&req->op) ?: ocf_pk_rsa_finish(req);
	leave(req, err);
	end(req, err);
}

static bool take_in_hand(struct ocf_pk_request *req);
static void give_up(struct ocf_pk_request *req);

/* ---- on the CPU ---- */

/* @req is counted in the unit, and in the caller's hand. */
static void work_here(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	u64 begun = ktime_get_ns();
	int err = -ECANCELED;

	if (!READ_ONCE(req->cancelled)) {
		trace_ocf_pk_start(req, req->dev);
		err = ops_of(req->dev)->submit(req);
	}
	spin_lock_bh(&ocf_pk_lock);
	unit->backlog -= req->expected;
	unit->count--;
	if (!err)
		ocf_pk_learn(unit, req, ktime_get_ns() - begun);
	spin_unlock_bh(&ocf_pk_lock);
	answered(req, err);
}

/* A worker does what is next, one at a time. */
static void hand_work(struct work_struct *work)
{
	struct ocf_pk_hand *hand = container_of(work, struct ocf_pk_hand, work);
	struct ocf_pk_unit *unit = hand->unit;
	struct ocf_pk_request *req;

	spin_lock_bh(&ocf_pk_lock);
	req = ocf_pk_line_next(unit);
	if (req) {
		req->at = OCF_PK_IDLE;
		unit->count++;
	} else {
		__set_bit(hand - unit->hands, &unit->free);
	}
	spin_unlock_bh(&ocf_pk_lock);
	if (!req) {
		/* it may be the last who knew the unit */
		ocf_device_put(unit->dev);
		return;
	}
	work_here(req);
	queue_work(pk_cpu_wq, &hand->work);
}

static void call_a_hand(struct ocf_pk_unit *unit)
{
	struct ocf_pk_hand *hand;

	lockdep_assert_held(&ocf_pk_lock);
	if (!unit->free)
		return;
	hand = &unit->hands[__ffs(unit->free)];
	__clear_bit(hand - unit->hands, &unit->free);
	ocf_device_get(unit->dev);
	queue_work(pk_cpu_wq, &hand->work);
}

static void enter_software(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool cancelled = false;

	spin_lock_bh(&ocf_pk_lock);
	unit->backlog += req->expected;
	if (req->waiter) {
		unit->count++;
	} else {
		ocf_pk_line_up(req, false);
		cancelled = req->cancelled && take_in_hand(req);
		if (!cancelled)
			call_a_hand(unit);
	}
	spin_unlock_bh(&ocf_pk_lock);
	if (req->waiter)
		work_here(req);
	else if (cancelled)
		give_up(req);
}

/* ---- in a card ---- */

/* Takes @req, which is inside, out. */
static void take_out(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	list_del(&req->node);
	unit->count--;
	unit->backlog -= req->expected;
	if (unit->queued && !unit->closed)
		mod_delayed_work(pk_wq, &unit->feed, 0);
}

static void feed_later(struct ocf_pk_unit *unit)
{
	if (!unit->closed)
		queue_delayed_work(pk_wq, &unit->feed, RETRY);
}

static void wait_first(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	list_del(&req->node);
	unit->count--;
	ocf_pk_line_up(req, true);
	if (!unit->count && !unit->full_since)
		unit->full_since = ktime_get_ns();
	feed_later(unit);
}

/* jiffies it may take, with what the card has to do besides */
static unsigned long time_for(const struct ocf_pk_request *req)
{
	u64 ms = div_u64(OCF_PK_LENIENCE * req->dev->pk->backlog,
			 NSEC_PER_MSEC);

	lockdep_assert_held(&ocf_pk_lock);
	ms += req->dev->info.patience ?: MSEC_PER_SEC;
	return msecs_to_jiffies(ms);
}

/* Gives the card @req, for which there is room. */
static void start(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool cancelled = false;
	int err;

	trace_ocf_pk_start(req, req->dev);
	err = ops_of(req->dev)->submit(req);
	spin_lock_bh(&ocf_pk_lock);
	req->entering = false;
	if (err != -EBUSY)
		unit->full_since = 0;
	if (req->at == OCF_PK_WORKING) {
		/* not from before: the driver may have waited for its card */
		req->deadline = jiffies + time_for(req);
		if (err == -EBUSY && !unit->closed) {
			wait_first(req);
		} else if (err != -EINPROGRESS) {
			/* it was done in the driver's submit() */
			if (!err)
				ocf_pk_learn(unit, req, ktime_get_ns() -
					     req->started);
			take_out(req);
			req->at = OCF_PK_ANSWERED;
			req->err = err;
		}
	}
	/* somebody may take it in hand as soon as the lock is released */
	if (req->at == OCF_PK_ANSWERED)
		queue_work(pk_wq, &req->work);
	else if (req->cancelled)
		cancelled = take_in_hand(req);
	if ((unit->count || unit->queued) && !unit->closed)
		queue_delayed_work(pk_wq, &unit->watch, HZ);
	spin_unlock_bh(&ocf_pk_lock);
	if (cancelled)
		give_up(req);
}

static void admit(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	req->at = OCF_PK_WORKING;
	req->entering = true;
	req->late = false;
	req->started = ktime_get_ns();
	WRITE_ONCE(unit->slowest, max(unit->slowest, req->expected));
	list_add_tail(&req->node, &unit->inflight);
	unit->count++;
}

/*
 * Returns -EAGAIN if the card is being emptied; -EBUSY if too many wait, but
 * that is too late for what was accepted, and no word on what is known.
 */
static int enter_card(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool goes_in = false, cancelled = false;
	int err = 0;

	spin_lock_bh(&ocf_pk_lock);
	if (unit->closed) {
		err = -EAGAIN;
	} else if (unit->count < ops_of(req->dev)->depth && !unit->queued) {
		unit->backlog += req->expected;
		admit(req);
		goes_in = true;
	} else if (unit->lines.count[req->flow] < OCF_PK_WAITING ||
		   req->tried || req->testing) {
		unit->backlog += req->expected;
		ocf_pk_line_up(req, false);
		feed_later(unit);
		cancelled = req->cancelled && take_in_hand(req);
	} else {
		err = -EBUSY;
	}
	spin_unlock_bh(&ocf_pk_lock);
	if (goes_in)
		start(req);
	if (cancelled)
		give_up(req);
	return err;
}

/* There may be room in a card. */
static void feed(struct work_struct *work)
{
	struct ocf_pk_unit *unit = container_of(to_delayed_work(work),
						struct ocf_pk_unit, feed);
	struct ocf_pk_request *req;
	u32 left;

	for (left = ops_of(unit->dev)->depth; left; left--) {
		spin_lock_bh(&ocf_pk_lock);
		req = unit->closed || unit->count >= ops_of(unit->dev)->depth ?
		      NULL : ocf_pk_line_next(unit);
		if (!req) {
			spin_unlock_bh(&ocf_pk_lock);
			return;
		}
		admit(req);
		spin_unlock_bh(&ocf_pk_lock);
		start(req);
	}
}

void ocf_pk_complete(struct ocf_pk_request *req, int err)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool inside;
	u64 now;

	spin_lock_bh(&ocf_pk_lock);
	/* not before another's, which may have come first to here */
	now = ktime_get_ns();
	inside = req->at == OCF_PK_WORKING;
	WARN_ONCE(!inside && req->at != OCF_PK_TAKING,
		  "ocf: %s completed what it does not have\n",
		  unit->dev->name);
	req->err = err;
	req->at = OCF_PK_ANSWERED;
	if (inside) {
		if (!err)
			ocf_pk_learn(unit, req, now - max(req->started,
							  unit->last));
		unit->last = now;
		take_out(req);
		/* one that is still entering is looked at by who enters it */
		if (!req->entering)
			queue_work(pk_wq, &req->work);
	}
	spin_unlock_bh(&ocf_pk_lock);
}
OCF_EXPORT(ocf_pk_complete);

/* ---- taking back ---- */

/*
 * Takes @req, which is OCF_PK_TAKING and on no list, from its card.  Returns
 * whether it has answered before.
 */
static bool detach(struct ocf_pk_request *req)
{
	while (!ops_of(req->dev)->detach(req)) {
		/* the driver is about to complete it */
		spin_lock_bh(&ocf_pk_lock);
		if (req->at == OCF_PK_ANSWERED) {
			spin_unlock_bh(&ocf_pk_lock);
			return true;
		}
		spin_unlock_bh(&ocf_pk_lock);
		usleep_range(20, 100);
	}
	req->at = OCF_PK_IDLE;
	return false;
}

/* Takes @req from where it waits or is worked on; false if it is in a hand. */
static bool take_in_hand(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit;

	lockdep_assert_held(&ocf_pk_lock);
	if (req->at == OCF_PK_QUEUED) {
		unit = req->dev->pk;
		ocf_pk_line_leave(req);
		if (!unit->queued)
			unit->full_since = 0;
		unit->backlog -= req->expected;
		req->at = OCF_PK_IDLE;
		return true;
	}
	if (req->at == OCF_PK_WORKING && !req->entering) {
		take_out(req);
		req->at = OCF_PK_TAKING;
		return true;
	}
	return false;
}

/* Ends @req, which was cancelled and taken in hand. */
static void give_up(struct ocf_pk_request *req)
{
	if (req->at == OCF_PK_TAKING)
		detach(req);
	leave(req, -ECANCELED);
	end(req, -ECANCELED);
}

void ocf_pk_cancel(struct ocf_pk_request *req)
{
	bool mine;

	might_sleep();
	spin_lock_bh(&ocf_pk_lock);
	/* who has it in hand sees this */
	req->cancelled = true;
	mine = take_in_hand(req);
	spin_unlock_bh(&ocf_pk_lock);
	if (mine)
		give_up(req);
}
OCF_EXPORT(ocf_pk_cancel);

/* The next that is inside @unit, taken off its list, or NULL. */
static struct ocf_pk_request *next_inside(struct ocf_pk_unit *unit, bool *some)
{
	struct ocf_pk_request *req, *found = NULL;

	spin_lock_bh(&ocf_pk_lock);
	*some = !list_empty(&unit->inflight);
	list_for_each_entry(req, &unit->inflight, node)
		if (!req->entering) {
			found = req;
			break;
		}
	if (found) {
		take_out(found);
		found->at = OCF_PK_TAKING;
	}
	spin_unlock_bh(&ocf_pk_lock);
	return found;
}

/**
 * ocf_pk_rescue() - empty a card; what was in it is placed anew
 * @dev: the card; closed afterwards
 *
 * Context: process; may sleep.
 */
void ocf_pk_rescue(struct ocf_device *dev)
{
	struct ocf_pk_unit *unit = dev->pk;
	struct ocf_pk_request *req, *next;
	LIST_HEAD(orphans);
	bool some = true;

	if (!unit || !is_card(dev))
		return;
	spin_lock_bh(&ocf_pk_lock);
	unit->closed = true;
	unit->full_since = 0;
	while ((req = ocf_pk_line_next(unit))) {
		req->at = OCF_PK_ANSWERED;
		req->err = -ENODEV;
		unit->backlog -= req->expected;
		list_add_tail(&req->node, &orphans);
	}
	spin_unlock_bh(&ocf_pk_lock);

	while (some) {
		req = next_inside(unit, &some);
		if (req) {
			if (!detach(req))
				req->err = -ENODEV;
			list_add_tail(&req->node, &orphans);
		} else if (some) {
			usleep_range(20, 100);
		}
	}
	list_for_each_entry_safe(req, next, &orphans, node) {
		list_del(&req->node);
		queue_work(pk_wq, &req->work);
	}
}

/* ---- workers ---- */

/* A card has answered or lost it. */
static void request_work(struct work_struct *work)
{
	struct ocf_pk_request *req = container_of(work, struct ocf_pk_request,
						  work);

	answered(req, req->err);
}

/*
 * Whether it takes nothing, though there is nothing of ours in it, and does
 * nothing else either.
 */
static bool takes_nothing(const struct ocf_pk_unit *unit)
{
	u64 since = max(unit->full_since,
			READ_ONCE(unit->dev->queue.last_done));

	lockdep_assert_held(&ocf_pk_lock);
	return unit->full_since && unit->queued && !unit->count &&
	       (s64)(ktime_get_ns() - since) > (s64)unit->dev->queue.patience;
}

/* Is anything overdue, at two looks? */
static void watch(struct work_struct *work)
{
	struct ocf_pk_unit *unit = container_of(to_delayed_work(work),
						struct ocf_pk_unit, watch);
	struct ocf_pk_request *req;
	bool overdue, full;

	spin_lock_bh(&ocf_pk_lock);
	full = takes_nothing(unit);
	overdue = full && unit->full;
	unit->full = full;
	list_for_each_entry(req, &unit->inflight, node) {
		if (req->entering || !time_after(jiffies, req->deadline))
			continue;
		overdue |= req->late;
		req->late = true;
	}
	if ((unit->count || unit->queued) && !unit->closed)
		queue_delayed_work(pk_wq, &unit->watch, HZ / 2);
	spin_unlock_bh(&ocf_pk_lock);
	if (overdue)
		ocf_device_failed(unit->dev, -ETIMEDOUT);
}

/* ---- in ---- */

/* Finds @req, which is in the caller's hand, a place. */
static int place(struct ocf_pk_request *req)
{
	int err;

	do {
		req->at = OCF_PK_IDLE;
		req->dev = ocf_pk_choose(req, &err);
		if (!req->dev)
			return err;
		if (!is_card(req->dev)) {
			enter_software(req);
			return 0;
		}
		err = enter_card(req);
		if (err) {
			ocf_device_put(req->dev);
			req->dev = NULL;
		}
	} while (err == -EAGAIN);
	return err;
}

static int submit(struct ocf_pk_request *req)
{
	int err = ocf_pk_check(&req->op);

	if (err || req->flags & ~OCF_SESSION_ANY)
		return err ?: -EINVAL;
	INIT_WORK(&req->work, request_work);
	req->now = &req->op;
	req->plain = NULL;
	req->dev = NULL;
	req->used = -ENODEV;
	req->tried = 0;
	req->cancelled = false;
	req->entering = false;
	req->err = 0;
	err = ocf_pk_rsa_prepare(req);
	if (err)
		return err;
	req->flow = ocf_flow_get(req->owner);
	trace_ocf_pk_submit(req);
	err = place(req);
	if (err) {
		ocf_flow_put(req->flow);
		ocf_pk_rsa_free(req);
	}
	return err;
}

int ocf_pk_submit(struct ocf_pk_request *req)
{
	might_sleep();
	req->waiter = false;
	req->testing = NULL;
	return submit(req);
}
OCF_EXPORT(ocf_pk_submit);

/**
 * ocf_pk_run_on() - the same as ocf_pk_run(), perhaps on a device being tested
 * @req: the request
 * @testing: the device, or NULL
 * @timeout: jiffies
 *
 * Context: process; may sleep.
 * Return: as ocf_pk_run(), or -ETIMEDOUT.
 */
int ocf_pk_run_on(struct ocf_pk_request *req, struct ocf_device *testing,
		  unsigned long timeout)
{
	long left;
	int err;

	might_sleep();
	req->waiter = true;
	req->testing = testing;
	init_completion(&req->over);
	err = submit(req);
	if (err)
		return err;
	left = wait_for_completion_killable_timeout(&req->over, timeout);
	if (left > 0)
		return req->err;
	ocf_pk_cancel(req);
	wait_for_completion(&req->over);
	return left ? -EINTR : -ETIMEDOUT;
}

int ocf_pk_run(struct ocf_pk_request *req)
{
	return ocf_pk_run_on(req, NULL, MAX_SCHEDULE_TIMEOUT);
}
OCF_EXPORT(ocf_pk_run);

struct ocf_pk_request *ocf_pk_alloc(gfp_t gfp)
{
	struct ocf_pk_request *req = kzalloc(sizeof(*req), gfp);

	if (req) {
		req->device = OCF_DEVICE_ANY;
		req->used = -ENODEV;
	}
	return req;
}
OCF_EXPORT(ocf_pk_alloc);

void ocf_pk_free(struct ocf_pk_request *req)
{
	kfree_sensitive(req);
}
OCF_EXPORT(ocf_pk_free);

void ocf_pk_flush(void)
{
	flush_workqueue(pk_wq);
	flush_workqueue(pk_cpu_wq);
}
OCF_EXPORT(ocf_pk_flush);

/* ---- devices ---- */

/* Workers for the CPU, as many as can be at work at a time */
static int make_hands(struct ocf_pk_unit *unit)
{
	unsigned int n = min(num_online_cpus(), OCF_PK_HANDS), i;

	unit->hands = kcalloc(n, sizeof(*unit->hands), GFP_KERNEL);
	if (!unit->hands)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		unit->hands[i].unit = unit;
		INIT_WORK(&unit->hands[i].work, hand_work);
		__set_bit(i, &unit->free);
	}
	return 0;
}

/**
 * ocf_pk_make() - give a device its part in public-key operations
 * @dev: a device that nobody knows yet
 *
 * Context: process; may sleep.
 * Return: 0, or -ENOMEM.
 */
int ocf_pk_make(struct ocf_device *dev)
{
	struct ocf_pk_unit *unit;

	if (!dev->info.pk)
		return 0;
	unit = kzalloc(sizeof(*unit), GFP_KERNEL);
	if (!unit)
		return -ENOMEM;
	unit->dev = dev;
	unit->codes = dev->info.pk->codes;
	INIT_LIST_HEAD(&unit->inflight);
	ocf_pk_lines_init(unit);
	INIT_DELAYED_WORK(&unit->feed, feed);
	INIT_DELAYED_WORK(&unit->watch, watch);
	if (!is_card(dev) && make_hands(unit)) {
		kfree(unit);
		return -ENOMEM;
	}
	dev->pk = unit;
	return 0;
}

void ocf_pk_free_unit(struct ocf_device *dev)
{
	if (dev->pk)
		kfree(dev->pk->hands);
	kfree(dev->pk);
}

/* A card that was emptied takes requests again.  Context: process. */
void ocf_pk_open(struct ocf_device *dev)
{
	if (!dev->pk)
		return;
	spin_lock_bh(&ocf_pk_lock);
	dev->pk->closed = false;
	dev->pk->failures = 0;
	spin_unlock_bh(&ocf_pk_lock);
}

/**
 * ocf_pk_end() - take everything out of a device that goes
 * @dev: the device, which nobody finds any more
 *
 * Context: process; may sleep.
 */
void ocf_pk_end(struct ocf_device *dev)
{
	if (!dev->pk)
		return;
	ocf_pk_rescue(dev);
	disable_delayed_work_sync(&dev->pk->feed);
	disable_delayed_work_sync(&dev->pk->watch);
}

int ocf_pk_init(void)
{
	/* operations of the CPU's take long, so nothing else waits for them */
	pk_wq = alloc_workqueue("ocf_pk", WQ_UNBOUND, 0);
	if (!pk_wq)
		return -ENOMEM;
	pk_cpu_wq = alloc_workqueue("ocf_pk_cpu", WQ_UNBOUND | WQ_SYSFS,
				    num_online_cpus());
	if (pk_cpu_wq)
		return 0;
	destroy_workqueue(pk_wq);
	return -ENOMEM;
}

void ocf_pk_exit(void)
{
	destroy_workqueue(pk_cpu_wq);
	destroy_workqueue(pk_wq);
}
