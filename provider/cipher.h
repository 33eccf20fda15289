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
 * @name: OpenSSL's name for it
 * @kernel: the kernel's name for it
 * @mode: MODE_*
 * @crossing: CROSSING_*
 * @keylen: length of the key, bytes
 * @ivlen: length of the IV, bytes
 * @block: length of a block, bytes; 1 if the cipher takes any length
 */
struct cipher_row {
	const char	*name, *kernel;
	enum mode	mode;
	enum crossing	crossing;
	size_t		keylen, ivlen, block;
};

/**
 * struct cipher - a context
 * @pipes: the messages of a pipeline
 * @row: the cipher
 * @soft: the context of OpenSSL's own code
 * @ses: the session of /dev/crypto
 * @key: the key, valid if @has_key
 * @has_key: the program has set a key
 * @has_iv: the program has set an IV
 * @given_iv: the IV that the program set
 * @iv: the IV or counter of the next block
 * @offset: CTR: bytes already used of the keystream block of counter @iv
 * @stale: the IV inside @soft is not @iv
 * @encrypt: the context encrypts
 * @pad: the last block is padded
 * @part: the bytes that do not fill a block yet
 * @nparts: number of bytes in @part
 * @tls: TLS version if each update is one record, else 0
 * @tls_mac_size: length of the MAC at the end of each record, bytes
 * @tls_mac: the MAC of the last record
 * @last: the last block of ciphertext, kept because decryption in place
 *	overwrites it
 * @next: copy of the next IV, for a program that asks for a pointer to it
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

/* blocks.c: all lengths are whole blocks; with CTR, any number of bytes. */

/*
 * Adds @blocks to the counter @iv.  All 128 bits count, as in SP 800-38A
 * appendix B.1.
 */
void cipher_count(unsigned char *iv, uint64_t blocks);

/* Subtracts 1 from the counter @iv. */
void cipher_count_back(unsigned char *iv);

/* Encrypts or decrypts @len bytes.  @out may be @in. */
int cipher_blocks(struct cipher *c, unsigned char *out, const unsigned char *in,
		  size_t len);

/*
 * Returns how many of @len bytes to process next.  CTR in the middle of a block
 * first goes to the end of this block; later it stops where a block begins.
 */
size_t cipher_next_part(const struct cipher *c, size_t len);

/* Returns true if the kernel should do the next @len bytes. */
bool cipher_is_kernels(struct cipher *c, size_t len);

/* Keeps the last block of ciphertext, which decryption in place overwrites. */
void cipher_keep_last(struct cipher *c, const unsigned char *in, size_t len);

/* Fills in @command for @len bytes. */
void cipher_ask_for(struct cipher *c, unsigned char *out,
		    const unsigned char *in, size_t len,
		    struct ocf_command *command);

/*
 * Handles @res, the kernel's result of a command.  If the command failed,
 * OpenSSL's own code does the work.
 */
int cipher_done_blocks(struct cipher *c, int res, unsigned char *out,
		       const unsigned char *in, size_t len);

/*
 * cbc_record.c: one record of TLS before 1.3, in place.  A record with wrong
 * padding and a record with a wrong MAC give the same error.
 */
int cipher_record(struct cipher *c, unsigned char *out, size_t *outl,
		  size_t outsize, const unsigned char *in, size_t len);

#endif
