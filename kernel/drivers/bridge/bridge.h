/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Accelerators with a driver in Linux's crypto API, as devices of OCF.
 *
 * One device stands for the implementations of one kernel module.  They share
 * an accelerator, and so its speed.
 *
 * The crypto API cannot stop a request.  So an accelerator gets the memory of a
 * slot, and no page of a request.  A device has as many slots as its depth.  A
 * request can be taken back at any time.  Its slot and the transform stay set
 * aside until the implementation has called back, also after the device was
 * removed.  A slot that is set aside holds a reference on this module.  If the
 * module is being unloaded when a slot is set aside, the unloading waits.
 *
 * Locks, in the order in which they nest.  Only the first is held while the
 * core or an implementation is called:
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

/* Algorithms of implementations: those of enum ocf_alg, and then these */
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
 * struct bridge_found - an implementation in the crypto API
 * @alg: its algorithm, 0 for none
 * @priority: its priority in the crypto API
 * @driver: its name
 * @module: its module; "kernel" if it is built in
 */
struct bridge_found {
	unsigned int	alg;
	int		priority;
	char		driver[CRYPTO_MAX_ALG_NAME];
	char		module[MODULE_NAME_LEN];
};

/**
 * struct bridge_family - the implementations of one module
 * @module: the name of the module
 * @driver: for each algorithm the name of the implementation, or ""
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
 * @refs: one of the context, and one of each slot that uses it
 * @reap: frees it where the last reference is put in BH
 * @kind: which of the following it has
 * @cipher: the transform of a cipher
 * @aead: of an AEAD algorithm
 * @hash: of a digest or a MAC
 * @rsa: of RSA
 * @kpp: of a key agreement
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
 * enum bridge_slot_state - states of a slot
 * @SLOT_FREE: unused
 * @SLOT_ENTERING: submit() is giving it to the implementation
 * @SLOT_ANSWERED: the implementation called back before it returned
 * @SLOT_OUT: the implementation has it
 * @SLOT_BACK: the implementation is done, and the result is being taken
 */
enum bridge_slot_state {
	SLOT_FREE,
	SLOT_ENTERING,
	SLOT_ANSWERED,
	SLOT_OUT,
	SLOT_BACK,
};

/**
 * struct bridge_slot - memory for one request in an implementation
 * @node: in bridge.free
 * @bridge: the device
 * @state: protected by the lock of @bridge, like all that follows
 * @req: the request; NULL if it was taken back
 * @pk: the same for a public-key request
 * @pinned: the slot holds a reference on this module
 * @transform: the transform, with a reference while the slot is out
 * @err: the errno of the implementation's callback
 * @bh: handles a callback that came in a hard interrupt
 * @irq_err: the errno of that callback
 * @buf: associated data, data and tag; read and written in place
 * @next_iv: CBC decryption: the last block of ciphertext
 * @sg: @buf, or the operand of a public-key operation in it
 * @sg_out: the result of a public-key operation in @buf
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

/* In a request's private part: its slot, or NULL once it was taken back */
struct bridge_job {
	struct bridge_slot *slot;
};

/**
 * struct bridge - one device
 * @refs: one of its registration, and one of each slot that is out
 * @reap: frees it
 * @family: its implementations; only while it is registered
 * @registered: its device in the core; for registering and unregistering
 * @dev: the same, or the device whose self-test runs; set from the first
 *	context until the device is stopped; read under RCU, written under @lock
 * @pk: its public-key operations
 * @depth: how many slots it is to have
 * @subsize: bytes of slot.sub
 * @lock: protects the following, down to @stopped
 * @free: free slots, the last used at the end, so that a second callback finds
 *	its slot unused
 * @total: slots, including those that are out
 * @out: slots that are not free
 * @detached: slots of those whose request was taken back
 * @starved: a request was refused for lack of a slot
 * @stopped: @dev is to stay NULL
 * @idle: woken when no slot is out
 * @retry: unblocks the device after the accelerator was full
 * @late: callbacks for requests that had been taken back
 * @spurious: callbacks for free slots
 * @refused: times that the implementation was full
 * @at_once: requests that were done when the implementation returned
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

/* find.c: the implementations that exist */
int bridge_find_named(const char *name, struct bridge_found *f);
int bridge_find_all(struct bridge_found *f, unsigned int max);
bool bridge_find_is_wanted(const struct crypto_alg *alg);

/* device.c: the life of a device */
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

/* slot.c: a request in our own memory */
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
 * struct bridge_pk_row - a public-key algorithm, whose number is PK_FIRST or
 * more
 * @name: our name
 * @impl: the name in the crypto API
 * @kind: its type there
 * @codes: operations, BIT(OCF_PK_*)
 * @curve: the curve, where there are several
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
