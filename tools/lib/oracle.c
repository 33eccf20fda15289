// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include "oracle.h"

/* The framework's name, and OpenSSL's; %zu stands for the key's bits. */
static const struct {
	const char *ours, *theirs;
} ciphers[] = {
	{ "aes-cbc",		"AES-%zu-CBC" },
	{ "aes-ctr",		"AES-%zu-CTR" },
	{ "aes-ecb",		"AES-%zu-ECB" },
	{ "aes-xts",		"AES-%zu-XTS" },
	{ "des3-cbc",		"DES-EDE3-CBC" },
	{ "des-cbc",		"DES-CBC" },
	{ "camellia-cbc",	"CAMELLIA-%zu-CBC" },
	{ "blowfish-cbc",	"BF-CBC" },
	{ "cast5-cbc",		"CAST5-CBC" },
	{ "chacha20",		"ChaCha20" },
	{ "aes-gcm",		"AES-%zu-GCM" },
	{ "aes-ccm",		"AES-%zu-CCM" },
	{ "aria-gcm",		"ARIA-%zu-GCM" },
	{ "chacha20-poly1305",	"ChaCha20-Poly1305" },
};

/* A MAC is OpenSSL's @mac over its digest or cipher @over. */
static const struct {
	const char *ours, *mac, *over;
} digests[] = {
	{ "md5",		NULL, "MD5" },
	{ "sha1",		NULL, "SHA1" },
	{ "sha224",		NULL, "SHA224" },
	{ "sha256",		NULL, "SHA256" },
	{ "sha384",		NULL, "SHA384" },
	{ "sha512",		NULL, "SHA512" },
	{ "sha3-224",		NULL, "SHA3-224" },
	{ "sha3-256",		NULL, "SHA3-256" },
	{ "sha3-384",		NULL, "SHA3-384" },
	{ "sha3-512",		NULL, "SHA3-512" },
	{ "ripemd160",		NULL, "RIPEMD160" },
	{ "blake2b",		"BLAKE2BMAC", "BLAKE2B-512" },
	{ "blake2s",		"BLAKE2SMAC", "BLAKE2S-256" },
	{ "hmac-md5",		"HMAC", "MD5" },
	{ "hmac-sha1",		"HMAC", "SHA1" },
	{ "hmac-sha224",	"HMAC", "SHA224" },
	{ "hmac-sha256",	"HMAC", "SHA256" },
	{ "hmac-sha384",	"HMAC", "SHA384" },
	{ "hmac-sha512",	"HMAC", "SHA512" },
	{ "hmac-sha3-224",	"HMAC", "SHA3-224" },
	{ "hmac-sha3-256",	"HMAC", "SHA3-256" },
	{ "hmac-sha3-384",	"HMAC", "SHA3-384" },
	{ "hmac-sha3-512",	"HMAC", "SHA3-512" },
	{ "hmac-ripemd160",	"HMAC", "RIPEMD160" },
	{ "aes-cmac",		"CMAC", "AES-%zu-CBC" },
	{ "aes-gmac",		"GMAC", "AES-%zu-GCM" },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

bool oracle_init(void)
{
	return OSSL_PROVIDER_load(NULL, "legacy") &&
	       OSSL_PROVIDER_load(NULL, "default");
}

/*
 * Writes OpenSSL's name.  An XTS key consists of two keys, and the name has the
 * size of one.
 */
static void put_name(char *name, size_t size, const char *theirs, size_t keylen)
{
	size_t bits = strstr(theirs, "XTS") ? keylen * 4 : keylen * 8;
	const char *gap = strstr(theirs, "%zu");

	if (gap)
		snprintf(name, size, "%.*s%zu%s", (int)(gap - theirs), theirs,
			 bits, gap + 3);
	else
		snprintf(name, size, "%s", theirs);
}

EVP_CIPHER *oracle_fetch(const char *alg, size_t keylen)
{
	char name[ORACLE_NAME_MAX];
	size_t i;

	for (i = 0; i < COUNT(ciphers); i++) {
		if (strcmp(ciphers[i].ours, alg))
			continue;
		put_name(name, sizeof(name), ciphers[i].theirs, keylen);
		return EVP_CIPHER_fetch(NULL, name, NULL);
	}
	return NULL;
}

static int digest_row(const char *alg)
{
	size_t i;

	for (i = 0; i < COUNT(digests); i++)
		if (!strcmp(digests[i].ours, alg))
			return i;
	return -1;
}

const char *oracle_digest_name(const char *alg, size_t keylen,
			       char over[ORACLE_NAME_MAX])
{
	int row = digest_row(alg);
	const char *mac;

	if (row < 0)
		return NULL;
	put_name(over, ORACLE_NAME_MAX, digests[row].over, keylen);
	mac = digests[row].mac;
	return mac && (keylen || !strcmp(mac, "HMAC")) ? mac : "";
}

bool oracle_sizes(const char *alg, size_t keylen, struct oracle_sizes *sizes)
{
	EVP_CIPHER *cipher = oracle_fetch(alg, keylen);
	int row = digest_row(alg);
	EVP_MD *md;

	*sizes = (struct oracle_sizes){ .block = 1 };
	if (cipher) {
		sizes->key = EVP_CIPHER_get_key_length(cipher);
		sizes->block = EVP_CIPHER_get_block_size(cipher);
		sizes->iv = EVP_CIPHER_get_iv_length(cipher);
		EVP_CIPHER_free(cipher);
		return true;
	}
	if (row < 0)
		return false;
	md = EVP_MD_fetch(NULL, digests[row].over, NULL);
	/* CMAC and GMAC: a block of AES */
	sizes->digest = md ? EVP_MD_get_size(md) : 16;
	EVP_MD_free(md);
	return true;
}

static bool ecb(bool encrypt, const uint8_t *key, size_t keylen,
		const uint8_t *in, size_t len, uint8_t *out)
{
	return oracle_cipher("aes-ecb", encrypt, key, keylen, NULL, in, len,
			     out);
}

/* Masks with alpha^j times @tweak, least bit first (IEEE 1619, 5.2) */
static void mask_blocks(const uint8_t *tweak, const uint8_t *in, size_t len,
			uint8_t *out)
{
	uint8_t t[16], carry, i;

	memcpy(t, tweak, 16);
	for (; len; len -= 16, in += 16, out += 16) {
		carry = t[15] >> 7;
		for (i = 0; i < 16; i++)
			out[i] = in[i] ^ t[i];
		for (i = 15; i; i--)
			t[i] = t[i] << 1 | t[i - 1] >> 7;
		t[0] = t[0] << 1 ^ (carry ? 0x87 : 0);
	}
}

/* OpenSSL's XTS has keys of 128 and 256 bits; the standard's mode has any. */
static bool xts_by_ecb(bool encrypt, const uint8_t *key, size_t keylen,
		       const uint8_t *iv, const uint8_t *in, size_t len,
		       uint8_t *out)
{
	uint8_t tweak[16];
	bool ok;

	if (!ecb(true, key + keylen / 2, keylen / 2, iv, 16, tweak))
		return false;
	mask_blocks(tweak, in, len, out);
	ok = ecb(encrypt, key, keylen / 2, out, len, out);
	mask_blocks(tweak, out, len, out);
	return ok;
}

bool oracle_cipher(const char *alg, bool encrypt, const uint8_t *key,
		   size_t keylen, const uint8_t *iv, const uint8_t *in,
		   size_t len, uint8_t *out)
{
	EVP_CIPHER_CTX *ctx;
	EVP_CIPHER *cipher;
	int n, rest;
	bool ok;

	if (!strcmp(alg, "null")) {
		memmove(out, in, len);
		return true;
	}
	if (!strcmp(alg, "aes-xts") && keylen == 48)
		return xts_by_ecb(encrypt, key, keylen, iv, in, len, out);
	ctx = EVP_CIPHER_CTX_new();
	cipher = oracle_fetch(alg, keylen);
	ok = ctx && cipher &&
	     EVP_CipherInit_ex(ctx, cipher, NULL, NULL, NULL, encrypt) &&
	     EVP_CIPHER_CTX_set_key_length(ctx, keylen) &&
	     EVP_CipherInit_ex(ctx, NULL, NULL, key, iv, encrypt) &&
	     EVP_CIPHER_CTX_set_padding(ctx, 0) &&
	     EVP_CipherUpdate(ctx, out, &n, in, len) &&
	     EVP_CipherFinal_ex(ctx, out + n, &rest);
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(cipher);
	return ok;
}

static bool mac(const char *name, char *over, const uint8_t *key,
		size_t keylen, const uint8_t *iv, size_t ivlen,
		const uint8_t *in, size_t len, uint8_t *out)
{
	EVP_MAC *alg = EVP_MAC_fetch(NULL, name, NULL);
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(alg);
	OSSL_PARAM p[3], *q = p;
	size_t n;
	bool ok;

	if (!strcmp(name, "HMAC"))
		*q++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
							over, 0);
	else if (strncmp(name, "BLAKE", 5))
		*q++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER,
							over, 0);
	if (ivlen)
		*q++ = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV,
							 (void *)iv, ivlen);
	*q = OSSL_PARAM_construct_end();
	ok = ctx && EVP_MAC_init(ctx, key, keylen, p) &&
	     EVP_MAC_update(ctx, in, len) && EVP_MAC_final(ctx, out, &n, 64);
	EVP_MAC_CTX_free(ctx);
	EVP_MAC_free(alg);
	return ok;
}

bool oracle_digest(const char *alg, const uint8_t *key, size_t keylen,
		   const uint8_t *iv, size_t ivlen, const uint8_t *in,
		   size_t len, uint8_t *out)
{
	char over[ORACLE_NAME_MAX];
	const char *name;
	EVP_MD *md;
	bool ok;

	if (!strcmp(alg, "null-mac")) {
		memset(out, 0, 16);
		return true;
	}
	name = oracle_digest_name(alg, keylen, over);
	if (!name)
		return false;
	if (*name)
		return mac(name, over, keylen ? key : (const uint8_t *)"",
			   keylen, iv, ivlen, in, len, out);
	md = EVP_MD_fetch(NULL, over, NULL);
	ok = md && EVP_Digest(in, len, out, NULL, md, NULL);
	EVP_MD_free(md);
	return ok;
}

bool oracle_seal(const char *alg, const uint8_t *key, size_t keylen,
		 const uint8_t *iv, size_t ivlen, const uint8_t *aad,
		 size_t aadlen, const uint8_t *in, size_t len, uint8_t *out,
		 uint8_t *tag, size_t taglen)
{
	EVP_CIPHER *cipher = oracle_fetch(alg, keylen);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	bool ccm = !strcmp(alg, "aes-ccm");
	int n = 0, rest;
	bool ok;

	ok = ctx && cipher &&
	     EVP_EncryptInit_ex(ctx, cipher, NULL, NULL, NULL) &&
	     EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, ivlen, NULL) &&
	     (!ccm || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, taglen,
					  NULL)) &&
	     EVP_EncryptInit_ex(ctx, NULL, NULL, key, iv) &&
	     (!ccm || EVP_EncryptUpdate(ctx, NULL, &n, NULL, len)) &&
	     (!aadlen || EVP_EncryptUpdate(ctx, NULL, &n, aad, aadlen)) &&
	     ((!len && !ccm) || EVP_EncryptUpdate(ctx, out, &n,
			len ? in : (const uint8_t *)"", len)) &&
	     EVP_EncryptFinal_ex(ctx, out + len, &rest) &&
	     EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, taglen, tag);
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(cipher);
	return ok;
}
