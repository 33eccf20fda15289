// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of a card, the driver's side of it, and the card's clock.
 *
 * Like a real card, this one completes a request by the id of its slot, and it
 * may do so late or twice.  A slot gets another id each time that it is used.
 */
#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "sim.h"

#define BUSY_NS		(10 * NSEC_PER_USEC)	/* a full card stays so */
#define REFUSE_MS	500	/* until a card is stopped by force */
#define BUDGET		256	/* completions in one run of the timer */

/* In a request's private part. */
struct sim_job {
	u32 slot;
};

static u32 knob(const struct sim_card *card, enum sim_knob k)
{
	return READ_ONCE(card->config.knob[k]);
}

/* ---- slots ---- */

static struct sim_slot *ring_take_slot(struct sim_card *card,
				       struct ocf_request *req)
{
	struct sim_job *job = (void *)req->priv;
	struct sim_slot *slot;

	BUILD_BUG_ON(sizeof(*job) > OCF_PRIV_SIZE);
	job->slot = card->free[--card->nfree];
	slot = &card->slots[job->slot];
	slot->req = req;
	return slot;
}

static void ring_put_slot(struct sim_card *card, struct sim_slot *slot)
{
	slot->req = NULL;
	/* a late completion has the old id and does not match */
	slot->id += OCF_DEPTH_MAX;
	card->free[card->nfree++] = slot - card->slots;
}

/* Empties the ring of a card that does nothing any more. */
static void empty(struct sim_card *card)
{
	u32 i;

	INIT_LIST_HEAD(&card->due);
	card->nfree = 0;
	for (i = card->nslots; i--;) {
		kfree(card->slots[i].bounce);
		card->slots[i].bounce = NULL;
		ring_put_slot(card, &card->slots[i]);
	}
	memset(card->engine_free, 0, sizeof(card->engine_free));
	card->silent_until = 0;
	card->quiet_until = 0;
	card->blocked = false;
}

/* ---- time ---- */

/* Returns ns that an engine works on @len bytes. */
static u64 ring_engine_time(const struct sim_card *card, u32 len)
{
	u64 ns = knob(card, SIM_OVERHEAD) +
		 div_u64((u64)len * knob(card, SIM_PER_BYTE), 1000);
	u32 slow = knob(card, SIM_SLOW);

	return likely(slow == 100) ? ns : div_u64(ns * slow, 100);
}

/**
 * sim_engage() - give work to the engine that is free first
 * @card: the card
 * @now: the time, ns
 * @ns: how long the work takes
 *
 * Context: under @card->lock.
 * Return: the time when the work is done, ns.
 */
u64 sim_engage(struct sim_card *card, u64 now, u64 ns)
{
	u64 *engine = card->engine_free;
	u32 i, n = knob(card, SIM_ENGINES);

	for (i = 1; i < n; i++)
		if (card->engine_free[i] < *engine)
			engine = &card->engine_free[i];
	*engine = max(*engine, now) + ns;
	return *engine;
}

/**
 * sim_silent_until() - the time until which a card completes nothing
 * @card: the card
 *
 * Context: under @card->lock.
 * Return: ns; U64_MAX while it is held.
 */
u64 sim_silent_until(const struct sim_card *card)
{
	return card->held ? U64_MAX : card->silent_until;
}

/* Returns the time at which the card has something to do next. */
static u64 next_event(struct sim_card *card)
{
	const struct sim_slot *slot;
	u64 ns = U64_MAX;

	slot = list_first_entry_or_null(&card->due, struct sim_slot, node);
	if (slot)
		ns = max3(slot->due, sim_silent_until(card),
			  card->quiet_until);
	return card->blocked ? min(ns, card->blocked_until) : ns;
}

static void arm(struct sim_card *card)
{
	u64 ns;

	lockdep_assert_held(&card->lock);
	if (card->completing || card->stopped || card->dead)
		return;
	ns = next_event(card);
	if (ns >= card->expires)
		return;
	card->expires = ns;
	hrtimer_start(&card->timer, ns_to_ktime(ns), HRTIMER_MODE_ABS_SOFT);
}

/* Waits until the timer's function has returned; the timer may run again. */
static void settle(struct sim_card *card)
{
	hrtimer_cancel(&card->timer);
	spin_lock_bh(&card->lock);
	card->expires = U64_MAX;
	arm(card);
	spin_unlock_bh(&card->lock);
}

/* ---- in ---- */

/**
 * sim_befalls() - use up one of the armed faults
 * @card: the card
 * @fault: the kind of fault
 *
 * Context: under @card->lock.
 * Return: whether there was one.
 */
bool sim_befalls(struct sim_card *card, enum sim_fault fault)
{
	struct sim_trouble *t = &card->config.trouble[fault];

	if (!(card->armed & BIT(fault)))
		return false;
	if (t->after) {
		t->after--;
		return false;
	}
	if (!--t->count)
		card->armed &= ~BIT(fault);
	return true;
}

static void die(struct sim_card *card, u32 inside)
{
	struct sim_trouble *t = &card->config.trouble[SIM_DEATH];

	if (t->after)
		t->after--;
	else if (inside >= t->count)
		card->dead = true;
}

/**
 * sim_draw_fate() - choose the faults of a request that enters the card
 * @card: the card, which has armed faults
 * @tag: the request has a MAC or tag
 * @inside: how many requests are in the card
 * @now: the time, ns
 *
 * Context: under @card->lock.
 * Return: BIT(SIM_*).
 */
noinline u32 sim_draw_fate(struct sim_card *card, bool tag, u32 inside,
			   u64 now)
{
	static const u8 of_requests[] = {
		SIM_ERROR, SIM_WRONG, SIM_LOST, SIM_LATE, SIM_DOUBLE,
	};
	u32 i, fate = 0;

	for (i = 0; i < ARRAY_SIZE(of_requests); i++)
		if (sim_befalls(card, of_requests[i]))
			fate |= BIT(of_requests[i]);
	if (tag && sim_befalls(card, SIM_TAG))
		fate |= BIT(SIM_TAG);
	if (sim_befalls(card, SIM_STALL))
		card->silent_until = now + NSEC_PER_MSEC *
				     card->config.trouble[SIM_STALL].ms;
	if (card->armed & BIT(SIM_DEATH))
		die(card, inside);
	return fate;
}

/* Inserts @slot into the sorted list, from the end: it mostly belongs there. */
static void enqueue(struct sim_card *card, struct sim_slot *slot)
{
	struct sim_slot *s;

	list_for_each_entry_reverse(s, &card->due, node)
		if (s->due <= slot->due)
			break;
	list_add(&slot->node, &s->node);
}

static void refuse(struct sim_card *card, struct ocf_request *req, u64 until)
{
	card->count[SIM_REFUSED]++;
	card->blocked_until = min(card->blocked ? card->blocked_until : U64_MAX,
				  until);
	card->blocked = true;
	card->blocked_dev = req->dev;
	arm(card);
}

static bool is_room(const struct sim_card *card)
{
	return card->nslots - card->nfree < knob(card, SIM_DEPTH);
}

/* Whether @req can be taken now.  If not, the core will submit it again. */
static bool accepts(struct sim_card *card, struct ocf_request *req, u64 now)
{
	if (unlikely(sim_befalls(card, SIM_BUSY))) {
		refuse(card, req, now + BUSY_NS);
		return false;
	}
	if (unlikely(!is_room(card))) {
		/* a completion will unblock the device */
		refuse(card, req, U64_MAX);
		return false;
	}
	return true;
}

static void enter(struct sim_card *card, struct sim_slot *slot,
		  const struct ocf_request *req, u64 now)
{
	slot->fate = unlikely(card->armed) ?
			     sim_draw_fate(card, ocf_request_maclen(req),
					   card->nslots - card->nfree, now) : 0;
	slot->due =
		sim_engage(card, now, ring_engine_time(card, slot->span.len)) +
		knob(card, SIM_LATENCY);
	card->count[SIM_SUBMITTED]++;
	/* empty() uses lists without entries */
	INIT_LIST_HEAD(&slot->node);
	if (unlikely(slot->fate & BIT(SIM_LOST)))
		return;
	if (unlikely(slot->fate & BIT(SIM_LATE)))
		slot->due += NSEC_PER_MSEC * card->config.trouble[SIM_LATE].ms;
	enqueue(card, slot);
	if (list_is_first(&slot->node, &card->due))
		arm(card);
}

/*
 * Whether the card works in its own memory.  It also does so for a request in
 * place that may turn out to be forged, because that request's data must stay
 * unchanged.
 */
static bool wants_bounce(const struct sim_card *card,
			 const struct ocf_request *req)
{
	return card->config.bounce ||
	       unlikely(req->src == req->dst && ocf_request_verifies(req));
}

/* Copies the data of @req to the card's own memory.  NULL: no memory. */
static u8 *bounce_in(struct ocf_request *req, struct ocf_range span)
{
	struct ocf_range source = ocf_request_source(req);
	u8 *bounce = kmalloc(max(span.len, 1u), GFP_ATOMIC | __GFP_NOWARN);

	if (bounce)
		ocf_sg_read(req->src, source.start, bounce, source.len);
	return bounce;
}

/**
 * sim_submit() - ocf_device_ops.submit
 * @req: the request
 * @more: ignored, because there is no doorbell
 *
 * Context: process or BH.
 * Return: -EINPROGRESS or -EBUSY.
 */
int sim_submit(struct ocf_request *req, bool more)
{
	struct sim_card *card = ocf_device_priv(req->dev);
	struct ocf_range span = ocf_request_span(req);
	bool wants = wants_bounce(card, req);
	struct sim_slot *slot;
	u8 *bounce = NULL;
	u64 now;

	if (wants)
		bounce = bounce_in(req, span);
	now = ktime_get_ns();
	spin_lock_bh(&card->lock);
	if (unlikely(wants && !bounce)) {
		refuse(card, req, now + BUSY_NS);
		goto full;
	}
	if (unlikely(!accepts(card, req, now)))
		goto full;
	slot = ring_take_slot(card, req);
	slot->bounce = bounce;
	slot->span = span;
	enter(card, slot, req, now);
	spin_unlock_bh(&card->lock);
	return -EINPROGRESS;

full:
	spin_unlock_bh(&card->lock);
	kfree(bounce);
	return -EBUSY;
}

/**
 * sim_detach() - ocf_device_ops.detach
 * @req: the request
 *
 * Context: process or BH.
 * Return: whether the core has the request back.  The card keeps its own copy
 * of the data.
 */
bool sim_detach(struct ocf_request *req)
{
	struct sim_card *card = ocf_device_priv(req->dev);
	struct sim_job *job = (void *)req->priv;
	struct sim_slot *slot = &card->slots[job->slot];
	bool mine;

	spin_lock_bh(&card->lock);
	mine = slot->req == req;
	if (mine) {
		slot->req = NULL;
		card->count[SIM_DETACHED]++;
	}
	spin_unlock_bh(&card->lock);
	return mine;
}

/* ---- out ---- */

/* Returns the first slot that is due by *@now, or NULL.  Updates *@now. */
static struct sim_slot *next_due(struct sim_card *card, u64 *now)
{
	struct sim_slot *slot;
	u64 due;

	slot = list_first_entry_or_null(&card->due, struct sim_slot, node);
	if (!slot || card->stopped || card->dead)
		return NULL;
	due = max(slot->due, sim_silent_until(card));
	if (due > *now)
		*now = ktime_get_ns();
	if (due > *now)
		return NULL;
	list_del_init(&slot->node);
	return slot;
}

/* Computes and completes the request of @slot. */
static void hand_back(struct sim_card *card, struct sim_slot *slot)
	__must_hold(&card->lock)
{
	struct ocf_request *req = slot->req;
	struct sim_slot done = *slot;
	int err;

	/* it cannot be detached any more */
	slot->req = NULL;
	if (!done.bounce)
		ring_put_slot(card, slot);
	card->count[SIM_COMPLETED]++;
	spin_unlock(&card->lock);
	err = sim_compute(card, req, &done);
	if (done.bounce) {
		spin_lock(&card->lock);
		slot->bounce = NULL;
		ring_put_slot(card, slot);
		spin_unlock(&card->lock);
		kfree(done.bounce);
	}
	ocf_complete(req, err);
	spin_lock(&card->lock);
}

/* The card answers a request that the core has detached. */
static void answer_late(struct sim_card *card, struct sim_slot *slot)
	__must_hold(&card->lock)
{
	kfree(slot->bounce);
	slot->bounce = NULL;
	ring_put_slot(card, slot);
	card->count[SIM_ANSWERED_LATE]++;
	if (!card->listens)
		return;
	spin_unlock(&card->lock);
	ocf_device_revive(card->dev);
	spin_lock(&card->lock);
}

/* The card completes the slot with @id. */
static void completed(struct sim_card *card, u32 id)
	__must_hold(&card->lock)
{
	struct sim_slot *slot = &card->slots[id % OCF_DEPTH_MAX];

	if (unlikely(slot->id != id))
		card->count[SIM_SPURIOUS]++;
	else if (likely(slot->req))
		hand_back(card, slot);
	else
		answer_late(card, slot);
}

/* Unblocks a device that was full, if it has room or BUSY_NS have passed. */
static void unblock(struct sim_card *card, bool some, u64 now)
	__must_hold(&card->lock)
{
	struct ocf_device *dev = card->blocked_dev;

	if (likely(!card->blocked))
		return;
	if (!(some && is_room(card)) && card->blocked_until > now)
		return;
	card->blocked = false;
	spin_unlock(&card->lock);
	ocf_device_unblock(dev);
	spin_lock(&card->lock);
}

/* Completes the slots that are due.  Return: how many. */
static int complete_due(struct sim_card *card, u64 *now)
	__must_hold(&card->lock)
{
	struct sim_slot *slot;
	u32 id, twice;
	int n = 0;

	while (n < BUDGET && (slot = next_due(card, now))) {
		id = slot->id;
		twice = slot->fate & BIT(SIM_DOUBLE);
		completed(card, id);
		if (unlikely(twice))
			completed(card, id);
		unblock(card, true, *now);
		n++;
	}
	return n;
}

/* The timer's function, which is the card's interrupt handler. */
static void interrupt(struct sim_card *card)
	__must_hold(&card->lock)
{
	/* perhaps it is later; next_due() reads the clock if it matters */
	u64 now = card->expires;

	card->completing = true;
	card->count[SIM_INTERRUPTS]++;
	card->quiet_until = now + knob(card, SIM_INTERVAL);
	unblock(card, complete_due(card, &now), now);
	card->completing = false;
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	struct sim_card *card = container_of(timer, struct sim_card, timer);
	bool again;

	spin_lock(&card->lock);
	interrupt(card);
	/*
	 * arm() has queued the timer again if a submitter got the lock before
	 * this function, but had read the clock before the timer expired.
	 */
	again = !hrtimer_is_queued(timer);
	if (again) {
		card->expires = card->stopped || card->dead ? U64_MAX :
							      next_event(card);
		again = card->expires != U64_MAX;
	}
	if (again)
		hrtimer_set_expires(timer, ns_to_ktime(card->expires));
	spin_unlock(&card->lock);
	return again ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/* ---- stop and go ---- */

/* Stops the card by force, as a cut of its bus does. */
static void stop(struct sim_card *card)
{
	spin_lock_bh(&card->lock);
	card->stopped = true;
	spin_unlock_bh(&card->lock);
	hrtimer_cancel(&card->timer);
	sim_pk_stop(card);
	spin_lock_bh(&card->lock);
	card->expires = U64_MAX;
	empty(card);
	spin_unlock_bh(&card->lock);
}

/* The card goes on in the driver's memory; the core has the requests. */
static void let_go(struct sim_card *card)
{
	u32 i;

	spin_lock_bh(&card->lock);
	card->blocked = false;
	for (i = 0; i < card->nslots; i++) {
		card->count[SIM_DETACHED] += !!card->slots[i].req;
		card->slots[i].req = NULL;
	}
	spin_unlock_bh(&card->lock);
	settle(card);
}

/**
 * sim_quiesce() - ocf_device_ops.quiesce
 * @dev: the device
 *
 * Context: process; may sleep.
 * Return: 0, or -ETIMEDOUT if a fault makes it refuse.
 */
int sim_quiesce(struct ocf_device *dev)
{
	struct sim_card *card = ocf_device_priv(dev);
	bool refuses;

	spin_lock_bh(&card->lock);
	card->count[SIM_QUIESCES]++;
	refuses = sim_befalls(card, SIM_REFUSE);
	spin_unlock_bh(&card->lock);
	if (refuses && card->config.bounce) {
		let_go(card);
		return -ETIMEDOUT;
	}
	if (refuses)
		msleep(REFUSE_MS);
	stop(card);
	return 0;
}

/**
 * sim_reset() - ocf_device_ops.reset
 * @dev: the device
 *
 * Context: process; may sleep.
 * Return: 0, or -EIO while the fault that killed it is armed.
 */
int sim_reset(struct ocf_device *dev)
{
	struct sim_card *card = ocf_device_priv(dev);
	bool mended;

	stop(card);
	spin_lock_bh(&card->lock);
	card->count[SIM_RESETS]++;
	mended = !card->dead || !(card->armed & BIT(SIM_DEATH));
	if (mended) {
		card->dead = false;
		card->stopped = false;
	}
	spin_unlock_bh(&card->lock);
	return mended ? 0 : -EIO;
}

/**
 * sim_listen() - begin or stop reporting signs of life to the core
 * @card: the card, whose device is registered
 * @listens: begin
 *
 * Context: process; may sleep.
 */
void sim_listen(struct sim_card *card, bool listens)
{
	spin_lock_bh(&card->lock);
	card->listens = listens;
	spin_unlock_bh(&card->lock);
	settle(card);
}

/**
 * sim_hold() - make a card complete nothing, or go on
 * @card: the card
 * @held: complete nothing
 *
 * Context: process; may sleep.
 */
void sim_hold(struct sim_card *card, bool held)
{
	spin_lock_bh(&card->lock);
	card->held = held;
	arm(card);
	spin_unlock_bh(&card->lock);
}

/**
 * sim_ring_init() - make a card's ring, with the configured depth
 * @card: the card
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int sim_ring_init(struct sim_card *card)
{
	u32 i;

	card->nslots = card->config.knob[SIM_DEPTH];
	card->slots = kvcalloc(card->nslots, sizeof(*card->slots), GFP_KERNEL);
	card->free = kvcalloc(card->nslots, sizeof(*card->free), GFP_KERNEL);
	if (!card->slots || !card->free) {
		kvfree(card->free);
		kvfree(card->slots);
		return -ENOMEM;
	}
	spin_lock_init(&card->lock);
	for (i = 0; i < card->nslots; i++)
		card->slots[i].id = i;
	empty(card);
	card->expires = U64_MAX;
	ocf_hrtimer_setup(&card->timer, timer_expired, CLOCK_MONOTONIC,
			  HRTIMER_MODE_ABS_SOFT);
	return 0;
}

/**
 * sim_ring_exit() - free a card's ring
 * @card: a card that is not registered
 *
 * Context: process; may sleep.
 */
void sim_ring_exit(struct sim_card *card)
{
	stop(card);
	kvfree(card->free);
	kvfree(card->slots);
}
