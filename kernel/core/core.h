/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The core's map: its objects, and each file's calls in the order in which a
 * request meets them.
 *
 * OCF locking
 * -----------
 * In the order in which they nest:
 *
 *   registry_mutex	device.c: who has which number and name.  Sleeps.
 *   sessions_mutex	session.c: the list of sessions.  Sleeps.
 *   session.rekey	session.c: the current generation of keys.  Sleeps.
 *   device.room	context.c: makes room for contexts on a device.  Sleeps.
 *   generations_mutex	keys.c: the list of all generations.  Sleeps.
 *   keys.mutex		context.c: makes and drops contexts.  Sleeps.
 *   park_lock		keys.c: parked requests.  BH.
 *   refresh_lock	session.c: working out what a session may use.  BH.
 *   queue.lock		queue.c: what is in a device and what waits for it.  BH.
 *   session.order_lock	deliver.c: a session's requests in order.  BH.
 *   line.lock		request.c: an owner's requests that workers do.  BH.
 *   workers.lock	workers.c: the same of a process and its threads.  BH.
 *
 * The last seven are never held together, and none while a driver or a
 * callback is called, but for ocf_device_ops.capable() under refresh_lock.
 *
 * To disable BH keeps a task on its CPU and excludes completions there.  On
 * PREEMPT_RT it excludes no other task, so it protects no data of a CPU.
 *
 * A request that is not in flight belongs to its consumer, who may not touch
 * it from two places.  In flight it is moved from list to list under the lock
 * of the list; its state says on which it is.
 *
 * Devices, keys and contexts are found without a lock, between ocf_read_lock()
 * and ocf_read_unlock().  Nothing there takes long and nothing takes the CPU
 * away, so that no task's priority says how long others wait.  To keep what was
 * found a reader counts himself in: a generation and a context for which that
 * fails are about to go, and there may be another.  The CPU works on a request
 * outside, with such a count of the context; the memory lasts until nobody can
 * be inside who saw it.
 *
 * A request inside a device is not a reader: it is on the queue's list of
 * requests in flight, and a device goes when that is empty.
 */
#ifndef OCF_CORE_H
#define OCF_CORE_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/llist.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/ocf.h>
#include <linux/ocf_driver.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
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
 * @OCF_DEVICE_SUSPECT: missed a deadline, failed, or gave a wrong answer: what
 *	was in it is replayed elsewhere; gets known answers only
 * @OCF_DEVICE_DRAINING: takes nothing new; what is in it comes back
 * @OCF_DEVICE_DEAD: gone
 *
 * Legal: testing -> ready <-> suspect; ready or suspect -> draining -> dead;
 * testing -> dead.  Changed by ocf_device_set_state() in device.c alone.
 * Whether it is full, or the administrator keeps it out, is another matter:
 * see struct ocf_queue and @ocf_device.drained.
 */
enum ocf_device_state {
	OCF_DEVICE_TESTING,
	OCF_DEVICE_READY,
	OCF_DEVICE_SUSPECT,
	OCF_DEVICE_DRAINING,
	OCF_DEVICE_DEAD,
};

#define OCF_FLOWS		32	/* owners that are told apart: flow.c */

/**
 * struct ocf_flow - an owner's work in front of a device and inside it
 * @waiting: requests the device will get, oldest first
 * @count: of @waiting
 * @inside: ns of work inside the device, as estimated
 * @start: virtual time at which its next request begins, see fair.c
 */
struct ocf_flow {
	struct list_head	waiting;
	unsigned int		count;
	u64			inside;
	u64			start;
};

/**
 * struct ocf_fair - all flows of a device
 * @flow: by ocf_session.flow
 * @backlogged: flows with requests that wait, a bit each
 * @waiting: ns of work of those, as estimated
 * @now: virtual time: the start of the request let in last
 * @latest: flow of the request that came last
 * @came: jiffies, when that was
 * @shared: jiffies, when two requests soon after one another were of two flows
 */
struct ocf_fair {
	struct ocf_flow		flow[OCF_FLOWS];
	unsigned long		backlogged;
	u64			waiting;
	u64			now;
	unsigned int		latest;
	unsigned long		came;
	unsigned long		shared;
};

/**
 * struct ocf_queue - what is inside a hardware device and what waits for it
 * @lock: protects all of it
 * @inflight: requests the driver has
 * @fair: requests it will get
 * @count: of @inflight
 * @backlog: of @fair
 * @full: the driver said so, and has not said otherwise since: requests wait
 *	or go elsewhere
 * @full_since: ns, when it said so
 * @closed: nothing enters, whosever it is
 * @unblocks: calls of ocf_device_unblock(), free-running
 * @last_done: ns, when the latest completion came that @woken is not of
 * @woken: the latest completion only showed that the device had slept
 * @turn: says whose completion corrects a cost
 * @pumping: somebody is handing @fair over
 * @pump: does so if it is too much for who has his own to do
 * @feed: does so when it has all but nothing to do
 * @feeds: ns, when @feed will; U64_MAX if it will not
 * @feed_late: ns that it is late, or less, as a rule
 * @handing: requests that have entered and that submit() has not returned from
 * @patience: ns a request may be overdue
 * @watched: @watch is armed
 * @late: a request was overdue when @watch looked last
 * @watch: looks for requests that are overdue
 */
struct ocf_queue {
	spinlock_t		lock;
	struct list_head	inflight;
	struct ocf_fair		fair;
	unsigned int		count;
	unsigned int		backlog;
	bool			full;
	u64			full_since;
	bool			closed;
	unsigned int		unblocks;
	u64			last_done;
	bool			woken;
	u32			turn;
	bool			pumping;
	struct work_struct	pump;
	struct hrtimer		feed;
	u64			feeds;
	u32			feed_late;
	atomic_t		handing;
	u64			patience;
	bool			watched;
	bool			late;
	struct timer_list	watch;
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
 * @lag: ns from the end of its work on a request to the completion
 * @noise: ns by which that work differs from what is expected, on average
 * @queue: for hardware
 * @counters: per CPU
 * @spurious: completions of requests that were complete
 * @blocks: times it said that it is full
 * @replays: requests that were taken back and placed anew
 * @contexts_lock: of @contexts; taken last
 * @contexts: those that requests find, unless it is the CPU
 * @room: held while one makes room for a context of his own
 * @waiting: generations that want room for a context; keys.c
 * @room_work: makes it for one after the other
 * @going: contexts to be freed
 * @ngoing: how many, with the one that the driver is about
 * @going_work: frees them; holds the device
 * @evictions: contexts that went to make room for others
 * @crowded: jiffies until which it is not asked for a context, having no room
 * @failures: requests it has failed in a row
 * @care: rescues what is in a device that fails, and asks it again
 * @failed: how it failed, a negative errno: -ETIMEDOUT, -EIO, -EBADMSG
 * @rescued: what was in it when it failed is not any more; by @care
 * @stopped: quiesce() was called, and reset() was not since; by @care
 * @needy: its driver has said that only a reset helps
 * @tries: times it was asked again without success, in a row; by @care
 * @asked: operations it had done when it was last asked; by @care
 * @doubted: bit 0: it is to be asked soon
 * @checked: jiffies, when it was asked last
 * @drained: the administrator wants it to have no requests
 * @weight: per cent of what it costs that is believed: at 200 it gets less to
 *	do than its speed deserves
 * @forbidden: algorithms the administrator does not want done on it, a bit each
 * @pk: its part in public-key operations, see pk.h, or NULL
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
	u32			lag;
	u32			noise;
	struct ocf_queue	queue;
	struct ocf_counters __percpu *counters;
	atomic64_t		spurious;
	atomic64_t		blocks;
	atomic64_t		replays;
	struct mutex		contexts_lock;
	struct list_head	contexts;
	struct mutex		room;
	struct llist_head	waiting;
	struct work_struct	room_work;
	struct llist_head	going;
	atomic_t		ngoing;
	struct work_struct	going_work;
	atomic64_t		evictions;
	unsigned long		crowded;
	atomic_t		failures;
	struct delayed_work	care;
	int			failed;
	bool			rescued;
	bool			stopped;
	bool			needy;
	unsigned int		tries;
	u64			asked;
	unsigned long		doubted;
	unsigned long		checked;
	bool			drained;
	u32			weight;
	u64			forbidden;
	struct ocf_pk_unit	*pk;
};

#define OCF_WEIGHT_MAX	10000	/* per cent */

/**
 * struct ocf_keys - one generation of a session's keys, and its contexts
 * @refs: the session's while it is current, one for each request in flight
 *	and for the work; with the last its contexts and parts go
 * @holds: one for @refs, one for each context: what @params are needed for
 * @params: constant; its key pointers lead into @secret
 * @mutex: held while a context is made or dropped; protects @present
 * @present: devices that have a context, a bit each
 * @ctx: by device number; read between ocf_read_lock() and _unlock()
 * @part: of the cipher and of the MAC, for requests that are split, or NULL
 * @wanted: devices whose context somebody missed, a bit each, atomic
 * @waits: those of them where it waits for its turn to make room, likewise
 * @full: those that had no room when they were asked last, likewise
 * @failed: those that failed at it when they were asked last, likewise
 * @refused: devices that will not have them, a bit each; written under @mutex
 * @parked: requests waiting for a context, under park_lock
 * @work: makes contexts; frees the generation where one must not sleep
 * @node: in the list of generations
 * @left: the session that has others now, or NULL
 * @memcg: the control group that contexts are charged to, or NULL
 * @rcu: frees the memory when nobody can be reading it any more
 * @secret: cipher key, MAC key
 */
struct ocf_keys {
	refcount_t			refs;
	refcount_t			holds;
	struct ocf_session_params	params;
	struct mutex			mutex;
	unsigned long			present;
	struct ocf_context __rcu	*ctx[OCF_DEVICES_MAX];
	struct ocf_keys			*part[2];
	unsigned long			wanted;
	unsigned long			waits;
	unsigned long			full;
	unsigned long			failed;
	unsigned long			refused;
	struct list_head		parked;
	struct work_struct		work;
	struct list_head		node;
	struct ocf_session		*left;
	struct mem_cgroup		*memcg;
	struct rcu_head			rcu;
	u8				secret[];
};

static_assert(OCF_DEVICES_MAX <= BITS_PER_LONG, "a set of devices is one word");

/**
 * struct ocf_session - what a consumer holds
 * @refs: consumers' and one for each request in flight
 * @params: as created, defaults filled in, without keys
 * @block: bytes the data's length must be a multiple of
 * @keys: the current generation; replaced under @rekey, read between
 *	ocf_read_lock() and _unlock()
 * @rekey: serialises changes of @keys
 * @leaving: earlier generations that are still there
 * @capable: devices capable of it, a bit each, as of @seen
 * @soft: the software device of least cost among them, or -1
 * @splits: a card is capable of a part of it
 * @no_card: @soft is the only one, and it does not split
 * @small: bytes up to which @soft was found to be better than any idle card,
 *	by direction
 * @spared: requests of that size that need no more comparing
 * @seen: the registry's generation that @capable was worked out for
 * @flow: of its owner: ocf_flow_get()
 * @part: sessions of the cipher and of the MAC, without keys, or NULL; under
 *	@rekey
 * @split_work: makes them
 * @testing: the device whose known answers it is for: uses that device only,
 *	whatever its state and the policy
 * @order_lock: protects @order, @ordered and @delivering
 * @order: requests in submission order (OCF_SESSION_ORDERED)
 * @ordered: requests that were in @order and whose callbacks have not returned;
 *	written under @order_lock
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
	atomic_t			leaving;
	u64				capable;
	int				soft;
	bool				splits;
	bool				no_card;
	u32				small[OCF_OP_COUNT];
	u32				spared;
	u32				seen;
	unsigned int			flow;
	struct ocf_session		*part[2];
	struct work_struct		split_work;
	struct ocf_device		*testing;
	spinlock_t			order_lock;
	struct list_head		order;
	unsigned int			ordered;
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
/* BIT(7) is OCF_BIT_OPENED, in <linux/ocf_driver.h> */
#define OCF_BIT_HANDED		BIT(8)	/* to a worker, who has not begun */
#define OCF_BIT_RETURNED	BIT(9)	/* the waiter is to place it again */

/* ocf_request.where; changed under the lock of the list it names */
enum {
	OCF_AT_START,		/* on no list */
	OCF_AT_PARKED,		/* on keys->parked */
	OCF_AT_QUEUE,		/* in dev->queue.fair */
	OCF_AT_DEVICE,		/* on dev->queue.inflight */
	OCF_AT_RESCUE,		/* being taken back from the device */
	OCF_AT_ANSWERED,	/* ... which has completed it meanwhile */
};

static inline unsigned int ocf_hist_bucket(u64 ns)
{
	return ns ? min(ilog2(ns), OCF_HIST_BUCKETS - 1) : 0;
}

/*
 * Around whatever looks for devices, keys and contexts: some microseconds at
 * most.  With PREEMPT_RT, where the queues' locks may sleep, RCU lends a reader
 * its priority instead.
 */
static __always_inline void ocf_read_lock(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_lock();
	else
		rcu_read_lock_sched();
}

static __always_inline void ocf_read_unlock(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_unlock();
	else
		rcu_read_unlock_sched();
}

#define ocf_dereference(p) \
	rcu_dereference_check(p, rcu_read_lock_sched_held())

/* main.c */
/*
 * For requests; for handing over what waits for cards; for frees, which wait
 * for cards.
 */
extern struct workqueue_struct *ocf_wq, *ocf_pump_wq, *ocf_free_wq;

/* account.c */
void ocf_accounts_init(void);
void ocf_account_hold(struct ocf_account *account);

/* session.c */
struct ocf_session *ocf_session_make(const struct ocf_session_params *p,
				     struct ocf_device *testing, gfp_t gfp);
struct ocf_session *ocf_session_create_on(const struct ocf_session_params *p,
					  struct ocf_device *testing,
					  gfp_t gfp);
void ocf_session_refresh(struct ocf_session *ses);
void ocf_sessions_show(struct seq_file *m);

/* keys.c */
int ocf_keys_init(void);
void ocf_keys_exit(void);
extern struct list_head ocf_generations;
extern struct mutex ocf_generations_mutex;
struct ocf_keys *ocf_keys_create(const struct ocf_session_params *p, gfp_t gfp);
void ocf_keys_put(struct ocf_keys *keys);
void ocf_keys_put_deferred(struct ocf_keys *keys);
void ocf_keys_init_room(struct ocf_device *dev);
void ocf_keys_want(struct ocf_keys *keys, int number);
int ocf_keys_park(struct ocf_keys *keys, struct ocf_request *req);
bool ocf_keys_unpark(struct ocf_request *req);

void ocf_keys_release(struct ocf_keys *keys);

static inline void ocf_keys_get(struct ocf_keys *keys)
{
	refcount_inc(&keys->refs);
}

/* Of one that was only found; false if it is about to go. */
static inline bool ocf_keys_try_get(struct ocf_keys *keys)
{
	return refcount_inc_not_zero(&keys->refs);
}

/* context.c */
#define OCF_CONTEXT_TESTING	BIT(0)
#define OCF_CONTEXT_URGENT	BIT(1)
#define OCF_CONTEXT_AT_ONCE	BIT(2)
int ocf_context_make(struct ocf_keys *keys, struct ocf_device *dev, u32 flags);
void ocf_contexts_init(struct ocf_device *dev);
void ocf_context_put(struct ocf_context *ctx);
void ocf_context_unlist(struct ocf_context *ctx);
void ocf_context_free_later(struct ocf_context *ctx);
void ocf_contexts_drop(struct ocf_device *dev);

/* Of one that was only found; false if it is about to go. */
static inline bool ocf_context_try_get(struct ocf_context *ctx)
{
	return refcount_inc_not_zero(&ctx->refs);
}

/* Context: process or BH. */
static inline void ocf_context_put_deferred(struct ocf_context *ctx)
{
	if (unlikely(refcount_dec_and_test(&ctx->refs)))
		ocf_context_free_later(ctx);
}

/* request.c */
void ocf_requests_init(void);
void ocf_request_complete(struct ocf_request *req, int err, bool inside_submit);
void ocf_request_restart(struct ocf_request *req);
void ocf_request_restart_later(struct ocf_request *req);
void ocf_requests_restart(struct list_head *list);
void ocf_requests_replay(struct list_head *list, struct ocf_device *dev);

/* workers.c */
bool ocf_workers_ready(struct ocf_workers *w);
atomic_long_t *ocf_workers_load(struct ocf_workers *w);
bool ocf_workers_queue(struct ocf_workers *w, struct work_struct *work);

/* place.c */
int ocf_place(struct ocf_request *req);
int ocf_place_again(struct ocf_request *req);
void ocf_place_taken(struct ocf_request *req);
int ocf_place_preferred(struct ocf_session *ses);
u64 ocf_place_score(struct ocf_session *ses, struct ocf_keys *keys,
		    enum ocf_op op, u32 bytes);

/* crossover.c */
void ocf_crossover_woken(u64 ns);
u32 ocf_crossover(struct ocf_session *ses, bool many);

/* split.c */
struct ocf_session_params
ocf_split_params(const struct ocf_session_params *whole, int part);
void ocf_split_init(struct ocf_session *ses);
int ocf_split_make(struct ocf_session *ses, struct ocf_keys *keys);
bool ocf_split_wins(struct ocf_request *req, struct ocf_keys *keys, u64 score);
int ocf_split_start(struct ocf_request *req);
bool ocf_split_next(struct ocf_request *req, int *err);

/* flow.c */
unsigned int ocf_flow_get(u32 owner);
void ocf_flow_put(unsigned int flow);

/* fair.c */
void ocf_fair_init(struct ocf_fair *fair);
void ocf_fair_wait(struct ocf_fair *fair, struct ocf_request *req, bool first);
void ocf_fair_unwait(struct ocf_fair *fair, struct ocf_request *req);
struct ocf_request *ocf_fair_next(struct ocf_fair *fair);
bool ocf_fair_precedes(struct ocf_fair *fair, unsigned int flow);
void ocf_fair_empty(struct ocf_fair *fair, struct list_head *orphans);

/* queue.c */
void ocf_queue_init(struct ocf_device *dev);
int ocf_queue_submit(struct ocf_device *dev, struct ocf_request *req);
int ocf_queue_leave(struct ocf_device *dev, struct ocf_request *req, int err);
bool ocf_queue_cancel(struct ocf_device *dev, struct ocf_request *req);
bool ocf_queue_uses(struct ocf_device *dev, const struct ocf_context *ctx);
void ocf_queue_let_in(struct ocf_device *dev);
void ocf_queue_kick(struct ocf_device *dev);
void ocf_queue_open(struct ocf_device *dev);
void ocf_queue_close(struct ocf_device *dev);
void ocf_queue_end(struct ocf_device *dev);
struct ocf_request *ocf_queue_rescue(struct ocf_device *dev);
bool ocf_queue_rescued(struct ocf_device *dev, struct ocf_request *req,
		       bool detached, struct list_head *orphans);
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

/* A request may take this many times what it was expected to. */
#define OCF_LENIENCE	8

/* ns of work inside @dev; may be off, also below 0, without the queue's lock */
static inline s64 ocf_queue_inside(const struct ocf_device *dev)
{
	return atomic_long_read(&dev->load) - dev->queue.fair.waiting;
}

/*
 * Whether the queue's watch finds out that an answer of @dev is late.  Then the
 * known-answer test needs no limit of its own, which would depend on how many
 * requests of users are before the question.
 */
static inline bool ocf_device_is_watched(const struct ocf_device *dev)
{
	return READ_ONCE(dev->state) == OCF_DEVICE_READY;
}

/* jiffies that @dev has for a known answer, or until it is looked at again */
static inline unsigned long ocf_kat_patience(const struct ocf_device *dev)
{
	if (ocf_device_is_watched(dev))
		return max(HZ / 10, 1);
	return 5 * HZ + msecs_to_jiffies(dev->info.patience);
}

/* buffer.c */
bool ocf_buffer_same(struct scatterlist *a, struct scatterlist *b, u32 start,
		     u32 len);
void ocf_buffer_deny(struct ocf_request *req);

/* deliver.c */
int ocf_deliver_init(void);
void ocf_deliver_exit(void);
void ocf_request_end(struct ocf_request *req, int err, bool inside_submit);
bool ocf_request_end_here(struct ocf_request *req);
void ocf_order_enter(struct ocf_request *req);
void ocf_order_leave(struct ocf_request *req);
void ocf_order_init(struct ocf_session *ses);

/* device.c */
extern struct ocf_device __rcu *ocf_devices[OCF_DEVICES_MAX];
extern atomic_t ocf_registry_changes;
void ocf_registry_changed(void);
u64 ocf_registry_present(void);
struct ocf_device *ocf_device_find(int number);
void ocf_device_get(struct ocf_device *dev);
void ocf_device_put(struct ocf_device *dev);
bool ocf_device_exists(int number);
bool ocf_device_capable(struct ocf_device *dev,
			const struct ocf_session_params *p);
bool ocf_device_wanted(struct ocf_device *dev,
		       const struct ocf_session_params *p);
bool ocf_device_set_state(struct ocf_device *dev, enum ocf_device_state from,
			  enum ocf_device_state to);
void ocf_device_learn(struct ocf_device *dev,
		      const struct ocf_session_params *p, enum ocf_op op,
		      u32 bytes, const struct ocf_sample *sample);
void ocf_device_sum(const struct ocf_device *dev, struct ocf_counters *sum);

/* ns of work a request of @bytes would be */
static inline u64 ocf_device_ns(struct ocf_device *dev,
				const struct ocf_session_params *p,
				enum ocf_op op, u32 bytes)
{
	u64 ns = ocf_cost_ns(&dev->cost[p->cipher ?: p->mac][op], bytes);

	if (p->cipher && p->mac)
		ns += ocf_cost_ns(&dev->cost[p->mac][op], bytes);
	return ns;
}

/*
 * The same as the administrator weighs it, hundredths.  That is for comparing:
 * what a device has to do, and when it should be done, is in ns of its time.
 */
static inline u64 ocf_weigh(u64 ns, u32 weight)
{
	return unlikely(weight != 100) ? div_u64(ns * weight, 100) : ns;
}

static inline u64 ocf_unweigh(u64 ns, u32 weight)
{
	return unlikely(weight != 100) ? div_u64(ns * 100, weight) : ns;
}

static inline u64 ocf_device_cost(struct ocf_device *dev,
				  const struct ocf_session_params *p,
				  enum ocf_op op, u32 bytes)
{
	return ocf_weigh(ocf_device_ns(dev, p, op, bytes),
			 READ_ONCE(dev->weight));
}

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
	/* before the registry: pairs with ocf_registry_changed() */
	return atomic_read_acquire(&ocf_registry_changes);
}

/* Whether @ses->capable and what goes with it are as of now. */
static inline bool ocf_session_is_current(const struct ocf_session *ses)
{
	/* before what it is about: pairs with ocf_session_refresh() */
	return smp_load_acquire(&ses->seen) == ocf_registry_generation();
}

/* The device in that place, or NULL.  Context: after ocf_read_lock(). */
static inline struct ocf_device *ocf_device_at(int number)
{
	return ocf_dereference(ocf_devices[number]);
}

/* Whether contexts may be made on it: false once it is going. */
static inline bool ocf_device_usable(const struct ocf_device *dev)
{
	return READ_ONCE(dev->state) < OCF_DEVICE_DRAINING;
}

/* Whether @p is of two algorithms, which two devices could share. */
static inline bool ocf_mode_splits(const struct ocf_session_params *p)
{
	return p->cipher && p->mac && p->device == OCF_DEVICE_ANY;
}

/* Whether it works for @ses, which is about it perhaps. */
static inline bool ocf_device_serves(const struct ocf_device *dev,
				     const struct ocf_session *ses)
{
	return (READ_ONCE(dev->state) == OCF_DEVICE_READY &&
		!READ_ONCE(dev->drained)) || ses->testing == dev;
}

/* random.c */
int ocf_random_init(void);
void ocf_random_exit(void);

/* What did not work is tried after a second, two, four, and up to a minute. */
static inline unsigned long ocf_try_after(unsigned int tries)
{
	return min(HZ << min(tries, 10u), 60 * HZ);
}

/* care.c */
int ocf_care_init(void);
void ocf_care_exit(void);
void ocf_care_make(struct ocf_device *dev);
void ocf_care_start(struct ocf_device *dev);
void ocf_care_end(struct ocf_device *dev);
void ocf_device_failed(struct ocf_device *dev, int err);
void ocf_device_doubt(struct ocf_device *dev);
void ocf_device_rescue(struct ocf_device *dev);
void ocf_device_drain(struct ocf_device *dev);
void ocf_device_resume(struct ocf_device *dev);

/* fips.c */
void ocf_fips_tell(void);
void ocf_fips_limit(struct ocf_device *dev);
int ocf_fips_check_keys(const struct ocf_session_params *p);

/* kat.c */
int ocf_kat_device(struct ocf_device *dev);
int ocf_kat_again(struct ocf_device *dev);

/*
 * Whether the device was not asked: memory was short, ours or its own, too many
 * wait for it, or it is not to be used for that now.  That says nothing of it.
 */
static inline bool ocf_kat_unasked(int err)
{
	return err == -ENOSPC || err == -ENOMEM || err == -EBUSY ||
	       err == -ENODEV;
}

/* sysfs.c */
extern const struct class ocf_class;
const char *ocf_device_condition(const struct ocf_device *dev);
void ocf_tell(struct device *d, enum kobject_action action, const char *state);

/* debug.c */
void ocf_debug_init(void);
void ocf_debug_exit(void);

#endif /* OCF_CORE_H */
