// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receiving.  Bytes that arrive are taken from TCP at once, usually in BH, and
 * cut into records.  Each complete record is submitted to the core.
 *
 * A record is copied once, to pages of its own, in a few pieces.  It is
 * decrypted to other pages.  So the ciphertext is still there if the keys turn
 * out to be the old ones: the record before it may announce new keys.  Once
 * this record and all before it are known to be right, only its payload is kept
 * until it is read.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "rx.h"

#define SMALL		2048		/* bytes; less is not worth pages */
/* bytes; a longer payload stays in its pages, which are parts of larger ones */
#define COPY_MAX	8192

static struct kmem_cache *openings;

/* ---- records and their memory ---- */

static void rx_charge(struct so_rx *rx, u32 bytes)
{
	sk_mem_charge(rx->sk, bytes);
	rx->pending += bytes;
}

static void uncharge(struct so_rx *rx, u32 bytes)
{
	sk_mem_uncharge(rx->sk, bytes);
	rx->pending -= bytes;
}

/* Frees a record that was opened, or that will not be opened. */
static void opening_end(struct so_opening *o)
{
	uncharge(o->rx, o->charged);
	so_room_put(&o->from);
	so_room_put(&o->to);
	if (o->rx->cut == o)
		o->rx->cut = NULL;
	list_del(&o->node);
	ocf_request_wipe(&o->req);
	kmem_cache_free(openings, o);
}

static struct so_paged *paged(struct so_inbound *r)
{
	return container_of(r, struct so_paged, base);
}

/**
 * so_inbound_byte() - find a byte of a payload
 * @r: the record
 * @at: the position of the byte in the payload
 * @left: is set to how many bytes from there on are in one piece
 *
 * Return: the address of the byte.
 */
u8 *so_inbound_byte(struct so_inbound *r, u32 at, u32 *left)
{
	if (r->kind == SO_PAGED)
		return so_room_byte(&paged(r)->room, at, left);
	*left = r->text - at;
	return container_of(r, struct so_small, base)->data + at;
}

/* Frees a record that was read.  Context: the socket is held. */
void so_inbound_end(struct so_rx *rx, struct so_inbound *r)
{
	uncharge(rx, r->charged);
	atomic_sub(r->seen, &rx->sk->sk_rmem_alloc);
	rx->unread -= r->charged;
	if (r->kind == SO_PAGED)
		so_room_put(&paged(r)->room);
	list_del(&r->node);
	kfree(r);
}

static bool rx_is_in_core(const struct so_opening *o)
{
	enum so_opening_state state = so_opening_state(o);

	return state == SO_SUBMITTING || state == SO_OPENING;
}

/* Frees all records that are not in the core.  Context: the socket is held. */
void so_rx_purge(struct so_rx *rx)
{
	struct so_inbound *r, *next;
	struct so_opening *o, *after;

	list_for_each_entry_safe(r, next, &rx->records, node)
		so_inbound_end(rx, r);
	list_for_each_entry_safe(o, after, &rx->opening, node)
		if (!rx_is_in_core(o))
			opening_end(o);
}

static int align_of(u32 len)
{
	return len < SMALL ? -1 : 0;
}

/* Begins a record whose header has arrived. */
static int record_begin(struct so_rx *rx, u32 sealed,
			const struct so_framing_plan *plan)
{
	u32 head = rx->keys.fr.f.explicit_len;
	struct so_opening *o;
	/* count the struct, too: a peer may send many small records */
	u32 size = sizeof(*o) + ALIGN(sealed, SO_ROOM_ALIGN);

	if (!__sk_rmem_schedule(rx->sk, size, false))
		return -ENOMEM;
	o = kmem_cache_alloc(openings, GFP_ATOMIC);
	if (!o)
		return -ENOMEM;
	memset(o, 0, offsetof(struct so_opening, src));
	o->rx = rx;
	o->state = SO_CUT;
	o->sealed = sealed;
	o->plan = *plan;
	memcpy(o->header, rx->header, sizeof(o->header));
	list_add_tail(&o->node, &rx->opening);
	o->charged = size;
	rx_charge(rx, size);
	if (so_room_get(&o->from, head, align_of(sealed), sealed, GFP_ATOMIC) ||
	    o->from.size < sealed) {
		opening_end(o);
		return -ENOMEM;
	}
	rx->cut = o;
	return 0;
}

/* Gets the memory that a complete record is decrypted to. */
static int get_plaintext_room(struct so_opening *o)
{
	u32 len = o->plan.data, size = ALIGN(len, SO_ROOM_ALIGN);

	if (!len)
		return 0;
	if (!__sk_rmem_schedule(o->rx->sk, size, false))
		return -ENOMEM;
	if (so_room_get(&o->to, 0, align_of(o->sealed), len, GFP_ATOMIC) ||
	    o->to.size < len) {
		so_room_put(&o->to);
		return -ENOMEM;
	}
	o->charged += size;
	rx_charge(o->rx, size);
	return 0;
}

/* ---- records that are right ---- */

/* Copies a short payload; a long one stays in its pages.  NULL: no memory. */
static struct so_inbound *inbound_make(struct so_opening *o)
{
	struct so_small *small;
	struct so_paged *paged;
	size_t size = struct_size(small, data, o->text);

	if (size <= COPY_MAX) {
		small = kmalloc(size, GFP_ATOMIC | __GFP_NOWARN);
		if (!small)
			return NULL;
		so_room_read(&o->to, 0, small->data, o->text);
		small->base.kind = SO_SMALL;
		small->base.charged = ksize(small);
		return &small->base;
	}
	paged = kmalloc(sizeof(*paged), GFP_ATOMIC | __GFP_NOWARN);
	if (!paged)
		return NULL;
	paged->room = o->to;
	o->to.parts = 0;
	paged->base.kind = SO_PAGED;
	paged->base.charged = ksize(paged) + paged->room.size;
	return &paged->base;
}

/* Makes @o readable.  False: there is no memory for that. */
static bool deliver(struct so_rx *rx, struct so_opening *o)
{
	struct sock *sk = rx->sk;
	struct so_inbound *r;
	u32 all;

	r = inbound_make(o);
	if (!r)
		return false;
	r->number = o->number;
	r->text = o->text;
	r->read = 0;
	r->type = o->type;
	r->ends_keys = o->ends_keys;
	/* was charged for @o until now */
	o->charged -= r->charged;
	rx->unread += r->charged;
	/* TCP announces a larger window only when a task reads from TCP */
	all = atomic_read(&sk->sk_rmem_alloc) + r->charged;
	r->seen = all <= READ_ONCE(sk->sk_rcvbuf) / 2 ? r->charged : 0;
	atomic_add(r->seen, &sk->sk_rmem_alloc);
	list_add_tail(&r->node, &rx->records);
	return true;
}

/*
 * Makes records readable that are open and right, in order.  Only their
 * payloads are kept.  This stops after a record that announces new keys.  The
 * ciphertext of later records is kept, because they may have failed only for
 * lack of the new keys.  False: there is no memory for a record that is right.
 */
static bool deliver_open(struct so_rx *rx)
{
	struct so_opening *o;
	bool empty;

	while (!rx->ended && (o = so_rx_opening(rx)) &&
	       so_opening_state(o) == SO_OPEN && !o->err) {
		o->err = so_look(rx, o);
		if (o->err)
			break;
		empty = !o->text && o->type == rx->keys.fr.f.data_type;
		if (!empty && !deliver(rx, o)) {
			queue_delayed_work(system_wq, &rx->retry, HZ / 10);
			return false;
		}
		rx->count += empty;
		rx->ended = o->ends_keys;
		opening_end(o);
	}
	return true;
}

/* ---- opening ---- */

/* Whether a read returns at once, with data or with an error. */
static bool is_ready(const struct so_rx *rx)
{
	const struct so_opening *o = so_rx_opening(rx);

	if (rx->err)
		return !rx->told;
	/* so_rx_set() wakes a task that waits for new keys */
	if (rx->paused)
		return false;
	if (so_rx_first(rx))
		return true;
	return o ? so_opening_state(o) == SO_OPEN && o->err : rx->stop;
}

/*
 * Brings the flags up to date after a read.
 * Context: the socket's lock is held, by its owner or in BH.
 */
void so_rx_settle(struct so_rx *rx)
{
	bool ready = is_ready(rx);

	WRITE_ONCE(rx->ready, ready);
	WRITE_ONCE(rx->enough, ready && so_rx_has_enough(rx));
}

/* Whether bytes may have been left with TCP that can be taken later. */
static bool is_stopped(const struct so_rx *rx)
{
	return test_bit(SO_RX_STOPPED, &rx->notes) && !rx->err && !rx->stop &&
	       !rx->paused;
}

/*
 * Makes open records readable, and wakes tasks that poll or wait.
 * Context: the socket's lock is held, by its owner or in BH.
 */
static void set_ready(struct so_rx *rx)
{
	deliver_open(rx);
	/* memory was short, and perhaps no other event calls this again */
	if (is_stopped(rx) && !so_rx_is_full(rx))
		queue_delayed_work(system_wq, &rx->retry, HZ / 10);
	so_rx_settle(rx);
	if (rx->ready)
		rx->data_ready(rx->sk);
}

static void rx_advance(struct so_rx *rx);

/*
 * Goes on after a record was opened.
 * Context: the socket's spinlock is held, and no task owns the socket.
 */
static void go_on(struct so_rx *rx)
{
	/* this frees ciphertext, so there may be room for other records */
	deliver_open(rx);
	if (is_stopped(rx) && !so_rx_is_full(rx)) {
		so_rx_arrived(rx);
	} else {
		rx_advance(rx);
		set_ready(rx);
	}
	wake_up_all(&rx->idle);
}

/* The callback of a record; see sealed() in tx.c. */
static void opened(struct ocf_request *req, int err)
{
	struct so_opening *o = req->cookie;
	struct so_rx *rx = o->rx;
	struct sock *sk = rx->sk;

	o->err = err;
	/* pairs with rx_advance(), and with so_opening_state() */
	if (cmpxchg(&o->state, SO_SUBMITTING, SO_OPEN) == SO_SUBMITTING)
		return;
	rcu_read_lock();
	if (!spin_trylock(&sk->sk_lock.slock)) {
		/* pairs with so_opening_state() */
		smp_store_release(&o->state, SO_OPEN);
		mod_delayed_work(system_wq, &rx->retry, 0);
		rcu_read_unlock();
		return;
	}
	/* pairs with so_opening_state() */
	smp_store_release(&o->state, SO_OPEN);
	if (sock_owned_by_user(sk))
		set_bit(SO_RX_OPENED, &rx->notes);
	else
		go_on(rx);
	spin_unlock(&sk->sk_lock.slock);
	rcu_read_unlock();
}

/**
 * so_rx_released() - do what was put off while a task owned the socket
 * @rx: the receiving direction
 *
 * Context: the spinlock of the socket is held.
 */
void so_rx_released(struct so_rx *rx)
{
	if (test_and_clear_bit(SO_RX_RETRY, &rx->notes))
		so_rx_arrived(rx);
	if (test_and_clear_bit(SO_RX_OPENED, &rx->notes))
		go_on(rx);
}

static void rx_make_lists(struct so_opening *o, u32 skip)
{
	bool aad = o->plan.aad;
	u32 n;

	if (aad) {
		so_sg_set_bytes(&o->src[0], o->aad, o->plan.aad);
		so_sg_set_bytes(&o->dst[0], o->aad, o->plan.aad);
	}
	n = so_room_list(&o->from, skip, &o->src[aad]);
	sg_mark_end(&o->src[aad + n - 1]);
	o->req.src = o->src;
	n = so_room_list(&o->to, 0, &o->dst[aad]);
	if (n || aad)
		sg_mark_end(&o->dst[aad + n - 1]);
	o->req.dst = o->dst;
}

/* Sets what the MAC covers, and where it is. */
static void rx_make_ranges(struct so_opening *o, u8 order)
{
	struct ocf_request *req = &o->req;
	u32 aad = o->plan.aad;

	req->data = (struct ocf_range){ aad, o->plan.data };
	req->auth = (struct ocf_range){ 0, aad };
	if (order != SO_CRYPT_MAC_THEN_ENCRYPT)
		req->tag_start = aad + o->plan.data;
	if (order == SO_CRYPT_ENCRYPT_THEN_MAC)
		req->auth.len += o->plan.data;
}

/* Makes a request of a complete record, with the present keys. */
static void make_request(struct so_rx *rx, struct so_opening *o)
{
	u32 n = rx->keys.fr.f.explicit_len;
	struct so_keys *k = &rx->keys;
	u8 head[FRAMING_HEAD_MAX], *nonce = head + k->fr.f.header_len;

	memcpy(head, o->header, k->fr.f.header_len);
	so_room_read(&o->from, 0, nonce, n);
	ocf_request_init(&o->req, k->ses);
	so_framing_aad(&k->fr, &o->plan, head, k->number, o->aad);
	so_framing_nonce(&k->fr, k->iv, k->ivlen, nonce, k->number, o->req.iv);
	if (k->fr.f.nonce == SO_CRYPT_NONCE_CHAINED)
		so_room_read(&o->from, n + o->plan.data - k->fr.ivlen, k->iv,
			     k->fr.ivlen);
	o->number = k->number;
	/*
	 * The number stops one beyond number_max, so it does not wrap.
	 * rx_submit() refuses such records.
	 */
	if (k->number <= k->fr.f.number_max) {
		k->number++;
		k->counter++;
	}
	rx_make_lists(o, n);
	rx_make_ranges(o, k->fr.f.order);
	o->req.op = OCF_OP_DECRYPT;
	o->req.flags = OCF_REQ_INLINE | OCF_REQ_OFFLOAD;
	o->req.done = opened;
	o->req.cookie = o;
	o->err = 0;
	o->state = SO_HELD;
}

static bool rx_any_in_core(struct so_rx *rx)
{
	struct so_opening *o;

	list_for_each_entry(o, &rx->opening, node)
		if (rx_is_in_core(o))
			return true;
	return false;
}

/*
 * Refuses records beyond the last number, so that no number is used twice.
 * More records may wait for new keys than the new keys have numbers.
 */
static int rx_submit(struct so_rx *rx, struct so_opening *o)
{
	if (o->number > rx->keys.fr.f.number_max)
		return -EKEYEXPIRED;
	return ocf_submit(&o->req);
}

/*
 * Submits held records until the core takes no more.  They are at the end of
 * the list, so this looks from there: many open records may wait to be read.
 */
static void rx_advance(struct so_rx *rx)
{
	struct so_opening *o;
	int err;

	list_for_each_entry_reverse(o, &rx->opening, node)
		if (o->state != SO_HELD && o->state != SO_CUT)
			break;
	list_for_each_entry_continue(o, &rx->opening, node) {
		if (o->state != SO_HELD)
			continue;
		WRITE_ONCE(o->state, SO_SUBMITTING);
		err = rx_submit(rx, o);
		if (!err || err == -EINPROGRESS) {
			/* unless it is open already: pairs with opened() */
			cmpxchg(&o->state, SO_SUBMITTING, SO_OPENING);
			continue;
		}
		if (err == -EBUSY) {
			WRITE_ONCE(o->state, SO_HELD);
			if (!rx_any_in_core(rx))
				queue_delayed_work(system_wq, &rx->retry,
						   max(HZ / 100, 1));
			return;
		}
		o->err = err;
		WRITE_ONCE(o->state, SO_OPEN);
	}
}

/* ---- cutting ---- */

/*
 * Begins the record whose header has arrived.  Returns an error if the header
 * is wrong; -ENOBUFS if the socket is full; -ENOMEM.
 */
static int rx_begin(struct so_rx *rx)
{
	struct so_framing_plan plan;
	int sealed, err;

	if (rx->keys.number > rx->keys.fr.f.number_max)
		return -EKEYEXPIRED;
	sealed = so_framing_sealed(&rx->keys.fr, rx->header);
	if (sealed < 0)
		return sealed;
	err = so_framing_open(&rx->keys.fr, rx->header, sealed, &plan);
	/* kTLS's errno for a header that is wrong */
	if (err == -EPROTO && rx->keys.ktls)
		return -EINVAL;
	if (err)
		return err;
	if (so_rx_is_full(rx))
		return -ENOBUFS;
	err = record_begin(rx, sealed, &plan);
	if (!err)
		rx->header_len = 0;
	return err;
}

/* Copies at most @want bytes of @skb to @to. */
static u32 take_some(struct sk_buff *skb, u32 *off, size_t *len, u8 *to,
		     u32 want)
{
	u32 n = min_t(size_t, want, *len);

	skb_copy_bits(skb, *off, to, n);
	*off += n;
	*len -= n;
	return n;
}

/* Copies bytes into a record.  Return: whether the record is complete. */
static bool take_body(struct so_opening *o, struct sk_buff *skb, u32 *off,
		      size_t *len)
{
	u32 n;
	u8 *to;

	while (*len && o->got < o->sealed) {
		to = so_room_byte(&o->from, o->got, &n);
		o->got += take_some(skb, off, len, to,
				    min(n, o->sealed - o->got));
	}
	return o->got == o->sealed;
}

/* Whether the record before @o waits until the core takes more. */
static bool is_behind_held(const struct so_rx *rx, const struct so_opening *o)
{
	return !list_is_first(&o->node, &rx->opening) &&
	       list_prev_entry(o, node)->state == SO_HELD;
}

/*
 * Submits the record that is complete now.  A small record is opened, and its
 * ciphertext freed, before the next one begins.
 */
static int rx_complete(struct so_rx *rx)
{
	struct so_opening *o = rx->cut;
	int err;

	err = get_plaintext_room(o);
	if (err)
		return err;
	make_request(rx, o);
	rx->cut = NULL;
	if (!is_behind_held(rx, o)) {
		rx_advance(rx);
		deliver_open(rx);
	}
	return 0;
}

/* Called by tcp_read_sock().  Return: how many bytes were taken. */
static int rx_take(read_descriptor_t *desc, struct sk_buff *skb,
		   unsigned int off, size_t len)
{
	struct so_rx *rx = desc->arg.data;
	u32 header = rx->keys.fr.f.header_len;
	size_t before = len;
	int err = 0;

	/* TCP checks the count only between packets */
	if (!desc->count)
		return 0;
	while (len && !err) {
		if (rx->cut) {
			if (!take_body(rx->cut, skb, &off, &len))
				break;
			err = rx_complete(rx);
			continue;
		}
		rx->header_len += take_some(skb, &off, &len,
					    rx->header + rx->header_len,
					    header - rx->header_len);
		if (rx->header_len == header)
			err = rx_begin(rx);
	}
	if (err)
		desc->count = 0;
	desc->error = err;
	return before - len;
}

/* Takes all bytes that TCP has.  Return: 0, or why a record cannot begin. */
static int take_all(struct so_rx *rx)
{
	read_descriptor_t desc = { .arg.data = rx, .count = 1 };

	clear_bit(SO_RX_STOPPED, &rx->notes);
	/* a record for which there was no memory before */
	if (rx->cut && rx->cut->got == rx->cut->sealed)
		desc.error = rx_complete(rx);
	else if (rx->header_len == rx->keys.fr.f.header_len)
		desc.error = rx_begin(rx);
	if (!desc.error)
		tcp_read_sock(rx->sk, &desc, rx_take);
	if (desc.error == -ENOMEM || desc.error == -ENOBUFS)
		set_bit(SO_RX_STOPPED, &rx->notes);
	else if (desc.error)
		rx->stop = desc.error;
	return desc.error;
}

/**
 * so_rx_arrived() - take the bytes that TCP has
 * @rx: the receiving direction
 *
 * Context: the socket's lock is held, by its owner or in BH.
 */
void so_rx_arrived(struct so_rx *rx)
{
	int err;

	rx_advance(rx);
	if (!rx->err && !rx->stop && !rx->paused) {
		do {
			err = take_all(rx);
			rx_advance(rx);
			/* this frees ciphertext, so there may be room */
			deliver_open(rx);
		} while (err == -ENOBUFS && !so_rx_is_full(rx));
	}
	set_ready(rx);
}

static void rx_retry(struct work_struct *work)
{
	struct so_rx *rx = container_of(to_delayed_work(work), struct so_rx,
					retry);
	struct sock *sk = rx->sk;

	/* do not wait for a task that owns the socket */
	spin_lock_bh(&sk->sk_lock.slock);
	if (sock_owned_by_user(sk))
		set_bit(SO_RX_RETRY, &rx->notes);
	else
		so_rx_arrived(rx);
	spin_unlock_bh(&sk->sk_lock.slock);
}

/* ---- the rest ---- */

/* Whether bytes have been cut into records by the present framing. */
static bool any_bytes(const struct so_rx *rx)
{
	return rx->header_len || !list_empty(&rx->opening) ||
	       !list_empty(&rx->records);
}

/**
 * so_rx_set() - set the keys for receiving
 * @rx: the receiving direction
 * @new: see so_keys_replace()
 *
 * Records that were right with the old keys stay as they are.  All later
 * records, also those that have arrived, are opened with the new keys.
 *
 * Context: process; the socket is held; after so_rx_wait().
 * Return: 0, -ENOMEM, or see so_keys_replace().
 */
int so_rx_set(struct so_rx *rx, struct so_new_keys *new)
{
	struct so_inbound *last;
	struct so_opening *o;
	int err;

	/* records that are right with the old keys */
	if (!deliver_open(rx))
		return -ENOMEM;
	err = so_keys_replace(&rx->keys, new, !any_bytes(rx));
	if (err)
		return err;
	rx->changes++;
	if (rx->stop == -EKEYEXPIRED)
		rx->stop = 0;
	if (rx->err == -EKEYEXPIRED) {
		rx->err = 0;
		rx->told = false;
	}
	rx->ended = false;
	rx->paused = false;
	if (!list_empty(&rx->records)) {
		last = list_last_entry(&rx->records, struct so_inbound, node);
		last->ends_keys = false;
	}
	rx->message.have = 0;
	list_for_each_entry(o, &rx->opening, node)
		if (o != rx->cut)
			make_request(rx, o);
	return 0;
}

/**
 * so_rx_wait() - wait until no record is in the core
 * @rx: the receiving direction
 * @killable: a task that is killed stops waiting
 *
 * Context: process; the socket is held, and is not while this waits.
 * Return: 0, or -EINTR: the task was killed.
 */
int so_rx_wait(struct so_rx *rx, bool killable)
{
	int mode = killable ? TASK_KILLABLE : TASK_UNINTERRUPTIBLE, err = 0;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(&rx->idle, &wait);
	while (rx_any_in_core(rx)) {
		if (killable && fatal_signal_pending(current)) {
			err = -EINTR;
			break;
		}
		release_sock(rx->sk);
		wait_woken(&wait, mode, HZ / 10);
		lock_sock(rx->sk);
	}
	remove_wait_queue(&rx->idle, &wait);
	return err;
}

/**
 * so_rx_loses_data() - whether data would be lost if the socket were closed
 * @rx: the receiving direction
 *
 * Alerts and tickets are no data.  An incomplete or wrong record counts as
 * data, because it may have been some.
 *
 * Context: process; the socket is held; after so_rx_wait().
 */
bool so_rx_loses_data(struct so_rx *rx)
{
	const struct so_inbound *r;

	deliver_open(rx);
	if (!list_empty(&rx->opening) || rx->header_len)
		return true;
	list_for_each_entry(r, &rx->records, node)
		if (r->type == rx->keys.fr.f.data_type)
			return true;
	return false;
}

/* The number of the record that is read next.  Context: the socket is held. */
u64 so_rx_number(const struct so_rx *rx)
{
	const struct so_inbound *r = so_rx_first(rx);
	const struct so_opening *o = so_rx_opening(rx);

	/* a part of @r was read, so the next record is the one after it */
	if (r && r->read)
		r = list_is_last(&r->node, &rx->records) ?
		    NULL : list_next_entry(r, node);
	if (r)
		return r->number;
	return o && o != rx->cut ? o->number : rx->keys.number;
}

/* Context: the socket is held. */
void so_rx_tell(struct so_rx *rx, struct so_crypt_info *info)
{
	info->number = so_rx_number(rx);
	info->records = rx->count;
	info->bytes = rx->got;
	info->in_flight = list_count_nodes(&rx->records) +
			  list_count_nodes(&rx->opening);
	info->keys = rx->changes;
}

void so_rx_init(struct so_rx *rx, struct sock *sk)
{
	INIT_LIST_HEAD(&rx->records);
	INIT_LIST_HEAD(&rx->opening);
	init_waitqueue_head(&rx->idle);
	INIT_DELAYED_WORK(&rx->retry, rx_retry);
	rx->sk = sk;
}

/*
 * Frees all records.  None is in the core, and TCP gives no more bytes.
 * Context: process; the socket is held.
 */
void so_rx_exit(struct so_rx *rx)
{
	so_rx_purge(rx);
	rx->err = -ENOTCONN;
	so_keys_forget(&rx->keys);
}

/* The slab's constructor; see record_init() in tx.c. */
static void opening_init(void *object)
{
	struct so_opening *o = object;

	sg_init_table(o->src, ARRAY_SIZE(o->src));
	sg_init_table(o->dst, ARRAY_SIZE(o->dst));
}

int so_rx_init_module(void)
{
	openings = kmem_cache_create("so_opening", sizeof(struct so_opening),
				     0, SLAB_ACCOUNT, opening_init);
	return openings ? 0 : -ENOMEM;
}

void so_rx_exit_module(void)
{
	kmem_cache_destroy(openings);
}
