/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions, generations of keys, contexts on devices, accounts of users'
 * memory, and FIPS mode.
 */
#ifndef OCF_SESSION_H
#define OCF_SESSION_H

#include <linux/mutex.h>
#include <linux/ocf.h>
#include <linux/ocf_user.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "../registry/registry.h"
#include "alg.h"
#include "params.h"

/* Indices of ocf_keys.part and ocf_session.part */
enum { OCF_PART_CIPHER, OCF_PART_MAC, OCF_PARTS };

/**
 * struct ocf_keys - one generation of a session's keys, and its contexts
 * @refs: one of the session while the generation is current, one of each
 *	request in flight, one of @work; the last frees contexts and parts
 * @holds: references to the memory: one for all @refs, and one of each context,
 *	because contexts read @params
 * @params: constant; its key pointers lead into @secret
 * @lock: protects @present, and that it agrees with @ctx
 * @present: devices that have a context, a bit each
 * @ctx: by device number; read between ocf_read_lock() and _unlock()
 * @part: of the cipher and of the MAC, for requests that are split, or NULL
 * @wanted: devices on which a request missed a context, a bit each, atomic
 * @waits: cards whose worker has yet to make a context, a bit each, atomic
 * @full: devices that had no capacity the last time, a bit each, atomic
 * @failed: devices that last failed to make a context, a bit each, atomic
 * @refused: devices that refuse these keys, a bit each; written under @lock
 * @parked: requests waiting for a context, under park_lock
 * @work: makes contexts; frees the generation where one must not sleep
 * @node: in the list of generations
 * @left: the session, once it has replaced these keys; or NULL
 * @memcg: the control group that contexts are charged to, or NULL
 * @rcu: frees the memory after a grace period
 * @secret: cipher key, MAC key
 */
struct ocf_keys {
	refcount_t			refs;
	refcount_t			holds;
	struct ocf_session_params	params;
	spinlock_t			lock;
	unsigned long			present;
	struct ocf_context __rcu	*ctx[OCF_DEVICES_MAX];
	struct ocf_keys			*part[OCF_PARTS];
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
 * @leaving: replaced generations that still exist
 * @capable: devices capable of the session, a bit each, as of @seen
 * @soft: the software device of least cost among them, or -1
 * @splits: a card is capable of one of its two steps
 * @no_card: only @soft is capable of the session, and @splits is false
 * @crossover: bytes up to which @soft was found to beat any idle card, by
 *	direction
 * @uncompared: how many more requests of at most @crossover bytes go to @soft
 *	without a comparison
 * @seen: generation of the registry for which @capable is valid
 * @flow: of its owner: ocf_flow_get()
 * @part: sessions of the cipher and of the MAC, without keys, or NULL; under
 *	@rekey
 * @split_work: makes @part
 * @testing: the device that it tests, or NULL; only this device is used,
 *	whatever its state and the policy
 * @order_lock: protects @order, @ordered and @delivering
 * @order: requests in submission order (OCF_SESSION_ORDERED)
 * @ordered: requests that were in @order and whose callbacks have not returned;
 *	written under @order_lock
 * @delivering: a task is delivering from @order
 * @order_work: delivers from @order where the submitter must not
 * @ops: requests completed
 * @bytes: of the successful ones
 * @errors: requests that ended with an error
 * @hist: as in struct ocf_counters; not atomic, so a count may be lost
 * @node: in the list of sessions
 * @work: ends the session: ocf_session_release()
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
	u32				crossover[OCF_OP_COUNT];
	u32				uncompared;
	u32				seen;
	unsigned int			flow;
	struct ocf_session		*part[OCF_PARTS];
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

/**
 * struct ocf_request_ops - functions of request/ that the folders below it call
 * @restart: makes the submitter or a worker start an accepted request again
 * @end: returns a request to its consumer, with its result
 * @complete: ends the work of a card on a request
 * @deliver: the function of ocf_session.order_work, which delivers the results
 *	of an ordered session
 *
 * request.h has the functions.  All may be called from process or BH.
 */
struct ocf_request_ops {
	void (*restart)(struct ocf_request *req);
	void (*end)(struct ocf_request *req, int err, bool inside_submit);
	void (*complete)(struct ocf_request *req, int err, bool inside_submit);
	work_func_t deliver;
};

extern const struct ocf_request_ops *ocf_request_ops;	/* main.c */

/* account.c */
void ocf_accounts_init(void);
void ocf_account_hold(struct ocf_account *account);

/* flow.c */
unsigned int ocf_flow_get(u32 owner);
void ocf_flow_put(unsigned int flow);

/* session.c */
struct ocf_session *ocf_session_make(const struct ocf_session_params *p,
				     struct ocf_device *testing, gfp_t gfp);
struct ocf_session *ocf_session_create_on(const struct ocf_session_params *p,
					  struct ocf_device *testing,
					  gfp_t gfp);
void ocf_session_refresh(struct ocf_session *ses);
void ocf_sessions_show(struct seq_file *m);

/* Puts a reference; the last one leaves the rest to a worker. */
static inline void ocf_session_release(struct ocf_session *ses)
{
	if (refcount_dec_and_test(&ses->refs))
		queue_work(ocf_free_wq, &ses->work);
}

/* parts.c */
struct ocf_session_params
ocf_part_params(const struct ocf_session_params *whole, int part);
void ocf_parts_init(struct ocf_session *ses);
int ocf_parts_make(struct ocf_session *ses, struct ocf_keys *keys);
void ocf_parts_want(struct ocf_session *ses);

/* The second part is made last: if it is there, both are. */
static inline bool ocf_keys_have_parts(const struct ocf_keys *keys)
{
	/* pairs with make_part() */
	return smp_load_acquire(&keys->part[OCF_PART_MAC]);
}

/* keys.c */
int ocf_keys_init(void);
void ocf_keys_exit(void);
extern struct list_head ocf_generations;
extern spinlock_t ocf_generations_lock;
struct ocf_keys *ocf_keys_create(const struct ocf_session_params *p, gfp_t gfp);
void ocf_keys_put(struct ocf_keys *keys);
void ocf_keys_put_deferred(struct ocf_keys *keys);
void ocf_keys_init_room(struct ocf_device *dev);
int ocf_keys_make_context(struct ocf_keys *keys, struct ocf_device *dev,
			  u32 flags);
void ocf_keys_want(struct ocf_keys *keys, int number);
int ocf_keys_park(struct ocf_keys *keys, struct ocf_request *req);
bool ocf_keys_unpark(struct ocf_request *req);
void ocf_keys_release(struct ocf_keys *keys);

static inline void ocf_keys_get(struct ocf_keys *keys)
{
	refcount_inc(&keys->refs);
}

/* For a generation found under RCU.  False: it is being freed. */
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

/* For a context found under RCU.  False: it is being freed. */
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

/* fips.c */
void ocf_fips_tell(void);
void ocf_fips_limit(struct ocf_device *dev);
int ocf_fips_check_keys(const struct ocf_session_params *p);

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

	ocf_device_time(dev, OCF_JOB_SYMMETRIC, ns);
	WRITE_ONCE(ses->hist[bucket], READ_ONCE(ses->hist[bucket]) + 1);
}

/* Whether @ses->capable and the fields that follow from it are valid. */
static inline bool ocf_session_is_current(const struct ocf_session *ses)
{
	/* before the fields it covers: pairs with ocf_session_refresh() */
	return smp_load_acquire(&ses->seen) == ocf_registry_generation();
}

/* Whether @p has two algorithms, which two devices could do in two steps. */
static inline bool ocf_mode_splits(const struct ocf_session_params *p)
{
	return p->cipher && p->mac && p->device == OCF_DEVICE_ANY;
}

/* Whether @dev is in use, or is the device that @ses tests. */
static inline bool ocf_device_serves(const struct ocf_device *dev,
				     const struct ocf_session *ses)
{
	return (READ_ONCE(dev->state) == OCF_DEVICE_READY &&
		!READ_ONCE(dev->drained)) || ses->testing == dev;
}

#endif /* OCF_SESSION_H */
