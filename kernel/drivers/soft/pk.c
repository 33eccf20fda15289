// SPDX-License-Identifier: GPL-2.0-only
/*
 * Public-key operations on the calling CPU.
 */
#include "pk.h"

static int (* const works[OCF_PK_COUNT])(struct ocf_pk_op *op) = {
	[OCF_PK_MOD_EXP]	= soft_mod_exp,
	[OCF_PK_MOD_EXP_CRT]	= soft_mod_exp_crt,
	[OCF_PK_DSA_SIGN]	= soft_dsa_sign,
	[OCF_PK_DSA_VERIFY]	= soft_dsa_verify,
	[OCF_PK_DH]		= soft_dh,
	[OCF_PK_MOD_ADD]	= soft_mod_add,
	[OCF_PK_MOD_NEG]	= soft_mod_neg,
	[OCF_PK_MOD_SUB]	= soft_mod_sub,
	[OCF_PK_MOD_MUL]	= soft_mod_mul,
	[OCF_PK_MOD_INV]	= soft_mod_inv,
	[OCF_PK_MOD]		= soft_mod,
	[OCF_PK_RSA_ENCRYPT]	= soft_rsa_public,
	[OCF_PK_RSA_DECRYPT]	= soft_rsa_private,
	[OCF_PK_EC_PUBLIC]	= soft_ec_public,
	[OCF_PK_ECDH]		= soft_ecdh,
	[OCF_PK_ECDSA_SIGN]	= soft_ecdsa_sign,
	[OCF_PK_ECDSA_VERIFY]	= soft_ecdsa_verify,
	[OCF_PK_X25519]		= soft_x25519,
};

static int soft_pk_submit(struct ocf_pk_request *req)
{
	return works[req->now->code](req->now);
}

const struct ocf_pk_ops soft_pk_ops = {
	/* paddings are the core's */
	.codes = (BIT(OCF_PK_COUNT) - 1) & ~(u32)(BIT(OCF_PK_RSA_SIGN) |
						  BIT(OCF_PK_RSA_VERIFY)),
	.schemes = BIT(OCF_PK_RAW),
	.submit = soft_pk_submit,
};
