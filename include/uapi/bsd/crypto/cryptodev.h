/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/crypto as BSD programs know it: the interface of OpenBSD and FreeBSD,
 * with FreeBSD's algorithm numbers.
 *
 * Sources written for either build against this header (-I.../bsd, or
 * #include <bsd/crypto/cryptodev.h>).  Algorithms are macros, as there, so
 * that programs can ask for them with #ifdef.  What behaves differently on
 * purpose is listed in docs/porting.md.
 */
#ifndef _CRYPTO_CRYPTO_H_
#define _CRYPTO_CRYPTO_H_

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/compiler.h>
#else
#include <sys/ioctl.h>
#ifndef __user
#define __user
#endif
#endif

/* Results of digests and MACs, bytes */
#define NULL_HASH_LEN		16
#define MD5_HASH_LEN		16
#define SHA1_HASH_LEN		20
#define RIPEMD160_HASH_LEN	20
#define SHA2_224_HASH_LEN	28
#define SHA2_256_HASH_LEN	32
#define SHA2_384_HASH_LEN	48
#define SHA2_512_HASH_LEN	64
#define AES_GMAC_HASH_LEN	16
#define AES_CBC_MAC_HASH_LEN	16
#define POLY1305_HASH_LEN	16
#define HASH_MAX_LEN		SHA2_512_HASH_LEN
#define AALG_MAX_RESULT_LEN	64

/* Blocks of digests, which are those of their HMACs, bytes */
#define MD5_BLOCK_LEN		64
#define SHA1_BLOCK_LEN		64
#define RIPEMD160_BLOCK_LEN	64
#define SHA2_224_BLOCK_LEN	64
#define SHA2_256_BLOCK_LEN	64
#define SHA2_384_BLOCK_LEN	128
#define SHA2_512_BLOCK_LEN	128
#define NULL_HMAC_BLOCK_LEN	64
#define HMAC_MAX_BLOCK_LEN	SHA2_512_BLOCK_LEN

/* Blocks of ciphers, bytes */
#define NULL_BLOCK_LEN		1
#define DES_BLOCK_LEN		8
#define DES3_BLOCK_LEN		8
#define BLOWFISH_BLOCK_LEN	8
#define CAST128_BLOCK_LEN	8
#define SKIPJACK_BLOCK_LEN	8
#define RIJNDAEL128_BLOCK_LEN	16
#define AES_BLOCK_LEN		16
#define AES_ICM_BLOCK_LEN	1
#define CAMELLIA_BLOCK_LEN	16
#define EALG_MAX_BLOCK_LEN	16

/* Keys, bytes */
#define NULL_MIN_KEY		0
#define NULL_MAX_KEY		256
#define DES_MIN_KEY		8
#define DES_MAX_KEY		8
#define TRIPLE_DES_MIN_KEY	24
#define TRIPLE_DES_MAX_KEY	24
#define BLOWFISH_MIN_KEY	5
#define BLOWFISH_MAX_KEY	56
#define CAST_MIN_KEY		5
#define CAST_MAX_KEY		16
#define RIJNDAEL_MIN_KEY	16
#define RIJNDAEL_MAX_KEY	32
#define AES_MIN_KEY		RIJNDAEL_MIN_KEY
#define AES_MAX_KEY		RIJNDAEL_MAX_KEY
#define AES_XTS_MIN_KEY		(2 * AES_MIN_KEY)
#define AES_XTS_MAX_KEY		(2 * AES_MAX_KEY)
#define CAMELLIA_MIN_KEY	16
#define CAMELLIA_MAX_KEY	32
#define AES_128_GMAC_KEY_LEN	16
#define AES_192_GMAC_KEY_LEN	24
#define AES_256_GMAC_KEY_LEN	32
#define AES_128_CBC_MAC_KEY_LEN	16
#define AES_192_CBC_MAC_KEY_LEN	24
#define AES_256_CBC_MAC_KEY_LEN	32
#define POLY1305_KEY_LEN	32
#define CHACHA20_POLY1305_KEY	32

/* IVs, bytes */
#define AES_GCM_IV_LEN		12
#define AES_CCM_IV_LEN		12
#define AES_XTS_IV_LEN		8
#define CHACHA20_POLY1305_IV_LEN 12

/*
 * Algorithms.  Those marked (-) have their number and no implementation:
 * making a session answers EINVAL.  DES, MD5 and HMAC-MD5 are weak and
 * refused with EPERM until the administrator allows them (module ocf,
 * parameter allow_weak).
 */
#define CRYPTO_ALGORITHM_MIN	1
#define CRYPTO_DES_CBC		1
#define CRYPTO_3DES_CBC		2
#define CRYPTO_BLF_CBC		3
#define CRYPTO_CAST_CBC		4
#define CRYPTO_SKIPJACK_CBC	5	/* (-) */
#define CRYPTO_MD5_HMAC		6
#define CRYPTO_SHA1_HMAC	7
#define CRYPTO_RIPEMD160_HMAC	8
#define CRYPTO_MD5_KPDK		9	/* (-) */
#define CRYPTO_SHA1_KPDK	10	/* (-) */
#define CRYPTO_RIJNDAEL128_CBC	11
#define CRYPTO_AES_CBC		11
#define CRYPTO_ARC4		12	/* (-) */
#define CRYPTO_MD5		13
#define CRYPTO_SHA1		14
#define CRYPTO_NULL_HMAC	15
#define CRYPTO_NULL_CBC		16
#define CRYPTO_NULL		CRYPTO_NULL_CBC
#define CRYPTO_DEFLATE_COMP	17	/* (-) */
#define CRYPTO_SHA2_256_HMAC	18
#define CRYPTO_SHA2_384_HMAC	19
#define CRYPTO_SHA2_512_HMAC	20
#define CRYPTO_CAMELLIA_CBC	21
#define CRYPTO_AES_XTS		22
#define CRYPTO_AES_ICM		23
#define CRYPTO_AES_CTR		CRYPTO_AES_ICM
#define CRYPTO_AES_NIST_GMAC	24
#define CRYPTO_AES_NIST_GCM_16	25
/* only together with GCM, as in FreeBSD 12 */
#define CRYPTO_AES_128_NIST_GMAC 26
#define CRYPTO_AES_192_NIST_GMAC 27
#define CRYPTO_AES_256_NIST_GMAC 28
#define CRYPTO_BLAKE2B		29
#define CRYPTO_BLAKE2S		30
#define CRYPTO_CHACHA20		31
#define CRYPTO_SHA2_224_HMAC	32
#define CRYPTO_RIPEMD160	33
#define CRYPTO_SHA2_224		34
#define CRYPTO_SHA2_256		35
#define CRYPTO_SHA2_384		36
#define CRYPTO_SHA2_512		37
#define CRYPTO_POLY1305		38	/* (-) */
/* only together with CCM, as in FreeBSD */
#define CRYPTO_AES_CCM_CBC_MAC	39
#define CRYPTO_AES_CCM_16	40
#define CRYPTO_CHACHA20_POLY1305 41
#define CRYPTO_ALGORITHM_MAX	41

#define CRYPTO_ALGO_VALID(x)	((x) >= CRYPTO_ALGORITHM_MIN && \
				 (x) <= CRYPTO_ALGORITHM_MAX)

/*
 * Flags of crid: any device of this kind may be used.  Without a flag, crid is
 * the number of a device.
 */
#define CRYPTO_FLAG_HARDWARE	0x01000000
#define CRYPTO_FLAG_SOFTWARE	0x02000000

/* The most that len and aadlen may be, bytes; more is E2BIG. */
#define CRYPTO_MAX_DATA_LEN	(256 * 1024 - 4)

/**
 * struct session_op - CIOCGSESSION: make a session
 * @cipher: an algorithm, or 0
 * @mac: an algorithm, or 0; not both 0
 * @keylen: bytes
 * @key: of the cipher
 * @mackeylen: bytes
 * @mackey: of the MAC
 * @ses: is set to the session's id
 *
 * Any device may serve it.
 */
struct session_op {
	__u32			cipher;
	__u32			mac;
	__u32			keylen;
	const void __user	*key;
	__s32			mackeylen;
	const void __user	*mackey;
	__u32			ses;
};

/**
 * struct session2_op - CIOCGSESSION2: make a session on chosen devices
 * @cipher: as in session_op
 * @mac: as in session_op
 * @keylen: as in session_op
 * @key: as in session_op
 * @mackeylen: as in session_op
 * @mackey: as in session_op
 * @ses: is set to the session's id
 * @crid: in: CRYPTO_FLAG_*, or a device; out: the device preferred now
 * @ivlen: bytes of IV or nonce; 0 for the usual
 * @maclen: bytes of MAC or tag; 0 for all
 * @pad: not looked at
 */
struct session2_op {
	__u32			cipher;
	__u32			mac;
	__u32			keylen;
	const void __user	*key;
	__s32			mackeylen;
	const void __user	*mackey;
	__u32			ses;
	__s32			crid;
	__s32			ivlen;
	__s32			maclen;
	__s32			pad[2];
};

/**
 * struct crypt_op - CIOCCRYPT: one operation
 * @ses: the session
 * @op: COP_ENCRYPT or COP_DECRYPT; for a digest also 0
 * @flags: COP_F_*
 * @len: bytes of @src, at most CRYPTO_MAX_DATA_LEN; a multiple of the block
 * @src: what is encrypted, decrypted or digested
 * @dst: the cipher's result; may be @src, or NULL if it is not wanted
 * @mac: the MAC or digest; with a cipher, and in AEAD, compared on decryption
 *	(EBADMSG, and nothing is written)
 * @iv: IV; NULL: it is at the start of @src, and not part of the data
 *
 * With a cipher and a MAC the MAC is that of the ciphertext.
 */
struct crypt_op {
	__u32			ses;
	__u16			op;
#define COP_ENCRYPT	1
#define COP_DECRYPT	2
	__u16			flags;
/*
 * no effect, since the cipher always comes before the MAC; only with
 * COP_ENCRYPT
 */
#define COP_F_CIPHER_FIRST	0x0001
#define COP_F_BATCH		0x0008	/* no meaning here */
	__u32			len;
	const void __user	*src;
	void __user		*dst;
	void __user		*mac;
	const void __user	*iv;
};

/**
 * struct crypt_aead - CIOCCRYPTAEAD: one authenticated operation
 * @ses: a session with an AEAD algorithm, or with a cipher and a MAC
 * @op: COP_ENCRYPT or COP_DECRYPT
 * @flags: COP_F_*
 * @len: bytes of @src, at most CRYPTO_MAX_DATA_LEN; a multiple of the block
 * @aadlen: bytes of @aad, at most CRYPTO_MAX_DATA_LEN
 * @ivlen: bytes of @iv; must be the session's.  With XTS 16 is also allowed,
 *	and the first half is used
 * @src: what is encrypted or decrypted
 * @dst: the result; may be @src, or NULL if it is not wanted
 * @aad: associated data: authenticated before @src, and not encrypted
 * @tag: the tag or MAC; compared on decryption (EBADMSG, nothing is written)
 * @iv: IV or nonce; NULL for the null cipher
 */
struct crypt_aead {
	__u32			ses;
	__u16			op;
	__u16			flags;
	__u32			len;
	__u32			aadlen;
	__u32			ivlen;
	const void __user	*src;
	void __user		*dst;
	const void __user	*aad;
	void __user		*tag;
	const void __user	*iv;
};

/**
 * struct crypt_find_op - CIOCFINDDEV: a device's name or number
 * @crid: its number, or -1 to find @name
 * @name: its name ("cryptosoft0") or its driver's ("cryptosoft")
 */
struct crypt_find_op {
	__s32	crid;
	char	name[32];
};

/* Public-key operations: CIOCASYMFEAT tells which there are. */
struct crparam {
	void __user	*crp_p;
	__u32		crp_nbits;
};

#define CRK_MAXPARAM	8

struct crypt_kop {
	__u32		crk_op;
	__u32		crk_status;
	__u16		crk_iparams;
	__u16		crk_oparams;
	__u32		crk_crid;
	struct crparam	crk_param[CRK_MAXPARAM];
};

#define CRK_ALGORITHM_MIN	0
#define CRK_MOD_EXP		0	/* base, exponent, modulus: power */
#define CRK_MOD_EXP_CRT		1	/* p, q, base, dp, dq, qinv: power */
#define CRK_DSA_SIGN		2	/* digest, p, q, g, x: r, s */
#define CRK_DSA_VERIFY		3	/* digest, p, q, g, y, r, s */
#define CRK_DH_COMPUTE_KEY	4	/* private, peer's public, p: secret */
#define CRK_ALGORITHM_MAX	4

/* NetBSD's */
#define CRK_MOD_ADD		5	/* a, b, modulus: a + b */
#define CRK_MOD_ADDINV		6	/* a, modulus: -a */
#define CRK_MOD_SUB		7	/* a, b, modulus: a - b */
#define CRK_MOD_MULT		8	/* a, b, modulus: a * b */
#define CRK_MOD_MULTINV		9	/* a, modulus: 1 / a */
#define CRK_MOD			10	/* a, modulus: a */

#define CRF_MOD_EXP		(1 << CRK_MOD_EXP)
#define CRF_MOD_EXP_CRT		(1 << CRK_MOD_EXP_CRT)
#define CRF_DSA_SIGN		(1 << CRK_DSA_SIGN)
#define CRF_DSA_VERIFY		(1 << CRK_DSA_VERIFY)
#define CRF_DH_COMPUTE_KEY	(1 << CRK_DH_COMPUTE_KEY)

/*
 * The operations below are additions of OCF for Linux.  crk_op is
 * CRK_OCF(operation, scheme, hash or curve).  Parameters are octet strings as
 * the standards define them: numbers have the most significant octet first.
 * Keys are PKCS #1 DER (RFC 8017 appendix A.1) or uncompressed points (SEC 1
 * section 2.3.3).  crp_nbits of a result is set to its length.  crypto(4) has
 * the parameters of each.
 */
#define CRK_OCF_RSA_SIGN	16	/* digest, key [, salt]: signature */
#define CRK_OCF_RSA_VERIFY	17	/* digest, signature, key [, salt] */
#define CRK_OCF_RSA_ENCRYPT	18	/* message, key [, label]: ciphertext */
#define CRK_OCF_RSA_DECRYPT	19	/* ciphertext, key [, label]: message */
#define CRK_OCF_EC_PUBLIC	20	/* private: public */
#define CRK_OCF_ECDH		21	/* private, peer's public: x */
#define CRK_OCF_ECDSA_SIGN	22	/* digest, private: r, s */
#define CRK_OCF_ECDSA_VERIFY	23	/* digest, public, r, s */
#define CRK_OCF_X25519		24	/* private, peer's public: secret */

#define CRK_OCF(op, scheme, what)	((op) | (scheme) << 8 | (what) << 16)

enum {
	CRK_SCHEME_RAW, CRK_SCHEME_PKCS1, CRK_SCHEME_PSS, CRK_SCHEME_OAEP,
};

enum {
	CRK_HASH_NONE, CRK_HASH_MD5, CRK_HASH_SHA1, CRK_HASH_SHA224,
	CRK_HASH_SHA256, CRK_HASH_SHA384, CRK_HASH_SHA512, CRK_HASH_SHA3_224,
	CRK_HASH_SHA3_256, CRK_HASH_SHA3_384, CRK_HASH_SHA3_512,
	CRK_HASH_RIPEMD160,
};

enum {
	CRK_CURVE_NONE, CRK_CURVE_P256, CRK_CURVE_P384, CRK_CURVE_P521,
};

/* A new descriptor for the same open file. */
#define CRIOGET		_IOWR('c', 100, __u32)
#define CIOCGSESSION	_IOWR('c', 101, struct session_op)
#define CIOCFSESSION	_IOW('c', 102, __u32)
#define CIOCCRYPT	_IOWR('c', 103, struct crypt_op)
#define CIOCKEY		_IOWR('c', 104, struct crypt_kop)
#define CIOCASYMFEAT	_IOR('c', 105, __u32)
#define CIOCGSESSION2	_IOWR('c', 106, struct session2_op)
#define CIOCKEY2	_IOWR('c', 107, struct crypt_kop)
#define CIOCFINDDEV	_IOWR('c', 108, struct crypt_find_op)
#define CIOCCRYPTAEAD	_IOWR('c', 109, struct crypt_aead)

/* Older names of two of them. */
#define CRIOASYMFEAT	CIOCASYMFEAT
#define CRIOFINDDEV	CIOCFINDDEV

#endif /* _CRYPTO_CRYPTO_H_ */
