/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fixture of sharing.c, ending.c and quota.c: a descriptor with a session and
 * its expected result.
 */
#ifndef SELFTESTS_SHARING_H
#define SELFTESTS_SHARING_H

#include <kselftest_harness.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "census.h"
#include "linux.h"
#include "random.h"

#define BIG	(16u << 20)
#define SMALL	(64u << 10)
#define TIMEOUT	1800	/* s: the debug kernel is slow */

FIXTURE(sharing)
{
	struct census before;
	int fd;
	uint32_t ses;
	uint8_t iv[16];
	uint8_t *text, *want, *out;	/* BIG bytes each */
};

FIXTURE_SETUP(sharing)
{
	chance_from(seed_given());
	self->before = census_begin();
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16, 0, 0,
				  &self->ses));
	self->text = malloc(BIG);
	self->want = malloc(BIG);
	self->out = malloc(BIG);
	ASSERT_TRUE(self->text && self->want && self->out);
	fill(self->text, SMALL, 1);
	fill(self->iv, 16, 2);
	ASSERT_EQ(0, crypt_op(self->fd, self->ses, COP_ENCRYPT, 0, self->text,
			      self->want, SMALL, self->iv, NULL));
	memset(self->out, 0, SMALL);
}

/* After each test nothing may be left. */
FIXTURE_TEARDOWN(sharing)
{
	close(self->fd);
	EXPECT_TRUE(census_is(&self->before));
	set_cdev("max_sessions", "4096");
	set_cdev("max_bytes", "134217728");
	chmod(DEVICE, 0660);
}

typedef struct _test_data_sharing Self;

/* Runs an operation by descriptor @fd.  Returns 0 if the result is right. */
static inline int right(Self *self, int fd)
{
	int err;

	memset(self->out, 0, SMALL);
	err = crypt_op(fd, self->ses, COP_ENCRYPT, 0, self->text, self->out,
		       SMALL, self->iv, NULL);
	return err ?: memcmp(self->out, self->want, SMALL) ? -1 : 0;
}

/* Waits for a child process.  Returns its status. */
static int ended(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static inline int submit(Self *self, int fd, uint8_t *dst, uint32_t len)
{
	struct crypt_op cop = {
		.ses = self->ses, .op = COP_ENCRYPT, .len = len,
		.src = self->text, .dst = dst, .iv = self->iv,
	};

	return call(fd, CIOCASYNCCRYPT, &cop);
}

/* Waits for a result and fetches it.  Returns 0 or an errno. */
static inline int fetch(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct crypt_op done;

	if (poll(&p, 1, 60000) != 1)
		return ETIME;
	return call(fd, CIOCASYNCFETCH, &done);
}

struct busy {
	int		fd, err, flags;
	uint32_t	ses, len;
	uint8_t		*text, *out, *mac;
	volatile bool	begun, done;
};

/*
 * Runs a long operation: the slowest hash, as part of a digest or as a whole.
 */
static inline void *be_busy(void *arg)
{
	struct busy *b = arg;
	uint8_t iv[16] = {};

	b->begun = true;
	b->err = crypt_op(b->fd, b->ses, COP_ENCRYPT, b->flags, b->text,
			  b->out, b->len, iv, b->mac);
	b->done = true;
	return NULL;
}

#endif
