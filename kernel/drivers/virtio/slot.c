// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request in memory of the driver.  It is copied in before the card gets it
 * (VIRTIO 1.2, 5.9.7.4 to 5.9.7.6), and copied out when the card has succeeded.
 *
 * The data are read and written by the card in the same place.  For a chain,
 * the slot has all bytes from the first to the last that is encrypted or
 * authenticated.  Offsets in it give the two ranges.  So nothing depends on the
 * AAD, whose place differs between the specification and QEMU.
 */
#include <crypto/aes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "virtio.h"

/*
 * The size of buffers is a power of two pages, so that rounding wastes nothing.
 */
int vcrypt_slots_alloc(struct vcrypt_card *card)
{
	struct vcrypt_slot *slot;
	unsigned int i;

	card->slots = kvcalloc(card->depth, sizeof(*slot), GFP_KERNEL);
	if (!card->slots)
		return -ENOMEM;
	for (i = 0; i < card->depth; i++) {
		slot = &card->slots[i];
		slot->shared = kzalloc(sizeof(*slot->shared), GFP_KERNEL);
		slot->buf = alloc_pages_exact(card->buffer,
					      GFP_KERNEL | __GFP_ZERO |
					      __GFP_RETRY_MAYFAIL |
					      __GFP_NOWARN);
		list_add_tail(&slot->node, &card->free);
		card->nfree++;
		if (!slot->shared || !slot->buf)
			return -ENOMEM;
	}
	return 0;
}

/* No slot is in a ring. */
void vcrypt_slots_free(struct vcrypt_card *card)
{
	struct vcrypt_slot *slot;
	unsigned int i;

	for (i = 0; card->slots && i < card->depth; i++) {
		slot = &card->slots[i];
		kfree_sensitive(slot->shared);
		if (!slot->buf)
			continue;
		memzero_explicit(slot->buf, card->buffer);
		free_pages_exact(slot->buf, card->buffer);
	}
	kvfree(card->slots);
}

/* The slot used last, because it is in the cache; NULL if all are in use. */
struct vcrypt_slot *vcrypt_slot_take(struct vcrypt_card *card)
{
	struct vcrypt_slot *slot;

	spin_lock_bh(&card->slots_lock);
	slot = list_first_entry_or_null(&card->free, struct vcrypt_slot, node);
	if (slot) {
		list_del_init(&slot->node);
		card->nfree--;
	} else {
		card->starved = true;
	}
	spin_unlock_bh(&card->slots_lock);
	return slot;
}

/* @wake: tell the core that there is room, if it was refused before. */
void vcrypt_slot_put(struct vcrypt_card *card, struct vcrypt_slot *slot,
		     bool wake)
{
	bool idle;

	if (slot->rsa)
		vcrypt_akcipher_release(card, slot);
	spin_lock_bh(&card->slots_lock);
	list_add(&slot->node, &card->free);
	idle = ++card->nfree == card->depth;
	wake &= card->starved;
	if (wake)
		card->starved = false;
	spin_unlock_bh(&card->slots_lock);
	if (idle)
		wake_up(&card->idle);
	if (wake && card->dev)
		ocf_device_unblock(card->dev);
}

/*
 * The bytes from the first that the card works on to the last; the tag is
 * apart.
 */
static struct ocf_range covered(const struct ocf_request *req)
{
	u32 start = req->data.start, end = start + req->data.len;

	if (req->auth.len && req->ctx->params->mode != OCF_MODE_CIPHER) {
		start = min(start, req->auth.start);
		end = max(end, req->auth.start + req->auth.len);
	}
	return (struct ocf_range){ start, end - start };
}

/*
 * QEMU works on whole blocks in every mode.  In CTR it ignores the bytes after
 * the request's last one.
 */
static u32 padded(const struct ocf_session_params *p, u32 len)
{
	return p->cipher == OCF_AES_CTR && !p->mac ?
	       round_up(len, AES_BLOCK_SIZE) : len;
}

static u32 ivlen_of(const struct ocf_session_params *p)
{
	return p->cipher ? ocf_alg_info(p->cipher)->iv : 0;
}

static void head_cipher(struct vcrypt_slot *slot, struct ocf_request *req)
{
	const struct ocf_session_params *p = req->ctx->params;
	struct virtio_crypto_sym_data_req *sym;
	struct virtio_crypto_cipher_para *para;

	sym = &slot->shared->head.req.u.sym_req;
	para = &sym->u.cipher.para;
	sym->op_type = cpu_to_le32(VIRTIO_CRYPTO_SYM_OP_CIPHER);
	para->iv_len = cpu_to_le32(ivlen_of(p));
	para->src_data_len = cpu_to_le32(slot->len);
	para->dst_data_len = cpu_to_le32(slot->len);
}

static void head_chain(struct vcrypt_slot *slot, struct ocf_request *req)
{
	const struct ocf_session_params *p = req->ctx->params;
	struct virtio_crypto_alg_chain_data_para *para;
	struct virtio_crypto_sym_data_req *sym;
	u32 auth = req->auth.len ? req->auth.start - slot->start : 0;

	sym = &slot->shared->head.req.u.sym_req;
	para = &sym->u.chain.para;
	sym->op_type = cpu_to_le32(VIRTIO_CRYPTO_SYM_OP_ALGORITHM_CHAINING);
	para->iv_len = cpu_to_le32(ivlen_of(p));
	para->src_data_len = cpu_to_le32(slot->len);
	para->dst_data_len = cpu_to_le32(slot->len);
	para->cipher_start_src_offset =
		cpu_to_le32(req->data.start - slot->start);
	para->len_to_cipher = cpu_to_le32(req->data.len);
	para->hash_start_src_offset = cpu_to_le32(auth);
	para->len_to_hash = cpu_to_le32(req->auth.len);
	para->hash_result_len = cpu_to_le32(slot->taglen);
}

static void head_digest(struct vcrypt_slot *slot, struct ocf_request *req)
{
	struct virtio_crypto_hash_para *para;

	/* the parameters of a MAC have the same layout: 5.9.7.5 */
	para = &slot->shared->head.req.u.hash_req.para;
	para->src_data_len = cpu_to_le32(slot->len);
	para->hash_result_len = cpu_to_le32(slot->taglen);
}

static const struct {
	void (*head)(struct vcrypt_slot *slot, struct ocf_request *req);
	u32	opcode[OCF_OP_COUNT];
} kinds[] = {
	[SESSION_CIPHER] = { head_cipher, { VIRTIO_CRYPTO_CIPHER_ENCRYPT,
					    VIRTIO_CRYPTO_CIPHER_DECRYPT } },
	[SESSION_CHAIN]	 = { head_chain, { VIRTIO_CRYPTO_CIPHER_ENCRYPT,
					   VIRTIO_CRYPTO_CIPHER_DECRYPT } },
	[SESSION_HASH]	 = { head_digest, { VIRTIO_CRYPTO_HASH,
					    VIRTIO_CRYPTO_HASH } },
	[SESSION_MAC]	 = { head_digest, { VIRTIO_CRYPTO_MAC,
					    VIRTIO_CRYPTO_MAC } },
};

static void fill_head(struct vcrypt_slot *slot, struct ocf_request *req)
{
	const struct ocf_session_params *p = req->ctx->params;
	struct vcrypt_context *c = ocf_context_priv(req->ctx);
	struct vcrypt_slot_head *head = &slot->shared->head;
	enum vcrypt_session_kind kind = vcrypt_session_kind(p);

	memset(head, 0, sizeof(*head));
	head->req.header.opcode = cpu_to_le32(kinds[kind].opcode[req->op]);
	head->req.header.algo = cpu_to_le32(vcrypt_alg_id(p->cipher ?: p->mac));
	head->req.header.session_id =
		cpu_to_le64(c->id[vcrypt_session_index(req)]);
	kinds[kind].head(slot, req);
	memcpy(head->iv, req->iv, sizeof(head->iv));
}

/**
 * vcrypt_slot_fill() - copy a request into a slot
 * @slot: the slot
 * @req: the request
 *
 * Context: process or BH.
 * Return: 0; -EOPNOTSUPP if cards cannot do this: parts of a digest, or more
 * than a slot holds.
 */
int vcrypt_slot_fill(struct vcrypt_slot *slot, struct ocf_request *req)
{
	const struct ocf_session_params *p = req->ctx->params;
	struct vcrypt_card *card = vcrypt_card_of(req->dev);
	struct ocf_range range = covered(req);
	u32 len = padded(p, range.len);

	if (len > card->buffer || req->flags & (OCF_REQ_UPDATE |
						OCF_REQ_CONTINUE))
		return -EOPNOTSUPP;
	slot->start = range.start;
	slot->len = len;
	slot->taglen = p->mac ? ocf_alg_info(p->mac)->digest : 0;
	if (range.len)
		ocf_sg_read(req->src, range.start, slot->buf, range.len);
	memset(slot->buf + range.len, 0, len - range.len);
	if (req->flags & OCF_REQ_NEXT_IV && req->op == OCF_OP_DECRYPT &&
	    req->data.len >= ivlen_of(p))
		ocf_sg_read(req->src, req->data.start + req->data.len -
			    ivlen_of(p), slot->next_iv, ivlen_of(p));
	memset(&slot->shared->tail, UNWRITTEN, sizeof(slot->shared->tail));
	fill_head(slot, req);
	return 0;
}

/**
 * vcrypt_slot_sgs() - list the parts of a slot for the ring
 * @slot: filled
 * @sg: has room for four entries
 * @out: how many of them the card reads; the others it writes
 *
 * Return: how many there are.
 */
unsigned int vcrypt_slot_sgs(struct vcrypt_slot *slot, struct scatterlist *sg,
			     unsigned int *out)
{
	const struct ocf_session_params *p = slot->req->ctx->params;
	struct vcrypt_slot_shared *shared = slot->shared;
	unsigned int n = 0;

	sg_init_one(&sg[n++], &shared->head,
		    sizeof(shared->head.req) + ivlen_of(p));
	if (slot->len)
		sg_init_one(&sg[n++], slot->buf, slot->len);
	*out = n;
	if (slot->len && p->cipher)
		sg_init_one(&sg[n++], slot->buf, slot->len);
	sg_init_one(&sg[n++], &shared->tail,
		    slot->taglen + sizeof(struct virtio_crypto_inhdr));
	return n;
}

/* The result is in @req->dst, and @req->iv is still the request's own. */
static void leave_next_iv(struct vcrypt_slot *slot, struct ocf_request *req)
{
	const struct ocf_session_params *p = req->ctx->params;
	u32 ivlen = ivlen_of(p);

	if (!(ocf_alg_info(p->cipher)->flags & OCF_ALG_CHAINS) ||
	    !req->data.len)
		return;
	if (p->cipher == OCF_AES_CTR)
		ocf_counter_add(req->iv, DIV_ROUND_UP(req->data.len,
						      AES_BLOCK_SIZE));
	else if (req->op == OCF_OP_DECRYPT)
		memcpy(req->iv, slot->next_iv, ivlen);
	else
		ocf_sg_read(req->dst, req->data.start + req->data.len - ivlen,
			    req->iv, ivlen);
}

static bool verifies(const struct ocf_request *req)
{
	return req->ctx->params->mode == OCF_MODE_CHAIN ?
	       !!(req->flags & OCF_REQ_VERIFY) : req->op == OCF_OP_DECRYPT;
}

/*
 * Reads the card's MAC only one time, because the card could change it between
 * two reads.
 */
static int take_tag(struct vcrypt_slot *slot, struct ocf_request *req)
{
	u8 tag[OCF_TAG_MAX];
	int err = 0;

	memcpy(tag, slot->shared->tail.bytes, slot->taglen);
	barrier_data(tag);
	if (verifies(req))
		err = ocf_tag_check(req, tag);
	else
		ocf_tag_store(req, tag);
	memzero_explicit(tag, sizeof(tag));
	return err;
}

static int take_data(struct vcrypt_slot *slot, struct ocf_request *req)
{
	const struct ocf_session_params *p = req->ctx->params;
	int err = 0;

	/* ETA gives no plaintext on a wrong MAC; others may, see ocf.h */
	if (p->mac && verifies(req))
		err = take_tag(slot, req);
	if (err)
		return err;
	if (p->cipher && req->data.len)
		ocf_sg_write(req->dst, req->data.start,
			     slot->buf + (req->data.start - slot->start),
			     req->data.len);
	if (p->cipher && req->flags & OCF_REQ_NEXT_IV)
		leave_next_iv(slot, req);
	if (p->mac && !verifies(req))
		take_tag(slot, req);
	return 0;
}

/**
 * vcrypt_slot_result() - take the card's result of a request
 * @slot: the slot
 * @req: the request
 * @written: bytes that the card says it has written
 *
 * A card that reports an error may have written less than it should, or
 * nothing: a wrong length is not a failure of the card then.
 *
 * Context: BH.
 * Return: 0, -EBADMSG or -EIO; -ESTALE if the card does not know the session;
 * -EPROTO if the answer makes no sense.
 */
int vcrypt_slot_result(struct vcrypt_slot *slot, struct ocf_request *req,
		       u32 written)
{
	u8 status = READ_ONCE(slot->shared->tail.bytes[slot->taglen]);
	u32 all = slot->taglen + sizeof(struct virtio_crypto_inhdr);

	if (req->ctx->params->cipher)
		all += slot->len;
	if (written > all)
		return -EPROTO;
	switch (status) {
	case VIRTIO_CRYPTO_OK:
		/* the status is the last byte: 2.7.8.2 */
		return written == all ? take_data(slot, req) : -EPROTO;
	case VIRTIO_CRYPTO_INVSESS:
		return -ESTALE;
	case VIRTIO_CRYPTO_ERR:
	case VIRTIO_CRYPTO_BADMSG:
	case VIRTIO_CRYPTO_NOTSUPP:
	case VIRTIO_CRYPTO_NOSPC:
	case VIRTIO_CRYPTO_KEY_REJECTED:
		return -EIO;
	case UNWRITTEN:
		return written < all ? -EIO : -EPROTO;
	default:
		return -EPROTO;
	}
}
