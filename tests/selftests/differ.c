// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "differ.h"

#define MARGIN		512		/* bytes watched around a buffer */
#define NOISE		(1u << 20)	/* bytes drawn once */
#define SMALL		(128u << 10)	/* bytes; more is rare: it takes long */

__thread uint64_t chance_state;

/*
 * These sizes are from the standards, so that an error in the framework's table
 * is found.
 */
const struct alg algs[] = {
	{ "null",		CIPHER, 0, 64, 1,	1, 0, 0, false },
	{ "aes-cbc",		CIPHER, 16, 32, 8,	16, 16, 0, true },
	{ "aes-ctr",		CIPHER, 16, 32, 8,	1, 16, 0, true },
	{ "aes-ecb",		CIPHER, 16, 32, 8,	16, 0, 0, false },
	{ "aes-xts",		CIPHER, 32, 64, 16,	16, 16, 0, false },
	{ "des3-cbc",		CIPHER, 24, 24, 1,	8, 8, 0, true },
	{ "des-cbc",		CIPHER, 8, 8, 1,	8, 8, 0, true },
	{ "camellia-cbc",	CIPHER, 16, 32, 8,	16, 16, 0, true },
	{ "blowfish-cbc",	CIPHER, 4, 56, 1,	8, 8, 0, true },
	{ "cast5-cbc",		CIPHER, 5, 16, 1,	8, 8, 0, true },
	{ "chacha20",		CIPHER, 32, 32, 1,	1, 16, 0, true },
	{ "aes-gcm",		AEAD, 16, 32, 8,	1, 12, 16, false },
	{ "aes-ccm",		AEAD, 16, 32, 8,	1, 12, 16, false },
	{ "chacha20-poly1305",	AEAD, 32, 32, 1,	1, 12, 16, false },
	{ "md5",		DIGEST, 0, 0, 1,	1, 0, 16, false },
	{ "sha1",		DIGEST, 0, 0, 1,	1, 0, 20, false },
	{ "sha224",		DIGEST, 0, 0, 1,	1, 0, 28, false },
	{ "sha256",		DIGEST, 0, 0, 1,	1, 0, 32, false },
	{ "sha384",		DIGEST, 0, 0, 1,	1, 0, 48, false },
	{ "sha512",		DIGEST, 0, 0, 1,	1, 0, 64, false },
	{ "sha3-224",		DIGEST, 0, 0, 1,	1, 0, 28, false },
	{ "sha3-256",		DIGEST, 0, 0, 1,	1, 0, 32, false },
	{ "sha3-384",		DIGEST, 0, 0, 1,	1, 0, 48, false },
	{ "sha3-512",		DIGEST, 0, 0, 1,	1, 0, 64, false },
	{ "ripemd160",		DIGEST, 0, 0, 1,	1, 0, 20, false },
	{ "blake2b",		DIGEST, 0, 64, 1,	1, 0, 64, false },
	{ "blake2s",		DIGEST, 0, 32, 1,	1, 0, 32, false },
	{ "null-mac",		MAC, 0, 512, 1,		1, 0, 16, false },
	{ "hmac-md5",		MAC, 0, 512, 1,		1, 0, 16, false },
	{ "hmac-sha1",		MAC, 0, 512, 1,		1, 0, 20, false },
	{ "hmac-sha224",	MAC, 0, 512, 1,		1, 0, 28, false },
	{ "hmac-sha256",	MAC, 0, 512, 1,		1, 0, 32, false },
	{ "hmac-sha384",	MAC, 0, 512, 1,		1, 0, 48, false },
	{ "hmac-sha512",	MAC, 0, 512, 1,		1, 0, 64, false },
	{ "hmac-sha3-224",	MAC, 0, 512, 1,		1, 0, 28, false },
	{ "hmac-sha3-256",	MAC, 0, 512, 1,		1, 0, 32, false },
	{ "hmac-sha3-384",	MAC, 0, 512, 1,		1, 0, 48, false },
	{ "hmac-sha3-512",	MAC, 0, 512, 1,		1, 0, 64, false },
	{ "hmac-ripemd160",	MAC, 0, 512, 1,		1, 0, 20, false },
	{ "aes-cmac",		MAC, 16, 32, 8,		1, 0, 16, false },
	{ "aes-gmac",		MAC, 16, 32, 8,		1, 12, 16, false },
};
const int nalgs = COUNT(algs);

bool is_alg(const struct alg *alg, const char *name)
{
	return alg && !strcmp(alg->name, name);
}

const struct alg *alg_named(const char *name)
{
	int i;

	for (i = 0; i < nalgs; i++)
		if (is_alg(&algs[i], name))
			return &algs[i];
	return NULL;
}

bool fips_forbids(const char *name)
{
	static const char * const names[] = {
		"des3-cbc", "des-cbc", "camellia-cbc", "blowfish-cbc",
		"cast5-cbc", "chacha20", "chacha20-poly1305", "md5",
		"ripemd160", "blake2b", "blake2s", "hmac-md5",
		"hmac-ripemd160",
	};
	unsigned int i;

	for (i = 0; i < COUNT(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static bool is_fips(void)
{
	static int fips = -1;
	char c = '0';
	int fd;

	if (fips >= 0)
		return fips;
	fd = open("/proc/sys/crypto/fips_enabled", O_RDONLY);
	if (fd >= 0 && read(fd, &c, 1) != 1)
		c = '0';
	close(fd);
	fips = c == '1';
	return fips;
}

/*
 * With fips=1 the kernel offers GHASH, which GMAC needs, only as a part of GCM.
 */
static bool is_offered(const struct alg *alg)
{
	return !is_fips() || (!fips_forbids(alg->name) &&
			      !is_alg(alg, "aes-gmac"));
}

/*
 * Whether @alg is of @kinds and in OCF_ALGS; if OCF_ALGS has none of @kinds,
 * any of @kinds is wanted
 */
static bool is_wanted(const struct alg *alg, int kinds)
{
	char names[256], *rest = names, *name;
	bool any = true;

	snprintf(names, sizeof(names), "%s", getenv("OCF_ALGS") ?: "");
	while ((name = strsep(&rest, " "))) {
		const struct alg *wanted = alg_named(name);

		if (!wanted || !(wanted->kind & kinds))
			continue;
		if (wanted == alg)
			return true;
		any = false;
	}
	return any && alg->kind & kinds;
}

const struct alg *pick_alg(int kinds, unsigned int (*has)(const char *name))
{
	const struct alg *alg;

	do
		alg = &algs[below(nalgs)];
	while (!is_wanted(alg, kinds) || !has(alg->name) || !is_offered(alg));
	return alg;
}

/* Draws any legal length; the shortest and the longest are more frequent. */
static uint32_t pick_keylen(const struct alg *alg)
{
	bool hmac = is_fips() && !strncmp(alg->name, "hmac-", 5);
	bool xts = is_fips() && is_alg(alg, "aes-xts");
	uint32_t min = hmac ? FIPS_HMAC_KEY_MIN : alg->key_min;
	uint32_t step = xts ? 32 : alg->key_step;
	uint32_t steps = (alg->key_max - min) / step;

	switch (below(8)) {
	case 0:
		return min;
	case 1:
		return min + steps * step;
	default:
		return min + below(steps + 1) * step;
	}
}

void pick_keys(struct trial *t)
{
	t->keylen = t->cipher ? pick_keylen(t->cipher) : 0;
	t->mackeylen = t->mac ? pick_keylen(t->mac) : 0;
	t->ivlen = t->mac && t->mac->iv ? t->mac->iv :
		   t->cipher ? t->cipher->iv : 0;
	t->taglen = t->mac ? t->mac->digest : t->cipher->digest;
	fill_by_chance(t->key, sizeof(t->key));
	fill_by_chance(t->mackey, t->mackeylen);
	pick_iv(t);
}

void pick_iv(struct trial *t)
{
	fill_by_chance(t->iv, sizeof(t->iv));
	/* RFC 8439: what comes after the last of 2^32 blocks is not defined */
	if (is_alg(t->cipher, "chacha20"))
		t->iv[3] &= 0x7f;
	/* a counter that carries over all of its bytes */
	else if (is_alg(t->cipher, "aes-ctr") && one_in(4))
		memset(t->iv, 0xff, 15);
}

static uint32_t at_an_edge(uint32_t max, uint32_t block)
{
	/*
	 * the way of passing data changes at 256 bytes (words are copied), 1536
	 * (data in the operation itself) and 4096 (pages are pinned)
	 */
	static const uint32_t edges[] = { 0, 1, 32, 64, 128, 256, 512, 1536,
		2048, 4096, 8192, 16384, 7 * 4096, 65536, 131072 };
	uint32_t n = edges[below(COUNT(edges))];

	if (one_in(3))
		n = block * below(5);
	else if (one_in(max > SMALL ? 300 : 20))
		n = max + (one_in(3) ? block : 0);
	n += one_in(2) ? 0 : below(3) - 1;
	return n > max + block ? 0 : n;
}

uint32_t pick_len(uint32_t max, uint32_t block)
{
	uint32_t small = max < SMALL ? max : SMALL;
	uint32_t n = one_in(3) ? at_an_edge(max, block) :
				 log_uniform(one_in(32) ? max : small);
	const char *most = getenv("OCF_LEN_MAX");

	if (most && n > strtoul(most, NULL, 0))
		n = strtoul(most, NULL, 0);
	return one_in(24) ? n : n - n % block;
}

static struct area area_make(size_t size)
{
	struct area a;

	a.size = (size + PAGE - 1) / PAGE * PAGE;
	a.start = mmap(NULL, a.size + 2 * PAGE, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (a.start == MAP_FAILED)
		abort();
	a.start += PAGE;
	if (mprotect(a.start, a.size, PROT_READ | PROT_WRITE))
		abort();
	return a;
}

/* Room for @len bytes: at one of the ends, or anywhere at any address */
uint8_t *place(const struct area *area, uint32_t len)
{
	size_t room = area->size - len;

	switch (below(4)) {
	case 0:
		return area->start;
	case 1:
		return area->start + room;
	/* at most 63 bytes before the end of a page, so that data cross it */
	case 2:
		if (room > 2 * PAGE)
			return area->start + PAGE + PAGE - below(64);
		/* fall through */
	default:
		return area->start + below((room < 3 * PAGE ? room :
							      3 * PAGE) + 1);
	}
}

void noise(uint8_t *to, uint32_t len)
{
	static uint8_t *from;
	uint32_t n;

	if (!from) {
		from = malloc(NOISE);
		if (!from)
			abort();
		fill(from, NOISE, 99);
	}
	for (; len; len -= n, to += n) {
		n = len < NOISE / 4 ? len : NOISE / 4;
		memcpy(to, from + below(NOISE - n), n);
	}
}

static void *room(size_t size)
{
	void *p = malloc(size);

	if (!p)
		abort();
	return p;
}

bool differ_init(struct differ *d, size_t max)
{
	d->seed = seed_given();
	d->fd = open_dev();
	d->src = area_make(max + 16 * PAGE);
	d->dst = area_make(max + 16 * PAGE);
	d->aad = area_make(max + PAGE);
	d->tag = area_make(PAGE);
	d->on_src.image = room(2 * (d->src.size + 2 * MARGIN));
	d->on_dst.image = room(2 * (d->src.size + 2 * MARGIN));
	d->on_tag.image = room(PAGE);
	d->want = room(d->src.size);
	d->text = room(d->src.size + d->aad.size);
	return d->fd >= 0 && oracle_init();
}

void trial_begin(struct differ *d, int round)
{
	memset(&d->t, 0, sizeof(d->t));
	d->on_src.len = 0;
	d->on_dst.len = 0;
	d->on_tag.len = 0;
	d->t.seed = d->seed + round;
	chance_from(d->t.seed);
}

/* ---- where data are ---- */

static bool inside(const struct area *area, const uint8_t *at)
{
	/* an empty range at the end of the area is inside, too */
	return at >= area->start && at <= area->start + area->size;
}

void place_data(struct differ *d, uint32_t len, uint32_t all)
{
	struct trial *t = &d->t;

	t->src = place(&d->src, len);
	t->dst = place(&d->dst, all);
	if (one_in(3))
		t->dst = t->src = place(&d->src, len > all ? len : all);
	else if (all < d->src.size / 4 && one_in(8))
		t->dst = d->src.start + below(3 * all + 1);
	noise(t->src, len);
}

void place_in_place(struct differ *d, uint32_t len, uint32_t all)
{
	d->t.dst = d->t.src = place(&d->src, all);
	noise(d->t.src, len);
}

void place_aad(struct differ *d, uint32_t max)
{
	struct trial *t = &d->t;

	t->aadlen = one_in(max > SMALL ? 300 : 30) ? max - below(2) :
			pick_len(max < SMALL / 2 ? max : SMALL / 2, 1);
	if (t->aadlen > max)
		t->aadlen = max;
	t->aad = place(&d->aad, t->aadlen);
	noise(t->aad, t->aadlen);
}

uint8_t *place_tag(struct differ *d)
{
	return place(&d->tag, d->t.taglen);
}

/* ---- the results of the operations ---- */

void watch(struct watch *w, const struct area *area, const uint8_t *at,
	   size_t len)
{
	const uint8_t *end = area->start + area->size;
	const uint8_t *to = end - at - len < MARGIN ? end : at + len + MARGIN;

	w->from = at - area->start < MARGIN ? area->start : at - MARGIN;
	w->len = to - w->from;
	memcpy(w->image, w->from, w->len);
}

void watch_expect(struct watch *w, const uint8_t *at, const uint8_t *bytes,
		  size_t len)
{
	const uint8_t *end = w->from + w->len;

	if (at < w->from) {
		if (len <= w->from - at)
			return;
		bytes += w->from - at;
		len -= w->from - at;
		at = w->from;
	}
	if (at >= end)
		return;
	if (len > end - at)
		len = end - at;
	memcpy(w->image + (at - w->from), bytes, len);
}

void watch_data(struct differ *d, uint32_t all)
{
	struct trial *t = &d->t;

	watch(&d->on_src, &d->src, t->src, t->len);
	d->on_dst.len = 0;
	d->on_tag.len = 0;
	if (t->dst)
		watch(&d->on_dst, inside(&d->src, t->dst) ? &d->src : &d->dst,
		      t->dst, all);
}

void watch_tag(struct differ *d, const uint8_t *tag)
{
	watch(&d->on_tag, &d->tag, tag, d->t.taglen);
}

void expect_result(struct differ *d, uint32_t len)
{
	if (!d->t.dst)
		return;
	watch_expect(&d->on_src, d->t.dst, d->want, len);
	watch_expect(&d->on_dst, d->t.dst, d->want, len);
}

/*
 * Returns which byte of @w is wrong, or ""; @what is the buffer's name, and @at
 * its start
 */
static const char *differs_in(const struct watch *w, const char *what,
			      const uint8_t *at)
{
	static char text[80];
	size_t i;

	if (!memcmp(w->from, w->image, w->len))
		return "";
	for (i = 0; w->from[i] == w->image[i]; i++)
		;
	snprintf(text, sizeof(text), "byte %+td of the %s is %#x, not %#x",
		 w->from + i - at, what, w->from[i], w->image[i]);
	return text;
}

const char *differs(const struct differ *d)
{
	const char *wrong = "";

	if (d->on_dst.len)
		wrong = differs_in(&d->on_dst, "destination", d->t.dst);
	if (!*wrong && d->on_src.len)
		wrong = differs_in(&d->on_src, "source", d->t.src);
	if (!*wrong && d->on_tag.len)
		wrong = differs_in(&d->on_tag, "tag's page", d->tag.start);
	return wrong;
}

void flip(uint8_t *at, uint32_t len)
{
	at[below(len)] ^= 1 << below(8);
}

uint32_t pick_taglen(const struct trial *t)
{
	static const uint8_t gcm[] = { 4, 8, 12, 13, 14, 15, 16 };

	if (t->mac)
		return one_in(2) ? t->mac->digest :
				   4 + below(t->mac->digest - 3);
	if (is_alg(t->cipher, "aes-gcm"))
		return gcm[below(COUNT(gcm))];
	if (is_alg(t->cipher, "aes-ccm"))
		return 4 + 2 * below(7);
	return 16;
}

bool fits_nonce(const struct trial *t, uint32_t len)
{
	return !t->cipher || !is_alg(t->cipher, "aes-ccm") || t->ivlen < 12 ||
	       !(len >> 8 * (15 - t->ivlen));
}

/* ---- OpenSSL's answers ---- */

static void must(bool known, const struct trial *t)
{
	if (known)
		return;
	printf("# OpenSSL has no answer: %s\n", trial_text(t));
	abort();
}

void want_cipher(const struct trial *t, bool encrypt, const uint8_t *iv,
		 const uint8_t *in, uint32_t len, uint8_t *out)
{
	if (len)
		must(oracle_cipher(t->cipher->name, encrypt, t->key, t->keylen,
				   iv, in, len, out), t);
}

void want_mac(const struct trial *t, const uint8_t *in, uint32_t len,
	      uint8_t *mac)
{
	must(oracle_digest(t->mac->name, t->mackey, t->mackeylen, t->iv,
			   t->mac->iv, in, len, mac), t);
}

void want_seal(const struct trial *t, const uint8_t *in, uint32_t len,
	       uint8_t *out, uint8_t *tag)
{
	must(oracle_seal(t->cipher->name, t->key, t->keylen, t->iv, t->ivlen,
			 t->aad, t->aadlen, in, len, out, tag, t->taglen), t);
}

/* Adds to a big-endian number; add_little() does to a little-endian one */
static void add_big(uint8_t *n, int size, uint32_t more)
{
	while (size-- && more) {
		more += n[size];
		n[size] = more;
		more >>= 8;
	}
}

static void add_little(uint8_t *n, int size, uint32_t more)
{
	for (; size-- && more; n++) {
		more += *n;
		*n = more;
		more >>= 8;
	}
}

void want_next_iv(const struct alg *alg, bool encrypt, uint8_t *iv,
		  const uint8_t *in, const uint8_t *out, uint32_t len)
{
	if (!alg->chains)
		return;
	if (is_alg(alg, "aes-ctr"))
		add_big(iv, 16, (len + 15) / 16);
	else if (is_alg(alg, "chacha20"))
		add_little(iv, 4, (len + 63) / 64);
	else if (len)
		memcpy(iv, (encrypt ? out : in) + len - alg->iv, alg->iv);
}

static const char *name_of(const struct alg *alg)
{
	return alg ? alg->name : "-";
}

const char *trial_text(const struct trial *t)
{
	static char text[512];

	snprintf(text, sizeof(text),
		 "OCF_SEED=%llu OCF_ROUNDS=1: %s (key %u) %s (key %u) %s flags %#x iv %u tag %u len %u aad %u src %p dst %p aad %p",
		 (unsigned long long)t->seed, name_of(t->cipher), t->keylen,
		 name_of(t->mac), t->mackeylen,
		 t->encrypt ? "encrypt" : "decrypt", t->flags, t->ivlen,
		 t->taglen, t->len, t->aadlen, t->src, t->dst, t->aad);
	return text;
}
