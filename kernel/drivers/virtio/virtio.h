/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cards on the virtio bus, by the OASIS specification, "Virtual I/O Device
 * (VIRTIO) Version 1.2", section 5.9, "Crypto Device".
 *
 * A card never gets a page of a request.  It reads and writes the memory of a
 * slot, which belongs to the driver; a card has as many slots as its depth.  So
 * the core can take a request back at any time, whatever the card does.  The
 * slot is not used again until the card has answered, or was reset.  The driver
 * checks all that a card says.  From memory that the card can write, it reads
 * each value only once.
 *
 * Locks, in the order in which they nest; the first three sleep, the others are
 * taken with BH disabled, and none is held while the core is called:
 *
 * card.life		setup, reset and end of a card
 *   card.contexts_lock	which contexts have sessions on the card
 *   card.rsa_lock	which RSA keys have sessions on the card
 *   control.lock	the control queue, and the tasks that wait for answers
 *   queue.lock		a data queue, and which request is in which slot of it
 *   card.slots_lock	the free slots
 */
#ifndef OCF_VIRTIO_H
#define OCF_VIRTIO_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ocf_driver.h>
#include <linux/ocf_pk.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/virtio.h>
#include <linux/virtio_config.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/linux/virtio_crypto.h>
#include <uapi/linux/virtio_ring.h>

#include "../../compat.h"

#define RSA_DEPTH	4	/* RSA requests delay those behind them */
#define RESET_MS	1000	/* for a reset */
#define DRAIN_MS	250	/* for requests, before a card is stopped */
#define QUEUES_MAX	256	/* data queues a card may have */
#define UNWRITTEN	0xff	/* the status before the card has written one */

struct vcrypt_card;
struct vcrypt_queue;

/* What a card reads first of a request: 5.9.7.3, without REVISION_1. */
struct vcrypt_slot_head {
	struct virtio_crypto_op_data_req	req;
	u8					iv[OCF_IV_MAX];
} __packed;

/* What it writes last: the MAC or digest, if any, and right after it the
 * status.
 */
struct vcrypt_slot_tail {
	u8	bytes[OCF_TAG_MAX + sizeof(struct virtio_crypto_inhdr)];
};

/*
 * Memory that the card accesses, beside the data; its parts share no cache
 * line.
 */
struct vcrypt_slot_shared {
	struct vcrypt_slot_head head;
	struct vcrypt_slot_tail tail __aligned(ARCH_DMA_MINALIGN);
} __aligned(ARCH_DMA_MINALIGN);

/* What identifies a session for an RSA key. */
struct vcrypt_rsa_name {
	u8	private;
	u8	scheme;		/* OCF_PK_* */
	u8	hash;		/* OCF_* */
	u8	digest[32];	/* SHA-256 of the key */
};

/**
 * struct vcrypt_rsa_session - an RSA key that the card has a session for
 * @node: in card.rsa_list, the one used last first
 * @refs: the list, and each slot with a request for it
 * @name: the key that it is for
 * @size: bytes of the modulus
 * @id: the card's
 * @life: the life of the card in which it was made
 * @losses: card.losses from before it was made
 * @used: jiffies
 */
struct vcrypt_rsa_session {
	struct list_head	node;
	refcount_t		refs;
	struct vcrypt_rsa_name name;
	u32			size;
	u64			id;
	unsigned int		life;
	int			losses;
	unsigned long		used;
};

/**
 * struct vcrypt_slot - memory for one request on a card
 * @node: in card.free
 * @queue: the queue in whose ring it was last
 * @req: its request; NULL if the core took it back; under the queue's lock
 * @pk: its public-key request; NULL under the same conditions
 * @rsa: of a public-key request: the session of the key
 * @shared: memory that the card accesses, beside the data
 * @buf: the data, card.buffer bytes: the card reads them and writes over them
 * @start: where in the request's buffers @buf begins, bytes
 * @len: bytes of @buf that are in use
 * @taglen: bytes of MAC or digest that the card makes
 * @made: bytes that a public-key operation makes
 * @next_iv: of decryption in CBC: the last block of ciphertext
 */
struct vcrypt_slot {
	struct list_head	node;
	struct vcrypt_queue *queue;
	struct ocf_request	*req;
	struct ocf_pk_request	*pk;
	struct vcrypt_rsa_session *rsa;
	struct vcrypt_slot_shared *shared;
	u8			*buf;
	u32			start;
	u32			len;
	u32			taglen;
	u32			made;
	u8			next_iv[OCF_IV_MAX];
};

/* In a request's private part. */
struct vcrypt_job {
	struct vcrypt_queue *queue;
	struct vcrypt_slot *slot;
};

/**
 * struct vcrypt_queue - a data queue
 * @card: its card
 * @vq: the ring; NULL if there is none
 * @lock: protects all but @card and @drain, and slot.req of what is in the ring
 * @up: requests enter the ring
 * @live: answers are taken out
 * @kick: the card was not notified of all requests
 * @out: slots in the ring
 * @drain: takes out the card's answers, in BH context
 */
struct vcrypt_queue {
	struct vcrypt_card *card;
	struct virtqueue	*vq;
	spinlock_t		lock;
	bool			up;
	bool			live;
	bool			kick;
	unsigned int		out;
	struct work_struct	drain;
};

/**
 * struct vcrypt_control - the control queue
 * @vq: the ring
 * @lock: protects it and what follows, and card.dev
 * @up: orders enter the ring
 * @live: answers are taken out
 * @stuck: an order was not answered in time: no more until a reset
 * @life: number of resets
 * @answers: number of answers
 * @left: orders in the ring for which no task waits
 * @left_max: the maximum of @left
 * @out: orders in the ring
 * @owed: orders that could not be sent yet; each one destroys a session
 * @nowed: how many
 * @drain: takes out the card's answers, in BH context
 */
struct vcrypt_control {
	struct virtqueue	*vq;
	spinlock_t		lock;
	bool			up;
	bool			live;
	bool			stuck;
	unsigned int		life;
	unsigned int		answers;
	unsigned int		left;
	unsigned int		left_max;
	struct list_head	out;
	struct list_head	owed;
	unsigned int		nowed;
	struct work_struct	drain;
};

/**
 * struct vcrypt_order - a request to the control queue
 * @node: in control.out or control.owed
 * @refs: one of the task that waits, one of the card
 * @done: completed when the card has answered, or never will: see @err
 * @answered: the same, under control.lock
 * @abandoned: the task does not wait any more
 * @left: no task has ever waited for it
 * @tied: it is only valid in the card's life @life
 * @life: see @tied; later the life in which it was answered
 * @err: -ENODEV if the card was reset meanwhile
 * @len: bytes the card says it has written
 * @keylen: bytes of @keys
 * @answer: the part that the card writes
 * @req: the part that the card reads
 * @keys: cipher key and MAC key, or RSA key; right after @req in the ring
 */
struct vcrypt_order {
	struct list_head	node;
	refcount_t		refs;
	struct completion	done;
	bool			answered;
	bool			abandoned;
	bool			left;
	bool			tied;
	unsigned int		life;
	int			err;
	u32			len;
	u32			keylen;
	union {
		struct virtio_crypto_session_input	session;
		struct virtio_crypto_inhdr		status;
	}			answer __aligned(ARCH_DMA_MINALIGN);
	struct virtio_crypto_op_ctrl_req req __aligned(ARCH_DMA_MINALIGN);
	u8			keys[];
};

#define SESSIONS_MAX	4	/* of a context: direction and order */

enum vcrypt_session_kind {
	SESSION_CIPHER,
	SESSION_HASH,
	SESSION_MAC,
	SESSION_CHAIN,
	SESSION_RSA,
	SESSION_KINDS,
};

/**
 * struct vcrypt_context - a context's sessions on a card
 * @node: in card.contexts while the card has sessions for it
 * @count: sessions it has
 * @id: the card's ids of them, see vcrypt_session_index()
 * @life: the life of the card in which they were made
 */
struct vcrypt_context {
	struct list_head	node;
	unsigned int		count;
	u64			id[SESSIONS_MAX];
	unsigned int		life;
};

/* The configuration of a card: struct virtio_crypto_config, 5.9.4. */
struct vcrypt_limits {
	u32	services;
	u64	ciphers;
	u32	hashes;
	u64	macs;
	u32	akciphers;
	u32	cipher_key;
	u32	mac_key;
	u64	size;
};

#define RSA_CODES	4	/* operations, from OCF_PK_RSA_SIGN on */
#define RSA_HASHES	10	/* VIRTIO_CRYPTO_RSA_*, also none */

/**
 * struct vcrypt_card - one card
 * @vdev: on the bus
 * @life: held while it is set up, stopped or reset
 * @registered: its device in the core; used only to register and unregister
 * @dev: the same, or the device that is being tested; from the first context
 *	until the card is stopped
 * @ready: it has rings
 * @awake: its status says that it works, so it gets requests
 * @total: data queues it has
 * @limits: its configuration
 * @made: modes and algorithms for which it has made a session
 * @witness: orders for sessions that it makes if it has room, see room.c
 * @rsa: operations that it has done, see akcipher.c
 * @contexts_lock: protects @contexts and @epoch
 * @contexts: those with sessions on the card
 * @epoch: number of resets: ids from an earlier epoch are not valid
 * @rsa_lock: protects @rsa_list
 * @rsa_list: RSA keys it has sessions for
 * @rsa_idle: drops unused ones
 * @rsa_out: slots with a public-key operation
 * @losses: how often it did not know a session that it had made
 * @control: the control queue
 * @nqueues: data queues in use
 * @queues: them
 * @buffer: bytes of a slot's buffer
 * @depth: slots
 * @slots: them
 * @slots_lock: protects @free, @nfree and @starved
 * @free: slots that are neither in a ring nor being filled
 * @nfree: how many
 * @starved: a request was refused because none was free
 * @idle: woken when all slots are free
 * @detached: slots whose request the core took back
 * @config: reads the card's status
 * @reset: resets it, however long that takes
 * @reset_done: @reset has ended
 * @resetting: @reset was queued, or runs
 * @gone: it was not on the bus when it was to be reset
 * @ending: it is being removed
 * @end_by: of a card being removed: jiffies, when destroying its sessions ends
 * @left_over: it could not be released, and is not registered: see
 *	vcrypt_card_freeze()
 * @interrupts: of data queues
 * @kicks: doorbells rung
 * @nudges: data queues looked at because a request was overdue
 * @late: answers to requests that the core had taken back
 * @wrong: answers that made no sense
 * @keys: RSA keys in @rsa_list
 */
struct vcrypt_card {
	struct virtio_device	*vdev;
	struct mutex		life;
	struct ocf_device	*registered;
	struct ocf_device	*dev;
	bool			ready;
	bool			awake;
	unsigned int		total;
	struct vcrypt_limits limits;
	DECLARE_BITMAP(made, OCF_MODE_COUNT * OCF_ALG_COUNT);
	struct vcrypt_order *witness[SESSION_KINDS];
	DECLARE_BITMAP(rsa, RSA_CODES * RSA_HASHES);
	struct mutex		contexts_lock;
	struct list_head	contexts;
	unsigned int		epoch;
	struct mutex		rsa_lock;
	struct list_head	rsa_list;
	struct delayed_work	rsa_idle;
	atomic_t		rsa_out;
	atomic_t		losses;
	struct vcrypt_control control;
	unsigned int		nqueues;
	struct vcrypt_queue *queues;
	u32			buffer;
	unsigned int		depth;
	struct vcrypt_slot *slots;
	spinlock_t		slots_lock;
	struct list_head	free;
	unsigned int		nfree;
	bool			starved;
	wait_queue_head_t	idle;
	atomic_t		detached;
	struct work_struct	config;
	struct work_struct	reset;
	struct completion	reset_done;
	bool			resetting;
	bool			gone;
	bool			ending;
	unsigned long		end_by;
	bool			left_over;
	atomic_t		interrupts;
	atomic_t		kicks;
	atomic_t		nudges;
	atomic_t		late;
	atomic_t		wrong;
	atomic_t		keys;
};

/* main.c */
extern struct virtio_driver ocf_virtio_driver;
extern unsigned int ocf_virtio_depth;
extern unsigned int ocf_virtio_buffer;
extern unsigned int ocf_virtio_patience;

/* card.c: probes, resets and removes cards */
int vcrypt_card_probe(struct virtio_device *vdev);
void vcrypt_card_remove(struct virtio_device *vdev);
void vcrypt_card_config_changed(struct virtio_device *vdev);
int vcrypt_card_freeze(struct virtio_device *vdev);
void vcrypt_card_fail(struct vcrypt_card *card, const char *why);
void vcrypt_card_revive(struct vcrypt_card *card);

/* alg.c: the algorithms of a card */
void vcrypt_alg_offer(const struct vcrypt_card *card,
		      struct ocf_device_info *info);
bool vcrypt_alg_fits(const struct vcrypt_card *card,
		     const struct ocf_session_params *p);
u32 vcrypt_alg_id(enum ocf_alg alg);
bool vcrypt_alg_is_hash(enum ocf_alg alg);

/* session.c: a context's sessions on the card */
int vcrypt_session_make_all(struct ocf_context *ctx,
			    const struct ocf_session_params *p);
void vcrypt_session_drop_all(struct ocf_context *ctx);
void vcrypt_session_drop_everybodys(struct vcrypt_card *card);
void vcrypt_session_forget_everybodys(struct vcrypt_card *card);
enum vcrypt_session_kind
vcrypt_session_kind(const struct ocf_session_params *p);
unsigned int vcrypt_session_index(const struct ocf_request *req);

/* room.c: whether a card has room for another session */
void vcrypt_room_note(struct vcrypt_card *card, enum vcrypt_session_kind kind,
		      const struct vcrypt_order *o);
int vcrypt_room_look(struct vcrypt_card *card, enum vcrypt_session_kind kind);
void vcrypt_room_exit(struct vcrypt_card *card);

/* control.c: sends orders to a card */
void vcrypt_control_init(struct vcrypt_card *card);
struct vcrypt_order *vcrypt_order_alloc(u32 keylen);
struct vcrypt_order *vcrypt_order_copy(const struct vcrypt_order *o);
void vcrypt_order_put(struct vcrypt_order *o);
int vcrypt_order_session(const struct vcrypt_order *o, u64 *id);
int vcrypt_control_ask(struct vcrypt_card *card, struct vcrypt_order *o,
		       bool killable);
void vcrypt_control_destroy(struct vcrypt_card *card, u32 opcode, u64 id,
			    unsigned int life);
void vcrypt_control_settle(struct vcrypt_card *card);
void vcrypt_control_end(struct vcrypt_card *card);
unsigned int vcrypt_control_life(struct vcrypt_card *card);
void vcrypt_control_interrupt(struct virtqueue *vq);
void vcrypt_control_claim(struct vcrypt_card *card, struct ocf_device *dev);
void vcrypt_control_set(struct vcrypt_card *card, struct virtqueue *vq);
void vcrypt_control_start(struct vcrypt_card *card);
void vcrypt_control_stop(struct vcrypt_card *card);
void vcrypt_control_mute(struct vcrypt_card *card);
void vcrypt_control_reclaim(struct vcrypt_card *card);
void vcrypt_control_exit(struct vcrypt_card *card);

/* akcipher.c: RSA */
void vcrypt_akcipher_offer(const struct vcrypt_card *card,
			   struct ocf_device_info *info);
u32 vcrypt_akcipher_hash(enum ocf_alg hash);
bool vcrypt_akcipher_has_shown(const struct vcrypt_card *card,
			       const struct ocf_pk_op *op);
unsigned int vcrypt_akcipher_sgs(struct vcrypt_slot *slot,
				 struct scatterlist *sg, unsigned int *out);
int vcrypt_akcipher_result(struct vcrypt_slot *slot, struct ocf_pk_request *req,
			   u32 written);
void vcrypt_akcipher_release(struct vcrypt_card *card,
			     struct vcrypt_slot *slot);

/* rsa_session.c: RSA keys on the card */
struct vcrypt_rsa_session *vcrypt_rsa_session_get(struct vcrypt_card *card,
						  const struct ocf_pk_op *op);
void vcrypt_rsa_session_put(struct vcrypt_rsa_session *s);
void vcrypt_rsa_sessions_init(struct vcrypt_card *card);
void vcrypt_rsa_sessions_drop(struct vcrypt_card *card);
void vcrypt_rsa_sessions_forget(struct vcrypt_card *card);
void vcrypt_rsa_sessions_exit(struct vcrypt_card *card);

/* slot.c: a request in memory of the driver */
int vcrypt_slots_alloc(struct vcrypt_card *card);
void vcrypt_slots_free(struct vcrypt_card *card);
struct vcrypt_slot *vcrypt_slot_take(struct vcrypt_card *card);
void vcrypt_slot_put(struct vcrypt_card *card, struct vcrypt_slot *slot,
		     bool wake);
int vcrypt_slot_fill(struct vcrypt_slot *slot, struct ocf_request *req);
unsigned int vcrypt_slot_sgs(struct vcrypt_slot *slot, struct scatterlist *sg,
			     unsigned int *out);
int vcrypt_slot_result(struct vcrypt_slot *slot, struct ocf_request *req,
		       u32 written);

/* queue.c: puts requests into the ring, and takes answers out */
int vcrypt_queues_alloc(struct vcrypt_card *card, unsigned int n);
void vcrypt_queues_free(struct vcrypt_card *card);
int vcrypt_queue_submit(struct ocf_request *req, bool more);
struct vcrypt_queue *vcrypt_queue_here(struct vcrypt_card *card);
int vcrypt_queue_enter(struct vcrypt_queue *q, struct vcrypt_slot *slot,
		       bool more);
void vcrypt_queue_kick(struct ocf_device *dev);
void vcrypt_queue_nudge(struct ocf_device *dev);
bool vcrypt_queue_detach(struct ocf_request *req);
void vcrypt_queue_interrupt(struct virtqueue *vq);
void vcrypt_queues_set(struct vcrypt_card *card, struct virtqueue **vqs);
void vcrypt_queues_start(struct vcrypt_card *card);
void vcrypt_queues_stop(struct vcrypt_card *card);
void vcrypt_queues_mute(struct vcrypt_card *card);
void vcrypt_queues_reclaim(struct vcrypt_card *card);

/* takeover.c: cards that Linux's own driver has */
int vcrypt_takeover_all(void);

static inline struct vcrypt_card *vcrypt_card_of(const struct ocf_device *dev)
{
	return ocf_device_priv(dev);
}

#endif /* OCF_VIRTIO_H */
