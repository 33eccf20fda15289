// SPDX-License-Identifier: BSD-2-Clause
/*
 * Seals standard input to standard output with AES-GCM, by the interface of
 * the BSDs:
 *
 *	seal [-d] KEY NONCE HEADER < in > out
 *
 * KEY (16, 24 or 32 bytes) and NONCE (12) are hexadecimal, HEADER is any text,
 * which is authenticated and not part of the output.  That is the ciphertext,
 * then 16 bytes of tag.  At most 262140 bytes, since one operation does it.
 *
 * Never use a nonce twice with the same key.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bsd/crypto/cryptodev.h>

#include "hex.h"

#define TAG	AES_GMAC_HASH_LEN

static uint8_t buf[CRYPTO_MAX_DATA_LEN + TAG + 1];

static uint32_t open_session(int dev, const char *hexkey)
{
	uint8_t key[32];
	struct session2_op s = {
		.cipher = CRYPTO_AES_NIST_GCM_16, .key = key,
		.keylen = from_hex(hexkey, key, sizeof(key)),
		.crid = CRYPTO_FLAG_HARDWARE | CRYPTO_FLAG_SOFTWARE,
	};

	if (ioctl(dev, CIOCGSESSION2, &s))
		err(1, "CIOCGSESSION2");
	explicit_bzero(key, sizeof(key));
	return s.ses;
}

int main(int argc, char **argv)
{
	int opens = argc > 1 && !strcmp(argv[1], "-d"), dev;
	struct crypt_aead c = {
		.op = opens ? COP_DECRYPT : COP_ENCRYPT,
		.src = buf, .dst = buf,
	};
	uint8_t nonce[AES_GCM_IV_LEN];
	size_t len;

	argv += opens;
	if (argc - opens != 4)
		errx(2, "usage: seal [-d] KEY NONCE HEADER < in > out");
	dev = open("/dev/crypto", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		err(1, "/dev/crypto");
	c.ses = open_session(dev, argv[1]);
	c.iv = nonce;
	c.ivlen = from_hex(argv[2], nonce, sizeof(nonce));
	c.aad = argv[3];
	c.aadlen = strlen(argv[3]);

	len = fread(buf, 1, sizeof(buf), stdin);
	if (len > CRYPTO_MAX_DATA_LEN + (opens ? TAG : 0))
		errx(1, "too long for one operation");
	if (opens && len < TAG)
		errx(1, "shorter than a tag");
	c.len = opens ? len - TAG : len;
	c.tag = buf + c.len;
	if (ioctl(dev, CIOCCRYPTAEAD, &c)) {
		if (errno == EBADMSG)
			errx(1, "not what was sealed");
		err(1, "CIOCCRYPTAEAD");
	}
	len = opens ? c.len : c.len + TAG;
	if (fwrite(buf, 1, len, stdout) != len || fflush(stdout))
		err(1, "standard output");
	return 0;
}
