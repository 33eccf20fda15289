/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of libocf have in common.
 */
#ifndef LIBOCF_TEST_H
#define LIBOCF_TEST_H

#include <ocf/crypt.h>

#include "../selftests/dev.h"

#define LEN	4096

static const uint8_t key[32] = "thirty-two bytes of a good key..";

static inline uint32_t session(struct ocf *ocf, enum ocf_mode mode,
			       const char *cipher, const char *mac)
{
	struct ocf_session_open params = {
		.mode = mode, .key = addr(key), .keylen = *cipher ? 16 : 0,
		.mackey = addr(key),
		.mackeylen = strncmp(mac, "hmac", 4) ? 0 : 32,
	};

	strcpy(params.cipher, cipher);
	strcpy(params.mac, mac);
	return ocf_session_create(ocf, &params) ? 0 : params.session;
}

#endif /* LIBOCF_TEST_H */
