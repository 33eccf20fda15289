/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pace: when a device that owners share gets its next request.
 *
 * A request inside a device cannot be overtaken.  So a shared device gets more
 * just before it runs dry, not sooner: a request that arrives meanwhile waits
 * only for the one that the device is working on.
 *
 * Pure: numbers in, a time out.  Also compiled for user space.
 */
#ifndef OCF_PACE_H
#define OCF_PACE_H

#include <linux/types.h>

/* ns */
#define OCF_PACE_SHORT		8000	/* of work; less is not worth a timer */
#define OCF_PACE_REACTION	5000	/* from completion to next request */
/* enter this much earlier: otherwise it would run dry, or look idle */
#define OCF_PACE_EARLY		250
#define OCF_PACE_LATE_MAX	50000ULL /* allowed to timers, at most */
#define OCF_PACE_UNKNOWN	20000	/* the deviation at first */
#define OCF_PACE_NEVER		(~0ULL)

/**
 * struct ocf_pace - the work inside a device; times in ns
 * @now: the time
 * @done: when the latest completion came
 * @begun: when the oldest request inside entered
 * @oldest: the work of that request
 * @inside: the work of all requests; not less than @oldest
 * @lag: from the end of the work on a request to its completion
 * @noise: mean deviation of the work from the estimate
 * @late: few timers are later
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
 * ocf_pace_room() - whether an owner may have one more short request inside
 * @inside: ns of work of the requests that it has inside
 * @work: ns of work of the request
 * @lag: ns, of the device
 *
 * For short requests a timer would cost more CPU time than it saves.  So an
 * owner may have inside what the device needs until the next completion is
 * handled: the requests whose completions are under way, the current one and
 * the next one.
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
