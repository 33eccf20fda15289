// SPDX-License-Identifier: BSD-2-Clause
/*
 * Encrypts and decrypts whole blocks (CTR: any number of bytes) in the kernel
 * or with OpenSSL's own code, whose context has no padding.  After the kernel
 * has worked, OpenSSL's context gets the new IV before it goes on.
 */
#include <errno.h>

#include "cipher.h"

void cipher_count(unsigned char *iv, uint64_t blocks)
{
	int i;

	for (i = BLOCK_MAX - 1; i >= 0 && blocks; i--) {
		blocks += iv[i];
		iv[i] = blocks;
		blocks >>= 8;
	}
}

void cipher_count_back(unsigned char *iv)
{
	int i;

	for (i = BLOCK_MAX - 1; i >= 0 && !iv[i]--; i--)
		;
}

/* Moves the IV or counter @len bytes on; @last is the last ciphertext block. */
static void go_on(struct cipher *c, const unsigned char *last, size_t len)
{
	if (c->row->mode == MODE_CBC)
		memcpy(c->iv, last, c->row->block);
	if (c->row->mode == MODE_CTR) {
		c->offset += len;
		cipher_count(c->iv, c->offset / BLOCK_MAX);
		c->offset %= BLOCK_MAX;
	}
}

static int by_software(struct cipher *c, unsigned char *out,
		       const unsigned char *in, size_t len)
{
	static const unsigned char zeros[BLOCK_MAX];
	unsigned char skipped[BLOCK_MAX];
	int n;

	session_left(&c->ses);
	if (c->stale && c->row->ivlen) {
		if (!EVP_CipherInit_ex2(c->soft, NULL, NULL, c->iv, c->encrypt,
					NULL))
			return 0;
		if (c->offset && !EVP_CipherUpdate(c->soft, skipped, &n, zeros,
						   c->offset))
			return 0;
		OPENSSL_cleanse(skipped, sizeof(skipped));
	}
	c->stale = false;
	return EVP_CipherUpdate(c->soft, out, &n, in, len) && n == (int)len;
}

void cipher_ask_for(struct cipher *c, unsigned char *out,
		    const unsigned char *in, size_t len,
		    struct ocf_command *command)
{
	*command = (struct ocf_command){
		.op = c->encrypt ? OCF_OP_ENCRYPT : OCF_OP_DECRYPT,
		.src = addr(in), .dst = addr(out), .len = len,
	};
	if (c->row->ivlen)
		memcpy(command->iv, c->iv, c->row->ivlen);
}

/*
 * Returns true if part of the result may have been written.  A device that
 * fails (-EIO) writes nothing.
 */
static bool was_begun(int res)
{
	return res == -ECANCELED || res == -EFAULT || res == -ETIMEDOUT ||
	       res >= 0;
}

/* The kernel takes whole blocks only, and one data unit of XTS at a time. */
bool cipher_is_kernels(struct cipher *c, size_t len)
{
	if (c->row->mode == MODE_XTS && (len % BLOCK_MAX || len > PART_MAX))
		return false;
	return !c->offset && session_is_worth(&c->ses, len);
}

void cipher_keep_last(struct cipher *c, const unsigned char *in, size_t len)
{
	if (c->row->mode == MODE_CBC && !c->encrypt)
		memcpy(c->last, in + len - c->row->block, c->row->block);
}

int cipher_done_blocks(struct cipher *c, int res, unsigned char *out,
		       const unsigned char *in, size_t len)
{
	if (res == (int)len)
		c->stale = true;
	else if ((in == out && was_begun(res)) || !by_software(c, out, in, len))
		return 0;
	go_on(c, c->encrypt && len >= c->row->block ?
	      out + len - c->row->block : c->last, len);
	return 1;
}

static int some_blocks(struct cipher *c, unsigned char *out,
		       const unsigned char *in, size_t len)
{
	struct ocf_command command;
	int res = -ENOSYS;

	cipher_keep_last(c, in, len);
	if (cipher_is_kernels(c, len)) {
		cipher_ask_for(c, out, in, len, &command);
		res = session_run(&c->ses, &command);
	}
	return cipher_done_blocks(c, res, out, in, len);
}

size_t cipher_next_part(const struct cipher *c, size_t len)
{
	size_t n = len;

	if (c->row->mode == MODE_XTS)
		return len;
	if (c->offset && n > BLOCK_MAX - c->offset)
		n = BLOCK_MAX - c->offset;
	else if (n > BLOCK_MAX)
		n -= n % BLOCK_MAX;
	return n > PART_MAX ? PART_MAX : n;
}

int cipher_blocks(struct cipher *c, unsigned char *out, const unsigned char *in,
		  size_t len)
{
	size_t n;

	for (; len; len -= n, in += n, out += n) {
		n = cipher_next_part(c, len);
		if (!some_blocks(c, out, in, n))
			return 0;
	}
	return 1;
}
