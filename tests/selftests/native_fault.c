// SPDX-License-Identifier: BSD-2-Clause
/*
 * Commands by io_uring on a card that fails, or in buffers that are unmapped
 * meanwhile: all of them end soon, and with the right result.
 */
#include <kselftest_harness.h>
#include <signal.h>
#include <sys/wait.h>

#include "native.h"
#include "census.h"
#include "random.h"

__thread uint64_t chance_state;

#define CLASS	"/sys/class/ocf/"
#define SIM	"/sys/bus/platform/drivers/ocf_sim/"
#define CARD	CLASS "sim0/device/"
#define OPTIONS	"algs=real depth=8 latency_ns=1000 "
#define PATIENCE "patience=300"	/* ms */
#define BOUND	60		/* s; the longest wait is the card's patience */
#define MANY	24		/* more than the depth of the card */
#define LEN	4096
#define ALL	(2 * MANY * LEN)	/* sources, then destinations */
#define TIMEOUT	1800		/* s: the debug kernel is slow */

/**
 * struct way - how commands are handed in
 * @vector: in one entry
 * @fixed: in a registered buffer
 */
struct way {
	bool vector, fixed;
};

static const struct way ways[] = {
	{ false, false }, { false, true }, { true, true }, { true, false },
};

/* All ways take long, so this takes two at random, one of them a vector. */
#define FOR_WAYS(i_) for (i_ = below(2); i_ < COUNT(ways); i_ += 2)

/**
 * struct scene - a session whose first choice is a card
 * @before: the counters before the fault
 * @fd: the descriptor of the session
 * @ring: a ring, whose only registered buffer is @all
 * @all: the sources and the destinations
 * @want: the expected results
 * @c: the commands
 * @r: the results of the vector, or of the entries
 */
struct scene {
	struct census		before;
	int			fd;
	struct io_uring		ring;
	uint8_t			*all, *want;
	struct ocf_command	c[MANY];
	struct ocf_result	r[MANY];
};

static uint8_t *out_of(const struct scene *s, int i)
{
	return s->all + (MANY + i) * LEN;
}

static int open_on(int fd, uint32_t flags, uint32_t *session)
{
	static const uint8_t key[16] = "sixteen bytes..";
	struct ocf_session_open o = {
		.mode = OCF_MODE_CIPHER, .cipher = "aes-cbc",
		.key = addr(key), .keylen = 16, .flags = flags,
	};
	int err = native_open(fd, &o);

	*session = o.session;
	return err;
}

static void aim(struct scene *s, uint32_t session)
{
	int i;

	for (i = 0; i < MANY; i++)
		s->c[i] = (struct ocf_command){
			.cookie = i, .session = session,
			.src = addr(s->all + i * LEN),
			.dst = addr(out_of(s, i)),
			/*
			 * some are copied unless they are in a registered
			 * buffer
			 */
			.len = i % 2 ? LEN : 512,
		};
}

/*
 * Fills @at, which becomes s->all, and computes the expected results.  Sessions
 * that may choose use the card first.
 */
static int prepare(struct scene *s, uint8_t *at)
{
	uint32_t session = 0;
	int i, fd = open_dev(), err;

	s->all = at;
	s->want = malloc(MANY * LEN);
	if (at == MAP_FAILED || !s->want || fd < 0)
		return EIO;
	fill(s->all, MANY * LEN, 1);
	err = put_line("/sys/module/ocf/parameters/recheck", "0") ?:
	      put_line(CLASS "cryptosoft0/weight", "10000") ?:
	      open_on(fd, OCF_SESSION_SOFTWARE, &session);
	aim(s, session);
	for (i = 0; i < MANY && !err; i++)
		err = native_run(fd, &s->c[i]) != s->c[i].len;
	memcpy(s->want, out_of(s, 0), MANY * LEN);
	close(fd);
	return err;
}

static int restore(struct scene *s)
{
	munmap(s->all, ALL);
	free(s->want);
	return put_line(CLASS "cryptosoft0/weight", "100");
}

static long card_has(const char *counter)
{
	char path[64];

	snprintf(path, sizeof(path), CARD "%s", counter);
	return atol(get_line(path));
}

/*
 * Has the card make its context.  A session that only the card may serve waits
 * for the context; other sessions would use the CPU meanwhile.
 */
static int warm_up(struct scene *s)
{
	long before = card_has("submitted");
	int tries;

	for (tries = 0; tries < 5000; tries++) {
		if (native_run(s->fd, &s->c[1]) != LEN)
			return EPROTO;
		if (card_has("submitted") > before)
			return 0;
		usleep(1000);
	}
	return ETIME;
}

/*
 * Opens a session and a ring, and has the card do a command.  Returns 0 or an
 * errno.
 */
static int begin(struct scene *s, uint32_t flags)
{
	struct iovec all = { s->all, ALL };
	uint32_t session;
	int err;

	s->before = census_begin();
	s->fd = open_dev();
	if (s->fd < 0 || !ring_init(&s->ring))
		return EIO;
	err = -io_uring_register_buffers(&s->ring, &all, 1) ?:
	      open_on(s->fd, flags, &session);
	if (err)
		return err;
	aim(s, session);
	err = warm_up(s);
	memset(out_of(s, 0), 0, MANY * LEN);
	memset(s->r, 0xff, sizeof(s->r));
	return err;
}

static void end(struct scene *s)
{
	io_uring_queue_exit(&s->ring);
	close(s->fd);
}

static void hand_in(struct scene *s, const struct way *way)
{
	struct ocf_vector v = {
		.commands = addr(s->c), .results = addr(s->r), .count = MANY,
	};
	struct io_uring_sqe *sqe;
	int i;

	for (i = 0; i < MANY; i++)
		s->c[i].flags = way->fixed ? OCF_COMMAND_FIXED_SRC |
					     OCF_COMMAND_FIXED_DST : 0;
	for (i = 0; i < (way->vector ? 1 : MANY); i++) {
		if (way->vector)
			sqe = ring_prepare(&s->ring, s->fd, OCF_URING_VECTOR,
					   &v, sizeof(v));
		else
			sqe = ring_prepare(&s->ring, s->fd, OCF_URING_COMMAND,
					   &s->c[i], sizeof(s->c[i]));
		sqe->user_data = i;
		ring_fixed(sqe, way->fixed ? 0 : -1);
	}
	io_uring_submit(&s->ring);
}

/*
 * Waits for all results, which are in s->r.  Returns 0, or the errno of a
 * vector.
 */
static int wait_for_all(struct scene *s, const struct way *way)
{
	uint64_t which;
	int i, res;

	if (way->vector)
		return ring_wait(&s->ring, NULL);
	for (i = 0; i < MANY; i++) {
		res = ring_wait(&s->ring, &which);
		s->r[which].res = res;
	}
	return 0;
}

/*
 * Returns how many commands ended with ENODEV; -1 if any other result is wrong.
 * The data are at @out.
 */
static int not_done(const struct scene *s, const uint8_t *out)
{
	int i, n = 0;

	for (i = 0; i < MANY; i++) {
		if (s->r[i].res == -ENODEV)
			n++;
		else if (s->r[i].res != (int)s->c[i].len ||
			 memcmp(out + i * LEN, s->want + i * LEN, s->c[i].len))
			return -1;
	}
	return n;
}

/* ---- a card that fails ---- */

FIXTURE(fault)
{
	struct scene s;
};

typedef struct _test_data_fault Self;

/* @dies: the card stays dead after a reset */
FIXTURE_VARIANT(fault)
{
	const char *fault;
	bool dies, bounce;
};

FIXTURE_VARIANT_ADD(fault, death) { .fault = "death 1", .dies = true };
FIXTURE_VARIANT_ADD(fault, death_of_a_copier) {
	.fault = "death 1", .dies = true, .bounce = true,
};
FIXTURE_VARIANT_ADD(fault, lost) { .fault = "lost 3" };
FIXTURE_VARIANT_ADD(fault, lost_by_a_copier) {
	.fault = "lost 3", .bounce = true,
};
FIXTURE_VARIANT_ADD(fault, stall) { .fault = "stall 1 0 60000" };
FIXTURE_VARIANT_ADD(fault, stall_of_a_copier) {
	.fault = "stall 1 0 60000", .bounce = true,
};

typedef struct _fixture_variant_fault Variant;

/*
 * Adds a card.  A failed card that works on copies of the data need not be
 * stopped before its requests are replayed.  Any other card must be.
 */
static int add_card(const Variant *variant)
{
	return put_line(SIM "add", variant->bounce ?
			OPTIONS PATIENCE " bounce=1" : OPTIONS PATIENCE);
}

FIXTURE_SETUP(fault)
{
	chance_from(seed_given());
	ASSERT_EQ(0, prepare(&self->s,
			     mmap(NULL, ALL, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
	ASSERT_EQ(0, add_card(variant));
}

FIXTURE_TEARDOWN(fault)
{
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
	EXPECT_EQ(0, restore(&self->s));
}

/* Replaces a card that has failed. */
static int replace_card(const Variant *variant)
{
	return put_line(SIM "remove", "sim0") ?: add_card(variant);
}

/*
 * Runs all commands in a session with @flags.  Returns as not_done(), or
 * another negative number.
 */
static int work(Self *self, const Variant *variant, const struct way *way,
		uint32_t flags)
{
	struct scene *s = &self->s;
	int n = -2;
	double begun;

	if (begin(s, flags) || put_line(CARD "fault", variant->fault))
		return -3;
	begun = now();
	hand_in(s, way);
	if (!wait_for_all(s, way))
		n = not_done(s, out_of(s, 0));
	/* the card has failed, and the test has not just timed out */
	if (!card_has("quiesces") && !card_has("detached"))
		n = -4;
	if (now() - begun > BOUND)
		n = -5;
	end(s);
	if (!census_is(&s->before))
		n = -6;
	return n;
}

TEST_F_TIMEOUT(fault, the_cpu_takes_over, TIMEOUT)
{
	int i;

	FOR_WAYS(i) {
		EXPECT_EQ(0, work(self, variant, &ways[i], 0));
		ASSERT_EQ(0, replace_card(variant));
	}
}

TEST_F_TIMEOUT(fault, another_card_takes_over, TIMEOUT)
{
	int i;

	/*
	 * the other card looks slow, so the card that fails gets the commands
	 * first
	 */
	ASSERT_EQ(0, put_line(SIM "add", "algs=real"));
	ASSERT_EQ(0, put_line(CLASS "sim1/weight", "10000"));
	FOR_WAYS(i) {
		EXPECT_EQ(0, work(self, variant, &ways[i],
				  OCF_SESSION_HARDWARE));
		ASSERT_EQ(0, replace_card(variant));
	}
	EXPECT_EQ(0, put_line(SIM "remove", "sim1"));
}

/* A card that comes back does what it had failed to do. */
TEST_F_TIMEOUT(fault, nothing_is_left, TIMEOUT)
{
	int i;

	FOR_WAYS(i) {
		EXPECT_LE(variant->dies, work(self, variant, &ways[i],
					      OCF_SESSION_HARDWARE));
		ASSERT_EQ(0, replace_card(variant));
	}
}

/* A ring that ends does not wait for the card longer than other tasks. */
TEST_F_TIMEOUT(fault, rings_that_end, TIMEOUT)
{
	struct scene *s = &self->s;
	double begun;
	int i;

	FOR_WAYS(i) {
		ASSERT_EQ(0, begin(s, OCF_SESSION_HARDWARE));
		ASSERT_EQ(0, put_line(CARD "fault", variant->fault));
		hand_in(s, &ways[i]);
		usleep(below(50000));
		begun = now();
		end(s);
		EXPECT_TRUE(census_is(&s->before));
		EXPECT_GT(BOUND, now() - begun);
		ASSERT_EQ(0, replace_card(variant));
	}
}

static void hand_in_and_stay(struct scene *s, const struct way *way, int told)
{
	if (begin(s, OCF_SESSION_HARDWARE) || write(told, "", 1) != 1)
		_exit(1);
	usleep(20000);
	hand_in(s, way);
	pause();
}

TEST_F_TIMEOUT(fault, processes_that_go, TIMEOUT)
{
	struct census before;
	int i, status, told[2];
	double begun;
	pid_t pid;
	char c;

	FOR_WAYS(i) {
		before = census_take();
		ASSERT_EQ(0, pipe(told));
		pid = fork();
		if (!pid)
			hand_in_and_stay(&self->s, &ways[i], told[1]);
		ASSERT_EQ(1, read(told[0], &c, 1));
		ASSERT_EQ(0, put_line(CARD "fault", variant->fault));
		usleep(20000 + below(50000));
		begun = now();
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(SIGKILL, status);
		EXPECT_TRUE(census_is(&before));
		EXPECT_GT(BOUND, now() - begun);
		close(told[0]);
		close(told[1]);
		ASSERT_EQ(0, replace_card(variant));
	}
}

/* ---- buffers that go ---- */

FIXTURE(buffer)
{
	struct scene s;
	int file;
	uint8_t *same;		/* the pages of s.all */
};

static uint8_t *map_file(int file)
{
	return mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

FIXTURE_SETUP(buffer)
{
	chance_from(seed_given());
	self->file = memfd_create("buffer", MFD_CLOEXEC);
	ASSERT_LE(0, self->file);
	ASSERT_EQ(0, ftruncate(self->file, ALL));
	self->same = map_file(self->file);
	ASSERT_NE(MAP_FAILED, self->same);
	ASSERT_EQ(0, prepare(&self->s, map_file(self->file)));
	ASSERT_EQ(0, put_line(SIM "add", OPTIONS "patience=60000"));
}

FIXTURE_TEARDOWN(buffer)
{
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
	EXPECT_EQ(0, restore(&self->s));
	munmap(self->same, ALL);
	close(self->file);
}

/* Maps other pages at @at: the commands go on in the old pages. */
static int map_others(uint8_t *at, int flags, int file)
{
	return mmap(at, ALL, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file,
		    0) == at ? 0 : errno;
}

/* Returns the result of a command in the buffer. */
static int in_buffer(struct scene *s, bool vector)
{
	return vector ? ring_vector(&s->ring, s->fd, &s->c[1], 0) :
			ring_run(&s->ring, s->fd, &s->c[1], 0);
}

/*
 * While the card works in a registered buffer, other memory is mapped at its
 * address.  Then the buffer is unregistered, or replaced by another one.
 */
static int leave_buffer(struct scene *s, const struct way *way, bool replace)
{
	static uint8_t page[PAGE];
	struct iovec other = { page, PAGE };

	hand_in(s, way);
	if (map_others(s->all, MAP_PRIVATE | MAP_ANONYMOUS, -1))
		return -errno;
	if (!replace)
		return io_uring_unregister_buffers(&s->ring);
	return io_uring_register_buffers_update_tag(&s->ring, 0, &other, NULL,
						    1) == 1 ? 0 : -EIO;
}

TEST_F(buffer, gone_meanwhile)
{
	struct scene *s = &self->s;
	const struct way *way;
	int i;

	for (i = 0; i < 4; i++) {
		way = &ways[i % 2 ? 1 : 2];
		ASSERT_EQ(0, put_line(CARD "latency_ns", "1000"));
		ASSERT_EQ(0, begin(s, OCF_SESSION_HARDWARE));
		ASSERT_EQ(0, put_line(CARD "latency_ns", "20000000"));
		EXPECT_EQ(0, leave_buffer(s, way, i / 2));
		EXPECT_EQ(0, wait_for_all(s, way));
		EXPECT_EQ(0, not_done(s, self->same + MANY * LEN));
		EXPECT_TRUE(all_are(s->all, 0, ALL));
		EXPECT_EQ(-EFAULT, in_buffer(s, way->vector));
		end(s);
		ASSERT_EQ(0, map_others(s->all, MAP_SHARED, self->file));
		EXPECT_TRUE(census_is(&s->before));
	}
}

TEST_HARNESS_MAIN
