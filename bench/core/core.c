// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the core costs, in ticks of the time-stamp counter: instructions in a
 * machine that counts those as time (tests/vm/run --icount).
 *
 * Measured when the module is loaded; debugfs file bench_core has the results,
 * a line each.  Nothing is left behind but the file.
 */
#include <crypto/skcipher.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <asm/msr.h>

#include "bench_core.h"

#define LEN	64	/* bytes of data */
#define ROUNDS	64	/* the least of them counts, after as many to warm up */

/**
 * struct bench - what is measured
 * @src: source
 * @dst: destination
 * @iv: the IV of each operation; nobody writes it
 * @src_sg: of @src
 * @dst_sg: of @dst
 * @sub: a request to the kernel's crypto API
 * @req: the same to the core
 * @err: the first error of an operation
 */
struct bench {
	u8			src[LEN];
	u8			dst[LEN];
	u8			iv[OCF_IV_MAX];
	struct scatterlist	src_sg;
	struct scatterlist	dst_sg;
	struct skcipher_request	*sub;
	struct ocf_request	*req;
	int			err;
};

static struct {
	const char	*name;
	u64		ticks;
} results[16];

static int nresults;
static struct dentry *file;
static const u8 key[16] = "sixteen bytes...";

/* ---- What is measured ---- */

static int do_nothing(struct bench *b)
{
	return 0;
}

/* The bare call: all that can be set up beforehand has been. */
static int do_skcipher(struct bench *b)
{
	u8 iv[OCF_IV_MAX];

	memcpy(iv, b->iv, sizeof(iv));
	skcipher_request_set_crypt(b->sub, &b->src_sg, &b->dst_sg, LEN, iv);
	return crypto_skcipher_encrypt(b->sub);
}

static int do_run(struct bench *b)
{
	memcpy(b->req->iv, b->iv, sizeof(b->iv));
	return ocf_run(b->req);
}

static int do_submit(struct bench *b)
{
	memcpy(b->req->iv, b->iv, sizeof(b->iv));
	return ocf_submit(b->req);
}

/* The card's interrupt comes as soon as it has the request. */
static int do_card(struct bench *b)
{
	int err = ocf_submit(b->req);

	if (err != -EINPROGRESS)
		return err ?: -EIO;
	ocf_complete(card_taken(), 0);
	return 0;
}

/* ---- How ---- */

static void done(struct ocf_request *req, int err)
{
	struct bench *b = req->cookie;

	if (err)
		b->err = err;
}

static u64 once(struct bench *b, int (*op)(struct bench *b))
{
	u64 begun = rdtsc_ordered();
	int err = op(b);
	u64 took = rdtsc_ordered() - begun;

	if (err)
		b->err = err;
	return took;
}

static void least(struct bench *b, const char *name, int (*op)(struct bench *b))
{
	u64 ticks = U64_MAX;
	int i;

	for (i = 0; i < ROUNDS; i++)
		once(b, op);
	for (i = 0; i < ROUNDS; i++)
		ticks = min(ticks, once(b, op));
	results[nresults].name = name;
	results[nresults++].ticks = ticks;
}

static struct bench *bench_alloc(void)
{
	struct bench *b = kzalloc(sizeof(*b), GFP_KERNEL);

	if (!b)
		return NULL;
	memset(b->src, 0xa5, sizeof(b->src));
	memset(b->iv, 0x5a, sizeof(b->iv));
	sg_init_one(&b->src_sg, b->src, LEN);
	sg_init_one(&b->dst_sg, b->dst, LEN);
	return b;
}

/* Each way must come to the same result. */
static int same(struct bench *b, const u8 *expected)
{
	if (!b->err && memcmp(b->dst, expected, LEN))
		b->err = -EBADMSG;
	memset(b->dst, 0, LEN);
	return b->err;
}

/* ---- The kernel's crypto API ---- */

/*
 * @internal: take the kernel's internal vector (SIMD) implementation, which
 * cryptosoft0 also uses.  It has no wrapper that may pass the work to a thread.
 */
static int bench_skcipher(struct bench *b, const char *name, const char *alg,
			  u32 keylen, bool internal, u8 *result)
{
	u32 type = internal ? CRYPTO_ALG_INTERNAL : 0;
	u32 mask = internal ? CRYPTO_ALG_INTERNAL | CRYPTO_ALG_ASYNC : 0;
	struct crypto_skcipher *tfm;
	int err;

	tfm = crypto_alloc_skcipher(alg, type, mask);
	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	err = crypto_skcipher_setkey(tfm, key, keylen);
	if (err)
		goto free_tfm;
	err = -ENOMEM;
	b->sub = skcipher_request_alloc(tfm, GFP_KERNEL);
	if (!b->sub)
		goto free_tfm;
	skcipher_request_set_callback(b->sub, CRYPTO_TFM_REQ_MAY_SLEEP, NULL,
				      NULL);
	least(b, name, do_skcipher);
	memcpy(result, b->dst, LEN);
	err = same(b, result);
	skcipher_request_free(b->sub);
free_tfm:
	crypto_free_skcipher(tfm);
	return err;
}

/* ---- The core ---- */

static struct ocf_session *open_session(struct bench *b, enum ocf_alg alg,
					u32 keylen, u32 where)
{
	struct ocf_session_params p = {
		.mode = OCF_MODE_CIPHER, .cipher = alg, .key = key,
		.keylen = keylen, .flags = where, .device = OCF_DEVICE_ANY,
	};
	struct ocf_session *ses = ocf_session_create(&p, GFP_KERNEL);

	if (IS_ERR(ses))
		return ses;
	b->req = ocf_request_alloc(ses, GFP_KERNEL);
	if (!b->req) {
		ocf_session_put(ses);
		return ERR_PTR(-ENOMEM);
	}
	b->req->src = &b->src_sg;
	b->req->dst = &b->dst_sg;
	b->req->data.len = LEN;
	b->req->done = done;
	b->req->cookie = b;
	b->req->flags = OCF_REQ_INLINE | OCF_REQ_MAY_SLEEP;
	return ses;
}

static void close_session(struct bench *b, struct ocf_session *ses)
{
	ocf_request_free(b->req);
	ocf_session_put(ses);
}

static int bench_software(struct bench *b, const char *run, const char *submit,
			  enum ocf_alg alg, u32 keylen, const u8 *expected)
{
	struct ocf_session *ses;
	int err;

	ses = open_session(b, alg, keylen, OCF_SESSION_SOFTWARE);
	if (IS_ERR(ses))
		return PTR_ERR(ses);
	least(b, run, do_run);
	err = same(b, expected);
	least(b, submit, do_submit);
	err = err ?: same(b, expected);
	close_session(b, ses);
	return err;
}

static int bench_card(struct bench *b)
{
	struct ocf_session *ses;
	int err;

	err = card_offer();
	if (err)
		return err;
	ses = open_session(b, OCF_NULL_CIPHER, 0, OCF_SESSION_HARDWARE);
	if (IS_ERR(ses)) {
		err = PTR_ERR(ses);
		goto withdraw;
	}
	card_measured(true);
	least(b, "core/card/null/64", do_card);
	card_measured(false);
	err = b->err;
	close_session(b, ses);
withdraw:
	card_withdraw();
	return err;
}

static int bench_all(struct bench *b)
{
	u8 result[LEN];

	least(b, "core/nothing", do_nothing);
	return bench_skcipher(b, "core/skcipher/null/64", "ecb(cipher_null)", 0,
			      false, result) ?:
	       bench_software(b, "core/run/null/64", "core/submit/null/64",
			      OCF_NULL_CIPHER, 0, result) ?:
	       bench_skcipher(b, "core/skcipher/aes-128-cbc/64", "cbc(aes)", 16,
			      false, result) ?:
	       bench_skcipher(b, "core/internal/aes-128-cbc/64", "__cbc(aes)",
			      16, true, result) ?:
	       bench_software(b, "core/run/aes-128-cbc/64",
			      "core/submit/aes-128-cbc/64", OCF_AES_CBC, 16,
			      result) ?:
	       bench_card(b);
}

/*
 * Runs in a kernel thread, because the stack offset in a system call is random
 * and would change the count.
 */
static long bench_work(void *b)
{
	return bench_all(b);
}

static int results_show(struct seq_file *m, void *unused)
{
	int i;

	for (i = 0; i < nresults; i++)
		seq_printf(m, "%s %llu\n", results[i].name, results[i].ticks);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(results);

static int __init bench_init(void)
{
	struct bench *b = bench_alloc();
	int err;

	if (!b)
		return -ENOMEM;
	err = work_on_cpu(raw_smp_processor_id(), bench_work, b);
	kfree(b);
	if (!err)
		file = debugfs_create_file("bench_core", 0400, NULL, NULL,
					   &results_fops);
	return err;
}

static void __exit bench_exit(void)
{
	debugfs_remove(file);
}

module_init(bench_init);
module_exit(bench_exit);

OCF_IMPORT();
MODULE_DESCRIPTION("OCF for Linux: what the core costs");
MODULE_LICENSE("GPL");
