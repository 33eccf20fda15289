/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records to send: they are filled (write.c), and encrypted and sent (tx.c).
 */
#ifndef OCF_SOCRYPT_TX_H
#define OCF_SOCRYPT_TX_H

#include "socrypt.h"

enum so_record_state {
	SO_OPEN,		/* takes payload */
	SO_HELD,		/* waits for the last block of the one before,
				 * or the core was busy
				 */
	SO_SUBMITTING,		/* is being submitted */
	SO_SEALING,		/* the core has it */
	SO_DONE,
};

/**
 * struct so_record - a record to send
 * @node: in so_tx.records
 * @tx: its direction
 * @state: where it is
 * @type: of the record
 * @refers: its payload is in pages of a file
 * @chain: TLS 1.0: bytes of its IV, the end of the record before; otherwise 0
 * @err: why it could not be encrypted, or 0
 * @limit: bytes of payload that it can have
 * @charged: bytes charged to the socket
 * @sent: bytes that TCP has taken
 * @plan: its sizes
 * @room: its memory
 * @pieces: entries of @src that are pages of a file
 * @aad: bytes that are authenticated besides
 * @tail: bytes encrypted after the payload, if that is in pages of a file
 * @src: @aad, pieces and @tail
 * @dst: @aad and @room, from the data on
 * @ses: the session that encrypts it, with a reference; NULL while it is open
 * @req: the request
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

/* Whether the IV of a record is the end of the record before, as in TLS 1.0 */
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
