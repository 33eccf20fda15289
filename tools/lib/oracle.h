/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What OpenSSL makes of it: the other opinion on every algorithm.
 *
 * Algorithms have the framework's names, as sysfs shows them and as they are in
 * kernel/core/session/alg.c.  All lengths are in bytes.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * oracle_init() - load what older algorithms need
 *
 * Return: whether OpenSSL has its legacy provider.
 */
bool oracle_init(void);

/**
 * struct oracle_sizes - what OpenSSL says of an algorithm
 * @key: bytes of key, the usual length; 0 for digests
 * @block: bytes of a block; 1 for streams
 * @iv: bytes of IV, the usual length
 * @digest: bytes of digest or MAC
 */
struct oracle_sizes {
	unsigned int key, block, iv, digest;
};

/* False if it does not know the algorithm with keys of @keylen bytes. */
bool oracle_sizes(const char *alg, size_t keylen, struct oracle_sizes *sizes);

/* Encrypts or decrypts @len bytes; @iv has 16 bytes, or what @alg takes. */
bool oracle_cipher(const char *alg, bool encrypt, const uint8_t *key,
		   size_t keylen, const uint8_t *iv, const uint8_t *in,
		   size_t len, uint8_t *out);

/* Digest, or MAC where @alg has a key; @iv is for GMAC. */
bool oracle_digest(const char *alg, const uint8_t *key, size_t keylen,
		   const uint8_t *iv, size_t ivlen, const uint8_t *in,
		   size_t len, uint8_t *out);

/* Seals @len bytes: @out gets as many, @tag its @taglen. */
bool oracle_seal(const char *alg, const uint8_t *key, size_t keylen,
		 const uint8_t *iv, size_t ivlen, const uint8_t *aad,
		 size_t aadlen, const uint8_t *in, size_t len, uint8_t *out,
		 uint8_t *tag, size_t taglen);

/* ---- OpenSSL's own objects ---- */

struct evp_cipher_st;

/* The cipher or AEAD algorithm, to be freed; NULL if OpenSSL has none. */
struct evp_cipher_st *oracle_fetch(const char *alg, size_t keylen);

#define ORACLE_NAME_MAX	32	/* bytes of a name, with the NUL */

/**
 * oracle_digest_name() - the digest or MAC
 * @alg: the framework's name
 * @keylen: bytes; 0: no key (BLAKE2 is then a digest, and a MAC otherwise)
 * @over: set: OpenSSL's name of the digest or cipher it is made of
 *
 * Return: OpenSSL's name of the MAC, "" for a digest, or NULL if it has none.
 */
const char *oracle_digest_name(const char *alg, size_t keylen,
			       char over[ORACLE_NAME_MAX]);

#endif /* ORACLE_H */
