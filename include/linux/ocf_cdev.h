/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lets other modules use a session of /dev/crypto that a program has passed to
 * them.  If the program has a descriptor of /dev/crypto, ocf_cdev.ko is loaded.
 * So other modules use symbol_get(ocf_cdev_sessions) and need not depend on it.
 */
#ifndef _LINUX_OCF_CDEV_H
#define _LINUX_OCF_CDEV_H

#include <linux/types.h>

struct file;
struct ocf_session;

/**
 * struct ocf_cdev_sessions - functions for sessions of /dev/crypto
 * @get: finds a session by an open file and its number there, of any ABI.
 *	Returns it with a reference, or an ERR_PTR: -EINVAL: the file is not
 *	/dev/crypto, or has no such session.  Context: process.
 * @end: closes a session of a file, as the program itself could.  Operations in
 *	flight finish, and no others begin.  Returns 0; -EINVAL: as above, or it
 *	was closed meanwhile.  Context: process; may sleep.
 */
struct ocf_cdev_sessions {
	struct ocf_session *(*get)(struct file *file, u32 id);
	int (*end)(struct file *file, u32 id);
};

extern const struct ocf_cdev_sessions ocf_cdev_sessions;

#endif /* _LINUX_OCF_CDEV_H */
