// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ciphers: all of the core's that the crypto API has a name for.
 */
#include <crypto/internal/skcipher.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "alg.h"

/**
 * struct cipher - an implementation
 * @impl: as the crypto API has it
 * @alg: as the core has it
 * @info: its row
 */
struct cipher {
	struct skcipher_alg	impl;
	enum ocf_alg		alg;
	const struct ocf_alg_info *info;
};

/**
 * struct cipher_tfm - a transform
 * @tfm: what every transform has
 * @fallback: the implementation of each key's fallback
 */
struct cipher_tfm {
	struct alg_tfm		tfm;
	struct crypto_skcipher	*fallback;
};

static struct cipher *ciphers;
static unsigned int nciphers;

static struct cipher *cipher_of(struct crypto_skcipher *tfm)
{
	return container_of(crypto_skcipher_alg(tfm), struct cipher, impl);
}

static struct crypto_skcipher *
skcipher_make_fallback(const char *name, u32 mask, unsigned int room)
{
	struct crypto_skcipher *fallback =
		crypto_alloc_skcipher(name, 0, ALG_FALLBACK_MASK | mask);
	int err;

	if (IS_ERR(fallback))
		return fallback;
	err = alg_check_fallback(&crypto_skcipher_alg(fallback)->base,
				 crypto_skcipher_reqsize(fallback), room);
	if (!err)
		return fallback;
	crypto_free_skcipher(fallback);
	return ERR_PTR(err);
}

/* The fallback refuses weak keys, too. */
static int set_fallback(struct crypto_skcipher *tfm, struct alg_key *key)
{
	struct cipher_tfm *t = crypto_skcipher_ctx(tfm);
	const char *name = crypto_skcipher_driver_name(t->fallback);
	struct crypto_skcipher *fallback;

	fallback = skcipher_make_fallback(name, CRYPTO_NOLOAD,
					  crypto_skcipher_reqsize(t->fallback));
	if (IS_ERR(fallback))
		return PTR_ERR(fallback);
	key->cipher = fallback;
	crypto_skcipher_set_flags(fallback, crypto_skcipher_get_flags(tfm) &
					    CRYPTO_TFM_REQ_MASK);
	return crypto_skcipher_setkey(fallback, key->bytes, key->len);
}

static int skcipher_fill_key(struct crypto_tfm *base, struct alg_key *key)
{
	struct crypto_skcipher *tfm = container_of(base, struct crypto_skcipher,
						   base);
	struct ocf_session_params params = {
		.mode = OCF_MODE_CIPHER, .cipher = cipher_of(tfm)->alg,
		.key = key->bytes, .keylen = key->len,
	};

	return set_fallback(tfm, key) ?: alg_key_open(key, &params);
}

static int cipher_setkey(struct crypto_skcipher *tfm, const u8 *bytes,
			 unsigned int len)
{
	return alg_set_key(&tfm->base, bytes, len, 0, skcipher_fill_key);
}

static int skcipher_crypt_by_fallback(struct skcipher_request *q,
				      struct alg_key *key, enum ocf_op op,
				      unsigned int counted)
{
	struct alg_fallback_request *f = skcipher_request_ctx(q);
	struct skcipher_request *sub = &f->cipher;
	int err;

	f->base = &q->base;
	f->key = key;
	f->counted = counted;
	skcipher_request_set_tfm(sub, key->cipher);
	skcipher_request_set_callback(sub, q->base.flags & ALG_REQUEST_FLAGS,
				      alg_fallback_done, f);
	skcipher_request_set_crypt(sub, q->src, q->dst, q->cryptlen, q->iv);
	err = op == OCF_OP_ENCRYPT ? crypto_skcipher_encrypt(sub) :
				     crypto_skcipher_decrypt(sub);
	return alg_fallback_end(f, err);
}

static int skcipher_crypt_by_session(struct skcipher_request *q,
				     struct alg_key *key,
				     const struct ocf_alg_info *info,
				     enum ocf_op op)
{
	struct alg_request *r = alg_request_in(skcipher_request_ctx(q));

	alg_prepare(r, crypto_skcipher_ctx(crypto_skcipher_reqtfm(q)), key,
		    &q->base, op);
	r->req.src = q->src;
	r->req.dst = q->dst;
	r->req.data.len = q->cryptlen;
	memcpy(r->req.iv, q->iv, info->iv);
	if (info->flags & OCF_ALG_CHAINS) {
		r->req.flags |= OCF_REQ_NEXT_IV;
		r->iv = q->iv;
		r->ivlen = info->iv;
	}
	return alg_submit(r);
}

/* Whether no device does @q: no data, or XTS whose data end inside a block */
static bool is_odd(const struct skcipher_request *q, const struct cipher *c)
{
	return !q->cryptlen || (c->alg == OCF_AES_XTS &&
				q->cryptlen & (c->info->block - 1));
}

static int cipher_crypt(struct skcipher_request *q, enum ocf_op op)
{
	struct crypto_skcipher *tfm = crypto_skcipher_reqtfm(q);
	const struct cipher *c = cipher_of(tfm);
	struct alg_tfm *t = crypto_skcipher_ctx(tfm);
	struct alg_key *key = alg_key_get(t);

	if (unlikely(!key))
		return -ENOKEY;
	if (unlikely(is_odd(q, c)))
		return skcipher_crypt_by_fallback(q, key, op, 0);
	if (alg_is_for_fallback(t, key, op, q->cryptlen))
		return skcipher_crypt_by_fallback(q, key, op, q->cryptlen);
	return skcipher_crypt_by_session(q, key, c->info, op);
}

static int cipher_encrypt(struct skcipher_request *q)
{
	return cipher_crypt(q, OCF_OP_ENCRYPT);
}

static int cipher_decrypt(struct skcipher_request *q)
{
	return cipher_crypt(q, OCF_OP_DECRYPT);
}

static int cipher_init(struct crypto_skcipher *tfm)
{
	const char *name = crypto_skcipher_alg(tfm)->base.cra_name;
	struct cipher_tfm *t = crypto_skcipher_ctx(tfm);
	unsigned int size;

	/*
	 * loads its module now, because that cannot be done when a key is set
	 */
	t->fallback = skcipher_make_fallback(name, 0, UINT_MAX);
	if (IS_ERR(t->fallback))
		return PTR_ERR(t->fallback);
	alg_tfm_init(&t->tfm);
	size = alg_request_size(crypto_skcipher_reqsize(t->fallback));
	crypto_skcipher_set_reqsize(tfm, size);
	return 0;
}

static void cipher_exit(struct crypto_skcipher *tfm)
{
	struct cipher_tfm *t = crypto_skcipher_ctx(tfm);

	alg_tfm_exit(&t->tfm);
	crypto_free_skcipher(t->fallback);
}

/*
 * A stream cipher has blocks of one byte; the unit of its counter is the chunk.
 */
static int describe_cipher(struct cipher *c, int priority)
{
	const struct ocf_alg_info *info = c->info;

	c->impl.base.cra_blocksize = info->block;
	c->impl.init = cipher_init;
	c->impl.exit = cipher_exit;
	c->impl.setkey = cipher_setkey;
	c->impl.encrypt = cipher_encrypt;
	c->impl.decrypt = cipher_decrypt;
	c->impl.min_keysize = info->key_min;
	c->impl.max_keysize = info->key_max;
	c->impl.ivsize = info->iv;
	c->impl.chunksize = max(info->block, info->iv);
	return alg_describe(&c->impl.base, info->impl, priority,
			    sizeof(struct cipher_tfm));
}

/*
 * Without the weak ciphers, and without ChaCha20, for which the crypto API has
 * no next IV
 */
static bool skcipher_is_offered(const struct ocf_alg_info *info)
{
	return info && info->type == OCF_TYPE_CIPHER && info->impl &&
	       !(info->flags & (OCF_ALG_WEAK | OCF_ALG_ROUNDS));
}

static int register_cipher(enum ocf_alg alg, int priority)
{
	struct cipher *c = &ciphers[nciphers];
	int err;

	c->alg = alg;
	c->info = ocf_alg_info(alg);
	err = describe_cipher(c, priority) ?:
	      crypto_register_skcipher(&c->impl);
	if (!err)
		nciphers++;
	return err;
}

void alg_skciphers_unregister(void)
{
	while (nciphers)
		crypto_unregister_skcipher(&ciphers[--nciphers].impl);
	kfree(ciphers);
}

int __init alg_skciphers_register(int priority)
{
	int alg, err = 0;

	ciphers = kcalloc(OCF_ALG_COUNT, sizeof(*ciphers), GFP_KERNEL);
	if (!ciphers)
		return -ENOMEM;
	for (alg = 1; !err && alg < OCF_ALG_COUNT; alg++)
		if (skcipher_is_offered(ocf_alg_info(alg)))
			err = register_cipher(alg, priority);
	if (err)
		alg_skciphers_unregister();
	return err;
}
