/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The map of the core.  Each folder has a header, with its objects and with the
 * calls of its files that other files use:
 *
 *   random/	sources of random numbers
 *   device/	the life of a device: self-tests, recovery, sysfs
 *   pk/		public-key operations; pk.h is not included here
 *   request/	a request's life, its steps, the threads of processes
 *   sched/	costs, the choice of a device, queues, shares of owners
 *   session/	what consumers open: sessions, keys, contexts
 *   registry/	the table of devices, their states and counters
 *
 * Each folder calls only folders below it in this list.  session/ and sched/
 * are below request/: to give a request back, they call the functions in struct
 * ocf_request_ops.
 *
 * OCF locking
 * -----------
 * Mutexes, in the order in which they nest:
 *
 *   registry_mutex	registry/registry.c: numbers and names of devices
 *   session.rekey	session/session.c: a session's generation of keys
 *   device.room	session/context.c: making contexts on a card
 *
 * None of them makes one user's task wait for another user's task.
 *
 * workers.start (request/workers.c: starting a thread) and the lock of a random
 * source (random/random.c: reading it) nest with no other.
 *
 * Spinlocks; all but the first five are taken with BH disabled:
 *
 *   accounts_lock	session/account.c: the table of accounts
 *   sessions_lock	session/session.c: the list of sessions
 *   generations_lock	session/keys.c: the list of all generations
 *   keys.lock		session/context.c: a generation's contexts
 *   contexts_lock	session/context.c: the list of a device's contexts
 *   park_lock		session/keys.c: requests that wait for a context
 *   refresh_lock	session/session.c: working out what a session may use
 *   order_lock		request/deliver.c: a session's requests in order
 *   worker_queue.lock	request/offload.c: an owner's requests for workers
 *   table_lock		request/workers.c: processes that have threads
 *   workers.lock	request/workers.c: a process's work and its threads
 *   flows_lock		session/flow.c: which owner has which flow
 *   queue.lock		sched/queue.c: what is in a device or waits for it
 *   pk_lock		pk/pk.c: all lists of public-key operations
 *
 * A task holds one of them at a time, except in these orders: keys.lock,
 * contexts_lock; queue.lock, pk_lock, workers.lock.  While it holds one, it
 * calls neither a driver nor a consumer, except ocf_device_ops.capable() under
 * refresh_lock.
 *
 * Disabling BH keeps a task on its CPU, and excludes completions there.  On
 * PREEMPT_RT it excludes no other task, so it protects no data of a CPU.
 *
 * A request that is not in flight belongs to its consumer, which uses it from
 * one place at a time.  A request in flight moves from list to list, under the
 * lock of the list; ocf_request.where names the list, but not that of a worker.
 *
 * The core finds devices, keys and contexts without a lock, between
 * ocf_read_lock() and ocf_read_unlock().  This takes microseconds, and the task
 * cannot be preempted meanwhile.  On PREEMPT_RT it can be, but then RCU raises
 * its priority.  So a reader of low priority does not make others wait.  A
 * reader that needs a generation or a context for longer takes a reference.  If
 * that fails the object is about to be freed, and the reader looks again.  Work
 * on the CPU is done outside, with a reference of the context.  The memory is
 * freed when no reader can be inside that has seen the object.
 *
 * A request inside a device is not a reader: it is on the queue's list of
 * requests in flight, and a device is removed when that list is empty.
 */
#ifndef OCF_CORE_H
#define OCF_CORE_H

#include <linux/ocf.h>
#include <linux/ocf_driver.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "../compat.h"

/*
 * Encloses each search for devices, keys and contexts: some microseconds at
 * most.  This disables preemption.  On PREEMPT_RT, where the queues' locks may
 * sleep, it does not; instead RCU raises the priority of a preempted reader.
 */
static __always_inline void ocf_read_lock(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_lock();
	else
		rcu_read_lock_sched();
}

static __always_inline void ocf_read_unlock(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_unlock();
	else
		rcu_read_unlock_sched();
}

#define ocf_dereference(p) \
	rcu_dereference_check(p, rcu_read_lock_sched_held())

/* main.c */
/*
 * For requests; for dispatching requests to cards; for frees, which wait for
 * cards.
 */
extern struct workqueue_struct *ocf_wq, *ocf_dispatch_wq, *ocf_free_wq;

#include "device/device.h"
#include "random/random.h"
#include "registry/registry.h"
#include "request/request.h"
#include "sched/sched.h"
#include "session/session.h"

#endif /* OCF_CORE_H */
