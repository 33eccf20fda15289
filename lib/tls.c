// SPDX-License-Identifier: BSD-2-Clause
/*
 * Moves a connection of OpenSSL into the kernel, and handles the records on it
 * that are no data.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "ocf/tls.h"
#include "watch.h"

/*
 * Records in a row that are no data.  A peer that sends more only wants to keep
 * us busy.
 */
#define OTHERS_MAX	32

/**
 * struct ocf_tls - a connection whose records are the kernel's
 * @fd: the socket
 * @suite: what was agreed on
 * @in: TLS 1.3: secret for receiving
 * @out: TLS 1.3: secret for sending
 * @server: this end is the server
 * @message: the part of a handshake message that has arrived
 * @have: bytes of it
 * @skip: bytes of the message that are still to come, and are not looked at
 * @warning: the first byte of an alert, valid if @half
 * @half: the second byte of the alert has not arrived yet
 * @others: records since the last data
 * @alert: the fatal alert that was received, or -1
 * @over: close_notify came
 * @owes: the peer waits for our key update
 * @err: why nothing more is received, or 0
 */
struct ocf_tls {
	int		fd;
	struct suite	suite;
	struct secret	in, out;
	bool		server;
	uint8_t		message[5];
	unsigned int	have;
	uint32_t	skip;
	uint8_t		warning;
	bool		half;
	unsigned int	others;
	int		alert;
	bool		over;
	bool		owes;
	int		err;
};

/* ---- attaching ---- */

static bool is_1_3(const struct suite *s)
{
	return s->base.protocol == SO_CRYPT_TLS_1_3;
}

/*
 * OpenSSL's nonces count up from a random number.  Its last record contains the
 * current number, so ours continue from there and none is used twice.
 */
static int go_on_counting(const struct flow *f, struct so_crypt *c)
{
	uint64_t nonce = 0;
	unsigned int i;

	if (f->length < 8 || f->length > TAIL)
		return -EBUSY;
	for (i = 0; i < 8; i++)
		nonce = nonce << 8 | f->tail[TAIL - f->length + i];
	nonce++;
	for (i = 8; i--; nonce >>= 8)
		c->iv[c->ivlen + i] = nonce;
	c->ivlen += 8;
	return 0;
}

/* The IV of a record is the last block of the one before: RFC 2246, 6.2.3.2. */
static void go_on_chaining(const struct suite *s, const struct flow *f,
			   struct so_crypt *c)
{
	/* RFC 7366: the MAC follows that block */
	unsigned int mac = s->base.flags & SO_CRYPT_ETM ? s->base.mackeylen : 0;

	memcpy(c->iv, f->tail + TAIL - mac - c->ivlen, c->ivlen);
}

/* The keys of one direction, as they are after the handshake. */
static int make_keys(const SSL *ssl, const struct suite *s,
		     const struct flow *f, bool out, struct so_crypt *c)
{
	int err;

	*c = s->base;
	c->number = f->number;
	if (is_1_3(s))
		return f->secret.len ? keys_of_secret(s, &f->secret, c) :
				       -EINVAL;
	err = keys_of_block(ssl, s, out != SSL_is_server(ssl), c);
	if (err)
		return err;
	if (s->base.protocol == SO_CRYPT_TLS_1_0)
		go_on_chaining(s, f, c);
	else if (out && c->ivlen == 4)
		return go_on_counting(f, c);
	return 0;
}

/*
 * Returns true if the BIO is a plain socket that stays open when the BIO is
 * freed.
 */
static bool is_socket(BIO *bio)
{
	return bio && BIO_method_type(bio) == BIO_TYPE_SOCKET &&
	       !BIO_next(bio) && !BIO_get_close(bio);
}

static int may_attach(SSL *ssl, const struct watch *w)
{
	if (SSL_is_dtls(ssl) || SSL_get_current_compression(ssl) ||
	    (SSL_get_session(ssl) &&
	     SSL_SESSION_get_max_fragment_length(SSL_get_session(ssl))))
		return -EOPNOTSUPP;
	if (!w || !SSL_is_init_finished(ssl) || SSL_get_fd(ssl) < 0 ||
	    !is_socket(SSL_get_rbio(ssl)) || !is_socket(SSL_get_wbio(ssl)) ||
	    SSL_get_wfd(ssl) != SSL_get_rfd(ssl))
		return -EINVAL;
	if (w->stale || SSL_has_pending(ssl) || !watch_is_whole(ssl, w) ||
	    BIO_get_ktls_send(SSL_get_wbio(ssl)) ||
	    BIO_get_ktls_recv(SSL_get_rbio(ssl)))
		return -EBUSY;
	return 0;
}

static int attach(SSL *ssl, const struct watch *w, struct ocf_tls *t)
{
	struct so_crypt in, out;
	int err;

	err = make_keys(ssl, &t->suite, &w->flow[0], false, &in) ?:
	      make_keys(ssl, &t->suite, &w->flow[1], true, &out);
	if (!err)
		err = ocf_socket_set_both(t->fd, &in, &out);
	OPENSSL_cleanse(&in, sizeof(in));
	OPENSSL_cleanse(&out, sizeof(out));
	return err;
}

int ocf_tls_attach(SSL *ssl, unsigned int flags, struct ocf_tls **tls)
{
	const struct watch *w = watch_of(ssl);
	struct ocf_tls *t;
	int err;

	*tls = NULL;
	if (flags & ~OCF_ATTACH_FLAGS)
		return -EINVAL;
	err = may_attach(ssl, w);
	if (err)
		return err;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->fd = SSL_get_fd(ssl);
	t->server = SSL_is_server(ssl);
	t->alert = -1;
	t->in = w->flow[0].secret;
	t->out = w->flow[1].secret;
	err = suite_of(ssl, w->etm, &t->suite);
	t->suite.base.flags |= flags;
	if (!err)
		err = attach(ssl, w, t);
	if (err) {
		ocf_tls_free(t);
		return err;
	}
	/* OpenSSL sends nothing more, and the session can still be resumed */
	SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	*tls = t;
	return 0;
}

void ocf_tls_free(struct ocf_tls *tls)
{
	if (tls)
		OPENSSL_cleanse(tls, sizeof(*tls));
	free(tls);
}

/* ---- new keys ---- */

static int update(struct ocf_tls *t, int direction, struct secret *secret)
{
	struct so_crypt c = t->suite.base;
	int err;

	err = next_secret(&t->suite, secret) ?:
	      keys_of_secret(&t->suite, secret, &c);
	if (!err)
		err = ocf_socket_set(t->fd, direction, &c);
	OPENSSL_cleanse(&c, sizeof(c));
	return err;
}

/* Sends one record, as a whole or not at all. */
static int send_all(struct ocf_tls *t, uint8_t type, const void *data,
		    size_t size, int flags)
{
	ssize_t n = ocf_socket_send(t->fd, type, data, size,
				    MSG_NOSIGNAL | flags);

	return n < 0 ? n : n == (ssize_t)size ? 0 : -EIO;
}

/* The ends have different keys: no further record could be understood. */
static int part(struct ocf_tls *t)
{
	shutdown(t->fd, SHUT_RDWR);
	t->err = -ECONNABORTED;
	return t->err;
}

static int send_update(struct ocf_tls *t, bool peer, int flags)
{
	const uint8_t message[] = { SSL3_MT_KEY_UPDATE, 0, 0, 1, peer };
	int err = send_all(t, SSL3_RT_HANDSHAKE, message, sizeof(message),
			   flags);

	if (err)
		return err;
	t->owes = false;
	return update(t, SO_CRYPT_TX, &t->out) ? part(t) : 0;
}

int ocf_tls_update(struct ocf_tls *tls, bool peer)
{
	if (!is_1_3(&tls->suite))
		return -EOPNOTSUPP;
	return tls->err ?: send_update(tls, peer, 0);
}

/*
 * RFC 8446, 4.6.3: answers the peer's request for a key update; an earlier
 * answer may have found no room in the socket.
 */
static int pay(struct ocf_tls *t)
{
	int err = t->owes ? send_update(t, false, MSG_DONTWAIT) : 0;

	return err == -EAGAIN ? 0 : err;
}

static int on_key_update(struct ocf_tls *t, uint8_t request, bool last)
{
	int err;

	/*
	 * RFC 8446, 5.1: a key update must end its record, because the next
	 * record has new keys
	 */
	if (!last || request > 1)
		return -EPROTO;
	err = update(t, SO_CRYPT_RX, &t->in);
	if (err)
		return part(t);
	t->owes |= request;
	return pay(t);
}

/* ---- what is no data ---- */

/*
 * The head of a message is complete.  Return: 0, or the error if it is not
 * allowed.
 */
static int on_head(struct ocf_tls *t)
{
	static const uint8_t refusal[] = { SSL3_AL_WARNING,
					   SSL_AD_NO_RENEGOTIATION };
	uint8_t type = t->message[0];
	int err;

	t->skip = t->message[1] << 16 | t->message[2] << 8 | t->message[3];
	t->have = 0;
	if (is_1_3(&t->suite))
		return type == SSL3_MT_NEWSESSION_TICKET && !t->server ?
			       0 : -EPROTO;
	if (type != (t->server ? SSL3_MT_CLIENT_HELLO : SSL3_MT_HELLO_REQUEST))
		return -EPROTO;
	/*
	 * the refusal is only a warning, so it is left out if there is no room
	 */
	err = send_all(t, SSL3_RT_ALERT, refusal, sizeof(refusal),
		       MSG_DONTWAIT);
	return err == -EAGAIN ? 0 : err;
}

static bool is_key_update(const struct ocf_tls *t)
{
	static const uint8_t head[] = { SSL3_MT_KEY_UPDATE, 0, 0, 1 };

	return is_1_3(&t->suite) && !memcmp(t->message, head, sizeof(head));
}

static int on_handshake(struct ocf_tls *t, const uint8_t *at, size_t n)
{
	uint32_t skipped;
	int err = 0;

	while (n && !err) {
		skipped = t->skip < n ? t->skip : n;
		t->skip -= skipped;
		at += skipped;
		n -= skipped;
		if (!n)
			break;
		t->message[t->have++] = *at++;
		n--;
		if (t->have == 5) {
			t->have = 0;
			err = on_key_update(t, t->message[4], !n);
		} else if (t->have == 4 && !is_key_update(t)) {
			err = on_head(t);
		}
	}
	return err;
}

/* An alert: level and description.  Return: 0, or the error if it is fatal. */
static int on_whole_alert(struct ocf_tls *t, uint8_t level, uint8_t what)
{
	if (what == SSL_AD_CLOSE_NOTIFY) {
		t->over = true;
		return 0;
	}
	/* RFC 8446, 6: TLS 1.3 has no other warnings */
	if (what == SSL_AD_USER_CANCELLED ||
	    (!is_1_3(&t->suite) && level == SSL3_AL_WARNING))
		return 0;
	t->alert = what;
	return -ECONNRESET;
}

static int on_alert(struct ocf_tls *t, const uint8_t *at, size_t n)
{
	int err = 0;

	for (; n && !err && !t->over; n--, at++) {
		if (t->half)
			err = on_whole_alert(t, t->warning, *at);
		t->warning = *at;
		t->half = !t->half;
	}
	return err;
}

/* RFC 8446, 5.1: no other record may come within a message. */
static bool is_in_between(const struct ocf_tls *t, uint8_t type)
{
	return (type != SSL3_RT_HANDSHAKE && (t->have || t->skip)) ||
	       (type != SSL3_RT_ALERT && t->half);
}

static int on_other(struct ocf_tls *t, uint8_t type, const uint8_t *at,
		    size_t n)
{
	if (t->others > OTHERS_MAX)
		return -EPROTO;
	switch (type) {
	case SSL3_RT_ALERT:
		return on_alert(t, at, n);
	case SSL3_RT_HANDSHAKE:
		return on_handshake(t, at, n);
	default:
		return -EPROTO;
	}
}

ssize_t ocf_tls_recv(struct ocf_tls *tls, void *data, size_t size, int flags)
{
	uint8_t type;
	bool ended;
	ssize_t n;

	if (!size || flags & MSG_PEEK)
		return -EINVAL;
	while (!tls->over && !tls->err) {
		tls->err = pay(tls);
		if (tls->err)
			break;
		type = SSL3_RT_APPLICATION_DATA;
		n = ocf_socket_recv(tls->fd, &type, data, size, flags, &ended);
		if (n < 0)
			return n;
		if (!n)
			return -ECONNABORTED;
		if (is_in_between(tls, type)) {
			tls->err = -EPROTO;
			break;
		}
		if (type == SSL3_RT_APPLICATION_DATA) {
			tls->others = 0;
			return n;
		}
		tls->others += ended;
		tls->err = on_other(tls, type, data, n);
	}
	return tls->err;
}

int ocf_tls_close_notify(struct ocf_tls *tls)
{
	static const uint8_t alert[] = { SSL3_AL_WARNING, SSL_AD_CLOSE_NOTIFY };

	return send_all(tls, SSL3_RT_ALERT, alert, sizeof(alert), 0);
}

int ocf_tls_alert(const struct ocf_tls *tls)
{
	return tls->alert;
}
