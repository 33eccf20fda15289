// SPDX-License-Identifier: BSD-2-Clause
/*
 * Key agreement: ECDH, X25519 and DH.  The structure is that of signature.c.
 */
#include "provider.h"

/**
 * struct agreement - a context
 * @own: one's own side
 * @peer: the other's key
 * @pad: DH: keep leading zeros of the secret; kept here because OpenSSL's own
 *	context does not return this parameter
 */
struct agreement {
	struct keyed	own;
	struct key	*peer;
	bool		pad;
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

	if (!a)
		return;
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

static int set_context(void *ctx, const OSSL_PARAM params[])
{
	struct agreement *a = ctx;
	const OSSL_PARAM *p;
	unsigned int pad;

	if (!keyed_set(&a->own, params))
		return 0;
	p = params ? OSSL_PARAM_locate_const(params, OSSL_EXCHANGE_PARAM_PAD) :
		     NULL;
	if (p && !OSSL_PARAM_get_uint(p, &pad))
		return 0;
	if (p)
		a->pad = pad;
	return 1;
}

static int init(void *ctx, void *key, const OSSL_PARAM params[])
{
	struct agreement *a = ctx;

	key_put(a->peer);
	a->peer = NULL;
	a->pad = false;
	return key && keyed_begin(&a->own, key, EVP_PKEY_derive_init, NULL) &&
	       set_context(a, params);
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
	if (out && exchange(a->own.key, a->peer, a->own.soft, a->pad, out,
			    outlen, room))
		return 1;
	*outlen = room;
	return EVP_PKEY_derive(a->own.soft, out, outlen) > 0;
}

/* ---- parameters ---- */

typedef const OSSL_PARAM *(*question_fn)(const EVP_KEYEXCH *of);

static const OSSL_PARAM *ask(struct provider *prov, const char *name,
			     question_fn question)
{
	EVP_KEYEXCH *own = EVP_KEYEXCH_fetch(prov->soft, name, NULL);
	const OSSL_PARAM *params = own ? question(own) : NULL;

	EVP_KEYEXCH_free(own);
	return params;
}

#define AGREEMENT(id_, name_)						\
static const OSSL_PARAM *id_##_gettable(void *ctx, void *provctx)	\
{									\
	return ask(provctx, name_, EVP_KEYEXCH_gettable_ctx_params);	\
}									\
static const OSSL_PARAM *id_##_settable(void *ctx, void *provctx)	\
{									\
	return ask(provctx, name_, EVP_KEYEXCH_settable_ctx_params);	\
}									\
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
	  (void (*)(void))id_##_gettable },				\
	{ OSSL_FUNC_KEYEXCH_SET_CTX_PARAMS, (void (*)(void))set_context },\
	{ OSSL_FUNC_KEYEXCH_SETTABLE_CTX_PARAMS,			\
	  (void (*)(void))id_##_settable },				\
	{ 0, NULL }							\
}

AGREEMENT(ec, "ECDH");
AGREEMENT(dh, "DH");
AGREEMENT(x25519, "X25519");

const OSSL_ALGORITHM exchange_algorithms[] = {
	{ "ECDH", "provider=ocf", ec_calls, NULL },
	{ "X25519:1.3.101.110", "provider=ocf", x25519_calls, NULL },
	{ "DH:dhKeyAgreement:1.2.840.113549.1.3.1", "provider=ocf", dh_calls,
	  NULL },
	{ NULL, NULL, NULL, NULL }
};
