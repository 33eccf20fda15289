// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulated sources of random numbers, and their faults.  The bytes are those
 * of a pseudo-random generator, the same in each run.  The core never gives
 * them to the kernel's generator.
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/ocf_random.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "sim.h"

#define SOURCES_MAX	16
#define BLOCK_MAX	4096	/* bytes */
#define ENTROPY_DEFAULT	1024
#define WAIT_MS		100	/* of a source that stalls, for each read */

enum trouble {
	NONE,
	STUCK,		/* one value */
	BITS,		/* bits that are always 0 */
	BIAS,		/* of 256 bytes, about this many are set to 0 */
	PERIOD,		/* a block of bytes, repeated */
	STALL,		/* no bytes come */
	ERROR,		/* -EIO */
	TROUBLES
};

static const struct {
	const char	*name;
	u32		min, max;	/* of the number after the name */
} troubles[TROUBLES] = {
	[NONE]		= { "none", 0, 0 },
	[STUCK]		= { "stuck", 0, 255 },
	[BITS]		= { "bits", 1, 255 },
	[BIAS]		= { "bias", 1, 256 },
	[PERIOD]	= { "period", 1, BLOCK_MAX },
	[STALL]		= { "stall", 0, 0 },
	[ERROR]		= { "error", 0, 0 },
};

/**
 * struct sim_source - a source
 * @src: registered
 * @lock: protects all below
 * @random: its generator
 * @trouble: its fault
 * @number: the fault's number
 * @block: the bytes that the fault PERIOD repeats
 * @at: the position in @block
 */
struct sim_source {
	struct ocf_random	*src;
	struct mutex		lock;
	struct rnd_state	random;
	enum trouble		trouble;
	u32			number;
	u8			block[BLOCK_MAX];
	u32			at;
};

static struct sim_source *sources[SOURCES_MAX];
static DEFINE_MUTEX(sources_mutex);

static u8 next_byte(struct sim_source *s)
{
	u8 byte = prandom_u32_state(&s->random);

	switch (s->trouble) {
	case STUCK:
		return s->number;
	case BITS:
		return byte & ~s->number;
	case BIAS:
		return (prandom_u32_state(&s->random) & 255) < s->number ?
			       0 : byte;
	case PERIOD:
		s->at = (s->at + 1) % s->number;
		return s->block[s->at];
	default:
		return byte;
	}
}

static int read_source(void *priv, u8 *buf, u32 len, bool wait)
{
	struct sim_source *s = priv;
	int n = 0;

	mutex_lock(&s->lock);
	if (s->trouble == ERROR)
		n = -EIO;
	else if (s->trouble != STALL)
		while (n < len)
			buf[n++] = next_byte(s);
	mutex_unlock(&s->lock);
	if (!n && wait)
		msleep_interruptible(WAIT_MS);
	return n;
}

static ssize_t fault_show(struct device *d, struct device_attribute *attr,
			  char *buf)
{
	struct sim_source *s = ocf_random_priv(d);
	ssize_t n;

	mutex_lock(&s->lock);
	n = sysfs_emit(buf, "%s %u\n", troubles[s->trouble].name, s->number);
	mutex_unlock(&s->lock);
	return n;
}

/* "NAME", or "NAME NUMBER" */
static ssize_t fault_store(struct device *d, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	struct sim_source *s = ocf_random_priv(d);
	char text[32], *number, *name;
	u32 n;
	int i;

	if (strscpy(text, buf, sizeof(text)) < 0)
		return -EINVAL;
	number = strim(text);
	name = strsep(&number, " ");
	for (i = 0; i < TROUBLES; i++)
		if (!strcmp(name, troubles[i].name))
			break;
	if (i == TROUBLES || sim_number(number ?: "0", troubles[i].min,
					troubles[i].max, &n))
		return -EINVAL;
	mutex_lock(&s->lock);
	s->trouble = i;
	s->number = n;
	prandom_bytes_state(&s->random, s->block, sizeof(s->block));
	mutex_unlock(&s->lock);
	return count;
}
static DEVICE_ATTR_RW(fault);

static struct attribute *source_attrs[] = {
	&dev_attr_fault.attr,
	NULL
};
ATTRIBUTE_GROUPS(source);

static void free_source(struct sim_source *s)
{
	mutex_destroy(&s->lock);
	kfree(s);
}

static struct sim_source *make_source(u32 entropy)
{
	struct ocf_random_info info = {
		.name = "sim", .groups = source_groups, .entropy = entropy,
		.simulated = true, .read_random = read_source,
	};
	struct sim_source *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int err;

	if (!s)
		return ERR_PTR(-ENOMEM);
	mutex_init(&s->lock);
	prandom_seed_state(&s->random, entropy);
	info.priv = s;
	s->src = ocf_random_register(&info);
	if (!IS_ERR(s->src))
		return s;
	err = PTR_ERR(s->src);
	free_source(s);
	return ERR_PTR(err);
}

/**
 * sim_add_source() - make a source
 * @text: bits of entropy in 1024 that it claims; or empty
 *
 * Context: process; may sleep.
 * Return: 0, -EINVAL, -ENOSPC or -ENOMEM.
 */
int sim_add_source(const char *text)
{
	u32 entropy = ENTROPY_DEFAULT;
	struct sim_source *s;
	int err = -ENOSPC, i;

	if (!sysfs_streq(text, "") && kstrtou32(text, 0, &entropy))
		return -EINVAL;
	mutex_lock(&sources_mutex);
	for (i = 0; i < SOURCES_MAX && sources[i]; i++)
		;
	if (i < SOURCES_MAX) {
		s = make_source(entropy);
		err = PTR_ERR_OR_ZERO(s);
		if (!err)
			sources[i] = s;
	}
	mutex_unlock(&sources_mutex);
	return err;
}

static void drop_source(int i)
{
	lockdep_assert_held(&sources_mutex);
	ocf_random_unregister(sources[i]->src);
	free_source(sources[i]);
	sources[i] = NULL;
}

/**
 * sim_remove_source() - remove a source
 * @text: its name
 *
 * Context: process; may sleep.
 * Return: 0, or -ENODEV.
 */
int sim_remove_source(const char *text)
{
	int err = -ENODEV, i;

	mutex_lock(&sources_mutex);
	for (i = 0; i < SOURCES_MAX; i++) {
		if (!sources[i] ||
		    !sysfs_streq(text, ocf_random_name(sources[i]->src)))
			continue;
		drop_source(i);
		err = 0;
		break;
	}
	mutex_unlock(&sources_mutex);
	return err;
}

/* Removes all sources.  Context: process; the driver's files are gone. */
void sim_remove_sources(void)
{
	int i;

	mutex_lock(&sources_mutex);
	for (i = 0; i < SOURCES_MAX; i++)
		if (sources[i])
			drop_source(i);
	mutex_unlock(&sources_mutex);
}
