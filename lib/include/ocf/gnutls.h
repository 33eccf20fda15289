/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libocf-gnutls: from a handshake of GnuTLS's to a socket whose records the
 * kernel makes.  ocf_gnutls(3)
 *
 * TLS 1.1 to 1.3 as libocf-openssl has them, 3DES-CBC suites among them.  TLS
 * 1.0 goes on from the end of a record, which GnuTLS does not tell.
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
 * Return: 0; or, with no keys set,
 * -EINVAL: not over a socket; data were sent before the handshake ended; an
 *	unfinished handshake, as far as GnuTLS says so;
 * -EOPNOTSUPP: a version or suite that is not there, or smaller records were
 *	agreed on (RFC 6066, 4; RFC 8449 is not seen);
 * -EBUSY: bytes were read ahead, as far as GnuTLS says so, or are corked;
 * others: see ocf_socket_set_both().
 */
int ocf_gnutls_attach(gnutls_session_t session, unsigned int flags);

#ifdef __cplusplus
}
#endif
#endif /* OCF_GNUTLS_H */
