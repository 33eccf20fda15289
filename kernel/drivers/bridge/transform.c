// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transforms: one interface to all types of the crypto API.
 *
 * A transform must exist until the last callback for it has come, which may be
 * after its context was freed.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "bridge.h"

/**
 * bridge_transform_kind() - the type in the crypto API that has an algorithm
 * @alg: the algorithm
 *
 * Return: the type; KIND_NONE if the crypto API does not have the algorithm in
 * this form: ChaCha20 with a number of rounds, and GMAC, for which it has only
 * GHASH.
 */
enum bridge_kind bridge_transform_kind(unsigned int alg)
{
	const struct ocf_alg_info *row;

	if (alg >= PK_FIRST)
		return pk_rows[alg - PK_FIRST].kind;
	row = ocf_alg_info(alg);
	if (!row || !row->impl || alg == OCF_CHACHA20 || alg == OCF_AES_GMAC)
		return KIND_NONE;
	switch (row->type) {
	case OCF_TYPE_CIPHER:
		return KIND_CIPHER;
	case OCF_TYPE_AEAD:
		return KIND_AEAD;
	case OCF_TYPE_DIGEST:
	case OCF_TYPE_MAC:
		return KIND_HASH;
	default:
		return KIND_NONE;
	}
}

/* Returns the crypto API's name of an algorithm that has a type there. */
const char *bridge_transform_impl(unsigned int alg)
{
	return alg < PK_FIRST ? ocf_alg_info(alg)->impl :
				pk_rows[alg - PK_FIRST].impl;
}

static int open(struct bridge_transform *t, const char *driver)
{
	switch (t->kind) {
	case KIND_CIPHER:
		t->cipher = crypto_alloc_skcipher(driver, 0, 0);
		return PTR_ERR_OR_ZERO(t->cipher);
	case KIND_AEAD:
		t->aead = crypto_alloc_aead(driver, 0, 0);
		return PTR_ERR_OR_ZERO(t->aead);
	case KIND_AKCIPHER:
		t->rsa = crypto_alloc_akcipher(driver, 0, 0);
		return PTR_ERR_OR_ZERO(t->rsa);
	case KIND_KPP:
		t->kpp = crypto_alloc_kpp(driver, 0, 0);
		return PTR_ERR_OR_ZERO(t->kpp);
	default:
		t->hash = crypto_alloc_ahash(driver, 0, 0);
		return PTR_ERR_OR_ZERO(t->hash);
	}
}

static void close_transform(struct bridge_transform *t)
{
	switch (t->kind) {
	case KIND_CIPHER:
		crypto_free_skcipher(t->cipher);
		break;
	case KIND_AEAD:
		crypto_free_aead(t->aead);
		break;
	case KIND_AKCIPHER:
		crypto_free_akcipher(t->rsa);
		break;
	case KIND_KPP:
		crypto_free_kpp(t->kpp);
		break;
	default:
		crypto_free_ahash(t->hash);
		break;
	}
}

static int set_key(struct bridge_transform *t,
		   const struct ocf_session_params *p)
{
	switch (t->kind) {
	case KIND_CIPHER:
		return crypto_skcipher_setkey(t->cipher, p->key, p->keylen);
	case KIND_AEAD:
		return crypto_aead_setkey(t->aead, p->key, p->keylen) ?:
		       crypto_aead_setauthsize(t->aead, p->maclen);
	default:
		/* RFC 2104 allows an empty key; a digest has no key */
		if (!p->mackeylen && ocf_alg_info(p->mac)->type != OCF_TYPE_MAC)
			return 0;
		return crypto_ahash_setkey(t->hash, p->mackey, p->mackeylen);
	}
}

/* Returns the crypto API's description of the implementation of @t. */
const struct crypto_alg *bridge_transform_alg(const struct bridge_transform *t)
{
	switch (t->kind) {
	case KIND_CIPHER:
		return crypto_skcipher_tfm(t->cipher)->__crt_alg;
	case KIND_AEAD:
		return crypto_aead_tfm(t->aead)->__crt_alg;
	case KIND_AKCIPHER:
		return crypto_akcipher_tfm(t->rsa)->__crt_alg;
	case KIND_KPP:
		return crypto_kpp_tfm(t->kpp)->__crt_alg;
	default:
		return crypto_ahash_tfm(t->hash)->__crt_alg;
	}
}

/* Returns the bytes of a request, with the implementation's context. */
size_t bridge_transform_subsize(const struct bridge_transform *t)
{
	switch (t->kind) {
	case KIND_CIPHER:
		return sizeof(struct skcipher_request) +
		       crypto_skcipher_reqsize(t->cipher);
	case KIND_AEAD:
		return sizeof(struct aead_request) +
		       crypto_aead_reqsize(t->aead);
	case KIND_AKCIPHER:
		return sizeof(struct akcipher_request) +
		       crypto_akcipher_reqsize(t->rsa);
	case KIND_KPP:
		return sizeof(struct kpp_request) +
		       crypto_kpp_reqsize(t->kpp);
	default:
		return sizeof(struct ahash_request) +
		       crypto_ahash_reqsize(t->hash);
	}
}

/**
 * bridge_transform_probe() - check that an implementation exists
 * @driver: its name
 * @kind: its type
 * @size: is raised to the bytes of a request
 *
 * Context: process; may sleep, may load modules.
 * Return: 0, or an errno of the crypto API.
 */
int bridge_transform_probe(const char *driver, enum bridge_kind kind,
			   size_t *size)
{
	struct bridge_transform t = { .kind = kind };
	int err = open(&t, driver);

	if (err)
		return err;
	*size = max(*size, bridge_transform_subsize(&t));
	close_transform(&t);
	return 0;
}

static void reap(struct work_struct *work)
{
	struct bridge_transform *t =
		container_of(work, struct bridge_transform, reap);

	close_transform(t);
	kfree(t);
}

/**
 * bridge_transform_open() - open a transform without keys
 * @driver: the implementation's name
 * @kind: its type
 *
 * Context: process; may sleep, may load modules.
 * Return: the transform, or an ERR_PTR: -ENOENT if the implementation does not
 * exist any more, or another errno of the crypto API.
 */
struct bridge_transform *bridge_transform_open(const char *driver,
					       enum bridge_kind kind)
{
	struct bridge_transform *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	int err;

	if (!t)
		return ERR_PTR(-ENOMEM);
	kref_init(&t->refs);
	INIT_WORK(&t->reap, reap);
	t->kind = kind;
	err = open(t, driver);
	if (!err)
		return t;
	kfree(t);
	return ERR_PTR(err);
}

/**
 * bridge_transform_make() - open a transform with the keys of a session
 * @family: the implementations
 * @p: the session's parameters
 *
 * The core has checked the lengths of the keys.  So an implementation that
 * calls a key invalid does not support its length.
 *
 * Context: process; may sleep.
 * Return: the transform, or an ERR_PTR: -ENOENT if the implementation does not
 * exist any more, -EOPNOTSUPP or -EKEYREJECTED if it refuses the keys, or
 * another errno of the implementation.
 */
struct bridge_transform *
bridge_transform_make(const struct bridge_family *family,
		      const struct ocf_session_params *p)
{
	enum ocf_alg alg = p->cipher ?: p->mac;
	struct bridge_transform *t;
	int err;

	t = bridge_transform_open(family->driver[alg],
				  bridge_transform_kind(alg));
	if (IS_ERR(t))
		return t;
	err = set_key(t, p);
	if (!err)
		return t;
	bridge_transform_put(t, true);
	return ERR_PTR(err == -EINVAL || err == -ENOENT ? -EOPNOTSUPP : err);
}

static void release(struct kref *refs)
{
	reap(&container_of(refs, struct bridge_transform, refs)->reap);
}

static void release_later(struct kref *refs)
{
	queue_work(ocf_bridge_wq,
		   &container_of(refs, struct bridge_transform, refs)->reap);
}

/* Context: process or BH, as @may_sleep says. */
void bridge_transform_put(struct bridge_transform *t, bool may_sleep)
{
	if (t)
		kref_put(&t->refs, may_sleep ? release : release_later);
}

static int start_cipher(struct bridge_slot *slot, struct ocf_request *req,
			crypto_completion_t called_back)
{
	struct skcipher_request *sub = (void *)slot->sub;

	skcipher_request_set_tfm(sub, slot->transform->cipher);
	skcipher_request_set_callback(sub, 0, called_back, slot);
	skcipher_request_set_crypt(sub, &slot->sg, &slot->sg, req->data.len,
				   slot->iv);
	return req->op == OCF_OP_ENCRYPT ? crypto_skcipher_encrypt(sub) :
					   crypto_skcipher_decrypt(sub);
}

static int start_aead(struct bridge_slot *slot, struct ocf_request *req,
		      crypto_completion_t called_back)
{
	struct aead_request *sub = (void *)slot->sub;
	bool seal = req->op == OCF_OP_ENCRYPT;

	aead_request_set_tfm(sub, slot->transform->aead);
	aead_request_set_callback(sub, 0, called_back, slot);
	aead_request_set_ad(sub, req->auth.len);
	aead_request_set_crypt(sub, &slot->sg, &slot->sg, req->data.len +
			       (seal ? 0 : ocf_request_maclen(req)), slot->iv);
	return seal ? crypto_aead_encrypt(sub) : crypto_aead_decrypt(sub);
}

static int start_hash(struct bridge_slot *slot, struct ocf_request *req,
		      crypto_completion_t called_back)
{
	struct ahash_request *sub = (void *)slot->sub;

	ahash_request_set_tfm(sub, slot->transform->hash);
	ahash_request_set_callback(sub, 0, called_back, slot);
	ahash_request_set_crypt(sub, &slot->sg, slot->digest, req->data.len);
	return crypto_ahash_digest(sub);
}

/**
 * bridge_transform_start() - have the implementation work on a slot
 * @slot: a slot that was filled
 * @req: the request
 * @called_back: called with @slot when the implementation has completed it
 *
 * Context: process or BH.
 * Return: -EINPROGRESS; 0 or -EBADMSG if it is done; -EBUSY, -ENOSPC or -EAGAIN
 * if the implementation is full; another errno.
 */
int bridge_transform_start(struct bridge_slot *slot, struct ocf_request *req,
			   crypto_completion_t called_back)
{
	switch (slot->transform->kind) {
	case KIND_CIPHER:
		return start_cipher(slot, req, called_back);
	case KIND_AEAD:
		return start_aead(slot, req, called_back);
	default:
		return start_hash(slot, req, called_back);
	}
}
