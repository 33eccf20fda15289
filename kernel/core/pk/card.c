// SPDX-License-Identifier: GPL-2.0-only
/*
 * Public-key requests in a card: inside, or in line for room there; out again
 * when it has answered, when they are cancelled, or when it is emptied.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "pk.h"

#include <trace/events/ocf.h>

#define RETRY		max(HZ / 500, 1) /* jiffies, of a card that is busy */

/*
 * ns of work that is let into a card, or one request: what is inside cannot be
 * overtaken, and delays what others wait for.
 */
#define INSIDE_MAX	(NSEC_PER_SEC / 4)

static u32 depth_of(const struct ocf_pk_unit *unit)
{
	return ocf_pk_ops_of(unit->dev)->depth;
}

static bool has_room(const struct ocf_pk_unit *unit)
{
	return unit->count < depth_of(unit) && unit->inside < INSIDE_MAX;
}

/* ---- in ---- */

/* @req is not inside its card any more. */
static void leave(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	list_del(&req->node);
	unit->count--;
	WRITE_ONCE(unit->inside, unit->inside - req->expected);
	WRITE_ONCE(unit->most, max(unit->most - (unit->most >> 6),
				   unit->inside));
}

/* Takes @req, which is inside, out. */
static void take_out(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	leave(req);
	unit->backlog -= req->expected;
	if (unit->queued && !unit->closed)
		mod_delayed_work(ocf_pk_wq, &unit->feed, 0);
}

static void feed_later(struct ocf_pk_unit *unit)
{
	if (!unit->closed)
		queue_delayed_work(ocf_pk_wq, &unit->feed, RETRY);
}

static void wait_first(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	leave(req);
	ocf_pk_line_up(req, true);
	if (!unit->count && !unit->full_since)
		unit->full_since = ktime_get_ns();
	feed_later(unit);
}

/* jiffies it may take, with what is inside the card besides */
static unsigned long time_for(const struct ocf_pk_request *req)
{
	const struct ocf_device *dev = req->dev;
	u64 ns = dev->pk->inside + max(ocf_queue_inside(dev), 0LL);

	lockdep_assert_held(&ocf_pk_lock);
	return nsecs_to_jiffies(dev->queue.patience + OCF_LENIENCE * ns);
}

/* Gives the card @req, for which there is room. */
static void start(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool cancelled = false;
	int err;

	trace_ocf_pk_start(req, req->dev->number);
	err = ocf_pk_ops_of(req->dev)->submit(req);
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
		queue_work(ocf_pk_wq, &req->work);
	else if (req->cancelled)
		cancelled = ocf_pk_take_in_hand(req);
	if ((unit->count || unit->queued) && !unit->closed)
		queue_delayed_work(ocf_pk_wq, &unit->watch, HZ);
	spin_unlock_bh(&ocf_pk_lock);
	if (cancelled)
		ocf_pk_give_up(req);
}

static void admit(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	req->at = OCF_PK_WORKING;
	req->entering = true;
	req->late = false;
	req->started = ktime_get_ns();
	WRITE_ONCE(unit->inside, unit->inside + req->expected);
	WRITE_ONCE(unit->most, max(unit->most, unit->inside));
	list_add_tail(&req->node, &unit->inflight);
	unit->count++;
}

/**
 * ocf_pk_enter_card() - give a card a request, or put it in line for that
 * @req: the request, in the caller's hand
 *
 * Context: process; may sleep.
 * Return: 0; -EAGAIN if the card is being emptied; -EBUSY if too many wait, but
 * that is too late for what was accepted, and no word on what is known.
 */
int ocf_pk_enter_card(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool goes_in = false, cancelled = false;
	int err = 0;

	spin_lock_bh(&ocf_pk_lock);
	if (unit->closed) {
		err = -EAGAIN;
	} else if (has_room(unit) && !unit->queued) {
		unit->backlog += req->expected;
		admit(req);
		goes_in = true;
	} else if (unit->lines.count[req->flow] < OCF_PK_WAITING ||
		   req->tried || req->testing) {
		unit->backlog += req->expected;
		ocf_pk_line_up(req, false);
		feed_later(unit);
		cancelled = req->cancelled && ocf_pk_take_in_hand(req);
	} else {
		err = -EBUSY;
	}
	spin_unlock_bh(&ocf_pk_lock);
	if (goes_in)
		start(req);
	if (cancelled)
		ocf_pk_give_up(req);
	return err;
}

/* There may be room in a card. */
static void feed(struct work_struct *work)
{
	struct ocf_pk_unit *unit = container_of(to_delayed_work(work),
						struct ocf_pk_unit, feed);
	struct ocf_pk_request *req;
	u32 left;

	for (left = depth_of(unit); left; left--) {
		spin_lock_bh(&ocf_pk_lock);
		req = unit->closed || !has_room(unit) ?
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
		WRITE_ONCE(unit->last, now);
		take_out(req);
		/* one that is still entering is looked at by who enters it */
		if (!req->entering)
			queue_work(ocf_pk_wq, &req->work);
	}
	spin_unlock_bh(&ocf_pk_lock);
}
OCF_EXPORT(ocf_pk_complete);

/* ---- out ---- */

/**
 * ocf_pk_detach() - take a request from its card
 * @req: the request, which is OCF_PK_TAKING and on no list
 *
 * Context: process; may sleep.
 * Return: whether the card has answered before.
 */
bool ocf_pk_detach(struct ocf_pk_request *req)
{
	while (!ocf_pk_ops_of(req->dev)->detach(req)) {
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
bool ocf_pk_take_in_hand(struct ocf_pk_request *req)
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
 * ocf_pk_reclaim() - take all requests out of a card and start them elsewhere
 * @dev: the card; takes no requests afterwards
 *
 * Context: process; may sleep.
 */
void ocf_pk_reclaim(struct ocf_device *dev)
{
	struct ocf_pk_unit *unit = dev->pk;
	struct ocf_pk_request *req, *next;
	LIST_HEAD(requeue);
	bool some = true;

	if (!unit || !ocf_pk_is_card(dev))
		return;
	spin_lock_bh(&ocf_pk_lock);
	unit->closed = true;
	unit->full_since = 0;
	while ((req = ocf_pk_line_next(unit))) {
		req->at = OCF_PK_ANSWERED;
		req->err = -ENODEV;
		unit->backlog -= req->expected;
		list_add_tail(&req->node, &requeue);
	}
	spin_unlock_bh(&ocf_pk_lock);

	while (some) {
		req = next_inside(unit, &some);
		if (req) {
			if (!ocf_pk_detach(req))
				req->err = -ENODEV;
			list_add_tail(&req->node, &requeue);
		} else if (some) {
			usleep_range(20, 100);
		}
	}
	list_for_each_entry_safe(req, next, &requeue, node) {
		list_del(&req->node);
		queue_work(ocf_pk_wq, &req->work);
	}
}

/* ---- watching ---- */

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
		queue_delayed_work(ocf_pk_wq, &unit->watch, HZ / 2);
	spin_unlock_bh(&ocf_pk_lock);
	if (overdue)
		ocf_device_failed(unit->dev, -ETIMEDOUT);
}

/* ---- devices ---- */

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
	if (!ocf_pk_is_card(dev) && ocf_pk_make_hands(unit)) {
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
	ocf_pk_reclaim(dev);
	disable_delayed_work_sync(&dev->pk->feed);
	disable_delayed_work_sync(&dev->pk->watch);
}
