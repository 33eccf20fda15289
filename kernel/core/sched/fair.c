// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fair shares of a card for the owners that wait for it.
 *
 * This is start-time fair queueing (Goyal, Vin, Cheng: Start-time Fair
 * Queueing, IEEE/ACM Transactions on Networking 5(5), 1997) over measured
 * service time.  The start tag of a request is the virtual time at which its
 * owner's previous request ends.  The waiting request with the smallest start
 * tag enters next.  A flow that was idle re-enters at the current virtual time:
 * unused share is not banked.
 *
 * A card decides the order of the requests inside it.  So while owners share a
 * card, a flow with requests inside gets another one in only when the card is
 * about to run dry (pace.c).  A flow with nothing inside is dispatched
 * immediately when its start tag is smallest.  A single owner may fill the
 * card.
 *
 * The caller of each function holds the lock of the queue.
 */
#include "fair.h"

void ocf_fair_init(struct ocf_fair *fair)
{
	int i;

	for (i = 0; i < OCF_FLOWS; i++)
		INIT_LIST_HEAD(&fair->flow[i].waiting);
	fair->came = jiffies - OCF_SHARED - 1;
	fair->shared = fair->came;
}

/**
 * ocf_fair_enqueue() - have a request wait
 * @fair: the device's
 * @job: the request
 * @first: it goes before its owner's others: the device has refused it, or it
 *	is a self-test's
 */
void ocf_fair_enqueue(struct ocf_fair *fair, struct ocf_job *job, bool first)
{
	struct ocf_flow *flow = ocf_flow_of(fair, job);

	if (first) {
		list_add(&job->node, &flow->waiting);
		flow->start -= min_t(u64, flow->start, job->estimate);
	} else {
		list_add_tail(&job->node, &flow->waiting);
	}
	flow->count++;
	fair->waiting += job->estimate;
	__set_bit(job->flow, &fair->backlogged);
}

/**
 * ocf_fair_dequeue() - end the waiting of a request
 * @fair: the device's
 * @job: the request
 */
void ocf_fair_dequeue(struct ocf_fair *fair, struct ocf_job *job)
{
	struct ocf_flow *flow = ocf_flow_of(fair, job);

	list_del(&job->node);
	if (!--flow->count)
		__clear_bit(job->flow, &fair->backlogged);
	fair->waiting -= job->estimate;
}

/**
 * ocf_fair_next() - the request that enters next
 * @fair: the device's
 *
 * Return: the one with the smallest start tag, or NULL.
 */
struct ocf_job *ocf_fair_next(struct ocf_fair *fair)
{
	struct ocf_job *next = NULL;
	u64 first = U64_MAX;
	int i;

	for_each_set_bit(i, &fair->backlogged, OCF_FLOWS) {
		if (fair->flow[i].start < first) {
			first = fair->flow[i].start;
			next = list_first_entry(&fair->flow[i].waiting,
						struct ocf_job, node);
		}
	}
	return next;
}

/**
 * ocf_fair_precedes() - whether a new request enters before all that wait
 * @fair: the device's
 * @flow: the flow of the new request, which has none that wait
 *
 * Return: whether.
 */
bool ocf_fair_precedes(struct ocf_fair *fair, unsigned int flow)
{
	u64 start = max(fair->flow[flow].start, fair->now);
	struct ocf_job *next = ocf_fair_next(fair);

	return !next || start <= max(ocf_flow_of(fair, next)->start, fair->now);
}

/**
 * ocf_fair_empty() - forget all requests, those inside the device, too
 * @fair: the device's
 * @requeue: gets the requests that waited
 */
void ocf_fair_empty(struct ocf_fair *fair, struct list_head *requeue)
{
	struct ocf_flow *flow;

	for (flow = fair->flow; flow < fair->flow + OCF_FLOWS; flow++) {
		list_splice_tail_init(&flow->waiting, requeue);
		flow->count = 0;
		flow->inside = 0;
	}
	fair->backlogged = 0;
	fair->waiting = 0;
}
