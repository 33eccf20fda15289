// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receiving.  What arrives is taken from TCP at once, in BH as a rule, and cut
 * into records; each whole one is handed to the core.
 *
 * A record is copied once, so that it is all in a few pieces and nobody else's;
 * it is decrypted to other pages, because the keys may turn out to be the old
 * ones: a record that says so may be right before it.
 */
#include <linux/slab.h>
#include <net/sock.h>

#include "rx.h"

#define SMALL		2048		/* bytes; less is not worth pages */

static struct kmem_cache *records;

/* ---- records and their memory ---- */

static void charge(struct so_inbound *r, u32 bytes)
{
	struct so_rx *rx = r->rx;

	if (bytes > r->charged)
		sk_mem_charge(rx->sk, bytes - r->charged);
	else
		sk_mem_uncharge(rx->sk, r->charged - bytes);
	rx->pending += bytes - r->charged;
	r->charged = bytes;
}

/* Nothing of a record is needed any more.  Context: the socket is held. */
void so_inbound_end(struct so_inbound *r)
{
	charge(r, 0);
	so_room_put(&r->from);
	so_room_put(&r->to);
	if (r->rx->cut == r)
		r->rx->cut = NULL;
	list_del(&r->node);
	ocf_request_wipe(&r->req);
	kmem_cache_free(records, r);
}

static bool is_in_core(const struct so_inbound *r)
{
	enum so_inbound_state state = so_inbound_state(r);

	return state == SO_SUBMITTING || state == SO_OPENING;
}

/* Ends what the core does not have.  Context: the socket is held. */
void so_rx_purge(struct so_rx *rx)
{
	struct so_inbound *r, *next;

	list_for_each_entry_safe(r, next, &rx->records, node)
		if (!is_in_core(r))
			so_inbound_end(r);
}

static int align_of(u32 len)
{
	return len < SMALL ? -1 : 0;
}

/* Begins a record whose header is there. */
static int record_begin(struct so_rx *rx, u32 sealed,
			const struct framing_plan *plan)
{
	u32 head = rx->keys.fr.f.explicit_len;
	struct so_inbound *r;
	/* with what a small one needs, of which there may be many */
	u32 size = sizeof(*r) + ALIGN(sealed, SO_ROOM_ALIGN) +
		   ALIGN(plan->data, SO_ROOM_ALIGN);

	if (!__sk_rmem_schedule(rx->sk, size, false))
		return -ENOMEM;
	r = kmem_cache_alloc(records, GFP_ATOMIC);
	if (!r)
		return -ENOMEM;
	memset(r, 0, offsetof(struct so_inbound, src));
	r->rx = rx;
	r->state = SO_CUT;
	r->sealed = sealed;
	r->plan = *plan;
	memcpy(r->header, rx->header, sizeof(r->header));
	sg_init_table(r->src, ARRAY_SIZE(r->src));
	sg_init_table(r->dst, ARRAY_SIZE(r->dst));
	list_add_tail(&r->node, &rx->records);
	charge(r, size);
	if (so_room_get(&r->from, head, align_of(sealed), sealed, GFP_ATOMIC) ||
	    r->from.size < sealed ||
	    (plan->data && so_room_get(&r->to, 0, align_of(sealed), plan->data,
				       GFP_ATOMIC)) ||
	    r->to.size < plan->data) {
		so_inbound_end(r);
		return -ENOMEM;
	}
	rx->cut = r;
	return 0;
}

/* ---- opening ---- */

/* Something is to be had at once, be it an error. */
static bool is_ready(const struct so_rx *rx)
{
	const struct so_inbound *r = so_rx_first(rx);

	if (rx->err || rx->paused)
		return true;
	return r ? so_inbound_state(r) == SO_OPEN : rx->stop;
}

/* Says so to who polls or waits, who does not hold the socket. */
static void set_ready(struct so_rx *rx)
{
	bool ready = is_ready(rx);

	WRITE_ONCE(rx->ready, ready);
	if (ready)
		rx->data_ready(rx->sk);
}

/* Who has read leaves the flag as it is to be.  Context: the socket is held. */
void so_rx_settle(struct so_rx *rx)
{
	WRITE_ONCE(rx->ready, is_ready(rx));
}

static void advance(struct so_rx *rx);

/* A record is open.  Context: the socket's spinlock is held, nobody owns it. */
static void go_on(struct so_rx *rx)
{
	advance(rx);
	set_ready(rx);
	wake_up_all(&rx->idle);
}

/* As sealed() in tx.c. */
static void opened(struct ocf_request *req, int err)
{
	struct so_inbound *r = req->cookie;
	struct so_rx *rx = r->rx;
	struct sock *sk = rx->sk;

	r->err = err;
	/* pairs with advance(), and with so_inbound_state() */
	if (cmpxchg(&r->state, SO_SUBMITTING, SO_OPEN) == SO_SUBMITTING)
		return;
	rcu_read_lock();
	if (!spin_trylock(&sk->sk_lock.slock)) {
		/* pairs with so_inbound_state() */
		smp_store_release(&r->state, SO_OPEN);
		mod_delayed_work(system_wq, &rx->retry, 0);
		rcu_read_unlock();
		return;
	}
	/* pairs with so_inbound_state() */
	smp_store_release(&r->state, SO_OPEN);
	if (sock_owned_by_user(sk))
		set_bit(SO_RX_OPENED, &rx->notes);
	else
		go_on(rx);
	spin_unlock(&sk->sk_lock.slock);
	rcu_read_unlock();
}

/**
 * so_rx_released() - the owner lets the socket go
 * @rx: what is received
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

static void make_lists(struct so_inbound *r, u32 skip)
{
	bool aad = r->plan.aad;
	u32 n;

	if (aad) {
		so_sg_set_bytes(&r->src[0], r->aad, r->plan.aad);
		so_sg_set_bytes(&r->dst[0], r->aad, r->plan.aad);
	}
	n = so_room_list(&r->from, skip, &r->src[aad]);
	sg_mark_end(&r->src[aad + n - 1]);
	r->req.src = r->src;
	n = so_room_list(&r->to, 0, &r->dst[aad]);
	if (n || aad)
		sg_mark_end(&r->dst[aad + n - 1]);
	r->req.dst = r->dst;
}

/* What the MAC covers, and where it is. */
static void make_ranges(struct so_inbound *r, u8 order)
{
	struct ocf_request *req = &r->req;
	u32 aad = r->plan.aad;

	req->data = (struct ocf_range){ aad, r->plan.data };
	req->auth = (struct ocf_range){ 0, aad };
	if (order != SO_CRYPT_MAC_THEN_ENCRYPT)
		req->tag_start = aad + r->plan.data;
	if (order == SO_CRYPT_ENCRYPT_THEN_MAC)
		req->auth.len += r->plan.data;
}

/* A whole record is made a request, under the keys there are now. */
static void make_request(struct so_rx *rx, struct so_inbound *r)
{
	u32 n = rx->keys.fr.f.explicit_len;
	struct so_keys *k = &rx->keys;
	u8 head[FRAMING_HEAD_MAX], *nonce = head + k->fr.f.header_len;

	memcpy(head, r->header, k->fr.f.header_len);
	so_room_read(&r->from, 0, nonce, n);
	ocf_request_init(&r->req, k->ses);
	framing_aad(&k->fr, &r->plan, head, k->number, r->aad);
	framing_nonce(&k->fr, k->iv, k->ivlen, nonce, k->number, r->req.iv);
	if (k->fr.f.nonce == SO_CRYPT_NONCE_CHAINED)
		so_room_read(&r->from, n + r->plan.data - k->fr.ivlen, k->iv,
			     k->fr.ivlen);
	k->number++;
	make_lists(r, n);
	make_ranges(r, k->fr.f.order);
	r->req.op = OCF_OP_DECRYPT;
	r->req.flags = OCF_REQ_INLINE | OCF_REQ_OFFLOAD;
	r->req.done = opened;
	r->req.cookie = r;
	r->err = 0;
	r->looked = false;
	r->state = SO_HELD;
}

static bool any_in_core(struct so_rx *rx)
{
	struct so_inbound *r;

	list_for_each_entry(r, &rx->records, node)
		if (is_in_core(r))
			return true;
	return false;
}

/*
 * Hands in what is held, as far as possible.  That is at the end: of many that
 * nobody reads it is not looked for among all of them.
 */
static void advance(struct so_rx *rx)
{
	struct so_inbound *r;
	int err;

	list_for_each_entry_reverse(r, &rx->records, node)
		if (r->state != SO_HELD && r->state != SO_CUT)
			break;
	list_for_each_entry_continue(r, &rx->records, node) {
		if (r->state != SO_HELD)
			continue;
		WRITE_ONCE(r->state, SO_SUBMITTING);
		err = ocf_submit(&r->req);
		if (!err || err == -EINPROGRESS) {
			/* or it is open by now: pairs with opened() */
			cmpxchg(&r->state, SO_SUBMITTING, SO_OPENING);
			continue;
		}
		if (err == -EBUSY) {
			WRITE_ONCE(r->state, SO_HELD);
			if (!any_in_core(rx))
				queue_delayed_work(system_wq, &rx->retry,
						   max(HZ / 100, 1));
			return;
		}
		r->err = err;
		WRITE_ONCE(r->state, SO_OPEN);
	}
}

/* ---- cutting ---- */

/* The header is there: begins its record, if it is one. */
static int begin(struct so_rx *rx)
{
	struct framing_plan plan;
	int sealed, err;

	if (rx->keys.number > rx->keys.fr.f.number_max)
		return -EKEYEXPIRED;
	sealed = framing_sealed(&rx->keys.fr, rx->header);
	/* kTLS has another word for bytes that begin no record */
	if (sealed == -EPROTO && rx->keys.ktls)
		return -EINVAL;
	if (sealed < 0)
		return sealed;
	err = framing_open(&rx->keys.fr, sealed, &plan);
	if (err)
		return err;
	if (so_rx_is_full(rx))
		return -ENOMEM;
	err = record_begin(rx, sealed, &plan);
	if (!err)
		rx->header_len = 0;
	return err;
}

/* Copies what there is of @want bytes to @to. */
static u32 take_some(struct sk_buff *skb, u32 *off, size_t *len, u8 *to,
		     u32 want)
{
	u32 n = min_t(size_t, want, *len);

	skb_copy_bits(skb, *off, to, n);
	*off += n;
	*len -= n;
	return n;
}

/* Goes on with a record; true if it is whole. */
static bool take_body(struct so_inbound *r, struct sk_buff *skb, u32 *off,
		      size_t *len)
{
	u32 n;
	u8 *to;

	while (*len && r->got < r->sealed) {
		to = so_room_byte(&r->from, r->got, &n);
		r->got += take_some(skb, off, len, to,
				    min(n, r->sealed - r->got));
	}
	return r->got == r->sealed;
}

/* TCP's actor: as many bytes as are used. */
static int take(read_descriptor_t *desc, struct sk_buff *skb, unsigned int off,
		size_t len)
{
	struct so_rx *rx = desc->arg.data;
	u32 header = rx->keys.fr.f.header_len;
	size_t before = len;
	int err = 0;

	while (len && !err) {
		if (rx->cut) {
			if (!take_body(rx->cut, skb, &off, &len))
				break;
			make_request(rx, rx->cut);
			rx->cut = NULL;
			continue;
		}
		rx->header_len += take_some(skb, &off, &len,
					    rx->header + rx->header_len,
					    header - rx->header_len);
		if (rx->header_len == header)
			err = begin(rx);
	}
	if (err == -ENOMEM)
		set_bit(SO_RX_STOPPED, &rx->notes);
	else if (err)
		rx->stop = err;
	if (err)
		desc->count = 0;
	return before - len;
}

/**
 * so_rx_arrived() - take what TCP has
 * @rx: what is received
 *
 * Context: the socket's lock is held, in whatever way.
 */
void so_rx_arrived(struct so_rx *rx)
{
	read_descriptor_t desc = { .arg.data = rx, .count = 1 };

	advance(rx);
	if (rx->err || rx->stop || rx->paused)
		goto out;
	if (rx->header_len == rx->keys.fr.f.header_len) {
		/* its record was too much before */
		desc.error = begin(rx);
		if (desc.error == -ENOMEM)
			goto stopped;
		if (desc.error) {
			rx->stop = desc.error;
			goto out;
		}
	}
	clear_bit(SO_RX_STOPPED, &rx->notes);
	tcp_read_sock(rx->sk, &desc, take);
	advance(rx);
stopped:
	/* who reads makes room; else nobody would come again */
	if (test_bit(SO_RX_STOPPED, &rx->notes) && list_empty(&rx->records))
		queue_delayed_work(system_wq, &rx->retry, HZ / 10);
out:
	set_ready(rx);
}

static void retry(struct work_struct *work)
{
	struct so_rx *rx = container_of(to_delayed_work(work), struct so_rx,
					retry);
	struct sock *sk = rx->sk;

	/* its owner may keep it for as long as he likes */
	spin_lock_bh(&sk->sk_lock.slock);
	if (sock_owned_by_user(sk))
		set_bit(SO_RX_RETRY, &rx->notes);
	else
		so_rx_arrived(rx);
	spin_unlock_bh(&sk->sk_lock.slock);
}

/* ---- the rest ---- */

/* Of a record, whole or not, that was cut as records looked till now. */
static bool any_bytes(const struct so_rx *rx)
{
	return rx->header_len || !list_empty(&rx->records);
}

/**
 * so_rx_set() - set the keys of what comes from now on
 * @rx: what is received
 * @c: what the user gave
 * @ktls: see so_keys_set()
 *
 * What has come already and was not read is opened with them.
 *
 * Context: process; the socket is held; after so_rx_wait().
 * Return: 0, or see so_keys_set().
 */
int so_rx_set(struct so_rx *rx, const struct so_crypt *c, u16 ktls)
{
	struct so_inbound *r;
	int err;

	r = so_rx_first(rx);
	if (r && r->read)
		return -EBUSY;
	err = so_keys_set(&rx->keys, c, ktls, !any_bytes(rx), true);
	if (err)
		return err;
	rx->changes++;
	if (rx->stop == -EKEYEXPIRED)
		rx->stop = 0;
	if (rx->err == -EKEYEXPIRED)
		rx->err = 0;
	rx->paused = false;
	rx->message.have = 0;
	list_for_each_entry(r, &rx->records, node)
		if (r != rx->cut)
			make_request(rx, r);
	return 0;
}

/*
 * Waits until the core has nothing.
 * Context: process; the socket is held, and is not while this waits.
 */
void so_rx_wait(struct so_rx *rx)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(&rx->idle, &wait);
	while (any_in_core(rx)) {
		release_sock(rx->sk);
		wait_woken(&wait, TASK_UNINTERRUPTIBLE, HZ / 10);
		lock_sock(rx->sk);
	}
	remove_wait_queue(&rx->idle, &wait);
}

/* Context: the socket is held. */
void so_rx_tell(struct so_rx *rx, struct so_crypt_info *info)
{
	info->records = rx->count;
	info->bytes = rx->got;
	info->in_flight = list_count_nodes(&rx->records);
	info->keys = rx->changes;
}

void so_rx_init(struct so_rx *rx, struct sock *sk)
{
	INIT_LIST_HEAD(&rx->records);
	init_waitqueue_head(&rx->idle);
	INIT_DELAYED_WORK(&rx->retry, retry);
	rx->sk = sk;
}

/*
 * Nothing is in the core, and nothing comes any more.
 * Context: process; the socket is held.
 */
void so_rx_exit(struct so_rx *rx)
{
	so_rx_purge(rx);
	rx->err = -ENOTCONN;
	so_keys_forget(&rx->keys);
}

int so_rx_init_module(void)
{
	records = kmem_cache_create("so_inbound", sizeof(struct so_inbound), 0,
				    SLAB_ACCOUNT, NULL);
	return records ? 0 : -ENOMEM;
}

void so_rx_exit_module(void)
{
	kmem_cache_destroy(records);
}
