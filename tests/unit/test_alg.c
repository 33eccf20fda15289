// SPDX-License-Identifier: BSD-2-Clause
/*
 * The algorithm table: no two rows are alike; the numbers are those of both
 * ABIs, and the sizes those of OpenSSL; and the policy on weak algorithms.
 */
#include <kselftest_harness.h>
#include <pthread.h>

#include "../../kernel/core/session/alg.h"
#include "../../tools/lib/oracle.h"
#include "../../tools/lib/ids.h"

#define for_each_alg(row_) \
	for (unsigned int alg_ = 1; alg_ < OCF_ALG_COUNT; alg_++) \
		if ((row_ = ocf_alg_info(alg_)))

static enum ocf_alg by_name(const char *name)
{
	return ocf_alg_by_name(name, strlen(name));
}

TEST(every_algorithm_has_a_row)
{
	unsigned int alg;

	EXPECT_EQ(NULL, ocf_alg_info(OCF_ALG_NONE));
	EXPECT_EQ(NULL, ocf_alg_info(OCF_ALG_COUNT));
	EXPECT_EQ(NULL, ocf_alg_info(-1));
	for (alg = 1; alg < OCF_ALG_COUNT; alg++) {
		ASSERT_NE(NULL, ocf_alg_info(alg)) TH_LOG("%u", alg);
	}
}

TEST(no_two_rows_are_alike)
{
	const struct ocf_alg_info *a, *b;

	for_each_alg(a) for_each_alg(b) {
		if (a == b)
			continue;
		EXPECT_STRNE(a->name, b->name);
		if (a->linux_id)
			EXPECT_NE(a->linux_id, b->linux_id)
				TH_LOG("%s", a->name);
		if (a->bsd_id)
			EXPECT_NE(a->bsd_id, b->bsd_id) TH_LOG("%s", a->name);
	}
}

TEST(a_name_finds_its_row_and_nothing_else_does)
{
	const struct ocf_alg_info *row;

	for_each_alg(row) {
		EXPECT_EQ(row, ocf_alg_info(by_name(row->name)));
		EXPECT_EQ(OCF_ALG_NONE, ocf_alg_by_name(row->name,
						strlen(row->name) - 1));
	}
	EXPECT_EQ(OCF_ALG_NONE, by_name(""));
	EXPECT_EQ(OCF_ALG_NONE, by_name("aes-cbc "));
}

/*
 * The numbers in the table are those of the headers, with which programs were
 * built.
 */
static void check_ids(struct __test_metadata *_metadata, enum ocf_abi abi,
		      const struct id *ids, int n)
{
	const struct ocf_alg_info *row;
	bool known[256] = {};
	enum ocf_alg alg;
	int i;

	for (i = 0; i < n; i++) {
		EXPECT_EQ(ids[i].was, ids[i].id);
		known[ids[i].id] = true;
		alg = ocf_alg_by_id(abi, ids[i].id);
		EXPECT_EQ(ids[i].alg ? by_name(ids[i].alg) : OCF_ALG_NONE, alg)
			TH_LOG("%u", ids[i].id);
	}
	for_each_alg(row) {
		unsigned int id = abi == OCF_ABI_LINUX ? row->linux_id :
							 row->bsd_id;

		EXPECT_TRUE(!id || known[id]) TH_LOG("%s", row->name);
	}
	EXPECT_EQ(OCF_ALG_NONE, ocf_alg_by_id(abi, 0));
	EXPECT_EQ(OCF_ALG_NONE, ocf_alg_by_id(abi, 255));
	EXPECT_EQ(OCF_ALG_NONE, ocf_alg_by_id(abi, 256 + 11));
}

TEST(ids_of_linux_programs)
{
	check_ids(_metadata, OCF_ABI_LINUX, ids_linux, nids_linux);
}

TEST(ids_of_bsd_programs)
{
	check_ids(_metadata, OCF_ABI_BSD, ids_bsd, nids_bsd);
}

TEST(ioctls_are_those_of_the_originals_and_distinct)
{
	unsigned long all[64];
	int i, j, n = 0;

	for (i = 0; i < ncalls_linux; i++) {
		EXPECT_EQ(calls_linux[i].was, calls_linux[i].number)
			TH_LOG("%s", calls_linux[i].name);
		all[n++] = calls_linux[i].number;
	}
	for (i = 0; i < ncalls_bsd; i++) {
		EXPECT_EQ(calls_bsd[i].was, calls_bsd[i].number)
			TH_LOG("BSD %s", calls_bsd[i].name);
		all[n++] = calls_bsd[i].number;
	}
	/* CIOCFSESSION and CIOCASYMFEAT as BSD's own _IOW and _IOR make them */
	all[n++] = 0x80046366;
	all[n++] = 0x40046369;
	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			EXPECT_NE(all[i], all[j]);
}

/* OpenSSL counts XTS as a stream cipher; OCF and the kernel do not. */
static unsigned int block_of(const struct ocf_alg_info *row,
			     const struct oracle_sizes *s)
{
	return strcmp(row->name, "aes-xts") ? s->block : 16;
}

TEST(sizes_are_those_of_openssl)
{
	const struct ocf_alg_info *row;
	struct oracle_sizes s;
	int known = 0;

	ASSERT_TRUE(oracle_init());
	for_each_alg(row) {
		size_t keylen = row->key_max > 64 ? 64 : row->key_max;

		if (!oracle_sizes(row->name, keylen, &s))
			continue;
		known++;
		if (row->type == OCF_TYPE_CIPHER ||
		    row->type == OCF_TYPE_AEAD) {
			EXPECT_EQ(block_of(row, &s), row->block)
				TH_LOG("%s", row->name);
			EXPECT_EQ(s.iv, row->iv) TH_LOG("%s", row->name);
			EXPECT_GE(s.key, row->key_min) TH_LOG("%s", row->name);
			EXPECT_LE(s.key, row->key_max) TH_LOG("%s", row->name);
		} else {
			EXPECT_EQ(s.digest, row->digest)
				TH_LOG("%s", row->name);
		}
	}
	/*
	 * all but null, null-mac and deflate, and without SM4 before OpenSSL
	 * 3.1
	 */
	EXPECT_EQ(OCF_ALG_COUNT - 1 - 5, known);
}

TEST(rows_make_sense)
{
	const struct ocf_alg_info *row;

	for_each_alg(row) {
		EXPECT_LE(row->key_min, row->key_max) TH_LOG("%s", row->name);
		EXPECT_TRUE(!row->key_max || row->key_step)
			TH_LOG("%s", row->name);
		EXPECT_LE(row->iv_min, row->iv) TH_LOG("%s", row->name);
		EXPECT_LE(row->iv, row->iv_max) TH_LOG("%s", row->name);
		EXPECT_LE(row->iv_max, OCF_IV_MAX) TH_LOG("%s", row->name);
		EXPECT_TRUE(!row->iv || row->iv_step)
			TH_LOG("%s", row->name);
		EXPECT_LE(row->digest, OCF_TAG_MAX) TH_LOG("%s", row->name);
		EXPECT_TRUE(row->block && !(row->block & (row->block - 1)))
			TH_LOG("%s", row->name);
		EXPECT_LE(row->key_max, row->type == OCF_TYPE_CIPHER ||
			  row->type == OCF_TYPE_AEAD ? OCF_KEY_MAX :
						       OCF_MACKEY_MAX)
			TH_LOG("%s", row->name);
		/* the whole tag is always allowed, a longer one never */
		if (row->digest) {
			EXPECT_TRUE(row->tags & BIT_ULL(row->digest - 1))
				TH_LOG("%s", row->name);
			EXPECT_EQ(0, row->digest < 64 ?
				     row->tags >> row->digest : 0)
				TH_LOG("%s", row->name);
		}
	}
}

TEST(weak_algorithms_are_off_until_allowed)
{
	static const char * const weak[] = { "des-cbc", "md5", "hmac-md5" };
	const struct ocf_alg_info *row;
	int n = 0;
	size_t i;

	for_each_alg(row)
		n += !!(row->flags & OCF_ALG_WEAK);
	EXPECT_EQ(ARRAY_SIZE(weak), n);
	for (i = 0; i < ARRAY_SIZE(weak); i++)
		EXPECT_FALSE(ocf_alg_permitted(by_name(weak[i])));
	EXPECT_TRUE(ocf_alg_permitted(OCF_ALG_NONE));
	EXPECT_TRUE(ocf_alg_permitted(OCF_AES_CBC));
	EXPECT_TRUE(ocf_alg_permitted(OCF_SHA1));
}

static void expect_weak(struct __test_metadata *_metadata, const char *want)
{
	char buf[4096];

	EXPECT_EQ(strlen(want), ocf_weak_show(buf, sizeof(buf)));
	EXPECT_STREQ(want, buf);
}

TEST(the_administrator_allows_weak_algorithms)
{
	expect_weak(_metadata, "none\n");
	EXPECT_EQ(0, ocf_weak_set("md5\n"));
	expect_weak(_metadata, "md5\n");
	EXPECT_TRUE(ocf_alg_permitted(OCF_MD5));
	EXPECT_FALSE(ocf_alg_permitted(OCF_HMAC_MD5));
	EXPECT_EQ(0, ocf_weak_set("hmac-md5,des-cbc"));
	expect_weak(_metadata, "des-cbc,hmac-md5\n");
	EXPECT_FALSE(ocf_alg_permitted(OCF_MD5));
	EXPECT_EQ(0, ocf_weak_set("all"));
	expect_weak(_metadata, "des-cbc,md5,hmac-md5\n");
	EXPECT_EQ(0, ocf_weak_set("none"));
	expect_weak(_metadata, "none\n");
	EXPECT_EQ(0, ocf_weak_set("all"));
	EXPECT_EQ(0, ocf_weak_set(""));
	expect_weak(_metadata, "none\n");
}

TEST(a_list_with_a_mistake_changes_nothing)
{
	static const char * const wrong[] = {
		"md5,", "aes-cbc", "md4", "md5,md4", "MD5", "md5 des-cbc", ",",
		"nonee", "al", "md5\nmd5",
	};
	size_t i;

	EXPECT_EQ(0, ocf_weak_set("des-cbc"));
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		EXPECT_EQ(-EINVAL, ocf_weak_set(wrong[i]))
			TH_LOG("'%s'", wrong[i]);
		expect_weak(_metadata, "des-cbc\n");
	}
}

static void *set_weak(void *list)
{
	int i;

	for (i = 0; i < 2000; i++)
		ocf_weak_set(list);
	return NULL;
}

TEST(the_policy_may_be_asked_while_it_changes)
{
	pthread_t a, b;
	int i, wrong = 0;

	pthread_create(&a, NULL, set_weak, "md5,hmac-md5");
	pthread_create(&b, NULL, set_weak, "none");
	for (i = 0; i < 2000; i++)
		wrong += ocf_alg_permitted(OCF_DES_CBC);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	EXPECT_EQ(0, wrong);
}

TEST_HARNESS_MAIN
