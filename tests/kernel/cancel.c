// SPDX-License-Identifier: GPL-2.0-only
/* ocf_cancel(), wherever the request is. */
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "test.h"

/*
 * A card of depth 1 that completes nothing, and a session that uses no other
 * device
 */
struct scene {
	struct card		*card;
	struct ocf_session	*ses;
};

static bool set_scene(struct test *t, struct scene *s)
{
	s->card = card_make(t, 1);
	if (!s->card)
		return false;
	s->ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			      OCF_DEVICE_ANY);
	card_hold(s->card);
	return s->ses;
}

static void clear_scene(struct scene *s)
{
	ocf_session_put(s->ses);
	card_drop(s->card);
}

/* A request in the queue completes before ocf_cancel() returns. */
static void cancel_waiting(struct test *t)
{
	struct work *w[3];
	struct scene s;
	int i;

	if (!set_scene(t, &s))
		return;
	for (i = 0; i < 3; i++) {
		w[i] = work_make(s.ses, 64, 0);
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
	}
	CHECK(t, ocf_cancel(&w[1]->req));
	EQUAL(t, atomic_read(&w[1]->calls), 1);
	EQUAL(t, w[1]->err, -ECANCELED);
	CHECK(t, !ocf_cancel(&w[1]->req));
	card_release(s.card);
	EQUAL(t, work_wait(w[0]), 0);
	EQUAL(t, work_wait(w[2]), 0);
	EQUAL(t, atomic_read(&w[1]->calls), 1);
	CHECK(t, !memchr_inv(w[1]->out, 0, 64));
	for (i = 0; i < 3; i++)
		work_free(w[i]);
	clear_scene(&s);
}

/*
 * A request in the card completes when the card has ended it, and not before.
 */
static void cancel_inside(struct test *t)
{
	struct scene s;
	struct work *w;

	if (!set_scene(t, &s))
		return;
	w = work_make(s.ses, 64, 0);
	EQUAL(t, work_submit(w), -EINPROGRESS);
	CHECK(t, ocf_cancel(&w->req));
	CHECK(t, !work_arrived(w));
	CHECK(t, ocf_cancel(&w->req));
	card_release(s.card);
	EQUAL(t, work_wait(w), -ECANCELED);
	EQUAL(t, atomic_read(&w->calls), 1);
	CHECK(t, !ocf_cancel(&w->req));
	work_free(w);
	clear_scene(&s);
}

/* A request that is cancelled while the card refuses it is not queued again. */
static void cancel_refused(struct test *t)
{
	struct scene s;
	struct work *w;

	if (!set_scene(t, &s))
		return;
	w = work_make(s.ses, 64, 0);
	card_faults(s.card, CARD_CANCELS, 1);
	EQUAL(t, work_submit(w), -EINPROGRESS);
	EQUAL(t, work_wait(w), -ECANCELED);
	card_release(s.card);
	card_settle(s.card);
	EQUAL(t, s.card->submits, 0);
	EQUAL(t, atomic_read(&w->calls), 1);
	work_free(w);
	clear_scene(&s);
}

static void cancel_done(struct test *t)
{
	struct ocf_session *ses = work_session(t, OCF_AES_CBC, 0,
					       OCF_DEVICE_ANY);
	struct work *w = work_make(ses, 64, OCF_REQ_INLINE);

	EQUAL(t, work_submit(w), 0);
	CHECK(t, !ocf_cancel(&w->req));
	EQUAL(t, w->err, 0);
	EQUAL(t, atomic_read(&w->calls), 1);
	work_free(w);
	ocf_session_put(ses);
}

/*
 * A request that is cancelled while its card is removed ends with -ECANCELED,
 * once.
 */
static void cancel_and_unplug(struct test *t)
{
	struct scene s;
	struct work *w;

	if (!set_scene(t, &s))
		return;
	w = work_make(s.ses, 64, 0);
	EQUAL(t, work_submit(w), -EINPROGRESS);
	CHECK(t, ocf_cancel(&w->req));
	clear_scene(&s);
	EQUAL(t, work_wait(w), -ECANCELED);
	EQUAL(t, atomic_read(&w->calls), 1);
	work_free(w);
}

/* A task that is killed in ocf_run() gets -EINTR; the callback comes later. */
struct waiter {
	struct work		*w;
	int			err;
	struct completion	gone;
};

static int wait_killable(void *arg)
{
	struct waiter *wr = arg;

	allow_signal(SIGKILL);
	wr->err = ocf_run(&wr->w->req);
	complete(&wr->gone);
	return 0;
}

/*
 * Waits until @task sleeps in a killable state, as in ocf_run().  Return:
 * whether it does.
 */
static bool waits(struct task_struct *task)
{
	int i;

	for (i = 0; i < 3000; i++) {
		if (READ_ONCE(task->__state) == TASK_KILLABLE)
			return true;
		msleep(20);
	}
	return false;
}

static void cancel_by_kill(struct test *t)
{
	struct waiter wr[2];
	struct task_struct *task[2];
	struct scene s;
	int i;

	if (!set_scene(t, &s))
		return;
	for (i = 0; i < 2; i++) {
		wr[i].w = work_make(s.ses, 64, 0);
		init_completion(&wr[i].gone);
		task[i] = kthread_create(wait_killable, &wr[i], "ocf_test");
		get_task_struct(task[i]);
		wake_up_process(task[i]);
		/* the first request is in the card, the second in its queue */
		CHECK(t, waits(task[i]));
	}
	for (i = 0; i < 2; i++) {
		send_sig(SIGKILL, task[i], 1);
		CHECK(t, wait_for_completion_timeout(&wr[i].gone, 20 * HZ));
		put_task_struct(task[i]);
	}
	EQUAL(t, wr[0].err, -EINTR);
	EQUAL(t, atomic_read(&wr[0].w->calls), 0);
	/* the second was taken out of the queue at once */
	EQUAL(t, wr[1].err, -ECANCELED);
	EQUAL(t, atomic_read(&wr[1].w->calls), 0);
	card_release(s.card);
	EQUAL(t, work_wait(wr[0].w), -ECANCELED);
	EQUAL(t, atomic_read(&wr[0].w->calls), 1);
	for (i = 0; i < 2; i++)
		work_free(wr[i].w);
	clear_scene(&s);
}

/*
 * ocf_cancel() races with the completion, many times; each request has one
 * callback.
 */
struct racer {
	struct work		*w;
	struct completion	go, gone;
	bool			stop, said;
};

static int canceller(void *arg)
{
	struct racer *r = arg;

	for (;;) {
		wait_for_completion(&r->go);
		if (r->stop)
			break;
		ndelay(test_random(20000));
		r->said = ocf_cancel(&r->w->req);
		complete(&r->gone);
	}
	return 0;
}

static void race_once(struct test *t, struct racer *r, struct ocf_session *ses,
		      u32 flags)
{
	struct work *w = work_make(ses, 16 << test_random(8), flags);
	int err;

	r->w = w;
	complete(&r->go);
	err = work_submit(w);
	CHECK(t, !err || err == -EINPROGRESS);
	err = work_wait(w);
	wait_for_completion(&r->gone);
	EQUAL(t, atomic_read(&w->calls), 1);
	/* a cancel before the submission has no effect */
	CHECK(t, !err || err == -ECANCELED);
	CHECK(t, err != -ECANCELED || r->said);
	work_free(w);
}

static void cancel_races(struct test *t)
{
	static const u32 from[] = { OCF_SESSION_HARDWARE,
				    OCF_SESSION_SOFTWARE };
	struct card *card = card_make(t, 2);
	struct task_struct *task;
	struct ocf_session *ses;
	struct racer r = {};
	int i, n;

	if (!card)
		return;
	init_completion(&r.go);
	init_completion(&r.gone);
	task = kthread_run(canceller, &r, "ocf_cancel");
	if (CHECK(t, !IS_ERR(task))) {
		for (i = 0; i < 2; i++) {
			ses = work_session(t, OCF_AES_CBC, from[i],
					   OCF_DEVICE_ANY);
			for (n = 0; n < 500 && !t->failed; n++)
				race_once(t, &r, ses,
					  n & 1 ? OCF_REQ_OFFLOAD : 0);
			ocf_session_put(ses);
		}
		r.stop = true;
		get_task_struct(task);
		complete(&r.go);
		kthread_stop_put(task);
	}
	card_drop(card);
}

const struct test_case cancel_tests[] = {
	TEST(cancel_waiting), TEST(cancel_inside), TEST(cancel_refused),
	TEST(cancel_done),
	TEST(cancel_and_unplug), TEST(cancel_by_kill), TEST(cancel_races), {}
};
