// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sessions and descriptors that are shared: between threads, with children,
 * and passed on.
 */
#include "sharing.h"

#include <sys/socket.h>

__thread uint64_t chance_state;

/* ---- children ---- */

TEST_F(sharing, a_child_has_its_parents_sessions)
{
	pid_t pid = fork();

	if (!pid)
		_exit(right(self, self->fd));
	EXPECT_EQ(0, ended(pid));
	/* the sessions stay when the child ends */
	EXPECT_EQ(0, right(self, self->fd));
	pid = fork();
	if (!pid)
		_exit(close_session(self->fd, self->ses));
	EXPECT_EQ(0, ended(pid));
	/* the child can close its parent's session */
	EXPECT_EQ(EINVAL, right(self, self->fd));
}

TEST_F(sharing, the_parent_may_go_first)
{
	int done[2];
	char how = 1;
	pid_t pid;

	ASSERT_EQ(0, pipe(done));
	pid = fork();
	if (!pid) {
		if (!fork()) {
			while (getppid() == getpgrp())
				usleep(1000);
			usleep(50000);
			how = right(self, self->fd) != 0;
			_exit(write(done[1], &how, 1) != 1);
		}
		_exit(0);
	}
	EXPECT_EQ(0, ended(pid));
	close(self->fd);
	EXPECT_EQ(1, read(done[0], &how, 1));
	EXPECT_EQ(0, how);
	close(done[0]);
	close(done[1]);
}

TEST_F(sharing, a_session_is_of_one_open_file)
{
	int other = open_dev();

	EXPECT_EQ(EINVAL, right(self, other));
	EXPECT_EQ(EINVAL, close_session(other, self->ses));
	EXPECT_EQ(0, right(self, self->fd));
	close(other);
}

TEST_F(sharing, a_duplicate_is_the_same_file)
{
	int other = dup(self->fd), third = fcntl(self->fd, F_DUPFD_CLOEXEC, 50);

	close(self->fd);
	self->fd = third;
	EXPECT_EQ(0, right(self, other));
	EXPECT_EQ(0, submit(self, other, self->out, SMALL));
	close(other);
	EXPECT_EQ(0, fetch(third));
	EXPECT_EQ(0, memcmp(self->out, self->want, SMALL));
	EXPECT_EQ(0, right(self, third));
}

/* ---- another program ---- */

/* In the new program: returns 0 if the session gives the expected result. */
static int as_another(int fd, uint32_t ses)
{
	uint8_t text[64], iv[16], want[16], out[64];

	fill(text, sizeof(text), 1);
	fill(iv, 16, 2);
	if (read(0, want, 16) != 16)
		return 99;
	return crypt_op(fd, ses, COP_ENCRYPT, 0, text, out, 64, iv, NULL) ?:
	       memcmp(out + 48, want, 16) ? 98 : 0;
}

static int run_another(Self *self, int fd)
{
	char number[16], ses[16];
	int in[2];
	pid_t pid;

	if (pipe(in) || write(in[1], self->want + 48, 16) != 16)
		return -1;
	snprintf(number, sizeof(number), "%d", fd);
	snprintf(ses, sizeof(ses), "%u", self->ses);
	pid = fork();
	if (!pid) {
		dup2(in[0], 0);
		execl("/proc/self/exe", "sharing", "--another", number, ses,
		      NULL);
		_exit(97);
	}
	close(in[0]);
	close(in[1]);
	return WEXITSTATUS(ended(pid));
}

TEST_F(sharing, another_program_gets_what_it_is_left)
{
	int left = open(DEVICE, O_RDWR), i;

	EXPECT_EQ(EBADF, run_another(self, self->fd));
	/*
	 * a descriptor that was opened without O_CLOEXEC stays open in the new
	 * program
	 */
	i = self->fd;
	self->fd = left;
	close(i);
	ASSERT_EQ(0, open_session(left, CRYPTO_AES_CBC, 16, 0, 0, &self->ses));
	EXPECT_EQ(0, run_another(self, left));
	/* the new program cannot fetch results of the one before */
	EXPECT_EQ(0, submit(self, left, self->out, SMALL));
	EXPECT_EQ(0, run_another(self, left));
	EXPECT_EQ(0, fetch(left));
}

/* ---- passed on ---- */

static int send_fd(int sock, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u = {};
	struct iovec iov = { .iov_base = "", .iov_len = 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = u.buf, .msg_controllen = sizeof(u.buf) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(sock, &m, 0) == 1 ? 0 : errno;
}

static int receive_fd(int sock)
{
	char buf[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = buf, .msg_controllen = sizeof(buf) };
	int fd = -1;

	if (recvmsg(sock, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}

/*
 * A process that may not open the node may use a descriptor that it gets, and
 * only its opener is charged.
 */
TEST_F(sharing, a_descriptor_is_passed_on)
{
	int pair[2], fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = fork();
	if (!pid) {
		close(self->fd);
		become(SOMEBODY);
		if (open_dev() >= 0 || errno != EACCES)
			_exit(1);
		fd = receive_fd(pair[1]);
		if (fd < 0 || right(self, fd))
			_exit(2);
		/* an operation of another process cannot be fetched */
		if (call(fd, CIOCASYNCFETCH, &(struct crypt_op){}) != EBUSY)
			_exit(3);
		if (submit(self, fd, self->out, SMALL) || fetch(fd))
			_exit(4);
		_exit(memcmp(self->out, self->want, SMALL) ? 5 : 0);
	}
	ASSERT_EQ(0, submit(self, self->fd, self->out, SMALL));
	usleep(100000);
	EXPECT_EQ(0, send_fd(pair[0], self->fd));
	EXPECT_EQ(0, ended(pid));
	EXPECT_EQ(0, fetch(self->fd));
	close(pair[0]);
	close(pair[1]);
}

/* A descriptor in a message that nobody reads is closed with the socket. */
TEST_F(sharing, a_descriptor_that_never_arrives)
{
	int pair[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	EXPECT_EQ(0, submit(self, self->fd, self->out, SMALL));
	EXPECT_EQ(0, send_fd(pair[0], self->fd));
	close(self->fd);
	close(pair[0]);
	close(pair[1]);
}

/* ---- threads ---- */

struct worker {
	int		fd, rounds, number;
	uint32_t	cipher, hash, both;
	int		wrong;
};

/*
 * Runs operations with texts, lengths and IVs of its own; the results must be
 * as if there was no other thread.
 */
static int one_round(const struct worker *w, uint32_t own[3])
{
	static __thread uint8_t text[SMALL], a[SMALL], b[SMALL], m[2][64];
	uint32_t len = 16 * (1 + log_uniform(SMALL / 16 - 1));
	uint8_t iv[16];

	fill_by_chance(iv, 16);
	fill(text, len, chance());
	if (crypt_op(w->fd, own[0], COP_ENCRYPT, 0, text, a, len, iv, NULL) ||
	    crypt_op(w->fd, w->cipher, COP_ENCRYPT, 0, text, b, len, iv,
		     NULL) || memcmp(a, b, len))
		return 1;
	if (crypt_op(w->fd, own[1], 0, 0, text, NULL, len, NULL, m[0]) ||
	    crypt_op(w->fd, w->hash, 0, 0, text, NULL, len, NULL, m[1]) ||
	    memcmp(m[0], m[1], 32))
		return 2;
	if (crypt_op(w->fd, own[2], COP_ENCRYPT, 0, text, a, len, iv, m[0]) ||
	    crypt_op(w->fd, w->both, COP_ENCRYPT, COP_FLAG_NO_ZC, text, b,
		     len, iv, m[1]) || memcmp(a, b, len) ||
	    memcmp(m[0], m[1], 20))
		return 3;
	return 0;
}

static int open_three(int fd, uint32_t *cipher, uint32_t *hash, uint32_t *both)
{
	return open_session(fd, CRYPTO_AES_CBC, 16, 0, 0, cipher) ?:
	       open_session(fd, 0, 0, CRYPTO_SHA2_256, 0, hash) ?:
	       open_session(fd, CRYPTO_AES_CBC, 16, CRYPTO_SHA1_HMAC, 20, both);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint32_t own[3];
	int i;

	chance_from(w->number);
	w->wrong = open_three(w->fd, &own[0], &own[1], &own[2]);
	for (i = 0; i < w->rounds && !w->wrong; i++)
		w->wrong = one_round(w, own);
	return NULL;
}

TEST_F_TIMEOUT(sharing, threads_on_the_same_sessions, TIMEOUT)
{
	struct worker w[4] = {};
	pthread_t t[4];
	int i;

	w[0].fd = self->fd;
	w[0].rounds = rounds_given(200);
	ASSERT_EQ(0, open_three(self->fd, &w[0].cipher, &w[0].hash,
				&w[0].both));
	for (i = 0; i < 4; i++) {
		w[i] = w[0];
		w[i].number = i;
		ASSERT_EQ(0, pthread_create(&t[i], NULL, work, &w[i]));
	}
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		EXPECT_EQ(0, w[i].wrong) TH_LOG("%d", i);
	}
}

/* Many threads add parts to one digest: in any order, and none is lost. */
static void *add_zeroes(void *arg)
{
	static const uint8_t zeroes[1000];
	struct worker *w = arg;
	int i;

	for (i = 0; i < w->rounds && !w->wrong; i++)
		w->wrong = crypt_op(w->fd, w->hash, COP_ENCRYPT,
				    COP_FLAG_UPDATE, zeroes, NULL,
				    sizeof(zeroes), NULL, NULL);
	return NULL;
}

TEST_F_TIMEOUT(sharing, threads_on_one_digest, TIMEOUT)
{
	uint8_t parts[32], whole[32];
	struct worker w[4] = {};
	pthread_t t[4];
	int i;

	w[0].fd = self->fd;
	w[0].rounds = rounds_given(200);
	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA2_256, 0,
				  &w[0].hash));
	for (i = 0; i < 4; i++) {
		w[i] = w[0];
		ASSERT_EQ(0, pthread_create(&t[i], NULL, add_zeroes, &w[i]));
	}
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		EXPECT_EQ(0, w[i].wrong);
	}
	memset(self->text, 0, 4 * w[0].rounds * 1000);
	EXPECT_EQ(0, crypt_op(self->fd, w[0].hash, COP_ENCRYPT, COP_FLAG_FINAL,
			      NULL, NULL, 0, NULL, parts));
	EXPECT_EQ(0, crypt_op(self->fd, w[0].hash, COP_ENCRYPT, 0, self->text,
			      NULL, 4 * w[0].rounds * 1000, NULL, whole));
	EXPECT_EQ(0, memcmp(parts, whole, 32));
}

/*
 * Opens and closes sessions while other sessions are used: ids are never mixed
 * up.
 */
static void *come_and_go(void *arg)
{
	struct worker *w = arg;
	uint8_t in[16], out[16];
	uint32_t ses[5];
	int i, j;

	fill(in, 16, w->number);
	for (i = 0; i < w->rounds && !w->wrong; i++) {
		for (j = 0; j < 5; j++)
			w->wrong |= open_session(w->fd, CRYPTO_NULL, 0, 0, 0,
						 &ses[j]);
		for (j = 0; j < 5; j++)
			w->wrong |= crypt_op(w->fd, ses[j], COP_ENCRYPT, 0, in,
					     out, 16, NULL, NULL) |
				    memcmp(in, out, 16) |
				    close_session(w->fd, ses[j]);
	}
	return NULL;
}

TEST_F_TIMEOUT(sharing, sessions_come_and_go, TIMEOUT)
{
	struct worker w[4] = {};
	pthread_t t[4];
	int i;

	for (i = 0; i < 4; i++) {
		w[i].fd = self->fd;
		w[i].rounds = rounds_given(300);
		w[i].number = i;
		ASSERT_EQ(0, pthread_create(&t[i], NULL, come_and_go, &w[i]));
	}
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		EXPECT_EQ(0, w[i].wrong);
	}
	EXPECT_EQ(0, right(self, self->fd));
}

/* Returns how many operations are done while a long one is in flight. */
static int done_meanwhile(Self *self, struct busy *b, uint32_t ses, bool mac)
{
	uint8_t out[64];
	pthread_t t;
	int n = 0;

	b->begun = b->done = false;
	if (pthread_create(&t, NULL, be_busy, b))
		return -1;
	while (!b->begun)
		usleep(100);
	usleep(20000);
	while (!b->done) {
		if (crypt_op(self->fd, ses, COP_ENCRYPT, 0, self->text, out,
			     64, mac ? NULL : self->iv, mac ? out : NULL))
			break;
		n++;
	}
	pthread_join(t, NULL);
	return n;
}

/*
 * Returns whether many operations are done while a long one is in flight.  If
 * they had to wait for it, only one would be done.  If the host stops this CPU
 * for as long as the long operation takes, the test tries once more.
 */
static bool keeps_nobody_waiting(Self *self, struct busy *b, uint32_t ses,
				 bool mac)
{
	int tries, n = 0;

	for (tries = 0; tries < 20 && n >= 0 && n <= 50; tries++)
		n = done_meanwhile(self, b, ses, mac);
	return n > 50;
}

TEST_F_TIMEOUT(sharing, one_that_is_busy_keeps_nobody_waiting, TIMEOUT)
{
	uint8_t mac[64];
	struct busy b = { .fd = self->fd, .text = self->text, .len = BIG / 4,
			  .out = self->out, .mac = mac };

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_3DES_CBC, 24, 0, 0,
				  &b.ses));
	/* in another session, then in the same session */
	EXPECT_TRUE(keeps_nobody_waiting(self, &b, self->ses, false));
	EXPECT_TRUE(keeps_nobody_waiting(self, &b, b.ses, false));
	EXPECT_EQ(0, b.err);
	/* copied, which needs memory first */
	b.flags = COP_FLAG_NO_ZC;
	EXPECT_TRUE(keeps_nobody_waiting(self, &b, self->ses, false));
	EXPECT_EQ(0, b.err);
	/* a part of a digest, then a whole digest */
	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_OCF_SHA3_512, 0,
				  &b.ses));
	b.flags = COP_FLAG_UPDATE;
	EXPECT_TRUE(keeps_nobody_waiting(self, &b, self->ses, false));
	EXPECT_TRUE(keeps_nobody_waiting(self, &b, b.ses, true));
	EXPECT_EQ(0, b.err);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--another"))
		return as_another(atoi(argv[2]), atoll(argv[3]));
	return test_harness_run(argc, argv);
}
