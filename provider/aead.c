// SPDX-License-Identifier: BSD-2-Clause
/*
 * AES-GCM, AES-CCM and ChaCha20-Poly1305.
 *
 * OpenSSL's own cipher gets every call, so its state is that of the context.
 * The only exception is the first data of a message.  They are taken for the
 * whole message, as in TLS 1.3 and in most programs, and go to the kernel,
 * which works on whole messages.  A copy is kept: if more data come, or the
 * program asks for anything but the tag, OpenSSL's cipher processes the copy
 * and continues.  Decryption goes to the kernel only if the tag is known
 * before.  If the cipher generates the nonce itself, OpenSSL's code does the
 * message.  Records of TLS 1.2 are the exception: see record.c.
 */
#include <limits.h>

#include "aead.h"

static void describe(const void *owner, struct ocf_session_open *params)
{
	const struct aead *c = owner;

	params->mode = OCF_MODE_AEAD;
	strcpy(params->cipher, c->row->kernel);
	params->key = addr(c->key);
	params->keylen = c->row->keylen;
	params->ivlen = c->ivlen;
	params->maclen = c->taglen;
}

/* ---- contexts ---- */

static const struct pipe_kind pipe_kind;

static void *new_context(void *provctx, const struct aead_row *row)
{
	struct aead *c = OPENSSL_zalloc(sizeof(*c));

	if (!c)
		return NULL;
	c->row = row;
	c->pipes.kind = &pipe_kind;
	c->ivlen = row->ivlen;
	c->taglen = row->taglen;
	c->declared = SIZE_MAX;
	c->ses = (struct session){
		.prov = provctx, .crossing = row->crossing,
		.describe = describe, .owner = c,
	};
	c->soft = soft_cipher(provctx, row->name);
	if (c->soft)
		return c;
	OPENSSL_free(c);
	return NULL;
}

/* After a copy that failed, EVP also frees NULL. */
static void free_context(void *ctx)
{
	struct aead *c = ctx;

	if (!c)
		return;
	pipes_end(&c->pipes);
	session_end(&c->ses);
	EVP_CIPHER_CTX_free(c->soft);
	gather_free(&c->aad);
	gather_free(&c->data);
	OPENSSL_clear_free(c, sizeof(*c));
}

static void *dup_context(void *ctx)
{
	struct aead *c = ctx, *new = OPENSSL_memdup(c, sizeof(*c));
	bool ok;

	if (!new)
		return NULL;
	new->ses.id = 0;
	new->ses.owner = new;
	new->made_ivlen = 0;
	new->made_taglen = 0;
	new->aad = new->data = (struct gathered){};
	new->soft = EVP_CIPHER_CTX_new();
	ok = pipes_dup(&new->pipes);
	ok = ok && new->soft;
	ok = ok && EVP_CIPHER_CTX_copy(new->soft, c->soft) &&
	     gather_dup(&new->aad, &c->aad) && gather_dup(&new->data, &c->data);
	if (ok)
		return new;
	free_context(new);
	return NULL;
}

/* Wipes the data that were kept of a message. */
void aead_forget(struct aead *c)
{
	c->fresh = false;
	c->done = false;
	c->declared = SIZE_MAX;
	gather_free(&c->aad);
	gather_free(&c->data);
}

/*
 * Called when OpenSSL's cipher ends a message.  That cipher then has the tag of
 * the message; after a decryption it still has the tag of the last encryption.
 */
static void forget_message(struct aead *c)
{
	aead_forget(c);
	c->has_tag = false;
	if (c->encrypt)
		c->has_last_tag = false;
}

/*
 * OpenSSL's CCM was called, and succeeded if @ok.  Notes whether it remembers a
 * length of data now: one that was announced, that of what it has encrypted, or
 * perhaps that of data it has refused.
 */
static void note_len(struct aead *c, const void *out, const void *in, bool ok)
{
	if (!in != !out)
		return;
	c->has_len = !in || c->encrypt || !ok;
}

/*
 * OpenSSL's cipher repeats what the kernel has done, and continues from there.
 */
static int catch_up(struct aead *c)
{
	unsigned char *again;
	int n, ok;

	if (!c->done)
		return 1;
	again = OPENSSL_malloc(c->data.len);
	ok = again && EVP_CipherUpdate(c->soft, again, &n, c->data.data,
				       c->data.len);
	note_len(c, again, c->data.data, ok);
	OPENSSL_clear_free(again, c->data.len);
	aead_forget(c);
	/*
	 * after a failure refuse further data: OpenSSL's cipher would take them
	 * for the first block
	 */
	c->over = !ok;
	return ok;
}

/* OpenSSL's CCM does an empty message, after which its nonce is used up. */
static bool end_ccm(struct aead *c)
{
	unsigned char none, tag[TAG_LEN];
	int n;

	c->has_tag = false;
	c->has_len = false;
	return EVP_CipherInit_ex2(c->soft, NULL, NULL, NULL, 1, NULL) &&
	       EVP_CipherUpdate(c->soft, NULL, &n, NULL, 0) &&
	       EVP_CipherUpdate(c->soft, &none, &n, &none, 0) &&
	       EVP_CIPHER_CTX_ctrl(c->soft, EVP_CTRL_AEAD_GET_TAG,
				   c->key_taglen, tag) > 0 &&
	       EVP_CipherInit_ex2(c->soft, NULL, NULL, NULL, c->encrypt, NULL);
}

/*
 * Ends a message that the kernel has done.  OpenSSL's cipher has not seen its
 * data; this puts that cipher into the state that it would have after the data.
 * GCM then accepts no more data with this nonce, ChaCha20-Poly1305 begins
 * another message with the same nonce, and CCM has no nonce, length or tag.
 */
static int end_message(struct aead *c)
{
	int ok = 1;

	aead_forget(c);
	if (is_ccm(c))
		ok = end_ccm(c);
	else if (!is_gcm(c))
		ok = EVP_CipherInit_ex2(c->soft, NULL, NULL, c->iv, c->encrypt,
					NULL);
	/*
	 * OpenSSL's cipher has not seen the data, and would use the nonce for
	 * another message
	 */
	c->over = is_gcm(c) || !ok;
	return ok;
}

/* ---- beginning ---- */

static int set_context(void *ctx, const OSSL_PARAM params[]);

/*
 * Returns whether a nonce has a right length.  EVP checks this, but not in
 * pipelines.  OpenSSL's GCM accepts any length, the others only the one that
 * was set.
 */
static bool takes_nonce(struct aead *c, size_t len)
{
	if (len == (size_t)EVP_CIPHER_CTX_get_iv_length(c->soft))
		return true;
	if (is_gcm(c) && len && len <= INT_MAX &&
	    EVP_CIPHER_CTX_ctrl(c->soft, EVP_CTRL_AEAD_SET_IVLEN, len,
				NULL) > 0)
		return true;
	ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_IV_LENGTH);
	return false;
}

/*
 * If a program sets no tag, OpenSSL compares with the tag of the last
 * encryption.  If the kernel has made that tag, this gives it to OpenSSL's
 * cipher.  ChaCha20-Poly1305 compares as many bytes as it was told before,
 * perhaps none.
 */
static int lend_last_tag(struct aead *c)
{
	int len = is_gcm(c) ? TAG_LEN : EVP_CIPHER_CTX_get_tag_length(c->soft);

	return !len ||
	       EVP_CIPHER_CTX_ctrl(c->soft, EVP_CTRL_AEAD_SET_TAG, len,
				   c->last_tag) > 0;
}

static int init(struct aead *c, const unsigned char *key, size_t keylen,
		const unsigned char *iv, size_t ivlen,
		const OSSL_PARAM params[], bool encrypt)
{
	bool more = c->fresh || c->done;

	if (key && keylen != c->row->keylen) {
		ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_KEY_LENGTH);
		return 0;
	}
	if (iv && !takes_nonce(c, ivlen))
		return 0;
	/*
	 * A message that has begun may go on.  And OpenSSL's CCM remembers the
	 * length of a message whose tag was not fetched.
	 */
	if ((!iv || is_ccm(c)) && more && !catch_up(c))
		return 0;
	aead_forget(c);
	c->encrypt = encrypt;
	if (encrypt)
		c->has_tag = false;
	if (encrypt && !is_ccm(c))
		c->taglen = TAG_LEN;
	if (!EVP_CipherInit_ex2(c->soft, NULL, key, iv, encrypt, NULL))
		return 0;
	if (!encrypt && c->has_last_tag && !lend_last_tag(c))
		return 0;
	if (key) {
		memcpy(c->key, key, keylen);
		c->has_key = true;
		c->ses.other_key = true;
		c->key_ivlen = EVP_CIPHER_CTX_get_iv_length(c->soft);
		c->key_taglen = c->taglen;
	}
	if (iv) {
		c->over = false;
		c->ivlen = ivlen;
		c->fresh = ivlen <= sizeof(c->iv);
		if (c->fresh)
			memcpy(c->iv, iv, ivlen);
	}
	return set_context(c, params);
}

static int encrypt_init(void *ctx, const unsigned char *key, size_t keylen,
			const unsigned char *iv, size_t ivlen,
			const OSSL_PARAM params[])
{
	return init(ctx, key, keylen, iv, ivlen, params, true);
}

static int decrypt_init(void *ctx, const unsigned char *key, size_t keylen,
			const unsigned char *iv, size_t ivlen,
			const OSSL_PARAM params[])
{
	return init(ctx, key, keylen, iv, ivlen, params, false);
}

/* ---- the kernel ---- */

/*
 * Returns whether the kernel may do a message.  A message of CCM needs the
 * usual order of calls.  In this order the program sets the lengths of nonce
 * and tag before the key.  It sets the length of the data before the associated
 * data, and passes all data in one call.
 */
static bool is_usual(const struct aead *c, size_t len)
{
	if (!is_ccm(c))
		return c->ivlen == 12;
	return c->ivlen >= 7 && c->ivlen <= 13 && c->ivlen == c->key_ivlen &&
	       c->taglen == c->key_taglen && !c->fixed_len &&
	       (c->ivlen < 13 || len < 65536) &&
	       (c->has_len ? c->declared == len : !c->aad.len);
}

/* Returns a session for the present lengths of nonce and tag. */
struct session *aead_session(void *ctx)
{
	struct aead *c = ctx;

	if (c->made_ivlen != c->ivlen || c->made_taglen != c->taglen)
		session_end(&c->ses);
	c->made_ivlen = c->ivlen;
	c->made_taglen = c->taglen;
	c->ses.taglen = c->taglen;
	return &c->ses;
}

static bool is_kernels(struct aead *c, size_t len)
{
	return len && len <= GATHER_MAX && c->fresh && c->has_key &&
	       is_usual(c, len) && (c->encrypt || c->has_tag) &&
	       session_is_worth(aead_session(c), len);
}

static void ask_for(struct aead *c, unsigned char *out, size_t len,
		    struct ocf_command *command)
{
	*command = (struct ocf_command){
		.op = c->encrypt ? OCF_OP_ENCRYPT : OCF_OP_DECRYPT,
		.src = addr(c->data.data), .dst = addr(out), .len = len,
		.aad = addr(c->aad.data), .auth_len = c->aad.len,
		.tag = addr(c->tag),
	};
	memcpy(command->iv, c->iv, c->ivlen);
}

/* ---- update and final ---- */

static int soft_update(struct aead *c, unsigned char *out, size_t *outl,
		       const unsigned char *in, size_t len)
{
	int n = 0, ok;

	if (len > INT_MAX)
		return 0;
	ok = EVP_CipherUpdate(c->soft, out, &n, in, len);
	note_len(c, out, in, ok);
	*outl = ok ? n : 0;
	return ok;
}

/*
 * Makes a command for the kernel.  Returns whether the kernel should do the
 * data.  It gets a copy, because the result may overwrite them.
 */
static bool offer(void *ctx, unsigned char *out, size_t outsize,
		  const unsigned char *in, size_t len,
		  struct ocf_command *command)
{
	struct aead *c = ctx;

	if (c->over || c->done || outsize < len || !is_kernels(c, len) ||
	    !gather(&c->data, in, len))
		return false;
	ask_for(c, out, len, command);
	return true;
}

/*
 * Takes the kernel's result.  If decryption fails, nothing was written, and
 * OpenSSL's cipher reports the error.
 */
static int take(void *ctx, int res, unsigned char *out, size_t *outl,
		const unsigned char *in, size_t len)
{
	struct aead *c = ctx;
	int ok;

	if (res == (int)len) {
		c->fresh = false;
		c->done = true;
		*outl = len;
		/* the kernel has compared CCM's tag */
		return c->encrypt || !is_ccm(c) || end_message(c);
	}
	session_left(&c->ses);
	ok = soft_update(c, out, outl, c->data.data, len);
	aead_forget(c);
	return ok;
}

static int data_update(struct aead *c, unsigned char *out, size_t *outl,
		       size_t outsize, const unsigned char *in, size_t len)
{
	struct ocf_command command;
	int ok, res;

	if (outsize < len) {
		ERR_raise(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
		return 0;
	}
	if (!catch_up(c))
		return 0;
	if (offer(c, out, outsize, in, len, &command)) {
		res = session_run(aead_session(c), &command);
		return take(c, res, out, outl, in, len);
	}
	session_left(&c->ses);
	ok = soft_update(c, out, outl, in, len);
	aead_forget(c);
	return ok;
}

static bool is_over(const struct aead *c)
{
	if (c->over)
		ERR_raise(ERR_LIB_PROV, PROV_R_CIPHER_OPERATION_FAILED);
	return c->over;
}

static int update(void *ctx, unsigned char *out, size_t *outl, size_t outsize,
		  const unsigned char *in, size_t len)
{
	struct aead *c = ctx;

	*outl = 0;
	/* an update without data is always allowed */
	if (c->over && !len && is_gcm(c))
		return 1;
	if (is_over(c))
		return 0;
	if (record_by_kernel(c, out, outl, outsize, in, len))
		return 1;
	if (out && in)
		return data_update(c, out, outl, outsize, in, len);
	if (!catch_up(c))
		return 0;
	/* for CCM this sets the length; for the others it ends the message */
	if (!in && is_ccm(c))
		c->declared = len;
	else if (!in && len)
		forget_message(c);
	else if (!out && c->fresh && !gather(&c->aad, in, len))
		c->fresh = false;
	return soft_update(c, out, outl, in, len);
}

static int final(void *ctx, unsigned char *out, size_t *outl, size_t outsize)
{
	unsigned char none[TAG_LEN];
	struct aead *c = ctx;
	int n = 0, ok;

	*outl = 0;
	if (is_over(c))
		return 0;
	if (c->done) {
		/* a message of CCM ends when its tag is fetched */
		if (is_ccm(c))
			return 1;
		c->has_tag = false;
		c->has_last_tag = c->encrypt;
		memcpy(c->last_tag, c->tag, TAG_LEN);
		return end_message(c);
	}
	ok = EVP_CipherFinal_ex(c->soft, out ? out : none, &n);
	forget_message(c);
	return ok;
}

/*
 * Returns whether EVP_Cipher() without data ends a message; for
 * ChaCha20-Poly1305 it does nothing.
 */
static bool ends_by_nothing(const struct aead *c)
{
	return is_gcm(c) || is_ccm(c);
}

/* Called by EVP_Cipher() */
static int at_once(void *ctx, unsigned char *out, size_t *outl, size_t outsize,
		   const unsigned char *in, size_t len)
{
	struct aead *c = ctx;
	int n;

	if (is_over(c) || len > INT_MAX || outsize < len)
		return 0;
	if (record_by_kernel(c, out, outl, outsize, in, len)) {
		/* returns what OpenSSL's cipher returns */
		if (is_gcm(c) || is_ccm(c))
			*outl = len;
		return 1;
	}
	if (in && out && !c->done && is_kernels(c, len))
		return update(c, out, outl, outsize, in, len);
	if (!in && c->done && ends_by_nothing(c))
		return final(c, out, outl, outsize);
	if (!catch_up(c))
		return 0;
	if (in && !out && c->fresh && !gather(&c->aad, in, len))
		c->fresh = false;
	/* with data or at the end OpenSSL's cipher uses the nonce */
	if (!in && ends_by_nothing(c))
		forget_message(c);
	else if (out)
		aead_forget(c);
	n = EVP_Cipher(c->soft, out, in, len);
	note_len(c, out, in, n >= 0);
	if (n < 0)
		return 0;
	*outl = n;
	return 1;
}

/* ---- parameters ---- */

static int get_row(OSSL_PARAM params[], const struct aead_row *row)
{
	OSSL_PARAM *p;

	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_MODE);
	if (p && !OSSL_PARAM_set_uint(p, row->mode))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_KEYLEN);
	if (p && !OSSL_PARAM_set_size_t(p, row->keylen))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_IVLEN);
	if (p && !OSSL_PARAM_set_size_t(p, row->ivlen))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_BLOCK_SIZE);
	if (p && !OSSL_PARAM_set_size_t(p, 1))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_AEAD);
	if (p && !OSSL_PARAM_set_int(p, 1))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_CUSTOM_IV);
	return !p || OSSL_PARAM_set_int(p, 1);
}

static const OSSL_PARAM *gettable(void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_uint(OSSL_CIPHER_PARAM_MODE, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_BLOCK_SIZE, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_AEAD, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_CUSTOM_IV, NULL),
		OSSL_PARAM_END
	};

	return params;
}

static const OSSL_PARAM *gettable_context(void *ctx, void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, NULL),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_IV, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, NULL, 0),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD, NULL),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN,
					NULL, 0),
		OSSL_PARAM_octet_ptr(PIPELINE_TAG, NULL, 0),
		OSSL_PARAM_END
	};

	return params;
}

static const char * const tls_gets[] = {
	OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD,
	OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN,
};
static const char * const tls_sets[] = {
	OSSL_CIPHER_PARAM_AEAD_TLS1_AAD,
	OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED,
	OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV,
};

static bool has_any(const OSSL_PARAM params[], const char * const *names,
		    size_t n)
{
	while (n--)
		if (OSSL_PARAM_locate_const(params, names[n]))
			return true;
	return false;
}

/*
 * Gets the tag of CCM, which exists as soon as the data are done.  It can be
 * read once, and only as a whole.
 */
static int get_ccm_tag(struct aead *c, OSSL_PARAM *p, OSSL_PARAM params[])
{
	if (p->data_size != c->key_taglen)
		return catch_up(c) &&
		       EVP_CIPHER_CTX_get_params(c->soft, params);
	return OSSL_PARAM_set_octet_string(p, c->tag, p->data_size) &&
	       end_message(c);
}

static int get_context(void *ctx, OSSL_PARAM params[])
{
	struct aead *c = ctx;
	OSSL_PARAM *p;

	if (!pipes_tags(&c->pipes, params, get_context))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_AEAD_TAG);
	if (p && c->encrypt && is_ccm(c) && c->done)
		return get_ccm_tag(c, p, params);
	if (p && c->encrypt && (c->over || c->has_last_tag)) {
		if (!c->has_last_tag || !p->data_size ||
		    p->data_size > TAG_LEN) {
			ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_TAG);
			return 0;
		}
		return OSSL_PARAM_set_octet_string(p, c->last_tag,
						   p->data_size);
	}
	/*
	 * OpenSSL's cipher makes the nonces of such TLS records itself, so @iv
	 * is not the nonce any more
	 */
	if (has_any(params, tls_gets, COUNT(tls_gets))) {
		if (!catch_up(c))
			return 0;
		c->fresh = false;
	}
	if (!EVP_CIPHER_CTX_get_params(c->soft, params))
		return 0;
	/* nonce and length of CCM are used up with the tag */
	if (p && is_ccm(c)) {
		c->fresh = false;
		c->has_len = false;
	}
	/* OpenSSL's GCM returns the length of the tag that it made last */
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_AEAD_TAGLEN);
	return !p || !is_gcm(c) || !c->has_last_tag ||
	       OSSL_PARAM_set_size_t(p, TAG_LEN);
}

static const OSSL_PARAM *settable_context(void *ctx, void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, NULL),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, NULL,
					0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED,
					NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV,
					NULL, 0),
		OSSL_PARAM_octet_ptr(PIPELINE_TAG, NULL, 0),
		OSSL_PARAM_END
	};

	return params;
}

/* Notes a tag that OpenSSL's cipher has accepted. */
static void note_tag(struct aead *c, const OSSL_PARAM *p)
{
	if (!p->data_size || p->data_size > TAG_LEN)
		return;
	c->taglen = p->data_size;
	if (p->data) {
		memcpy(c->tag, p->data, p->data_size);
		c->has_tag = true;
		c->has_last_tag = false;
	}
}

/*
 * Notes a tag that OpenSSL's cipher has refused.  If a tag is set for
 * encryption, GCM has by then overwritten the tag of the last message.
 */
static void note_refused_tag(struct aead *c, const OSSL_PARAM *p)
{
	if (is_gcm(c) && c->has_last_tag && p->data && p->data_size <= TAG_LEN)
		memcpy(c->last_tag, p->data, p->data_size);
}

static int set_one(void *ctx, OSSL_PARAM params[])
{
	return set_context(ctx, params);
}

static int set_context(void *ctx, const OSSL_PARAM params[])
{
	struct aead *c = ctx;
	const OSSL_PARAM *p, *tag;

	if (!params)
		return 1;
	if (!pipes_tags(&c->pipes, params, set_one))
		return 0;
	if (has_any(params, tls_sets, COUNT(tls_sets)) ||
	    OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_AEAD_IVLEN)) {
		if (!catch_up(c))
			return 0;
		c->fresh = false;
	}
	tag = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_AEAD_TAG);
	/* a new tag, after the data were verified with another */
	if (tag && !c->encrypt && !catch_up(c))
		return 0;
	if (!EVP_CIPHER_CTX_set_params(c->soft, params)) {
		if (tag)
			note_refused_tag(c, tag);
		return 0;
	}
	/* a new nonce, after a message that the kernel has done */
	if (has_any(params, tls_sets, COUNT(tls_sets)))
		c->over = false;
	p = OSSL_PARAM_locate_const(params, tls_sets[1]);
	if (p)
		record_fixed(c, p);
	p = OSSL_PARAM_locate_const(params, tls_sets[0]);
	if (p)
		record_announced(c, p);
	if (tag)
		note_tag(c, tag);
	return 1;
}

/* ---- pipelines ---- */

static void *make(void *like)
{
	struct aead *c = like;

	return new_context(c->ses.prov, c->row);
}

static const struct pipe_kind pipe_kind = {
	.make = make, .free = free_context, .dup = dup_context,
	.encrypt_init = encrypt_init, .decrypt_init = decrypt_init,
	.update = update, .final = final, .session = aead_session,
	.offer = offer, .take = take,
};

/* ---- the table ---- */

static const struct aead_row aes_128_gcm = {
	"AES-128-GCM", "aes-gcm", EVP_CIPH_GCM_MODE, CROSSING_GCM, 16, 12, 16
};
static const struct aead_row aes_128_ccm = {
	"AES-128-CCM", "aes-ccm", EVP_CIPH_CCM_MODE, CROSSING_CCM, 16, 7, 12
};
static const struct aead_row aes_192_gcm = {
	"AES-192-GCM", "aes-gcm", EVP_CIPH_GCM_MODE, CROSSING_GCM, 24, 12, 16
};
static const struct aead_row aes_192_ccm = {
	"AES-192-CCM", "aes-ccm", EVP_CIPH_CCM_MODE, CROSSING_CCM, 24, 7, 12
};
static const struct aead_row aes_256_gcm = {
	"AES-256-GCM", "aes-gcm", EVP_CIPH_GCM_MODE, CROSSING_GCM, 32, 12, 16
};
static const struct aead_row aes_256_ccm = {
	"AES-256-CCM", "aes-ccm", EVP_CIPH_CCM_MODE, CROSSING_CCM, 32, 7, 12
};
static const struct aead_row chacha = {
	"ChaCha20-Poly1305", "chacha20-poly1305", 0, CROSSING_CHACHA, 32, 12, 16
};

#define AEAD(id_)							\
static void *id_##_new(void *provctx)					\
{									\
	return new_context(provctx, &(id_));				\
}									\
static int id_##_get(OSSL_PARAM params[])				\
{									\
	return get_row(params, &(id_));				\
}									\
const OSSL_DISPATCH id_##_calls[] = {					\
	{ OSSL_FUNC_CIPHER_NEWCTX, (void (*)(void))id_##_new },		\
	{ OSSL_FUNC_CIPHER_FREECTX, (void (*)(void))free_context },	\
	{ OSSL_FUNC_CIPHER_DUPCTX, (void (*)(void))dup_context },	\
	{ OSSL_FUNC_CIPHER_ENCRYPT_INIT, (void (*)(void))encrypt_init },\
	{ OSSL_FUNC_CIPHER_DECRYPT_INIT, (void (*)(void))decrypt_init },\
	{ OSSL_FUNC_CIPHER_UPDATE, (void (*)(void))update },		\
	{ OSSL_FUNC_CIPHER_FINAL, (void (*)(void))final },		\
	{ OSSL_FUNC_CIPHER_CIPHER, (void (*)(void))at_once },		\
	{ OSSL_FUNC_CIPHER_PIPELINE_ENCRYPT_INIT,			\
	  (void (*)(void))pipes_encrypt_init },				\
	{ OSSL_FUNC_CIPHER_PIPELINE_DECRYPT_INIT,			\
	  (void (*)(void))pipes_decrypt_init },				\
	{ OSSL_FUNC_CIPHER_PIPELINE_UPDATE,				\
	  (void (*)(void))pipes_update },				\
	{ OSSL_FUNC_CIPHER_PIPELINE_FINAL,				\
	  (void (*)(void))pipes_final },				\
	{ OSSL_FUNC_CIPHER_GET_PARAMS, (void (*)(void))id_##_get },	\
	{ OSSL_FUNC_CIPHER_GETTABLE_PARAMS, (void (*)(void))gettable },	\
	{ OSSL_FUNC_CIPHER_GET_CTX_PARAMS, (void (*)(void))get_context },\
	{ OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS,				\
	  (void (*)(void))gettable_context },				\
	{ OSSL_FUNC_CIPHER_SET_CTX_PARAMS, (void (*)(void))set_context },\
	{ OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS,				\
	  (void (*)(void))settable_context },				\
	{ 0, NULL }							\
}

AEAD(aes_128_gcm);
AEAD(aes_128_ccm);
AEAD(aes_192_gcm);
AEAD(aes_192_ccm);
AEAD(aes_256_gcm);
AEAD(aes_256_ccm);
AEAD(chacha);
