// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks the known answers that keep bad devices out.  OpenSSL must compute the
 * same, and every algorithm and every mode must have one.
 */
#include <kselftest_harness.h>
#include <zlib.h>

#include "../../kernel/core/session/alg.h"
#include "../../kernel/core/session/params.h"
#include "../../kernel/core/device/vectors.h"
#include "../../tools/lib/oracle.h"
#include "sm4.h"

#define BUF	8192

static const char *name_of(enum ocf_alg alg)
{
	return ocf_alg_info(alg)->name;
}

static bool mac_of(const struct ocf_kat *k, const u8 *text, u32 len, u8 *mac)
{
	return oracle_digest(name_of(k->mac), k->mackey, k->mackey_len,
			     k->iv, k->mac == OCF_AES_GMAC ? k->iv_len : 0,
			     text, len, mac);
}

static bool check_cipher(const struct ocf_kat *k)
{
	u8 out[BUF];

	return k->result_len == k->text_len &&
	       oracle_cipher(name_of(k->cipher), true, k->key, k->key_len,
			     k->iv, k->text, k->text_len, out) &&
	       !memcmp(out, k->result, k->result_len);
}

static bool check_digest(const struct ocf_kat *k)
{
	u8 mac[64];

	return mac_of(k, k->text, k->text_len, mac) &&
	       !memcmp(mac, k->tag, k->tag_len);
}

static bool check_aead(const struct ocf_kat *k)
{
	u8 out[BUF], tag[16];

	const struct sm4_text text = {
		k->iv, k->iv_len, k->aad, k->aad_len, k->text, k->text_len,
		out, tag, k->tag_len,
	};

	/* OpenSSL has SM4-GCM and SM4-CCM from 3.1 on */
	return (sm4_seal(name_of(k->cipher), k->key, &text) ||
		oracle_seal(name_of(k->cipher), k->key, k->key_len, k->iv,
			    k->iv_len, k->aad, k->aad_len, k->text, k->text_len,
			    out, tag, k->tag_len)) &&
	       !memcmp(out, k->result, k->result_len) &&
	       !memcmp(tag, k->tag, k->tag_len);
}

/* Encrypt-then-MAC: the MAC covers the additional data and the ciphertext. */
static bool check_eta(const struct ocf_kat *k)
{
	u8 buf[BUF], mac[64];

	memcpy(buf, k->aad, k->aad_len);
	memcpy(buf + k->aad_len, k->result, k->result_len);
	return check_cipher(k) &&
	       mac_of(k, buf, k->aad_len + k->result_len, mac) &&
	       !memcmp(mac, k->tag, k->tag_len);
}

/*
 * MAC-then-encrypt: payload, MAC of additional data and payload, and padding
 * are encrypted.
 */
static bool check_mte(const struct ocf_kat *k)
{
	u32 maclen = ocf_alg_info(k->mac)->digest, pad;
	u8 buf[BUF], rec[BUF], out[BUF];

	memcpy(buf, k->aad, k->aad_len);
	memcpy(buf + k->aad_len, k->text, k->text_len);
	memcpy(rec, k->text, k->text_len);
	if (!mac_of(k, buf, k->aad_len + k->text_len, rec + k->text_len))
		return false;
	pad = k->result_len - k->text_len - maclen;
	memset(rec + k->text_len + maclen, pad - 1, pad);
	return oracle_cipher(name_of(k->cipher), true, k->key, k->key_len,
			     k->iv, rec, k->result_len, out) &&
	       !memcmp(out, k->result, k->result_len);
}

/* Chain: the MAC covers the plaintext. */
static bool check_chain(const struct ocf_kat *k)
{
	return check_cipher(k) && check_digest(k);
}

static bool check_compress(const struct ocf_kat *k)
{
	u8 out[BUF];
	z_stream z = {
		.next_in = (u8 *)k->result, .avail_in = k->result_len,
		.next_out = out, .avail_out = sizeof(out),
	};
	int ret = inflateInit2(&z, -15);

	if (ret == Z_OK)
		ret = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return ret == Z_STREAM_END && z.total_out == k->text_len &&
	       !memcmp(out, k->text, k->text_len);
}

static bool (*const checks[OCF_MODE_COUNT])(const struct ocf_kat *k) = {
	[OCF_MODE_CIPHER]	= check_cipher,
	[OCF_MODE_DIGEST]	= check_digest,
	[OCF_MODE_AEAD]		= check_aead,
	[OCF_MODE_ETA]		= check_eta,
	[OCF_MODE_MTE]		= check_mte,
	[OCF_MODE_CHAIN]	= check_chain,
	[OCF_MODE_COMPRESS]	= check_compress,
};

TEST(openssl_has_the_same_answers)
{
	size_t i;

	ASSERT_TRUE(oracle_init());
	for (i = 0; i < ARRAY_SIZE(ocf_kats); i++) {
		const struct ocf_kat *k = &ocf_kats[i];

		EXPECT_TRUE(checks[k->mode](k)) {
			TH_LOG("answer %zu, mode %d, %s", i, k->mode,
			       name_of(k->cipher ?: k->mac));
		}
	}
}

TEST(every_algorithm_and_every_mode_has_one)
{
	u64 algs = 0;
	u32 modes = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ocf_kats); i++) {
		const struct ocf_kat *k = &ocf_kats[i];

		modes |= BIT(k->mode);
		/*
		 * count only answers of a single algorithm: the answer of a
		 * combination does not test its parts
		 */
		if (!k->cipher || !k->mac)
			algs |= BIT_ULL(k->cipher ?: k->mac);
	}
	EXPECT_EQ(GENMASK(OCF_MODE_COUNT - 1, 1), modes);
	EXPECT_EQ(GENMASK_ULL(OCF_ALG_COUNT - 1, 1), algs);
}

TEST(their_sessions_are_valid)
{
	size_t i;

	ocf_weak_set("all");
	for (i = 0; i < ARRAY_SIZE(ocf_kats); i++) {
		const struct ocf_kat *k = &ocf_kats[i];
		struct ocf_session_params p = {
			.mode = k->mode, .cipher = k->cipher, .mac = k->mac,
			.device = OCF_DEVICE_ANY,
			.key = k->key, .keylen = k->key_len,
			.mackey = k->mackey, .mackeylen = k->mackey_len,
			.ivlen = k->iv_len, .maclen = k->tag_len,
		};

		EXPECT_EQ(0, ocf_check_params(&p)) {
			TH_LOG("answer %zu", i);
		}
	}
}

TEST_HARNESS_MAIN
