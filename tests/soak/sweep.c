// SPDX-License-Identifier: BSD-2-Clause
/*
 * Takes away what a call finds without a lock, while the call is at any of its
 * instructions.
 *
 * One thread makes the same call again and again.  Another one, of higher
 * priority, sleeps for a random time that ends at some instruction of the call.
 * Then it takes away what the call may just have found.  The machine has one
 * processor, and its kernel lets a thread be preempted anywhere (PREEMPT_RT).
 * Its time is the number of instructions, so the result does not depend on the
 * host.  Memory that is freed is filled with a pattern (slab_debug).  A call
 * that goes on with it stops the kernel, or has a wrong result.
 */
#include <kselftest_harness.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "../selftests/native.h"
#include "../selftests/random.h"

__thread uint64_t chance_state;

#define SIM	"/sys/bus/platform/drivers/ocf_sim/"
#define TIMEOUT	1800	/* s; the machine is slow */
#define CARD	"algs=real latency_ns=0 overhead_ns=0"
#define SLOTS	8	/* sessions in the first table of a file */
#define SETTLED	3	/* calls, after which nothing is prepared any more */
#define LEN	16

/*
 * How often each test takes the object away during a call.  Bugs put in on
 * purpose were found within some hundred tries.
 */
#define TRIES	1000
#define TABLES	5000

/**
 * struct swept - a call, and the thread that makes it
 * @call: the call; it gets the file and the session that @target holds, and
 *	returns 0 if the result is right
 * @target: the file, above the session
 * @calls: how many were made
 * @wrong: the first wrong result of a call during which @target did not change
 * @over: the thread is to end
 * @thread: makes the calls
 */
struct swept {
	int			(*call)(int fd, uint32_t session);
	_Atomic uint64_t	target;
	_Atomic long		calls;
	_Atomic int		wrong;
	_Atomic bool		over;
	pthread_t		thread;
};

static void *make_calls(void *arg)
{
	struct sched_param none = { 0 };
	struct swept *s = arg;
	uint64_t target;
	int err;

	/* the kernel's workers, which do the removal, have higher priority */
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		s->wrong = errno;
	while (!s->over) {
		target = s->target;
		err = s->call(target >> 32, (uint32_t)target);
		if (err && target == s->target && !s->wrong)
			s->wrong = err;
		s->calls++;
	}
	return NULL;
}

static void aim(struct swept *s, int fd, uint32_t session)
{
	s->target = (uint64_t)fd << 32 | session;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec t = {
		.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000,
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Lets the thread make @n calls. */
static void let_call(struct swept *s, int n)
{
	long end = s->calls + n;

	while (s->calls < end)
		sleep_until(now_ns() + 20000);
}

/* Sleeps until the thread is at some instruction of a call. */
static void interrupt(struct swept *s, uint32_t call_ns)
{
	let_call(s, SETTLED);
	sleep_until(now_ns() + 20000 + below(2 * call_ns));
}

/* Returns the ns that a call takes. */
static uint32_t measure(struct swept *s)
{
	uint64_t begun;
	long calls;

	let_call(s, 20);
	begun = now_ns();
	calls = s->calls;
	let_call(s, 100);
	return (now_ns() - begun) / (s->calls - calls);
}

FIXTURE(sweep)
{
	struct swept swept;
	int fd;
	uint32_t session, other;
	int n;		/* tries so far */
	uint32_t call_ns;
};

FIXTURE_SETUP(sweep)
{
	struct sched_param high = { .sched_priority = 1 };

	/* on other kernels this test shows nothing */
	ASSERT_STREQ("1", get_line("/sys/kernel/realtime"));
	ASSERT_EQ(1, get_nprocs());
	chance_from(seed_given());
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &high));
	self->fd = -1;
	/* no self-test of its own comes between the calls */
	ASSERT_EQ(0, put_line("/sys/module/ocf/parameters/recheck", "0"));
}

FIXTURE_TEARDOWN(sweep)
{
	struct sched_param none = { 0 };

	EXPECT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &none));
	close(self->fd);
}

typedef struct _test_data_sweep Self;

/*
 * Has @call made in @self->session of @self->fd, and calls @take_away during
 * the call, @tries times.  Returns 0, or the first error.
 */
static int sweep(Self *self, int (*call)(int fd, uint32_t session), int tries,
		 int (*take_away)(Self *self))
{
	struct swept *s = &self->swept;
	int err;

	s->call = call;
	aim(s, self->fd, self->session);
	err = pthread_create(&s->thread, NULL, make_calls, s);
	if (err)
		return err;
	self->call_ns = measure(s);
	while (self->n < tries && !err && !s->wrong) {
		interrupt(s, self->call_ns);
		err = take_away(self);
		self->n++;
	}
	s->over = true;
	return pthread_join(s->thread, NULL) ?: err ?: s->wrong;
}

#define EXPECT_SWEPT(call, tries, take_away) do {			\
	EXPECT_EQ(0, sweep(self, call, tries, take_away));		\
	TH_LOG("%d times in a call of %u ns", self->n, self->call_ns);	\
} while (0)

/* ---- the table of a file's sessions ---- */

static int open_null(int fd, uint32_t *session)
{
	struct ocf_session_open o = {
		.mode = OCF_MODE_CIPHER, .cipher = "null",
	};
	int err = native_open(fd, &o);

	*session = o.session;
	return err;
}

static int query(int fd, uint32_t session)
{
	struct ocf_session_query q = {
		.size = sizeof(q), .session = session,
	};

	return call(fd, OCF_SESSION_QUERY, &q);
}

/* Opens a file whose table is full. */
static int open_full(Self *self)
{
	uint32_t session;
	int i, err;

	self->fd = open_dev();
	if (self->fd < 0)
		return errno;
	err = open_null(self->fd, &self->session);
	for (i = 1; i < SLOTS && !err; i++)
		err = open_null(self->fd, &session);
	return err;
}

static int replace_table(Self *self)
{
	int old = self->fd, err;
	uint32_t another;

	err = open_null(old, &another);
	if (err)
		return err;
	let_call(&self->swept, 1);
	err = open_full(self);
	aim(&self->swept, self->fd, self->session);
	close(old);
	return err;
}

TEST_F_TIMEOUT(sweep, a_table_that_is_replaced, TIMEOUT)
{
	ASSERT_EQ(0, open_full(self));
	EXPECT_SWEPT(query, TABLES, replace_table);
}

/* ---- what a request finds ---- */

static const char * const keys[] = {
	"one of sixteen..", "another key.....",
};

static const uint8_t plain[LEN] = "sixteen octets.";
static uint8_t wanted[2][LEN];	/* by key */

static int open_aes(int fd, const char *key, uint32_t flags, uint32_t *session)
{
	struct ocf_session_open o = {
		.mode = OCF_MODE_CIPHER, .cipher = "aes-ecb",
		.key = addr(key), .keylen = 16, .flags = flags,
	};
	int err = native_open(fd, &o);

	*session = o.session;
	return err;
}

static int encrypt_to(int fd, uint32_t session, uint8_t *out)
{
	struct ocf_command c = {
		.session = session, .src = addr(plain), .dst = addr(out),
		.len = LEN,
	};
	int res = native_run(fd, &c);

	return res == LEN ? 0 : res < 0 ? -res : EPROTO;
}

static int encrypt(int fd, uint32_t session)
{
	uint8_t out[LEN];

	return encrypt_to(fd, session, out) ?:
	       memcmp(out, wanted[0], LEN) ? EBADMSG : 0;
}

static int encrypt_by_either(int fd, uint32_t session)
{
	uint8_t out[LEN];

	return encrypt_to(fd, session, out) ?:
	       memcmp(out, wanted[0], LEN) && memcmp(out, wanted[1], LEN) ?
	       EBADMSG : 0;
}

/* Opens a file, and has the CPU compute the expected results of each key. */
static int prepare(Self *self)
{
	uint32_t session;
	int i, err = 0;

	self->fd = open_dev();
	if (self->fd < 0)
		return errno;
	for (i = 0; i < 2 && !err; i++)
		err = open_aes(self->fd, keys[i], OCF_SESSION_SOFTWARE,
			       &session) ?:
		      encrypt_to(self->fd, session, wanted[i]);
	return err;
}

static int use_other(Self *self)
{
	uint8_t out[LEN];

	return encrypt_to(self->fd, self->other, out);
}

TEST_F_TIMEOUT(sweep, a_context_that_makes_room, TIMEOUT)
{
	ASSERT_EQ(0, put_line(SIM "add", CARD " contexts=1"));
	ASSERT_EQ(0, prepare(self));
	ASSERT_EQ(0, open_aes(self->fd, keys[0], OCF_SESSION_HARDWARE,
			      &self->session));
	ASSERT_EQ(0, open_aes(self->fd, keys[1], OCF_SESSION_HARDWARE,
			      &self->other));
	EXPECT_SWEPT(encrypt, TRIES, use_other);
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
}

static int replace_keys(Self *self)
{
	struct ocf_session_rekey r = {
		.size = sizeof(r), .session = self->session,
		.key = addr(keys[self->n % 2]), .keylen = 16,
	};

	return call(self->fd, OCF_SESSION_REKEY, &r);
}

TEST_F_TIMEOUT(sweep, keys_that_are_replaced, TIMEOUT)
{
	ASSERT_EQ(0, prepare(self));
	ASSERT_EQ(0, open_aes(self->fd, keys[0], OCF_SESSION_SOFTWARE,
			      &self->session));
	EXPECT_SWEPT(encrypt_by_either, TRIES, replace_keys);
}

TEST_F_TIMEOUT(sweep, keys_of_a_card_that_are_replaced, TIMEOUT)
{
	ASSERT_EQ(0, put_line(SIM "add", CARD));
	ASSERT_EQ(0, prepare(self));
	ASSERT_EQ(0, open_aes(self->fd, keys[0], OCF_SESSION_HARDWARE,
			      &self->session));
	EXPECT_SWEPT(encrypt_by_either, TRIES, replace_keys);
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
}

static int replace_session(Self *self)
{
	uint32_t old = self->session;
	int err = open_aes(self->fd, keys[0], 0, &self->session);

	aim(&self->swept, self->fd, self->session);
	return err ?: call(self->fd, OCF_SESSION_CLOSE, &old);
}

TEST_F_TIMEOUT(sweep, a_session_that_is_closed, TIMEOUT)
{
	ASSERT_EQ(0, prepare(self));
	ASSERT_EQ(0, open_aes(self->fd, keys[0], 0, &self->session));
	EXPECT_SWEPT(encrypt, TRIES, replace_session);
}

/* Replaces one of two cards, so that the call can use the other. */
static int replace_card(Self *self)
{
	return put_line(SIM "remove", self->n % 2 ? "sim1" : "sim0") ?:
	       put_line(SIM "add", CARD);
}

TEST_F_TIMEOUT(sweep, a_card_that_is_pulled_out, TIMEOUT)
{
	ASSERT_EQ(0, put_line(SIM "add", CARD));
	ASSERT_EQ(0, put_line(SIM "add", CARD));
	ASSERT_EQ(0, prepare(self));
	ASSERT_EQ(0, open_aes(self->fd, keys[0], OCF_SESSION_HARDWARE,
			      &self->session));
	EXPECT_SWEPT(encrypt, TRIES, replace_card);
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
	EXPECT_EQ(0, put_line(SIM "remove", "sim1"));
}

TEST_HARNESS_MAIN
