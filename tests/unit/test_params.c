// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rules for sessions and requests.  This file states them again, in another
 * way than params.c, and compares both: on all small cases, and otherwise on
 * random requests.
 */
#include <kselftest_harness.h>

#include "../../kernel/core/session/alg.h"
#include "../../kernel/core/session/params.h"

static const u8 key[OCF_MACKEY_MAX];

static struct ocf_session_params params(enum ocf_mode mode, enum ocf_alg cipher,
					enum ocf_alg mac)
{
	const struct ocf_alg_info *c = ocf_alg_info(cipher);
	const struct ocf_alg_info *m = ocf_alg_info(mac);

	return (struct ocf_session_params){
		.mode = mode, .cipher = cipher, .mac = mac,
		.device = OCF_DEVICE_ANY, .key = key, .mackey = key,
		.keylen = c ? c->key_max : 0, .mackeylen = m ? m->key_max : 0,
	};
}

static int type_of(enum ocf_alg alg)
{
	const struct ocf_alg_info *row = ocf_alg_info(alg);

	return row ? row->type : OCF_TYPE_NONE;
}

/* Returns whether TLS 1.0 to 1.2 have this MAC with CBC. */
static bool in_tls(enum ocf_alg mac)
{
	return mac == OCF_HMAC_MD5 || mac == OCF_HMAC_SHA1 ||
	       mac == OCF_HMAC_SHA224 || mac == OCF_HMAC_SHA256 ||
	       mac == OCF_HMAC_SHA384 || mac == OCF_HMAC_SHA512;
}

static bool goes_together(enum ocf_mode mode, enum ocf_alg cipher,
			  enum ocf_alg mac)
{
	int c = type_of(cipher), m = type_of(mac);
	bool hashes = m == OCF_TYPE_DIGEST || m == OCF_TYPE_MAC;

	switch (mode) {
	case OCF_MODE_CIPHER:
		return c == OCF_TYPE_CIPHER && !mac;
	case OCF_MODE_DIGEST:
		return !cipher && hashes;
	case OCF_MODE_AEAD:
		return c == OCF_TYPE_AEAD && !mac;
	case OCF_MODE_COMPRESS:
		return c == OCF_TYPE_COMPRESS && !mac;
	case OCF_MODE_MTE:
		return c == OCF_TYPE_CIPHER && in_tls(mac);
	case OCF_MODE_CHAIN:
		return c == OCF_TYPE_CIPHER && hashes && mac != OCF_AES_GMAC;
	case OCF_MODE_ETA:
		return c == OCF_TYPE_CIPHER && mac != OCF_AES_GMAC &&
		       (m == OCF_TYPE_MAC || mac == OCF_BLAKE2B ||
			mac == OCF_BLAKE2S);
	default:
		return false;
	}
}

FIXTURE(params) { };

/* Weak algorithms are allowed here; another test below checks the policy. */
FIXTURE_SETUP(params)
{
	ocf_weak_set("all");
}

FIXTURE_TEARDOWN(params)
{
}

TEST_F(params, every_mode_with_every_pair)
{
	unsigned int mode, cipher, mac;

	for (mode = 0; mode <= OCF_MODE_COUNT; mode++)
		for (cipher = 0; cipher <= OCF_ALG_COUNT; cipher++)
			for (mac = 0; mac <= OCF_ALG_COUNT; mac++) {
				struct ocf_session_params p =
					params(mode, cipher, mac);

				ASSERT_EQ(cipher < OCF_ALG_COUNT &&
					  mac < OCF_ALG_COUNT &&
					  goes_together(mode, cipher, mac) ?
					  0 : -EINVAL, ocf_check_params(&p))
					TH_LOG("mode %u cipher %u mac %u",
					       mode, cipher, mac);
			}
}

/* Returns the mode in which an algorithm is used alone. */
static enum ocf_mode alone(enum ocf_alg alg)
{
	static const enum ocf_mode modes[] = {
		[OCF_TYPE_CIPHER] = OCF_MODE_CIPHER,
		[OCF_TYPE_AEAD] = OCF_MODE_AEAD,
		[OCF_TYPE_DIGEST] = OCF_MODE_DIGEST,
		[OCF_TYPE_MAC] = OCF_MODE_DIGEST,
		[OCF_TYPE_COMPRESS] = OCF_MODE_COMPRESS,
	};

	return modes[type_of(alg)];
}

static struct ocf_session_params single(enum ocf_alg alg)
{
	int type = type_of(alg);
	bool mac = type == OCF_TYPE_DIGEST || type == OCF_TYPE_MAC;

	return params(alone(alg), mac ? OCF_ALG_NONE : alg,
		      mac ? alg : OCF_ALG_NONE);
}

/* The standards' key lengths: FIPS 197, SP 800-38E, RFC 2144, 2104, 7693 ... */
static bool standard_key(const char *name, u32 n)
{
	if (!strncmp(name, "aes-xts", 7))
		return n == 32 || n == 48 || n == 64;
	if (!strncmp(name, "sm4", 3))
		return n == 16;
	if (!strncmp(name, "aes", 3) || !strncmp(name, "camellia", 8) ||
	    !strncmp(name, "aria", 4))
		return n == 16 || n == 24 || n == 32;
	if (!strcmp(name, "des3-cbc"))
		return n == 24;
	if (!strcmp(name, "des-cbc"))
		return n == 8;
	if (!strncmp(name, "chacha", 6))
		return n == 32;
	if (!strcmp(name, "blowfish-cbc"))
		return n >= 4 && n <= 56;
	if (!strcmp(name, "cast5-cbc"))
		return n >= 5 && n <= 16;
	if (!strcmp(name, "blake2b") || !strcmp(name, "null"))
		return n <= 64;
	if (!strcmp(name, "blake2s"))
		return n <= 32;
	if (!strncmp(name, "hmac", 4) || !strcmp(name, "null-mac"))
		return n <= 512;
	return !n;
}

TEST_F(params, every_key_length_of_every_algorithm)
{
	unsigned int alg;
	u32 n;

	for (alg = 1; alg < OCF_ALG_COUNT; alg++)
		for (n = 0; n <= OCF_MACKEY_MAX + 1; n++) {
			struct ocf_session_params p = single(alg);
			u32 *len = p.cipher ? &p.keylen : &p.mackeylen;

			*len = n;
			ASSERT_EQ(standard_key(ocf_alg_info(alg)->name, n) ?
				  0 : -EINVAL, ocf_check_params(&p))
				TH_LOG("%s, %u", ocf_alg_info(alg)->name, n);
			p.key = p.mackey = NULL;
			ASSERT_TRUE(!n || ocf_check_params(&p) == -EINVAL);
		}
}

static bool standard_tag(const char *name, u32 digest, u32 n)
{
	if (strstr(name, "-gcm"))		/* SP 800-38D, 5.2.1.2 */
		return n == 4 || n == 8 || (n >= 12 && n <= 16);
	if (strstr(name, "-ccm"))		/* SP 800-38C, A.1 */
		return n >= 4 && n <= 16 && n % 2 == 0;
	if (!strcmp(name, "chacha20-poly1305"))	/* RFC 8439, 2.8 */
		return n == 16;
	return n >= 4 && n <= digest;
}

TEST_F(params, every_tag_length_of_every_algorithm)
{
	unsigned int alg;
	u32 n;

	for (alg = 1; alg < OCF_ALG_COUNT; alg++) {
		const struct ocf_alg_info *row = ocf_alg_info(alg);

		for (n = 0; n < 70; n++) {
			struct ocf_session_params p = single(alg);
			bool ok = row->digest &&
				  standard_tag(row->name, row->digest, n);

			p.maclen = n;
			ASSERT_EQ(!n || ok ? 0 : -EINVAL, ocf_check_params(&p))
				TH_LOG("%s, %u", row->name, n);
			ASSERT_EQ(n ?: row->digest, p.maclen);
		}
	}
}

TEST_F(params, every_iv_length_of_every_algorithm)
{
	unsigned int alg;
	u32 n;

	for (alg = 1; alg < OCF_ALG_COUNT; alg++) {
		const struct ocf_alg_info *row = ocf_alg_info(alg);

		for (n = 0; n < 40; n++) {
			struct ocf_session_params p = single(alg);
			bool ok = n == row->iv;

			if (ocf_alg_is_ccm(alg))	/* SP 800-38C, A.1 */
				ok = n >= 7 && n <= 13;
			if (alg == OCF_AES_XTS)		/* 8 bytes: the BSDs */
				ok = n == 8 || n == 16;
			p.ivlen = n;
			ASSERT_EQ(!n || ok ? 0 : -EINVAL, ocf_check_params(&p))
				TH_LOG("%s, %u", row->name, n);
			ASSERT_EQ(n ?: row->iv, p.ivlen);
		}
	}
}

TEST_F(params, rounds_only_where_there_is_a_choice)
{
	unsigned int alg;
	u32 n;

	for (alg = 1; alg < OCF_ALG_COUNT; alg++)
		for (n = 0; n < 30; n++) {
			struct ocf_session_params p = single(alg);
			bool ok = !n || (alg == OCF_CHACHA20 &&
					 (n == 12 || n == 20));

			p.rounds = n;
			ASSERT_EQ(ok ? 0 : -EINVAL, ocf_check_params(&p))
				TH_LOG("%s, %u", ocf_alg_info(alg)->name, n);
		}
}

TEST_F(params, flags_policy_and_device)
{
	struct ocf_session_params p;
	int i;

	for (i = 0; i < 32; i++) {
		p = single(OCF_AES_CBC);
		p.flags = 1u << i;
		/* the length field of TLS has no meaning for a cipher */
		EXPECT_EQ(i < 3 ? 0 : -EINVAL, ocf_check_params(&p));
	}
	p = params(OCF_MODE_MTE, OCF_AES_CBC, OCF_HMAC_SHA1);
	p.flags = OCF_SESSION_MTE_LENGTH;
	EXPECT_EQ(0, ocf_check_params(&p));
	EXPECT_EQ(OCF_SESSION_MTE_LENGTH | OCF_SESSION_ANY, p.flags);
	p = single(OCF_AES_CBC);
	p.flags = OCF_SESSION_HARDWARE;
	EXPECT_EQ(0, ocf_check_params(&p));
	EXPECT_EQ(OCF_SESSION_HARDWARE, p.flags);
	for (i = -3; i < 70; i++) {
		p = single(OCF_AES_CBC);
		p.device = i;
		EXPECT_EQ(i >= -1 && i < 64 ? 0 : -EINVAL,
			  ocf_check_params(&p));
		p = single(OCF_AES_CBC);
		p.policy = i;
		EXPECT_EQ(i == 0 || i == 1 ? 0 : -EINVAL, ocf_check_params(&p));
	}
}

TEST_F(params, weak_is_eperm_but_wrong_is_einval_first)
{
	struct ocf_session_params p;

	ocf_weak_set("none");
	p = single(OCF_DES_CBC);
	EXPECT_EQ(-EPERM, ocf_check_params(&p));
	p = single(OCF_DES_CBC);
	p.keylen = 7;
	EXPECT_EQ(-EINVAL, ocf_check_params(&p));
	p = params(OCF_MODE_CHAIN, OCF_AES_CBC, OCF_HMAC_MD5);
	EXPECT_EQ(-EPERM, ocf_check_params(&p));
	p = params(OCF_MODE_CHAIN, OCF_DES_CBC, OCF_HMAC_SHA1);
	EXPECT_EQ(-EPERM, ocf_check_params(&p));
	ocf_weak_set("des-cbc");
	p = params(OCF_MODE_CHAIN, OCF_DES_CBC, OCF_HMAC_SHA1);
	EXPECT_EQ(0, ocf_check_params(&p));
}

/* ---- requests ---- */

FIXTURE(request)
{
	struct ocf_session_params	p;
	struct ocf_request		req;
	struct scatterlist		a, b;
	u8				state[OCF_STATE_MAX];
};

FIXTURE_SETUP(request)
{
	ocf_weak_set("all");
	memset(&self->req, 0, sizeof(self->req));
	ocf_request_init(&self->req, NULL);
	self->req.src = &self->a;
	self->req.dst = &self->a;
}

FIXTURE_TEARDOWN(request)
{
}

static u32 block_of(const struct ocf_session_params *p)
{
	return p->cipher ? ocf_alg_info(p->cipher)->block : 1;
}

#define open_(...) do { \
	self->p = params(__VA_ARGS__); \
	ASSERT_EQ(0, ocf_check_params(&self->p)); \
} while (0)

#define check_() ocf_check_request(&self->req, &self->p, block_of(&self->p))

TEST_F(request, a_cipher_takes_whole_blocks_and_not_nothing)
{
	u32 len;

	open_(OCF_MODE_CIPHER, OCF_AES_CBC, 0);
	for (len = 0; len < 70; len++) {
		self->req.data.len = len;
		EXPECT_EQ(len && len % 16 == 0 ? 0 : -EINVAL, check_());
	}
	open_(OCF_MODE_CIPHER, OCF_AES_CTR, 0);
	for (len = 0; len < 70; len++) {
		self->req.data.len = len;
		EXPECT_EQ(len ? 0 : -EINVAL, check_());
	}
}

TEST_F(request, an_empty_digest_and_an_empty_aead_are_answers)
{
	open_(OCF_MODE_DIGEST, 0, OCF_SHA256);
	EXPECT_EQ(0, check_());
	self->req.src = self->req.dst = NULL;
	EXPECT_EQ(0, check_());
	self->req.src = self->req.dst = &self->a;
	open_(OCF_MODE_AEAD, OCF_AES_GCM, 0);
	self->req.tag_start = 0;
	EXPECT_EQ(0, check_());
}

TEST_F(request, no_buffer_no_work)
{
	open_(OCF_MODE_CIPHER, OCF_AES_CBC, 0);
	self->req.data.len = 16;
	self->req.src = NULL;
	EXPECT_EQ(-EINVAL, check_());
	self->req.src = &self->a;
	self->req.dst = NULL;
	EXPECT_EQ(-EINVAL, check_());
	open_(OCF_MODE_DIGEST, 0, OCF_SHA1);
	EXPECT_EQ(0, check_());
}

TEST_F(request, sizes_end_at_the_maximum_and_do_not_wrap)
{
	static const u32 big[] = { 1, 16, OCF_REQUEST_MAX - 16,
		OCF_REQUEST_MAX, OCF_REQUEST_MAX + 16, 1u << 31,
		U32_MAX - 15 };
	size_t i, j;

	open_(OCF_MODE_CIPHER, OCF_AES_CTR, 0);
	for (i = 0; i < ARRAY_SIZE(big); i++)
		for (j = 0; j < ARRAY_SIZE(big); j++) {
			self->req.data = (struct ocf_range){ big[i], big[j] };
			EXPECT_EQ((u64)big[i] + big[j] > OCF_REQUEST_MAX ?
				  -E2BIG : 0, check_())
				TH_LOG("%u + %u", big[i], big[j]);
		}
	open_(OCF_MODE_DIGEST, 0, OCF_SHA1);
	self->req.data = (struct ocf_range){ 0, 16 };
	self->req.tag_start = U32_MAX - 1;
	EXPECT_EQ(-E2BIG, check_());
	self->req.tag_start = OCF_TAG_INLINE;
	EXPECT_EQ(0, check_());
}

TEST_F(request, unknown_flags_and_directions)
{
	int i;

	open_(OCF_MODE_CIPHER, OCF_AES_CTR, 0);
	self->req.data.len = 5;
	for (i = 0; i < 32; i++) {
		self->req.flags = 1u << i;
		EXPECT_EQ(i < 4 ? 0 : -EINVAL, check_())
			TH_LOG("%d", i);
	}
	self->req.flags = 0;
	for (i = -1; i < 5; i++) {
		self->req.op = i;
		EXPECT_EQ(i == 0 || i == 1 ? 0 : -EINVAL, check_());
	}
}

TEST_F(request, parts_need_a_state_and_a_digest)
{
	int i;

	for (i = 6; i <= 7; i++) {
		self->req.flags = 1u << i;
		self->req.state = self->state;
		open_(OCF_MODE_DIGEST, 0, OCF_HMAC_SHA1);
		EXPECT_EQ(0, check_());
		self->req.state = NULL;
		EXPECT_EQ(-EINVAL, check_());
		self->req.state = self->state;
		self->req.data.len = 16;
		open_(OCF_MODE_CHAIN, OCF_AES_CBC, OCF_HMAC_SHA1);
		EXPECT_EQ(0, check_());
		open_(OCF_MODE_CIPHER, OCF_AES_CBC, 0);
		EXPECT_EQ(-EINVAL, check_());
		open_(OCF_MODE_ETA, OCF_AES_CBC, OCF_HMAC_SHA1);
		self->req.auth.len = 16;
		EXPECT_EQ(-EINVAL, check_());
		self->req.auth.len = 0;
		self->req.data.len = 0;
	}
	/* a digest has nothing to verify */
	open_(OCF_MODE_DIGEST, 0, OCF_HMAC_SHA1);
	self->req.flags = OCF_REQ_UPDATE;
	self->req.op = OCF_OP_DECRYPT;
	EXPECT_EQ(-EINVAL, check_());
	open_(OCF_MODE_CHAIN, OCF_AES_CTR, OCF_HMAC_SHA1);
	self->req.data.len = 1;
	self->req.flags = OCF_REQ_UPDATE | OCF_REQ_VERIFY;
	EXPECT_EQ(-EINVAL, check_());
}

TEST_F(request, aead_is_aad_data_tag_without_gaps)
{
	open_(OCF_MODE_AEAD, OCF_AES_GCM, 0);
	self->req.auth = (struct ocf_range){ 7, 13 };
	self->req.data = (struct ocf_range){ 20, 9 };
	self->req.tag_start = 29;
	EXPECT_EQ(0, check_());
	self->req.tag_start = 28;
	EXPECT_EQ(-EINVAL, check_());
	self->req.tag_start = OCF_TAG_INLINE;
	EXPECT_EQ(-EINVAL, check_());
	self->req.tag_start = 29;
	self->req.auth.len = 12;
	EXPECT_EQ(-EINVAL, check_());
	/* without AAD its place does not matter */
	self->req.auth = (struct ocf_range){ 0, 0 };
	EXPECT_EQ(0, check_());
}

TEST_F(request, ccm_has_a_nonce_a_request_and_a_length_that_fits)
{
	u32 n;

	open_(OCF_MODE_AEAD, OCF_AES_CCM, 0);
	self->req.tag_start = 0;
	for (n = 0; n < 17; n++) {
		self->req.ivlen = n;
		EXPECT_EQ(!n || (n >= 7 && n <= 13) ? 0 : -EINVAL, check_());
	}
	self->req.ivlen = 13;
	self->req.data.len = self->req.tag_start = 65535;
	EXPECT_EQ(0, check_());
	self->req.data.len = self->req.tag_start = 65536;
	EXPECT_EQ(-EINVAL, check_());
	self->req.ivlen = 12;
	EXPECT_EQ(0, check_());
	self->req.data.len = self->req.tag_start = (1 << 24) - 1;
	EXPECT_EQ(0, check_());
	self->req.data.len = self->req.tag_start = 1 << 24;
	EXPECT_EQ(-EINVAL, check_());
	for (n = 7; n < 12; n++) {
		self->req.ivlen = n;
		EXPECT_EQ(0, check_());
	}
	open_(OCF_MODE_AEAD, OCF_AES_GCM, 0);
	self->req.ivlen = 8;
	EXPECT_EQ(-EINVAL, check_());
}

TEST_F(request, eta_holds_the_data_in_what_it_authenticates)
{
	open_(OCF_MODE_ETA, OCF_AES_CBC, OCF_HMAC_SHA1);
	self->req.auth = (struct ocf_range){ 4, 40 };
	self->req.data = (struct ocf_range){ 8, 32 };
	EXPECT_EQ(0, check_());
	self->req.data.start = 3;
	EXPECT_EQ(-EINVAL, check_());
	self->req.data.start = 13;
	EXPECT_EQ(-EINVAL, check_());
	self->req.data.start = 12;
	EXPECT_EQ(0, check_());
	/* the tag may be before or behind the data, not inside */
	self->req.auth.start = self->req.data.start = 30;
	for (self->req.tag_start = 0; self->req.tag_start < 100;
	     self->req.tag_start++) {
		EXPECT_EQ(self->req.tag_start <= 10 ||
			  self->req.tag_start >= 70 ? 0 : -EINVAL, check_())
			TH_LOG("%u", self->req.tag_start);
	}
}

TEST_F(request, mte_has_its_mac_behind_the_payload_and_inside_the_data)
{
	open_(OCF_MODE_MTE, OCF_AES_CBC, OCF_HMAC_SHA1);
	self->req.auth = (struct ocf_range){ 0, 13 + 7 };
	self->req.data = (struct ocf_range){ 13, 32 };
	self->req.tag_start = 20;
	EXPECT_EQ(0, check_());
	self->req.tag_start = 21;
	EXPECT_EQ(-EINVAL, check_());
	self->req.auth.len = 13 + 13;	/* 20 bytes of MAC do not fit */
	self->req.tag_start = 26;
	EXPECT_EQ(-EINVAL, check_());
	self->req.tag_start = OCF_TAG_INLINE;
	EXPECT_EQ(-EINVAL, check_());
	self->req.op = OCF_OP_DECRYPT;
	self->req.auth.len = 13;
	EXPECT_EQ(0, check_());
	self->req.auth.len = 12;
	EXPECT_EQ(-EINVAL, check_());
	self->req.auth.len = 13;
	self->req.data.len = 16;	/* the data are shorter than a MAC */
	EXPECT_EQ(-EINVAL, check_());
	self->req.auth.start = 14;
	EXPECT_EQ(-EINVAL, check_());
	/* a stream cipher has no padding: a record may be a MAC of no data */
	open_(OCF_MODE_MTE, OCF_AES_CTR, OCF_HMAC_SHA1);
	self->req.auth = (struct ocf_range){ 0, 13 };
	self->req.data.len = 20;
	EXPECT_EQ(0, check_());
	self->req.data.len = 19;
	EXPECT_EQ(-EINVAL, check_());
}

TEST_F(request, mte_length_needs_a_header_to_put_it_in)
{
	u32 aad;

	open_(OCF_MODE_MTE, OCF_AES_CBC, OCF_HMAC_SHA1);
	self->p.flags |= OCF_SESSION_MTE_LENGTH;
	self->req.op = OCF_OP_DECRYPT;
	for (aad = 0; aad < 40; aad++) {
		self->req.auth.len = aad;
		self->req.data = (struct ocf_range){ aad, 64 };
		EXPECT_EQ(aad >= 2 && aad <= 32 ? 0 : -EINVAL, check_());
	}
}

TEST_F(request, a_chain_in_two_buffers_authenticates_what_it_wrote)
{
	open_(OCF_MODE_CHAIN, OCF_AES_CBC, OCF_HMAC_SHA1);
	self->req.dst = &self->b;
	self->req.data = (struct ocf_range){ 16, 32 };
	self->req.auth = (struct ocf_range){ 0, 48 };
	self->req.flags = OCF_REQ_MAC_FIRST;	/* source: anywhere */
	EXPECT_EQ(0, check_());
	self->req.flags = 0;			/* destination: data only */
	EXPECT_EQ(-EINVAL, check_());
	self->req.auth = (struct ocf_range){ 20, 10 };
	EXPECT_EQ(0, check_());
	self->req.dst = &self->a;
	self->req.auth = (struct ocf_range){ 0, 48 };
	EXPECT_EQ(0, check_());
}

TEST_F(request, compression_needs_room_elsewhere)
{
	open_(OCF_MODE_COMPRESS, OCF_DEFLATE, 0);
	self->req.data.len = 100;
	self->req.dst_len = 10;
	EXPECT_EQ(-EINVAL, check_());
	self->req.dst = &self->b;
	EXPECT_EQ(0, check_());
	self->req.dst_len = 0;
	EXPECT_EQ(-EINVAL, check_());
	self->req.dst_len = OCF_REQUEST_MAX + 1;
	EXPECT_EQ(-E2BIG, check_());
	self->req.dst_len = 10;
	self->req.data.len = 0;
	EXPECT_EQ(-EINVAL, check_());
}

/*
 * Returns a random number of any size; small ones and those around limits are
 * more frequent.
 */
static u32 pick(unsigned int *seed)
{
	static const u32 edges[] = { 0, 1, 15, 16, 17, 32, 255, 65536,
		OCF_REQUEST_MAX - 1, OCF_REQUEST_MAX, OCF_REQUEST_MAX + 1,
		0x7fffffff, 0x80000000, U32_MAX - 16, U32_MAX };
	u32 r = rand_r(seed);

	if (r & 1)
		return edges[(r >> 1) % ARRAY_SIZE(edges)];
	return rand_r(seed) % 600;
}

/*
 * Returns whether a request that was accepted has all properties that drivers
 * rely on.
 */
static bool sound(const struct ocf_request *req,
		  const struct ocf_session_params *p)
{
	u64 data_end = (u64)req->data.start + req->data.len;
	u64 auth_end = (u64)req->auth.start + req->auth.len;

	if (data_end > OCF_REQUEST_MAX || auth_end > OCF_REQUEST_MAX ||
	    req->data.len % block_of(p))
		return false;
	if (req->tag_start != OCF_TAG_INLINE &&
	    req->tag_start + OCF_TAG_MAX > OCF_REQUEST_MAX)
		return false;
	if (p->mode == OCF_MODE_AEAD)
		return req->tag_start == data_end &&
		       (!req->auth.len || auth_end == req->data.start);
	if (p->mode == OCF_MODE_ETA)
		return req->data.start >= req->auth.start &&
		       data_end <= auth_end;
	if (p->mode == OCF_MODE_MTE)
		return req->auth.start <= req->data.start &&
		       req->data.len > p->maclen &&
		       (req->op == OCF_OP_DECRYPT ||
			(req->tag_start >= req->data.start &&
			 req->tag_start + p->maclen <= data_end));
	return true;
}

TEST_F(request, whatever_is_let_through_is_sound)
{
	static const struct {
		enum ocf_mode mode;
		enum ocf_alg c, m;
	} with[] = {
		{ OCF_MODE_CIPHER, OCF_AES_CBC, 0 },
		{ OCF_MODE_DIGEST, 0, OCF_HMAC_SHA256 },
		{ OCF_MODE_AEAD, OCF_AES_CCM, 0 },
		{ OCF_MODE_ETA, OCF_AES_CTR, OCF_HMAC_SHA1 },
		{ OCF_MODE_MTE, OCF_AES_CBC, OCF_HMAC_SHA1 },
		{ OCF_MODE_CHAIN, OCF_AES_CBC, OCF_HMAC_SHA1 },
		{ OCF_MODE_COMPRESS, OCF_DEFLATE, 0 },
	};
	unsigned int seed = getpid(), let = 0;
	int i;

	TH_LOG("seed %u", seed);
	for (i = 0; i < 3000000; i++) {
		int w = i % ARRAY_SIZE(with);

		self->p = params(with[w].mode, with[w].c, with[w].m);
		if (i < 7)
			ASSERT_EQ(0, ocf_check_params(&self->p));
		self->p.maclen = with[w].m ? ocf_alg_info(with[w].m)->digest :
					     16;
		self->req.op = rand_r(&seed) & 1;
		self->req.flags = rand_r(&seed) & OCF_REQ_FLAGS;
		self->req.state = self->state;
		self->req.dst = rand_r(&seed) & 1 ? &self->a : &self->b;
		self->req.data = (struct ocf_range){ pick(&seed), pick(&seed) };
		self->req.auth = (struct ocf_range){ pick(&seed), pick(&seed) };
		self->req.tag_start = pick(&seed);
		self->req.dst_len = pick(&seed);
		self->req.ivlen = 0;
		/*
		 * random values rarely fit, so half of the time this sets a
		 * value that fits
		 */
		if (rand_r(&seed) & 1)
			self->req.tag_start = self->req.data.start +
					      self->req.data.len;
		if (rand_r(&seed) & 1)
			self->req.auth.len = self->req.data.start -
					     self->req.auth.start;
		if (check_())
			continue;
		let++;
		ASSERT_TRUE(sound(&self->req, &self->p))
			TH_LOG("mode %d: data %u+%u auth %u+%u tag %u",
			       self->p.mode, self->req.data.start,
			       self->req.data.len, self->req.auth.start,
			       self->req.auth.len, self->req.tag_start);
	}
	/* enough requests must have been accepted */
	EXPECT_GT(let, 30000);
}

TEST_HARNESS_MAIN
