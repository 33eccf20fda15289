// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cryptodev-linux ABI: CIOCCRYPT and CIOCCPHASH.  There are a few known
 * answers here; linux_differ.c compares with OpenSSL.
 */
#include <limits.h>
#include <pthread.h>

#include <kselftest_harness.h>

#include "linux.h"

#define LEN_MAX		(16u << 20)

/* SP 800-38A, F.2.1 */
static const uint8_t nist_key[16] = {
	0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
	0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c,
};
static const uint8_t nist_iv[16] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
};
static const uint8_t nist_text[32] = {
	0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96,
	0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93, 0x17, 0x2a,
	0xae, 0x2d, 0x8a, 0x57, 0x1e, 0x03, 0xac, 0x9c,
	0x9e, 0xb7, 0x6f, 0xac, 0x45, 0xaf, 0x8e, 0x51,
};
static const uint8_t nist_result[32] = {
	0x76, 0x49, 0xab, 0xac, 0x81, 0x19, 0xb2, 0x46,
	0xce, 0xe9, 0x8e, 0x9b, 0x12, 0xe9, 0x19, 0x7d,
	0x50, 0x86, 0xcb, 0x9b, 0x50, 0x72, 0x19, 0xee,
	0x95, 0xdb, 0x11, 0x3a, 0x91, 0x76, 0x78, 0xb2,
};

/* FIPS 180-2, B.1: the digest of "abc"; and that of no data */
static const uint8_t sha256_abc[32] = {
	0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
	0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
	0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
	0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
};
static const uint8_t sha256_empty[32] = {
	0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14,
	0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
	0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c,
	0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
};

FIXTURE(cbc)
{
	int fd;
	uint32_t ses;
	uint8_t iv[16];
	/* 64 pages each, with an unmapped page behind */
	uint8_t *a, *b;
};

#define ROOM	(64 * PAGE)

FIXTURE_SETUP(cbc)
{
	struct session_op sop = {
		.cipher = CRYPTO_AES_CBC, .keylen = 16,
		.key = (void *)nist_key,
	};

	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, call(self->fd, CIOCGSESSION, &sop));
	self->ses = sop.ses;
	memcpy(self->iv, nist_iv, 16);
	self->a = fenced(64);
	self->b = fenced(64);
	ASSERT_NE(NULL, self->a);
	ASSERT_NE(NULL, self->b);
	fill(self->a, ROOM, 1);
}

FIXTURE_TEARDOWN(cbc)
{
	close(self->fd);
}

#define crypt_(op_, flags_, src_, dst_, len_, iv_) \
	crypt_op(self->fd, self->ses, op_, flags_, src_, dst_, len_, iv_, NULL)

TEST_F(cbc, a_known_answer)
{
	uint8_t out[32];

	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, nist_text, out, 32, nist_iv));
	EXPECT_EQ(0, memcmp(out, nist_result, 32));
	EXPECT_EQ(0, crypt_(COP_DECRYPT, 0, out, out, 32, nist_iv));
	EXPECT_EQ(0, memcmp(out, nist_text, 32));
}

TEST_F(cbc, without_an_iv_it_goes_on_from_before)
{
	uint8_t out[32];

	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, nist_text, out, 16, nist_iv));
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, nist_text + 16, out + 16, 16,
			    NULL));
	EXPECT_EQ(0, memcmp(out, nist_result, 32));
	EXPECT_EQ(0, crypt_(COP_DECRYPT, 0, nist_result, out, 16, nist_iv));
	EXPECT_EQ(0, crypt_(COP_DECRYPT, 0, nist_result + 16, out + 16, 16,
			    NULL));
	EXPECT_EQ(0, memcmp(out, nist_text, 32));
}

TEST_F(cbc, the_next_iv_is_written_on_request_only)
{
	uint8_t out[32];

	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, nist_text, out, 16, self->iv));
	EXPECT_EQ(0, memcmp(self->iv, nist_iv, 16));
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, COP_FLAG_WRITE_IV, nist_text, out, 16,
			    self->iv));
	EXPECT_EQ(0, memcmp(self->iv, nist_result, 16));
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, COP_FLAG_WRITE_IV, nist_text + 16,
			    out, 16, self->iv));
	EXPECT_EQ(0, memcmp(out, nist_result + 16, 16));
	EXPECT_EQ(0, crypt_(COP_DECRYPT, COP_FLAG_WRITE_IV, nist_result, out,
			    32, self->iv));
	EXPECT_EQ(0, memcmp(self->iv, nist_result + 16, 16));
	/* no address for the new IV is no error */
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, COP_FLAG_WRITE_IV, nist_text, out, 16,
			    NULL));
	/* a destination that is read-only */
	ASSERT_EQ(0, mprotect(self->b, PAGE, PROT_READ));
	EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, COP_FLAG_WRITE_IV, nist_text,
				 out, 16, self->b));
}

TEST_F(cbc, a_counter_goes_on_in_whole_blocks)
{
	uint8_t whole[64], parts[64];
	uint32_t ctr;

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CTR, 16, 0, 0, &ctr));
	self->ses = ctr;
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a, whole, 64, nist_iv));
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a, parts, 16, nist_iv));
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a + 16, parts + 16, 48,
			    NULL));
	EXPECT_EQ(0, memcmp(whole, parts, 64));
}

/*
 * ChaCha20 has 2^32 blocks for a nonce.  After the last block the counter does
 * not wrap to the first.
 */
TEST_F(cbc, a_counter_has_an_end)
{
	uint8_t whole[192], parts[192], iv[16] = { 0xfd, 0xff, 0xff, 0xff };
	uint32_t chacha;

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_OCF_CHACHA20, 32, 0, 0,
				  &chacha));
	self->ses = chacha;
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a, whole, 192, iv));
	EXPECT_EQ(EOVERFLOW, crypt_(COP_ENCRYPT, 0, self->a, parts, 64, NULL));
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a, parts, 64, iv));
	/* two blocks are left */
	EXPECT_EQ(EOVERFLOW, crypt_(COP_ENCRYPT, 0, self->a, parts + 64, 192,
				    NULL));
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a + 64, parts + 64, 128,
			    NULL));
	EXPECT_EQ(0, memcmp(whole, parts, 192));
	EXPECT_EQ(EOVERFLOW, crypt_(COP_ENCRYPT, 0, self->a, parts, 1, NULL));
	/* another nonce has 2^32 blocks again */
	iv[15] = 1;
	iv[0] = 0;
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a, parts, 64, iv));
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a, parts, 64, NULL));
}

#define BLOCKS	400

struct streamer {
	int fd;
	uint32_t ses, block;
	int err;
	uint8_t out[BLOCKS][64];
};

/* Encrypts zeroes, so that the result is the key stream. */
static void *stream(void *arg)
{
	static const uint8_t zeroes[64];
	struct streamer *s = arg;
	int i;

	for (i = 0; i < BLOCKS && !s->err; i++)
		s->err = crypt_op(s->fd, s->ses, COP_ENCRYPT, 0, zeroes,
				  s->out[i], s->block, NULL, NULL);
	return NULL;
}

static int compare_blocks(const void *a, const void *b)
{
	return memcmp(a, b, 16);
}

TEST_F(cbc, two_threads_get_no_stream_twice)
{
	static const struct {
		uint32_t cipher, keylen, block;
	} ciphers[] = {
		{ CRYPTO_AES_CTR, 16, 16 }, { CRYPTO_OCF_CHACHA20, 32, 64 },
	};
	struct streamer s[2];
	pthread_t threads[2];
	int i, j;

	for (i = 0; i < COUNT(ciphers); i++) {
		s[0] = (struct streamer){ .fd = self->fd,
					  .block = ciphers[i].block };
		ASSERT_EQ(0, open_session(self->fd, ciphers[i].cipher,
					  ciphers[i].keylen, 0, 0, &s[0].ses));
		s[1] = s[0];
		for (j = 0; j < 2; j++)
			ASSERT_EQ(0, pthread_create(&threads[j], NULL, stream,
						    &s[j]));
		for (j = 0; j < 2; j++) {
			ASSERT_EQ(0, pthread_join(threads[j], NULL));
			ASSERT_EQ(0, s[j].err);
			memcpy(self->a + j * sizeof(s[0].out), s[j].out,
			       sizeof(s[0].out));
		}
		qsort(self->a, 2 * BLOCKS, 64, compare_blocks);
		for (j = 1; j < 2 * BLOCKS; j++)
			ASSERT_NE(0, memcmp(self->a + 64 * (j - 1),
					    self->a + 64 * j, 16));
	}
}

TEST_F(cbc, what_was_not_delivered_has_used_its_stream)
{
	static const uint32_t ciphers[] = { CRYPTO_AES_CTR,
					    CRYPTO_OCF_CHACHA20 };
	uint8_t *edge = self->b + ROOM - PAGE;
	int i;

	memset(self->a, 0, 2 * PAGE);
	for (i = 0; i < COUNT(ciphers); i++) {
		ASSERT_EQ(0, open_session(self->fd, ciphers[i], 32, 0, 0,
					  &self->ses));
		ASSERT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a, self->b, 64,
				    self->iv));
		memset(edge, 0, PAGE);
		/* one page of two is mapped */
		ASSERT_EQ(EFAULT, crypt_(COP_ENCRYPT, COP_FLAG_NO_ZC, self->a,
					 edge, 2 * PAGE, NULL));
		ASSERT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a, self->b, 64,
				    NULL));
		EXPECT_NE(0, memcmp(edge, self->b, 64));
	}
}

/*
 * XTS never returns a next IV: it would be the tweak, encrypted with the second
 * key.
 */
TEST_F(cbc, a_tweak_has_no_successor)
{
	uint8_t out[64], iv[16];
	uint32_t xts;

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_XTS, 32, 0, 0, &xts));
	self->ses = xts;
	memcpy(iv, nist_iv, 16);
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, COP_FLAG_WRITE_IV, self->a, out, 64,
			    iv));
	EXPECT_EQ(0, memcmp(iv, nist_iv, 16));
	EXPECT_EQ(EINVAL, crypt_(COP_ENCRYPT, 0, self->a, out, 64, NULL));
}

TEST_F(cbc, lengths)
{
	uint8_t out[64];
	uint32_t len;

	for (len = 0; len <= 64; len++)
		EXPECT_EQ(len && len % 16 == 0 ? 0 : EINVAL,
			  crypt_(COP_ENCRYPT, 0, self->a, out, len, nist_iv));
	EXPECT_EQ(EINVAL, crypt_(COP_ENCRYPT, 0, NULL, NULL, 0, nist_iv));
}

TEST_F(cbc, sixteen_mebibytes_and_no_more)
{
	uint8_t *big = mmap(NULL, LEN_MAX + PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_TRUE(big != MAP_FAILED);
	fill(big, LEN_MAX, 2);
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, big, big, LEN_MAX, nist_iv));
	EXPECT_EQ(0, crypt_(COP_DECRYPT, COP_FLAG_NO_ZC, big, big, LEN_MAX,
			    nist_iv));
	fill(self->a, PAGE, 2);
	EXPECT_EQ(0, memcmp(big, self->a, PAGE));
	EXPECT_EQ(E2BIG, crypt_(COP_ENCRYPT, 0, big, big, LEN_MAX + 16,
				nist_iv));
	EXPECT_EQ(E2BIG, crypt_(COP_ENCRYPT, 0, big, big, UINT32_MAX,
				nist_iv));
}

/* The ways in which the kernel reads and writes data, by length and flags */
static const struct {
	uint32_t len;
	int flags;
} ways[] = {
	{ 16, 0 }, { 256, 0 }, { 272, 0 }, { 1536, 0 }, { 1552, 0 },
	{ 4080, 0 }, { 4096, 0 }, { 4112, 0 }, { 4096, COP_FLAG_NO_ZC },
	{ 20000, 0 }, { 20000, COP_FLAG_NO_ZC }, { 65536, 0 }, { 131072, 0 },
};

TEST_F(cbc, every_way_at_every_alignment_is_the_same)
{
	uint8_t *text = malloc(ROOM), *want = malloc(ROOM);
	int i, s, d;

	fill(text, ROOM, 5);
	for (i = 0; i < COUNT(ways); i++) {
		uint32_t len = ways[i].len;

		/*
		 * the reference is encrypted by single calls; the test above
		 * checks one of them
		 */
		ASSERT_EQ(0, crypt_(COP_ENCRYPT, 0, text, want, 16, nist_iv));
		for (s = 16; s < len; s += 16)
			ASSERT_EQ(0, crypt_(COP_ENCRYPT, 0, text + s, want + s,
					    16, NULL));
		for (s = 0; s < 4; s++)
			for (d = 0; d < 4; d++) {
				/* also up to the last mapped byte */
				uint8_t *src = self->a + ROOM - len - s * 333;
				uint8_t *dst = self->b + ROOM - len - d * 1021;

				memcpy(src, text, len);
				memset(self->b, 0x5a, ROOM);
				ASSERT_EQ(0, crypt_(COP_ENCRYPT, ways[i].flags,
						    src, dst, len, nist_iv));
				ASSERT_EQ(0, memcmp(dst, want, len))
					TH_LOG("%u %d %d", len, s, d);
				ASSERT_TRUE(all_are(self->b, 0x5a,
						    dst - self->b));
				ASSERT_TRUE(all_are(dst + len, 0x5a, self->b +
						    ROOM - dst - len));
				ASSERT_EQ(0, memcmp(src, text, len));
				ASSERT_EQ(0, crypt_(COP_DECRYPT, ways[i].flags,
						    dst, dst, len, nist_iv));
				ASSERT_EQ(0, memcmp(dst, text, len));
			}
	}
	free(want);
	free(text);
}

TEST_F(cbc, overlapping_buffers_are_as_if_they_were_not)
{
	uint8_t *want = malloc(ROOM);
	int i, j;

	for (i = 0; i < COUNT(ways); i++)
		for (j = -4; j <= 4; j++) {
			uint32_t len = ways[i].len;
			uint8_t *src = self->a + 100;

			fill(src, len, i);
			ASSERT_EQ(0, crypt_(COP_ENCRYPT, 0, src, want, len,
					    nist_iv));
			ASSERT_EQ(0, crypt_(COP_ENCRYPT, ways[i].flags, src,
					    src + j * 7, len, nist_iv));
			ASSERT_EQ(0, memcmp(src + j * 7, want, len))
				TH_LOG("%u, %d", len, j);
		}
	free(want);
}

TEST_F(cbc, memory_that_is_not_there)
{
	uint8_t *hole = self->a + ROOM;
	int i;

	for (i = 0; i < COUNT(ways); i++) {
		uint32_t len = ways[i].len;
		int f = ways[i].flags;

		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, f, NULL, self->b, len,
					 nist_iv));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, f, self->a, NULL, len,
					 nist_iv));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, f, hole, self->b, len,
					 nist_iv));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, f, self->b, hole, len,
					 nist_iv));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, f, hole - len + 1,
					 self->b, len, nist_iv));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, f, hole, hole, len,
					 nist_iv));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, f, self->a, self->b, len,
					 hole - 15));
		/* addresses of the kernel, and ranges that wrap around */
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, f, (void *)-PAGE,
					 self->b, len, nist_iv));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, f, self->a, (void *)-16,
					 len, nist_iv));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, f, self->a,
					 (void *)-PAGE, len, nist_iv));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, f, self->a,
					 (void *)LONG_MIN, len, nist_iv));
	}
	EXPECT_EQ(EFAULT, call(self->fd, CIOCCRYPT, NULL));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCCRYPT, hole - 8));
}

TEST_F(cbc, pages_that_must_not_be_written_are_not)
{
	char path[] = "/tmp/ocf-selftest-XXXXXX";
	int file = mkstemp(path), i;
	uint8_t *map, *own = malloc(ROOM);

	ASSERT_LE(0, file);
	ASSERT_EQ(ROOM, write(file, self->a, ROOM));
	memcpy(own, self->a, ROOM);
	for (i = 0; i < COUNT(ways); i++) {
		/* the page cache, through a read-only mapping */
		map = mmap(NULL, ROOM, PROT_READ, MAP_SHARED, file, 0);
		ASSERT_TRUE(map != MAP_FAILED);
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, ways[i].flags, self->a,
					 map, ways[i].len, nist_iv));
		EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, ways[i].flags, map, map,
					 ways[i].len, nist_iv));
		EXPECT_EQ(0, memcmp(map, own, ROOM));
		/* it can be a source */
		EXPECT_EQ(0, crypt_(COP_ENCRYPT, ways[i].flags, map, self->b,
				    ways[i].len, nist_iv));
		munmap(map, ROOM);
		/* writing to a private mapping does not change the file */
		map = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE,
			   file, 0);
		EXPECT_EQ(0, crypt_(COP_ENCRYPT, ways[i].flags, map, map,
				    ways[i].len, nist_iv));
		EXPECT_NE(0, memcmp(map, own, ways[i].len));
		munmap(map, ROOM);
		map = mmap(NULL, ROOM, PROT_READ, MAP_SHARED, file, 0);
		EXPECT_EQ(0, memcmp(map, own, ROOM));
		munmap(map, ROOM);
	}
	/* one page of many is read-only */
	ASSERT_EQ(0, mprotect(self->b + 5 * PAGE, PAGE, PROT_READ));
	memset(self->b, 0x11, 5 * PAGE);
	EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, 0, self->a, self->b, 8 * PAGE,
				 nist_iv));
	EXPECT_EQ(EFAULT, crypt_(COP_ENCRYPT, 0, self->b, self->b, 8 * PAGE,
				 nist_iv));
	EXPECT_TRUE(all_are(self->b, 0x11, 5 * PAGE));
	unlink(path);
	free(own);
}

/*
 * Operations work in memory that cannot be pinned, such as that of
 * memfd_secret().
 */
TEST_F(cbc, memory_that_cannot_be_pinned)
{
	uint8_t *secret, iv[16];
	int fd = syscall(SYS_memfd_secret, 0);

	if (fd < 0 && errno == ENOSYS)
		SKIP(return, "this kernel has none");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, 2 * ROOM));
	secret = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      0);
	ASSERT_NE(MAP_FAILED, secret);
	memcpy(secret, self->a, ROOM);
	memcpy(iv, self->iv, 16);
	ASSERT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a, self->b, ROOM, iv));
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, secret, secret + ROOM, ROOM, iv));
	EXPECT_EQ(0, memcmp(secret + ROOM, self->b, ROOM));
	EXPECT_EQ(0, crypt_(COP_DECRYPT, 0, secret + ROOM, secret + ROOM, ROOM,
			    iv));
	EXPECT_EQ(0, memcmp(secret + ROOM, self->a, ROOM));
	/* only the destination is such memory */
	EXPECT_EQ(0, crypt_(COP_ENCRYPT, 0, self->a, secret, ROOM, iv));
	EXPECT_EQ(0, memcmp(secret, self->b, ROOM));
	munmap(secret, 2 * ROOM);
	close(fd);
}

TEST_F(cbc, unknown_directions_and_flags)
{
	uint8_t out[16];
	int i;

	for (i = 2; i < 0x10000; i += 97)
		EXPECT_EQ(EINVAL, crypt_(i, 0, nist_text, out, 16, nist_iv));
	for (i = 0; i < 16; i++) {
		int flag = 1 << i;
		int known = COP_FLAG_WRITE_IV | COP_FLAG_NO_ZC | COP_FLAG_RESET;

		memcpy(self->iv, nist_iv, 16);
		EXPECT_EQ(flag & known ? 0 : EINVAL,
			  crypt_(COP_ENCRYPT, flag, nist_text, out, 16,
				 self->iv)) TH_LOG("flag %d", i);
	}
	self->ses++;
	EXPECT_EQ(EINVAL, crypt_(COP_ENCRYPT, 0, nist_text, out, 16, nist_iv));
}

TEST_F(cbc, aead_sessions_have_a_call_of_their_own)
{
	uint8_t out[16];

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_GCM, 16, 0, 0,
				  &self->ses));
	EXPECT_EQ(EINVAL, crypt_(COP_ENCRYPT, 0, nist_text, out, 16, nist_iv));
}

/* ---- digests ---- */

FIXTURE(digest)
{
	int fd;
	uint32_t ses;
	uint8_t mac[64];
};

FIXTURE_SETUP(digest)
{
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA2_256, 0,
				  &self->ses));
	memset(self->mac, 0x77, sizeof(self->mac));
}

FIXTURE_TEARDOWN(digest)
{
	close(self->fd);
}

#define digest_(flags_, src_, len_, mac_) \
	crypt_op(self->fd, self->ses, COP_ENCRYPT, flags_, src_, NULL, len_, \
		 NULL, mac_)

TEST_F(digest, known_answers)
{
	EXPECT_EQ(0, digest_(0, "abc", 3, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));
	EXPECT_TRUE(all_are(self->mac + 32, 0x77, 32));
	EXPECT_EQ(0, digest_(0, NULL, 0, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_empty, 32));
	/* a digest ignores the direction */
	EXPECT_EQ(0, crypt_op(self->fd, self->ses, COP_DECRYPT, 0, "abc", NULL,
			      3, NULL, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));
}

TEST_F(digest, in_parts)
{
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, "a", 1, NULL));
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, "b", 1, NULL));
	EXPECT_EQ(0, digest_(COP_FLAG_FINAL, "c", 1, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));
	/* once more, with an empty last part */
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, "ab", 2, NULL));
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, "c", 1, NULL));
	EXPECT_EQ(0, digest_(COP_FLAG_FINAL, NULL, 0, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));
	/* everything in one call, with both flags */
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE | COP_FLAG_FINAL, "abc", 3,
			     self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));
	/* no data at all */
	EXPECT_EQ(0, digest_(COP_FLAG_FINAL, NULL, 0, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_empty, 32));
}

TEST_F(digest, an_update_of_nothing_tells_the_result)
{
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, "abc", 3, NULL));
	/* OpenSSL's engine calls it like this: no data and no result */
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, NULL, 0, NULL));
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, NULL, 0, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));
}

/* An update with no data checks its other arguments, too. */
TEST_F(digest, an_update_of_nothing_is_checked)
{
	EXPECT_EQ(EINVAL, crypt_op(self->fd, self->ses + 1, COP_ENCRYPT,
				   COP_FLAG_UPDATE, NULL, NULL, 0, NULL, NULL));
	EXPECT_EQ(EINVAL, crypt_op(self->fd, 0, COP_ENCRYPT, COP_FLAG_UPDATE,
				   NULL, NULL, 0, NULL, NULL));
	EXPECT_EQ(EINVAL, digest_(COP_FLAG_UPDATE | 1 << 12, NULL, 0, NULL));
	EXPECT_EQ(EINVAL, crypt_op(self->fd, self->ses, 7, COP_FLAG_UPDATE,
				   NULL, NULL, 0, NULL, NULL));
}

TEST_F(digest, a_reset_forgets)
{
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, "xyz", 3, NULL));
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE | COP_FLAG_RESET, NULL, 0, NULL));
	EXPECT_EQ(0, digest_(COP_FLAG_FINAL, "abc", 3, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, "xyz", 3, NULL));
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE | COP_FLAG_RESET, "ab", 2, NULL));
	EXPECT_EQ(0, digest_(COP_FLAG_FINAL, "c", 1, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));
}

TEST_F(digest, a_whole_one_does_not_disturb_the_parts)
{
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, "ab", 2, NULL));
	EXPECT_EQ(0, digest_(0, NULL, 0, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_empty, 32));
	EXPECT_EQ(0, digest_(COP_FLAG_FINAL, "c", 1, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));
}

TEST_F(digest, a_part_that_fails_changes_nothing)
{
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, "ab", 2, NULL));
	EXPECT_EQ(EFAULT, digest_(COP_FLAG_UPDATE, (void *)-PAGE, 5, NULL));
	EXPECT_EQ(EFAULT, digest_(COP_FLAG_UPDATE, NULL, 5, NULL));
	EXPECT_EQ(EFAULT, digest_(COP_FLAG_FINAL, "c", 1, NULL));
	/* the digest is computed, but its address cannot be written */
	EXPECT_EQ(EFAULT, digest_(COP_FLAG_FINAL, "c", 1, (void *)-PAGE));
	EXPECT_EQ(EFAULT, digest_(COP_FLAG_UPDATE | COP_FLAG_FINAL, "c", 1,
				  fenced(1) + PAGE - 31));
	EXPECT_EQ(E2BIG, digest_(COP_FLAG_UPDATE, "c", LEN_MAX + 1, NULL));
	EXPECT_EQ(0, digest_(COP_FLAG_FINAL, "c", 1, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));
}

TEST_F(digest, no_place_for_the_result)
{
	EXPECT_EQ(EFAULT, digest_(0, "abc", 3, NULL));
	EXPECT_EQ(EFAULT, digest_(0, "abc", 3, (void *)-PAGE));
	EXPECT_EQ(EFAULT, digest_(0, "abc", 3, fenced(1) + PAGE - 31));
}

/*
 * Every hash gives the same result in parts, of each size around a block, as in
 * one call.
 */
TEST_F(digest, every_algorithm_in_parts)
{
	uint8_t data[700], whole[64], parts[64];
	int i, n, at;

	ASSERT_EQ(0, allow_weak("all"));
	fill(data, sizeof(data), 3);
	for (i = 0; i < nids_linux; i++) {
		size_t keylen = 16;
		uint32_t ses;

		if (!ids_linux[i].alg ||
		    open_session(self->fd, 0, 0, ids_linux[i].id, keylen,
				 &ses) ||
		    !strcmp(ids_linux[i].alg, "aes-gmac"))
			continue;
		self->ses = ses;
		memset(whole, 0, sizeof(whole));
		ASSERT_EQ(0, digest_(0, data, sizeof(data), whole));
		for (n = 1; n < 300; n += n < 8 ? 1 : 61) {
			for (at = 0; at + n < sizeof(data); at += n)
				ASSERT_EQ(0, digest_(COP_FLAG_UPDATE,
						     data + at, n, NULL));
			memset(parts, 0, sizeof(parts));
			ASSERT_EQ(0, digest_(COP_FLAG_FINAL, data + at,
					     sizeof(data) - at, parts));
			ASSERT_EQ(0, memcmp(whole, parts, 64))
				TH_LOG("%s by %d", ids_linux[i].alg, n);
		}
		close_session(self->fd, ses);
	}
	allow_weak("none");
}

static int copy_hash(int fd, uint32_t to, uint32_t from)
{
	struct cphash_op c = { .dst_ses = to, .src_ses = from };

	return call(fd, CIOCCPHASH, &c);
}

TEST_F(digest, a_state_is_copied)
{
	uint32_t other, sha1, cipher;

	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA2_256, 0, &other));
	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA1, 0, &sha1));
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_NULL, 0, 0, 0, &cipher));
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, "ab", 2, NULL));
	EXPECT_EQ(0, copy_hash(self->fd, other, self->ses));
	/* both sessions go on independently */
	EXPECT_EQ(0, digest_(COP_FLAG_UPDATE, "zzz", 3, NULL));
	EXPECT_EQ(0, crypt_op(self->fd, other, COP_ENCRYPT, COP_FLAG_FINAL,
			      "c", NULL, 1, NULL, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));
	/* the copy of a state that has not begun has not begun either */
	EXPECT_EQ(0, copy_hash(self->fd, self->ses, other));
	EXPECT_EQ(0, digest_(COP_FLAG_FINAL, "abc", 3, self->mac));
	EXPECT_EQ(0, memcmp(self->mac, sha256_abc, 32));

	EXPECT_EQ(EINVAL, copy_hash(self->fd, sha1, self->ses));
	EXPECT_EQ(EINVAL, copy_hash(self->fd, cipher, self->ses));
	EXPECT_EQ(EINVAL, copy_hash(self->fd, cipher, cipher + 77));
	EXPECT_EQ(EINVAL, copy_hash(self->fd, self->ses, 0));
	EXPECT_EQ(EDEADLK, copy_hash(self->fd, self->ses, self->ses));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCCPHASH, NULL));
}

/* ---- a cipher and a MAC ---- */

TEST_F(digest, the_mac_is_that_of_the_plaintext)
{
	uint8_t text[48], out[48], back[48], want[20], mac[20];
	uint32_t both, alone;

	fill(text, sizeof(text), 4);
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16,
				  CRYPTO_SHA1_HMAC, 20, &both));
	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA1_HMAC, 20,
				  &alone));
	ASSERT_EQ(0, crypt_op(self->fd, alone, COP_ENCRYPT, 0, text, NULL, 48,
			      NULL, want));
	EXPECT_EQ(0, crypt_op(self->fd, both, COP_ENCRYPT, 0, text, out, 48,
			      nist_iv, mac));
	EXPECT_EQ(0, memcmp(mac, want, 20));
	EXPECT_NE(0, memcmp(out, text, 48));
	memset(mac, 0, 20);
	EXPECT_EQ(0, crypt_op(self->fd, both, COP_DECRYPT, 0, out, back, 48,
			      nist_iv, mac));
	EXPECT_EQ(0, memcmp(back, text, 48));
	EXPECT_EQ(0, memcmp(mac, want, 20));
	/* in place */
	EXPECT_EQ(0, crypt_op(self->fd, both, COP_ENCRYPT, 0, back, back, 48,
			      nist_iv, mac));
	EXPECT_EQ(0, memcmp(back, out, 48));
	EXPECT_EQ(0, memcmp(mac, want, 20));
	/*
	 * in parts: the cipher goes on with its IV, and the MAC covers all
	 * parts
	 */
	EXPECT_EQ(0, crypt_op(self->fd, both, COP_ENCRYPT, COP_FLAG_UPDATE,
			      text, back, 16, nist_iv, NULL));
	EXPECT_EQ(0, crypt_op(self->fd, both, COP_ENCRYPT, COP_FLAG_FINAL,
			      text + 16, back + 16, 32, NULL, mac));
	EXPECT_EQ(0, memcmp(back, out, 48));
	EXPECT_EQ(0, memcmp(mac, want, 20));
	EXPECT_EQ(EINVAL, crypt_op(self->fd, both, COP_ENCRYPT, 0, text, out,
				   47, nist_iv, mac));
	/* with no data there is nothing to encrypt, but there is a MAC */
	ASSERT_EQ(0, crypt_op(self->fd, alone, COP_ENCRYPT, 0, NULL, NULL, 0,
			      NULL, want));
	EXPECT_EQ(0, crypt_op(self->fd, both, COP_ENCRYPT, 0, text, out, 0,
			      nist_iv, mac));
	EXPECT_EQ(0, memcmp(mac, want, 20));
	EXPECT_EQ(EFAULT, crypt_op(self->fd, both, COP_ENCRYPT, 0, text, out,
				   48, nist_iv, NULL));
	/* also with a cipher that refuses empty data */
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_XTS, 32,
				  CRYPTO_SHA1_HMAC, 20, &both));
	memset(mac, 0, 20);
	EXPECT_EQ(0, crypt_op(self->fd, both, COP_ENCRYPT, 0, text, out, 0,
			      nist_iv, mac));
	EXPECT_EQ(0, memcmp(mac, want, 20));
}

/* The null cipher of RFC 2410 together with a MAC of RFC 4868 */
TEST_F(digest, the_null_cipher_beside_a_mac)
{
	uint8_t out[3] = "", mac[32], want[32];
	uint32_t both, alone;

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_NULL, 0,
				  CRYPTO_SHA2_256_HMAC, 32, &both));
	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA2_256_HMAC, 32,
				  &alone));
	ASSERT_EQ(0, crypt_op(self->fd, alone, COP_ENCRYPT, 0, "abc", NULL, 3,
			      NULL, want));
	EXPECT_EQ(0, crypt_op(self->fd, both, COP_ENCRYPT, 0, "abc", out, 3,
			      NULL, mac));
	EXPECT_EQ(0, memcmp(out, "abc", 3));
	EXPECT_EQ(0, memcmp(mac, want, 32));
}

TEST_HARNESS_MAIN
