// SPDX-License-Identifier: BSD-2-Clause
/*
 * Serves the data queues with the timing of a real card.  One engine serves
 * them all: the card does one request after the other, each for op_ns and
 * byte_ps for each of its bytes; its answer is there latency_ns later.  The
 * guest's memory is read when a request is begun and written when its answer is
 * due, as a card's DMA would.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#include "card.h"
#include "libvhost-user.h"

struct job {
	VuVirtqElement elem;	/* first: libvhost-user allocates it */
	TAILQ_ENTRY(job) entry;
	int queue;
	/* index in the available ring before the request was taken */
	uint16_t place;
	uint64_t begin, end;	/* of the work, ns */
	uint64_t due;		/* the answer's time */
	bool lost, twice, brief;
	struct card_result result;
};

TAILQ_HEAD(jobs, job);

static struct jobs waiting = TAILQ_HEAD_INITIALIZER(waiting);	/* by begin */
static struct jobs begun = TAILQ_HEAD_INITIALIZER(begun);	/* by due */
static struct card_knobs *knobs;
static uint64_t inside;		/* jobs in either list */
static uint64_t free_at;	/* when the last of them ends */
static uint64_t done, failed, bytes;
static uint64_t done_by[CARD_QUEUES];
static uint16_t settled[CARD_QUEUES];	/* after the last answered or lost */

void card_queue_init(VuDev *dev, struct card_knobs *set)
{
	(void)dev;
	knobs = set;
}

uint64_t card_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/*
 * Returns the ns that a request of this size takes; its header does not count.
 */
static uint64_t cost(size_t size)
{
	size_t head = sizeof(struct virtio_crypto_op_data_req);
	uint64_t n = size > head ? size - head : 0;

	return knobs->op_ns + n * knobs->byte_ps / 1000;
}

static void take(VuDev *dev, int queue, uint64_t now)
{
	VuVirtq *vq = vu_get_queue(dev, queue);
	struct job *job;
	uint16_t place;

	while (vu_queue_started(dev, vq) && inside < knobs->depth) {
		place = vq->last_avail_idx;
		job = vu_queue_pop(dev, vq, sizeof(*job));
		if (!job)
			return;
		job->queue = queue;
		job->place = place;
		job->begin = now > free_at ? now : free_at;
		job->end = job->begin + cost(card_iov_size(job->elem.out_sg,
							   job->elem.out_num));
		job->lost = job->twice = job->brief = false;
		job->result = (struct card_result){ 0 };
		free_at = job->end;
		inside++;
		TAILQ_INSERT_TAIL(&waiting, job, entry);
	}
}

static void take_all(VuDev *dev, uint64_t now)
{
	int queue;

	for (queue = 0; queue < CARD_QUEUES; queue++)
		take(dev, queue, now);
}

/*
 * A result with an error status is still written: the guest must not read it.
 */
static void spoil(struct job *job)
{
	struct card_result *result = &job->result;
	uint64_t arg;

	job->due = job->end + knobs->latency_ns;
	if (card_draw(knobs, CARD_WRONG) && result->len) {
		arg = knobs->faults[CARD_WRONG].arg;
		result->data[arg % result->len] ^= 1;
	}
	if (card_draw(knobs, CARD_BUSY))
		result->status = knobs->faults[CARD_BUSY].arg;
	if (card_draw(knobs, CARD_ERROR))
		result->status = knobs->faults[CARD_ERROR].arg;
	if (card_draw(knobs, CARD_LATE))
		job->due += knobs->faults[CARD_LATE].arg * 1000000;
	job->lost = card_draw(knobs, CARD_LOST);
	job->twice = card_draw(knobs, CARD_DOUBLE);
	job->brief = card_draw(knobs, CARD_SHORT);
}

static void begin(struct job *job)
{
	size_t room = card_iov_size(job->elem.in_sg, job->elem.in_num);
	struct job *after = TAILQ_LAST(&begun, jobs);

	card_request(job->elem.out_sg, job->elem.out_num, room ? room - 1 : 0,
		     &job->result);
	bytes += job->result.len;
	spoil(job);
	TAILQ_REMOVE(&waiting, job, entry);
	while (after && after->due > job->due)
		after = TAILQ_PREV(after, jobs, entry);
	if (after)
		TAILQ_INSERT_AFTER(&begun, after, job, entry);
	else
		TAILQ_INSERT_HEAD(&begun, job, entry);
}

static void drop(struct jobs *jobs, struct job *job)
{
	TAILQ_REMOVE(jobs, job, entry);
	free(job->result.data);
	free(job);
	inside--;
}

static void drop_from(struct jobs *jobs, int queue)
{
	struct job *job, *next;

	for (job = TAILQ_FIRST(jobs); job; job = next) {
		next = TAILQ_NEXT(job, entry);
		if (job->queue == queue)
			drop(jobs, job);
	}
}

void card_queue_drop(int queue)
{
	drop_from(&waiting, queue);
	drop_from(&begun, queue);
	if (!inside)
		free_at = 0;
}

static void drop_all(void)
{
	int queue;

	for (queue = 0; queue < CARD_QUEUES; queue++)
		card_queue_drop(queue);
}

/* The status is the last byte that may be written (virtio 5.9.7.7). */
static void answer(VuDev *dev, struct job *job)
{
	VuVirtq *vq = vu_get_queue(dev, job->queue);
	const VuVirtqElement *elem = &job->elem;
	size_t room = card_iov_size(elem->in_sg, elem->in_num), said = room;

	if (!room)
		fprintf(stderr, "card: a request without room for a status\n");
	card_iov_write(elem->in_sg, elem->in_num, 0, job->result.data,
		       job->result.len);
	if (room)
		card_iov_write(elem->in_sg, elem->in_num, room - 1,
			       &job->result.status, 1);
	if (job->brief)
		said = knobs->faults[CARD_SHORT].arg;
	vu_queue_push(dev, vq, elem, said);
	if (job->twice) {
		vq->inuse++;
		vu_queue_push(dev, vq, elem, said);
	}
	failed += job->result.status != VIRTIO_CRYPTO_OK;
	done_by[job->queue]++;
}

static void settle(const struct job *job)
{
	uint16_t *after = &settled[job->queue];

	if ((int16_t)(job->place + 1 - *after) > 0)
		*after = job->place + 1;
}

/*
 * Signals the guest, unless there is no descriptor yet.  QEMU starts a ring
 * before it passes the descriptor, and the guest is signalled when it does.
 */
static void notify(VuDev *dev, VuVirtq *vq)
{
	int call = vq->call_fd, nowhere;

	if (call < 0)
		return;
	if (!card_draw(knobs, CARD_MUTE)) {
		vu_queue_notify(dev, vq);
		return;
	}
	nowhere = eventfd(0, EFD_CLOEXEC);
	vq->call_fd = nowhere;
	vu_queue_notify(dev, vq);
	vq->call_fd = call;
	close(nowhere);
}

void card_queue_run(VuDev *dev)
{
	uint64_t now = card_now();
	bool answered[CARD_QUEUES] = { false };
	struct job *job;
	int queue;

	/* the library accepts no answers now, so no request can end */
	if (dev->broken)
		drop_all();
	if (knobs->stalled)
		return;
	take_all(dev, now);
	while ((job = TAILQ_FIRST(&waiting)) && job->begin <= now)
		begin(job);
	while ((job = TAILQ_FIRST(&begun)) && job->due <= now) {
		if (!job->lost) {
			answer(dev, job);
			answered[job->queue] = true;
		}
		done++;
		settle(job);
		drop(&begun, job);
	}
	for (queue = 0; queue < CARD_QUEUES; queue++)
		if (answered[queue])
			notify(dev, vu_get_queue(dev, queue));
	take_all(dev, now);
}

void card_queue_kick(VuDev *dev, int index)
{
	(void)index;
	if (!card_draw(knobs, CARD_DEAF))
		card_queue_run(dev);
}

uint64_t card_queue_next(void)
{
	const struct job *first = TAILQ_FIRST(&waiting);
	const struct job *second = TAILQ_FIRST(&begun);
	uint64_t due = UINT64_MAX;

	if (knobs->stalled)
		return due;
	if (first)
		due = first->begin;
	if (second && second->due < due)
		due = second->due;
	return due;
}

void card_queue_begin(VuDev *dev, int queue)
{
	settled[queue] = vu_get_queue(dev, queue)->last_avail_idx;
}

void card_queue_put_back(VuDev *dev, int queue)
{
	VuVirtq *vq = vu_get_queue(dev, queue);

	card_queue_drop(queue);
	vu_queue_rewind(dev, vq, (uint16_t)(vq->last_avail_idx -
					    settled[queue]));
	/* lost and overtaken requests get no answer */
	vq->inuse = 0;
}

size_t card_queue_show(char *buf, size_t size)
{
	size_t len;
	int i;

	len = snprintf(buf, size,
		       " done=%" PRIu64 " failed=%" PRIu64 " bytes=%" PRIu64
		       " inside=%" PRIu64, done, failed, bytes, inside);
	for (i = 0; i < CARD_QUEUES; i++)
		len += snprintf(buf + len, size - len, " done%d=%" PRIu64, i,
				done_by[i]);
	return len;
}
