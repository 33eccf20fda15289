// SPDX-License-Identifier: GPL-2.0-only
/*
 * A consumer: encrypts a page with AES-CTR when it is loaded, once waiting for
 * the result and once in four requests that are under way together, and
 * compares.  docs/api.md goes through it.
 */
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/ocf.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#define LEN	4096		/* bytes, all in all */
#define PARTS	4

static bool hardware;
module_param(hardware, bool, 0444);
MODULE_PARM_DESC(hardware, "use cards only");

/* What the callbacks of several requests have in common. */
struct tally {
	struct completion	all;
	atomic_t		left;
	int			err;	/* the first that there was */
};

static struct ocf_session *open_session(void)
{
	static const u8 key[16] = "an example's key";
	struct ocf_session_params p = {
		.mode = OCF_MODE_CIPHER,
		.cipher = OCF_AES_CTR,
		.key = key,
		.keylen = sizeof(key),
		.device = OCF_DEVICE_ANY,
		.flags = hardware ? OCF_SESSION_HARDWARE : 0,
	};

	return ocf_session_create(&p, GFP_KERNEL);
}

/* The part of the buffers from @start on; its counter is its first block's. */
static void set_part(struct ocf_request *req, struct scatterlist *src,
		     struct scatterlist *dst, u32 start, u32 len)
{
	req->op = OCF_OP_ENCRYPT;
	req->src = src;
	req->dst = dst;
	req->data = (struct ocf_range){ .start = start, .len = len };
	memset(req->iv, 0, sizeof(req->iv));
	put_unaligned_be64(start / 16, req->iv + 8);
}

/* Called only if the wait in ocf_run() was ended by a kill. */
static void run_done(struct ocf_request *req, int err)
{
	complete(req->cookie);
}

static int encrypt_waiting(struct ocf_session *ses, struct scatterlist *src,
			   struct scatterlist *dst)
{
	struct ocf_request *req = ocf_request_alloc(ses, GFP_KERNEL);
	DECLARE_COMPLETION_ONSTACK(gone);
	int err;

	if (!req)
		return -ENOMEM;
	set_part(req, src, dst, 0, LEN);
	req->done = run_done;
	req->cookie = &gone;
	err = ocf_run(req);
	/* killed, and the request is under way: it has the buffers, too */
	if (err == -EINTR)
		wait_for_completion(&gone);
	ocf_request_free(req);
	return err;
}

/* BH, or BH disabled: must not sleep. */
static void part_done(struct ocf_request *req, int err)
{
	struct tally *t = req->cookie;

	if (err)
		cmpxchg(&t->err, 0, err);
	if (atomic_dec_and_test(&t->left))
		complete(&t->all);
}

static int encrypt_together(struct ocf_session *ses, struct scatterlist *src,
			    struct scatterlist *dst)
{
	struct tally t = { .left = ATOMIC_INIT(PARTS) };
	struct ocf_request *req[PARTS] = {};
	struct ocf_batch batch = {};
	int i, err = -ENOMEM;

	init_completion(&t.all);
	for (i = 0; i < PARTS; i++) {
		req[i] = ocf_request_alloc(ses, GFP_KERNEL);
		if (!req[i])
			goto free;
	}
	for (i = 0; i < PARTS; i++) {
		set_part(req[i], src, dst, i * (LEN / PARTS), LEN / PARTS);
		req[i]->flags = OCF_REQ_MAY_SLEEP | OCF_REQ_INLINE;
		req[i]->done = part_done;
		req[i]->cookie = &t;
		req[i]->batch = &batch;
		err = ocf_submit(req[i]);
		/* not taken: nobody else will say that it is done */
		if (err && err != -EINPROGRESS)
			part_done(req[i], err);
	}
	ocf_batch_end(&batch);
	/* the requests and @t must stay until the last has come back */
	wait_for_completion(&t.all);
	err = t.err;
free:
	for (i = 0; i < PARTS; i++)
		ocf_request_free(req[i]);
	return err;
}

static int compare(struct ocf_session *ses, u8 *buf)
{
	u8 *once = buf + LEN, *parts = buf + 2 * LEN;
	struct scatterlist src, dst[2];
	int err;

	memset(buf, 0x5a, LEN);
	sg_init_one(&src, buf, LEN);
	sg_init_one(&dst[0], once, LEN);
	sg_init_one(&dst[1], parts, LEN);
	err = encrypt_waiting(ses, &src, &dst[0]) ?:
	      encrypt_together(ses, &src, &dst[1]);
	if (err)
		return err;
	if (memcmp(once, parts, LEN) || !memcmp(once, buf, LEN))
		return -EBADMSG;
	return 0;
}

static int __init example_init(void)
{
	struct ocf_session_info info;
	struct ocf_session *ses;
	char name[32] = "none";
	u8 *buf;
	int err;

	ses = open_session();
	if (IS_ERR(ses))
		return PTR_ERR(ses);
	err = -ENOMEM;
	buf = kmalloc(3 * LEN, GFP_KERNEL);
	if (buf)
		err = compare(ses, buf);
	kfree(buf);
	ocf_session_info(ses, &info);
	ocf_device_name(info.device, name, sizeof(name));
	ocf_session_put(ses);
	pr_info("ocf_example_consumer: %d, preferred device %s\n", err, name);
	return err;
}

static void __exit example_exit(void)
{
}

module_init(example_init);
module_exit(example_exit);

/* from Linux 6.13 on a string: MODULE_IMPORT_NS("OCF") */
MODULE_IMPORT_NS(OCF);
MODULE_DESCRIPTION("OCF for Linux: an example of a consumer");
MODULE_LICENSE("GPL");
