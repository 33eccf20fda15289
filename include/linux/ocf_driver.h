/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OCF for Linux: what a driver (a producer) sees.
 *
 * A driver registers each device with what it can do and serves requests.  It
 * never learns whose they are.  The core has validated every request against
 * its session and the device's limits before the driver sees it.
 */
#ifndef _LINUX_OCF_DRIVER_H
#define _LINUX_OCF_DRIVER_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/llist.h>
#include <linux/minmax.h>
#include <linux/ocf.h>
#include <linux/refcount.h>

struct module;
struct ocf_pk_ops;

#define OCF_DEVICE_NAME_MAX	32	/* bytes, with the NUL */
#define OCF_DEVICES_MAX		64	/* devices at one time */
#define OCF_DEPTH_MAX		4096	/* requests inside a device */

/**
 * enum ocf_kind - what a device is
 * @OCF_KIND_HARDWARE: a card: asynchronous, may vanish
 * @OCF_KIND_SOFTWARE: the calling CPU: synchronous, never vanishes under a
 *	request, called inline
 */
enum ocf_kind {
	OCF_KIND_HARDWARE,
	OCF_KIND_SOFTWARE,
};

/**
 * struct ocf_device_ops - what a driver does
 *
 * No method is called after ocf_device_unregister() has returned.
 */
struct ocf_device_ops {
	/**
	 * @capable: may refuse a session that the registered capabilities
	 * allow.  Optional.  Context: process or BH; must not sleep.
	 */
	bool (*capable)(struct ocf_device *dev,
			const struct ocf_session_params *params);

	/**
	 * @ctx_init: makes what the device needs to work for a session, in
	 * ocf_context_priv().  @params, with keys, is constant and there until
	 * @ctx_exit has returned.  Context: process; may sleep.  Return: 0;
	 * -ENOSPC if the device has no room (the core takes another, or has
	 * one that is there exited first, and asks again); -EINVAL
	 * or -EKEYREJECTED if it refuses the keys; any other errno.
	 */
	int (*ctx_init)(struct ocf_context *ctx,
			const struct ocf_session_params *params);

	/**
	 * @ctx_exit: frees it; secrets are wiped.  No request uses it any
	 * more.  Context: process; may sleep.
	 */
	void (*ctx_exit)(struct ocf_context *ctx);

	/**
	 * @submit: starts a request.  Software works on it here and now and
	 * returns its result.  Hardware returns -EINPROGRESS and calls
	 * ocf_complete() later, once, and not from inside; or -EBUSY, having
	 * touched nothing, when it is full: nothing more is submitted until
	 * ocf_device_unblock().
	 * Any other return is the result.  A card's result other than success
	 * leaves the source as it was, also where the request is in place:
	 * -EBADMSG is looked into by software, and after any other error the
	 * request goes to another device.  Software may return -EAGAIN, having
	 * touched nothing, where it cannot work in this context (no SIMD
	 * registers): it is called again from a worker.
	 *
	 * Source and destination begin and end at any byte: the first and the
	 * last cache line of an entry may also hold bytes that the CPU writes
	 * meanwhile, another program's for instance.  A driver whose device is
	 * not coherent with the caches must not map such an entry for writing,
	 * but copies it: dma_get_cache_alignment() tells what is whole.  Nor
	 * may it map IV, tag or state, which are parts of the request.
	 *
	 * @more: @kick will be called soon, after this and perhaps other
	 * requests; the doorbell may wait for it.  Never with a driver that
	 * has no @kick.
	 *
	 * Context: process or BH; only software may sleep, and only where
	 * ocf_request_may_sleep().
	 */
	int (*submit)(struct ocf_request *req, bool more);

	/**
	 * @kick: rings the doorbell for what was submitted with @more.
	 * Optional.  Context: process or BH; must not sleep.
	 */
	void (*kick)(struct ocf_device *dev);

	/**
	 * @nudge: hardware only, optional.  A request is overdue: looks for
	 * what the device has done without being heard, and rings the doorbell
	 * again, for interrupts and doorbells get lost.  A request that is
	 * overdue still after that means that the device has failed.  Context:
	 * process or BH; must not sleep.
	 */
	void (*nudge)(struct ocf_device *dev);

	/**
	 * @detach: hardware only, optional.  Takes a request back while the
	 * device still has it.  From here on the driver touches neither the
	 * request nor its buffers, and does not complete it; the core replays
	 * it elsewhere at once, whatever the device is doing.  So a driver may
	 * offer this only if its device gets no page of the request's, but
	 * memory of the driver's own, which stays set aside until the device
	 * has answered or was stopped: see ocf_request_span().  Context:
	 * process or BH; must not sleep.  Return: whether the request is the
	 * core's now; false if the driver is about to complete it.
	 */
	bool (*detach)(struct ocf_request *req);

	/**
	 * @quiesce: hardware only.  After its return the device touches no
	 * buffer any more and the driver completes no request; those it has
	 * not completed are the core's again, with their sources as they were,
	 * and are replayed elsewhere.  Until then the driver's own completions
	 * may let in one more.
	 *
	 * With @detach, no request waits for it, and a driver whose device
	 * could not be stopped keeps the memory that was set aside.  Without,
	 * the device gets the request's own pages, and this must end within
	 * a second, whatever state the device is in: only for a device that
	 * can be cut off from the bus for certain.
	 * Context: process; may sleep.  Return: 0, or an errno if the device
	 * could not be stopped.
	 */
	int (*quiesce)(struct ocf_device *dev);

	/**
	 * @reset: hardware only, optional.  Makes a device that failed work
	 * again.  Nothing is in it, and its contexts are of no use any more,
	 * though @ctx_exit may still come for some; it was not stopped if there
	 * is @detach.  Context: process; may sleep, and as long as it takes:
	 * nobody but the device waits for it.  Return: 0 if known answers may
	 * be asked for.
	 */
	int (*reset)(struct ocf_device *dev);
};

/**
 * struct ocf_device_info - what a device is and can do
 * @name: "virtio" makes virtio0, virtio1, ...
 * @owner: the driver's module
 * @ops: what it does
 * @parent: the bus's device, or NULL
 * @priv: the driver's own, see ocf_device_priv()
 * @kind: card or CPU
 * @depth: requests it takes at a time, 1 to OCF_DEPTH_MAX; ignored for
 *	software
 * @ctx_size: bytes of ocf_context_priv()
 * @max_len: bytes a request may span (ocf_request_span()); 0 for no limit
 * @patience: ms a request may be overdue before the device is held to have
 *	failed; 0 for a second.  A request is expected when eight times the work
 *	is done that is inside the device as it enters.  A device that completes
 *	nothing at all has its patience and eight times the work inside it, but
 *	10 s of that at most.
 * @modes: BIT(OCF_MODE_*) for each mode it can do
 * @algs: a bit for each algorithm it may be capable of; a session needs its
 *	mode and all of its algorithms.  Known answers decide: an algorithm of
 *	which none was right is taken off, refusing it with -EOPNOTSUPP is
 *	allowed; a wrong answer keeps the device out
 * @pk: public-key operations (<linux/ocf_pk.h>), or NULL; who has only these
 *	leaves @modes and @algs empty
 *
 * Everything is copied but @ops, @pk and @parent.
 */
struct ocf_device_info {
	const char			*name;
	struct module			*owner;
	const struct ocf_device_ops	*ops;
	struct device			*parent;
	void				*priv;
	enum ocf_kind			kind;
	unsigned int			depth;
	size_t				ctx_size;
	u32				max_len;
	u32				patience;
	unsigned long			modes;
	DECLARE_BITMAP(algs, OCF_ALG_COUNT);
	const struct ocf_pk_ops		*pk;
};

/**
 * ocf_device_register() - offer a device
 * @info: what it is
 *
 * Runs the known answers of all its algorithms on it, measures what they cost
 * and then lets sessions use it.
 *
 * Context: process; may sleep.
 * Return: the device, or an ERR_PTR:
 * * -EINVAL: @info makes no sense
 * * -ENOSPC: there are OCF_DEVICES_MAX already
 * * -EBADMSG: a known answer was wrong; the kernel log says which
 * * -ENODEV: none of its algorithms was accepted
 * * -ETIMEDOUT: it did not answer within some seconds
 * * what it failed with
 * * -ENOMEM: no memory
 */
struct ocf_device *ocf_device_register(const struct ocf_device_info *info);

/**
 * ocf_device_unregister() - take a device away
 * @dev: the device, or NULL
 *
 * Sessions go on without it.  Requests inside it are replayed elsewhere.
 *
 * Context: process; may sleep.
 */
void ocf_device_unregister(struct ocf_device *dev);

/**
 * ocf_device_unblock() - a device takes requests again
 * @dev: a device whose submit() returned -EBUSY
 *
 * May come before that submit() has returned.
 *
 * Context: process or BH; no lock held that submit() takes.
 */
void ocf_device_unblock(struct ocf_device *dev);

/**
 * ocf_device_fail() - a driver has found its device not to be working
 * @dev: the device
 *
 * It gets no more requests, and those it has are taken back.  What the core
 * does on its own when a request is overdue.  Then it is reset, and used again
 * if it gives the right answers.
 *
 * Context: process or BH.
 */
void ocf_device_fail(struct ocf_device *dev);

/**
 * ocf_device_needs_reset() - a device has said that only a reset helps
 * @dev: the device
 *
 * As ocf_device_fail(), but it is reset before it is asked for anything, and
 * as soon as it is empty.
 *
 * Context: process or BH.
 */
void ocf_device_needs_reset(struct ocf_device *dev);

/**
 * ocf_device_revive() - a device that was given up shows signs of life
 * @dev: the device, for instance one that has completed what was detached
 *
 * It is asked for known answers soon, without being reset.  Does nothing to a
 * device that has not failed.
 *
 * Context: process or BH.
 */
void ocf_device_revive(struct ocf_device *dev);

/**
 * ocf_complete() - a device is done with a request
 * @req: a request that submit() returned -EINPROGRESS for, or will
 * @err: 0 or a negative errno: -EBADMSG for a wrong MAC or tag, -EIO if the
 *	device failed
 *
 * All writes of the device to the buffers are visible.  A second completion
 * of one request is counted and ignored as long as the request exists; a
 * driver's tables must make sure of one that may be gone.
 *
 * Context: process or BH; no lock held that submit() or done() takes.
 */
void ocf_complete(struct ocf_request *req, int err);

/**
 * ocf_device_priv() - the driver's own
 * @dev: the device
 *
 * Context: any.
 * Return: ocf_device_info.priv.
 */
void *ocf_device_priv(const struct ocf_device *dev);

/*
 * An attribute of sysfs that says what others have done: which sizes, when, and
 * what failed.  Root may read it, and the group that udev's rule gives it to.
 */
#define OCF_ATTR_PRIVATE(name)						\
	struct device_attribute dev_attr_##name = __ATTR(name, 0440,	\
							 name##_show, NULL)

/*
 * What a transform of the kernel's crypto API counts as, for ocf_context.more:
 * the API does not tell how much memory it takes.
 */
#define OCF_TRANSFORM_BYTES	2048

/**
 * struct ocf_context - a session's state on one device
 * @dev: the device
 * @params: what the session does, with keys
 * @submit: ocf_device_ops.submit, or one that ctx_init() has put here because
 *	it does only what @params ask for
 * @more: bytes that ctx_init() has allocated beside @priv, for the user's
 *	account; 0 before
 * @priv: the driver's, of ocf_device_info.ctx_size bytes, zeroed
 */
struct ocf_context {
	struct ocf_device			*dev;
	const struct ocf_session_params		*params;
	int (*submit)(struct ocf_request *req, bool more);
	u32					more;
	/* private: the core's: its generation's, and one for each submitter
	 * who works with it; jiffies, when it was used last; requests that wait
	 * for the device or are in it, under its queue's lock; in the list of
	 * those that requests find on the device, then of those that go; then
	 * frees the memory
	 */
	refcount_t				refs;
	unsigned long				used;
	unsigned int				users;
	union {
		struct list_head		node;
		struct llist_node		going;
		struct rcu_head			rcu;
	};
	/* public: */
	u8					priv[] CRYPTO_MINALIGN_ATTR;
};

static inline void *ocf_context_priv(struct ocf_context *ctx)
{
	return ctx->priv;
}

/**
 * ocf_tag_store() - deliver the MAC or tag of a request
 * @req: the request
 * @tag: maclen bytes of it
 *
 * Puts it where the consumer wants it: into @req->tag or into the buffer.
 *
 * Context: any.
 */
void ocf_tag_store(struct ocf_request *req, const u8 *tag);

/**
 * ocf_tag_check() - compare a MAC in constant time
 * @req: a request that verifies
 * @tag: maclen bytes as they should be
 *
 * Context: any.
 * Return: 0, or -EBADMSG.
 */
int ocf_tag_check(struct ocf_request *req, const u8 *tag);

/* In ocf_request.bits: a worker has it, and hands it over no more. */
#define OCF_BIT_WORKER		BIT(5)

/* In ocf_request.bits: of MTE, another device has decrypted it already. */
#define OCF_BIT_OPENED		BIT(7)

/**
 * ocf_request_opened() - whether only the check of a record is left to do
 * @req: a request of an MTE session to decrypt, on a software device
 *
 * Context: any.
 * Return: whether the destination has been decrypted.
 */
static inline bool ocf_request_opened(const struct ocf_request *req)
{
	return atomic_read(&req->bits) & OCF_BIT_OPENED;
}

/**
 * ocf_request_has_worker() - whether it is done by a worker
 * @req: a request inside submit() of a software device
 *
 * There are few of them, so they may wait for one another; others who would
 * have to return -EAGAIN.
 *
 * Context: any.
 * Return: whether.
 */
static inline bool ocf_request_has_worker(const struct ocf_request *req)
{
	return atomic_read(&req->bits) & OCF_BIT_WORKER;
}

/**
 * ocf_request_may_sleep() - whether software may sleep over a request
 * @req: a request inside submit()
 *
 * Context: any.
 * Return: whether.
 */
static inline bool ocf_request_may_sleep(const struct ocf_request *req)
{
	return req->flags & OCF_REQ_MAY_SLEEP || ocf_request_has_worker(req);
}

/**
 * ocf_request_span() - the part of its buffers that a request is about
 * @req: the request
 *
 * From the first byte that is authenticated or worked on to the last, and the
 * tag where that follows in the buffer.  A driver whose device gets memory of
 * the driver's own sets as much aside, copies in before what is there,
 *
 *	source = ocf_request_source(req);
 *	ocf_sg_read(req->src, source.start, buf, source.len);
 *
 * and the data range out after, on success only, to @req->dst; tags go by
 * ocf_tag_store() and ocf_tag_check().
 *
 * Context: any.
 * Return: the range.
 */
static inline struct ocf_range ocf_request_span(const struct ocf_request *req)
{
	u32 start = req->data.start, end = start + req->data.len;

	if (req->auth.len) {
		start = min(start, req->auth.start);
		end = max(end, req->auth.start + req->auth.len);
	}
	if (req->tag_start != OCF_TAG_INLINE)
		end = max(end, req->tag_start + ocf_request_maclen(req));
	return (struct ocf_range){ start, end - start };
}

/**
 * ocf_request_verifies() - whether a request compares a MAC or tag
 * @req: a request inside submit()
 *
 * Context: any.
 * Return: whether.
 */
static inline bool ocf_request_verifies(const struct ocf_request *req)
{
	if (req->ctx->params->mode == OCF_MODE_CHAIN)
		return req->flags & OCF_REQ_VERIFY;
	return req->op == OCF_OP_DECRYPT && ocf_request_maclen(req);
}

/**
 * ocf_request_source() - the part of its source that a request reads
 * @req: a request inside submit()
 *
 * As ocf_request_span(), but for a tag that is to be written: the source need
 * not have room for it.
 *
 * Context: any.
 * Return: the range; it starts where the span does.
 */
static inline struct ocf_range ocf_request_source(const struct ocf_request *req)
{
	struct ocf_range span = ocf_request_span(req);
	u32 end = req->data.start + req->data.len;

	if (ocf_request_verifies(req))
		return span;
	if (req->auth.len)
		end = max(end, req->auth.start + req->auth.len);
	return (struct ocf_range){ span.start, end - span.start };
}

/**
 * struct ocf_walk - a walk over a request's data in mapped pieces
 * @src: mapped source
 * @dst: mapped destination; equal to @src in place
 * @len: bytes of this piece; 0 at the end
 *
 * For drivers that work with the CPU.  A piece ends at page boundaries:
 *
 *	for (ocf_walk_start(&w, req); w.len; ocf_walk_next(&w))
 *		memcpy(w.dst, w.src, w.len);
 *
 * Context: any; a piece is mapped with kmap_local_page().
 */
struct ocf_walk {
	const u8	*src;
	u8		*dst;
	u32		len;
	/* private: */
	struct scatterlist *in, *out;
	u32		in_off, out_off, left;
	bool		same;
};

void ocf_walk_start(struct ocf_walk *walk, struct ocf_request *req);
void ocf_walk_next(struct ocf_walk *walk);

/**
 * ocf_sg_each() - call a function for each mapped piece of a scatterlist
 * @sg: the scatterlist
 * @start: bytes into it
 * @len: bytes
 * @may_sleep: give way between pieces
 * @fn: the function; an error ends the walk
 * @arg: its first argument
 *
 * Context: any, or process with @may_sleep.
 * Return: 0, or what @fn returned.
 */
int ocf_sg_each(struct scatterlist *sg, u32 start, u32 len, bool may_sleep,
		int (*fn)(void *arg, u8 *piece, u32 len), void *arg);

/**
 * ocf_sg_read() - copy from a scatterlist
 * @sg: the scatterlist
 * @start: bytes into it
 * @buf: where to
 * @len: bytes
 *
 * Context: any.
 */
void ocf_sg_read(struct scatterlist *sg, u32 start, void *buf, u32 len);

/**
 * ocf_sg_write() - copy to a scatterlist
 * @sg: the scatterlist
 * @start: bytes into it
 * @buf: where from
 * @len: bytes
 *
 * Context: any.
 */
void ocf_sg_write(struct scatterlist *sg, u32 start, const void *buf, u32 len);

/**
 * struct ocf_mte_hash - the hash of a MAC, as the end of a TLS record needs it
 * @block: bytes of a block, a power of two
 * @digest: bytes of its result
 * @length: bytes of the message's length in the last block
 * @little: that length is little-endian (MD5)
 * @ctx: for the methods
 * @compress: works one block into the state
 * @peek: tells the state as the digest's bytes
 */
struct ocf_mte_hash {
	u32	block;
	u32	digest;
	u32	length;
	bool	little;
	void	*ctx;
	void	(*compress)(void *ctx, const u8 *block);
	void	(*peek)(void *ctx, u8 *state);
};

/* In the order in which they are called; see kernel/core/request/mte.c. */
u32 ocf_mte_public(const struct ocf_mte_hash *hash, u32 aad, u32 len,
		   u32 maclen);
u32 ocf_mte_unpad(const u8 *end, u32 len, u32 maclen, u32 *payload);
void ocf_mte_inner(const struct ocf_mte_hash *hash, const u8 *tail,
		   u32 tail_len, u32 before, u32 total, u32 maclen, u8 *digest);
u32 ocf_mte_compare(const u8 *end, u32 len, u32 maclen, u32 payload,
		    const u8 *mac);

#endif /* _LINUX_OCF_DRIVER_H */
