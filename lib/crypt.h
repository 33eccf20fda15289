/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of libocf share about /dev/crypto.
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
 * struct ocf - an open /dev/crypto
 * @fd: its descriptor
 * @dev: device number of its node
 * @ino: inode number of its node
 * @reaper: the process that has a queue without io_uring, which gets all
 *	results of OCF_REAP; 0 if there is none
 * @features: the features of the kernel's module
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

/*
 * Whether @fd is still a file with this inode: the program may have closed it.
 */
static inline bool is_file(int fd, dev_t dev, ino_t ino)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_dev == dev &&
	       st.st_ino == ino;
}

/* The error of this thread's last call, and the parameter that it is about */
extern _Thread_local struct last_error {
	int		err;
	uint32_t	field;
} last_error;

/* Notes @err and the field that caused it for ocf_strerror().  Returns @err. */
static inline int crypt_remember(int err, uint32_t field)
{
	last_error.err = -err;
	last_error.field = err ? field : OCF_FIELD_NONE;
	return err;
}

/*
 * Forgets the parameter that the last error was about: for this thread's next
 * error none is known.
 */
static inline void forget_field(void)
{
	last_error.field = OCF_FIELD_NONE;
}

/* ioctl(), with -errno */
static inline int call(const struct ocf *ocf, unsigned long op, void *arg)
{
	int res = ioctl(ocf->fd, op, arg);

	forget_field();
	return res < 0 ? -errno : res;
}

#endif /* LIB_CRYPT_H */
