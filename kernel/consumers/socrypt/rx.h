/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A record on its way in, between who cuts it and has it opened (rx.c) and who
 * reads it (read.c).
 */
#ifndef OCF_SOCRYPT_RX_H
#define OCF_SOCRYPT_RX_H

#include "socrypt.h"

#define SO_PENDING_MIN	(256 * 1024)	/* bytes; of a socket with less */

enum so_inbound_state {
	SO_CUT,			/* there is more of it to come */
	SO_HELD,		/* cards are full that alone may do it */
	SO_SUBMITTING,		/* is being handed in */
	SO_OPENING,		/* the core has it */
	SO_OPEN,		/* or it failed to */
};

/**
 * struct so_inbound - a record on its way in
 * @node: in so_rx.records
 * @rx: whose
 * @state: what becomes of it
 * @looked: type and length of the payload are known
 * @type: of the record
 * @err: why it is not open
 * @header: as it came
 * @plan: its sizes
 * @sealed: bytes after the header
 * @got: bytes of those so far
 * @text: bytes of payload
 * @read: bytes of those that were read
 * @charged: bytes charged to the socket
 * @from: what came after the header
 * @to: what it was decrypted to
 * @aad: authenticated besides
 * @src: aad and @from
 * @dst: aad and @to
 * @req: the request
 */
struct so_inbound {
	struct list_head	node;
	struct so_rx		*rx;
	enum so_inbound_state	state;
	bool			looked;
	u8			type;
	int			err;
	u8			header[SO_CRYPT_HEADER_MAX];
	struct framing_plan	plan;
	u32			sealed;
	u32			got;
	u32			text;
	u32			read;
	u32			charged;
	struct so_room		from, to;
	u8			aad[FRAMING_AAD_MAX];
	struct scatterlist	src[1 + SO_PARTS];
	struct scatterlist	dst[1 + SO_PARTS];
	struct ocf_request	req;
};

static inline enum so_inbound_state so_inbound_state(const struct so_inbound *r)
{
	/* pairs with opened(): what was decrypted is there, too */
	return smp_load_acquire(&r->state);
}

static inline struct so_inbound *so_rx_first(const struct so_rx *rx)
{
	return list_first_entry_or_null((struct list_head *)&rx->records,
					struct so_inbound, node);
}

/* What a socket may have that was not read: then TCP's window closes. */
static inline bool so_rx_is_full(const struct so_rx *rx)
{
	return rx->pending > max_t(u32, READ_ONCE(rx->sk->sk_rcvbuf),
				   SO_PENDING_MIN);
}

void so_inbound_end(struct so_inbound *r);
void so_rx_purge(struct so_rx *rx);

#endif /* OCF_SOCRYPT_RX_H */
