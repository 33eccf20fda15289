// SPDX-License-Identifier: BSD-2-Clause
/*
 * What applications do with OpenSSL's engine for /dev/crypto beyond what the
 * openssl command does.  They copy contexts half-way, share them over fork(),
 * reset them before they have a key, and give them much at once.
 *
 *	evp ENGINE.so	exits 0 if all is what OpenSSL itself makes of it
 *
 * What the engine lacks (digests, when it was built for BSD) is not asked for.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/engine.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#define LEN	100000
#define LONG	(16u << 20)	/* the most that one call may have */

static ENGINE *engine;
static unsigned char *data;
static const unsigned char key[32] = "key", iv[16] = "iv";

#define CHECK(cond) do { \
	if (!(cond)) \
		errx(1, "%s: not so: %s", __func__, #cond); \
} while (0)

static ENGINE *load(const char *path)
{
	ENGINE *e;

	ENGINE_load_dynamic();
	e = ENGINE_by_id("dynamic");
	if (!e || !ENGINE_ctrl_cmd_string(e, "SO_PATH", path, 0) ||
	    !ENGINE_ctrl_cmd_string(e, "LOAD", NULL, 0) ||
	    !ENGINE_ctrl_cmd_string(e, "USE_SOFTDRIVERS", "1", 0) ||
	    !ENGINE_init(e))
		errx(1, "%s: not an engine that works", path);
	return e;
}

static void digest_copies(void)
{
	unsigned char want[32], got[32], copied[32];
	EVP_MD_CTX *a = EVP_MD_CTX_new(), *b = EVP_MD_CTX_new();

	CHECK(EVP_Digest(data, LEN, want, NULL, EVP_sha256(), NULL));
	CHECK(EVP_DigestInit_ex(a, EVP_sha256(), engine));
	CHECK(EVP_DigestUpdate(a, data, 1001));
	CHECK(EVP_MD_CTX_copy_ex(b, a));
	CHECK(EVP_DigestUpdate(a, data + 1001, LEN - 1001));
	CHECK(EVP_DigestUpdate(b, data + 1001, 5));
	CHECK(EVP_DigestUpdate(b, data + 1006, LEN - 1006));
	CHECK(EVP_DigestFinal_ex(a, got, NULL));
	CHECK(EVP_DigestFinal_ex(b, copied, NULL));
	CHECK(!memcmp(want, got, 32) && !memcmp(want, copied, 32));
	EVP_MD_CTX_free(a);
	EVP_MD_CTX_free(b);
}

/* HMAC copies its inner and outer context for every message. */
static void hmac_copies(void)
{
	unsigned char want[32], got[32];
	HMAC_CTX *h = HMAC_CTX_new();
	int i;

	CHECK(HMAC_Init_ex(h, key, 32, EVP_sha256(), engine));
	for (i = 0; i < 64; i++) {
		CHECK(HMAC(EVP_sha256(), key, 32, data, i * 97, want, NULL));
		CHECK(HMAC_Init_ex(h, NULL, 0, NULL, NULL));
		CHECK(HMAC_Update(h, data, i * 97));
		CHECK(HMAC_Final(h, got, NULL));
		CHECK(!memcmp(want, got, 32));
	}
	HMAC_CTX_free(h);
}

/* The child copies, ends its copy, and does not disturb the parent. */
static void digest_over_fork(void)
{
	unsigned char want[32], got[32];
	EVP_MD_CTX *a = EVP_MD_CTX_new(), *b = EVP_MD_CTX_new();
	int status;
	pid_t pid;

	CHECK(EVP_Digest(data, LEN, want, NULL, EVP_sha256(), NULL));
	CHECK(EVP_DigestInit_ex(a, EVP_sha256(), engine));
	CHECK(EVP_DigestUpdate(a, data, 77));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(EVP_MD_CTX_copy_ex(b, a));
		CHECK(EVP_DigestUpdate(b, data + 77, LEN - 77));
		CHECK(EVP_DigestFinal_ex(b, got, NULL));
		EVP_MD_CTX_free(b);
		_exit(!!memcmp(want, got, 32));
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(EVP_DigestUpdate(a, data + 77, LEN - 77));
	CHECK(EVP_DigestFinal_ex(a, got, NULL));
	CHECK(!memcmp(want, got, 32));
	EVP_MD_CTX_free(a);
	EVP_MD_CTX_free(b);
}

static void long_digest(void)
{
	unsigned char want[64], got[64];

	CHECK(EVP_Digest(data, LONG, want, NULL, EVP_sha512(), NULL));
	CHECK(EVP_Digest(data, LONG, got, NULL, EVP_sha512(), engine));
	CHECK(!memcmp(want, got, 64));
}

static void encrypt(ENGINE *e, const unsigned char *in, int len,
		    unsigned char *out)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int n;

	CHECK(EVP_EncryptInit_ex(c, EVP_aes_128_cbc(), e, key, iv));
	CHECK(EVP_CIPHER_CTX_set_padding(c, 0));
	CHECK(EVP_EncryptUpdate(c, out, &n, in, len) && n == len);
	EVP_CIPHER_CTX_free(c);
}

static void long_cipher(void)
{
	unsigned char *want = malloc(LONG), *got = malloc(LONG);

	CHECK(want && got);
	encrypt(NULL, data, LONG, want);
	encrypt(engine, data, LONG, got);
	CHECK(!memcmp(want, got, LONG));
	free(want);
	free(got);
}

static void cipher_copies(void)
{
	unsigned char want[160], got[160];
	EVP_CIPHER_CTX *a = EVP_CIPHER_CTX_new(), *b = EVP_CIPHER_CTX_new();
	int n;

	encrypt(NULL, data, 160, want);
	CHECK(EVP_EncryptInit_ex(a, EVP_aes_128_cbc(), engine, key, iv));
	CHECK(EVP_EncryptUpdate(a, got, &n, data, 32) && n == 32);
	CHECK(EVP_CIPHER_CTX_copy(b, a));
	CHECK(EVP_EncryptUpdate(a, got + 32, &n, data + 32, 128) && n == 128);
	CHECK(!memcmp(want, got, 160));
	memset(got + 32, 0, 128);
	CHECK(EVP_EncryptUpdate(b, got + 32, &n, data + 32, 128) && n == 128);
	CHECK(!memcmp(want, got, 160));
	EVP_CIPHER_CTX_free(a);
	EVP_CIPHER_CTX_free(b);
}

/* In pieces that are no blocks, which the engine itself keeps track of. */
static void counter_in_odd_pieces(void)
{
	unsigned char want[LEN], got[LEN];
	EVP_CIPHER_CTX *a = EVP_CIPHER_CTX_new(), *b = EVP_CIPHER_CTX_new();
	int n, at, len;

	CHECK(EVP_EncryptInit_ex(a, EVP_aes_256_ctr(), NULL, key, iv));
	CHECK(EVP_EncryptInit_ex(b, EVP_aes_256_ctr(), engine, key, iv));
	CHECK(EVP_EncryptUpdate(a, want, &n, data, LEN));
	for (at = 0; at < LEN; at += len) {
		len = at % 5000 + 1 < LEN - at ? at % 5000 + 1 : LEN - at;
		CHECK(EVP_EncryptUpdate(b, got + at, &n, data + at, len));
	}
	CHECK(!memcmp(want, got, LEN));
	EVP_CIPHER_CTX_free(a);
	EVP_CIPHER_CTX_free(b);
}

/*
 * A context without a key has no session.  The engine closes one anyway when
 * the context is reset.
 */
static void reset_without_a_key(void)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();

	CHECK(EVP_EncryptInit_ex(c, EVP_aes_128_cbc(), engine, NULL, NULL));
	CHECK(EVP_CIPHER_CTX_reset(c));
	EVP_CIPHER_CTX_free(c);
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc != 2)
		errx(2, "usage: evp ENGINE.so");
	data = malloc(LONG);
	CHECK(data);
	for (i = 0; i < LONG; i++)
		data[i] = i * 2654435761u >> 24;
	engine = load(argv[1]);
	cipher_copies();
	counter_in_odd_pieces();
	if (ENGINE_get_digest(engine, NID_sha256)) {
		reset_without_a_key();
		long_cipher();
		digest_copies();
		hmac_copies();
		digest_over_fork();
		long_digest();
	}
	return 0;
}
