// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random operations of the BSD ABI, compared with OpenSSL: every algorithm, key
 * length, size, alignment and way of passing data.  random.h says how to repeat
 * a failure.
 */
#include <kselftest_harness.h>

#include "bsd.h"
#include "differ.h"

#define LEN_MAX		CRYPTO_MAX_DATA_LEN
#define TIMEOUT		1200	/* s: the debug kernel is slow */

FIXTURE(differ)
{
	struct differ d;
};

FIXTURE_SETUP(differ)
{
	ASSERT_TRUE(differ_init(&self->d, LEN_MAX));
	ASSERT_EQ(0, allow_weak("all"));
}

FIXTURE_TEARDOWN(differ)
{
	allow_weak("none");
	close(self->d.fd);
}

/* Opens a session; half of them set the fields that are optional. */
static int new_session(struct differ *d)
{
	struct trial *t = &d->t;
	struct session2_op sop = {
		.cipher = t->cipher ? bsd_id(t->cipher->name) : 0,
		.keylen = t->keylen, .key = t->key,
		.mac = t->mac ? bsd_id(t->mac->name) : 0,
		.mackeylen = t->mackeylen, .mackey = t->mackey,
		.crid = CRYPTO_FLAG_SOFTWARE | CRYPTO_FLAG_HARDWARE,
	};
	int err;

	/* the BSDs use a tweak of 8 bytes by default */
	if (is_alg(t->cipher, "aes-xts"))
		t->ivlen = 8;
	if (one_in(2)) {
		/* CIOCGSESSION has the fields up to crid */
		err = call(d->fd, CIOCGSESSION, &sop);
	} else {
		t->taglen = t->taglen ? pick_taglen(t) : 0;
		sop.maclen = t->taglen;
		if (is_alg(t->cipher, "aes-xts"))
			t->ivlen = one_in(2) ? 8 : 16;
		if (is_alg(t->cipher, "aes-ccm"))
			t->ivlen = 7 + below(7);
		sop.ivlen = t->ivlen;
		err = call(d->fd, CIOCGSESSION2, &sop);
	}
	d->ses = sop.ses;
	return err;
}

/*
 * Returns the errno that opening the session must give, or 0.  A digest without
 * a key is no MAC for a cipher.
 */
static int err_of_session(const struct trial *t)
{
	return t->cipher && t->mac && t->mac->kind == DIGEST && !t->mackeylen ?
	       EINVAL : 0;
}

/*
 * Runs one to four operations in one session.  Returns what was wrong, or "".
 */
static const char *in_session(struct differ *d,
			      const char *(*op)(struct differ *d))
{
	int n = 1 + below(4), err;
	const char *wrong = "";

	pick_keys(&d->t);
	err = err_of_session(&d->t);
	if (new_session(d) != err)
		return "errno of the session";
	if (err)
		return "";
	while (n-- && !*wrong)
		wrong = op(d);
	if (close_session(d->fd, d->ses) && !*wrong)
		return "errno of closing the session";
	return wrong;
}

/*
 * Draws an IV.  The second half of a tweak is zero if the session uses 8 bytes.
 */
static void draw_iv(struct trial *t)
{
	pick_iv(t);
	if (is_alg(t->cipher, "aes-xts") && t->ivlen == 8)
		memset(t->iv + 8, 0, 8);
}

static int direction(const struct trial *t)
{
	return t->encrypt ? COP_ENCRYPT : COP_DECRYPT;
}

static int draw_flags(const struct trial *t)
{
	return (one_in(4) && t->encrypt ? COP_F_CIPHER_FIRST : 0) |
	       (one_in(4) ? COP_F_BATCH : 0);
}

/* The errno that an operation of this length must have, or 0 */
static int err_of_len(const struct trial *t)
{
	if (t->len > LEN_MAX || t->aadlen > LEN_MAX)
		return E2BIG;
	if (t->cipher && t->len % t->cipher->block)
		return EINVAL;
	/* empty data can be hashed, but not encrypted */
	return t->len || t->mac || t->taglen ? 0 : EINVAL;
}

/* ---- CIOCCRYPT: ciphers ---- */

static int run(struct differ *d, const uint8_t *iv, uint8_t *mac)
{
	struct trial *t = &d->t;

	return crypt_op(d->fd, d->ses, direction(t), t->flags, t->src, t->dst,
			t->len, iv, mac);
}

static const char *refused(struct differ *d, int err, uint8_t *mac)
{
	const struct trial *t = &d->t;

	place_data(d, t->len, t->len);
	watch_data(d, t->len);
	return run(d, t->ivlen ? t->iv : NULL, mac) == err ?
	       differs(d) : "errno of a length";
}

/* Passes the IV at the start of the data. */
static const char *iv_in_front(struct differ *d)
{
	struct trial *t = &d->t;
	uint32_t n = t->ivlen, len = t->len;
	int err = len > n ? 0 : EINVAL;

	if ((len - n) % t->cipher->block)
		err = EINVAL;
	place_data(d, len, len);
	if (!err) {
		memcpy(t->src, t->iv, n);
		want_cipher(t, t->encrypt, t->iv, t->src + n, len - n,
			    d->want);
	}
	watch_data(d, len);
	if (!err) {
		watch_expect(&d->on_src, t->dst + n, d->want, len - n);
		watch_expect(&d->on_dst, t->dst + n, d->want, len - n);
	}
	return run(d, NULL, NULL) == err ? differs(d) :
					   "errno with the IV in front";
}

static const char *cipher_op(struct differ *d)
{
	struct trial *t = &d->t;
	int err;

	t->encrypt = one_in(2);
	t->flags = draw_flags(t);
	t->len = pick_len(LEN_MAX, t->cipher->block);
	draw_iv(t);
	err = err_of_len(t);
	if (err)
		return refused(d, err, NULL);
	if (t->ivlen && one_in(4))
		return iv_in_front(d);
	place_data(d, t->len, t->len);
	want_cipher(t, t->encrypt, t->iv, t->src, t->len, d->want);
	/* no destination */
	if (one_in(16))
		t->dst = NULL;
	watch_data(d, t->len);
	expect_result(d, t->len);
	return run(d, t->ivlen ? t->iv : NULL, NULL) ? "errno" : differs(d);
}

static const char *cipher_round(struct differ *d)
{
	d->t.cipher = pick_alg(CIPHER, bsd_id);
	return in_session(d, cipher_op);
}

TEST_F_TIMEOUT(differ, ciphers, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, cipher_round, 700);
}

/* ---- CIOCCRYPT: digests and MACs ---- */

static const char *digest_op(struct differ *d)
{
	struct trial *t = &d->t;
	uint8_t *mac = place_tag(d), want[TAG_MAX];
	const uint8_t *iv = t->ivlen ? t->iv : NULL;
	int err;

	t->encrypt = one_in(2);
	t->flags = draw_flags(t);
	t->len = pick_len(LEN_MAX, 1);
	draw_iv(t);
	err = err_of_len(t);
	if (err)
		return refused(d, err, mac);
	place_data(d, t->len, 0);
	t->dst = NULL;
	want_mac(t, t->src, t->len, want);
	watch_data(d, 0);
	watch_tag(d, mac);
	watch_expect(&d->on_tag, mac, want, t->taglen);
	return run(d, iv, mac) ? "errno" : differs(d);
}

static const char *digest_round(struct differ *d)
{
	d->t.mac = pick_alg(DIGEST | MAC, bsd_id);
	return in_session(d, digest_op);
}

TEST_F_TIMEOUT(differ, digests, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, digest_round, 1000);
}

/*
 * ---- AEAD and encrypt-then-MAC: CIOCCRYPTAEAD, or CIOCCRYPT if there is no
 * AAD ----
 */

static int run_aead(struct differ *d, uint8_t *tag)
{
	struct trial *t = &d->t;
	uint32_t ivlen = t->ivlen;

	if (!t->aadlen && one_in(2))
		return run(d, t->ivlen ? t->iv : NULL, tag);
	/* FreeBSD accepts 16 bytes of tweak and uses 8 */
	if (t->mac && is_alg(t->cipher, "aes-xts") && ivlen == 8 && one_in(2))
		ivlen = 16;
	return aead_op(d->fd, d->ses, direction(t), t->aad, t->aadlen, t->src,
		       t->dst, t->len, ivlen ? t->iv : NULL, ivlen, tag);
}

/*
 * Writes the ciphertext of @text to @out, and the tag over AAD and ciphertext.
 */
static void want_sealed(struct differ *d, const uint8_t *text, uint32_t len,
			uint8_t *out, uint8_t *tag)
{
	struct trial *t = &d->t;

	if (!t->mac) {
		want_seal(t, text, len, out, tag);
		return;
	}
	want_cipher(t, true, t->iv, text, len, out);
	memcpy(d->text, t->aad, t->aadlen);
	memcpy(d->text + t->aadlen, out, len);
	want_mac(t, d->text, t->aadlen + len, tag);
}

static const char *seal(struct differ *d, uint8_t *tag)
{
	struct trial *t = &d->t;
	uint8_t want[TAG_MAX];

	place_data(d, t->len, t->len);
	want_sealed(d, t->src, t->len, d->want, want);
	if (one_in(16))
		t->dst = NULL;
	watch_data(d, t->len);
	expect_result(d, t->len);
	watch_tag(d, tag);
	watch_expect(&d->on_tag, tag, want, t->taglen);
	return run_aead(d, tag) ? "errno" : differs(d);
}

static void break_sealed(struct trial *t, uint8_t *tag)
{
	if (t->aadlen && one_in(3))
		flip(t->aad, t->aadlen);
	else if (t->len && one_in(2))
		flip(t->src, t->len);
	else
		flip(tag, t->taglen);
}

static const char *open_sealed(struct differ *d, uint8_t *tag)
{
	struct trial *t = &d->t;
	/* not a null MAC: its zeroes would be right for any data */
	bool broken = one_in(3) && !is_alg(t->mac, "null-mac");
	uint8_t right[TAG_MAX];

	place_data(d, t->len, t->len);
	noise(d->want, t->len);
	want_sealed(d, d->want, t->len, t->src, right);
	memcpy(tag, right, t->taglen);
	if (broken)
		break_sealed(t, tag);
	watch_data(d, t->len);
	watch_tag(d, tag);
	if (broken)
		return run_aead(d, tag) == EBADMSG ? differs(d) :
						     "errno of a wrong tag";
	expect_result(d, t->len);
	return run_aead(d, tag) ? "errno" : differs(d);
}

static const char *sealed_op(struct differ *d)
{
	struct trial *t = &d->t;
	uint8_t *tag = place_tag(d);
	int err;

	t->encrypt = one_in(2);
	t->flags = 0;
	t->len = pick_len(LEN_MAX, t->cipher->block);
	draw_iv(t);
	place_aad(d, LEN_MAX);
	err = err_of_len(t);
	if (!fits_nonce(t, t->len))
		err = err ?: EINVAL;
	if (err) {
		t->aadlen = 0;
		return refused(d, err, tag);
	}
	return t->encrypt ? seal(d, tag) : open_sealed(d, tag);
}

static const char *aead_round(struct differ *d)
{
	d->t.cipher = pick_alg(AEAD, bsd_id);
	return in_session(d, sealed_op);
}

TEST_F_TIMEOUT(differ, aead, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, aead_round, 500);
}

/* Runs an encrypt-then-MAC operation, which has one IV, that of the cipher. */
static const char *eta_round(struct differ *d)
{
	d->t.cipher = pick_alg(CIPHER, bsd_id);
	do
		d->t.mac = pick_alg(DIGEST | MAC, bsd_id);
	while (d->t.mac->iv);
	return in_session(d, sealed_op);
}

TEST_F_TIMEOUT(differ, encrypt_then_mac, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, eta_round, 1200);
}

/* The tables of the kernel and of this test have the same algorithms. */
TEST(no_algorithm_is_left_out)
{
	int i;

	for (i = 0; i < nids_bsd; i++)
		if (ids_bsd[i].alg)
			EXPECT_NE(NULL, alg_named(ids_bsd[i].alg));
}

TEST_HARNESS_MAIN
