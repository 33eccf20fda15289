// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chance, and the policies that the core's is compared with.
 */
#include <linux/int_log.h>
#include <linux/math64.h>

#include "bench_sched.h"

#define SPLIT_AT	2048	/* bytes; from here on it is large */
#define SIZE_STEP	64	/* bytes */

/* xorshift64* (Vigna 2016): the same numbers in every run */
static u32 random_u32(struct party *u)
{
	u64 x = u->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	u->random = x;
	return (x * 0x2545f4914f6cdd1dull) >> 32;
}

/* Exponential, of this mean: -ln(u) = (32 - log2(u * 2^32)) * ln(2) */
u64 random_ns(struct party *u, u32 mean)
{
	u64 log = (32ull << 24) - intlog2(random_u32(u) | 1);

	return mul_u64_u64_shr(log * mean, 2977044471ull, 32 + 24);
}

u32 random_session(struct party *u)
{
	return (u64)random_u32(u) * u->nsessions >> 32;
}

/* Uniform, in steps from the least to the most */
u32 random_size(struct party *u)
{
	u32 steps = (u->size_max - u->size_min) / SIZE_STEP + 1;

	return u->size_min + SIZE_STEP * ((u64)random_u32(u) * steps >> 32);
}

static int in_turn(struct party *u, int first, int n)
{
	return first + u->turn++ % n;
}

static int shortest(struct party *u)
{
	int i, n, first = u->turn++ % u->ncards, best = first;

	for (i = 1; i < u->ncards; i++) {
		n = (first + i) % u->ncards;
		if (u->queued[n] < u->queued[best])
			best = n;
	}
	return best;
}

/*
 * Returns the index in @u->card of the card for @s, or -1 if the core chooses
 */
int policy_card(struct party *u, const struct shot *s, u32 size)
{
	int half = u->ncards / 2;

	switch (u->policy) {
	case POLICY_RR:
		return in_turn(u, 0, u->ncards);
	case POLICY_FEWEST:
		return s->session % u->ncards;
	case POLICY_SPLIT:
		return size < SPLIT_AT ? in_turn(u, 0, half) :
					 in_turn(u, half, u->ncards - half);
	case POLICY_JSQ:
		return shortest(u);
	default:
		return -1;
	}
}
