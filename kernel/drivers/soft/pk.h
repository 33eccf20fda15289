/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cryptosoft0: public-key operations, by the kernel's own libraries.
 *
 * pk.c divides requests by operation.  mod.c is arithmetic and exponentiation
 * on MPIs, dsa.c and ec.c are what the names say, and nonce.c makes the nonces
 * of both.  docs/public-key.md says how far secrets are protected.
 */
#ifndef OCF_SOFT_PK_H
#define OCF_SOFT_PK_H

#include <linux/mpi.h>
#include <linux/ocf_driver.h>
#include <linux/ocf_pk.h>

#include "../../compat.h"

#define SOFT_ORDER_MAX	66	/* bytes of a group's order */

/*
 * Zero, with memory: mpi_mul() reports a lack of memory for two zeros without
 * memory.
 */
static inline MPI soft_zero(void)
{
	return mpi_alloc(1);
}

/* Whether all numbers could be allocated. */
static inline bool soft_all(MPI *n, int count)
{
	while (count--)
		if (!n[count])
			return false;
	return true;
}

extern const struct ocf_pk_ops soft_pk_ops;

/* mod.c */
MPI soft_read(const struct ocf_pk_operand *in);
int soft_write(struct ocf_pk_result *out, MPI n);
void soft_free(MPI *n, int count);
int soft_load(MPI *n, int total, const struct ocf_pk_operand *in, int count);
int soft_powm_secret(MPI r, MPI base, MPI exp, MPI order, MPI mod);
int soft_crt(MPI r, MPI x, MPI p, MPI q, MPI dp, MPI dq, MPI qinv);
int soft_mod_exp(struct ocf_pk_op *op);
int soft_mod_exp_crt(struct ocf_pk_op *op);
int soft_dh(struct ocf_pk_op *op);
int soft_mod_add(struct ocf_pk_op *op);
int soft_mod_neg(struct ocf_pk_op *op);
int soft_mod_sub(struct ocf_pk_op *op);
int soft_mod_mul(struct ocf_pk_op *op);
int soft_mod_inv(struct ocf_pk_op *op);
int soft_mod(struct ocf_pk_op *op);

/* rsa.c */
int soft_rsa_public(struct ocf_pk_op *op);
int soft_rsa_private(struct ocf_pk_op *op);

/* dsa.c */
int soft_dsa_sign(struct ocf_pk_op *op);
int soft_dsa_verify(struct ocf_pk_op *op);

/* ec.c */
int soft_ec_public(struct ocf_pk_op *op);
int soft_ecdh(struct ocf_pk_op *op);
int soft_ecdsa_sign(struct ocf_pk_op *op);
int soft_ecdsa_verify(struct ocf_pk_op *op);
int soft_x25519(struct ocf_pk_op *op);

/* nonce.c */
struct soft_nonces;
struct soft_nonces *soft_nonces_start(const u8 *order, u32 len,
				      const u8 *secret,
				      const struct ocf_pk_operand *digest);
int soft_nonces_next(struct soft_nonces *nonces, u8 *out);
void soft_nonces_end(struct soft_nonces *nonces);

#endif /* OCF_SOFT_PK_H */
