// SPDX-License-Identifier: BSD-2-Clause
/*
 * The provider's ciphers, digests and MACs against OpenSSL's own, called in any
 * order: lengths of nonce and tag before the key and after it, data before a
 * nonce, a message that goes on after its end.  Whatever OpenSSL's does, ours
 * does.
 *
 *	orders		OCF_SEED and OCF_ROUNDS: ../selftests/random.h
 */
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <stdarg.h>

#include "../selftests/random.h"

#define LEN	20000
#define CALLS	12
#define SEQUENCES 3000
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const char * const ciphers[] = {
	"AES-128-GCM", "AES-256-GCM", "AES-128-CCM", "AES-256-CCM",
	"ChaCha20-Poly1305", "AES-128-CBC", "AES-256-CTR", "AES-128-ECB",
	"AES-256-XTS", "DES-EDE3-CBC",
};

static const char * const digests[] = {
	"SHA1", "SHA2-256", "SHA2-512", "SHA3-256", "SHA3-512",
};

static const char * const macs[] = { "HMAC", "HMAC", "CMAC" };

/* One of the two implementations that are compared, and its output */
struct side {
	const char *properties;
	EVP_CIPHER *cipher;
	EVP_CIPHER_CTX *ctx;
	EVP_MD *md;
	EVP_MD_CTX *hash;
	EVP_MAC *kind;
	EVP_MAC_CTX *mac;
	unsigned char out[LEN + 64], tag[32];
	int n;
};

static struct side ours = { .properties = "provider=ocf" };
static struct side theirs = { .properties = "provider=default" };
/* The algorithm that is compared, and the digest or cipher of a MAC */
static const char *name, *made_of;
static unsigned char text[LEN], sealed[LEN + 64], keys[2][64], ivs[2][16];
static unsigned char sealed_tag[16];
static bool enc, nonce;
/* The operation has ended, so further calls are not defined. */
static bool ended;
/* No call is left. */
static bool over;

/* A failure prints the calls so far and the seed. */
static char calls[4096];
static uint64_t seed;

__thread uint64_t chance_state;

__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	size_t at = strlen(calls);
	va_list args;

	va_start(args, format);
	vsnprintf(calls + at, sizeof(calls) - at, format, args);
	va_end(args);
}

__attribute__((noreturn))
static void differ(const char *how, int a, int b)
{
	fprintf(stderr, "OCF_SEED=%llu OCF_ROUNDS=1: %s:%s: %s: %d, not %d\n",
		(unsigned long long)seed, name, calls, how, a, b);
	ERR_print_errors_fp(stderr);
	exit(1);
}

static void same(const char *how, int a, int b)
{
	if (a != b)
		differ(how, a, b);
}

static void same_bytes(const char *how, const void *a, const void *b, int n)
{
	if (n > 0 && memcmp(a, b, n))
		differ(how, 0, 0);
}

/*
 * Calls both implementations; @call is an expression of s.  Returns the common
 * result.
 */
#define BOTH(call) ({							\
	int is_[2], i_;							\
	for (i_ = 0; i_ < 2; i_++) {					\
		struct side *s = i_ ? &theirs : &ours;			\
		is_[i_] = (call);					\
	}								\
	same("returns", is_[0] > 0, is_[1] > 0);			\
	is_[1] > 0; })

static bool is_aead(void)
{
	return EVP_CIPHER_get_flags(theirs.cipher) & EVP_CIPH_FLAG_AEAD_CIPHER;
}

/* Returns whether OpenSSL prepares a key for one direction only. */
static bool has_directed_keys(void)
{
	return !is_aead() ||
	       EVP_CIPHER_get_mode(theirs.cipher) == EVP_CIPH_CCM_MODE;
}

static void init(bool first)
{
	/* copying an XTS context of OpenSSL that has no key crashes */
	bool has_to = EVP_CIPHER_get_mode(theirs.cipher) == EVP_CIPH_XTS_MODE;
	const unsigned char *key = !has_to && one_in(3) ? NULL :
							  keys[one_in(4)];
	const unsigned char *iv = one_in(3) ? NULL : ivs[one_in(4)];

	if (one_in(6) && (first || key || !has_directed_keys()))
		enc = !enc;
	nonce = nonce || iv;
	say(" init(%s%s%s%s)", first ? "cipher, " : "", key ? "key, " : "",
	    iv ? "iv, " : "", enc ? "encrypt" : "decrypt");
	BOTH(EVP_CipherInit_ex2(s->ctx, first ? s->cipher : NULL, key, iv, enc,
				NULL));
}

static void set_ivlen(void)
{
	static const int lens[] = { 0, 7, 8, 11, 12, 13, 16 };
	int n = lens[below(COUNT(lens))];

	nonce = false;
	say(" ivlen(%d)", n);
	BOTH(EVP_CIPHER_CTX_ctrl(s->ctx, EVP_CTRL_AEAD_SET_IVLEN, n, NULL));
}

static void set_tag(void)
{
	static const int lens[] = { 0, 4, 5, 8, 12, 14, 16, 16, 16, 17 };
	int n = lens[below(COUNT(lens))];
	bool with = enc ? one_in(5) : !one_in(3);

	say(" set_tag(%d%s)", n, with ? ", tag" : "");
	BOTH(EVP_CIPHER_CTX_ctrl(s->ctx, EVP_CTRL_AEAD_SET_TAG, n,
				 with ? sealed_tag : NULL));
}

static void get_tag(void)
{
	static const int lens[] = { 0, 4, 8, 12, 14, 16, 16, 16, 17 };
	int n = lens[below(COUNT(lens))];

	say(" get_tag(%d)", n);
	if (!BOTH(EVP_CIPHER_CTX_ctrl(s->ctx, EVP_CTRL_AEAD_GET_TAG, n,
				      s->tag)))
		return;
	same_bytes("tag", ours.tag, theirs.tag, n);
	if (n == 16)
		memcpy(sealed_tag, theirs.tag, 16);
}

static size_t some_len(void)
{
	static const size_t lens[] = { 0, 1, 15, 16, 17, 64, 1000, 1024, 4096,
				       LEN };

	return lens[below(COUNT(lens))];
}

/*
 * Returns whether the result is random: OpenSSL's GCM draws a nonce if it has
 * none.
 */
static bool is_by_chance(void)
{
	return enc && !nonce &&
	       EVP_CIPHER_get_mode(theirs.cipher) == EVP_CIPH_GCM_MODE;
}

/* Tells the length of the data in advance, as CCM needs it. */
static void declare(void)
{
	size_t n = some_len();

	if (!is_aead() || is_by_chance())
		return;
	say(" declare(%zu)", n);
	BOTH(EVP_CipherUpdate(s->ctx, NULL, &s->n, NULL, n));
}

static void authenticate(void)
{
	size_t n = one_in(3) ? 13 : some_len();

	if (!is_aead() || is_by_chance())
		return;
	say(" aad(%zu)", n);
	if (BOTH(EVP_CipherUpdate(s->ctx, NULL, &s->n, text, n)))
		same("length", ours.n, theirs.n);
}

static void data(void)
{
	const unsigned char *in = enc ? text : sealed;
	size_t n = some_len();
	/* a partial block from before would shift the output */
	bool in_place = one_in(3) &&
			EVP_CIPHER_get_block_size(theirs.cipher) == 1;

	if (is_by_chance())
		return;
	say(" data(%zu%s)", n, in_place ? ", in place" : "");
	memcpy(ours.out, in, n);
	memcpy(theirs.out, in, n);
	if (!BOTH(EVP_CipherUpdate(s->ctx, s->out, &s->n,
				   in_place ? s->out : in, n)))
		return;
	same("length", ours.n, theirs.n);
	same_bytes("data", ours.out, theirs.out, theirs.n);
	if (enc && theirs.n > 0)
		memcpy(sealed, theirs.out, theirs.n);
}

static void at_once(void)
{
	const unsigned char *in = enc ? text : sealed;
	size_t n = some_len();
	int a, b;

	/* OpenSSL does not check that the data are whole blocks */
	if (is_by_chance() || n % EVP_CIPHER_get_block_size(theirs.cipher))
		return;
	say(" at_once(%zu)", n);
	a = EVP_Cipher(ours.ctx, ours.out, in, n);
	b = EVP_Cipher(theirs.ctx, theirs.out, in, n);
	same("returns", a, b);
	same_bytes("data", ours.out, theirs.out, b);
}

/* Passes no data.  For a cipher that works in one call this may be the end. */
static void nothing_at_once(void)
{
	int a, b;

	if (is_by_chance())
		return;
	say(" nothing_at_once");
	a = EVP_Cipher(ours.ctx, ours.out, NULL, 0);
	b = EVP_Cipher(theirs.ctx, theirs.out, NULL, 0);
	same("returns", a, b);
	same_bytes("data", ours.out, theirs.out, b);
}

static void final(void)
{
	if (is_by_chance())
		return;
	say(" final");
	if (!BOTH(EVP_CipherFinal_ex(s->ctx, s->out, &s->n))) {
		/* after wrong padding a cipher's behaviour is not defined */
		over = !is_aead();
		return;
	}
	same("length", ours.n, theirs.n);
	same_bytes("data", ours.out, theirs.out, theirs.n);
}

static void copy(void)
{
	EVP_CIPHER_CTX *was[] = { ours.ctx, theirs.ctx };

	say(" copy");
	ours.ctx = EVP_CIPHER_CTX_new();
	theirs.ctx = EVP_CIPHER_CTX_new();
	BOTH(EVP_CIPHER_CTX_copy(s->ctx, was[s == &theirs]));
	EVP_CIPHER_CTX_free(was[0]);
	EVP_CIPHER_CTX_free(was[1]);
}

static void ask(void)
{
	say(" ask");
	same("length of the nonce", EVP_CIPHER_CTX_get_iv_length(ours.ctx),
	     EVP_CIPHER_CTX_get_iv_length(theirs.ctx));
	same("length of the tag", EVP_CIPHER_CTX_get_tag_length(ours.ctx),
	     EVP_CIPHER_CTX_get_tag_length(theirs.ctx));
	memset(ours.tag, 0, 16);
	memset(theirs.tag, 0, 16);
	if (BOTH(EVP_CIPHER_CTX_get_updated_iv(s->ctx, s->tag, 16)))
		same_bytes("nonce", ours.tag, theirs.tag, 16);
}

static void padding(void)
{
	int on = one_in(2);

	say(" padding(%d)", on);
	BOTH(EVP_CIPHER_CTX_set_padding(s->ctx, on));
}

static void call(void)
{
	static void (* const all[])(void) = {
		set_ivlen, set_tag, set_tag, get_tag, get_tag, declare,
		authenticate, authenticate, data, data, data, data, final,
		final, copy, ask, padding, at_once, nothing_at_once,
	};

	if (one_in(6))
		init(false);
	else
		all[below(COUNT(all))]();
	ERR_clear_error();
}

static void begin_cipher(void)
{
	ours.cipher = EVP_CIPHER_fetch(NULL, name, ours.properties);
	theirs.cipher = EVP_CIPHER_fetch(NULL, name, theirs.properties);
	if (!ours.cipher || !theirs.cipher)
		differ("is not there", !!ours.cipher, !!theirs.cipher);
	BOTH(!!(s->ctx = EVP_CIPHER_CTX_new()));
}

static void end_cipher(void)
{
	EVP_CIPHER_CTX_free(ours.ctx);
	EVP_CIPHER_CTX_free(theirs.ctx);
	EVP_CIPHER_free(ours.cipher);
	EVP_CIPHER_free(theirs.cipher);
}

static void cipher_calls(int n)
{
	nonce = false;
	begin_cipher();
	enc = one_in(2);
	init(true);
	while (n-- && !over)
		call();
	end_cipher();
}

/*
 * If the program sets no tag before decryption, OpenSSL compares with the tag
 * that it made last; if @taglen is not 0, the tag has this many bytes.  A
 * program can also still get that tag afterwards.
 */
static void kept_tag(const char *cipher, int taglen)
{
	name = cipher;
	calls[0] = '\0';
	begin_cipher();
	BOTH(EVP_CipherInit_ex2(s->ctx, s->cipher, keys[0], ivs[0], 1, NULL));
	if (taglen)
		BOTH(EVP_CIPHER_CTX_ctrl(s->ctx, EVP_CTRL_AEAD_SET_TAG, taglen,
					 NULL));
	for (enc = true;; enc = false) {
		say(" %scrypt", enc ? "en" : "de");
		BOTH(EVP_CipherUpdate(s->ctx, s->out, &s->n,
				      enc ? text : sealed, 4096));
		same_bytes("data", ours.out, theirs.out, 4096);
		memcpy(sealed, theirs.out, 4096);
		BOTH(EVP_CipherFinal_ex(s->ctx, s->out, &s->n));
		if (!enc)
			break;
		BOTH(EVP_CipherInit_ex2(s->ctx, NULL, NULL, ivs[0], 0, NULL));
	}
	say(" get_tag");
	BOTH(EVP_CipherInit_ex2(s->ctx, NULL, NULL, ivs[1], 1, NULL));
	if (BOTH(EVP_CIPHER_CTX_ctrl(s->ctx, EVP_CTRL_AEAD_GET_TAG, 16,
				     s->tag)))
		same_bytes("tag", ours.tag, theirs.tag, 16);
	ERR_clear_error();
	end_cipher();
}

/* ---- digests and MACs ---- */

/*
 * The calls of digests, or of MACs.  @final tells the length of our result, and
 * of OpenSSL's own.
 */
struct hashing {
	void (*init)(void);
	void (*copy)(void);
	void (*update)(size_t n);
	bool (*final)(size_t *len);
};

static void hash_call(const struct hashing *h)
{
	size_t n = some_len(), len[2];

	switch (below(ended ? 2 : 6)) {
	case 0:
		ended = false;
		h->init();
		break;
	case 1:
		say(" copy");
		h->copy();
		break;
	case 2:
		say(" final");
		if (!h->final(len))
			break;
		same("length", len[0], len[1]);
		same_bytes("result", ours.out, theirs.out, len[1]);
		ended = true;
		break;
	default:
		say(" update(%zu)", n);
		h->update(n);
	}
	ERR_clear_error();
}

static void init_digest(void)
{
	bool anew = one_in(2);

	say(" init(%s)", anew ? "digest" : "");
	BOTH(EVP_DigestInit_ex2(s->hash, anew ? s->md : NULL, NULL));
}

static void copy_digest(void)
{
	EVP_MD_CTX *was[] = { ours.hash, theirs.hash };

	BOTH(!!(s->hash = EVP_MD_CTX_new()));
	BOTH(EVP_MD_CTX_copy_ex(s->hash, was[s == &theirs]));
	EVP_MD_CTX_free(was[0]);
	EVP_MD_CTX_free(was[1]);
}

static void update_digest(size_t n)
{
	BOTH(EVP_DigestUpdate(s->hash, text, n));
}

static bool end_digest(size_t *len)
{
	unsigned int n[2] = { 0 };
	bool ok = BOTH(EVP_DigestFinal_ex(s->hash, s->out, &n[s == &theirs]));

	len[0] = n[0];
	len[1] = n[1];
	return ok;
}

static void digest_calls(int n)
{
	static const struct hashing digest = {
		init_digest, copy_digest, update_digest, end_digest
	};

	ours.md = EVP_MD_fetch(NULL, name, ours.properties);
	theirs.md = EVP_MD_fetch(NULL, name, theirs.properties);
	if (!ours.md || !theirs.md)
		differ("is not there", !!ours.md, !!theirs.md);
	BOTH(!!(s->hash = EVP_MD_CTX_new()));
	BOTH(EVP_DigestInit_ex2(s->hash, s->md, NULL));
	while (n--)
		hash_call(&digest);
	EVP_MD_CTX_free(ours.hash);
	EVP_MD_CTX_free(theirs.hash);
	EVP_MD_free(ours.md);
	EVP_MD_free(theirs.md);
}

static void init_mac(void)
{
	const char *of = strcmp(name, "CMAC") ? OSSL_MAC_PARAM_DIGEST :
						OSSL_MAC_PARAM_CIPHER;
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(of, (char *)made_of, 0),
		OSSL_PARAM_END
	};
	const unsigned char *key = one_in(3) ? NULL : keys[one_in(4)];

	say(" init(%s)", key ? "key" : "");
	BOTH(EVP_MAC_init(s->mac, key, key ? 16 : 0, params));
}

static void copy_mac(void)
{
	EVP_MAC_CTX *was[] = { ours.mac, theirs.mac };

	over = !BOTH(!!(s->mac = EVP_MAC_CTX_dup(was[s == &theirs])));
	EVP_MAC_CTX_free(was[0]);
	EVP_MAC_CTX_free(was[1]);
}

static void update_mac(size_t n)
{
	BOTH(EVP_MAC_update(s->mac, text, n));
}

static bool end_mac(size_t *len)
{
	return BOTH(EVP_MAC_final(s->mac, s->out, &len[s == &theirs],
				  sizeof(s->out)));
}

static void mac_calls(int n)
{
	static const struct hashing mac = {
		init_mac, copy_mac, update_mac, end_mac
	};

	made_of = strcmp(name, "CMAC") ? digests[below(COUNT(digests))] :
					 "AES-128-CBC";
	say(" %s", made_of);
	ours.kind = EVP_MAC_fetch(NULL, name, ours.properties);
	theirs.kind = EVP_MAC_fetch(NULL, name, theirs.properties);
	if (!ours.kind || !theirs.kind)
		differ("is not there", !!ours.kind, !!theirs.kind);
	BOTH(!!(s->mac = EVP_MAC_CTX_new(s->kind)));
	init_mac();
	while (n-- && !over)
		hash_call(&mac);
	EVP_MAC_CTX_free(ours.mac);
	EVP_MAC_CTX_free(theirs.mac);
	EVP_MAC_free(ours.kind);
	EVP_MAC_free(theirs.kind);
}

/* ---- all of them ---- */

static const struct kind {
	const char * const *names;
	size_t n;
	void (*calls)(int n);
	int share;	/* so many of eight sequences are of this kind */
} kinds[] = {
	{ ciphers, COUNT(ciphers), cipher_calls, 6 },
	{ digests, COUNT(digests), digest_calls, 1 },
	{ macs, COUNT(macs), mac_calls, 1 },
};

static void sequence(void)
{
	int turn = below(8), n = 2 + below(CALLS);
	const struct kind *k = kinds;

	calls[0] = '\0';
	ended = false;
	over = false;
	while (turn >= k->share)
		turn -= k++->share;
	name = k->names[below(k->n)];
	k->calls(n);
}

int main(void)
{
	int i, n = rounds_given(SEQUENCES);
	OSSL_PROVIDER *own, *defaults;

	seed = seed_given();
	defaults = OSSL_PROVIDER_load(NULL, "default");
	own = OSSL_PROVIDER_load(NULL, "ocf");
	if (!own || !defaults) {
		ERR_print_errors_fp(stderr);
		return 1;
	}
	kept_tag("AES-256-GCM", 0);
	kept_tag("ChaCha20-Poly1305", 0);
	kept_tag("ChaCha20-Poly1305", 8);
	for (i = 0; i < n; i++, seed++) {
		chance_from(seed);
		fill_by_chance(text, sizeof(text));
		fill_by_chance(keys, sizeof(keys));
		fill_by_chance(ivs, sizeof(ivs));
		sequence();
	}
	OSSL_PROVIDER_unload(own);
	OSSL_PROVIDER_unload(defaults);
	printf("orders: %d sequences: equal\n", n);
	return 0;
}
