// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounts: how much memory the sessions of a user take, whichever consumer
 * opened them.
 *
 * A session, each generation of its keys and each context are charged until
 * their memory is freed.  The memory is charged to the control group of the
 * task that opened the session as well, by __GFP_ACCOUNT.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../core.h"

/* By default a user may have 1 / PARTS of the memory. */
#define PARTS	16

/**
 * struct ocf_account - what the sessions of a user take
 * @refs: references: those of consumers, and one for each session and each
 *	generation
 * @uid: the user
 * @bytes: charged
 * @node: in the table of accounts
 */
struct ocf_account {
	refcount_t		refs;
	kuid_t			uid;
	atomic_long_t		bytes;
	struct hlist_node	node;
};

static DEFINE_HASHTABLE(accounts, 6);
static DEFINE_SPINLOCK(accounts_lock);

static unsigned long max_session_bytes;
module_param(max_session_bytes, ulong, 0644);
MODULE_PARM_DESC(max_session_bytes,
		 "bytes of memory that the sessions of a user may take (1/16 of the memory)");

static struct ocf_account *lookup(kuid_t uid)
{
	struct ocf_account *account;

	lockdep_assert_held(&accounts_lock);
	hash_for_each_possible(accounts, account, node, __kuid_val(uid))
		if (uid_eq(account->uid, uid))
			return account;
	return NULL;
}

struct ocf_account *ocf_account_get(kuid_t uid)
{
	struct ocf_account *new, *account;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	new->uid = uid;
	refcount_set(&new->refs, 1);
	spin_lock(&accounts_lock);
	account = lookup(uid);
	if (account)
		refcount_inc(&account->refs);
	else
		hash_add(accounts, &new->node, __kuid_val(uid));
	spin_unlock(&accounts_lock);
	if (!account)
		return new;
	kfree(new);
	return account;
}
OCF_EXPORT(ocf_account_get);

/* Context: any. */
void ocf_account_hold(struct ocf_account *account)
{
	if (account)
		refcount_inc(&account->refs);
}

void ocf_account_put(struct ocf_account *account)
{
	bool last;

	if (!account || refcount_dec_not_one(&account->refs))
		return;
	spin_lock(&accounts_lock);
	last = refcount_dec_and_test(&account->refs);
	if (last)
		hash_del(&account->node);
	spin_unlock(&accounts_lock);
	if (last)
		kfree(account);
}
OCF_EXPORT(ocf_account_put);

/*
 * A worker makes contexts of sessions that are open already.  They are charged
 * within twice the limit, so that these sessions can use cards.
 */
static unsigned long bytes_limit(void)
{
	unsigned long max = min(READ_ONCE(max_session_bytes), LONG_MAX / 2ul);

	return current->flags & PF_KTHREAD ? 2 * max : max;
}

static bool exempt(void)
{
	return !(current->flags & PF_KTHREAD) &&
	       has_capability_noaudit(current, CAP_SYS_RESOURCE);
}

int ocf_account_charge(struct ocf_account *account, size_t bytes)
{
	unsigned long max = bytes_limit();
	long old;

	if (!account)
		return 0;
	/*
	 * the sum never exceeds the limit, or others would be refused meanwhile
	 */
	old = atomic_long_read(&account->bytes);
	do {
		if (old + bytes > max && !exempt())
			return -EDQUOT;
	} while (!atomic_long_try_cmpxchg(&account->bytes, &old, old + bytes));
	return 0;
}
OCF_EXPORT(ocf_account_charge);

void ocf_account_uncharge(struct ocf_account *account, size_t bytes)
{
	if (account)
		atomic_long_sub(bytes, &account->bytes);
}
OCF_EXPORT(ocf_account_uncharge);

void __init ocf_accounts_init(void)
{
	if (!max_session_bytes)
		max_session_bytes = (totalram_pages() / PARTS) << PAGE_SHIFT;
}
