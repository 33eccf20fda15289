// SPDX-License-Identifier: GPL-2.0-only
/*
 * RSA of a number.  The core has checked the key, and that the number is less
 * than the modulus.
 */
#include <crypto/internal/rsa.h>

#include "pk.h"

static int parse(struct rsa_key *key, const struct ocf_pk_op *op, bool private)
{
	const struct ocf_pk_operand *der = &op->in[1];
	int err;

	memset(key, 0, sizeof(*key));
	err = private ? rsa_parse_priv_key(key, der->data, der->len) :
			rsa_parse_pub_key(key, der->data, der->len);
	return err && err != -ENOMEM ? -EINVAL : err;
}

int soft_rsa_public(struct ocf_pk_op *op)
{
	struct rsa_key key;
	int err = parse(&key, op, false);
	MPI n[4];

	if (err)
		return err;
	err = soft_load(n, 4, (struct ocf_pk_operand[]){
		op->in[0], { key.e, key.e_sz }, { key.n, key.n_sz }
	}, 3);
	if (!err)
		err = mpi_powm(n[3], n[0], n[1], n[2]) ?:
		      soft_write(&op->out[0], n[3]);
	soft_free(n, 4);
	return err;
}

/* Uses p and q if the key has them. */
static int private(MPI r, MPI x, MPI n, const struct rsa_key *key)
{
	MPI part[6];
	bool crt;
	int err;

	err = soft_load(part, 6, (struct ocf_pk_operand[]){
		{ key->p, key->p_sz }, { key->q, key->q_sz },
		{ key->dp, key->dp_sz }, { key->dq, key->dq_sz },
		{ key->qinv, key->qinv_sz }, { key->d, key->d_sz },
	}, 6);
	if (!err) {
		crt = mpi_cmp_ui(part[0], 1) > 0 &&
		      mpi_cmp_ui(part[1], 1) > 0 &&
		      mpi_cmp_ui(part[2], 0) && mpi_cmp_ui(part[3], 0);
		if (!mpi_cmp_ui(part[5], 0))
			err = -EKEYREJECTED;
		else if (crt)
			err = soft_crt(r, x, part[0], part[1], part[2],
				       part[3], part[4]);
		else
			err = soft_powm_secret(r, x, part[5], NULL, n);
	}
	soft_free(part, 6);
	return err;
}

/*
 * The result is checked: a key whose numbers do not belong together, or a CPU
 * that makes a mistake, would give p and q away (Boneh, DeMillo, Lipton).
 */
int soft_rsa_private(struct ocf_pk_op *op)
{
	struct rsa_key key;
	int err = parse(&key, op, true);
	MPI n[5];

	if (err)
		return err;
	err = soft_load(n, 5, (struct ocf_pk_operand[]){
		op->in[0], { key.e, key.e_sz }, { key.n, key.n_sz }
	}, 3);
	if (!err)
		err = private(n[3], n[0], n[2], &key) ?:
		      mpi_powm(n[4], n[3], n[1], n[2]);
	if (!err && mpi_cmp(n[4], n[0]))
		err = -EKEYREJECTED;
	if (!err)
		err = soft_write(&op->out[0], n[3]);
	soft_free(n, 5);
	memzero_explicit(&key, sizeof(key));
	return err;
}
