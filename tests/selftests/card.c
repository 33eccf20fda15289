// SPDX-License-Identifier: BSD-2-Clause
/*
 * Callers that wait for a card are killed, stopped and interrupted, and the
 * card is removed meanwhile.  The card is the asynchronous one of ocf_null with
 * a depth of one request, so that the others queue.
 */
#include <kselftest_harness.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "bsd.h"
#include "census.h"
#include "modules.h"
#include "random.h"

__thread uint64_t chance_state;

#define LEN	CRYPTO_MAX_DATA_LEN
#define TIMEOUT	1800	/* s: the debug kernel is slow */

FIXTURE(card)
{
	struct modules modules;
	struct census before;
	int fd;
	uint32_t ses;
	uint8_t *in, *out;
};

/* Opens a session that only a card may serve. */
static int on_a_card(int fd, uint32_t *ses)
{
	struct session2_op sop = {
		.cipher = CRYPTO_NULL_CBC, .crid = CRYPTO_FLAG_HARDWARE,
	};
	int err = call(fd, CIOCGSESSION2, &sop);

	*ses = sop.ses;
	return err;
}

FIXTURE_SETUP(card)
{
	chance_from(seed_given());
	ASSERT_TRUE(modules_find(&self->modules));
	ASSERT_EQ(0, module_unload("ocf_null"));
	ASSERT_EQ(0, module_load(&self->modules, "ocf_null",
				 "async=1 depth=1"));
	self->before = census_begin();
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, on_a_card(self->fd, &self->ses));
	self->in = malloc(LEN);
	self->out = malloc(LEN);
	fill(self->in, LEN, 1);
}

FIXTURE_TEARDOWN(card)
{
	close(self->fd);
	EXPECT_TRUE(census_is(&self->before));
	EXPECT_EQ(0, module_unload("ocf_null"));
	EXPECT_EQ(0, module_load(&self->modules, "ocf_null", ""));
}

typedef struct _test_data_card Self;

static int copy(int fd, uint32_t ses, const uint8_t *in, uint8_t *out,
		uint32_t len)
{
	return crypt_op(fd, ses, COP_ENCRYPT, 0, in, out, len, NULL, NULL);
}

/* Runs an operation.  Returns 0 if the result is right. */
static int right(Self *self)
{
	memset(self->out, 0, LEN);
	return copy(self->fd, self->ses, self->in, self->out, LEN) ?:
	       memcmp(self->in, self->out, LEN) ? -1 : 0;
}

/*
 * Runs operations until the process is killed; the data of small operations are
 * copied, those of large operations are pinned.
 */
static void work_on(Self *self)
{
	uint32_t ses, i;
	int fd = open_dev();

	if (on_a_card(fd, &ses))
		_exit(1);
	for (i = 0;; i++)
		if (copy(fd, ses, self->in, self->out, 1 + 16 * i % LEN))
			_exit(2);
}

TEST_F_TIMEOUT(card, killed_while_they_wait, TIMEOUT)
{
	int i, j, n = rounds_given(40), status;
	pid_t pid[6];

	for (i = 0; i < n; i++) {
		for (j = 0; j < COUNT(pid); j++) {
			pid[j] = fork();
			if (!pid[j])
				work_on(self);
		}
		usleep(below(30000));
		for (j = 0; j < COUNT(pid); j++)
			kill(pid[j], SIGKILL);
		for (j = 0; j < COUNT(pid); j++) {
			ASSERT_EQ(pid[j], waitpid(pid[j], &status, 0));
			ASSERT_EQ(SIGKILL, status);
		}
	}
	EXPECT_EQ(0, right(self));
}

static volatile sig_atomic_t alarms;

static void count_alarm(int sig)
{
	alarms++;
}

TEST_F_TIMEOUT(card, signals_do_not_disturb, TIMEOUT)
{
	struct sigaction sa = { .sa_handler = count_alarm };
	struct itimerval tick = { { 0, 2000 }, { 0, 2000 } }, none = {};
	int i, n = rounds_given(500);

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &tick, NULL);
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, right(self));
	setitimer(ITIMER_REAL, &none, NULL);
	EXPECT_LT(0, alarms);
}

struct waiter {
	int		fd, rounds, wrong;
	uint32_t	ses;
	uint8_t		*in;
	uint32_t	gone;
};

static void *wait_for_it(void *arg)
{
	struct waiter *w = arg;
	uint8_t *out = malloc(LEN);
	int err;

	while (w->rounds-- && !w->wrong) {
		memset(out, 0, LEN);
		err = copy(w->fd, w->ses, w->in, out, LEN);
		if (err == ENODEV)
			w->gone++;
		else if (err || memcmp(w->in, out, LEN))
			w->wrong = err ?: -1;
	}
	free(out);
	return NULL;
}

/*
 * The only card is removed, and the session may not use software: ENODEV at
 * once, and no wrong data.
 */
TEST_F_TIMEOUT(card, taken_away_under_those_that_wait, TIMEOUT)
{
	struct waiter w[4];
	pthread_t t[4];
	int i, j, n = rounds_given(20);

	for (j = 0; j < 4; j++) {
		w[j] = (struct waiter){ .fd = self->fd, .ses = self->ses,
					.in = self->in, .rounds = 20 * n };
		ASSERT_EQ(0, pthread_create(&t[j], NULL, wait_for_it, &w[j]));
	}
	for (i = 0; i < n; i++) {
		usleep(below(30000));
		ASSERT_EQ(0, module_unload("ocf_null"));
		usleep(below(2000));
		ASSERT_EQ(0, module_load(&self->modules, "ocf_null",
					 "async=1 depth=1"));
	}
	for (j = 0; j < 4; j++) {
		pthread_join(t[j], NULL);
		EXPECT_EQ(0, w[j].wrong);
	}
	/* the session still works */
	EXPECT_EQ(0, right(self));
}

/* A session and a file are closed while requests are in the card. */
TEST_F_TIMEOUT(card, closed_under_those_that_wait, TIMEOUT)
{
	struct waiter w[4];
	pthread_t t[4];
	int i, j, fd, n = rounds_given(40);
	uint32_t ses;

	for (i = 0; i < n; i++) {
		fd = open_dev();
		ASSERT_EQ(0, on_a_card(fd, &ses));
		for (j = 0; j < 4; j++) {
			w[j] = (struct waiter){ .fd = fd, .ses = ses,
						.in = self->in, .rounds = 10 };
			ASSERT_EQ(0, pthread_create(&t[j], NULL, wait_for_it,
						    &w[j]));
		}
		usleep(below(5000));
		EXPECT_EQ(0, i % 2 ? close_session(fd, ses) : 0);
		close(fd);
		for (j = 0; j < 4; j++) {
			pthread_join(t[j], NULL);
			EXPECT_TRUE(!w[j].wrong || w[j].wrong == EBADF ||
				    w[j].wrong == EINVAL);
		}
	}
}

TEST_HARNESS_MAIN
