// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ciphers that are no AEAD: contexts, which gather whole blocks; their
 * parameters; and the table.
 */
#include "cipher.h"

static void describe(const void *owner, struct ocf_session_open *params)
{
	const struct cipher *c = owner;

	params->mode = OCF_MODE_CIPHER;
	strcpy(params->cipher, c->row->kernel);
	params->key = addr(c->key);
	params->keylen = c->row->keylen;
}

/* ---- contexts ---- */

EVP_CIPHER_CTX *soft_cipher(struct provider *prov, const char *name)
{
	EVP_CIPHER *evp = EVP_CIPHER_fetch(prov->soft, name, NULL);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int ok = evp && ctx &&
		 EVP_CipherInit_ex2(ctx, evp, NULL, NULL, 1, NULL);

	EVP_CIPHER_free(evp);
	if (ok)
		return ctx;
	EVP_CIPHER_CTX_free(ctx);
	return NULL;
}

static const struct pipe_kind pipe_kind;

static void *new_context(void *provctx, const struct cipher_row *row)
{
	struct cipher *c = OPENSSL_zalloc(sizeof(*c));

	if (!c)
		return NULL;
	c->row = row;
	c->pipes.kind = &pipe_kind;
	c->pad = true;
	c->ses = (struct session){
		.prov = provctx, .crossing = row->crossing,
		.describe = describe, .owner = c,
		/* OpenSSL's random generators use these, without a lock */
		.never_pauses = row->mode == MODE_CTR || row->mode == MODE_ECB,
	};
	c->soft = soft_cipher(provctx, row->name);
	if (c->soft)
		return c;
	OPENSSL_free(c);
	return NULL;
}

static void free_context(void *ctx)
{
	struct cipher *c = ctx;

	if (!c)
		return;
	pipes_end(&c->pipes);
	session_end(&c->ses);
	EVP_CIPHER_CTX_free(c->soft);
	OPENSSL_clear_free(c, sizeof(*c));
}

static void *dup_context(void *ctx)
{
	struct cipher *c = ctx, *new = OPENSSL_memdup(c, sizeof(*c));

	if (!new)
		return NULL;
	new->ses.id = 0;
	new->ses.owner = new;
	new->soft = EVP_CIPHER_CTX_new();
	if (pipes_dup(&new->pipes) && new->soft &&
	    EVP_CIPHER_CTX_copy(new->soft, c->soft))
		return new;
	free_context(new);
	return NULL;
}

static int set_context(void *ctx, const OSSL_PARAM params[]);

static int init(struct cipher *c, const unsigned char *key, size_t keylen,
		const unsigned char *iv, size_t ivlen,
		const OSSL_PARAM params[], bool encrypt)
{
	const struct cipher_row *row = c->row;
	size_t was = c->offset;

	c->encrypt = encrypt;
	c->nparts = 0;
	c->offset = 0;
	if (iv) {
		if (ivlen != row->ivlen) {
			ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_IV_LENGTH);
			return 0;
		}
		memcpy(c->given_iv, iv, ivlen);
		c->has_iv = true;
	}
	/*
	 * CTR goes on with its counter unless it gets an IV.  A cipher that
	 * never had an IV goes on from an IV of zeros.
	 */
	if (iv || (row->mode != MODE_CTR && c->has_iv))
		memcpy(c->iv, c->given_iv, sizeof(c->iv));
	else if (row->mode == MODE_CTR && was)
		cipher_count(c->iv, 1);
	if (key) {
		if (keylen != row->keylen) {
			ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_KEY_LENGTH);
			return 0;
		}
		memcpy(c->key, key, keylen);
		c->has_key = false;
		c->ses.other_key = true;
	}
	if (!EVP_CipherInit_ex2(c->soft, NULL, key,
				c->has_iv && row->ivlen ? c->iv : NULL,
				encrypt, NULL) ||
	    !EVP_CIPHER_CTX_set_padding(c->soft, 0))
		return 0;
	c->has_key |= !!key;
	/* OpenSSL's context does not know the IV yet */
	c->stale = !c->has_iv && row->ivlen && row->mode != MODE_XTS;
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

/* ---- update and final ---- */

/*
 * Returns whether key and IV are there.  An IV that was never set is zero; only
 * XTS needs one.
 */
static bool has_all(const struct cipher *c)
{
	return c->has_key && (c->has_iv || c->row->mode != MODE_XTS);
}

static bool is_ready(const struct cipher *c)
{
	if (has_all(c))
		return true;
	ERR_raise(ERR_LIB_PROV, PROV_R_NO_KEY_SET);
	return false;
}

/*
 * Returns whether the last whole block is held back, because it may be padding.
 */
static bool holds(const struct cipher *c)
{
	return !c->encrypt && c->pad;
}

/* Fills the partial block with input, and does it when it is complete. */
static int fill_block(struct cipher *c, unsigned char **out,
		      const unsigned char **in, size_t *len)
{
	size_t n = c->row->block - c->nparts;

	n = n < *len ? n : *len;
	memcpy(c->part + c->nparts, *in, n);
	c->nparts += n;
	*in += n;
	*len -= n;
	if (c->nparts < c->row->block || (holds(c) && !*len))
		return 1;
	c->nparts = 0;
	if (!cipher_blocks(c, *out, c->part, c->row->block))
		return 0;
	*out += c->row->block;
	return 1;
}

static int gathered_update(struct cipher *c, unsigned char *out, size_t *outl,
			   size_t outsize, const unsigned char *in, size_t len)
{
	size_t block = c->row->block, n;
	unsigned char *at = out;

	n = (c->nparts + len) / block * block;
	if (outsize < (n && holds(c) && n == c->nparts + len ? n - block : n)) {
		ERR_raise(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
		return 0;
	}
	if (c->nparts && !fill_block(c, &at, &in, &len))
		return 0;
	n = len / block * block;
	if (n && n == len && holds(c))
		n -= block;
	if (n && !cipher_blocks(c, at, in, n))
		return 0;
	memcpy(c->part + c->nparts, in + n, len - n);
	c->nparts += len - n;
	*outl = at + n - out;
	return 1;
}

static int update(void *ctx, unsigned char *out, size_t *outl, size_t outsize,
		  const unsigned char *in, size_t len)
{
	struct cipher *c = ctx;

	*outl = 0;
	if (!is_ready(c))
		return 0;
	if (c->tls) {
		if (cipher_record(c, out, outl, outsize, in, len))
			return 1;
		ERR_raise(ERR_LIB_PROV, PROV_R_CIPHER_OPERATION_FAILED);
		return 0;
	}
	/*
	 * An empty update does nothing, and XTS refuses it.  But if a whole
	 * block was held back, padding may be off by now, and the block is
	 * processed now.
	 */
	if (!len && c->nparts < c->row->block)
		return c->row->mode != MODE_XTS;
	if (c->row->block > 1)
		return gathered_update(c, out, outl, outsize, in, len);
	if (outsize < len) {
		ERR_raise(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
		return 0;
	}
	if (!cipher_blocks(c, out, in, len))
		return 0;
	*outl = len;
	return 1;
}

static int final_padded(struct cipher *c, unsigned char *out, size_t *outl)
{
	size_t block = c->row->block, i, n;
	unsigned char last[BLOCK_MAX];

	if (c->encrypt) {
		n = block - c->nparts;
		memset(c->part + c->nparts, n, n);
		*outl = block;
		return cipher_blocks(c, out, c->part, block);
	}
	if (c->nparts != block) {
		ERR_raise(ERR_LIB_PROV, PROV_R_WRONG_FINAL_BLOCK_LENGTH);
		return 0;
	}
	if (!cipher_blocks(c, last, c->part, block))
		return 0;
	n = last[block - 1];
	for (i = 0; n && n <= block && i < n && last[block - 1 - i] == n; i++)
		;
	if (!n || i != n) {
		OPENSSL_cleanse(last, sizeof(last));
		ERR_raise(ERR_LIB_PROV, PROV_R_BAD_DECRYPT);
		return 0;
	}
	*outl = block - n;
	memcpy(out, last, *outl);
	OPENSSL_cleanse(last, sizeof(last));
	return 1;
}

/* Does a block that was held back before padding was switched off. */
static int final_held(struct cipher *c, unsigned char *out, size_t *outl,
		      size_t outsize)
{
	size_t block = c->row->block;

	if (c->encrypt || c->nparts != block) {
		ERR_raise(ERR_LIB_PROV, PROV_R_WRONG_FINAL_BLOCK_LENGTH);
		return 0;
	}
	if (outsize < block) {
		ERR_raise(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
		return 0;
	}
	*outl = block;
	return cipher_blocks(c, out, c->part, block);
}

static int final(void *ctx, unsigned char *out, size_t *outl, size_t outsize)
{
	struct cipher *c = ctx;
	int ok = 1;

	*outl = 0;
	/* XTS has no more output */
	if (c->row->mode == MODE_XTS)
		return 1;
	if (!is_ready(c))
		return 0;
	if (c->tls || c->row->block == 1)
		return 1;
	if (c->pad) {
		if (c->encrypt && outsize < c->row->block) {
			ERR_raise(ERR_LIB_PROV, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
			return 0;
		}
		ok = final_padded(c, out, outl);
	} else if (c->nparts) {
		ok = final_held(c, out, outl, outsize);
	}
	c->nparts = 0;
	OPENSSL_cleanse(c->part, sizeof(c->part));
	return ok;
}

/* Called by EVP_Cipher() */
static int at_once(void *ctx, unsigned char *out, size_t *outl, size_t outsize,
		   const unsigned char *in, size_t len)
{
	struct cipher *c = ctx;

	if (!is_ready(c) || outsize < len || len % c->row->block)
		return 0;
	*outl = len;
	if (!len)
		return c->row->mode != MODE_XTS;
	return cipher_blocks(c, out, in, len);
}

/* ---- pipelines ---- */

static void *make(void *like)
{
	struct cipher *c = like, *new = new_context(c->ses.prov, c->row);

	if (new)
		new->pad = c->pad;
	return new;
}

static struct session *session_of(void *ctx)
{
	return &((struct cipher *)ctx)->ses;
}

/*
 * Makes a command for the kernel.  Returns false if a partial block is held or
 * would be left; records have none as a rule.
 */
static bool offer(void *ctx, unsigned char *out, size_t outsize,
		  const unsigned char *in, size_t len,
		  struct ocf_command *command)
{
	struct cipher *c = ctx;

	if (!len || !has_all(c) || c->tls || c->nparts || holds(c) ||
	    outsize < len || len % c->row->block ||
	    cipher_next_part(c, len) != len || !cipher_is_kernels(c, len))
		return false;
	cipher_keep_last(c, in, len);
	cipher_ask_for(c, out, in, len, command);
	return true;
}

static int take(void *ctx, int res, unsigned char *out, size_t *outl,
		const unsigned char *in, size_t len)
{
	*outl = len;
	return cipher_done_blocks(ctx, res, out, in, len);
}

static const struct pipe_kind pipe_kind = {
	.make = make, .free = free_context, .dup = dup_context,
	.encrypt_init = encrypt_init, .decrypt_init = decrypt_init,
	.update = update, .final = final, .session = session_of,
	.offer = offer, .take = take,
};

/* ---- parameters ---- */

static int get_row(OSSL_PARAM params[], const struct cipher_row *row)
{
	static const unsigned int modes[] = {
		[MODE_CBC] = EVP_CIPH_CBC_MODE, [MODE_CTR] = EVP_CIPH_CTR_MODE,
		[MODE_ECB] = EVP_CIPH_ECB_MODE, [MODE_XTS] = EVP_CIPH_XTS_MODE,
	};
	OSSL_PARAM *p;

	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_MODE);
	if (p && !OSSL_PARAM_set_uint(p, modes[row->mode]))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_KEYLEN);
	if (p && !OSSL_PARAM_set_size_t(p, row->keylen))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_IVLEN);
	if (p && !OSSL_PARAM_set_size_t(p, row->ivlen))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_BLOCK_SIZE);
	if (p && !OSSL_PARAM_set_size_t(p, row->block))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_CUSTOM_IV);
	if (p && !OSSL_PARAM_set_int(p, row->mode == MODE_XTS))
		return 0;
	/* keys of DES have parity bits */
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_HAS_RAND_KEY);
	return !p || OSSL_PARAM_set_int(p, row->crossing == CROSSING_DES3);
}

static const OSSL_PARAM *gettable(void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_uint(OSSL_CIPHER_PARAM_MODE, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_BLOCK_SIZE, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_CUSTOM_IV, NULL),
		OSSL_PARAM_int(OSSL_CIPHER_PARAM_HAS_RAND_KEY, NULL),
		OSSL_PARAM_END
	};

	return params;
}

static const OSSL_PARAM *gettable_context(void *ctx, void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, NULL),
		OSSL_PARAM_uint(OSSL_CIPHER_PARAM_PADDING, NULL),
		OSSL_PARAM_uint(OSSL_CIPHER_PARAM_NUM, NULL),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_IV, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_TLS_MAC, NULL, 0),
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_RANDOM_KEY, NULL, 0),
		OSSL_PARAM_END
	};

	return params;
}

/*
 * Returns the next IV.  CTR's is that of the next block, even if a part of it
 * was used.
 */
static const unsigned char *next_iv(const struct cipher *c,
				    unsigned char *next)
{
	memcpy(next, c->iv, BLOCK_MAX);
	if (c->row->mode == MODE_CTR && c->offset)
		cipher_count(next, 1);
	return next;
}

/* Sets how many bytes of the present block were used: @n. */
static int set_offset(struct cipher *c, unsigned int n)
{
	unsigned char next[BLOCK_MAX];

	if (c->row->mode != MODE_CTR || n >= BLOCK_MAX)
		return n == c->offset;
	memcpy(c->iv, next_iv(c, next), BLOCK_MAX);
	c->offset = n;
	if (n)
		cipher_count_back(c->iv);
	c->stale = true;
	return 1;
}

static int set_iv(OSSL_PARAM *p, const unsigned char *iv, size_t len)
{
	return OSSL_PARAM_set_octet_string(p, iv, len) ||
	       OSSL_PARAM_set_octet_ptr(p, iv, len);
}

/*
 * EVP_CIPHER_CTX_iv() returns a pointer that is valid as long as the context.
 * A program may write the next IV there by EVP_CIPHER_CTX_iv_noconst(), but not
 * after CTR has used a part of a block.
 */
static int get_next_iv(struct cipher *c, OSSL_PARAM *p)
{
	next_iv(c, c->next);
	if (p->data_type != OSSL_PARAM_OCTET_PTR)
		return OSSL_PARAM_set_octet_string(p, c->next, c->row->ivlen);
	if (c->offset)
		return OSSL_PARAM_set_octet_ptr(p, c->next, c->row->ivlen);
	c->stale = true;
	return OSSL_PARAM_set_octet_ptr(p, c->iv, c->row->ivlen);
}

static int get_context(void *ctx, OSSL_PARAM params[])
{
	struct cipher *c = ctx;
	OSSL_PARAM *p;

	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_KEYLEN);
	if (p && !OSSL_PARAM_set_size_t(p, c->row->keylen))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_IVLEN);
	if (p && !OSSL_PARAM_set_size_t(p, c->row->ivlen))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_PADDING);
	if (p && !OSSL_PARAM_set_uint(p, c->pad))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_NUM);
	if (p && !OSSL_PARAM_set_uint(p, c->offset))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_IV);
	if (p && !set_iv(p, c->given_iv, c->row->ivlen))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_UPDATED_IV);
	if (p && !get_next_iv(c, p))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_RANDOM_KEY);
	/*
	 * EVP_CIPHER_CTX_rand_key() passes no size, but a buffer of the right
	 * size
	 */
	if (p && ((p->data_size && p->data_size < c->row->keylen) ||
		  EVP_CIPHER_CTX_rand_key(c->soft, p->data) <= 0))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_TLS_MAC);
	return !p || OSSL_PARAM_set_octet_ptr(p, c->tls_mac, c->tls_mac_size);
}

static const OSSL_PARAM *settable_context(void *ctx, void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
		OSSL_PARAM_uint(OSSL_CIPHER_PARAM_PADDING, NULL),
		OSSL_PARAM_uint(OSSL_CIPHER_PARAM_NUM, NULL),
		OSSL_PARAM_uint(OSSL_CIPHER_PARAM_TLS_VERSION, NULL),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, NULL),
		OSSL_PARAM_END
	};

	return params;
}

static int set_context(void *ctx, const OSSL_PARAM params[])
{
	struct cipher *c = ctx;
	const OSSL_PARAM *p;
	unsigned int n;
	size_t len;

	if (!params)
		return 1;
	if (!pipes_set(&c->pipes, params, set_context))
		return 0;
	p = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_PADDING);
	if (p) {
		if (!OSSL_PARAM_get_uint(p, &n))
			return 0;
		c->pad = n;
	}
	p = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_NUM);
	if (p && (!OSSL_PARAM_get_uint(p, &n) || !set_offset(c, n)))
		return 0;
	p = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_TLS_VERSION);
	if (p && !OSSL_PARAM_get_uint(p, &c->tls))
		return 0;
	p = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_TLS_MAC_SIZE);
	if (p && (!OSSL_PARAM_get_size_t(p, &c->tls_mac_size) ||
		  c->tls_mac_size > TLS_MAC_MAX))
		return 0;
	p = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_KEYLEN);
	if (p && (!OSSL_PARAM_get_size_t(p, &len) || len != c->row->keylen)) {
		ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_KEY_LENGTH);
		return 0;
	}
	return 1;
}

/* ---- the table ---- */

static const struct cipher_row aes_128_cbc = {
	"AES-128-CBC", "aes-cbc", MODE_CBC, CROSSING_CBC, 16, 16, 16
};
static const struct cipher_row aes_128_ctr = {
	"AES-128-CTR", "aes-ctr", MODE_CTR, CROSSING_CTR, 16, 16, 1
};
static const struct cipher_row aes_128_ecb = {
	"AES-128-ECB", "aes-ecb", MODE_ECB, CROSSING_ECB, 16, 0, 16
};
static const struct cipher_row aes_192_cbc = {
	"AES-192-CBC", "aes-cbc", MODE_CBC, CROSSING_CBC, 24, 16, 16
};
static const struct cipher_row aes_192_ctr = {
	"AES-192-CTR", "aes-ctr", MODE_CTR, CROSSING_CTR, 24, 16, 1
};
static const struct cipher_row aes_192_ecb = {
	"AES-192-ECB", "aes-ecb", MODE_ECB, CROSSING_ECB, 24, 0, 16
};
static const struct cipher_row aes_256_cbc = {
	"AES-256-CBC", "aes-cbc", MODE_CBC, CROSSING_CBC, 32, 16, 16
};
static const struct cipher_row aes_256_ctr = {
	"AES-256-CTR", "aes-ctr", MODE_CTR, CROSSING_CTR, 32, 16, 1
};
static const struct cipher_row aes_256_ecb = {
	"AES-256-ECB", "aes-ecb", MODE_ECB, CROSSING_ECB, 32, 0, 16
};
static const struct cipher_row aes_128_xts = {
	"AES-128-XTS", "aes-xts", MODE_XTS, CROSSING_XTS, 32, 16, 1
};
static const struct cipher_row aes_256_xts = {
	"AES-256-XTS", "aes-xts", MODE_XTS, CROSSING_XTS, 64, 16, 1
};
static const struct cipher_row des3_cbc = {
	"DES-EDE3-CBC", "des3-cbc", MODE_CBC, CROSSING_DES3, 24, 8, 8
};

#define CIPHER(id_)							\
static void *id_##_new(void *provctx)					\
{									\
	return new_context(provctx, &(id_));				\
}									\
static int id_##_get(OSSL_PARAM params[])				\
{									\
	return get_row(params, &(id_));				\
}									\
static const OSSL_DISPATCH id_##_calls[] = {				\
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

CIPHER(aes_128_cbc);
CIPHER(aes_128_ctr);
CIPHER(aes_128_ecb);
CIPHER(aes_192_cbc);
CIPHER(aes_192_ctr);
CIPHER(aes_192_ecb);
CIPHER(aes_256_cbc);
CIPHER(aes_256_ctr);
CIPHER(aes_256_ecb);
CIPHER(aes_128_xts);
CIPHER(aes_256_xts);
CIPHER(des3_cbc);

#define ROW(names_, id_)	{ names_, "provider=ocf", id_##_calls, NULL }
#define OID_AES(n_)		"2.16.840.1.101.3.4.1." #n_

const OSSL_ALGORITHM cipher_algorithms[] = {
	ROW("AES-128-ECB:" OID_AES(1), aes_128_ecb),
	ROW("AES-192-ECB:" OID_AES(21), aes_192_ecb),
	ROW("AES-256-ECB:" OID_AES(41), aes_256_ecb),
	ROW("AES-128-CBC:AES128:" OID_AES(2), aes_128_cbc),
	ROW("AES-192-CBC:AES192:" OID_AES(22), aes_192_cbc),
	ROW("AES-256-CBC:AES256:" OID_AES(42), aes_256_cbc),
	ROW("AES-128-CTR", aes_128_ctr),
	ROW("AES-192-CTR", aes_192_ctr),
	ROW("AES-256-CTR", aes_256_ctr),
	ROW("AES-128-XTS:1.3.111.2.1619.0.1.1", aes_128_xts),
	ROW("AES-256-XTS:1.3.111.2.1619.0.1.2", aes_256_xts),
	ROW("DES-EDE3-CBC:DES3:1.2.840.113549.3.7", des3_cbc),
	ROW("AES-128-GCM:id-aes128-GCM:" OID_AES(6), aes_128_gcm),
	ROW("AES-192-GCM:id-aes192-GCM:" OID_AES(26), aes_192_gcm),
	ROW("AES-256-GCM:id-aes256-GCM:" OID_AES(46), aes_256_gcm),
	ROW("AES-128-CCM:id-aes128-CCM:" OID_AES(7), aes_128_ccm),
	ROW("AES-192-CCM:id-aes192-CCM:" OID_AES(27), aes_192_ccm),
	ROW("AES-256-CCM:id-aes256-CCM:" OID_AES(47), aes_256_ccm),
	ROW("ChaCha20-Poly1305", chacha),
	{ NULL, NULL, NULL, NULL }
};
