// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placing a request: which device gets it, and how it gets there.
 *
 * At most OCF_CANDIDATES devices are compared for a request: the CPU's, which
 * works inline, and cards at random.  The
 * numbers are compared in route.c.  Now and then a device that was not asked
 * for long gets a request although it does not look best: it may have become
 * so, and nobody would know.
 *
 * A request that software does at once holds its context, and that its device
 * and the memory of its keys.  Every other one holds its session and its
 * generation of keys.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/ktime.h>

#include "core.h"
#include "crossover.h"

#include <trace/events/ocf.h>

/*
 * What a hand-over to a worker costs, ns; software that takes longer is worth
 * one to a submitter that has something else to do.  Not a promise, only an
 * order of magnitude: waking a thread is some microseconds everywhere.
 */
#define HANDOVER_NS	20000

/*
 * Longer than this, ns, nobody works where one must not sleep.  A task that may
 * does its own work in its own time, at its own priority and cost.
 */
#define LONG_NS		2000000
#define SHORT		SZ_16K	/* bytes that are not, whatever they are for */

/* How often a request waits for a context that then cannot be made. */
#define PARKS_MAX	4

/* Bytes, where there is no request to ask for. */
#define TYPICAL		4096

/*
 * ns of requests that the kernel's workers have been given and have not done.
 * They are done on any CPU.
 */
static atomic_long_t handed;

static DEFINE_PER_CPU(u32, inlined);
static DEFINE_PER_CPU(u32, placements);
static DEFINE_PER_CPU(u32, dice);

/*
 * Less than @n.  Whoever could guess it would know in which order cards are
 * compared: the kernel's own random numbers are too dear for that.  Knuth, The
 * Art of Computer Programming, volume 2, 3.3.4, table 1, line 16.
 */
static __always_inline u32 dice_below(u32 n)
{
	u32 x = this_cpu_read(dice) * 1664525 + 1013904223;

	this_cpu_write(dice, x);
	return reciprocal_scale(x, n);
}

/* A card of the set @cards, which has some, at random. */
static __always_inline int one_of(u64 cards)
{
	u32 n;

	if (!(cards & (cards - 1)))
		return __ffs64(cards);
	for (n = dice_below(hweight64(cards)); n; n--)
		cards &= cards - 1;
	return __ffs64(cards);
}

/* What is to be placed. */
struct load {
	const struct ocf_session	*ses;
	const struct ocf_keys		*keys;	/* or NULL */
	enum ocf_op			op;
	u32				bytes;
	const struct ocf_request	*req;	/* or NULL */
	u64				avoid;	/* devices, a bit each */
	u32				span;		/* of @req, or 0 */
	bool				too_long;	/* for one at least */
};

/* Worked out once, for all devices that have a limit */
static __always_inline u32 span_of(struct load *l)
{
	if (!l->span)
		l->span = ocf_request_span(l->req).len;
	return l->span;
}

static __always_inline int
add_candidate(struct ocf_candidate *c, int n, int number, struct load *l)
{
	struct ocf_device *dev = ocf_device_at(number);
	u64 service, load;
	u32 weight;

	if (!dev || !ocf_device_serves(dev, l->ses))
		return n;
	if (dev->info.max_len && l->req &&
	    unlikely(span_of(l) > dev->info.max_len)) {
		l->too_long = true;
		return n;
	}
	service = ocf_device_ns(dev, &l->ses->params, l->op, l->bytes);
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
		.preferred = l->keys &&
			     rcu_access_pointer(l->keys->ctx[number]),
		.device = number,
	};
	return n + 1;
}

/* Whether the CPU has a worker do it, rather than the submitter. */
static __always_inline bool is_for_worker(const struct ocf_request *req,
					  u64 service)
{
	if (atomic_read(&req->bits) & OCF_BIT_WORKER)
		return false;
	if (req->flags & OCF_REQ_OFFLOAD &&
	    (!req->workers || ocf_workers_ready(req->workers)))
		return service > HANDOVER_NS;
	return service > LONG_NS && !(req->flags & OCF_REQ_MAY_SLEEP);
}

/* Where the work is counted that is before @req, if it goes to a worker */
static atomic_long_t *load_before(const struct ocf_request *req)
{
	return req->workers ? ocf_workers_load(req->workers) : &handed;
}

/* ns of what workers have to do before @req */
static u64 work_before(const struct ocf_request *req)
{
	s64 ns = atomic_long_read(load_before(req));

	return ns > 0 ? div_u64(ns, num_online_cpus()) : 0;
}

/*
 * What is before @req on the CPU, or comes after it all the same, for @service
 * of its own; both as they are compared.
 */
static __always_inline u64 cpu_load(const struct ocf_request *req, u64 service,
				    int soft)
{
	struct ocf_device *dev = ocf_device_at(soft);
	u32 weight = dev ? READ_ONCE(dev->weight) : 100;

	if (atomic_read(&req->bits) & OCF_BIT_WORKER ||
	    is_for_worker(req, ocf_unweigh(service, weight)))
		return ocf_weigh(work_before(req), weight);
	return ocf_route_hold_up(service, req->behind);
}

/*
 * The candidates, at most OCF_CANDIDATES; returns how many.  Of cards that are
 * equal each gets its part: the first to be looked at is any of them.
 */
static __always_inline int candidates(struct load *l, struct ocf_candidate *c)
{
	u64 cards = READ_ONCE(l->ses->capable) & ~l->avoid;
	int soft = READ_ONCE(l->ses->soft);
	int n = 0, card;

	if (soft >= 0 && cards & BIT_ULL(soft)) {
		cards &= ~BIT_ULL(soft);
		n = add_candidate(c, n, soft, l);
		if (n && l->ses->params.policy == OCF_POLICY_CPU)
			c[0].lag += OCF_CPU_PRICE;
		if (n && cards && l->req)
			c[0].load += cpu_load(l->req, c[0].service, soft);
	}
	while (cards && n < OCF_CANDIDATES) {
		card = one_of(cards);
		cards &= ~BIT_ULL(card);
		n = add_candidate(c, n, card, l);
	}
	return n;
}

/* Whether nothing has been heard of @dev for long, and it has nothing to do. */
static bool is_stale(const struct ocf_device *dev, u64 now, u64 service,
		     bool sure)
{
	/* what the CPU takes does not change as what a card takes */
	bool rarely = sure || dev->info.kind == OCF_KIND_SOFTWARE;

	return ocf_route_is_stale(now - READ_ONCE(dev->queue.last_done),
				  service, rarely) &&
	       !READ_ONCE(dev->queue.count) && !READ_ONCE(dev->queue.backlog);
}

/* One of the candidates that is to be looked at again, or -1 */
static noinline int stale_one(const struct ocf_candidate *c, int n, bool sure)
{
	u64 now = ktime_get_ns();
	struct ocf_device *dev;
	int i;

	for (i = 0; i < n; i++) {
		dev = ocf_device_at(c[i].device);
		if (!dev || !is_stale(dev, now, c[i].service, sure))
			continue;
		/* of what the CPU does not all is timed, but this is */
		this_cpu_write(inlined, OCF_SAMPLE - 1);
		/* a card may only wake up: the next tells more */
		this_cpu_write(placements, OCF_EXPLORE - 1);
		return i;
	}
	return -1;
}

/* What comes back from a card comes later to who waits for it. */
static __always_inline void add_way_back(struct ocf_candidate *c, int n,
					 const struct ocf_request *req)
{
	int soft = READ_ONCE(req->session->soft);
	u32 way = ocf_way_back(req);

	if (!way)
		return;
	while (n--)
		if (c[n].device != soft)
			c[n].lag += way;
}

/* Whether the CPU was found to be better than any card for such a request. */
static __always_inline bool is_small(const struct ocf_request *req)
{
	return ocf_is_small(req->session, req->op, req->bytes, req->behind);
}

/* Now and then, and where the last look said that none was needed for some */
static __always_inline bool is_time_to_look(const struct ocf_request *req)
{
	return !(this_cpu_inc_return(placements) & (OCF_EXPLORE - 1)) ||
	       is_small(req);
}

static __always_inline int choose(const struct ocf_candidate *c, int n,
				  const struct ocf_request *req, bool look)
{
	int i;

	if (n == 1)
		return 0;
	if (unlikely(look)) {
		i = stale_one(c, n, is_small(req));
		if (i >= 0)
			return i;
	}
	return ocf_route_pick(c, n);
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

/* How often this task has left its CPU to another */
static unsigned long switches(void)
{
	return current->nvcsw + current->nivcsw;
}

/*
 * The same between two looks at the clock.  Where others ran meanwhile, as with
 * a user who has next to no priority, it says nothing of what the CPU takes.
 */
static noinline int run_timed(struct ocf_device *dev, struct ocf_request *req)
{
	unsigned long switched = switches();
	u64 begun = ktime_get_ns(), now;
	struct ocf_sample sample;

	if (run_here(dev, req))
		return -EAGAIN;
	now = ktime_get_ns();
	sample.latency = now - begun;
	/* what others did meanwhile they did on their own processors */
	sample.gap = now - min(begun, READ_ONCE(dev->queue.last_done));
	WRITE_ONCE(dev->queue.last_done, now);
	ocf_time(dev, req->session, sample.latency);
	if (!req->err && switched == switches())
		ocf_device_learn(dev, &req->session->params, req->op,
				 req->bytes, &sample);
	return 0;
}

/* Does @req on the CPU, here and now; -EAGAIN if that is not possible here. */
static __always_inline int run_inline(struct ocf_device *dev,
				      struct ocf_request *req)
{
	if (unlikely(!(this_cpu_inc_return(inlined) & (OCF_SAMPLE - 1))))
		return run_timed(dev, req);
	return run_here(dev, req);
}

/* Has @req hold @keys, and its session; false if @keys are about to go. */
static bool hold(struct ocf_request *req, struct ocf_keys *keys)
{
	if (req->keys)
		return true;
	if (!ocf_keys_try_get(keys))
		return false;
	/* before anybody can end it */
	if (atomic_read(&req->bits) & OCF_BIT_WAITER)
		init_completion(&req->wait);
	req->keys = keys;
	refcount_inc(&req->session->refs);
	return true;
}

static void let_go(struct ocf_request *req, bool held)
{
	if (held)
		return;
	ocf_keys_put_deferred(req->keys);
	req->keys = NULL;
	ocf_session_put_deferred(req->session);
}

/*
 * Puts @req on its way to where it does not end at once; -ESTALE if @keys are
 * about to go, and others are current.
 */
static __always_inline int send(struct ocf_request *req, struct ocf_keys *keys,
				int (*way)(struct ocf_keys *,
					   struct ocf_device *,
					   struct ocf_request *),
				struct ocf_device *dev)
{
	bool held = req->keys;
	int err;

	if (!hold(req, keys))
		return -ESTALE;
	err = way(keys, dev, req);
	if (err != -EINPROGRESS)
		let_go(req, held);
	return err;
}

static int to_worker(struct ocf_keys *keys, struct ocf_device *dev,
		     struct ocf_request *req)
{
	trace_ocf_request_offload(req, dev->number, 0);
	atomic_or(OCF_BIT_HANDED, &req->bits);
	atomic_long_add(req->estimate, load_before(req));
	ocf_request_restart_later(req);
	return -EINPROGRESS;
}

static int to_card(struct ocf_keys *keys, struct ocf_device *dev,
		   struct ocf_request *req)
{
	return ocf_queue_submit(dev, req);
}

static int to_park(struct ocf_keys *keys, struct ocf_device *dev,
		   struct ocf_request *req)
{
	int err;

	if (req->parks >= PARKS_MAX)
		return -ENODEV;
	req->used = dev->number;
	trace_ocf_request_park(req, dev->number, 0);
	/* the request may be over, and all that it held, before they want it */
	ocf_keys_get(keys);
	err = ocf_keys_park(keys, req);
	if (err == -EINPROGRESS)
		ocf_keys_want(keys, dev->number);
	ocf_keys_put_deferred(keys);
	return err;
}

/* Has a context made on @dev, unless there was no room for one just now. */
static void want(struct ocf_keys *keys, const struct ocf_device *dev)
{
	if (time_after_eq(jiffies, READ_ONCE(dev->crowded)))
		ocf_keys_want(keys, dev->number);
}

/* Devices whose context is missing, the best first */
struct missing {
	struct ocf_device	*dev[OCF_CANDIDATES];
	int			n;
};

/*
 * The order in which devices are asked for a context.  The CPU always gets
 * there, whatever becomes of a card.  A card that has no room may be long about
 * it, and one that has failed at it will fail again.
 */
static int rank(const struct ocf_keys *keys, const struct ocf_device *dev)
{
	if (dev->info.kind == OCF_KIND_SOFTWARE)
		return 0;
	if (test_bit(dev->number, &keys->failed))
		return 3;
	return test_bit(dev->number, &keys->full) ? 2 : 1;
}

/* On which of them a request of @keys is to have its context. */
static noinline struct ocf_device *one_of_missing(const struct ocf_keys *keys,
						  const struct missing *m)
{
	int i, now, least = INT_MAX;
	struct ocf_device *dev;

	for (i = 0; i < m->n; i++) {
		now = rank(keys, m->dev[i]);
		if (now < least) {
			least = now;
			dev = m->dev[i];
		}
	}
	return dev;
}

/* What is left to do where the place was found */
enum { HERE = 1, IN_STEPS };

/*
 * @req goes to @dev, where its generation has the context @req->ctx; @cost is
 * as it was compared.  Returns HERE if the caller is to do it after
 * ocf_read_unlock(): @req->ctx is held then.
 */
static int place_on(struct ocf_request *req, struct ocf_keys *keys,
		    struct ocf_device *dev, u64 cost)
{
	u64 service = ocf_unweigh(cost, READ_ONCE(dev->weight));

	req->dev = dev;
	req->used = dev->number;
	req->estimate = min_t(u64, service, U32_MAX);
	if (dev->info.kind == OCF_KIND_HARDWARE) {
		WRITE_ONCE(req->ctx->used, jiffies);
		return send(req, keys, to_card, dev);
	}
	if (is_for_worker(req, service))
		return send(req, keys, to_worker, dev);
	return ocf_context_try_get(req->ctx) ? HERE : -ESTALE;
}

/* Devices that @req is not for, a bit each */
static u64 avoided_by(const struct ocf_request *req,
		      const struct ocf_keys *keys)
{
	u64 avoid = req->avoid | READ_ONCE(keys->refused);
	int soft = READ_ONCE(req->session->soft);

	/* a digest's state is the software's */
	if (unlikely(req->flags & (OCF_REQ_UPDATE | OCF_REQ_CONTINUE)))
		avoid |= soft < 0 ? U64_MAX : ~BIT_ULL(soft);
	return avoid;
}

/*
 * Compares what there is, and places @req on the best that takes it.  Apart
 * from the simple case, which does not need its stack.
 *
 * Returns as ocf_place() does, or what is left to do after ocf_read_unlock():
 * HERE, with @req->ctx held; IN_STEPS, if @whole is 0, with @keys held by @req;
 * -ESTALE: @keys, or the context, are about to go.  If @whole is an error, the
 * steps have failed with it.
 */
static noinline int place_among(struct ocf_request *req, struct ocf_keys *keys,
				int whole)
{
	struct ocf_candidate c[OCF_CANDIDATES] __uninitialized;
	struct load l = {
		.ses = req->session, .keys = keys,
		.op = req->op, .bytes = req->bytes,
		.req = req,
		.avoid = avoided_by(req, keys),
	};
	struct missing missing __uninitialized;
	int n = candidates(&l, c), best;
	struct ocf_device *dev;
	bool look = false;
	int err = whole ?: l.too_long ? -E2BIG : -ENODEV;

	missing.n = 0;
	if (n > 1) {
		look = is_time_to_look(req);
		add_way_back(c, n, req);
	}
	if (unlikely(READ_ONCE(l.ses->splits)) && !req->split.session &&
	    !whole &&
	    ocf_split_wins(req, keys, n ?
		ocf_route_score(&c[ocf_route_pick(c, n)]) : U64_MAX))
		return hold(req, keys) ? IN_STEPS : -ESTALE;
	for (; n; c[best] = c[--n]) {
		best = choose(c, n, req, look);
		dev = ocf_device_at(c[best].device);
		if (!dev)
			continue;
		req->ctx = ocf_dereference(keys->ctx[dev->number]);
		if (req->ctx) {
			if (look && dev->info.kind == OCF_KIND_SOFTWARE)
				ocf_crossover_learn(req, c[best].service);
			err = place_on(req, keys, dev, c[best].service);
			if (err != -EBUSY && err != -ENODEV)
				return err;
			continue;
		}
		if (!missing.n || dev->info.kind == OCF_KIND_SOFTWARE)
			want(keys, dev);
		missing.dev[missing.n++] = dev;
	}
	if (!missing.n)
		return err;
	/* none is ready; one will be */
	return send(req, keys, to_park, one_of_missing(keys, &missing));
}

/* The CPU's device, which may have gone since: NULL */
static __always_inline struct ocf_device *simple_device(int soft)
{
	struct ocf_device *dev;

	if (unlikely(soft < 0))
		return NULL;
	dev = ocf_device_at(soft);
	if (!dev || !ocf_device_usable(dev) || dev->info.max_len)
		return NULL;
	return dev;
}

/*
 * Whether the CPU is all there is for @req, or all that comes into question,
 * and it is so easy that nothing need be compared; @req->ctx is held then.
 */
static bool place_simply(struct ocf_request *req)
{
	struct ocf_session *ses = req->session;
	struct ocf_device *dev;
	struct ocf_keys *keys;
	int soft;

	if (req->flags & OCF_REQ_OFFLOAD || req->bytes > SHORT ||
	    !(READ_ONCE(ses->no_card) ||
	      ocf_is_spared(ses, req->op, req->bytes, req->behind)))
		return false;
	soft = READ_ONCE(ses->soft);
	dev = simple_device(soft);
	if (!dev)
		return false;
	keys = ocf_dereference(ses->keys);
	req->ctx = ocf_dereference(keys->ctx[soft]);
	req->dev = dev;
	req->used = soft;
	return req->ctx && ocf_context_try_get(req->ctx);
}

/* For a submitter who cannot do @req here: a worker can. */
static noinline int leave_to_worker(struct ocf_request *req)
{
	u64 ns = ocf_device_ns(req->dev, &req->session->params, req->op,
			       req->bytes);

	req->estimate = min_t(u64, ns, U32_MAX);
	ocf_read_lock();
	/* ends, because others are current when it fails */
	while (!hold(req, req->keys ?: ocf_dereference(req->session->keys)))
		;
	to_worker(req->keys, req->dev, req);
	ocf_read_unlock();
	return -EINPROGRESS;
}

/* Does @req on the CPU with @req->ctx, which is held. */
static __always_inline int do_here(struct ocf_request *req)
{
	struct ocf_context *ctx = req->ctx;
	int err = run_inline(req->dev, req);

	if (unlikely(err == -EAGAIN))
		err = leave_to_worker(req);
	ocf_context_put_deferred(ctx);
	return err;
}

/* The same by a worker, whose work others see. */
static int do_as_worker(struct ocf_request *req)
{
	atomic_long_t *load = load_before(req);
	u32 ns = req->estimate;
	int err;

	atomic_long_add(ns, load);
	err = do_here(req);
	atomic_long_sub(ns, load);
	return err;
}

/* place_among() with the keys of @req, or the current ones */
static int place_once(struct ocf_request *req, int whole)
{
	struct ocf_session *ses = req->session;
	int err;

	ocf_read_lock();
	if (unlikely(!ocf_session_is_current(ses)))
		ocf_session_refresh(ses);
	err = place_among(req, req->keys ?: ocf_dereference(ses->keys), whole);
	ocf_read_unlock();
	return err;
}

/* Does what is left to do, as place_among() has said; @held: @req had keys. */
static noinline int do_rest(struct ocf_request *req, bool held, int rest)
{
	int whole = 0;

	for (;; rest = place_once(req, whole)) {
		if (rest == IN_STEPS) {
			whole = ocf_split_start(req);
			if (whole == -EINPROGRESS)
				return whole;
			let_go(req, held);
			if (!whole)
				return 0;
		} else if (rest != -ESTALE) {
			break;
		}
	}
	if (rest != HERE)
		return rest;
	return atomic_read(&req->bits) & OCF_BIT_WORKER ?
		do_as_worker(req) : do_here(req);
}

/**
 * ocf_place() - choose a device for a request and bring it there
 * @req: a valid request; it runs under its session's current keys
 *
 * Context: process or BH.
 * Return: 0 if it has been done, the result is in @req->err; -EINPROGRESS if
 * it is under way, @req is not the caller's any more; -EBUSY, -E2BIG or -ENODEV
 * if it is not, as ocf_submit() has it.
 */
int ocf_place(struct ocf_request *req)
{
	struct ocf_session *ses = req->session;
	int rest = HERE;

	ocf_read_lock();
	if (unlikely(!ocf_session_is_current(ses)))
		ocf_session_refresh(ses);
	if (!place_simply(req))
		rest = place_among(req, ocf_dereference(ses->keys), 0);
	ocf_read_unlock();
	if (rest == HERE)
		return do_here(req);
	return unlikely(rest > 0 || rest == -ESTALE) ?
		do_rest(req, false, rest) : rest;
}

/* Whether a request of @ses would wait for others before it. */
static bool is_behind_others(const struct ocf_session *ses)
{
	if (!(ses->params.flags & OCF_SESSION_ORDERED))
		return false;
	/* pairs with leave_order(): their callbacks have returned */
	return smp_load_acquire(&ses->ordered);
}

bool ocf_cpu_takes(struct ocf_session *ses, enum ocf_op op, u32 bytes)
{
	struct ocf_device *dev = NULL;

	ocf_read_lock();
	if (unlikely(!ocf_session_is_current(ses)))
		ocf_session_refresh(ses);
	if (bytes <= SHORT && !is_behind_others(ses) &&
	    (READ_ONCE(ses->no_card) || ocf_is_spared(ses, op, bytes, 0)))
		dev = simple_device(READ_ONCE(ses->soft));
	if (dev) {
		ocf_session_count(ses, bytes, 0);
		ocf_device_count(dev, bytes, 0);
	}
	ocf_read_unlock();
	return dev;
}
OCF_EXPORT(ocf_cpu_takes);

bool ocf_cpu_is_allowed(struct ocf_session *ses)
{
	bool allowed;

	ocf_read_lock();
	if (unlikely(!ocf_session_is_current(ses)))
		ocf_session_refresh(ses);
	allowed = simple_device(READ_ONCE(ses->soft));
	ocf_read_unlock();
	return allowed;
}
OCF_EXPORT(ocf_cpu_is_allowed);

void ocf_cpu_failed(struct ocf_session *ses, u32 bytes)
{
	struct ocf_device *dev;
	int soft;

	atomic64_sub(bytes, &ses->bytes);
	atomic64_inc(&ses->errors);
	ocf_read_lock();
	soft = READ_ONCE(ses->soft);
	dev = soft < 0 ? NULL : ocf_device_at(soft);
	if (dev) {
		this_cpu_sub(dev->counters->bytes, bytes);
		this_cpu_inc(dev->counters->errors);
	}
	ocf_read_unlock();
}
OCF_EXPORT(ocf_cpu_failed);

/**
 * ocf_place_again() - the same for a request that was placed before
 * @req: the request, with the keys that it holds
 *
 * Devices of @req->avoid are not considered.
 *
 * Context: process or BH.
 * Return: as ocf_place().
 */
int ocf_place_again(struct ocf_request *req)
{
	return do_rest(req, true, place_once(req, 0));
}

/**
 * ocf_place_taken() - a worker takes what he was given
 * @req: the request, which has OCF_BIT_HANDED
 *
 * Context: any.
 */
void ocf_place_taken(struct ocf_request *req)
{
	atomic_andnot(OCF_BIT_HANDED, &req->bits);
	atomic_long_sub(req->estimate, load_before(req));
}

/**
 * ocf_place_preferred() - which device a session's requests would go to now
 * @ses: the session
 *
 * Context: process or BH, after ocf_read_lock().
 * Return: its number, or -ENODEV.
 */
int ocf_place_preferred(struct ocf_session *ses)
{
	struct ocf_candidate c[OCF_CANDIDATES];
	struct load l = { .ses = ses, .bytes = TYPICAL };
	int n = candidates(&l, c);

	return n ? c[ocf_route_pick(c, n)].device : -ENODEV;
}

/**
 * ocf_place_score() - when a request would be done
 * @ses: a session
 * @keys: a generation of its keys
 * @op: direction
 * @bytes: size
 *
 * Context: process or BH, after ocf_read_lock().
 * Return: ns from now; U64_MAX if no device is ready for it, one will be then.
 */
u64 ocf_place_score(struct ocf_session *ses, struct ocf_keys *keys,
		    enum ocf_op op, u32 bytes)
{
	struct ocf_candidate c[OCF_CANDIDATES] __uninitialized;
	struct load l = {
		.ses = ses, .keys = keys, .op = op, .bytes = bytes,
		.avoid = READ_ONCE(keys->refused),
	};
	struct ocf_device *dev;
	int n, best;

	if (unlikely(!ocf_session_is_current(ses)))
		ocf_session_refresh(ses);
	n = candidates(&l, c);
	if (!n)
		return U64_MAX;
	best = ocf_route_pick(c, n);
	dev = ocf_device_at(c[best].device);
	if (!dev)
		return U64_MAX;
	if (rcu_access_pointer(keys->ctx[dev->number]))
		return ocf_route_score(&c[best]);
	want(keys, dev);
	return U64_MAX;
}
