// SPDX-License-Identifier: BSD-2-Clause
/*
 * The process's open /dev/crypto, its sessions and its operations.  The first
 * operation opens the device.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

#define SYSFS	"/sys/class/misc/crypto"	/* made by the module */

static const char hidden[] =
	"this process cannot see /dev/crypto: chroot or PrivateDevices=";

#define AGAIN		1	/* s until we ask the kernel again */
#define SMALL		256	/* bytes; reading the clock costs too much */
#define LOOKS		16	/* small operations for one look at the clock */

/* The time in seconds, never 0 */
static uint32_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec + 1;
}

int device_init(struct provider *prov)
{
	struct process *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 0;
	/* all zeros is an unlocked mutex, here and in a child */
	if (madvise(p, sizeof(*p), MADV_WIPEONFORK)) {
		munmap(p, sizeof(*p));
		return 0;
	}
	prov->process = p;
	return 1;
}

void device_exit(struct provider *prov)
{
	struct process *p = prov->process;

	if (!p)
		return;
	jobs_exit(prov);
	debug_counts(prov);
	if (atomic_load(&p->ocf) && !process_is_confined(p))
		ocf_close(prov->ocf);
	else
		ocf_forget(prov->ocf);
	prov->process = NULL;
	munmap(p, sizeof(*p));
}

/* Opens /dev/crypto, which this process has not.  The caller has the lock. */
static struct ocf *open_anew(struct provider *prov)
{
	static atomic_uint opened;
	struct process *p = prov->process;
	struct ocf *ocf;

	if (p->failed && now() - p->failed <= AGAIN)
		return NULL;
	/*
	 * Closes the descriptor of the parent process: its sessions would
	 * otherwise live as long as this process.  If the number belongs to
	 * another file by now, ocf_close() leaves that file open.
	 */
	if (prov->ocf && !process_is_confined(p))
		ocf_close(prov->ocf);
	else
		ocf_forget(prov->ocf);
	prov->ocf = NULL;
	p->error = ocf_open(&ocf);
	p->failed = p->error ? now() : 0;
	if (p->error)
		return NULL;
	prov->ocf = ocf;
	p->generation = (uint64_t)getpid() << 32 |
			(atomic_fetch_add(&opened, 1) + 1);
	atomic_store(&p->ocf, ocf);
	return ocf;
}

/*
 * Returns true if the program has limited its system calls with seccomp.  The
 * filter may kill it for those that /dev/crypto needs.
 */
bool process_is_confined(struct process *p)
{
	if (!atomic_load(&p->confined) &&
	    prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0)
		atomic_store(&p->confined, true);
	return atomic_load(&p->confined);
}

/*
 * Returns the open device, or NULL if the process cannot use it.  If a daemon
 * has closed the descriptor, this opens the device again.  The old struct ocf
 * is not freed, since other threads may be using it.
 */
static struct ocf *device_of(struct provider *prov)
{
	struct process *p = prov->process;
	struct ocf *ocf = atomic_load(&p->ocf);

	if (prov->off || process_is_confined(p))
		return NULL;
	if (ocf && ocf_is_open(ocf))
		return ocf;
	pthread_mutex_lock(&p->lock);
	if (ocf && ocf == atomic_load(&p->ocf)) {
		atomic_store(&p->ocf, NULL);
		prov->ocf = NULL;
	}
	ocf = atomic_load(&p->ocf);
	if (!ocf)
		ocf = open_anew(prov);
	pthread_mutex_unlock(&p->lock);
	return ocf;
}

/**
 * device_state() - say whether this process can use /dev/crypto
 * @prov: the provider
 *
 * It opens /dev/crypto, as the first operation would.
 *
 * Return: a line for people.
 */
const char *device_state(struct provider *prov)
{
	struct process *p = prov->process;
	int err;

	if (prov->off)
		return "off: by openssl.cnf or OCF_OFF, or for this program";
	if (process_is_confined(p))
		return "off: the program filters its system calls with seccomp";
	if (device_of(prov) && prov->least < 0)
		return "/dev/crypto is open";
	if (device_of(prov))
		return "/dev/crypto is open; least is set";
	pthread_mutex_lock(&p->lock);
	err = p->error;
	pthread_mutex_unlock(&p->lock);
	switch (err) {
	case -EACCES:
	case -EPERM:
		return "no permission to open /dev/crypto";
	case -ENODEV:
		if (!access(SYSFS, F_OK))
			return hidden;
		return "/dev/crypto is not there: modprobe ocf_cdev";
	case -EPROTO:
		return "/dev/crypto is another module's";
	default:
		return "/dev/crypto cannot be opened";
	}
}

/* A wrong tag or signature is a result of the kernel, not a failure. */
static bool is_result(int res)
{
	return res >= 0 || res == -EBADMSG;
}

static void count_kernel(struct provider *prov, int res)
{
	if (is_result(res))
		atomic_fetch_add_explicit(&prov->process->kernel, 1,
					  memory_order_relaxed);
}

/*
 * A counter that threads share costs too much for small operations, so they are
 * counted only with debug = 1.
 */
static void count_own(struct provider *prov)
{
	if (prov->debug)
		atomic_fetch_add_explicit(&prov->process->own, 1,
					  memory_order_relaxed);
}

/**
 * device_counts() - get the numbers of operations of this process
 * @prov: the provider
 * @kernel: gets the number of those that the kernel did
 * @own: gets the number of those that OpenSSL's own code did; with debug = 1
 *	only
 */
void device_counts(struct provider *prov, uint64_t *kernel, uint64_t *own)
{
	*kernel = atomic_load(&prov->process->kernel);
	*own = atomic_load(&prov->process->own);
}

/*
 * Does one command.  If there is a @job, it pauses until the command is done.
 */
static int run(struct provider *prov, struct ocf *ocf, ASYNC_JOB *job,
	       const struct session *ses, struct ocf_command *c)
{
	int res = -ENOSYS;

	if (job)
		res = job_run(prov, ocf, job, ses, c);
	if (res == -ENOSYS)
		res = ocf_run(ocf, c);
	count_kernel(prov, res);
	return res;
}

/* ---- sessions ---- */

static int session_make(struct session *ses, struct ocf *ocf)
{
	struct ocf_session_open params = {};
	int err;

	ses->describe(ses->owner, &params);
	if (ses->generation == ses->prov->process->generation && ses->id) {
		if (!ses->other_key)
			return 0;
		err = ocf_session_change(ocf, ses->id,
					 (void *)(uintptr_t)params.key,
					 params.keylen,
					 (void *)(uintptr_t)params.mackey,
					 params.mackeylen);
		ses->other_key = err;
		return err;
	}
	err = ocf_session_create(ocf, &params);
	if (err)
		return err;
	ses->id = params.session;
	ses->generation = ses->prov->process->generation;
	ses->other_key = false;
	return 0;
}

/* Asks the kernel from which size on a card is worth it; kept for a second. */
static void ask(struct session *ses, struct crossed *said)
{
	struct ocf_session_query info = {};
	struct ocf *ocf = device_of(ses->prov);
	int err = ocf ? session_make(ses, ocf) : -ENODEV;

	if (!err)
		ocf_session_info(ocf, ses->id, &info);
	if (!info.hardware)
		info.crossover = info.crossover_many = 0;
	/* 0 means never; minus 1 it becomes the largest number */
	atomic_store(&said->last[false], info.crossover - 1);
	atomic_store(&said->last[true], info.crossover_many - 1);
	atomic_store(&said->when, now());
	debug_session(ses, said, info.hardware, err);
}

/**
 * session_is_worth() - return true if the kernel should do an operation
 * @ses: a session
 * @len: length of the operation, bytes
 *
 * Most calls only compare @len with two numbers.
 */
bool session_is_worth(struct session *ses, size_t len)
{
	struct provider *prov = ses->prov;
	struct crossed *said = &prov->crossings[ses->crossing];

	if (prov->least >= 0)
		return len >= (size_t)prov->least && len && device_of(prov);
	if ((len > SMALL || !(ses->looks++ % LOOKS)) &&
	    (!said->when || now() - said->when > AGAIN))
		ask(ses, said);
	if (len <= said->last[false] && len <= said->last[true])
		return false;
	/* inside a job, the program goes on with other jobs meanwhile */
	return len > said->last[!!ASYNC_get_current_job()];
}

/* Counts an operation that OpenSSL's own code does. */
void session_left(struct session *ses)
{
	count_own(ses->prov);
}

/**
 * session_run() - do a command of a session
 * @ses: the session; opened first if this process has not opened it
 * @c: the command; this function fills in its session
 *
 * Return: ocf_result.res.
 */
int session_run(struct session *ses, struct ocf_command *c)
{
	struct ocf *ocf = device_of(ses->prov);
	int err = ocf ? session_make(ses, ocf) : -ENODEV;

	if (err)
		return err;
	c->session = ses->id;
	return run(ses->prov, ocf,
		   ses->never_pauses ? NULL : ASYNC_get_current_job(), ses, c);
}

/**
 * session_run_many() - do several commands of a session in one system call
 * @ses: the session; opened first if this process has not opened it
 * @commands: the commands; this function fills in their session
 * @results: gets the results
 * @n: number of commands
 *
 * Inside an asynchronous job, each command has its own system call and the job
 * pauses for it, so that other jobs go on.
 */
void session_run_many(struct session *ses, struct ocf_command *commands,
		      struct ocf_result *results, size_t n)
{
	struct ocf *ocf = device_of(ses->prov);
	int err = ocf ? session_make(ses, ocf) : -ENODEV;
	ASYNC_JOB *job = ASYNC_get_current_job();
	size_t i;

	for (i = 0; i < n; i++) {
		commands[i].session = ses->id;
		/* stays if the call fails: the command may have begun */
		results[i].res = err ? err : -ECANCELED;
		if (!err && job)
			results[i].res = run(ses->prov, ocf, job, ses,
					     &commands[i]);
	}
	if (!err && !job)
		ocf_run_many(ocf, commands, results, n);
	for (i = 0; i < n && !job; i++)
		count_kernel(ses->prov, results[i].res);
}

/* Closes a session, unless another process opened it. */
void session_end(struct session *ses)
{
	struct process *p = ses->prov->process;
	struct ocf *ocf = atomic_load(&p->ocf);

	if (ses->id && ocf && ses->generation == p->generation &&
	    !process_is_confined(p) && ocf_is_open(ocf))
		ocf_session_destroy(ocf, ses->id);
	ses->id = 0;
}

/* ---- public keys ---- */

/* A hash of all by which a card decides whether it can do an operation */
static uint32_t kind_of(const struct ocf_public *op)
{
	uint32_t kind = op->code | op->scheme << 8 | op->curve << 12;
	const char *c;

	/* FNV-1a over the name of the hash */
	for (c = op->hash ? op->hash : ""; *c; c++)
		kind = (kind ^ (uint8_t)*c << 16) * 16777619;
	return kind;
}

static _Atomic uint64_t *no_card_for(struct provider *prov, uint32_t kind)
{
	return &prov->no_card[(kind ^ kind >> 8 ^ kind >> 16) % NO_CARDS];
}

/**
 * public_is_worth() - return true if a card may be able to do an operation
 * @prov: the provider
 * @op: the operation; this function does not read its operands
 *
 * If the kernel has said that no card can do such an operation, the answer is
 * false for a second, and then true once more.
 */
bool public_is_worth(struct provider *prov, const struct ocf_public *op)
{
	uint32_t kind = kind_of(op);
	uint64_t none = atomic_load(no_card_for(prov, kind));

	bool worth = !prov->off && (prov->least >= 0 || none >> 32 != kind ||
				    now() - (uint32_t)none > AGAIN);

	if (!worth)
		count_own(prov);
	return worth;
}

static void no_card(struct provider *prov, const struct ocf_public *op, int err)
{
	uint32_t kind = kind_of(op);
	uint64_t before;

	before = atomic_exchange(no_card_for(prov, kind),
				 (uint64_t)kind << 32 | now());
	if (before >> 32 != kind)
		debug_public(prov, op, err);
}

/**
 * public_run() - have a card do a public-key operation
 * @prov: the provider
 * @op: the operation
 *
 * The kernel must not use the CPU for it: OpenSSL's own code is faster.
 *
 * Return: as ocf_public_run(); -ENODEV or -EOPNOTSUPP: no card can do it.
 */
int public_run(struct provider *prov, struct ocf_public *op)
{
	struct ocf_pk_value values[OCF_PUBLIC_IN_MAX + OCF_PUBLIC_OUT_MAX];
	union {
		struct ocf_pk_command	public;
		struct ocf_command	command;
	} c;
	struct ocf *ocf;
	int res;

	if (prov->least < 0)
		op->flags = OCF_SESSION_HARDWARE;
	ocf = device_of(prov);
	res = ocf ? ocf_public_command(op, 0, values, &c.public) : -ENODEV;
	if (!res)
		res = run(prov, ocf, ASYNC_get_current_job(), NULL,
			  &c.command);
	if (!is_result(res))
		count_own(prov);
	if (res == -EOPNOTSUPP || res == -ENODEV)
		no_card(prov, op, res);
	return res;
}
