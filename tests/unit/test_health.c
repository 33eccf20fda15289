// SPDX-License-Identifier: BSD-2-Clause
/*
 * The health tests of SP 800-90B: the cut-offs are those of the standard; a
 * source fails at the cut-off and not one sample before; and good bytes pass.
 */
#include <kselftest_harness.h>
#include <math.h>
#include <stdlib.h>

#include "../../kernel/core/random/health.h"

#define STEPS	64
#define W	OCF_HEALTH_WINDOW

/* Returns 1 + CRITBINOM(W, p, 1 - 2^-40), by adding from the far end. */
static int critical(long double p)
{
	long double tail = 0, all = lgammal(W + 1);
	int k;

	for (k = W; k >= 0; k--) {
		tail += expl(all - lgammal(k + 1) - lgammal(W - k + 1) +
			     k * logl(p) + (W - k) * log1pl(-p));
		if (tail > ldexpl(1, -40))
			break;
	}
	return 1 + k;
}

TEST(cut_offs)
{
	struct ocf_health h;
	uint32_t entropy;
	int step;

	for (entropy = OCF_ENTROPY_MIN; entropy <= OCF_ENTROPY_MAX; entropy++) {
		ocf_health_init(&h, entropy);
		ASSERT_EQ(1 + (int)ceill(40 / (entropy * 8 / 1024.L)),
			  h.repeats_max)
			TH_LOG("%u", entropy);
		/* a claim between two steps is tested as the lower one */
		step = entropy * STEPS / 1024;
		ASSERT_EQ(critical(exp2l(-step / 8.L)), h.same_max)
			TH_LOG("%u", entropy);
		ASSERT_LE(h.same_max, W);
	}
}

TEST(one_value)
{
	static const uint32_t claims[] = { 16, 17, 128, 512, 1000, 1024 };
	struct ocf_health h;
	uint8_t byte = 7;
	int c, i;

	for (c = 0; c < 6; c++) {
		ocf_health_init(&h, claims[c]);
		for (i = 1; i < h.repeats_max && i < h.same_max; i++)
			ASSERT_EQ(OCF_HEALTHY, ocf_health_test(&h, &byte, 1));
		ASSERT_EQ(h.repeats_max <= h.same_max ? OCF_REPEATS :
							OCF_BIASED,
			  ocf_health_test(&h, &byte, 1));
	}
}

/*
 * Tests a window in which one value occurs @times times, never twice in a row.
 */
static enum ocf_verdict window(struct ocf_health *h, int times)
{
	uint8_t bytes[W];
	int i;

	for (i = 0; i < W; i++)
		bytes[i] = i % 2 || i / 2 >= times ? 1 + i % 251 : 0;
	return ocf_health_test(h, bytes, W);
}

TEST(one_value_too_often)
{
	static const uint32_t claims[] = { 256, 512, 1000, 1024 };
	struct ocf_health h;
	int c, i;

	for (c = 0; c < 4; c++) {
		ocf_health_init(&h, claims[c]);
		ASSERT_LT(h.same_max, W / 2);
		for (i = 0; i < 5; i++)
			ASSERT_EQ(OCF_HEALTHY, window(&h, h.same_max - 1));
		ASSERT_EQ(OCF_BIASED, window(&h, h.same_max));
	}
}

/*
 * A window detects the frequent value only if it begins with that value.  On
 * average the fifth window does.
 */
TEST(one_in_five_is_the_same)
{
	struct ocf_health h;
	int start, i, windows = 0;
	uint8_t byte;

	srandom(1);
	for (start = 0; start < 100; start++) {
		ocf_health_init(&h, 1024);
		for (i = 0; i < start * 13; i++) {
			byte = random();
			ASSERT_EQ(OCF_HEALTHY, ocf_health_test(&h, &byte, 1));
		}
		do {
			byte = random() % 5 ? random() : 0x5a;
			i++;
		} while (!ocf_health_test(&h, &byte, 1));
		ASSERT_LT(i, (start * 13 / W + 50) * W);
		windows += i / W - start * 13 / W;
	}
	EXPECT_LT(300, windows);
	EXPECT_GT(700, windows);
}

TEST(good_bytes)
{
	struct ocf_health h;
	uint8_t bytes[1000];
	int i, j;

	srandom(2);
	ocf_health_init(&h, 1024);
	for (i = 0; i < 5000; i++) {
		for (j = 0; j < 1000; j++)
			bytes[j] = random() >> 8;
		/* in pieces of any size */
		j = i % 1000;
		ASSERT_EQ(OCF_HEALTHY, ocf_health_test(&h, bytes, j));
		ASSERT_EQ(OCF_HEALTHY,
			  ocf_health_test(&h, bytes + j, 1000 - j));
	}
}

/* These tests do not detect a period.  This test documents it. */
TEST(a_period_they_do_not_see)
{
	struct ocf_health h;
	int i;

	ocf_health_init(&h, 1024);
	for (i = 0; i < 1000000; i++) {
		uint8_t byte = i;

		ASSERT_EQ(OCF_HEALTHY, ocf_health_test(&h, &byte, 1));
	}
}

TEST_HARNESS_MAIN
