// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ULP: replaces calls of a TCP socket, and undoes that at close().
 */
#include <linux/module.h>
#include <linux/sockios.h>
#include <linux/splice.h>
#include <asm/ioctls.h>
#include <net/inet_common.h>
#include <net/sock.h>

#include "../../compat.h"
#include "socrypt.h"

/* The calls of sockets of a family, instead of TCP's own. */
static struct family {
	struct proto		*base;
	struct proto		proto;
	const struct proto_ops	*base_ops;
	struct proto_ops	ops;
} families[2];			/* IPv4, IPv6 */
static DEFINE_MUTEX(families_lock);

/* ---- sending ---- */

static int do_sendmsg(struct sock *sk, struct msghdr *msg, size_t size)
{
	struct so_ctx *ctx = so_ctx(sk);
	int err;

	if (!READ_ONCE(ctx->tx_keys))
		return ctx->base->sendmsg(sk, msg, size);
	lock_sock(sk);
	err = so_tx_write(&ctx->tx, msg, size);
	release_sock(sk);
	return err;
}

/* sendfile() has reached the end of the file. */
static void do_splice_eof(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct so_ctx *ctx = so_ctx(sk);

	if (READ_ONCE(ctx->tx_keys)) {
		lock_sock(sk);
		so_tx_cut(&ctx->tx);
		release_sock(sk);
	}
	ctx->base->splice_eof(sock);
}

static void do_release_cb(struct sock *sk)
{
	struct so_ctx *ctx = so_ctx(sk);

	ctx->base->release_cb(sk);
	if (ctx->tx_keys)
		so_tx_released(&ctx->tx);
	if (ctx->rx_keys)
		so_rx_released(&ctx->rx);
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

/* Whether poll() reports the socket as writable */
static bool do_stream_memory_free(const struct sock *sk, int wake)
{
	const struct so_ctx *ctx;
	bool is_free = true;

	rcu_read_lock();
	ctx = rcu_dereference_raw(inet_csk(sk)->icsk_ulp_data);
	if (ctx)
		is_free = so_tx_memory_free(&ctx->tx, wake);
	rcu_read_unlock();
	return is_free;
}

/*
 * Lets nothing more be written, and waits until TCP has all that was written.
 */
static int end_writing(struct so_ctx *ctx, struct sock *sk)
{
	int err;

	lock_sock(sk);
	so_tx_end(&ctx->tx);
	err = so_tx_finish(&ctx->tx);
	release_sock(sk);
	return err;
}

static int do_shutdown(struct socket *sock, int how)
{
	struct so_ctx *ctx = so_ctx(sock->sk);
	int err = 0;

	if ((how == SHUT_WR || how == SHUT_RDWR) && READ_ONCE(ctx->tx_keys))
		err = end_writing(ctx, sock->sk);
	if (!err)
		return ctx->base_ops->shutdown(sock, how);
	if (how == SHUT_RDWR)
		ctx->base_ops->shutdown(sock, SHUT_RD);
	return err;
}

/* ---- receiving ---- */

static int do_recvmsg(struct sock *sk, struct msghdr *msg, size_t size,
		      int flags, int *addr_len)
{
	struct so_ctx *ctx = so_ctx(sk);
	int err;

	if (!READ_ONCE(ctx->rx_keys) || flags & MSG_ERRQUEUE)
		return ctx->base->recvmsg(sk, msg, size, flags, addr_len);
	lock_sock(sk);
	err = so_rx_read(&ctx->rx, msg, size, flags);
	so_rx_settle(&ctx->rx);
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
	so_rx_settle(&ctx->rx);
	release_sock(sock->sk);
	return n;
}

/* TCP does not know of open records, nor of those that it does not have yet. */
static int do_ioctl(struct sock *sk, int cmd, int *value)
{
	struct so_ctx *ctx = so_ctx(sk);
	int err = ctx->base->ioctl(sk, cmd, value);

	if (err)
		return err;
	lock_sock(sk);
	if (cmd == SIOCINQ && ctx->rx_keys) {
		*value = so_rx_readable(&ctx->rx);
		so_rx_settle(&ctx->rx);
	} else if ((cmd == SIOCOUTQ || cmd == SIOCOUTQNSD) && ctx->tx_keys) {
		*value += ctx->tx.queued;
	}
	release_sock(sk);
	return 0;
}

/* Users inside the kernel call this without checking whether it is set. */
static int do_read_sock(struct sock *sk, read_descriptor_t *desc,
			sk_read_actor_t actor)
{
	return -EOPNOTSUPP;
}

/* TCP has only incomplete records, and does not know of complete ones. */
static __poll_t do_poll(struct file *file, struct socket *sock,
			poll_table *wait)
{
	__poll_t mask = tcp_poll(file, sock, wait);
	struct sock *sk = sock->sk;
	struct so_ctx *ctx = so_ctx(sk);

	if (!READ_ONCE(ctx->rx_keys))
		return mask;
	if (!(mask & (EPOLLERR | EPOLLHUP)) &&
	    !(READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN))
		mask &= ~(EPOLLIN | EPOLLRDNORM);
	if (READ_ONCE(ctx->rx.enough))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

static int do_set_rcvlowat(struct sock *sk, int value)
{
	struct so_ctx *ctx = so_ctx(sk);

	if (!READ_ONCE(ctx->rx_keys))
		return ctx->base_ops->set_rcvlowat(sk, value);
	ctx->rx.lowat = value ?: 1;
	/* this may be enough now: wake tasks that poll */
	so_rx_arrived(&ctx->rx);
	return 0;
}

/* No SO_PEEK_OFF: MSG_PEEK begins at the first byte that was not read. */
static int do_set_peek_off(struct sock *sk, int value)
{
	struct so_ctx *ctx = so_ctx(sk);

	return READ_ONCE(ctx->rx_keys) ? -EOPNOTSUPP :
					 ctx->base_ops->set_peek_off(sk, value);
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

/* Takes all bytes that arrive from now on.  Context: the socket is held. */
void so_take_over_reading(struct sock *sk)
{
	struct so_ctx *ctx = so_ctx(sk);

	write_lock_bh(&sk->sk_callback_lock);
	ctx->rx.data_ready = sk->sk_data_ready;
	sk->sk_data_ready = do_data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	/*
	 * TCP counts only bytes that this module has left with it, usually none
	 */
	ctx->rx.lowat = sk->sk_rcvlowat;
	WRITE_ONCE(sk->sk_rcvlowat, 1);
	WRITE_ONCE(sk->sk_peek_off, -1);
	WRITE_ONCE(ctx->rx_keys, true);
}

/* ---- beginning and end ---- */

/* A socket with keys cannot become a listening one, or another connection. */
static int do_disconnect(struct sock *sk, int flags)
{
	return -EOPNOTSUPP;
}

static void free_ctx(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct so_ctx, rcu));
}

/*
 * TCP resets a connection whose data were not read (RFC 1122, 4.2.2.13), or not
 * sent.
 */
static void have_it_reset(struct sock *sk)
{
	sock_set_flag(sk, SOCK_LINGER);
	WRITE_ONCE(sk->sk_lingertime, 0);
}

/*
 * Closes the socket.  TCP goes on alone: it sends what it has, and ends the
 * connection.
 */
static void do_close(struct sock *sk, long timeout)
{
	struct so_ctx *ctx = so_ctx(sk);
	struct proto *base = ctx->base;

	lock_sock(sk);
	if (ctx->tx_keys) {
		so_tx_end(&ctx->tx);
		if (so_tx_finish(&ctx->tx))
			have_it_reset(sk);
	}
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_data_ready == do_data_ready)
		sk->sk_data_ready = ctx->rx.data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	if (ctx->rx_keys) {
		so_rx_wait(&ctx->rx, false);
		if (so_rx_loses_data(&ctx->rx))
			have_it_reset(sk);
	}
	so_rx_exit(&ctx->rx);
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_pointer(inet_csk(sk)->icsk_ulp_data, NULL);
	WRITE_ONCE(sk->sk_prot, ctx->base);
	if (sk->sk_write_space == do_write_space)
		sk->sk_write_space = ctx->write_space;
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	disable_delayed_work_sync(&ctx->tx.retry);
	disable_delayed_work_sync(&ctx->rx.retry);
	so_tx_exit(&ctx->tx);
	/* TCP may put the module, so this must not wait for RCU */
	call_rcu(&ctx->rcu, free_ctx);
	base->close(sk, timeout);
}

static void build_family(struct family *f, struct sock *sk)
{
	f->proto = *sk->sk_prot;
	f->proto.sendmsg = do_sendmsg;
	f->proto.recvmsg = do_recvmsg;
	f->proto.splice_eof = do_splice_eof;
	f->proto.stream_memory_free = do_stream_memory_free;
	f->proto.release_cb = do_release_cb;
	f->proto.setsockopt = so_setsockopt;
	f->proto.getsockopt = so_getsockopt;
	f->proto.disconnect = do_disconnect;
	f->proto.ioctl = do_ioctl;
	f->proto.close = do_close;
	f->ops = *sk->sk_socket->ops;
	f->ops.shutdown = do_shutdown;
	f->ops.splice_read = do_splice_read;
	f->ops.poll = do_poll;
	f->ops.set_rcvlowat = do_set_rcvlowat;
	if (f->ops.set_peek_off)
		f->ops.set_peek_off = do_set_peek_off;
	/* these would bypass the records */
	f->ops.read_sock = do_read_sock;
	f->ops.sendmsg_locked = NULL;
	f->base_ops = sk->sk_socket->ops;
	/* last: pairs with family_of() */
	smp_store_release(&f->base, sk->sk_prot);
}

/* Returns the calls for @sk, or NULL if it is no plain TCP socket. */
static struct family *family_of(struct sock *sk)
{
	struct family *f = &families[sk->sk_family == AF_INET6];

	/*
	 * Check first without the lock, so that users usually need not wait for
	 * each other.
	 */
	if (!smp_load_acquire(&f->base)) {
		mutex_lock(&families_lock);
		if (!f->base)
			build_family(f, sk);
		mutex_unlock(&families_lock);
	}
	return f->base == sk->sk_prot && f->base_ops == sk->sk_socket->ops ?
	       f : NULL;
}

static int so_init(struct sock *sk)
{
	struct so_ctx *ctx;
	struct family *f;

	/* the peer may have closed already */
	if (!((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)))
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
	ctx->payload_max = SO_TLS_PAYLOAD_MAX;
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

static int so_get_info(struct sock *sk, struct sk_buff *skb)
{
	const struct so_ctx *ctx;
	int err = 0;

	rcu_read_lock();
	ctx = rcu_dereference_raw(inet_csk(sk)->icsk_ulp_data);
	if (ctx)
		err = so_ktls_info(ctx, skb);
	rcu_read_unlock();
	return err;
}

static size_t so_get_info_size(const struct sock *sk)
{
	return so_ktls_info_size();
}

#define SO_ULP(name_) { \
	.name = name_, .owner = THIS_MODULE, .init = so_init, \
	.get_info = so_get_info, .get_info_size = so_get_info_size }

static struct tcp_ulp_ops so_ulp = SO_ULP("ocf");
/* For programs that use kTLS. */
static struct tcp_ulp_ops tls_ulp = SO_ULP("tls");

static bool tls;
module_param(tls, bool, 0444);
MODULE_PARM_DESC(tls, "replace the kernel's own kTLS, whose module tls must not be loaded: see docs/socrypt.md");

static int register_ulps(void)
{
	int err = tcp_register_ulp(&so_ulp);

	if (err || !tls)
		return err;
	err = tcp_register_ulp(&tls_ulp);
	if (!err)
		return 0;
	pr_err("ocf_socrypt: the kernel's own kTLS is there: rmmod tls first\n");
	tcp_unregister_ulp(&so_ulp);
	return err;
}

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
	err = register_ulps();
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
	if (tls)
		tcp_unregister_ulp(&tls_ulp);
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
