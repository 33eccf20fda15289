/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Public-key operations: the core's side.
 *
 * op.c has the operands of each operation, and rsa.c the paddings of RSA.  pk.c
 * leads a request from submission to its end.  select.c chooses a device, where
 * queue.c lets the requests of owners wait; cpu.c and card.c do the work.
 * selftest.c has the known-answer tests.
 *
 * An operation takes so long that one lock, pk_lock, does for all lists of all
 * devices.  It is never held over a driver's method.
 */
#ifndef OCF_PK_H
#define OCF_PK_H

#include <crypto/internal/rsa.h>
#include <linux/ocf_pk.h>

#include "../core.h"

#define OCF_PK_CLASSES	8	/* of size, see ocf_pk_class() */
#define OCF_PK_WAITING	256	/* of one flow may wait for a card */

/**
 * struct ocf_pk_row - what an operation is made of
 * @name: of sysfs
 * @in: operands
 * @out: results
 * @size: the operand whose length is that of the numbers
 * @flags: OCF_PK_*
 * @text: operands that are no numbers, a bit each
 * @key: operands that are RSA keys, a bit each
 * @empty: operands that may be empty, a bit each
 */
struct ocf_pk_row {
	const char	*name;
	u8		in, out, size;
#define OCF_PK_IS_RSA	BIT(0)
#define OCF_PK_IS_EC	BIT(1)
#define OCF_PK_PRIVATE	BIT(2)	/* the RSA key is a private one */
	u8		flags;
	u8		text, key, empty;
};

/**
 * struct ocf_pk_plain - RSA without its padding
 * @op: what is left to be done: OCF_PK_RSA_ENCRYPT or OCF_PK_RSA_DECRYPT, which
 *	is signing too, of a number
 * @key: the key, in the consumer's memory, without zeros in front of @key.n
 * @k: bytes of the modulus
 * @bits: of the modulus
 * @em: the number it is of, @k bytes
 * @out: the result, @k bytes
 */
struct ocf_pk_plain {
	struct ocf_pk_op	op;
	struct rsa_key		key;
	u32			k;
	u32			bits;
	u8			em[OCF_PK_NUMBER_MAX];
	u8			out[OCF_PK_NUMBER_MAX];
};

/**
 * struct ocf_pk_cost - what a device takes for an operation of a size
 * @ns: of service; 0 if nobody knows
 * @heard: jiffies, when it was last learnt
 */
struct ocf_pk_cost {
	u64		ns;
	unsigned long	heard;
};

/**
 * struct ocf_pk_lines - who waits for a device, each flow in its own line
 * @waiting: requests, oldest first, by ocf_pk_request.flow
 * @count: how many
 * @busy: flows that have some, a bit each
 * @turn: the flow that comes first
 */
struct ocf_pk_lines {
	struct list_head	waiting[OCF_FLOWS];
	u16			count[OCF_FLOWS];
	unsigned long		busy;
	unsigned int		turn;
};

/**
 * struct ocf_pk_hand - one of the CPU's workers
 * @unit: the CPU's
 * @work: does what is next
 */
struct ocf_pk_hand {
	struct ocf_pk_unit	*unit;
	struct work_struct	work;
};

#define OCF_PK_HANDS	BITS_PER_LONG	/* at most */

/**
 * struct ocf_pk_unit - a device's part in public-key operations
 * @dev: the device
 * @codes: operations it has given right answers to
 * @closed: nothing enters
 * @inflight: requests inside the device
 * @lines: requests that wait for it
 * @count: on @inflight; on the CPU, worked on
 * @queued: on @lines
 * @backlog: ns of work in both; on the CPU, under way
 * @last: ns, when it last completed one
 * @inside: ns of work of @inflight
 * @most: ns, the most that was inside of late
 * @full_since: ns, when it was first found to take nothing with nothing in it;
 *	0 if it was not
 * @full: it was so for longer than it has patience when @watch looked last
 * @failures: in a row
 * @feed: gives it those that wait
 * @watch: looks for what is overdue
 * @cost: by operation and class of size
 * @done: requests that ended on it
 * @errors: of those, with an error
 * @replays: taken out or given back, and started on another device
 * @hands: of the CPU
 * @free: those that have nothing to do, a bit each
 *
 * All under pk_lock.
 */
struct ocf_pk_unit {
	struct ocf_device	*dev;
	u32			codes;
	bool			closed;
	struct list_head	inflight;
	struct ocf_pk_lines	lines;
	u32			count;
	u32			queued;
	u64			backlog;
	u64			last;
	u64			inside;
	u64			most;
	u64			full_since;
	bool			full;
	u32			failures;
	struct delayed_work	feed;
	struct delayed_work	watch;
	struct ocf_pk_cost	cost[OCF_PK_COUNT][OCF_PK_CLASSES];
	u64			done;
	u64			errors;
	u64			replays;
	struct ocf_pk_hand	*hands;
	unsigned long		free;
};

/* ocf_pk_request.at; under pk_lock */
enum {
	OCF_PK_IDLE,		/* on no list; whoever has it goes on */
	OCF_PK_QUEUED,		/* on unit->lines */
	OCF_PK_WORKING,		/* on unit->inflight */
	OCF_PK_TAKING,		/* being detached */
	OCF_PK_ANSWERED,	/* the device is done; off all lists */
};

/* fips.c */
bool ocf_fips_permits(const struct ocf_pk_op *op);

/* op.c: pure */
extern const struct ocf_pk_row ocf_pk_rows[OCF_PK_COUNT];
int ocf_pk_check(const struct ocf_pk_op *op);
int ocf_pk_check_result(const struct ocf_pk_op *op);
u32 ocf_pk_class_bytes(unsigned int class);
u32 ocf_pk_size(const struct ocf_pk_operand *number);
unsigned int ocf_pk_class(u32 bytes);
void ocf_pk_wipe(struct ocf_pk_op *op);

/* rsa.c */
int ocf_pk_rsa_prepare(struct ocf_pk_request *req);
int ocf_pk_rsa_finish(struct ocf_pk_request *req);
int ocf_pk_rsa_prove(const struct ocf_pk_request *req);
void ocf_pk_rsa_free(struct ocf_pk_request *req);

/* select.c */
u64 ocf_pk_delay(const struct ocf_device *dev, u64 since);
struct ocf_device *ocf_pk_choose(struct ocf_pk_request *req, int *err);
void ocf_pk_learn(struct ocf_pk_unit *unit, const struct ocf_pk_request *req,
		  u64 ns);

/* queue.c */
void ocf_pk_lines_init(struct ocf_pk_unit *unit);
void ocf_pk_line_up(struct ocf_pk_request *req, bool first);
void ocf_pk_line_leave(struct ocf_pk_request *req);
struct ocf_pk_request *ocf_pk_line_next(struct ocf_pk_unit *unit);

static inline bool ocf_pk_is_card(const struct ocf_device *dev)
{
	return dev->info.kind == OCF_KIND_HARDWARE;
}

/* ns, when @dev completed its latest public-key operation */
static inline u64 ocf_pk_last(const struct ocf_device *dev)
{
	return dev->pk ? READ_ONCE(dev->pk->last) : 0;
}

/* ns of public-key work inside @dev */
static inline u64 ocf_pk_inside(const struct ocf_device *dev)
{
	return dev->pk ? READ_ONCE(dev->pk->inside) : 0;
}

static inline const struct ocf_pk_ops *
ocf_pk_ops_of(const struct ocf_device *dev)
{
	return dev->info.pk;
}

/* cpu.c */
int ocf_pk_cpu_init(void);
void ocf_pk_cpu_exit(void);
void ocf_pk_cpu_flush(void);
int ocf_pk_make_hands(struct ocf_pk_unit *unit);
void ocf_pk_enter_software(struct ocf_pk_request *req);

/* card.c */
int ocf_pk_enter_card(struct ocf_pk_request *req);
bool ocf_pk_take_in_hand(struct ocf_pk_request *req);
bool ocf_pk_detach(struct ocf_pk_request *req);
int ocf_pk_make(struct ocf_device *dev);
void ocf_pk_free_unit(struct ocf_device *dev);
void ocf_pk_open(struct ocf_device *dev);
void ocf_pk_reclaim(struct ocf_device *dev);
void ocf_pk_end(struct ocf_device *dev);

/* pk.c */
extern spinlock_t ocf_pk_lock;
extern struct workqueue_struct *ocf_pk_wq;
int ocf_pk_init(void);
void ocf_pk_exit(void);
void ocf_pk_answered(struct ocf_pk_request *req, int err);
void ocf_pk_give_up(struct ocf_pk_request *req);
int ocf_pk_run_on(struct ocf_pk_request *req, struct ocf_device *testing,
		  unsigned long timeout);

/* show.c */
int ocf_pk_show(struct ocf_device *dev, char *buf);
int ocf_pk_show_names(struct ocf_device *dev, char *buf);
int ocf_pk_show_counters(struct ocf_device *dev, char *buf, int at);

/* selftest.c */
int ocf_pk_selftest(struct ocf_device *dev, bool again);

#endif /* OCF_PK_H */
