// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting a request on the device that was chosen for it, and starting it
 * again.
 *
 * A request that the CPU does inline holds its context, which keeps the device
 * and the memory of the keys.  Any other request holds its session and a
 * generation of keys.
 */
#include <linux/ktime.h>

#include "../core.h"
#include "../sched/select.h"

#include <trace/events/ocf.h>

/*
 * ns.  A submitter that asked for it (OCF_REQ_OFFLOAD) hands longer work to a
 * worker.  Waking a thread takes some microseconds on any machine.
 */
#define HANDOVER_NS	20000

/*
 * ns.  A worker does longer work if the submitter must not sleep.  A task that
 * may sleep does its own work, at its own priority.
 */
#define LONG_NS		2000000

/*
 * The maximum number of times that a request waits for a context that cannot be
 * made.
 */
#define PARKS_MAX	4

/* ns of work that the kernel's workers have, on all CPUs */
static atomic_long_t offloaded;

/* Whether a worker does the request, if it goes to the CPU. */
static __always_inline bool needs_worker(const struct ocf_request *req,
					 u64 service)
{
	if (atomic_read(&req->bits) & OCF_BIT_WORKER)
		return false;
	/* a submitter that may sleep does it if its process has no threads */
	if (req->flags & OCF_REQ_OFFLOAD &&
	    (!req->workers || !(req->flags & OCF_REQ_MAY_SLEEP) ||
	     ocf_workers_ready(req->workers)))
		return service > HANDOVER_NS;
	return service > LONG_NS && !(req->flags & OCF_REQ_MAY_SLEEP);
}

/* The load of the workers that may do @req */
static atomic_long_t *worker_load(const struct ocf_request *req)
{
	return req->workers ? ocf_workers_load(req->workers) : &offloaded;
}

/* ns until a worker can begin with @req */
static u64 worker_backlog(const struct ocf_request *req)
{
	s64 ns = atomic_long_read(worker_load(req));

	return ns > 0 ? div_u64(ns, num_online_cpus()) : 0;
}

/*
 * Weighted ns by which the CPU would delay @req, or the requests behind it if
 * @req is done inline.  @service is that of @req.
 */
static __always_inline u64 cpu_delay(const struct ocf_request *req, u64 service,
				     int soft)
{
	struct ocf_device *dev = ocf_device_at(soft);
	u32 weight = dev ? READ_ONCE(dev->weight) : 100;

	if (atomic_read(&req->bits) & OCF_BIT_WORKER ||
	    needs_worker(req, ocf_unweigh(service, weight)))
		return ocf_weigh(worker_backlog(req), weight);
	return ocf_delay_of_others(service, req->behind);
}

/* Has the CPU do @req.  -EAGAIN: not possible in this context. */
static __always_inline int run_on_cpu(struct ocf_device *dev,
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
	ocf_device_count(dev, OCF_JOB_SYMMETRIC, req->bytes, err);
	req->err = err;
	trace_ocf_request_end(req, dev->number, err);
	return 0;
}

/* How often this task has lost its CPU */
static unsigned long context_switches(void)
{
	return current->nvcsw + current->nivcsw;
}

/*
 * run_on_cpu(), timed.  If the task loses its CPU meanwhile, the time says
 * nothing about the cost.
 */
static noinline int run_timed(struct ocf_device *dev, struct ocf_request *req)
{
	unsigned long switched = context_switches();
	u64 begun = ktime_get_ns(), now;
	struct ocf_sample sample;

	if (run_on_cpu(dev, req))
		return -EAGAIN;
	now = ktime_get_ns();
	sample.latency = now - begun;
	/*
	 * the gap is not less than the latency: other tasks may have completed
	 * work on other CPUs meanwhile
	 */
	sample.gap = now - min(begun, READ_ONCE(dev->queue.last_done));
	WRITE_ONCE(dev->queue.last_done, now);
	ocf_time(dev, req->session, sample.latency);
	if (!req->err && switched == context_switches())
		ocf_device_learn(dev, &req->session->params, req->op,
				 req->bytes, &sample);
	return 0;
}

/* Does @req inline, one in OCF_SAMPLE timed.  -EAGAIN: not possible here. */
static __always_inline int run_inline(struct ocf_device *dev,
				      struct ocf_request *req)
{
	if (unlikely(!(this_cpu_inc_return(ocf_inlined) & (OCF_SAMPLE - 1))))
		return run_timed(dev, req);
	return run_on_cpu(dev, req);
}

/* Takes references to @keys and the session; false: @keys are being freed. */
static bool hold_keys(struct ocf_request *req, struct ocf_keys *keys)
{
	if (req->keys)
		return true;
	if (!ocf_keys_try_get(keys))
		return false;
	/* before it can be completed */
	if (atomic_read(&req->bits) & OCF_BIT_WAITER)
		init_completion(&req->wait);
	req->keys = keys;
	refcount_inc(&req->session->refs);
	return true;
}

static void release_keys(struct ocf_request *req, bool held)
{
	if (held)
		return;
	ocf_keys_put_deferred(req->keys);
	req->keys = NULL;
	ocf_session_put_deferred(req->session);
}

/*
 * Starts @req by @start, one of the next three functions.  -ESTALE: @keys are
 * being freed, and others are current.
 */
static __always_inline int
start_by(int (*start)(struct ocf_keys *, struct ocf_device *,
		      struct ocf_request *),
	 struct ocf_request *req, struct ocf_keys *keys, struct ocf_device *dev)
{
	bool held = req->keys;
	int err;

	if (!hold_keys(req, keys))
		return -ESTALE;
	err = start(keys, dev, req);
	if (err != -EINPROGRESS)
		release_keys(req, held);
	return err;
}

static int start_on_worker(struct ocf_keys *keys, struct ocf_device *dev,
			   struct ocf_request *req)
{
	trace_ocf_request_offload(req, dev->number, 0);
	atomic_or(OCF_BIT_OFFLOADED, &req->bits);
	atomic_long_add(req->job.estimate, worker_load(req));
	ocf_request_restart_later(req);
	return -EINPROGRESS;
}

static int start_on_card(struct ocf_keys *keys, struct ocf_device *dev,
			 struct ocf_request *req)
{
	return ocf_queue_submit(dev, req);
}

static int park_request(struct ocf_keys *keys, struct ocf_device *dev,
			struct ocf_request *req)
{
	int err;

	if (req->parks >= PARKS_MAX)
		return -ENODEV;
	req->used = dev->number;
	trace_ocf_request_park(req, dev->number, 0);
	/* once parked, it may end and drop its reference to @keys */
	ocf_keys_get(keys);
	err = ocf_keys_park(keys, req);
	if (err == -EINPROGRESS)
		ocf_keys_want(keys, dev->number);
	ocf_keys_put_deferred(keys);
	return err;
}

/* Devices that have no context yet, the best first */
struct missing {
	struct ocf_device	*dev[OCF_CANDIDATES];
	int			n;
};

/*
 * The order in which devices are asked for a context, the lowest first.  The
 * CPU can always make one.  A card without capacity may take long to evict
 * another, and a card that has failed to make one will probably fail again.
 */
static int context_rank(const struct ocf_keys *keys,
			const struct ocf_device *dev)
{
	if (dev->info.kind == OCF_KIND_SOFTWARE)
		return 0;
	if (test_bit(dev->number, &keys->failed))
		return 3;
	return test_bit(dev->number, &keys->full) ? 2 : 1;
}

/* The device that makes a context for a request of @keys */
static noinline struct ocf_device *choose_missing(const struct ocf_keys *keys,
						  const struct missing *m)
{
	int i, now, least = INT_MAX;
	struct ocf_device *dev;

	for (i = 0; i < m->n; i++) {
		now = context_rank(keys, m->dev[i]);
		if (now < least) {
			least = now;
			dev = m->dev[i];
		}
	}
	return dev;
}

/* What the caller has to do after ocf_read_unlock() */
enum { RUN_HERE = 1, RUN_IN_STEPS };

/*
 * Starts @req on @dev with the context @req->ctx; @cost is weighted.  RUN_HERE:
 * the caller runs it after ocf_read_unlock(), with a reference to @req->ctx.
 */
static int start_on(struct ocf_request *req, struct ocf_keys *keys,
		    struct ocf_device *dev, u64 cost)
{
	u64 service = ocf_unweigh(cost, READ_ONCE(dev->weight));

	req->dev = dev;
	req->used = dev->number;
	req->job.estimate = min_t(u64, service, U32_MAX);
	if (dev->info.kind == OCF_KIND_HARDWARE) {
		WRITE_ONCE(req->ctx->used, jiffies);
		return start_by(start_on_card, req, keys, dev);
	}
	if (needs_worker(req, service))
		return start_by(start_on_worker, req, keys, dev);
	return ocf_context_try_get(req->ctx) ? RUN_HERE : -ESTALE;
}

/* Devices that may not do @req, a bit each */
static u64 excluded_devices(const struct ocf_request *req,
			    const struct ocf_keys *keys)
{
	u64 excluded = req->excluded | READ_ONCE(keys->refused);
	int soft = READ_ONCE(req->session->soft);

	/* only the CPU continues a digest */
	if (unlikely(req->flags & (OCF_REQ_UPDATE | OCF_REQ_CONTINUE)))
		excluded |= soft < 0 ? U64_MAX : ~BIT_ULL(soft);
	return excluded;
}

static __always_inline u64 best_score(const struct ocf_candidate *c, int n)
{
	return n ? ocf_candidate_score(&c[ocf_candidate_pick(c, n)]) : U64_MAX;
}

/*
 * Compares devices, and starts @req on the best one that takes it.  This is a
 * function of its own, because select_cpu_simply() does not need its stack.
 *
 * Returns as ocf_request_start() does, or what is to be done after
 * ocf_read_unlock(): RUN_HERE, with a reference to @req->ctx; RUN_IN_STEPS, if
 * @whole is 0, with a reference to @keys; -ESTALE: try again, @keys or the
 * context are being freed.  @whole: the error of the steps that failed, or 0.
 */
static noinline int select_among(struct ocf_request *req, struct ocf_keys *keys,
				 int whole)
{
	struct ocf_candidate c[OCF_CANDIDATES] __uninitialized;
	struct ocf_query q = {
		.ses = req->session,
		.keys = keys,
		.op = req->op,
		.bytes = req->bytes,
		.req = req,
		.excluded = excluded_devices(req, keys),
	};
	struct missing missing __uninitialized;
	int n = ocf_find_candidates(&q, c), best;
	struct ocf_device *dev;
	bool look = false;
	int err = whole ?: q.too_long ? -E2BIG : -ENODEV;

	missing.n = 0;
	if (n > 1) {
		if (q.cpu)
			c[0].load += cpu_delay(req, c[0].service, c[0].device);
		look = ocf_is_time_to_explore(req);
		ocf_add_wake_latency(c, n, req);
	}
	if (unlikely(READ_ONCE(q.ses->splits)) && !req->split.session &&
	    !whole) {
		/* the CPU's delay counts even if it is the only device */
		if (n == 1 && q.cpu)
			c[0].load += cpu_delay(req, c[0].service, c[0].device);
		if (ocf_chain_wins(req, keys, best_score(c, n)))
			return hold_keys(req, keys) ? RUN_IN_STEPS : -ESTALE;
	}
	for (; n; c[best] = c[--n]) {
		best = ocf_choose_candidate(c, n, req, look);
		dev = ocf_device_at(c[best].device);
		if (!dev)
			continue;
		req->ctx = ocf_dereference(keys->ctx[dev->number]);
		if (req->ctx) {
			if (look && dev->info.kind == OCF_KIND_SOFTWARE)
				ocf_crossover_learn(req, c[best].service);
			err = start_on(req, keys, dev, c[best].service);
			if (err != -EBUSY && err != -ENODEV)
				return err;
			continue;
		}
		if (!missing.n || dev->info.kind == OCF_KIND_SOFTWARE)
			ocf_want_context(keys, dev);
		missing.dev[missing.n++] = dev;
	}
	if (!missing.n)
		return err;
	/* no context is there; one will be made */
	return start_by(park_request, req, keys,
			choose_missing(keys, &missing));
}

/*
 * Tries to choose the CPU without a comparison.  @req must be short.  Also,
 * either the CPU is the only device, or @req is below the crossover and
 * @uncompared of its session is not used up.  If this returns true, it has
 * taken a reference to @req->ctx.
 */
static bool select_cpu_simply(struct ocf_request *req)
{
	struct ocf_session *ses = req->session;
	struct ocf_device *dev;
	struct ocf_keys *keys;
	int soft;

	if (req->flags & OCF_REQ_OFFLOAD || req->bytes > OCF_SHORT ||
	    !(READ_ONCE(ses->no_card) ||
	      ocf_skips_comparison(ses, req->op, req->bytes, req->behind)))
		return false;
	soft = READ_ONCE(ses->soft);
	dev = ocf_plain_cpu(soft);
	if (!dev)
		return false;
	keys = ocf_dereference(ses->keys);
	req->ctx = ocf_dereference(keys->ctx[soft]);
	req->dev = dev;
	req->used = soft;
	return req->ctx && ocf_context_try_get(req->ctx);
}

/* Has a worker do @req, which cannot be done here (-EAGAIN). */
static noinline int leave_to_worker(struct ocf_request *req)
{
	u64 ns = ocf_device_ns(req->dev, &req->session->params, req->op,
			       req->bytes);

	req->job.estimate = min_t(u64, ns, U32_MAX);
	ocf_read_lock();
	/*
	 * this loop ends: if hold_keys() fails, the session has other current
	 * keys, which the next round uses
	 */
	while (!hold_keys(req,
			  req->keys ?: ocf_dereference(req->session->keys)))
		;
	start_on_worker(req->keys, req->dev, req);
	ocf_read_unlock();
	return -EINPROGRESS;
}

/* Does @req inline, and drops the reference to @req->ctx. */
static __always_inline int run_held(struct ocf_request *req)
{
	struct ocf_context *ctx = req->ctx;
	int err = run_inline(req->dev, req);

	if (unlikely(err == -EAGAIN))
		err = leave_to_worker(req);
	ocf_context_put_deferred(ctx);
	return err;
}

/* run_held() by a worker; counts as the worker's load meanwhile */
static int run_held_as_worker(struct ocf_request *req)
{
	atomic_long_t *load = worker_load(req);
	u32 ns = req->job.estimate;
	int err;

	atomic_long_add(ns, load);
	err = run_held(req);
	atomic_long_sub(ns, load);
	return err;
}

/* select_among() with the keys of @req, or with the current ones */
static int select_once(struct ocf_request *req, int whole)
{
	struct ocf_session *ses = req->session;
	int err;

	ocf_read_lock();
	ocf_session_update(ses);
	err = select_among(req, req->keys ?: ocf_dereference(ses->keys), whole);
	ocf_read_unlock();
	return err;
}

/*
 * Does what the result of select_among() asks for.  @held: @req had its keys
 * before the call.
 */
static noinline int finish_selection(struct ocf_request *req, bool held,
				     int rest)
{
	int whole = 0;

	for (;; rest = select_once(req, whole)) {
		if (rest == RUN_IN_STEPS) {
			whole = ocf_chain_start(req);
			if (whole == -EINPROGRESS)
				return whole;
			release_keys(req, held);
			if (!whole)
				return 0;
		} else if (rest != -ESTALE) {
			break;
		}
	}
	if (rest != RUN_HERE)
		return rest;
	return atomic_read(&req->bits) & OCF_BIT_WORKER ?
		       run_held_as_worker(req) :
		       run_held(req);
}

/**
 * ocf_request_start() - choose a device for a request, and start it there
 * @req: a valid request; it gets the current keys of its session
 *
 * Context: process or BH.
 * Return: 0: @req is done, and its result is in @req->err; -EINPROGRESS: it is
 * under way, and does not belong to the caller any more; -EBUSY, -E2BIG or
 * -ENODEV: it was not started, see ocf_submit().
 */
int ocf_request_start(struct ocf_request *req)
{
	struct ocf_session *ses = req->session;
	int rest = RUN_HERE;

	ocf_read_lock();
	ocf_session_update(ses);
	if (!select_cpu_simply(req))
		rest = select_among(req, ocf_dereference(ses->keys), 0);
	ocf_read_unlock();
	if (rest == RUN_HERE)
		return run_held(req);
	return unlikely(rest > 0 || rest == -ESTALE) ?
		       finish_selection(req, false, rest) :
		       rest;
}

/**
 * ocf_request_start_again() - start a request again, perhaps on another device
 * @req: the request, which keeps its keys; not on devices of @req->excluded
 *
 * Context: process or BH.
 * Return: as ocf_request_start().
 */
int ocf_request_start_again(struct ocf_request *req)
{
	return finish_selection(req, true, select_once(req, 0));
}

/* A worker begins with @req. */
static void take_offloaded(struct ocf_request *req)
{
	atomic_andnot(OCF_BIT_OFFLOADED, &req->bits);
	atomic_long_sub(req->job.estimate, worker_load(req));
}

/**
 * ocf_request_restart() - start an accepted request again, here
 * @req: the request, on no list but that of its session's order; if it goes to
 *	the CPU, this does the work, however long
 *
 * Context: process; may sleep.
 */
void ocf_request_restart(struct ocf_request *req)
{
	int err, failed = req->err;
	int old = atomic_fetch_or(OCF_BIT_WORKER | OCF_BIT_RESTARTED,
				  &req->bits);

	if (old & OCF_BIT_OFFLOADED)
		take_offloaded(req);
	req->batch = NULL;
	req->begun = 0;
	req->err = 0;
	if (old & OCF_BIT_CANCELLED) {
		ocf_request_end(req, -ECANCELED, false);
		return;
	}
	err = ocf_request_start_again(req);
	if (err == -EINPROGRESS)
		return;
	/* no device is left on which it has not failed */
	if (err == -ENODEV && req->excluded)
		err = failed ?: -EIO;
	ocf_request_end(req, err ?: req->err, false);
}

static void run_queued(struct work_struct *work)
{
	struct ocf_request *req = container_of(work, struct ocf_request, work);
	unsigned int flow = req->session->flow;

	ocf_request_restart(req);
	ocf_offload_next(flow);
}

static void run_by_process(struct work_struct *work)
{
	struct ocf_request *req = container_of(work, struct ocf_request, work);

	if (ocf_workers_ended(req->workers))
		atomic_or(OCF_BIT_CANCELLED, &req->bits);
	ocf_request_restart(req);
}

/* Makes the task that waits for @req restart it; false: no task waits. */
static bool return_to_waiter(struct ocf_request *req)
{
	if (!(atomic_read(&req->bits) & OCF_BIT_WAITER))
		return false;
	if (atomic_fetch_or(OCF_BIT_RETURNED, &req->bits) &
	    OCF_BIT_ABANDONED) {
		atomic_andnot(OCF_BIT_RETURNED, &req->bits);
		return false;
	}
	complete(&req->wait);
	return true;
}

/*
 * Makes the submitter of @req restart it, at the submitter's priority: the
 * waiting task, or a thread of the process.  False: there is neither.
 */
static bool return_to_submitter(struct ocf_request *req)
{
	if (return_to_waiter(req))
		return true;
	if (!req->workers)
		return false;
	INIT_WORK(&req->work, run_by_process);
	return ocf_workers_queue(req->workers, &req->work);
}

/**
 * ocf_request_restart_later() - have the submitter or a worker restart a
 * request
 * @req: the request, on no list but that of its session's order
 *
 * Context: process or BH.
 */
void ocf_request_restart_later(struct ocf_request *req)
{
	if (return_to_submitter(req))
		return;
	INIT_WORK(&req->work, run_queued);
	ocf_offload(req);
}
