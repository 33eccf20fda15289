/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request from its submission to its delivery.
 */
#ifndef OCF_REQUEST_H
#define OCF_REQUEST_H

#include <linux/ocf_driver.h>

#include "../registry/registry.h"
#include "../session/session.h"

/* Bits of ocf_request.bits */
#define OCF_BIT_CANCELLED	BIT(0)	/* ocf_cancel() came in time */
#define OCF_BIT_DONE		BIT(1)	/* has its result: exactly once */
#define OCF_BIT_WAITER		BIT(2)	/* a task waits: ocf_run() */
#define OCF_BIT_WOKEN		BIT(3)	/* the task was woken with the result */
#define OCF_BIT_ABANDONED	BIT(4)	/* the waiting task was killed */
/* BIT(5) is OCF_BIT_WORKER, in <linux/ocf_driver.h> */
#define OCF_BIT_RESTARTED	BIT(6)	/* accepted: no queue refuses it */
/* BIT(7) is OCF_BIT_OPENED, in <linux/ocf_driver.h> */
#define OCF_BIT_OFFLOADED	BIT(8)	/* a worker has it, and has not begun */
#define OCF_BIT_RETURNED	BIT(9)	/* the waiter has to restart it */

/* ocf_request.where; changed under the lock of the list it names */
enum {
	OCF_AT_START,		/* on no list */
	OCF_AT_PARKED,		/* on keys->parked */
	OCF_AT_QUEUE,		/* in dev->queue.fair */
	OCF_AT_DEVICE,		/* on dev->queue.inflight */
	OCF_AT_RECLAIM,		/* being taken back from the device */
	OCF_AT_ANSWERED,	/* ... which has completed it meanwhile */
};

/* request.c */
extern const struct ocf_request_ops ocf_request_calls;
void ocf_request_complete(struct ocf_request *req, int err, bool inside_submit);
void ocf_requests_replay(struct list_head *list, struct ocf_device *dev);

/* start.c */
int ocf_request_start(struct ocf_request *req);
int ocf_request_start_again(struct ocf_request *req);
void ocf_request_restart(struct ocf_request *req);
void ocf_request_restart_later(struct ocf_request *req);

/* offload.c */
void ocf_offload_init(void);
void ocf_offload(struct ocf_request *req);
void ocf_offload_next(unsigned int flow);

/* workers.c */
bool ocf_workers_ready(struct ocf_workers *w);
atomic_long_t *ocf_workers_load(struct ocf_workers *w);
void ocf_workers_exit(void);
bool ocf_workers_queue(struct ocf_workers *w, struct work_struct *work);

/* chain.c */
bool ocf_chain_wins(struct ocf_request *req, struct ocf_keys *keys, u64 score);
int ocf_chain_start(struct ocf_request *req);
bool ocf_chain_next(struct ocf_request *req, int *err);

/* buffer.c */
bool ocf_buffer_same(struct scatterlist *a, struct scatterlist *b, u32 start,
		     u32 len);
void ocf_buffer_deny(struct ocf_request *req);

/* deliver.c */
int ocf_deliver_init(void);
void ocf_deliver_exit(void);
void ocf_request_end(struct ocf_request *req, int err, bool inside_submit);
bool ocf_request_end_here(struct ocf_request *req);
void ocf_order_enter(struct ocf_request *req);
void ocf_order_leave(struct ocf_request *req);
void ocf_order_work(struct work_struct *work);

#endif /* OCF_REQUEST_H */
