// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device's public-key operations in sysfs.
 */
#include <linux/sysfs.h>

#include "pk.h"

/**
 * ocf_pk_show() - operations, sizes and costs
 * @dev: the device
 * @buf: a page
 *
 * Context: process.
 * Return: bytes.
 */
int ocf_pk_show(struct ocf_device *dev, char *buf)
{
	struct ocf_pk_unit *unit = dev->pk;
	int code, i, n = 0;
	u64 ns;

	for (code = 0; unit && code < OCF_PK_COUNT; code++) {
		if (!(READ_ONCE(unit->codes) & BIT(code)))
			continue;
		for (i = 0; i < OCF_PK_CLASSES && n < PAGE_SIZE - 64; i++) {
			ns = READ_ONCE(unit->cost[code][i].ns);
			if (ns)
				n += sysfs_emit_at(buf, n, "%s %u %llu\n",
						   ocf_pk_rows[code].name,
						   ocf_pk_class_bytes(i),
						   ns);
		}
	}
	return n;
}

/**
 * ocf_pk_show_names() - operations
 * @dev: the device
 * @buf: a page
 *
 * Context: process.
 * Return: bytes.
 */
int ocf_pk_show_names(struct ocf_device *dev, char *buf)
{
	struct ocf_pk_unit *unit = dev->pk;
	int code, n = 0;

	for (code = 0; unit && code < OCF_PK_COUNT; code++)
		if (READ_ONCE(unit->codes) & BIT(code))
			n += sysfs_emit_at(buf, n, "%s\n",
					   ocf_pk_rows[code].name);
	return n;
}

/**
 * ocf_pk_show_counters() - how many requests ended, failed, moved and wait
 * @dev: the device
 * @buf: a page
 * @at: offset in @buf
 *
 * Context: process.
 * Return: bytes.
 */
int ocf_pk_show_counters(struct ocf_device *dev, char *buf, int at)
{
	struct ocf_pk_unit *unit = dev->pk;
	struct ocf_counters sum;

	if (!unit)
		return 0;
	ocf_device_sum(dev, OCF_JOB_PUBLIC_KEY, &sum);
	return sysfs_emit_at(buf, at, "pk_operations %llu\npk_errors %llu\n"
			     "pk_replays %llu\npk_inflight %u\n"
			     "pk_waiting %u\n", sum.ops, sum.errors,
			     sum.replays, READ_ONCE(unit->count),
			     READ_ONCE(unit->queued));
}
