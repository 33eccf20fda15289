// SPDX-License-Identifier: BSD-2-Clause
/*
 * /dev/crypto, of a process: opened when it is first needed, sessions, and
 * operations.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

#define SYSFS	"/sys/class/misc/crypto"	/* if the module is loaded */

static const char hidden[] =
	"this process cannot see /dev/crypto: chroot or PrivateDevices=";

#define AGAIN		1	/* s until the kernel is asked again */
#define SMALL		256	/* bytes; up to here even the time costs */
#define LOOKS		16	/* at such, until the time is looked at again */

/* Seconds, never 0 */
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
	/* zeros are a mutex that nobody has, here and in a child */
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
	if (atomic_load(&p->ocf) && !process_is_confined(p))
		ocf_close(prov->ocf);
	else
		ocf_forget(prov->ocf);
	prov->process = NULL;
	munmap(p, sizeof(*p));
}

/* Called with the lock: there is none, or not in this process. */
static struct ocf *open_anew(struct provider *prov)
{
	static atomic_uint opened;
	struct process *p = prov->process;
	struct ocf *ocf;

	if (p->failed && now() - p->failed <= AGAIN)
		return NULL;
	/*
	 * The parent's, whose sessions this process does not touch.  They would
	 * last as long as this process had it, too.  Its number may be another
	 * file's by now, and then it stays.
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
 * Whether the program has confined itself to some system calls.  Those of
 * /dev/crypto need not be among them, and may be its end.
 */
bool process_is_confined(struct process *p)
{
	if (!atomic_load(&p->confined) &&
	    prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0)
		atomic_store(&p->confined, true);
	return atomic_load(&p->confined);
}

/*
 * The device, or NULL if there is none that may be used.  If a daemon has
 * closed the descriptor, this opens the device again.  The old struct ocf is
 * not freed, since other threads may be using it.
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
		return "off: openssl.cnf, OCF_OFF or the program wants it";
	if (process_is_confined(p))
		return "off: the program has a filter of system calls";
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

/* @job is paused meanwhile, if there is one. */
static int run(struct provider *prov, struct ocf *ocf, ASYNC_JOB *job,
	       const struct session *ses, struct ocf_command *c)
{
	int res = -ENOSYS;

	if (job)
		res = job_run(prov, ocf, job, ses, c);
	return res == -ENOSYS ? ocf_run(ocf, c) : res;
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

/* What a session says of sizes, kept for the next second */
static void ask(struct session *ses, struct crossed *said)
{
	struct ocf_session_query info = {};
	struct ocf *ocf = device_of(ses->prov);
	int err = ocf ? session_make(ses, ocf) : -ENODEV;

	if (!err)
		ocf_session_info(ocf, ses->id, &info);
	if (!info.hardware)
		info.crossover = info.crossover_many = 0;
	/* zero is never, and the most there is */
	atomic_store(&said->last[false], info.crossover - 1);
	atomic_store(&said->last[true], info.crossover_many - 1);
	atomic_store(&said->when, now());
	debug_session(ses, said, info.hardware, err);
}

/**
 * session_is_worth() - whether the kernel is to be asked
 * @ses: a session
 * @len: bytes
 *
 * As a rule this is a look at two numbers.
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
	/* of jobs there are many, of which none is waited for */
	return len > said->last[!!ASYNC_get_current_job()];
}

/**
 * session_run() - do a command of a session
 * @ses: the session, which is made if there is none yet in this process
 * @c: the command; its session is filled in
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
 * session_run_many() - do commands of a session, all in one call
 * @ses: as of session_run()
 * @commands: the commands; their session is filled in
 * @results: are filled in
 * @count: how many
 *
 * A job is paused for each of them, so that others go on.
 */
void session_run_many(struct session *ses, struct ocf_command *commands,
		      struct ocf_result *results, size_t count)
{
	struct ocf *ocf = device_of(ses->prov);
	int err = ocf ? session_make(ses, ocf) : -ENODEV;
	ASYNC_JOB *job = ASYNC_get_current_job();
	size_t i;

	for (i = 0; i < count; i++) {
		commands[i].session = ses->id;
		/* what is not filled in may have been begun */
		results[i].res = err ? err : -ECANCELED;
		if (!err && job)
			results[i].res = run(ses->prov, ocf, job, ses,
					     &commands[i]);
	}
	if (!err && !job)
		ocf_run_many(ocf, commands, results, count);
}

/* Its owner ends.  Another process's is left to it. */
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

/* What devices may differ in: of an operation */
static uint32_t kind_of(const struct ocf_public *op)
{
	uint32_t kind = op->code | op->scheme << 8 | op->curve << 12;
	const char *c;

	/* FNV-1a, which the rest is enough for */
	for (c = op->hash ? op->hash : ""; *c; c++)
		kind = (kind ^ (uint8_t)*c << 16) * 16777619;
	return kind;
}

static _Atomic uint64_t *no_card_for(struct provider *prov, uint32_t kind)
{
	return &prov->no_card[(kind ^ kind >> 8 ^ kind >> 16) % NO_CARDS];
}

/**
 * public_is_worth() - whether there may be a card for an operation
 * @prov: the provider
 * @op: the operation; its operands are not looked at
 *
 * If none was found, it is not looked for again before the next second; others
 * may have one.
 */
bool public_is_worth(struct provider *prov, const struct ocf_public *op)
{
	uint32_t kind = kind_of(op);
	uint64_t none = atomic_load(no_card_for(prov, kind));

	return !prov->off && (prov->least >= 0 || none >> 32 != kind ||
			      now() - (uint32_t)none > AGAIN);
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
 * The CPU does it faster here than in the kernel.
 *
 * Return: as ocf_public_run(); -ENODEV or -EOPNOTSUPP: there is no card for it.
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
	if (!ocf) {
		no_card(prov, op, -ENODEV);
		return -ENODEV;
	}
	res = ocf_public_command(op, 0, values, &c.public);
	if (!res)
		res = run(prov, ocf, ASYNC_get_current_job(), NULL,
			  &c.command);
	if (res == -EOPNOTSUPP || res == -ENODEV)
		no_card(prov, op, res);
	return res;
}
