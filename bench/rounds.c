// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rounds.h"

void die(const char *what)
{
	perror(what);
	exit(1);
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(double *values, int n)
{
	qsort(values, n, sizeof(*values), by_size);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}
