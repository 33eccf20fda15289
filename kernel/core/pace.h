/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pace: when a device that is shared is given its next request.
 *
 * What is inside a device cannot be overtaken any more.  So one that owners
 * compete for is given more just before it has nothing to do, not sooner: who
 * comes meanwhile waits for what it is working on, and for nothing else.
 *
 * Pure: numbers in, a time out.  Also compiled for user space.
 */
#ifndef OCF_PACE_H
#define OCF_PACE_H

#include <linux/types.h>

/* ns */
#define OCF_PACE_SHORT		8000	/* of work that is not worth a timer */
#define OCF_PACE_REACTION	5000	/* until a completion lets more in */
#define OCF_PACE_EARLY		250	/* or how busy it is does not show */
#define OCF_PACE_LATE_MAX	50000ULL /* of timers, or one request more */
#define OCF_PACE_UNKNOWN	20000	/* of noise, where nothing is known */
#define OCF_PACE_NEVER		(~0ULL)

/**
 * struct ocf_pace - what is known of the work inside a device; times in ns
 * @now: the time
 * @done: when the latest completion came
 * @begun: when the oldest that is inside entered
 * @oldest: of work, that one's
 * @inside: of work, everybody's; not less than @oldest
 * @lag: from the end of the work on a request to its completion
 * @noise: by how much the work differs from what is expected, as a rule
 * @late: what timers are not later than, as a rule
 */
struct ocf_pace {
	u64 now;
	u64 done;
	u64 begun;
	u64 oldest;
	u64 inside;
	u64 lag;
	u64 noise;
	u64 late;
};

/**
 * ocf_pace_room() - whether an owner may have one more, short one inside
 * @inside: ns of work, of what he has
 * @work: ns, of the request
 * @lag: ns, of the device
 *
 * A timer would cost the processor more than it is worth, so what the device
 * works on until the next completion has been seen to is there before: what is
 * on its way back, what is being worked on and what comes next.
 *
 * Return: whether.
 */
static inline bool ocf_pace_room(u64 inside, u64 work, u64 lag)
{
	return inside + work <= lag + 2 * work + OCF_PACE_REACTION;
}

u64 ocf_pace_next(const struct ocf_pace *p);
void ocf_pace_learn(u32 *noise, u64 expected, u64 took);
void ocf_pace_timed(u32 *late, u64 ns);
void ocf_pace_untimed(u32 *late);

#endif /* OCF_PACE_H */
