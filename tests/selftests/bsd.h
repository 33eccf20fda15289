/* SPDX-License-Identifier: BSD-2-Clause */
/* Short calls for tests of the BSD ABI. */
#ifndef TEST_BSD_H
#define TEST_BSD_H

#include <bsd/crypto/cryptodev.h>

#include "../../tools/lib/ids.h"
#include "dev.h"

static const uint8_t key_bytes[512] =
	"a key that has as many bytes as any wants";

/* Returns the id of an algorithm's name; 0 if it has none. */
static inline unsigned int bsd_id(const char *name)
{
	int i;

	for (i = 0; i < nids_bsd; i++)
		if (ids_bsd[i].alg && !strcmp(ids_bsd[i].alg, name))
			return ids_bsd[i].id;
	return 0;
}

/* Opens a session; its id is in @ses.  Returns 0 or an errno. */
static inline int open_session(int fd, unsigned int cipher, size_t keylen,
			       unsigned int mac, int mackeylen, uint32_t *ses)
{
	struct session_op sop = {
		.cipher = cipher, .keylen = keylen, .key = key_bytes,
		.mac = mac, .mackeylen = mackeylen, .mackey = key_bytes,
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
		.src = src, .dst = dst, .iv = iv, .mac = mac,
	};

	return call(fd, CIOCCRYPT, &cop);
}

/* Calls CIOCCRYPTAEAD.  Returns 0 or an errno. */
static inline int aead_op(int fd, uint32_t ses, int op, const void *aad,
			  uint32_t aadlen, const void *src, void *dst,
			  uint32_t len, const void *iv, uint32_t ivlen,
			  void *tag)
{
	struct crypt_aead c = {
		.ses = ses, .op = op, .len = len, .aadlen = aadlen,
		.ivlen = ivlen, .src = src, .dst = dst, .aad = aad,
		.tag = tag, .iv = iv,
	};

	return call(fd, CIOCCRYPTAEAD, &c);
}

#endif /* TEST_BSD_H */
