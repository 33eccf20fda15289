/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of a device: registration, self-tests, the watchdog, recovery, and
 * what users see of it.
 */
#ifndef OCF_DEVICE_H
#define OCF_DEVICE_H

#include "../registry/registry.h"

/* recovery.c */
int ocf_recovery_init(void);
void ocf_recovery_exit(void);
void ocf_recovery_prepare(struct ocf_device *dev);
void ocf_recheck_later(struct ocf_device *dev);
void ocf_recovery_end(struct ocf_device *dev);
void ocf_device_reclaim(struct ocf_device *dev);
void ocf_device_drain(struct ocf_device *dev);
void ocf_device_resume(struct ocf_device *dev);

/* jiffies until the next attempt: one second, two, four, and up to a minute */
static inline unsigned long ocf_retry_delay(unsigned int attempts)
{
	return min(HZ << min(attempts, 10u), 60 * HZ);
}

/* watchdog.c */
void ocf_watchdog_init(struct ocf_device *dev);

/* selftest.c */
int ocf_selftest_first(struct ocf_device *dev);
int ocf_selftest_again(struct ocf_device *dev);

/*
 * Whether a self-test could not be run: there was no memory, too many requests
 * wait for the device, or it must not be used now.  That says nothing about the
 * device.
 */
static inline bool ocf_selftest_not_run(int err)
{
	return err == -ENOSPC || err == -ENOMEM || err == -EBUSY ||
	       err == -ENODEV;
}

/* sysfs.c */
extern const struct class ocf_class;
const char *ocf_device_condition(const struct ocf_device *dev);
void ocf_tell(struct device *d, enum kobject_action action, const char *state);

/* debug.c */
void ocf_debug_init(void);
void ocf_debug_exit(void);
void ocf_debug_add(struct ocf_device *dev);
void ocf_debug_remove(struct ocf_device *dev);

#endif /* OCF_DEVICE_H */
