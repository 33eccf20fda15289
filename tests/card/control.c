// SPDX-License-Identifier: BSD-2-Clause
/*
 * The control socket: each line gets a line as answer.  Several clients may be
 * connected.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "card.h"

struct client {
	size_t len;
	char line[CARD_MAX_LINE];
};

static struct card_knobs *knobs;

/* A child process ends the stop. */
static void stop_for(uint64_t ms)
{
	pid_t self = getpid();

	if (fork() == 0) {
		close_range(3, ~0u, 0);
		usleep(ms * 1000);
		kill(self, SIGCONT);
		_exit(0);
	}
	raise(SIGSTOP);
}

static void reply(int fd, const char *text, size_t len)
{
	/* a client that does not read gets no answer */
	send(fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void show(int fd)
{
	char buf[1024] = "ok";
	size_t len = 2;

	len += card_queue_show(buf + len, sizeof(buf) - len);
	len += snprintf(buf + len, sizeof(buf) - len, " have=%zu",
			card_sessions_count());
	len += card_knobs_show(knobs, buf + len, sizeof(buf) - len);
	buf[len++] = '\n';
	reply(fd, buf, len);
}

static void line(int fd, char *text)
{
	enum card_action action;
	uint64_t arg = 0;
	char buf[128];
	const char *why = card_knobs_line(knobs, text, &action, &arg);

	if (why) {
		reply(fd, buf, snprintf(buf, sizeof(buf), "error: %s\n", why));
		return;
	}
	if (action == CARD_SHOW) {
		show(fd);
		return;
	}
	reply(fd, "ok\n", 3);
	if (action == CARD_FORGET)
		card_sessions_forget();
	else if (action == CARD_STOP)
		stop_for(arg);
	else if (action == CARD_DIE)
		raise(SIGKILL);
}

static void hang_up(int fd, struct client *client)
{
	card_loop_remove(fd);
	close(fd);
	free(client);
}

static void readable(int fd, void *arg)
{
	struct client *client = arg;
	char *end, *text = client->line;
	ssize_t n = recv(fd, text + client->len,
			 sizeof(client->line) - client->len, 0);

	if (n <= 0) {
		hang_up(fd, client);
		return;
	}
	client->len += n;
	while ((end = memchr(text, '\n', client->line + client->len - text))) {
		*end = 0;
		line(fd, text);
		text = end + 1;
	}
	client->len -= text - client->line;
	memmove(client->line, text, client->len);
	if (client->len == sizeof(client->line))
		hang_up(fd, client);
}

static void connecting(int fd, void *arg)
{
	struct client *client = calloc(1, sizeof(*client));
	int new = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

	(void)arg;
	if (new < 0 || !client) {
		free(client);
		return;
	}
	card_loop_add(new, readable, client);
}

int card_listen(const char *path, card_ready_fn *ready)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(addr.sun_path, path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(fd, 8))
		return -1;
	card_loop_add(fd, ready, NULL);
	return fd;
}

int card_control_open(const char *path, struct card_knobs *set)
{
	knobs = set;
	return card_listen(path, connecting);
}
