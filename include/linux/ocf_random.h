/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources of random numbers: the interface of those who have them.
 *
 * What a source gives is tested as it comes, by the health tests of NIST SP
 * 800-90B, 4.4.  A source that fails one is cut off: nobody gets a byte of it
 * any more until the administrator says so.  What healthy sources give is the
 * kernel's, through its hwrng framework: /dev/hwrng has it, and /dev/random
 * counts it for as much as the source claims.
 */
#ifndef LINUX_OCF_RANDOM_H
#define LINUX_OCF_RANDOM_H

#include <linux/types.h>

struct attribute_group;
struct device;
struct ocf_random;

/**
 * struct ocf_random_info - a source
 * @name: of its kind; a number follows
 * @parent: the bus's device, or NULL
 * @groups: further files in its directory of /sys/class/ocf_random, whose
 *	ocf_random_priv() is @priv; or NULL
 * @priv: the driver's own
 * @entropy: bits of min-entropy in 1024 bits of what it gives (SP 800-90B, 3),
 *	16 to 1024: what is known of the noise before any conditioning, and no
 *	more than that.  The tests hold it to this, byte by byte, and the
 *	kernel counts it for this
 * @simulated: nobody is to rely on it: it never comes to the kernel
 * @read_random: gives up to @len bytes as they come from the source.  @buf may
 *	be on a stack: no device may write to it by DMA.  If @wait, waits for
 *	the first of them, a second at most; a signal may end that.  Context:
 *	process; may sleep; one call at a time.  Return: bytes given; 0 if there
 *	are none yet; a negative errno if it does not work
 */
struct ocf_random_info {
	const char			*name;
	struct device			*parent;
	const struct attribute_group	**groups;
	void				*priv;
	u32				entropy;
	bool				simulated;
	int (*read_random)(void *priv, u8 *buf, u32 len, bool wait);
};

/**
 * ocf_random_register() - offer a source
 * @info: what it is; copied, but for what @groups points to
 *
 * Its first bytes are read, tested and thrown away by a worker (SP 800-90B,
 * 4.3: 1024 of them); then it is used.
 *
 * Context: process; may sleep.
 * Return: the source, or an ERR_PTR: -EINVAL if @info makes no sense, -ENOSPC
 * if there are 64 already, -ENOMEM.
 */
struct ocf_random *ocf_random_register(const struct ocf_random_info *info);

/**
 * ocf_random_unregister() - take a source away
 * @src: the source, or NULL
 *
 * When this returns read_random() is not called any more.
 *
 * Context: process; may sleep.
 */
void ocf_random_unregister(struct ocf_random *src);

/**
 * ocf_random_name() - what a source is called
 * @src: the source
 *
 * Context: any.
 * Return: its name, as long as it is registered.
 */
const char *ocf_random_name(const struct ocf_random *src);

/**
 * ocf_random_priv() - the driver's own
 * @dev: the source's device, as the files of @groups get it
 *
 * Context: any.
 * Return: ocf_random_info.priv.
 */
void *ocf_random_priv(const struct device *dev);

#endif /* LINUX_OCF_RANDOM_H */
