// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions on the card (VIRTIO 1.2, 5.9.7.2.1).  A session of the card has one
 * direction, and a chain also one order, so a context needs up to four.
 */
#include <linux/slab.h>

#include "virtio.h"

/* Whether the MAC comes before the cipher in session @index. */
static bool mac_first(const struct ocf_session_params *p, unsigned int index)
{
	/* ETA verifies the ciphertext before it is decrypted */
	return p->mode == OCF_MODE_ETA ? index == OCF_OP_DECRYPT : index >> 1;
}

static_assert(OCF_OP_ENCRYPT == 0 && OCF_OP_DECRYPT == 1);

static unsigned int count(const struct ocf_session_params *p)
{
	switch (p->mode) {
	case OCF_MODE_DIGEST:
		return 1;
	case OCF_MODE_CHAIN:
		return 2 * OCF_OP_COUNT;
	default:
		return OCF_OP_COUNT;
	}
}

/* Which session of its context a request needs. */
unsigned int vcrypt_session_index(const struct ocf_request *req)
{
	switch (req->ctx->params->mode) {
	case OCF_MODE_DIGEST:
		return 0;
	case OCF_MODE_CHAIN:
		return req->op | !!(req->flags & OCF_REQ_MAC_FIRST) << 1;
	default:
		return req->op;
	}
}

enum vcrypt_session_kind vcrypt_session_kind(const struct ocf_session_params *p)
{
	if (p->cipher)
		return p->mac ? SESSION_CHAIN : SESSION_CIPHER;
	return vcrypt_alg_is_hash(p->mac) ? SESSION_HASH : SESSION_MAC;
}

static const struct {
	u32	create, destroy;
} opcodes[] = {
	[SESSION_CIPHER] = { VIRTIO_CRYPTO_CIPHER_CREATE_SESSION,
			     VIRTIO_CRYPTO_CIPHER_DESTROY_SESSION },
	[SESSION_CHAIN]	 = { VIRTIO_CRYPTO_CIPHER_CREATE_SESSION,
			     VIRTIO_CRYPTO_CIPHER_DESTROY_SESSION },
	[SESSION_HASH]	 = { VIRTIO_CRYPTO_HASH_CREATE_SESSION,
			     VIRTIO_CRYPTO_HASH_DESTROY_SESSION },
	[SESSION_MAC]	 = { VIRTIO_CRYPTO_MAC_CREATE_SESSION,
			     VIRTIO_CRYPTO_MAC_DESTROY_SESSION },
};

static void fill_cipher(struct virtio_crypto_cipher_session_para *para,
			const struct ocf_session_params *p, unsigned int index)
{
	para->algo = cpu_to_le32(vcrypt_alg_id(p->cipher));
	para->keylen = cpu_to_le32(p->keylen);
	para->op = cpu_to_le32(index & 1 ? VIRTIO_CRYPTO_OP_DECRYPT :
					   VIRTIO_CRYPTO_OP_ENCRYPT);
}

static void fill_hash(struct virtio_crypto_hash_session_para *para,
		      const struct ocf_session_params *p)
{
	para->algo = cpu_to_le32(vcrypt_alg_id(p->mac));
	para->hash_result_len = cpu_to_le32(ocf_alg_info(p->mac)->digest);
}

static void fill_mac(struct virtio_crypto_mac_session_para *para,
		     const struct ocf_session_params *p)
{
	para->algo = cpu_to_le32(vcrypt_alg_id(p->mac));
	para->hash_result_len = cpu_to_le32(ocf_alg_info(p->mac)->digest);
	para->auth_key_len = cpu_to_le32(p->mackeylen);
}

static void fill_chain(struct virtio_crypto_alg_chain_session_para *para,
		       const struct ocf_session_params *p, unsigned int index)
{
	bool hash = vcrypt_alg_is_hash(p->mac);

	para->alg_chain_order = cpu_to_le32(mac_first(p, index) ?
			VIRTIO_CRYPTO_SYM_ALG_CHAIN_ORDER_HASH_THEN_CIPHER :
			VIRTIO_CRYPTO_SYM_ALG_CHAIN_ORDER_CIPHER_THEN_HASH);
	para->hash_mode = cpu_to_le32(hash ?
			VIRTIO_CRYPTO_SYM_HASH_MODE_PLAIN :
			VIRTIO_CRYPTO_SYM_HASH_MODE_AUTH);
	fill_cipher(&para->cipher_param, p, index);
	if (hash)
		fill_hash(&para->u.hash_param, p);
	else
		fill_mac(&para->u.mac_param, p);
}

static void session_fill(struct vcrypt_order *o,
			 const struct ocf_session_params *p, unsigned int index)
{
	struct virtio_crypto_sym_create_session_req *sym;
	enum vcrypt_session_kind kind = vcrypt_session_kind(p);

	sym = &o->req.u.sym_create_session;
	o->req.header.opcode = cpu_to_le32(opcodes[kind].create);
	o->req.header.algo = cpu_to_le32(vcrypt_alg_id(p->cipher ?: p->mac));
	switch (kind) {
	case SESSION_CIPHER:
		sym->op_type = cpu_to_le32(VIRTIO_CRYPTO_SYM_OP_CIPHER);
		fill_cipher(&sym->u.cipher.para, p, index);
		break;
	case SESSION_CHAIN:
		sym->op_type =
			cpu_to_le32(VIRTIO_CRYPTO_SYM_OP_ALGORITHM_CHAINING);
		fill_chain(&sym->u.chain.para, p, index);
		break;
	case SESSION_HASH:
		fill_hash(&o->req.u.hash_create_session.para, p);
		break;
	case SESSION_MAC:
		fill_mac(&o->req.u.mac_create_session.para, p);
		break;
	default:
		break;
	}
	if (p->keylen)
		memcpy(o->keys, p->key, p->keylen);
	if (p->mackeylen)
		memcpy(o->keys + p->keylen, p->mackey, p->mackeylen);
}

static int session_ask(struct vcrypt_card *card,
		       const struct ocf_session_params *p, unsigned int index,
		       u64 *id)
{
	struct vcrypt_order *o = vcrypt_order_alloc(p->keylen + p->mackeylen);
	int err;

	if (!o)
		return -ENOMEM;
	session_fill(o, p, index);
	err = vcrypt_control_ask(card, o, true) ?: vcrypt_order_session(o, id);
	if (!err) {
		set_bit(p->mode * OCF_ALG_COUNT + (p->cipher ?: p->mac),
			card->made);
		vcrypt_room_note(card, vcrypt_session_kind(p), o);
	}
	vcrypt_order_put(o);
	return err;
}

static int session_make(struct vcrypt_card *card,
			const struct ocf_session_params *p, unsigned int index,
			u64 *id)
{
	int err = session_ask(card, p, index, id);

	if (err != -EREMOTEIO)
		return err;
	err = vcrypt_room_look(card, vcrypt_session_kind(p));
	if (err)
		return err;
	/* the card has room now, and perhaps had none before */
	err = session_ask(card, p, index, id);
	return err == -EREMOTEIO ? -EOPNOTSUPP : err;
}

static void drop_some(struct ocf_context *ctx)
{
	struct vcrypt_context *c = ocf_context_priv(ctx);
	u32 opcode = opcodes[vcrypt_session_kind(ctx->params)].destroy;

	while (c->count)
		vcrypt_control_destroy(vcrypt_card_of(ctx->dev), opcode,
				       c->id[--c->count], c->life);
}

/**
 * vcrypt_session_make_all() - make a context's sessions on the card
 * @ctx: the context, zeroed
 * @p: the session's parameters
 *
 * Context: process; may sleep; ends within seconds.
 * Return: 0; -EOPNOTSUPP, -ENOSPC, -EKEYREJECTED or -EIO as the card says;
 * -EOPNOTSUPP also if the card has room and refuses without a reason;
 * -ETIMEDOUT if it does not answer; -EINTR if the task is being killed; -ENODEV
 * if it is down; -ENOMEM.
 */
int vcrypt_session_make_all(struct ocf_context *ctx,
			    const struct ocf_session_params *p)
{
	struct vcrypt_card *card = vcrypt_card_of(ctx->dev);
	struct vcrypt_context *c = ocf_context_priv(ctx);
	unsigned int epoch = READ_ONCE(card->epoch);
	int err = 0;

	INIT_LIST_HEAD(&c->node);
	c->life = vcrypt_control_life(card);
	while (!err && c->count < count(p)) {
		err = session_make(card, p, c->count, &c->id[c->count]);
		if (!err)
			c->count++;
	}
	mutex_lock(&card->contexts_lock);
	if (epoch != card->epoch) {
		/* a reset has ended the card's sessions */
		c->count = 0;
		err = -ENODEV;
	} else if (!err) {
		list_add(&c->node, &card->contexts);
	}
	mutex_unlock(&card->contexts_lock);
	if (err)
		drop_some(ctx);
	return err;
}

/* Destroys a context's sessions, if the card still has them. */
void vcrypt_session_drop_all(struct ocf_context *ctx)
{
	struct vcrypt_card *card = vcrypt_card_of(ctx->dev);
	struct vcrypt_context *c = ocf_context_priv(ctx);

	mutex_lock(&card->contexts_lock);
	if (list_empty(&c->node))
		c->count = 0;
	list_del_init(&c->node);
	mutex_unlock(&card->contexts_lock);
	drop_some(ctx);
}

static struct ocf_context *to_ocf(struct vcrypt_context *c)
{
	return container_of((void *)c, struct ocf_context, priv);
}

/*
 * Before a reset: QEMU's builtin backend does not drop sessions when a card is
 * reset or removed, and has room for 256.
 */
void vcrypt_session_drop_everybodys(struct vcrypt_card *card)
{
	struct vcrypt_context *c;

	mutex_lock(&card->contexts_lock);
	while ((c = list_first_entry_or_null(&card->contexts,
					     struct vcrypt_context, node))) {
		list_del_init(&c->node);
		drop_some(to_ocf(c));
	}
	mutex_unlock(&card->contexts_lock);
}

/* After a reset the card has no sessions any more. */
void vcrypt_session_forget_everybodys(struct vcrypt_card *card)
{
	struct vcrypt_context *c, *next;

	mutex_lock(&card->contexts_lock);
	WRITE_ONCE(card->epoch, card->epoch + 1);
	list_for_each_entry_safe(c, next, &card->contexts, node)
		list_del_init(&c->node);
	mutex_unlock(&card->contexts_lock);
}
