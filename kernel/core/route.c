// SPDX-License-Identifier: GPL-2.0-only
/*
 * Routing: what a request costs on a device, and which device is best.
 *
 * A request goes where it will be done soonest.  (The score of a first policy
 * iteration, which also charges for the delay of those that come after, was
 * tried and is worse here: see bench/route.)
 *
 * The cost of a device for an algorithm is a straight line over the size.  It
 * is fitted to the known-answer tests and corrected by each completion with
 * the normalised least-mean-squares rule: of the error of an estimate an
 * eighth is made up for, by the base for small requests and by the slope for
 * large ones, half and half at 16 KiB.  What one of them cannot take, because
 * it is zero already, the other does.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "route.h"

#define COST_MAX	U32_MAX
#define GAIN		8	/* an error counts 1 / GAIN, as a rule */
#define OUTLIER		8	/* no sample counts for more than this ... */
#define OUTLIER_ALONE	3
#define LEAST		1000	/* ... times the estimate, or this many ns */
#define ERROR_MAX	(1LL << 34) /* ns; keeps the sums below in 64 bits */
#define HALVES		4096	/* 16 KiB in 1/256 KiB */
#define BYTES_BITS	22	/* 4 MiB; does so, too */

/**
 * ocf_cost_fit() - the line through two measurements
 * @n1: bytes of the smaller request
 * @ns1: what it took
 * @n2: bytes of the larger, more than @n1
 * @ns2: what it took
 *
 * A larger request that was faster is noise: the line is level then.
 *
 * Return: the line.
 */
struct ocf_cost ocf_cost_fit(u32 n1, u64 ns1, u32 n2, u64 ns2)
{
	u64 rise = ns2 > ns1 ? ns2 - ns1 : 0;
	u64 slope = min_t(u64, div64_u64(rise << 10, n2 - n1), COST_MAX);
	u64 part = (slope * n1) >> 10;

	return (struct ocf_cost){
		.base = min_t(u64, ns1 > part ? ns1 - part : 0, COST_MAX),
		.slope = slope,
	};
}

/* Returns what is left of @by: no part of a cost is negative. */
static s64 shift(u32 *part, s64 by)
{
	s64 to = READ_ONCE(*part) + by;
	u32 new = clamp_t(s64, to, 0, COST_MAX);

	WRITE_ONCE(*part, new);
	return to - new;
}

/**
 * ocf_cost_correct() - learn from a completion
 * @cost: the estimate to correct; readers and other writers may race, a lost
 *	correction is made up for by the next
 * @bytes: the request's size
 * @ns: what the device worked on it, without waiting
 * @gain: the error counts one part in this
 */
void ocf_cost_correct(struct ocf_cost *cost, u32 bytes, u64 ns, u32 gain)
{
	u64 said = ocf_cost_ns(cost, bytes);
	/* of more than can be summed up, that part of the error */
	u32 parts = ((max(bytes, 1u) - 1) >> BYTES_BITS) + 1;
	s64 error = clamp_t(s64, (s64)min_t(u64, ns, U64_MAX / 2) - (s64)said,
			    -ERROR_MAX, ERROR_MAX) / (gain * parts);
	s64 kib = min(bytes, 1u << BYTES_BITS) >> 2;	/* in 1/256 */
	s64 norm = HALVES * HALVES + kib * kib;
	s64 left, slope;

	left = shift(&cost->base, div64_s64(error * HALVES * HALVES, norm));
	slope = div64_s64(error * kib * 256, norm);
	if (kib)
		slope += div64_s64(left * 256, kib);
	left = shift(&cost->slope, slope);
	shift(&cost->base, left * kib / 256);
}

/* What each of the two is expected to take of what both together took */
static void correct_both(struct ocf_cost *cost, struct ocf_cost *second,
			 u32 bytes, u64 ns, u32 gain)
{
	u64 a = ocf_cost_ns(cost, bytes) + 1;
	u64 b = ocf_cost_ns(second, bytes) + 1;

	a = mul_u64_u64_div_u64(ns, a, a + b);
	ocf_cost_correct(cost, bytes, a, gain);
	ocf_cost_correct(second, bytes, ns - a, gain);
}

static u64 both_ns(const struct ocf_cost *cost, const struct ocf_cost *second,
		   u32 bytes)
{
	return ocf_cost_ns(cost, bytes) +
	       (second ? ocf_cost_ns(second, bytes) : 0);
}

/**
 * ocf_cost_learn() - the same, for a device that may work on several at once
 * @cost: the estimate to correct
 * @second: of a chain, that of the second algorithm, or NULL
 * @lag: ns between the end of the work on a request and its completion; is
 *	corrected too
 * @bytes: the request's size
 * @s: what its completion has shown
 *
 * One request after another shows how long each occupies the device; a single
 * one shows that and the lag.  What is learned about the one part from the
 * first must not change what is known of the sum from the second.
 *
 * A lag that is thought to be too long would hide that the device was at work
 * on another, and then all of the time would count as lag.  So where it is not
 * known which of both was less than expected, it was the lag: if that is wrong,
 * the next requests that follow each other tell.  A lag is not longer than what
 * any request took.
 *
 * What is known for long gives way at once to what is better, so that a device
 * that has recovered is found; but who has slept is slow at first, and that is
 * one sample among others.  Nor is what one alone has waited for, as it seems,
 * believed as readily as what many say: completions that come several at once
 * make the first of them seem long, and the others short.
 */
void ocf_cost_learn(struct ocf_cost *cost, struct ocf_cost *second, u32 *lag,
		    u32 bytes, const struct ocf_sample *s)
{
	u32 was = READ_ONCE(*lag);
	u64 said = both_ns(cost, second, bytes);
	bool busy = ocf_sample_is_busy(s, was);
	u64 ns = busy ? s->gap : s->latency > was ? s->latency - was : 0;
	u32 gain = ocf_sample_is_stale(s) && ns < said ? 1 : GAIN;
	u64 less;

	if (!busy && ns < said &&
	    (s->latency < was || s->latency > s->gap)) {
		less = div64_u64(said + was - s->latency + gain - 1, gain);
		WRITE_ONCE(*lag, was - min_t(u64, was, less));
		return;
	}
	ns = min3(ns, s->gap, (busy ? OUTLIER : OUTLIER_ALONE) *
			      max_t(u64, said, LEAST));
	if (second)
		correct_both(cost, second, bytes, ns, gain);
	else
		ocf_cost_correct(cost, bytes, ns, gain);
	if (busy)
		WRITE_ONCE(*lag, clamp_t(s64, was + said -
					 both_ns(cost, second, bytes),
					 0, COST_MAX));
}

/**
 * ocf_route_hold_up() - what a request costs those behind it
 * @service: ns that it takes the submitter himself
 * @behind: how many like it he has to submit after it
 *
 * Who does one request himself has the others wait, and will do them himself,
 * too, if nothing else is said: a card that is done with this one before that
 * has a part of the work taken over, and the last ends sooner.  So all end at
 * about the same time wherever they are, as with list scheduling (Graham,
 * Bounds on multiprocessing timing anomalies, 1969).
 *
 * Return: ns, to be counted as if they were before the request.
 */
u64 ocf_route_hold_up(u64 service, u32 behind)
{
	return service * behind;
}

#define HYSTERESIS	16	/* one without the keys is this part better */

/**
 * ocf_route_score() - when a request would be done
 * @c: the device
 *
 * Return: ns from now, a little less where the keys are.
 */
u64 ocf_route_score(const struct ocf_candidate *c)
{
	u64 score = c->load + c->service + c->lag;

	return c->preferred ? score - score / HYSTERESIS : score;
}

/**
 * ocf_route_pick() - the candidate that will be done soonest
 * @c: the candidates, the one to be preferred in a tie first
 * @n: how many, at least one
 *
 * Return: index into @c.
 */
int ocf_route_pick(const struct ocf_candidate *c, int n)
{
	u64 least = ocf_route_score(c), score;
	int best = 0, i;

	for (i = 1; i < n; i++) {
		score = ocf_route_score(&c[i]);
		if (score < least) {
			least = score;
			best = i;
		}
	}
	return best;
}

#define EXPLORE_PART	64
#define EXPLORE_RARELY	16	/* times longer */

/**
 * ocf_route_is_stale() - whether a device is to be looked at again
 * @silent: ns since it was heard of; it has nothing to do
 * @service: ns that the request would occupy it
 * @rarely: requests of this size are so small that all of them go to the CPU;
 *	or it is the CPU
 *
 * To look at one that seems to be dear is not worth more than a 64th of time,
 * and less where it is sure to be: a sleep costs those that come after it, too.
 *
 * Return: whether.
 */
bool ocf_route_is_stale(s64 silent, u64 service, bool rarely)
{
	u64 after = max(OCF_STALE_NS * (rarely ? EXPLORE_RARELY : 1),
			EXPLORE_PART * service);

	return silent > (s64)after;
}
