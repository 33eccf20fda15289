// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sources of random numbers, from the first test to the kernel's hwrng.
 *
 * The worker of a source tests it before its first use, registers it with the
 * kernel, and unregisters it when it has failed or gives no bytes.  A reader
 * finds out that a source has failed, and drops the bytes that it has read.
 */
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/hw_random.h>
#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/ocf_random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "../core.h"
#include "health.h"

#define SOURCES_MAX	64
#define CHUNK		64		/* bytes read at a time */
#define STALLS_MAX	3		/* readings in a row without a byte */

/**
 * enum random_state - the life of a source
 * @RANDOM_STARTING: its first bytes are being tested
 * @RANDOM_HEALTHY: is used
 * @RANDOM_STALLED: gave no byte for some seconds; is tried again
 * @RANDOM_FAILED: failed a test, or reported an error: cut off
 * @RANDOM_GONE: unregistered
 */
enum random_state {
	RANDOM_STARTING,
	RANDOM_HEALTHY,
	RANDOM_STALLED,
	RANDOM_FAILED,
	RANDOM_GONE,
};

/**
 * struct ocf_random - a source
 * @info: as registered
 * @dev: in class "ocf_random"
 * @id: its number
 * @lock: held while it is read; protects what has no other rule
 * @going: is being unregistered
 * @state: see enum random_state
 * @health: the state of the tests
 * @stalls: readings in a row without a byte
 * @reason: why it is not healthy, in a word
 * @bytes: bytes that readers got
 * @failures: number of failures
 * @told: the state that user space was told last; only @care uses it
 * @tries: how often it was tried since it stalled; only @care uses it
 * @hwrng: its description for the kernel
 * @feeds: @hwrng is registered; by @care
 * @care: the worker, which changes its state
 * @file: a file with its bytes, for root
 */
struct ocf_random {
	struct ocf_random_info	info;
	struct device		dev;
	int			id;
	struct mutex		lock;
	bool			going;
	enum random_state	state;
	struct ocf_health	health;
	unsigned int		stalls;
	const char		*reason;
	u64			bytes;
	u64			failures;
	enum random_state	told;
	unsigned int		tries;
	struct hwrng		hwrng;
	bool			feeds;
	struct delayed_work	care;
	struct dentry		*file;
};

static DEFINE_IDA(sources);
static struct dentry *files;
static struct workqueue_struct *random_wq;

static struct ocf_random *to_source(const struct device *dev)
{
	return container_of(dev, struct ocf_random, dev);
}

/* ---- reading ---- */

static void set_unhealthy(struct ocf_random *src, enum random_state to,
			  const char *reason)
{
	lockdep_assert_held(&src->lock);
	src->state = to;
	src->reason = reason;
	if (to == RANDOM_FAILED) {
		src->failures++;
		dev_err(&src->dev, "cut off: %s\n", reason);
	}
	mod_delayed_work(random_wq, &src->care, 0);
}

/*
 * Reads and tests up to @len bytes.  Returns how many, 0 if there are none yet,
 * -EIO, or -ERESTARTSYS if a signal is pending.  If the source is cut off, @buf
 * is wiped.
 */
static int take(struct ocf_random *src, u8 *buf, u32 len, bool wait)
{
	static const char * const names[] = {
		[OCF_REPEATS] = "repeats", [OCF_BIASED] = "biased",
	};
	enum ocf_verdict verdict;
	int n;

	lockdep_assert_held(&src->lock);
	n = src->info.read_random(src->info.priv, buf, len, wait);
	if (n <= 0 && signal_pending(current))
		return -ERESTARTSYS;
	if (!n) {
		if (wait && ++src->stalls == STALLS_MAX)
			set_unhealthy(src, RANDOM_STALLED, "stalled");
		return 0;
	}
	src->stalls = 0;
	if (n < 0 || n > len) {
		set_unhealthy(src, RANDOM_FAILED, n < 0 ? "error" : "nonsense");
		goto wipe;
	}
	verdict = ocf_health_test(&src->health, buf, n);
	if (!verdict)
		return n;
	set_unhealthy(src, RANDOM_FAILED, names[verdict]);
wipe:
	memzero_explicit(buf, len);
	return -EIO;
}

/* Reads bytes and tests them; -EIO unless the source is healthy. */
static int get(struct ocf_random *src, u8 *buf, u32 len, bool wait)
{
	int n = -EIO;

	if (!wait) {
		if (!mutex_trylock(&src->lock))
			return 0;
	} else if (mutex_lock_interruptible(&src->lock)) {
		return -ERESTARTSYS;
	}
	if (src->state == RANDOM_HEALTHY)
		n = take(src, buf, len, wait);
	if (n > 0)
		src->bytes += n;
	mutex_unlock(&src->lock);
	return n;
}

static int hwrng_get(struct hwrng *rng, void *buf, size_t len, bool wait)
{
	return get((struct ocf_random *)rng->priv, buf, len, wait);
}

static ssize_t file_read(struct file *file, char __user *to, size_t size,
			 loff_t *pos)
{
	struct ocf_random *src = file_inode(file)->i_private;
	size_t done = 0;
	u8 buf[CHUNK];
	int n = 0;

	while (done < size && !signal_pending(current)) {
		n = get(src, buf, min(size - done, sizeof(buf)), true);
		if (n <= 0)
			break;
		if (copy_to_user(to + done, buf, n)) {
			n = -EFAULT;
			break;
		}
		done += n;
	}
	memzero_explicit(buf, sizeof(buf));
	if (!n && !done)
		n = -EAGAIN;
	return done ?: n;
}

static const struct file_operations file_ops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = file_read,
	.llseek = noop_llseek,
};

/* ---- its life ---- */

static const char *state_name(const struct ocf_random *src)
{
	static const char * const names[] = {
		[RANDOM_STARTING]	= "starting",
		[RANDOM_HEALTHY]	= "healthy",
		[RANDOM_STALLED]	= "stalled",
		[RANDOM_FAILED]		= "failed",
		[RANDOM_GONE]		= "gone",
	};

	return names[READ_ONCE(src->state)];
}

static void tell(struct ocf_random *src)
{
	if (src->told == READ_ONCE(src->state))
		return;
	src->told = READ_ONCE(src->state);
	ocf_tell(&src->dev, KOBJ_CHANGE, state_name(src));
}

/* SP 800-90B, 4.3: tests the first bytes, and drops them. */
static void start_source(struct ocf_random *src)
{
	u32 tested = 0;
	u8 buf[CHUNK];
	int n;

	lockdep_assert_held(&src->lock);
	src->state = RANDOM_STARTING;
	src->stalls = 0;
	ocf_health_init(&src->health, src->info.entropy);
	while (tested < OCF_HEALTH_START && src->state == RANDOM_STARTING &&
	       !READ_ONCE(src->going)) {
		n = take(src, buf, sizeof(buf), true);
		if (n > 0)
			tested += n;
	}
	memzero_explicit(buf, sizeof(buf));
	if (src->state == RANDOM_STARTING && tested >= OCF_HEALTH_START) {
		src->state = RANDOM_HEALTHY;
		src->reason = "";
	}
}

static void feed_kernel(struct ocf_random *src)
{
	int err;

	if (!IS_REACHABLE(CONFIG_HW_RANDOM) || src->info.simulated ||
	    src->feeds)
		return;
	src->hwrng = (struct hwrng){
		.name = dev_name(&src->dev),
		.read = hwrng_get,
		.priv = (unsigned long)src,
		/* never 0, which would mean the maximum */
		.quality = src->info.entropy,
	};
	err = hwrng_register(&src->hwrng);
	if (err)
		dev_err(&src->dev,
			"cannot be registered as a hardware random number generator (hwrng): %d\n",
			err);
	WRITE_ONCE(src->feeds, !err);
}

static void take_away(struct ocf_random *src)
{
	if (IS_REACHABLE(CONFIG_HW_RANDOM) && src->feeds)
		hwrng_unregister(&src->hwrng);
	WRITE_ONCE(src->feeds, false);
}

static void care(struct work_struct *work)
{
	struct ocf_random *src = container_of(to_delayed_work(work),
					      struct ocf_random, care);
	enum random_state state;

	mutex_lock(&src->lock);
	/* user space is told that it has stalled before it is tried again */
	if (src->state == RANDOM_STARTING ||
	    (src->state == RANDOM_STALLED && src->told == RANDOM_STALLED))
		start_source(src);
	state = src->state;
	mutex_unlock(&src->lock);

	tell(src);
	if (state == RANDOM_HEALTHY) {
		src->tries = 0;
		feed_kernel(src);
		return;
	}
	take_away(src);
	if (state == RANDOM_STALLED)
		mod_delayed_work(random_wq, &src->care,
				 ocf_retry_delay(src->tries++));
}

/* ---- sysfs ---- */

static ssize_t state_show(struct device *d, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%s\n", state_name(to_source(d)));
}

/* "restart": the source starts with its first test again */
static ssize_t state_store(struct device *d, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	struct ocf_random *src = to_source(d);

	if (!sysfs_streq(buf, "restart"))
		return -EINVAL;
	if (mutex_lock_interruptible(&src->lock))
		return -EINTR;
	if (src->state != RANDOM_GONE) {
		src->state = RANDOM_STARTING;
		mod_delayed_work(random_wq, &src->care, 0);
	}
	mutex_unlock(&src->lock);
	return count;
}
static DEVICE_ATTR_RW(state);

/* Why it is not healthy: "repeats", "biased", "error", "nonsense", "stalled" */
static ssize_t reason_show(struct device *d, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n", READ_ONCE(to_source(d)->reason));
}
static DEVICE_ATTR_RO(reason);

/* Bits of min-entropy in 1024 of its bits, as it claims */
static ssize_t entropy_show(struct device *d, struct device_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%u\n", to_source(d)->info.entropy);
}
static DEVICE_ATTR_RO(entropy);

/* Whether its bytes go to the kernel */
static ssize_t feeds_show(struct device *d, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(to_source(d)->feeds));
}
static DEVICE_ATTR_RO(feeds);

static struct ocf_health cutoffs_of(struct device *d)
{
	struct ocf_health h;

	ocf_health_init(&h, to_source(d)->info.entropy);
	return h;
}

/* The cut-off of the first test: samples of one value in a row */
static ssize_t repetition_cutoff_show(struct device *d,
				      struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", cutoffs_of(d).repeats_max);
}
static DEVICE_ATTR_RO(repetition_cutoff);

/* The cut-off of the second: samples of one value in a window of 512 */
static ssize_t proportion_cutoff_show(struct device *d,
				      struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", cutoffs_of(d).same_max);
}
static DEVICE_ATTR_RO(proportion_cutoff);

static ssize_t bytes_show(struct device *d, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(to_source(d)->bytes));
}
static OCF_ATTR_PRIVATE(bytes);

static ssize_t failures_show(struct device *d, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(to_source(d)->failures));
}
static OCF_ATTR_PRIVATE(failures);

static struct attribute *random_attrs[] = {
	&dev_attr_state.attr,
	&dev_attr_reason.attr,
	&dev_attr_entropy.attr,
	&dev_attr_feeds.attr,
	&dev_attr_repetition_cutoff.attr,
	&dev_attr_proportion_cutoff.attr,
	NULL
};

static const struct attribute_group random_group = {
	.attrs = random_attrs,
};

static struct attribute *random_counter_attrs[] = {
	&dev_attr_bytes.attr,
	&dev_attr_failures.attr,
	NULL
};

static const struct attribute_group random_counter_group = {
	.name = "counters",
	.attrs = random_counter_attrs,
};

static const struct attribute_group *random_groups[] = {
	&random_group,
	&random_counter_group,
	NULL
};

static const struct class random_class = {
	.name = "ocf_random",
	.dev_groups = random_groups,
};

/* ---- coming and going ---- */

const char *ocf_random_name(const struct ocf_random *src)
{
	return dev_name(&src->dev);
}
OCF_EXPORT(ocf_random_name);

void *ocf_random_priv(const struct device *dev)
{
	return to_source(dev)->info.priv;
}
OCF_EXPORT(ocf_random_priv);

static void free_source(struct device *dev)
{
	struct ocf_random *src = to_source(dev);

	if (src->id >= 0)
		ida_free(&sources, src->id);
	mutex_destroy(&src->lock);
	kfree(src);
}

struct ocf_random *ocf_random_register(const struct ocf_random_info *info)
{
	struct ocf_random *src;
	int err;

	might_sleep();
	if (!info->name || !info->read_random ||
	    info->entropy < OCF_ENTROPY_MIN || info->entropy > OCF_ENTROPY_MAX)
		return ERR_PTR(-EINVAL);
	src = kzalloc(sizeof(*src), GFP_KERNEL);
	if (!src)
		return ERR_PTR(-ENOMEM);
	src->info = *info;
	src->reason = "starting";
	src->told = RANDOM_GONE;
	mutex_init(&src->lock);
	INIT_DELAYED_WORK(&src->care, care);
	device_initialize(&src->dev);
	src->dev.class = &random_class;
	src->dev.parent = info->parent;
	src->dev.groups = info->groups;
	src->dev.release = free_source;
	src->id = ida_alloc_max(&sources, SOURCES_MAX - 1, GFP_KERNEL);
	err = src->id < 0 ? src->id :
	      dev_set_name(&src->dev, "%s%d", info->name, src->id);
	if (!err)
		err = device_add(&src->dev);
	if (err) {
		put_device(&src->dev);
		return ERR_PTR(err);
	}
	src->file = debugfs_create_file(dev_name(&src->dev), 0400, files, src,
					&file_ops);
	queue_delayed_work(random_wq, &src->care, 0);
	return src;
}
OCF_EXPORT(ocf_random_register);

void ocf_random_unregister(struct ocf_random *src)
{
	might_sleep();
	if (!src)
		return;
	/*
	 * makes start_source() stop, which takes long if the source gives few
	 * bytes at a time
	 */
	WRITE_ONCE(src->going, true);
	mutex_lock(&src->lock);
	src->state = RANDOM_GONE;
	mutex_unlock(&src->lock);
	cancel_delayed_work_sync(&src->care);
	take_away(src);
	debugfs_remove(src->file);
	device_unregister(&src->dev);
}
OCF_EXPORT(ocf_random_unregister);

int ocf_random_init(void)
{
	int err;

	random_wq = alloc_workqueue("ocf_random", WQ_UNBOUND, 0);
	if (!random_wq)
		return -ENOMEM;
	err = class_register(&random_class);
	if (err)
		destroy_workqueue(random_wq);
	else
		files = debugfs_create_dir("ocf_random", NULL);
	return err;
}

void ocf_random_exit(void)
{
	debugfs_remove(files);
	class_unregister(&random_class);
	destroy_workqueue(random_wq);
	ida_destroy(&sources);
}
