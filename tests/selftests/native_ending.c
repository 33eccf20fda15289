// SPDX-License-Identifier: BSD-2-Clause
/*
 * The native interface: processes with commands in flight that are killed,
 * stopped, or hardly ever run.
 */
#include <kselftest_harness.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "census.h"
#include "native.h"
#include "random.h"

#define BIG	(16u << 20)
#define PART	(4u << 20)
#define ENTRIES	256
#define TIMEOUT	1800	/* s: the debug kernel is slow */

__thread uint64_t chance_state;

FIXTURE(ending)
{
	struct census before;
};

FIXTURE_SETUP(ending)
{
	chance_from(seed_given());
	self->before = census_begin();
}

/* After each test nothing may be left. */
FIXTURE_TEARDOWN(ending)
{
	EXPECT_TRUE(census_is(&self->before));
}

static uint8_t *pages(size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
}

static uint32_t session(int fd, enum ocf_mode mode, const char *cipher,
			const char *mac)
{
	static const uint8_t key[24] = "three keys of DES at mos";
	struct ocf_session_open o = {
		.mode = mode, .key = addr(key),
		.keylen = !*cipher ? 0 : *cipher == 'd' ? 24 : 16,
	};

	strcpy(o.cipher, cipher);
	strcpy(o.mac, mac);
	return native_open(fd, &o) ? 0 : o.session;
}

/* Keeps the address space locked nearly all of the time, by fork(). */
static void *fork_on(void *arg)
{
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return arg;
}

/*
 * Runs operations that pin pages while the address space is locked: half of the
 * pages are pinned, and the rest has to wait.
 */
static void pin_on(void)
{
	int fd = open_dev();
	struct ocf_command c = {
		.session = session(fd, OCF_MODE_CIPHER, "aes-cbc", ""),
		.src = addr(pages(BIG)), .len = BIG,
	};
	uint8_t *dst = pages(BIG);
	pthread_t t;

	pages(256u << 20);
	pthread_create(&t, NULL, fork_on, NULL);
	c.dst = addr(dst);
	for (;;) {
		madvise(dst, BIG, MADV_DONTNEED);
		native_run(fd, &c);
	}
}

TEST_F_TIMEOUT(ending, killed_while_it_pins, TIMEOUT)
{
	int i, n = rounds_given(30), status;
	pid_t pid;

	for (i = 0; i < n; i++) {
		pid = fork();
		if (!pid)
			pin_on();
		usleep(1000000 + below(1000000));
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(SIGKILL, status);
	}
}

/*
 * Computes a digest in very many parts, which are done at the submission and
 * take minutes.
 */
static void digest_on(void)
{
	uint8_t *data = pages(PART);
	struct iovec all = { data, PART };
	struct io_uring ring;
	int i, fd = open_dev();
	struct ocf_command c = {
		.session = session(fd, OCF_MODE_DIGEST, "", "sha3-512"),
		.src = addr(data), .len = PART,
		.flags = OCF_COMMAND_MORE | OCF_COMMAND_FIXED_SRC,
	};
	struct io_uring_sqe *sqe;

	if (io_uring_queue_init(ENTRIES, &ring, IORING_SETUP_SQE128) ||
	    io_uring_register_buffers(&ring, &all, 1))
		_exit(1);
	for (i = 0; i < ENTRIES; i++) {
		sqe = ring_prepare(&ring, fd, OCF_URING_COMMAND, &c, sizeof(c));
		sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
	}
	io_uring_submit(&ring);
	_exit(2);
}

TEST_F_TIMEOUT(ending, killed_over_many_parts, TIMEOUT)
{
	double begun, all;
	pid_t pid;
	int status;

	/* measure the time until the killed process has ended */
	begun = now();
	pid = fork();
	if (!pid)
		digest_on();
	usleep(2000000);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	all = now() - begun;
	EXPECT_EQ(SIGKILL, status);
	EXPECT_GT(30, all);
}

/* Returns the CPUs' system time in hundredths of a second. */
static long system_time(void)
{
	long user, nice, system;
	FILE *f = fopen("/proc/stat", "re");

	if (!f || fscanf(f, "cpu %ld %ld %ld", &user, &nice, &system) != 3)
		abort();
	fclose(f);
	return system;
}

/* Ends a ring with entries in flight, and stops the process. */
static void stop_with_a_ring(void)
{
	uint8_t *data = pages(PART), digest[64];
	int fd = open_dev();
	struct ocf_command c = {
		.session = session(fd, OCF_MODE_DIGEST, "", "sha3-512"),
		.src = addr(data), .len = PART / 4, .tag = addr(digest),
	};
	struct io_uring ring;

	if (!ring_init(&ring))
		_exit(1);
	ring_prepare(&ring, fd, OCF_URING_COMMAND, &c, sizeof(c));
	if (io_uring_submit(&ring) != 1)
		_exit(2);
	io_uring_queue_exit(&ring);
	raise(SIGSTOP);
	_exit(0);
}

/*
 * While the process is stopped, no task of the kernel may spin for it.  Such a
 * task would spin until the process goes on.  Other work of the kernel, such as
 * kmemleak's search of the memory, ends after some seconds.
 */
TEST_F_TIMEOUT(ending, stopped_with_a_ring, TIMEOUT)
{
	int i, status;
	long took, least = LONG_MAX;
	pid_t pid = fork();

	if (!pid)
		stop_with_a_ring();
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	/* the digest */
	usleep(3000000);
	for (i = 0; i < 10 && least >= 130; i++) {
		took = system_time();
		usleep(4000000);
		took = system_time() - took;
		least = took < least ? took : least;
	}
	kill(pid, SIGCONT);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_GT(130, least);
}

static void stay_on_the_first(void)
{
	cpu_set_t first;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		_exit(1);
}

/* Runs operations that take the CPU long. */
static void work_on(void)
{
	int fd = open_dev();
	struct ocf_command c = {
		.session = session(fd, OCF_MODE_CIPHER, "des3-cbc", ""),
		.src = addr(pages(PART)), .len = PART,
	};

	stay_on_the_first();
	c.dst = c.src;
	while (native_run(fd, &c) == PART)
		;
	_exit(2);
}

/* Expands data to a thousand times their size: 16 MiB of zeros. */
static void expand(void)
{
	struct ocf_session_open o = {
		.mode = OCF_MODE_COMPRESS, .cipher = "deflate",
	};
	int fd = open_dev();
	struct ocf_command c = {
		.src = addr(pages(BIG)), .len = BIG, .dst_len = BIG,
		.dst = addr(pages(BIG)),
	};

	if (native_open(fd, &o))
		_exit(1);
	c.session = o.session;
	c.len = native_run(fd, &c);
	c.src = c.dst;
	c.dst = addr(pages(BIG));
	c.op = OCF_OP_DECRYPT;
	stay_on_the_first();
	while (native_run(fd, &c) == BIG)
		;
	_exit(2);
}

static void be_busy(void)
{
	stay_on_the_first();
	for (;;)
		;
}

static void others_keys_change(struct __test_metadata *_metadata,
			       void (*work)(void))
{
	static const struct sched_param none;
	static uint8_t key[16] = "another key";
	int i, fd = open_dev(), status;
	struct ocf_session_rekey r = {
		.size = sizeof(r), .key = addr(key), .keylen = 16,
		.session = session(fd, OCF_MODE_CIPHER, "aes-cbc", ""),
	};
	double begun, most = 0;
	pid_t worker, busy;

	worker = fork();
	if (!worker)
		work();
	usleep(700000);
	busy = fork();
	if (!busy)
		be_busy();
	ASSERT_EQ(0, sched_setscheduler(worker, SCHED_IDLE, &none));
	usleep(300000);
	for (i = 0; i < 20; i++) {
		begun = now();
		ASSERT_EQ(0, call(fd, OCF_SESSION_REKEY, &r));
		most = now() - begun > most ? now() - begun : most;
	}
	kill(busy, SIGKILL);
	ASSERT_EQ(busy, waitpid(busy, &status, 0));
	kill(worker, SIGKILL);
	ASSERT_EQ(worker, waitpid(worker, &status, 0));
	EXPECT_EQ(SIGKILL, status);
	EXPECT_GT(20, most);
	close(fd);
}

/*
 * A process that hardly ever runs does not delay others, whose keys change
 * meanwhile.
 */
TEST_F_TIMEOUT(ending, others_keys_change_meanwhile, TIMEOUT)
{
	others_keys_change(_metadata, work_on);
}

TEST_F_TIMEOUT(ending, others_keys_change_while_one_expands, TIMEOUT)
{
	others_keys_change(_metadata, expand);
}

TEST_HARNESS_MAIN
