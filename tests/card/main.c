// SPDX-License-Identifier: BSD-2-Clause
/*
 *	card SOCKET CONTROL [LINE...]
 *
 * A virtio-crypto card: QEMU connects to SOCKET (cryptodev-vhost-user).
 * CONTROL takes speeds and faults; each LINE is one as if sent there.  Says
 * "ready" when both are there, and serves one QEMU after the other.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "card.h"

static struct card_knobs knobs;
static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

static void connecting(int fd, void *arg)
{
	int socket = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

	(void)arg;
	if (socket >= 0)
		card_vhost_open(socket, &knobs);
}

static int set_up(char **lines)
{
	enum card_action action;
	char line[CARD_MAX_LINE];
	const char *why;
	uint64_t arg;

	card_knobs_init(&knobs);
	card_queue_init(NULL, &knobs);
	for (; *lines; lines++) {
		snprintf(line, sizeof(line), "%s", *lines);
		why = card_knobs_line(&knobs, line, &action, &arg);
		if (why || action != CARD_NOTHING) {
			fprintf(stderr, "card: %s: %s\n", *lines,
				why ? why : "not now");
			return -1;
		}
	}
	return 0;
}

/* SIGTERM comes only while the loop waits, so that none is missed. */
static void set_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGTERM, end);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	struct VuDev *dev;

	if (argc < 3) {
		fprintf(stderr, "usage: card SOCKET CONTROL [LINE...]\n");
		return 2;
	}
	if (set_up(argv + 3))
		return 2;
	set_signals();
	prctl(PR_SET_TIMERSLACK, 1);
	if (card_listen(argv[1], connecting) < 0 ||
	    card_control_open(argv[2], &knobs) < 0) {
		perror("card");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (!ended) {
		card_loop_once(card_queue_next());
		dev = card_vhost_dev();
		if (dev)
			card_queue_run(dev);
	}
	if (card_vhost_dev())
		card_vhost_close();
	return 0;
}
