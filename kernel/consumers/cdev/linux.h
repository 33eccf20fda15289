/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cryptodev-linux ABI's own map.  linux.c has sessions, dispatch and
 * 32-bit callers; what is here takes structures of 64-bit callers.
 */
#ifndef OCF_CDEV_LINUX_H
#define OCF_CDEV_LINUX_H

#include <crypto/cryptodev.h>

#include "cdev.h"

/* linux_crypt.c */
int cdev_linux_get_iv(struct cdev_op *op, const u8 __user *from);
int cdev_linux_put_iv(struct cdev_op *op, u8 __user *to, bool write);
int cdev_linux_crypt(struct cdev_op *op);
int cdev_linux_async_crypt(struct cdev_op *op);
int cdev_linux_async_fetch(struct cdev_file *file, struct crypt_op *cop);
long cdev_linux_cphash(struct cdev_file *file, void __user *arg);

/* linux_auth.c */
int cdev_linux_auth_crypt(struct cdev_file *file, struct crypt_auth_op *c);

#endif /* OCF_CDEV_LINUX_H */
