// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every call of a socket with keys, with every allocation and copy in it
 * failing in turn: a clean errno each time, nothing lost, nothing leaked.
 *
 *	tests/socrypt/fail		make t T=socrypt_fail
 */
#include <linux/so_crypt.h>
#include <sys/sendfile.h>

#include "../lib/tcp.h"
#include "../selftests/fail.h"

#include "kselftest_harness.h"

#define LEN	40000		/* bytes: three records */

static struct scene {
	int		fd[2];		/* [1] sends, [0] receives */
	int		file;
	struct so_crypt	crypt;
	uint8_t		src[LEN], dst[LEN];
	size_t		sent, got;
} scene;

static int result(long n)
{
	return n < 0 ? errno : 0;
}

static int set_ulp(int fd)
{
	return result(setsockopt(fd, SOL_TCP, TCP_ULP, "ocf", 3));
}

static int set_keys(int fd, int which)
{
	return result(setsockopt(fd, SOL_OCF, which, &scene.crypt,
				 sizeof(scene.crypt)));
}

static void begin(bool ulp, bool keys)
{
	/* what does not come by then is lost */
	struct timeval soon = { .tv_sec = 20 };
	int i;

	tcp_pair(scene.fd);
	setsockopt(scene.fd[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	for (i = 0; i < 2; i++)
		if ((ulp && set_ulp(scene.fd[i])) ||
		    (keys && set_keys(scene.fd[i], i ? SO_CRYPT_TX :
						       SO_CRYPT_RX)))
			abort();
	scene.sent = scene.got = 0;
}

static void end(void)
{
	close(scene.fd[0]);
	close(scene.fd[1]);
}

/* ---- setting up ---- */

static int ulp(void *arg)
{
	return set_ulp(scene.fd[1]);
}

static int tx(void *arg)
{
	return set_keys(scene.fd[1], SO_CRYPT_TX);
}

static int rx(void *arg)
{
	return set_keys(scene.fd[1], SO_CRYPT_RX);
}

static int tell(void *arg)
{
	struct so_crypt_info info;
	socklen_t len = sizeof(info);

	return result(getsockopt(scene.fd[1], SOL_OCF, SO_CRYPT_TX, &info,
				 &len));
}

static bool always(void *arg)
{
	return true;
}

static void again_without(void *arg)
{
	end();
	begin(false, false);
}

static void again_with_ulp(void *arg)
{
	end();
	begin(true, false);
}

/* ---- sending ---- */

static int sent(long n)
{
	scene.sent = n < 0 ? 0 : n;
	return result(n);
}

static int send_it(void *arg)
{
	return sent(send(scene.fd[1], scene.src, LEN, 0));
}

static int send_file(void *arg)
{
	off_t at = 0;

	return sent(sendfile(scene.fd[1], scene.file, &at, LEN));
}

static int pending_error(int fd)
{
	socklen_t len = sizeof(int);
	int error = -1;

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	return error;
}

/*
 * Opens a new connection.  Return: whether the old one delivered only part of
 * the data, and nothing wrong.
 */
static bool given_up(void)
{
	ssize_t n;

	close(scene.fd[1]);
	n = recv(scene.fd[0], scene.dst, LEN, MSG_WAITALL);
	close(scene.fd[0]);
	begin(true, true);
	return n < LEN && (n <= 0 || !memcmp(scene.src, scene.dst, n));
}

/*
 * Exactly the data that send() reported as sent has arrived; or the connection
 * has ended, because a record could not be encrypted.
 */
static bool arrived(void *arg)
{
	size_t n = scene.sent;

	switch (pending_error(scene.fd[1])) {
	case 0:
		return recv(scene.fd[0], scene.dst, n, MSG_WAITALL) ==
		       (ssize_t)n && !memcmp(scene.src, scene.dst, n) &&
		       recv(scene.fd[0], scene.dst, 1, MSG_DONTWAIT) < 0 &&
		       errno == EAGAIN;
	case ENOMEM:
		return given_up();
	default:
		return false;
	}
}

/* ---- receiving ---- */

static int receive(void *arg)
{
	ssize_t n = recv(scene.fd[0], scene.dst + scene.got, LEN - scene.got,
			 0);

	if (n > 0)
		scene.got += n;
	return result(n);
}

/*
 * Receives the rest without a fault and compares everything; then sends all
 * data again for the next call.
 */
static bool complete(void *arg)
{
	size_t left = LEN - scene.got;
	bool right;

	if (left && recv(scene.fd[0], scene.dst + scene.got, left,
			 MSG_WAITALL) != (ssize_t)left)
		return false;
	right = !memcmp(scene.src, scene.dst, LEN);
	memset(scene.dst, 0, LEN);
	scene.got = 0;
	return right && send(scene.fd[1], scene.src, LEN, 0) == LEN;
}

/* ---- TCP gets no memory ---- */

#define TRIES	"1000000"	/* more than there can be */
#define DYING	8		/* sockets of one process */

/* From now on TCP gets no buffer, until it is said to get some. */
static int starve(void)
{
	return put_line("/sys/kernel/slab/skbuff_fclone_cache/failslab", "1") ?:
	       put_line(FAIL_DIR "failslab/cache-filter", "Y") ?:
	       put_line(FAIL_DIR "failslab/times", TRIES) ?:
	       put_line(FAIL_DIR "failslab/probability", "100");
}

static int feed(void)
{
	return put_line(FAIL_DIR "failslab/probability", "0") ?:
	       put_line(FAIL_DIR "failslab/times", "-1") ?:
	       put_line(FAIL_DIR "failslab/cache-filter", "N") ?:
	       put_line("/sys/kernel/slab/skbuff_fclone_cache/failslab", "0");
}

/* How often TCP was refused a buffer */
static int refusals(void)
{
	return atoi(TRIES) - atoi(get_line(FAIL_DIR "failslab/times"));
}

/*
 * Returns how many bytes the socket accepted although TCP has no memory for
 * them
 */
static ssize_t send_in_vain(int fd)
{
	return send(fd, scene.src, LEN, MSG_DONTWAIT);
}

/* Makes connections that TCP gets no memory for, and waits to be killed. */
static void die_with_many(int ready)
{
	int i, fds[DYING];

	for (i = 0; i < DYING; i++) {
		begin(true, true);
		fds[i] = scene.fd[1];
	}
	if (starve())
		_exit(1);
	for (i = 0; i < DYING; i++)
		if (send_in_vain(fds[i]) <= 0)
			_exit(1);
	close(ready);
	pause();
}

/* ---- all of it ---- */

FIXTURE(failing) { };

FIXTURE_SETUP(failing)
{
	scene.crypt = (struct so_crypt){
		.size = sizeof(scene.crypt), .protocol = SO_CRYPT_TLS_1_2,
		.cipher = "aes-cbc", .mac = "hmac-sha1", .keylen = 16,
		.mackeylen = 20,
	};
	ASSERT_EQ(0, fail_setup());
	fill(scene.src, LEN, 1);
	scene.file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	ASSERT_EQ(LEN, write(scene.file, scene.src, LEN));
}

FIXTURE_TEARDOWN(failing)
{
	close(scene.file);
}

TEST_F(failing, setting_up)
{
	static const struct fail_case make = { ulp, always, again_without };
	static const struct fail_case send = { tx, always, again_with_ulp };
	static const struct fail_case receive = { rx, always, again_with_ulp };
	static const struct fail_case ask = { tell, always, NULL };

	begin(false, false);
	EXPECT_LE(1, fail_sweep(&make, NULL));
	again_with_ulp(NULL);
	EXPECT_LT(3, fail_sweep(&send, NULL));
	EXPECT_LT(3, fail_sweep(&receive, NULL));
	end();
	begin(true, true);
	EXPECT_LE(1, fail_sweep(&ask, NULL));
	end();
}

TEST_F(failing, sending)
{
	static const struct fail_case cases[] = {
		{ send_it, arrived, NULL }, { send_file, arrived, NULL },
	};
	int i, stable;

	for (stable = 0; stable < 2; stable++)
		for (i = 0; i < COUNT(cases); i++) {
			scene.crypt.flags = stable ? SO_CRYPT_STABLE : 0;
			begin(true, true);
			EXPECT_LT(1, fail_sweep(&cases[i], NULL)) {
				TH_LOG("%d %d", i, stable);
			}
			end();
		}
}

TEST_F(failing, receiving)
{
	static const struct fail_case take = { receive, complete, NULL };

	begin(true, true);
	ASSERT_EQ(LEN, send(scene.fd[1], scene.src, LEN, 0));
	EXPECT_LE(1, fail_sweep(&take, NULL));
	end();
}

/* TCP is asked again every few milliseconds, and not more often. */
TEST_F(failing, asking_tcp_again)
{
	double since;
	ssize_t n;
	int r;

	begin(true, true);
	ASSERT_EQ(0, starve());
	n = send_in_vain(scene.fd[1]);
	since = now();
	while ((r = refusals()) < 100 && now() - since < 60)
		usleep(1000);
	since = now() - since;
	ASSERT_EQ(0, feed());
	ASSERT_LT(0, n);
	EXPECT_LE(100, r);
	EXPECT_LT(r * 0.001, since);
	EXPECT_EQ(n, recv(scene.fd[0], scene.dst, n, MSG_WAITALL));
	EXPECT_EQ(0, memcmp(scene.src, scene.dst, n));
	end();
}

/*
 * The end of a socket waits for TCP's memory for a while.  Afterwards data is
 * missing, and the peer sees that.  A process that is killed does not wait.
 */
TEST_F_TIMEOUT(failing, the_end_without_memory, 300)
{
	double alone, killed;
	int pipes[2], status;
	pid_t child;
	char c;

	begin(true, true);
	ASSERT_EQ(0, starve());
	ASSERT_LT(0, send_in_vain(scene.fd[1]));
	alone = now();
	EXPECT_EQ(-1, shutdown(scene.fd[1], SHUT_WR));
	EXPECT_EQ(ENOMEM, errno);
	alone = now() - alone;
	EXPECT_LT(1, alone);
	EXPECT_EQ(-1, recv(scene.fd[0], &c, 1, MSG_DONTWAIT));
	EXPECT_EQ(EAGAIN, errno);
	close(scene.fd[1]);
	ASSERT_EQ(0, feed());
	EXPECT_EQ(-1, recv(scene.fd[0], &c, 1, 0));
	EXPECT_EQ(ECONNRESET, errno);
	close(scene.fd[0]);

	ASSERT_EQ(0, pipe(pipes));
	child = fork();
	if (!child)
		die_with_many(pipes[1]);
	close(pipes[1]);
	ASSERT_EQ(0, read(pipes[0], &c, 1));
	kill(child, SIGKILL);
	killed = now();
	ASSERT_EQ(child, waitpid(child, &status, 0));
	killed = now() - killed;
	ASSERT_EQ(0, feed());
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_LT(killed, alone);
}

TEST_F_TIMEOUT(failing, nothing_leaks, 1800)
{
	EXPECT_EQ(0, fail_leaks());
}

int main(int argc, char **argv)
{
	return fail_main(argc, argv, test_harness_run);
}
