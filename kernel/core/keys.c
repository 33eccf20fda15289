// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generations of keys, and what each device has made of them.
 *
 * A session has one current generation; rekeying makes a new one.  A request
 * runs under the generation it was submitted under, however often it moves.
 * A generation's contexts are made on demand, by a worker, and dropped with
 * the device or with the generation.
 *
 * Who may hold a generation: the session's pointer, while it is current; a
 * reader inside ocf_srcu that took it from there; a request in flight; the
 * worker.  The first is replaced only with a wait for the second, the others
 * count.
 */
#include <linux/slab.h>

#include "core.h"

#include <trace/events/ocf.h>

#define PARKED_MAX	4096	/* requests waiting for some context */

/* All generations, so that a device that goes finds its contexts. */
static LIST_HEAD(generations);
static DEFINE_MUTEX(generations_mutex);

/*
 * Requests that wait for a context, in the list of their generation.  They
 * are few and rare, and one lock for all lets a request be taken back without
 * a look at its generation, which may be going.
 */
static DEFINE_SPINLOCK(park_lock);
static unsigned int nparked;

static void make_contexts(struct work_struct *work);

/**
 * ocf_keys_create() - a generation of keys
 * @p: validated parameters, with keys; those are copied
 * @gfp: allocation flags
 *
 * Context: process; may sleep.
 * Return: it with one reference, or NULL.
 */
struct ocf_keys *ocf_keys_create(const struct ocf_session_params *p, gfp_t gfp)
{
	struct ocf_keys *keys;

	keys = kzalloc(struct_size(keys, secret, p->keylen + p->mackeylen),
		       gfp);
	if (!keys)
		return NULL;
	refcount_set(&keys->refs, 1);
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
	mutex_lock(&generations_mutex);
	list_add(&keys->node, &generations);
	mutex_unlock(&generations_mutex);
	return keys;
}

static void free_context(struct ocf_context *ctx)
{
	struct ocf_device *dev = ctx->dev;

	dev->info.ops->ctx_exit(ctx);
	kfree_sensitive(ctx);
	ocf_device_put(dev);
}

static void free_keys(struct ocf_keys *keys)
{
	struct ocf_context *ctx;
	int i;

	mutex_lock(&generations_mutex);
	list_del(&keys->node);
	mutex_unlock(&generations_mutex);
	for_each_set_bit(i, &keys->present, OCF_DEVICES_MAX) {
		/* the last reference: nobody else reads or writes it */
		ctx = rcu_dereference_protected(keys->ctx[i], true);
		trace_ocf_context_drop(keys, i, 0);
		free_context(ctx);
	}
	mutex_destroy(&keys->mutex);
	memzero_explicit(keys->secret,
			 keys->params.keylen + keys->params.mackeylen);
	kfree(keys);
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
	queue_work(ocf_wq, &keys->work);
}

/**
 * ocf_keys_add() - make the context of a generation on a device
 * @keys: the generation
 * @dev: the device; the caller holds it
 *
 * Context: process; may sleep.
 * Return: 0, also if it is there already; -ENODEV if the device is going;
 * -ENOMEM; what the driver says.
 */
int ocf_keys_add(struct ocf_keys *keys, struct ocf_device *dev)
{
	struct ocf_context *ctx;
	int err = 0;

	mutex_lock(&keys->mutex);
	if (test_bit(dev->number, &keys->present))
		goto unlock;
	err = -ENODEV;
	if (!ocf_device_usable(dev))
		goto unlock;
	err = -ENOMEM;
	ctx = kzalloc(struct_size(ctx, priv, dev->info.ctx_size),
		      GFP_KERNEL_ACCOUNT);
	if (!ctx)
		goto unlock;
	ctx->dev = dev;
	ctx->params = &keys->params;
	ctx->submit = dev->info.ops->submit;
	err = dev->info.ops->ctx_init(ctx, &keys->params);
	if (err) {
		kfree_sensitive(ctx);
		goto unlock;
	}
	ocf_device_get(dev);
	rcu_assign_pointer(keys->ctx[dev->number], ctx);
	__set_bit(dev->number, &keys->present);
unlock:
	mutex_unlock(&keys->mutex);
	trace_ocf_context_create(keys, dev->number, err);
	return err;
}

/**
 * ocf_keys_drop_all() - drop every generation's context on a device
 * @dev: the device; nothing is in it, and ocf_device_usable() is false
 *
 * Context: process; may sleep.
 */
void ocf_keys_drop_all(struct ocf_device *dev)
{
	struct ocf_context *ctx, *next;
	struct ocf_keys *keys;
	LIST_HEAD(dropped);

	mutex_lock(&generations_mutex);
	list_for_each_entry(keys, &generations, node) {
		mutex_lock(&keys->mutex);
		if (__test_and_clear_bit(dev->number, &keys->present)) {
			ctx = rcu_replace_pointer(keys->ctx[dev->number], NULL,
						  true);
			list_add(&ctx->node, &dropped);
			trace_ocf_context_drop(keys, dev->number, 0);
		}
		mutex_unlock(&keys->mutex);
	}
	/* ctx->params is in the generation: done before that can be freed */
	synchronize_srcu(&ocf_srcu);
	list_for_each_entry_safe(ctx, next, &dropped, node)
		free_context(ctx);
	mutex_unlock(&generations_mutex);
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
	ocf_keys_get(keys);
	if (!queue_work(ocf_wq, &keys->work))
		ocf_keys_put_deferred(keys);
}

/* The worker: makes what is wanted, then starts over what waited for it. */
static void make_contexts(struct work_struct *work)
{
	struct ocf_keys *keys = container_of(work, struct ocf_keys, work);
	struct ocf_request *req;
	struct ocf_device *dev;
	LIST_HEAD(parked);
	int i;

	for_each_set_bit(i, &keys->wanted, OCF_DEVICES_MAX) {
		dev = ocf_device_find(i);
		if (dev) {
			ocf_keys_add(keys, dev);
			ocf_device_put(dev);
		}
		clear_bit(i, &keys->wanted);
	}
	spin_lock_bh(&park_lock);
	list_splice_init(&keys->parked, &parked);
	list_for_each_entry(req, &parked, node) {
		req->where = OCF_AT_START;
		nparked--;
	}
	spin_unlock_bh(&park_lock);
	ocf_requests_restart(&parked);
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
 * Return: -EINPROGRESS, or -EBUSY if too many wait.
 */
int ocf_keys_park(struct ocf_keys *keys, struct ocf_request *req)
{
	int err = -EBUSY;

	spin_lock_bh(&park_lock);
	if (nparked < PARKED_MAX ||
	    atomic_read(&req->bits) & OCF_BIT_RESTARTED) {
		req->where = OCF_AT_PARKED;
		list_add_tail(&req->node, &keys->parked);
		nparked++;
		err = -EINPROGRESS;
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
	if (was) {
		list_del(&req->node);
		nparked--;
		req->where = OCF_AT_START;
	}
	spin_unlock_bh(&park_lock);
	return was;
}
