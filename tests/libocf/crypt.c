// SPDX-License-Identifier: BSD-2-Clause
/*
 * libocf: sessions, operations and public keys, also in several processes.
 * differ.py checks the results of every algorithm, by the bindings.
 */
#include <kselftest_harness.h>
#include <limits.h>
#include <ocf/public.h>
#include <sys/wait.h>

#include "libocf.h"

FIXTURE(crypt)
{
	struct ocf *ocf;
	uint8_t in[LEN], out[LEN], back[LEN], tag[64];
};

FIXTURE_SETUP(crypt)
{
	ASSERT_EQ(0, ocf_open(&self->ocf));
	fill(self->in, LEN, 1);
}

FIXTURE_TEARDOWN(crypt)
{
	ocf_close(self->ocf);
}

TEST_F(crypt, what_there_is)
{
	struct ocf_algorithm a;

	EXPECT_LE(0, ocf_fd(self->ocf));
	EXPECT_EQ(FD_CLOEXEC, fcntl(ocf_fd(self->ocf), F_GETFD));
	EXPECT_EQ(OCF_VECTOR_MAX, ocf_features(self->ocf)->vector_max);
	ASSERT_EQ(0, ocf_algorithm(self->ocf, "aes-gcm", &a));
	EXPECT_EQ(16, a.digest);
	EXPECT_EQ(-ENOENT, ocf_algorithm(self->ocf, "aes-gc", &a));
	EXPECT_EQ(-ENOENT, ocf_algorithm(self->ocf, "", &a));
	ocf_close(NULL);
	ocf_forget(NULL);
}

/*
 * The descriptor's number belongs to another file after a close; libocf must
 * not close that file.
 */
TEST_F(crypt, forgotten)
{
	struct ocf *ocf;
	int fd, other;

	ASSERT_EQ(0, ocf_open(&ocf));
	fd = ocf_fd(ocf);
	close(fd);
	other = open("/dev/null", O_RDWR | O_CLOEXEC);
	EXPECT_EQ(fd, other);
	ocf_forget(ocf);
	EXPECT_EQ(0, close(other));
}

TEST_F(crypt, ciphers)
{
	uint32_t ses = session(self->ocf, OCF_MODE_CIPHER, "aes-cbc", "");
	struct ocf_session_query info;

	ASSERT_NE(0, ses);
	ASSERT_EQ(0, ocf_session_info(self->ocf, ses, &info));
	EXPECT_EQ(16, info.ivlen);
	EXPECT_EQ(16, info.block);
	ASSERT_EQ(LEN, ocf_cipher(self->ocf, ses, OCF_OP_ENCRYPT, key, 16,
				  self->in, self->out, LEN));
	EXPECT_NE(0, memcmp(self->in, self->out, LEN));
	ASSERT_EQ(LEN, ocf_cipher(self->ocf, ses, OCF_OP_DECRYPT, key, 16,
				  self->out, self->back, LEN));
	EXPECT_EQ(0, memcmp(self->in, self->back, LEN));
	EXPECT_EQ(-EINVAL, ocf_cipher(self->ocf, ses, OCF_OP_ENCRYPT, key, 17,
				      self->in, self->out, LEN));
	EXPECT_EQ(-EINVAL, ocf_cipher(self->ocf, ses, OCF_OP_ENCRYPT, key, 16,
				      self->in, self->out, 15));
	EXPECT_EQ(-E2BIG, ocf_cipher(self->ocf, ses, OCF_OP_ENCRYPT, key, 16,
				     self->in, self->out, 1ul << 32));
	EXPECT_EQ(-EFAULT, ocf_cipher(self->ocf, ses, OCF_OP_ENCRYPT, key, 16,
				      (void *)8, self->out, LEN));
	EXPECT_EQ(0, ocf_session_change(self->ocf, ses, key + 16, 16, NULL, 0));
	EXPECT_EQ(-EINVAL, ocf_session_change(self->ocf, ses, key, 1ul << 32,
					      NULL, 0));
	ASSERT_EQ(LEN, ocf_cipher(self->ocf, ses, OCF_OP_DECRYPT, key, 16,
				  self->out, self->back, LEN));
	EXPECT_NE(0, memcmp(self->in, self->back, LEN));
	EXPECT_EQ(0, ocf_session_destroy(self->ocf, ses));
	EXPECT_EQ(-EINVAL, ocf_session_destroy(self->ocf, ses));
	EXPECT_EQ(-EINVAL, ocf_session_info(self->ocf, ses, &info));
}

TEST_F(crypt, digests)
{
	/* FIPS 180-4's "abc" */
	static const uint8_t want[4] = { 0xba, 0x78, 0x16, 0xbf };
	uint32_t ses = session(self->ocf, OCF_MODE_DIGEST, "", "sha256");

	EXPECT_EQ(32, ocf_digest(self->ocf, ses, "abc", 3, self->tag));
	EXPECT_EQ(0, memcmp(want, self->tag, 4));
	EXPECT_EQ(-E2BIG, ocf_digest(self->ocf, ses, "", 1ul << 32, self->tag));
	EXPECT_EQ(-EINVAL, ocf_digest(self->ocf, 0, "abc", 3, self->tag));
}

static int is_all(const uint8_t *bytes, size_t len, uint8_t want)
{
	while (len && bytes[len - 1] == want)
		len--;
	return !len;
}

/*
 * The library writes nothing behind the program's structures, even if its own
 * are larger: $(GROWN) of libocf.mk.
 */
TEST_F(crypt, nothing_is_written_behind_structures)
{
	uint32_t ses = session(self->ocf, OCF_MODE_DIGEST, "", "sha256");
	struct {
		struct ocf_session_query	query;
		uint8_t				behind[64];
	} info;
	struct {
		struct ocf_algorithm		algorithm;
		uint8_t				behind[64];
	} a;

	memset(&info, 0x5a, sizeof(info));
	memset(&a, 0x5a, sizeof(a));
	EXPECT_EQ(0, ocf_session_info(self->ocf, ses, &info.query));
	EXPECT_EQ(32, info.query.maclen);
	EXPECT_TRUE(is_all(info.behind, sizeof(info.behind), 0x5a));
	EXPECT_EQ(0, ocf_algorithm(self->ocf, "sha256", &a.algorithm));
	EXPECT_EQ(32, a.algorithm.digest);
	EXPECT_TRUE(is_all(a.behind, sizeof(a.behind), 0x5a));
}

/* No MAC is made without a nonce of the caller. */
TEST_F(crypt, nonces_of_macs)
{
	struct ocf_session_open params = {
		.mode = OCF_MODE_DIGEST, .mac = "aes-gmac", .mackey = addr(key),
		.mackeylen = 16,
	};
	uint8_t other[16];

	ASSERT_EQ(0, ocf_session_create(self->ocf, &params));
	EXPECT_EQ(-EINVAL, ocf_digest(self->ocf, params.session, "abc", 3,
				      self->tag));
	EXPECT_EQ(-EINVAL, ocf_mac(self->ocf, params.session, NULL, 0, "abc", 3,
				   self->tag));
	EXPECT_EQ(-EINVAL, ocf_mac(self->ocf, params.session, key, 11, "abc", 3,
				   self->tag));
	EXPECT_EQ(16, ocf_mac(self->ocf, params.session, key, 12, "abc", 3,
			      self->tag));
	EXPECT_EQ(16, ocf_mac(self->ocf, params.session, key + 1, 12, "abc", 3,
			      other));
	EXPECT_NE(0, memcmp(self->tag, other, 16));
}

TEST_F(crypt, sealed)
{
	static const struct {
		enum ocf_mode mode;
		const char *cipher, *mac;
		int ivlen;
	} ways[] = {
		{ OCF_MODE_AEAD, "aes-gcm", "", 12 },
		{ OCF_MODE_ETA, "aes-cbc", "hmac-sha256", 16 },
	};
	uint32_t ses;
	size_t i;

	for (i = 0; i < 2; i++) {
		ses = session(self->ocf, ways[i].mode, ways[i].cipher,
			      ways[i].mac);
		ASSERT_NE(0, ses);
		memset(self->back, 0, LEN);
		ASSERT_EQ(LEN, ocf_seal(self->ocf, ses, key, ways[i].ivlen,
					"head", 4, self->in, LEN, self->out,
					self->tag));
		self->tag[3] ^= 1;
		EXPECT_EQ(-EBADMSG, ocf_unseal(self->ocf, ses, key,
					       ways[i].ivlen, "head", 4,
					       self->out, LEN, self->back,
					       self->tag));
		EXPECT_EQ(0, self->back[0] | self->back[LEN - 1]);
		self->tag[3] ^= 1;
		EXPECT_EQ(-EBADMSG, ocf_unseal(self->ocf, ses, key,
					       ways[i].ivlen, "heat", 4,
					       self->out, LEN, self->back,
					       self->tag));
		ASSERT_EQ(LEN, ocf_unseal(self->ocf, ses, key, ways[i].ivlen,
					  "head", 4, self->out, LEN,
					  self->back, self->tag));
		EXPECT_EQ(0, memcmp(self->in, self->back, LEN));
		EXPECT_EQ(-E2BIG, ocf_seal(self->ocf, ses, key, ways[i].ivlen,
					   "", 1ul << 32, self->in, LEN,
					   self->out, self->tag));
		EXPECT_EQ(-EINVAL, ocf_seal(self->ocf, ses, key, 17, "", 0,
					    self->in, LEN, self->out,
					    self->tag));
	}
}

/*
 * Scattered data in pieces of every kind, and a destination that is too small.
 */
TEST_F(crypt, scattered)
{
	uint32_t ses = session(self->ocf, OCF_MODE_AEAD, "aes-gcm", "");
	struct ocf_command c = {
		.session = ses, .src = addr(self->in), .dst = addr(self->out),
		.len = LEN, .tag = addr(self->tag),
	};
	struct iovec from[3] = {
		{ self->in, 1 }, { NULL, 0 }, { self->in + 1, LEN - 1 },
	};
	struct iovec to[4] = {
		{ self->back, 1000 }, { self->back + 1000, 1 }, { NULL, 0 },
		{ self->back + 1001, LEN - 1001 },
	};
	uint8_t tag[16];

	ASSERT_EQ(LEN, ocf_run(self->ocf, &c));
	memcpy(tag, self->tag, 16);
	ASSERT_EQ(LEN, ocf_run_scatter(self->ocf, &c, from, 3, to, 4));
	EXPECT_EQ(0, memcmp(self->out, self->back, LEN));
	EXPECT_EQ(0, memcmp(tag, self->tag, 16));
	to[3].iov_len--;
	EXPECT_EQ(-ENOSPC, ocf_run_scatter(self->ocf, &c, from, 3, to, 4));
	to[3].iov_len = SIZE_MAX;
	from[0].iov_len = SIZE_MAX;
	EXPECT_EQ(-E2BIG, ocf_run_scatter(self->ocf, &c, from, 3, to, 4));
	from[0].iov_len = 1;
	/* in place */
	EXPECT_EQ(LEN, ocf_run_scatter(self->ocf, &c, from, 3, NULL, 0));
	EXPECT_EQ(0, memcmp(self->out, self->in, LEN));
	c.session = 0;
	EXPECT_EQ(-EINVAL, ocf_run_scatter(self->ocf, &c, from, 3, to, 4));
}

TEST_F(crypt, scattered_digests_and_records)
{
	uint32_t ses = session(self->ocf, OCF_MODE_DIGEST, "", "sha256");
	struct iovec abc[2] = { { "a", 1 }, { "bc", 2 } };
	uint8_t want[32], record[100], payload[50];
	struct iovec out[2] = { { record, 7 }, { record + 7, 93 } };
	struct iovec back[1] = { { payload, 50 } };
	struct ocf_command c = { .session = ses, .tag = addr(want) };
	struct iovec in[1] = { { self->in, 50 } };

	ASSERT_EQ(32, ocf_digest(self->ocf, ses, "abc", 3, self->tag));
	ASSERT_EQ(32, ocf_run_scatter(self->ocf, &c, abc, 2, NULL, 0));
	EXPECT_EQ(0, memcmp(want, self->tag, 32));
	/* a result longer than the input, and back */
	ses = session(self->ocf, OCF_MODE_MTE, "aes-cbc", "hmac-sha256");
	ASSERT_NE(0, ses);
	c = (struct ocf_command){
		.session = ses, .dst_len = 96, .aad = addr("header"),
		.auth_len = 6,
	};
	ASSERT_EQ(96, ocf_run_scatter(self->ocf, &c, in, 1, out, 2));
	out[1].iov_len = 96 - 7;
	c.dst_len = 0;
	c.op = OCF_OP_DECRYPT;
	ASSERT_EQ(50, ocf_run_scatter(self->ocf, &c, out, 2, back, 1));
	EXPECT_EQ(0, memcmp(self->in, payload, 50));
	record[20] ^= 1;
	EXPECT_EQ(-EBADMSG, ocf_run_scatter(self->ocf, &c, out, 2, back, 1));
}

/* The ranges of a chain must lie inside the gathered data. */
TEST_F(crypt, scattered_chains)
{
	uint32_t ses = session(self->ocf, OCF_MODE_CHAIN, "aes-cbc",
			       "hmac-sha256");
	struct ocf_command c = {
		.session = ses, .len = 16, .data_start = 16, .auth_len = 48,
		.tag = addr(self->tag),
	};
	struct iovec in[2] = { { self->in, 20 }, { self->in + 20, 28 } };
	struct iovec out[1] = { { self->out, 48 } };

	ASSERT_NE(0, ses);
	EXPECT_EQ(16, ocf_run_scatter(self->ocf, &c, in, 2, out, 1));
	EXPECT_EQ(0, memcmp(self->in, self->out, 16));
	EXPECT_NE(0, memcmp(self->in + 16, self->out + 16, 16));
	EXPECT_EQ(0, memcmp(self->in + 32, self->out + 32, 16));
	c.len = 64;
	EXPECT_EQ(-EINVAL, ocf_run_scatter(self->ocf, &c, in, 2, out, 1));
	c.len = 16;
	c.data_start = 33;
	EXPECT_EQ(-EINVAL, ocf_run_scatter(self->ocf, &c, in, 2, out, 1));
	c.data_start = 16;
	c.auth_start = 1;
	EXPECT_EQ(-EINVAL, ocf_run_scatter(self->ocf, &c, in, 2, out, 1));
	c.auth_start = UINT64_MAX;
	EXPECT_EQ(-EINVAL, ocf_run_scatter(self->ocf, &c, in, 2, out, 1));
}

/* A nonce that is too long or too short is refused. */
TEST_F(crypt, ivs_of_other_lengths)
{
	uint32_t gcm = session(self->ocf, OCF_MODE_AEAD, "aes-gcm", "");
	uint32_t cbc = session(self->ocf, OCF_MODE_CIPHER, "aes-cbc", "");
	size_t n;

	for (n = 0; n < 17; n++) {
		EXPECT_EQ(n == 12 ? 16 : -EINVAL,
			  ocf_seal(self->ocf, gcm, key, n, "", 0, self->in, 16,
				   self->out, self->tag));
		EXPECT_EQ(n == 16 ? 16 : -EINVAL,
			  ocf_cipher(self->ocf, cbc, OCF_OP_ENCRYPT, key, n,
				     self->in, self->out, 16));
	}
}

/* A call for sessions of another mode fails with EINVAL. */
TEST_F(crypt, calls_of_other_sessions)
{
	uint32_t gcm = session(self->ocf, OCF_MODE_AEAD, "aes-gcm", "");
	uint32_t cbc = session(self->ocf, OCF_MODE_CIPHER, "aes-cbc", "");

	EXPECT_EQ(-EINVAL, ocf_cipher(self->ocf, gcm, OCF_OP_ENCRYPT, key, 12,
				      self->in, self->out, 16));
	EXPECT_EQ(-EINVAL, ocf_mac(self->ocf, cbc, key, 16, self->in, 16,
				   self->tag));
	EXPECT_EQ(-EFAULT, ocf_cipher(self->ocf, cbc, OCF_OP_ENCRYPT, key, 16,
				      self->in, NULL, 16));
	EXPECT_EQ(-EINVAL, ocf_seal(self->ocf, gcm, NULL, 12, "", 0, self->in,
				    16, self->out, self->tag));
	EXPECT_EQ(-EINVAL, ocf_unseal(self->ocf, gcm, NULL, 12, "", 0, self->in,
				      16, self->out, self->tag));
}

TEST_F(crypt, more_than_a_vector)
{
	uint32_t ses = session(self->ocf, OCF_MODE_CIPHER, "aes-ctr", "");
	struct ocf_command c[3 * OCF_VECTOR_MAX + 1];
	struct ocf_result r[3 * OCF_VECTOR_MAX + 1];
	int i, n = 3 * OCF_VECTOR_MAX + 1;

	for (i = 0; i < n; i++)
		c[i] = (struct ocf_command){
			.cookie = i, .session = i % 5 ? ses : 0, .len = i,
			.src = addr(self->in), .dst = addr(self->out),
		};
	ASSERT_EQ(0, ocf_run_many(self->ocf, c, r, n));
	for (i = 0; i < n; i++) {
		EXPECT_EQ(i, r[i].cookie);
		EXPECT_EQ(i % 5 ? i : -EINVAL, r[i].res);
	}
	EXPECT_EQ(0, ocf_run_many(self->ocf, NULL, NULL, 0));
	EXPECT_EQ(-EFAULT, ocf_run_many(self->ocf, c, NULL, 1));
}

/* Whether @op_ is refused with EINVAL, and ocf_strerror() has the reason. */
#define REFUSES(op_, why_)						\
	(ocf_public_run(self->ocf, op_) == -EINVAL &&			\
	 strstr(ocf_strerror(-EINVAL), why_))

TEST_F(crypt, public_keys)
{
	/* 3 ^ 5 modulo 7, and X25519 (RFC 7748) of a small point */
	static const uint8_t three = 3, five = 5, seven = 7;
	static const uint8_t zero[32];
	struct ocf_public power = {
		.code = OCF_PK_MOD_EXP,
		.in = { { (void *)&three, 1 }, { (void *)&five, 1 },
			{ (void *)&seven, 1 } },
		.out = { { self->out, 4 } },
	};
	struct ocf_public x25519 = {
		.code = OCF_PK_X25519,
		.in = { { (void *)key, 32 }, { (void *)zero, 32 } },
		.out = { { self->out, 32 } },
	};

	ASSERT_EQ(4, ocf_public_run(self->ocf, &power));
	EXPECT_EQ(5, self->out[3]);
	EXPECT_EQ(0, self->out[0] | self->out[1] | self->out[2]);
	EXPECT_EQ(-EKEYREJECTED, ocf_public_run(self->ocf, &x25519));
	EXPECT_NE(NULL, strstr(ocf_strerror(-EKEYREJECTED), "peer's value"));
	x25519.in[1].iov_len = 31;
	EXPECT_TRUE(REFUSES(&x25519, "second value"));
	power.code = OCF_PK_COUNT;
	EXPECT_TRUE(REFUSES(&power, "no such public-key operation"));
	power.code = OCF_PK_MOD_EXP;
	power.hash = "a-digest-of-a-long-name";
	EXPECT_TRUE(REFUSES(&power, "hash is unknown"));
	power.hash = "sha256";
	EXPECT_TRUE(REFUSES(&power, "operation does not take it"));
	power.hash = NULL;
	power.curve = OCF_PK_CURVES;
	EXPECT_TRUE(REFUSES(&power, "curve is unknown"));
	power.curve = OCF_PK_NO_CURVE;
	power.device = "nothing";
	EXPECT_EQ(-ENODEV, ocf_public_run(self->ocf, &power));
	EXPECT_NE(NULL, strstr(ocf_strerror(-ENODEV), "with this name"));
	power.device = NULL;
	power.in[0].iov_len = 1ul << 32;
	EXPECT_TRUE(REFUSES(&power, "first value"));
	/* two errors with the same number have different texts */
	x25519.in[1].iov_len = UINT_MAX;
	EXPECT_EQ(-E2BIG, ocf_public_run(self->ocf, &x25519));
	EXPECT_NE(NULL, strstr(ocf_strerror(-E2BIG), "second value"));
	EXPECT_EQ(-E2BIG, ocf_mac(self->ocf, 1, NULL, 0, key, 1ul << 32,
				  self->out));
	EXPECT_NE(NULL, strstr(ocf_strerror(-E2BIG), "data of this length"));
}

TEST_F(crypt, random_numbers)
{
	uint8_t a[1000] = {}, b[1000] = {};

	EXPECT_EQ(0, ocf_random(a, sizeof(a)));
	EXPECT_EQ(0, ocf_random(b, sizeof(b)));
	EXPECT_NE(0, memcmp(a, b, sizeof(a)));
	EXPECT_EQ(0, ocf_random(NULL, 0));
}

/* A child has the same sessions. */
TEST_F(crypt, forked)
{
	uint32_t ses = session(self->ocf, OCF_MODE_DIGEST, "", "sha256");
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(ocf_digest(self->ocf, ses, "abc", 3, self->tag) != 32);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* An error's text is that of the thread's last call, not of an earlier one. */
TEST_F(crypt, sentences_name_the_parameter)
{
	static const struct {
		const char *cipher;
		uint32_t keylen, ivlen, flags;
		const char *says;
	} rows[] = {
		{ "aes-cbc", 15, 0, 0, "key of this length" },
		{ "aes-129", 16, 0, 0, "cipher is unknown" },
		{ "aes-cbc", 16, 8, 0, "IV of this length" },
		{ "aes-cbc", 16, 0, 1u << 31, "flag is unknown" },
		{ "des-cbc", 8, 0, 0, "allow_weak" },
	};
	struct ocf_session_open o;
	unsigned int i;
	uint32_t ses;
	int err;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		o = (struct ocf_session_open){
			.mode = OCF_MODE_CIPHER, .key = addr(key),
			.keylen = rows[i].keylen, .ivlen = rows[i].ivlen,
			.flags = rows[i].flags,
		};
		strcpy(o.cipher, rows[i].cipher);
		err = ocf_session_create(self->ocf, &o);
		EXPECT_GT(0, err);
		EXPECT_NE(NULL, strstr(ocf_strerror(err), rows[i].says)) {
			TH_LOG("row %u: %s", i, ocf_strerror(err));
		}
	}
	o = (struct ocf_session_open){ .mode = OCF_MODE_CIPHER };
	EXPECT_EQ(-EINVAL, ocf_session_create(self->ocf, &o));
	EXPECT_EQ(-EINVAL, ocf_session_destroy(self->ocf, 12345));
	EXPECT_EQ(NULL, strstr(ocf_strerror(-EINVAL), "cipher"));
	/* a command's error says more than "do not fit together" */
	EXPECT_EQ(-EINVAL, ocf_run(self->ocf, &(struct ocf_command){
					.session = 12345 }));
	EXPECT_NE(NULL, strstr(ocf_strerror(-EINVAL), "no such session"));
	/* other keys: the length, or the session */
	ses = session(self->ocf, OCF_MODE_CIPHER, "aes-cbc", "");
	EXPECT_EQ(-EINVAL,
		  ocf_session_change(self->ocf, ses, key, 15, NULL, 0));
	EXPECT_NE(NULL, strstr(ocf_strerror(-EINVAL), "key of this length"));
	EXPECT_EQ(-EINVAL,
		  ocf_session_change(self->ocf, 12345, key, 16, NULL, 0));
	EXPECT_NE(NULL, strstr(ocf_strerror(-EINVAL), "no such session"));
	/* a caller with the new structure reads the field itself */
	o.size = sizeof(o);
	EXPECT_EQ(-EINVAL, ocf_session_create(self->ocf, &o));
	EXPECT_EQ((uint32_t)OCF_FIELD_CIPHER, o.wrong);
}

TEST(sentences)
{
	struct ocf *ocf = NULL;
	int i;

	for (i = 0; i < 200; i++)
		EXPECT_LT(5, strlen(ocf_strerror(-i)));
	EXPECT_NE(NULL, strstr(ocf_strerror(-ENODEV), "modprobe ocf_cdev"));
	ASSERT_EQ(0, rename("/dev/crypto", "/dev/away"));
	EXPECT_EQ(-ENODEV, ocf_open(&ocf));
	ASSERT_EQ(0, symlink("/dev/null", "/dev/crypto"));
	EXPECT_EQ(-EPROTO, ocf_open(&ocf));
	ASSERT_EQ(0, rename("/dev/away", "/dev/crypto"));
	EXPECT_EQ(NULL, ocf);
}

TEST_HARNESS_MAIN
