// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arithmetic modulo a number, by the kernel's MPIs.
 *
 * The time of mpi_powm() depends on the exponent, and that of mpi_mulm() on the
 * factors.  So secrets are never given to them unchanged.  An exponent gets a
 * random multiple of the group's order added, or is split into two.  A modulus
 * gets a random factor, which makes all intermediate values random (A. Shamir,
 * US patent 5,991,415, now free; C. Clavier et al.: Universal Exponentiation
 * Algorithm, CHES 2001).
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "pk.h"

#define BLIND	8	/* bytes of a random factor */

/* ---- numbers ---- */

MPI soft_read(const struct ocf_pk_operand *in)
{
	return mpi_read_raw_data(in->data, in->len);
}

/**
 * soft_write() - put a number into a result
 * @out: where to
 * @n: the number, not negative
 *
 * Return: 0; -ENOSPC if it does not fit; -ENOMEM.
 */
int soft_write(struct ocf_pk_result *out, MPI n)
{
	unsigned int len;
	u8 *raw = mpi_get_buffer(n, &len, NULL);
	int err;

	if (!raw)
		return -ENOMEM;
	err = ocf_pk_put(out, raw, len);
	kfree_sensitive(raw);
	return err;
}

void soft_free(MPI *n, int count)
{
	while (count--)
		mpi_free(n[count]);
}

/**
 * soft_load() - convert operands to numbers, and make room for more
 * @n: to be freed by soft_free() in any case
 * @total: how many; those without an operand are zero
 * @in: the operands
 * @count: how many operands
 *
 * Return: 0 or -ENOMEM.
 */
int soft_load(MPI *n, int total, const struct ocf_pk_operand *in, int count)
{
	int i;

	for (i = 0; i < total; i++)
		n[i] = i < count ? soft_read(&in[i]) : soft_zero();
	return soft_all(n, total) ? 0 : -ENOMEM;
}

/* A random odd number with its first bit set, or NULL */
static MPI random_factor(void)
{
	u8 raw[BLIND];
	MPI n;

	get_random_bytes(raw, sizeof(raw));
	raw[0] |= 0x80;
	raw[BLIND - 1] |= 1;
	n = mpi_read_raw_data(raw, sizeof(raw));
	memzero_explicit(raw, sizeof(raw));
	return n;
}

/* ---- exponentiation ---- */

/* A random number below @below; all are practically as likely. */
static int random_below(MPI r, MPI below)
{
	u32 len = mpi_get_size(below) + BLIND;
	u8 *raw = kmalloc(len, GFP_KERNEL);
	MPI wide, one;
	u8 byte = 1;
	int err = -ENOMEM;

	if (!raw)
		return err;
	get_random_bytes(raw, len);
	wide = mpi_read_raw_data(raw, len);
	one = mpi_read_raw_data(&byte, 1);
	kfree_sensitive(raw);
	if (wide && one)
		err = mpi_mulm(r, wide, one, below);
	mpi_free(wide);
	mpi_free(one);
	return err;
}

/* r = base ^ exp modulo @mod, by two exponents that are both random */
static int powm_split(MPI r, MPI base, MPI exp, MPI mod)
{
	MPI n[] = { soft_zero(), soft_zero(), soft_zero(), soft_zero() };
	int err = -ENOMEM;

	if (soft_all(n, 4))
		err = random_below(n[0], exp) ?:
		      mpi_sub(n[1], exp, n[0]) ?:
		      mpi_powm(n[2], base, n[0], mod) ?:
		      mpi_powm(n[3], base, n[1], mod) ?:
		      mpi_mulm(r, n[2], n[3], mod);
	soft_free(n, 4);
	return err;
}

/* r = base ^ (exp + k * order) modulo @mod, with a random k */
static int powm_added(MPI r, MPI base, MPI exp, MPI order, MPI mod)
{
	MPI n[] = { random_factor(), soft_zero(), soft_zero() };
	int err = -ENOMEM;

	if (soft_all(n, 3))
		err = mpi_mul(n[1], n[0], order) ?:
		      mpi_add(n[2], n[1], exp) ?:
		      mpi_powm(r, base, n[2], mod);
	soft_free(n, 3);
	return err;
}

/* r = n mod m */
static int mod_reduce(MPI r, MPI n, MPI m)
{
	u8 byte = 1;
	MPI one = mpi_read_raw_data(&byte, 1);
	int err = one ? mpi_mulm(r, n, one, m) : -ENOMEM;

	mpi_free(one);
	return err;
}

/**
 * soft_powm_secret() - raise to a secret power
 * @r: base ^ exp modulo @mod; must not be one of the others
 * @base: secret or not
 * @exp: secret
 * @order: a multiple of the order of @base, or NULL if none is known
 * @mod: the modulus, not zero
 *
 * Return: 0 or -ENOMEM.
 */
int soft_powm_secret(MPI r, MPI base, MPI exp, MPI order, MPI mod)
{
	MPI n[] = { random_factor(), soft_zero(), soft_zero() };
	int err = -ENOMEM;

	if (soft_all(n, 3)) {
		err = mpi_mul(n[1], mod, n[0]);
		if (!err)
			err = order ? powm_added(n[2], base, exp, order, n[1]) :
				      powm_split(n[2], base, exp, n[1]);
		if (!err)
			err = mod_reduce(r, n[2], mod);
	}
	soft_free(n, 3);
	return err;
}

/* The same if the caller guarantees that @p is a prime */
static int powm_prime(MPI r, MPI base, MPI exp, MPI p)
{
	MPI order = soft_zero();
	int err = -ENOMEM;

	if (order)
		err = mpi_sub_ui(order, p, 1) ?:
		      soft_powm_secret(r, base, exp, order, p);
	mpi_free(order);
	return err;
}

/**
 * soft_crt() - raise to a secret power by the Chinese remainder theorem
 * @r: x ^ d mod p * q; must not be one of the others
 * @x: the base
 * @p: a prime
 * @q: a prime
 * @dp: d mod p - 1, not zero
 * @dq: d mod q - 1, not zero
 * @qinv: q ^ -1 mod p
 *
 * RFC 8017 section 5.1.2, 2 b.
 *
 * Return: 0 or -ENOMEM.
 */
int soft_crt(MPI r, MPI x, MPI p, MPI q, MPI dp, MPI dq, MPI qinv)
{
	MPI n[] = { soft_zero(), soft_zero(), soft_zero() };
	int err = -ENOMEM;

	if (soft_all(n, 3))
		err = powm_prime(n[0], x, dp, p) ?:
		      powm_prime(n[1], x, dq, q) ?:
		      mpi_subm(n[2], n[0], n[1], p) ?:
		      mpi_mulm(n[0], n[2], qinv, p) ?:
		      mpi_mul(n[2], n[0], q) ?:
		      mpi_add(r, n[2], n[1]);
	soft_free(n, 3);
	return err;
}

static bool is_zero(MPI n)
{
	return !mpi_cmp_ui(n, 0);
}

/*
 * Exponents that fit into a word are public ones.  All others may be secret,
 * since the interface does not say.
 */
static int powm(MPI r, MPI base, MPI exp, MPI mod)
{
	if (mpi_get_nbits(exp) <= BITS_PER_LONG)
		return mpi_powm(r, base, exp, mod);
	return soft_powm_secret(r, base, exp, NULL, mod);
}

/* ---- operations: numbers are operands in their order, then the result ---- */

int soft_mod_exp(struct ocf_pk_op *op)
{
	MPI n[4];
	int err = soft_load(n, 4, op->in, 3);

	if (!err && is_zero(n[2]))
		err = -EDOM;
	if (!err)
		err = powm(n[3], n[0], n[1], n[2]) ?:
		      soft_write(&op->out[0], n[3]);
	soft_free(n, 4);
	return err;
}

int soft_mod_exp_crt(struct ocf_pk_op *op)
{
	MPI n[7];
	int err = soft_load(n, 7, op->in, 6);

	if (!err && (is_zero(n[0]) || is_zero(n[1]) || is_zero(n[3]) ||
		     is_zero(n[4])))
		err = -EDOM;
	if (!err)
		err = soft_crt(n[6], n[2], n[0], n[1], n[3], n[4], n[5]) ?:
		      soft_write(&op->out[0], n[6]);
	soft_free(n, 7);
	return err;
}

/* The core checks the public value, and the result. */
int soft_dh(struct ocf_pk_op *op)
{
	MPI n[4];
	int err = soft_load(n, 4, op->in, 3);

	if (!err)
		err = soft_powm_secret(n[3], n[1], n[0], NULL, n[2]) ?:
		      soft_write(&op->out[0], n[3]);
	soft_free(n, 4);
	return err;
}

static int two_to_one(struct ocf_pk_op *op,
		      int (*work)(MPI r, MPI a, MPI b, MPI m))
{
	MPI n[4];
	int err = soft_load(n, 4, op->in, 3);

	if (!err && is_zero(n[2]))
		err = -EDOM;
	if (!err)
		err = work(n[3], n[0], n[1], n[2]) ?:
		      soft_write(&op->out[0], n[3]);
	soft_free(n, 4);
	return err;
}

int soft_mod_add(struct ocf_pk_op *op)
{
	return two_to_one(op, mpi_addm);
}

int soft_mod_sub(struct ocf_pk_op *op)
{
	return two_to_one(op, mpi_subm);
}

int soft_mod_mul(struct ocf_pk_op *op)
{
	return two_to_one(op, mpi_mulm);
}

static int one_to_one(struct ocf_pk_op *op, int (*work)(MPI r, MPI a, MPI m))
{
	MPI n[3];
	int err = soft_load(n, 3, op->in, 2);

	if (!err && is_zero(n[1]))
		err = -EDOM;
	if (!err)
		err = work(n[2], n[0], n[1]) ?: soft_write(&op->out[0], n[2]);
	soft_free(n, 3);
	return err;
}

static int negate(MPI r, MPI a, MPI m)
{
	MPI zero = soft_zero();
	int err = zero ? mpi_subm(r, zero, a, m) : -ENOMEM;

	mpi_free(zero);
	return err;
}

int soft_mod_neg(struct ocf_pk_op *op)
{
	return one_to_one(op, negate);
}

int soft_mod(struct ocf_pk_op *op)
{
	return one_to_one(op, mod_reduce);
}

/* ---- the inverse ---- */

/* One of the two numbers, as a sum of multiples of the original two */
struct line {
	MPI	n;		/* = a * x + b * y */
	MPI	a, b;
};

/*
 * Divides @l->n by 2 until it is odd, and changes @l->a and @l->b with it.  @x
 * and @y are not both even.
 */
static int halve(struct line *l, MPI x, MPI y)
{
	int err = 0;

	while (!err && !mpi_test_bit(l->n, 0)) {
		err = mpi_rshift(l->n, l->n, 1);
		if (!err && (mpi_test_bit(l->a, 0) || mpi_test_bit(l->b, 0)))
			err = mpi_add(l->a, l->a, y) ?: mpi_sub(l->b, l->b, x);
		if (!err)
			err = mpi_rshift(l->a, l->a, 1) ?:
			      mpi_rshift(l->b, l->b, 1);
		cond_resched();
	}
	return err;
}

static int subtract(struct line *l, const struct line *from)
{
	return mpi_sub(l->n, l->n, from->n) ?: mpi_sub(l->a, l->a, from->a) ?:
	       mpi_sub(l->b, l->b, from->b);
}

/* Handbook of Applied Cryptography, algorithm 14.61; @u->n is x, @v->n y. */
static int euclid(struct line *u, struct line *v, MPI x, MPI y)
{
	int err = 0;

	while (!err && !is_zero(u->n)) {
		err = halve(u, x, y) ?: halve(v, x, y);
		if (!err)
			err = mpi_cmp(u->n, v->n) >= 0 ? subtract(u, v) :
							 subtract(v, u);
	}
	return err;
}

static MPI small(u8 byte)
{
	return mpi_read_raw_data(&byte, 1);
}

/* r = a ^ -1 mod m; the time that takes is no secret */
static int mod_invert(MPI r, MPI a, MPI m)
{
	MPI x = soft_zero(), zero = small(0);
	struct line u = { soft_zero(), small(1), small(0) };
	struct line v = { soft_zero(), small(0), small(1) };
	MPI all[] = { x, zero, u.n, u.a, u.b, v.n, v.a, v.b };
	int err = -ENOMEM;

	if (soft_all(all, ARRAY_SIZE(all)))
		err = mod_reduce(x, a, m)	    ?:
			      mpi_add(u.n, x, zero) ?:
						      mpi_add(v.n, m, zero);
	if (!err && (is_zero(x) ||
		     (!mpi_test_bit(x, 0) && !mpi_test_bit(m, 0))))
		err = -EDOM;
	if (!err)
		err = euclid(&u, &v, x, m);
	if (!err && mpi_cmp_ui(v.n, 1))
		err = -EDOM;
	if (!err)
		err = mpi_subm(r, v.a, zero, m);
	soft_free(all, ARRAY_SIZE(all));
	return err;
}

int soft_mod_inv(struct ocf_pk_op *op)
{
	return one_to_one(op, mod_invert);
}
