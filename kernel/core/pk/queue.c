// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who waits for a device's public-key operations.
 *
 * Flows take turns, one operation each: who has many waiting keeps others for
 * as long as one of his takes, not for all of them.
 *
 * All calls under pk_lock.
 */
#include "pk.h"

void ocf_pk_lines_init(struct ocf_pk_unit *unit)
{
	int i;

	for (i = 0; i < OCF_FLOWS; i++)
		INIT_LIST_HEAD(&unit->lines.waiting[i]);
}

/**
 * ocf_pk_line_up() - a request waits for its device
 * @req: the request, on no list
 * @first: before all others of its flow: the device has refused it
 */
void ocf_pk_line_up(struct ocf_pk_request *req, bool first)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	struct ocf_pk_lines *l = &unit->lines;

	lockdep_assert_held(&ocf_pk_lock);
	if (first) {
		list_add(&req->node, &l->waiting[req->flow]);
		/* and of all flows: it had its turn */
		l->turn = req->flow;
	} else {
		list_add_tail(&req->node, &l->waiting[req->flow]);
	}
	l->count[req->flow]++;
	__set_bit(req->flow, &l->busy);
	unit->queued++;
	req->at = OCF_PK_QUEUED;
}

/**
 * ocf_pk_line_leave() - a request does not wait any more
 * @req: the request
 */
void ocf_pk_line_leave(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	struct ocf_pk_lines *l = &unit->lines;

	lockdep_assert_held(&ocf_pk_lock);
	list_del(&req->node);
	if (!--l->count[req->flow])
		__clear_bit(req->flow, &l->busy);
	unit->queued--;
}

/**
 * ocf_pk_line_next() - the request whose turn it is
 * @unit: of the device
 *
 * Return: it, out of its line, or NULL.
 */
struct ocf_pk_request *ocf_pk_line_next(struct ocf_pk_unit *unit)
{
	struct ocf_pk_lines *l = &unit->lines;
	struct ocf_pk_request *req;
	unsigned int flow;

	lockdep_assert_held(&ocf_pk_lock);
	if (!l->busy)
		return NULL;
	flow = find_next_bit(&l->busy, OCF_FLOWS, l->turn);
	if (flow >= OCF_FLOWS)
		flow = __ffs(l->busy);
	l->turn = flow + 1;
	req = list_first_entry(&l->waiting[flow], struct ocf_pk_request, node);
	ocf_pk_line_leave(req);
	return req;
}
