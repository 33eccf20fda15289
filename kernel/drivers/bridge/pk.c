// SPDX-License-Identifier: GPL-2.0-only
/*
 * Public-key operations: akcipher does RSA without padding, and kpp agrees on
 * keys.
 *
 * Each request has its own transform, with its key.  Making one costs little
 * compared with the operation.
 */
#include <linux/err.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "bridge.h"

#define DEPTH	16
#define OUT_AT	SZ_2K		/* offset of results in a slot's buffer */

static_assert(OCF_PK_NUMBER_MAX <= OUT_AT);
static_assert(OUT_AT + OCF_PK_NUMBER_MAX <= SZ_4K);

#define RSA_CODES	(BIT(OCF_PK_RSA_ENCRYPT) | BIT(OCF_PK_RSA_DECRYPT))
#define ECDH_CODES	(BIT(OCF_PK_EC_PUBLIC) | BIT(OCF_PK_ECDH))

const struct bridge_pk_row pk_rows[ALGS - PK_FIRST] = {
	[PK_RSA - PK_FIRST] = { "rsa", "rsa", KIND_AKCIPHER, RSA_CODES },
	[PK_DH - PK_FIRST] = { "dh", "dh", KIND_KPP, BIT(OCF_PK_DH) },
	[PK_P256 - PK_FIRST] = { "ecdh-p256", "ecdh-nist-p256", KIND_KPP,
				 ECDH_CODES, OCF_PK_P256 },
	[PK_P384 - PK_FIRST] = { "ecdh-p384", "ecdh-nist-p384", KIND_KPP,
				 ECDH_CODES, OCF_PK_P384 },
	[PK_X25519 - PK_FIRST] = { "x25519", "curve25519", KIND_KPP,
				   BIT(OCF_PK_X25519) },
};

/* Returns the implementation of an operation, or NULL. */
static const char *driver_for(const struct bridge *b,
			      const struct ocf_pk_op *op,
			      enum bridge_kind *kind)
{
	const struct bridge_pk_row *row;
	int i;

	for (i = 0; i < ARRAY_SIZE(pk_rows); i++) {
		row = &pk_rows[i];
		*kind = row->kind;
		if (row->codes & BIT(op->code) && row->curve == op->curve)
			return b->family->driver[PK_FIRST + i][0] ?
			       b->family->driver[PK_FIRST + i] : NULL;
	}
	return NULL;
}

static bool pk_capable(struct ocf_device *dev, const struct ocf_pk_op *op)
{
	enum bridge_kind kind;

	return op->scheme == OCF_PK_RAW &&
	       driver_for(bridge_of(dev), op, &kind);
}

/* ---- keys ---- */

static struct ocf_pk_operand number(const struct ocf_pk_operand *in)
{
	return ocf_pk_number(in->data, in->len);
}

/* Writes @in as @len bytes; false if it does not fit. */
static bool put_number(u8 *at, const struct ocf_pk_operand *in, u32 len)
{
	struct ocf_pk_result out = { .data = at, .size = len };

	return !ocf_pk_put(&out, in->data, in->len);
}

static u32 curve_bytes(enum ocf_pk_curve curve)
{
	return curve == OCF_PK_P256 ? 32 : 48;
}

/*
 * Writes a secret for set_secret().  The functions for this are in dh_generic
 * and ecdh_generic, which may not be loaded.
 */
struct dh_secret {
	struct kpp_secret	head;
	unsigned int		key_size, p_size, g_size;
	u8			numbers[];
} __packed;

struct ecdh_secret {
	struct kpp_secret	head;
	unsigned short		key_size;
	u8			key[];
} __packed;

static void *dh_secret(const struct ocf_pk_op *op, u32 *len)
{
	struct ocf_pk_operand key = number(&op->in[0]), p = number(&op->in[2]);
	struct dh_secret *s;

	/* a generator is required, and not used */
	*len = struct_size(s, numbers, key.len + p.len + 1);
	s = kzalloc(*len, GFP_KERNEL);
	if (!s)
		return NULL;
	s->head.type = CRYPTO_KPP_SECRET_TYPE_DH;
	s->head.len = *len;
	s->key_size = key.len;
	s->p_size = p.len;
	s->g_size = 1;
	memcpy(s->numbers, key.data, key.len);
	memcpy(s->numbers + key.len, p.data, p.len);
	s->numbers[key.len + p.len] = 2;
	return s;
}

/* With an empty key the implementation would generate one. */
static void *ecdh_secret(const struct ocf_pk_op *op, u32 *len)
{
	u32 n = curve_bytes(op->curve);
	struct ecdh_secret *s;

	*len = struct_size(s, key, n);
	s = kzalloc(*len, GFP_KERNEL);
	if (!s)
		return NULL;
	s->head.type = CRYPTO_KPP_SECRET_TYPE_ECDH;
	s->head.len = *len;
	s->key_size = n;
	if (put_number(s->key, &op->in[0], n))
		return s;
	kfree_sensitive(s);
	return ERR_PTR(-EOPNOTSUPP);
}

static int set_secret(struct crypto_kpp *kpp, const struct ocf_pk_op *op)
{
	void *secret;
	u32 len;
	int err;

	if (op->code == OCF_PK_X25519)
		return crypto_kpp_set_secret(kpp, op->in[0].data,
					     op->in[0].len);
	secret = op->code == OCF_PK_DH ? dh_secret(op, &len) :
					 ecdh_secret(op, &len);
	if (IS_ERR_OR_NULL(secret))
		return secret ? PTR_ERR(secret) : -ENOMEM;
	err = crypto_kpp_set_secret(kpp, secret, len);
	kfree_sensitive(secret);
	return err;
}

static int pk_set_key(struct bridge_transform *t, const struct ocf_pk_op *op)
{
	if (t->kind == KIND_KPP)
		return set_secret(t->kpp, op);
	if (op->code == OCF_PK_RSA_DECRYPT)
		return crypto_akcipher_set_priv_key(t->rsa, op->in[1].data,
						    op->in[1].len);
	return crypto_akcipher_set_pub_key(t->rsa, op->in[1].data,
					   op->in[1].len);
}

/* ---- submission ---- */

/*
 * Copies the operand that is not the key into the slot's buffer, and sets @room
 * to the size of the result.  Returns the bytes copied (EC_PUBLIC, which has no
 * such operand: the size of the result), or 0 for a wrong operand, which
 * another device will report.
 */
static u32 fill(struct bridge_slot *slot, const struct ocf_pk_op *op, u32 *room)
{
	const struct ocf_pk_operand *in = &op->in[1];
	u32 n;

	switch (op->code) {
	case OCF_PK_DH:
		n = number(&op->in[2]).len;
		*room = n;
		return put_number(slot->buf, in, n) ? n : 0;
	case OCF_PK_EC_PUBLIC:
		*room = 2 * curve_bytes(op->curve);
		return *room;
	case OCF_PK_ECDH:
		n = curve_bytes(op->curve);
		*room = n;
		/* SEC 1, 2.3.3: uncompressed */
		if (in->len != 2 * n + 1 || in->data[0] != 4)
			return 0;
		memcpy(slot->buf, in->data + 1, 2 * n);
		return 2 * n;
	case OCF_PK_X25519:
		*room = in->len;
		memcpy(slot->buf, in->data, in->len);
		return in->len;
	default:
		*room = op->out[0].size;
		memcpy(slot->buf, op->in[0].data, op->in[0].len);
		return op->in[0].len;
	}
}

static int start(struct bridge_slot *slot, const struct ocf_pk_op *op, u32 len,
		 u32 room)
{
	struct akcipher_request *rsa = (void *)slot->sub;
	struct kpp_request *kpp = (void *)slot->sub;

	sg_init_one(&slot->sg, slot->buf, len);
	sg_init_one(&slot->sg_out, slot->buf + OUT_AT, room);
	memset(slot->buf + OUT_AT, 0, room);
	if (slot->transform->kind == KIND_KPP) {
		kpp_request_set_tfm(kpp, slot->transform->kpp);
		kpp_request_set_callback(kpp, CRYPTO_TFM_REQ_MAY_SLEEP,
					 bridge_called_back, slot);
		kpp_request_set_output(kpp, &slot->sg_out, room);
		kpp_request_set_input(kpp, NULL, 0);
		if (op->code == OCF_PK_EC_PUBLIC)
			return crypto_kpp_generate_public_key(kpp);
		kpp_request_set_input(kpp, &slot->sg, len);
		return crypto_kpp_compute_shared_secret(kpp);
	}
	akcipher_request_set_tfm(rsa, slot->transform->rsa);
	akcipher_request_set_callback(rsa, CRYPTO_TFM_REQ_MAY_SLEEP,
				      bridge_called_back, slot);
	akcipher_request_set_crypt(rsa, &slot->sg, &slot->sg_out, len, room);
	return op->code == OCF_PK_RSA_DECRYPT ? crypto_akcipher_decrypt(rsa) :
						crypto_akcipher_encrypt(rsa);
}

static struct bridge_transform *transform_for(struct bridge *b,
					      const struct ocf_pk_op *op)
{
	const char *driver;
	struct bridge_transform *t;
	enum bridge_kind kind;
	int err;

	driver = driver_for(b, op, &kind);
	t = bridge_transform_open(driver, kind);
	if (IS_ERR(t))
		return t;
	err = pk_set_key(t, op);
	if (!err && bridge_transform_subsize(t) <= b->subsize)
		return t;
	bridge_transform_put(t, true);
	/* another device may accept a key that this one refuses */
	return ERR_PTR(err == -ENOMEM ? err : -EOPNOTSUPP);
}

static int pk_submit(struct ocf_pk_request *req)
{
	struct bridge *b = bridge_of(req->dev);
	struct bridge_transform *t;
	struct bridge_slot *slot;
	u32 len, room;

	bridge_claim(b, req->dev);
	t = transform_for(b, req->now);
	if (PTR_ERR_OR_ZERO(t) == -ENOENT) {
		ocf_device_fail(req->dev);
		return -ENODEV;
	}
	if (IS_ERR(t))
		return PTR_ERR(t);
	slot = bridge_slot_take(b);
	if (!slot) {
		bridge_transform_put(t, true);
		return -EBUSY;
	}
	slot->transform = t;
	len = fill(slot, req->now, &room);
	if (!len) {
		bridge_slot_put(slot, true);
		return -EOPNOTSUPP;
	}
	slot->pk = req;
	req->priv = slot;
	return bridge_entered(b, slot, start(slot, req->now, len, room));
}

static bool pk_detach(struct ocf_pk_request *req)
{
	return bridge_take_back(bridge_of(req->dev),
				(struct bridge_slot **)&req->priv);
}

/* ---- completion ---- */

static u32 length(const struct bridge_slot *slot)
{
	const struct akcipher_request *rsa = (const void *)slot->sub;
	const struct kpp_request *kpp = (const void *)slot->sub;

	return slot->transform->kind == KIND_KPP ? kpp->dst_len : rsa->dst_len;
}

static int put_octets(struct ocf_pk_result *out, u32 head, const u8 *data,
		      u32 len)
{
	if (out->size < head + len)
		return -ENOSPC;
	memcpy(out->data + head, data, len);
	out->len = head + len;
	return 0;
}

static int take(const struct bridge_slot *slot, struct ocf_pk_op *op)
{
	struct ocf_pk_result *out = &op->out[0];
	const u8 *data = slot->buf + OUT_AT;
	u32 len = length(slot);
	int err;

	if (len > slot->sg_out.length)
		return -EIO;
	switch (op->code) {
	case OCF_PK_X25519:
		return put_octets(out, 0, data, len);
	case OCF_PK_EC_PUBLIC:
		err = put_octets(out, 1, data, len);
		if (!err)
			out->data[0] = 4;
		return err;
	default:
		return ocf_pk_put(out, data, len);
	}
}

/**
 * bridge_pk_result() - take the result of an implementation
 * @slot: the slot
 * @req: the request
 * @err: the errno of the implementation
 *
 * Context: process or BH.
 * Return: the request's result.
 */
int bridge_pk_result(struct bridge_slot *slot, struct ocf_pk_request *req,
		     int err)
{
	switch (err) {
	case 0:
		return take(slot, req->now);
	case -ENOMEM:
		return err;
	case -EINVAL:
	case -EBADMSG:
	case -EDOM:
	case -EKEYREJECTED:
	case -EOPNOTSUPP:
	case -EOVERFLOW:
		/* it refuses the operands, which is no failure of the device */
		return -EOPNOTSUPP;
	default:
		return -EIO;
	}
}

/* ---- set-up ---- */

/* Context: process, before the device is registered. */
void bridge_pk_offer(struct bridge *b, struct ocf_device_info *info)
{
	int i;

	b->pk = (struct ocf_pk_ops){
		.schemes = BIT(OCF_PK_RAW), .depth = DEPTH,
		.capable = pk_capable, .submit = pk_submit,
		.detach = pk_detach,
	};
	for (i = 0; i < ARRAY_SIZE(pk_rows); i++)
		if (b->family->driver[PK_FIRST + i][0])
			b->pk.codes |= pk_rows[i].codes;
	if (b->pk.codes)
		info->pk = &b->pk;
}
