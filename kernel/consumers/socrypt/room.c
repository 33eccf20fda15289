// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where records are built: pages that TCP keeps until its peer has them.
 *
 * Each processor has a chunk that records are cut off, and a ring of those
 * before it.  The oldest is used again when nobody else has it any more: fresh
 * pages would have to be cleared.  What a page held before never leaves: only
 * what was written is sent.
 *
 * The payload begins where its source does in its page, so that an
 * implementation that goes through both page by page meets whole blocks.
 */
#include <linux/gfp.h>
#include <linux/local_lock.h>
#include <linux/mm.h>
#include <linux/percpu.h>

#include "socrypt.h"

#define CHUNK_ORDER	3	/* as sk_page_frag() has it */
#define RING		64	/* chunks: 2 MiB a processor */

/**
 * struct rooms - a processor's
 * @lock: of the rest, taken with BH disabled; disabling BH is not enough where
 *	  another task can then still run on this processor (PREEMPT_RT)
 * @chunk: what is cut off next, with a reference
 * @off: from where on
 * @ring: those before it, with a reference each
 * @next: the oldest one
 */
struct rooms {
	local_lock_t	lock;
	struct page	*chunk;
	u32		off;
	struct page	*ring[RING];
	u32		next;
};

static struct rooms __percpu *rooms;

static bool is_ours_alone(struct page *page)
{
	return page && page_ref_count(page) == 1;
}

/* The oldest, if it can be used again, or @fresh is what is cut off next. */
static bool turn(struct rooms *r, struct page **fresh)
{
	struct page **oldest = &r->ring[r->next], *was = *oldest;

	if (!is_ours_alone(was) && !*fresh)
		return false;
	*oldest = r->chunk;
	if (is_ours_alone(was)) {
		r->chunk = was;
	} else {
		if (was)
			put_page(was);
		r->chunk = *fresh;
		*fresh = NULL;
	}
	r->off = 0;
	r->next = (r->next + 1) % RING;
	return true;
}

static struct page *new_chunk(gfp_t gfp)
{
	struct page *page = alloc_pages(gfp | __GFP_COMP | __GFP_NOWARN |
					__GFP_NORETRY, CHUNK_ORDER);

	return page ?: alloc_page(gfp | __GFP_NOWARN);
}

/* Completions in BH cut off chunks, too.  Undone by let_go(). */
static struct rooms *room_take(void)
{
	local_bh_disable();
	local_lock_nested_bh(&rooms->lock);
	return this_cpu_ptr(rooms);
}

static void let_go(void)
{
	local_unlock_nested_bh(&rooms->lock);
	local_bh_enable();
}

/* Where a head is put so that what follows it is at @align in its page. */
static u32 room_begin(u32 off, u32 head, int align)
{
	if (align < 0)
		return ALIGN(off, SO_ROOM_ALIGN);
	return ALIGN(off + head - align, PAGE_SIZE) + align - head;
}

/* Cuts the next part off, of at most @size bytes; false: nothing is left. */
static bool cut(struct rooms *r, struct so_room *room, u32 head, int align,
		u32 size)
{
	struct so_part *part = &room->part[room->parts];
	u32 off, end;

	if (!r->chunk)
		return false;
	end = page_size(r->chunk);
	if (end == PAGE_SIZE)
		align = -1;
	/* what goes on does so at the beginning of a page */
	off = room->parts ? PAGE_ALIGN(r->off) :
			    room_begin(r->off, head, align);
	if (off + (room->parts ? 0 : head) >= end)
		return false;
	*part = (struct so_part){ r->chunk, off, min(size, end - off) };
	get_page(r->chunk);
	r->off = off + part->len;
	room->size += part->len;
	room->parts++;
	return true;
}

/**
 * so_room_get() - find room for a record
 * @room: is filled in; there may be less than @size
 * @head: bytes before the data
 * @align: where in a page the data are to begin, or -1
 * @size: bytes of all of it
 * @gfp: how to allocate
 *
 * Context: as @gfp says; process or BH.
 * Return: 0 or -ENOMEM.
 */
int so_room_get(struct so_room *room, u32 head, int align, u32 size, gfp_t gfp)
{
	struct page *fresh = NULL;
	struct rooms *r;

	room->parts = 0;
	room->size = 0;
	r = room_take();
	while (room->size < size && room->parts < SO_PARTS) {
		if (cut(r, room, head, align, size - room->size) ||
		    turn(r, &fresh))
			continue;
		let_go();
		fresh = new_chunk(gfp);
		r = room_take();
		if (!fresh)
			break;
	}
	let_go();
	if (fresh)
		put_page(fresh);
	return room->size ? 0 : -ENOMEM;
}

/**
 * so_room_trim() - give back what is not needed
 * @room: the room
 * @size: bytes that are
 *
 * Context: process or BH.
 */
void so_room_trim(struct so_room *room, u32 size)
{
	struct rooms *r = room_take();
	struct so_part *part;
	u32 less;

	while (room->size > size) {
		part = &room->part[room->parts - 1];
		less = min(room->size - size, part->len);
		if (r->chunk == part->page && r->off == part->off + part->len)
			r->off -= less;
		part->len -= less;
		room->size -= less;
		if (part->len)
			break;
		put_page(part->page);
		room->parts--;
	}
	let_go();
}

/* Context: any. */
void so_room_put(struct so_room *room)
{
	while (room->parts)
		put_page(room->part[--room->parts].page);
	room->size = 0;
}

/**
 * so_room_byte() - find a byte
 * @room: the room
 * @at: which
 * @left: bytes from there to the end of its part
 *
 * Return: where it is.
 */
u8 *so_room_byte(const struct so_room *room, u32 at, u32 *left)
{
	const struct so_part *part = room->part;

	while (at >= part->len)
		at -= part++->len;
	*left = part->len - at;
	return page_address(part->page) + part->off + at;
}

void so_room_write(const struct so_room *room, u32 at, const u8 *from, u32 len)
{
	u32 n;
	u8 *to;

	for (; len; len -= n, at += n, from += n) {
		to = so_room_byte(room, at, &n);
		n = min(n, len);
		memcpy(to, from, n);
	}
}

void so_room_read(const struct so_room *room, u32 at, u8 *to, u32 len)
{
	const u8 *from;
	u32 n;

	for (; len; len -= n, at += n, to += n) {
		from = so_room_byte(room, at, &n);
		n = min(n, len);
		memcpy(to, from, n);
	}
}

/* Entries are used again: the last one before may not be the last one now. */
void so_sg_set(struct scatterlist *sg, struct page *page, u32 len, u32 off)
{
	sg_unmark_end(sg);
	sg_set_page(sg, page, len, off);
}

void so_sg_set_bytes(struct scatterlist *sg, const void *bytes, u32 len)
{
	so_sg_set(sg, virt_to_page(bytes), len, offset_in_page(bytes));
}

/**
 * so_room_list() - a room as a list
 * @room: the room
 * @skip: bytes at its beginning that are left out, of the first part at most
 * @sg: SO_PARTS entries
 *
 * Return: entries used.
 */
u32 so_room_list(const struct so_room *room, u32 skip, struct scatterlist *sg)
{
	const struct so_part *part;
	u32 i, n = 0;

	for (i = 0; i < room->parts; i++, skip = 0) {
		part = &room->part[i];
		if (part->len > skip)
			so_sg_set(&sg[n++], part->page, part->len - skip,
				  part->off + skip);
	}
	return n;
}

int so_rooms_init(void)
{
	int cpu;

	rooms = alloc_percpu(struct rooms);
	if (!rooms)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		local_lock_init(&per_cpu_ptr(rooms, cpu)->lock);
	return 0;
}

void so_rooms_exit(void)
{
	struct rooms *r;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		r = per_cpu_ptr(rooms, cpu);
		if (r->chunk)
			put_page(r->chunk);
		for (i = 0; i < RING; i++)
			if (r->ring[i])
				put_page(r->ring[i]);
	}
	free_percpu(rooms);
}
