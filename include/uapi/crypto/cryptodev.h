/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/crypto as Linux programs know it: the interface of cryptodev-linux.
 *
 * Programs built against that project's header run unchanged, and their
 * sources build against this one.  Numbers, structures and flags are the
 * same; what behaves differently on purpose is listed in docs/porting.md.
 * Algorithms from 200 on are additions of OCF for Linux.
 *
 * A session is made with CIOCGSESSION from a cipher, a MAC or digest, or both,
 * and belongs to the open file:
 *
 *	struct session_op sess = {
 *		.cipher = CRYPTO_AES_CBC, .keylen = 16, .key = key,
 *	};
 *	ioctl(fd, CIOCGSESSION, &sess);
 *	struct crypt_op op = {
 *		.ses = sess.ses, .op = COP_ENCRYPT,
 *		.len = len, .src = src, .dst = dst, .iv = iv,
 *	};
 *	ioctl(fd, CIOCCRYPT, &op);
 *	ioctl(fd, CIOCFSESSION, &sess.ses);
 *
 * Any thread may use any session of a descriptor at any time.  A descriptor
 * passed on or inherited over fork() shares its sessions.
 */
#ifndef L_CRYPTODEV_H
#define L_CRYPTODEV_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/compiler.h>
#else
#include <sys/ioctl.h>
#ifndef __user
#define __user
#endif
#endif

/* The most that a key may have, bytes */
#define CRYPTO_HMAC_MAX_KEY_LEN		512
#define CRYPTO_CIPHER_MAX_KEY_LEN	64

/*
 * Algorithms.  Those marked (-) have a number but no implementation:
 * CIOCGSESSION fails with EINVAL, as in cryptodev-linux.  DES, MD5 and HMAC-MD5
 * are weak and refused with EPERM until the administrator allows them (module
 * ocf, parameter allow_weak).
 */
enum cryptodev_crypto_op_t {
	CRYPTO_DES_CBC = 1,
	CRYPTO_3DES_CBC = 2,
	CRYPTO_BLF_CBC = 3,
	CRYPTO_CAST_CBC = 4,
	CRYPTO_SKIPJACK_CBC = 5,	/* (-) */
	CRYPTO_MD5_HMAC = 6,
	CRYPTO_SHA1_HMAC = 7,
	CRYPTO_RIPEMD160_HMAC = 8,
	CRYPTO_MD5_KPDK = 9,		/* (-) */
	CRYPTO_SHA1_KPDK = 10,		/* (-) */
	CRYPTO_RIJNDAEL128_CBC = 11,
	CRYPTO_AES_CBC = CRYPTO_RIJNDAEL128_CBC,
	CRYPTO_ARC4 = 12,		/* (-) */
	CRYPTO_MD5 = 13,
	CRYPTO_SHA1 = 14,
	CRYPTO_DEFLATE_COMP = 15,	/* (-) */
	CRYPTO_NULL = 16,
	CRYPTO_LZS_COMP = 17,		/* (-) */
	CRYPTO_SHA2_256_HMAC = 18,
	CRYPTO_SHA2_384_HMAC = 19,
	CRYPTO_SHA2_512_HMAC = 20,
	CRYPTO_AES_CTR = 21,
	CRYPTO_AES_XTS = 22,
	CRYPTO_AES_ECB = 23,
	CRYPTO_AES_CFB = 24,		/* (-) */
	CRYPTO_AES_OFB = 25,		/* (-) */
	CRYPTO_AES_GCM = 50,
	CRYPTO_AES_CCM = 51,

	CRYPTO_CAMELLIA_CBC = 101,
	CRYPTO_RIPEMD160,
	CRYPTO_SHA2_224,
	CRYPTO_SHA2_256,
	CRYPTO_SHA2_384,
	CRYPTO_SHA2_512,
	CRYPTO_SHA2_224_HMAC,
	CRYPTO_TLS11_AES_CBC_HMAC_SHA1,		/* (-) */
	CRYPTO_TLS12_AES_CBC_HMAC_SHA256,	/* (-) */
	CRYPTO_ALGORITHM_ALL,

	CRYPTO_OCF_CHACHA20 = 200,	/* IV: 4 bytes of counter, nonce */
	CRYPTO_OCF_CHACHA20_POLY1305,
	CRYPTO_OCF_SHA3_224,
	CRYPTO_OCF_SHA3_256,
	CRYPTO_OCF_SHA3_384,
	CRYPTO_OCF_SHA3_512,
	CRYPTO_OCF_SHA3_224_HMAC,
	CRYPTO_OCF_SHA3_256_HMAC,
	CRYPTO_OCF_SHA3_384_HMAC,
	CRYPTO_OCF_SHA3_512_HMAC,
	CRYPTO_OCF_BLAKE2B,		/* with or without a key */
	CRYPTO_OCF_BLAKE2S,		/* with or without a key */
	CRYPTO_OCF_AES_CMAC,
	CRYPTO_OCF_AES_GMAC,		/* needs an IV of 12 bytes */
	CRYPTO_OCF_NULL_MAC,		/* zeroes, for measuring */
};

#define CRYPTO_ALGORITHM_MAX	(CRYPTO_ALGORITHM_ALL - 1)

/* Blocks of ciphers, bytes */
#define DES_BLOCK_LEN		8
#define DES3_BLOCK_LEN		8
#define RIJNDAEL128_BLOCK_LEN	16
#define AES_BLOCK_LEN		RIJNDAEL128_BLOCK_LEN
#define CAMELLIA_BLOCK_LEN	16
#define BLOWFISH_BLOCK_LEN	8
#define SKIPJACK_BLOCK_LEN	8
#define CAST128_BLOCK_LEN	8
#define EALG_MAX_BLOCK_LEN	16

/* Results of digests and MACs, bytes */
#define AALG_MAX_RESULT_LEN	64
#define HASH_MAX_LEN		64

#define CRYPTODEV_MAX_ALG_NAME	64

/**
 * struct session_op - CIOCGSESSION: make a session
 * @cipher: an algorithm, or 0
 * @mac: an algorithm, or 0; not both 0
 * @keylen: bytes
 * @key: of the cipher
 * @mackeylen: bytes; ignored for digests without a key
 * @mackey: of the MAC
 * @ses: is set to the session's id, which is never 0; CIOCFSESSION of 0 does
 *	nothing
 */
struct session_op {
	__u32		cipher;
	__u32		mac;
	__u32		keylen;
	__u8 __user	*key;
	__u32		mackeylen;
	__u8 __user	*mackey;
	__u32		ses;
};

/**
 * struct session_info_op - CIOCGSESSINFO: what serves a session
 * @ses: the session
 * @cipher_info: the kernel's name of the cipher and the device preferred now
 * @hash_info: the same of the MAC or digest
 * @alignmask: buffers are processed fastest if their addresses are multiples of
 *	@alignmask + 1
 * @flags: SIOP_FLAG_*
 */
struct session_info_op {
	__u32 ses;
	struct alg_info {
		char cra_name[CRYPTODEV_MAX_ALG_NAME];
		char cra_driver_name[CRYPTODEV_MAX_ALG_NAME];
	} cipher_info, hash_info;
	__u16 alignmask;
	__u32 flags;
};

/* Some card is capable of the session. */
#define SIOP_FLAG_KERNEL_DRIVER_ONLY	1

#define COP_ENCRYPT	0
#define COP_DECRYPT	1

/**
 * struct crypt_op - CIOCCRYPT, CIOCASYNCCRYPT, CIOCASYNCFETCH: one operation
 * @ses: the session
 * @op: COP_ENCRYPT or COP_DECRYPT
 * @flags: COP_FLAG_*
 * @len: bytes of @src, at most 16 MiB (E2BIG); a multiple of the cipher's
 *	block (EINVAL)
 * @src: what is encrypted, decrypted or digested
 * @dst: the cipher's result, @len bytes; may be @src
 * @mac: where the digest or MAC is written; its length is that of the algorithm
 * @iv: IV or counter, of the algorithm's length.  NULL: continue where the
 *	session's previous operation ended (CBC, CTR, ChaCha20; EINVAL with
 *	other ciphers)
 *
 * With a cipher and a MAC the MAC is that of the plaintext, and is computed,
 * not compared, in both directions.
 */
struct crypt_op {
	__u32		ses;
	__u16		op;
	__u16		flags;
	__u32		len;
	__u8 __user	*src;
	__u8 __user	*dst;
	__u8 __user	*mac;
	__u8 __user	*iv;
};

/**
 * struct crypt_auth_op - CIOCAUTHCRYPT: authenticated encryption
 * @ses: a session with an AEAD algorithm, or with a cipher and a MAC and one
 *	of COP_FLAG_AEAD_TLS_TYPE, COP_FLAG_AEAD_SRTP_TYPE
 * @op: COP_ENCRYPT or COP_DECRYPT
 * @flags: COP_FLAG_*
 * @len: in: bytes of @src, at most 16 MiB; out: bytes of the result in @dst
 * @auth_len: bytes of @auth_src, at most 16 MiB
 * @auth_src: what is authenticated and not encrypted
 * @src: what is encrypted or decrypted
 * @dst: the result
 * @tag: where the tag is; out: for AEAD, where in @dst it was put
 * @tag_len: bytes of tag or MAC; 0 for all the algorithm has
 * @iv: IV or nonce, of the algorithm's length.  For CCM it has 16 bytes, the
 *	first of which is 14 minus the nonce's length
 * @iv_len: not looked at
 *
 * AEAD: the tag follows the ciphertext.  Encryption writes it to @dst, which
 * needs room for @len + @tag_len.  Decryption reads it from @src, and @len
 * includes it.
 *
 * TLS (TLS 1.0 to 1.2 with CBC, RFC 5246 section 6.2.3.2): @dst is @src.
 * Encryption appends the MAC of @auth_src and @src and the least padding, for
 * which there must be room; decryption checks both in constant time.
 *
 * SRTP (RFC 3711): @dst is @src and lies in @auth_src, at most 256 bytes from
 * its start; the cipher is a stream.  The MAC is at @tag.  It covers @auth_src,
 * which contains the ciphertext.
 *
 * A wrong tag is EBADMSG, and nothing is written.
 */
struct crypt_auth_op {
	__u32		ses;
	__u16		op;
	__u16		flags;
	__u32		len;
	__u32		auth_len;
	__u8 __user	*auth_src;
	__u8 __user	*src;
	__u8 __user	*dst;
	__u8 __user	*tag;
	__u32		tag_len;
	__u8 __user	*iv;
	__u32		iv_len;
};

/*
 * Flags of struct crypt_op and struct crypt_auth_op.  Unknown bits are refused
 * with EINVAL.
 */
#define COP_FLAG_NONE		(0 << 0)
#define COP_FLAG_UPDATE		(1 << 0) /* digest: more parts follow */
#define COP_FLAG_FINAL		(1 << 1) /* digest: the last part */
#define COP_FLAG_WRITE_IV	(1 << 2) /* put the next IV, if any, into @iv */
#define COP_FLAG_NO_ZC		(1 << 3) /* copy, do not use my pages */
#define COP_FLAG_AEAD_TLS_TYPE	(1 << 4)
#define COP_FLAG_AEAD_SRTP_TYPE	(1 << 5)
#define COP_FLAG_RESET		(1 << 6) /* digest: start from the beginning */

#define CRYPTO_ALG_FLAG_SUPPORTED	1
#define CRYPTO_ALG_FLAG_RNG_ENABLE	2
#define CRYPTO_ALG_FLAG_DSA_SHA		4

/*
 * Public-key operations: CIOCASYMFEAT returns those that are available, with
 * the bit 1 << CRK_* for each.  A parameter has crp_nbits bits in (crp_nbits +
 * 7) / 8 bytes.  For CRK_MOD_EXP to CRK_MOD, a parameter is a number with the
 * least significant byte first.  Only a digest keeps the byte order in which
 * the hash returns it.  A result fills all of its bytes.  crk_status is 0 or
 * the errno that the call fails with.
 */
struct crparam {
	__u8 __user	*crp_p;
	__u32		crp_nbits;
};

#define CRK_MAXPARAM	8

struct crypt_kop {
	__u32		crk_op;
	__u32		crk_status;
	__u16		crk_iparams;
	__u16		crk_oparams;
	__u32		crk_pad1;
	struct crparam	crk_param[CRK_MAXPARAM];
};

enum cryptodev_crk_op_t {
	CRK_MOD_EXP = 0,	/* base, exponent, modulus: power */
	CRK_MOD_EXP_CRT = 1,	/* p, q, base, dp, dq, qinv: power */
	CRK_DSA_SIGN = 2,	/* digest, p, q, g, x: r, s */
	CRK_DSA_VERIFY = 3,	/* digest, p, q, g, y, r, s */
	CRK_DH_COMPUTE_KEY = 4,	/* private, peer's public, p: secret */
	CRK_ALGORITHM_ALL
};

/* NetBSD's */
#define CRK_MOD_ADD		5	/* a, b, modulus: a + b */
#define CRK_MOD_ADDINV		6	/* a, modulus: -a */
#define CRK_MOD_SUB		7	/* a, b, modulus: a - b */
#define CRK_MOD_MULT		8	/* a, b, modulus: a * b */
#define CRK_MOD_MULTINV		9	/* a, modulus: 1 / a */
#define CRK_MOD			10	/* a, modulus: a */

#define CRK_ALGORITHM_MAX	(CRK_ALGORITHM_ALL - 1)

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

/**
 * struct cphash_op - CIOCCPHASH: copy a digest's state
 * @dst_ses: the session that gets the copy, and continues the digest from there
 * @src_ses: a session with the same digest or MAC
 */
struct cphash_op {
	__u32 dst_ses;
	__u32 src_ses;
};

/*
 * A new descriptor for the same open file, without close-on-exec.  Programs do
 * not need it.
 */
#define CRIOGET		_IOWR('c', 101, __u32)
#define CRIOGET_NOT_NEEDED 1
#define CIOCGSESSION	_IOWR('c', 102, struct session_op)
#define CIOCFSESSION	_IOW('c', 103, __u32)
#define CIOCCRYPT	_IOWR('c', 104, struct crypt_op)
#define CIOCKEY		_IOWR('c', 105, struct crypt_kop)
#define CIOCASYMFEAT	_IOR('c', 106, __u32)
#define CIOCGSESSINFO	_IOWR('c', 107, struct session_info_op)
#define CIOCAUTHCRYPT	_IOWR('c', 109, struct crypt_auth_op)
/*
 * CIOCASYNCCRYPT submits an operation; EBUSY: 64 are in flight or not fetched
 * yet.  CIOCASYNCFETCH fetches a complete one; EBUSY: there is none.  poll()
 * tells POLLOUT and POLLIN.  Only the process that submitted an operation can
 * fetch it.  CIOCASYNCFETCH fails with the error of the operation that it
 * fetches.
 */
#define CIOCASYNCCRYPT	_IOW('c', 110, struct crypt_op)
#define CIOCASYNCFETCH	_IOR('c', 111, struct crypt_op)
#define CIOCCPHASH	_IOW('c', 112, struct cphash_op)

#endif /* L_CRYPTODEV_H */
