// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cards that have capacity for a few contexts only, and more sessions than
 * that.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "test.h"

#define SESSIONS	7
#define EITHER		24
#define MANY		40
#define CROWD		300	/* more than a workqueue has workers */
#define TURNS		16
#define OTHERS		(IS_ENABLED(CONFIG_KASAN) ? 4000 : 20000)

static struct card *small_card(struct test *t, unsigned int room)
{
	struct card *card = card_make(t, 8);

	if (card)
		card->room = room;
	return card;
}

/*
 * Opens a session for @owner that only @card may serve.  Return: the session or
 * an ERR_PTR.
 */
static struct ocf_session *of_owner(struct card *card, u32 owner)
{
	static const u8 key[16] = { [0 ... 15] = WORK_KEY };
	struct ocf_session_params p = {
		.mode = OCF_MODE_CIPHER, .cipher = OCF_AES_CBC,
		.device = card_number(card), .owner = owner,
		.key = key, .keylen = 16,
	};

	return ocf_session_create(&p, GFP_KERNEL);
}

static struct ocf_session *on_card(struct card *card)
{
	return of_owner(card, 0);
}

static struct work *begin(struct test *t, struct ocf_session *ses)
{
	struct work *w = work_make(ses, 256, 0);

	EQUAL(t, work_submit(w), -EINPROGRESS);
	return w;
}

static void ends_well(struct test *t, struct work *w)
{
	EQUAL(t, work_wait(w), 0);
	CHECK(t, work_right(w, WORK_KEY));
	work_free(w);
}

static void works(struct test *t, struct ocf_session *ses)
{
	ends_well(t, begin(t, ses));
}

static void put_all(struct ocf_session **ses, int n)
{
	while (n--)
		if (!IS_ERR(ses[n]))
			ocf_session_put(ses[n]);
}

/*
 * The card has as many contexts as it can have.  While a worker replaces one it
 * has fewer, so this waits.
 */
static void is_full(struct test *t, struct card *card)
{
	unsigned long end = jiffies + 60 * HZ;

	while (atomic_read(&card->contexts) != card->room &&
	       time_before(jiffies, end))
		usleep_range(100, 1000);
	EQUAL(t, atomic_read(&card->contexts), card->room);
}

/* One card serves more sessions than it can have contexts, in any order. */
static void room_for_everybody(struct test *t)
{
	struct card *card = small_card(t, 3);
	struct ocf_session *ses[SESSIONS];
	int i, turn;

	if (!card)
		return;
	for (i = 0; i < SESSIONS; i++) {
		ses[i] = on_card(card);
		EQUAL(t, PTR_ERR_OR_ZERO(ses[i]), 0);
	}
	for (turn = 0; turn < 3; turn++)
		for (i = 0; i < SESSIONS; i++)
			if (!IS_ERR(ses[i]))
				works(t, ses[i]);
	is_full(t, card);
	put_all(ses, SESSIONS);
	card_drop(card);
}

/*
 * If a request had to wait for a context, the task that waits for the request
 * submits it to the card, and not a worker.
 */
static void room_for_a_task_that_waits(struct test *t)
{
	struct card *card = small_card(t, 1);
	struct ocf_session *ses[2];
	struct work *w;
	int i;

	if (!card)
		return;
	for (i = 0; i < 2; i++) {
		ses[i] = on_card(card);
		EQUAL(t, PTR_ERR_OR_ZERO(ses[i]), 0);
	}
	card->who = current;
	card->submits = 0;
	card->by_who = 0;
	for (i = 0; i < 8 && !IS_ERR(ses[i % 2]); i++) {
		w = work_make(ses[i % 2], 256, 0);
		EQUAL(t, ocf_run(&w->req), 0);
		CHECK(t, work_right(w, WORK_KEY));
		work_free(w);
	}
	EQUAL(t, card->submits, 8);
	EQUAL(t, card->by_who, 8);
	card->who = NULL;
	put_all(ses, 2);
	card_drop(card);
}

/* Sessions also take turns when all of them have requests at the same time. */
static void room_by_turns(struct test *t)
{
	struct card *card = small_card(t, 2);
	struct ocf_session *ses[SESSIONS];
	struct work *w[SESSIONS];
	int i, n, turn;

	if (!card)
		return;
	for (n = 0; n < SESSIONS; n++) {
		ses[n] = on_card(card);
		if (!EQUAL(t, PTR_ERR_OR_ZERO(ses[n]), 0))
			break;
	}
	for (turn = 0; turn < 5; turn++) {
		for (i = 0; i < n; i++)
			w[i] = begin(t, ses[i]);
		for (i = 0; i < n; i++)
			ends_well(t, w[i]);
	}
	put_all(ses, n);
	card_drop(card);
}

/* A card evicts the context that was used least recently. */
static void least_used(struct test *t, bool slow)
{
	struct card *card = small_card(t, 2);
	struct ocf_session *ses[3];
	unsigned int made;

	if (!card)
		return;
	card->slow_to_refuse = slow;
	ses[0] = on_card(card);
	ses[1] = on_card(card);
	if (EQUAL(t, IS_ERR(ses[0]) || IS_ERR(ses[1]), 0)) {
		schedule_timeout_uninterruptible(2);
		works(t, ses[0]);
		schedule_timeout_uninterruptible(2);
		ses[2] = on_card(card);
		EQUAL(t, PTR_ERR_OR_ZERO(ses[2]), 0);
		made = card->made;
		works(t, ses[0]);
		EQUAL(t, card->made, made);
		works(t, ses[1]);
		EQUAL(t, card->made, made + 1);
		put_all(ses, 3);
	}
	card_drop(card);
}

static void room_of_the_least_used(struct test *t)
{
	least_used(t, false);
}

/*
 * The same if a context is freed while the card still answers that it is full.
 */
static void room_that_comes_meanwhile(struct test *t)
{
	least_used(t, true);
}

/*
 * A context with a request in the card is not evicted.  If all contexts are
 * such, another session gets -ENOSPC.
 */
static void room_of_who_works(struct test *t)
{
	struct card *card = small_card(t, 2);
	struct ocf_session *ses[2], *more;
	struct work *w[2];
	int i;

	if (!card)
		return;
	for (i = 0; i < 2; i++) {
		ses[i] = on_card(card);
		if (!EQUAL(t, PTR_ERR_OR_ZERO(ses[i]), 0))
			goto put;
	}
	card_hold(card);
	for (i = 0; i < 2; i++)
		w[i] = begin(t, ses[i]);
	more = on_card(card);
	EQUAL(t, PTR_ERR(more), -ENOSPC);
	card_release(card);
	for (i = 0; i < 2; i++)
		ends_well(t, w[i]);
	more = on_card(card);
	if (EQUAL(t, PTR_ERR_OR_ZERO(more), 0)) {
		works(t, more);
		ocf_session_put(more);
	}
put:
	put_all(ses, i);
	card_drop(card);
}

/*
 * A context with a request in the card also stays after its session got new
 * keys.
 */
static void room_of_old_keys(struct test *t)
{
	static const u8 key[16] = "sixteen bytes...";
	struct card *card = small_card(t, 2);
	struct ocf_session *ses, *more[2] = { ERR_PTR(-1), ERR_PTR(-1) };
	struct work *w;
	int i;

	if (!card)
		return;
	ses = on_card(card);
	if (EQUAL(t, PTR_ERR_OR_ZERO(ses), 0)) {
		card_hold(card);
		w = begin(t, ses);
		EQUAL(t, ocf_session_rekey(ses, key, 16, NULL, 0, NULL), 0);
		/* each evicts the context of the one before */
		for (i = 0; i < 2; i++) {
			more[i] = on_card(card);
			EQUAL(t, PTR_ERR_OR_ZERO(more[i]), 0);
		}
		is_full(t, card);
		card_release(card);
		ends_well(t, w);
		put_all(more, 2);
		ocf_session_put(ses);
	}
	card_drop(card);
}

/*
 * A session that can use another device takes nothing from one that was active
 * a moment ago.
 */
static void room_only_for_who_needs_it(struct test *t)
{
	struct card *card = small_card(t, 1);
	struct ocf_session *first, *other;
	unsigned long begun = jiffies;
	unsigned int made;
	int i;

	if (!card)
		return;
	first = on_card(card);
	other = work_session(t, OCF_AES_CBC, 0, OCF_DEVICE_ANY);
	if (EQUAL(t, PTR_ERR_OR_ZERO(first), 0) && other) {
		works(t, first);
		made = card->made;
		for (i = 0; i < 20; i++) {
			struct work *w = work_make(other, 65536, 0);

			EQUAL(t, ocf_run(&w->req), 0);
			CHECK(t, work_right(w, WORK_KEY));
			work_free(w);
		}
		/* a moment is a second */
		CHECK(t, card->made == made || time_after(jiffies, begun + HZ));
	}
	ocf_session_put(other);
	if (!IS_ERR(first))
		ocf_session_put(first);
	card_drop(card);
}

/*
 * Calls @run for two cards with capacity for one context each; the first
 * argument is the card that @run fills.
 */
static void on_two(struct test *t,
		   void (*run)(struct test *t, struct card *full,
			       struct card *other))
{
	struct card *card[] = { card_make(t, 64), card_make_other(t, 64) };
	int i;

	for (i = 0; i < 2 && card[0] && card[1]; i++) {
		card[0]->room = 1;
		card[1]->room = 1;
		run(t, card[i], card[!i]);
	}
	card_drop(card[1]);
	card_drop(card[0]);
}

/*
 * Sessions that wait for a context on a full card do not delay those that wait
 * for a context on another card.
 */
static void another_card(struct test *t, struct card *full, struct card *other)
{
	struct ocf_session **ses, *mine[2];
	struct work **w, *quick;
	unsigned long soon;
	int i, n;

	ses = kcalloc(CROWD, sizeof(*ses), GFP_KERNEL);
	w = kcalloc(CROWD, sizeof(*w), GFP_KERNEL);
	for (n = 0; n < CROWD; n++) {
		ses[n] = on_card(full);
		if (!EQUAL(t, PTR_ERR_OR_ZERO(ses[n]), 0))
			break;
	}
	/* the second evicts the first, whose context a worker makes again */
	for (i = 0; i < 2; i++) {
		mine[i] = on_card(other);
		EQUAL(t, PTR_ERR_OR_ZERO(mine[i]), 0);
	}
	card_hold(full);
	for (i = n; i--;)
		w[i] = begin(t, ses[i]);
	quick = begin(t, mine[0]);
	soon = wait_for_completion_timeout(&quick->done, 5 * HZ);
	CHECK(t, soon);
	card_release(full);
	if (!soon)
		work_wait(quick);
	for (i = 0; i < n; i++)
		ends_well(t, w[i]);
	put_all(ses, n);
	put_all(mine, 2);
	work_free(quick);
	kfree(w);
	kfree(ses);
}

static void room_on_another_card(struct test *t)
{
	on_two(t, another_card);
}

/*
 * A request that two cards may do goes to the card that is not full, even if
 * the other is faster.
 */
static void either(struct test *t, struct card *full, struct card *other)
{
	struct ocf_session *ses[EITHER], *last[2];
	struct work *w[EITHER], *held;
	unsigned long end;
	int i;

	for (i = 0; i < EITHER; i++)
		ses[i] = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
				      OCF_DEVICE_ANY);
	/* these two evict all of them */
	last[0] = on_card(full);
	last[1] = on_card(other);
	EQUAL(t, IS_ERR(last[0]) || IS_ERR(last[1]), 0);
	card_hold(full);
	held = begin(t, last[0]);
	other->room = 2 * EITHER;
	/*
	 * if a request had to wait for a context, it would wait for one second
	 */
	end = jiffies + EITHER * HZ / 2;
	for (i = 0; i < EITHER; i++)
		w[i] = begin(t, ses[i]);
	for (i = 0; i < EITHER; i++)
		ends_well(t, w[i]);
	CHECK(t, time_before(jiffies, end));
	card_release(full);
	ends_well(t, held);
	put_all(ses, EITHER);
	put_all(last, 2);
}

static void room_on_either(struct test *t)
{
	on_two(t, either);
}

/*
 * If one card refuses the session's keys, the request waits for a context on
 * the other card, whichever card looks better.
 */
static void refused(struct test *t, struct card *full, struct card *other)
{
	struct ocf_session *ses, *last;
	struct work *w, *held;

	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	last = on_card(other);
	ocf_session_put(last);
	last = on_card(full);
	EQUAL(t, PTR_ERR_OR_ZERO(last), 0);
	other->refuse_key = -EIO;
	card_hold(full);
	held = begin(t, last);
	w = begin(t, ses);
	CHECK(t, !work_arrived(w));
	card_release(full);
	ends_well(t, w);
	ends_well(t, held);
	other->refuse_key = 0;
	ocf_session_put(ses);
	ocf_session_put(last);
}

static void room_on_the_only_one(struct test *t)
{
	on_two(t, refused);
}

/*
 * If both cards are full, the request goes to the first that has capacity
 * again.
 */
static void both(struct test *t, struct card *first, struct card *second)
{
	struct card *card[] = { first, second };
	struct work *w, *held[2];
	struct ocf_session *ses, *last[2];
	int i;

	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	for (i = 0; i < 2; i++) {
		last[i] = on_card(card[i]);
		EQUAL(t, PTR_ERR_OR_ZERO(last[i]), 0);
		card_hold(card[i]);
		held[i] = begin(t, last[i]);
	}
	w = begin(t, ses);
	CHECK(t, !work_arrived(w));
	card_release(first);
	ends_well(t, held[0]);
	ends_well(t, w);
	card_release(second);
	ends_well(t, held[1]);
	ocf_session_put(ses);
	put_all(last, 2);
}

static void room_on_both(struct test *t)
{
	on_two(t, both);
}

/*
 * A request can be cancelled at any moment while it waits for a context, and
 * the cancelled request does not evict one.
 */
static void room_cancelled(struct test *t)
{
	struct card *card = small_card(t, 1);
	struct ocf_session *ses, *last;
	struct work *w, *held;
	unsigned long begun;
	int i, at;

	if (!card)
		return;
	ses = on_card(card);
	last = on_card(card);
	card_hold(card);
	held = begin(t, last);
	for (i = 0; i < 6 && !t->failed; i++) {
		w = begin(t, ses);
		begun = jiffies;
		/*
		 * when @where changes, the request is most often between two
		 * lists
		 */
		at = READ_ONCE(w->req.where);
		while (READ_ONCE(w->req.where) == at &&
		       time_before(jiffies, begun + 3 * HZ))
			cpu_relax();
		begun = jiffies;
		CHECK(t, ocf_cancel(&w->req));
		EQUAL(t, work_wait(w), -ECANCELED);
		/* an eviction would take a second here */
		CHECK(t, time_before(jiffies, begun + HZ));
		work_free(w);
	}
	card_release(card);
	ends_well(t, held);
	ocf_session_put(ses);
	ocf_session_put(last);
	card_drop(card);
}

/*
 * Returns the CPU time in ns that this task needs while two sessions take
 * turns.
 */
static u64 time_of_turns(struct test *t, struct card *card)
{
	struct ocf_session *ses, *last = ERR_PTR(-ENOENT);
	u64 begun;
	int i;

	schedule_timeout_uninterruptible(1);
	begun = current->se.sum_exec_runtime;
	for (i = 0; i < TURNS; i++) {
		ses = on_card(card);
		EQUAL(t, PTR_ERR_OR_ZERO(ses), 0);
		put_all(&last, 1);
		last = ses;
	}
	put_all(&last, 1);
	schedule_timeout_uninterruptible(1);
	return current->se.sum_exec_runtime - begun;
}

/*
 * The search for a context to evict does not take longer if other users have
 * many sessions that are not on the card.
 */
static void room_beside_others(struct test *t)
{
	struct card *card = small_card(t, 1);
	u64 alone, beside = U64_MAX;
	struct ocf_session **ses;
	int n, i;

	ses = kvcalloc(OTHERS, sizeof(*ses), GFP_KERNEL);
	if (card && CHECK(t, ses)) {
		alone = time_of_turns(t, card);
		for (n = 0; n < OTHERS; n++) {
			ses[n] = work_session(t, OCF_NULL_CIPHER, 0,
					      OCF_DEVICE_ANY);
			if (!ses[n])
				break;
		}
		/*
		 * the fastest of three counts: another task may interrupt one
		 */
		for (i = 0; i < 3; i++)
			beside = min(beside, time_of_turns(t, card));
		CHECK(t, beside < 3 * alone);
		put_all(ses, n);
	}
	kvfree(ses);
	card_drop(card);
}

/* A task that opens a session on a card which is full. */
struct opener {
	struct test		*t;
	struct card		*card;
	struct ocf_session	*ses;
	struct completion	done;
};

static int open_killable(void *arg)
{
	struct opener *o = arg;

	allow_signal(SIGKILL);
	o->ses = on_card(o->card);
	complete(&o->done);
	return 0;
}

/*
 * Starts a task that opens a session, and kills the task when @busy is set.
 * The context is made by the card's worker, not by the task.
 */
static void open_and_kill(struct opener *o, bool *busy)
{
	struct test *t = o->t;
	struct task_struct *task;
	int i;

	init_completion(&o->done);
	task = kthread_create(open_killable, o, "ocf_test");
	get_task_struct(task);
	wake_up_process(task);
	for (i = 0; i < 2000 && !READ_ONCE(*busy); i++)
		msleep(20);
	CHECK(t, READ_ONCE(*busy));
	send_sig(SIGKILL, task, 1);
	wait_for_completion(&o->done);
	CHECK(t, READ_ONCE(o->card->maker) != task);
	put_task_struct(task);
	EQUAL(t, PTR_ERR_OR_ZERO(o->ses), -EINTR);
	if (!IS_ERR(o->ses))
		ocf_session_put(o->ses);
	/* it did not wait for the card */
	CHECK(t, READ_ONCE(*busy));
}

/*
 * A task can be killed while it waits until the card has forgotten an evicted
 * context.
 */
static void room_that_comes_slowly(struct test *t)
{
	struct opener o = { .t = t, .card = small_card(t, 1) };
	DECLARE_COMPLETION_ONSTACK(forget);
	struct ocf_session *last;

	if (!o.card)
		return;
	last = on_card(o.card);
	o.card->forget = &forget;
	open_and_kill(&o, &o.card->forgetting);
	complete_all(&forget);
	put_all(&last, 1);
	card_drop(o.card);
}

/*
 * A task can be killed while the card takes long to make its context.  Others
 * can open sessions meanwhile.
 */
static void room_made_slowly(struct test *t)
{
	struct opener o = { .t = t, .card = small_card(t, 1) };
	DECLARE_COMPLETION_ONSTACK(learn);
	struct ocf_session *other;

	if (!o.card)
		return;
	o.card->learn = &learn;
	open_and_kill(&o, &o.card->learning);
	other = work_session(t, OCF_AES_CBC, OCF_SESSION_SOFTWARE,
			     OCF_DEVICE_ANY);
	CHECK(t, READ_ONCE(o.card->learning));
	complete_all(&learn);
	ocf_session_put(other);
	other = on_card(o.card);
	if (EQUAL(t, PTR_ERR_OR_ZERO(other), 0)) {
		works(t, other);
		ocf_session_put(other);
	}
	card_drop(o.card);
}

/*
 * However many sessions of one owner wait for a context, a session of another
 * owner waits for a few of them only.
 */
static void room_of_owners(struct test *t)
{
	struct card *card = small_card(t, 1);
	struct ocf_session *ses[MANY], *other;
	struct work *w[MANY], *last;
	int i, n, begun, before = 0;

	if (!card)
		return;
	other = of_owner(card, 2);
	EQUAL(t, PTR_ERR_OR_ZERO(other), 0);
	for (n = 0; n < MANY; n++) {
		ses[n] = of_owner(card, 1);
		if (!EQUAL(t, PTR_ERR_OR_ZERO(ses[n]), 0))
			break;
	}
	for (i = 0; i < n; i++)
		w[i] = begin(t, ses[i]);
	begun = atomic_read(&work_serial);
	last = begin(t, other);
	EQUAL(t, work_wait(last), 0);
	for (i = 0; i < n; i++) {
		EQUAL(t, work_wait(w[i]), 0);
		before += w[i]->serial > begun && w[i]->serial < last->serial;
		CHECK(t, work_right(w[i], WORK_KEY));
		work_free(w[i]);
	}
	CHECK(t, before < 8);
	work_free(last);
	put_all(ses, n);
	ocf_session_put(other);
	card_drop(card);
}

const struct test_case room_tests[] = {
	TEST(room_for_everybody), TEST(room_for_a_task_that_waits),
	TEST(room_by_turns), TEST(room_of_owners),
	TEST(room_of_the_least_used), TEST(room_that_comes_meanwhile),
	TEST(room_of_who_works), TEST(room_of_old_keys),
	TEST(room_only_for_who_needs_it), TEST(room_on_another_card),
	TEST(room_on_either), TEST(room_on_the_only_one), TEST(room_on_both),
	TEST(room_cancelled), TEST(room_beside_others),
	TEST(room_that_comes_slowly), TEST(room_made_slowly),
	{}
};
