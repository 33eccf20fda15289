// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workers of a process: threads that do the software work of its requests.
 *
 * A workqueue's threads run at the kernel's priority and in no control group.
 * A process that hands work to them escapes its nice value and its cpu.max.
 * The threads made here belong to the process: the scheduler counts their time
 * as its own, RLIMIT_NPROC counts them, and they end when it ends.
 *
 * A process has at most as many of them as there are CPUs.  The first starts
 * when the process first submits work for a thread, and another one when work
 * came while no thread was idle.  When the process is killed, or calls
 * execve(), the last thread cancels the work that is left, since no task will
 * fetch its results.
 *
 * A thread stops only when it runs, and its process may be stopped, or get no
 * CPU time.  So only a thread's own process waits for the thread to stop, when
 * this process closes its last descriptor.  Threads that are in use at that
 * moment end with the process.
 */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/vhost_task.h>
#include <linux/slab.h>

#include "../core.h"

/**
 * struct worker - a thread
 * @workers: those it is one of
 * @task: the thread; NULL before the first one
 * @alive: it was started and not killed
 * @idle: it waits for work
 */
struct worker {
	struct ocf_workers	*workers;
	struct vhost_task	*task;
	bool			alive;
	bool			idle;
};

/**
 * struct ocf_workers - the threads of a process, and their work
 * @refs: one for each operation, and those of ocf_workers_get()
 * @process: the process
 * @node: in the table of all
 * @rcu: frees the memory
 * @free: work that frees this after all threads were killed
 * @start: held while a thread is started
 * @lock: protects the next five, and @alive and @idle of each thread
 * @waiting: work, the oldest first
 * @alive: how many threads there are
 * @left: threads, including those that are ending and have work to cancel
 * @wanted: another thread would be useful
 * @ended: all were killed, and the process has submitted nothing since
 * @load: ns of the work that these threads have
 * @n: the maximum number of threads
 * @worker: the threads
 */
struct ocf_workers {
	refcount_t		refs;
	struct pid		*process;
	struct hlist_node	node;
	struct rcu_head		rcu;
	struct work_struct	free;
	struct mutex		start;
	spinlock_t		lock;
	struct list_head	waiting;
	unsigned int		alive;
	unsigned int		left;
	bool			wanted;
	bool			ended;
	atomic_long_t		load;
	unsigned int		n;
	struct worker		worker[] __counted_by(n);
};

#define TABLE_BITS	6

static DEFINE_HASHTABLE(table, TABLE_BITS);
static DEFINE_SPINLOCK(table_lock);

/* ---- the end ---- */

static void destroy(struct ocf_workers *w)
{
	put_pid(w->process);
	mutex_destroy(&w->start);
	kfree_rcu(w, rcu);
}

/* Waits until the threads have run, and have stopped. */
static void end_threads(struct ocf_workers *w)
{
	unsigned int i;

	for (i = 0; i < w->n; i++)
		if (w->worker[i].task)
			vhost_task_stop(w->worker[i].task);
	destroy(w);
}

/* The threads were killed, and have nearly ended. */
static void free_dead(struct work_struct *work)
{
	end_threads(container_of(work, struct ocf_workers, free));
}

/* Removes @w from the table; false if it is in use, or was removed before. */
static bool take_unused(struct ocf_workers *w)
{
	lockdep_assert_held(&table_lock);
	if (refcount_read(&w->refs) || !hash_hashed(&w->node))
		return false;
	hash_del_rcu(&w->node);
	return true;
}

/* Called when @w may have become unused, or may have lost its last thread. */
static void free_if_dead(struct ocf_workers *w)
{
	bool mine;

	spin_lock_bh(&table_lock);
	mine = !READ_ONCE(w->left) && take_unused(w);
	spin_unlock_bh(&table_lock);
	if (!mine)
		return;
	INIT_WORK(&w->free, free_dead);
	queue_work(ocf_free_wq, &w->free);
}

/* ---- a thread ---- */

/* vhost_task calls it until it returns false, and again after a wake-up. */
static bool do_next(void *data)
{
	struct worker *self = data;
	struct ocf_workers *w = self->workers;
	struct work_struct *work;

	spin_lock_bh(&w->lock);
	work = list_first_entry_or_null(&w->waiting, struct work_struct, entry);
	if (work)
		list_del_init(&work->entry);
	self->idle = !work;
	spin_unlock_bh(&w->lock);
	if (!work)
		return false;
	__set_current_state(TASK_RUNNING);
	work->func(work);
	cond_resched();
	return true;
}

/* The function of vhost_task for a thread that is killed with its process. */
static void cancel_rest(void *data)
{
	struct worker *self = data;
	struct ocf_workers *w = self->workers;
	struct work_struct *work, *next;
	LIST_HEAD(rest);

	spin_lock_bh(&w->lock);
	self->alive = false;
	self->idle = false;
	if (!--w->alive) {
		WRITE_ONCE(w->ended, true);
		list_splice_init(&w->waiting, &rest);
	}
	spin_unlock_bh(&w->lock);
	list_for_each_entry_safe(work, next, &rest, entry) {
		list_del_init(&work->entry);
		work->func(work);
	}
	spin_lock_bh(&w->lock);
	w->left--;
	spin_unlock_bh(&w->lock);
	wake_up_var(&w->left);
	free_if_dead(w);
}

/* Starts the thread of @self, which has none, or one that was killed. */
static void make_thread(struct worker *self)
{
	struct ocf_workers *w = self->workers;
	struct vhost_task *task;

	lockdep_assert_held(&w->start);
	if (self->task)
		vhost_task_stop(self->task);
	task = vhost_task_create(do_next, cancel_rest, self, "ocf");
	self->task = IS_ERR_OR_NULL(task) ? NULL : task;
	if (!self->task)
		return;
	spin_lock_bh(&w->lock);
	self->alive = true;
	w->alive++;
	w->left++;
	spin_unlock_bh(&w->lock);
	vhost_task_start(task);
}

static struct worker *find_dead(struct ocf_workers *w)
{
	unsigned int i;

	for (i = 0; i < w->n; i++)
		if (!w->worker[i].alive)
			return &w->worker[i];
	return NULL;
}

static noinline void start_one(struct ocf_workers *w)
{
	struct worker *self;

	/* threads of io_uring do their work themselves */
	if (current->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return;
	mutex_lock(&w->start);
	if (w->wanted) {
		WRITE_ONCE(w->wanted, false);
		self = find_dead(w);
		if (self)
			make_thread(self);
	}
	mutex_unlock(&w->start);
}

/* ---- the workers of a process ---- */

static struct ocf_workers *make_workers(struct pid *process)
{
	unsigned int n = num_online_cpus(), i;
	struct ocf_workers *w;

	w = kzalloc(struct_size(w, worker, n), GFP_KERNEL_ACCOUNT);
	if (!w)
		return NULL;
	refcount_set(&w->refs, 1);
	w->process = get_pid(process);
	mutex_init(&w->start);
	spin_lock_init(&w->lock);
	INIT_LIST_HEAD(&w->waiting);
	w->n = n;
	for (i = 0; i < n; i++)
		w->worker[i].workers = w;
	return w;
}

static u32 process_hash(const struct pid *process)
{
	return hash_ptr(process, TABLE_BITS);
}

/*
 * Finds the workers of @process if they are in use, and takes a reference.
 * Context: under RCU or table_lock.
 */
static struct ocf_workers *find(const struct pid *process)
{
	struct ocf_workers *w;

	hash_for_each_possible_rcu(table, w, node, process_hash(process),
				   lockdep_is_held(&table_lock))
		if (w->process == process && refcount_inc_not_zero(&w->refs))
			return w;
	return NULL;
}

/* Finds the workers of @process if they are unused, but still have threads. */
static struct ocf_workers *find_unused(const struct pid *process)
{
	struct ocf_workers *w;

	lockdep_assert_held(&table_lock);
	hash_for_each_possible(table, w, node, process_hash(process))
		if (w->process == process && !refcount_read(&w->refs))
			return w;
	return NULL;
}

static struct ocf_workers *use_again(const struct pid *process)
{
	struct ocf_workers *w = find_unused(process);

	if (w)
		refcount_set(&w->refs, 1);
	return w;
}

/* Another thread of @process may be doing the same. */
static struct ocf_workers *add(struct pid *process)
{
	struct ocf_workers *w = make_workers(process), *other;

	if (!w)
		return NULL;
	spin_lock_bh(&table_lock);
	other = find(process) ?: use_again(process);
	if (!other)
		hash_add_rcu(table, &w->node, process_hash(process));
	spin_unlock_bh(&table_lock);
	if (!other)
		return w;
	destroy(w);
	return other;
}

/* The process is another program now, and has no threads yet. */
static noinline void begin_anew(struct ocf_workers *w)
{
	spin_lock_bh(&w->lock);
	WRITE_ONCE(w->ended, false);
	spin_unlock_bh(&w->lock);
}

struct ocf_workers *ocf_workers_get(void)
{
	struct pid *process = task_tgid(current);
	struct ocf_workers *w;

	if (!IS_ENABLED(CONFIG_VHOST_TASK))
		return NULL;
	rcu_read_lock();
	w = find(process);
	rcu_read_unlock();
	if (unlikely(!w))
		w = add(process);
	return w;
}
OCF_EXPORT(ocf_workers_get);

void ocf_workers_start(struct ocf_workers *w)
{
	if (!IS_ENABLED(CONFIG_VHOST_TASK) || !w)
		return;
	if (unlikely(READ_ONCE(w->ended)))
		begin_anew(w);
	if (unlikely(!READ_ONCE(w->alive)))
		WRITE_ONCE(w->wanted, true);
	ocf_workers_start_wanted(w);
}
OCF_EXPORT(ocf_workers_start);

void ocf_workers_start_wanted(struct ocf_workers *w)
{
	if (!IS_ENABLED(CONFIG_VHOST_TASK) || !w ||
	    likely(!READ_ONCE(w->wanted)))
		return;
	if (unlikely(READ_ONCE(w->ended)))
		begin_anew(w);
	start_one(w);
}
OCF_EXPORT(ocf_workers_start_wanted);

void ocf_workers_put(struct ocf_workers *w)
{
	if (!IS_ENABLED(CONFIG_VHOST_TASK) || !w)
		return;
	/* once unused, @w may be freed by its process: see ocf_workers_end() */
	rcu_read_lock();
	if (refcount_dec_and_test(&w->refs))
		free_if_dead(w);
	rcu_read_unlock();
}
OCF_EXPORT(ocf_workers_put);

void ocf_workers_end(void)
{
	struct ocf_workers *w;

	if (!IS_ENABLED(CONFIG_VHOST_TASK) || current->flags & PF_USER_WORKER)
		return;
	spin_lock_bh(&table_lock);
	w = find_unused(task_tgid(current));
	if (w)
		take_unused(w);
	spin_unlock_bh(&table_lock);
	if (w)
		end_threads(w);
}
OCF_EXPORT(ocf_workers_end);

static struct ocf_workers *take_first(void)
{
	struct ocf_workers *w;
	int i;

	spin_lock_bh(&table_lock);
	hash_for_each(table, i, w, node)
		if (take_unused(w))
			break;
	spin_unlock_bh(&table_lock);
	return w;
}

/* The consumers are gone: no other threads are made. */
void ocf_workers_exit(void)
{
	struct ocf_workers *w;

	while ((w = take_first()))
		end_threads(w);
}

/* Whether the calling task ends with its whole process */
static bool is_ending(void)
{
	return current->flags & PF_EXITING &&
	       current->signal->flags & SIGNAL_GROUP_EXIT;
}

void ocf_workers_settle(struct ocf_workers *w)
{
	if (w->process == task_tgid(current) && is_ending())
		wait_var_event(&w->left, !READ_ONCE(w->left));
}
OCF_EXPORT(ocf_workers_settle);

/* ---- their work ---- */

/**
 * ocf_workers_ready() - whether a process has threads for its work
 * @w: the threads of the process
 *
 * Context: any.
 * Return: false if the caller has to do the work itself.
 */
bool ocf_workers_ready(struct ocf_workers *w)
{
	if (likely(READ_ONCE(w->alive)))
		return true;
	WRITE_ONCE(w->wanted, true);
	return false;
}

bool ocf_workers_ended(const struct ocf_workers *w)
{
	return READ_ONCE(w->ended);
}
OCF_EXPORT(ocf_workers_ended);

/**
 * ocf_workers_load() - the work that the threads of a process have
 * @w: the threads of the process
 *
 * Return: a counter of ns.  The caller adds a request's ns when a thread gets
 * it, and subtracts them when the request begins or ends.
 */
atomic_long_t *ocf_workers_load(struct ocf_workers *w)
{
	return &w->load;
}

static void wake_one(struct ocf_workers *w)
{
	unsigned int i;

	lockdep_assert_held(&w->lock);
	for (i = 0; i < w->n; i++)
		if (w->worker[i].idle) {
			w->worker[i].idle = false;
			vhost_task_wake(w->worker[i].task);
			return;
		}
	if (w->alive < w->n)
		WRITE_ONCE(w->wanted, true);
}

/**
 * ocf_workers_queue() - have a thread of a process do some work
 * @w: the threads of the process
 * @work: an initialised work that is on no workqueue; its function is called
 *	once, and may find that the process has ended
 *
 * Context: process or BH.
 * Return: false if there is no thread.
 */
bool ocf_workers_queue(struct ocf_workers *w, struct work_struct *work)
{
	bool taken;

	if (!IS_ENABLED(CONFIG_VHOST_TASK))
		return false;
	spin_lock_bh(&w->lock);
	taken = w->alive;
	if (taken) {
		list_add_tail(&work->entry, &w->waiting);
		wake_one(w);
	} else {
		WRITE_ONCE(w->wanted, true);
	}
	spin_unlock_bh(&w->lock);
	return taken;
}
