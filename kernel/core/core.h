/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The core's map: its objects, and each file's calls in the order in which a
 * request meets them.
 *
 * OCF locking
 * -----------
 * In the order in which they nest:
 *
 *   registry_mutex	device.c: who is registered; held while a device comes
 *			or goes, over all of its known answers.  Sleeps.
 *   sessions_mutex	session.c: the list of sessions.  Sleeps.
 *   session.rekey	session.c: the current generation of keys.  Sleeps.
 *   generations_mutex	keys.c: the list of all generations.  Sleeps.
 *   keys.mutex		keys.c: makes and drops contexts.  Sleeps.
 *   park_lock		keys.c: parked requests.  BH.
 *   refresh_lock	session.c: working out what a session may use.  BH.
 *   queue.lock		queue.c: what is in a device and what waits for it.  BH.
 *   session.order_lock	deliver.c: a session's requests in order.  BH.
 *
 * The last four are never held together, and none while a driver or a
 * callback is called, but for ocf_device_ops.capable() under refresh_lock.
 *
 * A request that is not in flight belongs to its consumer, who may not touch
 * it from two places.  In flight it is moved from list to list under the lock
 * of the list; its state says on which it is.
 *
 * Devices, keys and contexts are found without a lock, inside ocf_srcu.
 * Whoever takes one away unlinks it, waits for the readers of ocf_srcu and
 * frees it then.  A request inside a device is not a reader: it is on the
 * queue's list of requests in flight, and a device goes when that is empty.
 */
#ifndef OCF_CORE_H
#define OCF_CORE_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/device.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/ocf.h>
#include <linux/ocf_driver.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/workqueue.h>

#include "../compat.h"
#include "alg.h"
#include "params.h"
#include "route.h"

#define OCF_HIST_BUCKETS	32	/* one for each power of two, ns */

/**
 * struct ocf_counters - what has been done, free-running
 * @ops: requests completed, with or without success
 * @bytes: of the successful ones
 * @errors: requests that ended with an error
 * @hist: latencies; bucket n counts [2^n, 2^(n+1)) ns.  Of software requests
 *	one in OCF_SAMPLE is timed, since two looks at the clock would cost
 *	as much as all the rest
 */
struct ocf_counters {
	u64	ops;
	u64	bytes;
	u64	errors;
	u32	hist[OCF_HIST_BUCKETS];
};

#define OCF_SAMPLE		16	/* a power of two */

/**
 * enum ocf_device_state - the life of a device
 * @OCF_DEVICE_TESTING: answers its known-answer tests, gets no other request
 * @OCF_DEVICE_READY: takes requests
 * @OCF_DEVICE_DRAINING: takes nothing new; what is in it comes back
 * @OCF_DEVICE_DEAD: gone
 *
 * Legal: testing -> ready -> draining -> dead; testing -> dead.  Changed by
 * set_state() in device.c alone.  Whether it is full is another matter, see
 * struct ocf_queue.
 */
enum ocf_device_state {
	OCF_DEVICE_TESTING,
	OCF_DEVICE_READY,
	OCF_DEVICE_DRAINING,
	OCF_DEVICE_DEAD,
};

/**
 * struct ocf_queue - what is inside a hardware device and what waits for it
 * @lock: protects all of it
 * @inflight: requests the driver has
 * @waiting: requests it will get, oldest first
 * @count: of @inflight
 * @backlog: of @waiting
 * @full: the driver said so, and has not said otherwise since: requests wait
 *	or go elsewhere
 * @unblocks: calls of ocf_device_unblock(), free-running
 * @last_done: ns, when the latest completion came
 * @pumping: somebody is handing @waiting over
 */
struct ocf_queue {
	spinlock_t		lock;
	struct list_head	inflight;
	struct list_head	waiting;
	unsigned int		count;
	unsigned int		backlog;
	bool			full;
	unsigned int		unblocks;
	u64			last_done;
	bool			pumping;
};

/**
 * struct ocf_device - one card, or the CPU
 * @info: as registered; @info.algs is what passed
 * @dev: in class "ocf"
 * @number: 0 to OCF_DEVICES_MAX - 1, its place in the table
 * @name: with its number among those of its driver
 * @state: see enum ocf_device_state
 * @holds: the registry's, one for each context and for those who look
 * @load: ns of work inside and waiting, as estimated
 * @cost: by algorithm and direction, corrected from completions
 * @queue: for hardware
 * @counters: per CPU
 * @spurious: completions of requests that were complete
 * @blocks: times it said that it is full
 */
struct ocf_device {
	struct ocf_device_info	info;
	struct device		dev;
	int			number;
	char			name[OCF_DEVICE_NAME_MAX];
	enum ocf_device_state	state;
	refcount_t		holds;
	atomic_long_t		load;
	struct ocf_cost		cost[OCF_ALG_COUNT][OCF_OP_COUNT];
	struct ocf_queue	queue;
	struct ocf_counters __percpu *counters;
	atomic64_t		spurious;
	atomic64_t		blocks;
};

/**
 * struct ocf_keys - one generation of a session's keys, and its contexts
 * @refs: the session's while it is current, one for each request in flight
 *	and for the work
 * @params: constant; its key pointers lead into @secret
 * @mutex: held while a context is made or dropped; protects @present
 * @present: devices that have a context, a bit each
 * @ctx: by device number; read inside ocf_srcu
 * @wanted: devices whose context somebody missed, a bit each, atomic
 * @parked: requests waiting for a context, under park_lock
 * @work: makes contexts; frees the generation where one must not sleep
 * @node: in the list of generations
 * @secret: cipher key, MAC key
 */
struct ocf_keys {
	refcount_t			refs;
	struct ocf_session_params	params;
	struct mutex			mutex;
	unsigned long			present;
	struct ocf_context __rcu	*ctx[OCF_DEVICES_MAX];
	unsigned long			wanted;
	struct list_head		parked;
	struct work_struct		work;
	struct list_head		node;
	u8				secret[];
};

static_assert(OCF_DEVICES_MAX <= BITS_PER_LONG, "a set of devices is one word");

/**
 * struct ocf_session - what a consumer holds
 * @refs: consumers' and one for each request in flight
 * @params: as created, defaults filled in, without keys
 * @block: bytes the data's length must be a multiple of
 * @keys: the current generation; replaced under @rekey, read inside ocf_srcu
 * @rekey: serialises changes of @keys
 * @capable: devices capable of it, a bit each, as of @seen
 * @soft: the software device of least cost among them, or -1
 * @no_card: @soft is the only one
 * @seen: the registry's generation that @capable was worked out for
 * @last: hardware device used last, or -1
 * @testing: the device whose known answers it is for: uses that device only,
 *	whatever its state and the policy
 * @order_lock: protects @order and @delivering
 * @order: requests in submission order (OCF_SESSION_ORDERED)
 * @delivering: somebody is delivering from @order
 * @order_work: delivers from @order where a submitter must not
 * @ops: requests completed
 * @bytes: of the successful ones
 * @errors: requests that ended with an error
 * @hist: as in struct ocf_counters; a lost count is a lost count
 * @node: in the list of sessions
 * @work: for ocf_session_put_deferred()
 */
struct ocf_session {
	refcount_t			refs;
	struct ocf_session_params	params;
	u32				block;
	struct ocf_keys __rcu		*keys;
	struct mutex			rekey;
	u64				capable;
	int				soft;
	bool				no_card;
	u32				seen;
	int				last;
	struct ocf_device		*testing;
	spinlock_t			order_lock;
	struct list_head		order;
	bool				delivering;
	struct work_struct		order_work;
	atomic64_t			ops;
	atomic64_t			bytes;
	atomic64_t			errors;
	u32				hist[OCF_HIST_BUCKETS];
	struct list_head		node;
	struct work_struct		work;
};

/* Bits of ocf_request.bits */
#define OCF_BIT_CANCELLED	BIT(0)	/* ocf_cancel() was called in time */
#define OCF_BIT_DONE		BIT(1)	/* has its result: exactly once */
#define OCF_BIT_WAITER		BIT(2)	/* ocf_run() waits */
#define OCF_BIT_WOKEN		BIT(3)	/* ... and was told the result */
#define OCF_BIT_ABANDONED	BIT(4)	/* ... and was killed before */
/* BIT(5) is OCF_BIT_WORKER, in <linux/ocf_driver.h> */
#define OCF_BIT_RESTARTED	BIT(6)	/* accepted: no queue refuses it */

/* ocf_request.where; changed under the lock of the list it names */
enum {
	OCF_AT_START,		/* on no list */
	OCF_AT_WORKER,		/* its work is queued */
	OCF_AT_PARKED,		/* on keys->parked */
	OCF_AT_QUEUE,		/* on dev->queue.waiting */
	OCF_AT_DEVICE,		/* on dev->queue.inflight */
};

static inline unsigned int ocf_hist_bucket(u64 ns)
{
	return ns ? min(ilog2(ns), OCF_HIST_BUCKETS - 1) : 0;
}

/* main.c */
extern struct srcu_struct ocf_srcu;
extern struct workqueue_struct *ocf_wq;

/* session.c */
struct ocf_session *ocf_session_create_on(const struct ocf_session_params *p,
					  struct ocf_device *testing,
					  gfp_t gfp);
void ocf_session_refresh(struct ocf_session *ses);
void ocf_sessions_show(struct seq_file *m);

/* keys.c */
struct ocf_keys *ocf_keys_create(const struct ocf_session_params *p, gfp_t gfp);
void ocf_keys_put(struct ocf_keys *keys);
void ocf_keys_put_deferred(struct ocf_keys *keys);
int ocf_keys_add(struct ocf_keys *keys, struct ocf_device *dev);
void ocf_keys_drop_all(struct ocf_device *dev);
void ocf_keys_want(struct ocf_keys *keys, int number);
int ocf_keys_park(struct ocf_keys *keys, struct ocf_request *req);
bool ocf_keys_unpark(struct ocf_request *req);

static inline void ocf_keys_get(struct ocf_keys *keys)
{
	refcount_inc(&keys->refs);
}

/* request.c */
void ocf_request_complete(struct ocf_request *req, int err, bool inside_submit);
void ocf_request_restart(struct ocf_request *req);
void ocf_requests_restart(struct list_head *list);
void ocf_request_work(struct work_struct *work);

/* place.c */
int ocf_place(struct ocf_request *req, struct ocf_keys *keys);
int ocf_place_preferred(struct ocf_session *ses);

/* queue.c */
void ocf_queue_init(struct ocf_queue *q);
int ocf_queue_submit(struct ocf_device *dev, struct ocf_request *req);
bool ocf_queue_leave(struct ocf_device *dev, struct ocf_request *req,
		     u64 *took, u64 *latency);
bool ocf_queue_cancel(struct ocf_device *dev, struct ocf_request *req);
void ocf_queue_let_in(struct ocf_device *dev);
void ocf_queue_kick(struct ocf_device *dev);
void ocf_queue_empty(struct ocf_device *dev, struct list_head *orphans);

/*
 * There may be room in @dev.  Whoever made it did so under the queue's lock,
 * and sees who waited then.
 */
static inline void ocf_queue_pump(struct ocf_device *dev)
{
	if (READ_ONCE(dev->queue.backlog))
		ocf_queue_let_in(dev);
}

/* buffer.c */
void ocf_buffer_deny(struct ocf_request *req);

/* deliver.c */
void ocf_deliver_init(void);
void ocf_deliver_exit(void);
void ocf_request_end(struct ocf_request *req, int err, bool inside_submit);
bool ocf_request_end_here(struct ocf_request *req);
void ocf_order_enter(struct ocf_request *req);
void ocf_order_leave(struct ocf_request *req);
void ocf_order_init(struct ocf_session *ses);

/* device.c */
extern struct ocf_device __rcu *ocf_devices[OCF_DEVICES_MAX];
extern u32 ocf_registry_changes;
u64 ocf_registry_present(void);
struct ocf_device *ocf_device_find(int number);
void ocf_device_get(struct ocf_device *dev);
void ocf_device_put(struct ocf_device *dev);
bool ocf_device_exists(int number);
bool ocf_device_capable(struct ocf_device *dev,
			const struct ocf_session_params *p);
void ocf_device_make_dead(struct ocf_device *dev);
u64 ocf_device_cost(struct ocf_device *dev, const struct ocf_session_params *p,
		    enum ocf_op op, u32 bytes);
void ocf_device_learn(struct ocf_device *dev,
		      const struct ocf_session_params *p, enum ocf_op op,
		      u32 bytes, u64 ns);
void ocf_device_sum(const struct ocf_device *dev, struct ocf_counters *sum);

/* Counts a finished request, @bytes of data if it succeeded. */
static inline void ocf_device_count(struct ocf_device *dev, u32 bytes, int err)
{
	this_cpu_inc(dev->counters->ops);
	if (likely(!err))
		this_cpu_add(dev->counters->bytes, bytes);
	else
		this_cpu_inc(dev->counters->errors);
}

static inline void ocf_session_count(struct ocf_session *ses, u32 bytes,
				     int err)
{
	atomic64_inc(&ses->ops);
	if (likely(!err))
		atomic64_add(bytes, &ses->bytes);
	else
		atomic64_inc(&ses->errors);
}

/* Counts how long a request took, ns. */
static inline void ocf_time(struct ocf_device *dev, struct ocf_session *ses,
			    u64 ns)
{
	unsigned int bucket = ocf_hist_bucket(ns);

	this_cpu_inc(dev->counters->hist[bucket]);
	WRITE_ONCE(ses->hist[bucket], READ_ONCE(ses->hist[bucket]) + 1);
}

/* Counts changes: what was worked out before another is out of date. */
static inline u32 ocf_registry_generation(void)
{
	/* before the registry: pairs with registry_changed() */
	return smp_load_acquire(&ocf_registry_changes);
}

/* Whether @ses->capable and what goes with it are as of now. */
static inline bool ocf_session_is_current(const struct ocf_session *ses)
{
	/* before what it is about: pairs with ocf_session_refresh() */
	return smp_load_acquire(&ses->seen) == ocf_registry_generation();
}

/* The device in that place, or NULL.  Context: inside ocf_srcu. */
static inline struct ocf_device *ocf_device_at(int number)
{
	return srcu_dereference(ocf_devices[number], &ocf_srcu);
}

/* Whether contexts may be made on it: false once it is going. */
static inline bool ocf_device_usable(const struct ocf_device *dev)
{
	return READ_ONCE(dev->state) < OCF_DEVICE_DRAINING;
}

/* kat.c */
int ocf_kat_device(struct ocf_device *dev);

/* sysfs.c */
extern const struct class ocf_class;

/* debug.c */
void ocf_debug_init(void);
void ocf_debug_exit(void);

#endif /* OCF_CORE_H */
