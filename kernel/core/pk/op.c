// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operands and results of public-key operations, and the checks of them.
 * The functions here have no side effects.
 */
#include <crypto/ecdh.h>
#include <crypto/internal/ecc.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "../session/alg.h"
#include "pk.h"

#define DIGEST_MAX	64	/* bytes, of SHA-512 */
#define X25519_BYTES	32

const struct ocf_pk_row ocf_pk_rows[OCF_PK_COUNT] = {
	[OCF_PK_MOD_EXP]	= { "mod-exp", 3, 1, 2 },
	[OCF_PK_MOD_EXP_CRT]	= { "mod-exp-crt", 6, 1, 0 },
	[OCF_PK_DSA_SIGN]	= { "dsa-sign", 5, 2, 1, .text = BIT(0) },
	[OCF_PK_DSA_VERIFY]	= { "dsa-verify", 7, 0, 1, .text = BIT(0) },
	[OCF_PK_DH]		= { "dh", 3, 1, 2 },
	[OCF_PK_MOD_ADD]	= { "mod-add", 3, 1, 2 },
	[OCF_PK_MOD_NEG]	= { "mod-neg", 2, 1, 1 },
	[OCF_PK_MOD_SUB]	= { "mod-sub", 3, 1, 2 },
	[OCF_PK_MOD_MUL]	= { "mod-mul", 3, 1, 2 },
	[OCF_PK_MOD_INV]	= { "mod-inv", 2, 1, 1 },
	[OCF_PK_MOD]		= { "mod", 2, 1, 1 },
	[OCF_PK_RSA_SIGN]	= { "rsa-sign", 2, 1, 1,
				    OCF_PK_IS_RSA | OCF_PK_PRIVATE,
				    .text = BIT(0), .key = BIT(1) },
	[OCF_PK_RSA_VERIFY]	= { "rsa-verify", 3, 0, 2, OCF_PK_IS_RSA,
				    .text = BIT(0), .key = BIT(2) },
	[OCF_PK_RSA_ENCRYPT]	= { "rsa-encrypt", 3, 1, 1, OCF_PK_IS_RSA,
				    .text = BIT(0) | BIT(2), .key = BIT(1),
				    .empty = BIT(0) | BIT(2) },
	[OCF_PK_RSA_DECRYPT]	= { "rsa-decrypt", 3, 1, 1,
				    OCF_PK_IS_RSA | OCF_PK_PRIVATE,
				    .text = BIT(2), .key = BIT(1),
				    .empty = BIT(2) },
	[OCF_PK_EC_PUBLIC]	= { "ec-public", 1, 1, 0, OCF_PK_IS_EC },
	[OCF_PK_ECDH]		= { "ecdh", 2, 1, 0, OCF_PK_IS_EC },
	[OCF_PK_ECDSA_SIGN]	= { "ecdsa-sign", 2, 2, 1,
				    OCF_PK_IS_EC, .text = BIT(0) },
	[OCF_PK_ECDSA_VERIFY]	= { "ecdsa-verify", 4, 0, 1, OCF_PK_IS_EC,
				    .text = BIT(0) },
	[OCF_PK_X25519]		= { "x25519", 2, 1, 0 },
};

int ocf_pk_shape(u32 code, u32 *in, u32 *out)
{
	if (code >= OCF_PK_COUNT)
		return -EINVAL;
	code = array_index_nospec(code, OCF_PK_COUNT);
	*in = ocf_pk_rows[code].in;
	*out = ocf_pk_rows[code].out;
	return 0;
}
OCF_EXPORT(ocf_pk_shape);

/* The schemes each RSA operation may have. */
static u32 schemes_of(enum ocf_pk_code code)
{
	u32 both = BIT(OCF_PK_RAW) | BIT(OCF_PK_PKCS1);

	if (code == OCF_PK_RSA_SIGN || code == OCF_PK_RSA_VERIFY)
		return both | BIT(OCF_PK_PSS);
	return both | BIT(OCF_PK_OAEP);
}

static bool is_digest(enum ocf_alg hash)
{
	const struct ocf_alg_info *info = ocf_alg_info(hash);

	return info && info->type == OCF_TYPE_DIGEST && info->impl &&
	       info->digest <= DIGEST_MAX;
}

static bool is_signature(enum ocf_pk_code code)
{
	return code == OCF_PK_RSA_SIGN || code == OCF_PK_RSA_VERIFY;
}

/* Whether the hash is one the operation can have. */
static bool hash_fits(const struct ocf_pk_op *op)
{
	const struct ocf_pk_row *row = &ocf_pk_rows[op->code];
	bool rsa = row->flags & OCF_PK_IS_RSA;

	if (op->hash && !is_digest(op->hash))
		return false;
	if (rsa && op->scheme >= OCF_PK_PSS)
		return op->hash;
	if (rsa && op->scheme == OCF_PK_PKCS1 && is_signature(op->code))
		return true;
	return !op->hash;
}

static u32 operand_limit(const struct ocf_pk_row *row, int i)
{
	if (row->key & BIT(i))
		return OCF_PK_KEY_MAX;
	return OCF_PK_NUMBER_MAX;
}

/* Bytes of a number without the zeros in front. */
u32 ocf_pk_size(const struct ocf_pk_operand *number)
{
	return ocf_pk_number(number->data, number->len).len;
}

static bool is_one_less(struct ocf_pk_operand n, struct ocf_pk_operand p)
{
	u32 carry = 1, i;

	for (i = 1; i <= p.len; i++) {
		if (i <= n.len)
			carry += n.data[n.len - i];
		if ((carry & 0xff) != p.data[p.len - i])
			return false;
		carry >>= 8;
	}
	return n.len <= p.len && !carry;
}

/*
 * Whether 1 < @number < @modulus - 1: other values are invalid, or lie in tiny
 * subgroups (SP 800-56A, 5.6.2.3.1 and 5.7.1.1).  Not all implementations check
 * this.
 */
static bool is_in_group(const struct ocf_pk_operand *number,
			const struct ocf_pk_operand *modulus)
{
	struct ocf_pk_operand n = ocf_pk_number(number->data, number->len);
	struct ocf_pk_operand p = ocf_pk_number(modulus->data, modulus->len);

	if (!n.len || (n.len == 1 && n.data[0] == 1))
		return false;
	if (n.len >= p.len && (n.len > p.len ||
			       memcmp(n.data, p.data, n.len) >= 0))
		return false;
	return !is_one_less(n, p);
}

/* Notes which field causes the error @err. */
static int refuse(u32 *wrong, u32 field, int err)
{
	*wrong = field;
	return err;
}

static int check_dh(const struct ocf_pk_op *op, u32 *wrong)
{
	if (!ocf_pk_size(&op->in[0]))
		return refuse(wrong, OCF_FIELD_VALUE, -EDOM);
	if (!ocf_pk_size(&op->in[2]))
		return refuse(wrong, OCF_FIELD_VALUE + 2, -EDOM);
	if (!is_in_group(&op->in[1], &op->in[2]))
		return refuse(wrong, OCF_FIELD_VALUE + 1, -EKEYREJECTED);
	return 0;
}

static const u8 curve_ids[OCF_PK_CURVES] = {
	[OCF_PK_P256] = ECC_CURVE_NIST_P256,
	[OCF_PK_P384] = ECC_CURVE_NIST_P384,
	[OCF_PK_P521] = ECC_CURVE_NIST_P521,
};

/*
 * Whether @in is a point of the curve (SEC 1, 2.3.4, uncompressed).  The
 * product of a secret and a point off the curve would reveal the secret, and
 * not all implementations check the point.
 */
static int check_point(enum ocf_pk_curve curve, const struct ocf_pk_operand *in)
{
	const struct ecc_curve *c = ecc_get_curve(curve_ids[curve]);
	u32 bytes = DIV_ROUND_UP(c->nbits, 8), digits = c->g.ndigits;
	u64 x[ECC_MAX_DIGITS], y[ECC_MAX_DIGITS];
	struct ecc_point point = ECC_POINT_INIT(x, y, digits);

	if (in->len != 1 + 2 * bytes || in->data[0] != 4)
		return -EKEYREJECTED;
	ecc_digits_from_bytes(in->data + 1, bytes, x, digits);
	ecc_digits_from_bytes(in->data + 1 + bytes, bytes, y, digits);
	return ecc_is_pubkey_valid_partial(c, &point) ? -EKEYREJECTED : 0;
}

/* Whether the peer's value may be used. */
static int check_value(const struct ocf_pk_op *op, u32 *wrong)
{
	switch (op->code) {
	case OCF_PK_DH:
		return check_dh(op, wrong);
	case OCF_PK_ECDH:
	case OCF_PK_ECDSA_VERIFY:
		if (check_point(op->curve, &op->in[1]))
			return refuse(wrong, OCF_FIELD_VALUE + 1,
				      -EKEYREJECTED);
		return 0;
	default:
		return 0;
	}
}

/* Whether padding, curve and hash are those of the operation. */
static int check_kind(const struct ocf_pk_op *op, const struct ocf_pk_row *row,
		      u32 *wrong)
{
	if (row->flags & OCF_PK_IS_RSA ?
	    op->scheme >= OCF_PK_SCHEMES ||
	    !(schemes_of(op->code) & BIT(op->scheme)) : op->scheme)
		return refuse(wrong, OCF_FIELD_SCHEME, -EINVAL);
	if (op->salt && !(row->flags & OCF_PK_IS_RSA))
		return refuse(wrong, OCF_FIELD_SALT, -EINVAL);
	if (row->flags & OCF_PK_IS_EC ?
	    !op->curve || op->curve >= OCF_PK_CURVES : op->curve)
		return refuse(wrong, OCF_FIELD_CURVE, -EINVAL);
	if (!hash_fits(op))
		return refuse(wrong, OCF_FIELD_HASH, -EINVAL);
	return 0;
}

/* Whether operands and results have lengths that the operation can have. */
static int check_value_lengths(const struct ocf_pk_op *op,
			       const struct ocf_pk_row *row, u32 *wrong)
{
	u32 value = OCF_FIELD_VALUE;
	int i;

	for (i = 0; i < row->in; i++, value++) {
		if (!op->in[i].len ? !(row->empty & BIT(i)) : !op->in[i].data)
			return refuse(wrong, value, -EINVAL);
		if (op->in[i].len > operand_limit(row, i))
			return refuse(wrong, value, -E2BIG);
	}
	for (i = 0; i < row->out; i++, value++) {
		if (!op->out[i].data || !op->out[i].size)
			return refuse(wrong, value, -EINVAL);
		if (op->out[i].size > OCF_PK_NUMBER_MAX)
			return refuse(wrong, value, -E2BIG);
	}
	if (is_signature(op->code) && op->hash &&
	    op->in[0].len != ocf_alg_info(op->hash)->digest)
		return refuse(wrong, OCF_FIELD_VALUE, -EINVAL);
	if (op->code != OCF_PK_X25519)
		return 0;
	for (i = 0; i < row->in; i++)
		if (op->in[i].len != X25519_BYTES)
			return refuse(wrong, OCF_FIELD_VALUE + i, -EINVAL);
	return 0;
}

/**
 * ocf_pk_check_result() - whether a shared secret may be used
 * @op: an operation that was done
 *
 * Context: any.
 * Return: 0 or -EKEYREJECTED: the peer's value was of a small group.
 */
int ocf_pk_check_result(const struct ocf_pk_op *op)
{
	struct ocf_pk_operand out = { op->out[0].data, op->out[0].len };

	switch (op->code) {
	case OCF_PK_DH:
		return is_in_group(&out, &op->in[2]) ? 0 : -EKEYREJECTED;
	case OCF_PK_X25519:
		/* RFC 7748, section 6.1 */
		return memchr_inv(out.data, 0, out.len) ? 0 : -EKEYREJECTED;
	default:
		return 0;
	}
}

/**
 * ocf_pk_check() - whether an operation makes sense
 * @op: the operation
 * @wrong: set after an error: the field or operand that caused it, OCF_FIELD_*
 *
 * Context: any.
 * Return: 0; -EINVAL; -E2BIG for an operand that is too large; -EPERM for a
 * hash that is weak and not allowed, or for what FIPS 140 forbids; -EDOM or
 * -EKEYREJECTED for a peer's value that must not be used.
 */
int ocf_pk_check(const struct ocf_pk_op *op, u32 *wrong)
{
	const struct ocf_pk_row *row;
	int err;

	if (op->code >= OCF_PK_COUNT)
		return refuse(wrong, OCF_FIELD_CODE, -EINVAL);
	row = &ocf_pk_rows[op->code];
	err = check_kind(op, row, wrong) ?: check_value_lengths(op, row, wrong);
	if (err)
		return err;
	if (op->hash && !ocf_alg_permitted(op->hash))
		return refuse(wrong, OCF_FIELD_HASH, -EPERM);
	if (!ocf_fips_permits(op))
		return refuse(wrong, op->hash ? OCF_FIELD_HASH :
						OCF_FIELD_SCHEME, -EPERM);
	return check_value(op, wrong);
}

static const u16 classes[OCF_PK_CLASSES] = {
	32, 48, 66, 128, 256, 384, 512, OCF_PK_NUMBER_MAX
};

/* Returns the largest size of a number in @class, in bytes. */
u32 ocf_pk_class_bytes(unsigned int class)
{
	return classes[class];
}

/**
 * ocf_pk_class() - the class of size that costs are kept for
 * @bytes: of the modulus, or of the curve's numbers
 *
 * Context: any.
 * Return: 0 to OCF_PK_CLASSES - 1.
 */
unsigned int ocf_pk_class(u32 bytes)
{
	unsigned int i;

	for (i = 0; i < OCF_PK_CLASSES - 1; i++)
		if (bytes <= classes[i])
			break;
	return i;
}

/* Wipes the results of an operation that failed. */
void ocf_pk_wipe(struct ocf_pk_op *op)
{
	int i;

	for (i = 0; i < ocf_pk_rows[op->code].out; i++) {
		memzero_explicit(op->out[i].data, op->out[i].size);
		op->out[i].len = 0;
	}
}

int ocf_pk_put(struct ocf_pk_result *out, const u8 *data, u32 len)
{
	struct ocf_pk_operand n = ocf_pk_number(data, len);

	if (n.len > out->size)
		return -ENOSPC;
	memset(out->data, 0, out->size - n.len);
	memcpy(out->data + out->size - n.len, n.data, n.len);
	out->len = out->size;
	return 0;
}
OCF_EXPORT(ocf_pk_put);
