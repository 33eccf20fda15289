// SPDX-License-Identifier: BSD-2-Clause
/*
 * The choice of devices, simulated: kernel/core/sched/cost.c as it is, and the
 * policies it is compared with, on the same arrivals.
 *
 *	sim [MIX]	MIX: small, mixed, large
 *
 * Each device works on one request at a time, first come, first served; a
 * card's result is there a lag after.  Arrivals are Poisson, of SESSIONS
 * sessions that are not equally busy.  Costs are learned from completions as in
 * the kernel; the keys of a session are on a device KEYS_NS after the policy
 * first chose that device for the session.  Prints the mean latency and the
 * 99th percentile, us, and fails if at any point ours is more than WITHIN times
 * the best of all.
 *
 * Then one of four equal cards becomes slower for a while: 8 times, so that it
 * gets little work, or 50 times, so that it gets hardly any.  Prints how long
 * it takes until its share is right, and fails if that is more than MOVES_MS.
 */
#include <math.h>
#include <shim.h>

#include "../../kernel/core/sched/cost.h"

#define DEVICES_MAX	8
#define REQUESTS	200000
#define WARM		20000		/* not counted */
#define SESSIONS	16
#define DEPTH		64		/* of a card, for its policies */
#define THRESHOLD	2048		/* bytes */
#define WITHIN		1.15
#define KEYS_NS		100000.0	/* to make a context */
#define MOVES_MS	50
#define WINDOW		5e6		/* ns, in which a share is counted */

struct machine {
	const char	*name;
	int		devices;
	bool		software;	/* device 0 is the CPU */
	/* factor by which 2 us + 1 ns/B are multiplied */
	double		slow[DEVICES_MAX];
};

static const struct machine machines[] = {
	{ "one card", 1, false, { 1 } },
	{ "four equal cards", 4, false, { 1, 1, 1, 1 } },
	{ "four unequal cards", 4, false, { 1, 2, 4, 8 } },
	{ "four unequal cards and the CPU", 5, true, { 0, 1, 2, 4, 8 } },
};

struct mix {
	const char	*name;
	unsigned int	least, most;	/* bytes; a power of two between them */
};

static const struct mix mixes[] = {
	{ "small", 16, 256 },
	{ "mixed", 64, 16384 },
	{ "large", 4096, 16384 },
};

struct server {
	bool		cpu;
	double		base, per_byte, lag;	/* ns, true */
	double		free;			/* when it is done with all */
	double		last_done;
	struct ocf_cost	cost;			/* what is known */
	u32		known_lag;
	bool		woken;		/* as ocf_queue has it */
	u64		work;			/* estimated, not completed */
	int		sessions;		/* pinned to it */
	int		inside;
	double		keys[SESSIONS];		/* since when, or 0 */
};

/* A completion to come. */
struct event {
	double		at, begun;
	int		device;
	u32		bytes;
	u64		estimate;
};

static struct server servers[DEVICES_MAX];
static int nservers;
static struct event heap[REQUESTS];
static int nevents;
static int pinned[SESSIONS], turn, placements;
static u64 seed;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) / 9007199254740992.0;
}

static int below(int n)
{
	return uniform() * n;
}

/* ---- events ---- */

static void push(struct event e)
{
	int i = nevents++, up;

	for (; i && heap[up = (i - 1) / 2].at > e.at; i = up)
		heap[i] = heap[up];
	heap[i] = e;
}

static struct event pop(void)
{
	struct event first = heap[0], e = heap[--nevents];
	int i = 0, down;

	while ((down = 2 * i + 1) < nevents) {
		if (down + 1 < nevents && heap[down + 1].at < heap[down].at)
			down++;
		if (heap[down].at >= e.at)
			break;
		heap[i] = heap[down];
		i = down;
	}
	heap[i] = e;
	return first;
}

/* A completion, as the kernel learns from it. */
static void complete(struct event e)
{
	struct server *s = &servers[e.device];
	struct ocf_sample shown = { .latency = e.at - e.begun,
				    .gap = e.at - s->last_done };

	s->work -= e.estimate;
	s->inside--;
	if (ocf_sample_is_stale(&shown)) {
		s->woken = ocf_sample_wakes(&shown, e.estimate + s->known_lag,
					    s->woken);
		if (s->woken)
			return;
	}
	ocf_cost_learn(&s->cost, NULL, &s->known_lag, e.bytes, &shown);
	s->last_done = e.at;
}

/* ---- policies ---- */

static bool is_cpu(int i)
{
	return servers[i].cpu;
}

/* The papers': the card with the fewest sessions, and there it stays. */
static int fewest_sessions(int session, u32 bytes, double now)
{
	int i, best = -1;

	if (pinned[session] >= 0)
		return pinned[session];
	for (i = 0; i < nservers; i++)
		if (!is_cpu(i) && (best < 0 || servers[i].sessions <
				   servers[best].sessions))
			best = i;
	servers[best].sessions++;
	return pinned[session] = best;
}

static int round_robin(int session, u32 bytes, double now)
{
	return turn++ % nservers;
}

static int shortest_queue(int session, u32 bytes, double now)
{
	int i, best = 0;

	for (i = 1; i < nservers; i++)
		if (servers[i].inside < servers[best].inside)
			best = i;
	return best;
}

/* Small ones to the CPU, if there is one; the others to the shortest queue. */
static int threshold(int session, u32 bytes, double now)
{
	int i, best = -1;

	if (is_cpu(0) && bytes < THRESHOLD)
		return 0;
	for (i = 0; i < nservers; i++)
		if (!is_cpu(i) && (best < 0 ||
				   servers[i].inside < servers[best].inside))
			best = i;
	return best;
}

static struct ocf_candidate candidate(int i, u32 bytes, double now)
{
	struct server *s = &servers[i];

	return (struct ocf_candidate){
		.service = ocf_cost_ns(&s->cost, bytes), .load = s->work,
		.lag = s->known_lag, .device = i,
	};
}

/* Chooses among all devices by cost.c. */
static int of_all(int session, u32 bytes, double now)
{
	struct ocf_candidate c[DEVICES_MAX];
	int i;

	for (i = 0; i < nservers; i++)
		c[i] = candidate(i, bytes, now);
	return ocf_candidate_pick(c, nservers);
}

/* Returns a random card that is not in @tried; there must be one */
static int one_of_the_others(unsigned int tried)
{
	int i;

	do {
		i = below(nservers);
	} while (is_cpu(i) || tried & BIT(i));
	return i;
}

/* The CPU, and cards at random: at most @most of @c; returns how many */
static int some(struct ocf_candidate *c, int most, u32 bytes, double now)
{
	unsigned int tried = 0;
	int n = 0, i;

	if (is_cpu(0))
		c[n++] = candidate(0, bytes, now);
	while (n < most && n < nservers) {
		i = one_of_the_others(tried);
		tried |= BIT(i);
		c[n++] = candidate(i, bytes, now);
	}
	return n;
}

static int of_three(int session, u32 bytes, double now)
{
	struct ocf_candidate c[OCF_CANDIDATES];
	int n = some(c, 3, bytes, now);

	return c[ocf_candidate_pick(c, n)].device;
}

/* One of @c of which nothing was heard for long, or -1 */
static int stale_one(const struct ocf_candidate *c, int n, double now)
{
	const struct server *s;
	int i;

	for (i = 0; i < n; i++) {
		s = &servers[c[i].device];
		if (!s->inside && ocf_candidate_is_stale(now - s->last_done,
							 c[i].service, s->cpu))
			return i;
	}
	return -1;
}

static bool has_keys(int session, int device, double now)
{
	double since = servers[device].keys[session];

	return since && since <= now;
}

static void want_keys(int session, int device, double now)
{
	if (!servers[device].keys[session])
		servers[device].keys[session] = now + KEYS_NS;
}

/*
 * As select.c does it.  One difference: if no device has the keys, select.c
 * parks the request until one has them.  Here the request goes to device 0.
 */
static int ours(int session, u32 bytes, double now)
{
	struct ocf_candidate c[OCF_CANDIDATES];
	int n = some(c, OCF_CANDIDATES, bytes, now), i;
	bool look = !(++placements & (OCF_EXPLORE - 1));

	for (i = 0; i < n; i++)
		c[i].preferred = has_keys(session, c[i].device, now);
	for (; n; c[i] = c[--n]) {
		i = look ? stale_one(c, n, now) : -1;
		if (i < 0)
			i = ocf_candidate_pick(c, n);
		if (c[i].preferred)
			return c[i].device;
		want_keys(session, c[i].device, now);
	}
	return 0;
}

static const struct policy {
	const char *name;
	int (*choose)(int session, u32 bytes, double now);
} policies[] = {
	{ "fewest sessions", fewest_sessions },
	{ "round robin", round_robin },
	{ "shortest queue", shortest_queue },
	{ "threshold 2048", threshold },
	{ "soonest of all", of_all },
	{ "soonest of three", of_three },
	{ "ours", ours },
};

/* ---- a run ---- */

static void set_up(const struct machine *m)
{
	int i;

	nservers = m->devices;
	nevents = 0;
	turn = 0;
	placements = 0;
	seed = 88172645463325252ull;
	memset(servers, 0, sizeof(servers));
	for (i = 0; i < nservers; i++) {
		struct server *s = &servers[i];

		s->cpu = m->software && !i;
		s->base = s->cpu ? 300 : 2000 * m->slow[i];
		/* a CPU so slow that a card beside it is worth having */
		s->per_byte = s->cpu ? 5 : m->slow[i];
		s->lag = s->cpu ? 0 : 10000;
		/*
		 * as registration measures the costs, with one request at a
		 * time: the lag counts as well
		 */
		s->cost.base = s->base + s->lag;
		s->cost.slope = s->per_byte * 1024;
		s->last_done = -1;
	}
	for (i = 0; i < SESSIONS; i++)
		pinned[i] = -1;
}

static u32 draw_size(const struct mix *mix)
{
	int steps = ilog2(mix->most / mix->least) + 1;

	return mix->least << below(steps);
}

/* Zipf, more or less: the nth is n times less busy than the first */
static int draw_session(void)
{
	return (int)(pow(SESSIONS + 1, uniform())) - 1;
}

static double mean_service(const struct server *s, const struct mix *mix)
{
	double sum = 0;
	int n = 0;
	u32 size;

	for (size = mix->least; size <= mix->most; size *= 2, n++)
		sum += s->base + s->per_byte * size;
	return sum / n;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Returns the requests per ns that the cards can do at most */
static double capacity(const struct mix *mix)
{
	double rate = 0;
	int i;

	for (i = 0; i < nservers; i++)
		if (!servers[i].cpu)
			rate += 1 / mean_service(&servers[i], mix);
	return rate;
}

static void proceed(double now)
{
	while (nevents && heap[0].at <= now)
		complete(pop());
}

/* Gives a request to device @d; returns when it will be done. */
static double give(int d, u32 bytes, double now)
{
	struct server *s = &servers[d];
	struct event e = { .begun = now, .device = d, .bytes = bytes,
			   .estimate = ocf_cost_ns(&s->cost, bytes) };

	s->free = fmax(s->free, now) + s->base + s->per_byte * bytes;
	e.at = s->free + s->lag;
	s->work += e.estimate;
	s->inside++;
	push(e);
	return e.at;
}

static double next_arrival(double now, double rate)
{
	return now - log(1 - uniform()) / rate;
}

static void run(const struct policy *p, const struct machine *m,
		const struct mix *mix, double load, double *mean, double *p99)
{
	static double latency[REQUESTS];
	double now = 0, rate, sum = 0;
	int i;

	set_up(m);
	rate = capacity(mix) * load;
	for (i = 0; i < REQUESTS; i++) {
		u32 bytes = draw_size(mix);
		int session = draw_session();

		now = next_arrival(now, rate);
		proceed(now);
		latency[i] = give(p->choose(session, bytes, now), bytes, now) -
			     now;
	}
	for (i = WARM; i < REQUESTS; i++)
		sum += latency[i];
	*mean = sum / (REQUESTS - WARM);
	qsort(latency + WARM, REQUESTS - WARM, sizeof(*latency), by_value);
	*p99 = latency[WARM + (int)((REQUESTS - WARM) * 0.99)];
}

/* The factor between our mean and the best, at the worst load */
static double table(const struct machine *m, const struct mix *mix,
		    bool only_ours)
{
	static const int loads[] = { 30, 70, 90 };
	enum { LOADS = ARRAY_SIZE(loads), OURS = ARRAY_SIZE(policies) - 1 };
	double mean, p99, best[LOADS], worst = 1;
	unsigned int i, j;

	printf("\n%s, %s sizes (%u to %u bytes): mean (p99), us\n", m->name,
	       mix->name, mix->least, mix->most);
	printf("%-24s", "load");
	for (j = 0; j < LOADS; j++) {
		printf("%20d%%", loads[j]);
		best[j] = INFINITY;
	}
	putchar('\n');
	for (i = only_ours ? OURS : 0; i < ARRAY_SIZE(policies); i++) {
		printf("%-24s", policies[i].name);
		for (j = 0; j < LOADS; j++) {
			run(&policies[i], m, mix, loads[j] / 100., &mean, &p99);
			printf("%10.1f (%8.1f)", mean / 1000, p99 / 1000);
			best[j] = fmin(best[j], mean);
			if (i == OURS)
				worst = fmax(worst, mean / best[j]);
		}
		putchar('\n');
	}
	return worst;
}

static void slow_down(struct server *s, double factor)
{
	s->base *= factor;
	s->per_byte *= factor;
}

/*
 * ms until a whole window in which card 0 has at least @least and at most @most
 * of all bytes; INFINITY if there is none in ten times MOVES_MS
 */
static double moves(double *now, double rate, const struct mix *mix,
		    double least, double most)
{
	double begun = *now, window = *now, all = 0, part = 0, share;

	while (*now - begun < 10e6 * MOVES_MS) {
		u32 bytes = draw_size(mix);
		int d;

		*now = next_arrival(*now, rate);
		proceed(*now);
		d = ours(draw_session(), bytes, *now);
		give(d, bytes, *now);
		all += bytes;
		part += d ? 0 : bytes;
		if (*now - window < WINDOW)
			continue;
		share = part / all;
		if (share >= least && share <= most)
			return (*now - begun) / 1e6;
		window = *now;
		all = part = 0;
	}
	return INFINITY;
}

/* The longest that work takes to move from a card that got slow, or back, ms */
static double moving(double slower)
{
	double fair = 1 / (3 * slower + 1);
	const struct mix *mix = &mixes[1];
	double now = 0, rate, there, back;

	set_up(&machines[1]);
	rate = capacity(mix) * 0.5;
	moves(&now, rate, mix, 0.2, 0.3);
	slow_down(&servers[0], slower);
	there = moves(&now, rate, mix, 0, 2 * fair);
	slow_down(&servers[0], 1 / slower);
	back = moves(&now, rate, mix, 0.2, 0.3);
	printf("\none of four cards %.0f times slower: ", slower);
	printf("work moves within %.0f ms, and back within %.0f (%d allowed)\n",
	       there, back, MOVES_MS);
	return fmax(there, back);
}

/* route [--ours]: all policies, or only that of the kernel */
int main(int argc, char **argv)
{
	bool only_ours = argc > 1 && !strcmp(argv[1], "--ours");
	double worst = 1, longest;
	unsigned int m, x;

	for (m = 0; m < ARRAY_SIZE(machines); m++)
		for (x = 0; x < ARRAY_SIZE(mixes); x++)
			worst = fmax(worst, table(&machines[m], &mixes[x],
						  only_ours));
	longest = moving(8);
	longest = fmax(longest, moving(50));
	printf("\nours is at most %.2f times the best (%.2f allowed)\n", worst,
	       WITHIN);
	return worst > WITHIN || longest > MOVES_MS;
}
