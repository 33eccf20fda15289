// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transforms' keys.
 *
 * A key has its own session and its own fallback, and replaces the key before
 * it as a whole.  A change of the tags' length also makes a new key.  So a
 * request has one key from its beginning to its end.
 *
 * A key may be set while a block device is in use (blk-crypto-fallback).  So
 * this must not wait for memory that is freed by writing to such a device.
 */
#include <linux/err.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../owner.h"
#include "alg.h"

void alg_tfm_init(struct alg_tfm *tfm)
{
	RCU_INIT_POINTER(tfm->key, NULL);
	mutex_init(&tfm->setting);
	tfm->waiting = 0;
	tfm->refused = 0;
}

static void free_key(struct work_struct *work)
{
	struct alg_key *key = container_of(to_rcu_work(work), struct alg_key,
					   free);

	ocf_session_put_deferred(key->session);
	crypto_free_skcipher(key->cipher);
	crypto_free_aead(key->aead);
	memzero_explicit(key->salt, sizeof(key->salt));
	memzero_explicit(key->bytes, key->len);
	kfree(key);
}

/**
 * alg_key_put() - let go of a key
 * @key: the key, or NULL
 *
 * A request may hold the last reference, and a fallback is not freed in BH.
 *
 * Context: process or BH.
 */
void alg_key_put(struct alg_key *key)
{
	if (!key || likely(!refcount_dec_and_test(&key->refs)))
		return;
	INIT_RCU_WORK(&key->free, free_key);
	queue_rcu_work(alg_wq, &key->free);
}

/*
 * No request of @tfm is under way.  MACsec frees its transforms in BH.
 */
void alg_tfm_exit(struct alg_tfm *tfm)
{
	alg_key_put(rcu_dereference_protected(tfm->key, true));
	mutex_destroy(&tfm->setting);
}

static int replace_key(struct crypto_tfm *tfm, const u8 *bytes,
		       unsigned int len, unsigned int authsize,
		       alg_fill_fn fill)
{
	struct alg_tfm *t = crypto_tfm_ctx(tfm);
	struct alg_key *key;
	int err;

	key = kzalloc(struct_size(key, bytes, len), GFP_KERNEL_ACCOUNT);
	if (!key)
		return -ENOMEM;
	refcount_set(&key->refs, 1);
	key->authsize = authsize;
	key->len = len;
	memcpy(key->bytes, bytes, len);
	err = fill(tfm, key);
	if (!err)
		key = rcu_replace_pointer(t->key, key,
					  lockdep_is_held(&t->setting));
	alg_key_put(key);
	return err;
}

/**
 * alg_set_key() - give a transform its first key, or another one
 * @tfm: the transform
 * @bytes: the key
 * @len: of it
 * @authsize: bytes of a tag; 0 if there are none
 * @fill: makes the fallback, calls alg_key_open()
 *
 * Context: process; may sleep.
 * Return: 0, -ENOMEM, or an error of @fill.  After an error the transform keeps
 * its key.
 */
int alg_set_key(struct crypto_tfm *tfm, const u8 *bytes, unsigned int len,
		unsigned int authsize, alg_fill_fn fill)
{
	struct alg_tfm *t = crypto_tfm_ctx(tfm);
	unsigned int noio = memalloc_noio_save();
	int err;

	mutex_lock(&t->setting);
	err = replace_key(tfm, bytes, len, authsize, fill);
	mutex_unlock(&t->setting);
	memalloc_noio_restore(noio);
	return err;
}

/**
 * alg_set_authsize() - change the length of a transform's tags
 * @tfm: the transform
 * @size: bytes, which the algorithm allows
 * @fill: as in alg_set_key()
 *
 * Context: process; may sleep.
 * Return: as alg_set_key().
 */
int alg_set_authsize(struct crypto_tfm *tfm, unsigned int size,
		     alg_fill_fn fill)
{
	struct alg_tfm *t = crypto_tfm_ctx(tfm);
	unsigned int noio = memalloc_noio_save();
	struct alg_key *key;
	int err = 0;

	mutex_lock(&t->setting);
	key = rcu_dereference_protected(t->key, lockdep_is_held(&t->setting));
	if (key && key->authsize != size)
		err = replace_key(tfm, key->bytes, key->len, size, fill);
	mutex_unlock(&t->setting);
	memalloc_noio_restore(noio);
	return err;
}

/**
 * alg_key_open() - open a key's session
 * @key: the key
 * @params: mode, algorithms, keys, flags and lengths
 *
 * The session belongs to the user of the calling task, and is charged to that
 * user.
 *
 * Context: process; may sleep.
 * Return: 0, or an error of ocf_session_create().
 */
int alg_key_open(struct alg_key *key, struct ocf_session_params *params)
{
	kuid_t payer = ocf_payer();
	struct ocf_session *ses;

	params->device = OCF_DEVICE_ANY;
	params->owner = ocf_owner(payer);
	params->account = ocf_account_get(payer);
	if (!params->account)
		return -ENOMEM;
	ses = ocf_session_create(params, GFP_KERNEL_ACCOUNT);
	ocf_account_put(params->account);
	if (IS_ERR(ses))
		return PTR_ERR(ses);
	key->session = ses;
	return 0;
}
