// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keys.  They are OpenSSL's, but belong to this provider, so that OpenSSL calls
 * this provider for operations with them.
 */
#include "provider.h"

static struct key *new_key(void *provctx, const char *type)
{
	struct key *key = OPENSSL_zalloc(sizeof(*key));

	if (!key)
		return NULL;
	key->prov = provctx;
	key->type = type;
	atomic_init(&key->refs, 1);
	return key;
}

void key_hold(struct key *key)
{
	atomic_fetch_add(&key->refs, 1);
}

void key_put(struct key *key)
{
	if (!key || atomic_fetch_sub(&key->refs, 1) > 1)
		return;
	EVP_PKEY_free(key->pkey);
	OPENSSL_free(key);
}

static void free_key(void *data)
{
	key_put(data);
}

static int has(const void *data, int selection)
{
	const struct key *key = data;

	/*
	 * OpenSSL also calls this function for a key that has a type and
	 * nothing else
	 */
	if (!key || (selection & OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS &&
		     !key->pkey && strcmp(key->type, "X25519")))
		return 0;
	selection &= OSSL_KEYMGMT_SELECT_KEYPAIR;
	return !(selection & ~key->has);
}

static int match(const void *a, const void *b, int selection)
{
	const struct key *one = a, *other = b;

	if (!one->pkey || !other->pkey)
		return one->pkey == other->pkey;
	if (selection & OSSL_KEYMGMT_SELECT_KEYPAIR)
		return EVP_PKEY_eq(one->pkey, other->pkey) == 1;
	return EVP_PKEY_parameters_eq(one->pkey, other->pkey) == 1;
}

static void *dup_key(const void *data, int selection)
{
	const struct key *key = data;
	struct key *new = new_key(key->prov, key->type);
	OSSL_PARAM *params = NULL;
	EVP_PKEY_CTX *ctx;
	int ok = 1;

	if (!new || !key->pkey)
		return new;
	if (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) {
		new->pkey = EVP_PKEY_dup(key->pkey);
		new->has = key->has;
		ok = !!new->pkey;
	} else if (!strcmp(key->type, "RSA")) {
		/*
		 * an RSA key has no parameters that could be copied without the
		 * key
		 */
		ok = 0;
	} else if (strcmp(key->type, "X25519")) {
		ctx = EVP_PKEY_CTX_new_from_pkey(key->prov->soft, key->pkey,
						 NULL);
		ok = ctx && EVP_PKEY_todata(key->pkey, EVP_PKEY_KEY_PARAMETERS,
					    &params) &&
		     EVP_PKEY_fromdata_init(ctx) > 0 &&
		     EVP_PKEY_fromdata(ctx, &new->pkey, EVP_PKEY_KEY_PARAMETERS,
				       params) > 0;
		OSSL_PARAM_free(params);
		EVP_PKEY_CTX_free(ctx);
	}
	if (ok)
		return new;
	key_put(new);
	return NULL;
}

static int validate(const void *data, int selection, int check)
{
	bool quick = check == OSSL_KEYMGMT_VALIDATE_QUICK_CHECK;
	const struct key *key = data;
	EVP_PKEY_CTX *ctx;
	int ok = 0;

	if (!key->pkey)
		return 0;
	ctx = EVP_PKEY_CTX_new_from_pkey(key->prov->soft, key->pkey, NULL);
	if (!ctx)
		return 0;
	if (!(~selection & OSSL_KEYMGMT_SELECT_KEYPAIR))
		ok = selection & OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS ?
		     EVP_PKEY_check(ctx) : EVP_PKEY_pairwise_check(ctx);
	else if (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY)
		ok = EVP_PKEY_private_check(ctx);
	else if (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY)
		ok = quick ? EVP_PKEY_public_check_quick(ctx) :
			     EVP_PKEY_public_check(ctx);
	else
		ok = quick ? EVP_PKEY_param_check_quick(ctx) :
			     EVP_PKEY_param_check(ctx);
	EVP_PKEY_CTX_free(ctx);
	return ok == 1;
}

/* ---- import and export ---- */

/*
 * Returns which parts of a key are in @params, as EVP_PKEY_fromdata() names
 * them.
 */
static int selection_of(const OSSL_PARAM params[], int selection)
{
	static const char * const secrets[] = {
		OSSL_PKEY_PARAM_PRIV_KEY, OSSL_PKEY_PARAM_RSA_D,
	};
	static const char * const publics[] = {
		OSSL_PKEY_PARAM_PUB_KEY, OSSL_PKEY_PARAM_RSA_N,
	};
	int found = 0, i;

	for (i = 0; i < 2; i++) {
		if (OSSL_PARAM_locate_const(params, secrets[i]))
			found |= OSSL_KEYMGMT_SELECT_PRIVATE_KEY;
		if (OSSL_PARAM_locate_const(params, publics[i]))
			found |= OSSL_KEYMGMT_SELECT_PUBLIC_KEY;
	}
	return found & selection;
}

static int import(void *data, int selection, const OSSL_PARAM params[])
{
	struct key *key = data;
	int has = selection_of(params, selection), as, ok;
	EVP_PKEY_CTX *ctx;

	as = has & OSSL_KEYMGMT_SELECT_PRIVATE_KEY ? EVP_PKEY_KEYPAIR :
	     has ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEY_PARAMETERS;
	ctx = EVP_PKEY_CTX_new_from_name(key->prov->soft, key->type, NULL);
	EVP_PKEY_free(key->pkey);
	key->pkey = NULL;
	ok = ctx && EVP_PKEY_fromdata_init(ctx) > 0 &&
	     EVP_PKEY_fromdata(ctx, &key->pkey, as,
			       (OSSL_PARAM *)params) > 0;
	EVP_PKEY_CTX_free(ctx);
	/*
	 * for some types OpenSSL computes the public part from the private one
	 */
	if (ok && has & OSSL_KEYMGMT_SELECT_PRIVATE_KEY)
		has = OSSL_KEYMGMT_SELECT_KEYPAIR;
	key->has = ok ? has : 0;
	return ok;
}

static void free_wiped(OSSL_PARAM *params)
{
	OSSL_PARAM *p;

	for (p = params; p->key; p++)
		if (p->data)
			OPENSSL_cleanse(p->data, p->data_size);
	OSSL_PARAM_free(params);
}

static int export(void *data, int selection, OSSL_CALLBACK *callback, void *arg)
{
	struct key *key = data;
	OSSL_PARAM *params = NULL;
	int ok;

	if (!key->pkey || !EVP_PKEY_todata(key->pkey, selection, &params))
		return 0;
	ok = callback(params, arg);
	free_wiped(params);
	return ok;
}

#define BN(name_)	OSSL_PARAM_BN(name_, NULL, 0)
#define TEXT(name_)	OSSL_PARAM_utf8_string(name_, NULL, 0)
#define OCTETS(name_)	OSSL_PARAM_octet_string(name_, NULL, 0)

/*
 * Returns the parameters of all types, because OpenSSL asks before there is a
 * key.
 */
static const OSSL_PARAM *types(int selection)
{
	static const OSSL_PARAM params[] = {
		BN(OSSL_PKEY_PARAM_RSA_N), BN(OSSL_PKEY_PARAM_RSA_E),
		BN(OSSL_PKEY_PARAM_RSA_D), BN(OSSL_PKEY_PARAM_RSA_FACTOR1),
		BN(OSSL_PKEY_PARAM_RSA_FACTOR2),
		BN(OSSL_PKEY_PARAM_RSA_EXPONENT1),
		BN(OSSL_PKEY_PARAM_RSA_EXPONENT2),
		BN(OSSL_PKEY_PARAM_RSA_COEFFICIENT1),
		TEXT(OSSL_PKEY_PARAM_GROUP_NAME),
		TEXT(OSSL_PKEY_PARAM_EC_ENCODING),
		TEXT(OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT),
		TEXT(OSSL_PKEY_PARAM_EC_FIELD_TYPE),
		BN(OSSL_PKEY_PARAM_EC_P), BN(OSSL_PKEY_PARAM_EC_A),
		BN(OSSL_PKEY_PARAM_EC_B), OCTETS(OSSL_PKEY_PARAM_EC_GENERATOR),
		BN(OSSL_PKEY_PARAM_EC_ORDER), BN(OSSL_PKEY_PARAM_EC_COFACTOR),
		OCTETS(OSSL_PKEY_PARAM_EC_SEED),
		BN(OSSL_PKEY_PARAM_FFC_P), BN(OSSL_PKEY_PARAM_FFC_Q),
		BN(OSSL_PKEY_PARAM_FFC_G),
		OSSL_PARAM_int(OSSL_PKEY_PARAM_DH_PRIV_LEN, NULL),
		OCTETS(OSSL_PKEY_PARAM_PUB_KEY),
		BN(OSSL_PKEY_PARAM_PRIV_KEY),
		OSSL_PARAM_END
	};

	return params;
}

/* ---- parameters ---- */

/*
 * Gets the sizes of a key that has a type and nothing else. libssl first makes
 * such a key for its peer.
 */
static int get_x25519_params(OSSL_PARAM params[])
{
	static const struct {
		const char	*name;
		int		value;
	} all[] = {
		{ OSSL_PKEY_PARAM_BITS, 253 },
		{ OSSL_PKEY_PARAM_SECURITY_BITS, 128 },
		{ OSSL_PKEY_PARAM_MAX_SIZE, 32 },
	};
	OSSL_PARAM *p;
	size_t i;

	for (i = 0; i < COUNT(all); i++) {
		p = OSSL_PARAM_locate(params, all[i].name);
		if (p && !OSSL_PARAM_set_int(p, all[i].value))
			return 0;
	}
	return 1;
}

static int get_params(void *data, OSSL_PARAM params[])
{
	struct key *key = data;

	if (key->pkey)
		return EVP_PKEY_get_params(key->pkey, params);
	return strcmp(key->type, "X25519") || get_x25519_params(params);
}

/* Makes a key without parameters when its public part is set. */
static int make_of_public(struct key *key, const OSSL_PARAM *p)
{
	const void *data;
	size_t len;

	if (!OSSL_PARAM_get_octet_string_ptr(p, &data, &len))
		return 0;
	key->pkey = EVP_PKEY_new_raw_public_key_ex(key->prov->soft, key->type,
						   NULL, data, len);
	return !!key->pkey;
}

static int set_params(void *data, const OSSL_PARAM params[])
{
	struct key *key = data;
	const OSSL_PARAM *p;
	int ok;

	p = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY);
	if (!key->pkey)
		ok = p && make_of_public(key, p);
	else
		ok = EVP_PKEY_set_params(key->pkey, (OSSL_PARAM *)params);
	/* only for X25519 does OpenSSL remove the private part then */
	if (ok && p && !strcmp(key->type, "X25519"))
		key->has = 0;
	if (ok && p)
		key->has |= OSSL_KEYMGMT_SELECT_PUBLIC_KEY;
	return ok;
}

/* ---- generating keys ---- */

/**
 * struct making - a key that is to be made
 * @prov: the provider
 * @type: the type of the key
 * @selection: OSSL_KEYMGMT_SELECT_* of the parts to generate
 * @ctx: the context of OpenSSL's own code
 * @given: the parameters of each call that set some, in order
 * @ngiven: number of entries of @given
 */
struct making {
	struct provider	*prov;
	const char	*type;
	int		selection;
	EVP_PKEY_CTX	*ctx;
	OSSL_PARAM	**given;
	size_t		ngiven;
};

static void gen_cleanup(void *gen)
{
	struct making *m = gen;

	if (!m)
		return;
	EVP_PKEY_CTX_free(m->ctx);
	while (m->ngiven)
		OSSL_PARAM_free(m->given[--m->ngiven]);
	OPENSSL_free(m->given);
	OPENSSL_free(m);
}

static int gen_start(struct making *m)
{
	if (m->selection & OSSL_KEYMGMT_SELECT_KEYPAIR)
		return EVP_PKEY_keygen_init(m->ctx) > 0;
	return EVP_PKEY_paramgen_init(m->ctx) > 0;
}

static bool remember(struct making *m, const OSSL_PARAM params[])
{
	OSSL_PARAM **given = OPENSSL_realloc(m->given, (m->ngiven + 1) *
						       sizeof(*given));

	if (!given)
		return false;
	m->given = given;
	given[m->ngiven] = OSSL_PARAM_dup(params);
	return given[m->ngiven] && ++m->ngiven;
}

static int gen_set_params(void *gen, const OSSL_PARAM params[])
{
	struct making *m = gen;

	return !params || (EVP_PKEY_CTX_set_params(m->ctx, params) > 0 &&
			   remember(m, params));
}

static void *gen_init(void *provctx, const char *type, int selection,
		      const OSSL_PARAM params[])
{
	struct making *m = OPENSSL_zalloc(sizeof(*m));

	if (!m)
		return NULL;
	m->prov = provctx;
	m->type = type;
	m->selection = selection;
	m->ctx = EVP_PKEY_CTX_new_from_name(m->prov->soft, type, NULL);
	if (m->ctx && gen_start(m) && gen_set_params(m, params))
		return m;
	gen_cleanup(m);
	return NULL;
}

static int gen_set_template(void *gen, void *data)
{
	struct making *m = gen;
	struct key *key = data;
	size_t i;

	/*
	 * an X25519 key may be without material; it has no parameters to copy
	 */
	if (!key || !key->pkey)
		return 1;
	EVP_PKEY_CTX_free(m->ctx);
	m->ctx = EVP_PKEY_CTX_new_from_pkey(m->prov->soft, key->pkey, NULL);
	if (!m->ctx || !gen_start(m))
		return 0;
	for (i = 0; i < m->ngiven; i++)
		if (EVP_PKEY_CTX_set_params(m->ctx, m->given[i]) <= 0)
			return 0;
	return 1;
}

/**
 * struct asking - OpenSSL's callback, for a context of our own
 * @callback: the program's
 * @arg: its argument
 */
struct asking {
	OSSL_CALLBACK	*callback;
	void		*arg;
};

static int tell_progress(EVP_PKEY_CTX *ctx)
{
	struct asking *a = EVP_PKEY_CTX_get_app_data(ctx);
	int p = EVP_PKEY_CTX_get_keygen_info(ctx, 0);
	int n = EVP_PKEY_CTX_get_keygen_info(ctx, 1);
	OSSL_PARAM params[] = {
		OSSL_PARAM_int(OSSL_GEN_PARAM_POTENTIAL, &p),
		OSSL_PARAM_int(OSSL_GEN_PARAM_ITERATION, &n),
		OSSL_PARAM_END
	};

	return a->callback ? a->callback(params, a->arg) : 1;
}

static void *gen(void *making, OSSL_CALLBACK *callback, void *arg)
{
	struct asking asking = { callback, arg };
	struct making *m = making;
	struct key *key = new_key(m->prov, m->type);

	if (!key)
		return NULL;
	EVP_PKEY_CTX_set_app_data(m->ctx, &asking);
	EVP_PKEY_CTX_set_cb(m->ctx, tell_progress);
	if (EVP_PKEY_generate(m->ctx, &key->pkey) > 0) {
		key->has = m->selection & OSSL_KEYMGMT_SELECT_KEYPAIR;
		return key;
	}
	key_put(key);
	return NULL;
}

/* ---- which parameters exist: those of OpenSSL's own keys ---- */

typedef const OSSL_PARAM *(*question_fn)(const EVP_KEYMGMT *of);

static const OSSL_PARAM *ask(struct provider *prov, const char *type,
			     question_fn question)
{
	EVP_KEYMGMT *own = EVP_KEYMGMT_fetch(prov->soft, type, NULL);
	const OSSL_PARAM *params = own ? question(own) : NULL;

	EVP_KEYMGMT_free(own);
	return params;
}

/* ---- the table ---- */

#define KEY(id_, type_, signature_, exchange_)				\
static void *id_##_new(void *provctx)					\
{									\
	return new_key(provctx, type_);					\
}									\
static void *id_##_gen_init(void *provctx, int selection,		\
			    const OSSL_PARAM params[])			\
{									\
	return gen_init(provctx, type_, selection, params);		\
}									\
static const OSSL_PARAM *id_##_gettable(void *provctx)			\
{									\
	return ask(provctx, type_, EVP_KEYMGMT_gettable_params);	\
}									\
static const OSSL_PARAM *id_##_settable(void *provctx)			\
{									\
	return ask(provctx, type_, EVP_KEYMGMT_settable_params);	\
}									\
static const OSSL_PARAM *id_##_gen_settable(void *gen, void *provctx)	\
{									\
	return ask(provctx, type_, EVP_KEYMGMT_gen_settable_params);	\
}									\
static const char *id_##_operation(int operation)			\
{									\
	return operation == OSSL_OP_SIGNATURE ? signature_ : exchange_;	\
}									\
static const OSSL_DISPATCH id_##_calls[] = {				\
	{ OSSL_FUNC_KEYMGMT_NEW, (void (*)(void))id_##_new },		\
	{ OSSL_FUNC_KEYMGMT_FREE, (void (*)(void))free_key },		\
	{ OSSL_FUNC_KEYMGMT_HAS, (void (*)(void))has },			\
	{ OSSL_FUNC_KEYMGMT_MATCH, (void (*)(void))match },		\
	{ OSSL_FUNC_KEYMGMT_VALIDATE, (void (*)(void))validate },	\
	{ OSSL_FUNC_KEYMGMT_DUP, (void (*)(void))dup_key },		\
	{ OSSL_FUNC_KEYMGMT_IMPORT, (void (*)(void))import },		\
	{ OSSL_FUNC_KEYMGMT_IMPORT_TYPES, (void (*)(void))types },	\
	{ OSSL_FUNC_KEYMGMT_EXPORT, (void (*)(void))export },		\
	{ OSSL_FUNC_KEYMGMT_EXPORT_TYPES, (void (*)(void))types },	\
	{ OSSL_FUNC_KEYMGMT_GET_PARAMS, (void (*)(void))get_params },	\
	{ OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS,				\
	  (void (*)(void))id_##_gettable },				\
	{ OSSL_FUNC_KEYMGMT_SET_PARAMS, (void (*)(void))set_params },	\
	{ OSSL_FUNC_KEYMGMT_SETTABLE_PARAMS,				\
	  (void (*)(void))id_##_settable },				\
	{ OSSL_FUNC_KEYMGMT_GEN_INIT, (void (*)(void))id_##_gen_init },	\
	{ OSSL_FUNC_KEYMGMT_GEN_SET_TEMPLATE,				\
	  (void (*)(void))gen_set_template },				\
	{ OSSL_FUNC_KEYMGMT_GEN_SET_PARAMS,				\
	  (void (*)(void))gen_set_params },				\
	{ OSSL_FUNC_KEYMGMT_GEN_SETTABLE_PARAMS,			\
	  (void (*)(void))id_##_gen_settable },				\
	{ OSSL_FUNC_KEYMGMT_GEN, (void (*)(void))gen },			\
	{ OSSL_FUNC_KEYMGMT_GEN_CLEANUP, (void (*)(void))gen_cleanup },	\
	{ OSSL_FUNC_KEYMGMT_QUERY_OPERATION_NAME,			\
	  (void (*)(void))id_##_operation },				\
	{ 0, NULL }							\
}

KEY(rsa, "RSA", "RSA", "RSA");
KEY(ec, "EC", "ECDSA", "ECDH");
KEY(x25519, "X25519", NULL, "X25519");
KEY(dh, "DH", NULL, "DH");

#define ROW(names_, id_)	{ names_, "provider=ocf", id_##_calls, NULL }

const OSSL_ALGORITHM key_algorithms[] = {
	ROW("RSA:rsaEncryption:1.2.840.113549.1.1.1", rsa),
	ROW("EC:id-ecPublicKey:1.2.840.10045.2.1", ec),
	ROW("X25519:1.3.101.110", x25519),
	ROW("DH:dhKeyAgreement:1.2.840.113549.1.3.1", dh),
	{ NULL, NULL, NULL, NULL }
};
