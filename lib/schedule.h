/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the keys of records: RFC 2246 and 5246, section 6.3, and RFC 8446,
 * section 7.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <linux/so_crypt.h>
#include <openssl/ssl.h>
#include <stdbool.h>

/**
 * struct suite - parameters that both directions share
 * @base: protocol, names, lengths, flags; no keys
 * @digest: of the key schedule
 * @ivs: bytes of IV of each direction in the block of keys; 1.3: of the nonce
 */
struct suite {
	struct so_crypt	base;
	char		digest[16];
	unsigned int	ivs;
};

/* A secret of TLS 1.3. */
struct secret {
	uint8_t		bytes[EVP_MAX_MD_SIZE];
	unsigned int	len;
};

int suite_of(const SSL *ssl, bool etm, struct suite *s);
int keys_of_block(const SSL *ssl, const struct suite *s, bool clients,
		  struct so_crypt *c);
int keys_of_secret(const struct suite *s, const struct secret *secret,
		   struct so_crypt *c);
int next_secret(const struct suite *s, struct secret *secret);

#endif /* SCHEDULE_H */
