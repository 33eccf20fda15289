// SPDX-License-Identifier: BSD-2-Clause
/*
 * Watches a handshake: how many records went each way under the last keys, what
 * the last one looked like, and the secrets of TLS 1.3.
 *
 * OpenSSL calls back at each record's header, in order with its changes of
 * keys.  A BIO sees the bytes on their way to and from the socket: at the end
 * of a handshake the last ones belong to the last record.
 */
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <string.h>

#include "ocf/tls.h"
#include "watch.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* index of the struct watch in an SSL's ex_data */
static int ssl_index = -1;
static int ctx_index = -1;	/* of the keylog callback there was before */

/* ---- bytes ---- */

static void keep_tail(struct flow *f, const uint8_t *bytes, size_t n)
{
	f->bytes += n;
	if (n >= TAIL) {
		memcpy(f->tail, bytes + n - TAIL, TAIL);
		return;
	}
	memmove(f->tail, f->tail + n, TAIL - n);
	memcpy(f->tail + TAIL - n, bytes, n);
}

static long on_bytes(BIO *bio, int op, const char *bytes, size_t len, int i,
		     long l, int ret, size_t *done)
{
	struct watch *w = (void *)BIO_get_callback_arg(bio);

	if (ret > 0 && done && op == (BIO_CB_WRITE | BIO_CB_RETURN))
		keep_tail(&w->flow[1], (const uint8_t *)bytes, *done);
	else if (ret > 0 && done && op == (BIO_CB_READ | BIO_CB_RETURN))
		keep_tail(&w->flow[0], (const uint8_t *)bytes, *done);
	return ret;
}

/* A BIO that already has a callback cannot be watched. */
static void watch_bytes(BIO *bio, struct watch *w, struct flow *f)
{
	if (f->bio || !bio || !BIO_up_ref(bio))
		return;
	f->bio = bio;
	if (BIO_get_callback_ex(bio))
		return;
	BIO_set_callback_ex(bio, on_bytes);
	BIO_set_callback_arg(bio, (char *)w);
}

static bool is_watched(BIO *bio, const struct watch *w)
{
	return BIO_get_callback_ex(bio) == on_bytes &&
	       BIO_get_callback_arg(bio) == (const char *)w;
}

static void unwatch_bytes(struct watch *w, struct flow *f)
{
	if (f->bio && is_watched(f->bio, w)) {
		BIO_set_callback_ex(f->bio, NULL);
		BIO_set_callback_arg(f->bio, NULL);
	}
	BIO_free(f->bio);
}

/**
 * watch_is_whole() - whether the watch has seen everything
 * @ssl: the connection
 * @w: the watch
 *
 * @bytes and @framed differ if bytes were read ahead, if part of a record is
 * still to come, or if another message callback got some of the headers.
 */
bool watch_is_whole(const SSL *ssl, const struct watch *w)
{
	BIO *bios[] = { SSL_get_rbio(ssl), SSL_get_wbio(ssl) };
	int i;

	for (i = 0; i < 2; i++)
		if (w->flow[i].bio != bios[i] || !is_watched(bios[i], w) ||
		    w->flow[i].bytes != w->flow[i].framed)
			return false;
	return true;
}

/* ---- messages ---- */

/* Whether a ServerHello agrees to RFC 7366: RFC 5246, 7.4.1.3 and 7.4.1.4. */
static bool says_etm(const uint8_t *at, size_t n)
{
	size_t i = 4 + 2 + 32, end;

	if (i >= n)
		return false;
	i += 1 + at[i] + 2 + 1;		/* session, suite, compression */
	if (i + 2 > n)
		return false;
	end = i + 2 + (at[i] << 8 | at[i + 1]);
	for (i += 2; end <= n && i + 4 <= end;
	     i += 4 + (at[i + 2] << 8 | at[i + 3]))
		if ((at[i] << 8 | at[i + 1]) == TLSEXT_TYPE_encrypt_then_mac)
			return true;
	return false;
}

static struct watch *begin(SSL *ssl)
{
	struct watch *w = SSL_get_ex_data(ssl, ssl_index);

	if (w)
		return w;
	w = OPENSSL_zalloc(sizeof(*w));
	if (!w || !SSL_set_ex_data(ssl, ssl_index, w)) {
		OPENSSL_free(w);
		return NULL;
	}
	return w;
}

static void on_header(struct flow *f, const uint8_t *header)
{
	f->length = header[3] << 8 | header[4];
	f->framed += SSL3_RT_HEADER_LENGTH + f->length;
	/* the next record has new keys, up to TLS 1.2 */
	if (header[0] == SSL3_RT_CHANGE_CIPHER_SPEC)
		f->number = 0;
	else
		f->number++;
}

static void on_message(int write, int version, int type, const void *buf,
		       size_t len, SSL *ssl, void *arg)
{
	struct watch *w = begin(ssl);
	const uint8_t *bytes = buf;

	if (!w)
		return;
	/* a server's callback for the first header comes after it was read */
	if (!w->flow[0].bio && type == SSL3_RT_HEADER && !write)
		w->flow[0].bytes = SSL3_RT_HEADER_LENGTH;
	watch_bytes(SSL_get_rbio(ssl), w, &w->flow[0]);
	watch_bytes(SSL_get_wbio(ssl), w, &w->flow[1]);
	if (type == SSL3_RT_HEADER && len >= SSL3_RT_HEADER_LENGTH)
		on_header(&w->flow[!!write], bytes);
	else if (type == SSL3_RT_HANDSHAKE && len &&
		 *bytes == SSL3_MT_SERVER_HELLO)
		w->etm = says_etm(bytes, len);
	else if (type == SSL3_RT_HANDSHAKE && len &&
		 *bytes == SSL3_MT_KEY_UPDATE)
		w->stale = true;
}

/* ---- secrets ---- */

static void read_secret(const char *hex, struct secret *s)
{
	size_t len;

	s->len = OPENSSL_hexstr2buf_ex(s->bytes, sizeof(s->bytes), &len, hex,
				       0) ? len : 0;
}

/* A line of the keylog: label, the client's random, secret. */
static void on_line(const SSL *ssl, const char *line)
{
	static const char labels[2][25] = {
		"SERVER_TRAFFIC_SECRET_0 ", "CLIENT_TRAFFIC_SECRET_0 ",
	};
	SSL_CTX_keylog_cb_func before =
		SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), ctx_index);
	struct watch *w = SSL_get_ex_data(ssl, ssl_index);
	const char *secret = strrchr(line, ' ');
	int clients;
	struct flow *f;

	for (clients = 0; w && secret && clients < 2; clients++) {
		if (strncmp(line, labels[clients], sizeof(labels[0]) - 1))
			continue;
		f = &w->flow[clients != SSL_is_server(ssl)];
		read_secret(secret + 1, &f->secret);
		f->number = 0;
	}
	if (before)
		before(ssl, line);
}

/* ---- beginning and end ---- */

static void forget(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx,
		   long argl, void *argp)
{
	struct watch *w = ptr;

	if (!w)
		return;
	unwatch_bytes(w, &w->flow[0]);
	unwatch_bytes(w, &w->flow[1]);
	OPENSSL_clear_free(w, sizeof(*w));
}

/* The copy of SSL_dup() is another connection, which is not watched. */
static int leave(CRYPTO_EX_DATA *to, const CRYPTO_EX_DATA *from, void **ptr,
		 int idx, long argl, void *argp)
{
	*ptr = NULL;
	return 1;
}

static void make_indices(void)
{
	ssl_index = SSL_get_ex_new_index(0, NULL, NULL, leave, forget);
	ctx_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
}

int ocf_tls_context(SSL_CTX *ctx)
{
	SSL_CTX_keylog_cb_func before = SSL_CTX_get_keylog_callback(ctx);

	pthread_once(&once, make_indices);
	if (ssl_index < 0 || ctx_index < 0)
		return -ENOMEM;
	if (before == on_line)
		return 0;
	if (!SSL_CTX_set_ex_data(ctx, ctx_index, (void *)before))
		return -ENOMEM;
	SSL_CTX_set_keylog_callback(ctx, on_line);
	SSL_CTX_set_msg_callback(ctx, on_message);
	return 0;
}

/* The watch of a connection, or NULL. */
const struct watch *watch_of(const SSL *ssl)
{
	return ssl_index < 0 ? NULL : SSL_get_ex_data(ssl, ssl_index);
}
