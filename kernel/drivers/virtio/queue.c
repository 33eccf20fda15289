// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data queues (VIRTIO 1.2, 5.9.7.3).  A request goes to the queue of the CPU
 * that submits it.  The driver notifies the card after the last request of a
 * batch, and disables its interrupts while it takes answers out of the ring.
 */
#include <linux/slab.h>

#include "virtio.h"

#define BUDGET		64	/* answers taken out at a time */
#define SGS_MAX		4	/* head, data in, data out, tail */

static void queue_drain(struct work_struct *work);

int vcrypt_queues_alloc(struct vcrypt_card *card, unsigned int n)
{
	unsigned int i;

	card->queues = kcalloc(n, sizeof(*card->queues), GFP_KERNEL);
	if (!card->queues)
		return -ENOMEM;
	card->nqueues = n;
	for (i = 0; i < n; i++) {
		card->queues[i].card = card;
		spin_lock_init(&card->queues[i].lock);
		INIT_WORK(&card->queues[i].drain, queue_drain);
	}
	return 0;
}

/* The card has no interrupts any more, but one may be running. */
void vcrypt_queues_free(struct vcrypt_card *card)
{
	unsigned int i;

	for (i = 0; i < card->nqueues; i++)
		cancel_work_sync(&card->queues[i].drain);
	kfree(card->queues);
}

static void ring(struct vcrypt_queue *q)
{
	lockdep_assert_held(&q->lock);
	q->kick = false;
	if (virtqueue_kick_prepare(q->vq)) {
		atomic_inc(&q->card->kicks);
		virtqueue_notify(q->vq);
	}
}

/* 0; -ENOSPC if the ring is full; another errno if it is broken. */
static int put_in(struct vcrypt_queue *q, struct vcrypt_slot *slot)
{
	struct scatterlist sg[SGS_MAX], *sgs[SGS_MAX];
	unsigned int n, out, i;

	lockdep_assert_held(&q->lock);
	if (!q->up)
		return -ENODEV;
	n = slot->rsa ? vcrypt_akcipher_sgs(slot, sg, &out) :
			vcrypt_slot_sgs(slot, sg, &out);
	for (i = 0; i < n; i++)
		sgs[i] = &sg[i];
	/* indirect, if the card has that, and there is memory */
	return virtqueue_add_sgs(q->vq, sgs, out, n - out, slot, GFP_ATOMIC);
}

/*
 * The ring did not take @slot.  If the ring is full, the core must be told when
 * it has room again.  That is noted before an answer can be taken out of the
 * ring.
 */
static int refuse(struct vcrypt_queue *q, struct vcrypt_slot *slot, int err)
{
	struct vcrypt_card *card = q->card;

	lockdep_assert_held(&q->lock);
	slot->req = NULL;
	slot->pk = NULL;
	if (err == -ENODEV || err == -EIO)
		return -EBUSY;
	if (!q->out)
		return err;
	spin_lock_bh(&card->slots_lock);
	card->starved = true;
	spin_unlock_bh(&card->slots_lock);
	return -EBUSY;
}

/* The queue of this CPU.  Context: process or BH. */
struct vcrypt_queue *vcrypt_queue_here(struct vcrypt_card *card)
{
	return &card->queues[raw_smp_processor_id() % card->nqueues];
}

/**
 * vcrypt_queue_enter() - put a slot into the ring
 * @q: the queue
 * @slot: the slot, filled with a request
 * @more: another one follows, so the card is not notified yet
 *
 * Context: process or BH.
 * Return: -EINPROGRESS; -EBUSY if the ring is full, or the queue is down;
 * -ENOMEM.
 */
int vcrypt_queue_enter(struct vcrypt_queue *q, struct vcrypt_slot *slot,
		       bool more)
{
	bool broken;
	int err;

	spin_lock_bh(&q->lock);
	slot->queue = q;
	err = put_in(q, slot);
	broken = err == -EIO;
	if (err) {
		err = refuse(q, slot, err);
	} else {
		err = -EINPROGRESS;
		q->out++;
		q->kick = true;
		if (!more)
			ring(q);
	}
	spin_unlock_bh(&q->lock);
	if (broken)
		vcrypt_card_fail(q->card, "a data queue is broken");
	return err;
}

/* Context: process or BH. */
int vcrypt_queue_submit(struct ocf_request *req, bool more)
{
	struct vcrypt_card *card = vcrypt_card_of(req->dev);
	struct vcrypt_job *job = (void *)req->priv;
	struct vcrypt_slot *slot;
	int err;

	BUILD_BUG_ON(sizeof(*job) > OCF_PRIV_SIZE);
	slot = vcrypt_slot_take(card);
	if (!slot)
		return -EBUSY;
	err = vcrypt_slot_fill(slot, req);
	if (!err) {
		slot->req = req;
		*job = (struct vcrypt_job){ .queue = vcrypt_queue_here(card),
					    .slot = slot };
		err = vcrypt_queue_enter(job->queue, slot, more);
	}
	if (err != -EINPROGRESS)
		vcrypt_slot_put(card, slot, false);
	return err;
}

void vcrypt_queue_kick(struct ocf_device *dev)
{
	struct vcrypt_card *card = vcrypt_card_of(dev);
	struct vcrypt_queue *q;
	unsigned int i;

	for (i = 0; i < card->nqueues; i++) {
		q = &card->queues[i];
		if (!READ_ONCE(q->kick))
			continue;
		spin_lock_bh(&q->lock);
		if (q->kick && q->up)
			ring(q);
		spin_unlock_bh(&q->lock);
	}
}

/*
 * Finds answers whose interrupt was lost, and requests whose notification was
 * lost.  With event indices neither would ever be repeated.
 */
void vcrypt_queue_nudge(struct ocf_device *dev)
{
	struct vcrypt_card *card = vcrypt_card_of(dev);
	struct vcrypt_queue *q;
	unsigned int i;

	for (i = 0; i < card->nqueues; i++) {
		q = &card->queues[i];
		spin_lock_bh(&q->lock);
		if (q->up && q->out) {
			atomic_inc(&card->nudges);
			virtqueue_notify(q->vq);
			queue_work(system_bh_wq, &q->drain);
		}
		spin_unlock_bh(&q->lock);
	}
}

/*
 * Takes a request back.  Its slot stays in the ring, without a request, until
 * the card has answered it.
 */
bool vcrypt_queue_detach(struct ocf_request *req)
{
	struct vcrypt_job *job = (void *)req->priv;
	struct vcrypt_queue *q = job->queue;
	bool mine;

	spin_lock_bh(&q->lock);
	mine = job->slot->req == req;
	if (mine) {
		job->slot->req = NULL;
		atomic_inc(&q->card->detached);
	}
	spin_unlock_bh(&q->lock);
	return mine;
}

/* The request of a slot; both are NULL if the core took it back */
struct owner {
	struct ocf_request	*req;
	struct ocf_pk_request	*pk;
};

/* The card has answered @slot, which had a request of @own. */
static void finish(struct vcrypt_card *card, struct vcrypt_slot *slot,
		   const struct owner *own, u32 written)
{
	int err;

	if (!own->req && !own->pk) {
		atomic_inc(&card->late);
		vcrypt_slot_put(card, slot, true);
		if (atomic_dec_and_test(&card->detached))
			vcrypt_card_revive(card);
		return;
	}
	err = own->pk ? vcrypt_akcipher_result(slot, own->pk, written) :
			vcrypt_slot_result(slot, own->req, written);
	vcrypt_slot_put(card, slot, true);
	if (err == -EPROTO || err == -ESTALE) {
		atomic_inc(&card->wrong);
		if (err == -ESTALE)
			atomic_inc(&card->losses);
		vcrypt_card_fail(card, err == -ESTALE ?
					       "its sessions are lost" :
					       "an answer makes no sense");
		err = -EIO;
	}
	if (own->pk)
		ocf_pk_complete(own->pk, err);
	else
		ocf_complete(own->req, err);
}

static struct vcrypt_slot *queue_next_answer(struct vcrypt_queue *q,
					     struct owner *own, u32 *written)
{
	struct vcrypt_slot *slot;

	lockdep_assert_held(&q->lock);
	if (!q->live)
		return NULL;
	/*
	 * if the card returns a slot that is not in the ring, this returns NULL
	 * and marks the ring as broken
	 */
	slot = virtqueue_get_buf(q->vq, written);
	if (!slot)
		return NULL;
	q->out--;
	*own = (struct owner){ slot->req, slot->pk };
	slot->req = NULL;
	slot->pk = NULL;
	return slot;
}

static void queue_drain(struct work_struct *work)
{
	struct vcrypt_queue *q = container_of(work, struct vcrypt_queue, drain);
	struct owner own;
	struct vcrypt_slot *slot;
	bool broken, more;
	int left = BUDGET;
	u32 written;

	spin_lock_bh(&q->lock);
	do {
		if (q->live)
			virtqueue_disable_cb(q->vq);
		while (left && (slot = queue_next_answer(q, &own, &written))) {
			spin_unlock_bh(&q->lock);
			finish(q->card, slot, &own, written);
			left--;
			spin_lock_bh(&q->lock);
		}
		broken = q->live && virtqueue_is_broken(q->vq);
		more = !left && q->live && !broken;
	} while (left && q->live && !broken && !virtqueue_enable_cb(q->vq));
	spin_unlock_bh(&q->lock);
	if (more)
		queue_work(system_bh_wq, &q->drain);
	if (broken)
		vcrypt_card_fail(q->card, "a data queue is broken");
}

/* Context: hard irq. */
void vcrypt_queue_interrupt(struct virtqueue *vq)
{
	struct vcrypt_card *card = vq->vdev->priv;

	atomic_inc(&card->interrupts);
	virtqueue_disable_cb(vq);
	queue_work(system_bh_wq, &card->queues[vq->index].drain);
}

void vcrypt_queues_set(struct vcrypt_card *card, struct virtqueue **vqs)
{
	unsigned int i, cpu;

	for (i = 0; i < card->nqueues; i++) {
		card->queues[i].vq = vqs[i];
		cpu = cpumask_nth(i, cpu_online_mask);
		if (card->nqueues > 1 && cpu < nr_cpu_ids)
			virtqueue_set_affinity(vqs[i], cpumask_of(cpu));
	}
}

static void set(struct vcrypt_card *card, bool up, bool live)
{
	struct vcrypt_queue *q;
	unsigned int i;

	for (i = 0; i < card->nqueues; i++) {
		q = &card->queues[i];
		spin_lock_bh(&q->lock);
		q->up = up;
		q->live = live;
		spin_unlock_bh(&q->lock);
	}
}

void vcrypt_queues_start(struct vcrypt_card *card)
{
	set(card, true, true);
}

/* Nothing more goes in. */
void vcrypt_queues_stop(struct vcrypt_card *card)
{
	set(card, false, true);
}

/* From here on no answers are taken out of the rings, either. */
void vcrypt_queues_mute(struct vcrypt_card *card)
{
	unsigned int i;

	set(card, false, false);
	for (i = 0; i < card->nqueues; i++)
		cancel_work_sync(&card->queues[i].drain);
}

/*
 * After a reset the slots belong to the driver again.  The core has taken the
 * requests back, or will do so; a task that is about to take back a public-key
 * request waits until this is done.
 */
static void reclaim(struct vcrypt_card *card, struct vcrypt_queue *q)
{
	struct ocf_pk_request *pk;
	struct vcrypt_slot *slot;

	spin_lock_bh(&q->lock);
	while (q->vq && (slot = virtqueue_detach_unused_buf(q->vq))) {
		pk = slot->pk;
		slot->req = NULL;
		slot->pk = NULL;
		vcrypt_slot_put(card, slot, false);
		if (!pk)
			continue;
		spin_unlock_bh(&q->lock);
		ocf_pk_complete(pk, -ENODEV);
		spin_lock_bh(&q->lock);
	}
	q->vq = NULL;
	q->out = 0;
	q->kick = false;
	spin_unlock_bh(&q->lock);
}

void vcrypt_queues_reclaim(struct vcrypt_card *card)
{
	unsigned int i;

	for (i = 0; i < card->nqueues; i++)
		reclaim(card, &card->queues[i]);
	atomic_set(&card->detached, 0);
}
