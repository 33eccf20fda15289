// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control queue (VIRTIO 1.2, 5.9.7.2).  A task that sends an order waits
 * for the answer until the card's patience is over, or until the task is
 * killed.  An order without an answer then belongs to the card alone: a late
 * answer frees it, and destroys the session that it may have created.  If the
 * order to destroy a session cannot be sent, it is kept until there is room in
 * the ring, or until the card is reset.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "virtio.h"

struct vcrypt_order *vcrypt_order_alloc(u32 keylen)
{
	struct vcrypt_order *o = kzalloc(sizeof(*o) + keylen, GFP_KERNEL);

	if (!o)
		return NULL;
	o->keylen = keylen;
	INIT_LIST_HEAD(&o->node);
	init_completion(&o->done);
	refcount_set(&o->refs, 1);
	return o;
}

/* A copy of an order, which can be sent again. */
struct vcrypt_order *vcrypt_order_copy(const struct vcrypt_order *o)
{
	struct vcrypt_order *copy = vcrypt_order_alloc(o->keylen);

	if (!copy)
		return NULL;
	copy->req = o->req;
	memcpy(copy->keys, o->keys, o->keylen);
	return copy;
}

void vcrypt_order_put(struct vcrypt_order *o)
{
	if (refcount_dec_and_test(&o->refs))
		kfree_sensitive(o);
}

/* The card's status of an order for a session; for ERR see room.c */
static int status_errno(u32 status)
{
	switch (status) {
	case VIRTIO_CRYPTO_OK:
		return 0;
	case VIRTIO_CRYPTO_ERR:
		return -EREMOTEIO;
	case VIRTIO_CRYPTO_NOTSUPP:
		return -EOPNOTSUPP;
	case VIRTIO_CRYPTO_NOSPC:
		return -ENOSPC;
	case VIRTIO_CRYPTO_BADMSG:
	case VIRTIO_CRYPTO_KEY_REJECTED:
		return -EKEYREJECTED;
	default:
		return -EIO;
	}
}

/**
 * vcrypt_order_session() - read the answer to an order for a session
 * @o: the order, which was answered
 * @id: is set to the session's number
 *
 * Context: any.
 * Return: 0; -EREMOTEIO if it was refused without a reason; -EOPNOTSUPP,
 * -ENOSPC or -EKEYREJECTED as the card says; -EIO if the answer makes no sense.
 */
int vcrypt_order_session(const struct vcrypt_order *o, u64 *id)
{
	if (o->len < sizeof(o->answer.session))
		return -EIO;
	*id = le64_to_cpu(READ_ONCE(o->answer.session.session_id));
	return status_errno(le32_to_cpu(READ_ONCE(o->answer.session.status)));
}

static bool creates(const struct vcrypt_order *o)
{
	u32 opcode = le32_to_cpu(o->req.header.opcode);

	/*
	 * 5.9.7.2: the low byte of ..._CREATE_SESSION is 2 in every service
	 * except AKCIPHER
	 */
	return opcode == VIRTIO_CRYPTO_AKCIPHER_CREATE_SESSION ||
	       (opcode & 0xff) == (VIRTIO_CRYPTO_CIPHER_CREATE_SESSION & 0xff);
}

/* Puts @o in the ring, with a reference for the card; -ENOSPC if it is full. */
static int post(struct vcrypt_control *ctl, struct vcrypt_order *o)
{
	u32 len = creates(o) ? sizeof(o->answer.session) :
			       sizeof(o->answer.status);
	struct scatterlist ask, answer, *sgs[] = { &ask, &answer };
	int err;

	BUILD_BUG_ON(offsetof(struct vcrypt_order, keys) !=
		     offsetofend(struct vcrypt_order, req));
	lockdep_assert_held(&ctl->lock);
	if (!ctl->up)
		return -ENODEV;
	if (ctl->stuck)
		return -ETIMEDOUT;
	if (o->tied && o->life != ctl->life)
		return -ENODEV;
	sg_init_one(&ask, &o->req, sizeof(o->req) + o->keylen);
	sg_init_one(&answer, &o->answer, len);
	err = virtqueue_add_sgs(ctl->vq, sgs, 1, 1, o, GFP_ATOMIC);
	if (err)
		return err;
	refcount_inc(&o->refs);
	ctl->left += o->left;
	list_add_tail(&o->node, &ctl->out);
	virtqueue_kick(ctl->vq);
	return 0;
}

#define OWED_MAX	4096	/* orders that a failed card is owed */

/* Keeps @o, with a reference, until the ring has room for it. */
static void owe(struct vcrypt_control *ctl, struct vcrypt_order *o)
{
	lockdep_assert_held(&ctl->lock);
	if (o->life != ctl->life || ctl->nowed == OWED_MAX)
		return;
	refcount_inc(&o->refs);
	list_add_tail(&o->node, &ctl->owed);
	ctl->nowed++;
}

static void post_or_owe(struct vcrypt_control *ctl, struct vcrypt_order *o)
{
	if (post(ctl, o))
		owe(ctl, o);
}

static struct vcrypt_order *take_owed(struct vcrypt_control *ctl)
{
	struct vcrypt_order *o =
		list_first_entry_or_null(&ctl->owed, struct vcrypt_order, node);

	if (o) {
		list_del_init(&o->node);
		ctl->nowed--;
	}
	return o;
}

/* Sends the orders that could not be sent before, as far as there is room. */
static void pay(struct vcrypt_control *ctl)
{
	struct vcrypt_order *o;
	int err = 0;

	lockdep_assert_held(&ctl->lock);
	while (!err && ctl->left < ctl->left_max && (o = take_owed(ctl))) {
		err = post(ctl, o);
		if (err)
			owe(ctl, o);
		vcrypt_order_put(o);
	}
}

/* Destroys the session that a late answer has created, if any. */
static void undo(struct vcrypt_control *ctl, struct vcrypt_order *o)
{
	__le32 status = READ_ONCE(o->answer.session.status);
	__le64 id = READ_ONCE(o->answer.session.session_id);
	u32 opcode = le32_to_cpu(o->req.header.opcode);

	lockdep_assert_held(&ctl->lock);
	if (o->err || !creates(o) || o->len < sizeof(o->answer.session) ||
	    status != cpu_to_le32(VIRTIO_CRYPTO_OK))
		return;
	memzero_explicit(&o->req, sizeof(o->req));
	memzero_explicit(o->keys, o->keylen);
	o->keylen = 0;
	o->tied = true;
	/* ..._DESTROY_SESSION comes next after ..._CREATE_SESSION */
	o->req.header.opcode = cpu_to_le32(opcode + 1);
	o->req.u.destroy_session.session_id = id;
	/*
	 * the place of this order in the ring stays free until the lock is
	 * released
	 */
	post_or_owe(ctl, o);
}

/**
 * struct answer - an order that was answered
 * @o: the order
 * @abandoned: no task waits for it any more
 * @revived: the card was thought to be dead
 */
struct answer {
	struct vcrypt_order *o;
	bool		abandoned, revived;
};

/* Wakes the task that waits for the answer, if any. */
static void answered(struct vcrypt_card *card, const struct answer *a)
{
	if (a->abandoned)
		atomic_inc(&card->late);
	else if (!a->o->left)
		complete(&a->o->done);
	if (a->revived)
		vcrypt_card_revive(card);
	vcrypt_order_put(a->o);
}

static bool control_next_answer(struct vcrypt_control *ctl, struct answer *a)
{
	struct vcrypt_order *o;
	u32 len;

	lockdep_assert_held(&ctl->lock);
	if (!ctl->live)
		return false;
	o = virtqueue_get_buf(ctl->vq, &len);
	if (!o)
		return false;
	list_del_init(&o->node);
	ctl->left -= o->left;
	WRITE_ONCE(ctl->answers, ctl->answers + 1);
	o->len = len;
	o->life = ctl->life;
	o->answered = true;
	*a = (struct answer){ .o = o, .abandoned = o->abandoned };
	if (o->abandoned || o->left) {
		a->revived = ctl->stuck;
		ctl->stuck = false;
	}
	if (o->abandoned)
		undo(ctl, o);
	pay(ctl);
	return true;
}

/* Takes the card's answers out of the ring.  Context: BH. */
static void take_answers(struct vcrypt_card *card)
{
	struct vcrypt_control *ctl = &card->control;
	struct answer a;
	bool broken;

	spin_lock_bh(&ctl->lock);
	do {
		if (ctl->live)
			virtqueue_disable_cb(ctl->vq);
		while (control_next_answer(ctl, &a)) {
			spin_unlock_bh(&ctl->lock);
			answered(card, &a);
			spin_lock_bh(&ctl->lock);
		}
		broken = ctl->live && virtqueue_is_broken(ctl->vq);
	} while (ctl->live && !broken && !virtqueue_enable_cb(ctl->vq));
	spin_unlock_bh(&ctl->lock);
	if (broken)
		vcrypt_card_fail(card, "the control queue is broken");
}

/*
 * No answer to @o came in time, or its task is being killed; false if an answer
 * came after all.  An answer may be in the ring, if this machine was stopped
 * for a while.
 */
static bool give_up(struct vcrypt_card *card, struct vcrypt_order *o, bool late)
{
	struct vcrypt_control *ctl = &card->control;
	bool answered;

	if (late) {
		local_bh_disable();
		take_answers(card);
		local_bh_enable();
	}
	spin_lock_bh(&ctl->lock);
	answered = o->answered;
	if (!answered) {
		o->abandoned = true;
		ctl->stuck |= late;
	}
	spin_unlock_bh(&ctl->lock);
	if (!answered && late)
		vcrypt_card_fail(card, "the control queue is not answered");
	return !answered;
}

/* jiffies; a card may do one order after the other, and RSA takes long */
static unsigned long patience(const struct vcrypt_card *card)
{
	return msecs_to_jiffies(ocf_virtio_patience) *
	       (1 + min(atomic_read(&card->rsa_out), RSA_DEPTH));
}

/* Whether the card has not answered since its answer number @answers. */
static bool is_silent(struct vcrypt_card *card, unsigned int answers)
{
	struct vcrypt_control *ctl = &card->control;
	bool silent;

	/* this machine may have been stopped for a while */
	local_bh_disable();
	take_answers(card);
	local_bh_enable();
	spin_lock_bh(&ctl->lock);
	silent = !list_empty(&ctl->out) && ctl->answers == answers;
	ctl->stuck |= silent;
	spin_unlock_bh(&ctl->lock);
	return silent;
}

/**
 * struct waiting - a wait during which a card answers other orders
 * @answers: number of its answers so far
 * @late: jiffies, when the next answer is late
 */
struct waiting {
	unsigned int	answers;
	unsigned long	late;
};

static void wait_begin(struct vcrypt_card *card, struct waiting *w)
{
	w->answers = READ_ONCE(card->control.answers);
	w->late = jiffies + patience(card);
}

/*
 * Sleeps a little.  Returns true while the card still answers; otherwise
 * reports the card's failure, and returns false.
 */
static bool wait_on(struct vcrypt_card *card, struct waiting *w)
{
	usleep_range(100, 1000);
	if (READ_ONCE(card->control.answers) != w->answers) {
		wait_begin(card, w);
	} else if (time_after(jiffies, w->late) &&
		   is_silent(card, w->answers)) {
		vcrypt_card_fail(card, "the control queue is not answered");
		return false;
	}
	return true;
}

/* wait for room in the ring: a multiple of the patience */
#define CROWD	8

/*
 * Puts @o in the ring when there is room, since many tasks may send orders at a
 * time.  A card that answers some of them works, however small its ring is.  A
 * card that answers none has failed, even if no task waits for its answers any
 * more.  -ENOMEM if there was no room until @end, jiffies.
 */
static int post_patiently(struct vcrypt_card *card, struct vcrypt_order *o,
			  unsigned long end, bool killable)
{
	struct vcrypt_control *ctl = &card->control;
	struct waiting w;
	int err;

	wait_begin(card, &w);
	for (;;) {
		spin_lock_bh(&ctl->lock);
		err = post(ctl, o);
		spin_unlock_bh(&ctl->lock);
		if (err != -ENOSPC)
			return err;
		if (killable && fatal_signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, end))
			return -ENOMEM;
		if (!wait_on(card, &w))
			return -ETIMEDOUT;
	}
}

/**
 * vcrypt_control_ask() - send an order to the card, and wait for the answer
 * @card: the card
 * @o: the order; if this returns 0, the answer is in it
 * @killable: the wait ends when the task is killed
 *
 * Context: process; may sleep for at most (CROWD + 1) * patience(@card).
 * Return: 0; -EINTR; -ETIMEDOUT, and the card has failed; -ENODEV if it is
 * down; -EIO if the ring is broken; -ENOMEM if the ring was full of others'
 * orders for all that time.
 */
int vcrypt_control_ask(struct vcrypt_card *card, struct vcrypt_order *o,
		       bool killable)
{
	unsigned long end = jiffies + CROWD * patience(card);
	long left;
	int err;

	err = post_patiently(card, o, end, killable);
	if (err)
		return err;
	if (killable)
		left = wait_for_completion_killable_timeout(&o->done,
							    patience(card));
	else
		left = wait_for_completion_timeout(&o->done, patience(card));
	if (left <= 0 && give_up(card, o, !left))
		return left ? -EINTR : -ETIMEDOUT;
	return o->err;
}

/*
 * Waits until the ring has fewer than @few orders for which no task waits, or
 * until @end, or with @killable until the task is killed.  A card that answers
 * nothing within its patience has failed.
 */
static void settle(struct vcrypt_card *card, unsigned int few,
		   unsigned long end, bool killable)
{
	struct vcrypt_control *ctl = &card->control;
	struct waiting w;

	wait_begin(card, &w);
	while (READ_ONCE(ctl->left) >= few && !READ_ONCE(ctl->stuck) &&
	       time_before(jiffies, end) &&
	       !(killable && fatal_signal_pending(current)) &&
	       wait_on(card, &w))
		;
}

/**
 * vcrypt_control_settle() - wait for the answers to all commands
 * @card: the card
 *
 * Context: process; may sleep, twice as long as it has patience.
 */
void vcrypt_control_settle(struct vcrypt_card *card)
{
	settle(card, 1, jiffies + 2 * patience(card), false);
}

/**
 * vcrypt_control_end() - bound the time for telling the card of ended sessions
 * @card: the card, which is being removed
 *
 * A reset does not make every card forget its sessions.  The time limit for
 * destroying all sessions is the same as for one, so a slow card cannot delay
 * its removal longer.
 *
 * Context: any.
 */
void vcrypt_control_end(struct vcrypt_card *card)
{
	card->end_by = jiffies + 2 * patience(card);
	/* pairs with time_to_forget() */
	smp_store_release(&card->ending, true);
}

/* When the time of @card for the end of a session is over, jiffies */
static unsigned long time_to_forget(struct vcrypt_card *card)
{
	/* pairs with vcrypt_control_end() */
	if (smp_load_acquire(&card->ending))
		return card->end_by;
	return jiffies + 2 * patience(card);
}

/**
 * vcrypt_control_destroy() - destroy a session of the card
 * @card: the card
 * @opcode: VIRTIO_CRYPTO_*_DESTROY_SESSION
 * @id: the card's number of the session, which it may use again after a reset
 * @life: vcrypt_control_life() from before the session existed
 *
 * The answer changes nothing, so this does not wait for it.
 *
 * Context: process; may sleep, until there is room, the card has failed or the
 * task is killed.  If the task is killed, the card is told later.  A card that
 * is being removed cannot be told later, so then a kill does not end the wait.
 */
void vcrypt_control_destroy(struct vcrypt_card *card, u32 opcode, u64 id,
			    unsigned int life)
{
	unsigned long end = time_to_forget(card);
	bool killable = !READ_ONCE(card->ending);
	struct vcrypt_control *ctl = &card->control;
	struct vcrypt_order *o = vcrypt_order_alloc(0);

	if (!o)
		return;
	o->left = true;
	o->tied = true;
	o->life = life;
	o->req.header.opcode = cpu_to_le32(opcode);
	o->req.u.destroy_session.session_id = cpu_to_le64(id);
	/* leaves room in the ring for orders whose answer a task waits for */
	settle(card, ctl->left_max, end, killable);
	if (post_patiently(card, o, end, killable)) {
		spin_lock_bh(&ctl->lock);
		owe(ctl, o);
		/* there may be no order in the ring any more */
		pay(ctl);
		spin_unlock_bh(&ctl->lock);
	}
	vcrypt_order_put(o);
}

/* Context: any. */
unsigned int vcrypt_control_life(struct vcrypt_card *card)
{
	return READ_ONCE(card->control.life);
}

static void control_drain(struct work_struct *work)
{
	take_answers(container_of(work, struct vcrypt_card, control.drain));
}

void vcrypt_control_init(struct vcrypt_card *card)
{
	struct vcrypt_control *ctl = &card->control;

	spin_lock_init(&ctl->lock);
	INIT_LIST_HEAD(&ctl->out);
	INIT_LIST_HEAD(&ctl->owed);
	INIT_WORK(&ctl->drain, control_drain);
}

/* Context: hard irq. */
void vcrypt_control_interrupt(struct virtqueue *vq)
{
	struct vcrypt_card *card = vq->vdev->priv;

	queue_work(system_bh_wq, &card->control.drain);
}

/* Sets whom to tell of failures, as long as the card is up. */
void vcrypt_control_claim(struct vcrypt_card *card, struct ocf_device *dev)
{
	spin_lock_bh(&card->control.lock);
	if (card->control.up)
		WRITE_ONCE(card->dev, dev);
	spin_unlock_bh(&card->control.lock);
}

void vcrypt_control_set(struct vcrypt_card *card, struct virtqueue *vq)
{
	card->control.vq = vq;
	/*
	 * An order takes two descriptors, so the ring holds size / 2 orders.
	 * At most half of these may be orders for which no task waits.
	 */
	card->control.left_max = max(virtqueue_get_vring_size(vq) / 4, 1);
}

void vcrypt_control_start(struct vcrypt_card *card)
{
	struct vcrypt_control *ctl = &card->control;

	spin_lock_bh(&ctl->lock);
	ctl->up = true;
	ctl->live = true;
	ctl->stuck = false;
	pay(ctl);
	spin_unlock_bh(&ctl->lock);
}

/* Sends no more orders. */
void vcrypt_control_stop(struct vcrypt_card *card)
{
	spin_lock_bh(&card->control.lock);
	card->control.up = false;
	spin_unlock_bh(&card->control.lock);
}

/* Answers are not looked at any more either. */
void vcrypt_control_mute(struct vcrypt_card *card)
{
	spin_lock_bh(&card->control.lock);
	card->control.live = false;
	spin_unlock_bh(&card->control.lock);
	cancel_work_sync(&card->control.drain);
}

/* After a reset no order will be answered. */
void vcrypt_control_reclaim(struct vcrypt_card *card)
{
	struct vcrypt_control *ctl = &card->control;
	struct vcrypt_order *o, *next;

	spin_lock_bh(&ctl->lock);
	WRITE_ONCE(ctl->life, ctl->life + 1);
	while (ctl->vq && virtqueue_detach_unused_buf(ctl->vq))
		;
	ctl->vq = NULL;
	list_for_each_entry_safe(o, next, &ctl->out, node) {
		list_del_init(&o->node);
		ctl->left -= o->left;
		o->err = -ENODEV;
		o->answered = true;
		complete(&o->done);
		vcrypt_order_put(o);
	}
	while ((o = take_owed(ctl)))
		vcrypt_order_put(o);
	spin_unlock_bh(&ctl->lock);
}

/* The card has no interrupts any more, but one may be running. */
void vcrypt_control_exit(struct vcrypt_card *card)
{
	cancel_work_sync(&card->control.drain);
}
