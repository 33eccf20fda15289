/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Received records: they are cut and opened (rx.c), parsed (look.c) and read
 * (read.c).
 */
#ifndef OCF_SOCRYPT_RX_H
#define OCF_SOCRYPT_RX_H

#include "socrypt.h"

#define SO_PENDING_MIN	(256 * 1024)	/* bytes, however small SO_RCVBUF is */

/* Where the payload of a readable record is */
enum so_inbound_kind {
	SO_SMALL,		/* after the struct: struct so_small */
	SO_PAGED,		/* in pages: struct so_paged */
};

/**
 * struct so_inbound - a record that can be read
 * @node: in so_rx.records
 * @number: its number
 * @text: bytes of payload; 0 only in a record that is no data
 * @read: bytes of the payload that were read
 * @charged: bytes charged to the socket
 * @seen: bytes of those that shrink TCP's window
 * @kind: where the payload is
 * @type: of the record
 * @ends_keys: records after this one have new keys
 *
 * The struct is small: a peer may send many records of one byte.
 */
struct so_inbound {
	struct list_head	node;
	u64			number;
	u32			text;
	u32			read;
	u32			charged;
	u32			seen;
	u8			kind;
	u8			type;
	bool			ends_keys;
};

struct so_small {
	struct so_inbound	base;
	u8			data[];
};

struct so_paged {
	struct so_inbound	base;
	struct so_room		room;
};

enum so_opening_state {
	SO_CUT,			/* is not complete */
	SO_HELD,		/* is complete; the core was busy */
	SO_SUBMITTING,		/* is being submitted */
	SO_OPENING,		/* the core has it */
	SO_OPEN,		/* the core is done; see @err */
};

/**
 * struct so_opening - a received record, until it is known to be right
 * @node: in so_rx.opening
 * @rx: its direction
 * @state: where it is
 * @err: why it could not be opened, or 0
 * @number: its number
 * @header: as it was received
 * @plan: its sizes
 * @sealed: bytes after the header
 * @got: how many of those have arrived
 * @charged: bytes charged to the socket
 * @looked: the next three are known
 * @type: of the record
 * @ends_keys: as in struct so_inbound
 * @text: bytes of payload
 * @from: the bytes after the header
 * @to: the decrypted bytes
 * @aad: bytes that are authenticated besides
 * @src: @aad and @from
 * @dst: @aad and @to
 * @req: the request
 */
struct so_opening {
	struct list_head	node;
	struct so_rx		*rx;
	enum so_opening_state	state;
	int			err;
	u64			number;
	u8			header[SO_CRYPT_HEADER_MAX];
	struct so_framing_plan plan;
	u32			sealed;
	u32			got;
	u32			charged;
	bool			looked;
	u8			type;
	bool			ends_keys;
	u32			text;
	struct so_room		from, to;
	u8			aad[FRAMING_AAD_MAX];
	struct scatterlist	src[1 + SO_PARTS];
	struct scatterlist	dst[1 + SO_PARTS];
	struct ocf_request	req;
};

static inline enum so_opening_state so_opening_state(const struct so_opening *o)
{
	/* pairs with opened(): then the plaintext can be read */
	return smp_load_acquire(&o->state);
}

static inline struct so_inbound *so_rx_first(const struct so_rx *rx)
{
	return list_first_entry_or_null((struct list_head *)&rx->records,
					struct so_inbound, node);
}

static inline struct so_opening *so_rx_opening(const struct so_rx *rx)
{
	return list_first_entry_or_null((struct list_head *)&rx->opening,
					struct so_opening, node);
}

/* Whether the next record waits for new keys, or was wrong. */
static inline bool so_rx_is_blocked(const struct so_rx *rx)
{
	const struct so_opening *o = so_rx_opening(rx);

	return rx->ended || (o && so_opening_state(o) == SO_OPEN && o->err);
}

/*
 * Whether to leave arriving bytes with TCP, whose window then closes.  That is
 * so when many bytes are unread or being opened.  Unread bytes may fill half of
 * the receive buffer.  The other half is left to TCP, because TCP announces a
 * larger window only when bytes are read from TCP.  It is also so while no
 * record can be opened: a record that waits takes much more memory than its
 * bytes in TCP.
 */
static inline bool so_rx_is_full(const struct so_rx *rx)
{
	u32 most = READ_ONCE(rx->sk->sk_rcvbuf);

	return rx->pending > max_t(u32, most, SO_PENDING_MIN) ||
	       rx->unread > most / 2 || so_rx_is_blocked(rx);
}

/* read.c */
bool so_rx_has_enough(struct so_rx *rx);

/* rx.c */
u8 *so_inbound_byte(struct so_inbound *r, u32 at, u32 *left);
void so_inbound_end(struct so_rx *rx, struct so_inbound *r);
void so_rx_purge(struct so_rx *rx);

/* look.c */
int so_look(struct so_rx *rx, struct so_opening *o);

#endif /* OCF_SOCRYPT_RX_H */
