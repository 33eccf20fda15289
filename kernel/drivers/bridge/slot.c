// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request in our own memory.  The data are copied in before an implementation
 * gets them, and copied out if it has succeeded.  The buffer has the associated
 * data, the data and the tag, one after the other.
 */
#include <crypto/aes.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "bridge.h"

/*
 * An accelerator that never answers can keep at most this many times the depth
 * in slots.
 */
#define LOST_MAX	4

static size_t buffer_size(void)
{
	return ocf_bridge_buffer + OCF_TAG_MAX;
}

static void free_slot(struct bridge_slot *slot)
{
	if (slot->buf) {
		memzero_explicit(slot->buf, buffer_size());
		free_pages_exact(slot->buf, buffer_size());
	}
	kfree_sensitive(slot);
}

static struct bridge_slot *alloc_slot(struct bridge *b)
{
	struct bridge_slot *slot;

	slot = kzalloc(struct_size(slot, sub, b->subsize), GFP_KERNEL);
	if (!slot)
		return NULL;
	slot->bridge = b;
	INIT_WORK(&slot->bh, bridge_called_back_in_irq);
	slot->buf = alloc_pages_exact(buffer_size(), GFP_KERNEL | __GFP_ZERO |
				      __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (slot->buf)
		return slot;
	free_slot(slot);
	return NULL;
}

/* Adds @slot to the device's slots.  Return: whether one more was needed. */
static bool add_slot(struct bridge *b, struct bridge_slot *slot)
{
	bool wanted;

	spin_lock_bh(&b->lock);
	wanted = b->total - b->out < b->depth;
	if (wanted) {
		list_add(&slot->node, &b->free);
		b->total++;
	}
	spin_unlock_bh(&b->lock);
	return wanted;
}

/**
 * bridge_slots_fit() - make as many free slots as the device's depth
 * @b: the device; all of its slots that are out were set aside
 *
 * Context: process; may sleep.
 * Return: 0; -EBUSY if too many are set aside; -ENOMEM, and some are missing.
 */
int bridge_slots_fit(struct bridge *b)
{
	struct bridge_slot *slot;

	if (READ_ONCE(b->out) > LOST_MAX * b->depth)
		return -EBUSY;
	do {
		slot = alloc_slot(b);
		if (!slot)
			return -ENOMEM;
	} while (add_slot(b, slot));
	free_slot(slot);
	return 0;
}

/* Frees all slots; none is out.  Context: process; may sleep. */
void bridge_slots_free(struct bridge *b)
{
	struct bridge_slot *slot, *next;

	list_for_each_entry_safe(slot, next, &b->free, node) {
		/* a callback for a free slot may be running */
		cancel_work_sync(&slot->bh);
		free_slot(slot);
	}
}

/* Takes a free slot; NULL: there is none. */
struct bridge_slot *bridge_slot_take(struct bridge *b)
{
	struct bridge_slot *slot;

	spin_lock_bh(&b->lock);
	slot = list_first_entry_or_null(&b->free, struct bridge_slot, node);
	if (slot) {
		list_del(&slot->node);
		slot->state = SLOT_ENTERING;
		b->out++;
		kref_get(&b->refs);
	} else {
		b->starved = true;
	}
	spin_unlock_bh(&b->lock);
	return slot;
}

/**
 * bridge_slot_put() - give a slot back
 * @slot: the slot; the caller must not use it any more, nor its bridge without
 *	another reference
 * @wake: unblock the device if a request was refused for lack of a slot
 *
 * Context: BH.
 */
void bridge_slot_put(struct bridge_slot *slot, bool wake)
{
	struct bridge_transform *t = slot->transform;
	struct bridge *b = slot->bridge;
	struct ocf_device *dev;
	bool idle;

	slot->transform = NULL;
	if (t && (t->kind == KIND_AKCIPHER || t->kind == KIND_KPP))
		memzero_explicit(slot->buf, SZ_4K);
	spin_lock_bh(&b->lock);
	slot->state = SLOT_FREE;
	idle = !--b->out;
	/* freed only with all others: a second callback for it may come */
	list_add_tail(&slot->node, &b->free);
	wake &= b->starved;
	if (wake)
		b->starved = false;
	spin_unlock_bh(&b->lock);
	bridge_transform_put(t, false);
	if (idle)
		wake_up(&b->idle);
	dev = READ_ONCE(b->dev);
	if (wake && dev)
		ocf_device_unblock(dev);
	bridge_put(b);
}

/* Returns the part of a request that the accelerator reads. */
static struct ocf_range covered(const struct ocf_request *req)
{
	struct ocf_range range = req->data;

	if (req->ctx->params->mode != OCF_MODE_AEAD)
		return range;
	range.start -= req->auth.len;
	range.len += req->auth.len;
	if (req->op == OCF_OP_DECRYPT)
		range.len += ocf_request_maclen(req);
	return range;
}

/* The crypto API's IV of CCM is the first block: 15 - n - 1, nonce, zeros. */
static void format_ccm(u8 *iv, u32 n)
{
	memmove(iv + 1, iv, n);
	iv[0] = 14 - n;
	memset(iv + 1 + n, 0, OCF_IV_MAX - 1 - n);
}

static bool wants_next_iv(const struct ocf_request *req)
{
	const struct ocf_session_params *p = req->ctx->params;

	return req->flags & OCF_REQ_NEXT_IV && p->mode == OCF_MODE_CIPHER &&
	       ocf_alg_info(p->cipher)->flags & OCF_ALG_CHAINS;
}

/* The last block of ciphertext is the next IV in CBC: SP 800-38A, 6.2. */
static void last_block(const struct bridge_slot *slot,
		       const struct ocf_request *req, u8 *iv)
{
	u32 n = ocf_alg_info(req->ctx->params->cipher)->iv;

	if (req->data.len >= n)
		memcpy(iv, slot->buf + req->data.len - n, n);
}

/**
 * bridge_slot_fill() - copy a request into a slot
 * @slot: the slot
 * @req: the request
 *
 * Context: process or BH.
 * Return: 0; -EOPNOTSUPP for a part of a digest.
 */
int bridge_slot_fill(struct bridge_slot *slot, struct ocf_request *req)
{
	const struct ocf_session_params *p = req->ctx->params;
	struct bridge_context *c = ocf_context_priv(req->ctx);
	struct ocf_range range = covered(req);
	u32 room = range.len;

	if (req->flags & (OCF_REQ_UPDATE | OCF_REQ_CONTINUE))
		return -EOPNOTSUPP;
	kref_get(&c->transform->refs);
	slot->transform = c->transform;
	if (range.len)
		ocf_sg_read(req->src, range.start, slot->buf, range.len);
	if (wants_next_iv(req) && req->op == OCF_OP_DECRYPT)
		last_block(slot, req, slot->next_iv);
	if (p->mode == OCF_MODE_AEAD && req->op == OCF_OP_ENCRYPT)
		room += ocf_request_maclen(req);
	sg_init_one(&slot->sg, slot->buf, max(room, 1u));
	memcpy(slot->iv, req->iv, sizeof(slot->iv));
	if (ocf_alg_is_ccm(p->cipher))
		format_ccm(slot->iv, req->ivlen ?: p->ivlen);
	return 0;
}

/*
 * Computes the next IV.  The crypto API requires that implementations return
 * it, but the kernel may be built without the tests of that.
 */
static void leave_next_iv(const struct bridge_slot *slot,
			  struct ocf_request *req)
{
	const struct ocf_session_params *p = req->ctx->params;

	if (p->cipher == OCF_AES_CTR)
		ocf_counter_add(req->iv, DIV_ROUND_UP(req->data.len,
						      AES_BLOCK_SIZE));
	else if (req->op == OCF_OP_ENCRYPT)
		last_block(slot, req, req->iv);
	else
		memcpy(req->iv, slot->next_iv, ocf_alg_info(p->cipher)->iv);
}

static int take_digest(const struct bridge_slot *slot, struct ocf_request *req)
{
	if (ocf_request_verifies(req))
		return ocf_tag_check(req, slot->digest);
	ocf_tag_store(req, slot->digest);
	return 0;
}

static void take_data(const struct bridge_slot *slot, struct ocf_request *req)
{
	bool aead = req->ctx->params->mode == OCF_MODE_AEAD;
	const u8 *data = slot->buf + (aead ? req->auth.len : 0);

	if (req->data.len)
		ocf_sg_write(req->dst, req->data.start, data, req->data.len);
	if (aead && req->op == OCF_OP_ENCRYPT)
		ocf_tag_store(req, data + req->data.len);
	if (wants_next_iv(req))
		leave_next_iv(slot, req);
}

/**
 * bridge_slot_result() - take the result of an implementation
 * @slot: the slot
 * @req: the request
 * @err: the errno of the implementation
 *
 * Context: BH.
 * Return: the request's result.
 */
int bridge_slot_result(struct bridge_slot *slot, struct ocf_request *req,
		       int err)
{
	/* in a callback, this errno does not mean that it is full */
	if (err > 0 || err == -EBUSY || err == -EINPROGRESS || err == -EAGAIN)
		return -EIO;
	if (err)
		return err;
	if (req->ctx->params->mode == OCF_MODE_DIGEST)
		return take_digest(slot, req);
	take_data(slot, req);
	return 0;
}
