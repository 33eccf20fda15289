/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libocf-openssl: leads from a handshake of OpenSSL to a socket whose records
 * the kernel encrypts.  ocf_tls(3)
 *
 *	ctx = SSL_CTX_new(TLS_server_method());
 *	ocf_tls_context(ctx);
 *	...
 *	SSL_accept(ssl);
 *	err = ocf_tls_attach(ssl, 0, &tls);
 *	if (!err) {
 *		n = ocf_tls_recv(tls, request, sizeof(request), 0);
 *		sendfile(fd, file, NULL, size);
 *		ocf_tls_close_notify(tls);
 *		ocf_tls_free(tls);
 *	}
 *	SSL_free(ssl);
 *
 * TLS 1.0 to 1.3; AES-GCM, AES-CCM, AES-CCM-8, ChaCha20-Poly1305, and AES-CBC
 * and 3DES-CBC with HMAC, each also RFC 7366.  All calls return -errno.
 * Different threads may use different connections at a time.
 */
#ifndef OCF_TLS_H
#define OCF_TLS_H

#include <ocf/socket.h>
#include <openssl/ssl.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A connection whose records the kernel encrypts and decrypts. */
struct ocf_tls;

/**
 * ocf_tls_context() - watch the connections of a context
 * @ctx: the context, before any SSL object is made from it
 *
 * OpenSSL does not tell afterwards all that the kernel has to know of a
 * handshake.  So this uses the message callback of the context and of its
 * connections, and the keylog callback.  A keylog callback that was set before
 * is still called.  Every context that a connection may have must be watched
 * (SSL_set_SSL_CTX()).
 *
 * Return: 0 or -ENOMEM.
 */
int ocf_tls_context(SSL_CTX *ctx);

/**
 * ocf_tls_attach() - give the socket of a finished handshake to the kernel
 * @ssl: the connection, over a socket of the caller's, as SSL_set_fd() sets it;
 *	nothing was read ahead
 * @flags: of OCF_ATTACH_FLAGS
 * @tls: is set
 *
 * From now on send(), sendfile(), ... on the socket send data, and
 * ocf_tls_recv() receives.  @ssl counts as shut down, and may be freed.  The
 * socket stays the caller's.
 *
 * Return: 0; or, if no keys were set, -EINVAL: ocf_tls_context() was not
 * called, or there is no finished handshake over a socket; -EOPNOTSUPP: the
 * version or suite is not listed above, DTLS, compression, or smaller records
 * were agreed on (RFC 6066, 4); -EBUSY: bytes were read ahead, or passed
 * without the watcher; keys were updated; or kTLS has the socket.  It is also
 * -EBUSY with TLS 1.2 and AES-GCM or AES-CCM if the last record that was sent
 * is too long for its nonce to be known.  Others: see ocf_socket_set_both().
 */
int ocf_tls_attach(SSL *ssl, unsigned int flags, struct ocf_tls **tls);

/**
 * ocf_tls_recv() - receive data
 * @tls: the connection
 * @data: where to
 * @size: bytes of @data, at least 1
 * @flags: as of recv(), except MSG_PEEK
 *
 * It handles all records that are no data: tickets are dropped, keys are
 * updated, and a new handshake is refused.  It sends a key update if the peer
 * asks for one, so with TLS 1.3 no other thread may send at the same time.
 *
 * Return: bytes; 0: the peer has ended its data (close_notify);
 * -ECONNABORTED: the connection ended without close_notify: the data may have
 * been cut off; -ECONNRESET: the peer sent an alert, see ocf_tls_alert();
 * -EBADMSG, -EMSGSIZE; -EPROTO: something that is no record, a message that is
 * not allowed, or 33 records in a row that are no data; -EAGAIN, -EINTR, ...
 */
ssize_t ocf_tls_recv(struct ocf_tls *tls, void *data, size_t size, int flags);

/**
 * ocf_tls_update() - change the keys for sending
 * @tls: the connection, TLS 1.3
 * @peer: ask the peer to change its keys, too
 *
 * RFC 8446, 5.5, wants this of a sender of more than 2^24.5 full records of
 * AES-GCM: some 370 GiB.
 *
 * No other thread may send at the same time.
 *
 * Return: 0; -EOPNOTSUPP: this version has no such update; -ECONNABORTED: the
 * message was sent, but the kernel had no memory for the keys, and the
 * connection was shut down; or an error of sendmsg().
 */
int ocf_tls_update(struct ocf_tls *tls, bool peer);

/*
 * Sends close_notify: there are no more data.  Return: 0, or an error of
 * sendmsg().
 */
int ocf_tls_close_notify(struct ocf_tls *tls);

/* The description of the fatal alert that was received, or -1. */
int ocf_tls_alert(const struct ocf_tls *tls);

/* Forgets the keys.  The socket stays open.  With NULL, it does nothing. */
void ocf_tls_free(struct ocf_tls *tls);

#ifdef __cplusplus
}
#endif
#endif /* OCF_TLS_H */
