// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sends datagrams between two network namespaces, so many at a time.
 *
 *	flow FROM ADDRESS TO ADDRESS SIZE WINDOW MS WARM_MS
 *
 * FROM and TO are files of namespaces.  Whenever a datagram arrives the next is
 * sent.  Prints a line of JSON: how many datagrams were sent and how many
 * arrived in the last MS, and how many came late or were lost in the whole run.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT	7777
#define LOST_MS	200		/* of silence: what is under way was lost */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int socket_in(const char *file, const char *address)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
				   .sin_port = htons(PORT) };
	int ns = open(file, O_RDONLY), room = 4 << 20, s;

	if (ns < 0 || setns(ns, CLONE_NEWNET))
		err(1, "%s", file);
	close(ns);
	s = socket(AF_INET, SOCK_DGRAM, 0);
	if (s < 0 || inet_pton(AF_INET, address, &sin.sin_addr) != 1 ||
	    bind(s, (struct sockaddr *)&sin, sizeof(sin)))
		err(1, "%s", address);
	setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	return s;
}

static void say(const char *before, const char *name, uint64_t n)
{
	printf("%s\"%s\": %llu", before, name, (unsigned long long)n);
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	uint64_t sent = 0, got = 0, late = 0, lost = 0, next = 0, number;
	uint64_t begin, warm, end, from = 0, sent_before = 0, got_before = 0;
	int size, window, flying = 0, a, b;
	struct pollfd ready;
	char *packet;
	ssize_t n;

	if (argc != 9)
		errx(2, "its arguments are at the head of flow.c");
	size = atoi(argv[5]);
	window = atoi(argv[6]);
	packet = calloc(1, size);
	a = socket_in(argv[1], argv[2]);
	b = socket_in(argv[3], argv[4]);
	inet_pton(AF_INET, argv[4], &to.sin_addr);
	if (!packet || connect(a, (struct sockaddr *)&to, sizeof(to)))
		err(1, "%s", argv[4]);
	ready = (struct pollfd){ .fd = b, .events = POLLIN };
	begin = now_ns();
	warm = begin + atoi(argv[8]) * 1000000ull;
	end = warm + atoi(argv[7]) * 1000000ull;
	while (now_ns() < end) {
		if (!from && now_ns() >= warm) {
			from = now_ns();
			sent_before = sent;
			got_before = got;
		}
		for (; flying < window; flying++) {
			memcpy(packet, &sent, sizeof(sent));
			/* the tunnel says so when it has no room */
			if (send(a, packet, size, 0) < 0 && errno != ENOBUFS &&
			    errno != ENOSPC)
				err(1, "send");
			sent++;
		}
		if (!poll(&ready, 1, LOST_MS)) {
			lost += flying;
			flying = 0;
			continue;
		}
		while ((n = recv(b, packet, size, MSG_DONTWAIT)) == size) {
			memcpy(&number, packet, sizeof(number));
			late += number < next;
			next = number < next ? next : number + 1;
			got++;
			flying--;
		}
	}
	say("{", "ns", now_ns() - from);
	say(", ", "sent", sent - sent_before);
	say(", ", "got", got - got_before);
	say(", ", "late", late);
	say(", ", "lost", lost);
	puts("}");
	return 0;
}
