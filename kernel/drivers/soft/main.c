// SPDX-License-Identifier: GPL-2.0-only
/*
 * cryptosoft0: registers the calling CPU as a device, and calls the function
 * for the mode of each request's session.
 */
#include <linux/module.h>
#include <linux/string.h>

#include "pk.h"
#include "soft.h"

static struct ocf_device *cryptosoft0;

static int mac_over(struct ocf_request *req, struct scatterlist *sg,
		    const struct ocf_range *range, bool verify)
{
	int err;

	err = soft_hash_begin(req) ?: soft_hash_range(req, sg, range);
	return err ?: soft_hash_end(req, verify);
}

static int do_digest(struct ocf_request *req)
{
	return mac_over(req, req->src, &req->data,
			req->op == OCF_OP_DECRYPT);
}

/*
 * The MAC covers ciphertext, which is in dst, and the bytes around it, which
 * are in src.
 */
static int mac_around(struct ocf_request *req)
{
	struct ocf_range before = {
		.start = req->auth.start,
		.len = req->data.start - req->auth.start,
	};
	struct ocf_range after = { .start = req->data.start + req->data.len };

	after.len = req->auth.start + req->auth.len - after.start;
	return soft_hash_begin(req) ?:
	       soft_hash_range(req, req->src, &before) ?:
	       soft_hash_range(req, req->dst, &req->data) ?:
	       soft_hash_range(req, req->src, &after) ?:
	       soft_hash_end(req, false);
}

/* A request with a MAC may have nothing to encrypt, which XTS refuses. */
static int cipher_if_any(struct ocf_request *req)
{
	return req->data.len ? soft_cipher(req) : 0;
}

static int do_eta(struct ocf_request *req)
{
	if (req->op == OCF_OP_ENCRYPT)
		return cipher_if_any(req) ?: mac_around(req);
	return mac_over(req, req->src, &req->auth, true) ?: cipher_if_any(req);
}

static int do_mte(struct ocf_request *req)
{
	if (req->op == OCF_OP_ENCRYPT)
		return mac_over(req, req->src, &req->auth, false) ?:
		       soft_cipher(req);
	if (ocf_request_opened(req))
		return soft_tls_open(req);
	return soft_cipher(req) ?: soft_tls_open(req);
}

static int do_chain(struct ocf_request *req)
{
	bool verify = req->flags & OCF_REQ_VERIFY;

	if (req->flags & OCF_REQ_MAC_FIRST) {
		/*
		 * The MAC must not take in a part twice.  So check first that
		 * the cipher will not return -EAGAIN after the MAC.
		 */
		if (req->data.len && !soft_cipher_possible(req))
			return -EAGAIN;
		return mac_over(req, req->src, &req->auth, verify) ?:
		       cipher_if_any(req);
	}
	return cipher_if_any(req) ?:
	       mac_over(req, req->dst, &req->auth, verify);
}

/* The shortest path: req->priv holds no secret. */
static int submit_cipher(struct ocf_request *req, bool more)
{
	return soft_cipher(req);
}

/*
 * The parts of a context that a mode needs, and the function that does its
 * requests.
 */
static const struct {
	bool	cipher, aead, hash, tls, deflate;
	int	(*work)(struct ocf_request *req);
	int	(*submit)(struct ocf_request *req, bool more);
} modes[OCF_MODE_COUNT] = {
	[OCF_MODE_CIPHER]   = { .cipher = true, .work = soft_cipher,
				.submit = submit_cipher },
	[OCF_MODE_DIGEST]   = { .hash = true, .work = do_digest },
	[OCF_MODE_AEAD]     = { .aead = true, .work = soft_aead },
	[OCF_MODE_ETA]      = { .cipher = true, .hash = true, .work = do_eta },
	[OCF_MODE_MTE]      = { .cipher = true, .hash = true, .tls = true,
				.work = do_mte },
	[OCF_MODE_CHAIN]    = { .cipher = true, .hash = true,
				.work = do_chain },
	[OCF_MODE_COMPRESS] = { .deflate = true, .work = soft_deflate },
};

static int soft_submit(struct ocf_request *req, bool more)
{
	int err = modes[req->ctx->params->mode].work(req);

	if (unlikely(err))
		memzero_explicit(req->priv, sizeof(req->priv));
	return err;
}

static void soft_ctx_exit(struct ocf_context *context)
{
	struct soft_ctx *ctx = ocf_context_priv(context);

	if (ctx->compresses)
		soft_deflate_exit();
	soft_tls_exit(ctx);
	soft_hash_exit(ctx, context->params);
	soft_aead_exit(ctx, context->params);
	soft_cipher_exit(ctx, context->params);
	/* the core wipes the context itself */
}

static int soft_ctx_init(struct ocf_context *context,
			 const struct ocf_session_params *p)
{
	struct soft_ctx *ctx = ocf_context_priv(context);
	int err = 0;

	if (modes[p->mode].cipher)
		err = soft_cipher_init(ctx, p);
	if (!err && modes[p->mode].aead)
		err = soft_aead_init(ctx, p);
	if (!err && modes[p->mode].hash)
		err = soft_hash_init(ctx, p);
	if (!err && modes[p->mode].tls)
		err = soft_tls_init(ctx, p);
	if (!err && modes[p->mode].deflate) {
		err = soft_deflate_init();
		ctx->compresses = !err;
	}
	if (err) {
		soft_ctx_exit(context);
		return err;
	}
	context->more = OCF_TRANSFORM_BYTES * (!!ctx->cipher + !!ctx->aead +
				     !!ctx->hash + !!ctx->tls) +
			ocf_table_bytes(p);
	if (modes[p->mode].submit)
		context->submit = modes[p->mode].submit;
	return 0;
}

static bool is_null(enum ocf_alg alg)
{
	return !alg || alg == OCF_NULL_CIPHER || alg == OCF_NULL_MAC;
}

/*
 * Refuses the null transform alone, which is for measurements and belongs to
 * the device null0.
 */
static bool soft_capable(struct ocf_device *dev,
			 const struct ocf_session_params *p)
{
	return !is_null(p->cipher) || !is_null(p->mac);
}

static const struct ocf_device_ops soft_ops = {
	.capable = soft_capable,
	.ctx_init = soft_ctx_init,
	.ctx_exit = soft_ctx_exit,
	.submit = soft_submit,
};

static int __init soft_init(void)
{
	struct ocf_device_info info = {
		.name = "cryptosoft",
		.owner = THIS_MODULE,
		.ops = &soft_ops,
		.kind = OCF_KIND_SOFTWARE,
		.ctx_size = sizeof(struct soft_ctx),
		.modes = BIT(OCF_MODE_CIPHER) | BIT(OCF_MODE_DIGEST) |
			 BIT(OCF_MODE_AEAD) | BIT(OCF_MODE_ETA) |
			 BIT(OCF_MODE_MTE) | BIT(OCF_MODE_CHAIN) |
			 BIT(OCF_MODE_COMPRESS),
		.pk = &soft_pk_ops,
	};

	soft_impl_init(info.algs);
	cryptosoft0 = ocf_device_register(&info);
	if (IS_ERR(cryptosoft0))
		soft_impl_exit();
	return PTR_ERR_OR_ZERO(cryptosoft0);
}

static void __exit soft_exit(void)
{
	ocf_device_unregister(cryptosoft0);
	soft_impl_exit();
}

module_init(soft_init);
module_exit(soft_exit);

OCF_IMPORT();
OCF_IMPORT_NS(CRYPTO_INTERNAL);
MODULE_SOFTDEP("pre: libchacha");
MODULE_DESCRIPTION("OCF for Linux: the CPU, by the kernel's own implementations");
MODULE_LICENSE("GPL");
