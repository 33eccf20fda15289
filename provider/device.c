// SPDX-License-Identifier: BSD-2-Clause
/*
 * /dev/crypto, of a process: opened when it is first needed, sessions, and
 * operations, for which a job of OpenSSL's is paused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <openssl/async.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "provider.h"

#define RESULTS		64	/* fetched at a time */
#define AGAIN		1	/* s until the kernel is asked again */
#define SMALL		256	/* bytes; up to here even the time costs */
#define LOOKS		16	/* at such, until the time is looked at again */

/**
 * struct process - what only this process has; fork() clears it
 * @lock: protects all but @ocf
 * @ocf: /dev/crypto, or NULL
 * @generation: another for each process that ever opened it
 * @failed: when it could not be opened, s
 * @fetcher: fetches results of jobs that are paused
 * @fetching: there is one
 * @stop: an eventfd that ends it
 */
struct process {
	pthread_mutex_t		lock;
	struct ocf *_Atomic	ocf;
	uint64_t		generation;
	uint32_t		failed;
	pthread_t		fetcher;
	bool			fetching;
	int			stop;
};

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
	uint64_t one = 1;

	if (!p)
		return;
	if (p->fetching) {
		if (write(p->stop, &one, sizeof(one)) > 0)
			pthread_join(p->fetcher, NULL);
		close(p->stop);
	}
	if (atomic_load(&p->ocf))
		ocf_close(prov->ocf);
	else
		ocf_forget(prov->ocf);
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
	 * The parent's, whose sessions this process does not touch.  Its number
	 * may be another's by now, who has opened the same device: it stays.
	 */
	ocf_forget(prov->ocf);
	prov->ocf = NULL;
	p->failed = ocf_open(&ocf) ? now() : 0;
	if (p->failed)
		return NULL;
	prov->ocf = ocf;
	p->generation = (uint64_t)getpid() << 32 |
			(atomic_fetch_add(&opened, 1) + 1);
	atomic_store(&p->ocf, ocf);
	return ocf;
}

static struct ocf *device_of(struct provider *prov)
{
	struct process *p = prov->process;
	struct ocf *ocf = atomic_load(&p->ocf);

	if (ocf)
		return ocf;
	pthread_mutex_lock(&p->lock);
	ocf = atomic_load(&p->ocf);
	if (!ocf)
		ocf = open_anew(prov);
	pthread_mutex_unlock(&p->lock);
	return ocf;
}

/* ---- jobs of OpenSSL's ---- */

/**
 * struct told - how whoever runs a job is told that it can go on
 * @fd: an eventfd
 * @waiting: commands that are under way: one, but several jobs may have the
 *	same wait context
 */
struct told {
	int		fd;
	struct waiting	*waiting;
};

/**
 * struct waiting - a command whose job is paused; there until it is done, also
 * if the job is not
 * @next: the job's wait context has it, too
 * @ocf: where it is
 * @generation: in which process
 * @told: the eventfd
 * @res: its result
 * @done: it is there
 * @size: bytes of @room
 * @room: what it writes: its tag, then its data
 */
struct waiting {
	struct waiting	*next;
	struct ocf	*ocf;
	uint64_t	generation;
	int		told, res;
	atomic_bool	done;
	size_t		size;
	unsigned char	room[];
};

static void tell(const struct ocf_result *r)
{
	struct waiting *w = (struct waiting *)(uintptr_t)r->cookie;
	uint64_t one = 1;

	w->res = r->res;
	/* it stays readable until the job has seen that it is done */
	while (write(w->told, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	/* from here on @w may be gone, and its eventfd */
	atomic_store(&w->done, true);
}

static void *fetch(void *arg)
{
	struct process *p = arg;
	struct ocf *ocf = atomic_load(&p->ocf);
	struct ocf_result results[RESULTS];
	struct ocf_reap reap = {
		.results = addr(results), .count = RESULTS,
	};
	struct pollfd fds[2] = {
		{ .fd = ocf_fd(ocf), .events = POLLIN },
		{ .fd = p->stop, .events = POLLIN },
	};
	int i, n;

	while (!fds[1].revents) {
		n = ioctl(ocf_fd(ocf), OCF_REAP, &reap);
		for (i = 0; i < n; i++)
			tell(&results[i]);
		if (n <= 0)
			poll(fds, 2, -1);
	}
	return NULL;
}

/* Signals are the program's, and come to its own threads. */
static bool start_fetcher(struct process *p)
{
	sigset_t all, was;
	int err;

	p->stop = eventfd(0, EFD_CLOEXEC);
	if (p->stop < 0)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	err = pthread_create(&p->fetcher, NULL, fetch, p);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (err)
		close(p->stop);
	return !err;
}

static bool has_fetcher(struct provider *prov)
{
	struct process *p = prov->process;

	pthread_mutex_lock(&p->lock);
	if (!p->fetching)
		p->fetching = start_fetcher(p);
	pthread_mutex_unlock(&p->lock);
	return p->fetching;
}

/* There may be plaintext in it. */
static void free_waiting(struct told *told, struct waiting *w)
{
	struct waiting **at = &told->waiting;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	OPENSSL_clear_free(w, sizeof(*w) + w->size);
}

/* Of a command of the parent's nothing is written, nor heard here. */
static void cancel(const struct waiting *w, const struct process *p)
{
	uint64_t cookie = addr(w);

	if (w->generation != p->generation || atomic_load(&w->done))
		return;
	ioctl(ocf_fd(w->ocf), OCF_CANCEL, &cookie);
	while (!atomic_load(&w->done))
		usleep(100);
}

/*
 * Whoever ran the job has given it up, perhaps while it was paused.  Its memory
 * went before: SSL_free() comes here last.  So what a card still writes to is
 * ours, and goes when it does not any more.
 */
static void close_told(ASYNC_WAIT_CTX *ctx, const void *key, OSSL_ASYNC_FD fd,
		       void *data)
{
	const struct provider *prov = key;
	struct told *told = data;

	while (told->waiting) {
		cancel(told->waiting, prov->process);
		free_waiting(told, told->waiting);
	}
	close(fd);
	OPENSSL_free(told);
}

/* The job's, the same each time, or NULL */
static struct told *told_of(struct provider *prov, ASYNC_JOB *job)
{
	ASYNC_WAIT_CTX *ctx = ASYNC_get_wait_ctx(job);
	struct told *told;
	void *data;
	int fd;

	if (!ctx)
		return NULL;
	if (ASYNC_WAIT_CTX_get_fd(ctx, prov, &fd, &data))
		return data;
	told = OPENSSL_zalloc(sizeof(*told));
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (told && fd >= 0 && ASYNC_WAIT_CTX_set_wait_fd(ctx, prov, fd, told,
							  close_told)) {
		told->fd = fd;
		return told;
	}
	if (fd >= 0)
		close(fd);
	OPENSSL_free(told);
	return NULL;
}

#define TAG_MAX	64

static bool makes_tag(const struct ocf_command *c)
{
	return c->tag && c->op == OCF_OP_ENCRYPT;
}

/* One for @c, which writes to it if it has a session, or NULL */
static struct waiting *new_waiting(struct told *told, const struct session *ses,
				   struct ocf_command *c)
{
	size_t size = ses ? TAG_MAX + (c->dst ? c->len : 0) : 0;
	struct waiting *w = OPENSSL_malloc(sizeof(*w) + size);

	if (!w)
		return NULL;
	*w = (struct waiting){
		.next = told->waiting, .told = told->fd, .size = size,
	};
	told->waiting = w;
	c->cookie = addr(w);
	if (ses && makes_tag(c))
		c->tag = addr(w->room);
	if (ses && c->dst)
		c->dst = addr(w->room + TAG_MAX);
	return w;
}

/* What has been written there is where @c wanted it, if it was done well. */
static void take_result(const struct waiting *w, const struct session *ses,
			const struct ocf_command *c)
{
	if (w->res < 0)
		return;
	if (makes_tag(c))
		memcpy((void *)(uintptr_t)c->tag, w->room,
		       c->dst ? ses->taglen : (size_t)w->res);
	if (c->dst)
		memcpy((void *)(uintptr_t)c->dst, w->room + TAG_MAX, w->res);
}

/* Pauses the job until its command is done. */
static void wait_for(struct told *told, struct waiting *w)
{
	struct pollfd p = { .fd = told->fd, .events = POLLIN };
	uint64_t n;

	do {
		ASYNC_pause_job();
		/* where it must not be paused, or has gone on too early */
		if (!atomic_load(&w->done))
			poll(&p, 1, 1);
	} while (!atomic_load(&w->done));
	while (read(told->fd, &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

/* -ENOSYS: it was not begun. */
static int run_in_job(struct provider *prov, struct ocf *ocf, ASYNC_JOB *job,
		      const struct session *ses,
		      const struct ocf_command *given)
{
	struct told *told = told_of(prov, job);
	struct ocf_command c = *given;
	struct ocf_vector v = { .commands = addr(&c), .count = 1 };
	struct waiting *w;
	int res;

	if (!told || !has_fetcher(prov))
		return -ENOSYS;
	w = new_waiting(told, ses, &c);
	if (!w)
		return -ENOSYS;
	w->ocf = ocf;
	w->generation = prov->process->generation;
	if (ioctl(ocf_fd(ocf), OCF_SUBMIT, &v) == 1) {
		wait_for(told, w);
		res = w->res;
		if (ses)
			take_result(w, ses, given);
	} else {
		res = -errno;
	}
	free_waiting(told, w);
	return res;
}

/*
 * @job is paused meanwhile, if there is one.  @ses is NULL for a public-key
 * command: what libssl has for its result is the job's own, and stays with it.
 */
static int run(struct provider *prov, struct ocf *ocf, ASYNC_JOB *job,
	       const struct session *ses, struct ocf_command *c)
{
	int res = -ENOSYS;

	if (job)
		res = run_in_job(prov, ocf, job, ses, c);
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

	if (ocf && !session_make(ses, ocf))
		ocf_session_info(ocf, ses->id, &info);
	if (!info.hardware)
		info.crossover = info.crossover_many = 0;
	/* zero is never, and the most there is */
	atomic_store(&said->last[false], info.crossover - 1);
	atomic_store(&said->last[true], info.crossover_many - 1);
	atomic_store(&said->when, now());
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
		results[i].res = err ? err : -EIO;
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

	if (ses->id && ocf && ses->generation == p->generation)
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

	return prov->least >= 0 || none >> 32 != kind ||
	       now() - (uint32_t)none > AGAIN;
}

static void no_card(struct provider *prov, const struct ocf_public *op)
{
	uint32_t kind = kind_of(op);

	atomic_store(no_card_for(prov, kind), (uint64_t)kind << 32 | now());
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
		no_card(prov, op);
		return -ENODEV;
	}
	res = ocf_public_command(op, 0, values, &c.public);
	if (!res)
		res = run(prov, ocf, ASYNC_get_current_job(), NULL,
			  &c.command);
	if (res == -EOPNOTSUPP || res == -ENODEV)
		no_card(prov, op);
	return res;
}
