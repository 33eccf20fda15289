// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cryptodev-linux ABI: CIOCASYNCCRYPT, CIOCASYNCFETCH and poll().
 */
#include <kselftest_harness.h>
#include <linux/ocf.h>
#include <poll.h>
#include <sys/epoll.h>

#include "linux.h"

#define RING	64
#define BIG	(4u << 20)
#define SOON	60000	/* ms */

FIXTURE(async)
{
	int fd;
	uint32_t ses;
	uint8_t iv[16];
	uint8_t *text, *want, *out;	/* BIG bytes each */
};

FIXTURE_SETUP(async)
{
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16, 0, 0,
				  &self->ses));
	self->text = malloc(BIG);
	self->want = malloc(BIG);
	self->out = malloc(BIG);
	fill(self->text, BIG, 1);
	fill(self->iv, 16, 2);
	ASSERT_EQ(0, crypt_op(self->fd, self->ses, COP_ENCRYPT, 0, self->text,
			      self->want, BIG, self->iv, NULL));
	memset(self->out, 0, BIG);
}

FIXTURE_TEARDOWN(async)
{
	close(self->fd);
}

static int submit(struct _test_data_async *self, uint8_t *dst, uint32_t len,
		  int flags)
{
	struct crypt_op cop = {
		.ses = self->ses, .op = COP_ENCRYPT, .flags = flags,
		.len = len, .src = self->text, .dst = dst, .iv = self->iv,
	};

	return call(self->fd, CIOCASYNCCRYPT, &cop);
}

static int fetch(int fd, struct crypt_op *cop)
{
	memset(cop, 0xa5, sizeof(*cop));
	return call(fd, CIOCASYNCFETCH, cop);
}

static int ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };

	return poll(&p, 1, 0) < 0 ? -1 : p.revents;
}

/*
 * Waits until @fd is ready for all of @events, or until a time limit.  Returns
 * the events.
 */
static int ready_for(int fd, int events)
{
	int tries, now;

	for (tries = 0; (now = ready(fd)) != events && tries < SOON; tries++)
		usleep(1000);
	return now;
}

/* Waits for a result and fetches it. */
static int fetch_next(int fd, struct crypt_op *cop)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, SOON) != 1)
		return ETIME;
	return fetch(fd, cop);
}

TEST_F(async, nothing_is_done)
{
	struct crypt_op cop;

	EXPECT_EQ(EBUSY, fetch(self->fd, &cop));
	EXPECT_TRUE(all_are(&cop, 0xa5, sizeof(cop)));
	EXPECT_EQ(POLLOUT, ready(self->fd));
}

TEST_F(async, handed_in_and_fetched)
{
	static const uint32_t lens[] = { 16, 1024, 4096, 20000, 65536, BIG };
	struct crypt_op cop;
	int i, f;

	for (i = 0; i < COUNT(lens); i++)
		for (f = 0; f < 2; f++) {
			uint32_t len = lens[i] & ~15;

			memset(self->out, 0, len);
			ASSERT_EQ(0, submit(self, self->out, len,
					    f ? COP_FLAG_NO_ZC : 0));
			ASSERT_EQ(0, fetch_next(self->fd, &cop));
			ASSERT_EQ(0, memcmp(self->out, self->want, len))
				TH_LOG("%u", len);
			/* as it was submitted */
			EXPECT_EQ(self->ses, cop.ses);
			EXPECT_EQ(len, cop.len);
			EXPECT_EQ(self->out, cop.dst);
			EXPECT_EQ(self->text, cop.src);
			EXPECT_EQ(EBUSY, fetch(self->fd, &cop));
		}
}

/*
 * The call returns before a large operation, which runs on another CPU, is
 * done.  Now and then the other CPU is faster than this task returns.
 */
TEST_F(async, the_caller_goes_on)
{
	struct crypt_op cop;
	int tries, err = 0;

	for (tries = 0; tries < 200 && !err; tries++) {
		ASSERT_EQ(0, submit(self, self->out, BIG, 0));
		err = fetch(self->fd, &cop);
	}
	ASSERT_EQ(EBUSY, err);
	EXPECT_EQ(0, fetch_next(self->fd, &cop));
	EXPECT_EQ(0, memcmp(self->out, self->want, BIG));
}

TEST_F(async, the_ring_has_so_many_places)
{
	struct crypt_op cop;
	bool seen[RING] = {};
	int i;

	for (i = 0; i < RING; i++) {
		ASSERT_EQ(0, submit(self, self->out + i * 4096, 4096 - 16,
				    i % 2 ? COP_FLAG_NO_ZC : 0));
	}
	/*
	 * an operation takes a place in the ring until its result is fetched,
	 * done or not
	 */
	EXPECT_EQ(POLLIN, ready_for(self->fd, POLLIN));
	EXPECT_EQ(EBUSY, submit(self, self->out, 16, 0));
	ASSERT_EQ(0, fetch_next(self->fd, &cop));
	seen[(cop.dst - self->out) / 4096] = true;
	EXPECT_EQ(POLLIN | POLLOUT, ready_for(self->fd, POLLIN | POLLOUT));
	EXPECT_EQ(0, submit(self, self->out + BIG / 2, 16, 0));
	EXPECT_EQ(EBUSY, submit(self, self->out, 16, 0));
	for (i = 0; i < RING; i++) {
		ASSERT_EQ(0, fetch_next(self->fd, &cop));
		if (cop.dst == self->out + BIG / 2)
			continue;
		ASSERT_FALSE(seen[(cop.dst - self->out) / 4096]);
		seen[(cop.dst - self->out) / 4096] = true;
	}
	EXPECT_EQ(EBUSY, fetch(self->fd, &cop));
	for (i = 0; i < RING; i++) {
		EXPECT_TRUE(seen[i]);
		EXPECT_EQ(0, memcmp(self->out + i * 4096, self->want,
				    4096 - 16));
	}
}

TEST_F(async, poll_wakes_who_waits)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct crypt_op cop;

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	ASSERT_EQ(0, submit(self, self->out, BIG, 0));
	EXPECT_EQ(1, epoll_wait(ep, &ev, 1, SOON));
	EXPECT_EQ(0, fetch(self->fd, &cop));
	EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	close(ep);
}

TEST_F(async, what_is_wrong_is_said_at_once)
{
	struct crypt_op cop = { .ses = self->ses, .op = COP_ENCRYPT,
		.src = self->text, .dst = self->out, .iv = self->iv };

	cop.len = 17;
	EXPECT_EQ(EINVAL, call(self->fd, CIOCASYNCCRYPT, &cop));
	cop.len = (16u << 20) + 16;
	EXPECT_EQ(E2BIG, call(self->fd, CIOCASYNCCRYPT, &cop));
	cop.len = 16;
	cop.ses = 0;
	EXPECT_EQ(EINVAL, call(self->fd, CIOCASYNCCRYPT, &cop));
	cop.ses = self->ses;
	cop.src = (void *)-4096;
	EXPECT_EQ(EFAULT, call(self->fd, CIOCASYNCCRYPT, &cop));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCASYNCCRYPT, NULL));
	/* the refused ones have taken no place */
	EXPECT_EQ(POLLOUT, ready(self->fd));
	EXPECT_EQ(EBUSY, call(self->fd, CIOCASYNCFETCH, &cop));
}

TEST_F(async, a_result_that_cannot_be_delivered)
{
	uint8_t *gone = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct crypt_op cop;

	ASSERT_EQ(0, submit(self, gone, 1024, 0));
	munmap(gone, PAGE);
	EXPECT_EQ(EFAULT, fetch_next(self->fd, &cop));
	EXPECT_EQ(gone, cop.dst);
	/* the place of the first is free again */
	EXPECT_EQ(EBUSY, fetch(self->fd, &cop));
	EXPECT_EQ(POLLOUT, ready(self->fd));
	/* the structure cannot be written back */
	ASSERT_EQ(0, submit(self, self->out, 1024, 0));
	EXPECT_EQ(POLLIN | POLLOUT, ready_for(self->fd, POLLIN | POLLOUT));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCASYNCFETCH, (void *)-4096));
	EXPECT_EQ(POLLOUT, ready(self->fd));
}

/*
 * The program unmaps its buffers while an operation works in them.  The pages
 * stay until the end.
 */
TEST_F(async, memory_that_goes_while_it_is_worked_on)
{
	struct crypt_op cop;
	int i;

	for (i = 0; i < 20; i++) {
		uint8_t *gone = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		ASSERT_TRUE(gone != MAP_FAILED);
		ASSERT_EQ(0, submit(self, gone, BIG, 0));
		munmap(gone, BIG);
		ASSERT_EQ(0, fetch_next(self->fd, &cop));
	}
}

TEST_F(async, iv_and_mac_are_delivered_too)
{
	uint8_t mac[20] = "", want[20], iv[16];
	struct crypt_op cop = { .op = COP_ENCRYPT, .len = 48,
		.flags = COP_FLAG_WRITE_IV, .src = self->text,
		.dst = self->out, .iv = iv, .mac = mac };
	uint32_t alone;

	memcpy(iv, self->iv, 16);
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16,
				  CRYPTO_SHA1_HMAC, 20, &cop.ses));
	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA1_HMAC, 20,
				  &alone));
	ASSERT_EQ(0, crypt_op(self->fd, alone, COP_ENCRYPT, 0, self->text,
			      NULL, 48, NULL, want));
	ASSERT_EQ(0, call(self->fd, CIOCASYNCCRYPT, &cop));
	ASSERT_EQ(0, fetch_next(self->fd, &cop));
	EXPECT_EQ(0, memcmp(self->out, self->want, 48));
	EXPECT_EQ(0, memcmp(mac, want, 20));
	EXPECT_EQ(0, memcmp(iv, self->want + 32, 16));
}

/*
 * Many operations without an IV at the same time: each goes on with the counter
 * of the one submitted before it.
 */
TEST_F(async, without_an_iv_it_goes_on_from_before)
{
	static const struct {
		uint32_t cipher, keylen;
	} ciphers[] = {
		{ CRYPTO_AES_CBC, 16 }, { CRYPTO_AES_CTR, 32 },
		{ CRYPTO_OCF_CHACHA20, 32 },
	};
	enum { EACH = 960, MANY = 16 };
	struct crypt_op cop;
	uint32_t ses;
	int i, j;

	for (i = 0; i < COUNT(ciphers); i++) {
		ASSERT_EQ(0, open_session(self->fd, ciphers[i].cipher,
					  ciphers[i].keylen, 0, 0, &ses));
		ASSERT_EQ(0, crypt_op(self->fd, ses, COP_ENCRYPT, 0,
				      self->text, self->want, MANY * EACH,
				      self->iv, NULL));
		for (j = 0; j < MANY; j++) {
			cop = (struct crypt_op){
				.ses = ses, .op = COP_ENCRYPT, .len = EACH,
				.src = self->text + j * EACH,
				.dst = self->out + j * EACH,
				.iv = j ? NULL : self->iv,
			};
			ASSERT_EQ(0, call(self->fd, CIOCASYNCCRYPT, &cop));
		}
		for (j = 0; j < MANY; j++)
			ASSERT_EQ(0, fetch_next(self->fd, &cop));
		EXPECT_EQ(0, memcmp(self->out, self->want, MANY * EACH))
			TH_LOG("cipher %u", ciphers[i].cipher);
	}
}

/* An operation that is refused does not advance the counter. */
TEST_F(async, a_full_ring_uses_no_iv)
{
	struct crypt_op cop = { .op = COP_ENCRYPT, .len = 64,
				.src = self->text };
	int n = 0, err;

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CTR, 16, 0, 0,
				  &cop.ses));
	ASSERT_EQ(0, crypt_op(self->fd, cop.ses, COP_ENCRYPT, 0, self->text,
			      self->want, 64 * 1024, self->iv, NULL));
	for (cop.iv = self->iv;; cop.iv = NULL) {
		cop.src = self->text + 64 * n;
		cop.dst = self->out + 64 * n;
		err = call(self->fd, CIOCASYNCCRYPT, &cop);
		if (err)
			break;
		n++;
	}
	ASSERT_EQ(EBUSY, err);
	ASSERT_GT(1024, n);
	ASSERT_EQ(0, fetch_next(self->fd, &cop));
	cop.iv = NULL;
	cop.src = self->text + 64 * n;
	cop.dst = self->out + 64 * n;
	ASSERT_EQ(0, call(self->fd, CIOCASYNCCRYPT, &cop));
	for (err = 0; err < n; err++)
		ASSERT_EQ(0, fetch_next(self->fd, &cop));
	EXPECT_EQ(0, memcmp(self->out, self->want, 64 * (n + 1)));
}

/* The IV of a refused operation does not become the session's counter. */
TEST_F(async, a_full_ring_leaves_the_counter)
{
	struct crypt_op cop = { .op = COP_ENCRYPT, .len = 64,
				.src = self->text, .dst = self->out };
	uint8_t other[16];
	int n = 0;

	memset(other, 0x5c, sizeof(other));
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CTR, 16, 0, 0,
				  &cop.ses));
	ASSERT_EQ(0, crypt_op(self->fd, cop.ses, COP_ENCRYPT, 0, self->text,
			      self->want, 64 * 1024, self->iv, NULL));
	for (cop.iv = self->iv; !call(self->fd, CIOCASYNCCRYPT, &cop); n++)
		cop.iv = NULL;
	ASSERT_LT(0, n);
	ASSERT_GT(1023, n);
	cop.iv = other;
	ASSERT_EQ(EBUSY, call(self->fd, CIOCASYNCCRYPT, &cop));
	ASSERT_EQ(0, fetch_next(self->fd, &cop));
	cop.iv = NULL;
	cop.src = self->text + 64 * n;
	cop.dst = self->out + 64 * n;
	ASSERT_EQ(0, call(self->fd, CIOCASYNCCRYPT, &cop));
	for (; n; n--)
		ASSERT_EQ(0, fetch_next(self->fd, &cop));
	EXPECT_EQ(0, memcmp(cop.dst, self->want + (cop.dst - self->out), 64));
}

TEST_F(async, parts_of_a_digest_in_their_order)
{
	uint8_t whole[32], parts[32];
	struct crypt_op cop = { .op = COP_ENCRYPT };
	uint32_t sha;
	int i;

	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA2_256, 0, &sha));
	ASSERT_EQ(0, crypt_op(self->fd, sha, COP_ENCRYPT, 0, self->text, NULL,
			      33 * 999, NULL, whole));
	cop.ses = sha;
	cop.len = 999;
	for (i = 0; i < 33; i++) {
		cop.src = self->text + i * 999;
		cop.flags = i < 32 ? COP_FLAG_UPDATE : COP_FLAG_FINAL;
		cop.mac = i < 32 ? NULL : parts;
		ASSERT_EQ(0, call(self->fd, CIOCASYNCCRYPT, &cop));
	}
	for (i = 0; i < 33; i++) {
		struct crypt_op done;

		ASSERT_EQ(0, fetch_next(self->fd, &done));
		EXPECT_EQ(self->text + i * 999, done.src);
	}
	EXPECT_EQ(0, memcmp(whole, parts, 32));
}

/*
 * The data of an operation that is refused, because the ring is full, are not
 * in the digest.
 */
TEST_F(async, a_full_ring_takes_no_part)
{
	uint8_t whole[32], parts[32];
	struct crypt_op cop = { .op = COP_ENCRYPT, .flags = COP_FLAG_UPDATE,
		.len = 100, .mac = parts }, done;
	uint32_t sha;
	int i;

	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA2_256, 0, &sha));
	ASSERT_EQ(0, crypt_op(self->fd, sha, COP_ENCRYPT, 0, self->text, NULL,
			      (RING + 2) * 100, NULL, whole));
	cop.ses = sha;
	for (i = 0; i < RING; i++) {
		cop.src = self->text + i * 100;
		ASSERT_EQ(0, call(self->fd, CIOCASYNCCRYPT, &cop));
	}
	cop.src = self->text + RING * 100;
	for (i = 0; i < 3; i++)
		EXPECT_EQ(EBUSY, call(self->fd, CIOCASYNCCRYPT, &cop));
	for (i = 0; i < RING; i++)
		ASSERT_EQ(0, fetch_next(self->fd, &done));
	EXPECT_EQ(0, call(self->fd, CIOCASYNCCRYPT, &cop));
	cop.src += 100;
	cop.flags = COP_FLAG_FINAL;
	EXPECT_EQ(0, call(self->fd, CIOCASYNCCRYPT, &cop));
	EXPECT_EQ(0, fetch_next(self->fd, &done));
	EXPECT_EQ(0, fetch_next(self->fd, &done));
	EXPECT_EQ(0, memcmp(whole, parts, 32));
}

TEST_F(async, who_handed_in_fetches)
{
	struct crypt_op cop;
	int status;
	pid_t pid;

	ASSERT_EQ(0, submit(self, self->out, 1024, 0));
	EXPECT_EQ(POLLIN | POLLOUT, ready_for(self->fd, POLLIN | POLLOUT));
	pid = fork();
	if (!pid) {
		/* the result does not go to the child's memory */
		EXPECT_EQ(POLLOUT, ready(self->fd));
		EXPECT_EQ(EBUSY, fetch(self->fd, &cop));
		/* the child can fetch its own results */
		EXPECT_EQ(0, submit(self, self->out + 2048, 1024, 0));
		EXPECT_EQ(0, fetch_next(self->fd, &cop));
		EXPECT_EQ(self->out + 2048, cop.dst);
		EXPECT_EQ(0, memcmp(self->out + 2048, self->want, 1024));
		EXPECT_EQ(EBUSY, fetch(self->fd, &cop));
		_exit(_metadata->exit_code);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, fetch(self->fd, &cop));
	EXPECT_EQ(0, memcmp(self->out, self->want, 1024));
	EXPECT_TRUE(all_are(self->out + 2048, 0, 1024));
}

/* Like submit(), but waits until the ring has a free place. */
static int submit_soon(struct _test_data_async *self, uint8_t *dst,
		       uint32_t len)
{
	int tries, err;

	for (tries = 0; (err = submit(self, dst, len, 0)) == EBUSY &&
	     tries < SOON; tries++)
		usleep(1000);
	return err;
}

/*
 * A process shares the descriptor, fills the ring and exits.  Its places are
 * free when its operations are done.
 */
TEST_F(async, who_is_gone_leaves_its_places)
{
	struct crypt_op cop;
	int round, i, status;
	pid_t pid;

	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, submit(self, self->out, 1024, 0));
		pid = fork();
		if (!pid) {
			for (i = 1; i < RING; i++)
				if (submit_soon(self, self->out, 16))
					_exit(1);
			_exit(submit(self, self->out, 16, 0) != EBUSY);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		/* found by poll(), or by the next submission */
		if (round) {
			EXPECT_EQ(POLLIN | POLLOUT,
				  ready_for(self->fd, POLLIN | POLLOUT));
		} else {
			EXPECT_EQ(0, submit_soon(self, self->out, 1024));
		}
		for (i = 0; i < (round ? 1 : 2); i++)
			ASSERT_EQ(0, fetch_next(self->fd, &cop));
	}
}

/*
 * A task that waits for a place wakes when another process exits and frees one.
 */
TEST_F(async, who_is_gone_wakes_who_waits)
{
	struct pollfd p = { .fd = self->fd, .events = POLLOUT };
	int filled[2], status;
	pid_t greedy, waits;
	char c;

	ASSERT_EQ(0, pipe(filled));
	greedy = fork();
	if (!greedy) {
		while (!submit(self, self->out, 16, 0))
			;
		if (write(filled[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	ASSERT_EQ(1, read(filled[0], &c, 1));
	waits = fork();
	if (!waits)
		_exit(poll(&p, 1, SOON) != 1 || p.revents != POLLOUT);
	usleep(300000);
	kill(greedy, SIGKILL);
	ASSERT_EQ(greedy, waitpid(greedy, &status, 0));
	ASSERT_EQ(waits, waitpid(waits, &status, 0));
	EXPECT_EQ(0, status);
	close(filled[0]);
	close(filled[1]);
}

TEST_F(async, a_file_may_be_closed_with_operations_under_way)
{
	int i, j;

	for (i = 0; i < 20; i++) {
		int fd = self->fd;

		self->fd = open_dev();
		ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16, 0, 0,
					  &self->ses));
		for (j = 0; j < 10; j++)
			ASSERT_EQ(0, submit(self, self->out + j * 65536, 65536,
					    0));
		close(self->fd);
		self->fd = fd;
	}
	usleep(100000);
}

TEST_F(async, a_session_may_be_closed_with_operations_under_way)
{
	struct crypt_op cop;

	ASSERT_EQ(0, submit(self, self->out, BIG, 0));
	EXPECT_EQ(0, close_session(self->fd, self->ses));
	ASSERT_EQ(0, fetch_next(self->fd, &cop));
	EXPECT_EQ(0, memcmp(self->out, self->want, BIG));
}

TEST_F(async, a_process_may_go_with_operations_under_way)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 20; i++) {
		pid = fork();
		if (!pid) {
			int fd = open_dev();

			self->fd = fd;
			if (open_session(fd, CRYPTO_AES_CBC, 16, 0, 0,
					 &self->ses) ||
			    submit(self, self->out, BIG, 0) ||
			    submit(self, self->out, BIG, COP_FLAG_NO_ZC))
				_exit(1);
			if (i % 2)
				kill(getpid(), SIGKILL);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(i % 2 ? SIGKILL : 0, status);
	}
}

#ifdef __x86_64__

/* The structure of a 32-bit program */
struct crypt_op_32 {
	uint32_t	ses;
	uint16_t	op, flags;
	uint32_t	len, src, dst, mac, iv;
};

/* Calls ioctl() as a 32-bit program does.  Returns an errno or 0. */
static int call_32(int fd, uint32_t cmd, const void *arg)
{
	long res;

	asm volatile("int $0x80" : "=a"(res) :
		     "a"(54), "b"((long)fd), "c"((long)cmd), "d"(arg) :
		     "memory", "r8", "r9", "r10", "r11");
	return res < 0 ? -res : 0;
}

/*
 * An operation is submitted by a 32-bit call and fetched by a 64-bit one.  The
 * padding between the fields of the fetched structure must not contain data of
 * other operations.
 */
TEST_F(async, nothing_between_the_fields)
{
	uint8_t *low = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	struct crypt_op cop;
	const size_t from = offsetof(struct crypt_op, len) + sizeof(cop.len);
	const size_t to = offsetof(struct crypt_op, src);
	struct crypt_op_32 *c = (void *)(low + 3 * PAGE);
	struct ocf_command others[4];
	struct ocf_result r[4];
	struct ocf_vector v = {
		.commands = (uintptr_t)others, .results = (uintptr_t)r,
		.count = 4,
	};

	ASSERT_TRUE(low != MAP_FAILED);
	/* operations that the kernel keeps for reuse contain these bytes */
	memset(others, 0x5a, sizeof(others));
	ASSERT_EQ(0, call(self->fd, OCF_RUN, &v));
	*c = (struct crypt_op_32){
		.ses = self->ses, .op = COP_ENCRYPT, .len = 64,
		.src = (uintptr_t)low, .dst = (uintptr_t)low + PAGE,
		.iv = (uintptr_t)low + 2 * PAGE,
	};
	ASSERT_EQ(0, call_32(self->fd, _IOW('c', 110, struct crypt_op_32), c));
	ASSERT_EQ(0, fetch_next(self->fd, &cop));
	EXPECT_EQ(64, cop.len);
	EXPECT_TRUE(all_are((uint8_t *)&cop + from, 0, to - from));
}

#endif

TEST_HARNESS_MAIN
