// SPDX-License-Identifier: GPL-2.0-only
/*
 * The IVs of operations that bring none: each continues where the operation
 * before it ended.
 *
 * No part of a stream may be used twice, whatever happens to an operation, and
 * however many are under way.  So a counter is advanced when an operation takes
 * it, by the blocks that the operation needs.  A block of ciphertext is known
 * only when its operation has ended, so the next operation waits for that.
 */
#include <crypto/aes.h>
#include <crypto/chacha.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "cdev.h"

/**
 * cdev_iv_init() - prepare a session for operations that bring no IV
 * @ses: the session; its cipher is known
 */
void cdev_iv_init(struct cdev_session *ses)
{
	spin_lock_init(&ses->iv_lock);
	init_waitqueue_head(&ses->iv_wait);
	if (ses->info.cipher == OCF_AES_CTR ||
	    ses->info.cipher == OCF_CHACHA20)
		ses->iv_now = U64_MAX;
	ses->iv_busy = ses->iv_now != ses->iv_last;
}

static bool counts(const struct cdev_session *ses)
{
	return ses->iv_now == U64_MAX;
}

/* Return: the block counter after @len bytes; it has 32 bits, RFC 8439, 2.3. */
static u64 end_of_chacha(const u8 *iv, u32 len)
{
	return (u64)get_unaligned_le32(iv) +
	       DIV_ROUND_UP(len, CHACHA_BLOCK_SIZE);
}

static void add_to_counter(struct cdev_session *ses, u32 len)
{
	u64 end;

	if (ses->info.cipher == OCF_AES_CTR) {
		ocf_counter_add(ses->iv, DIV_ROUND_UP(len, AES_BLOCK_SIZE));
		return;
	}
	end = end_of_chacha(ses->iv, len);
	ses->iv_spent = end > U32_MAX;
	put_unaligned_le32(end, ses->iv);
}

/* Whether @len bytes from @ses->iv on would use blocks a second time */
static bool is_spent(const struct cdev_session *ses, u32 len)
{
	return ses->iv_spent ||
	       (ses->info.cipher == OCF_CHACHA20 &&
		end_of_chacha(ses->iv, len) > BIT_ULL(32));
}

static bool try_take(struct cdev_op *op, bool own)
{
	struct cdev_session *ses = op->ses;
	bool known;

	spin_lock_bh(&ses->iv_lock);
	known = own || counts(ses) || ses->iv_now == ses->iv_last;
	if (known && (own || !is_spent(ses, op->req.data.len))) {
		if (!own)
			memcpy(op->req.iv, ses->iv, sizeof(ses->iv));
		op->chained = true;
		op->turn = ++ses->iv_last;
		WRITE_ONCE(ses->iv_busy, true);
		if (counts(ses)) {
			memcpy(ses->iv_before, ses->iv, sizeof(ses->iv));
			ses->iv_was_spent = ses->iv_spent;
			memcpy(ses->iv, op->req.iv, sizeof(ses->iv));
			add_to_counter(ses, op->req.data.len);
		}
	}
	spin_unlock_bh(&ses->iv_lock);
	return known;
}

/**
 * cdev_iv_take() - give an operation its IV
 * @op: the operation, otherwise ready; its session chains IVs
 * @own: the operation has brought its IV, in @op->req.iv
 *
 * Without @own it waits for the operation before, if the IV is the last block
 * of that one.
 *
 * Context: process; may sleep.
 * Return: 0; -ERESTARTSYS when the caller is being killed; -EOVERFLOW without
 * @own if the counter has too few blocks left.
 */
int cdev_iv_take(struct cdev_op *op, bool own)
{
	return wait_event_killable(op->ses->iv_wait, try_take(op, own)) ?:
	       op->chained ? 0 : -EOVERFLOW;
}

/* No operation waits for @op any more. */
static void end_turn(struct cdev_op *op)
{
	struct cdev_session *ses = op->ses;

	op->chained = false;
	op->turn = 0;
	if (wq_has_sleeper(&ses->iv_wait))
		wake_up(&ses->iv_wait);
}

/* See cdev_iv_leave() */
void cdev_iv_end(struct cdev_op *op, int err)
{
	struct cdev_session *ses = op->ses;

	spin_lock_bh(&ses->iv_lock);
	/* a later operation may have ended first */
	if (op->turn > ses->iv_now) {
		if (!err)
			memcpy(ses->iv, op->req.iv, sizeof(ses->iv));
		ses->iv_now = op->turn;
		WRITE_ONCE(ses->iv_busy, ses->iv_now != ses->iv_last);
	}
	spin_unlock_bh(&ses->iv_lock);
	end_turn(op);
}

/* See cdev_iv_return() */
void cdev_iv_untake(struct cdev_op *op)
{
	struct cdev_session *ses = op->ses;

	spin_lock_bh(&ses->iv_lock);
	if (counts(ses) && op->turn == ses->iv_last) {
		memcpy(ses->iv, ses->iv_before, sizeof(ses->iv));
		ses->iv_spent = ses->iv_was_spent;
	}
	ses->iv_now = max(ses->iv_now, op->turn);
	WRITE_ONCE(ses->iv_busy, ses->iv_now != ses->iv_last);
	spin_unlock_bh(&ses->iv_lock);
	end_turn(op);
}
