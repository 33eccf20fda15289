// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is read: records in order, each when it and all before it are open.
 */
#include <linux/fs.h>
#include <linux/splice.h>
#include <linux/tls.h>
#include <linux/unaligned.h>
#include <net/sock.h>

#include "rx.h"

#define TLS_CHANGE_CIPHER_SPEC	20	/* RFC 5246, 6.2.1 */
#define TLS_HANDSHAKE		22
#define TLS_KEY_UPDATE		24	/* RFC 8446, 4.6.3 */

/* ---- what a record turned out to be ---- */

static u8 byte_at(const struct so_inbound *r, u32 at)
{
	u32 left;

	return *so_room_byte(&r->to, at, &left);
}

/* RFC 8446, 5.2: the type is before the zeros. */
static int find_type(struct so_inbound *r)
{
	u32 n = r->plan.data;

	while (n && !byte_at(r, n - 1))
		n--;
	if (!n)
		return r->rx->keys.ktls ? -EBADMSG : -EPROTO;
	r->type = byte_at(r, n - 1);
	r->text = n - 1;
	return 0;
}

/* RFC 7366: it is authentic; still it has to be what it should. */
static int unpad(struct so_inbound *r)
{
	u32 n = byte_at(r, r->plan.data - 1) + 1, i;

	if (n > r->plan.data)
		return -EBADMSG;
	for (i = 1; i <= n; i++)
		if (byte_at(r, r->plan.data - i) != n - 1)
			return -EBADMSG;
	r->text = r->plan.data - n;
	return 0;
}

/* Its type, its payload, or why it is none. */
static int look(const struct so_rx *rx, struct so_inbound *r)
{
	const struct so_crypt_framing *f = &rx->keys.fr.f;
	int err = 0;

	r->type = framing_type(&rx->keys.fr, r->header);
	r->text = r->plan.data;
	if (f->flags & SO_CRYPT_INNER_TYPE)
		err = find_type(r);
	else if (f->order == SO_CRYPT_MAC_THEN_ENCRYPT)
		r->text = r->req.result_len;
	else if (f->flags & SO_CRYPT_PADDED)
		err = unpad(r);
	if (err)
		return err;
	if (r->text > f->payload_max)
		return -EMSGSIZE;
	if (r->text || r->type == f->data_type)
		return 0;
	return rx->keys.ktls ? -EBADMSG : -EPROTO;
}

/*
 * Follows the messages of a handshake, which may be many in a record, or in
 * many records.  Whether a KeyUpdate has ended.
 */
static bool is_key_update(struct so_rx *rx, const struct so_inbound *r)
{
	struct so_message *m = &rx->message;
	bool update = false;
	u32 at = 0, skipped;

	while (at < r->text) {
		if (m->have < sizeof(m->head)) {
			m->head[m->have++] = byte_at(r, at++);
			m->left = get_unaligned_be24(m->head + 1);
		}
		if (m->have < sizeof(m->head))
			continue;
		skipped = min(m->left, r->text - at);
		at += skipped;
		m->left -= skipped;
		if (m->left)
			break;
		update |= m->head[0] == TLS_KEY_UPDATE;
		m->have = 0;
	}
	return update;
}

/* Whether records after this one have other keys. */
static bool ends_keys(struct so_rx *rx, const struct so_inbound *r)
{
	switch (rx->keys.protocol) {
	case SO_CRYPT_FRAMED:
		return false;
	case SO_CRYPT_TLS_1_3:
		return r->type == TLS_HANDSHAKE && is_key_update(rx, r);
	default:
		/* kTLS leaves renegotiation to who reads, who cannot do it */
		return r->type == TLS_CHANGE_CIPHER_SPEC && !rx->keys.ktls;
	}
}

/* ---- reading ---- */

/* All of a record was read. */
static void finish(struct so_rx *rx, struct so_inbound *r)
{
	if (r->text && ends_keys(rx, r))
		rx->paused = true;
	rx->got += r->text;
	rx->count++;
	so_inbound_end(r);
}

/* The next record with something in it, or NULL. */
static struct so_inbound *next_open(struct so_rx *rx)
{
	struct so_inbound *r;

	while (!rx->err && !rx->paused && (r = so_rx_first(rx)) &&
	       so_inbound_state(r) == SO_OPEN) {
		if (!r->err && !r->looked)
			r->err = look(rx, r);
		r->looked = true;
		if (!r->err && r->text)
			return r;
		if (r->err)
			rx->err = r->err;
		else
			finish(rx, r);
	}
	/* what came before bytes that are no record was read */
	if (!rx->err && list_empty(&rx->records))
		rx->err = rx->stop;
	if (rx->err)
		so_rx_purge(rx);
	return NULL;
}

/* The peer has sent all it will, and nothing whole is left of it. */
static bool is_at_end(const struct so_rx *rx)
{
	return (rx->sk->sk_shutdown & RCV_SHUTDOWN ||
		rx->sk->sk_state == TCP_CLOSE) &&
	       so_rx_first(rx) == rx->cut &&
	       !test_bit(SO_RX_STOPPED, &rx->notes);
}

/*
 * Why there is nothing to read, or 0 if that may change.  The socket's error is
 * told once: not to who has something already, and is told that.
 */
static int read_error(struct so_rx *rx, bool *end, bool some)
{
	if (rx->err)
		return rx->err;
	if (rx->paused)
		return -EKEYEXPIRED;
	if (so_rx_first(rx) != rx->cut)
		return 0;
	if (rx->sk->sk_err)
		return some ? -EAGAIN : sock_error(rx->sk);
	*end = is_at_end(rx);
	/* with kTLS who reads misses the close_notify */
	return *end && (rx->cut || rx->header_len) && !rx->keys.ktls ?
	       -ECONNABORTED : 0;
}

/* Who has read makes room for what was left with TCP. */
static bool more_room(struct so_rx *rx)
{
	if (!test_bit(SO_RX_STOPPED, &rx->notes) || so_rx_is_full(rx))
		return false;
	so_rx_arrived(rx);
	return true;
}

static void wait(struct so_rx *rx, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = rx->sk;

	so_rx_settle(rx);
	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	/* an error is told after what was received before */
	sk_wait_event(sk, timeo, READ_ONCE(rx->ready) ||
		      (sk->sk_err && so_rx_first(rx) == rx->cut) ||
		      is_at_end(rx), &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
}

/*
 * The next record that can be read, or NULL with *@err; 0 at the end.  @some
 * were read by the same call.
 */
static struct so_inbound *wait_for_record(struct so_rx *rx, long *timeo,
					  bool some, int *err)
{
	struct so_inbound *r;
	bool end = false;

	for (;;) {
		r = next_open(rx) ?: more_room(rx) ? next_open(rx) : NULL;
		if (r)
			return r;
		*err = read_error(rx, &end, some);
		if (*err || end)
			return NULL;
		*err = !*timeo ? -EAGAIN :
		       signal_pending(current) ? sock_intr_errno(*timeo) : 0;
		if (*err)
			return NULL;
		wait(rx, timeo);
	}
}

static int tell_type(const struct so_rx *rx, struct msghdr *msg, u8 type)
{
	bool data = type == rx->keys.fr.f.data_type;

	/* kTLS says it of data, too */
	if (rx->keys.ktls)
		put_cmsg(msg, SOL_TLS, TLS_GET_RECORD_TYPE, sizeof(type),
			 &type);
	else if (!data && msg->msg_control)
		put_cmsg(msg, SOL_OCF, SO_CRYPT_TYPE, sizeof(type), &type);
	return !data && (!msg->msg_control || msg->msg_flags & MSG_CTRUNC) ?
	       -EIO : 0;
}

static int copy_out(struct so_inbound *r, struct msghdr *msg, u32 len)
{
	u32 n, done = 0;
	const u8 *from;
	size_t got;

	while (done < len) {
		from = so_room_byte(&r->to, r->read + done, &n);
		n = min(n, len - done);
		got = copy_to_iter(from, n, &msg->msg_iter);
		done += got;
		if (got < n)
			break;
	}
	return done ? (int)done : -EFAULT;
}

/**
 * so_rx_read() - recvmsg()
 * @rx: what is received
 * @msg: where to
 * @size: bytes wanted
 * @flags: MSG_*
 *
 * Context: process; the socket is held.
 * Return: bytes, 0 at the end, or an errno.
 */
int so_rx_read(struct so_rx *rx, struct msghdr *msg, size_t size, int flags)
{
	long timeo = sock_rcvtimeo(rx->sk, flags & MSG_DONTWAIT), none = 0;
	int target = sock_rcvlowat(rx->sk, flags & MSG_WAITALL, size);
	int err = 0, done = 0, n, type = -1;
	struct so_inbound *r;

	while (done < size) {
		r = wait_for_record(rx, done < target ? &timeo : &none, done,
				    &err);
		if (!r)
			break;
		if (type >= 0 && r->type != type)
			break;
		if (type < 0) {
			err = tell_type(rx, msg, r->type);
			if (err)
				break;
			type = r->type;
		}
		n = copy_out(r, msg, min_t(size_t, size - done,
					   r->text - r->read));
		if (n < 0) {
			err = n;
			break;
		}
		done += n;
		if (flags & MSG_PEEK)
			break;
		r->read += n;
		msg->msg_flags &= ~MSG_EOR;
		if (r->read < r->text)
			continue;
		finish(rx, r);
		msg->msg_flags |= MSG_EOR;
		if (type != rx->keys.fr.f.data_type)
			break;
	}
	more_room(rx);
	return done ?: err;
}

static void release_piece(struct splice_pipe_desc *spd, unsigned int i)
{
	put_page(spd->pages[i]);
}

/**
 * so_rx_splice() - splice() from the socket
 * @rx: what is received
 * @pipe: where to
 * @size: bytes wanted
 * @nonblock: do not wait
 *
 * Context: process; the socket is held.
 * Return: bytes, 0 at the end, or an errno; -EIO: the next record is no data.
 */
ssize_t so_rx_splice(struct so_rx *rx, struct pipe_inode_info *pipe,
		     size_t size, bool nonblock)
{
	long timeo = sock_rcvtimeo(rx->sk, nonblock);
	struct partial_page partial[PIPE_DEF_BUFFERS];
	struct page *pages[PIPE_DEF_BUFFERS];
	struct splice_pipe_desc spd = {
		.pages = pages, .partial = partial,
		.nr_pages_max = PIPE_DEF_BUFFERS,
		.ops = &nosteal_pipe_buf_ops, .spd_release = release_piece,
	};
	struct so_inbound *r;
	u32 at, left, n;
	ssize_t done;
	int err = 0;
	u8 *from;

	r = wait_for_record(rx, &timeo, false, &err);
	if (!r)
		return err;
	if (r->type != rx->keys.fr.f.data_type)
		return rx->keys.ktls ? -EINVAL : -EIO;
	size = min_t(size_t, size, r->text - r->read);
	for (at = r->read; size && spd.nr_pages < PIPE_DEF_BUFFERS; at += n) {
		from = so_room_byte(&r->to, at, &left);
		n = min3((size_t)left, size, PAGE_SIZE - offset_in_page(from));
		pages[spd.nr_pages] = virt_to_page(from);
		partial[spd.nr_pages] = (struct partial_page){
			.offset = offset_in_page(from), .len = n,
		};
		get_page(pages[spd.nr_pages++]);
		size -= n;
	}
	done = splice_to_pipe(pipe, &spd);
	if (done <= 0)
		return done;
	r->read += done;
	if (r->read == r->text)
		finish(rx, r);
	more_room(rx);
	return done;
}
