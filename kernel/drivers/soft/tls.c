// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens records of MAC-then-encrypt: provides the hash for ocf_mte_inner(), and
 * combines the steps of kernel/core/request/mte.c.
 */
#include <crypto/hash.h>
#include <crypto/hmac.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "soft.h"

#define STATE_MAX	256	/* bytes a hash exports: 208 for SHA-512 */
#define BLOCK_MAX	128
#define TAIL_MAX	(256 + OCF_TAG_MAX + BLOCK_MAX)
#define AAD_MAX		32	/* with OCF_SESSION_MTE_LENGTH */

/* Properties of a hash that HMAC uses. */
static const struct layout {
	enum ocf_alg	mac, hash;
	u8		block, length, word;
	bool		little;
} layouts[] = {
	{ OCF_HMAC_MD5,		OCF_MD5,	64,  8,  4, true },
	{ OCF_HMAC_SHA1,	OCF_SHA1,	64,  8,  4 },
	{ OCF_HMAC_SHA224,	OCF_SHA224,	64,  8,  4 },
	{ OCF_HMAC_SHA256,	OCF_SHA256,	64,  8,  4 },
	{ OCF_HMAC_SHA384,	OCF_SHA384,	128, 16, 8 },
	{ OCF_HMAC_SHA512,	OCF_SHA512,	128, 16, 8 },
};

/**
 * struct soft_tls - the hash under a session's MAC
 * @layout: of the hash
 * @hash: the hash
 * @digest: bytes of its result
 * @inner: its state after the key's inner block
 * @outer: its state after the key's outer block
 */
struct soft_tls {
	const struct layout	*layout;
	struct crypto_shash	*hash;
	u32			digest;
	u8			inner[STATE_MAX];
	u8			outer[STATE_MAX];
};

/* In ocf_request.priv while a record is opened. */
struct opening {
	union {
		struct shash_desc desc;
		u8		room[sizeof(struct shash_desc) + STATE_MAX];
	};
	u8			state[STATE_MAX];	/* for peek() */
	const struct soft_tls	*tls;
};

static const struct layout *layout_of(enum ocf_alg mac)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].mac == mac)
			return &layouts[i];
	return NULL;
}

/* RFC 2104: the hash's state after key xor @pad */
static int start_state(struct soft_tls *tls, const u8 *key, u8 pad, u8 *state)
{
	SHASH_DESC_ON_STACK(desc, tls->hash);
	u8 block[BLOCK_MAX];
	int i, err;

	desc->tfm = tls->hash;
	for (i = 0; i < tls->layout->block; i++)
		block[i] = key[i] ^ pad;
	err = crypto_shash_init(desc) ?:
	      crypto_shash_update(desc, block, tls->layout->block) ?:
	      crypto_shash_export(desc, state);
	memzero_explicit(block, sizeof(block));
	shash_desc_zero(desc);
	return err;
}

static int start_states(struct soft_tls *tls,
			const struct ocf_session_params *p)
{
	u8 key[BLOCK_MAX] = {};
	int err = 0;

	if (p->mackeylen > tls->layout->block)
		err = crypto_shash_tfm_digest(tls->hash, p->mackey,
					      p->mackeylen, key);
	else
		memcpy(key, p->mackey, p->mackeylen);
	err = err ?: start_state(tls, key, HMAC_IPAD_VALUE, tls->inner) ?:
	      start_state(tls, key, HMAC_OPAD_VALUE, tls->outer);
	memzero_explicit(key, sizeof(key));
	return err;
}

int soft_tls_init(struct soft_ctx *ctx, const struct ocf_session_params *p)
{
	const struct layout *layout = layout_of(p->mac);
	struct soft_tls *tls;
	int err;

	if (!layout)
		return -EOPNOTSUPP;
	tls = kzalloc(sizeof(*tls), GFP_KERNEL_ACCOUNT);
	if (!tls)
		return -ENOMEM;
	tls->layout = layout;
	tls->hash = soft_impl_alloc(layout->hash);
	if (IS_ERR(tls->hash)) {
		err = PTR_ERR(tls->hash);
		goto free_tls;
	}
	err = -EOPNOTSUPP;
	if (crypto_shash_statesize(tls->hash) > STATE_MAX ||
	    crypto_shash_descsize(tls->hash) > STATE_MAX)
		goto free_hash;
	tls->digest = crypto_shash_digestsize(tls->hash);
	err = start_states(tls, p);
	if (err)
		goto free_hash;
	ctx->tls = tls;
	return 0;

free_hash:
	soft_impl_free(layout->hash, tls->hash, 0);
free_tls:
	kfree_sensitive(tls);
	return err;
}

void soft_tls_exit(struct soft_ctx *ctx)
{
	if (!ctx->tls)
		return;
	soft_impl_free(ctx->tls->layout->hash, ctx->tls->hash, 0);
	kfree_sensitive(ctx->tls);
}

static void compress(void *arg, const u8 *block)
{
	struct opening *o = arg;

	crypto_shash_update(&o->desc, block, o->tls->layout->block);
}

/* Exported states begin with the chaining words, in the CPU's order. */
static void peek(void *arg, u8 *state)
{
	struct opening *o = arg;
	u32 i, n = o->tls->digest;

	crypto_shash_export(&o->desc, o->state);
	if (o->tls->layout->little)
		for (i = 0; i < n; i += 4)
			put_unaligned_le32(*(u32 *)(o->state + i), state + i);
	else if (o->tls->layout->word == 4)
		for (i = 0; i < n; i += 4)
			put_unaligned_be32(*(u32 *)(o->state + i), state + i);
	else
		for (i = 0; i < n; i += 8)
			put_unaligned_be64(*(u64 *)(o->state + i), state + i);
}

static int tls_add_piece(void *arg, u8 *piece, u32 len)
{
	struct opening *o = arg;

	return crypto_shash_update(&o->desc, piece, len);
}

/* A record that is being opened. */
struct record {
	struct ocf_request	*req;
	struct ocf_mte_hash	hash;
	u32			aad, len, maclen;
	u32			before;		/* bytes hashed in the open */
	u32			payload;	/* secret */
	u32			tail_len;
	u8			aad_end[AAD_MAX]; /* with the length */
	u8			tail[TAIL_MAX];
};

/*
 * Hashes @len bytes of additional data from @from on, or copies them to @to.
 * If its length field is ours to fill in, it comes from aad_end.
 */
static int take_aad(struct record *r, u32 from, u32 len, u8 *to)
{
	struct opening *o = r->hash.ctx;
	struct ocf_request *req = r->req;
	bool ours = req->ctx->params->flags & OCF_SESSION_MTE_LENGTH;

	if (to && ours)
		memcpy(to, r->aad_end + from, len);
	else if (to)
		ocf_sg_read(req->src, req->auth.start + from, to, len);
	else if (ours)
		return crypto_shash_update(&o->desc, r->aad_end + from, len);
	else
		return ocf_sg_each(req->src, req->auth.start + from, len,
				   ocf_request_may_sleep(req), tls_add_piece,
				   o);
	return 0;
}

static void fill_in_length(struct record *r)
{
	struct ocf_request *req = r->req;

	if (!(req->ctx->params->flags & OCF_SESSION_MTE_LENGTH))
		return;
	ocf_sg_read(req->src, req->auth.start, r->aad_end, r->aad);
	put_unaligned_be16(r->payload, r->aad_end + r->aad - 2);
}

/*
 * Hashes the public part, and reads the rest of the additional data into the
 * tail
 */
static int hash_public(struct record *r)
{
	struct opening *o = r->hash.ctx;
	u32 aad = min(r->before, r->aad);
	int err;

	o->desc.tfm = o->tls->hash;
	err = crypto_shash_import(&o->desc, o->tls->inner) ?:
	      take_aad(r, 0, aad, NULL);
	if (err)
		return err;
	if (r->before > r->aad)
		return ocf_sg_each(r->req->dst, r->req->data.start,
				   r->before - r->aad,
				   ocf_request_may_sleep(r->req), tls_add_piece,
				   o);
	return take_aad(r, aad, r->aad - aad, r->tail);
}

static int outer_hash(struct opening *o, const u8 *inner, u8 *mac)
{
	return crypto_shash_import(&o->desc, o->tls->outer) ?:
	       crypto_shash_finup(&o->desc, inner, o->tls->digest, mac);
}

static int check(struct record *r)
{
	struct opening *o = (void *)r->req->priv;
	u32 data_from, good = ~0u;
	u8 mac[OCF_TAG_MAX];
	const u8 *end;
	int err;

	/*
	 * the tail ends with decrypted bytes; additional data are before them
	 */
	data_from = r->before > r->aad ? r->before - r->aad : 0;
	r->tail_len = r->aad + r->len - r->before;
	ocf_sg_read(r->req->dst, r->req->data.start + data_from,
		    r->tail + r->tail_len - (r->len - data_from),
		    r->len - data_from);
	end = r->tail + r->tail_len;
	if (ocf_alg_info(r->req->ctx->params->cipher)->block > 1)
		good = ocf_mte_unpad(end, r->len, r->maclen, &r->payload);
	else
		r->payload = r->len - r->maclen;
	fill_in_length(r);
	err = hash_public(r);
	if (err)
		return err;
	ocf_mte_inner(&r->hash, r->tail, r->tail_len, r->before,
		      r->aad + r->payload, r->maclen, mac);
	err = outer_hash(o, mac, mac);
	if (!err)
		good &= ocf_mte_compare(end, r->len, r->maclen, r->payload,
					mac);
	memzero_explicit(mac, sizeof(mac));
	if (err)
		return err;
	/*
	 * the length of a bad record is not told: it shows where the padding
	 * begins
	 */
	r->req->result_len = good ? r->payload : 0;
	return good ? 0 : -EBADMSG;
}

/**
 * soft_tls_open() - check the record that soft_cipher() has decrypted into
 * @req->dst
 * @req: the request
 *
 * Context: process or BH.
 * Return: 0, and @req->result_len is the payload's; -EBADMSG; an errno.
 */
int soft_tls_open(struct ocf_request *req)
{
	const struct soft_tls *tls = soft_ctx(req)->tls;
	struct opening *o = (void *)req->priv;
	struct record r = {
		.req = req,
		.hash = {
			.block = tls->layout->block,
			.digest = tls->digest,
			.length = tls->layout->length,
			.little = tls->layout->little,
			.ctx = o,
			.compress = compress,
			.peek = peek,
		},
		.aad = req->auth.len,
		.len = req->data.len,
		.maclen = req->ctx->params->maclen,
	};
	int err;

	BUILD_BUG_ON(sizeof(*o) > OCF_PRIV_SIZE);
	o->tls = tls;
	r.before = ocf_mte_public(&r.hash, r.aad, r.len, r.maclen);
	err = check(&r);
	memzero_explicit(&r, sizeof(r));
	memzero_explicit(o, sizeof(*o));
	return err;
}
