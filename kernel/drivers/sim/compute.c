// SPDX-License-Identifier: GPL-2.0-only
/*
 * Computes the result of a request, with the kernel's crypto API or with the
 * null transform.  It works in the pages of the request, or in the card's own
 * copy of them.
 */
#include <crypto/aead.h>
#include <crypto/hash.h>
#include <crypto/scatterwalk.h>
#include <crypto/skcipher.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/string.h>

#include "sim.h"

/* A session's state on a card. */
struct sim_ctx {
	struct crypto_sync_skcipher	*cipher;
	struct crypto_aead		*aead;
	struct crypto_shash		*hash;
};

/**
 * struct sim_op - a request as the card sees it
 * @req: the request
 * @ctx: its context
 * @scratch: memory for the crypto API
 * @src: the source; it begins with byte @base of the request's
 * @dst: the destination; it begins with byte @base, too
 * @base: offset in the request, bytes
 * @iv: a copy of the request's, which is updated only by a good result
 */
struct sim_op {
	struct ocf_request	*req;
	struct sim_ctx		*ctx;
	void			*scratch;
	struct scatterlist	*src;
	struct scatterlist	*dst;
	u32			base;
	u8			iv[OCF_IV_MAX] __aligned(16);
};

static const u8 ciphers[] = {
	OCF_AES_CBC, OCF_AES_CTR, OCF_AES_ECB, OCF_AES_XTS, OCF_DES3_CBC,
};

static const u8 aeads[] = { OCF_AES_GCM, OCF_CHACHA20_POLY1305 };

static const u8 hashes[] = {
	OCF_SHA1, OCF_SHA224, OCF_SHA256, OCF_SHA384, OCF_SHA512,
	OCF_HMAC_SHA1, OCF_HMAC_SHA224, OCF_HMAC_SHA256, OCF_HMAC_SHA384,
	OCF_HMAC_SHA512,
};

static void set_algs(unsigned long *set, const u8 *algs, int n)
{
	while (n--)
		__set_bit(algs[n], set);
}

/**
 * sim_algs() - set the algorithms and modes of a card
 * @which: the configured set of algorithms
 * @info: is filled in
 *
 * Context: any.
 */
void sim_algs(enum sim_algs which, struct ocf_device_info *info)
{
	info->modes = BIT(OCF_MODE_CIPHER) | BIT(OCF_MODE_DIGEST) |
		      BIT(OCF_MODE_ETA) | BIT(OCF_MODE_CHAIN);
	if (which != SIM_ALGS_REAL) {
		__set_bit(OCF_NULL_CIPHER, info->algs);
		__set_bit(OCF_NULL_MAC, info->algs);
	}
	if (which == SIM_ALGS_NULL)
		return;
	info->modes |= BIT(OCF_MODE_AEAD);
	set_algs(info->algs, ciphers, ARRAY_SIZE(ciphers));
	set_algs(info->algs, aeads, ARRAY_SIZE(aeads));
	set_algs(info->algs, hashes, ARRAY_SIZE(hashes));
}

/* ---- contexts ---- */

static const char *impl(enum ocf_alg alg)
{
	return ocf_alg_info(alg)->impl;
}

static int init_cipher(struct sim_ctx *c, const struct ocf_session_params *p)
{
	c->cipher = crypto_alloc_sync_skcipher(impl(p->cipher), 0, 0);
	if (IS_ERR(c->cipher))
		return PTR_ERR(c->cipher);
	if (sizeof(struct skcipher_request) +
	    crypto_skcipher_reqsize(&c->cipher->base) > SIM_SCRATCH)
		return -EOPNOTSUPP;
	return crypto_sync_skcipher_setkey(c->cipher, p->key, p->keylen);
}

static int init_aead(struct sim_ctx *c, const struct ocf_session_params *p)
{
	c->aead = crypto_alloc_aead(impl(p->cipher), 0, CRYPTO_ALG_ASYNC);
	if (IS_ERR(c->aead))
		return PTR_ERR(c->aead);
	if (sizeof(struct aead_request) + crypto_aead_reqsize(c->aead) >
	    SIM_SCRATCH)
		return -EOPNOTSUPP;
	return crypto_aead_setkey(c->aead, p->key, p->keylen) ?:
	       crypto_aead_setauthsize(c->aead, p->maclen);
}

static int init_hash(struct sim_ctx *c, const struct ocf_session_params *p)
{
	c->hash = crypto_alloc_shash(impl(p->mac), 0, 0);
	if (IS_ERR(c->hash))
		return PTR_ERR(c->hash);
	if (sizeof(struct shash_desc) + crypto_shash_descsize(c->hash) >
	    SIM_SCRATCH)
		return -EOPNOTSUPP;
	if (ocf_alg_info(p->mac)->key_max)
		return crypto_shash_setkey(c->hash, p->mackey, p->mackeylen);
	return 0;
}

static void free_all(struct sim_ctx *c)
{
	if (!IS_ERR_OR_NULL(c->cipher))
		crypto_free_sync_skcipher(c->cipher);
	if (!IS_ERR_OR_NULL(c->aead))
		crypto_free_aead(c->aead);
	if (!IS_ERR_OR_NULL(c->hash))
		crypto_free_shash(c->hash);
}

/**
 * sim_ctx_init() - ocf_device_ops.ctx_init
 * @ctx: the context
 * @p: what the session does
 *
 * Context: process; may sleep.
 * Return: 0; -ENOSPC if the card's memory is full; what the crypto API says.
 */
int sim_ctx_init(struct ocf_context *ctx, const struct ocf_session_params *p)
{
	struct sim_card *card = ocf_device_priv(ctx->dev);
	struct sim_ctx *c = ocf_context_priv(ctx);
	int err = -ENOSPC;

	fsleep(READ_ONCE(card->config.knob[SIM_CONTEXT]) / NSEC_PER_USEC);
	if (atomic_inc_return(&card->contexts) >
	    READ_ONCE(card->config.knob[SIM_CONTEXTS]))
		goto give_up;
	err = 0;
	if (p->mode == OCF_MODE_AEAD)
		err = init_aead(c, p);
	else if (p->cipher && p->cipher != OCF_NULL_CIPHER)
		err = init_cipher(c, p);
	if (!err && p->mac && p->mac != OCF_NULL_MAC)
		err = init_hash(c, p);
	if (!err)
		return 0;
	free_all(c);
give_up:
	atomic_dec(&card->contexts);
	return err;
}

/**
 * sim_ctx_exit() - ocf_device_ops.ctx_exit
 * @ctx: the context
 *
 * Context: process; may sleep.
 */
void sim_ctx_exit(struct ocf_context *ctx)
{
	struct sim_card *card = ocf_device_priv(ctx->dev);

	free_all(ocf_context_priv(ctx));
	atomic_dec(&card->contexts);
}

/**
 * sim_ctx_size() - bytes of a context
 *
 * Context: any.
 * Return: bytes.
 */
size_t sim_ctx_size(void)
{
	return sizeof(struct sim_ctx);
}

/* ---- the parts of an operation ---- */

/* Returns @list from byte @start on; uses @sg unless @start is 0 */
static struct scatterlist *from(struct scatterlist sg[2],
				struct scatterlist *list, u32 start)
{
	return start ? scatterwalk_ffwd(sg, list, start) : list;
}

static int copy(struct sim_op *op)
{
	struct ocf_walk w;

	/*
	 * a bounced request needs no copy: source and destination are the same
	 * memory
	 */
	if (op->req->src == op->req->dst || op->src != op->req->src)
		return 0;
	for (ocf_walk_start(&w, op->req); w.len; ocf_walk_next(&w))
		memcpy(w.dst, w.src, w.len);
	return 0;
}

static int do_cipher(struct sim_op *op)
{
	struct skcipher_request *sub = op->scratch;
	struct ocf_request *req = op->req;
	struct scatterlist in[2], out[2], *src, *dst;

	if (!op->ctx->cipher)
		return copy(op);
	/* beside a MAC there may be nothing to encrypt, which XTS refuses */
	if (!req->data.len)
		return 0;
	src = from(in, op->src, req->data.start - op->base);
	dst = op->src == op->dst ? src :
	      from(out, op->dst, req->data.start - op->base);
	skcipher_request_set_sync_tfm(sub, op->ctx->cipher);
	skcipher_request_set_callback(sub, 0, NULL, NULL);
	skcipher_request_set_crypt(sub, src, dst, req->data.len, op->iv);
	return req->op == OCF_OP_ENCRYPT ? crypto_skcipher_encrypt(sub) :
					   crypto_skcipher_decrypt(sub);
}

static int do_aead(struct sim_op *op)
{
	struct aead_request *sub = op->scratch;
	struct ocf_request *req = op->req;
	u32 start = req->data.start - req->auth.len - op->base;
	bool seal = req->op == OCF_OP_ENCRYPT;
	struct scatterlist in[2], out[2], *src, *dst;

	src = from(in, op->src, start);
	dst = op->src == op->dst ? src : from(out, op->dst, start);
	aead_request_set_tfm(sub, op->ctx->aead);
	aead_request_set_callback(sub, 0, NULL, NULL);
	aead_request_set_ad(sub, req->auth.len);
	aead_request_set_crypt(sub, src, dst, req->data.len +
			       (seal ? 0 : ocf_request_maclen(req)), op->iv);
	return seal ? crypto_aead_encrypt(sub) : crypto_aead_decrypt(sub);
}

static int hash_begin(struct sim_op *op)
{
	struct shash_desc *desc = op->scratch;

	if (!op->ctx->hash)
		return 0;
	desc->tfm = op->ctx->hash;
	return crypto_shash_init(desc);
}

static int hash_piece(void *desc, u8 *piece, u32 len)
{
	return crypto_shash_update(desc, piece, len);
}

static int hash_range(struct sim_op *op, struct scatterlist *sg, u32 start,
		      u32 end)
{
	if (!op->ctx->hash || start == end)
		return 0;
	return ocf_sg_each(sg, start - op->base, end - start, false,
			   hash_piece, op->scratch);
}

/* The null MAC is all zeroes. */
static int hash_end(struct sim_op *op, bool verify)
{
	u8 digest[OCF_TAG_MAX] = {};
	int err = 0;

	if (op->ctx->hash)
		err = crypto_shash_final(op->scratch, digest);
	if (!err && verify)
		err = ocf_tag_check(op->req, digest);
	else if (!err)
		ocf_tag_store(op->req, digest);
	memzero_explicit(digest, sizeof(digest));
	return err;
}

static u32 end_of(const struct ocf_range *r)
{
	return r->start + r->len;
}

static int mac_over(struct sim_op *op, struct scatterlist *sg,
		    const struct ocf_range *r, bool verify)
{
	return hash_begin(op) ?: hash_range(op, sg, r->start, end_of(r)) ?:
	       hash_end(op, verify);
}

static int do_digest(struct sim_op *op)
{
	return mac_over(op, op->src, &op->req->data,
			op->req->op == OCF_OP_DECRYPT);
}

/* The ciphertext is in @dst; the bytes around it are in @src. */
static int do_eta(struct sim_op *op)
{
	const struct ocf_range *auth = &op->req->auth, *data = &op->req->data;

	if (op->req->op == OCF_OP_DECRYPT)
		return mac_over(op, op->src, auth, true) ?: do_cipher(op);
	return do_cipher(op) ?: hash_begin(op) ?:
	       hash_range(op, op->src, auth->start, data->start) ?:
	       hash_range(op, op->dst, data->start, end_of(data)) ?:
	       hash_range(op, op->src, end_of(data), end_of(auth)) ?:
	       hash_end(op, false);
}

static int do_chain(struct sim_op *op)
{
	bool verify = op->req->flags & OCF_REQ_VERIFY;

	if (op->req->flags & OCF_REQ_MAC_FIRST)
		return mac_over(op, op->src, &op->req->auth, verify) ?:
		       do_cipher(op);
	return do_cipher(op) ?:
	       mac_over(op, op->dst, &op->req->auth, verify);
}

static int (*const modes[OCF_MODE_COUNT])(struct sim_op *op) = {
	[OCF_MODE_CIPHER]	= do_cipher,
	[OCF_MODE_DIGEST]	= do_digest,
	[OCF_MODE_AEAD]		= do_aead,
	[OCF_MODE_ETA]		= do_eta,
	[OCF_MODE_CHAIN]	= do_chain,
};

/* ---- faults ---- */

/* Wrong answers of all cards since the module was loaded */
atomic_long_t sim_falsified;

static void flip(struct scatterlist *sg, u32 at)
{
	u8 byte;

	ocf_sg_read(sg, at, &byte, 1);
	byte ^= 1;
	ocf_sg_write(sg, at, &byte, 1);
}

/* A wrong MAC or tag */
static void spoil_tag(struct ocf_request *req)
{
	if (req->tag_start == OCF_TAG_INLINE)
		req->tag[0] ^= 1;
	else
		flip(req->dst, req->tag_start);
}

static bool is_digest(const struct ocf_request *req)
{
	return req->ctx->params->mode == OCF_MODE_DIGEST;
}

/* Whether to refuse a right MAC or tag */
static bool denies(const struct ocf_request *req, u32 fate)
{
	return ocf_request_verifies(req) &&
	       (fate & BIT(SIM_TAG) ||
		(fate & BIT(SIM_WRONG) && is_digest(req)));
}

/* Spoils a good result as @fate says. */
static noinline void compute_spoil(struct ocf_request *req, u32 fate)
{
	if (fate & BIT(SIM_TAG) || (fate & BIT(SIM_WRONG) && is_digest(req)))
		spoil_tag(req);
	else if (fate & BIT(SIM_WRONG) && req->data.len)
		flip(req->dst, req->data.start);
	else
		return;
	atomic_long_inc(&sim_falsified);
}

/* ---- a request ---- */

/* Has the card work in its own memory. */
static void use_bounce(struct sim_op *op, struct scatterlist *sg,
		       const struct sim_slot *slot)
{
	sg_init_one(sg, slot->bounce, max(slot->span.len, 1u));
	op->src = sg;
	op->dst = sg;
	op->base = slot->span.start;
}

/* Copies the result from there to the request. */
static void bounce_out(struct ocf_request *req, const struct sim_slot *slot)
{
	const u8 *data = slot->bounce + req->data.start - slot->span.start;

	if (!is_digest(req))
		ocf_sg_write(req->dst, req->data.start, data, req->data.len);
	if (req->ctx->params->mode == OCF_MODE_AEAD &&
	    req->op == OCF_OP_ENCRYPT)
		ocf_tag_store(req, data + req->data.len);
}

static noinline int compute(struct sim_card *card, struct ocf_request *req,
			    const struct sim_slot *slot)
{
	struct sim_op op = {
		.req = req, .ctx = ocf_context_priv(req->ctx),
		.scratch = card->scratch, .src = req->src, .dst = req->dst,
	};
	struct scatterlist sg;
	int err;

	if (unlikely(slot->fate & BIT(SIM_ERROR)))
		return -EIO;
	/*
	 * Parts of a digest are refused: another device that had to take over
	 * could not continue from this card's state.
	 */
	if (unlikely(req->flags & (OCF_REQ_UPDATE | OCF_REQ_CONTINUE)))
		return -EOPNOTSUPP;
	if (slot->bounce)
		use_bounce(&op, &sg, slot);
	memcpy(op.iv, req->iv, sizeof(op.iv));
	err = modes[req->ctx->params->mode](&op);
	if (!err && unlikely(slot->fate) && denies(req, slot->fate)) {
		atomic_long_inc(&sim_falsified);
		err = -EBADMSG;
	}
	if (err)
		return err;
	memcpy(req->iv, op.iv, sizeof(op.iv));
	if (slot->bounce)
		bounce_out(req, slot);
	if (unlikely(slot->fate))
		compute_spoil(req, slot->fate);
	return 0;
}

/* The null cipher in place, which benchmarks of the choice of cards use */
static bool nothing_to_do(struct sim_card *card, const struct ocf_request *req,
			  const struct sim_slot *slot)
{
	if (slot->fate)
		return false;
	if (!READ_ONCE(card->config.knob[SIM_COMPUTE]))
		return true;
	return req->ctx->params->cipher == OCF_NULL_CIPHER &&
	       req->ctx->params->mode == OCF_MODE_CIPHER &&
	       req->src == req->dst && !slot->bounce;
}

/**
 * sim_compute() - compute the result of a request, and apply its faults
 * @card: the card, whose timer function calls this
 * @req: the request, which cannot be detached any more
 * @slot: a copy of its slot in the ring
 *
 * Context: BH.
 * Return: the request's result.  If it is not 0, the source is as it was.
 */
int sim_compute(struct sim_card *card, struct ocf_request *req,
		const struct sim_slot *slot)
{
	return nothing_to_do(card, req, slot) ? 0 : compute(card, req, slot);
}
