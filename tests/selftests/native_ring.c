// SPDX-License-Identifier: BSD-2-Clause
/*
 * The native interface by io_uring, on a slow card: single entries and vectors,
 * ordered and not, and cancelled ones.  Rings also end before their entries,
 * because the process is killed, exits, or executes another program.
 */
#include <kselftest_harness.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include "native_slow.h"

__thread uint64_t chance_state;

#define FILES	600

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

/*
 * Makes the session ordered, and some commands so short that they are done at
 * their submission.
 */
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
 * Entries of an ordered session end in the order of submission.  An entry that
 * is done at its submission does not overtake one whose completion is on its
 * way to the task.
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

/* The vectors of an ordered session end one after the other. */
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
		/* vectors of one to three commands; no command is in two */
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

/* Results of an ordered session are fetched in the order of submission. */
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

	ASSERT_EQ(0, put_line(CARD "hold", "1"));
	ASSERT_TRUE(ring_init(&ring));
	ASSERT_TRUE(put_all(self, &ring, self->fd));
	ring_prepare(&ring, self->fd, OCF_URING_CANCEL, &cookie,
		     8)->user_data = MANY;
	io_uring_submit(&ring);
	ASSERT_EQ(0, put_line(CARD "hold", "0"));
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

/* Entries that io_uring's workers or its polling thread submit */
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
 * An entry that begins after another one, because it is linked or drains, uses
 * its command as it was at the submission.
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

/*
 * A ring that ends does not wait for the card, only until its entries are
 * cancelled.
 */
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

/*
 * Stops the process before its ring ends; the ring has an entry for each of the
 * first @in_ring files.
 */
static void stop_with_files(Self *self, int in_ring)
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
		if (i < in_ring)
			ring_prepare(&ring, fd, OCF_URING_COMMAND, &self->c[0],
				     sizeof(self->c[0]));
	}
	if (io_uring_submit(&ring) != in_ring)
		_exit(3);
	if (!fork()) {
		/* the child has the ring as well */
		usleep(300000);
		_exit(0);
	}
	io_uring_queue_exit(&ring);
	raise(SIGSTOP);
	_exit(4);
}

/*
 * Returns the seconds that such a process takes to end after SIGKILL; or a
 * negative number.
 */
static double end_with_files(Self *self, int in_ring)
{
	double begun;
	int status;
	pid_t pid;

	if (put_line(CARD "fault", "stall 1 0 3000"))
		return -1;
	pid = fork();
	if (!pid)
		stop_with_files(self, in_ring);
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		return -2;
	usleep(1500000);
	begun = now();
	/* do not send SIGCONT first: then the process might end by itself */
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		return -3;
	return now() - begun;
}

/*
 * A process whose ring has entries of many files does not take much longer to
 * end than with one file.  It once took 69 s.  Closing the files is slow on the
 * debug kernel.
 */
TEST_F_TIMEOUT(card, stopped_with_many_files, TIMEOUT)
{
	double one = end_with_files(self, 1), all = end_with_files(self, FILES);

	ASSERT_LE(0, one);
	ASSERT_LE(0, all);
	EXPECT_GT(2 * one + 30, all);
}

/* What a process is doing when it ends */
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

/* Several threads cancel entries while these end. */
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

/*
 * Runs all commands as entries; the data of some are pinned, of others copied.
 */
static int put_all_and_wait(Self *self)
{
	struct io_uring ring;
	uint64_t which;
	int i;

	if (!ring_init(&ring) || !put_all(self, &ring, self->fd))
		return 2;
	for (i = 0; i < MANY; i++)
		if (ring_wait(&ring, &which) != (int)self->c[which].len ||
		    !is_right(self, which))
			return 3;
	io_uring_queue_exit(&ring);
	return 0;
}

TEST_F(card, pins_of_entries_are_locked_memory)
{
	long most;

	most = pins_with_little(self, put_all_and_wait);
	EXPECT_LT(0, most);
	EXPECT_GE(LOCKED, most);
}

TEST_HARNESS_MAIN
