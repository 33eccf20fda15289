// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pace: when a device that owners share gets its next request.
 *
 * The device works on the oldest request inside.  It began this request when
 * the request entered, or when it had finished the one before, whichever is
 * later.  The completion of the one before came one lag after the end of its
 * work.  From this and from the costs follows when the device will run dry, and
 * when its next completion comes.  If the completion comes before the device
 * runs dry, the next request enters then; otherwise a timer dispatches it.  If
 * timers are late, as on a busy CPU, requests enter earlier.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "pace.h"

#define GAIN	8	/* a sample counts 1 / GAIN */
#define OUTLIER	8	/* and for no more than this times what is expected */
/* a request that needs no timer lowers the lateness by 1 / FADES */
#define FADES	64
/*
 * a later timer raises it by 1 / RISES of the excess: fast, or the device would
 * run dry
 */
#define RISES	4
/* an earlier timer lowers it by 1 / FALLS of the difference: slowly */
#define FALLS	32
#define LATE_MAX 1000000 /* ns; a sample counts as at most that */

/**
 * ocf_pace_next() - when a device should get its next request
 * @p: the device's pace
 *
 * Return: the time, ns; @p->now means at once; OCF_PACE_NEVER means that the
 * next completion comes in time.
 */
u64 ocf_pace_next(const struct ocf_pace *p)
{
	u64 free = p->done > p->lag ? p->done - p->lag : 0;
	u64 began = max(p->begun, free);
	u64 end = began + p->inside;
	u64 late = min(p->late, max(OCF_PACE_LATE_MAX, p->oldest));
	u64 slack = OCF_PACE_EARLY + late + 2 * p->noise;
	u64 refill = end > slack ? end - slack : 0;

	if (refill <= p->now)
		return p->now;
	if (began + p->oldest + p->lag <= refill)
		return OCF_PACE_NEVER;
	return refill;
}

/**
 * ocf_pace_learn() - learn how exact estimates are
 * @noise: ns, the mean deviation; readers and other writers may race, because
 *	the next sample makes up for a lost one
 * @expected: ns that a request was estimated at
 * @took: ns that it took
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
 * @late: the estimate in ns, which few timers exceed; is corrected
 * @ns: how late a timer was
 */
void ocf_pace_timed(u32 *late, u64 ns)
{
	s64 more = (s64)min_t(u64, ns, LATE_MAX) - *late;

	*late += more / (more > 0 ? RISES : FALLS);
}

/**
 * ocf_pace_untimed() - let the lateness decay while no timer is needed
 * @late: ns; few timers are later
 */
void ocf_pace_untimed(u32 *late)
{
	*late -= *late / FADES;
}
