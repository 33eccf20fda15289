// SPDX-License-Identifier: GPL-2.0-only
/*
 * The crossover: the smallest size at which a card is faster than the CPU.
 *
 * Below it the CPU beats even an idle card.  Few such requests are compared,
 * and a library that asks for the crossover does them with a cipher of its own.
 * The crossover follows from the costs of devices and from the time until a
 * waiter wakes up, which is learned here.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/sizes.h>

#include "crossover.h"

/*
 * A wait corrects 1 / WAKE_GAIN of the estimate's error.  It counts as at most
 * WAKE_OUTLIER times the estimate, or WAKE_OUTLIER times WAKE_LEAST if that is
 * more.
 */
#define WAKE_GAIN	8
#define WAKE_OUTLIER	3
#define WAKE_LEAST	1000u	/* ns */

/* The sizes that are compared: powers of two from LEAST to MOST, in bytes */
#define LEAST	SZ_64
#define MOST	SZ_16M

/*
 * ns from a card's completion until the waiter runs, on an idle CPU.  (A busy
 * CPU works for others meanwhile, and would have more to do if requests went to
 * it.)  A task that does its own work need not be woken.
 */
u32 ocf_wake_ns;

/**
 * ocf_crossover_woken() - learn what it costs to wait for a card
 * @ns: from its completion, on an idle CPU, until the waiter went on
 *
 * Context: any.
 */
void ocf_crossover_woken(u64 ns)
{
	u32 was = READ_ONCE(ocf_wake_ns);
	s64 most = (s64)WAKE_OUTLIER * max(was, WAKE_LEAST);

	WRITE_ONCE(ocf_wake_ns, was + (min_t(s64, ns, most) - was) / WAKE_GAIN);
}

/* Whether each card's fixed cost is more than @ns, the CPU's whole cost. */
static bool cards_cost_more(const struct ocf_session *ses, int soft,
			    const struct ocf_request *req, u64 ns)
{
	u64 cards = READ_ONCE(ses->capable) & ~BIT_ULL(soft);
	struct ocf_device *dev;
	int i;

	for (; cards; cards &= ~BIT_ULL(i)) {
		i = __ffs64(cards);
		dev = ocf_device_at(i);
		if (dev && ocf_device_cost(dev, &ses->params, req->op, 0) +
			   READ_ONCE(dev->lag) + ocf_wake_latency(req) <= ns)
			return false;
	}
	return true;
}

/**
 * ocf_crossover_learn() - learn from a comparison that has chosen the CPU
 * @req: the request
 * @ns: what it costs on the CPU
 *
 * If no card could have been faster, the next OCF_EXPLORE - 1 requests of the
 * session that are no larger are not compared.  A comparison takes a tenth of
 * the time of a small request.
 *
 * Context: process or BH, after ocf_read_lock().
 */
void ocf_crossover_learn(const struct ocf_request *req, u64 ns)
{
	struct ocf_session *ses = req->session;
	int soft = READ_ONCE(ses->soft);
	bool sure = soft >= 0 && ses->params.policy != OCF_POLICY_CPU &&
		    cards_cost_more(ses, soft, req, ns * (req->behind + 1));
	u32 crossover = READ_ONCE(ses->crossover[req->op]);

	/*
	 * keep a larger crossover that was found before, until a comparison
	 * contradicts it
	 */
	WRITE_ONCE(ses->crossover[req->op],
		   sure ? max(crossover, ocf_total(req->bytes, req->behind)) :
			  0);
	WRITE_ONCE(ses->uncompared, sure ? OCF_EXPLORE - 1 : 0);
}

/*
 * Whether an idle card completes @bytes before the CPU would.  With @many
 * requests in flight the card's lag does not count, because no task waits for a
 * single one.
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
			best = min(best, ns + READ_ONCE(ocf_wake_ns) +
					 (many ? 0 : READ_ONCE(dev->lag)));
	}
	if (ses->params.policy == OCF_POLICY_CPU && cpu != U64_MAX)
		cpu += OCF_CPU_PRICE;
	return best < cpu;
}

/*
 * Returns the smallest size at which a card is faster than the CPU: bytes, a
 * power of two, or 0 if no card is faster at any size.
 */
static u32 find_crossover(struct ocf_session *ses, bool many)
{
	u32 bytes;

	for (bytes = LEAST; bytes <= MOST; bytes *= 2)
		if (card_is_better(ses, bytes, many))
			return bytes;
	return 0;
}

u32 ocf_session_crossover(struct ocf_session *ses, bool many)
{
	u32 bytes;

	ocf_read_lock();
	bytes = find_crossover(ses, many);
	ocf_read_unlock();
	return bytes;
}
OCF_EXPORT(ocf_session_crossover);
