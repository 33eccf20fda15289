// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records of TLS before 1.3 with a cipher and a MAC: adds and removes the
 * padding and cuts off the MAC, which OpenSSL compares.
 */
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include "cipher.h"

/* Returns all ones if @a == @b, else zero, without a branch. */
static unsigned char same(size_t a, size_t b)
{
	size_t x = a ^ b;

	return (unsigned char)(((x | (0 - x)) >> (sizeof(x) * 8 - 1)) - 1);
}

/* Returns all ones if @a >= @b, else zero; both must be far from SIZE_MAX. */
static unsigned char not_less(size_t a, size_t b)
{
	return (unsigned char)(((a - b) >> (sizeof(a) * 8 - 1)) - 1);
}

/*
 * Removes the padding and the MAC of a record.  The time depends only on
 * lengths that everybody can see (RFC 5246 section 6.2.3.2).  If the padding is
 * wrong, the MAC is random bytes.
 */
static int unpad_record(struct cipher *c, const unsigned char *rec, size_t *len)
{
	size_t mac = c->tls_mac_size, all = *len, check, i, j, from, pad, end;
	unsigned char good, b, random[TLS_MAC_MAX];

	if (mac > TLS_MAC_MAX || all < mac + 1 ||
	    (mac && RAND_bytes_ex(c->ses.prov->soft, random, mac, 0) <= 0))
		return 0;
	pad = rec[all - 1];
	good = not_less(all, mac + 1 + pad);
	check = all < 256 ? all : 256;
	for (i = 0; i < check; i++) {
		b = rec[all - 1 - i];
		good &= ~not_less(pad, i) | same(pad, b);
	}
	good = same(good, 0xff);
	end = all - ((pad + 1) & (0 - (size_t)(good & 1)));
	*len = end - mac;
	if (!mac)
		return good & 1;
	memset(c->tls_mac, 0, mac);
	from = all > mac + 256 ? all - mac - 256 : 0;
	for (i = from; i < all; i++)
		for (j = 0; j < mac; j++)
			c->tls_mac[j] |= rec[i] & same(i, end - mac + j);
	for (j = 0; j < mac; j++)
		c->tls_mac[j] = (c->tls_mac[j] & good) | (random[j] & ~good);
	return 1;
}

static bool has_explicit_iv(unsigned int tls)
{
	return tls != TLS1_VERSION && tls != SSL3_VERSION;
}

int cipher_record(struct cipher *c, unsigned char *out, size_t *outl,
		  size_t outsize, const unsigned char *in, size_t len)
{
	size_t block = c->row->block, pad;

	if (!in || in != out || outsize < len || !c->pad)
		return 0;
	if (c->encrypt) {
		pad = block - len % block;
		if (outsize < len + pad)
			return 0;
		memset(out + len, pad - 1, pad);
		len += pad;
	}
	if (!len || len % block || !cipher_blocks(c, out, out, len))
		return 0;
	*outl = len;
	if (c->encrypt)
		return 1;
	if (has_explicit_iv(c->tls)) {
		if (len < 2 * block)
			return 0;
		*outl -= block;
		out += block;
	}
	return unpad_record(c, out, outl);
}
