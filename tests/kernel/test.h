/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of the core, as its consumers and drivers see it.
 *
 * A test gets a struct test, and checks values with CHECK() and EQUAL().  All
 * tests run when the module is loaded; loading fails with -EIO if one of them
 * has failed.  (The stock kernel has no KUnit.)
 */
#ifndef OCF_TEST_H
#define OCF_TEST_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/ocf.h>
#include <linux/ocf_driver.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct test {
	const char	*name;
	int		failed;
};

/* Rows of the suites; the last has no name. */
struct test_case {
	const char	*name;
	void		(*run)(struct test *t);
};

#define TEST(fn) { #fn, fn }

void test_fail(struct test *t, const char *file, int line, const char *what,
	       long long have, long long want);

#define EQUAL(t, have, want) ({						\
	long long __have = (long long)(have), __want = (long long)(want); \
	if (__have != __want)						\
		test_fail(t, __FILE__, __LINE__, #have, __have, __want); \
	__have == __want; })

#define CHECK(t, cond) EQUAL(t, !!(cond), 1)

extern const struct test_case session_tests[], request_tests[], cancel_tests[],
			      order_tests[], device_tests[], failure_tests[],
			      fair_tests[], room_tests[], scatter_tests[],
			      split_tests[], pk_tests[], stress_tests[];

/* main.c: seeded, so that a run can be repeated */
u32 test_random(u32 below);
extern unsigned int test_seconds;

/* What a card does with the next request it is given */
enum card_fault {
	CARD_WORKS,
	CARD_BUSY,		/* submit() says -EBUSY */
	CARD_FAILS,		/* completes with -EIO */
	CARD_IS_SHORT,		/* ... with -ENOMEM */
	CARD_CANCELS,		/* submit() cancels, and says -EBUSY */
	CARD_FAILS_AT_ONCE,	/* submit() says -EIO */
	CARD_LIES,		/* a byte of the result is wrong */
	CARD_TRUSTS,		/* takes any tag for right */
	CARD_TWICE,		/* completes two times */
	CARD_STALLS,		/* never completes */
	CARD_ACCUSES,		/* says that the tag is wrong */
	CARD_AT_ONCE,		/* submit() returns the result */
};

/* How the core takes back the requests in a card */
enum card_kind {
	CARD_IS_STOPPED,	/* by quiesce(), for good */
	CARD_IS_RESET,		/* ... and comes back after reset() */
	CARD_IS_LEFT,		/* by detach(), while the card goes on */
};

struct work;

/**
 * struct card - a card in software, which tests control
 * @dev: registered
 * @name: of the device, without its number
 * @depth: requests that it takes at a time
 * @modes: BIT(OCF_MODE_*)
 * @kind: how the core gets its requests back
 * @soft: it is registered as software, and works inside submit()
 * @ponder: with @soft, submit() waits for this, 250 s at most; or NULL
 * @pondering: calls of submit() that wait for @ponder
 * @patience: ms
 * @pk: its public-key operations, or NULL
 * @refuse_key: ctx_init() returns this
 * @room: the number of contexts that it can have; 0 for any number
 * @slow_to_refuse: ctx_init() returns -ENOSPC only when there is capacity again
 * @learn: ctx_init() waits for this, 100 s at most; or NULL
 * @learning: ctx_init() waits for @learn
 * @maker: the task that has called ctx_init()
 * @forget: ctx_exit() waits for this, 100 s at most; or NULL
 * @forgetting: ctx_exit() waits for @forget
 * @lock: protects all below
 * @taken: requests inside, by struct card_job, oldest first
 * @count: of @taken
 * @hold: completes nothing until card_release()
 * @fault: for the next @faults requests
 * @faults: number of requests that @fault still applies to
 * @victim: if not NULL, @fault applies to requests of this session only
 * @meanwhile: is submitted inside the next CARD_AT_ONCE, or NULL
 * @honest: number of requests that are done right before @fault applies
 * @submits: calls of submit() that did not return -EBUSY
 * @more: calls of these with "more"
 * @kicks: calls of kick()
 * @who: a task, or NULL
 * @by_who: of @submits, those by @who
 * @detached: calls of detach()
 * @resets: calls of reset()
 * @contexts: contexts that exist
 * @made: contexts that were made so far
 * @stopped: quiesce() was called
 * @work: completes requests
 */
struct card {
	struct ocf_device	*dev;
	const char		*name;
	unsigned int		depth;
	unsigned long		modes;
	enum card_kind		kind;
	bool			soft;
	struct completion	*ponder;
	atomic_t		pondering;
	unsigned int		patience;
	const struct ocf_pk_ops	*pk;
	int			refuse_key;
	unsigned int		room;
	bool			slow_to_refuse;
	struct completion	*learn;
	bool			learning;
	struct task_struct	*maker;
	struct completion	*forget;
	bool			forgetting;
	spinlock_t		lock;
	struct list_head	taken;
	unsigned int		count;
	bool			hold;
	enum card_fault		fault;
	unsigned int		faults;
	struct ocf_session	*victim;
	struct work		*meanwhile;
	unsigned int		honest;
	unsigned int		submits, more, kicks;
	struct task_struct	*who;
	unsigned int		by_who;
	unsigned int		detached, resets;
	atomic_t		contexts;
	unsigned int		made;
	bool			stopped;
	struct work_struct	work;
};

/* card.c: computes AES-CBC, AES-GCM and the null transform */
struct card *card_alloc(unsigned int depth);
int card_register(struct card *card);
struct card *card_make(struct test *t, unsigned int depth);
struct card *card_make_other(struct test *t, unsigned int depth);
struct card *card_make_soft(struct test *t);
void card_until_pondering(struct test *t, struct card *card, int n);
void card_unregister(struct card *card);
void card_free(struct card *card);
void card_drop(struct card *card);
void card_hold(struct card *card);
void card_release(struct card *card);
struct ocf_request *card_take(struct card *card, unsigned int nth);
void card_complete(struct card *card, unsigned int nth, int err);
bool card_has(struct card *card, const struct ocf_request *req);
void card_settle(struct card *card);
void card_faults(struct card *card, enum card_fault fault, unsigned int n);
int card_number(const struct card *card);

/**
 * struct work - a request with its buffers and its result
 * @req: the request
 * @len: bytes of data
 * @buf: @len + OCF_TAG_MAX bytes; a pattern at first
 * @out: as large as @buf; the destination, unless the request works in place
 * @src: over @buf
 * @dst: over @out
 * @calls: of the callback
 * @err: the result that the callback was told
 * @serial: the number of the callback, in the order of all callbacks
 * @done: completed by the callback
 */
struct work {
	struct ocf_request	req;
	u32			len;
	u8			*buf, *out;
	struct scatterlist	src, dst;
	atomic_t		calls;
	int			err;
	int			serial;
	struct completion	done;
};

/* work.c */
struct ocf_session *work_session(struct test *t, enum ocf_alg alg, u32 flags,
				 int device);
struct work *work_make(struct ocf_session *ses, u32 len, u32 flags);
void work_free(struct work *w);
int work_submit(struct work *w);
int work_wait(struct work *w);
bool work_arrived(struct work *w);
bool work_right(struct work *w, u8 key);
extern atomic_t work_serial;

#define WORK_KEY	0x42	/* every byte of the usual key */
#define WORK_IV		0x17	/* every byte of the IV */

#endif /* OCF_TEST_H */
