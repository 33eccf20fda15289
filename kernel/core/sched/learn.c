// SPDX-License-Identifier: GPL-2.0-only
/*
 * Learning what requests cost on a device from their completions.
 */
#include "../core.h"
#include "pace.h"

/**
 * ocf_device_learn() - correct the cost by the time that a request took
 * @dev: the device
 * @p: its session's parameters
 * @op: direction
 * @bytes: size
 * @sample: what its completion has shown
 *
 * Context: process or BH.
 */
void ocf_device_learn(struct ocf_device *dev,
		      const struct ocf_session_params *p, enum ocf_op op,
		      u32 bytes, const struct ocf_sample *sample)
{
	bool chain = p->cipher && p->mac;

	if (ocf_sample_is_busy(sample, READ_ONCE(dev->lag)))
		ocf_pace_learn(&dev->noise, ocf_device_ns(dev, p, op, bytes),
			       sample->gap);
	ocf_cost_learn(&dev->cost[p->cipher ?: p->mac][op],
		       chain ? &dev->cost[p->mac][op] : NULL, &dev->lag, bytes,
		       sample);
}
