// SPDX-License-Identifier: GPL-2.0-only
/*
 * DEFLATE (RFC 1951), raw streams, made with a window of 2 KiB as IPComp has
 * them (RFC 2394), by the kernel's zlib.  It reads and writes scatterlists as
 * they are.  A session has one pair of workspaces, so its requests take turns.
 *
 * Streams of others are read with the largest window: what zlib goes on with
 * in the next piece of a destination it does not check again, so its window
 * must hold all that a stream may refer to.
 */
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/zlib.h>

#include "soft.h"

#define WINDOW_BITS	11

/*
 * Bytes read or written that are a submitter's own work; more are a worker's,
 * whatever it is thought to cost: a stream may come to a thousand times itself,
 * and who works on one keeps devices, contexts and keys from going.
 */
#define INLINE_MAX	SZ_16K

/**
 * struct soft_deflate - a session's streams
 * @turn: whose request has the workspaces
 * @out: compresses
 * @in: expands
 */
struct soft_deflate {
	struct mutex		turn;
	struct z_stream_s	out, in;
};

static const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO;

int soft_deflate_init(struct soft_ctx *ctx)
{
	struct soft_deflate *d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	size_t out = zlib_deflate_workspacesize(-WINDOW_BITS, MAX_MEM_LEVEL);

	if (!d)
		return -ENOMEM;
	mutex_init(&d->turn);
	ctx->deflate = d;
	d->out.workspace = __vmalloc(out, gfp);
	d->in.workspace = __vmalloc(zlib_inflate_workspacesize(), gfp);
	if (d->out.workspace && d->in.workspace &&
	    zlib_deflateInit2(&d->out, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			      -WINDOW_BITS, MAX_MEM_LEVEL,
			      Z_DEFAULT_STRATEGY) == Z_OK &&
	    zlib_inflateInit2(&d->in, -MAX_WBITS) == Z_OK)
		return 0;
	soft_deflate_exit(ctx);
	return -ENOMEM;
}

void soft_deflate_exit(struct soft_ctx *ctx)
{
	if (!ctx->deflate)
		return;
	vfree(ctx->deflate->out.workspace);
	vfree(ctx->deflate->in.workspace);
	mutex_destroy(&ctx->deflate->turn);
	kfree(ctx->deflate);
	ctx->deflate = NULL;
}

/* A request in work: where its result goes on. */
struct flow {
	struct ocf_request	*req;
	struct z_stream_s	*z;
	u32			done;		/* bytes of result */
	int			flush;
	int			code;		/* of the last step */
};

/* One piece of destination: lets the stream write to it what it can. */
static int write_piece(void *arg, u8 *piece, u32 len)
{
	struct flow *f = arg;
	bool forward = f->req->op == OCF_OP_ENCRYPT;

	f->z->next_out = piece;
	f->z->avail_out = len;
	f->code = forward ? zlib_deflate(f->z, f->flush) :
			    zlib_inflate(f->z, Z_SYNC_FLUSH);
	f->done += len - f->z->avail_out;
	/* a piece that was not filled: there is no more for now */
	return f->z->avail_out ? 1 : 0;
}

/* Lets the stream write on from where it is; -ENOSPC if there is no room. */
static int write_out(struct flow *f)
{
	struct ocf_request *req = f->req;
	int stop;
	u8 none;

	stop = ocf_sg_each(req->dst, req->data.start + f->done,
			   req->dst_len - f->done, false, write_piece, f);
	/* all room is used; the end of a stream may still be read */
	if (!stop && f->code != Z_STREAM_END)
		write_piece(f, &none, 0);
	if (stop || f->code == Z_STREAM_END)
		return f->code < 0 && f->code != Z_BUF_ERROR ? -EINVAL : 0;
	/* an expanded stream's end may be in what comes next */
	if (req->op == OCF_OP_DECRYPT && f->flush != Z_FINISH &&
	    !f->z->avail_in && (!f->code || f->code == Z_BUF_ERROR))
		return 0;
	return -ENOSPC;
}

static int read_piece(void *arg, u8 *piece, u32 len)
{
	struct flow *f = arg;
	int err;

	f->z->next_in = piece;
	f->z->avail_in = len;
	err = write_out(f);
	if (err)
		return err;
	/* an expanded stream has ended before its data has */
	return f->z->avail_in ? -EINVAL : 0;
}

static int run(struct flow *f)
{
	struct ocf_request *req = f->req;
	int err;

	f->flush = Z_NO_FLUSH;
	err = ocf_sg_each(req->src, req->data.start, req->data.len, true,
			  read_piece, f);
	if (err)
		return err;
	f->flush = Z_FINISH;
	if (f->code != Z_STREAM_END)
		err = write_out(f);
	if (err)
		return err;
	return f->code == Z_STREAM_END ? 0 : -EINVAL;
}

/**
 * soft_deflate() - compress or expand a request's data
 * @req: the request
 *
 * Context: process, may sleep.
 * Return: 0, and @req->result_len is set; -ENOSPC if it does not fit; -EINVAL
 * if it is no stream, or no whole one; -EAGAIN where one must not sleep, or
 * must not wait for others' work, or if it is a worker's.
 */
int soft_deflate(struct ocf_request *req)
{
	struct soft_deflate *d = soft_ctx(req)->deflate;
	struct flow f = { .req = req };
	int err;

	if (!ocf_request_may_sleep(req))
		return -EAGAIN;
	if (max(req->data.len, req->dst_len) > INLINE_MAX &&
	    !ocf_request_has_worker(req))
		return -EAGAIN;
	/* who waits for his turn keeps devices from going: a worker does */
	if (!mutex_trylock(&d->turn)) {
		if (!ocf_request_has_worker(req))
			return -EAGAIN;
		mutex_lock(&d->turn);
	}
	if (req->op == OCF_OP_ENCRYPT) {
		f.z = &d->out;
		zlib_deflateReset(f.z);
	} else {
		f.z = &d->in;
		zlib_inflateReset(f.z);
	}
	err = run(&f);
	mutex_unlock(&d->turn);
	req->result_len = f.done;
	return err;
}
