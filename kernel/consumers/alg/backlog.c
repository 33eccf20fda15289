// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that found the core busy, and that may wait.
 *
 * A worker submits them again, those of one transform in their order.  A
 * transform whose owner has a full queue does not delay other transforms.
 */
#include <linux/bottom_half.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "alg.h"

static void submit_backlog(struct work_struct *work);

static LIST_HEAD(backlog);
static DEFINE_SPINLOCK(backlog_lock);	/* BH; also alg_tfm.waiting */
static DECLARE_DELAYED_WORK(backlog_work, submit_backlog);

/**
 * alg_backlog_add() - have a request wait for room
 * @r: the request, with its key held
 *
 * Context: process or BH.
 * Return: -EBUSY, the crypto API's errno for this.
 */
int alg_backlog_add(struct alg_request *r)
{
	/* other users also wait for this worker */
	r->req.flags &= ~OCF_REQ_MAY_SLEEP;
	spin_lock_bh(&backlog_lock);
	list_add_tail(&r->node, &backlog);
	WRITE_ONCE(r->tfm->waiting, r->tfm->waiting + 1);
	spin_unlock_bh(&backlog_lock);
	queue_delayed_work(alg_wq, &backlog_work, 1);
	return -EBUSY;
}

/* The request after @r, or the first.  Only the worker removes requests. */
static struct alg_request *next_in_backlog(struct alg_request *r)
{
	struct list_head *node = r ? &r->node : &backlog;

	spin_lock_bh(&backlog_lock);
	node = node->next;
	spin_unlock_bh(&backlog_lock);
	if (node == &backlog)
		return NULL;
	return list_entry(node, struct alg_request, node);
}

static void leave_backlog(struct alg_request *r)
{
	spin_lock_bh(&backlog_lock);
	list_del(&r->node);
	/* a caller that reads 0 submits its own request later than @r */
	smp_store_release(&r->tfm->waiting, r->tfm->waiting - 1);
	spin_unlock_bh(&backlog_lock);
}

/*
 * The callback first tells that @r has left the backlog, and then its result.
 */
static void tell(struct alg_request *r, int err)
{
	local_bh_disable();
	crypto_request_complete(r->base, err);
	local_bh_enable();
}

/* Whether there was capacity for @r */
static bool submit_again(struct alg_request *r)
{
	struct alg_key *key = r->key;
	int err = ocf_submit(&r->req);

	if (err == -EBUSY)
		return false;
	leave_backlog(r);
	tell(r, -EINPROGRESS);
	if (err && err != -EINPROGRESS)
		tell(r, alg_refuse(r, err));
	else if (atomic_xchg(&r->state, ALG_SUBMITTED) == ALG_DONE)
		tell(r, r->err);
	alg_key_put(key);
	return true;
}

/* One pass over all that wait */
static void submit_backlog(struct work_struct *work)
{
	struct alg_request *r = next_in_backlog(NULL), *next;
	static unsigned int pass;
	bool some_wait = false;

	for (pass++; r; r = next) {
		next = next_in_backlog(r);
		if (r->tfm->refused == pass || !submit_again(r)) {
			r->tfm->refused = pass;
			some_wait = true;
		}
		cond_resched();
	}
	if (some_wait)
		queue_delayed_work(alg_wq, &backlog_work, 1);
}

/* No transform is left, so nothing waits. */
void alg_backlog_exit(void)
{
	cancel_delayed_work_sync(&backlog_work);
}
