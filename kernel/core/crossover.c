// SPDX-License-Identifier: GPL-2.0-only
/*
 * The size at which a card is worth the way.
 *
 * Below it the CPU is done sooner than any card, however idle: such requests
 * need not be compared, and whoever asks before he comes (a library, with its
 * own cipher at hand) need not come at all.  It follows from what devices cost,
 * and from what it costs to wait for one, which is learnt here.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/sizes.h>

#include "crossover.h"
#include "route.h"

/* The error of a wait counts 1 / WAKE_GAIN, and no wait for more than ... */
#define WAKE_GAIN	8
#define WAKE_OUTLIER	3	/* ... so many times what is known, */
#define WAKE_LEAST	1000u	/* ns, or as many times this */

/* Bytes that are looked at, in powers of two */
#define LEAST	SZ_64
#define MOST	SZ_16M

/*
 * ns from a card's completion until who waits for it goes on, where the CPU had
 * nothing else to do.  (Where it has, the wait is others' work, and there would
 * be more of that if requests went to the CPU for it.)  Who does the work
 * himself need not be woken.
 */
u32 ocf_wake;

/**
 * ocf_crossover_woken() - learn what it costs to wait for a card
 * @ns: from its completion, on an idle CPU, until the waiter went on
 *
 * Context: any.
 */
void ocf_crossover_woken(u64 ns)
{
	u32 was = READ_ONCE(ocf_wake);
	s64 most = (s64)WAKE_OUTLIER * max(was, WAKE_LEAST);

	WRITE_ONCE(ocf_wake, was + (min_t(s64, ns, most) - was) / WAKE_GAIN);
}

/* Whether what is fixed of any card's cost is more than @ns, all the CPU's */
static bool cards_are_dearer(const struct ocf_session *ses, int soft,
			     const struct ocf_request *req, u64 ns)
{
	u64 cards = READ_ONCE(ses->capable) & ~BIT_ULL(soft);
	struct ocf_device *dev;
	int i;

	for (; cards; cards &= ~BIT_ULL(i)) {
		i = __ffs64(cards);
		dev = ocf_device_at(i);
		if (dev && ocf_device_cost(dev, &ses->params, req->op, 0) +
			   READ_ONCE(dev->lag) + ocf_way_back(req) <= ns)
			return false;
	}
	return true;
}

/**
 * ocf_crossover_learn() - the CPU was chosen after a comparison
 * @req: for this request
 * @ns: what it costs there
 *
 * If that goes without saying for a request of this size, the next such
 * requests of the session are not compared: that costs a tenth of what a small
 * one takes.
 *
 * Context: process or BH, after ocf_read_lock().
 */
void ocf_crossover_learn(const struct ocf_request *req, u64 ns)
{
	struct ocf_session *ses = req->session;
	int soft = READ_ONCE(ses->soft);
	bool sure = soft >= 0 && ses->params.policy != OCF_POLICY_CPU &&
		    cards_are_dearer(ses, soft, req, ns * (req->behind + 1));
	u32 small = READ_ONCE(ses->small[req->op]);

	/* what was found of more bytes holds until it is found to be wrong */
	WRITE_ONCE(ses->small[req->op],
		   sure ? max(small, ocf_total(req->bytes, req->behind)) : 0);
	WRITE_ONCE(ses->spared, sure ? OCF_EXPLORE - 1 : 0);
}

/*
 * Whether a card that is idle would have @bytes done before the CPU has; or, if
 * @many are under way so that nobody waits for one, in less time of its own.
 */
static bool card_is_better(struct ocf_session *ses, u32 bytes, bool many)
{
	u64 devices = READ_ONCE(ses->capable), best = U64_MAX, cpu = U64_MAX;
	int soft = READ_ONCE(ses->soft), i;
	struct ocf_device *dev;
	u64 ns;

	for (; devices; devices &= ~BIT_ULL(i)) {
		i = __ffs64(devices);
		dev = ocf_device_at(i);
		if (!dev || !ocf_device_serves(dev, ses))
			continue;
		ns = ocf_device_cost(dev, &ses->params, OCF_OP_ENCRYPT, bytes);
		if (i == soft)
			cpu = ns;
		else
			best = min(best, ns + READ_ONCE(ocf_wake) +
					 (many ? 0 : READ_ONCE(dev->lag)));
	}
	if (ses->params.policy == OCF_POLICY_CPU && cpu != U64_MAX)
		cpu += OCF_CPU_PRICE;
	return best < cpu;
}

/**
 * ocf_crossover() - from which size on cards are worth the way
 * @ses: the session
 * @many: many requests are under way at a time
 *
 * Context: process or BH, after ocf_read_lock().
 * Return: bytes, a power of two; 0: they never are.
 */
u32 ocf_crossover(struct ocf_session *ses, bool many)
{
	u32 bytes;

	for (bytes = LEAST; bytes <= MOST; bytes *= 2)
		if (card_is_better(ses, bytes, many))
			return bytes;
	return 0;
}
