// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-tests: a device must give the known answers before it gets requests.
 *
 * Each known-answer test goes through an ordinary session that may use this
 * device only.  It encrypts in place and into another buffer, then decrypts,
 * and decrypts with a wrong tag or MAC, which the device must refuse.  A wrong
 * answer, or none, keeps the device out.  An algorithm for which no test gave a
 * right answer is removed from the device's list.  Then the cost of each
 * algorithm is measured at two sizes.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "../core.h"
#include "../pk/pk.h"
#include "vectors.h"

#include <trace/events/ocf.h>

#define BUF_SIZE	8192
#define COST_SMALL	64	/* bytes; sizes at which cost is measured */
#define COST_LARGE	4096
#define COST_ROUNDS	4	/* the fastest counts */

/* A running test */
struct selftest {
	const struct ocf_kat	*kat;
	struct ocf_device	*dev;
	struct ocf_session	*ses;
	struct ocf_request	*req;
	struct scatterlist	src_sg, dst_sg;
	u8			*src, *dst;	/* BUF_SIZE each */
	enum ocf_op		op;
	bool			spoil;		/* the tag is wrong */
	struct completion	done;
	int			err;		/* of the request, with @done */
	bool			again;		/* not the first one */
	unsigned int		answers;	/* right ones */
	DECLARE_BITMAP(proven, OCF_ALG_COUNT);
	unsigned long		modes_tried;	/* with a cipher and a MAC */
	unsigned long		modes_proven;
};

static const char *test_name(const struct ocf_kat *k)
{
	return ocf_alg_info(k->cipher ?: k->mac)->name;
}

/* The length of the input of decryption: in MTE it includes MAC and padding. */
static u32 sealed_len(const struct ocf_kat *k)
{
	return k->mode == OCF_MODE_MTE ? k->result_len : k->text_len;
}

static void fill_source(struct selftest *t)
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

static void set_ranges(struct selftest *t)
{
	const struct ocf_kat *k = t->kat;
	struct ocf_request *req = t->req;
	u32 start = k->aad_len;

	req->data = (struct ocf_range){ start, sealed_len(k) };
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

/* Changes a byte of the tag or MAC. */
static void spoil_tag(struct selftest *t)
{
	const struct ocf_kat *k = t->kat;

	if (k->mode == OCF_MODE_AEAD)
		t->src[t->req->tag_start] ^= 1;
	else if (k->mode == OCF_MODE_MTE)
		t->src[k->aad_len] ^= 1;
	else
		t->req->tag[0] ^= 1;
}

static void request_done(struct ocf_request *req, int err)
{
	struct selftest *t = req->cookie;

	t->err = err;
	complete(&t->done);
}

/* Returns whether the answer came in time. */
static bool wait_for_answer(struct selftest *t)
{
	do {
		if (wait_for_completion_timeout(&t->done,
						ocf_selftest_timeout(t->dev)))
			return true;
	} while (ocf_device_is_watched(t->dev));
	return false;
}

/*
 * ocf_run() is not suitable: it leaves the request when the task is killed, and
 * it waits for ever for a device that does not answer.  Here the requests of
 * such a device are reclaimed.
 */
static int run_request(struct selftest *t)
{
	struct ocf_request *req = t->req;
	int err;

	req->flags |= OCF_REQ_MAY_SLEEP | OCF_REQ_INLINE;
	req->done = request_done;
	req->cookie = t;
	reinit_completion(&t->done);
	err = ocf_submit(req);
	if (err && err != -EINPROGRESS)
		return err;
	if (!wait_for_answer(t)) {
		ocf_device_reclaim(t->dev);
		wait_for_completion(&t->done);
		return -ETIMEDOUT;
	}
	return t->err;
}

/* The answer is in the buffers of @t. */
static int run_test(struct selftest *t, bool in_place)
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
	fill_source(t);
	set_ranges(t);
	memcpy(t->req->iv, k->iv, k->iv_len);
	if (t->op == OCF_OP_ENCRYPT)
		memset(t->req->tag, 0, sizeof(t->req->tag));
	if (t->spoil)
		spoil_tag(t);
	return run_request(t);
}

static bool answer_is_right(const struct selftest *t, bool in_place)
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

/* Whether the device itself must detect a wrong tag. */
static bool has_tag_to_check(const struct selftest *t)
{
	return t->op == OCF_OP_DECRYPT && t->kat->mode != OCF_MODE_CIPHER &&
	       t->kat->mode != OCF_MODE_COMPRESS;
}

static int test_direction(struct selftest *t)
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
		err = run_test(t, in_place);
		if (err)
			return err;
		if (!answer_is_right(t, in_place))
			return -EBADMSG;
		if (!has_tag_to_check(t))
			continue;
		t->spoil = true;
		err = run_test(t, in_place);
		if (err != -EBADMSG)
			return err ?: -EBADMSG;
	}
	return 0;
}

static struct ocf_session_params session_params(const struct selftest *t)
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

static struct ocf_session *open_test_session(struct selftest *t)
{
	struct ocf_session_params p = session_params(t);

	return ocf_session_create_on(&p, t->dev, GFP_KERNEL);
}

/* -EOPNOTSUPP: not capable; -EBADMSG: wrong answer; another errno: failed */
static int test_vector(struct selftest *t)
{
	int err;

	t->ses = open_test_session(t);
	if (IS_ERR(t->ses)) {
		err = PTR_ERR(t->ses);
		return err == -ENOENT || err == -EINVAL ||
		       err == -EKEYREJECTED ? -EOPNOTSUPP : err;
	}
	for (t->op = 0; t->op < OCF_OP_COUNT; t->op++) {
		err = test_direction(t);
		if (err)
			break;
	}
	ocf_session_put(t->ses);
	trace_ocf_device_answer(t->dev->name, test_name(t->kat), err);
	return err;
}

/* Measures ns for @len bytes, with the keys of the vector */
static u64 measure_size(struct selftest *t, u32 len)
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
		/* a wrong tag gives -EBADMSG, which takes as long */
		run_request(t);
		best = min(best, ktime_get_ns() - begun);
	}
	return best;
}

static void measure_cost(struct selftest *t)
{
	enum ocf_alg alg = t->kat->cipher ?: t->kat->mac;
	u64 small;

	t->ses = open_test_session(t);
	if (IS_ERR(t->ses))
		return;
	for (t->op = 0; t->op < OCF_OP_COUNT; t->op++) {
		/*
		 * arbitrary bytes cannot be expanded: assume that it costs as
		 * much as compression
		 */
		if (t->kat->mode == OCF_MODE_COMPRESS && t->op) {
			t->dev->cost[alg][t->op] = t->dev->cost[alg][0];
			break;
		}
		small = measure_size(t, COST_SMALL);
		t->dev->cost[alg][t->op] =
			ocf_cost_fit(COST_SMALL, small, COST_LARGE,
				     measure_size(t, COST_LARGE));
	}
	ocf_session_put(t->ses);
}

/* Notes which algorithms and modes a right answer has proven. */
static void note_success(struct selftest *t)
{
	const struct ocf_kat *k = t->kat;

	t->answers++;
	if (t->again)
		return;
	if (k->cipher && k->mac)
		t->modes_proven |= BIT(k->mode);
	else
		measure_cost(t);
	set_bit(k->cipher ?: k->mac, t->proven);
	set_bit(k->mac ?: k->cipher, t->proven);
}

static int run_vector(struct selftest *t)
{
	const struct ocf_kat *k = t->kat;
	int err = test_vector(t);

	if (k->cipher && k->mac)
		t->modes_tried |= BIT(k->mode);
	if (err == -EOPNOTSUPP)
		return 0;
	if (!err) {
		note_success(t);
		return READ_ONCE(t->dev->queue.closed) ? -ETIMEDOUT : 0;
	}
	if (t->again && ocf_selftest_not_run(err))
		return err;
	pr_err("ocf: %s: %s in mode %d: %s (%d), the device is not used\n",
	       t->dev->name, test_name(k), k->mode,
	       err == -EBADMSG ? "wrong answer" : "no answer", err);
	return err;
}

static int run_vectors(struct selftest *t)
{
	struct ocf_device *dev = t->dev;
	struct ocf_session_params p;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(ocf_kats); i++) {
		t->kat = &ocf_kats[i];
		p = session_params(t);
		if (!ocf_device_capable(dev, &p))
			continue;
		err = run_vector(t);
		if (err)
			return err;
	}
	return t->answers ? 0 : -ENODEV;
}

/*
 * Removes from the device's lists the algorithms and modes for which no test
 * gave a right answer.
 */
static void remove_untested(struct selftest *t)
{
	struct ocf_device_info *info = &t->dev->info;

	bitmap_and(info->algs, info->algs, t->proven, OCF_ALG_COUNT);
	info->modes &= ~(t->modes_tried & ~t->modes_proven);
}

static int selftest(struct ocf_device *dev, bool again)
{
	struct selftest *t;
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
		err = run_vectors(t);
	if (!err && !again)
		remove_untested(t);
	/* a device without sessions may have public-key operations */
	if (!err || err == -ENODEV) {
		pk = ocf_pk_selftest(dev, again);
		err = pk == -ENODEV ? err : pk;
	}
	kfree(t->req);
	kfree(t->dst);
	kfree(t->src);
	kfree(t);
	return err;
}

/**
 * ocf_selftest_first() - test a new device and measure its costs
 * @dev: the device; algorithms for which no test gave a right answer are
 *	removed from @dev->info.algs
 *
 * Context: process; may sleep.
 * Return: 0; -EBADMSG: a wrong answer; -ENODEV: no algorithm and no public-key
 * operation is left; -ETIMEDOUT: no answer, and the device was stopped;
 * -ENOMEM; or the errno with which the device failed.
 */
int ocf_selftest_first(struct ocf_device *dev)
{
	return selftest(dev, false);
}

/**
 * ocf_selftest_again() - test a device that has passed before
 * @dev: the device
 *
 * Context: process; may sleep.
 * Return: as ocf_selftest_first().
 */
int ocf_selftest_again(struct ocf_device *dev)
{
	int err;

	atomic_or(OCF_SELFTEST_RUNS, &dev->failures);
	err = selftest(dev, true);
	atomic_andnot(OCF_SELFTEST_RUNS, &dev->failures);
	return err;
}
