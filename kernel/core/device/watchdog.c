// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog of a card, for symmetric and public-key requests.
 *
 * Each request has a deadline, which allows for the work that was inside the
 * card when the request entered.  While requests are inside, or public-key
 * requests wait, the watchdog looks for one past its deadline.  It also looks
 * whether the card has completed nothing for longer than the work inside
 * explains.  At most SILENCE_MAX is allowed for this work, so a dead card is
 * found soon, however much is inside.  And it looks whether the driver refuses
 * requests although none is inside.  A card that is late at two looks in a row
 * has failed.
 */
#include <linux/ktime.h>

#include "../core.h"
#include "../pk/pk.h"

/*
 * ns that a card may be silent, in addition to the queue's patience, however
 * much is inside
 */
#define SILENCE_MAX	(10 * NSEC_PER_SEC)

/* ns, when @req is late if no public-key operations have delayed it */
static u64 due(const struct ocf_device *dev, const struct ocf_request *req)
{
	u64 begun = req->begun + dev->queue.patience;
	u64 inside = (req->due - begun) / OCF_LENIENCE;

	return req->due > begun ? begun + ocf_cost_allowance(inside) : begun;
}

/* Public-key operations inside the card may have delayed @req. */
static bool is_overdue(const struct ocf_device *dev,
		       const struct ocf_request *req, u64 now)
{
	u64 late = due(dev, req);

	return now > late && now > late + ocf_pk_delay(dev, req->begun);
}

/* Whether @dev has completed nothing for longer than its work explains. */
static bool is_silent(const struct ocf_device *dev, u64 now)
{
	const struct ocf_queue *q = &dev->queue;
	const struct ocf_request *oldest;
	u64 since, work;

	if (list_empty(&q->inflight))
		return false;
	oldest = list_first_entry(&q->inflight, struct ocf_request, job.node);
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
	if (ocf_pk_overdue(dev, now))
		return true;
	/* the driver refuses requests although the card is idle */
	if (q->full && !q->count && now - q->full_since >
	    q->patience + ocf_pk_delay(dev, q->full_since))
		return true;
	if (is_silent(dev, now))
		return true;
	list_for_each_entry(req, &q->inflight, job.node)
		if (is_overdue(dev, req, now))
			return true;
	return false;
}

static void check_overdue(struct timer_list *timer)
{
	struct ocf_device *dev =
		ocf_timer_container_of(dev, timer, queue.watchdog);
	struct ocf_queue *q = &dev->queue;
	bool was_late, late;

	spin_lock_bh(&q->lock);
	/*
	 * A card fails when it was late twice in a row.  If this CPU was
	 * stopped for a while, the card may have completed the request already:
	 * its interrupt is handled after this timer, or was lost.
	 */
	was_late = q->late;
	q->late = any_overdue(dev);
	late = q->late;
	q->watching = (q->count || q->full || ocf_pk_is_busy(dev)) &&
		      !q->closed;
	if (q->watching)
		mod_timer(&q->watchdog, jiffies + ocf_watchdog_interval(q));
	spin_unlock_bh(&q->lock);
	if (late && was_late)
		ocf_device_failed(dev, -ETIMEDOUT);
	else if (late && dev->info.ops->nudge)
		dev->info.ops->nudge(dev);
}

void ocf_watchdog_init(struct ocf_device *dev)
{
	timer_setup(&dev->queue.watchdog, check_overdue, 0);
}
