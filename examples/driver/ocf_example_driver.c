// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver: a card for AES-CTR, example0.  The card is a kernel thread that
 * works on what it was given, with the AES of the kernel's library.  Everything
 * else is as with a card of silicon.  docs/api.md goes through it.
 */
#include <crypto/aes.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/ocf_driver.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#define DEPTH	32		/* requests in the card's ring */

static unsigned int delay;
module_param(delay, uint, 0644);
MODULE_PARM_DESC(delay, "ms that a request takes longer, to see what becomes of a slow card (0)");

/**
 * struct card - the card
 * @dev: registered
 * @lock: protects @ring and @stopped
 * @ring: requests it was given, by struct job
 * @stopped: quiesced
 * @engine: works on them
 */
struct card {
	struct ocf_device	*dev;
	spinlock_t		lock;
	struct list_head	ring;
	bool			stopped;
	struct work_struct	engine;
};

/* In a request's private part, which is the driver's while it has it. */
struct job {
	struct list_head	node;
	struct ocf_request	*req;
};

static struct card *card;

/* ---- contexts: a session's state on the card, an expanded key ---- */

static int card_ctx_init(struct ocf_context *ctx,
			 const struct ocf_session_params *params)
{
	return aes_expandkey(ocf_context_priv(ctx), params->key,
			     params->keylen);
}

/* The core wipes what is in the context itself. */
static void card_ctx_exit(struct ocf_context *ctx)
{
}

/* ---- the card's inside ---- */

/* SP 800-38A, 6.5: the block is a number of 128 bits, most significant first */
static void count(u8 *ctr)
{
	int i;

	for (i = AES_BLOCK_SIZE - 1; i >= 0 && !++ctr[i]; i--)
		;
}

static void work_on(struct ocf_request *req)
{
	struct crypto_aes_ctx *aes = ocf_context_priv(req->ctx);
	u8 stream[AES_BLOCK_SIZE];
	struct ocf_walk w;
	u32 i, used = AES_BLOCK_SIZE;

	for (ocf_walk_start(&w, req); w.len; ocf_walk_next(&w)) {
		for (i = 0; i < w.len; i++) {
			if (used == AES_BLOCK_SIZE) {
				aes_encrypt(aes, stream, req->iv);
				count(req->iv);
				used = 0;
			}
			w.dst[i] = w.src[i] ^ stream[used++];
		}
	}
	/* req->iv is now what the stream goes on with: OCF_REQ_NEXT_IV */
	memzero_explicit(stream, sizeof(stream));
}

static struct ocf_request *next_job(struct card *c)
{
	struct job *job = NULL;

	spin_lock_bh(&c->lock);
	if (!c->stopped)
		job = list_first_entry_or_null(&c->ring, struct job, node);
	if (job)
		list_del(&job->node);
	spin_unlock_bh(&c->lock);
	return job ? job->req : NULL;
}

/* What would be an interrupt's bottom half. */
static void card_engine(struct work_struct *work)
{
	struct card *c = container_of(work, struct card, engine);
	struct ocf_request *req;

	while ((req = next_job(c))) {
		if (delay)
			msleep(delay);
		work_on(req);
		/* without c->lock: the consumer is called from inside */
		ocf_complete(req, 0);
	}
}

/* ---- what the core calls ---- */

static int card_submit(struct ocf_request *req, bool more)
{
	struct card *c = ocf_device_priv(req->dev);
	struct job *job = (void *)req->priv;

	BUILD_BUG_ON(sizeof(*job) > OCF_PRIV_SIZE);
	job->req = req;
	spin_lock_bh(&c->lock);
	list_add_tail(&job->node, &c->ring);
	spin_unlock_bh(&c->lock);
	if (!more)
		queue_work(system_wq, &c->engine);
	return -EINPROGRESS;
}

/* The doorbell, for what came with @more. */
static void card_kick(struct ocf_device *dev)
{
	struct card *c = ocf_device_priv(dev);

	queue_work(system_wq, &c->engine);
}

/* After this nothing is touched or completed; the core takes back the rest. */
static int card_quiesce(struct ocf_device *dev)
{
	struct card *c = ocf_device_priv(dev);

	spin_lock_bh(&c->lock);
	c->stopped = true;
	spin_unlock_bh(&c->lock);
	/*
	 * until here, a completion by the engine may have let the core submit
	 * one more request
	 */
	cancel_work_sync(&c->engine);
	INIT_LIST_HEAD(&c->ring);
	return 0;
}

static const struct ocf_device_ops card_ops = {
	.ctx_init = card_ctx_init,
	.ctx_exit = card_ctx_exit,
	.submit = card_submit,
	.kick = card_kick,
	.quiesce = card_quiesce,
};

/* ---- coming and going: a real driver's probe() and remove() ---- */

static int __init example_init(void)
{
	struct ocf_device_info info = {
		.name = "example", .owner = THIS_MODULE, .ops = &card_ops,
		.kind = OCF_KIND_HARDWARE, .depth = DEPTH,
		.ctx_size = sizeof(struct crypto_aes_ctx),
		.modes = BIT(OCF_MODE_CIPHER),
	};
	int err;

	card = kzalloc(sizeof(*card), GFP_KERNEL);
	if (!card)
		return -ENOMEM;
	spin_lock_init(&card->lock);
	INIT_LIST_HEAD(&card->ring);
	INIT_WORK(&card->engine, card_engine);
	info.priv = card;
	set_bit(OCF_AES_CTR, info.algs);
	card->dev = ocf_device_register(&info);
	if (IS_ERR(card->dev)) {
		err = PTR_ERR(card->dev);
		kfree(card);
		return err;
	}
	return 0;
}

static void __exit example_exit(void)
{
	ocf_device_unregister(card->dev);
	kfree(card);
}

module_init(example_init);
module_exit(example_exit);

/* from Linux 6.13 on a string: MODULE_IMPORT_NS("OCF") */
MODULE_IMPORT_NS(OCF);
MODULE_DESCRIPTION("OCF for Linux: an example of a driver");
MODULE_LICENSE("GPL");
