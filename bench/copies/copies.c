// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts what a process has the kernel do: copies from and to user memory, and
 * the system calls that send files.
 *
 *	echo PID > /sys/kernel/debug/bench_copies	begins
 *	cat /sys/kernel/debug/bench_copies		NAME CALLS BYTES
 *
 * On a processor without ERMS, as under --icount, all copies come through one
 * routine.  Copies of less than SMALL bytes are taken for system-call arguments
 * and not counted.  Copies by an iterator are counted separately as well: an
 * iterator may also be over pages that the kernel already holds.
 */
#include <linux/debugfs.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#define SMALL	512

enum kind { CALL, COPY, ITER };

static struct counter {
	struct kprobe	probe;
	const char	*name;
	enum kind	kind;
	atomic64_t	calls, bytes;
} counters[] = {
	{ .name = "copy", .probe.symbol_name = "rep_movs_alternative",
	  .kind = COPY },
	{ .name = "iter", .probe.symbol_name = "_copy_from_iter",
	  .kind = ITER },
	{ .name = "iter", .probe.symbol_name = "_copy_to_iter", .kind = ITER },
	{ .name = "read", .probe.symbol_name = "__x64_sys_pread64" },
	{ .name = "write", .probe.symbol_name = "__x64_sys_write" },
	{ .name = "ioctl", .probe.symbol_name = "__x64_sys_ioctl" },
	{ .name = "sendfile", .probe.symbol_name = "__x64_sys_sendfile64" },
};

static struct kprobe *probes[ARRAY_SIZE(counters)];
static struct dentry *file;
static pid_t whose;

static int hit(struct kprobe *p, struct pt_regs *regs)
{
	struct counter *c = container_of(p, struct counter, probe);

	/*
	 * the second argument's register for ITER; the copying routine of COPY
	 * has its length in cx
	 */
	long bytes = c->kind == COPY ? regs->cx :
		     c->kind == ITER ? regs->si : SMALL;

	if (current->tgid != READ_ONCE(whose) || bytes < SMALL)
		return 0;
	atomic64_inc(&c->calls);
	if (c->kind != CALL)
		atomic64_add(bytes, &c->bytes);
	return 0;
}

static int show(struct seq_file *m, void *unused)
{
	int i;

	WRITE_ONCE(whose, 0);
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		seq_printf(m, "%s %lld %lld\n", counters[i].name,
			   atomic64_read(&counters[i].calls),
			   atomic64_read(&counters[i].bytes));
	return 0;
}

static int open(struct inode *inode, struct file *f)
{
	return single_open(f, show, NULL);
}

static ssize_t begin(struct file *f, const char __user *text, size_t len,
		     loff_t *pos)
{
	int i, pid, err = kstrtoint_from_user(text, len, 0, &pid);

	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		atomic64_set(&counters[i].calls, 0);
		atomic64_set(&counters[i].bytes, 0);
	}
	WRITE_ONCE(whose, pid);
	return len;
}

static const struct file_operations fops = {
	.owner		= THIS_MODULE,
	.open		= open,
	.read		= seq_read,
	.write		= begin,
	.release	= single_release,
};

static int __init bench_copies_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		counters[i].probe.pre_handler = hit;
		probes[i] = &counters[i].probe;
	}
	err = register_kprobes(probes, ARRAY_SIZE(probes));
	if (err)
		return err;
	file = debugfs_create_file("bench_copies", 0600, NULL, NULL, &fops);
	return 0;
}

static void __exit bench_copies_exit(void)
{
	debugfs_remove(file);
	unregister_kprobes(probes, ARRAY_SIZE(probes));
}

module_init(bench_copies_init);
module_exit(bench_copies_exit);
MODULE_DESCRIPTION("Counts copies from and to user memory");
MODULE_LICENSE("GPL");
