// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cryptodev-linux ABI: CIOCAUTHCRYPT, in its three types.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "linux.h"
#include "uaccess.h"

#define AUTH_TYPES	(COP_FLAG_AEAD_TLS_TYPE | COP_FLAG_AEAD_SRTP_TYPE)
#define AUTH_FLAGS	(COP_FLAG_WRITE_IV | COP_FLAG_NO_ZC | AUTH_TYPES)

#define SRTP_HEADER_MAX	256	/* bytes between auth_src and src */

/* One of the three types; each fills in the operation's buffer and ranges. */
struct auth {
	const struct crypt_auth_op	*caop;
	u32				taglen;
	u32				at;	/* bytes to the result */
	u32				len;	/* of the result */
};

static int auth_fill_aead(struct cdev_op *op, struct auth *a)
{
	const struct crypt_auth_op *c = a->caop;
	struct ocf_request *req = &op->req;
	bool seal = c->op == COP_ENCRYPT;
	u32 data = seal ? c->len : c->len - a->taglen;
	u32 all = data + a->taglen;
	int err;

	if (!seal && c->len < a->taglen)
		return -EINVAL;
	a->at = c->auth_len;
	a->len = seal ? all : data;
	req->auth.len = c->auth_len;
	req->data = (struct ocf_range){ c->auth_len, data };
	req->tag_start = c->auth_len + data;
	if (seal && !(c->flags & COP_FLAG_NO_ZC) &&
	    c->auth_len <= CDEV_INLINE &&
	    cdev_buffer_pinnable(c->src, c->dst, c->len, all)) {
		if (cdev_copy_in(op->bytes, c->auth_src, c->auth_len))
			return -EFAULT;
		err = cdev_buffer_pin(op, c->auth_len, c->src, c->len, c->dst,
				      all);
		if (likely(err != -EAGAIN))
			return err;
	}
	err = cdev_buffer_make(op, c->auth_len + all);
	return err ?: cdev_buffer_read(op, 0, c->auth_src, c->auth_len) ?:
	       cdev_buffer_read(op, c->auth_len, c->src, c->len);
}

static int fill_tls(struct cdev_op *op, struct auth *a)
{
	const struct crypt_auth_op *c = a->caop;
	struct ocf_request *req = &op->req;
	u32 block = op->ses->info.block, body = c->len, pad = 0;
	int err;

	if (c->op == COP_ENCRYPT) {
		body += a->taglen;
		pad = block > 1 ? block - body % block : 0;
	}
	a->at = c->auth_len;
	a->len = body + pad;
	req->auth.len = c->auth_len;
	req->data = (struct ocf_range){ c->auth_len, body + pad };
	err = cdev_buffer_make(op, c->auth_len + body + pad);
	err = err ?: cdev_buffer_read(op, 0, c->auth_src, c->auth_len) ?:
	      cdev_buffer_read(op, c->auth_len, c->src, c->len);
	if (err || c->op == COP_DECRYPT)
		return err;
	req->auth.len += c->len;
	req->tag_start = c->auth_len + c->len;
	cdev_buffer_fill(op, req->tag_start, 0, a->taglen);
	cdev_buffer_fill(op, req->tag_start + a->taglen, pad - 1, pad);
	return 0;
}

static int fill_srtp(struct cdev_op *op, struct auth *a)
{
	const struct crypt_auth_op *c = a->caop;
	struct ocf_request *req = &op->req;
	u64 header = c->src - c->auth_src;
	int err;

	if (header > SRTP_HEADER_MAX || header + c->len > c->auth_len ||
	    op->ses->info.block > 1)
		return -EINVAL;
	a->at = header;
	a->len = c->len;
	req->auth.len = c->auth_len;
	req->data = (struct ocf_range){ header, c->len };
	if (c->op == COP_DECRYPT) {
		req->flags |= OCF_REQ_MAC_FIRST | OCF_REQ_VERIFY;
		if (cdev_copy_in(req->tag, c->tag, a->taglen))
			return -EFAULT;
	}
	err = cdev_buffer_make(op, c->auth_len);
	return err ?: cdev_buffer_read(op, 0, c->auth_src, c->auth_len);
}

static int deliver_auth(struct cdev_op *op, struct crypt_auth_op *c,
			struct auth *a)
{
	bool tls = c->flags & COP_FLAG_AEAD_TLS_TYPE;

	if (tls && c->op == COP_DECRYPT)
		a->len = op->req.result_len;
	if (cdev_buffer_write(op, a->at, c->dst, a->len))
		return -EFAULT;
	if (c->flags & COP_FLAG_AEAD_SRTP_TYPE && c->op == COP_ENCRYPT &&
	    cdev_copy_out(c->tag, op->req.tag, a->taglen))
		return -EFAULT;
	c->len = a->len;
	c->tag_len = a->taglen;
	if (!(c->flags & AUTH_TYPES))
		c->tag = c->dst + op->req.data.len;
	return cdev_linux_put_iv(op, c->iv, c->flags & COP_FLAG_WRITE_IV);
}

/*
 * Indexed by flags & AUTH_TYPES: the session's mode, the mode that serves the
 * call, and the function that fills the buffer.
 */
static const struct {
	enum ocf_mode of, as;
	int (*fill)(struct cdev_op *op, struct auth *a);
} auth_types[AUTH_TYPES + 1] = {
	[0]			  = { OCF_MODE_AEAD, OCF_MODE_AEAD,
				      auth_fill_aead },
	[COP_FLAG_AEAD_TLS_TYPE]  = { OCF_MODE_CHAIN, OCF_MODE_MTE, fill_tls },
	[COP_FLAG_AEAD_SRTP_TYPE] = { OCF_MODE_CHAIN, OCF_MODE_CHAIN,
				      fill_srtp },
};

static int check_caop(const struct cdev_session *ses,
		      const struct crypt_auth_op *c)
{
	u32 type = c->flags & AUTH_TYPES;

	if (c->flags & ~AUTH_FLAGS || !auth_types[type].fill ||
	    auth_types[type].of != ses->info.mode ||
	    (c->op != COP_ENCRYPT && c->op != COP_DECRYPT) ||
	    (type && c->src != c->dst))
		return -EINVAL;
	if (c->len > CDEV_LEN_MAX || c->auth_len > CDEV_LEN_MAX)
		return -E2BIG;
	if (c->tag_len > OCF_TAG_MAX)
		return -EINVAL;
	return 0;
}

/* @op becomes NULL if it is abandoned. */
static int run_auth(struct cdev_op **op, struct crypt_auth_op *c,
		    struct auth *a)
{
	int err;

	if (c->op == COP_DECRYPT)
		(*op)->req.op = OCF_OP_DECRYPT;
	err = auth_types[c->flags & AUTH_TYPES].fill(*op, a) ?:
	      cdev_linux_get_iv(*op, c->iv) ?: cdev_op_run(op);
	return err ?: deliver_auth(*op, c, a);
}

/**
 * cdev_linux_auth_crypt() - CIOCAUTHCRYPT
 * @file: the file
 * @c: the structure; fields for the caller are set
 *
 * Context: process; may sleep.
 * Return: the ioctl's.
 */
int cdev_linux_auth_crypt(struct cdev_file *file, struct crypt_auth_op *c)
{
	struct auth a = { .caop = c };
	struct cdev_session *ses;
	struct ocf_session *as;
	struct cdev_op *op;
	int err;

	ses = cdev_session_find(file, OCF_ABI_LINUX, c->ses);
	if (!ses)
		return -EINVAL;
	err = check_caop(ses, c);
	if (err)
		goto put_session;
	a.taglen = c->tag_len ?: ses->info.maclen;
	as = cdev_session_as(ses, auth_types[c->flags & AUTH_TYPES].as,
			     a.taglen);
	err = PTR_ERR_OR_ZERO(as);
	if (err)
		goto put_session;
	err = -ENOMEM;
	op = cdev_op_get(file);
	if (!op)
		goto put_session;
	cdev_op_set(op, ses, as);
	err = run_auth(&op, c, &a);
	if (unlikely(err) && op)
		cdev_iv_leave(op, err);
	cdev_op_put(op);
	return err;

put_session:
	cdev_session_put(ses);
	return err;
}
