// SPDX-License-Identifier: GPL-2.0-only
/*
 * The format of records.  Also compiled for user space.
 */
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "framing.h"

#define TLS_SEALED_MAX		(16384 + 2048)	/* RFC 5246, 6.2.3 */
#define TLS_1_3_SEALED_MAX	(16384 + 256)	/* RFC 8446, 5.2 */
#define TLS_DATA		23		/* application_data */

/* RFC 5246, 6.2.1: type, version, length */
#define TLS_HEADER(minor) \
	.header = { TLS_DATA, 3, (minor) }, .header_len = 5, .type_at = 0, \
	.length_at = 3, .length_size = 2, .data_type = TLS_DATA, \
	.payload_max = SO_TLS_PAYLOAD_MAX

/* RFC 5246, 6.2.3.2 and RFC 7366, 3; at most 2^64 - 1 records: RFC 5246, 6.1 */
#define TLS_CBC(minor, order_, length_, nonce_, explicit) { \
	TLS_HEADER(minor), .order = (order_), .nonce = (nonce_), \
	.explicit_len = (explicit), .auth_length = (length_), \
	.flags = SO_CRYPT_AUTH_NUMBER | SO_CRYPT_AUTH_HEADER | SO_CRYPT_PADDED,\
	.sealed_max = TLS_SEALED_MAX, .number_max = U64_MAX - 1 }
#define MTE(minor, nonce, explicit) \
	TLS_CBC(minor, SO_CRYPT_MAC_THEN_ENCRYPT, SO_CRYPT_LENGTH_PAYLOAD, \
		nonce, explicit)
#define ETM(minor, nonce, explicit) \
	TLS_CBC(minor, SO_CRYPT_ENCRYPT_THEN_MAC, SO_CRYPT_LENGTH_SEALED, \
		nonce, explicit)

/* RFC 5288, 3; RFC 6655, 3; RFC 7905, 2; RFC 6209, 2.2; SM4 as AES */
#define AEAD(nonce_, explicit, max) { \
	TLS_HEADER(3), .order = SO_CRYPT_AEAD, .nonce = (nonce_), \
	.explicit_len = (explicit), .auth_length = SO_CRYPT_LENGTH_PAYLOAD, \
	.flags = SO_CRYPT_AUTH_NUMBER | SO_CRYPT_AUTH_HEADER, \
	.sealed_max = TLS_SEALED_MAX, .number_max = (max) }

/* RFC 8446, 5.2 and 5.3 */
#define TLS_1_3(max) { \
	TLS_HEADER(3), .order = SO_CRYPT_AEAD, .nonce = SO_CRYPT_NONCE_XOR, \
	.auth_length = SO_CRYPT_LENGTH_SENT, \
	.flags = SO_CRYPT_AUTH_HEADER | SO_CRYPT_INNER_TYPE, \
	.sealed_max = TLS_1_3_SEALED_MAX, .number_max = (max) }

/*
 * A record of TLS 1.3 carries the version of TLS 1.2.  GCM's limit of 2^24.5
 * full records under one key (RFC 8446, 5.5) is left to the program, which can
 * read the number of the next record and set new keys.  The limit here is that
 * of the record numbers.
 */
static const struct tls_row {
	u8			protocol;
	enum ocf_alg		cipher;
	bool			etm;
	struct so_crypt_framing	f;
} tls_rows[] = {
	{ SO_CRYPT_TLS_1_0, OCF_AES_CBC, false,
	  MTE(1, SO_CRYPT_NONCE_CHAINED, 0) },
	{ SO_CRYPT_TLS_1_0, OCF_DES3_CBC, false,
	  MTE(1, SO_CRYPT_NONCE_CHAINED, 0) },
	{ SO_CRYPT_TLS_1_0, OCF_AES_CBC, true,
	  ETM(1, SO_CRYPT_NONCE_CHAINED, 0) },
	{ SO_CRYPT_TLS_1_0, OCF_DES3_CBC, true,
	  ETM(1, SO_CRYPT_NONCE_CHAINED, 0) },
	{ SO_CRYPT_TLS_1_1, OCF_AES_CBC, false,
	  MTE(2, SO_CRYPT_NONCE_RANDOM, 16) },
	{ SO_CRYPT_TLS_1_1, OCF_DES3_CBC, false,
	  MTE(2, SO_CRYPT_NONCE_RANDOM, 8) },
	{ SO_CRYPT_TLS_1_1, OCF_AES_CBC, true,
	  ETM(2, SO_CRYPT_NONCE_RANDOM, 16) },
	{ SO_CRYPT_TLS_1_1, OCF_DES3_CBC, true,
	  ETM(2, SO_CRYPT_NONCE_RANDOM, 8) },
	{ SO_CRYPT_TLS_1_2, OCF_AES_CBC, false,
	  MTE(3, SO_CRYPT_NONCE_RANDOM, 16) },
	{ SO_CRYPT_TLS_1_2, OCF_DES3_CBC, false,
	  MTE(3, SO_CRYPT_NONCE_RANDOM, 8) },
	{ SO_CRYPT_TLS_1_2, OCF_AES_CBC, true,
	  ETM(3, SO_CRYPT_NONCE_RANDOM, 16) },
	{ SO_CRYPT_TLS_1_2, OCF_DES3_CBC, true,
	  ETM(3, SO_CRYPT_NONCE_RANDOM, 8) },
	{ SO_CRYPT_TLS_1_2, OCF_AES_GCM, false,
	  AEAD(SO_CRYPT_NONCE_COUNTED, 8, U64_MAX - 1) },
	{ SO_CRYPT_TLS_1_2, OCF_AES_CCM, false,
	  AEAD(SO_CRYPT_NONCE_COUNTED, 8, U64_MAX - 1) },
	{ SO_CRYPT_TLS_1_2, OCF_SM4_GCM, false,
	  AEAD(SO_CRYPT_NONCE_COUNTED, 8, U64_MAX - 1) },
	{ SO_CRYPT_TLS_1_2, OCF_SM4_CCM, false,
	  AEAD(SO_CRYPT_NONCE_COUNTED, 8, U64_MAX - 1) },
	{ SO_CRYPT_TLS_1_2, OCF_ARIA_GCM, false,
	  AEAD(SO_CRYPT_NONCE_COUNTED, 8, U64_MAX - 1) },
	{ SO_CRYPT_TLS_1_2, OCF_CHACHA20_POLY1305, false,
	  AEAD(SO_CRYPT_NONCE_XOR, 0, U64_MAX - 1) },
	{ SO_CRYPT_TLS_1_3, OCF_AES_GCM, false, TLS_1_3(U64_MAX - 1) },
	{ SO_CRYPT_TLS_1_3, OCF_AES_CCM, false, TLS_1_3(U64_MAX - 1) },
	{ SO_CRYPT_TLS_1_3, OCF_SM4_GCM, false, TLS_1_3(U64_MAX - 1) },
	{ SO_CRYPT_TLS_1_3, OCF_SM4_CCM, false, TLS_1_3(U64_MAX - 1) },
	{ SO_CRYPT_TLS_1_3, OCF_CHACHA20_POLY1305, false,
	  TLS_1_3(U64_MAX - 1) },
};

/**
 * so_framing_of_tls() - find the row of a version and a cipher
 * @protocol: SO_CRYPT_TLS_*
 * @cipher: the cipher
 * @etm: encrypt then MAC, RFC 7366
 *
 * Return: the descriptor, or NULL if TLS has no such records.
 */
const struct so_crypt_framing *so_framing_of_tls(u32 protocol,
						 enum ocf_alg cipher, bool etm)
{
	const struct tls_row *row;

	for (row = tls_rows; row < tls_rows + ARRAY_SIZE(tls_rows); row++)
		if (row->protocol == protocol && row->cipher == cipher &&
		    row->etm == etm)
			return &row->f;
	return NULL;
}

/* Returns the mode of a session for @f, which was not validated. */
enum ocf_mode so_framing_mode(const struct so_crypt_framing *f)
{
	static const enum ocf_mode modes[] = {
		[SO_CRYPT_AEAD]			= OCF_MODE_AEAD,
		[SO_CRYPT_MAC_THEN_ENCRYPT]	= OCF_MODE_MTE,
		[SO_CRYPT_ENCRYPT_THEN_MAC]	= OCF_MODE_ETA,
	};

	if (f->order >= ARRAY_SIZE(modes))
		return OCF_MODE_NONE;
	return modes[array_index_nospec(f->order, ARRAY_SIZE(modes))];
}

/* ---- whether a descriptor makes sense ---- */

static bool header_fits(const struct so_crypt_framing *f)
{
	u32 length_end = f->length_at + f->length_size;

	if (!f->header_len || f->header_len > SO_CRYPT_HEADER_MAX ||
	    !f->length_size || f->length_size > 4 ||
	    length_end > f->header_len)
		return false;
	if (f->type_at == SO_CRYPT_NOWHERE)
		return true;
	return f->type_at < f->header_len &&
	       (f->type_at < f->length_at || f->type_at >= length_end);
}

/*
 * Checks how nonces are made.  An AEAD must not use a nonce twice, so it counts
 * them.  The IV of CBC must not be predictable, so it is random; TLS 1.0 uses
 * the last block of the record before.  Counter mode is refused, because the
 * counter of one record would run into that of the next.
 */
static bool nonce_fits(const struct so_framing *fr, u32 ivlen)
{
	const struct so_crypt_framing *f = &fr->f;
	bool aead = f->order == SO_CRYPT_AEAD;

	switch (f->nonce) {
	case SO_CRYPT_NONCE_NONE:
		return !aead && !fr->ivlen && !ivlen && !f->explicit_len;
	case SO_CRYPT_NONCE_COUNTED:
		if (!aead || !f->explicit_len || f->explicit_len > 8 ||
		    f->explicit_len >= fr->ivlen ||
		    (f->explicit_len < 8 &&
		     f->number_max >> 8 * f->explicit_len))
			return false;
		return ivlen == fr->ivlen ||
		       ivlen + f->explicit_len == fr->ivlen;
	case SO_CRYPT_NONCE_XOR:
		return aead && fr->ivlen >= 8 && ivlen == fr->ivlen &&
		       !f->explicit_len;
	case SO_CRYPT_NONCE_RANDOM:
		return !aead && fr->ivlen >= 8 && !ivlen &&
		       f->explicit_len == fr->ivlen;
	case SO_CRYPT_NONCE_CHAINED:
		return !aead && fr->block > 1 && fr->ivlen == fr->block &&
		       ivlen == fr->ivlen && !f->explicit_len;
	default:
		return false;
	}
}

/* Whether a receiver can tell @type from padding, RFC 8446, 5.4 */
bool so_framing_type_fits(const struct so_crypt_framing *f, u8 type)
{
	return type || !(f->flags & SO_CRYPT_INNER_TYPE);
}

/* MAC then encrypt: the core writes the payload's length where TLS has it. */
static bool order_fits(const struct so_crypt_framing *f)
{
	if (f->order != SO_CRYPT_MAC_THEN_ENCRYPT ||
	    f->auth_length == SO_CRYPT_LENGTH_SENT)
		return true;
	return f->auth_length == SO_CRYPT_LENGTH_PAYLOAD &&
	       f->flags & SO_CRYPT_AUTH_HEADER &&
	       !(f->flags & SO_CRYPT_LITTLE) && f->length_size == 2 &&
	       f->length_at + f->length_size == f->header_len;
}

static bool length_fits(const struct so_crypt_framing *f, u32 sealed)
{
	s64 length = (s64)sealed + f->length_more;

	return length >= 0 && !(length >> 8 * f->length_size);
}

static bool sizes_fit(const struct so_framing *fr)
{
	const struct so_crypt_framing *f = &fr->f;
	struct so_framing_plan least, most;

	if (!f->payload_max || f->payload_max > SO_CRYPT_PAYLOAD_MAX)
		return false;
	so_framing_plan(fr, 0, &least);
	so_framing_plan(fr, f->payload_max, &most);
	return f->sealed_max >= most.wire - f->header_len &&
	       f->sealed_max <= SO_CRYPT_PAYLOAD_MAX + 4096 &&
	       length_fits(f, least.wire - f->header_len) &&
	       length_fits(f, f->sealed_max);
}

/**
 * so_framing_check() - validate a descriptor for a session
 * @fr: the descriptor, and the sizes of the session
 * @ivlen: bytes of IV that the user has given
 *
 * Return: 0, or -EINVAL.
 */
int so_framing_check(const struct so_framing *fr, u32 ivlen)
{
	const struct so_crypt_framing *f = &fr->f;

	if (f->pad[0] || f->pad[1] || f->flags & ~SO_CRYPT_FRAMING_FLAGS ||
	    f->auth_length > SO_CRYPT_LENGTH_SEALED ||
	    so_framing_mode(f) == OCF_MODE_NONE || !fr->maclen)
		return -EINVAL;
	if (f->flags & SO_CRYPT_PADDED ? fr->block == 1 : fr->block > 1)
		return -EINVAL;
	/* the number after the last must not be 0 */
	if (f->number_max == U64_MAX)
		return -EINVAL;
	if (f->flags & SO_CRYPT_INNER_TYPE &&
	    (f->order != SO_CRYPT_AEAD || f->type_at == SO_CRYPT_NOWHERE ||
	     f->flags & SO_CRYPT_PADDED ||
	     !so_framing_type_fits(f, f->data_type)))
		return -EINVAL;
	if (!header_fits(f) || !nonce_fits(fr, ivlen) || !order_fits(f) ||
	    !sizes_fit(fr))
		return -EINVAL;
	return 0;
}

/* Whether two framings have the same format */
bool so_framing_same(const struct so_framing *a, const struct so_framing *b)
{
	return !memcmp(&a->f, &b->f, sizeof(a->f)) && a->block == b->block &&
	       a->ivlen == b->ivlen && a->maclen == b->maclen;
}

/* ---- sending ---- */

static u32 aad_len(const struct so_crypt_framing *f)
{
	u32 len = 0;

	if (f->flags & SO_CRYPT_AUTH_NUMBER)
		len += 8;
	if (f->flags & SO_CRYPT_AUTH_HEADER)
		len += f->header_len;
	if (f->order == SO_CRYPT_ENCRYPT_THEN_MAC)
		len += f->explicit_len;
	return len;
}

/**
 * so_framing_plan() - compute the sizes of a record to send
 * @fr: the framing
 * @payload: bytes of payload
 * @p: is filled in
 */
void so_framing_plan(const struct so_framing *fr, u32 payload,
		     struct so_framing_plan *p)
{
	const struct so_crypt_framing *f = &fr->f;
	bool inside = f->order == SO_CRYPT_MAC_THEN_ENCRYPT;

	p->payload = payload;
	p->aad = aad_len(f);
	p->head = f->header_len + f->explicit_len;
	p->tag = inside ? 0 : fr->maclen;
	p->tail = inside ? fr->maclen : 0;
	if (f->flags & SO_CRYPT_INNER_TYPE)
		p->tail++;
	if (f->flags & SO_CRYPT_PADDED)
		p->tail += fr->block - (payload + p->tail) % fr->block;
	p->data = payload + p->tail;
	p->wire = p->head + p->data + p->tag;
}

static void put_length(const struct so_crypt_framing *f, u32 length, u8 *header)
{
	u32 i, at;

	for (i = 0; i < f->length_size; i++, length >>= 8) {
		at = f->flags & SO_CRYPT_LITTLE ? i : f->length_size - 1 - i;
		header[f->length_at + at] = length;
	}
}

static u32 get_length(const struct so_crypt_framing *f, const u8 *header)
{
	u32 i, at, length = 0;

	for (i = 0; i < f->length_size; i++) {
		at = f->flags & SO_CRYPT_LITTLE ? f->length_size - 1 - i : i;
		length = length << 8 | header[f->length_at + at];
	}
	return length;
}

/**
 * so_framing_head() - write header and explicit nonce
 * @fr: the framing
 * @p: the record's sizes
 * @type: its type
 * @nonce: the explicit part of its nonce
 * @head: @p->head bytes
 */
void so_framing_head(const struct so_framing *fr,
		     const struct so_framing_plan *p, u8 type, const u8 *nonce,
		     u8 *head)
{
	const struct so_crypt_framing *f = &fr->f;

	memcpy(head, f->header, f->header_len);
	if (f->type_at != SO_CRYPT_NOWHERE)
		head[f->type_at] = f->flags & SO_CRYPT_INNER_TYPE ?
				   f->data_type : type;
	put_length(f, p->wire - f->header_len + f->length_more, head);
	memcpy(head + f->header_len, nonce, f->explicit_len);
}

/**
 * so_framing_tail() - write the bytes that are encrypted after the payload
 * @fr: the framing
 * @p: the record's sizes
 * @type: its type
 * @tail: @p->tail bytes; those of the MAC are zero
 */
void so_framing_tail(const struct so_framing *fr,
		     const struct so_framing_plan *p, u8 type, u8 *tail)
{
	u32 fixed = p->tail;

	if (fr->f.flags & SO_CRYPT_PADDED) {
		fixed = fr->f.order == SO_CRYPT_MAC_THEN_ENCRYPT ?
			fr->maclen : 0;
		memset(tail + fixed, p->tail - fixed - 1, p->tail - fixed);
	}
	memset(tail, 0, fixed);
	if (fr->f.flags & SO_CRYPT_INNER_TYPE)
		tail[fixed - 1] = type;
}

/**
 * so_framing_aad() - write the bytes that are authenticated besides the data
 * @fr: the framing
 * @p: the record's sizes
 * @head: the record's header and explicit nonce
 * @number: the record's number
 * @aad: @p->aad bytes
 */
void so_framing_aad(const struct so_framing *fr,
		    const struct so_framing_plan *p, const u8 *head, u64 number,
		    u8 *aad)
{
	const struct so_crypt_framing *f = &fr->f;

	if (f->flags & SO_CRYPT_AUTH_NUMBER) {
		put_unaligned_be64(number, aad);
		aad += 8;
	}
	if (f->flags & SO_CRYPT_AUTH_HEADER) {
		memcpy(aad, head, f->header_len);
		if (fr->any_type)
			aad[f->type_at] = f->data_type;
		if (f->auth_length == SO_CRYPT_LENGTH_PAYLOAD)
			put_length(f, p->payload, aad);
		else if (f->auth_length == SO_CRYPT_LENGTH_SEALED)
			put_length(f, f->explicit_len + p->data, aad);
		aad += f->header_len;
	}
	if (f->order == SO_CRYPT_ENCRYPT_THEN_MAC)
		memcpy(aad, head + f->header_len, f->explicit_len);
}

/**
 * so_framing_nonce() - write the IV of a request
 * @fr: the framing
 * @iv: the user's IV, or the last block of the record before
 * @ivlen: bytes of it
 * @nonce: the explicit part of the record's nonce
 * @number: the record's number
 * @to: @fr->ivlen bytes
 */
void so_framing_nonce(const struct so_framing *fr, const u8 *iv, u32 ivlen,
		      const u8 *nonce, u64 number, u8 *to)
{
	u32 n = fr->f.explicit_len;

	memcpy(to, iv, min(ivlen, fr->ivlen - n));
	memcpy(to + fr->ivlen - n, nonce, n);
	if (fr->f.nonce == SO_CRYPT_NONCE_XOR)
		put_unaligned_be64(get_unaligned_be64(to + fr->ivlen - 8) ^
				   number, to + fr->ivlen - 8);
}

/* ---- receiving ---- */

/**
 * so_framing_sealed() - how many bytes follow a header
 * @fr: the framing
 * @header: the header, which was received
 *
 * Return: bytes; -EPROTO if this is no header; -EMSGSIZE if the record would be
 * longer than allowed.
 */
int so_framing_sealed(const struct so_framing *fr, const u8 *header)
{
	const struct so_crypt_framing *f = &fr->f;
	s64 sealed = (s64)get_length(f, header) - f->length_more;

	if (sealed < 0)
		return -EPROTO;
	return sealed > f->sealed_max ? -EMSGSIZE : sealed;
}

/* Whether a header that was received has the constant bytes */
static bool is_header(const struct so_framing *fr, const u8 *header)
{
	const struct so_crypt_framing *f = &fr->f;
	bool any = !(f->flags & SO_CRYPT_INNER_TYPE) || fr->any_type;
	u32 i;

	for (i = 0; i < f->header_len; i++) {
		if (i >= f->length_at && i < f->length_at + f->length_size)
			continue;
		if (i == f->type_at && any)
			continue;
		if (i == f->type_at ? header[i] != f->data_type :
				      header[i] != f->header[i])
			return false;
	}
	return true;
}

/**
 * so_framing_open() - compute the sizes of a record that was received
 * @fr: the framing
 * @header: its header
 * @sealed: bytes after the header, of so_framing_sealed()
 * @p: is filled in; @p->payload is the maximum
 *
 * The checks are in kTLS's order, so the first error is the same.
 *
 * Return: 0; -EBADMSG if no sender makes such a record; -EPROTO if this is no
 * header.
 */
int so_framing_open(const struct so_framing *fr, const u8 *header, u32 sealed,
		    struct so_framing_plan *p)
{
	const struct so_crypt_framing *f = &fr->f;
	struct so_framing_plan least;

	so_framing_plan(fr, 0, &least);
	if (sealed < least.wire - f->header_len)
		return -EBADMSG;
	if (!is_header(fr, header))
		return -EPROTO;
	*p = least;
	p->wire = f->header_len + sealed;
	p->data = p->wire - p->head - p->tag;
	p->tail = 0;
	if (p->data % fr->block)
		return -EBADMSG;
	p->payload = p->data;
	if (f->flags & SO_CRYPT_INNER_TYPE)
		p->payload--;
	else if (f->order == SO_CRYPT_MAC_THEN_ENCRYPT)
		p->payload = 0;		/* the core finds it out */
	return 0;
}

/* Returns the type in a header; that of TLS 1.3 is inside the record. */
u8 so_framing_type(const struct so_framing *fr, const u8 *header)
{
	return fr->f.type_at == SO_CRYPT_NOWHERE ? fr->f.data_type :
						   header[fr->f.type_at];
}
