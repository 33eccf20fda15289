// SPDX-License-Identifier: BSD-2-Clause
/*
 * Encrypts or decrypts a file with AES-256-CBC through /dev/crypto, as
 * "openssl enc -aes-256-cbc -K KEY -iv IV" does, and tells how fast.
 *
 *	cryptfile [-d] DEVICE KEY IV IN OUT
 *
 * DEVICE is the name of one ("cryptosoft0"), or "any": then the framework
 * chooses for each piece.  KEY and IV are in hex.  Prints MiB/s, of the time
 * spent in /dev/crypto alone; progress goes to standard error.
 */
#include <bsd/crypto/cryptodev.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	16
#define AT_MOST	(64 << 10)	/* bytes that a card takes at a time */
#define CHUNK	(AT_MOST - BLOCK)	/* leaves room for the padding */
#define BAR	40		/* characters of progress, on a terminal */

struct job {
	bool		decrypt;
	int		crypto, in, out;
	uint32_t	ses;
	uint8_t		iv[BLOCK];
	off_t		size, done;
	double		seconds;
	int		shown;
};

static void unhex(const char *hex, uint8_t *to, size_t len)
{
	size_t i;

	if (strlen(hex) != 2 * len)
		errx(2, "%zu hex digits are wanted", 2 * len);
	for (i = 0; i < len; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &to[i]) != 1)
			errx(2, "not hex: %s", hex);
}

static void open_session(struct job *j, const char *device, const char *key_hex)
{
	uint8_t key[32];
	struct session2_op sop = {
		.cipher = CRYPTO_AES_CBC, .keylen = sizeof(key), .key = key,
		.crid = CRYPTO_FLAG_HARDWARE | CRYPTO_FLAG_SOFTWARE,
	};
	struct crypt_find_op find = { .crid = -1 };

	unhex(key_hex, key, sizeof(key));
	j->crypto = open("/dev/crypto", O_RDWR | O_CLOEXEC);
	if (j->crypto < 0)
		err(1, "/dev/crypto");
	if (strcmp(device, "any")) {
		snprintf(find.name, sizeof(find.name), "%s", device);
		if (ioctl(j->crypto, CIOCFINDDEV, &find))
			err(1, "%s", device);
		sop.crid = find.crid;
	}
	if (ioctl(j->crypto, CIOCGSESSION2, &sop))
		err(1, "a session on %s", device);
	j->ses = sop.ses;
	explicit_bzero(key, sizeof(key));
}

/* Reads @len bytes unless the file ends before; returns how many. */
static size_t read_all(int fd, uint8_t *buf, size_t len)
{
	size_t have = 0;
	ssize_t n;

	while (have < len) {
		n = read(fd, buf + have, len - have);
		if (n < 0)
			err(1, "read");
		if (!n)
			break;
		have += n;
	}
	return have;
}

static void write_all(int fd, const uint8_t *buf, size_t len)
{
	ssize_t n;

	for (; len; buf += n, len -= n) {
		n = write(fd, buf, len);
		if (n < 0)
			err(1, "write");
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void crypt_chunk(struct job *j, const uint8_t *src, uint8_t *dst,
			size_t len)
{
	struct crypt_op cop = {
		.ses = j->ses, .op = j->decrypt ? COP_DECRYPT : COP_ENCRYPT,
		.len = len, .src = src, .dst = dst, .iv = j->iv,
	};
	double begun = now();

	if (ioctl(j->crypto, CIOCCRYPT, &cop))
		err(1, "CIOCCRYPT");
	j->seconds += now() - begun;
	/* the next chunk goes on from the last block of ciphertext */
	memcpy(j->iv, (j->decrypt ? src : dst) + len - BLOCK, BLOCK);
}

static void show(struct job *j, bool last)
{
	int part = j->size ? j->done * BAR / j->size : BAR, i;

	/*
	 * the virtual machine has no terminal; demo/run says whether its caller
	 * has one
	 */
	if (!getenv("OCF_TERMINAL") || (part == j->shown && !last))
		return;
	j->shown = part;
	fprintf(stderr, "\r  [");
	for (i = 0; i < BAR; i++)
		fputc(i < part ? '#' : '.', stderr);
	fprintf(stderr, "] %lld MiB%s", (long long)j->done >> 20,
		last ? "\n" : "");
}

/* PKCS #7 (RFC 5652 section 6.3): one to sixteen bytes that tell how many. */
static size_t pad(uint8_t *buf, size_t len)
{
	size_t n = BLOCK - len % BLOCK;

	memset(buf + len, n, n);
	return len + n;
}

static size_t unpad(const uint8_t *buf, size_t len)
{
	uint8_t n = len ? buf[len - 1] : 0;
	size_t i;

	if (!n || n > BLOCK)
		errx(1, "the padding is wrong");
	for (i = 1; i <= n; i++)
		if (buf[len - i] != n)
			errx(1, "the padding is wrong");
	return len - n;
}

static void crypt_file(struct job *j)
{
	uint8_t *src = aligned_alloc(4096, AT_MOST);
	uint8_t *dst = aligned_alloc(4096, AT_MOST);
	bool last;
	size_t n;

	if (!src || !dst)
		err(1, NULL);
	do {
		n = read_all(j->in, src, CHUNK);
		j->done += n;
		last = j->done >= j->size || n < CHUNK;
		if (last && !j->decrypt)
			n = pad(src, n);
		if (n % BLOCK)
			errx(1, "the file is no whole number of blocks");
		if (n)
			crypt_chunk(j, src, dst, n);
		write_all(j->out, dst, last && j->decrypt ? unpad(dst, n) : n);
		show(j, last);
	} while (!last);
	free(src);
	free(dst);
}

int main(int argc, char **argv)
{
	struct job j = { .shown = -1 };
	struct stat st;
	int opt;

	while ((opt = getopt(argc, argv, "d")) != -1) {
		if (opt != 'd')
			return 2;
		j.decrypt = true;
	}
	argv += optind;
	if (argc - optind != 5)
		errx(2, "cryptfile [-d] DEVICE KEY IV IN OUT");
	open_session(&j, argv[0], argv[1]);
	unhex(argv[2], j.iv, sizeof(j.iv));
	j.in = open(argv[3], O_RDONLY | O_CLOEXEC);
	if (j.in < 0 || fstat(j.in, &st))
		err(1, "%s", argv[3]);
	j.out = open(argv[4], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (j.out < 0)
		err(1, "%s", argv[4]);
	j.size = st.st_size;
	crypt_file(&j);
	if (close(j.out))
		err(1, "%s", argv[4]);
	printf("%.1f\n", j.done / 1048576.0 / j.seconds);
	return 0;
}
