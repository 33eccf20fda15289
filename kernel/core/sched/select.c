// SPDX-License-Identifier: GPL-2.0-only
/*
 * The choice of a device: the parts that run now and then.  select.h has the
 * others.
 */
#include <linux/ktime.h>

#include "select.h"

/* Bytes of a request, where none is given */
#define TYPICAL		4096

DEFINE_PER_CPU(u32, ocf_dice);
DEFINE_PER_CPU(u32, ocf_selections);
DEFINE_PER_CPU(u32, ocf_inlined);

/* Whether @dev is idle, and has completed nothing for long. */
static bool is_stale(const struct ocf_device *dev, u64 now, u64 service,
		     bool sure)
{
	/* the cost of the CPU changes less than that of a card */
	bool rarely = sure || dev->info.kind == OCF_KIND_SOFTWARE;

	return ocf_candidate_is_stale(now - READ_ONCE(dev->queue.last_done),
				      service, rarely) &&
	       !READ_ONCE(dev->queue.count) && !READ_ONCE(dev->queue.backlog);
}

/* Returns the index of a stale candidate, or -1. */
int ocf_find_stale(const struct ocf_candidate *c, int n, bool sure)
{
	u64 now = ktime_get_ns();
	struct ocf_device *dev;
	int i;

	for (i = 0; i < n; i++) {
		dev = ocf_device_at(c[i].device);
		if (!dev || !is_stale(dev, now, c[i].service, sure))
			continue;
		/* the CPU times one request in OCF_SAMPLE: this one, too */
		this_cpu_write(ocf_inlined, OCF_SAMPLE - 1);
		/*
		 * the first request may do no more than wake the card, so try a
		 * second one
		 */
		this_cpu_write(ocf_selections, OCF_EXPLORE - 1);
		return i;
	}
	return -1;
}

/* Asks for a context on @dev, unless that had no capacity just now. */
void ocf_want_context(struct ocf_keys *keys, const struct ocf_device *dev)
{
	if (time_after_eq(jiffies, READ_ONCE(dev->crowded)))
		ocf_keys_want(keys, dev->number);
}

/*
 * Returns the number of the device that a request of @ses would get if all were
 * idle, or -ENODEV.  Users are told this, so it says nothing of what other
 * users do now.
 */
static int preferred_device(struct ocf_session *ses)
{
	struct ocf_candidate c[OCF_CANDIDATES];
	struct ocf_query q = { .ses = ses, .bytes = TYPICAL };
	int n = ocf_find_candidates(&q, c), i;

	for (i = 0; i < n; i++)
		c[i].load = 0;
	return n ? c[ocf_candidate_pick(c, n)].device : -ENODEV;
}

/**
 * ocf_select_score() - how long a request would take
 * @ses: a session
 * @keys: a generation of its keys
 * @op: direction
 * @bytes: size
 *
 * Context: process or BH, after ocf_read_lock().
 * Return: ns, with the work in front; U64_MAX: there is no device, or the best
 * one has no context yet, and was asked for one.
 */
u64 ocf_select_score(struct ocf_session *ses, struct ocf_keys *keys,
		     enum ocf_op op, u32 bytes)
{
	struct ocf_candidate c[OCF_CANDIDATES] __uninitialized;
	struct ocf_query q = {
		.ses = ses,
		.keys = keys,
		.op = op,
		.bytes = bytes,
		.excluded = READ_ONCE(keys->refused),
	};
	struct ocf_device *dev;
	int n, best;

	ocf_session_update(ses);
	n = ocf_find_candidates(&q, c);
	if (!n)
		return U64_MAX;
	best = ocf_candidate_pick(c, n);
	dev = ocf_device_at(c[best].device);
	if (!dev)
		return U64_MAX;
	if (rcu_access_pointer(keys->ctx[dev->number]))
		return ocf_candidate_score(&c[best]);
	ocf_want_context(keys, dev);
	return U64_MAX;
}

void ocf_session_info(struct ocf_session *ses, struct ocf_session_info *info)
{
	const struct ocf_session_params *p = &ses->params;
	struct ocf_device *dev;
	u64 capable;
	int i;

	*info = (struct ocf_session_info){
		.mode = p->mode,
		.cipher = p->cipher,
		.mac = p->mac,
		.ivlen = p->ivlen,
		.maclen = p->maclen,
		.block = ses->block,
		.device = -ENODEV,
	};
	ocf_read_lock();
	ocf_session_update(ses);
	for (capable = ses->capable; capable; capable &= ~BIT_ULL(i)) {
		i = __ffs64(capable);
		dev = ocf_device_at(i);
		if (dev && dev->info.kind == OCF_KIND_HARDWARE)
			info->hardware = true;
	}
	info->device = preferred_device(ses);
	ocf_read_unlock();
}
OCF_EXPORT(ocf_session_info);
