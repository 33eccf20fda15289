// SPDX-License-Identifier: BSD-2-Clause
/*
 * AF_ALG, the kernel's sockets for cryptography: an operation is a message
 * and what is read for it.  A cipher's data may also come by way of a pipe,
 * whose pages are the caller's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
	[OCF_MODE_CIPHER] = "skcipher", [OCF_MODE_DIGEST] = "hash",
	[OCF_MODE_AEAD] = "aead",
};

/* Those whose names in the kernel do not follow from ours */
static const char *const names[][2] = {
	{ "null",		"ecb(cipher_null)" },
	{ "chacha20",		"chacha20" },
	{ "chacha20-poly1305",	"rfc7539(chacha20,poly1305)" },
	{ "des3-cbc",		"cbc(des3_ede)" },
	{ "hmac-ripemd160",	"hmac(rmd160)" },
	{ "ripemd160",		"rmd160" },
	{ "blake2b",		"blake2b-512" },
	{ "blake2s",		"blake2s-256" },
	{ "aes-cmac",		"cmac(aes)" },
	{ "aes-gmac",		"" },
	{ "null-mac",		"" },
};

static struct sockaddr_alg address;
static int listener = -1, op = -1, pipes[2] = { -1, -1 };
static const struct work *now;
static size_t now_len, tag_len;
static struct msghdr msg;
static struct iovec in[2], out[2];
static unsigned int place;
static uint8_t *from, *to;
static uint8_t control[128] __attribute__((aligned(8)));
static uint8_t nonce[IV_MAX], back[AAD_LEN];

/* "aes-cbc" is cbc(aes), and "hmac-sha1" is hmac(sha1). */
static void put_name(char *to, size_t size, const char *alg)
{
	const char *dash = strrchr(alg, '-');
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i][0], alg)) {
			snprintf(to, size, "%s", names[i][1]);
			return;
		}
	if (!strncmp(alg, "hmac-", 5))
		snprintf(to, size, "hmac(%s)", alg + 5);
	else if (dash && strncmp(alg, "sha3-", 5))
		snprintf(to, size, "%s(%.*s)", dash + 1, (int)(dash - alg),
			 alg);
	else
		snprintf(to, size, "%s", alg);
}

static bool find(const struct work *w)
{
	errno = EOPNOTSUPP;
	if (*w->device || w->mode > OCF_MODE_AEAD)
		return false;
	memset(&address, 0, sizeof(address));
	address.salg_family = AF_ALG;
	strcpy((char *)address.salg_type, types[w->mode]);
	put_name((char *)address.salg_name, sizeof(address.salg_name),
		 *w->cipher ? w->cipher : w->mac);
	return address.salg_name[0];
}

static bool bind_alg(void)
{
	listener = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (listener < 0)
		return false;
	if (!bind(listener, (struct sockaddr *)&address, sizeof(address)))
		return true;
	if (errno == ENOENT)
		errno = EOPNOTSUPP;
	return false;
}

static void end(void)
{
	int *fds[] = { &op, &listener, &pipes[0], &pipes[1] };
	unsigned int i;

	for (i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

static bool begin(const struct work *w)
{
	size_t keylen = *w->cipher ? w->keylen : w->mackeylen;

	if (!bind_alg())
		return false;
	if (keylen && setsockopt(listener, SOL_ALG, ALG_SET_KEY,
				 *w->cipher ? key : mackey, keylen))
		return false;
	if (w->mode == OCF_MODE_AEAD &&
	    setsockopt(listener, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL,
		       w->maclen))
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

static void add_iv(const struct work *w)
{
	/*
	 * a CCM nonce follows a byte with the size of the length field, minus 1
	 * (RFC 3610, 2.3)
	 */
	bool ccm = !strcmp(w->cipher, "aes-ccm");
	size_t len = ccm ? IV_MAX : w->ivlen;
	struct af_alg_iv *aiv;

	memset(nonce, 0, sizeof(nonce));
	nonce[0] = 14 - w->ivlen;
	memcpy(nonce + ccm, iv, w->ivlen);
	aiv = add_control(ALG_SET_IV, sizeof(*aiv) + len);
	aiv->ivlen = len;
	memcpy(aiv->iv, nonce, len);
}

/* At the next piece */
static void point(void)
{
	in[1].iov_base = from = src_at(place);
	out[1].iov_base = to = dst_at(place);
	place++;
}

static bool aim(const struct work *w, size_t len)
{
	bool aead = w->mode == OCF_MODE_AEAD;

	now = w;
	now_len = aead ? src_len(w, len) : len;
	tag_len = w->maclen;
	place = 0;
	point();
	if (aead && AAD_LEN + now_len > PIECE) {
		errno = E2BIG;
		return false;
	}
	msg = (struct msghdr){ .msg_control = control, .msg_iov = in };
	msg.msg_iovlen = 1;
	*(uint32_t *)add_control(ALG_SET_OP, 4) =
		w->decrypt ? ALG_OP_DECRYPT : ALG_OP_ENCRYPT;
	if (w->ivlen && *w->cipher)
		add_iv(w);
	if (!aead)
		return true;
	*(uint32_t *)add_control(ALG_SET_AEAD_ASSOCLEN, 4) = AAD_LEN;
	/* the associated data come back too */
	in[0] = (struct iovec){ aad, AAD_LEN };
	out[0] = (struct iovec){ back, AAD_LEN };
	in[1].iov_len = now_len;
	out[1].iov_len = dst_len(w, len);
	msg.msg_iovlen = 2;
	return true;
}

static bool run_digest(void)
{
	return send(op, from, now_len, 0) == (ssize_t)now_len &&
	       read(op, to, tag_len) == (ssize_t)tag_len;
}

static bool run_aead(void)
{
	return sendmsg(op, &msg, 0) == (ssize_t)(AAD_LEN + now_len) &&
	       readv(op, out, 2) == (ssize_t)(AAD_LEN + out[1].iov_len);
}

/* Hands @n bytes at @at over, copied; the first with the IV. */
static bool send_piece(size_t at, size_t n, int more)
{
	if (at)
		return send(op, from + at, n, more) == (ssize_t)n;
	in[0] = (struct iovec){ from, n };
	return sendmsg(op, &msg, more) == (ssize_t)n;
}

/* The same, by reference. */
static bool splice_piece(size_t at, size_t n, int more)
{
	struct iovec v = { from + at, n };

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
		    read(op, to + at, n) != (ssize_t)n)
			return false;
	}
	return true;
}

static unsigned int run(void)
{
	bool ok;

	switch (now->mode) {
	case OCF_MODE_CIPHER:
		ok = run_cipher(send_piece);
		break;
	case OCF_MODE_DIGEST:
		ok = run_digest();
		break;
	default:
		ok = run_aead();
		break;
	}
	if (places > 1)
		point();
	return ok;
}

static unsigned int run_splice(void)
{
	bool ok = run_cipher(splice_piece);

	if (places > 1)
		point();
	return ok;
}

static bool find_splice(const struct work *w)
{
	return find(w) && w->mode == OCF_MODE_CIPHER;
}

static bool begin_splice(const struct work *w)
{
	return !pipe2(pipes, O_CLOEXEC) && begin(w);
}

static unsigned int nothing(void)
{
	return 0;
}

const struct way way_afalg = {
	"afalg", find, begin, aim, run, nothing, end,
};

const struct way way_afalg_splice = {
	"afalg-splice", find_splice, begin_splice, aim, run_splice, nothing,
	end,
};
