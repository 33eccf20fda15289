// SPDX-License-Identifier: GPL-2.0-only
/*
 * The continuous health tests of NIST SP 800-90B, 4.4.
 *
 * A healthy source fails a test with a probability of at most 2^-40 per sample
 * or window.  That is the lowest that the standard recommends, because a source
 * that has failed is cut off until the administrator looks at it.
 *
 * They find coarse failures.  The first test finds a source that repeats one
 * value, at its cut-off.  The second finds a value that comes too often, at the
 * latest by the end of the first window that begins with this value.  If a
 * fraction p of all samples has this value, that is the (1 / p)th window on
 * average.  They do not find a sequence that repeats after some hundred values,
 * or any other dependence of samples on each other.
 */
#include <linux/kernel.h>

#include "health.h"

#define ALPHA	40		/* -log2 of the probability */
#define STEPS	64		/* of min-entropy, 1/8 bit of a byte each */

/*
 * Cut-offs of the adaptive proportion test: 1 + CRITBINOM(512, 2^-H, 1 -
 * 2^-40), where H is (i + 1) / 8 bits a sample.
 */
static const u16 same_max[STEPS] = {
	506, 483, 458, 432, 406, 382, 358, 336, 315, 296, 277, 260, 244, 229,
	215, 201, 189, 178, 167, 157, 148, 139, 131, 123, 116, 109, 103, 97,
	92, 87, 82, 78, 74, 70, 66, 63, 60, 57, 54, 51, 49, 47, 44, 42, 41, 39,
	37, 35, 34, 33, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 21, 20, 19,
};

/**
 * ocf_health_init() - start the tests of a source, for the first time or again
 * @h: filled in
 * @entropy: bits of min-entropy that it claims for 1024 bits of its output,
 *	OCF_ENTROPY_MIN to OCF_ENTROPY_MAX
 *
 * Context: any.
 */
void ocf_health_init(struct ocf_health *h, u32 entropy)
{
	u32 step = entropy * STEPS / OCF_ENTROPY_MAX;

	*h = (struct ocf_health){
		/* 1 + ceil(ALPHA / H) with H = entropy * 8 / 1024 bits */
		.repeats_max = 1 + DIV_ROUND_UP(ALPHA * OCF_ENTROPY_MAX,
						entropy * 8),
		.same_max = same_max[step - 1],
	};
}

static bool repeats(struct ocf_health *h, u8 sample)
{
	if (!h->begun || sample != h->last) {
		h->begun = true;
		h->last = sample;
		h->repeats = 0;
	}
	return ++h->repeats >= h->repeats_max;
}

static bool is_biased(struct ocf_health *h, u8 sample)
{
	if (!h->seen) {
		h->first = sample;
		h->same = 0;
	}
	if (++h->seen == OCF_HEALTH_WINDOW)
		h->seen = 0;
	return sample == h->first && ++h->same >= h->same_max;
}

/**
 * ocf_health_test() - test samples
 * @h: the state of the tests
 * @samples: in the order in which they came
 * @n: how many
 *
 * Context: any.
 * Return: OCF_HEALTHY, or the test that failed.
 */
enum ocf_verdict ocf_health_test(struct ocf_health *h, const u8 *samples, u32 n)
{
	for (; n; samples++, n--) {
		if (repeats(h, *samples))
			return OCF_REPEATS;
		if (is_biased(h, *samples))
			return OCF_BIASED;
	}
	return OCF_HEALTHY;
}
