// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every call of the BSD ABI, while each allocation and each copy in it fails in
 * turn: see linux_fail.c.
 */
#include "bsd.h"
#include "fail.h"

#include "kselftest_harness.h"

#define LEN	16384

struct scene {
	int		fd;
	uint32_t	ses, made;
	unsigned int	cipher, mac;
	uint32_t	len;
	bool		second;		/* CIOCGSESSION2 */
	uint8_t		*src, *dst, *want;
	uint8_t		iv[16], tag[64];
};

static struct scene scene;

static bool always(void *arg)
{
	return true;
}

static int make_session(void *arg)
{
	struct scene *s = arg;
	struct session2_op sop = {
		.cipher = s->cipher, .keylen = s->cipher ? 16 : 0,
		.key = key_bytes, .mac = s->mac, .mackeylen = s->mac ? 20 : 0,
		.mackey = key_bytes,
		.crid = CRYPTO_FLAG_HARDWARE | CRYPTO_FLAG_SOFTWARE,
	};
	int err;

	if (!s->second)
		return open_session(s->fd, s->cipher, s->cipher ? 16 : 0,
				    s->mac, s->mac ? 20 : 0, &s->made);
	err = call(s->fd, CIOCGSESSION2, &sop);
	s->made = sop.ses;
	return err;
}

static void drop_session(void *arg)
{
	struct scene *s = arg;

	if (close_session(s->fd, s->made))
		abort();
}

static int encrypt(void *arg)
{
	struct scene *s = arg;

	memset(s->dst, 0, LEN + 64);
	return crypt_op(s->fd, s->ses, COP_ENCRYPT, 0, s->src, s->dst, s->len,
			s->cipher ? s->iv : NULL, s->mac ? s->tag : NULL);
}

static bool as_wanted(void *arg)
{
	struct scene *s = arg;

	return !memcmp(s->dst, s->want, s->len);
}

static int seal(void *arg)
{
	struct scene *s = arg;

	memset(s->dst, 0, LEN + 64);
	return aead_op(s->fd, s->ses, COP_ENCRYPT, s->src, 100, s->src, s->dst,
		       s->len, s->iv, 12, s->tag);
}

static int find(void *arg)
{
	struct scene *s = arg;
	struct crypt_find_op f = { .crid = -1, .name = "cryptosoft0" };

	return call(s->fd, CIOCFINDDEV, &f);
}

static int free_session(void *arg)
{
	struct scene *s = arg;
	int err;

	if (make_session(s))
		return 0;
	err = close_session(s->fd, s->made);
	/* a session that was not freed can still be freed */
	if (err)
		drop_session(s);
	return err;
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

static void open_for(unsigned int cipher, unsigned int mac, uint32_t len)
{
	struct scene *s = &scene;

	s->cipher = cipher;
	s->mac = mac;
	s->len = len;
	if (open_session(s->fd, cipher, cipher ? 16 : 0, mac, mac ? 20 : 0,
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
		{ CRYPTO_AES_NIST_GCM_16, 0 },
		{ CRYPTO_AES_CBC, CRYPTO_SHA1_HMAC },
	};
	int i;

	for (i = 0; i < 2 * COUNT(with); i++) {
		scene.cipher = with[i / 2][0];
		scene.mac = with[i / 2][1];
		scene.second = i & 1;
		EXPECT_LT(3, fail_sweep(&c, &scene)) {
			TH_LOG("%d", i);
		}
	}
}

TEST_F(failing, crypt)
{
	static const struct fail_case c = { encrypt, as_wanted, NULL };
	static const uint32_t sizes[] = { 64, 1024, LEN };
	int i;

	for (i = 0; i < 6; i++) {
		open_for(CRYPTO_AES_CBC, i & 1 ? CRYPTO_SHA1_HMAC : 0,
			 sizes[i / 2]);
		ASSERT_EQ(0, encrypt(&scene));
		memcpy(scene.want, scene.dst, scene.len);
		EXPECT_LE(1, fail_sweep(&c, &scene)) {
			TH_LOG("%d", i);
		}
		close_session(scene.fd, scene.ses);
	}
}

TEST_F(failing, aead)
{
	static const struct fail_case c = { seal, as_wanted, NULL };
	static const uint32_t sizes[] = { 64, 1024, LEN };
	int i;

	for (i = 0; i < COUNT(sizes); i++) {
		open_for(CRYPTO_AES_NIST_GCM_16, 0, sizes[i]);
		ASSERT_EQ(0, seal(&scene));
		memcpy(scene.want, scene.dst, scene.len);
		EXPECT_LE(1, fail_sweep(&c, &scene)) {
			TH_LOG("%d", i);
		}
		close_session(scene.fd, scene.ses);
	}
}

TEST_F(failing, small_calls)
{
	static const struct fail_case finds = { find, always, NULL };
	static const struct fail_case frees = { free_session, always, NULL };

	scene.cipher = CRYPTO_AES_CBC;
	EXPECT_LE(1, fail_sweep(&finds, &scene));
	EXPECT_LE(1, fail_sweep(&frees, &scene));
}

TEST_F_TIMEOUT(failing, nothing_leaks, 1800)
{
	EXPECT_EQ(0, fail_leaks());
}

int main(int argc, char **argv)
{
	return fail_main(argc, argv, test_harness_run);
}
