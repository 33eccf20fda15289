// SPDX-License-Identifier: GPL-2.0-only
/*
 * Users and their limits.
 *
 * A descriptor is charged to the user that opened it, or to the owner of that
 * user's namespace, also after it was passed to another process.
 * CAP_SYS_RESOURCE lifts the limits.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/slab.h>

#include "cdev.h"

static DEFINE_HASHTABLE(users, 6);
static DEFINE_SPINLOCK(users_lock);

static struct cdev_user *lookup_user(kuid_t uid)
{
	struct cdev_user *user;

	lockdep_assert_held(&users_lock);
	hash_for_each_possible(users, user, node, __kuid_val(uid))
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

static void free_user(struct cdev_user *user)
{
	ocf_account_put(user->account);
	kfree(user);
}

/**
 * cdev_user_get() - the account of a user
 * @uid: the user
 *
 * Context: process; may sleep.
 * Return: the account, held, or NULL if there is no memory.
 */
struct cdev_user *cdev_user_get(kuid_t uid)
{
	struct cdev_user *new, *user;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	new->account = ocf_account_get(uid);
	if (!new->account) {
		kfree(new);
		return NULL;
	}
	new->uid = uid;
	refcount_set(&new->refs, 1);
	spin_lock(&users_lock);
	user = lookup_user(uid);
	if (user)
		refcount_inc(&user->refs);
	else
		hash_add(users, &new->node, __kuid_val(uid));
	spin_unlock(&users_lock);
	if (!user)
		return new;
	free_user(new);
	return user;
}

/* Context: process. */
void cdev_user_put(struct cdev_user *user)
{
	bool last;

	if (refcount_dec_not_one(&user->refs))
		return;
	spin_lock(&users_lock);
	last = refcount_dec_and_test(&user->refs);
	if (last)
		hash_del(&user->node);
	spin_unlock(&users_lock);
	if (last)
		free_user(user);
}

static void user_hold(struct cdev_user *user)
{
	refcount_inc(&user->refs);
}

static bool exempt(void)
{
	return has_capability_noaudit(current, CAP_SYS_RESOURCE);
}

/* Counts one session; false if that is too many. */
static bool count_session(struct cdev_user *user)
{
	int old = atomic_read(&user->sessions);

	/*
	 * the count never exceeds the limit, or others would be refused
	 * meanwhile
	 */
	do {
		if (old >= READ_ONCE(cdev_max_sessions) && !exempt())
			return false;
	} while (!atomic_try_cmpxchg(&user->sessions, &old, old + 1));
	return true;
}

/**
 * cdev_user_add_session() - charge a session to its user
 * @user: the user; a reference is taken until cdev_user_sub_session()
 * @bytes: of memory that the session takes in this module
 *
 * Context: process.
 * Return: 0, or -EDQUOT.
 */
int cdev_user_add_session(struct cdev_user *user, size_t bytes)
{
	if (!count_session(user))
		return -EDQUOT;
	if (ocf_account_charge(user->account, bytes)) {
		atomic_dec(&user->sessions);
		return -EDQUOT;
	}
	user_hold(user);
	return 0;
}

void cdev_user_sub_session(struct cdev_user *user, size_t bytes)
{
	ocf_account_uncharge(user->account, bytes);
	atomic_dec(&user->sessions);
	cdev_user_put(user);
}

/**
 * cdev_user_add_bytes() - charge memory of an operation
 * @user: the user
 * @bytes: how much
 *
 * Context: process.
 * Return: 0, or -EDQUOT.
 */
int cdev_user_add_bytes(struct cdev_user *user, size_t bytes)
{
	long old = atomic_long_read(&user->bytes);

	/*
	 * the sum never exceeds the limit, or others would be refused meanwhile
	 */
	do {
		if (old + bytes > READ_ONCE(cdev_max_bytes) && !exempt())
			return -EDQUOT;
	} while (!atomic_long_try_cmpxchg(&user->bytes, &old, old + bytes));
	return 0;
}

/**
 * cdev_user_owe_bytes() - charge memory that is in use already
 * @user: the user
 * @bytes: how much
 *
 * Context: any.
 */
void cdev_user_owe_bytes(struct cdev_user *user, size_t bytes)
{
	atomic_long_add(bytes, &user->bytes);
}

/* Whether @user has reached a limit.  Context: process. */
bool cdev_user_is_full(struct cdev_user *user)
{
	return atomic_long_read(&user->bytes) > READ_ONCE(cdev_max_bytes) &&
	       !exempt();
}

/* Whether @user could have twice as much as now.  Context: any. */
bool cdev_user_has_plenty(const struct cdev_user *user)
{
	return atomic_long_read(&user->bytes) <
	       READ_ONCE(cdev_max_bytes) / 2;
}

void cdev_user_sub_bytes(struct cdev_user *user, size_t bytes)
{
	atomic_long_sub(bytes, &user->bytes);
}

/**
 * cdev_user_add_key() - charge a public-key operation
 * @user: the user
 *
 * Context: process.
 * Return: 0, or -EDQUOT.
 */
int cdev_user_add_key(struct cdev_user *user)
{
	int old = atomic_read(&user->keys);

	do {
		if (old >= READ_ONCE(cdev_max_keys) && !exempt())
			return -EDQUOT;
	} while (!atomic_try_cmpxchg(&user->keys, &old, old + 1));
	return 0;
}

void cdev_user_sub_key(struct cdev_user *user)
{
	atomic_dec(&user->keys);
}
