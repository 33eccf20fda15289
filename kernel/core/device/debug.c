// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs.  Only root can read it, and it contains no key, IV or data.
 *
 *   ocf/sessions	a line for each session
 *   ocf/devices/NAME/	tables of a device, whose other files are in sysfs
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "../core.h"
#include "../pk/pk.h"

static struct dentry *dir, *devices_dir;

static int sessions_show(struct seq_file *m, void *unused)
{
	seq_puts(m, "# mode cipher mac operations bytes errors [from-ns:count ...]\n");
	ocf_sessions_show(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sessions);

/* ALGORITHM DIRECTION BASE-NS NS-PER-KIB */
static int cost_show(struct seq_file *m, void *unused)
{
	static const char * const ops[] = {
		[OCF_OP_ENCRYPT] = "encrypt", [OCF_OP_DECRYPT] = "decrypt",
	};
	struct ocf_device *dev = m->private;
	int alg, op;

	for_each_set_bit(alg, dev->info.algs, OCF_ALG_COUNT)
		for (op = 0; op < OCF_OP_COUNT; op++)
			seq_printf(m, "%s %s %u %u\n", ocf_alg_info(alg)->name,
				   ops[op],
				   READ_ONCE(dev->cost[alg][op].base),
				   READ_ONCE(dev->cost[alg][op].slope));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cost);

/* OPERATION BYTES NS, a line for each size whose cost was measured */
static int public_key_cost_show(struct seq_file *m, void *unused)
{
	ocf_pk_show_cost(m->private, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(public_key_cost);

/* FROM-NS COUNT, a line for each bucket that is not empty */
static void show_latencies(struct seq_file *m, enum ocf_job_kind kind)
{
	struct ocf_counters sum;
	int i;

	ocf_device_sum(m->private, kind, &sum);
	for (i = 0; i < OCF_HIST_BUCKETS; i++)
		if (sum.hist[i])
			seq_printf(m, "%lu %llu\n", BIT(i), sum.hist[i]);
}

static int latency_show(struct seq_file *m, void *unused)
{
	show_latencies(m, OCF_JOB_SYMMETRIC);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(latency);

static int public_key_latency_show(struct seq_file *m, void *unused)
{
	show_latencies(m, OCF_JOB_PUBLIC_KEY);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(public_key_latency);

/**
 * ocf_debug_add() - show the tables of a device
 * @dev: the device, which is not in sysfs yet
 *
 * Context: process; may sleep.
 */
void ocf_debug_add(struct ocf_device *dev)
{
	dev->debug = debugfs_create_dir(dev->name, devices_dir);
	debugfs_create_file("cost", 0400, dev->debug, dev, &cost_fops);
	debugfs_create_file("latency", 0400, dev->debug, dev, &latency_fops);
	if (!dev->pk)
		return;
	debugfs_create_file("public_key_cost", 0400, dev->debug, dev,
			    &public_key_cost_fops);
	debugfs_create_file("public_key_latency", 0400, dev->debug, dev,
			    &public_key_latency_fops);
}

/**
 * ocf_debug_remove() - show the tables of a device no longer
 * @dev: the device, not in sysfs any more.  No task reads its tables when this
 *	returns.
 *
 * Context: process; may sleep.
 */
void ocf_debug_remove(struct ocf_device *dev)
{
	debugfs_remove(dev->debug);
}

void ocf_debug_init(void)
{
	dir = debugfs_create_dir("ocf", NULL);
	devices_dir = debugfs_create_dir("devices", dir);
	debugfs_create_file("sessions", 0400, dir, NULL, &sessions_fops);
}

void ocf_debug_exit(void)
{
	debugfs_remove(dir);
}
