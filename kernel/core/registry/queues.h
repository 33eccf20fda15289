/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue of a device: requests that wait for it and requests inside it.
 */
#ifndef OCF_QUEUES_H
#define OCF_QUEUES_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#define OCF_FLOWS		32	/* of owners, see session/flow.c */

/**
 * struct ocf_flow - an owner's work in front of a device and inside it
 * @waiting: requests that wait for the device, the oldest first
 * @count: of @waiting
 * @inside: ns of work inside the device, as estimated
 * @start: virtual time at which its next request begins, see sched/fair.c
 */
struct ocf_flow {
	struct list_head	waiting;
	unsigned int		count;
	u64			inside;
	u64			start;
};

/**
 * struct ocf_fair - all flows of a device
 * @flow: by ocf_job.flow
 * @backlogged: flows with requests that wait, a bit each
 * @waiting: ns of work of those, as estimated
 * @now: virtual time: the start tag of the request that entered last
 * @latest: flow of the request that arrived last
 * @came: jiffies, when it arrived
 * @shared: jiffies, when requests of two flows last arrived in short succession
 */
struct ocf_fair {
	struct ocf_flow		flow[OCF_FLOWS];
	unsigned long		backlogged;
	u64			waiting;
	u64			now;
	unsigned int		latest;
	unsigned long		came;
	unsigned long		shared;
};

/**
 * struct ocf_queue - what is inside a hardware device and what waits for it
 * @lock: protects all of it
 * @inflight: requests that the driver has
 * @fair: requests that wait
 * @count: of @inflight
 * @backlog: of @fair
 * @full: the driver has refused a request, and has not unblocked since
 * @full_since: ns, when it refused
 * @closed: no request may enter, not even a self-test's
 * @unblocks: calls of ocf_device_unblock(), free-running
 * @last_done: ns, when the latest completion came; a completion that sets
 *	@woken does not count
 * @woken: the latest completion only showed that the device had slept
 * @learn_phase: says which completions correct a cost
 * @dispatching: a task is moving requests from @fair to the driver
 * @dispatch: work that moves the rest when the task would have to move too many
 * @refill: timer that moves requests to the driver just before the device runs
 *	dry
 * @refill_at: ns, when @refill is due; U64_MAX: it is not armed
 * @refill_late: ns; @refill is seldom later than this
 * @submitting: calls of submit() that have not returned
 * @patience: ns that a request may be overdue
 * @watching: @watchdog is armed
 * @late: @watchdog found the device late the last time, with any kind of
 *	request
 * @watchdog: looks for overdue requests
 */
struct ocf_queue {
	spinlock_t		lock;
	struct list_head	inflight;
	struct ocf_fair		fair;
	unsigned int		count;
	unsigned int		backlog;
	bool			full;
	u64			full_since;
	bool			closed;
	unsigned int		unblocks;
	u64			last_done;
	bool			woken;
	u32			learn_phase;
	bool			dispatching;
	struct work_struct	dispatch;
	struct hrtimer		refill;
	u64			refill_at;
	u32			refill_late;
	atomic_t		submitting;
	u64			patience;
	bool			watching;
	bool			late;
	struct timer_list	watchdog;
};

#endif /* OCF_QUEUES_H */
