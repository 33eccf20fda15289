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
 * @name: OpenSSL's name for it
 * @kernel: the kernel's name for it
 * @mode: EVP_CIPH_*
 * @crossing: CROSSING_*
 * @keylen: length of the key, bytes
 * @ivlen: length of the nonce if the program sets none, bytes
 * @taglen: length of the tag if the program sets none, bytes
 */
struct aead_row {
	const char	*name, *kernel;
	unsigned int	mode;
	enum crossing	crossing;
	size_t		keylen, ivlen, taglen;
};

/**
 * struct aead - a context
 * @pipes: the messages of a pipeline
 * @row: the cipher
 * @soft: the context of OpenSSL's own code
 * @ses: the session of /dev/crypto
 * @key: the key, valid if @has_key
 * @iv: the nonce, valid if @fresh
 * @ivlen: length of the nonce, bytes
 * @made_ivlen: length of the nonce that @ses was opened with, bytes
 * @made_taglen: length of the tag that @ses was opened with, bytes
 * @has_key: the program has set a key
 * @encrypt: the context encrypts
 * @fresh: the program has set a nonce, and after it at most associated data
 * @done: the kernel has done everything in @data, and no data came after that
 * @over: the message has ended (GCM and TLS records only); the next message
 *	needs a new nonce
 * @tag: the tag that the program set or the kernel computed
 * @taglen: length of the tag, bytes; GCM always computes the whole tag when it
 *	encrypts
 * @has_tag: the program has set @tag
 * @last_tag: the tag that the kernel computed for the last complete message
 * @has_last_tag: @last_tag is valid
 * @key_ivlen: CCM: length of the nonce at the time the program set the key,
 *	bytes; OpenSSL's own code uses this length until the next key
 * @key_taglen: CCM: length of the tag at that time, bytes
 * @declared: CCM: length of the message that the program has announced, bytes,
 *	or SIZE_MAX
 * @has_len: CCM: OpenSSL's own code holds a length of the message, which may
 *	differ from @declared
 * @aad: the associated data
 * @data: the data of the message that came so far
 * @fixed: TLS 1.2: the fixed part at the beginning of each nonce
 * @fixed_len: length of @fixed, bytes
 * @header: TLS 1.2: the associated data of the next record
 * @announced: @header is valid
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
