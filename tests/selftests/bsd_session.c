// SPDX-License-Identifier: BSD-2-Clause
/*
 * The BSD ABI: valid and invalid sessions, the devices that a session may use,
 * and all calls that are not operations.
 */
#include <kselftest_harness.h>

#include "bsd.h"
#include "keys.h"

/* The numbers as BSD's <sys/ioccom.h> makes them */
#define BSD_CIOCFSESSION	0x80046366
#define BSD_CIOCASYMFEAT	0x40046369

/* CIOCGSESSION of the cryptodev-linux ABI; the structure is the same. */
#define LINUX_CIOCGSESSION	_IOWR('c', 102, struct session_op)
#define LINUX_CIOCFSESSION	_IOW('c', 103, __u32)

static const struct keys {
	const char	*alg;
	bool		mac;
	int		min, max, step;
} keys[] = {
	{ "null",		false, 0, 64, 1 },
	{ "aes-cbc",		false, 16, 32, 8 },
	{ "aes-ctr",		false, 16, 32, 8 },
	{ "aes-xts",		false, 32, 64, 16 },
	{ "des3-cbc",		false, 24, 24, 1 },
	{ "des-cbc",		false, 8, 8, 1 },
	{ "camellia-cbc",	false, 16, 32, 8 },
	{ "blowfish-cbc",	false, 4, 56, 1 },
	{ "cast5-cbc",		false, 5, 16, 1 },
	{ "chacha20",		false, 32, 32, 1 },
	{ "aes-gcm",		false, 16, 32, 8 },
	{ "aes-ccm",		false, 16, 32, 8 },
	{ "chacha20-poly1305",	false, 32, 32, 1 },
	{ "md5",		true, 0, 0, 1 },
	{ "sha1",		true, 0, 0, 1 },
	{ "sha224",		true, 0, 0, 1 },
	{ "sha256",		true, 0, 0, 1 },
	{ "sha384",		true, 0, 0, 1 },
	{ "sha512",		true, 0, 0, 1 },
	{ "ripemd160",		true, 0, 0, 1 },
	{ "blake2b",		true, 0, 64, 1 },
	{ "blake2s",		true, 0, 32, 1 },
	{ "null-mac",		true, 0, 512, 1 },
	{ "hmac-md5",		true, 0, 512, 1 },
	{ "hmac-sha1",		true, 0, 512, 1 },
	{ "hmac-sha224",	true, 0, 512, 1 },
	{ "hmac-sha256",	true, 0, 512, 1 },
	{ "hmac-sha384",	true, 0, 512, 1 },
	{ "hmac-sha512",	true, 0, 512, 1 },
	{ "hmac-ripemd160",	true, 0, 512, 1 },
	{ "aes-gmac",		true, 16, 32, 8 },
};

static int open_one(int fd, const struct keys *k, int keylen, uint32_t *ses)
{
	unsigned int id = bsd_id(k->alg);

	return k->mac ? open_session(fd, 0, 0, id, keylen, ses) :
			open_session(fd, id, keylen, 0, 0, ses);
}

FIXTURE(session)
{
	int fd;
	uint32_t ses;
};

FIXTURE_SETUP(session)
{
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, allow_weak("all"));
}

FIXTURE_TEARDOWN(session)
{
	allow_weak("none");
	close(self->fd);
}

TEST_F(session, every_algorithm_of_the_header)
{
	unsigned int id;
	int i, n = 0;

	for (i = 0; i < nids_bsd; i++)
		n += !!ids_bsd[i].alg;
	/* aes-cbc has two names */
	ASSERT_EQ(COUNT(keys) + 1, n);
	for (i = 0; i < COUNT(keys); i++) {
		ASSERT_EQ(0, open_one(self->fd, &keys[i], keys[i].max,
				      &self->ses)) TH_LOG("%s", keys[i].alg);
		ASSERT_NE(0, self->ses);
		ASSERT_EQ(0, close_session(self->fd, self->ses));
	}
	for (id = 0; id < 256; id++) {
		for (i = 0; i < nids_bsd; i++) {
			if (ids_bsd[i].id == id && ids_bsd[i].alg)
				break;
		}
		if (i < nids_bsd)
			continue;
		EXPECT_EQ(EINVAL, open_session(self->fd, id, 16, 0, 0,
					       &self->ses)) TH_LOG("%u", id);
		EXPECT_EQ(EINVAL, open_session(self->fd, 0, 0, id, 16,
					       &self->ses)) TH_LOG("%u", id);
	}
}

TEST_F(session, key_lengths)
{
	int i;

	for (i = 0; i < COUNT(keys); i++) {
		const struct keys *k = &keys[i];

		ASSERT_EQ(0, open_one(self->fd, k, k->min, &self->ses));
		ASSERT_EQ(0, open_one(self->fd, k, k->max, &self->ses));
		if (!k->max)
			continue;
		EXPECT_EQ(EINVAL, open_one(self->fd, k, k->max + 1,
					   &self->ses)) TH_LOG("%s", k->alg);
		EXPECT_EQ(EINVAL, open_one(self->fd, k, k->min - 1,
					   &self->ses)) TH_LOG("%s", k->alg);
		EXPECT_EQ(EINVAL, open_one(self->fd, k, INT32_MIN,
					   &self->ses)) TH_LOG("%s", k->alg);
		if (k->step > 1) {
			EXPECT_EQ(EINVAL, open_one(self->fd, k, k->min + 1,
						   &self->ses))
				TH_LOG("%s", k->alg);
		}
	}
}

/* NetBSD's AES-CTR keys end with a nonce; ours do not (docs/porting.md). */
TEST_F(session, ctr_keys_have_no_nonce)
{
	int len;

	for (len = 16; len <= 36; len += 4)
		EXPECT_EQ(len % 8 ? EINVAL : 0,
			  open_session(self->fd, CRYPTO_AES_CTR, len, 0, 0,
				       &self->ses)) TH_LOG("%d", len);
}

TEST_F(session, a_cipher_and_a_mac)
{
	int i, digest;

	for (i = 0; i < COUNT(keys); i++) {
		const struct keys *m = &keys[i];

		if (!m->mac)
			continue;
		/* a digest without a key is no MAC */
		digest = !m->max || !strcmp(m->alg, "aes-gmac");
		EXPECT_EQ(digest ? EINVAL : 0,
			  open_session(self->fd, CRYPTO_AES_CBC, 16,
				       bsd_id(m->alg), m->max, &self->ses))
			TH_LOG("%s", m->alg);
	}
	EXPECT_EQ(0, open_session(self->fd, CRYPTO_NULL_CBC, 0,
				  CRYPTO_SHA1_HMAC, 20, &self->ses));
	/* an AEAD algorithm includes its MAC */
	EXPECT_EQ(EINVAL, open_session(self->fd, CRYPTO_AES_NIST_GCM_16, 16,
				       CRYPTO_SHA1_HMAC, 20, &self->ses));
	/*
	 * but a caller may name that MAC, with the same key, as up to FreeBSD
	 * 12 it had to
	 */
	EXPECT_EQ(0, open_session(self->fd, CRYPTO_AES_NIST_GCM_16, 16,
				  CRYPTO_AES_128_NIST_GMAC, 16, &self->ses));
	EXPECT_EQ(0, open_session(self->fd, CRYPTO_AES_NIST_GCM_16, 32,
				  CRYPTO_AES_256_NIST_GMAC, 32, &self->ses));
	EXPECT_EQ(0, open_session(self->fd, CRYPTO_AES_CCM_16, 24,
				  CRYPTO_AES_CCM_CBC_MAC, 24, &self->ses));
	EXPECT_EQ(EINVAL, open_session(self->fd, CRYPTO_AES_NIST_GCM_16, 16,
				       CRYPTO_AES_128_NIST_GMAC, 24,
				       &self->ses));
	EXPECT_EQ(EINVAL, open_session(self->fd, CRYPTO_AES_CCM_16, 16,
				       CRYPTO_AES_128_NIST_GMAC, 16,
				       &self->ses));
	EXPECT_EQ(EINVAL, open_session(self->fd, CRYPTO_AES_CBC, 16,
				       CRYPTO_AES_CCM_CBC_MAC, 16,
				       &self->ses));
}

TEST_F(session, weak_algorithms_need_permission)
{
	ASSERT_EQ(0, allow_weak("none"));
	EXPECT_EQ(EPERM, open_session(self->fd, CRYPTO_DES_CBC, 8, 0, 0,
				      &self->ses));
	EXPECT_EQ(EPERM, open_session(self->fd, 0, 0, CRYPTO_MD5, 0,
				      &self->ses));
	EXPECT_EQ(EPERM, open_session(self->fd, CRYPTO_AES_CBC, 16,
				      CRYPTO_MD5_HMAC, 16, &self->ses));
}

static int number_of(int fd, const char *name)
{
	struct crypt_find_op find = { .crid = -1 };

	strcpy(find.name, name);
	return call(fd, CIOCFINDDEV, &find) ? -1 : find.crid;
}

static int open2(int fd, int crid, struct session2_op *sop)
{
	*sop = (struct session2_op){
		.cipher = CRYPTO_AES_CBC, .keylen = 16, .key = key_bytes,
		.crid = crid,
	};
	return call(fd, CIOCGSESSION2, sop);
}

TEST_F(session, devices_by_kind_and_number)
{
	int soft = number_of(self->fd, "cryptosoft0");
	int null = number_of(self->fd, "null0");
	struct session2_op sop;

	ASSERT_LE(0, soft);
	ASSERT_LE(0, null);
	EXPECT_NE(soft, null);
	EXPECT_EQ(0, open2(self->fd, CRYPTO_FLAG_SOFTWARE, &sop));
	EXPECT_EQ(soft, sop.crid);
	EXPECT_EQ(0, open2(self->fd, CRYPTO_FLAG_SOFTWARE |
				     CRYPTO_FLAG_HARDWARE, &sop));
	EXPECT_EQ(soft, sop.crid);
	EXPECT_EQ(0, open2(self->fd, soft, &sop));
	EXPECT_EQ(soft, sop.crid);
	/* no card; a device without AES; a number without a device */
	EXPECT_EQ(EOPNOTSUPP, open2(self->fd, CRYPTO_FLAG_HARDWARE, &sop));
	EXPECT_EQ(EOPNOTSUPP, open2(self->fd, null, &sop));
	EXPECT_EQ(ENODEV, open2(self->fd, 63, &sop));
	EXPECT_EQ(EINVAL, open2(self->fd, 64, &sop));
	EXPECT_EQ(EINVAL, open2(self->fd, -1, &sop));
	EXPECT_EQ(EINVAL, open2(self->fd, CRYPTO_FLAG_SOFTWARE | 1, &sop));
	EXPECT_EQ(EINVAL, open2(self->fd, 0x04000000, &sop));
	EXPECT_EQ(EINVAL, open2(self->fd, INT32_MIN, &sop));
}

TEST_F(session, devices_by_name)
{
	struct crypt_find_op find = { .crid = -1 };
	int soft = number_of(self->fd, "cryptosoft0");

	EXPECT_EQ(soft, number_of(self->fd, "cryptosoft"));
	EXPECT_EQ(-1, number_of(self->fd, "cryptosof"));
	EXPECT_EQ(-1, number_of(self->fd, ""));
	EXPECT_EQ(-1, number_of(self->fd, "cryptosoft1"));
	strcpy(find.name, "nosuch0");
	EXPECT_EQ(ENOENT, call(self->fd, CIOCFINDDEV, &find));
	/* a name without a NUL */
	memset(find.name, 'x', sizeof(find.name));
	find.crid = -1;
	EXPECT_EQ(ENOENT, call(self->fd, CIOCFINDDEV, &find));

	find.crid = soft;
	EXPECT_EQ(0, call(self->fd, CIOCFINDDEV, &find));
	EXPECT_STREQ("cryptosoft0", find.name);
	/* no kernel data behind the name */
	EXPECT_TRUE(all_are(find.name + 11, 0, sizeof(find.name) - 11));
	find.crid = 63;
	EXPECT_EQ(ENOENT, call(self->fd, CIOCFINDDEV, &find));
	find.crid = -2;
	EXPECT_EQ(ENOENT, call(self->fd, CIOCFINDDEV, &find));
	find.crid = INT32_MAX;
	EXPECT_EQ(ENOENT, call(self->fd, CIOCFINDDEV, &find));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCFINDDEV, NULL));
}

TEST_F(session, iv_and_mac_lengths)
{
	struct session2_op sop = {
		.cipher = CRYPTO_AES_CCM_16, .keylen = 16, .key = key_bytes,
		.crid = CRYPTO_FLAG_SOFTWARE,
	};
	int n;

	for (n = -1; n < 20; n++) {
		sop.crid = CRYPTO_FLAG_SOFTWARE;
		sop.ivlen = n;
		EXPECT_EQ(!n || (n >= 7 && n <= 13) ? 0 : EINVAL,
			  call(self->fd, CIOCGSESSION2, &sop)) TH_LOG("%d", n);
	}
	sop.ivlen = 0;
	for (n = -1; n < 70; n++) {
		sop.crid = CRYPTO_FLAG_SOFTWARE;
		sop.maclen = n;
		EXPECT_EQ(!n || (n >= 4 && n <= 16 && n % 2 == 0) ? 0 : EINVAL,
			  call(self->fd, CIOCGSESSION2, &sop)) TH_LOG("%d", n);
	}
	sop = (struct session2_op){
		.mac = CRYPTO_SHA1_HMAC, .mackeylen = 20, .mackey = key_bytes,
	};
	for (n = -1; n < 70; n++) {
		sop.crid = CRYPTO_FLAG_SOFTWARE;
		sop.maclen = n;
		EXPECT_EQ(!n || (n >= 4 && n <= 20) ? 0 : EINVAL,
			  call(self->fd, CIOCGSESSION2, &sop)) TH_LOG("%d", n);
	}
	sop.maclen = 0;
	sop.ivlen = 8;
	EXPECT_EQ(EINVAL, call(self->fd, CIOCGSESSION2, &sop));
}

TEST_F(session, bad_pointers)
{
	struct session2_op sop = {
		.cipher = CRYPTO_AES_CBC, .keylen = 16, .key = NULL,
		.crid = CRYPTO_FLAG_SOFTWARE,
	};
	uint8_t *readonly = fenced(1);

	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION2, &sop));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION, &sop));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION, NULL));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION2, NULL));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION2, fenced(1) + PAGE - 8));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCFSESSION, NULL));
	sop.key = key_bytes;
	memcpy(readonly, &sop, sizeof(sop));
	ASSERT_EQ(0, mprotect(readonly, PAGE, PROT_READ));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION, readonly));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION2, readonly));
}

TEST_F(session, both_encodings_of_freeing)
{
	uint32_t a, b;

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16, 0, 0, &a));
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16, 0, 0, &b));
	EXPECT_EQ(0, call(self->fd, CIOCFSESSION, &a));
	EXPECT_EQ(0, call(self->fd, BSD_CIOCFSESSION, &b));
	EXPECT_EQ(EINVAL, call(self->fd, CIOCFSESSION, &a));
	EXPECT_EQ(EINVAL, call(self->fd, BSD_CIOCFSESSION, &b));
}

TEST_F(session, of_the_other_abi)
{
	struct session_op sop = {
		.cipher = 11, .keylen = 16, .key = key_bytes,
	};
	uint8_t out[16];

	ASSERT_EQ(0, call(self->fd, LINUX_CIOCGSESSION, &sop));
	EXPECT_EQ(EINVAL, close_session(self->fd, sop.ses));
	EXPECT_EQ(EINVAL, crypt_op(self->fd, sop.ses, COP_ENCRYPT, 0,
				   key_bytes, out, 16, key_bytes, NULL));
	EXPECT_EQ(EINVAL, aead_op(self->fd, sop.ses, COP_ENCRYPT, NULL, 0,
				  key_bytes, out, 16, key_bytes, 16, out));
	EXPECT_EQ(0, call(self->fd, LINUX_CIOCFSESSION, &sop.ses));
}

TEST_F(session, public_keys)
{
	uint32_t feat = 0xdeadbeef;

	EXPECT_EQ(0, call(self->fd, CIOCASYMFEAT, &feat));
	EXPECT_EQ(ALL_FEATURES, feat);
	feat = 0xdeadbeef;
	EXPECT_EQ(0, call(self->fd, BSD_CIOCASYMFEAT, &feat));
	EXPECT_EQ(ALL_FEATURES, feat);
	EXPECT_TRUE(powers(self->fd, CIOCKEY));
	EXPECT_STREQ("", wrongly_answered(self->fd, CIOCKEY));
	EXPECT_STREQ("", wrongly_answered(self->fd, CIOCKEY2));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCKEY, NULL));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCKEY2, NULL));
}

/*
 * The caller chooses a device or a kind of device, and learns which device did
 * the work.
 */
TEST_F(session, public_keys_by_name)
{
	struct crypt_find_op soft = { .crid = -1, .name = "cryptosoft0" };
	struct crypt_kop kop = small_power();

	ASSERT_EQ(0, call(self->fd, CIOCFINDDEV, &soft));
	kop.crk_crid = CRYPTO_FLAG_SOFTWARE;
	EXPECT_EQ(0, call(self->fd, CIOCKEY2, &kop));
	EXPECT_EQ(soft.crid, kop.crk_crid);
	EXPECT_EQ(0, call(self->fd, CIOCKEY2, &kop));
	EXPECT_EQ(soft.crid, kop.crk_crid);
	kop.crk_crid = CRYPTO_FLAG_HARDWARE;
	EXPECT_EQ(ENODEV, call(self->fd, CIOCKEY2, &kop));
	EXPECT_EQ(ENODEV, kop.crk_status);
	kop.crk_crid = 60;
	EXPECT_EQ(ENODEV, call(self->fd, CIOCKEY2, &kop));
	kop.crk_crid = -2;
	EXPECT_EQ(EINVAL, call(self->fd, CIOCKEY2, &kop));
	/* CIOCKEY returns no device number and leaves crk_crid as it was */
	kop.crk_crid = 60;
	EXPECT_EQ(0, call(self->fd, CIOCKEY, &kop));
	EXPECT_EQ(60, kop.crk_crid);
}

TEST_F(session, a_second_descriptor_is_the_same_file)
{
	uint8_t out[16];
	uint32_t fd2;

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16, 0, 0,
				  &self->ses));
	ASSERT_EQ(0, call(self->fd, CRIOGET, &fd2));
	EXPECT_EQ(0, crypt_op(fd2, self->ses, COP_ENCRYPT, 0, key_bytes, out,
			      16, key_bytes, NULL));
	close(self->fd);
	EXPECT_EQ(0, crypt_op(fd2, self->ses, COP_ENCRYPT, 0, key_bytes, out,
			      16, key_bytes, NULL));
	self->fd = fd2;
}

TEST_HARNESS_MAIN
