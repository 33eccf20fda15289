// SPDX-License-Identifier: BSD-2-Clause
/* Encryption with RSA.  The structure is that of signature.c. */
#include <openssl/rsa.h>

#include "provider.h"

static void *new_context(void *provctx)
{
	struct keyed *a = OPENSSL_zalloc(sizeof(*a));

	if (a)
		a->prov = provctx;
	return a;
}

static void free_context(void *ctx)
{
	if (!ctx)
		return;
	keyed_end(ctx);
	OPENSSL_free(ctx);
}

static void *dup_context(void *ctx)
{
	struct keyed *a = ctx, *new = OPENSSL_memdup(a, sizeof(*a));

	if (!new || keyed_dup(new))
		return new;
	free_context(new);
	return NULL;
}

static int encrypt_init(void *ctx, void *key, const OSSL_PARAM params[])
{
	return key && keyed_begin(ctx, key, EVP_PKEY_encrypt_init, params);
}

static int decrypt_init(void *ctx, void *key, const OSSL_PARAM params[])
{
	return key && keyed_begin(ctx, key, EVP_PKEY_decrypt_init, params);
}

static int encrypt(void *ctx, unsigned char *out, size_t *outlen, size_t room,
		   const unsigned char *in, size_t inlen)
{
	struct keyed *a = ctx;

	if (!a->soft)
		return 0;
	if (out && rsa_encrypt(a->key, a->soft, out, outlen, room, in, inlen))
		return 1;
	*outlen = room;
	return EVP_PKEY_encrypt(a->soft, out, outlen, in, inlen) > 0;
}

static int decrypt(void *ctx, unsigned char *out, size_t *outlen, size_t room,
		   const unsigned char *in, size_t inlen)
{
	struct keyed *a = ctx;
	bool valid;

	if (!a->soft)
		return 0;
	if (out && rsa_decrypt(a->key, a->soft, out, outlen, room, in, inlen,
			       &valid))
		return valid;
	*outlen = room;
	return EVP_PKEY_decrypt(a->soft, out, outlen, in, inlen) > 0;
}

/* implemented by OpenSSL */

typedef const OSSL_PARAM *(*question_fn)(const EVP_ASYM_CIPHER *of);

static const OSSL_PARAM *ask(struct provider *prov,
			     question_fn question)
{
	EVP_ASYM_CIPHER *own = EVP_ASYM_CIPHER_fetch(prov->soft, "RSA", NULL);
	const OSSL_PARAM *params = own ? question(own) : NULL;

	EVP_ASYM_CIPHER_free(own);
	return params;
}

static const OSSL_PARAM *settable_context(void *ctx, void *provctx)
{
	return ask(provctx, EVP_ASYM_CIPHER_settable_ctx_params);
}

static const OSSL_PARAM *gettable_context(void *ctx, void *provctx)
{
	return ask(provctx, EVP_ASYM_CIPHER_gettable_ctx_params);
}

static const OSSL_DISPATCH rsa_calls[] = {
	{ OSSL_FUNC_ASYM_CIPHER_NEWCTX, (void (*)(void))new_context },
	{ OSSL_FUNC_ASYM_CIPHER_FREECTX, (void (*)(void))free_context },
	{ OSSL_FUNC_ASYM_CIPHER_DUPCTX, (void (*)(void))dup_context },
	{ OSSL_FUNC_ASYM_CIPHER_ENCRYPT_INIT, (void (*)(void))encrypt_init },
	{ OSSL_FUNC_ASYM_CIPHER_ENCRYPT, (void (*)(void))encrypt },
	{ OSSL_FUNC_ASYM_CIPHER_DECRYPT_INIT, (void (*)(void))decrypt_init },
	{ OSSL_FUNC_ASYM_CIPHER_DECRYPT, (void (*)(void))decrypt },
	{ OSSL_FUNC_ASYM_CIPHER_GET_CTX_PARAMS, (void (*)(void))keyed_get },
	{ OSSL_FUNC_ASYM_CIPHER_GETTABLE_CTX_PARAMS,
	  (void (*)(void))gettable_context },
	{ OSSL_FUNC_ASYM_CIPHER_SET_CTX_PARAMS, (void (*)(void))keyed_set },
	{ OSSL_FUNC_ASYM_CIPHER_SETTABLE_CTX_PARAMS,
	  (void (*)(void))settable_context },
	{ 0, NULL }
};

const OSSL_ALGORITHM asym_algorithms[] = {
	{ "RSA:rsaEncryption:1.2.840.113549.1.1.1", "provider=ocf", rsa_calls,
	  NULL },
	{ NULL, NULL, NULL, NULL }
};
