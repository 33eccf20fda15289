// SPDX-License-Identifier: BSD-2-Clause
/*
 * Modules are unloaded and loaded again.  This runs last, because it does not
 * restore parameters of modules.
 */
#include <kselftest_harness.h>
#include <pthread.h>
#include <sys/wait.h>

#include "census.h"
#include "linux.h"
#include "modules.h"
#include "random.h"

__thread uint64_t chance_state;

#define LEN	(1u << 20)
#define TIMEOUT	1800	/* s: the debug kernel is slow */

FIXTURE(unload)
{
	struct modules modules;
	uint8_t *in, *out, *want, iv[16];
};

/* Opens a session of AES.  Returns its descriptor, or -1. */
static int begin(uint32_t *ses)
{
	int fd = open_dev();

	if (fd >= 0 && open_session(fd, CRYPTO_AES_CBC, 16, 0, 0, ses)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int encrypt(const struct _test_data_unload *self, int fd, uint32_t ses,
		   uint32_t len)
{
	return crypt_op(fd, ses, COP_ENCRYPT, 0, self->in, self->out, len,
			self->iv, NULL);
}

/* Writes the name of the module that is loaded as the @i-th. */
static char *name_of(const struct _test_data_unload *self, int i, char *name)
{
	snprintf(name, 64, "%s", base_of(self->modules.path[i]));
	name[strcspn(name, ".")] = 0;
	return name;
}

FIXTURE_SETUP(unload)
{
	uint32_t ses;
	int fd;

	chance_from(seed_given());
	ASSERT_TRUE(modules_find(&self->modules));
	self->in = malloc(LEN);
	self->out = malloc(LEN);
	self->want = malloc(LEN);
	fill(self->in, LEN, 1);
	fill(self->iv, 16, 2);
	fd = begin(&ses);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, encrypt(self, fd, ses, LEN));
	memcpy(self->want, self->out, LEN);
	close(fd);
}

/*
 * Waits for the threads in which the kernel tests what ocf_alg registers.  They
 * use OCF, and would complain if no device was left.
 */
static void wait_for_tests_of_alg(void)
{
	const char *users = "/sys/module/ocf_alg/refcnt";

	while (atoi(get_line(users)))
		usleep(1000);
}

/* Loads all modules, with those that machines do not load by themselves. */
static void load_all(const struct _test_data_unload *self)
{
	char name[64];
	int i;

	for (i = 0; i < self->modules.n; i++)
		module_load(&self->modules, name_of(self, i, name), "");
	wait_for_tests_of_alg();
}

FIXTURE_TEARDOWN(unload)
{
	load_all(self);		/* the next test needs all modules */
}

TEST_F(unload, not_while_a_file_is_open)
{
	uint32_t ses;
	int fd = begin(&ses), copy = dup(fd);

	EXPECT_EQ(EAGAIN, module_unload("ocf_cdev"));
	/* other modules use the core */
	EXPECT_EQ(EAGAIN, module_unload("ocf"));
	close(fd);
	EXPECT_EQ(EAGAIN, module_unload("ocf_cdev"));
	EXPECT_EQ(0, encrypt(self, copy, ses, 4096));
	close(copy);
	EXPECT_EQ(0, module_unload("ocf_cdev"));
	EXPECT_EQ(-1, open_dev());
	EXPECT_EQ(0, module_load(&self->modules, "ocf_cdev", ""));
	fd = begin(&ses);
	EXPECT_EQ(0, encrypt(self, fd, ses, 4096));
	close(fd);
}

/*
 * All devices are removed, and sessions stay.  Without a device operations
 * fail.
 */
TEST_F_TIMEOUT(unload, a_driver_goes_under_a_session, TIMEOUT)
{
	uint32_t ses;
	int fd = begin(&ses), i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, module_unload("ocf_soft"));
		EXPECT_EQ(ENODEV, encrypt(self, fd, ses, 4096));
		ASSERT_EQ(0, module_load(&self->modules, "ocf_soft", ""));
		memset(self->out, 0, LEN);
		EXPECT_EQ(0, encrypt(self, fd, ses, LEN));
		EXPECT_EQ(0, memcmp(self->out, self->want, LEN));
	}
	close(fd);
}

struct user {
	const struct _test_data_unload *test;
	volatile bool	stop;
	volatile int	wrong, done;
	int		fd, gone;
	uint32_t	ses;
};

static void *use(void *arg)
{
	struct user *u = arg;
	uint8_t *out = malloc(LEN);
	uint32_t len;
	int err;

	chance_from(1);
	while (!u->stop && !u->wrong) {
		len = 16 * (1 + log_uniform(LEN / 16 - 1));
		err = crypt_op(u->fd, u->ses, COP_ENCRYPT, 0, u->test->in, out,
			       len, u->test->iv, NULL);
		if (err == ENODEV)
			u->gone++;
		else if (err || memcmp(out, u->test->want, len))
			u->wrong = err ?: -1;
		else
			u->done++;
	}
	free(out);
	return NULL;
}

TEST_F_TIMEOUT(unload, a_driver_goes_in_the_middle_of_work, TIMEOUT)
{
	struct user u[3];
	pthread_t t[3];
	int i, n = rounds_given(10);

	for (i = 0; i < 3; i++) {
		u[i] = (struct user){ .test = self };
		u[i].fd = begin(&u[i].ses);
		ASSERT_EQ(0, pthread_create(&t[i], NULL, use, &u[i]));
	}
	for (i = 0; i < n; i++) {
		usleep(below(100000));
		ASSERT_EQ(0, module_unload("ocf_soft"));
		usleep(below(5000));
		ASSERT_EQ(0, module_load(&self->modules, "ocf_soft", ""));
	}
	for (i = 0; i < 3; i++) {
		/* with the driver back, operations succeed in the end */
		while (!u[i].done && !u[i].wrong)
			usleep(1000);
		u[i].stop = true;
		pthread_join(t[i], NULL);
		EXPECT_EQ(0, u[i].wrong);
		close(u[i].fd);
	}
}

/*
 * The file is closed with operations in flight, and the module is unloaded at
 * once.
 */
TEST_F_TIMEOUT(unload, the_node_goes_with_operations_under_way, TIMEOUT)
{
	struct crypt_op cop = { .op = COP_ENCRYPT, .src = self->in,
				.dst = self->out, .iv = self->iv };
	int i, j, fd, err, n = rounds_given(20);

	for (i = 0; i < n; i++) {
		fd = begin(&cop.ses);
		ASSERT_LE(0, fd);
		cop.flags = i % 2 ? COP_FLAG_NO_ZC : 0;
		for (j = 0; j < 8; j++) {
			cop.len = LEN >> j;
			ASSERT_EQ(0, call(fd, CIOCASYNCCRYPT, &cop));
		}
		close(fd);
		usleep(i % 4 ? below(3000) : 0);
		err = module_unload("ocf_cdev");
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, module_load(&self->modules, "ocf_cdev", ""));
	}
}

/*
 * While others open the device all the time, unloading succeeds in between, or
 * fails with an errno.
 */
static void open_and_close(const struct _test_data_unload *self)
{
	uint32_t ses;
	int fd;

	for (;;) {
		fd = begin(&ses);
		if (fd >= 0 && encrypt(self, fd, ses, 4096))
			_exit(1);
		close(fd);
	}
}

TEST_F_TIMEOUT(unload, the_node_goes_between_two_that_open_it, TIMEOUT)
{
	int i, err, went = 0, n = rounds_given(100), status;
	pid_t pid[2];

	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i])
			open_and_close(self);
	}
	for (i = 0; i < n; i++) {
		err = module_unload("ocf_cdev");
		EXPECT_TRUE(!err || err == EAGAIN) TH_LOG("%d", err);
		if (err)
			continue;
		went++;
		ASSERT_EQ(0, module_load(&self->modules, "ocf_cdev", ""));
	}
	for (i = 0; i < 2; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], &status, 0);
		EXPECT_EQ(SIGKILL, status);
	}
	printf("# it went %d times of %d\n", went, n);
}

TEST_F_TIMEOUT(unload, all_of_them, TIMEOUT)
{
	char name[64];
	uint32_t ses;
	int i, j, fd;

	load_all(self);
	for (i = 0; i < 3; i++) {
		for (j = self->modules.n - 1; j >= 0; j--)
			EXPECT_EQ(0, module_unload(name_of(self, j, name)));
		for (j = 0; j < self->modules.n; j++)
			EXPECT_EQ(0, module_load(&self->modules,
						 name_of(self, j, name), ""));
		wait_for_tests_of_alg();
		fd = begin(&ses);
		ASSERT_LE(0, fd);
		EXPECT_EQ(0, encrypt(self, fd, ses, LEN));
		EXPECT_EQ(0, memcmp(self->out, self->want, LEN));
		close(fd);
	}
}

TEST_HARNESS_MAIN
