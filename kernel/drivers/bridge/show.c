// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device's files, in /sys/class/ocf/bridgeN/device.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "bridge.h"

static struct bridge *bridge_at(struct device *d)
{
	return dev_get_drvdata(d);
}

static ssize_t module_show(struct device *d, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n", bridge_at(d)->family->module);
}
static DEVICE_ATTR_RO(module);

/* ALGORITHM NAME, a line each */
static ssize_t implementations_show(struct device *d,
				    struct device_attribute *attr, char *buf)
{
	const struct bridge_family *family = bridge_at(d)->family;
	const char *name;
	int alg, n = 0;

	for (alg = 1; alg < ALGS; alg++) {
		if (!family->driver[alg][0])
			continue;
		name = alg < PK_FIRST ? ocf_alg_info(alg)->name :
					pk_rows[alg - PK_FIRST].name;
		n += sysfs_emit_at(buf, n, "%s %s\n", name,
				   family->driver[alg]);
	}
	return n;
}
static DEVICE_ATTR_RO(implementations);

#define COUNTER(name_, value)						\
static ssize_t name_##_show(struct device *d,				\
			    struct device_attribute *attr, char *buf)	\
{									\
	struct bridge *b = bridge_at(d);				\
									\
	return sysfs_emit(buf, "%u\n", value);				\
}									\
static OCF_ATTR_PRIVATE(name_)

COUNTER(out, READ_ONCE(b->out));
COUNTER(detached, READ_ONCE(b->detached));
COUNTER(late, atomic_read(&b->late));
COUNTER(spurious, atomic_read(&b->spurious));
COUNTER(refused, atomic_read(&b->refused));
COUNTER(at_once, atomic_read(&b->at_once));

static struct attribute *bridge_attrs[] = {
	&dev_attr_module.attr,
	&dev_attr_implementations.attr,
	&dev_attr_out.attr,
	&dev_attr_detached.attr,
	&dev_attr_late.attr,
	&dev_attr_spurious.attr,
	&dev_attr_refused.attr,
	&dev_attr_at_once.attr,
	NULL
};

static const struct attribute_group bridge_group = { .attrs = bridge_attrs };

const struct attribute_group *bridge_groups[] = {
	&bridge_group,
	NULL
};
