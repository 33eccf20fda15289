// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers of operations: in the operation, in pages of ours, or the user's own
 * pages, pinned.
 *
 * Pages of the user that are read are pinned for reading.  Those that are
 * written are pinned for writing, which only succeeds where the user may write.
 * Other memory of the user is written by copy_to_user() only.
 */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "cdev.h"
#include "uaccess.h"

/* Allocates @nents entries; all of them must be appended. */
static int entries(struct cdev_buffer *buf, unsigned int nents)
{
	buf->nents = 0;
	buf->sg = buf->few;
	if (likely(nents <= CDEV_SG_INLINE)) {
		/*
		 * the entries were zeroed when the operation was allocated;
		 * only the end mark of the last use must be removed
		 */
		if (buf->end)
			sg_unmark_end(&buf->few[buf->end - 1]);
		buf->end = nents;
	} else {
		/* and one for cdev_buffer_trail() */
		buf->sg = kvcalloc(nents + 1, sizeof(*buf->sg),
				   GFP_KERNEL_ACCOUNT);
		if (!buf->sg)
			return -ENOMEM;
	}
	sg_mark_end(&buf->sg[nents - 1]);
	return 0;
}

static void append(struct cdev_buffer *buf, struct page *page, u32 len, u32 off)
{
	sg_set_page(&buf->sg[buf->nents++], page, len, off);
}

static int make_pages(struct cdev_buffer *buf, u32 len)
{
	struct page *page;
	int err;

	err = entries(buf, DIV_ROUND_UP(len, PAGE_SIZE));
	if (err)
		return err;
	buf->kind = CDEV_PAGES;
	buf->lead = false;
	for (; len; len -= min_t(u32, len, PAGE_SIZE)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		page = alloc_page(GFP_KERNEL_ACCOUNT);
		if (!page)
			return -ENOMEM;
		append(buf, page, min_t(u32, len, PAGE_SIZE), 0);
		cond_resched();
	}
	return 0;
}

/**
 * cdev_buffer_make() - give an operation a buffer in kernel memory
 * @op: the operation, which will work in this buffer in place
 * @len: bytes
 *
 * Context: process; may sleep.
 * Return: 0, -EDQUOT, -ENOMEM or -EINTR.
 */
int cdev_buffer_make(struct cdev_op *op, u32 len)
{
	struct cdev_buffer *buf = &op->src;
	int err = 0;

	if (len <= CDEV_INLINE) {
		buf->kind = CDEV_INLINED;
		buf->sg = &op->inlined;
	} else {
		err = cdev_op_charge(op, len) ?: make_pages(buf, len);
	}
	op->req.src = buf->sg;
	op->req.dst = buf->sg;
	return err;
}

/* Adds the user's pages from @addr on to @buf. */
static int pin_pages(struct cdev_buffer *buf, unsigned long addr, u32 len,
		     unsigned int flags)
{
	struct scatterlist *sg = buf->sg + buf->nents;
	struct page **pages = buf->pages;
	u32 off = offset_in_page(addr), n;
	int want, got, i;

	addr -= off;
	while (len) {
		want = min_t(u32, DIV_ROUND_UP(off + len, PAGE_SIZE),
			     CDEV_SG_INLINE);
		/*
		 * buf->pages holds all pages of a small buffer, even if several
		 * calls pin them
		 */
		if (buf->sg == buf->few)
			pages = buf->pages + buf->nents - buf->lead;
		got = pin_user_pages_fast(addr, want, flags, pages);
		/* -EAGAIN: killed while it waited for the address space */
		if (got <= 0)
			return got == -EAGAIN ? -EINTR : got ?: -EFAULT;
		for (i = 0; i < got; i++, sg++) {
			n = min_t(u32, len, PAGE_SIZE - off);
			sg_set_page(sg, pages[i], n, off);
			len -= n;
			off = 0;
		}
		buf->nents += got;
		addr += got * PAGE_SIZE;
	}
	return 0;
}

static int pin(struct cdev_op *op, struct cdev_buffer *buf, u32 lead,
	       unsigned long addr, u32 len, bool write)
{
	u32 pages = DIV_ROUND_UP(offset_in_page(addr) + len, PAGE_SIZE);
	int err;

	if (!access_ok((void __user *)addr, len))
		return -EFAULT;
	err = entries(buf, pages + !!lead);
	if (err)
		return err;
	buf->kind = CDEV_PINNED;
	buf->write = write;
	buf->lead = lead;
	if (lead)
		append(buf, virt_to_page(op->bytes), lead,
		       offset_in_page(op->bytes));
	return pin_pages(buf, addr, len, (write ? FOLL_WRITE : 0) |
			 (unlikely(op->pins_last) ? FOLL_LONGTERM : 0));
}

/* Bytes that @buf keeps in memory: a page of a large folio keeps all of it. */
static size_t kept(const struct cdev_buffer *buf)
{
	struct folio *folio, *last = NULL;
	struct scatterlist *sg;
	size_t bytes = 0;
	unsigned int i;

	if (buf->kind != CDEV_PINNED)
		return 0;
	for_each_sg(buf->sg, sg, buf->nents, i) {
		folio = page_folio(sg_page(sg));
		if (i >= buf->lead && folio != last)
			bytes += folio_size(folio);
		last = folio;
	}
	return bytes;
}

static unsigned int pinned(const struct cdev_buffer *buf)
{
	return buf->kind == CDEV_PINNED ? buf->nents - buf->lead : 0;
}

/*
 * For pages that stay pinned: charges the bytes that they keep in memory, and
 * the number of pages.
 */
static int charge_lasting(struct cdev_op *op, const struct cdev_buffer *buf)
{
	return cdev_op_charge(op, kept(buf)) ?:
	       cdev_op_charge_locked(op, pinned(buf));
}

/* Pins one side of an operation: see cdev_buffer_pin(). */
int cdev_buffer_pin_one(struct cdev_op *op, struct cdev_buffer *buf, u32 lead,
			void __user *addr, u32 len)
{
	return cdev_op_charge(op, len) ?:
	       pin(op, buf, lead, (unsigned long)addr, len, buf == &op->dst) ?:
	       (op->pins_last ? charge_lasting(op, buf) : 0);
}

static int pin_both(struct cdev_op *op, u32 lead, const void __user *src,
		    u32 src_len, void __user *dst, u32 dst_len)
{
	bool in_place = dst_len && src == dst;
	int err;

	err = pin(op, &op->src, lead, (unsigned long)src,
		  in_place ? max(src_len, dst_len) : src_len, in_place);
	op->req.src = op->src.sg;
	op->req.dst = op->src.sg;
	if (err || in_place || !dst_len)
		return err;
	err = pin(op, &op->dst, lead, (unsigned long)dst, dst_len, true);
	op->req.dst = op->dst.sg;
	return err;
}

/**
 * cdev_buffer_pin() - let an operation work on the user's own pages
 * @op: the operation
 * @lead: bytes of op->bytes that come before, at most CDEV_INLINE
 * @src: source
 * @src_len: bytes
 * @dst: destination, @src for in place
 * @dst_len: bytes; 0 if nothing is written
 *
 * If the pages stay pinned after the call, all memory that they keep is charged
 * to the operation and to the user, since the program may free it meanwhile.
 *
 * Context: process; may sleep.
 * Return: 0; -EAGAIN if the data must be copied: it cannot be pinned, or is not
 * there, or too much would be kept; -EFAULT, -EDQUOT, -ENOMEM or -EINTR.
 */
int cdev_buffer_pin(struct cdev_op *op, u32 lead, const void __user *src,
		    u32 src_len, void __user *dst, u32 dst_len)
{
	bool in_place = dst_len && src == dst;
	int err;

	err = cdev_op_charge(op, in_place ? max(src_len, dst_len) :
					    src_len + dst_len);
	if (err)
		return err;
	err = pin_both(op, lead, src, src_len, dst, dst_len);
	if (!err && unlikely(op->pins_last))
		err = charge_lasting(op, &op->src) ?:
		      charge_lasting(op, &op->dst);
	/*
	 * EOPNOTSUPP comes from pages of a file on persistent memory (DAX),
	 * which cannot be pinned for long
	 */
	if (likely(err != -EFAULT && err != -EDQUOT && err != -EOPNOTSUPP))
		return err;
	cdev_buffers_free(op);
	cdev_op_uncharge(op);
	/*
	 * if one page of @dst cannot be written, nothing is written to the
	 * others
	 */
	return fault_in_safe_writeable(dst, dst_len) ? -EFAULT : -EAGAIN;
}

/**
 * cdev_buffer_apart() - whether pages can be worked on where they are
 * @src: source
 * @dst: destination
 * @src_len: bytes
 * @dst_len: bytes; 0 if nothing is written
 *
 * Buffers that overlap and are not the same must be copied.
 *
 * Context: any.
 * Return: whether.
 */
bool cdev_buffer_apart(const void __user *src, const void __user *dst,
		       u32 src_len, u32 dst_len)
{
	unsigned long s = (unsigned long)src, d = (unsigned long)dst;

	return !dst_len || s == d || (s - d >= dst_len && d - s >= src_len);
}

/**
 * cdev_buffer_pinnable() - whether pinning is possible, and worth it
 * @src: source
 * @dst: destination
 * @src_len: bytes
 * @dst_len: bytes; 0 if nothing is written
 *
 * Context: any.
 * Return: whether.
 */
bool cdev_buffer_pinnable(const void __user *src, const void __user *dst,
			  u32 src_len, u32 dst_len)
{
	return src_len >= CDEV_PIN_MIN &&
	       cdev_buffer_apart(src, dst, src_len, dst_len);
}

/**
 * cdev_buffer_fixed() - let an operation work on pages that are held for it
 * @op: the operation
 * @buf: its source or its destination
 * @lead: bytes of op->bytes that come before, at most CDEV_INLINE
 * @from: the pages, an iterator over bio_vecs
 * @len: bytes of them
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int cdev_buffer_fixed(struct cdev_op *op, struct cdev_buffer *buf, u32 lead,
		      const struct iov_iter *from, u32 len)
{
	const struct bio_vec *bv = from->bvec;
	u32 skip = from->iov_offset, left = len, n = 0;
	int err;

	for (; left; left -= min(left, bv[n].bv_len - (n ? 0 : skip)), n++)
		;
	err = entries(buf, n + !!lead);
	if (err)
		return err;
	buf->kind = CDEV_FIXED;
	buf->lead = lead;
	if (lead)
		append(buf, virt_to_page(op->bytes), lead,
		       offset_in_page(op->bytes));
	for (; len; bv++, skip = 0) {
		n = min(len, bv->bv_len - skip);
		append(buf, bv->bv_page, n, bv->bv_offset + skip);
		len -= n;
	}
	return 0;
}

/**
 * cdev_buffer_trail() - append bytes of the operation to pages of others
 * @op: the operation
 * @buf: its source or its destination, pinned or fixed
 * @at: where in op->bytes
 * @len: bytes
 *
 * Context: any.
 */
void cdev_buffer_trail(struct cdev_op *op, struct cdev_buffer *buf, u32 at,
		       u32 len)
{
	struct scatterlist *sg = &buf->sg[buf->nents];

	/* @nents does not count this entry, so it is not unpinned */
	sg_unmark_end(sg - 1);
	sg_set_page(sg, virt_to_page(op->bytes), len,
		    offset_in_page(op->bytes) + at);
	sg_mark_end(sg);
	if (buf->sg == buf->few)
		buf->end = buf->nents + 1;
}

/**
 * cdev_buffer_iter() - copy between an operation's buffer and pages held for it
 * @op: the operation, whose buffer is the kernel's
 * @at: bytes into the buffer
 * @iter: the pages
 * @len: bytes
 * @in: into the buffer
 *
 * Context: process; may sleep.
 * Return: 0, or -EFAULT.
 */
int cdev_buffer_iter(struct cdev_op *op, u32 at, struct iov_iter *iter,
		     u32 len, bool in)
{
	struct scatterlist *sg = op->src.sg;
	size_t done;
	u32 n;

	for (; len; sg = sg_next(sg)) {
		if (at >= sg->length) {
			at -= sg->length;
			continue;
		}
		n = min(len, sg->length - at);
		done = in ? copy_from_iter(sg_virt(sg) + at, n, iter) :
			    copy_to_iter(sg_virt(sg) + at, n, iter);
		if (done != n)
			return -EFAULT;
		len -= n;
		at = 0;
		cond_resched();
	}
	return 0;
}

/*
 * Copies @len bytes between @user and @buf, from @at on, one contiguous part at
 * a time.
 */
static int copy(struct cdev_buffer *buf, u32 at, void __user *user, u32 len,
		bool in)
{
	struct scatterlist *sg = buf->sg;
	unsigned long left;
	u32 n;

	for (; len; sg = sg_next(sg)) {
		if (at >= sg->length) {
			at -= sg->length;
			continue;
		}
		n = min(len, sg->length - at);
		left = in ? copy_from_user(sg_virt(sg) + at, user, n) :
			    copy_to_user(user, sg_virt(sg) + at, n);
		if (left)
			return -EFAULT;
		user += n;
		len -= n;
		at = 0;
		cond_resched();
	}
	return 0;
}

/**
 * cdev_buffer_read() - copy into an operation's buffer
 * @op: the operation, whose buffer is not pinned
 * @at: bytes into the buffer
 * @from: where from
 * @len: bytes
 *
 * Context: process; may sleep.
 * Return: 0, or -EFAULT.
 */
int cdev_buffer_read(struct cdev_op *op, u32 at, const void __user *from,
		     u32 len)
{
	if (likely(op->src.kind == CDEV_INLINED))
		return cdev_copy_in(op->bytes + at, from, len);
	return copy(&op->src, at, (void __user *)from, len, true);
}

/**
 * cdev_buffer_write() - copy out of an operation's buffer
 * @op: the operation; a pinned buffer has its results in place already
 * @at: bytes into the buffer
 * @to: where to
 * @len: bytes
 *
 * Context: process; may sleep.
 * Return: 0, or -EFAULT.
 */
int cdev_buffer_write(struct cdev_op *op, u32 at, void __user *to, u32 len)
{
	if (likely(op->src.kind == CDEV_INLINED))
		return cdev_copy_out(to, op->bytes + at, len);
	if (op->src.kind == CDEV_PINNED)
		return 0;
	return copy(&op->src, at, to, len, false);
}

/**
 * cdev_buffer_fill() - set bytes of an operation's buffer
 * @op: the operation, whose buffer is not pinned
 * @at: bytes into the buffer
 * @byte: to what
 * @len: bytes
 *
 * Context: any.
 */
void cdev_buffer_fill(struct cdev_op *op, u32 at, u8 byte, u32 len)
{
	struct scatterlist *sg = op->src.sg;
	u32 n;

	for (; len; sg = sg_next(sg)) {
		if (at >= sg->length) {
			at -= sg->length;
			continue;
		}
		n = min(len, sg->length - at);
		memset(sg_virt(sg) + at, byte, n);
		len -= n;
		at = 0;
	}
}

static void unpin(struct cdev_buffer *buf, unsigned int n)
{
	if (buf->write)
		unpin_user_pages_dirty_lock(buf->pages, n, true);
	else
		unpin_user_pages(buf->pages, n);
}

static void unpin_pages(struct cdev_buffer *buf)
{
	unsigned int i = buf->lead, n;

	if (likely(buf->sg == buf->few)) {
		unpin(buf, buf->nents - i);
		return;
	}
	while (i < buf->nents) {
		for (n = 0; n < CDEV_SG_INLINE && i < buf->nents; n++, i++)
			buf->pages[n] = sg_page(&buf->sg[i]);
		unpin(buf, n);
	}
}

static void buffer_free(struct cdev_buffer *buf)
{
	unsigned int i;

	if (buf->kind < CDEV_PAGES)
		return;
	if (buf->kind == CDEV_PINNED)
		unpin_pages(buf);
	else if (buf->kind == CDEV_PAGES)
		for (i = 0; i < buf->nents; i++)
			__free_page(sg_page(&buf->sg[i]));
	if (buf->sg != buf->few)
		kvfree(buf->sg);
	buf->kind = CDEV_NONE;
}

/**
 * cdev_buffers_free() - free an operation's buffers
 * @op: the operation
 *
 * Context: process; may sleep.
 */
void cdev_buffers_free(struct cdev_op *op)
{
	buffer_free(&op->src);
	buffer_free(&op->dst);
}
