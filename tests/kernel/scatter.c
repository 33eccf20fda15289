// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scatterlists: every algorithm and mode of the CPU gives the same result for
 * data in many pieces, at any offset, in place or not, as for data in one
 * piece.
 */
#include <linux/crypto.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "test.h"

#define DATA_MAX	1536
#define BUF		(DATA_MAX + 1024)
#define PIECES		24
#define ROUNDS		24

/* The source or destination of a request, cut into other pieces each time */
struct cut {
	u8			*mem;
	struct scatterlist	sg[PIECES];
};

struct scene {
	struct ocf_session_params p;
	struct ocf_session	*ses;
	struct ocf_request	*req;
	struct cut		src, dst;
	u8			*flat, *want;
	u32			pre, len, post, maclen;
	bool			mac_first;	/* in a chain */
	u8			tag[OCF_TAG_MAX];
};

/* Cuts @len bytes of @c into pieces, each at another offset of a page. */
static void cut(struct cut *c, u32 len, int pieces)
{
	u32 left = len, n, i;
	u8 *p = c->mem;

	sg_init_table(c->sg, pieces);
	for (i = 0; i < pieces; i++) {
		n = i == pieces - 1 ? left :
		    min(left, 1 + test_random(2 * len / pieces));
		/* a scatterlist has no empty entry */
		if (!n)
			n = 1;
		p += test_random(48);
		sg_set_buf(&c->sg[i], p, n);
		p += n;
		left -= min(left, n);
	}
}

static u32 total(struct scene *s)
{
	return s->pre + s->len + s->post;
}

/* Sets the ranges that a request of this mode needs; lengths are in @s. */
static void describe(struct scene *s, enum ocf_op op)
{
	struct ocf_request *req = s->req;

	ocf_request_init(req, s->ses);
	req->op = op;
	req->data = (struct ocf_range){ s->pre, s->len };
	memset(req->iv, 0x55, sizeof(req->iv));
	switch (s->p.mode) {
	case OCF_MODE_AEAD:
		req->auth = (struct ocf_range){ 0, s->pre };
		req->tag_start = s->pre + s->len;
		break;
	case OCF_MODE_ETA:
		req->auth = (struct ocf_range){ 0, s->pre + s->len };
		break;
	case OCF_MODE_CHAIN:
		/* the MAC over the result covers the data only */
		req->auth = req->data;
		if (!s->mac_first)
			break;
		req->flags |= OCF_REQ_MAC_FIRST;
		req->auth = (struct ocf_range){ 0, s->pre + s->len };
		break;
	default:
		break;
	}
}

/*
 * Runs a request over scatterlists, and copies the result, with a tag in the
 * buffer, to @out.
 */
static int run(struct scene *s, enum ocf_op op, const u8 *in, u8 *out,
	       struct scatterlist *src, struct scatterlist *dst)
{
	int err;

	ocf_sg_write(src, 0, in, total(s));
	describe(s, op);
	if (op == OCF_OP_DECRYPT)
		memcpy(s->req->tag, s->tag, sizeof(s->tag));
	s->req->src = src;
	s->req->dst = dst;
	err = ocf_run(s->req);
	if (s->p.mode != OCF_MODE_DIGEST)
		ocf_sg_read(dst, s->pre, out, s->len + s->post);
	if (op == OCF_OP_ENCRYPT)
		memcpy(s->tag, s->req->tag, sizeof(s->tag));
	return err;
}

static void pick_lengths(struct scene *s)
{
	struct ocf_session_info info;
	bool aead = s->p.mode == OCF_MODE_AEAD;

	ocf_session_info(s->ses, &info);
	s->maclen = info.maclen;
	s->pre = test_random(300);
	s->len = info.block * (1 + test_random(DATA_MAX / info.block));
	s->post = aead ? info.maclen : 0;
	s->mac_first = test_random(2);
}

static void fill(u8 *p, u32 len)
{
	while (len--)
		*p++ = test_random(0);
}

static int round_trip(struct test *t, struct scene *s)
{
	struct scatterlist one_in, one_out;
	u8 tag[OCF_TAG_MAX], *in = s->flat, *out = s->flat + BUF;
	bool same = test_random(2);
	int err, bad = t->failed;

	pick_lengths(s);
	fill(in, total(s));
	sg_init_one(&one_in, s->want, BUF);
	sg_init_one(&one_out, s->want + BUF, BUF);
	memset(out, 0, BUF);
	err = run(s, OCF_OP_ENCRYPT, in, out, &one_in, &one_out);
	if (!EQUAL(t, err, 0))
		return err;
	memcpy(tag, s->tag, sizeof(tag));

	cut(&s->src, total(s), 1 + test_random(PIECES));
	cut(&s->dst, total(s), 1 + test_random(PIECES));
	EQUAL(t, run(s, OCF_OP_ENCRYPT, in, s->want, s->src.sg,
		     same ? s->src.sg : s->dst.sg), 0);
	CHECK(t, s->p.mode == OCF_MODE_DIGEST ||
		 !memcmp(out, s->want, s->len + s->post));
	CHECK(t, !s->maclen || !memcmp(tag, s->tag, s->maclen));
	if (s->p.mode == OCF_MODE_CHAIN || s->p.mode == OCF_MODE_DIGEST)
		return t->failed - bad;

	/* then decrypt */
	memcpy(s->want + BUF, in, s->pre);
	memcpy(s->want + BUF + s->pre, out, s->len + s->post);
	cut(&s->src, total(s), 1 + test_random(PIECES));
	EQUAL(t, run(s, OCF_OP_DECRYPT, s->want + BUF, s->want, s->src.sg,
		     same ? s->src.sg : s->dst.sg), 0);
	CHECK(t, !memcmp(in + s->pre, s->want, s->len));
	return t->failed - bad;
}

static void try_params(struct test *t, struct scene *s,
		       struct ocf_session_params p)
{
	static const u8 key[OCF_KEY_MAX] = "its two halves are not the same";
	const struct ocf_alg_info *cipher = ocf_alg_info(p.cipher);
	const struct ocf_alg_info *mac = ocf_alg_info(p.mac);
	int i;

	p.device = OCF_DEVICE_ANY;
	p.flags = OCF_SESSION_SOFTWARE;
	p.key = key;
	p.mackey = key;
	if (p.cipher)
		p.keylen = cipher->key_min;
	if (p.mac)
		p.mackeylen = mac->type == OCF_TYPE_MAC ? max(mac->key_min, 1) :
							  0;
	s->ses = ocf_session_create(&p, GFP_KERNEL);
	/* weak algorithms have to be allowed */
	if (PTR_ERR_OR_ZERO(s->ses) == -EPERM)
		return;
	if (PTR_ERR_OR_ZERO(s->ses) == -EOPNOTSUPP &&
	    (p.cipher == OCF_NULL_CIPHER || p.mac == OCF_NULL_MAC))
		return;
	/* not every kernel has SM4 and ARIA */
	if (PTR_ERR_OR_ZERO(s->ses) == -EOPNOTSUPP && p.cipher &&
	    !crypto_has_alg(cipher->impl, 0, 0))
		return;
	s->p = p;
	if (EQUAL(t, PTR_ERR_OR_ZERO(s->ses), 0)) {
		for (i = 0; i < ROUNDS; i++)
			if (round_trip(t, s))
				break;
		ocf_session_put(s->ses);
	}
	if (t->failed)
		pr_err("# mode %d %s %s: %u + %u + %u bytes\n", p.mode,
		       p.cipher ? cipher->name : "-", p.mac ? mac->name : "-",
		       s->pre, s->len, s->post);
}

static void try_alg(struct test *t, struct scene *s, enum ocf_alg alg)
{
	enum ocf_mode both[] = { OCF_MODE_ETA, OCF_MODE_CHAIN };
	int i;

	switch (ocf_alg_info(alg)->type) {
	case OCF_TYPE_CIPHER:
		try_params(t, s, (struct ocf_session_params){
			.mode = OCF_MODE_CIPHER, .cipher = alg });
		for (i = 0; i < ARRAY_SIZE(both); i++)
			try_params(t, s, (struct ocf_session_params){
				.mode = both[i], .cipher = alg,
				.mac = OCF_HMAC_SHA256 });
		break;
	case OCF_TYPE_AEAD:
		try_params(t, s, (struct ocf_session_params){
			.mode = OCF_MODE_AEAD, .cipher = alg });
		break;
	case OCF_TYPE_DIGEST:
	case OCF_TYPE_MAC:
		try_params(t, s, (struct ocf_session_params){
			.mode = OCF_MODE_DIGEST, .mac = alg });
		break;
	default:
		break;
	}
}

static void scatter_all(struct test *t)
{
	struct scene *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int alg;

	if (!CHECK(t, s))
		return;
	s->req = kzalloc(sizeof(*s->req), GFP_KERNEL);
	s->flat = kzalloc(2 * BUF, GFP_KERNEL);
	s->want = kzalloc(2 * BUF, GFP_KERNEL);
	s->src.mem = kzalloc(2 * BUF, GFP_KERNEL);
	s->dst.mem = kzalloc(2 * BUF, GFP_KERNEL);
	if (CHECK(t, s->req && s->flat && s->want && s->src.mem && s->dst.mem))
		for (alg = 1; alg < OCF_ALG_COUNT && !t->failed; alg++)
			try_alg(t, s, alg);
	kfree(s->dst.mem);
	kfree(s->src.mem);
	kfree(s->want);
	kfree(s->flat);
	kfree(s->req);
	kfree(s);
}

static struct ocf_session *deflate_session(struct test *t)
{
	struct ocf_session_params p = {
		.mode = OCF_MODE_COMPRESS, .cipher = OCF_DEFLATE,
		.device = OCF_DEVICE_ANY,
	};
	struct ocf_session *ses = ocf_session_create(&p, GFP_KERNEL);

	return EQUAL(t, PTR_ERR_OR_ZERO(ses), 0) ? ses : NULL;
}

#define LITERALS	4090
#define EXPANDED	(LITERALS + 258)

/*
 * RFC 1951: a block of 4090 literals (3.2.4), and one with a single match in
 * it, 258 bytes from 4000 before (3.2.6).  A window of 2 KiB does not hold
 * this.
 */
static u32 make_stream(u8 *to)
{
	static const u8 match[] = { 0x1b, 0xed, 0x9f, 0x03, 0x00 };
	u32 i;

	*to++ = 0;
	put_unaligned_le16(LITERALS, to);
	put_unaligned_le16((u16)~LITERALS, to + 2);
	to += 4;
	for (i = 0; i < LITERALS; i++)
		*to++ = i * 7 + i / 256;
	memcpy(to, match, sizeof(match));
	return 5 + LITERALS + sizeof(match);
}

static bool is_expanded(const u8 *stream, const u8 *out)
{
	return !memcmp(out, stream + 5, LITERALS) &&
	       !memcmp(out + LITERALS, stream + 5 + LITERALS - 4000, 258);
}

/*
 * The match crosses the end of a piece, and the destination ends with the
 * stream.
 */
static void scatter_deflate_far(struct test *t)
{
	struct ocf_session *ses = deflate_session(t);
	struct scatterlist src[2], dst[2];
	struct work *w;
	u32 len, cut;

	if (!ses)
		return;
	w = work_make(ses, 2 * EXPANDED, 0);
	len = make_stream(w->buf);
	for (cut = 1; cut <= 258; cut++) {
		sg_init_table(dst, 2);
		sg_set_buf(&dst[0], w->out, LITERALS + cut);
		sg_set_buf(&dst[1], w->out + LITERALS + cut, 2 * EXPANDED -
			   LITERALS - cut);
		sg_init_table(src, 2);
		sg_set_buf(&src[0], w->buf, len - 1 - cut % 4);
		sg_set_buf(&src[1], w->buf + len - 1 - cut % 4, 1 + cut % 4);
		w->req.src = src;
		w->req.dst = dst;
		w->req.op = OCF_OP_DECRYPT;
		w->req.data.len = len;
		w->req.dst_len = EXPANDED;
		memset(w->out, 0, 2 * EXPANDED);
		EQUAL(t, ocf_run(&w->req), 0);
		EQUAL(t, w->req.result_len, EXPANDED);
		CHECK(t, is_expanded(w->buf, w->out));
		CHECK(t, !memchr_inv(w->out + EXPANDED, 0, EXPANDED));
		w->req.dst_len = EXPANDED - 1;
		EQUAL(t, ocf_run(&w->req), -ENOSPC);
	}
	/* the end of the stream is missing */
	w->req.dst_len = EXPANDED + 1;
	w->req.data.len = len - 2;
	EQUAL(t, ocf_run(&w->req), -EINVAL);
	work_free(w);
	ocf_session_put(ses);
}

/*
 * Compressed data expand to the original.  A destination that is too small
 * gives an error.
 */
static void scatter_deflate(struct test *t)
{
	struct ocf_session *ses = deflate_session(t);
	struct work *w, *back;

	if (!ses)
		return;
	w = work_make(ses, 4096, 0);
	back = work_make(ses, 4096, 0);
	w->req.dst_len = 4096;
	EQUAL(t, ocf_run(&w->req), 0);
	CHECK(t, w->req.result_len > 0 && w->req.result_len < 4096);
	memcpy(back->buf, w->out, w->req.result_len);
	back->req.op = OCF_OP_DECRYPT;
	back->req.data.len = w->req.result_len;
	back->req.dst_len = 4096;
	EQUAL(t, ocf_run(&back->req), 0);
	EQUAL(t, back->req.result_len, 4096);
	CHECK(t, !memcmp(back->out, w->buf, 4096));
	back->req.dst_len = 4095;
	EQUAL(t, ocf_run(&back->req), -ENOSPC);
	w->req.dst_len = 4;
	EQUAL(t, ocf_run(&w->req), -ENOSPC);
	back->req.dst_len = 4096;
	memset(back->buf, 0xff, 64);
	EQUAL(t, ocf_run(&back->req), -EINVAL);
	work_free(w);
	work_free(back);
	ocf_session_put(ses);
}

const struct test_case scatter_tests[] = {
	TEST(scatter_all), TEST(scatter_deflate), TEST(scatter_deflate_far), {}
};
