/* SPDX-License-Identifier: BSD-2-Clause */
/* Short calls for tests of the cryptodev-linux ABI. */
#ifndef TEST_LINUX_H
#define TEST_LINUX_H

#include <crypto/cryptodev.h>

#include "../../tools/lib/ids.h"
#include "dev.h"

static const uint8_t key_bytes[512] =
	"a key that has as many bytes as any wants";

/* Returns the id of an algorithm's name; 0 if it has none. */
static inline unsigned int linux_id(const char *name)
{
	int i;

	for (i = 0; i < nids_linux; i++)
		if (ids_linux[i].alg && !strcmp(ids_linux[i].alg, name))
			return ids_linux[i].id;
	return 0;
}

/* Opens a session; its id is in @ses.  Returns 0 or an errno. */
static inline int open_session(int fd, unsigned int cipher, size_t keylen,
			       unsigned int mac, size_t mackeylen,
			       uint32_t *ses)
{
	struct session_op sop = {
		.cipher = cipher, .keylen = keylen, .key = (void *)key_bytes,
		.mac = mac, .mackeylen = mackeylen,
		.mackey = (void *)key_bytes,
	};
	int err = call(fd, CIOCGSESSION, &sop);

	*ses = sop.ses;
	return err;
}

static inline int close_session(int fd, uint32_t ses)
{
	return call(fd, CIOCFSESSION, &ses);
}

/* Calls CIOCCRYPT.  Returns 0 or an errno. */
static inline int crypt_op(int fd, uint32_t ses, int op, int flags,
			   const void *src, void *dst, uint32_t len,
			   const void *iv, void *mac)
{
	struct crypt_op cop = {
		.ses = ses, .op = op, .flags = flags, .len = len,
		.src = (void *)src, .dst = dst, .iv = (void *)iv, .mac = mac,
	};

	return call(fd, CIOCCRYPT, &cop);
}

#endif /* TEST_LINUX_H */
