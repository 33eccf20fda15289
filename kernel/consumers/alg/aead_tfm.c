// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all AEADs have in common, those of one algorithm and those of two.
 */
#include <crypto/internal/aead.h>
#include <linux/err.h>

#include "alg.h"

static struct crypto_aead *aead_make_fallback(const char *name, u32 mask,
					      unsigned int room)
{
	struct crypto_aead *fallback =
		crypto_alloc_aead(name, 0, ALG_FALLBACK_MASK | mask);
	int err;

	if (IS_ERR(fallback))
		return fallback;
	err = alg_check_fallback(&crypto_aead_alg(fallback)->base,
				 crypto_aead_reqsize(fallback), room);
	if (!err)
		return fallback;
	crypto_free_aead(fallback);
	return ERR_PTR(err);
}

/*
 * Whether @fallback may complete a request after the core has completed a later
 * one.  The core ends requests in order.  pcrypt and cryptd, which users can
 * set up, complete requests later.  The kernel's others complete a request
 * before they return, if the vector registers can be used.
 */
static bool may_be_overtaken(struct crypto_aead *fallback)
{
	const char *name = crypto_aead_driver_name(fallback);

	return strstr(name, "pcrypt(") || strstr(name, "cryptd(");
}

/**
 * alg_aead_init() - begin a transform whose requests all go to the core
 * @tfm: the transform
 *
 * Context: process.
 * Return: 0.
 */
int alg_aead_init(struct crypto_aead *tfm)
{
	struct alg_aead_tfm *t = crypto_aead_ctx(tfm);

	t->fallback = NULL;
	alg_tfm_init(&t->tfm);
	crypto_aead_set_reqsize(tfm, ALG_REQUEST_SIZE);
	return 0;
}

/**
 * alg_aead_init_fallback() - begin a transform that has a fallback
 * @tfm: the transform
 *
 * Context: process; may sleep.
 * Return: 0, or an error of crypto_alloc_aead().
 */
int alg_aead_init_fallback(struct crypto_aead *tfm)
{
	const char *name = crypto_aead_alg(tfm)->base.cra_name;
	struct alg_aead_tfm *t = crypto_aead_ctx(tfm);
	struct crypto_aead *fallback;
	unsigned int size;

	alg_aead_init(tfm);
	/*
	 * loads its module now, because that cannot be done when a key is set
	 */
	fallback = aead_make_fallback(name, 0, UINT_MAX);
	if (IS_ERR(fallback))
		return PTR_ERR(fallback);
	if (may_be_overtaken(fallback)) {
		crypto_free_aead(fallback);
		return 0;
	}
	t->fallback = fallback;
	size = alg_request_size(crypto_aead_reqsize(fallback));
	crypto_aead_set_reqsize(tfm, size);
	return 0;
}

void alg_aead_exit(struct crypto_aead *tfm)
{
	struct alg_aead_tfm *t = crypto_aead_ctx(tfm);

	alg_tfm_exit(&t->tfm);
	crypto_free_aead(t->fallback);
}

/**
 * alg_aead_set_fallback() - make a key's fallback
 * @tfm: the transform
 * @key: its key, with its bytes
 *
 * Context: process; may sleep.
 * Return: 0, also if the key needs no fallback; or an error of
 * crypto_alloc_aead(), or of the fallback if it refuses the key or the length
 * of tags.
 */
int alg_aead_set_fallback(struct crypto_aead *tfm, struct alg_key *key)
{
	struct alg_aead_tfm *t = crypto_aead_ctx(tfm);
	struct crypto_aead *fallback;

	if (!t->fallback)
		return 0;
	fallback = aead_make_fallback(crypto_aead_driver_name(t->fallback),
				      CRYPTO_NOLOAD,
				      crypto_aead_reqsize(t->fallback));
	if (IS_ERR(fallback))
		return PTR_ERR(fallback);
	key->aead = fallback;
	crypto_aead_set_flags(fallback, crypto_aead_get_flags(tfm) &
					CRYPTO_TFM_REQ_MASK);
	return crypto_aead_setauthsize(fallback, key->authsize) ?:
	       crypto_aead_setkey(fallback, key->bytes, key->len);
}

/* How much work @q is, for the core's choice of a device */
static unsigned int size_of(const struct aead_request *q)
{
	return max(q->assoclen, q->cryptlen);
}

static int aead_crypt_by_fallback(struct aead_request *q, struct alg_key *key,
				  enum ocf_op op, unsigned int counted)
{
	struct alg_fallback_request *f = aead_request_ctx(q);
	struct aead_request *sub = &f->aead;
	int err;

	f->base = &q->base;
	f->key = key;
	f->counted = counted;
	aead_request_set_tfm(sub, key->aead);
	aead_request_set_callback(sub, q->base.flags & ALG_REQUEST_FLAGS,
				  alg_fallback_done, f);
	aead_request_set_ad(sub, q->assoclen);
	aead_request_set_crypt(sub, q->src, q->dst, q->cryptlen, q->iv);
	err = op == OCF_OP_ENCRYPT ? crypto_aead_encrypt(sub) :
				     crypto_aead_decrypt(sub);
	return alg_fallback_end(f, err);
}

/* Bytes that @q encrypts or decrypts, without the tag */
static int data_length(const struct aead_request *q, unsigned int authsize,
		       enum ocf_op op)
{
	unsigned int tag = op == OCF_OP_DECRYPT ? authsize : 0;

	if (q->cryptlen < tag || q->cryptlen > OCF_REQUEST_MAX)
		return -EINVAL;
	return q->cryptlen - tag;
}

static int aead_crypt_by_session(struct aead_request *q, struct alg_key *key,
				 enum ocf_op op,
				 int (*lay_out)(struct alg_request *r,
						struct aead_request *q,
						unsigned int len))
{
	struct alg_request *r = alg_request_in(aead_request_ctx(q));
	struct alg_tfm *t = crypto_aead_ctx(crypto_aead_reqtfm(q));
	int len = data_length(q, key->authsize, op), err = len;

	if (len >= 0) {
		alg_prepare(r, t, key, &q->base, op);
		err = lay_out(r, q, len);
	}
	if (likely(!err))
		return alg_submit(r);
	if (err == -EOPNOTSUPP && key->aead)
		return aead_crypt_by_fallback(q, key, op, 0);
	alg_key_put(key);
	return err == -EOPNOTSUPP ? -EINVAL : err;
}

/**
 * alg_aead_crypt() - encrypt or decrypt a request
 * @q: the request
 * @op: direction
 * @lay_out: sets the IV, the scatterlists and the ranges of the core's request,
 *	which encrypts or decrypts @len bytes; -EOPNOTSUPP if no device does it
 *
 * Context: process or BH.
 * Return: as alg_submit(); -ENOKEY; -EINVAL: there is no room for a tag; an
 * error of @lay_out.
 */
int alg_aead_crypt(struct aead_request *q, enum ocf_op op,
		   int (*lay_out)(struct alg_request *r, struct aead_request *q,
				  unsigned int len))
{
	struct alg_tfm *t = crypto_aead_ctx(crypto_aead_reqtfm(q));
	struct alg_key *key = alg_key_get(t);

	if (unlikely(!key))
		return -ENOKEY;
	if (unlikely(!key->session))
		return aead_crypt_by_fallback(q, key, op, 0);
	if (key->aead && alg_is_for_fallback(t, key, op, size_of(q)))
		return aead_crypt_by_fallback(q, key, op, size_of(q));
	return aead_crypt_by_session(q, key, op, lay_out);
}
