// SPDX-License-Identifier: BSD-2-Clause
/*
 * OpenSSL in user space: what a program has without the kernel.
 */
#include <errno.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include "../lib/oracle.h"
#include "way.h"

static const struct work *now;
static size_t now_len;
static unsigned int place;
static uint8_t tail[2 * EVP_MAX_MD_SIZE + 256];

static EVP_CIPHER_CTX *cipher;
static EVP_MD_CTX *digest;
static EVP_MAC_CTX *mac;
static EVP_CIPHER *cipher_alg;
static EVP_MD *digest_alg;
static EVP_MAC *mac_alg;
static OSSL_PARAM again[2];	/* what a MAC wants again each time */

static void end(void)
{
	EVP_CIPHER_CTX_free(cipher);
	EVP_CIPHER_free(cipher_alg);
	EVP_MD_CTX_free(digest);
	EVP_MD_free(digest_alg);
	EVP_MAC_CTX_free(mac);
	EVP_MAC_free(mac_alg);
	cipher = NULL;
	cipher_alg = NULL;
	digest = NULL;
	digest_alg = NULL;
	mac = NULL;
	mac_alg = NULL;
}

static bool begin_mac(const struct work *w, const char *name, char *over)
{
	OSSL_PARAM p[3], *q = p;

	if (!strcmp(name, "HMAC"))
		*q++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
							over, 0);
	else if (strncmp(name, "BLAKE", 5))
		*q++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER,
							over, 0);
	again[0] = again[1] = *q = OSSL_PARAM_construct_end();
	if (w->ivlen && !*w->cipher) {
		again[0] = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV,
							     iv, w->ivlen);
		*q++ = again[0];
		*q = again[1];
	}
	mac_alg = EVP_MAC_fetch(NULL, name, NULL);
	mac = EVP_MAC_CTX_new(mac_alg);
	return mac && EVP_MAC_init(mac, mackey, w->mackeylen, p);
}

static bool begin_digest(const struct work *w)
{
	char over[ORACLE_NAME_MAX];
	const char *name = oracle_digest_name(w->mac, w->mackeylen, over);

	if (!name)
		return false;
	if (*name)
		return begin_mac(w, name, over);
	digest_alg = EVP_MD_fetch(NULL, over, NULL);
	digest = EVP_MD_CTX_new();
	return digest_alg && digest;
}

static bool begin_cipher(const struct work *w)
{
	cipher_alg = oracle_fetch(w->cipher, w->keylen);
	cipher = EVP_CIPHER_CTX_new();
	if (!cipher_alg || !cipher ||
	    !EVP_CipherInit_ex(cipher, cipher_alg, NULL, NULL, NULL,
			       !w->decrypt) ||
	    !EVP_CIPHER_CTX_set_key_length(cipher, w->keylen))
		return false;
	if (w->mode == OCF_MODE_AEAD &&
	    (!EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_IVLEN, w->ivlen,
				  NULL) ||
	     (!strcmp(w->cipher, "aes-ccm") &&
	      !EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, w->maclen,
				   NULL))))
		return false;
	return EVP_CipherInit_ex(cipher, NULL, NULL, key, iv, -1) &&
	       EVP_CIPHER_CTX_set_padding(cipher, 0);
}

static bool find(const struct work *w)
{
	errno = EOPNOTSUPP;
	return !*w->device && w->mode != OCF_MODE_COMPRESS;
}

static bool begin(const struct work *w)
{
	if ((!*w->cipher || begin_cipher(w)) && (!*w->mac || begin_digest(w)))
		return true;
	end();
	errno = EOPNOTSUPP;
	return false;
}

static bool aim(const struct work *w, size_t len)
{
	now = w;
	now_len = len;
	place = 0;
	return true;
}

static bool run_digest(const uint8_t *in, size_t len, uint8_t *out)
{
	size_t n;

	if (mac)
		return EVP_MAC_init(mac, NULL, 0, again) &&
		       EVP_MAC_update(mac, in, len) &&
		       EVP_MAC_final(mac, out, &n, EVP_MAX_MD_SIZE);
	return EVP_DigestInit_ex(digest, digest_alg, NULL) &&
	       EVP_DigestUpdate(digest, in, len) &&
	       EVP_DigestFinal_ex(digest, out, NULL);
}

static bool run_cipher(const uint8_t *in, size_t len, uint8_t *out)
{
	int n;

	return EVP_CipherInit_ex(cipher, NULL, NULL, NULL, iv, -1) &&
	       EVP_CipherUpdate(cipher, out, &n, in, len);
}

/* CCM wants the length, and the tag it is to find, before anything else. */
static bool run_aead(const uint8_t *in, uint8_t *out)
{
	bool ccm = EVP_CIPHER_get_mode(cipher_alg) == EVP_CIPH_CCM_MODE;
	int n;

	if (!EVP_CipherInit_ex(cipher, NULL, NULL, NULL, iv, -1) ||
	    (now->decrypt &&
	     !EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, now->maclen,
				  (void *)(in + now_len))) ||
	    (ccm && !EVP_CipherUpdate(cipher, NULL, &n, NULL, now_len)) ||
	    !EVP_CipherUpdate(cipher, NULL, &n, aad, AAD_LEN) ||
	    !EVP_CipherUpdate(cipher, out, &n, in, now_len))
		return false;
	if (ccm && now->decrypt)
		return true;
	return EVP_CipherFinal_ex(cipher, out + n, &n) &&
	       (now->decrypt ||
		EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, now->maclen,
				    out + now_len));
}

static bool run_eta(const uint8_t *in, uint8_t *out)
{
	if (!now->decrypt)
		return run_cipher(in, now_len, out) &&
		       run_digest(out, now_len, out + now_len);
	return run_digest(in, now_len, tail) &&
	       !memcmp(tail, in + now_len, now->maclen) &&
	       run_cipher(in, now_len, out);
}

/* MAC of the record's header and of the payload */
static bool record_mac(const uint8_t *data, uint8_t *out)
{
	size_t n;

	return EVP_MAC_init(mac, NULL, 0, again) &&
	       EVP_MAC_update(mac, aad, AAD_LEN) &&
	       EVP_MAC_update(mac, data, now_len) &&
	       EVP_MAC_final(mac, out, &n, EVP_MAX_MD_SIZE);
}

/* RFC 5246, section 6.2.3.2: one encryption, in two calls */
static bool run_record(const uint8_t *in, uint8_t *out)
{
	size_t all = record_len(now, now_len);
	size_t pad = all - now_len - now->maclen;
	uint8_t found[EVP_MAX_MD_SIZE];
	int n, m;

	if (now->decrypt)
		return run_cipher(in, all, out) && record_mac(out, found) &&
		       !memcmp(found, out + now_len, now->maclen);
	if (!record_mac(in, tail))
		return false;
	memset(tail + now->maclen, pad - 1, pad);
	return EVP_CipherInit_ex(cipher, NULL, NULL, NULL, iv, -1) &&
	       EVP_CipherUpdate(cipher, out, &n, in, now_len) &&
	       EVP_CipherUpdate(cipher, out + n, &m, tail, now->maclen + pad);
}

static unsigned int run(void)
{
	const uint8_t *in = src_at(place);
	uint8_t *out = dst_at(place++);
	bool ok;

	switch (now->mode) {
	case OCF_MODE_CIPHER:
		ok = run_cipher(in, now_len, out);
		break;
	case OCF_MODE_DIGEST:
		ok = run_digest(in, now_len, out);
		break;
	case OCF_MODE_AEAD:
		ok = run_aead(in, out);
		break;
	case OCF_MODE_MTE:
		ok = run_record(in, out);
		break;
	default:
		ok = run_eta(in, out);
		break;
	}
	if (!ok)
		errno = EIO;
	return ok;
}

static unsigned int drain(void)
{
	return 0;
}

const struct way way_openssl = {
	"openssl", find, begin, aim, run, drain, end,
};
