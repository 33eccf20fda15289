// SPDX-License-Identifier: BSD-2-Clause
/*
 * A file through /dev/crypto, AES-256-CBC without padding, standard input to
 * standard output:
 *
 *	ours e|d KEY IV		(as text of 32 and 16 bytes)
 *
 * The same source is built against each of the two headers; what it says is
 * common to both ABIs.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <crypto/cryptodev.h>

#define KEY_LEN	32
#define IV_LEN	16

static void next_iv(char *iv, const char *ciphertext, size_t len)
{
	memcpy(iv, ciphertext + len - IV_LEN, IV_LEN);
}

int main(int argc, char **argv)
{
	static char in[1 << 17], out[sizeof(in)], iv[IV_LEN];
	struct session_op sess = {
		.cipher = CRYPTO_AES_CBC, .keylen = KEY_LEN,
	};
	struct crypt_op op = { .src = (void *)in, .dst = (void *)out };
	int fd = open("/dev/crypto", O_RDWR | O_CLOEXEC);
	size_t n;

	if (argc != 4 || strlen(argv[2]) != KEY_LEN ||
	    strlen(argv[3]) != IV_LEN)
		errx(2, "usage: ours e|d KEY IV");
	sess.key = (void *)argv[2];
	memcpy(iv, argv[3], IV_LEN);
	if (fd < 0 || ioctl(fd, CIOCGSESSION, &sess))
		err(1, "/dev/crypto");
	op.ses = sess.ses;
	op.op = *argv[1] == 'e' ? COP_ENCRYPT : COP_DECRYPT;
	op.iv = (void *)iv;
	while ((n = fread(in, 1, sizeof(in), stdin)) > 0) {
		op.len = n;
		if (ioctl(fd, CIOCCRYPT, &op))
			err(1, "CIOCCRYPT");
		next_iv(iv, op.op == COP_ENCRYPT ? out : in, n);
		if (fwrite(out, 1, n, stdout) != n)
			err(1, "write");
	}
	if (ioctl(fd, CIOCFSESSION, &sess.ses))
		err(1, "CIOCFSESSION");
	return 0;
}
