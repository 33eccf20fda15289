// SPDX-License-Identifier: BSD-2-Clause
/*
 * Operations of /dev/crypto that keep cards busy: the null cipher in place,
 * a number of them at a time.
 *
 *	sched threads N BYTES MS WARM_MS	a thread and a session for each
 *	sched async N BYTES MS WARM_MS		one thread, one session
 *	sched native N BYTES MS WARM_MS		the same by the native interface
 *	sched uring N BYTES MS WARM_MS		the same, in registered buffers
 *	sched vectors N BYTES MS WARM_MS	the same, many to an entry
 *
 * Prints one object of JSON: operations a second during the MS that follow the
 * first WARM_MS, and the share of the CPU that was not idle.
 */
#include <crypto/cryptodev.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/ocf.h>
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
#define MANY_MAX	256
#define BATCH		16		/* of vectors; N is a multiple */
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
 * Always @n under way: whatever is done is handed in again.  After each wake-up
 * the thread sleeps for NAP_NS, so that not every completion wakes it.
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

/* ---- the native interface ---- */

static struct ocf_command commands[MANY_MAX];
static uint8_t *memory;

/* @n commands of a session that a card has to serve; the descriptor. */
static int open_native(int n)
{
	struct ocf_session_open o = {
		.size = sizeof(o), .mode = OCF_MODE_CIPHER, .cipher = "null",
		.flags = OCF_SESSION_HARDWARE,
	};
	size_t room = (bytes + 4095) & ~4095u;
	int i, fd = open("/dev/crypto", O_RDWR);

	memory = aligned_alloc(4096, n * room);
	if (!memory || fd < 0 || ioctl(fd, OCF_SESSION_OPEN, &o))
		fail("/dev/crypto");
	memset(memory, 1, n * room);
	for (i = 0; i < n; i++)
		commands[i] = (struct ocf_command){
			.cookie = i, .session = o.session, .len = bytes,
			.src = (uintptr_t)memory + i * room,
			.dst = (uintptr_t)memory + i * room,
		};
	return fd;
}

static void submit(int fd, const struct ocf_command *c, int n)
{
	struct ocf_vector v = { .commands = (uintptr_t)c, .count = n };

	if (ioctl(fd, OCF_SUBMIT, &v) != n)
		fail("OCF_SUBMIT");
}

static uint64_t native(int n)
{
	struct timespec nap = { .tv_nsec = NAP_NS };
	struct ocf_result results[MANY_MAX];
	struct ocf_command next[MANY_MAX];
	struct ocf_reap reap = {
		.results = (uintptr_t)results, .count = MANY_MAX,
	};
	struct pollfd p = { .fd = open_native(n), .events = POLLIN };
	uint64_t done = 0, now = 0;
	int i, got, left = n;

	prctl(PR_SET_TIMERSLACK, 1);
	submit(p.fd, commands, n);
	while (left) {
		got = ioctl(p.fd, OCF_REAP, &reap);
		if (got < 0)
			fail("OCF_REAP");
		if (!got) {
			if (poll(&p, 1, -1) < 0)
				fail("poll");
			nanosleep(&nap, NULL);
			continue;
		}
		now = now_ns();
		for (i = 0; i < got; i++) {
			if (results[i].res != (int)bytes)
				fail("a command");
			next[i] = commands[results[i].cookie];
		}
		if (now >= begin && now < end)
			done += got;
		if (now < end)
			submit(p.fd, next, got);
		else
			left -= got;
	}
	return done;
}

static void put_entry(struct io_uring *ring, int fd, u_int cmd_op,
		      uint64_t user_data, const void *cmd, size_t len)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	if (!sqe)
		fail("an entry");
	memset(sqe, 0, 2 * sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = fd;
	sqe->cmd_op = cmd_op;
	sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
	sqe->user_data = user_data;
	memcpy(sqe->cmd, cmd, len);
}

static void put_command(struct io_uring *ring, int fd, uint64_t which)
{
	put_entry(ring, fd, OCF_URING_COMMAND, which, &commands[which],
		  sizeof(commands[which]));
}

/*
 * Opens a ring, registers the memory of the @n commands with it, and marks each
 * command as using registered buffers.
 */
static void open_ring(struct io_uring *ring, int n)
{
	struct iovec iov = {
		.iov_base = memory, .iov_len = n * ((bytes + 4095) & ~4095u),
	};
	int i;

	if (io_uring_queue_init(MANY_MAX, ring, IORING_SETUP_SQE128 |
				IORING_SETUP_SINGLE_ISSUER |
				IORING_SETUP_DEFER_TASKRUN) ||
	    io_uring_register_buffers(ring, &iov, 1))
		fail("io_uring");
	for (i = 0; i < n; i++)
		commands[i].flags = OCF_COMMAND_FIXED_SRC |
				    OCF_COMMAND_FIXED_DST;
}

static uint64_t uring(int n)
{
	struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t done = 0, now = 0;
	struct io_uring_cqe *cqe;
	struct io_uring ring;
	int i, fd = open_native(n), left = n;

	prctl(PR_SET_TIMERSLACK, 1);
	open_ring(&ring, n);
	for (i = 0; i < n; i++)
		put_command(&ring, fd, i);
	while (left) {
		if (io_uring_submit_and_wait(&ring, 1) < 0)
			fail("io_uring");
		now = now_ns();
		while (left && !io_uring_peek_cqe(&ring, &cqe)) {
			if (cqe->res != (int)bytes)
				fail("a command");
			done += now >= begin && now < end;
			if (now < end)
				put_command(&ring, fd, cqe->user_data);
			else
				left--;
			io_uring_cqe_seen(&ring, cqe);
		}
		io_uring_submit(&ring);
		if (left)
			nanosleep(&nap, NULL);
	}
	return done;
}

static struct ocf_result outcome[MANY_MAX];

/* The commands from @first on. */
static void put_vector(struct io_uring *ring, int fd, uint64_t first)
{
	struct ocf_vector v = {
		.commands = (uintptr_t)&commands[first],
		.results = (uintptr_t)&outcome[first], .count = BATCH,
	};

	put_entry(ring, fd, OCF_URING_VECTOR, first, &v, sizeof(v));
}

static uint64_t vectors(int n)
{
	uint64_t done = 0, now;
	struct io_uring_cqe *cqe;
	struct io_uring ring;
	int i, fd = open_native(n), left;

	open_ring(&ring, n);
	errno = EINVAL;
	if (n % BATCH)
		fail("N");
	for (left = 0; left < n; left += BATCH)
		put_vector(&ring, fd, left);
	while (left) {
		if (io_uring_submit_and_wait(&ring, 1) < 0)
			fail("io_uring");
		now = now_ns();
		while (left && !io_uring_peek_cqe(&ring, &cqe)) {
			for (i = 0; i < BATCH; i++)
				if (cqe->res || outcome[cqe->user_data + i].res
						!= (int)bytes)
					fail("a vector");
			if (now >= begin && now < end)
				done += BATCH;
			if (now < end)
				put_vector(&ring, fd, cqe->user_data);
			else
				left -= BATCH;
			io_uring_cqe_seen(&ring, cqe);
		}
	}
	return done;
}

/*
 * Reads the idle time at @begin and @end, and stores the share of the CPU that
 * was busy.
 */
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

static const struct {
	const char	*name;
	uint64_t	(*run)(int n);
	int		most;
} ways[] = {
	{ "threads", threads, THREADS_MAX }, { "async", async, THREADS_MAX },
	{ "native", native, MANY_MAX }, { "uring", uring, MANY_MAX },
	{ "vectors", vectors, MANY_MAX },
};

#define NWAYS	((int)(sizeof(ways) / sizeof(*ways)))

int main(int argc, char **argv)
{
	int i, n = argc == 6 ? atoi(argv[2]) : 0;
	pthread_t watcher;
	double busy = 0;
	uint64_t done;

	for (i = 0; i < NWAYS; i++)
		if (n > 0 && !strcmp(argv[1], ways[i].name) &&
		    n <= ways[i].most)
			break;
	if (i == NWAYS) {
		fprintf(stderr, "sched WAY N BYTES MS WARM_MS\n");
		return 2;
	}
	bytes = atoi(argv[3]);
	begin = now_ns() + atoi(argv[5]) * 1000000ull;
	end = begin + atoi(argv[4]) * 1000000ull;
	if (pthread_create(&watcher, NULL, watch, &busy))
		fail("pthread_create");
	done = ways[i].run(n);
	pthread_join(watcher, NULL);
	printf("{\"ops_per_s\": %.1f, \"busy\": %.4f}\n",
	       done * 1e9 / (end - begin), busy);
	return 0;
}
