// SPDX-License-Identifier: GPL-2.0-only
/*
 * A public-key request's life.
 *
 * ocf_pk_submit() checks a request and starts it on the CPU or on a card.  On
 * the CPU the submitter does the work if it waits for the result; otherwise a
 * thread of its process or a worker does.  On a card the request is inside or
 * waits in the card's queue.  When the card is done, the same task as on the
 * CPU checks the result, and ends the request or starts it on another device.
 * So this CPU time is charged to the user, even if the user's requests make
 * cards fail.
 *
 * The task that takes a request out of a list, under pk_lock, has claimed it.
 * No other task touches a claimed request, so a request ends once.  See the
 * states in pk.h.
 */
#include <linux/slab.h>
#include <linux/srcu.h>

#include "pk.h"

#include <trace/events/ocf.h>

/* After so many failures in a row the card is tested. */
#define FAILURES_MAX 4

DEFINE_SPINLOCK(ocf_pk_lock);
struct workqueue_struct *ocf_pk_wq;

/* Held while a consumer's callback runs, in whatever task. */
DEFINE_STATIC_SRCU(callbacks);

/* ---- the end of a request ---- */

/*
 * Tells the consumer.  The caller has claimed @req.
 * Context: process; may sleep.
 */
static void end_request(struct ocf_pk_request *req, int err)
{
	if (err)
		ocf_pk_wipe(&req->op);
	ocf_pk_rsa_free(req);
	ocf_flow_put(req->job.flow);
	req->err = err;
	trace_ocf_pk_done(req, err);
	if (req->waiter) {
		complete(&req->over);
		return;
	}
	/* @req may be freed by its callback */
	scoped_guard(srcu, &callbacks)
		req->done(req, err);
}

/* Takes @req off its device, and counts it there. */
static void leave_device(struct ocf_pk_request *req, int err)
{
	struct ocf_device *dev = req->dev;
	bool returned = req->returned;

	if (!req->testing)
		ocf_device_count(dev, OCF_JOB_PUBLIC_KEY, 0, err);
	req->used = dev->number;
	req->dev = NULL;
	req->returned = false;
	if (returned)
		put_device(&dev->dev);
	else
		ocf_device_put(dev);
}

static int start_request(struct ocf_pk_request *req);

/*
 * Handles @req, which its card did not complete, or completed wrongly: starts
 * it on another device, or ends it.
 */
static void restart_elsewhere(struct ocf_pk_request *req, int err)
{
	int again;

	req->tried |= BIT_ULL(req->dev->number);
	trace_ocf_pk_replay(req, req->dev->number, err);
	ocf_device_count_replay(req->dev, OCF_JOB_PUBLIC_KEY);
	leave_device(req, err);
	again = READ_ONCE(req->cancelled) ? -ECANCELED : start_request(req);
	if (!again)
		return;
	/* the device's error says more than that there is no other device */
	end_request(req,
		    again == -EOPNOTSUPP || again == -ENODEV ? err : again);
}

/*
 * Checks a card's result.  A key whose numbers do not belong together gives
 * wrong results and errors, too.  So wrong results and errors alone do not
 * prove the card faulty; otherwise a user could get it taken out of use.
 * Instead, they make the core test the card.
 *
 * Return: @err; if the result is wrong -EIO, or -EBADMSG for a self-test.
 */
static int check_answer(struct ocf_pk_request *req, int err)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool suspect = false;

	if (!err) {
		err = ocf_pk_rsa_prove(req);
		suspect = err == -EBADMSG;
	}
	if (req->testing)
		return err;
	if (suspect)
		err = -EIO;
	spin_lock_bh(&ocf_pk_lock);
	unit->failures = err == -EIO ? unit->failures + 1 : 0;
	if (unit->failures >= FAILURES_MAX) {
		unit->failures = 0;
		suspect = true;
	}
	spin_unlock_bh(&ocf_pk_lock);
	if (suspect)
		ocf_device_retest(req->dev);
	return err;
}

/* The device is done with @req, which the caller has claimed. */
void ocf_pk_completed(struct ocf_pk_request *req, int err)
{
	bool card = ocf_pk_is_card(req->dev);

	if (READ_ONCE(req->cancelled)) {
		err = -ECANCELED;
	} else if (card) {
		err = check_answer(req, err);
		if (err && !req->testing)
			return restart_elsewhere(req, err);
	}
	if (!err)
		err = ocf_pk_check_result(&req->op) ?: ocf_pk_rsa_finish(req);
	leave_device(req, err);
	end_request(req, err);
}

static void complete_work(struct work_struct *work)
{
	struct ocf_pk_request *req = container_of(work, struct ocf_pk_request,
						  work);

	if (req->workers && ocf_workers_ended(req->workers))
		WRITE_ONCE(req->cancelled, true);
	ocf_pk_completed(req, req->err);
}

/**
 * ocf_pk_return() - have the submitter end a request, or start it elsewhere
 * @req: the request, which a card has completed, or which was taken from it
 *
 * The submitter is the task that waits, or a thread of its process; a worker
 * where there is neither.  The card can be unregistered even if the submitter
 * does not handle @req for a long time: only the memory of struct ocf_device
 * stays.
 *
 * Context: process or BH.
 */
void ocf_pk_return(struct ocf_pk_request *req)
{
	lockdep_assert_held(&ocf_pk_lock);
	get_device(&req->dev->dev);
	ocf_device_put(req->dev);
	req->returned = true;
	if (req->waiter)
		complete(&req->over);
	else if (!req->workers || !ocf_workers_queue(req->workers, &req->work))
		queue_work(ocf_pk_wq, &req->work);
}

/* Ends @req, which was cancelled, and which the caller has claimed. */
void ocf_pk_end_cancelled(struct ocf_pk_request *req)
{
	if (req->at == OCF_PK_DETACHING)
		ocf_pk_detach(req);
	leave_device(req, -ECANCELED);
	end_request(req, -ECANCELED);
}

void ocf_pk_cancel(struct ocf_pk_request *req)
{
	bool mine;

	might_sleep();
	spin_lock_bh(&ocf_pk_lock);
	/* if another task has claimed @req, that task will see this */
	req->cancelled = true;
	mine = ocf_pk_claim(req);
	spin_unlock_bh(&ocf_pk_lock);
	if (mine)
		ocf_pk_end_cancelled(req);
}
OCF_EXPORT(ocf_pk_cancel);

/* ---- the start ---- */

/* Has a device do @req, which the caller has claimed. */
static int start_request(struct ocf_pk_request *req)
{
	int err;

	do {
		req->at = OCF_PK_CLAIMED;
		req->dev = ocf_pk_select(req, &err);
		if (!req->dev)
			return err;
		if (!ocf_pk_is_card(req->dev)) {
			ocf_pk_start_on_cpu(req);
			return 0;
		}
		err = ocf_pk_start_on_card(req);
		if (err) {
			ocf_device_put(req->dev);
			req->dev = NULL;
		}
	} while (err == -EAGAIN);
	return err;
}

static int check_and_start(struct ocf_pk_request *req)
{
	int err;

	req->wrong = OCF_FIELD_NONE;
	err = ocf_pk_check(&req->op, &req->wrong);
	if (err)
		return err;
	if (req->flags & ~OCF_SESSION_ANY) {
		req->wrong = OCF_FIELD_FLAGS;
		return -EINVAL;
	}
	INIT_WORK(&req->work, complete_work);
	req->now = &req->op;
	req->plain = NULL;
	req->dev = NULL;
	req->used = -ENODEV;
	req->tried = 0;
	req->cancelled = false;
	req->entering = false;
	req->returned = false;
	req->err = 0;
	err = ocf_pk_rsa_prepare(req);
	if (err)
		return err;
	req->job.flow = ocf_flow_get(req->owner);
	trace_ocf_pk_submit(req);
	err = start_request(req);
	if (err) {
		ocf_flow_put(req->job.flow);
		ocf_pk_rsa_free(req);
	}
	return err;
}

int ocf_pk_submit(struct ocf_pk_request *req)
{
	might_sleep();
	req->waiter = false;
	req->testing = NULL;
	return check_and_start(req);
}
OCF_EXPORT(ocf_pk_submit);

/* For the task that waits for @req.  Return: whether a card has returned it. */
static bool complete_returned(struct ocf_pk_request *req)
{
	if (!req->returned)
		return false;
	ocf_pk_completed(req, req->err);
	return true;
}

/**
 * ocf_pk_run_on() - ocf_pk_run(), also on a device that is being tested
 * @req: the request
 * @testing: the device, or NULL
 * @timeout: jiffies; the wait is extended as long as @testing is in use
 *
 * Context: process; may sleep.
 * Return: as ocf_pk_run(), or -ETIMEDOUT.
 */
int ocf_pk_run_on(struct ocf_pk_request *req, struct ocf_device *testing,
		  unsigned long timeout)
{
	long left;
	int err;

	might_sleep();
	req->waiter = true;
	req->testing = testing;
	init_completion(&req->over);
	err = check_and_start(req);
	if (err)
		return err;
	do {
		left = wait_for_completion_killable_timeout(&req->over,
							    timeout);
		if (left > 0 && !complete_returned(req))
			return req->err;
	} while (left > 0 ||
		 (!left && testing && ocf_device_is_watched(testing)));
	ocf_pk_cancel(req);
	do {
		wait_for_completion(&req->over);
	} while (complete_returned(req));
	return left ? -EINTR : -ETIMEDOUT;
}

int ocf_pk_run(struct ocf_pk_request *req)
{
	return ocf_pk_run_on(req, NULL, MAX_SCHEDULE_TIMEOUT);
}
OCF_EXPORT(ocf_pk_run);

struct ocf_pk_request *ocf_pk_alloc(gfp_t gfp)
{
	struct ocf_pk_request *req = kzalloc(sizeof(*req), gfp);

	if (req) {
		req->device = OCF_DEVICE_ANY;
		req->used = -ENODEV;
	}
	return req;
}
OCF_EXPORT(ocf_pk_alloc);

void ocf_pk_free(struct ocf_pk_request *req)
{
	kfree_sensitive(req);
}
OCF_EXPORT(ocf_pk_free);

void ocf_pk_flush(void)
{
	synchronize_srcu(&callbacks);
}
OCF_EXPORT(ocf_pk_flush);

int ocf_pk_init(void)
{
	int err = ocf_pk_cpu_init();

	if (err)
		return err;
	/* the CPU's operations take long, so they have a queue of their own */
	ocf_pk_wq = alloc_workqueue("ocf_pk", WQ_UNBOUND, 0);
	if (ocf_pk_wq)
		return 0;
	ocf_pk_cpu_exit();
	return -ENOMEM;
}

void ocf_pk_exit(void)
{
	ocf_pk_cpu_exit();
	destroy_workqueue(ocf_pk_wq);
}
