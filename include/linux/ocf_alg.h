/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OCF for Linux: the algorithms, and facts about them.
 */
#ifndef _LINUX_OCF_ALG_H
#define _LINUX_OCF_ALG_H

#include <linux/bits.h>
#include <linux/types.h>

/*
 * enum ocf_alg - all algorithms
 *
 * User space never sees these numbers: each ABI has its own.  The table in
 * kernel/core/session/alg.c has those, and the sizes, names and policy.
 */
enum ocf_alg {
	OCF_ALG_NONE,
	/* ciphers */
	OCF_NULL_CIPHER,
	OCF_AES_CBC,
	OCF_AES_CTR,
	OCF_AES_ECB,
	OCF_AES_XTS,
	OCF_DES3_CBC,
	OCF_DES_CBC,
	OCF_CAMELLIA_CBC,
	OCF_BLOWFISH_CBC,
	OCF_CAST5_CBC,
	OCF_CHACHA20,
	/* authenticated encryption */
	OCF_AES_GCM,
	OCF_AES_CCM,
	OCF_SM4_CCM,
	OCF_SM4_GCM,
	OCF_ARIA_GCM,
	OCF_CHACHA20_POLY1305,
	/* digests; BLAKE2 takes a key if there is one */
	OCF_MD5,
	OCF_SHA1,
	OCF_SHA224,
	OCF_SHA256,
	OCF_SHA384,
	OCF_SHA512,
	OCF_SHA3_224,
	OCF_SHA3_256,
	OCF_SHA3_384,
	OCF_SHA3_512,
	OCF_RIPEMD160,
	OCF_BLAKE2B,
	OCF_BLAKE2S,
	/* message authentication codes */
	OCF_NULL_MAC,
	OCF_HMAC_MD5,
	OCF_HMAC_SHA1,
	OCF_HMAC_SHA224,
	OCF_HMAC_SHA256,
	OCF_HMAC_SHA384,
	OCF_HMAC_SHA512,
	OCF_HMAC_SHA3_224,
	OCF_HMAC_SHA3_256,
	OCF_HMAC_SHA3_384,
	OCF_HMAC_SHA3_512,
	OCF_HMAC_RIPEMD160,
	OCF_AES_CMAC,
	OCF_AES_GMAC,
	/* compression */
	OCF_DEFLATE,
	OCF_ALG_COUNT
};

/* Whether an algorithm is CCM, whose nonce limits the length of the data */
static inline bool ocf_alg_is_ccm(enum ocf_alg alg)
{
	return alg == OCF_AES_CCM || alg == OCF_SM4_CCM;
}

/**
 * struct ocf_alg_info - facts about an algorithm
 * @name: its name in OCF, for instance "aes-cbc"
 * @impl: its name in the kernel's crypto API, for instance "cbc(aes)", or NULL
 * @type: its type
 * @flags: OCF_ALG_*
 * @key_min: bytes
 * @key_max: bytes
 * @key_step: keys are @key_min + n * @key_step bytes
 * @block: the length of the data must be a multiple of this, bytes
 * @iv: bytes of IV or nonce, the usual length
 * @iv_min: bytes, where there is a choice
 * @iv_max: bytes, where there is a choice
 * @iv_step: IVs are @iv_min + n * @iv_step bytes
 * @digest: bytes of a digest, MAC or tag; 0 if it has none
 * @tags: bit n - 1 is set if the MAC or tag may have n bytes
 * @linux_id: its number in the cryptodev-linux ABI, or 0
 * @bsd_id: its number in the FreeBSD and OpenBSD ABI, or 0
 */
struct ocf_alg_info {
	const char	*name;
	const char	*impl;
	enum ocf_alg_type {
		OCF_TYPE_NONE,
		OCF_TYPE_CIPHER,
		OCF_TYPE_AEAD,
		OCF_TYPE_DIGEST,
		OCF_TYPE_MAC,
		OCF_TYPE_COMPRESS,
	}		type;
#define OCF_ALG_WEAK	BIT(0)	/* off until the administrator allows it */
#define OCF_ALG_ROUNDS	BIT(1)	/* has a choice of rounds: 12, 20 */
#define OCF_ALG_CHAINS	BIT(2)	/* allows OCF_REQ_NEXT_IV */
#define OCF_ALG_PARTS	BIT(3)	/* allows OCF_REQ_UPDATE */
#define OCF_ALG_FIPS	BIT(4)	/* is allowed with fips=1 */
	u32		flags;
	u64		tags;
	u16		key_min;
	u16		key_max;
	u8		key_step;
	u8		block;
	u8		iv;
	u8		iv_min;
	u8		iv_max;
	u8		iv_step;
	u8		digest;
	u8		linux_id;
	u8		bsd_id;
};

/* ABIs that have their own numbers for algorithms */
enum ocf_abi {
	OCF_ABI_LINUX,		/* cryptodev-linux */
	OCF_ABI_BSD,		/* FreeBSD, OpenBSD */
};

/**
 * ocf_alg_info() - read facts about an algorithm
 * @alg: the algorithm
 *
 * Context: any.
 * Return: the facts, or NULL if there is no such algorithm.
 */
const struct ocf_alg_info *ocf_alg_info(enum ocf_alg alg);

/**
 * ocf_alg_by_id() - find an algorithm by its number in an ABI
 * @abi: the ABI
 * @id: the number
 *
 * Context: any.
 * Return: the algorithm, or OCF_ALG_NONE.
 */
enum ocf_alg ocf_alg_by_id(enum ocf_abi abi, u32 id);

/**
 * ocf_alg_by_name() - find an algorithm by its name in OCF
 * @name: the name, for instance "aes-cbc"
 * @len: bytes of the name, without a NUL
 *
 * Context: any.
 * Return: the algorithm, or OCF_ALG_NONE.
 */
enum ocf_alg ocf_alg_by_name(const char *name, size_t len);

#endif /* _LINUX_OCF_ALG_H */
