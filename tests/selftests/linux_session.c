// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cryptodev-linux ABI: valid and invalid sessions, the information about a
 * session, and all calls that are not operations.
 */
#include <kselftest_harness.h>
#include <sys/stat.h>

#include "linux.h"
#include "keys.h"

/* CIOCGSESSION and CIOCFSESSION of the BSD ABI; the structure is the same. */
#define BSD_CIOCGSESSION	_IOWR('c', 101, struct session_op)
#define BSD_CIOCFSESSION	_IOW('c', 102, __u32)

/*
 * An algorithm's field in session_op and its key lengths: minimum, maximum and
 * step; all 0 if it has no key
 */
static const struct keys {
	const char	*alg;
	bool		mac;
	size_t		min, max, step;
} keys[] = {
	{ "null",		false, 0, 64, 1 },
	{ "aes-cbc",		false, 16, 32, 8 },
	{ "aes-ctr",		false, 16, 32, 8 },
	{ "aes-ecb",		false, 16, 32, 8 },
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
	{ "sha3-224",		true, 0, 0, 1 },
	{ "sha3-256",		true, 0, 0, 1 },
	{ "sha3-384",		true, 0, 0, 1 },
	{ "sha3-512",		true, 0, 0, 1 },
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
	{ "hmac-sha3-224",	true, 0, 512, 1 },
	{ "hmac-sha3-256",	true, 0, 512, 1 },
	{ "hmac-sha3-384",	true, 0, 512, 1 },
	{ "hmac-sha3-512",	true, 0, 512, 1 },
	{ "hmac-ripemd160",	true, 0, 512, 1 },
	{ "aes-cmac",		true, 16, 32, 8 },
	{ "aes-gmac",		true, 16, 32, 8 },
};

static int open_one(int fd, const struct keys *k, size_t keylen, uint32_t *ses)
{
	unsigned int id = linux_id(k->alg);

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
	set_cdev("max_sessions", "4096");
	set_cdev("max_bytes", "134217728");
	close(self->fd);
}

TEST_F(session, every_algorithm_of_the_header)
{
	unsigned int id;
	int i, n = 0;

	for (i = 0; i < nids_linux; i++)
		n += !!ids_linux[i].alg;
	/* aes-cbc has two names */
	ASSERT_EQ(COUNT(keys) + 1, n);
	for (i = 0; i < COUNT(keys); i++) {
		ASSERT_EQ(0, open_one(self->fd, &keys[i], keys[i].max,
				      &self->ses)) TH_LOG("%s", keys[i].alg);
		ASSERT_NE(0, self->ses);
		ASSERT_EQ(0, close_session(self->fd, self->ses));
	}
	/*
	 * numbers without an implementation, and numbers without an algorithm
	 */
	for (id = 0; id < 256; id++) {
		for (i = 0; i < nids_linux; i++) {
			if (ids_linux[i].id == id && ids_linux[i].alg)
				break;
		}
		if (i < nids_linux)
			continue;
		EXPECT_EQ(EINVAL, open_session(self->fd, id, 16, 0, 0,
					       &self->ses)) TH_LOG("%u", id);
		EXPECT_EQ(EINVAL, open_session(self->fd, 0, 0, id, 16,
					       &self->ses)) TH_LOG("%u", id);
	}
	EXPECT_EQ(EINVAL, open_session(self->fd, 256 + CRYPTO_AES_CBC, 16, 0,
				       0, &self->ses));
	EXPECT_EQ(EINVAL, open_session(self->fd, -1, 16, -1, 16, &self->ses));
}

TEST_F(session, key_lengths)
{
	int i;

	for (i = 0; i < COUNT(keys); i++) {
		const struct keys *k = &keys[i];
		size_t n;

		for (n = k->min; n <= k->max; n += k->step) {
			ASSERT_EQ(0, open_one(self->fd, k, n, &self->ses))
				TH_LOG("%s, %zu", k->alg, n);
			ASSERT_EQ(0, close_session(self->fd, self->ses));
			/* the shortest and the longest key, and one between */
			if (n == k->min + k->step)
				n = (k->max - n) / k->step * k->step + n -
				    k->step;
		}
		if (k->min) {
			EXPECT_EQ(EINVAL, open_one(self->fd, k, k->min - 1,
						   &self->ses))
				TH_LOG("%s", k->alg);
		}
		if (k->step > 1) {
			EXPECT_EQ(EINVAL, open_one(self->fd, k, k->min + 1,
						   &self->ses))
				TH_LOG("%s", k->alg);
		}
		if (k->max) {
			EXPECT_EQ(EINVAL, open_one(self->fd, k, k->max + 1,
						   &self->ses))
				TH_LOG("%s", k->alg);
			EXPECT_EQ(EINVAL, open_one(self->fd, k, UINT32_MAX,
						   &self->ses))
				TH_LOG("%s", k->alg);
		}
	}
	/* for a digest without a key the key fields are ignored */
	EXPECT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_SHA1, 999,
				  &self->ses));
}

TEST_F(session, a_cipher_and_a_mac)
{
	static const char * const ciphers[] = { "aes-cbc", "des3-cbc",
		"aes-ctr", "null", "chacha20" };
	int i, j;

	for (i = 0; i < COUNT(ciphers); i++) {
		for (j = 0; j < COUNT(keys); j++) {
			const struct keys *m = &keys[j], *c = keys;

			if (!m->mac)
				continue;
			while (strcmp(c->alg, ciphers[i]))
				c++;
			/* GMAC would need an IV of its own */
			EXPECT_EQ(strcmp(m->alg, "aes-gmac") ? 0 : EINVAL,
				  open_session(self->fd, linux_id(c->alg),
					       c->max, linux_id(m->alg),
					       m->max, &self->ses))
				TH_LOG("%s, %s", c->alg, m->alg);
		}
	}
	EXPECT_EQ(EINVAL, open_session(self->fd, CRYPTO_AES_CBC, 16, 99, 16,
				       &self->ses));
	EXPECT_EQ(EINVAL, open_session(self->fd, 99, 16, CRYPTO_SHA1, 0,
				       &self->ses));
	EXPECT_EQ(EINVAL, open_session(self->fd, CRYPTO_AES_CBC, 16,
				       CRYPTO_SHA1_HMAC, 513, &self->ses));
	/* a digest is no cipher, and a cipher is no digest */
	EXPECT_EQ(EINVAL, open_session(self->fd, CRYPTO_SHA1, 16, 0, 0,
				       &self->ses));
	EXPECT_EQ(EINVAL, open_session(self->fd, 0, 0, CRYPTO_AES_CBC, 16,
				       &self->ses));
	/* with an AEAD algorithm the MAC field is ignored, as it always was */
	EXPECT_EQ(0, open_session(self->fd, CRYPTO_AES_GCM, 16,
				  CRYPTO_SHA1_HMAC, 20, &self->ses));
}

TEST_F(session, weak_algorithms_need_permission)
{
	static const char * const weak[] = { "des-cbc", "md5", "hmac-md5" };
	const struct keys *k;
	int i;

	ASSERT_EQ(0, allow_weak("none"));
	for (i = 0; i < COUNT(keys); i++) {
		k = &keys[i];
		EXPECT_EQ(!strcmp(k->alg, weak[0]) ||
			  !strcmp(k->alg, weak[1]) ||
			  !strcmp(k->alg, weak[2]) ? EPERM : 0,
			  open_one(self->fd, k, k->max, &self->ses))
			TH_LOG("%s", k->alg);
	}
	ASSERT_EQ(0, allow_weak("md5"));
	EXPECT_STREQ("md5", get_line("/sys/module/ocf/parameters/allow_weak"));
	EXPECT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_MD5, 0, &self->ses));
	EXPECT_EQ(EPERM, open_session(self->fd, 0, 0, CRYPTO_MD5_HMAC, 16,
				      &self->ses));
	EXPECT_EQ(EINVAL, allow_weak("aes-cbc"));
	/* a session that exists stays */
	ASSERT_EQ(0, open_session(self->fd, 0, 0, CRYPTO_MD5, 0, &self->ses));
	ASSERT_EQ(0, allow_weak("none"));
	EXPECT_EQ(0, crypt_op(self->fd, self->ses, COP_ENCRYPT, 0, "abc", NULL,
			      3, NULL, (uint8_t[16]) {}));
}

TEST_F(session, bad_pointers)
{
	struct session_op sop = {
		.cipher = CRYPTO_AES_CBC, .keylen = 16, .key = NULL,
	};
	struct session_op *half = (void *)(fenced(1) + PAGE - 8);
	uint8_t *readonly;

	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION, &sop));
	sop.key = (void *)-4096;
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION, &sop));
	sop.key = fenced(1) + PAGE - 15;
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION, &sop));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION, NULL));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION, half));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCFSESSION, NULL));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSINFO, NULL));
	/* the session's id cannot be written back, so there is no session */
	readonly = fenced(1);
	sop.key = (void *)key_bytes;
	memcpy(readonly, &sop, sizeof(sop));
	ASSERT_EQ(0, mprotect(readonly, PAGE, PROT_READ));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCGSESSION, readonly));
}

/*
 * A trace event shows a call that was refused, here one with an unknown number.
 */
TEST_F(session, a_refusal_is_traced)
{
	static const char dir[] = "/sys/kernel/tracing/";
	char path[128], line[512];
	bool seen = false;
	FILE *trace;

	snprintf(path, sizeof(path),
		 "%sevents/ocf_cdev/ocf_cdev_refuse/enable", dir);
	ASSERT_EQ(0, put_line(path, "1"));
	EXPECT_EQ(ENOTTY, call(self->fd, 0x12345, NULL));
	EXPECT_EQ(0, put_line(path, "0"));
	snprintf(path, sizeof(path), "%strace", dir);
	trace = fopen(path, "r");
	ASSERT_FALSE(!trace);
	while (fgets(line, sizeof(line), trace))
		seen |= !!strstr(line, "cmd=0x12345 err=-25");
	fclose(trace);
	EXPECT_TRUE(seen);
}

TEST_F(session, only_what_is_there_is_freed)
{
	uint32_t bsd;
	int other = open_dev();
	struct session_op sop = {
		.cipher = CRYPTO_AES_CBC, .keylen = 16,
		.key = (void *)key_bytes,
	};

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16, 0, 0,
				  &self->ses));
	EXPECT_EQ(0, close_session(self->fd, 0));
	EXPECT_EQ(EINVAL, close_session(self->fd, self->ses + 1));
	EXPECT_EQ(EINVAL, close_session(self->fd, self->ses ^ 0x20000));
	EXPECT_EQ(EINVAL, close_session(self->fd, UINT32_MAX));
	EXPECT_EQ(EINVAL, close_session(other, self->ses));
	EXPECT_EQ(0, close_session(self->fd, self->ses));
	EXPECT_EQ(EINVAL, close_session(self->fd, self->ses));
	/* a session of another ABI */
	ASSERT_EQ(0, call(self->fd, BSD_CIOCGSESSION, &sop));
	bsd = sop.ses;
	EXPECT_EQ(EINVAL, close_session(self->fd, bsd));
	EXPECT_EQ(EINVAL, crypt_op(self->fd, bsd, COP_ENCRYPT, 0, key_bytes,
				   (uint8_t[16]) {}, 16, key_bytes, NULL));
	EXPECT_EQ(0, call(self->fd, BSD_CIOCFSESSION, &bsd));
	close(other);
}

TEST_F(session, an_old_id_finds_no_new_session)
{
	uint32_t ids[1000];
	int i, j;

	for (i = 0; i < COUNT(ids); i++) {
		ASSERT_EQ(0, open_session(self->fd, CRYPTO_NULL, 0, 0, 0,
					  &ids[i]));
		for (j = 0; j < i; j++)
			ASSERT_NE(ids[j], ids[i]);
		ASSERT_EQ(0, close_session(self->fd, ids[i]));
	}
	/* all of many sessions exist at the same time */
	for (i = 0; i < COUNT(ids); i++) {
		ASSERT_EQ(0, open_session(self->fd, CRYPTO_NULL, 0, 0, 0,
					  &ids[i]));
	}
	for (i = COUNT(ids) - 1; i >= 0; i--) {
		uint8_t out[3] = "";

		ASSERT_EQ(0, crypt_op(self->fd, ids[i], COP_ENCRYPT, 0, "abc",
				      out, 3, NULL, NULL));
		ASSERT_EQ(0, memcmp(out, "abc", 3));
		ASSERT_EQ(0, close_session(self->fd, ids[i]));
	}
}

TEST_F(session, what_is_told_of_a_session)
{
	struct session_info_op info, zero;

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_AES_CBC, 16,
				  CRYPTO_SHA1_HMAC, 20, &self->ses));
	memset(&info, 0xa5, sizeof(info));
	info.ses = self->ses;
	ASSERT_EQ(0, call(self->fd, CIOCGSESSINFO, &info));
	EXPECT_EQ(self->ses, info.ses);
	EXPECT_STREQ("cbc(aes)", info.cipher_info.cra_name);
	EXPECT_STREQ("cryptosoft0", info.cipher_info.cra_driver_name);
	EXPECT_STREQ("hmac(sha1)", info.hash_info.cra_name);
	EXPECT_EQ(15, info.alignmask);
	EXPECT_EQ(0, info.flags);
	/* no bytes of the kernel's stack between and behind the names */
	memset(&zero, 0, sizeof(zero));
	zero.ses = info.ses;
	strcpy(zero.cipher_info.cra_name, "cbc(aes)");
	strcpy(zero.cipher_info.cra_driver_name, "cryptosoft0");
	strcpy(zero.hash_info.cra_name, "hmac(sha1)");
	strcpy(zero.hash_info.cra_driver_name, "cryptosoft0");
	zero.alignmask = 15;
	EXPECT_EQ(0, memcmp(&zero, &info, sizeof(zero)));

	info.ses = self->ses + 1;
	EXPECT_EQ(EINVAL, call(self->fd, CIOCGSESSINFO, &info));
	ASSERT_EQ(0, open_session(self->fd, CRYPTO_OCF_CHACHA20, 32, 0, 0,
				  &self->ses));
	info.ses = self->ses;
	ASSERT_EQ(0, call(self->fd, CIOCGSESSINFO, &info));
	EXPECT_STREQ("chacha20", info.cipher_info.cra_name);
	EXPECT_STREQ("", info.hash_info.cra_name);
}

TEST_F(session, a_second_descriptor_is_the_same_file)
{
	uint8_t out[3] = "";
	uint32_t fd2;
	int before;

	ASSERT_EQ(0, open_session(self->fd, CRYPTO_NULL, 0, 0, 0, &self->ses));
	ASSERT_EQ(0, call(self->fd, CRIOGET, &fd2));
	EXPECT_NE(self->fd, fd2);
	EXPECT_EQ(0, fcntl(fd2, F_GETFD) & FD_CLOEXEC);
	close(self->fd);
	EXPECT_EQ(0, crypt_op(fd2, self->ses, COP_ENCRYPT, 0, "abc", out, 3,
			      NULL, NULL));
	EXPECT_EQ(0, memcmp(out, "abc", 3));
	before = open_fds();
	EXPECT_EQ(EFAULT, call(fd2, CRIOGET, NULL));
	EXPECT_EQ(before, open_fds());
	self->fd = fd2;
}

TEST_F(session, public_keys)
{
	uint32_t feat = 0xdeadbeef;

	EXPECT_EQ(0, call(self->fd, CIOCASYMFEAT, &feat));
	EXPECT_EQ(ALL_FEATURES, feat);
	EXPECT_EQ(EFAULT, call(self->fd, CIOCASYMFEAT, NULL));
	EXPECT_TRUE(powers(self->fd, CIOCKEY));
	EXPECT_STREQ("", wrongly_answered(self->fd, CIOCKEY));
	EXPECT_EQ(EFAULT, call(self->fd, CIOCKEY, NULL));
}

TEST_F(session, it_is_a_device_for_ioctl_alone)
{
	uint8_t buf[16];
	int i;

	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_TRUE(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, 0) ==
		    MAP_FAILED);
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(ENOTTY, call(self->fd, 0, buf));
	EXPECT_EQ(ENOTTY, call(self->fd, _IO('c', 102), buf));
	EXPECT_EQ(ENOTTY, call(self->fd, _IOWR('c', 108, struct crypt_op),
			       buf));
	EXPECT_EQ(ENOTTY, call(self->fd, _IOWR('d', 104, struct crypt_op),
			       buf));
	for (i = 200; i < 256; i++)
		EXPECT_EQ(ENOTTY, call(self->fd, _IOWR('c', i, int), buf));
}

static void become(int uid)
{
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		abort();
}

TEST_F(session, the_node_is_for_root_and_its_group)
{
	struct stat st;

	ASSERT_EQ(0, stat(DEVICE, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(0660, st.st_mode & 07777);
	EXPECT_EQ(0, st.st_uid);
	become(SOMEBODY);
	EXPECT_EQ(-1, open_dev());
	EXPECT_EQ(EACCES, errno);
}

/*
 * Opens sessions until one is refused.  Returns their number; the last is in
 * @last.
 */
static int fill_up(int fd, uint32_t *last, int *err)
{
	uint32_t ses;
	int n = 0;

	while (!(*err = open_session(fd, CRYPTO_NULL, 0, 0, 0, &ses))) {
		*last = ses;
		n++;
	}
	return n;
}

TEST_F(session, a_user_has_so_many_sessions)
{
	uint32_t ses;
	int a, b, err, status;
	pid_t pid;

	ASSERT_EQ(0, set_cdev("max_sessions", "50"));
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	/* root has no such limit */
	for (a = 0; a < 60; a++) {
		ASSERT_EQ(0, open_session(self->fd, CRYPTO_NULL, 0, 0, 0,
					  &self->ses));
	}
	/* another user has a separate limit */
	pid = fork();
	if (!pid) {
		become(SOMEBODY_ELSE);
		a = open_dev();
		_exit(fill_up(a, &ses, &err) != 50 || err != EDQUOT);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	pid = fork();
	if (!pid) {
		become(SOMEBODY);
		a = open_dev();
		b = open_dev();
		EXPECT_EQ(50, fill_up(a, &ses, &err));
		EXPECT_EQ(EDQUOT, err);
		/* the limit counts all files of the user */
		EXPECT_EQ(0, fill_up(b, &ses, &err));
		EXPECT_EQ(0, close_session(a, ses));
		EXPECT_EQ(1, fill_up(b, &ses, &err));
		close(a);
		EXPECT_EQ(49, fill_up(b, &ses, &err));
		_exit(_metadata->exit_code);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, chmod(DEVICE, 0660));
}

TEST_F(session, a_user_has_so_many_bytes_under_way)
{
	uint8_t *buf = fenced(64);
	uint32_t ses;
	int a, status;
	pid_t pid;

	ASSERT_EQ(0, set_cdev("max_bytes", "100000"));
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	pid = fork();
	if (!pid) {
		become(SOMEBODY);
		a = open_dev();
		EXPECT_EQ(0, open_session(a, CRYPTO_NULL, 0, 0, 0, &ses));
		EXPECT_EQ(0, crypt_op(a, ses, COP_ENCRYPT, COP_FLAG_NO_ZC,
				      buf, buf, 100000, NULL, NULL));
		EXPECT_EQ(EDQUOT, crypt_op(a, ses, COP_ENCRYPT, COP_FLAG_NO_ZC,
					   buf, buf, 100001, NULL, NULL));
		EXPECT_EQ(0, crypt_op(a, ses, COP_ENCRYPT, 0, buf, buf, 100000,
				      NULL, NULL));
		EXPECT_EQ(EDQUOT, crypt_op(a, ses, COP_ENCRYPT, 0, buf, buf,
					   100001, NULL, NULL));
		/* two buffers count twice */
		EXPECT_EQ(EDQUOT, crypt_op(a, ses, COP_ENCRYPT, 0, buf,
					   buf + 128 * 1024, 60000, NULL,
					   NULL));
		_exit(_metadata->exit_code);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, open_session(self->fd, CRYPTO_NULL, 0, 0, 0, &ses));
	EXPECT_EQ(0, crypt_op(self->fd, ses, COP_ENCRYPT, 0, buf, buf,
			      64 * PAGE, NULL, NULL));
	ASSERT_EQ(0, chmod(DEVICE, 0660));
}

TEST_HARNESS_MAIN
