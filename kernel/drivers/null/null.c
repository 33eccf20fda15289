// SPDX-License-Identifier: GPL-2.0-only
/*
 * The null transform, for measuring the framework itself: the cipher copies,
 * the MAC is all zeroes.
 *
 * null0 does it at once, as software.  With async=N there are N devices
 * nullasync0, ... that behave like cards: they take requests, and complete
 * them from a bottom half of their own.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/ocf_driver.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "../../compat.h"

#define ASYNC_MAX	8

static unsigned int async;
module_param(async, uint, 0444);
MODULE_PARM_DESC(async, "asynchronous devices, 0 to 8");

static unsigned int depth = 64;
module_param(depth, uint, 0444);
MODULE_PARM_DESC(depth, "requests an asynchronous device takes, 1 to 4096");

/**
 * struct null_card - an asynchronous device
 * @dev: registered
 * @lock: protects @taken and @stopped
 * @taken: requests not yet completed, linked by struct null_job
 * @stopped: quiesced
 * @work: completes them
 */
struct null_card {
	struct ocf_device	*dev;
	spinlock_t		lock;
	struct list_head	taken;
	bool			stopped;
	struct work_struct	work;
};

/* In a request's private part. */
struct null_job {
	struct list_head	node;
	struct ocf_request	*req;
};

static struct ocf_device *null0;
static struct null_card *cards[ASYNC_MAX];

static int null_ctx_init(struct ocf_context *ctx,
			 const struct ocf_session_params *params)
{
	return 0;
}

static void null_ctx_exit(struct ocf_context *ctx)
{
}

static bool verifies(const struct ocf_request *req,
		     const struct ocf_session_params *p)
{
	return p->mode == OCF_MODE_CHAIN ? !!(req->flags & OCF_REQ_VERIFY) :
					   req->op == OCF_OP_DECRYPT;
}

static int transform(struct ocf_request *req)
{
	static const u8 zeroes[OCF_TAG_MAX];
	const struct ocf_session_params *p = req->ctx->params;
	struct ocf_walk w;

	if (p->mac && verifies(req, p) && ocf_tag_check(req, zeroes))
		return -EBADMSG;
	if (p->cipher && req->src != req->dst)
		for (ocf_walk_start(&w, req); w.len; ocf_walk_next(&w))
			memcpy(w.dst, w.src, w.len);
	if (p->mac && !verifies(req, p))
		ocf_tag_store(req, zeroes);
	return 0;
}

static int null_submit(struct ocf_request *req, bool more)
{
	return transform(req);
}

static const struct ocf_device_ops null_ops = {
	.ctx_init = null_ctx_init,
	.ctx_exit = null_ctx_exit,
	.submit = null_submit,
};

static void card_work(struct work_struct *work)
{
	struct null_card *card = container_of(work, struct null_card, work);
	struct null_job *job, *next;
	LIST_HEAD(taken);

	spin_lock_bh(&card->lock);
	if (!card->stopped)
		list_splice_init(&card->taken, &taken);
	spin_unlock_bh(&card->lock);
	list_for_each_entry_safe(job, next, &taken, node)
		ocf_complete(job->req, transform(job->req));
}

static int card_submit(struct ocf_request *req, bool more)
{
	struct null_card *card = ocf_device_priv(req->dev);
	struct null_job *job = (void *)req->priv;

	BUILD_BUG_ON(sizeof(*job) > OCF_PRIV_SIZE);
	job->req = req;
	spin_lock_bh(&card->lock);
	list_add_tail(&job->node, &card->taken);
	spin_unlock_bh(&card->lock);
	if (!more)
		queue_work(system_bh_wq, &card->work);
	return -EINPROGRESS;
}

static void card_kick(struct ocf_device *dev)
{
	struct null_card *card = ocf_device_priv(dev);

	queue_work(system_bh_wq, &card->work);
}

static int card_quiesce(struct ocf_device *dev)
{
	struct null_card *card = ocf_device_priv(dev);

	spin_lock_bh(&card->lock);
	card->stopped = true;
	spin_unlock_bh(&card->lock);
	/*
	 * completions may have made the core submit one more request until here
	 */
	cancel_work_sync(&card->work);
	INIT_LIST_HEAD(&card->taken);
	return 0;
}

static const struct ocf_device_ops card_ops = {
	.ctx_init = null_ctx_init,
	.ctx_exit = null_ctx_exit,
	.submit = card_submit,
	.kick = card_kick,
	.quiesce = card_quiesce,
};

static struct ocf_device *offer(struct ocf_device_info *info)
{
	info->owner = THIS_MODULE;
	info->modes = BIT(OCF_MODE_CIPHER) | BIT(OCF_MODE_DIGEST) |
		      BIT(OCF_MODE_ETA) | BIT(OCF_MODE_CHAIN);
	set_bit(OCF_NULL_CIPHER, info->algs);
	set_bit(OCF_NULL_MAC, info->algs);
	return ocf_device_register(info);
}

static struct null_card *make_card(void)
{
	struct ocf_device_info info = {
		.name = "nullasync", .ops = &card_ops,
		.kind = OCF_KIND_HARDWARE, .depth = depth,
		/* if it is late, the CPU is busy, and nothing has failed */
		.patience = 60 * MSEC_PER_SEC,
	};
	struct null_card *card;

	card = kzalloc(sizeof(*card), GFP_KERNEL);
	if (!card)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&card->lock);
	INIT_LIST_HEAD(&card->taken);
	INIT_WORK(&card->work, card_work);
	info.priv = card;
	card->dev = offer(&info);
	if (IS_ERR(card->dev)) {
		int err = PTR_ERR(card->dev);

		kfree(card);
		return ERR_PTR(err);
	}
	return card;
}

static void drop_cards(void)
{
	int i;

	for (i = 0; i < ASYNC_MAX && cards[i]; i++) {
		ocf_device_unregister(cards[i]->dev);
		kfree(cards[i]);
	}
}

static int __init null_init(void)
{
	struct ocf_device_info info = {
		.name = "null", .ops = &null_ops, .kind = OCF_KIND_SOFTWARE,
	};
	unsigned int i;
	int err;

	if (async > ASYNC_MAX || !depth || depth > OCF_DEPTH_MAX)
		return -EINVAL;
	null0 = offer(&info);
	if (IS_ERR(null0))
		return PTR_ERR(null0);
	for (i = 0; i < async; i++) {
		struct null_card *card = make_card();

		if (IS_ERR(card)) {
			err = PTR_ERR(card);
			goto drop;
		}
		cards[i] = card;
	}
	return 0;

drop:
	drop_cards();
	ocf_device_unregister(null0);
	return err;
}

static void __exit null_exit(void)
{
	drop_cards();
	ocf_device_unregister(null0);
}

module_init(null_init);
module_exit(null_exit);

OCF_IMPORT();
MODULE_DESCRIPTION("OCF for Linux: the null transform");
MODULE_LICENSE("GPL");
