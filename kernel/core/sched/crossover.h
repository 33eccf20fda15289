/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The crossover, as each choice of a device uses it.  crossover.c learns it.
 */
#ifndef OCF_CROSSOVER_H
#define OCF_CROSSOVER_H

#include "../core.h"

/* ns, at most, that a session with OCF_POLICY_CPU waits to spare the CPU */
#define OCF_CPU_PRICE	NSEC_PER_MSEC

extern u32 ocf_wake_ns;

void ocf_crossover_learn(const struct ocf_request *req, u64 ns);

/* ns from a card's completion until the submitter has the result */
static __always_inline u32 ocf_wake_latency(const struct ocf_request *req)
{
	return atomic_read(&req->bits) & OCF_BIT_WAITER ?
		READ_ONCE(ocf_wake_ns) : 0;
}

/* Bytes of a request and of the @behind others that follow it */
static __always_inline u32 ocf_total(u32 bytes, u32 behind)
{
	return min_t(u64, (u64)bytes * (behind + 1), U32_MAX);
}

/* Whether the CPU was found to beat any idle card at that size. */
static __always_inline bool
ocf_is_below_crossover(const struct ocf_session *ses, enum ocf_op op, u32 bytes,
		       u32 behind)
{
	return ocf_total(bytes, behind) <= READ_ONCE(ses->crossover[op]);
}

/* Whether a request of that size is to be started without a comparison. */
static __always_inline bool ocf_skips_comparison(struct ocf_session *ses,
						 enum ocf_op op, u32 bytes,
						 u32 behind)
{
	u32 uncompared = READ_ONCE(ses->uncompared);

	if (!uncompared || !ocf_is_below_crossover(ses, op, bytes, behind))
		return false;
	/* a race makes it one more or less */
	WRITE_ONCE(ses->uncompared, uncompared - 1);
	return true;
}

#endif /* OCF_CROSSOVER_H */
