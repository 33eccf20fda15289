// SPDX-License-Identifier: GPL-2.0-only
/*
 * A card for tests.  It computes with the kernel's own implementations.  A test
 * tells it when to complete, refuse or fail requests and when to give wrong
 * results.
 */
#include <crypto/aead.h>
#include <crypto/scatterwalk.h>
#include <crypto/skcipher.h>
#include <linux/delay.h>
#include <linux/slab.h>

#include "test.h"

struct card_ctx {
	struct crypto_sync_skcipher	*cipher;
	struct crypto_aead		*aead;
};

struct card_job {
	struct list_head	node;
	struct ocf_request	*req;
	enum card_fault		fault;
	bool			taken;	/* on the card's list */
};

static struct card *card_of(const struct ocf_request *req)
{
	return ocf_device_priv(req->dev);
}

static int init_transform(struct card_ctx *c,
			  const struct ocf_session_params *p)
{
	int err = 0;

	if (p->cipher == OCF_AES_CBC) {
		c->cipher = crypto_alloc_sync_skcipher("cbc(aes)", 0, 0);
		if (IS_ERR(c->cipher))
			return PTR_ERR(c->cipher);
		err = crypto_sync_skcipher_setkey(c->cipher, p->key, p->keylen);
		if (err)
			crypto_free_sync_skcipher(c->cipher);
	} else if (p->cipher == OCF_AES_GCM) {
		c->aead = crypto_alloc_aead("gcm(aes)", 0, CRYPTO_ALG_ASYNC);
		if (IS_ERR(c->aead))
			return PTR_ERR(c->aead);
		err = crypto_aead_setkey(c->aead, p->key, p->keylen);
		if (!err)
			err = crypto_aead_setauthsize(c->aead, p->maclen);
		if (err)
			crypto_free_aead(c->aead);
	}
	return err;
}

static void wait_for_gate(struct completion *gate, bool *waiting)
{
	if (!gate)
		return;
	WRITE_ONCE(*waiting, true);
	wait_for_completion_timeout(gate, 100 * HZ);
	WRITE_ONCE(*waiting, false);
}

/* Returns -ENOSPC only some time after the card has capacity again. */
static void refuse_slowly(struct card *card)
{
	int i;

	for (i = 0; i < 100 && atomic_read(&card->contexts) == card->room; i++)
		usleep_range(1000, 2000);
	msleep(20);
}

static int card_ctx_init(struct ocf_context *ctx,
			 const struct ocf_session_params *p)
{
	struct card *card = ocf_device_priv(ctx->dev);
	struct card_ctx *c = ocf_context_priv(ctx);
	int err;

	WRITE_ONCE(card->maker, current);
	wait_for_gate(card->learn, &card->learning);
	if (card->refuse_key)
		return card->refuse_key;
	if (atomic_inc_return(&card->contexts) > card->room && card->room) {
		atomic_dec(&card->contexts);
		if (card->slow_to_refuse)
			refuse_slowly(card);
		return -ENOSPC;
	}
	err = init_transform(c, p);
	if (err)
		atomic_dec(&card->contexts);
	else
		card->made++;
	return err;
}

static void card_ctx_exit(struct ocf_context *ctx)
{
	struct card *card = ocf_device_priv(ctx->dev);
	struct card_ctx *c = ocf_context_priv(ctx);

	wait_for_gate(card->forget, &card->forgetting);
	if (c->cipher)
		crypto_free_sync_skcipher(c->cipher);
	if (c->aead)
		crypto_free_aead(c->aead);
	atomic_dec(&card->contexts);
}

static int do_cipher(struct card_ctx *c, struct ocf_request *req)
{
	SYNC_SKCIPHER_REQUEST_ON_STACK(sub, c->cipher);
	struct scatterlist in[2], out[2];

	skcipher_request_set_sync_tfm(sub, c->cipher);
	skcipher_request_set_callback(sub, 0, NULL, NULL);
	skcipher_request_set_crypt(sub,
				   scatterwalk_ffwd(in, req->src,
						    req->data.start),
				   scatterwalk_ffwd(out, req->dst,
						    req->data.start),
				   req->data.len, req->iv);
	return req->op == OCF_OP_ENCRYPT ? crypto_skcipher_encrypt(sub) :
					   crypto_skcipher_decrypt(sub);
}

static int do_aead(struct card_ctx *c, struct ocf_request *req)
{
	struct scatterlist in[2], out[2], *src, *dst;
	u32 maclen = ocf_request_maclen(req), len = req->data.len;
	struct aead_request *sub;
	int err;

	sub = aead_request_alloc(c->aead, GFP_ATOMIC);
	if (!sub)
		return -ENOMEM;
	src = scatterwalk_ffwd(in, req->src, req->auth.start);
	dst = req->src == req->dst ? src :
	      scatterwalk_ffwd(out, req->dst, req->auth.start);
	aead_request_set_callback(sub, 0, NULL, NULL);
	aead_request_set_ad(sub, req->auth.len);
	if (req->op == OCF_OP_ENCRYPT) {
		aead_request_set_crypt(sub, src, dst, len, req->iv);
		err = crypto_aead_encrypt(sub);
	} else {
		aead_request_set_crypt(sub, src, dst, len + maclen, req->iv);
		err = crypto_aead_decrypt(sub);
	}
	aead_request_free(sub);
	return err;
}

static int do_null(struct ocf_request *req)
{
	struct ocf_walk w;

	if (req->src != req->dst)
		for (ocf_walk_start(&w, req); w.len; ocf_walk_next(&w))
			memcpy(w.dst, w.src, w.len);
	return 0;
}

static int compute(struct ocf_request *req, enum card_fault fault)
{
	struct card_ctx *c = ocf_context_priv(req->ctx);
	u8 byte;
	int err;

	if (fault == CARD_FAILS)
		return -EIO;
	if (fault == CARD_IS_SHORT)
		return -ENOMEM;
	if (fault == CARD_ACCUSES)
		return -EBADMSG;
	if (c->cipher)
		err = do_cipher(c, req);
	else if (c->aead)
		err = do_aead(c, req);
	else
		err = do_null(req);
	if (fault == CARD_TRUSTS && err == -EBADMSG)
		err = 0;
	if (fault == CARD_LIES && req->data.len) {
		ocf_sg_read(req->dst, req->data.start, &byte, 1);
		byte ^= 1;
		ocf_sg_write(req->dst, req->data.start, &byte, 1);
	}
	return err;
}

/* Computes a request that is off the card's list, and completes it. */
static void finish(struct ocf_request *req, enum card_fault fault)
{
	int err = compute(req, fault);

	if (fault != CARD_TWICE) {
		ocf_complete(req, err);
		return;
	}
	ocf_complete(req, err);
	/* a test with this fault keeps the request until card_settle() */
	ocf_complete(req, -EIO);
}

static void card_work(struct work_struct *work)
{
	struct card *card = container_of(work, struct card, work);
	struct card_job *job, *next;
	LIST_HEAD(taken);

	spin_lock_bh(&card->lock);
	if (!card->hold && !card->stopped) {
		list_splice_init(&card->taken, &taken);
		card->count = 0;
	}
	list_for_each_entry(job, &taken, node)
		job->taken = false;
	spin_unlock_bh(&card->lock);
	list_for_each_entry_safe(job, next, &taken, node)
		finish(job->req, job->fault);
	/* it would now take the request that it has refused */
	ocf_device_unblock(card->dev);
}

static int do_at_once(struct card *card, struct ocf_request *req)
{
	struct work *w = xchg(&card->meanwhile, NULL);

	if (w)
		work_submit(w);
	return compute(req, CARD_AT_ONCE);
}

/* Works as a software driver, for as long as the test wants. */
static int do_as_software(struct card *card, struct ocf_request *req)
{
	struct completion *ponder = READ_ONCE(card->ponder);

	card->submits++;
	card->by_who += card->who == current;
	if (ponder) {
		if (!ocf_request_may_sleep(req))
			return -EAGAIN;
		atomic_inc(&card->pondering);
		wait_for_completion_timeout(ponder, 250 * HZ);
		atomic_dec(&card->pondering);
	}
	return compute(req, CARD_WORKS);
}

static int card_submit(struct ocf_request *req, bool more)
{
	struct card *card = card_of(req);
	struct card_job *job = (void *)req->priv;
	enum card_fault fault = CARD_WORKS;
	int err = -EINPROGRESS;

	BUILD_BUG_ON(sizeof(*job) > OCF_PRIV_SIZE);
	if (card->soft)
		return do_as_software(card, req);
	spin_lock_bh(&card->lock);
	card->dev = req->dev;	/* during the registration */
	if (card->honest) {
		card->honest--;
	} else if (card->faults &&
		   (!card->victim || card->victim == req->session)) {
		card->faults--;
		fault = card->fault;
	}
	if (fault == CARD_BUSY || fault == CARD_CANCELS) {
		err = -EBUSY;
	} else if (fault == CARD_FAILS_AT_ONCE) {
		err = -EIO;
	} else if (fault != CARD_AT_ONCE) {
		job->req = req;
		job->fault = fault;
		job->taken = true;
		card->hold |= fault == CARD_STALLS;
		list_add_tail(&job->node, &card->taken);
		card->count++;
	}
	if (err != -EBUSY) {
		card->submits++;
		/* not an interrupt on top of this task */
		card->by_who += card->who == current && in_task();
		card->more += more;
	}
	spin_unlock_bh(&card->lock);
	if (fault == CARD_AT_ONCE)
		return do_at_once(card, req);
	if (fault == CARD_CANCELS)
		ocf_cancel(req);
	if (!more)
		queue_work(system_bh_wq, &card->work);
	return err;
}

static void card_kick(struct ocf_device *dev)
{
	struct card *card = ocf_device_priv(dev);

	spin_lock_bh(&card->lock);
	card->kicks++;
	spin_unlock_bh(&card->lock);
	queue_work(system_bh_wq, &card->work);
}

static int card_quiesce(struct ocf_device *dev)
{
	struct card *card = ocf_device_priv(dev);

	spin_lock_bh(&card->lock);
	card->stopped = true;
	spin_unlock_bh(&card->lock);
	/* a completion may have submitted one more request until here */
	cancel_work_sync(&card->work);
	INIT_LIST_HEAD(&card->taken);
	card->count = 0;
	return 0;
}

/*
 * The card works in the request's pages, but it is software, so it can let go
 * of them at once.
 */
static bool card_detach(struct ocf_request *req)
{
	struct card *card = card_of(req);
	struct card_job *job = (void *)req->priv;
	bool was;

	spin_lock_bh(&card->lock);
	was = job->taken;
	if (was) {
		list_del(&job->node);
		card->count--;
		card->detached++;
		job->taken = false;
	}
	spin_unlock_bh(&card->lock);
	return was;
}

static int card_reset(struct ocf_device *dev)
{
	struct card *card = ocf_device_priv(dev);

	spin_lock_bh(&card->lock);
	card->resets++;
	card->stopped = false;
	spin_unlock_bh(&card->lock);
	return 0;
}

#define CARD_OPS		\
	.ctx_init = card_ctx_init,	\
	.ctx_exit = card_ctx_exit,	\
	.submit = card_submit,		\
	.kick = card_kick,		\
	.quiesce = card_quiesce

static const struct ocf_device_ops card_ops[] = {
	[CARD_IS_STOPPED] = { CARD_OPS },
	[CARD_IS_RESET] = { CARD_OPS, .reset = card_reset },
	[CARD_IS_LEFT] = { CARD_OPS, .detach = card_detach },
};

/*
 * Makes a card that is not registered; the caller may change its properties
 * first.
 */
struct card *card_alloc(unsigned int depth)
{
	struct card *card = kzalloc(sizeof(*card), GFP_KERNEL);

	if (!card)
		return NULL;
	card->name = "test";
	/* a test may hold requests in it for long */
	card->patience = 60000;
	card->depth = depth;
	card->modes = BIT(OCF_MODE_CIPHER) | BIT(OCF_MODE_AEAD);
	spin_lock_init(&card->lock);
	INIT_LIST_HEAD(&card->taken);
	INIT_WORK(&card->work, card_work);
	return card;
}

int card_register(struct card *card)
{
	struct ocf_device_info info = {
		.name = card->name, .owner = THIS_MODULE,
		.ops = &card_ops[card->kind], .patience = card->patience,
		.pk = card->pk,
		.priv = card, .depth = card->depth,
		.kind = card->soft ? OCF_KIND_SOFTWARE : OCF_KIND_HARDWARE,
		.ctx_size = sizeof(struct card_ctx), .modes = card->modes,
	};
	struct ocf_device *dev;

	set_bit(OCF_AES_CBC, info.algs);
	set_bit(OCF_AES_GCM, info.algs);
	set_bit(OCF_NULL_CIPHER, info.algs);
	card->stopped = false;
	dev = ocf_device_register(&info);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	card->dev = dev;
	spin_lock_bh(&card->lock);
	card->submits = 0;
	card->more = 0;
	card->kicks = 0;
	spin_unlock_bh(&card->lock);
	return 0;
}

static struct card *make_named(struct test *t, unsigned int depth,
				const char *name, bool soft)
{
	struct card *card = card_alloc(depth);

	if (!CHECK(t, card))
		return NULL;
	card->name = name;
	card->soft = soft;
	if (!EQUAL(t, card_register(card), 0)) {
		kfree(card);
		return NULL;
	}
	return card;
}

/* Registers a card.  Return: the card; or NULL, and the test has failed. */
struct card *card_make(struct test *t, unsigned int depth)
{
	return make_named(t, depth, "test", false);
}

/* Registers another card beside the first, with another name. */
struct card *card_make_other(struct test *t, unsigned int depth)
{
	return make_named(t, depth, "other", false);
}

/* Registers a software device beside the cards. */
struct card *card_make_soft(struct test *t)
{
	return make_named(t, 1, "slow", true);
}

/*
 * Waits until @n submitters are inside submit(); if they do not get there, the
 * test fails.
 */
void card_until_pondering(struct test *t, struct card *card, int n)
{
	int i;

	for (i = 0; i < 60 * HZ && atomic_read(&card->pondering) < n; i++)
		schedule_timeout_uninterruptible(1);
	EQUAL(t, atomic_read(&card->pondering), n);
}

void card_unregister(struct card *card)
{
	ocf_device_unregister(card->dev);
	card->dev = NULL;
}

/*
 * Warns of contexts that are still there: they leak, or are freed after their
 * card.
 */
void card_free(struct card *card)
{
	WARN_ON(atomic_read(&card->contexts));
	kfree(card);
}

void card_drop(struct card *card)
{
	if (!card)
		return;
	card_unregister(card);
	card_free(card);
}

void card_hold(struct card *card)
{
	spin_lock_bh(&card->lock);
	card->hold = true;
	spin_unlock_bh(&card->lock);
}

void card_release(struct card *card)
{
	spin_lock_bh(&card->lock);
	card->hold = false;
	spin_unlock_bh(&card->lock);
	queue_work(system_bh_wq, &card->work);
}

void card_faults(struct card *card, enum card_fault fault, unsigned int n)
{
	spin_lock_bh(&card->lock);
	card->fault = fault;
	card->faults = n;
	spin_unlock_bh(&card->lock);
}

/*
 * Takes the @nth request out of a card that is held.  Return: the request, or
 * NULL.
 */
struct ocf_request *card_take(struct card *card, unsigned int nth)
{
	struct ocf_request *req = NULL;
	struct card_job *job;

	spin_lock_bh(&card->lock);
	list_for_each_entry(job, &card->taken, node) {
		if (nth--)
			continue;
		req = job->req;
		list_del(&job->node);
		job->taken = false;
		card->count--;
		break;
	}
	spin_unlock_bh(&card->lock);
	return req;
}

/* Return: whether @req is in the card. */
bool card_has(struct card *card, const struct ocf_request *req)
{
	struct card_job *job;
	bool has = false;

	spin_lock_bh(&card->lock);
	list_for_each_entry(job, &card->taken, node)
		has |= job->req == req;
	spin_unlock_bh(&card->lock);
	return has;
}

/* Waits until the card has completed what it was completing. */
void card_settle(struct card *card)
{
	flush_work(&card->work);
}

/*
 * Completes the @nth request of a card that is held: with @err, or with its
 * result if @err is 0.
 */
void card_complete(struct card *card, unsigned int nth, int err)
{
	struct ocf_request *req = card_take(card, nth);

	if (req)
		ocf_complete(req, err ?: compute(req, CARD_WORKS));
}

int card_number(const struct card *card)
{
	return ocf_device_number(card->name);
}
