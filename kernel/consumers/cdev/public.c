// SPDX-License-Identifier: GPL-2.0-only
/*
 * The native interface: public-key operations.
 *
 * Operands and results are copied to kernel memory, which is charged to the
 * user and wiped with the operation.
 */
#include <linux/nospec.h>
#include <linux/ocf_pk.h>
#include <linux/slab.h>

#include "native.h"
#include "uaccess.h"

#define VALUES_MAX	(OCF_PK_IN_MAX + OCF_PK_OUT_MAX)

static_assert(sizeof(struct ocf_pk_command) == sizeof(struct ocf_command));
static_assert(offsetof(struct ocf_pk_command, op) ==
	      offsetof(struct ocf_command, op));
static_assert(offsetof(struct ocf_pk_command, none) ==
	      offsetof(struct ocf_command, session));
static_assert(OCF_OP_PUBLIC_KEY >= OCF_OP_COUNT);

/**
 * struct cdev_public - further state of a public-key operation
 * @req: the core's
 * @user: the user to whom it is charged
 * @counted: it is counted among those that the user has under way
 * @given: bytes of operands, at the beginning of @mem
 * @total: bytes of @mem
 * @out: where the results are written
 * @mem: operands and results
 */
struct cdev_public {
	struct ocf_pk_request	*req;
	struct cdev_user	*user;
	bool			counted;
	size_t			given;
	size_t			total;
	void __user		*out[OCF_PK_OUT_MAX];
	u8			mem[] __aligned(8);
};

static const struct ocf_pk_command *pk_command_of(const struct cdev_op *op)
{
	return (const struct ocf_pk_command *)op->user;
}

/* Notes which field of the command causes the error @err. */
static int refuse_field(struct cdev_op *op, u32 field, int err)
{
	op->wrong = field;
	return err;
}

static int hash_of(const char *name, enum ocf_alg *hash)
{
	size_t len = strnlen(name, OCF_HASH_NAME_MAX);

	*hash = OCF_ALG_NONE;
	if (!len)
		return 0;
	if (len < OCF_HASH_NAME_MAX)
		*hash = ocf_alg_by_name(name, len);
	return *hash ? 0 : -EINVAL;
}

/* Whether the bytes after the NUL of a name are not zero. */
static bool has_tail(const char *name, size_t room)
{
	size_t len = strnlen(name, room);

	return memchr_inv(name + len, 0, room - len);
}

/* The field of @c that no operation can have, or OCF_FIELD_NONE */
static enum ocf_field find_wrong_in_public(const struct ocf_pk_command *c)
{
	u32 in, out;

	if (c->none)
		return OCF_FIELD_SESSION;
	if (ocf_pk_shape(c->code, &in, &out))
		return OCF_FIELD_CODE;
	if (c->in != in || c->out != out)
		return OCF_FIELD_VALUES;
	if (c->scheme >= OCF_PK_SCHEMES)
		return OCF_FIELD_SCHEME;
	if (c->curve >= OCF_PK_CURVES)
		return OCF_FIELD_CURVE;
	if (c->salt && c->scheme != OCF_PK_PSS)
		return OCF_FIELD_SALT;
	if (c->policy > OCF_POLICY_CPU)
		return OCF_FIELD_POLICY;
	if (c->flags & ~(OCF_SESSION_HARDWARE | OCF_SESSION_SOFTWARE))
		return OCF_FIELD_FLAGS;
	if (has_tail(c->hash, sizeof(c->hash)))
		return OCF_FIELD_HASH;
	return has_tail(c->device, sizeof(c->device)) ? OCF_FIELD_DEVICE :
							OCF_FIELD_NONE;
}

/* A label that the operation would ignore */
static bool has_lost_label(const struct ocf_pk_command *c,
			   const struct ocf_pk_value *values)
{
	return (c->code == OCF_PK_RSA_ENCRYPT ||
		c->code == OCF_PK_RSA_DECRYPT) &&
	       c->scheme != OCF_PK_OAEP && values[2].len;
}

static int pk_add_up(struct cdev_op *op, const struct ocf_pk_value *values,
		     int n, size_t *total)
{
	int i;

	*total = 0;
	for (i = 0; i < n; i++) {
		if (values[i].pad)
			return refuse_field(op, OCF_FIELD_PAD, -EINVAL);
		if (values[i].len > OCF_PK_KEY_MAX)
			return refuse_field(op, OCF_FIELD_VALUE + i, -E2BIG);
		*total += values[i].len;
	}
	return 0;
}

static int pk_set_op(struct ocf_pk_op *op, const struct ocf_pk_command *c)
{
	/* from here on they are indices of tables */
	op->code = array_index_nospec(c->code, OCF_PK_COUNT);
	op->scheme = array_index_nospec(c->scheme, OCF_PK_SCHEMES);
	op->curve = array_index_nospec(c->curve, OCF_PK_CURVES);
	op->salt = c->salt;
	return hash_of(c->hash, &op->hash);
}

static int set_values(struct cdev_public *p, const struct ocf_pk_command *c,
		      const struct ocf_pk_value *values)
{
	struct ocf_pk_op *op = &p->req->op;
	u8 *at = p->mem;
	int i;

	for (i = 0; i < c->in; i++) {
		if (cdev_copy_in(at, u64_to_user_ptr(values[i].addr),
				 values[i].len))
			return -EFAULT;
		op->in[i] = (struct ocf_pk_operand){ at, values[i].len };
		at += values[i].len;
	}
	p->given = at - p->mem;
	values += c->in;
	for (i = 0; i < c->out; i++) {
		p->out[i] = u64_to_user_ptr(values[i].addr);
		op->out[i] = (struct ocf_pk_result){ at, values[i].len };
		at += values[i].len;
	}
	return 0;
}

static int pk_fill(struct cdev_op *op, const struct ocf_pk_command *c,
		   const struct ocf_pk_value *values)
{
	struct ocf_pk_request *req = op->public->req;
	int err;

	req->flags = c->flags;
	req->policy = c->policy;
	err = cdev_device_of(c->device, &req->device);
	if (err)
		return refuse_field(op, OCF_FIELD_DEVICE, err);
	err = pk_set_op(&req->op, c);
	if (err)
		return refuse_field(op, OCF_FIELD_HASH, err);
	return set_values(op->public, c, values);
}

/* Allocates and charges its memory, and counts it as under way. */
static int make(struct cdev_op *op, size_t total)
{
	struct cdev_user *user = op->file->user;
	struct cdev_public *p;
	int err;

	err = cdev_user_add_key(user);
	if (err)
		return err;
	err = cdev_op_charge(op, sizeof(*p) + total);
	if (err)
		goto sub_key;
	err = -ENOMEM;
	p = kvzalloc(sizeof(*p) + total, GFP_KERNEL_ACCOUNT);
	if (!p)
		goto sub_key;
	p->req = ocf_pk_alloc(GFP_KERNEL_ACCOUNT);
	if (!p->req)
		goto free;
	p->req->owner = cdev_owner(op->file);
	p->user = user;
	p->counted = true;
	p->total = total;
	op->public = p;
	return 0;
free:
	kvfree(p);
sub_key:
	cdev_user_sub_key(user);
	return err;
}

/**
 * cdev_public_prepare() - make an operation of a public-key command
 * @op: the operation, with the command in op->user
 *
 * Context: process; may sleep.
 * Return: 0, or an error as of struct ocf_result.
 */
int cdev_public_prepare(struct cdev_op *op)
{
	const struct ocf_pk_command *c = pk_command_of(op);
	struct ocf_pk_value values[VALUES_MAX];
	size_t total;
	int n;

	op->wrong = find_wrong_in_public(c);
	if (op->wrong)
		return -EINVAL;
	n = c->in + c->out;
	if (cdev_copy_in(values, u64_to_user_ptr(c->values),
			 n * sizeof(*values)))
		return -EFAULT;
	if (has_lost_label(c, values))
		return refuse_field(op, OCF_FIELD_VALUE + 2, -EINVAL);
	return pk_add_up(op, values, n, &total) ?:
	       make(op, total) ?: pk_fill(op, c, values);
}

/**
 * cdev_public_wrong() - find the field of a command that caused an error
 * @op: the operation; cdev_command_end() has not been called for it
 * @res: the command's result
 *
 * Context: any.
 * Return: OCF_FIELD_*.
 */
enum ocf_field cdev_public_wrong(const struct cdev_op *op, int res)
{
	/* perhaps the command could not even be read */
	if (res == -EFAULT)
		return OCF_FIELD_NONE;
	if (op->wrong || !op->public)
		return op->wrong;
	return op->public->req->wrong;
}

/**
 * cdev_public_submit() - submit a public-key operation
 * @op: the operation, prepared
 * @done: the ocf_pk_request.done, whose cookie is @op
 *
 * Context: process; may sleep.
 * Return: as ocf_pk_submit().
 */
int cdev_public_submit(struct cdev_op *op, ocf_pk_done_t done)
{
	struct ocf_pk_request *req = op->public->req;

	cdev_op_use_workers(op);
	req->workers = op->req.workers;
	req->done = done;
	req->cookie = op;
	return ocf_pk_submit(req);
}

/**
 * cdev_public_run() - run a public-key operation in the caller's time
 * @op: the operation, prepared
 *
 * Context: process; may sleep.
 * Return: as ocf_pk_run().
 */
int cdev_public_run(struct cdev_op *op)
{
	int err = ocf_pk_run(op->public->req);

	cdev_public_done(op);
	return err;
}

/*
 * The operation has ended, even if its results are fetched later.  The user may
 * begin another one, and the operands are wiped.  Context: process.
 */
void cdev_public_done(struct cdev_op *op)
{
	struct cdev_public *p = op->public;

	memzero_explicit(p->mem, p->given);
	p->counted = false;
	cdev_user_sub_key(p->user);
}

/* Cancels the operation, unless it has ended.  Context: process; may sleep. */
void cdev_public_cancel(struct cdev_op *op)
{
	ocf_pk_cancel(op->public->req);
}

/**
 * cdev_public_deliver() - deliver the results of an operation that has ended
 * @op: the operation
 *
 * Context: process, with the submitter's memory; may sleep.
 * Return: the value for ocf_result.res.
 */
int cdev_public_deliver(struct cdev_op *op)
{
	const struct ocf_pk_op *done = &op->public->req->op;
	int i;

	for (i = 0; i < pk_command_of(op)->out; i++)
		if (cdev_copy_out(op->public->out[i], done->out[i].data,
				  done->out[i].len))
			return -EFAULT;
	return pk_command_of(op)->out ? done->out[0].len : 0;
}

/**
 * cdev_public_free() - free an operation's struct cdev_public
 * @op: the operation, which is not under way
 *
 * Context: process; may sleep.
 */
void cdev_public_free(struct cdev_op *op)
{
	struct cdev_public *p = op->public;

	op->public = NULL;
	ocf_pk_free(p->req);
	if (p->counted)
		cdev_user_sub_key(p->user);
	kvfree_sensitive(p, sizeof(*p) + p->total);
}
