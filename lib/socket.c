// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sockets: options and control messages as calls.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "ocf/socket.h"

#define ULP	"ocf"

static int result(ssize_t done)
{
	return done < 0 ? -errno : (int)done;
}

int ocf_socket_attach(int fd)
{
	char name[16] = "";
	socklen_t len = sizeof(name);

	if (!setsockopt(fd, IPPROTO_TCP, TCP_ULP, ULP, strlen(ULP)))
		return 0;
	if (errno != EEXIST)
		return -errno;
	/*
	 * the socket already has an upper-layer protocol; if that is ours,
	 * under either of its names, it knows our options
	 */
	if (getsockopt(fd, SOL_OCF, SO_CRYPT_TX, name, &len) &&
	    errno != ENOENT)
		return -EBUSY;
	return 0;
}

int ocf_socket_set(int fd, int direction, const struct so_crypt *crypt)
{
	return result(setsockopt(fd, SOL_OCF, direction, crypt, crypt->size));
}

static bool has_keys(int fd, int direction)
{
	struct so_crypt_info info = { .size = sizeof(info) };

	return !ocf_socket_get(fd, direction, &info);
}

int ocf_socket_set_both(int fd, const struct so_crypt *in,
			const struct so_crypt *out)
{
	int err = ocf_socket_attach(fd);

	if (!err && (has_keys(fd, SO_CRYPT_TX) || has_keys(fd, SO_CRYPT_RX)))
		err = -EBUSY;
	if (!err)
		err = ocf_socket_set(fd, SO_CRYPT_TX, out);
	if (err)
		return err;
	if (!ocf_socket_set(fd, SO_CRYPT_RX, in))
		return 0;
	/* neither the program nor the kernel could continue */
	shutdown(fd, SHUT_RDWR);
	return -ECONNABORTED;
}

int ocf_socket_get(int fd, int direction, struct so_crypt_info *info)
{
	socklen_t len = info->size;

	return result(getsockopt(fd, SOL_OCF, direction, info, &len));
}

/* Room for a control message of one byte, aligned. */
union control {
	struct cmsghdr	head;
	char		room[CMSG_SPACE(1)];
};

ssize_t ocf_socket_send(int fd, uint8_t type, const void *data, size_t size,
			int flags)
{
	struct iovec iov = { (void *)data, size };
	union control control = {
		.head = {
			.cmsg_len = CMSG_LEN(1), .cmsg_level = SOL_OCF,
			.cmsg_type = SO_CRYPT_TYPE,
		},
	};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n;

	*CMSG_DATA(&control.head) = type;
	n = sendmsg(fd, &msg, flags);
	return n < 0 ? -errno : n;
}

ssize_t ocf_socket_recv(int fd, uint8_t *type, void *data, size_t size,
			int flags, bool *ended)
{
	struct iovec iov = { data, size };
	union control control;
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	ssize_t n;

	n = recvmsg(fd, &msg, flags);
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_OCF && c->cmsg_type == SO_CRYPT_TYPE)
		*type = *CMSG_DATA(c);
	if (ended)
		*ended = msg.msg_flags & MSG_EOR;
	return n;
}
