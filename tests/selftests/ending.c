// SPDX-License-Identifier: BSD-2-Clause
/*
 * Operations whose descriptor, session or process ends meanwhile, and processes
 * that are stopped and get signals.
 */
#include "sharing.h"

#include <sys/time.h>

__thread uint64_t chance_state;

TEST_F_TIMEOUT(sharing, a_descriptor_is_closed_under_a_call, TIMEOUT)
{
	struct busy b = { .text = self->text, .out = self->out, .len = BIG };
	static const uint8_t iv[16];
	uint8_t *want = malloc(BIG);
	pthread_t t;
	int i;

	fill(self->text, BIG, 5);
	ASSERT_EQ(0, crypt_op(self->fd, self->ses, COP_ENCRYPT, 0, self->text,
			      want, BIG, iv, NULL));
	for (i = 0; i < 10; i++) {
		b.fd = open_dev();
		b.flags = i % 2 ? COP_FLAG_NO_ZC : 0;
		b.begun = false;
		ASSERT_EQ(0, open_session(b.fd, CRYPTO_AES_CBC, 16, 0, 0,
					  &b.ses));
		ASSERT_EQ(0, pthread_create(&t, NULL, be_busy, &b));
		while (!b.begun)
			usleep(100);
		usleep(below(20000));
		/* close the session first, or let close() end all sessions */
		EXPECT_EQ(0, i % 3 ? 0 : close_session(b.fd, b.ses));
		EXPECT_EQ(0, close(b.fd));
		EXPECT_EQ(EBADF, close_session(b.fd, b.ses));
		pthread_join(t, NULL);
		/*
		 * a request that came after the session was closed has this
		 * error
		 */
		EXPECT_TRUE(!b.err || b.err == EBADF || b.err == EINVAL);
		EXPECT_TRUE(b.err || !memcmp(want, self->out, BIG));
	}
	free(want);
}

/* What a process is doing when it is killed */
static void at_work(Self *self, int how)
{
	struct crypt_auth_op seal = {
		.op = COP_ENCRYPT, .auth_len = 100, .len = BIG / 2,
		.auth_src = self->text, .src = self->text, .dst = self->out,
		.iv = self->iv, .flags = how % 2 ? COP_FLAG_NO_ZC : 0,
	};
	uint8_t mac[64];
	uint32_t ses;
	int fd = open_dev(), i;

	open_session(fd, CRYPTO_AES_CBC, 16, 0, 0, &self->ses);
	open_session(fd, 0, 0, CRYPTO_SHA2_512, 0, &ses);
	open_session(fd, CRYPTO_AES_GCM, 16, 0, 0, &seal.ses);
	for (i = 0;; i++)
		switch (how / 2) {
		case 0:
			crypt_op(fd, self->ses, COP_ENCRYPT, seal.flags,
				 self->text, self->out, BIG, self->iv, NULL);
			break;
		case 1:
			crypt_op(fd, ses, COP_ENCRYPT,
				 seal.flags | COP_FLAG_UPDATE, self->text,
				 NULL, BIG, NULL, mac);
			break;
		case 2:
			call(fd, CIOCAUTHCRYPT, &seal);
			seal.len = BIG / 2;
			break;
		case 3:
			submit(self, fd, self->out, how % 2 ? BIG / 8 : 4096);
			if (i % 8 == 7)
				call(fd, CIOCASYNCFETCH, &(struct crypt_op){});
			break;
		case 4:
			open_session(fd, CRYPTO_AES_CBC, 16, CRYPTO_SHA1_HMAC,
				     20, &ses);
			break;
		default:
			crypt_op(fd, self->ses, COP_ENCRYPT, seal.flags,
				 self->text, self->out, 16 << i % 12, self->iv,
				 NULL);
		}
}

TEST_F_TIMEOUT(sharing, killed_at_any_time, TIMEOUT)
{
	int i, n = rounds_given(48), status;
	pid_t pid;

	for (i = 0; i < n; i++) {
		pid = fork();
		if (!pid)
			at_work(self, i % 12);
		usleep(below(60000));
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(SIGKILL, status);
	}
	EXPECT_EQ(0, right(self, self->fd));
}

TEST_F(sharing, an_end_with_operations_under_way)
{
	int i, j;
	pid_t pid;

	for (i = 0; i < 20; i++) {
		pid = fork();
		if (!pid) {
			int fd = open_dev();

			open_session(fd, CRYPTO_AES_CBC, 16, 0, 0, &self->ses);
			for (j = 0; j < 8; j++)
				submit(self, fd, self->out + j * (BIG / 8),
				       BIG >> (3 + i % 8));
			_exit(0);
		}
		EXPECT_EQ(0, ended(pid));
	}
}

static volatile sig_atomic_t alarms;

static void count_alarm(int sig)
{
	alarms++;
}

/* Signals with a handler do not change the results of calls. */
TEST_F_TIMEOUT(sharing, signals_do_not_disturb, TIMEOUT)
{
	struct sigaction sa = { .sa_handler = count_alarm };
	struct itimerval tick = { { 0, 2000 }, { 0, 2000 } }, none = {};
	int i, n = rounds_given(100);

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &tick, NULL);
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, right(self, self->fd));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, crypt_op(self->fd, self->ses, COP_ENCRYPT,
				      i % 2 ? COP_FLAG_NO_ZC : 0, self->text,
				      self->out, BIG, self->iv, NULL));
	setitimer(ITIMER_REAL, &none, NULL);
	EXPECT_LT(0, alarms);
}

TEST_F_TIMEOUT(sharing, stopped_and_continued, TIMEOUT)
{
	int i, status;
	pid_t pid = fork();

	if (!pid) {
		for (i = 0; i < 40 && !right(self, self->fd); i++)
			if (crypt_op(self->fd, self->ses, COP_ENCRYPT, 0,
				     self->text, self->out, BIG / 4, self->iv,
				     NULL))
				break;
		_exit(i != 40);
	}
	for (i = 0; i < 20; i++) {
		usleep(below(20000));
		kill(pid, SIGSTOP);
		if (waitpid(pid, &status, WUNTRACED) != pid ||
		    !WIFSTOPPED(status))
			break;
		/* a stopped process does not delay others */
		EXPECT_EQ(0, right(self, self->fd));
		kill(pid, SIGCONT);
	}
	/* it may have ended before the last stop */
	EXPECT_EQ(0, i == 20 ? ended(pid) : status);
}

TEST_HARNESS_MAIN
