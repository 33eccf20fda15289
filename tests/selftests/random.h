/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random numbers that can be repeated.  A program prints its seed, and takes it
 * from OCF_SEED.  OCF_ROUNDS is the number of rounds, or, if it ends with %, a
 * percentage of the usual number.  Round n uses the seed plus n, so one round
 * can be repeated by its own seed and OCF_ROUNDS=1.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Defined by one file of each program. */
extern __thread uint64_t chance_state;

/* SplitMix64 (Steele, Lea and Flood, 2014) */
static inline uint64_t chance(void)
{
	uint64_t x = chance_state += 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static inline void chance_from(uint64_t seed)
{
	/*
	 * mixed once, because the numbers of the next seed would be those of
	 * this one, shifted
	 */
	chance_state = seed;
	chance_state = chance();
}

/* 0 to @n - 1 */
static inline uint32_t below(uint32_t n)
{
	return (chance() >> 32) * n >> 32;
}

static inline bool one_in(uint32_t n)
{
	return !below(n);
}

/*
 * Returns 0 to @max; values from 2 to 4 are as frequent as those from 2000 to
 * 4000.
 */
static inline uint32_t log_uniform(uint32_t max)
{
	uint32_t bits = 33 - (max ? __builtin_clz(max) : 32);
	uint32_t n = chance() & ((1ull << below(bits)) - 1);

	return n > max ? max : n;
}

static inline void fill_by_chance(void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len--)
		*p++ = chance() >> 56;
}

/* Returns the seed, and prints it, so that a failure can be repeated. */
static inline uint64_t seed_given(void)
{
	const char *given = getenv("OCF_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : 0;

	if (!given && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = 1;
	/* so that seed plus round does not overflow */
	seed &= given ? UINT64_MAX : UINT32_MAX;
	printf("# OCF_SEED=%llu\n", (unsigned long long)seed);
	fflush(stdout);
	return seed;
}

static inline int rounds_given(int usual)
{
	const char *given = getenv("OCF_ROUNDS");
	int n = given ? atoi(given) : usual;

	if (given && strchr(given, '%'))
		n = usual * n / 100;
	return n > 0 ? n : 1;
}

#endif /* RANDOM_H */
