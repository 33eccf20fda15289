/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Load for cards: the map of the module.
 *
 * control.c reads the users from a file in debugfs, load.c runs them, policy.c
 * chooses cards where the core is not to, stats.c prints the results.
 *
 * All requests are of the null cipher and in place, so that no data are
 * touched: they share one buffer.
 */
#ifndef BENCH_SCHED_H
#define BENCH_SCHED_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/ocf.h>
#include <linux/spinlock.h>

#include "../../kernel/compat.h"

struct seq_file;

#define USERS_MAX	4
#define CARDS_MAX	8
#define SIZE_MAX_BYTES	65536
#define POOL_MAX	8192	/* requests a user may have under way */

/**
 * enum policy - who chooses the card
 * @POLICY_CORE: the core, of all cards there are
 * @POLICY_RR: this module: the cards in turn
 * @POLICY_FEWEST: this module: each session keeps the card that had the fewest
 *	sessions when it was opened
 * @POLICY_SPLIT: we, by size: the first half of the cards for small ones
 * @POLICY_JSQ: this module: the card with the fewest requests of this user
 * @POLICY_COUNT: how many there are
 */
enum policy {
	POLICY_CORE,
	POLICY_RR,
	POLICY_FEWEST,
	POLICY_SPLIT,
	POLICY_JSQ,
	POLICY_COUNT
};

/* Latencies by power of two, and by 256ths of it. */
#define HIST_BITS	8
#define HIST_BUCKETS	(64 << HIST_BITS)

/**
 * struct stats - how it went, in the time that is measured
 * @done: requests completed
 * @bytes: of those
 * @errors: that failed
 * @refused: requests that could not be submitted
 * @dropped: that arrived when none of the user's requests was idle
 * @begun: requests begun in that time; the fields below are about those of them
 *	that have completed
 * @latency: ns, sum
 * @latency_max: ns
 * @hist: ns
 */
struct stats {
	u64	done;
	u64	bytes;
	u64	errors;
	u64	refused;
	u64	dropped;
	u64	begun;
	u64	latency;
	u64	latency_max;
	u32	hist[HIST_BUCKETS];
};

struct party;

/* A request of a user's. */
struct shot {
	struct ocf_request	req;
	struct party		*user;
	struct list_head	node;		/* while it is not under way */
	u32			session;
	int			card;		/* our choice, or -1 */
	u64			begun;		/* ns */
	bool			counts;
};

/**
 * struct party - somebody with requests
 * @policy: how cards are chosen
 * @owner: ocf_session_params.owner
 * @nsessions: sessions, each of as much work
 * @inflight: requests that are always under way; 0: requests arrive at random,
 *	see @gap
 * @gap: ns between requests in the mean, Poisson arrivals
 * @size_min: bytes; sizes are from there
 * @size_max: to there, in steps of 64, equally frequent
 * @pool: requests there are
 * @ncards: cards of @card
 * @card: device numbers of the cards, used if the core does not choose
 * @random: state of the generator
 * @lock: protects all that follows
 * @shots: requests
 * @idle: those that are not under way
 * @sessions: one for each of @nsessions, or one for each card if we choose the
 *	card
 * @queued: of ours, by card
 * @turn: round robin of cards
 * @timer: the next arrival
 * @arrival: ns, when that is
 * @stats: how it goes
 */
struct party {
	enum policy		policy;
	u32			owner;
	u32			nsessions;
	u32			inflight;
	u32			gap;
	u32			size_min;
	u32			size_max;
	u32			pool;
	u32			ncards;
	u32			card[CARDS_MAX];
	u64			random;
	spinlock_t		lock;
	struct shot		*shots;
	struct list_head	idle;
	struct ocf_session	**sessions;
	u32			queued[CARDS_MAX];
	u32			turn;
	struct hrtimer		timer;
	u64			arrival;
	struct stats		stats;
};

/**
 * struct run - all of them
 * @users: who
 * @nusers: how many
 * @measuring: the time is between @begin and @end
 * @stopping: nothing new is begun
 * @begin: ns, where measuring begins
 * @end: ns, where it ends
 * @edge: timer that expires at @begin and at @end
 * @idle_us: CPU time nobody needed, all CPUs
 * @ticks: cycles that we needed ourselves
 * @under_way: requests
 */
struct run {
	struct party		users[USERS_MAX];
	u32			nusers;
	bool			measuring;
	bool			stopping;
	u64			begin;
	u64			end;
	struct hrtimer		edge;
	u64			idle_us;
	atomic64_t		ticks;
	atomic_t		under_way;
};

/* load.c */
extern struct run run;
int load_init(void);
void load_exit(void);
int load_open(struct party *u);
void load_close(struct party *u);
void load_start(u64 warm_ns, u64 ns);
bool load_ended(void);
u64 load_idle_us(void);

/* policy.c */
int policy_card(struct party *u, const struct shot *s, u32 size);
u64 random_ns(struct party *u, u32 mean);
u32 random_size(struct party *u);
u32 random_session(struct party *u);

/* stats.c */
void stats_add(struct stats *st, u64 ns);
void stats_show(struct seq_file *m, const struct party *u);

#endif /* BENCH_SCHED_H */
