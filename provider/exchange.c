// SPDX-License-Identifier: BSD-2-Clause
/*
 * Agreements on a secret: ECDH, X25519 and DH, as signature.c has signatures.
 */
#include "provider.h"

/**
 * struct agreement - a context
 * @own: one's own side
 * @peer: the other's key
 */
struct agreement {
	struct keyed	own;
	struct key	*peer;
};

static void *new_context(void *provctx)
{
	struct agreement *a = OPENSSL_zalloc(sizeof(*a));

	if (a)
		a->own.prov = provctx;
	return a;
}

static void free_context(void *ctx)
{
	struct agreement *a = ctx;

	keyed_end(&a->own);
	key_put(a->peer);
	OPENSSL_free(a);
}

static void *dup_context(void *ctx)
{
	struct agreement *a = ctx, *new = OPENSSL_memdup(a, sizeof(*a));

	if (!new)
		return NULL;
	if (new->peer)
		key_hold(new->peer);
	if (keyed_dup(&new->own))
		return new;
	free_context(new);
	return NULL;
}

static int init(void *ctx, void *key, const OSSL_PARAM params[])
{
	struct agreement *a = ctx;

	key_put(a->peer);
	a->peer = NULL;
	return key && keyed_begin(&a->own, key, EVP_PKEY_derive_init, params);
}

static int set_peer(void *ctx, void *data)
{
	struct agreement *a = ctx;
	struct key *peer = data;

	if (!a->own.soft || !peer->pkey ||
	    EVP_PKEY_derive_set_peer_ex(a->own.soft, peer->pkey, 0) <= 0)
		return 0;
	key_put(a->peer);
	a->peer = peer;
	key_hold(peer);
	return 1;
}

static int derive(void *ctx, unsigned char *out, size_t *outlen, size_t room)
{
	struct agreement *a = ctx;

	if (!a->own.soft || !a->peer) {
		ERR_raise(ERR_LIB_PROV, PROV_R_MISSING_KEY);
		return 0;
	}
	if (out && exchange(a->own.key, a->peer, a->own.soft, out, outlen,
			    room))
		return 1;
	*outlen = room;
	return EVP_PKEY_derive(a->own.soft, out, outlen) > 0;
}

/* ---- parameters ---- */

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
	{ OSSL_FUNC_KEYEXCH_GET_CTX_PARAMS, (void (*)(void))keyed_get },\
	{ OSSL_FUNC_KEYEXCH_GETTABLE_CTX_PARAMS,			\
	  (void (*)(void))settable_##id_ },				\
	{ OSSL_FUNC_KEYEXCH_SET_CTX_PARAMS, (void (*)(void))keyed_set },\
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
