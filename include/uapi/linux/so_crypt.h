/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * SO_CRYPT: sockets whose records the kernel makes and opens.
 *
 * The control plane is a program's: it shakes hands over its TCP socket as
 * always.  Then it gives the socket keys, for each direction on its own, and
 * what it sends from then on, by send(), writev(), splice() or sendfile(),
 * goes out in records; what it receives is what was in its peer's.
 *
 *	setsockopt(fd, SOL_TCP, TCP_ULP, "ocf", 3);
 *	struct so_crypt c = {
 *		.size = sizeof(c), .protocol = SO_CRYPT_TLS_1_2,
 *		.cipher = "aes-gcm", .keylen = 16, .ivlen = 4,
 *	};
 *	memcpy(c.key, key, 16);
 *	memcpy(c.iv, salt, 4);
 *	setsockopt(fd, SOL_OCF, SO_CRYPT_TX, &c, sizeof(c));
 *	sendfile(fd, file, NULL, size);
 *
 * A direction that has keys never goes back to having none.  Setting it again
 * gives it new ones, from the next record on.
 */
#ifndef _UAPI_LINUX_SO_CRYPT_H
#define _UAPI_LINUX_SO_CRYPT_H

#include <linux/types.h>

/* The level of the options below, and of their control messages */
#define SOL_OCF			0x4f43

/*
 * setsockopt(): TCP_ULP "ocf" comes first.  EEXIST: the socket has a ULP.
 * ENOTCONN: it is not connected.  EBUSY: it is in a sockmap.  ENOENT: the
 * module is not there.  EOPNOTSUPP: it is a subflow of MPTCP, or the like.
 * ENOMEM.
 *
 * setsockopt(): struct so_crypt gives a direction its keys.  EINVAL: numbers,
 * names or lengths do not fit together; the key it has already (one of before
 * that comes again is not known; its numbers must not).  EPERM: a weak
 * algorithm the administrator has not allowed.  EOPNOTSUPP, ENODEV, ENOSPC; and
 * where cards alone may do it EIO, EKEYREJECTED, ETIMEDOUT: as of a session of
 * /dev/crypto.  EBADF: so_crypt.fd is no descriptor.  EBUSY:
 * the direction was set by another interface; or records look other than
 * before, and not all that was received was read.
 * ENOTCONN: the connection is being closed.  What has ended the direction
 * before, as below.  EDQUOT: the user's sessions take
 * too much memory.  E2BIG: the structure is longer than the kernel's, and what
 * the kernel does not know is not zero.  ENOPROTOOPT: no such option.  EFAULT,
 * ENOMEM.  It does not wait for the peer: what was written before goes out with
 * the keys of before.
 *
 * getsockopt(): struct so_crypt_info.  ENOENT: the direction has no keys.
 * EINVAL: a negative length.  ENOPROTOOPT, EFAULT.
 *
 * What is sent: EKEYEXPIRED: the last number was used.  EPIPE: the connection
 * is closed for sending.  EINVAL: a control message that makes no sense, as one
 * for a record of TLS without a byte that is no data; MSG_MORE with MSG_EOR.
 * EOPNOTSUPP: a flag that means nothing here.  EAGAIN, EINTR, EFAULT: as of any
 * socket.
 * EIO, ENODEV, ENOMEM, E2BIG (longer than the only card takes): a record could
 * not be encrypted, and no more are sent.  If there is no memory for a record,
 * the call waits, as it does for room.  ECONNRESET, ETIMEDOUT: what has ended
 * the connection.
 *
 * What is received: EBADMSG, EMSGSIZE, EPROTO, ECONNABORTED: what came is no
 * record.  EKEYEXPIRED: new keys have to be set, or the last number was used.
 * EIO: the record is no data, and there is no room for its type.  EINVAL:
 * MSG_OOB.  EIO, ENODEV, ENOMEM, E2BIG: it could not be decrypted.  ENOMEM:
 * splice() had no memory.  ECONNRESET, ETIMEDOUT, EAGAIN, EINTR, EFAULT: as of
 * any socket.
 */
#define SO_CRYPT_TX		1
#define SO_CRYPT_RX		2

/*
 * Control message: one byte, the record's type.  To send it is one record's,
 * or those of a whole sendmsg() without MSG_MORE; the type of data if there is
 * none.  recvmsg() gives it with each record that is not data, and never gives
 * bytes of two types at once; without room for it that is EIO, and the record
 * stays.  MSG_EOR says that what was read ends with a record.
 */
#define SO_CRYPT_TYPE		3

/* so_crypt.protocol: whose records they are */
enum {
	SO_CRYPT_FRAMED,	/* so_crypt.framing says */
	SO_CRYPT_TLS_1_0,	/* RFC 2246 */
	SO_CRYPT_TLS_1_1,	/* RFC 4346 */
	SO_CRYPT_TLS_1_2,	/* RFC 5246, 5288, 6655, 7905 */
	SO_CRYPT_TLS_1_3,	/* RFC 8446 */
};

/* so_crypt.flags */
#define SO_CRYPT_HARDWARE	(1u << 0)	/* cards may be used; neither */
#define SO_CRYPT_SOFTWARE	(1u << 1)	/* or both: cards and CPU */
#define SO_CRYPT_ETM		(1u << 2)	/* TLS 1.0 to 1.2: RFC 7366 */
#define SO_CRYPT_SESSION	(1u << 3)	/* keys are of @fd, @ses */
/*
 * Pages that are sent by reference do not change until the peer has read them.
 * Without this, what would have to be read twice (CCM; a MAC, then a cipher)
 * is copied first: else who writes to a file could break the connections that
 * are being sent it.
 */
#define SO_CRYPT_STABLE		(1u << 4)
#define SO_CRYPT_FLAGS		0x1fu

#define SO_CRYPT_NAME_MAX	32	/* bytes, with the NUL */
#define SO_CRYPT_KEY_MAX	64	/* bytes */
#define SO_CRYPT_IV_MAX		16	/* bytes */
#define SO_CRYPT_HEADER_MAX	16	/* bytes */
#define SO_CRYPT_PAYLOAD_MAX	65536	/* bytes */

/* so_crypt_framing.type_at: records have no type */
#define SO_CRYPT_NOWHERE	0xff

/* so_crypt_framing.order: how cipher and MAC are put together */
enum {
	SO_CRYPT_AEAD,
	SO_CRYPT_MAC_THEN_ENCRYPT,
	SO_CRYPT_ENCRYPT_THEN_MAC,
};

/* so_crypt_framing.nonce: where each record's IV comes from */
enum {
	/* there is none, as of ECB */
	SO_CRYPT_NONCE_NONE,
	/* so_crypt.iv, and then a number that is sent: RFC 5288, section 3 */
	SO_CRYPT_NONCE_COUNTED,
	/* so_crypt.iv and the record's number, xor: RFC 8446, section 5.3 */
	SO_CRYPT_NONCE_XOR,
	/* random, sent: RFC 4346, section 6.2.3.2 */
	SO_CRYPT_NONCE_RANDOM,
	/* so_crypt.iv, and then each record's last block: RFC 2246, 6.2.3.2 */
	SO_CRYPT_NONCE_CHAINED,
};

/* so_crypt_framing.auth_length: what stands for the length under the MAC */
enum {
	SO_CRYPT_LENGTH_SENT,		/* what is sent */
	SO_CRYPT_LENGTH_PAYLOAD,	/* the payload's */
	SO_CRYPT_LENGTH_SEALED,		/* of all between header and MAC */
};

/* so_crypt_framing.flags */
#define SO_CRYPT_AUTH_NUMBER	(1u << 0)	/* 64 bits, in network order,
						 * before all else */
#define SO_CRYPT_AUTH_HEADER	(1u << 1)	/* with auth_length */
#define SO_CRYPT_PADDED		(1u << 2)	/* to whole blocks, by at least
						 * one byte: n times n - 1 */
#define SO_CRYPT_INNER_TYPE	(1u << 3)	/* the type follows the payload,
						 * then zeros: RFC 8446, 5.2;
						 * so no type is zero */
#define SO_CRYPT_LITTLE		(1u << 4)	/* the length's lowest byte
						 * comes first */
#define SO_CRYPT_FRAMING_FLAGS	0x1fu

/**
 * struct so_crypt_framing - how records look
 * @header: what each begins with; type and length are put in
 * @header_len: bytes of it, 1 to 16
 * @type_at: where in it the type is, a byte, or SO_CRYPT_NOWHERE
 * @length_at: where in it the length is
 * @length_size: bytes of the length, 1 to 4
 * @length_more: added to the number of bytes after the header, and that is the
 *	length: the header's own, if it counts as well
 * @order: SO_CRYPT_AEAD, ...
 * @nonce: SO_CRYPT_NONCE_*
 * @explicit_len: bytes of the nonce that follow the header
 * @auth_length: SO_CRYPT_LENGTH_*
 * @data_type: type of what is sent and received without saying
 * @pad: zero
 * @flags: SO_CRYPT_AUTH_NUMBER, ...
 * @payload_max: bytes of payload in a record, 1 to SO_CRYPT_PAYLOAD_MAX
 * @sealed_max: bytes after the header a record may have that is received
 * @number_max: the last record's number under one key, at most 2^64 - 2
 *
 * A record is: header, explicit part of the nonce, what is encrypted, tag or
 * MAC (MAC_THEN_ENCRYPT has that among what is encrypted).
 */
struct so_crypt_framing {
	__u8		header[SO_CRYPT_HEADER_MAX];
	__u8		header_len;
	__u8		type_at;
	__u8		length_at;
	__u8		length_size;
	__s8		length_more;
	__u8		order;
	__u8		nonce;
	__u8		explicit_len;
	__u8		auth_length;
	__u8		data_type;
	__u8		pad[2];
	__u32		flags;
	__u32		payload_max;
	__u32		sealed_max;
	__aligned_u64	number_max;
};

/**
 * struct so_crypt - what a direction of a socket is to have
 * @size: bytes of this structure that the caller has filled in; what a later
 *	kernel adds is zero for who does not know it
 * @flags: SO_CRYPT_HARDWARE, ...
 * @protocol: SO_CRYPT_TLS_1_2, ...
 * @cipher: its name, as in /sys/class/ocf/DEVICE/algorithms: "aes-gcm"
 * @mac: its name, or none with AEAD: "hmac-sha1"
 * @key: the cipher's
 * @mackey: the MAC's
 * @iv: what nonces begin with.  TLS: 1.3 and ChaCha20 12 bytes; GCM and CCM in
 *	1.2 the salt's 4, and 8 more if sent nonces are not to begin with
 *	@number; CBC in 1.0 its block; none in 1.1 and 1.2
 * @keylen: bytes
 * @mackeylen: bytes
 * @ivlen: bytes
 * @maclen: bytes of MAC or tag that are sent; 0 for all
 * @pad: zero
 * @number: of the next record: 0 after a handshake's change of keys
 * @fd: SO_CRYPT_SESSION: a descriptor of /dev/crypto
 * @ses: SO_CRYPT_SESSION: a session of it, which the socket takes away from it
 *	unless this fails.  It brings algorithms, keys and what may do it, so
 *	@cipher, @mac, @key, @mackey and those of @flags are empty; how the
 *	algorithms are put together is the protocol's business.  That these are
 *	not the keys the direction has is then the caller's
 * @framing: SO_CRYPT_FRAMED: how records look; else zero
 */
struct so_crypt {
	__u32		size;
	__u32		flags;
	__u32		protocol;
	char		cipher[SO_CRYPT_NAME_MAX];
	char		mac[SO_CRYPT_NAME_MAX];
	__u8		key[SO_CRYPT_KEY_MAX];
	__u8		mackey[SO_CRYPT_KEY_MAX];
	__u8		iv[SO_CRYPT_IV_MAX];
	__u16		keylen;
	__u16		mackeylen;
	__u16		ivlen;
	__u16		maclen;
	__s32		fd;
	__u32		ses;
	__u32		pad;
	__aligned_u64	number;
	struct so_crypt_framing framing;
};

/**
 * struct so_crypt_info - what a direction has
 * @size: bytes of this structure that the kernel has filled in
 * @flags: as set
 * @protocol: as set
 * @maclen: bytes of MAC or tag
 * @cipher: its name
 * @mac: its name, or ""
 * @number: of the next record
 * @records: so far, over all keys
 * @bytes: of payload so far
 * @in_flight: records that are not sent, or not delivered, yet
 * @keys: how many times keys were set
 *
 * Keys are never given back.
 */
struct so_crypt_info {
	__u32		size;
	__u32		flags;
	__u32		protocol;
	__u32		maclen;
	char		cipher[SO_CRYPT_NAME_MAX];
	char		mac[SO_CRYPT_NAME_MAX];
	__aligned_u64	number;
	__aligned_u64	records;
	__aligned_u64	bytes;
	__u32		in_flight;
	__u32		keys;
};

#endif /* _UAPI_LINUX_SO_CRYPT_H */
