/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Routing: what a request costs on a device, and which device is best.
 *
 * Pure: numbers in, a choice out.  Also compiled for user space.
 */
#ifndef OCF_ROUTE_H
#define OCF_ROUTE_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * struct ocf_cost - what a request of n bytes takes: base + n * slope
 * @base: ns
 * @slope: ns for each KiB
 */
struct ocf_cost {
	u32 base;
	u32 slope;
};

/* Nothing is known: dear, but not so dear that it is never tried. */
#define OCF_COST_UNKNOWN	((struct ocf_cost){ .base = 100000, \
						    .slope = 100000 })

/* ns without a word from a device: what is known counts for little then */
#define OCF_STALE_NS		20000000ULL

/**
 * struct ocf_sample - what a completion shows; times in ns
 * @latency: since the device was given the request
 * @gap: since the completion before it; of the CPU, not less than @latency
 */
struct ocf_sample {
	u64	latency;
	u64	gap;
};

/* Whether the device was at work on another when it was given this one */
static inline bool ocf_sample_is_busy(const struct ocf_sample *s, u32 lag)
{
	return (s64)(s->latency - s->gap) > (s64)lag;
}

/* Whether nothing had been heard of the device for long */
static inline bool ocf_sample_is_stale(const struct ocf_sample *s)
{
	return (s64)(s->gap - s->latency) > (s64)OCF_STALE_NS;
}

/*
 * Whether the first answer after a long silence is later than @expected.  Who
 * has slept is slow at first, and the next tells how fast he is awake: such a
 * one, unless the one before was such, is as if it had not been.
 */
static inline bool ocf_sample_wakes(const struct ocf_sample *s, u64 expected,
				    bool woken)
{
	return !woken && s->latency > expected;
}

/* The CPU, and cards at random */
#define OCF_CANDIDATES		5

/*
 * One placement in so many, a power of two, looks for such a device: rare
 * enough to cost next to nothing, soon enough for a card that has become fast
 * again to be back within 50 ms of traffic.
 */
#define OCF_EXPLORE		32

/**
 * struct ocf_candidate - a device that might do a request
 * @service: ns the request would occupy it
 * @load: ns of work it has to do before
 * @lag: ns it takes besides, in which it could work on others
 * @preferred: it has the session's keys already
 * @device: number, not looked at
 */
struct ocf_candidate {
	u64	service;
	u64	load;
	u64	lag;
	bool	preferred;
	int	device;
};

/**
 * ocf_cost_ns() - estimate a request
 * @cost: the device's for the algorithm
 * @bytes: its size
 *
 * Return: ns.
 */
static inline u64 ocf_cost_ns(const struct ocf_cost *cost, u32 bytes)
{
	return READ_ONCE(cost->base) +
	       (((u64)READ_ONCE(cost->slope) * bytes) >> 10);
}

struct ocf_cost ocf_cost_fit(u32 n1, u64 ns1, u32 n2, u64 ns2);
void ocf_cost_correct(struct ocf_cost *cost, u32 bytes, u64 ns, u32 gain);
void ocf_cost_learn(struct ocf_cost *cost, struct ocf_cost *second, u32 *lag,
		    u32 bytes, const struct ocf_sample *s);
u64 ocf_route_hold_up(u64 service, u32 behind);
u64 ocf_route_score(const struct ocf_candidate *c);
int ocf_route_pick(const struct ocf_candidate *c, int n);
bool ocf_route_is_stale(s64 silent, u64 service, bool rarely);

#endif /* OCF_ROUTE_H */
