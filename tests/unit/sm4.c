// SPDX-License-Identifier: BSD-2-Clause
/*
 * SM4-GCM and SM4-CCM (RFC 8998), built from OpenSSL's SM4 of single blocks.
 * OpenSSL itself has both modes only from 3.1 on.  Slow, and easy to compare
 * with the standards.
 */
#include <string.h>

#include <openssl/evp.h>

#include "sm4.h"

#define BLOCK	16

static void xor_block(uint8_t *to, const uint8_t *with, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		to[i] ^= with[i];
}

static bool encrypt_block(EVP_CIPHER_CTX *sm4, const uint8_t *in, uint8_t *out)
{
	int n;

	return EVP_EncryptUpdate(sm4, out, &n, in, BLOCK) && n == BLOCK;
}

/* Writes @value, big-endian, into the last @len bytes of @field. */
static void put_number(uint8_t *field, size_t len, uint64_t value)
{
	while (len--) {
		field[len] = value;
		value >>= 8;
	}
}

/*
 * Encrypts @in in counter mode, from the block after @first on; the counter is
 * the last @width bytes of the block.  @mask gets the encryption of @first
 * itself.
 */
static bool count(EVP_CIPHER_CTX *sm4, const uint8_t *first, size_t width,
		  const uint8_t *in, size_t len, uint8_t *out, uint8_t *mask)
{
	uint8_t block[BLOCK], stream[BLOCK];
	size_t at, n, i;

	memcpy(block, first, BLOCK);
	if (!encrypt_block(sm4, block, mask))
		return false;
	for (at = 0; at < len; at += n) {
		for (i = BLOCK; i-- > BLOCK - width && !++block[i];)
			;
		if (!encrypt_block(sm4, block, stream))
			return false;
		n = len - at < BLOCK ? len - at : BLOCK;
		memmove(out + at, in + at, n);
		xor_block(out + at, stream, n);
	}
	return true;
}

/* ---- SP 800-38D ---- */

/* SP 800-38D, 6.3: multiplies @x by @h, in place. */
static void multiply(uint8_t *x, const uint8_t *h)
{
	uint8_t z[BLOCK] = {}, v[BLOCK];
	int i, j, carry;

	memcpy(v, h, BLOCK);
	for (i = 0; i < 8 * BLOCK; i++) {
		if (x[i / 8] >> (7 - i % 8) & 1)
			xor_block(z, v, BLOCK);
		carry = v[BLOCK - 1] & 1;
		for (j = BLOCK - 1; j; j--)
			v[j] = v[j] >> 1 | v[j - 1] << 7;
		v[0] = v[0] >> 1 ^ (carry ? 0xe1 : 0);
	}
	memcpy(x, z, BLOCK);
}

/* SP 800-38D, 6.4, with zeros behind the last byte */
static void hash(uint8_t *x, const uint8_t *h, const uint8_t *in, size_t len)
{
	size_t n;

	for (; len; in += n, len -= n) {
		n = len < BLOCK ? len : BLOCK;
		xor_block(x, in, n);
		multiply(x, h);
	}
}

static bool seal_gcm(EVP_CIPHER_CTX *sm4, const struct sm4_text *t)
{
	uint8_t h[BLOCK] = {}, x[BLOCK] = {}, lengths[BLOCK], mask[BLOCK];
	uint8_t first[BLOCK] = {};

	memcpy(first, t->iv, t->ivlen);
	first[BLOCK - 1] = 1;
	if (!encrypt_block(sm4, h, h) ||
	    !count(sm4, first, 4, t->in, t->len, t->out, mask))
		return false;
	put_number(lengths, 8, 8 * t->aadlen);
	put_number(lengths + 8, 8, 8 * t->len);
	hash(x, h, t->aad, t->aadlen);
	hash(x, h, t->out, t->len);
	hash(x, h, lengths, BLOCK);
	xor_block(x, mask, BLOCK);
	memcpy(t->tag, x, t->taglen);
	return true;
}

/* ---- SP 800-38C, A ---- */

/* Adds the next bytes to a CBC-MAC; @fill: bytes that the block already has. */
static bool chain(EVP_CIPHER_CTX *sm4, uint8_t *x, size_t fill,
		  const uint8_t *in, size_t len)
{
	size_t n;

	for (; len; in += n, len -= n, fill = 0) {
		n = len < BLOCK - fill ? len : BLOCK - fill;
		xor_block(x + fill, in, n);
		if (!encrypt_block(sm4, x, x))
			return false;
	}
	return true;
}

static bool seal_ccm(EVP_CIPHER_CTX *sm4, const struct sm4_text *t)
{
	size_t width = BLOCK - 1 - t->ivlen;
	uint8_t x[BLOCK] = {}, first[BLOCK] = {}, mask[BLOCK], aad[2];

	/*
	 * for AAD of this length or more, A.2.2 encodes the length in another
	 * form
	 */
	if (t->aadlen >= 0xff00)
		return false;
	x[0] = (t->aadlen ? 64 : 0) + 8 * ((t->taglen - 2) / 2) + width - 1;
	memcpy(x + 1, t->iv, t->ivlen);
	put_number(x + 1 + t->ivlen, width, t->len);
	if (!encrypt_block(sm4, x, x))
		return false;
	if (t->aadlen) {
		put_number(aad, sizeof(aad), t->aadlen);
		xor_block(x, aad, sizeof(aad));
		if (!chain(sm4, x, sizeof(aad), t->aad, t->aadlen))
			return false;
	}
	first[0] = width - 1;
	memcpy(first + 1, t->iv, t->ivlen);
	if (!chain(sm4, x, 0, t->in, t->len) ||
	    !count(sm4, first, width, t->in, t->len, t->out, mask))
		return false;
	xor_block(x, mask, BLOCK);
	memcpy(t->tag, x, t->taglen);
	return true;
}

bool sm4_seal(const char *alg, const uint8_t *key, const struct sm4_text *t)
{
	EVP_CIPHER_CTX *sm4 = EVP_CIPHER_CTX_new();
	bool ok;

	ok = sm4 && EVP_EncryptInit_ex(sm4, EVP_sm4_ecb(), NULL, key, NULL);
	if (ok && !strcmp(alg, "sm4-gcm"))
		ok = seal_gcm(sm4, t);
	else if (ok)
		ok = !strcmp(alg, "sm4-ccm") && seal_ccm(sm4, t);
	EVP_CIPHER_CTX_free(sm4);
	return ok;
}
