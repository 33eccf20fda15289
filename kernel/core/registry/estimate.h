/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a request is expected to cost on a device.  sched/cost.c learns it.
 *
 * Pure.  Also compiled for user space.
 */
#ifndef OCF_ESTIMATE_H
#define OCF_ESTIMATE_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * struct ocf_cost - how long a request of n bytes takes: base + n * slope
 * @base: ns
 * @slope: ns for each KiB
 */
struct ocf_cost {
	u32 base;
	u32 slope;
};

/* Before anything is known: expensive, but not too expensive to be tried */
#define OCF_COST_UNKNOWN	((struct ocf_cost){ .base = 100000, \
						    .slope = 100000 })

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

#endif /* OCF_ESTIMATE_H */
