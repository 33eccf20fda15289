// SPDX-License-Identifier: BSD-2-Clause
/*
 * docs/algorithms.md agrees with the table and the checks of the core: this
 * makes each of its rows again and compares.  It runs in the checkout.
 */
#include <kselftest_harness.h>

#include "../../kernel/core/session/alg.h"
#include "../../kernel/core/session/params.h"

#define DOC	"docs/algorithms.md"

/* The headings of the sections, by enum ocf_alg_type */
static const char * const headings[] = {
	[OCF_TYPE_CIPHER]	= "## Ciphers",
	[OCF_TYPE_AEAD]		= "## Authenticated encryption",
	[OCF_TYPE_DIGEST]	= "## Digests",
	[OCF_TYPE_MAC]		= "## MACs",
	[OCF_TYPE_COMPRESS]	= "## Compression",
};

static const char * const modes[] = {
	[OCF_MODE_CIPHER] = "cipher", [OCF_MODE_DIGEST] = "digest",
	[OCF_MODE_AEAD] = "aead", [OCF_MODE_ETA] = "eta",
	[OCF_MODE_MTE] = "mte", [OCF_MODE_CHAIN] = "chain",
	[OCF_MODE_COMPRESS] = "compress",
};

/* Appends text to a row, which is long enough. */
static void add(char *row, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsprintf(row + strlen(row), fmt, ap);
	va_end(ap);
}

static void add_keys(char *row, const struct ocf_alg_info *a)
{
	unsigned int n;

	if (!a->key_max)
		add(row, " - |");
	else if (a->key_min == a->key_max)
		add(row, " %u |", a->key_min);
	else if (a->key_step == 1)
		add(row, " %u-%u |", a->key_min, a->key_max);
	else {
		for (n = a->key_min; n < a->key_max; n += a->key_step)
			add(row, " %u,", n);
		add(row, " %u |", n);
	}
}

static void add_iv(char *row, const struct ocf_alg_info *a)
{
	if (!a->iv)
		add(row, " - |");
	else if (a->iv_min == a->iv_max)
		add(row, " %u |", a->iv);
	else if (a->iv_step == 1)
		add(row, " %u (%u-%u) |", a->iv, a->iv_min, a->iv_max);
	else
		add(row, " %u (%u) |", a->iv_max, a->iv_min);
}

static bool has_tag(const struct ocf_alg_info *a, unsigned int n)
{
	return n >= 1 && n <= 64 && a->tags & BIT_ULL(n - 1);
}

/* Appends the lengths that a tag may have; a range is written n-m. */
static void add_tags(char *row, const struct ocf_alg_info *a)
{
	const char *comma = " ";
	unsigned int n, m;

	for (n = 1; n <= 64; n = m + 1) {
		for (m = n; has_tag(a, n) && has_tag(a, m + 1); m++)
			;
		if (!has_tag(a, n))
			continue;
		add(row, m > n ? "%s%u-%u" : "%s%u", comma, n, m);
		comma = ", ";
	}
	add(row, a->tags ? " |" : " - |");
}

static void add_id(char *row, unsigned int id)
{
	if (id)
		add(row, " %u |", id);
	else
		add(row, " - |");
}

/*
 * Returns whether a session of @mode may be opened with @alg, alone or together
 * with a cipher or a MAC.
 */
static bool fits(enum ocf_alg alg, enum ocf_mode mode)
{
	static const u8 key[512];
	static const enum ocf_alg ciphers[] = { OCF_ALG_NONE, OCF_AES_CBC };
	static const enum ocf_alg macs[] = { OCF_ALG_NONE, OCF_HMAC_SHA256 };
	const struct ocf_alg_info *a = ocf_alg_info(alg);
	bool is_mac = a->type == OCF_TYPE_DIGEST || a->type == OCF_TYPE_MAC;
	int i;

	for (i = 0; i < 2; i++) {
		struct ocf_session_params p = {
			.mode = mode, .device = OCF_DEVICE_ANY,
			.cipher = is_mac ? ciphers[i] : alg,
			.mac = is_mac ? alg : macs[i],
			.key = key, .mackey = key,
		};

		if (p.cipher)
			p.keylen = ocf_alg_info(p.cipher)->key_max;
		if (p.mac)
			p.mackeylen = ocf_alg_info(p.mac)->key_max;
		if (!ocf_check_params(&p))
			return true;
	}
	return false;
}

static void add_modes(char *row, enum ocf_alg alg)
{
	const char *comma = " ";
	int m;

	for (m = 1; m < OCF_MODE_COUNT; m++) {
		if (!fits(alg, m))
			continue;
		add(row, "%s%s", comma, modes[m]);
		comma = ", ";
	}
	add(row, " |");
}

/* Makes a row of the document without the last column, the source. */
static void make_row(char *row, enum ocf_alg alg)
{
	const struct ocf_alg_info *a = ocf_alg_info(alg);

	sprintf(row, "| `%s` |", a->name);
	add_keys(row, a);
	add_iv(row, a);
	add(row, " %u |", a->block);
	add_id(row, a->digest);
	add_tags(row, a);
	add_id(row, a->linux_id);
	add_id(row, a->bsd_id);
	add_modes(row, alg);
	add(row, a->flags & OCF_ALG_WEAK ? " weak |" :
		 a->flags & OCF_ALG_FIPS ? " FIPS |" : " - |");
	if (a->impl)
		add(row, " `%s` |", a->impl);
	else
		add(row, " - |");
}

/* Returns the algorithm of a row; OCF_ALG_NONE for any other line. */
static enum ocf_alg row_is_about(const char *line)
{
	const char *end;

	if (strncmp(line, "| `", 3))
		return OCF_ALG_NONE;
	end = strchr(line + 3, '`');
	return end ? ocf_alg_by_name(line + 3, end - line - 3) : OCF_ALG_NONE;
}

FIXTURE(doc)
{
	FILE *file;
};

FIXTURE_SETUP(doc)
{
	self->file = fopen(DOC, "r");
	ASSERT_NE(NULL, self->file);
	ASSERT_EQ(0, ocf_weak_set("all"));
}

FIXTURE_TEARDOWN(doc)
{
	fclose(self->file);
	ocf_weak_set("none");
}

TEST_F(doc, every_algorithm_has_its_row_and_no_row_is_wrong)
{
	char line[1024], want[1024], heading[1024] = "";
	bool seen[OCF_ALG_COUNT] = {};
	enum ocf_alg alg;

	while (fgets(line, sizeof(line), self->file)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "## ", 3))
			strcpy(heading, line);
		if (strncmp(line, "| `", 3))
			continue;
		alg = row_is_about(line);
		ASSERT_NE(OCF_ALG_NONE, alg) TH_LOG("%s", line);
		EXPECT_FALSE(seen[alg]) TH_LOG("twice: %s", line);
		seen[alg] = true;
		EXPECT_STREQ(headings[ocf_alg_info(alg)->type], heading);
		make_row(want, alg);
		EXPECT_EQ(0, strncmp(want, line, strlen(want)))
			TH_LOG("\nit is   %s\nshould  %s", line, want);
		/* ... and the source */
		EXPECT_LT(strlen(want) + strlen(" x |") - 1, strlen(line))
			TH_LOG("no source: %s", line);
	}
	for (alg = 1; alg < OCF_ALG_COUNT; alg++) {
		make_row(want, alg);
		EXPECT_TRUE(seen[alg]) TH_LOG("missing:\n%s", want);
	}
}

TEST_HARNESS_MAIN
