// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device: the driver's operations, and the callbacks of implementations.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "bridge.h"

#define DRAIN_TIME	HZ	/* jiffies, for slots that are out at a stop */
#define RETRY_TIME	1	/* jiffies, if others fill the accelerator */

/*
 * The number of bridges that are not freed yet, and the tasks that wait until
 * all are freed.
 */
static atomic_t bridges = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(no_bridge);

/* ---- a slot comes back ---- */

/* The request of a slot; both NULL if it was detached */
struct owner {
	struct ocf_request	*req;
	struct ocf_pk_request	*pk;
};

static bool is_owned(const struct owner *own)
{
	return own->req || own->pk;
}

/* Removes the request from its slot, under the lock. */
static struct owner disown(struct bridge_slot *slot)
{
	struct owner own = { slot->req, slot->pk };

	lockdep_assert_held(&slot->bridge->lock);
	slot->req = NULL;
	slot->pk = NULL;
	if (own.req)
		((struct bridge_job *)own.req->priv)->slot = NULL;
	if (own.pk)
		own.pk->priv = NULL;
	return own;
}

/* Puts a slot whose request was detached.  Its bridge may be freed by this. */
static void end_detached(struct bridge_slot *slot)
{
	struct bridge *b = slot->bridge;
	struct ocf_device *dev = NULL;
	bool pinned = slot->pinned;

	slot->pinned = false;
	atomic_inc(&b->late);
	spin_lock_bh(&b->lock);
	if (!--b->detached)
		dev = READ_ONCE(b->dev);
	spin_unlock_bh(&b->lock);
	bridge_slot_put(slot, true);
	if (dev)
		ocf_device_revive(dev);
	if (pinned)
		module_put(THIS_MODULE);
}

static int result(struct bridge_slot *slot, const struct owner *own, int err)
{
	return own->pk ? bridge_pk_result(slot, own->pk, err) :
			 bridge_slot_result(slot, own->req, err);
}

static void end_request(struct bridge_slot *slot, const struct owner *own)
{
	int err = result(slot, own, slot->err);

	bridge_slot_put(slot, true);
	if (own->pk)
		ocf_pk_complete(own->pk, err);
	else
		ocf_complete(own->req, err);
}

/* An implementation has called back for a slot that it does not have. */
static void accuse(struct bridge *b)
{
	struct ocf_device *dev = READ_ONCE(b->dev);

	atomic_inc(&b->spurious);
	if (!dev)
		return;
	pr_warn_ratelimited("ocf_bridge: %s called back twice\n",
			    b->family->module);
	ocf_device_fail(dev);
}

/*
 * Handles a callback.  Context: BH.  So quiesce() and the end of the module can
 * wait for it with synchronize_rcu().
 */
static void answered(struct bridge_slot *slot, int err)
{
	struct bridge *b = slot->bridge;
	struct owner own = {};
	enum bridge_slot_state was;

	spin_lock_bh(&b->lock);
	was = slot->state;
	if (was == SLOT_ENTERING) {
		slot->err = err;
		slot->state = SLOT_ANSWERED;
	} else if (was == SLOT_OUT) {
		slot->err = err;
		slot->state = SLOT_BACK;
		own = disown(slot);
	}
	spin_unlock_bh(&b->lock);
	if (was == SLOT_OUT && is_owned(&own))
		end_request(slot, &own);
	else if (was == SLOT_OUT)
		end_detached(slot);
	else if (was != SLOT_ENTERING)
		accuse(b);
}

void bridge_called_back_in_irq(struct work_struct *work)
{
	struct bridge_slot *slot = container_of(work, struct bridge_slot, bh);

	answered(slot, slot->irq_err);
}

/* Context: any; the API promises BH, and not all drivers keep that. */
void bridge_called_back(void *data, int err)
{
	struct bridge_slot *slot = data;

	/* it has left a backlog, which it was not allowed to enter */
	if (err == -EINPROGRESS)
		return;
	if (in_hardirq() || irqs_disabled()) {
		slot->irq_err = err;
		if (!queue_work(system_bh_wq, &slot->bh))
			atomic_inc(&slot->bridge->spurious);
		return;
	}
	local_bh_disable();
	answered(slot, err);
	local_bh_enable();
}

/* ---- the driver's operations ---- */

static void retry(struct timer_list *timer)
{
	struct bridge *b = ocf_timer_container_of(b, timer, retry);
	struct ocf_device *dev;

	spin_lock_bh(&b->lock);
	b->starved = false;
	spin_unlock_bh(&b->lock);
	dev = READ_ONCE(b->dev);
	if (dev)
		ocf_device_unblock(dev);
}

/*
 * The accelerator is full.  It has room again when it has completed one of our
 * requests.  If it has none of ours, others fill it, and a timer tries again.
 */
static int refused(struct bridge *b, struct bridge_slot *slot)
{
	bool alone;

	atomic_inc(&b->refused);
	bridge_slot_put(slot, false);
	spin_lock_bh(&b->lock);
	b->starved = true;
	alone = b->out == b->detached;
	if (alone)
		mod_timer(&b->retry, jiffies + RETRY_TIME);
	spin_unlock_bh(&b->lock);
	return -EBUSY;
}

/**
 * bridge_entered() - note that an implementation was given a slot
 * @b: the bridge
 * @slot: the slot, with its request
 * @err: what the implementation returned
 *
 * Context: process or BH.
 * Return: the return value of submit().
 */
int bridge_entered(struct bridge *b, struct bridge_slot *slot, int err)
{
	struct owner own = {};
	bool answered;

	spin_lock_bh(&b->lock);
	answered = slot->state == SLOT_ANSWERED;
	if (answered)
		err = slot->err;
	if (!answered && err == -EINPROGRESS) {
		slot->state = SLOT_OUT;
	} else {
		slot->state = SLOT_BACK;
		own = disown(slot);
	}
	spin_unlock_bh(&b->lock);
	if (!is_owned(&own))
		return -EINPROGRESS;
	if (!answered && (err == -EBUSY || err == -ENOSPC || err == -EAGAIN))
		return refused(b, slot);
	atomic_inc(&b->at_once);
	err = result(slot, &own, err);
	bridge_slot_put(slot, true);
	return err;
}

static int bridge_submit(struct ocf_request *req, bool more)
{
	struct bridge *b = bridge_of(req->dev);
	struct bridge_job *job = (void *)req->priv;
	struct bridge_slot *slot;
	int err;

	BUILD_BUG_ON(sizeof(*job) > OCF_PRIV_SIZE);
	slot = bridge_slot_take(b);
	if (!slot)
		return -EBUSY;
	err = bridge_slot_fill(slot, req);
	if (err) {
		bridge_slot_put(slot, true);
		return err;
	}
	slot->req = req;
	job->slot = slot;
	err = bridge_transform_start(slot, req, bridge_called_back);
	return bridge_entered(b, slot, err);
}

/**
 * bridge_take_back() - take a request back from an implementation
 * @b: the bridge
 * @of: the request's pointer to its slot, which may be NULL
 *
 * Context: process or BH.
 * Return: whether the request was taken back; if not, it is being completed.
 */
bool bridge_take_back(struct bridge *b, struct bridge_slot **of)
{
	struct bridge_slot *slot;
	bool mine;

	spin_lock_bh(&b->lock);
	slot = *of;
	mine = slot && slot->state == SLOT_OUT;
	if (mine) {
		disown(slot);
		b->detached++;
		/*
		 * if this fails, the module is being unloaded, and the
		 * unloading waits for the slot
		 */
		slot->pinned = try_module_get(THIS_MODULE);
	}
	spin_unlock_bh(&b->lock);
	return mine;
}

static bool bridge_detach(struct ocf_request *req)
{
	struct bridge_job *job = (void *)req->priv;

	return bridge_take_back(bridge_of(req->dev), &job->slot);
}

static int bridge_quiesce(struct ocf_device *dev)
{
	struct bridge *b = bridge_of(dev);
	bool idle;

	idle = wait_event_timeout(b->idle, !READ_ONCE(b->out), DRAIN_TIME);
	spin_lock_bh(&b->lock);
	b->stopped = true;
	WRITE_ONCE(b->dev, NULL);
	spin_unlock_bh(&b->lock);
	timer_delete_sync(&b->retry);
	/* every reader of it is in BH context */
	synchronize_rcu();
	return idle ? 0 : -ETIMEDOUT;
}

/*
 * Lets the device take requests again.  Slots that are out stay set aside, and
 * new slots replace them.
 */
static int bridge_reset(struct ocf_device *dev)
{
	struct bridge *b = bridge_of(dev);

	b->stopped = false;
	return bridge_slots_fit(b);
}

/*
 * Sets @b->dev, unless the device was stopped: a context may be made while the
 * device is being removed.
 */
void bridge_claim(struct bridge *b, struct ocf_device *dev)
{
	spin_lock_bh(&b->lock);
	if (!b->stopped)
		WRITE_ONCE(b->dev, dev);
	spin_unlock_bh(&b->lock);
}

static int bridge_ctx_init(struct ocf_context *ctx,
			   const struct ocf_session_params *p)
{
	struct bridge *b = bridge_of(ctx->dev);
	struct bridge_context *c = ocf_context_priv(ctx);
	struct bridge_transform *t;

	bridge_claim(b, ctx->dev);
	t = bridge_transform_make(b->family, p);
	if (PTR_ERR_OR_ZERO(t) == -ENOENT) {
		ocf_device_fail(ctx->dev);
		return -ENODEV;
	}
	if (IS_ERR(t))
		return PTR_ERR(t);
	if (bridge_transform_subsize(t) > b->subsize) {
		bridge_transform_put(t, true);
		return -EOPNOTSUPP;
	}
	c->transform = t;
	ctx->more = OCF_TRANSFORM_BYTES + ocf_table_bytes(p);
	return 0;
}

static void bridge_ctx_exit(struct ocf_context *ctx)
{
	struct bridge_context *c = ocf_context_priv(ctx);

	bridge_transform_put(c->transform, true);
}

static const struct ocf_device_ops bridge_ops = {
	.ctx_init = bridge_ctx_init,
	.ctx_exit = bridge_ctx_exit,
	.submit = bridge_submit,
	.detach = bridge_detach,
	.quiesce = bridge_quiesce,
	.reset = bridge_reset,
};

/* ---- making and freeing a device ---- */

static void free_bridge(struct work_struct *work)
{
	struct bridge *b = container_of(work, struct bridge, reap);

	bridge_slots_free(b);
	kfree(b);
	if (atomic_dec_and_test(&bridges))
		wake_up(&no_bridge);
}

static void release_bridge(struct kref *refs)
{
	queue_work(ocf_bridge_wq,
		   &container_of(refs, struct bridge, refs)->reap);
}

/* Context: process or BH. */
void bridge_put(struct bridge *b)
{
	kref_put(&b->refs, release_bridge);
}

/**
 * bridge_wait_all() - wait for all callbacks
 *
 * For the end of the module, when no device is left.  An implementation cannot
 * be made to give up a request, and its callback needs our code.
 *
 * Context: process; may sleep for any time.
 */
void bridge_wait_all(void)
{
	while (!wait_event_timeout(no_bridge, !atomic_read(&bridges), 10 * HZ))
		pr_warn("ocf_bridge: an accelerator has not answered yet, waiting for it\n");
	/* the last callback has returned */
	synchronize_rcu();
}

static const enum ocf_mode modes[] = {
	[KIND_CIPHER]	= OCF_MODE_CIPHER,
	[KIND_AEAD]	= OCF_MODE_AEAD,
	[KIND_HASH]	= OCF_MODE_DIGEST,
};

/* Fills in the algorithms of @family, and the size of its requests. */
static int offer(struct bridge *b, struct ocf_device_info *info)
{
	const struct bridge_family *family = b->family;
	enum bridge_kind kind;
	int alg, err;

	for (alg = 1; alg < ALGS; alg++) {
		if (!family->driver[alg][0])
			continue;
		kind = bridge_transform_kind(alg);
		err = bridge_transform_probe(family->driver[alg], kind,
					     &b->subsize);
		if (err)
			return err;
		if (alg >= PK_FIRST)
			continue;
		set_bit(alg, info->algs);
		info->modes |= BIT(modes[kind]);
	}
	bridge_pk_offer(b, info);
	return 0;
}

static struct bridge *alloc_bridge(const struct bridge_family *family)
{
	struct bridge *b = kzalloc(sizeof(*b), GFP_KERNEL);

	if (!b)
		return NULL;
	kref_init(&b->refs);
	INIT_WORK(&b->reap, free_bridge);
	b->family = family;
	b->depth = ocf_bridge_depth;
	spin_lock_init(&b->lock);
	INIT_LIST_HEAD(&b->free);
	init_waitqueue_head(&b->idle);
	timer_setup(&b->retry, retry, 0);
	atomic_inc(&bridges);
	return b;
}

/**
 * bridge_make() - make a device of implementations
 * @parent: its parent in sysfs
 * @family: the implementations; must outlive the device
 *
 * Context: process; may sleep, may load modules.
 * Return: the device, or an ERR_PTR of ocf_device_register() or of the crypto
 * API.
 */
struct bridge *bridge_make(struct device *parent,
			   const struct bridge_family *family)
{
	struct bridge *b = alloc_bridge(family);
	struct ocf_device_info info = {
		.name = "bridge",
		.owner = THIS_MODULE,
		.ops = &bridge_ops,
		.parent = parent,
		.priv = b,
		.kind = OCF_KIND_HARDWARE,
		.depth = ocf_bridge_depth,
		.max_len = ocf_bridge_buffer,
		.ctx_size = sizeof(struct bridge_context),
		.patience = ocf_bridge_patience,
	};
	int err;

	if (!b)
		return ERR_PTR(-ENOMEM);
	err = offer(b, &info) ?: bridge_slots_fit(b);
	if (err)
		goto put;
	b->registered = ocf_device_register(&info);
	if (!IS_ERR(b->registered))
		return b;
	err = PTR_ERR(b->registered);
put:
	timer_shutdown_sync(&b->retry);
	bridge_put(b);
	return ERR_PTR(err);
}

/*
 * Called when implementations were registered again: starts a new self-test of
 * each device that failed.
 */
void bridge_revive(struct bridge *b)
{
	ocf_device_revive(b->registered);
}

/* Frees the device, except slots that are out and the memory they need. */
void bridge_drop(struct bridge *b)
{
	ocf_device_unregister(b->registered);
	timer_shutdown_sync(&b->retry);
	bridge_put(b);
}
