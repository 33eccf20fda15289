/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One end of a connection over TLS, whose records are the library's or the
 * kernel's.
 *
 *	peer-openssl [-u] [-n] [-k N] server|client PORT VERSION SUITES CERT KEY
 *	peer-gnutls likewise, with a priority string for SUITES
 *
 *	-u	in user space: the library makes and opens the records
 *	-n	no RFC 7366
 *	-k N	new keys N times, TLS 1.3, of a client in the kernel
 *
 * The client sends what is on its standard input, in pieces of any size; the
 * server sends back all of it, reversed, and that is the client's output.
 */
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct options {
	bool		in_user_space, no_etm, server;
	int		updates;
	const char	*version, *suites, *cert, *key;
	int		fd;	/* the connection */
};

/* What a library does; all exit if they cannot. */
struct library {
	void	(*shake)(const struct options *o);
	ssize_t	(*read)(void *data, size_t size);	/* 0: close_notify */
	void	(*write)(const void *data, size_t size, bool last);
	void	(*update)(void);
	void	(*end)(void);				/* close_notify */
};

int peer(int argc, char **argv, const struct library *l);

#endif /* PEER_H */
