// SPDX-License-Identifier: GPL-2.0-only
/*
 * Public-key requests on a card.  They wait in its queue or are inside.  They
 * leave it when the card completes them, when they are cancelled, or when the
 * card is emptied.
 *
 * A worker of the card calls the driver's submit(), which may wait for the
 * card.  If a submitter called it and then got no CPU time, other tasks would
 * wait for what the driver holds, and so would the recovery of the card.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "pk.h"

#include <trace/events/ocf.h>

/* jiffies until a card that was full is tried again */
#define RETRY max(HZ / 500, 1)

/*
 * Requests enter a card until so many ns of work are inside: what is inside
 * cannot be overtaken by another owner's requests.
 */
#define INSIDE_MAX	(NSEC_PER_SEC / 4)

static u32 depth_of(const struct ocf_pk_unit *unit)
{
	return ocf_pk_ops_of(unit->dev)->depth;
}

static bool takes_more(const struct ocf_pk_unit *unit)
{
	return unit->count < depth_of(unit) && unit->inside < INSIDE_MAX;
}

/* ---- entering ---- */

/* Takes @req off the list of requests inside. */
static void remove_inflight(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	list_del(&req->job.node);
	WRITE_ONCE(unit->count, unit->count - 1);
	WRITE_ONCE(unit->inside, unit->inside - req->job.estimate);
	WRITE_ONCE(unit->most, max(unit->most - (unit->most >> 6),
				   unit->inside));
}

static void dispatch_now(struct ocf_pk_unit *unit)
{
	mod_delayed_work(ocf_pk_wq, &unit->dispatch, 0);
}

/* Takes @req off the list of requests inside, and another one may enter. */
static void leave_card(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	remove_inflight(req);
	if (unit->queued && !unit->closed)
		dispatch_now(unit);
}

static void retry_later(struct ocf_pk_unit *unit)
{
	if (!unit->closed)
		queue_delayed_work(ocf_pk_wq, &unit->dispatch, RETRY);
}

static void requeue_first(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	remove_inflight(req);
	ocf_pk_enqueue(req, true);
	if (!unit->count && !unit->refusing_since)
		unit->refusing_since = ktime_get_ns();
	retry_later(unit);
}

/* ns that @req may take, with all the work that is inside the card */
static u64 time_limit(const struct ocf_pk_request *req)
{
	const struct ocf_device *dev = req->dev;
	u64 ns = dev->pk->inside + max(ocf_queue_inside(dev), 0LL);

	lockdep_assert_held(&ocf_pk_lock);
	return dev->queue.patience + ocf_cost_allowance(ns);
}

/* Gives @req to the card's driver. */
static void give_to_card(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	struct ocf_device *dev = req->dev;
	bool cancelled = false;
	int err;

	trace_ocf_pk_start(req, dev->number);
	err = ocf_pk_ops_of(dev)->submit(req);
	spin_lock_bh(&ocf_pk_lock);
	req->entering = false;
	if (err != -EBUSY)
		unit->refusing_since = 0;
	if (req->at == OCF_PK_INFLIGHT) {
		/*
		 * the time limit begins here, because the driver may have
		 * waited for its card
		 */
		req->due = ktime_get_ns() + time_limit(req);
		if (err == -EBUSY && !unit->closed) {
			requeue_first(req);
		} else if (err != -EINPROGRESS) {
			/* done inside the driver's submit() */
			if (!err)
				ocf_pk_learn(unit, req, ktime_get_ns());
			leave_card(req);
			req->at = OCF_PK_COMPLETED;
			req->err = err;
		}
	}
	/* another task may claim it when the lock is released */
	if (req->at == OCF_PK_COMPLETED)
		ocf_pk_return(req);
	else if (req->cancelled)
		cancelled = ocf_pk_claim(req);
	spin_unlock_bh(&ocf_pk_lock);
	ocf_queue_watch(dev);
	if (cancelled)
		ocf_pk_end_cancelled(req);
}

static void add_inflight(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	req->at = OCF_PK_INFLIGHT;
	req->entering = true;
	req->started = ktime_get_ns();
	WRITE_ONCE(unit->inside, unit->inside + req->job.estimate);
	WRITE_ONCE(unit->most, max(unit->most, unit->inside));
	list_add_tail(&req->job.node, &unit->inflight);
	WRITE_ONCE(unit->count, unit->count + 1);
}

/**
 * ocf_pk_start_on_card() - give a request to a card, or have it wait there
 * @req: the request, which the caller has claimed
 *
 * Context: process; may sleep.
 * Return: 0; -EAGAIN if the card is being emptied; -EBUSY if too many requests
 * of this owner wait, unless @req was accepted before or is a self-test's.
 */
int ocf_pk_start_on_card(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool cancelled = false;
	int err = 0;

	spin_lock_bh(&ocf_pk_lock);
	if (unit->closed) {
		err = -EAGAIN;
	} else if (unit->fair.flow[req->job.flow].count < OCF_PK_WAITING ||
		   req->tried || req->testing) {
		ocf_pk_enqueue(req, false);
		if (takes_more(unit) && !unit->refusing_since)
			dispatch_now(unit);
		else
			retry_later(unit);
		cancelled = req->cancelled && ocf_pk_claim(req);
	} else {
		err = -EBUSY;
	}
	spin_unlock_bh(&ocf_pk_lock);
	if (cancelled)
		ocf_pk_end_cancelled(req);
	return err;
}

/* Gives the card requests that wait, as far as it has capacity. */
static void dispatch_waiting(struct work_struct *work)
{
	struct ocf_pk_unit *unit = container_of(to_delayed_work(work),
						struct ocf_pk_unit, dispatch);
	struct ocf_pk_request *req;
	u32 left;

	for (left = depth_of(unit); left; left--) {
		spin_lock_bh(&ocf_pk_lock);
		req = unit->closed || !takes_more(unit) ?
			      NULL :
			      ocf_pk_dequeue_next(unit);
		if (!req) {
			spin_unlock_bh(&ocf_pk_lock);
			return;
		}
		add_inflight(req);
		spin_unlock_bh(&ocf_pk_lock);
		give_to_card(req);
	}
}

void ocf_pk_complete(struct ocf_pk_request *req, int err)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool inside;
	u64 now;

	spin_lock_bh(&ocf_pk_lock);
	/* under the lock, so that it is not before @unit->last */
	now = ktime_get_ns();
	inside = req->at == OCF_PK_INFLIGHT;
	WARN_ONCE(!inside && req->at != OCF_PK_DETACHING,
		  "ocf: %s completed what it does not have\n", unit->dev->name);
	req->err = err;
	req->at = OCF_PK_COMPLETED;
	if (inside) {
		if (!err)
			ocf_pk_learn(unit, req, now);
		WRITE_ONCE(unit->last, now);
		leave_card(req);
		/* while @req is entering, give_to_card() returns @req */
		if (!req->entering)
			ocf_pk_return(req);
	}
	spin_unlock_bh(&ocf_pk_lock);
}
OCF_EXPORT(ocf_pk_complete);

/* ---- leaving ---- */

/**
 * ocf_pk_detach() - take a request from its card
 * @req: the request, whose state is OCF_PK_DETACHING
 *
 * Context: process; may sleep.
 * Return: true if the card has completed it meanwhile; false if it was taken
 * out.
 */
bool ocf_pk_detach(struct ocf_pk_request *req)
{
	while (!ocf_pk_ops_of(req->dev)->detach(req)) {
		/* the driver is about to complete it */
		spin_lock_bh(&ocf_pk_lock);
		if (req->at == OCF_PK_COMPLETED) {
			spin_unlock_bh(&ocf_pk_lock);
			return true;
		}
		spin_unlock_bh(&ocf_pk_lock);
		usleep_range(20, 100);
	}
	req->at = OCF_PK_CLAIMED;
	return false;
}

/*
 * Claims @req, which waits or is inside.
 * Return: false if another task has claimed @req, or is giving it to the card.
 */
bool ocf_pk_claim(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit;

	lockdep_assert_held(&ocf_pk_lock);
	if (req->at == OCF_PK_QUEUED) {
		unit = req->dev->pk;
		ocf_pk_dequeue(req);
		if (!unit->queued)
			unit->refusing_since = 0;
		req->at = OCF_PK_CLAIMED;
		return true;
	}
	if (req->at == OCF_PK_INFLIGHT && !req->entering) {
		leave_card(req);
		req->at = OCF_PK_DETACHING;
		return true;
	}
	return false;
}

/*
 * Claims a request that is inside @unit.  @some: set if any is inside.
 * Return: the request, or NULL: there is none, or it is still entering.
 */
static struct ocf_pk_request *claim_inflight(struct ocf_pk_unit *unit,
					     bool *some)
{
	struct ocf_pk_request *req, *found = NULL;

	spin_lock_bh(&ocf_pk_lock);
	*some = !list_empty(&unit->inflight);
	list_for_each_entry(req, &unit->inflight, job.node)
		if (!req->entering) {
			found = req;
			break;
		}
	if (found) {
		leave_card(found);
		found->at = OCF_PK_DETACHING;
	}
	spin_unlock_bh(&ocf_pk_lock);
	return found;
}

/**
 * ocf_pk_reclaim() - empty a card, and start its requests elsewhere
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
	unit->refusing_since = 0;
	while ((req = ocf_pk_dequeue_next(unit))) {
		req->at = OCF_PK_COMPLETED;
		req->err = -ENODEV;
		list_add_tail(&req->job.node, &requeue);
	}
	spin_unlock_bh(&ocf_pk_lock);

	while (some) {
		req = claim_inflight(unit, &some);
		if (req) {
			if (!ocf_pk_detach(req))
				req->err = -ENODEV;
			list_add_tail(&req->job.node, &requeue);
		} else if (some) {
			usleep_range(20, 100);
		}
	}
	list_for_each_entry_safe(req, next, &requeue, job.node) {
		list_del(&req->job.node);
		spin_lock_bh(&ocf_pk_lock);
		ocf_pk_return(req);
		spin_unlock_bh(&ocf_pk_lock);
	}
}

/* ---- watching ---- */

/*
 * Whether the card refuses requests though no public-key request is inside, and
 * does not complete symmetric requests either.
 */
static bool is_refusing(const struct ocf_pk_unit *unit, u64 now)
{
	u64 since = max(unit->refusing_since, unit->dev->queue.last_done);

	lockdep_assert_held(&ocf_pk_lock);
	return unit->refusing_since && unit->queued && !unit->count &&
	       now > since + unit->dev->queue.patience;
}

/**
 * ocf_pk_overdue() - whether public-key requests show that a card is late
 * @dev: the card
 * @now: ns
 *
 * Context: BH, under the lock of the card's queue.
 * Return: true if a request inside is past its time limit, or if the card has
 * refused requests for too long.
 */
bool ocf_pk_overdue(const struct ocf_device *dev, u64 now)
{
	const struct ocf_pk_unit *unit = dev->pk;
	const struct ocf_pk_request *req;
	bool overdue;

	lockdep_assert_held(&dev->queue.lock);
	if (!unit)
		return false;
	spin_lock(&ocf_pk_lock);
	overdue = is_refusing(unit, now);
	list_for_each_entry(req, &unit->inflight, job.node)
		overdue |= !req->entering && now > req->due;
	spin_unlock(&ocf_pk_lock);
	return overdue;
}

/* ---- devices ---- */

/**
 * ocf_pk_make() - give a device its part in public-key operations
 * @dev: a device that is not registered yet
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
	unit->codes = ocf_fips_codes(dev->info.pk->codes);
	INIT_LIST_HEAD(&unit->inflight);
	ocf_fair_init(&unit->fair);
	INIT_DELAYED_WORK(&unit->dispatch, dispatch_waiting);
	if (!ocf_pk_is_card(dev) && ocf_pk_make_workers(unit)) {
		kfree(unit);
		return -ENOMEM;
	}
	dev->pk = unit;
	return 0;
}

void ocf_pk_free_unit(struct ocf_device *dev)
{
	if (dev->pk)
		kfree(dev->pk->workers);
	kfree(dev->pk);
}

/* Lets requests in again after ocf_pk_reclaim().  Context: process. */
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
 * ocf_pk_end() - empty a device that is being unregistered
 * @dev: the device, which is not in the table any more
 *
 * Context: process; may sleep.
 */
void ocf_pk_end(struct ocf_device *dev)
{
	if (!dev->pk)
		return;
	ocf_pk_reclaim(dev);
	disable_delayed_work_sync(&dev->pk->dispatch);
}
