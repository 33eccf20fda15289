/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OCF for Linux: what a consumer sees.
 *
 * A consumer (a character device, a socket, a file system) opens a session
 * with algorithms, modes and keys, and submits requests to it.  It never
 * learns which device works for it: the core chooses one for each request and
 * moves the session when a device dies.
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
 * Drivers include <linux/ocf_driver.h>.
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
#include <linux/scatterlist.h>
#include <linux/types.h>
#include <linux/uidgid_types.h>
#include <linux/workqueue.h>
#include <uapi/linux/ocf.h>

#define OCF_IV_MAX		16	/* bytes: block of AES, tweak of XTS */
#define OCF_TAG_MAX		64	/* bytes: SHA-512, BLAKE2b */
#define OCF_KEY_MAX		64	/* bytes: two keys of AES-256-XTS */
#define OCF_MACKEY_MAX		512	/* bytes: as cryptodev-linux has it */
#define OCF_STATE_MAX		400	/* bytes: see ocf_request.state */
#define OCF_REQUEST_MAX		(64u << 20) /* bytes a request may cover */
#define OCF_PRIV_SIZE		768	/* bytes a driver has in a request */

/*
 * enum ocf_alg - every algorithm the framework knows
 *
 * The numbers are ours, never shown to user space: each ABI has its own ids.
 * They are in the rows of the core's table, kernel/core/session/alg.c, as are
 * sizes, names and policy.
 */
enum ocf_alg {
	OCF_ALG_NONE,
	/* ciphers */
	OCF_NULL_CIPHER,
	OCF_AES_CBC,
	OCF_AES_CTR,
	OCF_AES_ECB,
	OCF_AES_XTS,
	OCF_DES3_CBC,
	OCF_DES_CBC,
	OCF_CAMELLIA_CBC,
	OCF_BLOWFISH_CBC,
	OCF_CAST5_CBC,
	OCF_CHACHA20,
	/* authenticated encryption */
	OCF_AES_GCM,
	OCF_AES_CCM,
	OCF_SM4_CCM,
	OCF_SM4_GCM,
	OCF_ARIA_GCM,
	OCF_CHACHA20_POLY1305,
	/* digests; BLAKE2 takes a key if there is one */
	OCF_MD5,
	OCF_SHA1,
	OCF_SHA224,
	OCF_SHA256,
	OCF_SHA384,
	OCF_SHA512,
	OCF_SHA3_224,
	OCF_SHA3_256,
	OCF_SHA3_384,
	OCF_SHA3_512,
	OCF_RIPEMD160,
	OCF_BLAKE2B,
	OCF_BLAKE2S,
	/* message authentication codes */
	OCF_NULL_MAC,
	OCF_HMAC_MD5,
	OCF_HMAC_SHA1,
	OCF_HMAC_SHA224,
	OCF_HMAC_SHA256,
	OCF_HMAC_SHA384,
	OCF_HMAC_SHA512,
	OCF_HMAC_SHA3_224,
	OCF_HMAC_SHA3_256,
	OCF_HMAC_SHA3_384,
	OCF_HMAC_SHA3_512,
	OCF_HMAC_RIPEMD160,
	OCF_AES_CMAC,
	OCF_AES_GMAC,
	/* compression */
	OCF_DEFLATE,
	OCF_ALG_COUNT
};

/* Whether an algorithm is CCM, whose nonce limits the data's length. */
static inline bool ocf_alg_is_ccm(enum ocf_alg alg)
{
	return alg == OCF_AES_CCM || alg == OCF_SM4_CCM;
}

/* Flags of a session, with those of <uapi/linux/ocf.h> */
#define OCF_SESSION_ANY		(OCF_SESSION_HARDWARE | OCF_SESSION_SOFTWARE)
#define OCF_SESSION_FLAGS	GENMASK(3, 0)

#define OCF_DEVICE_ANY		(-1)

/**
 * struct ocf_session_params - what a session is to do
 * @mode: how the algorithms are put together
 * @cipher: cipher, AEAD or compression algorithm, or OCF_ALG_NONE
 * @mac: digest or MAC algorithm, or OCF_ALG_NONE
 * @policy: what the choice of devices aims at
 * @flags: OCF_SESSION_*; neither HARDWARE nor SOFTWARE means both
 * @device: the only device to use, by its number, or OCF_DEVICE_ANY
 * @key: cipher key of @keylen bytes; copied
 * @keylen: bytes
 * @mackey: MAC key of @mackeylen bytes; copied
 * @mackeylen: bytes
 * @ivlen: bytes of IV or nonce; 0 for the algorithm's own
 * @maclen: bytes of the MAC or tag that are used; 0 for all
 * @rounds: for ciphers that have a choice (ChaCha: 12, 20); 0 for the
 *	algorithm's own
 * @owner: whose work it is, for fairness between owners where they wait for
 *	the same card: any number; 0 for the kernel's own
 * @account: what the session's memory is charged to, or NULL; the session
 *	holds it
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
};

/**
 * ocf_account_get() - the account of a user's sessions
 * @uid: the user
 *
 * Parameter max_session_bytes of this module limits it.
 *
 * Context: process; may sleep.
 * Return: the account, held, or NULL if there is no memory.
 */
struct ocf_account *ocf_account_get(kuid_t uid);

/**
 * ocf_account_put() - give a reference back
 * @account: an account, or NULL
 *
 * Context: process.
 */
void ocf_account_put(struct ocf_account *account);

/**
 * ocf_account_charge() - charge what a consumer has allocated for a session
 * @account: the account, or NULL
 * @bytes: how much
 *
 * Context: process.
 * Return: 0; -EDQUOT if it would be too much, unless the task has
 * CAP_SYS_RESOURCE.
 */
int ocf_account_charge(struct ocf_account *account, size_t bytes);

/**
 * ocf_account_uncharge() - take that back
 * @account: the account, or NULL
 * @bytes: how much
 *
 * Context: any.
 */
void ocf_account_uncharge(struct ocf_account *account, size_t bytes);

struct ocf_session;
struct ocf_device;
struct ocf_context;
struct ocf_keys;

/**
 * ocf_session_create() - open a session
 * @params: what it is to do; keys are copied, the caller wipes its own
 * @gfp: GFP_KERNEL, or GFP_KERNEL_ACCOUNT on behalf of a user
 *
 * Context: process; may sleep.
 * Return: the session with one reference, or an ERR_PTR:
 * * -EINVAL: mode, algorithms, lengths or flags do not fit together
 * * -EPERM: an algorithm is weak and the administrator has not allowed it
 * * -EOPNOTSUPP: no device that may be used is capable of it
 * * -ENODEV: @device does not exist, or those that are capable are out of use
 * * -ENOMEM: no memory
 * * -EDQUOT: the sessions of @params->account take too much
 * * -ENOSPC: cards alone may do it, and work in all the places they have
 * * what the chosen device said when it refused the keys, -EINVAL or
 *   -EKEYREJECTED as a rule
 */
struct ocf_session *
ocf_session_create(const struct ocf_session_params *params, gfp_t gfp);

/**
 * ocf_session_derive() - open a session with the algorithms and keys of another
 * @ses: the other
 * @mode: how the algorithms are put together
 * @maclen: bytes of the MAC or tag that are used; 0 for all
 * @flags: OCF_SESSION_*, besides those of @ses
 * @gfp: as in ocf_session_create()
 *
 * The two have nothing in common afterwards; keys of @ses that are replaced
 * later are not those of the new one.
 *
 * Context: process; may sleep.
 * Return: as ocf_session_create().
 */
struct ocf_session *ocf_session_derive(struct ocf_session *ses,
				       enum ocf_mode mode, u32 maclen,
				       u32 flags, gfp_t gfp);

/**
 * ocf_session_get() - take a reference
 * @ses: a session the caller holds one of already
 *
 * Context: any.
 * Return: @ses.
 */
struct ocf_session *ocf_session_get(struct ocf_session *ses);

/**
 * ocf_session_put() - give a reference back
 * @ses: a session, or NULL
 *
 * With the last one the contexts on all devices are freed, and the keys wiped
 * after them.  A worker does it where a card has to forget one, which may take
 * the card long.  A request in flight holds a reference of its own.
 *
 * Context: process; may sleep.
 */
void ocf_session_put(struct ocf_session *ses);

/**
 * ocf_session_put_deferred() - give a reference back where one must not sleep
 * @ses: a session, or NULL
 *
 * Context: process or BH.
 */
void ocf_session_put_deferred(struct ocf_session *ses);

/**
 * ocf_session_rekey() - give a session new keys
 * @ses: the session
 * @key: cipher key of @keylen bytes, NULL to keep the one it has
 * @keylen: bytes
 * @mackey: MAC key of @mackeylen bytes, NULL to keep the one it has
 * @mackeylen: bytes
 *
 * Requests submitted before finish under the old keys, also when they are
 * replayed on another device; requests submitted after use the new ones.
 *
 * Context: process; may sleep.
 * Return: 0; -EINTR: the task is being killed; an error as of
 * ocf_session_create().  After an error the old keys stay.
 */
int ocf_session_rekey(struct ocf_session *ses, const u8 *key, u32 keylen,
		      const u8 *mackey, u32 mackeylen);

/**
 * struct ocf_session_info - what a consumer may know of a session
 * @mode: as created
 * @cipher: as created
 * @mac: as created
 * @ivlen: bytes of IV, the algorithm's own if 0 was given
 * @maclen: bytes of MAC or tag, the algorithm's own if 0 was given
 * @block: bytes the data's length must be a multiple of
 * @hardware: some card is capable of it
 * @device: number of the device preferred if all are idle, or -ENODEV
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
 * ocf_session_info() - tell what a session is
 * @ses: the session
 * @info: is filled in
 *
 * Context: process or BH.
 */
void ocf_session_info(struct ocf_session *ses, struct ocf_session_info *info);

/**
 * ocf_session_crossover() - from which size on cards are worth the way
 * @ses: the session
 * @many: so many requests are under way at a time that nobody waits for one
 *
 * Context: process or BH.
 * Return: bytes, a power of two, from which on some card, if it is idle, is
 * done before the CPU, or with @many takes less time of its own; 0: there is no
 * such size.
 */
u32 ocf_session_crossover(struct ocf_session *ses, bool many);

/**
 * ocf_cpu_takes() - whether the caller had better do an operation itself
 * @ses: the session that it is an operation of
 * @op: direction
 * @bytes: of data
 *
 * For a consumer that has another way to do it on the CPU (in the crypto API:
 * the implementation it stands before).  A request of few data costs as much
 * again on its way through the core.
 *
 * Context: process or BH.
 * Return: true if only the CPU comes into question for so few bytes, and no
 * request is under way that has to come back first.  The caller then does it;
 * it has been counted.  If false, it submits a request.
 */
bool ocf_cpu_takes(struct ocf_session *ses, enum ocf_op op, u32 bytes);

/**
 * ocf_cpu_is_allowed() - whether software may do a session's operations
 * @ses: the session
 *
 * For a consumer that does some itself, which no device can.
 *
 * Context: process or BH.
 * Return: false if its flags or the administrator forbid it, or if there is no
 * software device.
 */
bool ocf_cpu_is_allowed(struct ocf_session *ses);

/**
 * ocf_cpu_failed() - count the error of an operation that the caller has done
 * @ses: the session
 * @bytes: as ocf_cpu_takes() was told
 *
 * Context: process or BH.
 */
void ocf_cpu_failed(struct ocf_session *ses, u32 bytes);

/* Flags of a request */
#define OCF_REQ_MAY_SLEEP	BIT(0)	/* submitted where one may sleep */
#define OCF_REQ_INLINE		BIT(1)	/* done() may run inside ocf_submit() */
#define OCF_REQ_OFFLOAD		BIT(2)	/* the submitter has better to do than
					 * software for longer than a hand-over
					 * to a worker takes; where one must not
					 * sleep, what takes some milliseconds
					 * is a worker's anyway */
#define OCF_REQ_NEXT_IV		BIT(3)	/* leave in @iv what the next request
					 * of the same stream needs (CBC, CTR,
					 * ChaCha20) */
#define OCF_REQ_MAC_FIRST	BIT(4)	/* CHAIN: MAC before cipher */
#define OCF_REQ_VERIFY		BIT(5)	/* CHAIN: compare the MAC */
#define OCF_REQ_UPDATE		BIT(6)	/* DIGEST, CHAIN: more parts follow;
					 * the state is kept in @state */
#define OCF_REQ_CONTINUE	BIT(7)	/* DIGEST, CHAIN: go on from @state */
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
 * Zeroed before the first, named in ocf_request.batch of each, ended with
 * ocf_batch_end(): until then a card may put off looking at them, which saves
 * it a doorbell for each.
 */
struct ocf_batch {
	/* private: cards that put something off, a bit each */
	u64 cards;
};

/* private: what a request is, while it is done in two steps */
struct ocf_split {
	struct ocf_session	*session;	/* its own; NULL: it is not */
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
 * ocf_has_cards() - whether any device but the CPU is there
 *
 * Context: any.  It costs nothing where there is none.
 */
static inline bool ocf_has_cards(void)
{
	return static_branch_unlikely(&ocf_cards_there);
}

struct ocf_workers;

/**
 * ocf_workers_get() - the threads of the calling process that work for it
 *
 * They do the software work of its requests at its priority and in its control
 * group.  Named in ocf_request.workers.
 *
 * Context: process; may sleep.
 * Return: to be given to ocf_workers_put() after the last request that names
 * them is done; NULL if there is no memory, or if the kernel cannot make such
 * threads (CONFIG_VHOST_TASK): the requests are then the kernel's work.
 */
struct ocf_workers *ocf_workers_get(void);

/**
 * ocf_workers_start() - make sure that there is a thread for work
 * @workers: the calling process's, or NULL
 *
 * To be called before a request with OCF_REQ_OFFLOAD, or before a public-key
 * request, is submitted.  It starts the first thread, and another one when all
 * were busy as work came.
 *
 * Context: process; may sleep.
 */
void ocf_workers_start(struct ocf_workers *workers);

/**
 * ocf_workers_start_wanted() - start a thread if one was missing
 * @workers: the calling process's, or NULL
 *
 * For requests that name threads only in case a card fails them: most processes
 * with such requests never need a thread.
 *
 * Context: process; may sleep.
 */
void ocf_workers_start_wanted(struct ocf_workers *workers);

/**
 * ocf_workers_put() - be done with them
 * @workers: of ocf_workers_get(), or NULL
 *
 * Context: process or BH.
 */
void ocf_workers_put(struct ocf_workers *workers);

/**
 * ocf_workers_ended() - whether a process has ended, or is another program
 * @workers: of ocf_workers_get()
 *
 * Context: any.
 * Return: if so, nobody waits for the results of what it has submitted.
 */
bool ocf_workers_ended(const struct ocf_workers *workers);

/**
 * ocf_workers_settle() - wait for the end of what a process has submitted
 * @workers: of ocf_workers_get()
 *
 * For a consumer whose descriptor the kernel closes because the process ends.
 * The threads end as well: they finish what they are at, and cancel the rest.
 * In any other case this does nothing.
 *
 * Context: process; may sleep.
 */
void ocf_workers_settle(struct ocf_workers *workers);

struct ocf_request;

/**
 * typedef ocf_done_t - a request's callback
 * @req: the request, which belongs to its consumer again
 * @err: 0, or why there is no result: -EBADMSG (MAC, tag or padding wrong; the
 *	data range of the destination has been zeroed where anything was
 *	decrypted into it), -ECANCELED (ocf_cancel()), -ENODEV (no device is
 *	left that may do it), -EIO (the devices failed), -ENOSPC (compression
 *	does not fit), -EINVAL (a stream cannot be expanded), -ENOMEM
 *
 * Context: BH, or process with BH disabled; must not sleep.  May free the
 * request, and may submit it or others.  No lock of the core or of a driver
 * is held.
 */
typedef void (*ocf_done_t)(struct ocf_request *req, int err);

/**
 * struct ocf_request - one operation
 * @session: whose; ocf_request_init() takes no reference, ocf_submit() does
 * @done: called once, see ocf_submit()
 * @op: direction
 * @flags: OCF_REQ_*
 * @src: source; covers all ranges
 * @dst: destination, or @src for work in place; covers the data range, and
 *	the tag where that is in the buffer and is written.  Both share the
 *	offsets.  Nothing but the data range and the tag is written
 * @auth: what the MAC covers; the associated data in AEAD; must end where
 *	@data starts in AEAD, begin no later than @data in MTE, and hold @data
 *	in ETA
 * @data: what is encrypted, decrypted, digested (DIGEST) or compressed
 * @ivlen: bytes of @iv, where the algorithm leaves a choice to each request
 *	(CCM); 0 for the session's
 * @tag_start: where the tag or MAC is in the buffer (read from @src, written
 *	to @dst; in MTE written to @src, where the consumer has made room), or
 *	OCF_TAG_INLINE; for AEAD it must be the end of @data
 * @dst_len: COMPRESS: room in @dst from @data.start on
 * @result_len: set on completion: bytes of payload in MTE decryption, bytes
 *	of result in compression, else @data.len
 * @state: OCF_STATE_MAX bytes of kernel memory for a digest in parts
 *	(OCF_REQ_UPDATE, OCF_REQ_CONTINUE); opaque, wiped by its owner; may be
 *	copied to branch off.  One request at a time may use it
 * @iv: IV, nonce or counter block; undefined afterwards, but see
 *	OCF_REQ_NEXT_IV.  XTS takes all of its bytes, also of a session with a
 *	shorter one: the rest is then to be zero
 * @tag: tag or MAC with OCF_TAG_INLINE
 * @behind: how many like it the submitter has to submit after it, and somebody
 *	waits for all of them; else 0
 * @workers: threads of a process, to which the software work of the request
 *	goes that its submitter does not do itself; NULL: a worker's of the
 *	kernel.  When the process ends it is cancelled
 * @batch: the batch it is submitted in, or NULL; not looked at after
 *	ocf_submit() has returned
 * @cookie: the consumer's own
 *
 * All memory is the consumer's from allocation to ocf_submit() and from
 * @done on, and the framework's between.  Fields above the line are set by
 * the consumer, the rest by the core; @priv is for the driver that works on it.
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

	/* private: the core's */
	struct ocf_keys		*keys;		/* generation it runs under */
	struct ocf_context	*ctx;		/* where it runs */
	struct ocf_device	*dev;		/* same, for accounting */
	int			used;		/* dev's number; it may go */
	struct list_head	node;		/* in dev's or keys' lists */
	struct list_head	order;		/* in the session's order */
	struct llist_node	later;		/* callback put off */
	atomic_t		bits;		/* OCF_BIT_* in request.h */
	int			where;		/* OCF_AT_* in request.h */
	bool			in_order;	/* delivered in order */
	bool			ready;		/* has its result */
	u8			parks;		/* waits for a context */
	int			err;		/* result, until delivered */
	u32			bytes;		/* for cost and counters */
	u32			estimate;	/* ns, in dev's backlog */
	u64			begun;		/* ns, ktime; or its end */
	u64			due;		/* ns, overdue from then on */
	u64			excluded;	/* devices that failed it */
	struct ocf_split	split;
	struct completion	wait;		/* ocf_run() */
	struct work_struct	work;		/* OFFLOAD */

	/* private: the driver's */
	u8			priv[OCF_PRIV_SIZE] CRYPTO_MINALIGN_ATTR;
};

/**
 * ocf_request_alloc() - a request of the framework's making
 * @ses: its session
 * @gfp: allocation flags
 *
 * Context: as @gfp says.
 * Return: an initialised request, or NULL.
 */
struct ocf_request *ocf_request_alloc(struct ocf_session *ses, gfp_t gfp);

/**
 * ocf_request_init() - make a request of memory the consumer has
 * @req: the memory; after use wiped with ocf_request_wipe()
 * @ses: its session
 *
 * All that a consumer sets is zero afterwards, but @iv and @tag, which are
 * left as they are.
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
 * ocf_request_maclen() - bytes of MAC or tag a request has
 * @req: the request
 *
 * Context: any.
 * Return: bytes; 0 if its session has no MAC.
 */
u32 ocf_request_maclen(const struct ocf_request *req);

/**
 * ocf_request_wipe() - forget what a request has seen
 * @req: a request that is not in flight
 *
 * Context: any.
 */
void ocf_request_wipe(struct ocf_request *req);

/**
 * ocf_request_free() - free what ocf_request_alloc() made
 * @req: a request that is not in flight, or NULL
 *
 * Context: any.
 */
void ocf_request_free(struct ocf_request *req);

/**
 * ocf_submit() - hand a request in
 * @req: the request, with @done set
 *
 * A return of 0 or -EINPROGRESS promises exactly one call of @req->done; a
 * negative return other than that promises that there is none.  Completion by
 * the driver, cancellation, the device's death and teardown race for one bit
 * of the request, and who sets it delivers.
 *
 * With 0, @done has been called already, which happens only if the request
 * allows it (OCF_REQ_INLINE).  A @done that submits may be called back from
 * inside that submit once; deeper, the call is put off to BH.
 *
 * The caller holds a reference on the session until this returns; the request
 * holds its own from then on.
 *
 * Context: process or BH.  Sleeps only with OCF_REQ_MAY_SLEEP.
 * Return:
 * * 0: done
 * * -EINPROGRESS: under way
 * * -EINVAL: ranges, flags, lengths or operation do not fit the session
 * * -E2BIG: it covers more than OCF_REQUEST_MAX, or than any device that may
 *   be used takes
 * * -ENODEV: no device that may be used is left
 * * -EBUSY: every device that may be used is full, and so is the queue; or the
 *   session's keys are on no device yet, and too many requests wait for that
 */
int ocf_submit(struct ocf_request *req);

/**
 * ocf_batch_end() - no more requests follow in a batch
 * @batch: the batch; empty and ready for use again afterwards
 *
 * Context: process or BH.
 */
void ocf_batch_end(struct ocf_batch *batch);

/**
 * ocf_run() - hand a request in and wait for its result
 * @req: the request; @done is called only if the wait was ended by a kill
 *
 * What software does at once never sleeps, touches no queue and no timer.
 *
 * Context: process; may sleep.  OCF_REQ_MAY_SLEEP is implied.
 * Return: the result as ocf_done_t has it, an error of ocf_submit(), or
 * -EINTR: the task is being killed, the request is still under way (it has
 * been cancelled where that was possible) and @req->done will be called or
 * has been; the caller must not touch it again.
 */
int ocf_run(struct ocf_request *req);

/**
 * ocf_cancel() - give a request up
 * @req: a request whose memory is still there
 *
 * A request that waits for a device completes with -ECANCELED before this
 * returns.  One that waits for a worker completes when its turn comes, one that
 * a device works on when the device lets go of its buffers, with -ECANCELED.
 * @done is called in any case, once.
 *
 * Context: process or BH.
 * Return: true if the request will complete, or has completed, with
 * -ECANCELED by this call; false if its result was there before.
 */
bool ocf_cancel(struct ocf_request *req);

/**
 * struct ocf_alg_info - a row of the algorithm table, as far as consumers go
 * @name: our name, as in "aes-cbc"
 * @impl: name of the kernel's crypto API, as in "cbc(aes)", or NULL
 * @type: what it is
 * @flags: OCF_ALG_*
 * @key_min: bytes
 * @key_max: bytes
 * @key_step: keys are @key_min + n * @key_step bytes
 * @block: bytes the data's length must be a multiple of
 * @iv: bytes of IV or nonce, the usual length
 * @iv_min: bytes, where there is a choice
 * @iv_max: bytes, where there is a choice
 * @iv_step: IVs are @iv_min + n * @iv_step bytes
 * @digest: bytes of a digest, MAC or tag; 0 if it has none
 * @tags: bit n - 1 is set if the MAC or tag may be n bytes long
 * @linux_id: id in the cryptodev-linux ABI, 0 if it has none there
 * @bsd_id: id in the FreeBSD and OpenBSD ABI, 0 if it has none there
 */
struct ocf_alg_info {
	const char	*name;
	const char	*impl;
	enum ocf_alg_type {
		OCF_TYPE_NONE,
		OCF_TYPE_CIPHER,
		OCF_TYPE_AEAD,
		OCF_TYPE_DIGEST,
		OCF_TYPE_MAC,
		OCF_TYPE_COMPRESS,
	}		type;
#define OCF_ALG_WEAK	BIT(0)	/* off until the administrator allows it */
#define OCF_ALG_ROUNDS	BIT(1)	/* has a choice of rounds: 12, 20 */
#define OCF_ALG_CHAINS	BIT(2)	/* OCF_REQ_NEXT_IV means something */
#define OCF_ALG_PARTS	BIT(3)	/* OCF_REQ_UPDATE is possible */
#define OCF_ALG_FIPS	BIT(4)	/* is offered with fips=1 too */
	u32		flags;
	u64		tags;
	u16		key_min;
	u16		key_max;
	u8		key_step;
	u8		block;
	u8		iv;
	u8		iv_min;
	u8		iv_max;
	u8		iv_step;
	u8		digest;
	u8		linux_id;
	u8		bsd_id;
};

/* The ABIs that have numbers of their own for algorithms */
enum ocf_abi {
	OCF_ABI_LINUX,		/* cryptodev-linux */
	OCF_ABI_BSD,		/* FreeBSD, OpenBSD */
};

/**
 * ocf_alg_info() - the row of an algorithm
 * @alg: the algorithm
 *
 * Context: any.
 * Return: the row, or NULL if there is no such algorithm.
 */
const struct ocf_alg_info *ocf_alg_info(enum ocf_alg alg);

/**
 * ocf_alg_by_id() - translate an ABI's id
 * @abi: whose
 * @id: which
 *
 * Context: any.
 * Return: the algorithm, OCF_ALG_NONE for 0 and for ids without a row.
 */
enum ocf_alg ocf_alg_by_id(enum ocf_abi abi, u32 id);

/**
 * ocf_alg_by_name() - find an algorithm by our name
 * @name: as in "aes-cbc"
 * @len: bytes of it, without a NUL
 *
 * Context: any.
 * Return: the algorithm, or OCF_ALG_NONE.
 */
enum ocf_alg ocf_alg_by_name(const char *name, size_t len);

/**
 * ocf_counter_add() - move a counter block of AES-CTR on
 * @iv: 16 bytes, all of which count (SP 800-38A, B.1)
 * @blocks: by how much
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
 * ocf_device_name() - tell a device's name
 * @number: its number
 * @name: where to put it, NUL-terminated
 * @size: room there, bytes
 *
 * Context: process or BH.
 * Return: 0, or -ENOENT.
 */
int ocf_device_name(int number, char *name, size_t size);

#endif /* _LINUX_OCF_H */
