/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies of a few words from and to user space.
 *
 * copy_from_user() and copy_to_user() with a length that is not known to the
 * compiler look up what object the kernel's side is in, which for 64 bytes
 * costs five times what the copy does.  Here the kernel's side is written and
 * read in words, whose size the compiler knows.
 */
#ifndef OCF_CDEV_UACCESS_H
#define OCF_CDEV_UACCESS_H

#include <linux/uaccess.h>

/* Where the two cost the same: measured, see docs/bench.md. */
#define CDEV_WORDS_MAX	256

#define get_word(type_, to_, from_, at_, fault_)			\
	unsafe_get_user(*(type_ *)((to_) + (at_)),			\
			(const type_ __user *)((from_) + (at_)), fault_)

#define put_word(type_, to_, from_, at_, fault_)			\
	unsafe_put_user(*(const type_ *)((from_) + (at_)),		\
			(type_ __user *)((to_) + (at_)), fault_)

/* Four words at a time, then what is left in ever smaller ones. */
#define copy_words(to_, from_, len_, word_, fault_) do {		\
	u32 at_ = 0;							\
	for (; at_ + 32 <= (len_); at_ += 32) {				\
		word_(u64, to_, from_, at_, fault_);			\
		word_(u64, to_, from_, at_ + 8, fault_);		\
		word_(u64, to_, from_, at_ + 16, fault_);		\
		word_(u64, to_, from_, at_ + 24, fault_);		\
	}								\
	for (; at_ + 8 <= (len_); at_ += 8)				\
		word_(u64, to_, from_, at_, fault_);			\
	for (; at_ < (len_); at_++)					\
		word_(u8, to_, from_, at_, fault_);			\
} while (0)

static inline int cdev_words_in(void *to, const void __user *from, u32 len)
{
	if (!user_read_access_begin(from, len))
		return -EFAULT;
	copy_words(to, from, len, get_word, fault);
	user_read_access_end();
	return 0;
fault:
	user_read_access_end();
	return -EFAULT;
}

static inline int cdev_words_out(void __user *to, const void *from, u32 len)
{
	if (!user_write_access_begin(to, len))
		return -EFAULT;
	copy_words(to, from, len, put_word, fault);
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}

/* Return: 0, or -EFAULT.  Words need not be aligned. */
static inline int cdev_copy_in(void *to, const void __user *from, u32 len)
{
	if (IS_ENABLED(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS) &&
	    len <= CDEV_WORDS_MAX)
		return cdev_words_in(to, from, len);
	return copy_from_user(to, from, len) ? -EFAULT : 0;
}

/* Return: 0, or -EFAULT. */
static inline int cdev_copy_out(void __user *to, const void *from, u32 len)
{
	if (IS_ENABLED(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS) &&
	    len <= CDEV_WORDS_MAX)
		return cdev_words_out(to, from, len);
	return copy_to_user(to, from, len) ? -EFAULT : 0;
}

/* IVs: of lengths that the compiler knows, or of any. */
static inline int cdev_iv_in(u8 *iv, const u8 __user *from, u32 len)
{
	if (likely(len == 16))
		return copy_from_user(iv, from, 16) ? -EFAULT : 0;
	return cdev_copy_in(iv, from, len);
}

#endif /* OCF_CDEV_UACCESS_H */
