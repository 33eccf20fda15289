// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every call of the cryptodev-linux ABI, while each allocation and each copy in
 * it fails in turn.  Each time there must be an errno, and nothing may be lost
 * or leaked.
 */
#include <poll.h>

#include "linux.h"
#include "keys.h"
#include "fail.h"

#include "kselftest_harness.h"

#define LEN	16384		/* bytes: copied and pinned */

struct scene {
	int		fd;
	uint32_t	ses, ses2;
	unsigned int	cipher, mac;
	uint32_t	len;
	int		flags;
	uint8_t		*src, *dst, *want;
	uint8_t		iv[16], tag[64];
};

static struct scene scene;

static int make_session(void *arg)
{
	struct scene *s = arg;

	return open_session(s->fd, s->cipher, s->cipher ? 16 : 0, s->mac,
			    s->mac ? 20 : 0, &s->ses2);
}

static bool always(void *arg)
{
	return true;
}

static void drop_session(void *arg)
{
	struct scene *s = arg;

	close_session(s->fd, s->ses2);
}

static int encrypt(void *arg)
{
	struct scene *s = arg;

	memset(s->dst, 0, LEN + 64);
	return crypt_op(s->fd, s->ses, COP_ENCRYPT, s->flags, s->src, s->dst,
			s->len, s->iv, s->tag);
}

static bool as_wanted(void *arg)
{
	struct scene *s = arg;

	return !memcmp(s->dst, s->want, s->len);
}

static int seal(void *arg)
{
	struct scene *s = arg;
	struct crypt_auth_op c = {
		.ses = s->ses, .op = COP_ENCRYPT, .flags = s->flags,
		.len = s->len, .src = s->src, .dst = s->dst, .iv = s->iv,
		.auth_src = s->src, .auth_len = 100,
	};

	memset(s->dst, 0, LEN + 64);
	return call(s->fd, CIOCAUTHCRYPT, &c);
}

static int hash(void *arg)
{
	struct scene *s = arg;

	memset(s->tag, 0, sizeof(s->tag));
	return crypt_op(s->fd, s->ses, COP_ENCRYPT, s->flags, s->src, NULL,
			s->len, NULL, s->tag);
}

static bool hash_as_wanted(void *arg)
{
	struct scene *s = arg;

	return !memcmp(s->tag, s->want, 32);
}

static int copy_hash(void *arg)
{
	struct scene *s = arg;
	struct cphash_op c = { .src_ses = s->ses, .dst_ses = s->ses2 };

	return call(s->fd, CIOCCPHASH, &c);
}

static int info(void *arg)
{
	struct scene *s = arg;
	struct session_info_op c = { .ses = s->ses };

	return call(s->fd, CIOCGSESSINFO, &c);
}

static int asked(void *arg)
{
	struct scene *s = arg;
	uint32_t features = 0;
	int err = call(s->fd, CIOCASYMFEAT, &features);

	return err ?: features == ALL_FEATURES ? 0 : EIO;
}

static int power(void *arg)
{
	struct scene *s = arg;
	struct crypt_kop kop = small_power();

	return key_call(s->fd, CIOCKEY, &kop);
}

/* 5 ^ 103 mod 11 * 13 is 125: 103 is 3 mod 10 and 7 mod 12. */
static int power_by_crt(void *arg)
{
	static uint8_t n[] = { 11, 13, 5, 3, 7, 6 };
	struct crypt_kop kop = {
		.crk_op = CRK_MOD_EXP_CRT, .crk_iparams = 6, .crk_oparams = 1,
		.crk_param = {
			{ &n[0], 8 }, { &n[1], 8 }, { &n[2], 8 }, { &n[3], 8 },
			{ &n[4], 8 }, { &n[5], 8 }, { kop_result, 8 },
		},
	};
	struct scene *s = arg;
	int err = key_call(s->fd, CIOCKEY, &kop);

	return err ?: kop_result[0] == 125 ? 0 : EIO;
}

static int signature(void *arg)
{
	static uint8_t digest[32] = { 1 }, private[] = { 2 }, r[32], s[32];
	struct crypt_kop kop = {
		.crk_op = CRK_OCF(CRK_OCF_ECDSA_SIGN, 0, CRK_CURVE_P256),
		.crk_iparams = 2, .crk_oparams = 2,
		.crk_param = {
			{ digest, 256 }, { private, 8 }, { r, 256 }, { s, 256 },
		},
	};

	return key_call(((struct scene *)arg)->fd, CIOCKEY, &kop);
}

static int descriptor(void *arg)
{
	struct scene *s = arg;
	uint32_t fd = -1;
	int err = call(s->fd, CRIOGET, &fd);

	if (!err)
		close(fd);
	return err == EMFILE ? ENOMEM : err;
}

static int opened(void *arg)
{
	int fd = open_dev(), err = errno;

	if (fd < 0)
		return err;
	close(fd);
	return 0;
}

static int hand_in(void *arg)
{
	struct scene *s = arg;
	struct crypt_op c = {
		.ses = s->ses, .op = COP_ENCRYPT, .flags = s->flags,
		.len = s->len, .src = s->src, .dst = s->dst, .iv = s->iv,
	};

	memset(s->dst, 0, LEN + 64);
	return call(s->fd, CIOCASYNCCRYPT, &c);
}

/* Fetches the result, without a fault. */
static void fetch(void *arg)
{
	struct scene *s = arg;
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	struct crypt_op c;

	if (poll(&p, 1, 60000) != 1 || call(s->fd, CIOCASYNCFETCH, &c) ||
	    !as_wanted(s))
		abort();
}

static int fetch_only(void *arg)
{
	struct scene *s = arg;
	struct crypt_op c;

	return call(s->fd, CIOCASYNCFETCH, &c);
}

FIXTURE(failing) { };

FIXTURE_SETUP(failing)
{
	struct scene *s = &scene;

	ASSERT_EQ(0, fail_setup());
	s->fd = open_dev();
	ASSERT_LE(0, s->fd);
	s->src = aligned_alloc(PAGE, LEN + PAGE);
	s->dst = aligned_alloc(PAGE, LEN + PAGE);
	s->want = aligned_alloc(PAGE, LEN + PAGE);
	fill(s->src, LEN, 1);
	fill(s->iv, 16, 2);
}

FIXTURE_TEARDOWN(failing)
{
	close(scene.fd);
}

static void open_for(unsigned int cipher, unsigned int mac, int mackeylen,
		     uint32_t len, int flags)
{
	struct scene *s = &scene;

	s->cipher = cipher;
	s->mac = mac;
	s->len = len;
	s->flags = flags;
	if (open_session(s->fd, cipher, cipher ? 16 : 0, mac, mackeylen,
			 &s->ses))
		abort();
}

TEST_F(failing, session)
{
	static const struct fail_case c = {
		make_session, always, drop_session,
	};
	unsigned int with[][2] = {
		{ CRYPTO_AES_CBC, 0 }, { 0, CRYPTO_SHA1_HMAC },
		{ CRYPTO_AES_GCM, 0 }, { CRYPTO_AES_CBC, CRYPTO_SHA1_HMAC },
	};
	int i;

	for (i = 0; i < COUNT(with); i++) {
		scene.cipher = with[i][0];
		scene.mac = with[i][1];
		EXPECT_LT(3, fail_sweep(&c, &scene)) {
			TH_LOG("%u %u", with[i][0], with[i][1]);
		}
	}
}

TEST_F(failing, crypt)
{
	static const struct fail_case c = { encrypt, as_wanted, NULL };
	static const uint32_t sizes[] = { 64, 1024, LEN };
	int i;

	for (i = 0; i < 6; i++) {
		open_for(CRYPTO_AES_CBC, 0, 0, sizes[i / 2],
			 i & 1 ? COP_FLAG_NO_ZC : 0);
		ASSERT_EQ(0, encrypt(&scene));
		memcpy(scene.want, scene.dst, scene.len);
		EXPECT_LT(1, fail_sweep(&c, &scene)) {
			TH_LOG("%d", i);
		}
		close_session(scene.fd, scene.ses);
	}
}

TEST_F(failing, authcrypt)
{
	static const struct fail_case c = { seal, as_wanted, NULL };
	static const uint32_t sizes[] = { 64, 1024, LEN };
	int i;

	for (i = 0; i < 6; i++) {
		open_for(CRYPTO_AES_GCM, 0, 0, sizes[i / 2],
			 i & 1 ? COP_FLAG_NO_ZC : 0);
		ASSERT_EQ(0, seal(&scene));
		memcpy(scene.want, scene.dst, scene.len);
		EXPECT_LT(1, fail_sweep(&c, &scene)) {
			TH_LOG("%d", i);
		}
		close_session(scene.fd, scene.ses);
	}
}

TEST_F(failing, digest)
{
	static const struct fail_case whole = { hash, hash_as_wanted, NULL };
	static const struct fail_case part = { hash, always, NULL };
	static const struct fail_case copy = { copy_hash, always, NULL };
	static const struct fail_case end = { hash, hash_as_wanted, NULL };

	open_for(0, CRYPTO_SHA2_256, 0, LEN, 0);
	ASSERT_EQ(0, hash(&scene));
	memcpy(scene.want, scene.tag, 32);
	EXPECT_LE(1, fail_sweep(&whole, &scene));

	/* the data of a part that fails are not in the digest */
	scene.flags = COP_FLAG_RESET | COP_FLAG_UPDATE;
	EXPECT_LE(1, fail_sweep(&part, &scene));
	ASSERT_EQ(0, open_session(scene.fd, 0, 0, CRYPTO_SHA2_256, 0,
				  &scene.ses2));
	EXPECT_LE(1, fail_sweep(&copy, &scene));
	scene.ses = scene.ses2;
	scene.len = 0;
	scene.flags = COP_FLAG_FINAL;
	ASSERT_EQ(0, hash(&scene));
	EXPECT_EQ(0, memcmp(scene.tag, scene.want, 32));
	scene.len = LEN;
	scene.flags = COP_FLAG_RESET | COP_FLAG_FINAL;
	EXPECT_LT(0, fail_sweep(&end, &scene));
}

TEST_F(failing, small_calls)
{
	static const struct fail_case cases[] = {
		{ info, always, NULL }, { asked, always, NULL },
		{ descriptor, always, NULL }, { opened, always, NULL },
	};
	int i;

	open_for(CRYPTO_AES_CBC, 0, 0, 64, 0);
	for (i = 0; i < COUNT(cases); i++) {
		EXPECT_LE(0, fail_sweep(&cases[i], &scene)) {
			TH_LOG("%d", i);
		}
	}
}

TEST_F(failing, public_keys)
{
	static const struct fail_case cases[] = {
		{ power, always, NULL }, { power_by_crt, always, NULL },
		{ signature, always, NULL },
	};
	int i;

	open_for(CRYPTO_AES_CBC, 0, 0, 64, 0);
	for (i = 0; i < COUNT(cases); i++) {
		EXPECT_LT(3, fail_sweep(&cases[i], &scene)) {
			TH_LOG("%d", i);
		}
	}
}

TEST_F(failing, async)
{
	static const struct fail_case in = { hand_in, always, fetch };
	static const uint32_t sizes[] = { 64, 1024, LEN };
	struct pollfd p = { .fd = scene.fd, .events = POLLIN };
	int i, fd = fail_fd();

	for (i = 0; i < COUNT(sizes); i++) {
		open_for(CRYPTO_AES_CBC, 0, 0, sizes[i], 0);
		ASSERT_EQ(0, encrypt(&scene));
		memcpy(scene.want, scene.dst, scene.len);
		EXPECT_LT(1, fail_sweep(&in, &scene));

		/* a fetch that fails loses that operation, and no other */
		ASSERT_EQ(0, hand_in(&scene));
		ASSERT_EQ(1, poll(&p, 1, 60000));
		fail_arm(fd, 1);
		EXPECT_EQ(EFAULT, fetch_only(&scene));
		EXPECT_TRUE(fail_disarm(fd));
		EXPECT_EQ(EBUSY, fetch_only(&scene));
		close_session(scene.fd, scene.ses);
	}
	close(fd);
}

TEST_F_TIMEOUT(failing, nothing_leaks, 1800)
{
	EXPECT_EQ(0, fail_leaks());
}

int main(int argc, char **argv)
{
	return fail_main(argc, argv, test_harness_run);
}
