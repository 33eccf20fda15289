/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libocf: sockets whose records the kernel encrypts and decrypts.
 *	ocf_socket(3)
 *
 * The options and control messages of <linux/so_crypt.h>, as calls.  All return
 * -errno for an error.  They have no state of their own, so any thread may call
 * any of them.
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

/*
 * so_crypt.flags that the caller may choose when a library attaches the socket
 */
#define OCF_ATTACH_FLAGS \
	(SO_CRYPT_HARDWARE | SO_CRYPT_SOFTWARE | SO_CRYPT_STABLE)

/**
 * ocf_socket_attach() - allow a connected TCP socket to have keys
 * @fd: the socket
 *
 * Nothing else changes until it gets keys.  A second call is no error.
 *
 * Return: 0; -ENOENT: the kernel has no such sockets: load ocf_socrypt;
 * -ENOTCONN, -EBUSY: the socket has another protocol above TCP, -EOPNOTSUPP.
 */
int ocf_socket_attach(int fd);

/**
 * ocf_socket_set() - set the keys of a direction
 * @fd: the socket
 * @direction: SO_CRYPT_TX or SO_CRYPT_RX
 * @crypt: the keys and the format of records; @crypt->size is sizeof(*crypt)
 *
 * Return: 0, or as <linux/so_crypt.h> says.
 */
int ocf_socket_set(int fd, int direction, const struct so_crypt *crypt);

/**
 * ocf_socket_set_both() - attach a socket, and set the keys of both directions
 * @fd: the socket
 * @in: keys for receiving
 * @out: keys for sending
 *
 * Return: 0; -EBUSY: it has keys already; an error of the two calls above, and
 * no keys were set.  If only the second direction is refused, for lack of
 * memory, -ECONNABORTED: the connection was shut down.
 */
int ocf_socket_set_both(int fd, const struct so_crypt *in,
			const struct so_crypt *out);

/**
 * ocf_socket_get() - describe a direction and its counters
 * @fd: the socket
 * @direction: SO_CRYPT_TX or SO_CRYPT_RX
 * @info: is filled in; @info->size is sizeof(*info) before, and less afterwards
 *	if the kernel knows fewer fields
 *
 * Return: 0, -ENOENT: the direction has no keys.
 */
int ocf_socket_get(int fd, int direction, struct so_crypt_info *info);

/**
 * ocf_socket_send() - send records of a type
 * @fd: the socket
 * @type: their type; for data send(), sendfile(), ... can be used as well
 * @data: their payload
 * @size: bytes
 * @flags: as of send()
 *
 * Return: bytes, or -errno of sendmsg().
 */
ssize_t ocf_socket_send(int fd, uint8_t type, const void *data, size_t size,
			int flags);

/**
 * ocf_socket_recv() - receive records of any type
 * @fd: the socket
 * @type: set it to the type of data before; it is changed if a record has
 *	another type
 * @data: where to
 * @size: bytes of @data
 * @flags: as of recv()
 * @ended: is set to whether the end of a record was read; may be NULL
 *
 * Return: bytes of one type, 0 at the end, or -errno of recvmsg().
 */
ssize_t ocf_socket_recv(int fd, uint8_t *type, void *data, size_t size,
			int flags, bool *ended);

#ifdef __cplusplus
}
#endif
#endif /* OCF_SOCKET_H */
