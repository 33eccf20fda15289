// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses a record that was opened: its type, its payload, and whether it
 * announces new keys.
 */
#include <linux/unaligned.h>

#include "rx.h"

#define TLS_CHANGE_CIPHER_SPEC	20	/* RFC 5246, 6.2.1 */
#define TLS_HANDSHAKE		22
#define TLS_KEY_UPDATE		24	/* RFC 8446, 4.6.3 */

static u8 byte_at(const struct so_opening *o, u32 at)
{
	u32 left;

	return *so_room_byte(&o->to, at, &left);
}

/* RFC 8446, 5.2: the type is before the zeros. */
static int find_type(struct so_opening *o)
{
	u32 n = o->plan.data;

	while (n && !byte_at(o, n - 1))
		n--;
	if (!n)
		return o->rx->keys.ktls ? -EBADMSG : -EPROTO;
	o->type = byte_at(o, n - 1);
	o->text = n - 1;
	return 0;
}

/* Removes the padding.  RFC 7366: it is authentic, but may be malformed. */
static int unpad(struct so_opening *o)
{
	u32 n = byte_at(o, o->plan.data - 1) + 1, i;

	if (n > o->plan.data)
		return -EBADMSG;
	for (i = 1; i <= n; i++)
		if (byte_at(o, o->plan.data - i) != n - 1)
			return -EBADMSG;
	o->text = o->plan.data - n;
	return 0;
}

/*
 * Parses handshake messages.  A record may hold several, and a message may
 * span several records.  Return: whether a KeyUpdate ends in this record.
 */
static bool is_key_update(struct so_rx *rx, const struct so_opening *o)
{
	struct so_message *m = &rx->message;
	bool update = false;
	u32 at = 0, skipped;

	while (at < o->text) {
		if (m->have < sizeof(m->head)) {
			m->head[m->have++] = byte_at(o, at++);
			m->left = get_unaligned_be24(m->head + 1);
		}
		if (m->have < sizeof(m->head))
			continue;
		skipped = min(m->left, o->text - at);
		at += skipped;
		m->left -= skipped;
		if (m->left)
			break;
		update |= m->head[0] == TLS_KEY_UPDATE;
		m->have = 0;
	}
	return update;
}

/* Whether the records after this one have new keys */
static bool ends_keys(struct so_rx *rx, const struct so_opening *o)
{
	switch (rx->keys.protocol) {
	case SO_CRYPT_FRAMED:
		return false;
	case SO_CRYPT_TLS_1_3:
		return o->type == TLS_HANDSHAKE && is_key_update(rx, o);
	default:
		/* by kTLS's interface a program cannot renegotiate */
		return o->type == TLS_CHANGE_CIPHER_SPEC && !rx->keys.ktls;
	}
}

/**
 * so_look() - parse a record
 * @rx: the receiving direction
 * @o: the record, which is open and authentic, after all records before it
 *
 * Context: the socket's lock is held, by its owner or in BH.
 * Return: 0; -EBADMSG, -EPROTO or -EMSGSIZE if it is malformed.
 */
int so_look(struct so_rx *rx, struct so_opening *o)
{
	const struct so_crypt_framing *f = &rx->keys.fr.f;
	int err = 0;

	if (o->looked)
		return 0;
	o->type = so_framing_type(&rx->keys.fr, o->header);
	o->text = o->plan.data;
	if (f->flags & SO_CRYPT_INNER_TYPE)
		err = find_type(o);
	else if (f->order == SO_CRYPT_MAC_THEN_ENCRYPT)
		o->text = o->req.result_len;
	else if (f->flags & SO_CRYPT_PADDED)
		err = unpad(o);
	if (err)
		return err;
	if (o->text > f->payload_max)
		return -EMSGSIZE;
	/* RFC 8446, 5.4: fatal; kTLS leaves that to the program */
	if (!o->text && o->type != f->data_type && !rx->keys.ktls &&
	    rx->keys.protocol != SO_CRYPT_FRAMED)
		return -EPROTO;
	o->ends_keys = o->text && ends_keys(rx, o);
	o->looked = true;
	return 0;
}
