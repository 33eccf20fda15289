// SPDX-License-Identifier: GPL-2.0-only
/*
 * ChaCha with 12 or 20 rounds, by the crypto library, because the crypto API
 * has no way to set the number of rounds.
 */
#include <crypto/chacha.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "soft.h"

/* The state of a stream while a request is processed. */
struct stream {
	u32	state[CHACHA_STATE_WORDS];
	u8	block[CHACHA_BLOCK_SIZE];	/* keystream begun */
	u32	left;				/* bytes of it, at its end */
	u32	rounds;
};

void soft_chacha_init(struct soft_ctx *ctx, const struct ocf_session_params *p)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(ctx->chacha); i++)
		ctx->chacha[i] = get_unaligned_le32(p->key + 4 * i);
	ctx->rounds = p->rounds ?: 20;
}

/* Processes bytes that do not fill a block, or that complete one. */
static u32 crypt_bytes(struct stream *s, u8 *dst, const u8 *src, u32 len)
{
	const u8 *key;
	u32 i;

	if (!s->left) {
		memset(s->block, 0, sizeof(s->block));
		chacha_crypt(s->state, s->block, s->block, sizeof(s->block),
			     s->rounds);
		s->left = sizeof(s->block);
	}
	len = min(len, s->left);
	key = s->block + sizeof(s->block) - s->left;
	for (i = 0; i < len; i++)
		dst[i] = src[i] ^ key[i];
	s->left -= len;
	return len;
}

static void crypt_piece(struct stream *s, u8 *dst, const u8 *src, u32 len)
{
	u32 n;

	while (len) {
		n = round_down(len, CHACHA_BLOCK_SIZE);
		if (n && !s->left)
			chacha_crypt(s->state, dst, src, n, s->rounds);
		else
			n = crypt_bytes(s, dst, src, len);
		dst += n;
		src += n;
		len -= n;
	}
}

/**
 * soft_chacha() - encrypt or decrypt the data of a request
 * @req: the request; its IV is the counter, then the nonce (RFC 8439
 *	section 2.3)
 *
 * Context: process or BH.
 * Return: 0.
 */
int soft_chacha(struct ocf_request *req)
{
	struct soft_ctx *ctx = soft_ctx(req);
	struct stream *s = (void *)req->priv;
	struct ocf_walk w;
	int i;

	BUILD_BUG_ON(sizeof(*s) > OCF_PRIV_SIZE);
	chacha_init(s->state, ctx->chacha, req->iv);
	s->left = 0;
	s->rounds = ctx->rounds;
	for (ocf_walk_start(&w, req); w.len; ocf_walk_next(&w))
		crypt_piece(s, w.dst, w.src, w.len);
	for (i = 0; i < 4; i++)
		put_unaligned_le32(s->state[12 + i], req->iv + 4 * i);
	memzero_explicit(s, sizeof(*s));
	return 0;
}
