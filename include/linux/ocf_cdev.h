/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions of /dev/crypto, for others of the kernel that a program names one
 * to: ocf_cdev.ko.
 */
#ifndef _LINUX_OCF_CDEV_H
#define _LINUX_OCF_CDEV_H

#include <linux/types.h>

struct file;
struct ocf_session;

/**
 * ocf_cdev_session_get() - look a session up
 * @file: an open file
 * @id: the session's number in it, of whatever ABI
 *
 * Context: process.
 * Return: the session, with a reference; or an ERR_PTR: -EINVAL: @file is not
 * /dev/crypto, or has no such session.
 */
struct ocf_session *ocf_cdev_session_get(struct file *file, u32 id);

/**
 * ocf_cdev_session_end() - take a session away from its file
 * @file: an open file
 * @id: the session's number in it
 *
 * As the program itself could: operations under way finish, and no others
 * begin.
 *
 * Context: process; may sleep.
 * Return: 0; -EINVAL: as above, or somebody else was faster.
 */
int ocf_cdev_session_end(struct file *file, u32 id);

#endif /* _LINUX_OCF_CDEV_H */
