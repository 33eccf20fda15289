// SPDX-License-Identifier: GPL-2.0-only
/*
 * Extended sequence numbers of ESP (RFC 4303, 2.2.1).
 *
 * The crypto API's associated data are SPI, the high half of the number, the
 * low half, and the IV.  The MAC covers the SPI, the low half, the IV, the
 * ciphertext, and then the high half, which no packet carries.  A scatterlist
 * of ours has them in that order.  The kernel's authencesn() moves bytes in the
 * caller's buffers; we write only the data and the tag.
 */
#include <crypto/internal/aead.h>
#include <crypto/scatterwalk.h>
#include <linux/slab.h>

#include "alg.h"

#define SPI		4	/* bytes */
#define HIGH		4
#define BEFORE		(SPI + HIGH)	/* bytes that are reordered */

/* The first @len bytes of @from, which have @n entries */
static void copy_entries(struct scatterlist *to, struct scatterlist *from,
			 unsigned int len, int n)
{
	unsigned int part;

	for (; n--; from = sg_next(from), to++) {
		part = min(from->length, len);
		sg_set_page(to, sg_page(from), part, from->offset);
		len -= part;
	}
}

/* All that the MAC covers, in this order; the data stay in their place. */
static int make_source(struct alg_request *r, struct aead_request *q,
		       unsigned int len)
{
	gfp_t gfp = r->base->flags & CRYPTO_TFM_REQ_MAY_SLEEP ?
		GFP_KERNEL : GFP_ATOMIC;
	unsigned int rest = q->assoclen - BEFORE + len;
	struct scatterlist *from, *to;
	int n;

	sg_init_table(r->src, 2);
	from = scatterwalk_ffwd(r->src, q->src, BEFORE);
	n = sg_nents_for_len(from, rest);
	if (n < 0)
		return n;
	to = kmalloc_array(n + 2, sizeof(*to), gfp);
	if (!to)
		return -ENOMEM;
	scatterwalk_map_and_copy(r->aad, q->src, 0, BEFORE, 0);
	sg_init_table(to, n + 2);
	sg_set_buf(to, r->aad, SPI);
	copy_entries(to + 1, from, rest, n);
	sg_set_buf(to + n + 1, r->aad + SPI, HIGH);
	r->entries = to;
	r->req.src = to;
	return 0;
}

static void make_destination(struct alg_request *r, struct aead_request *q)
{
	if (q->src == q->dst) {
		r->req.dst = r->req.src;
		return;
	}
	alg_put_before(r->dst, r->aad, SPI, q->dst, BEFORE);
	r->req.dst = r->dst;
}

static void finish_esn(struct alg_request *r, int err)
{
	struct aead_request *q = aead_request_cast(r->base);

	kfree(r->entries);
	if (!err && r->req.op == OCF_OP_ENCRYPT)
		scatterwalk_map_and_copy(r->req.tag, q->dst,
					 q->assoclen + q->cryptlen,
					 r->authsize, 1);
}

/**
 * alg_lay_out_esn() - arrange the authenticated bytes of a request as the MAC
 * reads them
 * @r: the request, with its op
 * @q: the crypto API's
 * @len: bytes of data
 *
 * Context: any.
 * Return: 0; -EINVAL: it is too short; -ENOMEM.
 */
int alg_lay_out_esn(struct alg_request *r, struct aead_request *q,
		    unsigned int len)
{
	int err;

	if (q->assoclen < BEFORE)
		return -EINVAL;
	err = make_source(r, q, len);
	if (err)
		return err;
	make_destination(r, q);
	if (r->req.op == OCF_OP_DECRYPT)
		scatterwalk_map_and_copy(r->req.tag, q->src,
					 q->assoclen + len,
					 r->authsize, 0);
	r->finish = finish_esn;
	r->req.auth.len = q->assoclen + len;
	r->req.data.start = q->assoclen - HIGH;
	r->req.data.len = len;
	return 0;
}
