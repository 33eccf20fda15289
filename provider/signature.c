// SPDX-License-Identifier: BSD-2-Clause
/*
 * Signatures: RSA and ECDSA.
 */
#include "provider.h"

/**
 * struct signature_row - an algorithm
 * @digest: the digest if the program names none
 * @sign: signs on a card
 * @verify: verifies on a card
 */
struct signature_row {
	const char *digest;
	bool (*sign)(struct key *key, EVP_PKEY_CTX *ctx, unsigned char *sig,
		     size_t *siglen, size_t room, const unsigned char *tbs,
		     size_t tbslen);
	bool (*verify)(struct key *key, EVP_PKEY_CTX *ctx,
		       const unsigned char *sig, size_t siglen,
		       const unsigned char *tbs, size_t tbslen, bool *valid);
};

/**
 * struct signature - a context
 * @k: the key and the context of OpenSSL's own code
 * @row: the algorithm
 * @md: hashes the data to be signed or verified, or NULL; its digest algorithm
 *	cannot be changed
 */
struct signature {
	struct keyed			k;
	const struct signature_row	*row;
	EVP_MD_CTX			*md;
};

/* ---- contexts ---- */

static void *new_context(void *provctx, const struct signature_row *row)
{
	struct signature *s = OPENSSL_zalloc(sizeof(*s));

	if (s) {
		s->row = row;
		s->k.prov = provctx;
	}
	return s;
}

static void free_context(void *ctx)
{
	struct signature *s = ctx;

	if (!s)
		return;
	keyed_end(&s->k);
	EVP_MD_CTX_free(s->md);
	OPENSSL_free(s);
}

static void *dup_context(void *ctx)
{
	struct signature *s = ctx, *new = OPENSSL_memdup(s, sizeof(*s));
	bool ok;

	if (!new)
		return NULL;
	new->md = s->md ? EVP_MD_CTX_new() : NULL;
	ok = keyed_dup(&new->k);
	if (s->md && !new->md)
		ok = false;
	else if (s->md)
		ok = ok && EVP_MD_CTX_copy_ex(new->md, s->md);
	if (ok)
		return new;
	free_context(new);
	return NULL;
}

/* ---- beginning ---- */

static int begin(struct signature *s, struct key *key,
		 int (*init)(EVP_PKEY_CTX *ctx), const OSSL_PARAM params[])
{
	EVP_MD_CTX_free(s->md);
	s->md = NULL;
	return keyed_begin(&s->k, key, init, params);
}

static int sign_init(void *ctx, void *key, const OSSL_PARAM params[])
{
	return begin(ctx, key, EVP_PKEY_sign_init, params);
}

static int verify_init(void *ctx, void *key, const OSSL_PARAM params[])
{
	return begin(ctx, key, EVP_PKEY_verify_init, params);
}

/* ECDSA cannot recover, and says so. */
static int recover_init(void *ctx, void *key, const OSSL_PARAM params[])
{
	return begin(ctx, key, EVP_PKEY_verify_recover_init, params);
}

/*
 * A program that begins again without a key keeps the digest of its context.
 * Return: a reference to that digest; NULL if the program names another one.
 */
static EVP_MD *kept_digest(const struct signature *s, const char *name)
{
	if (!name || !*name || EVP_MD_is_a(EVP_MD_CTX_get0_md(s->md), name))
		return EVP_MD_CTX_get1_md(s->md);
	ERR_raise(ERR_LIB_PROV, PROV_R_DIGEST_NOT_ALLOWED);
	return NULL;
}

static int begin_digest(struct signature *s, const char *name, void *key,
			int (*init)(EVP_PKEY_CTX *ctx),
			const OSSL_PARAM params[])
{
	OSSL_PARAM digest[] = {
		OSSL_PARAM_utf8_string(OSSL_SIGNATURE_PARAM_DIGEST, NULL, 0),
		OSSL_PARAM_END
	};
	EVP_MD *md = NULL;
	int ok;

	if (!key && s->md) {
		md = kept_digest(s, name);
		if (!md)
			return 0;
		name = EVP_MD_get0_name(md);
	}
	if (!name || !*name)
		name = s->row->digest;
	if (!begin(s, key, init, NULL)) {
		EVP_MD_free(md);
		return 0;
	}
	digest[0].data = (void *)name;
	digest[0].data_size = strlen(name);
	if (!md)
		md = EVP_MD_fetch(s->k.prov->soft, name, NULL);
	s->md = EVP_MD_CTX_new();
	ok = md && s->md && keyed_set(s, digest) && keyed_set(s, params) &&
	     EVP_DigestInit_ex2(s->md, md, NULL);
	EVP_MD_free(md);
	if (!md)
		ERR_raise(ERR_LIB_PROV, PROV_R_INVALID_DIGEST);
	if (ok)
		return 1;
	/* the context cannot be used any more */
	EVP_MD_CTX_free(s->md);
	s->md = NULL;
	return 0;
}

static int digest_sign_init(void *ctx, const char *name, void *key,
			    const OSSL_PARAM params[])
{
	return begin_digest(ctx, name, key, EVP_PKEY_sign_init, params);
}

static int digest_verify_init(void *ctx, const char *name, void *key,
			      const OSSL_PARAM params[])
{
	return begin_digest(ctx, name, key, EVP_PKEY_verify_init, params);
}

/* ---- doing ---- */

static int sign(void *ctx, unsigned char *sig, size_t *siglen, size_t room,
		const unsigned char *tbs, size_t tbslen)
{
	struct signature *s = ctx;

	if (!s->k.soft)
		return 0;
	if (sig && s->row->sign(s->k.key, s->k.soft, sig, siglen, room, tbs,
				tbslen))
		return 1;
	*siglen = room;
	return EVP_PKEY_sign(s->k.soft, sig, siglen, tbs, tbslen) > 0;
}

static int verify(void *ctx, const unsigned char *sig, size_t siglen,
		  const unsigned char *tbs, size_t tbslen)
{
	struct signature *s = ctx;
	bool valid;

	if (!s->k.soft)
		return 0;
	if (s->row->verify(s->k.key, s->k.soft, sig, siglen, tbs, tbslen,
			   &valid))
		return valid;
	/* OpenSSL distinguishes an invalid signature from a wrong one */
	return EVP_PKEY_verify(s->k.soft, sig, siglen, tbs, tbslen);
}

static int recover(void *ctx, unsigned char *out, size_t *outlen, size_t room,
		   const unsigned char *sig, size_t siglen)
{
	struct signature *s = ctx;

	*outlen = room;
	return s->k.soft && EVP_PKEY_verify_recover(s->k.soft, out, outlen, sig,
						  siglen) > 0;
}

static int digest_update(void *ctx, const unsigned char *data, size_t len)
{
	struct signature *s = ctx;

	return s->md && EVP_DigestUpdate(s->md, data, len);
}

static int digest_sign_final(void *ctx, unsigned char *sig, size_t *siglen,
			     size_t room)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	struct signature *s = ctx;
	unsigned int len;

	if (!s->md)
		return 0;
	/* the program asks for the length, and may add data afterwards */
	if (!sig)
		return sign(s, NULL, siglen, room, digest,
			    EVP_MD_CTX_get_size(s->md));
	return EVP_DigestFinal_ex(s->md, digest, &len) &&
	       sign(s, sig, siglen, room, digest, len);
}

static int digest_verify_final(void *ctx, const unsigned char *sig,
			       size_t siglen)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	struct signature *s = ctx;
	unsigned int len;

	if (!s->md || !EVP_DigestFinal_ex(s->md, digest, &len))
		return 0;
	return verify(s, sig, siglen, digest, len);
}

/* ---- parameters ---- */

typedef const OSSL_PARAM *(*question_fn)(const EVP_SIGNATURE *of);

static const OSSL_PARAM *ask(struct provider *prov, const char *name,
			     question_fn question)
{
	EVP_SIGNATURE *own = EVP_SIGNATURE_fetch(prov->soft, name, NULL);
	const OSSL_PARAM *params = own ? question(own) : NULL;

	EVP_SIGNATURE_free(own);
	return params;
}

static int set_by_program(void *ctx, const OSSL_PARAM params[])
{
	struct signature *s = ctx;
	const OSSL_PARAM *p = s->md && params ?
		OSSL_PARAM_locate_const(params, OSSL_SIGNATURE_PARAM_DIGEST) :
		NULL;

	/* the digest has begun; the same name again changes nothing */
	if (p && (p->data_type != OSSL_PARAM_UTF8_STRING ||
		  !EVP_MD_is_a(EVP_MD_CTX_get0_md(s->md), p->data))) {
		ERR_raise(ERR_LIB_PROV, PROV_R_DIGEST_NOT_ALLOWED);
		return 0;
	}
	return keyed_set(s, params);
}

/* Gets the digest, which a context that hashes data has of its own. */

static int get_digest(void *ctx, OSSL_PARAM params[])
{
	struct signature *s = ctx;

	return s->md && EVP_MD_CTX_get_params(s->md, params);
}

static const OSSL_PARAM *gettable_digest(void *ctx)
{
	struct signature *s = ctx;

	return s->md ? EVP_MD_CTX_gettable_params(s->md) : NULL;
}

static int set_digest(void *ctx, const OSSL_PARAM params[])
{
	struct signature *s = ctx;

	return s->md && EVP_MD_CTX_set_params(s->md, params);
}

static const OSSL_PARAM *settable_digest(void *ctx)
{
	struct signature *s = ctx;

	return s->md ? EVP_MD_CTX_settable_params(s->md) : NULL;
}

/* ---- the table ---- */

#define SIGNATURE(id_, name_, ...)					\
static const struct signature_row id_ = { __VA_ARGS__ };		\
static const OSSL_PARAM *id_##_gettable(void *ctx, void *provctx)	\
{									\
	return ask(provctx, name_, EVP_SIGNATURE_gettable_ctx_params);	\
}									\
static const OSSL_PARAM *id_##_settable(void *ctx, void *provctx)	\
{									\
	return ask(provctx, name_, EVP_SIGNATURE_settable_ctx_params);	\
}									\
static void *id_##_new(void *provctx, const char *properties)		\
{									\
	return new_context(provctx, &id_);				\
}									\
static const OSSL_DISPATCH id_##_calls[] = {				\
	{ OSSL_FUNC_SIGNATURE_NEWCTX, (void (*)(void))id_##_new },	\
	{ OSSL_FUNC_SIGNATURE_FREECTX, (void (*)(void))free_context },	\
	{ OSSL_FUNC_SIGNATURE_DUPCTX, (void (*)(void))dup_context },	\
	{ OSSL_FUNC_SIGNATURE_SIGN_INIT, (void (*)(void))sign_init },	\
	{ OSSL_FUNC_SIGNATURE_SIGN, (void (*)(void))sign },		\
	{ OSSL_FUNC_SIGNATURE_VERIFY_INIT, (void (*)(void))verify_init },\
	{ OSSL_FUNC_SIGNATURE_VERIFY, (void (*)(void))verify },		\
	{ OSSL_FUNC_SIGNATURE_DIGEST_SIGN_INIT,				\
	  (void (*)(void))digest_sign_init },				\
	{ OSSL_FUNC_SIGNATURE_DIGEST_SIGN_UPDATE,			\
	  (void (*)(void))digest_update },				\
	{ OSSL_FUNC_SIGNATURE_DIGEST_SIGN_FINAL,			\
	  (void (*)(void))digest_sign_final },				\
	{ OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_INIT,			\
	  (void (*)(void))digest_verify_init },				\
	{ OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_UPDATE,			\
	  (void (*)(void))digest_update },				\
	{ OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_FINAL,			\
	  (void (*)(void))digest_verify_final },			\
	{ OSSL_FUNC_SIGNATURE_GET_CTX_PARAMS,				\
	  (void (*)(void))keyed_get },				\
	{ OSSL_FUNC_SIGNATURE_GETTABLE_CTX_PARAMS,			\
	  (void (*)(void))id_##_gettable },				\
	{ OSSL_FUNC_SIGNATURE_SET_CTX_PARAMS,				\
	  (void (*)(void))set_by_program },				\
	{ OSSL_FUNC_SIGNATURE_SETTABLE_CTX_PARAMS,			\
	  (void (*)(void))id_##_settable },				\
	{ OSSL_FUNC_SIGNATURE_GET_CTX_MD_PARAMS,			\
	  (void (*)(void))get_digest },					\
	{ OSSL_FUNC_SIGNATURE_GETTABLE_CTX_MD_PARAMS,			\
	  (void (*)(void))gettable_digest },				\
	{ OSSL_FUNC_SIGNATURE_SET_CTX_MD_PARAMS,			\
	  (void (*)(void))set_digest },					\
	{ OSSL_FUNC_SIGNATURE_SETTABLE_CTX_MD_PARAMS,			\
	  (void (*)(void))settable_digest },				\
	{ OSSL_FUNC_SIGNATURE_VERIFY_RECOVER_INIT,			\
	  (void (*)(void))recover_init },				\
	{ OSSL_FUNC_SIGNATURE_VERIFY_RECOVER, (void (*)(void))recover },\
	{ 0, NULL }							\
}

SIGNATURE(rsa, "RSA", "SHA2-256", rsa_sign, rsa_verify);
SIGNATURE(ecdsa, "ECDSA", "SHA2-256", ecdsa_sign, ecdsa_verify);

const OSSL_ALGORITHM signature_algorithms[] = {
	{ "RSA:rsaEncryption:1.2.840.113549.1.1.1", "provider=ocf", rsa_calls,
	  NULL },
	{ "ECDSA", "provider=ocf", ecdsa_calls, NULL },
	{ NULL, NULL, NULL, NULL }
};
