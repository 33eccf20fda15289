// SPDX-License-Identifier: GPL-2.0-only
/*
 * Digests and MACs: all that both the core and the kernel have.
 *
 * A digest of a whole message is a request.  A hash in parts has a state
 * between its calls, which may be exported and given to another transform.  So
 * the fallback does these.  All transforms of an algorithm have the same
 * fallback, the one that was found when the module was loaded.
 */
#include <crypto/internal/hash.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "alg.h"

/**
 * struct hash - an implementation
 * @impl: as the crypto API has it
 * @alg: as the core has it
 * @info: its row
 * @fallback: the driver's name of all transforms' fallbacks
 */
struct hash {
	struct ahash_alg	impl;
	enum ocf_alg		alg;
	const struct ocf_alg_info *info;
	char			fallback[CRYPTO_MAX_ALG_NAME];
};

/**
 * struct hash_tfm - a transform
 * @tfm: what every transform has
 * @fallback: holds the transform's key, and all states
 */
struct hash_tfm {
	struct alg_tfm		tfm;
	struct crypto_ahash	*fallback;
};

static struct hash *hashes;
static unsigned int nhashes;

static struct hash *hash_of(struct crypto_ahash *tfm)
{
	return container_of(crypto_hash_alg_common(tfm), struct hash,
			    impl.halg);
}

/*
 * An implementation that is done when it returns, so that it needs no callback
 */
static struct crypto_ahash *hash_make_fallback(const char *name)
{
	return crypto_alloc_ahash(name, 0,
				  ALG_FALLBACK_MASK | CRYPTO_ALG_ASYNC);
}

/* ---- keys ---- */

static bool has_key(const struct hash *h)
{
	return h->info->type == OCF_TYPE_MAC;
}

static int hash_open_session(struct crypto_ahash *tfm, struct alg_key *key)
{
	const struct hash *h = hash_of(tfm);
	struct ocf_session_params params = {
		.mode = OCF_MODE_DIGEST, .mac = h->alg,
		.mackey = key->bytes, .mackeylen = key->len,
	};

	/* AH's packets must not overtake each other */
	if (has_key(h))
		params.flags = OCF_SESSION_ORDERED;
	/* if no device takes the key, only the fallback has it */
	if (key->len > h->info->key_max)
		return 0;
	return alg_key_open(key, &params);
}

static int hash_fill_key(struct crypto_tfm *base, struct alg_key *key)
{
	struct crypto_ahash *tfm = __crypto_ahash_cast(base);
	struct hash_tfm *t = crypto_ahash_ctx(tfm);
	int err = hash_open_session(tfm, key);

	if (err || !has_key(hash_of(tfm)))
		return err;
	return crypto_ahash_setkey(t->fallback, key->bytes, key->len);
}

static int hash_setkey(struct crypto_ahash *tfm, const u8 *bytes,
		       unsigned int len)
{
	return alg_set_key(crypto_ahash_tfm(tfm), bytes, len, 0, hash_fill_key);
}

/* ---- in parts ---- */

/* The fallback's request for @q's next part; it holds the state */
static struct ahash_request *part_of(struct ahash_request *q)
{
	struct hash_tfm *t = crypto_ahash_ctx(crypto_ahash_reqtfm(q));
	struct alg_fallback_request *f = ahash_request_ctx(q);

	ahash_request_set_tfm(&f->hash, t->fallback);
	ahash_request_set_callback(&f->hash, q->base.flags &
					     CRYPTO_TFM_REQ_MAY_SLEEP,
				   NULL, NULL);
	ahash_request_set_crypt(&f->hash, q->src, q->result, q->nbytes);
	return &f->hash;
}

/* Only software does parts, unless the administrator has forbidden it. */
static int may_begin(struct ahash_request *q)
{
	struct alg_tfm *t = crypto_ahash_ctx(crypto_ahash_reqtfm(q));
	struct alg_key *key = alg_key_get(t);
	int err = 0;

	if (!key)
		return -ENOKEY;
	if (key->session && !ocf_cpu_is_allowed(key->session))
		err = -ENODEV;
	alg_key_put(key);
	return err;
}

static int hash_init(struct ahash_request *q)
{
	return may_begin(q) ?: crypto_ahash_init(part_of(q));
}

static int hash_update(struct ahash_request *q)
{
	return crypto_ahash_update(part_of(q));
}

static int hash_final(struct ahash_request *q)
{
	return crypto_ahash_final(part_of(q));
}

static int hash_finup(struct ahash_request *q)
{
	return crypto_ahash_finup(part_of(q));
}

static int hash_export(struct ahash_request *q, void *out)
{
	return crypto_ahash_export(part_of(q), out);
}

static int hash_import(struct ahash_request *q, const void *in)
{
	return may_begin(q) ?: crypto_ahash_import(part_of(q), in);
}

/* ---- as a whole ---- */

static int digest_by_fallback(struct ahash_request *q, struct alg_key *key,
			      unsigned int counted)
{
	struct alg_fallback_request *f = ahash_request_ctx(q);

	f->key = key;
	f->counted = counted;
	return alg_fallback_end(f, crypto_ahash_digest(part_of(q)));
}

static void take_result(struct alg_request *r, int err)
{
	struct ahash_request *q = ahash_request_cast(r->base);

	if (!err)
		memcpy(q->result, r->req.tag,
		       crypto_ahash_digestsize(crypto_ahash_reqtfm(q)));
}

static int digest_by_session(struct ahash_request *q, struct alg_key *key)
{
	struct alg_request *r = alg_request_in(ahash_request_ctx(q));

	alg_prepare(r, crypto_ahash_ctx(crypto_ahash_reqtfm(q)), key, &q->base,
		    OCF_OP_ENCRYPT);
	r->req.src = q->src;
	r->req.dst = q->src;
	r->req.data.len = q->nbytes;
	r->finish = take_result;
	return alg_submit(r);
}

static int hash_digest(struct ahash_request *q)
{
	struct alg_tfm *t = crypto_ahash_ctx(crypto_ahash_reqtfm(q));
	struct alg_key *key = alg_key_get(t);

	if (unlikely(!key))
		return -ENOKEY;
	if (unlikely(!key->session || !q->nbytes ||
		     q->nbytes > OCF_REQUEST_MAX))
		return digest_by_fallback(q, key, 0);
	if (alg_is_for_fallback(t, key, OCF_OP_ENCRYPT, q->nbytes))
		return digest_by_fallback(q, key, q->nbytes);
	return digest_by_session(q, key);
}

/* ---- transforms ---- */

static int hash_init_tfm(struct crypto_ahash *tfm)
{
	struct hash_tfm *t = crypto_ahash_ctx(tfm);
	struct hash *h = hash_of(tfm);
	unsigned int size;
	int err;

	t->fallback = hash_make_fallback(h->fallback);
	if (IS_ERR(t->fallback))
		return PTR_ERR(t->fallback);
	alg_tfm_init(&t->tfm);
	size = alg_request_size(crypto_ahash_reqsize(t->fallback));
	crypto_ahash_set_reqsize(tfm, size);
	if (has_key(h))
		return 0;
	err = hash_setkey(tfm, NULL, 0);
	if (err) {
		alg_tfm_exit(&t->tfm);
		crypto_free_ahash(t->fallback);
	}
	return err;
}

static void hash_exit_tfm(struct crypto_ahash *tfm)
{
	struct hash_tfm *t = crypto_ahash_ctx(tfm);

	alg_tfm_exit(&t->tfm);
	crypto_free_ahash(t->fallback);
}

/*
 * The format of a state, and its block size, are the fallback's.  BLAKE2 is
 * left out: the crypto API lets it have a key, which makes it another
 * algorithm.
 */
static int take_after(struct hash *h)
{
	struct crypto_ahash *fallback = hash_make_fallback(h->info->impl);
	const struct crypto_alg *base;
	int err = 0;

	if (IS_ERR(fallback))
		return PTR_ERR(fallback);
	base = crypto_ahash_tfm(fallback)->__crt_alg;
	if (base->cra_flags & CRYPTO_ALG_OPTIONAL_KEY)
		err = -ENOENT;
	strscpy(h->fallback, base->cra_driver_name);
	h->impl.halg.statesize = crypto_ahash_statesize(fallback);
	h->impl.halg.digestsize = crypto_ahash_digestsize(fallback);
	h->impl.halg.base.cra_blocksize = base->cra_blocksize;
	crypto_free_ahash(fallback);
	return err;
}

static int describe_hash(struct hash *h, int priority)
{
	h->impl.init_tfm = hash_init_tfm;
	h->impl.exit_tfm = hash_exit_tfm;
	if (has_key(h))
		h->impl.setkey = hash_setkey;
	h->impl.init = hash_init;
	h->impl.update = hash_update;
	h->impl.final = hash_final;
	h->impl.finup = hash_finup;
	h->impl.digest = hash_digest;
	h->impl.export = hash_export;
	h->impl.import = hash_import;
	return take_after(h) ?:
	       alg_describe(&h->impl.halg.base, h->info->impl, priority,
			    sizeof(struct hash_tfm));
}

/*
 * Without the weak algorithms, and without GMAC, which is no hash in the crypto
 * API
 */
static bool hash_is_offered(const struct ocf_alg_info *info)
{
	return info && info->impl && !info->iv &&
	       (info->type == OCF_TYPE_DIGEST || info->type == OCF_TYPE_MAC) &&
	       !(info->flags & OCF_ALG_WEAK);
}

static int register_hash(enum ocf_alg alg, int priority)
{
	struct hash *h = &hashes[nhashes];
	int err;

	h->alg = alg;
	h->info = ocf_alg_info(alg);
	err = describe_hash(h, priority) ?: crypto_register_ahash(&h->impl);
	if (!err)
		nhashes++;
	/*
	 * if the kernel lacks this hash, it is not offered, and that is no
	 * error
	 */
	return err == -ENOENT ? 0 : err;
}

void alg_hashes_unregister(void)
{
	while (nhashes)
		crypto_unregister_ahash(&hashes[--nhashes].impl);
	kfree(hashes);
}

int __init alg_hashes_register(int priority)
{
	int alg, err = 0;

	hashes = kcalloc(OCF_ALG_COUNT, sizeof(*hashes), GFP_KERNEL);
	if (!hashes)
		return -ENOMEM;
	for (alg = 1; !err && alg < OCF_ALG_COUNT; alg++)
		if (hash_is_offered(ocf_alg_info(alg)))
			err = register_hash(alg, priority);
	if (err)
		alg_hashes_unregister();
	return err;
}
