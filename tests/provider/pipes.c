// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pipelines (OpenSSL 3.5 and later) against the default provider's messages,
 * one at a time:
 *
 *	pipes [ROUNDS]		OCF_SEED from the environment
 */
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OURS	"provider=ocf"
#define THEIRS	"provider=default"
#define PIPES	32
#define LEN_MAX	20000
#define TAG_LEN	16

static const char *what;

#define CHECK(c_) do {							\
	if (!(c_)) {							\
		printf("pipes: line %d: %s: %s\n", __LINE__, what, #c_);\
		ERR_print_errors_fp(stdout);				\
		exit(1);						\
	}								\
} while (0)

static const struct {
	const char	*name;
	bool		aead;
	size_t		block;
} ciphers[] = {
	{ "AES-128-CBC", false, 16 }, { "AES-256-CTR", false, 1 },
	{ "AES-256-ECB", false, 16 }, { "DES-EDE3-CBC", false, 8 },
	{ "AES-128-GCM", true, 1 }, { "AES-256-GCM", true, 1 },
	{ "ChaCha20-Poly1305", true, 1 },
};

/* For each message */
static unsigned char iv[PIPES][16], aad[PIPES][32], tag[PIPES][TAG_LEN];
static unsigned char theirs[PIPES][TAG_LEN];
static unsigned char plain[PIPES][LEN_MAX], sealed[PIPES][LEN_MAX + 16],
	got[PIPES][LEN_MAX + 16];
static size_t len[PIPES], aad_len, sealed_len[PIPES];
static unsigned char key[64];
static size_t count, ivlen;
static bool padded;

static void fill(unsigned char *p, size_t n)
{
	while (n--)
		*p++ = random();
}

static void seal_one(EVP_CIPHER *cipher, size_t i, bool aead)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int n, m;

	CHECK(EVP_EncryptInit_ex2(ctx, cipher, NULL, NULL, NULL));
	CHECK(!aead || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, ivlen,
					   NULL));
	CHECK(EVP_EncryptInit_ex2(ctx, NULL, key, iv[i], NULL));
	CHECK(EVP_CIPHER_CTX_set_padding(ctx, padded));
	CHECK(!aead || EVP_EncryptUpdate(ctx, NULL, &n, aad[i], aad_len));
	CHECK(EVP_EncryptUpdate(ctx, sealed[i], &n, plain[i], len[i]));
	CHECK(EVP_EncryptFinal_ex(ctx, sealed[i] + n, &m));
	sealed_len[i] = n + m;
	CHECK(!aead || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG_LEN,
					   theirs[i]));
	EVP_CIPHER_CTX_free(ctx);
}

/* Makes the parameter that gets or sets the tags of all messages. */
static OSSL_PARAM *tags(unsigned char (*of)[TAG_LEN])
{
	static unsigned char *where[PIPES], **all = where;
	const char *name = OSSL_CIPHER_PARAM_PIPELINE_AEAD_TAG;
	static OSSL_PARAM params[2];
	size_t i;

	for (i = 0; i < count; i++)
		where[i] = of[i];
	params[0] = OSSL_PARAM_construct_octet_ptr(name, (void **)&all,
						   TAG_LEN);
	params[1] = OSSL_PARAM_construct_end();
	return params;
}

/*
 * Encrypts or decrypts all messages, in parts; @outl gets the bytes of each.
 * Returns what EVP returns for the last step.
 */
static int through(EVP_CIPHER_CTX *ctx, bool aead, unsigned char **in,
		   unsigned char **out, const size_t *inl, size_t *outl)
{
	size_t size[PIPES], part[PIPES], n[PIPES], of[PIPES] = {}, i;
	unsigned char *from[PIPES], *to[PIPES];
	/*
	 * in place, blocks that were held back would overwrite the next input
	 */
	int parts = random() % 2 || in[0] == out[0] ? 1 : 3, j;

	for (i = 0; i < count; i++) {
		from[i] = aad[i];
		part[i] = aad_len;
		outl[i] = 0;
	}
	CHECK(!aead || EVP_CipherPipelineUpdate(ctx, NULL, n, NULL,
						(const unsigned char **)from,
						part));
	for (j = 0; j < parts; j++) {
		for (i = 0; i < count; i++) {
			from[i] = in[i] + of[i];
			to[i] = out[i] + outl[i];
			part[i] = j == parts - 1 ? inl[i] - of[i] :
						   (inl[i] - of[i]) / 2;
			size[i] = LEN_MAX + 16 - outl[i];
			of[i] += part[i];
		}
		if (!EVP_CipherPipelineUpdate(ctx, to, n, size,
					      (const unsigned char **)from,
					      part))
			return 0;
		for (i = 0; i < count; i++)
			outl[i] += n[i];
	}
	for (i = 0; i < count; i++) {
		to[i] = out[i] + outl[i];
		size[i] = LEN_MAX + 16 - outl[i];
	}
	if (!EVP_CipherPipelineFinal(ctx, to, n, size))
		return 0;
	for (i = 0; i < count; i++)
		outl[i] += n[i];
	return 1;
}

static void set_up(size_t block)
{
	size_t i;

	count = 1 + random() % PIPES;
	aad_len = 1 + random() % 32;
	padded = block > 1 && random() % 2;
	fill(key, sizeof(key));
	for (i = 0; i < count; i++) {
		fill(iv[i], sizeof(iv[i]));
		fill(aad[i], sizeof(aad[i]));
		len[i] = random() % (random() % 2 ? 100 : LEN_MAX);
		/* parts of an AEAD may begin at any byte */
		if (!padded)
			len[i] -= len[i] % block;
		len[i] = len[i] ? len[i] : block;
		fill(plain[i], len[i]);
	}
}

static void round_of(size_t c)
{
	EVP_CIPHER *own = EVP_CIPHER_fetch(NULL, ciphers[c].name, OURS);
	EVP_CIPHER *other = EVP_CIPHER_fetch(NULL, ciphers[c].name, THEIRS);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	unsigned char *in[PIPES], *out[PIPES];
	const unsigned char *ivs[PIPES];
	bool aead = ciphers[c].aead, gcm = strstr(ciphers[c].name, "GCM");
	bool in_place = random() % 2;
	size_t n[PIPES], keylen, i, forged;

	what = ciphers[c].name;
	CHECK(own && other && EVP_CIPHER_can_pipeline(own, 1) &&
	      EVP_CIPHER_can_pipeline(own, 0));
	set_up(ciphers[c].block);
	ivlen = EVP_CIPHER_get_iv_length(own);
	/* GCM takes nonces of any length; the kernel's GCM has one length */
	if (gcm && random() % 3 == 0)
		ivlen = 1 + random() % sizeof(iv[0]);
	keylen = EVP_CIPHER_get_key_length(own);
	for (i = 0; i < count; i++) {
		seal_one(other, i, aead);
		memcpy(got[i], plain[i], len[i]);
		ivs[i] = iv[i];
		in[i] = in_place ? got[i] : plain[i];
		out[i] = got[i];
	}
	CHECK(EVP_CipherPipelineEncryptInit(ctx, own, key, keylen, count, ivs,
					    ivlen));
	CHECK(EVP_CIPHER_CTX_set_padding(ctx, padded));
	CHECK(through(ctx, aead, in, out, len, n));
	CHECK(!aead || EVP_CIPHER_CTX_get_params(ctx, tags(tag)));
	for (i = 0; i < count; i++) {
		CHECK(n[i] == sealed_len[i]);
		CHECK(!memcmp(got[i], sealed[i], n[i]));
		CHECK(!aead || !memcmp(tag[i], theirs[i], TAG_LEN));
	}
	for (i = 0; i < count; i++)
		in[i] = in_place ? got[i] : sealed[i];
	/*
	 * OpenSSL 3.5 forgets the number of pipes if the context has a cipher
	 */
	CHECK(EVP_CIPHER_CTX_reset(ctx));
	CHECK(EVP_CipherPipelineDecryptInit(ctx, own, key, keylen, count, ivs,
					    ivlen));
	CHECK(EVP_CIPHER_CTX_set_padding(ctx, padded));
	CHECK(!aead || EVP_CIPHER_CTX_set_params(ctx, tags(theirs)));
	CHECK(through(ctx, aead, in, out, sealed_len, n));
	for (i = 0; i < count; i++)
		CHECK(n[i] == len[i] && !memcmp(got[i], plain[i], len[i]));
	if (aead) {
		/* a forged message is refused */
		forged = random() % count;
		theirs[forged][random() % TAG_LEN] ^= 1 << random() % 8;
		for (i = 0; i < count; i++)
			in[i] = sealed[i];
		CHECK(EVP_CIPHER_CTX_reset(ctx));
		CHECK(EVP_CipherPipelineDecryptInit(ctx, own, key, keylen,
						    count, ivs, ivlen));
		CHECK(EVP_CIPHER_CTX_set_params(ctx, tags(theirs)));
		CHECK(!through(ctx, aead, in, out, sealed_len, n));
	}
	if (aead && !gcm) {
		/* other ciphers have nonces of one length */
		CHECK(EVP_CIPHER_CTX_reset(ctx));
		CHECK(!EVP_CipherPipelineEncryptInit(ctx, own, key, keylen,
						     count, ivs, ivlen - 4));
		ERR_clear_error();
	}
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(own);
	EVP_CIPHER_free(other);
}

int main(int argc, char **argv)
{
	int i, rounds = argc > 1 ? atoi(argv[1]) : 60;
	const char *seed = getenv("OCF_SEED");
	unsigned int chance = seed ? atoi(seed) : time(NULL);
	OSSL_PROVIDER *own, *defaults;
	size_t c;

	printf("pipes: OCF_SEED=%u\n", chance);
	fflush(stdout);
	srandom(chance);
	what = "the provider";
	own = OSSL_PROVIDER_load(NULL, "ocf");
	defaults = OSSL_PROVIDER_load(NULL, "default");
	CHECK(own && defaults);
	for (i = 0; i < rounds; i++)
		for (c = 0; c < sizeof(ciphers) / sizeof(*ciphers); c++)
			round_of(c);
	OSSL_PROVIDER_unload(own);
	OSSL_PROVIDER_unload(defaults);
	printf("pipes: %d rounds: equal\n", rounds);
	return 0;
}
