// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations: a request with its buffers.
 *
 * The caller owns the operation.  If it is killed while it waits, the
 * completion owns the operation, and a worker frees it, because pages cannot be
 * unpinned and sessions cannot be closed in BH.
 */
#include <linux/mm.h>
#include <linux/ocf_pk.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#include "cdev.h"

static struct workqueue_struct *ops_wq;

/*
 * Operations that may outlive the call that started them: asynchronous ones,
 * and those whose caller was killed.  A killed caller counts its operation
 * after ocf_run() has returned -EINTR, perhaps after the operation was freed.
 * The file is still open then, so the module stays.
 */
static atomic_t ops_loose = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(ops_gone);

int cdev_ops_init(void)
{
	ops_wq = alloc_workqueue("ocf_cdev", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return ops_wq ? 0 : -ENOMEM;
}

/* No file is open any more, but abandoned operations may be in flight. */
void cdev_ops_drain(void)
{
	wait_event(ops_gone, !atomic_read(&ops_loose));
	destroy_workqueue(ops_wq);
	ocf_pk_flush();
	/*
	 * the completion of the last operation has woken its waiter, but may
	 * still be running
	 */
	synchronize_rcu();
	rcu_barrier();
}

static void op_free(struct cdev_op *op)
{
	if (op)
		kfree_sensitive(op);
}

/*
 * An abandoned operation does not hold its file, but its session holds the
 * user.  An operation without a session is loose, and holds its file.
 */
static struct cdev_user *payer_of(const struct cdev_op *op)
{
	return op->ses ? op->ses->user : op->file->user;
}

/* Frees what @op holds, except its session and its own memory. */
static void op_release(struct cdev_op *op)
{
	cdev_buffers_free(op);
	if (op->charged)
		cdev_op_uncharge(op);
	if (op->mm) {
		mmdrop(op->mm);
		op->mm = NULL;
	}
}

/* Takes the memory of @op itself off the user's charge. */
static void pay_back(struct cdev_op *op, struct cdev_user *user)
{
	if (!op->paid)
		return;
	cdev_user_sub_bytes(user, sizeof(*op));
	op->charged -= sizeof(*op);
	op->paid = false;
}

static void tie_up(struct cdev_op *op)
{
	if (op->loose)
		cdev_file_put(op->file);
	if (atomic_dec_and_test(&ops_loose))
		wake_up(&ops_gone);
}

static void op_put_work(struct work_struct *work)
{
	struct cdev_op *op = container_of(work, struct cdev_op, work);

	op_release(op);
	pay_back(op, payer_of(op));
	if (op->ses)
		cdev_session_put(op->ses);
	tie_up(op);
	op_free(op);
}

/**
 * cdev_op_put_deferred() - free an operation in a context that must not sleep
 * @op: the operation
 *
 * Context: process or BH.
 */
void cdev_op_put_deferred(struct cdev_op *op)
{
	INIT_WORK(&op->work, op_put_work);
	queue_work(ops_wq, &op->work);
}

/*
 * Keeps @op for a later call: clearing a new one costs as much as all other
 * work for an operation.
 */
static noinline void put_aside(struct cdev_file *file, struct cdev_op *op)
{
	bool kept = false;

	/* spare operations must not use up the user's limit */
	if (cdev_user_has_plenty(file->user) &&
	    !cdev_op_charge_self(op)) {
		spin_lock_bh(&file->ring_lock);
		kept = file->nspares < CDEV_SPARES;
		if (kept) {
			op->next = file->spares;
			file->spares = op;
			file->nspares++;
		}
		spin_unlock_bh(&file->ring_lock);
	}
	if (kept)
		return;
	pay_back(op, file->user);
	op_free(op);
}

static noinline struct cdev_op *take_spare(struct cdev_file *file)
{
	struct cdev_op *op;

	if (!READ_ONCE(file->nspares))
		return NULL;
	spin_lock_bh(&file->ring_lock);
	op = file->spares;
	if (op) {
		file->spares = op->next;
		file->nspares--;
	}
	spin_unlock_bh(&file->ring_lock);
	return op;
}

/* The spare operation is charged to no user. */
static bool put_at_hand(struct cdev_file *file, struct cdev_op *op)
{
	if (READ_ONCE(file->spare))
		return false;
	pay_back(op, file->user);
	return !cmpxchg(&file->spare, NULL, op);
}

/**
 * cdev_op_put() - free an operation
 * @op: the operation, or NULL
 *
 * Context: process; may sleep; the file is open.
 */
void cdev_op_put(struct cdev_op *op)
{
	struct cdev_file *file;

	if (!op)
		return;
	file = op->file;
	op_release(op);
	if (op->ses)
		cdev_session_put(op->ses);
	op->ses = NULL;
	if (op->loose)
		tie_up(op);
	if (!put_at_hand(file, op))
		put_aside(file, op);
}

/**
 * cdev_op_let_loose() - allow an operation to outlive the call that starts it
 * @op: the operation; holds the file from here on
 *
 * Context: process.
 */
void cdev_op_let_loose(struct cdev_op *op)
{
	kref_get(&op->file->ref);
	op->loose = true;
	atomic_inc(&ops_loose);
}

/* Has @file keep the threads of a process, for later operations. */
static noinline void keep_workers(struct cdev_file *file)
{
	struct ocf_workers *w = ocf_workers_get(), *old;

	spin_lock_bh(&file->ring_lock);
	old = file->workers;
	file->workers = w;
	spin_unlock_bh(&file->ring_lock);
	ocf_workers_put(old);
}

/* Uses the threads of the calling process for @op. */
static void hold_workers(struct cdev_op *op)
{
	if (op->has_workers)
		return;
	op->req.workers = ocf_workers_get();
	op->has_workers = op->req.workers;
	/*
	 * charged, because cdev_op_uncharge() puts the workers, and is called
	 * only for operations that are charged
	 */
	cdev_op_owe_self(op);
}

/* The file keeps these threads; here their address is only compared. */
static void keep_workers_of(struct cdev_op *op)
{
	if (unlikely(READ_ONCE(op->file->workers) != op->req.workers))
		keep_workers(op->file);
}

/**
 * cdev_op_use_workers() - let threads of the calling process do an operation's
 * long work
 * @op: the operation, set, and not begun
 *
 * Context: process; may sleep.
 */
void cdev_op_use_workers(struct cdev_op *op)
{
	hold_workers(op);
	ocf_workers_start(op->req.workers);
	keep_workers_of(op);
}

/*
 * See cdev_op_name_workers().  If the threads belong to the session, they live
 * longer than the operation, which then takes no reference.
 */
void cdev_op_lend_workers(struct cdev_op *op)
{
	struct ocf_workers *w = cdev_session_workers(op->ses);

	if (w)
		op->req.workers = w;
	else
		hold_workers(op);
	keep_workers_of(op);
}

/*
 * Whether using a worker would take longer than doing the work in the call.
 * The sum does not overflow: a request has at most OCF_REQUEST_MAX bytes.
 */
static bool is_small(const struct ocf_request *req)
{
	return req->data.len + req->auth.len + req->dst_len <= CDEV_INLINE;
}

/**
 * cdev_op_offload() - cdev_op_use_workers(), if the operation is long enough
 * @op: the operation, set, and not begun
 * @flags: of its request, with OCF_REQ_OFFLOAD
 *
 * Context: process; may sleep.
 * Return: @flags, without OCF_REQ_OFFLOAD if a worker for it would take longer.
 */
u32 cdev_op_offload(struct cdev_op *op, u32 flags)
{
	if (is_small(&op->req)) {
		cdev_op_name_workers(op);
		return flags & ~OCF_REQ_OFFLOAD;
	}
	cdev_op_use_workers(op);
	return flags;
}

/* The file is being closed. */
void cdev_op_drop_spare(struct cdev_file *file)
{
	struct cdev_op *op;

	op_free(file->spare);
	while ((op = take_spare(file))) {
		pay_back(op, file->user);
		op_free(op);
	}
}

/* Only after a kill: see cdev_op_run() */
static void op_abandoned(struct ocf_request *req, int err)
{
	struct cdev_op *op = container_of(req, struct cdev_op, req);

	cdev_iv_leave(op, err);
	cdev_op_put_deferred(op);
}

static struct cdev_op *op_alloc(void)
{
	struct cdev_op *op = kzalloc(sizeof(*op), GFP_KERNEL_ACCOUNT);

	if (op)
		sg_init_one(&op->inlined, op->bytes, sizeof(op->bytes));
	return op;
}

/**
 * cdev_op_get() - start an operation
 * @file: the file
 *
 * Context: process; may sleep.
 * Return: the operation, or NULL.
 */
struct cdev_op *cdev_op_get(struct cdev_file *file)
{
	struct cdev_op *op = NULL;

	if (READ_ONCE(file->spare))
		op = xchg(&file->spare, NULL);
	if (!op)
		op = take_spare(file) ?: op_alloc();
	if (!op)
		return NULL;
	op->file = file;
	op->loose = false;
	op->lasting = false;
	op->pins_last = false;
	op->cancelled = false;
	op->src.kind = CDEV_NONE;
	op->dst.kind = CDEV_NONE;
	return op;
}

/**
 * cdev_op_set() - set the session of an operation
 * @op: the operation
 * @ses: the session; held by the operation from here on
 * @as: the core's session, of @ses
 *
 * Context: any.
 */
void cdev_op_set(struct cdev_op *op, struct cdev_session *ses,
		 struct ocf_session *as)
{
	op->ses = ses;
	ocf_request_init(&op->req, as);
	op->req.done = op_abandoned;
}

/**
 * cdev_op_charge() - charge memory of an operation to the user
 * @op: the operation
 * @bytes: how much
 *
 * Context: process.
 * Return: 0, or -EDQUOT.
 */
int cdev_op_charge(struct cdev_op *op, size_t bytes)
{
	int err = cdev_user_add_bytes(payer_of(op), bytes);

	if (!err)
		op->charged += bytes;
	return err;
}

/**
 * cdev_op_charge_locked() - charge pages that an operation has pinned for long
 * @op: the operation
 * @pages: how many
 *
 * They count for RLIMIT_MEMLOCK of the user that submits the operation, like
 * the user's buffers in io_uring.  CAP_IPC_LOCK lifts the limit.
 *
 * Context: process.
 * Return: 0, or -EDQUOT.
 */
int cdev_op_charge_locked(struct cdev_op *op, unsigned int pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct user_struct *user = current_user();
	long old;

	if (!pages || has_capability_noaudit(current, CAP_IPC_LOCK))
		return 0;
	old = atomic_long_read(&user->locked_vm);
	do {
		if (old + pages > limit)
			return -EDQUOT;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, &old,
					  old + pages));
	if (!op->locker)
		op->locker = get_uid(user);
	op->locked += pages;
	return 0;
}

static void uncharge_locked(struct cdev_op *op)
{
	atomic_long_sub(op->locked, &op->locker->locked_vm);
	free_uid(op->locker);
	op->locker = NULL;
	op->locked = 0;
}

/**
 * cdev_op_charge_self() - charge an operation itself to the user
 * @op: the operation
 *
 * Context: process.
 * Return: 0, or -EDQUOT.
 */
int cdev_op_charge_self(struct cdev_op *op)
{
	if (!op->paid)
		op->paid = !cdev_op_charge(op, sizeof(*op));
	return op->paid ? 0 : -EDQUOT;
}

/* Charges the memory of an operation under way, even if that is too much. */
void cdev_op_owe_self(struct cdev_op *op)
{
	if (op->paid)
		return;
	cdev_user_owe_bytes(payer_of(op), sizeof(*op));
	op->charged += sizeof(*op);
	op->paid = true;
}

/*
 * Uncharges all but the operation's own memory.  This also frees a public-key
 * operation's state, which is always charged.  Context: process; may sleep.
 */
void cdev_op_uncharge(struct cdev_op *op)
{
	size_t own = op->paid ? sizeof(*op) : 0;

	if (unlikely(op->has_workers)) {
		ocf_workers_put(op->req.workers);
		op->has_workers = false;
	}
	if (op->charged == own)
		return;
	if (unlikely(op->locker))
		uncharge_locked(op);
	if (unlikely(op->public))
		cdev_public_free(op);
	cdev_user_sub_bytes(payer_of(op), op->charged - own);
	op->charged = own;
}

/**
 * cdev_op_run() - run an operation and wait for it
 * @op: the operation; becomes NULL if the caller is being killed and the
 *	operation goes on without it
 *
 * Context: process; may sleep.
 * Return: as ocf_run().
 */
int cdev_op_run(struct cdev_op **op)
{
	int err = ocf_run(&(*op)->req);

	if (unlikely(err == -EINTR)) {
		atomic_inc(&ops_loose);
		*op = NULL;
	}
	return err;
}
