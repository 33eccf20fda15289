// SPDX-License-Identifier: BSD-2-Clause
/*
 * Public-key operations: by libocf, and by OpenSSL, which makes the keys and
 * has the last word on results.
 */
#include <errno.h>
#include <ocf/public.h>
#include <ocf/queue.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/dh.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "way.h"

#define DIGEST_LEN	32	/* SHA-256 */
#define RESULT_MAX	1024	/* bytes: 8,192 bits */

/* Bits of the keys, curves by those of their field */
static const struct {
	unsigned int		bits;
	enum ocf_pk_curve	id;
	const char		*name;
} curves[] = {
	{ 256, OCF_PK_P256, "P-256" },
	{ 384, OCF_PK_P384, "P-384" },
	{ 521, OCF_PK_P521, "P-521" },
};

static EVP_PKEY *pair, *peer;
static EVP_PKEY_CTX *ctx;
static uint8_t private[8 * RESULT_MAX], public[2 * RESULT_MAX];
static uint8_t peers[RESULT_MAX], digest[DIGEST_LEN];
/* OpenSSL's signature: as it is, and of ECDSA also r and s */
static uint8_t signature[RESULT_MAX], r[RESULT_MAX], s[RESULT_MAX];
static size_t siglen;
static uint8_t results[DEPTH_MAX][2][RESULT_MAX];

static struct ocf *ocf;
static struct ocf_public op;
static struct ocf_pk_value values[DEPTH_MAX]
			[OCF_PUBLIC_IN_MAX + OCF_PUBLIC_OUT_MAX];
static struct ocf_pk_command commands[DEPTH_MAX];
static unsigned int depth;

/* What follows is by name: "rsa-sign" and so on. */
struct kind {
	const char		*name;
	enum ocf_pk_code	code;
	bool			(*make)(unsigned int bits);
	bool			(*aim)(unsigned int bits);
	bool			(*init)(EVP_PKEY_CTX *ctx);
	bool			(*run)(void);
	bool			(*right)(void);
};

static const struct kind *kind;

static bool set_pkcs1(EVP_PKEY_CTX *c)
{
	return EVP_PKEY_CTX_set_rsa_padding(c, RSA_PKCS1_PADDING) > 0 &&
	       EVP_PKEY_CTX_set_signature_md(c, EVP_sha256()) > 0;
}

static bool init_sign(EVP_PKEY_CTX *c)
{
	return EVP_PKEY_sign_init(c) > 0 &&
	       (EVP_PKEY_get_base_id(pair) != EVP_PKEY_RSA || set_pkcs1(c));
}

static bool init_verify(EVP_PKEY_CTX *c)
{
	return EVP_PKEY_verify_init(c) > 0 &&
	       (EVP_PKEY_get_base_id(pair) != EVP_PKEY_RSA || set_pkcs1(c));
}

static bool init_derive(EVP_PKEY_CTX *c)
{
	return EVP_PKEY_derive_init(c) > 0 &&
	       EVP_PKEY_derive_set_peer(c, peer) > 0;
}

static bool run_sign(void)
{
	siglen = sizeof(signature);
	return EVP_PKEY_sign(ctx, signature, &siglen, digest, DIGEST_LEN) > 0;
}

static bool run_verify(void)
{
	return EVP_PKEY_verify(ctx, signature, siglen, digest,
			       DIGEST_LEN) == 1;
}

static bool run_derive(void)
{
	siglen = sizeof(signature);
	return EVP_PKEY_derive(ctx, signature, &siglen) > 0;
}

/* Does something once, beside what is measured. */
static bool once(bool (*init)(EVP_PKEY_CTX *c), bool (*run)(void))
{
	EVP_PKEY_CTX *was = ctx;
	bool ok;

	ctx = EVP_PKEY_CTX_new(pair, NULL);
	ok = ctx && init(ctx) && run();
	EVP_PKEY_CTX_free(ctx);
	ctx = was;
	return ok;
}

/* ---- RSA ---- */

static bool make_rsa(unsigned int bits)
{
	pair = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)bits);
	return pair;
}

/* Encodes the private and the public key, of which an operation uses one */
static bool encode_rsa(struct iovec *own, struct iovec *others)
{
	uint8_t *to = private;
	int n = i2d_PrivateKey(pair, NULL), m = i2d_PublicKey(pair, NULL);

	if (n <= 0 || n > (int)sizeof(private) || m <= 0 ||
	    m > (int)sizeof(public))
		return false;
	i2d_PrivateKey(pair, &to);
	to = public;
	i2d_PublicKey(pair, &to);
	op.scheme = OCF_PK_PKCS1;
	*own = (struct iovec){ private, n };
	*others = (struct iovec){ public, m };
	return true;
}

static bool aim_rsa_sign(unsigned int bits)
{
	struct iovec public_key;

	op.hash = "sha256";
	op.in[0] = (struct iovec){ digest, DIGEST_LEN };
	op.out[0] = (struct iovec){ NULL, (bits + 7) / 8 };
	return encode_rsa(&op.in[1], &public_key);
}

static bool aim_rsa_verify(unsigned int bits)
{
	struct iovec private_key;

	op.hash = "sha256";
	op.in[0] = (struct iovec){ digest, DIGEST_LEN };
	op.in[1] = (struct iovec){ signature, siglen };
	return encode_rsa(&private_key, &op.in[2]);
}

static bool right_rsa(void)
{
	return !memcmp(results[0][0], signature, siglen);
}

static bool init_encrypt(EVP_PKEY_CTX *c)
{
	return EVP_PKEY_encrypt_init(c) > 0 &&
	       EVP_PKEY_CTX_set_rsa_padding(c, RSA_PKCS1_PADDING) > 0;
}

static bool init_decrypt(EVP_PKEY_CTX *c)
{
	return EVP_PKEY_decrypt_init(c) > 0 &&
	       EVP_PKEY_CTX_set_rsa_padding(c, RSA_PKCS1_PADDING) > 0;
}

static bool run_encrypt(void)
{
	siglen = sizeof(signature);
	return EVP_PKEY_encrypt(ctx, signature, &siglen, digest,
				DIGEST_LEN) > 0;
}

static bool run_decrypt(void)
{
	size_t len = sizeof(r);

	return EVP_PKEY_decrypt(ctx, r, &len, signature, siglen) > 0 &&
	       len == DIGEST_LEN && !memcmp(r, digest, DIGEST_LEN);
}

/*
 * Encryption gives another ciphertext each time, so OpenSSL decrypts it and the
 * plaintext is compared.
 */
static bool right_encrypted(void)
{
	memcpy(signature, results[0][0], siglen);
	return once(init_decrypt, run_decrypt);
}

static bool right_decrypted(void)
{
	return !memcmp(results[0][0], digest, DIGEST_LEN);
}

static bool aim_rsa_encrypt(unsigned int bits)
{
	struct iovec private_key;

	op.in[0] = (struct iovec){ digest, DIGEST_LEN };
	op.out[0] = (struct iovec){ NULL, (bits + 7) / 8 };
	return encode_rsa(&private_key, &op.in[1]);
}

static bool aim_rsa_decrypt(unsigned int bits)
{
	struct iovec public_key;

	op.in[0] = (struct iovec){ signature, siglen };
	op.out[0] = (struct iovec){ NULL, (bits + 7) / 8 };
	return encode_rsa(&op.in[1], &public_key);
}

/* ---- elliptic curves ---- */

static int curve_row(unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < sizeof(curves) / sizeof(*curves); i++)
		if (curves[i].bits == bits)
			return i;
	return -1;
}

static bool make_ec(unsigned int bits)
{
	int row = curve_row(bits);

	if (row < 0)
		return failed(-EINVAL);
	pair = EVP_EC_gen(curves[row].name);
	peer = EVP_EC_gen(curves[row].name);
	return pair && peer;
}

/* The private number, as long as the field's are */
static bool put_private(size_t len)
{
	BIGNUM *x = NULL;
	bool ok = EVP_PKEY_get_bn_param(pair, OSSL_PKEY_PARAM_PRIV_KEY, &x) &&
		  BN_bn2binpad(x, private, len) > 0;

	BN_clear_free(x);
	return ok;
}

static bool put_point(EVP_PKEY *from, uint8_t *to, size_t *len)
{
	return EVP_PKEY_get_octet_string_param(from,
		OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, to, RESULT_MAX, len);
}

static bool split_signature(size_t len)
{
	const uint8_t *from = signature;
	ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &from, siglen);
	bool ok = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), r, len) > 0 &&
		  BN_bn2binpad(ECDSA_SIG_get0_s(sig), s, len) > 0;

	ECDSA_SIG_free(sig);
	return ok;
}

static bool aim_ecdsa_sign(unsigned int bits)
{
	size_t len = (bits + 7) / 8;

	op.curve = curves[curve_row(bits)].id;
	op.in[0] = (struct iovec){ digest, DIGEST_LEN };
	op.in[1] = (struct iovec){ private, len };
	op.out[0] = op.out[1] = (struct iovec){ NULL, len };
	return put_private(len);
}

static bool aim_ecdsa_verify(unsigned int bits)
{
	size_t len = (bits + 7) / 8, n;

	if (!put_point(pair, public, &n) || !split_signature(len))
		return false;
	op.curve = curves[curve_row(bits)].id;
	op.in[0] = (struct iovec){ digest, DIGEST_LEN };
	op.in[1] = (struct iovec){ public, n };
	op.in[2] = (struct iovec){ r, len };
	op.in[3] = (struct iovec){ s, len };
	return true;
}

static bool right_ecdsa(void)
{
	size_t len = op.out[0].iov_len;
	ECDSA_SIG *sig = ECDSA_SIG_new();
	uint8_t *to = signature;

	ECDSA_SIG_set0(sig, BN_bin2bn(results[0][0], len, NULL),
		       BN_bin2bn(results[0][1], len, NULL));
	siglen = i2d_ECDSA_SIG(sig, &to);
	ECDSA_SIG_free(sig);
	return once(init_verify, run_verify);
}

static bool aim_ecdh(unsigned int bits)
{
	size_t len = (bits + 7) / 8, n;

	if (!put_private(len) || !put_point(peer, peers, &n))
		return false;
	op.curve = curves[curve_row(bits)].id;
	op.in[0] = (struct iovec){ private, len };
	op.in[1] = (struct iovec){ peers, n };
	op.out[0] = (struct iovec){ NULL, len };
	return true;
}

/* ---- X25519 ---- */

static bool make_x25519(unsigned int bits)
{
	pair = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
	peer = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
	return pair && peer;
}

static bool aim_x25519(unsigned int bits)
{
	size_t n = 32, m = 32;

	op.in[0] = (struct iovec){ private, 32 };
	op.in[1] = (struct iovec){ peers, 32 };
	op.out[0] = (struct iovec){ NULL, 32 };
	return EVP_PKEY_get_raw_private_key(pair, private, &n) &&
	       EVP_PKEY_get_raw_public_key(peer, peers, &m);
}

/* ---- finite fields: the groups of RFC 7919 ---- */

static EVP_PKEY *dh_key(unsigned int bits)
{
	EVP_PKEY_CTX *c = EVP_PKEY_CTX_new_from_name(NULL, "DH", NULL);
	OSSL_PARAM params[2] = { OSSL_PARAM_END, OSSL_PARAM_END };
	EVP_PKEY *key = NULL;
	char group[16];

	snprintf(group, sizeof(group), "ffdhe%u", bits);
	params[0] = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME,
						     group, 0);
	if (c && EVP_PKEY_keygen_init(c) > 0 &&
	    EVP_PKEY_CTX_set_params(c, params) > 0)
		EVP_PKEY_keygen(c, &key);
	EVP_PKEY_CTX_free(c);
	return key;
}

static bool make_dh(unsigned int bits)
{
	pair = dh_key(bits);
	peer = dh_key(bits);
	return pair && peer;
}

static bool init_dh(EVP_PKEY_CTX *c)
{
	return init_derive(c) && EVP_PKEY_CTX_set_dh_pad(c, 1) > 0;
}

static bool put_number(const EVP_PKEY *from, const char *name, uint8_t *to,
		       struct iovec *in)
{
	BIGNUM *n = NULL;
	bool ok = EVP_PKEY_get_bn_param(from, name, &n) &&
		  BN_num_bytes(n) <= RESULT_MAX;

	if (ok)
		*in = (struct iovec){ to, BN_bn2bin(n, to) };
	BN_clear_free(n);
	return ok;
}

static bool put_dh(unsigned int bits, struct iovec *own, struct iovec *others)
{
	op.out[0] = (struct iovec){ NULL, bits / 8 };
	return put_number(pair, OSSL_PKEY_PARAM_PRIV_KEY, private, own) &&
	       put_number(peer, OSSL_PKEY_PARAM_PUB_KEY, peers, others) &&
	       put_number(pair, OSSL_PKEY_PARAM_FFC_P, public, &op.in[2]);
}

static bool aim_dh(unsigned int bits)
{
	return put_dh(bits, &op.in[0], &op.in[1]);
}

/*
 * DH as a plain modular exponentiation: here the base is the first operand, the
 * exponent the second.
 */
static bool aim_mod_exp(unsigned int bits)
{
	return put_dh(bits, &op.in[1], &op.in[0]);
}

static const struct kind kinds[] = {
	{ "rsa-sign", OCF_PK_RSA_SIGN, make_rsa, aim_rsa_sign, init_sign,
	  run_sign, right_rsa },
	{ "rsa-verify", OCF_PK_RSA_VERIFY, make_rsa, aim_rsa_verify,
	  init_verify, run_verify, NULL },
	{ "rsa-encrypt", OCF_PK_RSA_ENCRYPT, make_rsa, aim_rsa_encrypt,
	  init_encrypt, run_encrypt, right_encrypted },
	{ "rsa-decrypt", OCF_PK_RSA_DECRYPT, make_rsa, aim_rsa_decrypt,
	  init_decrypt, run_decrypt, right_decrypted },
	{ "ecdsa-sign", OCF_PK_ECDSA_SIGN, make_ec, aim_ecdsa_sign, init_sign,
	  run_sign, right_ecdsa },
	{ "ecdsa-verify", OCF_PK_ECDSA_VERIFY, make_ec, aim_ecdsa_verify,
	  init_verify, run_verify, NULL },
	{ "ecdh", OCF_PK_ECDH, make_ec, aim_ecdh, init_derive, run_derive,
	  right_rsa },
	{ "x25519", OCF_PK_X25519, make_x25519, aim_x25519, init_derive,
	  run_derive, right_rsa },
	{ "dh", OCF_PK_DH, make_dh, aim_dh, init_dh, run_derive, right_rsa },
	{ "mod-exp", OCF_PK_MOD_EXP, make_dh, aim_mod_exp, init_dh, run_derive,
	  right_rsa },
};

static const struct kind *find_kind(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* ---- OpenSSL ---- */

static void end(void)
{
	queue_end();
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(pair);
	EVP_PKEY_free(peer);
	ctx = NULL;
	pair = NULL;
	peer = NULL;
}

/* A signature to verify, a message to decrypt, or the right result */
static bool prepare(void)
{
	if (kind->run == run_derive)
		return run_derive();
	if (kind->run == run_encrypt || kind->run == run_decrypt)
		return once(init_encrypt, run_encrypt);
	return once(init_sign, run_sign);
}

static bool find(const struct work *w)
{
	kind = find_kind(w->cipher);
	return kind ? true : failed(-EOPNOTSUPP);
}

static bool begin(const struct work *w)
{
	memset(digest, 0xd1, sizeof(digest));
	errno = EIO;
	if (!kind->make(w->keylen))
		return false;
	ctx = EVP_PKEY_CTX_new(pair, NULL);
	return ctx && kind->init(ctx) && prepare();
}

static bool aim(const struct work *w, size_t len)
{
	return true;
}

static unsigned int run(void)
{
	errno = EIO;
	return kind->run();
}

static unsigned int nothing(void)
{
	return 0;
}

const struct way way_public_openssl = {
	"openssl", find, begin, aim, run, nothing, end,
};

/* ---- libocf ---- */

static bool find_ours(const struct work *w)
{
	int err = ocf ? 0 : ocf_open(&ocf);

	return err ? failed(err) : find(w);
}

static bool begin_ours(const struct work *w)
{
	depth = w->depth;
	return begin(w);
}

static bool is_good(int res)
{
	return res < 0 ? failed(res) : true;
}

static int put(struct ocf_queue *to, unsigned int n)
{
	return ocf_queue_put(to, (const struct ocf_command *)
			     &commands[n % depth]);
}

static const struct queue_use use = { put, is_good };

static bool begin_queue(const struct work *w, unsigned int flags)
{
	return begin_ours(w) && queue_begin(ocf, &use, depth, flags);
}

static bool begin_uring(const struct work *w)
{
	return begin_queue(w, OCF_QUEUE_URING);
}

static bool begin_submit(const struct work *w)
{
	return begin_queue(w, OCF_QUEUE_NO_URING);
}

static void point_results(unsigned int i)
{
	op.out[0].iov_base = results[i][0];
	op.out[1].iov_base = results[i][1];
}

/* Does it once, and sees whether that is right. */
static bool try_it(void)
{
	int res;

	point_results(0);
	res = ocf_public_run(ocf, &op);
	if (res < 0)
		return failed(res);
	errno = EBADMSG;
	return !kind->right || kind->right();
}

static bool aim_ours(const struct work *w, size_t len)
{
	unsigned int i;
	int err = 0;

	op = (struct ocf_public){ .code = kind->code, .device = w->device };
	errno = EIO;
	if (!kind->aim(w->keylen) || !try_it())
		return false;
	for (i = 0; i < depth && !err; i++) {
		point_results(i);
		err = ocf_public_command(&op, i, values[i], &commands[i]);
	}
	return err ? failed(err) : true;
}

static unsigned int run_ours(void)
{
	int res = ocf_run(ocf, (const struct ocf_command *)commands);

	return res < 0 ? failed(res) : 1;
}

const struct way way_public_run = {
	"run", find_ours, begin_ours, aim_ours, run_ours, nothing, end,
};

const struct way way_public_uring = {
	"uring", find_ours, begin_uring, aim_ours, queue_run, queue_drain, end,
};

const struct way way_public_submit = {
	"submit", find_ours, begin_submit, aim_ours, queue_run, queue_drain,
	end,
};
