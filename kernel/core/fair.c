// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fairness between owners who wait for the same card.
 *
 * Start-time fair queueing (Goyal, Vin, Cheng: Start-time Fair Queueing,
 * IEEE/ACM Transactions on Networking 5(5), 1997) over measured service time:
 * each request begins, in virtual time, when its owner's previous one has
 * ended, and of those that wait the one that begins first is let in.  Who
 * comes after a pause begins now: what was not used is not saved up.
 *
 * Nothing is fair once it is inside a card.  So while a card is shared, who has
 * something in it may have more only when it is about to run dry: see pace.c.
 * Who has nothing in it goes in at once if it is his turn, as it is for who has
 * had less than the others.  One owner alone may fill it.
 *
 * All calls under the lock of the queue.
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
 * ocf_fair_wait() - a request waits
 * @fair: the device's
 * @req: the request
 * @first: before all others of its owner: the device has refused it
 */
void ocf_fair_wait(struct ocf_fair *fair, struct ocf_request *req, bool first)
{
	struct ocf_flow *flow = ocf_flow_of(fair, req);

	if (first) {
		list_add(&req->node, &flow->waiting);
		flow->start -= min_t(u64, flow->start, req->estimate);
	} else {
		list_add_tail(&req->node, &flow->waiting);
	}
	flow->count++;
	fair->waiting += req->estimate;
	__set_bit(req->session->flow, &fair->backlogged);
}

/**
 * ocf_fair_unwait() - a request does not wait any more
 * @fair: the device's
 * @req: the request
 */
void ocf_fair_unwait(struct ocf_fair *fair, struct ocf_request *req)
{
	struct ocf_flow *flow = ocf_flow_of(fair, req);

	list_del(&req->node);
	if (!--flow->count)
		__clear_bit(req->session->flow, &fair->backlogged);
	fair->waiting -= req->estimate;
}

/**
 * ocf_fair_next() - the request to be let in next
 * @fair: the device's
 *
 * Return: the one that begins first, or NULL.
 */
struct ocf_request *ocf_fair_next(struct ocf_fair *fair)
{
	struct ocf_request *next = NULL;
	u64 first = U64_MAX;
	int i;

	for_each_set_bit(i, &fair->backlogged, OCF_FLOWS) {
		if (fair->flow[i].start < first) {
			first = fair->flow[i].start;
			next = list_first_entry(&fair->flow[i].waiting,
						struct ocf_request, node);
		}
	}
	return next;
}

/**
 * ocf_fair_precedes() - whether who has just come begins before all who wait
 * @fair: the device's
 * @flow: whose request has come; none of his waits
 *
 * Return: whether.
 */
bool ocf_fair_precedes(struct ocf_fair *fair, unsigned int flow)
{
	u64 start = max(fair->flow[flow].start, fair->now);
	struct ocf_request *next = ocf_fair_next(fair);

	return !next || start <= max(ocf_flow_of(fair, next)->start, fair->now);
}

/**
 * ocf_fair_empty() - nobody waits, and nothing is inside
 * @fair: the device's
 * @orphans: where to put those who waited
 */
void ocf_fair_empty(struct ocf_fair *fair, struct list_head *orphans)
{
	struct ocf_flow *flow;

	for (flow = fair->flow; flow < fair->flow + OCF_FLOWS; flow++) {
		list_splice_tail_init(&flow->waiting, orphans);
		flow->count = 0;
		flow->inside = 0;
	}
	fair->backlogged = 0;
	fair->waiting = 0;
}
