// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random operations of the cryptodev-linux ABI, compared with OpenSSL:
 * CIOCAUTHCRYPT in its three types.  random.h says how to repeat a failure.
 */
#include <kselftest_harness.h>

#include "linux_differ.h"

#define SRTP_HEADER_MAX	256	/* bytes before the payload */
#define RECORD_MAX	(1u << 20) /* bytes of payload, more than TLS has */

static int run(struct differ *d, uint8_t *iv, uint8_t *tag,
	       struct crypt_auth_op *c)
{
	struct trial *t = &d->t;

	*c = (struct crypt_auth_op){
		.ses = d->ses, .flags = t->flags, .len = t->len,
		.op = t->encrypt ? COP_ENCRYPT : COP_DECRYPT,
		.auth_len = t->aadlen, .auth_src = t->aad,
		.src = t->src, .dst = t->dst, .iv = iv, .iv_len = t->ivlen,
		.tag = tag, .tag_len = t->taglen,
	};
	return call(d->fd, CIOCAUTHCRYPT, c);
}

/* Like run(), for broken input: the call must fail and write nothing. */
static const char *run_broken(struct differ *d, uint8_t *iv, uint8_t *tag)
{
	struct crypt_auth_op c;

	return run(d, iv, tag, &c) == EBADMSG ? differs(d) :
						"errno of a wrong tag";
}

/* ---- AEAD ---- */

/*
 * Draws a nonce.  For CCM @iv becomes a block: 14 minus the nonce's length,
 * then the nonce (RFC 3610, 2.3).
 */
static void pick_nonce(struct trial *t, uint8_t *iv)
{
	pick_iv(t);
	memcpy(iv, t->iv, 16);
	t->ivlen = t->cipher->iv;
	if (!is_alg(t->cipher, "aes-ccm"))
		return;
	t->ivlen = 7 + below(7);
	iv[0] = 14 - t->ivlen;
	memcpy(iv + 1, t->iv, 15);
}

static const char *seal(struct differ *d)
{
	struct trial *t = &d->t;
	uint32_t all;
	struct crypt_auth_op c;
	uint8_t iv[16];
	bool fits;
	int err;

	t->encrypt = true;
	pick_nonce(t, iv);
	t->len = pick_len(DIFFER_MAX, 1);
	if (t->len > DIFFER_MAX)
		t->len = DIFFER_MAX;
	all = t->len + t->taglen;
	fits = fits_nonce(t, t->len);
	place_data(d, t->len, all);
	watch_data(d, all);
	if (fits) {
		want_seal(t, t->src, t->len, d->want, d->want + t->len);
		expect_result(d, all);
	}
	err = run(d, iv, NULL, &c);
	if (err != (fits ? 0 : EINVAL))
		return "errno";
	if (fits && (c.len != all || c.tag_len != t->taglen ||
		     c.tag != t->dst + t->len))
		return "what is told back";
	return differs(d);
}

/* Flips a bit of the sealed data, of the data around them, or of the nonce. */
static void break_sealed(struct trial *t, uint8_t *iv)
{
	if (t->aadlen && one_in(3))
		flip(t->aad, t->aadlen);
	else if (one_in(3))
		flip(iv + 1, 7);
	else
		flip(t->src, t->len);
}

static const char *open_sealed(struct differ *d)
{
	struct trial *t = &d->t;
	struct crypt_auth_op c;
	bool broken = one_in(3);
	uint8_t iv[16];
	uint32_t len;

	t->encrypt = false;
	do {
		pick_nonce(t, iv);
		len = pick_len(DIFFER_MAX - TAG_MAX, 1);
	} while (!fits_nonce(t, len));
	t->len = len + t->taglen;
	place_data(d, t->len, t->len);
	noise(d->want, len);
	want_seal(t, d->want, len, t->src, t->src + len);
	if (broken)
		break_sealed(t, iv);
	watch_data(d, t->len);
	if (broken)
		return run_broken(d, iv, NULL);
	expect_result(d, len);
	if (run(d, iv, NULL, &c))
		return "errno";
	if (c.len != len || c.tag_len != t->taglen)
		return "what is told back";
	return differs(d);
}

static const char *aead_op(struct differ *d)
{
	struct trial *t = &d->t;

	t->taglen = pick_taglen(t);
	t->flags = one_in(3) ? COP_FLAG_NO_ZC : 0;
	place_aad(d, DIFFER_MAX);
	return one_in(2) ? seal(d) : open_sealed(d);
}

static const char *aead_round(struct differ *d)
{
	d->t.cipher = pick_alg(AEAD, linux_id);
	return in_session(d, aead_op);
}

TEST_F_TIMEOUT(differ, aead, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, aead_round, 800);
}

/* ---- TLS: RFC 5246, section 6.2.3 ---- */

static unsigned int has_tls(const char *name)
{
	static const char * const macs[] = { "hmac-md5", "hmac-sha1",
		"hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512" };
	int i;

	for (i = 0; i < COUNT(macs); i++)
		if (!strcmp(macs[i], name))
			return linux_id(name);
	return 0;
}

/*
 * Returns the bytes of padding that complete the last block; 0 for a stream
 * cipher.
 */
static uint32_t least_padding(const struct trial *t, uint32_t len)
{
	uint32_t block = t->cipher->block;

	return block > 1 ? block - (len + t->taglen) % block : 0;
}

/* Returns least_padding() or a longer valid padding, up to 256 bytes. */
static uint32_t any_padding(const struct trial *t, uint32_t len)
{
	uint32_t pad = least_padding(t, len), block = t->cipher->block;

	if (block > 1 && one_in(2))
		pad += block * below((256 - pad) / block + 1);
	return pad;
}

/*
 * Makes a record in @d->text: the payload copied from @text, its MAC, and
 * padding.  Returns the place of the payload there.
 */
static uint8_t *plain_record(struct differ *d, const uint8_t *text,
			     uint32_t len, uint32_t pad)
{
	struct trial *t = &d->t;
	uint8_t *plain = d->text + t->aadlen, mac[TAG_MAX];

	memcpy(d->text, t->aad, t->aadlen);
	memcpy(plain, text, len);
	want_mac(t, d->text, t->aadlen + len, mac);
	memcpy(plain + len, mac, t->taglen);
	memset(plain + len + t->taglen, pad - 1, pad);
	return plain;
}

static const char *seal_record(struct differ *d)
{
	struct trial *t = &d->t;
	uint8_t iv[16], next[16], *plain;
	struct crypt_auth_op c;
	uint32_t all, pad;

	t->encrypt = true;
	t->len = pick_len(RECORD_MAX, 1);
	pad = least_padding(t, t->len);
	all = t->len + t->taglen + pad;
	place_in_place(d, t->len, all);
	plain = plain_record(d, t->src, t->len, pad);
	want_cipher(t, true, t->iv, plain, all, d->want);
	memcpy(iv, t->iv, 16);
	memcpy(next, t->iv, 16);
	want_next_iv(t->cipher, true, next, plain, d->want, all);
	watch_data(d, all);
	expect_result(d, all);
	if (run(d, iv, NULL, &c))
		return "errno";
	if (c.len != all || c.tag_len != t->taglen)
		return "what is told back";
	if (memcmp(iv, t->flags & COP_FLAG_WRITE_IV ? next : t->iv, t->ivlen))
		return "next IV";
	return differs(d);
}

/* What is wrong in a record */
enum record { RIGHT, WRONG_BIT, WRONG_AAD, WRONG_PADDING };

static const char *open_record(struct differ *d, enum record is)
{
	struct trial *t = &d->t;
	uint32_t len = pick_len(RECORD_MAX, 1), pad = any_padding(t, len);
	struct crypt_auth_op c;
	uint8_t iv[16], *plain;

	t->encrypt = false;
	noise(d->want, len);
	plain = plain_record(d, d->want, len, pad);
	t->len = len + t->taglen + pad;
	/* a change of the only padding byte would be another, valid length */
	if (is == WRONG_PADDING && pad < 2)
		is = WRONG_BIT;
	if (is == WRONG_PADDING)
		flip(plain + len + t->taglen, pad - 1);
	place_in_place(d, 0, t->len);
	want_cipher(t, true, t->iv, plain, t->len, t->src);
	if (is == WRONG_AAD && !t->aadlen)
		is = WRONG_BIT;
	if (is == WRONG_AAD)
		flip(t->aad, t->aadlen);
	if (is == WRONG_BIT)
		flip(t->src, t->len);
	memcpy(iv, t->iv, 16);
	watch_data(d, t->len);
	if (is != RIGHT)
		return run_broken(d, iv, NULL);
	/* MAC and padding are not delivered */
	expect_result(d, len);
	if (run(d, iv, NULL, &c))
		return "errno";
	return c.len != len ? "length of the payload" : differs(d);
}

static const char *tls_op(struct differ *d)
{
	struct trial *t = &d->t;

	t->flags = COP_FLAG_AEAD_TLS_TYPE;
	if (one_in(3))
		t->flags |= COP_FLAG_WRITE_IV;
	t->taglen = pick_taglen(t);
	pick_iv(t);
	place_aad(d, 8192);
	if (one_in(2))
		return seal_record(d);
	return open_record(d, one_in(2) ? RIGHT : 1 + below(WRONG_PADDING));
}

static const char *tls_round(struct differ *d)
{
	d->t.cipher = pick_alg(CIPHER, linux_id);
	d->t.mac = pick_alg(MAC, has_tls);
	return in_session(d, tls_op);
}

TEST_F_TIMEOUT(differ, tls, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, tls_round, 1000);
}

/* ---- SRTP: RFC 3711, section 3.1 ---- */

static unsigned int has_stream(const char *name)
{
	return alg_named(name)->block == 1 ? linux_id(name) : 0;
}

/*
 * Runs an operation on an SRTP packet: header, payload, and the roll-over
 * counter or more behind it.
 */
static const char *srtp_op(struct differ *d)
{
	struct trial *t = &d->t;
	uint32_t header = below(SRTP_HEADER_MAX + 1);
	uint8_t *tag, want[TAG_MAX], iv[16], *packet;
	bool broken;

	t->flags = COP_FLAG_AEAD_SRTP_TYPE;
	t->taglen = pick_taglen(t);
	t->encrypt = one_in(2);
	pick_iv(t);
	memcpy(iv, t->iv, 16);
	t->len = pick_len(RECORD_MAX, 1);
	t->aadlen = header + t->len + below(64);
	place_in_place(d, t->aadlen, t->aadlen);
	packet = t->aad = t->src;
	t->src = t->dst = packet + header;
	tag = place_tag(d);

	memcpy(d->text, packet, t->aadlen);
	want_cipher(t, t->encrypt, t->iv, t->src, t->len, d->want);
	memcpy(d->text + header, t->encrypt ? d->want : t->src, t->len);
	want_mac(t, d->text, t->aadlen, want);
	if (!t->encrypt)
		memcpy(tag, want, t->taglen);
	broken = !t->encrypt && one_in(3);
	if (broken && t->aadlen && one_in(2))
		flip(packet, t->aadlen);
	else if (broken)
		flip(tag, t->taglen);
	watch(&d->on_src, &d->src, packet, t->aadlen);
	watch_tag(d, tag);
	if (broken)
		return run_broken(d, iv, tag);
	expect_result(d, t->len);
	watch_expect(&d->on_tag, tag, want, t->taglen);
	return run(d, iv, tag, &(struct crypt_auth_op){}) ? "errno" :
							    differs(d);
}

static const char *srtp_round(struct differ *d)
{
	d->t.cipher = pick_alg(CIPHER, has_stream);
	/* not a null MAC: its zeroes would be right for any data */
	do
		d->t.mac = pick_mac_beside();
	while (is_alg(d->t.mac, "null-mac"));
	return in_session(d, srtp_op);
}

TEST_F_TIMEOUT(differ, srtp, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, srtp_round, 1500);
}

TEST_HARNESS_MAIN
