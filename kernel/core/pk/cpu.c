// SPDX-License-Identifier: GPL-2.0-only
/*
 * Public-key requests on the CPU.  A task that waits for its request does the
 * work itself.  Other requests are done by threads of the process that
 * submitted them.  The kernel's own requests wait for workers; a worker does
 * one request after the other until none waits.
 */
#include <linux/slab.h>

#include "pk.h"

#include <trace/events/ocf.h>

/* Runs the workers.  In sysfs, where its CPUs and its nice value can be set. */
static struct workqueue_struct *pk_cpu_wq;

/* Whether the request was cancelled, or its process has ended */
static bool is_unwanted(const struct ocf_pk_request *req)
{
	return READ_ONCE(req->cancelled) ||
	       (req->workers && ocf_workers_ended(req->workers));
}

/* Counts @req as in progress. */
static void enter_cpu(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	WRITE_ONCE(unit->count, unit->count + 1);
	unit->inside += req->job.estimate;
}

/* Counts @req as in progress no longer. */
static void leave_cpu(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;

	lockdep_assert_held(&ocf_pk_lock);
	WRITE_ONCE(unit->count, unit->count - 1);
	unit->inside -= req->job.estimate;
}

/* Does @req, which the caller has claimed and given to enter_cpu(). */
static void do_request(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	int err = -ECANCELED;

	req->started = ktime_get_ns();
	if (!is_unwanted(req)) {
		trace_ocf_pk_start(req, req->dev->number);
		err = ocf_pk_ops_of(req->dev)->submit(req);
	}
	spin_lock_bh(&ocf_pk_lock);
	leave_cpu(req);
	if (!err)
		ocf_pk_learn(unit, req, ktime_get_ns());
	spin_unlock_bh(&ocf_pk_lock);
	ocf_pk_completed(req, err);
}

/* Does the next request that waits. */
static void worker_work(struct work_struct *work)
{
	struct ocf_pk_worker *worker =
		container_of(work, struct ocf_pk_worker, work);
	struct ocf_pk_unit *unit = worker->unit;
	struct ocf_pk_request *req;

	spin_lock_bh(&ocf_pk_lock);
	req = ocf_pk_dequeue_next(unit);
	if (req) {
		req->at = OCF_PK_CLAIMED;
		enter_cpu(req);
	} else {
		__set_bit(worker - unit->workers, &unit->idle);
	}
	spin_unlock_bh(&ocf_pk_lock);
	if (!req) {
		/* may be the last reference of the device */
		ocf_device_put(unit->dev);
		return;
	}
	do_request(req);
	queue_work(pk_cpu_wq, &worker->work);
}

static void wake_worker(struct ocf_pk_unit *unit)
{
	struct ocf_pk_worker *worker;

	lockdep_assert_held(&ocf_pk_lock);
	if (!unit->idle)
		return;
	worker = &unit->workers[__ffs(unit->idle)];
	__clear_bit(worker - unit->workers, &unit->idle);
	ocf_device_get(unit->dev);
	queue_work(pk_cpu_wq, &worker->work);
}

/* In a thread of the process that submitted the request. */
static void process_work(struct work_struct *work)
{
	struct ocf_pk_request *req = container_of(work, struct ocf_pk_request,
						  work);

	do_request(req);
}

/* Whether the caller is to do @req itself */
static bool is_for_caller(const struct ocf_pk_request *req)
{
	return req->waiter ||
	       (req->workers && !ocf_workers_ready(req->workers));
}

/* Whether @req was given to a thread of the submitter's process. */
static bool give_to_process(struct ocf_pk_request *req)
{
	lockdep_assert_held(&ocf_pk_lock);
	if (!req->workers)
		return false;
	INIT_WORK(&req->work, process_work);
	return ocf_workers_queue(req->workers, &req->work);
}

/**
 * ocf_pk_start_on_cpu() - have the CPU do a request
 * @req: the request, which the caller has claimed
 *
 * The caller does the work if a task waits for the result, or if the
 * submitter's process has no threads yet.  Otherwise a thread of the process or
 * a worker does it.
 *
 * Context: process; may sleep.
 */
void ocf_pk_start_on_cpu(struct ocf_pk_request *req)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool here = is_for_caller(req), cancelled = false;

	spin_lock_bh(&ocf_pk_lock);
	if (here || give_to_process(req)) {
		enter_cpu(req);
	} else {
		ocf_pk_enqueue(req, false);
		cancelled = req->cancelled && ocf_pk_claim(req);
		if (!cancelled)
			wake_worker(unit);
	}
	spin_unlock_bh(&ocf_pk_lock);
	/* if a thread or a worker has @req, it may be freed by now */
	if (here)
		do_request(req);
	else if (cancelled)
		ocf_pk_end_cancelled(req);
}

/**
 * ocf_pk_make_workers() - make a worker for each CPU
 * @unit: the CPU's
 *
 * Context: process; may sleep.
 * Return: 0, or -ENOMEM.
 */
int ocf_pk_make_workers(struct ocf_pk_unit *unit)
{
	unsigned int n = min(num_online_cpus(), OCF_PK_WORKERS), i;

	unit->workers = kcalloc(n, sizeof(*unit->workers), GFP_KERNEL);
	if (!unit->workers)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		unit->workers[i].unit = unit;
		INIT_WORK(&unit->workers[i].work, worker_work);
		__set_bit(i, &unit->idle);
	}
	return 0;
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
