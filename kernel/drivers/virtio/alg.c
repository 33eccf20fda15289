// SPDX-License-Identifier: GPL-2.0-only
/*
 * The algorithms of a card: its masks (VIRTIO 1.2, 5.9.3.1 and 5.9.4), and the
 * core's names for them.
 */
#include "virtio.h"

/**
 * struct row - an algorithm of the core on a card
 * @service: its service, VIRTIO_CRYPTO_SERVICE_*
 * @id: its number in the service
 * @ask: test it even if the card does not say that it has it.  QEMU says
 *	AES-CBC and SHA-1 for all of its backends.  Its builtin backend does the
 *	ciphers, and backends that are processes of their own may do chains with
 *	the MACs
 */
struct row {
	u8	service;
	u8	id;
	bool	ask;
};

#define CIPHER(id_, ask_) { .service = VIRTIO_CRYPTO_SERVICE_CIPHER, \
	.id = VIRTIO_CRYPTO_CIPHER_##id_, .ask = (ask_) }
#define HASH(id_) { .service = VIRTIO_CRYPTO_SERVICE_HASH, \
	.id = VIRTIO_CRYPTO_HASH_##id_ }
#define MAC(id_, ask_) { .service = VIRTIO_CRYPTO_SERVICE_MAC, \
	.id = VIRTIO_CRYPTO_MAC_##id_, .ask = (ask_) }

static const struct row rows[OCF_ALG_COUNT] = {
	[OCF_AES_CBC]		= CIPHER(AES_CBC, true),
	[OCF_AES_CTR]		= CIPHER(AES_CTR, true),
	[OCF_AES_ECB]		= CIPHER(AES_ECB, true),
	[OCF_AES_XTS]		= CIPHER(AES_XTS, true),
	[OCF_DES3_CBC]		= CIPHER(3DES_CBC, true),
	[OCF_DES_CBC]		= CIPHER(DES_CBC, false),
	[OCF_MD5]		= HASH(MD5),
	[OCF_SHA1]		= HASH(SHA1),
	[OCF_SHA224]		= HASH(SHA_224),
	[OCF_SHA256]		= HASH(SHA_256),
	[OCF_SHA384]		= HASH(SHA_384),
	[OCF_SHA512]		= HASH(SHA_512),
	[OCF_SHA3_224]		= HASH(SHA3_224),
	[OCF_SHA3_256]		= HASH(SHA3_256),
	[OCF_SHA3_384]		= HASH(SHA3_384),
	[OCF_SHA3_512]		= HASH(SHA3_512),
	[OCF_HMAC_MD5]		= MAC(HMAC_MD5, false),
	[OCF_HMAC_SHA1]		= MAC(HMAC_SHA1, true),
	[OCF_HMAC_SHA224]	= MAC(HMAC_SHA_224, true),
	[OCF_HMAC_SHA256]	= MAC(HMAC_SHA_256, true),
	[OCF_HMAC_SHA384]	= MAC(HMAC_SHA_384, true),
	[OCF_HMAC_SHA512]	= MAC(HMAC_SHA_512, true),
	[OCF_AES_CMAC]		= MAC(CMAC_AES, false),
};

/* An algorithm's number on the card, or 0, which no service uses. */
u32 vcrypt_alg_id(enum ocf_alg alg)
{
	return rows[alg].id;
}

bool vcrypt_alg_is_hash(enum ocf_alg alg)
{
	return rows[alg].id && rows[alg].service == VIRTIO_CRYPTO_SERVICE_HASH;
}

static bool offered(const struct vcrypt_limits *l, const struct row *row)
{
	u64 mask = l->ciphers;

	if (!row->id || !(l->services & BIT(row->service)))
		return false;
	if (row->service == VIRTIO_CRYPTO_SERVICE_HASH)
		mask = l->hashes;
	else if (row->service == VIRTIO_CRYPTO_SERVICE_MAC)
		mask = l->macs;
	return row->ask || mask & BIT_ULL(row->id);
}

/**
 * vcrypt_alg_offer() - list the algorithms and modes to test on a card
 * @card: the card
 * @info: gets the list; the self-test removes those that the card refuses
 */
void vcrypt_alg_offer(const struct vcrypt_card *card,
		      struct ocf_device_info *info)
{
	bool cipher = false, mac = false;
	int alg;

	for (alg = 0; alg < OCF_ALG_COUNT; alg++) {
		if (!offered(&card->limits, &rows[alg]))
			continue;
		set_bit(alg, info->algs);
		if (rows[alg].service == VIRTIO_CRYPTO_SERVICE_CIPHER)
			cipher = true;
		else
			mac = true;
	}
	if (cipher)
		info->modes |= BIT(OCF_MODE_CIPHER);
	if (mac)
		info->modes |= BIT(OCF_MODE_DIGEST);
	if (cipher && mac)
		info->modes |= BIT(OCF_MODE_ETA) | BIT(OCF_MODE_CHAIN);
}

/*
 * Whether the card takes such a session.  Its keys must not be too long
 * (5.9.4.2).  XTS needs two AES keys, which cannot have 24 bytes each.  A MAC
 * that worked in a chain may not work alone.
 */
bool vcrypt_alg_fits(const struct vcrypt_card *card,
		     const struct ocf_session_params *p)
{
	if (p->mode == OCF_MODE_DIGEST && card->registered &&
	    !test_bit(OCF_MODE_DIGEST * OCF_ALG_COUNT + p->mac, card->made))
		return false;
	if (p->cipher == OCF_AES_XTS && p->keylen == 48)
		return false;
	return p->keylen <= card->limits.cipher_key &&
	       p->mackeylen <= card->limits.mac_key;
}
