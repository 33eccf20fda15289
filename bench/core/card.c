// SPDX-License-Identifier: GPL-2.0-only
/*
 * A card that does no work, so that what is left is the core's.
 *
 * While it is measured it only notes the request, for the bench to complete.
 * Before that it answers the known-answer tests like any card, from a bottom
 * half: nothing may complete inside its own submission.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "bench_core.h"

static struct ocf_device *card;
static struct ocf_request *taken;
static bool measured;

static void answer(struct work_struct *work)
{
	struct ocf_request *req = taken;
	struct ocf_walk w;

	if (req->src != req->dst)
		for (ocf_walk_start(&w, req); w.len; ocf_walk_next(&w))
			memcpy(w.dst, w.src, w.len);
	ocf_complete(req, 0);
}

static DECLARE_WORK(answer_work, answer);

static int card_ctx_init(struct ocf_context *ctx,
			 const struct ocf_session_params *params)
{
	return 0;
}

static void card_ctx_exit(struct ocf_context *ctx)
{
}

static int card_submit(struct ocf_request *req, bool more)
{
	taken = req;
	if (!measured)
		queue_work(system_bh_wq, &answer_work);
	return -EINPROGRESS;
}

static int card_quiesce(struct ocf_device *dev)
{
	cancel_work_sync(&answer_work);
	return 0;
}

static const struct ocf_device_ops card_ops = {
	.ctx_init = card_ctx_init,
	.ctx_exit = card_ctx_exit,
	.submit = card_submit,
	.quiesce = card_quiesce,
};

int card_offer(void)
{
	struct ocf_device_info info = {
		.name = "bench",
		.owner = THIS_MODULE,
		.ops = &card_ops,
		.kind = OCF_KIND_HARDWARE,
		.depth = 1,
		.modes = BIT(OCF_MODE_CIPHER),
	};

	set_bit(OCF_NULL_CIPHER, info.algs);
	card = ocf_device_register(&info);
	return PTR_ERR_OR_ZERO(card);
}

void card_withdraw(void)
{
	ocf_device_unregister(card);
}

void card_measured(bool on)
{
	measured = on;
}

struct ocf_request *card_taken(void)
{
	return taken;
}
