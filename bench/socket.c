// SPDX-License-Identifier: BSD-2-Clause
/*
 * Instructions per byte of a file that is sent over a connection: plain, by
 * the kernel's kTLS, and by SO_CRYPT, with the same cipher.
 *
 *	bench/socket MIB [ROUNDS]	make bench-socket
 *
 * In the test machine, under --icount: the time-stamp counter counts
 * instructions, of the whole machine.  The file is on tmpfs; who receives
 * neither copies nor decrypts.  The least of ROUNDS (5), all in turns.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <linux/so_crypt.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#ifndef TCP_ULP
#define TCP_ULP	31
#endif
#ifndef SOL_TLS
#define SOL_TLS	282
#endif

static int file;
static size_t size;

static void listen_connect(int *to, int *from)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(l, (void *)&addr, len) || listen(l, 1) ||
	    getsockname(l, (void *)&addr, &len))
		err(1, "listen");
	*to = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(*to, (void *)&addr, len))
		err(1, "connect");
	*from = accept(l, NULL, NULL);
	close(l);
}

static void set_nothing(int fd)
{
}

static void set_ktls(int fd, int version)
{
	struct tls12_crypto_info_aes_gcm_128 c = {
		.info = { version, TLS_CIPHER_AES_GCM_128 },
	};

	if (setsockopt(fd, SOL_TCP, TCP_ULP, "tls", 3) ||
	    setsockopt(fd, SOL_TLS, TLS_TX, &c, sizeof(c)))
		err(1, "kTLS");
}

static void set_ktls12(int fd)
{
	set_ktls(fd, TLS_1_2_VERSION);
}

static void set_ktls13(int fd)
{
	set_ktls(fd, TLS_1_3_VERSION);
}

static void set_so_crypt(int fd, int protocol, int ivlen)
{
	struct so_crypt c = {
		.size = sizeof(c), .protocol = protocol, .cipher = "aes-gcm",
		.keylen = 16, .ivlen = ivlen,
	};

	if (setsockopt(fd, SOL_TCP, TCP_ULP, "ocf", 3) ||
	    setsockopt(fd, SOL_OCF, SO_CRYPT_TX, &c, sizeof(c)))
		err(1, "SO_CRYPT");
}

static void set_so_crypt12(int fd)
{
	set_so_crypt(fd, SO_CRYPT_TLS_1_2, 4);
}

static void set_so_crypt13(int fd)
{
	set_so_crypt(fd, SO_CRYPT_TLS_1_3, 12);
}

enum { WAYS = 5 };

static const struct way {
	const char *name;
	void (*set)(int fd);
} ways[WAYS] = {
	{ "tcp", set_nothing },
	{ "ktls-1.2", set_ktls12 },
	{ "so_crypt-1.2", set_so_crypt12 },
	{ "ktls-1.3", set_ktls13 },
	{ "so_crypt-1.3", set_so_crypt13 },
};

static void receive(int fd)
{
	while (recv(fd, NULL, 1 << 20, MSG_TRUNC) > 0)
		;
	_exit(0);
}

static uint64_t run(const struct way *w)
{
	uint64_t begun, took;
	off_t at = 0;
	int to, from;
	pid_t pid;

	listen_connect(&to, &from);
	w->set(to);
	pid = fork();
	if (!pid) {
		close(to);
		receive(from);
	}
	close(from);
	begun = __rdtsc();
	while (at < (off_t)size)
		if (sendfile(to, file, &at, size - at) < 0)
			err(1, "sendfile");
	shutdown(to, SHUT_WR);
	waitpid(pid, NULL, 0);
	took = __rdtsc() - begun;
	close(to);
	return took;
}

int main(int argc, char **argv)
{
	uint64_t least[WAYS], took;
	int rounds = argc > 2 ? atoi(argv[2]) : 5, i, r;
	static char buf[1 << 20];

	if (argc < 2)
		errx(1, "MIB [ROUNDS]");
	size = (size_t)atoi(argv[1]) << 20;
	file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	if (file < 0)
		err(1, "/tmp");
	memset(buf, 'x', sizeof(buf));
	for (size_t n = 0; n < size; n += sizeof(buf))
		if (write(file, buf, sizeof(buf)) != sizeof(buf))
			err(1, "write");
	memset(least, 0xff, sizeof(least));
	for (r = 0; r < rounds; r++)
		for (i = 0; i < (int)WAYS; i++) {
			took = run(&ways[i]);
			if (took < least[i])
				least[i] = took;
		}
	for (i = 0; i < (int)WAYS; i++)
		printf("%-14s %5zu MiB  %.3f a byte\n", ways[i].name,
		       size >> 20, (double)least[i] / size);
	return 0;
}
