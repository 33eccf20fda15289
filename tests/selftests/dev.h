/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers of the selftests: /dev/crypto, test data, and parameters of modules.
 * The selftests run as root in the test machine and change its settings as they
 * like.
 */
#ifndef DEV_H
#define DEV_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "../../tools/lib/oracle.h"

#define DEVICE		"/dev/crypto"
#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))
#define PAGE		4096

/* The id of an ordinary user; the user need not exist */
#define SOMEBODY	12345
#define SOMEBODY_ELSE	12346

static inline int open_dev(void)
{
	return open(DEVICE, O_RDWR | O_CLOEXEC);
}

/* Returns a pointer in the form that the structures of calls have. */
static inline uint64_t addr(const void *p)
{
	return (uintptr_t)p;
}

/* Calls ioctl().  Returns 0 or the errno. */
static inline int call(int fd, unsigned long cmd, const void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? errno : 0;
}

/* Returns the time in seconds; changes of the clock do not affect it. */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Fills @buf with bytes that depend on the place and on the seed. */
static inline void fill(void *buf, size_t len, unsigned int seed)
{
	uint8_t *p = buf;
	uint64_t x = seed * 0x9e3779b97f4a7c15ull + 1;

	for (; len; len--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		*p++ = x >> 24;
	}
}

/* Returns whether all of @len bytes are @byte. */
static inline bool all_are(const void *buf, uint8_t byte, size_t len)
{
	const uint8_t *p = buf;

	while (len--)
		if (*p++ != byte)
			return false;
	return true;
}

/* Writes @text to a file of one line.  Returns 0 or an errno. */
__attribute__((warn_unused_result))
static inline int put_line(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

/*
 * Reads a file of one line.  Returns it without its newline; "" if there is no
 * such file.
 */
static inline const char *get_line(const char *path)
{
	static char line[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);

	if (fd >= 0)
		close(fd);
	line[n > 0 ? n : 0] = 0;
	line[strcspn(line, "\n")] = 0;
	return line;
}

static inline int allow_weak(const char *list)
{
	return put_line("/sys/module/ocf/parameters/allow_weak", list);
}

static inline int set_cdev(const char *parameter, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/ocf_cdev/parameters/%s",
		 parameter);
	return put_line(path, value);
}

/*
 * Maps @pages of memory with an unmapped page behind them.  Returns NULL if
 * that fails.
 */
static inline uint8_t *fenced(int pages)
{
	size_t size = (size_t)pages * PAGE;
	uint8_t *p = mmap(NULL, size + PAGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p, size, PROT_READ | PROT_WRITE))
		return NULL;
	return p;
}

/* Returns how many descriptors are open, so that a test can find a leak. */
static inline int open_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

#endif /* DEV_H */
