// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints how many kHz the time stamp counter of this host runs at.
 *
 * An emulated processor's counter is the host's.  The guest's kernel would
 * calibrate this counter against a timer at boot.  If the host stops the
 * processor in the middle of that, the guest's clock may run twenty times too
 * fast.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES	1000

struct sample {
	uint64_t ticks, ns;
};

/* A time and the counter, as close to each other as any of some tries */
static struct sample take_sample(void)
{
	struct sample s = { 0 };
	uint64_t before, took, least = UINT64_MAX;
	struct timespec t;
	int i;

	for (i = 0; i < TRIES; i++) {
		before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC_RAW, &t);
		took = __rdtsc() - before;
		if (took < least) {
			least = took;
			s.ticks = before + took / 2;
			s.ns = t.tv_sec * 1000000000ull + t.tv_nsec;
		}
	}
	return s;
}

int main(void)
{
	struct timespec t = { .tv_nsec = 50000000 };
	struct sample first = take_sample(), last;

	nanosleep(&t, NULL);
	last = take_sample();
	printf("%.0f\n", 1e6 * (last.ticks - first.ticks) /
			 (last.ns - first.ns));
	return 0;
}
