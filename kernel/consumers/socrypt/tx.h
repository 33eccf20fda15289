/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A record on its way out, between who fills it (write.c) and who has it
 * encrypted and sent (tx.c).
 */
#ifndef OCF_SOCRYPT_TX_H
#define OCF_SOCRYPT_TX_H

#include "socrypt.h"

enum so_record_state {
	SO_OPEN,		/* takes payload */
	SO_HELD,		/* waits for the block before its own */
	SO_SUBMITTING,		/* is being handed in */
	SO_SEALING,		/* the core has it */
	SO_DONE,
};

/**
 * struct so_record - a record on its way out
 * @node: in so_tx.records
 * @tx: whose
 * @state: what becomes of it
 * @type: of the record
 * @refers: its payload is pages of others'
 * @chain: bytes its IV has of the end of the record before, in TLS 1.0; or 0
 * @err: why it could not be encrypted
 * @limit: bytes of payload it may have
 * @charged: bytes charged to the socket
 * @sent: bytes TCP has taken
 * @plan: its sizes
 * @room: where it is built
 * @pieces: entries of @src that are pages of others'
 * @aad: authenticated besides
 * @tail: encrypted after the payload, if that is others'
 * @src: aad, pieces and tail
 * @dst: aad and the room, from the data on
 * @ses: what it is encrypted in, with a reference; NULL while it is open
 * @req: the request, which is the core's while it has it
 */
struct so_record {
	struct list_head	node;
	struct so_tx		*tx;
	enum so_record_state	state;
	u8			type;
	bool			refers;
	u8			chain;
	int			err;
	u32			limit;
	u32			charged;
	u32			sent;
	struct so_framing_plan plan;
	struct so_room		room;
	u32			pieces;
	u8			aad[FRAMING_AAD_MAX];
	u8			tail[FRAMING_TAIL_MAX];
	struct scatterlist	src[1 + SO_PIECES + 1];
	struct scatterlist	dst[1 + SO_PARTS];
	struct ocf_session	*ses;
	struct ocf_request	req;
};

/* As in TLS 1.0: each record begins with the end of the one before. */
static inline bool so_tx_is_chained(const struct so_tx *tx)
{
	return tx->keys.fr.f.nonce == SO_CRYPT_NONCE_CHAINED;
}

/* poll() reads it without the socket's lock. */
static inline void so_tx_count(struct so_tx *tx, u32 more)
{
	WRITE_ONCE(tx->queued, tx->queued + more);
}

int so_record_begin(struct so_tx *tx, u8 type, u32 want, int align);
void so_record_end(struct so_record *r);
int so_tx_seal(struct so_tx *tx);
void so_tx_push(struct so_tx *tx, bool more);

#endif /* OCF_SOCRYPT_TX_H */
