// SPDX-License-Identifier: BSD-2-Clause
/*
 * Common to all public-key operations: the key and a context of OpenSSL's own
 * code.  This context holds all parameters, from which public.c makes the
 * card's command, and does what no card can do.
 */
#include "provider.h"

/**
 * keyed_begin() - begin an operation, with a new key or with the last one
 * @k: the operation
 * @key: the new key, or NULL for the last one
 * @begin: begins the operation in the context of OpenSSL's own code
 * @params: parameters, or NULL
 *
 * Return: 1 if there is a key and the parameters are right, else 0.
 */
int keyed_begin(struct keyed *k, struct key *key,
		int (*begin)(EVP_PKEY_CTX *), const OSSL_PARAM params[])
{
	if (key) {
		EVP_PKEY_CTX_free(k->soft);
		k->soft = NULL;
		key_hold(key);
		key_put(k->key);
		k->key = key;
		if (key->pkey)
			k->soft = EVP_PKEY_CTX_new_from_pkey(k->prov->soft,
							     key->pkey, NULL);
	}
	if (!k->soft) {
		ERR_raise(ERR_LIB_PROV, PROV_R_NO_KEY_SET);
		return 0;
	}
	return begin(k->soft) > 0 && keyed_set(k, params);
}

/*
 * @k holds pointers copied from another operation; replaces them with a
 * reference to the key and a copy of the context.  Returns 0 if there is no
 * memory for the copy; @k then has no context.
 */
int keyed_dup(struct keyed *k)
{
	EVP_PKEY_CTX *soft = k->soft;

	if (k->key)
		key_hold(k->key);
	k->soft = soft ? EVP_PKEY_CTX_dup(soft) : NULL;
	return k->soft || !soft;
}

void keyed_end(struct keyed *k)
{
	EVP_PKEY_CTX_free(k->soft);
	key_put(k->key);
}

static int set(void *ctx, const OSSL_PARAM params[])
{
	struct keyed *k = ctx;

	return EVP_PKEY_CTX_set_params(k->soft, params) > 0;
}

/* Sets parameters.  OpenSSL also calls this and keyed_get() directly. */
int keyed_set(void *ctx, const OSSL_PARAM params[])
{
	struct keyed *k = ctx;

	return !params || !k->soft || without_properties(params, set, k);
}

int keyed_get(void *ctx, OSSL_PARAM params[])
{
	struct keyed *k = ctx;

	return k->soft && EVP_PKEY_CTX_get_params(k->soft, params) > 0;
}
