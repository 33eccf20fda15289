// SPDX-License-Identifier: BSD-2-Clause
/*
 * What every operation with a key has: the key, and a context of OpenSSL's own.
 * The context has all parameters, says what they are when a card is asked, and
 * does what no card can.
 */
#include "provider.h"

/**
 * keyed_begin() - begin with another key, or with the one of before
 * @k: the operation
 * @key: the key, or NULL
 * @begin: begins it with OpenSSL's own
 * @params: parameters, or NULL
 *
 * Return: whether it has a key, and takes these.
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

/* Makes a copy of what is in @k, which is one of another's.  0: it is empty. */
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

/* The program's parameters; also a context's call, as the next. */
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
