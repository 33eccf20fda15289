// SPDX-License-Identifier: GPL-2.0-only
/*
 * The load itself: requests that are always under way, or that come when
 * chance says so.  Everything after the start happens in BH.
 */
#include <asm/msr.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/tick.h>
#include <linux/vmalloc.h>

#include "bench_sched.h"

struct run run;

static struct scatterlist buffer;

/* us that the CPUs were idle, of all of them */
u64 load_idle_us(void)
{
	u64 sum = 0;
	int cpu;

	for_each_online_cpu(cpu)
		sum += get_cpu_idle_time_us(cpu, NULL) +
		       get_cpu_iowait_time_us(cpu, NULL);
	return sum;
}

static void count_ticks(u64 n)
{
	if (READ_ONCE(run.measuring))
		atomic64_add(n, &run.ticks);
}

static void shot_done(struct ocf_request *req, int err);

/* Fills in a request.  @at is the time at which it was due to begin. */
static void aim(struct party *u, struct shot *s, u64 at)
{
	u32 size = random_size(u);
	struct ocf_request *req = &s->req;

	s->card = policy_card(u, s, size);
	ocf_request_init(req, u->sessions[s->card < 0 ? s->session : s->card]);
	req->src = &buffer;
	req->dst = &buffer;
	req->data.len = size;
	req->flags = OCF_REQ_INLINE;
	req->done = shot_done;
	s->begun = at;
	s->counts = READ_ONCE(run.measuring);
	u->stats.begun += s->counts;
	if (s->card >= 0)
		u->queued[s->card]++;
}

/* It is not under way any more. */
static void land(struct party *u, struct shot *s)
{
	if (s->card >= 0)
		u->queued[s->card]--;
	list_add_tail(&s->node, &u->idle);
	atomic_dec(&run.under_way);
}

/* Submits what aim() has filled in; returns the cycles that took. */
static u64 fire(struct party *u, struct shot *s)
{
	u64 begun = rdtsc();
	int err;

	atomic_inc(&run.under_way);
	err = ocf_submit(&s->req);
	if (unlikely(err && err != -EINPROGRESS)) {
		spin_lock_bh(&u->lock);
		u->stats.refused++;
		land(u, s);
		spin_unlock_bh(&u->lock);
	}
	return rdtsc() - begun;
}

static void account(struct party *u, struct shot *s, int err, u64 now)
{
	struct stats *st = &u->stats;

	if (run.measuring) {
		st->done++;
		st->errors += !!err;
		st->bytes += err ? 0 : s->req.data.len;
	}
	if (s->counts)
		stats_add(st, now - s->begun);
}

static void shot_done(struct ocf_request *req, int err)
{
	struct shot *s = container_of(req, struct shot, req);
	u64 begun = rdtsc(), not_ours = 0, now = ktime_get_ns();
	struct party *u = s->user;
	bool again;

	spin_lock_bh(&u->lock);
	account(u, s, err, now);
	again = u->inflight && !READ_ONCE(run.stopping);
	land(u, s);
	if (again) {
		list_del(&s->node);
		aim(u, s, now);
	}
	spin_unlock_bh(&u->lock);
	if (again)
		not_ours = fire(u, s);
	count_ticks(rdtsc() - begun - not_ours);
}

/* One that arrives at @at; returns the cycles its submission took. */
static u64 arrive(struct party *u, u64 at)
{
	struct shot *s;

	spin_lock_bh(&u->lock);
	s = list_first_entry_or_null(&u->idle, struct shot, node);
	if (s) {
		list_del(&s->node);
		s->session = random_session(u);
		aim(u, s, at);
	} else {
		u->stats.dropped++;
	}
	spin_unlock_bh(&u->lock);
	return s ? fire(u, s) : 0;
}

static enum hrtimer_restart arrival(struct hrtimer *timer)
{
	struct party *u = container_of(timer, struct party, timer);
	u64 begun = rdtsc(), not_ours = 0, now = ktime_get_ns();

	while (u->arrival <= now && !READ_ONCE(run.stopping)) {
		not_ours += arrive(u, u->arrival);
		u->arrival += random_ns(u, u->gap);
		if (u->arrival <= now)
			continue;
		now = ktime_get_ns();
	}
	hrtimer_set_expires(timer, ns_to_ktime(u->arrival));
	count_ticks(rdtsc() - begun - not_ours);
	return READ_ONCE(run.stopping) ? HRTIMER_NORESTART : HRTIMER_RESTART;
}

static void measure(void)
{
	run.idle_us = load_idle_us();
	WRITE_ONCE(run.measuring, true);
}

/* Where measuring begins, and where it ends. */
static enum hrtimer_restart edge(struct hrtimer *timer)
{
	if (!run.measuring) {
		measure();
		hrtimer_set_expires(timer, ns_to_ktime(run.end));
		return HRTIMER_RESTART;
	}
	WRITE_ONCE(run.measuring, false);
	WRITE_ONCE(run.stopping, true);
	run.idle_us = load_idle_us() - run.idle_us;
	return HRTIMER_NORESTART;
}

static void start_user(struct party *u)
{
	struct shot *s;
	u32 i;

	for (i = 0; i < u->inflight; i++) {
		spin_lock_bh(&u->lock);
		s = list_first_entry(&u->idle, struct shot, node);
		list_del(&s->node);
		aim(u, s, ktime_get_ns());
		spin_unlock_bh(&u->lock);
		fire(u, s);
	}
	if (u->inflight)
		return;
	u->arrival = ktime_get_ns() + random_ns(u, u->gap);
	hrtimer_start(&u->timer, ns_to_ktime(u->arrival),
		      HRTIMER_MODE_ABS_SOFT);
}

/**
 * load_init() - get the buffer that all share
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int load_init(void)
{
	u8 *bytes = kzalloc(SIZE_MAX_BYTES, GFP_KERNEL);

	if (!bytes)
		return -ENOMEM;
	sg_init_one(&buffer, bytes, SIZE_MAX_BYTES);
	return 0;
}

void load_exit(void)
{
	kfree(sg_virt(&buffer));
}

/**
 * load_start() - begin; it ends by itself
 * @warm_ns: ns before anything counts
 * @ns: ns that are measured after that
 *
 * Context: process.
 */
void load_start(u64 warm_ns, u64 ns)
{
	u32 i;

	run.measuring = false;
	run.stopping = false;
	atomic64_set(&run.ticks, 0);
	run.begin = ktime_get_ns() + warm_ns;
	run.end = run.begin + ns;
	hrtimer_init(&run.edge, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	run.edge.function = edge;
	if (!warm_ns)
		measure();
	hrtimer_start(&run.edge, ns_to_ktime(warm_ns ? run.begin : run.end),
		      HRTIMER_MODE_ABS_SOFT);
	for (i = 0; i < run.nusers; i++)
		start_user(&run.users[i]);
}

/**
 * load_ended() - whether all is over
 *
 * Context: process.
 * Return: whether the time is up and no request is under way.
 */
bool load_ended(void)
{
	return READ_ONCE(run.stopping) && !atomic_read(&run.under_way);
}

static struct ocf_session *open_session(struct party *u, int device)
{
	struct ocf_session_params p = {
		.mode = OCF_MODE_CIPHER, .cipher = OCF_NULL_CIPHER,
		.flags = OCF_SESSION_HARDWARE, .device = device,
		.owner = u->owner,
	};

	return ocf_session_create(&p, GFP_KERNEL);
}

/* One for each of the user's sessions, or one for each card. */
static int open_sessions(struct party *u)
{
	bool ours = u->policy != POLICY_CORE;
	u32 i, n = ours ? u->ncards : u->nsessions;

	u->sessions = kcalloc(n + 1, sizeof(*u->sessions), GFP_KERNEL);
	if (!u->sessions)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct ocf_session *ses;

		ses = open_session(u, ours ? u->card[i] : OCF_DEVICE_ANY);
		if (IS_ERR(ses))
			return PTR_ERR(ses);
		u->sessions[i] = ses;
	}
	return 0;
}

/**
 * load_close() - give back what a user has
 * @u: the user, none of whose requests is under way
 *
 * Context: process; may sleep.
 */
void load_close(struct party *u)
{
	struct ocf_session **ses;

	if (u->timer.function)
		hrtimer_cancel(&u->timer);
	for (ses = u->sessions; ses && *ses; ses++)
		ocf_session_put(*ses);
	kfree(u->sessions);
	vfree(u->shots);
	*u = (struct party){};
}

/**
 * load_open() - open the sessions and buffers of a user
 * @u: the user; the caller has filled in its parameters
 *
 * Context: process; may sleep.
 * Return: 0 or an errno; load_close() is due in any case.
 */
int load_open(struct party *u)
{
	u32 i;

	spin_lock_init(&u->lock);
	INIT_LIST_HEAD(&u->idle);
	hrtimer_init(&u->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	u->timer.function = arrival;
	u->shots = vzalloc(array_size(u->pool, sizeof(*u->shots)));
	if (!u->shots)
		return -ENOMEM;
	for (i = 0; i < u->pool; i++) {
		u->shots[i].user = u;
		u->shots[i].session = i % u->nsessions;
		list_add_tail(&u->shots[i].node, &u->idle);
	}
	return open_sessions(u);
}
