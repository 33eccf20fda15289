// SPDX-License-Identifier: BSD-2-Clause
/*
 * libocf: queues by io_uring and without, over processes and threads.
 */
#include <kselftest_harness.h>
#include <liburing.h>
#include <ocf/public.h>
#include <ocf/queue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "libocf.h"

#define MANY	100
#define CARD	"/sys/class/ocf/sim0/device/"
#define SIM	"/sys/bus/platform/drivers/ocf_sim/"

FIXTURE(queue)
{
	struct ocf *ocf;
	struct ocf_queue *queue;
	uint32_t session;
	uint8_t *in, *out, *want;
};

FIXTURE_VARIANT(queue)
{
	unsigned int flags;
};

FIXTURE_VARIANT_ADD(queue, uring)
{
	.flags = OCF_QUEUE_URING,
};

FIXTURE_VARIANT_ADD(queue, one_thread)
{
	.flags = OCF_QUEUE_URING | OCF_QUEUE_ONE_THREAD,
};

FIXTURE_VARIANT_ADD(queue, calls)
{
	.flags = OCF_QUEUE_NO_URING,
};

FIXTURE_SETUP(queue)
{
	int i;

	ASSERT_EQ(0, ocf_open(&self->ocf));
	ASSERT_EQ(0, ocf_queue_open(self->ocf, MANY, variant->flags,
				    &self->queue));
	self->session = session(self->ocf, OCF_MODE_CIPHER, "aes-cbc", "");
	self->in = malloc(MANY * LEN);
	self->out = calloc(MANY, LEN);
	self->want = malloc(MANY * LEN);
	fill(self->in, MANY * LEN, 1);
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(LEN, ocf_cipher(self->ocf, self->session,
					  OCF_OP_ENCRYPT, key, 16,
					  self->in + i * LEN,
					  self->want + i * LEN, LEN));
}

FIXTURE_TEARDOWN(queue)
{
	ocf_queue_close(self->queue);
	ocf_close(self->ocf);
	free(self->in);
	free(self->out);
	free(self->want);
}

typedef struct _test_data_queue Self;

static struct ocf_command command(Self *self, int i)
{
	struct ocf_command c = {
		.cookie = i, .session = self->session, .len = LEN,
		.src = addr(self->in + i * LEN),
		.dst = addr(self->out + i * LEN),
	};

	memcpy(c.iv, key, 16);
	return c;
}

static bool put_all(Self *self)
{
	struct ocf_command c;
	int i;

	for (i = 0; i < MANY; i++) {
		c = command(self, i);
		if (ocf_queue_put(self->queue, &c))
			return false;
	}
	c = command(self, 0);
	return ocf_queue_put(self->queue, &c) == -EBUSY;
}

/* Fetches all results.  Returns how many were done. */
static int get_all(Self *self, int most, int timeout)
{
	bool seen[MANY] = {};
	struct ocf_result r[MANY];
	int i, n, done = 0;

	while (ocf_queue_count(self->queue)) {
		n = ocf_queue_get(self->queue, r, most, timeout);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			if (seen[r[i].cookie])
				return -EPROTO;
			seen[r[i].cookie] = true;
			done += r[i].res == LEN;
		}
	}
	return done;
}

TEST_F(queue, many)
{
	int i;

	EXPECT_EQ(!(variant->flags & OCF_QUEUE_NO_URING),
		  ocf_queue_is_uring(self->queue));
	for (i = 0; i < 3; i++) {
		memset(self->out, 0, MANY * LEN);
		ASSERT_TRUE(put_all(self));
		EXPECT_EQ(MANY, ocf_queue_count(self->queue));
		if (i == 1)
			ASSERT_EQ(0, ocf_queue_submit(self->queue));
		EXPECT_EQ(MANY, get_all(self, i ? MANY : 7, i ? 10000 : -1));
		EXPECT_EQ(0, memcmp(self->want, self->out, MANY * LEN));
	}
}

TEST_F(queue, what_is_refused_comes_as_a_result)
{
	struct ocf_result r[3];
	struct ocf_command c;
	int i;

	for (i = 0; i < 3; i++) {
		c = command(self, i);
		if (i == 1)
			c.session = 0;
		ASSERT_EQ(0, ocf_queue_put(self->queue, &c));
	}
	c = command(self, 3);
	for (i = 0; i < 3;)
		i += ocf_queue_get(self->queue, r + i, 3 - i, -1);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(r[i].cookie == 1 ? -EINVAL : LEN, r[i].res);
	EXPECT_EQ(0, ocf_queue_get(self->queue, r, 3, -1));
	EXPECT_EQ(0, ocf_queue_get(self->queue, r, 0, -1));
}

TEST_F(queue, told_by_poll)
{
	struct pollfd p = {
		.fd = ocf_queue_fd(self->queue), .events = POLLIN,
	};
	struct ocf_result r;
	struct ocf_command c = command(self, 5);

	EXPECT_EQ(0, poll(&p, 1, 0));
	ASSERT_EQ(0, ocf_queue_put(self->queue, &c));
	ASSERT_EQ(0, ocf_queue_submit(self->queue));
	ASSERT_EQ(1, poll(&p, 1, 10000));
	EXPECT_EQ(1, ocf_queue_get(self->queue, &r, 1, 0));
	EXPECT_EQ(5, r.cookie);
	EXPECT_EQ(LEN, r.res);
	EXPECT_EQ(0, poll(&p, 1, 0));
}

/* A command that is refused has a result, too. */
TEST_F(queue, told_of_refusals)
{
	struct pollfd p = {
		.fd = ocf_queue_fd(self->queue), .events = POLLIN,
	};
	struct ocf_command c = command(self, 5);
	struct ocf_result r;

	c.session = 0;
	ASSERT_EQ(0, ocf_queue_put(self->queue, &c));
	ASSERT_EQ(0, ocf_queue_submit(self->queue));
	ASSERT_EQ(1, poll(&p, 1, 10000));
	EXPECT_EQ(1, ocf_queue_get(self->queue, &r, 1, 0));
	EXPECT_EQ(-EINVAL, r.res);
	EXPECT_EQ(0, poll(&p, 1, 0));
}

static void nothing(int sig)
{
}

/* A signal ends a wait, also of a task that has just submitted something. */
TEST_F_TIMEOUT(queue, interrupted, 300)
{
	struct ocf_session_open params = {
		.mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .key = addr(key),
		.keylen = 16, .flags = OCF_SESSION_HARDWARE,
	};
	struct sigaction act = { .sa_handler = nothing };
	struct ocf_command c = command(self, 0);
	struct ocf_result r;

	ASSERT_EQ(0, put_line(SIM "add", "algs=real depth=8 patience=60000"));
	ASSERT_EQ(0, ocf_session_create(self->ocf, &params));
	ASSERT_EQ(LEN, ocf_cipher(self->ocf, params.session, OCF_OP_ENCRYPT,
				  key, 16, self->in, self->out, LEN));
	ASSERT_EQ(0, put_line(CARD "hold", "1"));
	c.session = params.session;
	ASSERT_EQ(0, ocf_queue_put(self->queue, &c));
	sigaction(SIGALRM, &act, NULL);
	/* again, because one may come before the wait */
	ualarm(300000, 300000);
	EXPECT_EQ(-EINTR, ocf_queue_get(self->queue, &r, 1, -1));
	ualarm(0, 0);
	EXPECT_EQ(0, put_line(CARD "hold", "0"));
	EXPECT_EQ(1, ocf_queue_get(self->queue, &r, 1, -1));
	EXPECT_EQ(LEN, r.res);
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
}

TEST_F(queue, registered)
{
	struct iovec both[2] = {
		{ self->in, MANY * LEN }, { self->out, MANY * LEN },
	};
	struct ocf_command c = command(self, 3);
	struct ocf_result r;

	EXPECT_EQ(-EINVAL, ocf_queue_put_fixed(self->queue, &c, 0));
	ASSERT_EQ(0, ocf_queue_register(self->queue, both, 2));
	ASSERT_EQ(0, ocf_queue_put_fixed(self->queue, &c, 0));
	EXPECT_EQ(-EBUSY, ocf_queue_register(self->queue, NULL, 0));
	ASSERT_EQ(1, ocf_queue_get(self->queue, &r, 1, -1));
	EXPECT_EQ(LEN, r.res);
	c = command(self, 4);
	ASSERT_EQ(0, ocf_queue_put_fixed(self->queue, &c, 1));
	ASSERT_EQ(1, ocf_queue_get(self->queue, &r, 1, -1));
	EXPECT_EQ(LEN, r.res);
	EXPECT_EQ(0, memcmp(self->want + 3 * LEN, self->out + 3 * LEN,
			    2 * LEN));
	c.src = c.dst = addr(&c);
	EXPECT_EQ(-EINVAL, ocf_queue_put_fixed(self->queue, &c, 0));
	EXPECT_EQ(-EINVAL, ocf_queue_put_fixed(self->queue, &c, 2));
	EXPECT_EQ(0, ocf_queue_register(self->queue, both, 1));
	EXPECT_EQ(0, ocf_queue_register(self->queue, NULL, 0));
	EXPECT_EQ(-EINVAL, ocf_queue_register(self->queue, both, 1025));
}

TEST_F(queue, not_a_childs)
{
	struct ocf_command c = command(self, 0);
	struct ocf_result r;
	int status;
	pid_t pid;

	ASSERT_EQ(0, ocf_queue_put(self->queue, &c));
	pid = fork();
	if (!pid) {
		if (ocf_queue_put(self->queue, &c) != -EPERM ||
		    ocf_queue_put_fixed(self->queue, &c, 0) != -EPERM ||
		    ocf_queue_submit(self->queue) != -EPERM ||
		    ocf_queue_get(self->queue, &r, 1, -1) != -EPERM ||
		    ocf_queue_cancel(self->queue, 0) != -EPERM ||
		    ocf_queue_register(self->queue, NULL, 0) != -EPERM ||
		    ocf_queue_fd(self->queue) != -EPERM)
			_exit(1);
		ocf_queue_close(self->queue);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(1, ocf_queue_get(self->queue, &r, 1, -1));
	EXPECT_EQ(LEN, r.res);
}

TEST_F(queue, public_keys)
{
	static const uint8_t n[3] = { 3, 5, 7 };
	struct ocf_public power = {
		.code = OCF_PK_MOD_EXP,
		.in = { { (void *)&n[0], 1 }, { (void *)&n[1], 1 },
			{ (void *)&n[2], 1 } },
		.out = { { self->out, 1 } },
	};
	struct ocf_pk_value values[OCF_PUBLIC_IN_MAX + OCF_PUBLIC_OUT_MAX];
	struct ocf_pk_command c;
	struct ocf_result r;

	ASSERT_EQ(0, ocf_public_command(&power, 77, values, &c));
	ASSERT_EQ(0, ocf_queue_put(self->queue,
				   (const struct ocf_command *)&c));
	ASSERT_EQ(1, ocf_queue_get(self->queue, &r, 1, -1));
	EXPECT_EQ(77, r.cookie);
	EXPECT_EQ(1, r.res);
	EXPECT_EQ(5, self->out[0]);
}

/* On a slow card */
TEST_F_TIMEOUT(queue, under_way, 300)
{
	struct ocf_session_open params = {
		.mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .key = addr(key),
		.keylen = 16, .flags = OCF_SESSION_HARDWARE,
	};
	struct ocf_result r[MANY];
	uint64_t i;
	int gone = 0;

	ASSERT_EQ(0, put_line(SIM "add", "algs=real depth=8 patience=60000"));
	ASSERT_EQ(0, ocf_session_create(self->ocf, &params));
	ASSERT_EQ(LEN, ocf_cipher(self->ocf, params.session, OCF_OP_ENCRYPT,
				  key, 16, self->in, self->out, LEN));
	self->session = params.session;
	ASSERT_EQ(0, put_line(CARD "latency_ns", "50000000"));
	ASSERT_EQ(0, put_line(CARD "hold", "1"));
	ASSERT_TRUE(put_all(self));
	ASSERT_EQ(0, ocf_queue_submit(self->queue));
	/* there is no result yet */
	EXPECT_EQ(0, ocf_queue_get(self->queue, r, MANY, 0));
	EXPECT_EQ(0, ocf_queue_get(self->queue, r, MANY, 1));
	for (i = 1; i < MANY; i += 2)
		gone += ocf_queue_cancel(self->queue, i) == 1;
	EXPECT_EQ(-ENOENT, ocf_queue_cancel(self->queue, MANY));
	EXPECT_LT(0, gone);
	EXPECT_EQ(0, put_line(CARD "hold", "0"));
	EXPECT_EQ(MANY - gone, get_all(self, MANY, -1));
	/* closed with all commands in flight: nothing is written afterwards */
	memset(self->out, 0, MANY * LEN);
	ASSERT_TRUE(put_all(self));
	ASSERT_EQ(0, ocf_queue_submit(self->queue));
	ocf_queue_close(self->queue);
	self->queue = NULL;
	EXPECT_EQ(0, memcmp(self->want, self->out, MANY * LEN));
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
}

static void *another(void *arg)
{
	struct ocf *ocf = arg;
	uint8_t in[LEN] = {}, out[LEN];
	struct ocf_queue *queue;
	struct ocf_result r[4];
	uint32_t ses;
	int i, n;

	ses = session(ocf, OCF_MODE_CIPHER, "aes-cbc", "");
	if (ocf_queue_open(ocf, 4, OCF_QUEUE_URING, &queue))
		return "open";
	for (i = 0; i < 500; i++) {
		struct ocf_command c = {
			.session = ses, .src = addr(in), .dst = addr(out),
			.len = LEN, .cookie = i,
		};

		if (ocf_queue_put(queue, &c))
			return "put";
		n = ocf_queue_get(queue, r, 4, -1);
		if (n != 1 || r[0].cookie != (uint64_t)i || r[0].res != LEN)
			return "get";
	}
	ocf_queue_close(queue);
	ocf_session_destroy(ocf, ses);
	return NULL;
}

FIXTURE(device)
{
	struct ocf *ocf;
};

FIXTURE_SETUP(device)
{
	ASSERT_EQ(0, ocf_open(&self->ocf));
}

FIXTURE_TEARDOWN(device)
{
	ocf_close(self->ocf);
}

static int a_file(void)
{
	return open("/tmp", O_TMPFILE | O_RDWR, 0600);
}

static int an_eventfd(void)
{
	return eventfd(0, EFD_NONBLOCK);
}

static int an_epoll(void)
{
	return epoll_create1(0);
}

static int a_ring(void)
{
	struct io_uring ring;

	return io_uring_queue_init(4, &ring, 0) ? -1 : ring.ring_fd;
}

/*
 * Like a daemon, closes all descriptors from the device's plus @first on, and
 * opens others.  libocf must not use their numbers.  One command is in the
 * queue, and is refused.
 */
static int close_what_is_not_there(unsigned int flags, int first,
				   int (*make)(void))
{
	struct ocf_command c = { .session = 12345 };
	struct ocf_result r;
	struct ocf_queue *q;
	struct stat st;
	struct ocf *ocf;
	eventfd_t n;
	int fd, i;

	close_range(3, ~0u, 0);
	if (ocf_open(&ocf) || ocf_queue_open(ocf, MANY, flags, &q) ||
	    ocf_queue_put(q, &c))
		return 1;
	first += ocf_fd(ocf);
	close_range(first, ~0u, 0);
	for (i = 0; i < 16; i++) {
		fd = make();
		if (fd != first + i)
			return 2;
	}
	alarm(60);
	ocf_queue_submit(q);
	if (ocf_queue_get(q, &r, 1, -1) == 1 && r.res >= 0)
		return 4;
	if (first == ocf_fd(ocf) + 1 && ocf_queue_fd(q) != -EBADF)
		return 5;
	ocf_queue_close(q);
	ocf_close(ocf);
	for (i = 0; i < 16; i++)
		if (fstat(first + i, &st) || st.st_size ||
		    (make == an_eventfd && !eventfd_read(first + i, &n)))
			return 3;
	return 0;
}

TEST_F(device, closed_by_who_does_not_know_it)
{
	static const unsigned int flags[] = { 0, OCF_QUEUE_NO_URING };
	int (*make[])(void) = { a_file, an_eventfd, an_epoll, a_ring };
	int i, status;
	pid_t pid;

	for (i = 0; i < 24; i++) {
		pid = fork();
		if (!pid)
			_exit(close_what_is_not_there(flags[i % 2], i / 2 % 3,
						      make[i / 6]));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status) TH_LOG("run %d: %#x", i, status);
	}
}

TEST_F(device, threads)
{
	pthread_t t[8];
	void *res;
	int i;

	for (i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, another, self->ocf);
	for (i = 0; i < 8; i++) {
		pthread_join(t[i], &res);
		EXPECT_EQ(NULL, res);
	}
}

TEST_F(device, queues_that_make_no_sense)
{
	struct ocf_queue *q, *other;

	EXPECT_EQ(-EINVAL, ocf_queue_open(self->ocf, 0, 0, &q));
	EXPECT_EQ(-EINVAL, ocf_queue_open(self->ocf, 1025, 0, &q));
	EXPECT_EQ(-EINVAL, ocf_queue_open(self->ocf, 1, 8, &q));
	EXPECT_EQ(-EINVAL, ocf_queue_open(self->ocf, 1, OCF_QUEUE_URING |
					  OCF_QUEUE_NO_URING, &q));
	ASSERT_EQ(0, ocf_queue_open(self->ocf, 1, OCF_QUEUE_NO_URING, &q));
	EXPECT_EQ(-EBUSY, ocf_queue_open(self->ocf, 1, OCF_QUEUE_NO_URING,
					 &other));
	ocf_queue_close(q);
	ASSERT_EQ(0, ocf_queue_open(self->ocf, 1024, OCF_QUEUE_NO_URING, &q));
	ocf_queue_close(q);
	ocf_queue_close(NULL);
}

/* If io_uring is forbidden, queues use ioctl(). */
TEST_F(device, without_io_uring)
{
	struct ocf_queue *q;

	ASSERT_EQ(0, put_line("/proc/sys/kernel/io_uring_disabled", "2"));
	ASSERT_EQ(0, ocf_queue_open(self->ocf, 8, 0, &q));
	EXPECT_FALSE(ocf_queue_is_uring(q));
	ocf_queue_close(q);
	EXPECT_EQ(-EPERM, ocf_queue_open(self->ocf, 8, OCF_QUEUE_URING, &q));
	ASSERT_EQ(0, put_line("/proc/sys/kernel/io_uring_disabled", "0"));
}

TEST_HARNESS_MAIN
