/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SM4_H
#define SM4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct sm4_text - what is sealed, and where to
 * @iv: nonce
 * @ivlen: bytes of @iv: 12 for GCM, 7 to 13 for CCM
 * @aad: data that are authenticated only
 * @aadlen: bytes of @aad; less than 65,280 for CCM
 * @in: data
 * @len: bytes of @in and @out
 * @out: ciphertext; may be @in
 * @tag: tag
 * @taglen: bytes of @tag
 */
struct sm4_text {
	const uint8_t	*iv;
	size_t		ivlen;
	const uint8_t	*aad;
	size_t		aadlen;
	const uint8_t	*in;
	size_t		len;
	uint8_t		*out;
	uint8_t		*tag;
	size_t		taglen;
};

/* @alg: "sm4-gcm" or "sm4-ccm"; @key has 16 bytes. */
bool sm4_seal(const char *alg, const uint8_t *key, const struct sm4_text *t);

#endif /* SM4_H */
