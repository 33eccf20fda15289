// SPDX-License-Identifier: BSD-2-Clause
/*
 * Valid entries of io_uring for the native interface.  Others rewrite an entry
 * while the kernel reads it.  Some entries are not waited for: they end while a
 * later one is waited for, or with the ring.  Their memory or registered buffer
 * may be gone before they end.
 */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "hostile_native.h"

#define ENTRIES		32
#define SOON		120	/* s */

/**
 * struct entry - an entry, and what a vector in it names
 * @sqe: with IORING_SETUP_SQE128
 * @bytes: all of it
 * @before: what is before the command
 * @c: the command
 * @m: the vector
 */
struct entry {
	union {
		struct io_uring_sqe	sqe;
		uint8_t			bytes[128];
		struct {
			uint8_t			before[48];
			struct ocf_command	c;
		};
	};
	struct many	m;
};

_Static_assert(offsetof(struct entry, c) == offsetof(struct io_uring_sqe, cmd),
	       "a command is where the entry has it");

static __thread struct io_uring ring;
static __thread int answers[2 * ENTRIES], nanswers, under_way;

/*
 * Opens the thread's ring and registers both regions, one of which will be
 * unmapped
 */
void hostile_open_ring(void)
{
	if (io_uring_queue_init(ENTRIES, &ring, IORING_SETUP_SQE128) ||
	    io_uring_register_buffers(&ring, regions, 2))
		abort();
}

/*
 * Registers the first buffer again, even while requests still use the old
 * registration.
 */
static void replace_buffer(void)
{
	int n = io_uring_register_buffers_update_tag(&ring, 0, regions, NULL,
						     1);

	/* it may be that too much is pinned at the moment */
	if (n != 1 && n != -ENOMEM)
		abort();
}

static void take(int res)
{
	answers[nanswers++] = res < 0 ? -res : 0;
}

/*
 * Takes the results of entries that have ended.  If @all is set, waits for all
 * entries.
 */
static void take_answers(bool all)
{
	struct __kernel_timespec soon = { .tv_sec = SOON };
	struct io_uring_cqe *cqe;

	nanswers = 0;
	while (under_way) {
		if (all ? io_uring_wait_cqe_timeout(&ring, &cqe, &soon) :
			  io_uring_peek_cqe(&ring, &cqe)) {
			/* no operation takes as long as @soon */
			if (all)
				take(-ETIME);
			return;
		}
		take(cqe->res);
		io_uring_cqe_seen(&ring, cqe);
		under_way--;
	}
}

static int hand_in(int fd, void *arg)
{
	struct entry *e = arg;
	struct io_uring_sqe *sqe;

	sqe = io_uring_get_sqe(&ring);
	e->sqe.fd = fd;
	memcpy(sqe, e->bytes, sizeof(e->bytes));
	if (sqe->cmd_op == OCF_URING_COMMAND)
		rewritten_at(sqe);
	if (io_uring_submit(&ring) != 1)
		abort();
	under_way++;
	if (one_in(8))
		replace_buffer();
	take_answers(one_in(2) || under_way == ENTRIES);
	return 0;
}

static int answer(const void *arg, int i)
{
	return i < nanswers ? answers[i] : -1;
}

/*
 * For a vector: first the results of the entries that ended, then those of its
 * commands
 */
static int answer_of_many(const void *arg, int i)
{
	const struct entry *e = arg;

	if (i < nanswers)
		return answers[i];
	i -= nanswers;
	if (i > COMMANDS)
		return -1;
	return e->m.r[i].res < 0 ? -e->m.r[i].res : 0;
}

static void entry_of(struct entry *e, uint32_t op)
{
	e->sqe.opcode = IORING_OP_URING_CMD;
	e->sqe.cmd_op = op;
}

static void fix(struct ocf_command *c)
{
	if (c->src)
		c->flags |= OCF_COMMAND_FIXED_SRC;
	if (c->dst)
		c->flags |= OCF_COMMAND_FIXED_DST;
}

static void valid_command(void *arg)
{
	struct entry *e = arg;

	entry_of(e, OCF_URING_COMMAND);
	a_command(&e->c);
	if (one_in(2))
		return;
	e->sqe.uring_cmd_flags = IORING_URING_CMD_FIXED;
	fix(&e->c);
}

static void valid_vector(void *arg)
{
	struct entry *e = arg;
	int i;

	entry_of(e, OCF_URING_VECTOR);
	a_vector(&e->m);
	memcpy(e->sqe.cmd, &e->m.v, sizeof(e->m.v));
	if (one_in(2))
		return;
	e->sqe.uring_cmd_flags = IORING_URING_CMD_FIXED;
	/* some commands of the vector do not use the registered buffer */
	for (i = 0; i < COMMANDS; i++)
		if (!one_in(4))
			fix(&e->m.c[i]);
}

static void valid_cancel(void *arg)
{
	struct entry *e = arg;

	entry_of(e, OCF_URING_CANCEL);
	*(uint64_t *)e->sqe.cmd = below(COOKIES);
}

#define ENTRY_FIELDS					\
	FIELD(struct entry, sqe.cmd_op, NUMBER),	\
	FIELD(struct entry, sqe.uring_cmd_flags, NUMBER), \
	FIELD(struct entry, sqe.buf_index, NUMBER)
/* a call may also collect the results of earlier entries of any kind */
#define ANSWERS		RESULTS, ENOENT, ENOTTY, EBADF

const struct hostile_call hostile_uring[] = {
	{ .name = "OCF_URING_COMMAND", .number = OCF_URING_COMMAND,
	  .size = sizeof(struct entry), .weight = 20, .valid = valid_command,
	  .make = hand_in, .result = answer,
	  .fields = { ENTRY_FIELDS, COMMAND_FIELDS(struct entry, c) },
	  .results = { ANSWERS } },
	{ .name = "OCF_URING_VECTOR", .number = OCF_URING_VECTOR,
	  .size = sizeof(struct entry), .weight = 10, .valid = valid_vector,
	  .make = hand_in, .result = answer_of_many,
	  .fields = {
		ENTRY_FIELDS,
		{ offsetof(struct entry, c), 8, POINTER },
		{ offsetof(struct entry, c) + 8, 8, POINTER },
		{ offsetof(struct entry, c) + 16, 4, LENGTH },
		{ offsetof(struct entry, c) + 20, 4, NUMBER },
		COMMAND_FIELDS(struct entry, m.c[0]),
		FIELD(struct entry, m.c[1].flags, NUMBER),
		FIELD(struct entry, m.c[1].src, POINTER),
		FIELD(struct entry, m.c[1].dst, POINTER),
		FIELD(struct entry, m.c[1].len, LENGTH),
	  }, .results = { ANSWERS } },
	{ .name = "OCF_URING_CANCEL", .number = OCF_URING_CANCEL,
	  .size = sizeof(struct entry), .weight = 2, .valid = valid_cancel,
	  .make = hand_in, .result = answer,
	  .fields = { ENTRY_FIELDS, { offsetof(struct entry, c), 8, NUMBER } },
	  .results = { ANSWERS } },
};
const int nhostile_uring = COUNT(hostile_uring);
