// SPDX-License-Identifier: BSD-2-Clause
/* HMAC and CMAC.  The structure is that of digest.c. */
#include "provider.h"

#define KEY_MAX	64	/* bytes of an HMAC key in a session */

/**
 * struct mac - a context
 * @soft: OpenSSL's own, which has all parameters
 * @ses: the kernel's
 * @hmac: the MAC is HMAC; if false, CMAC
 * @size: length of the tag, bytes; 0: only OpenSSL's own code can do this MAC
 * @digest: the digest of HMAC, valid if @size is not 0
 * @cipher_key: length of CMAC's key, bytes, valid if @size is not 0
 * @own: @soft has been given all data so far, and @data has none
 * @unkeyed: the digest or the cipher has changed since the key was set
 * @key: the key
 * @data: the data so far, unless @own
 */
struct mac {
	EVP_MAC_CTX			*soft;
	struct session			ses;
	bool				hmac;
	size_t				size;
	const struct digest_row		*digest;
	size_t				cipher_key;
	bool				own, unkeyed;
	struct gathered			key, data;
};

static void describe(const void *owner, struct ocf_session_open *params)
{
	const struct mac *m = owner;

	params->mode = OCF_MODE_DIGEST;
	if (m->hmac) {
		strcpy(params->mac, "hmac-");
		strcat(params->mac, m->digest->kernel);
	} else {
		strcpy(params->mac, "aes-cmac");
	}
	params->mackey = addr(m->key.data);
	params->mackeylen = m->key.len;
}

static void free_context(void *ctx)
{
	struct mac *m = ctx;

	if (!m)
		return;
	session_end(&m->ses);
	EVP_MAC_CTX_free(m->soft);
	gather_free(&m->key);
	gather_free(&m->data);
	OPENSSL_free(m);
}

static void *new_context(void *provctx, const char *name, bool hmac)
{
	struct mac *m = OPENSSL_zalloc(sizeof(*m));
	struct provider *prov = provctx;
	EVP_MAC *evp;

	if (!m)
		return NULL;
	m->own = true;
	m->hmac = hmac;
	m->ses = (struct session){
		.prov = prov, .describe = describe, .owner = m,
	};
	evp = EVP_MAC_fetch(prov->soft, name, NULL);
	m->soft = evp ? EVP_MAC_CTX_new(evp) : NULL;
	EVP_MAC_free(evp);
	if (m->soft)
		return m;
	free_context(m);
	return NULL;
}

static void *dup_context(void *ctx)
{
	struct mac *m = ctx, *new = OPENSSL_zalloc(sizeof(*new));

	if (!new)
		return NULL;
	*new = *m;
	new->ses.id = 0;
	new->ses.owner = new;
	new->key = new->data = (struct gathered){};
	new->soft = EVP_MAC_CTX_dup(m->soft);
	if (new->soft && gather_dup(&new->key, &m->key) &&
	    gather_dup(&new->data, &m->data))
		return new;
	free_context(new);
	return NULL;
}

static int give_away(struct mac *m)
{
	int ok = m->own || !m->data.len ||
		 EVP_MAC_update(m->soft, m->data.data, m->data.len);

	m->own = true;
	gather_free(&m->data);
	return ok;
}

static int set(void *ctx, const OSSL_PARAM params[])
{
	struct mac *m = ctx;

	return EVP_MAC_CTX_set_params(m->soft, params);
}

/* Takes a new key.  Data from before stay with OpenSSL's MAC. */
static void take_key(struct mac *m, const void *key, size_t len)
{
	gather_free(&m->key);
	m->unkeyed = false;
	m->ses.other_key = true;
	if (!gather(&m->key, key, len))
		m->size = 0;
}

static void take_digest(struct mac *m, const char *name)
{
	m->digest = digest_by_name(m->ses.prov, name);
	m->size = m->digest ? m->digest->size : 0;
	if (m->digest)
		m->ses.crossing = CROSSING_HMAC + (m->digest - digest_rows);
}

/* Takes the cipher of CMAC; the kernel has CMAC with AES only (SP 800-38B). */
static void take_cipher(struct mac *m, const char *name)
{
	EVP_CIPHER *c = EVP_CIPHER_fetch(m->ses.prov->soft, name, NULL);

	m->size = 0;
	if (c && (EVP_CIPHER_is_a(c, "AES-128-CBC") ||
		  EVP_CIPHER_is_a(c, "AES-192-CBC") ||
		  EVP_CIPHER_is_a(c, "AES-256-CBC"))) {
		m->size = 16;
		m->cipher_key = EVP_CIPHER_get_key_length(c);
		m->ses.crossing = CROSSING_CMAC;
	}
	EVP_CIPHER_free(c);
}

/* Returns the text of a parameter, or NULL if it is missing. */
static const char *text_of(const OSSL_PARAM params[], const char *name)
{
	const OSSL_PARAM *p = OSSL_PARAM_locate_const(params, name);

	return p && p->data_type == OSSL_PARAM_UTF8_STRING ? p->data : NULL;
}

/* Sets parameters, also in OpenSSL's MAC. */
static int set_context(void *ctx, const OSSL_PARAM params[])
{
	const char *digest, *cipher;
	const OSSL_PARAM *p;
	struct mac *m = ctx;

	if (!params)
		return 1;
	digest = text_of(params, OSSL_MAC_PARAM_DIGEST);
	cipher = text_of(params, OSSL_MAC_PARAM_CIPHER);
	/* in the middle of a message OpenSSL decides what they mean */
	if ((digest || cipher ||
	     OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_KEY)) &&
	    !give_away(m))
		return 0;
	/* the MAC of a record in constant time is left to OpenSSL */
	if (OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_TLS_DATA_SIZE)) {
		m->size = 0;
		if (!give_away(m))
			return 0;
	}
	if (!without_properties(params, set, m))
		return 0;
	if (digest || cipher) {
		session_end(&m->ses);
		m->unkeyed = true;
	}
	if (digest && m->hmac)
		take_digest(m, digest);
	if (cipher && !m->hmac)
		take_cipher(m, cipher);
	p = OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_KEY);
	if (p && p->data_type == OSSL_PARAM_OCTET_STRING)
		take_key(m, p->data, p->data_size);
	return 1;
}

/*
 * A key of HMAC that is longer than a block is the same as its digest (RFC
 * 2104, section 2).
 */
static void shorten_key(struct mac *m)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	size_t len;

	if (m->key.len <= digest_block(m->digest) ||
	    !EVP_Q_digest(m->ses.prov->soft, m->digest->name, NULL,
			  m->key.data, m->key.len, digest, &len))
		return;
	gather_free(&m->key);
	gather(&m->key, digest, len);
	OPENSSL_cleanse(digest, sizeof(digest));
}

/* Returns whether a session can have the key. */
static bool has_kernels_key(struct mac *m)
{
	if (m->unkeyed)
		return false;
	if (!m->hmac)
		return m->key.len == m->cipher_key;
	shorten_key(m);
	return m->key.len && m->key.len <= KEY_MAX;
}

static int init(void *ctx, const unsigned char *key, size_t keylen,
		const OSSL_PARAM params[])
{
	struct mac *m = ctx;

	if (!set_context(m, params))
		return 0;
	if (key)
		take_key(m, key, keylen);
	gather_free(&m->data);
	/*
	 * after a new digest without a key, OpenSSL's MAC still uses the old
	 * digest, so it must do the message
	 */
	m->own = !m->size || !has_kernels_key(m) ||
		 !session_is_worth(&m->ses, GATHER_MAX);
	return EVP_MAC_init(m->soft, key, keylen, NULL);
}

static int update(void *ctx, const unsigned char *in, size_t len)
{
	struct mac *m = ctx;

	if (!m->own && gather(&m->data, in, len))
		return 1;
	if (!m->own && !give_away(m))
		return 0;
	return EVP_MAC_update(m->soft, in, len);
}

static int final(void *ctx, unsigned char *out, size_t *outl, size_t outsize)
{
	struct mac *m = ctx;
	struct ocf_command command = {
		.src = addr(m->data.data), .len = m->data.len,
		.tag = addr(out),
	};

	if (!m->own && outsize >= m->size &&
	    session_is_worth(&m->ses, m->data.len) &&
	    session_run(&m->ses, &command) == (int)m->size) {
		*outl = m->size;
		gather_free(&m->data);
		return 1;
	}
	session_left(&m->ses);
	return (m->own || give_away(m)) &&
	       EVP_MAC_final(m->soft, out, outl, outsize);
}

static int get_context(void *ctx, OSSL_PARAM params[])
{
	struct mac *m = ctx;

	return EVP_MAC_CTX_get_params(m->soft, params);
}

static const OSSL_PARAM *gettable_context(void *ctx, void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_size_t(OSSL_MAC_PARAM_SIZE, NULL),
		OSSL_PARAM_size_t(OSSL_MAC_PARAM_BLOCK_SIZE, NULL),
		OSSL_PARAM_END
	};

	return params;
}

static const OSSL_PARAM *settable_hmac(void *ctx, void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST, NULL, 0),
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_PROPERTIES, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_MAC_PARAM_KEY, NULL, 0),
		OSSL_PARAM_int(OSSL_MAC_PARAM_DIGEST_NOINIT, NULL),
		OSSL_PARAM_int(OSSL_MAC_PARAM_DIGEST_ONESHOT, NULL),
		OSSL_PARAM_size_t(OSSL_MAC_PARAM_TLS_DATA_SIZE, NULL),
		OSSL_PARAM_END
	};

	return params;
}

static const OSSL_PARAM *settable_cmac(void *ctx, void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_CIPHER, NULL, 0),
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_PROPERTIES, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_MAC_PARAM_KEY, NULL, 0),
		OSSL_PARAM_END
	};

	return params;
}

#define MAC(id_, name_, hmac_)						\
static void *new_##id_(void *provctx)					\
{									\
	return new_context(provctx, name_, hmac_);			\
}									\
static const OSSL_DISPATCH id_##_calls[] = {				\
	{ OSSL_FUNC_MAC_NEWCTX, (void (*)(void))new_##id_ },		\
	{ OSSL_FUNC_MAC_FREECTX, (void (*)(void))free_context },	\
	{ OSSL_FUNC_MAC_DUPCTX, (void (*)(void))dup_context },		\
	{ OSSL_FUNC_MAC_INIT, (void (*)(void))init },			\
	{ OSSL_FUNC_MAC_UPDATE, (void (*)(void))update },		\
	{ OSSL_FUNC_MAC_FINAL, (void (*)(void))final },			\
	{ OSSL_FUNC_MAC_GET_CTX_PARAMS, (void (*)(void))get_context },	\
	{ OSSL_FUNC_MAC_GETTABLE_CTX_PARAMS,				\
	  (void (*)(void))gettable_context },				\
	{ OSSL_FUNC_MAC_SET_CTX_PARAMS, (void (*)(void))set_context },	\
	{ OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS,				\
	  (void (*)(void))settable_##id_ },				\
	{ 0, NULL }							\
}

MAC(hmac, "HMAC", true);
MAC(cmac, "CMAC", false);

const OSSL_ALGORITHM mac_algorithms[] = {
	{ "HMAC", "provider=ocf", hmac_calls, NULL },
	{ "CMAC", "provider=ocf", cmac_calls, NULL },
	{ NULL, NULL, NULL, NULL }
};
