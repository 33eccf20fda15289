/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libocf-openssl: from a handshake of OpenSSL's to a socket whose records the
 * kernel makes.  ocf_tls(3)
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
 * and 3DES-CBC with HMAC, each also RFC 7366.  All calls give -errno.
 * Different connections may be used by different threads at a time.
 */
#ifndef OCF_TLS_H
#define OCF_TLS_H

#include <ocf/socket.h>
#include <openssl/ssl.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A connection whose records are the kernel's. */
struct ocf_tls;

/**
 * ocf_tls_context() - have the connections of a context watched
 * @ctx: the context, before any SSL is made of it
 *
 * What the kernel has to know of a handshake cannot all be had afterwards.
 * This takes the context's message callback, also of each of its connections,
 * and its keylog callback, of which what was set before is called on.  Every
 * context that a connection may have is to be watched (SSL_set_SSL_CTX()).
 *
 * Return: 0 or -ENOMEM.
 */
int ocf_tls_context(SSL_CTX *ctx);

/**
 * ocf_tls_attach() - give the socket of a finished handshake to the kernel
 * @ssl: the connection, over a socket that is the caller's, as SSL_set_fd() has
 *	it; nothing was read ahead
 * @flags: of OCF_ATTACH_FLAGS
 * @tls: is set
 *
 * From now on send(), sendfile(), ... on the socket send data, and
 * ocf_tls_recv() receives; @ssl counts as shut down, and may be freed.  The
 * socket stays the caller's.
 *
 * Return: 0; or, with no keys set,
 * -EINVAL: no ocf_tls_context(), or no finished handshake over a socket;
 * -EOPNOTSUPP: a version or suite that is not listed above, DTLS, compression,
 *	or smaller records were agreed on (RFC 6066, 4);
 * -EBUSY: bytes were read ahead, or passed without the watcher; keys were
 *	updated; or kTLS has the socket.  Also if the end of a record of data
 *	would have to be known (TLS 1.2 with AES-GCM or AES-CCM, after data were
 *	sent);
 * others: see ocf_socket_set_both().
 */
int ocf_tls_attach(SSL *ssl, unsigned int flags, struct ocf_tls **tls);

/**
 * ocf_tls_recv() - receive data
 * @tls: the connection
 * @data: where to
 * @size: bytes there is room for, at least 1
 * @flags: as of recv(), but MSG_PEEK
 *
 * What is no data is seen to: tickets are dropped, keys updated, no handshake
 * is begun again.  An update of keys the peer asks for is sent from here, so
 * with TLS 1.3 nobody else may send at the same time.
 *
 * Return: bytes; 0: the peer has said that this is all (close_notify);
 * -ECONNABORTED: it has gone without a word: what came may have been cut off;
 * -ECONNRESET: it sent an alert, see ocf_tls_alert();
 * -EBADMSG, -EMSGSIZE, -EPROTO: a record that is none, or a message that must
 * not be, or 33 records in a row that are no data; -EAGAIN, -EINTR, ...
 */
ssize_t ocf_tls_recv(struct ocf_tls *tls, void *data, size_t size, int flags);

/**
 * ocf_tls_update() - send under other keys from now on
 * @tls: the connection, TLS 1.3
 * @peer: the peer, too
 *
 * RFC 8446, 5.5, wants this of a sender of more than 2^24.5 full records of
 * AES-GCM: some 370 GiB.
 *
 * Nobody else may send at the same time.
 *
 * Return: 0; -EOPNOTSUPP: not in this version; -ECONNABORTED: the message was
 * sent, and the kernel had no memory for the keys: the connection was shut
 * down; or what sendmsg() gives.
 */
int ocf_tls_update(struct ocf_tls *tls, bool peer);

/* Says that this is all.  Return: 0, or what sendmsg() gives. */
int ocf_tls_close_notify(struct ocf_tls *tls);

/* The description of the fatal alert that came, or -1. */
int ocf_tls_alert(const struct ocf_tls *tls);

/* Forgets the keys.  The socket stays as it is.  NULL is nothing. */
void ocf_tls_free(struct ocf_tls *tls);

#ifdef __cplusplus
}
#endif
#endif /* OCF_TLS_H */
