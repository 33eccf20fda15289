/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Accelerators that Linux's crypto API drives, as devices of the framework.
 *
 * One device stands for the implementations of one kernel module, which share
 * an accelerator and so its speed: bridge0, ...
 *
 * The crypto API has no way to stop a request.  So an accelerator gets no page
 * of a request's, but memory of a slot's, of which a device has as many as its
 * depth.  A request can be taken back at any time; the slot, with the transform
 * it was for, stays set aside until the implementation has called back, be it
 * after the device has gone.  The module stays as long, too: a slot that is set
 * aside holds a reference on it, and one that is only found when the module is
 * going is waited for.
 *
 * Locks, in the order in which they nest; none is held while the core or an
 * implementation is called, but the first:
 *
 *	bridges_mutex	main.c: which devices there are; sleeps
 *	bridge.lock	slots, and which request is in which; BH disabled
 */
#ifndef OCF_BRIDGE_H
#define OCF_BRIDGE_H

#include <crypto/aead.h>
#include <crypto/akcipher.h>
#include <crypto/hash.h>
#include <crypto/kpp.h>
#include <crypto/skcipher.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/ocf_driver.h>
#include <linux/ocf_pk.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../../compat.h"

struct bridge;

/* What an implementation may be of: enum ocf_alg, and after that */
enum {
	PK_FIRST = OCF_ALG_COUNT,
	PK_RSA = PK_FIRST,
	PK_DH,
	PK_P256,
	PK_P384,
	PK_X25519,
	ALGS		/* how many there are */
};

/* Types of the crypto API */
enum bridge_kind {
	KIND_NONE,
	KIND_CIPHER, /* skcipher */
	KIND_AEAD,
	KIND_HASH, /* ahash */
	KIND_AKCIPHER,
	KIND_KPP,
};

/**
 * struct bridge_found - an implementation of the crypto API's
 * @alg: what it implements, 0 if nothing
 * @priority: the crypto API's
 * @driver: its name
 * @module: of which module it is, "kernel" if it is built in
 */
struct bridge_found {
	unsigned int	alg;
	int		priority;
	char		driver[CRYPTO_MAX_ALG_NAME];
	char		module[MODULE_NAME_LEN];
};

/**
 * struct bridge_family - the implementations of one module
 * @module: its name
 * @driver: of each algorithm the implementation's name, or ""
 * @priority: of each, to choose between two; PRIORITY_NAMED if it was named
 */
struct bridge_family {
	char		module[MODULE_NAME_LEN];
	char		driver[ALGS][CRYPTO_MAX_ALG_NAME];
	int		priority[ALGS];
};

#define PRIORITY_NAMED	INT_MAX

/**
 * struct bridge_transform - an implementation with the keys of a session or of
 *	a public-key operation
 * @refs: its context, and each slot that works for it
 * @reap: frees it where the last of them must not sleep
 * @kind: which of what follows
 * @cipher: a cipher's
 * @aead: an AEAD algorithm's
 * @hash: a digest's, or a MAC's
 * @rsa: RSA's
 * @kpp: a key agreement's
 */
struct bridge_transform {
	struct kref		refs;
	struct work_struct	reap;
	enum bridge_kind kind;
	union {
		struct crypto_skcipher	*cipher;
		struct crypto_aead	*aead;
		struct crypto_ahash	*hash;
		struct crypto_akcipher	*rsa;
		struct crypto_kpp	*kpp;
	};
};

/* In ocf_context_priv() */
struct bridge_context {
	struct bridge_transform *transform;
};

/**
 * enum bridge_slot_state - whose a slot is
 * @SLOT_FREE: nobody's
 * @SLOT_ENTERING: submit() is handing it to the implementation
 * @SLOT_ANSWERED: that has called back before it returned
 * @SLOT_OUT: the implementation's
 * @SLOT_BACK: ours; what came of it is being looked at
 */
enum bridge_slot_state {
	SLOT_FREE,
	SLOT_ENTERING,
	SLOT_ANSWERED,
	SLOT_OUT,
	SLOT_BACK,
};

/**
 * struct bridge_slot - room for one request in an implementation
 * @node: in bridge.free
 * @bridge: whose
 * @state: under its lock, as what follows
 * @req: whose it is; NULL if that was taken back
 * @pk: the same of a public-key operation
 * @pinned: holds a reference on this module
 * @transform: holds a reference on it while it is out
 * @err: what the implementation called back with
 * @bh: goes on where it called back in a hard interrupt
 * @irq_err: with what
 * @buf: associated data, data and tag; read and written in place
 * @next_iv: of decryption in CBC: the last block of ciphertext
 * @sg: @buf, or of it what a public-key operation reads
 * @sg_out: what such a one writes
 * @iv: for the implementation
 * @digest: from the implementation
 * @sub: the crypto API's request, of the transform's kind
 */
struct bridge_slot {
	struct list_head	node;
	struct bridge		*bridge;
	enum bridge_slot_state state;
	struct ocf_request	*req;
	struct ocf_pk_request	*pk;
	bool			pinned;
	struct bridge_transform *transform;
	int			err;
	struct work_struct	bh;
	int			irq_err;
	u8			*buf;
	u8			next_iv[OCF_IV_MAX];
	struct scatterlist	sg;
	struct scatterlist	sg_out;
	u8	iv[OCF_IV_MAX]		__aligned(ARCH_DMA_MINALIGN);
	u8	digest[OCF_TAG_MAX]	__aligned(ARCH_DMA_MINALIGN);
	u8	sub[]			__aligned(ARCH_DMA_MINALIGN);
};

/* In a request's private part; NULL once it is not the slot's any more. */
struct bridge_job {
	struct bridge_slot *slot;
};

/**
 * struct bridge - one device
 * @refs: its registration, and each slot that is out
 * @reap: frees it
 * @family: what works for it; only while it is registered
 * @registered: what the core knows it as; for who registers and unregisters
 * @dev: the same, or the one that is being asked for known answers; from the
 *	first context until it is stopped; read inside RCU, written under @lock
 * @pk: what it has of public-key operations
 * @depth: slots it is to have
 * @subsize: bytes of slot.sub
 * @lock: protects what follows, down to @stopped
 * @free: slots, the one that was used last at the end, so that a second
 *	callback finds its slot unused
 * @total: slots there are, with those that are out
 * @out: slots that are not free
 * @detached: of them, those whose request was taken back
 * @starved: somebody was refused
 * @stopped: @dev is to stay NULL
 * @idle: woken when none is out
 * @retry: lets in again what the accelerator refused
 * @late: callbacks for what had been taken back
 * @spurious: callbacks for nothing
 * @refused: times the implementation was full
 * @at_once: requests done when the implementation returned
 */
struct bridge {
	struct kref		refs;
	struct work_struct	reap;
	const struct bridge_family *family;
	struct ocf_device	*registered;
	struct ocf_device	*dev;
	struct ocf_pk_ops	pk;
	unsigned int		depth;
	size_t			subsize;
	spinlock_t		lock;
	struct list_head	free;
	unsigned int		total;
	unsigned int		out;
	unsigned int		detached;
	bool			starved;
	bool			stopped;
	wait_queue_head_t	idle;
	struct timer_list	retry;
	atomic_t		late;
	atomic_t		spurious;
	atomic_t		refused;
	atomic_t		at_once;
};

/* main.c */
extern unsigned int ocf_bridge_depth;
extern unsigned int ocf_bridge_buffer;
extern unsigned int ocf_bridge_patience;
extern struct workqueue_struct *ocf_bridge_wq;

/* show.c: its files in sysfs */
extern const struct attribute_group *bridge_groups[];

/*
 * The crypto API's list, which crypto_user.ko and /proc/crypto show.  It is
 * exported to modules; its header, crypto/internal.h, is not installed.
 */
extern struct list_head crypto_alg_list;
extern struct rw_semaphore crypto_alg_sem;

/* find.c: which implementations there are */
int bridge_find_named(const char *name, struct bridge_found *f);
int bridge_find_all(struct bridge_found *f, unsigned int max);
bool bridge_find_is_wanted(const struct crypto_alg *alg);

/* device.c: comes, works, is stopped and goes */
struct bridge *bridge_make(struct device *parent,
			   const struct bridge_family *family);
void bridge_drop(struct bridge *b);
void bridge_revive(struct bridge *b);
void bridge_put(struct bridge *b);
void bridge_called_back_in_irq(struct work_struct *work);
void bridge_wait_all(void);
void bridge_claim(struct bridge *b, struct ocf_device *dev);
void bridge_called_back(void *slot, int err);
int bridge_entered(struct bridge *b, struct bridge_slot *slot, int err);
bool bridge_take_back(struct bridge *b, struct bridge_slot **of);

/* slot.c: a request in memory of our own */
int bridge_slots_fit(struct bridge *b);
void bridge_slots_free(struct bridge *b);
struct bridge_slot *bridge_slot_take(struct bridge *b);
void bridge_slot_put(struct bridge_slot *slot, bool wake);
int bridge_slot_fill(struct bridge_slot *slot, struct ocf_request *req);
int bridge_slot_result(struct bridge_slot *slot, struct ocf_request *req,
		       int err);

/* transform.c: the types of the crypto API */
enum bridge_kind bridge_transform_kind(unsigned int alg);
const char *bridge_transform_impl(unsigned int alg);
struct bridge_transform *bridge_transform_open(const char *driver,
					       enum bridge_kind kind);
const struct crypto_alg *bridge_transform_alg(const struct bridge_transform *t);
struct bridge_transform *
bridge_transform_make(const struct bridge_family *family,
		      const struct ocf_session_params *p);
void bridge_transform_put(struct bridge_transform *t, bool may_sleep);
size_t bridge_transform_subsize(const struct bridge_transform *t);
int bridge_transform_probe(const char *driver, enum bridge_kind kind,
			   size_t *size);
int bridge_transform_start(struct bridge_slot *slot, struct ocf_request *req,
			   crypto_completion_t called_back);

/**
 * struct bridge_pk_row - an algorithm from PK_FIRST on
 * @name: ours
 * @impl: the crypto API's
 * @kind: its type
 * @codes: operations, BIT(OCF_PK_*)
 * @curve: which, where there are several
 */
struct bridge_pk_row {
	const char		*name;
	const char		*impl;
	enum bridge_kind kind;
	u32			codes;
	enum ocf_pk_curve	curve;
};

/* pk.c: public-key operations */
extern const struct bridge_pk_row pk_rows[ALGS - PK_FIRST];
void bridge_pk_offer(struct bridge *b, struct ocf_device_info *info);
int bridge_pk_result(struct bridge_slot *slot, struct ocf_pk_request *req,
		     int err);

static inline struct bridge *bridge_of(const struct ocf_device *dev)
{
	return ocf_device_priv(dev);
}

#endif /* OCF_BRIDGE_H */
