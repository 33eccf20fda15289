// SPDX-License-Identifier: GPL-2.0-only
/*
 * Public-key operations of a card.
 *
 * The CPU computes the result through the core, as a consumer would.  A worker
 * of the slot does that while the card's time passes.  The card remembers the
 * results of operations that always give the same, so that its speed depends on
 * its knobs and not on the CPU.
 */
#include <crypto/hash.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "sim.h"

#define DEPTH		64
#define MEMORIES	64
#define DIGEST		32
#define PUBLIC_SHARE	16	/* RSA with a public key takes 1/16 */
#define CURVE_SHARE	4	/* an operation on a curve takes 1/4 */

/**
 * struct memory - the remembered result of an operation
 * @name: SHA-256 of the operation and its operands
 * @err: its errno, if it verifies
 * @len: bytes of the results
 * @out: results
 */
struct memory {
	u8	name[DIGEST];
	int	err;
	u32	len[OCF_PK_OUT_MAX];
	u8	out[OCF_PK_OUT_MAX][OCF_PK_NUMBER_MAX];
};

/**
 * struct slot - a slot for one operation
 * @card: the card
 * @req: the request; NULL if the slot is free, or the request was detached or
 *	is being completed
 * @busy: the slot is in use
 * @fate: BIT(SIM_*) of its faults
 * @due: ns, when it is complete
 * @own: the operation, with operands and results in the card's memory
 * @mem: that memory
 * @err: the result
 * @work: computes it
 * @timer: completes it
 */
struct slot {
	struct sim_card		*card;
	struct ocf_pk_request	*req;
	bool			busy;
	u32			fate;
	u64			due;
	struct ocf_pk_request	*own;
	u8			*mem;
	int			err;
	struct work_struct	work;
	struct hrtimer		timer;
};

/**
 * struct sim_pk - a card's part in public-key operations
 * @slots: the slots
 * @inside: how many are in use; under the card's lock
 * @sha: computes the names of @memory
 * @lock: protects @memory and @next
 * @memory: the last results
 * @next: which of these is replaced next
 */
struct sim_pk {
	struct slot		slots[DEPTH];
	u32			inside;
	struct crypto_shash	*sha;
	spinlock_t		lock;
	struct memory		*memory[MEMORIES];
	u32			next;
};

static const u8 ins[OCF_PK_COUNT] = {
	[OCF_PK_MOD_EXP] = 3, [OCF_PK_MOD_EXP_CRT] = 6, [OCF_PK_DSA_SIGN] = 5,
	[OCF_PK_DSA_VERIFY] = 7, [OCF_PK_DH] = 3, [OCF_PK_MOD_ADD] = 3,
	[OCF_PK_MOD_NEG] = 2, [OCF_PK_MOD_SUB] = 3, [OCF_PK_MOD_MUL] = 3,
	[OCF_PK_MOD_INV] = 2, [OCF_PK_MOD] = 2, [OCF_PK_RSA_SIGN] = 2,
	[OCF_PK_RSA_VERIFY] = 3, [OCF_PK_RSA_ENCRYPT] = 3,
	[OCF_PK_RSA_DECRYPT] = 3, [OCF_PK_EC_PUBLIC] = 1, [OCF_PK_ECDH] = 2,
	[OCF_PK_ECDSA_SIGN] = 2, [OCF_PK_ECDSA_VERIFY] = 4, [OCF_PK_X25519] = 2,
};

/* ---- remembered results ---- */

static bool is_the_same_each_time(const struct ocf_pk_op *op)
{
	if (op->code == OCF_PK_DSA_SIGN || op->code == OCF_PK_ECDSA_SIGN)
		return false;
	return op->scheme == OCF_PK_RAW ||
	       (op->scheme == OCF_PK_PKCS1 && op->code != OCF_PK_RSA_ENCRYPT);
}

static int name_of(struct sim_pk *pk, const struct ocf_pk_op *op, u8 *name)
{
	SHASH_DESC_ON_STACK(desc, pk->sha);
	u32 head[] = { op->code, op->scheme, op->curve, op->hash,
		       op->out[0].size, op->out[1].size };
	int err, i;

	desc->tfm = pk->sha;
	err = crypto_shash_init(desc) ?:
	      crypto_shash_update(desc, (u8 *)head, sizeof(head));
	for (i = 0; i < ins[op->code] && !err; i++)
		err = crypto_shash_update(desc, (u8 *)&op->in[i].len,
					  sizeof(op->in[i].len)) ?:
		      crypto_shash_update(desc, op->in[i].data,
					  op->in[i].len);
	return err ?: crypto_shash_final(desc, name);
}

/* Takes a remembered result.  Return: whether there was one. */
static bool recall(struct sim_pk *pk, struct slot *slot, const u8 *name)
{
	struct ocf_pk_op *op = &slot->own->op;
	const struct memory *m;
	bool found = false;
	int i, j;

	spin_lock(&pk->lock);
	for (i = 0; i < MEMORIES && !found; i++) {
		m = pk->memory[i];
		found = m && !memcmp(m->name, name, DIGEST);
		for (j = 0; found && j < OCF_PK_OUT_MAX; j++) {
			memcpy(op->out[j].data, m->out[j], m->len[j]);
			op->out[j].len = m->len[j];
		}
		if (found)
			slot->err = m->err;
	}
	spin_unlock(&pk->lock);
	return found;
}

static void remember(struct sim_pk *pk, const struct slot *slot, const u8 *name)
{
	const struct ocf_pk_op *op = &slot->own->op;
	struct memory *m = kzalloc(sizeof(*m), GFP_KERNEL), *old;
	int i;

	if (!m)
		return;
	memcpy(m->name, name, DIGEST);
	m->err = slot->err;
	for (i = 0; i < OCF_PK_OUT_MAX && !m->err; i++) {
		m->len[i] = op->out[i].len;
		if (m->len[i])
			memcpy(m->out[i], op->out[i].data, m->len[i]);
	}
	spin_lock(&pk->lock);
	old = pk->memory[pk->next];
	pk->memory[pk->next] = m;
	pk->next = (pk->next + 1) % MEMORIES;
	spin_unlock(&pk->lock);
	kfree_sensitive(old);
}

/* ---- in ---- */

/* Returns ns that an engine takes, by the cube of the numbers' size. */
static u64 pk_engine_time(const struct sim_card *card,
			  const struct ocf_pk_op *op)
{
	u64 ns = READ_ONCE(card->config.knob[SIM_PUBLIC]);
	u32 bytes = max(op->out[0].size, 64u);

	if (op->curve || op->code == OCF_PK_X25519)
		ns /= CURVE_SHARE;
	else
		ns = div_u64(ns * bytes * bytes * bytes, 1 << 24);
	if (op->code == OCF_PK_RSA_ENCRYPT || op->code == OCF_PK_RSA_VERIFY)
		ns /= PUBLIC_SHARE;
	return div_u64(ns * READ_ONCE(card->config.knob[SIM_SLOW]), 100);
}

static struct slot *pk_take_slot(struct sim_card *card,
				 struct ocf_pk_request *req)
{
	struct sim_pk *pk = card->pk;
	u64 now = ktime_get_ns();
	int i;

	lockdep_assert_held(&card->lock);
	for (i = 0; i < DEPTH && pk->slots[i].busy; i++)
		;
	if (i == DEPTH || sim_befalls(card, SIM_BUSY)) {
		card->count[SIM_REFUSED]++;
		return NULL;
	}
	pk->slots[i].busy = true;
	pk->slots[i].req = req;
	pk->slots[i].fate = card->armed ? sim_draw_fate(card, false, pk->inside,
							now) : 0;
	pk->slots[i].due =
		sim_engage(card, now, pk_engine_time(card, req->now)) +
		READ_ONCE(card->config.knob[SIM_LATENCY]);
	if (pk->slots[i].fate & BIT(SIM_LATE))
		pk->slots[i].due += NSEC_PER_MSEC *
				    card->config.trouble[SIM_LATE].ms;
	pk->inside++;
	card->count[SIM_SUBMITTED]++;
	return &pk->slots[i];
}

static void pk_put_slot(struct slot *slot)
{
	struct sim_card *card = slot->card;

	kfree_sensitive(slot->mem);
	ocf_pk_free(slot->own);
	slot->mem = NULL;
	slot->own = NULL;
	spin_lock_bh(&card->lock);
	slot->req = NULL;
	slot->busy = false;
	card->pk->inside--;
	spin_unlock_bh(&card->lock);
}

/* Copies the operation and its operands into the card's memory. */
static bool copy_in(struct slot *slot, const struct ocf_pk_op *op)
{
	u32 size = OCF_PK_OUT_MAX * OCF_PK_NUMBER_MAX;
	u8 *at;
	int i;

	for (i = 0; i < ins[op->code]; i++)
		size += op->in[i].len;
	slot->own = ocf_pk_alloc(GFP_KERNEL);
	slot->mem = kzalloc(size, GFP_KERNEL);
	if (!slot->own || !slot->mem)
		return false;
	at = slot->mem;
	slot->own->op = *op;
	slot->own->flags = OCF_SESSION_SOFTWARE;
	for (i = 0; i < OCF_PK_OUT_MAX; i++) {
		slot->own->op.out[i].data = at;
		at += OCF_PK_NUMBER_MAX;
	}
	for (i = 0; i < ins[op->code]; i++) {
		if (op->in[i].len)
			memcpy(at, op->in[i].data, op->in[i].len);
		slot->own->op.in[i].data = at;
		at += op->in[i].len;
	}
	return true;
}

static int sim_pk_submit(struct ocf_pk_request *req)
{
	struct sim_card *card = ocf_device_priv(req->dev);
	struct slot *slot;

	spin_lock_bh(&card->lock);
	slot = pk_take_slot(card, req);
	spin_unlock_bh(&card->lock);
	if (!slot)
		return -EBUSY;
	if (!copy_in(slot, req->now)) {
		pk_put_slot(slot);
		return -EBUSY;
	}
	req->priv = slot;
	queue_work(system_unbound_wq, &slot->work);
	return -EINPROGRESS;
}

static bool sim_pk_detach(struct ocf_pk_request *req)
{
	struct sim_card *card = ocf_device_priv(req->dev);
	struct slot *slot = req->priv;
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

/* Applies the faults to the result. */
static void pk_spoil(struct slot *slot)
{
	struct ocf_pk_result *out = &slot->own->op.out[0];

	if (slot->fate & BIT(SIM_ERROR))
		slot->err = -EIO;
	if (!(slot->fate & BIT(SIM_WRONG)))
		return;
	if (!slot->err && out->len)
		out->data[out->len - 1] ^= 1;
	else if (!slot->err || slot->err == -EBADMSG)
		slot->err = slot->err ? 0 : -EBADMSG;
	else
		return;
	atomic_long_inc(&sim_falsified);
}

static void pk_compute(struct work_struct *work)
{
	struct slot *slot = container_of(work, struct slot, work);
	struct sim_pk *pk = slot->card->pk;
	u8 name[DIGEST];
	bool known;

	known = is_the_same_each_time(&slot->own->op) &&
		!name_of(pk, &slot->own->op, name);
	if (!known || !recall(pk, slot, name)) {
		slot->err = ocf_pk_run(slot->own);
		if (known && (!slot->err || slot->err == -EBADMSG))
			remember(pk, slot, name);
	}
	pk_spoil(slot);
	if (!(slot->fate & BIT(SIM_LOST)))
		hrtimer_start(&slot->timer, ns_to_ktime(slot->due),
			      HRTIMER_MODE_ABS_SOFT);
}

static void copy_out(const struct slot *slot, struct ocf_pk_request *req)
{
	const struct ocf_pk_op *from = &slot->own->op;
	struct ocf_pk_op *to = req->now;
	int i;

	for (i = 0; i < OCF_PK_OUT_MAX && !slot->err; i++) {
		if (!from->out[i].len)
			continue;
		memcpy(to->out[i].data, from->out[i].data, from->out[i].len);
		to->out[i].len = from->out[i].len;
	}
}

static enum hrtimer_restart due(struct hrtimer *timer)
{
	struct slot *slot = container_of(timer, struct slot, timer);
	struct sim_card *card = slot->card;
	struct ocf_pk_request *req;
	u64 now, silent_until;
	bool listens;

	spin_lock(&card->lock);
	if (card->stopped || card->dead) {
		spin_unlock(&card->lock);
		return HRTIMER_NORESTART;
	}
	now = ktime_get_ns();
	silent_until = sim_silent_until(card);
	if (silent_until > now) {
		/* sim_hold() does not restart this timer */
		if (silent_until == U64_MAX)
			silent_until = now + NSEC_PER_MSEC;
		hrtimer_set_expires(timer, ns_to_ktime(silent_until));
		spin_unlock(&card->lock);
		return HRTIMER_RESTART;
	}
	/* from here on detach() cannot take the request back */
	req = slot->req;
	slot->req = NULL;
	card->count[req ? SIM_COMPLETED : SIM_ANSWERED_LATE]++;
	/*
	 * A second completion would find no request in the slot, so it is only
	 * counted.
	 */
	card->count[SIM_SPURIOUS] += !!(slot->fate & BIT(SIM_DOUBLE));
	listens = card->listens && !req;
	spin_unlock(&card->lock);
	if (req) {
		copy_out(slot, req);
		ocf_pk_complete(req, slot->err);
	}
	if (listens)
		ocf_device_revive(card->dev);
	pk_put_slot(slot);
	return HRTIMER_NORESTART;
}

/* ---- the card ---- */

const struct ocf_pk_ops sim_pk_ops = {
	.codes = BIT(OCF_PK_COUNT) - 1,
	.schemes = BIT(OCF_PK_RAW) | BIT(OCF_PK_PKCS1),
	.depth = DEPTH,
	.submit = sim_pk_submit,
	.detach = sim_pk_detach,
};

/**
 * sim_pk_init() - give a card its public-key operations, if it is to have them
 * @card: the card
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int sim_pk_init(struct sim_card *card)
{
	struct sim_pk *pk;
	int i;

	if (!card->config.public_key)
		return 0;
	pk = kzalloc(sizeof(*pk), GFP_KERNEL);
	if (!pk)
		return -ENOMEM;
	pk->sha = crypto_alloc_shash("sha256", 0, 0);
	if (IS_ERR(pk->sha)) {
		kfree(pk);
		return -ENOMEM;
	}
	spin_lock_init(&pk->lock);
	for (i = 0; i < DEPTH; i++) {
		pk->slots[i].card = card;
		INIT_WORK(&pk->slots[i].work, pk_compute);
		ocf_hrtimer_setup(&pk->slots[i].timer, due, CLOCK_MONOTONIC,
				  HRTIMER_MODE_ABS_SOFT);
	}
	card->pk = pk;
	return 0;
}

/**
 * sim_pk_stop() - empty a card that was stopped
 * @card: the card, whose requests the core has reclaimed
 *
 * Context: process; may sleep.
 */
void sim_pk_stop(struct sim_card *card)
{
	struct slot *slot;
	int i;

	if (!card->pk)
		return;
	for (i = 0; i < DEPTH; i++) {
		slot = &card->pk->slots[i];
		cancel_work_sync(&slot->work);
		hrtimer_cancel(&slot->timer);
		if (slot->busy)
			pk_put_slot(slot);
	}
}

void sim_pk_exit(struct sim_card *card)
{
	int i;

	if (!card->pk)
		return;
	for (i = 0; i < MEMORIES; i++)
		kfree_sensitive(card->pk->memory[i]);
	crypto_free_shash(card->pk->sha);
	kfree(card->pk);
}
