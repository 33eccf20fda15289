/* SPDX-License-Identifier: BSD-2-Clause */
/* HMAC-SHA-512 as the kernel has it, by OpenSSL. */
#ifndef SHIM_CRYPTO_HASH_H
#define SHIM_CRYPTO_HASH_H

#include <openssl/evp.h>

#include "../shim.h"

struct crypto_shash {
	EVP_MAC_CTX *mac;
};

struct shash_desc {
	struct crypto_shash *tfm;
};

#define SHASH_DESC_ON_STACK(desc, hash)	struct shash_desc desc[1]
#define shash_desc_zero(desc)		((void)(desc))

static inline struct crypto_shash *
crypto_alloc_shash(const char *name, u32 type, u32 mask)
{
	struct crypto_shash *tfm = malloc(sizeof(*tfm));
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	OSSL_PARAM digest[] = {
		OSSL_PARAM_utf8_string("digest", (char *)"SHA512", 6),
		OSSL_PARAM_END
	};

	assert(!strcmp(name, "hmac(sha512)") && !type && !mask);
	tfm->mac = EVP_MAC_CTX_new(mac);
	assert(EVP_MAC_CTX_set_params(tfm->mac, digest));
	EVP_MAC_free(mac);
	return tfm;
}

static inline void crypto_free_shash(struct crypto_shash *tfm)
{
	EVP_MAC_CTX_free(tfm->mac);
	free(tfm);
}

static inline int crypto_shash_setkey(struct crypto_shash *tfm, const u8 *key,
				      u32 len)
{
	return EVP_MAC_init(tfm->mac, key, len, NULL) ? 0 : -EINVAL;
}

static inline int crypto_shash_init(struct shash_desc *desc)
{
	return EVP_MAC_init(desc->tfm->mac, NULL, 0, NULL) ? 0 : -EINVAL;
}

static inline int crypto_shash_update(struct shash_desc *desc, const u8 *data,
				      u32 len)
{
	return EVP_MAC_update(desc->tfm->mac, data, len) ? 0 : -EINVAL;
}

static inline int crypto_shash_final(struct shash_desc *desc, u8 *out)
{
	return EVP_MAC_final(desc->tfm->mac, out, NULL, 64) ? 0 : -EINVAL;
}

static inline int crypto_shash_digest(struct shash_desc *desc, const u8 *data,
				      u32 len, u8 *out)
{
	return crypto_shash_init(desc) ?:
	       crypto_shash_update(desc, data, len) ?:
	       crypto_shash_final(desc, out);
}

#endif /* SHIM_CRYPTO_HASH_H */
