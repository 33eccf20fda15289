// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys of a direction: checks what the user gives, and opens a session.
 */
#include <crypto/sha2.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/ocf_cdev.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "../owner.h"
#include "socrypt.h"

/*
 * Bytes of a nonce, as in RFC 5116 and in all of TLS.  CCM itself also allows
 * other lengths.
 */
#define AEAD_NONCE	12

static bool name_of(const char *name, enum ocf_alg *alg)
{
	size_t len = strnlen(name, SO_CRYPT_NAME_MAX);

	*alg = ocf_alg_by_name(name, len);
	return !len || *alg != OCF_ALG_NONE;
}

static bool lengths_fit(const struct so_crypt *c)
{
	return c->keylen <= SO_CRYPT_KEY_MAX &&
	       c->mackeylen <= SO_CRYPT_KEY_MAX && c->ivlen <= SO_CRYPT_IV_MAX;
}

/* Computes a digest that tells whether keys are the same. */
static void digest_keys(const struct so_crypt *c, u8 *digest)
{
	struct sha256_state state;

	sha256_init(&state);
	sha256_update(&state, (const u8 *)&c->keylen, sizeof(c->keylen));
	sha256_update(&state, c->key, c->keylen);
	sha256_update(&state, c->mackey, c->mackeylen);
	sha256_final(&state, digest);
	memzero_explicit(&state, sizeof(state));
}

static int find_framing(struct so_keys *k, const struct so_crypt *c)
{
	const struct so_crypt_framing *f;

	if (c->protocol == SO_CRYPT_FRAMED) {
		if (c->flags & SO_CRYPT_ETM)
			return -EINVAL;
		k->fr.f = c->framing;
		return 0;
	}
	if (memchr_inv(&c->framing, 0, sizeof(c->framing)))
		return -EINVAL;
	f = so_framing_of_tls(c->protocol, k->cipher, c->flags & SO_CRYPT_ETM);
	if (!f)
		return -EINVAL;
	k->fr.f = *f;
	return 0;
}

static u32 session_flags(u32 flags)
{
	return (flags & SO_CRYPT_HARDWARE ? OCF_SESSION_HARDWARE : 0) |
	       (flags & SO_CRYPT_SOFTWARE ? OCF_SESSION_SOFTWARE : 0);
}

/* Sets what the core has to know of received records. */
static u32 extra_flags(const struct so_keys *k, bool receive)
{
	return receive && k->fr.f.order == SO_CRYPT_MAC_THEN_ENCRYPT &&
	       k->fr.f.auth_length == SO_CRYPT_LENGTH_PAYLOAD ?
	       OCF_SESSION_MTE_LENGTH : 0;
}

static struct ocf_session *make_session(const struct so_keys *k,
					const struct so_crypt *c,
					struct ocf_session *given, bool receive)
{
	u32 extra = extra_flags(k, receive);
	struct ocf_session_params p = {
		.mode = so_framing_mode(&k->fr.f),
		.cipher = k->cipher,
		.mac = k->mac,
		.flags = session_flags(c->flags) | extra,
		.device = OCF_DEVICE_ANY,
		.key = c->key,
		.keylen = c->keylen,
		.mackey = c->mackey,
		.mackeylen = c->mackeylen,
		.maclen = c->maclen,
	};
	kuid_t payer = ocf_payer();
	struct ocf_session *ses;

	if (given)
		return ocf_session_derive(given, p.mode, c->maclen, extra,
					  GFP_KERNEL_ACCOUNT);
	if (p.mode == OCF_MODE_AEAD)
		p.ivlen = AEAD_NONCE;
	p.owner = ocf_owner(payer);
	p.account = ocf_account_get(payer);
	if (!p.account)
		return ERR_PTR(-ENOMEM);
	ses = ocf_session_create(&p, GFP_KERNEL_ACCOUNT);
	/* the session holds the account itself */
	ocf_account_put(p.account);
	return ses;
}

/* Whether a device would read the source of a record twice */
static bool reads_twice(const struct so_keys *k)
{
	return k->fr.f.order == SO_CRYPT_MAC_THEN_ENCRYPT ||
	       ocf_alg_is_ccm(k->cipher);
}

/* @stable: SO_CRYPT_STABLE.  Context: the caller may write @k. */
void so_keys_stable(struct so_keys *k, bool stable)
{
	if (stable)
		k->flags |= SO_CRYPT_STABLE;
	else
		k->flags &= ~SO_CRYPT_STABLE;
	k->copies = reads_twice(k) && !stable;
}

static int fill_in(struct so_keys *k, const struct so_crypt *c)
{
	struct ocf_session_info info;
	u32 n = k->fr.f.explicit_len;

	ocf_session_info(k->ses, &info);
	k->fr.block = info.block;
	k->fr.ivlen = info.ivlen;
	k->fr.maclen = info.maclen;
	if (so_framing_check(&k->fr, c->ivlen) ||
	    (info.mode == OCF_MODE_AEAD && info.ivlen != AEAD_NONCE) ||
	    (k->fr.f.nonce == SO_CRYPT_NONCE_NONE &&
	     k->cipher != OCF_NULL_CIPHER))
		return -EINVAL;
	/* kTLS's limit: the longest payload, and the overhead */
	k->fr.any_type = k->ktls && k->fr.f.flags & SO_CRYPT_INNER_TYPE;
	if (k->ktls)
		k->fr.f.sealed_max = n + k->fr.f.payload_max + k->fr.maclen +
				     !!(k->fr.f.flags & SO_CRYPT_INNER_TYPE);
	k->flags = c->flags;
	k->protocol = c->protocol;
	k->ivlen = c->ivlen;
	memcpy(k->iv, c->iv, c->ivlen);
	k->number = c->number;
	k->counter = c->number;
	if (k->fr.f.nonce == SO_CRYPT_NONCE_COUNTED && c->ivlen == k->fr.ivlen)
		k->counter = get_unaligned_be64(c->iv + c->ivlen - 8) &
			     (U64_MAX >> (64 - 8 * n));
	so_keys_stable(k, c->flags & SO_CRYPT_STABLE);
	return 0;
}

/* Takes the algorithms of the session @given, or those that the user names. */
static int find_algorithms(struct so_keys *k, const struct so_crypt *c,
			   struct ocf_session *given)
{
	static const struct so_crypt none;
	struct ocf_session_info info;

	if (!given) {
		digest_keys(c, k->check);
		return name_of(c->cipher, &k->cipher) &&
		       name_of(c->mac, &k->mac) ? 0 : -EINVAL;
	}
	if (c->flags & (SO_CRYPT_HARDWARE | SO_CRYPT_SOFTWARE) ||
	    memcmp(c->cipher, none.cipher, offsetof(struct so_crypt, iv) -
					   offsetof(struct so_crypt, cipher)) ||
	    c->keylen || c->mackeylen)
		return -EINVAL;
	ocf_session_info(given, &info);
	k->cipher = info.cipher;
	k->mac = info.mac;
	return 0;
}

static int make_keys(struct so_keys *k, const struct so_crypt *c,
		     struct ocf_session *given, bool receive)
{
	int err;

	err = find_algorithms(k, c, given) ?: find_framing(k, c);
	if (err)
		return err;
	k->ses = make_session(k, c, given, receive);
	if (IS_ERR(k->ses)) {
		err = PTR_ERR(k->ses);
		k->ses = NULL;
		return err;
	}
	return fill_in(k, c);
}

static int derive_from(const struct ocf_cdev_sessions *its,
		       struct so_new_keys *new, const struct so_crypt *c,
		       bool receive)
{
	struct ocf_session *given = its->get(new->file, c->ses);
	int err;

	if (IS_ERR(given))
		return PTR_ERR(given);
	new->ses = c->ses;
	err = make_keys(&new->keys, c, given, receive);
	ocf_session_put(given);
	return err;
}

/* Makes keys from a session of /dev/crypto; @c->fd and @c->ses name it. */
static int derive_keys(struct so_new_keys *new, const struct so_crypt *c,
		       bool receive)
{
	const struct ocf_cdev_sessions *its;
	int err;

	new->file = fget(c->fd);
	if (!new->file)
		return -EBADF;
	its = symbol_get(ocf_cdev_sessions);
	if (!its)
		return -EINVAL;
	err = derive_from(its, new, c, receive);
	symbol_put(ocf_cdev_sessions);
	return err;
}

/* Ends the session that /dev/crypto gives away, if there is one. */
static int end_given(const struct so_new_keys *new)
{
	const struct ocf_cdev_sessions *its;
	int err;

	if (!new->file)
		return 0;
	its = symbol_get(ocf_cdev_sessions);
	if (!its)
		return -EINVAL;
	err = its->end(new->file, new->ses);
	symbol_put(ocf_cdev_sessions);
	return err;
}

/**
 * so_keys_make() - make new keys of a direction
 * @new: zero; to be ended by so_keys_end(), also after an error
 * @c: the user's parameters, of the size we know
 * @ktls: TLS_CIPHER_*, if they were given by kTLS's interface, or 0
 * @receive: the direction is the receiving one
 *
 * Context: process; may sleep, as long as a device takes to make a session.
 * The socket is not held, so that its other users need not wait.
 * Return: 0, or see <linux/so_crypt.h>.
 */
int so_keys_make(struct so_new_keys *new, const struct so_crypt *c, u16 ktls,
		 bool receive)
{
	if (c->flags & ~SO_CRYPT_FLAGS || c->pad || !lengths_fit(c))
		return -EINVAL;
	new->keys.ktls = ktls;
	if (c->flags & SO_CRYPT_SESSION)
		return derive_keys(new, c, receive);
	return make_keys(&new->keys, c, NULL, receive);
}

/**
 * so_keys_replace() - use new keys
 * @keys: zero, or the present keys; these stay if this fails
 * @new: what so_keys_make() made; holds the old keys after success
 * @any: the framing may change; otherwise a change of it is -EBUSY
 *
 * Context: process; the socket is held.
 * Return: 0, -EINVAL for the same keys again or a session that has been closed,
 * or -EBUSY.
 */
int so_keys_replace(struct so_keys *keys, struct so_new_keys *new, bool any)
{
	struct so_keys *k = &new->keys;
	int err;

	if (keys->ses && !new->file &&
	    !memcmp(keys->check, k->check, sizeof(k->check)))
		return -EINVAL;
	if (keys->ses && !any && !so_framing_same(&k->fr, &keys->fr))
		return -EBUSY;
	err = end_given(new);
	if (!err)
		swap(*keys, *k);
	return err;
}

/* Context: process; may sleep. */
void so_keys_forget(struct so_keys *keys)
{
	ocf_session_put(keys->ses);
	memzero_explicit(keys, sizeof(*keys));
}

/* Context: process; may sleep. */
void so_keys_end(struct so_new_keys *new)
{
	so_keys_forget(&new->keys);
	if (new->file)
		fput(new->file);
}
