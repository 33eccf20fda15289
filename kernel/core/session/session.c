// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: what a consumer holds.  A session survives the devices that serve
 * it.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "../core.h"

#include <trace/events/ocf.h>

/* Bytes of a typical request, for a choice before the first request */
#define TYPICAL		1024

static LIST_HEAD(sessions);
static DEFINE_SPINLOCK(sessions_lock);

static bool may_use(const struct ocf_session *ses, struct ocf_device *dev)
{
	if (ses->testing)
		return dev == ses->testing &&
		       ocf_device_capable(dev, &ses->params);
	return ocf_device_serves(dev, ses) &&
	       ocf_device_wanted(dev, &ses->params);
}

/* Whether @dev is a card that may do one of the two steps of @ses. */
static bool may_share(const struct ocf_session *ses, struct ocf_device *dev)
{
	struct ocf_session_params p;
	int i;

	if (dev->info.kind == OCF_KIND_SOFTWARE || !ocf_device_serves(dev, ses))
		return false;
	for (i = 0; i < ARRAY_SIZE(ses->part); i++) {
		p = ocf_part_params(&ses->params, i);
		if (ocf_device_capable(dev, &p))
			return true;
	}
	return false;
}

static bool may_split(const struct ocf_session *ses)
{
	return ocf_mode_splits(&ses->params) && !ses->testing &&
	       ses->params.flags & OCF_SESSION_HARDWARE;
}

/* One refresh at a time, so that no result is a mixture of two. */
static DEFINE_SPINLOCK(refresh_lock);

/**
 * ocf_session_refresh() - work out which devices are capable of a session
 * @ses: the session
 *
 * Context: process or BH, after ocf_read_lock().
 */
void ocf_session_refresh(struct ocf_session *ses)
{
	u64 present, capable = 0, least = U64_MAX, cost;
	bool two = may_split(ses);
	bool splits = false;
	struct ocf_device *dev;
	int i, soft = -1;
	u32 now;

	spin_lock_bh(&refresh_lock);
	now = ocf_registry_generation();
	present = ocf_registry_present();
	for (; present; present &= ~BIT_ULL(i)) {
		i = __ffs64(present);
		dev = ocf_device_at(i);
		if (!dev)
			continue;
		if (two && may_share(ses, dev))
			splits = true;
		if (!may_use(ses, dev))
			continue;
		capable |= BIT_ULL(i);
		if (dev->info.kind != OCF_KIND_SOFTWARE)
			continue;
		cost = ocf_device_cost(dev, &ses->params, OCF_OP_ENCRYPT,
				       TYPICAL);
		if (cost < least) {
			least = cost;
			soft = i;
		}
	}
	WRITE_ONCE(ses->capable, capable);
	WRITE_ONCE(ses->soft, soft);
	WRITE_ONCE(ses->splits, splits);
	WRITE_ONCE(ses->no_card, soft >= 0 && capable == BIT_ULL(soft) &&
		   !splits);
	WRITE_ONCE(ses->uncompared, 0);
	/* after the fields above: pairs with ocf_session_is_current() */
	smp_store_release(&ses->seen, now);
	spin_unlock_bh(&refresh_lock);
}

/* Makes a context on the first device of @set that can. */
static int context_on_one(u64 set, struct ocf_keys *keys, u32 flags)
{
	struct ocf_device *dev;
	int err = -EOPNOTSUPP, this, i;

	for (; set && err; set &= ~BIT_ULL(i)) {
		i = __ffs64(set);
		dev = ocf_device_find(i);
		if (!dev)
			continue;
		this = ocf_keys_make_context(keys, dev, flags);
		ocf_device_put(dev);
		/* of several errors return the temporary one */
		if (err != -ENOSPC || !this)
			err = this;
	}
	return err;
}

/*
 * Makes the first context, so that the first request does not wait: on the CPU,
 * or else on the first card with capacity.
 */
static int first_context(struct ocf_session *ses, struct ocf_keys *keys)
{
	u32 flags = ses->testing ? OCF_CONTEXT_TESTING : 0;
	u64 set = ses->soft >= 0 ? BIT_ULL(ses->soft) : ses->capable;
	int err;

	while ((err = context_on_one(set, keys, flags)) == -ENOSPC &&
	       !(flags & OCF_CONTEXT_URGENT))
		flags |= OCF_CONTEXT_URGENT;
	return err;
}

/* Whether a device could serve @ses, but is out of use now */
static bool is_out_of_use(const struct ocf_session *ses)
{
	u64 present = ocf_registry_present();
	struct ocf_device *dev;
	bool found = false;
	int i;

	ocf_read_lock();
	for (; present && !found; present &= ~BIT_ULL(i)) {
		i = __ffs64(present);
		dev = ocf_device_at(i);
		found = dev && dev->state != OCF_DEVICE_TESTING &&
			ocf_device_wanted(dev, &ses->params);
	}
	ocf_read_unlock();
	return found;
}

static u32 block_of(const struct ocf_session_params *p)
{
	return p->cipher == OCF_ALG_NONE ? 1 : ocf_alg_info(p->cipher)->block;
}

static void free_session(struct ocf_session *ses)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(ses->part); i++)
		if (ses->part[i])
			free_session(ses->part[i]);
	ocf_flow_put(ses->flow);
	mutex_destroy(&ses->rekey);
	ocf_account_uncharge(ses->params.account, sizeof(*ses));
	ocf_account_put(ses->params.account);
	kfree(ses);
}

static void end_session(struct ocf_session *ses)
{
	trace_ocf_session_free(ses, &ses->params, 0);
	spin_lock(&sessions_lock);
	list_del(&ses->node);
	spin_unlock(&sessions_lock);
	ocf_keys_put(rcu_dereference_protected(ses->keys, true));
	free_session(ses);
}

static void end_session_work(struct work_struct *work)
{
	end_session(container_of(work, struct ocf_session, work));
}

/**
 * ocf_session_make() - make a session without keys, which is on no list
 * @p: its parameters, validated
 * @testing: the device whose self-test it is for, or NULL
 * @gfp: allocation flags
 *
 * Context: process; may sleep.
 * Return: the session, or an ERR_PTR: -ENOMEM, -EDQUOT.
 */
struct ocf_session *ocf_session_make(const struct ocf_session_params *p,
				     struct ocf_device *testing, gfp_t gfp)
{
	struct ocf_session *ses = kzalloc(sizeof(*ses), gfp);
	int err;

	if (!ses)
		return ERR_PTR(-ENOMEM);
	err = ocf_account_charge(p->account, sizeof(*ses));
	if (err) {
		kfree(ses);
		return ERR_PTR(err);
	}
	ocf_account_hold(p->account);
	refcount_set(&ses->refs, 1);
	ses->params = *p;
	ses->params.key = NULL;
	ses->params.mackey = NULL;
	ses->block = block_of(p);
	ses->flow = ocf_flow_get(p->owner);
	ses->testing = testing;
	mutex_init(&ses->rekey);
	spin_lock_init(&ses->order_lock);
	INIT_LIST_HEAD(&ses->order);
	INIT_WORK(&ses->order_work, ocf_request_ops->deliver);
	INIT_WORK(&ses->work, end_session_work);
	ocf_parts_init(ses);
	return ses;
}

/*
 * Makes the first contexts.  If software may not serve @ses, this also makes
 * the parts for two steps on two devices: after a card has gone, two steps may
 * be the only way left.  Parts of MTE are made only if no device takes the
 * whole session.
 */
static int first_contexts(struct ocf_session *ses, struct ocf_keys *keys)
{
	int i, err = 0;

	if (ses->soft < 0 && may_split(ses) &&
	    ses->params.mode != OCF_MODE_MTE)
		err = ocf_parts_make(ses, keys);
	err = err ?: first_context(ses, keys);
	if (err != -EOPNOTSUPP || !ses->splits)
		return err;
	err = ocf_parts_make(ses, keys);
	for (i = 0; !err && i < ARRAY_SIZE(ses->part); i++) {
		ocf_read_lock();
		ocf_session_refresh(ses->part[i]);
		ocf_read_unlock();
		err = first_context(ses->part[i], keys->part[i]);
	}
	return err;
}

/**
 * ocf_session_create_on() - open a session, also for a device's tests
 * @given: its parameters
 * @testing: the device whose self-test it is for, or NULL
 * @gfp: allocation flags
 *
 * Context: process; may sleep.
 * Return: as ocf_session_create().
 */
struct ocf_session *
ocf_session_create_on(const struct ocf_session_params *given,
		      struct ocf_device *testing, gfp_t gfp)
{
	struct ocf_session_params p = *given;
	struct ocf_session *ses;
	struct ocf_keys *keys;
	int err;

	err = ocf_check_params(&p) ?: ocf_fips_check_keys(&p);
	p.wrong = NULL;
	if (err == -EPERM && testing)
		err = 0;
	if (err)
		goto refuse;
	if (p.device != OCF_DEVICE_ANY && !testing &&
	    !ocf_device_exists(p.device)) {
		err = -ENODEV;
		goto refuse;
	}
	ses = ocf_session_make(&p, testing, gfp);
	if (IS_ERR(ses)) {
		err = PTR_ERR(ses);
		goto refuse;
	}
	keys = ocf_keys_create(&p, gfp);
	if (IS_ERR(keys)) {
		err = PTR_ERR(keys);
		goto free_session;
	}
	RCU_INIT_POINTER(ses->keys, keys);

	ocf_read_lock();
	ocf_session_refresh(ses);
	ocf_read_unlock();
	err = first_contexts(ses, keys);
	if (err == -EOPNOTSUPP && is_out_of_use(ses))
		err = -ENODEV;
	if (err)
		goto put_keys;
	spin_lock(&sessions_lock);
	list_add_tail(&ses->node, &sessions);
	spin_unlock(&sessions_lock);
	trace_ocf_session_create(ses, &ses->params, 0);
	return ses;

put_keys:
	ocf_keys_put(keys);
free_session:
	free_session(ses);
refuse:
	trace_ocf_session_create(NULL, given, err);
	return ERR_PTR(err);
}

struct ocf_session *
ocf_session_create(const struct ocf_session_params *params, gfp_t gfp)
{
	return ocf_session_create_on(params, NULL, gfp);
}
OCF_EXPORT(ocf_session_create);

struct ocf_session *ocf_session_derive(struct ocf_session *ses,
				       enum ocf_mode mode, u32 maclen,
				       u32 flags, gfp_t gfp)
{
	struct ocf_session_params p;
	struct ocf_session *new;
	struct ocf_keys *keys;

	if (mutex_lock_killable(&ses->rekey))
		return ERR_PTR(-EINTR);
	keys = rcu_dereference_protected(ses->keys,
					 lockdep_is_held(&ses->rekey));
	ocf_keys_get(keys);
	mutex_unlock(&ses->rekey);
	/* with the generation's own keys */
	p = keys->params;
	p.mode = mode;
	p.maclen = maclen;
	p.flags |= flags;
	new = ocf_session_create_on(&p, NULL, gfp);
	ocf_keys_put(keys);
	return new;
}
OCF_EXPORT(ocf_session_derive);

struct ocf_session *ocf_session_get(struct ocf_session *ses)
{
	refcount_inc(&ses->refs);
	return ses;
}
OCF_EXPORT(ocf_session_get);

void ocf_session_put(struct ocf_session *ses)
{
	might_sleep();
	if (ses && refcount_dec_and_test(&ses->refs))
		end_session(ses);
}
OCF_EXPORT(ocf_session_put);

void ocf_session_put_deferred(struct ocf_session *ses)
{
	if (ses)
		ocf_session_release(ses);
}
OCF_EXPORT(ocf_session_put_deferred);

/*
 * A generation for @ses with new keys; a key that is not given is that of @old.
 */
static struct ocf_keys *next_generation(struct ocf_session *ses,
					struct ocf_keys *old,
					const u8 *key, u32 keylen,
					const u8 *mackey, u32 mackeylen,
					u32 *wrong)
{
	struct ocf_session_params p = old->params;
	struct ocf_keys *keys;
	int err;

	lockdep_assert_held(&ses->rekey);
	p.wrong = wrong;
	if (key) {
		p.key = key;
		p.keylen = keylen;
	}
	if (mackey) {
		p.mackey = mackey;
		p.mackeylen = mackeylen;
	}
	err = ocf_check_params(&p) ?: ocf_fips_check_keys(&p);
	p.wrong = NULL;
	if (err)
		return ERR_PTR(err);
	keys = ocf_keys_create(&p, GFP_KERNEL_ACCOUNT);
	if (IS_ERR(keys))
		return keys;
	err = first_contexts(ses, keys);
	if (!err && ses->part[0])
		err = ocf_parts_make(ses, keys);
	if (err) {
		ocf_keys_put(keys);
		return ERR_PTR(err == -EOPNOTSUPP ? -ENODEV : err);
	}
	return keys;
}

/*
 * Replaced generations that a session may have at a time: a card may take long
 * to forget one, and a submitter may take long to finish its work with one.
 */
#define LEAVING_MAX	4

/*
 * Waits until one more generation may be replaced, and locks @ses->rekey.  It
 * waits without the lock, because the wait may be as long as an operation of
 * the session, and other tasks need the lock.
 */
static int lock_rekey(struct ocf_session *ses)
{
	atomic_t *n = &ses->leaving;

	for (;;) {
		if (wait_var_event_killable(n, atomic_read(n) < LEAVING_MAX) ||
		    mutex_lock_killable(&ses->rekey))
			return -EINTR;
		if (atomic_read(n) < LEAVING_MAX)
			return 0;
		mutex_unlock(&ses->rekey);
	}
}

/* Puts @old, which new requests do not find any more. */
static void retire_keys(struct ocf_session *ses, struct ocf_keys *old)
{
	atomic_inc(&ses->leaving);
	old->left = ocf_session_get(ses);
	ocf_keys_put(old);
}

int ocf_session_rekey(struct ocf_session *ses, const u8 *key, u32 keylen,
		      const u8 *mackey, u32 mackeylen, u32 *wrong)
{
	struct ocf_keys *old, *keys;
	int err;

	ocf_read_lock();
	ocf_session_refresh(ses);
	ocf_read_unlock();

	err = lock_rekey(ses);
	if (err)
		return err;
	old = rcu_dereference_protected(ses->keys,
					lockdep_is_held(&ses->rekey));
	keys = next_generation(ses, old, key, keylen, mackey, mackeylen, wrong);
	if (IS_ERR(keys)) {
		err = PTR_ERR(keys);
		goto unlock;
	}
	rcu_assign_pointer(ses->keys, keys);
	retire_keys(ses, old);
unlock:
	mutex_unlock(&ses->rekey);
	trace_ocf_session_rekey(ses, &ses->params, err);
	return err;
}
OCF_EXPORT(ocf_session_rekey);

static const char *name_of(enum ocf_alg alg)
{
	return alg == OCF_ALG_NONE ? "-" : ocf_alg_info(alg)->name;
}

/*
 * The session after @ses in the list, or the first one, with a reference; puts
 * @ses.
 */
static struct ocf_session *session_after(struct ocf_session *ses)
{
	struct ocf_session *next;

	spin_lock(&sessions_lock);
	next = list_prepare_entry(ses, &sessions, node);
	list_for_each_entry_continue(next, &sessions, node)
		if (refcount_inc_not_zero(&next->refs))
			break;
	if (list_entry_is_head(next, &sessions, node))
		next = NULL;
	spin_unlock(&sessions_lock);
	ocf_session_put(ses);
	return next;
}

static void show_session(struct seq_file *m, const struct ocf_session *ses)
{
	int i;

	seq_printf(m, "%d %s %s %lld %lld %lld", ses->params.mode,
		   name_of(ses->params.cipher), name_of(ses->params.mac),
		   atomic64_read(&ses->ops), atomic64_read(&ses->bytes),
		   atomic64_read(&ses->errors));
	for (i = 0; i < OCF_HIST_BUCKETS; i++)
		if (READ_ONCE(ses->hist[i]))
			seq_printf(m, " %lu:%u", BIT(i),
				   READ_ONCE(ses->hist[i]));
	seq_putc(m, '\n');
}

/**
 * ocf_sessions_show() - list all sessions
 * @m: where to
 *
 * A task that opens or closes a session does not wait for the reader.
 *
 * Context: process; may sleep.
 */
void ocf_sessions_show(struct seq_file *m)
{
	struct ocf_session *ses = NULL;

	while (!seq_has_overflowed(m) && (ses = session_after(ses)))
		show_session(m, ses);
	ocf_session_put(ses);
}
