// SPDX-License-Identifier: GPL-2.0-only
/*
 * FIPS 140: public-key operations that a kernel with fips=1 does not offer.
 */
#include <linux/fips.h>

#include "pk.h"

/*
 * SP 800-186 does not approve X25519 for key agreement, nor FIPS 186-5 DSA for
 * signing.  SP 800-56A approves Diffie-Hellman only in certain named groups.
 * ocf_fips_tell() logs the names of these operations.
 */
#define FORBIDDEN_CODES	(BIT(OCF_PK_X25519) | BIT(OCF_PK_DSA_SIGN) | \
			 BIT(OCF_PK_DH))

/**
 * ocf_fips_codes() - operations that a device may offer
 * @codes: those that its driver offers, a bit each
 *
 * Context: any.
 * Return: those of @codes that may be offered.
 */
u32 ocf_fips_codes(u32 codes)
{
	return fips_enabled ? codes & ~(u32)FORBIDDEN_CODES : codes;
}

/* SP 800-131A: PKCS #1 v1.5 for signatures only; SHA-1 to verify only */
static bool is_allowed(const struct ocf_pk_op *op)
{
	switch (op->code) {
	case OCF_PK_RSA_ENCRYPT:
	case OCF_PK_RSA_DECRYPT:
		if (op->scheme == OCF_PK_PKCS1)
			return false;
		break;
	case OCF_PK_RSA_SIGN:
		if (op->hash == OCF_SHA1)
			return false;
		break;
	default:
		break;
	}
	return !op->hash || ocf_alg_info(op->hash)->flags & OCF_ALG_FIPS;
}

/**
 * ocf_fips_permits() - whether a public-key operation may be done
 * @op: the operation; its code, scheme and hash are valid
 *
 * Context: any.
 */
bool ocf_fips_permits(const struct ocf_pk_op *op)
{
	return !fips_enabled || is_allowed(op);
}
