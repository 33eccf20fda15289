// SPDX-License-Identifier: GPL-2.0-only
/*
 * Care for cards that fail.
 *
 * A card fails when a request is overdue, when its driver says so, or when it
 * gives a wrong answer, or none, to a question it is asked: from time to time,
 * and after several requests in a row that it has failed.  It is emptied first:
 * what was in it is replayed elsewhere, and sessions lose their contexts on it.
 * Then it is asked again, at intervals that double, and is used once more when
 * its answers are right.  One that gave a wrong answer stays out until the
 * administrator says otherwise.
 *
 * A card that works in the requests' own pages is stopped before anything is
 * replayed, and reset before it is asked.  One that does not (its driver has
 * detach()) is neither stopped nor reset for a start, unless it has asked for
 * it: it may be about to go on, and there are cards that hang whoever resets
 * them.
 */
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "core.h"
#include "pk.h"

#include <trace/events/ocf.h>

#define ASKS_BEFORE_RESET 3
#define DETACH_MAX	(10 * HZ)	/* jiffies a completion takes */
#define DOUBT_TIME	HZ	/* jiffies from one question to another */
#define RECHECK_MAX	86400u		/* s */

static unsigned int recheck = 60;
static struct workqueue_struct *care_wq;

static bool is_card(const struct ocf_device *dev)
{
	return dev->info.kind == OCF_KIND_HARDWARE;
}

static void tell(struct ocf_device *dev)
{
	ocf_tell(&dev->dev, KOBJ_CHANGE, ocf_device_condition(dev));
}

/*
 * Stops @dev.  One that works in pages which are not its driver's must not be
 * left before: the pages would be used again while it writes to them.
 */
static void stop(struct ocf_device *dev)
{
	int err;

	if (dev->stopped)
		return;
	while ((err = dev->info.ops->quiesce(dev)) && !dev->info.ops->detach) {
		dev_alert(&dev->dev, "cannot be stopped (%d), trying again\n",
			  err);
		msleep(MSEC_PER_SEC);
	}
	if (err)
		dev_err(&dev->dev, "cannot be stopped: %d\n", err);
	dev->stopped = true;
}

/* Has the driver forget what it has; what it completes instead ends as ever. */
static void take_back(struct ocf_device *dev, struct list_head *orphans)
{
	unsigned long end = jiffies + DETACH_MAX;
	struct ocf_request *req;
	bool detached;

	while ((req = ocf_queue_rescue(dev))) {
		detached = dev->info.ops->detach(req);
		if (!ocf_queue_rescued(dev, req, detached, orphans)) {
			ocf_request_complete(req, req->err, false);
		} else if (!detached) {
			if (WARN_ON(time_after(jiffies, end)))
				return;
			usleep_range(20, 100);
		}
	}
}

/**
 * ocf_device_rescue() - empty a device; what was in it is placed anew
 * @dev: the device; closed afterwards
 *
 * Context: process; may sleep.
 */
void ocf_device_rescue(struct ocf_device *dev)
{
	LIST_HEAD(orphans);

	ocf_queue_close(dev);
	if (!is_card(dev))
		return;
	ocf_pk_rescue(dev);
	if (dev->info.ops->detach)
		take_back(dev, &orphans);
	if (!dev->info.ops->detach || READ_ONCE(dev->queue.count))
		stop(dev);
	ocf_queue_empty(dev, &orphans);
	ocf_requests_replay(&orphans, dev);
}

/* Asks a card that failed, and that is empty, whether it works again. */
static int ask(struct ocf_device *dev)
{
	const struct ocf_device_ops *ops = dev->info.ops;
	int err = 0;

	if (ops->reset && (dev->stopped || READ_ONCE(dev->needy) ||
			   dev->tries >= ASKS_BEFORE_RESET)) {
		err = ops->reset(dev);
		if (!err) {
			dev->stopped = false;
			WRITE_ONCE(dev->needy, false);
		}
	} else if (dev->stopped) {
		err = -ENODEV;
	}
	if (err)
		return err;
	ocf_queue_open(dev);
	ocf_pk_open(dev);
	err = ocf_kat_again(dev);
	if (err) {
		ocf_device_rescue(dev);
		ocf_contexts_drop(dev);
	}
	return err;
}

static void ask_later(struct ocf_device *dev)
{
	queue_delayed_work(care_wq, &dev->care, ocf_try_after(dev->tries));
}

static void nurse(struct ocf_device *dev)
{
	int err;

	if (!dev->rescued) {
		dev->rescued = true;
		dev_warn(&dev->dev, "failed: %pe\n",
			 ERR_PTR(READ_ONCE(dev->failed)));
		/* before what may take as long as the card likes */
		tell(dev);
		ocf_device_rescue(dev);
		ocf_contexts_drop(dev);
		dev->tries = 0;
		if (!dev->stopped && !READ_ONCE(dev->needy) &&
		    READ_ONCE(dev->failed) != -EBADMSG) {
			ask_later(dev);
			return;
		}
	}
	if (READ_ONCE(dev->failed) == -EBADMSG)
		return;
	err = ask(dev);
	if (err) {
		dev->tries++;
		if (err == -EBADMSG)
			WRITE_ONCE(dev->failed, err);
		else
			ask_later(dev);
		return;
	}
	dev->rescued = false;
	atomic_set(&dev->failures, 0);
	WRITE_ONCE(dev->failed, 0);
	if (ocf_device_set_state(dev, OCF_DEVICE_SUSPECT, OCF_DEVICE_READY)) {
		dev_info(&dev->dev, "works again\n");
		tell(dev);
	}
	ocf_care_start(dev);
}

static u64 operations(struct ocf_device *dev)
{
	struct ocf_counters sum;

	ocf_device_sum(dev, &sum);
	return sum.ops + (dev->pk ? READ_ONCE(dev->pk->done) : 0);
}

/* A card that is in use is asked from time to time. */
static void check(struct ocf_device *dev)
{
	bool doubted = test_and_clear_bit(0, &dev->doubted);
	int err = 0;

	if ((doubted || operations(dev) != dev->asked) &&
	    !READ_ONCE(dev->drained))
		err = ocf_kat_again(dev);
	dev->asked = operations(dev);
	WRITE_ONCE(dev->checked, jiffies);
	if (err && !ocf_kat_unasked(err))
		ocf_device_failed(dev, err);
	else
		ocf_care_start(dev);
}

static void care(struct work_struct *work)
{
	struct ocf_device *dev = container_of(to_delayed_work(work),
					      struct ocf_device, care);

	if (READ_ONCE(dev->state) == OCF_DEVICE_SUSPECT)
		nurse(dev);
	else
		check(dev);
}

/* Context: process; of a device that nobody else knows yet. */
void ocf_care_make(struct ocf_device *dev)
{
	INIT_DELAYED_WORK(&dev->care, care);
}

/**
 * ocf_care_start() - have a device looked at from time to time
 * @dev: a device that is ready
 *
 * Context: process.
 */
void ocf_care_start(struct ocf_device *dev)
{
	unsigned int after = min(READ_ONCE(recheck), RECHECK_MAX);

	if (is_card(dev) && after)
		queue_delayed_work(care_wq, &dev->care, after * HZ);
}

/* The time for the next look at @dev has changed. */
static void look_anew(struct ocf_device *dev)
{
	if (!is_card(dev) || READ_ONCE(dev->state) != OCF_DEVICE_READY)
		return;
	cancel_delayed_work(&dev->care);
	ocf_care_start(dev);
	/* one that failed meanwhile does not wait for that */
	if (READ_ONCE(dev->state) == OCF_DEVICE_SUSPECT)
		mod_delayed_work(care_wq, &dev->care, 0);
}

static int recheck_set(const char *val, const struct kernel_param *kp)
{
	struct ocf_device *dev;
	int err, i;

	err = param_set_uint(val, kp);
	if (err || !care_wq)
		return err;
	ocf_read_lock();
	for (i = 0; i < OCF_DEVICES_MAX; i++) {
		dev = ocf_device_at(i);
		if (dev)
			look_anew(dev);
	}
	ocf_read_unlock();
	return 0;
}

static const struct kernel_param_ops recheck_ops = {
	.set = recheck_set,
	.get = param_get_uint,
};

module_param_cb(recheck, &recheck_ops, &recheck, 0644);
__MODULE_PARM_TYPE(recheck, "uint");
MODULE_PARM_DESC(recheck,
		 "seconds after which a card in use is asked for known answers again, 0 for never");

/**
 * ocf_care_end() - take everything out of a device that goes, and stop it
 * @dev: the device, which no session finds any more
 *
 * Context: process; may sleep.
 */
void ocf_care_end(struct ocf_device *dev)
{
	ocf_pk_end(dev);
	if (!is_card(dev))
		return;
	/* what the worker still asks gets no answer */
	ocf_queue_close(dev);
	disable_delayed_work_sync(&dev->care);
	ocf_device_rescue(dev);
	stop(dev);
	ocf_queue_end(dev);
}

/**
 * ocf_device_failed() - a device is not to be trusted any more
 * @dev: the device
 * @err: why, a negative errno
 *
 * Context: process or BH.
 */
void ocf_device_failed(struct ocf_device *dev, int err)
{
	if (!ocf_device_set_state(dev, OCF_DEVICE_READY, OCF_DEVICE_SUSPECT))
		return;
	WRITE_ONCE(dev->failed, err);
	mod_delayed_work(care_wq, &dev->care, 0);
}

/**
 * ocf_device_doubt() - a device may have made a mistake, or who asked it
 * @dev: the device; soon asked for known answers, which decide
 *
 * Context: process or BH.
 */
void ocf_device_doubt(struct ocf_device *dev)
{
	unsigned long since = jiffies - READ_ONCE(dev->checked);

	if (READ_ONCE(dev->state) == OCF_DEVICE_READY &&
	    !test_and_set_bit(0, &dev->doubted))
		mod_delayed_work(care_wq, &dev->care,
				 since < DOUBT_TIME ? DOUBT_TIME - since : 0);
}

void ocf_device_fail(struct ocf_device *dev)
{
	ocf_device_failed(dev, -EIO);
}
OCF_EXPORT(ocf_device_fail);

void ocf_device_needs_reset(struct ocf_device *dev)
{
	WRITE_ONCE(dev->needy, true);
	ocf_device_failed(dev, -EIO);
	ocf_device_revive(dev);
}
OCF_EXPORT(ocf_device_needs_reset);

void ocf_device_revive(struct ocf_device *dev)
{
	if (READ_ONCE(dev->state) == OCF_DEVICE_SUSPECT)
		mod_delayed_work(care_wq, &dev->care, 0);
}
OCF_EXPORT(ocf_device_revive);

/**
 * ocf_device_drain() - give a device no more requests, by the administrator
 * @dev: the device; what is in it ends
 *
 * Context: process.
 */
void ocf_device_drain(struct ocf_device *dev)
{
	WRITE_ONCE(dev->drained, true);
	ocf_registry_changed();
	tell(dev);
}

/**
 * ocf_device_resume() - use a device again, by the administrator
 * @dev: the device; one that failed is asked at once, whatever it has done
 *
 * Context: process.
 */
void ocf_device_resume(struct ocf_device *dev)
{
	WRITE_ONCE(dev->drained, false);
	ocf_registry_changed();
	if (READ_ONCE(dev->state) == OCF_DEVICE_SUSPECT) {
		WRITE_ONCE(dev->failed, -EAGAIN);
		mod_delayed_work(care_wq, &dev->care, 0);
	}
	tell(dev);
}

int ocf_care_init(void)
{
	care_wq = alloc_workqueue("ocf_care", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return care_wq ? 0 : -ENOMEM;
}

void ocf_care_exit(void)
{
	destroy_workqueue(care_wq);
}
