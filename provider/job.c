// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asynchronous jobs of OpenSSL: a job pauses until the kernel has done its
 * command.  A thread fetches the results from /dev/crypto and writes to a pipe,
 * on which the program waits.
 *
 * A program may free a paused job, and before that the memory that the job
 * works on: SSL_free() does so.  Therefore the card writes to memory of our
 * own, and the job copies the result when the command is done.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"

#define RESULTS		64	/* the most that one system call fetches */
#define TAG_MAX		64

#define LOOK		1000	/* ms between checks that the device is open */

/**
 * struct told - the pipe that tells a program that a paused job can go on
 * @fd: the reading end; the pipe gets one byte for each finished command
 * @out: the writing end
 * @dev: device number of the pipe
 * @ino: inode of the pipe.  A daemon may close all descriptors, and other files
 *	may get their numbers; @dev and @ino show whether the pipe is still
 *	there
 * @waiting: the commands in flight, one for each job that has this wait
 *	context
 */
struct told {
	int		fd, out;
	dev_t		dev;
	ino_t		ino;
	struct waiting	*waiting;
};

/**
 * struct waiting - a command in flight; it lives until the command is done,
 * even if the program frees the job before
 * @next: next command of the same struct told
 * @others: next command of the process
 * @ocf: the device that has the command
 * @generation: process.generation of the process that submitted it
 * @told: the pipe to write to
 * @res: the result, valid if @done
 * @done: the command is done
 * @quiet: the fetching thread uses neither this command nor @told any more
 * @lost: the device was closed before the result came; a card may still write
 *	to @room, which is therefore never freed
 * @secret: bytes of @room to wipe
 * @room: gets what the card writes: the tag, then the data
 */
struct waiting {
	struct waiting	*next, *others;
	struct ocf	*ocf;
	uint64_t	generation;
	struct told	*told;
	int		res;
	atomic_bool	done, quiet;
	bool		lost;
	size_t		secret;
	unsigned char	room[];
};

static bool is_its(const struct told *told, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISFIFO(st.st_mode) &&
	       st.st_dev == told->dev && st.st_ino == told->ino;
}

static void tell(struct waiting *w, int res)
{
	w->res = res;
	/*
	 * Comes before write(): the job wakes once for the byte in the pipe
	 * and looks at @done then.
	 */
	atomic_store(&w->done, true);
	if (is_its(w->told, w->told->out))
		while (write(w->told->out, "", 1) < 0 && errno == EINTR)
			;
	/* from here on the job may free @w and its pipe */
	atomic_store(&w->quiet, true);
}

/* Waits until the fetching thread does not use @w any more. */
static void wait_until_quiet(const struct waiting *w)
{
	while (!atomic_load(&w->quiet))
		usleep(100);
}

/*
 * Takes @w, or if @w is NULL any command of @ocf, off the process's list.  The
 * caller must finish the command it gets.  Returns NULL if it is not listed.
 */
static struct waiting *take_off(struct process *p, const struct waiting *w,
				const struct ocf *ocf)
{
	struct waiting **at, *found;

	pthread_mutex_lock(&p->lock);
	at = &p->waiting;
	while (*at && (w ? *at != w : (*at)->ocf != ocf))
		at = &(*at)->others;
	found = *at;
	if (found)
		*at = found->others;
	pthread_mutex_unlock(&p->lock);
	return found;
}

static void put_on(struct process *p, struct waiting *w)
{
	pthread_mutex_lock(&p->lock);
	w->others = p->waiting;
	p->waiting = w;
	pthread_cond_signal(&p->wanted);
	pthread_mutex_unlock(&p->lock);
}

/*
 * Waits for a command and returns the device of the oldest one, or NULL if the
 * thread must stop.  The command may end as soon as the lock is free.
 */
static struct ocf *next_device(struct process *p)
{
	struct ocf *ocf = NULL;
	struct waiting *w;

	pthread_mutex_lock(&p->lock);
	while (!p->waiting && !p->stop)
		pthread_cond_wait(&p->wanted, &p->lock);
	for (w = p->waiting; w; w = w->others)
		ocf = w->ocf;
	pthread_mutex_unlock(&p->lock);
	return ocf;
}

static void reap(struct process *p, struct ocf *ocf)
{
	struct ocf_result results[RESULTS];
	struct ocf_reap reap = {
		.results = addr(results), .count = RESULTS,
	};
	struct pollfd fd = { .fd = ocf_fd(ocf), .events = POLLIN };
	struct waiting *w;
	int i, n;

	n = ioctl(ocf_fd(ocf), OCF_REAP, &reap);
	for (i = 0; i < n; i++) {
		w = (struct waiting *)(uintptr_t)results[i].cookie;
		if (take_off(p, w, ocf))
			tell(w, results[i].res);
	}
	if (n <= 0)
		poll(&fd, 1, LOOK);
}

/*
 * The thread looks at a device only while this device has commands.  If the
 * program has closed the device, its commands are lost, and the card may still
 * write to their memory.
 */
static void *fetch(void *arg)
{
	struct process *p = arg;
	struct waiting *w;
	struct ocf *ocf;

	while ((ocf = next_device(p))) {
		if (!process_is_confined(p) && ocf_is_open(ocf)) {
			reap(p, ocf);
			continue;
		}
		w = take_off(p, NULL, ocf);
		if (w) {
			w->lost = true;
			tell(w, -EIO);
		}
	}
	return NULL;
}

/*
 * Starts the thread with all signals blocked: the program's threads get them.
 */
static bool start_fetcher(struct process *p)
{
	sigset_t all, was;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	err = pthread_create(&p->fetcher, NULL, fetch, p);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
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

static void free_waiting(struct told *told, struct waiting *w)
{
	struct waiting **at = &told->waiting;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	if (w->lost)
		return;
	OPENSSL_cleanse(w->room, w->secret);
	OPENSSL_free(w);
}

/* ---- jobs that are given up ---- */

/*
 * Cancels a command and waits for its end.  There is nothing to do for a
 * command of the parent process, nor after OpenSSL has unloaded the provider,
 * which has waited for all commands.
 */
static void cancel(const struct waiting *w, struct process *p)
{
	uint64_t cookie = addr(w);

	if (!p || w->generation != p->generation || atomic_load(&w->quiet))
		return;
	if (!atomic_load(&w->done) && !process_is_confined(p) &&
	    ocf_is_open(w->ocf))
		ioctl(ocf_fd(w->ocf), OCF_CANCEL, &cookie);
	wait_until_quiet(w);
}

static void close_pipe(const struct told *told)
{
	if (is_its(told, told->fd))
		close(told->fd);
	if (is_its(told, told->out))
		close(told->out);
}

/* OpenSSL calls this when it frees a wait context, whose job may be paused. */
static void close_told(ASYNC_WAIT_CTX *ctx, const void *key, OSSL_ASYNC_FD fd,
		       void *data)
{
	struct provider *prov = (struct provider *)key;
	struct told *told = data;

	while (told->waiting) {
		cancel(told->waiting, prov->process);
		free_waiting(told, told->waiting);
	}
	close_pipe(told);
	OPENSSL_free(told);
	provider_put(prov);
}

static struct told *make_told(void)
{
	struct told *told = OPENSSL_zalloc(sizeof(*told));
	struct stat st;
	int ends[2];

	if (told && !pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
		told->fd = ends[0];
		told->out = ends[1];
		if (!fstat(told->fd, &st)) {
			told->dev = st.st_dev;
			told->ino = st.st_ino;
			return told;
		}
		close(told->fd);
		close(told->out);
	}
	OPENSSL_free(told);
	return NULL;
}

/* Returns true if the program waits for a callback and not for a descriptor. */
static bool wants_call(ASYNC_WAIT_CTX *ctx)
{
	ASYNC_callback_fn call;
	void *arg;

	return ASYNC_WAIT_CTX_get_callback(ctx, &call, &arg) && call;
}

/*
 * Returns the pipe of the job's wait context, made at its first use, or NULL.
 */
static struct told *told_of(struct provider *prov, ASYNC_JOB *job)
{
	ASYNC_WAIT_CTX *ctx = ASYNC_get_wait_ctx(job);
	struct told *told;
	void *data;
	int fd;

	if (!ctx || wants_call(ctx))
		return NULL;
	if (ASYNC_WAIT_CTX_get_fd(ctx, prov, &fd, &data)) {
		told = data;
		return is_its(told, told->fd) && is_its(told, told->out) ?
			told : NULL;
	}
	told = make_told();
	if (!told)
		return NULL;
	if (ASYNC_WAIT_CTX_set_wait_fd(ctx, prov, told->fd, told,
				       close_told)) {
		provider_hold(prov);
		return told;
	}
	close_pipe(told);
	OPENSSL_free(told);
	return NULL;
}

static bool makes_tag(const struct ocf_command *c)
{
	return c->tag && c->op == OCF_OP_ENCRYPT;
}

/* Returns how many bytes to wipe after @c: plaintext and tags. */
static size_t secret(const struct ocf_command *c, size_t size)
{
	/* ciphertext is no secret, and most of the bytes */
	return size && c->dst && c->op == OCF_OP_ENCRYPT ? TAG_MAX : size;
}

/*
 * Makes a struct waiting for @c, or returns NULL.  With a session, the card
 * writes to its @room.
 */
static struct waiting *new_waiting(struct told *told, const struct session *ses,
				   struct ocf_command *c)
{
	size_t size = ses ? TAG_MAX + (c->dst ? c->len : 0) : 0;
	struct waiting *w = OPENSSL_malloc(sizeof(*w) + size);

	if (!w)
		return NULL;
	*w = (struct waiting){
		.next = told->waiting, .told = told,
		.secret = secret(c, size),
	};
	told->waiting = w;
	c->cookie = addr(w);
	if (ses && makes_tag(c))
		c->tag = addr(w->room);
	if (ses && c->dst)
		c->dst = addr(w->room + TAG_MAX);
	return w;
}

/* Copies the result of a successful command to where the program wants it. */
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

/* Pauses the job until its command @w is done. */
static void wait_for(struct told *told, struct waiting *w)
{
	struct pollfd p = { .fd = told->fd, .events = POLLIN };
	char byte;

	do {
		ASYNC_pause_job();
		/* OpenSSL may not pause here, or may go on too early */
		if (!atomic_load(&w->done))
			poll(&p, 1, 1);
	} while (!atomic_load(&w->done));
	wait_until_quiet(w);
	/* one byte: other jobs of this wait context read their own */
	if (is_its(told, told->fd))
		while (read(told->fd, &byte, 1) < 0 && errno == EINTR)
			;
}

/**
 * job_run() - do a command and pause the job until it is done
 * @prov: the provider
 * @ocf: the device
 * @job: the job
 * @ses: the command's session, or NULL for a public-key command.  The card
 *	writes the result of such a command straight to libssl's memory, which
 *	lives as long as the job.
 * @given: the command
 *
 * Return: ocf_result.res; -ENOSYS: the command has not begun.
 */
int job_run(struct provider *prov, struct ocf *ocf, ASYNC_JOB *job,
	    const struct session *ses, const struct ocf_command *given)
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
	put_on(prov->process, w);
	if (ioctl(ocf_fd(ocf), OCF_SUBMIT, &v) == 1) {
		wait_for(told, w);
		res = w->res;
		if (ses)
			take_result(w, ses, given);
	} else {
		res = -errno;
		/*
		 * if the command is not listed, the device was closed, and the
		 * thread is just ending the command
		 */
		if (!take_off(prov->process, w, ocf))
			wait_until_quiet(w);
	}
	free_waiting(told, w);
	return res;
}

/* Stops the thread.  OpenSSL has freed all paused jobs before. */
void jobs_exit(struct provider *prov)
{
	struct process *p = prov->process;

	if (!p->fetching)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->wanted);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->fetcher, NULL);
}
