// SPDX-License-Identifier: BSD-2-Clause
/*
 * OpenSSL in user space: what a program has without the kernel.
 */
#include <errno.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include "way.h"

static const struct job *now;
static size_t now_len;
static EVP_CIPHER_CTX *cipher;
static EVP_MD_CTX *digest;
static EVP_MAC_CTX *mac;
static EVP_CIPHER *cipher_alg;
static EVP_MD *digest_alg;
static EVP_MAC *mac_alg;

static bool init(void)
{
	return true;
}

static bool begin_mac(const struct job *job)
{
	OSSL_PARAM p[2] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
						 (char *)"SHA256", 0),
		OSSL_PARAM_construct_end(),
	};

	mac_alg = EVP_MAC_fetch(NULL, job->openssl, NULL);
	mac = EVP_MAC_CTX_new(mac_alg);
	return mac && EVP_MAC_init(mac, key, job->keylen, p);
}

static bool begin(const struct job *job)
{
	if (!job->openssl) {
		errno = EOPNOTSUPP;
		return false;
	}
	if (job->kind == DIGEST && job->keylen)
		return begin_mac(job);
	if (job->kind == DIGEST) {
		digest_alg = EVP_MD_fetch(NULL, job->openssl, NULL);
		digest = EVP_MD_CTX_new();
		return digest_alg && digest;
	}
	cipher_alg = EVP_CIPHER_fetch(NULL, job->openssl, NULL);
	cipher = EVP_CIPHER_CTX_new();
	return cipher_alg && cipher &&
	       EVP_EncryptInit_ex(cipher, cipher_alg, NULL, key, NULL) &&
	       EVP_CIPHER_CTX_set_padding(cipher, 0);
}

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

static void aim(const struct job *job, size_t len)
{
	now = job;
	now_len = len;
}

static bool run_cipher(void)
{
	int n;

	return EVP_EncryptInit_ex(cipher, NULL, NULL, NULL, iv) &&
	       (now->kind != AEAD ||
		EVP_EncryptUpdate(cipher, NULL, &n, aad, AAD_LEN)) &&
	       EVP_EncryptUpdate(cipher, dst, &n, src, now_len) &&
	       EVP_EncryptFinal_ex(cipher, dst + n, &n) &&
	       (now->kind != AEAD ||
		EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, TAG_LEN,
				    dst + now_len));
}

static bool run(void)
{
	size_t n;

	if (mac)
		return EVP_MAC_init(mac, NULL, 0, NULL) &&
		       EVP_MAC_update(mac, src, now_len) &&
		       EVP_MAC_final(mac, dst, &n, now->result);
	if (digest)
		return EVP_DigestInit_ex(digest, digest_alg, NULL) &&
		       EVP_DigestUpdate(digest, src, now_len) &&
		       EVP_DigestFinal_ex(digest, dst, NULL);
	return run_cipher();
}

const struct way way_openssl = {
	"openssl", init, begin, aim, run, end,
};
