/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The native interface: a cipher over 64 bytes, many times at once.
 */
#ifndef BENCH_NATIVE_H
#define BENCH_NATIVE_H

#include <stdbool.h>
#include <stddef.h>

#define NATIVE_MANY	32	/* commands at a time */

/* Return whether it worked. */
bool native_begin(const char *cipher, size_t keylen);
bool native_end(void);
bool native_vector(void);	/* OCF_RUN, once */
bool native_uring(void);	/* one entry of io_uring each */

#endif /* BENCH_NATIVE_H */
