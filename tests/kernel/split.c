// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chains over devices: whatever way a request takes, the result is what the
 * CPU alone makes of it, to the last byte of the buffers.
 *
 * kernel_api sees to it that there is a card for ciphers and another for MACs,
 * and that the CPU looks slow.  Without them nothing is split, and the test
 * compares the CPU with itself.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "test.h"

#define SIZE		8192		/* bytes of a buffer */
#define DATA_MAX	6000
#define ROUNDS		300		/* for each mode */
#define WARM		30

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

/* What a side makes of it. */
struct side {
	struct ocf_session	*ses;
	struct ocf_request	*req;
	u8			*in, *out;	/* SIZE bytes each */
	struct scatterlist	in_sg, out_sg[2];
	int			err;
};

static bool side_make(struct test *t, struct side *s, enum ocf_mode mode,
		      u32 flags)
{
	static const u8 key[16] = "sixteen bytes...", mackey[20] = "twenty";
	struct ocf_session_params p = {
		.mode = mode, .cipher = OCF_AES_CBC, .mac = OCF_HMAC_SHA1,
		.flags = flags, .device = OCF_DEVICE_ANY,
		.key = key, .keylen = 16, .mackey = mackey, .mackeylen = 20,
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
		memcpy(req->tag, tag, 20);
	s->err = ocf_run(req);
}

static void same(struct test *t, struct side *a, struct side *b,
		 const struct shape *h)
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
		pr_err("# mode %d op %d flags %#x in place %d auth %u+%u data %u+%u tag %u\n",
		       h->mode, h->op, h->flags, h->in_place, h->auth.start,
		       h->auth.len, h->data.start, h->data.len, h->tag_start);
}

static struct shape draw(enum ocf_mode mode)
{
	u32 aad = test_random(2) * test_random(30);
	u32 len = 16 * (1 + test_random(test_random(4) ? 20 : DATA_MAX / 16));
	struct shape h = {
		.mode = mode, .in_place = test_random(2),
		.flags = test_random(2) ? OCF_REQ_NEXT_IV : 0,
		.data = { 8 + aad, len }, .auth = { 8, aad + len },
		.tag_start = test_random(2) ? OCF_TAG_INLINE : 8 + aad + len,
	};

	get_random_bytes(h.iv, sizeof(h.iv));
	switch (mode) {
	case OCF_MODE_CHAIN:
		h.flags |= test_random(2) ? OCF_REQ_MAC_FIRST : 0;
		if (!h.in_place && !(h.flags & OCF_REQ_MAC_FIRST))
			h.auth = h.data;
		break;
	case OCF_MODE_MTE:
		/* payload, MAC, and one byte of padding at least */
		h.data.len += 32;
		h.auth.start = 8;
		h.tag_start = h.data.start + h.data.len - 20 - 16 +
			      test_random(16);
		h.auth.len = h.tag_start - 8;
		break;
	default:
		break;
	}
	return h;
}

/* PKCS #7 as TLS has it: each byte of padding says how many more there are. */
static void pad(struct shape *h, u8 *buf)
{
	u32 from = h->tag_start + 20, end = h->data.start + h->data.len;

	memset(buf + from, end - from - 1, end - from);
}

static void fill(struct side *a, struct side *b, struct shape *h)
{
	get_random_bytes(a->in, SIZE);
	if (h->mode == OCF_MODE_MTE)
		pad(h, a->in);
	memcpy(b->in, a->in, SIZE);
}

/* What was encrypted is the input of both; sometimes it is spoilt. */
static void turn(struct side *a, struct side *b, struct shape *h, u8 *tag)
{
	u8 *from = h->in_place ? a->in : a->out;
	u32 at;

	memcpy(tag, a->req->tag, 20);
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
		/* the MAC of what is now the other side of the cipher */
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

static void one_mode(struct test *t, enum ocf_mode mode)
{
	struct side soft, any;
	struct shape h;
	u8 tag[20];
	int i;

	if (!side_make(t, &soft, mode, OCF_SESSION_SOFTWARE) ||
	    !side_make(t, &any, mode, OCF_SESSION_ANY))
		return;
	for (i = 0; i < WARM + ROUNDS && !t->failed; i++) {
		h = draw(mode);
		fill(&soft, &any, &h);
		side_run(&soft, &h, NULL);
		side_run(&any, &h, NULL);
		EQUAL(t, soft.err, 0);
		same(t, &soft, &any, &h);
		turn(&soft, &any, &h, tag);
		side_run(&soft, &h, tag);
		side_run(&any, &h, tag);
		same(t, &soft, &any, &h);
		if (i < WARM)
			usleep_range(1000, 2000);
	}
	side_free(&soft);
	side_free(&any);
}

static void split_chain(struct test *t)
{
	one_mode(t, OCF_MODE_CHAIN);
}

static void split_eta(struct test *t)
{
	one_mode(t, OCF_MODE_ETA);
}

/* As a record that is read from pages of others, with its own header. */
static void split_eta_shared(struct test *t)
{
	struct side soft, any;
	struct shape h;
	int i;

	if (!side_make(t, &soft, OCF_MODE_ETA, OCF_SESSION_SOFTWARE) ||
	    !side_make(t, &any, OCF_MODE_ETA, OCF_SESSION_ANY))
		return;
	for (i = 0; i < WARM + ROUNDS && !t->failed; i++) {
		h = draw(OCF_MODE_ETA);
		h.in_place = false;
		h.shared = true;
		fill(&soft, &any, &h);
		side_run(&soft, &h, NULL);
		side_run(&any, &h, NULL);
		EQUAL(t, soft.err, 0);
		same(t, &soft, &any, &h);
		if (i < WARM)
			usleep_range(1000, 2000);
	}
	side_free(&soft);
	side_free(&any);
}

static void split_mte(struct test *t)
{
	one_mode(t, OCF_MODE_MTE);
}

const struct test_case split_tests[] = {
	TEST(split_chain), TEST(split_eta), TEST(split_eta_shared),
	TEST(split_mte), {}
};
