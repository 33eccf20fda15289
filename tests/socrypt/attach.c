// SPDX-License-Identifier: BSD-2-Clause
/*
 * In the test machine: which of OpenSSL's connections libocf takes over, and
 * which records other than data a peer may send.
 *
 *	attach CERTIFICATE KEY
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ocf/tls.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/tcp.h"

static int failed;
static const char *cert, *key;

#define EXPECT(want, got) expect(want, got, __func__, __LINE__)

static void expect(long want, long got, const char *where, int line)
{
	if (want == got)
		return;
	failed = 1;
	printf("not ok %s:%d: %ld, not %ld\n", where, line, got, want);
}

/* A connection: the one end is watched, the other one is in user space. */
struct pair {
	struct ssl_ctx_st *ctx[2];
	struct ssl_st	*ssl[2];
	int		fd[2];
	struct ocf_tls	*tls;
};

/*
 * @watched: 0: libocf gets the server's end of the connection; 1: the client's
 */
static void begin(struct pair *p, int version, int watched)
{
	int i, server = watched ? 1 : 0;

	*p = (struct pair){};
	tcp_pair(p->fd);
	for (i = 0; i < 2; i++) {
		fcntl(p->fd[i], F_SETFL, O_NONBLOCK);
		p->ctx[i] = SSL_CTX_new(TLS_method());
		SSL_CTX_set_min_proto_version(p->ctx[i], version);
		SSL_CTX_set_max_proto_version(p->ctx[i], version);
	}
	if (SSL_CTX_use_certificate_chain_file(p->ctx[server], cert) != 1 ||
	    SSL_CTX_use_PrivateKey_file(p->ctx[server], key,
					SSL_FILETYPE_PEM) != 1)
		errx(1, "%s", cert);
	ocf_tls_context(p->ctx[0]);
	for (i = 0; i < 2; i++) {
		p->ssl[i] = SSL_new(p->ctx[i]);
		SSL_set_fd(p->ssl[i], p->fd[i]);
	}
	SSL_set_accept_state(p->ssl[server]);
	SSL_set_connect_state(p->ssl[!server]);
}

static void shake(struct pair *p)
{
	int i, done = 0;

	for (i = 0; i < 1000000 && done != 3; i++)
		if (SSL_do_handshake(p->ssl[i % 2]) == 1)
			done |= 1 << i % 2;
	if (done != 3)
		errx(1, "handshake");
}

static int attach(struct pair *p)
{
	return ocf_tls_attach(p->ssl[0], 0, &p->tls);
}

static void end(struct pair *p)
{
	int i;

	ocf_tls_free(p->tls);
	for (i = 0; i < 2; i++) {
		SSL_free(p->ssl[i]);
		SSL_CTX_free(p->ctx[i]);
		close(p->fd[i]);
	}
}

/* What ocf_tls_recv() gives once there is something. */
static ssize_t receive(struct pair *p, void *to, size_t size)
{
	ssize_t n = -EAGAIN;
	int i;

	for (i = 0; i < 100000 && n == -EAGAIN; i++) {
		n = ocf_tls_recv(p->tls, to, size, 0);
		usleep(n == -EAGAIN ? 1000 : 0);
	}
	return n;
}

/* Both ways work. */
static void talk(struct pair *p)
{
	char buf[100];
	int i;

	EXPECT(4, SSL_write(p->ssl[1], "ping", 4));
	EXPECT(4, receive(p, buf, sizeof(buf)));
	EXPECT(4, send(p->fd[0], "pong", 4, 0));
	for (i = 0; i < 100000 && SSL_peek(p->ssl[1], buf, 1) <= 0; i++)
		usleep(1000);
	EXPECT(4, SSL_read(p->ssl[1], buf, sizeof(buf)));
}

/* ---- who is taken ---- */

static void good_ones(void)
{
	struct pair p;
	int version, watched;

	for (version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++)
		for (watched = 0; watched < 2; watched++) {
			begin(&p, version, watched);
			shake(&p);
			EXPECT(0, attach(&p));
			talk(&p);
			end(&p);
		}
}

/*
 * With TLS 1.3 data may be exchanged before libocf takes the connection,
 * because libocf counts the records.
 */
static void after_data(void)
{
	struct pair p;
	char buf[100];
	int i, watched;

	for (watched = 0; watched < 2; watched++) {
		begin(&p, TLS1_3_VERSION, watched);
		shake(&p);
		for (i = 0; i < 5; i++)
			EXPECT(5, SSL_write(p.ssl[0], "first", 5));
		EXPECT(5, SSL_write(p.ssl[1], "other", 5));
		for (i = 0; i < 100000 && SSL_read(p.ssl[0], buf, 5) <= 0; i++)
			usleep(1000);
		EXPECT(0, attach(&p));
		for (i = 0; i < 5; i++)
			EXPECT(5, SSL_read(p.ssl[1], buf, sizeof(buf)));
		talk(&p);
		end(&p);
	}
}

static void not_watched(void)
{
	struct pair p;

	begin(&p, TLS1_3_VERSION, 0);
	EXPECT(-EINVAL, attach(&p));
	shake(&p);
	EXPECT(-EINVAL, ocf_tls_attach(p.ssl[1], 0, &p.tls));
	EXPECT(-EINVAL, ocf_tls_attach(p.ssl[0], 1u << 31, &p.tls));
	EXPECT(0, attach(&p));
	EXPECT(-EBUSY, attach(&p) == -EBUSY ? -EBUSY : -EINVAL);
	end(&p);
}

static void smaller_records(void)
{
	struct pair p;

	begin(&p, TLS1_3_VERSION, 0);
	SSL_set_tlsext_max_fragment_length(p.ssl[1],
					   TLSEXT_max_fragment_length_512);
	shake(&p);
	EXPECT(-EOPNOTSUPP, attach(&p));
	end(&p);
}

static void read_ahead(void)
{
	struct pair p;
	char buf[3];
	int i;

	begin(&p, TLS1_3_VERSION, 0);
	SSL_set_read_ahead(p.ssl[0], 1);
	shake(&p);
	EXPECT(3, SSL_write(p.ssl[1], "one", 3));
	EXPECT(3, SSL_write(p.ssl[1], "two", 3));
	for (i = 0; i < 100000 && SSL_read(p.ssl[0], buf, 3) <= 0; i++)
		usleep(1000);
	EXPECT(-EBUSY, attach(&p));
	end(&p);
}

static void tracer(int write, int version, int type, const void *buf,
		   size_t len, SSL *ssl, void *arg)
{
}

static void replace(const SSL *ssl, int where, int ret)
{
	if (where & SSL_CB_HANDSHAKE_DONE)
		SSL_set_msg_callback((SSL *)ssl, tracer);
}

/*
 * If the program replaces the callback, libocf has not counted all records.  It
 * must refuse the connection, or record numbers would be used twice.
 */
static void callback_taken_away(void)
{
	struct pair p;

	begin(&p, TLS1_3_VERSION, 0);
	shake(&p);
	SSL_set_msg_callback(p.ssl[0], tracer);
	EXPECT(3, SSL_write(p.ssl[0], "one", 3));
	EXPECT(-EBUSY, attach(&p));
	end(&p);
	begin(&p, TLS1_3_VERSION, 0);
	SSL_set_info_callback(p.ssl[0], replace);
	shake(&p);
	SSL_new_session_ticket(p.ssl[0]);
	SSL_do_handshake(p.ssl[0]);
	EXPECT(-EBUSY, attach(&p));
	end(&p);
}

static void socket_goes_with_its_bio(void)
{
	struct pair p;

	begin(&p, TLS1_3_VERSION, 0);
	BIO_set_close(SSL_get_rbio(p.ssl[0]), BIO_CLOSE);
	shake(&p);
	EXPECT(-EINVAL, attach(&p));
	p.fd[0] = -1;
	end(&p);
}

/*
 * The watch is freed while its BIO still exists, so it must have removed its
 * callback from the BIO. valgrind would find a use after free.
 */
static void bio_that_stays(void)
{
	struct pair p;
	char buf[100];
	BIO *bio;

	begin(&p, TLS1_3_VERSION, 0);
	shake(&p);
	bio = SSL_get_rbio(p.ssl[0]);
	BIO_up_ref(bio);
	SSL_free(p.ssl[0]);
	p.ssl[0] = NULL;
	SSL_write(p.ssl[1], "text", 4);
	EXPECT(1, !BIO_get_callback_ex(bio));
	BIO_read(bio, buf, sizeof(buf));
	BIO_free(bio);
	end(&p);
}

/* ---- received records that are not data ---- */

/*
 * A client that can send any record, because the kernel makes its records, too.
 */
static void bad_client(struct pair *p, struct ocf_tls **bad, int version)
{
	begin(p, version, 0);
	ocf_tls_context(p->ctx[1]);
	SSL_free(p->ssl[1]);
	p->ssl[1] = SSL_new(p->ctx[1]);
	SSL_set_fd(p->ssl[1], p->fd[1]);
	SSL_set_connect_state(p->ssl[1]);
	shake(p);
	EXPECT(0, attach(p));
	EXPECT(0, ocf_tls_attach(p->ssl[1], 0, bad));
}

static void messages(void)
{
	static const struct {
		int	version, type, len, times;
		uint8_t	bytes[8];
		int	want;
	} rows[] = {
		/* alerts */
		{ 0x304, 21, 2, 1, { 1, 0 }, 0 },
		{ 0x304, 21, 2, 1, { 2, 40 }, -ECONNRESET },
		{ 0x304, 21, 2, 32, { 1, 90 }, 4 },
		{ 0x304, 21, 2, 33, { 1, 90 }, -EPROTO },
		{ 0x303, 21, 2, 1, { 1, 100 }, 4 },
		{ 0x303, 21, 2, 33, { 1, 100 }, -EPROTO },
		{ 0x304, 21, 2, 1, { 1, 100 }, -ECONNRESET },
		{ 0x304, 21, 1, 1, { 1 }, -EPROTO },
		/*
		 * the first part of handshake messages: ticket, ClientHello,
		 * Finished
		 */
		{ 0x304, 22, 5, 1, { 4, 0, 0, 1, 0 }, -EPROTO },
		{ 0x304, 22, 4, 1, { 1, 0, 0, 0 }, -EPROTO },
		{ 0x303, 22, 5, 3, { 1, 0, 0, 1, 9 }, 4 },
		{ 0x303, 22, 4, 1, { 20, 0, 0, 0 }, -EPROTO },
		{ 0x303, 22, 3, 1, { 1, 0, 0 }, -EPROTO },
		{ 0x303, 22, 4, 1, { 1, 0, 0, 9 }, -EPROTO },
		{ 0x304, 22, 5, 1, { 24, 0, 0, 1, 2 }, -EPROTO },
		{ 0x304, 22, 6, 1, { 24, 0, 0, 1, 0, 4 }, -EPROTO },
		/* no such type */
		{ 0x304, 24, 1, 1, { 0 }, -EPROTO },
	};
	struct ocf_tls *bad;
	struct pair p;
	char buf[100];
	unsigned int i;
	int n;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bad_client(&p, &bad, rows[i].version);
		for (n = 0; n < rows[i].times; n++)
			EXPECT(rows[i].len,
			       ocf_socket_send(p.fd[1], rows[i].type,
					       rows[i].bytes, rows[i].len, 0));
		EXPECT(4, send(p.fd[1], "text", 4, 0));
		n = receive(&p, buf, sizeof(buf));
		if (n != rows[i].want)
			printf("row %u:\n", i);
		EXPECT(rows[i].want, n);
		/* it stays so */
		if (n <= 0)
			EXPECT(n, receive(&p, buf, sizeof(buf)));
		EXPECT(n == -ECONNRESET ? rows[i].bytes[1] : -1,
		       ocf_tls_alert(p.tls));
		ocf_tls_free(bad);
		end(&p);
	}
}

static void updates(void)
{
	struct ocf_tls *bad;
	struct pair p;
	char buf[100];
	int i;

	bad_client(&p, &bad, TLS1_3_VERSION);
	for (i = 0; i < 32; i++)
		EXPECT(0, ocf_tls_update(bad, i % 2));
	EXPECT(4, send(p.fd[1], "text", 4, 0));
	EXPECT(4, receive(&p, buf, sizeof(buf)));
	/* the socket has sent the KeyUpdates that the peer asked for */
	EXPECT(4, send(p.fd[0], "back", 4, 0));
	for (i = 0; i < 100000; i++) {
		if (ocf_tls_recv(bad, buf, sizeof(buf), 0) == 4)
			break;
		usleep(1000);
	}
	EXPECT(1, i < 100000);
	for (i = 0; i < 33; i++)
		EXPECT(0, ocf_tls_update(bad, false));
	EXPECT(-EPROTO, receive(&p, buf, sizeof(buf)));
	ocf_tls_free(bad);
	end(&p);
}

static void cut_off(void)
{
	struct pair p;
	char buf[100];

	begin(&p, TLS1_3_VERSION, 0);
	shake(&p);
	EXPECT(0, attach(&p));
	shutdown(p.fd[1], SHUT_WR);
	EXPECT(-ECONNABORTED, receive(&p, buf, sizeof(buf)));
	EXPECT(-EINVAL, ocf_tls_recv(p.tls, buf, 0, 0));
	EXPECT(-EINVAL, ocf_tls_recv(p.tls, buf, 1, MSG_PEEK));
	end(&p);
}

int main(int argc, char **argv)
{
	static void (*const tests[])(void) = {
		good_ones, after_data, not_watched, smaller_records,
		read_ahead, callback_taken_away, socket_goes_with_its_bio,
		bio_that_stays, messages, updates, cut_off,
	};
	unsigned int i;

	if (argc != 3)
		return 2;
	cert = argv[1];
	key = argv[2];
	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tests[i]();
	if (!failed)
		printf("attach: %u tests, ok\n", i);
	return failed;
}
