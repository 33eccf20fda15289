/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies of a few bytes from and to user space.
 *
 * If the compiler does not know the length, copy_from_user() and copy_to_user()
 * look up the object that contains the kernel's buffer.  For 64 bytes this
 * costs five times what the copy does.  Here the kernel's side is known to have
 * room: a field, or a part of cdev_op.bytes that was checked.
 */
#ifndef OCF_CDEV_UACCESS_H
#define OCF_CDEV_UACCESS_H

#include <linux/fault-inject-usercopy.h>
#include <linux/instrumented.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

/* Return: 0, or -EFAULT. */
static inline int cdev_copy_in(void *to, const void __user *from, u32 len)
{
	might_fault();
	if (should_fail_usercopy() || !access_ok(from, len))
		return -EFAULT;
	/* no speculative access if the check has failed */
	barrier_nospec();
	instrument_copy_from_user_before(to, from, len);
	return raw_copy_from_user(to, from, len) ? -EFAULT : 0;
}

/* Return: 0, or -EFAULT. */
static inline int cdev_copy_out(void __user *to, const void *from, u32 len)
{
	might_fault();
	if (should_fail_usercopy() || !access_ok(to, len))
		return -EFAULT;
	instrument_copy_to_user(to, from, len);
	return raw_copy_to_user(to, from, len) ? -EFAULT : 0;
}

/*
 * Copies an IV.  For the usual 16 bytes the compiler knows the length, so
 * copy_from_user() is cheap.
 */
static inline int cdev_iv_in(u8 *iv, const u8 __user *from, u32 len)
{
	if (likely(len == 16))
		return copy_from_user(iv, from, 16) ? -EFAULT : 0;
	return cdev_copy_in(iv, from, len);
}

#endif /* OCF_CDEV_UACCESS_H */
