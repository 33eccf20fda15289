// SPDX-License-Identifier: BSD-2-Clause
/*
 * Operations with keys: signatures, encryption, agreement.
 */
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "differ.h"
#include "every.h"

/*
 * Notes that @operation was tested for the type of @key; @ec: the algorithm's
 * name if it is an EC key.
 */
static void saw(int operation, const EVP_PKEY *key, const char *ec)
{
	const char *type = EVP_PKEY_is_a(key, "EC") ? "EC" :
			   EVP_PKEY_is_a(key, "RSA") ? "RSA" :
			   EVP_PKEY_is_a(key, "DH") ? "DH" : "X25519";

	every_saw(OSSL_OP_KEYMGMT, type);
	every_saw(operation, strcmp(type, "EC") ? type : ec);
}

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

/*
 * Each provider signs, and the other verifies; a changed signature must be
 * refused.
 */
static void signature_round(EVP_PKEY *key, const OSSL_PARAM *params)
{
	const char *md = digests[below(COUNT(digests))];
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
	saw(OSSL_OP_SIGNATURE, key, "ECDSA");
}

/* A buffer shorter than the longest signature must be refused. */
static void room_round(EVP_PKEY *key)
{
	size_t n, most = EVP_PKEY_get_size(key);
	int i, ok[2], room;
	EVP_PKEY_CTX *ctx;

	for (room = 0; room < 5; room++) {
		for (i = 0; i < 2; i++) {
			ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key,
							 i ? OURS : THEIRS);
			CHECK(ctx && EVP_PKEY_sign_init(ctx) > 0);
			n = most - room;
			ok[i] = EVP_PKEY_sign(ctx, one, &n, data, 32) > 0;
			EVP_PKEY_CTX_free(ctx);
			ERR_clear_error();
		}
		CHECK(ok[0] == ok[1]);
	}
}

static int why;		/* the reason of the last refusal */

/*
 * Empties the queue of errors.  Returns the reason of the last error; 0 if
 * there was none.
 */
static int reason(void)
{
	int last = ERR_GET_REASON(ERR_peek_last_error());

	ERR_clear_error();
	return last;
}

/*
 * Signs with the digest @md.  If @at_once, the first initialization of the
 * context sets @md; otherwise a second one without a key does.  Returns the sum
 * of 1 if this initialization succeeds, 2 if the length of a signature is
 * returned, and 4 if signing succeeds.
 */
static int begun_anew(EVP_PKEY *key, const char *properties, const char *md,
		      bool at_once)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t n = 2048;
	int said;

	if (!at_once)
		CHECK(EVP_DigestSignInit_ex(ctx, NULL, "SHA256", NULL,
					    properties, key, NULL) > 0);
	said = EVP_DigestSignInit_ex(ctx, NULL, md, NULL,
				     at_once ? properties : NULL,
				     at_once ? key : NULL, NULL) > 0;
	said |= (EVP_DigestSignFinal(ctx, NULL, &n) > 0) << 1;
	n = 2048;
	said |= (EVP_DigestSign(ctx, one, &n, data, 20) > 0) << 2;
	EVP_MD_CTX_free(ctx);
	ERR_clear_error();
	return said;
}

static void anew_round(EVP_PKEY *key)
{
	static const char * const names[] = {
		"SHA256", "SHA384", "SHA1", "none-such", "MD4", NULL,
	};
	size_t i;

	for (i = 0; i < 2 * COUNT(names); i++)
		CHECK(begun_anew(key, OURS, names[i / 2], i % 2) ==
		      begun_anew(key, THEIRS, names[i / 2], i % 2));
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

/* ---- signatures of a given digest, or of other input ---- */

/**
 * struct scheme - how it is signed
 * @name: what it is called
 * @padding: RSA_*_PADDING
 * @md: the digest that is said, or NULL
 * @mgf1: of PSS, or NULL
 */
struct scheme {
	const char	*name;
	int		padding;
	const char	*md, *mgf1;
};

static const EVP_MD *digest_of(const struct scheme *s)
{
	return EVP_get_digestbyname(s->md);
}

static EVP_PKEY_CTX *begin(EVP_PKEY *key, const char *properties,
			   int (*init)(EVP_PKEY_CTX *ctx),
			   const struct scheme *s)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, properties);

	CHECK(ctx && init(ctx) > 0);
	/* X9.31 needs a digest */
	CHECK(!s->md ||
	      EVP_PKEY_CTX_set_signature_md(ctx, digest_of(s)) > 0);
	CHECK(EVP_PKEY_CTX_set_rsa_padding(ctx, s->padding) > 0);
	CHECK(!s->mgf1 ||
	      EVP_PKEY_CTX_set_rsa_mgf1_md_name(ctx, s->mgf1, NULL) > 0);
	return ctx;
}

/* Signs.  Returns the bytes of the signature, or -1. */
static int sign_this(EVP_PKEY *key, const char *properties,
		     const struct scheme *s, const unsigned char *tbs,
		     size_t len, unsigned char *sig)
{
	EVP_PKEY_CTX *ctx = begin(key, properties, EVP_PKEY_sign_init, s);
	size_t n = 2048;
	int ok = EVP_PKEY_sign(ctx, sig, &n, tbs, len);

	EVP_PKEY_CTX_free(ctx);
	ERR_clear_error();
	return ok > 0 ? (int)n : -1;
}

static bool verify_this(EVP_PKEY *key, const char *properties,
			const struct scheme *s, const unsigned char *tbs,
			size_t len, const unsigned char *sig, size_t siglen)
{
	EVP_PKEY_CTX *ctx = begin(key, properties, EVP_PKEY_verify_init, s);
	int ok = EVP_PKEY_verify(ctx, sig, siglen, tbs, len);

	EVP_PKEY_CTX_free(ctx);
	why = reason();
	return ok == 1;
}

/* Recovers what was signed from the signature.  Returns its bytes, or -1. */
static int recover(EVP_PKEY *key, const char *properties,
		   const struct scheme *s, const unsigned char *sig,
		   size_t siglen, unsigned char *out)
{
	EVP_PKEY_CTX *ctx = begin(key, properties,
				  EVP_PKEY_verify_recover_init, s);
	size_t n = 2048;
	int ok = EVP_PKEY_verify_recover(ctx, out, &n, sig, siglen);

	EVP_PKEY_CTX_free(ctx);
	ERR_clear_error();
	return ok > 0 ? (int)n : -1;
}

static void recover_round(EVP_PKEY *key, const struct scheme *s,
			  const unsigned char *sig, int siglen, size_t len)
{
	unsigned char a[1024], b[1024];
	int n = recover(key, THEIRS, s, sig, siglen, a);

	CHECK(n == (int)len && !memcmp(a, data, n));
	CHECK(recover(key, OURS, s, sig, siglen, b) == n);
	CHECK(!memcmp(b, data, n));
}

static size_t signed_len(EVP_PKEY *key, const struct scheme *s)
{
	size_t size = EVP_PKEY_get_size(key);

	if (s->padding == RSA_NO_PADDING)
		return size;
	if (s->md)
		return EVP_MD_get_size(digest_of(s));
	/* as long as a digest, although it is none */
	return one_in(2) ? 32 : 1 + below(size - 11);
}

/* Both make the same signature, unless PSS adds a random salt. */
static void scheme_round(EVP_PKEY *key, const struct scheme *s)
{
	bool pss = s->padding == RSA_PKCS1_PSS_PADDING;
	size_t len = signed_len(key, s);
	int n, told;

	what = s->name;
	data[0] = 0;
	n = sign_this(key, THEIRS, s, data, len, other);
	CHECK(n == EVP_PKEY_get_size(key));
	CHECK(verify_this(key, OURS, s, data, len, other, n));
	CHECK(sign_this(key, OURS, s, data, len, one) == n);
	CHECK(verify_this(key, THEIRS, s, data, len, one, n));
	CHECK(pss || !memcmp(one, other, n));
	if (!pss)
		recover_round(key, s, other, n, len);
	/* the length of a digest, or of unpadded input, is fixed */
	CHECK(sign_this(key, OURS, s, data, len - 1, one) ==
	      sign_this(key, THEIRS, s, data, len - 1, other));
	n = sign_this(key, THEIRS, s, data, len, other);
	other[n / 2] ^= 1;
	CHECK(!verify_this(key, THEIRS, s, data, len, other, n));
	told = why;
	CHECK(!verify_this(key, OURS, s, data, len, other, n));
	CHECK(why == told);
	if (!pss)
		CHECK(recover(key, OURS, s, other, n, one) ==
		      recover(key, THEIRS, s, other, n, one));
}

static void schemes(EVP_PKEY *key)
{
	static const struct scheme all[] = {
		{ "PKCS #1, no digest", RSA_PKCS1_PADDING, NULL, NULL },
		{ "PKCS #1, SHA-256", RSA_PKCS1_PADDING, "SHA256", NULL },
		{ "PKCS #1, SHA3-384", RSA_PKCS1_PADDING, "SHA3-384", NULL },
		{ "no padding", RSA_NO_PADDING, NULL, NULL },
		{ "X9.31", RSA_X931_PADDING, "SHA256", NULL },
		{ "PSS", RSA_PKCS1_PSS_PADDING, "SHA256", NULL },
		{ "PSS, two digests", RSA_PKCS1_PSS_PADDING, "SHA256",
		  "SHA512" },
	};
	size_t i;

	for (i = 0; i < COUNT(all); i++)
		scheme_round(key, &all[i]);
}

/* ---- encryption ---- */

/**
 * struct envelope - how it is encrypted
 * @padding: RSA_*_PADDING
 * @md: digest of OAEP, or NULL for the default
 * @mgf1: likewise
 * @label: likewise
 */
struct envelope {
	int		padding;
	const char	*md, *mgf1, *label;
};

static void set_oaep(EVP_PKEY_CTX *ctx, const struct envelope *e)
{
	size_t len = e->label ? strlen(e->label) : 0;

	CHECK(!e->md ||
	      EVP_PKEY_CTX_set_rsa_oaep_md_name(ctx, e->md, NULL) > 0);
	CHECK(!e->mgf1 ||
	      EVP_PKEY_CTX_set_rsa_mgf1_md_name(ctx, e->mgf1, NULL) > 0);
	/* the context owns the label then */
	CHECK(!e->label ||
	      EVP_PKEY_CTX_set0_rsa_oaep_label(ctx, OPENSSL_memdup(e->label,
								   len),
					       len) > 0);
}

static int crypt(EVP_PKEY *key, const char *properties, bool encrypt,
		 const struct envelope *e, const unsigned char *in, size_t len,
		 unsigned char *out)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, properties);
	size_t n = 2048;
	int ok;

	CHECK((encrypt ? EVP_PKEY_encrypt_init(ctx) :
			 EVP_PKEY_decrypt_init(ctx)) > 0);
	CHECK(EVP_PKEY_CTX_set_rsa_padding(ctx, e->padding) > 0);
	set_oaep(ctx, e);
	ok = encrypt ? EVP_PKEY_encrypt(ctx, out, &n, in, len) :
		       EVP_PKEY_decrypt(ctx, out, &n, in, len);
	EVP_PKEY_CTX_free(ctx);
	why = reason();
	return ok > 0 ? (int)n : -1;
}

/* With another label or another digest decryption fails. */
static void not_opened(EVP_PKEY *key, const struct envelope *e, int n)
{
	struct envelope odd = *e;
	int told;

	odd.label = "another";
	CHECK(crypt(key, OURS, false, &odd, one, n, other) < 0);
	odd = *e;
	odd.mgf1 = e->mgf1 && !strcmp(e->mgf1, "SHA384") ? "SHA512" : "SHA384";
	CHECK(crypt(key, OURS, false, &odd, one, n, other) < 0);
	one[n / 2] ^= 1;
	CHECK(crypt(key, THEIRS, false, e, one, n, other) < 0);
	told = why;
	CHECK(crypt(key, OURS, false, e, one, n, other) < 0);
	CHECK(why == told);
}

static void encryption_round(EVP_PKEY *key, const struct envelope *e)
{
	size_t len = e->padding == RSA_NO_PADDING ?
		     (size_t)EVP_PKEY_get_size(key) : below(60);
	int n, m;

	data[0] = 0;
	n = crypt(key, OURS, true, e, data, len, one);
	CHECK(n == EVP_PKEY_get_size(key));
	m = crypt(key, THEIRS, false, e, one, n, other);
	CHECK(m == (int)len && !memcmp(other, data, len));
	m = crypt(key, OURS, false, e, one, n, other);
	CHECK(m == (int)len && !memcmp(other, data, len));
	if (e->padding == RSA_PKCS1_OAEP_PADDING)
		not_opened(key, e, n);
	saw(OSSL_OP_ASYM_CIPHER, key, NULL);
}

static void envelopes(EVP_PKEY *key)
{
	struct envelope all[] = {
		{ .padding = RSA_PKCS1_PADDING },
		{ .padding = RSA_NO_PADDING },
		{ .padding = RSA_PKCS1_OAEP_PADDING },
		{ RSA_PKCS1_OAEP_PADDING, "SHA256", NULL, NULL },
		{ RSA_PKCS1_OAEP_PADDING, "SHA256", "SHA1", NULL },
		{ RSA_PKCS1_OAEP_PADDING, "SHA512", "SHA512", "a label" },
		{ RSA_PKCS1_OAEP_PADDING, NULL, "SHA256", "another one" },
		/* random */
		{ RSA_PKCS1_OAEP_PADDING, digests[below(COUNT(digests))],
		  digests[below(COUNT(digests))], one_in(2) ? "x" : NULL },
	};
	size_t i;

	what = "RSA";
	for (i = 0; i < COUNT(all); i++)
		encryption_round(key, &all[i]);
}

/* A leading zero of the ciphertext may be missing, as in OpenPGP. */
static void short_round(EVP_PKEY *key)
{
	static const char * const md = "SHA256";
	static const struct envelope oaep = {
		RSA_PKCS1_OAEP_PADDING, md, NULL, NULL,
	};
	static const struct envelope raw = { .padding = RSA_NO_PADDING };
	int n;

	do {
		n = crypt(key, THEIRS, true, &oaep, data, 20, one);
	} while (one[0]);
	CHECK(crypt(key, THEIRS, false, &oaep, one + 1, n - 1, other) == 20);
	CHECK(crypt(key, OURS, false, &oaep, one + 1, n - 1, other) == 20);
	CHECK(!memcmp(other, data, 20));
	do {
		n = sign(key, THEIRS, md, pss, 20, one);
	} while (one[0]);
	CHECK(verify(key, THEIRS, md, pss, 20, one + 1, n - 1));
	CHECK(verify(key, OURS, md, pss, 20, one + 1, n - 1));
	/* and input that is too short for a ciphertext is refused */
	CHECK(crypt(key, THEIRS, true, &raw, data, 100, one) < 0);
	CHECK(crypt(key, OURS, true, &raw, data, 100, one) < 0);
}

/* ---- agreements ---- */

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

/*
 * Sets the public part of @key to that of @peer.  Returns the sum of 1 if it
 * could be set, 2 if a copy of the key could then derive a secret, and 4 if the
 * key could.
 */
static int with_another(EVP_PKEY *key, EVP_PKEY *peer, const char *properties)
{
	EVP_PKEY *of[2] = { NULL, key };
	unsigned char *encoded = NULL;
	int i, said = 0;
	EVP_PKEY_CTX *ctx;
	size_t n;

	n = EVP_PKEY_get1_encoded_public_key(peer, &encoded);
	CHECK(n);
	said |= EVP_PKEY_set1_encoded_public_key(key, encoded, n) > 0;
	OPENSSL_free(encoded);
	of[0] = EVP_PKEY_dup(key);
	CHECK(of[0]);
	for (i = 0; i < 2; i++) {
		ctx = EVP_PKEY_CTX_new_from_pkey(NULL, of[i], properties);
		n = 2048;
		if (EVP_PKEY_derive_init(ctx) > 0 &&
		    EVP_PKEY_derive_set_peer(ctx, peer) > 0 &&
		    EVP_PKEY_derive(ctx, one, &n) > 0)
			said |= 2 << i;
		EVP_PKEY_CTX_free(ctx);
	}
	EVP_PKEY_free(of[0]);
	ERR_clear_error();
	return said;
}

/*
 * A key that gets a new public part keeps its private part only if OpenSSL's
 * own does.
 */
static void another_public_part(const char *type, const char *name,
				const char *value)
{
	EVP_PKEY *ours = make_key(type, OURS, name, value);
	EVP_PKEY *theirs = make_key(type, THEIRS, name, value);
	EVP_PKEY *peer = make_key(type, THEIRS, name, value);

	CHECK(with_another(ours, peer, OURS) ==
	      with_another(theirs, peer, THEIRS));
	EVP_PKEY_free(ours);
	EVP_PKEY_free(theirs);
	EVP_PKEY_free(peer);
}

/* Makes the peer's key as libssl does, and asks for its length. */
static void of_another(const char *properties)
{
	EVP_PKEY *like = make_key("X25519", properties, NULL, NULL);
	EVP_PKEY *key = EVP_PKEY_new();

	CHECK(key && EVP_PKEY_copy_parameters(key, like) > 0);
	CHECK(EVP_PKEY_set1_encoded_public_key(key, data, 32) > 0);
	CHECK(EVP_PKEY_get_bits(key) == 253 &&
	      EVP_PKEY_get_security_bits(key) == 128 &&
	      EVP_PKEY_get_size(key) == 32);
	EVP_PKEY_free(key);
	EVP_PKEY_free(like);
}

static void agreement_round(EVP_PKEY *a, EVP_PKEY *b, bool pad)
{
	size_t n = derive(a, b, OURS, pad, one);

	CHECK(n == derive(b, a, THEIRS, pad, other));
	CHECK(!memcmp(one, other, n));
	CHECK(n == derive(b, a, OURS, pad, other));
	CHECK(!memcmp(one, other, n));
	saw(OSSL_OP_KEYEXCH, a, "ECDH");
}

/* Returns a DH key whose prime and generator have no name. */
static EVP_PKEY *unnamed_key(const char *properties)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "DH", properties);
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	BIGNUM *p = BN_get_rfc3526_prime_2048(NULL), *g = BN_new();
	EVP_PKEY *like = NULL, *key = NULL;
	OSSL_PARAM *params;

	CHECK(ctx && build && p && g && BN_set_word(g, 5));
	OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_FFC_P, p);
	OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_FFC_G, g);
	params = OSSL_PARAM_BLD_to_param(build);
	CHECK(EVP_PKEY_fromdata_init(ctx) > 0);
	CHECK(EVP_PKEY_fromdata(ctx, &like, EVP_PKEY_KEY_PARAMETERS,
				params) > 0);
	EVP_PKEY_CTX_free(ctx);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(build);
	BN_free(p);
	BN_free(g);
	ctx = EVP_PKEY_CTX_new_from_pkey(NULL, like, properties);
	CHECK(ctx && EVP_PKEY_keygen_init(ctx) > 0);
	CHECK(EVP_PKEY_generate(ctx, &key) > 0);
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(like);
	return key;
}

static void dh_keys(int rounds)
{
	static const char * const groups[] = {
		"ffdhe2048", "ffdhe3072", "modp_2048", NULL,
	};
	EVP_PKEY *a, *b;
	size_t i;
	int j;

	for (i = 0; i < COUNT(groups); i++) {
		what = groups[i] ? groups[i] : "DH without a name";
		a = groups[i] ? make_key("DH", OURS, OSSL_PKEY_PARAM_GROUP_NAME,
					 groups[i]) : unnamed_key(OURS);
		b = groups[i] ? make_key("DH", THEIRS,
					 OSSL_PKEY_PARAM_GROUP_NAME,
					 groups[i]) : unnamed_key(THEIRS);
		if (groups[i])
			another_public_part("DH", OSSL_PKEY_PARAM_GROUP_NAME,
					    groups[i]);
		for (j = 0; j < rounds; j++) {
			agreement_round(a, b, j % 2);
			agreement_round(b, a, j % 2);
		}
		EVP_PKEY_free(a);
		EVP_PKEY_free(b);
	}
}

void keys(int rounds)
{
	static const char * const curves[] = {
		"P-256", "P-384", "P-521", "secp256k1",
	};
	EVP_PKEY *rsa, *ec[2], *x[2];
	int i, j;

	what = "RSA without a zero";
	rsa = make_key("RSA", THEIRS, OSSL_PKEY_PARAM_RSA_BITS, "1024");
	short_round(rsa);
	EVP_PKEY_free(rsa);
	what = "RSA";
	rsa = make_key("RSA", one_in(2) ? OURS : THEIRS,
		       OSSL_PKEY_PARAM_RSA_BITS, "2048");
	for (i = 0; i < rounds; i++) {
		anew_round(rsa);
		signature_round(rsa, pkcs1);
		signature_round(rsa, pss);
		signature_round(rsa, pss_digest);
		schemes(rsa);
		envelopes(rsa);
	}
	EVP_PKEY_free(rsa);
	for (j = 0; j < 4; j++) {
		what = curves[j];
		ec[0] = make_key("EC", OURS, OSSL_PKEY_PARAM_GROUP_NAME,
				 curves[j]);
		ec[1] = make_key("EC", THEIRS, OSSL_PKEY_PARAM_GROUP_NAME,
				 curves[j]);
		another_public_part("EC", OSSL_PKEY_PARAM_GROUP_NAME,
				    curves[j]);
		for (i = 0; i < rounds; i++) {
			room_round(ec[i % 2]);
			anew_round(ec[i % 2]);
			signature_round(ec[i % 2], NULL);
			agreement_round(ec[i % 2], ec[(i + 1) % 2], false);
		}
		EVP_PKEY_free(ec[0]);
		EVP_PKEY_free(ec[1]);
	}
	what = "X25519";
	another_public_part("X25519", NULL, NULL);
	of_another(OURS);
	of_another(THEIRS);
	x[0] = make_key("X25519", OURS, NULL, NULL);
	x[1] = make_key("X25519", THEIRS, NULL, NULL);
	for (i = 0; i < rounds; i++)
		agreement_round(x[i % 2], x[(i + 1) % 2], false);
	EVP_PKEY_free(x[0]);
	EVP_PKEY_free(x[1]);
	dh_keys(rounds);
}
