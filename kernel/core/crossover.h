/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The size at which a card is worth the way: what each placing asks of it.
 * crossover.c says how it is known.
 */
#ifndef OCF_CROSSOVER_H
#define OCF_CROSSOVER_H

#include "core.h"

/* What a session that wants to spare the CPU waits for that, at most. */
#define OCF_CPU_PRICE	NSEC_PER_MSEC

extern u32 ocf_wake;

void ocf_crossover_learn(const struct ocf_request *req, u64 ns);

/* ns that the answer of a card takes to whom it is for */
static __always_inline u32 ocf_way_back(const struct ocf_request *req)
{
	return atomic_read(&req->bits) & OCF_BIT_WAITER ?
		READ_ONCE(ocf_wake) : 0;
}

/* Of a request and of as many behind it as @behind says */
static __always_inline u32 ocf_total(u32 bytes, u32 behind)
{
	return min_t(u64, (u64)bytes * (behind + 1), U32_MAX);
}

/* Whether the CPU was found to be better than any idle card for that size. */
static __always_inline bool ocf_is_small(const struct ocf_session *ses,
					 enum ocf_op op, u32 bytes, u32 behind)
{
	return ocf_total(bytes, behind) <= READ_ONCE(ses->small[op]);
}

/* Whether a request of that size is one of those that need no comparing. */
static __always_inline bool ocf_is_spared(struct ocf_session *ses,
					  enum ocf_op op, u32 bytes,
					  u32 behind)
{
	u32 spared = READ_ONCE(ses->spared);

	if (!spared || !ocf_is_small(ses, op, bytes, behind))
		return false;
	/* a race makes it one more or less */
	WRITE_ONCE(ses->spared, spared - 1);
	return true;
}

#endif /* OCF_CROSSOVER_H */
