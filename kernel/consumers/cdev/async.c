// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous operations: submitted, and fetched when they are complete.
 *
 * An open file has room for CDEV_RING operations, from submission until they
 * are fetched.  Results are copied to the memory of the task that fetches, so
 * only the process that submitted an operation may fetch it.
 */
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>

#include "native.h"

/* Only native commands may be without a session. */
static enum ocf_abi abi_of(const struct cdev_op *op)
{
	return op->ses ? op->ses->abi : CDEV_ABI_NATIVE;
}

/*
 * Worker threads share the process's memory, so mm_users alone does not tell
 * that the process has ended.
 */
static bool is_orphan(const struct cdev_op *op)
{
	return !atomic_read(&op->mm->mm_users) ||
	       (op->has_workers && ocf_workers_ended(op->req.workers));
}

/*
 * Frees operations that no task will fetch, because the process that submitted
 * them has ended or executes another program.
 */
static void reap(struct cdev_file *file)
{
	struct cdev_op *op, *next;
	LIST_HEAD(orphans);

	spin_lock_bh(&file->ring_lock);
	list_for_each_entry_safe(op, next, &file->done, node)
		if (is_orphan(op)) {
			list_move_tail(&op->node, &orphans);
			atomic_dec(&file->unfetched);
		}
	spin_unlock_bh(&file->ring_lock);
	list_for_each_entry_safe(op, next, &orphans, node)
		cdev_op_put(op);
}

static bool is_full(const struct cdev_file *file, unsigned int room)
{
	return atomic_read(&file->unfetched) >= room;
}

static int take_place(struct cdev_file *file, unsigned int room)
{
	int old;

	if (unlikely(is_full(file, room)))
		reap(file);

	old = atomic_read(&file->unfetched);
	do {
		if (old >= room)
			return -EBUSY;
	} while (!atomic_try_cmpxchg(&file->unfetched, &old, old + 1));
	return 0;
}

/*
 * A polling task joins the wait queue before it looks for results, so it misses
 * no wake-up.
 */
static void tell(struct cdev_file *file, __poll_t news)
{
	if (wq_has_sleeper(&file->wait))
		wake_up_interruptible_poll(&file->wait, news);
}

/**
 * cdev_async_reserve() - reserve a place in the ring for an operation
 * @op: the operation; takes a reference to the calling process's memory
 *
 * Context: process.
 * Return: 0; -EBUSY if the ring is full; -EDQUOT.
 */
int cdev_async_reserve(struct cdev_op *op)
{
	int err = cdev_op_charge_self(op);

	if (unlikely(err)) {
		reap(op->file);
		err = cdev_op_charge_self(op);
	}
	if (err)
		return err;
	op->mm = current->mm;
	mmgrab(op->mm);
	return take_place(op->file, abi_of(op) == CDEV_ABI_NATIVE ?
					    OCF_COMMANDS_MAX : CDEV_RING);
}

/**
 * cdev_async_unreserve() - return places in the ring
 * @file: the file
 * @n: how many
 *
 * Context: any.
 */
void cdev_async_unreserve(struct cdev_file *file, unsigned int n)
{
	atomic_sub(n, &file->unfetched);
	tell(file, EPOLLOUT | EPOLLWRNORM);
}

/**
 * cdev_async_finish_locked() - end an operation that has a place in the ring
 * @op: the operation; op->err is set
 *
 * When the lock is released, another task may fetch the operation, and put the
 * file.
 *
 * Context: under ring_lock.
 * Return: false if no task will fetch it; the caller frees it then.
 */
bool cdev_async_finish_locked(struct cdev_op *op)
{
	struct cdev_file *file = op->file;

	lockdep_assert_held(&file->ring_lock);
	if (file->closed)
		return false;
	if (unlikely(is_orphan(op))) {
		cdev_async_unreserve(file, 1);
		return false;
	}
	list_add_tail(&op->node, &file->done);
	tell(file, EPOLLIN | EPOLLRDNORM);
	if (file->eventfd && abi_of(op) == CDEV_ABI_NATIVE)
		eventfd_signal(file->eventfd);
	return true;
}

static void async_finish(struct cdev_op *op)
{
	struct cdev_file *file = op->file;
	bool fetched;

	spin_lock_bh(&file->ring_lock);
	fetched = cdev_async_finish_locked(op);
	spin_unlock_bh(&file->ring_lock);
	if (!fetched)
		cdev_op_put_deferred(op);
}

static void async_done(struct ocf_request *req, int err)
{
	struct cdev_op *op = container_of(req, struct cdev_op, req);

	cdev_iv_leave(op, err);
	op->err = err;
	async_finish(op);
}

/**
 * cdev_async_submit() - submit an operation
 * @op: the operation
 *
 * Context: process; may sleep.
 * Return: 0, and @op does not belong to the caller any more; -EBUSY if the ring
 * is full; -EDQUOT; what ocf_submit() says.
 */
int cdev_async_submit(struct cdev_op *op)
{
	struct cdev_session *ses = op->ses;
	struct cdev_file *file = op->file;
	int err;

	err = cdev_async_reserve(op);
	if (err)
		return err;
	/* another thread may fetch @op and end the session before we return */
	refcount_inc(&ses->refs);
	cdev_op_let_loose(op);
	op->req.done = async_done;
	op->req.flags |= OCF_REQ_MAY_SLEEP | OCF_REQ_INLINE |
			 cdev_op_offload(op, OCF_REQ_OFFLOAD);
	err = ocf_submit(&op->req);
	if (err == -EINPROGRESS) {
		cdev_session_start_wanted(ses);
		err = 0;
	}
	if (err)
		cdev_async_unreserve(file, 1);
	cdev_session_put(ses);
	return err;
}

/**
 * cdev_async_done() - make a finished operation available to fetch
 * @op: the operation, which has a place; does not belong to the caller any more
 * @err: its result
 *
 * Context: process; may sleep.
 */
void cdev_async_done(struct cdev_op *op, int err)
{
	if (!op->loose)
		cdev_op_let_loose(op);
	op->err = err;
	async_finish(op);
}

/* Whether the calling process has submitted @op, by this interface */
static bool is_own(const struct cdev_op *op, enum ocf_abi abi)
{
	return op->mm == current->mm &&
	       (abi == CDEV_ABI_ANY || abi_of(op) == abi);
}

/* Returns whether @file has a result of the calling process. */
static bool any_own(const struct cdev_file *file)
{
	const struct cdev_op *op;

	lockdep_assert_held(&file->ring_lock);
	list_for_each_entry(op, &file->done, node)
		if (is_own(op, CDEV_ABI_ANY))
			return true;
	return false;
}

/**
 * cdev_async_fetch() - take finished operations
 * @file: the file
 * @abi: only those of this interface
 * @room: at most this many
 * @ops: becomes the list of them, the oldest first
 *
 * Context: process.
 * Return: how many were taken, all submitted by the calling process.
 */
unsigned int cdev_async_fetch(struct cdev_file *file, enum ocf_abi abi,
			      unsigned int room, struct list_head *ops)
{
	struct list_head *pos, *next;
	unsigned int n = 0;
	LIST_HEAD(others);

	spin_lock_bh(&file->ring_lock);
	list_for_each_safe(pos, next, &file->done) {
		if (n == room)
			break;
		if (is_own(list_entry(pos, struct cdev_op, node), abi))
			n++;
		else
			list_move_tail(pos, &others);
	}
	/* the part of the list before @pos stays */
	list_cut_before(ops, &file->done, pos);
	list_splice(&others, &file->done);
	spin_unlock_bh(&file->ring_lock);
	if (n)
		cdev_async_unreserve(file, n);
	return n;
}

/* A process is only woken for results that it may fetch. */
__poll_t cdev_async_poll(struct cdev_file *file, struct file *filp,
			 struct poll_table_struct *table)
{
	__poll_t mask = 0;

	poll_wait(filp, &file->wait, table);
	/* pairs with wq_has_sleeper() */
	smp_mb();
	if (is_full(file, CDEV_RING))
		reap(file);
	spin_lock_bh(&file->ring_lock);
	if (any_own(file))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (!is_full(file, CDEV_RING))
		mask |= EPOLLOUT | EPOLLWRNORM;
	spin_unlock_bh(&file->ring_lock);
	return mask;
}

/* If the process ends, its threads have finished their work. */
static void settle(struct cdev_file *file)
{
	struct ocf_workers *w;

	if (likely(!(current->flags & PF_EXITING)))
		return;
	spin_lock_bh(&file->ring_lock);
	w = file->workers;
	file->workers = NULL;
	spin_unlock_bh(&file->ring_lock);
	if (w)
		ocf_workers_settle(w);
	ocf_workers_put(w);
}

/*
 * A process has closed a descriptor, or has ended.  Frees results that it will
 * not fetch, with their pages and their places in the ring.
 */
void cdev_async_flush(struct cdev_file *file)
{
	settle(file);
	if (!atomic_read(&file->unfetched))
		return;
	reap(file);
	tell(file, EPOLLOUT | EPOLLWRNORM);
}

/**
 * cdev_async_close() - free the results that no task will fetch
 * @file: the file
 *
 * Operations in flight are freed when they complete.
 *
 * Context: process; may sleep.
 */
void cdev_async_close(struct cdev_file *file)
{
	struct cdev_op *op, *next;
	LIST_HEAD(done);

	spin_lock_bh(&file->ring_lock);
	file->closed = true;
	list_splice_init(&file->done, &done);
	spin_unlock_bh(&file->ring_lock);
	list_for_each_entry_safe(op, next, &done, node)
		cdev_op_put(op);
}
