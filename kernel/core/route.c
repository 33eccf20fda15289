// SPDX-License-Identifier: GPL-2.0-only
/*
 * Routing: what a request costs on a device, and which device is best.
 *
 * The cost of a device for an algorithm is a straight line over the size.  It
 * is fitted to the known-answer tests and corrected by each completion with
 * the normalised least-mean-squares rule: of the error of an estimate an
 * eighth is made up for, by the base for small requests and by the slope for
 * large ones, half and half at 8 KiB.  What one of them cannot take, because
 * it is zero already, the other does.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "route.h"

#define COST_MAX	U32_MAX
#define GAIN		8	/* an error counts 1 / GAIN */
#define OUTLIER		8	/* no sample counts for more than this ... */
#define LEAST		1000	/* ... times the estimate, or this many ns */
#define ERROR_MAX	(1LL << 34) /* ns; keeps the sums below in 64 bits */
#define HALVES		2048	/* 8 KiB in 1/256 KiB */

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
 */
void ocf_cost_correct(struct ocf_cost *cost, u32 bytes, u64 ns)
{
	u64 said = ocf_cost_ns(cost, bytes);
	u64 most = OUTLIER * max_t(u64, said, LEAST);
	s64 error = clamp_t(s64, (s64)min(ns, most) - (s64)said,
			    -ERROR_MAX, ERROR_MAX) / GAIN;
	s64 kib = min_t(s64, bytes >> 2, 1 << 20);	/* in 1/256 */
	s64 part = div64_s64(error * HALVES * HALVES,
			     HALVES * HALVES + kib * kib);
	s64 left = error - part + shift(&cost->base, part);

	if (kib)
		left = shift(&cost->slope, div64_s64(left * 256, kib)) * kib /
		       256;
	shift(&cost->base, left);
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
	int best = 0, i;

	for (i = 1; i < n; i++)
		if (c[i].load + c[i].service < c[best].load + c[best].service)
			best = i;
	return best;
}
