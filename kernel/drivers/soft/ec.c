// SPDX-License-Identifier: GPL-2.0-only
/*
 * ECDH and ECDSA on the curves of NIST, and X25519.
 *
 * crypto_ecdh_shared_secret() multiplies a secret number with a point: in the
 * same steps whatever its bits, and in random coordinates.  For P-521 see
 * multiply_in_two().
 */
#include <crypto/curve25519.h>
#include <crypto/ecdh.h>
#include <crypto/internal/ecc.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "pk.h"

#define POINT_MAX	(1 + 2 * SOFT_ORDER_MAX)

/**
 * struct group - a curve
 * @id: the kernel's number
 * @bytes: of its numbers
 * @digits: the same in words
 */
struct group {
	u8	id;
	u8	bytes;
	u8	digits;
};

static const struct group groups[OCF_PK_CURVES] = {
	[OCF_PK_P256] = { ECC_CURVE_NIST_P256, 32, ECC_CURVE_NIST_P256_DIGITS },
	[OCF_PK_P384] = { ECC_CURVE_NIST_P384, 48, ECC_CURVE_NIST_P384_DIGITS },
	[OCF_PK_P521] = { ECC_CURVE_NIST_P521, 66, ECC_CURVE_NIST_P521_DIGITS },
};

static const struct ecc_curve *curve_of(const struct group *g)
{
	return ecc_get_curve(g->id);
}

/* ---- numbers: digits, the least significant first ---- */

/* -ERANGE if @in is longer than the curve's numbers. */
static int read_number(const struct group *g, u64 *n,
		       const struct ocf_pk_operand *in)
{
	u8 raw[ECC_MAX_BYTES];
	struct ocf_pk_result out = { .data = raw, .size = g->bytes };
	int err = ocf_pk_put(&out, in->data, in->len);

	if (!err)
		ecc_digits_from_bytes(raw, g->bytes, n, g->digits);
	memzero_explicit(raw, sizeof(raw));
	return err ? -ERANGE : 0;
}

/*
 * Writes a number as octets, for the kernel's interfaces: as many as the digits
 * have
 */
static void put_digits(const struct group *g, const u64 *n, void *out)
{
	ecc_swap_digits(n, out, g->digits);
}

static int write_octets(const struct group *g, struct ocf_pk_result *out,
			const void *octets)
{
	return ocf_pk_put(out, octets, g->digits * sizeof(u64));
}

static int write_number(const struct group *g, struct ocf_pk_result *out,
			const u64 *n)
{
	u64 octets[ECC_MAX_DIGITS];
	int err;

	put_digits(g, n, octets);
	err = write_octets(g, out, octets);
	memzero_explicit(octets, sizeof(octets));
	return err;
}

/* r = a + (b & mask) */
static void add(u64 *r, const u64 *a, const u64 *b, u64 mask,
		unsigned int digits)
{
	unsigned int i;
	u128 sum = 0;

	for (i = 0; i < digits; i++) {
		sum = (sum >> 64) + a[i] + (b[i] & mask);
		r[i] = sum;
	}
}

/* r = a + b mod m; both are less than m */
static void add_mod(u64 *r, const u64 *a, const u64 *b, const u64 *m,
		    unsigned int digits)
{
	u64 rest[ECC_MAX_DIGITS];

	vli_sub(rest, m, b, digits);
	/* a - (m - b), plus m if that is negative */
	add(r, r, m, 0 - vli_sub(r, a, rest, digits), digits);
}

static bool ec_in_group(const u64 *n, const struct ecc_curve *c)
{
	return !vli_is_zero(n, c->g.ndigits) &&
	       vli_cmp(n, c->n, c->g.ndigits) < 0;
}

/* ---- keys ---- */

static int read_private(const struct group *g, u64 *key,
			const struct ocf_pk_operand *in)
{
	if (read_number(g, key, in) ||
	    ecc_is_key_valid(g->id, g->digits, key, g->digits * sizeof(u64)))
		return -EKEYREJECTED;
	return 0;
}

/*
 * SEC 1 section 2.3.4, uncompressed; the core has checked that it is a point.
 */
static void read_public(const struct group *g, struct ecc_point *point,
			const struct ocf_pk_operand *in)
{
	ecc_digits_from_bytes(in->data + 1, g->bytes, point->x, g->digits);
	ecc_digits_from_bytes(in->data + 1 + g->bytes, g->bytes, point->y,
			      g->digits);
}

/*
 * The point @n * generator, as octets.  On P-521 the library goes through the
 * bits of n + 2 * order, and assumes that bit 522 of this sum is set.  It is
 * not set if n is less than about 2^260.  The order is added to such an n, in
 * constant time.
 */
static int make_public(const struct group *g, const u64 *n, u64 *octets)
{
	const u64 *order = curve_of(g)->n;
	u64 sum[ECC_MAX_DIGITS];
	int err;

	if (g->id != ECC_CURVE_NIST_P521) {
		err = ecc_make_pub_key(g->id, g->digits, n, octets);
	} else {
		add(sum, n, order, ~0ULL, g->digits);
		add(sum, sum, order, ~0ULL, g->digits);
		add(sum, n, order, (sum[522 / 64] >> 522 % 64 & 1) - 1,
		    g->digits);
		err = ecc_make_pub_key(g->id, g->digits, sum, octets);
		memzero_explicit(sum, sizeof(sum));
	}
	return err == -EAGAIN ? -EIO : err;
}

/*
 * The x coordinate of @n * generator, as octets.  This avoids the library's
 * random coordinates.
 */
static int multiply_generator(const struct group *g, const u64 *n, u64 *out)
{
	u64 octets[2 * ECC_MAX_DIGITS];
	int err = make_public(g, n, octets);

	memcpy(out, octets, g->digits * sizeof(u64));
	return err;
}

/* A random number of the group, from 2 to its order less 3 */
static void random_number(const struct group *g, u64 *n)
{
	u32 bits = vli_num_bits(curve_of(g)->n, g->digits);
	u8 raw[SOFT_ORDER_MAX];

	do {
		get_random_bytes(raw, g->bytes);
		raw[0] &= 0xff >> (8 * g->bytes - bits);
		ecc_digits_from_bytes(raw, g->bytes, n, g->digits);
	} while (ecc_is_key_valid(g->id, g->digits, n,
				  g->digits * sizeof(u64)));
	memzero_explicit(raw, sizeof(raw));
}

/*
 * On P-521 the library's random coordinates are not in the field, and
 * crypto_ecdh_shared_secret() gives wrong results.  It also gives wrong results
 * if the x coordinate of a point is zero.  In both cases b * (a * point) is
 * computed instead, with a random a and b = n / a.  The time that takes depends
 * on random numbers only.
 */
static int multiply_in_two(const struct group *g, const u64 *n,
			   const struct ecc_point *point, u64 *out)
{
	const struct ecc_curve *c = curve_of(g);
	static const u64 zero[ECC_MAX_DIGITS];
	u64 a[ECC_MAX_DIGITS], b[ECC_MAX_DIGITS];
	u64 x[2][ECC_MAX_DIGITS], y[2][ECC_MAX_DIGITS];
	struct ecc_point r[2] = {
		ECC_POINT_INIT(x[0], y[0], g->digits),
		ECC_POINT_INIT(x[1], y[1], g->digits),
	};

	/* the library can only add two different points */
	if (!vli_cmp(point->x, c->g.x, g->digits))
		return multiply_generator(g, n, out);
	do {
		random_number(g, a);
		vli_mod_inv(b, a, c->n, g->digits);
		vli_mod_mult_slow(b, n, b, c->n, g->digits);
		ecc_point_mult_shamir(&r[0], a, point, zero, &c->g, c);
	} while (!vli_cmp(r[0].x, c->g.x, g->digits));
	ecc_point_mult_shamir(&r[1], b, &r[0], zero, &c->g, c);
	put_digits(g, r[1].x, out);
	memzero_explicit(a, sizeof(a));
	memzero_explicit(b, sizeof(b));
	memzero_explicit(x, sizeof(x));
	memzero_explicit(y, sizeof(y));
	return 0;
}

/* The x coordinate of @n * @point, as octets */
static int multiply(const struct group *g, const u64 *n,
		    const struct ecc_point *point, u64 *out)
{
	u64 octets[2 * ECC_MAX_DIGITS];
	int err;

	if (g->id == ECC_CURVE_NIST_P521 || vli_is_zero(point->x, g->digits))
		return multiply_in_two(g, n, point, out);
	put_digits(g, point->x, octets);
	put_digits(g, point->y, octets + g->digits);
	err = crypto_ecdh_shared_secret(g->id, g->digits, n, octets, out);
	return err == -ENOMEM ? err : err ? -EKEYREJECTED : 0;
}

int soft_ec_public(struct ocf_pk_op *op)
{
	const struct group *g = &groups[op->curve];
	u32 skip = g->digits * sizeof(u64) - g->bytes;
	u64 key[ECC_MAX_DIGITS], octets[2 * ECC_MAX_DIGITS];
	struct ocf_pk_result *out = &op->out[0];
	int err = read_private(g, key, &op->in[0]);

	if (!err && out->size < 1 + 2 * g->bytes)
		err = -ENOSPC;
	if (!err)
		err = make_public(g, key, octets);
	if (!err) {
		out->data[0] = 4;
		memcpy(out->data + 1, (u8 *)octets + skip, g->bytes);
		memcpy(out->data + 1 + g->bytes,
		       (u8 *)(octets + g->digits) + skip, g->bytes);
		out->len = 1 + 2 * g->bytes;
	}
	memzero_explicit(key, sizeof(key));
	return err;
}

int soft_ecdh(struct ocf_pk_op *op)
{
	const struct group *g = &groups[op->curve];
	u64 key[ECC_MAX_DIGITS], x[ECC_MAX_DIGITS], y[ECC_MAX_DIGITS];
	struct ecc_point peer = ECC_POINT_INIT(x, y, g->digits);
	u64 secret[ECC_MAX_DIGITS];
	int err;

	read_public(g, &peer, &op->in[1]);
	err = read_private(g, key, &op->in[0]) ?:
	      multiply(g, key, &peer, secret) ?:
	      write_octets(g, &op->out[0], secret);
	memzero_explicit(key, sizeof(key));
	memzero_explicit(secret, sizeof(secret));
	return err;
}

/* ---- ECDSA: FIPS 186-5, section 6.4 ---- */

/* The digest as a number: as many of its first bits as the order has */
static int ec_read_digest(const struct group *g, u64 *e,
			  const struct ocf_pk_operand *digest)
{
	const struct ecc_curve *c = curve_of(g);
	struct ocf_pk_operand first = *digest;

	/*
	 * The order of P-521 is not a whole number of octets, so a longer
	 * digest cannot be cut at an octet.
	 */
	if (first.len > min_t(u32, g->bytes, 64)) {
		if (g->id == ECC_CURVE_NIST_P521)
			return -EINVAL;
		first.len = g->bytes;
	}
	read_number(g, e, &first);
	if (vli_cmp(e, c->n, g->digits) >= 0)
		vli_sub(e, e, c->n, g->digits);
	return 0;
}

/**
 * struct signature - a signature that is being made
 * @e: the digest
 * @key: the private key
 * @k: the nonce
 * @b: another random number
 * @r: first part of the signature
 * @s: second part
 * @t: an intermediate result
 */
struct signature {
	u64 e[ECC_MAX_DIGITS];
	u64 key[ECC_MAX_DIGITS];
	u64 k[ECC_MAX_DIGITS];
	u64 b[ECC_MAX_DIGITS];
	u64 r[ECC_MAX_DIGITS];
	u64 s[ECC_MAX_DIGITS];
	u64 t[ECC_MAX_DIGITS];
};

/* x modulo the order, which is nearly as large as the field */
static void reduce_x(const struct group *g, const u64 *octets, u64 *r)
{
	const struct ecc_curve *c = curve_of(g);

	ecc_swap_digits(octets, r, g->digits);
	if (vli_cmp(r, c->n, g->digits) >= 0)
		vli_sub(r, r, c->n, g->digits);
}

/* s = (k * b) ^ -1 * (b * e + b * x * r), as in dsa.c */
static void ec_make_s(const struct group *g, struct signature *w)
{
	const u64 *n = curve_of(g)->n;
	unsigned int d = g->digits;

	vli_mod_mult_slow(w->t, w->key, w->b, n, d);
	vli_mod_mult_slow(w->s, w->t, w->r, n, d);
	vli_mod_mult_slow(w->t, w->e, w->b, n, d);
	add_mod(w->s, w->s, w->t, n, d);
	vli_mod_mult_slow(w->t, w->k, w->b, n, d);
	vli_mod_inv(w->t, w->t, n, d);
	vli_mod_mult_slow(w->s, w->s, w->t, n, d);
}

static int next_number(const struct group *g, struct soft_nonces *nonces,
		       u64 *n)
{
	u8 raw[SOFT_ORDER_MAX];
	int err;

	do {
		err = soft_nonces_next(nonces, raw);
		ecc_digits_from_bytes(raw, g->bytes, n, g->digits);
	} while (!err && ecc_is_key_valid(g->id, g->digits, n,
					  g->digits * sizeof(u64)));
	memzero_explicit(raw, sizeof(raw));
	return err;
}

static int ec_sign(const struct group *g, struct signature *w,
		   struct soft_nonces *nonces)
{
	const struct ecc_curve *c = curve_of(g);
	int err;

	do {
		err = next_number(g, nonces, w->k) ?:
		      next_number(g, nonces, w->b) ?:
		      multiply(g, w->k, &c->g, w->t);
		if (err)
			return err;
		reduce_x(g, w->t, w->r);
		ec_make_s(g, w);
	} while (vli_is_zero(w->r, g->digits) || vli_is_zero(w->s, g->digits));
	return 0;
}

static struct soft_nonces *start_nonces(const struct group *g,
					const struct signature *w,
					const struct ocf_pk_operand *digest)
{
	u32 skip = g->digits * sizeof(u64) - g->bytes;
	u64 order[ECC_MAX_DIGITS], key[ECC_MAX_DIGITS];
	struct soft_nonces *nonces;

	put_digits(g, curve_of(g)->n, order);
	put_digits(g, w->key, key);
	nonces = soft_nonces_start((u8 *)order + skip, g->bytes,
				   (u8 *)key + skip, digest);
	memzero_explicit(key, sizeof(key));
	return nonces;
}

int soft_ecdsa_sign(struct ocf_pk_op *op)
{
	struct signature *w = kzalloc(sizeof(*w), GFP_KERNEL);
	const struct group *g = &groups[op->curve];
	struct soft_nonces *nonces;
	int err;

	if (!w)
		return -ENOMEM;
	err = read_private(g, w->key, &op->in[1]) ?:
		      ec_read_digest(g, w->e, &op->in[0]);
	if (!err) {
		nonces = start_nonces(g, w, &op->in[0]);
		err = PTR_ERR_OR_ZERO(nonces);
	}
	if (!err) {
		err = ec_sign(g, w, nonces)			 ?:
			      write_number(g, &op->out[0], w->r) ?:
			      write_number(g, &op->out[1], w->s);
		soft_nonces_end(nonces);
	}
	kfree_sensitive(w);
	return err;
}

/*
 * The x coordinate of u1 * G + u2 * Q. The library computes both products at
 * once and adds G and Q first, which it cannot if Q is G or its negative.
 */
static int combine(const struct group *g, const u64 *u1, const u64 *u2,
		   const struct ecc_point *q, u64 *x)
{
	const struct ecc_curve *c = curve_of(g);
	u64 y[ECC_MAX_DIGITS], sum[ECC_MAX_DIGITS];
	struct ecc_point point = ECC_POINT_INIT(x, y, g->digits);
	int err;

	if (vli_cmp(q->x, c->g.x, g->digits)) {
		ecc_point_mult_shamir(&point, u1, &c->g, u2, q, c);
		return 0;
	}
	if (vli_cmp(q->y, c->g.y, g->digits))
		vli_sub(sum, c->n, u2, g->digits);
	else
		memcpy(sum, u2, sizeof(sum));
	add_mod(sum, u1, sum, c->n, g->digits);
	if (ecc_is_key_valid(g->id, g->digits, sum, g->digits * sizeof(u64)))
		return -EBADMSG;
	err = multiply(g, sum, &c->g, y);
	if (!err)
		ecc_swap_digits(y, x, g->digits);
	return err;
}

/*
 * The same as a * (u1 / a * G + u2 / a * Q), with a random a.  The library adds
 * wrongly if an intermediate sum is one of the two points.  An attacker could
 * choose the numbers so; with a random a that does not work.
 */
static void combine_anew(const struct group *g, const u64 *u1, const u64 *u2,
			 const struct ecc_point *q, u64 *x)
{
	const struct ecc_curve *c = curve_of(g);
	static const u64 zero[ECC_MAX_DIGITS];
	u64 a[ECC_MAX_DIGITS], b[ECC_MAX_DIGITS], v1[ECC_MAX_DIGITS];
	u64 v2[ECC_MAX_DIGITS], sx[ECC_MAX_DIGITS], y[ECC_MAX_DIGITS];
	struct ecc_point sum = ECC_POINT_INIT(sx, y, g->digits);
	struct ecc_point out = ECC_POINT_INIT(x, v1, g->digits);

	random_number(g, a);
	vli_mod_inv(b, a, c->n, g->digits);
	vli_mod_mult_slow(v1, u1, b, c->n, g->digits);
	vli_mod_mult_slow(v2, u2, b, c->n, g->digits);
	ecc_point_mult_shamir(&sum, v1, &c->g, v2, q, c);
	ecc_point_mult_shamir(&out, a, &sum, zero, &c->g, c);
}

/* Whether @x is r modulo the order. */
static bool is_r(const struct group *g, const struct signature *w, u64 *x)
{
	const struct ecc_curve *c = curve_of(g);

	if (vli_cmp(x, c->n, g->digits) >= 0)
		vli_sub(x, x, c->n, g->digits);
	return !vli_cmp(x, w->r, g->digits);
}

static int verify(const struct group *g, struct signature *w,
		  const struct ecc_point *q)
{
	const struct ecc_curve *c = curve_of(g);
	u64 x[ECC_MAX_DIGITS] = {};
	int err;

	if (!ec_in_group(w->r, c) || !ec_in_group(w->s, c))
		return -EBADMSG;
	vli_mod_inv(w->t, w->s, c->n, g->digits);
	vli_mod_mult_slow(w->k, w->e, w->t, c->n, g->digits);
	vli_mod_mult_slow(w->b, w->r, w->t, c->n, g->digits);
	err = combine(g, w->k, w->b, q, x);
	if (err || is_r(g, w, x))
		return err;
	if (!vli_cmp(q->x, c->g.x, g->digits))
		return -EBADMSG;
	combine_anew(g, w->k, w->b, q, x);
	return is_r(g, w, x) ? 0 : -EBADMSG;
}

int soft_ecdsa_verify(struct ocf_pk_op *op)
{
	const struct group *g = &groups[op->curve];
	struct signature *w = kzalloc(sizeof(*w), GFP_KERNEL);
	u64 x[ECC_MAX_DIGITS], y[ECC_MAX_DIGITS];
	struct ecc_point q = ECC_POINT_INIT(x, y, g->digits);
	int err;

	if (!w)
		return -ENOMEM;
	read_public(g, &q, &op->in[1]);
	err = ec_read_digest(g, w->e, &op->in[0]);
	if (!err && (read_number(g, w->r, &op->in[2]) ||
		     read_number(g, w->s, &op->in[3])))
		err = -EBADMSG;
	if (!err)
		err = verify(g, w, &q);
	kfree(w);
	return err;
}

/* ---- RFC 7748 ---- */

int soft_x25519(struct ocf_pk_op *op)
{
	struct ocf_pk_result *out = &op->out[0];

	if (out->size < CURVE25519_KEY_SIZE)
		return -ENOSPC;
	/* a point of a small group gives all zeros: section 6.1 */
	if (!curve25519(out->data, op->in[0].data, op->in[1].data))
		return -EKEYREJECTED;
	out->len = CURVE25519_KEY_SIZE;
	return 0;
}
