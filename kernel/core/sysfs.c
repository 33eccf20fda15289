// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/ocf: one directory a device, one fact a file.
 */
#include <linux/sysfs.h>

#include "core.h"

static struct ocf_device *to_ocf(struct device *d)
{
	return container_of(d, struct ocf_device, dev);
}

static ssize_t kind_show(struct device *d, struct device_attribute *attr,
			 char *buf)
{
	static const char * const names[] = {
		[OCF_KIND_HARDWARE] = "hardware",
		[OCF_KIND_SOFTWARE] = "software",
	};

	return sysfs_emit(buf, "%s\n", names[to_ocf(d)->info.kind]);
}
static DEVICE_ATTR_RO(kind);

static ssize_t number_show(struct device *d, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%d\n", to_ocf(d)->number);
}
static DEVICE_ATTR_RO(number);

static ssize_t state_show(struct device *d, struct device_attribute *attr,
			  char *buf)
{
	static const char * const names[] = {
		[OCF_DEVICE_TESTING]	= "testing",
		[OCF_DEVICE_READY]	= "ready",
		[OCF_DEVICE_DRAINING]	= "draining",
		[OCF_DEVICE_DEAD]	= "dead",
	};

	struct ocf_device *dev = to_ocf(d);
	enum ocf_device_state state = READ_ONCE(dev->state);

	return sysfs_emit(buf, "%s\n",
			  state == OCF_DEVICE_READY &&
			  READ_ONCE(dev->queue.full) ? "full" : names[state]);
}
static DEVICE_ATTR_RO(state);

static ssize_t algorithms_show(struct device *d, struct device_attribute *attr,
			       char *buf)
{
	struct ocf_device *dev = to_ocf(d);
	int alg, n = 0;

	for_each_set_bit(alg, dev->info.algs, OCF_ALG_COUNT)
		n += sysfs_emit_at(buf, n, "%s\n", ocf_alg_info(alg)->name);
	return n;
}
static DEVICE_ATTR_RO(algorithms);

/* ALGORITHM DIRECTION BASE-NS NS-PER-KIB */
static ssize_t cost_show(struct device *d, struct device_attribute *attr,
			 char *buf)
{
	static const char * const ops[] = {
		[OCF_OP_ENCRYPT] = "encrypt", [OCF_OP_DECRYPT] = "decrypt",
	};
	struct ocf_device *dev = to_ocf(d);
	int alg, op, n = 0;

	for_each_set_bit(alg, dev->info.algs, OCF_ALG_COUNT)
		for (op = 0; op < OCF_OP_COUNT; op++)
			n += sysfs_emit_at(buf, n, "%s %s %u %u\n",
					   ocf_alg_info(alg)->name, ops[op],
					   READ_ONCE(dev->cost[alg][op].base),
					   READ_ONCE(dev->cost[alg][op].slope));
	return n;
}
static DEVICE_ATTR_RO(cost);

static ssize_t counters_show(struct device *d, struct device_attribute *attr,
			     char *buf)
{
	struct ocf_device *dev = to_ocf(d);
	struct ocf_counters sum;

	ocf_device_sum(dev, &sum);
	return sysfs_emit(buf, "operations %llu\nbytes %llu\nerrors %llu\n"
			  "inflight %u\nwaiting %u\nblocks %llu\nspurious %llu\n",
			  sum.ops, sum.bytes, sum.errors,
			  READ_ONCE(dev->queue.count),
			  READ_ONCE(dev->queue.backlog),
			  (u64)atomic64_read(&dev->blocks),
			  (u64)atomic64_read(&dev->spurious));
}
static DEVICE_ATTR_RO(counters);

/* FROM-NS COUNT, a line for each bucket that is not empty */
static ssize_t latency_show(struct device *d, struct device_attribute *attr,
			    char *buf)
{
	struct ocf_counters sum;
	int i, n = 0;

	ocf_device_sum(to_ocf(d), &sum);
	for (i = 0; i < OCF_HIST_BUCKETS; i++)
		if (sum.hist[i])
			n += sysfs_emit_at(buf, n, "%lu %u\n", BIT(i),
					   sum.hist[i]);
	return n;
}
static DEVICE_ATTR_RO(latency);

static struct attribute *ocf_device_attrs[] = {
	&dev_attr_kind.attr,
	&dev_attr_number.attr,
	&dev_attr_state.attr,
	&dev_attr_algorithms.attr,
	&dev_attr_cost.attr,
	&dev_attr_counters.attr,
	&dev_attr_latency.attr,
	NULL
};
ATTRIBUTE_GROUPS(ocf_device);

const struct class ocf_class = {
	.name = "ocf",
	.dev_groups = ocf_device_groups,
};
