// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nonces of signatures: without additional data they are those of RFC 6979,
 * appendix A.2, for SHA-512; with additional data they differ.
 */
#include <kselftest_harness.h>
#include <openssl/sha.h>

#include "../../kernel/drivers/soft/nonce.c"

static u8 drawn;

void get_random_bytes(void *buf, size_t len)
{
	memset(buf, drawn, len);
}

/* The first nonces of the messages "sample" and "test" */
static const struct {
	const char *group;
	const char *order[3], *key[3], *sample[3], *test[3];
} vectors[] = {
	{ "A.2.1, DSA, 1024 bits",
	{ "996F967F6C8E388D9E28D01E205FBA957A5698B1" },
	{ "411602CB19A6CCC34494D79D98EF1E7ED5AF25F7" },
	{ "09ECE7CA27D0F5A4DD4E556C9DF1D21D28104F8B" },
	{ "65D2C2EEB175E370F28C75BFCDC028D22C7DBE9C" },
	}, { "A.2.2, DSA, 2048 bits",
	{ "F2C3119374CE76C9356990B465374A17F23F9ED35089BD969F61C6DDE9998C1F" },
	{ "69C7548C21D0DFEA6B9A51C9EAD4E27C33D3B3F180316E5BCAB92C933F0E4DBC" },
	{ "5A12994431785485B3F5F067221517791B85A597B7A9436995C89ED0374668FC" },
	{ "AFF1651E4CD6036D57AA8B2A05CCF1A9D5A40166340ECBBDC55BE10B568AA0AA" },
	}, { "A.2.5, P-256",
	{ "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551" },
	{ "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721" },
	{ "5FA81C63109BADB88C1F367B47DA606DA28CAD69AA22C4FE6AD7DF73A7173AA5" },
	{ "6915D11632ACA3C40D5D51C08DAF9C555933819548784480E93499000D9F0B7F" },
	}, { "A.2.6, P-384",
	{ "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF",
	  "581A0DB248B0A77AECEC196ACCC52973" },
	{ "6B9D3DAD2E1B8C1C05B19875B6659F4DE23C3B667BF297BA9AA47740787137D8",
	  "96D5724E4C70A825F872C9EA60D2EDF5" },
	{ "92FC3C7183A883E24216D1141F1A8976C5B0DD797DFA597E3D7B32198BD35331",
	  "A4E966532593A52980D0E3AAA5E10EC3" },
	{ "3780C4F67CB15518B6ACAE34C9F83568D2E12E47DEAB6C50A4E4EE5319D1E8CE",
	  "0E2CC8A136036DC4B9C00E6888F66B6C" },
	}, { "A.2.7, P-521",
	{ "01FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
	  "FFFA51868783BF2F966B7FCC0148F709A5D03BB5C9B8899C47AEBB6FB71E9138",
	  "6409" },
	{ "00FAD06DAA62BA3B25D2FB40133DA757205DE67F5BB0018FEE8C86E1B68C7E75",
	  "CAA896EB32F1F47C70855836A6D16FCC1466F6D8FBEC67DB89EC0C08B0E996B8",
	  "3538" },
	{ "01DAE2EA071F8110DC26882D4D5EAE0621A3256FC8847FB9022E2B7D28E6F101",
	  "98B1574FDD03A9053C08A1854A168AA5A57470EC97DD5CE090124EF52A2F7ECB",
	  "FFD3" },
	{ "016200813020EC986863BEDFC1B121F605C1215645018AEA1A7B215A564DE9EB",
	  "1B38A67AA1128B80CE391C4FB71187654AAA3431027BFC7F395766CA988C964D",
	  "C56D" },
	},
	/*
	 * orders that are no whole number of bytes, and digests larger than the
	 * order
	 */
	{ "A.2.8, K-163",
	{ "04000000000000000000020108A2E0CC0D99F8A5EF" },
	{ "009A4D6792295A7F730FC3F2B49CBC0F62E862272F" },
	{ NULL },
	{ "0331AD98D3186F73967B1E0B120C80B1E22EFC2988" },
	}, { "A.2.9, K-233",
	{ "8000000000000000000000000000069D5BB915BCD46EFB1AD5F173ABDF" },
	{ "103B2142BDC2A3C3B55080D09DF1808F79336DA2399F5CA7171D1BE9B0" },
	{ NULL },
	{ "1775ED919CA491B5B014C5D5E86AF53578B5A7976378F192AF665CB705" },
	}, { "A.2.14, B-233",
	{ "01000000000000000000000000000013E974E72F8A6922031D2603CFE0D7" },
	{ "007ADC13DD5BF34D1DDEEB50B2CE23B5F5E6D18067306D60C5F6FF11E5D3" },
	{ NULL },
	{ "009CE5810F1AC68810B0DFFBB6BEEF2E0053BB937969AE7886F9D064A8C4" },
	},
};

static u32 read_hex(const char *const *hex, u8 *out)
{
	unsigned int byte;
	const char *at;
	u32 len = 0, i;

	for (i = 0; i < 3 && hex[i]; i++)
		for (at = hex[i]; sscanf(at, "%2x", &byte) == 1; at += 2)
			out[len++] = byte;
	return len;
}

static struct soft_nonces *begin(int row, const char *message, bool fresh)
{
	u8 order[SOFT_ORDER_MAX], key[SOFT_ORDER_MAX];
	u8 hash[SHA512_DIGEST_LENGTH];
	struct ocf_pk_operand digest = { hash, sizeof(hash) };
	u32 len = read_hex(vectors[row].order, order);

	SHA512((const u8 *)message, strlen(message), hash);
	if (read_hex(vectors[row].key, key) != len)
		return NULL;
	return fresh ? soft_nonces_start(order, len, key, &digest) :
		       start(order, len, key, &digest, hash, 0);
}

static void first(int row, const char *message, bool fresh, u8 *out)
{
	struct soft_nonces *s = begin(row, message, fresh);

	assert(s && !soft_nonces_next(s, out));
	soft_nonces_end(s);
}

TEST(rfc6979)
{
	u8 want[SOFT_ORDER_MAX], got[SOFT_ORDER_MAX];
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		len = read_hex(vectors[i].test, want);
		first(i, "test", false, got);
		EXPECT_EQ(0, memcmp(want, got, len))
			TH_LOG("%s, test", vectors[i].group);
		if (!read_hex(vectors[i].sample, want))
			continue;
		first(i, "sample", false, got);
		EXPECT_EQ(0, memcmp(want, got, len))
			TH_LOG("%s, sample", vectors[i].group);
	}
}

TEST(fresh_bytes_make_others)
{
	u8 one[SOFT_ORDER_MAX], two[SOFT_ORDER_MAX], none[SOFT_ORDER_MAX];
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		len = read_hex(vectors[i].order, one);
		first(i, "test", false, none);
		drawn = 1;
		first(i, "test", true, one);
		first(i, "test", true, two);
		EXPECT_EQ(0, memcmp(one, two, len));
		drawn = 2;
		first(i, "test", true, two);
		EXPECT_NE(0, memcmp(one, two, len));
		EXPECT_NE(0, memcmp(one, none, len));
		/*
		 * with the same random bytes, other messages still have other
		 * nonces
		 */
		drawn = 1;
		first(i, "tess", true, two);
		EXPECT_NE(0, memcmp(one, two, len));
	}
}

/* Nonces are below the order, above zero, and never repeat. */
TEST(one_after_the_other)
{
	u8 order[SOFT_ORDER_MAX], last[SOFT_ORDER_MAX], next[SOFT_ORDER_MAX];
	struct soft_nonces *s;
	u32 i, n, len;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		len = read_hex(vectors[i].order, order);
		memset(last, 0, len);
		s = begin(i, "test", false);
		ASSERT_NE(NULL, s);
		for (n = 0; n < 1000; n++) {
			ASSERT_EQ(0, soft_nonces_next(s, next));
			ASSERT_GT(0, memcmp(next, order, len));
			ASSERT_NE(NULL, memchr_inv(next, 0, len));
			ASSERT_NE(0, memcmp(next, last, len));
			memcpy(last, next, len);
		}
		soft_nonces_end(s);
	}
}

/* The digest may be shorter or longer than the order. */
TEST(lengths_of_digests)
{
	static const u8 zeros[HASH];
	u8 order[SOFT_ORDER_MAX], key[SOFT_ORDER_MAX], out[SOFT_ORDER_MAX];
	struct ocf_pk_operand digest = { zeros, 0 };
	struct soft_nonces *s;
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		len = read_hex(vectors[i].order, order);
		read_hex(vectors[i].key, key);
		for (digest.len = 0; digest.len <= HASH; digest.len++) {
			s = soft_nonces_start(order, len, key, &digest);
			ASSERT_NE(NULL, s);
			ASSERT_EQ(0, soft_nonces_next(s, out));
			soft_nonces_end(s);
		}
	}
}

TEST_HARNESS_MAIN
