// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chains over devices: whatever way a request takes, and whatever its cipher
 * and MAC are, the result is that of the CPU alone, to the last byte of the
 * buffers.
 *
 * kernel_chains adds one card for ciphers and another for MACs, and makes the
 * CPU look slow.  Without them nothing is split, and the test compares the CPU
 * with itself.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "test.h"

#define SIZE		8192		/* bytes of a buffer */
#define DATA_MAX	6000
#define SESSIONS	8		/* for each mode */
#define ROUNDS		50		/* for each of them */
#define WARM		30

/* What a session is of. */
struct algs {
	enum ocf_alg	cipher, mac;
	u32		keylen, mackeylen;
	u32		block, maclen;
	bool		chains;		/* OCF_REQ_NEXT_IV means something */
	u8		key[OCF_KEY_MAX], mackey[OCF_KEY_MAX];
};

/* A request as both sides get it. */
struct shape {
	enum ocf_mode	mode;
	enum ocf_op	op;
	u32		flags;
	bool		in_place;
	bool		shared;		/* what is before the data */
	struct ocf_range auth, data;
	u32		tag_start;
	u8		iv[OCF_IV_MAX];
};

/* One of the two sides: its session, its request, and its buffers. */
struct side {
	struct ocf_session	*ses;
	struct ocf_request	*req;
	u8			*in, *out;	/* SIZE bytes each */
	struct scatterlist	in_sg, out_sg[2];
	int			err;
};

/* Whether a session of @mode may have a MAC of this row. */
static bool is_mac(const struct ocf_alg_info *row, enum ocf_alg alg,
		   enum ocf_mode mode)
{
	/* the hashes whose state the core can read */
	if (mode == OCF_MODE_MTE)
		return alg >= OCF_HMAC_SHA1 && alg <= OCF_HMAC_SHA512;
	/* a digest without a key authenticates nothing */
	if (row->type == OCF_TYPE_DIGEST)
		return mode == OCF_MODE_CHAIN || row->key_max;
	return row->type == OCF_TYPE_MAC && !row->iv;
}

static const struct ocf_alg_info *draw_alg(enum ocf_alg *alg, bool mac,
					   enum ocf_mode mode)
{
	const struct ocf_alg_info *row;

	do {
		*alg = 1 + test_random(OCF_ALG_COUNT - 1);
		row = ocf_alg_info(*alg);
	} while (!row || row->flags & OCF_ALG_WEAK ||
		 !(mac ? is_mac(row, *alg, mode) :
			 row->type == OCF_TYPE_CIPHER));
	return row;
}

static u32 draw_key(const struct ocf_alg_info *row, u8 *key)
{
	u32 max = min_t(u32, row->key_max, OCF_KEY_MAX), i;

	if (!max)
		return 0;
	for (i = 0; i < OCF_KEY_MAX; i++)
		key[i] = test_random(256);
	return row->key_min + row->key_step *
	       test_random((max - row->key_min) / row->key_step + 1);
}

static void draw_algs(struct algs *a, enum ocf_mode mode)
{
	const struct ocf_alg_info *row;

	row = draw_alg(&a->cipher, false, mode);
	a->keylen = draw_key(row, a->key);
	a->block = row->block;
	a->chains = row->flags & OCF_ALG_CHAINS;
	row = draw_alg(&a->mac, true, mode);
	a->mackeylen = draw_key(row, a->mackey);
	if (row->type == OCF_TYPE_DIGEST && row->key_max)
		a->mackeylen = max(a->mackeylen, 1U);
	a->maclen = row->digest;
}

static bool side_make(struct test *t, struct side *s, enum ocf_mode mode,
		      const struct algs *a, u32 flags)
{
	struct ocf_session_params p = {
		.mode = mode, .cipher = a->cipher, .mac = a->mac,
		.flags = flags, .device = OCF_DEVICE_ANY,
		.key = a->key, .keylen = a->keylen,
		.mackey = a->mackey, .mackeylen = a->mackeylen,
	};

	s->ses = ocf_session_create(&p, GFP_KERNEL);
	if (!EQUAL(t, PTR_ERR_OR_ZERO(s->ses), 0))
		return false;
	s->req = ocf_request_alloc(s->ses, GFP_KERNEL);
	s->in = kzalloc(SIZE, GFP_KERNEL);
	s->out = kzalloc(SIZE, GFP_KERNEL);
	return CHECK(t, s->req && s->in && s->out);
}

static void side_free(struct side *s)
{
	ocf_request_free(s->req);
	kfree(s->in);
	kfree(s->out);
	ocf_session_put(s->ses);
}

static void side_run(struct side *s, const struct shape *h, const u8 *tag)
{
	struct ocf_request *req = s->req;
	u32 before;

	ocf_request_init(req, s->ses);
	sg_init_one(&s->in_sg, s->in, SIZE);
	before = h->shared ? h->data.start : 0;
	sg_init_table(s->out_sg, 2);
	sg_set_buf(&s->out_sg[0], s->in, before);
	sg_set_buf(&s->out_sg[1], s->out + before, SIZE - before);
	memset(s->out, 0x5a, SIZE);
	req->src = &s->in_sg;
	req->dst = h->in_place ? &s->in_sg : &s->out_sg[!before];
	req->op = h->op;
	req->flags = h->flags;
	req->auth = h->auth;
	req->data = h->data;
	req->tag_start = h->tag_start;
	memcpy(req->iv, h->iv, OCF_IV_MAX);
	memset(req->tag, 0, OCF_TAG_MAX);
	if (tag)
		memcpy(req->tag, tag, OCF_TAG_MAX);
	s->err = ocf_run(req);
}

static void show(const struct algs *algs, const struct shape *h)
{
	pr_err("# %s (key %u) %s (key %u)\n", ocf_alg_info(algs->cipher)->name,
	       algs->keylen, ocf_alg_info(algs->mac)->name, algs->mackeylen);
	pr_err("# mode %d op %d flags %#x in place %d auth %u+%u data %u+%u tag %u\n",
	       h->mode, h->op, h->flags, h->in_place, h->auth.start,
	       h->auth.len, h->data.start, h->data.len, h->tag_start);
}

static void same(struct test *t, struct side *a, struct side *b,
		 const struct algs *algs, const struct shape *h)
{
	bool ok = EQUAL(t, b->err, a->err);

	ok &= CHECK(t, !memcmp(a->in, b->in, SIZE));
	ok &= CHECK(t, !memcmp(a->out, b->out, SIZE));
	if (!a->err) {
		ok &= CHECK(t, h->tag_start != OCF_TAG_INLINE ||
			    !memcmp(a->req->tag, b->req->tag, OCF_TAG_MAX));
		ok &= EQUAL(t, b->req->result_len, a->req->result_len);
	}
	if (!a->err && h->flags & OCF_REQ_NEXT_IV)
		ok &= CHECK(t, !memcmp(a->req->iv, b->req->iv, 16));
	if (!ok)
		show(algs, h);
}

/*
 * Adds what follows the payload: the MAC, and padding if it is a block cipher.
 */
static void draw_record(struct shape *h, const struct algs *a)
{
	u32 padding = a->block > 1 ? 1 + test_random(16) : 0;

	h->data.len += ALIGN(a->maclen + 16, 16);
	h->tag_start = h->data.start + h->data.len - a->maclen - padding;
	h->auth.start = 8;
	h->auth.len = h->tag_start - 8;
}

static struct shape draw(enum ocf_mode mode, const struct algs *a)
{
	u32 aad = test_random(2) * test_random(30);
	u32 len = 16 * (1 + test_random(test_random(4) ? 20 : DATA_MAX / 16));
	struct shape h = {
		.mode = mode, .in_place = test_random(2),
		.flags = a->chains && test_random(2) ? OCF_REQ_NEXT_IV : 0,
		.data = { 8 + aad, len }, .auth = { 8, aad + len },
		.tag_start = test_random(2) ? OCF_TAG_INLINE : 8 + aad + len,
	};

	get_random_bytes(h.iv, sizeof(h.iv));
	/* RFC 8439: what comes after the last of 2^32 blocks is not defined */
	if (a->cipher == OCF_CHACHA20)
		h.iv[3] &= 0x7f;
	switch (mode) {
	case OCF_MODE_CHAIN:
		h.flags |= test_random(2) ? OCF_REQ_MAC_FIRST : 0;
		if (!h.in_place && !(h.flags & OCF_REQ_MAC_FIRST))
			h.auth = h.data;
		break;
	case OCF_MODE_MTE:
		draw_record(&h, a);
		break;
	default:
		break;
	}
	return h;
}

/* PKCS #7 as TLS has it: each byte of padding says how many more there are. */
static void pad(struct shape *h, const struct algs *algs, u8 *buf)
{
	u32 end = h->data.start + h->data.len;
	u32 from = h->tag_start + algs->maclen;

	memset(buf + from, end - from - 1, end - from);
}

static void fill(struct side *a, struct side *b, const struct algs *algs,
		 struct shape *h)
{
	get_random_bytes(a->in, SIZE);
	if (h->mode == OCF_MODE_MTE)
		pad(h, algs, a->in);
	memcpy(b->in, a->in, SIZE);
}

/*
 * Makes the result of the encryption the input of both sides; sometimes flips a
 * bit of it.
 */
static void turn(struct side *a, struct side *b, struct shape *h, u8 *tag)
{
	u8 *from = h->in_place ? a->in : a->out;
	u32 at;

	memcpy(tag, a->req->tag, OCF_TAG_MAX);
	if (!h->in_place)
		memcpy(from, a->in, h->data.start);
	h->op = OCF_OP_DECRYPT;
	if (h->mode == OCF_MODE_MTE) {
		h->auth.len = h->data.start - h->auth.start;
		h->tag_start = OCF_TAG_INLINE;
	}
	if (h->mode == OCF_MODE_CHAIN) {
		h->flags ^= OCF_REQ_MAC_FIRST;
		h->flags |= test_random(4) ? OCF_REQ_VERIFY : 0;
		/*
		 * the MAC is now computed from the cipher's output, so it
		 * covers only the data
		 */
		if (!h->in_place && !(h->flags & OCF_REQ_MAC_FIRST))
			h->auth = h->data;
	}
	if (!test_random(3)) {
		at = h->data.start + test_random(h->data.len);
		from[at] ^= 1 << test_random(8);
	}
	if (!h->in_place)
		memcpy(a->in, from, SIZE);
	memcpy(b->in, a->in, SIZE);
}

/*
 * Runs requests of one session.  @shared: source and destination share the
 * memory before the data.
 */
static void one_session(struct test *t, enum ocf_mode mode,
			const struct algs *algs, bool shared)
{
	struct side soft, any;
	u8 tag[OCF_TAG_MAX];
	struct shape h;
	int i;

	if (!side_make(t, &soft, mode, algs, OCF_SESSION_SOFTWARE) ||
	    !side_make(t, &any, mode, algs, OCF_SESSION_ANY))
		return;
	for (i = 0; i < WARM + ROUNDS && !t->failed; i++) {
		h = draw(mode, algs);
		h.shared = shared;
		h.in_place &= !shared;
		fill(&soft, &any, algs, &h);
		side_run(&soft, &h, NULL);
		side_run(&any, &h, NULL);
		EQUAL(t, soft.err, 0);
		same(t, &soft, &any, algs, &h);
		if (!shared) {
			turn(&soft, &any, &h, tag);
			side_run(&soft, &h, tag);
			side_run(&any, &h, tag);
			same(t, &soft, &any, algs, &h);
		}
		if (i < WARM)
			usleep_range(1000, 2000);
	}
	side_free(&soft);
	side_free(&any);
}

static void one_mode(struct test *t, enum ocf_mode mode, bool shared)
{
	struct algs *algs = kzalloc(sizeof(*algs), GFP_KERNEL);
	int i;

	for (i = 0; CHECK(t, algs) && i < SESSIONS && !t->failed; i++) {
		draw_algs(algs, mode);
		one_session(t, mode, algs, shared);
	}
	kfree(algs);
}

static void split_chain(struct test *t)
{
	one_mode(t, OCF_MODE_CHAIN, false);
}

static void split_eta(struct test *t)
{
	one_mode(t, OCF_MODE_ETA, false);
}

static void split_eta_shared(struct test *t)
{
	one_mode(t, OCF_MODE_ETA, true);
}

static void split_mte(struct test *t)
{
	one_mode(t, OCF_MODE_MTE, false);
}

const struct test_case split_tests[] = {
	TEST(split_chain), TEST(split_eta), TEST(split_eta_shared),
	TEST(split_mte), {}
};
