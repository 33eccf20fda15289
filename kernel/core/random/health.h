/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Health of a source of random numbers: the continuous tests of NIST SP 800-90B
 * (January 2018), 4.4.
 *
 * Pure: samples in, a verdict out.  Also compiled for user space.
 */
#ifndef OCF_HEALTH_H
#define OCF_HEALTH_H

#include <linux/types.h>

/* Samples of the adaptive proportion test's window: 4.4.2, not binary */
#define OCF_HEALTH_WINDOW	512

/* Samples before a source is believed: 4.3, requirement 4 */
#define OCF_HEALTH_START	1024

/* Bits of min-entropy in 1024 of output that a source may claim */
#define OCF_ENTROPY_MIN		16
#define OCF_ENTROPY_MAX		1024

enum ocf_verdict {
	OCF_HEALTHY,
	OCF_REPEATS,		/* the repetition count test, 4.4.1 */
	OCF_BIASED,		/* the adaptive proportion test, 4.4.2 */
};

/**
 * struct ocf_health - the state of the tests
 * @repeats_max: samples of one value in a row that are too many
 * @same_max: samples of one value in a window that are too many
 * @begun: there was a sample
 * @last: the latest
 * @repeats: samples of its value in a row
 * @first: of the window
 * @same: samples in the window that equal @first, with @first itself
 * @seen: samples of the window so far
 *
 * A sample is a byte.
 */
struct ocf_health {
	u16	repeats_max;
	u16	same_max;
	bool	begun;
	u8	last;
	u16	repeats;
	u8	first;
	u16	same;
	u16	seen;
};

void ocf_health_init(struct ocf_health *h, u32 entropy);
enum ocf_verdict ocf_health_test(struct ocf_health *h, const u8 *samples,
				 u32 n);

#endif /* OCF_HEALTH_H */
