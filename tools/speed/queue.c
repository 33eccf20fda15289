// SPDX-License-Identifier: BSD-2-Clause
/*
 * A queue of libocf's that is kept full, whatever is in it.
 */
#include <errno.h>
#include <ocf/queue.h>

#include "way.h"

static struct ocf_queue *queue;
static const struct queue_use *use;
static struct ocf_result results[DEPTH_MAX];
static unsigned int depth, next;

bool failed(int err)
{
	errno = -err;
	return false;
}

struct ocf_queue *queue_begin(struct ocf *ocf, const struct queue_use *what,
			      unsigned int many, unsigned int flags)
{
	int err = ocf_queue_open(ocf, many, flags | OCF_QUEUE_ONE_THREAD,
				 &queue);

	use = what;
	depth = many;
	next = 0;
	if (!err)
		return queue;
	failed(err);
	return NULL;
}

void queue_end(void)
{
	ocf_queue_close(queue);
	queue = NULL;
}

/* Takes what is there; returns how many were right, 0 if one was not. */
static unsigned int take(void)
{
	int i, n = ocf_queue_get(queue, results, depth, -1);

	if (n <= 0)
		return failed(n ?: -EIO);
	for (i = 0; i < n; i++)
		if (!use->is_good(results[i].res))
			return 0;
	return n;
}

unsigned int queue_run(void)
{
	unsigned int n = ocf_queue_count(queue);
	int err = 0;

	while (n++ < depth && !err)
		err = use->put(queue, next++);
	if (!err)
		err = ocf_queue_submit(queue);
	return err ? failed(err) : take();
}

unsigned int queue_drain(void)
{
	unsigned int all = 0, n;

	while (ocf_queue_count(queue)) {
		n = take();
		if (!n)
			break;
		all += n;
	}
	return all;
}
