// SPDX-License-Identifier: BSD-2-Clause
/*
 * AF_ALG, the kernel's sockets for cryptography: an operation is a message
 * and what is read for it.  A cipher's data may also come by way of a pipe,
 * whose pages are the caller's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/if_alg.h>

#include "way.h"

/*
 * Bytes at a time: 16 pages are what a socket takes in a message and what a
 * pipe holds.
 */
#define PIECE	65536u

static const char *const types[] = {
	[CIPHER] = "skcipher", [DIGEST] = "hash", [AEAD] = "aead",
};

static int listener = -1, op = -1, pipes[2];
static const struct job *now;
static size_t now_len;
static struct msghdr msg;
static struct iovec in[2], out[2];
static uint8_t control[128] __attribute__((aligned(8)));

static int bound(const struct job *job)
{
	struct sockaddr_alg sa = { .salg_family = AF_ALG };
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	strcpy((char *)sa.salg_type, types[job->kind]);
	strcpy((char *)sa.salg_name, job->kernel);
	if (!bind(fd, (struct sockaddr *)&sa, sizeof(sa)))
		return fd;
	close(fd);
	return -1;
}

static bool init(void)
{
	return !pipe2(pipes, O_CLOEXEC);
}

static void end(void)
{
	close(op);
	close(listener);
}

static bool begin(const struct job *job)
{
	listener = bound(job);
	if (listener < 0)
		return false;
	if (job->keylen &&
	    setsockopt(listener, SOL_ALG, ALG_SET_KEY, key, job->keylen))
		return false;
	if (job->kind == AEAD && setsockopt(listener, SOL_ALG,
					    ALG_SET_AEAD_AUTHSIZE, NULL,
					    TAG_LEN))
		return false;
	op = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	return op >= 0;
}

/* Appends a control message of @len bytes; returns where they go. */
static void *add_control(int type, size_t len)
{
	struct cmsghdr *c = (void *)(control + msg.msg_controllen);

	c->cmsg_level = SOL_ALG;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	msg.msg_controllen += CMSG_SPACE(len);
	return CMSG_DATA(c);
}

static void aim(const struct job *job, size_t len)
{
	bool aead = job->kind == AEAD;
	size_t ivlen = aead ? GCM_IV_LEN : IV_LEN;
	struct af_alg_iv *aiv;

	now = job;
	now_len = len;
	msg = (struct msghdr){ .msg_control = control, .msg_iov = in };
	in[0] = (struct iovec){ src, len };
	msg.msg_iovlen = 1;
	*(uint32_t *)add_control(ALG_SET_OP, 4) = ALG_OP_ENCRYPT;
	if (job->keylen) {
		aiv = add_control(ALG_SET_IV, sizeof(*aiv) + ivlen);
		aiv->ivlen = ivlen;
		memcpy(aiv->iv, iv, ivlen);
	}
	if (!aead)
		return;
	*(uint32_t *)add_control(ALG_SET_AEAD_ASSOCLEN, 4) = AAD_LEN;
	/* the associated data come back too */
	in[0] = out[0] = (struct iovec){ aad, AAD_LEN };
	in[1] = (struct iovec){ src, len };
	out[1] = (struct iovec){ dst, len + TAG_LEN };
	msg.msg_iovlen = 2;
}

static bool run_digest(void)
{
	return send(op, src, now_len, 0) == (ssize_t)now_len &&
	       read(op, dst, now->result) == (ssize_t)now->result;
}

static bool run_aead(void)
{
	ssize_t n = AAD_LEN + now_len;

	if (now_len > PIECE - AAD_LEN) {
		errno = E2BIG;
		return false;
	}
	return sendmsg(op, &msg, 0) == n &&
	       readv(op, out, 2) == n + TAG_LEN;
}

/* Hands @n bytes at @at over, copied; the first with the IV. */
static bool send_piece(size_t at, size_t n, int more)
{
	if (at)
		return send(op, src + at, n, more) == (ssize_t)n;
	in[0].iov_len = n;
	return sendmsg(op, &msg, more) == (ssize_t)n;
}

/* The same, by reference. */
static bool splice_piece(size_t at, size_t n, int more)
{
	struct iovec v = { src + at, n };

	if (!at) {
		msg.msg_iovlen = 0;
		if (sendmsg(op, &msg, MSG_MORE) < 0)
			return false;
	}
	return vmsplice(pipes[1], &v, 1, 0) == (ssize_t)n &&
	       splice(pipes[0], NULL, op, NULL, n,
		      more ? SPLICE_F_MORE : 0) == (ssize_t)n;
}

static bool run_cipher(bool (*give)(size_t at, size_t n, int more))
{
	size_t at, n;

	for (at = 0; at < now_len; at += n) {
		n = now_len - at < PIECE ? now_len - at : PIECE;
		if (!give(at, n, at + n < now_len ? MSG_MORE : 0) ||
		    read(op, dst + at, n) != (ssize_t)n)
			return false;
	}
	return true;
}

static bool run(void)
{
	switch (now->kind) {
	case CIPHER:
		return run_cipher(send_piece);
	case DIGEST:
		return run_digest();
	default:
		return run_aead();
	}
}

static bool run_splice(void)
{
	return run_cipher(splice_piece);
}

static bool begin_splice(const struct job *job)
{
	if (job->kind == CIPHER)
		return begin(job);
	errno = EOPNOTSUPP;
	return false;
}

const struct way way_afalg = {
	"afalg", init, begin, aim, run, end,
};

const struct way way_afalg_splice = {
	"afalg-splice", init, begin_splice, aim, run_splice, end,
};
