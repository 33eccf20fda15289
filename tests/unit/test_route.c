// SPDX-License-Identifier: BSD-2-Clause
/*
 * Costs and choices: estimates converge to the true cost from any start and
 * with noise, and never overflow; the choice is the candidate with the least
 * cost.
 */
#include <kselftest_harness.h>
#include <math.h>
#include <pthread.h>

#include "../../kernel/core/sched/cost.h"

TEST(a_cost_is_a_line)
{
	struct ocf_cost c = { .base = 1000, .slope = 2048 };

	EXPECT_EQ(1000, ocf_cost_ns(&c, 0));
	EXPECT_EQ(1002, ocf_cost_ns(&c, 1));
	EXPECT_EQ(1000 + 2048, ocf_cost_ns(&c, 1024));
	c.base = c.slope = U32_MAX;
	EXPECT_EQ(U32_MAX + ((u64)U32_MAX * U32_MAX >> 10),
		  ocf_cost_ns(&c, U32_MAX));
}

TEST(a_fit_goes_through_both_points)
{
	struct ocf_cost c = ocf_cost_fit(64, 2064, 4096, 6096);

	EXPECT_EQ(2000, c.base);
	EXPECT_EQ(1024, c.slope);
	EXPECT_EQ(2064, ocf_cost_ns(&c, 64));
	EXPECT_EQ(6096, ocf_cost_ns(&c, 4096));
}

TEST(a_fit_of_noise_is_level)
{
	struct ocf_cost c = ocf_cost_fit(64, 5000, 4096, 4000);

	EXPECT_EQ(5000, c.base);
	EXPECT_EQ(0, c.slope);
	/* all of the time is slope; the base is never negative */
	c = ocf_cost_fit(64, 10, 4096, 4000000);
	EXPECT_EQ(0, c.base);
	c = ocf_cost_fit(1, U64_MAX >> 11, 2, U64_MAX >> 10);
	EXPECT_EQ(U32_MAX, c.slope);
	c = ocf_cost_fit(64, 1ull << 40, 4096, 1ull << 40);
	EXPECT_EQ(U32_MAX, c.base);
}

static u64 truth(u32 base, u32 slope, u32 bytes)
{
	return base + ((u64)slope * bytes >> 10);
}

static double off(const struct ocf_cost *c, u32 base, u32 slope, u32 bytes)
{
	double is = ocf_cost_ns(c, bytes), should = truth(base, slope, bytes);

	return is > should ? is / should - 1 : should / is - 1;
}

/*
 * Checks that after @n samples of @sizes the estimate is near the truth for
 * each size.
 */
static void learns(struct __test_metadata *_metadata, struct ocf_cost c,
		   u32 base, u32 slope, const u32 *sizes, int nsizes, int n,
		   double within)
{
	unsigned int seed = 1;
	int i;

	for (i = 0; i < n; i++) {
		u32 bytes = sizes[(rand_r(&seed) >> 8) % nsizes];
		u64 ns = truth(base, slope, bytes);

		/* 10 % of noise, and one sample in fifty takes far too long */
		ns = ns * (950 + (rand_r(&seed) >> 8) % 100) / 1000;
		if (!((rand_r(&seed) >> 8) % 50))
			ns *= 3;
		ocf_cost_correct(&c, bytes, ns, 8);
	}
	for (i = 0; i < nsizes; i++) {
		EXPECT_LT(off(&c, base, slope, sizes[i]), within)
			TH_LOG("%u bytes: %llu for %llu (%u + %u/KiB)",
			       sizes[i],
			       (unsigned long long)ocf_cost_ns(&c, sizes[i]),
			       (unsigned long long)truth(base, slope, sizes[i]),
			       c.base, c.slope);
	}
}

TEST(estimates_come_to_what_is_true)
{
	static const u32 mixed[] = { 64, 256, 1024, 4096, 16384 };
	static const u32 one[] = { 1500 };
	static const u32 small[] = { 16 };
	static const u32 large[] = { 65536, 131072 };
	struct ocf_cost unknown = OCF_COST_UNKNOWN;

	learns(_metadata, unknown, 2000, 1024, mixed, 5, 4000, 0.35);
	learns(_metadata, unknown, 20000, 100, mixed, 5, 4000, 0.35);
	learns(_metadata, unknown, 500, 20000, mixed, 5, 4000, 0.35);
	learns(_metadata, unknown, 3000, 1000, one, 1, 200, 0.35);
	learns(_metadata, unknown, 300, 1000, small, 1, 200, 0.35);
	learns(_metadata, unknown, 3000, 500, large, 2, 5000, 0.35);
	/* the device was twice as fast before */
	learns(_metadata, (struct ocf_cost){ 2000, 1000 }, 16000, 8000, one, 1,
	       100, 0.35);
	learns(_metadata, (struct ocf_cost){ 16000, 8000 }, 2000, 1000, one, 1,
	       100, 0.35);
}

/* A device got a request while it worked on others. */
static void busy(struct ocf_cost *c, u32 *lag, u32 bytes, u64 gap)
{
	struct ocf_sample s = { .latency = gap + *lag + 1, .gap = gap };

	ocf_cost_learn(c, NULL, lag, bytes, &s);
}

/* A device got a request after it had been idle for @since ns. */
static void alone_after(struct ocf_cost *c, u32 *lag, u32 bytes, u64 ns,
			u64 since)
{
	struct ocf_sample s = { .latency = ns, .gap = ns + since };

	ocf_cost_learn(c, NULL, lag, bytes, &s);
}

static void alone(struct ocf_cost *c, u32 *lag, u32 bytes, u64 ns)
{
	alone_after(c, lag, bytes, ns, 0);
}

static void alone_at_last(struct ocf_cost *c, u32 *lag, u32 bytes, u64 ns)
{
	alone_after(c, lag, bytes, ns, OCF_STALE_NS + 1);
}

/* Single large requests of a device of which the core knows little */
TEST(large_ones_settle)
{
	static const u32 mib[] = { 1, 4, 5, 6, 10, 16, 64, 1024 };
	struct ocf_cost c;
	u32 lag, n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mib); i++) {
		c = (struct ocf_cost){ .base = 2000, .slope = 950 };
		lag = 0;
		for (n = 0; n < 20; n++) {
			alone_at_last(&c, &lag, mib[i] << 20,
				      ((u64)mib[i] << 20) * 1000 >> 10);
			EXPECT_LT(900, c.slope);
			EXPECT_GT(1100, c.slope);
		}
	}
}

/* The undefined-behaviour sanitizer finds overflows. */
TEST(nothing_overflows)
{
	static const u64 ns[] = { 0, 1, 1000, U32_MAX, 1ull << 40, U64_MAX };
	static const u32 bytes[] = { 0, 1, 64, 16384, 32u << 20, U32_MAX };
	struct ocf_cost start[] = { { 0, 0 }, { U32_MAX, U32_MAX },
				    { 1, U32_MAX }, { U32_MAX, 1 },
				    OCF_COST_UNKNOWN };
	size_t i, j, k;
	u32 lag;
	int n;

	for (i = 0; i < ARRAY_SIZE(start); i++)
		for (j = 0; j < ARRAY_SIZE(bytes); j++)
			for (k = 0; k < ARRAY_SIZE(ns); k++) {
				struct ocf_cost c = start[i], d = c;

				lag = 5;
				for (n = 0; n < 100; n++) {
					struct ocf_sample s = {
						.latency = ns[k],
						.gap = ns[(k + n) %
							  ARRAY_SIZE(ns)],
					};

					ocf_cost_correct(&c, bytes[j], ns[k],
							 n % 8 + 1);
					ocf_cost_learn(&c, n % 3 ? &d : NULL,
						       &lag, bytes[j], &s);
				}
			}
	EXPECT_EQ(1, 1);
}

TEST(the_least_time_to_the_end_wins)
{
	struct ocf_candidate c[OCF_CANDIDATES] = {
		{ .service = 100, .load = 50 },
		{ .service = 20, .load = 100 },
		{ .service = 10, .load = 139 },
	};

	EXPECT_EQ(1, ocf_candidate_pick(c, 3));
	c[1].load = 130;
	EXPECT_EQ(2, ocf_candidate_pick(c, 3));
	c[2].load = 140;
	/* the first of two equals wins, because software needs no hand-over */
	EXPECT_EQ(0, ocf_candidate_pick(c, 3));
	EXPECT_EQ(0, ocf_candidate_pick(c, 1));
}

TEST(the_choice_is_the_least_of_random_ones)
{
	unsigned int seed = 1;
	int i, j, n, best;

	for (i = 0; i < 100000; i++) {
		struct ocf_candidate c[OCF_CANDIDATES] = {};

		n = 1 + rand_r(&seed) % OCF_CANDIDATES;
		for (j = 0; j < n; j++) {
			c[j].service = rand_r(&seed) % 8;
			c[j].load = rand_r(&seed) % 8;
		}
		best = ocf_candidate_pick(c, n);
		for (j = 0; j < n; j++) {
			u64 b = c[best].service + c[best].load;
			u64 o = c[j].service + c[j].load;

			ASSERT_TRUE(b < o || (b == o && best <= j));
		}
	}
}

/* A card that already has the keys loses only against a clearly better one. */
TEST(where_the_keys_are_is_preferred)
{
	struct ocf_candidate c[2] = {
		{ .service = 990 }, { .service = 1000, .preferred = true },
	};

	EXPECT_EQ(1, ocf_candidate_pick(c, 2));
	c[0].service = 900;
	EXPECT_EQ(0, ocf_candidate_pick(c, 2));
	/* the lag counts */
	c[0].lag = 100;
	EXPECT_EQ(1, ocf_candidate_pick(c, 2));
}

/* Returns when @n requests, submitted one after the other, are all done. */
static double last_done(int n, u64 cpu, u64 card, u64 lag)
{
	double now = 0, card_free = 0, card_done = 0;

	for (; n; n--) {
		struct ocf_candidate c[2] = {
			{ .service = cpu,
			  .load = ocf_delay_of_others(cpu, n - 1) },
			{ .service = card, .lag = lag,
			  .load = card_free > now ? card_free - now : 0 },
		};

		if (!ocf_candidate_pick(c, 2)) {
			now += cpu;
			continue;
		}
		card_free = (card_free > now ? card_free : now) + card;
		card_done = card_free + lag;
	}
	return card_done > now ? card_done : now;
}

/* Returns the same for the best of all divisions. */
static double best_division(int n, u64 cpu, u64 card, u64 lag)
{
	double best = (double)n * cpu, t;
	int i;

	for (i = 1; i <= n; i++) {
		t = fmax((double)i * card + lag, (double)(n - i) * cpu);
		best = fmin(best, t);
	}
	return best;
}

/*
 * A task that waits for all requests waits little longer than with the best
 * division.
 */
TEST(those_behind_are_not_held_up)
{
	static const u64 ns[] = { 300, 1000, 20000, 220000, 1000000 };
	int n, i, j, k;
	u64 most;

	for (n = 1; n <= 256; n *= 2)
		for (i = 0; i < 5; i++)
			for (j = 0; j < 5; j++)
				for (k = 0; k < 5; k++) {
					most = fmin(ns[i], ns[j]);
					EXPECT_LE(last_done(n, ns[i], ns[j],
							    ns[k]),
						  best_division(n, ns[i], ns[j],
								ns[k]) + most);
				}
	/* a single request, as before */
	EXPECT_EQ(1000, last_done(1, 1000, 300, 20000));
	/*
	 * 32 requests of 220 us, and a card of 75 us that answers 900 us later
	 */
	EXPECT_GT(32 * 220000 / 2, last_done(32, 220000, 75000, 900000));
}

/*
 * A card takes 2 us and 1 ns a byte, and its completions come 10 us later.  It
 * was measured with one request at a time, so that the lag looks like work.
 */
TEST(the_lag_is_told_from_the_work)
{
	struct ocf_cost c = { .base = 12000, .slope = 1024 };
	unsigned int seed = 1;
	u32 lag = 0, bytes;
	int i;

	for (i = 0; i < 2000; i++) {
		bytes = 64 << (rand_r(&seed) >> 8) % 9;
		if (i % 10)
			busy(&c, &lag, bytes, 2000 + bytes);
		else
			alone(&c, &lag, bytes, 12000 + bytes);
	}
	EXPECT_LT(8000, lag);
	EXPECT_GT(12000, lag);
	EXPECT_LT(off(&c, 2000, 1024, 64), 0.5);
	EXPECT_LT(off(&c, 2000, 1024, 16384), 0.1);
	/* the sum is right, however it is divided */
	EXPECT_LT(11000, ocf_cost_ns(&c, 64) + lag);
	EXPECT_GT(13000, ocf_cost_ns(&c, 64) + lag);
}

/*
 * A single late sample, as if the host was busy, changes the estimate by a
 * quarter at most.
 */
TEST(one_outlier_is_a_quarter_more)
{
	u32 sizes[] = { 64, 4096, 32768, 65536 };
	struct ocf_cost c;
	unsigned int i;
	u32 lag = 0;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		c = (struct ocf_cost){ .base = 50000, .slope = 5000 };
		u64 said = ocf_cost_ns(&c, sizes[i]);

		alone_at_last(&c, &lag, sizes[i], 100000000);
		EXPECT_GE(said + said / 4 + 2, ocf_cost_ns(&c, sizes[i]));
		/* but two or more late samples count */
		alone_at_last(&c, &lag, sizes[i], 100000000);
		EXPECT_LE(said + said / 2, ocf_cost_ns(&c, sizes[i]));
		for (int n = 0; n < 20; n++)
			alone(&c, &lag, sizes[i], 8 * said);
		EXPECT_LE(6 * said, ocf_cost_ns(&c, sizes[i]));
	}
}

/* The time of a single request is known, and stays right for each size. */
TEST(the_sum_of_work_and_lag_is_kept)
{
	u32 sizes[] = { 16, 1024, 8192, 16384, 65536 };
	struct ocf_cost c;
	unsigned int i;
	u32 lag;
	int n;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		c = (struct ocf_cost){ .base = 40000, .slope = 1024 };
		lag = 0;
		for (n = 0; n < 200; n++)
			busy(&c, &lag, sizes[i], 20000 + sizes[i]);
		EXPECT_EQ(40000 + sizes[i], ocf_cost_ns(&c, sizes[i]) + lag);
		EXPECT_GE(600, labs((long)lag - 20000));
	}
}

TEST(what_is_stale_is_forgotten)
{
	struct ocf_cost c = { .base = 80000, .slope = 8192 };
	u32 lag = 0;

	alone_at_last(&c, &lag, 4096, 14000);
	EXPECT_LT(ocf_cost_ns(&c, 4096), 14100);
	EXPECT_GT(ocf_cost_ns(&c, 4096), 13900);
}

/*
 * The first request after a pause is slow; it counts as an eighth, like any
 * sample.
 */
TEST(what_is_stale_and_dearer_is_a_sample)
{
	struct ocf_cost c = { .base = 100000, .slope = 4096 };
	u64 was = ocf_cost_ns(&c, 32768);
	u32 lag = 0;

	alone_at_last(&c, &lag, 32768, 3 * was);
	EXPECT_LT(ocf_cost_ns(&c, 32768), was + was / 4 + 100);
	EXPECT_GT(ocf_cost_ns(&c, 32768), was + was / 4 - 100);
	/* what the core knows of the lag counts, too */
	c = (struct ocf_cost){ .base = 100000, .slope = 4096 };
	lag = 50000;
	alone_at_last(&c, &lag, 32768, was + 10000);
	EXPECT_GT(ocf_cost_ns(&c, 32768), was - 40100);
	EXPECT_LT(ocf_cost_ns(&c, 32768), was - 39900);
}

/*
 * A device that got no request is tried again after 20 ms or the time of 64
 * requests, whichever is longer.  If its estimate says that it is slower, it is
 * tried after 320 ms.
 */
TEST(who_is_silent_is_looked_at)
{
	EXPECT_FALSE(ocf_candidate_is_stale(OCF_STALE_NS, 1000, false));
	EXPECT_TRUE(ocf_candidate_is_stale(OCF_STALE_NS + 1, 1000, false));
	EXPECT_FALSE(ocf_candidate_is_stale(64 * 1000000, 1000000, false));
	EXPECT_TRUE(ocf_candidate_is_stale(64 * 1000000 + 1, 1000000, false));
	EXPECT_FALSE(ocf_candidate_is_stale(16 * OCF_STALE_NS, 1000, true));
	EXPECT_TRUE(ocf_candidate_is_stale(16 * OCF_STALE_NS + 1, 1000, true));
	/* the other time was read later */
	EXPECT_FALSE(ocf_candidate_is_stale(-5, 0, false));
}

static void *teach(void *arg)
{
	int i;

	for (i = 0; i < 5000; i++)
		ocf_cost_correct(arg, 1024, 3000, 8);
	return NULL;
}

/* The thread sanitizer finds races. */
TEST(several_may_teach_at_once)
{
	struct ocf_cost c = OCF_COST_UNKNOWN;
	pthread_t a, b;
	int i;

	pthread_create(&a, NULL, teach, &c);
	pthread_create(&b, NULL, teach, &c);
	for (i = 0; i < 5000; i++)
		ASSERT_LE(ocf_cost_ns(&c, 1024), 200001);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	EXPECT_GT(ocf_cost_ns(&c, 1024), 2900);
	EXPECT_LT(ocf_cost_ns(&c, 1024), 3100);
}

TEST_HARNESS_MAIN
