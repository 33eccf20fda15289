/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short ways to say what programs for the native interface say at length.
 */
#ifndef TEST_NATIVE_H
#define TEST_NATIVE_H

/* before what includes <linux/fs.h>'s macros */
#include <liburing.h>
#include <linux/ocf.h>
#include <poll.h>

#include "dev.h"

#define RING_ENTRIES	64
#define SOON		60000	/* ms */

/* A session; its number in open->session.  Returns 0, or an errno. */
static inline int native_open(int fd, struct ocf_session_open *open)
{
	open->size = sizeof(*open);
	open->session = 0;
	return call(fd, OCF_SESSION_OPEN, open);
}

/* One command, waited for: its ocf_result.res. */
static inline int native_run(int fd, const struct ocf_command *c)
{
	struct ocf_result r = { .res = -ENOMSG };
	struct ocf_vector v = {
		.commands = addr(c), .results = addr(&r), .count = 1,
	};
	int err = call(fd, OCF_RUN, &v);

	if (err)
		return -err;
	return r.cookie == c->cookie && !r.pad ? r.res : -EPROTO;
}

/* The same, handed in and fetched. */
static inline int native_submit(int fd, const struct ocf_command *c)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct ocf_result r = { .res = -ENOMSG };
	struct ocf_vector v = { .commands = addr(c), .count = 1 };
	struct ocf_reap reap = { .results = addr(&r), .count = 1 };

	if (ioctl(fd, OCF_SUBMIT, &v) != 1)
		return -errno;
	if (poll(&p, 1, SOON) != 1)
		return -ETIME;
	if (ioctl(fd, OCF_REAP, &reap) != 1)
		return -EPROTO;
	return r.cookie == c->cookie && !r.pad ? r.res : -EPROTO;
}

static inline bool ring_init(struct io_uring *ring)
{
	return !io_uring_queue_init(RING_ENTRIES, ring, IORING_SETUP_SQE128);
}

/* An entry with @len bytes at @cmd in it, for @fd */
static inline struct io_uring_sqe *ring_prepare(struct io_uring *ring, int fd,
						uint32_t op, const void *cmd,
						size_t len)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	memset(sqe, 0, 128);
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = fd;
	sqe->cmd_op = op;
	memcpy(sqe->cmd, cmd, len);
	return sqe;
}

/* What the next entry that ends says. */
static inline int ring_wait(struct io_uring *ring, uint64_t *data)
{
	struct __kernel_timespec soon = { .tv_sec = SOON / 1000 };
	struct io_uring_cqe *cqe;
	int res = io_uring_wait_cqe_timeout(ring, &cqe, &soon);

	if (data)
		*data = 0;
	if (res)
		return res;
	res = cqe->res;
	if (data)
		*data = cqe->user_data;
	io_uring_cqe_seen(ring, cqe);
	return res;
}

/* Where an entry has its data; @fixed: a registered buffer, or -1 */
static inline void ring_fixed(struct io_uring_sqe *sqe, int fixed)
{
	if (fixed < 0)
		return;
	sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
	sqe->buf_index = fixed;
}

/* One command in an entry; @fixed: as there */
static inline int ring_run(struct io_uring *ring, int fd,
			   const struct ocf_command *c, int fixed)
{
	ring_fixed(ring_prepare(ring, fd, OCF_URING_COMMAND, c, sizeof(*c)),
		   fixed);
	io_uring_submit(ring);
	return ring_wait(ring, NULL);
}

/* One in a vector in an entry; @fixed: as there */
static inline int ring_vector(struct io_uring *ring, int fd,
			      const struct ocf_command *c, int fixed)
{
	struct ocf_result r = { .res = -ENOMSG };
	struct ocf_vector v = {
		.commands = addr(c), .results = addr(&r), .count = 1,
	};
	int err;

	ring_fixed(ring_prepare(ring, fd, OCF_URING_VECTOR, &v, sizeof(v)),
		   fixed);
	io_uring_submit(ring);
	err = ring_wait(ring, NULL);
	if (err)
		return err;
	return r.cookie == c->cookie && !r.pad ? r.res : -EPROTO;
}

#endif /* TEST_NATIVE_H */
