// SPDX-License-Identifier: BSD-2-Clause
/*
 * The native interface: valid and invalid sessions and commands, the
 * information about them, and all other calls.
 */
#include <kselftest_harness.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

#include "native.h"

FIXTURE(native)
{
	int fd;
	uint8_t key[64], in[4096], out[4096], tag[64];
	struct ocf_session_open open;
	struct ocf_command c;
};

FIXTURE_SETUP(native)
{
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	fill(self->key, sizeof(self->key), 1);
	fill(self->in, sizeof(self->in), 2);
	self->open = (struct ocf_session_open){
		.size = sizeof(self->open), .mode = OCF_MODE_AEAD,
		.cipher = "aes-gcm", .key = addr(self->key), .keylen = 16,
	};
	ASSERT_EQ(0, native_open(self->fd, &self->open));
	self->c = (struct ocf_command){
		.cookie = 0x123456789abcdefull, .session = self->open.session,
		.src = addr(self->in), .dst = addr(self->out), .len = 100,
		.aad = addr(self->in), .auth_len = 13, .tag = addr(self->tag),
		.iv = "twelve bytes",
	};
	ASSERT_EQ(100, native_run(self->fd, &self->c));
}

FIXTURE_TEARDOWN(native)
{
	close(self->fd);
}

typedef struct _test_data_native Self;

/* Opens a session with one field changed.  The value is 0 or the errno. */
#define OPENS(field_, value_) ({					\
	struct ocf_session_open o_ = self->open;			\
	o_.session = 0;							\
	o_.field_ = value_;						\
	call(self->fd, OCF_SESSION_OPEN, &o_);				\
})

static int open_named(Self *self, const char *cipher, const char *mac,
		      const char *device)
{
	struct ocf_session_open o = self->open;

	o.session = 0;
	memset(o.cipher, 0, sizeof(o.cipher));
	memset(o.mac, 0, sizeof(o.mac));
	memcpy(o.cipher, cipher, strnlen(cipher, 32));
	memcpy(o.mac, mac, strnlen(mac, 32));
	memcpy(o.device, device, strnlen(device, 32));
	return call(self->fd, OCF_SESSION_OPEN, &o);
}

TEST_F(native, openings_that_make_no_sense)
{
	EXPECT_EQ(0, OPENS(flags, 0));
	EXPECT_EQ(EINVAL, OPENS(size, 0));
	EXPECT_EQ(EINVAL, OPENS(size, OCF_SESSION_OPEN_SIZE_VER0 - 1));
	EXPECT_EQ(E2BIG, OPENS(size, UINT_MAX));
	EXPECT_EQ(EINVAL, OPENS(mode, OCF_MODE_NONE));
	EXPECT_EQ(EINVAL, OPENS(mode, OCF_MODE_COUNT));
	EXPECT_EQ(EINVAL, OPENS(mode, UINT_MAX));
	EXPECT_EQ(EINVAL, OPENS(mode, OCF_MODE_CIPHER));
	EXPECT_EQ(EINVAL, OPENS(mode, OCF_MODE_ETA));
	EXPECT_EQ(EINVAL, OPENS(policy, OCF_POLICY_CPU + 1));
	EXPECT_EQ(0, OPENS(policy, OCF_POLICY_CPU));
	EXPECT_EQ(EINVAL, OPENS(flags, 1u << 4));
	EXPECT_EQ(EINVAL, OPENS(flags, OCF_SESSION_MTE_LENGTH));
	EXPECT_EQ(EINVAL, OPENS(key, 0));
	EXPECT_EQ(EFAULT, OPENS(key, 8));
	EXPECT_EQ(EFAULT, OPENS(key, ULLONG_MAX));
	EXPECT_EQ(EINVAL, OPENS(keylen, 0));
	EXPECT_EQ(EINVAL, OPENS(keylen, 17));
	EXPECT_EQ(EINVAL, OPENS(keylen, UINT_MAX));
	EXPECT_EQ(EINVAL, OPENS(mackeylen, 1));
	EXPECT_EQ(EINVAL, OPENS(ivlen, 17));
	EXPECT_EQ(EINVAL, OPENS(maclen, 17));
	EXPECT_EQ(EINVAL, OPENS(maclen, 3));
	EXPECT_EQ(0, OPENS(maclen, 12));
	EXPECT_EQ(EINVAL, OPENS(rounds, 12));
	EXPECT_EQ(EINVAL, OPENS(session, 1));
	EXPECT_EQ(EFAULT, call(self->fd, OCF_SESSION_OPEN, NULL));
	EXPECT_EQ(EFAULT, call(self->fd, OCF_SESSION_OPEN, (void *)8));
}

/*
 * For any other number of rounds the kernel's library prints a warning, which a
 * user must not be able to cause.
 */
TEST_F(native, rounds)
{
	uint32_t n;

	for (n = 0; n < 64; n++) {
		bool good = !n || n == 12 || n == 20;

		self->open = (struct ocf_session_open){
			.mode = OCF_MODE_CIPHER, .cipher = "chacha20",
			.key = addr(self->key), .keylen = 32, .rounds = n,
		};
		EXPECT_EQ(good ? 0 : EINVAL,
			  native_open(self->fd, &self->open)) {
			TH_LOG("%u", n);
		}
		if (!self->open.session)
			continue;
		/*
		 * less than a block, which the CPU encrypts without vector
		 * instructions
		 */
		self->c = (struct ocf_command){
			.session = self->open.session, .len = 17,
			.src = addr(self->in), .dst = addr(self->out),
		};
		EXPECT_EQ(17, native_run(self->fd, &self->c));
	}
}

TEST_F(native, names)
{
	EXPECT_EQ(0, open_named(self, "aes-gcm", "", "cryptosoft0"));
	EXPECT_EQ(ENODEV, open_named(self, "aes-gcm", "", "cryptosoft"));
	EXPECT_EQ(ENODEV, open_named(self, "aes-gcm", "", "nothing"));
	EXPECT_EQ(EINVAL, open_named(self, "aes-gcm", "",
				     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
	EXPECT_EQ(EINVAL, open_named(self, "aes-gc", "", ""));
	EXPECT_EQ(EINVAL, open_named(self, "aes-gcmm", "", ""));
	EXPECT_EQ(EINVAL, open_named(self, "", "", ""));
	EXPECT_EQ(EINVAL, open_named(self, "aes-gcm", "nothing", ""));
	EXPECT_EQ(EINVAL, open_named(self, "aes-gcm", "hmac-sha1", ""));
	EXPECT_EQ(EINVAL, open_named(self, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
				     "", ""));
}

/*
 * Structures of later versions: new fields that are zero are ignored; if one is
 * set, the call is refused.
 */
TEST_F(native, structures_that_have_grown)
{
	struct {
		struct ocf_session_open o;
		uint64_t more;
	} later = { .o = self->open };

	later.o.session = 0;
	later.o.size = sizeof(later);
	EXPECT_EQ(0, call(self->fd, OCF_SESSION_OPEN, &later));
	EXPECT_NE(0, later.o.session);
	EXPECT_EQ(0, later.more);
	later.o.session = 0;
	later.more = 1;
	EXPECT_EQ(E2BIG, call(self->fd, OCF_SESSION_OPEN, &later));
}

/*
 * Sessions of different files rarely have the same number by accident.
 */
TEST_F(native, files_have_other_numbers)
{
	struct ocf_session_open o = {
		.mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .keylen = 16,
		.key = addr(self->in),
	};
	uint32_t first = 0;
	int i, fd, n = 0;

	for (i = 0; i < 16; i++) {
		fd = open_dev();
		ASSERT_EQ(0, native_open(fd, &o));
		first = first ?: o.session;
		n += o.session == first;
		close(fd);
	}
	EXPECT_GT(8, n);
}

TEST_F(native, sessions_end)
{
	uint32_t ses = self->c.session, none = 0;

	EXPECT_EQ(EINVAL, call(self->fd, OCF_SESSION_CLOSE, &none));
	EXPECT_EQ(EFAULT, call(self->fd, OCF_SESSION_CLOSE, NULL));
	EXPECT_EQ(0, call(self->fd, OCF_SESSION_CLOSE, &ses));
	EXPECT_EQ(EINVAL, call(self->fd, OCF_SESSION_CLOSE, &ses));
	EXPECT_EQ(-EINVAL, native_run(self->fd, &self->c));
}

/* A session can be used by the interface that has opened it only. */
TEST_F(native, interfaces_do_not_mix)
{
	uint32_t ses = self->c.session;

	/* CIOCFSESSION of the other interfaces */
	EXPECT_EQ(EINVAL, call(self->fd, _IOW('c', 102, uint32_t), &ses));
	EXPECT_EQ(EINVAL, call(self->fd, _IOW('c', 103, uint32_t), &ses));
	EXPECT_EQ(100, native_run(self->fd, &self->c));
}

TEST_F(native, what_is_told_of_a_session)
{
	struct ocf_session_query q = {
		.size = sizeof(q), .session = self->c.session,
		.crossover = 7, .crossover_many = 7, .pad = 7,
	};

	ASSERT_EQ(0, call(self->fd, OCF_SESSION_QUERY, &q));
	EXPECT_EQ(OCF_MODE_AEAD, q.mode);
	EXPECT_EQ(12, q.ivlen);
	EXPECT_EQ(16, q.maclen);
	EXPECT_EQ(1, q.block);
	EXPECT_EQ(0, q.hardware);
	/* there is no card */
	EXPECT_EQ(0, q.crossover);
	EXPECT_EQ(0, q.crossover_many);
	EXPECT_EQ(0, q.pad);
	EXPECT_STREQ("cryptosoft0", q.device);
	q.session ^= 1u << 20;
	EXPECT_EQ(EINVAL, call(self->fd, OCF_SESSION_QUERY, &q));
	q.size = 4;
	EXPECT_EQ(EINVAL, call(self->fd, OCF_SESSION_QUERY, &q));
}

TEST_F(native, what_there_is)
{
	struct ocf_features f = { .size = sizeof(f) }, other = f;
	struct ocf_algorithm a = { .size = sizeof(a) };
	bool gcm = false;
	int fd;

	ASSERT_EQ(0, call(self->fd, OCF_FEATURES, &f));
	EXPECT_EQ(OCF_VECTOR_MAX, f.vector_max);
	EXPECT_EQ(OCF_COMMANDS_MAX, f.commands_max);
	EXPECT_EQ(16 << 20, f.len_max);
	EXPECT_TRUE(f.modes & 1 << OCF_MODE_AEAD);
	EXPECT_FALSE(f.modes & 1);
	/* the number belongs to the open file */
	fd = open_dev();
	ASSERT_EQ(0, call(fd, OCF_FEATURES, &other));
	EXPECT_NE(0, f.file);
	EXPECT_NE(f.file, other.file);
	ASSERT_EQ(fd, dup2(self->fd, fd));
	ASSERT_EQ(0, call(fd, OCF_FEATURES, &other));
	EXPECT_EQ(f.file, other.file);
	close(fd);
	/* a caller with the older, shorter structure does not get this field */
	other.size = OCF_FEATURES_SIZE_VER0;
	other.file = 1;
	ASSERT_EQ(0, call(self->fd, OCF_FEATURES, &other));
	EXPECT_EQ(1, other.file);
	for (a.index = 0; !call(self->fd, OCF_ALGORITHM, &a); a.index++) {
		EXPECT_LT(0, strlen(a.name));
		EXPECT_NE(0, a.type);
		if (!strcmp(a.name, "aes-gcm"))
			gcm = a.type == OCF_ALGORITHM_AEAD && a.key_min == 16 &&
			      a.key_max == 32 && a.key_step == 8 &&
			      a.iv == 12 && a.digest == 16 && a.block == 1;
	}
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(f.algorithms, a.index);
	EXPECT_TRUE(gcm);
	a.index = UINT_MAX;
	EXPECT_EQ(ENOENT, call(self->fd, OCF_ALGORITHM, &a));
}

static int rekey(Self *self, const void *key, uint32_t keylen,
		 const void *mackey, uint32_t mackeylen)
{
	struct ocf_session_rekey r = {
		.size = sizeof(r), .session = self->c.session,
		.key = addr(key), .keylen = keylen, .mackey = addr(mackey),
		.mackeylen = mackeylen,
	};

	return call(self->fd, OCF_SESSION_REKEY, &r);
}

TEST_F(native, other_keys)
{
	uint8_t was[100];

	memcpy(was, self->out, 100);
	ASSERT_EQ(0, rekey(self, self->key + 16, 16, NULL, 0));
	ASSERT_EQ(100, native_run(self->fd, &self->c));
	EXPECT_NE(0, memcmp(was, self->out, 100));
	ASSERT_EQ(0, rekey(self, self->key, 16, NULL, 0));
	ASSERT_EQ(100, native_run(self->fd, &self->c));
	EXPECT_EQ(0, memcmp(was, self->out, 100));
}

/* Runs a command with one field changed; the result. */
#define RUNS(field_, value_) ({						\
	struct ocf_command c_ = self->c;				\
	c_.field_ = value_;						\
	native_run(self->fd, &c_);					\
})

TEST_F(native, commands_that_make_no_sense)
{
	uint8_t was[sizeof(self->out)];

	memcpy(was, self->out, sizeof(was));
	EXPECT_EQ(-EINVAL, RUNS(session, 0));
	EXPECT_EQ(-EINVAL, RUNS(session, self->c.session ^ 1u << 20));
	EXPECT_EQ(-EINVAL, RUNS(op, OCF_OP_COUNT));
	EXPECT_EQ(-EINVAL, RUNS(op, 255));
	EXPECT_EQ(-EINVAL, RUNS(ivlen, 17));
	EXPECT_EQ(-EINVAL, RUNS(ivlen, 5));
	EXPECT_EQ(100, RUNS(ivlen, 12));
	EXPECT_EQ(-EINVAL, RUNS(flags, OCF_COMMAND_MAC_FIRST));
	EXPECT_EQ(-EINVAL, RUNS(flags, OCF_COMMAND_VERIFY));
	EXPECT_EQ(-EINVAL, RUNS(flags, OCF_COMMAND_FIXED_SRC));
	EXPECT_EQ(-EINVAL, RUNS(flags, OCF_COMMAND_FIXED_DST));
	EXPECT_EQ(-EINVAL, RUNS(flags, 0x8000));
	EXPECT_EQ(-EINVAL, RUNS(pad, 1));
	EXPECT_EQ(-EINVAL, RUNS(dst_len, 1));
	EXPECT_EQ(-EFAULT, RUNS(src, 8));
	EXPECT_EQ(-EFAULT, RUNS(src, ULLONG_MAX - 10));
	EXPECT_EQ(-EFAULT, RUNS(aad, 8));
	EXPECT_EQ(-E2BIG, RUNS(len, (16 << 20) + 1));
	EXPECT_EQ(-E2BIG, RUNS(auth_len, UINT_MAX));
	EXPECT_EQ(-EBADMSG, RUNS(op, OCF_OP_DECRYPT));
	EXPECT_EQ(0, memcmp(was, self->out, sizeof(was)));
	EXPECT_EQ(-EFAULT, RUNS(dst, 8));
	EXPECT_EQ(-EFAULT, RUNS(tag, 8));
	EXPECT_EQ(-EFAULT, RUNS(dst, 0xffff888000000000ull));
	EXPECT_EQ(0, RUNS(len, 0));
	EXPECT_EQ(100, RUNS(auth_len, 0));
}

static int run_vector(Self *self, struct ocf_vector *v)
{
	return call(self->fd, OCF_RUN, v);
}

TEST_F(native, vectors)
{
	struct ocf_command c[OCF_VECTOR_MAX + 1];
	struct ocf_result r[OCF_VECTOR_MAX + 1];
	struct ocf_vector v = {
		.commands = addr(c), .results = addr(r),
		.count = OCF_VECTOR_MAX,
	};
	int i;

	for (i = 0; i <= OCF_VECTOR_MAX; i++) {
		c[i] = self->c;
		c[i].cookie = i;
		c[i].len = i;
		if (i % 7 == 3)
			c[i].session = 0;
	}
	memset(r, 0xff, sizeof(r));
	ASSERT_EQ(0, run_vector(self, &v));
	for (i = 0; i < OCF_VECTOR_MAX; i++) {
		EXPECT_EQ(i, r[i].cookie);
		EXPECT_EQ(i % 7 == 3 ? -EINVAL : i, r[i].res);
		EXPECT_EQ(i % 7 == 3 ? OCF_FIELD_SESSION : OCF_FIELD_NONE,
			  r[i].wrong);
	}
	EXPECT_EQ(-1, r[i].res);
	v.count++;
	EXPECT_EQ(EINVAL, run_vector(self, &v));
	v.count = 0;
	EXPECT_EQ(EINVAL, run_vector(self, &v));
	v.count = 1;
	v.flags = 1;
	EXPECT_EQ(EINVAL, run_vector(self, &v));
	v.flags = 0;
	v.results = 8;
	EXPECT_EQ(EFAULT, run_vector(self, &v));
	v.results = addr(r);
	v.commands = 8;
	EXPECT_EQ(0, run_vector(self, &v));
	EXPECT_EQ(-EFAULT, r[0].res);
	EXPECT_EQ(EFAULT, call(self->fd, OCF_RUN, NULL));
}

/* Results that cannot be written, because the last page is not mapped. */
TEST_F(native, results_at_the_edge)
{
	uint8_t *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ocf_command c[4] = { self->c, self->c, self->c, self->c };
	struct ocf_result *r = (void *)(page + PAGE) - 2 * sizeof(*r);
	struct ocf_vector v = {
		.commands = addr(c), .results = addr(r), .count = 4,
	};

	munmap(page + PAGE, PAGE);
	EXPECT_EQ(EFAULT, run_vector(self, &v));
	EXPECT_EQ(100, r[0].res);
	EXPECT_EQ(100, r[1].res);
	munmap(page, PAGE);
}

TEST_F(native, handed_in_and_fetched)
{
	struct ocf_command c[8];
	struct ocf_result r[16];
	struct ocf_vector v = { .commands = addr(c), .count = 8 };
	struct ocf_reap reap = { .results = addr(r), .count = 16 };
	struct pollfd p = { .fd = self->fd, .events = POLLIN | POLLOUT };
	int i;

	for (i = 0; i < 8; i++) {
		c[i] = self->c;
		c[i].cookie = i;
	}
	EXPECT_EQ(0, ioctl(self->fd, OCF_REAP, &reap));
	c[5].len = UINT_MAX;
	EXPECT_EQ(5, ioctl(self->fd, OCF_SUBMIT, &v));
	ASSERT_EQ(1, poll(&p, 1, SOON));
	EXPECT_TRUE(p.revents & POLLIN);
	for (i = 0; i < 5; i += ioctl(self->fd, OCF_REAP, &reap))
		poll(&p, 1, SOON);
	EXPECT_EQ(5, i);
	EXPECT_EQ(0, ioctl(self->fd, OCF_REAP, &reap));
	v.commands = addr(c + 5);
	EXPECT_EQ(E2BIG, call(self->fd, OCF_SUBMIT, &v));
	v.results = addr(r);
	EXPECT_EQ(EINVAL, call(self->fd, OCF_SUBMIT, &v));
	v.results = 0;
	v.count = 0;
	EXPECT_EQ(EINVAL, call(self->fd, OCF_SUBMIT, &v));
	v.count = 1;
	v.commands = 8;
	EXPECT_EQ(EFAULT, call(self->fd, OCF_SUBMIT, &v));
	reap.flags = 1;
	EXPECT_EQ(EINVAL, call(self->fd, OCF_REAP, &reap));
	/* a result that cannot be written can be fetched later */
	v.commands = addr(c);
	ASSERT_EQ(1, ioctl(self->fd, OCF_SUBMIT, &v));
	p.events = POLLIN;
	ASSERT_EQ(1, poll(&p, 1, SOON));
	reap = (struct ocf_reap){ .results = 8, .count = 1 };
	EXPECT_EQ(EFAULT, call(self->fd, OCF_REAP, &reap));
	reap.results = addr(r);
	EXPECT_EQ(1, ioctl(self->fd, OCF_REAP, &reap));
	EXPECT_EQ(100, r[0].res);
}

/*
 * Submits @n commands with cookies from @first on.  A child's begin with 100.
 */
static void hand_in(Self *self, uint64_t first, int n)
{
	struct ocf_vector v = { .count = 1 };
	struct ocf_command c = self->c;
	struct pollfd p = { .fd = self->fd, .events = POLLIN };

	v.commands = addr(&c);
	for (c.cookie = first; c.cookie < first + n; c.cookie++)
		if (ioctl(self->fd, OCF_SUBMIT, &v) != 1)
			exit(1);
	if (poll(&p, 1, SOON) != 1)
		exit(1);
}

/*
 * Fetches @n results, @room at a time.  Returns whether their cookies follow
 * @first.
 */
static bool reap_all(Self *self, uint64_t first, int n, int room)
{
	struct ocf_result r[16];
	struct ocf_reap reap = { .results = addr(r), .count = room };
	int i, got;

	for (; n > 0; n -= got) {
		got = ioctl(self->fd, OCF_REAP, &reap);
		if (got != (n < room ? n : room))
			return false;
		for (i = 0; i < got; i++, first++)
			if (r[i].cookie != first || r[i].res != 100)
				return false;
	}
	return !ioctl(self->fd, OCF_REAP, &reap);
}

TEST_F(native, results_lie_between_those_of_another_process)
{
	int status, i, to[2];
	char c;
	pid_t pid;

	ASSERT_EQ(0, pipe(to));
	hand_in(self, 0, 3);
	pid = fork();
	if (!pid) {
		hand_in(self, 100, 2);
		if (write(to[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	ASSERT_EQ(1, read(to[0], &c, 1));
	hand_in(self, 3, 6);
	for (i = 0; i < 2; i++) {
		EXPECT_TRUE(reap_all(self, 0, 9, i ? 4 : 16));
		hand_in(self, 0, 9);
	}
	EXPECT_TRUE(reap_all(self, 0, 9, 1));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	/* a child cannot fetch its parent's results */
	hand_in(self, 0, 4);
	pid = fork();
	if (!pid) {
		hand_in(self, 100, 2);
		_exit(!reap_all(self, 100, 2, 16));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(reap_all(self, 0, 4, 16));
}

TEST_F(native, as_many_as_there_is_room_for)
{
	struct ocf_command c[OCF_VECTOR_MAX];
	struct ocf_result r[OCF_VECTOR_MAX];
	struct ocf_vector v = {
		.commands = addr(c), .count = OCF_VECTOR_MAX,
	};
	struct ocf_reap reap = { .results = addr(r), .count = OCF_VECTOR_MAX };
	int i, n = 0;

	for (i = 0; i < OCF_VECTOR_MAX; i++)
		c[i] = self->c;
	for (i = 0; i < OCF_COMMANDS_MAX / OCF_VECTOR_MAX; i++)
		ASSERT_EQ(OCF_VECTOR_MAX, ioctl(self->fd, OCF_SUBMIT, &v));
	EXPECT_EQ(EBUSY, call(self->fd, OCF_SUBMIT, &v));
	while (n < OCF_COMMANDS_MAX)
		n += ioctl(self->fd, OCF_REAP, &reap);
	EXPECT_EQ(OCF_COMMANDS_MAX, n);
	EXPECT_EQ(OCF_VECTOR_MAX, ioctl(self->fd, OCF_SUBMIT, &v));
}

TEST_F(native, cancelling_what_is_not_there)
{
	uint64_t cookie = self->c.cookie;

	EXPECT_EQ(ENOENT, call(self->fd, OCF_CANCEL, &cookie));
	EXPECT_EQ(EFAULT, call(self->fd, OCF_CANCEL, NULL));
}

TEST_F(native, entries_that_make_no_sense)
{
	struct io_uring small, ring;
	struct io_uring_sqe *sqe;
	uint64_t cookie = 1;

	ASSERT_EQ(0, io_uring_queue_init(4, &small, 0));
	sqe = io_uring_get_sqe(&small);
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = self->fd;
	sqe->cmd_op = OCF_URING_COMMAND;
	io_uring_submit(&small);
	EXPECT_EQ(-EINVAL, ring_wait(&small, NULL));
	io_uring_queue_exit(&small);

	ASSERT_TRUE(ring_init(&ring));
	EXPECT_EQ(100, ring_run(&ring, self->fd, &self->c, -1));
	ring_prepare(&ring, self->fd, OCF_RUN, &self->c, sizeof(self->c));
	io_uring_submit(&ring);
	EXPECT_EQ(-ENOTTY, ring_wait(&ring, NULL));
	ring_prepare(&ring, self->fd, OCF_URING_CANCEL, &cookie, 8);
	io_uring_submit(&ring);
	EXPECT_EQ(-ENOENT, ring_wait(&ring, NULL));
	/*
	 * the entry names a registered buffer that does not exist, although the
	 * command uses none
	 */
	EXPECT_EQ(-EFAULT, ring_run(&ring, self->fd, &self->c, 0));
	self->c.flags = OCF_COMMAND_FIXED_SRC;
	EXPECT_EQ(-EINVAL, ring_run(&ring, self->fd, &self->c, -1));
	self->c.flags = 0;
	self->c.op = OCF_OP_COUNT;
	EXPECT_EQ(-EINVAL, ring_run(&ring, self->fd, &self->c, -1));
	io_uring_queue_exit(&ring);
}

/*
 * Runs a command as an entry and in a vector; both must have the same result.
 */
static int fixed_run(struct io_uring *ring, int fd,
		     const struct ocf_command *c, int fixed)
{
	int res = ring_run(ring, fd, c, fixed);

	return ring_vector(ring, fd, c, fixed) == res ? res : -EPROTO;
}

/*
 * Commands fail if their data are not wholly in the registered buffer, or if
 * only one side of an in-place command is declared to be in it.
 */
TEST_F(native, registered_buffers)
{
	struct iovec half = { self->in, 2048 };
	struct ocf_command c = self->c;
	struct io_uring ring;

	ASSERT_TRUE(ring_init(&ring));
	ASSERT_EQ(0, io_uring_register_buffers(&ring, &half, 1));
	c.flags = OCF_COMMAND_FIXED_SRC;
	EXPECT_EQ(100, fixed_run(&ring, self->fd, &c, 0));
	c.len = 2048;
	EXPECT_EQ(2048, fixed_run(&ring, self->fd, &c, 0));
	c.len = 2049;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 0));
	c.len = 0;
	EXPECT_EQ(0, fixed_run(&ring, self->fd, &c, 0));
	c.len = 100;
	c.src = addr(self->in) - 1;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 0));
	c.src = ULLONG_MAX - 5;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 0));
	c.src = addr(self->in);
	c.flags |= OCF_COMMAND_FIXED_DST;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 0));
	c.dst = c.src;
	EXPECT_EQ(100, fixed_run(&ring, self->fd, &c, 0));
	c.flags = OCF_COMMAND_FIXED_SRC;
	EXPECT_EQ(-EINVAL, fixed_run(&ring, self->fd, &c, 0));
	/* there is no buffer of this number */
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 1));
	c.flags = OCF_COMMAND_FIXED_SRC | OCF_COMMAND_FIXED_DST;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, UINT16_MAX));
	EXPECT_EQ(-EINVAL, fixed_run(&ring, self->fd, &c, -1));
	io_uring_queue_exit(&ring);
}

/*
 * The authenticated bytes around a chain's data must be in the buffer of the
 * source, and need not be in that of the destination.
 */
TEST_F(native, chain_in_registered_buffers)
{
	struct iovec half = { self->in, 2048 };
	struct ocf_session_open o = {
		.mode = OCF_MODE_CHAIN, .cipher = "aes-cbc", .mac = "sha256",
		.key = addr(self->key), .keylen = 16,
	};
	struct ocf_command c = {
		.cookie = 7, .src = addr(self->in), .dst = addr(self->out),
		.data_start = 16, .len = 2016, .auth_len = 2048,
		.flags = OCF_COMMAND_FIXED_SRC, .tag = addr(self->tag),
	};
	struct io_uring ring;
	uint8_t before[16];

	ASSERT_EQ(0, native_open(self->fd, &o));
	c.session = o.session;
	ASSERT_TRUE(ring_init(&ring));
	ASSERT_EQ(0, io_uring_register_buffers(&ring, &half, 1));
	EXPECT_EQ(2016, fixed_run(&ring, self->fd, &c, 0));
	c.auth_len = 2049;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 0));
	c.auth_len = 0;
	c.len = 2032;
	EXPECT_EQ(2032, fixed_run(&ring, self->fd, &c, 0));
	c.data_start = 17;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 0));
	/* in place, with bytes around the data and without */
	c.data_start = 16;
	c.dst = c.src;
	EXPECT_EQ(-EINVAL, fixed_run(&ring, self->fd, &c, 0));
	c.flags |= OCF_COMMAND_FIXED_DST;
	memcpy(before, self->in, sizeof(before));
	EXPECT_EQ(2032, fixed_run(&ring, self->fd, &c, 0));
	EXPECT_EQ(0, memcmp(before, self->in, sizeof(before)));
	c.auth_len = 2049;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 0));
	c.data_start = 0;
	c.auth_len = c.len = 2048;
	EXPECT_EQ(2048, fixed_run(&ring, self->fd, &c, 0));
	/*
	 * The result is written from the first byte of the destination buffer,
	 * and no other byte of the buffer changes.
	 */
	c.flags = OCF_COMMAND_FIXED_DST;
	c.src = addr(self->out);
	c.dst = addr(self->in) - 16;
	c.data_start = 16;
	EXPECT_EQ(2048, fixed_run(&ring, self->fd, &c, 0));
	c.data_start = 15;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 0));
	c.data_start = 16;
	c.dst += 16;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 0));
	io_uring_queue_exit(&ring);
}

TEST_F(native, compression_in_registered_buffers)
{
	struct iovec half = { self->in, 2048 };
	struct ocf_session_open o = {
		.mode = OCF_MODE_COMPRESS, .cipher = "deflate",
	};
	struct ocf_command c = {
		.cookie = 7, .src = addr(self->in), .dst = addr(self->out),
		.len = 2048, .dst_len = sizeof(self->out),
		.flags = OCF_COMMAND_FIXED_SRC,
	};
	struct io_uring ring;
	int n;

	ASSERT_EQ(0, native_open(self->fd, &o));
	c.session = o.session;
	memset(self->in, 'a', sizeof(self->in));
	ASSERT_TRUE(ring_init(&ring));
	ASSERT_EQ(0, io_uring_register_buffers(&ring, &half, 1));
	n = fixed_run(&ring, self->fd, &c, 0);
	EXPECT_LT(0, n);
	EXPECT_GT(200, n);
	c.len = 2049;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 0));
	/* back into the buffer, up to its end */
	memset(self->in, 0, sizeof(self->in));
	c.op = OCF_OP_DECRYPT;
	c.src = addr(self->out);
	c.dst = addr(self->in);
	c.len = n;
	c.dst_len = 2049;
	c.flags = OCF_COMMAND_FIXED_DST;
	EXPECT_EQ(-EFAULT, fixed_run(&ring, self->fd, &c, 0));
	c.dst_len = 2048;
	EXPECT_EQ(2048, fixed_run(&ring, self->fd, &c, 0));
	EXPECT_EQ('a', self->in[0]);
	EXPECT_EQ('a', self->in[2047]);
	EXPECT_EQ(0, self->in[2048]);
	/* source and destination in it */
	memcpy(self->in, self->out, n);
	c.src = addr(self->in);
	c.dst = addr(self->in) + 48;
	c.dst_len = 2000;
	c.flags |= OCF_COMMAND_FIXED_SRC;
	EXPECT_EQ(-ENOSPC, fixed_run(&ring, self->fd, &c, 0));
	io_uring_queue_exit(&ring);
}

TEST_F(native, compression)
{
	struct ocf_session_open o = {
		.mode = OCF_MODE_COMPRESS, .cipher = "deflate",
	};
	struct ocf_command c = {
		.src = addr(self->in), .dst = addr(self->out), .len = 4000,
		.dst_len = sizeof(self->out),
	};
	uint8_t text[4096] = {};
	int n;

	ASSERT_EQ(0, native_open(self->fd, &o));
	c.session = o.session;
	memset(self->in, 'a', 4000);
	n = native_run(self->fd, &c);
	EXPECT_LT(0, n);
	EXPECT_GT(200, n);
	c.op = OCF_OP_DECRYPT;
	c.src = addr(self->out);
	c.dst = addr(text);
	c.len = n;
	EXPECT_EQ(4000, native_run(self->fd, &c));
	EXPECT_EQ(0, memcmp(self->in, text, 4000));
	c.dst_len = 3999;
	EXPECT_EQ(-ENOSPC, native_run(self->fd, &c));
	c.dst_len = 0;
	EXPECT_EQ(-EINVAL, native_run(self->fd, &c));
	c.dst_len = 4000;
	c.dst = c.src + 1;
	EXPECT_EQ(-EINVAL, native_run(self->fd, &c));
	c.dst = 8;
	EXPECT_EQ(-EFAULT, native_run(self->fd, &c));
	/* no data, and an address where a page begins */
	c.dst = addr(text);
	c.len = 0;
	c.src = 0;
	EXPECT_EQ(-EINVAL, native_run(self->fd, &c));
	c.src = addr(self->in) & ~4095ull;
	EXPECT_EQ(-EINVAL, native_run(self->fd, &c));
}

/* With a tweak of 8 bytes the other 8 bytes of the field are ignored. */
TEST_F(native, half_a_tweak)
{
	struct ocf_session_open o = {
		.mode = OCF_MODE_CIPHER, .cipher = "aes-xts",
		.key = addr(self->key), .keylen = 32, .ivlen = 8,
	};
	struct ocf_command c = {
		.src = addr(self->in), .dst = addr(self->out), .len = 64,
		.iv = "8 bytes.and more",
	};
	uint8_t want[64];

	ASSERT_EQ(0, native_open(self->fd, &o));
	c.session = o.session;
	ASSERT_EQ(64, native_run(self->fd, &c));
	memcpy(want, self->out, 64);
	memcpy(c.iv + 8, "or other", 8);
	ASSERT_EQ(64, native_run(self->fd, &c));
	EXPECT_EQ(0, memcmp(want, self->out, 64));
}

/* The bytes before a chain's data are not written, and need not be writable. */
TEST_F(native, a_chain_behind_a_page_that_may_only_be_read)
{
	struct ocf_session_open o = {
		.mode = OCF_MODE_CHAIN, .cipher = "aes-cbc",
		.mac = "hmac-sha256", .key = addr(self->key), .keylen = 16,
		.mackey = addr(self->key), .mackeylen = 32,
	};
	uint8_t *both = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ocf_command c = {
		.src = addr(both), .dst = addr(both), .len = 4096,
		.data_start = 4096, .auth_start = 4096, .auth_len = 4096,
		.tag = addr(self->tag),
	};

	ASSERT_NE(MAP_FAILED, both);
	ASSERT_EQ(0, native_open(self->fd, &o));
	c.session = o.session;
	memcpy(both + 4096, self->in, 4096);
	ASSERT_EQ(0, mprotect(both, 4096, PROT_READ));
	EXPECT_EQ(4096, native_run(self->fd, &c));
	EXPECT_NE(0, memcmp(both + 4096, self->in, 4096));
	munmap(both, 8192);
}

/* A read-only page is never written. */
TEST_F(native, pages_that_may_only_be_read)
{
	uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ocf_command c = self->c;
	struct io_uring ring;
	int i;

	fill(page, PAGE, 7);
	mprotect(page, PAGE, PROT_READ);
	ASSERT_TRUE(ring_init(&ring));
	for (i = 0; i < 2; i++) {
		c.len = i ? 4000 : 100;
		c.dst = addr(page);
		c.src = addr(self->in);
		EXPECT_EQ(-EFAULT, native_run(self->fd, &c));
		EXPECT_EQ(-EFAULT, ring_run(&ring, self->fd, &c, -1));
		c.src = addr(page);
		EXPECT_EQ(-EFAULT, native_run(self->fd, &c));
		c.dst = addr(self->out);
		EXPECT_EQ(c.len, native_run(self->fd, &c));
	}
	fill(self->in, PAGE, 7);
	EXPECT_EQ(0, memcmp(self->in, page, PAGE));
	io_uring_queue_exit(&ring);
	munmap(page, PAGE);
}

TEST_HARNESS_MAIN
