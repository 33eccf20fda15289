/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection of this machine with itself.
 */
#ifndef TESTS_TCP_H
#define TESTS_TCP_H

#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef TCP_ULP
#define TCP_ULP	31
#endif

/* A socket that listens, and where. */
static inline int tcp_listen(struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	*addr = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	if (bind(l, (void *)addr, len) || listen(l, 1) ||
	    getsockname(l, (void *)addr, &len))
		err(1, "listen");
	return l;
}

/* @fd[0] was accepted, @fd[1] connected. */
static inline void tcp_pair(int *fd)
{
	struct sockaddr_in addr;
	int l = tcp_listen(&addr);

	fd[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd[1], (void *)&addr, sizeof(addr)))
		err(1, "connect");
	fd[0] = accept(l, NULL, NULL);
	close(l);
}

#endif /* TESTS_TCP_H */
