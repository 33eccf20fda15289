/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Costs: how long a request takes on a device, and which device is best.
 *
 * Pure: numbers in, a choice out.  Also compiled for user space.
 */
#ifndef OCF_COST_H
#define OCF_COST_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "../registry/estimate.h"

/* ns without a completion, after which a cost may be out of date */
#define OCF_STALE_NS		20000000ULL

/**
 * struct ocf_sample - what a completion shows; times in ns
 * @latency: since the device got the request
 * @gap: since the previous completion; of the CPU, not less than @latency
 */
struct ocf_sample {
	u64	latency;
	u64	gap;
};

/* Whether the device was busy with another request when it got this one */
static inline bool ocf_sample_is_busy(const struct ocf_sample *s, u32 lag)
{
	return (s64)(s->latency - s->gap) > (s64)lag;
}

/* Whether the device had completed nothing for long */
static inline bool ocf_sample_is_stale(const struct ocf_sample *s)
{
	return (s64)(s->gap - s->latency) > (s64)OCF_STALE_NS;
}

/*
 * Whether the first completion after a long silence is later than @expected.
 * The delay may be only that of a device waking up.  So this completion is
 * ignored, and the next one shows how fast the device is when awake.  @woken:
 * the previous one was ignored already.
 */
static inline bool ocf_sample_wakes(const struct ocf_sample *s, u64 expected,
				    bool woken)
{
	return !woken && s->latency > expected;
}

/* What is inside a device may take this many times what is expected, ... */
#define OCF_LENIENCE		8
/*
 * ... but no more than OCF_LENIENCE_MAX ns, or twice what is expected if that
 * is more.
 */
#define OCF_LENIENCE_MAX	10000000000ULL

/**
 * ocf_cost_allowance() - how long a device may take before it is late
 * @inside: ns of work inside, as estimated
 *
 * Return: ns.
 */
static inline u64 ocf_cost_allowance(u64 inside)
{
	return max(2 * inside, min(OCF_LENIENCE * inside, OCF_LENIENCE_MAX));
}

/* The CPU, and cards at random */
#define OCF_CANDIDATES		5

/*
 * One choice in so many, a power of two, looks for a stale device.  That costs
 * nearly nothing, and yet a card that has become faster is used again after 50
 * ms of traffic.
 */
#define OCF_EXPLORE		32

/**
 * struct ocf_candidate - a device that may do a request
 * @service: ns that the request would occupy it
 * @load: ns of work in front of the request
 * @lag: ns to be added that do not occupy the device: its lag, the wake-up of
 *	the waiter, the price of the CPU
 * @preferred: it has the session's keys already
 * @device: its number
 */
struct ocf_candidate {
	u64	service;
	u64	load;
	u64	lag;
	bool	preferred;
	int	device;
};

struct ocf_cost ocf_cost_fit(u32 n1, u64 ns1, u32 n2, u64 ns2);
void ocf_cost_correct(struct ocf_cost *cost, u32 bytes, u64 ns, u32 gain);
void ocf_cost_learn(struct ocf_cost *cost, struct ocf_cost *second, u32 *lag,
		    u32 bytes, const struct ocf_sample *s);
u64 ocf_delay_of_others(u64 service, u32 behind);
u64 ocf_candidate_score(const struct ocf_candidate *c);
int ocf_candidate_pick(const struct ocf_candidate *c, int n);
bool ocf_candidate_is_stale(s64 silent, u64 service, bool rarely);

#endif /* OCF_COST_H */
