/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libocf: sockets whose records the kernel makes and opens.  ocf_socket(3)
 *
 * What <linux/so_crypt.h> says in options and control messages, as calls.  All
 * give -errno where something is wrong; none keeps anything of its own, so any
 * thread may make any of them.
 */
#ifndef OCF_SOCKET_H
#define OCF_SOCKET_H

#include <linux/so_crypt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* so_crypt.flags that are the caller's to choose when a library attaches */
#define OCF_ATTACH_FLAGS \
	(SO_CRYPT_HARDWARE | SO_CRYPT_SOFTWARE | SO_CRYPT_STABLE)

/**
 * ocf_socket_attach() - make a connected TCP socket one that can have keys
 * @fd: the socket
 *
 * Nothing else changes until it is given some.  Again is no error.
 *
 * Return: 0; -ENOENT: the kernel has no such sockets, load ocf_socrypt;
 * -ENOTCONN, -EBUSY: it has another protocol above TCP, -EOPNOTSUPP.
 */
int ocf_socket_attach(int fd);

/**
 * ocf_socket_set() - give a direction of a socket its keys
 * @fd: the socket
 * @direction: SO_CRYPT_TX or SO_CRYPT_RX
 * @crypt: the keys and how records look; @crypt->size is sizeof(*crypt)
 *
 * Return: 0, or as <linux/so_crypt.h> says.
 */
int ocf_socket_set(int fd, int direction, const struct so_crypt *crypt);

/**
 * ocf_socket_set_both() - attach a socket, and give both directions their keys
 * @fd: the socket
 * @in: keys of what is received
 * @out: keys of what is sent
 *
 * Return: 0; -EBUSY: it has keys already; as of the two calls above, with no
 * keys set; or, if only the second direction is refused, which takes a lack of
 * memory, -ECONNABORTED: the connection was shut down.
 */
int ocf_socket_set_both(int fd, const struct so_crypt *in,
			const struct so_crypt *out);

/**
 * ocf_socket_get() - what a direction has, and has done
 * @fd: the socket
 * @direction: SO_CRYPT_TX or SO_CRYPT_RX
 * @info: is filled in; @info->size is sizeof(*info) before, and less after if
 *	the kernel knows less
 *
 * Return: 0, -ENOENT: it has no keys.
 */
int ocf_socket_get(int fd, int direction, struct so_crypt_info *info);

/**
 * ocf_socket_send() - send records of a type
 * @fd: the socket
 * @type: theirs; data are sent by send(), sendfile(), ... as well
 * @data: what is in them
 * @size: bytes
 * @flags: as of send()
 *
 * Return: bytes, or -errno of sendmsg().
 */
ssize_t ocf_socket_send(int fd, uint8_t type, const void *data, size_t size,
			int flags);

/**
 * ocf_socket_recv() - receive, whatever type it is
 * @fd: the socket
 * @type: is set if it is not that of data: set it to that before
 * @data: where to
 * @size: bytes there is room for
 * @flags: as of recv()
 * @ended: is set to whether a record was read to its end; may be NULL
 *
 * Return: bytes of one type, 0 at the end, or -errno of recvmsg().
 */
ssize_t ocf_socket_recv(int fd, uint8_t *type, void *data, size_t size,
			int flags, bool *ended);

#ifdef __cplusplus
}
#endif
#endif /* OCF_SOCKET_H */
