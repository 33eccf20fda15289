// SPDX-License-Identifier: BSD-2-Clause
#include <stddef.h>

#include <crypto/cryptodev.h>

#include "ids.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* cryptodev-linux 1.13, crypto/cryptodev.h */
const struct id ids_linux[] = {
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
	{ NULL,			CRYPTO_ARC4,			12 },
	{ "md5",		CRYPTO_MD5,			13 },
	{ "sha1",		CRYPTO_SHA1,			14 },
	{ NULL,			CRYPTO_DEFLATE_COMP,		15 },
	{ "null",		CRYPTO_NULL,			16 },
	{ NULL,			CRYPTO_LZS_COMP,		17 },
	{ "hmac-sha256",	CRYPTO_SHA2_256_HMAC,		18 },
	{ "hmac-sha384",	CRYPTO_SHA2_384_HMAC,		19 },
	{ "hmac-sha512",	CRYPTO_SHA2_512_HMAC,		20 },
	{ "aes-ctr",		CRYPTO_AES_CTR,			21 },
	{ "aes-xts",		CRYPTO_AES_XTS,			22 },
	{ "aes-ecb",		CRYPTO_AES_ECB,			23 },
	{ NULL,			CRYPTO_AES_CFB,			24 },
	{ NULL,			CRYPTO_AES_OFB,			25 },
	{ "aes-gcm",		CRYPTO_AES_GCM,			50 },
	{ "aes-ccm",		CRYPTO_AES_CCM,			51 },
	{ "camellia-cbc",	CRYPTO_CAMELLIA_CBC,		101 },
	{ "ripemd160",		CRYPTO_RIPEMD160,		102 },
	{ "sha224",		CRYPTO_SHA2_224,		103 },
	{ "sha256",		CRYPTO_SHA2_256,		104 },
	{ "sha384",		CRYPTO_SHA2_384,		105 },
	{ "sha512",		CRYPTO_SHA2_512,		106 },
	{ "hmac-sha224",	CRYPTO_SHA2_224_HMAC,		107 },
	{ NULL,			CRYPTO_TLS11_AES_CBC_HMAC_SHA1,	108 },
	{ NULL,			CRYPTO_TLS12_AES_CBC_HMAC_SHA256, 109 },
	/* our own */
	{ "chacha20",		CRYPTO_OCF_CHACHA20,		200 },
	{ "chacha20-poly1305",	CRYPTO_OCF_CHACHA20_POLY1305,	201 },
	{ "sha3-224",		CRYPTO_OCF_SHA3_224,		202 },
	{ "sha3-256",		CRYPTO_OCF_SHA3_256,		203 },
	{ "sha3-384",		CRYPTO_OCF_SHA3_384,		204 },
	{ "sha3-512",		CRYPTO_OCF_SHA3_512,		205 },
	{ "hmac-sha3-224",	CRYPTO_OCF_SHA3_224_HMAC,	206 },
	{ "hmac-sha3-256",	CRYPTO_OCF_SHA3_256_HMAC,	207 },
	{ "hmac-sha3-384",	CRYPTO_OCF_SHA3_384_HMAC,	208 },
	{ "hmac-sha3-512",	CRYPTO_OCF_SHA3_512_HMAC,	209 },
	{ "blake2b",		CRYPTO_OCF_BLAKE2B,		210 },
	{ "blake2s",		CRYPTO_OCF_BLAKE2S,		211 },
	{ "aes-cmac",		CRYPTO_OCF_AES_CMAC,		212 },
	{ "aes-gmac",		CRYPTO_OCF_AES_GMAC,		213 },
	{ "null-mac",		CRYPTO_OCF_NULL_MAC,		214 },
};
const int nids_linux = COUNT(ids_linux);

/* As a program compiled against cryptodev-linux 1.13 on x86-64 has them */
const struct call calls_linux[] = {
	{ "CRIOGET",		CRIOGET,		0xc0046365 },
	{ "CIOCGSESSION",	CIOCGSESSION,		0xc0306366 },
	{ "CIOCFSESSION",	CIOCFSESSION,		0x40046367 },
	{ "CIOCCRYPT",		CIOCCRYPT,		0xc0306368 },
	{ "CIOCKEY",		CIOCKEY,		0xc0906369 },
	{ "CIOCASYMFEAT",	CIOCASYMFEAT,		0x8004636a },
	{ "CIOCGSESSINFO",	CIOCGSESSINFO,		0xc10c636b },
	{ "CIOCAUTHCRYPT",	CIOCAUTHCRYPT,		0xc048636d },
	{ "CIOCASYNCCRYPT",	CIOCASYNCCRYPT,		0x4030636e },
	{ "CIOCASYNCFETCH",	CIOCASYNCFETCH,		0x8030636f },
	{ "CIOCCPHASH",		CIOCCPHASH,		0x40086370 },
};
const int ncalls_linux = COUNT(calls_linux);
