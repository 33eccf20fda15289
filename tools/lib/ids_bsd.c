// SPDX-License-Identifier: BSD-2-Clause
#include <stddef.h>

#include <bsd/crypto/cryptodev.h>

#include "ids.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* FreeBSD 14, opencrypto/cryptodev.h */
const struct id ids_bsd[] = {
	{ "des-cbc",		CRYPTO_DES_CBC,			1 },
	{ "des3-cbc",		CRYPTO_3DES_CBC,		2 },
	{ "blowfish-cbc",	CRYPTO_BLF_CBC,			3 },
	{ "cast5-cbc",		CRYPTO_CAST_CBC,		4 },
	{ NULL,			CRYPTO_SKIPJACK_CBC,		5 },
	{ "hmac-md5",		CRYPTO_MD5_HMAC,		6 },
	{ "hmac-sha1",		CRYPTO_SHA1_HMAC,		7 },
	{ "hmac-ripemd160",	CRYPTO_RIPEMD160_HMAC,		8 },
	{ NULL,			CRYPTO_MD5_KPDK,		9 },
	{ NULL,			CRYPTO_SHA1_KPDK,		10 },
	{ "aes-cbc",		CRYPTO_RIJNDAEL128_CBC,		11 },
	{ "aes-cbc",		CRYPTO_AES_CBC,			11 },
	{ "md5",		CRYPTO_MD5,			13 },
	{ "sha1",		CRYPTO_SHA1,			14 },
	{ "null-mac",		CRYPTO_NULL_HMAC,		15 },
	{ "null",		CRYPTO_NULL_CBC,		16 },
	{ NULL,			CRYPTO_DEFLATE_COMP,		17 },
	{ "hmac-sha256",	CRYPTO_SHA2_256_HMAC,		18 },
	{ "hmac-sha384",	CRYPTO_SHA2_384_HMAC,		19 },
	{ "hmac-sha512",	CRYPTO_SHA2_512_HMAC,		20 },
	{ "camellia-cbc",	CRYPTO_CAMELLIA_CBC,		21 },
	{ "aes-xts",		CRYPTO_AES_XTS,			22 },
	{ "aes-ctr",		CRYPTO_AES_ICM,			23 },
	{ "aes-gmac",		CRYPTO_AES_NIST_GMAC,		24 },
	{ "aes-gcm",		CRYPTO_AES_NIST_GCM_16,		25 },
	{ NULL,			CRYPTO_AES_128_NIST_GMAC,	26 },
	{ NULL,			CRYPTO_AES_192_NIST_GMAC,	27 },
	{ NULL,			CRYPTO_AES_256_NIST_GMAC,	28 },
	{ "blake2b",		CRYPTO_BLAKE2B,			29 },
	{ "blake2s",		CRYPTO_BLAKE2S,			30 },
	{ "chacha20",		CRYPTO_CHACHA20,		31 },
	{ "hmac-sha224",	CRYPTO_SHA2_224_HMAC,		32 },
	{ "ripemd160",		CRYPTO_RIPEMD160,		33 },
	{ "sha224",		CRYPTO_SHA2_224,		34 },
	{ "sha256",		CRYPTO_SHA2_256,		35 },
	{ "sha384",		CRYPTO_SHA2_384,		36 },
	{ "sha512",		CRYPTO_SHA2_512,		37 },
	{ NULL,			CRYPTO_POLY1305,		38 },
	{ NULL,			CRYPTO_AES_CCM_CBC_MAC,		39 },
	{ "aes-ccm",		CRYPTO_AES_CCM_16,		40 },
	{ "chacha20-poly1305",	CRYPTO_CHACHA20_POLY1305,	41 },
};
const int nids_bsd = COUNT(ids_bsd);

/* Their numbers and structures, with Linux' encoding of directions */
const struct call calls_bsd[] = {
	{ "CRIOGET",		CRIOGET,		0xc0046364 },
	{ "CIOCGSESSION",	CIOCGSESSION,		0xc0306365 },
	{ "CIOCFSESSION",	CIOCFSESSION,		0x40046366 },
	{ "CIOCCRYPT",		CIOCCRYPT,		0xc0306367 },
	{ "CIOCKEY",		CIOCKEY,		0xc0906368 },
	{ "CIOCASYMFEAT",	CIOCASYMFEAT,		0x80046369 },
	{ "CIOCGSESSION2",	CIOCGSESSION2,		0xc040636a },
	{ "CIOCKEY2",		CIOCKEY2,		0xc090636b },
	{ "CIOCFINDDEV",	CIOCFINDDEV,		0xc024636c },
	{ "CIOCCRYPTAEAD",	CIOCCRYPTAEAD,		0xc040636d },
};
const int ncalls_bsd = COUNT(calls_bsd);
