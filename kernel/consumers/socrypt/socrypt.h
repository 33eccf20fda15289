/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SO_CRYPT, from the inside.
 *
 * Locks.  The socket's lock protects all of a socket's state.  A task owns the
 * socket, or BH holds the spinlock while no task owns it.  Results come in BH.
 * If a task owns the socket then, the callback sets a note (SO_TX_PUSH, ...),
 * and the task acts on it when it releases the socket.  A write that waits for
 * room releases the socket, as in TCP.  Meanwhile other tasks may write, or set
 * keys, so the write reads the socket's state again.
 *
 * Lifetime.  A socket has a context from TCP_ULP until close(), which waits for
 * all records in flight.
 */
#ifndef OCF_SOCRYPT_H
#define OCF_SOCRYPT_H

#include <linux/ocf.h>
#include <linux/ocf_user.h>
#include <linux/pipe_fs_i.h>
#include <linux/scatterlist.h>
#include <linux/so_crypt.h>
#include <linux/wait.h>
#include <net/tcp.h>

#include "../../compat.h"
#include "framing.h"

/* The most pieces of a file's pages that a record refers to */
#define SO_PIECES	20
/* Bytes.  Copying a shorter piece costs less than to refer to it. */
#define SO_COPY_MAX	512

#define SO_PARTS	6

/**
 * struct so_room - the memory of a record
 * @part: parts, each in a compound page, with a reference
 * @parts: how many there are
 * @size: bytes of all of them
 *
 * The bytes before the data are all in the first part.
 */
struct so_room {
	struct so_part {
		struct page	*page;
		u32		off, len;
	}	part[SO_PARTS];
	u32	parts;
	u32	size;
};

/**
 * struct so_keys - the keys of a direction
 * @fr: its framing
 * @ses: the session
 * @flags: SO_CRYPT_*
 * @protocol: SO_CRYPT_TLS_*
 * @cipher: the algorithm
 * @mac: the algorithm
 * @ivlen: bytes of @iv
 * @iv: the constant part of nonces; CHAINED: the last block of the record
 *	before
 * @number: of the next record
 * @counter: the next nonce's explicit part, if it is counted
 * @copies: copy a file's pages: a device would read them twice, and they may
 *	change
 * @ktls: TLS_CIPHER_*, if they were set by kTLS's interface, or 0
 * @check: digest of the keys, to recognise the same keys if they are set again
 */
struct so_keys {
	struct so_framing fr;
	struct ocf_session	*ses;
	u32			flags;
	u32			protocol;
	enum ocf_alg		cipher, mac;
	u32			ivlen;
	u8			iv[OCF_IV_MAX];
	u64			number;
	u64			counter;
	bool			copies;
	u16			ktls;
	u8			check[32];
};

/**
 * struct so_new_keys - keys that are not in use
 * @keys: the keys
 * @file: /dev/crypto, if it gives away the session, or NULL
 * @ses: the number of that session
 */
struct so_new_keys {
	struct so_keys	keys;
	struct file	*file;
	u32		ses;
};

/* A record to send: tx.h */
struct so_record;

/**
 * struct so_tx - the sending direction
 * @keys: of the next record
 * @records: records that TCP does not have yet, in order
 * @open: the last one, while it takes more payload
 * @notes: SO_TX_*
 * @err: why nothing is sent any more, or 0
 * @idle: tasks that wait until nothing is in flight
 * @retry: goes on where TCP had no memory or the core was busy
 * @sk: the socket
 * @queued: bytes that TCP does not have yet, counted as on the wire; of the
 *	open record only the payload counts
 * @sent: bytes of payload that TCP has taken
 * @count: records that TCP has taken
 * @changes: how often keys were set
 */
struct so_tx {
	struct so_keys		keys;
	struct list_head	records;
	struct so_record	*open;
	unsigned long		notes;
	int			err;
	wait_queue_head_t	idle;
	struct delayed_work	retry;
	struct sock		*sk;
	u32			queued;
	u64			sent, count;
	u32			changes;
};

/* so_tx.notes */
#define SO_TX_PUSH	0	/* results came while a task owned the socket */
#define SO_TX_PUSHING	1	/* so_tx_push() runs, further up the stack */
#define SO_TX_STUCK	2	/* TCP took nothing: wait for its memory */
/* do not wait for more records before the push */
#define SO_TX_FLUSH	3
#define SO_TX_ENDING	4	/* nothing more may be written */

/* Received records: rx.h */
struct so_opening;
struct so_inbound;

/**
 * struct so_message - a handshake message, RFC 8446, 4
 * @head: its type and length
 * @have: bytes of @head that have arrived
 * @left: bytes after @head that have not arrived
 */
struct so_message {
	u8			head[4];
	u8			have;
	u32			left;
};

/**
 * struct so_rx - the receiving direction
 * @keys: of the next record
 * @records: records that can be read, in order
 * @opening: records after those, in order: incomplete, not open, or wrong
 * @cut: the last one, while it is incomplete
 * @header: the next record's header, as far as it has arrived
 * @header_len: bytes of it
 * @message: TLS 1.3: the handshake message that is being parsed
 * @pending: bytes charged to the socket
 * @unread: bytes of those for records that can be read
 * @stop: why nothing is taken from TCP any more, or 0
 * @err: why nothing is read any more, or 0: @stop, once all @records were read
 * @once: report @err once.  kTLS reports a wrong header once, and then has
 *	nothing to read; it reports a record that cannot be opened each time
 * @told: @err was reported
 * @ended: the last of @records announces new keys
 * @paused: that record was read
 * @ready: a read returns at once; for tasks that do not hold the socket
 * @enough: poll() reports the socket as readable
 * @lowat: SO_RCVLOWAT; TCP's own stays 1, because TCP counts only its own bytes
 * @notes: SO_RX_*
 * @idle: tasks that wait until no record is in the core
 * @retry: goes on where there was no memory or the core was busy
 * @sk: the socket
 * @data_ready: the socket's own callback, which wakes tasks that read
 * @got: bytes of payload that were read
 * @count: records that were read
 * @changes: how often keys were set
 */
struct so_rx {
	struct so_keys		keys;
	struct list_head	records;
	struct list_head	opening;
	struct so_opening	*cut;
	u8			header[SO_CRYPT_HEADER_MAX];
	u32			header_len;
	struct so_message	message;
	u32			pending;
	u32			unread;
	int			stop;
	int			err;
	bool			once, told;
	bool			ended, paused;
	bool			ready, enough;
	int			lowat;
	unsigned long		notes;
	wait_queue_head_t	idle;
	struct delayed_work	retry;
	struct sock		*sk;
	void			(*data_ready)(struct sock *sk);
	u64			got, count;
	u32			changes;
};

/* so_rx.notes */
#define SO_RX_STOPPED	0	/* no memory: bytes are left with TCP */
#define SO_RX_OPENED	1	/* opened while a task owned the socket */
#define SO_RX_RETRY	2	/* @retry ran while a task owned the socket */

/**
 * struct so_ctx - the context of a socket
 * @base: the socket's protocol without this module
 * @base_ops: the socket's calls without this module
 * @write_space: the socket's callback without this module
 * @tx: the sending direction
 * @rx: the receiving direction
 * @stable: TLS_TX_ZEROCOPY_RO
 * @no_pad: TLS_RX_EXPECT_NO_PAD
 * @payload_max: TLS_TX_MAX_PAYLOAD_LEN
 * @tx_keys: keys were set for sending
 * @rx_keys: keys were set for receiving
 * @rcu: frees the memory after a grace period
 */
struct so_ctx {
	struct proto		*base;
	const struct proto_ops	*base_ops;
	void			(*write_space)(struct sock *sk);
	struct so_tx		tx;
	struct so_rx		rx;
	bool			stable, no_pad;
	u16			payload_max;
	bool			tx_keys, rx_keys;
	struct rcu_head		rcu;
};

static inline struct so_ctx *so_ctx(const struct sock *sk)
{
	return (__force struct so_ctx *)inet_csk(sk)->icsk_ulp_data;
}

/* main.c */
void so_take_over_reading(struct sock *sk);

/* options.c */
int so_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval,
		  unsigned int optlen);
int so_getsockopt(struct sock *sk, int level, int optname, char __user *optval,
		  int __user *optlen);

/* ktls.c */
#define SO_KTLS_OPTION_MAX	56	/* bytes: AES-256-GCM's */

int so_ktls_read(struct so_crypt *c, u16 *type, sockptr_t optval, u32 optlen);
int so_ktls_tell(const struct so_keys *k, u64 number, u8 *option, u32 len);
int so_ktls_fits(const struct so_keys *ours, const struct so_keys *other,
		 const struct so_crypt *c, u16 type);
int so_ktls_info(const struct so_ctx *ctx, struct sk_buff *skb);
size_t so_ktls_info_size(void);

/* room.c */
#define SO_ROOM_ALIGN	64	/* bytes: a cache line */

int so_rooms_init(void);
void so_rooms_exit(void);
int so_room_get(struct so_room *room, u32 head, int align, u32 size, gfp_t gfp);
void so_room_trim(struct so_room *room, u32 size);
void so_room_put(struct so_room *room);
u8 *so_room_byte(const struct so_room *room, u32 at, u32 *left);
void so_room_write(const struct so_room *room, u32 at, const u8 *from, u32 len);
void so_room_read(const struct so_room *room, u32 at, u8 *to, u32 len);
void so_sg_set(struct scatterlist *sg, struct page *page, u32 len, u32 off);
void so_sg_set_bytes(struct scatterlist *sg, const void *bytes, u32 len);
u32 so_room_list(const struct so_room *room, u32 skip, struct scatterlist *sg);

/* keys.c */
int so_keys_make(struct so_new_keys *new, const struct so_crypt *c, u16 ktls,
		 bool receive);
int so_keys_replace(struct so_keys *keys, struct so_new_keys *new, bool any);
void so_keys_end(struct so_new_keys *new);
void so_keys_stable(struct so_keys *k, bool stable);
void so_keys_forget(struct so_keys *keys);

/* tx.c */
int so_tx_init_module(void);
void so_tx_exit_module(void);
void so_tx_init(struct so_tx *tx, struct sock *sk);
void so_tx_exit(struct so_tx *tx);
int so_tx_cut(struct so_tx *tx);
void so_tx_end(struct so_tx *tx);
int so_tx_finish(struct so_tx *tx);
void so_tx_released(struct so_tx *tx);
void so_tx_space(struct so_tx *tx);
bool so_tx_memory_free(const struct so_tx *tx, int wake);
void so_tx_tell(struct so_tx *tx, struct so_crypt_info *info);

/* write.c */
int so_tx_write(struct so_tx *tx, struct msghdr *msg, size_t size);

/* rx.c */
int so_rx_init_module(void);
void so_rx_exit_module(void);
void so_rx_init(struct so_rx *rx, struct sock *sk);
void so_rx_exit(struct so_rx *rx);
int so_rx_set(struct so_rx *rx, struct so_new_keys *new);
void so_rx_arrived(struct so_rx *rx);
void so_rx_released(struct so_rx *rx);
void so_rx_settle(struct so_rx *rx);
int so_rx_wait(struct so_rx *rx, bool killable);
bool so_rx_loses_data(struct so_rx *rx);
u64 so_rx_number(const struct so_rx *rx);
void so_rx_tell(struct so_rx *rx, struct so_crypt_info *info);

/* read.c */
int so_rx_readable(struct so_rx *rx);
int so_rx_read(struct so_rx *rx, struct msghdr *msg, size_t size, int flags);
ssize_t so_rx_splice(struct so_rx *rx, struct pipe_inode_info *pipe,
		     size_t size, bool nonblock);

#endif /* OCF_SOCRYPT_H */
