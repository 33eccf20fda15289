// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ULP: what a TCP socket does differently once it has one, and what it is
 * told by setsockopt().
 */
#include <linux/module.h>
#include <linux/splice.h>
#include <net/inet_common.h>
#include <net/sock.h>

#include "../../compat.h"
#include "socrypt.h"

/* What sockets of a family have instead of TCP's own. */
static struct family {
	struct proto		*base;
	struct proto		proto;
	const struct proto_ops	*base_ops;
	struct proto_ops	ops;
} families[2];			/* IPv4, IPv6 */
static DEFINE_MUTEX(families_lock);

/* ---- sending ---- */

static int write_begin(struct so_ctx *ctx, struct sock *sk)
{
	int err = mutex_lock_interruptible(&ctx->tx.writer);

	if (!err)
		lock_sock(sk);
	return err ? -ERESTARTSYS : 0;
}

static void write_end(struct so_ctx *ctx, struct sock *sk)
{
	release_sock(sk);
	mutex_unlock(&ctx->tx.writer);
}

static int do_sendmsg(struct sock *sk, struct msghdr *msg, size_t size)
{
	struct so_ctx *ctx = so_ctx(sk);
	int err;

	if (!READ_ONCE(ctx->tx_keys))
		return ctx->base->sendmsg(sk, msg, size);
	err = write_begin(ctx, sk);
	if (err)
		return err;
	err = so_tx_write(&ctx->tx, msg, size);
	write_end(ctx, sk);
	return err;
}

/* The file that was sent is at its end. */
static void do_splice_eof(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct so_ctx *ctx = so_ctx(sk);

	if (READ_ONCE(ctx->tx_keys)) {
		mutex_lock(&ctx->tx.writer);
		lock_sock(sk);
		so_tx_cut(&ctx->tx);
		write_end(ctx, sk);
	}
	ctx->base->splice_eof(sock);
}

static void do_release_cb(struct sock *sk)
{
	struct so_ctx *ctx = so_ctx(sk);

	ctx->base->release_cb(sk);
	if (ctx->tx_keys)
		so_tx_released(&ctx->tx);
}

static void do_write_space(struct sock *sk)
{
	struct so_ctx *ctx;

	rcu_read_lock();
	ctx = rcu_dereference_raw(inet_csk(sk)->icsk_ulp_data);
	if (ctx) {
		if (ctx->tx_keys)
			so_tx_space(&ctx->tx);
		ctx->write_space(sk);
	}
	rcu_read_unlock();
}

/* What is in flight goes before the end does. */
static int do_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct so_ctx *ctx = so_ctx(sk);

	if (how != SHUT_RD && READ_ONCE(ctx->tx_keys)) {
		mutex_lock(&ctx->tx.writer);
		lock_sock(sk);
		so_tx_cut(&ctx->tx);
		so_tx_wait(&ctx->tx);
		write_end(ctx, sk);
	}
	return ctx->base_ops->shutdown(sock, how);
}

/* ---- receiving ---- */

static int do_recvmsg(struct sock *sk, struct msghdr *msg, size_t size,
		      int flags, int *addr_len)
{
	struct so_ctx *ctx = so_ctx(sk);
	int err;

	if (!READ_ONCE(ctx->rx_keys) || flags & MSG_ERRQUEUE)
		return ctx->base->recvmsg(sk, msg, size, flags, addr_len);
	if (flags & (MSG_OOB | MSG_TRUNC))
		return -EOPNOTSUPP;
	lock_sock(sk);
	err = so_rx_read(&ctx->rx, msg, size, flags);
	release_sock(sk);
	return err;
}

static ssize_t do_splice_read(struct socket *sock, loff_t *pos,
			      struct pipe_inode_info *pipe, size_t size,
			      unsigned int flags)
{
	struct so_ctx *ctx = so_ctx(sock->sk);
	ssize_t n;

	if (!READ_ONCE(ctx->rx_keys))
		return ctx->base_ops->splice_read(sock, pos, pipe, size, flags);
	lock_sock(sock->sk);
	n = so_rx_splice(&ctx->rx, pipe, size,
			 sock->file->f_flags & O_NONBLOCK ||
			 flags & SPLICE_F_NONBLOCK);
	release_sock(sock->sk);
	return n;
}

/* What TCP has is no record yet, and what we have TCP does not know of. */
static __poll_t do_poll(struct file *file, struct socket *sock,
			poll_table *wait)
{
	__poll_t mask = tcp_poll(file, sock, wait);
	struct sock *sk = sock->sk;
	struct so_ctx *ctx = so_ctx(sk);

	if (!READ_ONCE(ctx->rx_keys) || mask & (EPOLLERR | EPOLLHUP))
		return mask;
	if (!(READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN))
		mask &= ~(EPOLLIN | EPOLLRDNORM);
	/* nothing is taken out of the list but by who reads */
	spin_lock_bh(&sk->sk_lock.slock);
	if (!sock_owned_by_user(sk) && so_rx_ready(&ctx->rx))
		mask |= EPOLLIN | EPOLLRDNORM;
	spin_unlock_bh(&sk->sk_lock.slock);
	return mask;
}

static void do_data_ready(struct sock *sk)
{
	struct so_ctx *ctx;

	rcu_read_lock();
	ctx = rcu_dereference_raw(inet_csk(sk)->icsk_ulp_data);
	if (ctx)
		so_rx_arrived(&ctx->rx);
	rcu_read_unlock();
}

/* ---- options ---- */

static int set_rx(struct sock *sk, const struct so_crypt *c)
{
	struct so_ctx *ctx = so_ctx(sk);
	int err;

	lock_sock(sk);
	err = so_rx_set(&ctx->rx, c);
	if (err)
		goto end;
	if (!ctx->rx_keys) {
		write_lock_bh(&sk->sk_callback_lock);
		ctx->rx.data_ready = sk->sk_data_ready;
		sk->sk_data_ready = do_data_ready;
		write_unlock_bh(&sk->sk_callback_lock);
		WRITE_ONCE(ctx->rx_keys, true);
	}
	so_rx_arrived(&ctx->rx);
end:
	release_sock(sk);
	return err;
}

static int set_tx(struct sock *sk, const struct so_crypt *c)
{
	struct so_ctx *ctx = so_ctx(sk);
	int err;

	err = write_begin(ctx, sk);
	if (err)
		return err;
	err = -ENOTCONN;
	if (!((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) ||
	    sk->sk_shutdown & SEND_SHUTDOWN)
		goto end;
	err = 0;
	if (ctx->tx_keys)
		err = so_tx_cut(&ctx->tx) ?: so_tx_wait(&ctx->tx);
	if (!err)
		err = so_keys_set(&ctx->tx.keys, c, false);
	if (err)
		goto end;
	ctx->tx.changes++;
	/* in BH it is not the task's page that is written to */
	sk->sk_use_task_frag = false;
	WRITE_ONCE(ctx->tx_keys, true);
end:
	write_end(ctx, sk);
	return err;
}

/* As much as the caller knows; what it does not is zero. */
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
	/* copy_struct_from_sockptr() does not look at what it does not copy */
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

static int set_option(struct sock *sk, int optname, sockptr_t optval,
		      u32 optlen)
{
	struct so_crypt c;
	int err;

	if (optname != SO_CRYPT_TX && optname != SO_CRYPT_RX)
		return -ENOPROTOOPT;
	err = read_option(&c, optval, optlen);
	if (!err)
		err = optname == SO_CRYPT_TX ? set_tx(sk, &c) : set_rx(sk, &c);
	memzero_explicit(&c, sizeof(c));
	return err;
}

static int do_setsockopt(struct sock *sk, int level, int optname,
			 sockptr_t optval, unsigned int optlen)
{
	if (level == SOL_OCF)
		return set_option(sk, optname, optval, optlen);
	return so_ctx(sk)->base->setsockopt(sk, level, optname, optval, optlen);
}

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

static int tell_option(struct sock *sk, int optname, char __user *optval,
		       int __user *optlen)
{
	struct so_crypt_info info = {};
	struct so_ctx *ctx = so_ctx(sk);
	int len, err = -ENOENT;

	if (optname != SO_CRYPT_TX && optname != SO_CRYPT_RX)
		return -ENOPROTOOPT;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	lock_sock(sk);
	if (optname == SO_CRYPT_TX && ctx->tx_keys) {
		tell_keys(&ctx->tx.keys, &info);
		so_tx_tell(&ctx->tx, &info);
		err = 0;
	} else if (optname == SO_CRYPT_RX && ctx->rx_keys) {
		tell_keys(&ctx->rx.keys, &info);
		so_rx_tell(&ctx->rx, &info);
		err = 0;
	}
	release_sock(sk);
	if (err)
		return err;
	info.size = min_t(u32, len, sizeof(info));
	if (copy_to_user(optval, &info, info.size) ||
	    put_user(info.size, optlen))
		return -EFAULT;
	return 0;
}

static int do_getsockopt(struct sock *sk, int level, int optname,
			 char __user *optval, int __user *optlen)
{
	if (level == SOL_OCF)
		return tell_option(sk, optname, optval, optlen);
	return so_ctx(sk)->base->getsockopt(sk, level, optname, optval, optlen);
}

/* Records of one connection are nothing to another. */
static int do_disconnect(struct sock *sk, int flags)
{
	return -EOPNOTSUPP;
}

/* ---- beginning and end ---- */

static void free_ctx(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct so_ctx, rcu));
}

/*
 * TCP goes on to send what it has, and to see the end of the connection, as
 * if we had never been there.
 */
static void do_close(struct sock *sk, long timeout)
{
	struct so_ctx *ctx = so_ctx(sk);

	mutex_lock(&ctx->tx.writer);
	lock_sock(sk);
	if (ctx->tx_keys) {
		so_tx_cut(&ctx->tx);
		so_tx_wait(&ctx->tx);
	}
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_data_ready == do_data_ready)
		sk->sk_data_ready = ctx->rx.data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	if (ctx->rx_keys)
		so_rx_wait(&ctx->rx);
	so_rx_exit(&ctx->rx);
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_pointer(inet_csk(sk)->icsk_ulp_data, NULL);
	WRITE_ONCE(sk->sk_prot, ctx->base);
	if (sk->sk_write_space == do_write_space)
		sk->sk_write_space = ctx->write_space;
	write_unlock_bh(&sk->sk_callback_lock);
	write_end(ctx, sk);
	cancel_work_sync(&ctx->tx.retry);
	cancel_delayed_work_sync(&ctx->rx.retry);
	so_tx_exit(&ctx->tx);
	ctx->base->close(sk, timeout);
	call_rcu(&ctx->rcu, free_ctx);
}

static void build_family(struct family *f, struct sock *sk)
{
	f->proto = *sk->sk_prot;
	f->proto.sendmsg = do_sendmsg;
	f->proto.recvmsg = do_recvmsg;
	f->proto.splice_eof = do_splice_eof;
	f->proto.release_cb = do_release_cb;
	f->proto.setsockopt = do_setsockopt;
	f->proto.getsockopt = do_getsockopt;
	f->proto.disconnect = do_disconnect;
	f->proto.close = do_close;
	f->ops = *sk->sk_socket->ops;
	f->ops.shutdown = do_shutdown;
	f->ops.splice_read = do_splice_read;
	f->ops.poll = do_poll;
	f->ops.read_sock = NULL;	/* would pass us by */
	f->base_ops = sk->sk_socket->ops;
	f->base = sk->sk_prot;
}

/* What @sk is to be from now on, or NULL: it is no plain TCP socket. */
static struct family *family_of(struct sock *sk)
{
	struct family *f = &families[sk->sk_family == AF_INET6];

	mutex_lock(&families_lock);
	if (!f->base)
		build_family(f, sk);
	mutex_unlock(&families_lock);
	return f->base == sk->sk_prot && f->base_ops == sk->sk_socket->ops ?
	       f : NULL;
}

static int so_init(struct sock *sk)
{
	struct so_ctx *ctx;
	struct family *f;

	if (sk->sk_state != TCP_ESTABLISHED)
		return -ENOTCONN;
	if (sk->sk_user_data || !sk->sk_socket)
		return -EBUSY;
	f = family_of(sk);
	if (!f)
		return -EOPNOTSUPP;
	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	if (!ctx)
		return -ENOMEM;
	ctx->base = f->base;
	ctx->base_ops = f->base_ops;
	so_tx_init(&ctx->tx, sk);
	so_rx_init(&ctx->rx, sk);
	write_lock_bh(&sk->sk_callback_lock);
	ctx->write_space = sk->sk_write_space;
	rcu_assign_pointer(inet_csk(sk)->icsk_ulp_data, ctx);
	WRITE_ONCE(sk->sk_prot, &f->proto);
	WRITE_ONCE(sk->sk_socket->ops, &f->ops);
	sk->sk_write_space = do_write_space;
	write_unlock_bh(&sk->sk_callback_lock);
	return 0;
}

static struct tcp_ulp_ops so_ulp = {
	.name = "ocf",
	.owner = THIS_MODULE,
	.init = so_init,
};

static int __init so_module_init(void)
{
	int err;

	err = so_rooms_init();
	if (err)
		return err;
	err = so_tx_init_module();
	if (err)
		goto rooms;
	err = so_rx_init_module();
	if (err)
		goto tx;
	err = tcp_register_ulp(&so_ulp);
	if (err)
		goto rx;
	return 0;

rx:
	so_rx_exit_module();
tx:
	so_tx_exit_module();
rooms:
	so_rooms_exit();
	return err;
}

static void __exit so_module_exit(void)
{
	tcp_unregister_ulp(&so_ulp);
	rcu_barrier();		/* free_ctx() */
	so_rx_exit_module();
	so_tx_exit_module();
	so_rooms_exit();
}

module_init(so_module_init);
module_exit(so_module_exit);

OCF_IMPORT();
MODULE_ALIAS_TCP_ULP("ocf");
MODULE_DESCRIPTION("OCF for Linux: sockets whose records are made in the kernel");
MODULE_LICENSE("GPL");
