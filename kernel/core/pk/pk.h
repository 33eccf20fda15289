/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Public-key operations: the core's side.
 *
 * op.c checks the operands of each operation, and rsa.c does RSA's paddings.
 * pk.c starts and ends requests.  select.c selects a device, queue.c has the
 * requests that wait for it, cpu.c and card.c run them.  selftest.c tests
 * devices, and fips.c has what FIPS 140 forbids.
 *
 * One lock, pk_lock, protects the lists of all devices, because an operation
 * takes far longer than any of its critical sections.  No driver is called
 * while it is held.
 */
#ifndef OCF_PK_H
#define OCF_PK_H

#include <crypto/internal/rsa.h>
#include <linux/seq_file.h>
#include <linux/ocf_pk.h>

#include "../core.h"

#define OCF_PK_CLASSES	8	/* of size, see ocf_pk_class() */
/* requests of one flow that may wait for a card */
#define OCF_PK_WAITING	256

/**
 * struct ocf_pk_row - the shape of an operation
 * @name: in sysfs
 * @in: number of operands
 * @out: number of results
 * @size: the operand whose length gives the class of size
 * @flags: OCF_PK_*
 * @text: operands that are not numbers, a bit each
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
 * @op: the operation on the number: OCF_PK_RSA_ENCRYPT, or OCF_PK_RSA_DECRYPT,
 *	which also makes signatures
 * @key: the key, in the consumer's memory, without zeros in front of @key.n
 * @k: bytes of the modulus
 * @bits: of the modulus
 * @em: the number, @k bytes
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
 * struct ocf_pk_cost - what an operation of a size costs on a device
 * @ns: inside the device, a moving average; 0 if none was measured
 * @learned_at: jiffies, when @ns was last corrected
 */
struct ocf_pk_cost {
	u64		ns;
	unsigned long learned_at;
};

/**
 * struct ocf_pk_worker - one of the CPU's workers
 * @unit: the CPU's
 * @work: does the next request that waits
 */
struct ocf_pk_worker {
	struct ocf_pk_unit	*unit;
	struct work_struct	work;
};

#define OCF_PK_WORKERS BITS_PER_LONG /* at most */

/**
 * struct ocf_pk_unit - a device's part in public-key operations
 * @dev: the device
 * @codes: operations that passed a self-test
 * @closed: the card is being emptied; no request enters
 * @inflight: requests inside the card
 * @fair: requests that wait
 * @count: of @inflight; on the CPU, requests that are being done
 * @queued: of @fair
 * @last: ns, when the card last completed a request
 * @inside: estimated time in ns of all requests that @count counts
 * @most: ns, the recent maximum of @inside; decays slowly
 * @refusing_since: ns, when the card first refused a request with none inside;
 *	0 if it does not
 * @failures: requests in a row that the card did wrongly or ended with -EIO
 * @dispatch: gives requests that wait to the card
 * @cost: by operation and class of size
 * @workers: of the CPU
 * @idle: workers without work, a bit each
 *
 * All under pk_lock, but for @count, @queued, @last, @inside and @most, which
 * others read without it: a value that was right a moment ago is enough there.
 */
struct ocf_pk_unit {
	struct ocf_device	*dev;
	u32			codes;
	bool			closed;
	struct list_head	inflight;
	struct ocf_fair		fair;
	u32			count;
	u32			queued;
	u64			last;
	u64			inside;
	u64			most;
	u64 refusing_since;
	u32			failures;
	struct delayed_work dispatch;
	struct ocf_pk_cost	cost[OCF_PK_COUNT][OCF_PK_CLASSES];
	struct ocf_pk_worker *workers;
	unsigned long idle;
};

/* ocf_pk_request.at; under pk_lock */
enum {
	OCF_PK_CLAIMED, /* on no list; one task has it */
	OCF_PK_QUEUED, /* in unit->fair */
	OCF_PK_INFLIGHT, /* on unit->inflight */
	OCF_PK_DETACHING, /* claimed; being taken from the driver */
	OCF_PK_COMPLETED, /* the card is done with it; on no list */
};

/* fips.c */
u32 ocf_fips_codes(u32 codes);
bool ocf_fips_permits(const struct ocf_pk_op *op);

/* op.c: pure */
extern const struct ocf_pk_row ocf_pk_rows[OCF_PK_COUNT];
int ocf_pk_check(const struct ocf_pk_op *op, u32 *wrong);
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
u64 ocf_pk_backlog(const struct ocf_pk_unit *unit);
u64 ocf_pk_delay(const struct ocf_device *dev, u64 since);
struct ocf_device *ocf_pk_select(struct ocf_pk_request *req, int *err);
void ocf_pk_learn(struct ocf_pk_unit *unit, const struct ocf_pk_request *req,
		  u64 now);

/* queue.c */
void ocf_pk_enqueue(struct ocf_pk_request *req, bool first);
void ocf_pk_dequeue(struct ocf_pk_request *req);
struct ocf_pk_request *ocf_pk_dequeue_next(struct ocf_pk_unit *unit);

static inline bool ocf_pk_is_card(const struct ocf_device *dev)
{
	return dev->info.kind == OCF_KIND_HARDWARE;
}

/* ns, when @dev completed its latest public-key operation */
static inline u64 ocf_pk_last(const struct ocf_device *dev)
{
	return dev->pk ? READ_ONCE(dev->pk->last) : 0;
}

/* Whether @dev has public-key requests, waiting or inside. */
static inline bool ocf_pk_is_busy(const struct ocf_device *dev)
{
	return dev->pk && (READ_ONCE(dev->pk->count) ||
			   READ_ONCE(dev->pk->queued));
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
int ocf_pk_make_workers(struct ocf_pk_unit *unit);
void ocf_pk_start_on_cpu(struct ocf_pk_request *req);

/* card.c */
int ocf_pk_start_on_card(struct ocf_pk_request *req);
bool ocf_pk_claim(struct ocf_pk_request *req);
bool ocf_pk_detach(struct ocf_pk_request *req);
int ocf_pk_make(struct ocf_device *dev);
void ocf_pk_free_unit(struct ocf_device *dev);
void ocf_pk_open(struct ocf_device *dev);
void ocf_pk_reclaim(struct ocf_device *dev);
void ocf_pk_end(struct ocf_device *dev);
bool ocf_pk_overdue(const struct ocf_device *dev, u64 now);

/* pk.c */
extern spinlock_t ocf_pk_lock;
extern struct workqueue_struct *ocf_pk_wq;
int ocf_pk_init(void);
void ocf_pk_exit(void);
void ocf_pk_return(struct ocf_pk_request *req);
void ocf_pk_completed(struct ocf_pk_request *req, int err);
void ocf_pk_end_cancelled(struct ocf_pk_request *req);
int ocf_pk_run_on(struct ocf_pk_request *req, struct ocf_device *testing,
		  unsigned long timeout);

/* show.c */
void ocf_pk_show_cost(struct ocf_device *dev, struct seq_file *m);
int ocf_pk_show_names(struct ocf_device *dev, char *buf);

/* selftest.c */
int ocf_pk_selftest(struct ocf_device *dev, bool again);

#endif /* OCF_PK_H */
