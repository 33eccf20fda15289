// SPDX-License-Identifier: GPL-2.0-only
/*
 * Encrypt, then authenticate, as ESP does with a cipher and an HMAC.
 *
 * A key is both keys, put together as <crypto/authenc.h> says.  With
 * rfc3686(ctr(aes)) the cipher's key ends with four bytes, the nonce.  A
 * counter block is the nonce, the IV, and a count that begins at 1.
 */
#include <crypto/authenc.h>
#include <crypto/internal/aead.h>
#include <crypto/internal/des.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "alg.h"

#define NONCE		4	/* bytes, of RFC 3686 */
#define CTR_IV		8

/**
 * struct authenc - an implementation
 * @impl: as the crypto API has it
 * @cipher: as the core has it
 * @mac: as the core has it
 * @esn: with extended sequence numbers: see esn.c
 */
struct authenc {
	struct aead_alg		impl;
	enum ocf_alg		cipher;
	enum ocf_alg		mac;
	bool			esn;
};

static const enum ocf_alg ciphers[] = {
	OCF_AES_CBC, OCF_AES_CTR, OCF_DES3_CBC,
};

static const enum ocf_alg macs[] = {
	OCF_HMAC_SHA1, OCF_HMAC_SHA256, OCF_HMAC_SHA384, OCF_HMAC_SHA512,
};

static struct authenc authencs[2 * ARRAY_SIZE(ciphers) * ARRAY_SIZE(macs)];
static unsigned int nauthencs;

static struct authenc *authenc_of(struct crypto_aead *tfm)
{
	return container_of(crypto_aead_alg(tfm), struct authenc, impl);
}

static bool has_tag(const struct authenc *a, unsigned int size)
{
	return size && ocf_alg_info(a->mac)->tags & BIT_ULL(size - 1);
}

/*
 * Opens the key's session, but none if no device has tags of this length and
 * there is a fallback.
 */
static int authenc_open_session(struct crypto_aead *tfm, struct alg_key *key,
				const struct crypto_authenc_keys *keys)
{
	const struct authenc *a = authenc_of(tfm);
	unsigned int nonce = a->cipher == OCF_AES_CTR ? NONCE : 0;
	struct ocf_session_params params = {
		.mode = OCF_MODE_ETA, .cipher = a->cipher, .mac = a->mac,
		.flags = OCF_SESSION_ORDERED, .maclen = key->authsize,
		.key = keys->enckey, .keylen = keys->enckeylen - nonce,
		.mackey = keys->authkey, .mackeylen = keys->authkeylen,
	};

	if (keys->enckeylen < nonce)
		return -EINVAL;
	if (key->aead && !has_tag(a, key->authsize))
		return 0;
	if (a->cipher == OCF_DES3_CBC) {
		int err = verify_aead_des3_key(tfm, params.key, params.keylen);

		if (err)
			return err;
	}
	memcpy(key->salt, keys->enckey + params.keylen, nonce);
	return alg_key_open(key, &params);
}

static int authenc_fill_key(struct crypto_tfm *base, struct alg_key *key)
{
	struct crypto_aead *tfm = container_of(base, struct crypto_aead, base);
	struct crypto_authenc_keys keys;
	int err = crypto_authenc_extractkeys(&keys, key->bytes, key->len);

	return err				       ?:
		       alg_aead_set_fallback(tfm, key) ?:
		       authenc_open_session(tfm, key, &keys);
}

static int authenc_setkey(struct crypto_aead *tfm, const u8 *bytes,
			  unsigned int len)
{
	return alg_set_key(&tfm->base, bytes, len, crypto_aead_authsize(tfm),
			   authenc_fill_key);
}

static int authenc_setauthsize(struct crypto_aead *tfm, unsigned int size)
{
	const struct authenc *a = authenc_of(tfm);

	if (!has_tag(a, size) && a->esn)
		return -EINVAL;
	return alg_set_authsize(&tfm->base, size, authenc_fill_key);
}

static void authenc_take_iv(struct alg_request *r, const struct authenc *a,
			    const u8 *iv)
{
	if (a->cipher != OCF_AES_CTR) {
		memcpy(r->req.iv, iv, a->impl.ivsize);
		return;
	}
	memcpy(r->req.iv, r->key->salt, NONCE);
	memcpy(r->req.iv + NONCE, iv, CTR_IV);
	put_unaligned_be32(1, r->req.iv + NONCE + CTR_IV);
}

static int authenc_lay_out(struct alg_request *r, struct aead_request *q,
			   unsigned int len)
{
	const struct authenc *a = authenc_of(crypto_aead_reqtfm(q));

	authenc_take_iv(r, a, q->iv);
	if (a->esn)
		return alg_lay_out_esn(r, q, len);
	r->req.src = q->src;
	r->req.dst = q->dst;
	r->req.auth.len = q->assoclen + len;
	r->req.data.start = q->assoclen;
	r->req.data.len = len;
	r->req.tag_start = q->assoclen + len;
	return 0;
}

static int authenc_encrypt(struct aead_request *q)
{
	return alg_aead_crypt(q, OCF_OP_ENCRYPT, authenc_lay_out);
}

static int authenc_decrypt(struct aead_request *q)
{
	return alg_aead_crypt(q, OCF_OP_DECRYPT, authenc_lay_out);
}

static int make_name(char *name, const struct authenc *a)
{
	const char *cipher = ocf_alg_info(a->cipher)->impl;
	const char *mac = ocf_alg_info(a->mac)->impl;
	int n;

	n = snprintf(name, CRYPTO_MAX_ALG_NAME,
		     a->cipher == OCF_AES_CTR ? "%s(%s,rfc3686(%s))" :
						"%s(%s,%s)",
		     a->esn ? "authencesn" : "authenc", mac, cipher);
	return n < CRYPTO_MAX_ALG_NAME ? 0 : -ENAMETOOLONG;
}

static int register_authenc(enum ocf_alg cipher, enum ocf_alg mac, bool esn,
			    int priority)
{
	struct authenc *a = &authencs[nauthencs];
	const struct ocf_alg_info *info = ocf_alg_info(cipher);
	char name[CRYPTO_MAX_ALG_NAME];
	int err;

	a->cipher = cipher;
	a->mac = mac;
	a->esn = esn;
	a->impl.ivsize = cipher == OCF_AES_CTR ? CTR_IV : info->iv;
	a->impl.maxauthsize = ocf_alg_info(mac)->digest;
	a->impl.chunksize = info->iv;
	/* the kernel's authencesn() moves bytes in the caller's buffers */
	a->impl.init = esn ? alg_aead_init : alg_aead_init_fallback;
	a->impl.exit = alg_aead_exit;
	a->impl.setkey = authenc_setkey;
	a->impl.setauthsize = authenc_setauthsize;
	a->impl.encrypt = authenc_encrypt;
	a->impl.decrypt = authenc_decrypt;
	a->impl.base.cra_blocksize = info->block;
	err = make_name(name, a) ?:
	      alg_describe(&a->impl.base, name, priority,
			   sizeof(struct alg_aead_tfm));
	if (esn)
		a->impl.base.cra_flags |= CRYPTO_ALG_ALLOCATES_MEMORY;
	err = err ?: crypto_register_aead(&a->impl);
	if (!err)
		nauthencs++;
	return err;
}

void alg_authencs_unregister(void)
{
	while (nauthencs)
		crypto_unregister_aead(&authencs[--nauthencs].impl);
}

int __init alg_authencs_register(int priority)
{
	int i, n = ARRAY_SIZE(macs), err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(authencs); i++)
		err = register_authenc(ciphers[i / 2 / n], macs[i / 2 % n],
				       i % 2, priority);
	if (err)
		alg_authencs_unregister();
	return err;
}
