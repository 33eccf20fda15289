// SPDX-License-Identifier: GPL-2.0-only
/*
 * Selects the implementation for an algorithm: the best that works
 * synchronously on the CPU without memory of its own.
 *
 * Vector implementations on 6.12 come in two forms.  An internal one may be
 * called where the vector registers are usable; an asynchronous one around it
 * uses a thread where they are not.  The driver uses only the internal one.
 * Where the vector registers are not usable, a worker of the core does the
 * request.  So one key schedule serves both cases.
 *
 * Looking an algorithm up by its generic name walks the whole list and may load
 * modules.  So it is done once here, and contexts ask for the implementation by
 * its own name.  That name may be gone: the kernel drops an instance of a
 * template when a better part for it is loaded.  Then the driver looks once
 * more.
 */
#include <crypto/aead.h>
#include <crypto/hash.h>
#include <crypto/skcipher.h>
#include <linux/err.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "soft.h"

/*
 * Flags of implementations that are not on the CPU, or have memory of their
 * own.
 */
#define NEVER	(CRYPTO_ALG_KERN_DRIVER_ONLY | CRYPTO_ALG_ALLOCATES_MEMORY)

#define IDLE_MAX	16

/**
 * struct impl - which of the kernel's implementations serves an algorithm
 * @driver: its name, empty if there is none
 * @type: for crypto_alloc_*()
 * @mask: for crypto_alloc_*()
 * @model: shash that others are cloned from, without a key, or NULL
 * @lock: protects @idle and @nidle
 * @idle: transforms for the next sessions, their keys overwritten
 * @nidle: of them
 */
struct impl {
	char		driver[CRYPTO_MAX_ALG_NAME];
	u32		type, mask;
	struct crypto_shash *model;
	spinlock_t	lock;
	void		*idle[IDLE_MAX];
	unsigned int	nidle;
};

static struct impl impls[OCF_ALG_COUNT];
static DECLARE_RWSEM(impls_lock);

/*
 * Algorithms whose transforms are kept for the next session, because setting a
 * key costs much less than a search of the crypto API's list.
 */
#define KEPT	(BIT_ULL(OCF_AES_CBC) | BIT_ULL(OCF_AES_CTR) | \
		 BIT_ULL(OCF_AES_ECB) | BIT_ULL(OCF_AES_XTS) | \
		 BIT_ULL(OCF_AES_GCM) | BIT_ULL(OCF_AES_CCM) | \
		 BIT_ULL(OCF_CHACHA20_POLY1305))

/* The properties of a transform by which implementations are compared */
struct found {
	const char	*driver;
	int		priority;
	u32		reqsize;
};

/* Uses @f for @impl if it is better, and may be used. */
static void consider(struct impl *impl, int *best, const struct found *f,
		     u32 type, u32 mask)
{
	if (f->priority <= *best || f->reqsize > OCF_PRIV_SIZE ||
	    strstr(f->driver, "ocf-"))
		return;
	*best = f->priority;
	impl->type = type;
	impl->mask = mask | CRYPTO_NOLOAD;
	strscpy(impl->driver, f->driver);
}

static void try_skcipher(struct impl *impl, int *best, const char *name,
			 u32 type, u32 mask)
{
	struct crypto_skcipher *tfm = crypto_alloc_skcipher(name, type, mask);

	if (IS_ERR(tfm))
		return;
	consider(impl, best, &(struct found){
		 crypto_skcipher_driver_name(tfm),
		 crypto_skcipher_alg(tfm)->base.cra_priority,
		 sizeof(struct skcipher_request) + crypto_skcipher_reqsize(tfm),
		 }, type, mask);
	crypto_free_skcipher(tfm);
}

static void try_aead(struct impl *impl, int *best, const char *name,
		     u32 type, u32 mask)
{
	struct crypto_aead *tfm = crypto_alloc_aead(name, type, mask);

	if (IS_ERR(tfm))
		return;
	consider(impl, best, &(struct found){
		 crypto_aead_driver_name(tfm),
		 crypto_aead_alg(tfm)->base.cra_priority,
		 sizeof(struct aead_request) + crypto_aead_reqsize(tfm),
		 }, type, mask);
	crypto_free_aead(tfm);
}

static void try_shash(struct impl *impl, int *best, const char *name,
		      u32 type, u32 mask)
{
	struct crypto_shash *tfm = crypto_alloc_shash(name, type, mask);
	u32 statesize;

	if (IS_ERR(tfm))
		return;
	statesize = sizeof(struct soft_state) + crypto_shash_statesize(tfm);
	if (statesize <= OCF_STATE_MAX)
		consider(impl, best, &(struct found){
			 crypto_shash_driver_name(tfm),
			 crypto_shash_alg(tfm)->base.cra_priority,
			 sizeof(struct shash_desc) + crypto_shash_descsize(tfm),
			 }, type, mask);
	crypto_free_shash(tfm);
}

static void free_tfm(enum ocf_alg alg, void *tfm)
{
	switch (ocf_alg_info(alg)->type) {
	case OCF_TYPE_CIPHER:
		crypto_free_skcipher(tfm);
		break;
	case OCF_TYPE_AEAD:
		crypto_free_aead(tfm);
		break;
	default:
		crypto_free_shash(tfm);
		break;
	}
}

static void *impl_take_idle(struct impl *impl)
{
	void *tfm = NULL;

	spin_lock(&impl->lock);
	if (impl->nidle)
		tfm = impl->idle[--impl->nidle];
	spin_unlock(&impl->lock);
	return tfm;
}

/*
 * Leaves @alg without an implementation, and frees the transforms that were
 * kept.
 */
static void forget(enum ocf_alg alg)
{
	struct impl *impl = &impls[alg];
	void *tfm;

	impl->driver[0] = 0;
	crypto_free_shash(impl->model);
	impl->model = NULL;
	while ((tfm = impl_take_idle(impl)))
		free_tfm(alg, tfm);
}

static void find(enum ocf_alg alg)
{
	const struct ocf_alg_info *row = ocf_alg_info(alg);
	void (*look)(struct impl *impl, int *best, const char *name, u32 type,
		     u32 mask);
	struct impl *impl = &impls[alg];
	char internal[CRYPTO_MAX_ALG_NAME];
	int best = -1;

	lockdep_assert_held_write(&impls_lock);
	forget(alg);
	switch (row->type) {
	case OCF_TYPE_CIPHER:
		look = try_skcipher;
		break;
	case OCF_TYPE_AEAD:
		look = try_aead;
		break;
	case OCF_TYPE_DIGEST:
	case OCF_TYPE_MAC:
		look = try_shash;
		break;
	default:
		return;
	}
	/* first the ordinary one: the search for it loads the module of both */
	look(impl, &best, row->impl, 0, CRYPTO_ALG_ASYNC | NEVER);
	snprintf(internal, sizeof(internal), "__%s", row->impl);
	look(impl, &best, internal, CRYPTO_ALG_INTERNAL,
	     CRYPTO_ALG_INTERNAL | CRYPTO_ALG_ASYNC | NEVER | CRYPTO_NOLOAD);
}

static bool put_idle(struct impl *impl, void *tfm)
{
	bool put;

	spin_lock(&impl->lock);
	put = impl->nidle < IDLE_MAX;
	if (put)
		impl->idle[impl->nidle++] = tfm;
	spin_unlock(&impl->lock);
	return put;
}

/* Allocates a shash: a clone, or a new one if it cannot be cloned. */
static struct crypto_shash *alloc_shash(struct impl *impl)
{
	struct crypto_shash *tfm = ERR_PTR(-ENOENT);

	if (impl->model)
		tfm = crypto_clone_shash(impl->model);
	if (IS_ERR(tfm))
		tfm = crypto_alloc_shash(impl->driver, impl->type, impl->mask);
	return tfm;
}

/* What the kernel has for @alg; -ENOENT if there is none. */
static void *alloc(enum ocf_alg alg)
{
	struct impl *impl = &impls[alg];
	void *tfm;

	if (!impl->driver[0])
		return ERR_PTR(-ENOENT);
	tfm = impl_take_idle(impl);
	if (tfm)
		return tfm;
	switch (ocf_alg_info(alg)->type) {
	case OCF_TYPE_CIPHER:
		return crypto_alloc_skcipher(impl->driver, impl->type,
					     impl->mask);
	case OCF_TYPE_AEAD:
		return crypto_alloc_aead(impl->driver, impl->type, impl->mask);
	default:
		return alloc_shash(impl);
	}
}

/**
 * soft_impl_alloc() - a transform for an algorithm
 * @alg: the algorithm
 *
 * Context: process; may sleep.
 * Return: a struct crypto_skcipher, crypto_aead or crypto_shash as its type
 * has it, to be freed with soft_impl_free(); or an ERR_PTR, -EOPNOTSUPP if the
 * kernel has none any more.
 */
void *soft_impl_alloc(enum ocf_alg alg)
{
	void *tfm;

	down_read(&impls_lock);
	tfm = alloc(alg);
	up_read(&impls_lock);
	if (!IS_ERR(tfm) || PTR_ERR(tfm) == -ENOMEM)
		return tfm;
	down_write(&impls_lock);
	find(alg);
	tfm = alloc(alg);
	up_write(&impls_lock);
	return PTR_ERR_OR_ZERO(tfm) == -ENOENT ? ERR_PTR(-EOPNOTSUPP) : tfm;
}

/* Overwrites the key with one of zeroes of the same length. */
static int wipe_key(enum ocf_alg alg, void *tfm, u32 keylen)
{
	static const u8 zeroes[OCF_KEY_MAX];

	if (ocf_alg_info(alg)->type == OCF_TYPE_CIPHER)
		return crypto_skcipher_setkey(tfm, zeroes, keylen);
	return crypto_aead_setkey(tfm, zeroes, keylen);
}

/**
 * soft_impl_free() - give a transform back
 * @alg: its algorithm
 * @tfm: the transform, or NULL
 * @keylen: bytes of its key; 0 if it was never set
 *
 * A transform that the kernel would not make any more is out of date.  It is
 * kept, because its results are still right.
 *
 * Context: process; may sleep.
 */
void soft_impl_free(enum ocf_alg alg, void *tfm, u32 keylen)
{
	if (!tfm)
		return;
	if (KEPT & BIT_ULL(alg) && keylen && !wipe_key(alg, tfm, keylen) &&
	    put_idle(&impls[alg], tfm))
		return;
	free_tfm(alg, tfm);
}

/*
 * Makes the transform from which shash transforms are cloned, if it can be
 * cloned.
 */
static void make_model(struct impl *impl, enum ocf_alg alg)
{
	u8 type = ocf_alg_info(alg)->type;
	struct crypto_shash *tfm;

	if (type != OCF_TYPE_DIGEST && type != OCF_TYPE_MAC)
		return;
	tfm = crypto_alloc_shash(impl->driver, impl->type, impl->mask);
	if (!IS_ERR(tfm))
		impl->model = tfm;
}

/**
 * soft_impl_init() - look for an implementation of each algorithm
 * @algs: gets a bit for each algorithm that has one
 *
 * Context: process; may sleep, may load modules.
 */
void soft_impl_init(unsigned long *algs)
{
	int alg;

	down_write(&impls_lock);
	for (alg = 1; alg < OCF_ALG_COUNT; alg++) {
		spin_lock_init(&impls[alg].lock);
		if (!ocf_alg_info(alg)->impl)
			continue;
		find(alg);
		if (!impls[alg].driver[0])
			continue;
		make_model(&impls[alg], alg);
		__set_bit(alg, algs);
	}
	up_write(&impls_lock);
	/* these are done without the crypto API */
	__set_bit(OCF_NULL_CIPHER, algs);
	__set_bit(OCF_NULL_MAC, algs);
	__set_bit(OCF_CHACHA20, algs);
	__set_bit(OCF_BLAKE2S, algs);
	__set_bit(OCF_DEFLATE, algs);
}

/* Context: process; may sleep.  No session uses a transform any more. */
void soft_impl_exit(void)
{
	int alg;

	down_write(&impls_lock);
	for (alg = 1; alg < OCF_ALG_COUNT; alg++)
		forget(alg);
	up_write(&impls_lock);
}
