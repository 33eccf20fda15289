// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs that confine themselves with seccomp.  After they have used
 * /dev/crypto they forbid themselves ioctl(), as tor does, and go on; or the
 * provider is off, and they forbid themselves nearly everything.
 *
 * With OCF_LEAST=0 in the environment the kernel does operations of every size.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <openssl/async.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEN	8192
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static unsigned char in[LEN], want[LEN], got[LEN];
static EVP_CIPHER *cipher;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "confined: %s\n", what);
	_exit(1);
}

static void encrypt(EVP_CIPHER *with, unsigned char *out)
{
	static const unsigned char key[16], iv[16];
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int n;

	check(EVP_EncryptInit_ex2(ctx, with, key, iv, NULL) &&
	      EVP_CIPHER_CTX_set_padding(ctx, 0) &&
	      EVP_EncryptUpdate(ctx, out, &n, in, LEN) && n == LEN,
	      "encrypting");
	EVP_CIPHER_CTX_free(ctx);
}

static int encrypt_in_job(void *unused)
{
	(void)unused;
	encrypt(cipher, got);
	return 1;
}

static void works(void)
{
	ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
	ASYNC_JOB *job = NULL;
	int res = 0, r;

	memset(got, 0, LEN);
	encrypt(cipher, got);
	check(!memcmp(want, got, LEN), "another result");
	memset(got, 0, LEN);
	while ((r = ASYNC_start_job(&job, wait, &res, encrypt_in_job, NULL,
				    0)) == ASYNC_PAUSE)
		usleep(1000);
	check(r == ASYNC_FINISH && res == 1 && !memcmp(want, got, LEN),
	      "another result of a job");
	ASYNC_WAIT_CTX_free(wait);
}

static void load(void)
{
	EVP_CIPHER *own;

	check(OSSL_PROVIDER_load(NULL, "ocf") &&
	      OSSL_PROVIDER_load(NULL, "default"), "no provider");
	own = EVP_CIPHER_fetch(NULL, "AES-128-CBC", "provider=default");
	cipher = EVP_CIPHER_fetch(NULL, "AES-128-CBC", "provider=ocf");
	check(own && cipher, "no cipher");
	encrypt(own, want);
}

static int has_device(void)
{
	char path[64], to[64];
	ssize_t n;
	int i;

	for (i = 3; i < 64; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
		n = readlink(path, to, sizeof(to));
		if (n == sizeof("/dev/crypto") - 1 &&
		    !memcmp(to, "/dev/crypto", n))
			return 1;
	}
	return 0;
}

static void install(struct sock_filter *filter, unsigned int len, int flags)
{
	struct sock_fprog prog = { len, filter };

	check(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	      !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog),
	      "no filter");
}

#define LOAD_NUMBER \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
static void no_ioctl(unsigned int what, int flags)
{
	struct sock_filter filter[] = {
		LOAD_NUMBER,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, what),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	load();
	works();
	check(has_device(), "the device was not used before");
	install(filter, COUNT(filter), flags);
	works();
}

static void kills(void)
{
	no_ioctl(SECCOMP_RET_KILL_PROCESS, 0);
}

static void kills_all_threads(void)
{
	no_ioctl(SECCOMP_RET_KILL_PROCESS, SECCOMP_FILTER_FLAG_TSYNC);
}

static void traps(void)
{
	no_ioctl(SECCOMP_RET_TRAP, 0);
}

static void fails(void)
{
	no_ioctl(SECCOMP_RET_ERRNO | EPERM, 0);
}

/*
 * Forbids all system calls but those of a process that only computes; any other
 * kills it.
 */
static void nearly_nothing(void)
{
	static const int calls[] = {
		SYS_write, SYS_exit_group, SYS_brk, SYS_mmap, SYS_munmap,
		SYS_madvise, SYS_mprotect, SYS_futex, SYS_rt_sigprocmask,
		SYS_clock_gettime, SYS_clock_nanosleep,
	};
	struct sock_filter filter[2 * COUNT(calls) + 2] = { LOAD_NUMBER };
	unsigned int n = 1, i;

	for (i = 0; i < COUNT(calls); i++) {
		filter[n++] = (struct sock_filter)
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
		filter[n++] = (struct sock_filter)
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	filter[n++] = (struct sock_filter)
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	load();
	install(filter, n, 0);
	works();
}

/* Writes @value to a file.  Returns whether it could. */
static int put(const char *path, const char *value)
{
	FILE *f = fopen(path, "w");

	return f && fputs(value, f) >= 0 && !fclose(f);
}

#define SIM	"/sys/bus/platform/drivers/ocf_sim/"
#define CPU	"/sys/class/ocf/cryptosoft0/state"
#define HOLD	"/sys/class/ocf/sim0/device/hold"

/* Returns whether the thread @tid waits in poll(). */
static int polls(const char *tid)
{
	char path[64];
	long call = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/syscall", tid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	/* the file says "running" if the thread is in no call */
	if (fscanf(f, "%ld", &call) != 1)
		call = -1;
	fclose(f);
#ifdef SYS_poll
	if (call == SYS_poll)
		return 1;
#endif
	return call == SYS_ppoll;
}

/*
 * Waits until the provider's thread waits for results.  A filter that comes
 * between its question for a filter and its ioctl() would kill the process.
 */
static void wait_for_fetcher(void)
{
	struct dirent *d;
	int found = 0;
	DIR *dir;

	while (!found) {
		usleep(1000);
		dir = opendir("/proc/self/task");
		check(!!dir, "no /proc");
		while ((d = readdir(dir)))
			found |= polls(d->d_name);
		closedir(dir);
	}
}

/*
 * The process sets the filter while a card has a job's command and does not
 * answer.
 */
static void kills_beside_a_job(void)
{
	struct sock_filter filter[] = {
		LOAD_NUMBER,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
	ASYNC_JOB *job = NULL;
	int res = 0, r;

	load();
	check(put(SIM "add", "algs=real patience=60000") && put(CPU, "drain"),
	      "no card");
	encrypt(cipher, got);
	check(put(HOLD, "1"), "the card does not hold");
	r = ASYNC_start_job(&job, wait, &res, encrypt_in_job, NULL, 0);
	check(r == ASYNC_PAUSE, "the job was not paused");
	wait_for_fetcher();
	install(filter, COUNT(filter), SECCOMP_FILTER_FLAG_TSYNC);
	while (r == ASYNC_PAUSE) {
		usleep(1000);
		r = ASYNC_start_job(&job, wait, &res, encrypt_in_job, NULL, 0);
	}
	check(r == ASYNC_FINISH && res == 1 && !memcmp(want, got, LEN),
	      "another result of a job");
}

static void remove_card(void)
{
	if (access(HOLD, F_OK))
		return;
	check(put(HOLD, "0") && put(SIM "remove", "sim0") && put(CPU, "resume"),
	      "the card stays");
}

static void is_off(void)
{
	setenv("OCF_OFF", "1", 1);
	nearly_nothing();
}

static void is_tor(void)
{
	program_invocation_short_name = strdup("tor");
	nearly_nothing();
}

/*
 * Checks whether the provider is off in @program if the setting lists @names.
 */
static void named(const char *program, const char *names)
{
	char path[] = "/tmp/confined.XXXXXX";
	int fd = mkstemp(path);

	check(dprintf(fd, "openssl_conf = init\n[init]\nproviders = all\n"
		      "[all]\nocf = section\n[section]\nactivate = 1\n"
		      "off_for = %s\n", names) > 0, "no openssl.cnf");
	setenv("OPENSSL_CONF", path, 1);
	program_invocation_short_name = strdup(program);
	load();
	unlink(path);
	close(fd);
	works();
	check(!has_device() == !!strstr(names, program), "off for the wrong");
}

static void is_named(void)
{
	named("daemon", "another, daemon ,third");
}

static void others_are_named(void)
{
	named("daemon", "daemo,mond");
}

static void is_neither(void)
{
	setenv("OCF_OFF", "yes", 1);
	check(!OSSL_PROVIDER_load(NULL, "ocf"), "OCF_OFF=yes is taken");
}

int main(void)
{
	static const struct {
		const char	*name;
		void		(*run)(void);
	} cases[] = {
		{ "ioctl() kills", kills },
		{ "ioctl() kills in all threads", kills_all_threads },
		{ "ioctl() kills, and a job waits", kills_beside_a_job },
		{ "ioctl() traps", traps },
		{ "ioctl() fails", fails },
		{ "the provider is off", is_off },
		{ "the program is tor", is_tor },
		{ "the program is named", is_named },
		{ "other programs are named", others_are_named },
		{ "a wrong value of OCF_OFF", is_neither },
	};
	int status, bad = 0;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		fflush(NULL);
		if (!fork()) {
			cases[i].run();
			_exit(0);
		}
		wait(&status);
		remove_card();
		bad |= status;
		printf("%sok %s\n", status ? "not " : "", cases[i].name);
	}
	return !!bad;
}
