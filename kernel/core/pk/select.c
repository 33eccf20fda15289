// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which device a public-key request goes to: the one that will be done soonest
 * by what such operations have taken on each, and what each has to do already.
 *
 * All devices are looked at: next to an operation that costs nothing.
 */
#include <linux/cpumask.h>

#include "pk.h"

#define COST_SHIFT	2	/* the latest is worth a quarter */
#define FADES		4ul	/* times what was heard is halved */
#define KEEPS_UP	4	/* times the CPU's time, OCF_POLICY_CPU */

/* What an operation of a size not met before may take, from one that was. */
static u64 guess(const struct ocf_pk_cost *cost, unsigned int class)
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

/* ns that @req would be, on a device of which that is known; 0 if it is not. */
static u64 cost_of(const struct ocf_pk_unit *unit,
		   const struct ocf_pk_request *req)
{
	const struct ocf_pk_cost *cost = unit->cost[req->op.code];

	return cost[req->class].ns ?: guess(cost, req->class);
}

/*
 * ns until @req would be done there.  What was heard of an idle card long ago
 * counts for less and less, so that it is tried again in the end.
 */
static u64 score(const struct ocf_pk_unit *unit,
		 const struct ocf_pk_request *req)
{
	u64 ns = cost_of(unit, req);
	unsigned long age;

	ns = div_u64(ns * READ_ONCE(unit->dev->weight), 100);
	if (unit->dev->info.kind == OCF_KIND_SOFTWARE)
		return ns + div_u64(unit->backlog, num_online_cpus());
	if (!ns)
		return unit->count ? U64_MAX : 0;
	if (unit->count)
		return ns + unit->backlog;
	age = (jiffies - unit->cost[req->op.code][req->class].heard) / HZ;
	return ns >> min(age, FADES);
}

/**
 * ocf_pk_learn() - correct a cost from what a request took
 * @unit: of the device
 * @req: the request
 * @ns: without the time it waited
 *
 * Context: process or BH, under pk_lock.
 */
void ocf_pk_learn(struct ocf_pk_unit *unit, const struct ocf_pk_request *req,
		  u64 ns)
{
	struct ocf_pk_cost *cost = &unit->cost[req->op.code][req->class];

	lockdep_assert_held(&ocf_pk_lock);
	if (cost->ns)
		ns = cost->ns - (cost->ns >> COST_SHIFT) + (ns >> COST_SHIFT);
	cost->ns = max(ns, 1ULL);
	cost->heard = jiffies;
}

/**
 * ocf_pk_delay() - what public-key operations may have delayed a request
 * @dev: a card
 * @since: ns, when the request was given to it
 *
 * A card that does one thing after the other has to do what was inside before.
 *
 * Context: any.
 * Return: ns; 0 if it has had none to do since then.
 */
u64 ocf_pk_delay(const struct ocf_device *dev, u64 since)
{
	const struct ocf_pk_unit *unit = dev->pk;

	if (!unit ||
	    (!READ_ONCE(unit->count) && READ_ONCE(unit->last) < since))
		return 0;
	return OCF_LENIENCE * READ_ONCE(unit->most);
}

/* What @dev would have to do for @req, or NULL if it cannot. */
static struct ocf_pk_op *form_for(struct ocf_device *dev,
				  struct ocf_pk_request *req)
{
	const struct ocf_pk_ops *ops = dev->info.pk;
	u32 codes = dev->pk->codes;
	struct ocf_pk_op *forms[2] = {
		&req->op, req->plain ? &req->plain->op : NULL
	};
	int i;

	/* a number is asked for in one way only: as long as the modulus */
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

static bool allowed(const struct ocf_device *dev,
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

static bool usable(const struct ocf_device *dev,
		   const struct ocf_pk_request *req)
{
	return req->testing == dev ||
	       (READ_ONCE(dev->state) == OCF_DEVICE_READY &&
		!READ_ONCE(dev->drained));
}

/* What is known when all devices have been looked at. */
struct choice {
	struct ocf_device	*dev;
	u64			score;
};

static void consider(struct choice *best, struct ocf_device *dev, u64 score)
{
	if (!best->dev || score < best->score)
		*best = (struct choice){ dev, score };
}

/**
 * ocf_pk_choose() - find the device for a request
 * @req: the request; what it is to do there is put into @req->now
 * @err: -EOPNOTSUPP if none is capable, -ENODEV if those that are cannot be
 *	used now, or the one that was asked for does not exist
 *
 * Context: process; may sleep.
 * Return: the device, held, or NULL.
 */
struct ocf_device *ocf_pk_choose(struct ocf_pk_request *req, int *err)
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
		if (!dev || !dev->pk || !allowed(dev, req) ||
		    !form_for(dev, req))
			continue;
		*err = -ENODEV;
		if (!usable(dev, req))
			continue;
		spin_lock_bh(&ocf_pk_lock);
		ns = dev->pk->closed ? U64_MAX : score(dev->pk, req);
		spin_unlock_bh(&ocf_pk_lock);
		if (!READ_ONCE(dev->pk->closed))
			consider(dev->info.kind == OCF_KIND_HARDWARE ? &card :
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
		/* it has been found incapable since */
		if (dev)
			ocf_device_put(dev);
		return NULL;
	}
	req->now = form;
	spin_lock_bh(&ocf_pk_lock);
	req->expected = cost_of(dev->pk, req);
	spin_unlock_bh(&ocf_pk_lock);
	return dev;
}

/* What can be done by @dev, with the core's paddings. */
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
		if (dev && dev->pk && allowed(dev, &any) && usable(dev, &any))
			codes |= codes_by(dev);
	}
	ocf_read_unlock();
	return codes;
}
OCF_EXPORT(ocf_pk_codes);
