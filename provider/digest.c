// SPDX-License-Identifier: BSD-2-Clause
/*
 * Digests.  Cards work on whole messages.  If there is a card, data are kept
 * until the end of the message.  If there are too many, OpenSSL's digest takes
 * them.
 */
#include "provider.h"

const struct digest_row digest_rows[DIGESTS] = {
	{ "SHA1", "sha1", 20 },
	{ "SHA2-224", "sha224", 28 },
	{ "SHA2-256", "sha256", 32 },
	{ "SHA2-384", "sha384", 48 },
	{ "SHA2-512", "sha512", 64 },
	{ "SHA3-224", "sha3-224", 28 },
	{ "SHA3-256", "sha3-256", 32 },
	{ "SHA3-384", "sha3-384", 48 },
	{ "SHA3-512", "sha3-512", 64 },
};

/**
 * digest_by_name() - the row of a digest
 * @prov: the provider
 * @name: any of its names
 *
 * Return: the row, or NULL.
 */
const struct digest_row *digest_by_name(struct provider *prov, const char *name)
{
	EVP_MD *md = EVP_MD_fetch(prov->soft, name, NULL);
	const struct digest_row *found = NULL;
	size_t i;

	for (i = 0; md && !found && i < DIGESTS; i++)
		if (EVP_MD_is_a(md, digest_rows[i].name))
			found = &digest_rows[i];
	EVP_MD_free(md);
	return found;
}

/**
 * digest_block() - the block of a digest
 * @row: the algorithm
 *
 * Return: bytes (FIPS 180-4, figure 1; FIPS 202, table 3).
 */
size_t digest_block(const struct digest_row *row)
{
	if (!strncmp(row->kernel, "sha3-", 5))
		return 200 - 2 * row->size;
	return row->size > 32 ? 128 : 64;
}

/* ---- data that are kept ---- */

bool gather(struct gathered *g, const void *data, size_t len)
{
	unsigned char *more;
	size_t room;

	if (len > GATHER_MAX || g->len + len > GATHER_MAX)
		return false;
	if (g->len + len > g->room) {
		room = 2 * (g->len + len);
		more = OPENSSL_clear_realloc(g->data, g->room, room);
		if (!more)
			return false;
		g->data = more;
		g->room = room;
	}
	if (len)
		memcpy(g->data + g->len, data, len);
	g->len += len;
	return true;
}

bool gather_dup(struct gathered *to, const struct gathered *from)
{
	*to = (struct gathered){};
	return gather(to, from->data, from->len);
}

void gather_free(struct gathered *g)
{
	OPENSSL_clear_free(g->data, g->room);
	*g = (struct gathered){};
}

/* ---- contexts ---- */

/**
 * struct digest - a context
 * @row: the algorithm
 * @soft: the context of OpenSSL's own code
 * @md: the algorithm of @soft
 * @ses: the session of /dev/crypto
 * @own: @soft has been given all data so far, and @data has none
 * @data: the data so far, unless @own
 */
struct digest {
	const struct digest_row	*row;
	EVP_MD_CTX		*soft;
	EVP_MD			*md;
	struct session		ses;
	bool			own;
	struct gathered		data;
};

static void describe(const void *owner, struct ocf_session_open *params)
{
	const struct digest *d = owner;

	params->mode = OCF_MODE_DIGEST;
	strcpy(params->mac, d->row->kernel);
}

static void free_context(void *ctx)
{
	struct digest *d = ctx;

	if (!d)
		return;
	session_end(&d->ses);
	EVP_MD_CTX_free(d->soft);
	EVP_MD_free(d->md);
	gather_free(&d->data);
	OPENSSL_free(d);
}

static void *new_context(void *provctx, const struct digest_row *row)
{
	struct digest *d = OPENSSL_zalloc(sizeof(*d));
	struct provider *prov = provctx;

	if (!d)
		return NULL;
	d->row = row;
	d->ses = (struct session){
		.prov = prov, .crossing = CROSSING_DIGEST + (row - digest_rows),
		.describe = describe, .owner = d,
		/* libcrypto hashes certificates while it holds a lock */
		.never_pauses = !strcmp(row->kernel, "sha1"),
	};
	d->md = EVP_MD_fetch(prov->soft, row->name, NULL);
	d->soft = EVP_MD_CTX_new();
	if (d->md && d->soft)
		return d;
	free_context(d);
	return NULL;
}

static void *dup_context(void *ctx)
{
	struct digest *d = ctx, *new = OPENSSL_zalloc(sizeof(*new));

	if (!new)
		return NULL;
	*new = *d;
	new->ses.id = 0;
	new->ses.owner = new;
	new->data = (struct gathered){};
	EVP_MD_up_ref(new->md);
	new->soft = EVP_MD_CTX_new();
	if (new->soft && gather_dup(&new->data, &d->data) &&
	    (!d->own || EVP_MD_CTX_copy_ex(new->soft, d->soft)))
		return new;
	free_context(new);
	return NULL;
}

/* ---- calls ---- */

/* Passes the data that were kept to OpenSSL's digest. */
static int give_away(struct digest *d)
{
	int ok = EVP_DigestInit_ex2(d->soft, d->md, NULL) &&
		 EVP_DigestUpdate(d->soft, d->data.data, d->data.len);

	d->own = true;
	gather_free(&d->data);
	return ok;
}

/* SSL 3.0's digests contain a secret, and are left to OpenSSL. */

static const OSSL_PARAM *settable(const struct digest_row *row)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_octet_string(OSSL_DIGEST_PARAM_SSL3_MS, NULL, 0),
		OSSL_PARAM_END
	};

	return row == digest_rows ? params : params + 1;
}

static int set_context(void *ctx, const OSSL_PARAM params[])
{
	struct digest *d = ctx;

	if (!params ||
	    !OSSL_PARAM_locate_const(params, OSSL_DIGEST_PARAM_SSL3_MS))
		return 1;
	return (d->own || give_away(d)) &&
	       EVP_MD_CTX_set_params(d->soft, params);
}

static int init(void *ctx, const OSSL_PARAM params[])
{
	struct digest *d = ctx;

	gather_free(&d->data);
	/* without a card nothing is kept */
	d->own = !session_is_worth(&d->ses, GATHER_MAX);
	return (!d->own || EVP_DigestInit_ex2(d->soft, d->md, NULL)) &&
	       set_context(d, params);
}

static int update(void *ctx, const unsigned char *in, size_t len)
{
	struct digest *d = ctx;

	if (!d->own && gather(&d->data, in, len))
		return 1;
	if (!d->own && !give_away(d))
		return 0;
	return EVP_DigestUpdate(d->soft, in, len);
}

static int final(void *ctx, unsigned char *out, size_t *outl, size_t outsize)
{
	struct digest *d = ctx;
	struct ocf_command command = {
		.src = addr(d->data.data), .len = d->data.len,
		.tag = addr(out),
	};

	if (outsize < d->row->size)
		return 0;
	*outl = d->row->size;
	if (!d->own && session_is_worth(&d->ses, d->data.len) &&
	    session_run(&d->ses, &command) == (int)d->row->size) {
		gather_free(&d->data);
		return 1;
	}
	session_left(&d->ses);
	return (d->own || give_away(d)) &&
	       EVP_DigestFinal_ex(d->soft, out, NULL);
}

static int get_row(OSSL_PARAM params[], const struct digest_row *row)
{
	OSSL_PARAM *p;

	p = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_BLOCK_SIZE);
	if (p && !OSSL_PARAM_set_size_t(p, digest_block(row)))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_SIZE);
	if (p && !OSSL_PARAM_set_size_t(p, row->size))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_XOF);
	if (p && !OSSL_PARAM_set_int(p, 0))
		return 0;
	p = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_ALGID_ABSENT);
	return !p || OSSL_PARAM_set_int(p, 1);
}

static const OSSL_PARAM *gettable(void *provctx)
{
	static const OSSL_PARAM params[] = {
		OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_BLOCK_SIZE, NULL),
		OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_SIZE, NULL),
		OSSL_PARAM_int(OSSL_DIGEST_PARAM_XOF, NULL),
		OSSL_PARAM_int(OSSL_DIGEST_PARAM_ALGID_ABSENT, NULL),
		OSSL_PARAM_END
	};

	return params;
}

/* ---- the table ---- */

#define DIGEST(n_)							\
static void *new_##n_(void *provctx)					\
{									\
	return new_context(provctx, &digest_rows[n_]);			\
}									\
static int get_##n_(OSSL_PARAM params[])				\
{									\
	return get_row(params, &digest_rows[n_]);			\
}									\
static const OSSL_PARAM *settable_##n_(void *ctx, void *provctx)	\
{									\
	return settable(&digest_rows[n_]);				\
}									\
static const OSSL_DISPATCH calls_##n_[] = {				\
	{ OSSL_FUNC_DIGEST_NEWCTX, (void (*)(void))new_##n_ },		\
	{ OSSL_FUNC_DIGEST_FREECTX, (void (*)(void))free_context },	\
	{ OSSL_FUNC_DIGEST_DUPCTX, (void (*)(void))dup_context },	\
	{ OSSL_FUNC_DIGEST_INIT, (void (*)(void))init },		\
	{ OSSL_FUNC_DIGEST_UPDATE, (void (*)(void))update },		\
	{ OSSL_FUNC_DIGEST_FINAL, (void (*)(void))final },		\
	{ OSSL_FUNC_DIGEST_SET_CTX_PARAMS,				\
	  (void (*)(void))set_context },				\
	{ OSSL_FUNC_DIGEST_SETTABLE_CTX_PARAMS,				\
	  (void (*)(void))settable_##n_ },				\
	{ OSSL_FUNC_DIGEST_GET_PARAMS, (void (*)(void))get_##n_ },	\
	{ OSSL_FUNC_DIGEST_GETTABLE_PARAMS, (void (*)(void))gettable },	\
	{ 0, NULL }							\
}

DIGEST(0);
DIGEST(1);
DIGEST(2);
DIGEST(3);
DIGEST(4);
DIGEST(5);
DIGEST(6);
DIGEST(7);
DIGEST(8);

#define ROW(names_, n_)	{ names_, "provider=ocf", calls_##n_, NULL }
#define OID(n_)		"2.16.840.1.101.3.4.2." #n_

const OSSL_ALGORITHM digest_algorithms[] = {
	ROW("SHA1:SHA-1:SSL3-SHA1:1.3.14.3.2.26", 0),
	ROW("SHA2-224:SHA-224:SHA224:" OID(4), 1),
	ROW("SHA2-256:SHA-256:SHA256:" OID(1), 2),
	ROW("SHA2-384:SHA-384:SHA384:" OID(2), 3),
	ROW("SHA2-512:SHA-512:SHA512:" OID(3), 4),
	ROW("SHA3-224:" OID(7), 5),
	ROW("SHA3-256:" OID(8), 6),
	ROW("SHA3-384:" OID(9), 7),
	ROW("SHA3-512:" OID(10), 8),
	{ NULL, NULL, NULL, NULL }
};
