/* SPDX-License-Identifier: BSD-2-Clause */
/* Short calls for tests of the native interface. */
#ifndef TEST_NATIVE_H
#define TEST_NATIVE_H

/* before headers that include the macros of <linux/fs.h> */
#include <liburing.h>
#include <linux/ocf.h>
#include <poll.h>

#include "dev.h"

#define RING_ENTRIES	64
#define SOON		60000	/* ms */

/* Opens a session; its number is in open->session.  Returns 0 or an errno. */
static inline int native_open(int fd, struct ocf_session_open *open)
{
	open->size = sizeof(*open);
	open->session = 0;
	return call(fd, OCF_SESSION_OPEN, open);
}

/* The ocf_result.res of @c, or -EPROTO if @r is not one of its results. */
static inline int native_result(const struct ocf_command *c,
				const struct ocf_result *r)
{
	return r->cookie == c->cookie && (!r->wrong || r->res < 0) ? r->res :
								     -EPROTO;
}

/*
 * Makes the DER of a public key: an odd modulus of @bytes, and the exponent
 * 65537.
 */
static inline uint32_t native_rsa_key(uint8_t *der, int bytes)
{
	static const uint8_t exponent[] = { 2, 3, 1, 0, 1 };
	uint32_t inner = 4 + 1 + bytes + sizeof(exponent);
	uint8_t head[] = {
		0x30, 0x82, inner >> 8, inner & 0xff,
		0x02, 0x82, (bytes + 1) >> 8, (bytes + 1) & 0xff, 0,
	};

	memcpy(der, head, sizeof(head));
	memset(der + sizeof(head), 0xd5, bytes);
	memcpy(der + sizeof(head) + bytes, exponent, sizeof(exponent));
	return sizeof(head) + bytes + sizeof(exponent);
}

/* Runs one command and waits for it.  Returns its ocf_result.res. */
static inline int native_run(int fd, const struct ocf_command *c)
{
	struct ocf_result r = { .res = -ENOMSG };
	struct ocf_vector v = {
		.commands = addr(c), .results = addr(&r), .count = 1,
	};
	int err = call(fd, OCF_RUN, &v);

	if (err)
		return -err;
	return native_result(c, &r);
}

/* The same, by submitting and fetching. */
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
	return native_result(c, &r);
}

static inline bool ring_init(struct io_uring *ring)
{
	return !io_uring_queue_init(RING_ENTRIES, ring, IORING_SETUP_SQE128);
}

/*
 * Prepares an entry for @fd, and copies the @len bytes at @cmd into the entry.
 */
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

/* Waits for the next entry to end.  Returns its result. */
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

/*
 * Tells an entry that its data are in the registered buffer @fixed, or in none:
 * -1.
 */
static inline void ring_fixed(struct io_uring_sqe *sqe, int fixed)
{
	if (fixed < 0)
		return;
	sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
	sqe->buf_index = fixed;
}

/* Runs one command as an entry; @fixed: as in ring_fixed(). */
static inline int ring_run(struct io_uring *ring, int fd,
			   const struct ocf_command *c, int fixed)
{
	ring_fixed(ring_prepare(ring, fd, OCF_URING_COMMAND, c, sizeof(*c)),
		   fixed);
	io_uring_submit(ring);
	return ring_wait(ring, NULL);
}

/* Runs one command in a vector as an entry; @fixed: as in ring_fixed(). */
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
	return native_result(c, &r);
}

#endif /* TEST_NATIVE_H */
