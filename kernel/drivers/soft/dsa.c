// SPDX-License-Identifier: GPL-2.0-only
/*
 * DSA (FIPS 186-4, section 4).
 */
#include <linux/random.h>
#include <linux/string.h>

#include "pk.h"

#define ORDER_MIN	160	/* bits of q */
#define ORDER_MAX	512
#define TRIES		4	/* one nonce in 2^160 is not suitable */

/* Operands */
enum { DIGEST, P, Q, G, KEY, R, S };

/* Intermediate results */
enum { E = 7, K, B, T, U, COUNT };

static int check_domain(MPI *n)
{
	unsigned int bits = mpi_get_nbits(n[Q]);

	if (bits < ORDER_MIN || bits > ORDER_MAX ||
	    !mpi_test_bit(n[Q], 0) || !mpi_test_bit(n[P], 0) ||
	    mpi_cmp(n[Q], n[P]) >= 0 || mpi_cmp_ui(n[G], 1) <= 0 ||
	    mpi_cmp(n[G], n[P]) >= 0)
		return -EKEYREJECTED;
	return 0;
}

static bool dsa_in_group(MPI n, MPI q)
{
	return mpi_cmp_ui(n, 0) > 0 && mpi_cmp(n, q) < 0;
}

/* The digest as a number: as many of its first bits as q has */
static int dsa_read_digest(MPI e, const struct ocf_pk_operand *digest, MPI q)
{
	unsigned int bits = mpi_get_nbits(q);
	MPI all = soft_read(digest);
	int err;

	if (!all)
		return -ENOMEM;
	err = mpi_rshift(e, all, 8 * digest->len > bits ?
				 8 * digest->len - bits : 0);
	mpi_free(all);
	return err;
}

/* r = n ^ -1 modulo the prime @q, by Fermat */
static int dsa_invert(MPI r, MPI n, MPI q)
{
	MPI exp = soft_zero();
	int err = -ENOMEM;

	if (exp)
		err = mpi_sub_ui(exp, q, 2) ?: mpi_powm(r, n, exp, q);
	mpi_free(exp);
	return err;
}

static int read_into(MPI *n, const u8 *raw, u32 len)
{
	mpi_free(*n);
	*n = mpi_read_raw_data(raw, len);
	return *n ? 0 : -ENOMEM;
}

/*
 * s = (k * b) ^ -1 * (b * e + b * x * r) with a random b.  So steps whose time
 * depends on the numbers get random ones.
 */
static int dsa_make_s(MPI *n)
{
	return mpi_mulm(n[T], n[K], n[B], n[Q])		  ?:
		       dsa_invert(n[U], n[T], n[Q])	  ?:
		       mpi_mulm(n[T], n[KEY], n[B], n[Q]) ?:
		       mpi_mulm(n[S], n[T], n[R], n[Q])	  ?:
		       mpi_mulm(n[T], n[E], n[B], n[Q])	  ?:
		       mpi_addm(n[S], n[S], n[T], n[Q])	  ?:
		       mpi_mulm(n[S], n[S], n[U], n[Q]);
}

/*
 * Computes r and s with the next nonce; both are zero if the nonce is not
 * suitable.
 */
static int try_nonce(MPI *n, struct soft_nonces *nonces, u32 len)
{
	u8 raw[SOFT_ORDER_MAX], one = 1;
	int err;

	err = soft_nonces_next(nonces, raw) ?: read_into(&n[K], raw, len);
	if (!err)
		err = soft_nonces_next(nonces, raw)			     ?:
			      read_into(&n[B], raw, len)		     ?:
			      soft_powm_secret(n[T], n[G], n[K], n[Q], n[P]) ?:
			      read_into(&n[U], &one, 1)			     ?:
			      mpi_mulm(n[R], n[T], n[U], n[Q])		     ?:
			      dsa_make_s(n);
	memzero_explicit(raw, sizeof(raw));
	return err;
}

static int dsa_sign(MPI *n, const struct ocf_pk_operand *digest)
{
	u32 len = DIV_ROUND_UP(mpi_get_nbits(n[Q]), 8);
	struct ocf_pk_result x = { .size = len }, q = { .size = len };
	u8 key[SOFT_ORDER_MAX], order[SOFT_ORDER_MAX];
	struct soft_nonces *nonces;
	int err, left;

	x.data = key;
	q.data = order;
	err = soft_write(&x, n[KEY]) ?: soft_write(&q, n[Q]);
	if (err)
		goto wipe;
	nonces = soft_nonces_start(order, len, key, digest);
	err = PTR_ERR_OR_ZERO(nonces);
	if (err)
		goto wipe;
	/* with some keys no nonce is suitable, ever */
	err = -EKEYREJECTED;
	for (left = TRIES; left && err == -EKEYREJECTED; left--)
		err = try_nonce(n, nonces, len) ?:
		      !mpi_cmp_ui(n[R], 0) || !mpi_cmp_ui(n[S], 0) ?
		      -EKEYREJECTED : 0;
	soft_nonces_end(nonces);
wipe:
	memzero_explicit(key, sizeof(key));
	return err;
}

int soft_dsa_sign(struct ocf_pk_op *op)
{
	MPI n[COUNT];
	int err = soft_load(n, COUNT, op->in, KEY + 1);

	if (!err)
		err = check_domain(n);
	if (!err && !dsa_in_group(n[KEY], n[Q]))
		err = -EKEYREJECTED;
	if (!err)
		err = dsa_read_digest(n[E], &op->in[DIGEST], n[Q]) ?:
			      dsa_sign(n, &op->in[DIGEST])	   ?:
			      soft_write(&op->out[0], n[R])	   ?:
			      soft_write(&op->out[1], n[S]);
	soft_free(n, COUNT);
	return err;
}

/* v = g ^ (e / s) * y ^ (r / s) mod p mod q, into T */
static int make_v(MPI *n)
{
	u8 one = 1;

	return dsa_invert(n[U], n[S], n[Q])		  ?:
		       mpi_mulm(n[T], n[E], n[U], n[Q])	  ?:
		       mpi_powm(n[B], n[G], n[T], n[P])	  ?:
		       mpi_mulm(n[T], n[R], n[U], n[Q])	  ?:
		       mpi_powm(n[K], n[KEY], n[T], n[P]) ?:
		       mpi_mulm(n[U], n[B], n[K], n[P])	  ?:
		       read_into(&n[K], &one, 1)	  ?:
		       mpi_mulm(n[T], n[U], n[K], n[Q]);
}

int soft_dsa_verify(struct ocf_pk_op *op)
{
	MPI n[COUNT];
	int err = soft_load(n, COUNT, op->in, S + 1);

	if (!err)
		err = check_domain(n);
	if (!err && (mpi_cmp_ui(n[KEY], 1) <= 0 ||
		     mpi_cmp(n[KEY], n[P]) >= 0))
		err = -EKEYREJECTED;
	if (!err && (!dsa_in_group(n[R], n[Q]) || !dsa_in_group(n[S], n[Q])))
		err = -EBADMSG;
	if (!err)
		err = dsa_read_digest(n[E], &op->in[DIGEST], n[Q]) ?: make_v(n);
	if (!err && mpi_cmp(n[T], n[R]))
		err = -EBADMSG;
	soft_free(n, COUNT);
	return err;
}
