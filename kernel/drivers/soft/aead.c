// SPDX-License-Identifier: GPL-2.0-only
/*
 * Authenticated encryption, by the kernel's AEAD.
 */
#include <crypto/aead.h>
#include <crypto/scatterwalk.h>
#include <linux/err.h>

#include <asm/simd.h>

#include "soft.h"

int soft_aead_init(struct soft_ctx *ctx, const struct ocf_session_params *p)
{
	struct crypto_aead *tfm;
	int err;

	tfm = soft_impl_alloc(p->cipher);
	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	err = crypto_aead_setkey(tfm, p->key, p->keylen) ?:
	      crypto_aead_setauthsize(tfm, p->maclen);
	if (err) {
		soft_impl_free(p->cipher, tfm, 0);
		return err;
	}
	ctx->aead = tfm;
	return 0;
}

void soft_aead_exit(struct soft_ctx *ctx, const struct ocf_session_params *p)
{
	soft_impl_free(p->cipher, ctx->aead, p->keylen);
}

/*
 * The kernel's CCM expects its first counter block as the IV: 15 - n - 1,
 * nonce, zeros.
 */
static void format_ccm(struct ocf_request *req)
{
	u32 n = req->ivlen ?: req->ctx->params->ivlen;

	memmove(req->iv + 1, req->iv, n);
	req->iv[0] = 14 - n;
	memset(req->iv + 1 + n, 0, OCF_IV_MAX - 1 - n);
}

/**
 * soft_aead() - seal or open a request
 * @req: the request
 *
 * Context: process or BH.
 * Return: 0; -EBADMSG; -EAGAIN where the vector registers cannot be used; an
 * errno.
 */
int soft_aead(struct ocf_request *req)
{
	struct aead_request *sub = (void *)req->priv;
	struct scatterlist in[2], out[2], *src = req->src, *dst = req->dst;
	u32 start = req->data.start - req->auth.len, len = req->data.len;
	bool seal = req->op == OCF_OP_ENCRYPT;

	if (unlikely(!may_use_simd()))
		return -EAGAIN;
	if (start) {
		src = scatterwalk_ffwd(in, src, start);
		dst = req->dst == req->src ? src :
					     scatterwalk_ffwd(out, dst, start);
	}
	if (ocf_alg_is_ccm(req->ctx->params->cipher))
		format_ccm(req);
	if (!seal)
		len += req->ctx->params->maclen;
	aead_request_set_tfm(sub, soft_ctx(req)->aead);
	aead_request_set_callback(sub, ocf_request_may_sleep(req) ?
				  CRYPTO_TFM_REQ_MAY_SLEEP : 0, NULL, NULL);
	aead_request_set_ad(sub, req->auth.len);
	aead_request_set_crypt(sub, src, dst, len, req->iv);
	return seal ? crypto_aead_encrypt(sub) : crypto_aead_decrypt(sub);
}
