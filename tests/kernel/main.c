// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the suites in TAP's form, a line each in the kernel's log.
 *
 *	insmod ocf_test.ko [seed=N] [seconds=N] [only=NAME]
 */
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include "../../kernel/compat.h"
#include "test.h"

static unsigned int seed; module_param(seed, uint, 0444); MODULE_PARM_DESC(seed,
"seed of all random numbers; 0: choose one");

unsigned int test_seconds = 5;
module_param_named(seconds, test_seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "that each stress test takes");

static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "the one test to run");

static struct rnd_state rnd;
static DEFINE_SPINLOCK(rnd_lock);

u32 test_random(u32 below)
{
	u32 r;

	spin_lock_bh(&rnd_lock);
	r = prandom_u32_state(&rnd);
	spin_unlock_bh(&rnd_lock);
	return below ? r % below : r;
}

void test_fail(struct test *t, const char *file, int line, const char *what,
	       long long have, long long want)
{
	const char *base = strrchr(file, '/');

	t->failed++;
	pr_err("# %s: %s:%d: %s is %lld, not %lld\n", t->name,
	       base ? base + 1 : file, line, what, have, want);
}

static int run_suite(const struct test_case *c, int *n)
{
	int failed = 0;

	for (; c->name; c++) {
		struct test t = { .name = c->name };

		if (*only && strcmp(only, c->name))
			continue;
		c->run(&t);
		pr_info("ocf_test: %sok %d %s\n", t.failed ? "not " : "", ++*n,
			c->name);
		failed += !!t.failed;
	}
	return failed;
}

static int __init test_init(void)
{
	static const struct test_case * const suites[] = {
		session_tests, request_tests, cancel_tests, order_tests,
		device_tests, failure_tests, fair_tests, room_tests,
		scatter_tests, split_tests, pk_tests, stress_tests,
	};
	int failed = 0, n = 0, i;

	if (!seed)
		seed = get_random_u32();
	prandom_seed_state(&rnd, seed);
	pr_info("ocf_test: seed=%u\n", seed);
	for (i = 0; i < ARRAY_SIZE(suites); i++)
		failed += run_suite(suites[i], &n);
	pr_info("ocf_test: %d of %d passed\n", n - failed, n);
	return failed || !n ? -EIO : 0;
}

static void __exit test_exit(void)
{
}

module_init(test_init);
module_exit(test_exit);

OCF_IMPORT();
MODULE_DESCRIPTION("OCF for Linux: tests of the kernel's side");
MODULE_LICENSE("GPL");
