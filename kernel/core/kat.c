// SPDX-License-Identifier: GPL-2.0-only
/*
 * Known answers: a device shows what it can before it gets traffic.
 *
 * Each answer is asked for through an ordinary session that may use this
 * device only: forwards in place and to another buffer, and backwards; and
 * with a wrong tag or MAC, which must be refused.  An algorithm of which the
 * device has shown nothing is taken off its list; a wrong answer keeps it
 * out.  Then the cost of each algorithm is measured at two sizes.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "core.h"
#include "pk.h"
#include "kat_vectors.h"

#include <trace/events/ocf.h>

#define BUF_SIZE	8192
#define COST_SMALL	64	/* bytes; sizes at which cost is measured */
#define COST_LARGE	4096
#define COST_ROUNDS	4	/* the best of them counts */

/* One answer being asked for. */
struct trial {
	const struct ocf_kat	*kat;
	struct ocf_device	*dev;
	struct ocf_session	*ses;
	struct ocf_request	*req;
	struct scatterlist	src_sg, dst_sg;
	u8			*src, *dst;	/* BUF_SIZE each */
	enum ocf_op		op;
	bool			spoil;		/* the tag */
	struct completion	done;
	int			err;		/* with @done */
	bool			again;		/* it has answered before */
	unsigned int		answers;	/* that were right */
	DECLARE_BITMAP(proven, OCF_ALG_COUNT);
	unsigned long		modes_tried;	/* with a cipher and a MAC */
	unsigned long		modes_proven;
};

static const char *name_of(const struct ocf_kat *k)
{
	return ocf_alg_info(k->cipher ?: k->mac)->name;
}

/* Length of what decryption starts from: MTE has MAC and padding in it. */
static u32 data_len(const struct ocf_kat *k)
{
	return k->mode == OCF_MODE_MTE ? k->result_len : k->text_len;
}

static void fill_text(struct trial *t)
{
	const struct ocf_kat *k = t->kat;
	u8 *p = t->src + k->aad_len;
	u32 maclen = ocf_request_maclen(t->req), pad;

	memcpy(t->src, k->aad, k->aad_len);
	if (t->op == OCF_OP_DECRYPT && k->result_len) {
		memcpy(p, k->result, k->result_len);
		p += k->result_len;
	} else {
		memcpy(p, k->text, k->text_len);
		p += k->text_len;
		if (k->mode == OCF_MODE_MTE) {
			pad = k->result_len - k->text_len - maclen;
			memset(p, 0, maclen);
			memset(p + maclen, pad - 1, pad);
		}
	}
	if (k->mode == OCF_MODE_AEAD && t->op == OCF_OP_DECRYPT)
		memcpy(p, k->tag, k->tag_len);
}

static void set_ranges(struct trial *t)
{
	const struct ocf_kat *k = t->kat;
	struct ocf_request *req = t->req;
	u32 start = k->aad_len;

	req->data = (struct ocf_range){ start, data_len(k) };
	switch (k->mode) {
	case OCF_MODE_AEAD:
		req->auth = (struct ocf_range){ 0, start };
		req->tag_start = start + k->text_len;
		break;
	case OCF_MODE_ETA:
		req->auth = (struct ocf_range){ 0, start + k->text_len };
		break;
	case OCF_MODE_MTE:
		req->auth = (struct ocf_range){ 0, start };
		if (t->op == OCF_OP_ENCRYPT)
			req->auth.len += k->text_len;
		req->tag_start = start + k->text_len;
		break;
	case OCF_MODE_CHAIN:
		req->auth = req->data;
		req->flags |= t->op == OCF_OP_ENCRYPT ? OCF_REQ_MAC_FIRST :
							OCF_REQ_VERIFY;
		break;
	case OCF_MODE_COMPRESS:
		if (t->op == OCF_OP_DECRYPT)
			req->data.len = k->result_len;
		req->dst_len = BUF_SIZE;
		break;
	default:
		break;
	}
	memcpy(req->tag, k->tag, k->tag_len);
}

/* Makes one byte wrong of what authenticates. */
static void spoil(struct trial *t)
{
	const struct ocf_kat *k = t->kat;

	if (k->mode == OCF_MODE_AEAD)
		t->src[t->req->tag_start] ^= 1;
	else if (k->mode == OCF_MODE_MTE)
		t->src[k->aad_len] ^= 1;
	else
		t->req->tag[0] ^= 1;
}

static void answered(struct ocf_request *req, int err)
{
	struct trial *t = req->cookie;

	t->err = err;
	complete(&t->done);
}

/* Waits for the answer; whether it came. */
static bool wait_for_answer(struct trial *t)
{
	do {
		if (wait_for_completion_timeout(&t->done,
						ocf_kat_patience(t->dev)))
			return true;
	} while (ocf_device_is_watched(t->dev));
	return false;
}

/*
 * Runs @t->req.  Not as ocf_run() does, which leaves a request behind if the
 * task is killed, and waits for ever for a device that never answers: that is
 * stopped here, and gives the request back.
 */
static int run(struct trial *t)
{
	struct ocf_request *req = t->req;
	int err;

	req->flags |= OCF_REQ_MAY_SLEEP | OCF_REQ_INLINE;
	req->done = answered;
	req->cookie = t;
	reinit_completion(&t->done);
	err = ocf_submit(req);
	if (err && err != -EINPROGRESS)
		return err;
	if (!wait_for_answer(t)) {
		ocf_device_rescue(t->dev);
		wait_for_completion(&t->done);
		return -ETIMEDOUT;
	}
	return t->err;
}

/* Runs it; the device's answer is in the buffers. */
static int ask(struct trial *t, bool in_place)
{
	const struct ocf_kat *k = t->kat;

	ocf_request_init(t->req, t->ses);
	memset(t->src, 0, BUF_SIZE);
	memset(t->dst, 0, BUF_SIZE);
	sg_init_one(&t->src_sg, t->src, BUF_SIZE);
	sg_init_one(&t->dst_sg, t->dst, BUF_SIZE);
	t->req->src = &t->src_sg;
	t->req->dst = in_place ? &t->src_sg : &t->dst_sg;
	t->req->op = t->op;
	fill_text(t);
	set_ranges(t);
	memcpy(t->req->iv, k->iv, k->iv_len);
	if (t->op == OCF_OP_ENCRYPT)
		memset(t->req->tag, 0, sizeof(t->req->tag));
	if (t->spoil)
		spoil(t);
	return run(t);
}

static bool right(const struct trial *t, bool in_place)
{
	const struct ocf_kat *k = t->kat;
	const u8 *out = (in_place ? t->src : t->dst) + k->aad_len;
	bool forward = t->op == OCF_OP_ENCRYPT;

	/* how well it compresses is up to the device */
	if (k->mode == OCF_MODE_COMPRESS)
		return forward || (t->req->result_len == k->text_len &&
				   !memcmp(out, k->text, k->text_len));
	if (k->result_len &&
	    memcmp(out, forward ? k->result : k->text,
		   forward ? k->result_len : k->text_len))
		return false;
	if (!forward)
		return k->mode != OCF_MODE_MTE ||
		       t->req->result_len == k->text_len;
	if (k->mode == OCF_MODE_AEAD)
		return !memcmp(out + k->text_len, k->tag, k->tag_len);
	return !memcmp(t->req->tag, k->tag, k->tag_len);
}

/* Whether a wrong tag is there to be found out. */
static bool can_spoil(const struct trial *t)
{
	return t->op == OCF_OP_DECRYPT && t->kat->mode != OCF_MODE_CIPHER &&
	       t->kat->mode != OCF_MODE_COMPRESS;
}

static int try_op(struct trial *t)
{
	bool in_place;
	int i, err;

	for (i = 0; i < 2; i++) {
		in_place = !i;
		if (in_place && t->kat->mode == OCF_MODE_COMPRESS)
			continue;
		if (!in_place && t->op == OCF_OP_DECRYPT &&
		    t->kat->mode == OCF_MODE_CHAIN)
			in_place = true;
		t->spoil = false;
		err = ask(t, in_place);
		if (err)
			return err;
		if (!right(t, in_place))
			return -EBADMSG;
		if (!can_spoil(t))
			continue;
		t->spoil = true;
		err = ask(t, in_place);
		if (err != -EBADMSG)
			return err ?: -EBADMSG;
	}
	return 0;
}

static struct ocf_session_params params_of(const struct trial *t)
{
	const struct ocf_kat *k = t->kat;

	return (struct ocf_session_params){
		.mode = k->mode,
		.cipher = k->cipher,
		.mac = k->mac,
		.device = t->dev->number,
		.key = k->key,
		.keylen = k->key_len,
		.mackey = k->mackey,
		.mackeylen = k->mackey_len,
		.ivlen = k->iv_len,
		.maclen = k->tag_len,
	};
}

static struct ocf_session *open_session(struct trial *t)
{
	struct ocf_session_params p = params_of(t);

	return ocf_session_create_on(&p, t->dev, GFP_KERNEL);
}

/* -EOPNOTSUPP: not capable; -EBADMSG: wrong; anything else: failed. */
static int try_kat(struct trial *t)
{
	int err;

	t->ses = open_session(t);
	if (IS_ERR(t->ses)) {
		err = PTR_ERR(t->ses);
		return err == -ENOENT || err == -EINVAL ? -EOPNOTSUPP : err;
	}
	for (t->op = 0; t->op < OCF_OP_COUNT; t->op++) {
		err = try_op(t);
		if (err)
			break;
	}
	ocf_session_put(t->ses);
	trace_ocf_device_answer(t->dev->name, name_of(t->kat), err);
	return err;
}

/*
 * ns for @len bytes of any data with the keys of the answer.  What is any data
 * is no stream: that to expand one costs what it does to make it is the most
 * that can be said, until it is seen.
 */
static u64 measure(struct trial *t, u32 len)
{
	struct ocf_request *req = t->req;
	u64 best = U64_MAX, begun;
	int i;

	for (i = 0; i < COST_ROUNDS; i++) {
		ocf_request_init(req, t->ses);
		memset(t->src, 0, BUF_SIZE);
		req->src = &t->src_sg;
		req->dst = t->kat->mode == OCF_MODE_COMPRESS ? &t->dst_sg :
							       &t->src_sg;
		req->op = t->op;
		req->data.len = len;
		req->dst_len = BUF_SIZE;
		if (t->kat->mode == OCF_MODE_AEAD)
			req->tag_start = len;
		begun = ktime_get_ns();
		/* the -EBADMSG of nonsense costs what sense does */
		run(t);
		best = min(best, ktime_get_ns() - begun);
	}
	return best;
}

static void measure_kat(struct trial *t)
{
	enum ocf_alg alg = t->kat->cipher ?: t->kat->mac;
	u64 small;

	t->ses = open_session(t);
	if (IS_ERR(t->ses))
		return;
	for (t->op = 0; t->op < OCF_OP_COUNT; t->op++) {
		if (t->kat->mode == OCF_MODE_COMPRESS && t->op) {
			t->dev->cost[alg][t->op] = t->dev->cost[alg][0];
			break;
		}
		small = measure(t, COST_SMALL);
		t->dev->cost[alg][t->op] =
			ocf_cost_fit(COST_SMALL, small, COST_LARGE,
				     measure(t, COST_LARGE));
	}
	ocf_session_put(t->ses);
}

/* Notes what a right answer says of the device. */
static void note(struct trial *t)
{
	const struct ocf_kat *k = t->kat;

	t->answers++;
	if (t->again)
		return;
	if (k->cipher && k->mac)
		t->modes_proven |= BIT(k->mode);
	else
		measure_kat(t);
	set_bit(k->cipher ?: k->mac, t->proven);
	set_bit(k->mac ?: k->cipher, t->proven);
}

/* Asks for one answer. */
static int try_one(struct trial *t)
{
	const struct ocf_kat *k = t->kat;
	int err = try_kat(t);

	if (k->cipher && k->mac)
		t->modes_tried |= BIT(k->mode);
	if (err == -EOPNOTSUPP)
		return 0;
	if (!err) {
		note(t);
		return READ_ONCE(t->dev->queue.closed) ? -ETIMEDOUT : 0;
	}
	if (t->again && ocf_kat_unasked(err))
		return err;
	pr_err("ocf: %s: %s in mode %d: %s (%d), the device is not used\n",
	       t->dev->name, name_of(k), k->mode,
	       err == -EBADMSG ? "wrong answer" : "no answer", err);
	return err;
}

static int try_all(struct trial *t)
{
	struct ocf_device *dev = t->dev;
	struct ocf_session_params p;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(ocf_kats); i++) {
		t->kat = &ocf_kats[i];
		p = params_of(t);
		if (!ocf_device_capable(dev, &p))
			continue;
		err = try_one(t);
		if (err)
			return err;
	}
	return t->answers ? 0 : -ENODEV;
}

/* What nothing is known of is taken off the device's lists. */
static void keep_proven(struct trial *t)
{
	struct ocf_device_info *info = &t->dev->info;

	bitmap_and(info->algs, info->algs, t->proven, OCF_ALG_COUNT);
	info->modes &= ~(t->modes_tried & ~t->modes_proven);
}

static int ask_all(struct ocf_device *dev, bool again)
{
	struct trial *t;
	int pk, err = -ENOMEM;

	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return err;
	t->dev = dev;
	t->again = again;
	init_completion(&t->done);
	t->src = kmalloc(BUF_SIZE, GFP_KERNEL);
	t->dst = kmalloc(BUF_SIZE, GFP_KERNEL);
	t->req = kzalloc(sizeof(*t->req), GFP_KERNEL);
	if (t->src && t->dst && t->req)
		err = try_all(t);
	if (!err && !again)
		keep_proven(t);
	/* who has no sessions may have public-key operations */
	if (!err || err == -ENODEV) {
		pk = ocf_pk_kat(dev, again);
		err = pk == -ENODEV ? err : pk;
	}
	kfree(t->req);
	kfree(t->dst);
	kfree(t->src);
	kfree(t);
	return err;
}

/**
 * ocf_kat_device() - ask a device for known answers, measure its costs
 * @dev: the device; what it cannot do is taken off @dev->info.algs
 *
 * Context: process; may sleep.
 * Return: 0; -EBADMSG for a wrong answer; -ENODEV if nothing is left that it
 * can do; -ETIMEDOUT if it did not answer, it has been stopped; -ENOMEM; what
 * it failed with.
 */
int ocf_kat_device(struct ocf_device *dev)
{
	return ask_all(dev, false);
}

/**
 * ocf_kat_again() - ask a device once more
 * @dev: the device
 *
 * Context: process; may sleep.
 * Return: as ocf_kat_device().
 */
int ocf_kat_again(struct ocf_device *dev)
{
	return ask_all(dev, true);
}
