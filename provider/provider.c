// SPDX-License-Identifier: BSD-2-Clause
/*
 * What OpenSSL asks of a provider.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <openssl/provider.h>
#include <stdlib.h>

#include "provider.h"

#define NAME		"OCF for Linux"
#define ENV_LEAST	"OCF_LEAST"
#define CONF_LEAST	"least"

static const OSSL_PARAM *gettable(void *ctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, NULL, 0),
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, NULL, 0),
		OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, NULL),
		OSSL_PARAM_END
	};

	return params;
}

static int get_params(void *ctx, OSSL_PARAM params[])
{
	OSSL_PARAM *p;

	p = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_NAME);
	if (p && !OSSL_PARAM_set_utf8_ptr(p, NAME))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_VERSION);
	if (p && !OSSL_PARAM_set_utf8_ptr(p, OCF_VERSION))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_STATUS);
	return !p || OSSL_PARAM_set_int(p, 1);
}

static const OSSL_ALGORITHM *query(void *ctx, int operation, int *no_cache)
{
	static const struct {
		int			operation;
		const OSSL_ALGORITHM	*algorithms;
	} kinds[] = {
		{ OSSL_OP_CIPHER, cipher_algorithms },
		{ OSSL_OP_DIGEST, digest_algorithms },
		{ OSSL_OP_MAC, mac_algorithms },
		{ OSSL_OP_RAND, rand_algorithms },
		{ OSSL_OP_KEYMGMT, key_algorithms },
		{ OSSL_OP_SIGNATURE, signature_algorithms },
		{ OSSL_OP_KEYEXCH, exchange_algorithms },
		{ OSSL_OP_ASYM_CIPHER, asym_algorithms },
	};
	size_t i;

	*no_cache = 0;
	for (i = 0; i < COUNT(kinds); i++)
		if (kinds[i].operation == operation)
			return kinds[i].algorithms;
	return NULL;
}

/**
 * struct telling - a callback of OpenSSL's, for what is ours of all there is
 * @callback: whom to tell
 * @arg: its argument
 */
struct telling {
	OSSL_CALLBACK	*callback;
	void		*arg;
};

/* Groups whose keys are ours: OpenSSL passes over those of other providers. */
static int tell_group(const OSSL_PARAM params[], void *arg)
{
	static const char * const ours[] = { "EC", "X25519", "DH" };
	struct telling *t = arg;
	const OSSL_PARAM *p;
	size_t i;

	p = OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_ALG);
	for (i = 0; p && i < COUNT(ours); i++)
		if (p->data && !strcmp(p->data, ours[i]))
			return t->callback(params, t->arg);
	return 1;
}

static int capabilities(void *ctx, const char *name, OSSL_CALLBACK *callback,
			void *arg)
{
	struct telling telling = { callback, arg };
	struct provider *prov = ctx;

	if (strcmp(name, "TLS-GROUP"))
		return 0;
	return OSSL_PROVIDER_get_capabilities(prov->default_provider, name,
					      tell_group, &telling);
}

static void teardown(void *ctx)
{
	struct provider *prov = ctx;

	device_exit(prov);
	OSSL_PROVIDER_unload(prov->default_provider);
	OSSL_LIB_CTX_free(prov->soft);
	OPENSSL_free(prov);
}

static const OSSL_DISPATCH calls[] = {
	{ OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))teardown },
	{ OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, (void (*)(void))gettable },
	{ OSSL_FUNC_PROVIDER_GET_PARAMS, (void (*)(void))get_params },
	{ OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query },
	{ OSSL_FUNC_PROVIDER_GET_CAPABILITIES, (void (*)(void))capabilities },
	{ 0, NULL }
};

static bool number(const char *text, long *n)
{
	char *end;

	errno = 0;
	*n = strtol(text, &end, 10);
	return !errno && *text && !*end && *n >= -1;
}

/* Of the environment, else of the section in openssl.cnf, else the kernel's */
static int set_least(struct provider *prov, const OSSL_DISPATCH *in)
{
	OSSL_FUNC_core_get_params_fn *get = NULL;
	const char *text = secure_getenv(ENV_LEAST), *conf = NULL;
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_ptr(CONF_LEAST, (char **)&conf, 0),
		OSSL_PARAM_END
	};

	for (; in->function_id; in++)
		if (in->function_id == OSSL_FUNC_CORE_GET_PARAMS)
			get = OSSL_FUNC_core_get_params(in);
	if (!text && get && get(prov->core, params))
		text = conf;
	prov->least = -1;
	return !text || number(text, &prov->least);
}

int OSSL_provider_init(const OSSL_CORE_HANDLE *core, const OSSL_DISPATCH *in,
		       const OSSL_DISPATCH **out, void **provctx)
{
	struct provider *prov = OPENSSL_zalloc(sizeof(*prov));

	if (!prov)
		return 0;
	prov->core = core;
	prov->soft = OSSL_LIB_CTX_new_child(core, in);
	if (prov->soft && EVP_set_default_properties(prov->soft, NOT_OURS))
		prov->default_provider = OSSL_PROVIDER_load(prov->soft,
							    "default");
	if (!prov->default_provider || !set_least(prov, in) ||
	    !device_init(prov)) {
		if (prov->default_provider)
			OSSL_PROVIDER_unload(prov->default_provider);
		OSSL_LIB_CTX_free(prov->soft);
		OPENSSL_free(prov);
		return 0;
	}
	*out = calls;
	*provctx = prov;
	return 1;
}
