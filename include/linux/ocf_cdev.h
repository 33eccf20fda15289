/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions of /dev/crypto, for others of the kernel that a program names one
 * to.  Who has a descriptor of it has ocf_cdev.ko, so they need not depend on
 * that: symbol_get(ocf_cdev_sessions).
 */
#ifndef _LINUX_OCF_CDEV_H
#define _LINUX_OCF_CDEV_H

#include <linux/types.h>

struct file;
struct ocf_session;

/**
 * struct ocf_cdev_sessions - what can be done with them
 * @get: look a session up, by an open file and the number it has there, of
 *	whatever ABI.  Returns it with a reference; or an ERR_PTR: -EINVAL: the
 *	file is not /dev/crypto, or has no such session.  Context: process.
 * @end: take a session away from its file, as the program itself could:
 *	operations under way finish, and no others begin.  Returns 0; -EINVAL:
 *	as above, or somebody else was faster.  Context: process; may sleep.
 */
struct ocf_cdev_sessions {
	struct ocf_session *(*get)(struct file *file, u32 id);
	int (*end)(struct file *file, u32 id);
};

extern const struct ocf_cdev_sessions ocf_cdev_sessions;

#endif /* _LINUX_OCF_CDEV_H */
