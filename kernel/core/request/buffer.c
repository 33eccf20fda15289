// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: helpers for drivers that work with the CPU, and for tags and MACs.
 */
#include <crypto/utils.h>
#include <linux/highmem.h>

#include "../core.h"

/*
 * Moves to the entry that holds byte @off; @off becomes the offset in that
 * entry.
 */
static struct scatterlist *skip(struct scatterlist *sg, u32 *off)
{
	while (sg && *off >= sg->length) {
		*off -= sg->length;
		sg = sg_next(sg);
	}
	return sg;
}

static u8 *map_at(struct scatterlist *sg, u32 off, u32 *room)
{
	u32 at = sg->offset + off;

	*room = min3(*room, sg->length - off,
		     (u32)(PAGE_SIZE - offset_in_page(at)));
	return kmap_local_page(nth_page(sg_page(sg), at >> PAGE_SHIFT)) +
	       offset_in_page(at);
}

/**
 * ocf_buffer_same() - whether two buffers have the same memory in a range
 * @a: one
 * @b: the other
 * @start: offset of the range in both
 * @len: bytes of the range, which both buffers have
 *
 * Context: any.
 * Return: whether.
 */
bool ocf_buffer_same(struct scatterlist *a, struct scatterlist *b, u32 start,
		     u32 len)
{
	u32 in_a = start, in_b = start, n;

	if (a == b)
		return true;
	for (; len; len -= n) {
		a = skip(a, &in_a);
		b = skip(b, &in_b);
		if (!a || !b || sg_phys(a) + in_a != sg_phys(b) + in_b)
			return false;
		n = min3(len, a->length - in_a, b->length - in_b);
		in_a += n;
		in_b += n;
	}
	return true;
}

static void map_piece(struct ocf_walk *walk)
{
	u32 room = walk->left;

	walk->len = 0;
	if (!room)
		return;
	walk->in = skip(walk->in, &walk->in_off);
	if (!walk->same)
		walk->out = skip(walk->out, &walk->out_off);
	if (WARN_ON_ONCE(!walk->in || (!walk->same && !walk->out)))
		return;
	walk->src = map_at(walk->in, walk->in_off, &room);
	walk->dst = walk->same ? (u8 *)walk->src :
				 map_at(walk->out, walk->out_off, &room);
	walk->len = room;
}

void ocf_walk_start(struct ocf_walk *walk, struct ocf_request *req)
{
	walk->in = req->src;
	walk->out = req->dst;
	walk->in_off = req->data.start;
	walk->out_off = req->data.start;
	walk->left = req->data.len;
	walk->same = req->src == req->dst;
	map_piece(walk);
}
OCF_EXPORT(ocf_walk_start);

void ocf_walk_next(struct ocf_walk *walk)
{
	if (!walk->same)
		kunmap_local(walk->dst);
	kunmap_local(walk->src);
	walk->left -= walk->len;
	walk->in_off += walk->len;
	walk->out_off += walk->len;
	map_piece(walk);
}
OCF_EXPORT(ocf_walk_next);

int ocf_sg_each(struct scatterlist *sg, u32 start, u32 len, bool may_sleep,
		int (*fn)(void *arg, u8 *piece, u32 len), void *arg)
{
	u8 *piece;
	u32 room;
	int err;

	for (sg = skip(sg, &start); len; sg = skip(sg, &start)) {
		if (WARN_ON_ONCE(!sg))
			return -EINVAL;
		room = len;
		piece = map_at(sg, start, &room);
		err = fn(arg, piece, room);
		kunmap_local(piece);
		if (err)
			return err;
		if (may_sleep)
			cond_resched();
		start += room;
		len -= room;
	}
	return 0;
}
OCF_EXPORT(ocf_sg_each);

static int copy_out(void *arg, u8 *piece, u32 len)
{
	u8 **to = arg;

	memcpy(*to, piece, len);
	*to += len;
	return 0;
}

static int copy_in(void *arg, u8 *piece, u32 len)
{
	const u8 **from = arg;

	memcpy(piece, *from, len);
	*from += len;
	return 0;
}

void ocf_sg_read(struct scatterlist *sg, u32 start, void *buf, u32 len)
{
	ocf_sg_each(sg, start, len, false, copy_out, &buf);
}
OCF_EXPORT(ocf_sg_read);

void ocf_sg_write(struct scatterlist *sg, u32 start, const void *buf, u32 len)
{
	ocf_sg_each(sg, start, len, false, copy_in, &buf);
}
OCF_EXPORT(ocf_sg_write);

u32 ocf_request_maclen(const struct ocf_request *req)
{
	return req->session->params.maclen;
}
OCF_EXPORT(ocf_request_maclen);

void ocf_tag_store(struct ocf_request *req, const u8 *tag)
{
	u32 len = ocf_request_maclen(req);

	if (req->tag_start == OCF_TAG_INLINE)
		memcpy(req->tag, tag, len);
	else
		ocf_sg_write(req->session->params.mode == OCF_MODE_MTE ?
			     req->src : req->dst, req->tag_start, tag, len);
}
OCF_EXPORT(ocf_tag_store);

int ocf_tag_check(struct ocf_request *req, const u8 *tag)
{
	u8 given[OCF_TAG_MAX];
	u32 len = ocf_request_maclen(req);

	if (req->tag_start == OCF_TAG_INLINE)
		return crypto_memneq(req->tag, tag, len) ? -EBADMSG : 0;
	ocf_sg_read(req->src, req->tag_start, given, len);
	return crypto_memneq(given, tag, len) ? -EBADMSG : 0;
}
OCF_EXPORT(ocf_tag_check);

static int zero(void *arg, u8 *piece, u32 len)
{
	memset(piece, 0, len);
	return 0;
}

/**
 * ocf_buffer_deny() - zero the plaintext of a request that failed
 * @req: a request whose tag or MAC was wrong
 *
 * A device that decrypts before it verifies, or meanwhile, has written
 * plaintext to the destination by now.
 *
 * Context: process or BH.
 */
void ocf_buffer_deny(struct ocf_request *req)
{
	enum ocf_mode mode = req->session->params.mode;

	if (req->op == OCF_OP_DECRYPT &&
	    (mode == OCF_MODE_AEAD || mode == OCF_MODE_MTE ||
	     (mode == OCF_MODE_CHAIN && !(req->flags & OCF_REQ_MAC_FIRST))))
		ocf_sg_each(req->dst, req->data.start, req->data.len, false,
			    zero, NULL);
}
