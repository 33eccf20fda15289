// SPDX-License-Identifier: BSD-2-Clause
/*
 * The algorithms, with sizes from their standards and not from the project.
 * Ciphers: FIPS 197, SP 800-38A/B/C/D, IEEE 1619, SP 800-67, FIPS 46-3, RFC
 * 3713, RFC 2144, Schneier's Blowfish, RFC 8439.  Hashes: RFC 1321, FIPS 180-4,
 * FIPS 202, RIPEMD-160, RFC 7693, RFC 2104.  Tags are no shorter than 4 bytes
 * (include/linux/ocf.h).
 */
#include <assert.h>
#include <string.h>

#include "vectors.h"

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

#define KEYS(min_, max_, step_) \
	.key_min = (min_), .key_max = (max_), .key_step = (step_)
#define BLOCK(n_)	.block = (n_)
#define IVS(n_, min_, max_, step_) \
	.iv = (n_), .iv_min = (min_), .iv_max = (max_), .iv_step = (step_)
#define IV(n_)		IVS(n_, n_, n_, 1)
#define HMAC_OF(hash_, size_) \
	{ "hmac-" hash_, MAC, KEYS(0, 512, 1), BLOCK(1), .size = (size_) }

#define BIT(n)	(1u << (n))
#define GCM_TAGS (BIT(4) | BIT(8) | BIT(12) | BIT(13) | BIT(14) | BIT(15) | \
		  BIT(16))
#define CCM_TAGS (BIT(4) | BIT(6) | BIT(8) | BIT(10) | BIT(12) | BIT(14) | \
		  BIT(16))

const struct alg algs[] = {
	{ "null", CIPHER, KEYS(0, 64, 1), BLOCK(1) },
	{ "aes-cbc", CIPHER, KEYS(16, 32, 8), BLOCK(16), IV(16) },
	{ "aes-ctr", CIPHER, KEYS(16, 32, 8), BLOCK(1), IV(16) },
	{ "aes-ecb", CIPHER, KEYS(16, 32, 8), BLOCK(16) },
	{ "aes-xts", CIPHER, KEYS(32, 64, 16), BLOCK(16), IVS(16, 8, 16, 8) },
	{ "des3-cbc", CIPHER, KEYS(24, 24, 1), BLOCK(8), IV(8) },
	{ "des-cbc", CIPHER, KEYS(8, 8, 1), BLOCK(8), IV(8) },
	{ "camellia-cbc", CIPHER, KEYS(16, 32, 8), BLOCK(16), IV(16) },
	{ "blowfish-cbc", CIPHER, KEYS(4, 56, 1), BLOCK(8), IV(8) },
	{ "cast5-cbc", CIPHER, KEYS(5, 16, 1), BLOCK(8), IV(8) },
	{ "chacha20", CIPHER, KEYS(32, 32, 1), BLOCK(1), IV(16) },

	{ "aes-gcm", AEAD, KEYS(16, 32, 8), BLOCK(1), IV(12), 16,
	  GCM_TAGS },
	{ "aes-ccm", AEAD, KEYS(16, 32, 8), BLOCK(1), IVS(12, 7, 13, 1), 16,
	  CCM_TAGS },
	{ "chacha20-poly1305", AEAD, KEYS(32, 32, 1), BLOCK(1),
	  IV(12), 16, BIT(16) },

	{ "md5", DIGEST, BLOCK(1), .size = 16 },
	{ "sha1", DIGEST, BLOCK(1), .size = 20 },
	{ "sha224", DIGEST, BLOCK(1), .size = 28 },
	{ "sha256", DIGEST, BLOCK(1), .size = 32 },
	{ "sha384", DIGEST, BLOCK(1), .size = 48 },
	{ "sha512", DIGEST, BLOCK(1), .size = 64 },
	{ "sha3-224", DIGEST, BLOCK(1), .size = 28 },
	{ "sha3-256", DIGEST, BLOCK(1), .size = 32 },
	{ "sha3-384", DIGEST, BLOCK(1), .size = 48 },
	{ "sha3-512", DIGEST, BLOCK(1), .size = 64 },
	{ "ripemd160", DIGEST, BLOCK(1), .size = 20 },
	{ "blake2b", DIGEST, KEYS(0, 64, 1), BLOCK(1), .size = 64 },
	{ "blake2s", DIGEST, KEYS(0, 32, 1), BLOCK(1), .size = 32 },

	{ "null-mac", MAC, KEYS(0, 512, 1), BLOCK(1), .size = 16 },
	HMAC_OF("md5", 16),
	HMAC_OF("sha1", 20),
	HMAC_OF("sha224", 28),
	HMAC_OF("sha256", 32),
	HMAC_OF("sha384", 48),
	HMAC_OF("sha512", 64),
	HMAC_OF("sha3-224", 28),
	HMAC_OF("sha3-256", 32),
	HMAC_OF("sha3-384", 48),
	HMAC_OF("sha3-512", 64),
	HMAC_OF("ripemd160", 20),
	{ "aes-cmac", MAC, KEYS(16, 32, 8), BLOCK(1), .size = 16 },
	{ "aes-gmac", MAC, KEYS(16, 32, 8), BLOCK(1), IV(12), 16 },
};

const int nalgs = COUNT(algs);

static_assert(COUNT(algs) <= ALGS_MAX, "room for a count of each");

const struct alg *alg_find(const char *name)
{
	int i;

	for (i = 0; i < nalgs; i++)
		if (!strcmp(algs[i].name, name))
			return &algs[i];
	return NULL;
}

bool alg_takes_key(const struct alg *alg, size_t len)
{
	if (!alg->key_max)
		return !len;
	return len >= alg->key_min && len <= alg->key_max &&
	       !((len - alg->key_min) % alg->key_step);
}

bool alg_takes_iv(const struct alg *alg, size_t len)
{
	if (!alg->iv)
		return !len;
	return len >= alg->iv_min && len <= alg->iv_max &&
	       !((len - alg->iv_min) % alg->iv_step);
}

bool alg_takes_tag(const struct alg *alg, size_t len)
{
	if (alg->tags)
		return len < 32 && alg->tags & BIT(len);
	return len >= 4 && len <= alg->size;
}
