// SPDX-License-Identifier: GPL-2.0-only
/* Requests with their buffers and their expected results. */
#include <crypto/skcipher.h>
#include <linux/slab.h>

#include "test.h"

#define WAIT	(250 * HZ)	/* below the hung-task timeout */

atomic_t work_serial;

/*
 * Opens a session of cipher @alg with the usual key.  Return: the session; or
 * NULL, and the test has failed.
 */
struct ocf_session *work_session(struct test *t, enum ocf_alg alg, u32 flags,
				 int device)
{
	u8 key[16];
	struct ocf_session_params p = {
		.mode = alg == OCF_AES_GCM ? OCF_MODE_AEAD : OCF_MODE_CIPHER,
		.cipher = alg, .flags = flags, .device = device,
		.key = key, .keylen = alg == OCF_NULL_CIPHER ? 0 : 16,
	};
	struct ocf_session *ses;

	memset(key, WORK_KEY, sizeof(key));
	ses = ocf_session_create(&p, GFP_KERNEL);
	if (!EQUAL(t, PTR_ERR_OR_ZERO(ses), 0))
		return NULL;
	return ses;
}

static void pattern(u8 *buf, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		buf[i] = i * 7 + (i >> 8);
}

static void arrived(struct ocf_request *req, int err)
{
	struct work *w = container_of(req, struct work, req);

	w->err = err;
	w->serial = atomic_inc_return(&work_serial);
	atomic_inc(&w->calls);
	complete(&w->done);
}

/* Makes a request that encrypts @len bytes from one buffer to another. */
struct work *work_make(struct ocf_session *ses, u32 len, u32 flags)
{
	struct work *w = kzalloc(sizeof(*w), GFP_KERNEL);

	if (!w)
		return NULL;
	w->buf = kzalloc(len + OCF_TAG_MAX, GFP_KERNEL);
	w->out = kzalloc(len + OCF_TAG_MAX, GFP_KERNEL);
	if (!w->buf || !w->out) {
		work_free(w);
		return NULL;
	}
	w->len = len;
	pattern(w->buf, len);
	sg_init_one(&w->src, w->buf, len + OCF_TAG_MAX);
	sg_init_one(&w->dst, w->out, len + OCF_TAG_MAX);
	init_completion(&w->done);
	ocf_request_init(&w->req, ses);
	w->req.flags = flags;
	w->req.src = &w->src;
	w->req.dst = &w->dst;
	w->req.data.len = len;
	w->req.done = arrived;
	memset(w->req.iv, WORK_IV, sizeof(w->req.iv));
	return w;
}

void work_free(struct work *w)
{
	if (!w)
		return;
	kfree(w->buf);
	kfree(w->out);
	kfree(w);
}

int work_submit(struct work *w)
{
	return ocf_submit(&w->req);
}

/* Waits for the callback.  Return: its result; -ETIME if it does not come. */
int work_wait(struct work *w)
{
	if (!wait_for_completion_timeout(&w->done, WAIT))
		return -ETIME;
	return w->err;
}

/* Waits a moment.  Return: whether the callback has come. */
bool work_arrived(struct work *w)
{
	return wait_for_completion_timeout(&w->done, HZ / 20);
}

/*
 * Return: whether @w->out is the pattern, encrypted by AES-128-CBC with a key
 * of bytes @key.
 */
bool work_right(struct work *w, u8 key)
{
	struct crypto_sync_skcipher *tfm;
	u8 bytes[16], iv[16], *buf;
	struct scatterlist sg;
	bool right = false;

	tfm = crypto_alloc_sync_skcipher("cbc(aes)", 0, 0);
	if (IS_ERR(tfm))
		return false;
	buf = kmalloc(w->len, GFP_KERNEL);
	memset(bytes, key, sizeof(bytes));
	memset(iv, WORK_IV, sizeof(iv));
	if (buf && !crypto_sync_skcipher_setkey(tfm, bytes, sizeof(bytes))) {
		SYNC_SKCIPHER_REQUEST_ON_STACK(sub, tfm);

		pattern(buf, w->len);
		sg_init_one(&sg, buf, w->len);
		skcipher_request_set_sync_tfm(sub, tfm);
		skcipher_request_set_callback(sub, 0, NULL, NULL);
		skcipher_request_set_crypt(sub, &sg, &sg, w->len, iv);
		right = !crypto_skcipher_encrypt(sub) &&
			!memcmp(buf, w->out, w->len);
	}
	kfree(buf);
	crypto_free_sync_skcipher(tfm);
	return right;
}
