/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/bench_floor: the least that a system call with the structure and the
 * data of CIOCCRYPT can cost.
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <crypto/cryptodev.h>

#define FLOOR_MAX	4096	/* bytes of data */

/* Does nothing. */
#define FLOOR_EMPTY	_IOWR('F', 0, struct crypt_op)
/*
 * Copies src to a kernel buffer and from there to dst, with copy_from_user()
 * and copy_to_user().
 */
#define FLOOR_COPY	_IOWR('F', 1, struct crypt_op)
/* The same as kernel/consumers/cdev/uaccess.h does it. */
#define FLOOR_RAW	_IOWR('F', 2, struct crypt_op)
/* One of the two copies only. */
#define FLOOR_COPY_IN	_IOWR('F', 3, struct crypt_op)
#define FLOOR_COPY_OUT	_IOWR('F', 4, struct crypt_op)
#define FLOOR_RAW_IN	_IOWR('F', 5, struct crypt_op)
#define FLOOR_RAW_OUT	_IOWR('F', 6, struct crypt_op)

#endif /* BENCH_FLOOR_H */
