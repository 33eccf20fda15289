// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for records: pages that TCP keeps until the peer has acknowledged
 * them.
 *
 * Each processor has a chunk from which rooms for records are cut, and a ring
 * of earlier chunks.  The oldest chunk is used again when its only reference is
 * the ring's.  That saves clearing fresh pages.  Old contents are not sent: a
 * record sends only bytes that were written for it.
 *
 * The payload begins at the same offset in its page as its source.  Then an
 * implementation that walks both page by page finds whole blocks.
 */
#include <linux/gfp.h>
#include <linux/local_lock.h>
#include <linux/mm.h>
#include <linux/percpu.h>

#include "socrypt.h"

#define CHUNK_ORDER	3	/* as sk_page_frag() has it */
#define RING		64	/* chunks: 2 MiB a processor */

/**
 * struct rooms - a processor's chunks
 * @lock: protects the rest; taken with BH disabled, which does not keep other
 *	tasks off this processor on PREEMPT_RT
 * @chunk: the chunk from which the next room is cut, with a reference
 * @off: where the next room begins in @chunk
 * @ring: earlier chunks, with a reference each
 * @next: the oldest one in @ring
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

/* Takes the oldest chunk, if it can be used again, or @fresh. */
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

/* Locks this processor's chunks against BH, too.  Undone by let_go(). */
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

/* Returns where @head bytes begin so that they end at @align in a page. */
static u32 room_begin(u32 off, u32 head, int align)
{
	if (align < 0)
		return ALIGN(off, SO_ROOM_ALIGN);
	return ALIGN(off + head - align, PAGE_SIZE) + align - head;
}

/* Cuts the next part, of at most @size bytes.  False: the chunk is used up. */
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
	/* a further part begins at the beginning of a page */
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
 * @room: is filled in; its size may be less than @size
 * @head: bytes before the data
 * @align: the offset in a page at which the data begin, or -1 for any
 * @size: bytes of the whole record
 * @gfp: allocation flags
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
 * so_room_trim() - give the end of a room back
 * @room: the room
 * @size: bytes to keep
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
 * @at: the position of the byte
 * @left: is set to how many bytes there are from it to the end of its part
 *
 * Return: the address of the byte.
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

/* An entry may have been the last one of the list that it was in before. */
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
 * so_room_list() - make a scatterlist of a room
 * @room: the room
 * @skip: bytes at its beginning to leave out, at most its first part
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
