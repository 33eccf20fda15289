/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OCF for Linux: the interface for consumers.
 *
 * A consumer (a character device, a socket, a file system) opens a session
 * with algorithms, a mode and keys, and submits requests.  The core chooses a
 * device for each request.  When a device dies, the core has other devices do
 * its requests.  The consumer need not know which device works for it.
 *
 *	ses = ocf_session_create(&params, GFP_KERNEL);
 *	req = ocf_request_alloc(ses, GFP_KERNEL);
 *	req->op = OCF_OP_ENCRYPT;
 *	req->src = req->dst = sg;
 *	req->data = (struct ocf_range){ .start = 0, .len = len };
 *	memcpy(req->iv, iv, ivlen);
 *	err = ocf_run(req);		... or req->done = ...; ocf_submit(req);
 *	ocf_request_free(req);
 *	ocf_session_put(ses);
 *
 * A consumer that works for user processes also includes <linux/ocf_user.h>:
 * the accounts of users and the threads of processes.  <linux/ocf_alg.h> has
 * the algorithms.  Drivers include <linux/ocf_driver.h>.
 */
#ifndef _LINUX_OCF_H
#define _LINUX_OCF_H

#include <linux/bits.h>
#include <linux/completion.h>
#include <linux/crypto.h>
#include <linux/gfp_types.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/ocf_alg.h>
#include <linux/scatterlist.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/linux/ocf.h>

#define OCF_IV_MAX		16	/* bytes: block of AES, tweak of XTS */
#define OCF_TAG_MAX		64	/* bytes: SHA-512, BLAKE2b */
#define OCF_KEY_MAX		64	/* bytes: two keys of AES-256-XTS */
#define OCF_MACKEY_MAX		512	/* bytes: as in cryptodev-linux */
#define OCF_STATE_MAX		400	/* bytes: see ocf_request.state */
#define OCF_REQUEST_MAX		(64u << 20) /* bytes that a request can cover */
#define OCF_PRIV_SIZE		768	/* bytes in a request for its driver */

/* Flags of a session, with those of <uapi/linux/ocf.h> */
#define OCF_SESSION_ANY		(OCF_SESSION_HARDWARE | OCF_SESSION_SOFTWARE)
#define OCF_SESSION_FLAGS	GENMASK(3, 0)

#define OCF_DEVICE_ANY		(-1)

struct ocf_account;
struct ocf_context;
struct ocf_device;
struct ocf_keys;
struct ocf_session;
struct ocf_workers;

/**
 * struct ocf_session_params - parameters of a session
 * @mode: how the algorithms are combined
 * @cipher: cipher, AEAD or compression algorithm, or OCF_ALG_NONE
 * @mac: digest or MAC algorithm, or OCF_ALG_NONE
 * @policy: the aim of the choice of devices
 * @flags: OCF_SESSION_*; neither HARDWARE nor SOFTWARE means both
 * @device: the only device to use, by its number, or OCF_DEVICE_ANY
 * @key: cipher key of @keylen bytes; copied
 * @keylen: bytes
 * @mackey: MAC key of @mackeylen bytes; copied
 * @mackeylen: bytes
 * @ivlen: bytes of IV or nonce; 0 for the algorithm's own
 * @maclen: bytes of the MAC or tag that are used; 0 for all
 * @rounds: ChaCha20: 12 or 20; 0 for the algorithm's own
 * @owner: any number for the owner of the work; 0 for the kernel.  A card is
 *	shared fairly between owners
 * @account: the account to which the session's memory is charged, or NULL; the
 *	session takes a reference
 * @wrong: NULL, or where to store which field an error is about, OCF_FIELD_*;
 *	unchanged if it is about none
 */
struct ocf_session_params {
	enum ocf_mode		mode;
	enum ocf_alg		cipher;
	enum ocf_alg		mac;
	enum ocf_policy		policy;
	u32			flags;
	int			device;
	const u8		*key;
	u32			keylen;
	const u8		*mackey;
	u32			mackeylen;
	u32			ivlen;
	u32			maclen;
	u32			rounds;
	u32			owner;
	struct ocf_account	*account;
	u32			*wrong;
};

/**
 * ocf_session_create() - open a session
 * @params: its parameters; keys are copied, and the caller wipes its own copy
 * @gfp: GFP_KERNEL, or GFP_KERNEL_ACCOUNT on behalf of a user
 *
 * Context: process; may sleep.
 * Return: the session with one reference, or an ERR_PTR:
 * * -EINVAL: mode, algorithms, lengths or flags do not fit together
 * * -EPERM: an algorithm is weak and the administrator has not allowed it
 * * -EOPNOTSUPP: no device that may be used is capable of it
 * * -ENODEV: @device does not exist, or the capable devices are out of use
 * * -ENOMEM: no memory
 * * -EDQUOT: @params->account has reached its limit
 * * -ENOSPC: only cards may do it, and their memory for sessions is in use
 * * the error of a device that refuses the keys, usually -EINVAL or
 *   -EKEYREJECTED
 */
struct ocf_session *
ocf_session_create(const struct ocf_session_params *params, gfp_t gfp);

/**
 * ocf_session_derive() - open a session with the algorithms and keys of another
 * @ses: the other session
 * @mode: how the algorithms are combined
 * @maclen: bytes of the MAC or tag that are used; 0 for all
 * @flags: OCF_SESSION_*, besides those of @ses
 * @gfp: as in ocf_session_create()
 *
 * The sessions are independent afterwards.  If @ses gets new keys later, the
 * new session keeps its own.
 *
 * Context: process; may sleep.
 * Return: as ocf_session_create(); -EINTR: the caller was killed.
 */
struct ocf_session *ocf_session_derive(struct ocf_session *ses,
				       enum ocf_mode mode, u32 maclen,
				       u32 flags, gfp_t gfp);

/**
 * ocf_session_get() - take a reference
 * @ses: a session, of which the caller has a reference already
 *
 * Context: any.
 * Return: @ses.
 */
struct ocf_session *ocf_session_get(struct ocf_session *ses);

/**
 * ocf_session_put() - give a reference back
 * @ses: a session, or NULL
 *
 * The last reference frees the contexts on all devices, and then wipes the
 * keys.  A worker frees the contexts on cards, since a card may take long.
 * Each request in flight holds a reference.
 *
 * Context: process; may sleep.
 */
void ocf_session_put(struct ocf_session *ses);

/**
 * ocf_session_put_deferred() - give a reference back in atomic context
 * @ses: a session, or NULL
 *
 * Context: process or BH.
 */
void ocf_session_put_deferred(struct ocf_session *ses);

/**
 * ocf_session_rekey() - give a session new keys
 * @ses: the session
 * @key: cipher key of @keylen bytes; NULL: keep the present one
 * @keylen: bytes
 * @mackey: MAC key of @mackeylen bytes; NULL: keep the present one
 * @mackeylen: bytes
 * @wrong: NULL, or where to store which field an error is about, OCF_FIELD_*;
 *	unchanged if it is about none
 *
 * Requests that were submitted before keep the old keys, also when they are
 * replayed on another device.  Requests that are submitted later use the new
 * keys.
 *
 * Context: process; may sleep.
 * Return: 0; -EINTR: the task is being killed; an error of
 * ocf_session_create().  After an error the old keys stay.
 */
int ocf_session_rekey(struct ocf_session *ses, const u8 *key, u32 keylen,
		      const u8 *mackey, u32 mackeylen, u32 *wrong);

/**
 * struct ocf_session_info - facts about a session
 * @mode: as created
 * @cipher: as created
 * @mac: as created
 * @ivlen: bytes of IV; the algorithm's own if 0 was given
 * @maclen: bytes of MAC or tag; the algorithm's own if 0 was given
 * @block: the length of the data must be a multiple of this, bytes
 * @hardware: a card is capable of it
 * @device: number of the device that is preferred if all are idle, or -ENODEV
 */
struct ocf_session_info {
	enum ocf_mode		mode;
	enum ocf_alg		cipher;
	enum ocf_alg		mac;
	u32			ivlen;
	u32			maclen;
	u32			block;
	bool			hardware;
	int			device;
};

/**
 * ocf_session_info() - read facts about a session
 * @ses: the session
 * @info: is filled in
 *
 * Context: process or BH.
 */
void ocf_session_info(struct ocf_session *ses, struct ocf_session_info *info);

/**
 * ocf_session_crossover() - the size from which on a card is faster
 * @ses: the session
 * @many: compare throughput instead of latency, for a consumer with many
 *	requests in flight
 *
 * Context: process or BH.
 * Return: bytes, a power of two.  From this size on an idle card completes a
 * request before the CPU would; with @many, the card works on it for less time
 * than the CPU would.  0: there is no such size.
 */
u32 ocf_session_crossover(struct ocf_session *ses, bool many);

/**
 * ocf_cpu_takes() - whether the caller should do an operation itself
 * @ses: the session of the operation
 * @op: direction
 * @bytes: bytes of data
 *
 * For a consumer that can use the CPU without the core, as ocf_alg can.  A
 * small request costs as much in the core as on the CPU.
 *
 * Context: process or BH.
 * Return: true if only the CPU is worth considering for so few bytes, and no
 * earlier request has to complete first.  The core has then counted the
 * operation, and the caller does it.  If false, the caller submits a request.
 */
bool ocf_cpu_takes(struct ocf_session *ses, enum ocf_op op, u32 bytes);

/**
 * ocf_cpu_is_allowed() - whether software may do a session's operations
 * @ses: the session
 *
 * For a consumer that itself does operations which no device can do.
 *
 * Context: process or BH.
 * Return: false if its flags or the administrator forbid it, or if there is no
 * software device.
 */
bool ocf_cpu_is_allowed(struct ocf_session *ses);

/**
 * ocf_cpu_failed() - count the error of an operation that the caller has done
 * @ses: the session
 * @bytes: as given to ocf_cpu_takes()
 *
 * Context: process or BH.
 */
void ocf_cpu_failed(struct ocf_session *ses, u32 bytes);

/* Flags of a request */
#define OCF_REQ_MAY_SLEEP	BIT(0)	/* ocf_submit() may sleep */
#define OCF_REQ_INLINE		BIT(1)	/* done() may run inside ocf_submit() */
#define OCF_REQ_OFFLOAD		BIT(2)	/* a worker does software work that
					 * takes longer than a wake-up.  If
					 * neither this nor MAY_SLEEP is set, a
					 * worker does only software work of
					 * over 2 ms */
#define OCF_REQ_NEXT_IV		BIT(3)	/* set @iv for the next request of the
					 * same stream (CBC, CTR, ChaCha20) */
#define OCF_REQ_MAC_FIRST	BIT(4)	/* CHAIN: MAC before cipher */
#define OCF_REQ_VERIFY		BIT(5)	/* CHAIN: compare the MAC */
#define OCF_REQ_UPDATE		BIT(6)	/* DIGEST, CHAIN: more parts follow;
					 * store the state in @state */
#define OCF_REQ_CONTINUE	BIT(7)	/* DIGEST, CHAIN: begin with @state */
#define OCF_REQ_FLAGS		GENMASK(7, 0)

/* ocf_request.tag_start: the tag is in ocf_request.tag and not in the buffer */
#define OCF_TAG_INLINE		U32_MAX

/**
 * struct ocf_range - a part of a request's buffers
 * @start: bytes from the start of the scatterlist
 * @len: bytes
 */
struct ocf_range {
	u32 start;
	u32 len;
};

/**
 * struct ocf_batch - requests that are submitted one after the other
 *
 * The consumer zeroes it, sets ocf_request.batch of each request, and calls
 * ocf_batch_end() after the last.  Until then a driver may delay its doorbell,
 * so that one serves for all.
 */
struct ocf_batch {
	/* private: cards with a delayed doorbell, a bit each */
	u64 cards;
};

/* private: the original of a request that is done in two steps */
struct ocf_split {
	struct ocf_session	*session;	/* NULL: it is done in one */
	struct ocf_keys		*keys;
	struct scatterlist	*src, *dst;
	struct ocf_range	auth, data;
	u32			tag_start;
	u32			flags;
	enum ocf_op		op;
	int			step;		/* 0 or 1 */
};

DECLARE_STATIC_KEY_FALSE(ocf_cards_there);

/**
 * ocf_has_cards() - whether any card is registered
 *
 * A static branch, which costs nothing without a card.
 *
 * Context: any.
 */
static inline bool ocf_has_cards(void)
{
	return static_branch_unlikely(&ocf_cards_there);
}

struct ocf_request;

/**
 * typedef ocf_done_t - the callback of a request
 * @req: the request, which belongs to its consumer again
 * @err: 0, or why there is no result: -EBADMSG (MAC, tag or padding wrong; if
 *	anything was decrypted, the data range of the destination was zeroed),
 *	-ECANCELED (ocf_cancel()), -ENODEV (no device is left that may do it),
 *	-EIO (the devices failed), -ENOSPC (the compressed data do not fit),
 *	-EINVAL (the compressed stream is invalid), -ENOMEM
 *
 * Context: BH, or process with BH disabled; must not sleep.  It may free the
 * request, and may submit this or other requests.  No lock of the core or of a
 * driver is held.
 */
typedef void (*ocf_done_t)(struct ocf_request *req, int err);

/**
 * struct ocf_job - the part of a struct ocf_request or struct ocf_pk_request
 * that the queue of a device uses
 *
 * The core's own: neither consumers nor drivers use it.
 */
struct ocf_job {
	/* private: of the core */
	struct list_head	node;		/* in lists of the device */
	u32			estimate;	/* ns of the device's time */
	u8			flow;		/* of the owner, see flow.c */
};

/**
 * struct ocf_request - one operation
 * @session: its session; ocf_request_init() takes no reference, but
 *	ocf_submit() does
 * @done: called once, see ocf_submit()
 * @op: direction
 * @flags: OCF_REQ_*
 * @src: source; covers all ranges
 * @dst: destination, or @src for work in place.  It has the same offsets as
 *	@src, and covers the data range, and the tag if that is written to the
 *	buffer.  Only these are written
 * @auth: range that the MAC covers; in AEAD the associated data.  It must end
 *	where @data starts in AEAD, begin no later than @data in MTE, and
 *	contain @data in ETA
 * @data: range that is encrypted, decrypted, digested (DIGEST) or compressed
 * @ivlen: bytes of @iv, if the algorithm lets each request choose (CCM); 0 for
 *	the session's length
 * @tag_start: offset of the tag or MAC in the buffer, or OCF_TAG_INLINE.  It is
 *	read from @src and written to @dst; in MTE it is written to @src, where
 *	the consumer leaves room.  In AEAD it must be the end of @data
 * @dst_len: COMPRESS: bytes of @dst from @data.start on
 * @result_len: set on completion: bytes of payload in MTE decryption, bytes
 *	of result in compression, otherwise @data.len
 * @state: OCF_STATE_MAX bytes of kernel memory for a digest in parts
 *	(OCF_REQ_UPDATE, OCF_REQ_CONTINUE).  Its contents are opaque.  The
 *	consumer may copy it, and wipes it.  One request at a time may use it
 * @iv: IV, nonce or counter block; undefined afterwards, except with
 *	OCF_REQ_NEXT_IV.  XTS uses all bytes: if the session's IV is shorter,
 *	the rest must be zero
 * @tag: tag or MAC with OCF_TAG_INLINE
 * @behind: how many similar requests the submitter will submit after this one,
 *	if a task waits for all of them; otherwise 0
 * @workers: of ocf_workers_get(): a thread of the process does software work
 *	that the submitter does not do itself, and cancels the request if the
 *	process has ended.  NULL: a worker of the kernel does it
 * @batch: the batch, or NULL; not used after ocf_submit() has returned
 * @cookie: for the consumer
 *
 * The core owns the request and its buffers from ocf_submit() until it calls
 * @done; at all other times the consumer does.  The consumer sets the fields
 * listed here.  The core uses the others, and the driver @priv.
 */
struct ocf_request {
	struct ocf_session	*session;
	ocf_done_t		done;
	enum ocf_op		op;
	u32			flags;
	struct scatterlist	*src;
	struct scatterlist	*dst;
	struct ocf_range	auth;
	struct ocf_range	data;
	u32			ivlen;
	u32			tag_start;
	u32			dst_len;
	u32			behind;
	u32			result_len;
	void			*state;
	struct ocf_workers	*workers;
	struct ocf_batch	*batch;
	void			*cookie;
	u8			iv[OCF_IV_MAX] __aligned(16);
	u8			tag[OCF_TAG_MAX];

	/* private: of the core */
	struct ocf_job		job;		/* in dev's or keys' lists */
	struct ocf_keys		*keys;		/* generation of keys */
	struct ocf_context	*ctx;		/* on the device */
	struct ocf_device	*dev;		/* the device */
	int			used;		/* its number */
	struct list_head	order;		/* in the session's order */
	struct llist_node	later;		/* callback delayed to BH */
	atomic_t		bits;		/* OCF_BIT_* in request.h */
	int			where;		/* OCF_AT_* in request.h */
	bool			in_order;	/* delivered in order */
	bool			ready;		/* has its result */
	u8			parks;		/* how often it was parked */
	int			err;		/* result, until delivered */
	u32			bytes;		/* for cost and counters */
	u64			begun;		/* ns, ktime: when it began;
						 * for a waiter: its end */
	u64			due;		/* ns, when the watchdog acts */
	u64			excluded;	/* devices that failed it */
	struct ocf_split	split;
	struct completion	wait;		/* ocf_run() */
	struct work_struct	work;		/* OFFLOAD */

	/* private: of the driver */
	u8			priv[OCF_PRIV_SIZE] CRYPTO_MINALIGN_ATTR;
};

/**
 * ocf_request_alloc() - allocate a request
 * @ses: its session
 * @gfp: allocation flags
 *
 * Context: as @gfp says.
 * Return: an initialised request, or NULL.
 */
struct ocf_request *ocf_request_alloc(struct ocf_session *ses, gfp_t gfp);

/**
 * ocf_request_init() - initialise a request in memory of the consumer
 * @req: the request; the consumer wipes it after use with ocf_request_wipe()
 * @ses: its session
 *
 * Zeroes all fields that a consumer sets, except @iv and @tag.
 *
 * Context: any.
 */
static inline void ocf_request_init(struct ocf_request *req,
				    struct ocf_session *ses)
{
	req->session = ses;
	req->done = NULL;
	req->op = OCF_OP_ENCRYPT;
	req->flags = 0;
	req->src = NULL;
	req->dst = NULL;
	req->auth = (struct ocf_range){};
	req->data = (struct ocf_range){};
	req->ivlen = 0;
	req->tag_start = OCF_TAG_INLINE;
	req->dst_len = 0;
	req->behind = 0;
	req->state = NULL;
	req->workers = NULL;
	req->batch = NULL;
	req->cookie = NULL;
}

/**
 * ocf_request_maclen() - the length of a request's MAC or tag
 * @req: the request
 *
 * Context: any.
 * Return: bytes; 0 if its session has no MAC.
 */
u32 ocf_request_maclen(const struct ocf_request *req);

/**
 * ocf_request_wipe() - zero a request
 * @req: a request that is not in flight
 *
 * Context: any.
 */
void ocf_request_wipe(struct ocf_request *req);

/**
 * ocf_request_free() - wipe and free a request of ocf_request_alloc()
 * @req: a request that is not in flight, or NULL
 *
 * Context: any.
 */
void ocf_request_free(struct ocf_request *req);

/**
 * ocf_submit() - submit a request
 * @req: the request, with @done set
 *
 * If this returns 0 or -EINPROGRESS, @done is called once.  After any other
 * return it is not called.
 *
 * 0 means that @done has been called already; that happens only with
 * OCF_REQ_INLINE.  If @done submits a request, the callback of that request may
 * run inside the submission.  At the next level the callback is delayed to BH.
 *
 * The caller holds a reference on the session until this returns.  The request
 * holds its own from then on.
 *
 * Context: process or BH.  Sleeps only with OCF_REQ_MAY_SLEEP.
 * Return:
 * * 0: done
 * * -EINPROGRESS: in flight
 * * -EINVAL: ranges, flags, lengths or operation do not fit the session
 * * -E2BIG: it covers more than OCF_REQUEST_MAX, or more than the limit of each
 *   device that may be used
 * * -ENODEV: no device that may be used is left
 * -EBUSY: every device that may be used is full, and so is the owner's queue.
 *   Or no device has the session's keys yet, and too many requests of the owner
 *   wait for that
 */
int ocf_submit(struct ocf_request *req);

/**
 * ocf_batch_end() - end a batch
 * @batch: the batch, which can be used again afterwards
 *
 * Context: process or BH.
 */
void ocf_batch_end(struct ocf_batch *batch);

/**
 * ocf_run() - submit a request and wait for its result
 * @req: the request; @done is called only if a kill ends the wait
 *
 * If software does the request immediately, this does not sleep, and uses no
 * queue and no timer.
 *
 * Context: process; may sleep.  OCF_REQ_MAY_SLEEP is implied.
 * Return: the result as in ocf_done_t; an error of ocf_submit(); or -EINTR: the
 * task is being killed.  After -EINTR the request has been cancelled, may still
 * be in flight, and the core calls @req->done, or has called it.  The caller
 * must not use @req again.
 */
int ocf_run(struct ocf_request *req);

/**
 * ocf_cancel() - cancel a request
 * @req: a request that was submitted and not freed
 *
 * A request that waits for a device completes with -ECANCELED before this
 * returns.  A request that waits for a worker completes with -ECANCELED when
 * the worker takes it.  A request in a device completes with -ECANCELED when
 * the device is done with its buffers.  @done is called once in any case.
 *
 * Context: process or BH.
 * Return: true if the request completes with -ECANCELED; false if it had its
 * result before.
 */
bool ocf_cancel(struct ocf_request *req);

/**
 * ocf_counter_add() - increment a counter block of AES-CTR
 * @iv: the block, a number of 16 bytes (SP 800-38A, B.1)
 * @blocks: the increment
 *
 * Context: any.
 */
void ocf_counter_add(u8 *iv, u32 blocks);

/**
 * ocf_device_number() - find a device by name
 * @name: name of a device ("virtio0"), or its start ("virtio")
 *
 * Context: process or BH.
 * Return: its number, or -ENOENT.
 */
int ocf_device_number(const char *name);

/**
 * ocf_device_name() - find the name of a device
 * @number: its number
 * @name: is filled in, with a NUL
 * @size: bytes of @name
 *
 * Context: process or BH.
 * Return: 0, or -ENOENT.
 */
int ocf_device_name(int number, char *name, size_t size);

#endif /* _LINUX_OCF_H */
