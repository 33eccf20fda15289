/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For programs that measure in rounds.
 */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include <stdint.h>

/* Ends the program, with what errno says of @what. */
void die(const char *what);

/* CLOCK_MONOTONIC, ns */
uint64_t now_ns(void);

/* Sorts @n values, and returns their median. */
double median(double *values, int n);

#endif /* BENCH_ROUNDS_H */
