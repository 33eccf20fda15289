// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes the keys of records.
 */
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <stdio.h>
#include <string.h>

#include "schedule.h"

#define RANDOM	32	/* bytes: RFC 5246, 7.4.1.2 */
#define MASTER	48	/* bytes: RFC 5246, 8.1 */
#define BLOCK	(2 * (48 + 32 + 16))	/* MAC keys, keys and IVs, at most */

/* The names of a cipher, and its sizes. */
static const struct row {
	int		nid;
	char		cipher[20];
	unsigned int	key;
	unsigned int	block;	/* for a cipher with a MAC; else 0 */
	unsigned int	salt;	/* in TLS 1.2 */
} rows[] = {
	{ NID_aes_128_gcm, "aes-gcm", 16, 0, 4 },
	{ NID_aes_256_gcm, "aes-gcm", 32, 0, 4 },
	{ NID_aes_128_ccm, "aes-ccm", 16, 0, 4 },
	{ NID_aes_256_ccm, "aes-ccm", 32, 0, 4 },
	{ NID_chacha20_poly1305, "chacha20-poly1305", 32, 0, 12 },
	{ NID_aes_128_cbc, "aes-cbc", 16, 16, 0 },
	{ NID_aes_256_cbc, "aes-cbc", 32, 16, 0 },
	{ NID_des_ede3_cbc, "des3-cbc", 24, 8, 0 },
};

static const struct mac {
	int		nid;
	char		name[16];
	unsigned int	len;
} macs[] = {
	{ NID_sha1, "hmac-sha1", 20 },
	{ NID_sha256, "hmac-sha256", 32 },
	{ NID_sha384, "hmac-sha384", 48 },
};

static const struct row *row_of(int nid)
{
	const struct row *r;

	for (r = rows; r < rows + sizeof(rows) / sizeof(*rows); r++)
		if (r->nid == nid)
			return r;
	return NULL;
}

static const struct mac *mac_of(int nid)
{
	const struct mac *m;

	for (m = macs; m < macs + sizeof(macs) / sizeof(*macs); m++)
		if (m->nid == nid)
			return m;
	return NULL;
}

static int protocol_of(int version)
{
	switch (version) {
	case TLS1_VERSION:
		return SO_CRYPT_TLS_1_0;
	case TLS1_1_VERSION:
		return SO_CRYPT_TLS_1_1;
	case TLS1_2_VERSION:
		return SO_CRYPT_TLS_1_2;
	case TLS1_3_VERSION:
		return SO_CRYPT_TLS_1_3;
	default:
		return SO_CRYPT_FRAMED;
	}
}

/* OpenSSL shows only by the name of a suite that its tag has 8 bytes. */
static bool has_short_tag(const SSL_CIPHER *cipher)
{
	const char *name = SSL_CIPHER_standard_name(cipher);

	return name && strstr(name, "_CCM_8");
}

/* RFC 2246, 5; RFC 5246, 5: SHA-256 unless the suite says otherwise. */
static void set_digest(const SSL *ssl, const SSL_CIPHER *cipher,
		       struct suite *s)
{
	const EVP_MD *md = SSL_CIPHER_get_handshake_digest(cipher);

	if (SSL_version(ssl) < TLS1_2_VERSION)
		strcpy(s->digest, "MD5-SHA1");
	else if (!md || EVP_MD_get_type(md) == NID_md5_sha1)
		strcpy(s->digest, "SHA256");
	else
		snprintf(s->digest, sizeof(s->digest), "%s",
			 EVP_MD_get0_name(md));
}

/**
 * suite_of() - find out what a handshake has agreed on
 * @ssl: the connection
 * @etm: RFC 7366 was agreed on
 * @s: is filled in
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int suite_of(const SSL *ssl, bool etm, struct suite *s)
{
	const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
	const struct row *r;
	const struct mac *m;

	memset(s, 0, sizeof(*s));
	s->base.size = sizeof(s->base);
	s->base.protocol = protocol_of(SSL_version(ssl));
	r = cipher ? row_of(SSL_CIPHER_get_cipher_nid(cipher)) : NULL;
	if (!r || !s->base.protocol)
		return -EOPNOTSUPP;
	strcpy(s->base.cipher, r->cipher);
	s->base.keylen = r->key;
	set_digest(ssl, cipher, s);
	if (!r->block) {
		s->ivs = s->base.protocol == SO_CRYPT_TLS_1_3 ? 12 : r->salt;
		s->base.maclen = has_short_tag(cipher) ? 8 : 0;
		return 0;
	}
	m = mac_of(SSL_CIPHER_get_digest_nid(cipher));
	if (!m)
		return -EOPNOTSUPP;
	strcpy(s->base.mac, m->name);
	s->base.mackeylen = m->len;
	/* later versions send an IV with each record */
	s->ivs = s->base.protocol == SO_CRYPT_TLS_1_0 ? r->block : 0;
	s->base.flags = etm ? SO_CRYPT_ETM : 0;
	return 0;
}

/* RFC 5246, 5; @seeds: label and what follows it, to be joined. */
static int prf(const char *digest, const uint8_t *secret, size_t secret_len,
	       const void *const seeds[3], const size_t lens[3], uint8_t *out,
	       size_t len)
{
	OSSL_PARAM params[6], *p = params;
	EVP_KDF_CTX *ctx = NULL;
	EVP_KDF *kdf;
	int i, ok = 0;

	*p++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
						(char *)digest, 0);
	*p++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET,
						 (void *)secret, secret_len);
	for (i = 0; i < 3; i++)
		*p++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED,
							 (void *)seeds[i],
							 lens[i]);
	*p = OSSL_PARAM_construct_end();
	kdf = EVP_KDF_fetch(NULL, "TLS1-PRF", NULL);
	if (kdf)
		ctx = EVP_KDF_CTX_new(kdf);
	if (ctx)
		ok = EVP_KDF_derive(ctx, out, len, params) > 0;
	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return ok ? 0 : -EIO;
}

static int make_block(const SSL *ssl, const char *digest, uint8_t *block,
		      size_t len)
{
	static const char label[] = "key expansion";
	uint8_t master[MASTER], server[RANDOM], client[RANDOM];
	const void *seeds[] = { label, server, client };
	const size_t lens[] = { sizeof(label) - 1, RANDOM, RANDOM };
	size_t n = SSL_SESSION_get_master_key(SSL_get_session(ssl), master,
					      sizeof(master));
	int err;

	SSL_get_server_random(ssl, server, RANDOM);
	SSL_get_client_random(ssl, client, RANDOM);
	err = prf(digest, master, n, seeds, lens, block, len);
	OPENSSL_cleanse(master, sizeof(master));
	return err;
}

/**
 * keys_of_block() - keys up to TLS 1.2: RFC 5246, 6.3
 * @ssl: the connection
 * @s: what was agreed on
 * @clients: the keys for data that the client sends
 * @c: keys and IV are filled in
 *
 * Return: 0 or -EIO.
 */
int keys_of_block(const SSL *ssl, const struct suite *s, bool clients,
		  struct so_crypt *c)
{
	unsigned int mac = s->base.mackeylen, key = s->base.keylen;
	unsigned int which = clients ? 0 : 1;
	uint8_t block[BLOCK], *at = block;
	int err;

	err = make_block(ssl, s->digest, block, 2 * (mac + key + s->ivs));
	if (!err) {
		memcpy(c->mackey, at + which * mac, mac);
		at += 2 * mac;
		memcpy(c->key, at + which * key, key);
		at += 2 * key;
		memcpy(c->iv, at + which * s->ivs, s->ivs);
		c->ivlen = s->ivs;
	}
	OPENSSL_cleanse(block, sizeof(block));
	return err;
}

/* HKDF-Expand-Label() without a context: RFC 8446, 7.1. */
static int expand(const struct suite *s, const struct secret *secret,
		  const char *label, uint8_t *out, size_t len)
{
	int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY, ok = 0;
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "TLS13-KDF", NULL);
	EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
						 (char *)s->digest, 0),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY,
						  (void *)secret->bytes,
						  secret->len),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX,
						  "tls13 ", 6),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL,
						  (void *)label,
						  strlen(label)),
		OSSL_PARAM_construct_end(),
	};

	if (ctx)
		ok = EVP_KDF_derive(ctx, out, len, params) > 0;
	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return ok ? 0 : -EIO;
}

/**
 * keys_of_secret() - keys of TLS 1.3: RFC 8446, 7.3
 * @s: what was agreed on
 * @secret: the direction's
 * @c: key and IV are filled in
 *
 * Return: 0 or -EIO.
 */
int keys_of_secret(const struct suite *s, const struct secret *secret,
		   struct so_crypt *c)
{
	c->ivlen = s->ivs;
	return expand(s, secret, "key", c->key, s->base.keylen) ?:
	       expand(s, secret, "iv", c->iv, s->ivs);
}

/* The secret after this one: RFC 8446, 7.2.  Return: 0 or -EIO. */
int next_secret(const struct suite *s, struct secret *secret)
{
	struct secret next = { .len = secret->len };
	int err = expand(s, secret, "traffic upd", next.bytes, next.len);

	if (!err)
		*secret = next;
	OPENSSL_cleanse(&next, sizeof(next));
	return err;
}
