// SPDX-License-Identifier: BSD-2-Clause
/*
 * One end of a connection over TLS, by GnuTLS: peer.h.
 */
#include <err.h>
#include <errno.h>
#include <ocf/gnutls.h>
#include <string.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "peer.h"

static gnutls_session_t session;
static bool in_kernel;
static int fd;

static void check(int e, const char *what)
{
	if (e < 0)
		errx(1, "%s: %s", what, gnutls_strerror(e));
}

static void shake(const struct options *o)
{
	gnutls_certificate_credentials_t cred;
	int e;

	check(gnutls_certificate_allocate_credentials(&cred), "memory");
	if (o->server)
		check(gnutls_certificate_set_x509_key_file(cred, o->cert,
							   o->key,
							   GNUTLS_X509_FMT_PEM),
		      o->cert);
	check(gnutls_init(&session, o->server ? GNUTLS_SERVER : GNUTLS_CLIENT),
	      "session");
	check(gnutls_priority_set_direct(session, o->suites, NULL), o->suites);
	check(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, cred),
	      "credentials");
	fd = o->fd;
	gnutls_transport_set_int(session, fd);
	do
		e = gnutls_handshake(session);
	while (e < 0 && !gnutls_error_is_fatal(e));
	check(e, "handshake");
	if (o->in_user_space)
		return;
	e = ocf_gnutls_attach(session, 0);
	if (e)
		errx(1, "ocf_gnutls_attach: %s", strerror(-e));
	in_kernel = true;
}

static ssize_t read_kernel(void *data, size_t size)
{
	uint8_t type;
	ssize_t n;

	for (;;) {
		type = 23;
		n = ocf_socket_recv(fd, &type, data, size, 0, NULL);
		if (n < 0)
			errx(1, "ocf_socket_recv: %s", strerror(-n));
		if (type == 21)		/* close_notify is the one we expect */
			return 0;
		if (type != 23)		/* tickets */
			continue;
		if (!n)
			errx(1, "the connection was cut off");
		return n;
	}
}

static ssize_t do_read(void *data, size_t size)
{
	ssize_t n;

	if (in_kernel)
		return read_kernel(data, size);
	do
		n = gnutls_record_recv(session, data, size);
	while (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED);
	check(n, "gnutls_record_recv");
	return n;
}

static void do_write(const void *data, size_t size, bool last)
{
	ssize_t n;

	if (in_kernel) {
		n = send(fd, data, size, !last && random() % 2 ? MSG_MORE : 0);
		if (n != (ssize_t)size)
			err(1, "send");
		return;
	}
	while (size) {
		n = gnutls_record_send(session, data, size);
		check(n, "gnutls_record_send");
		data += n;
		size -= n;
	}
}

static void do_update(void)
{
	check(gnutls_session_key_update(session, GNUTLS_KU_PEER),
	      "gnutls_session_key_update");
}

static void end(void)
{
	static const uint8_t close_notify[] = { 1, 0 };

	if (!in_kernel)
		check(gnutls_bye(session, GNUTLS_SHUT_WR), "gnutls_bye");
	else if (ocf_socket_send(fd, 21, close_notify, 2, 0) != 2)
		err(1, "close_notify");
}

int main(int argc, char **argv)
{
	static const struct library library = {
		shake, do_read, do_write, do_update, end,
	};

	return peer(argc, argv, &library);
}
