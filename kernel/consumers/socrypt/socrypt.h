/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SO_CRYPT, from the inside.
 *
 * Locks.  All of a socket's state is under its lock: of a process that owns
 * it, or of who holds the spinlock while nobody does.  Results come in BH; who
 * finds the socket owned leaves a note (SO_TX_PUSH, ...) that is read when
 * the owner lets go.  A write that waits for room lets the socket go, as TCP
 * does.  Meanwhile other tasks may write, or set keys, so it reads the socket's
 * state again.
 *
 * Lives.  A socket's context lives from TCP_ULP until close() has waited for
 * what is in flight; nothing is in flight without one.
 */
#ifndef OCF_SOCRYPT_H
#define OCF_SOCRYPT_H

#include <linux/ocf.h>
#include <linux/pipe_fs_i.h>
#include <linux/scatterlist.h>
#include <linux/so_crypt.h>
#include <linux/wait.h>
#include <net/tcp.h>

#include "../../compat.h"
#include "framing.h"

/* Pieces of pages a record is made of when it is sent by reference */
#define SO_PIECES	20
/* A piece that is shorter is copied: that costs less than to refer to it */
#define SO_COPY_MAX	512

#define SO_PARTS	6

/**
 * struct so_room - where a record is built
 * @part: in a compound page each, with a reference
 * @parts: how many
 * @size: bytes of all of them
 *
 * What goes before the data is in the first part, whole.
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
 * struct so_keys - what a direction was given
 * @fr: its framing
 * @ses: the session
 * @flags: SO_CRYPT_*
 * @protocol: SO_CRYPT_TLS_*
 * @cipher: the algorithm
 * @mac: the algorithm
 * @ivlen: bytes of @iv
 * @iv: what nonces begin with; CHAINED: the last block
 * @number: of the next record
 * @counter: the next nonce's explicit part, if it is counted
 * @copies: by-reference sources would be read twice, and may change
 * @ktls: TLS_CIPHER_*, if they were set by kTLS's interface, or 0
 * @check: digest of the keys, to know them again
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

/* A record on its way out: tx.h */
struct so_record;

/**
 * struct so_tx - what is sent
 * @keys: of the next record
 * @records: in order, from the one to be sent next on
 * @open: the last one, while it takes more payload
 * @notes: SO_TX_*
 * @err: why nothing is sent any more
 * @idle: nothing is in flight
 * @retry: tries to push what TCP had no memory for, or devices no place
 * @sk: the socket
 * @queued: bytes that TCP does not have yet, as on the wire; of the open record
 *	only its payload
 * @sent: payload so far
 * @count: records so far
 * @changes: of keys
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
#define SO_TX_PUSH	0	/* results came while the socket was owned */
#define SO_TX_PUSHING	1	/* somebody is at it, further up the stack */
#define SO_TX_STUCK	2	/* TCP took nothing: wait for its memory */
#define SO_TX_FLUSH	3	/* TCP is to have what there is */
#define SO_TX_ENDING	4	/* nothing more may be written */

/* Records on their way in: rx.h */
struct so_opening;
struct so_inbound;

/**
 * struct so_message - a handshake's message, RFC 8446, 4
 * @head: its type and length
 * @have: bytes of @head that have come
 * @left: bytes after @head, yet to come
 */
struct so_message {
	u8			head[4];
	u8			have;
	u32			left;
};

/**
 * struct so_rx - what is received
 * @keys: of the next record
 * @records: that can be read, in order
 * @opening: those after them, in order: not whole, not open, or wrong
 * @cut: the last one, while there is more of it to come
 * @header: the next one's, as far as it has come
 * @header_len: bytes of it
 * @message: a handshake's, as far as it is open, TLS 1.3
 * @pending: bytes charged to the socket
 * @unread: bytes of those for what can be read
 * @stop: why nothing is taken from TCP any more
 * @err: why nothing is read any more: @stop, after @records
 * @once: @err is to be told once: kTLS tells @stop once, and has nothing to
 *	read then; of a record that is wrong inside it tells each time
 * @told: it was
 * @ended: a record can be read that says that other keys follow
 * @paused: it was read
 * @ready: something is to be had; for who does not hold the socket
 * @enough: so much of it that poll() says so
 * @lowat: SO_RCVLOWAT; TCP's stays 1, as it would count what it has itself
 * @notes: SO_RX_*
 * @idle: nothing is in the core
 * @retry: tries to read what there was no memory for
 * @sk: the socket
 * @data_ready: what the socket had before, which wakes who reads
 * @got: payload so far
 * @count: records so far
 * @changes: of keys
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
#define SO_RX_STOPPED	0	/* by memory: bytes are left with TCP */
#define SO_RX_OPENED	1	/* a record was, while the socket was owned */
#define SO_RX_RETRY	2	/* likewise it was time to look again */

/**
 * struct so_ctx - a socket's
 * @base: what the socket's protocol is without us
 * @base_ops: the same of its calls
 * @write_space: the same
 * @tx: what is sent, once there are keys
 * @rx: what is received, once there are keys
 * @stable: TLS_TX_ZEROCOPY_RO
 * @no_pad: TLS_RX_EXPECT_NO_PAD
 * @payload_max: TLS_TX_MAX_PAYLOAD_LEN
 * @tx_keys: keys were set
 * @rx_keys: keys were set
 * @rcu: frees it
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
int so_keys_set(struct so_keys *keys, const struct so_crypt *c, u16 ktls,
		bool any, bool receive);
void so_keys_stable(struct so_keys *keys, bool stable);
void so_keys_forget(struct so_keys *keys);

/* tx.c */
int so_tx_init_module(void);
void so_tx_exit_module(void);
void so_tx_init(struct so_tx *tx, struct sock *sk);
void so_tx_exit(struct so_tx *tx);
int so_tx_cut(struct so_tx *tx);
void so_tx_end(struct so_tx *tx);
void so_tx_finish(struct so_tx *tx);
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
int so_rx_set(struct so_rx *rx, const struct so_crypt *c, u16 ktls);
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
