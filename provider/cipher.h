/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A context of a cipher that is no AEAD.
 */
#ifndef CIPHER_H
#define CIPHER_H

#include "provider.h"

#define KEY_MAX		64
#define BLOCK_MAX	16
#define TLS_MAC_MAX	64

enum mode { MODE_CBC, MODE_CTR, MODE_ECB, MODE_XTS };

/**
 * struct cipher_row - a cipher
 * @name: OpenSSL's
 * @kernel: ours
 * @mode: MODE_*
 * @crossing: CROSSING_*
 * @keylen: bytes
 * @ivlen: bytes
 * @block: bytes; 1 for those that take any length
 */
struct cipher_row {
	const char	*name, *kernel;
	enum mode	mode;
	enum crossing	crossing;
	size_t		keylen, ivlen, block;
};

/**
 * struct cipher - a context
 * @pipes: messages that are had all at once
 * @row: which
 * @soft: OpenSSL's own
 * @ses: the kernel's
 * @key: the key
 * @has_key: it was given
 * @has_iv: so was the IV
 * @given_iv: as it was given
 * @iv: what the next block goes on from
 * @offset: CTR: bytes of the block that @iv stands for that were used
 * @stale: @soft has another IV
 * @encrypt: direction
 * @pad: blocks are padded
 * @part: bytes that make no block yet
 * @nparts: how many
 * @tls: version of records, or 0: each update is one
 * @tls_mac_size: bytes of the MAC behind what is in them
 * @tls_mac: it
 * @last: last block of ciphertext, of what is decrypted in place
 * @next: the next IV, for callers that ask where it is
 */
struct cipher {
	struct pipes		pipes;
	const struct cipher_row	*row;
	EVP_CIPHER_CTX		*soft;
	struct session		ses;
	unsigned char		key[KEY_MAX];
	bool			has_key, has_iv;
	unsigned char		given_iv[BLOCK_MAX], iv[BLOCK_MAX];
	size_t			offset;
	bool			stale, encrypt, pad;
	unsigned char		part[BLOCK_MAX];
	size_t			nparts;
	unsigned int		tls;
	size_t			tls_mac_size;
	unsigned char		tls_mac[TLS_MAC_MAX];
	unsigned char		last[BLOCK_MAX];
	unsigned char		next[BLOCK_MAX];
};

/* blocks.c: what follows is about whole blocks, or any bytes of CTR. */

/* The counter @blocks further, SP 800-38A appendix B.1: all of it counts. */
void cipher_count(unsigned char *iv, uint64_t blocks);

/* The counter before */
void cipher_count_back(unsigned char *iv);

/* Does them; @out may be @in. */
int cipher_blocks(struct cipher *c, unsigned char *out, const unsigned char *in,
		  size_t len);

/* How many of @len bytes are next: to or from where a CTR block begins, too. */
size_t cipher_next_part(const struct cipher *c, size_t len);

/* Whether the kernel should have them */
bool cipher_is_kernels(struct cipher *c, size_t len);

/* In place, decryption overwrites what the next block needs: keeps it. */
void cipher_keep_last(struct cipher *c, const unsigned char *in, size_t len);

/* Asks the kernel for them. */
void cipher_ask_for(struct cipher *c, unsigned char *out,
		    const unsigned char *in, size_t len,
		    struct ocf_command *command);

/* What the kernel has said of them; if it has not done them, it is done. */
int cipher_done_blocks(struct cipher *c, int res, unsigned char *out,
		       const unsigned char *in, size_t len);

/*
 * cbc_record.c: a record of TLS before 1.3, in place; nothing is told of what
 * is wrong but that it is.
 */
int cipher_record(struct cipher *c, unsigned char *out, size_t *outl,
		  size_t outsize, const unsigned char *in, size_t len);

#endif
