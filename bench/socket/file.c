// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cost of a file over a connection, encrypted in each way there is.  This
 * is figure 7 of the paper on SO_CRYPT, with its traditional path, and today's
 * other ways beside it.
 *
 *	bench/socket/file cpu|cards [MIB...]	make bench-socket
 *
 * In the test machine, under --icount: the time-stamp counter counts
 * instructions of the whole machine.  While the machine is idle because it
 * waits for a card, the counter goes up by one each nanosecond.  The file is on
 * tmpfs; the receiver neither copies nor decrypts.  The first round is
 * discarded.  The result is the lowest of the next ROUNDS rounds.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <x86intrin.h>

#include "way.h"

#define ROUNDS		3
#define SIZES_MAX	8

static int file;

static uint64_t send_once(const struct way *w, const struct suite *s,
			  bool cards, size_t size)
{
	struct link l = { .suite = s, .cards = cards, .file = file,
			  .size = size };
	uint64_t begun, took;
	pid_t pid = link_open(&l, w);

	begun = __rdtsc();
	w->send(&l, w->buffer);
	shutdown(l.to, SHUT_WR);
	link_wait(pid);
	took = __rdtsc() - begun;
	if (w->end)
		w->end(&l);
	close(l.to);
	return took;
}

static void tell(const struct way *w, const double *cost, int n)
{
	int i;

	if (w->buffer)
		printf("  %-30s %4zu KiB", w->name, w->buffer >> 10);
	else
		printf("  %-39s", w->name);
	for (i = 0; i < n; i++)
		printf(" %8.3f", cost[i]);
	printf("\n");
}

static void table(const struct suite *s, bool cards, const size_t *mib, int n)
{
	uint64_t least[WAYS][SIZES_MAX], took;
	double cost[SIZES_MAX];
	int r, i, w;

	printf("%s, by %s: %s a byte\n%41s", s->name,
	       cards ? "a card" : "the CPU", cards ? "ns" : "instructions", "");
	for (i = 0; i < n; i++)
		printf(" %4zu MiB", mib[i]);
	printf("\n");
	memset(least, 0xff, sizeof(least));
	for (r = 0; r <= ROUNDS; r++)
		for (w = 0; w < WAYS; w++)
			for (i = 0; ways[w].knows(s, cards) && i < n; i++) {
				took = send_once(&ways[w], s, cards,
						 mib[i] << 20);
				if (r && took < least[w][i])
					least[w][i] = took;
			}
	for (w = 0; w < WAYS; w++) {
		for (i = 0; i < n; i++)
			cost[i] = (double)least[w][i] / (mib[i] << 20);
		if (ways[w].knows(s, cards))
			tell(&ways[w], cost, n);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	size_t mib[SIZES_MAX] = { 1, 10, 100 }, most = 100;
	int i, n = 3;
	bool cards;

	if (argc < 2 || argc > 2 + SIZES_MAX)
		errx(2, "cpu|cards [MIB...]");
	cards = !strcmp(argv[1], "cards");
	if (argc > 2) {
		n = argc - 2;
		for (i = most = 0; i < n; i++) {
			mib[i] = atoi(argv[2 + i]);
			most = mib[i] > most ? mib[i] : most;
		}
	}
	link_prepare();
	file = link_file(most);
	table(&suite_gcm, cards, mib, n);
	table(cards ? &suite_3des : &suite_cbc, cards, mib, n);
	return 0;
}
