// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks for each algorithm of the provider whether the kernel or OpenSSL's own
 * implementation does it, as docs/provider.md says.  This runs in the test
 * machine, without cards and with OCF_LEAST=0, and reads the devices' counters.
 */
#include <glob.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "every.h"

#define LEN		4096
#define MUCH		(1048576 + 1)	/* more than a buffer keeps */
#define OURS		"provider=ocf"
#define COUNT(a)	(sizeof(a) / sizeof(*(a)))

static unsigned char in[MUCH], out[MUCH + 64], key[128];
static const char *what;
static unsigned long long before;
static int bad;

static void fail(const char *why, int line)
{
	fprintf(stderr, "asked: line %d: %s: %s\n", line, what, why);
	ERR_print_errors_fp(stderr);
	exit(1);
}

#define CHECK(cond_) do {						\
	if (!(cond_))							\
		fail(#cond_, __LINE__);					\
} while (0)

/* ---- what the devices have done ---- */

static unsigned long long number_in(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned long long n;

	CHECK(f && fscanf(f, "%llu", &n) == 1);
	fclose(f);
	return n;
}

/* Returns the requests of all devices together. */
static unsigned long long requests(void)
{
	unsigned long long sum = 0;
	glob_t found;
	size_t i;

	CHECK(!glob("/sys/class/ocf/*/*counters/operations", 0, NULL,
		    &found));
	for (i = 0; i < found.gl_pathc; i++)
		sum += number_in(found.gl_pathv[i]);
	globfree(&found);
	return sum;
}

static void begin(void)
{
	before = requests();
}

/* @step: what was done since begin(), which is one operation */
static void end(const char *step, bool kernels)
{
	unsigned long long n = requests() - before;

	if (n == kernels)
		return;
	fprintf(stderr, "asked: %s, %s: %llu requests, not %d\n", what, step,
		n, kernels);
	bad = 1;
}

/* ---- ciphers ---- */

static void cipher(const char *name)
{
	EVP_CIPHER *c = EVP_CIPHER_fetch(NULL, name, OURS);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int enc, n;

	what = name;
	CHECK(c && ctx);
	for (enc = 1; enc >= 0; enc--) {
		CHECK(EVP_CipherInit_ex2(ctx, c, key, key, enc, NULL));
		EVP_CIPHER_CTX_set_padding(ctx, 0);
		begin();
		CHECK(EVP_CipherUpdate(ctx, out, &n, in, LEN) && n == LEN);
		end(enc ? "encryption" : "decryption", true);
	}
	EVP_CIPHER_CTX_free(ctx);
	EVP_CIPHER_free(c);
	every_saw(OSSL_OP_CIPHER, name);
}

static void ciphers(void)
{
	static const char * const names[] = {
		"AES-128-CBC", "AES-192-CBC", "AES-256-CBC", "AES-128-CTR",
		"AES-192-CTR", "AES-256-CTR", "AES-128-ECB", "AES-192-ECB",
		"AES-256-ECB", "AES-128-XTS", "AES-256-XTS", "DES-EDE3-CBC",
	};
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		cipher(names[i]);
}

/**
 * struct aead - messages of an AEAD
 * @name: which
 * @ivlen: bytes of the nonce
 * @kernels: they are the kernel's
 * @late: the tag comes after the data, so opening is not the kernel's
 */
struct aead {
	const char	*name;
	int		ivlen;
	bool		kernels, late;
};

static EVP_CIPHER_CTX *begin_aead(const struct aead *a, int enc,
				  unsigned char *tag)
{
	EVP_CIPHER *c = EVP_CIPHER_fetch(NULL, a->name, OURS);
	bool ccm = c && EVP_CIPHER_get_mode(c) == EVP_CIPH_CCM_MODE;
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	CHECK(c && EVP_CipherInit_ex2(ctx, c, NULL, NULL, enc, NULL));
	CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, a->ivlen,
				  NULL) > 0);
	if (ccm || (!enc && !a->late))
		CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16,
					  enc ? NULL : tag) > 0);
	CHECK(EVP_CipherInit_ex2(ctx, NULL, key, key, enc, NULL));
	EVP_CIPHER_free(c);
	return ctx;
}

static void aead(const struct aead *a)
{
	unsigned char sealed[LEN], tag[16];
	EVP_CIPHER_CTX *ctx = begin_aead(a, 1, NULL);
	int n;

	begin();
	CHECK(EVP_CipherUpdate(ctx, sealed, &n, in, LEN) && n == LEN);
	CHECK(EVP_CipherFinal_ex(ctx, out, &n));
	end("sealing", a->kernels);
	CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0);
	EVP_CIPHER_CTX_free(ctx);
	ctx = begin_aead(a, 0, tag);
	begin();
	CHECK(EVP_CipherUpdate(ctx, out, &n, sealed, LEN) && n == LEN);
	CHECK(!memcmp(out, in, LEN));
	end("opening", a->kernels && !a->late);
	EVP_CIPHER_CTX_free(ctx);
	every_saw(OSSL_OP_CIPHER, a->name);
}

static void aeads(void)
{
	static const struct aead all[] = {
		{ "AES-128-GCM", 12, true, false },
		{ "AES-192-GCM", 12, true, false },
		{ "AES-256-GCM", 12, true, false },
		{ "AES-128-GCM", 8, false, false },
		{ "AES-256-GCM", 12, true, true },
		{ "AES-128-CCM", 12, true, false },
		{ "AES-192-CCM", 7, true, false },
		{ "AES-256-CCM", 13, true, false },
		{ "ChaCha20-Poly1305", 12, true, false },
		{ "ChaCha20-Poly1305", 12, true, true },
	};
	static char text[64];
	size_t i;

	what = text;
	for (i = 0; i < COUNT(all); i++) {
		snprintf(text, sizeof(text), "%s, a nonce of %d%s",
			 all[i].name, all[i].ivlen,
			 all[i].late ? ", the tag after the data" : "");
		aead(&all[i]);
	}
}

/* ---- digests and MACs ---- */

static const char * const digests[] = {
	"SHA1", "SHA224", "SHA256", "SHA384", "SHA512", "SHA3-224", "SHA3-256",
	"SHA3-384", "SHA3-512",
};

static void digest(const char *name, size_t len, bool kernels)
{
	EVP_MD *md = EVP_MD_fetch(NULL, name, OURS);

	what = name;
	CHECK(md);
	begin();
	CHECK(EVP_Digest(in, len, out, NULL, md, NULL));
	end(len == LEN ? "a digest" : "a digest of much", kernels);
	EVP_MD_free(md);
	every_saw(OSSL_OP_DIGEST, name);
}

/* @of: the digest, or the cipher */
static void mac(const char *name, const char *of, size_t keylen, size_t len,
		bool kernels)
{
	EVP_MAC *m = EVP_MAC_fetch(NULL, name, OURS);
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(m);
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(name[0] == 'H' ? OSSL_MAC_PARAM_DIGEST :
				       OSSL_MAC_PARAM_CIPHER, (char *)of, 0),
		OSSL_PARAM_END
	};
	static char text[64];
	size_t n;

	snprintf(text, sizeof(text), "%s of %s, a key of %zu", name, of,
		 keylen);
	what = text;
	CHECK(ctx && EVP_MAC_init(ctx, key, keylen, params));
	begin();
	CHECK(EVP_MAC_update(ctx, in, len));
	CHECK(EVP_MAC_final(ctx, out, &n, EVP_MAX_MD_SIZE));
	end(len == LEN ? "a MAC" : "a MAC of much", kernels);
	EVP_MAC_CTX_free(ctx);
	EVP_MAC_free(m);
	every_saw(OSSL_OP_MAC, name);
}

static void digests_and_macs(void)
{
	size_t i;

	for (i = 0; i < COUNT(digests); i++) {
		digest(digests[i], LEN, true);
		digest(digests[i], MUCH, false);
		mac("HMAC", digests[i], 32, LEN, true);
	}
	mac("HMAC", "SHA256", 64, LEN, true);
	mac("HMAC", "SHA256", 65, LEN, true);
	mac("HMAC", "SHA512", 65, LEN, false);
	mac("HMAC", "SHA256", 32, MUCH, false);
	mac("HMAC", "MD5", 32, LEN, false);
	mac("CMAC", "AES-128-CBC", 16, LEN, true);
	mac("CMAC", "AES-192-CBC", 24, LEN, true);
	mac("CMAC", "AES-256-CBC", 32, LEN, true);
	mac("CMAC", "AES-256-CBC", 32, MUCH, false);
	mac("CMAC", "DES-EDE3-CBC", 24, LEN, false);
}

/* ---- keys ---- */

/**
 * struct how - what is done with RSA
 * @name: what it is called
 * @padding: RSA_*_PADDING
 * @md: the digest, or NULL
 * @mgf1: likewise
 * @kernels: it is the kernel's
 */
struct how {
	const char	*name;
	int		padding;
	const char	*md, *mgf1;
	bool		kernels;
};

static EVP_PKEY_CTX *begin_rsa(EVP_PKEY *rsa, const struct how *h,
			       int (*init)(EVP_PKEY_CTX *ctx))
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, rsa, OURS);
	const EVP_MD *md = h->md ? EVP_get_digestbyname(h->md) : NULL;

	CHECK(ctx && init(ctx) > 0);
	/* X9.31 needs a digest */
	if (md && h->padding != RSA_PKCS1_OAEP_PADDING)
		CHECK(EVP_PKEY_CTX_set_signature_md(ctx, md) > 0);
	CHECK(EVP_PKEY_CTX_set_rsa_padding(ctx, h->padding) > 0);
	if (h->md && h->padding == RSA_PKCS1_OAEP_PADDING)
		CHECK(EVP_PKEY_CTX_set_rsa_oaep_md_name(ctx, h->md, NULL) > 0);
	if (h->mgf1)
		CHECK(EVP_PKEY_CTX_set_rsa_mgf1_md_name(ctx, h->mgf1,
							NULL) > 0);
	return ctx;
}

static void rsa_signature(EVP_PKEY *rsa, const struct how *h)
{
	EVP_PKEY_CTX *ctx = begin_rsa(rsa, h, EVP_PKEY_sign_init);
	size_t n = 512, len = h->padding == RSA_NO_PADDING ? 256 : 32;

	what = h->name;
	begin();
	CHECK(EVP_PKEY_sign(ctx, out, &n, in, len) > 0);
	end("signing", h->kernels);
	EVP_PKEY_CTX_free(ctx);
	ctx = begin_rsa(rsa, h, EVP_PKEY_verify_init);
	begin();
	CHECK(EVP_PKEY_verify(ctx, out, n, in, len) == 1);
	end("verification", h->kernels);
	EVP_PKEY_CTX_free(ctx);
	if (h->padding == RSA_PKCS1_PSS_PADDING)
		return;
	ctx = begin_rsa(rsa, h, EVP_PKEY_verify_recover_init);
	begin();
	CHECK(EVP_PKEY_verify_recover(ctx, out + 512, &n, out, 256) > 0);
	end("recovery", false);
	EVP_PKEY_CTX_free(ctx);
}

static void rsa_encryption(EVP_PKEY *rsa, const struct how *h)
{
	EVP_PKEY_CTX *ctx = begin_rsa(rsa, h, EVP_PKEY_encrypt_init);
	size_t n = 512, m = 512, len = h->padding == RSA_NO_PADDING ? 256 : 32;

	what = h->name;
	begin();
	CHECK(EVP_PKEY_encrypt(ctx, out, &n, in, len) > 0);
	end("encryption", h->kernels);
	EVP_PKEY_CTX_free(ctx);
	ctx = begin_rsa(rsa, h, EVP_PKEY_decrypt_init);
	begin();
	CHECK(EVP_PKEY_decrypt(ctx, out + 512, &m, out, n) > 0 && m == len);
	end("decryption", h->kernels);
	EVP_PKEY_CTX_free(ctx);
}

/* A key of three primes: the kernel has only keys of two. */
static void three_primes(void)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", OURS);
	EVP_PKEY *rsa = NULL;
	size_t n = 512;

	what = "a key of three primes";
	CHECK(ctx && EVP_PKEY_keygen_init(ctx) > 0);
	CHECK(EVP_PKEY_CTX_set_rsa_keygen_primes(ctx, 3) > 0);
	CHECK(EVP_PKEY_generate(ctx, &rsa) > 0);
	EVP_PKEY_CTX_free(ctx);
	ctx = EVP_PKEY_CTX_new_from_pkey(NULL, rsa, OURS);
	CHECK(ctx && EVP_PKEY_sign_init(ctx) > 0);
	begin();
	CHECK(EVP_PKEY_sign(ctx, out, &n, in, 32) > 0);
	end("signing", false);
	CHECK(EVP_PKEY_verify_init(ctx) > 0);
	begin();
	CHECK(EVP_PKEY_verify(ctx, out, n, in, 32) == 1);
	end("verification", true);
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(rsa);
}

static void rsa_operations(void)
{
	static const struct how signatures[] = {
		{ "PKCS #1", RSA_PKCS1_PADDING, "SHA256", NULL, true },
		{ "PKCS #1, SHA-3", RSA_PKCS1_PADDING, "SHA3-256", NULL, true },
		{ "PKCS #1, no digest", RSA_PKCS1_PADDING, NULL, NULL, true },
		{ "PSS", RSA_PKCS1_PSS_PADDING, "SHA256", NULL, true },
		{ "PSS, two digests", RSA_PKCS1_PSS_PADDING, "SHA256",
		  "SHA512", false },
		{ "X9.31", RSA_X931_PADDING, "SHA256", NULL, false },
		{ "no padding", RSA_NO_PADDING, NULL, NULL, false },
	};
	static const struct how encryptions[] = {
		{ "PKCS #1", RSA_PKCS1_PADDING, NULL, NULL, true },
		{ "OAEP", RSA_PKCS1_OAEP_PADDING, NULL, NULL, true },
		{ "OAEP, SHA-256", RSA_PKCS1_OAEP_PADDING, "SHA256", NULL,
		  true },
		{ "OAEP, two digests", RSA_PKCS1_OAEP_PADDING, "SHA256",
		  "SHA1", false },
		{ "raw", RSA_NO_PADDING, NULL, NULL, true },
	};
	EVP_PKEY *rsa = EVP_PKEY_Q_keygen(NULL, OURS, "RSA", (size_t)2048);
	size_t i;

	CHECK(rsa);
	for (i = 0; i < COUNT(signatures); i++)
		rsa_signature(rsa, &signatures[i]);
	for (i = 0; i < COUNT(encryptions); i++)
		rsa_encryption(rsa, &encryptions[i]);
	EVP_PKEY_free(rsa);
	three_primes();
	every_saw(OSSL_OP_KEYMGMT, "RSA");
	every_saw(OSSL_OP_SIGNATURE, "RSA");
	every_saw(OSSL_OP_ASYM_CIPHER, "RSA");
}

static void ecdsa(EVP_PKEY *ec, bool kernels)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, ec, OURS);
	size_t n = 512;

	CHECK(ctx && EVP_PKEY_sign_init(ctx) > 0);
	begin();
	CHECK(EVP_PKEY_sign(ctx, out, &n, in, 32) > 0);
	end("signing", kernels);
	CHECK(EVP_PKEY_verify_init(ctx) > 0);
	begin();
	CHECK(EVP_PKEY_verify(ctx, out, n, in, 32) == 1);
	end("verification", kernels);
	EVP_PKEY_CTX_free(ctx);
	every_saw(OSSL_OP_KEYMGMT, "EC");
	every_saw(OSSL_OP_SIGNATURE, "ECDSA");
}

/* Derives a secret of the key with itself. */
static void agreement(EVP_PKEY *pkey, bool kernels)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, pkey, OURS);
	size_t n = 512;

	CHECK(ctx && EVP_PKEY_derive_init(ctx) > 0);
	CHECK(EVP_PKEY_derive_set_peer(ctx, pkey) > 0);
	begin();
	CHECK(EVP_PKEY_derive(ctx, out, &n) > 0);
	end("agreement", kernels);
	EVP_PKEY_CTX_free(ctx);
}

static void curves(void)
{
	static const struct {
		const char	*name;
		bool		kernels;
	} all[] = {
		{ "P-256", true }, { "P-384", true }, { "P-521", true },
		{ "secp256k1", false },
	};
	EVP_PKEY *ec;
	size_t i;

	for (i = 0; i < COUNT(all); i++) {
		what = all[i].name;
		ec = EVP_PKEY_Q_keygen(NULL, OURS, "EC", what);
		CHECK(ec);
		ecdsa(ec, all[i].kernels);
		agreement(ec, all[i].kernels);
		EVP_PKEY_free(ec);
	}
	every_saw(OSSL_OP_KEYEXCH, "ECDH");
	what = "X25519";
	ec = EVP_PKEY_Q_keygen(NULL, OURS, "X25519");
	CHECK(ec);
	agreement(ec, true);
	EVP_PKEY_free(ec);
	every_saw(OSSL_OP_KEYMGMT, "X25519");
	every_saw(OSSL_OP_KEYEXCH, "X25519");
}

static void dh(void)
{
	static const char * const groups[] = {
		"ffdhe2048", "ffdhe3072", "modp_2048",
	};
	OSSL_PARAM params[2] = { OSSL_PARAM_END, OSSL_PARAM_END };
	EVP_PKEY *pkey = NULL;
	EVP_PKEY_CTX *ctx;
	size_t i;

	for (i = 0; i < COUNT(groups); i++, pkey = NULL) {
		what = groups[i];
		params[0] = OSSL_PARAM_construct_utf8_string("group",
							     (char *)what, 0);
		ctx = EVP_PKEY_CTX_new_from_name(NULL, "DH", OURS);
		CHECK(ctx && EVP_PKEY_keygen_init(ctx) > 0 &&
		      EVP_PKEY_CTX_set_params(ctx, params) > 0 &&
		      EVP_PKEY_generate(ctx, &pkey) > 0);
		agreement(pkey, true);
		EVP_PKEY_free(pkey);
		EVP_PKEY_CTX_free(ctx);
	}
	every_saw(OSSL_OP_KEYMGMT, "DH");
	every_saw(OSSL_OP_KEYEXCH, "DH");
}

static void random_numbers(void)
{
	EVP_RAND *rand = EVP_RAND_fetch(NULL, "OCF-RANDOM", OURS);
	EVP_RAND_CTX *ctx = EVP_RAND_CTX_new(rand, NULL);

	what = "OCF-RANDOM";
	CHECK(ctx && EVP_RAND_instantiate(ctx, 256, 0, NULL, 0, NULL));
	begin();
	CHECK(EVP_RAND_generate(ctx, out, 32, 256, 0, NULL, 0));
	end("a number", false);
	EVP_RAND_CTX_free(ctx);
	EVP_RAND_free(rand);
	every_saw(OSSL_OP_RAND, what);
}

int main(void)
{
	OSSL_PROVIDER *defaults = OSSL_PROVIDER_load(NULL, "default");
	OSSL_PROVIDER *ocf = OSSL_PROVIDER_load(NULL, "ocf");
	size_t i;

	what = "the provider";
	CHECK(defaults && ocf);
	for (i = 0; i < sizeof(in); i++)
		in[i] = i * 13 + (i >> 8);
	in[0] = 0;
	/* the halves of a key of XTS differ */
	for (i = 0; i < sizeof(key); i++)
		key[i] = i + 1;
	ciphers();
	aeads();
	digests_and_macs();
	rsa_operations();
	curves();
	dh();
	random_numbers();
	bad |= !!every_missing(ocf);
	if (!bad)
		puts("asked: the kernel was asked for what is its own");
	OSSL_PROVIDER_unload(ocf);
	OSSL_PROVIDER_unload(defaults);
	return bad;
}
