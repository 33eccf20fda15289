// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chains over devices: a session of a cipher and a MAC does its requests in two
 * steps, on two devices, where that is faster or where no device does both.
 *
 * A session that may be split has two parts, a session of the cipher and one of
 * the MAC, and so has each generation of its keys.  A request that is split
 * belongs to one part after the other.  It is started, waited for, replayed and
 * accounted for like any request of that part.  Between the steps, and at the
 * end, it becomes again what it was.  Its hold on its own session and
 * generation keeps the parts.
 *
 * Of MAC-then-encrypt only the cipher is a separate step.  After decryption the
 * CPU checks padding and MAC in constant time: it gets the whole request, with
 * OCF_BIT_OPENED.
 *
 * A worker makes the parts when they would be useful, because a submission
 * allocates nothing.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../core.h"

#include <trace/events/ocf.h>

enum { CIPHER, MAC, STEPS };

/**
 * ocf_chain_params() - the parameters of a part of a session
 * @whole: the parameters of the session
 * @part: 0 for the cipher, 1 for the MAC
 *
 * Return: the part's parameters; with keys if @whole has keys.
 */
struct ocf_session_params
ocf_chain_params(const struct ocf_session_params *whole, int part)
{
	struct ocf_session_params p = {
		.policy = whole->policy,
		.flags = whole->flags & OCF_SESSION_ANY,
		.device = OCF_DEVICE_ANY,
		.owner = whole->owner,
		.account = whole->account,
	};

	if (part == CIPHER) {
		p.mode = OCF_MODE_CIPHER;
		p.cipher = whole->cipher;
		p.key = whole->key;
		p.keylen = whole->keylen;
		p.ivlen = whole->ivlen;
		p.rounds = whole->rounds;
	} else {
		p.mode = OCF_MODE_DIGEST;
		p.mac = whole->mac;
		p.mackey = whole->mackey;
		p.mackeylen = whole->mackeylen;
		p.maclen = whole->maclen;
	}
	return p;
}

/* ---- parts ---- */

static int make_part(struct ocf_session *ses, struct ocf_keys *keys, int i)
{
	struct ocf_session_params p = ocf_chain_params(&keys->params, i);
	struct ocf_session *session;
	struct ocf_keys *part;

	if (!ses->part[i]) {
		session = ocf_session_make(&p, NULL, GFP_KERNEL_ACCOUNT);
		if (IS_ERR(session))
			return PTR_ERR(session);
		ses->part[i] = session;
	}
	if (keys->part[i])
		return 0;
	part = ocf_keys_create(&p, GFP_KERNEL_ACCOUNT);
	if (IS_ERR(part))
		return PTR_ERR(part);
	/* pairs with parts_of() */
	smp_store_release(&keys->part[i], part);
	return 0;
}

/**
 * ocf_chain_make() - make the parts of a session and of its keys
 * @ses: the session, whose keys do not change meanwhile
 * @keys: a generation of its keys
 *
 * Context: process; may sleep.
 * Return: 0, -ENOMEM or -EDQUOT.
 */
int ocf_chain_make(struct ocf_session *ses, struct ocf_keys *keys)
{
	return make_part(ses, keys, CIPHER) ?: make_part(ses, keys, MAC);
}

/*
 * The parts belong to the control group of @keys, as if the user had made them.
 */
static void make_charged(struct ocf_session *ses, struct ocf_keys *keys)
{
	struct mem_cgroup *old = set_active_memcg(keys->memcg);

	ocf_chain_make(ses, keys);
	set_active_memcg(old);
}

/*
 * A user holds the lock while the keys change: then a later request asks again.
 */
static void make_parts(struct work_struct *work)
{
	struct ocf_session *ses = container_of(work, struct ocf_session,
					       split_work);
	struct ocf_keys *keys;

	if (mutex_trylock(&ses->rekey)) {
		keys = rcu_dereference_protected(ses->keys,
						 lockdep_is_held(&ses->rekey));
		make_charged(ses, keys);
		mutex_unlock(&ses->rekey);
	}
	ocf_session_put(ses);
}

void ocf_chain_init(struct ocf_session *ses)
{
	INIT_WORK(&ses->split_work, make_parts);
}

static void want_parts(struct ocf_session *ses)
{
	ocf_session_get(ses);
	if (!queue_work(ocf_wq, &ses->split_work))
		ocf_session_put_deferred(ses);
}

/* The second part is made last: if it is there, both are. */
static bool parts_of(const struct ocf_keys *keys)
{
	/* pairs with make_part() */
	return smp_load_acquire(&keys->part[MAC]);
}

/* ---- whether ---- */

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
	if (!parts_of(keys)) {
		want_parts(ses);
		return false;
	}
	/* one of the devices is not ready for its step */
	if (score == U64_MAX)
		return true;
	cipher = ocf_select_score(ses->part[CIPHER], keys->part[CIPHER],
				  req->op, req->data.len);
	mac = ocf_select_score(ses->part[MAC], keys->part[MAC], req->op,
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
	req->session = req->split.session->part[CIPHER];
	req->keys = req->split.keys->part[CIPHER];
	req->auth = (struct ocf_range){};
	req->tag_start = OCF_TAG_INLINE;
	req->flags &= OCF_REQ_MAY_SLEEP | OCF_REQ_INLINE | OCF_REQ_OFFLOAD |
		      OCF_REQ_NEXT_IV;
}

static void be_mac(struct ocf_request *req)
{
	const struct ocf_split *s = &req->split;
	enum ocf_mode mode = s->session->params.mode;

	req->session = s->session->part[MAC];
	req->keys = s->keys->part[MAC];
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

/* Makes @req whole again; the CPU only has to check the decrypted data. */
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
		err = ocf_select_restart(req);
		if (err)
			return err;
		if (req->err || ++req->split.step == STEPS)
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
	/* a step on a digest may have left it set */
	else if (req->session->params.mode != OCF_MODE_MTE ||
		 req->op == OCF_OP_ENCRYPT)
		req->result_len = req->data.len;
}

/**
 * ocf_chain_start() - do a request in two steps
 * @req: a request for which ocf_chain_wins(), and that holds its keys
 *
 * Context: process or BH.
 * Return: as ocf_select_start(); after an error @req is as it was.
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

	if (!*err && ++req->split.step < STEPS &&
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
