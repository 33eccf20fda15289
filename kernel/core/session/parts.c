// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of a session with a cipher and a MAC: a session of each, for
 * requests that are done in two steps (request/chain.c).  Each generation of
 * its keys has parts, too.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../core.h"

/**
 * ocf_part_params() - the parameters of a part of a session
 * @whole: the parameters of the session
 * @part: OCF_PART_CIPHER or OCF_PART_MAC
 *
 * Return: the part's parameters; with keys if @whole has keys.
 */
struct ocf_session_params
ocf_part_params(const struct ocf_session_params *whole, int part)
{
	struct ocf_session_params p = {
		.policy = whole->policy,
		.flags = whole->flags & OCF_SESSION_ANY,
		.device = OCF_DEVICE_ANY,
		.owner = whole->owner,
		.account = whole->account,
	};

	if (part == OCF_PART_CIPHER) {
		p.mode = OCF_MODE_CIPHER;
		p.cipher = whole->cipher;
		p.key = whole->key;
		p.keylen = whole->keylen;
		p.ivlen = whole->ivlen;
		p.rounds = whole->rounds;
	} else {
		p.mode = OCF_MODE_DIGEST;
		p.mac = whole->mac;
		p.mackey = whole->mackey;
		p.mackeylen = whole->mackeylen;
		p.maclen = whole->maclen;
	}
	return p;
}

static int make_part(struct ocf_session *ses, struct ocf_keys *keys, int i)
{
	struct ocf_session_params p = ocf_part_params(&keys->params, i);
	struct ocf_session *session;
	struct ocf_keys *part;

	if (!ses->part[i]) {
		session = ocf_session_make(&p, NULL, GFP_KERNEL_ACCOUNT);
		if (IS_ERR(session))
			return PTR_ERR(session);
		ses->part[i] = session;
	}
	if (keys->part[i])
		return 0;
	part = ocf_keys_create(&p, GFP_KERNEL_ACCOUNT);
	if (IS_ERR(part))
		return PTR_ERR(part);
	/* pairs with ocf_keys_have_parts() */
	smp_store_release(&keys->part[i], part);
	return 0;
}

/**
 * ocf_parts_make() - make the parts of a session and of its keys
 * @ses: the session, whose keys do not change meanwhile
 * @keys: a generation of its keys
 *
 * Context: process; may sleep.
 * Return: 0, -ENOMEM or -EDQUOT.
 */
int ocf_parts_make(struct ocf_session *ses, struct ocf_keys *keys)
{
	return make_part(ses, keys, OCF_PART_CIPHER) ?:
	       make_part(ses, keys, OCF_PART_MAC);
}

/*
 * The parts belong to the control group of @keys, as if the user had made them.
 */
static void make_charged(struct ocf_session *ses, struct ocf_keys *keys)
{
	struct mem_cgroup *old = set_active_memcg(keys->memcg);

	ocf_parts_make(ses, keys);
	set_active_memcg(old);
}

/*
 * If the lock is held, a user is changing the keys; then a later request asks
 * for the parts again.
 */
static void make_parts(struct work_struct *work)
{
	struct ocf_session *ses = container_of(work, struct ocf_session,
					       split_work);
	struct ocf_keys *keys;

	if (mutex_trylock(&ses->rekey)) {
		keys = rcu_dereference_protected(ses->keys,
						 lockdep_is_held(&ses->rekey));
		make_charged(ses, keys);
		mutex_unlock(&ses->rekey);
	}
	ocf_session_put(ses);
}

void ocf_parts_init(struct ocf_session *ses)
{
	INIT_WORK(&ses->split_work, make_parts);
}

/**
 * ocf_parts_want() - have a worker make the parts of a session
 * @ses: the session; a submission must not allocate
 *
 * Context: process or BH.
 */
void ocf_parts_want(struct ocf_session *ses)
{
	ocf_session_get(ses);
	if (!queue_work(ocf_wq, &ses->split_work))
		ocf_session_put_deferred(ses);
}
