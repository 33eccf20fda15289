/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OCF for Linux: for consumers that work for user processes.
 *
 * An account limits the memory that the sessions and requests of a user take.
 * Workers are threads of a process, which do software work of its requests.
 */
#ifndef _LINUX_OCF_USER_H
#define _LINUX_OCF_USER_H

#include <linux/types.h>
#include <linux/uidgid_types.h>

struct ocf_account;
struct ocf_workers;

/**
 * ocf_account_get() - find or make the account of a user
 * @uid: the user
 *
 * The account counts the memory of the user's sessions.  The module parameter
 * max_session_bytes limits it.
 *
 * Context: process; may sleep.
 * Return: the account with a reference, or NULL if there is no memory.
 */
struct ocf_account *ocf_account_get(kuid_t uid);

/**
 * ocf_account_put() - give a reference back
 * @account: an account, or NULL
 *
 * Context: process.
 */
void ocf_account_put(struct ocf_account *account);

/**
 * ocf_account_charge() - charge memory that a consumer allocates for a session
 * @account: the account, or NULL
 * @bytes: how much
 *
 * Context: process.
 * Return: 0; -EDQUOT if that would exceed the limit.  The limit does not apply
 * to a task with CAP_SYS_RESOURCE.
 */
int ocf_account_charge(struct ocf_account *account, size_t bytes);

/**
 * ocf_account_uncharge() - undo a charge
 * @account: the account, or NULL
 * @bytes: how much
 *
 * Context: any.
 */
void ocf_account_uncharge(struct ocf_account *account, size_t bytes);

/*
 * Bytes of memory that the CPU needs at most for one request of
 * OCF_MODE_COMPRESS.  A consumer charges them to the user.  The charge limits a
 * user who starts many requests, and then gives them no CPU time so that they
 * keep their memory.
 */
#define OCF_WORKSPACE_BYTES	(192u << 10)

/**
 * ocf_workers_get() - find or make the workers of the calling process
 *
 * The workers are threads of the process.  They do software work of its
 * requests, at its priority and in its control group.  A request names them in
 * ocf_request.workers.  This starts no thread.
 *
 * Context: process; may sleep.
 * Return: the workers, for ocf_workers_put() after the last request that names
 * them is done; NULL if there is no memory, or if the kernel cannot make such
 * threads (CONFIG_VHOST_TASK).  Without workers, kernel threads do the work.
 */
struct ocf_workers *ocf_workers_get(void);

/**
 * ocf_workers_start() - make sure that there is a thread for work
 * @workers: the workers of the calling process, or NULL
 *
 * Call this before the submission of a request with OCF_REQ_OFFLOAD or of a
 * public-key request.  It starts the first thread, and another one if work came
 * while all were busy.
 *
 * Context: process; may sleep.
 */
void ocf_workers_start(struct ocf_workers *workers);

/**
 * ocf_workers_start_wanted() - start a thread if one was missing
 * @workers: the workers of the calling process, or NULL
 *
 * For requests that need a thread only if a card fails them.  Most processes
 * never need one.
 *
 * Context: process; may sleep.
 */
void ocf_workers_start_wanted(struct ocf_workers *workers);

/**
 * ocf_workers_put() - give workers back
 * @workers: of ocf_workers_get(), or NULL
 *
 * Context: process or BH.
 */
void ocf_workers_put(struct ocf_workers *workers);

/**
 * ocf_workers_end() - end the threads of the calling process if not in use
 *
 * For a consumer that has closed a descriptor of the process, and has put the
 * workers.  This waits until the threads have ended.  A thread ends only when
 * it runs: if a signal has stopped the process, this waits until the process
 * continues.  Threads in use end with the process.
 *
 * Context: process; may sleep.
 */
void ocf_workers_end(void);

/**
 * ocf_workers_ended() - whether a process has ended, or has called execve()
 * @workers: of ocf_workers_get()
 *
 * Then no task will fetch the results of its requests.
 *
 * Context: any.
 */
bool ocf_workers_ended(const struct ocf_workers *workers);

/**
 * ocf_workers_settle() - wait until the threads of an ending process have ended
 * @workers: of ocf_workers_get()
 *
 * For a consumer whose descriptor is closed because the process ends.  The
 * threads finish the request that they work on, and cancel the others.  If the
 * process does not end, this does nothing.
 *
 * Context: process; may sleep.
 */
void ocf_workers_settle(struct ocf_workers *workers);

#endif /* _LINUX_OCF_USER_H */
