// SPDX-License-Identifier: GPL-2.0-only
/*
 * The native interface by io_uring: a command, or a vector of them, in each
 * entry.
 *
 * The entry is in memory of the program, so it is read once.  An operation that
 * takes longer ends in the task that submitted it, because its results go to
 * that task's memory.  If the task has ended, a worker drops the results.
 */
#include <linux/io_uring/cmd.h>
#include <linux/slab.h>

#include "native.h"

/* What the module keeps for an entry under way */
struct entry {
	struct cdev_op		*op;
	struct cdev_vector	*vector;
};

static struct entry *entry_of(struct io_uring_cmd *ioucmd)
{
	return io_uring_cmd_to_pdu(ioucmd, struct entry);
}

static const struct ocf_command *uring_command_of(const struct cdev_op *op)
{
	return (const struct ocf_command *)op->user;
}

/* ---- registered buffers ---- */

static int import(struct cdev_op *op, u64 addr, u32 len, int rw,
		  struct iov_iter *iter)
{
	return io_uring_cmd_import_fixed(addr, len, rw, iter, op->ioucmd);
}

bool cdev_uring_is_fixed(const struct io_uring_cmd *ioucmd)
{
	return ioucmd->flags & IORING_URING_CMD_FIXED;
}

/**
 * cdev_uring_side() - let one side of an operation work on the user's pages
 * @op: the operation
 * @buf: its source or its destination
 * @fixed: it is in the registered buffer of the entry that @op came with
 * @lead: bytes of op->bytes that come before it
 * @addr: where
 * @len: bytes
 *
 * Context: process; may sleep.
 * Return: 0, -EFAULT, -EDQUOT, -ENOMEM or -EINTR.
 */
int cdev_uring_side(struct cdev_op *op, struct cdev_buffer *buf, bool fixed,
		    u32 lead, u64 addr, u32 len)
{
	struct iov_iter iter;

	if (!fixed)
		return cdev_buffer_pin_one(op, buf, lead, u64_to_user_ptr(addr),
					   len);
	return cdev_op_charge(op, len) ?:
	       import(op, addr, len, buf == &op->dst ? READ : WRITE, &iter) ?:
	       cdev_buffer_fixed(op, buf, lead, &iter, len);
}

static int share(struct cdev_op *op, u32 lead, u32 in, u32 out)
{
	const struct ocf_command *c = uring_command_of(op);
	int err;

	err = cdev_uring_side(op, &op->src, c->flags & OCF_COMMAND_FIXED_SRC,
			      lead, c->src, in);
	op->req.src = op->src.sg;
	op->req.dst = op->src.sg;
	if (err || !out || c->src == c->dst)
		return err;
	err = cdev_uring_side(op, &op->dst, c->flags & OCF_COMMAND_FIXED_DST,
			      lead, c->dst, out);
	op->req.dst = op->dst.sg;
	return err;
}

/**
 * cdev_uring_share() - let an operation work in a registered buffer
 * @op: the operation, one side of which is in it, or both
 * @lead: bytes of op->bytes that come before it
 * @in: bytes of the source
 * @out: bytes that are written; 0 if there is no destination
 *
 * Context: process; may sleep.
 * Return: 0; -EAGAIN if the data must be copied; -ENOMEM.
 */
int cdev_uring_share(struct cdev_op *op, u32 lead, u32 in, u32 out)
{
	int err = share(op, lead, in, out);

	if (!err || err == -ENOMEM)
		return err;
	cdev_buffers_free(op);
	cdev_op_uncharge(op);
	return -EAGAIN;
}

/* Copies the source into @op's own buffer. */
int cdev_uring_read(struct cdev_op *op, u32 at, u32 len)
{
	struct iov_iter iter;
	int err;

	err = import(op, uring_command_of(op)->src, len, WRITE, &iter);
	return err ?: cdev_buffer_iter(op, at, &iter, len, true);
}

/* Copies @op's own buffer to @addr of the registered buffer. */
int cdev_uring_write(struct cdev_op *op, u32 at, u64 addr, u32 len)
{
	struct iov_iter iter;
	int err;

	err = import(op, addr, len, READ, &iter);
	return err ?: cdev_buffer_iter(op, at, &iter, len, false);
}

/* ---- one command ---- */

/* Context: the task's, or a worker's. */
static void command_ends(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	struct cdev_op *op = entry_of(ioucmd)->op;
	int res = -ECANCELED;

	if (current->mm == op->mm)
		res = cdev_command_deliver(op);
	cdev_command_end(op);
	io_uring_cmd_done(ioucmd, res, 0, issue_flags);
}

/* Context: process or BH. */
void cdev_uring_done(struct cdev_op *op)
{
	io_uring_cmd_do_in_task_lazy(op->ioucmd, command_ends);
}

/*
 * Makes an entry cancellable.  An entry that one of io_uring's workers submits
 * may end before the submission returns, so this comes before the entry begins.
 * Other entries cannot end so early: their submitter holds the ring's lock.
 */
static void begin(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	if (issue_flags & IO_URING_F_UNLOCKED)
		io_uring_cmd_mark_cancelable(ioucmd, issue_flags);
}

static int under_way(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	if (!(issue_flags & IO_URING_F_UNLOCKED))
		io_uring_cmd_mark_cancelable(ioucmd, issue_flags);
	return -EIOCBQUEUED;
}

/* The entry was complete at once. */
static int at_once(struct io_uring_cmd *ioucmd, int res,
		   unsigned int issue_flags)
{
	if (!(issue_flags & IO_URING_F_UNLOCKED))
		return res;
	io_uring_cmd_done(ioucmd, res, 0, issue_flags);
	return -EIOCBQUEUED;
}

/* Undoes begin(), so that no cancellation finds an entry that is freed. */
static void forget(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	struct cdev_file *file = ioucmd->file->private_data;

	if (!(issue_flags & IO_URING_F_UNLOCKED))
		return;
	spin_lock_bh(&file->ring_lock);
	*entry_of(ioucmd) = (struct entry){};
	spin_unlock_bh(&file->ring_lock);
}

static int do_command(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	struct cdev_file *file = ioucmd->file->private_data;
	struct cdev_op *op = cdev_command_get(file, ioucmd);
	int err;

	if (!op)
		return -ENOMEM;
	memcpy(op->user, io_uring_sqe_cmd(ioucmd->sqe), sizeof(op->user));
	*entry_of(ioucmd) = (struct entry){ .op = op };
	begin(ioucmd, issue_flags);
	err = cdev_command_prepare(op);
	if (!err)
		err = cdev_command_submit(op, OCF_REQ_OFFLOAD);
	else if (err > 0)
		err = cdev_command_special(op);
	if (err == -EINPROGRESS)
		return under_way(ioucmd, issue_flags);
	err = err ?: cdev_command_deliver(op);
	forget(ioucmd, issue_flags);
	cdev_command_end(op);
	return at_once(ioucmd, err, issue_flags);
}

/* ---- many ---- */

static int vector_end(struct cdev_vector *v)
{
	int err;

	cdev_vector_deliver(v);
	err = v->err;
	kfree(v);
	return err;
}

/* Context: the task's, or a worker's. */
static void vector_ends(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	io_uring_cmd_done(ioucmd, vector_end(entry_of(ioucmd)->vector), 0,
			  issue_flags);
}

/* Context: process or BH. */
void cdev_uring_vector_done(struct cdev_vector *v)
{
	io_uring_cmd_do_in_task_lazy(v->ioucmd, vector_ends);
}

/* Reads @to from the entry; the bytes after it must be zero. */
static int read_entry(void *to, u32 len, const struct io_uring_cmd *ioucmd)
{
	u8 cmd[sizeof_field(struct cdev_op, user)];

	memcpy(cmd, io_uring_sqe_cmd(ioucmd->sqe), sizeof(cmd));
	memcpy(to, cmd, len);
	return memchr_inv(cmd + len, 0, sizeof(cmd) - len) ? -EINVAL : 0;
}

static int do_vector(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	struct cdev_file *file = ioucmd->file->private_data;
	struct ocf_vector given;
	struct cdev_vector *v;
	int err;

	err = read_entry(&given, sizeof(given), ioucmd);
	if (err)
		return err;
	v = kmalloc(sizeof(*v), GFP_KERNEL_ACCOUNT);
	if (!v)
		return -ENOMEM;
	err = cdev_vector_read(v, file, &given);
	if (err) {
		kfree(v);
		return err;
	}
	v->ioucmd = ioucmd;
	*entry_of(ioucmd) = (struct entry){ .vector = v };
	begin(ioucmd, issue_flags);
	if (!cdev_vector_start(v, OCF_REQ_OFFLOAD))
		return under_way(ioucmd, issue_flags);
	if (!list_empty(&v->done)) {
		/*
		 * to keep the order: the result of an earlier entry may still
		 * be on its way to the task
		 */
		cdev_uring_vector_done(v);
		return under_way(ioucmd, issue_flags);
	}
	forget(ioucmd, issue_flags);
	return at_once(ioucmd, vector_end(v), issue_flags);
}

/* ---- entries ---- */

static int do_cancel(struct io_uring_cmd *ioucmd)
{
	u64 cookie;

	return read_entry(&cookie, sizeof(cookie), ioucmd) ?:
	       cdev_cookie_cancel(ioucmd->file->private_data, cookie);
}

#define AGAIN	(HZ / 20)	/* as io_uring's own worker has it */

/* jiffies, when a worker last slept because entries did not end */
static unsigned long asked = INITIAL_JIFFIES;

/*
 * The worker that ends a ring cancels again as long as there are entries.  But
 * a cancelled entry is gone only when its task has ended it.  The task may be
 * stopped, or, being killed, wait for the ring's lock.
 */
static void slow_down(void)
{
	/*
	 * the worker looks at the entries of all files one by one, so it sleeps
	 * once for many of them
	 */
	if (!(current->flags & PF_KTHREAD) ||
	    !time_after(jiffies, READ_ONCE(asked)))
		return;
	schedule_timeout_idle(AGAIN);
	WRITE_ONCE(asked, jiffies);
}

/*
 * The ring is being ended, and its lock is held, so no entry under way is freed
 * meanwhile.
 */
static void cancel_entry(struct io_uring_cmd *ioucmd)
{
	struct cdev_file *file = ioucmd->file->private_data;

	if (!cdev_command_cancel(file, &entry_of(ioucmd)->op) &&
	    !cdev_vector_cancel(file, &entry_of(ioucmd)->vector))
		slow_down();
}

/**
 * cdev_uring_cmd() - process an entry of io_uring
 * @ioucmd: the entry
 * @issue_flags: IO_URING_F_*
 *
 * Context: process; may sleep.
 * Return: the result of an entry that is done at once; otherwise -EIOCBQUEUED.
 */
int cdev_uring_cmd(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	if (issue_flags & IO_URING_F_CANCEL) {
		cancel_entry(ioucmd);
		return 0;
	}
	if (!(issue_flags & IO_URING_F_SQE128))
		return -EINVAL;
	switch (ioucmd->cmd_op) {
	case OCF_URING_COMMAND:
		return do_command(ioucmd, issue_flags);
	case OCF_URING_VECTOR:
		return do_vector(ioucmd, issue_flags);
	case OCF_URING_CANCEL:
		return do_cancel(ioucmd);
	default:
		return -ENOTTY;
	}
}
