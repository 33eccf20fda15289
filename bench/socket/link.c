// SPDX-License-Identifier: BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <linux/random.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "way.h"

static void connect_both(int *to, int *from)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(l, (void *)&addr, len) || listen(l, 1) ||
	    getsockname(l, (void *)&addr, &len))
		err(1, "listen");
	*to = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(*to, (void *)&addr, len))
		err(1, "connect");
	*from = accept(l, NULL, NULL);
	close(l);
}

static void receive(const struct way *w, int fd)
{
	if (w->handshake)
		way_accept(fd);
	while (recv(fd, NULL, 1 << 20, MSG_TRUNC) > 0)
		;
	_exit(0);
}

pid_t link_open(struct link *l, const struct way *w)
{
	int from;
	pid_t pid;

	connect_both(&l->to, &from);
	pid = fork();
	if (!pid) {
		close(l->to);
		receive(w, from);
	}
	close(from);
	w->set(l);
	return pid;
}

void link_wait(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "a process did not end well");
}

/*
 * Under --icount the machine has no source of random numbers, and a kernel that
 * has not enough makes each IV the long way.
 */
void link_prepare(void)
{
	struct {
		int	bits, bytes;
		uint8_t	any[64];
	} entropy = { .bits = 512, .bytes = 64 };
	int fd = open("/dev/urandom", O_WRONLY);

	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &entropy))
		err(1, "/dev/urandom");
	close(fd);
}

int link_file(size_t mib)
{
	static char page[1 << 20];
	int file;

	file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	if (file < 0)
		err(1, "/tmp");
	memset(page, 'x', sizeof(page));
	while (mib--)
		if (write(file, page, sizeof(page)) != sizeof(page))
			err(1, "write");
	return file;
}
