// SPDX-License-Identifier: BSD-2-Clause
/*
 * /dev/crypto, by the native interface: many small commands at a time.
 */
#include <fcntl.h>
#include <liburing.h>
#include <linux/ocf.h>
#include <string.h>
#include <sys/ioctl.h>

#include "../tools/speed/way.h"
#include "native.h"

#define LEN	64		/* bytes of a command */

static int fd;
static struct ocf_command commands[NATIVE_MANY];
static struct ocf_result results[NATIVE_MANY];
static struct io_uring ring;

bool native_begin(const char *cipher, size_t keylen)
{
	struct ocf_session_open open_it = {
		.size = sizeof(open_it), .mode = OCF_MODE_CIPHER,
		.key = keylen ? (uintptr_t)key : 0, .keylen = keylen,
	};
	int i;

	if (!ring.ring_fd &&
	    io_uring_queue_init(NATIVE_MANY, &ring, IORING_SETUP_SQE128))
		return false;
	if (!fd)
		fd = open("/dev/crypto", O_RDWR | O_CLOEXEC);
	strcpy(open_it.cipher, cipher);
	lay_out(NATIVE_MANY * LEN, 1);
	if (fd < 0 || ioctl(fd, OCF_SESSION_OPEN, &open_it))
		return false;
	for (i = 0; i < NATIVE_MANY; i++)
		commands[i] = (struct ocf_command){
			.cookie = i, .session = open_it.session,
			.src = (uintptr_t)src_at(0) + i * LEN,
			.dst = (uintptr_t)dst_at(0) + i * LEN, .len = LEN,
		};
	return true;
}

bool native_end(void)
{
	return !ioctl(fd, OCF_SESSION_CLOSE, &commands[0].session);
}

bool native_vector(void)
{
	struct ocf_vector v = {
		.commands = (uintptr_t)commands, .results = (uintptr_t)results,
		.count = NATIVE_MANY,
	};

	return !ioctl(fd, OCF_RUN, &v) &&
	       results[NATIVE_MANY - 1].res == LEN;
}

static void put_entry(const struct ocf_command *c)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe)
		return;
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = fd;
	sqe->cmd_op = OCF_URING_COMMAND;
	memcpy(sqe->cmd, c, sizeof(*c));
}

bool native_uring(void)
{
	struct io_uring_cqe *cqe;
	bool ok = true;
	int i;

	for (i = 0; i < NATIVE_MANY; i++)
		put_entry(&commands[i]);
	if (io_uring_submit_and_wait(&ring, NATIVE_MANY) != NATIVE_MANY)
		return false;
	for (i = 0; i < NATIVE_MANY; i++) {
		if (io_uring_peek_cqe(&ring, &cqe))
			return false;
		ok &= cqe->res == LEN;
		io_uring_cqe_seen(&ring, cqe);
	}
	return ok;
}
