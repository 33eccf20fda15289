// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flows: numbers that tell owners apart wherever requests wait: for a device,
 * for a worker, in the queues of public-key operations.
 *
 * An owner that has a session open, or a public-key operation, has a flow of
 * its own.  With more than OCF_FLOWS owners at a time, a new one shares the
 * flow with the fewest users.  If a hash of the owner chose the flow, an
 * attacker could choose an owner that shares a victim's flow.
 */
#include "../core.h"

/* The first owner of each flow, and how often the flow is in use */
static struct {
	u32		owner;
	unsigned int	users;
} flows[OCF_FLOWS];

static unsigned long used;	/* those with users, a bit each */
static DEFINE_SPINLOCK(flows_lock);

static unsigned int least_used_flow(void)
{
	unsigned int i, least = 0;

	for (i = 1; i < OCF_FLOWS; i++)
		if (flows[i].users < flows[least].users)
			least = i;
	return least;
}

/* The flow of @owner, or a free one, or the one with the fewest users */
static unsigned int find_flow(u32 owner)
{
	unsigned int i;

	lockdep_assert_held(&flows_lock);
	for_each_set_bit(i, &used, OCF_FLOWS)
		if (flows[i].owner == owner)
			return i;
	i = find_first_zero_bit(&used, OCF_FLOWS);
	return i < OCF_FLOWS ? i : least_used_flow();
}

/**
 * ocf_flow_get() - use the flow of an owner
 * @owner: ocf_session_params.owner
 *
 * Context: process or BH.
 * Return: 0 to OCF_FLOWS - 1; ocf_flow_put() gives it back.
 */
unsigned int ocf_flow_get(u32 owner)
{
	unsigned int flow;

	spin_lock_bh(&flows_lock);
	flow = find_flow(owner);
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
