/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which device a request goes to, and when it gets in.
 */
#ifndef OCF_SCHED_H
#define OCF_SCHED_H

#include "../registry/registry.h"
#include "../session/session.h"
#include "cost.h"

/* select.c */
u64 ocf_select_score(struct ocf_session *ses, struct ocf_keys *keys,
		     enum ocf_op op, u32 bytes);

/* learn.c */
void ocf_device_learn(struct ocf_device *dev,
		      const struct ocf_session_params *p, enum ocf_op op,
		      u32 bytes, const struct ocf_sample *sample);

/* crossover.c */
void ocf_crossover_woken(u64 ns);

/* fair.c */
void ocf_fair_init(struct ocf_fair *fair);
void ocf_fair_enqueue(struct ocf_fair *fair, struct ocf_job *job, bool first);
void ocf_fair_dequeue(struct ocf_fair *fair, struct ocf_job *job);
struct ocf_job *ocf_fair_next(struct ocf_fair *fair);
bool ocf_fair_precedes(struct ocf_fair *fair, unsigned int flow);
void ocf_fair_empty(struct ocf_fair *fair, struct list_head *requeue);

/* queue.c */
void ocf_queue_init(struct ocf_device *dev);
int ocf_queue_submit(struct ocf_device *dev, struct ocf_request *req);
int ocf_queue_leave(struct ocf_device *dev, struct ocf_request *req, int err);
bool ocf_queue_cancel(struct ocf_device *dev, struct ocf_request *req);
void ocf_queue_dispatch(struct ocf_device *dev);
void ocf_queue_kick(struct ocf_device *dev);
void ocf_queue_open(struct ocf_device *dev);
void ocf_queue_close(struct ocf_device *dev);
void ocf_queue_end(struct ocf_device *dev);
void ocf_queue_watch(struct ocf_device *dev);
struct ocf_request *ocf_queue_reclaim(struct ocf_device *dev);
bool ocf_queue_reclaimed(struct ocf_device *dev, struct ocf_request *req,
			 bool detached, struct list_head *requeue);
void ocf_queue_empty(struct ocf_device *dev, struct list_head *requeue);

/*
 * Dispatches if requests wait.  The caller has made room under the queue's
 * lock, so it sees every request that began to wait before.
 */
static inline void ocf_queue_try_dispatch(struct ocf_device *dev)
{
	if (READ_ONCE(dev->queue.backlog))
		ocf_queue_dispatch(dev);
}

/*
 * Number of checks by the watchdog before a request in an otherwise idle card
 * is late
 */
#define OCF_WATCHDOG_LOOKS	4

/* jiffies between two looks of the watchdog */
static inline unsigned long ocf_watchdog_interval(const struct ocf_queue *q)
{
	return max(nsecs_to_jiffies(q->patience / OCF_WATCHDOG_LOOKS), 1UL);
}

/*
 * ns of work inside @dev; without the queue's lock this may be inexact, and
 * even negative
 */
static inline s64 ocf_queue_inside(const struct ocf_device *dev)
{
	return atomic_long_read(&dev->load) - dev->queue.fair.waiting;
}

#endif /* OCF_SCHED_H */
