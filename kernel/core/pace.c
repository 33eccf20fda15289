// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pace: when a device that is shared is given its next request.
 *
 * The device works on the oldest that is inside.  It began with that when it
 * entered, or when it was done with the one before, of which the completion
 * came a lag later.  So it is known, as well as its cost is, when it will have
 * done all, and when the next completion comes.  If that is in time, more is
 * let in then; else a timer sees to it.  Where timers are late, as on a
 * processor that is full, more is let in before.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "pace.h"

#define GAIN	8	/* a sample counts 1 / GAIN */
#define OUTLIER	8	/* and for no more than this times what is expected */
#define FADES	64	/* what is known of timers, without one */
#define RISES	4	/* of timers: less would leave the device dry, ... */
#define FALLS	32	/* ... more have others wait */
#define LATE_MAX 1000000 /* ns; later than that says nothing of others */

/**
 * ocf_pace_next() - when a device is to be given more
 * @p: what is known of it
 *
 * Return: ns, at most @p->now for at once; OCF_PACE_NEVER if the next
 * completion comes in time.
 */
u64 ocf_pace_next(const struct ocf_pace *p)
{
	u64 free = p->done > p->lag ? p->done - p->lag : 0;
	u64 began = max(p->begun, free);
	u64 end = began + p->inside;
	u64 late = min(p->late, max(OCF_PACE_LATE_MAX, p->oldest));
	u64 slack = OCF_PACE_EARLY + late + 2 * p->noise;
	u64 feed = end > slack ? end - slack : 0;

	if (feed <= p->now)
		return p->now;
	if (began + p->oldest + p->lag <= feed)
		return OCF_PACE_NEVER;
	return feed;
}

/**
 * ocf_pace_learn() - learn how exact expectations are
 * @noise: ns, mean of the differences; readers and other writers may race, a
 *	lost sample is made up for by the next
 * @expected: ns of work, of a request
 * @took: ns that it was
 */
void ocf_pace_learn(u32 *noise, u64 expected, u64 took)
{
	u64 most = min_t(u64, OUTLIER * expected, U32_MAX);
	u64 off = took > expected ? took - expected : expected - took;
	s64 was = READ_ONCE(*noise);

	WRITE_ONCE(*noise, was + ((s64)min(off, most) - was) / GAIN);
}

/**
 * ocf_pace_timed() - learn how late timers are
 * @late: ns, what most of them are not later than
 * @ns: that one was
 */
void ocf_pace_timed(u32 *late, u64 ns)
{
	s64 more = (s64)min_t(u64, ns, LATE_MAX) - *late;

	*late += more / (more > 0 ? RISES : FALLS);
}

/**
 * ocf_pace_untimed() - forget it, where none was needed
 * @late: ns, what most of them are not later than
 */
void ocf_pace_untimed(u32 *late)
{
	*late -= *late / FADES;
}
