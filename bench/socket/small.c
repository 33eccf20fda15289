// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cost of fetching a small file: figure 6 of the paper on SO_CRYPT, with
 * ways beside it that the paper did not have yet.
 *
 *	bench/socket/small		make bench-socket
 *
 * TRANSFERS times a connection, a handshake (TLS 1.2, ECDHE, ECDSA with P-256,
 * AES-128-GCM), a request and a file of 15 bytes.  In the test machine, under
 * --icount: instructions of both ends, the mean.
 */
#include <err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include <ocf/tls.h>

#include "../../tests/lib/tcp.h"
#include "way.h"

#define TRANSFERS	1000
#define SIZE		15
#define REQUEST		64	/* bytes */

enum { HTTP, HTTPS, KTLS, SO_CRYPT, SERVERS };

static const char *const names[SERVERS] = {
	[HTTP]		= "http: sendfile()",
	[HTTPS]		= "https: read(), SSL_write()",
	[KTLS]		= "https: SSL_sendfile(), kTLS",
	[SO_CRYPT]	= "https: sendfile(), SO_CRYPT",
};

static int file;
static SSL_CTX *server, *client;

static void check(bool good, const char *what)
{
	if (!good)
		err(1, "%s", what);
}

/* As every server does: else a handshake in several pieces waits for ACKs. */
static void no_delay(int fd)
{
	int on = 1;

	check(!setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)),
	      "TCP_NODELAY");
}

/* ---- servers ---- */

static SSL_CTX *new_server(void)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = X509_new();

	X509_gmtime_adj(X509_getm_notBefore(cert), 0);
	X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
	X509_set_pubkey(cert, key);
	check(X509_sign(cert, key, EVP_sha256()) &&
	      SSL_CTX_use_certificate(ctx, cert) == 1 &&
	      SSL_CTX_use_PrivateKey(ctx, key) == 1, "certificate");
	SSL_CTX_set_cipher_list(ctx, "ECDHE-ECDSA-AES128-GCM-SHA256");
	SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
	X509_free(cert);
	EVP_PKEY_free(key);
	return ctx;
}

static void serve_plain(int fd)
{
	char buf[REQUEST];
	off_t at = 0;

	check(recv(fd, buf, REQUEST, MSG_WAITALL) == REQUEST, "request");
	check(sendfile(fd, file, &at, SIZE) == SIZE, "sendfile");
}

static void serve_ocf(int fd, SSL *ssl)
{
	struct ocf_tls *tls;
	char buf[REQUEST];
	off_t at = 0;
	int e = ocf_tls_attach(ssl, 0, &tls);

	if (e)
		errx(1, "ocf_tls_attach: %d", e);
	check(ocf_tls_recv(tls, buf, REQUEST, 0) == REQUEST, "request");
	check(sendfile(fd, file, &at, SIZE) == SIZE, "sendfile");
	ocf_tls_close_notify(tls);
	ocf_tls_free(tls);
}

static void serve_ssl(SSL *ssl, bool ktls)
{
	char buf[REQUEST];

	check(SSL_read(ssl, buf, REQUEST) == REQUEST, "request");
	if (ktls) {
		check(SSL_sendfile(ssl, file, 0, SIZE, 0) == SIZE,
		      "SSL_sendfile");
	} else {
		check(pread(file, buf, SIZE, 0) == SIZE, "read");
		check(SSL_write(ssl, buf, SIZE) == SIZE, "SSL_write");
	}
	SSL_shutdown(ssl);
}

static void serve(int l, int how)
{
	SSL *ssl;
	int i, fd;

	if (how == KTLS)
		SSL_CTX_set_options(server, SSL_OP_ENABLE_KTLS);
	if (how == SO_CRYPT)
		check(!ocf_tls_context(server), "ocf_tls_context");
	for (i = 0; i < TRANSFERS; i++) {
		fd = accept(l, NULL, NULL);
		no_delay(fd);
		ssl = SSL_new(server);
		SSL_set_fd(ssl, fd);
		check(how == HTTP || SSL_accept(ssl) == 1, "SSL_accept");
		if (how == HTTP)
			serve_plain(fd);
		else if (how == SO_CRYPT)
			serve_ocf(fd, ssl);
		else
			serve_ssl(ssl, how == KTLS);
		SSL_free(ssl);
		close(fd);
	}
	_exit(0);
}

/* ---- the client ---- */

struct took {
	uint64_t all;		/* from the connection on */
	uint64_t answer;	/* from the request on */
};

static void fetch(const struct sockaddr_in *addr, int how, struct took *took)
{
	uint64_t begun = __rdtsc(), asked;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char buf[REQUEST] = "GET";
	SSL *ssl = SSL_new(client);

	check(!connect(fd, (void *)addr, sizeof(*addr)), "connect");
	no_delay(fd);
	SSL_set_fd(ssl, fd);
	check(how == HTTP || SSL_connect(ssl) == 1, "SSL_connect");
	asked = __rdtsc();
	if (how == HTTP) {
		check(write(fd, buf, REQUEST) == REQUEST, "write");
		check(recv(fd, buf, SIZE, MSG_WAITALL) == SIZE, "answer");
	} else {
		check(SSL_write(ssl, buf, REQUEST) == REQUEST, "SSL_write");
		check(SSL_read(ssl, buf, SIZE) == SIZE, "answer");
	}
	took->all += __rdtsc() - begun;
	took->answer += __rdtsc() - asked;
	SSL_free(ssl);
	close(fd);
}

static void measure(int how)
{
	struct sockaddr_in addr;
	int i, l = tcp_listen(&addr);
	struct took took = {};
	pid_t pid;

	pid = fork();
	if (!pid)
		serve(l, how);
	close(l);
	for (i = 0; i < TRANSFERS; i++)
		fetch(&addr, how, &took);
	link_wait(pid);
	printf("  %-39s %11.0f %9.0f\n", names[how],
	       (double)took.all / TRANSFERS, (double)took.answer / TRANSFERS);
	fflush(stdout);
}

int main(void)
{
	int how;

	signal(SIGPIPE, SIG_IGN);
	link_prepare();
	file = link_file(1);
	client = SSL_CTX_new(TLS_client_method());
	server = new_server();
	printf("%d bytes, the mean of %d: instructions\n", SIZE, TRANSFERS);
	printf("%52s %9s\n", "from connect()", "request");
	for (how = 0; how < SERVERS; how++)
		measure(how);
	return 0;
}
