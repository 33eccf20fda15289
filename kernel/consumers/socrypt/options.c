// SPDX-License-Identifier: GPL-2.0-only
/*
 * setsockopt() and getsockopt(): the options of SO_CRYPT, and those of kTLS.
 */
#include <linux/tls.h>
#include <net/sock.h>

#include "socrypt.h"

/* ---- setting ---- */

static const struct so_keys *keys_of(const struct so_ctx *ctx, bool receive)
{
	if (receive)
		return ctx->rx_keys ? &ctx->rx.keys : NULL;
	return ctx->tx_keys ? &ctx->tx.keys : NULL;
}

static int fits(const struct so_ctx *ctx, bool receive,
		const struct so_crypt *c, u16 type)
{
	return so_ktls_fits(keys_of(ctx, receive), keys_of(ctx, !receive), c,
			    type);
}

/* Context: the socket is held. */
static int may_set(struct sock *sk, const struct so_crypt *c, u16 type,
		   bool receive)
{
	if (!receive && (!((1 << sk->sk_state) &
			   (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) ||
			 sk->sk_shutdown & SEND_SHUTDOWN))
		return -ENOTCONN;
	return fits(so_ctx(sk), receive, c, type);
}

static int use_rx(struct sock *sk, const struct so_crypt *c, u16 type,
		  struct so_new_keys *new)
{
	struct so_ctx *ctx = so_ctx(sk);
	int err;

	/* releases the socket while it waits, so all checks come after it */
	err = so_rx_wait(&ctx->rx, true) ?:
	      may_set(sk, c, type, true) ?: so_rx_set(&ctx->rx, new);
	if (err)
		return err;
	if (!ctx->rx_keys)
		so_take_over_reading(sk);
	so_rx_arrived(&ctx->rx);
	return 0;
}

static int use_tx(struct sock *sk, const struct so_crypt *c, u16 type,
		  struct so_new_keys *new)
{
	struct so_ctx *ctx = so_ctx(sk);
	int err;

	err = may_set(sk, c, type, false);
	if (!err && ctx->tx_keys)
		err = so_tx_cut(&ctx->tx);
	if (!err)
		err = so_keys_replace(&ctx->tx.keys, new, true);
	if (err)
		return err;
	if (type) {
		so_keys_stable(&ctx->tx.keys, ctx->stable);
		ctx->tx.keys.fr.f.payload_max = ctx->payload_max;
	}
	ctx->tx.changes++;
	/* records are also sent in BH, where current is any task */
	sk->sk_use_task_frag = false;
	WRITE_ONCE(ctx->tx_keys, true);
	return 0;
}

/*
 * A card may take long to make a session.  Meanwhile the socket is not held, so
 * all checks are made again when it is there.
 */
static int set_keys(struct sock *sk, const struct so_crypt *c, u16 type,
		    bool receive)
{
	struct so_new_keys new = {};
	int err;

	lock_sock(sk);
	err = may_set(sk, c, type, receive);
	release_sock(sk);
	if (err)
		return err;
	err = so_keys_make(&new, c, type, receive);
	if (err)
		goto end;
	lock_sock(sk);
	err = receive ? use_rx(sk, c, type, &new) : use_tx(sk, c, type, &new);
	release_sock(sk);
end:
	so_keys_end(&new);
	memzero_explicit(&new, sizeof(new));
	return err;
}

/* Reads a struct of the caller's size; fields that are missing are zero. */
static int read_option(struct so_crypt *c, sockptr_t optval, u32 optlen)
{
	u32 size, more = 0;
	int zero = 1;

	memset(c, 0, sizeof(*c));
	if (optlen < offsetof(struct so_crypt, framing) || optlen > PAGE_SIZE)
		return -EINVAL;
	if (copy_from_sockptr(&size, optval, sizeof(size)))
		return -EFAULT;
	if (size != optlen)
		return -EINVAL;
	/* copy_struct_from_sockptr() does not check the rest */
	if (size > sizeof(*c))
		more = size - sizeof(*c);
	if (more && sockptr_is_kernel(optval))
		zero = !memchr_inv(optval.kernel + sizeof(*c), 0, more);
	else if (more)
		zero = check_zeroed_user(optval.user + sizeof(*c), more);
	if (zero <= 0)
		return zero ?: -E2BIG;
	return copy_from_sockptr(c, optval, size - more) ? -EFAULT : 0;
}

static int set_ours(struct sock *sk, int optname, sockptr_t optval, u32 optlen)
{
	struct so_crypt c;
	int err;

	if (optname != SO_CRYPT_TX && optname != SO_CRYPT_RX)
		return -ENOPROTOOPT;
	err = read_option(&c, optval, optlen);
	if (!err)
		err = set_keys(sk, &c, 0, optname == SO_CRYPT_RX);
	memzero_explicit(&c, sizeof(c));
	return err;
}

/* ---- setting, options of kTLS ---- */

static int set_ktls_keys(struct sock *sk, int optname, sockptr_t optval,
			 u32 optlen)
{
	struct so_crypt c;
	u16 type;
	int err;

	err = so_ktls_read(&c, &type, optval, optlen);
	if (!err)
		err = set_keys(sk, &c, type, optname == TLS_RX);
	memzero_explicit(&c, sizeof(c));
	/* the crypto API's errno for an algorithm that does not exist */
	return err == -EOPNOTSUPP ? -ENOENT : err;
}

/* Reads an option that is 0 or 1. */
static int read_switch(bool *on, sockptr_t optval, u32 optlen)
{
	u32 value;

	if (sockptr_is_null(optval) || optlen != sizeof(value))
		return -EINVAL;
	if (copy_from_sockptr(&value, optval, sizeof(value)))
		return -EFAULT;
	*on = value;
	return value > 1 ? -EINVAL : 0;
}

/* TLS_TX_ZEROCOPY_RO, which means SO_CRYPT_STABLE */
static int set_stable(struct sock *sk, sockptr_t optval, u32 optlen)
{
	struct so_ctx *ctx = so_ctx(sk);
	bool on;
	int err;

	err = read_switch(&on, optval, optlen);
	if (err)
		return err;
	lock_sock(sk);
	ctx->stable = on;
	if (ctx->tx_keys && ctx->tx.keys.ktls)
		so_keys_stable(&ctx->tx.keys, on);
	release_sock(sk);
	return 0;
}

static bool may_pad(const struct so_ctx *ctx)
{
	const struct so_keys *k = keys_of(ctx, true);

	return k && k->ktls && k->protocol == SO_CRYPT_TLS_1_3;
}

/*
 * Reads an option that is 0 or 1, and checks that any further bytes are zero.
 */
static int read_long_switch(bool *on, sockptr_t optval, u32 optlen)
{
	size_t size = min_t(size_t, optlen, sizeof(u32));
	int err;

	err = read_switch(on, optval, size);
	if (err)
		return err;
	err = check_zeroed_sockptr(optval, size, optlen - size);
	return err < 0 ? err : err ? 0 : -EINVAL;
}

/* TLS_RX_EXPECT_NO_PAD is a hint that changes nothing here. */
static int set_no_pad(struct sock *sk, sockptr_t optval, u32 optlen)
{
	struct so_ctx *ctx = so_ctx(sk);
	bool on;
	int err;

	err = read_long_switch(&on, optval, optlen);
	if (err)
		return err;
	lock_sock(sk);
	if (may_pad(ctx))
		WRITE_ONCE(ctx->no_pad, on);
	else
		err = -EINVAL;
	release_sock(sk);
	return err;
}

/* Bytes.  RFC 8449, 4: the minimum, which includes the type in TLS 1.3. */
static u32 payload_least(const struct so_ctx *ctx)
{
	return ctx->tx_keys && ctx->tx.keys.protocol == SO_CRYPT_TLS_1_3 ? 63 :
									   64;
}

/* TLS_TX_MAX_PAYLOAD_LEN: the maximum of a record's payload, in bytes */
static int set_payload_max(struct sock *sk, sockptr_t optval, u32 optlen)
{
	struct so_ctx *ctx = so_ctx(sk);
	u16 value;
	int err = 0;

	if (sockptr_is_null(optval) || optlen != sizeof(value))
		return -EINVAL;
	if (copy_from_sockptr(&value, optval, sizeof(value)))
		return -EFAULT;
	lock_sock(sk);
	if (ctx->tx.open)
		err = -EBUSY;
	else if (value < payload_least(ctx) || value > SO_TLS_PAYLOAD_MAX)
		err = -EINVAL;
	if (!err)
		WRITE_ONCE(ctx->payload_max, value);
	if (!err && ctx->tx_keys && ctx->tx.keys.ktls)
		ctx->tx.keys.fr.f.payload_max = value;
	release_sock(sk);
	return err;
}

static int set_ktls(struct sock *sk, int optname, sockptr_t optval, u32 optlen)
{
	switch (optname) {
	case TLS_TX:
	case TLS_RX:
		return set_ktls_keys(sk, optname, optval, optlen);
	case TLS_TX_ZEROCOPY_RO:
		return set_stable(sk, optval, optlen);
	case TLS_RX_EXPECT_NO_PAD:
		return set_no_pad(sk, optval, optlen);
	case TLS_TX_MAX_PAYLOAD_LEN:
		return set_payload_max(sk, optval, optlen);
	default:
		return -ENOPROTOOPT;
	}
}

int so_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval,
		  unsigned int optlen)
{
	if (level == SOL_OCF)
		return set_ours(sk, optname, optval, optlen);
	if (level == SOL_TLS)
		return set_ktls(sk, optname, optval, optlen);
	return so_ctx(sk)->base->setsockopt(sk, level, optname, optval, optlen);
}

/* ---- telling ---- */

static void tell_keys(const struct so_keys *k, struct so_crypt_info *info)
{
	info->flags = k->flags;
	info->protocol = k->protocol;
	info->maclen = k->fr.maclen;
	strscpy(info->cipher, ocf_alg_info(k->cipher)->name,
		sizeof(info->cipher));
	if (k->mac)
		strscpy(info->mac, ocf_alg_info(k->mac)->name,
			sizeof(info->mac));
	info->number = k->number;
}

static int tell_ours(struct sock *sk, int optname, char __user *optval,
		     int __user *optlen)
{
	bool receive = optname == SO_CRYPT_RX;
	struct so_crypt_info info = {};
	struct so_ctx *ctx = so_ctx(sk);
	const struct so_keys *k;
	int len;

	if (optname != SO_CRYPT_TX && optname != SO_CRYPT_RX)
		return -ENOPROTOOPT;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	lock_sock(sk);
	k = keys_of(ctx, receive);
	if (k)
		tell_keys(k, &info);
	if (k && receive)
		so_rx_tell(&ctx->rx, &info);
	else if (k)
		so_tx_tell(&ctx->tx, &info);
	release_sock(sk);
	if (!k)
		return -ENOENT;
	info.size = min_t(u32, len, sizeof(info));
	if (copy_to_user(optval, &info, info.size) ||
	    put_user(info.size, optlen))
		return -EFAULT;
	return 0;
}

static int tell_ktls_keys(struct sock *sk, int optname, char __user *optval,
			  int len)
{
	u8 option[SO_KTLS_OPTION_MAX];
	struct so_ctx *ctx = so_ctx(sk);
	const struct so_keys *k;
	int n = -EBUSY;

	if (len < (int)sizeof(struct tls_crypto_info))
		return -EINVAL;
	lock_sock(sk);
	k = keys_of(ctx, optname == TLS_RX);
	if (k && k->ktls)
		n = so_ktls_tell(k, optname == TLS_TX ? k->number :
				 so_rx_number(&ctx->rx), option, len);
	release_sock(sk);
	if (n < 0)
		return n;
	return copy_to_user(optval, option, n) ? -EFAULT : 0;
}

/*
 * In contrast to the older options the caller may have more room than the value
 * needs.
 */
static int tell_value(const void *value, int size, char __user *optval,
		      int __user *optlen, int len)
{
	if (len < size)
		return -EINVAL;
	if (put_user(size, optlen) || copy_to_user(optval, value, size))
		return -EFAULT;
	return 0;
}

static int tell_ktls(struct sock *sk, int optname, char __user *optval,
		     int __user *optlen)
{
	struct so_ctx *ctx = so_ctx(sk);
	u16 payload_max;
	bool pad;
	u32 value;
	int len;

	if (get_user(len, optlen))
		return -EFAULT;
	switch (optname) {
	case TLS_TX:
	case TLS_RX:
		return tell_ktls_keys(sk, optname, optval, len);
	case TLS_TX_ZEROCOPY_RO:
		value = READ_ONCE(ctx->stable);
		if (len != sizeof(value))
			return -EINVAL;
		return copy_to_user(optval, &value, sizeof(value)) ? -EFAULT :
								     0;
	case TLS_RX_EXPECT_NO_PAD:
		lock_sock(sk);
		pad = may_pad(ctx);
		release_sock(sk);
		if (!pad)
			return -EINVAL;
		value = READ_ONCE(ctx->no_pad);
		return tell_value(&value, sizeof(value), optval, optlen, len);
	case TLS_TX_MAX_PAYLOAD_LEN:
		payload_max = READ_ONCE(ctx->payload_max);
		return tell_value(&payload_max, sizeof(payload_max), optval,
				  optlen, len);
	default:
		return -ENOPROTOOPT;
	}
}

int so_getsockopt(struct sock *sk, int level, int optname, char __user *optval,
		  int __user *optlen)
{
	if (level == SOL_OCF)
		return tell_ours(sk, optname, optval, optlen);
	if (level == SOL_TLS)
		return tell_ktls(sk, optname, optval, optlen);
	/* it reads TCP's bytes, which are incomplete records */
	if (level == SOL_TCP && optname == TCP_ZEROCOPY_RECEIVE &&
	    READ_ONCE(so_ctx(sk)->rx_keys))
		return -EOPNOTSUPP;
	return so_ctx(sk)->base->getsockopt(sk, level, optname, optval, optlen);
}
