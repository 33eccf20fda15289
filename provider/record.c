// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records of TLS 1.2 (RFC 5288, 6655 and 7905): their nonces begin with a part
 * of the key; what follows is a counter that is sent, or the record's number.
 *
 * OpenSSL's own cipher is told of all of it, makes the nonces, and does the
 * records that are not worth the way, or that no device can do.
 */
#include "aead.h"

#define EXPLICIT_LEN	8	/* bytes of a nonce that are sent */
#define NONCE_LEN	12
#define TAG_LEN		16

/* What nonces begin with; OpenSSL has taken it. */
void record_fixed(struct aead *c, const OSSL_PARAM *p)
{
	c->announced = false;
	c->fixed_len = 0;
	if (p->data_size > sizeof(c->fixed))
		return;
	memcpy(c->fixed, p->data, p->data_size);
	c->fixed_len = p->data_size;
}

/* A record comes next; OpenSSL has taken its header. */
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
 * Its nonce.  A counter is OpenSSL's own, which never gives the same one again,
 * wherever the record is processed.
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

/* The header's length is the payload's where it is authenticated. */
static bool fit_header(unsigned char *header, size_t beside, size_t payload)
{
	unsigned char *at = header + EVP_AEAD_TLS1_AAD_LEN - 2;
	size_t len = at[0] << 8 | at[1];

	at[0] = payload >> 8;
	at[1] = payload;
	return len == payload + beside && payload < 65536;
}

/**
 * record_by_kernel() - do a record that was announced, if it is the kernel's
 * @c: the context
 * @out: the record, in place; OpenSSL's own refuses another
 * @outl: bytes of the result
 * @outsize: bytes there is room for
 * @in: @out
 * @len: bytes: what is sent of the nonce, payload, tag
 *
 * If not, nothing of it has changed.
 *
 * Return: whether it was done.
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
	/* a header is for one record, wherever it is processed */
	c->announced = false;
	if (in != out || outsize < len || len < front + tag || !c->has_key ||
	    c->fixed_len != NONCE_LEN - front)
		return false;
	payload = len - front - tag;
	if (!fit_header(c->header, c->encrypt ? front : front + tag, payload) ||
	    !session_is_worth(&c->ses, payload) || !make_nonce(c, in, nonce))
		return false;
	/* it may be half done when a card fails */
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
		/* there has to be another header */
		c->over = true;
		c->has_tag = false;
		c->has_last_tag = false;
	} else if (c->encrypt) {
		memcpy(text, c->data.data, payload);
	}
	aead_forget(c);
	return done;
}
