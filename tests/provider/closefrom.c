// SPDX-License-Identifier: BSD-2-Clause
/*
 * Daemons close every descriptor that they do not know, also those of the
 * provider, and then open files that get the same numbers.  The provider must
 * leave these files alone, and must still work.
 *
 * With OCF_LEAST=0 in the environment the kernel does operations of every size.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <openssl/async.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEN	65536
#define FILES	24
#define IDLE	100	/* ms of processor time that it may take, idle */
#define LONG	120	/* s, longer than anything takes */

static unsigned char in[LEN], want[LEN], got[LEN];
static EVP_CIPHER *cipher;
static const char *doing;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "closefrom: %s\n", what);
	_exit(1);
}

static void hangs(int signal)
{
	(void)signal;
	check(0, doing);
}

static void begin(const char *what)
{
	doing = what;
	alarm(LONG);
}

static int encrypt(EVP_CIPHER *with, unsigned char *out)
{
	static const unsigned char key[16], iv[16];
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int n, ok;

	ok = EVP_EncryptInit_ex2(ctx, with, key, iv, NULL) &&
	     EVP_CIPHER_CTX_set_padding(ctx, 0) &&
	     EVP_EncryptUpdate(ctx, out, &n, in, LEN) && n == LEN;
	EVP_CIPHER_CTX_free(ctx);
	return ok;
}

static int encrypt_in_job(void *unused)
{
	(void)unused;
	return encrypt(cipher, got);
}

static void works(int jobs)
{
	ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
	ASYNC_JOB *job = NULL;
	int res = 0, r;

	begin("encrypting hangs");
	memset(got, 0, LEN);
	check(encrypt(cipher, got) && !memcmp(want, got, LEN),
	      "another result");
	memset(got, 0, LEN);
	while (jobs && (r = ASYNC_start_job(&job, wait, &res, encrypt_in_job,
					    NULL, 0)) == ASYNC_PAUSE)
		usleep(1000);
	check(!jobs || (r == ASYNC_FINISH && res == 1 &&
			!memcmp(want, got, LEN)), "another result of a job");
	ASYNC_WAIT_CTX_free(wait);
}

static const char *name_of(int i)
{
	static char name[64];

	snprintf(name, sizeof(name), "/tmp/ocf-closefrom-%d", i);
	return name;
}

/* Opens what a daemon opens next: @path, or other files. */
static void open_others(const char *path, int fd[FILES])
{
	int i;

	for (i = 0; i < FILES; i++) {
		fd[i] = open(path ? path : name_of(i), O_RDWR | O_CREAT, 0600);
		check(fd[i] >= 0 && (path || write(fd[i], "mine", 4) == 4),
		      "no file");
	}
}

static void are_left_alone(const char *path, const int fd[FILES])
{
	struct stat st;
	int i;

	for (i = 0; i < FILES; i++) {
		check(!fstat(fd[i], &st), "it closed a file of the program's");
		check(path || st.st_size == 4,
		      "it wrote to a file of the program's");
		unlink(name_of(i));
	}
}

static long processor_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Forks twice, as a daemon does to leave its terminal for good. */
static void fork_twice(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (fork())
			_exit(0);
		setsid();
	}
	signal(SIGALRM, hangs);
}

static void daemon_with(int jobs, int forks, const char *path)
{
	OSSL_PROVIDER *ocf = OSSL_PROVIDER_load(NULL, "ocf");
	OSSL_PROVIDER *own = OSSL_PROVIDER_load(NULL, "default");
	EVP_CIPHER *its = EVP_CIPHER_fetch(NULL, "AES-128-CBC",
					   "provider=default");
	int fd[FILES];
	long begun;

	signal(SIGALRM, hangs);
	cipher = EVP_CIPHER_fetch(NULL, "AES-128-CBC", "provider=ocf");
	check(ocf && own && its && cipher && encrypt(its, want),
	      "no provider");
	works(jobs);
	if (forks)
		fork_twice();
	close_range(3, ~0u, 0);
	open_others(path, fd);
	begun = processor_ms();
	sleep(1);
	check(processor_ms() - begun < IDLE, "a thread of its never rests");
	works(jobs);
	are_left_alone(path, fd);
	begin("unloading hangs");
	EVP_CIPHER_free(cipher);
	EVP_CIPHER_free(its);
	OSSL_PROVIDER_unload(ocf);
	OSSL_PROVIDER_unload(own);
	begin("the end hangs");
	OPENSSL_cleanup();
	are_left_alone(path, fd);
}

int main(void)
{
	static const char * const paths[] = {
		NULL, "/dev/crypto", "/dev/null",
	};
	int i, status, wrong, bad = 0;

	/* the daemon's parent ends first */
	check(!prctl(PR_SET_CHILD_SUBREAPER, 1), "no children of children");
	for (i = 0; i < 12; i++) {
		const char *path = paths[i / 4];
		int jobs = i & 1, forks = i & 2;

		fflush(NULL);
		if (!fork()) {
			daemon_with(jobs, forks, path);
			_exit(0);
		}
		for (wrong = 0; wait(&status) > 0;)
			wrong |= status;
		bad |= wrong;
		printf("%sok closed, then %s%s%s\n", wrong ? "not " : "",
		       path ? path : "files", jobs ? ", with jobs" : "",
		       forks ? ", in a child's child" : "");
	}
	return !!bad;
}
