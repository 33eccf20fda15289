/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/crypto: the map of the module.
 *
 * An open file has sessions and operations in flight.  An operation holds all
 * that it needs.  The caller frees it; if the caller was killed, the completion
 * frees it.  linux.c and bsd.c are two of the ABIs: each translates its
 * structures to the calls below.  No other file knows them.
 *
 * Each user has limits: of sessions, of bytes in flight, and of operations in
 * the ring of a file.  Memory is charged to the cgroup of the caller.
 */
#ifndef OCF_CDEV_H
#define OCF_CDEV_H

#include <linux/atomic.h>
#include <linux/compat.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ocf.h>
#include <linux/ocf_user.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include "../../compat.h"
#include "../owner.h"

#define CDEV_LEN_MAX	(16u << 20)	/* bytes of data, or of AAD, in one
					 * operation */
#define CDEV_RING	64		/* asynchronous operations of a file */
#define CDEV_SPARES	128		/* operations a file keeps for the next
					 * that go to a card */
#define CDEV_INLINE	1536		/* bytes of buffer in an operation */

/*
 * From this size on, pinning the user's pages costs less than copying to our
 * own pages and back: see docs/bench.md.  Up to CDEV_INLINE bytes need no
 * pages, and copying them is cheaper.
 */
#define CDEV_PIN_MIN	2048

/**
 * struct cdev_user - what a user has, in all open files together
 * @uid: the user
 * @refs: one for each open file
 * @account: the account to which the memory of sessions is charged
 * @sessions: sessions that are open
 * @bytes: bytes of operations in flight
 * @keys: public-key operations in flight
 * @node: in the table of users
 */
struct cdev_user {
	kuid_t			uid;
	refcount_t		refs;
	struct ocf_account	*account;
	atomic_t		sessions;
	atomic_long_t		bytes;
	atomic_t		keys;
	struct hlist_node	node;
};

/**
 * struct cdev_table - the sessions of an open file
 * @size: of @slot
 * @rcu: for the grace period after a larger table has replaced this one
 * @slot: by the low bits of the session's id
 */
struct cdev_table {
	u32			size;
	struct rcu_head		rcu;
	struct cdev_session __rcu *slot[];
};

/**
 * struct cdev_file - an open file
 * @ref: the file's and one for each operation that may outlive its call
 * @user: the user to which the file is charged
 * @number: identifies it to programs; random and not 0
 * @lock: held while a session is opened or closed
 * @table: read under RCU
 * @sequence: part of the next session's id, so that no id is used again soon.
 *	It begins at random, so that a program whose descriptor was closed and
 *	reused does not hit another file's session
 * @spare: an operation kept for the next call, or NULL
 * @ring_lock: protects @done, @flight, @spares, @eventfd and @workers
 * @done: asynchronous operations that are complete, oldest first
 * @unfetched: asynchronous operations in flight or in @done
 * @flight: native commands in flight
 * @cancel: held while a task looks for commands to cancel
 * @spares: more operations kept for later calls, charged to the user
 * @nspares: how many
 * @eventfd: signalled for each native result, or NULL
 * @workers: threads of the process that last submitted work for them, or NULL.
 *	They are kept, because the process will submit more
 * @wait: for poll(), and for tasks that wait for native commands
 * @closed: no task will fetch results any more
 */
struct cdev_file {
	struct kref		ref;
	struct cdev_user	*user;
	u64			number;
	struct mutex		lock;
	struct cdev_table __rcu	*table;
	u32			sequence;
	struct cdev_op		*spare;
	spinlock_t		ring_lock;
	struct list_head	done;
	atomic_t		unfetched;
	struct list_head	flight;
	struct mutex		cancel;
	struct cdev_op		*spares;
	unsigned int		nspares;
	struct eventfd_ctx	*eventfd;
	struct ocf_workers	*workers;
	wait_queue_head_t	wait;
	bool			closed;
};

/**
 * struct cdev_derived - a session's keys in another mode, or with another tag
 * @mode: the mode
 * @maclen: bytes
 * @ses: the core's session
 * @node: in the list of its session
 */
struct cdev_derived {
	enum ocf_mode		mode;
	u32			maclen;
	struct ocf_session	*ses;
	struct list_head	node;
};

/**
 * struct cdev_session - a session of an open file
 * @refs: one of the table and one of each operation
 * @id: its number for the program
 * @abi: the ABI it was opened by; calls of other ABIs may not use it
 * @user: the user that it is charged to
 * @ses: the core's session
 * @info: what it is
 * @cipher: row of its cipher, or NULL
 * @mac: row of its MAC, or NULL
 * @iv_lock: protects the next seven fields; only an operation with
 *	cdev_op.keeps set writes @iv without it
 * @iv: the IV for the next operation without one: that of the operation
 *	@iv_now.  A counter is advanced past an operation's data when the
 *	operation takes it
 * @iv_last: number of the latest operation that took or brought an IV, from 1
 *	on
 * @iv_now: number of the operation that @iv comes from; U64_MAX for a counter,
 *	which is always known
 * @iv_busy: @iv_now differs from @iv_last
 * @iv_spent: the counter in @iv has reached its end
 * @iv_before: a counter's @iv before the operation @iv_last
 * @iv_was_spent: @iv_spent before the operation @iv_last
 * @begun: @state holds something
 * @ordered: operations end in the order in which they began
 * @iv_wait: tasks that wait until @iv is known
 * @parts: held by an operation that uses @state
 * @state: of a digest in parts, or NULL
 * @derived: sessions with the same keys, for other modes and tags; under @parts
 * @workers: worker threads of the first process that used the session while
 *	there was a card, or NULL
 * @process: that process; NULL without @workers, which hold it
 * @rcu: frees it after a grace period
 */
struct cdev_session {
	refcount_t			refs;
	u32				id;
	enum ocf_abi			abi;
	struct cdev_user		*user;
	struct ocf_session		*ses;
	struct ocf_session_info		info;
	const struct ocf_alg_info	*cipher;
	const struct ocf_alg_info	*mac;
	spinlock_t			iv_lock;
	u8				iv[OCF_IV_MAX];
	u64				iv_last;
	u64				iv_now;
	bool				iv_busy;
	bool				iv_spent;
	u8				iv_before[OCF_IV_MAX];
	bool				iv_was_spent;
	bool				begun;
	bool				ordered;
	wait_queue_head_t		iv_wait;
	struct mutex			parts;
	u8				*state;
	struct list_head		derived;
	struct ocf_workers		*workers;
	const struct pid		*process;
	struct rcu_head			rcu;
};

/* How the memory of a buffer was obtained. */
enum cdev_buffer_kind {
	CDEV_NONE,
	CDEV_INLINED,		/* in the operation */
	CDEV_PAGES,		/* pages of ours */
	CDEV_PINNED,		/* pages of the user's */
	CDEV_FIXED,		/* of a buffer registered with io_uring */
};

#define CDEV_SG_INLINE	7	/* entries: 16 KiB and a tag at any address, and
				 * one of ours before */

/**
 * struct cdev_buffer - a buffer of an operation
 * @kind: how its memory was obtained
 * @write: of CDEV_PINNED: pages may have been written
 * @lead: of CDEV_PINNED: the first entry is the operation's
 * @nents: entries of @sg in use
 * @end: of @few: one past the entry that is marked as the last, or 0
 * @sg: @few, or memory of its own
 * @few: entries for small buffers, and one for cdev_buffer_trail()
 * @pages: the pages that were pinned last; of a small buffer all pages
 */
struct cdev_buffer {
	enum cdev_buffer_kind	kind;
	bool			write;
	bool			lead;
	unsigned int		nents;
	unsigned int		end;
	struct scatterlist	*sg;
	struct scatterlist	few[CDEV_SG_INLINE + 1];
	struct page		*pages[CDEV_SG_INLINE];
};

/**
 * struct cdev_op - one operation
 * @req: the core's request
 * @file: its file; held if @loose
 * @ses: held; NULL before it is known, and for a public-key operation
 * @charged: bytes charged to the user
 * @locker: the user whose locked memory includes the pinned pages, or NULL
 * @locked: pages charged to @locker
 * @loose: may outlive the call that started it
 * @lasting: lasts until its result is fetched, which may take any time
 * @cancelled: a native command that was cancelled
 * @pins_last: its pages may stay pinned as long as the user wants
 * @paid: its own memory is included in @charged
 * @has_workers: it holds @req.workers
 * @chained: has a @turn
 * @keeps: has no @turn; when it is delivered, its IV is stored in the session
 *	for the next operation
 * @err: of asynchronous operations: the result
 * @src: source, and destination if there is no other
 * @dst: destination, if it is another
 * @mm: of asynchronous operations: the memory into which results are written;
 *	held
 * @node: in cdev_file.done
 * @work: frees it if the current context must not sleep
 * @user: for the ABI's code, until the results have been delivered
 * @state: a copy of cdev_session.state, which is replaced on success
 * @wrong: of a public-key command, which has no @state: the field that was
 *	found wrong before the core had the command, or OCF_FIELD_NONE
 * @public: of a native public-key command: its further state
 * @vector: of a native command: the vector it came in, or NULL
 * @turn: of an operation that is @chained: its number, see cdev_session.iv_last
 * @ioucmd: of a native command: the io_uring command it came with, or NULL
 * @passed: of a native command: PASSED_* in vector.c
 * @held: of a native command: references of its owner and of a canceller
 * @next: the next operation of a list to be cancelled, or of spare ones
 * @flight: of a native command: in cdev_file.flight
 * @inlined: entry for @bytes, made once
 * @bytes: buffer for CDEV_INLINED, and for the entry before CDEV_PINNED
 */
struct cdev_op {
	struct ocf_request	req;
	struct cdev_file	*file;
	struct cdev_session	*ses;
	size_t			charged;
	struct user_struct	*locker;
	unsigned int		locked;
	bool			loose;
	bool			lasting;
	bool			cancelled;
	bool			pins_last;
	bool			paid;
	bool			has_workers;
	bool			chained;
	bool			keeps;
	int			err;
	struct cdev_buffer	src, dst;
	struct mm_struct	*mm;
	struct list_head	node;
	struct work_struct	work;
	u8			user[80] __aligned(8);
	union {
		u8		state[OCF_STATE_MAX] __aligned(8);
		enum ocf_field	wrong;
	};
	struct cdev_public	*public;
	union {
		struct cdev_vector	*vector;
		u64			turn;
	};
	struct io_uring_cmd	*ioucmd;
	atomic_t		passed;
	refcount_t		held;
	struct cdev_op		*next;
	struct list_head	flight;
	struct scatterlist	inlined;
	u8			bytes[CDEV_INLINE] __aligned(16);
};

/* the next size of kmalloc() is twice as large */
static_assert(IS_ENABLED(CONFIG_LOCKDEP) || sizeof(struct cdev_op) <= 4096);

/* The owner of an operation's work, for fairness in the queue of a card */
static inline u32 cdev_owner(const struct cdev_file *file)
{
	return ocf_owner(file->user->uid);
}

/**
 * struct cdev_param - a parameter of a public-key operation
 * @p: its address
 * @bits: its length
 */
struct cdev_param {
	void __user	*p;
	u32		bits;
};

/**
 * struct cdev_kop - a public-key operation: crypt_kop of both ABIs
 * @op: which
 * @status: 0 or an errno
 * @in: number of input parameters
 * @out: number of results, which follow them
 * @crid: the device
 * @param: all of them
 */
struct cdev_kop {
	u32			op;
	u32			status;
	u16			in;
	u16			out;
	u32			crid;
	struct cdev_param	param[8];
};

/* The same of a 32-bit program */
struct cdev_compat_kop {
	u32		op;
	u32		status;
	u16		in;
	u16		out;
	u32		crid;
	struct {
		u32	p;
		u32	bits;
	}		param[8];
};

/* main.c */
extern unsigned int cdev_max_sessions;
extern unsigned int cdev_max_keys;
extern unsigned long cdev_max_bytes;
void cdev_file_put(struct cdev_file *file);
long cdev_clone_fd(struct file *filp, u32 __user *arg);

/* user.c */
struct cdev_user *cdev_user_get(kuid_t uid);
void cdev_user_put(struct cdev_user *user);
int cdev_user_add_session(struct cdev_user *user, size_t bytes);
void cdev_user_sub_session(struct cdev_user *user, size_t bytes);
int cdev_user_add_bytes(struct cdev_user *user, size_t bytes);
void cdev_user_owe_bytes(struct cdev_user *user, size_t bytes);
bool cdev_user_is_full(struct cdev_user *user);
bool cdev_user_has_plenty(const struct cdev_user *user);
void cdev_user_sub_bytes(struct cdev_user *user, size_t bytes);
int cdev_user_add_key(struct cdev_user *user);
void cdev_user_sub_key(struct cdev_user *user);

/* session.c */
int cdev_table_init(struct cdev_file *file);
void cdev_table_exit(struct cdev_file *file);
struct cdev_session *cdev_session_create(struct cdev_file *file,
					 enum ocf_abi abi,
					 const struct ocf_session_params *p);
/* For callers that use no ABI */
#define CDEV_ABI_ANY	((enum ocf_abi)-1)

struct cdev_session *cdev_session_find(struct cdev_file *file,
				       enum ocf_abi abi, u32 id);
void cdev_session_put(struct cdev_session *ses);
void cdev_session_start_wanted(struct cdev_session *ses);
struct ocf_workers *cdev_session_workers(struct cdev_session *ses);
int cdev_session_end(struct cdev_file *file, enum ocf_abi abi, u32 id);
struct ocf_session *cdev_session_as(struct cdev_session *ses,
				    enum ocf_mode mode, u32 maclen);
int cdev_session_state(struct cdev_session *ses);
int cdev_key_copy(u8 *key, u32 max, const void __user *from, u32 len);

/* iv.c */
void cdev_iv_init(struct cdev_session *ses);
int cdev_iv_take(struct cdev_op *op, bool own);
void cdev_iv_end(struct cdev_op *op, int err);
void cdev_iv_untake(struct cdev_op *op);

/**
 * cdev_iv_leave() - note that an operation has ended, for the IV of the next
 * one
 * @op: the operation; may be one that has taken no IV
 * @err: its result; after an error the next operation begins where this one
 *	did, unless the IV is a counter
 *
 * Context: process or BH.
 */
static inline void cdev_iv_leave(struct cdev_op *op, int err)
{
	if (unlikely(op->chained))
		cdev_iv_end(op, err);
}

/**
 * cdev_iv_return() - undo cdev_iv_take() for an operation that was not begun
 * @op: the operation; may be one that has taken no IV, or NULL
 *
 * A counter is not put back if a later operation has taken its IV.
 *
 * Context: process or BH.
 */
static inline void cdev_iv_return(struct cdev_op *op)
{
	if (op && op->chained)
		cdev_iv_untake(op);
}

/* op.c */
int cdev_ops_init(void);
void cdev_ops_drain(void);
struct cdev_op *cdev_op_get(struct cdev_file *file);
void cdev_op_set(struct cdev_op *op, struct cdev_session *ses,
		 struct ocf_session *as);
void cdev_op_put(struct cdev_op *op);
void cdev_op_put_deferred(struct cdev_op *op);
void cdev_op_let_loose(struct cdev_op *op);
void cdev_op_use_workers(struct cdev_op *op);
void cdev_op_lend_workers(struct cdev_op *op);
u32 cdev_op_offload(struct cdev_op *op, u32 flags);
void cdev_op_drop_spare(struct cdev_file *file);
void cdev_op_uncharge(struct cdev_op *op);
int cdev_op_charge(struct cdev_op *op, size_t bytes);
int cdev_op_charge_locked(struct cdev_op *op, unsigned int pages);
int cdev_op_charge_self(struct cdev_op *op);
void cdev_op_owe_self(struct cdev_op *op);
int cdev_op_run(struct cdev_op **op);

/**
 * cdev_op_name_workers() - let the calling process restart an operation
 * @op: the operation, set, and not begun
 *
 * If a card fails the operation, threads of the calling process also do the
 * CPU's work on it.
 *
 * Context: process; may sleep.
 */
static inline void cdev_op_name_workers(struct cdev_op *op)
{
	if (ocf_has_cards())
		cdev_op_lend_workers(op);
}

/* buffer.c */
int cdev_buffer_make(struct cdev_op *op, u32 len);
int cdev_buffer_pin(struct cdev_op *op, u32 lead, const void __user *src,
		    u32 src_len, void __user *dst, u32 dst_len);
bool cdev_buffer_apart(const void __user *src, const void __user *dst,
		       u32 src_len, u32 dst_len);
int cdev_buffer_pin_one(struct cdev_op *op, struct cdev_buffer *buf, u32 lead,
			void __user *addr, u32 len);
int cdev_buffer_fixed(struct cdev_op *op, struct cdev_buffer *buf, u32 lead,
		      const struct iov_iter *from, u32 len);
void cdev_buffer_trail(struct cdev_op *op, struct cdev_buffer *buf, u32 at,
		       u32 len);
int cdev_buffer_iter(struct cdev_op *op, u32 at, struct iov_iter *iter,
		     u32 len, bool in);
bool cdev_buffer_pinnable(const void __user *src, const void __user *dst,
			  u32 src_len, u32 dst_len);
int cdev_buffer_read(struct cdev_op *op, u32 at, const void __user *from,
		     u32 len);
int cdev_buffer_write(struct cdev_op *op, u32 at, void __user *to, u32 len);
void cdev_buffer_fill(struct cdev_op *op, u32 at, u8 byte, u32 len);
void cdev_buffers_free(struct cdev_op *op);

/* async.c */
int cdev_async_submit(struct cdev_op *op);
int cdev_async_reserve(struct cdev_op *op);
void cdev_async_unreserve(struct cdev_file *file, unsigned int n);
void cdev_async_done(struct cdev_op *op, int err);
bool cdev_async_finish_locked(struct cdev_op *op);
unsigned int cdev_async_fetch(struct cdev_file *file, enum ocf_abi abi,
			      unsigned int room, struct list_head *ops);
__poll_t cdev_async_poll(struct cdev_file *file, struct file *filp,
			 struct poll_table_struct *table);
void cdev_async_flush(struct cdev_file *file);
void cdev_async_close(struct cdev_file *file);

/* key.c */
int cdev_key(struct cdev_file *file, struct cdev_kop *kop, int device,
	     u32 flags);
u32 cdev_key_features(void);
int cdev_kop_read(struct cdev_kop *kop, const void __user *arg, bool compat);
void cdev_kop_fail(struct cdev_kop *kop, int err);
int cdev_kop_write(const struct cdev_kop *kop, void __user *arg, bool compat);

/* public.c */
void cdev_public_free(struct cdev_op *op);

/* native.c */
long cdev_native_ioctl(struct file *filp, unsigned int cmd, void __user *arg);
void cdev_native_close(struct cdev_file *file);

/* linux.c */
long cdev_linux_ioctl(struct file *filp, unsigned int cmd, void __user *arg);
long cdev_linux_compat(struct file *filp, unsigned int cmd, void __user *arg);

/* bsd.c */
long cdev_bsd_ioctl(struct file *filp, unsigned int cmd, void __user *arg);
long cdev_bsd_compat(struct file *filp, unsigned int cmd, void __user *arg);

#endif /* OCF_CDEV_H */
