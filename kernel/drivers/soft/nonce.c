// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nonces of DSA and ECDSA: RFC 6979 section 3.2, with 32 fresh random bytes as
 * the additional data of section 3.6.  So a bad random generator does not
 * reveal the key.  Nor does a fault that changes the digest, since two digests
 * never get the same nonce.  The hash is always SHA-512, whatever that of the
 * digest is: it is strong enough for every group.
 */
#include <crypto/hash.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "pk.h"

#define HASH		64
#define FRESH		32

/**
 * struct soft_nonces - a source of numbers from 1 to n - 1, where n is a
 * group's order
 * @hmac: HMAC-SHA-512
 * @order: of the group
 * @len: bytes of it
 * @bits: of it
 * @k: K of RFC 6979
 * @v: V of RFC 6979
 */
struct soft_nonces {
	struct crypto_shash	*hmac;
	u8			order[SOFT_ORDER_MAX];
	u32			len;
	u32			bits;
	u8			k[HASH];
	u8			v[HASH];
};

/* K = HMAC(K, V || @tag || @text), if there is a tag; V = HMAC(K, V) */
static int step(struct soft_nonces *s, int tag, const u8 *text, u32 len)
{
	SHASH_DESC_ON_STACK(desc, s->hmac);
	u8 byte = tag;
	int err = crypto_shash_setkey(s->hmac, s->k, HASH);

	desc->tfm = s->hmac;
	if (!err && tag >= 0)
		err = crypto_shash_init(desc) ?:
		      crypto_shash_update(desc, s->v, HASH) ?:
		      crypto_shash_update(desc, &byte, 1) ?:
		      crypto_shash_update(desc, text, len) ?:
		      crypto_shash_final(desc, s->k) ?:
		      crypto_shash_setkey(s->hmac, s->k, HASH);
	if (!err)
		err = crypto_shash_digest(desc, s->v, HASH, s->v);
	shash_desc_zero(desc);
	return err;
}

/* bits2int (2.3.2) of the first @s->bits of @out */
static void keep_bits(const struct soft_nonces *s, u8 *out)
{
	u32 drop = 8 * s->len - s->bits, i;

	if (!drop)
		return;
	for (i = s->len; --i;)
		out[i] = out[i] >> drop | out[i - 1] << (8 - drop);
	out[0] >>= drop;
}

/* Subtracts the order from a number that is less than twice the order. */
static void nonce_reduce(const struct soft_nonces *s, u8 *out)
{
	int i, n = 0;

	if (memcmp(out, s->order, s->len) < 0)
		return;
	for (i = s->len; i--;) {
		n += out[i] - s->order[i];
		out[i] = n;
		n >>= 8;
	}
}

/* bits2octets(@digest) (2.3.4) */
static void put_digest(const struct soft_nonces *s,
		       const struct ocf_pk_operand *digest, u8 *out)
{
	u32 n = min(digest->len, s->len);

	memset(out, 0, s->len - n);
	memcpy(out + s->len - n, digest->data, n);
	if (n == s->len)
		keep_bits(s, out);
	nonce_reduce(s, out);
}

/* int2octets(x) || bits2octets(@digest) || k', which is @more */
static int seed(struct soft_nonces *s, const u8 *secret,
		const struct ocf_pk_operand *digest, const u8 *more, u32 len)
{
	u8 text[2 * SOFT_ORDER_MAX + FRESH];
	u32 size = 2 * s->len + len;
	int err;

	memcpy(text, secret, s->len);
	put_digest(s, digest, text + s->len);
	memcpy(text + 2 * s->len, more, len);
	memset(s->v, 1, HASH);
	err = step(s, 0, text, size) ?: step(s, 1, text, size);
	memzero_explicit(text, sizeof(text));
	return err;
}

static struct soft_nonces *start(const u8 *order, u32 len, const u8 *secret,
				 const struct ocf_pk_operand *digest,
				 const u8 *more, u32 more_len)
{
	struct soft_nonces *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int err;

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->hmac = crypto_alloc_shash("hmac(sha512)", 0, 0);
	if (IS_ERR(s->hmac)) {
		err = PTR_ERR(s->hmac);
		kfree(s);
		return ERR_PTR(err);
	}
	memcpy(s->order, order, len);
	s->len = len;
	s->bits = 8 * (len - 1) + fls(order[0]);
	err = seed(s, secret, digest, more, more_len);
	if (!err)
		return s;
	soft_nonces_end(s);
	return ERR_PTR(err);
}

/**
 * soft_nonces_start() - start the nonces of a signature
 * @order: of the group, without zeros in front
 * @len: bytes of it, up to SOFT_ORDER_MAX
 * @secret: the private key, of the same length
 * @digest: the digest to sign; any length but 0
 *
 * Context: process; may sleep.
 * Return: to be ended with soft_nonces_end(), or an ERR_PTR.
 */
struct soft_nonces *soft_nonces_start(const u8 *order, u32 len,
				      const u8 *secret,
				      const struct ocf_pk_operand *digest)
{
	struct soft_nonces *s;
	u8 fresh[FRESH];

	get_random_bytes(fresh, FRESH);
	s = start(order, len, secret, digest, fresh, FRESH);
	memzero_explicit(fresh, FRESH);
	return s;
}

static bool nonce_in_group(const struct soft_nonces *s, const u8 *n)
{
	return memchr_inv(n, 0, s->len) && memcmp(n, s->order, s->len) < 0;
}

/**
 * soft_nonces_next() - the next nonce
 * @s: the source
 * @out: as many bytes as the order has
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int soft_nonces_next(struct soft_nonces *s, u8 *out)
{
	u32 at, n;
	int err;

	do {
		for (at = 0; at < s->len; at += n) {
			err = step(s, -1, NULL, 0);
			if (err)
				return err;
			n = min(s->len - at, (u32)HASH);
			memcpy(out + at, s->v, n);
		}
		keep_bits(s, out);
		/*
		 * prepare the next nonce: for the next call, or for the next
		 * round if this one is out of range
		 */
		err = step(s, 0, NULL, 0);
		if (err)
			return err;
	} while (!nonce_in_group(s, out));
	return 0;
}

void soft_nonces_end(struct soft_nonces *s)
{
	crypto_free_shash(s->hmac);
	kfree_sensitive(s);
}
