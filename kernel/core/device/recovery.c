// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovery of devices that fail.
 *
 * A card fails when a request is overdue, when its driver reports a failure, or
 * when a self-test gets a wrong answer or none.  Cards are tested from time to
 * time while they are in use, and after several failed requests in a row.
 *
 * Recovery first takes the requests out of the card and replays them on other
 * devices, and drops the card's contexts.  Then it tests the card, at intervals
 * that double.  A card that passes is used again.  A card that gave a wrong
 * answer stays out until the administrator resumes it.
 *
 * If its driver has no detach(), a card uses the pages of requests directly,
 * and could still write to them after its requests were taken out.  Such a card
 * is stopped before its requests are replayed, and reset before it is tested.
 * A card whose driver has detach() is at first neither stopped nor reset,
 * unless the driver has asked for a reset.  Perhaps the card is only late, and
 * resetting some cards hangs the machine.
 */
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "../core.h"
#include "../pk/pk.h"

#include <trace/events/ocf.h>

#define TESTS_BEFORE_RESET 3
#define DETACH_MAX	(10 * HZ)	/* jiffies that a completion may take */
#define RECHECK_MAX	86400u		/* s */

static unsigned int recheck = 60;

static bool is_card(const struct ocf_device *dev)
{
	return dev->info.kind == OCF_KIND_HARDWARE;
}

static void send_uevent(struct ocf_device *dev)
{
	ocf_tell(&dev->dev, KOBJ_CHANGE, ocf_device_condition(dev));
}

/*
 * Stops @dev.  Without detach() this is tried until it succeeds: otherwise the
 * card could still write to pages that others use by then.
 */
static void stop_device(struct ocf_device *dev)
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

/*
 * Makes the driver give up its requests, which go to @requeue.  If the driver
 * completes one instead, it ends as usual.
 */
static void reclaim_requests(struct ocf_device *dev, struct list_head *requeue)
{
	unsigned long end = jiffies + DETACH_MAX;
	struct ocf_request *req;
	bool detached;

	while ((req = ocf_queue_reclaim(dev))) {
		detached = dev->info.ops->detach(req);
		if (!ocf_queue_reclaimed(dev, req, detached, requeue)) {
			ocf_request_complete(req, req->err, false);
		} else if (!detached) {
			if (WARN_ON(time_after(jiffies, end)))
				return;
			usleep_range(20, 100);
		}
	}
}

/**
 * ocf_device_reclaim() - take all requests out of a device and replay them
 * @dev: the device; takes no requests afterwards
 *
 * Context: process; may sleep.
 */
void ocf_device_reclaim(struct ocf_device *dev)
{
	LIST_HEAD(requeue);

	ocf_queue_close(dev);
	if (!is_card(dev))
		return;
	ocf_pk_reclaim(dev);
	if (dev->info.ops->detach)
		reclaim_requests(dev, &requeue);
	if (!dev->info.ops->detach || READ_ONCE(dev->queue.count))
		stop_device(dev);
	ocf_queue_empty(dev, &requeue);
	ocf_requests_replay(&requeue, dev);
}

/*
 * Tests a card that has failed and has no requests, after a reset if it needs
 * one.
 */
static int test_again(struct ocf_device *dev)
{
	const struct ocf_device_ops *ops = dev->info.ops;
	int err = 0;

	if (ops->reset && (dev->stopped || READ_ONCE(dev->needs_reset) ||
			   dev->attempts >= TESTS_BEFORE_RESET)) {
		err = ops->reset(dev);
		if (!err) {
			dev->stopped = false;
			WRITE_ONCE(dev->needs_reset, false);
		}
	} else if (dev->stopped) {
		err = -ENODEV;
	}
	if (err)
		return err;
	ocf_queue_open(dev);
	ocf_pk_open(dev);
	err = ocf_selftest_again(dev);
	if (err) {
		ocf_device_reclaim(dev);
		ocf_contexts_drop(dev);
	}
	return err;
}

static void test_later(struct ocf_device *dev)
{
	queue_delayed_work(ocf_recovery_wq, &dev->recovery,
			   ocf_retry_delay(dev->attempts));
}

static void recover_device(struct ocf_device *dev)
{
	int err;

	if (!dev->reclaimed) {
		dev->reclaimed = true;
		dev_warn(&dev->dev, "failed: %pe\n",
			 ERR_PTR(READ_ONCE(dev->failed)));
		/*
		 * now, because the steps that follow may take long: that
		 * depends on the card
		 */
		send_uevent(dev);
		ocf_device_reclaim(dev);
		ocf_contexts_drop(dev);
		dev->attempts = 0;
		if (!dev->stopped && !READ_ONCE(dev->needs_reset) &&
		    READ_ONCE(dev->failed) != -EBADMSG) {
			test_later(dev);
			return;
		}
	}
	if (READ_ONCE(dev->failed) == -EBADMSG)
		return;
	err = test_again(dev);
	if (err) {
		dev->attempts++;
		if (err == -EBADMSG)
			WRITE_ONCE(dev->failed, err);
		else
			test_later(dev);
		return;
	}
	dev->reclaimed = false;
	atomic_and(OCF_SELFTEST_RUNS, &dev->failures);
	WRITE_ONCE(dev->failed, 0);
	if (ocf_device_set_state(dev, OCF_DEVICE_SUSPECT, OCF_DEVICE_READY)) {
		dev_info(&dev->dev, "works again\n");
		send_uevent(dev);
	}
	ocf_recheck_later(dev);
}

static u64 count_operations(struct ocf_device *dev)
{
	struct ocf_counters sum;
	u64 n = 0;
	int kind;

	for (kind = 0; kind < OCF_JOB_KINDS; kind++) {
		ocf_device_sum(dev, kind, &sum);
		n += sum.ops;
	}
	return n;
}

/* Tests a card that was used since its last test, or that is to be tested. */
static void recheck_device(struct ocf_device *dev)
{
	bool retest = test_and_clear_bit(0, &dev->retest);
	int err = 0;

	if ((retest || count_operations(dev) != dev->tested_ops) &&
	    !READ_ONCE(dev->drained))
		err = ocf_selftest_again(dev);
	dev->tested_ops = count_operations(dev);
	WRITE_ONCE(dev->tested_at, jiffies);
	if (err && !ocf_selftest_not_run(err))
		ocf_device_failed(dev, err);
	else
		ocf_recheck_later(dev);
}

static void do_recovery(struct work_struct *work)
{
	struct ocf_device *dev = container_of(to_delayed_work(work),
					      struct ocf_device, recovery);

	if (READ_ONCE(dev->state) == OCF_DEVICE_SUSPECT)
		recover_device(dev);
	else
		recheck_device(dev);
}

/* Context: process; before the device is registered. */
void ocf_recovery_prepare(struct ocf_device *dev)
{
	INIT_DELAYED_WORK(&dev->recovery, do_recovery);
	/* the first test is due in any case */
	dev->tested_ops = U64_MAX;
}

/**
 * ocf_recheck_later() - test a device again after some time in use
 * @dev: the device, which is ready
 *
 * Context: process.
 */
void ocf_recheck_later(struct ocf_device *dev)
{
	unsigned int after = min(READ_ONCE(recheck), RECHECK_MAX);

	if (is_card(dev) && after)
		queue_delayed_work(ocf_recovery_wq, &dev->recovery, after * HZ);
}

/* The parameter, the interval of self-tests, has changed. */
static void reschedule_recheck(struct ocf_device *dev)
{
	if (!is_card(dev) || READ_ONCE(dev->state) != OCF_DEVICE_READY)
		return;
	cancel_delayed_work(&dev->recovery);
	ocf_recheck_later(dev);
	/* recovery of a card that has failed meanwhile is not delayed */
	if (READ_ONCE(dev->state) == OCF_DEVICE_SUSPECT)
		mod_delayed_work(ocf_recovery_wq, &dev->recovery, 0);
}

static int recheck_set(const char *val, const struct kernel_param *kp)
{
	struct ocf_device *dev;
	int err, i;

	err = param_set_uint(val, kp);
	if (err || !ocf_recovery_wq)
		return err;
	ocf_read_lock();
	for (i = 0; i < OCF_DEVICES_MAX; i++) {
		dev = ocf_device_at(i);
		if (dev)
			reschedule_recheck(dev);
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
		 "seconds between two self-tests of a card in use, 0: never");

/**
 * ocf_recovery_end() - empty and stop a device that is being removed
 * @dev: the device; no session can find it
 *
 * Context: process; may sleep.
 */
void ocf_recovery_end(struct ocf_device *dev)
{
	ocf_pk_end(dev);
	if (!is_card(dev))
		return;
	/* a running self-test ends without an answer */
	ocf_queue_close(dev);
	disable_delayed_work_sync(&dev->recovery);
	ocf_device_reclaim(dev);
	stop_device(dev);
	ocf_queue_end(dev);
}

/**
 * ocf_device_drain() - stop giving requests to a device
 * @dev: the device; it finishes the requests that it has
 *
 * Context: process.
 */
void ocf_device_drain(struct ocf_device *dev)
{
	WRITE_ONCE(dev->drained, true);
	ocf_registry_changed();
	send_uevent(dev);
}

/**
 * ocf_device_resume() - use a device again
 * @dev: the device; if it has failed, whatever the reason, it is tested at once
 *
 * Context: process.
 */
void ocf_device_resume(struct ocf_device *dev)
{
	WRITE_ONCE(dev->drained, false);
	ocf_registry_changed();
	if (READ_ONCE(dev->state) == OCF_DEVICE_SUSPECT) {
		WRITE_ONCE(dev->failed, -EAGAIN);
		mod_delayed_work(ocf_recovery_wq, &dev->recovery, 0);
	}
	send_uevent(dev);
}

int ocf_recovery_init(void)
{
	ocf_recovery_wq = alloc_workqueue("ocf_recovery",
					  WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return ocf_recovery_wq ? 0 : -ENOMEM;
}

void ocf_recovery_exit(void)
{
	destroy_workqueue(ocf_recovery_wq);
}
