// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults that the test machine must report, on demand: insmod ocf_fault.ko
 * what=NAME.  If the machine survives the fault, loading fails, so that the
 * next fault can be tried.
 */
#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/kfence.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

static char *what = "nothing";
module_param(what, charp, 0);
MODULE_PARM_DESC(what, "the name of a fault");

static void fault_warn(void)
{
	WARN(1, "ocf_fault: a warning\n");
}

static void fault_bug(void)
{
	BUG();
}

static void fault_oops(void)
{
	WRITE_ONCE(*(int *)NULL, 1);
}

static void fault_panic(void)
{
	panic("ocf_fault");
}

/* A task that waits for ever and cannot be killed. */
static void fault_hang(void)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
}

/* A CPU that does not schedule any more. */
static void fault_spin(void)
{
	preempt_disable();
	for (;;)
		cpu_relax();
}

static void spin_deaf(void *unused)
{
	local_irq_disable();
	for (;;)
		cpu_relax();
}

/* No CPU takes interrupts any more, so the kernel cannot report it. */
static void fault_lockup(void)
{
	on_each_cpu(spin_deaf, NULL, 0);
}

/* KFENCE watches one allocation in each sample interval. */
static void fault_kfence(void)
{
	unsigned long end = jiffies + 20 * HZ;
	char *p;

	while (time_before(jiffies, end)) {
		p = kmalloc(100, GFP_KERNEL);
		kfree(p);
		if (p && is_kfence_address(p)) {
			READ_ONCE(*p);
			return;
		}
		usleep_range(100, 200);
	}
	pr_info("ocf_fault: KFENCE is not there\n");
}

/* The kernel sees it at kfree(), if slab_debug has red zones. */
static void fault_overrun(void)
{
	char *p = kmalloc(64, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	p[64] = 1;
	kfree(p);
}

static const struct {
	const char *name;
	void (*run)(void);
} faults[] = {
	{ "warn", fault_warn },
	{ "bug", fault_bug },
	{ "oops", fault_oops },
	{ "panic", fault_panic },
	{ "hang", fault_hang },
	{ "spin", fault_spin },
	{ "lockup", fault_lockup },
	{ "kfence", fault_kfence },
	{ "overrun", fault_overrun },
};

static int __init ocf_fault_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (strcmp(faults[i].name, what))
			continue;
		faults[i].run();
		return -ECANCELED;
	}
	return -EINVAL;
}

module_init(ocf_fault_init);

MODULE_DESCRIPTION("OCF for Linux: faults for the test of the test machine");
MODULE_LICENSE("GPL");
