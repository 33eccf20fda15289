/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ocf_alg: sessions as implementations in the kernel's crypto API, for users
 * such as ESP, dm-crypt and kTLS.
 *
 * Rules that hold for all of them:
 *
 * - There is one implementation for each algorithm, never one for each card.
 *   A transform has one session, and the core chooses a device for each
 *   request.  A card that dies changes the route and nothing that the user of
 *   the transform sees.
 * - A fallback does small requests in the submitter's context, if the core says
 *   that the CPU is better for them.  The path through the core costs more than
 *   the work.
 * - A request's memory is its context in the crypto API's request, so that a
 *   request allocates nothing here.
 * - If the result is there when ocf_submit() returns, it is returned.  A later
 *   result is reported by the request's callback, in BH.  Never both.
 * - -EBUSY is for requests with CRYPTO_TFM_REQ_MAY_BACKLOG, and means that the
 *   request waits here.  Other requests get -ENOSPC.
 * - Nothing here is built on an implementation of ours.  Fallbacks are looked
 *   for among those that need none.  ocf_soft and ocf_bridge take nothing that
 *   has "ocf-" in its name.
 * - A transform keeps the fallback that it found when it was made.  The
 *   fallback of each key is another instance of the same.
 */
#ifndef OCF_ALG_H
#define OCF_ALG_H

#include <crypto/aead.h>
#include <crypto/algapi.h>
#include <crypto/hash.h>
#include <crypto/internal/simd.h>
#include <crypto/skcipher.h>
#include <linux/mutex.h>
#include <linux/ocf.h>
#include <linux/ocf_user.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>

#include <asm/simd.h>

/*
 * The flags of an accelerator's implementation.  Users that must not have one
 * (fscrypt) get none of ours.  Nor is one of ours found as our own fallback.
 */
#define ALG_FLAGS	(CRYPTO_ALG_ASYNC | CRYPTO_ALG_NEED_FALLBACK | \
			 CRYPTO_ALG_KERN_DRIVER_ONLY)

#define ALG_AAD_MAX	16	/* bytes that may be reordered */
#define ALG_ENTRIES	4	/* in a scatterlist of our own */
#define ALG_SALT_MAX	4	/* bytes at a key's end that are no key */

/* Fallbacks: of the kernel, on the CPU, without memory of their own */
#define ALG_FALLBACK_MASK \
	(CRYPTO_ALG_NEED_FALLBACK | CRYPTO_ALG_ALLOCATES_MEMORY | \
	 CRYPTO_ALG_KERN_DRIVER_ONLY)

/* The flags of a request that are passed on to its fallback's request. */
#define ALG_REQUEST_FLAGS \
	(CRYPTO_TFM_REQ_MAY_SLEEP | CRYPTO_TFM_REQ_MAY_BACKLOG)

/**
 * struct alg_key - all that depends on a transform's key; never changed
 * @refs: the transform's, and one for each request that begins with it
 * @session: does requests for which a device is worth it.  NULL if no device
 *	has such tags, or takes such a key
 * @cipher: does the other requests, in the submitter's context; NULL if this is
 *	an AEAD
 * @aead: does the other requests, in the submitter's context; NULL if this is a
 *	cipher, or the core does all requests
 * @authsize: bytes of a tag
 * @salt: the first bytes of an AEAD's nonces or counter blocks
 * @free: frees it after a grace period for readers of @refs
 * @len: bytes of @bytes
 * @bytes: the key as it was set, in case the length of tags changes
 */
struct alg_key {
	refcount_t		refs;
	struct ocf_session	*session;
	struct crypto_skcipher	*cipher;
	struct crypto_aead	*aead;
	unsigned int		authsize;
	u8			salt[ALG_SALT_MAX];
	struct rcu_work		free;
	unsigned int		len;
	u8			bytes[] __counted_by(len);
};

/* Fills in @key, which has @authsize and @bytes: 0, or an errno. */
typedef int (*alg_fill_fn)(struct crypto_tfm *tfm, struct alg_key *key);

/**
 * struct alg_tfm - what every transform has
 * @key: NULL before the first one; replaced as a whole
 * @setting: held by the task that replaces @key
 * @waiting: its requests in the backlog
 * @refused: the last pass over the backlog that found no capacity for it
 */
struct alg_tfm {
	struct alg_key __rcu	*key;
	struct mutex		setting;
	unsigned int		waiting;
	unsigned int		refused;
};

/**
 * struct alg_request - what every request has
 * @base: the crypto API's request
 * @tfm: its transform
 * @key: its key, held until it is submitted
 * @authsize: bytes of its tag
 * @state: ALG_*
 * @err: the result, valid from ALG_DONE on
 * @iv: where the stream's next IV is written, or NULL
 * @ivlen: its bytes
 * @finish: called once with the result, or NULL
 * @node: in the backlog
 * @src: a scatterlist of our own, if the request's has another order
 * @dst: the destination, if @src is a list of our own
 * @entries: an allocated scatterlist that is used as the source instead of
 *	@src, or NULL
 * @aad: bytes that @src begins or ends with
 * @req: the core's
 */
struct alg_request {
	struct crypto_async_request *base;
	struct alg_tfm		*tfm;
	struct alg_key		*key;
	unsigned int		authsize;
	atomic_t		state;
#define ALG_SUBMITTING	0	/* ocf_submit() has not returned */
/* it has returned: the callback reports the result */
#define ALG_SUBMITTED	1
#define ALG_DONE	2	/* the result came before it returned */
	int			err;
	u8			*iv;
	unsigned int		ivlen;
	void (*finish)(struct alg_request *r, int err);
	struct list_head	node;
	struct scatterlist	src[ALG_ENTRIES];
	struct scatterlist	dst[ALG_ENTRIES];
	struct scatterlist	*entries;
	u8			aad[ALG_AAD_MAX];
	struct ocf_request	req;
};

/**
 * struct alg_fallback_request - the layout of a request's memory if the
 * fallback does the request
 * @base: the crypto API's request
 * @key: its key, held until it is done
 * @counted: bytes that ocf_cpu_takes() has counted
 * @cipher: the fallback's request
 * @aead: the fallback's request, of an AEAD
 * @hash: the same of a hash, with its state
 */
struct alg_fallback_request {
	struct crypto_async_request *base;
	struct alg_key		*key;
	unsigned int		counted;
	union {
		struct skcipher_request	cipher;
		struct aead_request	aead;
		struct ahash_request	hash;
	};
};

/* The crypto API aligns contexts for DMA. Its alignment may be less. */
#define ALG_REQUEST_SIZE \
	(sizeof(struct alg_request) + __alignof__(struct alg_request) - \
	 CRYPTO_MINALIGN)

/**
 * alg_request_size() - bytes that the crypto API adds to a request for us
 * @fallback: bytes that it adds to the fallback's
 *
 * Context: any.
 * Return: bytes.
 */
static inline unsigned int alg_request_size(unsigned int fallback)
{
	return max_t(unsigned int, ALG_REQUEST_SIZE,
		     sizeof(struct alg_fallback_request) + fallback);
}

static inline struct alg_request *alg_request_in(void *ctx)
{
	return PTR_ALIGN(ctx, __alignof__(struct alg_request));
}

/* name.c */
int alg_describe(struct crypto_alg *base, const char *name, int priority,
		 unsigned int size);

/* key.c */
void alg_tfm_init(struct alg_tfm *tfm);
void alg_tfm_exit(struct alg_tfm *tfm);
int alg_set_key(struct crypto_tfm *tfm, const u8 *bytes, unsigned int len,
		unsigned int authsize, alg_fill_fn fill);
int alg_set_authsize(struct crypto_tfm *tfm, unsigned int size,
		     alg_fill_fn fill);
int alg_key_open(struct alg_key *key, struct ocf_session_params *params);
void alg_key_put(struct alg_key *key);

/* request.c */
void alg_prepare(struct alg_request *r, struct alg_tfm *tfm,
		 struct alg_key *key, struct crypto_async_request *base,
		 enum ocf_op op);
void alg_put_before(struct scatterlist *to, u8 *aad, unsigned int len,
		    struct scatterlist *sg, unsigned int skip);
int alg_submit(struct alg_request *r);
int alg_refuse(struct alg_request *r, int err);

/* fallback.c */
int alg_check_fallback(const struct crypto_alg *alg, unsigned int reqsize,
		       unsigned int room);
void alg_fallback_done(void *data, int err);
int alg_fallback_end(struct alg_fallback_request *f, int err);

/**
 * struct alg_aead_tfm - an AEAD's transform
 * @tfm: what every transform has
 * @fallback: the implementation of each key's fallback; NULL: the core does all
 */
struct alg_aead_tfm {
	struct alg_tfm		tfm;
	struct crypto_aead	*fallback;
};

/* aead_tfm.c */
int alg_aead_init(struct crypto_aead *tfm);
int alg_aead_init_fallback(struct crypto_aead *tfm);
void alg_aead_exit(struct crypto_aead *tfm);
int alg_aead_set_fallback(struct crypto_aead *tfm, struct alg_key *key);
int alg_aead_crypt(struct aead_request *q, enum ocf_op op,
		   int (*lay_out)(struct alg_request *r, struct aead_request *q,
				  unsigned int len));

/**
 * alg_key_get() - a transform's key
 * @tfm: the transform
 *
 * Context: process or BH.
 * Return: the key, held, or NULL if none was set.
 */
static inline struct alg_key *alg_key_get(struct alg_tfm *tfm)
{
	struct alg_key *key;

	/* cheaper than rcu_read_lock(), and the loop has a turn or two */
	rcu_read_lock_sched();
	/* a key that is about to be freed has been replaced */
	do
		key = rcu_dereference_sched(tfm->key);
	while (unlikely(key && !refcount_inc_not_zero(&key->refs)));
	rcu_read_unlock_sched();
	return key;
}

/**
 * alg_is_for_fallback() - whether the CPU does a small request now
 * @tfm: the transform
 * @key: its key
 * @op: direction
 * @bytes: of data
 *
 * No, if earlier requests wait, or are under way and come back in order.  Also
 * no, if the fallback would put the request off.
 *
 * Context: process or BH.
 */
static inline bool alg_is_for_fallback(struct alg_tfm *tfm, struct alg_key *key,
				       enum ocf_op op, unsigned int bytes)
{
	/*
	 * pairs with leave_backlog(): the requests that waited have been
	 * submitted
	 */
	return likely(!smp_load_acquire(&tfm->waiting)) &&
	       crypto_simd_usable() &&
	       ocf_cpu_takes(key->session, op, bytes);
}

/* esn.c */
int alg_lay_out_esn(struct alg_request *r, struct aead_request *q,
		    unsigned int len);

/* main.c */
extern struct workqueue_struct *alg_wq;

/* backlog.c */
void alg_backlog_exit(void);
int alg_backlog_add(struct alg_request *r);

/* skcipher.c, hash.c, aead.c, authenc.c: register all algorithms of the core */
int alg_skciphers_register(int priority);
void alg_skciphers_unregister(void);
int alg_hashes_register(int priority);
void alg_hashes_unregister(void);
int alg_aeads_register(int priority);
void alg_aeads_unregister(void);
int alg_authencs_register(int priority);
void alg_authencs_unregister(void);

#endif /* OCF_ALG_H */
