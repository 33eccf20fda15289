// SPDX-License-Identifier: BSD-2-Clause
/*
 * The limits of a user: sessions, bytes, pinned pages, and the memory of the
 * control group.
 */
#include "native.h"
#include "sharing.h"

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

__thread uint64_t chance_state;

/* ---- sessions ---- */

/*
 * Opens as many sessions as possible, tells the number, and keeps them until it
 * is told to end.
 */
static void take_sessions(int told, int go)
{
	int fd, n = 0, err;
	uint32_t ses;
	char c;

	become(SOMEBODY);
	fd = open_dev();
	while (!(err = open_session(fd, CRYPTO_NULL, 0, 0, 0, &ses)))
		n++;
	if (err != EDQUOT)
		n = 1000;
	if (write(told, &n, sizeof(n)) != sizeof(n) || read(go, &c, 1))
		_exit(1);
	_exit(0);
}

/* Many processes of a user get as many sessions together as one would alone. */
TEST_F_TIMEOUT(sharing, sessions_of_a_user_are_counted_once, TIMEOUT)
{
	int told[2], go[2], i, n, all = 0, keeper;
	pid_t pid[6];

	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, set_cdev("max_sessions", "300"));
	keeper = open_as(SOMEBODY);
	ASSERT_EQ(0, pipe(told));
	ASSERT_EQ(0, pipe(go));
	for (i = 0; i < 6; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			close(go[1]);
			take_sessions(told[1], go[0]);
		}
	}
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(sizeof(n), read(told[0], &n, sizeof(n)));
		all += n;
	}
	EXPECT_EQ(300, all);
	close(go[1]);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(0, ended(pid[i]));
	close(keeper);
	close(told[0]);
	close(told[1]);
	close(go[0]);
}

#define SESSION_MAX	(32l << 10)	/* bytes of a session, at most */
#define RED_ZONES	5		/* times the charge */

static long free_memory(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? -1 : (long)(info.freeram * info.mem_unit);
}

#define LIMIT	"/sys/module/ocf/parameters/max_session_bytes"

/* Kinds of sessions, which use different memory */
static const struct ocf_session_open kinds[] = {
	{ .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .keylen = 16 },
	{ .mode = OCF_MODE_CIPHER, .cipher = "aes-xts", .keylen = 64 },
	{ .mode = OCF_MODE_CIPHER, .cipher = "des3-cbc", .keylen = 24 },
	{ .mode = OCF_MODE_CIPHER, .cipher = "chacha20", .keylen = 32 },
	{ .mode = OCF_MODE_CIPHER, .cipher = "blowfish-cbc", .keylen = 16 },
	{ .mode = OCF_MODE_CIPHER, .cipher = "cast5-cbc", .keylen = 16 },
	{ .mode = OCF_MODE_CIPHER, .cipher = "camellia-cbc", .keylen = 32 },
	{ .mode = OCF_MODE_AEAD, .cipher = "aes-gcm", .keylen = 32 },
	{ .mode = OCF_MODE_AEAD, .cipher = "aes-ccm", .keylen = 16 },
	{ .mode = OCF_MODE_AEAD, .cipher = "chacha20-poly1305", .keylen = 32 },
	{ .mode = OCF_MODE_DIGEST, .mac = "sha256" },
	{ .mode = OCF_MODE_DIGEST, .mac = "hmac-sha512", .mackeylen = 64 },
	{ .mode = OCF_MODE_DIGEST, .mac = "aes-gmac", .mackeylen = 16 },
	{ .mode = OCF_MODE_ETA, .cipher = "aes-cbc", .keylen = 32,
	  .mac = "hmac-sha256", .mackeylen = 32 },
	{ .mode = OCF_MODE_MTE, .cipher = "aes-cbc", .keylen = 16,
	  .mac = "hmac-sha1", .mackeylen = 20 },
	{ .mode = OCF_MODE_COMPRESS, .cipher = "deflate" },
};

/* index in kinds[] of the kind that takes the least memory */
#define SMALLEST	3

static struct ocf_session_open of_kind(int i)
{
	struct ocf_session_open o = kinds[i];

	o.key = addr(key_bytes);
	o.mackey = addr(key_bytes + 1);
	return o;
}

static char *number(long n)
{
	static char text[32];

	snprintf(text, sizeof(text), "%ld", n);
	return text;
}

/* Opens sessions of a kind until one is refused; *@n gets the number. */
static int fill_up(const struct ocf_session_open *kind, int *n, long *left)
{
	struct ocf_session_open o;
	int fd, err;

	become(SOMEBODY);
	fd = open_dev();
	for (*n = 0, o = *kind; !(err = native_open(fd, &o)); o = *kind)
		++*n;
	*left = free_memory();
	return err == EDQUOT ? 0 : err;
}

/*
 * No session takes much more memory than the user is charged for, even if the
 * kernel puts red zones around each object.  Closing frees all of it.
 */
TEST_F_TIMEOUT(sharing, memory_of_sessions_is_limited, TIMEOUT)
{
	struct {
		int n;
		long left;
	} *got = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long before, used, allowed = rounds_given(8) * (1l << 20);
	char *usual = strdup(get_line(LIMIT));
	int i, again, keeper, n[2] = {};
	struct ocf_session_open o;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, got);
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, set_cdev("max_sessions", "100000"));
	ASSERT_EQ(0, allow_weak("all"));
	ASSERT_EQ(0, put_line(LIMIT, number(allowed)));
	keeper = open_as(SOMEBODY);
	for (i = 0; i < (int)ARRAY_SIZE(kinds); i++) {
		o = of_kind(i);
		/*
		 * open one first, so that modules that it needs are already
		 * loaded when memory is measured
		 */
		EXPECT_EQ(0, native_open(self->fd, &o));
		for (again = 0; again < 2; again++) {
			o = of_kind(i);
			before = free_memory();
			pid = fork();
			if (!pid)
				_exit(fill_up(&o, &got->n, &got->left));
			EXPECT_EQ(0, ended(pid));
			used = before - got->left;
			n[again] = got->n;
		}
		TH_LOG("%s %s: %d, %ld KiB", kinds[i].cipher, kinds[i].mac,
		       n[0], used >> 10);
		EXPECT_GT(RED_ZONES * allowed, used);
		EXPECT_LT(allowed / SESSION_MAX, n[0]);
		EXPECT_EQ(n[0], n[1]);
	}
	EXPECT_EQ(0, put_line(LIMIT, usual));
	free(usual);
	munmap(got, PAGE);
	close(keeper);
}

/* If new keys exceed the limit, the session goes on with the old ones. */
TEST_F(sharing, new_keys_are_charged)
{
	char *usual = strdup(get_line(LIMIT));
	struct ocf_session_rekey r = {
		.size = sizeof(r), .key = addr(key_bytes), .keylen = 16,
	};
	struct ocf_session_open o = of_kind(0), more;
	pid_t pid;

	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, put_line(LIMIT, "65536"));
	pid = fork();
	if (!pid) {
		int fd, err;

		become(SOMEBODY);
		fd = open_dev();
		if (native_open(fd, &o))
			_exit(1);
		r.session = o.session;
		if (native_open(fd, &o))
			_exit(1);
		/* fill up with small sessions, to the last byte */
		do {
			more = of_kind(SMALLEST);
			err = native_open(fd, &more);
		} while (!err);
		if (err != EDQUOT || call(fd, OCF_SESSION_REKEY, &r) != EDQUOT)
			_exit(2);
		/* close another session: then there is memory */
		if (call(fd, OCF_SESSION_CLOSE, &o.session) ||
		    call(fd, OCF_SESSION_REKEY, &r) ||
		    call(fd, OCF_SESSION_REKEY, &r))
			_exit(3);
		_exit(0);
	}
	EXPECT_EQ(0, ended(pid));
	EXPECT_EQ(0, put_line(LIMIT, usual));
	free(usual);
}

/* Becomes SOMEBODY in a user namespace, and there another user. */
static void become_many(int ready, int go)
{
	char c;

	become(SOMEBODY);
	if (unshare(CLONE_NEWUSER) || write(ready, "", 1) != 1 ||
	    read(go, &c, 1) != 1 || setuid(1))
		_exit(100);
}

/* A user that makes other users in a namespace gets no more by that. */
TEST_F(sharing, users_of_a_namespace_are_its_makers)
{
	int ready[2], go[2], n = 0, fd, map, keeper;
	char path[64], c;
	uint32_t ses;
	pid_t pid;

	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, set_cdev("max_sessions", "10"));
	keeper = open_as(SOMEBODY);
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	if (!pid) {
		become_many(ready[1], go[0]);
		fd = open_dev();
		while (fd >= 0 &&
		       !open_session(fd, CRYPTO_NULL, 0, 0, 0, &ses))
			n++;
		/* four of ten are left for it */
		_exit(n != 4);
	}
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &c, 1));
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	map = open(path, O_WRONLY);
	n = snprintf(path, sizeof(path), "0 %d 1\n1 2000 1\n", SOMEBODY);
	ASSERT_EQ(n, write(map, path, n));
	close(map);
	for (n = 0; n < 6; n++)
		ASSERT_EQ(0, open_session(keeper, CRYPTO_NULL, 0, 0, 0, &ses));
	ASSERT_EQ(1, write(go[1], "", 1));
	EXPECT_EQ(0, ended(pid));
	close(keeper);
	close(ready[0]);
	close(go[0]);
	close(go[1]);
}

/* ---- bytes ---- */

#define HUGE	(2u << 20)

/*
 * Submits an operation on a small part of a huge page, and unmaps the huge
 * page.
 */
static int leave_huge(Self *self, int fd, uint32_t ses, uint8_t *room)
{
	uint8_t *huge = (void *)(((uintptr_t)room + HUGE) & -(uintptr_t)HUGE);
	struct crypt_op cop = {
		.ses = ses, .op = COP_ENCRYPT, .len = 2048, .src = huge,
		.dst = self->out, .iv = self->iv,
	};
	int err;

	if (mmap(room, 2 * HUGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != room)
		return errno;
	/* without huge pages the test passes, too */
	madvise(room, 2 * HUGE, MADV_HUGEPAGE);
	memcpy(huge, self->text, 2048);
	err = call(fd, CIOCASYNCCRYPT, &cop);
	munmap(room, 2 * HUGE);
	return err;
}

static bool fetched(int fd, int n)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct crypt_op cop;

	while (n--)
		if (poll(&p, 1, TIMEOUT * 1000) != 1 ||
		    call(fd, CIOCASYNCFETCH, &cop))
			return false;
	return true;
}

static int leave_many(Self *self, uint8_t *room)
{
	long before, gone;
	uint32_t ses;
	int fd, i;

	become(SOMEBODY);
	fd = open_dev();
	if (open_session(fd, CRYPTO_AES_CBC, 16, 0, 0, &ses))
		return 1;
	before = free_memory();
	for (i = 0; i < 64; i++)
		if (leave_huge(self, fd, ses, room))
			return 2;
	gone = before - free_memory();
	/* 64 huge pages are 128 MiB, and the limit is 8 */
	if (gone > 24l << 20)
		return 3;
	if (!fetched(fd, 64))
		return 4;
	return memcmp(self->out, self->want, 2048) ? 5 : 0;
}

/*
 * Results that wait to be fetched keep no more memory than is charged for them.
 */
TEST_F(sharing, pages_that_are_kept_are_charged)
{
	uint8_t *room = mmap(NULL, 2 * HUGE, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int keeper;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, room);
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, set_cdev("max_bytes", "8388608"));
	keeper = open_as(SOMEBODY);
	pid = fork();
	if (!pid)
		_exit(leave_many(self, room));
	EXPECT_EQ(0, ended(pid));
	close(keeper);
	munmap(room, 2 * HUGE);
}

static int use_bytes(Self *self, int keeper, int rounds)
{
	int refused = 0, err, fd;

	become(SOMEBODY);
	fd = keeper < 0 ? open_dev() : keeper;
	if (open_session(fd, CRYPTO_AES_CBC, 16, 0, 0, &self->ses))
		return -1;
	while (rounds--) {
		err = crypt_op(fd, self->ses, COP_ENCRYPT, COP_FLAG_NO_ZC,
			       self->text, self->out, BIG / 16, self->iv, NULL);
		refused += err == EDQUOT;
		if (err && err != EDQUOT)
			return -1;
	}
	return refused;
}

/*
 * Runs operations in three processes.  Returns how many were refused; -1 for
 * another error.
 */
static int use_bytes_at_once(Self *self, int rounds)
{
	int i, refused = 0, status, err = 0;
	pid_t pid[3];

	for (i = 0; i < 3; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(use_bytes(self, -1, rounds) & 0xff);
	}
	for (i = 0; i < 3; i++) {
		status = ended(pid[i]);
		if (!WIFEXITED(status) || WEXITSTATUS(status) == 0xff)
			err = -1;
		refused += WEXITSTATUS(status);
	}
	return err ?: refused;
}

/*
 * The limit allows one of three processes' operations at a time: some are
 * refused, and all bytes are given back.
 */
TEST_F_TIMEOUT(sharing, bytes_of_a_user_are_given_back, TIMEOUT)
{
	int tries, refused = 0, keeper, n = rounds_given(40);
	pid_t pid;

	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, set_cdev("max_bytes", "1048576"));
	keeper = open_as(SOMEBODY);
	/* by chance the processes may run one after the other */
	for (tries = 0; tries < 100 && !refused; tries++)
		refused = use_bytes_at_once(self, n);
	EXPECT_LT(0, refused);
	pid = fork();
	if (!pid)
		_exit(use_bytes(self, keeper, 3) & 0xff);
	EXPECT_EQ(0, ended(pid));
	close(keeper);
}

/* ---- pinned memory ---- */

#define LOCKED	(256u << 10)	/* bytes, of RLIMIT_MEMLOCK */
#define PIECE	16384u		/* bytes of an operation */

static uint8_t *small_pages(size_t bytes)
{
	uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(101);
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static int ring_of_one(void)
{
	struct io_uring_params p = {};

	return syscall(__NR_io_uring_setup, 1, &p);
}

/* Registers @bytes at @at with @ring.  Returns 0 or an errno. */
static int keep_with(int ring, void *at, size_t bytes)
{
	struct iovec v = { at, bytes };

	return syscall(__NR_io_uring_register, ring, IORING_REGISTER_BUFFERS,
		       &v, 1) ? errno : 0;
}

static int keep_nothing_with(int ring)
{
	return syscall(__NR_io_uring_register, ring,
		       IORING_UNREGISTER_BUFFERS, NULL, 0) ? errno : 0;
}

/**
 * struct interface - how operations are submitted without fetching their
 * results
 * @open: makes a session; 0, or an errno
 * @leave: submits an operation on PIECE bytes, whose result goes right behind
 *	them; returns 0 or an errno
 * @fetched: returns whether @n results were fetched and all had succeeded
 */
struct interface {
	int	(*open)(int fd, uint32_t *ses);
	int	(*leave)(Self *self, int fd, uint32_t ses, uint8_t *piece);
	bool	(*fetched)(int fd, int n);
};

static int open_linux(int fd, uint32_t *ses)
{
	return open_session(fd, CRYPTO_AES_CBC, 16, 0, 0, ses);
}

static int leave_linux(Self *self, int fd, uint32_t ses, uint8_t *piece)
{
	struct crypt_op cop = {
		.ses = ses, .op = COP_ENCRYPT, .len = PIECE, .src = piece,
		.dst = piece + PIECE, .iv = self->iv,
	};

	return call(fd, CIOCASYNCCRYPT, &cop);
}

static int open_native(int fd, uint32_t *ses)
{
	struct ocf_session_open o = {
		.mode = OCF_MODE_CIPHER, .cipher = "aes-cbc",
		.key = addr(key_bytes), .keylen = 16,
	};
	int err = native_open(fd, &o);

	*ses = o.session;
	return err;
}

static int leave_native(Self *self, int fd, uint32_t ses, uint8_t *piece)
{
	struct ocf_command c = {
		.session = ses, .src = addr(piece), .dst = addr(piece + PIECE),
		.len = PIECE,
	};
	struct ocf_vector v = { .commands = addr(&c), .count = 1 };

	memcpy(c.iv, self->iv, sizeof(c.iv));
	return ioctl(fd, OCF_SUBMIT, &v) == 1 ? 0 : errno;
}

static bool fetched_native(int fd, int n)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct ocf_result r;
	struct ocf_reap reap = { .results = addr(&r), .count = 1 };

	while (n--)
		if (poll(&p, 1, TIMEOUT * 1000) != 1 ||
		    ioctl(fd, OCF_REAP, &reap) != 1 || r.res < 0)
			return false;
	return true;
}

static const struct interface by_linux = { open_linux, leave_linux, fetched },
	by_native = { open_native, leave_native, fetched_native };

/*
 * Submits operation @i, from and to @at, whose pages are pinned if the limit
 * allows.
 */
static int leave_piece(Self *self, const struct interface *by, int fd,
		       uint32_t ses, uint8_t *at, int i)
{
	uint8_t *piece = at + 2 * PIECE * i;

	memcpy(piece, self->text, PIECE);
	return by->leave(self, fd, ses, piece);
}

static int fetch_pieces(Self *self, const struct interface *by, int fd,
			uint8_t *at, int n)
{
	int i;

	if (!by->fetched(fd, n))
		return 1;
	for (i = 0; i < n; i++)
		if (memcmp(at + 2 * PIECE * i + PIECE, self->want, PIECE))
			return 2;
	return 0;
}

/*
 * Submits 32 operations, tells the parent, and fetches the results when the
 * parent says so.
 */
static int leave_pinned(Self *self, const struct interface *by, int told,
			int go)
{
	uint8_t *at = small_pages(64 * PIECE), *other = small_pages(LOCKED);
	int fd, ring, i;
	uint32_t ses;
	char c;

	if (setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ LOCKED, LOCKED }))
		return 1;
	become(SOMEBODY);
	fd = open_dev();
	if (by->open(fd, &ses))
		return 2;
	ring = ring_of_one();
	if (ring < 0 || keep_with(ring, other, LOCKED))
		return 3;
	/* nothing more may be pinned: all are copied */
	for (i = 0; i < 8; i++)
		if (leave_piece(self, by, fd, ses, at, i))
			return 4;
	if (fetch_pieces(self, by, fd, at, 8) || keep_nothing_with(ring))
		return 5;
	for (i = 0; i < 32; i++)
		if (leave_piece(self, by, fd, ses, at, i))
			return 6;
	/* the limit of others has not changed */
	if (keep_with(ring, other, LOCKED) != ENOMEM)
		return 7;
	if (write(told, "", 1) != 1 || read(go, &c, 1) != 1)
		return 8;
	if (fetch_pieces(self, by, fd, at, 32))
		return 9;
	return keep_with(ring, other, LOCKED) ? 10 : 0;
}

/*
 * Pages that stay pinned until the result is fetched count as locked memory;
 * beyond the limit data are copied.
 */
static void lock_by(struct __test_metadata *_metadata, Self *self,
		    const struct interface *by)
{
	int told[2], go[2], keeper;
	struct census now;
	pid_t pid;
	char c;

	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, pipe(told));
	ASSERT_EQ(0, pipe(go));
	keeper = open_as(SOMEBODY);
	pid = fork();
	if (!pid) {
		close(told[0]);
		_exit(leave_pinned(self, by, told[1], go[0]));
	}
	close(told[1]);
	/* the child has submitted everything, or has ended */
	if (read(told[0], &c, 1) == 1) {
		now = census_take();
		EXPECT_LT(self->before.pinned, now.pinned);
		EXPECT_GE(self->before.pinned + LOCKED / PAGE, now.pinned);
		EXPECT_EQ(1, write(go[1], "", 1));
	}
	EXPECT_EQ(0, ended(pid));
	close(keeper);
	close(told[0]);
	close(go[0]);
	close(go[1]);
}

TEST_F(sharing, pins_that_last_are_locked_memory)
{
	lock_by(_metadata, self, &by_linux);
}

TEST_F(sharing, pins_of_commands_are_locked_memory)
{
	lock_by(_metadata, self, &by_native);
}

/* Uses most of the user's limit by results that nobody fetches, and ends. */
static int leave_result(Self *self, int fd)
{
	static const struct rlimit room = { 8 << 20, 8 << 20 };
	uint8_t *at = small_pages(500 << 10);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct crypt_op cop = {
		.op = COP_ENCRYPT, .len = 500 << 10, .src = at, .dst = at,
		.iv = self->iv,
	};

	if (setrlimit(RLIMIT_MEMLOCK, &room))
		return 1;
	become(SOMEBODY);
	if (open_session(fd, CRYPTO_AES_CBC, 16, 0, 0, &cop.ses) ||
	    call(fd, CIOCASYNCCRYPT, &cop) ||
	    poll(&p, 1, TIMEOUT * 1000) != 1)
		return 2;
	return census_take().pinned > self->before.pinned ? 0 : 3;
}

/*
 * After a process has ended, its results do not count for others with the
 * descriptor.
 */
TEST_F(sharing, results_of_who_has_ended_are_nobodys)
{
	struct census now;
	int keeper;
	pid_t pid;

	ASSERT_EQ(0, set_cdev("max_bytes", "1048576"));
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	keeper = open_as(SOMEBODY);
	pid = fork();
	if (!pid)
		_exit(leave_result(self, keeper));
	EXPECT_EQ(0, ended(pid));
	now = census_take();
	EXPECT_EQ(self->before.pinned, now.pinned);
	pid = fork();
	if (!pid)
		_exit(use_bytes(self, keeper, 1) & 0xff);
	EXPECT_EQ(0, ended(pid));
	close(keeper);
}

/* Submits as many compressions of 4 KiB as it may.  Returns how many, or -1. */
static int compress_many(Self *self)
{
	struct ocf_session_open o = {
		.mode = OCF_MODE_COMPRESS, .cipher = "deflate",
	};
	struct ocf_command c = {
		.op = OCF_OP_ENCRYPT, .src = addr(self->text), .len = 4096,
		.dst = addr(self->out), .dst_len = 8192,
	};
	struct ocf_vector v = { .commands = addr(&c), .count = 1 };
	int fd, n = 0;

	become(SOMEBODY);
	fd = open_dev();
	if (native_open(fd, &o))
		return -1;
	c.session = o.session;
	while (n < 64 && ioctl(fd, OCF_SUBMIT, &v) == 1)
		n++;
	return errno == EDQUOT ? n : -1;
}

/* The memory that the CPU needs to compress is charged like the data. */
TEST_F(sharing, workspaces_are_charged)
{
	pid_t pid;
	int n;

	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, set_cdev("max_bytes", "1048576"));
	pid = fork();
	if (!pid)
		_exit(compress_many(self) & 0xff);
	n = WEXITSTATUS(ended(pid));
	EXPECT_LE(3, n);
	EXPECT_GE(5, n);
}

/* ---- control groups ---- */

#define GROUPS	"/tmp/ocf-groups"
#define GROUP	GROUPS "/one"

static bool make_group(void)
{
	mkdir(GROUPS, 0700);
	return !mount("none", GROUPS, "cgroup2", 0, NULL) &&
	       !put_line(GROUPS "/cgroup.subtree_control", "+memory") &&
	       !mkdir(GROUP, 0700);
}

static void remove_group(void)
{
	int i;

	/* a process leaves its control group some time after its end */
	for (i = 0; i < 100 && rmdir(GROUP) && errno != ENOENT; i++)
		usleep(50000);
	umount(GROUPS);
	rmdir(GROUPS);
}

/*
 * Joins the control group, opens @n sessions or as many as possible, and ends.
 */
static int use_group(int n, bool grows)
{
	long before, now;
	uint32_t ses;
	int i, fd;

	if (put_line(GROUP "/cgroup.procs", "0"))
		return 1;
	fd = open_dev();
	before = atol(get_line(GROUP "/memory.current"));
	for (i = 0; i < n; i++)
		if (open_session(fd, CRYPTO_AES_CBC, 16, 0, 0, &ses))
			break;
	now = atol(get_line(GROUP "/memory.current"));
	if (!grows)
		return i < n ? 0 : 2;
	/* a session has some hundred bytes at least, and keys */
	return i == n && now - before > n * 512l ? 0 : 3;
}

/* ---- memory of commands in flight ---- */

#define SIM	"/sys/bus/platform/drivers/ocf_sim/"
#define SLOW	"algs=real patience=60000"
#define HOLD	"/sys/class/ocf/sim0/device/hold"
#define HELD	(256u << 10)	/* bytes of a command, copied */
#define MANY	24		/* commands that fit in the card */

/*
 * Makes a command that decrypts with a wrong tag.  Its data are copied, because
 * they are verified before the caller sees them.
 */
static int aim(int fd, struct ocf_command *c, uint32_t flags)
{
	struct ocf_session_open o = {
		.mode = OCF_MODE_AEAD, .cipher = "aes-gcm",
		.key = addr(key_bytes), .keylen = 16, .flags = flags,
	};
	static uint8_t page[HELD];

	*c = (struct ocf_command){
		.op = OCF_OP_DECRYPT, .src = addr(page), .dst = addr(page),
		.tag = addr(key_bytes), .len = HELD,
	};
	memset(page, 1, sizeof(page));
	if (native_open(fd, &o))
		return -1;
	c->session = o.session;
	/* run it once, so that one-time allocations are not measured later */
	return native_run(fd, c) == -EBADMSG ? 0 : -1;
}

/* Submits @n commands.  Returns how many were accepted. */
static int leave_commands(int fd, const struct ocf_command *c, int n)
{
	struct ocf_vector v = { .commands = addr(c), .count = 1 };
	int i;

	for (i = 0; i < n && ioctl(fd, OCF_SUBMIT, &v) == 1; i++)
		;
	return i;
}

/* Submits @n entries.  Returns how many are in flight. */
static int leave_entries(int fd, const struct ocf_command *c, int n)
{
	static struct io_uring ring;
	struct io_uring_cqe *cqe;
	int i;

	if (!ring_init(&ring))
		return -1;
	for (i = 0; i < n; i++)
		ring_prepare(&ring, fd, OCF_URING_COMMAND, c, sizeof(*c));
	if (io_uring_submit(&ring) != n)
		return -1;
	return io_uring_peek_cqe(&ring, &cqe) ? n : 0;
}

/* Joins the control group, submits as many commands as possible, and ends. */
static int hold_group(bool entries, bool grows)
{
	int fd = open_dev(), left;
	struct ocf_command c;
	long before, now;

	if (put_line(GROUP "/cgroup.procs", "0") ||
	    aim(fd, &c, OCF_SESSION_HARDWARE) || put_line(HOLD, "1"))
		return 1;
	before = atol(get_line(GROUP "/memory.current"));
	left = (entries ? leave_entries : leave_commands)(fd, &c, MANY);
	now = atol(get_line(GROUP "/memory.current"));
	if (put_line(HOLD, "0"))
		return 4;
	if (!grows)
		return left < MANY ? 0 : 2;
	return left == MANY && now - before >= (long)(MANY * HELD) ? 0 : 3;
}

/*
 * Returns whether the task got an error or was killed, as it must be if the
 * memory is not allowed.
 */
static bool refused(int status)
{
	return !status || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/*
 * Memory for a member of a control group is charged to the group, and its limit
 * holds.
 */
TEST_F(sharing, memory_is_the_control_groups)
{
	pid_t pid;

	remove_group();
	ASSERT_TRUE(make_group());
	pid = fork();
	if (!pid)
		_exit(use_group(2000, true));
	EXPECT_EQ(0, ended(pid));
	ASSERT_EQ(0, put_line(GROUP "/memory.max", "12582912"));
	pid = fork();
	if (!pid)
		_exit(use_group(60000, false));
	EXPECT_TRUE(refused(ended(pid)));
	remove_group();
}

/*
 * A context takes 96 bytes, and 131 on the debug kernel, which is slow.  The
 * kernel charges 64 pages at a time, so the charge may grow by up to 256 KiB
 * even if contexts are not charged.  The contexts of SESSIONS sessions are more
 * than that.
 */
#define SESSIONS	8000
#define DEBUG_SESSIONS	6000
#define CHARGED		(384l << 10)

/*
 * Joins the control group.  Returns 0 if the memory of contexts that workers
 * make is charged to it.
 */
static int use_cards(void)
{
	struct ocf_session_open o = of_kind(0);
	static uint32_t ses[SESSIONS];
	struct ocf_command c = {
		.src = addr(key_bytes), .len = 64,
	};
	bool debug = *(getenv("OCF_DEBUG_KERNEL") ?: "");
	int n = debug ? DEBUG_SESSIONS : SESSIONS, i, fd;
	uint8_t out[64];
	long before;

	if (put_line(GROUP "/cgroup.procs", "0"))
		return 1;
	fd = open_dev();
	o.flags = OCF_SESSION_HARDWARE;
	for (i = 0; i < n; i++) {
		if (native_open(fd, &o))
			return 2;
		ses[i] = o.session;
	}
	if (put_line(SIM "add", "algs=real") ||
	    put_line("/sys/class/ocf/sim0/state", "drain"))
		return 3;
	before = atol(get_line(GROUP "/memory.current"));
	c.dst = addr(out);
	for (i = 0; i < n; i++) {
		c.session = ses[i];
		if (native_run(fd, &c) != 64)
			return 4;
	}
	before = atol(get_line(GROUP "/memory.current")) - before;
	fprintf(stderr, "# %ld KiB for %d contexts\n", before >> 10, n);
	return before > CHARGED ? 0 : 5;
}

/* Memory that a worker allocates for a member is charged to the group, too. */
TEST_F_TIMEOUT(sharing, contexts_are_the_control_groups, TIMEOUT)
{
	pid_t pid;

	ASSERT_EQ(0, put_line(SIM "add", "algs=real"));
	remove_group();
	ASSERT_TRUE(make_group());
	pid = fork();
	if (!pid)
		_exit(use_cards());
	EXPECT_EQ(0, ended(pid));
	remove_group();
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
	EXPECT_EQ(0, put_line(SIM "remove", "sim1"));
}

TEST_F(sharing, memory_of_commands_is_the_control_groups)
{
	int entries;
	pid_t pid;

	ASSERT_EQ(0, put_line(SIM "add", SLOW));
	for (entries = 0; entries < 2; entries++) {
		remove_group();
		ASSERT_TRUE(make_group());
		pid = fork();
		if (!pid)
			_exit(hold_group(entries, true));
		EXPECT_EQ(0, ended(pid));
		ASSERT_EQ(0, put_line(GROUP "/memory.max", "4194304"));
		pid = fork();
		if (!pid)
			_exit(hold_group(entries, false));
		EXPECT_TRUE(refused(ended(pid)));
		/* if the child was killed, the card still holds its requests */
		EXPECT_EQ(0, put_line(HOLD, "0"));
	}
	remove_group();
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
}

#define REKEYED		8	/* sessions */
#define REPLACED	3	/* generations of keys in a card */

/*
 * Replaces the keys of sessions, each time with a command in flight.  Returns
 * how often it succeeded, or a negative errno.
 */
static int replace_used_keys(int fd, const uint32_t *ses)
{
	struct ocf_session_rekey r = {
		.size = sizeof(r), .key = addr(key_bytes), .keylen = 16,
	};
	static uint8_t out[64];
	struct ocf_command c = {
		.src = addr(key_bytes), .dst = addr(out), .len = sizeof(out),
	};
	int i, err;

	for (i = 0; i < REKEYED * REPLACED; i++) {
		r.session = c.session = ses[i / REPLACED];
		if (leave_commands(fd, &c, 1) != 1)
			return -errno;
		err = call(fd, OCF_SESSION_REKEY, &r);
		if (err)
			return err == EDQUOT ? i : -err;
	}
	return i;
}

/* Fills the account, so that only @some of the smallest sessions still fit. */
static bool fill_but_for(int fd, int some)
{
	struct ocf_session_open o;
	uint32_t last[8] = {};
	int n, err;

	for (n = 0;; n++) {
		o = of_kind(SMALLEST);
		err = native_open(fd, &o);
		if (err)
			break;
		last[n % 8] = o.session;
	}
	while (some--)
		if (call(fd, OCF_SESSION_CLOSE, &last[some]))
			return false;
	return err == EDQUOT;
}

/*
 * Waits until keys can be replaced again: a worker frees old keys, and
 * uncharges them, after their last command.
 */
static bool has_room_again(int fd, uint32_t ses)
{
	struct ocf_session_rekey r = {
		.size = sizeof(r), .session = ses,
		.key = addr(key_bytes), .keylen = 16,
	};
	int ms, err = EDQUOT;

	for (ms = 0; err == EDQUOT && ms < SOON; ms++) {
		err = call(fd, OCF_SESSION_REKEY, &r);
		if (err)
			usleep(1000);
	}
	return !err;
}

static int use_up_by_keys(void)
{
	struct ocf_session_open o = of_kind(0);
	uint32_t ses[REKEYED];
	int fd, i, first, all;

	become(SOMEBODY);
	fd = open_dev();
	o.flags = OCF_SESSION_HARDWARE;
	for (i = 0; i < REKEYED; i++) {
		if (native_open(fd, &o))
			return 1;
		ses[i] = o.session;
	}
	if (!fill_but_for(fd, 4))
		return 2;
	first = replace_used_keys(fd, ses);
	fprintf(stderr, "# %d generations\n", first);
	if (first <= 0 || first == REKEYED * REPLACED)
		return 3;
	all = first + 1;
	/* meanwhile the parent lets the card go on */
	raise(SIGSTOP);
	while (all) {
		struct ocf_result r[REKEYED * REPLACED];
		struct ocf_reap reap = { .results = addr(r), .count = all };
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int n;

		if (poll(&p, 1, SOON) != 1)
			return 4;
		n = ioctl(fd, OCF_REAP, &reap);
		if (n <= 0)
			return 5;
		all -= n;
	}
	/* keys that the card does not use any more are uncharged */
	return has_room_again(fd, ses[0]) ? 0 : 6;
}

/* Keys that were replaced stay charged as long as requests use them. */
TEST_F_TIMEOUT(sharing, replaced_keys_stay_charged, TIMEOUT)
{
	char *usual = strdup(get_line(LIMIT));
	int status;
	pid_t pid;

	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, put_line(SIM "add", SLOW));
	ASSERT_EQ(0, put_line(LIMIT, "65536"));
	ASSERT_EQ(0, put_line(HOLD, "1"));
	pid = fork();
	if (!pid)
		_exit(use_up_by_keys());
	EXPECT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	EXPECT_EQ(0, put_line(HOLD, "0"));
	if (WIFSTOPPED(status)) {
		kill(pid, SIGCONT);
		status = ended(pid);
	}
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, put_line(LIMIT, usual));
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
	free(usual);
}

TEST_HARNESS_MAIN
