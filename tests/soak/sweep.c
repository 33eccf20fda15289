// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a call finds without a lock, taken away while the call is at any of its
 * instructions.
 *
 * One thread makes the same call again and again.  Another one, which has a
 * higher priority, sleeps for a random time that ends at some instruction of
 * the call, and then has taken away what the call may just have found.  The
 * machine has one processor, and its kernel lets a thread be preempted anywhere
 * (PREEMPT_RT).  Memory that is freed is filled with a pattern (slab_debug),
 * and a call that goes on with it stops the kernel, or has a wrong result.
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
#define CARD	"algs=real contexts=1 latency_ns=0 overhead_ns=0"
#define SLOTS	8	/* in the first table of a file's sessions */
#define SETTLED	3	/* calls after which nothing is to be prepared */
#define LEN	16

/* How often each is tried; mistakes were hit within some hundred tries. */
#define TABLES	5000
#define CONTEXTS 1000

/**
 * struct swept - a call, and the thread that makes it
 * @call: made with what @target has; 0 if the result is right
 * @target: the file, above the session
 * @calls: how many were made
 * @wrong: the first result that was not right, while nothing had changed
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

	/* the kernel's workers, which take away, come before it, too */
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

/* Lets the other thread make @n calls. */
static void let_call(struct swept *s, int n)
{
	long end = s->calls + n;

	while (s->calls < end)
		sleep_until(now_ns() + 20000);
}

/* Sleeps until the other thread is at an instruction of any of its calls. */
static void interrupt(struct swept *s, uint32_t call_ns)
{
	let_call(s, SETTLED);
	sleep_until(now_ns() + 20000 + below(2 * call_ns));
}

/* ns that a call takes */
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
};

FIXTURE_SETUP(sweep)
{
	struct sched_param high = { .sched_priority = 1 };

	/* elsewhere nothing is shown */
	ASSERT_STREQ("1", get_line("/sys/kernel/realtime"));
	ASSERT_EQ(1, get_nprocs());
	chance_from(seed_given());
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &high));
}

FIXTURE_TEARDOWN(sweep)
{
	struct sched_param none = { 0 };

	EXPECT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &none));
}

typedef struct _test_data_sweep Self;

static int start(Self *self, int (*call)(int fd, uint32_t session))
{
	self->swept.call = call;
	return pthread_create(&self->swept.thread, NULL, make_calls,
			      &self->swept);
}

static int stop(Self *self)
{
	self->swept.over = true;
	return pthread_join(self->swept.thread, NULL) ?: self->swept.wrong;
}

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

/* A file whose table is full; negative if there is none */
static int full_table(uint32_t *first)
{
	int i, fd = open_dev(), err;
	uint32_t session;

	err = open_null(fd, first);
	for (i = 1; i < SLOTS && !err; i++)
		err = open_null(fd, &session);
	return err ? -err : fd;
}

TEST_F_TIMEOUT(sweep, a_table_that_is_replaced, TIMEOUT)
{
	uint32_t session, another, call_ns;
	int i, fd = full_table(&session), old;

	ASSERT_LE(0, fd);
	aim(&self->swept, fd, session);
	ASSERT_EQ(0, start(self, query));
	call_ns = measure(&self->swept);
	for (i = 0; i < TABLES && !self->swept.wrong; i++) {
		interrupt(&self->swept, call_ns);
		ASSERT_EQ(0, open_null(fd, &another));
		let_call(&self->swept, 1);
		old = fd;
		fd = full_table(&session);
		ASSERT_LE(0, fd);
		aim(&self->swept, fd, session);
		close(old);
	}
	TH_LOG("%d times in a call of %u ns", i, call_ns);
	EXPECT_EQ(0, stop(self));
	close(fd);
}

/* ---- a context that makes room for another ---- */

static const uint8_t plain[LEN] = "sixteen octets.";
static uint8_t wanted[LEN];

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
	       memcmp(out, wanted, LEN) ? EBADMSG : 0;
}

TEST_F_TIMEOUT(sweep, a_context_that_makes_room, TIMEOUT)
{
	static const char * const keys[] = {
		"one of sixteen..", "another key.....",
	};
	uint32_t soft, one, other, call_ns;
	uint8_t out[LEN];
	int i, fd;

	ASSERT_EQ(0, put_line("/sys/module/ocf/parameters/recheck", "0"));
	ASSERT_EQ(0, put_line(SIM "add", CARD));
	fd = open_dev();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, open_aes(fd, keys[0], OCF_SESSION_SOFTWARE, &soft));
	ASSERT_EQ(0, encrypt_to(fd, soft, wanted));
	ASSERT_EQ(0, open_aes(fd, keys[0], OCF_SESSION_HARDWARE, &one));
	ASSERT_EQ(0, open_aes(fd, keys[1], OCF_SESSION_HARDWARE, &other));
	aim(&self->swept, fd, one);
	ASSERT_EQ(0, start(self, encrypt));
	call_ns = measure(&self->swept);
	for (i = 0; i < CONTEXTS && !self->swept.wrong; i++) {
		interrupt(&self->swept, call_ns);
		ASSERT_EQ(0, encrypt_to(fd, other, out));
	}
	TH_LOG("%d times in a call of %u ns", i, call_ns);
	EXPECT_EQ(0, stop(self));
	close(fd);
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
}

TEST_HARNESS_MAIN
