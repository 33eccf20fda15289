// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asynchronous work on the CPU is done by threads of the process, at its
 * priority, in its control group, and in its CPU time.
 */
#include <kselftest_harness.h>
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <linux/so_crypt.h>

#include "../lib/tcp.h"
#include "census.h"
#include "native.h"

#define EACH	(256u << 10)	/* bytes of an operation: some ms of 3DES */
#define MANY	64		/* operations submitted at a time */
#define TIMEOUT	1800		/* s: the debug kernel is slow */
#define GROUPS	"/tmp/workers.groups"
#define GROUP	GROUPS "/ours"

FIXTURE(workers)
{
	struct census before;
	int fd;
	uint32_t slow, fast;	/* sessions: 3DES, AES */
	uint8_t *buf;
};

typedef struct _test_data_workers Self;

static uint32_t open_cipher(int fd, const char *name, int keylen)
{
	uint8_t key[32];
	struct ocf_session_open o = { .mode = OCF_MODE_CIPHER,
		.key = addr(key), .keylen = keylen };

	fill(key, sizeof(key), 3);
	strcpy(o.cipher, name);
	return native_open(fd, &o) ? 0 : o.session;
}

FIXTURE_SETUP(workers)
{
	self->before = census_begin();
	self->fd = open(DEVICE, O_RDWR);
	ASSERT_LE(0, self->fd);
	self->slow = open_cipher(self->fd, "des3-cbc", 24);
	self->fast = open_cipher(self->fd, "aes-cbc", 16);
	ASSERT_TRUE(self->slow && self->fast);
	self->buf = mmap(NULL, EACH, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->buf);
}

FIXTURE_TEARDOWN(workers)
{
	munmap(self->buf, EACH);
	close(self->fd);
	EXPECT_TRUE(census_is(&self->before));
	chmod(DEVICE, 0660);
}

static struct ocf_command command(Self *self, uint32_t ses)
{
	return (struct ocf_command){
		.session = ses, .op = OCF_OP_ENCRYPT, .len = EACH,
		.src = addr(self->buf), .dst = addr(self->buf),
	};
}

/*
 * Submits @n operations.  Returns how many were accepted, or a negative errno.
 */
static int hand_in(Self *self, uint32_t ses, int n)
{
	struct ocf_command c[MANY];
	struct ocf_vector v = { .commands = addr(c), .count = n };
	int i;

	for (i = 0; i < n; i++)
		c[i] = command(self, ses);
	n = ioctl(self->fd, OCF_SUBMIT, &v);
	return n < 0 ? -errno : n;
}

/*
 * Fetches some results of the @left operations that are under way.  Returns how
 * many are left, or a negative errno.
 */
static int fetch_some(Self *self, int left)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	struct ocf_result r[MANY];
	struct ocf_reap reap = { .results = addr(r), .count = MANY };
	int i, n;

	if (poll(&p, 1, 600000) != 1)
		return -ETIME;
	n = ioctl(self->fd, OCF_REAP, &reap);
	if (n <= 0)
		return n ? -errno : -EPROTO;
	for (i = 0; i < n; i++)
		if (r[i].res != (int)EACH)
			return r[i].res < 0 ? r[i].res : -EPROTO;
	return left - n;
}

/* Does @n operations asynchronously.  Returns 0 or a negative errno. */
static int do_many(Self *self, uint32_t ses, int n)
{
	int left = hand_in(self, ses, n);

	if (left != n)
		return left < 0 ? left : -EBUSY;
	while (left > 0)
		left = fetch_some(self, left);
	return left;
}

/* Does @n operations, and waits for each.  Returns 0 or a negative errno. */
static int do_each(Self *self, uint32_t ses, int n)
{
	struct ocf_command c = command(self, ses);
	int got;

	while (n--) {
		got = native_run(self->fd, &c);
		if (got != (int)EACH)
			return got < 0 ? got : -EPROTO;
	}
	return 0;
}

/* Returns the CPU time of this process and all its threads, in us. */
static long own_time(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000L +
	       u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

/*
 * Returns how many threads the kernel has made for this process; @one gets the
 * id of one.
 */
static int threads(int *one)
{
	char path[300];
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 e->d_name);
		if (strcmp(get_line(path), "ocf"))
			continue;
		n++;
		if (one)
			*one = atoi(e->d_name);
	}
	if (d)
		closedir(d);
	return n;
}

/* Waits for a child process.  Returns its status. */
static int ended(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* ---- whose time it is ---- */

TEST_F_TIMEOUT(workers, their_time_is_the_process_own, TIMEOUT)
{
	long begun, sync = 0, async = 0;
	int i;

	for (i = 0; i < 3; i++) {
		begun = own_time();
		ASSERT_EQ(0, do_each(self, self->slow, 8));
		sync += own_time() - begun;
		begun = own_time();
		ASSERT_EQ(0, do_many(self, self->slow, 8));
		async += own_time() - begun;
	}
	TH_LOG("%ld us by calls that wait, %ld us by others", sync, async);
	EXPECT_LT(sync / 2, async);
	EXPECT_LE(1, threads(NULL));
}

/* A call that waits does its work itself, even if it takes long. */
TEST_F_TIMEOUT(workers, a_wait_is_its_own_time, TIMEOUT)
{
	struct ocf_session_open o = {
		.mode = OCF_MODE_COMPRESS, .cipher = "deflate",
	};
	struct ocf_command c = {};
	uint8_t *out = malloc(2 * EACH);
	long begun, pieces = LONG_MAX, whole = 0, us;
	int i;

	ASSERT_EQ(0, native_open(self->fd, &o));
	c.session = o.session;
	c.dst = addr(out);
	fill(self->buf, EACH, 1);
	/* a busy host makes both slower, so the best of three rounds counts */
	for (i = 0; i < 3; i++) {
		c.len = EACH / 32;
		c.dst_len = 16384;
		begun = own_time();
		for (c.src = addr(self->buf); c.src < addr(self->buf) + EACH;
		     c.src += c.len)
			ASSERT_LT(0, native_run(self->fd, &c));
		us = own_time() - begun;
		pieces = us < pieces ? us : pieces;
		c.src = addr(self->buf);
		c.len = EACH;
		c.dst_len = 2 * EACH;
		begun = own_time();
		ASSERT_LT(0, native_run(self->fd, &c));
		us = own_time() - begun;
		whole = us > whole ? us : whole;
	}
	TH_LOG("%ld us in pieces, %ld us as a whole", pieces, whole);
	EXPECT_LT(pieces / 3, whole);
	EXPECT_EQ(0, threads(NULL));
	free(out);
}

TEST_F_TIMEOUT(workers, public_keys_are_its_own_time, TIMEOUT)
{
	uint8_t number[256], out[8][256];
	struct ocf_pk_value values[8][4] = {};
	struct ocf_pk_command c[8];
	struct ocf_result r[8];
	struct ocf_vector v = { .commands = addr(c), .count = 8 };
	struct ocf_reap reap = { .results = addr(r), .count = 8 };
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	long begun, sync, async;
	int i, j, left = 8;

	fill(number, sizeof(number), 5);
	number[0] |= 0x80;
	number[255] |= 1;
	for (i = 0; i < 8; i++) {
		for (j = 0; j < 4; j++)
			values[i][j] = (struct ocf_pk_value){
				.addr = addr(j < 3 ? number : out[i]),
				.len = sizeof(number),
			};
		/* make it less than the modulus */
		values[i][0].addr++;
		values[i][0].len--;
		c[i] = (struct ocf_pk_command){
			.op = OCF_OP_PUBLIC_KEY, .code = OCF_PK_MOD_EXP,
			.in = 3, .out = 1, .values = addr(values[i]),
		};
	}
	begun = own_time();
	for (i = 0; i < 8; i++)
		ASSERT_EQ(256, native_run(self->fd, (void *)&c[i]));
	sync = own_time() - begun;
	begun = own_time();
	ASSERT_EQ(8, ioctl(self->fd, OCF_SUBMIT, &v));
	while (left > 0) {
		ASSERT_EQ(1, poll(&p, 1, 600000));
		left -= ioctl(self->fd, OCF_REAP, &reap);
	}
	async = own_time() - begun;
	TH_LOG("%ld us by calls that wait, %ld us by others", sync, async);
	EXPECT_LT(sync / 2, async);
	EXPECT_EQ(0, memcmp(out[0], out[7], 256));
}

TEST_F_TIMEOUT(workers, they_are_as_nice_as_the_process, TIMEOUT)
{
	int id = 0;

	ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, 7));
	ASSERT_EQ(0, do_many(self, self->slow, 2));
	ASSERT_LE(1, threads(&id));
	EXPECT_EQ(7, getpriority(PRIO_PROCESS, id));
}

static bool make_group(void)
{
	mkdir(GROUPS, 0700);
	return !mount("none", GROUPS, "cgroup2", 0, NULL) &&
	       !put_line(GROUPS "/cgroup.subtree_control", "+cpu") &&
	       (!mkdir(GROUP, 0700) || errno == EEXIST);
}

/* In a control group with a tenth of a CPU the process gets a tenth. */
static int in_group(Self *self)
{
	long sync, async, begun = own_time();

	if (do_each(self, self->slow, 4))
		return 1;
	sync = own_time() - begun;
	if (put_line(GROUP "/cgroup.procs", "0"))
		return 2;
	begun = number_in(GROUP "/cpu.stat", "usage_usec");
	if (do_many(self, self->slow, 4))
		return 3;
	async = number_in(GROUP "/cpu.stat", "usage_usec") - begun;
	return async < sync / 2 ? 4 : 0;
}

TEST_F_TIMEOUT(workers, they_are_in_its_control_group, TIMEOUT)
{
	pid_t pid;

	ASSERT_TRUE(make_group());
	EXPECT_EQ(0, put_line(GROUP "/cpu.max", "10000 100000"));
	pid = fork();
	if (!pid)
		_exit(in_group(self));
	EXPECT_EQ(0, WEXITSTATUS(ended(pid)));
	EXPECT_LT(0, number_in(GROUP "/cpu.stat", "nr_throttled"));
	EXPECT_EQ(0, rmdir(GROUP));
	EXPECT_EQ(0, put_line(GROUPS "/cgroup.subtree_control", "-cpu"));
	EXPECT_EQ(0, umount(GROUPS));
	EXPECT_EQ(0, rmdir(GROUPS));
}

/* ---- what a card fails ---- */

#define SIM	"/sys/bus/platform/drivers/ocf_sim/"
#define CARD	"/sys/class/ocf/sim0/device/"
/* A card so fast that it gets all requests */
#define OPTIONS	"algs=real overhead_ns=0 ps_per_byte=0 latency_ns=0 " \
		"public_key=1 public_ns=1000"
#define FAILING	16	/* operations, each of which the card fails */
/* public-key operations; after more failures the core would test the card */
#define POWERS	3

FIXTURE(failing)
{
	int fd;
	uint8_t *buf;
};

typedef struct _test_data_failing Failing;

FIXTURE_SETUP(failing)
{
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, put_line("/sys/module/ocf/parameters/recheck", "0"));
	ASSERT_EQ(0, put_line(SIM "add", OPTIONS));
	self->buf = malloc(EACH);
	fill(self->buf, EACH, 1);
}

FIXTURE_TEARDOWN(failing)
{
	close(self->fd);
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
	free(self->buf);
}

static long replays(const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/ocf/sim0/%s", what);
	return atol(get_line(path));
}

/*
 * Makes a command that opens data which are not ciphertext, so the tag is
 * wrong.
 */
static struct ocf_command forged(Failing *self, uint32_t flags)
{
	static const uint8_t key[16], tag[16];
	struct ocf_session_open o = {
		.mode = OCF_MODE_AEAD, .cipher = "aes-gcm", .flags = flags,
		.policy = OCF_POLICY_CPU,
		.key = addr(key), .keylen = sizeof(key),
	};

	return (struct ocf_command){
		.session = native_open(self->fd, &o) ? 0 : o.session,
		.op = OCF_OP_DECRYPT, .len = EACH, .tag = addr(tag),
		.src = addr(self->buf), .dst = addr(self->buf),
	};
}

/* Does FAILING commands like @c.  Returns whether all were refused. */
static bool all_refused(Failing *self, const struct ocf_command *c,
			bool together)
{
	struct ocf_command all[FAILING];
	struct ocf_result r[FAILING];
	struct ocf_vector v = { .commands = addr(all), .results = addr(r),
				.count = together ? FAILING : 1 };
	int i, done;

	for (i = 0; i < FAILING; i++)
		all[i] = *c;
	for (done = 0; done < FAILING; done += v.count) {
		if (ioctl(self->fd, OCF_RUN, &v))
			return false;
		for (i = 0; i < (int)v.count; i++)
			if (r[i].res != -EBADMSG)
				return false;
	}
	return true;
}

/* Returns the CPU time of thread @id in us. */
static long thread_time(int id)
{
	/* as MAKE_THREAD_CPUCLOCK() of the kernel with CPUCLOCK_SCHED */
	clockid_t clock = (~(unsigned int)id << 3) | 4 | 2;
	struct timespec t = {};

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/*
 * The CPU checks each tag that a card calls wrong, in the time of the process
 * that sent it.
 */
TEST_F_TIMEOUT(failing, forged_tags_are_its_own_time, TIMEOUT)
{
	struct ocf_command soft = forged(self, OCF_SESSION_SOFTWARE);
	struct ocf_command any = forged(self, 0);
	long sync, single, vector, before;
	int id;

	ASSERT_TRUE(soft.session && any.session);
	sync = own_time();
	ASSERT_TRUE(all_refused(self, &soft, false));
	sync = own_time() - sync;
	/*
	 * the card now accepts every tag without computing, so the core
	 * measures it as fast
	 */
	ASSERT_EQ(0, put_line(CARD "compute", "0"));
	all_refused(self, &any, true);
	ASSERT_EQ((int)EACH, native_run(self->fd, &any));
	ASSERT_EQ(0, put_line(CARD "fault", "tag 1000000"));
	/* from here on there is a thread */
	ASSERT_TRUE(all_refused(self, &any, true));
	ASSERT_EQ(1, threads(&id));
	before = replays("counters/replays");
	single = thread_time(id);
	ASSERT_TRUE(all_refused(self, &any, false));
	vector = thread_time(id);
	single = vector - single;
	ASSERT_TRUE(all_refused(self, &any, true));
	vector = thread_time(id) - vector;
	EXPECT_LE(before + 3 * FAILING / 2, replays("counters/replays"));
	TH_LOG("%ld us by the CPU, %ld us after a card, %ld us in a vector",
	       sync, single, vector);
	/*
	 * Before the fix the thread's time did not grow.  @sync also includes
	 * the overhead of the calls, which is not in the thread's time.
	 */
	EXPECT_LT(sync / 8, single);
	EXPECT_LT(sync / 8, vector);
}

/* Returns this process's CPU time in us for @n exponentiations, or -1. */
static long time_of_powers(int fd, int n, bool fail)
{
	uint8_t number[256], out[256];
	struct ocf_pk_value values[4];
	struct ocf_pk_command c = {
		.op = OCF_OP_PUBLIC_KEY, .code = OCF_PK_MOD_EXP,
		.in = 3, .out = 1, .values = addr(values),
	};
	long begun = own_time();
	int i;

	fill(number, sizeof(number), 5);
	number[0] |= 0x80;
	number[255] |= 1;
	for (i = 0; i < 4; i++)
		values[i] = (struct ocf_pk_value){
			.addr = addr(i < 3 ? number : out), .len = 256,
		};
	values[0].addr++;
	values[0].len--;
	while (n--) {
		if (fail && put_line(CARD "fault", "error 1"))
			return -1;
		if (native_run(fd, (void *)&c) != 256)
			return -1;
	}
	return own_time() - begun;
}

/*
 * A public-key operation that the card fails is done by the CPU in the time of
 * the task that waits.
 */
TEST_F_TIMEOUT(failing, public_keys_are_its_own_time, TIMEOUT)
{
	long before = replays("public_key_counters/replays"), failed, sync;

	failed = time_of_powers(self->fd, POWERS, true);
	ASSERT_LE(0, failed);
	/*
	 * the core may send some operations to the CPU directly, so one replay
	 * is enough
	 */
	EXPECT_LT(before, replays("public_key_counters/replays"));
	ASSERT_EQ(0, put_line("/sys/class/ocf/sim0/state", "drain"));
	sync = time_of_powers(self->fd, POWERS, false);
	ASSERT_LT(0, sync);
	TH_LOG("%ld us by the CPU, %ld us after a card", sync, failed);
	/* before the fix, @failed was a 200th of @sync */
	EXPECT_LT(sync / 8, failed);
}

/* ---- how many there are ---- */

TEST_F_TIMEOUT(workers, one_for_each_processor_at_most, TIMEOUT)
{
	int i, most = 0;

	ASSERT_EQ(0, threads(NULL));
	/* small operations need no thread */
	ASSERT_EQ(0, do_each(self, self->slow, 1));
	ASSERT_EQ(0, threads(NULL));
	for (i = 0; i < 2 * get_nprocs() + 2; i++) {
		ASSERT_EQ(0, do_many(self, self->slow, 4));
		most = threads(NULL) > most ? threads(NULL) : most;
	}
	EXPECT_EQ(get_nprocs(), most);
}

TEST_F_TIMEOUT(workers, a_child_has_its_own, TIMEOUT)
{
	pid_t pid;

	ASSERT_EQ(0, do_many(self, self->slow, 2));
	ASSERT_LE(1, threads(NULL));
	pid = fork();
	if (!pid)
		_exit(threads(NULL) ? 1 : do_many(self, self->slow, 2) ? 2 :
		      threads(NULL) ? 0 : 3);
	EXPECT_EQ(0, WEXITSTATUS(ended(pid)));
	/* the descriptor keeps the threads of the process that used it last */
	ASSERT_EQ(0, do_many(self, self->slow, 2));
	EXPECT_LE(1, threads(NULL));
}

/* The threads end with the last descriptor, and so do its operations. */
TEST_F_TIMEOUT(workers, they_go_with_the_descriptor, TIMEOUT)
{
	int tries;

	ASSERT_EQ(0, do_many(self, self->slow, 2));
	ASSERT_LE(1, threads(NULL));
	close(self->fd);
	self->fd = -1;
	for (tries = 0; threads(NULL) && tries < 6000; tries++)
		usleep(10000);
	EXPECT_EQ(0, threads(NULL));
}

/* Runs in a process that cannot have another thread: the call does the work. */
static int without_threads(Self *self)
{
	struct rlimit none = { 1, 1 };
	long begun, sync, async;

	become(SOMEBODY);
	if (setrlimit(RLIMIT_NPROC, &none))
		return 1;
	begun = own_time();
	if (do_each(self, self->slow, 4))
		return 2;
	sync = own_time() - begun;
	begun = own_time();
	if (do_many(self, self->slow, 4))
		return 3;
	async = own_time() - begun;
	return threads(NULL) ? 4 : async < sync / 2 ? 5 : 0;
}

TEST_F_TIMEOUT(workers, there_may_be_none, TIMEOUT)
{
	pid_t pid = fork();

	if (!pid)
		_exit(without_threads(self));
	EXPECT_EQ(0, WEXITSTATUS(ended(pid)));
}

/* ---- the end of the process ---- */

/* In a child: submits MANY operations, @rounds times, and tells the parent. */
static void hand_in_and_tell(Self *self, int rounds, int fd)
{
	while (rounds--)
		if (hand_in(self, self->slow, MANY) != MANY)
			_exit(1);
	if (write(fd, "x", 1) != 1)
		_exit(1);
}

static long operations(void)
{
	return atol(get_line("/sys/class/ocf/cryptosoft0/counters/operations"));
}

/* The operations of a killed process are not done any more. */
TEST_F_TIMEOUT(workers, a_process_is_killed, TIMEOUT)
{
	long before = operations();
	int told[2], tries;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(told));
	pid = fork();
	if (!pid) {
		hand_in_and_tell(self, 2, told[1]);
		for (;;)
			pause();
	}
	close(told[1]);
	ASSERT_EQ(1, read(told[0], &byte, 1));
	kill(pid, SIGKILL);
	EXPECT_EQ(SIGKILL, WTERMSIG(ended(pid)));
	/* an operation that still ran would hold its pages */
	for (tries = 0; tries < 3000 &&
	     census_take().pinned != self->before.pinned; tries++)
		usleep(100000);
	EXPECT_GT(before + MANY, operations());
	close(told[0]);
	/* the descriptor still works */
	EXPECT_EQ(0, do_many(self, self->slow, 2));
}

/* After execve() the process gets new threads. */
TEST_F_TIMEOUT(workers, a_process_is_another_program, TIMEOUT)
{
	char fd[16], ses[16];
	pid_t pid;

	snprintf(fd, sizeof(fd), "%d", self->fd);
	snprintf(ses, sizeof(ses), "%u", self->slow);
	pid = fork();
	if (!pid) {
		if (hand_in(self, self->slow, MANY) != MANY)
			_exit(1);
		execl("/proc/self/exe", "native_workers", "--another", fd, ses,
		      NULL);
		_exit(2);
	}
	EXPECT_EQ(0, WEXITSTATUS(ended(pid)));
	EXPECT_EQ(0, do_many(self, self->slow, 2));
}

static int as_another(int fd, uint32_t ses)
{
	static uint8_t buf[EACH];
	struct _test_data_workers there = { .fd = fd, .buf = buf };

	if (threads(NULL))
		return 3;
	return do_many(&there, ses, 4) ? 4 : threads(NULL) < 1 ? 5 : 0;
}

/* If a process is stopped, its own operations stop, and no others. */
TEST_F_TIMEOUT(workers, a_process_is_stopped, TIMEOUT)
{
	int told[2], status, left = MANY;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(told));
	pid = fork();
	if (!pid) {
		hand_in_and_tell(self, 1, told[1]);
		while (left > 0)
			left = fetch_some(self, left);
		_exit(left ? 2 : 0);
	}
	ASSERT_EQ(1, read(told[0], &byte, 1));
	kill(pid, SIGSTOP);
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	EXPECT_EQ(0, do_many(self, self->slow, 4));
	EXPECT_EQ(0, do_each(self, self->fast, 4));
	kill(pid, SIGCONT);
	EXPECT_EQ(0, WEXITSTATUS(ended(pid)));
	close(told[0]);
	close(told[1]);
}

/* Returns how many of the kernel's workers are working for workqueue @name. */
static int workers_at(const char *name)
{
	char path[300], comm[64];
	struct dirent *e;
	FILE *f;
	DIR *d;
	int n = 0;

	d = opendir("/proc");
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		f = fopen(path, "r");
		if (f && fgets(comm, sizeof(comm), f))
			n += !!strstr(comm, name);
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return n;
}

/*
 * Another process uses the descriptor while the process with its threads is
 * stopped.  No worker of the kernel waits for these threads.
 */
TEST_F_TIMEOUT(workers, nobody_waits_for_a_stopped_process, TIMEOUT)
{
	int status, tries;
	pid_t pid = fork();

	if (!pid) {
		if (do_many(self, self->slow, 2))
			_exit(1);
		raise(SIGSTOP);
		/* the threads that are not in use are found again */
		_exit(do_many(self, self->slow, 2) ? 2 :
		      threads(NULL) < 1 ? 3 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	EXPECT_EQ(0, do_many(self, self->slow, 2));
	for (tries = 0; workers_at("+ocf_free") && tries < 600; tries++)
		usleep(100000);
	EXPECT_EQ(0, workers_at("+ocf_free"));
	kill(pid, SIGCONT);
	EXPECT_EQ(0, WEXITSTATUS(ended(pid)));
}

/* ---- neighbours ---- */

/* Submits as many operations as it may, for ever. */
static void flood(Self *self)
{
	int left = 0, n;

	self->fd = open_dev();
	self->slow = open_cipher(self->fd, "des3-cbc", 24);
	for (;;) {
		n = hand_in(self, self->slow, MANY);
		left += n > 0 ? n : 0;
		n = fetch_some(self, left);
		left = n > 0 ? n : 0;
	}
}

#define CONNECTIONS	8	/* of a process with itself */

/* Sends and receives as much as possible without waiting. */
static void send_and_receive(const int *fd, uint8_t *buf)
{
	while (send(fd[1], buf, EACH, MSG_DONTWAIT) > 0)
		;
	while (recv(fd[0], buf, EACH, MSG_DONTWAIT) > 0)
		;
}

/*
 * Sends to itself for ever; the kernel's threads decrypt the received records.
 */
static void flood_by_sockets(Self *self)
{
	struct so_crypt crypt = {
		.size = sizeof(crypt), .protocol = SO_CRYPT_TLS_1_2,
		.cipher = "aes-cbc", .mac = "hmac-sha256", .keylen = 16,
		.mackeylen = 32,
	};
	int fd[CONNECTIONS][2], i, j;

	for (i = 0; i < CONNECTIONS; i++) {
		tcp_pair(fd[i]);
		for (j = 0; j < 2; j++)
			if (setsockopt(fd[i][j], SOL_TCP, TCP_ULP, "ocf", 3) ||
			    setsockopt(fd[i][j], SOL_OCF,
				       j ? SO_CRYPT_TX : SO_CRYPT_RX, &crypt,
				       sizeof(crypt)))
				err(1, "keys");
	}
	for (i = 0;; i = (i + 1) % CONNECTIONS)
		send_and_receive(fd[i], self->buf);
}

/* Does one operation after the other in its own time, for ever. */
static void work_honestly(Self *self)
{
	self->fd = open_dev();
	self->slow = open_cipher(self->fd, "des3-cbc", 24);
	while (!do_each(self, self->slow, 1))
		;
}

/*
 * Returns the ms that a fixed amount of the victim's work takes beside
 * @neighbour with the nice value @nice.
 */
static long beside(Self *self, void (*neighbour)(Self *), int nice)
{
	pid_t pid = fork();
	double begun, took;

	if (!pid) {
		become(SOMEBODY);
		if (setpriority(PRIO_PROCESS, 0, nice))
			_exit(1);
		neighbour(self);
		_exit(1);
	}
	/* until the neighbour is busy */
	usleep(300000);
	begun = now();
	if (do_each(self, self->fast, 128))
		return -1;
	took = now() - begun;
	kill(pid, SIGKILL);
	if (WTERMSIG(ended(pid)) != SIGKILL)
		return -1;
	return took * 1000;
}

/*
 * Beside an attacker a process gets at least 45 % of the CPU time that it gets
 * beside a process that does the same work as itself.
 */
TEST_F_TIMEOUT(workers, a_victim_keeps_its_share, TIMEOUT)
{
	long equal = 0, flooded = 0, low = 0, sockets = 0, ms;
	int i;

	chmod(DEVICE, 0666);
	for (i = 0; i < 3; i++) {
		ms = beside(self, work_honestly, 0);
		ASSERT_LT(0, ms);
		equal += ms;
		ms = beside(self, flood, 0);
		ASSERT_LT(0, ms);
		flooded += ms;
		ms = beside(self, flood, 19);
		ASSERT_LT(0, ms);
		low += ms;
		ms = beside(self, flood_by_sockets, 0);
		ASSERT_LT(0, ms);
		sockets += ms;
	}
	TH_LOG("ms beside an equal %ld; flooded %ld, nicely %ld, by TCP %ld",
	       equal, flooded, low, sockets);
	EXPECT_LT(flooded, equal * 100 / 45);
	EXPECT_LT(sockets, equal * 100 / 45);
	/* a neighbour of low priority takes little from it */
	EXPECT_LT(low, flooded * 9 / 10);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--another"))
		return as_another(atoi(argv[2]), strtoul(argv[3], NULL, 0));
	return test_harness_run(argc, argv);
}
