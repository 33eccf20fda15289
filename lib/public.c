// SPDX-License-Identifier: BSD-2-Clause
/*
 * Public-key operations.
 */
#include <limits.h>
#include <string.h>

#include "crypt.h"
#include "ocf/public.h"

/* How many operands and results each has */
static const struct {
	uint8_t in, out;
} shapes[OCF_PK_COUNT] = {
	[OCF_PK_MOD_EXP]	= { 3, 1 },
	[OCF_PK_MOD_EXP_CRT]	= { 6, 1 },
	[OCF_PK_DSA_SIGN]	= { 5, 2 },
	[OCF_PK_DSA_VERIFY]	= { 7, 0 },
	[OCF_PK_DH]		= { 3, 1 },
	[OCF_PK_MOD_ADD]	= { 3, 1 },
	[OCF_PK_MOD_NEG]	= { 2, 1 },
	[OCF_PK_MOD_SUB]	= { 3, 1 },
	[OCF_PK_MOD_MUL]	= { 3, 1 },
	[OCF_PK_MOD_INV]	= { 2, 1 },
	[OCF_PK_MOD]		= { 2, 1 },
	[OCF_PK_RSA_SIGN]	= { 2, 1 },
	[OCF_PK_RSA_VERIFY]	= { 3, 0 },
	[OCF_PK_RSA_ENCRYPT]	= { 3, 1 },
	[OCF_PK_RSA_DECRYPT]	= { 3, 1 },
	[OCF_PK_EC_PUBLIC]	= { 1, 1 },
	[OCF_PK_ECDH]		= { 2, 1 },
	[OCF_PK_ECDSA_SIGN]	= { 2, 2 },
	[OCF_PK_ECDSA_VERIFY]	= { 4, 0 },
	[OCF_PK_X25519]		= { 2, 1 },
};

static bool put_name(char *to, size_t room, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (len >= room)
		return false;
	if (len)
		memcpy(to, name, len);
	return true;
}

static bool put_value(struct ocf_pk_value *v, const struct iovec *iov)
{
	*v = (struct ocf_pk_value){
		.addr = addr(iov->iov_base), .len = iov->iov_len,
	};
	return iov->iov_len <= UINT_MAX;
}

/* Fills in @c.  Returns the field of @op that does not fit in, or 0. */
static uint32_t put_command(const struct ocf_public *op, uint64_t cookie,
			    struct ocf_pk_value *values,
			    struct ocf_pk_command *c)
{
	unsigned int i, n = 0;

	if ((unsigned int)op->code >= OCF_PK_COUNT)
		return OCF_FIELD_CODE;
	if ((unsigned int)op->scheme > UCHAR_MAX)
		return OCF_FIELD_SCHEME;
	if ((unsigned int)op->curve > UCHAR_MAX)
		return OCF_FIELD_CURVE;
	if ((unsigned int)op->policy > UCHAR_MAX)
		return OCF_FIELD_POLICY;
	*c = (struct ocf_pk_command){
		.cookie = cookie, .op = OCF_OP_PUBLIC_KEY,
		.scheme = op->scheme, .curve = op->curve, .policy = op->policy,
		.code = op->code, .in = shapes[op->code].in,
		.out = shapes[op->code].out, .flags = op->flags,
		.salt = op->salt, .values = addr(values),
	};
	for (i = 0; i < c->in; i++, n++)
		if (!put_value(&values[n], &op->in[i]))
			return OCF_FIELD_VALUE + n;
	for (i = 0; i < c->out; i++, n++)
		if (!put_value(&values[n], &op->out[i]))
			return OCF_FIELD_VALUE + n;
	if (!put_name(c->hash, sizeof(c->hash), op->hash))
		return OCF_FIELD_HASH;
	return put_name(c->device, sizeof(c->device), op->device) ?
	       OCF_FIELD_NONE : OCF_FIELD_DEVICE;
}

int ocf_public_command(const struct ocf_public *op, uint64_t cookie,
		       struct ocf_pk_value *values, struct ocf_pk_command *c)
{
	uint32_t wrong = put_command(op, cookie, values, c);

	return crypt_remember(wrong ? -EINVAL : 0, wrong);
}

int ocf_public_run(struct ocf *ocf, const struct ocf_public *op)
{
	struct ocf_pk_value values[OCF_PUBLIC_IN_MAX + OCF_PUBLIC_OUT_MAX];
	union {
		struct ocf_pk_command	public;
		struct ocf_command	command;
	} c;
	int err = ocf_public_command(op, 0, values, &c.public);

	return err ? err : ocf_run(ocf, &c.command);
}
