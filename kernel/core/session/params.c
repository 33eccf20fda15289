// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a session and a request may be.  All validation is here; drivers and
 * the rest of the core trust it.  Also compiled for user space.
 */
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/ocf.h>
#include <linux/ocf_driver.h>

#include "alg.h"
#include "params.h"

#define TYPE(t)		BIT(OCF_TYPE_##t)
#define MODES_PARTS	(BIT(OCF_MODE_DIGEST) | BIT(OCF_MODE_CHAIN))
#define AAD_MAX_TLS	32	/* 13 in TLS 1.2, more in protocols like it */

/* Which types of algorithms a mode is made of. */
static const struct {
	u8 cipher, mac;
} mode_types[OCF_MODE_COUNT] = {
	[OCF_MODE_CIPHER]	= { TYPE(CIPHER), TYPE(NONE) },
	[OCF_MODE_DIGEST]	= { TYPE(NONE), TYPE(DIGEST) | TYPE(MAC) },
	[OCF_MODE_AEAD]		= { TYPE(AEAD), TYPE(NONE) },
	[OCF_MODE_ETA]		= { TYPE(CIPHER), TYPE(DIGEST) | TYPE(MAC) },
	[OCF_MODE_MTE]		= { TYPE(CIPHER), TYPE(MAC) },
	[OCF_MODE_CHAIN]	= { TYPE(CIPHER), TYPE(DIGEST) | TYPE(MAC) },
	[OCF_MODE_COMPRESS]	= { TYPE(COMPRESS), TYPE(NONE) },
};

/* MACs whose hash lets ocf_mte_inner() look at its state. */
#define MTE_MACS	(BIT_ULL(OCF_HMAC_MD5) | BIT_ULL(OCF_HMAC_SHA1) | \
			 BIT_ULL(OCF_HMAC_SHA224) | BIT_ULL(OCF_HMAC_SHA256) | \
			 BIT_ULL(OCF_HMAC_SHA384) | BIT_ULL(OCF_HMAC_SHA512))

/* @alg's row, if it is of one of the @types; NONE has a row of zeroes here */
static const struct ocf_alg_info *row_of(enum ocf_alg alg, u8 types)
{
	static const struct ocf_alg_info none;
	const struct ocf_alg_info *row;

	row = alg == OCF_ALG_NONE ? &none : ocf_alg_info(alg);
	return row && types & BIT(row->type) ? row : NULL;
}

static bool key_fits(const struct ocf_alg_info *row, const u8 *key, u32 len)
{
	if (!row->key_max)
		return !len;
	return len >= row->key_min && len <= row->key_max &&
	       !((len - row->key_min) % row->key_step) && (key || !len);
}

static bool ivlen_fits(const struct ocf_alg_info *row, u32 len)
{
	if (!row->iv)
		return !len;
	return len >= row->iv_min && len <= row->iv_max &&
	       !((len - row->iv_min) % row->iv_step);
}

/*
 * Only 12 and 20 are allowed: the kernel's library warns of any other number of
 * rounds.
 */
static bool rounds_fit(const struct ocf_alg_info *row, u32 rounds)
{
	if (!rounds)
		return true;
	return row->flags & OCF_ALG_ROUNDS && (rounds == 12 || rounds == 20);
}

static int check_numbers(const struct ocf_session_params *p)
{
	if ((unsigned int)p->mode >= OCF_MODE_COUNT ||
	    !mode_types[p->mode].cipher)
		return ocf_params_refuse(p, OCF_FIELD_MODE);
	if (p->flags & ~OCF_SESSION_FLAGS ||
	    (p->flags & OCF_SESSION_MTE_LENGTH && p->mode != OCF_MODE_MTE))
		return ocf_params_refuse(p, OCF_FIELD_FLAGS);
	if (p->policy > OCF_POLICY_CPU)
		return ocf_params_refuse(p, OCF_FIELD_POLICY);
	if (p->device < OCF_DEVICE_ANY || p->device >= OCF_DEVICES_MAX)
		return ocf_params_refuse(p, OCF_FIELD_DEVICE);
	return 0;
}

static int check_keys(const struct ocf_session_params *p,
		      const struct ocf_alg_info *cipher,
		      const struct ocf_alg_info *mac)
{
	if (!key_fits(cipher, p->key, p->keylen))
		return ocf_params_refuse(p, OCF_FIELD_KEY);
	/* a digest without a key authenticates nothing */
	if (!key_fits(mac, p->mackey, p->mackeylen) ||
	    (p->mode == OCF_MODE_ETA && mac->type == OCF_TYPE_DIGEST &&
	     !p->mackeylen))
		return ocf_params_refuse(p, OCF_FIELD_MACKEY);
	return 0;
}

/* Fills in lengths that were left open. */
static int check_lengths(struct ocf_session_params *p,
			 const struct ocf_alg_info *cipher,
			 const struct ocf_alg_info *mac)
{
	const struct ocf_alg_info *ivrow = mac->iv ? mac : cipher;
	const struct ocf_alg_info *macrow = cipher->digest ? cipher : mac;

	if (!p->ivlen)
		p->ivlen = ivrow->iv;
	if (p->ivlen && !ivlen_fits(ivrow, p->ivlen))
		return ocf_params_refuse(p, OCF_FIELD_IV);
	if (!p->maclen)
		p->maclen = macrow->digest;
	if (p->maclen && (p->maclen > macrow->digest ||
			  !(macrow->tags & BIT_ULL(p->maclen - 1))))
		return ocf_params_refuse(p, OCF_FIELD_MACLEN);
	return 0;
}

/**
 * ocf_check_params() - validate a session and fill in what was left open
 * @p: its parameters
 *
 * Return: 0, -EINVAL, or -EPERM for a weak algorithm.
 */
int ocf_check_params(struct ocf_session_params *p)
{
	const struct ocf_alg_info *cipher, *mac;
	int err;

	err = check_numbers(p);
	if (err)
		return err;
	cipher = row_of(p->cipher, mode_types[p->mode].cipher);
	if (!cipher)
		return ocf_params_refuse(p, OCF_FIELD_CIPHER);
	mac = row_of(p->mac, mode_types[p->mode].mac);
	/* a request has one IV */
	if (!mac || (p->mode != OCF_MODE_DIGEST && mac->iv) ||
	    (p->mode == OCF_MODE_MTE && !(MTE_MACS & BIT_ULL(p->mac))))
		return ocf_params_refuse(p, OCF_FIELD_MAC);
	err = check_keys(p, cipher, mac) ?: check_lengths(p, cipher, mac);
	if (err)
		return err;
	if (!rounds_fit(cipher, p->rounds))
		return ocf_params_refuse(p, OCF_FIELD_ROUNDS);

	if (!(p->flags & OCF_SESSION_ANY))
		p->flags |= OCF_SESSION_ANY;
	if (ocf_alg_permitted(p->cipher) && ocf_alg_permitted(p->mac))
		return 0;
	ocf_params_refuse(p, ocf_alg_permitted(p->cipher) ? OCF_FIELD_MAC :
							    OCF_FIELD_CIPHER);
	return -EPERM;
}

static u64 range_end(const struct ocf_range *r)
{
	return (u64)r->start + r->len;
}

static bool within(const struct ocf_range *inner, const struct ocf_range *outer)
{
	return inner->start >= outer->start &&
	       range_end(inner) <= range_end(outer);
}

/* The tag is inline, or in the buffer and clear of what the MAC covers. */
static bool tag_apart(const struct ocf_request *req, u32 maclen)
{
	return req->tag_start == OCF_TAG_INLINE ||
	       req->tag_start >= range_end(&req->auth) ||
	       (u64)req->tag_start + maclen <= req->auth.start;
}

static int check_cipher(const struct ocf_request *req,
			const struct ocf_session_params *p)
{
	return req->data.len ? 0 : -EINVAL;
}

static int check_digest(const struct ocf_request *req,
			const struct ocf_session_params *p)
{
	if (req->flags & OCF_REQ_UPDATE && req->op != OCF_OP_ENCRYPT)
		return -EINVAL;
	if (req->tag_start != OCF_TAG_INLINE &&
	    req->tag_start < range_end(&req->data) &&
	    (u64)req->tag_start + p->maclen > req->data.start)
		return -EINVAL;
	return 0;
}

static int check_aead(const struct ocf_request *req,
		      const struct ocf_session_params *p)
{
	const struct ocf_alg_info *row = ocf_alg_info(p->cipher);
	u32 left;

	if (req->auth.len && range_end(&req->auth) != req->data.start)
		return -EINVAL;
	if (req->tag_start != range_end(&req->data))
		return -EINVAL;
	if (req->ivlen && !ivlen_fits(row, req->ivlen))
		return -EINVAL;
	/* SP 800-38C: the length must fit into the 15 - ivlen bytes left */
	left = 15 - (req->ivlen ?: p->ivlen);
	if (ocf_alg_is_ccm(p->cipher) && left < sizeof(req->data.len) &&
	    req->data.len >> 8 * left)
		return -EINVAL;
	return 0;
}

static int check_eta(const struct ocf_request *req,
		     const struct ocf_session_params *p)
{
	if (!within(&req->data, &req->auth) || !tag_apart(req, p->maclen))
		return -EINVAL;
	return 0;
}

static int check_mte(const struct ocf_request *req,
		     const struct ocf_session_params *p)
{
	u32 aad = req->data.start - req->auth.start;
	/* a block cipher's record has padding, of one byte at least */
	u32 least = p->maclen + (ocf_alg_info(p->cipher)->block > 1);

	if (req->auth.start > req->data.start)
		return -EINVAL;
	if (p->flags & OCF_SESSION_MTE_LENGTH && (aad < 2 || aad > AAD_MAX_TLS))
		return -EINVAL;
	if (req->op == OCF_OP_DECRYPT)
		return req->auth.len == aad && req->data.len >= least ?
		       0 : -EINVAL;
	if (req->tag_start < req->data.start ||
	    (u64)req->tag_start + p->maclen > range_end(&req->data) ||
	    range_end(&req->auth) != req->tag_start)
		return -EINVAL;
	return 0;
}

static int check_chain(const struct ocf_request *req,
		       const struct ocf_session_params *p)
{
	if (req->flags & OCF_REQ_UPDATE && req->flags & OCF_REQ_VERIFY)
		return -EINVAL;
	if (!(req->flags & OCF_REQ_MAC_FIRST) && req->src != req->dst &&
	    req->auth.len && !within(&req->auth, &req->data))
		return -EINVAL;
	return tag_apart(req, p->maclen) ? 0 : -EINVAL;
}

static int check_compress(const struct ocf_request *req,
			  const struct ocf_session_params *p)
{
	if (!req->data.len || !req->dst_len || req->src == req->dst)
		return -EINVAL;
	if ((u64)req->data.start + req->dst_len > OCF_REQUEST_MAX)
		return -E2BIG;
	return 0;
}

static int (*const mode_checks[OCF_MODE_COUNT])(const struct ocf_request *,
				const struct ocf_session_params *) = {
	[OCF_MODE_CIPHER]	= check_cipher,
	[OCF_MODE_DIGEST]	= check_digest,
	[OCF_MODE_AEAD]		= check_aead,
	[OCF_MODE_ETA]		= check_eta,
	[OCF_MODE_MTE]		= check_mte,
	[OCF_MODE_CHAIN]	= check_chain,
	[OCF_MODE_COMPRESS]	= check_compress,
};

#define FLAGS_PARTS	(OCF_REQ_UPDATE | OCF_REQ_CONTINUE)
#define FLAGS_CHAIN	(OCF_REQ_MAC_FIRST | OCF_REQ_VERIFY)

/* Whether what these flags ask for means something in this session. */
static bool flags_fit(const struct ocf_request *req,
		      const struct ocf_session_params *p)
{
	if (req->flags & FLAGS_CHAIN && p->mode != OCF_MODE_CHAIN)
		return false;
	return !(req->flags & FLAGS_PARTS) ||
	       (MODES_PARTS & BIT(p->mode) && req->state &&
		ocf_alg_info(p->mac)->flags & OCF_ALG_PARTS);
}

/**
 * ocf_check_request() - validate a request against its session
 * @req: the request
 * @p: what its session does, as ocf_check_params() left it
 * @block: bytes the data's length must be a multiple of, a power of two
 *
 * Return: 0, -EINVAL or -E2BIG.
 */
int ocf_check_request(const struct ocf_request *req,
		      const struct ocf_session_params *p, u32 block)
{
	if (req->flags & ~OCF_REQ_FLAGS ||
	    (unsigned int)req->op >= OCF_OP_COUNT)
		return -EINVAL;
	if (range_end(&req->data) > OCF_REQUEST_MAX ||
	    range_end(&req->auth) > OCF_REQUEST_MAX ||
	    (req->tag_start != OCF_TAG_INLINE &&
	     req->tag_start > OCF_REQUEST_MAX - OCF_TAG_MAX))
		return -E2BIG;
	if (req->data.len & (block - 1))
		return -EINVAL;
	if (!req->src && (req->data.len || req->auth.len))
		return -EINVAL;
	if (!req->dst && req->data.len && p->mode != OCF_MODE_DIGEST)
		return -EINVAL;
	if (req->flags & (FLAGS_PARTS | FLAGS_CHAIN) && !flags_fit(req, p))
		return -EINVAL;
	return mode_checks[p->mode](req, p);
}
