// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cryptodev-linux ABI: CIOCAUTHCRYPT in its three types.  If a tag is wrong
 * in any way, no plaintext comes out.
 */
#include <kselftest_harness.h>

#include "linux.h"

#define LEN_MAX		(16u << 20)

FIXTURE(auth)
{
	int fd;
	uint32_t ses;
	uint8_t *src, *dst, *aad;	/* 32 pages each */
	uint8_t iv[16];
	uint32_t len, tag_len;		/* as the kernel returns it */
	uint8_t *tag;
};

#define ROOM	(32 * PAGE)

FIXTURE_SETUP(auth)
{
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	self->src = fenced(32);
	self->dst = fenced(32);
	self->aad = fenced(32);
	ASSERT_TRUE(self->src && self->dst && self->aad);
	fill(self->src, ROOM, 1);
	fill(self->aad, ROOM, 2);
	fill(self->iv, 16, 3);
	self->tag = NULL;
}

FIXTURE_TEARDOWN(auth)
{
	close(self->fd);
}

static int auth_call(struct _test_data_auth *self, int op, int flags,
		     const void *aad, uint32_t aadlen, const void *src,
		     uint32_t len, void *dst, uint32_t taglen)
{
	struct crypt_auth_op c = {
		.ses = self->ses, .op = op, .flags = flags,
		.auth_src = (void *)aad, .auth_len = aadlen,
		.src = (void *)src, .len = len, .dst = dst,
		.iv = self->iv, .iv_len = sizeof(self->iv),
		.tag = self->tag, .tag_len = taglen,
	};
	int err = call(self->fd, CIOCAUTHCRYPT, &c);

	if (!err) {
		self->len = c.len;
		self->tag_len = c.tag_len;
		self->tag = c.tag;
	}
	return err;
}

/* ---- AEAD ---- */

static const struct aead {
	const char *alg;
	uint32_t keylen;
} aeads[] = {
	{ "aes-gcm", 16 }, { "aes-gcm", 24 }, { "aes-gcm", 32 },
	{ "aes-ccm", 16 }, { "aes-ccm", 24 }, { "aes-ccm", 32 },
	{ "chacha20-poly1305", 32 },
};

#define open_(alg_, keylen_) \
	ASSERT_EQ(0, open_session(self->fd, linux_id(alg_), keylen_, 0, 0, \
				  &self->ses))

/*
 * Sets the IV; for CCM a nonce of 12 bytes in the block of RFC 3610, section
 * 2.3.
 */
static void set_iv(struct _test_data_auth *self, const char *alg)
{
	fill(self->iv, 16, 3);
	if (!strcmp(alg, "aes-ccm"))
		self->iv[0] = 2;
}

/* McGrew and Viega, "The Galois/Counter Mode", test case 4 */
TEST_F(auth, a_known_answer)
{
	static const uint8_t key[16] = {
		0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c,
		0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08,
	}, iv[12] = {
		0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad,
		0xde, 0xca, 0xf8, 0x88,
	}, aad[20] = {
		0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef,
		0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef,
		0xab, 0xad, 0xda, 0xd2,
	}, text[16] = {
		0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5,
		0xa5, 0x59, 0x09, 0xc5, 0xaf, 0xf5, 0x26, 0x9a,
	}, want[16] = {
		0x42, 0x83, 0x1e, 0xc2, 0x21, 0x77, 0x74, 0x24,
		0x4b, 0x72, 0x21, 0xb7, 0x84, 0xd0, 0xd4, 0x9c,
	};
	struct session_op sop = {
		.cipher = CRYPTO_AES_GCM, .keylen = 16, .key = (void *)key,
	};

	ASSERT_EQ(0, call(self->fd, CIOCGSESSION, &sop));
	self->ses = sop.ses;
	memcpy(self->iv, iv, 12);
	ASSERT_EQ(0, auth_call(self, COP_ENCRYPT, 0, aad, 20, text, 16,
			       self->dst, 16));
	EXPECT_EQ(0, memcmp(self->dst, want, 16));
	EXPECT_EQ(32, self->len);
	EXPECT_EQ(16, self->tag_len);
	EXPECT_EQ(self->dst + 16, self->tag);
}

/*
 * Lengths around the limits: the operation's own buffer, a page, and pinned
 * pages
 */
static const uint32_t lens[] = { 0, 1, 15, 16, 17, 255, 1500, 4080, 4096,
				 4100, 16384, 65536 };
static const uint32_t aadlens[] = { 0, 1, 13, 16, 20, 1500, 1536, 1537, 9000 };

TEST_F(auth, what_is_sealed_opens)
{
	int i, l, a, f;

	for (i = 0; i < COUNT(aeads); i++) {
		open_(aeads[i].alg, aeads[i].keylen);
		for (l = 0; l < COUNT(lens); l++)
			for (a = 0; a < COUNT(aadlens); a++) {
				uint32_t len = lens[l], aadlen = aadlens[a];

				f = (l + a) % 2 ? COP_FLAG_NO_ZC : 0;
				set_iv(self, aeads[i].alg);
				memset(self->dst, 0x5a, ROOM);
				ASSERT_EQ(0, auth_call(self, COP_ENCRYPT, f,
						self->aad, aadlen, self->src,
						len, self->dst, 0));
				ASSERT_EQ(len + 16, self->len);
				ASSERT_EQ(16, self->tag_len);
				ASSERT_TRUE(all_are(self->dst + len + 16, 0x5a,
						    100));
				/*
				 * it was sealed into another buffer; open it in
				 * place
				 */
				set_iv(self, aeads[i].alg);
				ASSERT_EQ(0, auth_call(self, COP_DECRYPT, f,
						self->aad, aadlen, self->dst,
						len + 16, self->dst, 16));
				ASSERT_EQ(len, self->len);
				ASSERT_EQ(0, memcmp(self->dst, self->src, len))
					TH_LOG("%s %u %u", aeads[i].alg, len,
					       aadlen);
			}
	}
}

TEST_F(auth, a_wrong_bit_anywhere_is_ebadmsg_and_nothing_is_written)
{
	static const uint32_t at_len[] = { 0, 16, 100, 5000 };
	int i, l, where;

	for (i = 0; i < COUNT(aeads); i++) {
		open_(aeads[i].alg, aeads[i].keylen);
		for (l = 0; l < COUNT(at_len); l++) {
			uint32_t len = at_len[l];
			uint8_t *box = self->dst;

			set_iv(self, aeads[i].alg);
			ASSERT_EQ(0, auth_call(self, COP_ENCRYPT, 0, self->aad,
					       33, self->src, len, box, 16));
			for (where = 0; where < 4; where++) {
				uint8_t *bit[] = { box, box + len + 15,
						   self->aad + 32,
						   self->iv + 5 };
				uint8_t *out = self->src + ROOM - 6000;

				set_iv(self, aeads[i].alg);
				*bit[where] ^= 0x10;
				memset(out, 0x77, 6000);
				ASSERT_EQ(EBADMSG, auth_call(self, COP_DECRYPT,
						0, self->aad, 33, box,
						len + 16, out, 16));
				ASSERT_TRUE(all_are(out, 0x77, 6000));
				/* in place the ciphertext stays */
				memcpy(out, box, len + 16);
				ASSERT_EQ(EBADMSG, auth_call(self, COP_DECRYPT,
						0, self->aad, 33, out,
						len + 16, out, 16));
				ASSERT_EQ(0, memcmp(out, box, len + 16));
				*bit[where] ^= 0x10;
			}
			set_iv(self, aeads[i].alg);
			ASSERT_EQ(0, auth_call(self, COP_DECRYPT, 0, self->aad,
					       33, box, len + 16, box, 16));
		}
	}
}

TEST_F(auth, tag_lengths)
{
	static const struct {
		const char *alg;
		uint32_t good;		/* allowed lengths, a bit for each */
	} tags[] = {
		/* SP 800-38D, 5.2.1.2; SP 800-38C, A.1; RFC 8439, 2.8 */
		{ "aes-gcm", 1 << 4 | 1 << 8 | 0x1f << 12 },
		{ "aes-ccm", 1 << 4 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 12 |
			     1 << 14 | 1 << 16 },
		{ "chacha20-poly1305", 1 << 16 },
	};
	uint8_t whole[116];
	uint32_t t;
	int i;

	for (i = 0; i < COUNT(tags); i++) {
		open_(tags[i].alg, 32);
		set_iv(self, tags[i].alg);
		ASSERT_EQ(0, auth_call(self, COP_ENCRYPT, 0, self->aad, 9,
				       self->src, 100, whole, 0));
		for (t = 1; t < 70; t++) {
			bool good = t <= 16 && tags[i].good & 1 << t;

			set_iv(self, tags[i].alg);
			ASSERT_EQ(good ? 0 : EINVAL,
				  auth_call(self, COP_ENCRYPT, 0, self->aad, 9,
					    self->src, 100, self->dst, t))
				TH_LOG("%s %u", tags[i].alg, t);
			if (!good)
				continue;
			ASSERT_EQ(t, self->tag_len);
			ASSERT_EQ(100 + t, self->len);
			/* CCM authenticates the length of the tag, too */
			if (strcmp(tags[i].alg, "aes-ccm"))
				ASSERT_EQ(0, memcmp(whole, self->dst, 100 + t));
			set_iv(self, tags[i].alg);
			ASSERT_EQ(0, auth_call(self, COP_DECRYPT, 0, self->aad,
					       9, self->dst, 100 + t,
					       self->dst, t));
			ASSERT_EQ(0, memcmp(self->dst, self->src, 100));
		}
	}
}

TEST_F(auth, nonces_of_ccm)
{
	int first;

	open_("aes-ccm", 16);
	for (first = 0; first < 256; first++) {
		fill(self->iv, 16, 3);
		self->iv[0] = first;
		/*
		 * RFC 3610: the first byte is the size of the length field, 2
		 * to 8 bytes, minus one
		 */
		ASSERT_EQ(first >= 1 && first <= 7 ? 0 : EINVAL,
			  auth_call(self, COP_ENCRYPT, 0, self->aad, 9,
				    self->src, 100, self->dst, 16))
			TH_LOG("%d", first);
	}
	/* with a length field of two bytes 65535 is the maximum */
	self->iv[0] = 1;
	EXPECT_EQ(0, auth_call(self, COP_ENCRYPT, 0, NULL, 0, self->src, 65535,
			       self->dst, 16));
	EXPECT_EQ(EINVAL, auth_call(self, COP_ENCRYPT, 0, NULL, 0, self->src,
				    65536, self->dst, 16));
}

TEST_F(auth, lengths_that_cannot_be)
{
	open_("aes-gcm", 16);
	/* input shorter than the tag */
	EXPECT_EQ(EINVAL, auth_call(self, COP_DECRYPT, 0, self->aad, 9,
				    self->src, 15, self->dst, 16));
	EXPECT_EQ(EINVAL, auth_call(self, COP_DECRYPT, 0, self->aad, 9,
				    self->src, 0, self->dst, 16));
	EXPECT_EQ(E2BIG, auth_call(self, COP_ENCRYPT, 0, self->aad, 9,
				   self->src, LEN_MAX + 1, self->dst, 16));
	EXPECT_EQ(E2BIG, auth_call(self, COP_ENCRYPT, 0, self->aad,
				   LEN_MAX + 1, self->src, 16, self->dst, 16));
	EXPECT_EQ(E2BIG, auth_call(self, COP_ENCRYPT, 0, self->aad, UINT32_MAX,
				   self->src, UINT32_MAX, self->dst, 16));
	EXPECT_EQ(EINVAL, auth_call(self, COP_ENCRYPT, 0, self->aad, 9,
				    self->src, 16, self->dst, UINT32_MAX));
}

TEST_F(auth, the_most_that_is_allowed)
{
	uint8_t *big = mmap(NULL, 2 * LEN_MAX + PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t tag[16];

	ASSERT_TRUE(big != MAP_FAILED);
	open_("aes-gcm", 16);
	ASSERT_EQ(0, auth_call(self, COP_ENCRYPT, 0, big, LEN_MAX, big,
			       LEN_MAX - 16, big + LEN_MAX, 16));
	memcpy(tag, self->tag, 16);
	ASSERT_EQ(0, auth_call(self, COP_DECRYPT, 0, big, LEN_MAX,
			       big + LEN_MAX, LEN_MAX, big + LEN_MAX, 16));
	EXPECT_TRUE(all_are(big + LEN_MAX, 0, LEN_MAX - 16));
	munmap(big, 2 * LEN_MAX + PAGE);
}

TEST_F(auth, memory_that_is_not_there)
{
	uint8_t *hole = self->src + ROOM;
	int l;

	open_("aes-gcm", 16);
	for (l = 1; l < COUNT(lens); l++) {
		uint32_t len = lens[l];

		EXPECT_EQ(EFAULT, auth_call(self, COP_ENCRYPT, 0, hole, 20,
					    self->src, len, self->dst, 16));
		EXPECT_EQ(EFAULT, auth_call(self, COP_ENCRYPT, 0, self->aad,
					    20, hole, len, self->dst, 16));
		EXPECT_EQ(EFAULT, auth_call(self, COP_ENCRYPT, 0, self->aad,
					    20, NULL, len, self->dst, 16));
		EXPECT_EQ(EFAULT, auth_call(self, COP_ENCRYPT, 0, self->aad,
					    20, self->dst, len, hole, 16));
		EXPECT_EQ(EFAULT, auth_call(self, COP_ENCRYPT, 0, self->aad,
					    20, self->dst, len, NULL, 16));
		/* the destination has space for the text but not for the tag */
		EXPECT_EQ(EFAULT, auth_call(self, COP_ENCRYPT, 0, self->aad,
					    20, self->dst, len,
					    hole - len - 15, 16));
		EXPECT_EQ(0, auth_call(self, COP_ENCRYPT, 0, self->aad, 20,
				       self->dst, len, hole - len - 16, 16));
	}
	EXPECT_EQ(EFAULT, call(self->fd, CIOCAUTHCRYPT, NULL));
}

TEST_F(auth, read_only_destinations)
{
	open_("aes-gcm", 16);
	memset(self->dst, 0x33, ROOM);
	ASSERT_EQ(0, mprotect(self->dst, ROOM, PROT_READ));
	EXPECT_EQ(EFAULT, auth_call(self, COP_ENCRYPT, 0, self->aad, 20,
				    self->src, 100, self->dst, 16));
	EXPECT_EQ(EFAULT, auth_call(self, COP_ENCRYPT, 0, self->aad, 20,
				    self->src, 10000, self->dst, 16));
	EXPECT_TRUE(all_are(self->dst, 0x33, ROOM));
}

TEST_F(auth, a_nonce_is_always_given)
{
	struct crypt_auth_op c = {
		.op = COP_ENCRYPT, .auth_src = self->aad, .auth_len = 20,
		.src = self->src, .len = 16, .dst = self->dst, .tag_len = 16,
	};

	open_("aes-gcm", 16);
	c.ses = self->ses;
	EXPECT_EQ(EINVAL, call(self->fd, CIOCAUTHCRYPT, &c));
	c.iv = (void *)-PAGE;
	EXPECT_EQ(EFAULT, call(self->fd, CIOCAUTHCRYPT, &c));
}

TEST_F(auth, what_does_not_fit_the_session)
{
	uint32_t both, cipher, digest;
	int flag, i;

	open_("aes-gcm", 16);
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16,
				  CRYPTO_SHA1_HMAC, 20, &both));
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16, 0, 0,
				  &cipher));
	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA1_HMAC, 20,
				  &digest));
#define try_(op_, flags_) \
	auth_call(self, op_, flags_, self->aad, 13, self->dst, 64, self->dst, 0)
	for (i = 2; i < 0x10000; i += 101)
		EXPECT_EQ(EINVAL, try_(i, 0));
	for (flag = 0; flag < 16; flag++)
		EXPECT_EQ(flag == 2 || flag == 3 ? 0 : EINVAL,
			  try_(COP_ENCRYPT, 1 << flag)) TH_LOG("%d", flag);
	self->ses = both;
	EXPECT_EQ(EINVAL, try_(COP_ENCRYPT, 0));
	EXPECT_EQ(0, try_(COP_ENCRYPT, COP_FLAG_AEAD_TLS_TYPE));
	EXPECT_EQ(EINVAL, try_(COP_ENCRYPT, COP_FLAG_AEAD_TLS_TYPE |
					    COP_FLAG_AEAD_SRTP_TYPE));
	/* these two types work in place only */
	EXPECT_EQ(EINVAL, auth_call(self, COP_ENCRYPT, COP_FLAG_AEAD_TLS_TYPE,
				    self->aad, 13, self->src, 64, self->dst,
				    0));
	self->ses = cipher;
	EXPECT_EQ(EINVAL, try_(COP_ENCRYPT, 0));
	EXPECT_EQ(EINVAL, try_(COP_ENCRYPT, COP_FLAG_AEAD_TLS_TYPE));
	self->ses = digest;
	EXPECT_EQ(EINVAL, try_(COP_ENCRYPT, 0));
	EXPECT_EQ(EINVAL, try_(COP_ENCRYPT, COP_FLAG_AEAD_SRTP_TYPE));
	self->ses = 0;
	EXPECT_EQ(EINVAL, try_(COP_ENCRYPT, 0));
}

/* ---- TLS ---- */

static const struct {
	const char *cipher;
	uint32_t keylen, block;
} tls_ciphers[] = {
	{ "aes-cbc", 16, 16 }, { "aes-cbc", 32, 16 }, { "des3-cbc", 24, 8 },
	{ "camellia-cbc", 16, 16 }, { "null", 0, 1 }, { "aes-ctr", 16, 1 },
};

static const struct {
	const char *mac;
	uint32_t len;
} tls_macs[] = {
	{ "hmac-sha1", 20 }, { "hmac-sha224", 28 }, { "hmac-sha256", 32 },
	{ "hmac-sha384", 48 }, { "hmac-sha512", 64 }, { "hmac-md5", 16 },
};

#define tls_(op_, len_) \
	auth_call(self, op_, COP_FLAG_AEAD_TLS_TYPE, self->aad, 13, \
		  self->dst, len_, self->dst, 0)

TEST_F(auth, tls_records)
{
	uint32_t len, maclen, block, want;
	int c, m;

	ASSERT_EQ(0, allow_weak("hmac-md5"));
	for (c = 0; c < COUNT(tls_ciphers); c++)
		for (m = 0; m < COUNT(tls_macs); m++) {
			block = tls_ciphers[c].block;
			maclen = tls_macs[m].len;
			ASSERT_EQ(0, open_session(self->fd,
					linux_id(tls_ciphers[c].cipher),
					tls_ciphers[c].keylen,
					linux_id(tls_macs[m].mac), 20,
					&self->ses));
			for (len = 0; len < 20000;
			     len += len < 300 ? 1 : 4999) {
				memcpy(self->dst, self->src, len);
				memset(self->dst + len, 0x5a, 400);
				fill(self->iv, 16, 3);
				ASSERT_EQ(0, tls_(COP_ENCRYPT, len));
				want = len + maclen;
				want += block > 1 ? block - want % block : 0;
				ASSERT_EQ(want, self->len);
				ASSERT_TRUE(all_are(self->dst + want, 0x5a,
						    32));
				fill(self->iv, 16, 3);
				ASSERT_EQ(0, tls_(COP_DECRYPT, want))
					TH_LOG("%s %s %u",
					       tls_ciphers[c].cipher,
					       tls_macs[m].mac, len);
				ASSERT_EQ(len, self->len);
				ASSERT_EQ(0, memcmp(self->dst, self->src,
						    len));
			}
			close_session(self->fd, self->ses);
		}
	allow_weak("none");
}

/*
 * Compares with a record made by separate MAC and cipher operations: payload,
 * MAC and padding, encrypted.
 */
TEST_F(auth, a_tls_record_is_the_standards)
{
	uint32_t mac, cipher, tls;
	uint8_t rec[128], buf[128], *p = rec;

	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA1_HMAC, 20, &mac));
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16, 0, 0,
				  &cipher));
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16,
				  CRYPTO_SHA1_HMAC, 20, &tls));
	memcpy(buf, self->aad, 13);
	memcpy(buf + 13, "attack at dawn", 14);
	memcpy(rec, "attack at dawn", 14);
	ASSERT_EQ(0, crypt_op(self->fd, mac, COP_ENCRYPT, 0, buf, NULL, 27,
			      NULL, p + 14));
	memset(rec + 34, 13, 14);
	ASSERT_EQ(0, crypt_op(self->fd, cipher, COP_ENCRYPT, 0, rec, rec, 48,
			      self->iv, NULL));
	self->ses = tls;
	memcpy(self->dst, "attack at dawn", 14);
	ASSERT_EQ(0, tls_(COP_ENCRYPT, 14));
	EXPECT_EQ(48, self->len);
	EXPECT_EQ(0, memcmp(self->dst, rec, 48));
}

TEST_F(auth, tls_records_that_are_wrong)
{
	uint32_t len = 200, all, i;

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16,
				  CRYPTO_SHA2_256_HMAC, 32, &self->ses));
	memcpy(self->dst, self->src, len);
	ASSERT_EQ(0, tls_(COP_ENCRYPT, len));
	all = self->len;
	memcpy(self->src, self->dst, all);
	for (i = 0; i < all; i += 7) {
		self->dst[i] ^= 1;
		ASSERT_EQ(EBADMSG, tls_(COP_DECRYPT, all)) TH_LOG("%u", i);
		self->dst[i] ^= 1;
		/* nothing was written */
		ASSERT_EQ(0, memcmp(self->src, self->dst, all));
	}
	self->aad[0] ^= 1;
	EXPECT_EQ(EBADMSG, tls_(COP_DECRYPT, all));
	self->aad[0] ^= 1;
	EXPECT_EQ(EBADMSG, tls_(COP_DECRYPT, all - 16));
	EXPECT_EQ(EINVAL, tls_(COP_DECRYPT, all - 1));
	/* too short for a MAC */
	EXPECT_EQ(EINVAL, tls_(COP_DECRYPT, 32));
	EXPECT_EQ(EINVAL, tls_(COP_DECRYPT, 0));
	EXPECT_EQ(0, tls_(COP_DECRYPT, all));
	EXPECT_EQ(E2BIG, tls_(COP_ENCRYPT, LEN_MAX + 1));
	/* no memory behind the data for MAC and padding */
	EXPECT_EQ(EFAULT, auth_call(self, COP_ENCRYPT, COP_FLAG_AEAD_TLS_TYPE,
				    self->aad, 13, self->dst + ROOM - 16, 16,
				    self->dst + ROOM - 16, 0));
}

TEST_F(auth, macs_that_tls_has_not)
{
	static const char * const macs[] = { "hmac-sha3-256", "aes-cmac",
		"hmac-ripemd160", "blake2b", "sha1", "null-mac" };
	int i;

	for (i = 0; i < COUNT(macs); i++) {
		ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16,
					  linux_id(macs[i]), 16, &self->ses));
		EXPECT_EQ(EINVAL, tls_(COP_ENCRYPT, 16)) TH_LOG("%s", macs[i]);
	}
}

/* ---- SRTP ---- */

#define srtp_(op_, header_, len_, all_) \
	auth_call(self, op_, COP_FLAG_AEAD_SRTP_TYPE, self->dst, all_, \
		  self->dst + (header_), len_, self->dst + (header_), \
		  self->tag_len)

TEST_F(auth, srtp_packets)
{
	uint8_t tag[20], mac[20], text[1000], want[1000];
	uint32_t ctr, hmac, srtp;

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CTR, 16, 0, 0, &ctr));
	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA1_HMAC, 20,
				  &hmac));
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CTR, 16,
				  CRYPTO_SHA1_HMAC, 20, &srtp));
	fill(text, sizeof(text), 7);
	memcpy(want, text, sizeof(text));
	/*
	 * RFC 3711: a header in plaintext, the payload, and a roll-over counter
	 */
	ASSERT_EQ(0, crypt_op(self->fd, ctr, COP_ENCRYPT, 0, text + 12,
			      want + 12, 900, self->iv, NULL));
	ASSERT_EQ(0, crypt_op(self->fd, hmac, COP_ENCRYPT, 0, want, NULL, 916,
			      NULL, mac));
	self->ses = srtp;
	self->tag = tag;
	self->tag_len = 10;
	memset(tag, 0x5a, sizeof(tag));
	memcpy(self->dst, text, sizeof(text));
	ASSERT_EQ(0, srtp_(COP_ENCRYPT, 12, 900, 916));
	EXPECT_EQ(0, memcmp(self->dst, want, sizeof(want)));
	EXPECT_EQ(0, memcmp(tag, mac, 10));
	EXPECT_TRUE(all_are(tag + 10, 0x5a, 10));

	/* with a wrong tag or a wrong bit nothing is decrypted */
	tag[9] ^= 1;
	EXPECT_EQ(EBADMSG, srtp_(COP_DECRYPT, 12, 900, 916));
	EXPECT_EQ(0, memcmp(self->dst, want, sizeof(want)));
	tag[9] ^= 1;
	self->dst[915] ^= 1;
	EXPECT_EQ(EBADMSG, srtp_(COP_DECRYPT, 12, 900, 916));
	self->dst[915] ^= 1;
	EXPECT_EQ(0, srtp_(COP_DECRYPT, 12, 900, 916));
	EXPECT_EQ(0, memcmp(self->dst, text, sizeof(text)));

	/*
	 * the payload must lie inside the authenticated data, near their start,
	 * and the cipher must be a stream cipher
	 */
	EXPECT_EQ(EINVAL, srtp_(COP_ENCRYPT, 12, 905, 916));
	EXPECT_EQ(EINVAL, srtp_(COP_ENCRYPT, 257, 100, 916));
	EXPECT_EQ(EINVAL, srtp_(COP_ENCRYPT, -16, 100, 916));
	EXPECT_EQ(0, srtp_(COP_ENCRYPT, 256, 100, 916));
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16,
				  CRYPTO_SHA1_HMAC, 20, &self->ses));
	EXPECT_EQ(EINVAL, srtp_(COP_ENCRYPT, 12, 896, 916));
	self->ses = srtp;
	self->tag = (void *)-PAGE;
	EXPECT_EQ(EFAULT, srtp_(COP_ENCRYPT, 12, 900, 916));
	EXPECT_EQ(EFAULT, srtp_(COP_DECRYPT, 12, 900, 916));
}

TEST_HARNESS_MAIN
