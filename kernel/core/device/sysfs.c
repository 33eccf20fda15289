// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/ocf: one directory a device, one value a file.  Tables are in
 * debugfs (debug.c).  docs/abi/sysfs-class-ocf describes the files.
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

/* A name a line */
static ssize_t public_key_operations_show(struct device *d,
					  struct device_attribute *attr,
					  char *buf)
{
	return ocf_pk_show_names(to_ocf(d), buf);
}
static DEVICE_ATTR_RO(public_key_operations);

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
	&dev_attr_lag.attr,
	&dev_attr_public_key_operations.attr,
	NULL
};

static const struct attribute_group ocf_device_group = {
	.attrs = ocf_device_attrs,
};

/* ---- counters ---- */

enum counter {
	OPERATIONS, BYTES, ERRORS, REPLAYS, INFLIGHT, WAITING, BACKLOG,
	BLOCKS, SPURIOUS, EVICTIONS, FULL,
};

/* A file with one counter */
struct counter_file {
	struct device_attribute	attr;
	enum ocf_job_kind	kind;
	enum counter		which;
};

/* What is counted on each CPU */
static u64 counter_sum(struct ocf_device *dev, enum ocf_job_kind kind,
		       enum counter which)
{
	struct ocf_counters sum;

	ocf_device_sum(dev, kind, &sum);
	switch (which) {
	case OPERATIONS:
		return sum.ops;
	case BYTES:
		return sum.bytes;
	case ERRORS:
		return sum.errors;
	default:
		return sum.replays;
	}
}

/* What the queue has now, or has counted */
static s64 counter_of_queue(const struct ocf_device *dev, enum counter which)
{
	switch (which) {
	case INFLIGHT:
		return READ_ONCE(dev->queue.count);
	case WAITING:
		return READ_ONCE(dev->queue.backlog);
	case BACKLOG:
		return atomic_long_read(&dev->load);
	case BLOCKS:
		return atomic64_read(&dev->blocks);
	case SPURIOUS:
		return atomic64_read(&dev->spurious);
	case EVICTIONS:
		return atomic64_read(&dev->evictions);
	default:
		return READ_ONCE(dev->queue.full);
	}
}

static s64 counter_of_pk(const struct ocf_device *dev, enum counter which)
{
	s64 n;

	spin_lock_bh(&ocf_pk_lock);
	switch (which) {
	case INFLIGHT:
		n = dev->pk->count;
		break;
	case WAITING:
		n = dev->pk->queued;
		break;
	default:
		n = ocf_pk_backlog(dev->pk);
	}
	spin_unlock_bh(&ocf_pk_lock);
	return n;
}

static ssize_t counter_show(struct device *d, struct device_attribute *attr,
			    char *buf)
{
	const struct counter_file *f =
		container_of(attr, struct counter_file, attr);
	struct ocf_device *dev = to_ocf(d);
	s64 n;

	if (f->which <= REPLAYS)
		n = counter_sum(dev, f->kind, f->which);
	else if (f->kind == OCF_JOB_PUBLIC_KEY)
		n = counter_of_pk(dev, f->which);
	else
		n = counter_of_queue(dev, f->which);
	return sysfs_emit(buf, "%lld\n", n);
}

#define FILE_OF(_prefix, _name, _kind, _which)				\
	static struct counter_file _prefix##_##_name = {		\
		__ATTR(_name, 0440, counter_show, NULL), _kind, _which	\
	}
#define COUNTER(_name, _which)						\
	FILE_OF(of_queue, _name, OCF_JOB_SYMMETRIC, _which)
#define PK_COUNTER(_name, _which)					\
	FILE_OF(of_pk, _name, OCF_JOB_PUBLIC_KEY, _which)

COUNTER(operations, OPERATIONS);
COUNTER(bytes, BYTES);
COUNTER(errors, ERRORS);
COUNTER(replays, REPLAYS);
COUNTER(inflight, INFLIGHT);
COUNTER(waiting, WAITING);
COUNTER(backlog, BACKLOG);
COUNTER(blocks, BLOCKS);
COUNTER(spurious, SPURIOUS);
COUNTER(evictions, EVICTIONS);
COUNTER(full, FULL);

PK_COUNTER(operations, OPERATIONS);
PK_COUNTER(errors, ERRORS);
PK_COUNTER(replays, REPLAYS);
PK_COUNTER(inflight, INFLIGHT);
PK_COUNTER(waiting, WAITING);
PK_COUNTER(backlog, BACKLOG);

static struct attribute *counter_attrs[] = {
	&of_queue_operations.attr.attr,
	&of_queue_bytes.attr.attr,
	&of_queue_errors.attr.attr,
	&of_queue_replays.attr.attr,
	&of_queue_inflight.attr.attr,
	&of_queue_waiting.attr.attr,
	&of_queue_backlog.attr.attr,
	&of_queue_blocks.attr.attr,
	&of_queue_spurious.attr.attr,
	&of_queue_evictions.attr.attr,
	&of_queue_full.attr.attr,
	NULL
};

static const struct attribute_group counter_group = {
	.name = "counters",
	.attrs = counter_attrs,
};

static struct attribute *pk_counter_attrs[] = {
	&of_pk_operations.attr.attr,
	&of_pk_errors.attr.attr,
	&of_pk_replays.attr.attr,
	&of_pk_inflight.attr.attr,
	&of_pk_waiting.attr.attr,
	&of_pk_backlog.attr.attr,
	NULL
};

static umode_t pk_counter_visible(struct kobject *kobj, struct attribute *attr,
				  int n)
{
	return to_ocf(kobj_to_dev(kobj))->pk ? attr->mode :
					       SYSFS_GROUP_INVISIBLE;
}

static const struct attribute_group pk_counter_group = {
	.name = "public_key_counters",
	.attrs = pk_counter_attrs,
	.is_visible = pk_counter_visible,
};

static const struct attribute_group *ocf_device_groups[] = {
	&ocf_device_group,
	&counter_group,
	&pk_counter_group,
	NULL
};

const struct class ocf_class = {
	.name = "ocf",
	.dev_groups = ocf_device_groups,
};
