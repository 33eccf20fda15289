// SPDX-License-Identifier: BSD-2-Clause
/*
 * The BSD ABI: CIOCCRYPT and CIOCCRYPTAEAD.
 */
#include <kselftest_harness.h>

#include "bsd.h"

#define LEN_MAX		262140
#define ROOM		(65 * PAGE)

FIXTURE(crypt)
{
	int fd;
	uint32_t ses;
	uint8_t iv[16], tag[64];
	/* ROOM bytes each, with an unmapped page behind */
	uint8_t *src, *dst, *aad;
};

FIXTURE_SETUP(crypt)
{
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	self->src = fenced(65);
	self->dst = fenced(65);
	self->aad = fenced(65);
	ASSERT_TRUE(self->src && self->dst && self->aad);
	fill(self->src, ROOM, 1);
	fill(self->aad, ROOM, 2);
	fill(self->iv, 16, 3);
	memset(self->tag, 0x5a, sizeof(self->tag));
}

FIXTURE_TEARDOWN(crypt)
{
	close(self->fd);
}

#define open_(cipher_, keylen_, mac_, mackeylen_) \
	ASSERT_EQ(0, open_session(self->fd, cipher_, keylen_, mac_, \
				  mackeylen_, &self->ses))
#define crypt_(op_, src_, dst_, len_, iv_, mac_) \
	crypt_op(self->fd, self->ses, op_, 0, src_, dst_, len_, iv_, mac_)

/* SP 800-38A, F.2.1 */
TEST_F(crypt, a_known_answer)
{
	static const uint8_t key[16] = {
		0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
		0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c,
	}, iv[16] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	}, text[16] = {
		0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96,
		0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93, 0x17, 0x2a,
	}, want[16] = {
		0x76, 0x49, 0xab, 0xac, 0x81, 0x19, 0xb2, 0x46,
		0xce, 0xe9, 0x8e, 0x9b, 0x12, 0xe9, 0x19, 0x7d,
	};
	struct session_op sop = {
		.cipher = CRYPTO_AES_CBC, .keylen = 16, .key = key,
	};
	uint8_t out[16];

	ASSERT_EQ(0, call(self->fd, CIOCGSESSION, &sop));
	self->ses = sop.ses;
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, text, out, 16, iv, NULL));
	EXPECT_EQ(0, memcmp(out, want, 16));
	EXPECT_EQ(0, crypt_(COP_DECRYPT, out, out, 16, iv, NULL));
	EXPECT_EQ(0, memcmp(out, text, 16));
}

TEST_F(crypt, without_an_iv_it_is_at_the_start_of_the_data)
{
	uint8_t want[64];

	open_(CRYPTO_AES_CBC, 16, 0, 0);
	ASSERT_EQ(0, crypt_(COP_ENCRYPT, self->src + 16, want + 16, 48,
			    self->src, NULL));
	memset(self->dst, 0x77, 64);
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, self->src, self->dst, 64, NULL,
			    NULL));
	EXPECT_EQ(0, memcmp(self->dst + 16, want + 16, 48));
	/* the IV itself is not part of the result */
	EXPECT_TRUE(all_are(self->dst, 0x77, 16));
	EXPECT_EQ(EINVAL, crypt_(COP_ENCRYPT, self->src, self->dst, 16, NULL,
				 NULL));
	EXPECT_EQ(EINVAL, crypt_(COP_ENCRYPT, self->src, self->dst, 0, NULL,
				 NULL));
}

TEST_F(crypt, an_operation_does_not_go_on_from_the_one_before)
{
	uint8_t a[16], b[16];

	open_(CRYPTO_AES_CBC, 16, 0, 0);
	ASSERT_EQ(0, crypt_(COP_ENCRYPT, self->src, a, 16, self->iv, NULL));
	ASSERT_EQ(0, crypt_(COP_ENCRYPT, self->src, b, 16, self->iv, NULL));
	EXPECT_EQ(0, memcmp(a, b, 16));
}

TEST_F(crypt, lengths)
{
	uint32_t len;

	open_(CRYPTO_AES_CBC, 16, 0, 0);
	for (len = 0; len < 66; len++)
		EXPECT_EQ(len && len % 16 == 0 ? 0 : EINVAL,
			  crypt_(COP_ENCRYPT, self->src, self->dst, len,
				 self->iv, NULL));
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, self->src, self->dst, LEN_MAX - 12,
			    self->iv, NULL));
	EXPECT_EQ(E2BIG, crypt_(COP_ENCRYPT, self->src, self->dst, LEN_MAX + 4,
				self->iv, NULL));
	EXPECT_EQ(E2BIG, crypt_(COP_ENCRYPT, self->src, self->dst, UINT32_MAX,
				self->iv, NULL));
	/* a stream cipher, up to the last byte */
	open_(CRYPTO_AES_ICM, 16, 0, 0);
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, self->src, self->dst, LEN_MAX,
			    self->iv, NULL));
	EXPECT_EQ(E2BIG, crypt_(COP_ENCRYPT, self->src, self->dst, LEN_MAX + 1,
				self->iv, NULL));
}

TEST_F(crypt, directions_and_flags)
{
	int i, ok;

	open_(CRYPTO_AES_CBC, 16, 0, 0);
	for (i = 0; i < 0x10000; i += i < 10 ? 1 : 97)
		EXPECT_EQ(i == COP_ENCRYPT || i == COP_DECRYPT ? 0 : EINVAL,
			  crypt_(i, self->src, self->dst, 16, self->iv, NULL));
	for (i = 0; i < 16; i++) {
		ok = 1 << i == COP_F_CIPHER_FIRST || 1 << i == COP_F_BATCH;
		EXPECT_EQ(ok ? 0 : EINVAL,
			  crypt_op(self->fd, self->ses, COP_ENCRYPT, 1 << i,
				   self->src, self->dst, 16, self->iv, NULL));
	}
	EXPECT_EQ(EINVAL, crypt_op(self->fd, self->ses, COP_DECRYPT,
				   COP_F_CIPHER_FIRST, self->src, self->dst,
				   16, self->iv, NULL));
}

TEST_F(crypt, what_the_session_does_not_have)
{
	open_(CRYPTO_AES_CBC, 16, 0, 0);
	EXPECT_EQ(EINVAL, crypt_(COP_ENCRYPT, self->src, self->dst, 16,
				 self->iv, self->tag));
	open_(0, 0, CRYPTO_SHA1_HMAC, 20);
	EXPECT_EQ(EINVAL, crypt_(COP_ENCRYPT, self->src, NULL, 16, self->iv,
				 self->tag));
	self->ses++;
	EXPECT_EQ(EINVAL, crypt_(COP_ENCRYPT, self->src, NULL, 16, NULL,
				 self->tag));
}

TEST_F(crypt, memory_that_is_not_there)
{
	static const uint32_t lens[] = { 16, 1536, 1552, 4096, 65536, 262128 };
	uint8_t *hole = self->src + ROOM;
	int i;

	open_(CRYPTO_AES_CBC, 16, 0, 0);
	for (i = 0; i < COUNT(lens); i++) {
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, NULL, self->dst,
					 lens[i], self->iv, NULL));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, hole - 1, self->dst,
					 lens[i], self->iv, NULL));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, self->dst, hole - 1,
					 lens[i], self->iv, NULL));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, self->src, (void *)-PAGE,
					 lens[i], self->iv, NULL));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, self->src, self->dst,
					 lens[i], hole - 1, NULL));
		/* no destination */
		EXPECT_EQ(0, crypt_(COP_ENCRYPT, self->src, NULL, lens[i],
				    self->iv, NULL));
	}
	memset(self->dst, 0x11, ROOM);
	ASSERT_EQ(0, mprotect(self->dst, ROOM, PROT_READ));
	for (i = 0; i < COUNT(lens); i++) {
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, self->src, self->dst,
					 lens[i], self->iv, NULL));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, self->dst, self->dst,
					 lens[i], self->iv, NULL));
	}
	EXPECT_TRUE(all_are(self->dst, 0x11, ROOM));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCCRYPT, NULL));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCCRYPTAEAD, NULL));
}

/* ---- digests ---- */

TEST_F(crypt, digests)
{
	static const uint8_t abc[20] = {	/* FIPS 180-1, appendix A */
		0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
		0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d,
	}, empty[20] = {
		0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d, 0x32, 0x55,
		0xbf, 0xef, 0x95, 0x60, 0x18, 0x90, 0xaf, 0xd8, 0x07, 0x09,
	};
	int op;

	open_(0, 0, CRYPTO_SHA1, 0);
	/* a digest accepts direction 0 */
	for (op = 0; op < 3; op++) {
		EXPECT_EQ(0, crypt_(op, "abc", NULL, 3, NULL, self->tag));
		EXPECT_EQ(0, memcmp(self->tag, abc, 20));
		EXPECT_EQ(0x5a, self->tag[20]);
	}
	EXPECT_EQ(0, crypt_(0, NULL, NULL, 0, NULL, self->tag));
	EXPECT_EQ(0, memcmp(self->tag, empty, 20));
	EXPECT_EQ(EINVAL, crypt_(3, "abc", NULL, 3, NULL, self->tag));
	EXPECT_EQ(EFAULT, crypt_(0, "abc", NULL, 3, NULL, (void *)-PAGE));
	/* neither destination nor MAC */
	EXPECT_EQ(0, crypt_(0, "abc", NULL, 3, NULL, NULL));
	/* a digest writes no data */
	memset(self->dst, 0x77, 64);
	EXPECT_EQ(0, crypt_(0, self->src, self->dst, 64, NULL, self->tag));
	EXPECT_TRUE(all_are(self->dst, 0x77, 64));
	EXPECT_EQ(0, crypt_(0, self->src, NULL, LEN_MAX, NULL, self->tag));
	EXPECT_EQ(E2BIG, crypt_(0, self->src, NULL, LEN_MAX + 1, NULL,
				self->tag));
}

TEST_F(crypt, a_shorter_mac)
{
	struct session2_op sop = {
		.mac = CRYPTO_SHA1_HMAC, .mackeylen = 20, .mackey = key_bytes,
		.crid = CRYPTO_FLAG_SOFTWARE, .maclen = 12,
	};
	uint8_t whole[20];

	open_(0, 0, CRYPTO_SHA1_HMAC, 20);
	ASSERT_EQ(0, crypt_(0, self->src, NULL, 100, NULL, whole));
	ASSERT_EQ(0, call(self->fd, CIOCGSESSION2, &sop));
	self->ses = sop.ses;
	EXPECT_EQ(0, crypt_(0, self->src, NULL, 100, NULL, self->tag));
	EXPECT_EQ(0, memcmp(self->tag, whole, 12));
	EXPECT_EQ(0x5a, self->tag[12]);
}

/* ---- a cipher and a MAC ---- */

TEST_F(crypt, the_mac_is_that_of_the_ciphertext)
{
	static const uint32_t lens[] = { 16, 160, 4096, 65536 };
	uint8_t want[20], wrong[20];
	uint32_t hmac;
	int i;

	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA1_HMAC, 20,
				  &hmac));
	open_(CRYPTO_AES_CBC, 16, CRYPTO_SHA1_HMAC, 20);
	for (i = 0; i < COUNT(lens); i++) {
		uint32_t len = lens[i];

		ASSERT_EQ(0, crypt_(COP_ENCRYPT, self->src, self->dst, len,
				    self->iv, self->tag));
		ASSERT_EQ(0, crypt_op(self->fd, hmac, 0, 0, self->dst, NULL,
				      len, NULL, want));
		EXPECT_EQ(0, memcmp(want, self->tag, 20));
		memcpy(wrong, want, 20);
		wrong[19] ^= 1;
		memcpy(self->aad, self->dst, len);
		EXPECT_EQ(EBADMSG, crypt_(COP_DECRYPT, self->aad, self->aad,
					  len, self->iv, wrong));
		EXPECT_EQ(0, memcmp(self->aad, self->dst, len));
		EXPECT_EQ(0, crypt_(COP_DECRYPT, self->aad, self->aad, len,
				    self->iv, want));
		EXPECT_EQ(0, memcmp(self->aad, self->src, len));
	}
	/* without a MAC nothing is decrypted */
	EXPECT_EQ(EFAULT, crypt_(COP_DECRYPT, self->dst, self->dst, 16,
				 self->iv, NULL));
	EXPECT_EQ(EFAULT, crypt_(COP_DECRYPT, self->dst, self->dst, 16,
				 self->iv, (void *)-PAGE));
	EXPECT_EQ(0, crypt_op(self->fd, self->ses, COP_ENCRYPT,
			      COP_F_CIPHER_FIRST, self->src, self->dst, 16,
			      self->iv, self->tag));
}

/* ---- CIOCCRYPTAEAD ---- */

#define aead_(op_, aadlen_, src_, dst_, len_, ivlen_, tag_) \
	aead_op(self->fd, self->ses, op_, self->aad, aadlen_, src_, dst_, \
		len_, self->iv, ivlen_, tag_)

static const struct {
	int cipher, keylen, mac, mackeylen, ivlen, block;
} seals[] = {
	{ CRYPTO_AES_NIST_GCM_16, 16, 0, 0, 12, 1 },
	{ CRYPTO_AES_NIST_GCM_16, 32, 0, 0, 12, 1 },
	{ CRYPTO_AES_CCM_16, 16, 0, 0, 12, 1 },
	{ CRYPTO_CHACHA20_POLY1305, 32, 0, 0, 12, 1 },
	{ CRYPTO_AES_CBC, 16, CRYPTO_SHA1_HMAC, 20, 16, 16 },
	{ CRYPTO_AES_ICM, 16, CRYPTO_SHA2_256_HMAC, 32, 16, 1 },
	{ CRYPTO_3DES_CBC, 24, CRYPTO_SHA2_512_HMAC, 64, 8, 8 },
	{ CRYPTO_CHACHA20, 32, CRYPTO_BLAKE2S, 32, 16, 1 },
};

static const uint32_t lens[] = { 0, 16, 17, 1500, 4096, 4097, 65536, 262128 };
static const uint32_t aadlens[] = { 0, 1, 20, 1600, 70000 };

TEST_F(crypt, what_is_sealed_opens)
{
	int i, l, a;

	for (i = 0; i < COUNT(seals); i++) {
		open_(seals[i].cipher, seals[i].keylen, seals[i].mac,
		      seals[i].mackeylen);
		for (l = 0; l < COUNT(lens); l++)
			for (a = 0; a < COUNT(aadlens); a++) {
				uint32_t len = lens[l], n = seals[i].ivlen;

				len -= len % seals[i].block;
				if (!len && seals[i].mac)
					continue;
				ASSERT_EQ(0, aead_(COP_ENCRYPT, aadlens[a],
						   self->src, self->dst, len,
						   n, self->tag))
					TH_LOG("%d %u %u", i, len, aadlens[a]);
				ASSERT_EQ(0, aead_(COP_DECRYPT, aadlens[a],
						   self->dst, self->dst, len,
						   n, self->tag))
					TH_LOG("%d %u %u", i, len, aadlens[a]);
				ASSERT_EQ(0, memcmp(self->dst, self->src,
						    len));
			}
	}
}

TEST_F(crypt, a_wrong_bit_anywhere_is_ebadmsg_and_nothing_is_written)
{
	static const uint32_t at[] = { 16, 1600, 8192 };
	int i, l, where;

	for (i = 0; i < COUNT(seals); i++) {
		open_(seals[i].cipher, seals[i].keylen, seals[i].mac,
		      seals[i].mackeylen);
		for (l = 0; l < COUNT(at); l++) {
			uint32_t len = at[l], n = seals[i].ivlen;
			uint8_t *bit[] = { self->dst, self->dst + len - 1,
					   self->tag, self->aad + 4,
					   self->iv + n - 1 };
			uint8_t *out = self->src + ROOM / 2;

			ASSERT_EQ(0, aead_(COP_ENCRYPT, 5, self->src,
					   self->dst, len, n, self->tag));
			for (where = 0; where < COUNT(bit); where++) {
				/*
				 * the MAC alone does not cover the IV; IPsec
				 * passes the IV as part of the AAD
				 */
				if (seals[i].mac && where == 4)
					continue;
				*bit[where] ^= 0x40;
				memset(out, 0x77, len);
				ASSERT_EQ(EBADMSG, aead_(COP_DECRYPT, 5,
						self->dst, out, len, n,
						self->tag))
					TH_LOG("%d %u %d", i, len, where);
				ASSERT_TRUE(all_are(out, 0x77, len));
				*bit[where] ^= 0x40;
			}
		}
	}
}

TEST_F(crypt, what_aead_leaves_no_choice_in)
{
	uint32_t n;

	open_(CRYPTO_AES_NIST_GCM_16, 16, 0, 0);
	for (n = 0; n < 20; n++)
		EXPECT_EQ(n == 12 ? 0 : EINVAL,
			  aead_(COP_ENCRYPT, 5, self->src, self->dst, 16, n,
				self->tag));
	EXPECT_EQ(EINVAL, aead_(COP_ENCRYPT, 5, self->src, self->dst, 16, 12,
				NULL));
	EXPECT_EQ(EINVAL, aead_op(self->fd, self->ses, COP_ENCRYPT, self->aad,
				  5, self->src, self->dst, 16, NULL, 12,
				  self->tag));
	EXPECT_EQ(E2BIG, aead_(COP_ENCRYPT, 5, self->src, self->dst,
			       LEN_MAX + 1, 12, self->tag));
	EXPECT_EQ(E2BIG, aead_(COP_ENCRYPT, LEN_MAX + 1, self->src, self->dst,
			       16, 12, self->tag));
	EXPECT_EQ(0, aead_(COP_ENCRYPT, LEN_MAX, self->src, self->dst, LEN_MAX,
			   12, self->tag));
	EXPECT_EQ(EINVAL, aead_(0, 5, self->src, self->dst, 16, 12,
				self->tag));
	/* the same with CIOCCRYPT, without AAD */
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, self->src, self->dst, 16, self->iv,
			    self->tag));
	EXPECT_EQ(0, crypt_(COP_DECRYPT, self->dst, self->dst, 16, self->iv,
			    self->tag));
	EXPECT_EQ(0, memcmp(self->src, self->dst, 16));
	/* the nonce is never read from the data */
	EXPECT_EQ(EINVAL, crypt_(COP_ENCRYPT, self->src, self->dst, 32, NULL,
				 self->tag));
	/* a cipher alone or a MAC alone is no AEAD */
	open_(CRYPTO_AES_CBC, 16, 0, 0);
	EXPECT_EQ(EINVAL, aead_(COP_ENCRYPT, 5, self->src, self->dst, 16, 16,
				self->tag));
	open_(0, 0, CRYPTO_SHA1_HMAC, 20);
	EXPECT_EQ(EINVAL, aead_(COP_ENCRYPT, 5, self->src, self->dst, 16, 0,
				self->tag));
}

TEST_F(crypt, aead_memory_that_is_not_there)
{
	uint8_t *hole = self->src + ROOM, *gone = (void *)-PAGE;
	int l;

	open_(CRYPTO_AES_NIST_GCM_16, 16, 0, 0);
	for (l = 1; l < COUNT(lens); l++) {
		uint32_t len = lens[l];

		EXPECT_EQ(EFAULT, aead_(COP_ENCRYPT, 5, hole - 1, self->dst,
					len, 12, self->tag));
		EXPECT_EQ(EFAULT, aead_(COP_ENCRYPT, 5, self->dst, hole - 1,
					len, 12, self->tag));
		EXPECT_EQ(EFAULT, aead_(COP_ENCRYPT, 5, self->dst, self->dst,
					len, 12, gone));
		EXPECT_EQ(EFAULT, aead_(COP_DECRYPT, 5, self->dst, self->dst,
					len, 12, gone));
		EXPECT_EQ(EFAULT, aead_op(self->fd, self->ses, COP_ENCRYPT,
					  hole - 1, 5, self->src, self->dst,
					  len, self->iv, 12, self->tag));
		EXPECT_EQ(EFAULT, aead_op(self->fd, self->ses, COP_ENCRYPT,
					  self->aad, 5, self->src, self->dst,
					  len, hole - 1, 12, self->tag));
		EXPECT_EQ(0, aead_(COP_ENCRYPT, 5, self->src, NULL, len, 12,
				   self->tag));
	}
}

/*
 * FreeBSD's XTS has a tweak of 8 bytes.  It accepts 16 bytes and uses the first
 * 8.
 */
TEST_F(crypt, ivs_of_xts)
{
	uint8_t a[32], b[32];

	open_(CRYPTO_AES_XTS, 32, 0, 0);
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, self->src, a, 32, self->iv, NULL));
	self->iv[8] ^= 1;
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, self->src, b, 32, self->iv, NULL));
	EXPECT_EQ(0, memcmp(a, b, 32));
	self->iv[7] ^= 1;
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, self->src, b, 32, self->iv, NULL));
	EXPECT_NE(0, memcmp(a, b, 32));
	self->iv[7] ^= 1;
	open_(CRYPTO_AES_XTS, 32, CRYPTO_SHA1_HMAC, 20);
	EXPECT_EQ(0, aead_(COP_ENCRYPT, 5, self->src, b, 32, 8, self->tag));
	EXPECT_EQ(0, memcmp(a, b, 32));
	EXPECT_EQ(0, aead_(COP_ENCRYPT, 5, self->src, b, 32, 16, self->tag));
	EXPECT_EQ(0, memcmp(a, b, 32));
	EXPECT_EQ(EINVAL, aead_(COP_ENCRYPT, 5, self->src, b, 32, 12,
				self->tag));
}

/* RFC 2410: everything is authenticated and nothing encrypted */
TEST_F(crypt, the_null_cipher_has_no_iv)
{
	uint8_t want[20], text[37];

	memcpy(text, self->aad, 5);
	memcpy(text + 5, self->src, 32);
	open_(0, 0, CRYPTO_SHA1_HMAC, 20);
	ASSERT_EQ(0, crypt_(0, text, NULL, 37, NULL, want));
	open_(CRYPTO_NULL_CBC, 0, CRYPTO_SHA1_HMAC, 20);
	EXPECT_EQ(0, aead_op(self->fd, self->ses, COP_ENCRYPT, self->aad, 5,
			     self->src, self->dst, 32, NULL, 0, self->tag));
	EXPECT_EQ(0, memcmp(want, self->tag, 20));
	EXPECT_EQ(0, memcmp(self->src, self->dst, 32));
	EXPECT_EQ(EINVAL, aead_(COP_ENCRYPT, 5, self->src, self->dst, 32, 0,
				self->tag));
}

/* If a session has a tweak of 16 bytes, all 16 bytes are used. */
TEST_F(crypt, whole_ivs_of_xts)
{
	struct session2_op sop = {
		.cipher = CRYPTO_AES_XTS, .keylen = 32, .key = key_bytes,
		.mac = CRYPTO_SHA1_HMAC, .mackeylen = 20, .mackey = key_bytes,
		.crid = CRYPTO_FLAG_SOFTWARE, .ivlen = 16,
	};
	uint8_t a[32], b[32];

	ASSERT_EQ(0, call(self->fd, CIOCGSESSION2, &sop));
	self->ses = sop.ses;
	EXPECT_EQ(0, aead_(COP_ENCRYPT, 5, self->src, a, 32, 16, self->tag));
	EXPECT_EQ(EINVAL, aead_(COP_ENCRYPT, 5, self->src, b, 32, 8,
				self->tag));
	self->iv[15] ^= 1;
	EXPECT_EQ(0, aead_(COP_ENCRYPT, 5, self->src, b, 32, 16, self->tag));
	EXPECT_NE(0, memcmp(a, b, 32));
}

TEST_HARNESS_MAIN
