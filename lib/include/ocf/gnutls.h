/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libocf-gnutls: leads from a handshake of GnuTLS to a socket whose records the
 * kernel encrypts.  ocf_gnutls(3)
 *
 * It has TLS 1.1 to 1.3 with the suites of libocf-openssl, including 3DES-CBC.
 * TLS 1.0 is not supported: its next IV is the last block of a record, which
 * GnuTLS does not reveal.
 */
#ifndef OCF_GNUTLS_H
#define OCF_GNUTLS_H

#include <gnutls/gnutls.h>
#include <ocf/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ocf_gnutls_attach() - give the socket of a finished handshake to the kernel
 * @session: the session, over a socket; nothing was read ahead
 * @flags: of OCF_ATTACH_FLAGS
 *
 * From now on send(), sendfile(), ...  send data, and ocf_socket_recv()
 * receives.  The caller handles alerts and handshake messages: it drops
 * tickets, and after a KeyUpdate there are no more keys (-EKEYEXPIRED).
 * @session must not be read or written any more, and may be freed.
 *
 * Return: 0; or, if no keys were set,
 * -EINVAL: the session is not over a socket, its handshake is not finished (as
 *	far as GnuTLS tells), or data were sent before the handshake ended;
 * -EOPNOTSUPP: the version or suite is not supported, or smaller records were
 *	agreed on (RFC 6066, 4; RFC 8449 cannot be seen);
 * -EBUSY: bytes were read ahead (as far as GnuTLS tells), or are corked;
 * others: see ocf_socket_set_both().
 */
int ocf_gnutls_attach(gnutls_session_t session, unsigned int flags);

#ifdef __cplusplus
}
#endif
#endif /* OCF_GNUTLS_H */
