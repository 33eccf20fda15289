// SPDX-License-Identifier: BSD-2-Clause
/*
 * Public-key operations by a card.  This reads the parameters from OpenSSL's
 * context.  Operations that the kernel does not have are left to OpenSSL.
 */
/* RSA_padding_check_PKCS1_type_2() has no successor */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <errno.h>
#include <stdio.h>

#include "provider.h"

#define NUMBER_MAX	1024	/* bytes */
#define CURVE_MAX	66	/* bytes of a coordinate */

/* OSSL_ASYM_CIPHER_PARAM_IMPLICIT_REJECTION of OpenSSL 3.2 */
#define IMPLICIT_REJECTION	"implicit-rejection"
/* OSSL_SIGNATURE_PARAM_NONCE_TYPE, likewise */
#define NONCE_TYPE		"nonce-type"

/*
 * Returns the value of a parameter, or 0 if this version of OpenSSL does not
 * know it.
 */
static unsigned int asked_for(EVP_PKEY_CTX *ctx, const char *name)
{
	unsigned int value = 0;
	OSSL_PARAM params[] = {
		OSSL_PARAM_uint(name, &value),
		OSSL_PARAM_END
	};

	EVP_PKEY_CTX_get_params(ctx, params);
	return value;
}

/* ---- RSA ---- */

/*
 * Returns the key in DER (RFC 8017, appendix A.1), freed by
 * OPENSSL_clear_free().
 */
static unsigned char *rsa_der(const struct key *key, bool secret, int *len)
{
	unsigned char *der = NULL;

	if (secret)
		return rsa_private_der(key, len);
	*len = i2d_PublicKey(key->pkey, &der);
	return *len > 0 ? der : NULL;
}

static const char *hash_of(struct key *key, const EVP_MD *md)
{
	const struct digest_row *row;

	row = md ? digest_by_name(key->prov, EVP_MD_get0_name(md)) : NULL;
	return row ? row->kernel : NULL;
}

/*
 * Returns the salt length of PSS: bytes, -1 for any, or -2.  It is read by
 * name, because EVP_PKEY_CTX_get_rsa_pss_saltlen() of OpenSSL 3.5 does not know
 * the default of 3.5.
 */
static int salt_of(const struct key *key, EVP_PKEY_CTX *ctx, const EVP_MD *md,
		   bool verify)
{
	int size = EVP_MD_get_size(md), most, n;
	char name[32] = "";
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(OSSL_SIGNATURE_PARAM_PSS_SALTLEN, name,
				       sizeof(name)),
		OSSL_PARAM_END
	};
	char end;

	most = EVP_PKEY_get_size(key->pkey) - size - 2 -
	       (EVP_PKEY_get_bits(key->pkey) % 8 == 1);
	if (EVP_PKEY_CTX_get_params(ctx, params) <= 0)
		return -2;
	if (!strcmp(name, "digest"))
		return size;
	if (verify && !strncmp(name, "auto", 4))
		return -1;
	if (!strcmp(name, "max") || !strcmp(name, "auto"))
		return most;
	if (!strcmp(name, "auto-digestmax"))
		return size < most ? size : most;
	return sscanf(name, "%d%c", &n, &end) == 1 ? n : -2;
}

/*
 * Sets padding and hash of a signature.  Returns false if the kernel does not
 * have them.
 */
static bool set_signature(struct key *key, EVP_PKEY_CTX *ctx, bool verify,
			  struct ocf_public *op)
{
	const EVP_MD *md = NULL, *mgf1 = NULL;
	int padding, salt;

	if (EVP_PKEY_CTX_get_rsa_padding(ctx, &padding) <= 0)
		return false;
	if (EVP_PKEY_CTX_get_signature_md(ctx, &md) > 0 && md) {
		op->hash = hash_of(key, md);
		if (!op->hash)
			return false;
	}
	op->scheme = OCF_PK_PKCS1;
	if (padding == RSA_PKCS1_PADDING)
		return true;
	op->scheme = OCF_PK_PSS;
	if (padding != RSA_PKCS1_PSS_PADDING || !md ||
	    EVP_PKEY_CTX_get_rsa_mgf1_md(ctx, &mgf1) <= 0 ||
	    hash_of(key, mgf1) != op->hash)
		return false;
	salt = salt_of(key, ctx, md, verify);
	op->salt = salt == -1 ? OCF_PK_SALT_ANY : salt;
	return salt >= -1;
}

bool rsa_sign(struct key *key, EVP_PKEY_CTX *ctx, unsigned char *sig,
	      size_t *siglen, size_t room, const unsigned char *tbs,
	      size_t tbslen)
{
	struct ocf_public op = { .code = OCF_PK_RSA_SIGN };
	size_t size = EVP_PKEY_get_size(key->pkey);
	unsigned char *der;
	int len, res;

	if (room < size || !set_signature(key, ctx, false, &op) ||
	    !public_is_worth(key->prov, &op))
		return false;
	der = rsa_der(key, true, &len);
	if (!der)
		return false;
	op.in[0] = (struct iovec){ (void *)tbs, tbslen };
	op.in[1] = (struct iovec){ der, len };
	op.out[0] = (struct iovec){ sig, size };
	res = public_run(key->prov, &op);
	OPENSSL_clear_free(der, len);
	*siglen = size;
	return res == (int)size;
}

/*
 * Returns whether the input has its full length.  OpenPGP, for instance, omits
 * leading zeros (RFC 9580, section 3.2).  OpenSSL usually accepts that, and the
 * kernel never.
 */
static bool is_whole(const struct key *key, size_t len)
{
	return len == (size_t)EVP_PKEY_get_size(key->pkey);
}

bool rsa_verify(struct key *key, EVP_PKEY_CTX *ctx, const unsigned char *sig,
		size_t siglen, const unsigned char *tbs, size_t tbslen,
		bool *valid)
{
	struct ocf_public op = { .code = OCF_PK_RSA_VERIFY };
	unsigned char *der;
	int len, res;

	if (!is_whole(key, siglen) || !set_signature(key, ctx, true, &op) ||
	    !public_is_worth(key->prov, &op))
		return false;
	der = rsa_der(key, false, &len);
	if (!der)
		return false;
	op.in[0] = (struct iovec){ (void *)tbs, tbslen };
	op.in[1] = (struct iovec){ (void *)sig, siglen };
	op.in[2] = (struct iovec){ der, len };
	res = public_run(key->prov, &op);
	OPENSSL_free(der);
	/*
	 * an invalid signature is left to OpenSSL, which refuses it and gives
	 * the reason
	 */
	*valid = !res;
	return !res;
}

static bool set_encryption(struct key *key, EVP_PKEY_CTX *ctx,
			   struct ocf_public *op)
{
	const EVP_MD *md = NULL, *mgf1 = NULL;
	unsigned char *label = NULL;
	int padding, n;

	if (EVP_PKEY_CTX_get_rsa_padding(ctx, &padding) <= 0)
		return false;
	op->scheme = padding == RSA_NO_PADDING ? OCF_PK_RAW : OCF_PK_PKCS1;
	if (padding == RSA_NO_PADDING || padding == RSA_PKCS1_PADDING)
		return true;
	op->scheme = OCF_PK_OAEP;
	if (padding != RSA_PKCS1_OAEP_PADDING ||
	    EVP_PKEY_CTX_get_rsa_oaep_md(ctx, &md) <= 0 ||
	    EVP_PKEY_CTX_get_rsa_mgf1_md(ctx, &mgf1) <= 0)
		return false;
	op->hash = hash_of(key, md);
	if (!op->hash || hash_of(key, mgf1) != op->hash)
		return false;
	n = EVP_PKEY_CTX_get0_rsa_oaep_label(ctx, &label);
	if (n > 0)
		op->in[2] = (struct iovec){ label, n };
	return n >= 0;
}

/*
 * Returns whether wrong padding gives a message that is computed from the
 * ciphertext, instead of an error.  OpenSSL does so since 3.2, and the kernel
 * always.
 */
static bool rejects_silently(EVP_PKEY_CTX *ctx)
{
	return asked_for(ctx, IMPLICIT_REJECTION);
}

/*
 * Removes the padding in place and in constant time.  Returns the bytes, or
 * -EBADMSG.
 */
static int unpad(unsigned char *data, size_t size, int len)
{
	unsigned char *padded = OPENSSL_memdup(data, size);

	if (!padded)
		return -ENOMEM;
	len = RSA_padding_check_PKCS1_type_2(data, size, padded, len, size);
	OPENSSL_clear_free(padded, size);
	return len < 0 ? -EBADMSG : len;
}

/*
 * The card's answer about the padding is final: if the CPU checked it again, a
 * wrong padding would take longer.
 */
static bool crypt(struct key *key, EVP_PKEY_CTX *ctx, struct ocf_public *op,
		  unsigned char *out, size_t *outlen, size_t room,
		  const unsigned char *in, size_t inlen, bool *valid)
{
	bool secret = op->code == OCF_PK_RSA_DECRYPT;
	size_t size = EVP_PKEY_get_size(key->pkey);
	unsigned char *der;
	bool told;
	int len, res;

	if (room < size || !set_encryption(key, ctx, op))
		return false;
	if ((secret || op->scheme == OCF_PK_RAW) && !is_whole(key, inlen))
		return false;
	told = secret && op->scheme == OCF_PK_PKCS1 && !rejects_silently(ctx);
	if (told)
		op->scheme = OCF_PK_RAW;
	if (!public_is_worth(key->prov, op))
		return false;
	der = rsa_der(key, secret, &len);
	if (!der)
		return false;
	op->in[0] = (struct iovec){ (void *)in, inlen };
	op->in[1] = (struct iovec){ der, len };
	op->out[0] = (struct iovec){ out, size };
	res = public_run(key->prov, op);
	OPENSSL_clear_free(der, len);
	if (told && res == (int)size)
		res = unpad(out, size, res);
	if (res == -EBADMSG && op->scheme == OCF_PK_OAEP)
		ERR_raise(ERR_LIB_RSA, RSA_R_OAEP_DECODING_ERROR);
	*outlen = res > 0 ? res : 0;
	*valid = res >= 0;
	return res >= 0 || res == -EBADMSG;
}

bool rsa_encrypt(struct key *key, EVP_PKEY_CTX *ctx, unsigned char *out,
		 size_t *outlen, size_t room, const unsigned char *in,
		 size_t inlen)
{
	struct ocf_public op = { .code = OCF_PK_RSA_ENCRYPT };
	bool valid;

	return crypt(key, ctx, &op, out, outlen, room, in, inlen, &valid) &&
	       valid;
}

bool rsa_decrypt(struct key *key, EVP_PKEY_CTX *ctx, unsigned char *out,
		 size_t *outlen, size_t room, const unsigned char *in,
		 size_t inlen, bool *valid)
{
	struct ocf_public op = { .code = OCF_PK_RSA_DECRYPT };

	return crypt(key, ctx, &op, out, outlen, room, in, inlen, valid);
}

/* ---- curves ---- */

static enum ocf_pk_curve curve_of(const struct key *key, size_t *bytes)
{
	static const struct {
		const char		*name;
		enum ocf_pk_curve	curve;
		size_t			bytes;
	} curves[] = {
		{ "prime256v1", OCF_PK_P256, 32 },
		{ "secp384r1", OCF_PK_P384, 48 },
		{ "secp521r1", OCF_PK_P521, 66 },
	};
	char name[32] = "";
	size_t i;

	if (EVP_PKEY_get_group_name(key->pkey, name, sizeof(name), NULL))
		for (i = 0; i < COUNT(curves); i++)
			if (!strcmp(curves[i].name, name)) {
				*bytes = curves[i].bytes;
				return curves[i].curve;
			}
	return OCF_PK_NO_CURVE;
}

/* Gets a number of a key, as @bytes bytes. */
static bool number_of(const struct key *key, const char *name,
		      unsigned char *out, size_t bytes)
{
	BIGNUM *n = NULL;
	bool ok = EVP_PKEY_get_bn_param(key->pkey, name, &n) &&
		  BN_bn2binpad(n, out, bytes) >= 0;

	BN_clear_free(n);
	return ok;
}

/* Gets the public point, uncompressed: 04, x, y. */
static bool point_of(const struct key *key, unsigned char *out, size_t bytes)
{
	out[0] = 4;
	return number_of(key, OSSL_PKEY_PARAM_EC_PUB_X, out + 1, bytes) &&
	       number_of(key, OSSL_PKEY_PARAM_EC_PUB_Y, out + 1 + bytes, bytes);
}

static size_t der_of(const unsigned char *r, const unsigned char *s, size_t n,
		     unsigned char *out, size_t room)
{
	ECDSA_SIG *sig = ECDSA_SIG_new();
	BIGNUM *a = BN_bin2bn(r, n, NULL), *b = BN_bin2bn(s, n, NULL);
	int len = 0;

	if (sig && a && b && ECDSA_SIG_set0(sig, a, b)) {
		len = i2d_ECDSA_SIG(sig, NULL);
		len = len > 0 && (size_t)len <= room ?
		      i2d_ECDSA_SIG(sig, &out) : 0;
	} else {
		BN_free(a);
		BN_free(b);
	}
	ECDSA_SIG_free(sig);
	return len > 0 ? len : 0;
}

/*
 * Returns whether the input has the length of the hash that was set; OpenSSL
 * refuses any other.
 */
static bool is_digest(EVP_PKEY_CTX *ctx, size_t len)
{
	const EVP_MD *md;

	return EVP_PKEY_CTX_get_signature_md(ctx, &md) <= 0 || !md ||
	       (size_t)EVP_MD_get_size(md) == len;
}

/*
 * Returns whether nonces are computed from key and digest (RFC 6979), which
 * OpenSSL 3.2 can.
 */
static bool is_deterministic(EVP_PKEY_CTX *ctx)
{
	return asked_for(ctx, NONCE_TYPE);
}

bool ecdsa_sign(struct key *key, EVP_PKEY_CTX *ctx, unsigned char *sig,
		size_t *siglen, size_t room, const unsigned char *tbs,
		size_t tbslen)
{
	unsigned char secret[CURVE_MAX], r[CURVE_MAX], s[CURVE_MAX];
	struct ocf_public op = { .code = OCF_PK_ECDSA_SIGN };
	size_t n = 0;
	bool ok;

	/*
	 * the buffer must hold the longest signature, whatever the length of
	 * this one
	 */
	if (is_digest(ctx, tbslen) && !is_deterministic(ctx) &&
	    room >= (size_t)EVP_PKEY_get_size(key->pkey))
		op.curve = curve_of(key, &n);
	if (!op.curve || !public_is_worth(key->prov, &op))
		return false;
	op.in[0] = (struct iovec){ (void *)tbs, tbslen };
	op.in[1] = (struct iovec){ secret, n };
	op.out[0] = (struct iovec){ r, n };
	op.out[1] = (struct iovec){ s, n };
	ok = number_of(key, OSSL_PKEY_PARAM_PRIV_KEY, secret, n) &&
	     public_run(key->prov, &op) == (int)n;
	OPENSSL_cleanse(secret, sizeof(secret));
	*siglen = ok ? der_of(r, s, n, sig, room) : 0;
	return *siglen;
}

bool ecdsa_verify(struct key *key, EVP_PKEY_CTX *ctx, const unsigned char *sig,
		  size_t siglen, const unsigned char *tbs, size_t tbslen,
		  bool *valid)
{
	unsigned char point[1 + 2 * CURVE_MAX], r[CURVE_MAX], s[CURVE_MAX];
	struct ocf_public op = { .code = OCF_PK_ECDSA_VERIFY };
	const unsigned char *at = sig;
	ECDSA_SIG *both;
	size_t n = 0;
	int res;
	bool ok;

	if (is_digest(ctx, tbslen))
		op.curve = curve_of(key, &n);
	if (!op.curve || !public_is_worth(key->prov, &op))
		return false;
	/* OpenSSL refuses input that is not DER of two numbers of this size */
	both = d2i_ECDSA_SIG(NULL, &at, siglen);
	ok = both && at == sig + siglen &&
	     i2d_ECDSA_SIG(both, NULL) == (int)siglen &&
	     BN_bn2binpad(ECDSA_SIG_get0_r(both), r, n) >= 0 &&
	     BN_bn2binpad(ECDSA_SIG_get0_s(both), s, n) >= 0 &&
	     point_of(key, point, n);
	ECDSA_SIG_free(both);
	if (!ok)
		return false;
	op.in[0] = (struct iovec){ (void *)tbs, tbslen };
	op.in[1] = (struct iovec){ point, 1 + 2 * n };
	op.in[2] = (struct iovec){ r, n };
	op.in[3] = (struct iovec){ s, n };
	res = public_run(key->prov, &op);
	*valid = !res;
	return !res || res == -EBADMSG;
}

/* ---- agreements ---- */

static bool by_curve(struct key *key, struct key *peer, unsigned char *out,
		     size_t *outlen, size_t room)
{
	unsigned char secret[CURVE_MAX], point[1 + 2 * CURVE_MAX];
	struct ocf_public op = { .code = OCF_PK_ECDH };
	size_t n = 0;
	bool ok;

	op.curve = curve_of(key, &n);
	if (!op.curve || room < n || !public_is_worth(key->prov, &op))
		return false;
	op.in[0] = (struct iovec){ secret, n };
	op.in[1] = (struct iovec){ point, 1 + 2 * n };
	op.out[0] = (struct iovec){ out, n };
	ok = number_of(key, OSSL_PKEY_PARAM_PRIV_KEY, secret, n) &&
	     point_of(peer, point, n) && public_run(key->prov, &op) == (int)n;
	OPENSSL_cleanse(secret, sizeof(secret));
	*outlen = n;
	return ok;
}

static bool by_x25519(struct key *key, struct key *peer, unsigned char *out,
		      size_t *outlen, size_t room)
{
	unsigned char secret[32], public[32];
	struct ocf_public op = {
		.code = OCF_PK_X25519,
		.in = { { secret, 32 }, { public, 32 } },
		.out = { { out, 32 } },
	};
	size_t n = 32, m = 32;
	bool ok;

	ok = room >= 32 && public_is_worth(key->prov, &op) &&
	     EVP_PKEY_get_raw_private_key(key->pkey, secret, &n) &&
	     EVP_PKEY_get_raw_public_key(peer->pkey, public, &m) &&
	     public_run(key->prov, &op) == 32;
	OPENSSL_cleanse(secret, sizeof(secret));
	*outlen = 32;
	return ok;
}

static bool by_numbers(struct key *key, struct key *peer, bool pad,
		       unsigned char *out, size_t *outlen, size_t room)
{
	unsigned char secret[NUMBER_MAX], public[NUMBER_MAX], p[NUMBER_MAX];
	size_t n = EVP_PKEY_get_size(key->pkey), zeros = 0;
	struct ocf_public op = {
		.code = OCF_PK_DH,
		.in = { { secret, n }, { public, n }, { p, n } },
		.out = { { out, n } },
	};
	bool ok;

	ok = n && n <= NUMBER_MAX && room >= n &&
	     public_is_worth(key->prov, &op) &&
	     number_of(key, OSSL_PKEY_PARAM_PRIV_KEY, secret, n) &&
	     number_of(peer, OSSL_PKEY_PARAM_PUB_KEY, public, n) &&
	     number_of(key, OSSL_PKEY_PARAM_FFC_P, p, n) &&
	     public_run(key->prov, &op) == (int)n;
	OPENSSL_cleanse(secret, sizeof(secret));
	while (ok && !pad && zeros < n && !out[zeros])
		zeros++;
	if (zeros)
		memmove(out, out + zeros, n - zeros);
	*outlen = n - zeros;
	return ok;
}

/*
 * Returns whether a key derivation follows the agreement, which OpenSSL does.
 */
static bool has_kdf(const struct key *key, EVP_PKEY_CTX *ctx)
{
	char name[32] = "";
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(OSSL_EXCHANGE_PARAM_KDF_TYPE, name,
				       sizeof(name)),
		OSSL_PARAM_END
	};

	return strcmp(key->type, "X25519") &&
	       EVP_PKEY_CTX_get_params(ctx, params) > 0 && *name;
}

bool exchange(struct key *key, struct key *peer, EVP_PKEY_CTX *ctx, bool pad,
	      unsigned char *out, size_t *outlen, size_t room)
{
	if (has_kdf(key, ctx))
		return false;
	if (!strcmp(key->type, "EC"))
		return by_curve(key, peer, out, outlen, room);
	if (!strcmp(key->type, "X25519"))
		return by_x25519(key, peer, out, outlen, room);
	return by_numbers(key, peer, pad, out, outlen, room);
}
