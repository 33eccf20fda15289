// SPDX-License-Identifier: GPL-2.0-only
/*
 * Digests and MACs.  Nearly all are the kernel's shash.  GMAC is GHASH and one
 * block of AES, BLAKE2s is the crypto library's, and the null MAC is zeros.
 */
#include <crypto/hash.h>
#include <crypto/utils.h>
#include <linux/err.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "soft.h"

/* In ocf_request.priv while a request is hashed. */
struct hashing {
	union {
		struct shash_desc	desc;
		struct blake2s_state	blake2s;
	};
};

static struct hashing *hashing(struct ocf_request *req)
{
	return (struct hashing *)req->priv;
}

/*
 * GMAC's count of bytes hashed so far is at the end of @priv, behind the shash.
 */
static u64 *gmac_total(struct ocf_request *req)
{
	return (u64 *)(req->priv + OCF_PRIV_SIZE - sizeof(u64));
}

static int shash_begin(struct ocf_request *req)
{
	hashing(req)->desc.tfm = soft_ctx(req)->hash;
	return crypto_shash_init(&hashing(req)->desc);
}

static int shash_add(struct ocf_request *req, const u8 *data, u32 len)
{
	return crypto_shash_update(&hashing(req)->desc, data, len);
}

static int shash_end(struct ocf_request *req, u8 *digest)
{
	return crypto_shash_final(&hashing(req)->desc, digest);
}

static int shash_save(struct ocf_request *req, struct soft_state *state)
{
	return crypto_shash_export(&hashing(req)->desc, state->raw);
}

static int shash_load(struct ocf_request *req, const struct soft_state *state)
{
	hashing(req)->desc.tfm = soft_ctx(req)->hash;
	return crypto_shash_import(&hashing(req)->desc, state->raw);
}

static const struct soft_hash_ops shash_ops = {
	.init = shash_begin,
	.update = shash_add,
	.final = shash_end,
	.export = shash_save,
	.import = shash_load,
};

static int gmac_begin(struct ocf_request *req)
{
	*gmac_total(req) = 0;
	return shash_begin(req);
}

static int gmac_add(struct ocf_request *req, const u8 *data, u32 len)
{
	*gmac_total(req) += len;
	return shash_add(req, data, len);
}

/* SP 800-38D, 6.4 and 7.1, with no plaintext */
static int gmac_end(struct ocf_request *req, u8 *digest)
{
	u64 total = *gmac_total(req);
	u8 block[AES_BLOCK_SIZE] = {};
	int err = 0;

	if (total % AES_BLOCK_SIZE)
		err = shash_add(req, block, -total % AES_BLOCK_SIZE);
	put_unaligned_be64(total << 3, block);
	err = err ?: shash_add(req, block, sizeof(block)) ?:
	      shash_end(req, digest);
	if (err)
		return err;
	memcpy(block, req->iv, 12);
	put_unaligned_be32(1, block + 12);
	aes_encrypt(soft_ctx(req)->gmac, block, block);
	crypto_xor(digest, block, sizeof(block));
	memzero_explicit(block, sizeof(block));
	return 0;
}

static int gmac_save(struct ocf_request *req, struct soft_state *state)
{
	state->total = *gmac_total(req);
	return shash_save(req, state);
}

static int gmac_load(struct ocf_request *req, const struct soft_state *state)
{
	*gmac_total(req) = state->total;
	return shash_load(req, state);
}

static const struct soft_hash_ops gmac_ops = {
	.init = gmac_begin,
	.update = gmac_add,
	.final = gmac_end,
	.export = gmac_save,
	.import = gmac_load,
};

static int blake2s_begin(struct ocf_request *req)
{
	hashing(req)->blake2s = soft_ctx(req)->blake2s;
	return 0;
}

static int blake2s_add(struct ocf_request *req, const u8 *data, u32 len)
{
	blake2s_update(&hashing(req)->blake2s, data, len);
	return 0;
}

static int blake2s_end(struct ocf_request *req, u8 *digest)
{
	blake2s_final(&hashing(req)->blake2s, digest);
	return 0;
}

static int blake2s_save(struct ocf_request *req, struct soft_state *state)
{
	memcpy(state->raw, &hashing(req)->blake2s,
	       sizeof(struct blake2s_state));
	return 0;
}

static int blake2s_load(struct ocf_request *req, const struct soft_state *state)
{
	memcpy(&hashing(req)->blake2s, state->raw,
	       sizeof(struct blake2s_state));
	return 0;
}

static const struct soft_hash_ops blake2s_ops = {
	.init = blake2s_begin,
	.update = blake2s_add,
	.final = blake2s_end,
	.export = blake2s_save,
	.import = blake2s_load,
};

static int null_begin(struct ocf_request *req)
{
	return 0;
}

static int null_add(struct ocf_request *req, const u8 *data, u32 len)
{
	return 0;
}

static int null_end(struct ocf_request *req, u8 *digest)
{
	memset(digest, 0, ocf_alg_info(OCF_NULL_MAC)->digest);
	return 0;
}

static int null_save(struct ocf_request *req, struct soft_state *state)
{
	return 0;
}

static int null_load(struct ocf_request *req, const struct soft_state *state)
{
	return 0;
}

static const struct soft_hash_ops null_ops = {
	.init = null_begin,
	.update = null_add,
	.final = null_end,
	.export = null_save,
	.import = null_load,
};

static void init_blake2s(struct soft_ctx *ctx,
			 const struct ocf_session_params *p)
{
	ctx->hash_ops = &blake2s_ops;
	if (p->mackeylen)
		blake2s_init_key(&ctx->blake2s, BLAKE2S_HASH_SIZE, p->mackey,
				 p->mackeylen);
	else
		blake2s_init(&ctx->blake2s, BLAKE2S_HASH_SIZE);
}

/* GHASH is keyed with an encrypted block of zeroes. */
static int init_gmac(struct soft_ctx *ctx, const struct ocf_session_params *p)
{
	u8 h[AES_BLOCK_SIZE] = {};
	int err;

	ctx->gmac = kzalloc(sizeof(*ctx->gmac), GFP_KERNEL_ACCOUNT);
	if (!ctx->gmac)
		return -ENOMEM;
	err = aes_expandkey(ctx->gmac, p->mackey, p->mackeylen);
	if (!err) {
		aes_encrypt(ctx->gmac, h, h);
		err = crypto_shash_setkey(ctx->hash, h, sizeof(h));
	}
	memzero_explicit(h, sizeof(h));
	return err;
}

int soft_hash_init(struct soft_ctx *ctx, const struct ocf_session_params *p)
{
	int err = 0;

	if (p->mac == OCF_NULL_MAC) {
		ctx->hash_ops = &null_ops;
		return 0;
	}
	if (p->mac == OCF_BLAKE2S) {
		init_blake2s(ctx, p);
		return 0;
	}
	ctx->hash = soft_impl_alloc(p->mac);
	if (IS_ERR(ctx->hash)) {
		err = PTR_ERR(ctx->hash);
		ctx->hash = NULL;
		return err;
	}
	ctx->hash_ops = &shash_ops;
	if (p->mac == OCF_AES_GMAC) {
		ctx->hash_ops = &gmac_ops;
		err = init_gmac(ctx, p);
	} else if (ocf_alg_info(p->mac)->type == OCF_TYPE_MAC || p->mackeylen) {
		err = crypto_shash_setkey(ctx->hash, p->mackey, p->mackeylen);
	}
	if (err)
		soft_hash_exit(ctx, p);
	return err;
}

void soft_hash_exit(struct soft_ctx *ctx, const struct ocf_session_params *p)
{
	soft_impl_free(p->mac, ctx->hash, 0);
	kfree_sensitive(ctx->gmac);
	ctx->hash = NULL;
	ctx->gmac = NULL;
}

/**
 * soft_hash_begin() - start a digest, or continue one
 * @req: the request
 *
 * Until soft_hash_end() @req->priv belongs to the hash.
 *
 * Context: any.
 * Return: 0, or an errno.
 */
int soft_hash_begin(struct ocf_request *req)
{
	const struct soft_hash_ops *ops = soft_ctx(req)->hash_ops;

	return req->flags & OCF_REQ_CONTINUE ? ops->import(req, req->state) :
					       ops->init(req);
}

static int hash_add_piece(void *arg, u8 *piece, u32 len)
{
	struct ocf_request *req = arg;

	return soft_ctx(req)->hash_ops->update(req, piece, len);
}

/**
 * soft_hash_range() - digest a part of a buffer
 * @req: the request
 * @sg: the buffer
 * @range: the part
 *
 * Context: process or BH.
 * Return: 0, or an errno.
 */
int soft_hash_range(struct ocf_request *req, struct scatterlist *sg,
		    const struct ocf_range *range)
{
	return ocf_sg_each(sg, range->start, range->len,
			   ocf_request_may_sleep(req), hash_add_piece, req);
}

/**
 * soft_hash_end() - finish a digest, or save its state
 * @req: the request
 * @verify: compare the result with the request's tag instead of delivering it
 *
 * Context: any.
 * Return: 0; -EBADMSG; an errno.
 */
int soft_hash_end(struct ocf_request *req, bool verify)
{
	const struct soft_hash_ops *ops = soft_ctx(req)->hash_ops;
	u8 digest[OCF_TAG_MAX];
	int err;

	if (req->flags & OCF_REQ_UPDATE) {
		err = ops->export(req, req->state);
	} else {
		err = ops->final(req, digest);
		if (!err && verify)
			err = ocf_tag_check(req, digest);
		else if (!err)
			ocf_tag_store(req, digest);
		memzero_explicit(digest, sizeof(digest));
	}
	memzero_explicit(req->priv, sizeof(req->priv));
	return err;
}
