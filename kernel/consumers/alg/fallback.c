// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own implementation does two kinds of requests in the submitter's
 * context.  One is small requests: the path through the core would cost more
 * than the work.  The other is what no device does (XTS that ends inside a
 * block).
 *
 * It is the implementation that the user would have had without us, and may
 * itself be asynchronous where it cannot use the vector registers.
 */
#include "alg.h"

/**
 * alg_check_fallback() - whether an implementation may be a fallback
 * @alg: the implementation
 * @reqsize: bytes that it adds to each request of the crypto API
 * @room: bytes that there are for these
 *
 * Another implementation of the same name may have replaced the one that was
 * looked for.
 *
 * Context: any.
 * Return: 0, or -ENOENT.
 */
int alg_check_fallback(const struct crypto_alg *alg, unsigned int reqsize,
		       unsigned int room)
{
	return alg->cra_flags & ALG_FALLBACK_MASK || reqsize > room ?
		-ENOENT : 0;
}

static void end(struct alg_fallback_request *f, int err)
{
	if (unlikely(err && f->counted))
		ocf_cpu_failed(f->key->session, f->counted);
	alg_key_put(f->key);
}

/**
 * alg_fallback_done() - a fallback's callback
 * @data: the request
 * @err: its result; -EINPROGRESS: it has left the fallback's backlog
 *
 * Context: BH is off.
 */
void alg_fallback_done(void *data, int err)
{
	struct alg_fallback_request *f = data;

	if (err != -EINPROGRESS)
		end(f, err);
	crypto_request_complete(f->base, err);
}

/**
 * alg_fallback_end() - end a request when the fallback has returned
 * @f: the request
 * @err: what it returned
 *
 * Context: process or BH.
 * Return: @err; the callback comes if it is -EINPROGRESS or -EBUSY.
 */
int alg_fallback_end(struct alg_fallback_request *f, int err)
{
	if (likely(err != -EINPROGRESS && err != -EBUSY))
		end(f, err);
	return err;
}
