/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The choice of a device: the parts that run for each request.
 *
 * At most OCF_CANDIDATES devices are compared: the CPU, and cards at random.
 * cost.c compares the numbers.  Now and then a device that has been idle for
 * long gets a request although another looks better, because its cost may have
 * fallen.
 */
#ifndef OCF_SELECT_H
#define OCF_SELECT_H

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>

#include "../core.h"
#include "crossover.h"

#define OCF_SHORT	SZ_16K	/* bytes that take the CPU less than 2 ms */

/* For random numbers; choices so far; requests done inline so far */
DECLARE_PER_CPU(u32, ocf_dice);
DECLARE_PER_CPU(u32, ocf_selections);
DECLARE_PER_CPU(u32, ocf_inlined);

int ocf_find_stale(const struct ocf_candidate *c, int n, bool sure);
void ocf_want_context(struct ocf_keys *keys, const struct ocf_device *dev);

/* Works out what @ses may use, if the registry has changed. */
static __always_inline void ocf_session_update(struct ocf_session *ses)
{
	if (unlikely(!ocf_session_is_current(ses)))
		ocf_session_refresh(ses);
}

/*
 * Returns a number below @n.  It need not be hard to guess, so it need not be
 * as expensive as get_random_u32_below().  Knuth, The Art of Computer
 * Programming, volume 2, 3.3.4, table 1, line 16.
 */
static __always_inline u32 ocf_random_below(u32 n)
{
	u32 x = this_cpu_read(ocf_dice) * 1664525 + 1013904223;

	this_cpu_write(ocf_dice, x);
	return reciprocal_scale(x, n);
}

/* Returns a card of @cards, which is not empty, at random. */
static __always_inline int ocf_random_card(u64 cards)
{
	u32 n;

	if (!(cards & (cards - 1)))
		return __ffs64(cards);
	for (n = ocf_random_below(hweight64(cards)); n; n--)
		cards &= cards - 1;
	return __ffs64(cards);
}

/* A request, or a kind of requests, that a device is chosen for */
struct ocf_query {
	const struct ocf_session	*ses;
	const struct ocf_keys		*keys;	/* or NULL */
	enum ocf_op			op;
	u32				bytes;
	const struct ocf_request	*req;	/* or NULL */
	u64				excluded; /* devices, a bit each */
	u32				span;	/* bytes of @req, or 0 */
	bool				cpu;	/* it is the first candidate */
	bool				too_long; /* for a device */
};

/* Computed once for all devices that have a limit */
static __always_inline u32 ocf_query_span(struct ocf_query *q)
{
	if (!q->span)
		q->span = ocf_request_span(q->req).len;
	return q->span;
}

static __always_inline int ocf_add_candidate(struct ocf_candidate *c, int n,
					     int number, struct ocf_query *q)
{
	struct ocf_device *dev = ocf_device_at(number);
	u64 service, load;
	u32 weight;

	if (!dev || !ocf_device_serves(dev, q->ses))
		return n;
	if (dev->info.max_len && q->req &&
	    unlikely(ocf_query_span(q) > dev->info.max_len)) {
		q->too_long = true;
		return n;
	}
	service = ocf_device_ns(dev, &q->ses->params, q->op, q->bytes);
	load = max(0L, atomic_long_read(&dev->load));
	weight = READ_ONCE(dev->weight);
	if (unlikely(weight != 100)) {
		service = ocf_weigh(service, weight);
		load = ocf_weigh(load, weight);
	}
	c[n] = (struct ocf_candidate){
		.service = service,
		.load = load,
		.lag = READ_ONCE(dev->lag),
		.preferred = q->keys &&
			     rcu_access_pointer(q->keys->ctx[number]),
		.device = number,
	};
	return n + 1;
}

/*
 * Fills @c with at most OCF_CANDIDATES, and returns how many.  Cards come in
 * random order, so that equal cards get equal parts.
 */
static __always_inline int ocf_find_candidates(struct ocf_query *q,
					       struct ocf_candidate *c)
{
	u64 cards = READ_ONCE(q->ses->capable) & ~q->excluded;
	int soft = READ_ONCE(q->ses->soft);
	int n = 0, card;

	if (soft >= 0 && cards & BIT_ULL(soft)) {
		cards &= ~BIT_ULL(soft);
		n = ocf_add_candidate(c, n, soft, q);
		q->cpu = n;
		if (n && q->ses->params.policy == OCF_POLICY_CPU)
			c[0].lag += OCF_CPU_PRICE;
	}
	while (cards && n < OCF_CANDIDATES) {
		card = ocf_random_card(cards);
		cards &= ~BIT_ULL(card);
		n = ocf_add_candidate(c, n, card, q);
	}
	return n;
}

/* A card's completion wakes the waiter, which takes time. */
static __always_inline void ocf_add_wake_latency(struct ocf_candidate *c, int n,
						 const struct ocf_request *req)
{
	int soft = READ_ONCE(req->session->soft);
	u32 latency = ocf_wake_latency(req);

	if (!latency)
		return;
	while (n--)
		if (c[n].device != soft)
			c[n].lag += latency;
}

/* Whether the CPU was found to beat all cards for such a request. */
static __always_inline bool ocf_request_is_below(const struct ocf_request *req)
{
	return ocf_is_below_crossover(req->session, req->op, req->bytes,
				      req->behind);
}

/*
 * True once in OCF_EXPLORE choices, and whenever a request below the crossover
 * is compared
 */
static __always_inline bool
ocf_is_time_to_explore(const struct ocf_request *req)
{
	return !(this_cpu_inc_return(ocf_selections) & (OCF_EXPLORE - 1)) ||
	       ocf_request_is_below(req);
}

static __always_inline int
ocf_choose_candidate(const struct ocf_candidate *c, int n,
		     const struct ocf_request *req, bool look)
{
	int i;

	if (n == 1)
		return 0;
	if (unlikely(look)) {
		i = ocf_find_stale(c, n, ocf_request_is_below(req));
		if (i >= 0)
			return i;
	}
	return ocf_candidate_pick(c, n);
}

/* Returns the CPU's device, or NULL if it has gone, or has a limit. */
static __always_inline struct ocf_device *ocf_plain_cpu(int soft)
{
	struct ocf_device *dev;

	if (unlikely(soft < 0))
		return NULL;
	dev = ocf_device_at(soft);
	if (!dev || !ocf_device_usable(dev) || dev->info.max_len)
		return NULL;
	return dev;
}

#endif /* OCF_SELECT_H */
