// SPDX-License-Identifier: BSD-2-Clause
/*
 * Throughput over the size of an operation, of /dev/crypto, AF_ALG and OpenSSL
 * in user space, one thread, one operation at a time.
 *
 *	speed [JOB...]
 *
 * Each number is the median of ROUNDS rounds; in a round every way has its
 * turn, so that what else the host does meanwhile hits all of them.  AF_ALG is
 * used the way that bench/count found to be the cheaper, without the pipe.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "way.h"

#define ROUNDS		11
#define TURN_NS		20000000	/* of a way in a round */

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

static const struct way *const ways[] = {
	&way_devcrypto, &way_afalg, &way_openssl,
};

static const size_t lens[] = {
	64, 256, 1024, 4096, 16384, 65536, 262144, LEN_MAX,
};

/* A turn of a way; returns its MB/s. */
static double turn(const struct way *way, size_t len)
{
	uint64_t begun = now_ns(), took;
	unsigned long n = 0;

	do {
		if (!way->run())
			die(way->name);
		n++;
		took = now_ns() - begun;
	} while (took < TURN_NS);
	return n * len * 1e3 / took;
}

/* AF_ALG has AEAD in one piece only. */
static bool can(const struct way *way, const struct job *job, size_t len)
{
	if (way == &way_openssl)
		return job->openssl;
	return way != &way_afalg || job->kind != AEAD || len < 65536;
}

/* Begins them all, and sees that each comes to the right result. */
static void begin(const struct job *job, size_t len)
{
	int i;

	for (i = 0; i < COUNT(ways); i++) {
		if (!can(ways[i], job, len))
			continue;
		if (!ways[i]->begin(job))
			die(ways[i]->name);
		ways[i]->aim(job, len);
		if (!ways[i]->run())
			die(ways[i]->name);
		if (!job_check(job, len)) {
			fprintf(stderr, "%s: %s of %zu bytes is wrong\n",
				ways[i]->name, job->name, len);
			exit(1);
		}
	}
}

static void compare(const struct job *job, size_t len)
{
	static double mbps[COUNT(ways)][ROUNDS];
	int i, r;

	begin(job, len);
	for (r = 0; r < ROUNDS; r++)
		for (i = 0; i < COUNT(ways); i++)
			if (can(ways[i], job, len))
				mbps[i][r] = turn(ways[i], len);
	printf("%10zu", len);
	for (i = 0; i < COUNT(ways); i++) {
		if (!can(ways[i], job, len)) {
			printf(" %14s", "-");
			continue;
		}
		ways[i]->end();
		printf(" %14.1f", median(mbps[i], ROUNDS));
	}
	printf("\n");
	fflush(stdout);
}

static void compare_all(const struct job *job)
{
	int i;

	printf("\n%s, MB/s, median of %d rounds\n%10s", job->name, ROUNDS,
	       "bytes");
	for (i = 0; i < COUNT(ways); i++)
		printf(" %14s", ways[i]->name);
	printf("\n");
	for (i = 0; i < COUNT(lens); i++)
		compare(job, lens[i]);
}

int main(int argc, char **argv)
{
	int i;

	job_data();
	for (i = 0; i < COUNT(ways); i++)
		if (!ways[i]->init())
			die(ways[i]->name);
	if (argc > 1)
		for (i = 1; i < argc; i++)
			compare_all(job_find(argv[i]));
	else
		for (i = 0; i < njobs; i++)
			compare_all(&jobs[i]);
	return 0;
}
