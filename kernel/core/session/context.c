// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: the state that a device makes of a generation's keys.
 *
 * A context is made when a request needs it, and dropped with its device or
 * with its generation.  A device without capacity for another one evicts the
 * context that was idle for longest.  A context that was idle for a second may
 * be evicted for any session, a younger one only for a session without another
 * device.
 *
 * A driver may take long, and so may a task of low priority.  So only the
 * worker of a card and its self-tests make its contexts, and evict them, one at
 * a time.  Each task makes its own on the CPU.  Meanwhile no lock is held that
 * other devices or sessions need.  The locks that users' tasks take are
 * spinlocks.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../core.h"

#include <trace/events/ocf.h>

#define IDLE	HZ		/* jiffies until any session may evict it */
#define DRAIN	HZ		/* jiffies to wait for requests that use it */
#define FORGET	(10 * HZ)	/* jiffies to wait for contexts being freed */
#define CROWDED	(HZ / 10)	/* jiffies until the next try to evict one */

static size_t size_on(const struct ocf_device *dev)
{
	return struct_size_t(struct ocf_context, priv, dev->info.ctx_size);
}

static size_t charged_for(const struct ocf_context *ctx)
{
	return size_on(ctx->dev) + ctx->more;
}

static struct ocf_keys *keys_of(const struct ocf_context *ctx)
{
	return container_of(ctx->params, struct ocf_keys, params);
}

/*
 * Contexts that requests can find are in the list of their device, for
 * eviction.  The CPU evicts none: its contexts are limited by memory only.
 */
static void list_context(struct ocf_context *ctx)
{
	struct ocf_device *dev = ctx->dev;

	if (dev->info.kind == OCF_KIND_SOFTWARE)
		return;
	spin_lock(&dev->contexts_lock);
	list_add_rcu(&ctx->node, &dev->contexts);
	spin_unlock(&dev->contexts_lock);
}

/**
 * ocf_context_unlist() - take a context off the list of its device
 * @ctx: the context, which is freed after a grace period only
 *
 * Context: process.
 */
void ocf_context_unlist(struct ocf_context *ctx)
{
	struct ocf_device *dev = ctx->dev;

	if (dev->info.kind == OCF_KIND_SOFTWARE)
		return;
	spin_lock(&dev->contexts_lock);
	list_del_rcu(&ctx->node);
	spin_unlock(&dev->contexts_lock);
}

static void free_context(struct ocf_context *ctx)
{
	struct ocf_device *dev = ctx->dev;
	struct ocf_keys *keys = keys_of(ctx);

	dev->info.ops->ctx_exit(ctx);
	memzero_explicit(ctx->priv, dev->info.ctx_size);
	ocf_account_uncharge(keys->params.account, charged_for(ctx));
	/* a reader may be looking at it: a submitter, or least_used_keys() */
	kfree_rcu(ctx, rcu);
	ocf_device_put(dev);
	ocf_keys_release(keys);
}

/*
 * The worker of a device frees its contexts.  A card may take long to forget
 * one; only this worker waits for it.
 */
static void free_going(struct work_struct *work)
{
	struct ocf_device *dev = container_of(work, struct ocf_device,
					      going_work);
	struct ocf_context *ctx, *next;
	struct llist_node *list;

	list = llist_del_all(&dev->going);
	llist_for_each_entry_safe(ctx, next, list, going) {
		free_context(ctx);
		/* pairs with make_with_room(), which then asks the card */
		smp_mb__before_atomic();
		atomic_dec(&dev->ngoing);
	}
	ocf_device_put(dev);
}

void ocf_contexts_init(struct ocf_device *dev)
{
	spin_lock_init(&dev->contexts_lock);
	INIT_LIST_HEAD(&dev->contexts);
	mutex_init(&dev->room);
	atomic_set(&dev->making, 0);
	init_llist_head(&dev->going);
	INIT_WORK(&dev->going_work, free_going);
}

/* Context: process or BH. */
void ocf_context_free_later(struct ocf_context *ctx)
{
	struct ocf_device *dev = ctx->dev;

	/*
	 * hold @dev first: after llist_add() the work may free @ctx, and with
	 * it a reference to @dev
	 */
	ocf_device_get(dev);
	atomic_inc(&dev->ngoing);
	if (!llist_add(&ctx->going, &dev->going) ||
	    !queue_work(ocf_free_wq, &dev->going_work))
		ocf_device_put(dev);
}

/* Waits for the card to forget it.  Context: process; may sleep. */
static void put_and_wait(struct ocf_context *ctx)
{
	if (refcount_dec_and_test(&ctx->refs))
		free_context(ctx);
}

/**
 * ocf_context_put() - put a reference to a context
 * @ctx: the context
 *
 * The last put frees it.  If a card has to forget it, a worker does this,
 * because others use the card.
 *
 * Context: process; may sleep.
 */
void ocf_context_put(struct ocf_context *ctx)
{
	might_sleep();
	if (!refcount_dec_and_test(&ctx->refs))
		return;
	if (ctx->dev->info.kind != OCF_KIND_SOFTWARE &&
	    READ_ONCE(ctx->dev->state) != OCF_DEVICE_TESTING)
		ocf_context_free_later(ctx);
	else
		free_context(ctx);
}

/* Lets the driver fill in @ctx, and charges its memory. */
static int fill_context(struct ocf_context *ctx, struct ocf_keys *keys)
{
	struct ocf_device *dev = ctx->dev;
	int err = dev->info.ops->ctx_init(ctx, &keys->params);

	if (err)
		return err;
	err = ocf_account_charge(keys->params.account, charged_for(ctx));
	if (err)
		dev->info.ops->ctx_exit(ctx);
	return err;
}

/* Notes whether the driver refuses these keys for good. */
static void note_refusal(struct ocf_keys *keys, struct ocf_device *dev,
			 int err)
{
	if (err != -EOPNOTSUPP && err != -EINVAL && err != -EKEYREJECTED)
		return;
	spin_lock(&keys->lock);
	WRITE_ONCE(keys->refused, keys->refused | BIT(dev->number));
	spin_unlock(&keys->lock);
}

/* Lets requests find @ctx.  False: another task was faster, on the CPU. */
static bool publish_context(struct ocf_keys *keys, struct ocf_context *ctx)
{
	int number = ctx->dev->number;
	bool first;

	spin_lock(&keys->lock);
	first = !__test_and_set_bit(number, &keys->present);
	if (first) {
		list_context(ctx);
		rcu_assign_pointer(keys->ctx[number], ctx);
	}
	spin_unlock(&keys->lock);
	return first;
}

static int make_context(struct ocf_keys *keys, struct ocf_device *dev)
{
	struct ocf_context *ctx;
	int err;

	ctx = kzalloc(size_on(dev), GFP_KERNEL_ACCOUNT);
	if (!ctx)
		return -ENOMEM;
	refcount_set(&ctx->refs, 1);
	ctx->dev = dev;
	ctx->params = &keys->params;
	ctx->submit = dev->info.ops->submit;
	/* requests that wait for it have a second to use it */
	ctx->used = jiffies + (list_empty(&keys->parked) ? 0 : IDLE);
	err = fill_context(ctx, keys);
	if (err) {
		kfree_sensitive(ctx);
		note_refusal(keys, dev, err);
		return err;
	}
	ocf_device_get(dev);
	refcount_inc(&keys->holds);
	if (!publish_context(keys, ctx))
		free_context(ctx);
	return 0;
}

/* Makes a context unless there is one. */
static int try_make(struct ocf_keys *keys, struct ocf_device *dev, u32 flags)
{
	struct mem_cgroup *old;
	int err = 0;

	if ((!(flags & OCF_CONTEXT_TESTING) &&
	     READ_ONCE(dev->state) != OCF_DEVICE_READY) ||
	    !ocf_device_usable(dev)) {
		err = -ENODEV;
	} else if (!test_bit(dev->number, &keys->present)) {
		/* the caller may be a worker, of another control group */
		old = set_active_memcg(keys->memcg);
		err = make_context(keys, dev);
		set_active_memcg(old);
	}
	trace_ocf_context_create(keys, dev->number, err);
	return err;
}

/* ---- room ---- */

/* Whether a request inside @dev, or one that waits, uses @ctx. */
static bool is_in_use(struct ocf_device *dev, const struct ocf_context *ctx)
{
	struct ocf_queue *q = &dev->queue;
	bool uses;

	spin_lock_bh(&q->lock);
	uses = ctx->users;
	spin_unlock_bh(&q->lock);
	return uses;
}

/*
 * The generation whose context on @dev was idle for longest, and since @limit
 * (jiffies) at least; or NULL.  With @busy, contexts in use count too.  The
 * caller gets a reference.
 */
static struct ocf_keys *least_used_keys(struct ocf_device *dev,
					unsigned long limit, bool busy)
{
	struct ocf_keys *found = NULL;
	struct ocf_context *ctx;
	unsigned long used;

	rcu_read_lock();
	list_for_each_entry_rcu(ctx, &dev->contexts, node) {
		used = READ_ONCE(ctx->used);
		/* a context that is being freed frees capacity by itself */
		if (time_after(used, limit) ||
		    !refcount_read(&keys_of(ctx)->refs) ||
		    (!busy && is_in_use(dev, ctx)))
			continue;
		limit = used - 1;
		found = keys_of(ctx);
	}
	if (found && !refcount_inc_not_zero(&found->refs))
		found = NULL;
	rcu_read_unlock();
	return found;
}

/*
 * Waits for the requests in @dev that use @ctx, which new requests do not find.
 * Return: whether all have ended.
 */
static bool is_left(struct ocf_device *dev, const struct ocf_context *ctx,
		    bool urgent)
{
	unsigned long end;

	/* after this, each request that found @ctx is counted in the queue */
	synchronize_rcu();
	end = jiffies + (urgent ? DRAIN : 0);
	while (is_in_use(dev, ctx)) {
		if (time_after_eq(jiffies, end) ||
		    READ_ONCE(dev->state) != OCF_DEVICE_READY)
			return false;
		usleep_range(100, 500);
	}
	return true;
}

/*
 * Drops the context of @keys on @dev, unless it is in use.  Return: true if
 * @keys has no context on @dev any more.  The caller holds @dev->room, so no
 * other task makes or evicts one there meanwhile.
 */
static bool give_up(struct ocf_keys *keys, struct ocf_device *dev, bool urgent)
{
	struct ocf_context *ctx;
	bool left;

	lockdep_assert_held(&dev->room);
	spin_lock(&keys->lock);
	ctx = rcu_replace_pointer(keys->ctx[dev->number], NULL,
				  lockdep_is_held(&keys->lock));
	spin_unlock(&keys->lock);
	if (!ctx)
		return true;
	left = is_left(dev, ctx, urgent);
	spin_lock(&keys->lock);
	if (left) {
		__clear_bit(dev->number, &keys->present);
		ocf_context_unlist(ctx);
	} else {
		rcu_assign_pointer(keys->ctx[dev->number], ctx);
	}
	spin_unlock(&keys->lock);
	if (!left)
		return false;
	trace_ocf_context_drop(keys, dev->number, -ENOSPC);
	ocf_context_put(ctx);
	atomic64_inc(&dev->evictions);
	return true;
}

/*
 * Evicts a context from @dev.  Return: whether one was evicted, or had gone
 * already.
 */
static bool make_room(struct ocf_device *dev, bool urgent)
{
	struct ocf_keys *keys;
	bool done;

	keys = least_used_keys(dev, jiffies - (urgent ? 0 : IDLE), false);
	if (!keys && urgent)
		keys = least_used_keys(dev, jiffies, true);
	if (!keys)
		return false;
	done = give_up(keys, dev, urgent);
	ocf_keys_put(keys);
	return done;
}

/* Makes a context.  A device without capacity evicts another one for it. */
static int make_with_room(struct ocf_keys *keys, struct ocf_device *dev,
			  u32 flags)
{
	bool urgent = flags & OCF_CONTEXT_URGENT, made_room = false;
	unsigned long end = jiffies + DRAIN, forgotten = jiffies + FORGET;
	int err, going;

	for (;;) {
		/*
		 * read before the try: a context may be freed while the card
		 * refuses the new one
		 */
		going = atomic_read_acquire(&dev->ngoing);
		err = try_make(keys, dev, flags);
		if (err != -ENOSPC || flags & OCF_CONTEXT_AT_ONCE)
			return err;
		if (fatal_signal_pending(current))
			return -EINTR;
		/* contexts that are being freed will free capacity */
		if ((urgent || made_room) && going) {
			end = jiffies + DRAIN;
			if (time_after(jiffies, forgotten))
				break;
			usleep_range(100, 500);
			continue;
		}
		/* a context was evicted: try again, however long that took */
		if (make_room(dev, urgent)) {
			made_room = true;
			continue;
		}
		if (!urgent || time_after(jiffies, end))
			break;
		usleep_range(100, 500);
	}
	WRITE_ONCE(dev->crowded, jiffies + CROWDED);
	return err;
}

/* ---- what others call ---- */

/**
 * ocf_context_make() - make the context of a generation on a device
 * @keys: the generation
 * @dev: the device; the caller holds it.  If it is a card, the caller is its
 *	worker or tests it: others call ocf_keys_make_context()
 * @flags: OCF_CONTEXT_TESTING: for a self-test, whatever state it is in;
 *	OCF_CONTEXT_URGENT: there is no other device;
 *	OCF_CONTEXT_AT_ONCE: no context is evicted
 *
 * Context: process; may sleep.
 * Return: 0, also if it is there already; -ENODEV if the device is going;
 * -ENOSPC if it has no capacity; -ENOMEM; -EDQUOT; -EINTR: the task is being
 * killed; what the driver says.
 */
int ocf_context_make(struct ocf_keys *keys, struct ocf_device *dev, u32 flags)
{
	bool card = dev->info.kind != OCF_KIND_SOFTWARE;
	int err = card ? mutex_lock_killable(&dev->room) : 0;

	if (err)
		return err;
	atomic_inc(&dev->making);
	/* before the state is read: pairs with ocf_contexts_drop() */
	smp_mb__after_atomic();
	err = make_with_room(keys, dev, flags);
	if (atomic_dec_and_test(&dev->making))
		wake_up_var(&dev->making);
	if (card)
		mutex_unlock(&dev->room);
	return err;
}

/*
 * The generation after @keys in the list, or the first one, with a reference;
 * puts @keys.  New generations are added at the front, so a walk does not meet
 * them.
 */
static struct ocf_keys *generation_after(struct ocf_keys *keys)
{
	struct ocf_keys *next;

	spin_lock(&ocf_generations_lock);
	next = list_prepare_entry(keys, &ocf_generations, node);
	list_for_each_entry_continue(next, &ocf_generations, node)
		if (refcount_inc_not_zero(&next->refs))
			break;
	if (list_entry_is_head(next, &ocf_generations, node))
		next = NULL;
	spin_unlock(&ocf_generations_lock);
	if (keys)
		ocf_keys_put(keys);
	return next;
}

/* Takes the context of @keys on @dev, or NULL.  Readers may still use it. */
static struct ocf_context *take_context(struct ocf_keys *keys,
					struct ocf_device *dev)
{
	struct ocf_context *ctx;

	spin_lock(&keys->lock);
	WRITE_ONCE(keys->refused, keys->refused & ~BIT(dev->number));
	clear_bit(dev->number, &keys->full);
	clear_bit(dev->number, &keys->failed);
	ctx = rcu_replace_pointer(keys->ctx[dev->number], NULL,
				  lockdep_is_held(&keys->lock));
	if (ctx) {
		__clear_bit(dev->number, &keys->present);
		ocf_context_unlist(ctx);
		trace_ocf_context_drop(keys, dev->number, 0);
	}
	spin_unlock(&keys->lock);
	return ctx;
}

/**
 * ocf_contexts_drop() - drop every generation's context on a device
 * @dev: the device; nothing is in it, and it is not ready
 *
 * When this returns, the driver is not making a context either, and makes none
 * before the device is ready again or tested.
 *
 * A card may take long to forget its contexts.  No other task waits for that:
 * this holds no lock while it calls the driver.  Generations that are being
 * freed drop their contexts themselves.
 *
 * Context: process; may sleep.
 */
void ocf_contexts_drop(struct ocf_device *dev)
{
	struct ocf_context *ctx, *next;
	struct ocf_keys *keys = NULL;
	LLIST_HEAD(dropped);

	/* after the state has changed: pairs with ocf_context_make() */
	smp_mb();
	wait_var_event(&dev->making, !atomic_read(&dev->making));
	while ((keys = generation_after(keys))) {
		ctx = take_context(keys, dev);
		if (ctx)
			llist_add(&ctx->going, &dropped);
	}
	/* a submitter that found a context may be about to call the driver */
	synchronize_rcu();
	llist_for_each_entry_safe(ctx, next, dropped.first, going)
		put_and_wait(ctx);
}
