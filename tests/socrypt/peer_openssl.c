// SPDX-License-Identifier: BSD-2-Clause
/*
 * One end of a connection over TLS, by OpenSSL: peer.h.
 */
#include <err.h>
#include <errno.h>
#include <ocf/tls.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "peer.h"

static struct ssl_st *ssl;
static struct ocf_tls *tls;	/* NULL: in user space */
static int fd;

static void check(int ok, const char *what)
{
	if (ok > 0)
		return;
	ERR_print_errors_fp(stderr);
	errx(1, "%s", what);
}

static int number_of(const char *version)
{
	return TLS1_VERSION + version[2] - '0';
}

static SSL_CTX *make_context(const struct options *o)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	int v = number_of(o->version);
	char suites[200];

	check(SSL_CTX_set_min_proto_version(ctx, v), "version");
	check(SSL_CTX_set_max_proto_version(ctx, v), "version");
	if (v == TLS1_3_VERSION) {
		check(SSL_CTX_set_ciphersuites(ctx, o->suites), o->suites);
	} else {
		/* what is old is not refused */
		snprintf(suites, sizeof(suites), "%s:@SECLEVEL=0", o->suites);
		check(SSL_CTX_set_cipher_list(ctx, suites), o->suites);
	}
	if (o->no_etm)
		SSL_CTX_set_options(ctx, SSL_OP_NO_ENCRYPT_THEN_MAC);
	if (!o->server)
		return ctx;
	check(SSL_CTX_use_certificate_chain_file(ctx, o->cert), o->cert);
	check(SSL_CTX_use_PrivateKey_file(ctx, o->key, SSL_FILETYPE_PEM),
	      o->key);
	return ctx;
}

static void shake(const struct options *o)
{
	SSL_CTX *ctx = make_context(o);
	int e;

	if (!o->in_user_space && ocf_tls_context(ctx))
		errx(1, "ocf_tls_context");
	ssl = SSL_new(ctx);
	fd = o->fd;
	SSL_set_fd(ssl, fd);
	check(o->server ? SSL_accept(ssl) : SSL_connect(ssl), "handshake");
	if (o->in_user_space)
		return;
	e = ocf_tls_attach(ssl, 0, &tls);
	if (e)
		errx(1, "ocf_tls_attach: %s", strerror(-e));
	SSL_free(ssl);
	SSL_CTX_free(ctx);
}

static ssize_t do_read(void *data, size_t size)
{
	ssize_t n;

	if (tls) {
		n = ocf_tls_recv(tls, data, size, 0);
		if (n < 0)
			errx(1, "ocf_tls_recv: %s", strerror(-n));
		return n;
	}
	n = SSL_read(ssl, data, size);
	if (n <= 0 && SSL_get_error(ssl, n) == SSL_ERROR_ZERO_RETURN)
		return 0;
	check(n, "SSL_read");
	return n;
}

static void do_write(const void *data, size_t size, bool last)
{
	if (!tls)
		check(SSL_write(ssl, data, size), "SSL_write");
	else if (send(fd, data, size, !last && random() % 2 ? MSG_MORE : 0) !=
		 (ssize_t)size)
		err(1, "send");
}

static void do_update(void)
{
	int e = tls ? ocf_tls_update(tls, random() % 2) :
		      SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) ? 0 : -1;

	if (e)
		errx(1, "ocf_tls_update: %s", strerror(-e));
}

static void end(void)
{
	if (tls && ocf_tls_close_notify(tls))
		errx(1, "ocf_tls_close_notify");
	else if (!tls)
		SSL_shutdown(ssl);
}

int main(int argc, char **argv)
{
	static const struct library library = {
		shake, do_read, do_write, do_update, end,
	};

	return peer(argc, argv, &library);
}
