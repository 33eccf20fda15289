/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libocf: many commands under way at a time.  ocf_queue(3)
 *
 *	err = ocf_queue_open(ocf, 64, 0, &queue);
 *	while (...) {
 *		while (more && !ocf_queue_put(queue, &command))
 *			...
 *		n = ocf_queue_get(queue, results, 64, -1);
 *	}
 *
 * By io_uring, or by ioctl() where that is forbidden.  A queue is for one
 * thread at a time.  The process that has submitted a command has to live until
 * the result is taken.
 */
#ifndef OCF_QUEUE_H
#define OCF_QUEUE_H

#include <ocf/crypt.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ocf_queue;

/* Always the same thread: some fewer instructions with io_uring */
#define OCF_QUEUE_ONE_THREAD	1
#define OCF_QUEUE_NO_URING	2	/* ioctl() only */
#define OCF_QUEUE_URING		4	/* io_uring only */

#define OCF_QUEUE_DEPTH_MAX	OCF_COMMANDS_MAX

/**
 * ocf_queue_open() - make a queue
 * @ocf: /dev/crypto, which has to stay open
 * @depth: commands under way at a time, 1 to OCF_QUEUE_DEPTH_MAX
 * @flags: OCF_QUEUE_*
 * @queue: is set
 *
 * Only one queue at a time of each @ocf can be without io_uring.
 *
 * Return: 0; -EINVAL; -EBUSY: there is one without io_uring; with
 * OCF_QUEUE_URING, what io_uring_setup() says; -ENOMEM.
 */
int ocf_queue_open(struct ocf *ocf, unsigned int depth, unsigned int flags,
		   struct ocf_queue **queue);

/**
 * ocf_queue_close() - end a queue
 * @queue: the queue, or NULL; one of OCF_QUEUE_ONE_THREAD is closed by that
 *	thread
 *
 * What is under way is cancelled or finished before this returns: afterwards
 * nobody writes to where results were to go.
 */
void ocf_queue_close(struct ocf_queue *queue);

/* Whether it is by io_uring. */
int ocf_queue_is_uring(const struct ocf_queue *queue);

/**
 * ocf_queue_register() - say where data will lie
 * @queue: a queue with nothing put in
 * @buffers: places
 * @count: how many, up to 1024; 0: none any more
 *
 * Their pages are pinned once, and not for each command
 * (ocf_queue_put_fixed()), against RLIMIT_MEMLOCK.
 *
 * Return: 0; -EBUSY: something was put in; -ENOMEM; -EFAULT; -EINVAL;
 * -EBADF.
 */
int ocf_queue_register(struct ocf_queue *queue, const struct iovec *buffers,
		       unsigned int count);

/**
 * ocf_queue_put() - put a command in
 * @queue: the queue
 * @command: which; its @cookie comes with the result.  A struct ocf_pk_command
 *	may be given, cast; what it points to has to stay as it is until the
 *	result is there, as data has
 *
 * It is begun by ocf_queue_submit() or ocf_queue_get().
 *
 * Return: 0; -EBUSY: there are as many as the queue is deep; -EPERM: another
 * process has made the queue.
 */
int ocf_queue_put(struct ocf_queue *queue, const struct ocf_command *command);

/**
 * ocf_queue_put_fixed() - put a command in whose data are in a known place
 * @queue: the queue
 * @command: which; neither of OCF_MODE_CHAIN nor of OCF_MODE_COMPRESS
 * @buffer: index of the buffer that its source, its destination or both are in
 *
 * Return: as ocf_queue_put(); -EINVAL: neither is in it.
 */
int ocf_queue_put_fixed(struct ocf_queue *queue,
			const struct ocf_command *command, unsigned int buffer);

/**
 * ocf_queue_submit() - begin all that was put in
 * @queue: the queue
 *
 * What is refused has its errno as a result.
 *
 * Return: 0; -EINTR, -EAGAIN, -ENOMEM: some wait still; -EPERM; -EBADF: the
 * program has closed the queue's descriptor, or it is another file.
 */
int ocf_queue_submit(struct ocf_queue *queue);

/**
 * ocf_queue_get() - take results, after ocf_queue_submit()
 * @queue: the queue
 * @results: are filled in, in the order in which they come
 * @count: how many at most
 * @timeout: ms to wait for the first, -1: without an end
 *
 * Return: how many; 0: none came in time, or nothing is under way; -EINTR: a
 * signal came before; -EPERM; -EBADF.
 */
int ocf_queue_get(struct ocf_queue *queue, struct ocf_result *results,
		  unsigned int count, int timeout);

/**
 * ocf_queue_cancel() - give commands up
 * @queue: the queue
 * @cookie: of which; those of this process's other queues of the same struct
 *	ocf that have it are given up, too
 *
 * They have results like all others.
 *
 * Return: how many; -ENOENT: none; -EPERM; -EBADF.
 */
int ocf_queue_cancel(struct ocf_queue *queue, uint64_t cookie);

/* A descriptor that poll() finds readable when there are results. */
int ocf_queue_fd(const struct ocf_queue *queue);

/* How many were put in and have not come back. */
unsigned int ocf_queue_count(const struct ocf_queue *queue);

#ifdef __cplusplus
}
#endif
#endif /* OCF_QUEUE_H */
