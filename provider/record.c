// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records of TLS 1.2 with an AEAD (RFC 5288, 6655 and 7905).  A nonce begins
 * with a fixed part from the handshake; the rest is a counter sent with the
 * record, or the record's number.
 *
 * OpenSSL's own code gets all parameters, makes the counters, and does the
 * records that are too small for a card or that no card can do.
 */
#include "aead.h"

#define EXPLICIT_LEN	8	/* bytes of the nonce sent with the record */
#define NONCE_LEN	12
#define TAG_LEN		16

/* Keeps the fixed part of the nonces, which OpenSSL's own code has, too. */
void record_fixed(struct aead *c, const OSSL_PARAM *p)
{
	c->announced = false;
	c->fixed_len = 0;
	if (p->data_size > sizeof(c->fixed))
		return;
	memcpy(c->fixed, p->data, p->data_size);
	c->fixed_len = p->data_size;
}

/* Keeps the header of the next record, which OpenSSL's own code has, too. */
void record_announced(struct aead *c, const OSSL_PARAM *p)
{
	c->announced = p->data_size == sizeof(c->header);
	if (c->announced)
		memcpy(c->header, p->data, sizeof(c->header));
}

static size_t explicit_len(const struct aead *c)
{
	return is_gcm(c) || is_ccm(c) ? EXPLICIT_LEN : 0;
}

/*
 * Makes the nonce of a record.  For GCM the counter comes from OpenSSL's own
 * code, so records done here and records done there never have the same one.
 */
static bool make_nonce(struct aead *c, const unsigned char *rec,
		       unsigned char *nonce)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN,
					nonce + NONCE_LEN - EXPLICIT_LEN,
					EXPLICIT_LEN),
		OSSL_PARAM_END
	};
	size_t i;

	memcpy(nonce, c->fixed, c->fixed_len);
	if (!explicit_len(c)) {
		for (i = 0; i < EXPLICIT_LEN; i++)
			nonce[NONCE_LEN - EXPLICIT_LEN + i] ^= c->header[i];
		return true;
	}
	if (c->encrypt && is_gcm(c))
		return EVP_CIPHER_CTX_get_params(c->soft, params);
	memcpy(nonce + NONCE_LEN - EXPLICIT_LEN, c->encrypt ? c->header : rec,
	       EXPLICIT_LEN);
	return true;
}

/* Checks the length in the header, and makes it the length of the payload. */
static bool fit_header(unsigned char *header, size_t beside, size_t payload)
{
	unsigned char *at = header + EVP_AEAD_TLS1_AAD_LEN - 2;
	size_t len = at[0] << 8 | at[1];

	at[0] = payload >> 8;
	at[1] = payload;
	return len == payload + beside && payload < 65536;
}

/**
 * record_by_kernel() - do an announced record, if the kernel should do it
 * @c: the context
 * @out: the record, which is processed in place; OpenSSL's own code refuses a
 *	separate output buffer
 * @outl: gets the length of the result, bytes
 * @outsize: size of @out, bytes
 * @in: the same as @out
 * @len: length of explicit nonce, payload and tag, bytes
 *
 * If the function returns false, the record has not changed.
 *
 * Return: true if the kernel has done the record.
 */
bool record_by_kernel(struct aead *c, unsigned char *out, size_t *outl,
		      size_t outsize, const unsigned char *in, size_t len)
{
	size_t front = explicit_len(c), payload;
	size_t tag = is_ccm(c) ? c->taglen : TAG_LEN;
	unsigned char nonce[NONCE_LEN], *text = out + front;
	struct ocf_command command = {
		.op = c->encrypt ? OCF_OP_ENCRYPT : OCF_OP_DECRYPT,
		.src = addr(text), .dst = addr(text), .aad = addr(c->header),
		.auth_len = sizeof(c->header),
	};
	bool done;

	if (!c->announced || !in)
		return false;
	/* each record needs a header of its own */
	c->announced = false;
	if (in != out || outsize < len || len < front + tag || !c->has_key ||
	    c->fixed_len != NONCE_LEN - front)
		return false;
	payload = len - front - tag;
	if (!fit_header(c->header, c->encrypt ? front : front + tag, payload) ||
	    !session_is_worth(&c->ses, payload) || !make_nonce(c, in, nonce))
		return false;
	/* keeps the plaintext: a failed card may have written part of it */
	if (c->encrypt && !gather(&c->data, text, payload))
		return false;
	if (c->encrypt)
		command.src = addr(c->data.data);
	command.len = payload;
	command.tag = addr(text + payload);
	memcpy(command.iv, nonce, sizeof(nonce));
	c->ivlen = NONCE_LEN;
	c->taglen = tag;
	done = session_run(aead_session(c), &command) == (int)payload;
	if (done) {
		if (c->encrypt)
			memcpy(out, nonce + c->fixed_len, front);
		*outl = c->encrypt ? len : payload;
		/* the next record needs another header */
		c->over = true;
		c->has_tag = false;
		c->has_last_tag = false;
	} else if (c->encrypt) {
		memcpy(text, c->data.data, payload);
	}
	aead_forget(c);
	return done;
}
