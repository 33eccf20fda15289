/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fault injection: the n-th allocation or copy of one call fails, for every n
 * (Linux' Documentation/fault-injection, "fail-nth").  On the debug kernel
 * only.
 */
#ifndef FAIL_H
#define FAIL_H

#include <sys/syscall.h>

#include "dev.h"

#define FAIL_DIR "/sys/kernel/debug/"

/* main() of such tests: calls @run() where the kernel can inject faults. */
static inline int fail_main(int argc, char **argv, int (*run)(int, char **))
{
	if (!*(getenv("OCF_DEBUG_KERNEL") ?: "")) {
		fprintf(stderr, "this is for the debug kernel\n");
		return 1;
	}
	return run(argc, argv);
}

/* Lets faults also hit allocations that may sleep.  Returns 0 or an errno. */
static inline int fail_setup(void)
{
	static const char *const files[][2] = {
		{ FAIL_DIR "failslab/ignore-gfp-wait", "N" },
		{ FAIL_DIR "fail_page_alloc/ignore-gfp-wait", "N" },
		{ FAIL_DIR "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ FAIL_DIR "fail_page_alloc/min-order", "0" },
		/* no stack trace for each fault */
		{ FAIL_DIR "failslab/verbose", "0" },
		{ FAIL_DIR "fail_page_alloc/verbose", "0" },
		{ FAIL_DIR "fail_usercopy/verbose", "0" },
	};
	int i, err = 0;

	for (i = 0; i < COUNT(files) && !err; i++)
		err = put_line(files[i][0], files[i][1]);
	return err;
}

static inline int fail_fd(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%ld/fail-nth",
		 syscall(SYS_gettid));
	return open(path, O_RDWR | O_CLOEXEC);
}

/*
 * Arms a fault: the @n-th place of this thread that can fail, counted from now
 * on, fails.  A fault that is left from before may fail the write here.
 */
static inline void fail_arm(int fd, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n), tries = 8;

	while (pwrite(fd, text, len, 0) < 0)
		if (!tries--)
			abort();
}

/*
 * Ends the injection.  Returns whether there was a fault.  A fault that is left
 * may fail the read here.
 */
static inline bool fail_disarm(int fd)
{
	char text[16] = "";
	bool hit = pread(fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);

	fail_arm(fd, 0);
	return hit;
}

/*
 * Prints the leaks of our modules that the kernel's leak detector finds.
 * Returns their number.  Only the second scan counts: at the first, objects may
 * be in flight.
 */
static inline int fail_leaks(void)
{
	char line[512];
	int leaks = 0;
	FILE *f;

	if (put_line(FAIL_DIR "kmemleak", "scan"))
		return -1;
	sleep(6);
	if (put_line(FAIL_DIR "kmemleak", "scan"))
		return -1;
	f = fopen(FAIL_DIR "kmemleak", "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		leaks += !!strstr(line, "[ocf");
		fputs(line, stderr);
	}
	fclose(f);
	return put_line(FAIL_DIR "kmemleak", "clear") ? -1 : leaks;
}

/*
 * Calls @call(@arg) with each fault in turn, until there is none left to
 * inject.  Returns the number of faults; put_user() and the like cannot be made
 * to fail.  Returns a negative number for an unexplained errno or a wrong
 * result.
 */
struct fail_case {
	int	(*call)(void *arg);	/* 0 or an errno */
	bool	(*right)(void *arg);	/* the result, after a success */
	void	(*undo)(void *arg);	/* after a success */
};

static inline int fail_sweep(const struct fail_case *c, void *arg)
{
	int fd = fail_fd(), n, err;
	bool hit;

	for (n = 1; n < 1000; n++) {
		fail_arm(fd, n);
		err = c->call(arg);
		hit = fail_disarm(fd);
		if (!err && !c->right(arg))
			break;
		if (!err && c->undo)
			c->undo(arg);
		if (err && (!hit || (err != ENOMEM && err != EFAULT))) {
			fprintf(stderr, "fault %d: errno %d\n", n, err);
			break;
		}
		if (!hit) {
			close(fd);
			return n - 1;
		}
	}
	close(fd);
	return -n;
}

#endif /* FAIL_H */
