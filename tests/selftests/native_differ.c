// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random commands of the native interface, compared with OpenSSL and zlib:
 * every mode, algorithm, key length, size, alignment and way of passing data.
 * random.h says how to repeat a failure.
 */
#include <kselftest_harness.h>
#include <zlib.h>

#include "native.h"
#include "differ.h"

#define TIMEOUT		1200	/* s: the debug kernel is slow */
#define RECORD_MAX	(1u << 20) /* bytes of payload, more than TLS has */

FIXTURE(differ)
{
	struct differ d;
};

static struct io_uring ring;
/* The mode of the present session */
static enum ocf_mode mode;

/* Registers the two areas of data as buffers 0 and 1. */
static int register_areas(const struct differ *d)
{
	struct iovec areas[] = {
		{ d->src.start, d->src.size }, { d->dst.start, d->dst.size },
	};

	return io_uring_register_buffers(&ring, areas, 2);
}

FIXTURE_SETUP(differ)
{
	ASSERT_TRUE(differ_init(&self->d, DIFFER_MAX));
	ASSERT_EQ(0, allow_weak("all"));
	ASSERT_TRUE(ring_init(&ring));
	ASSERT_EQ(0, register_areas(&self->d));
}

FIXTURE_TEARDOWN(differ)
{
	io_uring_queue_exit(&ring);
	allow_weak("none");
	close(self->d.fd);
}

/* Accepts every name. */
static unsigned int has(const char *name)
{
	return 1;
}

static int new_session(struct differ *d)
{
	struct trial *t = &d->t;
	struct ocf_session_open o = {
		.mode = mode, .key = addr(t->key), .keylen = t->keylen,
		.mackey = addr(t->mackey), .mackeylen = t->mackeylen,
		.ivlen = t->cipher && is_alg(t->cipher, "aes-ccm") ? t->ivlen :
								     0,
		.maclen = t->taglen,
	};
	int err;

	if (t->cipher)
		strcpy(o.cipher, t->cipher->name);
	if (t->mac)
		strcpy(o.mac, t->mac->name);
	err = native_open(d->fd, &o);
	d->ses = o.session;
	return err;
}

static bool within(const struct area *a, const uint8_t *p, uint32_t len)
{
	return p >= a->start && p + len <= a->start + a->size;
}

/*
 * Returns the length of the source, including the authenticated bytes around a
 * chain's data.
 */
static uint32_t span_of(const struct ocf_command *c)
{
	uint32_t data = c->data_start + c->len;
	uint32_t auth = c->auth_start + c->auth_len;

	if (mode != OCF_MODE_CHAIN)
		return c->len;
	return data > auth ? data : auth;
}

/* Returns the maximum number of bytes of the destination. */
static uint32_t room_of(const struct ocf_command *c)
{
	if (mode == OCF_MODE_COMPRESS ||
	    (c->op == OCF_OP_ENCRYPT && mode == OCF_MODE_MTE))
		return c->dst_len;
	return span_of(c);
}

/*
 * Draws a registered buffer, for the source, the destination or both.  Returns
 * its number, or -1 for none.
 */
static int fix(struct differ *d, struct ocf_command *c)
{
	uint8_t *src = (uint8_t *)(uintptr_t)c->src;
	uint8_t *dst = (uint8_t *)(uintptr_t)c->dst;
	int buf;

	for (buf = 0; buf < 2; buf++) {
		const struct area *a = buf ? &d->dst : &d->src;

		if (one_in(3))
			continue;
		if (within(a, src, span_of(c)))
			c->flags |= OCF_COMMAND_FIXED_SRC;
		if (dst && within(a, dst, room_of(c)))
			c->flags |= OCF_COMMAND_FIXED_DST;
		if (c->flags & (OCF_COMMAND_FIXED_SRC | OCF_COMMAND_FIXED_DST))
			return buf;
	}
	return -1;
}

/* Runs a command in one of the ways of submission. */
static int run(struct differ *d, uint8_t *tag, struct ocf_command *c)
{
	struct trial *t = &d->t;

	c->cookie = chance();
	c->session = d->ses;
	c->op = t->encrypt ? OCF_OP_ENCRYPT : OCF_OP_DECRYPT;
	c->src = addr(t->src);
	c->dst = addr(t->dst);
	c->len = t->len;
	c->tag = addr(tag);
	memcpy(c->iv, t->iv, 16);
	switch (below(4)) {
	case 0:
		return native_run(d->fd, c);
	case 1:
		return native_submit(d->fd, c);
	case 2:
		return ring_vector(&ring, d->fd, c, fix(d, c));
	default:
		return ring_run(&ring, d->fd, c, fix(d, c));
	}
}

static int err_of_len(const struct trial *t)
{
	if (t->len > DIFFER_MAX)
		return -E2BIG;
	if (t->cipher && t->len % t->cipher->block)
		return -EINVAL;
	return 0;
}

/*
 * Runs one to four operations in one session.  Returns what was wrong, or "".
 */
static const char *in_session(struct differ *d, enum ocf_mode how,
			      const char *(*op)(struct differ *d))
{
	int n = 1 + below(4);
	const char *wrong = "";

	mode = how;
	if (new_session(d))
		return "errno of the session";
	while (n-- && !*wrong)
		wrong = op(d);
	if (call(d->fd, OCF_SESSION_CLOSE, &d->ses) && !*wrong)
		return "errno of closing the session";
	return wrong;
}

/* ---- ciphers ---- */

static const char *cipher_op(struct differ *d)
{
	struct ocf_command c = {};
	struct trial *t = &d->t;
	int err;

	t->encrypt = one_in(2);
	t->len = pick_len(DIFFER_MAX, t->cipher->block);
	pick_iv(t);
	err = err_of_len(t);
	place_data(d, t->len, t->len);
	if (!err)
		want_cipher(t, t->encrypt, t->iv, t->src, t->len, d->want);
	watch_data(d, t->len);
	/* a command without data is refused */
	if (!t->len)
		err = -EINVAL;
	if (!err)
		expect_result(d, t->len);
	return run(d, NULL, &c) == (err ?: (int)t->len) ? differs(d) : "res";
}

static const char *cipher_round(struct differ *d)
{
	d->t.cipher = pick_alg(CIPHER, has);
	pick_keys(&d->t);
	d->t.taglen = 0;
	return in_session(d, OCF_MODE_CIPHER, cipher_op);
}

TEST_F_TIMEOUT(differ, ciphers, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, cipher_round, 400);
}

/* ---- digests and MACs ---- */

static const char *digest_op(struct differ *d)
{
	uint8_t *tag = place_tag(d), want[TAG_MAX];
	struct ocf_command c = {};
	struct trial *t = &d->t;
	bool broken = one_in(4);
	int err;

	t->encrypt = one_in(2);
	t->len = pick_len(DIFFER_MAX, 1);
	pick_iv(t);
	err = err_of_len(t);
	place_data(d, t->len, 0);
	t->dst = NULL;
	if (!err)
		want_mac(t, t->src, t->len, want);
	watch_data(d, 0);
	if (!t->encrypt && !err) {
		memcpy(tag, want, t->taglen);
		if (broken) {
			flip(tag, t->taglen);
			err = -EBADMSG;
		}
	}
	watch_tag(d, tag);
	if (!err)
		watch_expect(&d->on_tag, tag, want, t->taglen);
	return run(d, tag, &c) == (err ?: (int)t->taglen) ? differs(d) : "res";
}

static const char *digest_round(struct differ *d)
{
	d->t.mac = pick_alg(DIGEST | MAC, has);
	pick_keys(&d->t);
	return in_session(d, OCF_MODE_DIGEST, digest_op);
}

TEST_F_TIMEOUT(differ, digests, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, digest_round, 400);
}

/* ---- AEAD, and MACs of what was encrypted ---- */

/* Computes the MAC of the bytes around the data and of the ciphertext @text. */
static void mac_of_both(struct differ *d, const uint8_t *text, uint8_t *tag)
{
	struct trial *t = &d->t;

	memcpy(d->text, t->aad, t->aadlen);
	memcpy(d->text + t->aadlen, text, t->len);
	want_mac(t, d->text, t->aadlen + t->len, tag);
}

static void seal(struct differ *d, const uint8_t *in, uint8_t *out,
		 uint8_t *tag)
{
	struct trial *t = &d->t;

	if (!t->mac) {
		want_seal(t, in, t->len, out, tag);
		return;
	}
	want_cipher(t, true, t->iv, in, t->len, out);
	mac_of_both(d, out, tag);
}

static const char *sealed_op(struct differ *d)
{
	uint8_t *tag = place_tag(d), want[TAG_MAX];
	struct trial *t = &d->t;
	struct ocf_command c = {};
	bool broken;
	int err = 0;

	place_aad(d, one_in(30) ? 100000 : 3000);
	t->encrypt = one_in(2);
	do {
		t->len = pick_len(t->mac ? RECORD_MAX : DIFFER_MAX - TAG_MAX,
				  t->mac ? t->cipher->block : 1);
	} while (!fits_nonce(t, t->len) ||
		 (t->mac && t->len % t->cipher->block) ||
		 t->len > DIFFER_MAX || (t->mac && !t->len));
	pick_iv(t);
	c.aad = addr(t->aad);
	c.auth_len = t->aadlen;
	c.ivlen = !t->mac && one_in(2) ? t->ivlen : 0;
	place_data(d, t->len, t->len);
	broken = !t->encrypt && one_in(3);
	if (t->encrypt) {
		seal(d, t->src, d->want, want);
	} else {
		noise(d->want, t->len);
		seal(d, d->want, t->src, tag);
	}
	if (broken) {
		/*
		 * null-mac covers no data, so it detects only a change of the
		 * tag
		 */
		if (t->mac && is_alg(t->mac, "null-mac"))
			flip(tag, t->taglen);
		else if (t->len && one_in(2))
			flip(t->src, t->len);
		else if (t->aadlen && one_in(2))
			flip(t->aad, t->aadlen);
		else
			flip(tag, t->taglen);
		err = -EBADMSG;
	}
	watch_data(d, t->len);
	watch_tag(d, tag);
	if (!broken)
		expect_result(d, t->len);
	if (t->encrypt)
		watch_expect(&d->on_tag, tag, want, t->taglen);
	return run(d, tag, &c) == (err ?: (int)t->len) ? differs(d) : "res";
}

static const char *aead_round(struct differ *d)
{
	struct trial *t = &d->t;

	t->cipher = pick_alg(AEAD, has);
	pick_keys(t);
	t->ivlen = is_alg(t->cipher, "aes-ccm") ? 7 + below(7) : t->cipher->iv;
	t->taglen = pick_taglen(t);
	return in_session(d, OCF_MODE_AEAD, sealed_op);
}

TEST_F_TIMEOUT(differ, aead, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, aead_round, 400);
}

/* Draws a MAC that a session may have beside a cipher: one without an IV. */
static void pick_both(struct trial *t)
{
	t->cipher = pick_alg(CIPHER, has);
	do
		t->mac = pick_alg(MAC, has);
	while (t->mac->iv);
	pick_keys(t);
}

static const char *eta_round(struct differ *d)
{
	pick_both(&d->t);
	return in_session(d, OCF_MODE_ETA, sealed_op);
}

TEST_F_TIMEOUT(differ, encrypt_then_mac, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, eta_round, 300);
}

/* ---- chains ---- */

static const char *chain_op(struct differ *d)
{
	uint8_t *tag = place_tag(d), want[TAG_MAX];
	uint32_t before = one_in(3) ? 0 : below(200);
	uint32_t after = one_in(3) ? 0 : below(200), all, len;
	bool first = one_in(2), verify = one_in(3), broken;
	struct ocf_command c = {};
	struct trial *t = &d->t;

	t->encrypt = one_in(2);
	pick_iv(t);
	len = t->cipher->block * (1 + log_uniform(4096));
	all = before + len + after;
	place_data(d, all, all);
	c.data_start = before;
	c.auth_start = below(before + 1);
	c.auth_len = before + len + below(after + 1) - c.auth_start;
	c.flags = first ? OCF_COMMAND_MAC_FIRST : 0;
	/* the buffer as it is after the cipher */
	memcpy(d->text, t->src, all);
	want_cipher(t, t->encrypt, t->iv, t->src + before, len,
		    d->text + before);
	want_mac(t, (first ? t->src : d->text) + c.auth_start, c.auth_len,
		 want);
	broken = verify && one_in(3);
	if (verify) {
		c.flags |= OCF_COMMAND_VERIFY;
		memcpy(tag, want, t->taglen);
	}
	if (broken)
		flip(tag, t->taglen);
	t->len = all;
	watch_data(d, all);
	watch_tag(d, tag);
	t->len = len;
	if (!broken) {
		watch_expect(&d->on_src, t->dst + before, d->text + before,
			     len);
		watch_expect(&d->on_dst, t->dst + before, d->text + before,
			     len);
	}
	if (!verify)
		watch_expect(&d->on_tag, tag, want, t->taglen);
	return run(d, tag, &c) == (broken ? -EBADMSG : (int)len) ? differs(d) :
								   "res";
}

static const char *chain_round(struct differ *d)
{
	pick_both(&d->t);
	return in_session(d, OCF_MODE_CHAIN, chain_op);
}

TEST_F_TIMEOUT(differ, chains, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, chain_round, 300);
}

/* ---- records of TLS: RFC 5246, section 6.2.3.2 ---- */

/* Accepts the MACs that MAC-then-encrypt has. */
static unsigned int has_mte(const char *name)
{
	static const char * const macs[] = { "hmac-md5", "hmac-sha1",
		"hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512" };
	int i;

	for (i = 0; i < COUNT(macs); i++)
		if (!strcmp(macs[i], name))
			return 1;
	return 0;
}

static const char *record_op(struct differ *d)
{
	uint32_t block = d->t.cipher->block, len = log_uniform(RECORD_MAX), pad;
	uint8_t mac[TAG_MAX], *plain;
	struct ocf_command c = {};
	struct trial *t = &d->t;
	bool broken;
	uint32_t all;

	t->encrypt = one_in(2);
	broken = !t->encrypt && one_in(3);
	pick_iv(t);
	place_aad(d, 2000);
	pad = block > 1 ? block - (len + t->taglen) % block : 0;
	if (block > 1 && one_in(2))
		pad += block * below((256 - pad) / block + 1);
	all = len + t->taglen + pad;
	place_data(d, all, all);
	plain = d->text + t->aadlen;
	memcpy(d->text, t->aad, t->aadlen);
	memcpy(plain, t->src, len);
	want_mac(t, d->text, t->aadlen + len, mac);
	memcpy(plain + len, mac, t->taglen);
	memset(plain + len + t->taglen, pad - 1, pad);
	want_cipher(t, true, t->iv, plain, all, d->want);
	if (!t->encrypt) {
		memcpy(t->src, d->want, all);
		memcpy(d->want, plain, len);
	}
	if (broken)
		flip(t->src, all);
	c.aad = addr(t->aad);
	c.auth_len = t->aadlen;
	c.dst_len = t->encrypt ? all : 0;
	t->len = all;
	watch_data(d, all);
	if (!broken)
		expect_result(d, t->encrypt ? all : len);
	if (t->encrypt)
		t->len = len;
	return run(d, NULL, &c) == (broken ? -EBADMSG :
			(int)(t->encrypt ? all : len)) ? differs(d) : "res";
}

static const char *record_round(struct differ *d)
{
	struct trial *t = &d->t;

	t->cipher = pick_alg(CIPHER, has);
	t->mac = pick_alg(MAC, has_mte);
	pick_keys(t);
	return in_session(d, OCF_MODE_MTE, record_op);
}

TEST_F_TIMEOUT(differ, records, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, record_round, 300);
}

/* ---- compression: RFC 1951 ---- */

#define DISTANCE_MAX	32768	/* RFC 1951, section 3.2.5 */

/*
 * Fills @to with noise and with repetitions, at all distances that DEFLATE has.
 */
static void text_of(uint8_t *to, uint32_t len)
{
	uint32_t at, n, end, away;

	for (at = 0; at < len; at = end) {
		n = 1 + log_uniform(len - at - 1);
		end = at + n;
		if (!at || one_in(2)) {
			noise(to + at, n);
			continue;
		}
		away = at < DISTANCE_MAX ? at : DISTANCE_MAX;
		away = 1 + log_uniform(away - 1);
		for (; n; n--)
			to[end - n] = to[end - n - away];
	}
}

/* Compresses with zlib, with random settings.  Returns the length. */
static uint32_t deflated(const uint8_t *in, uint32_t len, uint8_t *out,
			 uint32_t room)
{
	z_stream z = {};

	if (deflateInit2(&z, below(10), Z_DEFLATED, -9 - (int)below(7),
			 1 + below(9), below(5)))
		abort();
	z.next_in = (uint8_t *)in;
	z.avail_in = len;
	z.next_out = out;
	z.avail_out = room;
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	deflateEnd(&z);
	return z.total_out;
}

/*
 * Expands with zlib.  Returns the length, or -1 if the input is no stream or
 * the output is too small.
 */
static long inflated(const uint8_t *in, uint32_t len, uint8_t *out,
		     uint32_t room)
{
	z_stream z = {};
	int res;

	if (inflateInit2(&z, -MAX_WBITS))
		abort();
	z.next_in = (uint8_t *)in;
	z.avail_in = len;
	z.next_out = out;
	z.avail_out = room;
	res = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return res == Z_STREAM_END && !z.avail_in ? (long)z.total_out : -1;
}

/* Returns a size of the destination, which may be larger than the input. */
static uint32_t room_for(uint32_t len)
{
	return len + len / 8 + len / 64 + 64;
}

static const char *compress_op(struct differ *d)
{
	struct trial *t = &d->t;
	struct ocf_command c = {};
	uint32_t enough;
	int res;

	t->encrypt = true;
	t->len = pick_len(RECORD_MAX, 1);
	enough = room_for(t->len);
	c.dst_len = one_in(3) ? below(enough) : enough;
	t->src = place(&d->src, t->len);
	t->dst = place(&d->dst, c.dst_len);
	text_of(t->src, t->len);
	watch_data(d, c.dst_len);
	res = run(d, NULL, &c);
	if (!t->len || !c.dst_len)
		return res == -EINVAL ? differs(d) : "res of nothing";
	if (res == -ENOSPC && c.dst_len < enough) {
		/* the part that fits may have been written */
		watch_expect(&d->on_dst, t->dst, t->dst, c.dst_len);
		return differs(d);
	}
	if (res <= 0 || res > (int)c.dst_len)
		return "res";
	if (inflated(t->dst, res, d->want, t->len) != t->len ||
	    memcmp(d->want, t->src, t->len))
		return "the stream";
	watch_expect(&d->on_dst, t->dst, t->dst, res);
	return differs(d);
}

/*
 * Whether @res is an allowed errno for input that is no stream.  Which errno it
 * is depends on where the kernel detects the error.
 */
static bool is_errno_of(int res, const struct ocf_command *c, long whole)
{
	if (!c->len || !c->dst_len || whole < 0)
		return res == -EINVAL || res == -ENOSPC;
	return res == -ENOSPC && whole > c->dst_len;
}

static const char *expand_op(struct differ *d)
{
	uint32_t len = pick_len(RECORD_MAX, 1), all = d->dst.size;
	struct trial *t = &d->t;
	struct ocf_command c = {};
	long whole;
	int res;

	t->encrypt = false;
	text_of(d->text, len);
	t->len = deflated(d->text, len, d->want, all);
	c.dst_len = one_in(3) ? below(len + 1) : len + below(100);
	t->src = place(&d->src, t->len + 1);
	memcpy(t->src, d->want, t->len);
	if (one_in(4))
		flip(t->src, t->len);
	if (one_in(8))
		t->len -= below(t->len + 1);
	else if (one_in(8))
		t->src[t->len++] = 0;
	t->dst = place(&d->dst, c.dst_len);
	watch_data(d, c.dst_len);
	whole = inflated(t->src, t->len, d->want, all);
	res = run(d, NULL, &c);
	if (res >= 0) {
		if (res != whole)
			return "res";
		expect_result(d, res);
		return differs(d);
	}
	if (!is_errno_of(res, &c, whole))
		return "errno";
	/* the data before the error may have been written */
	watch_expect(&d->on_dst, t->dst, t->dst, c.dst_len);
	return differs(d);
}

static const char *compression_round(struct differ *d)
{
	static const struct alg deflate_alg = {
		.name = "deflate", .key_step = 1, .block = 1,
	};

	d->t.cipher = &deflate_alg;
	pick_keys(&d->t);
	return in_session(d, OCF_MODE_COMPRESS,
			  one_in(2) ? compress_op : expand_op);
}

TEST_F_TIMEOUT(differ, compression, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, compression_round, 300);
}

TEST_HARNESS_MAIN
