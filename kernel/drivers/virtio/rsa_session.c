// SPDX-License-Identifier: GPL-2.0-only
/*
 * RSA keys on a card.  A card needs a session for each key, but each request of
 * the core has its own key.  So the driver keeps the sessions of the latest
 * keys for a while.
 *
 * The driver checks the numbers of a key before it gives them to a card,
 * because a card may not: QEMU divides by a p of zero.
 */
#include <crypto/internal/rsa.h>
#include <crypto/sha2.h>
#include <linux/asn1.h>
#include <linux/mpi.h>
#include <linux/slab.h>

#include "virtio.h"

#define KEYS_MAX	16	/* a card keeps */
#define IDLE		(5 * HZ) /* jiffies that an unused one is kept */
#define E_MAX		8	/* bytes of a public exponent */
#define SKEW		8	/* bytes p may be longer or shorter than q */
#define NUMBERS		9	/* of RSAPrivateKey: RFC 8017, appendix A.1.2 */

/* ---- whether a card may have a key ---- */

static bool less(struct ocf_pk_operand a, struct ocf_pk_operand b)
{
	if (a.len != b.len)
		return a.len < b.len;
	return memcmp(a.data, b.data, a.len) < 0;
}

/* Checks n = p * q, which the core does not check */
static int check_product(const struct ocf_pk_operand *n,
			 const struct ocf_pk_operand *p,
			 const struct ocf_pk_operand *q)
{
	MPI a = mpi_read_raw_data(p->data, p->len);
	MPI b = mpi_read_raw_data(q->data, q->len);
	MPI c = mpi_read_raw_data(n->data, n->len);
	MPI r = mpi_alloc(0);
	int err = -ENOMEM;

	if (a && b && c && r)
		err = mpi_mul(r, a, b) ?: mpi_cmp(r, c) ? -EOPNOTSUPP : 0;
	mpi_free(r);
	mpi_free(c);
	mpi_free(b);
	mpi_free(a);
	return err;
}

/* @num: version, n, e, d, p, q, dp, dq, qinv */
static int check_private(const struct ocf_pk_operand *num)
{
	const struct ocf_pk_operand *p = &num[4], *q = &num[5];
	int i;

	for (i = 1; i < NUMBERS; i++)
		if (!num[i].len)
			return -EOPNOTSUPP;
	if (p->len > q->len + SKEW || q->len > p->len + SKEW ||
	    !less(num[3], num[1]) || !less(num[6], *p) || !less(num[7], *q) ||
	    !less(num[8], *p))
		return -EOPNOTSUPP;
	return check_product(&num[1], p, q);
}

/* ---- DER: X.690, 8.1.3 and 8.3 ---- */

static u32 head_len(u32 len)
{
	return len < 0x80 ? 2 : len < 0x100 ? 3 : 4;
}

static u8 *put_head(u8 *at, u8 tag, u32 len)
{
	*at++ = tag;
	if (len >= 0x100) {
		*at++ = 0x82;
		*at++ = len >> 8;
	} else if (len >= 0x80) {
		*at++ = 0x81;
	}
	*at++ = len;
	return at;
}

/* A number that would be negative, or that is empty, gets a leading zero. */
static u32 integer_len(struct ocf_pk_operand n)
{
	return n.len + (!n.len || n.data[0] & 0x80);
}

static u8 *put_integer(u8 *at, struct ocf_pk_operand n)
{
	at = put_head(at, (ASN1_UNIV << 6) | ASN1_INT, integer_len(n));
	if (integer_len(n) > n.len)
		*at++ = 0;
	if (n.len)
		memcpy(at, n.data, n.len);
	return at + n.len;
}

static u32 body_len(const struct ocf_pk_operand *num, int count)
{
	u32 len = 0;

	while (count--)
		len += head_len(integer_len(num[count])) +
		       integer_len(num[count]);
	return len;
}

static void put_sequence(u8 *at, const struct ocf_pk_operand *num, int count)
{
	at = put_head(at, ASN1_CONS_BIT | ASN1_SEQ, body_len(num, count));
	while (count--)
		at = put_integer(at, *num++);
}

/* ---- a session ---- */

static bool is_private(const struct ocf_pk_op *op)
{
	return op->code == OCF_PK_RSA_SIGN || op->code == OCF_PK_RSA_DECRYPT;
}

/* The operand that has the key. */
static const struct ocf_pk_operand *der_of(const struct ocf_pk_op *op)
{
	return &op->in[op->code == OCF_PK_RSA_VERIFY ? 2 : 1];
}

/*
 * Encodes the key for the card; -EOPNOTSUPP if another device had better do it.
 */
static int parse(const struct ocf_pk_op *op, struct ocf_pk_operand *num)
{
	const struct ocf_pk_operand *der = der_of(op);
	struct rsa_key rsa = {};
	int err;

	err = is_private(op) ? rsa_parse_priv_key(&rsa, der->data, der->len) :
			       rsa_parse_pub_key(&rsa, der->data, der->len);
	if (!err) {
		num[0] = ocf_pk_number(NULL, 0);
		num[1] = ocf_pk_number(rsa.n, rsa.n_sz);
		num[2] = ocf_pk_number(rsa.e, rsa.e_sz);
		num[3] = ocf_pk_number(rsa.d, rsa.d_sz);
		num[4] = ocf_pk_number(rsa.p, rsa.p_sz);
		num[5] = ocf_pk_number(rsa.q, rsa.q_sz);
		num[6] = ocf_pk_number(rsa.dp, rsa.dp_sz);
		num[7] = ocf_pk_number(rsa.dq, rsa.dq_sz);
		num[8] = ocf_pk_number(rsa.qinv, rsa.qinv_sz);
		err = num[2].len > E_MAX || num[1].len > OCF_PK_NUMBER_MAX ?
		      -EOPNOTSUPP : is_private(op) ? check_private(num) : 0;
	}
	memzero_explicit(&rsa, sizeof(rsa));
	return err;
}

static struct vcrypt_order *order_for(const struct ocf_pk_op *op, u32 *size)
{
	struct virtio_crypto_akcipher_session_para *para;
	struct ocf_pk_operand num[NUMBERS], *first = num;
	u32 keytype = VIRTIO_CRYPTO_AKCIPHER_KEY_TYPE_PRIVATE;
	u32 padding = VIRTIO_CRYPTO_RSA_PKCS1_PADDING;
	int count = NUMBERS, err;
	struct vcrypt_order *o;

	err = parse(op, num);
	if (err)
		return ERR_PTR(err);
	if (!is_private(op)) {
		keytype = VIRTIO_CRYPTO_AKCIPHER_KEY_TYPE_PUBLIC;
		first++;
		count = 2;
	}
	if (op->scheme == OCF_PK_RAW)
		padding = VIRTIO_CRYPTO_RSA_RAW_PADDING;
	*size = num[1].len;
	o = vcrypt_order_alloc(head_len(body_len(first, count)) +
			       body_len(first, count));
	if (!o)
		return ERR_PTR(-ENOMEM);
	o->req.header.opcode =
		cpu_to_le32(VIRTIO_CRYPTO_AKCIPHER_CREATE_SESSION);
	o->req.header.algo = cpu_to_le32(VIRTIO_CRYPTO_AKCIPHER_RSA);
	para = &o->req.u.akcipher_create_session.para;
	para->algo = cpu_to_le32(VIRTIO_CRYPTO_AKCIPHER_RSA);
	para->keytype = cpu_to_le32(keytype);
	para->keylen = cpu_to_le32(o->keylen);
	para->u.rsa.padding_algo = cpu_to_le32(padding);
	para->u.rsa.hash_algo = cpu_to_le32(vcrypt_akcipher_hash(op->hash));
	put_sequence(o->keys, first, count);
	return o;
}

/* Asks the card for a session; -ENOSPC if it has no room. */
static int rsa_ask(struct vcrypt_card *card, const struct ocf_pk_op *op,
		   struct vcrypt_rsa_session *s)
{
	struct vcrypt_order *o = order_for(op, &s->size);
	int err;

	if (IS_ERR(o))
		return PTR_ERR(o);
	err = vcrypt_control_ask(card, o, true) ?:
	      vcrypt_order_session(o, &s->id);
	if (!err)
		vcrypt_room_note(card, SESSION_RSA, o);
	vcrypt_order_put(o);
	if (err == -EREMOTEIO)
		err = vcrypt_room_look(card, SESSION_RSA) ?: -EOPNOTSUPP;
	return err == -EKEYREJECTED ? -EOPNOTSUPP : err;
}

static void forget(struct vcrypt_card *card, struct vcrypt_rsa_session *s)
{
	lockdep_assert_held(&card->rsa_lock);
	list_del(&s->node);
	atomic_dec(&card->keys);
	vcrypt_rsa_session_put(s);
}

static void drop(struct vcrypt_card *card, struct vcrypt_rsa_session *s)
{
	/* the card may give the number of a lost session to a new one */
	if (s->losses == atomic_read(&card->losses))
		vcrypt_control_destroy(card,
				       VIRTIO_CRYPTO_AKCIPHER_DESTROY_SESSION,
				       s->id, s->life);
	forget(card, s);
}

/* The one that was unused for longest, or NULL. */
static struct vcrypt_rsa_session *idle(struct vcrypt_card *card)
{
	struct vcrypt_rsa_session *s;

	lockdep_assert_held(&card->rsa_lock);
	list_for_each_entry_reverse(s, &card->rsa_list, node)
		if (refcount_read(&s->refs) == 1)
			return s;
	return NULL;
}

static bool make_room(struct vcrypt_card *card)
{
	struct vcrypt_rsa_session *s = idle(card);

	if (s)
		drop(card, s);
	return s;
}

static int rsa_make(struct vcrypt_card *card, const struct ocf_pk_op *op,
		    struct vcrypt_rsa_session *s)
{
	int err;

	if (atomic_read(&card->keys) == KEYS_MAX && !make_room(card))
		return -EBUSY;
	do
		err = rsa_ask(card, op, s);
	while (err == -ENOSPC && make_room(card));
	return err;
}

/* ---- the sessions of the card ---- */

/* Two keys never have the same name. */
static void name(struct vcrypt_rsa_name *name, const struct ocf_pk_op *op)
{
	const struct ocf_pk_operand *der = der_of(op);

	name->private = is_private(op);
	name->scheme = op->scheme;
	name->hash = op->hash;
	sha256(der->data, der->len, name->digest);
}

/* Finds the session of a name; drops it if the card has lost it. */
static struct vcrypt_rsa_session *rsa_find(struct vcrypt_card *card,
					   const struct vcrypt_rsa_name *name)
{
	struct vcrypt_rsa_session *s, *next;

	lockdep_assert_held(&card->rsa_lock);
	list_for_each_entry_safe(s, next, &card->rsa_list, node) {
		if (s->losses != atomic_read(&card->losses))
			forget(card, s);
		else if (!memcmp(&s->name, name, sizeof(*name)))
			return s;
	}
	return NULL;
}

static struct vcrypt_rsa_session *find_or_make(struct vcrypt_card *card,
					       const struct ocf_pk_op *op)
{
	struct vcrypt_rsa_session *s, *found;
	int err;

	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return ERR_PTR(-ENOMEM);
	name(&s->name, op);
	found = rsa_find(card, &s->name);
	if (found) {
		kfree(s);
		list_move(&found->node, &card->rsa_list);
		return found;
	}
	refcount_set(&s->refs, 1);
	s->life = vcrypt_control_life(card);
	s->losses = atomic_read(&card->losses);
	err = rsa_make(card, op, s);
	if (err) {
		kfree(s);
		return ERR_PTR(err);
	}
	list_add(&s->node, &card->rsa_list);
	atomic_inc(&card->keys);
	queue_delayed_work(system_long_wq, &card->rsa_idle, IDLE);
	return s;
}

/**
 * vcrypt_rsa_session_get() - find or create the session for an operation's key
 * @card: the card
 * @op: the operation
 *
 * Context: process; may sleep; ends within seconds.
 * Return: the session, held; or -EBUSY if all that the card keeps are in use;
 * -EOPNOTSUPP if the card must not get this key; -ENOSPC; -EIO; -ETIMEDOUT if
 * the card does not answer; -EINTR if the task is being killed; -ENODEV if it
 * is down; -ENOMEM.
 */
struct vcrypt_rsa_session *vcrypt_rsa_session_get(struct vcrypt_card *card,
						  const struct ocf_pk_op *op)
{
	struct vcrypt_rsa_session *s;

	if (mutex_lock_killable(&card->rsa_lock))
		return ERR_PTR(-EINTR);
	s = find_or_make(card, op);
	if (!IS_ERR(s)) {
		s->used = jiffies;
		refcount_inc(&s->refs);
	}
	mutex_unlock(&card->rsa_lock);
	return s;
}

/* Context: any. */
void vcrypt_rsa_session_put(struct vcrypt_rsa_session *s)
{
	if (refcount_dec_and_test(&s->refs))
		kfree(s);
}

/* Destroys the sessions whose keys were not used for IDLE. */
static void drop_idle(struct work_struct *work)
{
	struct vcrypt_card *card = container_of(to_delayed_work(work),
						struct vcrypt_card, rsa_idle);
	struct vcrypt_rsa_session *s, *next;

	mutex_lock(&card->rsa_lock);
	list_for_each_entry_safe(s, next, &card->rsa_list, node)
		if (refcount_read(&s->refs) == 1 &&
		    time_after_eq(jiffies, s->used + IDLE))
			drop(card, s);
	if (!list_empty(&card->rsa_list))
		queue_delayed_work(system_long_wq, &card->rsa_idle, IDLE / 2);
	mutex_unlock(&card->rsa_lock);
}

void vcrypt_rsa_sessions_init(struct vcrypt_card *card)
{
	mutex_init(&card->rsa_lock);
	INIT_LIST_HEAD(&card->rsa_list);
	INIT_DELAYED_WORK(&card->rsa_idle, drop_idle);
}

/* Before a reset.  Context: process; may sleep. */
void vcrypt_rsa_sessions_drop(struct vcrypt_card *card)
{
	struct vcrypt_rsa_session *s, *next;

	mutex_lock(&card->rsa_lock);
	list_for_each_entry_safe(s, next, &card->rsa_list, node)
		drop(card, s);
	mutex_unlock(&card->rsa_lock);
}

/*
 * After a reset the card has no sessions any more.  Context: process; may
 * sleep.
 */
void vcrypt_rsa_sessions_forget(struct vcrypt_card *card)
{
	struct vcrypt_rsa_session *s, *next;

	mutex_lock(&card->rsa_lock);
	list_for_each_entry_safe(s, next, &card->rsa_list, node)
		forget(card, s);
	mutex_unlock(&card->rsa_lock);
}

/* The card is being removed, and gets no more requests. */
void vcrypt_rsa_sessions_exit(struct vcrypt_card *card)
{
	cancel_delayed_work_sync(&card->rsa_idle);
	vcrypt_rsa_sessions_forget(card);
	mutex_destroy(&card->rsa_lock);
}
