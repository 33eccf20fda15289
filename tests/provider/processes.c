// SPDX-License-Identifier: BSD-2-Clause
/*
 * Contexts over fork() and over threads: a child goes on with what its parent
 * has begun, under keys of its own, and disturbs nothing of the parent's.
 *
 *	processes		where the kernel does all operations
 *	processes own		where it does none
 *	processes slow		jobs only, with a card that takes a second
 */
#include <fcntl.h>
#include <openssl/async.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEN	16384
#define THREADS	8
#define JOBS	8

static unsigned char in[LEN], want[2][LEN], given_up[LEN];
static const unsigned char keys[2][16] = {
	"the parent's...", "the child's....",
};
static OSSL_PROVIDER *loaded;
static EVP_CIPHER *mine;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "processes: %s\n", what);
	exit(1);
}

static int is_right(EVP_CIPHER_CTX *ctx, int which, const unsigned char *key)
{
	unsigned char out[LEN];
	int n;

	return EVP_EncryptInit_ex2(ctx, key ? mine : NULL, key, keys[0],
				   NULL) &&
	       EVP_CIPHER_CTX_set_padding(ctx, 0) &&
	       EVP_EncryptUpdate(ctx, out, &n, in, LEN) && n == LEN &&
	       !memcmp(out, want[which], LEN);
}

/* Returns how many descriptors of /dev/crypto this process has. */
static int devices(void)
{
	char path[32], file[32];
	int i, n = 0;
	ssize_t len;

	for (i = 0; i < 1024; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
		len = readlink(path, file, sizeof(file) - 1);
		if (len < 0)
			continue;
		file[len] = '\0';
		n += !strcmp(file, "/dev/crypto");
	}
	return n;
}

/* Like sshd: forks many children, which use the inherited context. */
static void children(EVP_CIPHER_CTX *ctx, int depth)
{
	int i, status, now = depth % 2, others = !now;
	pid_t pid;

	for (i = 0; i < 5; i++) {
		pid = fork();
		if (!pid) {
			check(is_right(ctx, now, NULL), "what was inherited");
			check(is_right(ctx, others, keys[others]),
			      "another key");
			check(devices() <= 1, "more than one descriptor");
			if (depth)
				children(ctx, depth - 1);
			EVP_CIPHER_CTX_free(ctx);
			_exit(0);
		}
		check(is_right(ctx, now, NULL), "the parent");
		check(waitpid(pid, &status, 0) == pid && !status, "a child");
		check(is_right(ctx, now, NULL), "the parent afterwards");
	}
}

/* A message is begun before the fork, and ended after it. */
static void halves(void)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	EVP_MD *sha = EVP_MD_fetch(NULL, "SHA256", "provider=ocf");
	unsigned char out[LEN], a[32], b[32];
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	int n, status;
	pid_t pid;

	check(EVP_EncryptInit_ex2(ctx, mine, keys[0], keys[0], NULL) &&
	      EVP_CIPHER_CTX_set_padding(ctx, 0) &&
	      EVP_EncryptUpdate(ctx, out, &n, in, LEN / 2), "the first half");
	check(EVP_DigestInit_ex2(md, sha, NULL) &&
	      EVP_DigestUpdate(md, in, LEN / 2), "of a digest");
	pid = fork();
	check(EVP_EncryptUpdate(ctx, out + LEN / 2, &n, in + LEN / 2, LEN / 2),
	      "the second half");
	check(!memcmp(out, want[0], LEN), "both halves");
	check(EVP_DigestUpdate(md, in + LEN / 2, LEN / 2) &&
	      EVP_DigestFinal_ex(md, a, NULL) &&
	      EVP_Digest(in, LEN, b, NULL, EVP_sha256(), NULL) &&
	      !memcmp(a, b, 32), "both of a digest");
	EVP_CIPHER_CTX_free(ctx);
	EVP_MD_CTX_free(md);
	EVP_MD_free(sha);
	if (!pid)
		_exit(0);
	check(waitpid(pid, &status, 0) == pid && !status, "the child's half");
}

static int is_null(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_rdev == makedev(1, 3);
}

/*
 * Like a daemon: closes all descriptors that it does not know, and opens
 * others, which get their numbers.
 */
static void numbers_of_others(EVP_CIPHER_CTX *ctx)
{
	int i, fds[40], status;
	pid_t pid = fork();

	if (!pid) {
		for (i = 3; i < 256; i++)
			close(i);
		for (i = 0; i < 40; i++)
			fds[i] = open("/dev/null", O_RDWR);
		check(is_right(ctx, 0, NULL), "with nothing of the parent's");
		for (i = 0; i < 40; i++)
			check(is_null(fds[i]), "another's number");
		EVP_CIPHER_CTX_free(ctx);
		OSSL_PROVIDER_unload(loaded);
		for (i = 0; i < 40; i++)
			check(is_null(fds[i]), "at the end");
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && !status, "a daemon");
	check(is_right(ctx, 0, NULL), "a daemon's parent");
}

/*
 * Two libraries of a program have loaded the provider.  In a child that has
 * closed all descriptors, each opens the device again and gets the descriptor
 * number that the other had.
 */
static void numbers_of_ones_own(EVP_CIPHER_CTX *ctx)
{
	OSSL_LIB_CTX *lib = OSSL_LIB_CTX_new();
	OSSL_PROVIDER *ocf = OSSL_PROVIDER_load(lib, "ocf");
	EVP_CIPHER *their = EVP_CIPHER_fetch(lib, "AES-128-CBC",
					     "provider=ocf");
	EVP_CIPHER_CTX *other = EVP_CIPHER_CTX_new();
	EVP_CIPHER *own = mine;
	int i, status;
	pid_t pid;

	check(ocf && their, "another library's");
	mine = their;
	check(is_right(other, 1, keys[1]), "another library's key");
	mine = own;
	pid = fork();
	if (!pid) {
		for (i = 3; i < 256; i++)
			close(i);
		check(is_right(other, 1, NULL), "the other first");
		check(is_right(ctx, 0, NULL), "then one's own");
		check(is_right(other, 1, NULL), "and the other again");
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && !status, "a child of two");
	EVP_CIPHER_CTX_free(other);
	EVP_CIPHER_free(their);
	OSSL_PROVIDER_unload(ocf);
	OSSL_LIB_CTX_free(lib);
}

static int digest_job(void *arg)
{
	unsigned char out[64];

	return EVP_Digest(in, LEN, out, NULL, *(EVP_MD **)arg, NULL);
}

/*
 * libcrypto computes SHA-1 of certificates while it holds a lock, so a job that
 * computes SHA-1 is never paused.
 */
static void never_paused(void)
{
	EVP_MD *sha = EVP_MD_fetch(NULL, "SHA1", "provider=ocf");
	ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
	ASYNC_JOB *this = NULL;
	int i, res = 0;

	for (i = 0; i < 20; i++)
		check(ASYNC_start_job(&this, wait, &res, digest_job, &sha,
				      sizeof(sha)) == ASYNC_FINISH && res == 1,
		      "a job with SHA-1");
	ASYNC_WAIT_CTX_free(wait);
	EVP_MD_free(sha);
}

/*
 * A job that encrypts enough data with a cipher that OpenSSL's random generator
 * may use
 */
static int cipher_job(void *arg)
{
	unsigned char out[LEN];
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, *(const char **)arg,
					      "provider=ocf");
	int n, ok = EVP_EncryptInit_ex2(ctx, cipher, keys[0], keys[1], NULL) &&
		    EVP_EncryptUpdate(ctx, out, &n, in, LEN) && n == LEN;

	EVP_CIPHER_free(cipher);
	EVP_CIPHER_CTX_free(ctx);
	return ok;
}

/*
 * Two jobs of a thread share a random generator, so no operation of the
 * generator is paused.
 */
static void generators_never_paused(void)
{
	static const char * const names[] = { "AES-128-CTR", "AES-128-ECB" };
	ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
	ASYNC_JOB *this = NULL;
	int i, res;

	for (i = 0; i < 100; i++)
		check(ASYNC_start_job(&this, wait, &res, cipher_job,
				      (void *)&names[i % 2],
				      sizeof(names[0])) == ASYNC_FINISH &&
		      res == 1, "a generator's cipher was paused");
	ASYNC_WAIT_CTX_free(wait);
}

static int job(void *arg)
{
	return is_right(*(EVP_CIPHER_CTX **)arg, 0, NULL);
}

/* A child abandons a job that its parent has paused. */
static void paused(EVP_CIPHER_CTX *ctx)
{
	ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
	int i, res = 0, status, state = ASYNC_FINISH;
	ASYNC_JOB *this = NULL;
	pid_t pid;

	for (i = 0; i < 100 && state != ASYNC_PAUSE; i++)
		state = ASYNC_start_job(&this, wait, &res, job, &ctx,
					sizeof(ctx));
	check(state == ASYNC_PAUSE, "no job was paused");
	pid = fork();
	if (!pid) {
		alarm(30);
		ASYNC_WAIT_CTX_free(wait);
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && !status, "the parent's job");
	while (state == ASYNC_PAUSE)
		state = ASYNC_start_job(&this, wait, &res, job, &ctx,
					sizeof(ctx));
	check(state == ASYNC_FINISH && res == 1, "the job");
	ASYNC_WAIT_CTX_free(wait);
}

static int never_called(void *arg)
{
	(void)arg;
	check(0, "the program was called");
	return 0;
}

/*
 * The provider never calls a callback.  So it must not pause the jobs of a
 * program that waits for a callback, or the program would wait for ever.
 */
static void waits_for_a_call(EVP_CIPHER_CTX *ctx)
{
	ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
	ASYNC_JOB *this = NULL;
	int i, res = 0;

	check(ASYNC_WAIT_CTX_set_callback(wait, never_called, NULL), "a call");
	for (i = 0; i < 100; i++)
		check(ASYNC_start_job(&this, wait, &res, job, &ctx,
				      sizeof(ctx)) == ASYNC_FINISH && res == 1,
		      "a job was paused that waits for a call");
	ASYNC_WAIT_CTX_free(wait);
}

/**
 * struct running - a job
 * @ctx: what it works with
 * @wait: what it is waited for with
 * @job: the job
 * @state: what ASYNC_start_job() said last
 * @res: the job's result
 */
struct running {
	EVP_CIPHER_CTX	*ctx;
	ASYNC_WAIT_CTX	*wait;
	ASYNC_JOB	*job;
	int		state, res;
};

static void start(struct running *r)
{
	r->state = ASYNC_start_job(&r->job, r->wait, &r->res, job, &r->ctx,
				   sizeof(r->ctx));
}

/* Returns whether the job can go on; waits for @ms. */
static int is_told(struct running *r, int ms)
{
	OSSL_ASYNC_FD fd;
	struct pollfd p = { .events = POLLIN };
	size_t n = 1;

	check(ASYNC_WAIT_CTX_get_all_fds(r->wait, NULL, &n) && n == 1 &&
	      ASYNC_WAIT_CTX_get_all_fds(r->wait, &fd, &n), "its descriptor");
	p.fd = fd;
	return poll(&p, 1, ms) == 1;
}

/*
 * A program that submits many jobs has all of them in flight before the first
 * is done.
 */
static void many_paused(void)
{
	struct running all[JOBS] = {};
	struct running *r;

	for (r = all; r < all + JOBS; r++) {
		r->ctx = EVP_CIPHER_CTX_new();
		r->wait = ASYNC_WAIT_CTX_new();
		check(EVP_EncryptInit_ex2(r->ctx, mine, keys[0], keys[0], NULL),
		      "a job's key");
		start(r);
		check(r->state == ASYNC_PAUSE, "a job of many was not paused");
	}
	check(!is_told(all, 0), "the first was done before the last began");
	for (r = all; r < all + JOBS; r++) {
		check(is_told(r, 60000), "nobody was told");
		while (r->state == ASYNC_PAUSE)
			start(r);
		check(r->state == ASYNC_FINISH && r->res == 1, "one of many");
		ASYNC_WAIT_CTX_free(r->wait);
		EVP_CIPHER_CTX_free(r->ctx);
	}
}

static int other_job(void *arg)
{
	return is_right(*(EVP_CIPHER_CTX **)arg, 1, NULL);
}

/* Two jobs with one wait context: each is woken for its own operation. */
static void paused_together(void)
{
	int (* const jobs[2])(void *) = { job, other_job };
	ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
	EVP_CIPHER_CTX *ctx[2];
	ASYNC_JOB *these[2] = {};
	int i, res, state[2];

	for (i = 0; i < 2; i++) {
		ctx[i] = EVP_CIPHER_CTX_new();
		check(EVP_EncryptInit_ex2(ctx[i], mine, keys[i], keys[0], NULL),
		      "one of two's key");
		state[i] = ASYNC_start_job(&these[i], wait, &res, jobs[i],
					   &ctx[i], sizeof(ctx[i]));
		check(state[i] == ASYNC_PAUSE, "one of two was not paused");
	}
	/* the last first, so that both are done when the first goes on */
	while (i--) {
		while (state[i] == ASYNC_PAUSE)
			state[i] = ASYNC_start_job(&these[i], wait, &res,
						   jobs[i], &ctx[i],
						   sizeof(ctx[i]));
		check(state[i] == ASYNC_FINISH && res == 1, "one of two");
		EVP_CIPHER_CTX_free(ctx[i]);
	}
	ASYNC_WAIT_CTX_free(wait);
}

/*
 * A job is abandoned: the memory for its result may have another use by then.
 */
static int job_given_up(void *arg)
{
	EVP_CIPHER_CTX *ctx = *(EVP_CIPHER_CTX **)arg;
	int n;

	return EVP_EncryptInit_ex2(ctx, mine, keys[0], keys[0], NULL) &&
	       EVP_CIPHER_CTX_set_padding(ctx, 0) &&
	       EVP_EncryptUpdate(ctx, given_up, &n, in, LEN);
}

static void given_up_while_paused(void)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
	ASYNC_JOB *this = NULL;
	int i, res;

	check(ASYNC_start_job(&this, wait, &res, job_given_up, &ctx,
			      sizeof(ctx)) == ASYNC_PAUSE,
	      "one that is given up was not paused");
	memset(given_up, 0x5c, LEN);
	/* the card has finished meanwhile */
	usleep(2500000);
	ASYNC_WAIT_CTX_free(wait);
	for (i = 0; i < LEN; i++)
		check(given_up[i] == 0x5c, "memory of others was written to");
	/* the job itself is OpenSSL's, which has no way to end it */
}

/* The job is abandoned after the program has cleaned up OpenSSL. */
static void given_up_last(void)
{
	OSSL_LIB_CTX *own = OSSL_LIB_CTX_new();
	OSSL_PROVIDER *ocf = OSSL_PROVIDER_load(own, "ocf");
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(own, "AES-128-CBC",
					      "provider=ocf");
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
	EVP_CIPHER *was = mine;
	ASYNC_JOB *this = NULL;
	int res;

	check(!!cipher, "no second provider");
	mine = cipher;
	check(ASYNC_start_job(&this, wait, &res, job_given_up, &ctx,
			      sizeof(ctx)) == ASYNC_PAUSE,
	      "one that is given up last was not paused");
	mine = was;
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(cipher);
	OSSL_PROVIDER_unload(ocf);
	OSSL_LIB_CTX_free(own);
	ASYNC_WAIT_CTX_free(wait);
}

static void *thread(void *arg)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int i, which;

	for (i = 0; i < 100; i++) {
		which = i % 2;
		check(is_right(ctx, which, keys[which]), "a thread");
	}
	EVP_CIPHER_CTX_free(ctx);
	return arg;
}

static void threads(void)
{
	pthread_t t[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

struct counts {
	uint64_t	kernel, own;
};

static struct counts counts(void)
{
	struct counts c = { -1, -1 };
	OSSL_PARAM params[] = {
		OSSL_PARAM_uint64("operations-kernel", &c.kernel),
		OSSL_PARAM_uint64("operations-openssl", &c.own),
		OSSL_PARAM_END
	};

	check(OSSL_PROVIDER_get_params(loaded, params), "the counts");
	return c;
}

/*
 * The kernel does all operations except those without data.  Each process
 * counts its own operations.
 */
static void counted(EVP_CIPHER_CTX *ctx)
{
	struct counts before = counts(), after;
	unsigned char hash[EVP_MAX_MD_SIZE];
	int status;
	pid_t pid;

	check(is_right(ctx, 0, keys[0]) && is_right(ctx, 0, NULL), "two");
	after = counts();
	check(after.kernel == before.kernel + 2, "the kernel's two");
	check(EVP_Q_digest(NULL, "SHA256", "provider=ocf", "", 0, hash, NULL),
	      "a digest of nothing");
	after = counts();
	check(after.kernel == before.kernel + 2 && !after.own,
	      "only counted with debug = 1");
	pid = fork();
	if (!pid) {
		before = counts();
		check(!before.kernel && !before.own, "the counts of a child");
		check(is_right(ctx, 0, NULL), "the child's");
		check(counts().kernel == 1, "the child's operation");
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && !status, "a counting child");
	check(counts().kernel == after.kernel, "the parent's own");
}

/*
 * With OCF_DEBUG=1, if the kernel does no operations: each operation of the
 * provider itself is counted once.
 */
static void counted_as_own(EVP_CIPHER_CTX *ctx)
{
	struct counts before = counts(), after;
	unsigned char out[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *one = EVP_MD_CTX_new(), *two = EVP_MD_CTX_new();
	EVP_MD *md = EVP_MD_fetch(NULL, "SHA256", "provider=ocf");

	check(is_right(ctx, 0, keys[0]) && is_right(ctx, 0, NULL), "own");
	check(EVP_Q_mac(NULL, "HMAC", "provider=ocf", "SHA256", NULL, keys[0],
			16, in, LEN, out, sizeof(out), NULL) != NULL, "a MAC");
	/* a digest that is begun once, and ends three times */
	check(EVP_DigestInit_ex2(one, md, NULL) &&
	      EVP_DigestUpdate(one, in, LEN) &&
	      EVP_MD_CTX_copy_ex(two, one) &&
	      EVP_DigestFinal_ex(two, out, NULL) &&
	      EVP_MD_CTX_copy_ex(two, one) &&
	      EVP_DigestFinal_ex(two, out, NULL) &&
	      EVP_DigestFinal_ex(one, out, NULL), "digests");
	after = counts();
	check(after.own == before.own + 6 && !after.kernel, "six operations");
	EVP_MD_CTX_free(one);
	EVP_MD_CTX_free(two);
	EVP_MD_free(md);
}

static void all_of_it(EVP_CIPHER_CTX *ctx)
{
	check(is_right(ctx, 0, keys[0]), "the first");
	counted(ctx);
	children(ctx, 2);
	halves();
	numbers_of_others(ctx);
	numbers_of_ones_own(ctx);
	paused(ctx);
	waits_for_a_call(ctx);
	never_paused();
	generators_never_paused();
	threads();
}

int main(int argc, char **argv)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	OSSL_PROVIDER *ocf, *defaults;
	int i, n;

	defaults = OSSL_PROVIDER_load(NULL, "default");
	ocf = OSSL_PROVIDER_load(NULL, "ocf");
	check(ocf && defaults, "the provider");
	loaded = ocf;
	mine = EVP_CIPHER_fetch(NULL, "AES-128-CBC", "provider=ocf");
	for (i = 0; i < LEN; i++)
		in[i] = i * 7 + (i >> 8);
	for (i = 0; i < 2; i++) {
		check(EVP_EncryptInit_ex2(ctx, EVP_aes_128_cbc(), keys[i],
					  keys[0], NULL), "OpenSSL's");
		EVP_CIPHER_CTX_set_padding(ctx, 0);
		EVP_EncryptUpdate(ctx, want[i], &n, in, LEN);
	}
	if (argc > 1 && !strcmp(argv[1], "slow")) {
		many_paused();
		paused_together();
		given_up_while_paused();
		given_up_last();
	} else if (argc > 1 && !strcmp(argv[1], "own")) {
		counted_as_own(ctx);
	} else {
		all_of_it(ctx);
	}
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(mine);
	OSSL_PROVIDER_unload(ocf);
	OSSL_PROVIDER_unload(defaults);
	puts("processes: passed");
	return 0;
}
