// SPDX-License-Identifier: BSD-2-Clause
/*
 * The native interface with commands under way on a slow card: fetched, told
 * of, cancelled, and left behind by who is killed, ends, or becomes another
 * program; and rings that end before their entries do.
 */
#include <kselftest_harness.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "native.h"
#include "census.h"
#include "random.h"

__thread uint64_t chance_state;

#define SIM	"/sys/bus/platform/drivers/ocf_sim/"
#define CARD	"/sys/class/ocf/sim0/device/"
#define OPTIONS	"algs=real depth=8 patience=60000 latency_ns=1000"
#define LATENCY	"20000000"	/* ns */
#define MANY	24		/* more than the card has room for */
#define LEN	4096
#define FILES	600
#define VECTORS	10		/* of MANY, more than a portion */
#define HUGE	(16u << 20)
#define LOCKED	(32u << 10)	/* bytes, of RLIMIT_MEMLOCK */
#define TIMEOUT	1200		/* s: the debug kernel is slow */

FIXTURE(card)
{
	struct census before;
	int fd;
	uint8_t *in, *out, *want;
	struct ocf_command c[MANY];
	struct ocf_result r[MANY];
};

typedef struct _test_data_card Self;

static const uint8_t key[16] = "sixteen bytes..";

static int open_on(int fd, uint32_t flags, struct ocf_session_open *o)
{
	*o = (struct ocf_session_open){
		.mode = OCF_MODE_CIPHER, .cipher = "aes-cbc",
		.key = addr(key), .keylen = 16, .flags = flags,
	};
	return native_open(fd, o);
}

/* Commands of @self->c are for a session of @fd that only the card serves. */
static int aim(Self *self, int fd)
{
	struct ocf_session_open o;
	int i, err = open_on(fd, OCF_SESSION_HARDWARE, &o);

	for (i = 0; i < MANY; i++)
		self->c[i] = (struct ocf_command){
			.cookie = i, .session = o.session,
			.src = addr(self->in + i * LEN),
			.dst = addr(self->out + i * LEN),
			/* some are copied */
			.len = i % 2 ? LEN : 512,
		};
	return err;
}

FIXTURE_SETUP(card)
{
	struct ocf_session_open soft;
	int i;

	chance_from(seed_given());
	ASSERT_EQ(0, put_line("/sys/module/ocf/parameters/recheck", "0"));
	ASSERT_EQ(0, put_line(SIM "add", OPTIONS));
	self->before = census_take();
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	self->in = malloc(MANY * LEN);
	self->out = malloc(MANY * LEN);
	self->want = malloc(MANY * LEN);
	fill(self->in, MANY * LEN, 1);
	ASSERT_EQ(0, open_on(self->fd, OCF_SESSION_SOFTWARE, &soft));
	ASSERT_EQ(0, aim(self, self->fd));
	for (i = 0; i < MANY; i++) {
		struct ocf_command c = self->c[i];

		c.session = soft.session;
		c.dst = addr(self->want + i * LEN);
		ASSERT_EQ((int)c.len, native_run(self->fd, &c));
	}
	/* the first has to wait for its context */
	ASSERT_EQ((int)self->c[0].len, native_run(self->fd, &self->c[0]));
	ASSERT_EQ(0, put_line(CARD "latency_ns", LATENCY));
	memset(self->out, 0, MANY * LEN);
}

FIXTURE_TEARDOWN(card)
{
	EXPECT_EQ(0, put_line(CARD "latency_ns", "1000"));
	close(self->fd);
	EXPECT_TRUE(census_is(&self->before));
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
	free(self->in);
	free(self->out);
	free(self->want);
}

/* Whether command @i has its result */
static bool is_right(Self *self, int i)
{
	return !memcmp(self->want + i * LEN, self->out + i * LEN,
		       self->c[i].len);
}

static int run_all(Self *self)
{
	struct ocf_vector v = {
		.commands = addr(self->c), .results = addr(self->r),
		.count = MANY,
	};

	return call(self->fd, OCF_RUN, &v);
}

static int submit_all(Self *self, int fd)
{
	struct ocf_vector v = { .commands = addr(self->c), .count = MANY };

	return ioctl(fd, OCF_SUBMIT, &v);
}

/* Fetches @n, or what comes in time; they are in self->r. */
static int reap(Self *self, int n)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	int got = 0;

	while (got < n && poll(&p, 1, SOON) == 1) {
		struct ocf_reap reap = {
			.results = addr(self->r + got), .count = n - got,
		};
		int more = ioctl(self->fd, OCF_REAP, &reap);

		if (more < 0)
			return -errno;
		got += more;
	}
	return got;
}

TEST_F(card, waited_for)
{
	int i;

	ASSERT_EQ(0, run_all(self));
	for (i = 0; i < MANY; i++) {
		EXPECT_EQ(i, self->r[i].cookie);
		EXPECT_EQ((int)self->c[i].len, self->r[i].res);
		EXPECT_TRUE(is_right(self, i));
	}
}

/* What ends while the others are still being handed in has its result, too. */
TEST_F_TIMEOUT(card, done_before_all_are_handed_in, TIMEOUT)
{
	int i, n = rounds_given(300);
	struct ocf_vector v = {
		.commands = addr(self->c), .results = addr(self->r),
	};

	EXPECT_EQ(0, put_line(CARD "latency_ns", "0"));
	EXPECT_EQ(0, put_line(CARD "overhead_ns", "0"));
	for (i = 0; i < n; i++) {
		v.count = 1 + i % 3;
		memset(self->r, 0xff, sizeof(self->r));
		ASSERT_EQ(0, call(self->fd, OCF_RUN, &v));
		ASSERT_EQ((int)self->c[0].len, self->r[0].res);
		ASSERT_EQ((int)self->c[v.count - 1].len,
			  self->r[v.count - 1].res);
	}
	EXPECT_EQ(0, put_line(CARD "overhead_ns", "2000"));
}

TEST_F(card, fetched_and_told_of)
{
	int i, told = eventfd(0, EFD_NONBLOCK), none = -1;
	uint64_t n = 0, more;

	ASSERT_EQ(0, call(self->fd, OCF_EVENTFD, &told));
	ASSERT_EQ(MANY, submit_all(self, self->fd));
	ASSERT_EQ(MANY, reap(self, MANY));
	for (i = 0; i < MANY; i++) {
		EXPECT_EQ((int)self->c[i].len, self->r[i].res);
		EXPECT_TRUE(is_right(self, i));
	}
	while (read(told, &more, 8) == 8)
		n += more;
	EXPECT_EQ(MANY, n);
	ASSERT_EQ(0, call(self->fd, OCF_EVENTFD, &none));
	ASSERT_EQ(MANY, submit_all(self, self->fd));
	ASSERT_EQ(MANY, reap(self, MANY));
	EXPECT_EQ(-1, read(told, &more, 8));
	none = self->fd;
	EXPECT_EQ(EINVAL, call(self->fd, OCF_EVENTFD, &none));
	none = 9999;
	EXPECT_EQ(EBADF, call(self->fd, OCF_EVENTFD, &none));
	EXPECT_EQ(EFAULT, call(self->fd, OCF_EVENTFD, NULL));
	close(told);
}

TEST_F(card, cancelled)
{
	uint64_t cookie;
	int i, gone = 0;

	EXPECT_EQ(0, put_line(CARD "latency_ns", "200000000"));
	ASSERT_EQ(MANY, submit_all(self, self->fd));
	for (i = MANY - 1; i >= 0; i -= 2) {
		cookie = i;
		gone += call(self->fd, OCF_CANCEL, &cookie) == 0;
	}
	EXPECT_LT(0, gone);
	ASSERT_EQ(MANY, reap(self, MANY));
	for (i = 0; i < MANY; i++) {
		cookie = self->r[i].cookie;
		if (self->r[i].res == -ECANCELED) {
			EXPECT_EQ(1, cookie % 2);
			gone--;
			continue;
		}
		EXPECT_EQ((int)self->c[cookie].len, self->r[i].res);
		EXPECT_TRUE(is_right(self, cookie));
	}
	EXPECT_EQ(0, gone);
	cookie = 1;
	EXPECT_EQ(ENOENT, call(self->fd, OCF_CANCEL, &cookie));
}

static void *cancel_last(void *arg)
{
	uint64_t cookie = MANY - 1;

	return (void *)(long)ioctl(((Self *)arg)->fd, OCF_CANCEL, &cookie);
}

/* Each of two finds all of its own among all that are under way. */
TEST_F(card, cancelled_from_among_many)
{
	uint64_t cookie = MANY - 2;
	pthread_t t;
	void *found;
	int i;

	ASSERT_EQ(0, put_line(CARD "fault", "stall 1 0 5000"));
	for (i = 0; i < VECTORS; i++)
		ASSERT_EQ(MANY, submit_all(self, self->fd));
	pthread_create(&t, NULL, cancel_last, self);
	EXPECT_EQ(VECTORS, ioctl(self->fd, OCF_CANCEL, &cookie));
	pthread_join(t, &found);
	EXPECT_EQ(VECTORS, (long)found);
	EXPECT_EQ(0, put_line(CARD "latency_ns", "1000"));
	for (i = 0; i < VECTORS; i++)
		EXPECT_EQ(MANY, reap(self, MANY));
}

/* Another process can neither fetch nor cancel what it has not handed in. */
TEST_F(card, processes_apart)
{
	int status;
	pid_t pid;

	ASSERT_EQ(MANY, submit_all(self, self->fd));
	pid = fork();
	if (!pid) {
		struct ocf_reap reap = { addr(self->r), MANY, 0 };
		uint64_t cookie = MANY - 1;

		if (call(self->fd, OCF_CANCEL, &cookie) != ENOENT)
			_exit(1);
		usleep(100000);
		_exit(ioctl(self->fd, OCF_REAP, &reap) ? 2 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(MANY, reap(self, MANY));
}

/* What one leaves to the card and ends is nobody's when it is done. */
TEST_F(card, left_by_who_ends)
{
	struct census before = census_take();
	int status;
	pid_t pid;

	EXPECT_EQ(0, put_line(CARD "latency_ns", "300000000"));
	pid = fork();
	if (!pid)
		_exit(submit_all(self, self->fd) != MANY);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(census_is(&before));
}

static bool put_all(Self *self, struct io_uring *ring, int fd)
{
	int i;

	for (i = 0; i < MANY; i++)
		ring_prepare(ring, fd, OCF_URING_COMMAND, &self->c[i],
			     sizeof(self->c[i]))->user_data = i;
	return io_uring_submit(ring) == MANY;
}

TEST_F(card, entries)
{
	struct ocf_vector v = {
		.commands = addr(self->c), .results = addr(self->r),
		.count = MANY,
	};
	struct io_uring ring;
	uint64_t which;
	int i, res;

	ASSERT_TRUE(ring_init(&ring));
	ASSERT_TRUE(put_all(self, &ring, self->fd));
	for (i = 0; i < MANY; i++) {
		res = ring_wait(&ring, &which);
		EXPECT_EQ((int)self->c[which].len, res);
		EXPECT_TRUE(is_right(self, which));
	}
	memset(self->out, 0, MANY * LEN);
	ring_prepare(&ring, self->fd, OCF_URING_VECTOR, &v, sizeof(v));
	ring_prepare(&ring, self->fd, OCF_URING_VECTOR, &v, sizeof(v));
	io_uring_submit(&ring);
	EXPECT_EQ(0, ring_wait(&ring, NULL));
	EXPECT_EQ(0, ring_wait(&ring, NULL));
	for (i = 0; i < MANY; i++) {
		EXPECT_EQ((int)self->c[i].len, self->r[i].res);
		EXPECT_TRUE(is_right(self, i));
	}
	io_uring_queue_exit(&ring);
}

/* Some of them are done before the next is handed in. */
static int aim_in_order(Self *self)
{
	struct ocf_session_open o;
	int i, err = put_line(CARD "latency_ns", "1000") ?:
		     open_on(self->fd, OCF_SESSION_ORDERED, &o);

	for (i = 0; i < MANY && !err; i++)
		self->c[i].session = o.session;
	return err;
}

/*
 * Of an ordered session they end as they were handed in: what is done while it
 * is handed in does not come before what is on its way to the task.
 */
TEST_F_TIMEOUT(card, entries_in_order, TIMEOUT)
{
	static const unsigned int kinds[] = {
		0, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
	};
	struct io_uring ring;
	uint64_t which;
	int i, n, kind;

	ASSERT_EQ(0, aim_in_order(self));
	for (kind = 0; kind < 2; kind++) {
		ASSERT_EQ(0, io_uring_queue_init(2 * MANY, &ring,
						 IORING_SETUP_SQE128 |
						 kinds[kind]));
		for (n = 0; n < 200; n++) {
			ASSERT_TRUE(put_all(self, &ring, self->fd));
			for (i = 0; i < MANY; i++) {
				EXPECT_EQ((int)self->c[i].len,
					  ring_wait(&ring, &which));
				ASSERT_EQ(i, (int)which);
			}
		}
		io_uring_queue_exit(&ring);
	}
}

/* Of vectors one is done after the other. */
TEST_F_TIMEOUT(card, vectors_in_order, TIMEOUT)
{
	int i, n, rounds = rounds_given(200), count;
	struct ocf_vector v;
	struct io_uring ring;
	uint64_t which;

	ASSERT_EQ(0, aim_in_order(self));
	ASSERT_TRUE(ring_init(&ring));
	for (n = 0; n < rounds; n++) {
		memset(self->r, 0xff, sizeof(self->r));
		/* of one to three, none of which is in another */
		for (i = 0, count = 1 + below(3); i < MANY; i += count) {
			v = (struct ocf_vector){
				.commands = addr(self->c + i),
				.results = addr(self->r + i),
				.count = i + count < MANY ? count : MANY - i,
			};
			ring_prepare(&ring, self->fd, OCF_URING_VECTOR, &v,
				     sizeof(v))->user_data = i;
		}
		io_uring_submit(&ring);
		for (i = 0; i < MANY; i += count) {
			ASSERT_EQ(0, ring_wait(&ring, &which));
			ASSERT_EQ(i, (int)which);
		}
		for (i = 0; i < MANY; i++)
			ASSERT_EQ((int)self->c[i].len, self->r[i].res);
	}
	EXPECT_TRUE(is_right(self, MANY - 1));
	io_uring_queue_exit(&ring);
}

/* Results are fetched as commands were handed in. */
TEST_F_TIMEOUT(card, fetched_in_order, TIMEOUT)
{
	int i, n, rounds = rounds_given(200);

	ASSERT_EQ(0, aim_in_order(self));
	for (n = 0; n < rounds; n++) {
		ASSERT_EQ(MANY, submit_all(self, self->fd));
		ASSERT_EQ(MANY, reap(self, MANY));
		for (i = 0; i < MANY; i++) {
			ASSERT_EQ(i, (int)self->r[i].cookie);
			ASSERT_EQ((int)self->c[i].len, self->r[i].res);
		}
	}
	EXPECT_TRUE(is_right(self, MANY - 1));
}

TEST_F(card, entries_cancelled)
{
	uint64_t cookie = MANY - 1, which;
	int i, res, gone = 0;
	struct io_uring ring;

	EXPECT_EQ(0, put_line(CARD "latency_ns", "200000000"));
	ASSERT_TRUE(ring_init(&ring));
	ASSERT_TRUE(put_all(self, &ring, self->fd));
	ring_prepare(&ring, self->fd, OCF_URING_CANCEL, &cookie,
		     8)->user_data = MANY;
	io_uring_submit(&ring);
	for (i = 0; i <= MANY; i++) {
		res = ring_wait(&ring, &which);
		if (which == MANY) {
			EXPECT_EQ(1, res);
		} else if (res == -ECANCELED) {
			gone++;
		} else {
			EXPECT_EQ((int)self->c[which].len, res);
		}
	}
	EXPECT_EQ(1, gone);
	io_uring_queue_exit(&ring);
}

/* By workers of io_uring, and by its thread that polls */
TEST_F(card, entries_of_other_threads)
{
	struct io_uring ring;
	uint64_t which;
	int i, way, res;

	for (way = 0; way < 3; way++) {
		ASSERT_EQ(0, io_uring_queue_init(RING_ENTRIES, &ring,
			IORING_SETUP_SQE128 |
			(way == 1 ? IORING_SETUP_SQPOLL : 0) |
			(way == 2 ? IORING_SETUP_SINGLE_ISSUER |
				    IORING_SETUP_DEFER_TASKRUN : 0)));
		for (i = 0; i < MANY; i++) {
			struct io_uring_sqe *sqe = ring_prepare(&ring,
				self->fd, OCF_URING_COMMAND, &self->c[i],
				sizeof(self->c[i]));

			sqe->user_data = i;
			sqe->flags = way ? 0 : IOSQE_ASYNC;
		}
		io_uring_submit(&ring);
		for (i = 0; i < MANY; i++) {
			res = ring_wait(&ring, &which);
			EXPECT_EQ((int)self->c[which].len, res);
			EXPECT_TRUE(is_right(self, which));
		}
		memset(self->out, 0, MANY * LEN);
		io_uring_queue_exit(&ring);
	}
}

/*
 * What begins after another has what its entry had when it was handed in: that
 * of a link with IOSQE_ASYNC, or it is read when it begins.
 */
TEST_F(card, entries_behind_others)
{
	static const unsigned int first[] = { IOSQE_IO_LINK, 0 },
				  behind[] = { IOSQE_ASYNC, IOSQE_IO_DRAIN };
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	uint64_t which;
	int i, n;

	ASSERT_TRUE(ring_init(&ring));
	for (n = 0; n < COUNT(first); n++) {
		for (i = 0; i < 2; i++) {
			sqe = ring_prepare(&ring, self->fd, OCF_URING_COMMAND,
					   &self->c[i], sizeof(self->c[i]));
			sqe->user_data = i;
			sqe->flags = i ? behind[n] : first[n];
		}
		ASSERT_EQ(2, io_uring_submit(&ring));
		memset(sqe->cmd, 0xff, sizeof(self->c[0]));
		for (i = 0; i < 2; i++) {
			EXPECT_EQ((int)self->c[i].len,
				  ring_wait(&ring, &which));
			EXPECT_EQ(i, (int)which);
			EXPECT_TRUE(is_right(self, i));
		}
		memset(self->out, 0, 2 * LEN);
	}
	io_uring_queue_exit(&ring);
}

/* Nothing waits for the card longer than it takes to cancel. */
TEST_F_TIMEOUT(card, rings_that_end, TIMEOUT)
{
	struct ocf_vector v = {
		.commands = addr(self->c), .results = addr(self->r),
		.count = MANY,
	};
	int i, n = rounds_given(20);
	struct io_uring ring;

	for (i = 0; i < n; i++) {
		ASSERT_TRUE(ring_init(&ring));
		if (i % 2) {
			ring_prepare(&ring, self->fd, OCF_URING_VECTOR, &v,
				     sizeof(v));
			io_uring_submit(&ring);
		} else {
			put_all(self, &ring, self->fd);
		}
		usleep(below(30000));
		io_uring_queue_exit(&ring);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Is stopped before its ring ends, with something of many files in it. */
static void stop_with_many_files(Self *self)
{
	struct io_uring ring;
	int i, fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (io_uring_queue_init(FILES, &ring, IORING_SETUP_SQE128))
		_exit(1);
	for (i = 0; i < FILES; i++) {
		fd = open_dev();
		if (aim(self, fd))
			_exit(2);
		ring_prepare(&ring, fd, OCF_URING_COMMAND, &self->c[0],
			     sizeof(self->c[0]));
	}
	if (io_uring_submit(&ring) != FILES)
		_exit(3);
	if (!fork()) {
		/* who has the ring, too */
		usleep(300000);
		_exit(0);
	}
	io_uring_queue_exit(&ring);
	raise(SIGSTOP);
	_exit(4);
}

/* How many files there are does not make the end of a ring longer. */
TEST_F_TIMEOUT(card, stopped_with_many_files, TIMEOUT)
{
	double begun;
	int status;
	pid_t pid;

	ASSERT_EQ(0, put_line(CARD "fault", "stall 1 0 3000"));
	pid = fork();
	if (!pid)
		stop_with_many_files(self);
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	usleep(1500000);
	begun = now();
	kill(pid, SIGCONT);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(SIGKILL, status);
	/* a slow kernel takes long to close them */
	EXPECT_GT(*(getenv("OCF_DEBUG_KERNEL") ?: "") ? 50 : 5,
		  now() - begun);
}

/* What a process is at when it goes */
static void at_work(Self *self, int how)
{
	struct io_uring ring;
	int fd = open_dev();

	if (aim(self, fd) || !ring_init(&ring))
		_exit(1);
	self->fd = fd;
	for (;;)
		switch (how) {
		case 0:
			run_all(self);
			break;
		case 1:
			submit_all(self, fd);
			reap(self, MANY);
			break;
		case 2:
			put_all(self, &ring, fd);
			while (!ring_wait(&ring, NULL))
				;
			break;
		case 3:
			put_all(self, &ring, fd);
			usleep(below(20000));
			_exit(0);
		case 4:
			submit_all(self, fd);
			put_all(self, &ring, fd);
			execl("/bin/true", "true", NULL);
			_exit(2);
		}
}

TEST_F_TIMEOUT(card, processes_that_go, TIMEOUT)
{
	int i, n = rounds_given(40), status;
	pid_t pid;

	for (i = 0; i < n; i++) {
		pid = fork();
		if (!pid)
			at_work(self, i % 5);
		if (i % 5 < 3) {
			usleep(below(60000));
			kill(pid, SIGKILL);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(i % 5 < 3 ? SIGKILL : 0, status);
	}
	ASSERT_EQ(0, run_all(self));
	EXPECT_TRUE(is_right(self, MANY - 1));
}

static void *cancel_all(void *arg)
{
	Self *self = arg;
	uint64_t i;
	int n;

	for (n = 0; n < 50; n++)
		for (i = 0; i < MANY; i++)
			call(self->fd, OCF_CANCEL, &i);
	return NULL;
}

/* Results, and who gives them up, from several threads */
TEST_F_TIMEOUT(card, cancelled_while_they_end, TIMEOUT)
{
	int i, n = rounds_given(30), j, res;
	struct io_uring ring;
	pthread_t t[2];
	uint64_t which;

	EXPECT_EQ(0, put_line(CARD "latency_ns", "200000"));
	ASSERT_TRUE(ring_init(&ring));
	for (i = 0; i < n; i++) {
		for (j = 0; j < 2; j++)
			pthread_create(&t[j], NULL, cancel_all, self);
		ASSERT_TRUE(put_all(self, &ring, self->fd));
		ASSERT_EQ(MANY, submit_all(self, self->fd));
		ASSERT_EQ(MANY, reap(self, MANY));
		for (j = 0; j < MANY; j++) {
			EXPECT_TRUE(self->r[j].res > 0 ||
				    self->r[j].res == -ECANCELED);
			res = ring_wait(&ring, &which);
			EXPECT_TRUE(res == -ECANCELED ||
				    res == (int)self->c[which].len);
		}
		for (j = 0; j < 2; j++)
			pthread_join(t[j], NULL);
	}
	io_uring_queue_exit(&ring);
}

static uint32_t crossover(Self *self, uint32_t flags)
{
	struct ocf_session_open o;
	struct ocf_session_query q = { .size = sizeof(q) };

	if (open_on(self->fd, flags, &o))
		return UINT32_MAX;
	q.session = o.session;
	if (call(self->fd, OCF_SESSION_QUERY, &q))
		return UINT32_MAX;
	/* what need not be waited for is worth it sooner */
	if (q.crossover && q.crossover_many > q.crossover)
		return UINT32_MAX;
	return q.crossover;
}

/* From which size on it is worth the way */
TEST_F(card, as_good_as_the_cpu)
{
	uint32_t both = crossover(self, 0);

	EXPECT_TRUE(!both || (both >= 64 && both <= 16 << 20));
	EXPECT_EQ(0, both & (both - 1));
	EXPECT_EQ(64, crossover(self, OCF_SESSION_HARDWARE));
	EXPECT_EQ(0, crossover(self, OCF_SESSION_SOFTWARE));
}

/* Waits for all, some of which are pinned, and some copied. */
static int run_all_with_little(Self *self)
{
	static const struct rlimit little = { LOCKED, LOCKED };
	int i;

	if (setrlimit(RLIMIT_MEMLOCK, &little))
		return 1;
	become(SOMEBODY);
	if (run_all(self))
		return 2;
	for (i = 0; i < MANY; i++)
		if (self->r[i].res != (int)self->c[i].len || !is_right(self, i))
			return 3;
	return 0;
}

/* A vector keeps what is done until its end, which its caller may put off. */
TEST_F(card, pins_of_a_vector_are_locked_memory)
{
	long pinned, most = 0;
	int status;
	pid_t pid;

	EXPECT_EQ(0, put_line(CARD "latency_ns", "500000000"));
	pid = fork();
	if (!pid)
		_exit(run_all_with_little(self));
	while (!waitpid(pid, &status, WNOHANG)) {
		pinned = census_take().pinned - self->before.pinned;
		most = pinned > most ? pinned : most;
		usleep(10000);
	}
	EXPECT_EQ(0, status);
	EXPECT_LT(0, most);
	EXPECT_GE(LOCKED / PAGE, most);
}

/* What the card has done so far; its first line is "operations N". */
static long done_by_card(void)
{
	return atol(get_line("/sys/class/ocf/sim0/counters") +
		    strlen("operations "));
}

struct closing {
	int		fd, err;
	uint32_t	session;
	long		done;		/* by the card, before */
};

static void *close_in_the_middle(void *arg)
{
	struct closing *c = arg;

	while (done_by_card() == c->done)
		;
	c->err = call(c->fd, OCF_SESSION_CLOSE, &c->session);
	return NULL;
}

/* The second takes long enough for the first one's session to be closed. */
TEST_F(card, a_session_is_closed_in_the_middle)
{
	struct ocf_session_open slow = {
		.mode = OCF_MODE_DIGEST, .mac = "sha3-512",
		.flags = OCF_SESSION_SOFTWARE,
	};
	uint8_t *data = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct closing c = {
		.fd = self->fd, .session = self->c[0].session,
		.done = done_by_card(),
	};
	struct ocf_vector v = {
		.commands = addr(self->c), .results = addr(self->r), .count = 3,
	};
	pthread_t t;

	ASSERT_NE(MAP_FAILED, data);
	EXPECT_EQ(0, put_line(CARD "latency_ns", "1000"));
	ASSERT_EQ(0, native_open(self->fd, &slow));
	self->c[1] = (struct ocf_command){
		.session = slow.session, .src = addr(data), .len = HUGE,
		.flags = OCF_COMMAND_MORE,
	};
	pthread_create(&t, NULL, close_in_the_middle, &c);
	EXPECT_EQ(0, call(self->fd, OCF_RUN, &v));
	pthread_join(t, NULL);
	EXPECT_EQ(0, c.err);
	EXPECT_EQ(0, self->r[1].res);
	EXPECT_EQ((int)self->c[2].len, self->r[2].res);
	EXPECT_TRUE(is_right(self, 2));
	EXPECT_EQ(-EINVAL, native_run(self->fd, &self->c[2]));
	munmap(data, HUGE);
}

/* ns that the CPU is known to take for one of LEN bytes */
static long cpu_takes(Self *self)
{
	FILE *f = fopen("/sys/class/ocf/cryptosoft0/cost", "r");
	long base, slope, ns = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "aes-cbc encrypt %ld %ld", &base, &slope) == 2)
			ns = base + slope * LEN / 1024;
	if (f)
		fclose(f);
	return ns;
}

static bool set_knob(const char *knob, long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", value);
	return !put_line(knob, text);
}

/*
 * A card that takes several times as long as the CPU, and is known to; and none
 * of its time, so nothing comes of what it does.
 */
static bool make_dear(Self *self)
{
	long ns = cpu_takes(self);
	int i;

	if (!ns || put_line(CARD "compute", "0") ||
	    !set_knob(CARD "overhead_ns", 2 * ns) ||
	    !set_knob(CARD "latency_ns", 3 * ns))
		return false;
	for (i = 0; i < 8; i++)
		if (run_all(self))
			return false;
	return true;
}

/* What the card does of ten times all commands, one by one or in vectors */
static long part_of_card(Self *self, bool vectors)
{
	long before = done_by_card();
	int i, n;

	for (n = 0; n < 10; n++) {
		if (vectors && run_all(self))
			return -1;
		for (i = 0; i < MANY; i++)
			if ((vectors ? self->r[i].res :
			     native_run(self->fd, &self->c[i])) != LEN)
				return -1;
	}
	return done_by_card() - before;
}

/*
 * The CPU is done with each sooner than the card; but who waits for all has the
 * card do a part of them.  It is said of a machine that is not made to wait
 * meanwhile: of one try in eight.
 */
TEST_F_TIMEOUT(card, shares_a_vector, TIMEOUT)
{
	struct ocf_session_open both;
	long alone, shared;
	int i, tries = 8;

	do {
		ASSERT_EQ(0, aim(self, self->fd));
		ASSERT_TRUE(make_dear(self));
		ASSERT_EQ(0, open_on(self->fd, 0, &both));
		for (i = 0; i < MANY; i++) {
			self->c[i].session = both.session;
			self->c[i].len = LEN;
		}
		alone = part_of_card(self, false);
		shared = part_of_card(self, true);
		ASSERT_LE(0, alone);
		ASSERT_LE(0, shared);
		/* the debug kernel takes longer for the way than for all */
		if (*(getenv("OCF_DEBUG_KERNEL") ?: ""))
			return;
	} while ((shared < alone + 10 || shared >= 10 * MANY ||
		  alone >= 10 * MANY / 4) && --tries);
	/* neither does all, and a look now and then is not meant */
	EXPECT_LE(alone + 10, shared);
	EXPECT_GT(10 * MANY, shared);
	EXPECT_GT(10 * MANY / 4, alone);
}

/* It is taken away: no other may do it. */
TEST_F(card, a_card_that_goes)
{
	int i, gone = 0;

	EXPECT_EQ(0, put_line(CARD "latency_ns", "200000000"));
	ASSERT_EQ(MANY, submit_all(self, self->fd));
	ASSERT_EQ(0, put_line(SIM "remove", "sim0"));
	ASSERT_EQ(MANY, reap(self, MANY));
	for (i = 0; i < MANY; i++)
		gone += self->r[i].res == -ENODEV;
	EXPECT_LT(0, gone);
	EXPECT_EQ(-ENODEV, native_run(self->fd, &self->c[0]));
	ASSERT_EQ(0, put_line(SIM "add", "algs=real"));
}

static int open_chain(int fd, uint32_t flags, struct ocf_session_open *o)
{
	*o = (struct ocf_session_open){
		.mode = OCF_MODE_ETA, .cipher = "aes-cbc", .mac = "hmac-sha1",
		.key = addr(key), .keylen = 16,
		.mackey = addr(key), .mackeylen = 16, .flags = flags,
	};
	return native_open(fd, o);
}

/* The two that are left do it together, although none has done so before. */
TEST_F(card, a_chain_whose_card_goes)
{
	struct ocf_session_open o, soft;
	struct ocf_command c = self->c[1];
	uint8_t tag[2][20] = {};

	ASSERT_EQ(0, put_line(SIM "add", OPTIONS));
	ASSERT_EQ(0, put_line(SIM "add", OPTIONS));
	ASSERT_EQ(0, put_line("/sys/class/ocf/sim1/forbid", "hmac-sha1"));
	ASSERT_EQ(0, put_line("/sys/class/ocf/sim2/forbid", "aes-cbc"));
	ASSERT_EQ(0, open_chain(self->fd, OCF_SESSION_HARDWARE, &o));
	ASSERT_EQ(0, open_chain(self->fd, OCF_SESSION_SOFTWARE, &soft));
	ASSERT_EQ(0, put_line(SIM "remove", "sim0"));

	c.session = o.session;
	c.tag = addr(tag[0]);
	EXPECT_EQ((int)c.len, native_run(self->fd, &c));
	c.session = soft.session;
	c.dst = addr(self->want + LEN);
	c.tag = addr(tag[1]);
	EXPECT_EQ((int)c.len, native_run(self->fd, &c));
	EXPECT_TRUE(is_right(self, 1));
	EXPECT_EQ(0, memcmp(tag[0], tag[1], sizeof(tag[0])));

	ASSERT_EQ(0, put_line(SIM "remove", "sim1"));
	ASSERT_EQ(0, put_line(SIM "remove", "sim2"));
	ASSERT_EQ(0, put_line(SIM "add", "algs=real"));
}

TEST_HARNESS_MAIN
