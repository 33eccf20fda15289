// SPDX-License-Identifier: BSD-2-Clause
#include <err.h>
#include <fcntl.h>
#include <linux/so_crypt.h>
#include <linux/tls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <crypto/cryptodev.h>

#include "../../tests/lib/tcp.h"
#include "way.h"

#ifndef SOL_TLS
#define SOL_TLS	282
#endif

#define BUFFER_MAX	(512u << 10)
#define RECORD		16384
#define TAG_MAX		64

const struct suite suite_gcm = {
	.name = "AES-128-GCM", .cipher = "aes-gcm", .mac = "", .keylen = 16,
	.ivlen = 4, .dev_cipher = CRYPTO_AES_GCM,
	.openssl = "PSK-AES128-GCM-SHA256", .ktls = true,
};

const struct suite suite_cbc = {
	.name = "AES-128-CBC, HMAC-SHA-1", .cipher = "aes-cbc",
	.mac = "hmac-sha1", .keylen = 16, .mackeylen = 20,
	.dev_cipher = CRYPTO_AES_CBC, .dev_mac = CRYPTO_SHA1_HMAC,
	.openssl = "PSK-AES128-CBC-SHA",
};

/* No .openssl here: Debian's OpenSSL has no TLS suite with 3DES. */
const struct suite suite_3des = {
	.name = "3DES-CBC, HMAC-SHA-1", .cipher = "des3-cbc",
	.mac = "hmac-sha1", .keylen = 24, .mackeylen = 20,
	.dev_cipher = CRYPTO_3DES_CBC, .dev_mac = CRYPTO_SHA1_HMAC,
};

/* All parts of a key differ, because 3DES may refuse a key with equal parts. */
static const uint8_t key[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";

static uint8_t buf[BUFFER_MAX + TAG_MAX] __attribute__((aligned(4096)));

static bool always(const struct suite *s, bool cards)
{
	return true;
}

static void read_all(const struct link *l, size_t at, size_t n)
{
	if (pread(l->file, buf, n, at) != (ssize_t)n)
		err(1, "read");
}

static void write_all(const struct link *l, size_t n)
{
	if (write(l->to, buf, n) != (ssize_t)n)
		err(1, "write");
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void send_file(struct link *l, size_t buffer)
{
	off_t at = 0;

	while (at < (off_t)l->size)
		if (sendfile(l->to, l->file, &at, l->size - at) < 0)
			err(1, "sendfile");
}

/* ---- in the clear ---- */

static void set_nothing(struct link *l)
{
}

/* ---- the papers' traditional path ---- */

static void set_devcrypto(struct link *l)
{
	struct session_op sop = {
		.cipher = l->suite->dev_cipher, .mac = l->suite->dev_mac,
		.keylen = l->suite->keylen, .key = (uint8_t *)key,
		.mackeylen = l->suite->mackeylen, .mackey = (uint8_t *)key,
	};

	l->crypto = open("/dev/crypto", O_RDWR | O_CLOEXEC);
	if (l->crypto < 0 || ioctl(l->crypto, CIOCGSESSION, &sop))
		err(1, "/dev/crypto: %s", l->suite->name);
	l->ses = sop.ses;
}

/* In place; the MAC or tag behind it. */
static size_t encrypt(const struct link *l, size_t n)
{
	struct crypt_op cop = {
		.ses = l->ses, .op = COP_ENCRYPT, .len = n, .src = buf,
		.dst = buf, .mac = buf + n, .iv = (uint8_t *)key,
	};
	struct crypt_auth_op aead = {
		.ses = l->ses, .op = COP_ENCRYPT, .len = n, .src = buf,
		.dst = buf, .iv = (uint8_t *)key, .iv_len = 12,
		.auth_src = (uint8_t *)key, .auth_len = 13,
	};

	if (l->suite->dev_mac ? ioctl(l->crypto, CIOCCRYPT, &cop) :
				ioctl(l->crypto, CIOCAUTHCRYPT, &aead))
		err(1, "/dev/crypto");
	return l->suite->dev_mac ? 20 : 16;
}

static void send_devcrypto(struct link *l, size_t buffer)
{
	size_t at, n;

	for (at = 0; at < l->size; at += n) {
		n = least(buffer, l->size - at);
		read_all(l, at, n);
		write_all(l, n + encrypt(l, n));
	}
}

static void end_devcrypto(struct link *l)
{
	close(l->crypto);
}

/* ---- OpenSSL ---- */

static bool in_openssl(const struct suite *s, bool cards)
{
	return s->openssl && !cards;
}

static unsigned int secret(SSL *ssl, uint8_t *to, unsigned int max)
{
	memcpy(to, key, 16);
	return 16;
}

static unsigned int client_secret(SSL *ssl, const char *hint, char *name,
				  unsigned int name_max, uint8_t *to,
				  unsigned int max)
{
	strcpy(name, "bench");
	return secret(ssl, to, max);
}

static unsigned int server_secret(SSL *ssl, const char *name, uint8_t *to,
				  unsigned int max)
{
	return secret(ssl, to, max);
}

static SSL *new_ssl(const SSL_METHOD *method, const char *suite, int fd)
{
	SSL_CTX *ctx = SSL_CTX_new(method);
	SSL *ssl;

	SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_psk_client_callback(ctx, client_secret);
	SSL_CTX_set_psk_server_callback(ctx, server_secret);
	SSL_CTX_set_cipher_list(ctx, suite);
	ssl = SSL_new(ctx);
	SSL_CTX_free(ctx);
	SSL_set_fd(ssl, fd);
	return ssl;
}

static void set_openssl(struct link *l)
{
	l->ssl = new_ssl(TLS_client_method(), l->suite->openssl, l->to);
	if (SSL_connect(l->ssl) != 1)
		errx(1, "OpenSSL: %s", l->suite->openssl);
}

void way_accept(int fd)
{
	SSL *ssl = new_ssl(TLS_server_method(), "PSK", fd);

	if (SSL_accept(ssl) != 1)
		errx(1, "OpenSSL's other end");
}

static void send_openssl(struct link *l, size_t buffer)
{
	size_t at, n;

	for (at = 0; at < l->size; at += n) {
		n = least(buffer, l->size - at);
		read_all(l, at, n);
		if (SSL_write(l->ssl, buf, n) != (int)n)
			errx(1, "SSL_write");
	}
}

static void end_openssl(struct link *l)
{
	SSL_free(l->ssl);
}

/* ---- kTLS ---- */

static bool in_ktls(const struct suite *s, bool cards)
{
	return s->ktls && !cards;
}

static void set_ktls(struct link *l, int version)
{
	struct tls12_crypto_info_aes_gcm_128 c = {
		.info = { version, TLS_CIPHER_AES_GCM_128 },
	};

	memcpy(c.key, key, sizeof(c.key));
	if (setsockopt(l->to, SOL_TCP, TCP_ULP, "tls", 3) ||
	    setsockopt(l->to, SOL_TLS, TLS_TX, &c, sizeof(c)))
		err(1, "kTLS");
}

static void set_ktls12(struct link *l)
{
	set_ktls(l, TLS_1_2_VERSION);
}

static void set_ktls13(struct link *l)
{
	set_ktls(l, TLS_1_3_VERSION);
}

/* ---- SO_CRYPT ---- */

static void set_so_crypt(struct link *l, int protocol, int ivlen)
{
	const struct suite *s = l->suite;
	struct so_crypt c = {
		.size = sizeof(c), .protocol = protocol,
		.flags = (l->cards ? SO_CRYPT_HARDWARE : SO_CRYPT_SOFTWARE) |
			 (s->dev_mac ? SO_CRYPT_ETM : 0),
		.keylen = s->keylen, .mackeylen = s->mackeylen, .ivlen = ivlen,
	};

	strcpy(c.cipher, s->cipher);
	strcpy(c.mac, s->mac);
	memcpy(c.key, key, s->keylen);
	memcpy(c.mackey, key, s->mackeylen);
	if (setsockopt(l->to, SOL_TCP, TCP_ULP, "ocf", 3) ||
	    setsockopt(l->to, SOL_OCF, SO_CRYPT_TX, &c, sizeof(c)))
		err(1, "SO_CRYPT: %s", s->name);
}

static void set_so_crypt12(struct link *l)
{
	set_so_crypt(l, SO_CRYPT_TLS_1_2, l->suite->ivlen);
}

static bool in_tls13(const struct suite *s, bool cards)
{
	return !s->dev_mac;
}

static void set_so_crypt13(struct link *l)
{
	set_so_crypt(l, SO_CRYPT_TLS_1_3, 12);
}

#define DEVCRYPTO(bytes) { \
	.name = "read(), /dev/crypto, write()", .buffer = bytes, \
	.knows = always, .set = set_devcrypto, .send = send_devcrypto, \
	.end = end_devcrypto }
#define SENDFILE(name_, knows_, set_) { \
	.name = "sendfile(), " name_, .knows = knows_, .set = set_, \
	.send = send_file }

const struct way ways[WAYS] = {
	SENDFILE("in the clear", always, set_nothing),
	{ .name = "read(), SSL_write()", .buffer = RECORD,
	  .knows = in_openssl, .set = set_openssl, .send = send_openssl,
	  .end = end_openssl, .handshake = true },
	DEVCRYPTO(RECORD),
	DEVCRYPTO(4 * RECORD),
	DEVCRYPTO(16 * RECORD),
	DEVCRYPTO(BUFFER_MAX),
	SENDFILE("kTLS, TLS 1.2", in_ktls, set_ktls12),
	[WAY_SO_CRYPT] = SENDFILE("SO_CRYPT, TLS 1.2", always, set_so_crypt12),
	SENDFILE("kTLS, TLS 1.3", in_ktls, set_ktls13),
	SENDFILE("SO_CRYPT, TLS 1.3", in_tls13, set_so_crypt13),
};
