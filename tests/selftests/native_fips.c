// SPDX-License-Identifier: BSD-2-Clause
/*
 * A kernel that was booted with fips=1 offers no algorithm that FIPS 140
 * forbids, and all others.
 */
#include <kselftest_harness.h>

#include "differ.h"
#include "native.h"

/*
 * Algorithms that this test does not expect: null0 has the null transform, and
 * the kernel's GHASH is for GCM only.
 */
static bool is_elsewhere(const char *name)
{
	return !strcmp(name, "null") || !strcmp(name, "null-mac") ||
	       !strcmp(name, "aes-gmac");
}

static uint8_t key_bytes[512] = "bytes that differ, as those of XTS must";

static int open_one(int fd, const struct alg *a, uint32_t keylen)
{
	struct ocf_session_open o = { .ivlen = a->iv };

	o.mode = a->kind == CIPHER ? OCF_MODE_CIPHER :
		 a->kind == AEAD ? OCF_MODE_AEAD : OCF_MODE_DIGEST;
	if (a->kind == CIPHER || a->kind == AEAD) {
		strcpy(o.cipher, a->name);
		o.key = addr(key_bytes);
		o.keylen = keylen;
	} else {
		strcpy(o.mac, a->name);
		o.mackey = keylen ? addr(key_bytes) : 0;
		o.mackeylen = keylen;
	}
	return native_open(fd, &o);
}

TEST(every_algorithm)
{
	int i, err, want, fd = open_dev();

	ASSERT_LE(0, fd);
	for (i = 0; i < nalgs; i++) {
		if (is_elsewhere(algs[i].name))
			continue;
		err = open_one(fd, &algs[i], algs[i].key_max);
		want = !fips_forbids(algs[i].name) ? 0 :
		       strstr(algs[i].name, "md5") ||
		       !strcmp(algs[i].name, "des-cbc") ? EPERM : EOPNOTSUPP;
		EXPECT_EQ(want, err) {
			TH_LOG("%s", algs[i].name);
		}
	}
	close(fd);
}

TEST(keys)
{
	int fd = open_dev();

	ASSERT_LE(0, fd);
	EXPECT_EQ(EINVAL, open_one(fd, alg_named("hmac-sha256"),
				   FIPS_HMAC_KEY_MIN - 1));
	EXPECT_EQ(0, open_one(fd, alg_named("hmac-sha256"), FIPS_HMAC_KEY_MIN));
	EXPECT_EQ(EINVAL, open_one(fd, alg_named("hmac-sha3-256"),
				   FIPS_HMAC_KEY_MIN - 1));
	EXPECT_EQ(EINVAL, open_one(fd, alg_named("aes-xts"), 48));
	EXPECT_EQ(0, open_one(fd, alg_named("aes-xts"), 32));
	memset(key_bytes, 'a', sizeof(key_bytes));
	EXPECT_EQ(EINVAL, open_one(fd, alg_named("aes-xts"), 32));
	close(fd);
}

/* Runs an RSA operation with a public key of this size in bytes. */
static int rsa(int fd, int code, int scheme, const char *hash,
	       uint32_t textlen, int bytes)
{
	uint8_t key[512], text[256] = { 1 }, out[512], label = 0;
	bool sign = code == OCF_PK_RSA_SIGN;
	struct ocf_pk_value values[4] = {
		{ .addr = addr(text), .len = textlen },
		{ .addr = addr(key), .len = native_rsa_key(key, bytes) },
		{ .addr = addr(&label), .len = 0 },
		{ .addr = addr(out), .len = bytes },
	};
	struct ocf_pk_command c = {
		.op = OCF_OP_PUBLIC_KEY, .code = code, .scheme = scheme,
		.in = sign ? 2 : 3, .out = 1, .values = addr(values),
	};

	strcpy(c.hash, hash);
	if (sign)
		values[2] = values[3];
	return native_run(fd, (const struct ocf_command *)&c);
}

TEST(public_keys)
{
	struct ocf_features f = { .size = sizeof(f) };
	int fd = open_dev();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, call(fd, OCF_FEATURES, &f));
	EXPECT_EQ((1u << OCF_PK_COUNT) - 1 -
		  (1u << OCF_PK_X25519 | 1u << OCF_PK_DSA_SIGN |
		   1u << OCF_PK_DH), f.public_key);
	EXPECT_EQ(256, rsa(fd, OCF_PK_RSA_ENCRYPT, OCF_PK_RAW, "", 100, 256));
	EXPECT_EQ(-EINVAL, rsa(fd, OCF_PK_RSA_ENCRYPT, OCF_PK_RAW, "", 100,
			       128));
	EXPECT_EQ(-EPERM, rsa(fd, OCF_PK_RSA_ENCRYPT, OCF_PK_PKCS1, "", 100,
			      256));
	EXPECT_EQ(-EPERM, rsa(fd, OCF_PK_RSA_SIGN, OCF_PK_PKCS1,
			      "sha1", 20, 256));
	close(fd);
}

TEST_HARNESS_MAIN
