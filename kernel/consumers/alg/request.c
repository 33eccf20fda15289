// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: from the crypto API's to the core's and back.
 */
#include <crypto/scatterwalk.h>

#include "alg.h"

/* The core's callback; BH is off. */
static void request_done(struct ocf_request *req, int err)
{
	struct alg_request *r = container_of(req, struct alg_request, req);

	if (!err && r->iv)
		memcpy(r->iv, req->iv, r->ivlen);
	if (r->finish)
		r->finish(r, err);
	r->err = err;
	/*
	 * pairs with alg_submit(): whichever of the two comes last reports the
	 * result
	 */
	if (atomic_xchg(&r->state, ALG_DONE) == ALG_SUBMITTED)
		crypto_request_complete(r->base, err);
}

/**
 * alg_prepare() - begin a request
 * @r: the request
 * @tfm: its transform
 * @key: its key, on which the request takes a reference
 * @base: the crypto API's request
 * @op: direction
 *
 * The caller fills in the other fields of @r->req, and calls alg_submit().
 *
 * Context: any.
 */
void alg_prepare(struct alg_request *r, struct alg_tfm *tfm,
		 struct alg_key *key, struct crypto_async_request *base,
		 enum ocf_op op)
{
	ocf_request_init(&r->req, key->session);
	r->req.op = op;
	r->req.done = request_done;
	r->req.flags = OCF_REQ_INLINE;
	if (base->flags & CRYPTO_TFM_REQ_MAY_SLEEP)
		r->req.flags |= OCF_REQ_MAY_SLEEP;
	r->base = base;
	r->tfm = tfm;
	r->key = key;
	r->authsize = key->authsize;
	r->iv = NULL;
	r->finish = NULL;
	atomic_set(&r->state, ALG_SUBMITTING);
}

/**
 * alg_put_before() - put bytes in front of a scatterlist
 * @to: three entries, which are filled in
 * @aad: the bytes
 * @len: of them
 * @sg: the scatterlist
 * @skip: bytes of it to leave out at its beginning
 *
 * Context: any.
 */
void alg_put_before(struct scatterlist *to, u8 *aad, unsigned int len,
		    struct scatterlist *sg, unsigned int skip)
{
	struct scatterlist *rest;

	sg_init_table(to, 3);
	sg_set_buf(to, aad, len);
	rest = scatterwalk_ffwd(to + 1, sg, skip);
	if (rest != to + 1)
		sg_chain(to, 2, rest);
}

/**
 * alg_refuse() - end a request that has not been submitted
 * @r: the request
 * @err: why
 *
 * Context: process or BH.
 * Return: @err.
 */
int alg_refuse(struct alg_request *r, int err)
{
	if (r->finish)
		r->finish(r, err);
	return err;
}

static bool may_wait(const struct alg_request *r)
{
	return r->base->flags & CRYPTO_TFM_REQ_MAY_BACKLOG;
}

/**
 * alg_submit() - submit a request to the core
 * @r: a request that alg_prepare() has begun.  Its reference to the key is
 *	dropped here, unless the request waits
 *
 * Context: process or BH.
 * Return: the result; -EINPROGRESS: the callback reports the result; -EBUSY:
 * the callback first reports -EINPROGRESS, and then the result; -ENOSPC: there
 * is no room, and the caller does not wait for it; an error of ocf_submit().
 */
int alg_submit(struct alg_request *r)
{
	struct alg_key *key = r->key;
	int err = -EBUSY;

	/*
	 * A request that may wait does not overtake waiting ones of its
	 * transform.  Pairs with leave_backlog(): if none is counted as
	 * waiting, all that waited have been submitted.
	 */
	if (likely(!smp_load_acquire(&r->tfm->waiting)) || !may_wait(r))
		err = ocf_submit(&r->req);
	if (unlikely(err == -EBUSY)) {
		if (may_wait(r))
			return alg_backlog_add(r);
		err = alg_refuse(r, -ENOSPC);
	} else if (unlikely(err && err != -EINPROGRESS)) {
		alg_refuse(r, err);
	} else {
		/* if @r was not done, it may be freed already */
		err = atomic_xchg(&r->state, ALG_SUBMITTED) == ALG_DONE ?
			r->err : -EINPROGRESS;
	}
	alg_key_put(key);
	return err;
}
