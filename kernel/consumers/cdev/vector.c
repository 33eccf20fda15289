// SPDX-License-Identifier: GPL-2.0-only
/*
 * The native interface: vectors of commands are run, submitted, reaped and
 * cancelled.
 */
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "native.h"
#include "uaccess.h"

/* cdev_op.passed */
#define PASSED_DONE	BIT(0)		/* its result is there */
#define PASSED_IN	BIT(1)		/* its submitter has returned */

static struct ocf_command *vector_command_of(struct cdev_op *op)
{
	return (struct ocf_command *)op->user;
}

/* ---- one command ---- */

/*
 * @op is complete.  It passes to the task that waits for its result, or fetches
 * it.
 */
static void vector_finish(struct cdev_op *op)
{
	struct cdev_file *file = op->file;
	struct cdev_vector *v, *whole = NULL;
	struct io_uring_cmd *ioucmd = op->ioucmd;
	bool nobodys = false;

	spin_lock_bh(&file->ring_lock);
	list_del_init(&op->flight);
	v = op->vector;
	if (v) {
		list_move_tail(&op->node, &v->done);
		if (!--v->left) {
			if (v->ioucmd)
				whole = v;
			else
				complete(&v->whole);
		}
	} else if (!ioucmd) {
		nobodys = !op->lasting || !cdev_async_finish_locked(op);
	}
	spin_unlock_bh(&file->ring_lock);
	/* another task may have freed @op, except in the last two cases */
	if (whole)
		cdev_uring_vector_done(whole);
	else if (nobodys)
		cdev_op_put_deferred(op);
	else if (!v && ioucmd)
		cdev_uring_done(op);
}

static void command_done(struct ocf_request *req, int err)
{
	struct cdev_op *op = container_of(req, struct cdev_op, req);

	op->err = err;
	if (atomic_fetch_or(PASSED_DONE, &op->passed) & PASSED_IN)
		vector_finish(op);
}

static void public_done(struct ocf_pk_request *req, int err)
{
	struct cdev_op *op = req->cookie;

	cdev_public_done(op);
	command_done(&op->req, err);
}

/*
 * A vector keeps its session until it ends, even if another thread closes the
 * session.
 */
static void keep_session(struct cdev_vector *v, struct cdev_session *ses)
{
	if (v->ses == ses)
		return;
	if (v->ses)
		cdev_session_put(v->ses);
	v->ses = ses;
	if (ses)
		refcount_inc(&ses->refs);
}

/* A card has @op: another task may cancel it, and it may outlive the call. */
static int leave(struct cdev_op *op)
{
	struct cdev_file *file = op->file;
	struct cdev_vector *v = op->vector;

	cdev_op_let_loose(op);
	if (op->ses && ocf_has_cards())
		ocf_workers_start_wanted(op->req.workers);
	if (!op->mm) {
		op->mm = current->mm;
		mmgrab(op->mm);
		cdev_op_owe_self(op);
	}
	if (v && op->ses)
		keep_session(v, op->ses);
	spin_lock_bh(&file->ring_lock);
	list_add_tail(&op->flight, &file->flight);
	if (v) {
		list_add_tail(&op->node, &v->under_way);
		v->left++;
	}
	spin_unlock_bh(&file->ring_lock);
	if (!(atomic_fetch_or(PASSED_IN, &op->passed) & PASSED_DONE))
		return -EINPROGRESS;
	if (op->ioucmd && op->ses && op->ses->ordered) {
		/*
		 * to keep the order: the result of an earlier command may still
		 * be on its way to the task
		 */
		vector_finish(op);
		return -EINPROGRESS;
	}
	spin_lock_bh(&file->ring_lock);
	list_del_init(&op->flight);
	if (v) {
		list_del(&op->node);
		v->left--;
	}
	spin_unlock_bh(&file->ring_lock);
	return 0;
}

/**
 * cdev_command_get() - start an operation for a command
 * @file: the file
 * @ioucmd: the io_uring command it came with, or NULL
 *
 * Context: process; may sleep.
 * Return: the operation, or NULL.
 */
struct cdev_op *cdev_command_get(struct cdev_file *file,
				 struct io_uring_cmd *ioucmd)
{
	struct cdev_op *op = cdev_op_get(file);

	if (op) {
		op->vector = NULL;
		op->ioucmd = ioucmd;
		/*
		 * io_uring may handle an operation only long after it has ended
		 */
		op->lasting = ioucmd;
		op->pins_last = ioucmd;
		INIT_LIST_HEAD(&op->flight);
		refcount_set(&op->held, 1);
		atomic_set(&op->passed, 0);
	}
	return op;
}

static void run_done(struct ocf_request *req, int err)
{
	struct cdev_op *op = container_of(req, struct cdev_op, req);

	op->err = err;
	/* fully ordered before wake_up_var() looks for a waiter */
	atomic_fetch_or(PASSED_DONE, &op->passed);
	wake_up_var(&op->passed);
}

static bool is_done(struct cdev_op *op)
{
	return atomic_read_acquire(&op->passed) & PASSED_DONE;
}

/*
 * Runs a part of a digest in the call; software does it, because it is short.
 */
static int run(struct cdev_op *op)
{
	int err;

	op->req.done = run_done;
	op->req.flags |= OCF_REQ_MAY_SLEEP | OCF_REQ_INLINE;
	err = ocf_submit(&op->req);
	if (err != -EINPROGRESS)
		return err ?: op->err;
	if (wait_var_event_killable(&op->passed, is_done(op))) {
		/* its context is being made, or the CPU is doing it */
		ocf_cancel(&op->req);
		wait_var_event(&op->passed, is_done(op));
	}
	return op->err;
}

/*
 * A part of a digest works on a copy of the state, so a part that fails leaves
 * the session unchanged.
 */
static int vector_run_part(struct cdev_op *op)
{
	struct cdev_session *ses = op->ses;
	u32 flags = vector_command_of(op)->flags;
	int err;

	lockdep_assert_held(&ses->parts);
	err = cdev_session_state(ses);
	if (err)
		return err;
	if (flags & OCF_COMMAND_CONTINUE) {
		if (!ses->begun)
			return -EINVAL;
		op->req.flags |= OCF_REQ_CONTINUE;
	}
	if (flags & OCF_COMMAND_MORE)
		op->req.flags |= OCF_REQ_UPDATE;
	memcpy(op->state, ses->state, OCF_STATE_MAX);
	op->req.state = op->state;
	err = run(op);
	if (!err) {
		ses->begun = flags & OCF_COMMAND_MORE;
		if (ses->begun)
			memcpy(ses->state, op->state, OCF_STATE_MAX);
		else
			memzero_explicit(ses->state, OCF_STATE_MAX);
	}
	memzero_explicit(op->state, OCF_STATE_MAX);
	return err;
}

/* Only software does parts, and does them in the call. */
static int submit_part(struct cdev_op *op)
{
	struct cdev_session *ses = op->ses;
	int err;

	/* io_uring may submit thousands of entries in a call */
	if (fatal_signal_pending(current))
		return -EINTR;
	err = mutex_lock_killable(&ses->parts);
	if (err)
		return err;
	op->err = vector_run_part(op);
	atomic_set(&op->passed, 0);
	mutex_unlock(&ses->parts);
	return 0;
}

static int submit_public(struct cdev_op *op)
{
	int err;

	if (op->vector && op->vector->count == 1 && !op->ioucmd) {
		/* in the caller's own time */
		op->err = cdev_public_run(op);
		return 0;
	}
	err = cdev_public_submit(op, public_done);
	return err ?: leave(op);
}

/**
 * cdev_command_special() - submit a public-key command or a part of a digest
 * @op: the operation, prepared
 *
 * Context: process; may sleep.
 * Return: as cdev_command_submit().
 */
int cdev_command_special(struct cdev_op *op)
{
	return op->public ? submit_public(op) : submit_part(op);
}

static __always_inline int submit_command(struct cdev_op *op, u32 flags)
{
	int err;

	op->req.done = command_done;
	if (flags & OCF_REQ_OFFLOAD)
		flags = cdev_op_offload(op, flags);
	else
		cdev_op_name_workers(op);
	op->req.flags |= flags | OCF_REQ_MAY_SLEEP | OCF_REQ_INLINE;
	err = ocf_submit(&op->req);
	return err == -EINPROGRESS ? leave(op) : err;
}

/**
 * cdev_command_submit() - submit an operation
 * @op: the operation, prepared
 * @flags: OCF_REQ_*, besides
 *
 * Context: process; may sleep.
 * Return: 0: it is complete, with op->err; -EINPROGRESS: the caller does not
 * own it any more; or an error of ocf_submit().
 */
int cdev_command_submit(struct cdev_op *op, u32 flags)
{
	return submit_command(op, flags);
}

/**
 * cdev_command_end() - free an operation that has ended
 * @op: the operation
 *
 * Context: process; may sleep; the file is open.
 */
void cdev_command_end(struct cdev_op *op)
{
	/* a task that cancels it may still have a reference */
	if (refcount_dec_and_test(&op->held))
		cdev_op_put(op);
}

/* ---- cancelling ---- */

/* Takes a reference to @op for its cancellation.  False: it is too late. */
static bool take(struct cdev_op *op)
{
	lockdep_assert_held(&op->file->ring_lock);
	if (op->cancelled || list_empty(&op->flight))
		return false;
	op->cancelled = true;
	refcount_inc(&op->held);
	return true;
}

static bool give_up(struct cdev_op *op)
{
	bool cancelled = true;

	if (op->public)
		cdev_public_cancel(op);
	else
		cancelled = ocf_cancel(&op->req);
	cdev_command_end(op);
	return cancelled;
}

/**
 * cdev_command_cancel() - cancel the operation of an io_uring entry
 * @file: the file of the operation
 * @opp: the operation, which may have ended; NULL once it is freed
 *
 * Context: process; may sleep.
 * Return: whether it was in flight, and not cancelled before.
 */
bool cdev_command_cancel(struct cdev_file *file, struct cdev_op **opp)
{
	struct cdev_op *op;
	bool taken;

	spin_lock_bh(&file->ring_lock);
	op = *opp;
	taken = op && take(op);
	spin_unlock_bh(&file->ring_lock);
	if (taken)
		give_up(op);
	return taken;
}

/* An operation in flight that was not cancelled, or NULL */
static struct cdev_op *next_of(struct cdev_file *file, struct cdev_vector **vp)
{
	struct cdev_op *op, *found = NULL;

	spin_lock_bh(&file->ring_lock);
	if (*vp)
		list_for_each_entry(op, &(*vp)->under_way, node)
			if (take(op)) {
				found = op;
				break;
			}
	spin_unlock_bh(&file->ring_lock);
	return found;
}

/* Cancels a vector.  Return: whether any of its operations was in flight. */
bool cdev_vector_cancel(struct cdev_file *file, struct cdev_vector **vp)
{
	struct cdev_op *op;
	bool any = false;

	while ((op = next_of(file, vp))) {
		give_up(op);
		any = true;
	}
	return any;
}

/* How many operations are looked at before BH is enabled again. */
#define LOOK_MAX	64

/* Whether the calling process has submitted @op, but not by OCF_RUN */
static bool is_meant(struct cdev_op *op, u64 cookie)
{
	return vector_command_of(op)->cookie == cookie && op->lasting &&
	       op->mm == current->mm;
}

/* Looks at some operations of @left.  Return: how many it has cancelled. */
static int cancel_some(struct cdev_file *file, struct list_head *left,
		       u64 cookie)
{
	struct cdev_op *op, *next, *taken = NULL;
	int i, n = 0;

	spin_lock_bh(&file->ring_lock);
	for (i = 0; i < LOOK_MAX && !list_empty(left); i++) {
		op = list_first_entry(left, struct cdev_op, flight);
		list_move_tail(&op->flight, &file->flight);
		if (is_meant(op, cookie) && take(op)) {
			op->next = taken;
			taken = op;
		}
	}
	spin_unlock_bh(&file->ring_lock);
	for (op = taken; op; op = next) {
		next = op->next;
		n += give_up(op);
	}
	return n;
}

/**
 * cdev_cookie_cancel() - cancel commands of the calling process
 * @file: the file
 * @cookie: their cookie
 *
 * Context: process; may sleep.
 * Return: how many, -ENOENT, or -EINTR.
 */
int cdev_cookie_cancel(struct cdev_file *file, u64 cookie)
{
	LIST_HEAD(left);
	int n = 0;

	/* no other task finds the operations in @left */
	if (mutex_lock_killable(&file->cancel))
		return -EINTR;
	spin_lock_bh(&file->ring_lock);
	list_splice_init(&file->flight, &left);
	spin_unlock_bh(&file->ring_lock);
	while (!list_empty_careful(&left)) {
		n += cancel_some(file, &left, cookie);
		cond_resched();
	}
	mutex_unlock(&file->cancel);
	return n ?: -ENOENT;
}

/* ---- vectors ---- */

/**
 * cdev_vector_read() - read a vector, once
 * @v: is filled in
 * @file: its file
 * @given: the program's structure
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int cdev_vector_read(struct cdev_vector *v, struct cdev_file *file,
		     const struct ocf_vector *given)
{
	if (!given->count || given->count > OCF_VECTOR_MAX || given->flags)
		return -EINVAL;
	*v = (struct cdev_vector){
		.file = file, .count = given->count, .left = 1,
		.commands = u64_to_user_ptr(given->commands),
		.results = u64_to_user_ptr(given->results),
	};
	INIT_LIST_HEAD(&v->under_way);
	INIT_LIST_HEAD(&v->done);
	init_completion(&v->whole);
	return 0;
}

/* Of @op, which has ended with @res */
static __always_inline void fill_result(struct ocf_result *r,
					struct cdev_op *op, int res)
{
	r->cookie = vector_command_of(op)->cookie;
	r->res = res;
	r->wrong = OCF_FIELD_NONE;
	if (unlikely(res < 0))
		r->wrong = cdev_command_wrong(op, res);
}

/* @op: it has ended, with @res; NULL: there was no memory for it. */
static __always_inline void put_result(struct cdev_vector *v, u32 i,
				       struct cdev_op *op, int res)
{
	struct ocf_result r = { .res = res };

	if (likely(op))
		fill_result(&r, op, res);
	if (cdev_copy_out(v->results + i, &r, sizeof(r)))
		v->err = -EFAULT;
}

/*
 * Works like cdev_copy_in(), without its loops.  A command that cannot be read
 * gets the cookie 0.
 */
static int read_command(struct cdev_op *op,
			const struct ocf_command __user *from)
{
	const u64 __user *in = (const u64 __user *)from;
	u64 *to = (u64 *)op->user;
	int i;

	static_assert(sizeof(op->user) == 10 * sizeof(*to));
	static_assert(!offsetof(struct ocf_command, cookie));
	if (!user_read_access_begin(from, sizeof(op->user)))
		goto none;
#pragma GCC unroll 10
	for (i = 0; i < 10; i++)
		unsafe_get_user(to[i], &in[i], fault);
	user_read_access_end();
	return 0;
fault:
	user_read_access_end();
none:
	to[0] = 0;
	return -EFAULT;
}

static struct cdev_op *get_for(struct cdev_vector *v)
{
	struct cdev_op *op = cdev_command_get(v->file, v->ioucmd);

	if (op) {
		op->vector = v;
		/*
		 * its pages may stay pinned until the vector's last command is
		 * delivered
		 */
		op->pins_last |= v->count > 1;
	}
	return op;
}

/* Starts the command with index @i; @behind more commands follow it. */
static int start_one(struct cdev_vector *v, struct cdev_op *op, u32 i,
		     u32 behind, u32 flags)
{
	int err;

	err = read_command(op, v->commands + i) ?: cdev_command_prepare(op);
	if (err < 0)
		return err;
	op->req.behind = behind;
	if (unlikely(err))
		return cdev_command_special(op);
	return submit_command(op, flags);
}

/*
 * Returns @op, which has ended, for the next command; or puts it and returns
 * NULL.  @op keeps its session: see keep_session().
 */
static struct cdev_op *again(struct cdev_op *op)
{
	if (unlikely(op->loose)) {
		cdev_command_end(op);
		return NULL;
	}
	cdev_buffers_free(op);
	if (op->charged)
		cdev_op_uncharge(op);
	atomic_set(&op->passed, 0);
	return op;
}

/**
 * cdev_vector_start() - submit all commands of a vector
 * @v: the vector
 * @flags: OCF_REQ_*, besides
 *
 * Commands that complete in the call are delivered in the call.
 *
 * Context: process; may sleep.
 * Return: whether all are complete; else operations in flight use @v.
 */
bool cdev_vector_start(struct cdev_vector *v, u32 flags)
{
	struct cdev_file *file = v->file;
	struct cdev_op *op = NULL;
	u32 i, left = v->count;
	bool all;
	int err;

	for (i = 0; left && !fatal_signal_pending(current); i++) {
		left--;
		op = op ?: get_for(v);
		if (!op) {
			put_result(v, i, NULL, -ENOMEM);
			continue;
		}
		err = start_one(v, op, i, left, flags);
		if (err == -EINPROGRESS) {
			op = NULL;
			continue;
		}
		put_result(v, i, op, err ?: cdev_command_deliver(op));
		op = again(op);
	}
	if (op)
		cdev_command_end(op);
	if (left)
		v->err = -EINTR;
	keep_session(v, NULL);
	spin_lock_bh(&file->ring_lock);
	all = !--v->left;
	spin_unlock_bh(&file->ring_lock);
	return all;
}

/**
 * cdev_vector_deliver() - deliver the results that came after the submission
 * @v: the vector; none of its operations is in flight
 *
 * Context: process; may sleep.  A process with other memory than the
 * submitter's gets no results.
 */
void cdev_vector_deliver(struct cdev_vector *v)
{
	struct cdev_op *op, *next;

	list_for_each_entry_safe(op, next, &v->done, node) {
		if (current->mm == op->mm)
			put_result(v, v->count - 1 - op->req.behind, op,
				   cdev_command_deliver(op));
		else
			v->err = -ECANCELED;
		cdev_command_end(op);
	}
}

/* ---- OCF_RUN ---- */

/*
 * The caller is being killed: operations in flight are freed when they
 * complete.
 */
static void abandon(struct cdev_vector *v)
{
	struct cdev_op *op, *next;

	cdev_vector_cancel(v->file, &v);
	spin_lock_bh(&v->file->ring_lock);
	list_for_each_entry_safe(op, next, &v->under_way, node) {
		op->vector = NULL;
		list_del(&op->node);
	}
	spin_unlock_bh(&v->file->ring_lock);
	list_for_each_entry_safe(op, next, &v->done, node)
		cdev_command_end(op);
}

long cdev_vector_run(struct cdev_file *file, void __user *arg)
{
	struct ocf_vector given;
	struct cdev_vector v;
	int err;

	if (copy_from_user(&given, arg, sizeof(given)))
		return -EFAULT;
	err = cdev_vector_read(&v, file, &given);
	if (err)
		return err;
	if (!cdev_vector_start(&v, 0)) {
		if (wait_for_completion_killable(&v.whole)) {
			abandon(&v);
			return -EINTR;
		}
		/* wait until the completion of the last one has left @v */
		spin_lock_bh(&file->ring_lock);
		spin_unlock_bh(&file->ring_lock);
	}
	cdev_vector_deliver(&v);
	return v.err;
}

/* ---- OCF_SUBMIT, OCF_REAP ---- */

static int submit_one(struct cdev_op *op, struct ocf_command __user *from)
{
	struct cdev_file *file = op->file;
	int err, special;

	op->lasting = true;
	op->pins_last = true;
	err = read_command(op, from) ?: cdev_command_prepare(op);
	if (err < 0)
		return err;
	special = err;
	err = cdev_async_reserve(op);
	if (err)
		return err;
	err = special ? cdev_command_special(op) :
			cdev_command_submit(op, OCF_REQ_OFFLOAD);
	if (!err)
		cdev_async_done(op, op->err);
	else if (err != -EINPROGRESS)
		cdev_async_unreserve(file, 1);
	return err == -EINPROGRESS ? 0 : err;
}

long cdev_vector_submit(struct cdev_file *file, void __user *arg)
{
	struct ocf_vector given;
	struct cdev_vector v;
	struct cdev_op *op;
	long n = 0;
	int err;

	if (copy_from_user(&given, arg, sizeof(given)))
		return -EFAULT;
	if (given.results)
		return -EINVAL;
	err = cdev_vector_read(&v, file, &given);
	while (!err && n < v.count) {
		op = cdev_command_get(file, NULL);
		err = op ? submit_one(op, v.commands + n) : -ENOMEM;
		if (!err)
			n++;
		else if (op)
			cdev_command_end(op);
	}
	return n ?: err;
}

/* Delivers @ops, which end here; returns whether @to could be written. */
static bool deliver_all(struct list_head *ops, struct ocf_result __user *to)
{
	struct cdev_op *op, *next;
	struct ocf_result r;
	bool good = true;

	list_for_each_entry_safe(op, next, ops, node) {
		fill_result(&r, op, cdev_command_deliver(op));
		cdev_command_end(op);
		good = good && !cdev_copy_out(to, &r, sizeof(r));
		to++;
	}
	return good;
}

long cdev_vector_reap(struct cdev_file *file, void __user *arg)
{
	struct ocf_result __user *to;
	struct ocf_reap given;
	struct list_head ops;
	u32 n, room;

	if (copy_from_user(&given, arg, sizeof(given)))
		return -EFAULT;
	if (given.flags)
		return -EINVAL;
	to = u64_to_user_ptr(given.results);
	room = min_t(u32, given.count, OCF_COMMANDS_MAX);
	/* fetched results cannot be put back */
	if (fault_in_safe_writeable((void __user *)to, room * sizeof(*to)))
		return -EFAULT;
	n = cdev_async_fetch(file, CDEV_ABI_NATIVE, room, &ops);
	return deliver_all(&ops, to) ? n : -EFAULT;
}
