// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of devices, their states, and references to them.
 *
 * A device that was taken out of the table keeps its number and its name until
 * ocf_registry_release().  Meanwhile others may still have a pointer to it: a
 * submitter after ocf_read_lock(), and holders of a reference.
 */
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/wait_bit.h>

#include "../core.h"

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
 * ocf_device_sum() - add up a device's counters
 * @dev: the device
 * @kind: which requests
 * @sum: is filled in
 *
 * Context: any.
 */
void ocf_device_sum(const struct ocf_device *dev, enum ocf_job_kind kind,
		    struct ocf_counters *sum)
{
	const struct ocf_counters *c;
	int cpu, i;

	*sum = (struct ocf_counters){};
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(&dev->counters[kind], cpu);
		sum->ops += READ_ONCE(c->ops);
		sum->bytes += READ_ONCE(c->bytes);
		sum->errors += READ_ONCE(c->errors);
		sum->replays += READ_ONCE(c->replays);
		for (i = 0; i < OCF_HIST_BUCKETS; i++)
			sum->hist[i] += READ_ONCE(c->hist[i]);
	}
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

DEFINE_STATIC_KEY_FALSE(ocf_cards_there);
OCF_EXPORT(ocf_cards_there);

static void publish(struct ocf_device *dev)
{
	lockdep_assert_held(&registry_mutex);
	if (dev->info.kind == OCF_KIND_HARDWARE)
		static_branch_inc(&ocf_cards_there);
	rcu_assign_pointer(ocf_devices[dev->number], dev);
	WRITE_ONCE(present, present | BIT_ULL(dev->number));
	ocf_registry_changed();
}

static void unpublish(struct ocf_device *dev)
{
	lockdep_assert_held(&registry_mutex);
	WRITE_ONCE(present, present & ~BIT_ULL(dev->number));
	RCU_INIT_POINTER(ocf_devices[dev->number], NULL);
	ocf_registry_changed();
	if (dev->info.kind == OCF_KIND_HARDWARE)
		static_branch_dec(&ocf_cards_there);
}

/**
 * ocf_registry_add() - give a device a number and a name, and publish it
 * @dev: the device
 *
 * Context: process; may sleep.
 * Return: 0, or -ENOSPC.
 */
int ocf_registry_add(struct ocf_device *dev)
{
	int err;

	mutex_lock(&registry_mutex);
	err = take_place(dev);
	if (!err)
		publish(dev);
	mutex_unlock(&registry_mutex);
	return err;
}

/**
 * ocf_registry_withdraw() - take a device out of the table
 * @dev: the device; at this moment it may be failing, or may just have
 *	recovered.  After a grace period no task finds it
 *
 * Context: process; may sleep.
 */
void ocf_registry_withdraw(struct ocf_device *dev)
{
	spin_lock_bh(&dev->queue.lock);
	set_state(dev, dev->state == OCF_DEVICE_TESTING ? OCF_DEVICE_DEAD :
							  OCF_DEVICE_DRAINING);
	spin_unlock_bh(&dev->queue.lock);
	mutex_lock(&registry_mutex);
	unpublish(dev);
	mutex_unlock(&registry_mutex);
}

/**
 * ocf_registry_release() - let another device have the number and the name
 * @dev: a device that was withdrawn; its first reference is put, and the caller
 *	waits for all others
 *
 * Context: process; may sleep.
 */
void ocf_registry_release(struct ocf_device *dev)
{
	ocf_device_put(dev);
	wait_var_event(&dev->holds, !refcount_read(&dev->holds));
	mutex_lock(&registry_mutex);
	places[dev->number] = NULL;
	mutex_unlock(&registry_mutex);
}

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
