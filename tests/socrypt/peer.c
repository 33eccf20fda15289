// SPDX-License-Identifier: BSD-2-Clause
/*
 * One end of a connection over TLS: peer.h.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "peer.h"

#define PIECE	40000	/* bytes, at most */

struct bytes {
	uint8_t	*at;
	size_t	len;
};

static int connect_to(int port, bool server)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, c;

	if (!server) {
		if (connect(fd, (void *)&addr, sizeof(addr)))
			err(1, "connect");
		return fd;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (void *)&addr, sizeof(addr)) || listen(fd, 1))
		err(1, "listen");
	if (write(1, "", 1) != 1)	/* a test that waits for us reads it */
		err(1, "stdout");
	c = accept(fd, NULL, NULL);
	close(fd);
	return c;
}

static struct bytes read_file(int fd)
{
	struct bytes b = {};
	ssize_t n;

	do {
		b.at = realloc(b.at, b.len + (1 << 20));
		n = read(fd, b.at + b.len, 1 << 20);
		b.len += n > 0 ? n : 0;
	} while (n > 0);
	return b;
}

static void write_pieces(const struct library *l, const struct bytes *b,
			 int updates)
{
	size_t at = 0, n, each = updates ? b->len / (updates + 1) + 1 : b->len;

	while (at < b->len) {
		n = 1 + random() % (random() % 2 ? PIECE : 500);
		n = n < b->len - at ? n : b->len - at;
		l->write(b->at + at, n, at + n == b->len);
		if ((at + n) / each > at / each && updates-- > 0)
			l->update();
		at += n;
	}
}

static void read_pieces(const struct library *l, struct bytes *b)
{
	size_t at = 0, n;
	ssize_t got;

	while (at < b->len) {
		n = 1 + random() % PIECE;
		got = l->read(b->at + at, n < b->len - at ? n : b->len - at);
		if (!got)
			errx(1, "%zu of %zu bytes came", at, b->len);
		at += got;
	}
}

static void read_end(const struct library *l)
{
	char c;

	if (l->read(&c, 1))
		errx(1, "bytes came instead of the end");
}

static void serve(const struct library *l)
{
	struct bytes size = { malloc(8), 8 }, b;
	uint64_t n;
	size_t i;
	uint8_t c;

	read_pieces(l, &size);
	memcpy(&n, size.at, 8);
	b = (struct bytes){ malloc(n + 1), n };
	read_pieces(l, &b);
	for (i = 0; i < n / 2; i++) {
		c = b.at[i];
		b.at[i] = b.at[n - 1 - i];
		b.at[n - 1 - i] = c;
	}
	write_pieces(l, &b, 0);
	l->end();
	read_end(l);
}

static void ask(const struct library *l, int updates)
{
	struct bytes b = read_file(0);
	uint64_t n = b.len;
	size_t at = 0;
	ssize_t done;

	l->write(&n, sizeof(n), true);
	write_pieces(l, &b, updates);
	read_pieces(l, &b);
	while (at < b.len) {
		done = write(1, b.at + at, b.len - at);
		if (done <= 0)
			err(1, "stdout");
		at += done;
	}
	read_end(l);
	l->end();
}

int peer(int argc, char **argv, const struct library *l)
{
	struct timeval soon = { .tv_sec = 200 };
	struct options o = {};
	int c;

	while ((c = getopt(argc, argv, "unk:")) != -1) {
		if (c == 'u')
			o.in_user_space = true;
		else if (c == 'n')
			o.no_etm = true;
		else if (c == 'k')
			o.updates = atoi(optarg);
		else
			return 2;
	}
	if (argc - optind != 6)
		return 2;
	argv += optind;
	srandom(getpid());
	signal(SIGPIPE, SIG_IGN);
	o.server = !strcmp(argv[0], "server");
	o.version = argv[2];
	o.suites = argv[3];
	o.cert = argv[4];
	o.key = argv[5];
	o.fd = connect_to(atoi(argv[1]), o.server);
	setsockopt(o.fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	l->shake(&o);
	if (o.server)
		serve(l);
	else
		ask(l, o.updates);
	return 0;
}
