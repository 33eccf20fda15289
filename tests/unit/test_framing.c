// SPDX-License-Identifier: BSD-2-Clause
/*
 * Framing: the rows of TLS are compared with the numbers of the RFCs; what is
 * sealed is opened; and invalid descriptors are refused.
 */
#include <errno.h>
#include <kselftest_harness.h>

#include "../../kernel/consumers/socrypt/framing.h"

enum { KINDS = 14 };

static const struct kind {
	uint32_t	protocol;
	enum ocf_alg	cipher;
	bool		etm;
	uint32_t	block, ivlen, maclen, given;
	/*
	 * of a record of 100 bytes: bytes before, encrypted, behind,
	 * authenticated
	 */
	uint32_t	head, data, tag, aad;
} kinds[KINDS] = {
	/* RFC 2246, 6.2.3.2: 100 + 20 + padding to 16 */
	{ SO_CRYPT_TLS_1_0, OCF_AES_CBC, false, 16, 16, 20, 16, 5, 128, 0, 13 },
	{ SO_CRYPT_TLS_1_0, OCF_DES3_CBC, false, 8, 8, 20, 8, 5, 128, 0, 13 },
	{ SO_CRYPT_TLS_1_0, OCF_AES_CBC, true, 16, 16, 20, 16, 5, 112, 20, 13 },
	{ SO_CRYPT_TLS_1_1, OCF_AES_CBC, false, 16, 16, 20, 0, 21, 128, 0, 13 },
	{ SO_CRYPT_TLS_1_1, OCF_DES3_CBC, true, 8, 8, 20, 0, 13, 104, 20, 21 },
	{ SO_CRYPT_TLS_1_2, OCF_AES_CBC, false, 16, 16, 32, 0, 21, 144, 0, 13 },
	{ SO_CRYPT_TLS_1_2, OCF_AES_CBC, true, 16, 16, 48, 0, 21, 112, 48, 29 },
	/* RFC 5288, 3; RFC 6655, 3; RFC 7905, 2 */
	{ SO_CRYPT_TLS_1_2, OCF_AES_GCM, false, 1, 12, 16, 4, 13, 100, 16, 13 },
	{ SO_CRYPT_TLS_1_2, OCF_AES_GCM, false, 1, 12, 16, 12, 13, 100, 16,
	  13 },
	{ SO_CRYPT_TLS_1_2, OCF_AES_CCM, false, 1, 12, 8, 4, 13, 100, 8, 13 },
	{ SO_CRYPT_TLS_1_2, OCF_CHACHA20_POLY1305, false, 1, 12, 16, 12, 5, 100,
	  16, 13 },
	/* RFC 8446, 5.2: a type is inside */
	{ SO_CRYPT_TLS_1_3, OCF_AES_GCM, false, 1, 12, 16, 12, 5, 101, 16, 5 },
	{ SO_CRYPT_TLS_1_3, OCF_AES_CCM, false, 1, 12, 8, 12, 5, 101, 8, 5 },
	{ SO_CRYPT_TLS_1_3, OCF_CHACHA20_POLY1305, false, 1, 12, 16, 12, 5, 101,
	  16, 5 },
};

static struct so_framing framing_of(const struct kind *k)
{
	return (struct so_framing){
		.f = *so_framing_of_tls(k->protocol, k->cipher, k->etm),
		.block = k->block,
		.ivlen = k->ivlen,
		.maclen = k->maclen,
	};
}

TEST(rows)
{
	struct so_framing_plan p;
	struct so_framing fr;
	int i;

	for (i = 0; i < KINDS; i++) {
		ASSERT_NE(NULL,
			  so_framing_of_tls(kinds[i].protocol, kinds[i].cipher,
					    kinds[i].etm));
		fr = framing_of(&kinds[i]);
		ASSERT_EQ(0, so_framing_check(&fr, kinds[i].given))
		TH_LOG("%d", i);
		so_framing_plan(&fr, 100, &p);
		EXPECT_EQ(kinds[i].head, p.head);
		EXPECT_EQ(kinds[i].data, p.data);
		EXPECT_EQ(kinds[i].tag, p.tag);
		EXPECT_EQ(kinds[i].aad, p.aad);
		EXPECT_EQ(p.head + p.data + p.tag, p.wire);
		EXPECT_EQ(100 + p.tail, p.data);
	}
}

TEST(there_are_no_such_rows)
{
	EXPECT_EQ(NULL, so_framing_of_tls(SO_CRYPT_FRAMED, OCF_AES_GCM, false));
	EXPECT_EQ(NULL,
		  so_framing_of_tls(SO_CRYPT_TLS_1_1, OCF_AES_GCM, false));
	EXPECT_EQ(NULL, so_framing_of_tls(SO_CRYPT_TLS_1_2, OCF_AES_GCM, true));
	EXPECT_EQ(NULL,
		  so_framing_of_tls(SO_CRYPT_TLS_1_3, OCF_AES_CBC, false));
	EXPECT_EQ(NULL,
		  so_framing_of_tls(SO_CRYPT_TLS_1_2, OCF_AES_CTR, false));
	EXPECT_EQ(NULL, so_framing_of_tls(99, OCF_AES_GCM, false));
}

/*
 * The receiver's plan of a record agrees with the sender's, for every length.
 */
TEST(both_ways)
{
	uint8_t head[FRAMING_HEAD_MAX], aad[2][FRAMING_AAD_MAX];
	uint8_t nonce[OCF_IV_MAX] = "0123456789abcde";
	struct so_framing_plan out, in;
	struct so_framing fr;
	uint32_t n;
	int i;

	for (i = 0; i < KINDS; i++) {
		fr = framing_of(&kinds[i]);
		for (n = 0; n <= fr.f.payload_max; n += n < 600 ? 1 : 97) {
			so_framing_plan(&fr, n, &out);
			so_framing_head(&fr, &out, 21, nonce, head);
			ASSERT_EQ(out.wire - 5, so_framing_sealed(&fr, head));
			ASSERT_EQ(0, so_framing_open(&fr, head, out.wire - 5,
						     &in));
			ASSERT_EQ(out.data, in.data);
			ASSERT_EQ(out.head, in.head);
			ASSERT_EQ(out.tag, in.tag);
			ASSERT_EQ(out.aad, in.aad);
			if (!kinds[i].etm &&
			    fr.f.order == SO_CRYPT_MAC_THEN_ENCRYPT)
				continue;	/* the length is secret */
			so_framing_aad(&fr, &out, head, 7, aad[0]);
			so_framing_aad(&fr, &in, head, 7, aad[1]);
			ASSERT_EQ(0, memcmp(aad[0], aad[1], out.aad));
		}
	}
}

TEST(bytes)
{
	static const uint8_t header[] = { 22, 3, 3, 0, 60 };
	static const uint8_t aad12[] = {
		0, 0, 0, 0, 0, 0, 1, 2, 22, 3, 3, 0, 36
	};
	static const uint8_t iv[12] = { 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 5 };
	static const uint8_t xored[12] = { 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 1, 7 };
	uint8_t head[FRAMING_HEAD_MAX], aad[FRAMING_AAD_MAX], to[16], tail[99];
	struct so_framing fr = framing_of(&kinds[7]);
	struct so_framing_plan p;
	int i;

	so_framing_plan(&fr, 36, &p);
	so_framing_head(&fr, &p, 22, iv + 4, head);
	EXPECT_EQ(0, memcmp(header, head, 5));
	EXPECT_EQ(0, memcmp(iv + 4, head + 5, 8));
	so_framing_aad(&fr, &p, head, 0x102, aad);
	EXPECT_EQ(0, memcmp(aad12, aad, 13));
	so_framing_nonce(&fr, iv, 4, iv + 4, 0x102, to);
	EXPECT_EQ(0, memcmp(iv, to, 12));

	fr = framing_of(&kinds[11]);
	so_framing_plan(&fr, 36, &p);
	so_framing_head(&fr, &p, 22, iv, head);
	EXPECT_EQ(23, head[0]);
	so_framing_nonce(&fr, iv, 12, iv, 0x102, to);
	EXPECT_EQ(0, memcmp(xored, to, 12));
	so_framing_tail(&fr, &p, 22, tail);
	EXPECT_EQ(22, tail[0]);

	/* RFC 5246, 6.2.3.2: each byte of padding is the number of others */
	fr = framing_of(&kinds[0]);
	so_framing_plan(&fr, 3, &p);
	memset(tail, 0xee, sizeof(tail));
	so_framing_tail(&fr, &p, 23, tail);
	ASSERT_EQ(29, p.tail);
	for (i = 0; i < 20; i++)
		EXPECT_EQ(0, tail[i]);
	for (; i < 29; i++)
		EXPECT_EQ(8, tail[i]);
}

TEST(what_is_no_record)
{
	struct so_framing gcm = framing_of(&kinds[7]),
			  cbc = framing_of(&kinds[5]);
	uint8_t head[] = { 23, 3, 3, 0x48, 0 };
	struct so_framing_plan p;

	EXPECT_EQ(0x4800, so_framing_sealed(&gcm, head));
	head[4] = 1;
	EXPECT_EQ(-EMSGSIZE, so_framing_sealed(&gcm, head));
	EXPECT_EQ(-EBADMSG, so_framing_open(&gcm, head, 23, &p));
	EXPECT_EQ(0, so_framing_open(&gcm, head, 24, &p));
	/*
	 * The shortest record: an IV of 16 bytes, then a MAC of 32 and at least
	 * one byte of padding, which fill whole blocks: 48.
	 */
	EXPECT_EQ(-EBADMSG, so_framing_open(&cbc, head, 16 + 32, &p));
	EXPECT_EQ(-EBADMSG, so_framing_open(&cbc, head, 16 + 47, &p));
	EXPECT_EQ(0, so_framing_open(&cbc, head, 16 + 48, &p));
	EXPECT_EQ(-EBADMSG, so_framing_open(&cbc, head, 16 + 49, &p));
	/* the length is checked before the rest of a header */
	head[1] = 2;
	EXPECT_EQ(-EMSGSIZE, so_framing_sealed(&gcm, head));
	EXPECT_EQ(-EBADMSG, so_framing_open(&gcm, head, 23, &p));
	EXPECT_EQ(-EPROTO, so_framing_open(&gcm, head, 24, &p));
}

/* A protocol that is not TLS: a length of 4 bytes, encrypt-then-MAC */
static struct so_framing own(void)
{
	return (struct so_framing){
		.f = {
			.header_len = 4, .type_at = SO_CRYPT_NOWHERE,
			.length_size = 4, .order = SO_CRYPT_ENCRYPT_THEN_MAC,
			.nonce = SO_CRYPT_NONCE_RANDOM, .explicit_len = 16,
			.flags = SO_CRYPT_AUTH_NUMBER | SO_CRYPT_AUTH_HEADER |
				 SO_CRYPT_PADDED,
			.payload_max = 65536, .sealed_max = 66000,
			.number_max = 1000,
		},
		.block = 16, .ivlen = 16, .maclen = 32,
	};
}

TEST(descriptors)
{
#define BAD(ivlen, field, value)                                 \
	do {                                                     \
		fr = own();                                      \
		fr.field = (value);                              \
		EXPECT_EQ(-EINVAL, so_framing_check(&fr, ivlen)) \
		TH_LOG(#field);                                  \
	} while (0)
	struct so_framing fr = own();

	ASSERT_EQ(0, so_framing_check(&fr, 0));
	BAD(0, f.number_max, UINT64_MAX);
	BAD(0, f.header_len, 0);
	BAD(0, f.header_len, 17);
	BAD(0, f.header_len, 3);
	BAD(0, f.length_size, 0);
	BAD(0, f.length_size, 5);
	BAD(0, f.length_size, 2);	/* 66000 does not fit in the field */
	BAD(0, f.length_at, 1);
	BAD(0, f.type_at, 3);
	BAD(0, f.type_at, 4);
	BAD(0, f.order, 3);
	BAD(0, f.order, SO_CRYPT_AEAD);	/* with a random nonce */
	BAD(0, f.nonce, 5);
	BAD(0, f.nonce, SO_CRYPT_NONCE_NONE);
	BAD(4, f.nonce, SO_CRYPT_NONCE_COUNTED);
	BAD(16, f.nonce, SO_CRYPT_NONCE_XOR);
	/* a chained nonce must not be sent as well */
	BAD(16, f.nonce, SO_CRYPT_NONCE_CHAINED);
	BAD(0, f.explicit_len, 8);
	BAD(16, f.explicit_len, 16);	/* an IV that is not used */
	BAD(0, f.auth_length, 3);
	BAD(0, f.pad[0], 1);
	BAD(0, f.flags, own().f.flags | 1 << 5);
	BAD(0, f.flags, own().f.flags | SO_CRYPT_INNER_TYPE);
	BAD(0, f.flags, SO_CRYPT_AUTH_NUMBER);		/* blocks, no padding */
	BAD(0, f.payload_max, 0);
	BAD(0, f.payload_max, 65537);
	BAD(0, f.sealed_max, 65536);
	BAD(0, f.sealed_max, 1 << 20);
	/* the shortest record has less than 128 bytes */
	BAD(0, f.length_more, -128);
	BAD(0, maclen, 0);
	/* the core writes the payload's length where TLS has it */
	fr = own();
	fr.f.order = SO_CRYPT_MAC_THEN_ENCRYPT;
	EXPECT_EQ(0, so_framing_check(&fr, 0));
	fr.f.auth_length = SO_CRYPT_LENGTH_PAYLOAD;
	EXPECT_EQ(-EINVAL, so_framing_check(&fr, 0));
#undef BAD
}

/* The type is the last byte that is not zero, so no type is zero. */
TEST(no_inner_type_is_zero)
{
	struct so_framing fr = {
		.f = *so_framing_of_tls(SO_CRYPT_TLS_1_3, OCF_AES_GCM, false),
		.block = 1,
		.ivlen = 12,
		.maclen = 16,
	};

	ASSERT_EQ(0, so_framing_check(&fr, 12));
	EXPECT_FALSE(so_framing_type_fits(&fr.f, 0));
	EXPECT_TRUE(so_framing_type_fits(&fr.f, 1));
	fr.f.data_type = 0;
	EXPECT_EQ(-EINVAL, so_framing_check(&fr, 12));
	fr.f.flags &= ~SO_CRYPT_INNER_TYPE;
	EXPECT_TRUE(so_framing_type_fits(&fr.f, 0));
	EXPECT_EQ(0, so_framing_check(&fr, 12));
}

TEST_HARNESS_MAIN
