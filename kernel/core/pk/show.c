// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device's public-key operations in sysfs and debugfs.
 */
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "pk.h"

/**
 * ocf_pk_show_cost() - operations, sizes and costs
 * @dev: the device
 * @m: gets a line for each size that was measured
 *
 * Context: process.
 */
void ocf_pk_show_cost(struct ocf_device *dev, struct seq_file *m)
{
	const struct ocf_pk_unit *unit = dev->pk;
	int code, i;
	u64 ns;

	for (code = 0; unit && code < OCF_PK_COUNT; code++) {
		if (!(READ_ONCE(unit->codes) & BIT(code)))
			continue;
		for (i = 0; i < OCF_PK_CLASSES; i++) {
			ns = READ_ONCE(unit->cost[code][i].ns);
			if (ns)
				seq_printf(m, "%s %u %llu\n",
					   ocf_pk_rows[code].name,
					   ocf_pk_class_bytes(i), ns);
		}
	}
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
