// SPDX-License-Identifier: GPL-2.0-only
/*
 * Selects the device for a public-key request: the one that is expected to
 * complete it first.  A device's expected time is its backlog and what such
 * operations have taken on it.
 *
 * Every device is compared each time; that is cheap beside the operation.
 */
#include <linux/cpumask.h>

#include "pk.h"

#define COST_SHIFT 2 /* the latest time counts for a quarter */
#define FADES 4ul /* times an old cost is halved, at most */
/*
 * OCF_POLICY_CPU: a card is chosen if it takes at most this many times as long
 * as the CPU.
 */
#define KEEPS_UP 4

/*
 * Estimates the cost of a size that was not measured, from the nearest one that
 * was: twice the length costs four times as much.
 */
static u64 guess_cost(const struct ocf_pk_cost *cost, unsigned int class)
{
	int i;

	for (i = 1; i < OCF_PK_CLASSES; i++) {
		if (class >= i && cost[class - i].ns)
			return cost[class - i].ns << (2 * i);
		if (class + i < OCF_PK_CLASSES && cost[class + i].ns)
			return max(cost[class + i].ns >> (2 * i), 1ULL);
	}
	return 0;
}

/* ns that @req is expected to take; 0 if no such operation was measured */
static u64 expected_cost(const struct ocf_pk_unit *unit,
			 const struct ocf_pk_request *req)
{
	const struct ocf_pk_cost *cost = unit->cost[req->op.code];

	return cost[req->class].ns ?: guess_cost(cost, req->class);
}

/**
 * ocf_pk_backlog() - work inside a device and in front of it
 * @unit: of the device
 *
 * Context: process or BH, under pk_lock.
 * Return: ns, as estimated.
 */
u64 ocf_pk_backlog(const struct ocf_pk_unit *unit)
{
	lockdep_assert_held(&ocf_pk_lock);
	return unit->inside + unit->fair.waiting;
}

/*
 * ns until the device would complete @req.  The cost of an idle card is halved
 * for each second since it was measured, so that the card is tried again.
 */
static u64 score(const struct ocf_pk_unit *unit,
		 const struct ocf_pk_request *req)
{
	u64 ns = expected_cost(unit, req);
	unsigned long age;

	ns = div_u64(ns * READ_ONCE(unit->dev->weight), 100);
	if (unit->dev->info.kind == OCF_KIND_SOFTWARE)
		return ns + div_u64(ocf_pk_backlog(unit), num_online_cpus());
	if (!ns)
		return unit->count ? U64_MAX : 0;
	if (unit->count)
		return ns + ocf_pk_backlog(unit);
	age = (jiffies - unit->cost[req->op.code][req->class].learned_at) / HZ;
	return ns >> min(age, FADES);
}

/**
 * ocf_pk_learn() - note how long a request has taken
 * @unit: of the device
 * @req: the request, which has succeeded
 * @now: ns
 *
 * Corrects the cost of such requests, and counts the latency.  While a card is
 * busy, it begins a request when it has completed the one before.
 *
 * Context: process or BH, under pk_lock.
 */
void ocf_pk_learn(struct ocf_pk_unit *unit, const struct ocf_pk_request *req,
		  u64 now)
{
	struct ocf_pk_cost *cost = &unit->cost[req->op.code][req->class];
	u64 ns = now - max(req->started, unit->last);

	lockdep_assert_held(&ocf_pk_lock);
	if (cost->ns)
		ns = cost->ns - (cost->ns >> COST_SHIFT) + (ns >> COST_SHIFT);
	cost->ns = max(ns, 1ULL);
	cost->learned_at = jiffies;
	if (!req->testing)
		ocf_device_time(unit->dev, OCF_JOB_PUBLIC_KEY,
				now - req->started);
}

/**
 * ocf_pk_delay() - how long public-key operations may delay a symmetric request
 * @dev: a card
 * @since: ns, when the request was given to it
 *
 * Some cards have one queue for symmetric and public-key requests.
 *
 * Context: any.
 * Return: ns; 0 if no public-key operation was inside since then.
 */
u64 ocf_pk_delay(const struct ocf_device *dev, u64 since)
{
	const struct ocf_pk_unit *unit = dev->pk;

	if (!unit ||
	    (!READ_ONCE(unit->count) && READ_ONCE(unit->last) < since))
		return 0;
	return ocf_cost_allowance(READ_ONCE(unit->most));
}

/*
 * The operation that @dev would do for @req: all of it, or RSA without its
 * padding.  NULL if @dev is capable of neither.
 */
static struct ocf_pk_op *form_for(struct ocf_device *dev,
				  struct ocf_pk_request *req)
{
	const struct ocf_pk_ops *ops = dev->info.pk;
	u32 codes = dev->pk->codes;
	struct ocf_pk_op *forms[2] = {
		&req->op, req->plain ? &req->plain->op : NULL
	};
	int i;

	/*
	 * a raw number is always given in the plain form, with zeros in front
	 * to the length of the modulus
	 */
	i = req->plain && req->op.scheme == OCF_PK_RAW;
	for (; i < ARRAY_SIZE(forms) && forms[i]; i++) {
		if (!(codes & BIT(forms[i]->code)))
			continue;
		if (ocf_pk_rows[forms[i]->code].flags & OCF_PK_IS_RSA &&
		    !(ops->schemes & BIT(forms[i]->scheme)))
			continue;
		if (!ops->capable || ops->capable(dev, forms[i]))
			return forms[i];
	}
	return NULL;
}

static bool is_choosable(const struct ocf_device *dev,
			 const struct ocf_pk_request *req)
{
	u32 kind = dev->info.kind == OCF_KIND_HARDWARE ? OCF_SESSION_HARDWARE :
							 OCF_SESSION_SOFTWARE;

	if (req->testing)
		return req->testing == dev;
	return (!req->flags || req->flags & kind) &&
	       (req->device == OCF_DEVICE_ANY || req->device == dev->number) &&
	       !(req->tried & BIT_ULL(dev->number));
}

static bool is_usable(const struct ocf_device *dev,
		      const struct ocf_pk_request *req)
{
	return req->testing == dev ||
	       (READ_ONCE(dev->state) == OCF_DEVICE_READY &&
		!READ_ONCE(dev->drained));
}

/* The best device so far. */
struct choice {
	struct ocf_device	*dev;
	u64			score;
};

static void take_better(struct choice *best, struct ocf_device *dev, u64 score)
{
	if (!best->dev || score < best->score)
		*best = (struct choice){ dev, score };
}

/**
 * ocf_pk_select() - select the device for a request
 * @req: the request; @req->now is set to the operation for that device
 * @err: set if the result is NULL: -EOPNOTSUPP if no device is capable, -ENODEV
 *	if the capable ones cannot be used now, or if @req->device does not
 *	exist
 *
 * Context: process; may sleep.
 * Return: the device with a reference, or NULL.
 */
struct ocf_device *ocf_pk_select(struct ocf_pk_request *req, int *err)
{
	struct choice card = {}, cpu = {};
	struct ocf_pk_op *form;
	struct ocf_device *dev;
	int i;
	u64 ns;

	*err = req->device == OCF_DEVICE_ANY || ocf_device_exists(req->device) ?
		       -EOPNOTSUPP : -ENODEV;
	ocf_read_lock();
	for (i = 0; i < OCF_DEVICES_MAX; i++) {
		dev = ocf_device_at(i);
		if (!dev || !dev->pk || !is_choosable(dev, req) ||
		    !form_for(dev, req))
			continue;
		*err = -ENODEV;
		if (!is_usable(dev, req))
			continue;
		spin_lock_bh(&ocf_pk_lock);
		ns = dev->pk->closed ? U64_MAX : score(dev->pk, req);
		spin_unlock_bh(&ocf_pk_lock);
		if (!READ_ONCE(dev->pk->closed))
			take_better(dev->info.kind == OCF_KIND_HARDWARE ?
					    &card :
					    &cpu,
				    dev, ns);
	}
	if (req->policy == OCF_POLICY_CPU && card.dev)
		card.score /= KEEPS_UP;
	dev = card.dev && (!cpu.dev || card.score <= cpu.score) ? card.dev :
								  cpu.dev;
	if (dev && !refcount_inc_not_zero(&dev->holds))
		dev = NULL;
	form = dev ? form_for(dev, req) : NULL;
	ocf_read_unlock();
	if (!form) {
		/*
		 * a self-test has removed the operation from the device
		 * meanwhile
		 */
		if (dev)
			ocf_device_put(dev);
		return NULL;
	}
	req->now = form;
	spin_lock_bh(&ocf_pk_lock);
	/*
	 * if nothing was measured, each request counts 1 ns, so owners take
	 * turns
	 */
	req->job.estimate = clamp(expected_cost(dev->pk, req), 1, U32_MAX);
	spin_unlock_bh(&ocf_pk_lock);
	return dev;
}

/* Operations that @dev does, with the core's paddings. */
static u32 codes_by(const struct ocf_device *dev)
{
	u32 codes = READ_ONCE(dev->pk->codes);

	if (!(dev->info.pk->schemes & BIT(OCF_PK_RAW)))
		return codes;
	if (codes & BIT(OCF_PK_RSA_ENCRYPT))
		codes |= BIT(OCF_PK_RSA_VERIFY);
	if (codes & BIT(OCF_PK_RSA_DECRYPT))
		codes |= BIT(OCF_PK_RSA_SIGN);
	return codes;
}

u32 ocf_pk_codes(u32 flags)
{
	struct ocf_pk_request any = {
		.flags = flags, .device = OCF_DEVICE_ANY,
	};
	struct ocf_device *dev;
	u32 codes = 0;
	int i;

	ocf_read_lock();
	for (i = 0; i < OCF_DEVICES_MAX; i++) {
		dev = ocf_device_at(i);
		if (dev && dev->pk && is_choosable(dev, &any) &&
		    is_usable(dev, &any))
			codes |= codes_by(dev);
	}
	ocf_read_unlock();
	return codes;
}
OCF_EXPORT(ocf_pk_codes);
