/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A card in software: the map of the module.
 *
 * main.c adds and removes cards, and knobs.c has their files in sysfs.  ring.c
 * has the card's ring, the driver's side of it, and the card's clock.
 * compute.c computes results.  pk.c does all of this for public-key operations.
 * docs/sim.md describes every knob.
 *
 * When a request enters the ring, the card decides everything about it: which
 * engine takes it, when it is done, and which faults it has.  One timer waits
 * for the first request that is due.
 */
#ifndef OCF_SIM_H
#define OCF_SIM_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/ocf_driver.h>
#include <linux/ocf_pk.h>
#include <linux/spinlock.h>

#include "../../compat.h"

struct attribute_group;

#define SIM_ENGINES_MAX		16
#define SIM_SCRATCH		2048	/* bytes for the crypto API */
#define SIM_LEN_MAX		(1u << 20) /* bytes of a request */

/**
 * enum sim_knob - the properties of a card, with a file each
 * @SIM_ENGINES: requests worked on at a time
 * @SIM_OVERHEAD: ns an engine takes for any request
 * @SIM_PER_BYTE: ps that it takes for each byte of the request's span
 * @SIM_LATENCY: ns from the engine's end to the completion
 * @SIM_INTERVAL: ns from one interrupt to the next, at least
 * @SIM_DEPTH: requests in the ring
 * @SIM_CONTEXTS: contexts its memory has room for
 * @SIM_CONTEXT: ns it takes to make a context
 * @SIM_SLOW: per cent by which an engine's time is multiplied
 * @SIM_PUBLIC: ns an engine takes for RSA by a private key of 2048 bits
 * @SIM_COMPUTE: 1; or 0: compute nothing, to take none of the CPU's time
 * @SIM_KNOBS: how many there are
 */
enum sim_knob {
	SIM_ENGINES,
	SIM_OVERHEAD,
	SIM_PER_BYTE,
	SIM_LATENCY,
	SIM_INTERVAL,
	SIM_DEPTH,
	SIM_CONTEXTS,
	SIM_CONTEXT,
	SIM_SLOW,
	SIM_PUBLIC,
	SIM_COMPUTE,
	SIM_KNOBS
};

/**
 * enum sim_fault - faults; each happens to a given number of requests
 * @SIM_BUSY: is refused, as if the ring were full
 * @SIM_ERROR: ends with -EIO
 * @SIM_WRONG: has a wrong bit in its result
 * @SIM_TAG: has a wrong bit in its MAC or tag, or a right one is refused
 * @SIM_LOST: never ends
 * @SIM_LATE: ends some ms later than it should
 * @SIM_DOUBLE: is completed twice
 * @SIM_STALL: makes the card silent for some ms when it enters
 * @SIM_DEATH: happens to the card: when the given number of requests is inside,
 *	it stops answering
 * @SIM_REFUSE: happens to the card: it refuses to stop, the given number of
 *	times
 * @SIM_FAULTS: how many there are
 */
enum sim_fault {
	SIM_BUSY,
	SIM_ERROR,
	SIM_WRONG,
	SIM_TAG,
	SIM_LOST,
	SIM_LATE,
	SIM_DOUBLE,
	SIM_STALL,
	SIM_DEATH,
	SIM_REFUSE,
	SIM_FAULTS
};

/**
 * struct sim_trouble - an armed fault
 * @count: how many requests have the fault; of SIM_DEATH: how many are inside
 *	when the card stops answering
 * @after: how many requests it spares first
 * @ms: how long it lasts
 */
struct sim_trouble {
	u32	count;
	u32	after;
	u32	ms;
};

/**
 * enum sim_counter - counters, with a file each
 * @SIM_SUBMITTED: requests that entered the ring
 * @SIM_COMPLETED: requests handed back to the core
 * @SIM_INTERRUPTS: interrupts
 * @SIM_REFUSED: submissions that got -EBUSY
 * @SIM_DETACHED: requests that the core detached
 * @SIM_ANSWERED_LATE: answers to requests that were detached
 * @SIM_SPURIOUS: completions of requests that were complete
 * @SIM_QUIESCES: calls of sim_quiesce()
 * @SIM_RESETS: times it was reset, or was to be
 * @SIM_COUNTERS: how many there are
 */
enum sim_counter {
	SIM_SUBMITTED,
	SIM_COMPLETED,
	SIM_INTERRUPTS,
	SIM_REFUSED,
	SIM_DETACHED,
	SIM_ANSWERED_LATE,
	SIM_SPURIOUS,
	SIM_QUIESCES,
	SIM_RESETS,
	SIM_COUNTERS
};

/* Which algorithms a card has. */
enum sim_algs {
	SIM_ALGS_ALL,
	SIM_ALGS_NULL,
	SIM_ALGS_REAL,
};

/**
 * struct sim_config - what a card is made with
 * @knob: by enum sim_knob
 * @trouble: by enum sim_fault
 * @algs: which algorithms
 * @public_key: does public-key operations
 * @bounce: gets memory of the driver's instead of the request's pages, and
 *	requests can be taken back from it
 * @patience: ocf_device_info.patience, ms
 */
struct sim_config {
	u32			knob[SIM_KNOBS];
	struct sim_trouble	trouble[SIM_FAULTS];
	enum sim_algs		algs;
	bool			public_key;
	bool			bounce;
	u32			patience;
};

/**
 * struct sim_slot - a slot of a card's ring
 * @node: in the card's @due
 * @req: the request; NULL if the slot is free, or the request was detached or
 *	is being completed
 * @id: with which the card completes it: the slot's number in the low bits, a
 *	count of its uses in the high bits
 * @fate: BIT(SIM_*) of its faults
 * @due: ns, when it is complete
 * @bounce: the card's own copy of the data, or NULL
 * @span: the part of the request that was copied
 */
struct sim_slot {
	struct list_head	node;
	struct ocf_request	*req;
	u32			id;
	u32			fate;
	u64			due;
	u8			*bounce;
	struct ocf_range	span;
};

/**
 * struct sim_card - a card
 * @dev: the registered device
 * @timer: expires when the first slot is due
 * @lock: protects all below but @contexts and @scratch
 * @config: the present knobs; @config.knob is read without the lock
 * @armed: BIT(SIM_*) of armed faults
 * @nslots: slots in the ring
 * @nfree: how many of them are free
 * @slots: the slots
 * @free: the numbers of @nfree free slots
 * @due: used slots, in the order of their completion
 * @expires: ns, when @timer expires; U64_MAX if it is not set
 * @completing: @timer's function runs, and will look at @due again
 * @engine_free: ns, when each engine is done with its work
 * @held: the card completes nothing
 * @silent_until: ns, the end of a stall
 * @quiet_until: ns, when the card may interrupt again
 * @blocked: the last submission of @blocked_dev got -EBUSY
 * @blocked_until: ns, when to unblock it if nothing completes before
 * @blocked_dev: the device, which is not @dev yet during its registration
 * @listens: report signs of life to @dev
 * @dead: the card answers nothing
 * @stopped: the card takes requests and does nothing
 * @count: by enum sim_counter
 * @contexts: how many contexts there are
 * @scratch: memory for the crypto API, used by @timer's function
 * @pk: its part in public-key operations, or NULL
 */
struct sim_card {
	struct ocf_device	*dev;
	struct hrtimer		timer;
	spinlock_t		lock;
	struct sim_config	config;
	u32			armed;
	u32			nslots;
	u32			nfree;
	struct sim_slot		*slots;
	u16			*free;
	struct list_head	due;
	u64			expires;
	bool			completing;
	u64			engine_free[SIM_ENGINES_MAX];
	bool			held;
	u64			silent_until;
	u64			quiet_until;
	bool			blocked;
	u64			blocked_until;
	struct ocf_device	*blocked_dev;
	bool			listens;
	bool			dead;
	bool			stopped;
	u64			count[SIM_COUNTERS];
	atomic_t		contexts;
	u8			scratch[SIM_SCRATCH] CRYPTO_MINALIGN_ATTR;
	struct sim_pk		*pk;
};

/* main.c */
struct sim_card *sim_card_of(struct device *dev);

/* knobs.c */
extern const struct attribute_group *sim_groups[];
void sim_config_init(struct sim_config *config);
int sim_number(const char *text, u32 min, u32 max, u32 *value);
int sim_config_parse(struct sim_config *config, char *text);

/* ring.c */
u64 sim_engage(struct sim_card *card, u64 now, u64 ns);
bool sim_befalls(struct sim_card *card, enum sim_fault fault);
u32 sim_draw_fate(struct sim_card *card, bool tag, u32 inside, u64 now);
int sim_ring_init(struct sim_card *card);
void sim_ring_exit(struct sim_card *card);
void sim_listen(struct sim_card *card, bool listens);
void sim_hold(struct sim_card *card, bool held);
u64 sim_silent_until(const struct sim_card *card);
int sim_submit(struct ocf_request *req, bool more);
bool sim_detach(struct ocf_request *req);
int sim_quiesce(struct ocf_device *dev);
int sim_reset(struct ocf_device *dev);

/* pk.c */
extern const struct ocf_pk_ops sim_pk_ops;
int sim_pk_init(struct sim_card *card);
void sim_pk_exit(struct sim_card *card);
void sim_pk_stop(struct sim_card *card);

/* source.c */
int sim_add_source(const char *text);
int sim_remove_source(const char *text);
void sim_remove_sources(void);

/* compute.c */
extern atomic_long_t sim_falsified;
void sim_algs(enum sim_algs which, struct ocf_device_info *info);
int sim_ctx_init(struct ocf_context *ctx, const struct ocf_session_params *p);
void sim_ctx_exit(struct ocf_context *ctx);
size_t sim_ctx_size(void);
int sim_compute(struct sim_card *card, struct ocf_request *req,
		const struct sim_slot *slot);

#endif /* OCF_SIM_H */
