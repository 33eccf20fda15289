// SPDX-License-Identifier: BSD-2-Clause
/*
 * The provider against OpenSSL's own, on random input, with contexts used as
 * programs use them: in pieces, in place, copied, used again.
 *
 *	differ [ROUNDS [job]]	OCF_SEED from the environment; in a job
 *
 * Ten rounds use every algorithm.  At the end the program checks that none was
 * left out.
 */
#include <openssl/async.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "differ.h"
#include "every.h"

unsigned char data[LEN + 64], one[LEN + 256], other[LEN + 256];
const char *what;
/* The number of this round; the first is random. */
static unsigned int turn;

void fail(const char *why, int line)
{
	fprintf(stderr, "differ: line %d: %s: %s\n", line, what, why);
	ERR_print_errors_fp(stderr);
	exit(1);
}

size_t below(size_t n)
{
	return n ? (size_t)random() % n : 0;
}

bool one_in(size_t n)
{
	return !below(n);
}

/*
 * Returns the next index below @n, so that each algorithm has a round in turn.
 */
static size_t in_turn(size_t n)
{
	return (size_t)turn % n;
}

size_t some_len(void)
{
	return one_in(3) ? below(100) : one_in(2) ? below(5000) : below(LEN);
}

void fill(void *to, size_t len)
{
	unsigned char *at = to;

	while (len--)
		*at++ = random();
}

/* ---- ciphers ---- */

static const char * const ciphers[] = {
	"AES-128-CBC", "AES-192-CBC", "AES-256-CBC", "AES-128-CTR",
	"AES-192-CTR", "AES-256-CTR", "AES-128-ECB", "AES-192-ECB",
	"AES-256-ECB", "DES-EDE3-CBC",
};

/*
 * Encrypts or decrypts in @n pieces that end at @cuts.  Returns the length of
 * the result, or -1.
 */
static int crypt_pieces(EVP_CIPHER_CTX *ctx, unsigned char *out,
			const unsigned char *in, const size_t *cuts, int n,
			bool copy)
{
	EVP_CIPHER_CTX *dup = NULL;
	int len, all = 0, i;
	size_t at = 0;

	for (i = 0; i < n; at = cuts[i++]) {
		if (!EVP_CipherUpdate(ctx, out + all, &len, in + at,
				      cuts[i] - at))
			goto err;
		all += len;
		if (copy && !dup) {
			dup = EVP_CIPHER_CTX_new();
			if (!EVP_CIPHER_CTX_copy(dup, ctx))
				goto err;
			ctx = dup;
		}
	}
	if (!EVP_CipherFinal_ex(ctx, out + all, &len))
		goto err;
	EVP_CIPHER_CTX_free(dup);
	return all + len;
err:
	EVP_CIPHER_CTX_free(dup);
	ERR_clear_error();
	return -1;
}

static int compare_sizes(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

static int cut(size_t *cuts, size_t len)
{
	int i, n = 1 + below(4);

	for (i = 0; i < n - 1; i++)
		cuts[i] = below(len + 1);
	cuts[n - 1] = len;
	qsort(cuts, n, sizeof(*cuts), compare_sizes);
	return n;
}

static void cipher_round(EVP_CIPHER_CTX *a, EVP_CIPHER_CTX *b)
{
	unsigned char key[64], iv[16], iv_a[16], iv_b[16];
	size_t cuts[4], len = some_len();
	int enc, pad = below(2), n, x, y;
	EVP_CIPHER *mine, *theirs;

	what = ciphers[in_turn(COUNT(ciphers))];
	mine = EVP_CIPHER_fetch(NULL, what, OURS);
	theirs = EVP_CIPHER_fetch(NULL, what, THEIRS);
	CHECK(mine && theirs);
	fill(key, sizeof(key));
	fill(iv, sizeof(iv));
	if (!pad)
		len -= len % EVP_CIPHER_get_block_size(theirs);
	for (enc = 1; enc >= 0; enc--) {
		/* the second time the input is the result of the first */
		const unsigned char *in = enc ? data : other;

		CHECK(EVP_CipherInit_ex2(a, mine, key, iv, enc, NULL));
		CHECK(EVP_CipherInit_ex2(b, theirs, key, iv, enc, NULL));
		EVP_CIPHER_CTX_set_padding(a, pad);
		EVP_CIPHER_CTX_set_padding(b, pad);
		n = cut(cuts, len);
		if (one_in(10) && len && !enc)
			other[len - 1] ^= 1;
		if (n == 1 && one_in(2)) {
			memcpy(one, in, len);
			x = crypt_pieces(a, one, one, cuts, 1, false);
		} else {
			x = crypt_pieces(a, one, in, cuts, n, one_in(4));
		}
		if (enc) {
			y = crypt_pieces(b, other, in, cuts, n, false);
		} else {
			static unsigned char back[LEN + 256];

			y = crypt_pieces(b, back, in, cuts, n, false);
			memcpy(other, back, y > 0 ? y : 0);
		}
		CHECK(x == y);
		CHECK(x < 0 || !memcmp(one, other, x));
		if (EVP_CIPHER_get_iv_length(theirs) && x >= 0 && n > 1) {
			EVP_CIPHER_CTX_get_updated_iv(b, iv_b, 16);
			EVP_CIPHER_CTX_get_updated_iv(a, iv_a, 16);
		}
		len = x < 0 ? 0 : x;
		if (x < 0)
			break;
	}
	every_saw(OSSL_OP_CIPHER, what);
	EVP_CIPHER_free(mine);
	EVP_CIPHER_free(theirs);
}

/* Each context encrypts one unit of data. */
static void xts_round(EVP_CIPHER_CTX *a, EVP_CIPHER_CTX *b)
{
	unsigned char key[64], iv[16];
	size_t len = 16 + some_len();
	EVP_CIPHER *mine, *theirs;
	int enc, x, y;

	what = in_turn(2) ? "AES-128-XTS" : "AES-256-XTS";
	mine = EVP_CIPHER_fetch(NULL, what, OURS);
	theirs = EVP_CIPHER_fetch(NULL, what, THEIRS);
	fill(key, sizeof(key));
	fill(iv, sizeof(iv));
	if (len > LEN)
		len = LEN;
	for (enc = 1; enc >= 0; enc--) {
		CHECK(EVP_CipherInit_ex2(a, mine, key, iv, enc, NULL));
		CHECK(EVP_CipherInit_ex2(b, theirs, key, iv, enc, NULL));
		CHECK(EVP_CipherUpdate(a, one, &x, enc ? data : other, len));
		CHECK(EVP_CipherUpdate(b, other, &y, enc ? data : other, len));
		CHECK(x == y && !memcmp(one, other, x));
	}
	every_saw(OSSL_OP_CIPHER, what);
	EVP_CIPHER_free(mine);
	EVP_CIPHER_free(theirs);
}

/* ---- AEAD ---- */

const char * const aeads[AEADS] = {
	"AES-128-GCM", "AES-192-GCM", "AES-256-GCM", "AES-128-CCM",
	"AES-192-CCM", "AES-256-CCM", "ChaCha20-Poly1305",
};

struct message {
	unsigned char key[32], iv[16], aad[100], tag[16];
	size_t ivlen, taglen, aadlen, len, cuts[4];
	int pieces;
	bool ccm, late;
};

/* Seals or opens, as @m says.  Returns the length, or -1. */
static int aead(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher,
		struct message *m, int enc, const unsigned char *in,
		unsigned char *out)
{
	int n, all = 0, i;
	size_t at = 0;

	CHECK(EVP_CipherInit_ex2(ctx, cipher, NULL, NULL, enc, NULL));
	CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, m->ivlen,
				  NULL) > 0);
	if (m->ccm || (!enc && !m->late))
		CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG,
					  m->taglen, enc ? NULL : m->tag) > 0);
	CHECK(EVP_CipherInit_ex2(ctx, NULL, m->key, m->iv, enc, NULL));
	if (m->ccm)
		CHECK(EVP_CipherUpdate(ctx, NULL, &n, NULL, m->len));
	if (m->aadlen)
		CHECK(EVP_CipherUpdate(ctx, NULL, &n, m->aad, m->aadlen));
	for (i = 0; i < m->pieces; at = m->cuts[i++]) {
		if (!EVP_CipherUpdate(ctx, out + all, &n, in + at,
				      m->cuts[i] - at))
			goto err;
		all += n;
	}
	if (!m->ccm && !enc && m->late)
		CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG,
					  m->taglen, m->tag) > 0);
	if ((!m->ccm || enc) && !EVP_CipherFinal_ex(ctx, out + all, &n))
		goto err;
	if (enc)
		CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG,
					  m->taglen, m->tag) > 0);
	return all;
err:
	ERR_clear_error();
	return -1;
}

static void aead_round(EVP_CIPHER_CTX *a, EVP_CIPHER_CTX *b)
{
	struct message m = { .taglen = 16 }, n;
	EVP_CIPHER *mine, *theirs;
	int x, y, x2, y2;

	what = aeads[in_turn(COUNT(aeads))];
	mine = EVP_CIPHER_fetch(NULL, what, OURS);
	theirs = EVP_CIPHER_fetch(NULL, what, THEIRS);
	CHECK(mine && theirs);
	m.ccm = EVP_CIPHER_get_mode(theirs) == EVP_CIPH_CCM_MODE;
	fill(m.key, sizeof(m.key));
	fill(m.iv, sizeof(m.iv));
	fill(m.aad, sizeof(m.aad));
	m.aadlen = below(101);
	m.ivlen = m.ccm ? 7 + below(5) :
		  one_in(8) && EVP_CIPHER_get_mode(theirs) ? 8 : 12;
	if (m.ccm)
		m.taglen = 4 + 2 * below(7);
	else if (one_in(5) && EVP_CIPHER_get_mode(theirs))
		m.taglen = 12 + below(5);
	m.len = 1 + some_len();
	if (m.len > LEN)
		m.len = LEN;
	m.late = one_in(3);
	m.pieces = m.ccm ? 1 : cut(m.cuts, m.len);
	m.cuts[m.pieces - 1] = m.len;
	n = m;
	x = aead(a, mine, &m, 1, data, one);
	y = aead(b, theirs, &n, 1, data, other);
	CHECK(x == y && x == (int)m.len);
	CHECK(!memcmp(one, other, x) && !memcmp(m.tag, n.tag, m.taglen));
	if (one_in(4))
		m.tag[below(m.taglen)] ^= 4;
	else if (one_in(6))
		one[below(x)] ^= 1;
	n = m;
	memcpy(other, one, x);
	x2 = aead(a, mine, &m, 0, one, one);
	y2 = aead(b, theirs, &n, 0, other, other);
	CHECK(x2 == y2);
	CHECK(x2 < 0 || (!memcmp(one, data, x2) && !memcmp(other, data, x2)));
	every_saw(OSSL_OP_CIPHER, what);
	EVP_CIPHER_free(mine);
	EVP_CIPHER_free(theirs);
}

/* ---- digests and MACs ---- */

const char * const digests[DIGESTS] = {
	"SHA1", "SHA224", "SHA256", "SHA384", "SHA512", "SHA3-224", "SHA3-256",
	"SHA3-384", "SHA3-512",
};

static void digest_pieces(EVP_MD_CTX *ctx, const EVP_MD *md,
			  const size_t *cuts, int n, unsigned char *out,
			  bool copy)
{
	EVP_MD_CTX *dup = NULL;
	size_t at = 0;
	int i;

	CHECK(EVP_DigestInit_ex2(ctx, md, NULL));
	for (i = 0; i < n; at = cuts[i++]) {
		CHECK(EVP_DigestUpdate(ctx, data + at, cuts[i] - at));
		if (copy && !dup) {
			dup = EVP_MD_CTX_new();
			CHECK(EVP_MD_CTX_copy_ex(dup, ctx));
			/* the copy goes its own way */
			CHECK(EVP_DigestUpdate(ctx, "x", 1));
			ctx = dup;
		}
	}
	CHECK(EVP_DigestFinal_ex(ctx, out, NULL));
	EVP_MD_CTX_free(dup);
}

static void digest_round(EVP_MD_CTX *a, EVP_MD_CTX *b)
{
	size_t cuts[4], len = some_len();
	EVP_MD *mine, *theirs;
	int n = cut(cuts, len);

	what = digests[in_turn(COUNT(digests))];
	mine = EVP_MD_fetch(NULL, what, OURS);
	theirs = EVP_MD_fetch(NULL, what, THEIRS);
	CHECK(mine && theirs);
	CHECK(EVP_MD_get_size(mine) == EVP_MD_get_size(theirs));
	CHECK(EVP_MD_get_block_size(mine) == EVP_MD_get_block_size(theirs));
	CHECK(EVP_MD_get_type(mine) == EVP_MD_get_type(theirs));
	digest_pieces(a, mine, cuts, n, one, one_in(3));
	digest_pieces(b, theirs, cuts, n, other, false);
	CHECK(!memcmp(one, other, EVP_MD_get_size(theirs)));
	every_saw(OSSL_OP_DIGEST, what);
	EVP_MD_free(mine);
	EVP_MD_free(theirs);
}

static size_t mac_of(const char *name, const char *properties,
		     const OSSL_PARAM *params, const unsigned char *key,
		     size_t keylen, const size_t *cuts, int n,
		     unsigned char *out, bool again)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, name, properties);
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac), *dup;
	size_t at, len;
	int i, round;

	CHECK(ctx);
	for (round = 0; round <= again; round++) {
		/* the second time with the same key as before */
		CHECK(EVP_MAC_init(ctx, round ? NULL : key, keylen,
				   round ? NULL : params));
		for (at = 0, i = 0; i < n; at = cuts[i++]) {
			CHECK(EVP_MAC_update(ctx, data + at, cuts[i] - at));
			if (!i && one_in(3)) {
				dup = EVP_MAC_CTX_dup(ctx);
				CHECK(dup);
				EVP_MAC_CTX_free(ctx);
				ctx = dup;
			}
		}
		CHECK(EVP_MAC_final(ctx, out, &len, EVP_MAX_MD_SIZE));
	}
	EVP_MAC_CTX_free(ctx);
	EVP_MAC_free(mac);
	return len;
}

static void mac_round(bool cmac)
{
	static const struct {
		const char *name;
		size_t key;
	} ciphers[] = {
		{ "AES-128-CBC", 16 }, { "AES-192-CBC", 24 },
		{ "AES-256-CBC", 32 }, { "DES-EDE3-CBC", 24 },
	};
	size_t cuts[4], len = some_len(), keylen = 1 + below(300);
	int n = cut(cuts, len), c = in_turn(COUNT(ciphers));
	char *name = (char *)(cmac ? ciphers[c].name :
				     digests[in_turn(COUNT(digests))]);
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(cmac ? OSSL_MAC_PARAM_CIPHER :
				       OSSL_MAC_PARAM_DIGEST, name, 0),
		OSSL_PARAM_END
	};
	unsigned char key[300];
	size_t x, y;

	what = cmac ? "CMAC" : "HMAC";
	keylen = cmac ? ciphers[c].key : keylen;
	fill(key, sizeof(key));
	x = mac_of(what, OURS, params, key, keylen, cuts, n, one, one_in(2));
	y = mac_of(what, THEIRS, params, key, keylen, cuts, n, other, false);
	CHECK(x == y && !memcmp(one, other, x));
	every_saw(OSSL_OP_MAC, what);
}

static void rand_round(void)
{
	EVP_RAND *rand = EVP_RAND_fetch(NULL, "OCF-RANDOM", OURS);
	EVP_RAND_CTX *ctx = EVP_RAND_CTX_new(rand, NULL);

	what = "RAND";
	CHECK(ctx && EVP_RAND_instantiate(ctx, 256, 0, NULL, 0, NULL));
	memset(one, 0, 64);
	CHECK(EVP_RAND_generate(ctx, one, 32, 256, 0, NULL, 0));
	CHECK(EVP_RAND_generate(ctx, one + 32, 32, 256, 0, NULL, 0));
	CHECK(memcmp(one, one + 32, 32));
	CHECK(!EVP_RAND_generate(ctx, one, 32, 257, 0, NULL, 0));
	every_saw(OSSL_OP_RAND, "OCF-RANDOM");
	EVP_RAND_CTX_free(ctx);
	EVP_RAND_free(rand);
}

static int compare(void *arg)
{
	EVP_CIPHER_CTX *a = EVP_CIPHER_CTX_new(), *b = EVP_CIPHER_CTX_new();
	EVP_MD_CTX *c = EVP_MD_CTX_new(), *d = EVP_MD_CTX_new();
	int i, rounds = *(int *)arg;

	for (i = 0; i < rounds; i++, turn++) {
		cipher_round(a, b);
		xts_round(a, b);
		aead_round(a, b);
		digest_round(c, d);
		mac_round(false);
		mac_round(true);
		tls_round();
		record_round();
	}
	keys(rounds / 50 + 1);
	rand_round();
	EVP_CIPHER_CTX_free(a);
	EVP_CIPHER_CTX_free(b);
	EVP_MD_CTX_free(c);
	EVP_MD_CTX_free(d);
	return 1;
}

/* Waits until a job can go on.  The job must be woken once only. */
static void wait_for_news(ASYNC_WAIT_CTX *wait)
{
	static int poll = -1;
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	OSSL_ASYNC_FD fd;
	size_t n = 0;

	if (poll < 0) {
		poll = epoll_create1(0);
		CHECK(ASYNC_WAIT_CTX_get_all_fds(wait, NULL, &n) && n == 1 &&
		      ASYNC_WAIT_CTX_get_all_fds(wait, &fd, &n) &&
		      !epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event));
	}
	CHECK(epoll_wait(poll, &event, 1, 600000) == 1);
}

/* A job pauses while the kernel does its work. */
static void compare_in_job(int rounds)
{
	ASYNC_WAIT_CTX *wait = ASYNC_WAIT_CTX_new();
	int res = 0, state, pauses = -1;
	ASYNC_JOB *job = NULL;

	do {
		state = ASYNC_start_job(&job, wait, &res, compare, &rounds,
					sizeof(rounds));
		pauses++;
		if (state == ASYNC_PAUSE)
			wait_for_news(wait);
	} while (state == ASYNC_PAUSE);
	what = "a job";
	CHECK(state == ASYNC_FINISH && res == 1 && pauses);
	ASYNC_WAIT_CTX_free(wait);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 300;
	bool in_job = argc > 2 && !strcmp(argv[2], "job");
	const char *seed = getenv("OCF_SEED");
	unsigned int chance = seed ? atoi(seed) : time(NULL);
	OSSL_PROVIDER *own, *defaults;

	printf("differ: OCF_SEED=%u\n", chance);
	fflush(stdout);
	srandom(chance);
	turn = chance;
	what = "the provider";
	defaults = OSSL_PROVIDER_load(NULL, "default");
	own = OSSL_PROVIDER_load(NULL, "ocf");
	CHECK(own && defaults);
	fill(data, sizeof(data));
	if (in_job)
		compare_in_job(rounds);
	else
		compare(&rounds);
	what = "all there is";
	CHECK(!every_missing(own));
	OSSL_PROVIDER_unload(own);
	OSSL_PROVIDER_unload(defaults);
	printf("differ: %d rounds: equal\n", rounds);
	return 0;
}
