/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by device.c and job.c: the process's open /dev/crypto.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <openssl/async.h>
#include <pthread.h>
#include <stdatomic.h>

#include "provider.h"

/**
 * struct process - the state of one process; fork() clears it in the child
 * @lock: protects all fields but the atomic ones
 * @ocf: the open /dev/crypto, or NULL
 * @generation: a number that no other process of this program has
 * @failed: time of the last failed open(), s
 * @error: why it failed, -errno
 * @confined: a filter of system calls refuses what this provider needs; such a
 *	filter cannot be removed
 * @kernel: number of operations that the kernel did
 * @own: number of operations left to OpenSSL's own code; with debug = 1 only
 * @fetcher: the thread that fetches the results for paused jobs
 * @fetching: @fetcher is running
 * @stop: @fetcher must end
 * @wanted: wakes @fetcher when @waiting or @stop changes
 * @waiting: the commands of the paused jobs
 */
struct process {
	pthread_mutex_t		lock;
	struct ocf *_Atomic	ocf;
	uint64_t		generation;
	uint32_t		failed;
	int error;
	atomic_bool		confined;
	_Atomic uint64_t	kernel, own;
	pthread_t		fetcher;
	bool			fetching, stop;
	pthread_cond_t		wanted;
	struct waiting		*waiting;
};

/* device.c */
bool process_is_confined(struct process *p);

/* job.c */
int job_run(struct provider *prov, struct ocf *ocf, ASYNC_JOB *job,
	    const struct session *ses, const struct ocf_command *given);
void jobs_exit(struct provider *prov);

#endif
