// SPDX-License-Identifier: BSD-2-Clause
/*
 * Public-key operations and digests in parts by the native interface: every way
 * of submission, invalid values, and operations in flight on a slow card.
 * tests/pk compares the results with OpenSSL.
 */
#include <kselftest_harness.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "native.h"
#include "census.h"

#define SIM	"/sys/bus/platform/drivers/ocf_sim/"
#define CARD	"/sys/class/ocf/sim0/device/"
#define KEYS	"/sys/module/ocf_cdev/parameters/max_keys"
#define MANY	12
#define TIMEOUT	1200		/* s: the debug kernel is slow */

/* RFC 7748 section 5.2 */
static const uint8_t scalar[32] = {
	0xa5, 0x46, 0xe3, 0x6b, 0xf0, 0x52, 0x7c, 0x9d, 0x3b, 0x16, 0x15,
	0x4b, 0x82, 0x46, 0x5e, 0xdd, 0x62, 0x14, 0x4c, 0x0a, 0xc1, 0xfc,
	0x5a, 0x18, 0x50, 0x6a, 0x22, 0x44, 0xba, 0x44, 0x9a, 0xc4,
};
static const uint8_t point[32] = {
	0xe6, 0xdb, 0x68, 0x67, 0x58, 0x30, 0x30, 0xdb, 0x35, 0x94, 0xc1,
	0xa4, 0x24, 0xb1, 0x5f, 0x7c, 0x72, 0x66, 0x24, 0xec, 0x26, 0xb3,
	0x35, 0x3b, 0x10, 0xa9, 0x03, 0xa6, 0xd0, 0xab, 0x1c, 0x4c,
};
static const uint8_t shared[32] = {
	0xc3, 0xda, 0x55, 0x37, 0x9d, 0xe9, 0xc6, 0x90, 0x8e, 0x94, 0xea,
	0x4d, 0xf2, 0x8d, 0x08, 0x4f, 0x32, 0xec, 0xcf, 0x03, 0x49, 0x1c,
	0x71, 0xf7, 0x54, 0xb4, 0x07, 0x55, 0x77, 0xa2, 0x85, 0x52,
};

FIXTURE(public)
{
	struct census before;
	int fd;
	uint8_t out[MANY][32];
	struct ocf_pk_value values[MANY][3];
	struct ocf_pk_command c[MANY];
	struct ocf_result r[MANY];
};

typedef struct _test_data_public Self;

static void aim(Self *self, uint32_t flags)
{
	int i, j;

	for (i = 0; i < MANY; i++) {
		self->values[i][0].addr = addr(scalar);
		self->values[i][1].addr = addr(point);
		self->values[i][2].addr = addr(self->out[i]);
		for (j = 0; j < 3; j++)
			self->values[i][j].len = 32;
		self->c[i] = (struct ocf_pk_command){
			.cookie = i, .op = OCF_OP_PUBLIC_KEY,
			.code = OCF_PK_X25519, .in = 2, .out = 1,
			.flags = flags, .values = addr(self->values[i]),
		};
	}
	memset(self->out, 0, sizeof(self->out));
}

FIXTURE_SETUP(public)
{
	self->before = census_begin();
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	aim(self, 0);
}

FIXTURE_TEARDOWN(public)
{
	close(self->fd);
	EXPECT_TRUE(census_is(&self->before));
}

static const struct ocf_command *as_command(const struct ocf_pk_command *c)
{
	return (const struct ocf_command *)c;
}

static int run(Self *self, const struct ocf_pk_command *c)
{
	return native_run(self->fd, as_command(c));
}

static bool is_right(Self *self, int i)
{
	return !memcmp(self->out[i], shared, sizeof(shared));
}

TEST_F(public, every_way)
{
	struct ocf_features f = { .size = sizeof(f) };
	struct io_uring ring;

	ASSERT_EQ(0, call(self->fd, OCF_FEATURES, &f));
	EXPECT_EQ((1u << OCF_PK_COUNT) - 1, f.public_key);
	ASSERT_TRUE(ring_init(&ring));
	EXPECT_EQ(32, run(self, &self->c[0]));
	EXPECT_TRUE(is_right(self, 0));
	EXPECT_EQ(32, native_submit(self->fd, as_command(&self->c[1])));
	EXPECT_TRUE(is_right(self, 1));
	EXPECT_EQ(32, ring_run(&ring, self->fd, as_command(&self->c[2]), -1));
	EXPECT_TRUE(is_right(self, 2));
	EXPECT_EQ(32, ring_vector(&ring, self->fd, as_command(&self->c[3]),
				  -1));
	EXPECT_TRUE(is_right(self, 3));
	io_uring_queue_exit(&ring);
}

/* Public-key operations among symmetric commands in the same vector. */
TEST_F(public, among_others)
{
	uint8_t key[16] = {}, in[64] = {}, want[64], out[4][64] = {};
	struct ocf_session_open open = {
		.mode = OCF_MODE_CIPHER, .cipher = "aes-ctr",
		.key = addr(key), .keylen = 16,
	};
	struct ocf_result r[8];
	struct ocf_command c[8];
	struct ocf_vector v = {
		.commands = addr(c), .results = addr(r), .count = 8,
	};
	int i;

	ASSERT_EQ(0, native_open(self->fd, &open));
	for (i = 0; i < 8; i++) {
		memcpy(&c[i], &self->c[i], sizeof(c[i]));
		if (i % 2)
			c[i] = (struct ocf_command){
				.session = open.session, .src = addr(in),
				.dst = addr(out[i / 2]), .len = 64,
			};
	}
	c[1].dst = addr(want);
	((struct ocf_pk_command *)&c[4])->in = 1;
	ASSERT_EQ(0, call(self->fd, OCF_RUN, &v));
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(i % 2 ? 64 : i == 4 ? -EINVAL : 32, r[i].res);
		if (i > 1 && i % 2) {
			EXPECT_EQ(0, memcmp(want, out[i / 2], 64));
		}
		if (i % 2 == 0) {
			EXPECT_EQ(i != 4, is_right(self, i));
		}
	}
}

/* Runs a command with one field changed; the result. */
#define RUNS(field_, value_) ({						\
	struct ocf_pk_command c_ = self->c[0];				\
	c_.field_ = value_;						\
	run(self, &c_);							\
})

#define RUNS_ON(device_) ({						\
	static const char name_[32] = device_;				\
	struct ocf_pk_command c_ = self->c[0];				\
	memcpy(c_.device, name_, sizeof(name_));			\
	run(self, &c_);							\
})

TEST_F(public, commands_that_make_no_sense)
{
	EXPECT_EQ(-EINVAL, RUNS(none, 1));
	EXPECT_EQ(-EINVAL, RUNS(op, OCF_OP_PUBLIC_KEY + 1));
	EXPECT_EQ(-EINVAL, RUNS(scheme, OCF_PK_SCHEMES));
	EXPECT_EQ(-EINVAL, RUNS(scheme, OCF_PK_PSS));
	EXPECT_EQ(-EINVAL, RUNS(curve, OCF_PK_CURVES));
	EXPECT_EQ(-EINVAL, RUNS(curve, OCF_PK_P256));
	EXPECT_EQ(-EINVAL, RUNS(policy, OCF_POLICY_CPU + 1));
	EXPECT_EQ(32, RUNS(policy, OCF_POLICY_CPU));
	EXPECT_EQ(-EINVAL, RUNS(code, OCF_PK_COUNT));
	EXPECT_EQ(-EINVAL, RUNS(code, USHRT_MAX));
	EXPECT_EQ(-EINVAL, RUNS(code, OCF_PK_MOD_EXP));
	EXPECT_EQ(-EINVAL, RUNS(in, 1));
	EXPECT_EQ(-EINVAL, RUNS(in, 255));
	EXPECT_EQ(-EINVAL, RUNS(out, 0));
	EXPECT_EQ(-EINVAL, RUNS(out, 2));
	EXPECT_EQ(-EINVAL, RUNS(flags, OCF_SESSION_ORDERED));
	EXPECT_EQ(-EINVAL, RUNS(flags, 1u << 31));
	EXPECT_EQ(-EINVAL, RUNS(salt, 1));
	EXPECT_EQ(-EINVAL, RUNS(hash[0], 'x'));
	EXPECT_EQ(-EFAULT, RUNS(values, 0));
	EXPECT_EQ(-EFAULT, RUNS(values, ULLONG_MAX - 10));
	EXPECT_EQ(-EFAULT, RUNS(values, 0xffff888000000000ull));
	EXPECT_EQ(-EINVAL, RUNS_ON("cryptosoft0\0and more"));
	EXPECT_EQ(-EINVAL, RUNS_ON("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
	EXPECT_EQ(-ENODEV, RUNS_ON("nothing"));
	EXPECT_EQ(32, RUNS_ON("cryptosoft0"));
	/* no card here */
	EXPECT_EQ(-EOPNOTSUPP, RUNS(flags, OCF_SESSION_HARDWARE));
}

/* Runs the first command with value @i_ changed; the result. */
#define RUNS_WITH(i_, field_, value_) ({				\
	struct ocf_pk_value was_ = self->values[0][i_];			\
	int res_;							\
	self->values[0][i_].field_ = value_;				\
	res_ = run(self, &self->c[0]);					\
	self->values[0][i_] = was_;					\
	res_;								\
})

/* A label without OAEP would have no effect, so it is refused. */
TEST_F(public, a_label_without_oaep)
{
	struct ocf_pk_value values[4] = {
		{ addr(scalar), 32, 0 }, { addr(point), 32, 0 },
		{ addr("label"), 5, 0 }, { addr(self->out), 32, 0 },
	};

	self->c[0].code = OCF_PK_RSA_ENCRYPT;
	self->c[0].in = 3;
	self->c[0].values = addr(values);
	self->c[0].scheme = OCF_PK_PKCS1;
	EXPECT_EQ(-EINVAL, run(self, &self->c[0]));
}

TEST_F(public, values_that_make_no_sense)
{
	static const uint8_t zero[32];

	EXPECT_EQ(-EFAULT, RUNS_WITH(0, addr, 8));
	EXPECT_EQ(-EFAULT, RUNS_WITH(1, addr, 0xffff888000000000ull));
	EXPECT_EQ(-EFAULT, RUNS_WITH(2, addr, 8));
	EXPECT_EQ(-EFAULT, RUNS_WITH(2, addr, addr(shared)));
	EXPECT_EQ(-EINVAL, RUNS_WITH(0, pad, 1));
	EXPECT_EQ(-EINVAL, RUNS_WITH(2, pad, 1));
	EXPECT_EQ(-EINVAL, RUNS_WITH(0, len, 31));
	EXPECT_EQ(-EINVAL, RUNS_WITH(0, len, 0));
	EXPECT_EQ(-E2BIG, RUNS_WITH(0, len, UINT_MAX));
	EXPECT_EQ(-E2BIG, RUNS_WITH(2, len, UINT_MAX));
	EXPECT_GT(0, RUNS_WITH(2, len, 31));
	EXPECT_EQ(-EKEYREJECTED, RUNS_WITH(1, addr, addr(zero)));
	EXPECT_EQ(0, memcmp(self->out[0], zero, 32));
	EXPECT_EQ(32, run(self, &self->c[0]));
}

/* ---- under way ---- */

static int submit_all(Self *self)
{
	struct ocf_vector v = { .commands = addr(self->c), .count = MANY };

	return ioctl(self->fd, OCF_SUBMIT, &v);
}

/* Fetches up to @n results.  Returns how many came within the time limit. */
static int reap(Self *self, int n)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	int got = 0, res;

	while (got < n && poll(&p, 1, SOON) == 1) {
		struct ocf_reap reap = { addr(self->r + got), n - got, 0 };

		res = ioctl(self->fd, OCF_REAP, &reap);
		if (res < 0)
			break;
		got += res;
	}
	return got;
}

static int slow_card(Self *self)
{
	int err = put_line(SIM "add",
			   "algs=null public_key=1 depth=8 patience=60000");

	aim(self, OCF_SESSION_HARDWARE);
	if (!err && run(self, &self->c[0]) != 32)
		return -1;
	return err ?: put_line(CARD "latency_ns", "200000000");
}

static int no_card(void)
{
	return put_line(SIM "remove", "sim0");
}

/*
 * The limit counts operations in flight, not results that nobody has fetched.
 */
TEST_F_TIMEOUT(public, no_more_than_a_user_may_have, TIMEOUT)
{
	struct ocf_vector v = {
		.commands = addr(self->c), .count = MANY,
	};
	struct ocf_reap reap = { addr(self->r), MANY, 0 };
	int i, n, fd, more = 0, said[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, slow_card(self));
	ASSERT_EQ(0, put_line(CARD "hold", "1"));
	ASSERT_EQ(0, pipe(said));
	/* root may exceed the limit */
	ASSERT_EQ(0, put_line(KEYS, "4"));
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		fd = open_dev();
		if (fd < 0)
			_exit(2);
		if (ioctl(fd, OCF_SUBMIT, &v) != 4)
			_exit(3);
		if (ioctl(fd, OCF_SUBMIT, &v) != -1 || errno != EDQUOT)
			_exit(4);
		if (write(said[1], "", 1) != 1)
			_exit(7);
		/*
		 * they end, one after the other, and nobody fetches the results
		 */
		for (i = 0; i < 600 && more < 4; i++) {
			n = ioctl(fd, OCF_SUBMIT, &v);
			if (n > 0)
				more += n;
			else
				usleep(100000);
		}
		if (i == 600)
			_exit(5);
		for (i = 0; i < 4 + more; i += n) {
			n = ioctl(fd, OCF_REAP, &reap);
			if (n < 0)
				_exit(6);
			if (!n)
				usleep(10000);
		}
		_exit(0);
	}
	close(said[1]);
	/* the child has as many in flight as it may, or has failed */
	EXPECT_EQ(1, read(said[0], &c, 1));
	close(said[0]);
	EXPECT_EQ(0, put_line(CARD "hold", "0"));
	ASSERT_EQ(pid, waitpid(pid, &i, 0));
	EXPECT_EQ(0, i);
	ASSERT_EQ(0, chmod(DEVICE, 0660));
	ASSERT_EQ(0, put_line(KEYS, "64"));
	EXPECT_EQ(0, no_card());
}

TEST_F_TIMEOUT(public, on_a_card, TIMEOUT)
{
	struct io_uring ring;
	uint64_t which;
	int i;

	ASSERT_EQ(0, slow_card(self));
	ASSERT_EQ(MANY, submit_all(self));
	ASSERT_EQ(MANY, reap(self, MANY));
	for (i = 0; i < MANY; i++) {
		EXPECT_EQ(32, self->r[i].res);
		EXPECT_TRUE(is_right(self, i));
	}
	memset(self->out, 0, sizeof(self->out));
	ASSERT_TRUE(ring_init(&ring));
	for (i = 0; i < MANY; i++)
		ring_prepare(&ring, self->fd, OCF_URING_COMMAND, &self->c[i],
			     sizeof(self->c[i]))->user_data = i;
	ASSERT_EQ(MANY, io_uring_submit(&ring));
	for (i = 0; i < MANY; i++) {
		EXPECT_EQ(32, ring_wait(&ring, &which));
		EXPECT_TRUE(is_right(self, which));
	}
	io_uring_queue_exit(&ring);
	EXPECT_EQ(0, no_card());
}

TEST_F_TIMEOUT(public, cancelled, TIMEOUT)
{
	struct io_uring ring;
	uint64_t cookie;
	int i, gone = 0;

	ASSERT_EQ(0, slow_card(self));
	ASSERT_EQ(0, put_line(CARD "hold", "1"));
	ASSERT_EQ(MANY, submit_all(self));
	for (cookie = 1; cookie < MANY; cookie += 2)
		gone += ioctl(self->fd, OCF_CANCEL, &cookie) == 1;
	EXPECT_EQ(MANY / 2, gone);
	EXPECT_EQ(ENOENT, (ioctl(self->fd, OCF_CANCEL, &cookie), errno));
	ASSERT_EQ(0, put_line(CARD "hold", "0"));
	ASSERT_EQ(MANY, reap(self, MANY));
	for (i = 0; i < MANY; i++) {
		if (self->r[i].cookie % 2) {
			EXPECT_EQ(-ECANCELED, self->r[i].res);
			continue;
		}
		EXPECT_EQ(32, self->r[i].res);
		EXPECT_TRUE(is_right(self, self->r[i].cookie));
	}
	/*
	 * the same for commands of an io_uring that is closed while they are in
	 * flight
	 */
	ASSERT_TRUE(ring_init(&ring));
	for (i = 0; i < MANY; i++)
		ring_prepare(&ring, self->fd, OCF_URING_COMMAND, &self->c[i],
			     sizeof(self->c[i]));
	ASSERT_EQ(MANY, io_uring_submit(&ring));
	io_uring_queue_exit(&ring);
	EXPECT_EQ(0, no_card());
}

/*
 * A process is killed while it waits, and another ends with operations in
 * flight.
 */
TEST_F_TIMEOUT(public, left_behind, TIMEOUT)
{
	int i, status;
	pid_t pid;

	ASSERT_EQ(0, slow_card(self));
	for (i = 0; i < 4; i++) {
		pid = fork();
		if (!pid) {
			submit_all(self);
			if (i % 2)
				_exit(0);
			run(self, &self->c[0]);
			pause();
		}
		if (i % 2 == 0) {
			usleep(100000);
			kill(pid, SIGKILL);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
	}
	EXPECT_EQ(0, no_card());
}

TEST_F_TIMEOUT(public, a_card_that_goes, TIMEOUT)
{
	int i, gone = 0;

	ASSERT_EQ(0, slow_card(self));
	ASSERT_EQ(0, put_line(CARD "hold", "1"));
	/* these may go to other devices, and do */
	for (i = 0; i < MANY; i += 2)
		self->c[i].flags = OCF_SESSION_HARDWARE | OCF_SESSION_SOFTWARE;
	ASSERT_EQ(MANY, submit_all(self));
	ASSERT_EQ(0, no_card());
	ASSERT_EQ(MANY, reap(self, MANY));
	for (i = 0; i < MANY; i++) {
		gone += self->r[i].res < 0;
		EXPECT_EQ(self->r[i].cookie % 2 ? -ENODEV : 32,
			  self->r[i].res);
	}
	EXPECT_EQ(MANY / 2, gone);
}

/* ---- digests in parts ---- */

FIXTURE(parts)
{
	struct io_uring ring;
	int fd;
	uint8_t in[5000], want[32], tag[32];
	struct ocf_command c;
};

FIXTURE_SETUP(parts)
{
	struct ocf_session_open open = {
		.mode = OCF_MODE_DIGEST, .mac = "sha256",
	};

	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(ring_init(&self->ring));
	ASSERT_EQ(0, native_open(self->fd, &open));
	fill(self->in, sizeof(self->in), 1);
	self->c = (struct ocf_command){
		.cookie = 7, .session = open.session, .src = addr(self->in),
		.len = sizeof(self->in), .tag = addr(self->want),
	};
	ASSERT_EQ(32, native_run(self->fd, &self->c));
	self->c.tag = addr(self->tag);
}

FIXTURE_TEARDOWN(parts)
{
	io_uring_queue_exit(&self->ring);
	close(self->fd);
}

/* Adds @len bytes at @at as a part, by the way @way. */
static int part(struct _test_data_parts *self, int way, uint32_t at,
		uint32_t len, uint16_t flags)
{
	struct ocf_command c = self->c;

	c.src += at;
	c.len = len;
	c.flags = flags;
	if (flags & OCF_COMMAND_MORE)
		c.tag = 0;
	switch (way) {
	case 0:
		return native_run(self->fd, &c);
	case 1:
		return native_submit(self->fd, &c);
	case 2:
		return ring_run(&self->ring, self->fd, &c, -1);
	default:
		return ring_vector(&self->ring, self->fd, &c, -1);
	}
}

#define BOTH (OCF_COMMAND_MORE | OCF_COMMAND_CONTINUE)

TEST_F(parts, every_way)
{
	int i;

	for (i = 0; i < 8; i++) {
		memset(self->tag, 0, sizeof(self->tag));
		EXPECT_EQ(0, part(self, i % 4, 0, 3, OCF_COMMAND_MORE));
		EXPECT_EQ(0, part(self, (i + 1) % 4, 3, 4000, BOTH));
		EXPECT_EQ(0, part(self, (i + 2) % 4, 4003, 0, BOTH));
		/* a complete digest in between */
		EXPECT_EQ(32, native_run(self->fd, &self->c));
		memset(self->tag, 0, sizeof(self->tag));
		EXPECT_EQ(32, part(self, (i / 2) % 4, 4003, 997,
				   OCF_COMMAND_CONTINUE));
		EXPECT_EQ(0, memcmp(self->want, self->tag, 32));
	}
}

TEST_F(parts, that_make_no_sense)
{
	struct ocf_command c = self->c;

	/* no digest was begun */
	EXPECT_EQ(-EINVAL, part(self, 0, 0, 3, OCF_COMMAND_CONTINUE));
	EXPECT_EQ(-EINVAL, part(self, 0, 0, 3, BOTH));
	c.flags = OCF_COMMAND_MORE;
	EXPECT_EQ(-EINVAL, native_run(self->fd, &c));
	c.tag = 0;
	c.op = OCF_OP_DECRYPT;
	EXPECT_EQ(-EINVAL, native_run(self->fd, &c));
	/* a part that fails does not change the state */
	EXPECT_EQ(0, part(self, 0, 0, 3, OCF_COMMAND_MORE));
	c = self->c;
	c.flags = OCF_COMMAND_CONTINUE;
	c.src = 8;
	EXPECT_EQ(-EFAULT, native_run(self->fd, &c));
	EXPECT_EQ(32, part(self, 0, 3, 4997, OCF_COMMAND_CONTINUE));
	EXPECT_EQ(0, memcmp(self->want, self->tag, 32));
	/* the digest has ended */
	EXPECT_EQ(-EINVAL, part(self, 0, 3, 4997, OCF_COMMAND_CONTINUE));
}

/*
 * After a rekeying a digest cannot be continued, and ordered sessions have no
 * parts.
 */
TEST_F(parts, of_other_sessions)
{
	struct ocf_session_open open = {
		.mode = OCF_MODE_DIGEST, .mac = "hmac-sha256",
		.mackey = addr(self->in), .mackeylen = 32,
	};
	struct ocf_session_rekey rekey = {
		.size = sizeof(rekey), .mackey = addr(self->in + 1),
		.mackeylen = 32,
	};

	ASSERT_EQ(0, native_open(self->fd, &open));
	self->c.session = rekey.session = open.session;
	EXPECT_EQ(0, part(self, 0, 0, 3, OCF_COMMAND_MORE));
	ASSERT_EQ(0, call(self->fd, OCF_SESSION_REKEY, &rekey));
	EXPECT_EQ(-EINVAL, part(self, 0, 3, 3, OCF_COMMAND_CONTINUE));
	open.flags = OCF_SESSION_ORDERED;
	ASSERT_EQ(0, native_open(self->fd, &open));
	self->c.session = open.session;
	EXPECT_EQ(-EINVAL, part(self, 0, 0, 3, OCF_COMMAND_MORE));
}

TEST_F(parts, in_one_vector)
{
	struct ocf_command c[5];
	struct ocf_result r[5];
	struct ocf_vector v = {
		.commands = addr(c), .results = addr(r), .count = 5,
	};
	int i;

	for (i = 0; i < 5; i++) {
		c[i] = self->c;
		c[i].src += i * 1000;
		c[i].len = 1000;
		c[i].flags = !i ? OCF_COMMAND_MORE :
			     i < 4 ? BOTH : OCF_COMMAND_CONTINUE;
		if (i < 4)
			c[i].tag = 0;
	}
	ASSERT_EQ(0, call(self->fd, OCF_RUN, &v));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(i < 4 ? 0 : 32, r[i].res);
	EXPECT_EQ(0, memcmp(self->want, self->tag, 32));
}

/* The MAC is verified with the last part. */
TEST_F(parts, compared)
{
	struct ocf_command c = self->c;

	memcpy(self->tag, self->want, 32);
	EXPECT_EQ(0, part(self, 0, 0, 1000, OCF_COMMAND_MORE));
	c.op = OCF_OP_DECRYPT;
	c.src += 1000;
	c.len -= 1000;
	c.flags = OCF_COMMAND_CONTINUE;
	self->tag[5] ^= 1;
	EXPECT_EQ(-EBADMSG, native_run(self->fd, &c));
	self->tag[5] ^= 1;
	EXPECT_EQ(32, native_run(self->fd, &c));
}

TEST_HARNESS_MAIN
