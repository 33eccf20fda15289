// SPDX-License-Identifier: BSD-2-Clause
/*
 * The data that are worked on, and what has to come of them.
 */
#include <string.h>
#include <sys/prctl.h>

#include "../lib/oracle.h"
#include "way.h"

#define PAGE	4096u
#define TAIL	(PAGE / 2)	/* bytes behind a piece: MAC, padding */
#define HALF	(2 * (LEN_MAX + PAGE))

uint8_t key[KEY_MAX], mackey[KEY_MAX], iv[IV_MAX], aad[AAD_LEN];
uint8_t area[2 * HALF] __attribute__((aligned(PAGE)));
const size_t area_size = sizeof(area);

static uint8_t expected[LEN_MAX + TAIL];
static size_t stride;
static bool known;

unsigned int places;

static void fill(uint8_t *p, size_t len, uint8_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (i * 167 + (i >> 8) * 13 + seed) & 0xff;
}

/*
 * No page is huge: whether an array is on one is chance, and programs' buffers
 * rarely are.
 */
bool data_init(void)
{
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) || !oracle_init())
		return false;
	fill(key, sizeof(key), 2);
	fill(mackey, sizeof(mackey), 5);
	/*
	 * the BSDs' interface takes only half of an IV for XTS; the other half
	 * stays zero
	 */
	fill(iv, sizeof(iv) / 2, 3);
	fill(aad, sizeof(aad), 4);
	fill(area, sizeof(area), 1);
	return true;
}

/* Large pieces begin with a page, small ones with a line of the cache. */
void lay_out(size_t len, unsigned int most)
{
	size_t step = len < PAGE ? 64 : PAGE;

	stride = (len + (len < PAGE ? 512 : TAIL) + step - 1) / step * step;
	places = HALF / stride;
	if (places > most)
		places = most;
}

uint8_t *src_at(unsigned int place)
{
	return area + place % places * stride;
}

uint8_t *dst_at(unsigned int place)
{
	return area + HALF + place % places * stride;
}

size_t record_len(const struct work *work, size_t len)
{
	size_t all = len + work->maclen;

	if (work->block > 1)
		all += work->block - all % work->block;
	return all;
}

/* Encrypted */
static size_t sealed_len(const struct work *work, size_t len)
{
	switch (work->mode) {
	case OCF_MODE_DIGEST:
		return work->maclen;
	case OCF_MODE_AEAD:
	case OCF_MODE_ETA:
	case OCF_MODE_CHAIN:
		return len + work->maclen;
	case OCF_MODE_MTE:
		return record_len(work, len);
	default:
		return len;
	}
}

size_t src_len(const struct work *work, size_t len)
{
	return work->decrypt ? sealed_len(work, len) : len;
}

size_t dst_len(const struct work *work, size_t len)
{
	return work->decrypt ? len : sealed_len(work, len);
}

/* Has OpenSSL encrypt the first source into the first destination */
static bool ask_openssl(const struct work *work, size_t len)
{
	struct work there = *work;
	bool ok;

	there.decrypt = false;
	there.device = "";
	if (!way_openssl.find(&there) || !way_openssl.begin(&there))
		return false;
	ok = way_openssl.aim(&there, len) && way_openssl.run();
	way_openssl.end();
	return ok;
}

int data_prepare(const struct work *work, size_t len)
{
	unsigned int i;

	for (i = 0; i < places; i++)
		fill(src_at(i), stride, 1);
	known = ask_openssl(work, len);
	if (!known)
		return work->decrypt && work->mode != OCF_MODE_CIPHER ? -1 : 0;
	if (work->decrypt) {
		memcpy(expected, src_at(0), len);
		for (i = 0; i < places; i++)
			memcpy(src_at(i), dst_at(0), src_len(work, len));
	} else {
		memcpy(expected, dst_at(0), dst_len(work, len));
	}
	memset(dst_at(0), 0, dst_len(work, len));
	return 1;
}

bool data_right(const struct work *work, size_t len)
{
	return !known || !memcmp(expected, dst_at(0), dst_len(work, len));
}
