// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random numbers of the kernel, which the random number generators of devices
 * feed.
 */
#include "provider.h"

#define STRENGTH	256		/* bits */
#define MOST		(1u << 20)	/* bytes at a time */

/**
 * struct rand - a generator, which has nothing of its own
 * @lock: or NULL
 */
struct rand {
	CRYPTO_RWLOCK *lock;
};

static void *new_context(void *provctx, void *parent,
			 const OSSL_DISPATCH *parent_calls)
{
	return OPENSSL_zalloc(sizeof(struct rand));
}

static void free_context(void *ctx)
{
	struct rand *r = ctx;

	if (r)
		CRYPTO_THREAD_lock_free(r->lock);
	OPENSSL_free(r);
}

static int instantiate(void *ctx, unsigned int strength, int resistant,
		       const unsigned char *text, size_t len,
		       const OSSL_PARAM params[])
{
	return strength <= STRENGTH;
}

static int uninstantiate(void *ctx)
{
	return 1;
}

static int generate(void *ctx, unsigned char *out, size_t len,
		    unsigned int strength, int resistant,
		    const unsigned char *more, size_t more_len)
{
	return strength <= STRENGTH && !ocf_random(out, len);
}

static int reseed(void *ctx, int resistant, const unsigned char *entropy,
		  size_t len, const unsigned char *more, size_t more_len)
{
	return 1;
}

static int enable_locking(void *ctx)
{
	struct rand *r = ctx;

	r->lock = r->lock ? r->lock : CRYPTO_THREAD_lock_new();
	return !!r->lock;
}

static int lock(void *ctx)
{
	struct rand *r = ctx;

	return !r->lock || CRYPTO_THREAD_write_lock(r->lock);
}

static void unlock(void *ctx)
{
	struct rand *r = ctx;

	if (r->lock)
		CRYPTO_THREAD_unlock(r->lock);
}

static const OSSL_PARAM *gettable_context(void *ctx, void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_int(OSSL_RAND_PARAM_STATE, NULL),
		OSSL_PARAM_uint(OSSL_RAND_PARAM_STRENGTH, NULL),
		OSSL_PARAM_size_t(OSSL_RAND_PARAM_MAX_REQUEST, NULL),
		OSSL_PARAM_END
	};

	return params;
}

static int get_context(void *ctx, OSSL_PARAM params[])
{
	OSSL_PARAM *p;

	p = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_STATE);
	if (p && !OSSL_PARAM_set_int(p, EVP_RAND_STATE_READY))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_STRENGTH);
	if (p && !OSSL_PARAM_set_uint(p, STRENGTH))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_MAX_REQUEST);
	return !p || OSSL_PARAM_set_size_t(p, MOST);
}

static const OSSL_DISPATCH rand_calls[] = {
	{ OSSL_FUNC_RAND_NEWCTX, (void (*)(void))new_context },
	{ OSSL_FUNC_RAND_FREECTX, (void (*)(void))free_context },
	{ OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))instantiate },
	{ OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))uninstantiate },
	{ OSSL_FUNC_RAND_GENERATE, (void (*)(void))generate },
	{ OSSL_FUNC_RAND_RESEED, (void (*)(void))reseed },
	{ OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))enable_locking },
	{ OSSL_FUNC_RAND_LOCK, (void (*)(void))lock },
	{ OSSL_FUNC_RAND_UNLOCK, (void (*)(void))unlock },
	{ OSSL_FUNC_RAND_GETTABLE_CTX_PARAMS,
	  (void (*)(void))gettable_context },
	{ OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))get_context },
	{ 0, NULL }
};

const OSSL_ALGORITHM rand_algorithms[] = {
	{ "OCF-RANDOM", "provider=ocf", rand_calls, NULL },
	{ NULL, NULL, NULL, NULL }
};
