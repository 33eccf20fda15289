/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is seen of a handshake.
 */
#ifndef WATCH_H
#define WATCH_H

#include "schedule.h"

#define TAIL	64	/* bytes: a Finished of TLS 1.2 has 45 with AES-GCM */

/**
 * struct flow - one direction
 * @bio: where its bytes pass, with a reference
 * @bytes: that passed
 * @framed: of those, that headers account for
 * @number: of the next record, under the keys there are
 * @length: bytes of the last record, after its header
 * @tail: the last bytes of all
 * @secret: of TLS 1.3
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
 * struct watch - a connection's
 * @flow: what is read, what is written
 * @etm: RFC 7366 was agreed on
 * @stale: keys were updated: the secrets are old ones
 */
struct watch {
	struct flow	flow[2];
	bool		etm;
	bool		stale;
};

const struct watch *watch_of(const SSL *ssl);
bool watch_is_whole(const SSL *ssl, const struct watch *w);

#endif /* WATCH_H */
