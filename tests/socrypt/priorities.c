// SPDX-License-Identifier: BSD-2-Clause
/*
 * Senders of different priority on one processor: each receives what its peer
 * sent, byte by byte.
 *
 *	tests/socrypt/priorities		make t T=socrypt_priorities
 *
 * With full preemption one sender may interrupt another that is allocating
 * space for a record, and allocate its own space from the same pages.  Records
 * are small here, so that a sender spends most of its time on such allocations.
 */
#include <linux/so_crypt.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "../lib/tcp.h"
#include "../selftests/random.h"

#include "kselftest_harness.h"

#define PAYLOAD		16	/* bytes in a record */
#define TAG		16
#define HEADER		2	/* the length */
#define PIECE		1024	/* bytes that repeat */
#define PAUSE_NS	200000	/* at most, between urgent records */

__thread uint64_t chance_state;

struct connection {
	int		in, out;
	uint8_t		data[PIECE];
	uint64_t	sent, got;
};

FIXTURE(priorities) {
	struct connection urgent, patient;
	int rounds;
};

static void connection_open(struct connection *c)
{
	struct so_crypt crypt = {
		.size = sizeof(crypt), .protocol = SO_CRYPT_FRAMED,
		.cipher = "aes-gcm", .keylen = 16, .ivlen = 12,
		.framing = {
			.header_len = HEADER, .type_at = SO_CRYPT_NOWHERE,
			.length_size = HEADER, .order = SO_CRYPT_AEAD,
			.nonce = SO_CRYPT_NONCE_XOR, .payload_max = PAYLOAD,
			.sealed_max = PAYLOAD + TAG,
			.number_max = UINT64_MAX - 1,
		},
	};
	int fd[2], i;

	fill_by_chance(crypt.key, crypt.keylen);
	fill_by_chance(crypt.iv, crypt.ivlen);
	fill_by_chance(c->data, sizeof(c->data));
	tcp_pair(fd);
	for (i = 0; i < 2; i++)
		if (setsockopt(fd[i], SOL_TCP, TCP_ULP, "ocf", 3) ||
		    setsockopt(fd[i], SOL_OCF, i ? SO_CRYPT_TX : SO_CRYPT_RX,
			       &crypt, sizeof(crypt)))
			err(1, "keys");
	c->in = fd[0];
	c->out = fd[1];
}

/*
 * Sends the next @len bytes.  Each connection has a process of its own that
 * only sends.
 */
static void next(struct connection *c, size_t len)
{
	const uint8_t *from = c->data + c->sent % PIECE;

	if (send(c->out, from, len, 0) != (ssize_t)len)
		err(1, "send");
	c->sent += len;
}

FIXTURE_SETUP(priorities)
{
	cpu_set_t one;

	chance_from(seed_given());
	self->rounds = rounds_given(5000);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	connection_open(&self->urgent);
	connection_open(&self->patient);
}

FIXTURE_TEARDOWN(priorities) { }

/* A record now and then, at a moment that this process does not choose. */
static void be_urgent(struct connection *c, int rounds)
{
	struct sched_param prio = { .sched_priority = 10 };
	struct timespec t = {};

	if (sched_setscheduler(0, SCHED_FIFO, &prio))
		err(1, "SCHED_FIFO");
	while (rounds--) {
		t.tv_nsec = below(PAUSE_NS);
		nanosleep(&t, NULL);
		next(c, PAYLOAD);
	}
}

/* Record after record until @ended is readable. */
static void be_patient(struct connection *c, int ended, int rounds)
{
	struct pollfd end = { .fd = ended };
	struct rusage use;

	while (!poll(&end, 1, 0))
		next(c, PIECE);
	getrusage(RUSAGE_SELF, &use);
	printf("# preempted %ld times in %d rounds\n", use.ru_nivcsw, rounds);
	fflush(stdout);
	if (use.ru_nivcsw < rounds / 4)
		errx(1, "too seldom to show anything");
}

/* Compares what has come with what the peer sent.  False at the end. */
static bool receive(struct __test_metadata *_metadata, struct connection *c)
{
	uint8_t buf[PIECE];
	size_t at = c->got % PIECE;
	ssize_t n = recv(c->in, buf, PIECE - at, 0);

	ASSERT_LE(0, n) {
		TH_LOG("after %llu bytes: %s", (unsigned long long)c->got,
		       strerror(errno));
	}
	ASSERT_EQ(0, memcmp(buf, c->data + at, n));
	c->got += n;
	return n;
}

TEST_F_TIMEOUT(priorities, two_on_one_processor, 600)
{
	struct connection *c[] = { &self->urgent, &self->patient };
	struct pollfd in[2];
	int ended[2], i, left = 2, status;
	pid_t pid[2];

	ASSERT_EQ(0, pipe(ended));
	for (i = 0; i < 2; i++) {
		in[i] = (struct pollfd){ .fd = c[i]->in, .events = POLLIN };
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (pid[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!i) {
			be_urgent(c[i], self->rounds);
		} else {
			close(ended[1]);
			be_patient(c[i], ended[0], self->rounds);
		}
		exit(0);
	}
	close(ended[1]);
	for (i = 0; i < 2; i++)
		close(c[i]->out);
	while (left) {
		ASSERT_LT(0, poll(in, 2, -1));
		for (i = 0; i < 2; i++) {
			if (in[i].revents && !receive(_metadata, c[i])) {
				in[i].fd = -1;
				left--;
			}
		}
	}
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status);
	}
	EXPECT_EQ((uint64_t)self->rounds * PAYLOAD, self->urgent.got);
}

TEST_HARNESS_MAIN
