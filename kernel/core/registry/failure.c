// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drivers, queues and requests report here that a device has failed, or may
 * have failed.  The device's recovery work does the rest (device/recovery.c).
 */
#include "../core.h"

#define RETEST_INTERVAL	HZ	/* jiffies between two self-tests, at least */

/* Recovers devices, and tests them. */
struct workqueue_struct *ocf_recovery_wq;

/**
 * ocf_device_failed() - stop using a device, and recover it
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
	mod_delayed_work(ocf_recovery_wq, &dev->recovery, 0);
}

/**
 * ocf_device_retest() - find out whether a device or a request was at fault
 * @dev: the device; a self-test, which comes within a second, decides
 *
 * Context: process or BH.
 */
void ocf_device_retest(struct ocf_device *dev)
{
	unsigned long since = jiffies - READ_ONCE(dev->tested_at);

	if (READ_ONCE(dev->state) == OCF_DEVICE_READY &&
	    !test_and_set_bit(0, &dev->retest))
		mod_delayed_work(ocf_recovery_wq, &dev->recovery,
				 since < RETEST_INTERVAL ?
				 RETEST_INTERVAL - since : 0);
}

void ocf_device_fail(struct ocf_device *dev)
{
	ocf_device_failed(dev, -EIO);
}
OCF_EXPORT(ocf_device_fail);

void ocf_device_needs_reset(struct ocf_device *dev)
{
	WRITE_ONCE(dev->needs_reset, true);
	ocf_device_failed(dev, -EIO);
	ocf_device_revive(dev);
}
OCF_EXPORT(ocf_device_needs_reset);

void ocf_device_revive(struct ocf_device *dev)
{
	if (READ_ONCE(dev->state) == OCF_DEVICE_SUSPECT)
		mod_delayed_work(ocf_recovery_wq, &dev->recovery, 0);
}
OCF_EXPORT(ocf_device_revive);
