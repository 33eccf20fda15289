/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libocf: queues, for many commands at a time.  ocf_queue(3)
 *
 *	err = ocf_queue_open(ocf, 64, 0, &queue);
 *	while (...) {
 *		while (more && !ocf_queue_put(queue, &command))
 *			...
 *		n = ocf_queue_get(queue, results, 64, -1);
 *	}
 *
 * It uses io_uring, or ioctl() where io_uring is forbidden.  A queue is for one
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

/*
 * The queue is always used by the same thread, which saves some instructions
 * with io_uring
 */
#define OCF_QUEUE_ONE_THREAD	1
#define OCF_QUEUE_NO_URING	2	/* ioctl() only */
#define OCF_QUEUE_URING		4	/* io_uring only */

#define OCF_QUEUE_DEPTH_MAX	OCF_COMMANDS_MAX

/**
 * ocf_queue_open() - make a queue
 * @ocf: the handle of /dev/crypto, which must stay open
 * @depth: commands that can be under way at a time, 1 to OCF_QUEUE_DEPTH_MAX
 * @flags: OCF_QUEUE_*
 * @queue: is set
 *
 * Without io_uring, each @ocf can have only one queue at a time.
 *
 * Return: 0; -EINVAL; -EBUSY: there is a queue without io_uring; with
 * OCF_QUEUE_URING, an error of io_uring_setup(); -ENOMEM.
 */
int ocf_queue_open(struct ocf *ocf, unsigned int depth, unsigned int flags,
		   struct ocf_queue **queue);

/**
 * ocf_queue_close() - close a queue
 * @queue: the queue, or NULL; if it has OCF_QUEUE_ONE_THREAD, this must be
 *	called by its thread
 *
 * Commands under way have been cancelled, or have finished, when this returns.
 * Afterwards nothing is written to their destinations.
 */
void ocf_queue_close(struct ocf_queue *queue);

/* Whether the queue uses io_uring. */
int ocf_queue_is_uring(const struct ocf_queue *queue);

/**
 * ocf_queue_register() - register buffers for data
 * @queue: the queue, in which there must be no command
 * @buffers: places
 * @count: how many, up to 1024; 0: unregister all
 *
 * Their pages are pinned once instead of for each command
 * (ocf_queue_put_fixed()), and count for RLIMIT_MEMLOCK.
 *
 * Return: 0; -EBUSY: there are commands in the queue; -ENOMEM; -EFAULT;
 * -EINVAL; -EBADF.
 */
int ocf_queue_register(struct ocf_queue *queue, const struct iovec *buffers,
		       unsigned int count);

/**
 * ocf_queue_put() - put a command into a queue
 * @queue: the queue
 * @command: the command; the result has its @cookie.  A struct ocf_pk_command
 *	can be given, with a cast; its operands must stay unchanged until the
 *	result is there, as data must
 *
 * ocf_queue_submit() or ocf_queue_get() begins the command.
 *
 * Return: 0; -EBUSY: the queue is full; -EPERM: another process has made the
 * queue.
 */
int ocf_queue_put(struct ocf_queue *queue, const struct ocf_command *command);

/**
 * ocf_queue_put_fixed() - put a command whose data are in a registered buffer
 * into a queue
 * @queue: the queue
 * @command: the command
 * @buffer: index of the buffer that has its source, its destination or both
 *
 * Return: as ocf_queue_put(); -EINVAL: neither the source nor the destination
 *	is in the buffer.
 */
int ocf_queue_put_fixed(struct ocf_queue *queue,
			const struct ocf_command *command, unsigned int buffer);

/**
 * ocf_queue_submit() - begin all commands of a queue
 * @queue: the queue
 *
 * The result of a command that was refused is the errno.
 *
 * Return: 0; -EINTR, -EAGAIN, -ENOMEM: some commands still wait; -EPERM;
 * -EBADF: the program has closed the queue's descriptor, or its number is
 * another file's.
 */
int ocf_queue_submit(struct ocf_queue *queue);

/**
 * ocf_queue_get() - take results; calls ocf_queue_submit() first
 * @queue: the queue
 * @results: are filled in, in the order in which they came
 * @count: how many at most
 * @timeout: ms to wait for the first result; -1: no limit
 *
 * Return: how many; 0: no result came in time, or no command is under way;
 * -EINTR: a signal came before; -EPERM; -EBADF.
 */
int ocf_queue_get(struct ocf_queue *queue, struct ocf_result *results,
		  unsigned int count, int timeout);

/**
 * ocf_queue_cancel() - cancel commands
 * @queue: the queue
 * @cookie: of the commands.  Those with this cookie in other queues of the
 *	process with the same struct ocf are cancelled, too
 *
 * Cancelled commands have results like all others.
 *
 * Return: how many; -ENOENT: none; -EPERM; -EBADF.
 */
int ocf_queue_cancel(struct ocf_queue *queue, uint64_t cookie);

/* A descriptor for poll(), which is readable when there are results. */
int ocf_queue_fd(const struct ocf_queue *queue);

/* The number of commands whose results have not been taken. */
unsigned int ocf_queue_count(const struct ocf_queue *queue);

#ifdef __cplusplus
}
#endif
#endif /* OCF_QUEUE_H */
