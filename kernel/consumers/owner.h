/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The owner of a process's work, for the fairness of cards and for accounts.
 * It is the same for all consumers.
 */
#ifndef OCF_OWNER_H
#define OCF_OWNER_H

#include <linux/cred.h>
#include <linux/user_namespace.h>

/*
 * The owner of a user namespace pays for the users in it, since the owner can
 * make any number of users.  In a namespace of root each user pays.
 */
static inline kuid_t ocf_payer(void)
{
	const struct user_namespace *ns;
	kuid_t uid = current_fsuid();

	for (ns = current_user_ns(); ns->parent; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	return uid;
}

/* For ocf_session_params.owner, where 0 is the kernel */
static inline u32 ocf_owner(kuid_t payer)
{
	return __kuid_val(payer) + 1;
}

#endif /* OCF_OWNER_H */
