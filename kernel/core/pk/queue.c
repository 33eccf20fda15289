// SPDX-License-Identifier: GPL-2.0-only
/*
 * Public-key requests that wait for a device.  Owners share the device's time
 * equally (sched/fair.c).
 *
 * All calls under pk_lock.
 */
#include "../sched/fair.h"
#include "pk.h"

/**
 * ocf_pk_enqueue() - have a request wait for its device
 * @req: the request, on no list
 * @first: it comes before all others: the device has refused it
 */
void ocf_pk_enqueue(struct ocf_pk_request *req, bool first)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	ocf_fair_enqueue(&unit->fair, &req->job, first);
	WRITE_ONCE(unit->queued, unit->queued + 1);
	req->at = OCF_PK_QUEUED;
}

/**
 * ocf_pk_dequeue() - take a request that waits out of the queue
 * @req: the request
 */
void ocf_pk_dequeue(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	ocf_fair_dequeue(&unit->fair, &req->job);
	WRITE_ONCE(unit->queued, unit->queued - 1);
}

/**
 * ocf_pk_dequeue_next() - take the next request out of the queue
 * @unit: of the device
 *
 * Return: the oldest request of the next flow, or NULL.
 */
struct ocf_pk_request *ocf_pk_dequeue_next(struct ocf_pk_unit *unit)
{
	struct ocf_job *job;
	struct ocf_pk_request *req;

	lockdep_assert_held(&ocf_pk_lock);
	job = ocf_fair_next(&unit->fair);
	if (!job)
		return NULL;
	req = container_of(job, struct ocf_pk_request, job);
	ocf_pk_dequeue(req);
	ocf_fair_begin(&unit->fair, job);
	return req;
}
