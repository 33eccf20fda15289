/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devices: the table of them, their states, counters and costs.
 */
#ifndef OCF_REGISTRY_H
#define OCF_REGISTRY_H

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/llist.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/ocf_driver.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "estimate.h"
#include "queues.h"

#define OCF_HIST_BUCKETS	32	/* one for each power of two, ns */

/**
 * enum ocf_job_kind - what a device counts separately
 * @OCF_JOB_SYMMETRIC: requests of sessions
 * @OCF_JOB_PUBLIC_KEY: public-key requests
 * @OCF_JOB_KINDS: number of kinds
 */
enum ocf_job_kind {
	OCF_JOB_SYMMETRIC,
	OCF_JOB_PUBLIC_KEY,
	OCF_JOB_KINDS,
};

/**
 * struct ocf_counters - a device's counters of one kind, without self-tests
 * @ops: requests completed, with or without success
 * @bytes: of requests that succeeded; of public-key requests 0
 * @errors: requests that ended with an error
 * @replays: requests that were taken out and started on other devices
 * @hist: latencies; bucket n counts [2^n, 2^(n+1)) ns.  One software request in
 *	OCF_SAMPLE is timed, because reading the clock twice would cost as much
 *	as all the rest
 */
struct ocf_counters {
	u64	ops;
	u64	bytes;
	u64	errors;
	u64	replays;
	u64	hist[OCF_HIST_BUCKETS];
};

#define OCF_SAMPLE		16	/* a power of two */

/* In ocf_device.failures: a self-test runs whose requests are not counted */
#define OCF_SELFTEST_RUNS	BIT(16)

static inline unsigned int ocf_hist_bucket(u64 ns)
{
	return ns ? min(ilog2(ns), OCF_HIST_BUCKETS - 1) : 0;
}

/**
 * enum ocf_device_state - the life of a device
 * @OCF_DEVICE_TESTING: runs its self-test, and gets no other request
 * @OCF_DEVICE_READY: takes requests
 * @OCF_DEVICE_SUSPECT: missed a deadline, failed, or gave a wrong answer.  Its
 *	requests are replayed elsewhere, and it only gets self-tests
 * @OCF_DEVICE_DRAINING: takes no new requests; those inside end
 * @OCF_DEVICE_DEAD: gone
 *
 * Legal: testing -> ready <-> suspect; ready or suspect -> draining -> dead;
 * testing -> dead.  Only set_state() in registry.c changes a state.  A
 * state does not say whether the device is full, or drained by the
 * administrator: see struct ocf_queue and @ocf_device.drained.
 */
enum ocf_device_state {
	OCF_DEVICE_TESTING,
	OCF_DEVICE_READY,
	OCF_DEVICE_SUSPECT,
	OCF_DEVICE_DRAINING,
	OCF_DEVICE_DEAD,
};

/**
 * struct ocf_device - one card, or the CPU
 * @info: as registered; @info.algs is reduced to what the self-test has shown
 * @dev: in class "ocf"
 * @debug: its folder in debugfs
 * @number: 0 to OCF_DEVICES_MAX - 1, its place in the table
 * @name: with its number among the devices of its driver
 * @state: see enum ocf_device_state
 * @holds: references: one of the registry, one of each context, and those of
 *	tasks that use the device
 * @load: ns of work inside and waiting, as estimated
 * @cost: by algorithm and direction, corrected from completions
 * @lag: ns from the end of the device's work on a request to the completion
 * @noise: ns, the mean deviation of that work from the estimate
 * @queue: for hardware
 * @counters: per CPU, an array by enum ocf_job_kind
 * @spurious: completions of requests that were complete
 * @blocks: how often it reported that it is full
 * @contexts_lock: protects @contexts against writers; taken last
 * @contexts: contexts that requests find, read under RCU; not of the CPU
 * @room: held while a context is made or evicted; not of the CPU
 * @making: tasks that make or evict a context
 * @waiting: generations of keys that wait for a context on this card; see
 *	session/keys.c
 * @room_work: makes the contexts, one after the other
 * @going: contexts to be freed
 * @ngoing: number of those, with the one that the driver is freeing
 * @going_work: frees them; holds the device
 * @evictions: contexts that were evicted for others
 * @crowded: jiffies until which no context is made, because there was no
 *	capacity
 * @failures: requests that failed in a row, and OCF_SELFTEST_RUNS
 * @recovery: empties a device that fails, and tests it
 * @failed: how it failed, a negative errno: -ETIMEDOUT, -EIO, -EBADMSG
 * @reclaimed: the requests that it had when it failed were taken out; only
 *	@recovery uses this
 * @stopped: quiesce() was called, and reset() has not been since; by @recovery
 * @needs_reset: its driver has said that only a reset helps
 * @attempts: failed attempts in a row to reset and test it; by @recovery
 * @tested_ops: its number of operations at the last test; only @recovery uses
 *	it
 * @retest: bit 0: a test is requested
 * @tested_at: jiffies of the last test
 * @drained: the administrator lets it have no requests
 * @weight: per cent by which its cost is multiplied: at 200 it gets less work
 *	than its speed deserves
 * @forbidden: algorithms that the administrator has forbidden on it, a bit each
 * @pk: its state for public-key operations, see pk.h, or NULL
 */
struct ocf_device {
	struct ocf_device_info	info;
	struct device		dev;
	struct dentry		*debug;
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
	spinlock_t		contexts_lock;
	struct list_head	contexts;
	struct mutex		room;
	atomic_t		making;
	struct llist_head	waiting;
	struct work_struct	room_work;
	struct llist_head	going;
	atomic_t		ngoing;
	struct work_struct	going_work;
	atomic64_t		evictions;
	unsigned long		crowded;
	atomic_t		failures;
	struct delayed_work	recovery;
	int			failed;
	bool			reclaimed;
	bool			stopped;
	bool			needs_reset;
	unsigned int		attempts;
	u64			tested_ops;
	unsigned long		retest;
	unsigned long		tested_at;
	bool			drained;
	u32			weight;
	u64			forbidden;
	struct ocf_pk_unit	*pk;
};

#define OCF_WEIGHT_MAX	10000	/* per cent */

/* registry.c */
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
void ocf_device_sum(const struct ocf_device *dev, enum ocf_job_kind kind,
		    struct ocf_counters *sum);
int ocf_registry_add(struct ocf_device *dev);
void ocf_registry_withdraw(struct ocf_device *dev);
void ocf_registry_release(struct ocf_device *dev);

/* failure.c */
extern struct workqueue_struct *ocf_recovery_wq;
void ocf_device_failed(struct ocf_device *dev, int err);
void ocf_device_retest(struct ocf_device *dev);

/* The estimate of a request of @bytes, in ns */
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
 * @ns, multiplied by the administrator's weight in per cent.  It is used to
 * compare devices only: loads and deadlines are in ns of the device's time.
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
static inline void ocf_device_count(struct ocf_device *dev,
				    enum ocf_job_kind kind, u32 bytes, int err)
{
	this_cpu_inc(dev->counters[kind].ops);
	if (likely(!err))
		this_cpu_add(dev->counters[kind].bytes, bytes);
	else
		this_cpu_inc(dev->counters[kind].errors);
}

/* Counts a request that was taken out, and is started on another device. */
static inline void ocf_device_count_replay(struct ocf_device *dev,
					   enum ocf_job_kind kind)
{
	this_cpu_inc(dev->counters[kind].replays);
}

/* Counts how long a request was inside the device, in ns. */
static inline void ocf_device_time(struct ocf_device *dev,
				   enum ocf_job_kind kind, u64 ns)
{
	this_cpu_inc(dev->counters[kind].hist[ocf_hist_bucket(ns)]);
}

/*
 * Counts changes of the registry: a result that was computed before a change is
 * out of date.
 */
static inline u32 ocf_registry_generation(void)
{
	/* before the registry: pairs with ocf_registry_changed() */
	return atomic_read_acquire(&ocf_registry_changes);
}

/* The device at that place, or NULL. Context: after ocf_read_lock(). */
static inline struct ocf_device *ocf_device_at(int number)
{
	return ocf_dereference(ocf_devices[number]);
}

/* Whether contexts may be made on it; false once it is being removed. */
static inline bool ocf_device_usable(const struct ocf_device *dev)
{
	return READ_ONCE(dev->state) < OCF_DEVICE_DRAINING;
}

/*
 * Whether the queue's watchdog finds out that @dev is late.  Then a self-test
 * needs no time limit of its own, which would depend on the number of users'
 * requests in front of it.
 */
static inline bool ocf_device_is_watched(const struct ocf_device *dev)
{
	return READ_ONCE(dev->state) == OCF_DEVICE_READY;
}

/* jiffies that a self-test waits for its request before it looks again */
static inline unsigned long ocf_selftest_timeout(const struct ocf_device *dev)
{
	if (ocf_device_is_watched(dev))
		return max(HZ / 10, 1);
	return 5 * HZ + msecs_to_jiffies(dev->info.patience);
}

#endif /* OCF_REGISTRY_H */
