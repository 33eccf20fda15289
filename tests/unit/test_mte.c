// SPDX-License-Identifier: BSD-2-Clause
/*
 * The end of a TLS record is compared with a simple, leaky reference, for every
 * length and every padding.  Under valgrind the plaintext is marked as
 * uninitialised, so that a branch or an address that depends on it is an error.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <kselftest_harness.h>
#include <openssl/md5.h>
#include <openssl/sha.h>
#include <valgrind/memcheck.h>

#include <linux/ocf_driver.h>

#include "../../tools/lib/oracle.h"

#define RECORD_MAX	700
#define AAD		13

/* OpenSSL's hashes, block by block, with access to their state */
union state {
	MD5_CTX		md5;
	SHA_CTX		sha1;
	SHA256_CTX	sha256;
	SHA512_CTX	sha512;
};

static void md5_compress(void *ctx, const u8 *block)
{
	MD5_Transform(ctx, block);
}

static void md5_peek(void *ctx, u8 *out)
{
	MD5_CTX *c = ctx;

	memcpy(out, &c->A, 4);
	memcpy(out + 4, &c->B, 4);
	memcpy(out + 8, &c->C, 4);
	memcpy(out + 12, &c->D, 4);
}

static void sha1_compress(void *ctx, const u8 *block)
{
	SHA1_Transform(ctx, block);
}

static void sha1_peek(void *ctx, u8 *out)
{
	SHA_CTX *c = ctx;
	u32 w[5] = { c->h0, c->h1, c->h2, c->h3, c->h4 };
	int i;

	for (i = 0; i < 5; i++)
		w[i] = __builtin_bswap32(w[i]);
	memcpy(out, w, 20);
}

static void sha256_compress(void *ctx, const u8 *block)
{
	SHA256_Transform(ctx, block);
}

static void sha256_peek(void *ctx, u8 *out)
{
	SHA256_CTX *c = ctx;
	int i;

	for (i = 0; i < 8; i++) {
		u32 w = __builtin_bswap32(c->h[i]);

		memcpy(out + 4 * i, &w, 4);
	}
}

static void sha512_compress(void *ctx, const u8 *block)
{
	SHA512_Transform(ctx, block);
}

static void sha512_peek(void *ctx, u8 *out)
{
	SHA512_CTX *c = ctx;
	int i;

	for (i = 0; i < 6; i++) {
		u64 w = __builtin_bswap64(c->h[i]);

		memcpy(out + 8 * i, &w, 8);
	}
}

static const struct kind {
	const char		*mac, *digest;
	struct ocf_mte_hash	hash;
	int			(*init)(void *ctx);
} kinds[] = {
	{ "hmac-md5", "md5",
	  { 64, 16, 8, true, NULL, md5_compress, md5_peek },
	  (int (*)(void *))MD5_Init },
	{ "hmac-sha1", "sha1",
	  { 64, 20, 8, false, NULL, sha1_compress, sha1_peek },
	  (int (*)(void *))SHA1_Init },
	{ "hmac-sha256", "sha256",
	  { 64, 32, 8, false, NULL, sha256_compress, sha256_peek },
	  (int (*)(void *))SHA256_Init },
	{ "hmac-sha384", "sha384",
	  { 128, 48, 16, false, NULL, sha512_compress, sha512_peek },
	  (int (*)(void *))SHA384_Init },
};

static const u8 key[20] = "a key of twenty byte";
static const u8 aad[AAD] = "\0\0\0\0\0\0\0\1\x17\3\3\0\0";

/* Hashes the part that is public, as a driver does; the state can take more. */
static void hash_public(const struct kind *k, union state *st, const u8 *all,
			u32 before)
{
	u8 block[128];
	u32 i;

	k->init(st);
	memset(block, 0x36, k->hash.block);
	for (i = 0; i < sizeof(key); i++)
		block[i] ^= key[i];
	k->hash.compress(st, block);
	for (i = 0; i < before; i += k->hash.block)
		k->hash.compress(st, all + i);
}

/* RFC 2104, the outer half */
static void outer(const struct kind *k, const u8 *inner, u8 *mac)
{
	u8 buf[128 + 64];
	u32 i;

	memset(buf, 0x5c, k->hash.block);
	for (i = 0; i < sizeof(key); i++)
		buf[i] ^= key[i];
	memcpy(buf + k->hash.block, inner, k->hash.digest);
	if (!strcmp(k->digest, "md5"))
		MD5(buf, k->hash.block + k->hash.digest, mac);
	else if (!strcmp(k->digest, "sha1"))
		SHA1(buf, k->hash.block + k->hash.digest, mac);
	else if (!strcmp(k->digest, "sha256"))
		SHA256(buf, k->hash.block + k->hash.digest, mac);
	else
		SHA384(buf, k->hash.block + k->hash.digest, mac);
}

/*
 * Checks a decrypted record with the core.  Returns whether it is right, and
 * the payload's length.
 */
static bool open_record(const struct kind *k, const u8 *record, u32 len,
			u32 *payload)
{
	u8 all[AAD + RECORD_MAX], inner[64], mac[64];
	u32 maclen = k->hash.digest, before, good;
	struct ocf_mte_hash hash = k->hash;
	union state st;

	memcpy(all, aad, AAD);
	memcpy(all + AAD, record, len);
	VALGRIND_MAKE_MEM_UNDEFINED(all + AAD, len);
	hash.ctx = &st;
	before = ocf_mte_public(&hash, AAD, len, maclen);
	good = ocf_mte_unpad(all + AAD + len, len, maclen, payload);
	/* public: this is payload for every possible padding */
	hash_public(k, &st, all, before);
	ocf_mte_inner(&hash, all + before, AAD + len - before, before,
		      AAD + *payload, maclen, inner);
	outer(k, inner, mac);
	good &= ocf_mte_compare(all + AAD + len, len, maclen, *payload, mac);
	VALGRIND_MAKE_MEM_DEFINED(&good, sizeof(good));
	VALGRIND_MAKE_MEM_DEFINED(payload, sizeof(*payload));
	return good;
}

/* RFC 5246, section 6.2.3.2, written in the simplest way. */
static bool reference(const struct kind *k, const u8 *record, u32 len,
		      u32 *payload)
{
	u8 buf[AAD + RECORD_MAX], mac[64];
	u32 maclen = k->hash.digest, pad = record[len - 1], i;

	if (pad + 1 + maclen > len)
		return false;
	for (i = 0; i <= pad; i++)
		if (record[len - 1 - i] != pad)
			return false;
	*payload = len - maclen - pad - 1;
	memcpy(buf, aad, AAD);
	memcpy(buf + AAD, record, *payload);
	if (!oracle_digest(k->mac, key, sizeof(key), NULL, 0, buf,
			   AAD + *payload, mac))
		return false;
	return !memcmp(mac, record + *payload, maclen);
}

/*
 * Makes a record of @payload bytes with @pad bytes of padding and the length
 * byte.
 */
static u32 make_record(const struct kind *k, u8 *record, u32 payload, u32 pad)
{
	u8 buf[AAD + RECORD_MAX];
	u32 i;

	for (i = 0; i < payload; i++)
		record[i] = random();
	memcpy(buf, aad, AAD);
	memcpy(buf + AAD, record, payload);
	if (!oracle_digest(k->mac, key, sizeof(key), NULL, 0, buf,
			   AAD + payload, record + payload))
		abort();
	memset(record + payload + k->hash.digest, pad, pad + 1);
	return payload + k->hash.digest + pad + 1;
}

FIXTURE(mte) { };
FIXTURE_VARIANT(mte) { int kind; };
FIXTURE_VARIANT_ADD(mte, md5) { .kind = 0 };
FIXTURE_VARIANT_ADD(mte, sha1) { .kind = 1 };
FIXTURE_VARIANT_ADD(mte, sha256) { .kind = 2 };
FIXTURE_VARIANT_ADD(mte, sha384) { .kind = 3 };

FIXTURE_SETUP(mte)
{
	ASSERT_TRUE(oracle_init());
}

FIXTURE_TEARDOWN(mte)
{
}

/*
 * Returns the step between lengths: larger under valgrind, which takes fifty
 * times as long.
 */
static u32 step(void)
{
	return RUNNING_ON_VALGRIND ? 37 : 3;
}

#define same_as_reference(record, len) do { \
	u32 is_ = 0, should_ = 0; \
	bool good_ = reference(k, record, len, &should_); \
	ASSERT_EQ(good_, open_record(k, record, len, &is_)); \
	if (good_) \
		ASSERT_EQ(should_, is_); \
} while (0)

TEST_F_TIMEOUT(mte, every_padding_opens, 600)
{
	const struct kind *k = &kinds[variant->kind];
	u32 payload, pad, len, got;
	u8 record[RECORD_MAX];

	for (payload = 0; payload < 300; payload += step())
		for (pad = 0; pad < 256; pad += step()) {
			len = make_record(k, record, payload, pad);
			ASSERT_TRUE(open_record(k, record, len, &got));
			ASSERT_EQ(payload, got);
		}
}

TEST_F_TIMEOUT(mte, one_wrong_bit_anywhere_does_not, 600)
{
	const struct kind *k = &kinds[variant->kind];
	u8 record[RECORD_MAX];
	u32 i, j, len;

	for (i = 0; i < 6; i++) {
		len = make_record(k, record, i * 43, (i * 97) % 256);
		for (j = 0; j < len; j += RUNNING_ON_VALGRIND ? 17 : 1) {
			u8 bit = 1 << random() % 8;

			record[j] ^= bit;
			same_as_reference(record, len);
			record[j] ^= bit;
		}
	}
}

/*
 * Padding that claims to be longer than the record, a record of padding only,
 * and no padding.
 */
TEST_F(mte, lengths_that_lie)
{
	const struct kind *k = &kinds[variant->kind];
	u32 maclen = k->hash.digest, len, pad;
	u8 record[RECORD_MAX];

	for (len = maclen + 1; len < maclen + 300; len += step())
		for (pad = 0; pad < 256; pad += 51) {
			memset(record, pad, len);
			same_as_reference(record, len);
			record[len - 2] ^= 1;
			same_as_reference(record, len);
		}
}

TEST_F(mte, noise)
{
	const struct kind *k = &kinds[variant->kind];
	u8 record[RECORD_MAX];
	u32 i, j, len;

	for (i = 0; i < (RUNNING_ON_VALGRIND ? 10 : 2000); i++) {
		len = k->hash.digest + 1 + random() % 600;
		for (j = 0; j < len; j++)
			record[j] = random();
		record[len - 1] = random() % 3;
		same_as_reference(record, len);
	}
}

TEST_HARNESS_MAIN
