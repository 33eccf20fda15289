// SPDX-License-Identifier: GPL-2.0-only
/*
 * Authenticated encryption: every AEAD algorithm of the core's table, by its
 * own name and in the form that ESP asks for.
 *
 * In ESP's form (RFC 4106, 4309, 7634) a key ends with a salt, and the packet
 * carries the rest of the nonce.  This rest is the end of the crypto API's
 * associated data, although the tag does not cover it.
 */
#include <crypto/internal/aead.h>
#include <crypto/scatterwalk.h>
#include <linux/slab.h>

#include "alg.h"

#define ESP_IV		8	/* bytes of the nonce that a packet carries */
#define ESP_TAGS	(BIT(7) | BIT(11) | BIT(15))	/* 8, 12 or 16 bytes */

/**
 * struct aead - an implementation
 * @impl: as the crypto API has it
 * @alg: as the core has it
 * @info: its row
 * @salt: bytes at the end of a key that begin each nonce; 0 but for ESP
 * @tags: bit n - 1 is set if the tag may be n bytes long
 */
struct aead {
	struct aead_alg		impl;
	enum ocf_alg		alg;
	const struct ocf_alg_info *info;
	u8			salt;
	u64			tags;
};

/* The names that ESP has for these */
static const struct {
	enum ocf_alg		alg;
	const char		*name;
	u8			salt;
} esp_forms[] = {
	{ OCF_AES_GCM, "rfc4106(gcm(aes))", 4 },
	{ OCF_AES_CCM, "rfc4309(ccm(aes))", 3 },
	{ OCF_CHACHA20_POLY1305, "rfc7539esp(chacha20,poly1305)", 4 },
};

static struct aead *aeads;
static unsigned int naeads;

static struct aead *aead_of(struct crypto_aead *tfm)
{
	return container_of(crypto_aead_alg(tfm), struct aead, impl);
}

static int aead_fill_key(struct crypto_tfm *base, struct alg_key *key)
{
	struct crypto_aead *tfm = container_of(base, struct crypto_aead, base);
	const struct aead *a = aead_of(tfm);
	struct ocf_session_params params = {
		.mode = OCF_MODE_AEAD, .cipher = a->alg,
		.flags = OCF_SESSION_ORDERED, .maclen = key->authsize,
		.key = key->bytes, .keylen = key->len - a->salt,
	};

	if (key->len < a->salt)
		return -EINVAL;
	memcpy(key->salt, key->bytes + params.keylen, a->salt);
	if (ocf_alg_is_ccm(a->alg) && a->salt)
		params.ivlen = a->salt + ESP_IV;
	return alg_aead_set_fallback(tfm, key) ?: alg_key_open(key, &params);
}

static int aead_setkey(struct crypto_aead *tfm, const u8 *bytes,
		       unsigned int len)
{
	return alg_set_key(&tfm->base, bytes, len, crypto_aead_authsize(tfm),
			   aead_fill_key);
}

static int aead_setauthsize(struct crypto_aead *tfm, unsigned int size)
{
	if (!size || !(aead_of(tfm)->tags & BIT_ULL(size - 1)))
		return -EINVAL;
	return alg_set_authsize(&tfm->base, size, aead_fill_key);
}

/*
 * The crypto API's IV of CCM is the first counter block of RFC 3610: a byte
 * with the length of the counter less one, the nonce, and zeros.
 */
static int take_ccm_iv(struct ocf_request *req, const u8 *iv)
{
	if (iv[0] < 1 || iv[0] > 7)
		return -EINVAL;
	req->ivlen = 14 - iv[0];
	memcpy(req->iv, iv + 1, req->ivlen);
	return 0;
}

static int aead_take_iv(struct alg_request *r, const struct aead *a,
			const u8 *iv)
{
	if (!a->salt && ocf_alg_is_ccm(a->alg))
		return take_ccm_iv(&r->req, iv);
	memcpy(r->req.iv, r->key->salt, a->salt);
	memcpy(r->req.iv + a->salt, iv, a->impl.ivsize);
	return 0;
}

/*
 * Makes lists that leave out the part of the nonce between the authenticated
 * bytes and the data.
 */
static int lay_out_esp(struct alg_request *r, struct aead_request *q)
{
	unsigned int len = q->assoclen - ESP_IV;

	/* SPI and sequence number, which may be an extended one */
	if (q->assoclen != 16 && q->assoclen != 20)
		return -EOPNOTSUPP;
	scatterwalk_map_and_copy(r->aad, q->src, 0, len, 0);
	alg_put_before(r->src, r->aad, len, q->src, q->assoclen);
	r->req.src = r->src;
	r->req.dst = r->src;
	if (q->src != q->dst) {
		alg_put_before(r->dst, r->aad, len, q->dst, q->assoclen);
		r->req.dst = r->dst;
	}
	r->req.auth.len = len;
	return 0;
}

static int aead_lay_out(struct alg_request *r, struct aead_request *q,
			unsigned int len)
{
	const struct aead *a = aead_of(crypto_aead_reqtfm(q));
	int err = aead_take_iv(r, a, q->iv);

	r->req.src = q->src;
	r->req.dst = q->dst;
	r->req.auth.len = q->assoclen;
	if (a->salt && !err)
		err = lay_out_esp(r, q);
	r->req.data.start = r->req.auth.len;
	r->req.data.len = len;
	r->req.tag_start = r->req.auth.len + len;
	return err;
}

static int aead_encrypt(struct aead_request *q)
{
	return alg_aead_crypt(q, OCF_OP_ENCRYPT, aead_lay_out);
}

static int aead_decrypt(struct aead_request *q)
{
	return alg_aead_crypt(q, OCF_OP_DECRYPT, aead_lay_out);
}

static unsigned int iv_size(const struct aead *a)
{
	if (a->salt)
		return ESP_IV;
	return ocf_alg_is_ccm(a->alg) ? 16 : a->info->iv;
}

static int register_aead(enum ocf_alg alg, const char *name, u8 salt,
			 int priority)
{
	struct aead *a = &aeads[naeads];
	int err;

	a->alg = alg;
	a->info = ocf_alg_info(alg);
	a->salt = salt;
	a->tags = a->info->tags & (a->salt ? ESP_TAGS : U64_MAX);
	a->impl.ivsize = iv_size(a);
	a->impl.maxauthsize = a->info->digest;
	a->impl.chunksize = 16;
	a->impl.init = alg_aead_init_fallback;
	a->impl.exit = alg_aead_exit;
	a->impl.setkey = aead_setkey;
	a->impl.setauthsize = aead_setauthsize;
	a->impl.encrypt = aead_encrypt;
	a->impl.decrypt = aead_decrypt;
	a->impl.base.cra_blocksize = 1;
	err = alg_describe(&a->impl.base, name, priority,
			   sizeof(struct alg_aead_tfm)) ?:
	      crypto_register_aead(&a->impl);
	if (!err)
		naeads++;
	return err;
}

void alg_aeads_unregister(void)
{
	while (naeads)
		crypto_unregister_aead(&aeads[--naeads].impl);
	kfree(aeads);
}

/*
 * Whether an algorithm is offered.  Each needs the kernel's own implementation
 * as its fallback, and a kernel may lack it.
 */
static bool aead_is_offered(const struct ocf_alg_info *info)
{
	return info && info->type == OCF_TYPE_AEAD &&
	       crypto_has_aead(info->impl, 0, 0);
}

int __init alg_aeads_register(int priority)
{
	const struct ocf_alg_info *info;
	int alg, i, err = 0;

	aeads = kcalloc(OCF_ALG_COUNT, sizeof(*aeads), GFP_KERNEL);
	if (!aeads)
		return -ENOMEM;
	for (alg = 1; !err && alg < OCF_ALG_COUNT; alg++) {
		info = ocf_alg_info(alg);
		if (aead_is_offered(info))
			err = register_aead(alg, info->impl, 0, priority);
	}
	for (i = 0; !err && i < ARRAY_SIZE(esp_forms); i++)
		err = register_aead(esp_forms[i].alg, esp_forms[i].name,
				    esp_forms[i].salt, priority);
	if (err)
		alg_aeads_unregister();
	return err;
}
