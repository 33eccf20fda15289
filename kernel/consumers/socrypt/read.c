// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading.  A record can be read when it and all records before it are open.
 */
#include <linux/fs.h>
#include <linux/splice.h>
#include <linux/tls.h>
#include <net/sock.h>

#include "rx.h"

/* Frees a record of which all bytes were read. */
static void finish(struct so_rx *rx, struct so_inbound *r)
{
	rx->paused = r->ends_keys;
	rx->got += r->text;
	rx->count++;
	so_inbound_end(rx, r);
}

/* The next record, or NULL. */
static struct so_inbound *next_open(struct so_rx *rx)
{
	struct so_inbound *r = so_rx_first(rx);
	struct so_opening *o = so_rx_opening(rx);

	if (rx->err || rx->paused)
		return NULL;
	if (r)
		return r;
	if (o) {
		rx->err = so_opening_state(o) == SO_OPEN ? o->err : 0;
	} else {
		/*
		 * all records that came before the wrong bytes have been read
		 */
		rx->err = rx->stop;
		rx->once = rx->err && rx->keys.ktls;
	}
	/* new keys can open records that the old ones had no numbers for */
	if (rx->err && rx->err != -EKEYEXPIRED)
		so_rx_purge(rx);
	return NULL;
}

/* The record after @r, of the same type, or NULL. */
static struct so_inbound *open_after(struct so_rx *rx, struct so_inbound *r)
{
	struct so_inbound *next = list_next_entry(r, node);

	return !list_entry_is_head(next, &rx->records, node) &&
	       next->type == r->type ? next : NULL;
}

/* Whether no complete record is left, opened or not */
static bool nothing_comes(const struct so_rx *rx)
{
	return list_empty(&rx->records) && so_rx_opening(rx) == rx->cut;
}

/* Whether the peer has closed, and no complete record is left */
static bool is_at_end(const struct so_rx *rx)
{
	return (rx->sk->sk_shutdown & RCV_SHUTDOWN ||
		rx->sk->sk_state == TCP_CLOSE) &&
	       nothing_comes(rx) && !test_bit(SO_RX_STOPPED, &rx->notes);
}

/*
 * Returns why there is nothing to read, or 0 if that may change.  @some bytes
 * were read by the same call.  The socket's error is reported once, so a call
 * that has read something leaves it to the next call.
 */
static int read_error(struct so_rx *rx, bool *end, bool some)
{
	if (rx->err && !rx->told) {
		rx->told = rx->once;
		return rx->err;
	}
	if (rx->paused)
		return -EKEYEXPIRED;
	if (!nothing_comes(rx))
		return 0;
	if (rx->sk->sk_err)
		return some ? -EAGAIN : sock_error(rx->sk);
	*end = is_at_end(rx);
	/* with kTLS the program finds out by the missing close_notify */
	return *end && (rx->cut || rx->header_len) && !rx->keys.ktls ?
	       -ECONNABORTED : 0;
}

/* A read has made room: takes the bytes that were left with TCP. */
static bool more_room(struct so_rx *rx)
{
	if (!test_bit(SO_RX_STOPPED, &rx->notes) || so_rx_is_full(rx))
		return false;
	so_rx_arrived(rx);
	return true;
}

/*
 * Releases the socket and waits until a record is open, or until an error or
 * the end comes.
 */
static void wait(struct so_rx *rx, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = rx->sk;

	so_rx_settle(rx);
	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	release_sock(sk);
	*timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeo);
	lock_sock(sk);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
}

/*
 * Returns the next record that can be read; waits for it if @timeo allows.  Or
 * returns NULL and sets *@err, to 0 at the end of the stream.  @some bytes were
 * read by the same call.
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

/* Whether more bytes may follow @r, the last decrypted record */
static bool more_may_come(const struct so_rx *rx, struct so_inbound *r)
{
	struct so_opening *o = so_rx_opening(rx);

	if (!list_is_last(&r->node, &rx->records))
		return false;
	/* if it was opened meanwhile, so_rx_released() makes it readable */
	if (o != rx->cut)
		return !rx->ended &&
		       (so_opening_state(o) != SO_OPEN || !o->err);
	return !rx->stop && !rx->sk->sk_err && !so_rx_is_full(rx) &&
	       !(rx->sk->sk_shutdown & RCV_SHUTDOWN);
}

static int tell_type(const struct so_rx *rx, struct msghdr *msg, u8 type)
{
	bool data = type == rx->keys.fr.f.data_type;

	/* kTLS reports the type of data, too */
	if (rx->keys.ktls)
		put_cmsg(msg, SOL_TLS, TLS_GET_RECORD_TYPE, sizeof(type),
			 &type);
	else if (!data && msg->msg_control)
		put_cmsg(msg, SOL_OCF, SO_CRYPT_TYPE, sizeof(type), &type);
	return !data && (!msg->msg_control || msg->msg_flags & MSG_CTRUNC) ?
	       -EIO : 0;
}

/* Return: how many bytes could be copied. */
static u32 copy_out(struct so_inbound *r, struct msghdr *msg, u32 len)
{
	u32 n, done = 0;
	const u8 *from;
	size_t got;

	while (done < len) {
		from = so_inbound_byte(r, r->read + done, &n);
		n = min(n, len - done);
		got = copy_to_iter(from, n, &msg->msg_iter);
		done += got;
		if (got < n)
			break;
	}
	return done;
}

/*
 * Counts the bytes that can be read from @r on.  Sets *@last to the record with
 * the last of them.
 */
static int open_bytes(struct so_rx *rx, struct so_inbound *r,
		      struct so_inbound **last)
{
	int n = 0;

	do {
		n += r->text - r->read;
		*last = r;
		/* a read returns one record that is no data */
		r = r->type == rx->keys.fr.f.data_type ? open_after(rx, r) :
							 NULL;
	} while (r);
	return n;
}

/**
 * so_rx_has_enough() - whether poll() reports the socket as readable
 * @rx: the receiving direction, from which something can be read
 *
 * That is so with SO_RCVLOWAT bytes, or if no more bytes can follow.
 *
 * Context: the socket's lock is held, by its owner or in BH.
 */
bool so_rx_has_enough(struct so_rx *rx)
{
	struct so_inbound *r = so_rx_first(rx), *last;

	if (rx->lowat <= 1 || rx->err || !r)
		return true;
	return open_bytes(rx, r, &last) >= rx->lowat ||
	       last->type != rx->keys.fr.f.data_type ||
	       !more_may_come(rx, last);
}

/**
 * so_rx_readable() - SIOCINQ: how much a read returns without waiting
 * @rx: the receiving direction
 *
 * Context: process; the socket is held.
 * Return: bytes of payload.
 */
int so_rx_readable(struct so_rx *rx)
{
	struct so_inbound *r = next_open(rx), *last;

	return r ? open_bytes(rx, r, &last) : 0;
}

/**
 * so_rx_read() - recvmsg()
 * @rx: the receiving direction
 * @msg: the destination
 * @size: bytes wanted
 * @flags: MSG_*; MSG_OOB and MSG_TRUNC mean nothing to kTLS
 *
 * Context: process; the socket is held.
 * Return: bytes, 0 at the end, or an errno.
 */
int so_rx_read(struct so_rx *rx, struct msghdr *msg, size_t size, int flags)
{
	long timeo = sock_rcvtimeo(rx->sk, flags & MSG_DONTWAIT), none = 0;
	size_t target = min_t(size_t, rx->lowat, size), done = 0;
	bool ours = !rx->keys.ktls, peek = flags & MSG_PEEK;
	bool discard = flags & MSG_TRUNC && ours;
	struct so_inbound *r = NULL;
	int err = 0, type = -1;
	bool more;
	u32 n;

	if (flags & MSG_OOB && ours)
		return -EINVAL;		/* as TCP without urgent data */
	if (flags & MSG_WAITALL)
		target = size;
	while (done < size) {
		/*
		 * computed before the search: a record that is opened just
		 * after a search without success could make it false, and the
		 * call would end too early
		 */
		more = peek && r && done < target && timeo &&
		       !signal_pending(current) && more_may_come(rx, r);
		r = peek && r ? open_after(rx, r) :
		    wait_for_record(rx, done < target ? &timeo : &none, done,
				    &err);
		if (!r && more) {
			/* another task may read what this one has peeked at */
			wait(rx, &timeo);
			iov_iter_revert(&msg->msg_iter, done);
			done = 0;
			continue;
		}
		if (!r)
			break;
		if (type >= 0 && r->type != type) {
			err = -EAGAIN;	/* returned if nothing was read */
			break;
		}
		if (type < 0) {
			err = tell_type(rx, msg, r->type);
			if (err)
				break;
			type = r->type;
		}
		n = min_t(size_t, size - done, r->text - r->read);
		if (!discard)
			n = copy_out(r, msg, n);
		if (!n && r->text) {
			err = -EFAULT;
			break;
		}
		done += n;
		if (peek && type == rx->keys.fr.f.data_type)
			continue;
		if (peek)
			break;
		r->read += n;
		/*
		 * MSG_EOR is set when a record was read to its end, as by kTLS;
		 * OpenSSL checks it
		 */
		if (ours)
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

/* Prepares at most @size bytes of @r for a pipe.  False: there is no memory. */
static bool add_piece(struct splice_pipe_desc *spd, struct so_inbound *r,
		      u32 at, u32 size)
{
	struct partial_page *part = &spd->partial[spd->nr_pages];
	struct page *page;
	u32 left;
	u8 *from;

	from = so_inbound_byte(r, at, &left);
	size = min3(size, left, (u32)(PAGE_SIZE - offset_in_page(from)));
	*part = (struct partial_page){ offset_in_page(from), size };
	if (r->kind == SO_SMALL) {
		/* a pipe must not get a page of a slab */
		page = alloc_page(GFP_KERNEL);
		if (!page)
			return false;
		memcpy(page_address(page) + part->offset, from, size);
	} else {
		page = virt_to_page(from);
		get_page(page);
	}
	spd->pages[spd->nr_pages++] = page;
	return true;
}

/**
 * so_rx_splice() - splice() from the socket
 * @rx: the receiving direction
 * @pipe: the destination
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
	ssize_t done;
	int err = 0;
	u32 at;

	r = wait_for_record(rx, &timeo, false, &err);
	if (!r)
		return err;
	if (r->type != rx->keys.fr.f.data_type)
		return rx->keys.ktls ? -EINVAL : -EIO;
	size = min_t(size_t, size, r->text - r->read);
	for (at = r->read; size && spd.nr_pages < PIPE_DEF_BUFFERS &&
	     add_piece(&spd, r, at, size);) {
		at += partial[spd.nr_pages - 1].len;
		size -= partial[spd.nr_pages - 1].len;
	}
	if (size && !spd.nr_pages)
		return -ENOMEM;
	done = splice_to_pipe(pipe, &spd);
	if (done <= 0)
		return done;
	r->read += done;
	if (r->read == r->text)
		finish(rx, r);
	more_room(rx);
	return done;
}
