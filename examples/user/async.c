// SPDX-License-Identifier: BSD-2-Clause
/*
 * Encrypts a file to another with AES-CTR, many operations at a time, by the
 * asynchronous calls of cryptodev-linux:
 *
 *	async KEY IV IN OUT
 *
 * KEY (16, 24 or 32 bytes) and IV (16) are hexadecimal.  The result is that of
 *
 *	openssl enc -aes-128-ctr -K KEY -iv IV -in IN -out OUT
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
		.cipher = CRYPTO_AES_CTR, .key = key,
		.keylen = from_hex(hexkey, key, sizeof(key)),
	};

	dev = open("/dev/crypto", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		err(1, "/dev/crypto");
	if (ioctl(dev, CIOCGSESSION, &s))
		err(1, "CIOCGSESSION");
	explicit_bzero(key, sizeof(key));
	session = s.ses;
}

/* @iv + @blocks, as a number of 128 bits, most significant byte first */
static void counter(uint8_t *ctr, const uint8_t *iv, uint64_t blocks)
{
	unsigned int carry = 0;
	int i;

	for (i = BLOCK - 1; i >= 0; i--, blocks >>= 8) {
		carry += iv[i] + (blocks & 0xff);
		ctr[i] = carry;
		carry >>= 8;
	}
}

/* False if there is no place for another operation now. */
static bool hand_in(const uint8_t *in, uint8_t *out, size_t len, uint8_t *ctr)
{
	/* the structure is copied; src and dst must stay until it is fetched */
	struct crypt_op c = {
		.ses = session, .op = COP_ENCRYPT, .len = len,
		.src = (uint8_t *)in, .dst = out, .iv = ctr,
	};

	if (!ioctl(dev, CIOCASYNCCRYPT, &c))
		return true;
	if (errno != EBUSY)
		err(1, "CIOCASYNCCRYPT");
	return false;
}

/* False if nothing is done now. */
static bool fetch(void)
{
	struct crypt_op c;

	if (!ioctl(dev, CIOCASYNCFETCH, &c))
		return true;
	if (errno != EBUSY)
		err(1, "CIOCASYNCFETCH");
	return false;
}

static void encrypt(const uint8_t *in, uint8_t *out, size_t size,
		    const uint8_t *iv)
{
	struct pollfd p = { .fd = dev };
	size_t at = 0, under_way = 0, n;
	uint8_t ctr[BLOCK];

	while (at < size || under_way) {
		p.events = POLLIN | (at < size ? POLLOUT : 0);
		if (poll(&p, 1, -1) < 0)
			err(1, "poll");
		while (at < size) {
			n = size - at < CHUNK ? size - at : CHUNK;
			counter(ctr, iv, at / BLOCK);
			if (!hand_in(in + at, out + at, n, ctr))
				break;
			at += n;
			under_way++;
		}
		while (under_way && fetch())
			under_way--;
	}
}

int main(int argc, char **argv)
{
	uint8_t iv[BLOCK], *in, *out;
	struct stat st;
	int fd, to;

	if (argc != 5)
		errx(2, "usage: async KEY IV IN OUT");
	open_session(argv[1]);
	if (from_hex(argv[2], iv, sizeof(iv)) != sizeof(iv))
		errx(2, "an IV has %d bytes", BLOCK);
	fd = open(argv[3], O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", argv[3]);
	to = open(argv[4], O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (to < 0 || ftruncate(to, st.st_size))
		err(1, "%s", argv[4]);
	if (!st.st_size)
		return 0;
	in = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	out = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
	if (in == MAP_FAILED || out == MAP_FAILED)
		err(1, "mmap");
	encrypt(in, out, st.st_size, iv);
	if (msync(out, st.st_size, MS_SYNC))
		err(1, "%s", argv[4]);
	return 0;
}
