// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every call of the native interface, while each allocation and each copy in it
 * fails in turn.  Each time there must be an errno, and nothing may be lost or
 * leaked.
 */
#include <sys/eventfd.h>

#include "native.h"
#include "fail.h"

#include "kselftest_harness.h"

#define LEN	16384		/* bytes: copied and pinned */
#define N	3		/* commands in a vector */
#define FIXED	(OCF_COMMAND_FIXED_SRC | OCF_COMMAND_FIXED_DST)

static struct scene {
	int			fd;
	struct ocf_session_open	open;
	struct ocf_command	c[N];
	struct ocf_result	r[N];
	uint8_t			src[LEN], dst[N * LEN], want[LEN], tag[16];
	struct io_uring		ring;
	int			told;
} scene;

static const uint8_t key[32] = "thirty-two bytes of a good key..";

static int make_session(void *arg)
{
	struct scene *s = arg;
	struct ocf_session_open o = {
		.mode = OCF_MODE_AEAD, .cipher = "aes-gcm",
		.key = addr(key), .keylen = 16,
	};
	int err = native_open(s->fd, &o);

	if (!err)
		s->open = o;
	return err;
}

static bool always(void *arg)
{
	return true;
}

static void drop_session(void *arg)
{
	struct scene *s = arg;

	call(s->fd, OCF_SESSION_CLOSE, &s->open.session);
}

static int rekey(void *arg)
{
	struct scene *s = arg;
	struct ocf_session_rekey r = {
		.size = sizeof(r), .session = s->open.session,
		.key = addr(key), .keylen = 16,
	};

	return call(s->fd, OCF_SESSION_REKEY, &r);
}

static int query(void *arg)
{
	struct scene *s = arg;
	struct ocf_session_query q = {
		.size = sizeof(q), .session = s->open.session,
	};

	return call(s->fd, OCF_SESSION_QUERY, &q);
}

static int ask_features(void *arg)
{
	struct ocf_features f = { .size = sizeof(f) };

	return call(((struct scene *)arg)->fd, OCF_FEATURES, &f) ?:
	       f.vector_max == OCF_VECTOR_MAX ? 0 : EPROTO;
}

static int ask_algorithm(void *arg)
{
	struct ocf_algorithm a = { .size = sizeof(a) };

	return call(((struct scene *)arg)->fd, OCF_ALGORITHM, &a) ?:
	       *a.name ? 0 : EPROTO;
}

/* Closes a session.  If that fails, the next call closes it. */
static int close_session(void *arg)
{
	struct scene *s = arg;

	return call(s->fd, OCF_SESSION_CLOSE, &s->open.session);
}

static void make_another(void *arg)
{
	if (make_session(arg))
		abort();
}

static int be_told(void *arg)
{
	struct scene *s = arg;

	return call(s->fd, OCF_EVENTFD, &s->told);
}

static void be_told_no_more(void *arg)
{
	struct scene *s = arg;
	int none = -1;

	call(s->fd, OCF_EVENTFD, &none);
}

/* Cancels, although there is no command. */
static int cancel(void *arg)
{
	struct scene *s = arg;
	uint64_t cookie = 77;
	int err = call(s->fd, OCF_CANCEL, &cookie);

	return err == ENOENT ? 0 : err ?: EPROTO;
}

/* Returns the errno of the first command that failed, or 0. */
static int first_of(const struct scene *s)
{
	int i, err = 0;

	for (i = 0; i < N && !err; i++)
		err = s->r[i].res < 0 ? -s->r[i].res : 0;
	return err;
}

/*
 * Runs the vector.  Returns its errno, or that of its first command that
 * failed, or 0.
 */
static int run(void *arg)
{
	struct scene *s = arg;
	struct ocf_vector v = {
		.commands = addr(s->c), .results = addr(s->r), .count = N,
	};

	memset(s->dst, 0, sizeof(s->dst));
	memset(s->r, 0, sizeof(s->r));
	return call(s->fd, OCF_RUN, &v) ?: first_of(s);
}

static bool as_wanted(void *arg)
{
	struct scene *s = arg;
	int i;

	for (i = 0; i < N; i++)
		if (s->r[i].res != (int)s->c[i].len ||
		    memcmp(s->dst + i * LEN, s->want, s->c[i].len))
			return false;
	return true;
}

static int hand_in(void *arg)
{
	struct scene *s = arg;
	struct ocf_vector v = { .commands = addr(s->c), .count = 1 };

	return ioctl(s->fd, OCF_SUBMIT, &v) == 1 ? 0 : errno;
}

static void fetch(void *arg)
{
	struct scene *s = arg;
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	struct ocf_reap reap = { .results = addr(s->r), .count = N };

	poll(&p, 1, SOON);
	ioctl(s->fd, OCF_REAP, &reap);
}

/* Submits and fetches; no result is left for the next call. */
static int hand_in_and_reap(void *arg)
{
	struct scene *s = arg;
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	struct ocf_reap reap = { .results = addr(s->r), .count = N };
	int err;

	memset(s->dst, 0, sizeof(s->dst));
	memset(s->r, 0, sizeof(s->r));
	err = hand_in(s);
	if (err)
		return err;
	if (poll(&p, 1, SOON) == 1 && ioctl(s->fd, OCF_REAP, &reap) >= 0)
		return first_of(s);
	err = errno;
	/*
	 * there is only one fault, and results that were fetched before it are
	 * lost
	 */
	if (poll(&p, 1, 1000) == 1)
		ioctl(s->fd, OCF_REAP, &reap);
	return err;
}

static bool first_as_wanted(void *arg)
{
	struct scene *s = arg;

	return s->r[0].res == (int)s->c[0].len &&
	       !memcmp(s->dst, s->want, s->c[0].len);
}

/*
 * Returns the result of the only entry.  If io_uring's own call fails, the
 * entry has not failed: it is submitted and waited for again.
 */
static int entry_says(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	int tries = 8, res;

	while ((res = io_uring_submit(ring)) < 0 && tries--)
		;
	if (res != 1)
		return EIO;
	while ((res = io_uring_wait_cqe(ring, &cqe)) < 0 && tries--)
		;
	if (res < 0)
		return EIO;
	res = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return res < 0 ? -res : 0;
}

static int ring_command(struct scene *s, bool fixed)
{
	struct ocf_command c = s->c[0];

	memset(s->dst, 0, sizeof(s->dst));
	c.flags = fixed ? FIXED : 0;
	ring_fixed(ring_prepare(&s->ring, s->fd, OCF_URING_COMMAND, &c,
				sizeof(c)), fixed ? 0 : -1);
	return entry_says(&s->ring);
}

static int entry(void *arg)
{
	return ring_command(arg, false);
}

static int entry_fixed(void *arg)
{
	return ring_command(arg, true);
}

static bool entry_as_wanted(void *arg)
{
	struct scene *s = arg;

	return !memcmp(s->dst, s->want, s->c[0].len);
}

static int ring_commands(struct scene *s, bool fixed)
{
	struct ocf_vector v = {
		.commands = addr(s->c), .results = addr(s->r), .count = N,
	};
	int i;

	memset(s->dst, 0, sizeof(s->dst));
	memset(s->r, 0, sizeof(s->r));
	for (i = 0; i < N; i++)
		s->c[i].flags = fixed ? FIXED : 0;
	ring_fixed(ring_prepare(&s->ring, s->fd, OCF_URING_VECTOR, &v,
				sizeof(v)), fixed ? 0 : -1);
	return entry_says(&s->ring) ?: first_of(s);
}

static int entry_vector(void *arg)
{
	return ring_commands(arg, false);
}

static int entry_fixed_vector(void *arg)
{
	return ring_commands(arg, true);
}

/* There is nothing to be cancelled. */
static int entry_cancel(void *arg)
{
	struct scene *s = arg;
	uint64_t cookie = 77;
	int err;

	ring_prepare(&s->ring, s->fd, OCF_URING_CANCEL, &cookie,
		     sizeof(cookie));
	err = entry_says(&s->ring);
	return err == ENOENT ? 0 : err ?: EPROTO;
}

/* Makes all commands seal or open @len bytes. */
static void aim(enum ocf_op op, uint32_t len)
{
	int i;

	for (i = 0; i < N; i++)
		scene.c[i] = (struct ocf_command){
			.session = scene.open.session, .op = op, .len = len,
			.src = addr(scene.src),
			.dst = addr(scene.dst + i * LEN),
			.aad = addr(key), .auth_len = 13,
			.tag = addr(scene.tag),
		};
}

FIXTURE(failing)
{
};

FIXTURE_SETUP(failing)
{
	ASSERT_EQ(0, fail_setup());
	scene.fd = open_dev();
	ASSERT_LE(0, scene.fd);
	fill(scene.src, LEN, 3);
	ASSERT_EQ(0, make_session(&scene));
}

FIXTURE_TEARDOWN(failing)
{
	close(scene.fd);
}

TEST_F(failing, sessions)
{
	static const struct fail_case make = {
		make_session, always, drop_session,
	};
	static const struct fail_case others[] = {
		{ rekey, always, NULL }, { query, always, NULL },
		{ ask_features, always, NULL }, { ask_algorithm, always, NULL },
	};
	/* reads a number by get_user(), which cannot be made to fail */
	static const struct fail_case close_it = {
		close_session, always, make_another,
	};
	int i;

	EXPECT_LT(5, fail_sweep(&make, &scene));
	ASSERT_EQ(0, make_session(&scene));
	for (i = 0; i < COUNT(others); i++)
		EXPECT_LT(0, fail_sweep(&others[i], &scene));
	EXPECT_LE(0, fail_sweep(&close_it, &scene));
}

TEST_F(failing, results_told_of_and_given_up)
{
	/* get_user() again */
	static const struct fail_case tell = {
		be_told, always, be_told_no_more,
	};
	static const struct fail_case give_up = { cancel, always, NULL };

	scene.told = eventfd(0, EFD_NONBLOCK);
	ASSERT_LE(0, scene.told);
	EXPECT_LE(0, fail_sweep(&tell, &scene));
	EXPECT_LT(0, fail_sweep(&give_up, &scene));
	close(scene.told);
}

TEST_F(failing, commands)
{
	static const struct fail_case sweep = { run, as_wanted, NULL };
	static const struct fail_case async = { hand_in, always, fetch };
	static const struct fail_case both = {
		hand_in_and_reap, first_as_wanted, NULL,
	};
	static const uint32_t sizes[] = { 64, 1700, LEN };
	int i;

	for (i = 0; i < COUNT(sizes); i++) {
		aim(OCF_OP_ENCRYPT, sizes[i]);
		ASSERT_EQ(0, run(&scene));
		memcpy(scene.want, scene.dst, sizes[i]);
		EXPECT_LT(2 * N, fail_sweep(&sweep, &scene));
		EXPECT_LT(1, fail_sweep(&async, &scene));
		EXPECT_LT(3, fail_sweep(&both, &scene));
		/* then decrypt */
		memcpy(scene.src, scene.want, sizes[i]);
		aim(OCF_OP_DECRYPT, sizes[i]);
		ASSERT_EQ(0, run(&scene));
		memcpy(scene.want, scene.dst, sizes[i]);
		EXPECT_LT(2 * N, fail_sweep(&sweep, &scene));
	}
}

TEST_F(failing, entries)
{
	static const struct fail_case sweeps[] = {
		{ entry, entry_as_wanted, NULL },
		{ entry_fixed, entry_as_wanted, NULL },
		{ entry_vector, as_wanted, NULL },
		{ entry_fixed_vector, as_wanted, NULL },
	};
	static const uint32_t sizes[] = { 64, 1700, LEN };
	static const struct fail_case cancels = { entry_cancel, always, NULL };
	struct iovec all = { &scene, offsetof(struct scene, ring) };
	int i, j;

	ASSERT_TRUE(ring_init(&scene.ring));
	ASSERT_EQ(0, io_uring_register_buffers(&scene.ring, &all, 1));
	for (i = 0; i < COUNT(sizes); i++) {
		aim(OCF_OP_ENCRYPT, sizes[i]);
		ASSERT_EQ(0, run(&scene));
		memcpy(scene.want, scene.dst, sizes[i]);
		for (j = 0; j < COUNT(sweeps); j++)
			EXPECT_LT(0, fail_sweep(&sweeps[j], &scene));
	}
	EXPECT_LE(0, fail_sweep(&cancels, &scene));
	io_uring_queue_exit(&scene.ring);
}

/* 3 ^ 5 modulo 7 */
static int power(void *arg)
{
	static const uint8_t numbers[3] = { 3, 5, 7 };
	struct scene *s = arg;
	struct ocf_pk_value values[4] = {
		{ addr(&numbers[0]), 1, 0 }, { addr(&numbers[1]), 1, 0 },
		{ addr(&numbers[2]), 1, 0 }, { addr(s->dst), 1, 0 },
	};
	struct ocf_pk_command c = {
		.op = OCF_OP_PUBLIC_KEY, .code = OCF_PK_MOD_EXP, .in = 3,
		.out = 1, .values = addr(values),
	};
	int res;

	s->dst[0] = 0;
	res = native_run(s->fd, (struct ocf_command *)&c);
	return res < 0 ? -res : 0;
}

static bool is_five(void *arg)
{
	struct scene *s = arg;

	return s->dst[0] == 5;
}

static int digest(struct scene *s, uint32_t session, uint16_t flags)
{
	struct ocf_command c = {
		.session = session, .src = addr(s->src), .len = 1000,
		.flags = flags, .tag = flags & OCF_COMMAND_MORE ? 0 :
							addr(s->dst),
	};
	int res = native_run(s->fd, &c);

	return res < 0 ? -res : 0;
}

/* Computes a digest in two parts, in a session of its own. */
static int in_parts(void *arg)
{
	struct scene *s = arg;
	struct ocf_session_open o = {
		.mode = OCF_MODE_DIGEST, .mac = "sha256",
	};
	int err = native_open(s->fd, &o);

	if (err)
		return err;
	err = digest(s, o.session, OCF_COMMAND_MORE);
	if (!err)
		err = digest(s, o.session, OCF_COMMAND_CONTINUE);
	call(s->fd, OCF_SESSION_CLOSE, &o.session);
	return err;
}

TEST_F(failing, public_keys_and_parts)
{
	static const struct fail_case sweep = { power, is_five, NULL };
	static const struct fail_case parts = { in_parts, always, NULL };

	ASSERT_EQ(0, power(&scene));
	EXPECT_LT(3, fail_sweep(&sweep, &scene));
	ASSERT_EQ(0, in_parts(&scene));
	EXPECT_LT(3, fail_sweep(&parts, &scene));
}

TEST_F_TIMEOUT(failing, nothing_leaks, 1800)
{
	EXPECT_EQ(0, fail_leaks());
}

int main(int argc, char **argv)
{
	return fail_main(argc, argv, test_harness_run);
}
