// SPDX-License-Identifier: BSD-2-Clause
/*
 * Operations with keys: signatures, encryption, agreement.
 */
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "differ.h"

static EVP_PKEY *make_key(const char *type, const char *properties,
			  const char *param, const void *value)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, properties);
	OSSL_PARAM params[2] = { OSSL_PARAM_END, OSSL_PARAM_END };
	EVP_PKEY *key = NULL;
	size_t bits;

	CHECK(ctx && EVP_PKEY_keygen_init(ctx) > 0);
	if (param && !strcmp(param, OSSL_PKEY_PARAM_RSA_BITS)) {
		bits = atoi(value);
		params[0] = OSSL_PARAM_construct_size_t(param, &bits);
	} else if (param) {
		params[0] = OSSL_PARAM_construct_utf8_string(param,
							     (char *)value, 0);
	}
	CHECK(EVP_PKEY_CTX_set_params(ctx, params) > 0);
	CHECK(EVP_PKEY_generate(ctx, &key) > 0);
	EVP_PKEY_CTX_free(ctx);
	return key;
}

static size_t sign(EVP_PKEY *key, const char *properties, const char *md,
		   const OSSL_PARAM *params, size_t len, unsigned char *sig)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t siglen = 2048;

	CHECK(EVP_DigestSignInit_ex(ctx, NULL, md, NULL, properties, key,
				    params) > 0);
	CHECK(EVP_DigestSign(ctx, sig, &siglen, data, len) > 0);
	EVP_MD_CTX_free(ctx);
	return siglen;
}

static bool verify(EVP_PKEY *key, const char *properties, const char *md,
		   const OSSL_PARAM *params, size_t len,
		   const unsigned char *sig, size_t siglen)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int ok;

	CHECK(EVP_DigestVerifyInit_ex(ctx, NULL, md, NULL, properties, key,
				      params) > 0);
	ok = EVP_DigestVerify(ctx, sig, siglen, data, len) == 1;
	EVP_MD_CTX_free(ctx);
	ERR_clear_error();
	return ok;
}

/* Each signs, and the other finds it right, and what was changed wrong. */
static void signature_round(EVP_PKEY *key, const OSSL_PARAM *params)
{
	const char *md = digests[below(5)];
	size_t len = some_len(), n;

	n = sign(key, OURS, md, params, len, one);
	CHECK(verify(key, THEIRS, md, params, len, one, n));
	CHECK(verify(key, OURS, md, params, len, one, n));
	n = sign(key, THEIRS, md, params, len, one);
	CHECK(verify(key, OURS, md, params, len, one, n));
	one[n - 1 - below(20)] ^= 1 << below(8);
	CHECK(!verify(key, OURS, md, params, len, one, n));
	CHECK(!verify(key, OURS, md, params, len, one, n - 1));
	CHECK(!verify(key, OURS, md, params, len, one, 0));
}

static const OSSL_PARAM pkcs1[] = {
	OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_PAD_MODE, "pkcs1", 5),
	OSSL_PARAM_END
};
static const OSSL_PARAM pss[] = {
	OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_PAD_MODE, "pss", 3),
	OSSL_PARAM_END
};
static const OSSL_PARAM pss_digest[] = {
	OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_PAD_MODE, "pss", 3),
	OSSL_PARAM_utf8_string(OSSL_SIGNATURE_PARAM_PSS_SALTLEN, "digest", 6),
	OSSL_PARAM_END
};

static int crypt(EVP_PKEY *key, const char *properties, bool encrypt,
		 int padding, const char *md, const unsigned char *in,
		 size_t len, unsigned char *out)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, properties);
	size_t n = 2048;
	int ok;

	CHECK((encrypt ? EVP_PKEY_encrypt_init(ctx) :
			 EVP_PKEY_decrypt_init(ctx)) > 0);
	CHECK(EVP_PKEY_CTX_set_rsa_padding(ctx, padding) > 0);
	if (md)
		CHECK(EVP_PKEY_CTX_set_rsa_oaep_md_name(ctx, md, NULL) > 0);
	ok = encrypt ? EVP_PKEY_encrypt(ctx, out, &n, in, len) :
		       EVP_PKEY_decrypt(ctx, out, &n, in, len);
	EVP_PKEY_CTX_free(ctx);
	ERR_clear_error();
	return ok > 0 ? (int)n : -1;
}

static void encryption_round(EVP_PKEY *key)
{
	static const int paddings[] = {
		RSA_PKCS1_PADDING, RSA_PKCS1_OAEP_PADDING,
		RSA_PKCS1_OAEP_PADDING, RSA_NO_PADDING,
	};
	int i = below(4), padding = paddings[i], n, m;
	const char *md = i == 2 ? "SHA256" : NULL;
	size_t len = padding == RSA_NO_PADDING ?
		     (size_t)EVP_PKEY_get_size(key) : below(60);

	data[0] = 0;
	n = crypt(key, OURS, true, padding, md, data, len, one);
	CHECK(n == EVP_PKEY_get_size(key));
	m = crypt(key, THEIRS, false, padding, md, one, n, other);
	CHECK(m == (int)len && !memcmp(other, data, len));
	m = crypt(key, OURS, false, padding, md, one, n, other);
	CHECK(m == (int)len && !memcmp(other, data, len));
	if (padding == RSA_PKCS1_OAEP_PADDING) {
		one[n / 2] ^= 1;
		CHECK(crypt(key, OURS, false, padding, md, one, n, other) < 0);
	}
}

/* A zero in front of what came is left out, as OpenPGP has it. */
static void short_round(EVP_PKEY *key)
{
	static const char * const md = "SHA256";
	int n;

	do {
		n = crypt(key, THEIRS, true, RSA_PKCS1_OAEP_PADDING, md, data,
			  20, one);
	} while (one[0]);
	CHECK(crypt(key, THEIRS, false, RSA_PKCS1_OAEP_PADDING, md, one + 1,
		    n - 1, other) == 20);
	CHECK(crypt(key, OURS, false, RSA_PKCS1_OAEP_PADDING, md, one + 1,
		    n - 1, other) == 20);
	CHECK(!memcmp(other, data, 20));
	do {
		n = sign(key, THEIRS, md, pss, 20, one);
	} while (one[0]);
	CHECK(verify(key, THEIRS, md, pss, 20, one + 1, n - 1));
	CHECK(verify(key, OURS, md, pss, 20, one + 1, n - 1));
	/* and what is too short to be the power of anything is refused */
	CHECK(crypt(key, THEIRS, true, RSA_NO_PADDING, NULL, data, 100,
		    one) < 0);
	CHECK(crypt(key, OURS, true, RSA_NO_PADDING, NULL, data, 100,
		    one) < 0);
}

static size_t derive(EVP_PKEY *key, EVP_PKEY *peer, const char *properties,
		     bool pad, unsigned char *out)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, properties);
	size_t n = 2048;

	CHECK(ctx && EVP_PKEY_derive_init(ctx) > 0);
	if (pad)
		CHECK(EVP_PKEY_CTX_set_dh_pad(ctx, 1) > 0);
	CHECK(EVP_PKEY_derive_set_peer(ctx, peer) > 0);
	CHECK(EVP_PKEY_derive(ctx, out, &n) > 0);
	EVP_PKEY_CTX_free(ctx);
	return n;
}

static void agreement_round(EVP_PKEY *a, EVP_PKEY *b, bool pad)
{
	size_t n = derive(a, b, OURS, pad, one);

	CHECK(n == derive(b, a, THEIRS, pad, other));
	CHECK(!memcmp(one, other, n));
	CHECK(n == derive(b, a, OURS, pad, other));
	CHECK(!memcmp(one, other, n));
}

void keys(int rounds)
{
	static const char * const curves[] = {
		"P-256", "P-384", "P-521", "secp256k1",
	};
	EVP_PKEY *rsa, *ec[2], *x[2], *dh[2];
	int i, j;

	what = "RSA without a zero";
	rsa = make_key("RSA", THEIRS, OSSL_PKEY_PARAM_RSA_BITS, "1024");
	short_round(rsa);
	EVP_PKEY_free(rsa);
	what = "RSA";
	rsa = make_key("RSA", one_in(2) ? OURS : THEIRS,
		       OSSL_PKEY_PARAM_RSA_BITS, "2048");
	for (i = 0; i < rounds; i++) {
		signature_round(rsa, pkcs1);
		signature_round(rsa, pss);
		signature_round(rsa, pss_digest);
		encryption_round(rsa);
	}
	EVP_PKEY_free(rsa);
	for (j = 0; j < 4; j++) {
		what = curves[j];
		ec[0] = make_key("EC", OURS, OSSL_PKEY_PARAM_GROUP_NAME,
				 curves[j]);
		ec[1] = make_key("EC", THEIRS, OSSL_PKEY_PARAM_GROUP_NAME,
				 curves[j]);
		for (i = 0; i < rounds; i++) {
			signature_round(ec[i % 2], NULL);
			agreement_round(ec[i % 2], ec[(i + 1) % 2], false);
		}
		EVP_PKEY_free(ec[0]);
		EVP_PKEY_free(ec[1]);
	}
	what = "X25519";
	x[0] = make_key("X25519", OURS, NULL, NULL);
	x[1] = make_key("X25519", THEIRS, NULL, NULL);
	what = "DH";
	dh[0] = make_key("DH", OURS, OSSL_PKEY_PARAM_GROUP_NAME, "ffdhe2048");
	dh[1] = make_key("DH", THEIRS, OSSL_PKEY_PARAM_GROUP_NAME, "ffdhe2048");
	for (i = 0; i < rounds; i++) {
		what = "X25519";
		agreement_round(x[i % 2], x[(i + 1) % 2], false);
		what = "DH";
		agreement_round(dh[i % 2], dh[(i + 1) % 2], one_in(2));
	}
	for (i = 0; i < 2; i++) {
		EVP_PKEY_free(x[i]);
		EVP_PKEY_free(dh[i]);
	}
}
