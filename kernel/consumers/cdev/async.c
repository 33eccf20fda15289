// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous operations: handed in, and fetched when they are done.
 *
 * An open file has room for CDEV_RING of them, from handing in to fetching.
 * Results that are copied go to the memory of who fetches, so only the
 * process that handed in may.
 */
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>

#include "native.h"

/* Only native commands may have no session. */
static enum ocf_abi abi_of(const struct cdev_op *op)
{
	return op->ses ? op->ses->abi : CDEV_ABI_NATIVE;
}

static bool is_orphan(const struct cdev_op *op)
{
	return !atomic_read(&op->mm->mm_users);
}

/*
 * Gives back the places of results that nobody will fetch: who handed them in
 * has ended, or has become another program.
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

/* Whoever polls looks after it has said that it waits. */
static void tell(struct cdev_file *file, __poll_t news)
{
	if (wq_has_sleeper(&file->wait))
		wake_up_interruptible_poll(&file->wait, news);
}

static void give_places(struct cdev_file *file, unsigned int n)
{
	atomic_sub(n, &file->unfetched);
	tell(file, EPOLLOUT | EPOLLWRNORM);
}

/**
 * cdev_async_reserve() - take a place in the ring for an operation
 * @op: the operation; remembers whose it is
 *
 * Context: process.
 * Return: 0; -EBUSY if the ring is full; -EDQUOT.
 */
int cdev_async_reserve(struct cdev_op *op)
{
	int err = cdev_op_charge_self(op, false);

	if (err)
		return err;
	op->mm = current->mm;
	mmgrab(op->mm);
	return take_place(op->file, abi_of(op) == CDEV_ABI_NATIVE ?
					    OCF_COMMANDS_MAX : CDEV_RING);
}

/**
 * cdev_async_unreserve() - give a place in the ring back
 * @file: whose ring it is
 *
 * Context: process.
 */
void cdev_async_unreserve(struct cdev_file *file)
{
	give_places(file, 1);
}

/**
 * cdev_async_finish_locked() - an operation with a place in the ring is done
 * @op: the operation; op->err is set
 *
 * It is the fetcher's as soon as the lock is released, and so is its hold on
 * the file.
 *
 * Context: under ring_lock.
 * Return: false if nobody will fetch it: it is the caller's, to be freed.
 */
bool cdev_async_finish_locked(struct cdev_op *op)
{
	struct cdev_file *file = op->file;
	__poll_t news = EPOLLIN | EPOLLRDNORM;

	lockdep_assert_held(&file->ring_lock);
	if (file->closed)
		return false;
	list_add_tail(&op->node, &file->done);
	/* whose place anybody may have */
	if (unlikely(is_orphan(op)))
		news |= EPOLLOUT | EPOLLWRNORM;
	tell(file, news);
	if (file->eventfd && abi_of(op) == CDEV_ABI_NATIVE)
		eventfd_signal(file->eventfd);
	return true;
}

static void finish(struct cdev_op *op)
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

	op->err = err;
	finish(op);
}

/**
 * cdev_async_submit() - hand an operation in
 * @op: the operation
 *
 * Context: process; may sleep.
 * Return: 0, and @op is not the caller's any more; -EBUSY if the ring is full;
 * -EDQUOT; what ocf_submit() says.
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
	op->req.flags |= OCF_REQ_MAY_SLEEP | OCF_REQ_INLINE | OCF_REQ_OFFLOAD;
	err = ocf_submit(&op->req);
	if (err == -EINPROGRESS)
		err = 0;
	if (err)
		cdev_async_unreserve(file);
	cdev_session_put(ses);
	return err;
}

/**
 * cdev_async_done() - put an operation that is done where it can be fetched
 * @op: the operation, which has a place; not the caller's any more
 * @err: its result
 *
 * Context: process; may sleep.
 */
void cdev_async_done(struct cdev_op *op, int err)
{
	if (!op->loose)
		cdev_op_let_loose(op);
	op->err = err;
	finish(op);
}

/* Whether the calling process has handed @op in, and so. */
static bool is_own(const struct cdev_op *op, enum ocf_abi abi)
{
	return op->mm == current->mm &&
	       (abi == CDEV_ABI_ANY || abi_of(op) == abi);
}

/* The oldest such in @file, or NULL */
static struct cdev_op *own_done(struct cdev_file *file, enum ocf_abi abi)
{
	struct cdev_op *op;

	lockdep_assert_held(&file->ring_lock);
	list_for_each_entry(op, &file->done, node)
		if (is_own(op, abi))
			return op;
	return NULL;
}

/**
 * cdev_async_fetch() - take an operation that is done
 * @file: of which file
 * @abi: of which interface
 *
 * Context: process.
 * Return: the oldest that the calling process has handed in, the caller's now,
 * or NULL if none is done.
 */
struct cdev_op *cdev_async_fetch(struct cdev_file *file, enum ocf_abi abi)
{
	struct cdev_op *op;

	spin_lock_bh(&file->ring_lock);
	op = own_done(file, abi);
	if (op)
		list_del(&op->node);
	spin_unlock_bh(&file->ring_lock);
	if (op)
		cdev_async_unreserve(file);
	return op;
}

/* As many as there are before another's; the oldest is own. */
static unsigned int cut_own(struct cdev_file *file, enum ocf_abi abi,
			    unsigned int room, struct list_head *ops)
{
	struct list_head *last = NULL;
	struct cdev_op *op;
	unsigned int n = 0;

	lockdep_assert_held(&file->ring_lock);
	list_for_each_entry(op, &file->done, node) {
		if (n == room || !is_own(op, abi))
			break;
		last = &op->node;
		n++;
	}
	if (n)
		list_cut_position(ops, &file->done, last);
	return n;
}

/**
 * cdev_async_fetch_many() - take operations that are done
 * @file: of which file
 * @abi: of which interface
 * @room: how many at most, not none
 * @ops: where to
 *
 * Context: process.
 * Return: how many, the oldest that the calling process has handed in, and the
 * caller's now; there may be more.
 */
unsigned int cdev_async_fetch_many(struct cdev_file *file, enum ocf_abi abi,
				   unsigned int room, struct list_head *ops)
{
	struct cdev_op *op;
	unsigned int n;

	INIT_LIST_HEAD(ops);
	spin_lock_bh(&file->ring_lock);
	n = cut_own(file, abi, room, ops);
	op = n ? NULL : own_done(file, abi);
	if (op)
		list_move(&op->node, ops);
	spin_unlock_bh(&file->ring_lock);
	n += !!op;
	if (n)
		give_places(file, n);
	return n;
}

/* Who polls is told of what it may fetch, not of what others may. */
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
	if (own_done(file, CDEV_ABI_ANY))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (!is_full(file, CDEV_RING))
		mask |= EPOLLOUT | EPOLLWRNORM;
	spin_unlock_bh(&file->ring_lock);
	return mask;
}

/*
 * A process has closed a descriptor, or has ended: places of what it will not
 * fetch are free.
 */
void cdev_async_flush(struct cdev_file *file)
{
	if (is_full(file, CDEV_RING))
		wake_up_interruptible_poll(&file->wait,
					   EPOLLOUT | EPOLLWRNORM);
}

/**
 * cdev_async_close() - nobody will fetch any more
 * @file: the file
 *
 * What is under way is freed when it is done.
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
