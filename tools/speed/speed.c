// SPDX-License-Identifier: BSD-2-Clause
/*
 * What ocfspeed(8) measures with: one kind of work by one way.
 *
 *	ocf-speed WAY MODE CIPHER MAC KEYLEN MACKEYLEN DEVICE DEPTH DIRECTION
 *
 * "-" stands for none, and a length of 0 for the algorithm's own.  A public-key
 * operation is MODE "public" with its name as CIPHER, bits as KEYLEN; and MODE
 * "-" stands for the mode that the single algorithm CIPHER belongs to.
 *
 * It prints "ready MODE KEYLEN MACKEYLEN" and reads lines of "BYTES NS"; for
 * each line it works for NS ns on pieces of BYTES bytes, and prints "done
 * OPERATIONS NS".  The first results are compared with OpenSSL's.  What fails
 * is "error ERRNO TEXT".
 */
#include <errno.h>
#include <ocf/crypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "way.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const struct way *const ways[] = {
	&way_run, &way_vector, &way_uring, &way_fixed, &way_submit,
	&way_linux, &way_linux_async, &way_bsd, &way_afalg, &way_afalg_splice,
	&way_openssl,
};

static const struct way *const public_ways[] = {
	&way_public_run, &way_public_uring, &way_public_submit,
	&way_public_openssl,
};

static const char *const modes[OCF_MODE_COUNT] = {
	[OCF_MODE_NONE]		= "public",
	[OCF_MODE_CIPHER]	= "cipher",
	[OCF_MODE_DIGEST]	= "digest",
	[OCF_MODE_AEAD]		= "aead",
	[OCF_MODE_ETA]		= "eta",
	[OCF_MODE_MTE]		= "mte",
	[OCF_MODE_CHAIN]	= "chain",
	[OCF_MODE_COMPRESS]	= "compress",
};

static void __attribute__((noreturn)) fail(int err)
{
	printf("error %d %s\n", err, ocf_strerror(-err));
	fflush(stdout);
	exit(1);
}

static const struct way *find_way(const char *name, bool public)
{
	const struct way *const *from = public ? public_ways : ways;
	size_t i, n = public ? COUNT(public_ways) : COUNT(ways);

	for (i = 0; i < n; i++)
		if (!strcmp(from[i]->name, name))
			return from[i];
	fail(EOPNOTSUPP);
}

/* Of an algorithm by its type */
static const enum ocf_mode own_mode[] = {
	[OCF_ALGORITHM_CIPHER]		= OCF_MODE_CIPHER,
	[OCF_ALGORITHM_AEAD]		= OCF_MODE_AEAD,
	[OCF_ALGORITHM_DIGEST]		= OCF_MODE_DIGEST,
	[OCF_ALGORITHM_MAC]		= OCF_MODE_DIGEST,
	[OCF_ALGORITHM_COMPRESSION]	= OCF_MODE_COMPRESS,
};

static enum ocf_mode find_mode(const char *name)
{
	unsigned int i;

	if (!strcmp(name, "-"))
		return OCF_MODE_COUNT;
	for (i = 0; i < OCF_MODE_COUNT; i++)
		if (!strcmp(modes[i], name))
			return i;
	fail(EINVAL);
}

static const char *word(const char *given)
{
	return strcmp(given, "-") ? given : "";
}

static void find_algorithm(struct ocf *ocf, const char *name,
			   struct ocf_algorithm *a)
{
	int err = ocf_algorithm(ocf, name, a);

	if (err)
		fail(-err);
}

/* Finds the mode of the single algorithm that was given as CIPHER */
static void find_own_mode(struct ocf *ocf, struct work *w)
{
	struct ocf_algorithm a;

	find_algorithm(ocf, w->cipher, &a);
	if (a.type >= COUNT(own_mode))
		fail(EOPNOTSUPP);
	w->mode = own_mode[a.type];
	if (w->mode != OCF_MODE_DIGEST)
		return;
	w->mac = w->cipher;
	w->mackeylen = w->keylen;
	w->cipher = "";
	w->keylen = 0;
}

/* What the kernel knows of the algorithms */
static void look_up(struct work *w)
{
	struct ocf_algorithm a;
	struct ocf *ocf;
	int err = ocf_open(&ocf);

	if (err)
		fail(-err);
	if (w->mode == OCF_MODE_COUNT)
		find_own_mode(ocf, w);
	w->block = 1;
	if (*w->cipher) {
		find_algorithm(ocf, w->cipher, &a);
		w->keylen = w->keylen ?: a.key_min;
		w->ivlen = a.iv;
		w->block = a.block;
		w->maclen = a.digest;
	}
	if (*w->mac) {
		find_algorithm(ocf, w->mac, &a);
		/* HMAC takes any key: as long as its result (RFC 2104, 3) */
		if (!w->mackeylen && a.type == OCF_ALGORITHM_MAC)
			w->mackeylen = a.key_min > 1 || a.key_max < a.digest ?
					a.key_min : a.digest;
		w->maclen = a.digest;
		if (!*w->cipher)
			w->ivlen = a.iv;
	}
	ocf_close(ocf);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/*
 * Prepares @way for data of @len bytes, and checks one result.  The session is
 * a new one, because OpenSSL, which may be @way itself, computes the right
 * result before.
 */
static void begin(const struct way *way, const struct work *w, size_t len)
{
	bool public = w->mode == OCF_MODE_NONE;

	if (!public) {
		way->end();
		lay_out(len, DEPTH_MAX);
		if (data_prepare(w, len) < 0)
			fail(EOPNOTSUPP);
		if (!way->begin(w))
			fail(errno);
	}
	if (!way->aim(w, len) || !way->run())
		fail(errno);
	way->drain();
	if (!public && !data_right(w, len))
		fail(EBADMSG);
}

static void measure(const struct way *way, uint64_t ns)
{
	uint64_t begun = now_ns(), took;
	unsigned long all = 0;
	unsigned int n;

	do {
		n = way->run();
		if (!n)
			fail(errno);
		all += n;
		took = now_ns() - begun;
	} while (took < ns);
	all += way->drain();
	printf("done %lu %lu\n", all, now_ns() - begun);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct work w = {};
	const struct way *way;
	size_t len, last = SIZE_MAX;
	uint64_t ns;

	if (argc != 10) {
		fputs("this is for ocfspeed(8)\n", stderr);
		return 2;
	}
	w.mode = find_mode(argv[2]);
	way = find_way(argv[1], w.mode == OCF_MODE_NONE);
	w.cipher = word(argv[3]);
	if (w.mode == OCF_MODE_COUNT && !*w.cipher)
		fail(EINVAL);
	w.mac = word(argv[4]);
	w.keylen = strtoul(argv[5], NULL, 10);
	w.mackeylen = strtoul(argv[6], NULL, 10);
	w.device = word(argv[7]);
	w.depth = strtoul(argv[8], NULL, 10);
	w.decrypt = !strcmp(argv[9], "decrypt");
	if (!data_init())
		fail(EIO);
	if (!w.depth || w.depth > DEPTH_MAX || w.keylen > 8192 ||
	    w.mackeylen > KEY_MAX)
		fail(EINVAL);
	if (w.mode != OCF_MODE_NONE) {
		look_up(&w);
		if (w.keylen > KEY_MAX)
			fail(EINVAL);
	}
	if (!way->find(&w) || !way->begin(&w))
		fail(errno);
	printf("ready %s %zu %zu\n", modes[w.mode], w.keylen, w.mackeylen);
	fflush(stdout);
	while (scanf("%zu %lu", &len, &ns) == 2) {
		if (len > LEN_MAX || (!len && w.mode != OCF_MODE_NONE))
			fail(EINVAL);
		if (len != last)
			begin(way, &w, len);
		last = len;
		measure(way, ns);
	}
	way->end();
	return 0;
}
