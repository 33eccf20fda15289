/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What device.c and job.c share: /dev/crypto, of a process.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <openssl/async.h>
#include <pthread.h>

#include "provider.h"

/**
 * struct process - what only this process has; fork() clears it
 * @lock: protects all but @ocf
 * @ocf: /dev/crypto, or NULL
 * @generation: another for each process that ever opened it
 * @failed: when it could not be opened, s
 * @fetcher: fetches results of jobs that are paused
 * @fetching: there is one
 * @stop: an eventfd that ends it
 */
struct process {
	pthread_mutex_t		lock;
	struct ocf *_Atomic	ocf;
	uint64_t		generation;
	uint32_t		failed;
	pthread_t		fetcher;
	bool			fetching;
	int			stop;
};

/* job.c */
int job_run(struct provider *prov, struct ocf *ocf, ASYNC_JOB *job,
	    const struct session *ses, const struct ocf_command *given);
void jobs_exit(struct provider *prov);

#endif
