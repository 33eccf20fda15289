// SPDX-License-Identifier: BSD-2-Clause
/*
 * When a shared device gets the next request: in time, but not earlier than
 * needed; and what the core learns about the exactness of its timers.  The
 * device is simulated: an engine that completes each request a lag later.
 */
#include <kselftest_harness.h>

#include "../../kernel/core/sched/pace.h"
#include "../../kernel/core/sched/cost.h"

#define LAG	10000
#define DEPTH	16

TEST(before_it_runs_dry)
{
	struct ocf_pace p = { .now = 100000, .done = 50000, .begun = 99000,
			      .oldest = 20000, .inside = 20000, .lag = LAG };

	/*
	 * the work ends at 119000; its completion comes one lag after that, too
	 * late for the next request
	 */
	EXPECT_EQ(119000 - OCF_PACE_EARLY, ocf_pace_next(&p));
	p.late = 2000;
	EXPECT_EQ(117000 - OCF_PACE_EARLY, ocf_pace_next(&p));
	p.noise = 500;
	EXPECT_EQ(116000 - OCF_PACE_EARLY, ocf_pace_next(&p));
	p.now = 116000;
	EXPECT_EQ(116000, ocf_pace_next(&p));
	/* the device has no work left */
	p.now = 200000;
	EXPECT_EQ(200000, ocf_pace_next(&p));
}

TEST(it_began_when_it_was_done_with_the_one_before)
{
	struct ocf_pace p = { .now = 105000, .done = 105000, .begun = 80000,
			      .oldest = 20000, .inside = 20000, .lag = LAG };

	EXPECT_EQ(115000 - OCF_PACE_EARLY, ocf_pace_next(&p));
	/* but it cannot begin before the request was there */
	p.begun = 97000;
	EXPECT_EQ(117000 - OCF_PACE_EARLY, ocf_pace_next(&p));
}

TEST(a_completion_will_see_to_it)
{
	struct ocf_pace p = { .now = 100000, .done = 50000, .begun = 100000,
			      .oldest = 20000, .inside = 40000, .lag = LAG };

	EXPECT_EQ(OCF_PACE_NEVER, ocf_pace_next(&p));
	/* the completion would come too late, so a timer is needed */
	p.late = 10001 - OCF_PACE_EARLY;
	EXPECT_EQ(129999, ocf_pace_next(&p));
}

TEST(nothing_overflows)
{
	struct ocf_pace p = { .now = 5, .lag = 4000000000, .late = 50000 };
	u32 noise = U32_MAX, late = 0;
	int i;

	EXPECT_EQ(5, ocf_pace_next(&p));
	ocf_pace_learn(&noise, 1ull << 40, 0);
	EXPECT_LE(U32_MAX - 1, noise);
	for (i = 0; i < 200; i++)
		ocf_pace_learn(&noise, 1000, ~0ull);
	EXPECT_GE(8100, noise);
	for (i = 0; i < 200; i++)
		ocf_pace_timed(&late, ~0ull);
	EXPECT_GE(1000000, late);
	EXPECT_LE(1000000 - 4, late);
}

/*
 * However late the timer is, the device has no more inside than the request it
 * works on and one more.
 */
TEST(no_timer_is_so_late_that_all_goes_in_at_once)
{
	struct ocf_pace p = { .now = 100000, .done = 50000, .begun = 99000,
			      .oldest = 200000, .inside = 400000, .lag = LAG,
			      .late = 1000000 };

	EXPECT_EQ(299000 - OCF_PACE_EARLY, ocf_pace_next(&p));
	p.oldest = 49000;
	p.inside = 98000;
	EXPECT_EQ(197000 - OCF_PACE_EARLY - OCF_PACE_LATE_MAX,
		  ocf_pace_next(&p));
}

TEST(short_ones_are_not_worth_a_timer)
{
	u64 inside = 0;
	int n;

	for (n = 0; ocf_pace_room(inside, 3000, LAG); n++)
		inside += 3000;
	/*
	 * requests whose completion is on its way, the one being worked on, the
	 * next one, and those until the timer fires
	 */
	EXPECT_LE(LAG + 3000, inside);
	EXPECT_GE(LAG + 2 * 3000 + OCF_PACE_REACTION, inside);
	/* one request is always allowed */
	EXPECT_TRUE(ocf_pace_room(0, 1ull << 40, 0));
}

TEST(how_late_is_soon_known_and_slowly_forgotten)
{
	u32 late = 0;
	int i;

	for (i = 0; i < 16; i++)
		ocf_pace_timed(&late, 8000);
	EXPECT_LE(7500, late);
	/* a timer that is late once in 16 times counts */
	for (i = 0; i < 160; i++)
		ocf_pace_timed(&late, i % 16 ? 1000 : 8000);
	EXPECT_LE(1800, late);
	for (i = 0; i < 300; i++)
		ocf_pace_untimed(&late);
	EXPECT_GE(100, late);
}

/**
 * struct engine - a simulated device that always has requests waiting
 * @is: ns of work of each request, in truth
 * @cost: what is expected
 * @lag: the estimated lag
 * @noise: how far the measured gaps differ from the estimated cost
 * @entered: when those that are inside entered
 * @end: when the engine is done with them
 * @n: how many
 * @last: when it was done with the one before
 * @idle: ns it had nothing to do
 * @most: the most ns of work that a request found before it when it entered
 */
struct engine {
	u64		is;
	struct ocf_cost	cost;
	u32		lag;
	u32		noise;
	u64		entered[DEPTH];
	u64		end[DEPTH];
	int		n;
	u64		last;
	u64		idle;
	u64		most;
};

#define BYTES	16384

static void let_in(struct engine *e, u64 now)
{
	u64 free = e->n ? e->end[e->n - 1] : e->last;

	if (free < now)
		e->idle += now - free;
	else if (free - now > e->most)
		e->most = free - now;
	e->entered[e->n] = now;
	e->end[e->n++] = (free > now ? free : now) + e->is;
}

/* Does what ocf_queue_leave() and ocf_device_learn() do. */
static void complete(struct engine *e, u64 now, u64 done)
{
	struct ocf_sample s = { .latency = now - e->entered[0],
				.gap = now - done };

	if (ocf_sample_is_busy(&s, e->lag))
		ocf_pace_learn(&e->noise, ocf_cost_ns(&e->cost, BYTES), s.gap);
	ocf_cost_learn(&e->cost, NULL, &e->lag, BYTES, &s);
	e->last = e->end[0];
	memmove(e->end, e->end + 1, (DEPTH - 1) * sizeof(*e->end));
	memmove(e->entered, e->entered + 1, (DEPTH - 1) * sizeof(*e->entered));
	e->n--;
}

/* Runs @e for @n requests, with timers that are @late ns late. */
static void run(struct engine *e, int n, u64 late)
{
	u64 now = e->last, done = now, timer = OCF_PACE_NEVER, next;
	u32 known = late;
	struct ocf_pace p;

	e->idle = 0;
	e->most = 0;
	e->n = 0;
	while (n) {
		p = (struct ocf_pace){ .now = now, .done = done,
			.begun = e->entered[0], .lag = e->lag,
			.oldest = ocf_cost_ns(&e->cost, BYTES),
			.noise = e->noise, .late = known };
		p.inside = p.oldest * e->n;
		next = e->n ? ocf_pace_next(&p) : now;
		if (next <= now && e->n < DEPTH) {
			let_in(e, now);
			continue;
		}
		if (next > now && next != OCF_PACE_NEVER &&
		    next + late < timer)
			timer = next + late;
		if (timer < e->end[0] + LAG) {
			now = timer > now ? timer : now;
			timer = OCF_PACE_NEVER;
			continue;
		}
		now = e->end[0] + LAG;
		complete(e, now, done);
		done = now;
		n--;
	}
	e->last = now;
}

TEST(it_is_busy_and_nothing_waits_inside)
{
	u32 works[] = { 8000, 10192, 18384, 67536, 1000000 };
	struct engine e;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(works); i++) {
		e = (struct engine){ .is = works[i], .lag = LAG,
				     .cost.base = works[i], .last = 1000000 };
		run(&e, 1000, 1500);
		EXPECT_GE(works[i], e.idle);
		EXPECT_GE(2000, e.most);
	}
}

/*
 * Whatever the estimates are at first, after a short time the device hardly
 * ever runs dry.  (It may have more inside than needed: a device that is always
 * busy does not show that the lag is estimated too long.)
 */
TEST(errors_pass)
{
	u32 first[] = { 0, 1000, 12000, 18000, 22000, 30000, 160000, 2000000 };
	u32 lags[] = { 0, 5000, 15000, 60000 };
	struct engine e;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(first); i++) {
		for (j = 0; j < ARRAY_SIZE(lags); j++) {
			e = (struct engine){ .is = 20000, .lag = lags[j],
				.cost.base = first[i], .last = 1000000,
				.noise = OCF_PACE_UNKNOWN };
			run(&e, 300, 1500);
			run(&e, 1000, 1500);
			EXPECT_GE(1000 * 20000 / 50, e.idle) {
				TH_LOG("%u and a lag of %u", first[i], lags[j]);
			}
		}
	}
}

/*
 * The time of a single request is known; the core finds out which part of it is
 * work.
 */
TEST(work_is_told_from_lag)
{
	struct engine e;
	u32 work;

	for (work = 0; work <= 30000; work += 1000) {
		e = (struct engine){ .is = 20000, .lag = 30000 - work,
				     .cost.base = work, .last = 1000000,
				     .noise = OCF_PACE_UNKNOWN };
		run(&e, 300, 1500);
		run(&e, 1000, 1500);
		EXPECT_GE(1000 * 20000 / 50, e.idle) {
			TH_LOG("%u first", work);
		}
		EXPECT_GE(4000, e.most) {
			TH_LOG("%u first", work);
		}
	}
}

TEST_HARNESS_MAIN
