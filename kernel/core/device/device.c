// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of devices: registration, capabilities, states.
 *
 * A device is unregistered in two steps.  withdraw() takes it out of the table.
 * tear_down() starts its requests on other devices, stops it, drops its
 * contexts, and waits for its last reference.  Then another device may have its
 * number and its name.  After withdraw() others may still have a pointer to it.
 * A submitter may have it after ocf_read_lock(); tear_down() waits for that.  A
 * context, the worker that makes one, and an open file in sysfs have a
 * reference.
 */
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "../core.h"
#include "../sched/pace.h"
#include "../pk/pk.h"

#include <trace/events/ocf.h>

struct ocf_device __rcu *ocf_devices[OCF_DEVICES_MAX];
atomic_t ocf_registry_changes = ATOMIC_INIT(1);
static u64 present;		/* a bit for each in @ocf_devices */
static DEFINE_MUTEX(registry_mutex);

/* Devices by number, also those being removed; under registry_mutex */
static struct ocf_device *places[OCF_DEVICES_MAX];

u64 ocf_registry_present(void)
{
	return READ_ONCE(present);
}

/**
 * ocf_registry_changed() - make sessions look for their devices again
 *
 * Context: any; after the change.
 */
void ocf_registry_changed(void)
{
	/* a full barrier: pairs with ocf_registry_generation() */
	atomic_inc_return(&ocf_registry_changes);
}

/**
 * ocf_device_find() - look a device up and hold it
 * @number: its number
 *
 * Context: any.
 * Return: the device, to be put with ocf_device_put(), or NULL.
 */
struct ocf_device *ocf_device_find(int number)
{
	struct ocf_device *dev;

	ocf_read_lock();
	dev = ocf_device_at(number);
	if (dev && !refcount_inc_not_zero(&dev->holds))
		dev = NULL;
	ocf_read_unlock();
	return dev;
}

void ocf_device_get(struct ocf_device *dev)
{
	refcount_inc(&dev->holds);
}

void ocf_device_put(struct ocf_device *dev)
{
	if (!refcount_dec_and_test(&dev->holds))
		return;
	/* a task that saw a hold has joined the wait queue by now */
	smp_mb();
	wake_up_var(&dev->holds);
}

bool ocf_device_exists(int number)
{
	return number >= 0 && number < OCF_DEVICES_MAX &&
	       ocf_registry_present() & BIT_ULL(number);
}

/* The only place that changes a state; the caller holds the queue's lock. */
static void set_state(struct ocf_device *dev, enum ocf_device_state to)
{
	static const u8 legal[] = {
		[OCF_DEVICE_TESTING]	= BIT(OCF_DEVICE_READY) |
					  BIT(OCF_DEVICE_DEAD),
		[OCF_DEVICE_READY]	= BIT(OCF_DEVICE_SUSPECT) |
					  BIT(OCF_DEVICE_DRAINING),
		[OCF_DEVICE_SUSPECT]	= BIT(OCF_DEVICE_READY) |
					  BIT(OCF_DEVICE_DRAINING),
		[OCF_DEVICE_DRAINING]	= BIT(OCF_DEVICE_DEAD),
		[OCF_DEVICE_DEAD]	= 0,
	};
	enum ocf_device_state from = dev->state;

	lockdep_assert_held(&dev->queue.lock);
	if (WARN_ON_ONCE(!(legal[from] & BIT(to))))
		return;
	trace_ocf_device_state(dev->name, from, to);
	WRITE_ONCE(dev->state, to);
}

/**
 * ocf_device_set_state() - change the state of a device
 * @dev: the device
 * @from: the state that it must have
 * @to: its new state, if this change is legal
 *
 * Context: process or BH.
 * Return: whether it had the state @from.
 */
bool ocf_device_set_state(struct ocf_device *dev, enum ocf_device_state from,
			  enum ocf_device_state to)
{
	bool was;

	spin_lock_bh(&dev->queue.lock);
	was = dev->state == from;
	if (was)
		set_state(dev, to);
	spin_unlock_bh(&dev->queue.lock);
	if (was)
		ocf_registry_changed();
	return was;
}

/**
 * ocf_device_capable() - whether a device can do what a session wants
 * @dev: the device
 * @p: the session's parameters
 *
 * Context: process or BH.
 * Return: whether.
 */
bool ocf_device_capable(struct ocf_device *dev,
			const struct ocf_session_params *p)
{
	const struct ocf_device_info *info = &dev->info;
	u64 forbidden = READ_ONCE(dev->forbidden);

	if (!(info->modes & BIT(p->mode)) ||
	    (p->cipher && !test_bit(p->cipher, info->algs)) ||
	    (p->mac && !test_bit(p->mac, info->algs)) ||
	    forbidden & BIT_ULL(p->cipher) || forbidden & BIT_ULL(p->mac))
		return false;
	return !info->ops->capable || info->ops->capable(dev, p);
}

/**
 * ocf_device_wanted() - whether a session was opened for a device
 * @dev: the device
 * @p: the session's parameters
 *
 * Context: any.
 * Return: whether.
 */
bool ocf_device_wanted(struct ocf_device *dev,
		       const struct ocf_session_params *p)
{
	u32 kind = dev->info.kind == OCF_KIND_SOFTWARE ? OCF_SESSION_SOFTWARE :
							 OCF_SESSION_HARDWARE;

	if (p->device != OCF_DEVICE_ANY && p->device != dev->number)
		return false;
	return p->flags & kind && ocf_device_capable(dev, p);
}

/**
 * ocf_device_learn() - correct the cost by the time that a request took
 * @dev: the device
 * @p: its session's parameters
 * @op: direction
 * @bytes: size
 * @sample: what its completion has shown
 *
 * Context: process or BH.
 */
void ocf_device_learn(struct ocf_device *dev,
		      const struct ocf_session_params *p, enum ocf_op op,
		      u32 bytes, const struct ocf_sample *sample)
{
	bool chain = p->cipher && p->mac;

	if (ocf_sample_is_busy(sample, READ_ONCE(dev->lag)))
		ocf_pace_learn(&dev->noise, ocf_device_ns(dev, p, op, bytes),
			       sample->gap);
	ocf_cost_learn(&dev->cost[p->cipher ?: p->mac][op],
		       chain ? &dev->cost[p->mac][op] : NULL, &dev->lag, bytes,
		       sample);
}

/*
 * Resets the counters of a device whose self-test has passed, because the test
 * has spoiled tags on purpose.  Later self-tests of a card are not counted.
 */
static void reset_counters(struct ocf_device *dev)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(dev->counters, cpu), 0,
		       sizeof(*dev->counters));
}

/**
 * ocf_device_sum() - add up a device's counters
 * @dev: the device
 * @sum: is filled in
 *
 * Context: any.
 */
void ocf_device_sum(const struct ocf_device *dev, struct ocf_counters *sum)
{
	const struct ocf_counters *c;
	int cpu, i;

	*sum = (struct ocf_counters){};
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(dev->counters, cpu);
		sum->ops += READ_ONCE(c->ops);
		sum->bytes += READ_ONCE(c->bytes);
		sum->errors += READ_ONCE(c->errors);
		for (i = 0; i < OCF_HIST_BUCKETS; i++)
			sum->hist[i] += READ_ONCE(c->hist[i]);
	}
}

static void free_device(struct device *d)
{
	struct ocf_device *dev = container_of(d, struct ocf_device, dev);

	ocf_pk_free_unit(dev);
	free_percpu(dev->counters);
	mutex_destroy(&dev->room);
	kfree(dev);
}

/* What the driver says of its sessions; there may be none. */
static bool sessions_valid(const struct ocf_device_info *info)
{
	const struct ocf_device_ops *ops = info->ops;

	if (!info->modes && bitmap_empty(info->algs, OCF_ALG_COUNT))
		return info->pk;
	return ops->ctx_init && ops->ctx_exit && ops->submit &&
	       (info->kind == OCF_KIND_SOFTWARE ||
		(info->depth && info->depth <= OCF_DEPTH_MAX)) &&
	       info->modes && !bitmap_empty(info->algs, OCF_ALG_COUNT);
}

static bool pk_valid(const struct ocf_pk_ops *pk, bool hw)
{
	return !pk || (pk->codes && !(pk->codes >> OCF_PK_COUNT) &&
		       pk->submit &&
		       (!hw || (pk->detach && pk->depth &&
				pk->depth <= OCF_DEPTH_MAX)));
}

static bool info_valid(const struct ocf_device_info *info)
{
	bool hw = info->kind == OCF_KIND_HARDWARE;

	return info->name && strlen(info->name) + 3 < OCF_DEVICE_NAME_MAX &&
	       (hw || info->kind == OCF_KIND_SOFTWARE) &&
	       info->ops && (!hw || info->ops->quiesce) &&
	       sessions_valid(info) && pk_valid(info->pk, hw);
}

static bool name_taken(const char *name)
{
	int i;

	lockdep_assert_held(&registry_mutex);
	for (i = 0; i < OCF_DEVICES_MAX; i++)
		if (places[i] && !strcmp(places[i]->name, name))
			return true;
	return false;
}

/* Finds a free place in the table, and the lowest free number of a name. */
static int take_place(struct ocf_device *dev)
{
	int number = 0, unit = 0;

	lockdep_assert_held(&registry_mutex);
	while (places[number])
		if (++number == OCF_DEVICES_MAX)
			return -ENOSPC;
	do {
		snprintf(dev->name, sizeof(dev->name), "%s%d", dev->info.name,
			 unit++);
	} while (name_taken(dev->name));
	dev->number = number;
	places[number] = dev;
	return 0;
}

static struct ocf_device *make_device(const struct ocf_device_info *info)
{
	struct ocf_device *dev;
	int alg, op;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return NULL;
	dev->counters = alloc_percpu(struct ocf_counters);
	if (!dev->counters) {
		kfree(dev);
		return NULL;
	}
	dev->info = *info;
	if (ocf_pk_make(dev)) {
		free_percpu(dev->counters);
		kfree(dev);
		return NULL;
	}
	ocf_fips_limit(dev);
	dev->state = OCF_DEVICE_TESTING;
	dev->weight = 100;
	dev->crowded = jiffies;
	ocf_contexts_init(dev);
	ocf_keys_init_room(dev);
	refcount_set(&dev->holds, 1);
	ocf_queue_init(dev);
	ocf_recovery_prepare(dev);
	for (alg = 0; alg < OCF_ALG_COUNT; alg++)
		for (op = 0; op < OCF_OP_COUNT; op++)
			dev->cost[alg][op] = OCF_COST_UNKNOWN;
	device_initialize(&dev->dev);
	dev->dev.class = &ocf_class;
	dev->dev.parent = info->parent;
	dev->dev.release = free_device;
	dev->info.parent = NULL;
	return dev;
}

DEFINE_STATIC_KEY_FALSE(ocf_cards_there);
OCF_EXPORT(ocf_cards_there);

static void publish(struct ocf_device *dev)
{
	if (dev->info.kind == OCF_KIND_HARDWARE)
		static_branch_inc(&ocf_cards_there);
	rcu_assign_pointer(ocf_devices[dev->number], dev);
	WRITE_ONCE(present, present | BIT_ULL(dev->number));
	ocf_registry_changed();
}

static void unpublish(struct ocf_device *dev)
{
	WRITE_ONCE(present, present & ~BIT_ULL(dev->number));
	RCU_INIT_POINTER(ocf_devices[dev->number], NULL);
	ocf_registry_changed();
	if (dev->info.kind == OCF_KIND_HARDWARE)
		static_branch_dec(&ocf_cards_there);
}

/*
 * Nothing new comes in.  The device may be failing, or have recovered, just
 * now.
 */
static void withdraw(struct ocf_device *dev)
{
	spin_lock_bh(&dev->queue.lock);
	set_state(dev, dev->state == OCF_DEVICE_TESTING ? OCF_DEVICE_DEAD :
							  OCF_DEVICE_DRAINING);
	spin_unlock_bh(&dev->queue.lock);
	mutex_lock(&registry_mutex);
	unpublish(dev);
	mutex_unlock(&registry_mutex);
}

/*
 * Restarts the requests of the device elsewhere or lets them end, stops the
 * device, and drops its contexts; @added: it is in sysfs.  Meanwhile other
 * devices may come and go, but do not get its place.
 */
static void tear_down(struct ocf_device *dev, bool added)
{
	synchronize_rcu();
	ocf_recovery_end(dev);
	if (added)
		device_del(&dev->dev);
	ocf_contexts_drop(dev);
	ocf_device_set_state(dev, OCF_DEVICE_DRAINING, OCF_DEVICE_DEAD);
	ocf_device_put(dev);
	wait_var_event(&dev->holds, !refcount_read(&dev->holds));
	mutex_lock(&registry_mutex);
	places[dev->number] = NULL;
	mutex_unlock(&registry_mutex);
	put_device(&dev->dev);
}

/*
 * Tests @dev, which has a place and is published, and then registers it in
 * sysfs.  Meanwhile other devices may come and go.
 */
static int present_itself(struct ocf_device *dev)
{
	int err;

	err = ocf_selftest_first(dev) ?:
	      dev_set_name(&dev->dev, "%s", dev->name);
	if (!err) {
		reset_counters(dev);
		/* udev is told when the device can be used */
		dev_set_uevent_suppress(&dev->dev, true);
		err = device_add(&dev->dev);
	}
	if (err) {
		withdraw(dev);
		return err;
	}
	ocf_device_set_state(dev, OCF_DEVICE_TESTING, OCF_DEVICE_READY);
	dev_set_uevent_suppress(&dev->dev, false);
	ocf_tell(&dev->dev, KOBJ_ADD, ocf_device_condition(dev));
	ocf_recheck_later(dev);
	return 0;
}

struct ocf_device *ocf_device_register(const struct ocf_device_info *info)
{
	struct ocf_device *dev;
	int err;

	might_sleep();
	if (!info_valid(info))
		return ERR_PTR(-EINVAL);
	dev = make_device(info);
	if (!dev)
		return ERR_PTR(-ENOMEM);

	mutex_lock(&registry_mutex);
	err = take_place(dev);
	if (!err)
		publish(dev);
	mutex_unlock(&registry_mutex);
	if (err) {
		put_device(&dev->dev);
		return ERR_PTR(err);
	}
	err = present_itself(dev);
	if (!err)
		return dev;
	tear_down(dev, false);
	return ERR_PTR(err);
}
OCF_EXPORT(ocf_device_register);

void ocf_device_unregister(struct ocf_device *dev)
{
	might_sleep();
	if (!dev)
		return;
	withdraw(dev);
	tear_down(dev, true);
}
OCF_EXPORT(ocf_device_unregister);

void *ocf_device_priv(const struct ocf_device *dev)
{
	return dev->info.priv;
}
OCF_EXPORT(ocf_device_priv);

int ocf_device_number(const char *name)
{
	struct ocf_device *dev;
	int i, found = -ENOENT;
	size_t n = strlen(name);

	ocf_read_lock();
	for (i = 0; i < OCF_DEVICES_MAX && found < 0; i++) {
		dev = ocf_device_at(i);
		if (dev && dev->state != OCF_DEVICE_TESTING &&
		    (!strcmp(dev->name, name) ||
		     (n && n == strlen(dev->info.name) &&
		      !strncmp(dev->name, name, n))))
			found = i;
	}
	ocf_read_unlock();
	return found;
}
OCF_EXPORT(ocf_device_number);

int ocf_device_name(int number, char *name, size_t size)
{
	struct ocf_device *dev;
	int err = -ENOENT;

	if (number < 0 || number >= OCF_DEVICES_MAX)
		return err;
	dev = ocf_device_find(array_index_nospec(number, OCF_DEVICES_MAX));
	if (!dev)
		return err;
	if (dev->state != OCF_DEVICE_TESTING) {
		strscpy(name, dev->name, size);
		err = 0;
	}
	ocf_device_put(dev);
	return err;
}
OCF_EXPORT(ocf_device_name);
