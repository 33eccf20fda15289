// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keys are wiped with their contexts: no part of a key is left in memory that
 * is freed, nor in memory that is not.  This program allocates all memory of
 * OpenSSL and the provider.
 */
#define _GNU_SOURCE
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OURS		"provider=ocf"
#define PIECE		16	/* bytes of a key that are searched for */
#define PIECES		5
#define LEN		4096
#define COUNT(a)	(sizeof(a) / sizeof(*(a)))

/**
 * struct block - memory that somebody has
 * @next: in the list of all
 * @prev: likewise
 * @len: bytes of @data
 * @data: what is given out
 */
struct block {
	struct block	*next, *prev;
	size_t		len;
	_Alignas(16) unsigned char data[];
};

static struct block all = { &all, &all, 0 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char pieces[PIECES][PIECE];
static size_t npieces;
static const char *what;
static int freed_with, bad;

static void check(int ok, const char *why)
{
	if (ok)
		return;
	fprintf(stderr, "wiped: %s: %s\n", what, why);
	exit(1);
}

/* ---- memory ---- */

static bool has_piece(const unsigned char *data, size_t len)
{
	size_t i;

	for (i = 0; i < npieces; i++)
		if (memmem(data, len, pieces[i], PIECE))
			return true;
	return false;
}

static struct block *block_of(void *data)
{
	return (struct block *)((char *)data - offsetof(struct block, data));
}

static void *take(size_t len, const char *file, int line)
{
	struct block *b = len ? malloc(sizeof(*b) + len) : NULL;

	(void)file;
	(void)line;
	if (!b)
		return NULL;
	b->len = len;
	pthread_mutex_lock(&lock);
	b->next = all.next;
	b->prev = &all;
	b->next->prev = b->prev->next = b;
	pthread_mutex_unlock(&lock);
	return b->data;
}

static void give_back(void *data, const char *file, int line)
{
	struct block *b;

	if (!data)
		return;
	b = block_of(data);
	pthread_mutex_lock(&lock);
	b->next->prev = b->prev;
	b->prev->next = b->next;
	if (has_piece(b->data, b->len)) {
		fprintf(stderr, "wiped: %s: freed with the key in it: %s:%d\n",
			what, file, line);
		freed_with++;
	}
	pthread_mutex_unlock(&lock);
	/*
	 * clear the block, so that its next user is not found to have the key
	 */
	OPENSSL_cleanse(b->data, b->len);
	free(b);
}

static void *take_other(void *data, size_t len, const char *file, int line)
{
	void *to = take(len, file, line);
	size_t was = data ? block_of(data)->len : 0;

	if (to && was)
		memcpy(to, data, len < was ? len : was);
	if (to || !len)
		give_back(data, file, line);
	return to;
}

/* Returns how many allocations contain a piece of the key. */
static int holders(void)
{
	struct block *b;
	int n = 0;

	pthread_mutex_lock(&lock);
	for (b = all.next; b != &all; b = b->next)
		n += has_piece(b->data, b->len);
	pthread_mutex_unlock(&lock);
	return n;
}

/* ---- a key's life ---- */

/* From now on the pieces of @key are searched for. */
static void look_for(const unsigned char *key, size_t len)
{
	check(len >= PIECE && npieces < PIECES, "a key to look for");
	memcpy(pieces[npieces++], key + (len - PIECE) / 2, PIECE);
}

/*
 * While the context exists, some memory must contain the key, or the search
 * does not work.
 */
static void expect_held(void)
{
	check(holders() > 0, "nobody has the key");
}

static void expect_gone(void)
{
	int left = holders();

	if (left || freed_with)
		fprintf(stderr, "wiped: %s: %d have the key, %d had it\n", what,
			left, freed_with);
	bad |= left || freed_with;
	freed_with = 0;
	npieces = 0;
}

static void random_key(unsigned char *key, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		key[i] = random();
}

static void cipher(const char *name)
{
	unsigned char key[EVP_MAX_KEY_LENGTH], out[LEN + 64], in[LEN] = {};
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new(), *dup = EVP_CIPHER_CTX_new();
	EVP_CIPHER *c = EVP_CIPHER_fetch(NULL, name, OURS);
	int len, i, n;

	what = name;
	check(c && ctx && dup, "the cipher");
	len = EVP_CIPHER_get_key_length(c);
	/* the second key replaces the first */
	for (i = 0; i < 2; i++) {
		random_key(key, len);
		look_for(key, len);
		check(EVP_EncryptInit_ex2(ctx, c, key, in, NULL), "the key");
		check(EVP_EncryptUpdate(ctx, out, &n, in, LEN), "data");
	}
	check(EVP_CIPHER_CTX_copy(dup, ctx), "a copy");
	/*
	 * a copied CCM context refuses the data, as OpenSSL's does, because no
	 * length was declared
	 */
	check(EVP_EncryptInit_ex2(dup, NULL, NULL, in, NULL), "the copy's");
	EVP_EncryptUpdate(dup, out, &n, in, LEN);
	expect_held();
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_CTX_free(dup);
	EVP_CIPHER_free(c);
	OPENSSL_cleanse(key, sizeof(key));
	expect_gone();
}

/* @of: the digest or the cipher of the MAC */
static void mac(const char *name, const char *of, size_t keylen)
{
	EVP_MAC *m = EVP_MAC_fetch(NULL, name, OURS);
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(m), *dup;
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(name[0] == 'H' ? OSSL_MAC_PARAM_DIGEST :
				       OSSL_MAC_PARAM_CIPHER, (char *)of, 0),
		OSSL_PARAM_END
	};
	unsigned char key[300], out[EVP_MAX_MD_SIZE], in[LEN] = {};
	size_t n;
	int i;

	what = name;
	check(!!ctx, "the MAC");
	for (i = 0; i < 2; i++) {
		random_key(key, keylen);
		look_for(key, keylen);
		check(EVP_MAC_init(ctx, key, keylen, params), "the key");
		check(EVP_MAC_update(ctx, in, LEN), "data");
		dup = EVP_MAC_CTX_dup(ctx);
		check(dup && EVP_MAC_final(ctx, out, &n, sizeof(out)), "it");
		check(EVP_MAC_final(dup, out, &n, sizeof(out)), "the copy's");
		/* HMAC replaces a long key by its digest */
		if (keylen <= 64)
			expect_held();
		EVP_MAC_CTX_free(dup);
	}
	EVP_MAC_CTX_free(ctx);
	EVP_MAC_free(m);
	OPENSSL_cleanse(key, sizeof(key));
	expect_gone();
}

/* Searches for a number in both byte orders, as in BIGNUMs and in DER. */
static void look_for_number(const EVP_PKEY *pkey, const char *name)
{
	unsigned char number[512], other[512];
	BIGNUM *n = NULL;
	int len;

	check(EVP_PKEY_get_bn_param(pkey, name, &n), name);
	len = BN_num_bytes(n);
	BN_bn2bin(n, number);
	BN_bn2lebinpad(n, other, len);
	BN_clear_free(n);
	look_for(number, len);
	look_for(other, len);
	OPENSSL_cleanse(number, sizeof(number));
	OPENSSL_cleanse(other, sizeof(other));
}

static void rsa(void)
{
	static const int paddings[] = {
		RSA_PKCS1_PADDING, RSA_PKCS1_OAEP_PADDING,
	};
	EVP_PKEY *rsa = EVP_PKEY_Q_keygen(NULL, OURS, "RSA", (size_t)2048);
	unsigned char out[512], sealed[512], in[32] = {};
	EVP_PKEY_CTX *ctx;
	size_t n, i;

	what = "RSA";
	check(!!rsa, "a key");
	look_for_number(rsa, OSSL_PKEY_PARAM_RSA_D);
	look_for_number(rsa, OSSL_PKEY_PARAM_RSA_FACTOR1);
	ctx = EVP_PKEY_CTX_new_from_pkey(NULL, rsa, OURS);
	n = sizeof(out);
	check(EVP_PKEY_sign_init(ctx) > 0 &&
	      EVP_PKEY_sign(ctx, out, &n, in, 32) > 0, "a signature");
	for (i = 0; i < COUNT(paddings); i++) {
		n = sizeof(sealed);
		check(EVP_PKEY_encrypt_init(ctx) > 0 &&
		      EVP_PKEY_CTX_set_rsa_padding(ctx, paddings[i]) > 0 &&
		      EVP_PKEY_encrypt(ctx, sealed, &n, in, 32) > 0, "sealed");
		n = sizeof(out);
		check(EVP_PKEY_decrypt_init(ctx) > 0 &&
		      EVP_PKEY_CTX_set_rsa_padding(ctx, paddings[i]) > 0 &&
		      EVP_PKEY_decrypt(ctx, out, &n, sealed, 256) > 0,
		      "opened");
	}
	expect_held();
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(rsa);
	expect_gone();
}

int main(void)
{
	static const char * const ciphers[] = {
		"AES-128-CBC", "AES-256-CTR", "AES-192-ECB", "AES-256-XTS",
		"DES-EDE3-CBC", "AES-256-GCM", "AES-128-CCM",
		"ChaCha20-Poly1305",
	};
	OSSL_PROVIDER *defaults, *ocf;
	size_t i;

	what = "the provider";
	check(CRYPTO_set_mem_functions(take, take_other, give_back),
	      "the memory");
	defaults = OSSL_PROVIDER_load(NULL, "default");
	ocf = OSSL_PROVIDER_load(NULL, "ocf");
	check(defaults && ocf, "loading");
	for (i = 0; i < COUNT(ciphers); i++)
		cipher(ciphers[i]);
	mac("HMAC", "SHA256", 32);
	mac("HMAC", "SHA256", 200);
	mac("CMAC", "AES-128-CBC", 16);
	mac("CMAC", "AES-256-CBC", 32);
	rsa();
	OSSL_PROVIDER_unload(ocf);
	OSSL_PROVIDER_unload(defaults);
	if (!bad)
		puts("wiped: nothing is left of any key");
	return bad;
}
