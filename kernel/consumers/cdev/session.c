// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sessions of an open file.
 *
 * An id is an index of the file's table with a sequence number above it, so
 * that an old id does not find a new session.  A lookup takes no lock.
 */
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "cdev.h"

#define SLOT_BITS	16
#define SLOTS_FIRST	8
#define SLOTS_MAX	BIT(SLOT_BITS)

static struct cdev_table *table_alloc(u32 size)
{
	struct cdev_table *t;

	t = kvzalloc(struct_size(t, slot, size), GFP_KERNEL_ACCOUNT);
	if (t)
		t->size = size;
	return t;
}

static struct cdev_table *table_of(struct cdev_file *file)
{
	return rcu_dereference_protected(file->table,
					 lockdep_is_held(&file->lock));
}

static struct cdev_session *in_slot(struct cdev_file *file, u32 i)
{
	return rcu_dereference_protected(table_of(file)->slot[i],
					 lockdep_is_held(&file->lock));
}

int cdev_table_init(struct cdev_file *file)
{
	struct cdev_table *t = table_alloc(SLOTS_FIRST);

	if (!t)
		return -ENOMEM;
	RCU_INIT_POINTER(file->table, t);
	return 0;
}

/* Finds a free place, in a larger table if necessary. */
static int find_slot(struct cdev_file *file)
{
	struct cdev_table *t = table_of(file), *larger;
	u32 i;

	for (i = 0; i < t->size; i++)
		if (!in_slot(file, i))
			return i;
	if (t->size == SLOTS_MAX)
		return -ENOSPC;
	larger = table_alloc(t->size * 2);
	if (!larger)
		return -ENOMEM;
	memcpy(larger->slot, t->slot, t->size * sizeof(t->slot[0]));
	rcu_assign_pointer(file->table, larger);
	kvfree_rcu(t, rcu);
	return i;
}

static void free_derived(struct cdev_session *ses)
{
	struct cdev_derived *d, *next;

	list_for_each_entry_safe(d, next, &ses->derived, node) {
		ocf_session_put(d->ses);
		cdev_user_sub_session(ses->user, sizeof(*d));
		kfree(d);
	}
}

/* Context: process; may sleep. */
void cdev_session_put(struct cdev_session *ses)
{
	if (!refcount_dec_and_test(&ses->refs))
		return;
	free_derived(ses);
	ocf_session_put(ses->ses);
	ocf_workers_put(ses->workers);
	if (ses->state)
		ocf_account_uncharge(ses->user->account, OCF_STATE_MAX);
	cdev_user_sub_session(ses->user, sizeof(*ses));
	kfree_sensitive(ses->state);
	memzero_explicit(ses->iv, sizeof(ses->iv));
	mutex_destroy(&ses->parts);
	kfree_rcu(ses, rcu);
}

/**
 * cdev_session_start_wanted() - start a thread of the process if one is missing
 * @ses: the session, one of whose operations is on a card
 *
 * Context: process; may sleep.
 */
void cdev_session_start_wanted(struct cdev_session *ses)
{
	/* pairs with cdev_session_workers() */
	if (smp_load_acquire(&ses->process) == task_tgid(current))
		ocf_workers_start_wanted(ses->workers);
}

/**
 * cdev_session_workers() - the worker threads of the calling process, if it is
 * the first that uses the session while there is a card
 * @ses: the session, which keeps them
 *
 * Context: process; may sleep.
 * Return: the threads, or NULL: the session is another process's.
 */
struct ocf_workers *cdev_session_workers(struct cdev_session *ses)
{
	struct ocf_workers *w;

	/* pairs with the release below: @ses->workers are set by then */
	if (likely(smp_load_acquire(&ses->process) == task_tgid(current)))
		return ses->workers;
	if (READ_ONCE(ses->workers))
		return NULL;
	w = ocf_workers_get();
	if (cmpxchg(&ses->workers, NULL, w)) {
		ocf_workers_put(w);
		return NULL;
	}
	if (w)
		/* after @ses->workers */
		smp_store_release(&ses->process, task_tgid(current));
	return w;
}

static void remove_slot(struct cdev_file *file, u32 i)
{
	struct cdev_session *ses = in_slot(file, i);

	RCU_INIT_POINTER(table_of(file)->slot[i], NULL);
	cdev_session_put(ses);
}

/* The file is being closed, or was not opened: no other task uses the table. */
void cdev_table_exit(struct cdev_file *file)
{
	struct cdev_table *t;
	u32 i;

	mutex_lock(&file->lock);
	t = table_of(file);
	for (i = 0; i < t->size; i++)
		if (in_slot(file, i))
			remove_slot(file, i);
	RCU_INIT_POINTER(file->table, NULL);
	mutex_unlock(&file->lock);
	kvfree(t);
}

static struct cdev_session *
session_alloc(struct cdev_user *user, enum ocf_abi abi,
	      const struct ocf_session_params *given)
{
	struct ocf_session_params p = *given;
	struct cdev_session *ses;
	int err = -ENOMEM;

	ses = kzalloc(sizeof(*ses), GFP_KERNEL_ACCOUNT);
	if (!ses)
		return ERR_PTR(err);
	err = cdev_user_add_session(user, sizeof(*ses));
	if (err)
		goto free_ses;
	p.owner = ocf_owner(user->uid);
	p.account = user->account;
	ses->ses = ocf_session_create(&p, GFP_KERNEL_ACCOUNT);
	if (IS_ERR(ses->ses)) {
		err = PTR_ERR(ses->ses);
		goto sub_session;
	}
	/* one reference of the table and one of the caller */
	refcount_set(&ses->refs, 2);
	ses->abi = abi;
	ses->user = user;
	ses->cipher = ocf_alg_info(p.cipher);
	ses->mac = ocf_alg_info(p.mac);
	ses->ordered = p.flags & OCF_SESSION_ORDERED;
	mutex_init(&ses->parts);
	INIT_LIST_HEAD(&ses->derived);
	ocf_session_info(ses->ses, &ses->info);
	cdev_iv_init(ses);
	return ses;

sub_session:
	cdev_user_sub_session(user, sizeof(*ses));
free_ses:
	kfree(ses);
	return ERR_PTR(err);
}

/**
 * cdev_session_create() - open a session
 * @file: the file that gets the session
 * @abi: the ABI of the call
 * @p: the session's parameters
 *
 * Context: process; may sleep.
 * Return: the session, held, its id set; or an ERR_PTR: what
 * ocf_session_create() says, -EDQUOT, -ENOSPC, -ENOMEM.
 */
struct cdev_session *cdev_session_create(struct cdev_file *file,
					 enum ocf_abi abi,
					 const struct ocf_session_params *p)
{
	struct cdev_session *ses;
	int slot;

	ses = session_alloc(file->user, abi, p);
	if (IS_ERR(ses))
		return ses;
	mutex_lock(&file->lock);
	slot = find_slot(file);
	if (slot >= 0) {
		/* never 0, which programs take for "none" */
		file->sequence = file->sequence % (BIT(32 - SLOT_BITS) - 1) + 1;
		ses->id = file->sequence << SLOT_BITS | slot;
		rcu_assign_pointer(table_of(file)->slot[slot], ses);
	}
	mutex_unlock(&file->lock);
	if (slot >= 0)
		return ses;
	refcount_set(&ses->refs, 1);
	cdev_session_put(ses);
	return ERR_PTR(slot);
}

static bool is_it(const struct cdev_session *ses, enum ocf_abi abi, u32 id)
{
	return ses && ses->id == id && (ses->abi == abi || abi == CDEV_ABI_ANY);
}

/* Context: under RCU, or under the lock */
static __always_inline struct cdev_session *
of_number(struct cdev_file *file, enum ocf_abi abi, u32 id)
{
	u32 slot = id & (SLOTS_MAX - 1);
	struct cdev_session *ses;
	struct cdev_table *t;

	t = rcu_dereference_check(file->table, lockdep_is_held(&file->lock));
	if (slot >= t->size)
		return NULL;
	slot = array_index_nospec(slot, t->size);
	ses = rcu_dereference_check(t->slot[slot],
				    lockdep_is_held(&file->lock));
	return is_it(ses, abi, id) ? ses : NULL;
}

/**
 * cdev_session_find() - look a session up
 * @file: the file that has the session
 * @abi: the ABI of the call, or CDEV_ABI_ANY
 * @id: the session's
 *
 * Context: process.
 * Return: the session, held, or NULL if there is none of this ABI.
 */
struct cdev_session *cdev_session_find(struct cdev_file *file,
				       enum ocf_abi abi, u32 id)
{
	struct cdev_session *ses;

	rcu_read_lock();
	ses = of_number(file, abi, id);
	if (ses && !refcount_inc_not_zero(&ses->refs))
		ses = NULL;
	rcu_read_unlock();
	return ses;
}

/**
 * cdev_session_end() - close a session
 * @file: the file that has the session
 * @abi: the ABI of the call, or CDEV_ABI_ANY
 * @id: the session's
 *
 * Operations under way finish.
 *
 * Context: process; may sleep.
 * Return: 0, or -EINVAL if there is no such session.
 */
int cdev_session_end(struct cdev_file *file, enum ocf_abi abi, u32 id)
{
	struct cdev_session *ses;
	u32 slot;

	mutex_lock(&file->lock);
	ses = of_number(file, abi, id);
	if (ses) {
		slot = array_index_nospec(id & (SLOTS_MAX - 1),
					  table_of(file)->size);
		RCU_INIT_POINTER(table_of(file)->slot[slot], NULL);
	}
	mutex_unlock(&file->lock);
	if (!ses)
		return -EINVAL;
	cdev_session_put(ses);
	return 0;
}

static struct cdev_derived *derive(struct cdev_session *ses,
				   enum ocf_mode mode, u32 maclen)
{
	struct cdev_derived *d;
	int err = -ENOMEM;

	d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	if (!d)
		return ERR_PTR(err);
	err = cdev_user_add_session(ses->user, sizeof(*d));
	if (err)
		goto free_d;
	d->mode = mode;
	d->maclen = maclen;
	d->ses = ocf_session_derive(ses->ses, mode, maclen, 0,
				    GFP_KERNEL_ACCOUNT);
	if (IS_ERR(d->ses)) {
		err = PTR_ERR(d->ses);
		goto sub_session;
	}
	list_add_tail(&d->node, &ses->derived);
	return d;

sub_session:
	cdev_user_sub_session(ses->user, sizeof(*d));
free_d:
	kfree(d);
	return ERR_PTR(err);
}

/**
 * cdev_session_as() - a session in another mode, or with another tag
 * @ses: the session; the returned one lives as long
 * @mode: the mode
 * @maclen: bytes of MAC or tag
 *
 * Context: process; may sleep.
 * Return: the core's session, or an ERR_PTR as of ocf_session_create(),
 * -EDQUOT or -EINTR.
 */
struct ocf_session *cdev_session_as(struct cdev_session *ses,
				    enum ocf_mode mode, u32 maclen)
{
	struct cdev_derived *d;

	if (mode == ses->info.mode && maclen == ses->info.maclen)
		return ses->ses;
	if (mutex_lock_killable(&ses->parts))
		return ERR_PTR(-EINTR);
	list_for_each_entry(d, &ses->derived, node)
		if (d->mode == mode && d->maclen == maclen)
			goto unlock;
	d = derive(ses, mode, maclen);
unlock:
	mutex_unlock(&ses->parts);
	return IS_ERR(d) ? ERR_CAST(d) : d->ses;
}

/**
 * cdev_session_state() - allocate the state of a digest in parts, if it is
 * missing
 * @ses: the session; ses->parts is held
 *
 * Context: process; may sleep.
 * Return: 0, -ENOMEM or -EDQUOT.
 */
int cdev_session_state(struct cdev_session *ses)
{
	int err;

	lockdep_assert_held(&ses->parts);
	if (ses->state)
		return 0;
	err = ocf_account_charge(ses->user->account, OCF_STATE_MAX);
	if (err)
		return err;
	ses->state = kzalloc(OCF_STATE_MAX, GFP_KERNEL_ACCOUNT);
	if (ses->state)
		return 0;
	ocf_account_uncharge(ses->user->account, OCF_STATE_MAX);
	return -ENOMEM;
}

/**
 * cdev_key_copy() - copy a key from user space
 * @key: where to
 * @max: bytes there
 * @from: where from
 * @len: bytes
 *
 * Context: process; may sleep.
 * Return: 0, -EINVAL if it is too long, -EFAULT.
 */
int cdev_key_copy(u8 *key, u32 max, const void __user *from, u32 len)
{
	if (len > max)
		return -EINVAL;
	return copy_from_user(key, from, len) ? -EFAULT : 0;
}
