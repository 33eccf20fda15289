// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unusual sequences of calls that programs make.  Each is made with the
 * provider and with OpenSSL's own implementation, and both must return and
 * write the same.
 */
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIG	2097152		/* bytes of associated data */
#define MOST	131072
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/**
 * struct record - what was seen
 * @properties: whose algorithms
 * @len: bytes of @seen
 * @seen: returns and results
 */
struct record {
	const char	*properties;
	size_t		len;
	unsigned char	seen[MOST];
};

static unsigned char key[64] = "a key of up to sixty-four bytes";
static unsigned char iv[16] = "twelve bytes,16", iv2[16] = "TWELVE BYTES,16";
static unsigned char text[4096], *big;

static void note(struct record *r, const void *data, size_t len)
{
	if (r->len + len > MOST)
		abort();
	memcpy(r->seen + r->len, data, len);
	r->len += len;
}

static int say(struct record *r, int res)
{
	note(r, &res, sizeof(res));
	return res;
}

static EVP_CIPHER_CTX *begin(struct record *r, const char *name, int enc)
{
	EVP_CIPHER *c = EVP_CIPHER_fetch(NULL, name, r->properties);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	if (!c || !EVP_CipherInit_ex2(ctx, c, NULL, NULL, enc, NULL))
		abort();
	EVP_CIPHER_free(c);
	return ctx;
}

static int step(struct record *r, EVP_CIPHER_CTX *ctx, size_t len)
{
	unsigned char out[5000] = {};
	int n = 0, res = EVP_CipherUpdate(ctx, out, &n, text, len);

	say(r, res);
	if (res > 0)
		note(r, out, n);
	return res;
}

static void tag(struct record *r, EVP_CIPHER_CTX *ctx, int len)
{
	unsigned char t[16] = {};

	if (say(r, EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, len,
				       t)) > 0)
		note(r, t, len);
}

static void end(struct record *r, EVP_CIPHER_CTX *ctx)
{
	unsigned char out[32];
	int n = 0;

	if (say(r, EVP_CipherFinal_ex(ctx, out, &n)) > 0)
		note(r, out, n);
}

/*
 * GCM as OpenSSH uses it: nonces that the cipher makes, EVP_Cipher(), a wrong
 * tag
 */
static void by_evp_cipher(struct record *r)
{
	unsigned char out[256], sealed[64], t[16];
	EVP_CIPHER_CTX *ctx = begin(r, "AES-128-GCM", 1);
	int enc;

	for (enc = 1; enc >= -1; enc--) {
		say(r, EVP_CipherInit_ex2(ctx, NULL, key, NULL, enc > 0, NULL));
		say(r, EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_IV_FIXED, -1,
					   iv));
		say(r, EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_IV_GEN, 1, out));
		if (enc < 1) {
			t[0] ^= enc < 0;
			say(r, EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG,
						   16, t));
		}
		say(r, EVP_Cipher(ctx, NULL, text, 4));
		say(r, EVP_Cipher(ctx, out, enc > 0 ? text : sealed, 64));
		note(r, out, 64);
		if (enc > 0)
			memcpy(sealed, out, 64);
		say(r, EVP_Cipher(ctx, NULL, NULL, 0));
		if (enc > 0)
			say(r, EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG,
						   16, t));
	}
	EVP_CIPHER_CTX_free(ctx);
}

/* EVP_Cipher() with nonces of the program */
static void by_evp_cipher_given(struct record *r)
{
	static const char * const names[] = {
		"AES-256-GCM", "ChaCha20-Poly1305",
	};
	unsigned char out[256], t[16], sealed[64];
	EVP_CIPHER_CTX *ctx;
	int i, enc;

	for (i = 0; i < 2; i++) {
		ctx = begin(r, names[i], 1);
		for (enc = 1; enc >= -1; enc--) {
			say(r, EVP_CipherInit_ex2(ctx, NULL, key, iv, enc > 0,
						  NULL));
			if (enc < 1) {
				t[0] ^= enc < 0;
				EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG,
						    16, t);
			}
			say(r, EVP_Cipher(ctx, NULL, text, 4));
			say(r, EVP_Cipher(ctx, out, enc > 0 ? text : sealed,
					  64));
			if (enc >= 0)
				note(r, out, 64);
			if (enc > 0)
				memcpy(sealed, out, 64);
			say(r, EVP_Cipher(ctx, NULL, NULL, 0));
			if (enc > 0)
				EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG,
						    16, t);
		}
		EVP_CIPHER_CTX_free(ctx);
	}
}

/* A nonce of the program after one that the cipher has made */
static void nonce_after_own(struct record *r)
{
	EVP_CIPHER_CTX *ctx = begin(r, "AES-128-GCM", 1);
	unsigned char *at = iv;
	int i;

	say(r, EVP_CipherInit_ex2(ctx, NULL, key, iv, 1, NULL));
	say(r, EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_IV_FIXED, -1, iv));
	for (i = 0; i < 2; i++) {
		step(r, ctx, 100);
		end(r, ctx);
		tag(r, ctx, 16);
		at = at == iv ? iv2 : iv;
		say(r, EVP_CipherInit_ex2(ctx, NULL, NULL, at, 1, NULL));
	}
	step(r, ctx, 100);
	end(r, ctx);
	EVP_CIPHER_CTX_free(ctx);
}

/* Setting the same key again does not restart the counter of nonces. */
static void counter_goes_on(struct record *r)
{
	EVP_CIPHER_CTX *ctx = begin(r, "AES-128-GCM", 1);
	unsigned char made[8];
	int i;

	say(r, EVP_CipherInit_ex2(ctx, NULL, key, NULL, 1, NULL));
	say(r, EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_IV_FIXED, -1, iv));
	for (i = 0; i < 3; i++) {
		say(r, EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_IV_GEN, 8, made));
		note(r, made, 8);
		step(r, ctx, 64);
		end(r, ctx);
		say(r, EVP_CipherInit_ex2(ctx, NULL, key, NULL, 1, NULL));
	}
	EVP_CIPHER_CTX_free(ctx);
}

/* EVP_CipherInit() without key and IV, in the middle and at the end */
static void begun_with_nothing(struct record *r)
{
	static const char * const names[] = {
		"AES-128-CTR", "AES-128-CBC", "AES-128-GCM", "AES-128-ECB",
		"ChaCha20-Poly1305",
	};
	EVP_CIPHER_CTX *ctx;
	size_t i, j, sizes[] = { 16, 5, 64, 4096 };

	for (i = 0; i < COUNT(names); i++)
		for (j = 0; j < COUNT(sizes); j++) {
			ctx = begin(r, names[i], 1);
			say(r, EVP_CipherInit_ex2(ctx, NULL, key, iv, 1, NULL));
			step(r, ctx, sizes[j]);
			say(r, EVP_CipherInit_ex2(ctx, NULL, NULL, NULL, 1,
						  NULL));
			step(r, ctx, sizes[j]);
			step(r, ctx, 16);
			EVP_CIPHER_CTX_free(ctx);
		}
}

/* The same without any IV, with much data and with little */
static void begun_without_an_iv(struct record *r)
{
	static const char * const names[] = {
		"AES-128-CTR", "AES-128-CBC", "AES-128-ECB",
	};
	static const int sizes[] = { 4096, 64, 4096, 16, 80 };
	EVP_CIPHER_CTX *ctx;
	size_t i, j;

	for (i = 0; i < COUNT(names); i++) {
		ctx = begin(r, names[i], 1);
		say(r, EVP_CipherInit_ex2(ctx, NULL, key, NULL, 1, NULL));
		for (j = 0; j < COUNT(sizes); j++) {
			step(r, ctx, sizes[j]);
			say(r, EVP_CipherInit_ex2(ctx, NULL, NULL, NULL, 1,
						  NULL));
		}
		EVP_CIPHER_CTX_free(ctx);
	}
}

/* A nonce can be used for one message only. */
static void nonce_again(struct record *r)
{
	EVP_CIPHER_CTX *ctx = begin(r, "AES-128-GCM", 1);

	say(r, EVP_CipherInit_ex2(ctx, NULL, key, iv, 1, NULL));
	step(r, ctx, 4096);
	end(r, ctx);
	tag(r, ctx, 16);
	say(r, step(r, ctx, 4096) > 0);
	say(r, EVP_CipherInit_ex2(ctx, NULL, NULL, NULL, 1, NULL));
	say(r, step(r, ctx, 4096) > 0);
	EVP_CIPHER_CTX_free(ctx);
}

static void much_beside(struct record *r)
{
	static const char * const names[] = {
		"AES-128-GCM", "ChaCha20-Poly1305",
	};
	EVP_CIPHER_CTX *ctx;
	int i, n;

	for (i = 0; i < 2; i++) {
		ctx = begin(r, names[i], 1);
		EVP_CipherInit_ex2(ctx, NULL, key, iv, 1, NULL);
		say(r, EVP_CipherUpdate(ctx, NULL, &n, big, BIG));
		say(r, EVP_CipherUpdate(ctx, NULL, &n, big, 5));
		step(r, ctx, 4096);
		end(r, ctx);
		tag(r, ctx, 16);
		EVP_CIPHER_CTX_free(ctx);
	}
}

static void lengths_of_tags(struct record *r)
{
	EVP_CIPHER_CTX *ctx = begin(r, "AES-128-GCM", 0);

	EVP_CipherInit_ex2(ctx, NULL, key, iv, 0, NULL);
	say(r, EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 12, text));
	step(r, ctx, 100);
	end(r, ctx);
	say(r, EVP_CipherInit_ex2(ctx, NULL, NULL, iv2, 1, NULL));
	step(r, ctx, 4096);
	end(r, ctx);
	tag(r, ctx, 16);
	tag(r, ctx, 4);
	EVP_CIPHER_CTX_free(ctx);
}

/* Without a nonce GCM makes one; other ciphers do not. */
static void without_nonce(struct record *r)
{
	EVP_CIPHER_CTX *ctx = begin(r, "AES-128-GCM", 1);
	unsigned char out[64], made[12];
	int n;

	say(r, EVP_CipherInit_ex2(ctx, NULL, key, NULL, 1, NULL));
	say(r, EVP_CipherUpdate(ctx, out, &n, text, 64));
	say(r, EVP_CIPHER_CTX_get_updated_iv(ctx, made, 12));
	EVP_CIPHER_CTX_free(ctx);
	ctx = begin(r, "AES-128-CTR", 1);
	say(r, EVP_CipherInit_ex2(ctx, NULL, NULL, iv, 1, NULL));
	say(r, EVP_CipherUpdate(ctx, out, &n, text, 64));
	EVP_CIPHER_CTX_free(ctx);
}

/* The counter is saved, and used in another context. */
static void saved_counters(struct record *r)
{
	EVP_CIPHER_CTX *ctx, *other;
	unsigned char at[16];
	size_t i, sizes[] = { 5, 16, 21, 4096, 4099 };

	for (i = 0; i < COUNT(sizes); i++) {
		ctx = begin(r, "AES-256-CTR", 1);
		EVP_CipherInit_ex2(ctx, NULL, key, iv, 1, NULL);
		step(r, ctx, sizes[i]);
		say(r, EVP_CIPHER_CTX_get_updated_iv(ctx, at, 16));
		note(r, at, 16);
		say(r, EVP_CIPHER_CTX_get_num(ctx));
		other = begin(r, "AES-256-CTR", 1);
		say(r, EVP_CipherInit_ex2(other, NULL, key, at, 1, NULL));
		step(r, other, 100);
		EVP_CIPHER_CTX_free(ctx);
		EVP_CIPHER_CTX_free(other);
	}
}

static void announced_lengths(struct record *r)
{
	static const int said[] = { 100, 16, 4096, 0 };
	EVP_CIPHER_CTX *ctx;
	size_t i;
	int n;

	for (i = 0; i < COUNT(said); i++) {
		ctx = begin(r, "AES-128-CCM", 1);
		EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL);
		EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, NULL);
		EVP_CipherInit_ex2(ctx, NULL, key, iv, 1, NULL);
		if (said[i])
			say(r, EVP_CipherUpdate(ctx, NULL, &n, NULL, said[i]));
		if (i != 1)
			say(r, EVP_CipherUpdate(ctx, NULL, &n, text, 20));
		step(r, ctx, 4096);
		/*
		 * the tag is there before the final call, which many programs
		 * omit
		 */
		tag(r, ctx, 16);
		EVP_CIPHER_CTX_free(ctx);
	}
}

static EVP_MAC_CTX *mac_begin(struct record *r, const char *properties)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", r->properties);
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 6),
		OSSL_PARAM_END, OSSL_PARAM_END
	};

	if (properties)
		params[1] = OSSL_PARAM_construct_utf8_string("properties",
							     (char *)properties,
							     0);
	say(r, EVP_MAC_init(ctx, key, 32, params));
	EVP_MAC_free(mac);
	return ctx;
}

static void mac_end(struct record *r, EVP_MAC_CTX *ctx)
{
	unsigned char out[64];
	size_t n = 0;

	if (say(r, EVP_MAC_final(ctx, out, &n, sizeof(out))))
		note(r, out, n);
	EVP_MAC_CTX_free(ctx);
}

/*
 * MACs as libssl computes them for records: with a copy of the context, and the
 * data in two parts
 */
static void macs_of_records(struct record *r)
{
	size_t size = 100;
	OSSL_PARAM params[] = {
		OSSL_PARAM_size_t(OSSL_MAC_PARAM_TLS_DATA_SIZE, &size),
		OSSL_PARAM_END
	};
	EVP_MAC_CTX *ctx = mac_begin(r, NULL), *dup = EVP_MAC_CTX_dup(ctx);

	say(r, EVP_MAC_CTX_set_params(dup, params));
	say(r, EVP_MAC_update(dup, text, 13));
	say(r, EVP_MAC_update(dup, text, 48));
	mac_end(r, dup);
	say(r, EVP_MAC_update(ctx, text, 4000));
	mac_end(r, ctx);
}

static void macs_of_one_provider(struct record *r)
{
	EVP_MAC_CTX *ctx = mac_begin(r, r->properties);

	say(r, EVP_MAC_update(ctx, text, 4000));
	mac_end(r, ctx);
}

static void gmac(struct record *r)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "GMAC", NULL);
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_CIPHER, "AES-128-GCM",
				       11),
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_PROPERTIES,
				       (char *)r->properties,
				       strlen(r->properties)),
		OSSL_PARAM_octet_string(OSSL_MAC_PARAM_IV, iv, 12),
		OSSL_PARAM_END
	};

	say(r, EVP_MAC_init(ctx, key, 16, params));
	say(r, EVP_MAC_update(ctx, big, BIG));
	mac_end(r, ctx);
	EVP_MAC_free(mac);
}

/* After the signing has begun, its digest cannot be replaced by another. */
static void another_digest(struct record *r)
{
	EVP_PKEY *rsa = EVP_PKEY_Q_keygen(NULL, r->properties, "RSA",
					  (size_t)2048);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char sig[256];
	size_t n = sizeof(sig);
	EVP_PKEY_CTX *pctx;

	say(r, !!rsa);
	say(r, EVP_DigestSignInit_ex(ctx, &pctx, "SHA256", NULL, r->properties,
				     rsa, NULL));
	say(r, EVP_PKEY_CTX_set_signature_md(pctx, EVP_sha256()));
	/* OpenSSL 3.x refuses it, 4.0 ignores it */
	EVP_PKEY_CTX_set_signature_md(pctx, EVP_sha512());
	say(r, EVP_DigestSign(ctx, sig, &n, text, 100));
	say(r, n);
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(rsa);
}

/*
 * Parameters that the program sets stay in effect, although EVP_PKEY_generate()
 * sets the template key after them.
 */
static void parameters_and_template(struct record *r)
{
	EVP_PKEY *like = EVP_PKEY_Q_keygen(NULL, r->properties, "EC", "P-256");
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, like,
						       r->properties);
	EVP_PKEY *made = NULL;
	char encoding[32];
	size_t n;

	say(r, EVP_PKEY_keygen_init(ctx));
	say(r, EVP_PKEY_CTX_set_ec_param_enc(ctx, OPENSSL_EC_EXPLICIT_CURVE));
	say(r, EVP_PKEY_generate(ctx, &made));
	if (say(r, EVP_PKEY_get_utf8_string_param(made,
						  OSSL_PKEY_PARAM_EC_ENCODING,
						  encoding, sizeof(encoding),
						  &n)) > 0)
		note(r, encoding, n);
	EVP_PKEY_free(made);
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(like);
}

/* Without padding the last block, which was held back, comes out. */
static void padding_off_at_the_end(struct record *r)
{
	static const char * const names[] = { "AES-128-CBC", "AES-256-ECB" };
	static const size_t sizes[] = { 32, 4096, 0 };
	EVP_CIPHER_CTX *ctx;
	size_t i, j;
	int enc;

	for (i = 0; i < COUNT(names); i++)
		for (j = 0; j < COUNT(sizes); j++)
			for (enc = 0; enc < 2; enc++) {
				ctx = begin(r, names[i], enc);
				EVP_CipherInit_ex2(ctx, NULL, key, iv, enc,
						   NULL);
				step(r, ctx, sizes[j]);
				EVP_CIPHER_CTX_set_padding(ctx, 0);
				end(r, ctx);
				EVP_CIPHER_CTX_free(ctx);
			}
}

/* Gets the IV as EVP_CIPHER_CTX_iv_noconst() does. */
static unsigned char *iv_of(struct record *r, EVP_CIPHER_CTX *ctx)
{
	void *at = NULL;
	OSSL_PARAM params[] = {
		OSSL_PARAM_octet_ptr(OSSL_CIPHER_PARAM_UPDATED_IV, &at, 0),
		OSSL_PARAM_END
	};

	say(r, EVP_CIPHER_CTX_get_params(ctx, params));
	return at;
}

/* The program reads and writes the next IV in the context itself. */
static void iv_where_it_is(struct record *r)
{
	static const char * const names[] = { "AES-128-CBC", "AES-128-CTR" };
	EVP_CIPHER_CTX *ctx;
	unsigned char *at;
	int i;

	for (i = 0; i < 2; i++) {
		ctx = begin(r, names[i], 1);
		say(r, EVP_CipherInit_ex2(ctx, NULL, key, iv, 1, NULL));
		step(r, ctx, 64);
		at = iv_of(r, ctx);
		step(r, ctx, 4096);
		note(r, at, 16);
		at = iv_of(r, ctx);
		memcpy(at, iv2, 16);
		step(r, ctx, 4096);
		EVP_CIPHER_CTX_free(ctx);
	}
}

/* The tag is set after the data, or twice. */
static void tag_after_data(struct record *r)
{
	static const char * const names[] = {
		"AES-128-GCM", "ChaCha20-Poly1305",
	};
	unsigned char sealed[4096], out[4096], t[16], wrong[16];
	EVP_CIPHER_CTX *ctx;
	int i, round, n;

	for (i = 0; i < 2; i++) {
		ctx = begin(r, names[i], 1);
		EVP_CipherInit_ex2(ctx, NULL, key, iv, 1, NULL);
		EVP_CipherUpdate(ctx, sealed, &n, text, 4096);
		EVP_CipherFinal_ex(ctx, out, &n);
		say(r, EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, t));
		memcpy(wrong, t, 16);
		wrong[3] ^= 1;
		for (round = 0; round < 4; round++) {
			say(r, EVP_CipherInit_ex2(ctx, NULL, key, iv, 0, NULL));
			if (round < 2)
				EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG,
						    16, t);
			say(r, EVP_CipherUpdate(ctx, out, &n, sealed, 4096));
			say(r, EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG,
						   16, round % 2 ? wrong : t));
			end(r, ctx);
		}
		EVP_CIPHER_CTX_free(ctx);
	}
}

/* An empty message uses a nonce, too. */
static void nothing_by_evp_cipher(struct record *r)
{
	unsigned char out[4096] = {};
	EVP_CIPHER_CTX *ctx;
	int with;

	for (with = 0; with < 2; with++) {
		ctx = begin(r, "AES-128-GCM", 1);
		say(r, EVP_CipherInit_ex2(ctx, NULL, key, iv, 1, NULL));
		if (with)
			say(r, EVP_Cipher(ctx, NULL, text, 20));
		say(r, EVP_Cipher(ctx, NULL, NULL, 0));
		tag(r, ctx, 16);
		say(r, EVP_Cipher(ctx, out, text, 4096) > 0);
		note(r, out, 16);
		EVP_CIPHER_CTX_free(ctx);
	}
}

/* Digest and key are set later than usual. */
static void late_parameters(struct record *r)
{
	static const char * const names[] = { "SHA512", "MD5", "SHA256" };
	OSSL_PARAM params[] = { OSSL_PARAM_END, OSSL_PARAM_END };
	EVP_MAC_CTX *ctx;
	int i;

	for (i = 0; i < 3; i++) {
		params[0] = OSSL_PARAM_construct_utf8_string("digest",
							     (char *)names[i],
							     0);
		ctx = mac_begin(r, NULL);
		say(r, EVP_MAC_update(ctx, text, 2000));
		say(r, EVP_MAC_CTX_set_params(ctx, params));
		say(r, EVP_MAC_update(ctx, text, 2000));
		mac_end(r, ctx);
		ctx = mac_begin(r, NULL);
		say(r, EVP_MAC_init(ctx, NULL, 0, params));
		say(r, EVP_MAC_update(ctx, text, 4000));
		mac_end(r, ctx);
	}
	params[0] = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY,
						      key + 7, 40);
	ctx = mac_begin(r, NULL);
	say(r, EVP_MAC_update(ctx, text, 2000));
	say(r, EVP_MAC_CTX_set_params(ctx, params));
	say(r, EVP_MAC_update(ctx, text, 2000));
	mac_end(r, ctx);
}

/*
 * Deterministic signatures: the same nonce for the same digest, from OpenSSL
 * 3.2 on.
 */
static void deterministic(struct record *r)
{
	unsigned int type = 1;
	OSSL_PARAM params[] = {
		OSSL_PARAM_uint("nonce-type", &type), OSSL_PARAM_END
	};
	unsigned char sig[2][256] = {};
	EVP_PKEY *ec;
	EVP_MD_CTX *ctx;
	size_t n;
	int i;

	if (OpenSSL_version_num() < 0x30200000)
		return;
	ec = EVP_PKEY_Q_keygen(NULL, r->properties, "EC", "P-256");
	for (i = 0; i < 2; i++) {
		n = sizeof(sig[i]);
		ctx = EVP_MD_CTX_new();
		say(r, EVP_DigestSignInit_ex(ctx, NULL, "SHA256", NULL,
					     r->properties, ec, params));
		say(r, EVP_DigestSign(ctx, sig[i], &n, text, 100));
		EVP_MD_CTX_free(ctx);
	}
	say(r, memcmp(sig[0], sig[1], sizeof(sig[0])));
	EVP_PKEY_free(ec);
}

static const struct {
	const char	*name;
	void		(*run)(struct record *r);
} uses[] = {
	{ "EVP_Cipher()", by_evp_cipher },
	{ "EVP_Cipher(), given nonces", by_evp_cipher_given },
	{ "a nonce after one of its own", nonce_after_own },
	{ "a counter", counter_goes_on },
	{ "begun with nothing", begun_with_nothing },
	{ "begun without an IV", begun_without_an_iv },
	{ "a nonce again", nonce_again },
	{ "much associated data", much_beside },
	{ "lengths of tags", lengths_of_tags },
	{ "without a nonce", without_nonce },
	{ "saved counters", saved_counters },
	{ "announced lengths", announced_lengths },
	{ "MACs of records", macs_of_records },
	{ "MACs of one provider", macs_of_one_provider },
	{ "GMAC", gmac },
	{ "another digest", another_digest },
	{ "parameters and a template", parameters_and_template },
	{ "padding off at the end", padding_off_at_the_end },
	{ "an IV where it is", iv_where_it_is },
	{ "a tag after the data", tag_after_data },
	{ "nothing by EVP_Cipher()", nothing_by_evp_cipher },
	{ "late parameters", late_parameters },
	{ "nonces that are the same", deterministic },
};

int main(void)
{
	static struct record ours = { .properties = "provider=ocf" };
	static struct record theirs = { .properties = "provider=default" };
	OSSL_PROVIDER *defaults, *ocf;
	size_t i, j;
	int bad = 0;

	big = calloc(1, BIG);
	for (i = 0; i < sizeof(text); i++)
		text[i] = i * 13 + (i >> 8);
	defaults = OSSL_PROVIDER_load(NULL, "default");
	ocf = OSSL_PROVIDER_load(NULL, "ocf");
	if (!defaults || !ocf)
		return 1;
	for (i = 0; i < COUNT(uses); i++) {
		ours.len = theirs.len = 0;
		uses[i].run(&theirs);
		uses[i].run(&ours);
		ERR_clear_error();
		if (ours.len == theirs.len &&
		    !memcmp(ours.seen, theirs.seen, ours.len))
			continue;
		for (j = 0; j < ours.len && ours.seen[j] == theirs.seen[j]; j++)
			;
		fprintf(stderr, "uses: %s: byte %zu of %zu and %zu differs\n",
			uses[i].name, j, ours.len, theirs.len);
		bad = 1;
	}
	if (!bad)
		printf("uses: %zu are the same\n", COUNT(uses));
	OSSL_PROVIDER_unload(ocf);
	OSSL_PROVIDER_unload(defaults);
	free(big);
	return bad;
}
