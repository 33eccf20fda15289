// SPDX-License-Identifier: BSD-2-Clause
/*
 * The native interface with commands on a slow card: fetching, notification,
 * cancelling, and sharing with the CPU.  Processes end, and cards are removed,
 * while commands are in flight.
 */
#include <kselftest_harness.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "native_slow.h"

__thread uint64_t chance_state;

#define VECTORS	10		/* vectors of MANY commands each */
#define HUGE	(16u << 20)

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

/*
 * A command that ends while others are still being submitted has its result,
 * too.
 */
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

	ASSERT_EQ(0, put_line(CARD "hold", "1"));
	ASSERT_EQ(MANY, submit_all(self, self->fd));
	for (i = MANY - 1; i >= 0; i -= 2) {
		cookie = i;
		gone += call(self->fd, OCF_CANCEL, &cookie) == 0;
	}
	EXPECT_LT(0, gone);
	ASSERT_EQ(0, put_line(CARD "hold", "0"));
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

/* Two threads cancel their own commands among those of both. */
TEST_F(card, cancelled_from_among_many)
{
	uint64_t cookie = MANY - 2;
	pthread_t t;
	void *found;
	int i;

	ASSERT_EQ(0, put_line(CARD "hold", "1"));
	for (i = 0; i < VECTORS; i++)
		ASSERT_EQ(MANY, submit_all(self, self->fd));
	pthread_create(&t, NULL, cancel_last, self);
	EXPECT_EQ(VECTORS, ioctl(self->fd, OCF_CANCEL, &cookie));
	pthread_join(t, &found);
	EXPECT_EQ(VECTORS, (long)found);
	EXPECT_EQ(0, put_line(CARD "latency_ns", "1000"));
	EXPECT_EQ(0, put_line(CARD "hold", "0"));
	for (i = 0; i < VECTORS; i++)
		EXPECT_EQ(MANY, reap(self, MANY));
	/* the card has no work left, not even of cancelled commands */
	EXPECT_EQ(0, atol(get_line("/sys/class/ocf/sim0/counters/backlog")));
}

/* A process can neither fetch nor cancel the commands of another process. */
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

/* When a process has ended, nobody gets the results of its commands. */
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
static uint32_t crossover(Self *self, uint32_t flags)
{
	struct ocf_session_open o;
	struct ocf_session_query q = { .size = sizeof(q) };

	if (open_on(self->fd, flags, &o))
		return UINT32_MAX;
	q.session = o.session;
	if (call(self->fd, OCF_SESSION_QUERY, &q))
		return UINT32_MAX;
	/*
	 * if no task waits for the result, the card is the better choice from
	 * smaller sizes on
	 */
	if (q.crossover && q.crossover_many > q.crossover)
		return UINT32_MAX;
	return q.crossover;
}

/* The kernel's crossover, the size from which a card is faster, is right. */
TEST_F(card, as_good_as_the_cpu)
{
	uint32_t both = crossover(self, 0);

	EXPECT_TRUE(!both || (both >= 64 && both <= 16 << 20));
	EXPECT_EQ(0, both & (both - 1));
	EXPECT_EQ(64, crossover(self, OCF_SESSION_HARDWARE));
	EXPECT_EQ(0, crossover(self, OCF_SESSION_SOFTWARE));
}

/*
 * Runs all commands in one vector; the data of some are pinned, of others
 * copied.
 */
static int wait_for_all(Self *self)
{
	int i;

	if (run_all(self))
		return 2;
	for (i = 0; i < MANY; i++)
		if (self->r[i].res != (int)self->c[i].len || !is_right(self, i))
			return 3;
	return 0;
}

/*
 * A vector keeps the pages of its completed commands until the whole vector
 * ends, and the caller may delay this.  So these pages count as locked memory.
 */
TEST_F(card, pins_of_a_vector_are_locked_memory)
{
	long most;

	most = pins_with_little(self, wait_for_all);
	EXPECT_LT(0, most);
	EXPECT_GE(LOCKED, most);
}

/* Returns the number of operations that the card has done. */
static long done_by_card(void)
{
	return atol(get_line("/sys/class/ocf/sim0/counters/operations"));
}

struct closing {
	int		fd, err;
	uint32_t	session;
	long		done;		/* operations of the card before */
};

static void *close_in_the_middle(void *arg)
{
	struct closing *c = arg;

	while (done_by_card() == c->done)
		;
	c->err = call(c->fd, OCF_SESSION_CLOSE, &c->session);
	return NULL;
}

/* The session of the first command is closed while the second command runs. */
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

/* Returns the core's estimate, in ns, for LEN bytes on the CPU. */
static long cpu_takes(Self *self)
{
	FILE *f = fopen("/sys/kernel/debug/ocf/devices/cryptosoft0/cost", "r");
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
 * Makes the card several times slower than the CPU, and runs commands until the
 * core has learned the cost.  The card computes nothing, so it takes no CPU
 * time of the host.
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

/*
 * Runs all commands ten times, one by one or in vectors.  Returns how many of
 * them the card did.
 */
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
 * The CPU finishes each command sooner than the card, but in a vector the card
 * does a part of the commands.  If the host stops the machine in between, the
 * estimates are wrong, so one try of eight has to succeed.
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
		/*
		 * on the debug kernel a submission takes longer than the work
		 */
		if (*(getenv("OCF_DEBUG_KERNEL") ?: ""))
			return;
	} while ((shared < alone + 10 || shared >= 10 * MANY ||
		  alone >= 10 * MANY / 4) && --tries);
	/* a few commands by the card may be trials of a device */
	EXPECT_LE(alone + 10, shared);
	EXPECT_GT(10 * MANY, shared);
	EXPECT_GT(10 * MANY / 4, alone);
}

/* The card is removed; no other device may do its commands. */
TEST_F(card, a_card_that_goes)
{
	int i, gone = 0;

	ASSERT_EQ(0, put_line(CARD "hold", "1"));
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

/*
 * A card that does a chain alone is removed.  The two devices that remain do
 * the chain together.
 */
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

/*
 * If a card says that a MAC is wrong, the CPU checks it.  The CPU finds the
 * source and the IV as the card got them, also if the command works in place.
 */
static int right_tag_is_refused(Self *self, const char *options)
{
	struct ocf_session_open o, soft;
	struct ocf_command c = self->c[1];
	uint8_t tag[20] = {}, *place = self->out;
	int tries;

	if (put_line(SIM "remove", "sim0") || put_line(SIM "add", options) ||
	    put_line("/sys/class/ocf/cryptosoft0/weight", "10000") ||
	    open_chain(self->fd, 0, &o) ||
	    open_chain(self->fd, OCF_SESSION_SOFTWARE, &soft))
		return -1;
	c.session = soft.session;
	c.tag = addr(tag);
	c.dst = addr(self->want);
	if (native_run(self->fd, &c) != (int)c.len)
		return -2;
	c.session = o.session;
	c.op = OCF_OP_DECRYPT;
	c.src = addr(place);
	c.dst = addr(place);
	/*
	 * repeat the command until the card has done it: at first the card has
	 * no context
	 */
	for (tries = 0; tries < 10000; tries++) {
		if (put_line(CARD "fault", "tag 1"))
			return -3;
		memcpy(place, self->want, c.len);
		if (native_run(self->fd, &c) != (int)c.len)
			return -4;
		if (memcmp(place, self->in + LEN, c.len))
			return -5;
		if (!strcmp(get_line(CARD "fault"), "none"))
			return 0;
	}
	return -6;
}

TEST_F(card, a_chain_whose_right_tag_is_refused)
{
	EXPECT_EQ(0, right_tag_is_refused(self, OPTIONS));
	EXPECT_EQ(0, right_tag_is_refused(self, OPTIONS " bounce=1"));
	EXPECT_EQ(0, put_line("/sys/class/ocf/cryptosoft0/weight", "100"));
}

TEST_HARNESS_MAIN
