/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose work it is that a process asks for, in front of a card and by account,
 * whichever consumer it asks.
 */
#ifndef OCF_OWNER_H
#define OCF_OWNER_H

#include <linux/cred.h>
#include <linux/user_namespace.h>

/*
 * Who makes a user namespace pays for those who are in it: it has users at
 * will.  Those of root's are of the administrator's choice.
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

/* As struct ocf_session_params has it, where 0 is the kernel */
static inline u32 ocf_owner(kuid_t payer)
{
	return __kuid_val(payer) + 1;
}

#endif /* OCF_OWNER_H */
