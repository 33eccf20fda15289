// SPDX-License-Identifier: GPL-2.0-only
/*
 * How it went: counts, and latencies in buckets 0.4 % wide.
 */
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/seq_file.h>

#include "bench_sched.h"

static u32 bucket(u64 ns)
{
	u32 log = ns >> HIST_BITS ? ilog2(ns) - HIST_BITS : 0;

	/* below 2^HIST_BITS each ns has its own */
	return (log << HIST_BITS) + (ns >> log);
}

/* The middle of a bucket, ns */
static u64 middle(u32 n)
{
	u32 log = n >> HIST_BITS ? (n >> HIST_BITS) - 1 : 0;
	u64 first = (u64)(n - (log << HIST_BITS)) << log;

	return first + (1ull << log) / 2;
}

void stats_add(struct stats *st, u64 ns)
{
	st->latency += ns;
	st->latency_max = max(st->latency_max, ns);
	st->hist[min(bucket(ns), HIST_BUCKETS - 1u)]++;
}

/* The latency, in ns, that @permille of all requests do not exceed */
static u64 quantile(const struct stats *st, u64 n, u32 permille)
{
	u64 below = 0;
	u32 i;

	for (i = 0; i < HIST_BUCKETS; i++) {
		below += st->hist[i];
		if (below * 1000 >= n * permille && below)
			return middle(i);
	}
	return 0;
}

void stats_show(struct seq_file *m, const struct party *u)
{
	const struct stats *st = &u->stats;
	u64 n = 0;
	u32 i;

	for (i = 0; i < HIST_BUCKETS; i++)
		n += st->hist[i];
	seq_printf(m, "{\"done\": %llu, \"bytes\": %llu, ", st->done,
		   st->bytes);
	seq_printf(m, "\"errors\": %llu, \"refused\": %llu, \"dropped\": %llu, ",
		   st->errors, st->refused, st->dropped);
	seq_printf(m, "\"begun\": %llu, \"ended\": %llu, ", st->begun, n);
	seq_printf(m, "\"mean_ns\": %llu, ", n ? div64_u64(st->latency, n) : 0);
	seq_printf(m, "\"p50_ns\": %llu, \"p99_ns\": %llu, \"max_ns\": %llu}",
		   quantile(st, n, 500), quantile(st, n, 990),
		   st->latency_max);
}
