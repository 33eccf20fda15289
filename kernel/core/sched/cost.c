// SPDX-License-Identifier: GPL-2.0-only
/*
 * Costs: how long a request takes on a device, and which device is best.
 *
 * A request goes to the device that will have done it first.  (A score that
 * also charges for the delay of later requests, as in a first policy iteration,
 * was tried and is worse here: see bench/route.)
 *
 * The cost of an algorithm on a device is a straight line over the size.  It is
 * fitted to the self-test's measurements, and then corrected by completions
 * with the normalised least-mean-squares rule: a completion corrects an eighth
 * of the error of its estimate.  For small requests this changes the base, for
 * large ones the slope, and at 16 KiB both alike.  When one of them has reached
 * zero, the other one takes the rest.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "cost.h"

#define COST_MAX	U32_MAX
#define GAIN		8	/* corrects 1 / GAIN of an error, usually */
/* a sample is clamped to this many times the estimate */
#define OUTLIER		8
#define OUTLIER_ALONE	3	/* (of a request that was alone) */
/* ns; when a sample is clamped, a smaller estimate counts as this */
#define LEAST		1000
#define ERROR_MAX	(1LL << 34) /* ns; keeps the sums below in 64 bits */
#define HALVES		4096	/* 16 KiB in 1/256 KiB */
/* 4 MiB; also keeps the sums below in 64 bits */
#define BYTES_BITS	22

/**
 * ocf_cost_fit() - the line through two measurements
 * @n1: bytes of the smaller request
 * @ns1: ns that it took
 * @n2: bytes of the larger request, more than @n1
 * @ns2: ns that it took
 *
 * If the larger request was faster, that is noise, and the line is level.
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

/* Adds @by to @part, which stays between 0 and COST_MAX; returns the rest. */
static s64 shift(u32 *part, s64 by)
{
	s64 to = READ_ONCE(*part) + by;
	u32 new = clamp_t(s64, to, 0, COST_MAX);

	WRITE_ONCE(*part, new);
	return to - new;
}

/**
 * ocf_cost_correct() - learn from a completion
 * @cost: the estimate to correct; readers and other writers may race, because
 *	the next correction makes up for a lost one
 * @bytes: the request's size
 * @ns: how long the device worked on it
 * @gain: 1 / @gain of the error is corrected
 */
void ocf_cost_correct(struct ocf_cost *cost, u32 bytes, u64 ns, u32 gain)
{
	u64 said = ocf_cost_ns(cost, bytes);
	/*
	 * A request of more than 4 MiB counts as one of 4 MiB, with its share
	 * of the error.
	 */
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

/* Divides @ns, which both took, in proportion to their estimates. */
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
 * ocf_cost_learn() - learn from a completion, where requests may overlap
 * @cost: the estimate to correct
 * @second: that of the second algorithm of a request with two, or NULL
 * @lag: ns from the end of the work on a request to its completion; is
 *	corrected, too
 * @bytes: the request's size
 * @s: what the completion has shown
 *
 * Requests that follow each other show the cost: how long each occupies the
 * device.  A request that was alone shows the sum of cost and lag.  When
 * requests that follow each other change the cost, the lag changes so that the
 * sum stays.
 *
 * Where it is unclear whether a request was alone, and it took less than the
 * estimate, either its work or the lag was shorter.  The difference is taken
 * off the lag, because too long a lag would hide that the device was busy, and
 * then all of the time would count as lag.  If this is wrong, the next requests
 * that follow each other correct it.  A lag is never longer than what any
 * request took.
 *
 * After a long silence a shorter time replaces the estimate at once, so that a
 * device that has become faster is found.  A longer time is one sample among
 * others, because a device that has slept is slow at first.  A request that was
 * alone is clamped more than others: if several completions come at once, the
 * first seems long and the others short.
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
 * ocf_delay_of_others() - by how much a request done inline delays others
 * @service: ns that it takes
 * @behind: requests like it that the submitter has to submit after it
 *
 * Running inline delays the @behind requests that follow, and they will
 * probably run inline, too.  If a card would complete this request before the
 * CPU had done all of them, the card gets it.  Then the card does a part of the
 * work, and the last request ends sooner.  So all end at about the same time
 * wherever they are, as with list scheduling (Graham, Bounds on multiprocessing
 * timing anomalies, 1969).
 *
 * Return: ns, to be counted like work in front of the request.
 */
u64 ocf_delay_of_others(u64 service, u32 behind)
{
	return service * behind;
}

#define HYSTERESIS	16	/* a device without keys must be 1/16 better */

/**
 * ocf_candidate_score() - how long a request would take
 * @c: the device
 *
 * Return: ns; a little less if the device has the keys.
 */
u64 ocf_candidate_score(const struct ocf_candidate *c)
{
	u64 score = c->load + c->service + c->lag;

	return c->preferred ? score - score / HYSTERESIS : score;
}

/**
 * ocf_candidate_pick() - the candidate that will be done soonest
 * @c: the candidates, the one to be preferred in a tie first
 * @n: how many, at least one
 *
 * Return: index into @c.
 */
int ocf_candidate_pick(const struct ocf_candidate *c, int n)
{
	u64 least = ocf_candidate_score(c), score;
	int best = 0, i;

	for (i = 1; i < n; i++) {
		score = ocf_candidate_score(&c[i]);
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
 * ocf_candidate_is_stale() - whether an idle device should be tried again
 * @silent: ns since its last completion
 * @service: ns that the request would occupy it
 * @rarely: the request is below the crossover, or the device is the CPU
 *
 * At most a 64th of the time goes into trying expensive devices, and less into
 * those that will hardly be better.  A device that has to wake up also delays
 * the requests behind this one.
 *
 * Return: whether.
 */
bool ocf_candidate_is_stale(s64 silent, u64 service, bool rarely)
{
	u64 after = max(OCF_STALE_NS * (rarely ? EXPLORE_RARELY : 1),
			EXPLORE_PART * service);

	return silent > (s64)after;
}
