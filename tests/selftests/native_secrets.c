// SPDX-License-Identifier: BSD-2-Clause
/*
 * No key of a closed session stays in the kernel's memory, all of which
 * /proc/kcore shows.  This test needs a machine whose allocator does not
 * overwrite freed memory.  All keys begin with the same eight random bytes.
 * The test keeps these inverted, so that its own memory does not look like a
 * key.
 */
#include <elf.h>
#include <kselftest_harness.h>
#include <sys/random.h>

#include "native.h"

#define EACH		8		/* sessions for each kind */
#define CHUNK		(1 << 20)
#define TRIES		60		/* searches, one each second */
#define TEXT_START	0xffffffff80000000ull
#define NOWHERE		((Elf64_Addr)~0ull)

static uint64_t inverted;

static const struct kind {
	uint32_t	mode;
	const char	*cipher, *mac;
	uint32_t	keylen, mackeylen;
} kinds[] = {
	{ OCF_MODE_CIPHER, "aes-cbc", "", 32, 0 },
	{ OCF_MODE_CIPHER, "aes-ctr", "", 16, 0 },
	{ OCF_MODE_CIPHER, "aes-xts", "", 64, 0 },
	{ OCF_MODE_CIPHER, "camellia-cbc", "", 16, 0 },
	{ OCF_MODE_AEAD, "aes-gcm", "", 32, 0 },
	{ OCF_MODE_AEAD, "aes-ccm", "", 16, 0 },
	{ OCF_MODE_AEAD, "chacha20-poly1305", "", 32, 0 },
	{ OCF_MODE_DIGEST, "", "hmac-sha256", 0, 32 },
	{ OCF_MODE_DIGEST, "", "hmac-sha512", 0, 64 },
	{ OCF_MODE_DIGEST, "", "aes-cmac", 0, 16 },
	{ OCF_MODE_ETA, "aes-cbc", "hmac-sha1", 16, 20 },
	{ OCF_MODE_MTE, "aes-cbc", "hmac-sha256", 32, 32 },
};

FIXTURE(secrets)
{
	int fd, kcore;
	Elf64_Phdr part[64];
	int parts;
	uint8_t *chunk;
};

/* Finds the parts of /proc/kcore that are memory, each once. */
static int find_parts(int kcore, Elf64_Phdr *part, int max)
{
	Elf64_Ehdr head;
	Elf64_Phdr p;
	int i, n = 0;

	if (pread(kcore, &head, sizeof(head), 0) != sizeof(head))
		return 0;
	for (i = 0; i < head.e_phnum && n < max; i++) {
		if (pread(kcore, &p, sizeof(p), head.e_phoff + i * sizeof(p)) !=
		    sizeof(p))
			return 0;
		if (p.p_type == PT_LOAD && p.p_paddr != NOWHERE &&
		    p.p_vaddr < TEXT_START)
			part[n++] = p;
	}
	return n;
}

FIXTURE_SETUP(secrets)
{
	self->fd = open_dev();
	ASSERT_LE(0, self->fd);
	self->kcore = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->kcore);
	self->parts = find_parts(self->kcore, self->part, COUNT(self->part));
	ASSERT_LT(0, self->parts);
	self->chunk = malloc(CHUNK);
	ASSERT_NE(NULL, self->chunk);
	ASSERT_EQ(sizeof(inverted),
		  getrandom(&inverted, sizeof(inverted), 0));
}

FIXTURE_TEARDOWN(secrets)
{
	free(self->chunk);
	close(self->kcore);
	close(self->fd);
}

typedef struct _test_data_secrets Self;

/*
 * Counts the beginnings of keys.  A key that crosses the end of a page has its
 * beginning in one page.
 */
static int count_in(const uint8_t *p, size_t len)
{
	const uint64_t mark = inverted;
	uint64_t word;
	size_t i;
	int n = 0;

	for (i = 0; i + sizeof(word) <= len; i += 4) {
		memcpy(&word, p + i, sizeof(word));
		n += (word ^ mark) == ~0ull;
	}
	return n;
}

/* Returns how many keys begin in memory; -1 if the memory cannot be read. */
static int keys_in_memory(Self *self)
{
	uint64_t at, all = 0;
	ssize_t got;
	int i, n = 0;

	for (i = 0; i < self->parts; i++) {
		const Elf64_Phdr *p = &self->part[i];

		for (at = 0; at < p->p_filesz; at += got) {
			got = pread(self->kcore, self->chunk,
				    p->p_filesz - at < CHUNK ?
				    p->p_filesz - at : CHUNK,
				    p->p_offset + at);
			if (got <= 0)
				return -1;
			n += count_in(self->chunk, got);
			explicit_bzero(self->chunk, got);
			all += got;
		}
	}
	return all < 256 << 20 ? -1 : n;
}

static void make_key(uint8_t *key, unsigned int seed)
{
	int i;

	fill(key, 64, seed);
	for (i = 0; i < (int)sizeof(inverted); i++)
		key[i] = ~(inverted >> 8 * i);
}

/* Opens a session of @kind and runs an operation in it. */
static int use(int fd, const struct kind *kind, unsigned int seed)
{
	uint8_t key[64], mackey[64], in[64], out[256], tag[64] = {};
	struct ocf_session_open open = {
		.mode = kind->mode, .key = addr(key), .keylen = kind->keylen,
		.mackey = addr(mackey), .mackeylen = kind->mackeylen,
	};
	struct ocf_command c = {
		.src = addr(in), .dst = addr(out), .len = sizeof(in),
	};
	int err, res;

	fill(in, sizeof(in), 1);
	strcpy(open.cipher, kind->cipher);
	strcpy(open.mac, kind->mac);
	make_key(key, seed);
	make_key(mackey, seed + 1);
	err = native_open(fd, &open);
	explicit_bzero(key, sizeof(key));
	explicit_bzero(mackey, sizeof(mackey));
	if (err)
		return -err;
	c.session = open.session;
	if (kind->cipher[0])
		memcpy(c.iv, in, kind->mode == OCF_MODE_AEAD ? 12 : 16);
	else
		c.dst = 0;
	if (kind->mode == OCF_MODE_MTE)
		c.dst_len = 112;	/* payload, MAC and padding */
	else if (kind->mode != OCF_MODE_CIPHER)
		c.tag = addr(tag);
	res = native_run(fd, &c);
	return res < 0 ? res : (int)open.session;
}

/*
 * Opens and uses EACH sessions of each kind.  Returns whether all could be
 * opened.
 */
static bool use_all(int fd, uint32_t ses[][EACH])
{
	int i, j, res;

	for (i = 0; i < COUNT(kinds); i++) {
		for (j = 0; j < EACH; j++) {
			res = use(fd, &kinds[i], 100 * i + j);
			if (res < 0) {
				printf("# %s %s: %d\n", kinds[i].cipher,
				       kinds[i].mac, res);
				return false;
			}
			ses[i][j] = res;
		}
	}
	return true;
}

/* Waits until no more keys are freed.  Returns how many are left. */
static int keys_in_the_end(Self *self)
{
	int i, left = -1;

	for (i = 0; i < TRIES && left; i++) {
		left = keys_in_memory(self);
		sleep(!!left);
	}
	return left;
}

TEST_F(secrets, of_closed_sessions_nothing_is_left)
{
	uint32_t ses[COUNT(kinds)][EACH];
	int i, j;

	ASSERT_TRUE(use_all(self->fd, ses));
	/* the search finds keys that are in use */
	ASSERT_LE(COUNT(kinds) * EACH, keys_in_memory(self));
	for (i = 0; i < COUNT(kinds); i++)
		for (j = 0; j < EACH; j++)
			ASSERT_EQ(0, call(self->fd, OCF_SESSION_CLOSE,
					  &ses[i][j]));
	EXPECT_EQ(0, keys_in_the_end(self));
}

TEST_F(secrets, of_keys_before_the_present_ones_nothing_is_left)
{
	uint32_t ses[COUNT(kinds)][EACH];
	struct ocf_session_rekey rekey;
	uint8_t key[64];
	int i, j;

	ASSERT_TRUE(use_all(self->fd, ses));
	for (i = 0; i < COUNT(kinds); i++) {
		for (j = 0; j < EACH; j++) {
			fill(key, sizeof(key), 100 * i + j);
			rekey = (struct ocf_session_rekey){
				.size = sizeof(rekey), .session = ses[i][j],
				.key = kinds[i].keylen ? addr(key) : 0,
				.keylen = kinds[i].keylen,
				.mackey = kinds[i].mackeylen ? addr(key) : 0,
				.mackeylen = kinds[i].mackeylen,
			};
			ASSERT_EQ(0, call(self->fd, OCF_SESSION_REKEY,
					  &rekey));
		}
	}
	EXPECT_EQ(0, keys_in_the_end(self));
}

TEST_HARNESS_MAIN
