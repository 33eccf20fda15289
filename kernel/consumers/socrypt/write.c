// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing: how a message fills records.
 *
 * Payload is copied into a record, and encrypted in place.  With sendfile() the
 * record refers to pages of the file, which are encrypted into the record.
 */
#include <linux/bvec.h>
#include <linux/tls.h>
#include <net/sock.h>

#include "tx.h"

/* ---- filling ---- */

static void take_in(struct so_record *r, u32 len)
{
	r->plan.payload += len;
	so_tx_count(r->tx, len);
}

/* Copies up to @len bytes into the open record. */
static ssize_t copy_in(struct so_record *r, struct msghdr *msg, u32 len)
{
	u32 done = 0, n, got;
	u8 *to;

	while (done < len) {
		to = so_room_byte(&r->room, r->plan.head + r->plan.payload, &n);
		n = min(n, len - done);
		got = copy_from_iter(to, n, &msg->msg_iter);
		take_in(r, got);
		done += got;
		if (got < n)
			break;
	}
	return done ? (ssize_t)done : -EFAULT;
}

/* Whether the next piece follows @sg without a gap, in the same folio */
static bool goes_on(struct scatterlist *sg, struct page *page, size_t off)
{
	u32 end = sg->offset + sg->length;

	return !off && !offset_in_page(end) &&
	       sg_page(sg) + (end >> PAGE_SHIFT) == page &&
	       page_folio(sg_page(sg)) == page_folio(page);
}

/* Refers to up to @len bytes of the next page. */
static ssize_t refer(struct so_record *r, struct msghdr *msg, u32 len)
{
	struct page *page, **pages = &page;
	struct scatterlist *sg;
	ssize_t n;
	size_t off;

	n = iov_iter_extract_pages(&msg->msg_iter, &pages, len, 1, 0, &off);
	if (n <= 0)
		return n ?: -EIO;
	if (WARN_ON_ONCE(!sendpage_ok(page)))
		return -EIO;
	sg = &r->src[r->pieces];
	if (r->pieces && goes_on(sg, page, off)) {
		sg->length += n;
	} else {
		get_page(page);
		so_sg_set(&r->src[++r->pieces], page, n, off);
	}
	take_in(r, n);
	return n;
}

/* Returns why nothing can be written, or 0. */
static int write_error(struct so_tx *tx)
{
	struct sock *sk = tx->sk;

	if (sk->sk_err || sk->sk_shutdown & SEND_SHUTDOWN ||
	    test_bit(SO_TX_ENDING, &tx->notes))
		return -EPIPE;
	if (tx->err)
		return tx->err;
	return tx->keys.number > tx->keys.fr.f.number_max ? -EKEYEXPIRED : 0;
}

/*
 * Returned after a wait: other tasks may have written, or set keys, so the
 * socket's state must be read again.
 */
#define LOOK_ANEW	(-ERESTART)

/* Waits until the socket has room for another record, or there is memory. */
static int wait_for_room(struct so_tx *tx, long *timeo)
{
	struct sock *sk = tx->sk;

	/* sending finished records may free the memory */
	so_tx_push(tx, false);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	return sk_stream_wait_memory(sk, timeo) ?: LOOK_ANEW;
}

static int write_begin(struct so_tx *tx, const struct msghdr *msg, u8 type,
		       u32 want, bool refers, long *timeo)
{
	int align = refers ? offset_in_page(msg->msg_iter.bvec->bv_offset +
					    msg->msg_iter.iov_offset) : -1;
	int err = write_error(tx);

	if (!err && !sk_stream_memory_free(tx->sk)) {
		so_tx_push(tx, false);
		err = write_error(tx);
		if (!err && !sk_stream_memory_free(tx->sk))
			err = -ENOBUFS;
	}
	if (!err)
		err = so_record_begin(tx, type, want, align);
	return err == -ENOBUFS ? wait_for_room(tx, timeo) : err;
}

/* ---- messages ---- */

struct intent {
	u8	type;
	bool	typed;		/* the message names a type */
	bool	more;
	bool	refers;		/* records may refer to its pages */
	bool	empty;		/* it makes a record without payload */
};

static int read_intent(struct so_tx *tx, struct msghdr *msg, struct intent *in)
{
	const struct so_crypt_framing *f = &tx->keys.fr.f;
	bool ktls = tx->keys.ktls;
	int level = ktls ? SOL_TLS : SOL_OCF;
	int name = ktls ? TLS_SET_RECORD_TYPE : SO_CRYPT_TYPE;
	struct cmsghdr *c;

	/* io_uring sets MSG_WAITALL, which means nothing to TCP either */
	if (msg->msg_flags & ~(MSG_MORE | MSG_DONTWAIT | MSG_NOSIGNAL |
			       MSG_CMSG_COMPAT | MSG_SPLICE_PAGES | MSG_EOR |
			       (ktls ? 0 : MSG_WAITALL)))
		return -EOPNOTSUPP;
	if (msg->msg_flags & MSG_MORE && msg->msg_flags & MSG_EOR)
		return -EINVAL;
	in->type = f->data_type;
	in->typed = false;
	in->more = msg->msg_flags & MSG_MORE;
	in->refers = msg->msg_flags & MSG_SPLICE_PAGES && !tx->keys.copies;
	for_each_cmsghdr(c, msg) {
		if (!CMSG_OK(msg, c))
			return -EINVAL;
		if (c->cmsg_level != level)
			continue;
		if (c->cmsg_type != name || c->cmsg_len < CMSG_LEN(1) ||
		    (!ktls && c->cmsg_len > CMSG_LEN(1)) || in->typed ||
		    f->type_at == SO_CRYPT_NOWHERE)
			return -EINVAL;
		in->type = *(u8 *)CMSG_DATA(c);
		in->typed = true;
		if (!so_framing_type_fits(f, in->type))
			return -EINVAL;
	}
	in->empty = in->typed && !ktls && !msg_data_left(msg);
	/* RFC 8446, 5.1, and RFC 5246, 6.2.1 */
	if (in->empty && in->type != f->data_type &&
	    tx->keys.protocol != SO_CRYPT_FRAMED)
		return -EINVAL;
	if (in->more && (in->type != f->data_type || (ktls && in->typed)))
		return -EINVAL;
	/*
	 * TLS 1.0: leave no record open after a call.  An attacker could see
	 * its IV and then choose the data of the next call.
	 */
	if (so_tx_is_chained(tx))
		in->more = false;
	return 0;
}

/* Puts the next bytes into the open record, or into a new one. */
static ssize_t fill(struct so_tx *tx, struct msghdr *msg,
		    const struct intent *in, bool first, long *timeo)
{
	size_t left = msg_data_left(msg);
	bool refers = in->refers && left &&
		      (left > SO_COPY_MAX || (tx->open && tx->open->refers));
	struct so_record *r = tx->open;
	u32 want = tx->keys.fr.f.payload_max;
	ssize_t n;
	int err;

	if (r && (r->refers != refers || r->type != in->type)) {
		err = so_tx_seal(tx);
		if (err)
			return err;
		r = NULL;
	}
	if (!r) {
		if (!in->more)
			want = min_t(size_t, want, left);
		/* the first byte goes alone, so that an attacker cannot choose
		 * a block after a known IV (B. Moeller, 2004: security of CBC
		 * ciphersuites); an alert must not be split
		 */
		if (first && so_tx_is_chained(tx) &&
		    in->type == tx->keys.fr.f.data_type)
			want = min(want, 1u);
		err = write_begin(tx, msg, in->type, want, refers, timeo);
		if (err)
			return err;
		r = tx->open;
	}
	left = min_t(size_t, left, r->limit - r->plan.payload);
	n = !left ? 0 : refers ? refer(r, msg, left) : copy_in(r, msg, left);
	if (n < 0)
		return n;
	if (r->plan.payload == r->limit || r->pieces == SO_PIECES) {
		err = so_tx_seal(tx);
		if (err)
			return err;
	}
	return n;
}

/**
 * so_tx_write() - sendmsg()
 * @tx: the sending direction
 * @msg: the message
 * @size: bytes of it
 *
 * Context: process; the socket is held.
 * Return: bytes, or an errno.
 */
int so_tx_write(struct so_tx *tx, struct msghdr *msg, size_t size)
{
	struct sock *sk = tx->sk;
	long timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	bool first = !tx->open;
	struct intent in;
	size_t done = 0;
	ssize_t n;
	int err;

	err = read_intent(tx, msg, &in);
	if (err)
		return err;
	err = write_error(tx);
	while (!err && (done < size || in.empty)) {
		n = fill(tx, msg, &in, first, &timeo);
		first = n == LOOK_ANEW;
		if (first)
			err = read_intent(tx, msg, &in);
		else if (n < 0)
			err = n;
		else
			done += n;
		if (!first && !size)
			break;
	}
	if (tx->open && (!in.more || err) && !tx->open->plan.payload && size)
		so_record_end(tx->open);
	if (tx->open && !in.more)
		err = so_tx_seal(tx) ?: err;
	so_tx_push(tx, in.more);
	if (done)
		return done;
	return err ? sk_stream_error(sk, msg->msg_flags, err) : 0;
}
