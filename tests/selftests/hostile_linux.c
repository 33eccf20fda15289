// SPDX-License-Identifier: BSD-2-Clause
/*
 * Valid calls of cryptodev-linux, for hostile.c to spoil.
 */
#include <errno.h>
#include <string.h>

#include <crypto/cryptodev.h>

#include "hostile.h"
#include "random.h"

enum session_kind { ANY_KIND = -1, CIPHER, DIGEST, CHAIN, SRTP, AEAD };

/*
 * Sessions chosen so that each of the other calls can use at least one of them
 */
static const struct {
	uint32_t		cipher, keylen, mac, mackeylen;
	enum session_kind	kind;
} sessions[] = {
	{ CRYPTO_AES_CBC, 16, 0, 0, CIPHER },
	{ CRYPTO_AES_CTR, 32, 0, 0, CIPHER },
	{ CRYPTO_AES_XTS, 64, 0, 0, CIPHER },
	{ CRYPTO_3DES_CBC, 24, 0, 0, CIPHER },
	{ CRYPTO_NULL, 0, 0, 0, CIPHER },
	{ CRYPTO_OCF_CHACHA20, 32, 0, 0, CIPHER },
	{ 0, 0, CRYPTO_SHA2_256, 0, DIGEST },
	{ 0, 0, CRYPTO_SHA1_HMAC, 20, DIGEST },
	{ 0, 0, CRYPTO_OCF_BLAKE2S, 32, DIGEST },
	{ 0, 0, CRYPTO_OCF_AES_GMAC, 16, DIGEST },
	{ CRYPTO_AES_CBC, 16, CRYPTO_SHA1_HMAC, 20, CHAIN },
	{ CRYPTO_CAMELLIA_CBC, 32, CRYPTO_SHA2_512_HMAC, 64, CHAIN },
	{ CRYPTO_NULL, 0, CRYPTO_SHA2_256_HMAC, 32, SRTP },
	{ CRYPTO_AES_CTR, 16, CRYPTO_SHA1_HMAC, 20, SRTP },
	{ CRYPTO_AES_GCM, 16, 0, 0, AEAD },
	{ CRYPTO_AES_CCM, 16, 0, 0, AEAD },
	{ CRYPTO_OCF_CHACHA20_POLY1305, 32, 0, 0, AEAD },
};

static void valid_gsession(void *arg)
{
	int i = below(COUNT(sessions));

	*(struct session_op *)arg = (struct session_op){
		.cipher = sessions[i].cipher, .keylen = sessions[i].keylen,
		.mac = sessions[i].mac, .mackeylen = sessions[i].mackeylen,
		.key = a_buffer(), .mackey = a_buffer(),
	};
}

static void made_gsession(int fd, const void *arg)
{
	const struct session_op *sop = arg;
	uint32_t old;
	int i;

	for (i = 0; i < COUNT(sessions); i++)
		if (sessions[i].cipher == sop->cipher &&
		    sessions[i].mac == sop->mac)
			break;
	old = new_session(ABI_LINUX, sop->ses, i < COUNT(sessions) ?
			  (int)sessions[i].kind : ANY_KIND);
	if (old)
		ioctl(fd, CIOCFSESSION, &old);
}

static void valid_session(void *arg)
{
	int kind;

	*(uint32_t *)arg = a_session(ABI_LINUX, &kind);
}

static void made_fsession(int fd, const void *arg)
{
	gone_session(ABI_LINUX, *(const uint32_t *)arg);
}

static void valid_crypt(void *arg)
{
	static const uint16_t flags[] = { 0, COP_FLAG_WRITE_IV, COP_FLAG_NO_ZC,
		COP_FLAG_NO_ZC | COP_FLAG_WRITE_IV };
	struct crypt_op *c = arg;
	int kind, tries = 8;
	uint32_t ses;

	do
		ses = a_session(ABI_LINUX, &kind);
	while (kind == AEAD && --tries);
	*c = (struct crypt_op){
		.ses = ses, .op = below(2),
		.flags = flags[below(COUNT(flags))],
		.len = log_uniform(A_BUFFER) & ~15u,
		.src = a_buffer(), .dst = a_buffer(), .mac = a_buffer(),
		.iv = a_buffer(),
	};
	if (kind == DIGEST)
		c->flags |= below(8) & 3;
	if (one_in(3))
		c->dst = c->src;
	if (one_in(8) && kind != DIGEST)
		c->iv = NULL;
}

static void valid_auth(void *arg)
{
	struct crypt_auth_op *c = arg;
	uint8_t *iv = a_buffer();
	int kind, tries = 8;
	uint32_t ses;

	do
		ses = a_session(ABI_LINUX, &kind);
	while (kind < CHAIN && --tries);
	*c = (struct crypt_auth_op){
		.ses = ses, .op = below(2),
		.flags = one_in(3) ? COP_FLAG_NO_ZC : 0,
		.len = (16 + log_uniform(A_BUFFER / 2)) & ~15u,
		.auth_len = log_uniform(A_BUFFER),
		.auth_src = a_buffer(), .src = a_buffer(), .dst = a_buffer(),
		.tag = a_buffer(), .iv = iv, .iv_len = 12,
	};
	/* CCM: a nonce of 12 */
	if (kind == AEAD)
		iv[0] = 2;
	if (kind == CHAIN || (kind == SRTP && one_in(2))) {
		c->flags = COP_FLAG_AEAD_TLS_TYPE;
		c->dst = c->src;
	} else if (kind == SRTP) {
		c->flags = COP_FLAG_AEAD_SRTP_TYPE;
		c->auth_src = c->src;
		c->auth_len = c->len;
		c->dst = c->src += 12;
		c->len -= 12;
	}
	if (one_in(4))
		c->tag_len = 4 + below(60);
}

static void valid_cphash(void *arg)
{
	struct cphash_op *c = arg;
	int kind;

	c->dst_ses = a_session(ABI_LINUX, &kind);
	c->src_ses = a_session(ABI_LINUX, &kind);
}

static void valid_key(void *arg)
{
	struct crypt_kop *kop = arg;
	int i;

	kop->crk_op = below(CRK_ALGORITHM_ALL);
	kop->crk_iparams = 3;
	kop->crk_oparams = 1;
	for (i = 0; i < 4; i++)
		kop->crk_param[i] = (struct crparam){ a_buffer(), 256 };
}

static void valid_nothing(void *arg)
{
}

static void made_descriptor(int fd, const void *arg)
{
	new_descriptor(*(const int *)arg);
}

#define CRYPT_FIELDS						\
	FIELD(struct crypt_op, ses, SESSION),			\
	FIELD(struct crypt_op, op, NUMBER),			\
	FIELD(struct crypt_op, flags, NUMBER),			\
	FIELD(struct crypt_op, len, LENGTH),			\
	FIELD(struct crypt_op, src, POINTER),			\
	FIELD(struct crypt_op, dst, POINTER),			\
	FIELD(struct crypt_op, mac, POINTER),			\
	FIELD(struct crypt_op, iv, POINTER)

const struct hostile_call hostile_linux[] = {
	{ .name = "CRIOGET", .number = CRIOGET,
	  .size = 4, .weight = 1,
	  .valid = valid_nothing, .made = made_descriptor,
	  .fields = { { 0, 4, NUMBER } },
	  .errs = { EFAULT, EMFILE, ENOMEM } },
	{ .name = "CIOCGSESSION", .number = CIOCGSESSION,
	  .size = sizeof(struct session_op), .weight = 6,
	  .valid = valid_gsession, .made = made_gsession,
	  .fields = {
		FIELD(struct session_op, cipher, NUMBER),
		FIELD(struct session_op, mac, NUMBER),
		FIELD(struct session_op, keylen, LENGTH),
		FIELD(struct session_op, key, POINTER),
		FIELD(struct session_op, mackeylen, LENGTH),
		FIELD(struct session_op, mackey, POINTER),
		FIELD(struct session_op, ses, NUMBER),
	  },
	  .errs = { EFAULT, EINVAL, EPERM, EDQUOT, ENOMEM } },
	{ .name = "CIOCFSESSION", .number = CIOCFSESSION,
	  .size = 4, .weight = 1,
	  .valid = valid_session, .made = made_fsession,
	  .fields = { { 0, 4, SESSION } },
	  .errs = { EFAULT, EINVAL } },
	{ .name = "CIOCCRYPT", .number = CIOCCRYPT,
	  .size = sizeof(struct crypt_op), .weight = 10,
	  .valid = valid_crypt,
	  .fields = { CRYPT_FIELDS },
	  .errs = { EFAULT, EINVAL, E2BIG, EDQUOT, ENOMEM } },
	{ .name = "CIOCKEY", .number = CIOCKEY,
	  .size = sizeof(struct crypt_kop), .weight = 1, .never = true,
	  .valid = valid_key,
	  .fields = {
		FIELD(struct crypt_kop, crk_op, NUMBER),
		FIELD(struct crypt_kop, crk_iparams, NUMBER),
		FIELD(struct crypt_kop, crk_oparams, NUMBER),
		FIELD(struct crypt_kop, crk_param[0].crp_p, POINTER),
		FIELD(struct crypt_kop, crk_param[0].crp_nbits, LENGTH),
	  },
	  .errs = { EFAULT, EINVAL, EFBIG, E2BIG, ENODEV, EDOM, ENOSPC,
		     EKEYREJECTED, EBADMSG, EDQUOT, ENOMEM } },
	{ .name = "CIOCASYMFEAT", .number = CIOCASYMFEAT,
	  .size = 4, .weight = 1,
	  .valid = valid_nothing,
	  .fields = { { 0, 4, NUMBER } },
	  .errs = { EFAULT } },
	{ .name = "CIOCGSESSINFO", .number = CIOCGSESSINFO,
	  .size = sizeof(struct session_info_op), .weight = 2,
	  .valid = valid_session,
	  .fields = { { 0, 4, SESSION } },
	  .errs = { EFAULT, EINVAL } },
	{ .name = "CIOCAUTHCRYPT", .number = CIOCAUTHCRYPT,
	  .size = sizeof(struct crypt_auth_op), .weight = 10,
	  .valid = valid_auth,
	  .fields = {
		FIELD(struct crypt_auth_op, ses, SESSION),
		FIELD(struct crypt_auth_op, op, NUMBER),
		FIELD(struct crypt_auth_op, flags, NUMBER),
		FIELD(struct crypt_auth_op, len, LENGTH),
		FIELD(struct crypt_auth_op, auth_len, LENGTH),
		FIELD(struct crypt_auth_op, auth_src, POINTER),
		FIELD(struct crypt_auth_op, src, POINTER),
		FIELD(struct crypt_auth_op, dst, POINTER),
		FIELD(struct crypt_auth_op, tag, POINTER),
		FIELD(struct crypt_auth_op, tag_len, LENGTH),
		FIELD(struct crypt_auth_op, iv, POINTER),
		FIELD(struct crypt_auth_op, iv_len, LENGTH),
	  },
	  .errs = { EFAULT, EINVAL, E2BIG, EBADMSG, EDQUOT, ENOMEM } },
	{ .name = "CIOCASYNCCRYPT", .number = CIOCASYNCCRYPT,
	  .size = sizeof(struct crypt_op), .weight = 8,
	  .valid = valid_crypt,
	  .fields = { CRYPT_FIELDS },
	  .errs = { EFAULT, EINVAL, E2BIG, EBUSY, EDQUOT, ENOMEM } },
	{ .name = "CIOCASYNCFETCH", .number = CIOCASYNCFETCH,
	  .size = sizeof(struct crypt_op), .weight = 8,
	  .valid = valid_nothing,
	  .fields = { CRYPT_FIELDS },
	  /*
	   * also the errors of the operation itself, which may be a part of a
	   * digest
	   */
	  .errs = { EFAULT, EBUSY, EINVAL, ENOMEM } },
	{ .name = "CIOCCPHASH", .number = CIOCCPHASH,
	  .size = sizeof(struct cphash_op), .weight = 3,
	  .valid = valid_cphash,
	  .fields = {
		FIELD(struct cphash_op, dst_ses, SESSION),
		FIELD(struct cphash_op, src_ses, SESSION),
	  },
	  .errs = { EFAULT, EINVAL, EDEADLK, ENOMEM } },
};
const int nhostile_linux = COUNT(hostile_linux);
