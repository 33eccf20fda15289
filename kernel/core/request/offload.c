// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests for the kernel's workers.
 */
#include "../core.h"

/*
 * Requests of one flow for workers.  At most as many workers as there are CPUs
 * do those of one owner: more would only take CPU time from others.
 */
struct worker_queue {
	spinlock_t		lock;	/* protects the rest; BH */
	struct list_head	waiting;
	unsigned int		workers;
};

static struct worker_queue worker_queues[OCF_FLOWS];

void __init ocf_offload_init(void)
{
	int i;

	for (i = 0; i < OCF_FLOWS; i++) {
		spin_lock_init(&worker_queues[i].lock);
		INIT_LIST_HEAD(&worker_queues[i].waiting);
	}
}

/**
 * ocf_offload() - have a worker do a request
 * @req: the request, on no list but that of its session's order; its @work is
 *	initialised, and calls ocf_offload_next() at its end
 *
 * Context: process or BH.
 */
void ocf_offload(struct ocf_request *req)
{
	struct worker_queue *q = &worker_queues[req->session->flow];

	spin_lock_bh(&q->lock);
	if (q->workers < num_online_cpus()) {
		q->workers++;
		queue_work(ocf_wq, &req->work);
	} else {
		list_add_tail(&req->job.node, &q->waiting);
	}
	spin_unlock_bh(&q->lock);
}

/**
 * ocf_offload_next() - end the work on a request
 * @flow: its owner's; the owner's next request is queued behind those of others
 *
 * Context: process.
 */
void ocf_offload_next(unsigned int flow)
{
	struct worker_queue *q = &worker_queues[flow];
	struct ocf_request *next;

	spin_lock_bh(&q->lock);
	next = list_first_entry_or_null(&q->waiting, struct ocf_request,
					job.node);
	if (next) {
		list_del(&next->job.node);
		queue_work(ocf_wq, &next->work);
	} else {
		q->workers--;
	}
	spin_unlock_bh(&q->lock);
}
