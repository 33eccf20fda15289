// SPDX-License-Identifier: BSD-2-Clause
/*
 * The card's algorithms, by OpenSSL: ciphers, and ciphers with a MAC or hash
 * before or after them.
 */
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include "card.h"

struct cipher {
	uint32_t alg;
	uint32_t key_len;
	const EVP_CIPHER *(*evp)(void);
};

static const struct cipher ciphers[] = {
	{ VIRTIO_CRYPTO_CIPHER_AES_ECB, 16, EVP_aes_128_ecb },
	{ VIRTIO_CRYPTO_CIPHER_AES_ECB, 24, EVP_aes_192_ecb },
	{ VIRTIO_CRYPTO_CIPHER_AES_ECB, 32, EVP_aes_256_ecb },
	{ VIRTIO_CRYPTO_CIPHER_AES_CBC, 16, EVP_aes_128_cbc },
	{ VIRTIO_CRYPTO_CIPHER_AES_CBC, 24, EVP_aes_192_cbc },
	{ VIRTIO_CRYPTO_CIPHER_AES_CBC, 32, EVP_aes_256_cbc },
	{ VIRTIO_CRYPTO_CIPHER_AES_CTR, 16, EVP_aes_128_ctr },
	{ VIRTIO_CRYPTO_CIPHER_AES_CTR, 24, EVP_aes_192_ctr },
	{ VIRTIO_CRYPTO_CIPHER_AES_CTR, 32, EVP_aes_256_ctr },
	{ VIRTIO_CRYPTO_CIPHER_AES_XTS, 32, EVP_aes_128_xts },
	{ VIRTIO_CRYPTO_CIPHER_AES_XTS, 64, EVP_aes_256_xts },
	{ VIRTIO_CRYPTO_CIPHER_3DES_CBC, 24, EVP_des_ede3_cbc },
};

/* Virtio's numbers of hashes and of their HMACs, by name */
struct hash {
	uint32_t plain, hmac;
	const char *name;
};

static const struct hash hashes[] = {
	{ VIRTIO_CRYPTO_HASH_SHA1, VIRTIO_CRYPTO_MAC_HMAC_SHA1, "SHA1" },
	{ VIRTIO_CRYPTO_HASH_SHA_224, VIRTIO_CRYPTO_MAC_HMAC_SHA_224,
	  "SHA224" },
	{ VIRTIO_CRYPTO_HASH_SHA_256, VIRTIO_CRYPTO_MAC_HMAC_SHA_256,
	  "SHA256" },
	{ VIRTIO_CRYPTO_HASH_SHA_384, VIRTIO_CRYPTO_MAC_HMAC_SHA_384,
	  "SHA384" },
	{ VIRTIO_CRYPTO_HASH_SHA_512, VIRTIO_CRYPTO_MAC_HMAC_SHA_512,
	  "SHA512" },
};

struct card_session {
	bool chain, decrypt, hash_first;
	uint32_t iv_len;
	uint32_t mac_len;	/* of a chain: what one request may have */
	EVP_CIPHER_CTX *cipher;
	EVP_MD_CTX *md;		/* of a chain: this or mac */
	EVP_MAC_CTX *mac;
	const EVP_MD *md_type;
};

void card_session_free(struct card_session *s)
{
	if (!s)
		return;
	EVP_CIPHER_CTX_free(s->cipher);
	EVP_MD_CTX_free(s->md);
	EVP_MAC_CTX_free(s->mac);
	free(s);
}

static int set_cipher(struct card_session *s, const struct card_params *p)
{
	const struct cipher *c, *end = ciphers +
				       sizeof(ciphers) / sizeof(*ciphers);
	bool known = false;

	for (c = ciphers; c < end; c++) {
		known |= c->alg == p->cipher;
		if (c->alg == p->cipher && c->key_len == p->cipher_key_len)
			break;
	}
	if (c == end)
		return known ? VIRTIO_CRYPTO_ERR : VIRTIO_CRYPTO_NOTSUPP;

	s->iv_len = EVP_CIPHER_get_iv_length(c->evp());
	s->cipher = EVP_CIPHER_CTX_new();
	if (!s->cipher ||
	    !EVP_CipherInit_ex2(s->cipher, c->evp(), p->cipher_key, NULL,
				!s->decrypt, NULL))
		return VIRTIO_CRYPTO_ERR;
	EVP_CIPHER_CTX_set_padding(s->cipher, 0);
	return VIRTIO_CRYPTO_OK;
}

static const struct hash *find_hash(const struct card_params *p)
{
	size_t i;

	for (i = 0; i < sizeof(hashes) / sizeof(*hashes); i++) {
		if (p->hash_mode == VIRTIO_CRYPTO_SYM_HASH_MODE_PLAIN &&
		    hashes[i].plain == p->hash)
			return &hashes[i];
		if (p->hash_mode == VIRTIO_CRYPTO_SYM_HASH_MODE_AUTH &&
		    hashes[i].hmac == p->hash)
			return &hashes[i];
	}
	return NULL;
}

static int set_mac(struct card_session *s, const struct card_params *p,
		   const struct hash *hash)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST,
				       (char *)hash->name, 0),
		OSSL_PARAM_END,
	};
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);

	if (mac)
		s->mac = EVP_MAC_CTX_new(mac);
	EVP_MAC_free(mac);
	if (!s->mac || !EVP_MAC_init(s->mac, p->auth_key, p->auth_key_len,
				     params))
		return VIRTIO_CRYPTO_ERR;
	return VIRTIO_CRYPTO_OK;
}

static int set_hash(struct card_session *s, const struct card_params *p)
{
	const struct hash *hash = find_hash(p);

	if (!hash)
		return VIRTIO_CRYPTO_NOTSUPP;
	if (p->order != VIRTIO_CRYPTO_SYM_ALG_CHAIN_ORDER_HASH_THEN_CIPHER &&
	    p->order != VIRTIO_CRYPTO_SYM_ALG_CHAIN_ORDER_CIPHER_THEN_HASH)
		return VIRTIO_CRYPTO_NOTSUPP;
	s->chain = true;
	s->hash_first =
		p->order == VIRTIO_CRYPTO_SYM_ALG_CHAIN_ORDER_HASH_THEN_CIPHER;
	s->md_type = EVP_get_digestbyname(hash->name);
	s->mac_len = p->hash_len;
	if (!s->mac_len || s->mac_len > (uint32_t)EVP_MD_get_size(s->md_type))
		return VIRTIO_CRYPTO_ERR;
	if (p->hash_mode == VIRTIO_CRYPTO_SYM_HASH_MODE_AUTH)
		return set_mac(s, p, hash);
	s->md = EVP_MD_CTX_new();
	return s->md ? VIRTIO_CRYPTO_OK : VIRTIO_CRYPTO_ERR;
}

int card_session_new(const struct card_params *p, struct card_session **session)
{
	struct card_session *s;
	int status;

	if (p->op_type != VIRTIO_CRYPTO_SYM_OP_CIPHER &&
	    p->op_type != VIRTIO_CRYPTO_SYM_OP_ALGORITHM_CHAINING)
		return VIRTIO_CRYPTO_NOTSUPP;
	if (p->direction != VIRTIO_CRYPTO_OP_ENCRYPT &&
	    p->direction != VIRTIO_CRYPTO_OP_DECRYPT)
		return VIRTIO_CRYPTO_ERR;
	s = calloc(1, sizeof(*s));
	if (!s)
		return VIRTIO_CRYPTO_ERR;
	s->decrypt = p->direction == VIRTIO_CRYPTO_OP_DECRYPT;
	status = set_cipher(s, p);
	if (status == VIRTIO_CRYPTO_OK &&
	    p->op_type == VIRTIO_CRYPTO_SYM_OP_ALGORITHM_CHAINING)
		status = set_hash(s, p);
	if (status == VIRTIO_CRYPTO_OK)
		*session = s;
	else
		card_session_free(s);
	return status;
}

/* OpenSSL refuses lengths that are no multiple of a block. */
static int cipher(struct card_session *s, const struct card_op *op)
{
	const uint8_t *src = op->src + op->cipher_start;
	uint8_t *dst = op->dst + op->cipher_start;
	int len = 0, rest = 0;

	if (!op->cipher_len)
		return VIRTIO_CRYPTO_OK;
	if (!EVP_CipherInit_ex2(s->cipher, NULL, NULL,
				s->iv_len ? op->iv : NULL, -1, NULL) ||
	    !EVP_CipherUpdate(s->cipher, dst, &len, src, op->cipher_len) ||
	    !EVP_CipherFinal_ex(s->cipher, dst + len, &rest) ||
	    (uint32_t)(len + rest) != op->cipher_len)
		return VIRTIO_CRYPTO_ERR;
	return VIRTIO_CRYPTO_OK;
}

/* The AAD lies before the data, as in IPsec. */
static int hash(struct card_session *s, const struct card_op *op,
		const uint8_t *data)
{
	uint8_t out[CARD_MAX_MAC];
	bool good;

	data += op->hash_start;
	if (s->mac)
		good = EVP_MAC_init(s->mac, NULL, 0, NULL) &&
		       EVP_MAC_update(s->mac, op->aad, op->aad_len) &&
		       EVP_MAC_update(s->mac, data, op->hash_len) &&
		       EVP_MAC_final(s->mac, out, NULL, sizeof(out));
	else
		good = EVP_DigestInit_ex2(s->md, s->md_type, NULL) &&
		       EVP_DigestUpdate(s->md, op->aad, op->aad_len) &&
		       EVP_DigestUpdate(s->md, data, op->hash_len) &&
		       EVP_DigestFinal_ex(s->md, out, NULL);
	memcpy(op->mac, out, good ? op->mac_len : 0);
	return good ? VIRTIO_CRYPTO_OK : VIRTIO_CRYPTO_ERR;
}

/* Does both algorithms in the session's order, also to decrypt. */
int card_crypt(struct card_session *s, const struct card_op *op)
{
	int status;

	if (op->chain != s->chain || op->decrypt != s->decrypt ||
	    op->iv_len != s->iv_len || op->mac_len > s->mac_len)
		return VIRTIO_CRYPTO_ERR;
	/* data that are only hashed are copied */
	memcpy(op->dst, op->src, op->data_len);
	status = cipher(s, op);
	if (status == VIRTIO_CRYPTO_OK && s->chain)
		status = hash(s, op, s->hash_first ? op->src : op->dst);
	return status;
}
