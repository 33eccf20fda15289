// SPDX-License-Identifier: BSD-2-Clause
/*
 * Vectors through the cryptodev-linux ABI, <crypto/cryptodev.h>.
 */
#include <stdlib.h>

#include "../selftests/linux.h"
#include "vectors.h"

#define PIECES		7
#define CCM_BLOCK	16

bool linux_has(const char *alg)
{
	return linux_id(alg);
}

/* A session with the vector's keys; the errno if there is none. */
static int session(struct run *r, unsigned int cipher, unsigned int mac,
		   enum field mackey, uint32_t *ses)
{
	const struct bytes *f = r->v->f;
	struct session_op sop = {
		.cipher = cipher, .mac = mac,
		.keylen = cipher ? f[KEY].len : 0, .key = f[KEY].p,
		.mackeylen = mac ? f[mackey].len : 0, .mackey = f[mackey].p,
	};
	int err = call(r->fd, CIOCGSESSION, &sop);

	*ses = sop.ses;
	return err;
}

/* ---- ciphers ---- */

/*
 * Runs one direction, into another buffer and in place, each with and without
 * COP_FLAG_NO_ZC.
 */
static void crypt_ways(struct run *r, uint32_t ses, int op, const uint8_t *iv,
		       const struct bytes *from, const struct bytes *to)
{
	const char *what = op == COP_ENCRYPT ? "encrypt" : "decrypt";
	int flags;

	for (flags = 0; flags <= COP_FLAG_NO_ZC; flags += COP_FLAG_NO_ZC) {
		struct room out = room_new(from->len);
		struct room same = room_with(from->p, from->len, 0);

		expect_errno(r, what, 0,
			     crypt_op(r->fd, ses, op, flags, from->p, out.at,
				      from->len, iv, NULL));
		expect_bytes(r, what, to->p, out.at, to->len);
		expect_untouched(r, what, &out, to->len);
		expect_errno(r, what, 0,
			     crypt_op(r->fd, ses, op, flags, same.at, same.at,
				      from->len, iv, NULL));
		expect_bytes(r, what, to->p, same.at, to->len);
		expect_untouched(r, what, &same, to->len);
		room_free(&same);
		room_free(&out);
	}
}

static void expect_refusal(struct run *r, uint32_t ses, int op,
			   const uint8_t *iv, const struct bytes *from)
{
	struct room out = room_new(from->len);

	expect_errno(r, "length", EINVAL,
		     crypt_op(r->fd, ses, op, 0, from->p, out.at, from->len,
			      iv, NULL));
	expect_untouched(r, "length", &out, 0);
	room_free(&out);
}

/* Decrypts data whose plaintext must not end with PKCS #7 padding */
static void crypt_unpadded(struct run *r, uint32_t ses, const uint8_t *iv)
{
	const struct bytes *from = &r->v->f[RESULT];
	struct room out = room_new(from->len);

	expect_errno(r, "decrypt", 0,
		     crypt_op(r->fd, ses, COP_DECRYPT, 0, from->p, out.at,
			      from->len, iv, NULL));
	expect_untouched(r, "decrypt", &out, from->len);
	expect_equal(r, "padding", false,
		     padding_is_right(out.at, from->len, r->v->alg->block));
	room_free(&out);
}

static struct verdict cipher_with(struct run *r, uint32_t ses,
				  const uint8_t *iv)
{
	const struct vector *v = r->v;
	const struct bytes *result = &v->f[RESULT];
	struct bytes text = v->f[TEXT];

	if (!result->len || result->len % v->alg->block) {
		expect_refusal(r, ses, COP_DECRYPT, iv, result);
		return refused("text length");
	}
	if (v->bad) {
		crypt_unpadded(r, ses, iv);
		return right();
	}
	if (v->kind == KIND_PADDED)
		text = padded(&text, v->alg->block);
	expect_equal(r, "lengths", result->len, text.len);
	if (text.len == result->len) {
		crypt_ways(r, ses, COP_ENCRYPT, iv, &text, result);
		crypt_ways(r, ses, COP_DECRYPT, iv, result, &text);
	}
	if (v->kind == KIND_PADDED)
		free(text.p);
	return right();
}

static struct verdict run_cipher(struct run *r)
{
	const struct vector *v = r->v;
	const struct bytes *given = &v->f[IV];
	uint8_t iv[16] = {};
	struct verdict verdict;
	uint32_t ses;
	int err;

	err = session(r, linux_id(v->alg->name), 0, MACKEY, &ses);
	if (!alg_takes_key(v->alg, v->f[KEY].len)) {
		expect_errno(r, "session", EINVAL, err);
		return refused("key length");
	}
	expect_errno(r, "session", 0, err);
	if (err)
		return wrong();
	/*
	 * a shorter IV of XTS is a data unit's number in little endian, which
	 * zeros complete (IEEE 1619, 5.1)
	 */
	if (given->len != v->alg->iv &&
	    (strcmp(v->alg->name, "aes-xts") || given->len > sizeof(iv))) {
		verdict = unsaid("IV length");
	} else {
		if (given->len)
			memcpy(iv, given->p, given->len);
		verdict = cipher_with(r, ses, v->alg->iv ? iv : NULL);
	}
	close_session(r->fd, ses);
	return verdict;
}

/* ---- digests and MACs ---- */

static int digest(struct run *r, uint32_t ses, int flags, const uint8_t *p,
		  size_t len, uint8_t *out)
{
	return crypt_op(r->fd, ses, COP_ENCRYPT, flags, p, NULL, len,
			r->v->f[IV].p, out);
}

/*
 * Computes a digest in pieces; the last piece is empty if the text's length is
 * even.
 */
static int digest_pieces(struct run *r, uint32_t ses, uint8_t *out)
{
	const struct bytes *text = &r->v->f[TEXT];
	size_t step = text->len / PIECES + 1, at = 0;
	bool all = text->len % 2 == 0;
	int err = 0;

	while (!err && at + step < text->len + all) {
		err = digest(r, ses, COP_FLAG_UPDATE, text->p + at, step, NULL);
		at += step;
	}
	if (!err && all && at < text->len) {
		err = digest(r, ses, COP_FLAG_UPDATE, text->p + at,
			     text->len - at, NULL);
		at = text->len;
	}
	return err ?: digest(r, ses, COP_FLAG_FINAL, text->p + at,
			     text->len - at, out);
}

/*
 * The vector's tag may be shorter than the MAC; this ABI always returns the
 * whole MAC.
 */
static void expect_tag(struct run *r, const char *what, int err,
		       const struct room *out)
{
	const struct vector *v = r->v;
	const struct bytes *tag = &v->f[TAG];

	expect_errno(r, what, 0, err);
	if (tag->len > v->alg->size)
		expect_equal(r, "tag length", v->alg->size, tag->len);
	else if (!v->bad)
		expect_bytes(r, what, tag->p, out->at, tag->len);
	else if (!err)
		expect_equal(r, "the tag is not refused", true,
			     memcmp(tag->p, out->at, tag->len) != 0);
	expect_untouched(r, what, out, v->alg->size);
}

/*
 * With the null cipher beside it, the MAC must be the same, and the output must
 * be the text
 */
static void beside_null(struct run *r)
{
	const struct vector *v = r->v;
	const struct bytes *text = &v->f[TEXT];
	struct session_op sop = {
		.cipher = CRYPTO_NULL, .mac = linux_id(v->alg->name),
		.mackeylen = v->f[KEY].len, .mackey = v->f[KEY].p,
	};
	int op, err = call(r->fd, CIOCGSESSION, &sop);

	expect_errno(r, "session beside null", 0, err);
	if (err)
		return;
	for (op = COP_ENCRYPT; op <= COP_DECRYPT; op++) {
		struct room tag = room_new(v->alg->size);
		struct room out = room_new(text->len);

		err = crypt_op(r->fd, sop.ses, op, 0, text->p, out.at,
			       text->len, NULL, tag.at);
		expect_tag(r, "beside null", err, &tag);
		expect_bytes(r, "null", text->p, out.at, text->len);
		expect_untouched(r, "null", &out, text->len);
		room_free(&out);
		room_free(&tag);
	}
	close_session(r->fd, sop.ses);
}

static struct verdict run_digest(struct run *r)
{
	const struct vector *v = r->v;
	const struct bytes *text = &v->f[TEXT];
	struct room whole, pieces;
	uint32_t ses;
	int err;

	err = session(r, 0, linux_id(v->alg->name), KEY, &ses);
	if (!alg_takes_key(v->alg, v->f[KEY].len)) {
		expect_errno(r, "session", EINVAL, err);
		return refused("key length");
	}
	expect_errno(r, "session", 0, err);
	if (err)
		return wrong();
	if (v->f[IV].len != v->alg->iv) {
		close_session(r->fd, ses);
		return unsaid("nonce length");
	}
	whole = room_new(v->alg->size);
	pieces = room_new(v->alg->size);
	expect_tag(r, "at once", digest(r, ses, 0, text->p, text->len,
					whole.at), &whole);
	expect_tag(r, "in pieces", digest_pieces(r, ses, pieces.at), &pieces);
	close_session(r->fd, ses);
	if (v->kind == KIND_MAC && !v->alg->iv)
		beside_null(r);
	room_free(&pieces);
	room_free(&whole);
	return right();
}

static uint32_t monte_session;

static bool monte_hash(struct run *r, const uint8_t *in, size_t len,
		       uint8_t *out)
{
	int err = digest(r, monte_session, 0, in, len, out);

	expect_errno(r, "digest", 0, err);
	return !err;
}

static struct verdict run_monte(struct run *r)
{
	const struct vector *v = r->v;
	uint8_t out[64] = {};
	int err;

	err = session(r, 0, linux_id(v->alg->name), KEY, &monte_session);
	expect_errno(r, "session", 0, err);
	if (err || !monte(r, monte_hash, out))
		return wrong();
	expect_bytes(r, "digest", v->f[TAG].p, out, v->alg->size);
	close_session(r->fd, monte_session);
	return right();
}

/* ---- AEAD ---- */

/*
 * For CCM the IV is the first block: 14 minus the nonce's length, then the
 * nonce (SP 800-38C, A.2.1)
 */
static void format_iv(const struct vector *v, uint8_t *iv)
{
	const struct bytes *nonce = &v->f[IV];

	memset(iv, 0, CCM_BLOCK);
	if (!strcmp(v->alg->name, "aes-ccm"))
		*iv++ = 14 - nonce->len;
	if (nonce->len)
		memcpy(iv, nonce->p, nonce->len);
}

static struct crypt_auth_op auth_op(struct run *r, uint32_t ses, int op,
				    const uint8_t *iv, const void *src,
				    size_t len, void *dst)
{
	const struct bytes *f = r->v->f;

	return (struct crypt_auth_op){
		.ses = ses, .op = op, .len = len, .src = (void *)src,
		.dst = dst, .auth_len = f[AAD].len, .auth_src = f[AAD].p,
		.tag_len = f[TAG].len, .iv = (void *)iv, .iv_len = f[IV].len,
	};
}

static void seal(struct run *r, uint32_t ses, const uint8_t *iv,
		 const struct bytes *sealed)
{
	const struct bytes *f = r->v->f;
	int flags;

	for (flags = 0; flags <= COP_FLAG_NO_ZC; flags += COP_FLAG_NO_ZC) {
		struct room out = room_new(sealed->len);
		struct crypt_auth_op op = auth_op(r, ses, COP_ENCRYPT, iv,
						  f[TEXT].p, f[TEXT].len,
						  out.at);

		op.flags = flags;
		expect_errno(r, "seal", 0, call(r->fd, CIOCAUTHCRYPT, &op));
		expect_bytes(r, "seal", sealed->p, out.at, sealed->len);
		expect_untouched(r, "seal", &out, sealed->len);
		expect_equal(r, "sealed length", sealed->len, op.len);
		expect_equal(r, "tag's place", true,
			     op.tag == out.at + f[TEXT].len);
		room_free(&out);
	}
}

static void open_sealed(struct run *r, uint32_t ses, const uint8_t *iv,
			const struct bytes *sealed)
{
	const struct bytes *text = &r->v->f[TEXT];
	struct room out = room_new(text->len);
	struct crypt_auth_op op = auth_op(r, ses, COP_DECRYPT, iv, sealed->p,
					  sealed->len, out.at);

	expect_errno(r, "open", 0, call(r->fd, CIOCAUTHCRYPT, &op));
	expect_bytes(r, "open", text->p, out.at, text->len);
	expect_untouched(r, "open", &out, text->len);
	expect_equal(r, "opened length", text->len, op.len);
	room_free(&out);
}

/* EBADMSG, and no plaintext, elsewhere and in place */
static void reject(struct run *r, uint32_t ses, const uint8_t *iv,
		   const struct bytes *sealed)
{
	struct room out = room_new(sealed->len);
	struct room same = room_with(sealed->p, sealed->len, 0);
	struct crypt_auth_op op = auth_op(r, ses, COP_DECRYPT, iv, sealed->p,
					  sealed->len, out.at);

	expect_errno(r, "reject", EBADMSG, call(r->fd, CIOCAUTHCRYPT, &op));
	expect_untouched(r, "reject", &out, 0);
	op = auth_op(r, ses, COP_DECRYPT, iv, same.at, same.len, same.at);
	expect_errno(r, "reject", EBADMSG, call(r->fd, CIOCAUTHCRYPT, &op));
	expect_bytes(r, "reject", sealed->p, same.at, sealed->len);
	expect_untouched(r, "reject", &same, sealed->len);
	room_free(&same);
	room_free(&out);
}

/* Flips a bit of the tag; which one depends on the vector */
static void flip_tag(const struct vector *v, struct bytes *sealed)
{
	size_t bit = (v->f[KEY].p[0] + v->f[RESULT].len) % (8 * v->f[TAG].len);

	sealed->p[v->f[RESULT].len + bit / 8] ^= 1 << bit % 8;
}

static void aead_refused(struct run *r, uint32_t ses, const uint8_t *iv,
			 const struct bytes *sealed)
{
	struct room out = room_new(sealed->len);
	struct crypt_auth_op op = auth_op(r, ses, COP_DECRYPT, iv, sealed->p,
					  sealed->len, out.at);

	expect_errno(r, "length", EINVAL, call(r->fd, CIOCAUTHCRYPT, &op));
	expect_untouched(r, "length", &out, 0);
	room_free(&out);
}

static struct verdict aead_with(struct run *r, uint32_t ses)
{
	const struct vector *v = r->v;
	bool ccm = !strcmp(v->alg->name, "aes-ccm");
	struct verdict verdict = right();
	uint8_t iv[CCM_BLOCK];
	struct bytes sealed;

	/*
	 * only CCM's nonce may have another length, which the first byte of the
	 * IV gives
	 */
	if (ccm ? v->f[IV].len > 14 : v->f[IV].len != v->alg->iv)
		return unsaid("nonce length");
	format_iv(v, iv);
	sealed = join(&v->f[RESULT], &v->f[TAG]);
	if (!alg_takes_iv(v->alg, v->f[IV].len)) {
		aead_refused(r, ses, iv, &sealed);
		verdict = refused("nonce length");
	} else if (!alg_takes_tag(v->alg, v->f[TAG].len)) {
		aead_refused(r, ses, iv, &sealed);
		verdict = refused("tag length");
	} else if (v->bad) {
		reject(r, ses, iv, &sealed);
	} else {
		seal(r, ses, iv, &sealed);
		open_sealed(r, ses, iv, &sealed);
		flip_tag(v, &sealed);
		reject(r, ses, iv, &sealed);
	}
	free(sealed.p);
	return verdict;
}

static struct verdict run_aead(struct run *r)
{
	const struct vector *v = r->v;
	struct verdict verdict;
	uint32_t ses;
	int err;

	err = session(r, linux_id(v->alg->name), 0, MACKEY, &ses);
	if (!alg_takes_key(v->alg, v->f[KEY].len)) {
		expect_errno(r, "session", EINVAL, err);
		return refused("key length");
	}
	expect_errno(r, "session", 0, err);
	if (err)
		return wrong();
	verdict = aead_with(r, ses);
	close_session(r->fd, ses);
	return verdict;
}

/* ---- a cipher and a MAC ---- */

static struct verdict run_eta(struct run *r)
{
	return unsaid("a MAC of the ciphertext");
}

static void tls_protect(struct run *r, uint32_t ses)
{
	const struct bytes *f = r->v->f;
	struct room out = room_with(f[TEXT].p, f[TEXT].len,
				    f[RESULT].len - f[TEXT].len);
	struct crypt_auth_op op = auth_op(r, ses, COP_ENCRYPT, f[IV].p, out.at,
					  f[TEXT].len, out.at);

	op.flags = COP_FLAG_AEAD_TLS_TYPE;
	expect_errno(r, "protect", 0, call(r->fd, CIOCAUTHCRYPT, &op));
	expect_bytes(r, "protect", f[RESULT].p, out.at, f[RESULT].len);
	expect_untouched(r, "protect", &out, f[RESULT].len);
	expect_equal(r, "record's length", f[RESULT].len, op.len);
	room_free(&out);
}

/*
 * @at: the byte of the record to change; none if @at is not inside the record
 */
static void tls_unprotect(struct run *r, uint32_t ses, size_t at)
{
	const struct bytes *f = r->v->f;
	bool changed = at < f[RESULT].len;
	struct room out = room_with(f[RESULT].p, f[RESULT].len, 0), was;
	struct crypt_auth_op op = auth_op(r, ses, COP_DECRYPT, f[IV].p, out.at,
					  f[RESULT].len, out.at);

	if (changed)
		out.at[at] ^= 1;
	was = room_with(out.at, out.len, 0);
	op.flags = COP_FLAG_AEAD_TLS_TYPE;
	expect_errno(r, "unprotect", changed ? EBADMSG : 0,
		     call(r->fd, CIOCAUTHCRYPT, &op));
	if (changed) {
		expect_bytes(r, "rejected record", was.at, out.at, was.len);
	} else {
		expect_bytes(r, "unprotect", f[TEXT].p, out.at, f[TEXT].len);
		expect_equal(r, "text's length", f[TEXT].len, op.len);
	}
	expect_untouched(r, "unprotect", &out, f[RESULT].len);
	room_free(&was);
	room_free(&out);
}

static struct verdict run_tls(struct run *r)
{
	const struct vector *v = r->v;
	uint32_t ses;
	size_t at;
	int err;

	err = session(r, linux_id(v->alg->name), linux_id(v->mac->name),
		      MACKEY, &ses);
	expect_errno(r, "session", 0, err);
	if (err || v->f[RESULT].len < v->f[TEXT].len)
		return wrong();
	tls_protect(r, ses);
	for (at = 0; at <= v->f[RESULT].len; at++)
		tls_unprotect(r, ses, at);
	close_session(r->fd, ses);
	return right();
}

/*
 * Returns the whole packet: the header, @middle as the payload, and the trailer
 */
static struct room packet(const struct vector *v, const struct bytes *middle)
{
	struct bytes head = join(&v->f[AAD], middle);
	struct bytes all = join(&head, &v->f[TRAILER]);
	struct room room = room_with(all.p, all.len, 0);

	free(all.p);
	free(head.p);
	return room;
}

static int srtp_op(struct run *r, uint32_t ses, int op, struct room *room,
		   uint8_t *tag)
{
	const struct bytes *f = r->v->f;
	uint8_t *payload = room->at + f[AAD].len;
	struct crypt_auth_op c = auth_op(r, ses, op, f[IV].p, payload,
					 f[TEXT].len, payload);

	c.flags = COP_FLAG_AEAD_SRTP_TYPE;
	c.auth_src = room->at;
	c.auth_len = room->len;
	c.tag = tag;
	return call(r->fd, CIOCAUTHCRYPT, &c);
}

static void srtp_ways(struct run *r, uint32_t ses)
{
	const struct bytes *f = r->v->f;
	struct room plain = packet(r->v, &f[TEXT]);
	struct room sent = packet(r->v, &f[RESULT]);
	struct room room = packet(r->v, &f[TEXT]);
	struct room tag = room_new(f[TAG].len);

	expect_errno(r, "protect", 0, srtp_op(r, ses, COP_ENCRYPT, &room,
					      tag.at));
	expect_bytes(r, "protect", sent.at, room.at, room.len);
	expect_bytes(r, "tag", f[TAG].p, tag.at, tag.len);
	expect_untouched(r, "tag", &tag, tag.len);
	tag.at[0] ^= 1;
	expect_errno(r, "reject", EBADMSG, srtp_op(r, ses, COP_DECRYPT, &room,
						   tag.at));
	expect_bytes(r, "reject", sent.at, room.at, room.len);
	tag.at[0] ^= 1;
	expect_errno(r, "unprotect", 0, srtp_op(r, ses, COP_DECRYPT, &room,
						tag.at));
	expect_bytes(r, "unprotect", plain.at, room.at, room.len);
	expect_untouched(r, "unprotect", &room, room.len);
	room_free(&tag);
	room_free(&room);
	room_free(&sent);
	room_free(&plain);
}

static struct verdict run_srtp(struct run *r)
{
	const struct vector *v = r->v;
	uint32_t ses;
	int err;

	err = session(r, linux_id(v->alg->name), linux_id(v->mac->name),
		      MACKEY, &ses);
	expect_errno(r, "session", 0, err);
	if (err || v->f[RESULT].len != v->f[TEXT].len)
		return wrong();
	srtp_ways(r, ses);
	close_session(r->fd, ses);
	return right();
}

/* ---- all ---- */

struct verdict linux_run(struct run *r)
{
	static struct verdict (*const runs[KIND_COUNT])(struct run *) = {
		[KIND_CIPHER] = run_cipher, [KIND_PADDED] = run_cipher,
		[KIND_DIGEST] = run_digest, [KIND_MAC] = run_digest,
		[KIND_MONTE2] = run_monte, [KIND_MONTE3] = run_monte,
		[KIND_AEAD] = run_aead, [KIND_ETA] = run_eta,
		[KIND_TLS] = run_tls, [KIND_SRTP] = run_srtp,
	};

	if (!linux_has(r->v->alg->name) ||
	    (r->v->mac && !linux_has(r->v->mac->name)))
		return unsaid("no number");
	return runs[r->v->kind](r);
}
