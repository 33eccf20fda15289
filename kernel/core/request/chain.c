// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chains over devices: a session of a cipher and a MAC does its requests in two
 * steps, on two devices, where that is faster or where no device does both.
 *
 * A session that may be split has two parts, a session of the cipher and one of
 * the MAC, and so has each generation of its keys.  A request that is split
 * belongs to one part after the other.  It is started, waited for, replayed and
 * accounted for like any request of that part.  Between the steps, and at the
 * end, it is restored to what it was.  Its references to its own session and
 * generation keep the parts alive.
 *
 * Of MAC-then-encrypt only the cipher is a separate step.  After decryption the
 * CPU checks padding and MAC in constant time: it gets the whole request, with
 * OCF_BIT_OPENED.
 */
#include "../core.h"

#include <trace/events/ocf.h>

/*
 * Whether each step has its input in one buffer.  A MAC after the cipher covers
 * the cipher's output and the bytes around it.
 */
static bool can_split(const struct ocf_request *req,
		      const struct ocf_session_params *p)
{
	u32 end = req->data.start + req->data.len;

	if (!req->data.len)
		return false;
	if (p->mode != OCF_MODE_ETA || req->op == OCF_OP_DECRYPT)
		return true;
	return ocf_buffer_same(req->src, req->dst, req->auth.start,
			       req->data.start - req->auth.start) &&
	       ocf_buffer_same(req->src, req->dst, end,
			       req->auth.start + req->auth.len - end);
}

static u64 part_score(struct ocf_session *ses, struct ocf_keys *keys, int part,
		      enum ocf_op op, u32 bytes)
{
	return ocf_select_score(ses->part[part], keys->part[part], op, bytes);
}

/**
 * ocf_chain_wins() - whether a request is better done in two steps
 * @req: a request of a session with @splits
 * @keys: the generation it runs under
 * @score: ns until it would be done as a whole, U64_MAX if it cannot be
 *
 * Context: process or BH, after ocf_read_lock().
 * Return: whether.
 */
bool ocf_chain_wins(struct ocf_request *req, struct ocf_keys *keys, u64 score)
{
	struct ocf_session *ses = req->session;
	u64 cipher, mac;

	if (!can_split(req, &ses->params))
		return false;
	/* after decryption the CPU does the check */
	if (ses->params.mode == OCF_MODE_MTE && READ_ONCE(ses->soft) < 0)
		return false;
	if (!ocf_keys_have_parts(keys)) {
		ocf_parts_want(ses);
		return false;
	}
	/*
	 * it cannot be done as a whole: split it, even if a device has no
	 * context for its step yet
	 */
	if (score == U64_MAX)
		return true;
	cipher = part_score(ses, keys, OCF_PART_CIPHER, req->op, req->data.len);
	mac = part_score(ses, keys, OCF_PART_MAC, req->op,
			 max(req->auth.len, req->data.len));
	return cipher < U64_MAX && mac < U64_MAX && cipher + mac < score;
}

/* ---- the steps ---- */

/* Whether the MAC is computed before the cipher. */
static bool mac_first(const struct ocf_request *req)
{
	switch (req->split.session->params.mode) {
	case OCF_MODE_ETA:
		return req->split.op == OCF_OP_DECRYPT;
	case OCF_MODE_MTE:
		return req->split.op == OCF_OP_ENCRYPT;
	default:
		return req->split.flags & OCF_REQ_MAC_FIRST;
	}
}

static void be_whole(struct ocf_request *req)
{
	const struct ocf_split *s = &req->split;

	req->session = s->session;
	req->keys = s->keys;
	req->src = s->src;
	req->dst = s->dst;
	req->auth = s->auth;
	req->data = s->data;
	req->tag_start = s->tag_start;
	req->flags = s->flags;
	req->op = s->op;
}

#define FLAGS_PARTS	(OCF_REQ_UPDATE | OCF_REQ_CONTINUE)

static void be_cipher(struct ocf_request *req)
{
	req->session = req->split.session->part[OCF_PART_CIPHER];
	req->keys = req->split.keys->part[OCF_PART_CIPHER];
	req->auth = (struct ocf_range){};
	req->tag_start = OCF_TAG_INLINE;
	req->flags &= OCF_REQ_MAY_SLEEP | OCF_REQ_INLINE | OCF_REQ_OFFLOAD |
		      OCF_REQ_NEXT_IV;
}

static void be_mac(struct ocf_request *req)
{
	const struct ocf_split *s = &req->split;
	enum ocf_mode mode = s->session->params.mode;

	req->session = s->session->part[OCF_PART_MAC];
	req->keys = s->keys->part[OCF_PART_MAC];
	req->data = s->auth;
	req->auth = (struct ocf_range){};
	/* before the cipher it covers the source, after it the destination */
	if (!mac_first(req))
		req->src = s->dst;
	else if (mode == OCF_MODE_MTE)
		req->dst = s->src;
	/* a tag to compare with is always in the source */
	if (req->src != s->src && s->flags & OCF_REQ_VERIFY &&
	    s->tag_start != OCF_TAG_INLINE) {
		ocf_sg_read(s->src, s->tag_start, req->tag,
			    s->session->params.maclen);
		req->tag_start = OCF_TAG_INLINE;
	}
	if (mode == OCF_MODE_CHAIN)
		req->op = s->flags & OCF_REQ_VERIFY ? OCF_OP_DECRYPT :
						      OCF_OP_ENCRYPT;
	req->flags &= OCF_REQ_MAY_SLEEP | OCF_REQ_INLINE | OCF_REQ_OFFLOAD |
		      FLAGS_PARTS;
}

/*
 * @req is whole again (see be_whole()).  Leaves it to the CPU, which only has
 * to check the decrypted data.
 */
static void be_opened(struct ocf_request *req)
{
	int soft = READ_ONCE(req->split.session->soft);

	req->excluded = soft < 0 ? U64_MAX : ~BIT_ULL(soft);
	atomic_or(OCF_BIT_OPENED, &req->bits);
}

static void set_step(struct ocf_request *req)
{
	be_whole(req);
	req->excluded = 0;
	req->parks = 0;
	/* a request that was begun is not refused any more */
	if (req->split.step)
		atomic_or(OCF_BIT_RESTARTED, &req->bits);
	if (mac_first(req) == !!req->split.step)
		be_cipher(req);
	else if (req->split.session->params.mode == OCF_MODE_MTE &&
		 req->split.op == OCF_OP_DECRYPT)
		be_opened(req);
	else
		be_mac(req);
	req->bytes = max(req->data.len, req->auth.len);
}

/*
 * Does the steps from the current one on, as long as each ends at once.
 * Returns 0 with the result in req->err, -EINPROGRESS, or an error of a step
 * that could not be begun.
 */
static int take_steps(struct ocf_request *req)
{
	int err;

	for (;;) {
		err = ocf_request_start_again(req);
		if (err)
			return err;
		if (req->err || ++req->split.step == OCF_PARTS)
			return 0;
		set_step(req);
	}
}

static void finish(struct ocf_request *req, int err)
{
	be_whole(req);
	req->split.session = NULL;
	req->bytes = max(req->data.len, req->auth.len);
	if (err == -EBADMSG)
		ocf_buffer_deny(req);
	/* the step that computes the MAC may have changed result_len */
	else if (req->session->params.mode != OCF_MODE_MTE ||
		 req->op == OCF_OP_ENCRYPT)
		req->result_len = req->data.len;
}

/**
 * ocf_chain_start() - do a request in two steps
 * @req: a request for which ocf_chain_wins(), and that holds its keys
 *
 * Context: process or BH.
 * Return: as ocf_request_start(); after an error @req is as it was.
 */
int ocf_chain_start(struct ocf_request *req)
{
	int err;

	req->split = (struct ocf_split){
		.session = req->session, .keys = req->keys, .src = req->src,
		.dst = req->dst, .auth = req->auth, .data = req->data,
		.tag_start = req->tag_start, .flags = req->flags,
		.op = req->op,
	};
	trace_ocf_request_split(req, -1, 0);
	set_step(req);
	err = take_steps(req);
	if (err == -EINPROGRESS)
		return err;
	if (err && req->split.step) {
		/* the first step is done, so it cannot begin again */
		req->err = err;
		err = 0;
	}
	finish(req, err ?: req->err);
	return err;
}

/**
 * ocf_chain_next() - go on when a step has its result
 * @req: the request
 * @err: the result of the step; if this returns true, that of the request
 *
 * Context: process or BH.
 * Return: whether the request has its result.
 */
bool ocf_chain_next(struct ocf_request *req, int *err)
{
	int next;

	if (!*err && ++req->split.step < OCF_PARTS &&
	    !(atomic_read(&req->bits) & OCF_BIT_CANCELLED)) {
		set_step(req);
		/* a completion must not sleep, and must not be delayed */
		req->flags &= ~OCF_REQ_MAY_SLEEP;
		req->flags |= OCF_REQ_OFFLOAD;
		atomic_andnot(OCF_BIT_WORKER, &req->bits);
		next = take_steps(req);
		if (next == -EINPROGRESS)
			return false;
		*err = next ?: req->err;
	}
	finish(req, *err);
	return true;
}
