/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A context of AES-GCM, AES-CCM or ChaCha20-Poly1305.
 */
#ifndef AEAD_H
#define AEAD_H

#include "provider.h"

#define KEY_MAX		32
#define IV_MAX		16
#define TAG_LEN		16

/**
 * struct aead_row - an AEAD cipher
 * @name: OpenSSL's
 * @kernel: ours
 * @mode: EVP_CIPH_*
 * @crossing: CROSSING_*
 * @keylen: bytes
 * @ivlen: bytes, of a nonce if nothing is said
 * @taglen: likewise
 */
struct aead_row {
	const char	*name, *kernel;
	unsigned int	mode;
	enum crossing	crossing;
	size_t		keylen, ivlen, taglen;
};

/**
 * struct aead - a context
 * @pipes: messages that are had all at once
 * @row: which
 * @soft: OpenSSL's own
 * @ses: the kernel's
 * @key: the key, if it was given
 * @iv: the nonce, if @fresh
 * @ivlen: bytes of it
 * @made_ivlen: of those that @ses was made for
 * @made_taglen: likewise
 * @has_key: @key is there
 * @encrypt: direction
 * @fresh: a nonce was given, and nothing but associated data since
 * @done: the kernel has done what is in @data, and nothing came since
 * @over: GCM, and records: it was all of a message; there has to be another
 *	nonce
 * @tag: the tag, given or the kernel's
 * @taglen: bytes; of encryption with GCM all
 * @has_tag: it was given
 * @last_tag: the kernel's, of the last message that is over
 * @has_last_tag: it is there
 * @key_ivlen: CCM: bytes of a nonce when the key was given: OpenSSL's own uses
 *	this length until there is another key
 * @key_taglen: the same of the tag
 * @declared: CCM: bytes of data that were announced, or SIZE_MAX
 * @has_len: CCM: OpenSSL's own remembers a length of data, @declared or another
 * @aad: what is authenticated besides
 * @data: what came in
 * @fixed: TLS 1.2: what nonces begin with
 * @fixed_len: bytes of it
 * @header: TLS 1.2: what is authenticated of the next record
 * @announced: it is there
 */
struct aead {
	struct pipes		pipes;
	const struct aead_row	*row;
	EVP_CIPHER_CTX		*soft;
	struct session		ses;
	unsigned char		key[KEY_MAX];
	unsigned char		iv[IV_MAX];
	size_t			ivlen, made_ivlen, made_taglen;
	bool			has_key, encrypt, fresh, done, over;
	unsigned char		tag[TAG_LEN];
	size_t			taglen;
	bool			has_tag, has_last_tag;
	unsigned char		last_tag[TAG_LEN];
	size_t			key_ivlen, key_taglen, declared;
	bool			has_len;
	struct gathered		aad, data;
	unsigned char		fixed[12];
	size_t			fixed_len;
	unsigned char		header[EVP_AEAD_TLS1_AAD_LEN];
	bool			announced;
};

static inline bool is_ccm(const struct aead *c)
{
	return c->row->mode == EVP_CIPH_CCM_MODE;
}

static inline bool is_gcm(const struct aead *c)
{
	return c->row->mode == EVP_CIPH_GCM_MODE;
}

/* aead.c */
void aead_forget(struct aead *c);
struct session *aead_session(void *ctx);

/* record.c */
void record_fixed(struct aead *c, const OSSL_PARAM *p);
void record_announced(struct aead *c, const OSSL_PARAM *p);
bool record_by_kernel(struct aead *c, unsigned char *out, size_t *outl,
		      size_t outsize, const unsigned char *in, size_t len);

#endif /* AEAD_H */
