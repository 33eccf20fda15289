// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the core learns of a device that always has a number of requests: how
 * long the device works on one, and how much later the completion comes.  The
 * device is simulated: an engine, and an interrupt for each request or for
 * several.
 */
#include <kselftest_harness.h>

#include "../../kernel/core/sched/cost.h"

#define DEPTH	64
#define HANDLES	400	/* ns from one completion of several to the next */
#define LAG	15000
#define SMALL	4096
#define LARGE	65536

/**
 * struct card - a device
 * @cost: estimated cost of a request, of one algorithm
 * @lag: estimated latency of the device
 * @now: ns
 * @last: when the latest completion came
 * @sum: of the estimates of all requests
 */
struct card {
	struct ocf_cost	cost;
	u32		lag;
	u64		now;
	u64		last;
	u64		sum;
};

/**
 * struct work - what its owner does
 * @bytes: a request
 * @is: ns that the device really works on a request
 * @inside: requests in the device at the same time
 * @batch: completions that come at the same time
 * @pause: ns between a batch of completions and the next submission
 * @lag: in truth
 */
struct work {
	u32	bytes;
	u64	is;
	int	inside;
	int	batch;
	u64	pause;
	u64	lag;
};

static void complete(struct card *c, u32 bytes, u64 begun)
{
	struct ocf_sample s = { .latency = c->now - begun,
				.gap = c->now - c->last };

	ocf_cost_learn(&c->cost, NULL, &c->lag, bytes, &s);
	c->last = c->now;
	c->sum += ocf_cost_ns(&c->cost, bytes);
}

/* Runs @n requests; the device is empty before and after. */
static void run(struct card *c, struct work w, int n)
{
	u64 begun[DEPTH], end[DEPTH], engine = 0;
	int i, inside = 0, batch;

	while (n > 0) {
		for (; inside < w.inside; inside++) {
			engine = (engine > c->now ? engine : c->now) + w.is;
			begun[inside] = c->now;
			end[inside] = engine;
		}
		batch = w.batch < inside ? w.batch : inside;
		if (end[batch - 1] + w.lag > c->now)
			c->now = end[batch - 1] + w.lag;
		for (i = 0; i < batch; i++, n--) {
			complete(c, w.bytes, begun[i]);
			c->now += HANDLES;
		}
		c->now += w.pause;
		inside -= batch;
		memmove(begun, begun + batch, inside * sizeof(*begun));
		memmove(end, end + batch, inside * sizeof(*end));
	}
	c->now = engine + w.lag > c->now ? engine + w.lag : c->now;
}

static const struct work one = { SMALL, 5000, 1, 1, 0, LAG };

static struct work many(int inside)
{
	struct work w = one;

	w.inside = inside;
	return w;
}

static struct card after(const struct card *c, struct ocf_cost cost)
{
	struct card other = *c;

	other.cost = cost;
	return other;
}

static bool near(u64 is, u64 should)
{
	return is > should * 3 / 4 && is < should * 5 / 4;
}

static bool cost_is(const struct card *c, u64 ns)
{
	return near(ocf_cost_ns(&c->cost, SMALL), ns);
}

/*
 * A wrong estimate of large requests, guessed from small ones, is not taken for
 * the lag, and does not change the estimates of other algorithms.
 */
TEST(a_wrong_guess_is_not_the_lag)
{
	static const struct work large = { LARGE, 32000, 8, 1, 0, LAG };
	static const int inside[] = { 2, 4, 8, 16, 32 };
	struct card c, other;
	unsigned int times, i;

	for (times = 1; times <= 10; times++) {
		c = (struct card){ .cost = { 20000, 500 * times },
				   .now = 1000000000, .last = 1000000000 };
		run(&c, large, 400);
		EXPECT_TRUE(near(ocf_cost_ns(&c.cost, LARGE), 32000)) {
			TH_LOG("%u times", times);
		}
		for (i = 0; i < ARRAY_SIZE(inside); i++) {
			/*
			 * the estimate of the work was right, only the lag is
			 * new
			 */
			other = after(&c, (struct ocf_cost){ 3000, 500 });
			run(&other, many(inside[i]), 2000);
			EXPECT_TRUE(cost_is(&other, 5000));
			run(&other, one, 200);
			run(&other, many(8), 2000);
			EXPECT_TRUE(cost_is(&other, 5000));
			EXPECT_TRUE(near(other.lag, LAG));
			/* only the sum of work and lag was known */
			other = after(&c, (struct ocf_cost){ 18000, 500 });
			run(&other, one, 200);
			run(&other, many(8), 2000);
			EXPECT_TRUE(cost_is(&other, 5000));
			EXPECT_TRUE(near(other.lag, LAG));
		}
	}
}

/* The answers were late for a while, as if the host had no time. */
TEST(a_spell_is_forgotten)
{
	struct card c = { .cost = { 18000, 500 }, .now = 1000000000,
			  .last = 1000000000 };
	struct work late = one;

	late.lag = 2000000;
	run(&c, late, 400);
	run(&c, many(8), 400);
	run(&c, one, 400);
	run(&c, many(16), 2000);
	EXPECT_TRUE(cost_is(&c, 5000));
	EXPECT_TRUE(near(c.lag, LAG));
}

/*
 * The allowance is 8 times the work, but at most 10 s or twice the work,
 * whichever is more.
 */
TEST(what_a_device_may_take)
{
	static const uint64_t s = 1000000000;

	EXPECT_EQ(0, ocf_cost_allowance(0));
	EXPECT_EQ(8 * 100000, ocf_cost_allowance(100000));
	EXPECT_EQ(8 * s, ocf_cost_allowance(s));
	EXPECT_EQ(10 * s, ocf_cost_allowance(s * 5 / 4 + 1));
	EXPECT_EQ(10 * s, ocf_cost_allowance(5 * s));
	EXPECT_EQ(60 * s, ocf_cost_allowance(30 * s));
}

/*
 * One interrupt for several requests gives the same estimate as one for each.
 */
TEST(several_at_once_are_as_long_as_one_by_one)
{
	struct work w = { SMALL, 10000, 16, 1, 0, LAG };
	struct card c;

	for (w.batch = 1; w.batch <= 6; w.batch++) {
		c = (struct card){ .cost = { 8000, 500 }, .lag = LAG,
				   .now = 1000000000, .last = 1000000000 };
		run(&c, w, 8400);
		EXPECT_TRUE(near(c.sum / 8400, 10000)) {
			TH_LOG("%d at once: %llu", w.batch,
			       (unsigned long long)c.sum / 8400);
		}
	}
}

TEST_HARNESS_MAIN
