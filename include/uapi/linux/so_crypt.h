/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * SO_CRYPT: the kernel encrypts and decrypts the records of a socket.
 *
 * The program does the handshake over its TCP socket as always.  Then it sets
 * the keys of each direction.  From then on the kernel sends the bytes of
 * send(), writev(), splice() and sendfile() in encrypted records, and the
 * program reads the decrypted payload of received records.
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
 * A direction with keys cannot return to plain TCP.  Setting keys again gives
 * it new ones, from the next record on.
 */
#ifndef _UAPI_LINUX_SO_CRYPT_H
#define _UAPI_LINUX_SO_CRYPT_H

#include <linux/types.h>

/* The level of the options below, and of their control messages */
#define SOL_OCF			0x4f43

/*
 * setsockopt(TCP_ULP, "ocf"), which comes first.  EEXIST: the socket has a ULP.
 * ENOTCONN: it is not connected.  EBUSY: it is in a sockmap.  ENOENT: the
 * module is not there.  EOPNOTSUPP: it is no plain TCP socket, for instance a
 * subflow of MPTCP.  ENOMEM.
 *
 * setsockopt(SO_CRYPT_TX or SO_CRYPT_RX) sets the keys of a direction; the
 * value is a struct so_crypt.  It does not wait for the peer: data that were
 * written before are sent with the old keys.
 *
 *	EINVAL: numbers, names or lengths do not fit together; or the direction
 *	  has this key already.  (The kernel does not recognise older keys.  The
 *	  program must not use old keys with the same numbers again.)
 *	EPERM: the algorithm is weak, and the administrator has not allowed it
 *	EOPNOTSUPP, ENODEV, ENOSPC: as of a session of /dev/crypto; if only
 *	  cards may do it, also EIO, EKEYREJECTED, ETIMEDOUT
 *	EBADF: so_crypt.fd is no descriptor
 *	EBUSY: the direction was set by another interface; or the new framing
 *	  differs, and received data were not read yet
 *	ENOTCONN: the connection is being closed
 *	EDQUOT: the user's sessions take too much memory
 *	E2BIG: the structure is longer than the kernel's, and its other bytes
 *	  are not zero
 *	EINTR: the task was killed while cards worked on received records
 *	ENOPROTOOPT: there is no such option; EFAULT, ENOMEM
 *	or the error that has ended the direction before, see below
 *
 * getsockopt(): the value is a struct so_crypt_info.  ENOENT: the direction has
 * no keys.  EINVAL: a negative length.  ENOPROTOOPT, EFAULT.
 *
 * Sending.  EKEYEXPIRED: the last record number was used.  EPIPE: the
 * connection is closed for sending.  EINVAL: a control message that makes no
 * sense, for instance one for an empty TLS record of a type other than data; or
 * MSG_MORE together with MSG_EOR.  EOPNOTSUPP: a flag that has no meaning here.
 * EAGAIN, EINTR, EFAULT: as for any socket.  EIO, ENODEV, ENOMEM, E2BIG (the
 * record is longer than the limit of the only card): a record could not be
 * encrypted, and nothing more is sent.  ECONNRESET, ETIMEDOUT: the connection
 * has ended.  If there is no memory for a record, the call waits.
 *
 * Receiving.  EBADMSG, EMSGSIZE, EPROTO, ECONNABORTED: the received bytes are
 * no valid record.  EKEYEXPIRED: new keys must be set, or the last record
 * number was used.  EIO: the record is no data, and the caller gives no room
 * for its type.  EINVAL: MSG_OOB.  EIO, ENODEV, ENOMEM, E2BIG: the record could
 * not be decrypted.  ENOMEM: splice() had no memory.  ECONNRESET, ETIMEDOUT,
 * EAGAIN, EINTR, EFAULT: as for any socket.
 */
#define SO_CRYPT_TX		1
#define SO_CRYPT_RX		2

/*
 * Control message: one byte, the type of a record.  sendmsg() sets the type of
 * the records of the call, without MSG_MORE; the default is that of data.
 * recvmsg() returns it with each record that is no data, and never returns
 * bytes of two types.  If the caller gives no room for it, the error is EIO,
 * and the record can be read again.  MSG_EOR means that a record ends with the
 * bytes read.
 */
#define SO_CRYPT_TYPE		3

/* so_crypt.protocol: the format of records */
enum {
	SO_CRYPT_FRAMED,	/* as in so_crypt.framing */
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
 * The program promises that pages that are sent by reference (sendfile(),
 * splice()) do not change until the peer has read them.  Without this the
 * kernel copies pages that a device would read twice (CCM; a MAC, then a
 * cipher).
 * Otherwise a process could break connections by writing to a file that is
 * being sent.
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

/* so_crypt_framing.order: how cipher and MAC are combined */
enum {
	SO_CRYPT_AEAD,
	SO_CRYPT_MAC_THEN_ENCRYPT,
	SO_CRYPT_ENCRYPT_THEN_MAC,
};

/* so_crypt_framing.nonce: how the IV of a record is made */
enum {
	/* none */
	SO_CRYPT_NONCE_NONE,
	/* so_crypt.iv, and then a number that is sent: RFC 5288, section 3 */
	SO_CRYPT_NONCE_COUNTED,
	/* so_crypt.iv and the record's number, xor: RFC 8446, section 5.3 */
	SO_CRYPT_NONCE_XOR,
	/* random, sent: RFC 4346, section 6.2.3.2 */
	SO_CRYPT_NONCE_RANDOM,
	/* so_crypt.iv, then the last block of the record before: RFC 2246 */
	SO_CRYPT_NONCE_CHAINED,
};

/* so_crypt_framing.auth_length: the length in the header that the MAC covers */
enum {
	SO_CRYPT_LENGTH_SENT,		/* as on the wire */
	SO_CRYPT_LENGTH_PAYLOAD,	/* of the payload */
	SO_CRYPT_LENGTH_SEALED,		/* of all between header and MAC */
};

/*
 * so_crypt_framing.flags.  The MAC or tag covers first the record's number, 64
 * bits in network order (AUTH_NUMBER), then the header (AUTH_HEADER), in which
 * the length is that of auth_length.  PADDED: n bytes of the value n - 1 fill
 * the last block; n is at least 1.
 */
#define SO_CRYPT_AUTH_NUMBER	(1u << 0)
#define SO_CRYPT_AUTH_HEADER	(1u << 1)
#define SO_CRYPT_PADDED		(1u << 2)
#define SO_CRYPT_INNER_TYPE	(1u << 3)	/* the type follows the payload,
						 * then zeros: RFC 8446, 5.2;
						 * so no type is zero */
#define SO_CRYPT_LITTLE		(1u << 4)	/* the length's lowest byte
						 * comes first */
#define SO_CRYPT_FRAMING_FLAGS	0x1fu

/**
 * struct so_crypt_framing - the format of records
 * @header: the header of each record; the kernel fills in type and length
 * @header_len: bytes of it, 1 to 16
 * @type_at: offset of the type in it, one byte, or SO_CRYPT_NOWHERE
 * @length_at: offset of the length in it
 * @length_size: bytes of the length, 1 to 4
 * @length_more: the length is the number of bytes after the header plus this;
 *	for instance @header_len, if the length includes the header
 * @order: SO_CRYPT_AEAD, ...
 * @nonce: SO_CRYPT_NONCE_*
 * @explicit_len: bytes of the nonce that follow the header
 * @auth_length: SO_CRYPT_LENGTH_*
 * @data_type: the type of data, which needs no control message
 * @pad: zero
 * @flags: SO_CRYPT_AUTH_NUMBER, ...
 * @payload_max: the maximum of bytes of payload, 1 to SO_CRYPT_PAYLOAD_MAX
 * @sealed_max: the maximum of bytes after the header of a received record
 * @number_max: the last record number with one key, at most 2^64 - 2
 *
 * A record consists of the header, the explicit part of the nonce, the
 * encrypted bytes, and the tag or MAC.  With MAC_THEN_ENCRYPT the MAC is one of
 * the encrypted parts.
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
 * struct so_crypt - the keys of a direction
 * @size: bytes of this structure that the caller knows; fields that a later
 *	kernel adds are zero then
 * @flags: SO_CRYPT_HARDWARE, ...
 * @protocol: SO_CRYPT_TLS_1_2, ...
 * @cipher: its name, as in /sys/class/ocf/DEVICE/algorithms: "aes-gcm"
 * @mac: its name, "hmac-sha1"; empty with AEAD
 * @key: key of the cipher
 * @mackey: key of the MAC
 * @iv: the constant part of nonces.  TLS 1.3 and ChaCha20: 12 bytes.  GCM and
 *	CCM in TLS 1.2: the 4 bytes of the salt; 8 more bytes set the first
 *	explicit nonce, which is otherwise @number.  CBC: a block in TLS 1.0,
 *	nothing in TLS 1.1 and 1.2
 * @keylen: bytes
 * @mackeylen: bytes
 * @ivlen: bytes
 * @maclen: bytes of MAC or tag that are sent; 0 for all
 * @pad: zero
 * @number: of the next record: 0 after a handshake's change of keys
 * @fd: SO_CRYPT_SESSION: a descriptor of /dev/crypto
 * @ses: SO_CRYPT_SESSION: a session of @fd.  The socket takes it over, unless
 *	the call fails.  The session has the algorithms, the keys and the choice
 *	of devices, so @cipher, @mac, @key, @mackey, and HARDWARE and SOFTWARE
 *	in @flags, must be empty.  The protocol decides how the algorithms are
 *	combined.  The caller must make sure that the keys are new
 * @framing: SO_CRYPT_FRAMED: the format of records; otherwise zero
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
 * struct so_crypt_info - facts about a direction
 * @size: bytes of this structure that the kernel has filled in
 * @flags: as set
 * @protocol: as set
 * @maclen: bytes of MAC or tag
 * @cipher: its name
 * @mac: its name, or ""
 * @number: of the next record
 * @records: records so far, with all keys
 * @bytes: bytes of payload so far
 * @in_flight: records that TCP does not have yet, or that were not read yet
 * @keys: how often keys were set
 *
 * Keys cannot be read back.
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
