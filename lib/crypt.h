/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of libocf know of /dev/crypto.
 */
#ifndef LIB_CRYPT_H
#define LIB_CRYPT_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "ocf/crypt.h"

/**
 * struct ocf - /dev/crypto, opened
 * @fd: its descriptor
 * @dev: device of its node
 * @ino: inode of its node
 * @reaper: the process one of whose queues, without io_uring, has what OCF_REAP
 *	gives; 0 if there is none
 * @features: what the kernel has
 */
struct ocf {
	int			fd;
	dev_t			dev;
	ino_t			ino;
	_Atomic pid_t		reaper;
	struct ocf_features	features;
};

static inline uint64_t addr(const void *p)
{
	return (uintptr_t)p;
}

/* Whether @fd is a file with this inode: the program may have closed it. */
static inline bool is_file(int fd, dev_t dev, ino_t ino)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_dev == dev &&
	       st.st_ino == ino;
}

/* What this thread's last call has failed with, and what that is about */
extern _Thread_local struct last_error {
	int		err;
	uint32_t	field;
} last_error;

/* ioctl(), with -errno */
static inline int call(const struct ocf *ocf, unsigned long op, void *arg)
{
	int res = ioctl(ocf->fd, op, arg);

	last_error.field = OCF_FIELD_NONE;
	return res < 0 ? -errno : res;
}

#endif /* LIB_CRYPT_H */
