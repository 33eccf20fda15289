// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending.  A full record is submitted to the core.  When it and all records
 * before it are encrypted, it is pushed to TCP: by the task that writes, by the
 * completion, or by the socket's owner at that time.
 */
#include <linux/bvec.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "tx.h"

#define BATCH		24	/* parts of records TCP is given at once */

static struct kmem_cache *records;

/* ---- records and their memory ---- */

/* Changes the charge of a record to @bytes.  The socket's lock is held. */
static void tx_charge(struct so_record *r, u32 bytes)
{
	struct sock *sk = r->tx->sk;
	int more = (int)bytes - (int)r->charged;

	sk_wmem_queued_add(sk, more);
	if (more > 0) {
		/* cannot fail: it was checked, or uncharged a moment ago */
		sk_wmem_schedule(sk, more);
		sk_mem_charge(sk, more);
	} else if (more < 0) {
		sk_mem_uncharge(sk, -more);
	}
	r->charged = bytes;
}

static void drop_pieces(struct so_record *r)
{
	while (r->pieces)
		put_page(sg_page(&r->src[r->pieces--]));
}

/* Bytes that TCP does not have yet */
static u32 left_of(const struct so_record *r)
{
	return r->state == SO_OPEN ? r->plan.payload : r->plan.wire - r->sent;
}

/* Frees a record. */
void so_record_end(struct so_record *r)
{
	struct so_tx *tx = r->tx;

	tx_charge(r, 0);
	so_tx_count(tx, -left_of(r));
	drop_pieces(r);
	so_room_put(&r->room);
	ocf_session_put_deferred(r->ses);
	if (tx->open == r)
		tx->open = NULL;
	list_del(&r->node);
	memzero_explicit(r->tail, sizeof(r->tail));
	ocf_request_wipe(&r->req);
	kmem_cache_free(records, r);
}

/*
 * The slab's constructor: initialises a record's lists once, because they are
 * still initialised when a record is freed.
 */
static void record_init(void *object)
{
	struct so_record *r = object;

	sg_init_table(r->src, ARRAY_SIZE(r->src));
	sg_init_table(r->dst, ARRAY_SIZE(r->dst));
}

/*
 * Begins a record for at most @want bytes of payload.  @align: as in
 * so_room_get() if the record refers to pages of a file, or -1.
 * Return: 0, or -ENOBUFS: there is no memory.
 */
int so_record_begin(struct so_tx *tx, u8 type, u32 want, int align)
{
	const struct so_framing *fr = &tx->keys.fr;
	struct so_framing_plan plan;
	struct so_record *r;

	so_framing_plan(fr, want, &plan);
	if (!sk_wmem_schedule(tx->sk, plan.wire + sizeof(*r)))
		return -ENOBUFS;
	r = kmem_cache_alloc(records, GFP_KERNEL);
	if (!r)
		return -ENOBUFS;
	r->tx = tx;
	r->pieces = 0;
	r->charged = 0;
	r->sent = 0;
	r->err = 0;
	r->type = type;
	r->refers = align >= 0;
	r->ses = NULL;
	r->state = SO_OPEN;
	r->room.parts = 0;
	so_framing_plan(fr, 0, &r->plan);
	list_add_tail(&r->node, &tx->records);
	if (so_room_get(&r->room, plan.head, align, plan.wire, GFP_KERNEL))
		goto end;
	/* if the room is smaller, the record is shorter */
	r->limit = want;
	if (r->room.size < plan.wire) {
		if (r->room.size <= plan.wire - want + FRAMING_TAIL_MAX)
			goto end;
		r->limit = r->room.size - (plan.wire - want + FRAMING_TAIL_MAX);
	}
	tx_charge(r, r->room.size + sizeof(*r));
	tx->open = r;
	return 0;

end:
	so_record_end(r);
	return -ENOBUFS;
}

static u8 *head_of(const struct so_record *r)
{
	return page_address(r->room.part[0].page) + r->room.part[0].off;
}

/* ---- sealing ---- */

static void put_nonce(struct so_tx *tx, u8 *nonce)
{
	struct so_keys *k = &tx->keys;
	u32 i, n = k->fr.f.explicit_len;
	__be64 counter;
	u64 random;

	if (k->fr.f.nonce == SO_CRYPT_NONCE_COUNTED) {
		counter = cpu_to_be64(k->counter++);
		memcpy(nonce, (u8 *)&counter + 8 - n, n);
		return;
	}
	/* as good as get_random_bytes(), which is expensive for a few bytes */
	for (i = 0; i < n; i += sizeof(random)) {
		random = get_random_u64();
		memcpy(nonce + i, &random, min(n - i, sizeof(random)));
	}
}

/* Makes the lists that a device reads and writes: AAD, then the data. */
static void tx_make_lists(struct so_record *r)
{
	bool aad = r->plan.aad;
	u32 n;

	if (aad)
		so_sg_set_bytes(&r->dst[0], r->aad, r->plan.aad);
	n = so_room_list(&r->room, r->plan.head, &r->dst[aad]);
	sg_mark_end(&r->dst[aad + n - 1]);
	r->req.dst = r->dst;
	r->req.src = r->dst;
	if (!r->refers)
		return;
	if (aad)
		so_sg_set_bytes(&r->src[0], r->aad, r->plan.aad);
	n = r->pieces + 1;
	if (r->plan.tail)
		so_sg_set_bytes(&r->src[n++], r->tail, r->plan.tail);
	sg_mark_end(&r->src[n - 1]);
	r->req.src = r->src + !aad;
}

/* Sets what the MAC covers, and where the MAC goes. */
static void tx_make_ranges(struct so_record *r, u8 order)
{
	struct ocf_request *req = &r->req;
	u32 aad = r->plan.aad;

	req->data = (struct ocf_range){ aad, r->plan.data };
	req->auth = (struct ocf_range){ 0, aad };
	req->tag_start = aad + r->plan.data;
	if (order == SO_CRYPT_ENCRYPT_THEN_MAC) {
		req->auth.len += r->plan.data;
	} else if (order == SO_CRYPT_MAC_THEN_ENCRYPT) {
		req->auth.len += r->plan.payload;
		req->tag_start = req->auth.len;
	}
}

static void sealed(struct ocf_request *req, int err);

/* Writes header, nonce and padding, and makes the request. */
static void make_record(struct so_tx *tx, struct so_record *r)
{
	struct so_keys *k = &tx->keys;
	u32 payload = r->plan.payload;
	u8 nonce[OCF_IV_MAX];

	so_framing_plan(&k->fr, payload, &r->plan);
	so_tx_count(tx, r->plan.wire - payload);
	so_room_trim(&r->room, r->plan.wire);
	tx_charge(r, r->plan.wire + sizeof(*r));
	put_nonce(tx, nonce);
	so_framing_head(&k->fr, &r->plan, r->type, nonce, head_of(r));
	so_framing_aad(&k->fr, &r->plan, head_of(r), k->number, r->aad);
	so_framing_tail(&k->fr, &r->plan, r->type, r->tail);
	if (!r->refers)
		so_room_write(&r->room, r->plan.head + r->plan.payload,
			      r->tail, r->plan.tail);
	/* new keys may be set while the record is held */
	r->ses = ocf_session_get(k->ses);
	ocf_request_init(&r->req, r->ses);
	so_framing_nonce(&k->fr, k->iv, k->ivlen, nonce, k->number, r->req.iv);
	r->chain = 0;
	if (so_tx_is_chained(tx)) {
		r->chain = k->fr.ivlen;
		memcpy(r->req.iv, k->iv, r->chain);
	}
	r->state = SO_HELD;
	tx_make_lists(r);
	tx_make_ranges(r, k->fr.f.order);
	r->req.done = sealed;
	r->req.flags = OCF_REQ_INLINE;
	r->req.cookie = r;
	k->number++;
}

static enum so_record_state state_of(const struct so_record *r)
{
	/* pairs with sealed(): then the ciphertext can be read */
	return smp_load_acquire(&r->state);
}

static bool tx_is_in_core(const struct so_record *r)
{
	enum so_record_state state = state_of(r);

	return state == SO_SUBMITTING || state == SO_SEALING;
}

static bool tx_any_in_core(struct so_tx *tx)
{
	struct so_record *r;

	list_for_each_entry(r, &tx->records, node)
		if (tx_is_in_core(r))
			return true;
	return false;
}

/* Tries again after 10 ms, unless another event comes first. */
static void try_later(struct so_tx *tx)
{
	queue_delayed_work(system_wq, &tx->retry, max(HZ / 100, 1));
}

/* Copies the last block of @r, which is the IV of TLS 1.0's next record. */
static void last_block(const struct so_record *r, u8 *to)
{
	u32 n = r->chain;

	so_room_read(&r->room, r->plan.head + r->plan.data - n, to, n);
}

/* Whether @r is held, comes next after @before, and has the same keys. */
static bool follows(const struct so_tx *tx, const struct so_record *r,
		    const struct so_record *before)
{
	return !list_entry_is_head(before, &tx->records, node) &&
	       !list_entry_is_head(r, &tx->records, node) &&
	       r->state == SO_HELD && r->ses == before->ses;
}

/*
 * Submits a record to the core.  The record stays held if its IV is the last
 * block of the record before, which is not encrypted yet (TLS 1.0), or if the
 * core is busy.
 */
static int submit(struct so_tx *tx, struct so_record *r, bool may_sleep)
{
	struct so_record *before = list_prev_entry(r, node);
	int err;

	if (r->chain && follows(tx, r, before)) {
		if (state_of(before) != SO_DONE || before->err)
			return 0;
		last_block(before, r->req.iv);
	}
	r->req.flags = OCF_REQ_INLINE | (may_sleep ? OCF_REQ_MAY_SLEEP : 0);
	WRITE_ONCE(r->state, SO_SUBMITTING);
	err = ocf_submit(&r->req);
	if (!err || err == -EINPROGRESS) {
		/* unless it is done already: pairs with sealed() */
		cmpxchg(&r->state, SO_SUBMITTING, SO_SEALING);
		return 0;
	}
	WRITE_ONCE(r->state, SO_HELD);
	if (err != -EBUSY)
		return err;
	if (!tx_any_in_core(tx))
		try_later(tx);
	return 0;
}

/* ---- pushing ---- */

/* Frees all records that are not in the core. */
static void purge(struct so_tx *tx)
{
	struct so_record *r, *next;

	list_for_each_entry_safe(r, next, &tx->records, node)
		if (!tx_is_in_core(r))
			so_record_end(r);
}

/* Sends nothing more, since a record would be missing. */
static void fail(struct so_tx *tx, int err)
{
	struct sock *sk = tx->sk;

	if (!tx->err) {
		tx->err = err;
		if (!sk->sk_err && err != -EPIPE) {
			WRITE_ONCE(sk->sk_err, -err);
			sk_error_report(sk);
		}
	}
	purge(tx);
}

/* Submits held records, in order, until one has to stay held. */
static void tx_advance(struct so_tx *tx)
{
	struct so_record *r;
	int err;

	list_for_each_entry(r, &tx->records, node) {
		if (r->state != SO_HELD)
			continue;
		err = submit(tx, r, false);
		if (err) {
			fail(tx, err);
			return;
		}
		if (r->state == SO_HELD)
			return;
	}
}

/*
 * Whether to give the finished records to TCP now.  Otherwise they wait for
 * more: a segment costs as much as some kilobytes of AES, and TCP forgets
 * MSG_MORE with the next ACK.
 */
static bool is_enough(struct so_tx *tx, bool more)
{
	u32 parts = 0, bytes = 0, most = READ_ONCE(tx->sk->sk_sndbuf) / 4;
	struct so_record *r;

	if (test_bit(SO_TX_FLUSH, &tx->notes) ||
	    !sk_stream_memory_free(tx->sk))
		return true;
	list_for_each_entry(r, &tx->records, node) {
		if (tx_is_in_core(r))
			return false;
		/* the peer waits for the rest of it */
		if (r->sent)
			return true;
		parts += r->room.parts;
		bytes += r->charged;
		if (r->state == SO_HELD || r->err || parts > BATCH ||
		    bytes > most)
			return true;
	}
	return !more;
}

/* Fills @bv with the parts of finished records.  Return: entries used. */
static u32 gather(struct so_tx *tx, struct bio_vec *bv, u32 *total)
{
	struct so_record *r;
	u32 i, n = 0, skip;
	const struct so_part *part;

	*total = 0;
	list_for_each_entry(r, &tx->records, node) {
		if (r->state == SO_OPEN || state_of(r) != SO_DONE ||
		    r->err || n + r->room.parts > BATCH)
			break;
		skip = r->sent;
		for (i = 0; i < r->room.parts; i++) {
			part = &r->room.part[i];
			if (skip >= part->len) {
				skip -= part->len;
				continue;
			}
			bvec_set_page(&bv[n++], part->page, part->len - skip,
				      part->off + skip);
			*total += part->len - skip;
			skip = 0;
		}
		/* TCP charges the pages that it takes */
		tx_charge(r, 0);
	}
	return n;
}

/*
 * Gives the bytes of @msg to TCP.  Meanwhile the records' bytes are taken out
 * of the socket's counters.  When memory is short, or when much is unsent, TCP
 * waits until some of the counted bytes have been sent.  It would wait for ever
 * for bytes that it does not have.
 */
static int give_tcp(struct so_tx *tx, struct msghdr *msg, u32 total)
{
	struct sock *sk = tx->sk;
	int sent, others = 0, queued = tx->queued;
	struct so_record *r;

	list_for_each_entry(r, &tx->records, node)
		others += r->charged;
	sk_wmem_queued_add(sk, -others);
	so_tx_count(tx, -queued);
	sent = tcp_sendmsg_locked(sk, msg, total);
	so_tx_count(tx, queued);
	sk_wmem_queued_add(sk, others);
	return sent;
}

/* Frees the records that TCP has taken, and charges the rest again. */
static void taken(struct so_tx *tx, u32 sent)
{
	struct so_record *r, *next;
	u32 left;

	list_for_each_entry_safe(r, next, &tx->records, node) {
		if (r->charged || state_of(r) != SO_DONE || r->err)
			break;
		left = left_of(r);
		so_tx_count(tx, -min(sent, left));
		if (sent < left) {
			r->sent += sent;
			tx_charge(r, left - sent);
			sent = 0;
			continue;
		}
		r->sent += left;
		sent -= left;
		tx->sent += r->plan.payload;
		tx->count++;
		if (r->chain && r->ses == tx->keys.ses)
			last_block(r, tx->keys.iv);
		if (r->chain && follows(tx, next, r))
			last_block(r, next->req.iv);
		so_record_end(r);
	}
}

/* Gives finished records to TCP.  Return: whether TCP took all there were. */
static bool push_some(struct so_tx *tx, bool more)
{
	struct msghdr msg = {
		.msg_flags = MSG_SPLICE_PAGES | MSG_DONTWAIT | MSG_NOSIGNAL |
			     MSG_NO_SHARED_FRAGS | (more ? MSG_MORE : 0),
	};
	struct sock *sk = tx->sk;
	struct bio_vec bv[BATCH];
	u32 n, total;
	int sent;

	n = gather(tx, bv, &total);
	if (!n)
		return false;
	if (sk->sk_err || sk->sk_shutdown & SEND_SHUTDOWN ||
	    !((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT))) {
		fail(tx, -EPIPE);
		return false;
	}
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, bv, n, total);
	sent = give_tcp(tx, &msg, total);
	taken(tx, max(sent, 0));
	if (sent < 0 && sent != -EAGAIN) {
		fail(tx, sent);
	} else if (sent < (int)total) {
		set_bit(SO_TX_STUCK, &tx->notes);
		if (tcp_rtx_and_write_queues_empty(sk))
			try_later(tx);	/* no ACK will come */
	}
	return sent == (int)total;
}

static bool first_failed(struct so_tx *tx)
{
	struct so_record *r = list_first_entry_or_null(&tx->records,
						       struct so_record, node);

	return r && r->state != SO_OPEN && state_of(r) == SO_DONE && r->err;
}

static bool is_idle(struct so_tx *tx)
{
	return list_empty(&tx->records) ||
	       (tx->open && list_is_singular(&tx->records));
}

/**
 * so_tx_push() - submit held records, and send finished ones
 * @tx: the sending direction
 * @more: the task that writes has more data
 *
 * Context: the socket's lock is held, by its owner or in BH.
 */
void so_tx_push(struct so_tx *tx, bool more)
{
	struct so_record *r;
	bool waits = false;

	/* TCP may release the socket for a moment, and that calls this again */
	if (test_and_set_bit(SO_TX_PUSHING, &tx->notes)) {
		set_bit(SO_TX_PUSH, &tx->notes);
		return;
	}
	clear_bit(SO_TX_STUCK, &tx->notes);
	do {
		clear_bit(SO_TX_PUSH, &tx->notes);
		if (tx->err)
			purge(tx);
		else
			tx_advance(tx);
		/* nothing may be sent after a record that failed */
		while (!tx->err) {
			waits = !is_enough(tx, more);
			if (waits || !push_some(tx, more))
				break;
		}
		if (first_failed(tx)) {
			r = list_first_entry(&tx->records, struct so_record,
					     node);
			fail(tx, r->err);
		}
	} while (test_bit(SO_TX_PUSH, &tx->notes));
	clear_bit(SO_TX_FLUSH, &tx->notes);
	clear_bit(SO_TX_PUSHING, &tx->notes);
	if (is_idle(tx))
		wake_up_all(&tx->idle);
	else if (waits)
		try_later(tx);
}

/* so_tx_push() for contexts that must not sleep */
static void push_atomic(struct so_tx *tx)
{
	gfp_t gfp = tx->sk->sk_allocation;

	tx->sk->sk_allocation = GFP_ATOMIC;
	so_tx_push(tx, false);
	tx->sk->sk_allocation = gfp;
}

/*
 * The callback of a record.  If the core calls it inside submit(), submit()
 * goes on with the record.  If a task owns the socket, that task pushes when it
 * releases the socket.  Otherwise this pushes.
 *
 * Once the state is set and the lock is not held, record and socket may be
 * freed.  RCU keeps the context.
 *
 * This must not spin on the lock: a submission under the lock may make the core
 * call back for another record of this socket, or for another socket's.
 */
static void sealed(struct ocf_request *req, int err)
{
	struct so_record *r = req->cookie;
	struct so_tx *tx = r->tx;
	struct sock *sk = tx->sk;

	r->err = err;
	/* pairs with submit(), and with state_of() */
	if (cmpxchg(&r->state, SO_SUBMITTING, SO_DONE) == SO_SUBMITTING)
		return;
	rcu_read_lock();
	if (!spin_trylock(&sk->sk_lock.slock)) {
		/* pairs with state_of() */
		smp_store_release(&r->state, SO_DONE);
		set_bit(SO_TX_PUSH, &tx->notes);
		mod_delayed_work(system_wq, &tx->retry, 0);
		rcu_read_unlock();
		return;
	}
	/* pairs with state_of() */
	smp_store_release(&r->state, SO_DONE);
	if (sock_owned_by_user(sk))
		set_bit(SO_TX_PUSH, &tx->notes);
	else
		push_atomic(tx);
	spin_unlock(&sk->sk_lock.slock);
	rcu_read_unlock();
}

/**
 * so_tx_released() - do what was put off while a task owned the socket
 * @tx: the sending direction
 *
 * Context: the spinlock of the socket is held.
 */
void so_tx_released(struct so_tx *tx)
{
	if (test_bit(SO_TX_PUSH, &tx->notes))
		push_atomic(tx);
}

/*
 * A task that owns the socket may keep it for long; it pushes when it releases
 * the socket.
 */
static void tx_retry(struct work_struct *work)
{
	struct so_tx *tx = container_of(to_delayed_work(work), struct so_tx,
					retry);
	struct sock *sk = tx->sk;

	spin_lock_bh(&sk->sk_lock.slock);
	set_bit(SO_TX_FLUSH, &tx->notes);
	if (sock_owned_by_user(sk))
		set_bit(SO_TX_PUSH, &tx->notes);
	else
		push_atomic(tx);
	spin_unlock_bh(&sk->sk_lock.slock);
}

/*
 * TCP has memory again.  TCP also calls this right after a refusal, when no ACK
 * is to come that could free memory; trying at once would then spin.
 * Context: the socket's lock is held, by its owner or in BH.
 */
void so_tx_space(struct so_tx *tx)
{
	if (test_bit(SO_TX_PUSHING, &tx->notes))
		return;
	/* run now, even if a later time was set */
	if (test_bit(SO_TX_STUCK, &tx->notes))
		mod_delayed_work(system_wq, &tx->retry, 0);
}

/* ---- ends ---- */

/**
 * so_tx_seal() - submit the open record to the core
 * @tx: the sending direction
 *
 * Context: process; the socket is held.
 * Return: 0, or the error that ended sending.
 */
int so_tx_seal(struct so_tx *tx)
{
	struct so_record *r = tx->open;
	int err;

	tx->open = NULL;
	make_record(tx, r);
	err = submit(tx, r, true);
	if (err)
		fail(tx, err);
	return tx->err;
}

/**
 * so_tx_cut() - send a record that MSG_MORE has kept open
 * @tx: the sending direction
 *
 * Context: process; the socket is held.
 * Return: 0, or the error that ended sending.
 */
int so_tx_cut(struct so_tx *tx)
{
	if (tx->open && !tx->err)
		so_tx_seal(tx);
	so_tx_push(tx, false);
	return tx->err;
}

/**
 * so_tx_end() - let nothing more be written
 * @tx: the sending direction
 *
 * Makes TCP take all that was written, even if the peer's window is closed:
 * these bytes are charged to the socket already.  Tasks that wait for room get
 * an error.
 *
 * Context: process; the socket is held.
 */
void so_tx_end(struct so_tx *tx)
{
	struct sock *sk = tx->sk;

	set_bit(SO_TX_ENDING, &tx->notes);
	WRITE_ONCE(sk->sk_sndbuf, INT_MAX / 2);
	WRITE_ONCE(tcp_sk(sk)->notsent_lowat, UINT_MAX);
	sk->sk_write_space(sk);
}

static bool was_killed(void)
{
	return fatal_signal_pending(current) || current->flags & PF_SIGNALED;
}

/**
 * so_tx_finish() - wait until TCP has all that was written
 * @tx: the sending direction, after so_tx_end()
 *
 * Gives up if TCP has no memory for too long, or if the task was killed: it may
 * have thousands of sockets.
 *
 * Context: process; the socket is held, but not while this waits for the core,
 * which takes bounded time.
 * Return: 0, or the error because of which data is missing.  Then the caller
 * must not end the stream normally, or the peer would take incomplete data for
 * complete.
 */
int so_tx_finish(struct so_tx *tx)
{
	unsigned long end = jiffies + 10 * HZ;
	struct sock *sk = tx->sk;

	so_tx_cut(tx);
	while (!is_idle(tx)) {
		/* only TCP's memory is missing, and has been for long */
		if ((was_killed() || time_after(jiffies, end)) &&
		    !tx_any_in_core(tx))
			fail(tx, -ENOMEM);
		release_sock(sk);
		wait_event_timeout(tx->idle, is_idle(tx), HZ / 10);
		lock_sock(sk);
		so_tx_push(tx, false);
	}
	return tx->err == -EPIPE ? 0 : tx->err;
}

/**
 * so_tx_memory_free() - whether TCP_NOTSENT_LOWAT allows more data
 * @tx: the sending direction
 * @wake: 1 before a task is woken: then half of the limit counts
 *
 * Counts the bytes that TCP has not sent, and those that TCP does not have yet.
 *
 * Context: any; without the socket's lock the answer may be late.
 */
bool so_tx_memory_free(const struct so_tx *tx, int wake)
{
	const struct tcp_sock *tp = tcp_sk(tx->sk);
	u64 bytes = READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_nxt);

	bytes += READ_ONCE(tx->queued);
	return bytes << wake < tcp_notsent_lowat(tp);
}

/* Context: the socket is held. */
void so_tx_tell(struct so_tx *tx, struct so_crypt_info *info)
{
	info->records = tx->count;
	info->bytes = tx->sent;
	info->in_flight = list_count_nodes(&tx->records);
	info->keys = tx->changes;
}

void so_tx_init(struct so_tx *tx, struct sock *sk)
{
	INIT_LIST_HEAD(&tx->records);
	init_waitqueue_head(&tx->idle);
	INIT_DELAYED_WORK(&tx->retry, tx_retry);
	tx->sk = sk;
}

/* Nothing is in flight, and no task holds the socket.  Context: process. */
void so_tx_exit(struct so_tx *tx)
{
	so_keys_forget(&tx->keys);
}

int so_tx_init_module(void)
{
	records = kmem_cache_create("so_record", sizeof(struct so_record), 0,
				    SLAB_ACCOUNT, record_init);
	return records ? 0 : -ENOMEM;
}

void so_tx_exit_module(void)
{
	kmem_cache_destroy(records);
}
