// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/ocf: one directory a device, one fact a file.
 */
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "../core.h"
#include "../pk/pk.h"

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

/**
 * ocf_tell() - have user space know what state something is in
 * @d: a device with a file "state"
 * @action: KOBJ_ADD if it was not told of @d before, or KOBJ_CHANGE
 * @state: in a word
 *
 * Context: process; may sleep.
 */
void ocf_tell(struct device *d, enum kobject_action action, const char *state)
{
	char text[32], *env[2] = { text };

	snprintf(text, sizeof(text), "OCF_STATE=%s", state);
	kobject_uevent_env(&d->kobj, action, env);
	sysfs_notify(&d->kobj, NULL, "state");
}

/**
 * ocf_device_condition() - the state of a device in a word
 * @dev: the device
 *
 * Context: any.
 * Return: the word.
 */
const char *ocf_device_condition(const struct ocf_device *dev)
{
	static const char * const names[] = {
		[OCF_DEVICE_TESTING]	= "testing",
		[OCF_DEVICE_READY]	= "ready",
		[OCF_DEVICE_SUSPECT]	= "suspect",
		[OCF_DEVICE_DRAINING]	= "draining",
		[OCF_DEVICE_DEAD]	= "dead",
	};
	enum ocf_device_state state = READ_ONCE(dev->state);

	if (state != OCF_DEVICE_READY)
		return names[state];
	if (READ_ONCE(dev->drained))
		return "drained";
	return names[state];
}

static ssize_t state_show(struct device *d, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%s\n", ocf_device_condition(to_ocf(d)));
}

/* "drain", or "resume" */
static ssize_t state_store(struct device *d, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	struct ocf_device *dev = to_ocf(d);

	if (sysfs_streq(buf, "drain"))
		ocf_device_drain(dev);
	else if (sysfs_streq(buf, "resume"))
		ocf_device_resume(dev);
	else
		return -EINVAL;
	return count;
}
static DEVICE_ATTR_RW(state);

/*
 * The administrator's weight: the device's cost is multiplied by this many per
 * cent
 */
static ssize_t weight_show(struct device *d, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(to_ocf(d)->weight));
}

static ssize_t weight_store(struct device *d, struct device_attribute *attr,
			    const char *buf, size_t count)
{
	unsigned int weight;
	int err = kstrtouint(buf, 10, &weight);

	if (err)
		return err;
	if (!weight || weight > OCF_WEIGHT_MAX)
		return -EINVAL;
	WRITE_ONCE(to_ocf(d)->weight, weight);
	return count;
}
static DEVICE_ATTR_RW(weight);

/* Algorithms that the administrator has forbidden on this device */
static ssize_t forbid_show(struct device *d, struct device_attribute *attr,
			   char *buf)
{
	return ocf_algs_show(READ_ONCE(to_ocf(d)->forbidden), buf, PAGE_SIZE);
}

static ssize_t forbid_store(struct device *d, struct device_attribute *attr,
			    const char *buf, size_t count)
{
	u64 algs;
	int err = ocf_algs_parse(buf, ~1ULL, &algs);

	if (err)
		return err;
	WRITE_ONCE(to_ocf(d)->forbidden, algs);
	ocf_registry_changed();
	return count;
}
static DEVICE_ATTR_RW(forbid);

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

static ssize_t modes_show(struct device *d, struct device_attribute *attr,
			  char *buf)
{
	static const char * const names[OCF_MODE_COUNT] = {
		[OCF_MODE_CIPHER]	= "cipher",
		[OCF_MODE_DIGEST]	= "digest",
		[OCF_MODE_AEAD]		= "aead",
		[OCF_MODE_ETA]		= "eta",
		[OCF_MODE_MTE]		= "mte",
		[OCF_MODE_CHAIN]	= "chain",
		[OCF_MODE_COMPRESS]	= "compress",
	};
	int mode, n = 0;

	for (mode = OCF_MODE_CIPHER; mode < OCF_MODE_COUNT; mode++)
		if (to_ocf(d)->info.modes & BIT(mode))
			n += sysfs_emit_at(buf, n, "%s\n", names[mode]);
	return n;
}
static DEVICE_ATTR_RO(modes);

/*
 * Requests that the device holds at a time; 0 for software, which has no limit
 */
static ssize_t depth_show(struct device *d, struct device_attribute *attr,
			  char *buf)
{
	struct ocf_device_info *info = &to_ocf(d)->info;

	return sysfs_emit(buf, "%u\n",
			  info->kind == OCF_KIND_HARDWARE ? info->depth : 0);
}
static DEVICE_ATTR_RO(depth);

/* Bytes a request may span; 0 for no limit */
static ssize_t max_len_show(struct device *d, struct device_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%u\n", to_ocf(d)->info.max_len);
}
static DEVICE_ATTR_RO(max_len);

/* ns from the end of its work on a request to the completion */
static ssize_t lag_show(struct device *d, struct device_attribute *attr,
			char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(to_ocf(d)->lag));
}
static OCF_ATTR_PRIVATE(lag);

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
static OCF_ATTR_PRIVATE(cost);

static ssize_t counters_show(struct device *d, struct device_attribute *attr,
			     char *buf)
{
	struct ocf_device *dev = to_ocf(d);
	struct ocf_counters sum;
	int n;

	ocf_device_sum(dev, OCF_JOB_SYMMETRIC, &sum);
	n = sysfs_emit(buf, "operations %llu\nbytes %llu\nerrors %llu\n"
		       "inflight %u\nwaiting %u\nblocks %llu\nspurious %llu\n"
		       "replays %llu\nevictions %llu\nbacklog %ld\n"
		       "full %d\n",
		       sum.ops, sum.bytes, sum.errors,
		       READ_ONCE(dev->queue.count),
		       READ_ONCE(dev->queue.backlog),
		       (u64)atomic64_read(&dev->blocks),
		       (u64)atomic64_read(&dev->spurious),
		       sum.replays,
		       (u64)atomic64_read(&dev->evictions),
		       atomic_long_read(&dev->load),
		       READ_ONCE(dev->queue.full));
	return n + ocf_pk_show_counters(dev, buf, n);
}
static OCF_ATTR_PRIVATE(counters);

/* OPERATION BYTES NS, a line for each size whose cost was measured */
static ssize_t public_key_show(struct device *d, struct device_attribute *attr,
			       char *buf)
{
	return ocf_pk_show(to_ocf(d), buf);
}
static OCF_ATTR_PRIVATE(public_key);

/* A name a line */
static ssize_t public_key_operations_show(struct device *d,
					  struct device_attribute *attr,
					  char *buf)
{
	return ocf_pk_show_names(to_ocf(d), buf);
}
static DEVICE_ATTR_RO(public_key_operations);

/* FROM-NS COUNT, a line for each bucket that is not empty */
static ssize_t latency_show(struct device *d, struct device_attribute *attr,
			    char *buf)
{
	struct ocf_counters sum;
	int i, n = 0;

	ocf_device_sum(to_ocf(d), OCF_JOB_SYMMETRIC, &sum);
	for (i = 0; i < OCF_HIST_BUCKETS; i++)
		if (sum.hist[i])
			n += sysfs_emit_at(buf, n, "%lu %llu\n", BIT(i),
					   sum.hist[i]);
	return n;
}
static OCF_ATTR_PRIVATE(latency);

static struct attribute *ocf_device_attrs[] = {
	&dev_attr_kind.attr,
	&dev_attr_number.attr,
	&dev_attr_state.attr,
	&dev_attr_weight.attr,
	&dev_attr_forbid.attr,
	&dev_attr_algorithms.attr,
	&dev_attr_modes.attr,
	&dev_attr_depth.attr,
	&dev_attr_max_len.attr,
	&dev_attr_cost.attr,
	&dev_attr_lag.attr,
	&dev_attr_counters.attr,
	&dev_attr_public_key.attr,
	&dev_attr_public_key_operations.attr,
	&dev_attr_latency.attr,
	NULL
};
ATTRIBUTE_GROUPS(ocf_device);

const struct class ocf_class = {
	.name = "ocf",
	.dev_groups = ocf_device_groups,
};
