// SPDX-License-Identifier: BSD-2-Clause
/*
 * Vectors through the BSD ABI, <bsd/crypto/cryptodev.h>.
 */
#include <stdlib.h>

#include "../selftests/bsd.h"
#include "vectors.h"

bool bsd_has(const char *alg)
{
	return bsd_id(alg);
}

/* ---- sessions ---- */

/*
 * Opens a session by CIOCGSESSION2, which has fields for lengths that
 * CIOCGSESSION leaves at their defaults.
 */
static int session2(struct run *r, const struct session2_op *sop, uint32_t *ses)
{
	struct session2_op s = *sop;
	int err;

	s.crid = CRYPTO_FLAG_HARDWARE | CRYPTO_FLAG_SOFTWARE;
	err = call(r->fd, CIOCGSESSION2, &s);
	*ses = s.ses;
	return err;
}

static int session(struct run *r, const struct session2_op *sop, uint32_t *ses)
{
	struct session_op s = {
		.cipher = sop->cipher, .keylen = sop->keylen, .key = sop->key,
		.mac = sop->mac, .mackeylen = sop->mackeylen,
		.mackey = sop->mackey,
	};
	int err = call(r->fd, CIOCGSESSION, &s);

	*ses = s.ses;
	return err;
}

/*
 * Returns a session with a cipher or AEAD algorithm, with the vector's lengths
 * unchanged
 */
static struct session2_op cipher_session(const struct vector *v)
{
	return (struct session2_op){
		.cipher = bsd_id(v->alg->name),
		.keylen = v->f[KEY].len, .key = v->f[KEY].p,
		.ivlen = v->f[IV].len, .maclen = v->f[TAG].len,
	};
}

/* With a MAC or digest alone */
static struct session2_op mac_session(const struct vector *v)
{
	return (struct session2_op){
		.mac = bsd_id(v->alg->name),
		.mackeylen = v->f[KEY].len, .mackey = v->f[KEY].p,
		.ivlen = v->f[IV].len, .maclen = v->f[TAG].len,
	};
}

/*
 * Returns whether CIOCGSESSION can also open the session: with 8 bytes of tweak
 * for XTS, and whole tags
 */
static bool is_usual(const struct vector *v)
{
	bool xts = !strcmp(v->alg->name, "aes-xts");

	return v->f[IV].len == (xts ? AES_XTS_IV_LEN : v->alg->iv) &&
	       (!v->f[TAG].p || v->f[TAG].len == v->alg->size);
}

/*
 * Returns why the session must be refused, or NULL.  A length of 0 is not
 * refused: it asks for the usual length.
 */
static const char *why_not(const struct vector *v)
{
	if (!alg_takes_key(v->alg, v->f[KEY].len))
		return "key length";
	if (v->f[IV].len && !alg_takes_iv(v->alg, v->f[IV].len))
		return v->kind <= KIND_PADDED ? "IV length" : "nonce length";
	if (v->f[TAG].len && !alg_takes_tag(v->alg, v->f[TAG].len))
		return "tag length";
	return NULL;
}

/* Opens a session for the vector, or sees it refused. */
static bool opened(struct run *r, const struct session2_op *sop, uint32_t *ses,
		   struct verdict *verdict)
{
	const char *why = why_not(r->v);
	int err = session2(r, sop, ses);

	expect_errno(r, "session", why ? EINVAL : 0, err);
	*verdict = why ? refused(why) : wrong();
	return !why && !err;
}

/* ---- ciphers ---- */

static int crypt_at(struct run *r, uint32_t ses, int op,
		    const struct bytes *from, uint8_t *out, uint8_t *mac)
{
	return crypt_op(r->fd, ses, op, 0, from->p, out, from->len,
			r->v->alg->iv ? r->v->f[IV].p : NULL, mac);
}

static void crypt_way(struct run *r, uint32_t ses, int op,
		      const struct bytes *from, const struct bytes *to)
{
	const char *what = op == COP_ENCRYPT ? "encrypt" : "decrypt";
	struct room out = room_new(from->len);
	struct room same = room_with(from->p, from->len, 0);
	struct bytes place = { same.at, same.len };

	expect_errno(r, what, 0, crypt_at(r, ses, op, from, out.at, NULL));
	expect_bytes(r, what, to->p, out.at, to->len);
	expect_untouched(r, what, &out, to->len);
	expect_errno(r, what, 0, crypt_at(r, ses, op, &place, same.at, NULL));
	expect_bytes(r, what, to->p, same.at, to->len);
	expect_untouched(r, what, &same, to->len);
	room_free(&same);
	room_free(&out);
}

static void expect_refusal(struct run *r, uint32_t ses, int err)
{
	const struct bytes *from = &r->v->f[RESULT];
	struct room out = room_new(from->len);

	expect_errno(r, "length", err,
		     crypt_at(r, ses, COP_DECRYPT, from, out.at, NULL));
	expect_untouched(r, "length", &out, 0);
	room_free(&out);
}

static void crypt_unpadded(struct run *r, uint32_t ses)
{
	const struct bytes *from = &r->v->f[RESULT];
	struct room out = room_new(from->len);

	expect_errno(r, "decrypt", 0,
		     crypt_at(r, ses, COP_DECRYPT, from, out.at, NULL));
	expect_untouched(r, "decrypt", &out, from->len);
	expect_equal(r, "padding", false,
		     padding_is_right(out.at, from->len, r->v->alg->block));
	room_free(&out);
}

static struct verdict cipher_with(struct run *r, uint32_t ses)
{
	const struct vector *v = r->v;
	const struct bytes *result = &v->f[RESULT];
	struct bytes text = v->f[TEXT];

	if (!result->len || result->len % v->alg->block) {
		expect_refusal(r, ses, EINVAL);
		return refused("text length");
	}
	if (v->bad) {
		crypt_unpadded(r, ses);
		return right();
	}
	if (v->kind == KIND_PADDED)
		text = padded(&text, v->alg->block);
	expect_equal(r, "lengths", result->len, text.len);
	if (text.len == result->len) {
		crypt_way(r, ses, COP_ENCRYPT, &text, result);
		crypt_way(r, ses, COP_DECRYPT, result, &text);
	}
	if (v->kind == KIND_PADDED)
		free(text.p);
	return right();
}

static struct verdict run_cipher(struct run *r)
{
	struct session2_op sop = cipher_session(r->v);
	struct verdict verdict;
	uint32_t ses;

	if (!opened(r, &sop, &ses, &verdict))
		return verdict;
	if (r->v->f[IV].len || !r->v->alg->iv)
		verdict = cipher_with(r, ses);
	else
		verdict = unsaid("IV length");
	close_session(r->fd, ses);
	if (verdict.as == RIGHT && is_usual(r->v)) {
		expect_errno(r, "session", 0, session(r, &sop, &ses));
		verdict = cipher_with(r, ses);
		close_session(r->fd, ses);
	}
	return verdict;
}

/* ---- digests and MACs ---- */

static void expect_tag(struct run *r, const char *what, int err,
		       const struct room *out)
{
	const struct vector *v = r->v;

	expect_errno(r, what, 0, err);
	if (!v->bad)
		expect_bytes(r, what, v->f[TAG].p, out->at, v->f[TAG].len);
	else if (!err)
		expect_equal(r, "the tag is not refused", true,
			     memcmp(v->f[TAG].p, out->at, v->f[TAG].len) != 0);
	expect_untouched(r, what, out, v->f[TAG].len);
}

static void digest_with(struct run *r, uint32_t ses)
{
	const struct bytes *text = &r->v->f[TEXT];
	struct room out = room_new(r->v->alg->size);

	expect_tag(r, "digest", crypt_at(r, ses, 0, text, NULL, out.at), &out);
	room_free(&out);
}

/* Decrypts with the null cipher beside the MAC, which compares @tag. */
static void null_opens(struct run *r, uint32_t ses, uint8_t *tag, int want)
{
	const struct bytes *text = &r->v->f[TEXT];
	struct room out = room_new(text->len);

	expect_errno(r, "open null", want,
		     crypt_at(r, ses, COP_DECRYPT, text, out.at, tag));
	if (!want)
		expect_bytes(r, "open null", text->p, out.at, text->len);
	expect_untouched(r, "open null", &out, want ? 0 : text->len);
	room_free(&out);
}

static void beside_null(struct run *r)
{
	const struct vector *v = r->v;
	const struct bytes *text = &v->f[TEXT], *tag = &v->f[TAG];
	struct session2_op sop = mac_session(v);
	struct room out = room_new(text->len), mac = room_new(v->alg->size);
	uint32_t ses;
	int err;

	sop.cipher = CRYPTO_NULL_CBC;
	err = session2(r, &sop, &ses);
	expect_errno(r, "session beside null", 0, err);
	if (!err) {
		err = crypt_at(r, ses, COP_ENCRYPT, text, out.at, mac.at);
		expect_tag(r, "beside null", err, &mac);
		expect_bytes(r, "null", text->p, out.at, text->len);
		expect_untouched(r, "null", &out, text->len);
		null_opens(r, ses, tag->p, v->bad ? EBADMSG : 0);
		tag->p[text->len % tag->len] ^= 0x10;
		if (!v->bad)
			null_opens(r, ses, tag->p, EBADMSG);
		tag->p[text->len % tag->len] ^= 0x10;
		close_session(r->fd, ses);
	}
	room_free(&mac);
	room_free(&out);
}

static struct verdict run_digest(struct run *r)
{
	const struct vector *v = r->v;
	struct session2_op sop = mac_session(v);
	struct verdict verdict;
	uint32_t ses;

	if (!opened(r, &sop, &ses, &verdict))
		return verdict;
	if (v->f[TEXT].len > CRYPTO_MAX_DATA_LEN) {
		expect_errno(r, "length", E2BIG,
			     crypt_at(r, ses, 0, &v->f[TEXT], NULL, NULL));
		close_session(r->fd, ses);
		return refused("text length");
	}
	digest_with(r, ses);
	close_session(r->fd, ses);
	if (is_usual(v)) {
		expect_errno(r, "session", 0, session(r, &sop, &ses));
		digest_with(r, ses);
		close_session(r->fd, ses);
	}
	if (v->kind == KIND_MAC && !v->alg->iv)
		beside_null(r);
	return right();
}

static uint32_t monte_session;

static bool monte_hash(struct run *r, const uint8_t *in, size_t len,
		       uint8_t *out)
{
	int err = crypt_op(r->fd, monte_session, 0, 0, in, NULL, len, NULL,
			   out);

	expect_errno(r, "digest", 0, err);
	return !err;
}

static struct verdict run_monte(struct run *r)
{
	struct session2_op sop = mac_session(r->v);
	uint8_t out[64] = {};
	int err;

	err = session(r, &sop, &monte_session);
	expect_errno(r, "session", 0, err);
	if (err || !monte(r, monte_hash, out))
		return wrong();
	expect_bytes(r, "digest", r->v->f[TAG].p, out, r->v->alg->size);
	close_session(r->fd, monte_session);
	return right();
}

/* ---- AEAD, and a cipher and a MAC of the ciphertext ---- */

static int aead_at(struct run *r, uint32_t ses, int op,
		   const struct bytes *from, uint8_t *out, uint8_t *tag)
{
	const struct bytes *f = r->v->f;

	return aead_op(r->fd, ses, op, f[AAD].p, f[AAD].len, from->p, out,
		       from->len, f[IV].p, f[IV].len, tag);
}

static void seal(struct run *r, uint32_t ses)
{
	const struct bytes *f = r->v->f;
	struct room out = room_new(f[RESULT].len), tag = room_new(f[TAG].len);

	expect_errno(r, "seal", 0, aead_at(r, ses, COP_ENCRYPT, &f[TEXT],
					   out.at, tag.at));
	expect_bytes(r, "seal", f[RESULT].p, out.at, f[RESULT].len);
	expect_bytes(r, "tag", f[TAG].p, tag.at, f[TAG].len);
	expect_untouched(r, "seal", &out, f[RESULT].len);
	expect_untouched(r, "tag", &tag, f[TAG].len);
	room_free(&tag);
	room_free(&out);
}

/*
 * Opens into another buffer and in place.  If the data are rejected, no
 * plaintext may be written.
 */
static void open_sealed(struct run *r, uint32_t ses, uint8_t *tag, int want)
{
	const char *what = want ? "reject" : "open";
	const struct bytes *from = &r->v->f[RESULT], *text = &r->v->f[TEXT];
	struct room out = room_new(from->len);
	struct room same = room_with(from->p, from->len, 0);
	struct bytes place = { same.at, same.len };

	expect_errno(r, what, want,
		     aead_at(r, ses, COP_DECRYPT, from, out.at, tag));
	expect_untouched(r, what, &out, want ? 0 : text->len);
	if (!want)
		expect_bytes(r, what, text->p, out.at, text->len);
	expect_errno(r, what, want,
		     aead_at(r, ses, COP_DECRYPT, &place, same.at, tag));
	expect_bytes(r, what, want ? from->p : text->p, same.at, from->len);
	room_free(&same);
	room_free(&out);
}

static void aead_with(struct run *r, uint32_t ses)
{
	const struct vector *v = r->v;
	const struct bytes *tag = &v->f[TAG];
	size_t bit;

	if (v->bad) {
		open_sealed(r, ses, tag->p, EBADMSG);
		return;
	}
	seal(r, ses);
	open_sealed(r, ses, tag->p, 0);
	bit = (v->f[KEY].p[0] + v->f[AAD].len) % (8 * tag->len);
	tag->p[bit / 8] ^= 1 << bit % 8;
	open_sealed(r, ses, tag->p, EBADMSG);
	tag->p[bit / 8] ^= 1 << bit % 8;
}

static struct verdict run_aead(struct run *r)
{
	const struct vector *v = r->v;
	struct session2_op sop = cipher_session(v);
	struct verdict verdict;
	struct room out;
	uint32_t ses;

	if (!opened(r, &sop, &ses, &verdict))
		return verdict;
	if (!v->f[TAG].len) {
		close_session(r->fd, ses);
		return unsaid("tag length");
	}
	if (!v->f[IV].len) {
		out = room_new(v->f[RESULT].len);
		expect_errno(r, "no nonce", EINVAL,
			     aead_at(r, ses, COP_DECRYPT, &v->f[RESULT],
				     out.at, v->f[TAG].p));
		expect_untouched(r, "no nonce", &out, 0);
		room_free(&out);
		close_session(r->fd, ses);
		return refused("nonce length");
	}
	aead_with(r, ses);
	close_session(r->fd, ses);
	if (is_usual(v)) {
		expect_errno(r, "session", 0, session(r, &sop, &ses));
		aead_with(r, ses);
		close_session(r->fd, ses);
	}
	return right();
}

static struct verdict run_eta(struct run *r)
{
	const struct vector *v = r->v;
	struct session2_op sop = cipher_session(v);
	uint32_t ses;
	int err;

	sop.mac = bsd_id(v->mac->name);
	sop.mackeylen = v->f[MACKEY].len;
	sop.mackey = v->f[MACKEY].p;
	err = session2(r, &sop, &ses);
	expect_errno(r, "session", 0, err);
	if (err)
		return wrong();
	aead_with(r, ses);
	close_session(r->fd, ses);
	return right();
}

static struct verdict run_mac_of_plaintext(struct run *r)
{
	return unsaid(r->v->kind == KIND_TLS ? "a MAC of the plaintext" :
					       "a MAC of what follows");
}

/* ---- all ---- */

struct verdict bsd_run(struct run *r)
{
	static struct verdict (*const runs[KIND_COUNT])(struct run *) = {
		[KIND_CIPHER] = run_cipher, [KIND_PADDED] = run_cipher,
		[KIND_DIGEST] = run_digest, [KIND_MAC] = run_digest,
		[KIND_MONTE2] = run_monte, [KIND_MONTE3] = run_monte,
		[KIND_AEAD] = run_aead, [KIND_ETA] = run_eta,
		[KIND_TLS] = run_mac_of_plaintext,
		[KIND_SRTP] = run_mac_of_plaintext,
	};

	if (!bsd_has(r->v->alg->name) ||
	    (r->v->mac && !bsd_has(r->v->mac->name)))
		return unsaid("no number");
	return runs[r->v->kind](r);
}
