// SPDX-License-Identifier: GPL-2.0-only
/*
 * RSA paddings: they are added before a device computes RSA on a number, and
 * removed afterwards.  Sections are those of RFC 8017.
 *
 * Code that handles a decrypted message takes the same time whatever the
 * message is.  Only the message's length shows, at the end.
 */
#include <crypto/hash.h>
#include <linux/mpi.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "pk.h"

#define HASH_MAX	64	/* bytes */
#define PKCS1_LEAST	11	/* bytes that EMSA- and EME-PKCS1-v1_5 take */

/* ---- hashes ---- */

/* Part of what is hashed. */
struct part {
	const void	*data;
	u32		len;
};

static int hash_parts(struct crypto_shash *tfm, u8 *out,
		      const struct part *part, int parts)
{
	SHASH_DESC_ON_STACK(desc, tfm);
	int err, i;

	desc->tfm = tfm;
	err = crypto_shash_init(desc);
	for (i = 0; i < parts && !err; i++)
		err = crypto_shash_update(desc, part[i].data, part[i].len);
	if (!err)
		err = crypto_shash_final(desc, out);
	shash_desc_zero(desc);
	return err;
}

static struct crypto_shash *hash_of(const struct ocf_pk_op *op)
{
	struct crypto_shash *tfm;

	tfm = crypto_alloc_shash(ocf_alg_info(op->hash)->impl, 0, 0);
	return PTR_ERR_OR_ZERO(tfm) == -ENOENT ? ERR_PTR(-EOPNOTSUPP) : tfm;
}

/* XORs into @buf the mask that MGF1 (appendix B.2.1) makes from @seed. */
static int mask_by_mgf1(struct crypto_shash *tfm, const u8 *seed, u32 seed_len,
			u8 *buf, u32 len)
{
	u32 h = crypto_shash_digestsize(tfm), at, i;
	u8 counter[4], digest[HASH_MAX];
	struct part parts[] = { { seed, seed_len }, { counter, 4 } };
	int err = 0;

	for (at = 0; at < len && !err; at += h) {
		put_unaligned_be32(at / h, counter);
		err = hash_parts(tfm, digest, parts, 2);
		for (i = 0; i < h && at + i < len; i++)
			buf[at + i] ^= digest[i];
	}
	memzero_explicit(digest, sizeof(digest));
	return err;
}

/* ---- PKCS1 v1.5 signatures: section 9.2 ---- */

/*
 * Object identifiers; of those assigned by NIST only the last octet is stored
 */
static const struct {
	enum ocf_alg	hash;
	u8		nist;
	u8		len;
	u8		oid[8];
} oids[] = {
	{ OCF_MD5, 0, 8, { 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 5 } },
	{ OCF_SHA1, 0, 5, { 0x2b, 0x0e, 3, 2, 0x1a } },
	{ OCF_RIPEMD160, 0, 5, { 0x2b, 0x24, 3, 2, 1 } },
	{ OCF_SHA256, 1 }, { OCF_SHA384, 2 }, { OCF_SHA512, 3 },
	{ OCF_SHA224, 4 }, { OCF_SHA3_224, 7 }, { OCF_SHA3_256, 8 },
	{ OCF_SHA3_384, 9 }, { OCF_SHA3_512, 10 },
};

/* Writes DigestInfo up to the digest; returns how long that is, or 0. */
static u32 digest_info(enum ocf_alg hash, u32 digest, u8 *out)
{
	u8 nist[9] = { 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2 };
	const u8 *oid;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(oids) && oids[i].hash != hash; i++)
		;
	if (i == ARRAY_SIZE(oids))
		return 0;
	nist[8] = oids[i].nist;
	oid = oids[i].nist ? nist : oids[i].oid;
	n = oids[i].nist ? sizeof(nist) : oids[i].len;
	*out++ = 0x30;
	*out++ = 8 + n + digest;
	*out++ = 0x30;
	*out++ = 4 + n;
	*out++ = 6;
	*out++ = n;
	memcpy(out, oid, n);
	out += n;
	*out++ = 5;
	*out++ = 0;
	*out++ = 4;
	*out++ = digest;
	return 10 + n;
}

static int emsa_pkcs1(const struct ocf_pk_op *op, u8 *em, u32 k)
{
	u8 info[19];
	u32 n = 0, len = op->in[0].len;

	if (op->hash) {
		n = digest_info(op->hash, len, info);
		if (!n)
			return -EINVAL;
	}
	if (k < n + len + PKCS1_LEAST)
		return -EINVAL;
	em[0] = 0;
	em[1] = 1;
	memset(em + 2, 0xff, k - n - len - 3);
	em[k - n - len - 1] = 0;
	memcpy(em + k - n - len, info, n);
	memcpy(em + k - len, op->in[0].data, len);
	return 0;
}

/* ---- PSS: section 9.1 ---- */

/* H of section 9.1.1, step 6 */
static int pss_hash(struct crypto_shash *tfm, const struct ocf_pk_op *op,
		    const u8 *salt, u32 salt_len, u8 *out)
{
	static const u8 zeros[8];
	struct part parts[] = {
		{ zeros, sizeof(zeros) },
		{ op->in[0].data, op->in[0].len },
		{ salt, salt_len },
	};

	return hash_parts(tfm, out, parts, ARRAY_SIZE(parts));
}

/* @em has room for @len bytes; the modulus has @bits. */
static int pss_encode(struct crypto_shash *tfm, const struct ocf_pk_op *op,
		      u8 *em, u32 len, u32 bits)
{
	u32 h = crypto_shash_digestsize(tfm), db = len - h - 1;
	u8 *salt;
	int err;

	if (op->salt > OCF_PK_NUMBER_MAX || len < h + op->salt + 2)
		return -EINVAL;
	memset(em, 0, db);
	salt = em + db - op->salt;
	salt[-1] = 1;
	get_random_bytes(salt, op->salt);
	err = pss_hash(tfm, op, salt, op->salt, em + db);
	if (!err)
		err = mask_by_mgf1(tfm, em + db, h, em, db);
	em[0] &= 0xff >> (8 * len - (bits - 1));
	em[len - 1] = 0xbc;
	return err;
}

static int pss_verify(struct crypto_shash *tfm, const struct ocf_pk_op *op,
		      u8 *em, u32 len, u32 bits)
{
	u32 h = crypto_shash_digestsize(tfm), db = len - h - 1, zeros, salt;
	u8 digest[HASH_MAX], top = 0xff >> (8 * len - (bits - 1));
	int err;

	if (len < h + 2 || em[len - 1] != 0xbc || em[0] & ~top)
		return -EBADMSG;
	err = mask_by_mgf1(tfm, em + db, h, em, db);
	if (err)
		return err;
	em[0] &= top;
	for (zeros = 0; zeros < db && !em[zeros]; zeros++)
		;
	if (zeros == db || em[zeros] != 1)
		return -EBADMSG;
	salt = db - zeros - 1;
	if (op->salt != U32_MAX && op->salt != salt)
		return -EBADMSG;
	err = pss_hash(tfm, op, em + zeros + 1, salt, digest);
	return err ?: memcmp(digest, em + db, h) ? -EBADMSG : 0;
}

/*
 * Returns the part of @em that PSS encodes: the last *@len bytes, the fewest
 * that hold bits - 1 bits
 */
static u8 *pss_part(const struct ocf_pk_plain *p, u8 *em, u32 *len)
{
	*len = DIV_ROUND_UP(p->bits - 1, 8);
	return em + p->k - *len;
}

static int pss_sign(const struct ocf_pk_op *op, struct ocf_pk_plain *p)
{
	struct crypto_shash *tfm = hash_of(op);
	u32 len;
	u8 *em = pss_part(p, p->em, &len);
	int err;

	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	p->em[0] = 0;
	err = pss_encode(tfm, op, em, len, p->bits);
	crypto_free_shash(tfm);
	return err;
}

static int pss_check(const struct ocf_pk_op *op, struct ocf_pk_plain *p)
{
	struct crypto_shash *tfm = hash_of(op);
	u32 len;
	u8 *em = pss_part(p, p->out, &len);
	int err = -EBADMSG;

	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	if (em == p->out || !p->out[0])
		err = pss_verify(tfm, op, em, len, p->bits);
	crypto_free_shash(tfm);
	return err;
}

/* ---- PKCS1 v1.5 encryption: section 7.2 ---- */

static void random_nonzero(u8 *out, u32 len)
{
	get_random_bytes(out, len);
	while (len--)
		while (!out[len])
			get_random_bytes(&out[len], 1);
}

static int eme_pkcs1(const struct ocf_pk_op *op, u8 *em, u32 k)
{
	u32 len = op->in[0].len;

	if (k < len + PKCS1_LEAST)
		return -EINVAL;
	em[0] = 0;
	em[1] = 2;
	random_nonzero(em + 2, k - len - 3);
	em[k - len - 1] = 0;
	memcpy(em + k - len, op->in[0].data, len);
	return 0;
}

/*
 * ct_less(): all ones if @a < @b, both below 2^31. ct_zero(): all ones if @a is
 * 0.
 */
static u32 ct_less(u32 a, u32 b)
{
	return 0 - ((a - b) >> 31);
}

static u32 ct_zero(u32 a)
{
	return 0 - ((~a & (a - 1)) >> 31);
}

/*
 * The pseudorandom function of implicit rejection, as in
 * draft-irtf-cfrg-rsa-guidance section 7.1: HMAC-SHA-256 over a counter, a
 * label and the bits wanted.
 */
static int prf(struct crypto_shash *hmac, const char *label, u8 *out, u32 len)
{
	u8 head[2], bits[2], block[32];
	struct part parts[] = {
		{ head, 2 }, { label, strlen(label) }, { bits, 2 },
	};
	int err = 0;
	u32 at, n;

	put_unaligned_be16(8 * len, bits);
	for (at = 0; at < len && !err; at += n) {
		put_unaligned_be16(at / sizeof(block), head);
		err = hash_parts(hmac, block, parts, ARRAY_SIZE(parts));
		n = min(len - at, (u32)sizeof(block));
		memcpy(out + at, block, n);
	}
	memzero_explicit(block, sizeof(block));
	return err;
}

/*
 * Sets the key of prf(): HMAC-SHA-256 of the ciphertext, keyed with SHA-256 of
 * d.
 */
static int reject_key(struct crypto_shash *hmac, const struct ocf_pk_plain *p)
{
	struct crypto_shash *sha = crypto_alloc_shash("sha256", 0, 0);
	struct part parts[] = { { p->out, 0 }, { p->key.d, p->key.d_sz } };
	struct part text = { p->em, p->k };
	u8 digest[32], *zeros = NULL;
	int err;

	if (IS_ERR(sha))
		return PTR_ERR(sha);
	while (parts[1].len > p->k && !*(const u8 *)parts[1].data) {
		parts[1].data++;
		parts[1].len--;
	}
	/* In the draft, d is padded with zeros to the length of the modulus. */
	err = -ENOMEM;
	zeros = kzalloc(p->k, GFP_KERNEL);
	if (zeros) {
		parts[0] = (struct part){ zeros, p->k - min(parts[1].len,
							    p->k) };
		err = hash_parts(sha, digest, parts, 2);
	}
	kfree(zeros);
	crypto_free_shash(sha);
	if (!err)
		err = crypto_shash_setkey(hmac, digest, sizeof(digest));
	if (!err)
		err = hash_parts(hmac, digest, &text, 1);
	if (!err)
		err = crypto_shash_setkey(hmac, digest, sizeof(digest));
	memzero_explicit(digest, sizeof(digest));
	return err;
}

#define LENGTHS		128	/* candidates for a message's length */

/*
 * Makes up a message for a ciphertext that contains none.  The message is at
 * the end of @out, and *@len is its length.
 */
static int make_up(struct crypto_shash *hmac, struct ocf_pk_plain *p, u8 *out,
		   u32 *len)
{
	u32 max = p->k - PKCS1_LEAST + 1, bits = max, n, i;
	u8 *lengths = kmalloc(2 * LENGTHS, GFP_KERNEL);
	int err;

	if (!lengths)
		return -ENOMEM;
	err = reject_key(hmac, p) ?:
	      prf(hmac, "length", lengths, 2 * LENGTHS) ?:
	      prf(hmac, "message", out, p->k);
	/* Make a mask of ones with as many bits as @max. */
	bits |= bits >> 1;
	bits |= bits >> 2;
	bits |= bits >> 4;
	bits |= bits >> 8;
	*len = 0;
	for (i = 0; i < LENGTHS && !err; i++) {
		n = get_unaligned_be16(lengths + 2 * i) & bits;
		*len ^= ct_less(n, max) & (*len ^ n);
	}
	kfree_sensitive(lengths);
	return err;
}

/* Where the message starts in @em; all ones in @good if there is one. */
static u32 find_message(const u8 *em, u32 k, u32 *good)
{
	u32 zero, seen = 0, at = 0, i;

	*good = ct_zero(em[0]) & ct_zero(em[1] ^ 2);
	for (i = 2; i < k; i++) {
		zero = ct_zero(em[i]);
		at |= i & zero & ~seen;
		seen |= zero;
	}
	*good &= seen & ~ct_less(at, 10);
	return at + 1;
}

static int unpad_pkcs1(struct ocf_pk_op *op, struct ocf_pk_plain *p)
{
	struct crypto_shash *hmac = crypto_alloc_shash("hmac(sha256)", 0, 0);
	u8 *other = kmalloc(p->k, GFP_KERNEL);
	u32 good, at, len, i;
	int err = -ENOMEM;

	if (IS_ERR(hmac)) {
		kfree(other);
		return PTR_ERR(hmac);
	}
	if (other)
		err = make_up(hmac, p, other, &len);
	if (!err) {
		at = find_message(p->out, p->k, &good);
		len = (good & (p->k - at)) | (~good & len);
		for (i = 0; i < p->k; i++)
			other[i] ^= (u8)good & (other[i] ^ p->out[i]);
		err = len > op->out[0].size ? -ENOSPC : 0;
	}
	if (!err) {
		memcpy(op->out[0].data, other + p->k - len, len);
		op->out[0].len = len;
	}
	kfree_sensitive(other);
	crypto_free_shash(hmac);
	return err;
}

/* ---- OAEP: section 7.1 ---- */

static int oaep_label(struct crypto_shash *tfm, const struct ocf_pk_op *op,
		      u8 *out)
{
	struct part label = { op->in[2].data, op->in[2].len };

	return hash_parts(tfm, out, &label, 1);
}

static int oaep_encode(struct crypto_shash *tfm, const struct ocf_pk_op *op,
		       u8 *em, u32 k)
{
	u32 h = crypto_shash_digestsize(tfm), len = op->in[0].len;
	u8 *seed = em + 1, *db = em + 1 + h;
	u32 db_len = k - h - 1;

	if (k < 2 * h + 2 + len)
		return -EINVAL;
	memset(em, 0, k);
	get_random_bytes(seed, h);
	em[k - len - 1] = 1;
	memcpy(em + k - len, op->in[0].data, len);
	return oaep_label(tfm, op, db)			      ?:
		       mask_by_mgf1(tfm, seed, h, db, db_len) ?:
		       mask_by_mgf1(tfm, db, db_len, seed, h);
}

/* Takes the masks off @em and finds the message; all ones in @good if right. */
static int oaep_decode(struct crypto_shash *tfm, const struct ocf_pk_op *op,
		       u8 *em, u32 k, u32 *at, u32 *good)
{
	u32 h = crypto_shash_digestsize(tfm), db_len = k - h - 1;
	u8 *seed = em + 1, *db = em + 1 + h, label[HASH_MAX];
	u32 found = 0, one, rest = 0, diff = 0, i;
	int err;

	if (k < 2 * h + 2)
		return -EINVAL;
	err = oaep_label(tfm, op, label)		     ?:
		      mask_by_mgf1(tfm, db, db_len, seed, h) ?:
		      mask_by_mgf1(tfm, seed, h, db, db_len);
	for (i = 0; i < h; i++)
		diff |= db[i] ^ label[i];
	*at = 0;
	for (i = h; i < db_len; i++) {
		one = ct_zero(db[i] ^ 1);
		*at |= (1 + h + i + 1) & one & ~found;
		/* only zeros may come before the first byte that is 1 */
		rest |= db[i] & ~(found | one);
		found |= one;
	}
	*good = ct_zero(em[0]) & ct_zero(diff) & ct_zero(rest) & found;
	return err;
}

static int oaep_pad(const struct ocf_pk_op *op, struct ocf_pk_plain *p)
{
	struct crypto_shash *tfm = hash_of(op);
	int err;

	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	err = oaep_encode(tfm, op, p->em, p->k);
	crypto_free_shash(tfm);
	return err;
}

static int unpad_oaep(struct ocf_pk_op *op, struct ocf_pk_plain *p)
{
	struct crypto_shash *tfm = hash_of(op);
	u32 at, good, len;
	int err;

	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	err = oaep_decode(tfm, op, p->out, p->k, &at, &good);
	crypto_free_shash(tfm);
	if (err)
		return err;
	if (!good)
		return -EBADMSG;
	len = p->k - at;
	if (len > op->out[0].size)
		return -ENOSPC;
	memcpy(op->out[0].data, p->out + at, len);
	op->out[0].len = len;
	return 0;
}

/* ---- numbers ---- */

/*
 * Writes the number @in to @p->em, as @p->k bytes.  It must be less than the
 * modulus.
 */
static int put_number(struct ocf_pk_plain *p, const struct ocf_pk_operand *in)
{
	struct ocf_pk_result out = { .data = p->em, .size = p->k };

	if (ocf_pk_put(&out, in->data, in->len) ||
	    memcmp(p->em, p->key.n, p->k) >= 0)
		return -EDOM;
	return 0;
}

/*
 * The same for a peer's number, which must be exactly as long as the modulus.
 * If it does not fit, this returns -EBADMSG, not -EDOM.
 */
static int put_foreign(struct ocf_pk_plain *p, const struct ocf_pk_operand *in)
{
	if (in->len != p->k || put_number(p, in))
		return -EBADMSG;
	return 0;
}

static int pad(const struct ocf_pk_op *op, struct ocf_pk_plain *p)
{
	const struct ocf_pk_operand *in = op->in;
	bool raw = op->scheme == OCF_PK_RAW;

	switch (op->code) {
	case OCF_PK_RSA_SIGN:
		return raw ? put_number(p, in) :
		       op->scheme == OCF_PK_PSS ? pss_sign(op, p) :
						  emsa_pkcs1(op, p->em, p->k);
	case OCF_PK_RSA_VERIFY:
		return put_foreign(p, &in[1]);
	case OCF_PK_RSA_ENCRYPT:
		return raw ? put_number(p, in) :
		       op->scheme == OCF_PK_OAEP ? oaep_pad(op, p) :
						   eme_pkcs1(op, p->em, p->k);
	default:
		return raw ? put_number(p, in) : put_foreign(p, in);
	}
}

/* The field for which pad() has returned -EINVAL or -EDOM */
static enum ocf_field find_wrong_in_pad(const struct ocf_pk_op *op)
{
	u8 info[19];

	if (op->code != OCF_PK_RSA_SIGN || !op->hash)
		return OCF_FIELD_VALUE;
	if (op->scheme == OCF_PK_PSS && op->salt)
		return OCF_FIELD_SALT;
	if (op->scheme == OCF_PK_PKCS1 &&
	    !digest_info(op->hash, op->in[0].len, info))
		return OCF_FIELD_HASH;
	/* the key is too short for the digest */
	return OCF_FIELD_VALUE + ocf_pk_rows[op->code].size;
}

/* Whether the number recovered from a signature matches the digest. */
static int check_signature(const struct ocf_pk_op *op, struct ocf_pk_plain *p)
{
	struct ocf_pk_result em = { .data = p->em, .size = p->k };
	int err;

	if (op->scheme == OCF_PK_PSS)
		return pss_check(op, p);
	if (op->scheme == OCF_PK_RAW)
		err = ocf_pk_put(&em, op->in[0].data, op->in[0].len);
	else
		err = emsa_pkcs1(op, p->em, p->k);
	return err ?: memcmp(p->em, p->out, p->k) ? -EBADMSG : 0;
}

static int put_whole(struct ocf_pk_op *op, const struct ocf_pk_plain *p)
{
	memcpy(op->out[0].data, p->out, p->k);
	op->out[0].len = p->k;
	return 0;
}

/**
 * ocf_pk_rsa_finish() - make the result from the number that RSA has computed
 * @req: a request that a device is done with
 *
 * Context: process; may sleep.
 * Return: 0, or an error as listed at ocf_pk_done_t.
 */
int ocf_pk_rsa_finish(struct ocf_pk_request *req)
{
	struct ocf_pk_op *op = &req->op;

	if (req->now == op)
		return 0;
	if (op->code == OCF_PK_RSA_VERIFY)
		return check_signature(op, req->plain);
	if (op->code == OCF_PK_RSA_DECRYPT && op->scheme == OCF_PK_PKCS1)
		return unpad_pkcs1(op, req->plain);
	if (op->code == OCF_PK_RSA_DECRYPT && op->scheme == OCF_PK_OAEP)
		return unpad_oaep(op, req->plain);
	if (op->code != OCF_PK_RSA_SIGN && op->scheme == OCF_PK_RAW)
		return ocf_pk_put(&op->out[0], req->plain->out, req->plain->k);
	return put_whole(op, req->plain);
}

/**
 * ocf_pk_rsa_prove() - whether the card has applied the private key correctly
 * @req: a request that a card is done with
 *
 * A wrong result would reveal the key (Boneh, DeMillo, Lipton: On the
 * Importance of Checking Cryptographic Protocols for Faults).
 *
 * Context: process; may sleep.
 * Return: 0, also if this cannot be checked; -EBADMSG; -ENOMEM.
 */
int ocf_pk_rsa_prove(const struct ocf_pk_request *req)
{
	const struct ocf_pk_plain *p = req->plain;
	bool native = req->now == &req->op;
	MPI x, e, n, r, m;
	int err = -ENOMEM;

	/* the device removes the padding, so the number cannot be checked */
	if (!p || !(ocf_pk_rows[req->op.code].flags & OCF_PK_PRIVATE) ||
	    (native && req->op.code == OCF_PK_RSA_DECRYPT))
		return 0;
	x = mpi_read_raw_data(native ? req->op.out[0].data : p->out, p->k);
	e = mpi_read_raw_data(p->key.e, p->key.e_sz);
	n = mpi_read_raw_data(p->key.n, p->k);
	m = mpi_read_raw_data(p->em, p->k);
	r = mpi_alloc(0);
	if (x && e && n && m && r)
		err = mpi_powm(r, x, e, n) ?: mpi_cmp(r, m) ? -EBADMSG : 0;
	mpi_free(r);
	mpi_free(m);
	mpi_free(n);
	mpi_free(e);
	mpi_free(x);
	return err;
}

/* ---- keys ---- */

static int parse_key(const struct ocf_pk_op *op, struct ocf_pk_plain *p)
{
	const struct ocf_pk_row *row = &ocf_pk_rows[op->code];
	const struct ocf_pk_operand *der = &op->in[row->size];
	struct ocf_pk_operand n, e;
	int err;

	err = row->flags & OCF_PK_PRIVATE ?
		      rsa_parse_priv_key(&p->key, der->data, der->len) :
		      rsa_parse_pub_key(&p->key, der->data, der->len);
	if (err)
		return err == -ENOMEM ? err : -EINVAL;
	n = (struct ocf_pk_operand){ p->key.n, p->key.n_sz };
	e = (struct ocf_pk_operand){ p->key.e, p->key.e_sz };
	p->k = ocf_pk_size(&n);
	if (p->k > OCF_PK_NUMBER_MAX)
		return -E2BIG;
	if (p->k < OCF_PK_RSA_MIN || !(n.data[n.len - 1] & 1) || !e.len ||
	    !(e.data[e.len - 1] & 1) ||
	    (ocf_pk_size(&e) == 1 && e.data[e.len - 1] == 1))
		return -EKEYREJECTED;
	p->key.n += n.len - p->k;
	p->key.n_sz = p->k;
	p->bits = 8 * (p->k - 1) + fls(p->key.n[0]);
	return 0;
}

static void fill_in(struct ocf_pk_plain *p, const struct ocf_pk_op *op)
{
	const struct ocf_pk_row *row = &ocf_pk_rows[op->code];

	p->op.code = row->flags & OCF_PK_PRIVATE ? OCF_PK_RSA_DECRYPT :
						   OCF_PK_RSA_ENCRYPT;
	p->op.scheme = OCF_PK_RAW;
	p->op.in[0] = (struct ocf_pk_operand){ p->em, p->k };
	p->op.in[1] = op->in[row->size];
	p->op.out[0] = (struct ocf_pk_result){ p->out, p->k };
}

/* Whether a result that is as long as the modulus fits. */
static bool fits_result(const struct ocf_pk_op *op, u32 k)
{
	return op->code == OCF_PK_RSA_VERIFY ||
	       (op->code == OCF_PK_RSA_DECRYPT && op->scheme) ||
	       op->out[0].size >= k;
}

/* Returns the size of the numbers of an operation other than RSA, in bytes. */
static u32 size_of(const struct ocf_pk_op *op)
{
	static const u8 curve[OCF_PK_CURVES] = {
		[OCF_PK_P256] = 32, [OCF_PK_P384] = 48, [OCF_PK_P521] = 66,
	};

	if (op->code == OCF_PK_X25519)
		return 32;
	if (op->curve)
		return curve[op->curve];
	return ocf_pk_size(&op->in[ocf_pk_rows[op->code].size]) <<
	       (op->code == OCF_PK_MOD_EXP_CRT);
}

/**
 * ocf_pk_rsa_prepare() - put the padding on, where there is one
 * @req: a request that was checked; its class of size is set
 *
 * Context: process; may sleep.
 * Return: 0, or an error that ocf_pk_submit() returns.
 */
int ocf_pk_rsa_prepare(struct ocf_pk_request *req)
{
	const struct ocf_pk_op *op = &req->op;
	const struct ocf_pk_row *row = &ocf_pk_rows[op->code];
	struct ocf_pk_plain *p;
	int err;

	if (!(row->flags & OCF_PK_IS_RSA)) {
		req->class = ocf_pk_class(size_of(op));
		return 0;
	}
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	err = parse_key(op, p);
	if (err) {
		if (err != -ENOMEM)
			req->wrong = OCF_FIELD_VALUE + row->size;
		goto free;
	}
	if (!fits_result(op, p->k)) {
		req->wrong = OCF_FIELD_VALUE + row->in;
		err = -ENOSPC;
		goto free;
	}
	err = pad(op, p);
	if (err == -EINVAL || err == -EDOM)
		req->wrong = find_wrong_in_pad(op);
	if (err)
		goto free;
	fill_in(p, op);
	req->class = ocf_pk_class(p->k);
	req->plain = p;
	return 0;
free:
	kfree_sensitive(p);
	return err;
}

void ocf_pk_rsa_free(struct ocf_pk_request *req)
{
	kfree_sensitive(req->plain);
	req->plain = NULL;
}
