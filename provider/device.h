/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What device.c and job.c share: /dev/crypto, of a process.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <openssl/async.h>
#include <pthread.h>
#include <stdatomic.h>

#include "provider.h"

/**
 * struct process - what only this process has; fork() clears it
 * @lock: protects all but @ocf and @confined
 * @ocf: /dev/crypto, or NULL
 * @generation: another for each process that ever opened it
 * @failed: when it could not be opened, s
 * @error: why, -errno
 * @confined: by a filter of system calls, which is there to stay
 * @fetcher: a thread that fetches results of jobs that are paused
 * @fetching: the thread that fetches results is running
 * @stop: it is to end
 * @wanted: tells it of both
 * @waiting: the commands of those jobs
 */
struct process {
	pthread_mutex_t		lock;
	struct ocf *_Atomic	ocf;
	uint64_t		generation;
	uint32_t		failed;
	int error;
	atomic_bool		confined;
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
