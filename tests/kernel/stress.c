// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything at once: threads submit, cancel and rekey while cards are
 * registered, removed, refuse requests and answer twice.  Each request has one
 * callback and a right result.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "test.h"

#define THREADS	4
#define FLIGHT	16	/* requests a thread has in flight */
#define ENOUGH	20	/* requests that must be done ... */
#define MOST	60	/* ... unless it takes so many seconds */

struct stress {
	struct test		*t;
	struct ocf_session	*ses;
	u32			flags;
	bool			stop;
	atomic_long_t		done, cancelled, busy;
};

static u32 random_flags(void)
{
	static const u32 flags[] = { 0, OCF_REQ_INLINE, OCF_REQ_OFFLOAD };

	return flags[test_random(ARRAY_SIZE(flags))];
}

static void submit_some(struct stress *s, struct work **w)
{
	int i, err;

	for (i = 0; i < FLIGHT; i++) {
		w[i] = work_make(s->ses, 16 << test_random(8), random_flags());
		if (!w[i])
			continue;
		err = work_submit(w[i]);
		if (!err || err == -EINPROGRESS)
			continue;
		/*
		 * refused: after one card is removed, the next may not be there
		 * yet
		 */
		CHECK(s->t, err == -EBUSY || err == -ENODEV);
		EQUAL(s->t, atomic_read(&w[i]->calls), 0);
		atomic_long_inc(&s->busy);
		work_free(w[i]);
		w[i] = NULL;
	}
}

static void collect(struct stress *s, struct work **w)
{
	int i, err;

	for (i = 0; i < FLIGHT; i++) {
		if (!w[i])
			continue;
		err = work_wait(w[i]);
		EQUAL(s->t, atomic_read(&w[i]->calls), 1);
		if (!err) {
			CHECK(s->t, work_right(w[i], WORK_KEY));
			atomic_long_inc(&s->done);
		} else {
			CHECK(s->t, err == -ECANCELED || err == -ENODEV);
			atomic_long_inc(&s->cancelled);
		}
		work_free(w[i]);
	}
}

static int user(void *arg)
{
	struct stress *s = arg;
	struct work *w[FLIGHT], *sync;
	u8 key[16];
	int i, err;

	memset(key, WORK_KEY, sizeof(key));
	while (!READ_ONCE(s->stop) && !s->t->failed) {
		submit_some(s, w);
		for (i = test_random(4); i; i--) {
			struct work *victim = w[test_random(FLIGHT)];

			if (victim)
				ocf_cancel(&victim->req);
		}
		if (!test_random(8)) {
			err = ocf_session_rekey(s->ses, key, 16, NULL, 0, NULL);
			CHECK(s->t, !err || err == -ENODEV);
		}
		sync = work_make(s->ses, 256, 0);
		err = sync ? ocf_run(&sync->req) : -ENOMEM;
		CHECK(s->t, !err || err == -ENODEV || err == -EBUSY);
		if (!err)
			CHECK(s->t, work_right(sync, WORK_KEY));
		work_free(sync);
		collect(s, w);
		cond_resched();
	}
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void mistreat(struct card *card)
{
	switch (test_random(3)) {
	case 0:
		card_faults(card, CARD_BUSY, 1 + test_random(20));
		break;
	case 1:
		card_hold(card);
		break;
	default:
		break;
	}
	usleep_range(500, 5000);
	if (test_random(2))
		card_release(card);
	usleep_range(500, 5000);
}

/*
 * Whether the test goes on: for some seconds, and until ENOUGH requests were
 * done.
 */
static bool goes_on(const struct stress *s, unsigned long begun)
{
	if (s->t->failed)
		return false;
	return time_before(jiffies, begun + test_seconds * HZ) ||
	       (time_before(jiffies, begun + MOST * HZ) &&
		atomic_long_read(&s->done) <= ENOUGH);
}

static void run_threads(struct stress *s, struct task_struct **task,
			struct card **card)
{
	unsigned long begun = jiffies;
	int i;

	for (i = 0; i < THREADS; i++)
		task[i] = kthread_run(user, s, "ocf_stress%d", i);
	while (goes_on(s, begun)) {
		i = test_random(2);
		if (card[i]->dev) {
			mistreat(card[i]);
			card_unregister(card[i]);
		} else {
			card_faults(card[i], CARD_WORKS, 0);
			card[i]->hold = false;
			EQUAL(s->t, card_register(card[i]), 0);
		}
	}
	for (i = 0; i < 2; i++)
		if (card[i]->dev)
			card_release(card[i]);
	WRITE_ONCE(s->stop, true);
	for (i = 0; i < THREADS; i++)
		if (CHECK(s->t, !IS_ERR(task[i])))
			kthread_stop(task[i]);
}

static void stress(struct test *t, u32 session_flags)
{
	struct task_struct *task[THREADS];
	struct stress s = { .t = t };
	struct card *card[2];
	int i;

	for (i = 0; i < 2; i++) {
		card[i] = card_alloc(2 + 6 * i);
		card[i]->name = i ? "stressb" : "stressa";
		EQUAL(t, card_register(card[i]), 0);
	}
	s.ses = work_session(t, OCF_AES_CBC, session_flags, OCF_DEVICE_ANY);
	if (s.ses) {
		run_threads(&s, task, card);
		ocf_session_put(s.ses);
	}
	for (i = 0; i < 2; i++) {
		if (card[i]->dev)
			card_unregister(card[i]);
		card_free(card[i]);
	}
	pr_info("# %s: %ld done, %ld cancelled or left, %ld refused\n", t->name,
		atomic_long_read(&s.done), atomic_long_read(&s.cancelled),
		atomic_long_read(&s.busy));
	CHECK(t, atomic_long_read(&s.done) > ENOUGH);
}

static void stress_cards(struct test *t)
{
	stress(t, OCF_SESSION_HARDWARE);
}

static void stress_any(struct test *t)
{
	stress(t, 0);
}

static void stress_ordered(struct test *t)
{
	stress(t, OCF_SESSION_HARDWARE | OCF_SESSION_ORDERED);
}

struct holder {
	struct test	*t;
	u8		key;
	bool		*stop;
	unsigned int	rounds;
};

/*
 * A thread opens a session with a key of its own, uses it and closes it, many
 * times.
 */
static int hold_key(void *arg)
{
	struct holder *h = arg;
	u8 key[16];
	struct ocf_session_params p = {
		.mode = OCF_MODE_CIPHER, .cipher = OCF_AES_CBC,
		.flags = OCF_SESSION_SOFTWARE, .device = OCF_DEVICE_ANY,
		.key = key, .keylen = sizeof(key),
	};
	struct ocf_session *ses;
	struct work *w;

	memset(key, h->key, sizeof(key));
	for (; !READ_ONCE(*h->stop) && !h->t->failed; h->rounds++) {
		ses = ocf_session_create(&p, GFP_KERNEL);
		if (!CHECK(h->t, !IS_ERR(ses)))
			break;
		w = work_make(ses, 32, 0);
		EQUAL(h->t, ocf_run(&w->req), 0);
		CHECK(h->t, work_right(w, h->key));
		work_free(w);
		ocf_session_put(ses);
		cond_resched();
	}
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

/*
 * The driver keeps the transform of a closed session for the next session.  Two
 * sessions never get the same one.
 */
static void stress_keys(struct test *t)
{
	unsigned long begun = jiffies;
	struct task_struct *task[THREADS];
	struct holder h[THREADS];
	bool stop = false;
	int i;

	for (i = 0; i < THREADS; i++) {
		h[i] = (struct holder){ .t = t, .key = 1 + i, .stop = &stop };
		task[i] = kthread_run(hold_key, &h[i], "ocf_key%d", i);
	}
	while (!t->failed && time_before(jiffies, begun + test_seconds * HZ))
		msleep(100);
	WRITE_ONCE(stop, true);
	for (i = 0; i < THREADS; i++) {
		if (CHECK(t, !IS_ERR(task[i])))
			kthread_stop(task[i]);
		CHECK(t, h[i].rounds > 0);
	}
}

const struct test_case stress_tests[] = {
	TEST(stress_cards), TEST(stress_any), TEST(stress_ordered),
	TEST(stress_keys), {}
};
