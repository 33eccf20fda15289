// SPDX-License-Identifier: BSD-2-Clause
/* Waits for descriptors and for a time. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#include "card.h"

#define MOST 32
/*
 * Sleeping takes longer than this, so if the next event is nearer, the loop
 * does not sleep.
 */
#define NEAR_NS 20000

static struct pollfd fds[MOST];
static struct {
	card_ready_fn *ready;
	void *arg;
} calls[MOST];
static int count;

static int find(int fd)
{
	int i;

	for (i = 0; i < count && fds[i].fd != fd; i++)
		;
	return i;
}

void card_loop_add(int fd, card_ready_fn *ready, void *arg)
{
	int i = find(fd);

	if (i == MOST)
		abort();
	fds[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
	calls[i].ready = ready;
	calls[i].arg = arg;
	if (i == count)
		count++;
}

void card_loop_remove(int fd)
{
	int i = find(fd);

	if (i == count)
		return;
	count--;
	fds[i] = fds[count];
	calls[i] = calls[count];
}

/*
 * A call may add and remove descriptors; then the others are called in the next
 * turn.
 */
static void call_ready(void)
{
	int i, before = count;

	for (i = 0; i < count && count == before; i++)
		if (fds[i].revents) {
			fds[i].revents = 0;
			calls[i].ready(fds[i].fd, calls[i].arg);
		}
}

void card_loop_once(uint64_t due)
{
	uint64_t now, wait;
	struct timespec t = { 0 };
	sigset_t none;

	now = card_now();
	wait = due > now + NEAR_NS ? due - now - NEAR_NS / 2 : 0;
	t.tv_sec = wait / 1000000000;
	t.tv_nsec = wait % 1000000000;
	sigemptyset(&none);
	if (ppoll(fds, count, due == UINT64_MAX ? NULL : &t, &none) > 0)
		call_ready();
}
