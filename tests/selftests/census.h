/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A count of what the kernel holds, before and after a test: nothing may be
 * left behind.
 */
#ifndef CENSUS_H
#define CENSUS_H

#include "dev.h"

#include <glob.h>

#define SLACK_KIB	8192	/* what other tasks use meanwhile */

/**
 * struct census - counts
 * @files: references on the module of /dev/crypto: open files
 * @soft: references on the module of the software driver
 * @pinned: pages of users' that are pinned
 * @slab: KiB in the kernel's objects that cannot be reclaimed
 * @pages: KiB that no other field of /proc/meminfo accounts for
 */
struct census {
	long files, soft, pinned, slab, pages;
};

/*
 * Returns the number behind @name in a file of many lines; -1 if there is none.
 */
static inline long number_in(const char *path, const char *name)
{
	char line[256];
	long n = -1;
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			n = atol(line + strlen(name) + 1);
	if (f)
		fclose(f);
	return n;
}

static inline long kib(const char *name)
{
	return number_in("/proc/meminfo", name);
}

/* Returns the KiB of free pages that CPUs keep for themselves. */
static inline long kept_free(void)
{
	FILE *f = fopen("/proc/zoneinfo", "re");
	char line[256];
	long n, all = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %ld", &n) == 1)
			all += n;
	if (f)
		fclose(f);
	return all * (PAGE / 1024);
}

static inline struct census census_take(void)
{
	struct census c;

	/* add what each CPU has counted for itself */
	get_line("/proc/sys/vm/stat_refresh");
	c.files = atol(get_line("/sys/module/ocf_cdev/refcnt"));
	c.soft = atol(get_line("/sys/module/ocf_soft/refcnt"));
	c.pinned = number_in("/proc/vmstat", "nr_foll_pin_acquired") -
		   number_in("/proc/vmstat", "nr_foll_pin_released");
	c.slab = kib("SUnreclaim:");
	c.pages = kib("MemTotal:") - kib("MemFree:") - kib("Buffers:") -
		  kib("Cached:") - kib("AnonPages:") - kib("Slab:") -
		  kib("KernelStack:") - kib("PageTables:") - kib("Percpu:") -
		  kib("VmallocUsed:") - kept_free();
	return c;
}

static inline bool same_census(const struct census *a, const struct census *b)
{
	return a->files == b->files && a->soft == b->soft &&
	       a->pinned == b->pinned && b->slab - a->slab < SLACK_KIB &&
	       b->pages - a->pages < SLACK_KIB;
}

/*
 * Frees what the kernel keeps for later: on the debug kernel KASAN keeps freed
 * objects, up to 1/32 of all memory.
 */
static inline void shrink_slabs(void)
{
	glob_t found;
	size_t i;

	if (glob("/sys/kernel/slab/*/shrink", 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		if (put_line(found.gl_pathv[i], "1"))
			break;	/* give up; the counts will show what is left */
	globfree(&found);
}

/*
 * Waits for work in flight.  Returns whether all counts are as they were
 * @before.
 */
static inline bool census_is(const struct census *before)
{
	struct census now;
	int tries;

	for (tries = 0; tries < 3000; tries++) {
		now = census_take();
		if (same_census(before, &now))
			return true;
		if (tries % 100 == 10)
			shrink_slabs();
		usleep(100000);
	}
	printf("# files %ld, now %ld; soft %ld, %ld; pinned %ld, %ld; "
	       "slab %ld, %ld KiB; pages %ld, %ld KiB\n",
	       before->files, now.files, before->soft, now.soft,
	       before->pinned, now.pinned, before->slab, now.slab,
	       before->pages, now.pages);
	return false;
}

/*
 * Returns the counts that a test compares with.  This first waits until the
 * work of a killed process of the previous test has ended.  Otherwise its
 * pinned pages would be counted now, but not after this test.
 */
static inline struct census census_begin(void)
{
	struct census c = census_take();
	int tries;

	for (tries = 0; c.pinned && tries < 3000; tries++) {
		usleep(100000);
		c = census_take();
	}
	return c;
}

static inline void become(int uid)
{
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		abort();
}

/*
 * Opens a descriptor as user @uid.  The user's account exists at least until it
 * is closed.
 */
static inline int open_as(int uid)
{
	int fd;

	if (seteuid(uid))
		abort();
	fd = open_dev();
	if (seteuid(0))
		abort();
	return fd;
}

#endif /* CENSUS_H */
