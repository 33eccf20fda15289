/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources of random numbers: the interface for drivers.
 *
 * The core runs the health tests of NIST SP 800-90B, 4.4, on all bytes of a
 * source.  If a test fails, the core uses no byte of the source until the
 * administrator allows it again.  The bytes of healthy sources go to the
 * kernel's hwrng framework.  So /dev/hwrng returns them, and /dev/random counts
 * as much entropy as the source claims.
 */
#ifndef LINUX_OCF_RANDOM_H
#define LINUX_OCF_RANDOM_H

#include <linux/types.h>

struct attribute_group;
struct device;
struct ocf_random;

/**
 * struct ocf_random_info - a source
 * @name: the name of its kind; a number is added
 * @parent: its parent device, or NULL
 * @groups: further files in its directory of /sys/class/ocf_random, whose
 *	ocf_random_priv() is @priv; or NULL
 * @priv: for the driver
 * @entropy: bits of min-entropy in 1024 bits (SP 800-90B, 3), 16 to 1024: what
 *	is known of the noise before any conditioning.  The limits of the health
 *	tests depend on it, and the kernel counts so much
 * @simulated: never give its bytes to the kernel
 * @read_random: returns up to @len bytes of the source.  @buf may be on a
 *	stack, so no device may write to it by DMA.  With @wait it waits for the
 *	first byte, at most a second; a signal may end the wait.  Context:
 *	process; may sleep; one call at a time.  Return: how many bytes; 0 if
 *	there are none yet; a negative errno if the source does not work
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
 * ocf_random_register() - register a source
 * @info: its description; copied, except the groups
 *
 * A worker reads, tests and discards the first 1024 bytes (SP 800-90B, 4.3).
 * Then the source is used.
 *
 * Context: process; may sleep.
 * Return: the source, or an ERR_PTR: -EINVAL if @info makes no sense, -ENOSPC
 * if there are 64 sources already, -ENOMEM.
 */
struct ocf_random *ocf_random_register(const struct ocf_random_info *info);

/**
 * ocf_random_unregister() - remove a source
 * @src: the source, or NULL
 *
 * After the return read_random() is not called any more.
 *
 * Context: process; may sleep.
 */
void ocf_random_unregister(struct ocf_random *src);

/**
 * ocf_random_name() - the name of a source
 * @src: the source
 *
 * Context: any.
 * Return: the name, which is valid as long as the source is registered.
 */
const char *ocf_random_name(const struct ocf_random *src);

/**
 * ocf_random_priv() - the driver's pointer of a source
 * @dev: the device of the source, which the files of @groups get
 *
 * Context: any.
 * Return: ocf_random_info.priv.
 */
void *ocf_random_priv(const struct device *dev);

#endif /* LINUX_OCF_RANDOM_H */
