// SPDX-License-Identifier: GPL-2.0-only
/*
 * The algorithm table: all that is known of an algorithm is in its row.
 *
 * Sizes are in bytes and from the standards named in docs/algorithms.md; ids
 * from cryptodev-linux' <crypto/cryptodev.h> (200 and up are ours) and from
 * FreeBSD's <opencrypto/cryptodev.h>.
 *
 * This file has no other state than the policy and is also compiled for user
 * space by tests/unit.
 */
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/ocf.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "../../compat.h"
#include "alg.h"

/* key lengths from min to max in steps */
#define KEY(min, max, step)	.key_min = (min), .key_max = (max), \
				.key_step = (step)
/* an IV of one length, or of lengths from min to max in steps */
#define IV_CHOICE(n, min, max, step) \
				.iv = (n), .iv_min = (min), .iv_max = (max), \
				.iv_step = (step)
#define IV(n)			IV_CHOICE(n, n, n, 1)
/* a tag of n bytes is bit n - 1 */
#define TAG(n)			BIT_ULL((n) - 1)
#define TAGS(min, max)		GENMASK_ULL((max) - 1, (min) - 1)
#define IDS(linux_, bsd_)	.linux_id = (linux_), .bsd_id = (bsd_)

#define CIPHER(name_, impl_, block_, ...) \
	{ .name = (name_), .impl = (impl_), .type = OCF_TYPE_CIPHER, \
	  .block = (block_), __VA_ARGS__ }
#define AEAD(name_, impl_, tags_, ...) \
	{ .name = (name_), .impl = (impl_), .type = OCF_TYPE_AEAD, \
	  .block = 1, .digest = 16, .tags = (tags_), __VA_ARGS__ }
#define DIGEST(name_, impl_, len_, flags_, ...) \
	{ .name = (name_), .impl = (impl_), .type = OCF_TYPE_DIGEST, \
	  .block = 1, .digest = (len_), .tags = TAGS(4, len_), \
	  .flags = OCF_ALG_PARTS | (flags_), __VA_ARGS__ }
#define MAC(name_, impl_, len_, flags_, ...) \
	{ .name = (name_), .impl = (impl_), .type = OCF_TYPE_MAC, \
	  .block = 1, .digest = (len_), .tags = TAGS(4, len_), \
	  .flags = OCF_ALG_PARTS | (flags_), __VA_ARGS__ }
/* RFC 2104 takes any key, also none */
#define HMAC(name_, impl_, len_, flags_, ...) \
	MAC(name_, impl_, len_, flags_, KEY(0, OCF_MACKEY_MAX, 1), __VA_ARGS__)

static const struct ocf_alg_info algs[OCF_ALG_COUNT] = {
	[OCF_NULL_CIPHER] = CIPHER("null", NULL, 1,
		KEY(0, 64, 1), IDS(16, 16), .flags = OCF_ALG_FIPS),
	[OCF_AES_CBC] = CIPHER("aes-cbc", "cbc(aes)", 16,
		KEY(16, 32, 8), IV(16), IDS(11, 11),
		.flags = OCF_ALG_FIPS | OCF_ALG_CHAINS),
	[OCF_AES_CTR] = CIPHER("aes-ctr", "ctr(aes)", 1,
		KEY(16, 32, 8), IV(16), IDS(21, 23),
		.flags = OCF_ALG_FIPS | OCF_ALG_CHAINS),
	[OCF_AES_ECB] = CIPHER("aes-ecb", "ecb(aes)", 16,
		KEY(16, 32, 8), IDS(23, 0), .flags = OCF_ALG_FIPS),
	[OCF_AES_XTS] = CIPHER("aes-xts", "xts(aes)", 16,
		KEY(32, 64, 16), IV_CHOICE(16, 8, 16, 8), IDS(22, 22),
		.flags = OCF_ALG_FIPS),
	[OCF_DES3_CBC] = CIPHER("des3-cbc", "cbc(des3_ede)", 8,
		KEY(24, 24, 1), IV(8), IDS(2, 2), .flags = OCF_ALG_CHAINS),
	[OCF_DES_CBC] = CIPHER("des-cbc", "cbc(des)", 8,
		KEY(8, 8, 1), IV(8), IDS(1, 1),
		.flags = OCF_ALG_CHAINS | OCF_ALG_WEAK),
	[OCF_CAMELLIA_CBC] = CIPHER("camellia-cbc", "cbc(camellia)", 16,
		KEY(16, 32, 8), IV(16), IDS(101, 21), .flags = OCF_ALG_CHAINS),
	[OCF_BLOWFISH_CBC] = CIPHER("blowfish-cbc", "cbc(blowfish)", 8,
		KEY(4, 56, 1), IV(8), IDS(3, 3), .flags = OCF_ALG_CHAINS),
	[OCF_CAST5_CBC] = CIPHER("cast5-cbc", "cbc(cast5)", 8,
		KEY(5, 16, 1), IV(8), IDS(4, 4), .flags = OCF_ALG_CHAINS),
	[OCF_CHACHA20] = CIPHER("chacha20", "chacha20", 1,
		KEY(32, 32, 1), IV(16), IDS(200, 31),
		.flags = OCF_ALG_ROUNDS | OCF_ALG_CHAINS),

	[OCF_AES_GCM] = AEAD("aes-gcm", "gcm(aes)",
		TAG(4) | TAG(8) | TAGS(12, 16),
		KEY(16, 32, 8), IV(12), IDS(50, 25), .flags = OCF_ALG_FIPS),
	[OCF_AES_CCM] = AEAD("aes-ccm", "ccm(aes)",
		TAG(4) | TAG(6) | TAG(8) | TAG(10) | TAG(12) | TAG(14) |
		TAG(16),
		KEY(16, 32, 8), IV_CHOICE(12, 7, 13, 1), IDS(51, 40),
		.flags = OCF_ALG_FIPS),
	[OCF_SM4_CCM] = AEAD("sm4-ccm", "ccm(sm4)",
		TAG(4) | TAG(6) | TAG(8) | TAG(10) | TAG(12) | TAG(14) |
		TAG(16),
		KEY(16, 16, 1), IV_CHOICE(12, 7, 13, 1)),
	[OCF_SM4_GCM] = AEAD("sm4-gcm", "gcm(sm4)",
		TAG(4) | TAG(8) | TAGS(12, 16), KEY(16, 16, 1), IV(12)),
	[OCF_ARIA_GCM] = AEAD("aria-gcm", "gcm(aria)",
		TAG(4) | TAG(8) | TAGS(12, 16), KEY(16, 32, 8), IV(12)),
	[OCF_CHACHA20_POLY1305] = AEAD("chacha20-poly1305",
		"rfc7539(chacha20,poly1305)", TAG(16),
		KEY(32, 32, 1), IV(12), IDS(201, 41)),

	[OCF_MD5] = DIGEST("md5", "md5", 16, OCF_ALG_WEAK,
		IDS(13, 13)),
	[OCF_SHA1] = DIGEST("sha1", "sha1", 20, OCF_ALG_FIPS,
		IDS(14, 14)),
	[OCF_SHA224] = DIGEST("sha224", "sha224", 28, OCF_ALG_FIPS,
		IDS(103, 34)),
	[OCF_SHA256] = DIGEST("sha256", "sha256", 32, OCF_ALG_FIPS,
		IDS(104, 35)),
	[OCF_SHA384] = DIGEST("sha384", "sha384", 48, OCF_ALG_FIPS,
		IDS(105, 36)),
	[OCF_SHA512] = DIGEST("sha512", "sha512", 64, OCF_ALG_FIPS,
		IDS(106, 37)),
	[OCF_SHA3_224] = DIGEST("sha3-224", "sha3-224", 28, OCF_ALG_FIPS,
		IDS(202, 0)),
	[OCF_SHA3_256] = DIGEST("sha3-256", "sha3-256", 32, OCF_ALG_FIPS,
		IDS(203, 0)),
	[OCF_SHA3_384] = DIGEST("sha3-384", "sha3-384", 48, OCF_ALG_FIPS,
		IDS(204, 0)),
	[OCF_SHA3_512] = DIGEST("sha3-512", "sha3-512", 64, OCF_ALG_FIPS,
		IDS(205, 0)),
	[OCF_RIPEMD160] = DIGEST("ripemd160", "rmd160", 20, 0,
		IDS(102, 33)),
	[OCF_BLAKE2B] = DIGEST("blake2b", "blake2b-512", 64, 0,
		KEY(0, 64, 1), IDS(210, 29)),
	[OCF_BLAKE2S] = DIGEST("blake2s", "blake2s-256", 32, 0,
		KEY(0, 32, 1), IDS(211, 30)),

	[OCF_NULL_MAC] = MAC("null-mac", NULL, 16, OCF_ALG_FIPS,
		KEY(0, OCF_MACKEY_MAX, 1), IDS(214, 15)),
	[OCF_HMAC_MD5] = HMAC("hmac-md5", "hmac(md5)", 16, OCF_ALG_WEAK,
		IDS(6, 6)),
	[OCF_HMAC_SHA1] = HMAC("hmac-sha1", "hmac(sha1)", 20,
		OCF_ALG_FIPS, IDS(7, 7)),
	[OCF_HMAC_SHA224] = HMAC("hmac-sha224", "hmac(sha224)", 28,
		OCF_ALG_FIPS, IDS(107, 32)),
	[OCF_HMAC_SHA256] = HMAC("hmac-sha256", "hmac(sha256)", 32,
		OCF_ALG_FIPS, IDS(18, 18)),
	[OCF_HMAC_SHA384] = HMAC("hmac-sha384", "hmac(sha384)", 48,
		OCF_ALG_FIPS, IDS(19, 19)),
	[OCF_HMAC_SHA512] = HMAC("hmac-sha512", "hmac(sha512)", 64,
		OCF_ALG_FIPS, IDS(20, 20)),
	[OCF_HMAC_SHA3_224] = HMAC("hmac-sha3-224", "hmac(sha3-224)", 28,
		OCF_ALG_FIPS, IDS(206, 0)),
	[OCF_HMAC_SHA3_256] = HMAC("hmac-sha3-256", "hmac(sha3-256)", 32,
		OCF_ALG_FIPS, IDS(207, 0)),
	[OCF_HMAC_SHA3_384] = HMAC("hmac-sha3-384", "hmac(sha3-384)", 48,
		OCF_ALG_FIPS, IDS(208, 0)),
	[OCF_HMAC_SHA3_512] = HMAC("hmac-sha3-512", "hmac(sha3-512)", 64,
		OCF_ALG_FIPS, IDS(209, 0)),
	[OCF_HMAC_RIPEMD160] = HMAC("hmac-ripemd160", "hmac(rmd160)", 20, 0,
		IDS(8, 8)),
	[OCF_AES_CMAC] = MAC("aes-cmac", "cmac(aes)", 16, OCF_ALG_FIPS,
		KEY(16, 32, 8), IDS(212, 0)),
	[OCF_AES_GMAC] = MAC("aes-gmac", "ghash", 16, OCF_ALG_FIPS,
		KEY(16, 32, 8), IV(12), IDS(213, 24)),

	[OCF_DEFLATE] = { .name = "deflate", .impl = "deflate",
		.type = OCF_TYPE_COMPRESS, .block = 1, .flags = OCF_ALG_FIPS },
};

static_assert(OCF_ALG_COUNT <= 64, "a set of algorithms is one word");

const struct ocf_alg_info *ocf_alg_info(enum ocf_alg alg)
{
	if ((unsigned int)alg >= OCF_ALG_COUNT || !algs[alg].name)
		return NULL;
	return &algs[alg];
}
OCF_EXPORT(ocf_alg_info);

enum ocf_alg ocf_alg_by_id(enum ocf_abi abi, u32 id)
{
	unsigned int alg;

	if (!id)
		return OCF_ALG_NONE;
	for (alg = 1; alg < OCF_ALG_COUNT; alg++)
		if ((abi == OCF_ABI_LINUX ? algs[alg].linux_id :
					    algs[alg].bsd_id) == id)
			return alg;
	return OCF_ALG_NONE;
}
OCF_EXPORT(ocf_alg_by_id);

enum ocf_alg ocf_alg_by_name(const char *name, size_t len)
{
	unsigned int alg;

	for (alg = 1; alg < OCF_ALG_COUNT; alg++)
		if (strlen(algs[alg].name) == len &&
		    !strncmp(algs[alg].name, name, len))
			return alg;
	return OCF_ALG_NONE;
}
OCF_EXPORT(ocf_alg_by_name);

void ocf_counter_add(u8 *iv, u32 blocks)
{
	u64 low = get_unaligned_be64(iv + 8), sum = low + blocks;

	put_unaligned_be64(sum, iv + 8);
	if (sum < low)
		put_unaligned_be64(get_unaligned_be64(iv) + 1, iv);
}
OCF_EXPORT(ocf_counter_add);

/* Weak algorithms that the administrator allows, a bit each. */
static u64 weak_allowed;

bool ocf_alg_permitted(enum ocf_alg alg)
{
	return alg == OCF_ALG_NONE || !(algs[alg].flags & OCF_ALG_WEAK) ||
	       READ_ONCE(weak_allowed) & BIT_ULL(alg);
}

static bool add_word(u64 *set, u64 of, const char *word, size_t n)
{
	unsigned int alg = ocf_alg_by_name(word, n);

	if (alg && of & BIT_ULL(alg)) {
		*set |= BIT_ULL(alg);
		return true;
	}
	if (n == 3 && !strncmp(word, "all", n)) {
		*set |= of;
		return true;
	}
	return n == 4 && !strncmp(word, "none", n);
}

/**
 * ocf_algs_parse() - read a set of algorithms
 * @list: "all", "none", or names with commas between
 * @of: those that may be named, a bit each
 * @set: is filled in
 *
 * Context: any.
 * Return: 0, or -EINVAL and @set is as it was.
 */
int ocf_algs_parse(const char *list, u64 of, u64 *set)
{
	u64 found = 0;
	size_t n;

	if (!*list || !strcmp(list, "\n"))
		list = "none";
	do {
		n = strcspn(list, ",\n");
		if (!add_word(&found, of, list, n))
			return -EINVAL;
		list += n;
	} while (*list++ == ',');
	if (list[-1] && *list)
		return -EINVAL;
	*set = found;
	return 0;
}

/**
 * ocf_algs_show() - write a set of algorithms
 * @set: a bit each
 * @buf: where to
 * @size: room there, bytes
 *
 * The text has the format that ocf_algs_parse() reads.
 *
 * Context: any.
 * Return: bytes written.
 */
int ocf_algs_show(u64 set, char *buf, size_t size)
{
	unsigned int alg;
	int n = 0;

	for (alg = 1; alg < OCF_ALG_COUNT; alg++)
		if (set & BIT_ULL(alg))
			n += scnprintf(buf + n, size - n, "%s%s",
				       n ? "," : "", algs[alg].name);
	if (!n)
		n = scnprintf(buf, size, "none");
	return n + scnprintf(buf + n, size - n, "\n");
}

u64 ocf_algs_with(u32 flag)
{
	unsigned int alg;
	u64 set = 0;

	for (alg = 1; alg < OCF_ALG_COUNT; alg++)
		if (algs[alg].flags & flag)
			set |= BIT_ULL(alg);
	return set;
}

int ocf_weak_set(const char *list)
{
	u64 allowed;
	int err = ocf_algs_parse(list, ocf_algs_with(OCF_ALG_WEAK), &allowed);

	if (!err)
		WRITE_ONCE(weak_allowed, allowed);
	return err;
}

int ocf_weak_show(char *buf, size_t size)
{
	return ocf_algs_show(READ_ONCE(weak_allowed), buf, size);
}
