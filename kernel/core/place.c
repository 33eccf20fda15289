// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placing a request: which device gets it, and how it gets there.
 *
 * At most three devices are compared for a request: the CPU's, which works
 * inline, the card the session used last, and one other card at random.  The
 * numbers are compared in route.c.
 *
 * A request that software does at once holds nothing: it ends before the
 * section of ocf_srcu does that found its keys and its device.  Every other
 * one holds its session and its generation of keys.
 */
#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/random.h>

#include "core.h"

#include <trace/events/ocf.h>

/*
 * What a hand-over to a worker costs, ns; software that takes longer is worth
 * one to a submitter that has something else to do.  Not a promise, only an
 * order of magnitude: waking a thread is some microseconds everywhere.
 */
#define HANDOVER_NS	20000

/* How often a request waits for a context that then cannot be made. */
#define PARKS_MAX	4

static DEFINE_PER_CPU(u32, sample);

/* A card of the set @cards, which has some, at random. */
static int one_of(u64 cards)
{
	u32 n;

	for (n = get_random_u32_below(hweight64(cards)); n; n--)
		cards &= cards - 1;
	return __ffs64(cards);
}

static __always_inline int
add_candidate(struct ocf_candidate *c, int n, int number,
	      const struct ocf_session *ses, enum ocf_op op, u32 bytes)
{
	struct ocf_device *dev = ocf_device_at(number);

	if (!dev || !ocf_device_usable(dev) ||
	    (dev->info.max_len && bytes > dev->info.max_len))
		return n;
	c[n] = (struct ocf_candidate){
		.service = ocf_device_cost(dev, &ses->params, op, bytes),
		.load = max(0L, atomic_long_read(&dev->load)),
		.software = dev->info.kind == OCF_KIND_SOFTWARE,
		.device = number,
	};
	return n + 1;
}

/* The candidates, at most OCF_CANDIDATES; returns how many. */
static __always_inline int candidates(const struct ocf_session *ses,
				      enum ocf_op op, u32 bytes,
				      struct ocf_candidate *c)
{
	u64 cards = READ_ONCE(ses->capable);
	int soft = READ_ONCE(ses->soft);
	int last = READ_ONCE(ses->last);
	int n = 0;

	if (soft >= 0) {
		cards &= ~BIT_ULL(soft);
		n = add_candidate(c, n, soft, ses, op, bytes);
	}
	if (last >= 0 && cards & BIT_ULL(last)) {
		cards &= ~BIT_ULL(last);
		n = add_candidate(c, n, last, ses, op, bytes);
	}
	if (cards)
		n = add_candidate(c, n, one_of(cards), ses, op, bytes);
	return n;
}

/* Has the CPU work on @req; -EAGAIN if that is not possible here. */
static __always_inline int run_here(struct ocf_device *dev,
				    struct ocf_request *req)
{
	int err;

	trace_ocf_request_start(req, dev->number, 0);
	err = req->ctx->submit(req, false);
	if (unlikely(err == -EAGAIN)) {
		if (!(atomic_read(&req->bits) & OCF_BIT_WORKER))
			return err;
		err = -EIO;
	}
	if (unlikely(err == -EBADMSG))
		ocf_buffer_deny(req);
	ocf_device_count(dev, req->bytes, err);
	req->err = err;
	trace_ocf_request_end(req, dev->number, err);
	return 0;
}

/* The same between two looks at the clock. */
static noinline int run_timed(struct ocf_device *dev, struct ocf_request *req)
{
	u64 begun = ktime_get_ns(), took;

	if (run_here(dev, req))
		return -EAGAIN;
	took = ktime_get_ns() - begun;
	ocf_time(dev, req->session, took);
	if (!req->err)
		ocf_device_learn(dev, &req->session->params, req->op,
				 req->bytes, took);
	return 0;
}

/* Does @req on the CPU, here and now; -EAGAIN if that is not possible here. */
static __always_inline int run_inline(struct ocf_device *dev,
				      struct ocf_request *req)
{
	if (unlikely(!(this_cpu_inc_return(sample) & (OCF_SAMPLE - 1))))
		return run_timed(dev, req);
	return run_here(dev, req);
}

static void hold(struct ocf_request *req, struct ocf_keys *keys)
{
	if (req->keys)
		return;
	/* before anybody can end it */
	if (atomic_read(&req->bits) & OCF_BIT_WAITER)
		init_completion(&req->wait);
	ocf_keys_get(keys);
	req->keys = keys;
	refcount_inc(&req->session->refs);
}

static void let_go(struct ocf_request *req, bool held)
{
	if (held)
		return;
	ocf_keys_put_deferred(req->keys);
	req->keys = NULL;
	ocf_session_put_deferred(req->session);
}

/* Puts @req on its way to where it does not end at once. */
static __always_inline int send(struct ocf_request *req, struct ocf_keys *keys,
				int (*way)(struct ocf_keys *,
					   struct ocf_device *,
					   struct ocf_request *),
				struct ocf_device *dev)
{
	bool held = req->keys;
	int err;

	hold(req, keys);
	err = way(keys, dev, req);
	if (err != -EINPROGRESS)
		let_go(req, held);
	return err;
}

static int to_worker(struct ocf_keys *keys, struct ocf_device *dev,
		     struct ocf_request *req)
{
	trace_ocf_request_offload(req, dev->number, 0);
	INIT_WORK(&req->work, ocf_request_work);
	/* from here on ocf_cancel() may look for it */
	smp_store_release(&req->where, OCF_AT_WORKER);
	queue_work(ocf_wq, &req->work);
	return -EINPROGRESS;
}

static int to_card(struct ocf_keys *keys, struct ocf_device *dev,
		   struct ocf_request *req)
{
	WRITE_ONCE(req->session->last, dev->number);
	return ocf_queue_submit(dev, req);
}

static int to_park(struct ocf_keys *keys, struct ocf_device *dev,
		   struct ocf_request *req)
{
	int err;

	if (req->parks++ >= PARKS_MAX)
		return -ENODEV;
	trace_ocf_request_park(req, dev->number, 0);
	err = ocf_keys_park(keys, req);
	if (err == -EINPROGRESS)
		ocf_keys_want(keys, dev->number);
	return err;
}

/* @req goes to @dev, where its generation has the context @req->ctx. */
static int place_on(struct ocf_request *req, struct ocf_keys *keys,
		    struct ocf_device *dev, u64 service)
{
	int err;

	req->dev = dev;
	req->estimate = min_t(u64, service, U32_MAX);
	if (dev->info.kind == OCF_KIND_HARDWARE)
		return send(req, keys, to_card, dev);
	if (req->flags & OCF_REQ_OFFLOAD && service > HANDOVER_NS &&
	    !(atomic_read(&req->bits) & OCF_BIT_WORKER))
		return send(req, keys, to_worker, dev);
	err = run_inline(dev, req);
	if (err == -EAGAIN)
		return send(req, keys, to_worker, dev);
	return err;
}

/*
 * Compares what there is, and places @req on the best that takes it.  Apart
 * from the simple case, which does not need its stack.
 */
static noinline int place_among(struct ocf_request *req, struct ocf_keys *keys)
{
	struct ocf_candidate c[OCF_CANDIDATES] __uninitialized;
	struct ocf_session *ses = req->session;
	struct ocf_device *dev, *missing = NULL;
	int n, best, err = -ENODEV;

	for (n = candidates(ses, req->op, req->bytes, c); n; c[best] = c[--n]) {
		best = ocf_route_pick(c, n);
		dev = ocf_device_at(c[best].device);
		if (!dev)
			continue;
		req->ctx = srcu_dereference(keys->ctx[dev->number], &ocf_srcu);
		if (req->ctx) {
			err = place_on(req, keys, dev, c[best].service);
			if (err != -EBUSY && err != -ENODEV)
				return err;
		} else if (!missing) {
			missing = dev;
			ocf_keys_want(keys, dev->number);
		}
	}
	/* none is ready; one will be */
	return missing ? send(req, keys, to_park, missing) : err;
}

/* Does @req on the CPU if that is all there is; false if it is not so easy. */
static bool place_simply(struct ocf_request *req, struct ocf_keys *keys)
{
	struct ocf_session *ses = req->session;
	struct ocf_device *dev;
	int soft;

	if (!READ_ONCE(ses->no_card) || req->flags & OCF_REQ_OFFLOAD)
		return false;
	soft = READ_ONCE(ses->soft);
	dev = ocf_device_at(soft);
	if (!dev || !ocf_device_usable(dev) || dev->info.max_len)
		return false;
	req->ctx = srcu_dereference(keys->ctx[soft], &ocf_srcu);
	req->dev = dev;
	return req->ctx && run_inline(dev, req) != -EAGAIN;
}

/**
 * ocf_place() - choose a device for a request and bring it there
 * @req: a valid request
 * @keys: the generation it runs under
 *
 * Context: process or BH, inside ocf_srcu.
 * Return: 0 if it has been done, the result is in @req->err; -EINPROGRESS if
 * it is under way, @req is not the caller's any more; -EBUSY or -ENODEV if it
 * is not, as ocf_submit() has it.
 */
int ocf_place(struct ocf_request *req, struct ocf_keys *keys)
{
	struct ocf_session *ses = req->session;

	if (unlikely(!ocf_session_is_current(ses)))
		ocf_session_refresh(ses);
	return place_simply(req, keys) ? 0 : place_among(req, keys);
}

/**
 * ocf_place_preferred() - which device a session's requests would go to now
 * @ses: the session
 *
 * Context: process or BH, inside ocf_srcu.
 * Return: its number, or -ENODEV.
 */
int ocf_place_preferred(struct ocf_session *ses)
{
	struct ocf_candidate c[OCF_CANDIDATES];
	int n = candidates(ses, OCF_OP_ENCRYPT, 4096, c);

	return n ? c[ocf_route_pick(c, n)].device : -ENODEV;
}
