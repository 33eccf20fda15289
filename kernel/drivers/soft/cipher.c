// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ciphers, by the kernel's skcipher.
 */
#include <crypto/scatterwalk.h>
#include <crypto/skcipher.h>
#include <linux/err.h>
#include <linux/string.h>

#include <asm/simd.h>

#include "soft.h"

int soft_cipher_init(struct soft_ctx *ctx, const struct ocf_session_params *p)
{
	struct crypto_skcipher *tfm;
	int err;

	if (p->cipher == OCF_CHACHA20)
		soft_chacha_init(ctx, p);
	if (p->cipher == OCF_CHACHA20 || p->cipher == OCF_NULL_CIPHER)
		return 0;
	tfm = soft_impl_alloc(p->cipher);
	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	err = crypto_skcipher_setkey(tfm, p->key, p->keylen);
	if (err) {
		soft_impl_free(p->cipher, tfm, 0);
		return err;
	}
	ctx->cipher = tfm;
	return 0;
}

void soft_cipher_exit(struct soft_ctx *ctx, const struct ocf_session_params *p)
{
	soft_impl_free(p->cipher, ctx->cipher, p->keylen);
}

static __always_inline int cipher_run(struct ocf_request *req,
				      struct scatterlist *src,
				      struct scatterlist *dst)
{
	struct skcipher_request *sub = (void *)req->priv;

	skcipher_request_set_tfm(sub, soft_ctx(req)->cipher);
	skcipher_request_set_callback(sub, ocf_request_may_sleep(req) ?
				      CRYPTO_TFM_REQ_MAY_SLEEP : 0, NULL, NULL);
	skcipher_request_set_crypt(sub, src, dst, req->data.len, req->iv);
	return req->op == OCF_OP_ENCRYPT ? crypto_skcipher_encrypt(sub) :
					   crypto_skcipher_decrypt(sub);
}

/* Encrypts or decrypts data that do not start where the buffers start. */
static noinline int run_from(struct ocf_request *req, u32 start)
{
	struct scatterlist in[2], out[2], *src, *dst;

	src = scatterwalk_ffwd(in, req->src, start);
	dst = req->dst == req->src ? src :
				     scatterwalk_ffwd(out, req->dst, start);
	return cipher_run(req, src, dst);
}

/* RFC 2410 */
static int copy(struct ocf_request *req)
{
	struct ocf_walk w;

	if (req->src != req->dst)
		for (ocf_walk_start(&w, req); w.len; ocf_walk_next(&w))
			memcpy(w.dst, w.src, w.len);
	return 0;
}

/* Ciphers that are done without the crypto API. */
static noinline int run_other(struct ocf_request *req)
{
	return req->ctx->params->cipher == OCF_CHACHA20 ? soft_chacha(req) :
							  copy(req);
}

/* Whether soft_cipher() can work in this context, without -EAGAIN. */
bool soft_cipher_possible(struct ocf_request *req)
{
	return !soft_ctx(req)->cipher || may_use_simd();
}

/**
 * soft_cipher() - encrypt or decrypt the data of a request
 * @req: the request
 *
 * Context: process or BH.
 * Return: 0; -EAGAIN where the vector registers cannot be used; an errno.
 */
int soft_cipher(struct ocf_request *req)
{
	if (!soft_ctx(req)->cipher)
		return run_other(req);
	/* not crypto_simd_usable(): the kernel's self-tests make it false for a
	 * while, also for a worker.  The implementations called here have no
	 * fallback
	 */
	if (unlikely(!may_use_simd()))
		return -EAGAIN;
	return req->data.start ? run_from(req, req->data.start) :
				 cipher_run(req, req->src, req->dst);
}
