// SPDX-License-Identifier: BSD-2-Clause
/*
 * Agreements on a secret: ECDH, X25519 and DH, as signature.c has signatures.
 */
#include "provider.h"

/**
 * struct agreement - a context
 * @prov: whose
 * @key: one's own
 * @peer: the other's
 * @soft: OpenSSL's own
 */
struct agreement {
	struct provider	*prov;
	struct key	*key, *peer;
	EVP_PKEY_CTX	*soft;
};

static void *new_context(void *provctx)
{
	struct agreement *a = OPENSSL_zalloc(sizeof(*a));

	if (a)
		a->prov = provctx;
	return a;
}

static void free_context(void *ctx)
{
	struct agreement *a = ctx;

	EVP_PKEY_CTX_free(a->soft);
	key_put(a->key);
	key_put(a->peer);
	OPENSSL_free(a);
}

static void *dup_context(void *ctx)
{
	struct agreement *a = ctx, *new = OPENSSL_memdup(a, sizeof(*a));

	if (!new)
		return NULL;
	if (new->key)
		key_hold(new->key);
	if (new->peer)
		key_hold(new->peer);
	new->soft = a->soft ? EVP_PKEY_CTX_dup(a->soft) : NULL;
	if (new->soft || !a->soft)
		return new;
	free_context(new);
	return NULL;
}

static int set(void *ctx, const OSSL_PARAM params[])
{
	struct agreement *a = ctx;

	return EVP_PKEY_CTX_set_params(a->soft, params) > 0;
}

static int set_context(void *ctx, const OSSL_PARAM params[])
{
	struct agreement *a = ctx;

	return !params || !a->soft || without_properties(params, set, a);
}

static int init(void *ctx, void *data, const OSSL_PARAM params[])
{
	struct agreement *a = ctx;
	struct key *key = data;

	if (!key || !key->pkey)
		return 0;
	EVP_PKEY_CTX_free(a->soft);
	key_put(a->key);
	key_put(a->peer);
	a->peer = NULL;
	a->key = key;
	key_hold(key);
	a->soft = EVP_PKEY_CTX_new_from_pkey(a->prov->soft, key->pkey, NULL);
	return a->soft && EVP_PKEY_derive_init(a->soft) > 0 &&
	       set_context(a, params);
}

static int set_peer(void *ctx, void *data)
{
	struct agreement *a = ctx;
	struct key *peer = data;

	if (!a->soft || !peer->pkey ||
	    EVP_PKEY_derive_set_peer_ex(a->soft, peer->pkey, 0) <= 0)
		return 0;
	key_put(a->peer);
	a->peer = peer;
	key_hold(peer);
	return 1;
}

static int derive(void *ctx, unsigned char *out, size_t *outlen, size_t room)
{
	struct agreement *a = ctx;

	if (!a->soft || !a->peer) {
		ERR_raise(ERR_LIB_PROV, PROV_R_MISSING_KEY);
		return 0;
	}
	if (out && exchange(a->key, a->peer, a->soft, out, outlen, room))
		return 1;
	*outlen = room;
	return EVP_PKEY_derive(a->soft, out, outlen) > 0;
}

/* ---- parameters ---- */

static int get_context(void *ctx, OSSL_PARAM params[])
{
	struct agreement *a = ctx;

	return a->soft && EVP_PKEY_CTX_get_params(a->soft, params) > 0;
}

static const OSSL_PARAM *settable_ec(void *ctx, void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_int(OSSL_EXCHANGE_PARAM_EC_ECDH_COFACTOR_MODE, NULL),
		OSSL_PARAM_utf8_string(OSSL_EXCHANGE_PARAM_KDF_TYPE, NULL, 0),
		OSSL_PARAM_utf8_string(OSSL_EXCHANGE_PARAM_KDF_DIGEST, NULL, 0),
		OSSL_PARAM_size_t(OSSL_EXCHANGE_PARAM_KDF_OUTLEN, NULL),
		OSSL_PARAM_octet_string(OSSL_EXCHANGE_PARAM_KDF_UKM, NULL, 0),
		OSSL_PARAM_END
	};

	return params;
}

static const OSSL_PARAM *settable_dh(void *ctx, void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_uint(OSSL_EXCHANGE_PARAM_PAD, NULL),
		OSSL_PARAM_utf8_string(OSSL_EXCHANGE_PARAM_KDF_TYPE, NULL, 0),
		OSSL_PARAM_utf8_string(OSSL_EXCHANGE_PARAM_KDF_DIGEST, NULL, 0),
		OSSL_PARAM_size_t(OSSL_EXCHANGE_PARAM_KDF_OUTLEN, NULL),
		OSSL_PARAM_octet_string(OSSL_EXCHANGE_PARAM_KDF_UKM, NULL, 0),
		OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_CEK_ALG, NULL, 0),
		OSSL_PARAM_END
	};

	return params;
}

static const OSSL_PARAM *settable_x25519(void *ctx, void *provctx)
{
	static const OSSL_PARAM params[] = { OSSL_PARAM_END };

	return params;
}

#define AGREEMENT(id_)							\
static void *id_##_new(void *provctx)					\
{									\
	return new_context(provctx);					\
}									\
static const OSSL_DISPATCH id_##_calls[] = {				\
	{ OSSL_FUNC_KEYEXCH_NEWCTX, (void (*)(void))id_##_new },	\
	{ OSSL_FUNC_KEYEXCH_FREECTX, (void (*)(void))free_context },	\
	{ OSSL_FUNC_KEYEXCH_DUPCTX, (void (*)(void))dup_context },	\
	{ OSSL_FUNC_KEYEXCH_INIT, (void (*)(void))init },		\
	{ OSSL_FUNC_KEYEXCH_SET_PEER, (void (*)(void))set_peer },	\
	{ OSSL_FUNC_KEYEXCH_DERIVE, (void (*)(void))derive },		\
	{ OSSL_FUNC_KEYEXCH_GET_CTX_PARAMS, (void (*)(void))get_context },\
	{ OSSL_FUNC_KEYEXCH_GETTABLE_CTX_PARAMS,			\
	  (void (*)(void))settable_##id_ },				\
	{ OSSL_FUNC_KEYEXCH_SET_CTX_PARAMS, (void (*)(void))set_context },\
	{ OSSL_FUNC_KEYEXCH_SETTABLE_CTX_PARAMS,			\
	  (void (*)(void))settable_##id_ },				\
	{ 0, NULL }							\
}

AGREEMENT(ec);
AGREEMENT(dh);
AGREEMENT(x25519);

const OSSL_ALGORITHM exchange_algorithms[] = {
	{ "ECDH", "provider=ocf", ec_calls, NULL },
	{ "X25519:1.3.101.110", "provider=ocf", x25519_calls, NULL },
	{ "DH:dhKeyAgreement:1.2.840.113549.1.3.1", "provider=ocf", dh_calls,
	  NULL },
	{ NULL, NULL, NULL, NULL }
};
