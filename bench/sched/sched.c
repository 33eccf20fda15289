// SPDX-License-Identifier: BSD-2-Clause
/*
 * Operations of /dev/crypto that keep cards busy: the null cipher in place,
 * a number of them at a time.
 *
 *	sched threads N BYTES MS WARM_MS	a thread and a session for each
 *	sched async N BYTES MS WARM_MS		one thread, one session
 *
 * Prints one object of JSON: operations a second between WARM_MS and MS later,
 * and the share of the CPU that was not idle.
 */
#include <crypto/cryptodev.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX	64
#define NAP_NS		30000
#define IDLE		"/sys/kernel/debug/bench_sched/idle_us"

static uint64_t begin, end;		/* ns */
static uint32_t bytes;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t idle_us(void)
{
	char text[32] = "";
	int fd = open(IDLE, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		fail(IDLE);
	close(fd);
	return strtoull(text, NULL, 10);
}

/* A session of the null cipher; the descriptor. */
static int open_session(uint32_t *ses)
{
	struct session_op sop = { .cipher = CRYPTO_NULL };
	int fd = open("/dev/crypto", O_RDWR);

	if (fd < 0 || ioctl(fd, CIOCGSESSION, &sop))
		fail("/dev/crypto");
	*ses = sop.ses;
	return fd;
}

static struct crypt_op operation(uint32_t ses)
{
	uint8_t *buf = aligned_alloc(4096, (bytes + 4095) & ~4095u);

	if (!buf)
		fail("memory");
	memset(buf, 1, bytes);
	return (struct crypt_op){ .ses = ses, .op = COP_ENCRYPT, .len = bytes,
				  .src = buf, .dst = buf };
}

/* One operation after the other; how many ended in time. */
static void *one_at_a_time(void *done)
{
	struct crypt_op cop;
	uint64_t n = 0, now;
	uint32_t ses;
	int fd = open_session(&ses);

	cop = operation(ses);
	do {
		if (ioctl(fd, CIOCCRYPT, &cop))
			fail("CIOCCRYPT");
		now = now_ns();
		n += now >= begin && now < end;
	} while (now < end);
	*(uint64_t *)done = n;
	return NULL;
}

static uint64_t threads(int n)
{
	uint64_t done[THREADS_MAX], sum = 0;
	pthread_t t[THREADS_MAX];
	int i;

	for (i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, one_at_a_time, &done[i]))
			fail("pthread_create");
	for (i = 0; i < n; i++) {
		pthread_join(t[i], NULL);
		sum += done[i];
	}
	return sum;
}

static void hand_in(int fd, struct crypt_op *cop)
{
	if (ioctl(fd, CIOCASYNCCRYPT, cop))
		fail("CIOCASYNCCRYPT");
}

/*
 * Always @n under way: whatever is done is handed in again.  That is looked
 * after now and then, so that not each one that ends wakes us.
 */
static uint64_t async(int n)
{
	struct timespec nap = { .tv_nsec = NAP_NS };
	struct crypt_op cop;
	struct pollfd p;
	uint64_t done = 0, now = 0;
	uint32_t ses;
	int i, left = n;

	prctl(PR_SET_TIMERSLACK, 1);
	p = (struct pollfd){ .fd = open_session(&ses), .events = POLLIN };
	for (i = 0; i < n; i++) {
		cop = operation(ses);
		hand_in(p.fd, &cop);
	}
	while (left) {
		if (poll(&p, 1, -1) < 0)
			fail("poll");
		nanosleep(&nap, NULL);
		while (left && !ioctl(p.fd, CIOCASYNCFETCH, &cop)) {
			now = now_ns();
			done += now >= begin && now < end;
			if (now < end)
				hand_in(p.fd, &cop);
			else
				left--;
		}
		if (left && errno != EBUSY)
			fail("CIOCASYNCFETCH");
	}
	return done;
}

/* Looks at the clock of idleness at both ends. */
static void *watch(void *share)
{
	struct timespec t = { begin / 1000000000, begin % 1000000000 };
	uint64_t idle;

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	idle = idle_us();
	t = (struct timespec){ end / 1000000000, end % 1000000000 };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	*(double *)share = 1 - (idle_us() - idle) * 1e3 / (end - begin);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc == 6 ? atoi(argv[2]) : 0;
	pthread_t watcher;
	double busy = 0;
	uint64_t done;

	if (n < 1 || n > THREADS_MAX) {
		fprintf(stderr, "sched threads|async N BYTES MS WARM_MS\n");
		return 2;
	}
	bytes = atoi(argv[3]);
	begin = now_ns() + atoi(argv[5]) * 1000000ull;
	end = begin + atoi(argv[4]) * 1000000ull;
	if (pthread_create(&watcher, NULL, watch, &busy))
		fail("pthread_create");
	done = strcmp(argv[1], "async") ? threads(n) : async(n);
	pthread_join(watcher, NULL);
	printf("{\"ops_per_s\": %.1f, \"busy\": %.4f}\n",
	       done * 1e9 / (end - begin), busy);
	return 0;
}
