// SPDX-License-Identifier: BSD-2-Clause
/*
 * Encrypts standard input to standard output with AES-CBC, by the interface of
 * cryptodev-linux:
 *
 *	encrypt [-d] KEY IV < in > out
 *
 * KEY (16, 24 or 32 bytes) and IV (16) are hexadecimal.  The result, padding
 * included (RFC 5652, 6.3), is that of
 *
 *	openssl enc -aes-128-cbc -K KEY -iv IV
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <crypto/cryptodev.h>

#include "hex.h"

#define BLOCK	16
#define CHUNK	65536		/* bytes an operation works on */

static int dev;
static uint32_t session;

static void open_session(const char *hexkey)
{
	uint8_t key[32];
	struct session_op s = {
		.cipher = CRYPTO_AES_CBC, .key = key,
		.keylen = from_hex(hexkey, key, sizeof(key)),
	};

	dev = open("/dev/crypto", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		err(1, "/dev/crypto");
	if (ioctl(dev, CIOCGSESSION, &s))
		err(1, "CIOCGSESSION");
	/* the kernel has its own copy */
	explicit_bzero(key, sizeof(key));
	session = s.ses;
}

/* In place.  Only the first operation names the IV; the others go on. */
static void crypt_chunk(int op, uint8_t *buf, size_t len, uint8_t *iv)
{
	struct crypt_op c = {
		.ses = session, .op = op, .len = len,
		.src = buf, .dst = buf, .iv = iv,
	};

	if (ioctl(dev, CIOCCRYPT, &c))
		err(1, "CIOCCRYPT");
}

static size_t pad(uint8_t *buf, size_t len)
{
	size_t n = BLOCK - len % BLOCK;

	memset(buf + len, n, n);
	return len + n;
}

static size_t unpad(const uint8_t *buf, size_t len)
{
	size_t n = len ? buf[len - 1] : 0, i;

	if (!n || n > BLOCK || n > len)
		errx(1, "bad padding");
	for (i = 1; i <= n; i++)
		if (buf[len - i] != n)
			errx(1, "bad padding");
	return len - n;
}

static void put(const uint8_t *buf, size_t len)
{
	if (fwrite(buf, 1, len, stdout) != len)
		err(1, "standard output");
}

static void encrypt(uint8_t *iv)
{
	static uint8_t buf[CHUNK + BLOCK];
	size_t len;

	do {
		len = fread(buf, 1, CHUNK, stdin);
		if (len < CHUNK) {
			if (ferror(stdin))
				err(1, "standard input");
			crypt_chunk(COP_ENCRYPT, buf, pad(buf, len), iv);
			put(buf, len + BLOCK - len % BLOCK);
		} else {
			crypt_chunk(COP_ENCRYPT, buf, len, iv);
			put(buf, len);
		}
		iv = NULL;
	} while (len == CHUNK);
}

/* The last block is held back until it is known to be the last. */
static void decrypt(uint8_t *iv)
{
	static uint8_t buf[CHUNK + BLOCK];
	size_t held = 0, len;

	while ((len = fread(buf + held, 1, CHUNK, stdin))) {
		if (len % BLOCK)
			errx(1, "not whole blocks");
		crypt_chunk(COP_DECRYPT, buf + held, len, iv);
		iv = NULL;
		len += held;
		held = BLOCK;
		put(buf, len - held);
		memmove(buf, buf + len - held, held);
	}
	if (ferror(stdin))
		err(1, "standard input");
	put(buf, unpad(buf, held));
}

int main(int argc, char **argv)
{
	int decrypts = argc > 1 && !strcmp(argv[1], "-d");
	uint8_t iv[BLOCK];

	argv += decrypts;
	if (argc - decrypts != 3)
		errx(2, "usage: encrypt [-d] KEY IV < in > out");
	open_session(argv[1]);
	if (from_hex(argv[2], iv, sizeof(iv)) != sizeof(iv))
		errx(2, "an IV has %d bytes", BLOCK);
	if (decrypts)
		decrypt(iv);
	else
		encrypt(iv);
	if (fflush(stdout))
		err(1, "standard output");
	/* the session ends with the descriptor */
	return 0;
}
