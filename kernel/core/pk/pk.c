// SPDX-License-Identifier: GPL-2.0-only
/*
 * A public-key request's life.
 *
 * ocf_pk_submit() checks it, and whoever comes here with it in hand places it:
 * a submitter, or the worker of a request that starts over.  On the CPU it is
 * worked on where it is placed, if its submitter waits for it, or by a worker.
 * On a card it is inside, or waits for room.  What a card has answered is
 * looked at by the request's worker, which ends it or places it anew.
 *
 * Who moves a request from one state to another under pk_lock has it in hand;
 * see the states in pk.h.  Nobody else touches it, so it ends once.
 */
#include <linux/slab.h>

#include "pk.h"

#include <trace/events/ocf.h>

#define FAILURES_MAX	4		/* in a row */

DEFINE_SPINLOCK(ocf_pk_lock);
struct workqueue_struct *ocf_pk_wq;

/* ---- the end ---- */

/* @req has its result.  Context: process; @req is in the caller's hand. */
static void end(struct ocf_pk_request *req, int err)
{
	if (err)
		ocf_pk_wipe(&req->op);
	ocf_pk_rsa_free(req);
	ocf_flow_put(req->flow);
	req->err = err;
	trace_ocf_pk_done(req, err);
	if (req->waiter)
		complete(&req->over);
	else
		req->done(req, err);
}

/* Takes @req off its device, which counts it. */
static void leave(struct ocf_pk_request *req, int err)
{
	struct ocf_device *dev = req->dev;

	spin_lock_bh(&ocf_pk_lock);
	dev->pk->done++;
	dev->pk->errors += !!err;
	spin_unlock_bh(&ocf_pk_lock);
	req->used = dev->number;
	req->dev = NULL;
	ocf_device_put(dev);
}

static int place(struct ocf_pk_request *req);

/* Another device may do it. */
static void place_anew(struct ocf_pk_request *req, int err)
{
	int again;

	req->tried |= BIT_ULL(req->dev->number);
	trace_ocf_pk_replay(req, req->dev->number, err);
	spin_lock_bh(&ocf_pk_lock);
	req->dev->pk->replays++;
	spin_unlock_bh(&ocf_pk_lock);
	leave(req, err);
	again = READ_ONCE(req->cancelled) ? -ECANCELED : place(req);
	if (!again)
		return;
	/* what the last one has said is more than that there is no other */
	end(req, again == -EOPNOTSUPP || again == -ENODEV ? err : again);
}

/*
 * The device has made a mistake, or has it?  Keys whose numbers do not belong
 * together give wrong results and errors, too, and nobody may get a card into
 * trouble by bringing one.  So the card is asked what is known, and that
 * decides.
 */
static int judge(struct ocf_pk_request *req, int err)
{
	struct ocf_pk_unit *unit = req->dev->pk;
	bool doubt = false;

	if (!err) {
		err = ocf_pk_rsa_prove(req);
		doubt = err == -EBADMSG;
	}
	if (req->testing)
		return err;
	if (doubt)
		err = -EIO;
	spin_lock_bh(&ocf_pk_lock);
	unit->failures = err == -EIO ? unit->failures + 1 : 0;
	if (unit->failures >= FAILURES_MAX) {
		unit->failures = 0;
		doubt = true;
	}
	spin_unlock_bh(&ocf_pk_lock);
	if (doubt)
		ocf_device_retest(req->dev);
	return err;
}

/* The device is done with @req, which is in the caller's hand. */
void ocf_pk_answered(struct ocf_pk_request *req, int err)
{
	bool card = ocf_pk_is_card(req->dev);

	if (card)
		err = judge(req, err);
	if (READ_ONCE(req->cancelled))
		err = -ECANCELED;
	else if (err && card && !req->testing)
		return place_anew(req, err);
	if (!err)
		err = ocf_pk_check_result(&req->op) ?: ocf_pk_rsa_finish(req);
	leave(req, err);
	end(req, err);
}

/* A card has answered or lost it. */
static void request_work(struct work_struct *work)
{
	struct ocf_pk_request *req = container_of(work, struct ocf_pk_request,
						  work);

	ocf_pk_answered(req, req->err);
}

/* Ends @req, which was cancelled and taken in hand. */
void ocf_pk_give_up(struct ocf_pk_request *req)
{
	if (req->at == OCF_PK_TAKING)
		ocf_pk_detach(req);
	leave(req, -ECANCELED);
	end(req, -ECANCELED);
}

void ocf_pk_cancel(struct ocf_pk_request *req)
{
	bool mine;

	might_sleep();
	spin_lock_bh(&ocf_pk_lock);
	/* who has it in hand sees this */
	req->cancelled = true;
	mine = ocf_pk_take_in_hand(req);
	spin_unlock_bh(&ocf_pk_lock);
	if (mine)
		ocf_pk_give_up(req);
}
OCF_EXPORT(ocf_pk_cancel);

/* ---- in ---- */

/* Finds @req, which is in the caller's hand, a place. */
static int place(struct ocf_pk_request *req)
{
	int err;

	do {
		req->at = OCF_PK_IDLE;
		req->dev = ocf_pk_choose(req, &err);
		if (!req->dev)
			return err;
		if (!ocf_pk_is_card(req->dev)) {
			ocf_pk_enter_software(req);
			return 0;
		}
		err = ocf_pk_enter_card(req);
		if (err) {
			ocf_device_put(req->dev);
			req->dev = NULL;
		}
	} while (err == -EAGAIN);
	return err;
}

static int submit(struct ocf_pk_request *req)
{
	int err = ocf_pk_check(&req->op);

	if (err || req->flags & ~OCF_SESSION_ANY)
		return err ?: -EINVAL;
	INIT_WORK(&req->work, request_work);
	req->now = &req->op;
	req->plain = NULL;
	req->dev = NULL;
	req->used = -ENODEV;
	req->tried = 0;
	req->cancelled = false;
	req->entering = false;
	req->err = 0;
	err = ocf_pk_rsa_prepare(req);
	if (err)
		return err;
	req->flow = ocf_flow_get(req->owner);
	trace_ocf_pk_submit(req);
	err = place(req);
	if (err) {
		ocf_flow_put(req->flow);
		ocf_pk_rsa_free(req);
	}
	return err;
}

int ocf_pk_submit(struct ocf_pk_request *req)
{
	might_sleep();
	req->waiter = false;
	req->testing = NULL;
	return submit(req);
}
OCF_EXPORT(ocf_pk_submit);

/**
 * ocf_pk_run_on() - the same as ocf_pk_run(), perhaps on a device being tested
 * @req: the request
 * @testing: the device, or NULL
 * @timeout: jiffies; longer while @testing is in use
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
	err = submit(req);
	if (err)
		return err;
	do {
		left = wait_for_completion_killable_timeout(&req->over,
							    timeout);
	} while (!left && testing && ocf_device_is_watched(testing));
	if (left > 0)
		return req->err;
	ocf_pk_cancel(req);
	wait_for_completion(&req->over);
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
	flush_workqueue(ocf_pk_wq);
	ocf_pk_cpu_flush();
}
OCF_EXPORT(ocf_pk_flush);

int ocf_pk_init(void)
{
	int err = ocf_pk_cpu_init();

	if (err)
		return err;
	/* operations of the CPU's take long, so nothing else waits for them */
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
