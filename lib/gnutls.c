// SPDX-License-Identifier: BSD-2-Clause
/*
 * Moves a session of GnuTLS into the kernel.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ocf/gnutls.h"

#define RECORD_MAX	16384	/* bytes: RFC 8446, 5.1 */

static const struct row {
	gnutls_cipher_algorithm_t	algorithm;
	char				cipher[20];
	/* bytes of the tag; 0: the whole tag */
	unsigned int			maclen;
	bool				chain;	/* which has a MAC */
} rows[] = {
	{ GNUTLS_CIPHER_AES_128_GCM, "aes-gcm", 0, false },
	{ GNUTLS_CIPHER_AES_256_GCM, "aes-gcm", 0, false },
	{ GNUTLS_CIPHER_AES_128_CCM, "aes-ccm", 0, false },
	{ GNUTLS_CIPHER_AES_256_CCM, "aes-ccm", 0, false },
	{ GNUTLS_CIPHER_AES_128_CCM_8, "aes-ccm", 8, false },
	{ GNUTLS_CIPHER_AES_256_CCM_8, "aes-ccm", 8, false },
	{ GNUTLS_CIPHER_CHACHA20_POLY1305, "chacha20-poly1305", 0, false },
	{ GNUTLS_CIPHER_AES_128_CBC, "aes-cbc", 0, true },
	{ GNUTLS_CIPHER_AES_256_CBC, "aes-cbc", 0, true },
	{ GNUTLS_CIPHER_3DES_CBC, "des3-cbc", 0, true },
};

static const struct row *row_of(gnutls_cipher_algorithm_t algorithm)
{
	const struct row *r;

	for (r = rows; r < rows + sizeof(rows) / sizeof(*rows); r++)
		if (r->algorithm == algorithm)
			return r;
	return NULL;
}

static const char *mac_of(gnutls_mac_algorithm_t algorithm)
{
	switch (algorithm) {
	case GNUTLS_MAC_SHA1:
		return "hmac-sha1";
	case GNUTLS_MAC_SHA256:
		return "hmac-sha256";
	case GNUTLS_MAC_SHA384:
		return "hmac-sha384";
	default:
		return NULL;
	}
}

static int protocol_of(gnutls_protocol_t version)
{
	switch (version) {
	case GNUTLS_TLS1_1:
		return SO_CRYPT_TLS_1_1;
	case GNUTLS_TLS1_2:
		return SO_CRYPT_TLS_1_2;
	case GNUTLS_TLS1_3:
		return SO_CRYPT_TLS_1_3;
	default:
		return SO_CRYPT_FRAMED;
	}
}

/* The parameters of both directions. */
static int agreed(gnutls_session_t session, struct so_crypt *c)
{
	const struct row *r = row_of(gnutls_cipher_get(session));
	const char *mac;

	memset(c, 0, sizeof(*c));
	c->size = sizeof(*c);
	c->protocol = protocol_of(gnutls_protocol_get_version(session));
	if (!r || !c->protocol ||
	    gnutls_record_get_max_size(session) < RECORD_MAX)
		return -EOPNOTSUPP;
	strcpy(c->cipher, r->cipher);
	c->maclen = r->maclen;
	if (!r->chain)
		return 0;
	mac = mac_of(gnutls_mac_get(session));
	if (!mac)
		return -EOPNOTSUPP;
	strcpy(c->mac, mac);
	c->flags = gnutls_session_etm_status(session) ? SO_CRYPT_ETM : 0;
	return 0;
}

static int copy(uint8_t *to, uint16_t *len, size_t room,
		const gnutls_datum_t *from)
{
	if (from->size > room)
		return -EOPNOTSUPP;
	memcpy(to, from->data, from->size);
	*len = from->size;
	return 0;
}

/* The keys of one direction, as they are after the handshake. */
static int make_keys(gnutls_session_t session, bool in, struct so_crypt *c)
{
	gnutls_datum_t mac, iv, key;
	uint8_t number[8];
	unsigned int i;
	int err;

	if (gnutls_record_get_state(session, in, &mac, &iv, &key, number))
		return -EINVAL;
	/* from TLS 1.1 on each record of CBC has its own IV */
	if (*c->mac)
		iv.size = 0;
	else
		mac.size = 0;
	err = copy(c->key, &c->keylen, sizeof(c->key), &key) ?:
	      copy(c->mackey, &c->mackeylen, sizeof(c->mackey), &mac) ?:
	      copy(c->iv, &c->ivlen, sizeof(c->iv), &iv);
	for (i = 0; i < sizeof(number); i++)
		c->number = c->number << 8 | number[i];
	return err;
}

static bool is_socket(gnutls_session_t session)
{
	int in, out;

	gnutls_transport_get_int2(session, &in, &out);
	return in == out && in >= 0 &&
	       !(gnutls_session_get_flags(session) & GNUTLS_SFLAGS_EARLY_START);
}

int ocf_gnutls_attach(gnutls_session_t session, unsigned int flags)
{
	struct so_crypt in, out;
	int err;

	if (flags & ~OCF_ATTACH_FLAGS)
		return -EINVAL;
	if (!is_socket(session))
		return -EINVAL;
	if (gnutls_record_check_pending(session) ||
	    gnutls_record_check_corked(session))
		return -EBUSY;
	err = agreed(session, &in);
	if (err)
		return err;
	in.flags |= flags;
	out = in;
	err = make_keys(session, true, &in) ?: make_keys(session, false, &out);
	if (!err)
		err = ocf_socket_set_both(gnutls_transport_get_int(session),
					  &in, &out);
	gnutls_memset(&in, 0, sizeof(in));
	gnutls_memset(&out, 0, sizeof(out));
	return err;
}
