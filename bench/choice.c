// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the choice between the CPU and a real card is worth: AES-128-CBC by
 * /dev/crypto in three sessions.  Only the CPU may serve the first, only cards
 * the second, and the framework chooses for the third.
 *
 *	choice [THREADS...]		1 and 8 if none is named
 *
 * Operations a second, the median of ROUNDS rounds, in each of which the
 * sessions have their turns in every order.  With one thread the framework must
 * not be more than 5 % slower than the better of the other two, at any size.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <bsd/crypto/cryptodev.h>

#include "rounds.h"

#define ROUNDS		10
#define TURN_NS		60000000ull
#define LEN_MAX		65536u
#define THREADS_MAX	64
#define WORST		0.95

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

static const struct way {
	const char	*name;
	int		crid;
} ways[] = {
	{ "the CPU", CRYPTO_FLAG_SOFTWARE },
	{ "the card", CRYPTO_FLAG_HARDWARE },
	{ "either", CRYPTO_FLAG_HARDWARE | CRYPTO_FLAG_SOFTWARE },
};

/*
 * The turns of a round: the turn after a card finds the machine cold, and the
 * turn after the CPU finds it warm.
 */
static const int turns[][COUNT(ways)] = {
	{ 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 },
	{ 2, 1, 0 }, { 1, 0, 2 }, { 0, 2, 1 },
};

static const uint8_t key[16] = "sixteen bytes...";
static const uint8_t iv[16];

struct worker {
	const struct way *way;
	uint32_t	len;
	pthread_t	thread;
	int		fd;
	uint32_t	ses;
	uint8_t		*src, *dst;
	unsigned long	done;
	uint64_t	took;
};

static struct worker workers[COUNT(ways)][THREADS_MAX];

static void begin(struct worker *w, const struct way *way)
{
	struct session2_op sop = {
		.cipher = CRYPTO_AES_CBC, .keylen = sizeof(key), .key = key,
		.crid = way->crid,
	};

	w->way = way;
	w->fd = open("/dev/crypto", O_RDWR | O_CLOEXEC);
	if (w->fd < 0 || ioctl(w->fd, CIOCGSESSION2, &sop))
		die(way->name);
	w->ses = sop.ses;
	w->src = aligned_alloc(4096, LEN_MAX);
	w->dst = aligned_alloc(4096, LEN_MAX);
	if (!w->src || !w->dst)
		die("memory");
	memset(w->src, 1, LEN_MAX);
	memset(w->dst, 2, LEN_MAX);
}

static void *turn(void *arg)
{
	struct worker *w = arg;
	struct crypt_op cop = {
		.ses = w->ses, .op = COP_ENCRYPT, .len = w->len,
		.src = w->src, .dst = w->dst, .iv = iv,
	};
	uint64_t begun = now_ns();

	w->done = 0;
	do {
		if (ioctl(w->fd, CIOCCRYPT, &cop))
			die(w->way->name);
		w->done++;
		w->took = now_ns() - begun;
	} while (w->took < TURN_NS);
	return NULL;
}

/* Operations a second of all threads together */
static double turn_all(struct worker *all, int n, uint32_t len)
{
	double sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		all[i].len = len;
		if (pthread_create(&all[i].thread, NULL, turn, &all[i]))
			die("a thread");
	}
	for (i = 0; i < n; i++) {
		pthread_join(all[i].thread, NULL);
		sum += all[i].done * 1e9 / all[i].took;
	}
	return sum;
}

/*
 * Plays one round: the three sessions alternate, so that the load of the host
 * affects all of them equally.
 */
static void play(double rate[][ROUNDS], int round, int threads, uint32_t len)
{
	int i, t, way;

	for (i = 0; i < COUNT(ways); i++)
		rate[i][round] = 0;
	for (t = 0; t < COUNT(turns); t++) {
		for (i = 0; i < COUNT(ways); i++) {
			way = turns[t][i];
			rate[way][round] +=
				turn_all(workers[way], threads, len) /
				COUNT(turns);
		}
	}
}

/* The same to the last bit on every device */
static bool all_the_same(uint32_t len)
{
	return !memcmp(workers[0]->dst, workers[1]->dst, len) &&
	       !memcmp(workers[0]->dst, workers[2]->dst, len);
}

/* Returns the rate of "either", divided by the better rate of the other two. */
static double compare(int threads, uint32_t len)
{
	double rate[COUNT(ways)][ROUNDS], middle[COUNT(ways)], best;
	int r, i;

	/*
	 * the first round is thrown away: in it the framework learns the costs
	 */
	for (r = -1; r < ROUNDS; r++)
		play(rate, r < 0 ? 0 : r, threads, len);
	if (!all_the_same(len)) {
		fprintf(stderr, "choice: results differ\n");
		exit(2);
	}
	printf("%10u", len);
	for (i = 0; i < COUNT(ways); i++) {
		middle[i] = median(rate[i], ROUNDS);
		printf(" %12.0f", middle[i]);
	}
	best = middle[0] > middle[1] ? middle[0] : middle[1];
	printf(" %11.1f%%\n", middle[2] * 100 / best);
	fflush(stdout);
	return middle[2] / best;
}

static bool table(int threads)
{
	double worst = 1, part;
	uint32_t len;
	int i;

	printf("\nAES-128-CBC, operations/s, %d rounds, threads: %d\n", ROUNDS,
	       threads);
	printf("%10s", "bytes");
	for (i = 0; i < COUNT(ways); i++)
		printf(" %12s", ways[i].name);
	printf(" %12s\n", "of better");
	for (len = 64; len <= LEN_MAX; len *= 2) {
		part = compare(threads, len);
		if (part < worst)
			worst = part;
	}
	return threads > 1 || worst >= WORST;
}

int main(int argc, char **argv)
{
	bool good = true;
	int i, j, n;

	for (i = 0; i < COUNT(ways); i++)
		for (j = 0; j < THREADS_MAX; j++)
			begin(&workers[i][j], &ways[i]);
	if (argc < 2)
		good = table(1) & table(8);
	for (i = 1; i < argc; i++) {
		n = atoi(argv[i]);
		if (n < 1 || n > THREADS_MAX) {
			fprintf(stderr, "choice: 1 to %d threads\n",
				THREADS_MAX);
			return 2;
		}
		good &= table(n);
	}
	return !good;
}
