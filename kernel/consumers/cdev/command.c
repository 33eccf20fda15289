// SPDX-License-Identifier: GPL-2.0-only
/*
 * The native interface: makes operations of commands, and delivers their
 * results.
 *
 * Data are copied if the result of decryption must not be seen before its tag
 * is verified, or if the result is longer than its source.  Otherwise, data
 * that are not small are processed in the caller's pages.
 */
#include <linux/nospec.h>
#include <linux/slab.h>

#include "native.h"
#include "uaccess.h"

/* Fields that a mode has, besides source and length */
#define HAS_DST		BIT(0)
#define HAS_AUTH	BIT(1)
#define HAS_TAG		BIT(2)
#define HAS_DST_LEN	BIT(3)
#define HAS_TAG_BEHIND	BIT(4)		/* and not in the request */

#define PADDING_MAX	256	/* bytes, RFC 5246 section 6.2.3.2 */

static_assert(sizeof(struct ocf_command) == 80);
static_assert(sizeof(struct ocf_command) == sizeof_field(struct cdev_op, user));

static const struct ocf_command *command_of(const struct cdev_op *op)
{
	return (const struct ocf_command *)op->user;
}

static bool is_fixed(const struct ocf_command *c)
{
	return c->flags & (OCF_COMMAND_FIXED_SRC | OCF_COMMAND_FIXED_DST);
}

/* Whether nothing needs to be pinned. */
static bool all_fixed(const struct ocf_command *c, u32 out)
{
	u32 both = OCF_COMMAND_FIXED_SRC | (out ? OCF_COMMAND_FIXED_DST : 0);

	return (c->flags & both) == both;
}

/* ---- buffers ---- */

/* Copies @len bytes of the source into @op's own buffer. */
static int read_source(struct cdev_op *op, u32 at, u32 len)
{
	const struct ocf_command *c = command_of(op);

	if (c->flags & OCF_COMMAND_FIXED_SRC)
		return cdev_uring_read(op, at, len);
	return cdev_buffer_read(op, at, u64_to_user_ptr(c->src), len);
}

/*
 * Sets the buffers: @lead bytes from c->aad and then the caller's pages, or
 * copies of both with room for @out bytes of result.  In either case, @trail
 * bytes of ours follow.
 */
static int command_fill_buffers(struct cdev_op *op, u32 lead, u32 trail,
				u32 out, bool share)
{
	const struct ocf_command *c = command_of(op);
	void __user *src = u64_to_user_ptr(c->src);
	void __user *dst = u64_to_user_ptr(c->dst);
	void __user *aad = u64_to_user_ptr(c->aad);
	int err;

	if (share && c->len >= (all_fixed(c, out) ? 1 : CDEV_PIN_MIN) &&
	    lead + trail <= CDEV_INLINE &&
	    cdev_buffer_apart(src, dst, c->len, out)) {
		if (lead && cdev_copy_in(op->bytes, aad, lead))
			return -EFAULT;
		err = is_fixed(c) ? cdev_uring_share(op, lead, c->len, out) :
				    cdev_buffer_pin(op, lead, src, c->len, dst,
						    out);
		if (!err && trail)
			cdev_buffer_trail(op, &op->src, lead, trail);
		if (!err && trail && op->req.dst != op->req.src)
			cdev_buffer_trail(op, &op->dst, lead, trail);
		if (likely(err != -EAGAIN))
			return err;
	}
	err = cdev_buffer_make(op, lead + max(c->len, out) + trail);
	if (!err && lead)
		err = cdev_buffer_read(op, 0, aad, lead);
	if (err)
		return err;
	return read_source(op, lead, c->len);
}

static int fill_cipher(struct cdev_op *op)
{
	const struct ocf_command *c = command_of(op);

	op->req.data.len = c->len;
	return command_fill_buffers(op, 0, 0, c->len, true);
}

static int fill_digest(struct cdev_op *op)
{
	const struct ocf_command *c = command_of(op);

	op->req.data.len = c->len;
	return command_fill_buffers(op, 0, 0, 0, true) ?:
		       (c->flags & (OCF_COMMAND_MORE | OCF_COMMAND_CONTINUE) ?
				CDEV_SPECIAL :
				0);
}

static int fill_eta(struct cdev_op *op)
{
	const struct ocf_command *c = command_of(op);
	struct ocf_request *req = &op->req;

	req->auth.len = c->auth_len + c->len;
	req->data = (struct ocf_range){ c->auth_len, c->len };
	return command_fill_buffers(op, c->auth_len, 0, c->len,
				    c->op == OCF_OP_ENCRYPT);
}

/* The tag of an AEAD algorithm is behind its data, in our memory. */
static int command_fill_aead(struct cdev_op *op)
{
	const struct ocf_command *c = command_of(op);
	u32 maclen = op->ses->info.maclen;
	struct ocf_request *req = &op->req;
	int err;

	req->ivlen = c->ivlen;
	req->auth.len = c->auth_len;
	req->data = (struct ocf_range){ c->auth_len, c->len };
	req->tag_start = c->auth_len + c->len;
	if (c->op == OCF_OP_ENCRYPT && c->auth_len + maclen <= CDEV_INLINE)
		memset(op->bytes + c->auth_len, 0, maclen);
	err = command_fill_buffers(op, c->auth_len, maclen, c->len,
				   c->op == OCF_OP_ENCRYPT);
	if (err)
		return err;
	if (c->op == OCF_OP_ENCRYPT) {
		if (op->src.kind == CDEV_PAGES)
			cdev_buffer_fill(op, req->tag_start, 0, maclen);
		return 0;
	}
	return cdev_buffer_read(op, req->tag_start, u64_to_user_ptr(c->tag),
				maclen);
}

/*
 * The least bytes of MAC and padding: a block cipher's record has at least one
 * byte of padding
 */
static u32 least_behind(const struct cdev_op *op)
{
	u32 padding = op->ses->info.block > 1;

	return op->ses->info.maclen + padding;
}

/*
 * Whether the result of @c has room for the MAC and a valid length of padding
 * behind the data.
 */
static bool padding_fits(const struct cdev_op *op, const struct ocf_command *c)
{
	return c->dst_len >= c->len + least_behind(op) &&
	       c->dst_len - c->len - op->ses->info.maclen <= PADDING_MAX;
}

static int fill_mte(struct cdev_op *op)
{
	const struct ocf_command *c = command_of(op);
	struct ocf_request *req = &op->req;
	u32 maclen = op->ses->info.maclen, tail, padding;
	int err;

	req->auth.len = c->auth_len;
	if (c->op == OCF_OP_DECRYPT) {
		req->data = (struct ocf_range){ c->auth_len, c->len };
		return c->dst_len ? -EINVAL :
				    command_fill_buffers(op, c->auth_len, 0,
							 c->len, false);
	}
	if (!padding_fits(op, c))
		return -EINVAL;
	padding = c->dst_len - c->len - maclen;
	err = command_fill_buffers(op, c->auth_len, 0, c->dst_len, false);
	if (err)
		return err;
	req->auth.len += c->len;
	req->data = (struct ocf_range){ c->auth_len, c->dst_len };
	tail = c->auth_len + c->len;
	req->tag_start = tail;
	cdev_buffer_fill(op, tail, 0, maclen);
	cdev_buffer_fill(op, tail + maclen, padding - 1, padding);
	return 0;
}

/*
 * One buffer holds both ranges.  The bytes around the data stay unchanged, and
 * need not be writable, except in a registered buffer.  Plaintext becomes
 * visible only after it was verified.
 */
static int fill_chain(struct cdev_op *op)
{
	const struct ocf_command *c = command_of(op);
	struct ocf_request *req = &op->req;
	u64 end = max((u64)c->data_start + c->len,
		      c->auth_start + c->auth_len);
	bool shows = !(c->flags & OCF_COMMAND_VERIFY);
	int err;

	if (c->auth_start > CDEV_LEN_MAX || end > CDEV_LEN_MAX)
		return -E2BIG;
	req->data = (struct ocf_range){ c->data_start, c->len };
	req->auth = (struct ocf_range){ c->auth_start, c->auth_len };
	if (c->flags & OCF_COMMAND_MAC_FIRST)
		req->flags |= OCF_REQ_MAC_FIRST;
	if (c->flags & OCF_COMMAND_VERIFY)
		req->flags |= OCF_REQ_VERIFY;
	if (c->len == end)
		return command_fill_buffers(op, 0, 0, end, shows);
	if (shows && c->src == c->dst && is_fixed(c)) {
		err = cdev_uring_share(op, 0, end, end);
		if (err != -EAGAIN)
			return err;
	}
	return cdev_buffer_make(op, end) ?: read_source(op, 0, end);
}

/* The field of @c that fill_compress() refuses, or OCF_FIELD_NONE */
static enum ocf_field find_wrong_in_compress(const struct ocf_command *c)
{
	if (!c->len)
		return OCF_FIELD_LEN;
	if (!c->dst_len)
		return OCF_FIELD_DST_LEN;
	if (c->src == c->dst ||
	    !cdev_buffer_apart(u64_to_user_ptr(c->src), u64_to_user_ptr(c->dst),
			       c->len, c->dst_len))
		return OCF_FIELD_DST;
	return OCF_FIELD_NONE;
}

/* The length of the result is not known before. */
static int fill_compress(struct cdev_op *op)
{
	const struct ocf_command *c = command_of(op);
	int err;

	if (find_wrong_in_compress(c))
		return -EINVAL;
	op->req.data.len = c->len;
	op->req.dst_len = c->dst_len;
	err = cdev_op_charge(op, OCF_WORKSPACE_BYTES) ?:
	      cdev_uring_side(op, &op->src, c->flags & OCF_COMMAND_FIXED_SRC, 0,
			      c->src, c->len) ?:
	      cdev_uring_side(op, &op->dst, c->flags & OCF_COMMAND_FIXED_DST, 0,
			      c->dst, c->dst_len);
	op->req.src = op->src.sg;
	op->req.dst = op->dst.sg;
	return err;
}

static const struct {
	int	(*fill)(struct cdev_op *op);
	u32	has;
} modes[OCF_MODE_COUNT] = {
	[OCF_MODE_CIPHER] = { fill_cipher, HAS_DST },
	[OCF_MODE_DIGEST] = { fill_digest, HAS_TAG },
	[OCF_MODE_AEAD] = { command_fill_aead,
			    HAS_DST | HAS_AUTH | HAS_TAG | HAS_TAG_BEHIND },
	[OCF_MODE_ETA] = { fill_eta, HAS_DST | HAS_AUTH | HAS_TAG },
	[OCF_MODE_MTE] = { fill_mte, HAS_DST | HAS_AUTH | HAS_DST_LEN },
	[OCF_MODE_CHAIN] = { fill_chain,
			     HAS_DST | HAS_AUTH | HAS_TAG | HAS_DST_LEN },
	[OCF_MODE_COMPRESS] = { fill_compress, HAS_DST | HAS_DST_LEN },
};

/* ---- commands ---- */

/* The field of @c that its mode does not have, or OCF_FIELD_NONE */
static __always_inline enum ocf_field
find_other(const struct ocf_command *c, u32 has)
{
	if (!(has & HAS_DST) && c->dst)
		return OCF_FIELD_DST;
	if (!(has & HAS_TAG) && c->tag)
		return OCF_FIELD_TAG;
	if (!(has & HAS_AUTH) && (c->aad | c->auth_len))
		return OCF_FIELD_AUTH;
	if (!(has & HAS_DST_LEN) && c->dst_len)
		return OCF_FIELD_DST_LEN;
	return c->pad ? OCF_FIELD_PAD : OCF_FIELD_NONE;
}

/* Flags that only some modes have */
static u32 flags_of(const struct cdev_op *op)
{
	u32 flags = 0;

	if (op->ses->info.mode == OCF_MODE_CHAIN)
		flags |= OCF_COMMAND_MAC_FIRST | OCF_COMMAND_VERIFY;
	/* a part must not wait for commands that were submitted before */
	if (op->ses->info.mode == OCF_MODE_DIGEST && !op->ses->ordered)
		flags |= OCF_COMMAND_MORE | OCF_COMMAND_CONTINUE;
	if (op->ioucmd && cdev_uring_is_fixed(op->ioucmd)) {
		flags |= OCF_COMMAND_FIXED_SRC;
		if (modes[op->ses->info.mode].has & HAS_DST)
			flags |= OCF_COMMAND_FIXED_DST;
	}
	return flags;
}

/*
 * Whether a command in place has only one of its source and destination in a
 * registered buffer, which is refused.
 */
static bool half_fixed(const struct ocf_command *c)
{
	return c->src == c->dst && !(c->flags & OCF_COMMAND_FIXED_SRC) !=
				   !(c->flags & OCF_COMMAND_FIXED_DST);
}

/* The field of @c that its session does not take, or OCF_FIELD_NONE */
static __always_inline enum ocf_field
find_wrong(const struct cdev_op *op, const struct ocf_command *c)
{
	if (c->flags && (c->flags & ~flags_of(op) || half_fixed(c) ||
			 (c->flags & OCF_COMMAND_MORE && c->tag)))
		return OCF_FIELD_FLAGS;
	if (c->op >= OCF_OP_COUNT)
		return OCF_FIELD_OP;
	if ((c->ivlen && op->ses->info.mode != OCF_MODE_AEAD &&
	     c->ivlen != op->ses->info.ivlen) || c->ivlen > OCF_IV_MAX)
		return OCF_FIELD_IV;
	return find_other(c, modes[op->ses->info.mode].has);
}

static int command_check(const struct cdev_op *op, const struct ocf_command *c)
{
	if (find_wrong(op, c))
		return -EINVAL;
	if (max3(c->len, c->auth_len, c->dst_len) > CDEV_LEN_MAX)
		return -E2BIG;
	return 0;
}

static enum ocf_field find_wrong_in_mte(const struct cdev_op *op,
					const struct ocf_command *c)
{
	u32 block = op->ses->info.block;

	if (c->op == OCF_OP_DECRYPT) {
		if (c->dst_len)
			return OCF_FIELD_DST_LEN;
		if (c->len % block || c->len < least_behind(op))
			return OCF_FIELD_LEN;
	} else if (c->dst_len % block || !padding_fits(op, c)) {
		return OCF_FIELD_DST_LEN;
	}
	return OCF_FIELD_AUTH;
}

/*
 * The field that find_wrong() has let pass, but fill_*() or the core has
 * refused
 */
static enum ocf_field find_wrong_later(const struct cdev_op *op,
				       const struct ocf_command *c)
{
	u32 mode = op->ses->info.mode;

	if (c->len > CDEV_LEN_MAX)
		return OCF_FIELD_LEN;
	if (c->auth_len > CDEV_LEN_MAX)
		return OCF_FIELD_AUTH;
	if (mode == OCF_MODE_CHAIN &&
	    (u64)c->data_start + c->len > CDEV_LEN_MAX)
		return OCF_FIELD_LEN;
	if (mode != OCF_MODE_CHAIN && c->dst_len > CDEV_LEN_MAX)
		return OCF_FIELD_DST_LEN;
	if (mode == OCF_MODE_MTE)
		return find_wrong_in_mte(op, c);
	/* if no field is wrong, the data to expand are not a valid stream */
	if (mode == OCF_MODE_COMPRESS)
		return find_wrong_in_compress(c);
	if (c->flags & (OCF_COMMAND_MORE | OCF_COMMAND_CONTINUE))
		return OCF_FIELD_FLAGS;
	if (c->len % op->ses->info.block ||
	    (mode == OCF_MODE_CIPHER && !c->len))
		return OCF_FIELD_LEN;
	if (mode == OCF_MODE_AEAD)
		/* or CCM's nonce leaves too few bytes for the length */
		return c->ivlen && c->ivlen != op->ses->info.ivlen ?
			       OCF_FIELD_IV : OCF_FIELD_LEN;
	return mode == OCF_MODE_CHAIN || mode == OCF_MODE_ETA ?
		       OCF_FIELD_AUTH : OCF_FIELD_NONE;
}

/**
 * cdev_command_wrong() - find the field of a command that caused an error
 * @op: the operation; cdev_command_end() has not been called for it
 * @res: the command's result
 *
 * Context: any.
 * Return: OCF_FIELD_*.
 */
enum ocf_field cdev_command_wrong(const struct cdev_op *op, int res)
{
	const struct ocf_command *c = command_of(op);

	if (c->op == OCF_OP_PUBLIC_KEY)
		return cdev_public_wrong(op, res);
	if (res != -EINVAL && res != -E2BIG)
		return OCF_FIELD_NONE;
	if (!op->ses)
		return OCF_FIELD_SESSION;
	return find_wrong(op, c) ?: find_wrong_later(op, c);
}

/* Whether the tag is compared instead of computed. */
static bool compares(const struct cdev_op *op)
{
	const struct ocf_command *c = command_of(op);

	return op->ses->info.mode == OCF_MODE_CHAIN ?
	       c->flags & OCF_COMMAND_VERIFY : c->op == OCF_OP_DECRYPT;
}

static bool has_tag(const struct cdev_op *op)
{
	return modes[op->ses->info.mode].has & HAS_TAG &&
	       !(command_of(op)->flags & OCF_COMMAND_MORE);
}

/*
 * Returns the session @id if it was closed meanwhile, but the vector of @op
 * keeps it; otherwise NULL
 */
static noinline struct cdev_session *kept_session(struct cdev_op *op, u32 id)
{
	struct cdev_session *ses = op->vector ? op->vector->ses : NULL;

	if (!ses || ses->id != id)
		return NULL;
	refcount_inc(&ses->refs);
	return ses;
}

/* Usually the session of the command before */
static int find_session(struct cdev_op *op, u32 id)
{
	if (op->ses && op->ses->id == id)
		return 0;
	if (op->ses)
		cdev_session_put(op->ses);
	op->ses = cdev_session_find(op->file, CDEV_ABI_NATIVE, id) ?:
		  kept_session(op, id);
	return op->ses ? 0 : -EINVAL;
}

/**
 * cdev_command_prepare() - make an operation of a command
 * @op: the operation, with the command in op->user
 *
 * Context: process; may sleep.
 * Return: 0: for cdev_command_submit(); CDEV_SPECIAL: for
 * cdev_command_special(); or an error as of struct ocf_result.
 */
int cdev_command_prepare(struct cdev_op *op)
{
	const struct ocf_command *c = command_of(op);
	struct ocf_request *req = &op->req;
	struct cdev_session *ses;
	int err;

	if (unlikely(c->op == OCF_OP_PUBLIC_KEY))
		return cdev_public_prepare(op) ?: CDEV_SPECIAL;
	err = find_session(op, c->session);
	if (err)
		return err;
	ses = op->ses;
	cdev_op_set(op, ses, ses->ses);
	err = command_check(op, c);
	if (err)
		return err;
	if (unlikely(cdev_user_is_full(ses->user)))
		return -EDQUOT;
	req->op = array_index_nospec(c->op, OCF_OP_COUNT);
	memcpy(req->iv, c->iv, sizeof(c->iv));
	/* half a tweak of XTS; other algorithms ignore the rest */
	if (unlikely(ses->info.ivlen == 8))
		memset(req->iv + 8, 0, sizeof(req->iv) - 8);
	if (has_tag(op) && compares(op) &&
	    !(modes[ses->info.mode].has & HAS_TAG_BEHIND) &&
	    cdev_copy_in(req->tag, u64_to_user_ptr(c->tag), ses->info.maclen))
		return -EFAULT;
	return modes[ses->info.mode].fill(op);
}

/* Bytes of the result */
static u32 length_of(const struct cdev_op *op)
{
	const struct ocf_command *c = command_of(op);

	switch (op->ses->info.mode) {
	case OCF_MODE_DIGEST:
		return has_tag(op) ? op->ses->info.maclen : 0;
	case OCF_MODE_MTE:
		return c->op == OCF_OP_ENCRYPT ? c->dst_len :
						 op->req.result_len;
	case OCF_MODE_COMPRESS:
		return op->req.result_len;
	default:
		return c->len;
	}
}

static int write_result(struct cdev_op *op, u32 len)
{
	const struct ocf_command *c = command_of(op);
	u32 at = c->auth_len;
	u64 dst = c->dst;

	if (op->ses->info.mode == OCF_MODE_DIGEST ||
	    op->src.kind == CDEV_PINNED || op->src.kind == CDEV_FIXED)
		return 0;
	if (op->ses->info.mode == OCF_MODE_CHAIN) {
		at = c->data_start;
		dst += at;
	}
	if (c->flags & OCF_COMMAND_FIXED_DST)
		return cdev_uring_write(op, at, dst, len);
	return cdev_buffer_write(op, at, u64_to_user_ptr(dst), len);
}

static int write_tag(struct cdev_op *op)
{
	const struct ocf_command *c = command_of(op);
	void __user *tag = u64_to_user_ptr(c->tag);
	u32 len = op->ses->info.maclen;

	if (!(modes[op->ses->info.mode].has & HAS_TAG_BEHIND))
		return cdev_copy_out(tag, op->req.tag, len);
	if (op->src.kind == CDEV_PINNED || op->src.kind == CDEV_FIXED)
		return cdev_copy_out(tag, op->bytes + c->auth_len, len);
	return cdev_buffer_write(op, op->req.tag_start, tag, len);
}

/**
 * cdev_command_deliver() - deliver the results of an operation that has ended
 * @op: the operation
 *
 * Context: process, with the submitter's memory; may sleep.
 * Return: the value for ocf_result.res.
 */
int cdev_command_deliver(struct cdev_op *op)
{
	u32 len;

	if (op->err)
		return op->err;
	if (unlikely(command_of(op)->op & OCF_OP_PUBLIC_KEY))
		return cdev_public_deliver(op);
	len = length_of(op);
	if (write_result(op, len) ||
	    (has_tag(op) && !compares(op) && write_tag(op)))
		return -EFAULT;
	return len;
}
