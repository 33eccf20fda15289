// SPDX-License-Identifier: BSD-2-Clause
/*
 * The native interface: each error names the field of the call that caused it.
 */
#include <kselftest_harness.h>
#include <limits.h>

#include "native.h"

FIXTURE(fields)
{
	int fd;
	uint8_t in[4096], out[4096];
};

FIXTURE_SETUP(fields)
{
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	fill(self->in, sizeof(self->in), 2);
}

FIXTURE_TEARDOWN(fields)
{
	close(self->fd);
}

typedef struct _test_data_fields Self;

TEST_F(fields, of_openings)
{
	static const struct {
		int err;
		uint32_t wrong;
		struct ocf_session_open o;
	} rows[] = {
		{ EINVAL, OCF_FIELD_MODE, { .mode = OCF_MODE_NONE } },
		{ EINVAL, OCF_FIELD_MODE, { .mode = OCF_MODE_COUNT } },
		{ EINVAL, OCF_FIELD_CIPHER, { .mode = OCF_MODE_CIPHER } },
		{ EINVAL, OCF_FIELD_CIPHER,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-129" } },
		{ EINVAL, OCF_FIELD_CIPHER,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-gcm",
		    .keylen = 16 } },
		{ EINVAL, OCF_FIELD_MAC, { .mode = OCF_MODE_DIGEST } },
		{ EINVAL, OCF_FIELD_MAC,
		  { .mode = OCF_MODE_DIGEST, .mac = "sha-257" } },
		{ EINVAL, OCF_FIELD_MAC,
		  { .mode = OCF_MODE_MTE, .cipher = "aes-cbc", .keylen = 16,
		    .mac = "aes-cmac", .mackeylen = 16 } },
		{ EINVAL, OCF_FIELD_KEY,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc",
		    .keylen = 15 } },
		{ EINVAL, OCF_FIELD_KEY,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc" } },
		{ EINVAL, OCF_FIELD_MACKEY,
		  { .mode = OCF_MODE_DIGEST, .mac = "sha256",
		    .mackeylen = 1 } },
		{ EINVAL, OCF_FIELD_MACKEY,
		  { .mode = OCF_MODE_ETA, .cipher = "aes-cbc", .keylen = 16,
		    .mac = "sha256" } },
		{ EINVAL, OCF_FIELD_IV,
		  { .mode = OCF_MODE_AEAD, .cipher = "aes-gcm", .keylen = 16,
		    .ivlen = 13 } },
		{ EINVAL, OCF_FIELD_MACLEN,
		  { .mode = OCF_MODE_AEAD, .cipher = "aes-gcm", .keylen = 16,
		    .maclen = 17 } },
		{ EINVAL, OCF_FIELD_ROUNDS,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .keylen = 16,
		    .rounds = 12 } },
		{ EINVAL, OCF_FIELD_FLAGS,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .keylen = 16,
		    .flags = 1u << 31 } },
		{ EINVAL, OCF_FIELD_FLAGS,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .keylen = 16,
		    .flags = OCF_SESSION_MTE_LENGTH } },
		{ EINVAL, OCF_FIELD_POLICY,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .keylen = 16,
		    .policy = 9 } },
		{ EINVAL, OCF_FIELD_SESSION,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .keylen = 16,
		    .session = 1 } },
		{ ENODEV, OCF_FIELD_DEVICE,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .keylen = 16,
		    .device = "sim99" } },
		{ EPERM, OCF_FIELD_CIPHER,
		  { .mode = OCF_MODE_CIPHER, .cipher = "des-cbc",
		    .keylen = 8 } },
		{ EPERM, OCF_FIELD_MAC,
		  { .mode = OCF_MODE_DIGEST, .mac = "md5" } },
		{ EINVAL, OCF_FIELD_KEY,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc",
		    .keylen = 600 } },
		{ EINVAL, OCF_FIELD_PAD,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .keylen = 16,
		    .pad = 1 } },
		{ EFAULT, OCF_FIELD_NONE,
		  { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .key = 1,
		    .keylen = 16 } },
	};
	struct ocf_session_open o;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		o = rows[i].o;
		o.size = sizeof(o);
		o.key = o.key ?: addr(self->in);
		o.mackey = addr(self->in);
		o.wrong = 99;
		EXPECT_EQ(rows[i].err, call(self->fd, OCF_SESSION_OPEN, &o));
		EXPECT_EQ(rows[i].wrong, o.wrong) {
			TH_LOG("row %u", i);
		}
	}
	/* a structure of an older version, without the field */
	o = rows[0].o;
	o.size = OCF_SESSION_OPEN_SIZE_VER0;
	o.wrong = 99;
	EXPECT_EQ(EINVAL, call(self->fd, OCF_SESSION_OPEN, &o));
	EXPECT_EQ(99u, o.wrong);
}

TEST_F(fields, of_commands)
{
	static const struct {
		struct ocf_session_open o;
		struct ocf_command c;
		int err;
		uint32_t wrong;
	} rows[] = {
#define CBC { .mode = OCF_MODE_CIPHER, .cipher = "aes-cbc", .keylen = 16 }
#define GCM { .mode = OCF_MODE_AEAD, .cipher = "aes-gcm", .keylen = 16 }
#define SHA { .mode = OCF_MODE_DIGEST, .mac = "sha256" }
#define MTE { .mode = OCF_MODE_MTE, .cipher = "aes-cbc", .keylen = 16, \
	      .mac = "hmac-sha1", .mackeylen = 20 }
#define CHAIN { .mode = OCF_MODE_CHAIN, .cipher = "aes-cbc", .keylen = 16, \
		.mac = "hmac-sha1", .mackeylen = 20 }
#define ETA { .mode = OCF_MODE_ETA, .cipher = "aes-cbc", .keylen = 16, \
	      .mac = "hmac-sha1", .mackeylen = 20 }
#define ZIP { .mode = OCF_MODE_COMPRESS, .cipher = "deflate" }
		{ CBC, { .session = 1 }, EINVAL, OCF_FIELD_SESSION },
		{ CBC, { .flags = 1u << 15 }, EINVAL, OCF_FIELD_FLAGS },
		{ CBC, { .flags = OCF_COMMAND_VERIFY }, EINVAL,
		  OCF_FIELD_FLAGS },
		{ SHA, { .flags = OCF_COMMAND_MORE, .tag = 1 }, EINVAL,
		  OCF_FIELD_FLAGS },
		{ CBC, { .op = OCF_OP_COUNT }, EINVAL, OCF_FIELD_OP },
		{ CBC, { .ivlen = 8 }, EINVAL, OCF_FIELD_IV },
		{ GCM, { .ivlen = 17 }, EINVAL, OCF_FIELD_IV },
		{ SHA, { .dst = 1 }, EINVAL, OCF_FIELD_DST },
		{ CBC, { .tag = 1 }, EINVAL, OCF_FIELD_TAG },
		{ CBC, { .auth_len = 1 }, EINVAL, OCF_FIELD_AUTH },
		{ CBC, { .aad = 1 }, EINVAL, OCF_FIELD_AUTH },
		{ CBC, { .dst_len = 16 }, EINVAL, OCF_FIELD_DST_LEN },
		{ CBC, { .pad = 1 }, EINVAL, OCF_FIELD_PAD },
		{ SHA, { .flags = OCF_COMMAND_CONTINUE }, EINVAL,
		  OCF_FIELD_FLAGS },
		{ CBC, { .len = 15 }, EINVAL, OCF_FIELD_LEN },
		{ CBC, { .len = 0 }, EINVAL, OCF_FIELD_LEN },
		{ ETA, { .len = 15 }, EINVAL, OCF_FIELD_LEN },
		{ CHAIN, { .len = 16, .data_start = 1u << 25 }, E2BIG,
		  OCF_FIELD_LEN },
		{ CHAIN, { .len = 16, .auth_start = 1u << 25 }, E2BIG,
		  OCF_FIELD_AUTH },
		{ CBC, { .len = 1u << 31 }, E2BIG, OCF_FIELD_LEN },
		{ GCM, { .len = 16, .auth_len = 1u << 31 }, E2BIG,
		  OCF_FIELD_AUTH },
		{ MTE, { .len = 16, .dst_len = 16 }, EINVAL,
		  OCF_FIELD_DST_LEN },
		{ MTE, { .len = 16, .dst_len = 47 }, EINVAL,
		  OCF_FIELD_DST_LEN },
		{ MTE, { .len = 12, .dst_len = 32 }, EINVAL,
		  OCF_FIELD_DST_LEN },
		{ MTE, { .op = OCF_OP_DECRYPT, .len = 47 }, EINVAL,
		  OCF_FIELD_LEN },
		{ MTE, { .op = OCF_OP_DECRYPT, .len = 16 }, EINVAL,
		  OCF_FIELD_LEN },
		{ MTE, { .op = OCF_OP_DECRYPT, .len = 48, .dst_len = 48 },
		  EINVAL, OCF_FIELD_DST_LEN },
		{ ZIP, { .dst_len = 64 }, EINVAL, OCF_FIELD_LEN },
		{ ZIP, { .len = 64 }, EINVAL, OCF_FIELD_DST_LEN },
		{ ZIP, { .len = 64, .dst_len = 64 }, EINVAL, OCF_FIELD_DST },
		/* no stream to expand */
		{ ZIP, { .op = OCF_OP_DECRYPT, .dst = 1, .len = 64,
			 .dst_len = 64 }, EINVAL, OCF_FIELD_NONE },
		/*
		 * no field itself is wrong, but the memory at src cannot be
		 * read
		 */
		{ CBC, { .src = 1, .len = 16 }, EFAULT, OCF_FIELD_NONE },
	};
	struct ocf_session_open o;
	struct ocf_result r;
	struct ocf_command c;
	struct ocf_vector v = {
		.commands = addr(&c), .results = addr(&r), .count = 1,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		o = rows[i].o;
		o.size = sizeof(o);
		o.key = addr(self->in);
		o.mackey = o.mackeylen ? addr(self->in) : 0;
		ASSERT_EQ(0, call(self->fd, OCF_SESSION_OPEN, &o));
		c = rows[i].c;
		c.session = c.session ? o.session + 1000 : o.session;
		c.src = c.src ?: addr(self->in);
		if (o.mode != OCF_MODE_DIGEST)
			c.dst = c.dst ? addr(self->out) : c.src;
		memset(self->in, 0xff, 64);
		memset(&r, 0xff, sizeof(r));
		EXPECT_EQ(0, call(self->fd, OCF_RUN, &v));
		EXPECT_EQ(-rows[i].err, r.res);
		EXPECT_EQ(rows[i].wrong, r.wrong) {
			TH_LOG("row %u", i);
		}
		EXPECT_EQ(0, call(self->fd, OCF_SESSION_CLOSE, &o.session));
	}
}

/* After an error the old keys stay. */
TEST_F(fields, of_rekeys)
{
	const uint64_t key = addr(self->in);
	const struct {
		int err;
		uint32_t wrong;
		struct ocf_session_rekey r;
	} rows[] = {
		{ EINVAL, OCF_FIELD_KEY, { .keylen = 0 } },
		{ EINVAL, OCF_FIELD_KEY, { .keylen = 16 } },
		{ EINVAL, OCF_FIELD_KEY, { .key = key } },
		{ EINVAL, OCF_FIELD_KEY, { .key = key, .keylen = 17 } },
		{ EINVAL, OCF_FIELD_KEY, { .key = key, .keylen = 600 } },
		{ EINVAL, OCF_FIELD_MACKEY,
		  { .key = key, .keylen = 16, .mackeylen = 16 } },
		{ EINVAL, OCF_FIELD_MACKEY,
		  { .key = key, .keylen = 16, .mackey = key,
		    .mackeylen = 16 } },
		{ EINVAL, OCF_FIELD_MACKEY,
		  { .key = key, .keylen = 16, .mackey = key,
		    .mackeylen = UINT_MAX } },
		{ EFAULT, OCF_FIELD_NONE, { .key = 8, .keylen = 16 } },
		{ EFAULT, OCF_FIELD_NONE, { .mackey = 8, .mackeylen = 16 } },
		{ EINVAL, OCF_FIELD_SESSION,
		  { .session = UINT_MAX, .key = key, .keylen = 16 } },
		{ EINVAL, OCF_FIELD_PAD,
		  { .key = key, .keylen = 16, .pad = 1 } },
	};
	struct ocf_session_open o = {
		.mode = OCF_MODE_AEAD, .cipher = "aes-gcm", .key = key,
		.keylen = 16,
	};
	struct ocf_command c = {
		.src = key, .dst = addr(self->out), .len = 100,
		.tag = addr(self->out + 100), .iv = "twelve bytes",
	};
	struct ocf_session_rekey r;
	uint8_t was[100];
	unsigned int i;

	ASSERT_EQ(0, native_open(self->fd, &o));
	c.session = o.session;
	ASSERT_EQ(100, native_run(self->fd, &c));
	memcpy(was, self->out, 100);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		r = rows[i].r;
		r.size = sizeof(r);
		r.session = r.session ?: o.session;
		r.wrong = 99;
		EXPECT_EQ(rows[i].err, call(self->fd, OCF_SESSION_REKEY, &r));
		EXPECT_EQ(rows[i].wrong, r.wrong) {
			TH_LOG("row %u", i);
		}
		ASSERT_EQ(100, native_run(self->fd, &c));
		EXPECT_EQ(0, memcmp(was, self->out, 100));
	}
	/* a structure of an older version, without the field */
	r = rows[0].r;
	r.size = OCF_SESSION_REKEY_SIZE_VER0;
	r.wrong = 99;
	EXPECT_EQ(EINVAL, call(self->fd, OCF_SESSION_REKEY, &r));
	EXPECT_EQ(99u, r.wrong);
}

/*
 * Each row is a command with its values.  The key of an RSA operation is valid
 * where its length is RSA, and its modulus begins with 0xd5.
 */
#define RSA	9999			/* replaced by the length of the key */
#define SIGN	.code = OCF_PK_RSA_SIGN, .in = 2, .out = 1
#define ENCRYPT	.code = OCF_PK_RSA_ENCRYPT, .in = 3, .out = 1
#define VERIFY	.code = OCF_PK_RSA_VERIFY, .in = 3
#define ECDSA	.code = OCF_PK_ECDSA_SIGN, .in = 2, .out = 2
#define X25519	.code = OCF_PK_X25519, .in = 2, .out = 1
#define DH	.code = OCF_PK_DH, .in = 3, .out = 1
#define NTH(i)	(OCF_FIELD_VALUE + (i))
static const struct {
	struct ocf_pk_command c;
	struct ocf_pk_value v[4];
	int err;
	uint32_t wrong;
} public_rows[] = {
	{ { X25519 }, { { .len = 32 }, { .len = 32 }, { .len = 32 } },
	  0, OCF_FIELD_NONE },
	{ { X25519, .none = 1 }, {}, EINVAL, OCF_FIELD_SESSION },
	{ { X25519, .scheme = OCF_PK_SCHEMES }, {}, EINVAL,
	  OCF_FIELD_SCHEME },
	{ { X25519, .curve = OCF_PK_CURVES }, {}, EINVAL,
	  OCF_FIELD_CURVE },
	{ { X25519, .policy = 9 }, {}, EINVAL, OCF_FIELD_POLICY },
	{ { X25519, .flags = 1u << 31 }, {}, EINVAL, OCF_FIELD_FLAGS },
	{ { X25519, .salt = 1 }, {}, EINVAL, OCF_FIELD_SALT },
	{ { X25519, .hash = "a\0b" }, {}, EINVAL, OCF_FIELD_HASH },
	{ { X25519, .device = "a\0b" }, {}, EINVAL, OCF_FIELD_DEVICE },
	{ { X25519, .device = "sim99" }, {}, ENODEV,
	  OCF_FIELD_DEVICE },
	{ { .code = OCF_PK_COUNT }, {}, EINVAL, OCF_FIELD_CODE },
	{ { .code = OCF_PK_X25519, .in = 3, .out = 1 }, {}, EINVAL,
	  OCF_FIELD_VALUES },
	{ { .code = OCF_PK_X25519, .in = 2, .out = 2 }, {}, EINVAL,
	  OCF_FIELD_VALUES },
	{ { X25519, .hash = "sha257" }, {}, EINVAL, OCF_FIELD_HASH },
	{ { X25519, .hash = "sha256" }, {}, EINVAL, OCF_FIELD_HASH },
	{ { X25519, .curve = OCF_PK_P256 }, {}, EINVAL,
	  OCF_FIELD_CURVE },
	{ { X25519, .scheme = OCF_PK_PKCS1 }, {}, EINVAL,
	  OCF_FIELD_SCHEME },
	{ { X25519 }, { { .pad = 1 } }, EINVAL, OCF_FIELD_PAD },
	{ { X25519 }, { { .len = 31 }, { .len = 32 }, { .len = 32 } },
	  EINVAL, NTH(0) },
	{ { X25519 }, { { .len = 32 }, { .len = 33 }, { .len = 32 } },
	  EINVAL, NTH(1) },
	{ { X25519 }, { { .len = 32 }, { .len = 32 } }, EINVAL,
	  NTH(2) },
	{ { X25519 }, { { .len = 32 }, { .len = UINT_MAX } }, E2BIG,
	  NTH(1) },
	{ { X25519 }, { { .len = 32 }, { .len = 4000 } }, E2BIG,
	  NTH(1) },
	{ { X25519 },
	  { { .len = 32 }, { .len = 32 }, { .len = 4000 } }, E2BIG,
	  NTH(2) },
	{ { X25519 }, { { .addr = 8, .len = 32 } }, EFAULT,
	  OCF_FIELD_NONE },
	{ { ECDSA }, { { .len = 32 }, { .len = 32 } }, EINVAL,
	  OCF_FIELD_CURVE },
	{ { .code = OCF_PK_ECDH, .in = 2, .out = 1,
	    .curve = OCF_PK_P256 },
	  { { .len = 32 }, { .len = 65 }, { .len = 32 } },
	  EKEYREJECTED, NTH(1) },
	/* all zeros: the memory behind the destination */
	{ { DH }, { { .addr = 1, .len = 8 }, { .len = 8 },
		    { .len = 8 }, { .len = 8 } }, EDOM, NTH(0) },
	{ { DH }, { { .len = 8 }, { .addr = 1, .len = 8 },
		    { .len = 8 }, { .len = 8 } }, EKEYREJECTED,
	  NTH(1) },
	{ { DH }, { { .len = 8 }, { .len = 8 },
		    { .addr = 1, .len = 8 }, { .len = 8 } }, EDOM,
	  NTH(2) },
	{ { SIGN, .scheme = OCF_PK_OAEP, .hash = "sha256" }, {},
	  EINVAL, OCF_FIELD_SCHEME },
	{ { SIGN, .scheme = OCF_PK_PSS }, {}, EINVAL,
	  OCF_FIELD_HASH },
	{ { SIGN, .scheme = OCF_PK_PKCS1, .hash = "hmac-sha256" }, {},
	  EINVAL, OCF_FIELD_HASH },
	{ { SIGN, .scheme = OCF_PK_PKCS1, .hash = "sha256" },
	  { { .len = 31 }, { .len = 64 }, { .len = 256 } }, EINVAL,
	  NTH(0) },
	{ { SIGN, .scheme = OCF_PK_PKCS1, .hash = "sha256" },
	  { { .len = 32 }, { .len = 64 }, { .len = 256 } }, EINVAL,
	  NTH(1) },
	{ { SIGN, .scheme = OCF_PK_PKCS1, .hash = "md5" },
	  { { .len = 16 }, { .len = 64 }, { .len = 256 } }, EPERM,
	  OCF_FIELD_HASH },
	{ { ENCRYPT }, { { .len = 100 }, { .len = RSA }, {},
			 { .len = 256 } }, 0, OCF_FIELD_NONE },
	{ { ENCRYPT }, { { .len = 100 }, { .len = RSA },
			 { .len = 1 }, { .len = 256 } }, EINVAL,
	  NTH(2) },
	{ { ENCRYPT }, { { .len = 100 }, { .len = RSA }, {},
			 { .len = 255 } }, ENOSPC, NTH(3) },
	{ { ENCRYPT, .scheme = OCF_PK_PKCS1 },
	  { { .len = 246 }, { .len = RSA }, {}, { .len = 256 } },
	  EINVAL, NTH(0) },
	{ { ENCRYPT, .scheme = OCF_PK_OAEP, .hash = "sha256" },
	  { { .len = 191 }, { .len = RSA }, {}, { .len = 256 } },
	  EINVAL, NTH(0) },
	{ { ENCRYPT }, { { .len = 257 }, { .len = RSA }, {},
			 { .len = 256 } }, EDOM, NTH(0) },
	/* a wrong signature is no wrong field, whatever its length */
	{ { VERIFY, .scheme = OCF_PK_PSS, .hash = "sha256" },
	  { { .len = 32 }, { .len = 255 }, { .len = RSA } }, EBADMSG,
	  OCF_FIELD_NONE },
	{ { VERIFY, .scheme = OCF_PK_PKCS1, .hash = "sha256" },
	  { { .len = 32 }, { .len = 256 }, { .len = RSA } }, EBADMSG,
	  OCF_FIELD_NONE },
};

/* Fills in the values of row @i; @key has room for a key. */
static void put_values(Self *self, unsigned int i, struct ocf_pk_value *values,
		       uint8_t *key)
{
	unsigned int j;

	for (j = 0; j < ARRAY_SIZE(public_rows[i].v); j++) {
		values[j] = public_rows[i].v[j];
		if (values[j].addr == 1)
			values[j].addr = addr(self->out + 2048);
		else if (!values[j].addr)
			values[j].addr = addr(j < public_rows[i].c.in ?
						      self->in : self->out);
		if (values[j].len != RSA)
			continue;
		values[j].addr = addr(key);
		values[j].len = native_rsa_key(key, 256);
	}
}

TEST_F(fields, of_public_keys)
{
	struct ocf_pk_value values[4];
	struct ocf_pk_command c[2];
	struct ocf_result r[2];
	struct ocf_vector v = {
		.commands = addr(c), .results = addr(r), .count = 2,
	};
	unsigned int i, j;
	uint8_t key[512];

	memset(self->in, 0x7f, sizeof(self->in));
	for (i = 0; i < ARRAY_SIZE(public_rows); i++) {
		put_values(self, i, values, key);
		c[0] = public_rows[i].c;
		c[0].op = OCF_OP_PUBLIC_KEY;
		c[0].values = addr(values);
		c[1] = c[0];
		memset(r, 0xff, sizeof(r));
		EXPECT_EQ(0, call(self->fd, OCF_RUN, &v));
		for (j = 0; j < ARRAY_SIZE(r); j++) {
			if (public_rows[i].err || r[j].res < 0)
				EXPECT_EQ(-public_rows[i].err, r[j].res);
			EXPECT_EQ(public_rows[i].wrong, r[j].wrong) {
				TH_LOG("row %u: %d", i, r[j].res);
			}
		}
	}
}

TEST_HARNESS_MAIN
