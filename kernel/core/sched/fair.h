/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fair shares of a card: the parts of fair.c that run for each request.  The
 * caller holds the lock of the queue.
 */
#ifndef OCF_FAIR_H
#define OCF_FAIR_H

#include <linux/jiffies.h>

#include "../core.h"

#define OCF_SHARED	(HZ / 10) /* jiffies that a card counts as shared */

static inline struct ocf_flow *ocf_flow_of(struct ocf_fair *fair,
					   const struct ocf_job *job)
{
	return &fair->flow[job->flow];
}

static inline bool ocf_was_shared(const struct ocf_fair *fair,
				  unsigned long now)
{
	return time_before(now, READ_ONCE(fair->shared) + OCF_SHARED);
}

static inline bool ocf_is_shared(const struct ocf_fair *fair)
{
	return ocf_was_shared(fair, jiffies) ||
	       fair->backlogged & (fair->backlogged - 1);
}

/**
 * ocf_fair_arrive() - note that a request arrives
 * @fair: the device's
 * @flow: the request's
 *
 * Return: whether the device is shared.
 */
static inline bool ocf_fair_arrive(struct ocf_fair *fair, unsigned int flow)
{
	unsigned long now = jiffies;

	if (unlikely(flow != fair->latest)) {
		fair->latest = flow;
		if (time_before(now, fair->came + OCF_SHARED))
			fair->shared = now;
	}
	/* or requests of another flow still wait */
	if (unlikely(fair->backlogged & ~BIT(flow)))
		fair->shared = now;
	fair->came = now;
	return ocf_was_shared(fair, now);
}

/* A request of @flow begins, which takes @ns. */
static inline void ocf_fair_advance(struct ocf_fair *fair,
				    struct ocf_flow *flow, u64 ns)
{
	if (flow->start < fair->now)
		flow->start = fair->now;
	fair->now = flow->start;
	flow->start += ns;
}

/**
 * ocf_fair_begin() - note that a request begins, for the order of the others
 * @fair: the device's
 * @job: the request
 */
static inline void ocf_fair_begin(struct ocf_fair *fair,
				  const struct ocf_job *job)
{
	ocf_fair_advance(fair, ocf_flow_of(fair, job), job->estimate);
}

/**
 * ocf_fair_enter() - note that a request enters the device
 * @fair: the device's
 * @job: the request
 */
static inline void ocf_fair_enter(struct ocf_fair *fair,
				  const struct ocf_job *job)
{
	struct ocf_flow *flow = ocf_flow_of(fair, job);
	u64 ns = job->estimate;

	flow->inside += ns;
	ocf_fair_advance(fair, flow, ns);
}

/**
 * ocf_fair_leave() - note that a request has left the device
 * @fair: the device's
 * @job: the request
 */
static inline void ocf_fair_leave(struct ocf_fair *fair,
				  const struct ocf_job *job)
{
	ocf_flow_of(fair, job)->inside -= job->estimate;
}

#endif /* OCF_FAIR_H */
