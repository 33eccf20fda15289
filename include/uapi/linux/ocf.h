/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/crypto: the native interface.
 *
 * A session has algorithms and keys.  A command is one operation of a session.
 * An ioctl() takes many commands at a time, and waits for all of them
 * (OCF_RUN) or for none (OCF_SUBMIT).  An entry of an io_uring takes one
 * command or many.
 *
 *	struct ocf_session_open open = {
 *		.size = sizeof(open), .mode = OCF_MODE_AEAD,
 *		.cipher = "aes-gcm", .key = (__u64)key, .keylen = 16,
 *	};
 *	ioctl(fd, OCF_SESSION_OPEN, &open);
 *	struct ocf_command c = {
 *		.session = open.session, .op = OCF_OP_ENCRYPT,
 *		.src = (__u64)text, .dst = (__u64)out, .len = len,
 *		.tag = (__u64)tag, .iv = { ... },
 *	};
 *	struct ocf_result r;
 *	struct ocf_vector v = {
 *		.commands = (__u64)&c, .results = (__u64)&r, .count = 1,
 *	};
 *	ioctl(fd, OCF_RUN, &v);
 *
 * Structures are the same for 32-bit programs; addresses have 64 bits.  A
 * structure that begins with its size may grow.  If the caller's is shorter,
 * the missing fields are zero.  If it is longer, fields that the kernel does
 * not know must be zero, or the error is E2BIG.  Fields without a meaning in a
 * mode must be zero.
 */
#ifndef _UAPI_LINUX_OCF_H
#define _UAPI_LINUX_OCF_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define OCF_NAME_MAX		32	/* bytes of a name, with its NUL */
#define OCF_VECTOR_MAX		256	/* commands at a time */
#define OCF_COMMANDS_MAX	1024	/* submitted and not yet reaped */

/* Bytes of the first version of each structure that may grow */
#define OCF_SESSION_OPEN_SIZE_VER0	152
#define OCF_SESSION_REKEY_SIZE_VER0	32
#define OCF_SESSION_QUERY_SIZE_VER0	72
#define OCF_FEATURES_SIZE_VER0		40
#define OCF_ALGORITHM_SIZE_VER0		72

/**
 * enum ocf_mode - how a session combines its algorithms
 * @OCF_MODE_NONE: no mode; no session has it
 * @OCF_MODE_CIPHER: one cipher over the data
 * @OCF_MODE_DIGEST: one digest or MAC over the data
 * @OCF_MODE_AEAD: an AEAD algorithm; the data follows the associated data
 *	(which is the auth range) and the tag follows the data
 * @OCF_MODE_ETA: encrypt, then authenticate (IPsec, RFC 4303; SRTP, RFC 3711).
 *	The MAC covers the auth range, which contains the ciphertext of the data
 *	range.  Decryption verifies first, and gives no plaintext if the MAC is
 *	wrong
 * @OCF_MODE_MTE: authenticate, then encrypt, as TLS 1.0 to 1.2 do with CBC
 *	(RFC 5246 section 6.2.3.2).  The MAC covers the auth range.  It follows
 *	the payload in the data range, and is encrypted with it.  Decryption
 *	checks padding and MAC in constant time, and returns the length of the
 *	payload
 * @OCF_MODE_CHAIN: the descriptor chain of the first OCF: a cipher over the
 *	data range and a MAC over the auth range.  Each command chooses their
 *	order, and whether the MAC is computed or compared
 * @OCF_MODE_COMPRESS: encryption compresses, decryption expands
 * @OCF_MODE_COUNT: how many numbers there are
 */
enum ocf_mode {
	OCF_MODE_NONE,
	OCF_MODE_CIPHER,
	OCF_MODE_DIGEST,
	OCF_MODE_AEAD,
	OCF_MODE_ETA,
	OCF_MODE_MTE,
	OCF_MODE_CHAIN,
	OCF_MODE_COMPRESS,
	OCF_MODE_COUNT
};

/**
 * enum ocf_policy - the aim of the choice of devices
 * @OCF_POLICY_LATENCY: the device that will complete the command first
 * @OCF_POLICY_CPU: a card, as long as it keeps up; the CPU is left to others
 */
enum ocf_policy {
	OCF_POLICY_LATENCY,
	OCF_POLICY_CPU,
};

/* Flags of a session */
#define OCF_SESSION_ORDERED	(1u << 0) /* results in the order of commands */
#define OCF_SESSION_HARDWARE	(1u << 1) /* cards may be used; neither of */
#define OCF_SESSION_SOFTWARE	(1u << 2) /* these two means both */
/*
 * MTE only: the two bytes of the auth range before the data are the length of
 * the payload (TLS MAC header, RFC 5246 section 6.2.3.1).  The kernel fills
 * them in, because a caller that decrypts does not know the length.
 */
#define OCF_SESSION_MTE_LENGTH	(1u << 3)

/**
 * enum ocf_field - the part of a call that an error is about
 * @OCF_FIELD_NONE: nothing of it, or the kernel does not say
 * @OCF_FIELD_MODE: there is no such mode
 * @OCF_FIELD_CIPHER: the cipher is unknown, missing, weak (EPERM), or not one
 *	for the mode
 * @OCF_FIELD_MAC: the same of the digest or MAC
 * @OCF_FIELD_DEVICE: the name of a device
 * @OCF_FIELD_POLICY: there is no such policy
 * @OCF_FIELD_FLAGS: a flag is unknown, or not one for the mode
 * @OCF_FIELD_KEY: the cipher's key has a length that the cipher does not take,
 *	or no address, or FIPS 140 forbids it
 * @OCF_FIELD_MACKEY: the same of the MAC's key
 * @OCF_FIELD_IV: the length of IV or nonce
 * @OCF_FIELD_MACLEN: the length of MAC or tag
 * @OCF_FIELD_ROUNDS: the number of rounds
 * @OCF_FIELD_SESSION: the number of a session
 * @OCF_FIELD_OP: there is no such operation
 * @OCF_FIELD_LEN: the length of the data
 * @OCF_FIELD_AUTH: the data that are authenticated only, or their length
 * @OCF_FIELD_DST: the destination
 * @OCF_FIELD_DST_LEN: the length of the destination
 * @OCF_FIELD_TAG: the tag
 * @OCF_FIELD_PAD: a reserved field that is not zero
 * @OCF_FIELD_CODE: there is no such public-key operation
 * @OCF_FIELD_SCHEME: the padding is unknown, or not one for the operation, or
 *	FIPS 140 forbids it (EPERM)
 * @OCF_FIELD_CURVE: the curve is unknown, missing, or not one for the operation
 * @OCF_FIELD_HASH: the hash is unknown, missing, weak (EPERM), or not one for
 *	the operation
 * @OCF_FIELD_SALT: the length of the salt
 * @OCF_FIELD_VALUES: the number of operands or of results
 * @OCF_FIELD_COUNT: how many numbers there are below @OCF_FIELD_VALUE
 * @OCF_FIELD_VALUE: an operand or a result of a public-key operation; plus its
 *	index into ocf_pk_command.values
 */
enum ocf_field {
	OCF_FIELD_NONE,
	OCF_FIELD_MODE,
	OCF_FIELD_CIPHER,
	OCF_FIELD_MAC,
	OCF_FIELD_DEVICE,
	OCF_FIELD_POLICY,
	OCF_FIELD_FLAGS,
	OCF_FIELD_KEY,
	OCF_FIELD_MACKEY,
	OCF_FIELD_IV,
	OCF_FIELD_MACLEN,
	OCF_FIELD_ROUNDS,
	OCF_FIELD_SESSION,
	OCF_FIELD_OP,
	OCF_FIELD_LEN,
	OCF_FIELD_AUTH,
	OCF_FIELD_DST,
	OCF_FIELD_DST_LEN,
	OCF_FIELD_TAG,
	OCF_FIELD_PAD,
	OCF_FIELD_CODE,
	OCF_FIELD_SCHEME,
	OCF_FIELD_CURVE,
	OCF_FIELD_HASH,
	OCF_FIELD_SALT,
	OCF_FIELD_VALUES,
	OCF_FIELD_COUNT,
	OCF_FIELD_VALUE = 64
};

/**
 * enum ocf_op - the direction of a command
 * @OCF_OP_ENCRYPT: encrypt, compute a digest or MAC, compress
 * @OCF_OP_DECRYPT: decrypt, verify a digest or MAC, expand
 * @OCF_OP_COUNT: how many directions there are
 */
enum ocf_op {
	OCF_OP_ENCRYPT,
	OCF_OP_DECRYPT,
	OCF_OP_COUNT
};

/**
 * struct ocf_session_open - OCF_SESSION_OPEN
 * @size: bytes of this structure that the caller knows
 * @mode: OCF_MODE_CIPHER, ...
 * @cipher: name of the cipher, AEAD or compression algorithm, as in
 *	/sys/class/ocf/DEVICE/algorithms ("aes-cbc"), or empty
 * @mac: name of the digest or MAC algorithm, or empty
 * @device: the only device to use ("virtio0"), or empty
 * @policy: OCF_POLICY_LATENCY or OCF_POLICY_CPU
 * @flags: OCF_SESSION_ORDERED, ...
 * @key: address of the cipher's key
 * @mackey: address of the MAC's key
 * @keylen: bytes
 * @mackeylen: bytes
 * @ivlen: bytes of IV or nonce, 0 for the algorithm's own
 * @maclen: bytes of MAC or tag, 0 for all
 * @rounds: of a cipher with a choice of rounds; 0 for its own
 * @session: set: the number of the session for commands; never 0
 * @wrong: set after an error: what it is about, OCF_FIELD_*
 * @pad: zero
 */
struct ocf_session_open {
	__u32		size;
	__u32		mode;
	char		cipher[OCF_NAME_MAX];
	char		mac[OCF_NAME_MAX];
	char		device[OCF_NAME_MAX];
	__u32		policy;
	__u32		flags;
	__aligned_u64	key;
	__aligned_u64	mackey;
	__u32		keylen;
	__u32		mackeylen;
	__u32		ivlen;
	__u32		maclen;
	__u32		rounds;
	__u32		session;
	__u32		wrong;
	__u32		pad;
};

/**
 * struct ocf_session_rekey - OCF_SESSION_REKEY
 * @size: bytes of this structure that the caller knows
 * @session: its number
 * @key: address of the cipher's new key; 0: keep the present one
 * @mackey: address of the MAC's new key; 0: keep the present one
 * @keylen: bytes
 * @mackeylen: bytes
 * @wrong: set after an error: what it is about, OCF_FIELD_*
 * @pad: zero
 *
 * Commands that were submitted before keep the old keys.
 */
struct ocf_session_rekey {
	__u32		size;
	__u32		session;
	__aligned_u64	key;
	__aligned_u64	mackey;
	__u32		keylen;
	__u32		mackeylen;
	__u32		wrong;
	__u32		pad;
};

/**
 * struct ocf_session_query - OCF_SESSION_QUERY
 * @size: bytes of this structure that the caller knows
 * @session: its number
 * @mode: set: as opened
 * @ivlen: set: bytes of IV or nonce
 * @maclen: set: bytes of MAC or tag
 * @block: set: the data's length must be a multiple of this
 * @hardware: set: 1 if a card is capable of it
 * @crossover: set: bytes, a power of two, from which on an idle card completes
 *	a command before the CPU would; 0: there is no such size
 * @crossover_many: set: the same for a caller with many commands in flight:
 *	from this size on a card works on a command for less time than the CPU
 * @pad: zero
 * @device: set: the device that is preferred if all are idle, or empty
 */
struct ocf_session_query {
	__u32		size;
	__u32		session;
	__u32		mode;
	__u32		ivlen;
	__u32		maclen;
	__u32		block;
	__u32		hardware;
	__u32		crossover;
	__u32		crossover_many;
	__u32		pad;
	char		device[OCF_NAME_MAX];
};

/**
 * struct ocf_features - OCF_FEATURES: the features of this kernel
 * @size: bytes of this structure that the caller knows
 * @modes: set: a bit for each OCF_MODE_*
 * @session_flags: set: OCF_SESSION_*
 * @command_flags: set: OCF_COMMAND_*
 * @vector_max: set: the maximum of commands in a vector
 * @commands_max: set: the maximum of commands submitted and not yet reaped
 * @len_max: set by the kernel: the maximum length of a command, in bytes
 * @algorithms: set: how many algorithms OCF_ALGORITHM has
 * @public_key: set: a bit for each OCF_PK_* that a device can do now
 * @file: set: a random number of this open file, so that a library can tell
 *	whether a descriptor is still its own; 0 from kernels without this
 */
struct ocf_features {
	__u32		size;
	__u32		modes;
	__u32		session_flags;
	__u32		command_flags;
	__u32		vector_max;
	__u32		commands_max;
	__u32		len_max;
	__u32		algorithms;
	__aligned_u64	public_key;
	__aligned_u64	file;
};

/* Flags of an algorithm */
#define OCF_ALGORITHM_WEAK	(1u << 0) /* the administrator must allow it */
#define OCF_ALGORITHM_ROUNDS	(1u << 1) /* has a choice of rounds */

/* Types of algorithms */
enum ocf_algorithm_type {
	OCF_ALGORITHM_CIPHER = 1,
	OCF_ALGORITHM_AEAD,
	OCF_ALGORITHM_DIGEST,
	OCF_ALGORITHM_MAC,
	OCF_ALGORITHM_COMPRESSION,
};

/**
 * struct ocf_algorithm - OCF_ALGORITHM
 * @size: bytes of this structure that the caller knows
 * @index: its index, from 0 on
 * @name: set: its name for struct ocf_session_open
 * @type: set: OCF_ALGORITHM_CIPHER, ...
 * @flags: set: OCF_ALGORITHM_WEAK, ...
 * @key_min: set: bytes
 * @key_max: set: bytes; 0 if it has no key
 * @key_step: set: keys are @key_min + n * @key_step bytes
 * @block: set: the data's length must be a multiple of this
 * @iv: set: bytes of IV or nonce, the usual length
 * @digest: set: bytes of digest, MAC or tag; 0 if it has none
 */
struct ocf_algorithm {
	__u32		size;
	__u32		index;
	char		name[OCF_NAME_MAX];
	__u32		type;
	__u32		flags;
	__u32		key_min;
	__u32		key_max;
	__u32		key_step;
	__u32		block;
	__u32		iv;
	__u32		digest;
};

/* Flags of a command */
#define OCF_COMMAND_MAC_FIRST	(1u << 0) /* CHAIN: MAC before cipher */
#define OCF_COMMAND_VERIFY	(1u << 1) /* CHAIN: compare the MAC */
/*
 * io_uring, with IORING_URING_CMD_FIXED: @src or @dst, or both, are in the
 * registered buffer sqe->buf_index.  If @src and @dst are equal, set both flags
 * or neither.
 */
#define OCF_COMMAND_FIXED_SRC	(1u << 2)
#define OCF_COMMAND_FIXED_DST	(1u << 3)
/*
 * DIGEST: the command is a part of a message.  OCF_COMMAND_MORE: more parts
 * follow, so this one has no result.  OCF_COMMAND_CONTINUE: it continues the
 * part before.  A session has one such message at a time.  Software does the
 * parts immediately, in the order of submission.  Not with OCF_SESSION_ORDERED.
 * After a change of the key, a new message must begin.
 */
#define OCF_COMMAND_MORE	(1u << 4)
#define OCF_COMMAND_CONTINUE	(1u << 5)

/**
 * struct ocf_command - one operation
 * @cookie: any number; it is returned with the result, and used by OCF_CANCEL
 * @session: the number of the session
 * @op: OCF_OP_ENCRYPT or OCF_OP_DECRYPT
 * @ivlen: bytes of @iv, if an AEAD algorithm has a choice (CCM); otherwise the
 *	session's length, or 0 for that
 * @flags: OCF_COMMAND_*
 * @src: address of the source
 * @dst: address of the result, or @src; DIGEST: none.  If source and result
 *	overlap otherwise, the kernel copies.  COMPRESS: they must not overlap
 * @aad: AEAD: address of the associated data.  ETA, MTE: address of the bytes
 *	before the data that the MAC covers
 * @tag: address of the digest, MAC or tag, with the session's length.
 *	Encryption writes it, and decryption compares it (CHAIN: with
 *	OCF_COMMAND_VERIFY); MTE: none
 * @len: bytes at @src.  CHAIN: bytes to encrypt.  MTE: bytes of the payload to
 *	encrypt, or of the record to decrypt
 * @auth_len: bytes at @aad.  CHAIN: bytes that the MAC covers
 * @dst_len: MTE encryption: bytes of the record: payload, MAC and padding.
 *	COMPRESS: bytes that fit at @dst
 * @data_start: CHAIN: offset at @src and @dst where encryption begins
 * @auth_start: CHAIN: offset at @src where the MAC begins; in place of @aad,
 *	which CHAIN does not have
 * @pad: zero
 * @iv: IV, nonce or counter block; bytes after it are ignored
 *
 * The kernel writes only the result and the tag.  Decryption writes nothing if
 * the tag is wrong.
 */
struct ocf_command {
	__aligned_u64	cookie;
	__u32		session;
	__u8		op;
	__u8		ivlen;
	__u16		flags;
	__aligned_u64	src;
	__aligned_u64	dst;
	union {
		__aligned_u64	aad;
		__aligned_u64	auth_start;
	};
	__aligned_u64	tag;
	__u32		len;
	__u32		auth_len;
	union {
		__u32	dst_len;
		__u32	data_start;
	};
	__u32		pad;
	__u8		iv[16];
};

/* ---- public-key operations ---- */

/* op of a command that is a struct ocf_pk_command */
#define OCF_OP_PUBLIC_KEY	16

#define OCF_HASH_NAME_MAX	12	/* bytes, with the NUL */
#define OCF_PK_SALT_ANY		(~0u)

/**
 * enum ocf_pk_code - the operations, with their operands and results
 * @OCF_PK_MOD_EXP: base, exponent, modulus: base ^ exponent mod modulus
 * @OCF_PK_MOD_EXP_CRT: p, q, base, dp, dq, qinv: the same by the Chinese
 *	remainder theorem, modulo p * q (RFC 8017 section 5.1.2, 2 b); p and q
 *	are primes
 * @OCF_PK_DSA_SIGN: digest, p, q, g, x: r, s (FIPS 186-4 section 4.6)
 * @OCF_PK_DSA_VERIFY: digest, p, q, g, y, r, s: nothing
 * @OCF_PK_DH: own private, peer's public, p: public ^ private mod p (PKCS #3);
 *	-EKEYREJECTED for a public value that is not between 1 and p - 1
 * @OCF_PK_MOD_ADD: a, b, modulus: a + b mod modulus
 * @OCF_PK_MOD_NEG: a, modulus: -a mod modulus
 * @OCF_PK_MOD_SUB: a, b, modulus: a - b mod modulus
 * @OCF_PK_MOD_MUL: a, b, modulus: a * b mod modulus
 * @OCF_PK_MOD_INV: a, modulus: a ^ -1 mod modulus, or -EDOM if there is none
 * @OCF_PK_MOD: a, modulus: a mod modulus
 * @OCF_PK_RSA_SIGN: digest, private key: signature
 * @OCF_PK_RSA_VERIFY: digest, signature, public key: nothing
 * @OCF_PK_RSA_ENCRYPT: message, public key, label: ciphertext
 * @OCF_PK_RSA_DECRYPT: ciphertext, private key, label: message
 * @OCF_PK_EC_PUBLIC: private: public
 * @OCF_PK_ECDH: own private, peer's public: x coordinate of the shared point
 *	(SP 800-56A section 5.7.1.2)
 * @OCF_PK_ECDSA_SIGN: digest, private: r, s (FIPS 186-5 section 6.4)
 * @OCF_PK_ECDSA_VERIFY: digest, public, r, s: nothing
 * @OCF_PK_X25519: own private, peer's public: shared secret (RFC 7748 section
 *	5), 32 octets each, least significant first as in the RFC
 * @OCF_PK_COUNT: how many there are
 *
 * Verification returns 0 or -EBADMSG.  An RSA key is in DER, RSAPrivateKey or
 * RSAPublicKey of RFC 8017 appendix A.1.  The label is that of OAEP, and may be
 * empty.  A private key of a curve of order n is a number from 2 to n - 3,
 * because the kernel's library takes no other.  A public key is an uncompressed
 * point (SEC 1 section 2.3.3: 04, x, y).
 */
enum ocf_pk_code {
	OCF_PK_MOD_EXP,
	OCF_PK_MOD_EXP_CRT,
	OCF_PK_DSA_SIGN,
	OCF_PK_DSA_VERIFY,
	OCF_PK_DH,
	OCF_PK_MOD_ADD,
	OCF_PK_MOD_NEG,
	OCF_PK_MOD_SUB,
	OCF_PK_MOD_MUL,
	OCF_PK_MOD_INV,
	OCF_PK_MOD,
	OCF_PK_RSA_SIGN,
	OCF_PK_RSA_VERIFY,
	OCF_PK_RSA_ENCRYPT,
	OCF_PK_RSA_DECRYPT,
	OCF_PK_EC_PUBLIC,
	OCF_PK_ECDH,
	OCF_PK_ECDSA_SIGN,
	OCF_PK_ECDSA_VERIFY,
	OCF_PK_X25519,
	OCF_PK_COUNT
};

/**
 * enum ocf_pk_scheme - paddings of RSA
 * @OCF_PK_RAW: none; the message is as long as the modulus, and less than it
 * @OCF_PK_PKCS1: RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2), RSAES-PKCS1-v1_5
 *	(section 7.2).  Wrong padding gives a random message instead of an
 *	error, always the same for one ciphertext and key
 * @OCF_PK_PSS: RSASSA-PSS (section 8.1), MGF1 with the same hash
 * @OCF_PK_OAEP: RSAES-OAEP (section 7.1), MGF1 with the same hash
 * @OCF_PK_SCHEMES: how many there are
 */
enum ocf_pk_scheme {
	OCF_PK_RAW,
	OCF_PK_PKCS1,
	OCF_PK_PSS,
	OCF_PK_OAEP,
	OCF_PK_SCHEMES
};

/**
 * enum ocf_pk_curve - the curves of SP 800-186
 * @OCF_PK_NO_CURVE: of operations without a curve
 * @OCF_PK_P256: secp256r1
 * @OCF_PK_P384: secp384r1
 * @OCF_PK_P521: secp521r1
 * @OCF_PK_CURVES: how many numbers there are
 */
enum ocf_pk_curve {
	OCF_PK_NO_CURVE,
	OCF_PK_P256,
	OCF_PK_P384,
	OCF_PK_P521,
	OCF_PK_CURVES
};

/**
 * struct ocf_pk_value - the buffer of an operand or of a result
 * @addr: its address
 * @len: bytes
 * @pad: zero
 */
struct ocf_pk_value {
	__aligned_u64	addr;
	__u32		len;
	__u32		pad;
};

/**
 * struct ocf_pk_command - a public-key operation, in place of a struct
 * ocf_command
 * @cookie: as in struct ocf_command
 * @none: zero: it has no session
 * @op: OCF_OP_PUBLIC_KEY
 * @scheme: OCF_PK_RAW, ...: of RSA
 * @curve: OCF_PK_P256, ...: of EC
 * @policy: OCF_POLICY_LATENCY or OCF_POLICY_CPU
 * @code: OCF_PK_MOD_EXP, ...
 * @in: how many operands
 * @out: how many results
 * @flags: OCF_SESSION_HARDWARE, OCF_SESSION_SOFTWARE
 * @salt: PSS: bytes of salt; OCF_PK_SALT_ANY: verification accepts any length
 * @hash: name of a digest ("sha256"), for operations with one
 * @values: address of struct ocf_pk_value: the operands, and then the results
 * @device: the only device to use, or empty
 *
 * A result that is a number fills its buffer, with zeros in front.
 * ocf_result.res is the length of the first result.  Errors besides those of a
 * command: EBADMSG: a signature, or the padding of OAEP, is wrong;
 * EKEYREJECTED: a key or a peer's value that must not be used; EDOM: an operand
 * is out of range; EOPNOTSUPP: no device can do it; EPERM: the hash is weak, or
 * FIPS 140 forbids the operation.
 *
 * If no card does it, the calling task does a single command of OCF_RUN.
 * Threads of the caller's process do all others, on several processors.
 */
struct ocf_pk_command {
	__aligned_u64	cookie;
	__u32		none;
	__u8		op;
	__u8		scheme;
	__u8		curve;
	__u8		policy;
	__u16		code;
	__u8		in;
	__u8		out;
	__u32		flags;
	__u32		salt;
	char		hash[OCF_HASH_NAME_MAX];
	__aligned_u64	values;
	char		device[OCF_NAME_MAX];
};

/* ---- results, and many commands ---- */

/**
 * struct ocf_result - the result of a command
 * @cookie: the cookie of the command
 * @res: bytes of the result (DIGEST: of the digest), or a negative errno:
 *	EINVAL: no such session, or the command does not fit it; E2BIG; EFAULT;
 *	EBADMSG: tag, MAC or padding is wrong; EBUSY: all devices are full;
 *	ECANCELED; ENODEV: no device is left that may do it; EIO: the devices
 *	failed; ENOSPC: the result does not fit; EDQUOT: the user has too much
 *	in flight; ENOMEM.  After EIO and ENODEV the source of CIPHER is as it
 *	was, also in place.
 * @wrong: the field of the command that caused the error, OCF_FIELD_*, or 0 if
 *	the kernel does not say.  It is set after EINVAL and E2BIG, and for
 *	public-key operations also after EPERM, EDOM, EKEYREJECTED, ENODEV and
 *	ENOSPC.  After any other result: 0
 */
struct ocf_result {
	__aligned_u64	cookie;
	__s32		res;
	__u32		wrong;
};

/**
 * struct ocf_vector - OCF_RUN, OCF_SUBMIT, OCF_URING_VECTOR: many commands
 * @commands: address of struct ocf_command or ocf_pk_command, @count of them
 * @results: address of struct ocf_result, as many; OCF_SUBMIT: 0
 * @count: how many, 1 to OCF_VECTOR_MAX
 * @flags: zero
 */
struct ocf_vector {
	__aligned_u64	commands;
	__aligned_u64	results;
	__u32		count;
	__u32		flags;
};

/**
 * struct ocf_reap - OCF_REAP
 * @results: address of struct ocf_result
 * @count: how many of them
 * @flags: zero
 */
struct ocf_reap {
	__aligned_u64	results;
	__u32		count;
	__u32		flags;
};

/*
 * Sessions.  OCF_SESSION_OPEN: EINVAL: names, lengths or numbers do not fit
 * together; EPERM: the algorithm is weak, and the administrator has not allowed
 * it; EOPNOTSUPP: no device is capable of it; ENODEV: there is no such device;
 * EDQUOT: the user has too many sessions, or they take too much memory; ENOSPC:
 * the descriptor has too many; ENOMEM; EFAULT.  The other calls: EINVAL if the
 * session does not exist, or belongs to another interface.  OCF_SESSION_REKEY:
 * also the errors of OCF_SESSION_OPEN.  OCF_SESSION_CLOSE takes the address of
 * a __u32; commands in flight are finished.
 */
#define OCF_FEATURES		_IO('c', 176)
#define OCF_ALGORITHM		_IO('c', 177)	/* ENOENT: there are no more */
#define OCF_SESSION_OPEN	_IO('c', 178)
#define OCF_SESSION_CLOSE	_IOW('c', 179, __u32)
#define OCF_SESSION_REKEY	_IO('c', 180)
#define OCF_SESSION_QUERY	_IO('c', 181)

/*
 * OCF_RUN: does commands and waits for all of them.  The result of a command
 * has the same index.  Returns 0; EINVAL; EFAULT: a result could not be
 * written; EINTR: the caller is being killed.
 *
 * OCF_SUBMIT: submits commands, and stops at the first that is refused.
 * Returns how many were submitted.  If the first is refused, it fails with the
 * reason: an error of a result, or EBUSY if there are OCF_COMMANDS_MAX already.
 * Threads of the calling process, with the name "ocf", do work that takes the
 * CPU more than about 20 us.
 *
 * OCF_REAP: takes results of commands that the calling process has submitted,
 * in the order in which they were completed.  Returns how many, perhaps 0.
 * poll() reports POLLIN if there are results, and POLLOUT if more than a few
 * commands can be submitted.
 *
 * OCF_EVENTFD: takes the address of a descriptor of an eventfd, or of -1 for
 * none.  Each result adds one to the eventfd.
 *
 * OCF_CANCEL: takes the address of a __u64.  Commands of OCF_SUBMIT and of
 * io_uring with this cookie end with ECANCELED, unless they are done before.
 * Returns how many there are; ENOENT if there is none.
 */
#define OCF_RUN			_IOW('c', 182, struct ocf_vector)
#define OCF_SUBMIT		_IOW('c', 183, struct ocf_vector)
#define OCF_REAP		_IOW('c', 184, struct ocf_reap)
#define OCF_EVENTFD		_IOW('c', 185, __s32)
#define OCF_CANCEL		_IOW('c', 186, __u64)

/*
 * io_uring: sqe->cmd_op of IORING_OP_URING_CMD, on a ring with
 * IORING_SETUP_SQE128.  sqe->cmd has the structure itself, where an ioctl()
 * takes its address: struct ocf_command or ocf_pk_command with
 * OCF_URING_COMMAND.  cqe->res is the result, as in struct ocf_result;
 * OCF_URING_VECTOR: 0 or a negative errno.  When the ring is closed, commands
 * in flight are cancelled.
 *
 * The kernel reads sqe->cmd when the entry begins.  An entry that follows one
 * with IOSQE_IO_LINK or IOSQE_IO_HARDLINK may begin so late that the program
 * has already reused its place in the ring.  Such an entry needs IOSQE_ASYNC,
 * which makes io_uring copy it.
 */
#define OCF_URING_COMMAND	_IO('c', 187)
#define OCF_URING_VECTOR	_IO('c', 188)
#define OCF_URING_CANCEL	_IO('c', 189)

#endif /* _UAPI_LINUX_OCF_H */
