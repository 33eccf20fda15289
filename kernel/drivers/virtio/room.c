// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a card that refuses a session is full.
 *
 * Without REVISION_1 a card has no NOSPC and says ERR instead (VIRTIO 1.2,
 * 5.9.7.2.1.6).  QEMU says ERR of everything it refuses: an algorithm that it
 * does not have, a length, a key.  The core evicts sessions of all users from a
 * full card until it makes another, so a user with a bad key must not make a
 * card look full.  To find out, the driver sends a copy of an order that
 * succeeded in the self-test.  It keeps one such order of each kind; their keys
 * are not secret.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "virtio.h"

/**
 * vcrypt_room_note() - keep an order that the card has fulfilled
 * @card: the card
 * @kind: of session
 * @o: the order for it
 *
 * Context: process.
 */
void vcrypt_room_note(struct vcrypt_card *card, enum vcrypt_session_kind kind,
		      const struct vcrypt_order *o)
{
	struct vcrypt_order *copy;

	/* before the card is registered, only the self-test has sessions */
	if (card->registered || card->witness[kind])
		return;
	copy = vcrypt_order_copy(o);
	if (copy && cmpxchg(&card->witness[kind], NULL, copy))
		vcrypt_order_put(copy);
}

/**
 * vcrypt_room_look() - find out whether a card has room for a session
 * @card: the card, which has refused one with ERR
 * @kind: the kind of the refused session
 *
 * Context: process; may sleep, as long as the card has patience.
 * Return: 0; -EOPNOTSUPP if it has never made one of this kind; -ENOSPC if it
 * is full; -ENOMEM; an error of vcrypt_control_ask() or vcrypt_order_session().
 */
int vcrypt_room_look(struct vcrypt_card *card, enum vcrypt_session_kind kind)
{
	struct vcrypt_order *witness = READ_ONCE(card->witness[kind]), *o;
	unsigned int life = vcrypt_control_life(card);
	u32 code;
	u64 id;
	int err;

	if (!witness)
		return -EOPNOTSUPP;
	o = vcrypt_order_copy(witness);
	if (!o)
		return -ENOMEM;
	err = vcrypt_control_ask(card, o, true) ?: vcrypt_order_session(o, &id);
	if (!err) {
		code = le32_to_cpu(o->req.header.opcode);
		vcrypt_control_destroy(card, code + 1, id, life);
	}
	vcrypt_order_put(o);
	return err == -EREMOTEIO ? -ENOSPC : err;
}

void vcrypt_room_exit(struct vcrypt_card *card)
{
	unsigned int kind;

	for (kind = 0; kind < SESSION_KINDS; kind++)
		if (card->witness[kind])
			vcrypt_order_put(card->witness[kind]);
}
