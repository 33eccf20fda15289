// SPDX-License-Identifier: GPL-2.0-only
/*
 * FIPS 140: what a kernel that was started with fips=1 does not offer.
 *
 * The kernel's crypto API keeps such a list for its own algorithms.  Ours is
 * for every device, also for a card that knows nothing of fips=1.  For
 * algorithms that the kernel has, our list agrees with the kernel's.  The
 * kernel's own parser refuses RSA keys of less than 2048 bits.  For public-key
 * operations see pk/fips.c.
 */
#include <crypto/utils.h>
#include <linux/fips.h>

#include "../core.h"

#define HMAC_KEY_MIN	14	/* bytes; SP 800-131A, section 10 */

/**
 * ocf_fips_limit() - remove from a device the algorithms that may not be
 * offered
 * @dev: the device, new
 *
 * Context: any.
 */
void ocf_fips_limit(struct ocf_device *dev)
{
	unsigned int alg;

	if (!fips_enabled)
		return;
	for (alg = 1; alg < OCF_ALG_COUNT; alg++)
		if (!(ocf_alg_info(alg)->flags & OCF_ALG_FIPS))
			__clear_bit(alg, dev->info.algs);
}

static bool is_hmac(enum ocf_alg mac)
{
	return mac >= OCF_HMAC_MD5 && mac <= OCF_HMAC_RIPEMD160;
}

/* SP 800-38E has two lengths; FIPS 140-3 IG C.I wants two keys that differ. */
static bool is_good_for_xts(const u8 *key, u32 len)
{
	return (len == 32 || len == 64) &&
	       crypto_memneq(key, key + len / 2, len / 2);
}

/**
 * ocf_fips_check_keys() - whether a session may have its keys
 * @p: its parameters, valid
 *
 * Context: any.
 * Return: 0 or -EINVAL, as the kernel's own algorithms say.
 */
int ocf_fips_check_keys(const struct ocf_session_params *p)
{
	if (!fips_enabled)
		return 0;
	if (is_hmac(p->mac) && p->mackeylen < HMAC_KEY_MIN)
		return ocf_params_refuse(p, OCF_FIELD_MACKEY);
	if (p->cipher == OCF_AES_XTS && !is_good_for_xts(p->key, p->keylen))
		return ocf_params_refuse(p, OCF_FIELD_KEY);
	return 0;
}

/**
 * ocf_fips_tell() - log what is not offered
 *
 * Context: process.
 */
void ocf_fips_tell(void)
{
	char names[256];

	if (!fips_enabled)
		return;
	ocf_algs_show(GENMASK_ULL(OCF_ALG_COUNT - 1, 1) &
		      ~ocf_algs_with(OCF_ALG_FIPS), names, sizeof(names));
	pr_info("ocf: FIPS mode: not offered: x25519,dsa-sign,dh,%s", names);
}
