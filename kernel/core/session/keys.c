// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generations of keys.
 *
 * A session has one current generation; rekeying makes a new one.  A request
 * keeps the generation it was submitted with, however often it changes devices.
 * context.c makes the contexts of a generation.  The workers here call
 * ocf_context_make() for this.  A worker of the generation makes contexts on
 * the CPU.  A worker of each card makes those on the card, and serves owners in
 * turn.
 *
 * References to a generation: one of the session while the generation is
 * current, one of each request in flight, one of the worker.  A submitter looks
 * the generation up under RCU, and takes a reference only where it needs one.
 * If that fails, the session has another current generation.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../core.h"

#include <trace/events/ocf.h>

#define PARKED_MAX	4096	/* requests of an owner that wait */

/* All generations, for the removal of a device */
LIST_HEAD(ocf_generations);
DEFINE_SPINLOCK(ocf_generations_lock);

/*
 * Protects ocf_keys.parked: the requests that wait for a context of their
 * generation.  They are few.  With one lock for all, a request can be cancelled
 * without a look at its generation, which may be going away.
 */
static DEFINE_SPINLOCK(park_lock);
static unsigned int nparked[OCF_FLOWS];

/* Not the workqueue of requests, since a card may take long. */
static struct workqueue_struct *keys_wq;

static void make_contexts(struct work_struct *work);

/**
 * struct waiting - a generation that waits for the worker of a card
 * @added: in ocf_device.waiting
 * @keys: the generation
 * @turn: in the list of turns, or in @others of the first of its owner
 * @others: if it is the first of its owner: the others, in order
 * @refs: one of the worker, one of the task that waits, if there is one
 * @task_waits: a task waits for the context; else requests may
 * @flags: of ocf_context_make(), if a task waits
 * @err: the result, valid after @done
 * @done: tells the task
 */
struct waiting {
	struct llist_node	added;
	struct ocf_keys		*keys;
	struct list_head	turn;
	struct list_head	others;
	refcount_t		refs;
	bool			task_waits;
	u32			flags;
	int			err;
	struct completion	done;
};

static size_t keys_size(const struct ocf_session_params *p)
{
	return struct_size_t(struct ocf_keys, secret, p->keylen + p->mackeylen);
}

/**
 * ocf_keys_create() - create a generation of keys
 * @p: validated parameters, with keys; those are copied
 * @gfp: allocation flags
 *
 * Context: process; may sleep.
 * Return: the generation with one reference, or an ERR_PTR: -ENOMEM, -EDQUOT.
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
	spin_lock_init(&keys->lock);
	INIT_LIST_HEAD(&keys->parked);
	INIT_WORK(&keys->work, make_contexts);
	spin_lock(&ocf_generations_lock);
	list_add(&keys->node, &ocf_generations);
	spin_unlock(&ocf_generations_lock);
	return keys;
}

/* Puts a hold: a driver does not read @keys any more.  Context: process. */
void ocf_keys_release(struct ocf_keys *keys)
{
	struct ocf_session *left = keys->left;

	if (!refcount_dec_and_test(&keys->holds))
		return;
	memzero_explicit(keys->secret,
			 keys->params.keylen + keys->params.mackeylen);
	ocf_account_uncharge(keys->params.account, keys_size(&keys->params));
	ocf_account_put(keys->params.account);
	mem_cgroup_put(keys->memcg);
	kfree_rcu(keys, rcu);
	if (!left)
		return;
	atomic_dec(&left->leaving);
	/* pairs with wait_var_event_killable() in lock_rekey() */
	smp_mb__after_atomic();
	wake_up_var(&left->leaving);
	ocf_session_release(left);
}

static void free_keys(struct ocf_keys *keys)
{
	struct ocf_context *ctx;
	int i;

	spin_lock(&ocf_generations_lock);
	list_del(&keys->node);
	spin_unlock(&ocf_generations_lock);
	for_each_set_bit(i, &keys->present, OCF_DEVICES_MAX) {
		/* this is the last reference: no reader is left */
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

/*
 * Context: process or BH.  When the last reference is put, @keys->work is not
 * queued, because queued work holds a reference.
 */
void ocf_keys_put_deferred(struct ocf_keys *keys)
{
	if (!refcount_dec_and_test(&keys->refs))
		return;
	INIT_WORK(&keys->work, free_keys_work);
	queue_work(ocf_free_wq, &keys->work);
}

/**
 * ocf_keys_want() - have the worker make a context
 * @keys: the generation
 * @number: the device's
 *
 * Context: process or BH.
 */
void ocf_keys_want(struct ocf_keys *keys, int number)
{
	if (test_and_set_bit(number, &keys->wanted))
		return;
	/* a generation that is being freed needs no more contexts */
	if (!ocf_keys_try_get(keys))
		return;
	if (!queue_work(keys_wq, &keys->work))
		ocf_keys_put_deferred(keys);
}

/*
 * What became of the context on a device.  After NO_ROOM an urgent try may
 * still succeed, for a session without another device.
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

/* Whether @req, which is parked, can be started again now. */
static bool goes_on(struct ocf_request *req, int number, enum outcome outcome)
{
	if (req->used != number)
		return outcome == MADE && !(req->excluded & BIT_ULL(number));
	/* counted, because it may be parked for the same device again */
	req->parks += outcome != NO_ROOM;
	return true;
}

/* Takes @req off its list, under park_lock. */
static void unpark(struct ocf_request *req)
{
	list_del(&req->job.node);
	nparked[req->session->flow]--;
	WRITE_ONCE(req->where, OCF_AT_START);
}

/*
 * Restarts the parked requests that have waited for device @number; all parked
 * requests if the device has the context now.
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
	list_for_each_entry_safe(req, next, &keys->parked, job.node) {
		if (!goes_on(req, number, outcome))
			continue;
		unpark(req);
		list_add_tail(&req->job.node, &parked);
	}
	spin_unlock_bh(&park_lock);
	/*
	 * restart() leaves the work to the submitter or a worker: if the CPU
	 * did it here, the card's other users would wait
	 */
	list_for_each_entry_safe(req, next, &parked, job.node)
		ocf_request_ops->restart(req);
}

static bool is_parked_for(struct ocf_keys *keys, int number)
{
	struct ocf_request *req;
	bool found = false;

	spin_lock_bh(&park_lock);
	list_for_each_entry(req, &keys->parked, job.node) {
		found = req->used == number;
		if (found)
			break;
	}
	spin_unlock_bh(&park_lock);
	return found;
}

/* Makes the context of @keys on @dev for the requests that want it. */
static void make_for_requests(struct ocf_keys *keys, struct ocf_device *dev)
{
	bool urgent = false;
	int err = -EOPNOTSUPP;

	/* another device may have the number by now */
	if (ocf_device_wanted(dev, &keys->params))
		err = ocf_context_make(keys, dev, OCF_CONTEXT_AT_ONCE);
	if (err == -ENOSPC) {
		/*
		 * Requests that did not know that @dev is full may find another
		 * device.  Those that are parked again have none.
		 */
		if (!test_bit(dev->number, &keys->full))
			start_over(keys, dev->number, NO_ROOM);
		urgent = is_parked_for(keys, dev->number);
		err = ocf_context_make(keys, dev,
				       urgent ? OCF_CONTEXT_URGENT : 0);
	}
	if (err == -ENOSPC && !urgent && is_parked_for(keys, dev->number)) {
		/* such a request has come meanwhile */
		urgent = true;
		err = ocf_context_make(keys, dev, OCF_CONTEXT_URGENT);
	}
	clear_bit(dev->number, &keys->waits);
	/* a task that sees @wanted clear sees @waits clear */
	smp_mb__after_atomic();
	start_over(keys, dev->number, outcome_of(err, urgent));
}

static void put_waiting(struct waiting *w)
{
	if (refcount_dec_and_test(&w->refs))
		kfree(w);
}

/* It is the turn of @w on the card @dev; puts @w. */
static void take_turn(struct waiting *w, struct ocf_device *dev)
{
	struct ocf_keys *keys = w->keys;

	if (!w->task_waits) {
		make_for_requests(keys, dev);
	} else if (refcount_read(&w->refs) > 1) {
		w->err = ocf_context_make(keys, dev, w->flags);
		complete(&w->done);
	}
	put_waiting(w);
	ocf_keys_put(keys);
}

/* Adds @w to @turns, a list with the first of each owner. */
static void join_turns(struct list_head *turns, struct waiting *w)
{
	struct waiting *first;

	INIT_LIST_HEAD(&w->others);
	list_for_each_entry(first, turns, turn) {
		if (first->keys->params.owner != w->keys->params.owner)
			continue;
		list_add_tail(&w->turn, &first->others);
		return;
	}
	list_add_tail(&w->turn, turns);
}

/*
 * Takes the first of @turns.  The next one of the same owner, if any, goes to
 * the end of @turns.
 */
static struct waiting *next_of_turns(struct list_head *turns)
{
	struct waiting *w, *heir;

	w = list_first_entry(turns, struct waiting, turn);
	list_del(&w->turn);
	if (!list_empty(&w->others)) {
		heir = list_first_entry(&w->others, struct waiting, turn);
		list_move_tail(&heir->turn, turns);
		list_splice(&w->others, &heir->others);
	}
	return w;
}

/*
 * The worker of a card.  Each card has its own, so that generations which wait
 * for one card do not delay those of another.  Owners take turns, however many
 * generations each has waiting.
 */
static void take_turns(struct work_struct *work)
{
	struct ocf_device *dev = container_of(work, struct ocf_device,
					      room_work);
	struct waiting *w, *next;
	struct llist_node *list;
	LIST_HEAD(turns);

	do {
		list = llist_reverse_order(llist_del_all(&dev->waiting));
		llist_for_each_entry_safe(w, next, list, added)
			join_turns(&turns, w);
		if (list_empty(&turns))
			break;
		take_turn(next_of_turns(&turns), dev);
	} while (!list_empty(&turns));
	ocf_device_put(dev);
}

void ocf_keys_init_room(struct ocf_device *dev)
{
	init_llist_head(&dev->waiting);
	INIT_WORK(&dev->room_work, take_turns);
}

static struct waiting *make_waiting(struct ocf_keys *keys)
{
	struct waiting *w = kzalloc(sizeof(*w), GFP_KERNEL);

	if (!w)
		return NULL;
	refcount_set(&w->refs, 1);
	init_completion(&w->done);
	ocf_keys_get(keys);
	w->keys = keys;
	return w;
}

/* Gives @w to the worker of @dev, which puts it. */
static void wait_for_turn(struct waiting *w, struct ocf_device *dev)
{
	/* if the list was not empty, the worker is already queued */
	if (!llist_add(&w->added, &dev->waiting))
		return;
	ocf_device_get(dev);
	if (!queue_work(keys_wq, &dev->room_work))
		ocf_device_put(dev);
}

/**
 * ocf_keys_make_context() - make the context of a generation on a device
 * @keys: the generation
 * @dev: the device; the caller holds it
 * @flags: as in ocf_context_make()
 *
 * If @dev is a card, the card's worker makes the context, so that a caller of
 * low priority does not make other tasks wait.  A self-test of the card is not
 * a user's task, and makes its own.
 *
 * Context: process; may sleep.
 * Return: as ocf_context_make().
 */
int ocf_keys_make_context(struct ocf_keys *keys, struct ocf_device *dev,
			  u32 flags)
{
	struct waiting *w;
	int err;

	if (dev->info.kind == OCF_KIND_SOFTWARE ||
	    flags & OCF_CONTEXT_TESTING)
		return ocf_context_make(keys, dev, flags);
	w = make_waiting(keys);
	if (!w)
		return -ENOMEM;
	refcount_inc(&w->refs);
	w->task_waits = true;
	w->flags = flags;
	wait_for_turn(w, dev);
	err = wait_for_completion_killable(&w->done) ? -EINTR : w->err;
	put_waiting(w);
	return err;
}

static void make_on(struct ocf_keys *keys, struct ocf_device *dev)
{
	struct waiting *w = NULL;

	if (dev->info.kind != OCF_KIND_SOFTWARE) {
		set_bit(dev->number, &keys->waits);
		w = make_waiting(keys);
	}
	if (w)
		wait_for_turn(w, dev);
	else
		make_for_requests(keys, dev);
}

/*
 * The worker of a generation: makes the contexts that are wanted, and restarts
 * requests.
 */
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
 * @keys: its generation; ocf_keys_want() must follow, since the worker
 *	restarts only requests that it finds after it has cleared @keys->wanted
 * @req: the request; not the caller's any more when this returns
 *	-EINPROGRESS
 *
 * Context: process or BH.
 * Return: -EINPROGRESS; -EBUSY if too many requests of its owner wait;
 * -ECANCELED if it was cancelled while it was on no list.
 */
int ocf_keys_park(struct ocf_keys *keys, struct ocf_request *req)
{
	unsigned int *n = &nparked[req->session->flow];
	int restarted = atomic_read(&req->bits) & OCF_BIT_RESTARTED;
	int err = -EBUSY;

	spin_lock_bh(&park_lock);
	if (*n < PARKED_MAX || restarted) {
		WRITE_ONCE(req->where, OCF_AT_PARKED);
		list_add_tail(&req->job.node, &keys->parked);
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
 * ocf_keys_unpark() - take a request off the list of those that wait
 * @req: the request
 *
 * Context: process or BH.
 * Return: whether it was parked; it belongs to the caller then.
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
