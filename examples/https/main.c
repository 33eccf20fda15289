// SPDX-License-Identifier: BSD-2-Clause
/*
 * A server of files over TLS.  OpenSSL shakes hands; then the socket is the
 * kernel's: files are sent by sendfile(), so their bytes never reach this
 * program.  One thread, as many connections as there are descriptors.
 *
 *	https [-p PORT] [-t SECONDS] [-h | -s] FOLDER CERTIFICATE KEY
 *
 *	-t	a connection may take to shake hands, ask, or take a piece: 60
 *	-h	on cards only, -s: on the CPU only; else where it is soonest
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <ocf/tls.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http.h"

#define PIECE	(1 << 20)	/* bytes sent before others have their turn */

enum state {
	SHAKING,	/* hands */
	READING,	/* a request */
	SENDING,	/* an answer */
	ENDING,		/* all is sent; close_notify is to be sent */
	/* close_notify was sent; waits until the peer has closed its side */
	CLOSING,
};

/* What became of a step. */
enum outcome {
	GOES_ON,
	WAITS,		/* for what conn.events says */
	ENDS,
};

/**
 * struct conn - a connection
 * @node: in conns, the one with the latest progress at the end
 * @fd: its socket
 * @state: handshake, request or answer
 * @events: the events of poll() that it waits for
 * @heard: the time of its last progress: a new state, or data sent
 * @ssl: during the handshake
 * @tls: after the handshake
 * @answer: the answer that is being sent
 * @head_sent: bytes of the answer's header that were sent
 * @in: received data that were not answered yet
 * @have: bytes in @in
 */
struct conn {
	TAILQ_ENTRY(conn)	node;
	int			fd;
	enum state		state;
	uint32_t		events;
	time_t			heard;
	SSL			*ssl;
	struct ocf_tls		*tls;
	struct answer		answer;
	size_t			head_sent;
	char			in[8192];
	size_t			have;
};

static TAILQ_HEAD(conns, conn) conns = TAILQ_HEAD_INITIALIZER(conns);
static int epoll, root, listener;
static bool is_full;		/* no descriptors: nobody is welcome */
static SSL_CTX *ctx;
static unsigned int where;	/* SO_CRYPT_HARDWARE, ... */
static time_t patience = 60;	/* seconds */

static time_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec;
}

static enum outcome wait_for(struct conn *c, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = c };

	if (c->events != events) {
		c->events = events;
		epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &e);
	}
	return WAITS;
}

static void listen_again(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	is_full = epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e);
}

static void end(struct conn *c)
{
	TAILQ_REMOVE(&conns, c, node);
	if (c->answer.file >= 0)
		close(c->answer.file);
	SSL_free(c->ssl);
	ocf_tls_free(c->tls);
	close(c->fd);
	free(c);
	if (is_full)
		listen_again();
}

/* ---- steps ---- */

static enum outcome shake(struct conn *c)
{
	int n, e;

	ERR_clear_error();
	n = SSL_accept(c->ssl);
	if (n <= 0) {
		e = SSL_get_error(c->ssl, n);
		return e == SSL_ERROR_WANT_READ ? wait_for(c, EPOLLIN) :
		       e == SSL_ERROR_WANT_WRITE ? wait_for(c, EPOLLOUT) : ENDS;
	}
	e = ocf_tls_attach(c->ssl, where, &c->tls);
	if (e == -ENOTCONN)
		return ENDS;	/* it is gone already */
	if (e) {
		fprintf(stderr, "https: %s %s: %s\n", SSL_get_version(c->ssl),
			SSL_get_cipher(c->ssl), strerror(-e));
		return ENDS;
	}
	SSL_free(c->ssl);
	c->ssl = NULL;
	c->state = READING;
	return GOES_ON;
}

/* Answers the first request there is. */
static void answer(struct conn *c, size_t size)
{
	char after = c->in[size];

	c->in[size] = 0;
	http_answer(root, c->in, &c->answer);
	c->in[size] = after;
	c->have -= size;
	memmove(c->in, c->in + size, c->have);
}

static enum outcome read_request(struct conn *c)
{
	size_t size = http_request_size(c->in, c->have);
	ssize_t n;

	if (size) {
		answer(c, size);
	} else if (c->have == sizeof(c->in) - 1) {
		c->have = 0;
		http_refuse(431, &c->answer);
	} else {
		n = ocf_tls_recv(c->tls, c->in + c->have,
				 sizeof(c->in) - 1 - c->have, MSG_DONTWAIT);
		if (n == -EAGAIN)
			return wait_for(c, EPOLLIN);
		if (n <= 0)
			return ENDS;
		c->have += n;
		return GOES_ON;
	}
	c->head_sent = 0;
	c->state = SENDING;
	return GOES_ON;
}

static enum outcome blocked(struct conn *c)
{
	return errno == EAGAIN ? wait_for(c, EPOLLOUT) :
	       errno == EINTR ? GOES_ON : ENDS;
}

static enum outcome send_answer(struct conn *c)
{
	struct answer *a = &c->answer;
	ssize_t n;

	if (c->head_sent < a->head_len) {
		n = send(c->fd, a->head + c->head_sent,
			 a->head_len - c->head_sent,
			 MSG_NOSIGNAL | (a->size ? MSG_MORE : 0));
		c->head_sent += n > 0 ? n : 0;
		return n < 0 ? blocked(c) : GOES_ON;
	}
	if (a->size) {
		n = sendfile(c->fd, a->file, &a->from,
			     a->size < PIECE ? a->size : PIECE);
		if (n < 0)
			return blocked(c);
		a->size -= n;
		/*
		 * the program that cut the file short has cut the connection
		 * short
		 */
		return n ? GOES_ON : ENDS;
	}
	if (a->file >= 0)
		close(a->file);
	a->file = -1;
	c->state = READING;
	if (a->keep)
		return GOES_ON;
	c->state = ENDING;
	return GOES_ON;
}

static enum outcome say_end(struct conn *c)
{
	int e = ocf_tls_close_notify(c->tls);

	if (e)
		return e == -EAGAIN ? wait_for(c, EPOLLOUT) : ENDS;
	shutdown(c->fd, SHUT_WR);
	c->state = CLOSING;
	return GOES_ON;
}

/* What was sent is lost if the socket is closed with something unread. */
static enum outcome see_it_off(struct conn *c)
{
	ssize_t n = ocf_tls_recv(c->tls, c->in, sizeof(c->in), MSG_DONTWAIT);

	return n > 0 ? GOES_ON : n == -EAGAIN ? wait_for(c, EPOLLIN) : ENDS;
}

static void step(struct conn *c)
{
	static enum outcome (*const steps[])(struct conn *c) = {
		[SHAKING] = shake, [READING] = read_request,
		[SENDING] = send_answer, [ENDING] = say_end,
		[CLOSING] = see_it_off,
	};
	enum state before = c->state;
	int turns = 16;
	enum outcome o;

	do
		o = steps[c->state](c);
	while (o == GOES_ON && --turns);
	if (o == ENDS) {
		end(c);
		return;
	}
	if (o == GOES_ON)
		wait_for(c, EPOLLIN | EPOLLOUT);	/* at once */
	if (c->state == before && before != SENDING)
		return;
	c->heard = seconds();
	TAILQ_REMOVE(&conns, c, node);
	TAILQ_INSERT_TAIL(&conns, c, node);
}

/* ---- beginning ---- */

static void welcome(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct conn *c;
	int fd, one = 1;

	while ((fd = accept4(listener, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		c = calloc(1, sizeof(*c));
		if (!c)
			goto close;
		c->ssl = SSL_new(ctx);
		if (!c->ssl || !SSL_set_fd(c->ssl, fd))
			goto free;
		c->fd = fd;
		c->answer.file = -1;
		c->events = e.events;
		c->heard = seconds();
		e.data.ptr = c;
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e))
			goto free;
		TAILQ_INSERT_TAIL(&conns, c, node);
		continue;
free:
		SSL_free(c->ssl);
		free(c);
close:
		close(fd);
	}
	/*
	 * the listener would be ready all the time, although nothing can be
	 * accepted
	 */
	if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED &&
	    !TAILQ_EMPTY(&conns))
		is_full = !epoll_ctl(epoll, EPOLL_CTL_DEL, listener, NULL);
}

static void end_idle(void)
{
	struct conn *c;

	while ((c = TAILQ_FIRST(&conns)) && seconds() - c->heard > patience)
		end(c);
}

static int listen_on(int port)
{
	struct sockaddr_in6 addr = {
		.sin6_family = AF_INET6, .sin6_port = htons(port),
	};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			0);
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (void *)&addr, sizeof(addr)) ||
	    listen(fd, 4096))
		err(1, "port %d", port);
	return fd;
}

static void prepare(const char *certificate, const char *key)
{
	struct rlimit files;

	signal(SIGPIPE, SIG_IGN);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	ctx = SSL_CTX_new(TLS_server_method());
	if (!ctx || ocf_tls_context(ctx) ||
	    SSL_CTX_use_certificate_chain_file(ctx, certificate) != 1 ||
	    SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1) {
		ERR_print_errors_fp(stderr);
		exit(1);
	}
}

static void serve(void)
{
	struct epoll_event events[256];
	int i, n;

	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		err(1, "epoll");
	listen_again();
	for (;;) {
		n = epoll_wait(epoll, events, 256, 1000);
		for (i = 0; i < n; i++) {
			if (events[i].data.ptr)
				step(events[i].data.ptr);
			else
				welcome();
		}
		end_idle();
	}
}

int main(int argc, char **argv)
{
	int c, port = 4433;

	while ((c = getopt(argc, argv, "p:t:hs")) != -1) {
		if (c == 'p')
			port = atoi(optarg);
		else if (c == 't')
			patience = atoi(optarg);
		else if (c == 'h')
			where = SO_CRYPT_HARDWARE;
		else if (c == 's')
			where = SO_CRYPT_SOFTWARE;
		else
			return 2;
	}
	if (argc - optind != 3)
		errx(2, "https [OPTION]... FOLDER CERTIFICATE KEY");
	root = open(argv[optind], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		err(1, "%s", argv[optind]);
	prepare(argv[optind + 1], argv[optind + 2]);
	listener = listen_on(port);
	serve();
}
