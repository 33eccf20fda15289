// SPDX-License-Identifier: BSD-2-Clause
#include <err.h>
#include <fcntl.h>
#include <linux/random.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../tests/lib/tcp.h"
#include "way.h"

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
	int fd[2];
	pid_t pid;

	tcp_pair(fd);
	l->to = fd[1];
	pid = fork();
	if (!pid) {
		close(fd[1]);
		receive(w, fd[0]);
	}
	close(fd[0]);
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
 * Under --icount the machine has no source of entropy.  Until the kernel's
 * random number generator is seeded, each IV takes a slower path.  So seed it.
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
