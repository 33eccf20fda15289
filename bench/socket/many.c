// SPDX-License-Identifier: BSD-2-Clause
/*
 * What many connections together get out of several cards.
 *
 *	bench/socket/many CARDS NS	make bench-socket
 *
 * Runs in the test machine, under --icount, with CARDS cards, each of which
 * takes NS ns for a record.  Processes send files by SO_CRYPT, all at once.
 * The first round is discarded, the best of ROUNDS counts.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "way.h"

#define ROUNDS		3
#define MIB		64	/* of all together */
#define MOST		64	/* connections */

static const struct way *way = &ways[WAY_SO_CRYPT];

static void send_one(struct link *l, int start)
{
	char go;

	if (read(start, &go, 1) != 1)
		err(1, "start");
	way->send(l, 0);
	_exit(0);
}

static uint64_t send_all(int file, unsigned int n)
{
	struct link l = { .suite = &suite_gcm, .cards = true, .file = file,
			  .size = (size_t)(MIB / n) << 20 };
	pid_t peers[MOST], senders[MOST];
	static const char go[MOST];
	uint64_t begun;
	unsigned int i;
	int start[2];

	if (pipe(start))
		err(1, "pipe");
	for (i = 0; i < n; i++) {
		peers[i] = link_open(&l, way);
		senders[i] = fork();
		if (!senders[i])
			send_one(&l, start[0]);
		close(l.to);
	}
	begun = __rdtsc();
	if (write(start[1], go, n) != (ssize_t)n)
		err(1, "start");
	for (i = 0; i < n; i++) {
		link_wait(senders[i]);
		link_wait(peers[i]);
	}
	begun = __rdtsc() - begun;
	close(start[0]);
	close(start[1]);
	return begun;
}

int main(int argc, char **argv)
{
	int file, n, r;

	if (argc != 3)
		errx(2, "CARDS NS");
	link_prepare();
	file = link_file(MIB);
	printf("%s cards, connections at once: MiB/s, of the cards' sum\n",
	       argv[1]);
	for (n = 1; n <= MOST; n *= 4) {
		uint64_t least = UINT64_MAX, took;
		/*
		 * sum: MiB/s of all cards, each of which takes argv[2] ns for a
		 * record; 64 records of 16 KiB are a MiB
		 */
		double rate, sum = atoi(argv[1]) * 1e9 / 64 / atoi(argv[2]);

		for (r = 0; r <= ROUNDS; r++) {
			took = send_all(file, n);
			if (r && took < least)
				least = took;
		}
		rate = MIB * 1e9 / least;
		printf("  %2d %8.1f %6.1f %%\n", n, rate, rate * 100 / sum);
		fflush(stdout);
	}
	return 0;
}
