// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints the least time of many rounds of getpid(), in ticks of the processor.
 * Where time is the number of instructions it is the same at every run.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#define ROUNDS	64
#define CALLS	100

int main(void)
{
	uint64_t begun, took, least = UINT64_MAX;
	int i, j;

	for (i = 0; i < ROUNDS; i++) {
		begun = __rdtsc();
		for (j = 0; j < CALLS; j++)
			syscall(SYS_getpid);
		took = __rdtsc() - begun;
		if (took < least)
			least = took;
	}
	printf("%lu\n", (unsigned long)least);
	return 0;
}
