/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fixture of the native interface's tests: a card as slow as a test wants it,
 * and commands for it.
 */
#ifndef NATIVE_SLOW_H
#define NATIVE_SLOW_H

#include <kselftest_harness.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "native.h"
#include "census.h"
#include "random.h"

#define SIM	"/sys/bus/platform/drivers/ocf_sim/"
#define CARD	"/sys/class/ocf/sim0/device/"
#define OPTIONS	"algs=real depth=8 patience=60000 latency_ns=1000"
#define LATENCY	"20000000"	/* ns */
#define MANY	24		/* more than the depth of the card */
#define LEN	4096
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

static inline int open_on(int fd, uint32_t flags, struct ocf_session_open *o)
{
	*o = (struct ocf_session_open){
		.mode = OCF_MODE_CIPHER, .cipher = "aes-cbc",
		.key = addr(key), .keylen = 16, .flags = flags,
	};
	return native_open(fd, o);
}

/*
 * Opens a session of @fd that only the card serves, and fills in the commands
 * @self->c for it.
 */
static inline int aim(Self *self, int fd)
{
	struct ocf_session_open o;
	int i, err = open_on(fd, OCF_SESSION_HARDWARE, &o);

	for (i = 0; i < MANY; i++)
		self->c[i] = (struct ocf_command){
			.cookie = i, .session = o.session,
			.src = addr(self->in + i * LEN),
			.dst = addr(self->out + i * LEN),
			/* the data of some are copied */
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
	self->before = census_begin();
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
	/* the first command has to wait until the card has a context */
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

/* Returns whether command @i has the right result. */
static inline bool is_right(Self *self, int i)
{
	return !memcmp(self->want + i * LEN, self->out + i * LEN,
		       self->c[i].len);
}

static inline int run_all(Self *self)
{
	struct ocf_vector v = {
		.commands = addr(self->c), .results = addr(self->r),
		.count = MANY,
	};

	return call(self->fd, OCF_RUN, &v);
}

static inline int submit_all(Self *self, int fd)
{
	struct ocf_vector v = { .commands = addr(self->c), .count = MANY };

	return ioctl(fd, OCF_SUBMIT, &v);
}

/* Fetches @n results into self->r.  Returns how many came in time. */
static inline int reap(Self *self, int n)
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

/* Returns whether process @pid sleeps: it has submitted all that it can. */
static inline bool waits(pid_t pid)
{
	const char *line;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	line = get_line(path);
	return strstr(line, ") S ") || strstr(line, ") D ");
}

/*
 * Runs @way(@self) in a process that may lock LOCKED bytes, on a card that
 * completes nothing.  Returns the bytes that are pinned; negative if @way() did
 * not return 0.
 */
static inline long pins_with_little(Self *self, int (*way)(Self *self))
{
	static const struct rlimit little = { LOCKED, LOCKED };
	long pinned = 0;
	int status, looks;
	pid_t pid;

	if (put_line(CARD "hold", "1"))
		return -1;
	pid = fork();
	if (!pid) {
		if (setrlimit(RLIMIT_MEMLOCK, &little))
			_exit(1);
		become(SOMEBODY);
		_exit(way(self));
	}
	/*
	 * until the process slept at five looks in a row: pages that are pinned
	 * only for a moment are free by then
	 */
	for (looks = 0; looks < 5;) {
		usleep(10000);
		looks = waits(pid) ? looks + 1 : 0;
		pinned = census_take().pinned - self->before.pinned;
		if (waitpid(pid, &status, WNOHANG))
			return -2;
	}
	if (put_line(CARD "hold", "0") || waitpid(pid, &status, 0) != pid)
		return -3;
	return status ? -status : pinned * PAGE;
}

#endif /* NATIVE_SLOW_H */
