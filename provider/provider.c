// SPDX-License-Identifier: BSD-2-Clause
/* The calls that OpenSSL makes to each provider. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <openssl/provider.h>
#include <stdlib.h>

#include "provider.h"

#define NAME "OCF for Linux"

/*
 * In these programs the provider is always off, whatever openssl.cnf says.
 * They use seccomp to forbid the system calls that /dev/crypto needs, and even
 * prctl(), which would tell the provider about the filter.
 */
static const char off_programs[] = "sshd sshd-auth sshd-session tor";

#define PARAMS_MAX	32

/**
 * without_properties() - set parameters, but for those that name providers
 * @params: the parameters
 * @set: sets them
 * @ctx: of what
 *
 * Return: what @set returns; 0 if they are too many.
 */
int without_properties(const OSSL_PARAM params[],
		       int (*set)(void *ctx, const OSSL_PARAM params[]),
		       void *ctx)
{
	static const char * const names[] = {
		OSSL_ALG_PARAM_PROPERTIES,
		OSSL_SIGNATURE_PARAM_MGF1_PROPERTIES,
		OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST_PROPS,
		OSSL_ASYM_CIPHER_PARAM_MGF1_DIGEST_PROPS,
	};
	OSSL_PARAM rest[PARAMS_MAX];
	size_t n = 0, i;

	for (; params->key; params++) {
		for (i = 0; i < COUNT(names); i++)
			if (!strcmp(params->key, names[i]))
				break;
		if (i < COUNT(names))
			continue;
		if (n == PARAMS_MAX - 1)
			return 0;
		rest[n++] = *params;
	}
	rest[n] = OSSL_PARAM_construct_end();
	return set(ctx, rest);
}

static const OSSL_PARAM *gettable(void *ctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, NULL, 0),
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, NULL, 0),
		OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, NULL, 0),
		OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, NULL),
		OSSL_PARAM_uint64(PARAM_KERNEL, NULL),
		OSSL_PARAM_uint64(PARAM_OWN, NULL), OSSL_PARAM_END
	};

	return params;
}

/* "openssl list -providers -verbose" prints no text but the build info */
static int get_params(void *ctx, OSSL_PARAM params[])
{
	struct provider *prov = ctx;
	uint64_t kernel, own;
	OSSL_PARAM *p;

	device_counts(prov, &kernel, &own);
	p = OSSL_PARAM_locate(params, PARAM_KERNEL);
	if (p && !OSSL_PARAM_set_uint64(p, kernel))
		return 0;
	p = OSSL_PARAM_locate(params, PARAM_OWN);
	if (p && !OSSL_PARAM_set_uint64(p, own))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_NAME);
	if (p && !OSSL_PARAM_set_utf8_ptr(p, NAME))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_VERSION);
	if (p && !OSSL_PARAM_set_utf8_ptr(p, OCF_VERSION))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_BUILDINFO);
	if (p && !OSSL_PARAM_set_utf8_ptr(p, device_state(prov)))
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
 * struct telling - OpenSSL's callback for TLS groups; it gets only the groups
 * that this provider has keys for
 * @callback: whom to tell
 * @arg: its argument
 */
struct telling {
	OSSL_CALLBACK	*callback;
	void		*arg;
};

/*
 * Tells OpenSSL the groups of which this provider has the keys; OpenSSL ignores
 * those of other providers.
 */
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

static void close_soft(struct provider *prov)
{
	if (prov->legacy)
		OSSL_PROVIDER_unload(prov->legacy);
	if (prov->default_provider)
		OSSL_PROVIDER_unload(prov->default_provider);
	OSSL_LIB_CTX_free(prov->soft);
}

void provider_hold(struct provider *prov)
{
	atomic_fetch_add(&prov->refs, 1);
}

void provider_put(struct provider *prov)
{
	if (atomic_fetch_sub(&prov->refs, 1) == 1)
		OPENSSL_free(prov);
}

static void teardown(void *ctx)
{
	struct provider *prov = ctx;

	device_exit(prov);
	close_soft(prov);
	provider_put(prov);
}

static const OSSL_DISPATCH calls[] = {
	{ OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))teardown },
	{ OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, (void (*)(void))gettable },
	{ OSSL_FUNC_PROVIDER_GET_PARAMS, (void (*)(void))get_params },
	{ OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query },
	{ OSSL_FUNC_PROVIDER_GET_CAPABILITIES, (void (*)(void))capabilities },
	{ 0, NULL }
};

/**
 * struct setting - a parameter of the section in openssl.cnf
 * @name: its name there
 * @env: the variable of the environment that overrides it, or NULL
 * @text: its value, or NULL
 */
struct setting {
	const char *name, *env;
	char *text;
};

static const char *value(const struct setting *s)
{
	const char *said = s->env ? secure_getenv(s->env) : NULL;

	return said ? said : s->text;
}

/* An error that names the setting.  Return: false. */
static bool refuse(const struct setting *s, const char *values)
{
	ERR_raise_data(ERR_LIB_PROV, ERR_R_PASSED_INVALID_ARGUMENT,
		       "%s = %s is not %s", s->name, value(s), values);
	return false;
}

/* Reads a number of bytes, or -1, the default. */
static bool number(const struct setting *s, long *n)
{
	const char *text = value(s);
	char *end;

	*n = -1;
	if (!text)
		return true;
	errno = 0;
	*n = strtol(text, &end, 10);
	if (!errno && *text && !*end && *n >= -1)
		return true;
	return refuse(s, "a number of bytes, or -1");
}

/* Reads 0, the default, or 1. */
static bool flag(const struct setting *s, bool *is)
{
	const char *text = value(s);

	*is = text && !strcmp(text, "1");
	return !text || *is || !strcmp(text, "0") || refuse(s, "0 or 1");
}

/* Returns true if @name is one of @names, separated by blanks or commas. */
static bool has_name(const char *names, const char *name)
{
	size_t len, want = strlen(name);

	for (; *names; names += len) {
		names += strspn(names, ", \t");
		len = strcspn(names, ", \t");
		if (len && len == want && !memcmp(names, name, len))
			return true;
	}
	return false;
}

/* @more: the names in openssl.cnf, or NULL */
static bool is_off_program(const char *more)
{
	const char *name = program_invocation_short_name;

	return has_name(off_programs, name) || (more && has_name(more, name));
}

/*
 * Reads the section in openssl.cnf, which the environment overrides.  If
 * neither sets the smallest size for the kernel, the kernel's own value counts.
 */
static int configure(struct provider *prov, const OSSL_DISPATCH *in)
{
	struct setting least = { .name = "least", .env = "OCF_LEAST" };
	struct setting off = { .name = "off", .env = "OCF_OFF" };
	struct setting off_for = { .name = "off_for" };
	struct setting debug = { .name = "debug", .env = "OCF_DEBUG" };
	struct setting legacy = { .name = "legacy" };
	OSSL_FUNC_core_get_params_fn *get = NULL;
	bool has_legacy;
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_ptr(least.name, &least.text, 0),
		OSSL_PARAM_utf8_ptr(legacy.name, &legacy.text, 0),
		OSSL_PARAM_utf8_ptr(off.name, &off.text, 0),
		OSSL_PARAM_utf8_ptr(off_for.name, &off_for.text, 0),
		OSSL_PARAM_utf8_ptr(debug.name, &debug.text, 0), OSSL_PARAM_END
	};

	for (; in->function_id; in++)
		if (in->function_id == OSSL_FUNC_CORE_GET_PARAMS)
			get = OSSL_FUNC_core_get_params(in);
	if (get && !get(prov->core, params))
		least.text = legacy.text = off.text = off_for.text =
			debug.text = NULL;
	if (!number(&least, &prov->least) || !flag(&off, &prov->off) ||
	    !flag(&debug, &prov->debug) || !flag(&legacy, &has_legacy))
		return 0;
	prov->off |= is_off_program(off_for.text);
	if (prov->off)
		prov->least = LONG_MAX;
	if (!has_legacy)
		return 1;
	prov->legacy = OSSL_PROVIDER_load(prov->soft, "legacy");
	return !!prov->legacy;
}

int OSSL_provider_init(const OSSL_CORE_HANDLE *core, const OSSL_DISPATCH *in,
		       const OSSL_DISPATCH **out, void **provctx)
{
	struct provider *prov = OPENSSL_zalloc(sizeof(*prov));

	if (!prov)
		return 0;
	atomic_init(&prov->refs, 1);
	prov->core = core;
	prov->soft = OSSL_LIB_CTX_new();
	if (prov->soft)
		prov->default_provider = OSSL_PROVIDER_load(prov->soft,
							    "default");
	if (!prov->default_provider || !configure(prov, in) ||
	    !device_init(prov)) {
		close_soft(prov);
		OPENSSL_free(prov);
		return 0;
	}
	*out = calls;
	*provctx = prov;
	return 1;
}
