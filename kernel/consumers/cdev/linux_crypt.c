// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cryptodev-linux ABI: CIOCCRYPT, its asynchronous form and CIOCCPHASH.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "linux.h"
#include "uaccess.h"

#define CRYPT_FLAGS	(COP_FLAG_UPDATE | COP_FLAG_FINAL | \
			 COP_FLAG_WRITE_IV | COP_FLAG_NO_ZC | COP_FLAG_RESET)

#define CCM_IV_LEN	16	/* in the format of the kernel's CCM */

static_assert(sizeof(struct crypt_op) <= sizeof_field(struct cdev_op, user));

/* ---- IVs ---- */

/* The first byte of a formatted block of CCM contains the nonce's length. */
static int parse_ccm(struct cdev_op *op)
{
	u8 *iv = op->req.iv;

	if (iv[0] < 1 || iv[0] > 7)
		return -EINVAL;
	op->req.ivlen = 14 - iv[0];
	memmove(iv, iv + 1, op->req.ivlen);
	return 0;
}

/*
 * Whether an operation can continue where the one before has ended.  A nonce is
 * never used again, and the rest of an XTS tweak depends on the second key and
 * is secret.
 */
static bool chains(const struct cdev_session *ses)
{
	return ses->cipher && ses->cipher->flags & OCF_ALG_CHAINS;
}

static noinline int get_ccm_iv(struct cdev_op *op, const u8 __user *from)
{
	if (!from)
		return -EINVAL;
	if (cdev_iv_in(op->req.iv, from, CCM_IV_LEN))
		return -EFAULT;
	return parse_ccm(op);
}

/* The last step before the operation is begun. */
int cdev_linux_get_iv(struct cdev_op *op, const u8 __user *from)
{
	struct cdev_session *ses = op->ses;
	u32 len = ses->info.ivlen;

	op->keeps = false;
	if (unlikely(ses->info.cipher == OCF_AES_CCM))
		return get_ccm_iv(op, from);
	if (!len)
		return 0;
	op->req.flags |= OCF_REQ_NEXT_IV;
	if (likely(from)) {
		if (cdev_iv_in(op->req.iv, from, len))
			return -EFAULT;
		if (likely(!READ_ONCE(ses->iv_busy))) {
			op->keeps = true;
			return 0;
		}
	}
	if (!chains(ses))
		return from ? 0 : -EINVAL;
	return cdev_iv_take(op, from);
}

int cdev_linux_put_iv(struct cdev_op *op, u8 __user *to, bool write)
{
	struct cdev_session *ses = op->ses;

	if (likely(op->keeps))
		memcpy(ses->iv, op->req.iv, sizeof(ses->iv));
	else
		cdev_iv_leave(op, 0);
	if (likely(!write) || !to || !chains(ses))
		return 0;
	return cdev_copy_out(to, op->req.iv, ses->info.ivlen);
}

/* ---- CIOCCRYPT ---- */

static struct crypt_op *cop_of(struct cdev_op *op)
{
	return (struct crypt_op *)op->user;
}

/*
 * Whether this call finishes the digest instead of adding a part.  A part
 * without data, but with room for a result, also asks for that.
 */
static bool is_last(const struct crypt_op *cop)
{
	return cop->flags & COP_FLAG_FINAL || !(cop->flags & COP_FLAG_UPDATE) ||
	       (!cop->len && cop->mac);
}

static bool in_parts(const struct crypt_op *cop)
{
	return cop->flags & (COP_FLAG_UPDATE | COP_FLAG_FINAL);
}

static int check_cop(const struct cdev_session *ses, const struct crypt_op *cop)
{
	if (cop->flags & ~CRYPT_FLAGS ||
	    (cop->op != COP_ENCRYPT && cop->op != COP_DECRYPT) ||
	    ses->info.mode == OCF_MODE_AEAD)
		return -EINVAL;
	if (cop->len > CDEV_LEN_MAX)
		return -E2BIG;
	if (!ses->mac && in_parts(cop))
		return -EINVAL;
	if ((cop->len && !cop->src) || (cop->len && ses->cipher && !cop->dst) ||
	    (ses->mac && is_last(cop) && !cop->mac))
		return -EFAULT;
	return 0;
}

static int linux_fill_buffers(struct cdev_op *op, const struct crypt_op *cop)
{
	u32 dst_len = op->ses->cipher ? cop->len : 0;
	int err;

	if (!(cop->flags & COP_FLAG_NO_ZC) &&
	    cdev_buffer_pinnable(cop->src, cop->dst, cop->len, dst_len)) {
		err = cdev_buffer_pin(op, 0, cop->src, cop->len, cop->dst,
				      dst_len);
		if (likely(err != -EAGAIN))
			return err;
	}
	err = cdev_buffer_make(op, cop->len);
	return err ?: cdev_buffer_read(op, 0, cop->src, cop->len);
}

static void set_request(struct cdev_op *op, const struct crypt_op *cop)
{
	struct ocf_request *req = &op->req;

	req->data.len = cop->len;
	if (op->ses->info.mode != OCF_MODE_CHAIN) {
		/* a digest is computed in either direction */
		req->op = op->ses->cipher && cop->op == COP_DECRYPT ?
			  OCF_OP_DECRYPT : OCF_OP_ENCRYPT;
		return;
	}
	req->auth.len = cop->len;
	if (cop->op == COP_ENCRYPT)
		req->flags |= OCF_REQ_MAC_FIRST;
	else
		req->op = OCF_OP_DECRYPT;
}

static int prepare(struct cdev_op *op)
{
	const struct crypt_op *cop = cop_of(op);
	struct cdev_session *ses;
	int err;

	ses = cdev_session_find(op->file, OCF_ABI_LINUX, cop->ses);
	if (!ses)
		return -EINVAL;
	cdev_op_set(op, ses, ses->ses);
	err = check_cop(ses, cop);
	if (err)
		return err;
	set_request(op, cop);
	err = linux_fill_buffers(op, cop);
	if (!err && ses->info.ivlen)
		err = cdev_linux_get_iv(op, cop->iv);
	return err;
}

/* Copies the results to the addresses in the structure. */
static __always_inline int linux_deliver(struct cdev_op *op)
{
	const struct crypt_op *cop = cop_of(op);
	const struct cdev_session *ses = op->ses;

	if (ses->cipher && op->src.kind != CDEV_PINNED &&
	    cdev_buffer_write(op, 0, cop->dst, cop->len))
		return -EFAULT;
	if (ses->mac && is_last(cop) &&
	    cdev_copy_out(cop->mac, op->req.tag, ses->info.maclen))
		return -EFAULT;
	return ses->info.ivlen ?
	       cdev_linux_put_iv(op, cop->iv, cop->flags & COP_FLAG_WRITE_IV) :
	       0;
}

/*
 * Runs a part of a digest.  It works on a copy of the state, so an operation
 * that fails or is abandoned leaves the session unchanged.  The results of an
 * asynchronous part are fetched later, so its state is stored before they are
 * delivered.
 */
static int linux_run_part(struct cdev_op **opp)
{
	struct cdev_op *op = *opp;
	const struct crypt_op *cop = cop_of(op);
	struct cdev_session *ses = op->ses;
	bool last = is_last(cop);
	int err;

	lockdep_assert_held(&ses->parts);
	err = cdev_session_state(ses);
	if (err)
		return err;
	if (ses->begun && !(cop->flags & COP_FLAG_RESET))
		op->req.flags |= OCF_REQ_CONTINUE;
	if (!last)
		op->req.flags |= OCF_REQ_UPDATE;
	memcpy(op->state, ses->state, OCF_STATE_MAX);
	op->req.state = op->state;
	err = cdev_op_run(opp);
	if (!err && !op->lasting)
		err = linux_deliver(op);
	if (err)
		return err;
	memcpy(ses->state, op->state, OCF_STATE_MAX);
	ses->begun = !last;
	return 0;
}

static int run_in_turn(struct cdev_op **op)
{
	struct cdev_session *ses = (*op)->ses;
	int err;

	/* the session outlives an operation that is abandoned */
	refcount_inc(&ses->refs);
	err = mutex_lock_killable(&ses->parts);
	if (!err) {
		err = linux_run_part(op);
		mutex_unlock(&ses->parts);
	}
	cdev_session_put(ses);
	return err;
}

/**
 * cdev_linux_crypt() - CIOCCRYPT
 * @op: the operation, with the structure in op->user; does not belong to the
 *	caller any more
 *
 * Context: process; may sleep.
 * Return: the ioctl's.
 */
int cdev_linux_crypt(struct cdev_op *op)
{
	int err = prepare(op);

	if (!err)
		err = in_parts(cop_of(op)) ? run_in_turn(&op) :
		      cdev_op_run(&op)	   ?:
					     linux_deliver(op);
	if (unlikely(err) && op)
		cdev_iv_leave(op, err);
	cdev_op_put(op);
	return err;
}

/* ---- CIOCASYNCCRYPT, CIOCASYNCFETCH ---- */

/*
 * Parts are run one after the other, because each changes the state.  A part
 * for which there is no place is refused before it changes the state.
 */
static int run_async_part(struct cdev_op **op)
{
	struct cdev_file *file = (*op)->file;
	int err = cdev_async_reserve(*op);

	if (err)
		return err;
	err = run_in_turn(op);
	if (*op) {
		cdev_iv_leave(*op, err);
		cdev_async_done(*op, err);
	} else {
		cdev_async_unreserve(file, 1);
	}
	return *op ? 0 : err;
}

/**
 * cdev_linux_async_crypt() - CIOCASYNCCRYPT
 * @op: the operation, with the structure in op->user; does not belong to the
 *	caller any more
 *
 * Context: process; may sleep.
 * Return: the ioctl's.
 */
int cdev_linux_async_crypt(struct cdev_op *op)
{
	int err;

	op->lasting = true;
	op->pins_last = true;
	err = prepare(op);
	/*
	 * this call does not wait for the operation, so a later delivery must
	 * not store the IV: take a turn instead
	 */
	if (!err && op->keeps) {
		op->keeps = false;
		err = chains(op->ses) ? cdev_iv_take(op, true) : 0;
	}
	if (!err)
		err = in_parts(cop_of(op)) ? run_async_part(&op) :
					     cdev_async_submit(op);
	if (err) {
		cdev_iv_return(op);
		cdev_op_put(op);
	}
	return err;
}

/* Copies the submitted structure to @cop, and returns the operation's error. */
int cdev_linux_async_fetch(struct cdev_file *file, struct crypt_op *cop)
{
	struct list_head ops;
	struct cdev_op *op;
	int err;

	if (!cdev_async_fetch(file, OCF_ABI_LINUX, 1, &ops))
		return -EBUSY;
	op = list_first_entry(&ops, struct cdev_op, node);
	*cop = *cop_of(op);
	err = op->err ?: linux_deliver(op);
	cdev_op_put(op);
	return err;
}

/* ---- CIOCCPHASH ---- */

static int copy_state(struct cdev_session *to, struct cdev_session *from)
{
	int err;

	if (!to->mac || to->mac != from->mac ||
	    !(to->mac->flags & OCF_ALG_PARTS))
		return -EINVAL;
	err = cdev_session_state(to) ?: cdev_session_state(from);
	if (err)
		return err;
	memcpy(to->state, from->state, OCF_STATE_MAX);
	to->begun = from->begun;
	return 0;
}

static int copy_hash(struct cdev_session *to, struct cdev_session *from)
{
	struct cdev_session *first = min(to, from), *second = max(to, from);
	int err;

	if (to == from)
		return -EDEADLK;
	err = mutex_lock_killable(&first->parts);
	if (err)
		return err;
	err = mutex_lock_killable_nested(&second->parts, SINGLE_DEPTH_NESTING);
	if (err)
		goto unlock_first;
	err = copy_state(to, from);
	mutex_unlock(&second->parts);
unlock_first:
	mutex_unlock(&first->parts);
	return err;
}

long cdev_linux_cphash(struct cdev_file *file, void __user *arg)
{
	struct cdev_session *to, *from;
	struct cphash_op c;
	int err = -EINVAL;

	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	to = cdev_session_find(file, OCF_ABI_LINUX, c.dst_ses);
	from = cdev_session_find(file, OCF_ABI_LINUX, c.src_ses);
	if (to && from)
		err = copy_hash(to, from);
	if (to)
		cdev_session_put(to);
	if (from)
		cdev_session_put(from);
	return err;
}
