// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery: calls the consumer's callbacks, in order if the session wants that.
 *
 * An ordered session keeps its requests in a list from submission on.  A result
 * marks its request as ready.  One task at a time walks the list from its head
 * and delivers requests that are ready, so callbacks come in order and do not
 * overlap.
 */
#include <linux/bottom_half.h>
#include <linux/cleanup.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "../core.h"

#include <trace/events/ocf.h>

/*
 * Callbacks that were put off, because they were inside a submission that does
 * not allow them, or nested too deeply.
 */
struct later {
	struct llist_head	list;
	struct work_struct	work;
};

static DEFINE_PER_CPU(struct later, later);

/*
 * A workqueue of its own, so that the module can wait until all work has ended.
 */
static struct workqueue_struct *bh_wq;

/*
 * A callback that is running.  They nest if a callback submits a request whose
 * result is there at once.
 */
struct frame {
	struct list_head	node;
	struct task_struct	*task;
};

/*
 * Callbacks running on this CPU.  While BH is disabled no other task runs here,
 * so a count is enough.  On PREEMPT_RT another task may preempt a callback and
 * run one of its own: each task then counts the frames that are its own.
 */
static DEFINE_PER_CPU(unsigned int, nesting);
static DEFINE_PER_CPU(struct list_head, frames);
#define NESTING_MAX	2

/* Callbacks of an ordered session that are delivered at a time */
#define DELIVERIES	64

static unsigned int frames_of_current(void)
{
	struct frame *f;
	unsigned int n = 0;

	guard(preempt)();
	list_for_each_entry(f, this_cpu_ptr(&frames), node)
		n += f->task == current;
	return n;
}

static bool nested_too_deeply(void)
{
	unsigned int n = IS_ENABLED(CONFIG_PREEMPT_RT) ?
			 frames_of_current() : this_cpu_read(nesting);

	return n >= NESTING_MAX;
}

/* BH is disabled, which keeps the task on this CPU. */
static void call_back_in_frame(struct ocf_request *req)
{
	struct frame f = { .task = current };

	scoped_guard(preempt)
		list_add(&f.node, this_cpu_ptr(&frames));
	req->done(req, req->err);
	scoped_guard(preempt)
		list_del(&f.node);
}

/* The request belongs to its consumer again, which may free it. */
static void call_back(struct ocf_request *req)
{
	local_bh_disable();
	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		call_back_in_frame(req);
	} else {
		__this_cpu_inc(nesting);
		req->done(req, req->err);
		__this_cpu_dec(nesting);
	}
	local_bh_enable();
}

static void put_off(struct ocf_request *req)
{
	struct later *l = get_cpu_ptr(&later);

	ocf_session_get(req->session);
	llist_add(&req->later, &l->list);
	queue_work(bh_wq, &l->work);
	put_cpu_ptr(&later);
}

static void call_back_later(struct work_struct *work)
{
	struct later *l = container_of(work, struct later, work);
	struct ocf_request *req, *next;
	struct ocf_session *ses;
	struct llist_node *list;

	list = llist_reverse_order(llist_del_all(&l->list));
	llist_for_each_entry_safe(req, next, list, later) {
		ses = req->session;
		call_back(req);
		ocf_session_put_deferred(ses);
	}
}

/* Wakes the waiter in ocf_run(); false if it was killed and has gone. */
static bool wake_waiter(struct ocf_request *req)
{
	int old = atomic_fetch_or(OCF_BIT_WOKEN, &req->bits);

	if (old & OCF_BIT_ABANDONED)
		return false;
	complete(&req->wait);
	return true;
}

/*
 * Returns @req to its consumer with the result, and puts what the request held.
 */
static __always_inline void hand_back(struct ocf_request *req, bool later)
{
	struct ocf_session *ses = req->session;
	struct ocf_keys *keys = req->keys;

	trace_ocf_request_done(req, req->used, req->err);
	req->keys = NULL;
	if (!(atomic_read(&req->bits) & OCF_BIT_WAITER) || !wake_waiter(req)) {
		if (later)
			put_off(req);
		else
			call_back(req);
	}
	if (keys) {
		ocf_keys_put_deferred(keys);
		ocf_session_put_deferred(ses);
	}
}

static void deliver_in_order_later(struct ocf_session *ses)
{
	ocf_session_get(ses);
	if (!queue_work(bh_wq, &ses->order_work))
		ocf_session_put_deferred(ses);
}

static void leave_order(struct ocf_session *ses)
	__must_hold(&ses->order_lock)
{
	/* a task that reads 0 sees all effects of the last callback */
	smp_store_release(&ses->ordered, ses->ordered - 1);
}

/*
 * Delivers requests from the head of the list that are ready, unless another
 * task does.  The number is limited, because tasks may submit as fast as this
 * delivers.
 */
static void deliver_in_order(struct ocf_session *ses)
	__must_hold(&ses->order_lock)
{
	struct ocf_request *req;
	int left = DELIVERIES;

	lockdep_assert_held(&ses->order_lock);
	if (ses->delivering)
		return;
	ses->delivering = true;
	while ((req = list_first_entry_or_null(&ses->order, struct ocf_request,
					       order)) && req->ready) {
		if (!left--) {
			deliver_in_order_later(ses);
			break;
		}
		list_del(&req->order);
		spin_unlock_bh(&ses->order_lock);
		hand_back(req, false);
		spin_lock_bh(&ses->order_lock);
		leave_order(ses);
	}
	ses->delivering = false;
}

/* Context: process or BH, as a work. */
void ocf_order_work(struct work_struct *work)
{
	struct ocf_session *ses = container_of(work, struct ocf_session,
					       order_work);

	spin_lock_bh(&ses->order_lock);
	deliver_in_order(ses);
	spin_unlock_bh(&ses->order_lock);
	ocf_session_put_deferred(ses);
}

/**
 * ocf_order_enter() - add a request to its session's order
 * @req: a request that is about to be submitted
 *
 * Context: process or BH.
 */
void ocf_order_enter(struct ocf_request *req)
{
	struct ocf_session *ses = req->session;

	req->in_order = true;
	req->ready = false;
	spin_lock_bh(&ses->order_lock);
	list_add_tail(&req->order, &ses->order);
	WRITE_ONCE(ses->ordered, ses->ordered + 1);
	spin_unlock_bh(&ses->order_lock);
}

/**
 * ocf_order_leave() - remove a refused request from the order
 * @req: the request
 *
 * Context: process or BH.
 */
void ocf_order_leave(struct ocf_request *req)
{
	struct ocf_session *ses = req->session;

	spin_lock_bh(&ses->order_lock);
	list_del(&req->order);
	leave_order(ses);
	spin_unlock_bh(&ses->order_lock);
	deliver_in_order_later(ses);
}

static noinline void end_in_order(struct ocf_request *req, bool inside_submit)
{
	struct ocf_session *ses = req->session;
	bool later = nested_too_deeply();

	/*
	 * another task may deliver @req meanwhile, and so drop its reference to
	 * the session
	 */
	ocf_session_get(ses);
	spin_lock_bh(&ses->order_lock);
	req->ready = true;
	if (!later && !inside_submit)
		deliver_in_order(ses);
	spin_unlock_bh(&ses->order_lock);
	if (later || inside_submit)
		deliver_in_order_later(ses);
	ocf_session_put_deferred(ses);
}

/*
 * Sets OCF_BIT_DONE, because a request is completed only once; returns false if
 * it was set already.
 */
static __always_inline bool has_result(struct ocf_request *req, int err)
{
	int old = atomic_fetch_or(OCF_BIT_DONE, &req->bits);

	if (WARN_ON_ONCE(old & OCF_BIT_DONE))
		return false;
	req->err = old & OCF_BIT_CANCELLED ? -ECANCELED : err;
	ocf_session_count(req->session, req->bytes, req->err);
	return true;
}

/**
 * ocf_request_end() - return a request to its consumer, with its result
 * @req: the request, on no list but that of the order
 * @err: the result
 * @inside_submit: called from inside the submission of @req
 *
 * Context: process or BH.
 */
void ocf_request_end(struct ocf_request *req, int err, bool inside_submit)
{
	bool later;

	if (unlikely(req->split.session) && !ocf_chain_next(req, &err))
		return;
	later = inside_submit && !(req->flags & OCF_REQ_INLINE);
	if (!has_result(req, err))
		return;
	if (unlikely(req->in_order))
		end_in_order(req, inside_submit);
	else
		hand_back(req, later || nested_too_deeply());
}

/**
 * ocf_request_end_here() - end a request inside its submission
 * @req: the request; no task waits for it, and it holds no references
 *
 * Context: process or BH.
 * Return: false if the callback was delayed.
 */
bool ocf_request_end_here(struct ocf_request *req)
{
	bool later = nested_too_deeply();

	if (!has_result(req, req->err))
		return true;
	trace_ocf_request_done(req, req->used, req->err);
	if (later)
		put_off(req);
	else
		call_back(req);
	return !later;
}

int ocf_deliver_init(void)
{
	int cpu;

	bh_wq = alloc_workqueue("ocf_bh", WQ_BH, 0);
	if (!bh_wq)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct later *l = per_cpu_ptr(&later, cpu);

		INIT_LIST_HEAD(per_cpu_ptr(&frames, cpu));
		init_llist_head(&l->list);
		INIT_WORK(&l->work, call_back_later);
	}
	return 0;
}

/*
 * No request is in flight any more; callbacks that were put off have run after
 * this.
 */
void ocf_deliver_exit(void)
{
	destroy_workqueue(bh_wq);
}
