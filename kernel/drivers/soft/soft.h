/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cryptosoft0: the calling CPU, by the kernel's own implementations.
 *
 * main.c divides requests by mode; each of the other files does one thing to a
 * range of a scatterlist.  Everything is synchronous, and only compression
 * allocates memory: the kernel's request and hash states are in
 * ocf_request.priv.
 */
#ifndef OCF_SOFT_H
#define OCF_SOFT_H

#include <crypto/aes.h>
#include <crypto/blake2s.h>
#include <linux/crypto.h>
#include <linux/ocf_driver.h>
#include <linux/ocf_user.h>

#include "../../compat.h"

struct crypto_aead;
struct crypto_shash;
struct crypto_skcipher;

/* The state of a digest in parts between its requests, in ocf_request.state. */
struct soft_state {
	u64	total;			/* bytes so far */
	u8	raw[];			/* in the implementation's format */
};

/* How one kind of hash works; the state is in ocf_request.priv. */
struct soft_hash_ops {
	int (*init)(struct ocf_request *req);
	int (*update)(struct ocf_request *req, const u8 *data, u32 len);
	int (*final)(struct ocf_request *req, u8 *digest);
	int (*export)(struct ocf_request *req, struct soft_state *state);
	int (*import)(struct ocf_request *req, const struct soft_state *state);
};

/**
 * struct soft_ctx - a session's state on the CPU
 * @cipher: skcipher, if the cipher is one
 * @aead: AEAD, if it is one
 * @chacha: the key of ChaCha, if the cipher is ChaCha
 * @rounds: of ChaCha
 * @compresses: it holds soft_deflate_init()
 * @hash_ops: the functions of the MAC or digest
 * @hash: shash, if the MAC or digest is one; GHASH for GMAC
 * @gmac: encrypts the block that hides GHASH
 * @blake2s: state after the key
 * @tls: for the end of MAC-then-encrypt records
 */
struct soft_ctx {
	struct crypto_skcipher	*cipher;
	struct crypto_aead	*aead;
	u32			chacha[8];
	u32			rounds;
	bool			compresses;
	const struct soft_hash_ops *hash_ops;
	struct crypto_shash	*hash;
	struct crypto_aes_ctx	*gmac;
	struct blake2s_state	blake2s;
	struct soft_tls		*tls;
};

static inline struct soft_ctx *soft_ctx(const struct ocf_request *req)
{
	return ocf_context_priv(req->ctx);
}

/* impl.c */
void soft_impl_init(unsigned long *algs);
void soft_impl_exit(void);
void *soft_impl_alloc(enum ocf_alg alg);
void soft_impl_free(enum ocf_alg alg, void *tfm, u32 keylen);

/* cipher.c */
int soft_cipher_init(struct soft_ctx *ctx, const struct ocf_session_params *p);
void soft_cipher_exit(struct soft_ctx *ctx, const struct ocf_session_params *p);
bool soft_cipher_possible(struct ocf_request *req);
int soft_cipher(struct ocf_request *req);

/* chacha.c */
void soft_chacha_init(struct soft_ctx *ctx, const struct ocf_session_params *p);
int soft_chacha(struct ocf_request *req);

/* aead.c */
int soft_aead_init(struct soft_ctx *ctx, const struct ocf_session_params *p);
void soft_aead_exit(struct soft_ctx *ctx, const struct ocf_session_params *p);
int soft_aead(struct ocf_request *req);

/* hash.c */
int soft_hash_init(struct soft_ctx *ctx, const struct ocf_session_params *p);
void soft_hash_exit(struct soft_ctx *ctx, const struct ocf_session_params *p);
int soft_hash_begin(struct ocf_request *req);
int soft_hash_range(struct ocf_request *req, struct scatterlist *sg,
		    const struct ocf_range *range);
int soft_hash_end(struct ocf_request *req, bool verify);

/* tls.c */
int soft_tls_init(struct soft_ctx *ctx, const struct ocf_session_params *p);
void soft_tls_exit(struct soft_ctx *ctx);
int soft_tls_open(struct ocf_request *req);

/* deflate.c */
int soft_deflate_init(void);
void soft_deflate_exit(void);
int soft_deflate(struct ocf_request *req);

#endif /* OCF_SOFT_H */
