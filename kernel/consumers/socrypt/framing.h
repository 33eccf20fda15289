/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The format of records, on the wire and in requests to devices.  A descriptor
 * defines the format (<linux/so_crypt.h>); each version of TLS has one.
 *
 * These functions have no state and no side effects.  Also compiled for user
 * space.
 *
 * A record on the wire:	header | explicit nonce | data | tag
 *
 * A request to a device:	aad | data | tag
 *
 * The data are payload, MAC (MAC then encrypt), type (TLS 1.3) and padding.
 * All but the payload is the tail.  With encrypt then MAC the AAD ends with the
 * explicit nonce, because the MAC covers it.
 */
#ifndef OCF_FRAMING_H
#define OCF_FRAMING_H

#include <linux/ocf.h>
#include <linux/so_crypt.h>
#include <linux/types.h>

#define SO_TLS_PAYLOAD_MAX	16384	/* bytes; RFC 8446, 5.1 */
#define FRAMING_HEAD_MAX	(SO_CRYPT_HEADER_MAX + OCF_IV_MAX)
#define FRAMING_AAD_MAX		(8 + FRAMING_HEAD_MAX)
/* MAC, type, padding of up to a block */
#define FRAMING_TAIL_MAX	(OCF_TAG_MAX + 1 + OCF_IV_MAX)

/**
 * struct so_framing - the format of the records of one direction
 * @f: the descriptor
 * @block: bytes the data's length must be a multiple of
 * @ivlen: bytes of a request's IV
 * @maclen: bytes of MAC or tag
 * @any_type: treat the type in the header of a received record as @f.data_type,
 *	whatever it is.  Set for TLS 1.3 with keys set by kTLS's interface,
 *	since TLS 1.3 encrypts the real type
 */
struct so_framing {
	struct so_crypt_framing	f;
	u32			block;
	u32			ivlen;
	u32			maclen;
	bool			any_type;
};

/**
 * struct so_framing_plan - the sizes of one record, in bytes
 * @payload: of the program's data; the maximum, in a record that was received
 * @aad: of a request, before the data
 * @head: on the wire, before the data
 * @data: that are encrypted
 * @tail: of @data, behind the payload (in a record to send)
 * @tag: after the data
 * @wire: of the whole record on the wire
 */
struct so_framing_plan {
	u32 payload;
	u32 aad;
	u32 head;
	u32 data;
	u32 tail;
	u32 tag;
	u32 wire;
};

const struct so_crypt_framing *so_framing_of_tls(u32 protocol,
						 enum ocf_alg cipher, bool etm);
enum ocf_mode so_framing_mode(const struct so_crypt_framing *f);
bool so_framing_same(const struct so_framing *a, const struct so_framing *b);
int so_framing_check(const struct so_framing *fr, u32 ivlen);

/* to send */
void so_framing_plan(const struct so_framing *fr, u32 payload,
		     struct so_framing_plan *p);
void so_framing_head(const struct so_framing *fr,
		     const struct so_framing_plan *p, u8 type, const u8 *nonce,
		     u8 *head);
void so_framing_tail(const struct so_framing *fr,
		     const struct so_framing_plan *p, u8 type, u8 *tail);

/* both */
void so_framing_aad(const struct so_framing *fr,
		    const struct so_framing_plan *p, const u8 *head, u64 number,
		    u8 *aad);
void so_framing_nonce(const struct so_framing *fr, const u8 *iv, u32 ivlen,
		      const u8 *nonce, u64 number, u8 *to);

/* to receive */
int so_framing_sealed(const struct so_framing *fr, const u8 *header);
int so_framing_open(const struct so_framing *fr, const u8 *header, u32 sealed,
		    struct so_framing_plan *p);
bool so_framing_type_fits(const struct so_crypt_framing *f, u8 type);
u8 so_framing_type(const struct so_framing *fr, const u8 *header);

#endif /* OCF_FRAMING_H */
