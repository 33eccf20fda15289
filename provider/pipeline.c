// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pipelines: several messages with one key, processed by the same call (OpenSSL
 * 3.5's EVP_CipherPipelineUpdate()).
 *
 * Each message has a context of its own.  Those messages that the kernel should
 * do go there in one system call, so that cards and the CPU share them.
 */
#include <errno.h>

#include "provider.h"

/* Frees all contexts of the pipeline. */
void pipes_end(struct pipes *p)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		p->kind->free(p->each[i]);
	OPENSSL_free(p->each);
	p->each = NULL;
	p->count = 0;
}

static int add(struct pipes *p, void *one)
{
	if (one)
		p->each[p->count++] = one;
	return !!one;
}

/*
 * @p holds pointers copied from another context; replaces them with copies of
 * their own.  If that fails, @p is empty, and the function returns 0.
 */
int pipes_dup(struct pipes *p)
{
	struct pipes from = *p;
	size_t i;
	int ok;

	p->count = 0;
	p->each = NULL;
	if (!from.count)
		return 1;
	p->each = OPENSSL_zalloc(PIPES_MAX * sizeof(*p->each));
	ok = !!p->each;
	for (i = 0; ok && i < from.count; i++)
		ok = add(p, p->kind->dup(from.each[i]));
	if (!ok)
		pipes_end(p);
	return ok;
}

/* ---- what OpenSSL calls ---- */

static int begin(struct pipes *p, pipe_init_fn init, const unsigned char *key,
		 size_t keylen, size_t count, const unsigned char **iv,
		 size_t ivlen, const OSSL_PARAM params[])
{
	size_t i;

	if (!count || count > PIPES_MAX)
		return 0;
	if (count != p->count)
		pipes_end(p);
	if (!p->each)
		p->each = OPENSSL_zalloc(PIPES_MAX * sizeof(*p->each));
	for (i = 0; p->each && i < count; i++)
		if ((i == p->count && !add(p, p->kind->make(p))) ||
		    !init(p->each[i], key, keylen, iv ? iv[i] : NULL,
			  iv ? ivlen : 0, params))
			return 0;
	return !!p->each;
}

int pipes_encrypt_init(void *ctx, const unsigned char *key, size_t keylen,
		       size_t count, const unsigned char **iv, size_t ivlen,
		       const OSSL_PARAM params[])
{
	struct pipes *p = ctx;

	return begin(p, p->kind->encrypt_init, key, keylen, count, iv, ivlen,
		     params);
}

int pipes_decrypt_init(void *ctx, const unsigned char *key, size_t keylen,
		       size_t count, const unsigned char **iv, size_t ivlen,
		       const OSSL_PARAM params[])
{
	struct pipes *p = ctx;

	return begin(p, p->kind->decrypt_init, key, keylen, count, iv, ivlen,
		     params);
}

/*
 * The kernel does its messages first, all at once; then OpenSSL's own code does
 * the others.  Without @out, the data are associated data.
 */
int pipes_update(void *ctx, size_t count, unsigned char **out, size_t *outl,
		 const size_t *outsize, const unsigned char **in,
		 const size_t *inl)
{
	struct ocf_command commands[PIPES_MAX];
	struct ocf_result results[PIPES_MAX];
	size_t of[PIPES_MAX], n = 0, i, j = 0;
	struct pipes *p = ctx;
	int ok = 1;

	if (!count || count != p->count)
		return 0;
	for (i = 0; i < count; i++)
		if (out && out[i] && in[i] &&
		    p->kind->offer(p->each[i], out[i], outsize[i], in[i],
				   inl[i], &commands[n]))
			of[n++] = i;
	if (n)
		session_run_many(p->kind->session(p->each[0]), commands,
				 results, n);
	for (i = 0; i < count; i++)
		if (j < n && of[j] == i)
			ok &= p->kind->take(p->each[i], results[j++].res,
					    out[i], &outl[i], in[i], inl[i]);
		else
			ok &= p->kind->update(p->each[i], out ? out[i] : NULL,
					      &outl[i],
					      outsize ? outsize[i] : 0, in[i],
					      inl[i]);
	return ok;
}

int pipes_final(void *ctx, size_t count, unsigned char **out, size_t *outl,
		const size_t *outsize)
{
	struct pipes *p = ctx;
	int ok = count && count == p->count;
	size_t i;

	for (i = 0; ok && i < count; i++)
		ok = p->kind->final(p->each[i], out ? out[i] : NULL, &outl[i],
				    outsize ? outsize[i] : 0);
	return ok;
}

/* ---- parameters ---- */

/* Sets the same parameters in each context. */
int pipes_set(struct pipes *p, const OSSL_PARAM params[],
	      int (*set)(void *ctx, const OSSL_PARAM params[]))
{
	size_t i;
	int ok = 1;

	for (i = 0; ok && i < p->count; i++)
		ok = set(p->each[i], params);
	return ok;
}

/*
 * Sets or gets the tags: the parameter is an array with a pointer for each
 * message.
 */
int pipes_tags(struct pipes *p, const OSSL_PARAM params[],
	       int (*set)(void *ctx, OSSL_PARAM params[]))
{
	const OSSL_PARAM *tags = OSSL_PARAM_locate_const(params, PIPELINE_TAG);
	OSSL_PARAM one[] = {
		OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, NULL, 0),
		OSSL_PARAM_END
	};
	const void *where = NULL;
	size_t i, len;
	int ok = 1;

	if (!tags)
		return 1;
	if (!OSSL_PARAM_get_octet_ptr(tags, &where, &len) || !where)
		return 0;
	for (i = 0; ok && i < p->count; i++) {
		one[0].data = ((unsigned char *const *)where)[i];
		one[0].data_size = len;
		ok = set(p->each[i], one);
	}
	return ok;
}
