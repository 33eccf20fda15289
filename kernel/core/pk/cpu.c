// SPDX-License-Identifier: GPL-2.0-only
/*
 * Public-key requests on the CPU.  A task that waits for its request does it
 * itself.  Others are done by threads of the process that submitted them, or by
 * workers of the kernel, each of which does what is next in line until there is
 * nothing.
 */
#include <linux/slab.h>

#include "pk.h"

#include <trace/events/ocf.h>

/* What takes the CPU long: an administrator may bind it, and give it a nice */
static struct workqueue_struct *pk_cpu_wq;

/* Whether nobody wants the result */
static bool is_void(const struct ocf_pk_request *req)
{
	return READ_ONCE(req->cancelled) ||
	       (req->workers && ocf_workers_ended(req->workers));
}

/* @req is counted in the unit, and in the caller's hand. */
static void work_here(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	u64 begun = ktime_get_ns();
	int err = -ECANCELED;

	if (!is_void(req)) {
		trace_ocf_pk_start(req, req->dev->number);
		err = ocf_pk_ops_of(req->dev)->submit(req);
	}
	spin_lock_bh(&ocf_pk_lock);
	unit->backlog -= req->expected;
	unit->count--;
	if (!err)
		ocf_pk_learn(unit, req, ktime_get_ns() - begun);
	spin_unlock_bh(&ocf_pk_lock);
	ocf_pk_answered(req, err);
}

/* A worker does what is next, one at a time. */
static void hand_work(struct work_struct *work)
{
	struct ocf_pk_hand *hand = container_of(work, struct ocf_pk_hand, work);
	struct ocf_pk_unit *unit = hand->unit;
	struct ocf_pk_request *req;

	spin_lock_bh(&ocf_pk_lock);
	req = ocf_pk_line_next(unit);
	if (req) {
		req->at = OCF_PK_IDLE;
		unit->count++;
	} else {
		__set_bit(hand - unit->hands, &unit->free);
	}
	spin_unlock_bh(&ocf_pk_lock);
	if (!req) {
		/* it may be the last who knew the unit */
		ocf_device_put(unit->dev);
		return;
	}
	work_here(req);
	queue_work(pk_cpu_wq, &hand->work);
}

static void call_a_hand(struct ocf_pk_unit *unit)
{
	struct ocf_pk_hand *hand;

	lockdep_assert_held(&ocf_pk_lock);
	if (!unit->free)
		return;
	hand = &unit->hands[__ffs(unit->free)];
	__clear_bit(hand - unit->hands, &unit->free);
	ocf_device_get(unit->dev);
	queue_work(pk_cpu_wq, &hand->work);
}

/* A thread of the process that submitted it does it. */
static void process_work(struct work_struct *work)
{
	struct ocf_pk_request *req = container_of(work, struct ocf_pk_request,
						  work);

	work_here(req);
}

/* Whether the caller does @req itself */
static bool is_for_caller(const struct ocf_pk_request *req)
{
	return req->waiter ||
	       (req->workers && !ocf_workers_ready(req->workers));
}

/* Whether a thread of the submitter's process has @req now. */
static bool give_to_process(struct ocf_pk_request *req)
{
	lockdep_assert_held(&ocf_pk_lock);
	if (!req->workers)
		return false;
	INIT_WORK(&req->work, process_work);
	return ocf_workers_queue(req->workers, &req->work);
}

/**
 * ocf_pk_enter_software() - have the CPU do a request
 * @req: the request, in the caller's hand
 *
 * It is done here if a task waits for it, or if its process has no threads, and
 * by a thread of the process or a worker otherwise.
 *
 * Context: process; may sleep.
 */
void ocf_pk_enter_software(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool here = is_for_caller(req), cancelled = false;

	spin_lock_bh(&ocf_pk_lock);
	unit->backlog += req->expected;
	if (here || give_to_process(req)) {
		unit->count++;
	} else {
		ocf_pk_line_up(req, false);
		cancelled = req->cancelled && ocf_pk_take_in_hand(req);
		if (!cancelled)
			call_a_hand(unit);
	}
	spin_unlock_bh(&ocf_pk_lock);
	/* else @req may be gone */
	if (here)
		work_here(req);
	else if (cancelled)
		ocf_pk_give_up(req);
}

/**
 * ocf_pk_make_hands() - make workers, as many as can be at work at a time
 * @unit: the CPU's
 *
 * Context: process; may sleep.
 * Return: 0, or -ENOMEM.
 */
int ocf_pk_make_hands(struct ocf_pk_unit *unit)
{
	unsigned int n = min(num_online_cpus(), OCF_PK_HANDS), i;

	unit->hands = kcalloc(n, sizeof(*unit->hands), GFP_KERNEL);
	if (!unit->hands)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		unit->hands[i].unit = unit;
		INIT_WORK(&unit->hands[i].work, hand_work);
		__set_bit(i, &unit->free);
	}
	return 0;
}

void ocf_pk_cpu_flush(void)
{
	flush_workqueue(pk_cpu_wq);
}

int ocf_pk_cpu_init(void)
{
	pk_cpu_wq = alloc_workqueue("ocf_pk_cpu", WQ_UNBOUND | WQ_SYSFS,
				    num_online_cpus());
	return pk_cpu_wq ? 0 : -ENOMEM;
}

void ocf_pk_cpu_exit(void)
{
	destroy_workqueue(pk_cpu_wq);
}
