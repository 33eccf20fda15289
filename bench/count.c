// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counts the instructions of operations, where the time-stamp counter counts
 * those (tests/vm/run --icount): each count is the least of 256 rounds, after
 * 64 rounds to warm up.  Prints lines of "NAME COUNT", for bench/budgets.
 *
 *	count [NAME...]
 *
 * With names only those counts that begin with one of them.  Without
 * /dev/bench_floor there is no floor.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <crypto/cryptodev.h>

#include "../tools/speed/way.h"
#include "floor/floor.h"
#include "native.h"
#include "rounds.h"

#define WARM	64
#define ROUNDS	256

/*
 * The offset of the kernel stack in each system call comes from the low bits of
 * the time-stamp counter, and memcpy() chooses its direction by the addresses.
 * So perhaps only one offset in sixteen gives the least count.  Rounds that
 * come at regular intervals would meet always the same offsets; these do not,
 * and are enough to meet all.
 */
static void pause_for(int n)
{
	volatile int i;

	for (i = 0; i < n; i++)
		;
}

/* The least number of instructions that @expr takes; it must be true. */
#define LEAST(expr) ({							\
	uint64_t least_ = UINT64_MAX, begun_, took_;			\
	int i_;								\
	for (i_ = 0; i_ < WARM + ROUNDS; i_++) {			\
		pause_for(i_);						\
		begun_ = __rdtsc();					\
		if (!(expr))						\
			die(#expr);					\
		took_ = __rdtsc() - begun_;				\
		if (i_ >= WARM && took_ < least_)			\
			least_ = took_;					\
	}								\
	least_;								\
})

#define CIPHER(cipher_, keylen_, ivlen_, block_)			\
	{ .mode = OCF_MODE_CIPHER, .cipher = (cipher_), .mac = "",	\
	  .device = "", .keylen = (keylen_), .ivlen = (ivlen_),		\
	  .block = (block_) }
#define DIGEST(mac_, keylen_)						\
	{ .mode = OCF_MODE_DIGEST, .cipher = "", .mac = (mac_),		\
	  .device = "", .mackeylen = (keylen_), .maclen = 32, .block = 1 }

/* 0 at the end of lengths; a page boundary is where pinning may begin. */
static const struct job {
	const char	*name;
	struct work	work;
	size_t		lens[6];
} jobs[] = {
	{ "null", CIPHER("null", 0, 0, 1), { 64, 256, 1024, 4096, 16384 } },
	{ "aes-128-cbc", CIPHER("aes-cbc", 16, 16, 16),
	  { 64, 1024, 4096, 16384 } },
	{ "aes-128-gcm",
	  { .mode = OCF_MODE_AEAD, .cipher = "aes-gcm", .mac = "",
	    .device = "", .keylen = 16, .ivlen = 12, .maclen = 16,
	    .block = 1 }, { 64, 16384 } },
	{ "sha256", DIGEST("sha256", 0), { 64, 16384 } },
	{ "hmac-sha256", DIGEST("hmac-sha256", 32), { 64, 16384 } },
};

static const struct {
	const char		*name;
	const struct way	*way;
	bool			copy;
} ways[] = {
	{ "devcrypto", &way_linux, false },
	{ "devcrypto-copy", &way_linux, true },
	{ "afalg", &way_afalg, false },
	{ "afalg-splice", &way_afalg_splice, false },
};

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

static char **wanted;

__attribute__((format(printf, 1, 2)))
static const char *name_of(const char *fmt, ...)
{
	static char name[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	return name;
}

static bool is_wanted(const char *name)
{
	char **w;

	for (w = wanted; *w; w++)
		if (!strncmp(name, *w, strlen(*w)))
			return true;
	return !*wanted;
}

/*
 * Always uses the same buffers, so that their addresses do not change the
 * count.
 */
static void count_job(const char *as, const struct way *way,
		      const struct job *job, const struct work *work,
		      size_t len)
{
	const char *name = name_of("%s/%s/%zu", as, job->name, len);
	uint64_t n;

	if (!is_wanted(name))
		return;
	lay_out(len, 1);
	if (data_prepare(work, len) < 0 || !way->find(work) ||
	    !way->begin(work) || !way->aim(work, len))
		die(name);
	n = LEAST(way->run());
	if (!data_right(work, len)) {
		fprintf(stderr, "%s: the result is wrong\n", name);
		exit(1);
	}
	way->end();
	printf("%s %lu\n", name, n);
}

static void count_session(const char *as, const struct way *way,
			  const struct job *job)
{
	const char *name = name_of("%s/session/%s", as, job->name);

	if (is_wanted(name) && way->find(&job->work))
		printf("%s %lu\n", name, LEAST(way->begin(&job->work) &&
						(way->end(), true)));
}

static void count_way(const char *as, const struct way *way, bool copy)
{
	const size_t *len;
	int i;

	for (i = 0; i < COUNT(jobs); i++) {
		struct work work = jobs[i].work;

		work.copy = copy;
		if (way == &way_afalg_splice && work.mode != OCF_MODE_CIPHER)
			continue;
		for (len = jobs[i].lens; *len; len++)
			count_job(as, way, &jobs[i], &work, *len);
	}
	if (!copy && way != &way_afalg_splice) {
		count_session(as, way, &jobs[0]);
		count_session(as, way, &jobs[1]);
	}
}

static struct crypt_op op;

static void count_floor_call(int fd, const char *name, unsigned long cmd)
{
	name = name_of("floor/%s/%u", name, op.len);
	if (is_wanted(name))
		printf("%s %lu\n", name, LEAST(!ioctl(fd, cmd, &op)));
}

static void count_floor(int fd)
{
	static const uint32_t lens[] = {
		16, 64, 128, 192, 256, 384, 512, 1024,
	};
	int i;

	lay_out(1024, 1);
	op = (struct crypt_op){ .len = 64, .src = src_at(0),
				.dst = dst_at(0) };
	printf("floor/empty %lu\n", LEAST(!ioctl(fd, FLOOR_EMPTY, 0)));
	count_floor_call(fd, "copy", FLOOR_COPY);
	if (memcmp(src_at(0), dst_at(0), op.len))
		die("the floor copied something else");
	count_floor_call(fd, "raw", FLOOR_RAW);
	for (i = 0; i < COUNT(lens); i++) {
		op.len = lens[i];
		count_floor_call(fd, "copy-in", FLOOR_COPY_IN);
		count_floor_call(fd, "raw-in", FLOOR_RAW_IN);
		count_floor_call(fd, "copy-out", FLOOR_COPY_OUT);
		count_floor_call(fd, "raw-out", FLOOR_RAW_OUT);
	}
}

/*
 * Prints the cost of one command: that of the whole call, divided by
 * NATIVE_MANY.
 */
static void count_native(const char *what, bool (*run)(void))
{
	const char *name = name_of("native/%s/64", what);

	if (is_wanted(name))
		printf("%s %lu\n", name, LEAST(run()) / NATIVE_MANY);
}

int main(int argc, char **argv)
{
	int fd, i;

	wanted = argv + 1;
	if (!data_init())
		die("OpenSSL's providers");
	printf("nothing %lu\n", LEAST(true));
	printf("getpid %lu\n", LEAST(syscall(SYS_getpid) > 0));
	fd = open("/dev/bench_floor", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		count_floor(fd);
	for (i = 0; i < COUNT(ways); i++)
		count_way(ways[i].name, ways[i].way, ways[i].copy);
	if (!native_begin("null", 0))
		die("native");
	count_native("vector/null", native_vector);
	count_native("uring/null", native_uring);
	native_end();
	if (!native_begin("aes-cbc", 16))
		die("native");
	count_native("vector/aes-128-cbc", native_vector);
	count_native("uring/aes-128-cbc", native_uring);
	native_end();
	return 0;
}
