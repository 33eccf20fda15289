// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registration of devices.
 *
 * A device is unregistered in two steps.  ocf_registry_withdraw() takes it out
 * of the table.  tear_down() starts its requests on other devices, stops it,
 * drops its contexts, and waits for its last reference.  Then another device
 * may have its number and its name.  A context, the worker that makes one, and
 * an open file in sysfs have a reference.
 */
#include <linux/kobject.h>
#include <linux/slab.h>

#include "../core.h"
#include "../pk/pk.h"

/*
 * Resets the counters of a device whose self-test has passed, because the test
 * has spoiled tags on purpose.  Later self-tests of a card are not counted.
 */
static void reset_counters(struct ocf_device *dev)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(dev->counters, cpu), 0,
		       OCF_JOB_KINDS * sizeof(*dev->counters));
}

static void free_device(struct device *d)
{
	struct ocf_device *dev = container_of(d, struct ocf_device, dev);

	ocf_pk_free_unit(dev);
	free_percpu(dev->counters);
	mutex_destroy(&dev->room);
	kfree(dev);
}

/*
 * Whether the driver describes its sessions validly.  A device without sessions
 * must have public-key operations.
 */
static bool sessions_valid(const struct ocf_device_info *info)
{
	const struct ocf_device_ops *ops = info->ops;

	if (!info->modes && bitmap_empty(info->algs, OCF_ALG_COUNT))
		return info->pk;
	return ops->ctx_init && ops->ctx_exit && ops->submit &&
	       (info->kind == OCF_KIND_SOFTWARE ||
		(info->depth && info->depth <= OCF_DEPTH_MAX)) &&
	       info->modes && !bitmap_empty(info->algs, OCF_ALG_COUNT);
}

static bool pk_valid(const struct ocf_pk_ops *pk, bool hw)
{
	return !pk || (pk->codes && !(pk->codes >> OCF_PK_COUNT) &&
		       pk->submit &&
		       (!hw || (pk->detach && pk->depth &&
				pk->depth <= OCF_DEPTH_MAX)));
}

static bool info_valid(const struct ocf_device_info *info)
{
	bool hw = info->kind == OCF_KIND_HARDWARE;

	return info->name && strlen(info->name) + 3 < OCF_DEVICE_NAME_MAX &&
	       (hw || info->kind == OCF_KIND_SOFTWARE) &&
	       info->ops && (!hw || info->ops->quiesce) &&
	       sessions_valid(info) && pk_valid(info->pk, hw);
}

static struct ocf_device *make_device(const struct ocf_device_info *info)
{
	struct ocf_device *dev;
	int alg, op;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return NULL;
	dev->counters = __alloc_percpu(OCF_JOB_KINDS * sizeof(*dev->counters),
				       __alignof__(*dev->counters));
	if (!dev->counters) {
		kfree(dev);
		return NULL;
	}
	dev->info = *info;
	if (ocf_pk_make(dev)) {
		free_percpu(dev->counters);
		kfree(dev);
		return NULL;
	}
	ocf_fips_limit(dev);
	dev->state = OCF_DEVICE_TESTING;
	dev->weight = 100;
	dev->crowded = jiffies;
	ocf_contexts_init(dev);
	ocf_keys_init_room(dev);
	refcount_set(&dev->holds, 1);
	ocf_queue_init(dev);
	ocf_watchdog_init(dev);
	ocf_recovery_prepare(dev);
	for (alg = 0; alg < OCF_ALG_COUNT; alg++)
		for (op = 0; op < OCF_OP_COUNT; op++)
			dev->cost[alg][op] = OCF_COST_UNKNOWN;
	device_initialize(&dev->dev);
	dev->dev.class = &ocf_class;
	dev->dev.parent = info->parent;
	dev->dev.release = free_device;
	dev->info.parent = NULL;
	return dev;
}

/*
 * Restarts the requests of the device elsewhere or lets them end, stops the
 * device, and drops its contexts; @added: it is in sysfs.  Meanwhile other
 * devices may come and go, but do not get its place.
 */
static void tear_down(struct ocf_device *dev, bool added)
{
	synchronize_rcu();
	ocf_recovery_end(dev);
	if (added)
		device_del(&dev->dev);
	ocf_debug_remove(dev);
	ocf_contexts_drop(dev);
	ocf_device_set_state(dev, OCF_DEVICE_DRAINING, OCF_DEVICE_DEAD);
	ocf_registry_release(dev);
	put_device(&dev->dev);
}

/*
 * Tests @dev, which has a place and is published, and then registers it in
 * sysfs.  Meanwhile other devices may come and go.
 */
static int present_itself(struct ocf_device *dev)
{
	int err;

	err = ocf_selftest_first(dev) ?:
	      dev_set_name(&dev->dev, "%s", dev->name);
	if (!err) {
		reset_counters(dev);
		ocf_debug_add(dev);
		/* udev is told when the device can be used */
		dev_set_uevent_suppress(&dev->dev, true);
		err = device_add(&dev->dev);
	}
	if (err) {
		ocf_registry_withdraw(dev);
		return err;
	}
	ocf_device_set_state(dev, OCF_DEVICE_TESTING, OCF_DEVICE_READY);
	dev_set_uevent_suppress(&dev->dev, false);
	ocf_tell(&dev->dev, KOBJ_ADD, ocf_device_condition(dev));
	ocf_recheck_later(dev);
	return 0;
}

struct ocf_device *ocf_device_register(const struct ocf_device_info *info)
{
	struct ocf_device *dev;
	int err;

	might_sleep();
	if (!info_valid(info))
		return ERR_PTR(-EINVAL);
	dev = make_device(info);
	if (!dev)
		return ERR_PTR(-ENOMEM);

	err = ocf_registry_add(dev);
	if (err) {
		put_device(&dev->dev);
		return ERR_PTR(err);
	}
	err = present_itself(dev);
	if (!err)
		return dev;
	tear_down(dev, false);
	return ERR_PTR(err);
}
OCF_EXPORT(ocf_device_register);

void ocf_device_unregister(struct ocf_device *dev)
{
	might_sleep();
	if (!dev)
		return;
	ocf_registry_withdraw(dev);
	tear_down(dev, true);
}
OCF_EXPORT(ocf_device_unregister);
