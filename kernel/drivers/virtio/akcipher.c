// SPDX-License-Identifier: GPL-2.0-only
/*
 * RSA on a card: the service AKCIPHER of <linux/virtio_crypto.h> (VIRTIO 1.3,
 * 5.9).
 *
 * A card signs and verifies with the padding of PKCS #1 v1.5, or does RSA of a
 * number.  The self-test finds out which of them it does, and with which
 * hashes.  A card never removes a padding: its answer to a wrong padding would
 * reveal something about the message (Bleichenbacher: Chosen Ciphertext Attacks
 * Against Protocols Based on PKCS #1).
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "virtio.h"

#define OUT_AT		SZ_2K	/* offset of the results in a slot's buffer */

static_assert(2 * OCF_PK_NUMBER_MAX <= OUT_AT);
static_assert(OUT_AT + OCF_PK_NUMBER_MAX <= SZ_4K);

static const u8 hashes[OCF_ALG_COUNT] = {
	[OCF_MD5] = VIRTIO_CRYPTO_RSA_MD5,
	[OCF_SHA1] = VIRTIO_CRYPTO_RSA_SHA1,
	[OCF_SHA224] = VIRTIO_CRYPTO_RSA_SHA224,
	[OCF_SHA256] = VIRTIO_CRYPTO_RSA_SHA256,
	[OCF_SHA384] = VIRTIO_CRYPTO_RSA_SHA384,
	[OCF_SHA512] = VIRTIO_CRYPTO_RSA_SHA512,
};

static_assert(VIRTIO_CRYPTO_RSA_SHA224 < RSA_HASHES);
static_assert(OCF_PK_RSA_DECRYPT - OCF_PK_RSA_SIGN < RSA_CODES);

/* The card's number of a hash, or VIRTIO_CRYPTO_RSA_NO_HASH. */
u32 vcrypt_akcipher_hash(enum ocf_alg hash)
{
	return hashes[hash];
}

/* An operation with a hash; some cards do not have it */
static unsigned int ability(const struct ocf_pk_op *op)
{
	return (op->code - OCF_PK_RSA_SIGN) * RSA_HASHES + hashes[op->hash];
}

/* Whether the card has done this operation before. */
bool vcrypt_akcipher_has_shown(const struct vcrypt_card *card,
			       const struct ocf_pk_op *op)
{
	return test_bit(ability(op), card->rsa);
}

static bool pads(const struct ocf_pk_op *op)
{
	return op->code == OCF_PK_RSA_SIGN || op->code == OCF_PK_RSA_VERIFY;
}

/* After the self-test, only the operations that the card has shown. */
static bool akcipher_capable(struct ocf_device *dev, const struct ocf_pk_op *op)
{
	struct vcrypt_card *card = vcrypt_card_of(dev);

	if (pads(op) ? op->scheme != OCF_PK_PKCS1 || !hashes[op->hash] :
		       op->scheme != OCF_PK_RAW)
		return false;
	return !card->registered || vcrypt_akcipher_has_shown(card, op);
}

/* ---- in ---- */

static const u32 opcodes[] = {
	[OCF_PK_RSA_SIGN] = VIRTIO_CRYPTO_AKCIPHER_SIGN,
	[OCF_PK_RSA_VERIFY] = VIRTIO_CRYPTO_AKCIPHER_VERIFY,
	[OCF_PK_RSA_ENCRYPT] = VIRTIO_CRYPTO_AKCIPHER_ENCRYPT,
	[OCF_PK_RSA_DECRYPT] = VIRTIO_CRYPTO_AKCIPHER_DECRYPT,
};

/* To verify, the card needs the signature and, right after it, the digest. */
static void akcipher_fill(struct vcrypt_slot *slot, const struct ocf_pk_op *op)
{
	bool verifies = op->code == OCF_PK_RSA_VERIFY;
	const struct ocf_pk_operand *src = &op->in[verifies];
	struct virtio_crypto_op_data_req *req = &slot->shared->head.req;
	u32 made = verifies ? op->in[0].len : slot->rsa->size;

	memset(req, 0, sizeof(*req));
	req->header.opcode = cpu_to_le32(opcodes[op->code]);
	req->header.algo = cpu_to_le32(VIRTIO_CRYPTO_AKCIPHER_RSA);
	req->header.session_id = cpu_to_le64(slot->rsa->id);
	req->u.akcipher_req.para.src_data_len = cpu_to_le32(src->len);
	req->u.akcipher_req.para.dst_data_len = cpu_to_le32(made);
	memcpy(slot->buf, src->data, src->len);
	slot->len = src->len;
	slot->made = made;
	if (verifies) {
		memcpy(slot->buf + src->len, op->in[0].data, made);
		slot->len += made;
		slot->made = 0;
	}
	memset(slot->buf + OUT_AT, 0, slot->made);
	memset(&slot->shared->tail, UNWRITTEN, sizeof(slot->shared->tail));
}

/**
 * vcrypt_akcipher_sgs() - list the parts of a slot for the ring
 * @slot: filled
 * @sg: has room for four entries
 * @out: how many of them the card reads; the others it writes
 *
 * Return: how many there are.
 */
unsigned int vcrypt_akcipher_sgs(struct vcrypt_slot *slot,
				 struct scatterlist *sg, unsigned int *out)
{
	struct vcrypt_slot_shared *shared = slot->shared;
	unsigned int n = 0;

	sg_init_one(&sg[n++], &shared->head.req, sizeof(shared->head.req));
	sg_init_one(&sg[n++], slot->buf, slot->len);
	*out = n;
	if (slot->made)
		sg_init_one(&sg[n++], slot->buf + OUT_AT, slot->made);
	sg_init_one(&sg[n++], &shared->tail,
		    sizeof(struct virtio_crypto_inhdr));
	return n;
}

static int akcipher_submit(struct ocf_pk_request *req)
{
	struct vcrypt_card *card = vcrypt_card_of(req->dev);
	struct vcrypt_slot *slot;
	struct vcrypt_rsa_session *s;
	int err;

	vcrypt_control_claim(card, req->dev);
	s = vcrypt_rsa_session_get(card, req->now);
	if (IS_ERR(s))
		return PTR_ERR(s);
	slot = vcrypt_slot_take(card);
	if (!slot) {
		vcrypt_rsa_session_put(s);
		return -EBUSY;
	}
	atomic_inc(&card->rsa_out);
	slot->rsa = s;
	slot->pk = req;
	akcipher_fill(slot, req->now);
	req->priv = slot;
	err = vcrypt_queue_enter(vcrypt_queue_here(card), slot, false);
	if (err != -EINPROGRESS)
		vcrypt_slot_put(card, slot, false);
	return err;
}

/* The card keeps the slot until it answers or is reset. */
static bool akcipher_detach(struct ocf_pk_request *req)
{
	struct vcrypt_slot *slot = req->priv;
	struct vcrypt_queue *q = slot->queue;
	bool mine;

	spin_lock_bh(&q->lock);
	/* another request may have the slot by now */
	mine = slot->pk == req;
	if (mine) {
		slot->pk = NULL;
		atomic_inc(&q->card->detached);
	}
	spin_unlock_bh(&q->lock);
	return mine;
}

/* ---- out ---- */

static int take(struct vcrypt_slot *slot, struct ocf_pk_op *op, u32 made)
{
	struct ocf_pk_result *out = &op->out[0];

	if (op->code == OCF_PK_RSA_VERIFY)
		return 0;
	if (!pads(op))
		return ocf_pk_put(out, slot->buf + OUT_AT, made);
	/*
	 * QEMU with nettle does not count leading zeros, and drops as many
	 * bytes at the end: one signature in 256 is lost.
	 */
	if (made != slot->made)
		return -EOPNOTSUPP;
	memcpy(out->data, slot->buf + OUT_AT, made);
	out->len = made;
	return 0;
}

/**
 * vcrypt_akcipher_result() - take the card's result of a request
 * @slot: the slot
 * @req: the request
 * @written: bytes that the card says it has written
 *
 * Context: BH.
 * Return: 0, -EBADMSG, -EOPNOTSUPP or -EIO; -ESTALE if the card does not know
 * the key; -EPROTO if the answer makes no sense.
 */
int vcrypt_akcipher_result(struct vcrypt_slot *slot, struct ocf_pk_request *req,
			   u32 written)
{
	u8 status = READ_ONCE(slot->shared->tail.bytes[0]);
	struct vcrypt_card *card = vcrypt_card_of(req->dev);
	struct ocf_pk_op *op = req->now;

	if (written > slot->made + sizeof(struct virtio_crypto_inhdr))
		return -EPROTO;
	switch (status) {
	case VIRTIO_CRYPTO_OK:
		if (!written)
			return -EPROTO;
		set_bit(ability(op), card->rsa);
		return take(slot, op,
			    written - sizeof(struct virtio_crypto_inhdr));
	case VIRTIO_CRYPTO_INVSESS:
		return -ESTALE;
	case VIRTIO_CRYPTO_BADMSG:
	case VIRTIO_CRYPTO_KEY_REJECTED:
		if (op->code == OCF_PK_RSA_VERIFY)
			return -EBADMSG;
		fallthrough;
	case VIRTIO_CRYPTO_ERR:
	case VIRTIO_CRYPTO_NOTSUPP:
	case VIRTIO_CRYPTO_NOSPC:
		return vcrypt_akcipher_has_shown(card, op) ? -EIO : -EOPNOTSUPP;
	case UNWRITTEN:
		return written <= slot->made ? -EIO : -EPROTO;
	default:
		return -EPROTO;
	}
}

/* Wipes the request's data in its slot.  Context: any. */
void vcrypt_akcipher_release(struct vcrypt_card *card, struct vcrypt_slot *slot)
{
	atomic_dec(&card->rsa_out);
	memzero_explicit(slot->buf, SZ_4K);
	vcrypt_rsa_session_put(slot->rsa);
	slot->rsa = NULL;
	slot->pk = NULL;
}

static const struct ocf_pk_ops akcipher_ops = {
	.codes = BIT(OCF_PK_RSA_SIGN) | BIT(OCF_PK_RSA_VERIFY) |
		 BIT(OCF_PK_RSA_ENCRYPT) | BIT(OCF_PK_RSA_DECRYPT),
	.schemes = BIT(OCF_PK_RAW) | BIT(OCF_PK_PKCS1),
	.depth = RSA_DEPTH,
	.capable = akcipher_capable,
	.submit = akcipher_submit,
	.detach = akcipher_detach,
};

/* Offers RSA to the self-test, if the card says that it has RSA. */
void vcrypt_akcipher_offer(const struct vcrypt_card *card,
			   struct ocf_device_info *info)
{
	if (card->limits.services & BIT(VIRTIO_CRYPTO_SERVICE_AKCIPHER) &&
	    card->limits.akciphers & BIT(VIRTIO_CRYPTO_AKCIPHER_RSA))
		info->pk = &akcipher_ops;
}
