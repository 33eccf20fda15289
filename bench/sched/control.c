// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files in debugfs by which load is asked for, a command a write:
 *
 *	user NAME=VALUE...	one more user, see options[]
 *	run WARM_US US		all of them work
 *	reset			there are no users any more
 *
 * Reading "result" waits for the end of the run.  "idle_us" is the idle time of
 * all CPUs so far.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "bench_sched.h"

#define GRACE_MS	2000	/* for the last requests */

static DEFINE_MUTEX(mutex);
static struct dentry *dir;
static bool started;

static const char * const policy_names[POLICY_COUNT] = {
	[POLICY_CORE]	= "core",
	[POLICY_RR]	= "rr",
	[POLICY_FEWEST]	= "fewest",
	[POLICY_SPLIT]	= "split",
	[POLICY_JSQ]	= "jsq",
};

static const struct {
	const char	*name;
	size_t		offset;
	u32		min, max;
} options[] = {
	{ "owner", offsetof(struct party, owner), 0, U32_MAX },
	{ "sessions", offsetof(struct party, nsessions), 1, 1024 },
	{ "inflight", offsetof(struct party, inflight), 0, POOL_MAX },
	{ "gap", offsetof(struct party, gap), 100, NSEC_PER_SEC },
	{ "min", offsetof(struct party, size_min), 1, SIZE_MAX_BYTES },
	{ "max", offsetof(struct party, size_max), 1, SIZE_MAX_BYTES },
	{ "pool", offsetof(struct party, pool), 1, POOL_MAX },
};

/* "0,1,2": numbers of devices */
static int parse_cards(struct party *u, char *list)
{
	char *w;
	int err;

	while ((w = strsep(&list, ","))) {
		if (u->ncards == CARDS_MAX)
			return -EINVAL;
		err = kstrtou32(w, 10, &u->card[u->ncards++]);
		if (err)
			return err;
	}
	return 0;
}

static int parse_option(struct party *u, char *name)
{
	char *value = strchr(name, '=');
	int i, err;
	u32 n;

	if (!value)
		return -EINVAL;
	*value++ = 0;
	if (!strcmp(name, "cards"))
		return parse_cards(u, value);
	if (!strcmp(name, "policy")) {
		i = match_string(policy_names, POLICY_COUNT, value);
		u->policy = max(i, 0);
		return min(i, 0);
	}
	err = kstrtou32(value, 10, &n);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (strcmp(name, options[i].name))
			continue;
		if (n < options[i].min || n > options[i].max)
			return -EINVAL;
		*(u32 *)((u8 *)u + options[i].offset) = n;
		return 0;
	}
	return -EINVAL;
}

static bool makes_sense(const struct party *u)
{
	return u->size_min <= u->size_max && u->inflight <= u->pool &&
	       (u->inflight || u->gap) &&
	       (u->policy == POLICY_CORE || u->ncards) &&
	       (u->policy != POLICY_SPLIT || u->ncards > 1);
}

static int add_user(char *text)
{
	struct party *u = &run.users[run.nusers];
	char *w;
	int err = 0;

	if (run.nusers == USERS_MAX)
		return -ENOSPC;
	*u = (struct party){
		.nsessions = 1, .pool = 1024, .size_min = 1024,
		.size_max = 1024,
		.random = 0x9e3779b97f4a7c15ull * (run.nusers + 1),
	};
	while (!err && (w = strsep(&text, " ")))
		err = parse_option(u, w);
	if (!err && !makes_sense(u))
		err = -EINVAL;
	err = err ?: load_open(u);
	if (err)
		load_close(u);
	else
		run.nusers++;
	return err;
}

static int settle(void)
{
	int ms;

	while (started && !READ_ONCE(run.stopping))
		if (msleep_interruptible(10))
			return -EINTR;
	for (ms = 0; started && !load_ended(); ms += 20) {
		if (ms >= GRACE_MS)
			return -ETIMEDOUT;
		msleep(20);
	}
	return 0;
}

static int reset(void)
{
	int err = settle();

	/* a card still has requests: do not free the memory that they use */
	if (err)
		return err;
	while (run.nusers)
		load_close(&run.users[--run.nusers]);
	started = false;
	return 0;
}

static int start(char *text)
{
	u32 warm, us;

	if (sscanf(text, "%u %u", &warm, &us) != 2 || !run.nusers || started)
		return -EINVAL;
	started = true;
	load_start((u64)warm * NSEC_PER_USEC, (u64)us * NSEC_PER_USEC);
	return 0;
}

static ssize_t control_write(struct file *file, const char __user *buf,
			     size_t n, loff_t *off)
{
	char *text = memdup_user_nul(buf, n), *rest, *name;
	int err = -EINVAL;

	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = strim(text);
	name = strsep(&rest, " ");
	mutex_lock(&mutex);
	if (!strcmp(name, "user") && rest && !started)
		err = add_user(rest);
	else if (!strcmp(name, "run") && rest)
		err = start(rest);
	else if (!strcmp(name, "reset"))
		err = reset();
	mutex_unlock(&mutex);
	kfree(text);
	return err ?: n;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.write = control_write,
	.llseek = noop_llseek,
};

/* One object of JSON. */
static int result_show(struct seq_file *m, void *unused)
{
	u32 i;
	int err;

	mutex_lock(&mutex);
	err = started ? settle() : -ENODATA;
	if (err)
		goto unlock;
	seq_printf(m, "{\"ns\": %llu, \"idle_ns\": %llu, \"ticks\": %lld, ",
		   run.end - run.begin, run.idle_us * NSEC_PER_USEC,
		   atomic64_read(&run.ticks));
	seq_puts(m, "\"users\": [");
	for (i = 0; i < run.nusers; i++) {
		seq_puts(m, i ? ", " : "");
		stats_show(m, &run.users[i]);
	}
	seq_puts(m, "]}\n");
unlock:
	mutex_unlock(&mutex);
	return err;
}
DEFINE_SHOW_ATTRIBUTE(result);

static int idle_us_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%llu\n", load_idle_us());
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(idle_us);

static int __init bench_init(void)
{
	int err = load_init();

	if (err)
		return err;
	dir = debugfs_create_dir("bench_sched", NULL);
	debugfs_create_file("control", 0200, dir, NULL, &control_fops);
	debugfs_create_file("result", 0400, dir, NULL, &result_fops);
	debugfs_create_file("idle_us", 0400, dir, NULL, &idle_us_fops);
	return 0;
}

static void __exit bench_exit(void)
{
	debugfs_remove(dir);
	while (reset())
		;
	load_exit();
}

module_init(bench_init);
module_exit(bench_exit);

OCF_IMPORT();
MODULE_DESCRIPTION("OCF for Linux: load, to measure the choice of cards with");
MODULE_LICENSE("GPL");
