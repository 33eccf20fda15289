/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches a handshake.
 */
#ifndef WATCH_H
#define WATCH_H

#include "schedule.h"

#define TAIL	64	/* bytes: a Finished of TLS 1.2 has 45 with AES-GCM */

/**
 * struct flow - one direction
 * @bio: the BIO that sees its bytes, with a reference
 * @bytes: number of bytes that passed
 * @framed: number of bytes in the records whose headers were seen, with the
 *	headers
 * @number: number of the next record, under the present keys
 * @length: bytes of the last record, after its header
 * @tail: the last bytes
 * @secret: TLS 1.3: the secret
 */
struct flow {
	BIO		*bio;
	uint64_t	bytes, framed;
	uint64_t	number;
	unsigned int	length;
	uint8_t		tail[TAIL];
	struct secret	secret;
};

/**
 * struct watch - the keys and record numbers seen on a connection
 * @flow: the receiving and the sending direction
 * @etm: RFC 7366 was agreed on
 * @stale: keys were updated, so the secrets are out of date
 */
struct watch {
	struct flow	flow[2];
	bool		etm;
	bool		stale;
};

const struct watch *watch_of(const SSL *ssl);
bool watch_is_whole(const SSL *ssl, const struct watch *w);

#endif /* WATCH_H */
