// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generations of keys.
 *
 * A session has one current generation; rekeying makes a new one.  A request
 * runs under the generation it was submitted under, however often it moves.
 * What devices have made of it is in context.c; here is the worker that has it
 * made on demand.
 *
 * Who holds a generation: the session, while it is current; a request in
 * flight; the worker.  A submitter only finds it, and counts himself in where
 * he must hold it; if that fails there is another that is current.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../core.h"

#include <trace/events/ocf.h>

#define PARKED_MAX	4096	/* of an owner's requests, for some context */

/* All generations: a device that goes is forgotten by each of them. */
LIST_HEAD(ocf_generations);
DEFINE_MUTEX(ocf_generations_mutex);

/*
 * Requests that wait for a context, in the list of their generation.  They
 * are few and rare, and one lock for all lets a request be taken back without
 * a look at its generation, which may be going.
 */
static DEFINE_SPINLOCK(park_lock);
static unsigned int nparked[OCF_FLOWS];

/* Not that of requests: who makes room for a context may wait for long. */
static struct workqueue_struct *keys_wq;

static void make_contexts(struct work_struct *work);

/* A generation that waits for room for a context on some device */
struct waiting {
	struct llist_node	node;
	struct ocf_keys		*keys;
};

static size_t keys_size(const struct ocf_session_params *p)
{
	return struct_size_t(struct ocf_keys, secret, p->keylen + p->mackeylen);
}

/**
 * ocf_keys_create() - a generation of keys
 * @p: validated parameters, with keys; those are copied
 * @gfp: allocation flags
 *
 * Context: process; may sleep.
 * Return: it with one reference, or an ERR_PTR: -ENOMEM, -EDQUOT.
 */
struct ocf_keys *ocf_keys_create(const struct ocf_session_params *p, gfp_t gfp)
{
	struct ocf_keys *keys;
	int err;

	keys = kzalloc(keys_size(p), gfp);
	if (!keys)
		return ERR_PTR(-ENOMEM);
	err = ocf_account_charge(p->account, keys_size(p));
	if (err) {
		kfree(keys);
		return ERR_PTR(err);
	}
	ocf_account_hold(p->account);
	if (gfp & __GFP_ACCOUNT)
		keys->memcg = get_mem_cgroup_from_mm(current->mm);
	refcount_set(&keys->refs, 1);
	refcount_set(&keys->holds, 1);
	keys->params = *p;
	keys->params.key = keys->secret;
	keys->params.mackey = keys->secret + p->keylen;
	if (p->keylen)
		memcpy(keys->secret, p->key, p->keylen);
	if (p->mackeylen)
		memcpy(keys->secret + p->keylen, p->mackey, p->mackeylen);
	mutex_init(&keys->mutex);
	INIT_LIST_HEAD(&keys->parked);
	INIT_WORK(&keys->work, make_contexts);
	mutex_lock(&ocf_generations_mutex);
	list_add(&keys->node, &ocf_generations);
	mutex_unlock(&ocf_generations_mutex);
	return keys;
}

/* The memory is not read by a driver any more.  Context: process; may sleep. */
void ocf_keys_release(struct ocf_keys *keys)
{
	struct ocf_session *left = keys->left;

	if (!refcount_dec_and_test(&keys->holds))
		return;
	mutex_destroy(&keys->mutex);
	memzero_explicit(keys->secret,
			 keys->params.keylen + keys->params.mackeylen);
	ocf_account_uncharge(keys->params.account, keys_size(&keys->params));
	ocf_account_put(keys->params.account);
	mem_cgroup_put(keys->memcg);
	kfree_rcu(keys, rcu);
	if (!left)
		return;
	atomic_dec(&left->leaving);
	/* who finds too many is on the list of those who wait for it */
	smp_mb__after_atomic();
	wake_up_var(&left->leaving);
	ocf_session_put_deferred(left);
}

static void free_keys(struct ocf_keys *keys)
{
	struct ocf_context *ctx;
	int i;

	mutex_lock(&ocf_generations_mutex);
	list_del(&keys->node);
	mutex_unlock(&ocf_generations_mutex);
	for_each_set_bit(i, &keys->present, OCF_DEVICES_MAX) {
		/* the last reference: nobody else reads or writes it */
		ctx = rcu_dereference_protected(keys->ctx[i], true);
		trace_ocf_context_drop(keys, i, 0);
		ocf_context_unlist(ctx);
		ocf_context_put(ctx);
	}
	for (i = 0; i < ARRAY_SIZE(keys->part); i++)
		if (keys->part[i])
			ocf_keys_put(keys->part[i]);
	ocf_keys_release(keys);
}

static void free_keys_work(struct work_struct *work)
{
	free_keys(container_of(work, struct ocf_keys, work));
}

/* Context: process; may sleep. */
void ocf_keys_put(struct ocf_keys *keys)
{
	might_sleep();
	if (refcount_dec_and_test(&keys->refs))
		free_keys(keys);
}

/* Context: process or BH.  The work is idle: queued, it holds a reference. */
void ocf_keys_put_deferred(struct ocf_keys *keys)
{
	if (!refcount_dec_and_test(&keys->refs))
		return;
	INIT_WORK(&keys->work, free_keys_work);
	queue_work(ocf_free_wq, &keys->work);
}

/**
 * ocf_keys_want() - have a context made by the worker
 * @keys: the generation
 * @number: the device's
 *
 * Context: process or BH.
 */
void ocf_keys_want(struct ocf_keys *keys, int number)
{
	if (test_and_set_bit(number, &keys->wanted))
		return;
	/* nobody will miss it where there are others now */
	if (!ocf_keys_try_get(keys))
		return;
	if (!queue_work(keys_wq, &keys->work))
		ocf_keys_put_deferred(keys);
}

/*
 * What became of the context on a device.  There may be room if it is asked for
 * urgently, by who has nowhere else to go.
 */
enum outcome { MADE, NO_ROOM, FAILED, GONE };

static enum outcome outcome_of(int err, bool urgent)
{
	switch (err) {
	case 0:
		return MADE;
	case -ENOSPC:
		return urgent ? FAILED : NO_ROOM;
	case -ENODEV:
		return GONE;
	default:
		return FAILED;
	}
}

/* Whether @req, which is parked, has somewhere to go now. */
static bool goes_on(struct ocf_request *req, int number, enum outcome outcome)
{
	if (req->used != number)
		return outcome == MADE && !(req->excluded & BIT_ULL(number));
	/* else it may be back for the same one */
	req->parks += outcome != NO_ROOM;
	return true;
}

/* Takes @req off its list, under park_lock. */
static void unpark(struct ocf_request *req)
{
	list_del(&req->node);
	nparked[req->session->flow]--;
	WRITE_ONCE(req->where, OCF_AT_START);
}

/*
 * Starts over what is parked and has waited for device @number, and all if that
 * has the context now.
 */
static void start_over(struct ocf_keys *keys, int number, enum outcome outcome)
{
	struct ocf_request *req, *next;
	LIST_HEAD(parked);

	assign_bit(number, &keys->full, outcome == NO_ROOM);
	assign_bit(number, &keys->failed, outcome == FAILED);
	if (!test_bit(number, &keys->waits))
		clear_bit(number, &keys->wanted);
	spin_lock_bh(&park_lock);
	list_for_each_entry_safe(req, next, &keys->parked, node) {
		if (!goes_on(req, number, outcome))
			continue;
		unpark(req);
		list_add_tail(&req->node, &parked);
	}
	spin_unlock_bh(&park_lock);
	ocf_requests_restart(&parked);
}

static bool is_parked_for(struct ocf_keys *keys, int number)
{
	struct ocf_request *req;
	bool found = false;

	spin_lock_bh(&park_lock);
	list_for_each_entry(req, &keys->parked, node) {
		found = req->used == number;
		if (found)
			break;
	}
	spin_unlock_bh(&park_lock);
	return found;
}

/* The generation's turn for room on @dev */
static void take_turn(struct ocf_keys *keys, struct ocf_device *dev)
{
	/* what waits for it could go nowhere else */
	bool urgent = is_parked_for(keys, dev->number);
	int err = ocf_context_make(keys, dev, urgent ? OCF_CONTEXT_URGENT : 0);

	if (err == -ENOSPC && !urgent && is_parked_for(keys, dev->number)) {
		/* it has come meanwhile, and this is its turn */
		urgent = true;
		err = ocf_context_make(keys, dev, OCF_CONTEXT_URGENT);
	}
	clear_bit(dev->number, &keys->waits);
	/* who finds it not wanted finds it not waiting */
	smp_mb__after_atomic();
	start_over(keys, dev->number, outcome_of(err, urgent));
}

/*
 * The worker of a device that has no room: whoever waits for that does not keep
 * those waiting who want others'.
 */
static void take_turns(struct work_struct *work)
{
	struct ocf_device *dev = container_of(work, struct ocf_device,
					      room_work);
	struct waiting *w, *next;
	struct llist_node *list;

	list = llist_reverse_order(llist_del_all(&dev->waiting));
	llist_for_each_entry_safe(w, next, list, node) {
		take_turn(w->keys, dev);
		ocf_keys_put(w->keys);
		kfree(w);
	}
	ocf_device_put(dev);
}

void ocf_keys_init_room(struct ocf_device *dev)
{
	init_llist_head(&dev->waiting);
	INIT_WORK(&dev->room_work, take_turns);
}

static void wait_for_turn(struct ocf_keys *keys, struct ocf_device *dev)
{
	struct waiting *w = kmalloc(sizeof(*w), GFP_KERNEL);

	if (!w) {
		take_turn(keys, dev);
		return;
	}
	ocf_keys_get(keys);
	w->keys = keys;
	/* where others are, the worker is on its way */
	if (!llist_add(&w->node, &dev->waiting))
		return;
	ocf_device_get(dev);
	if (!queue_work(keys_wq, &dev->room_work))
		ocf_device_put(dev);
}

static void make_on(struct ocf_keys *keys, struct ocf_device *dev)
{
	int err = -EOPNOTSUPP;

	/* it may be another than was wanted, with the same number */
	if (ocf_device_wanted(dev, &keys->params))
		err = ocf_context_make(keys, dev, OCF_CONTEXT_AT_ONCE);
	if (err != -ENOSPC) {
		start_over(keys, dev->number, outcome_of(err, false));
		return;
	}
	set_bit(dev->number, &keys->waits);
	/*
	 * There may be another device for who did not know.  Who is parked when
	 * its turn comes has nowhere else to go.
	 */
	if (!test_bit(dev->number, &keys->full))
		start_over(keys, dev->number, NO_ROOM);
	wait_for_turn(keys, dev);
}

/* The worker: makes what is wanted, then starts over what waited for it. */
static void make_contexts(struct work_struct *work)
{
	struct ocf_keys *keys = container_of(work, struct ocf_keys, work);
	struct ocf_device *dev;
	int i;

	for_each_set_bit(i, &keys->wanted, OCF_DEVICES_MAX) {
		if (test_bit(i, &keys->waits))
			continue;
		dev = ocf_device_find(i);
		if (!dev) {
			start_over(keys, i, GONE);
			continue;
		}
		make_on(keys, dev);
		ocf_device_put(dev);
	}
	ocf_keys_put(keys);
}

/**
 * ocf_keys_park() - have a request wait for a context
 * @keys: its generation; ocf_keys_want() must follow, since the worker starts
 *	over only what it finds after it has cleared the bits of @keys->wanted
 * @req: the request; not the caller's any more when this returns
 *	-EINPROGRESS
 *
 * Context: process or BH.
 * Return: -EINPROGRESS; -EBUSY if too many of its owner wait; -ECANCELED if it
 * was cancelled while it was on its way from one list to another.
 */
int ocf_keys_park(struct ocf_keys *keys, struct ocf_request *req)
{
	unsigned int *n = &nparked[req->session->flow];
	int restarted = atomic_read(&req->bits) & OCF_BIT_RESTARTED;
	int err = -EBUSY;

	spin_lock_bh(&park_lock);
	if (*n < PARKED_MAX || restarted) {
		WRITE_ONCE(req->where, OCF_AT_PARKED);
		list_add_tail(&req->node, &keys->parked);
		++*n;
		err = -EINPROGRESS;
		/* pairs with the atomic operation in ocf_cancel() */
		smp_mb();
		if (restarted &&
		    atomic_read(&req->bits) & OCF_BIT_CANCELLED) {
			unpark(req);
			err = -ECANCELED;
		}
	}
	spin_unlock_bh(&park_lock);
	return err;
}

/**
 * ocf_keys_unpark() - take a request back
 * @req: the request
 *
 * Context: process or BH.
 * Return: whether it was parked, and is the caller's now.
 */
bool ocf_keys_unpark(struct ocf_request *req)
{
	bool was;

	spin_lock_bh(&park_lock);
	was = req->where == OCF_AT_PARKED;
	if (was)
		unpark(req);
	spin_unlock_bh(&park_lock);
	return was;
}

int ocf_keys_init(void)
{
	keys_wq = alloc_workqueue("ocf_keys", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return keys_wq ? 0 : -ENOMEM;
}

void ocf_keys_exit(void)
{
	destroy_workqueue(keys_wq);
}
