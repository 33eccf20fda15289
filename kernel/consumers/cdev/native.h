/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native interface: <uapi/linux/ocf.h>.
 *
 * native.c opens sessions and answers queries.  command.c turns a command into
 * an operation, and public.c does so with a public-key command.  vector.c runs
 * and submits vectors of commands.  uring.c takes commands from io_uring.
 *
 * A command in flight is in cdev_file.flight, where it can be cancelled.  Its
 * completion races with the return of the task that submits it: the later one
 * owns it afterwards (cdev_op.passed).  ring_lock protects commands in flight.
 */
#ifndef OCF_CDEV_NATIVE_H
#define OCF_CDEV_NATIVE_H

#include <linux/ocf_pk.h>

#include "cdev.h"

/* cdev_session.abi; the core knows none of it */
#define CDEV_ABI_NATIVE		((enum ocf_abi)2)

struct io_uring_cmd;

/**
 * struct cdev_vector - commands that came together
 * @file: their file
 * @commands: the user's
 * @results: the user's
 * @count: how many
 * @left: commands without a result, and one more while they are submitted
 * @ses: session of the last command that went to a card; held while commands
 *	are submitted, or NULL
 * @under_way: operations in flight
 * @done: operations whose results are not delivered yet
 * @whole: completed when all are done
 * @ioucmd: io_uring's command, or NULL if a task waits
 * @err: an error of the whole call
 */
struct cdev_vector {
	struct cdev_file		*file;
	struct ocf_command __user	*commands;
	struct ocf_result __user	*results;
	u32				count;
	u32				left;
	struct cdev_session		*ses;
	struct list_head		under_way;
	struct list_head		done;
	struct completion		whole;
	struct io_uring_cmd		*ioucmd;
	int				err;
};

/* command.c */
#define CDEV_SPECIAL		1

int cdev_command_prepare(struct cdev_op *op);
enum ocf_field cdev_command_wrong(const struct cdev_op *op, int res);
int cdev_command_deliver(struct cdev_op *op);

/* native.c */
int cdev_device_of(const char *name, int *device);

/* public.c */
int cdev_public_prepare(struct cdev_op *op);
enum ocf_field cdev_public_wrong(const struct cdev_op *op, int res);
int cdev_public_submit(struct cdev_op *op, ocf_pk_done_t done);
int cdev_public_run(struct cdev_op *op);
void cdev_public_done(struct cdev_op *op);
void cdev_public_cancel(struct cdev_op *op);
int cdev_public_deliver(struct cdev_op *op);

/* vector.c */
struct cdev_op *cdev_command_get(struct cdev_file *file,
				 struct io_uring_cmd *ioucmd);
int cdev_command_submit(struct cdev_op *op, u32 flags);
int cdev_command_special(struct cdev_op *op);
void cdev_command_end(struct cdev_op *op);
int cdev_vector_read(struct cdev_vector *v, struct cdev_file *file,
		     const struct ocf_vector *given);
bool cdev_vector_start(struct cdev_vector *v, u32 flags);
void cdev_vector_deliver(struct cdev_vector *v);
int cdev_cookie_cancel(struct cdev_file *file, u64 cookie);
bool cdev_command_cancel(struct cdev_file *file, struct cdev_op **opp);
bool cdev_vector_cancel(struct cdev_file *file, struct cdev_vector **vp);
long cdev_vector_run(struct cdev_file *file, void __user *arg);
long cdev_vector_submit(struct cdev_file *file, void __user *arg);
long cdev_vector_reap(struct cdev_file *file, void __user *arg);

/* uring.c */
int cdev_uring_cmd(struct io_uring_cmd *ioucmd, unsigned int issue_flags);
void cdev_uring_done(struct cdev_op *op);
void cdev_uring_vector_done(struct cdev_vector *v);
bool cdev_uring_is_fixed(const struct io_uring_cmd *ioucmd);
int cdev_uring_side(struct cdev_op *op, struct cdev_buffer *buf, bool fixed,
		    u32 lead, u64 addr, u32 len);
int cdev_uring_share(struct cdev_op *op, u32 lead, u32 in, u32 out);
int cdev_uring_read(struct cdev_op *op, u32 at, u32 len);
int cdev_uring_write(struct cdev_op *op, u32 at, u64 addr, u32 len);

#endif /* OCF_CDEV_NATIVE_H */
