// SPDX-License-Identifier: BSD-2-Clause
/*
 * AES-GCM, AES-CCM and ChaCha20-Poly1305.
 *
 * The kernel works on a message as a whole.  So the first data that come are
 * taken for all, as they are in TLS 1.3 and in most programs, and kept; if more
 * come, OpenSSL's own cipher does those again, and then the rest.  Decryption
 * can only do so if it knows the tag already.  Records of TLS 1.2, which take
 * their nonces from the cipher, are OpenSSL's own.
 */
#include "provider.h"

#define KEY_MAX		32
#define IV_MAX		16
#define TAG_LEN		16
#define GCM_IV_MAX	128	/* OpenSSL takes; the kernel has 12 alone */

/**
 * struct aead_row - an AEAD cipher
 * @name: OpenSSL's
 * @kernel: ours
 * @mode: EVP_CIPH_*
 * @crossing: CROSSING_*
 * @keylen: bytes
 * @ivlen: bytes, of a nonce if nothing is said
 * @taglen: likewise
 */
struct aead_row {
	const char	*name, *kernel;
	unsigned int	mode;
	enum crossing	crossing;
	size_t		keylen, ivlen, taglen;
};

/**
 * struct aead - a context
 * @row: which
 * @prov: whose
 * @soft: OpenSSL's own
 * @ses: the kernel's
 * @key: the key
 * @iv: the nonce
 * @ivlen: bytes
 * @has_key: it was given
 * @has_iv: it was given, and was not used up
 * @encrypt: direction
 * @tag: the tag, given or made
 * @taglen: bytes
 * @has_tag: it is there
 * @own: all of it goes to OpenSSL's
 * @begun: OpenSSL's has what came before
 * @kernels: the kernel has done what is in @data
 * @aad: what is authenticated besides
 * @data: what came in, if the kernel did it
 */
struct aead {
	const struct aead_row	*row;
	struct provider		*prov;
	EVP_CIPHER_CTX		*soft;
	struct session		ses;
	unsigned char		key[KEY_MAX];
	unsigned char		iv[GCM_IV_MAX];
	size_t			ivlen;
	bool			has_key, has_iv, encrypt;
	unsigned char		tag[TAG_LEN];
	size_t			taglen;
	bool			has_tag, own, begun, kernels;
	struct gathered		aad, data;
};

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

static void *new_context(void *provctx, const struct aead_row *row)
{
	struct aead *c = OPENSSL_zalloc(sizeof(*c));
	struct provider *prov = provctx;
	EVP_CIPHER *evp;
	int ok = 0;

	if (!c)
		return NULL;
	c->row = row;
	c->prov = prov;
	c->ivlen = row->ivlen;
	c->taglen = row->taglen;
	c->ses = (struct session){
		.prov = prov, .crossing = row->crossing, .describe = describe,
		.owner = c,
	};
	evp = EVP_CIPHER_fetch(prov->soft, row->name, NULL);
	c->soft = EVP_CIPHER_CTX_new();
	if (evp && c->soft)
		ok = EVP_CipherInit_ex2(c->soft, evp, NULL, NULL, 1, NULL);
	EVP_CIPHER_free(evp);
	if (ok)
		return c;
	EVP_CIPHER_CTX_free(c->soft);
	OPENSSL_free(c);
	return NULL;
}

static void free_context(void *ctx)
{
	struct aead *c = ctx;

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
	new->aad = new->data = (struct gathered){};
	new->soft = EVP_CIPHER_CTX_new();
	ok = new->soft;
	ok = ok && EVP_CIPHER_CTX_copy(new->soft, c->soft) &&
	     gather_dup(&new->aad, &c->aad) && gather_dup(&new->data, &c->data);
	if (ok)
		return new;
	free_context(new);
	return NULL;
}

/* A session has lengths of nonce and tag of its own. */
static void other_session(struct aead *c)
{
	session_end(&c->ses);
}

static void forget(struct aead *c)
{
	c->begun = false;
	c->kernels = false;
	gather_free(&c->aad);
	gather_free(&c->data);
}

static int set_context(void *ctx, const OSSL_PARAM params[]);

static int init(struct aead *c, const unsigned char *key, size_t keylen,
		const unsigned char *iv, size_t ivlen,
		const OSSL_PARAM params[], bool encrypt)
{
	c->encrypt = encrypt;
	forget(c);
	if (encrypt)
		c->has_tag = false;
	if (key) {
		if (keylen != c->row->keylen) {
			ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_KEY_LENGTH);
			return 0;
		}
		memcpy(c->key, key, keylen);
		c->has_key = true;
		c->ses.other_key = true;
		c->own = false;
	}
	if (iv) {
		if (!ivlen || ivlen > sizeof(c->iv)) {
			ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_IV_LENGTH);
			return 0;
		}
		if (ivlen != c->ivlen)
			other_session(c);
		c->ivlen = ivlen;
		memcpy(c->iv, iv, ivlen);
		c->has_iv = true;
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

/* ---- OpenSSL's own ---- */

static bool is_ccm(const struct aead *c)
{
	return c->row->mode == EVP_CIPH_CCM_MODE;
}

/* Lengths, key and nonce */
static int soft_init(struct aead *c)
{
	void *tag = c->encrypt || !c->has_tag ? NULL : c->tag;

	if (!EVP_CipherInit_ex2(c->soft, NULL, NULL, NULL, c->encrypt, NULL) ||
	    EVP_CIPHER_CTX_ctrl(c->soft, EVP_CTRL_AEAD_SET_IVLEN, c->ivlen,
				NULL) <= 0)
		return 0;
	if ((tag || is_ccm(c)) &&
	    EVP_CIPHER_CTX_ctrl(c->soft, EVP_CTRL_AEAD_SET_TAG, c->taglen,
				tag) <= 0)
		return 0;
	return EVP_CipherInit_ex2(c->soft, NULL, c->has_key ? c->key : NULL,
				  c->has_iv ? c->iv : NULL, c->encrypt, NULL);
}

/* It gets all that came before; @len is how much will come, for CCM. */
static int begin(struct aead *c, size_t len)
{
	unsigned char *again;
	int n, ok;

	if (c->begun)
		return 1;
	c->begun = true;
	if (!soft_init(c) ||
	    (is_ccm(c) && !EVP_CipherUpdate(c->soft, NULL, &n, NULL, len)) ||
	    (c->aad.len && !EVP_CipherUpdate(c->soft, NULL, &n, c->aad.data,
					     c->aad.len)))
		return 0;
	if (!c->kernels)
		return 1;
	c->kernels = false;
	again = OPENSSL_malloc(c->data.len);
	ok = again && EVP_CipherUpdate(c->soft, again, &n, c->data.data,
				       c->data.len);
	OPENSSL_clear_free(again, c->data.len);
	gather_free(&c->data);
	return ok;
}

static int by_software(struct aead *c, unsigned char *out, size_t *outl,
		       const unsigned char *in, size_t len)
{
	int n;

	if (!begin(c, len) || !EVP_CipherUpdate(c->soft, out, &n, in, len))
		return 0;
	*outl = n;
	return 1;
}

/* ---- the kernel ---- */

/* Nonces that it can have */
static bool has_kernels_nonce(const struct aead *c)
{
	return is_ccm(c) ? c->ivlen >= 7 && c->ivlen <= 13 : c->ivlen == 12;
}

static bool is_kernels(struct aead *c, size_t len)
{
	return !c->begun && !c->kernels && c->has_iv && has_kernels_nonce(c) &&
	       (c->encrypt || c->has_tag) && len <= GATHER_MAX &&
	       (!is_ccm(c) || c->ivlen < 13 || len < 65536) &&
	       session_is_worth(&c->ses, len);
}

/* Whether it was done, by whom one may not know after decryption */
static bool by_kernel(struct aead *c, unsigned char *out,
		      const unsigned char *in, size_t len)
{
	struct ocf_command command = {
		.op = c->encrypt ? OCF_OP_ENCRYPT : OCF_OP_DECRYPT,
		.src = addr(in), .dst = addr(out), .len = len,
		.aad = addr(c->aad.data), .auth_len = c->aad.len,
		.tag = addr(c->tag),
	};

	/* @in is gone where it is done in place */
	if (!gather(&c->data, in, len))
		return false;
	memcpy(command.iv, c->iv, c->ivlen);
	c->kernels = session_run(&c->ses, &command) == (int)len;
	if (!c->kernels)
		gather_free(&c->data);
	return c->kernels;
}

/* ---- update and final ---- */

static int update(void *ctx, unsigned char *out, size_t *outl, size_t outsize,
		  const unsigned char *in, size_t len)
{
	struct aead *c = ctx;
	int n;

	*outl = 0;
	if (c->own) {
		if (!EVP_CipherUpdate(c->soft, out, &n, in, len))
			return 0;
		*outl = n;
		return 1;
	}
	if (!c->has_key || !c->has_iv) {
		ERR_raise(ERR_LIB_PROV, PROV_R_NO_KEY_SET);
		return 0;
	}
	/* CCM's total length, which is known when the data are */
	if (!in && !out) {
		*outl = len;
		return 1;
	}
	if (!out) {
		if (c->begun || c->kernels)
			return 0;
		*outl = len;
		return gather(&c->aad, in, len);
	}
	if (outsize < len) {
		ERR_raise(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
		return 0;
	}
	if (len && is_kernels(c, len) && by_kernel(c, out, in, len)) {
		*outl = len;
		return 1;
	}
	return by_software(c, out, outl, in, len);
}

static int final(void *ctx, unsigned char *out, size_t *outl, size_t outsize)
{
	struct aead *c = ctx;
	unsigned char none[1];
	int n = 0, ok;

	*outl = 0;
	if (c->own)
		return EVP_CipherFinal_ex(c->soft, out ? out : none, &n);
	if (!c->has_key || !c->has_iv)
		return 0;
	ok = c->kernels || (begin(c, 0) &&
			    EVP_CipherFinal_ex(c->soft, out ? out : none, &n) &&
			    (!c->encrypt ||
			     EVP_CIPHER_CTX_ctrl(c->soft, EVP_CTRL_AEAD_GET_TAG,
						 c->taglen, c->tag) > 0));
	/* a nonce is for one message */
	c->has_iv = false;
	c->has_tag = ok;
	forget(c);
	return ok;
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

/* All of it goes to OpenSSL's from now on, until there is another key. */
static int give_away(struct aead *c)
{
	if (c->own)
		return 1;
	c->own = true;
	return soft_init(c);
}

static int get_iv(const struct aead *c, OSSL_PARAM *p)
{
	return OSSL_PARAM_set_octet_string(p, c->iv, c->ivlen) ||
	       OSSL_PARAM_set_octet_ptr(p, c->iv, c->ivlen);
}

static int get_context(void *ctx, OSSL_PARAM params[])
{
	struct aead *c = ctx;
	OSSL_PARAM *p;

	if (has_any(params, tls_gets, COUNT(tls_gets)) && !give_away(c))
		return 0;
	if (c->own)
		return EVP_CIPHER_CTX_get_params(c->soft, params);
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_KEYLEN);
	if (p && !OSSL_PARAM_set_size_t(p, c->row->keylen))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_IVLEN);
	if (p && !OSSL_PARAM_set_size_t(p, c->ivlen))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_AEAD_TAGLEN);
	if (p && !OSSL_PARAM_set_size_t(p, c->taglen))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_IV);
	if (p && !get_iv(c, p))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_UPDATED_IV);
	if (p && !get_iv(c, p))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_AEAD_TAG);
	if (!p)
		return 1;
	if (!c->encrypt || !c->has_tag || !p->data_size ||
	    p->data_size > c->taglen) {
		ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_TAG);
		return 0;
	}
	return OSSL_PARAM_set_octet_string(p, c->tag, p->data_size);
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
		OSSL_PARAM_END
	};

	return params;
}

static int set_ivlen(struct aead *c, const OSSL_PARAM *p)
{
	size_t len;

	if (!OSSL_PARAM_get_size_t(p, &len) || !len || len > sizeof(c->iv) ||
	    (is_ccm(c) && (len < 7 || len > 13)) ||
	    (c->row->mode != EVP_CIPH_GCM_MODE && !is_ccm(c) && len != 12)) {
		ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_IV_LENGTH);
		return 0;
	}
	if (len == c->ivlen)
		return 1;
	other_session(c);
	c->ivlen = len;
	c->has_iv = false;
	return 1;
}

static int set_tag(struct aead *c, const OSSL_PARAM *p)
{
	if (p->data_type != OSSL_PARAM_OCTET_STRING || !p->data_size ||
	    p->data_size > TAG_LEN || (p->data && c->encrypt)) {
		ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_TAG);
		return 0;
	}
	if (p->data_size != c->taglen)
		other_session(c);
	c->taglen = p->data_size;
	if (!p->data)
		return 1;
	memcpy(c->tag, p->data, p->data_size);
	c->has_tag = true;
	/* it came late: what was begun has to know */
	return !c->begun ||
	       EVP_CIPHER_CTX_ctrl(c->soft, EVP_CTRL_AEAD_SET_TAG, c->taglen,
				   c->tag) > 0;
}

static int set_context(void *ctx, const OSSL_PARAM params[])
{
	struct aead *c = ctx;
	const OSSL_PARAM *p;

	if (!params)
		return 1;
	if (has_any(params, tls_sets, COUNT(tls_sets)) && !give_away(c))
		return 0;
	if (c->own)
		return EVP_CIPHER_CTX_set_params(c->soft, params);
	p = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_AEAD_IVLEN);
	if (p && !set_ivlen(c, p))
		return 0;
	p = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_AEAD_TAG);
	return !p || set_tag(c, p);
}

/* ---- the rows ---- */

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
