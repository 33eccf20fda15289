/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OCF for Linux: the interface for drivers.
 *
 * A driver registers each device with its capabilities, and serves requests.
 * It need not know which consumer they come from.  Before the driver gets a
 * request, the core has checked it against its session and the device's limits.
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
#define OCF_DEVICES_MAX		64	/* devices at a time */
#define OCF_DEPTH_MAX		4096	/* requests in a device at a time */

/**
 * enum ocf_kind - kinds of devices
 * @OCF_KIND_HARDWARE: a card; asynchronous, and may fail or be pulled out
 * @OCF_KIND_SOFTWARE: the calling CPU; synchronous
 */
enum ocf_kind {
	OCF_KIND_HARDWARE,
	OCF_KIND_SOFTWARE,
};

/**
 * struct ocf_device_ops - the operations of a driver
 *
 * The core calls none of them after ocf_device_unregister() has returned.
 */
struct ocf_device_ops {
	/**
	 * @capable: optional.  Returns false for a session that the device
	 * cannot serve although its registered capabilities allow it.  Context:
	 * process or BH; must not sleep.
	 */
	bool (*capable)(struct ocf_device *dev,
			const struct ocf_session_params *params);

	/**
	 * @ctx_init: prepares the device for a session; the driver's data are
	 * in ocf_context_priv().  @params, with the keys, is constant and stays
	 * until @ctx_exit has returned.  Context: process; may sleep.  Return:
	 * 0; -ENOSPC if the device has no capacity (the core uses another
	 * device, or frees a context of this one and tries again); -EOPNOTSUPP
	 * if the device does not have the algorithm; -EINVAL or -EKEYREJECTED
	 * if it refuses the keys; any other errno.
	 */
	int (*ctx_init)(struct ocf_context *ctx,
			const struct ocf_session_params *params);

	/**
	 * @ctx_exit: undoes @ctx_init, and wipes secrets.  No request uses the
	 * context any more.  Context: process; may sleep.
	 */
	void (*ctx_exit)(struct ocf_context *ctx);

	/**
	 * @submit: starts a request.
	 *
	 * A software device does the request, and returns the result.  It
	 * returns -EAGAIN, and changes nothing, if it cannot work in this
	 * context (no SIMD registers); a worker then calls it again.
	 *
	 * A card's driver returns -EINPROGRESS and calls ocf_complete() later,
	 * once, and not inside this call.  If the card is full, it returns
	 * -EBUSY and changes nothing; the core submits nothing more until
	 * ocf_device_unblock().  Any other return is the result.  If the result
	 * is not 0, the source must be unchanged, even if the request works in
	 * place.  The core does the request again: on the CPU after -EBADMSG,
	 * on another device after any other error.
	 *
	 * Source and destination begin and end at any byte.  So the first and
	 * the last cache line of a scatterlist entry may have bytes that the
	 * CPU writes meanwhile, for instance another program's.  If the device
	 * is not coherent with the caches, the driver must copy such an entry
	 * instead of mapping it for writing; see dma_get_cache_alignment().  It
	 * must never map req->iv, req->tag, req->state, req->priv or
	 * ocf_context_priv(), which share cache lines with other fields.
	 *
	 * @more: the core will call @kick soon, perhaps after further requests,
	 * and the doorbell may wait for that.  False if there is no @kick.
	 *
	 * Context: process or BH.  Only software may sleep, and only if
	 * ocf_request_may_sleep().
	 */
	int (*submit)(struct ocf_request *req, bool more);

	/**
	 * @kick: optional.  Rings the doorbell for requests that were submitted
	 * with @more.  Context: process or BH; must not sleep.
	 */
	void (*kick)(struct ocf_device *dev);

	/**
	 * @nudge: hardware only, optional.  A request, symmetric or public-key,
	 * is overdue, perhaps because an interrupt or a doorbell was lost.  The
	 * driver looks for completions, and rings the doorbell again.  If the
	 * request is still overdue later, the device has failed.  Context:
	 * process or BH; must not sleep.
	 */
	void (*nudge)(struct ocf_device *dev);

	/**
	 * @detach: hardware only, optional.  Gives a request back to the core
	 * while the device still works on it.  The driver must not use the
	 * request or its buffers afterwards, or complete it.  The core replays
	 * it on another device immediately.  So a driver can have this only if
	 * its device works in memory of the driver, and not in pages of the
	 * request.  That memory stays set aside until the device has answered
	 * or was stopped; see ocf_request_span().  Context: process or BH; must
	 * not sleep.  Return: true; or false if the driver is completing the
	 * request.
	 */
	bool (*detach)(struct ocf_request *req);

	/**
	 * @quiesce: hardware only.  Stops the device.  After its return the
	 * device uses no buffer, and the driver completes no request.  The core
	 * replays the requests that were not completed, whose sources must be
	 * as they were.  While this runs, a completion may still make the core
	 * call @submit once more.
	 *
	 * If the driver has @detach, the core has already taken back all
	 * requests.  If the device cannot be stopped, the driver keeps the
	 * memory that @detach set aside.  Without @detach the device works in
	 * pages of requests, and this must end within a second in every state
	 * of the device.  That is possible only if the device can be cut off
	 * from the bus.
	 *
	 * Context: process; may sleep.  Return: 0, or an errno if the device
	 * could not be stopped.
	 */
	int (*quiesce)(struct ocf_device *dev);

	/**
	 * @reset: hardware only, optional.  Makes a device that failed work
	 * again.  The device has no request.  No request uses its contexts any
	 * more, but @ctx_exit may still be called for some.  With @detach, the
	 * device may still be running.  Context: process; may sleep for any
	 * time, since only the device waits for it.  Return: 0 if the self-test
	 * can run.
	 */
	int (*reset)(struct ocf_device *dev);
};

/**
 * struct ocf_device_info - the description of a device
 * @name: "virtio" makes virtio0, virtio1, ...
 * @owner: the driver's module
 * @ops: its operations
 * @parent: its parent device, or NULL
 * @priv: for the driver, see ocf_device_priv()
 * @kind: card or CPU
 * @depth: requests in the device at a time, 1 to OCF_DEPTH_MAX; ignored for
 *	software
 * @ctx_size: bytes of ocf_context_priv()
 * @max_len: the maximum of ocf_request_span(), bytes; 0 for no limit
 * @patience: ms, see below; 0 for a second
 * @modes: BIT(OCF_MODE_*) for each mode of the device
 * @algs: a bit for each algorithm that the device may have.  A session needs
 *	its mode and all of its algorithms.  The self-test decides: an algorithm
 *	without a right answer is removed, for instance one that the device
 *	refuses with -EOPNOTSUPP, and a wrong answer makes the registration fail
 * @pk: public-key operations (<linux/ocf_pk.h>), or NULL.  A device with only
 *	these leaves @modes and @algs empty
 *
 * The core estimates how long the requests in the device will take.  A request
 * is overdue after eight times the estimate at its submission, but after at
 * most 10 s, or twice the estimate if that is more.  After @patience more, the
 * device has failed.  A device has also failed when it completes nothing for
 * @patience plus eight times the present estimate, of which at most 10 s count.
 *
 * The core copies everything except @ops, @pk and @parent.
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
 * ocf_device_register() - register a device
 * @info: its description
 *
 * Runs the self-test of all its algorithms, which also measures their cost.  So
 * the device must be ready for requests before this is called.  After the
 * self-test sessions can use the device.
 *
 * Context: process; may sleep.
 * Return: the device, or an ERR_PTR:
 * * -EINVAL: @info makes no sense
 * * -ENOSPC: there are OCF_DEVICES_MAX devices already
 * * -EBADMSG: a result of the self-test was wrong; the kernel log says which
 * * -ENODEV: the device has refused all of its algorithms
 * * -ETIMEDOUT: it did not answer within 5 s plus its patience
 * * another error of the device in the self-test
 * * -ENOMEM: no memory
 */
struct ocf_device *ocf_device_register(const struct ocf_device_info *info);

/**
 * ocf_device_unregister() - remove a device
 * @dev: the device, or NULL
 *
 * Sessions continue on other devices, and so do the requests in the device.
 *
 * Context: process; may sleep.
 */
void ocf_device_unregister(struct ocf_device *dev);

/**
 * ocf_device_unblock() - tell the core that a device takes requests again
 * @dev: a device whose submit() returned -EBUSY
 *
 * The driver may call this before that submit() has returned.
 *
 * Context: process or BH; must not hold a lock that submit() takes.
 */
void ocf_device_unblock(struct ocf_device *dev);

/**
 * ocf_device_fail() - tell the core that a device does not work
 * @dev: the device
 *
 * The core submits nothing more to the device, and replays its requests on
 * other devices, as it does when a request is overdue.  Later it runs the
 * self-test, and uses the device again if that passes.  If the device was
 * stopped, or if three self-tests have failed, the core resets the device
 * before the self-test.  After a wrong answer the core waits until the
 * administrator resumes the device.
 *
 * Context: process or BH.
 */
void ocf_device_fail(struct ocf_device *dev);

/**
 * ocf_device_needs_reset() - tell the core that a device needs a reset
 * @dev: the device
 *
 * Like ocf_device_fail(), but the core first resets the device, as soon as it
 * is empty, and then runs the self-test.  For a device that asks for a reset.
 *
 * Context: process or BH.
 */
void ocf_device_needs_reset(struct ocf_device *dev);

/**
 * ocf_device_revive() - tell the core that a failed device shows signs of life
 * @dev: the device, for instance one that has completed a detached request
 *
 * The core runs the next self-test now instead of waiting; see
 * ocf_device_fail().  This does nothing if the device has not failed.
 *
 * Context: process or BH.
 */
void ocf_device_revive(struct ocf_device *dev);

/**
 * ocf_complete() - complete a request
 * @req: a request for which submit() has returned -EINPROGRESS, or will
 * @err: 0 or a negative errno: -EBADMSG for a wrong MAC or tag, -EIO if the
 *	device failed
 *
 * All writes of the device to the buffers must be visible before the call.  The
 * core counts and ignores a second completion while the request exists.  The
 * request may have been freed after this call, after detach() has returned
 * true, and after quiesce(): the driver must not complete it then.
 *
 * Context: process or BH; must not hold a lock that submit() or the consumer's
 * callback takes.
 */
void ocf_complete(struct ocf_request *req, int err);

/**
 * ocf_device_priv() - the driver's pointer of a device
 * @dev: the device
 *
 * Context: any.
 * Return: ocf_device_info.priv.
 */
void *ocf_device_priv(const struct ocf_device *dev);

/*
 * An attribute of sysfs that shows the work of all users.  Root may read it,
 * and the group that udev's rule sets.
 */
#define OCF_ATTR_PRIVATE(name)						\
	struct device_attribute dev_attr_##name = __ATTR(name, 0440,	\
							 name##_show, NULL)

/*
 * A driver adds this to ocf_context.more for each transform of the kernel's
 * crypto API, which does not say how much memory a transform takes.
 */
#define OCF_TRANSFORM_BYTES	2048

/**
 * ocf_table_bytes() - what a transform takes besides OCF_TRANSFORM_BYTES
 * @p: what the transform is for
 *
 * Blowfish's key is a table of 4 KiB and a little more, so that it takes 8 KiB;
 * GMAC may have a table of 4 KiB.
 *
 * Return: bytes.
 */
static inline u32 ocf_table_bytes(const struct ocf_session_params *p)
{
	return (p->cipher == OCF_BLOWFISH_CBC ? 6144 : 0) +
	       (p->mac == OCF_AES_GMAC ? 4096 : 0);
}

/**
 * struct ocf_context - a session's state on one device
 * @dev: the device
 * @params: the session's parameters, with keys
 * @submit: ocf_device_ops.submit; ctx_init() may set a function for just these
 *	parameters
 * @more: bytes that ctx_init() has allocated besides @priv; the core charges
 *	them to the user's account.  0 at first
 * @priv: for the driver: ocf_device_info.ctx_size bytes, zeroed
 */
struct ocf_context {
	struct ocf_device			*dev;
	const struct ocf_session_params		*params;
	int (*submit)(struct ocf_request *req, bool more);
	u32					more;
	/* private: @refs: one of the generation of keys, and one of each task
	 * that works with the context.  @used: jiffies of its last use.
	 * @users: requests that wait for the device or are in it, under the
	 * queue's lock.  @node: in the device's list of contexts that requests
	 * find.  @going: in the list of those to be freed.  @rcu: frees it
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
 * ocf_tag_store() - store the MAC or tag of a request
 * @req: the request
 * @tag: maclen bytes of it
 *
 * Writes it to @req->tag or to the buffer, as the consumer wants.
 *
 * Context: any.
 */
void ocf_tag_store(struct ocf_request *req, const u8 *tag);

/**
 * ocf_tag_check() - compare a MAC in constant time
 * @req: a request that verifies
 * @tag: maclen bytes of the right MAC
 *
 * Context: any.
 * Return: 0, or -EBADMSG.
 */
int ocf_tag_check(struct ocf_request *req, const u8 *tag);

/* In ocf_request.bits: a worker does it, and no other worker gets it */
#define OCF_BIT_WORKER		BIT(5)

/* In ocf_request.bits: OCF_MODE_MTE: another device has decrypted it */
#define OCF_BIT_OPENED		BIT(7)

/**
 * ocf_request_opened() - whether another device has decrypted a record
 * @req: a request of an MTE session to decrypt, on a software device
 *
 * If so, only its MAC and padding are left to be checked.
 *
 * Context: any.
 */
static inline bool ocf_request_opened(const struct ocf_request *req)
{
	return atomic_read(&req->bits) & OCF_BIT_OPENED;
}

/**
 * ocf_request_has_worker() - whether a worker does a request
 * @req: a request inside submit() of a software device
 *
 * A driver may wait for a resource only in a worker.  Workers are few, so the
 * wait is bounded.  In other contexts the driver returns -EAGAIN.
 *
 * Context: any.
 */
static inline bool ocf_request_has_worker(const struct ocf_request *req)
{
	return atomic_read(&req->bits) & OCF_BIT_WORKER;
}

/**
 * ocf_request_may_sleep() - whether software may sleep during a request
 * @req: a request inside submit()
 *
 * Context: any.
 */
static inline bool ocf_request_may_sleep(const struct ocf_request *req)
{
	return req->flags & OCF_REQ_MAY_SLEEP || ocf_request_has_worker(req);
}

/**
 * ocf_request_span() - the part of the buffers that a request uses
 * @req: the request
 *
 * The span begins with the first byte that is authenticated, encrypted or
 * decrypted.  It ends with the last one, or with the tag if that follows in the
 * buffer.  A driver whose device works in memory of the driver needs a buffer
 * of this size.  Before the operation it copies the source, and after a success
 * the data range:
 *
 *	source = ocf_request_source(req);
 *	ocf_sg_read(req->src, source.start, buf, source.len);
 *	...
 *	ocf_sg_write(req->dst, req->data.start,
 *		     buf + req->data.start - source.start, req->data.len);
 *
 * It uses ocf_tag_store() and ocf_tag_check() for the tag.
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
 */
static inline bool ocf_request_verifies(const struct ocf_request *req)
{
	if (req->ctx->params->mode == OCF_MODE_CHAIN)
		return req->flags & OCF_REQ_VERIFY;
	return req->op == OCF_OP_DECRYPT && ocf_request_maclen(req);
}

/**
 * ocf_request_source() - the part of the source that a request reads
 * @req: a request inside submit()
 *
 * Like ocf_request_span(), but without a tag that is to be written, for which
 * the source need not have room.
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
 * For drivers that use the CPU.  A piece does not cross a page boundary:
 *
 *	for (ocf_walk_start(&w, req); w.len; ocf_walk_next(&w))
 *		memcpy(w.dst, w.src, w.len);
 *
 * A loop must not end before w.len is 0, since the last piece stays mapped.
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
 * @start: offset of the first byte
 * @len: bytes
 * @may_sleep: call cond_resched() between pieces
 * @fn: the function; an error ends the walk
 * @arg: its first argument
 *
 * Context: any; process with @may_sleep.
 * Return: 0, or the error of @fn.
 */
int ocf_sg_each(struct scatterlist *sg, u32 start, u32 len, bool may_sleep,
		int (*fn)(void *arg, u8 *piece, u32 len), void *arg);

/**
 * ocf_sg_read() - copy from a scatterlist
 * @sg: the scatterlist
 * @start: offset of the first byte
 * @buf: the destination
 * @len: bytes
 *
 * Context: any.
 */
void ocf_sg_read(struct scatterlist *sg, u32 start, void *buf, u32 len);

/**
 * ocf_sg_write() - copy to a scatterlist
 * @sg: the scatterlist
 * @start: offset of the first byte
 * @buf: the source
 * @len: bytes
 *
 * Context: any.
 */
void ocf_sg_write(struct scatterlist *sg, u32 start, const void *buf, u32 len);

/**
 * struct ocf_mte_hash - the hash of a MAC, for the end of a TLS record
 * @block: bytes of a block, a power of two
 * @digest: bytes of its result
 * @length: bytes of the message's length in the last block
 * @little: that length is little-endian (MD5)
 * @ctx: argument of the functions
 * @compress: adds a block to the state
 * @peek: returns the state as bytes of a digest
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
