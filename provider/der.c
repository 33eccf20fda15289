// SPDX-License-Identifier: BSD-2-Clause
/*
 * RSA's private keys in DER (RFC 8017, appendix A.1.2).  Made here, because
 * OpenSSL's encoders free copies of them that they have not wiped.
 */
#include <openssl/asn1.h>
#include <openssl/bn.h>

#include "provider.h"

static const char * const names[] = {
	OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_D,
	OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2,
	OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2,
	OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
};

#define NUMBERS		(1 + COUNT(names))	/* the version, which is 0 */

/* ---- the numbers ---- */

static void free_numbers(BIGNUM **numbers)
{
	size_t i;

	for (i = 0; i < NUMBERS; i++)
		BN_clear_free(numbers[i]);
}

/*
 * Makes the numbers from the parameters that OpenSSL filled in.  Returns false
 * if some are missing.
 */
static bool make_numbers(const OSSL_PARAM params[], BIGNUM **numbers)
{
	size_t i;

	memset(numbers, 0, NUMBERS * sizeof(*numbers));
	numbers[0] = BN_new();
	for (i = 0; numbers[0] && i < COUNT(names); i++)
		if (!OSSL_PARAM_modified(&params[i]) ||
		    !OSSL_PARAM_get_BN(&params[i], &numbers[1 + i]))
			break;
	if (numbers[0] && i == COUNT(names))
		return true;
	free_numbers(numbers);
	return false;
}

/* Copies all numbers of a key of two primes into memory that is wiped later. */
static bool get_numbers(const struct key *key, BIGNUM **numbers)
{
	size_t size = EVP_PKEY_get_size(key->pkey), i;
	unsigned char *data = OPENSSL_zalloc(size * COUNT(names));
	OSSL_PARAM params[COUNT(names) + 2], *third = &params[COUNT(names)];
	bool ok;

	if (!data)
		return false;
	for (i = 0; i < COUNT(names); i++)
		params[i] = OSSL_PARAM_construct_BN(names[i], data + i * size,
						    size);
	/* without a buffer, this asks only whether there is a third prime */
	*third = OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_FACTOR3, NULL, 0);
	third[1] = OSSL_PARAM_construct_end();
	ok = EVP_PKEY_get_params(key->pkey, params) &&
	     !OSSL_PARAM_modified(third) && make_numbers(params, numbers);
	OPENSSL_clear_free(data, size * COUNT(names));
	return ok;
}

/* ---- DER, X.690: of less than 64 KiB ---- */

static size_t head_len(size_t len)
{
	return len < 128 ? 2 : len < 256 ? 3 : 4;
}

static unsigned char *put_head(unsigned char *at, unsigned char tag, size_t len)
{
	size_t bytes = head_len(len) - 2;

	*at++ = tag;
	*at++ = bytes ? 0x80 | bytes : len;
	if (bytes == 2)
		*at++ = len >> 8;
	if (bytes)
		*at++ = len;
	return at;
}

/* With a zero in front, where it would be negative otherwise (8.3) */
static size_t integer_len(const BIGNUM *n)
{
	return BN_num_bits(n) / 8 + 1;
}

static unsigned char *put_integer(unsigned char *at, const BIGNUM *n)
{
	size_t len = integer_len(n);

	at = put_head(at, V_ASN1_INTEGER, len);
	BN_bn2binpad(n, at, len);
	return at + len;
}

/**
 * rsa_private_der() - a private key of RSA
 * @key: the key
 * @len: is filled in
 *
 * Return: RSAPrivateKey, freed by OPENSSL_clear_free(); NULL if the key is
 * another: a public one, of more primes than two, or without what the Chinese
 * remainder theorem needs.
 */
unsigned char *rsa_private_der(const struct key *key, int *len)
{
	BIGNUM *numbers[NUMBERS];
	unsigned char *der, *at;
	size_t body = 0, i;

	if (!get_numbers(key, numbers))
		return NULL;
	for (i = 0; i < NUMBERS; i++)
		body += head_len(integer_len(numbers[i])) +
			integer_len(numbers[i]);
	*len = head_len(body) + body;
	der = body < 65536 ? OPENSSL_malloc(*len) : NULL;
	if (der) {
		at = put_head(der, V_ASN1_SEQUENCE | V_ASN1_CONSTRUCTED, body);
		for (i = 0; i < NUMBERS; i++)
			at = put_integer(at, numbers[i]);
	}
	free_numbers(numbers);
	return der;
}
