// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flows: owners who are told apart where they wait.
 *
 * An owner who has something open has a flow of its own, as long as there is
 * one; beyond OCF_FLOWS owners at a time it shares that which fewest use.  So
 * nobody can choose in whose line he stands, as he could if it went by a hash.
 */
#include "core.h"

/* Who has it, and how many things of whoever shares it are open */
static struct {
	u32		owner;
	unsigned int	users;
} flows[OCF_FLOWS];

static unsigned long used;	/* those with users, a bit each */
static DEFINE_SPINLOCK(flows_lock);

static unsigned int least_used(void)
{
	unsigned int i, least = 0;

	for (i = 1; i < OCF_FLOWS; i++)
		if (flows[i].users < flows[least].users)
			least = i;
	return least;
}

/* Its own, or a free one, or the one that is used least */
static unsigned int find(u32 owner)
{
	unsigned int i;

	lockdep_assert_held(&flows_lock);
	for_each_set_bit(i, &used, OCF_FLOWS)
		if (flows[i].owner == owner)
			return i;
	i = find_first_zero_bit(&used, OCF_FLOWS);
	return i < OCF_FLOWS ? i : least_used();
}

/**
 * ocf_flow_get() - the flow of an owner who opens something
 * @owner: ocf_session_params.owner
 *
 * Context: process or BH.
 * Return: 0 to OCF_FLOWS - 1; ocf_flow_put() gives it back.
 */
unsigned int ocf_flow_get(u32 owner)
{
	unsigned int flow;

	spin_lock_bh(&flows_lock);
	flow = find(owner);
	if (!flows[flow].users++) {
		flows[flow].owner = owner;
		__set_bit(flow, &used);
	}
	spin_unlock_bh(&flows_lock);
	return flow;
}

/* Context: process or BH. */
void ocf_flow_put(unsigned int flow)
{
	spin_lock_bh(&flows_lock);
	if (!--flows[flow].users)
		__clear_bit(flow, &used);
	spin_unlock_bh(&flows_lock);
}
