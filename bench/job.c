// SPDX-License-Identifier: BSD-2-Clause
/*
 * The jobs, their data, and what must come out of them by OpenSSL's opinion.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <crypto/cryptodev.h>

#include "../tests/lib/oracle.h"
#include "way.h"

#define PAGE	4096

const struct job jobs[] = {
	{ "null", CIPHER, "null", CRYPTO_NULL, "ecb(cipher_null)", NULL, 0, 0 },
	{ "aes-128-cbc", CIPHER, "aes-cbc", CRYPTO_AES_CBC, "cbc(aes)",
	  "AES-128-CBC", 16, 0 },
	{ "aes-128-gcm", AEAD, "aes-gcm", CRYPTO_AES_GCM, "gcm(aes)",
	  "AES-128-GCM", 16, TAG_LEN },
	{ "sha256", DIGEST, "sha256", CRYPTO_SHA2_256, "sha256", "SHA256",
	  0, 32 },
	{ "hmac-sha256", DIGEST, "hmac-sha256", CRYPTO_SHA2_256_HMAC,
	  "hmac(sha256)", "HMAC", 32, 32 },
};
const int njobs = sizeof(jobs) / sizeof(*jobs);

uint8_t src[LEN_MAX] __attribute__((aligned(PAGE)));
uint8_t dst[OUT_MAX] __attribute__((aligned(PAGE)));
uint8_t key[64], iv[IV_LEN], aad[AAD_LEN];

static uint8_t expected[OUT_MAX];

const struct job *job_find(const char *name)
{
	int i;

	for (i = 0; i < njobs; i++)
		if (!strcmp(jobs[i].name, name))
			return &jobs[i];
	fprintf(stderr, "%s: no such job\n", name);
	exit(1);
}

static void fill(uint8_t *p, size_t len, uint8_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (i * 167 + (i >> 8) * 13 + seed) & 0xff;
}

/*
 * All pages are there afterwards, none of them huge: whether an array is on a
 * huge page is chance, and programs' buffers rarely are.
 */
void job_data(void)
{
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		die("PR_SET_THP_DISABLE");
	if (!oracle_init())
		die("OpenSSL's providers");
	fill(src, sizeof(src), 1);
	fill(key, sizeof(key), 2);
	fill(iv, sizeof(iv), 3);
	fill(aad, sizeof(aad), 4);
	memset(dst, 0, sizeof(dst));
}

size_t job_outlen(const struct job *job, size_t len)
{
	return job->kind == DIGEST ? job->result : len + job->result;
}

/* Whether dst has what it should; clears it for the next. */
bool job_check(const struct job *job, size_t len)
{
	size_t n = job_outlen(job, len);
	bool ok;

	switch (job->kind) {
	case CIPHER:
		ok = oracle_cipher(job->alg, true, key, job->keylen, iv, src,
				   len, expected);
		break;
	case AEAD:
		ok = oracle_seal(job->alg, key, job->keylen, iv, GCM_IV_LEN,
				 aad, AAD_LEN, src, len, expected,
				 expected + len, TAG_LEN);
		break;
	default:
		ok = oracle_digest(job->alg, key, job->keylen, NULL, 0, src,
				   len, expected);
		break;
	}
	ok = ok && !memcmp(dst, expected, n);
	memset(dst, 0, n);
	return ok;
}
