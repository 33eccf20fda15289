// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interface of the kernel's own kTLS: <linux/tls.h>, and
 * Documentation/networking/tls.rst of Linux.  This translates options of level
 * SOL_TLS to SO_CRYPT.
 *
 * Differences: keys cannot be read back; new keys can be set, as in Linux from
 * 6.14 on.
 */
#include <linux/inet_diag.h>
#include <linux/tls.h>
#include <linux/unaligned.h>
#include <net/netlink.h>

#include "socrypt.h"

/* The fields after struct tls_crypto_info: iv, key, salt, rec_seq. */
static const struct suite {
	u16	type;
	u8	iv, key, salt;
	char	cipher[20];
} suites[] = {
	{ TLS_CIPHER_AES_GCM_128, 8, 16, 4, "aes-gcm" },
	{ TLS_CIPHER_AES_GCM_256, 8, 32, 4, "aes-gcm" },
	{ TLS_CIPHER_AES_CCM_128, 8, 16, 4, "aes-ccm" },
	{ TLS_CIPHER_CHACHA20_POLY1305, 12, 32, 0, "chacha20-poly1305" },
	{ TLS_CIPHER_SM4_GCM, 8, 16, 4, "sm4-gcm" },
	{ TLS_CIPHER_SM4_CCM, 8, 16, 4, "sm4-ccm" },
	{ TLS_CIPHER_ARIA_GCM_128, 8, 16, 4, "aria-gcm" },
	{ TLS_CIPHER_ARIA_GCM_256, 8, 32, 4, "aria-gcm" },
};

#define NUMBER_SIZE	8	/* bytes of rec_seq */

static const struct suite *suite_of(u16 type)
{
	const struct suite *s;

	for (s = suites; s < suites + ARRAY_SIZE(suites); s++)
		if (s->type == type)
			return s;
	return NULL;
}

static u32 size_of(const struct suite *s)
{
	return sizeof(struct tls_crypto_info) + s->iv + s->key + s->salt +
	       NUMBER_SIZE;
}

static u32 protocol_of(u16 version)
{
	switch (version) {
	case TLS_1_2_VERSION:
		return SO_CRYPT_TLS_1_2;
	case TLS_1_3_VERSION:
		return SO_CRYPT_TLS_1_3;
	default:
		return SO_CRYPT_FRAMED;
	}
}

static u16 version_of(const struct so_keys *k)
{
	return k->protocol == SO_CRYPT_TLS_1_3 ? TLS_1_3_VERSION :
						 TLS_1_2_VERSION;
}

static void translate(const struct suite *s, const u8 *option,
		      struct so_crypt *c)
{
	const u8 *iv = option + sizeof(struct tls_crypto_info);
	const u8 *key = iv + s->iv;
	const u8 *salt = key + s->key;

	c->size = sizeof(*c);
	strscpy(c->cipher, s->cipher);
	c->keylen = s->key;
	memcpy(c->key, key, s->key);
	c->ivlen = s->salt + s->iv;
	memcpy(c->iv, salt, s->salt);
	memcpy(c->iv + s->salt, iv, s->iv);
	c->number = get_unaligned_be64(salt + s->salt);
}

/**
 * so_ktls_read() - read TLS_TX or TLS_RX
 * @c: is filled in
 * @type: TLS_CIPHER_*
 * @optval: the option
 * @optlen: bytes of it
 *
 * Context: process; may sleep.
 * Return: 0, -EINVAL or -EFAULT.
 */
int so_ktls_read(struct so_crypt *c, u16 *type, sockptr_t optval, u32 optlen)
{
	u8 option[SO_KTLS_OPTION_MAX];
	struct tls_crypto_info info;
	const struct suite *s;
	int err = -EINVAL;

	memset(c, 0, sizeof(*c));
	if (sockptr_is_null(optval) || optlen < sizeof(info) ||
	    optlen > SO_KTLS_OPTION_MAX)
		return -EINVAL;
	/* copied once, since the type inside it decides its length */
	if (copy_from_sockptr(option, optval, optlen))
		return -EFAULT;
	memcpy(&info, option, sizeof(info));
	s = suite_of(info.cipher_type);
	c->protocol = protocol_of(info.version);
	if (s && c->protocol && optlen == size_of(s)) {
		translate(s, option, c);
		*type = s->type;
		err = 0;
	}
	memzero_explicit(option, sizeof(option));
	return err;
}

/**
 * so_ktls_tell() - write the answer to getsockopt(TLS_TX) or TLS_RX
 * @k: the direction's keys
 * @number: of the direction's next record
 * @option: the answer, SO_KTLS_OPTION_MAX bytes
 * @len: bytes the caller has room for: the whole option, or struct
 *	tls_crypto_info
 *
 * Key and salt are zeros.
 *
 * Context: the socket is held.
 * Return: bytes, or -EINVAL.
 */
int so_ktls_tell(const struct so_keys *k, u64 number, u8 *option, u32 len)
{
	struct tls_crypto_info info = {
		.version = version_of(k), .cipher_type = k->ktls,
	};
	const struct suite *s = suite_of(k->ktls);

	memcpy(option, &info, sizeof(info));
	if (len == sizeof(info))
		return len;
	if (!s || len != size_of(s))
		return -EINVAL;
	memset(option + sizeof(info), 0, len - sizeof(info));
	/*
	 * @k counts records that have arrived but were not read yet; @number
	 * does not.  So go back by as many records.
	 */
	if (k->fr.f.nonce == SO_CRYPT_NONCE_COUNTED)
		put_unaligned_be64(k->counter - (k->number - number),
				   option + sizeof(info));
	put_unaligned_be64(number, option + len - NUMBER_SIZE);
	return len;
}

/* Whether keys that were set by this interface have this version and cipher */
static bool same(const struct so_keys *k, const struct so_crypt *c, u16 type)
{
	return k->ktls == type && k->protocol == c->protocol;
}

/**
 * so_ktls_fits() - whether keys may be set for a direction
 * @ours: the present keys of the direction, or NULL
 * @other: the keys of the other direction, or NULL
 * @c: the new keys
 * @type: TLS_CIPHER_*, or 0: they are set by SO_CRYPT
 *
 * Context: the socket is held.
 * Return: 0; -EBUSY if the present keys were set by the other interface, or are
 * of TLS 1.2, which has no new keys; -EINVAL for another cipher or version than
 * that of the present keys or of the other direction.
 */
int so_ktls_fits(const struct so_keys *ours, const struct so_keys *other,
		 const struct so_crypt *c, u16 type)
{
	if (ours && !ours->ktls != !type)
		return -EBUSY;
	if (!type)
		return 0;
	if (ours && ours->protocol != SO_CRYPT_TLS_1_3)
		return -EBUSY;
	if ((ours && !same(ours, c, type)) ||
	    (other && other->ktls && !same(other, c, type)))
		return -EINVAL;
	return 0;
}

/**
 * so_ktls_info() - write what sock_diag reports
 * @ctx: the socket's context
 * @skb: the destination
 *
 * Context: RCU; options that are set meanwhile may be reported or not.
 * Return: 0 or -EMSGSIZE.
 */
int so_ktls_info(const struct so_ctx *ctx, struct sk_buff *skb)
{
	bool tx = READ_ONCE(ctx->tx_keys) && ctx->tx.keys.ktls;
	bool rx = READ_ONCE(ctx->rx_keys) && ctx->rx.keys.ktls;
	const struct so_keys *k = tx ? &ctx->tx.keys : &ctx->rx.keys;
	struct nlattr *nest;

	nest = nla_nest_start_noflag(skb, INET_ULP_INFO_TLS);
	if (!nest)
		return -EMSGSIZE;
	if ((tx || rx) &&
	    (nla_put_u16(skb, TLS_INFO_VERSION, version_of(k)) ||
	     nla_put_u16(skb, TLS_INFO_CIPHER, k->ktls)))
		goto end;
	if (nla_put_u16(skb, TLS_INFO_TXCONF, tx ? TLS_CONF_SW :
						   TLS_CONF_BASE) ||
	    nla_put_u16(skb, TLS_INFO_RXCONF, rx ? TLS_CONF_SW :
						   TLS_CONF_BASE) ||
	    (READ_ONCE(ctx->no_pad) && nla_put_flag(skb, TLS_INFO_RX_NO_PAD)) ||
	    nla_put_u16(skb, TLS_INFO_TX_MAX_PAYLOAD_LEN,
			READ_ONCE(ctx->payload_max)))
		goto end;
	nla_nest_end(skb, nest);
	return 0;

end:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

size_t so_ktls_info_size(void)
{
	return nla_total_size(0) + 5 * nla_total_size(sizeof(u16)) +
	       nla_total_size(0);
}
