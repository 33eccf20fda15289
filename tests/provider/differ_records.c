// SPDX-License-Identifier: BSD-2-Clause
/* TLS records, sealed and opened as libssl does. */
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <string.h>

#include "differ.h"

/* ---- with a cipher, and a MAC that libssl makes ---- */

static EVP_CIPHER_CTX *tls_context(const char *name, const char *properties,
				   const unsigned char *key,
				   const unsigned char *iv, int enc,
				   unsigned int version, size_t mac)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, properties);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	OSSL_PARAM params[] = {
		OSSL_PARAM_uint(OSSL_CIPHER_PARAM_TLS_VERSION, &version),
		OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, &mac),
		OSSL_PARAM_END
	};

	CHECK(EVP_CipherInit_ex2(ctx, cipher, key, iv, enc, NULL));
	CHECK(EVP_CIPHER_CTX_set_params(ctx, params));
	EVP_CIPHER_free(cipher);
	return ctx;
}

static void tls_mac(EVP_CIPHER_CTX *ctx, unsigned char *out, size_t size)
{
	unsigned char *mac = NULL;
	OSSL_PARAM params[] = {
		OSSL_PARAM_octet_ptr(OSSL_CIPHER_PARAM_TLS_MAC, (void **)&mac,
				     0),
		OSSL_PARAM_END
	};

	CHECK(EVP_CIPHER_CTX_get_params(ctx, params) && mac);
	memcpy(out, mac, size);
}

/*
 * Each provider makes a record, and the other opens it.  For a spoilt record
 * both return the same error, or a wrong MAC.
 */
void tls_round(void)
{
	static const unsigned int versions[] = {
		TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION,
	};
	static const size_t macs[] = { 0, 20, 32, 48 };
	unsigned int version = versions[below(3)];
	size_t mac = macs[below(4)], len = 16 + mac + below(16000);
	unsigned char key[32], iv[16], mac_a[64], mac_b[64];
	EVP_CIPHER_CTX *a, *b;
	bool spoilt = one_in(3);
	int x, y, ok_a, ok_b;

	what = one_in(3) ? "DES-EDE3-CBC" : "AES-256-CBC";
	fill(key, sizeof(key));
	fill(iv, sizeof(iv));
	memcpy(one, data, len);
	memcpy(other, data, len);
	a = tls_context(what, OURS, key, iv, 1, version, mac);
	b = tls_context(what, THEIRS, key, iv, 1, version, mac);
	CHECK(EVP_CipherUpdate(a, one, &x, one, len));
	CHECK(EVP_CipherUpdate(b, other, &y, other, len));
	CHECK(x == y && !memcmp(one, other, x));
	EVP_CIPHER_CTX_free(a);
	EVP_CIPHER_CTX_free(b);
	if (spoilt) {
		one[x - 1 - below(40)] ^= 1 << below(8);
		memcpy(other, one, x);
	}
	len = x;
	a = tls_context(what, OURS, key, iv, 0, version, mac);
	b = tls_context(what, THEIRS, key, iv, 0, version, mac);
	ok_a = EVP_CipherUpdate(a, one, &x, one, len);
	ok_b = EVP_CipherUpdate(b, other, &y, other, len);
	CHECK(ok_a == ok_b);
	if (ok_a) {
		CHECK(x == y && !memcmp(one, other, len));
		if (mac) {
			tls_mac(a, mac_a, mac);
			tls_mac(b, mac_b, mac);
			CHECK(spoilt || !memcmp(mac_a, mac_b, mac));
		}
	}
	ERR_clear_error();
	EVP_CIPHER_CTX_free(a);
	EVP_CIPHER_CTX_free(b);
}

/* ---- of TLS 1.2, with AEAD ---- */

static EVP_CIPHER_CTX *record_context(const char *name, const char *properties,
				      bool encrypt, unsigned char *key,
				      unsigned char *fixed, int tag)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, properties);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	bool chacha = name[0] == 'C', ccm = !chacha && strstr(name, "CCM");

	CHECK(EVP_CipherInit_ex2(ctx, cipher, NULL, NULL, encrypt, NULL));
	CHECK(!ccm || (EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, 12,
					   NULL) > 0 &&
		       EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, tag,
					   NULL) > 0));
	CHECK(EVP_CipherInit_ex2(ctx, NULL, key, NULL, encrypt, NULL));
	CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IV_FIXED,
				  chacha ? 12 : 4, fixed) > 0);
	EVP_CIPHER_free(cipher);
	return ctx;
}

/*
 * Runs EVP_Cipher().  Returns whether @want bytes come out; EVP_Cipher() may
 * also return the length of the input.
 */
static bool do_record(EVP_CIPHER_CTX *ctx, unsigned char *header,
		      unsigned char *rec, size_t announced, size_t len,
		      size_t want)
{
	int n;

	header[11] = announced >> 8;
	header[12] = announced;
	CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_TLS1_AAD, 13, header) > 0);
	if (one_in(2)) {
		n = EVP_Cipher(ctx, rec, rec, len);
		return n > 0 && (n == (int)want || n == (int)len);
	}
	return EVP_CipherUpdate(ctx, rec, &n, rec, len) && n == (int)want;
}

/*
 * Each provider seals and the other opens; results that must be equal are
 * compared.
 */
void record_round(void)
{
	const char *name = aeads[below(COUNT(aeads))];
	bool chacha = name[0] == 'C', gcm = strstr(name, "GCM"), ours;
	int tag = chacha || gcm || one_in(2) ? 16 : 8;
	size_t front = chacha ? 0 : 8, len, sealed;
	unsigned char key[32], fixed[12], header[13];
	EVP_CIPHER_CTX *seal[2], *open[2];
	int i, j;

	what = name;
	fill(key, sizeof(key));
	fill(fixed, sizeof(fixed));
	fill(header, sizeof(header));
	for (i = 0; i < 2; i++) {
		seal[i] = record_context(name, i ? OURS : THEIRS, true, key,
					 fixed, tag);
		open[i] = record_context(name, i ? OURS : THEIRS, false, key,
					 fixed, tag);
	}
	for (j = 0; j < 6; j++) {
		/* each record has its number */
		header[j]++;
		ours = j % 2;
		len = 1 + below(one_in(2) ? 100 : 16384);
		sealed = front + len + tag;
		memcpy(one + front, data, len);
		CHECK(do_record(seal[ours], header, one, front + len,
				sealed, sealed));
		if (!gcm) {
			memcpy(other + front, data, len);
			CHECK(do_record(seal[!ours], header, other, front + len,
					sealed, sealed));
			CHECK(!memcmp(one, other, sealed));
		}
		memcpy(other, one, sealed);
		CHECK(do_record(open[!ours], header, other, sealed, sealed,
				len));
		CHECK(!memcmp(other + front, data, len));
		memcpy(other, one, sealed);
		CHECK(do_record(open[ours], header, other, sealed, sealed,
				len));
		CHECK(!memcmp(other + front, data, len));
		one[below(sealed)] ^= 1 << below(8);
		CHECK(!do_record(open[1], header, one, sealed, sealed, len));
		ERR_clear_error();
	}
	for (i = 0; i < 2; i++) {
		EVP_CIPHER_CTX_free(seal[i]);
		EVP_CIPHER_CTX_free(open[i]);
	}
}
