// SPDX-License-Identifier: GPL-2.0-only
/*
 * DEFLATE (RFC 1951) by the kernel's zlib: raw streams, made with a window of 2
 * KiB, as IPComp has them (RFC 2394).  It reads and writes scatterlists
 * directly.
 *
 * zlib works in 190 KiB of memory, which hold nothing that is needed after the
 * request.  All sessions share them: a request takes workspaces that are idle,
 * or has some made.  It waits for those of another request only if there is no
 * memory.
 *
 * Streams made elsewhere are read with the largest window.  zlib checks once,
 * when it begins to copy from the window, that the bytes are there.  It does
 * not check again when the copy goes on in the next piece of the destination.
 * So the window must hold all bytes that a stream may refer to.
 */
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <linux/zlib.h>

#include "soft.h"

#define WINDOW_BITS	11

/*
 * The submitter does a request itself if it reads and writes at most this many
 * bytes.  A worker does a larger one, whatever the estimate: a stream may
 * expand to a thousand times its size.
 */
#define INLINE_MAX	SZ_16K

/**
 * struct workspaces - zlib's memory for a request
 * @node: in the list of idle ones
 * @out: compresses
 * @in: expands
 */
struct workspaces {
	struct list_head	node;
	struct z_stream_s	out, in;
};

static LIST_HEAD(idle);
static unsigned int nidle, sessions;
static DEFINE_SPINLOCK(idle_lock);	/* protects the three above */
static DECLARE_WAIT_QUEUE_HEAD(idle_wait);

static void free_workspaces(struct workspaces *w)
{
	vfree(w->out.workspace);
	vfree(w->in.workspace);
	kfree(w);
}

static struct workspaces *alloc_workspaces(void)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	size_t out = zlib_deflate_workspacesize(-WINDOW_BITS, MAX_MEM_LEVEL);
	struct workspaces *w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);

	if (!w)
		return NULL;
	WARN_ON_ONCE(out + zlib_inflate_workspacesize() > OCF_WORKSPACE_BYTES);
	w->out.workspace = __vmalloc(out, gfp);
	w->in.workspace = __vmalloc(zlib_inflate_workspacesize(), gfp);
	if (w->out.workspace && w->in.workspace &&
	    zlib_deflateInit2(&w->out, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			      -WINDOW_BITS, MAX_MEM_LEVEL,
			      Z_DEFAULT_STRATEGY) == Z_OK &&
	    zlib_inflateInit2(&w->in, -MAX_WBITS) == Z_OK)
		return w;
	free_workspaces(w);
	return NULL;
}

static struct workspaces *deflate_take_idle(void)
{
	struct workspaces *w;

	spin_lock(&idle_lock);
	w = list_first_entry_or_null(&idle, struct workspaces, node);
	if (w) {
		list_del(&w->node);
		nidle--;
	}
	spin_unlock(&idle_lock);
	return w;
}

/* Returns idle workspaces, or new ones; NULL if there is no memory. */
static struct workspaces *get_workspaces(void)
{
	return deflate_take_idle() ?: alloc_workspaces();
}

/* One for each CPU is kept until the last session is closed. */
static void put_workspaces(struct workspaces *w)
{
	bool keep;

	spin_lock(&idle_lock);
	keep = sessions && nidle < num_online_cpus();
	if (keep) {
		list_add(&w->node, &idle);
		nidle++;
	}
	spin_unlock(&idle_lock);
	if (keep)
		wake_up(&idle_wait);
	else
		free_workspaces(w);
}

/**
 * soft_deflate_init() - let a session compress
 *
 * From now on, until soft_deflate_exit(), there are workspaces for at least one
 * request.
 *
 * Context: process; may sleep.
 * Return: 0, or -ENOMEM.
 */
int soft_deflate_init(void)
{
	struct workspaces *w;

	spin_lock(&idle_lock);
	sessions++;
	spin_unlock(&idle_lock);
	w = get_workspaces();
	if (!w) {
		soft_deflate_exit();
		return -ENOMEM;
	}
	put_workspaces(w);
	return 0;
}

/* Context: process; may sleep. */
void soft_deflate_exit(void)
{
	struct workspaces *w, *next;
	LIST_HEAD(last);

	spin_lock(&idle_lock);
	if (!--sessions) {
		list_splice_init(&idle, &last);
		nidle = 0;
	}
	spin_unlock(&idle_lock);
	list_for_each_entry_safe(w, next, &last, node)
		free_workspaces(w);
}

/* A request that is processed: where its next output goes. */
struct flow {
	struct ocf_request	*req;
	struct z_stream_s	*z;
	u32			done;		/* bytes of result */
	int			flush;
	int			code;		/* of the last step */
};

/* Lets the stream fill one piece of the destination. */
static int write_piece(void *arg, u8 *piece, u32 len)
{
	struct flow *f = arg;
	bool forward = f->req->op == OCF_OP_ENCRYPT;

	f->z->next_out = piece;
	f->z->avail_out = len;
	f->code = forward ? zlib_deflate(f->z, f->flush) :
			    zlib_inflate(f->z, Z_SYNC_FLUSH);
	f->done += len - f->z->avail_out;
	/* room is left: the stream has no more output without input */
	return f->z->avail_out ? 1 : 0;
}

/*
 * Lets the stream write its output, from the current place on.  -ENOSPC if
 * there is no room.
 */
static int write_out(struct flow *f)
{
	struct ocf_request *req = f->req;
	int stop;
	u8 none;

	stop = ocf_sg_each(req->dst, req->data.start + f->done,
			   req->dst_len - f->done, false, write_piece, f);
	/*
	 * the destination is full, but the end of the stream may still be read
	 */
	if (!stop && f->code != Z_STREAM_END)
		write_piece(f, &none, 0);
	if (stop || f->code == Z_STREAM_END)
		return f->code < 0 && f->code != Z_BUF_ERROR ? -EINVAL : 0;
	/*
	 * the end of a stream to expand may be in the next piece of the source
	 */
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
	/* the stream to expand has ended before the source */
	return f->z->avail_in ? -EINVAL : 0;
}

static int deflate_run(struct flow *f)
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
 * if it is no stream, or no whole one; -ECANCELED if the task is being killed;
 * -EAGAIN if a worker has to do it: the caller must not sleep or must not be
 * delayed so long, or there is no memory.
 */
int soft_deflate(struct ocf_request *req)
{
	struct flow f = { .req = req };
	struct workspaces *w;
	int err;

	if (!ocf_request_may_sleep(req))
		return -EAGAIN;
	if (req->flags & OCF_REQ_OFFLOAD && !ocf_request_has_worker(req) &&
	    max(req->data.len, req->dst_len) > INLINE_MAX)
		return -EAGAIN;
	w = get_workspaces();
	if (!w) {
		/* only a worker waits for others */
		if (!ocf_request_has_worker(req))
			return -EAGAIN;
		err = wait_event_killable(idle_wait, (w = deflate_take_idle()));
		if (err)
			return -ECANCELED;
	}
	if (req->op == OCF_OP_ENCRYPT) {
		f.z = &w->out;
		zlib_deflateReset(f.z);
	} else {
		f.z = &w->in;
		zlib_inflateReset(f.z);
	}
	err = deflate_run(&f);
	put_workspaces(w);
	req->result_len = f.done;
	return err;
}
