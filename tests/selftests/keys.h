/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CIOCKEY, whose structure is the same in both ABIs.  Include this after the
 * header of one of them.
 */
#ifndef KEYS_H
#define KEYS_H

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define ALL_FEATURES	0x01ff07ff	/* CRK_MOD_EXP to CRK_MOD, ours */

/* The numbers are the same in both headers. */
_Static_assert(CRK_MOD_EXP_CRT == 1 && CRK_DSA_SIGN == 2 &&
	       CRK_DSA_VERIFY == 3 && CRK_DH_COMPUTE_KEY == 4 &&
	       CRK_MOD_ADD == 5 && CRK_MOD_ADDINV == 6 && CRK_MOD_SUB == 7 &&
	       CRK_MOD_MULT == 8 && CRK_MOD_MULTINV == 9 && CRK_MOD == 10 &&
	       CRK_OCF_RSA_SIGN == 16 && CRK_OCF_RSA_VERIFY == 17 &&
	       CRK_OCF_RSA_ENCRYPT == 18 && CRK_OCF_RSA_DECRYPT == 19 &&
	       CRK_OCF_EC_PUBLIC == 20 && CRK_OCF_ECDH == 21 &&
	       CRK_OCF_ECDSA_SIGN == 22 && CRK_OCF_ECDSA_VERIFY == 23 &&
	       CRK_OCF_X25519 == 24 && CRK_OCF(1, 2, 3) == 0x30201 &&
	       CRK_SCHEME_OAEP == 3 && CRK_HASH_RIPEMD160 == 11 &&
	       CRK_CURVE_P521 == 3, "");

static uint8_t kop_result[64];

/* 3 ^ 5 mod 7 is 5 */
static struct crypt_kop small_power(void)
{
	static uint8_t base[] = { 3 }, exponent[] = { 5, 0 }, modulus[] = { 7 };
	struct crypt_kop kop = {
		.crk_op = CRK_MOD_EXP, .crk_iparams = 3, .crk_oparams = 1,
		.crk_param = {
			{ base, 8 }, { exponent, 16 }, { modulus, 3 },
			{ kop_result, 32 },
		},
	};

	memset(kop_result, 0xa5, sizeof(kop_result));
	return kop;
}

static inline int key_call(int fd, unsigned long cmd, struct crypt_kop *kop)
{
	return ioctl(fd, cmd, kop) ? errno : 0;
}

/*
 * Runs small_power().  Returns whether the result is right, and no other byte
 * is written.
 */
static inline int powers(int fd, unsigned long cmd)
{
	static const uint8_t right[] = { 5, 0, 0, 0, 0xa5 };
	struct crypt_kop kop = small_power();

	kop.crk_status = 99;
	return !key_call(fd, cmd, &kop) && !kop.crk_status &&
	       kop.crk_param[3].crp_nbits == 32 &&
	       !memcmp(kop_result, right, sizeof(right));
}

/* A wrong call, and its errno */
struct wrong_key {
	const char *name;
	int err;
	void (*spoil)(struct crypt_kop *kop);
};

#define WRONG(name_, ...)						\
	static void name_(struct crypt_kop *kop) { __VA_ARGS__; }

WRONG(no_such_op, kop->crk_op = 11)
WRONG(no_such_op_of_ours, kop->crk_op = 25)
WRONG(a_huge_op, kop->crk_op = UINT_MAX)
WRONG(a_scheme_for_numbers, kop->crk_op |= 1 << 8)
WRONG(a_curve_for_numbers, kop->crk_op |= 1 << 16)
WRONG(too_few, kop->crk_iparams = 2)
WRONG(too_many, kop->crk_iparams = 4)
WRONG(no_result, kop->crk_oparams = 0)
WRONG(two_results, kop->crk_oparams = 2)
WRONG(nine, kop->crk_iparams = 8)
WRONG(more_than_fit, kop->crk_iparams = kop->crk_oparams = 0xffff)
WRONG(no_operand, kop->crk_param[0].crp_p = NULL)
WRONG(an_empty_operand, kop->crk_param[1].crp_nbits = 0)
WRONG(nowhere_to_put_it, kop->crk_param[3].crp_p = NULL)
WRONG(an_empty_result, kop->crk_param[3].crp_nbits = 0)
WRONG(a_long_operand, kop->crk_param[1].crp_nbits = 8193)
WRONG(a_longer_operand, kop->crk_param[0].crp_nbits = UINT_MAX)
WRONG(a_long_result, kop->crk_param[3].crp_nbits = 8193)
WRONG(a_result_longer_than_keys, kop->crk_param[3].crp_nbits = UINT_MAX)
WRONG(modulo_zero, static uint8_t zero[1]; kop->crk_param[2].crp_p = zero)

/*
 * Returns @len zeros for operands that the kernel reads before it finds them
 * too long.
 */
static inline void *zeros(size_t len)
{
	static void *at;

	if (!at)
		at = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return len <= 1 << 16 ? at : NULL;
}

/* 6 ^ 5 mod 1000 is 776, which does not fit into a byte. */
static void a_short_result(struct crypt_kop *kop)
{
	static uint8_t six[] = { 6 }, thousand[] = { 0xe8, 3 };

	kop->crk_param[0].crp_p = six;
	kop->crk_param[2].crp_p = thousand;
	kop->crk_param[2].crp_nbits = 10;
	kop->crk_param[3].crp_nbits = 8;
}

static const struct wrong_key wrong_keys[] = {
#define IS(name_, err_)	{ #name_, err_, name_ }
	IS(no_such_op, EINVAL),
	IS(no_such_op_of_ours, EINVAL),
	IS(a_huge_op, EINVAL),
	IS(a_scheme_for_numbers, EINVAL),
	IS(a_curve_for_numbers, EINVAL),
	IS(too_few, EINVAL),
	IS(too_many, EINVAL),
	IS(no_result, EINVAL),
	IS(two_results, EINVAL),
	IS(nine, EFBIG),
	IS(more_than_fit, EFBIG),
	IS(no_operand, EFAULT),
	IS(an_empty_operand, EINVAL),
	IS(nowhere_to_put_it, EFAULT),
	IS(an_empty_result, EINVAL),
	IS(a_long_operand, E2BIG),
	IS(a_longer_operand, E2BIG),
	IS(a_long_result, E2BIG),
	IS(a_result_longer_than_keys, E2BIG),
	IS(modulo_zero, EDOM),
	IS(a_short_result, ENOSPC),
#undef IS
};

/*
 * Makes all wrong calls.  Returns the name of the first call whose errno is not
 * the expected one, or "".
 */
static inline const char *wrongly_answered(int fd, unsigned long cmd)
{
	const struct wrong_key *w;
	struct crypt_kop kop;
	size_t i;
	int err;

	for (i = 0; i < sizeof(wrong_keys) / sizeof(*wrong_keys); i++) {
		w = &wrong_keys[i];
		kop = small_power();
		if (w->spoil == a_long_operand)
			kop.crk_param[1].crp_p = zeros(1025);
		w->spoil(&kop);
		err = key_call(fd, cmd, &kop);
		if (err != w->err || kop_result[0] != 0xa5)
			return w->name;
		/*
		 * if the structure could be read, its status is the same errno
		 */
		if (kop.crk_status != (uint32_t)err)
			return w->name;
	}
	return "";
}

#endif /* KEYS_H */
