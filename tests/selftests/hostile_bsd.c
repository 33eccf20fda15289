// SPDX-License-Identifier: BSD-2-Clause
/*
 * Valid calls of the BSDs, for hostile.c to spoil.
 */
#include <errno.h>
#include <string.h>

#include <bsd/crypto/cryptodev.h>

#include "hostile.h"
#include "random.h"

enum session_kind { ANY_KIND = -1, CIPHER, DIGEST, ETA, AEAD };

static const struct {
	uint32_t		cipher, keylen, mac, mackeylen, ivlen;
	enum session_kind	kind;
} sessions[] = {
	{ CRYPTO_AES_CBC, 16, 0, 0, 16, CIPHER },
	{ CRYPTO_AES_ICM, 32, 0, 0, 16, CIPHER },
	{ CRYPTO_AES_XTS, 32, 0, 0, 8, CIPHER },
	{ CRYPTO_NULL_CBC, 0, 0, 0, 0, CIPHER },
	{ 0, 0, CRYPTO_SHA2_256, 0, 0, DIGEST },
	{ 0, 0, CRYPTO_SHA1_HMAC, 20, 0, DIGEST },
	{ CRYPTO_AES_CBC, 16, CRYPTO_SHA1_HMAC, 20, 16, ETA },
	{ CRYPTO_CHACHA20, 32, CRYPTO_BLAKE2B, 64, 16, ETA },
	{ CRYPTO_AES_NIST_GCM_16, 16, 0, 0, 12, AEAD },
	{ CRYPTO_AES_CCM_16, 32, 0, 0, 12, AEAD },
	{ CRYPTO_CHACHA20_POLY1305, 32, 0, 0, 12, AEAD },
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

static void valid_gsession2(void *arg)
{
	static const int32_t crids[] = { 0, 1, CRYPTO_FLAG_SOFTWARE,
		CRYPTO_FLAG_HARDWARE | CRYPTO_FLAG_SOFTWARE };
	struct session2_op *sop = arg;

	valid_gsession(sop);
	sop->crid = crids[below(COUNT(crids))];
	if (sop->mac && one_in(2))
		sop->maclen = 12;
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
	old = new_session(ABI_BSD, sop->ses, i < COUNT(sessions) ?
			  (int)sessions[i].kind : ANY_KIND);
	if (old)
		ioctl(fd, CIOCFSESSION, &old);
}

static void valid_session(void *arg)
{
	int kind;

	*(uint32_t *)arg = a_session(ABI_BSD, &kind);
}

static void made_fsession(int fd, const void *arg)
{
	gone_session(ABI_BSD, *(const uint32_t *)arg);
}

static void valid_crypt(void *arg)
{
	struct crypt_op *c = arg;
	int kind;

	*c = (struct crypt_op){
		.ses = a_session(ABI_BSD, &kind), .op = 1 + below(2),
		.len = log_uniform(A_BUFFER) & ~15u,
		.src = a_buffer(), .dst = a_buffer(),
	};
	if (kind != DIGEST && !one_in(4))
		c->iv = a_buffer();
	if (kind != CIPHER)
		c->mac = a_buffer();
	if (one_in(3))
		c->dst = (void *)c->src;
}

static void valid_aead(void *arg)
{
	static const uint8_t ivlens[] = { 12, 16, 8 };
	struct crypt_aead *c = arg;
	int kind, tries = 8;
	uint32_t ses;

	do
		ses = a_session(ABI_BSD, &kind);
	while (kind < ETA && --tries);
	*c = (struct crypt_aead){
		.ses = ses, .op = 1 + below(2),
		.len = log_uniform(A_BUFFER) & ~15u,
		.aadlen = log_uniform(A_BUFFER),
		.ivlen = kind == AEAD ? 12 : ivlens[below(3)],
		.src = a_buffer(), .dst = a_buffer(), .aad = a_buffer(),
		.tag = a_buffer(), .iv = a_buffer(),
	};
	if (one_in(3))
		c->dst = (void *)c->src;
}

static void valid_find(void *arg)
{
	struct crypt_find_op *find = arg;

	find->crid = one_in(2) ? -1 : (int)below(3);
	strcpy(find->name, one_in(2) ? "cryptosoft" : "null0");
}

static void valid_key(void *arg)
{
	struct crypt_kop *kop = arg;
	int i;

	kop->crk_op = below(CRK_ALGORITHM_MAX + 1);
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

#define SESSION_FIELDS(type_)					\
	FIELD(type_, cipher, NUMBER),				\
	FIELD(type_, mac, NUMBER),				\
	FIELD(type_, keylen, LENGTH),				\
	FIELD(type_, key, POINTER),				\
	FIELD(type_, mackeylen, LENGTH),			\
	FIELD(type_, mackey, POINTER),				\
	FIELD(type_, ses, NUMBER)

#define KEY_FIELDS						\
	FIELD(struct crypt_kop, crk_op, NUMBER),		\
	FIELD(struct crypt_kop, crk_iparams, NUMBER),		\
	FIELD(struct crypt_kop, crk_oparams, NUMBER),		\
	FIELD(struct crypt_kop, crk_param[0].crp_p, POINTER),	\
	FIELD(struct crypt_kop, crk_param[0].crp_nbits, LENGTH)

/* BSD encodes _IOW as Linux encodes _IOR, and _IOR as _IOW */
#define THEIR_CIOCFSESSION	_IOR('c', 102, uint32_t)
#define THEIR_CIOCASYMFEAT	_IOW('c', 105, uint32_t)

const struct hostile_call hostile_bsd[] = {
	{ .name = "BSD CRIOGET", .number = CRIOGET,
	  .size = 4, .weight = 1,
	  .valid = valid_nothing, .made = made_descriptor,
	  .fields = { { 0, 4, NUMBER } },
	  .errs = { EFAULT, EMFILE, ENOMEM } },
	{ .name = "BSD CIOCGSESSION", .number = CIOCGSESSION,
	  .size = sizeof(struct session_op), .weight = 6,
	  .valid = valid_gsession, .made = made_gsession,
	  .fields = { SESSION_FIELDS(struct session_op) },
	  .errs = { EFAULT, EINVAL, EPERM, EDQUOT, ENOMEM } },
	{ .name = "BSD CIOCGSESSION2", .number = CIOCGSESSION2,
	  .size = sizeof(struct session2_op), .weight = 6,
	  .valid = valid_gsession2, .made = made_gsession,
	  .fields = {
		SESSION_FIELDS(struct session2_op),
		FIELD(struct session2_op, crid, NUMBER),
		FIELD(struct session2_op, ivlen, LENGTH),
		FIELD(struct session2_op, maclen, LENGTH),
		FIELD(struct session2_op, pad[0], NUMBER),
	  },
	  .errs = { EFAULT, EINVAL, EPERM, EDQUOT, ENOMEM, ENODEV,
		     EOPNOTSUPP } },
	{ .name = "BSD CIOCFSESSION", .number = CIOCFSESSION,
	  .size = 4, .weight = 1,
	  .valid = valid_session, .made = made_fsession,
	  .fields = { { 0, 4, SESSION } },
	  .errs = { EFAULT, EINVAL } },
	{ .name = "BSD's CIOCFSESSION", .number = THEIR_CIOCFSESSION,
	  .size = 4, .weight = 1,
	  .valid = valid_session, .made = made_fsession,
	  .fields = { { 0, 4, SESSION } },
	  .errs = { EFAULT, EINVAL } },
	{ .name = "BSD CIOCCRYPT", .number = CIOCCRYPT,
	  .size = sizeof(struct crypt_op), .weight = 10,
	  .valid = valid_crypt,
	  .fields = {
		FIELD(struct crypt_op, ses, SESSION),
		FIELD(struct crypt_op, op, NUMBER),
		FIELD(struct crypt_op, flags, NUMBER),
		FIELD(struct crypt_op, len, LENGTH),
		FIELD(struct crypt_op, src, POINTER),
		FIELD(struct crypt_op, dst, POINTER),
		FIELD(struct crypt_op, mac, POINTER),
		FIELD(struct crypt_op, iv, POINTER),
	  },
	  .errs = { EFAULT, EINVAL, E2BIG, EBADMSG, EDQUOT, ENOMEM } },
	{ .name = "BSD CIOCCRYPTAEAD", .number = CIOCCRYPTAEAD,
	  .size = sizeof(struct crypt_aead), .weight = 10,
	  .valid = valid_aead,
	  .fields = {
		FIELD(struct crypt_aead, ses, SESSION),
		FIELD(struct crypt_aead, op, NUMBER),
		FIELD(struct crypt_aead, flags, NUMBER),
		FIELD(struct crypt_aead, len, LENGTH),
		FIELD(struct crypt_aead, aadlen, LENGTH),
		FIELD(struct crypt_aead, ivlen, LENGTH),
		FIELD(struct crypt_aead, src, POINTER),
		FIELD(struct crypt_aead, dst, POINTER),
		FIELD(struct crypt_aead, aad, POINTER),
		FIELD(struct crypt_aead, tag, POINTER),
		FIELD(struct crypt_aead, iv, POINTER),
	  },
	  .errs = { EFAULT, EINVAL, E2BIG, EBADMSG, EDQUOT, ENOMEM } },
	{ .name = "BSD CIOCFINDDEV", .number = CIOCFINDDEV,
	  .size = sizeof(struct crypt_find_op), .weight = 1,
	  .valid = valid_find,
	  .fields = {
		FIELD(struct crypt_find_op, crid, NUMBER),
		{ offsetof(struct crypt_find_op, name), 4, NUMBER },
	  },
	  .errs = { EFAULT, ENOENT } },
	{ .name = "BSD CIOCKEY", .number = CIOCKEY,
	  .size = sizeof(struct crypt_kop), .weight = 1, .never = true,
	  .valid = valid_key,
	  .fields = { KEY_FIELDS },
	  .errs = { EFAULT, EINVAL, EFBIG, E2BIG, ENODEV, EDOM, ENOSPC,
		     EKEYREJECTED, EBADMSG, EDQUOT, ENOMEM } },
	{ .name = "BSD CIOCKEY2", .number = CIOCKEY2,
	  .size = sizeof(struct crypt_kop), .weight = 1, .never = true,
	  .valid = valid_key,
	  .fields = { KEY_FIELDS },
	  .errs = { EFAULT, EINVAL, EFBIG, E2BIG, ENODEV, EDOM, ENOSPC,
		     EKEYREJECTED, EBADMSG, EDQUOT, ENOMEM } },
	{ .name = "BSD CIOCASYMFEAT", .number = CIOCASYMFEAT,
	  .size = 4, .weight = 1,
	  .valid = valid_nothing,
	  .fields = { { 0, 4, NUMBER } },
	  .errs = { EFAULT } },
	{ .name = "BSD's CIOCASYMFEAT", .number = THEIR_CIOCASYMFEAT,
	  .size = 4, .weight = 1,
	  .valid = valid_nothing,
	  .fields = { { 0, 4, NUMBER } },
	  .errs = { EFAULT } },
};
const int nhostile_bsd = COUNT(hostile_bsd);
