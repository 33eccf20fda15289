// SPDX-License-Identifier: GPL-2.0-only
/*
 * Public-key requests that wait for a device.
 *
 * Owners share a device's time equally, by start-time fair queueing as in
 * sched/fair.c: an owner with many requests, or with long ones, delays another
 * by one of them.
 *
 * All calls under pk_lock.
 */
#include "pk.h"

/* ns that @req counts for; 1 of each where no such operation was measured */
static u64 share_of(const struct ocf_pk_request *req)
{
	return max(req->expected, 1ULL);
}

void ocf_pk_queue_init(struct ocf_pk_unit *unit)
{
	int i;

	for (i = 0; i < OCF_FLOWS; i++)
		INIT_LIST_HEAD(&unit->queue.waiting[i]);
}

/**
 * ocf_pk_enqueue() - have a request wait for its device
 * @req: the request, on no list
 * @first: it comes before all others: the device has refused it
 */
void ocf_pk_enqueue(struct ocf_pk_request *req, bool first)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	struct ocf_pk_queue *q = &unit->queue;

	lockdep_assert_held(&ocf_pk_lock);
	if (first) {
		list_add(&req->node, &q->waiting[req->flow]);
		q->start[req->flow] -= min(q->start[req->flow], share_of(req));
	} else {
		list_add_tail(&req->node, &q->waiting[req->flow]);
	}
	q->count[req->flow]++;
	__set_bit(req->flow, &q->backlogged);
	unit->queued++;
	req->at = OCF_PK_QUEUED;
}

/**
 * ocf_pk_dequeue() - take a request that waits out of the queue
 * @req: the request
 */
void ocf_pk_dequeue(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	struct ocf_pk_queue *q = &unit->queue;

	lockdep_assert_held(&ocf_pk_lock);
	list_del(&req->node);
	if (!--q->count[req->flow])
		__clear_bit(req->flow, &q->backlogged);
	unit->queued--;
}

/**
 * ocf_pk_dequeue_next() - take the next request out of the queue
 * @unit: of the device
 *
 * Return: the oldest request of the next flow, or NULL.
 */
struct ocf_pk_request *ocf_pk_dequeue_next(struct ocf_pk_unit *unit)
{
	struct ocf_pk_queue *q = &unit->queue;
	struct ocf_pk_request *req;
	unsigned int i, flow;

	lockdep_assert_held(&ocf_pk_lock);
	if (!q->backlogged)
		return NULL;
	flow = __ffs(q->backlogged);
	for_each_set_bit(i, &q->backlogged, OCF_FLOWS)
		if (q->start[i] < q->start[flow])
			flow = i;
	req = list_first_entry(&q->waiting[flow], struct ocf_pk_request, node);
	ocf_pk_dequeue(req);
	/* what a flow did not use while it was idle is not banked */
	q->now = max(q->start[flow], q->now);
	q->start[flow] = q->now + share_of(req);
	return req;
}
