// SPDX-License-Identifier: GPL-2.0-only
/*
 * An accelerator for tests, as the crypto API sees one: AES-CBC, and RSA if it
 * is loaded with rsa=1.  It is asynchronous, and as good or bad as it is told
 * to be.
 *
 *	echo never > /sys/module/ocf_accel/parameters/fault
 *	echo 3 > /sys/module/ocf_accel/parameters/count
 *
 * Then the next three requests do not complete until a write to "held".  Keys
 * of bad_key bytes are refused.
 */
#include <crypto/aes.h>
#include <crypto/internal/akcipher.h>
#include <crypto/internal/skcipher.h>
#include <crypto/utils.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

enum fault {
	WORKS,		/* calls back from BH context */
	AT_ONCE,	/* is done when the call returns */
	INSIDE,		/* calls back before it returns */
	HARDIRQ,	/* calls back in a hard interrupt */
	TWICE,		/* calls back twice */
	NEVER,		/* calls back only after a write to "held" */
	FAILS,		/* calls back with an error */
	REFUSES,	/* returns an error */
	BUSY,		/* is full: takes backlog requests only */
};

static const char * const names[] = {
	"works", "at_once", "inside", "hardirq", "twice", "never", "fails",
	"refuses", "busy",
};

static enum fault fault;
static unsigned int count, bad_key;
static bool marked = true, loop, rsa;

/*
 * A job.  The list @begun has the jobs that are being done, @held those that
 * are kept; both are under the lock.
 */
struct job {
	struct list_head		node;
	struct crypto_async_request	*base;
	int				(*compute)(struct job *job);
	enum fault			fault;
	bool				encrypt;
	/* the result of RSA, which is computed before the job starts */
	int				err;
	struct hrtimer			timer;
};

static LIST_HEAD(begun);
static LIST_HEAD(held);
static DEFINE_SPINLOCK(lock);

static int cbc(const struct crypto_aes_ctx *key, u8 *p, u32 len, u8 *iv,
	       bool encrypt)
{
	u8 text[AES_BLOCK_SIZE];

	for (; len; len -= AES_BLOCK_SIZE, p += AES_BLOCK_SIZE) {
		if (encrypt) {
			crypto_xor(p, iv, AES_BLOCK_SIZE);
			aes_encrypt(key, p, p);
			memcpy(iv, p, AES_BLOCK_SIZE);
		} else {
			memcpy(text, p, AES_BLOCK_SIZE);
			aes_decrypt(key, p, p);
			crypto_xor(p, iv, AES_BLOCK_SIZE);
			memcpy(iv, text, AES_BLOCK_SIZE);
		}
	}
	return 0;
}

static int compute_cbc(struct job *job)
{
	struct skcipher_request *req = skcipher_request_cast(job->base);
	const struct crypto_aes_ctx *key =
		crypto_skcipher_ctx(crypto_skcipher_reqtfm(req));
	u32 len = req->cryptlen;
	u8 *buf = kvmalloc(len, GFP_ATOMIC);
	int err;

	if (!buf)
		return -ENOMEM;
	sg_copy_to_buffer(req->src, sg_nents(req->src), buf, len);
	err = cbc(key, buf, len, req->iv, job->encrypt);
	sg_copy_from_buffer(req->dst, sg_nents(req->dst), buf, len);
	kvfree(buf);
	return err;
}

static void finish(struct job *job)
{
	struct crypto_async_request *base = job->base;
	enum fault how = job->fault;

	crypto_request_complete(base, how == FAILS ? -EIO : job->compute(job));
	/* a test with this fault keeps the memory of the request */
	if (how == TWICE)
		crypto_request_complete(base, 0);
}

static void work_fn(struct work_struct *work)
{
	struct job *job, *next;
	LIST_HEAD(list);

	spin_lock_bh(&lock);
	list_splice_init(&begun, &list);
	spin_unlock_bh(&lock);
	list_for_each_entry_safe(job, next, &list, node)
		finish(job);
}

static DECLARE_WORK(work, work_fn);

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct job *job = container_of(timer, struct job, timer);

	crypto_request_complete(job->base, job->compute(job));
	return HRTIMER_NORESTART;
}

static void begin(struct job *job, struct list_head *list)
{
	spin_lock_bh(&lock);
	list_add_tail(&job->node, list);
	spin_unlock_bh(&lock);
	queue_work(system_bh_wq, &work);
}

static enum fault next_fault(void)
{
	enum fault f = WORKS;

	spin_lock_bh(&lock);
	if (count) {
		count--;
		f = fault;
	}
	spin_unlock_bh(&lock);
	return f;
}

static int start(struct job *job)
{
	job->fault = next_fault();
	switch (job->fault) {
	case AT_ONCE:
		return job->compute(job);
	case INSIDE:
		local_bh_disable();
		crypto_request_complete(job->base, job->compute(job));
		local_bh_enable();
		break;
	case HARDIRQ:
		hrtimer_init(&job->timer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_HARD);
		job->timer.function = tick;
		hrtimer_start(&job->timer, ns_to_ktime(50000),
			      HRTIMER_MODE_REL_HARD);
		break;
	case NEVER:
		begin(job, &held);
		break;
	case REFUSES:
		return -EIO;
	case BUSY:
		if (!(job->base->flags & CRYPTO_TFM_REQ_MAY_BACKLOG))
			return -ENOSPC;
		begin(job, &begun);
		return -EBUSY;
	default:
		begin(job, &begun);
	}
	return -EINPROGRESS;
}

/* ---- AES-CBC ---- */

static int start_cbc(struct skcipher_request *req, bool encrypt)
{
	struct job *job = skcipher_request_ctx(req);

	job->base = &req->base;
	job->compute = compute_cbc;
	job->encrypt = encrypt;
	return start(job);
}

static int encrypt(struct skcipher_request *req)
{
	return start_cbc(req, true);
}

static int decrypt(struct skcipher_request *req)
{
	return start_cbc(req, false);
}

static int setkey(struct crypto_skcipher *tfm, const u8 *key, unsigned int len)
{
	if (len == READ_ONCE(bad_key))
		return -EINVAL;
	return aes_expandkey(crypto_skcipher_ctx(tfm), key, len);
}

static int init(struct crypto_skcipher *tfm)
{
	crypto_skcipher_set_reqsize(tfm, sizeof(struct job));
	return 0;
}

#define ALG(name_, driver_, priority_) {				\
	.base.cra_name = (name_), .base.cra_driver_name = (driver_),	\
	.base.cra_priority = (priority_),				\
	.base.cra_flags = CRYPTO_ALG_ASYNC,				\
	.base.cra_blocksize = AES_BLOCK_SIZE,				\
	.base.cra_ctxsize = sizeof(struct crypto_aes_ctx),		\
	.base.cra_module = THIS_MODULE,					\
	.min_keysize = AES_MIN_KEY_SIZE,				\
	.max_keysize = AES_MAX_KEY_SIZE,				\
	.ivsize = AES_BLOCK_SIZE, .setkey = setkey, .init = init,	\
	.encrypt = encrypt, .decrypt = decrypt,				\
}

static struct skcipher_alg accel = ALG("cbc(aes)", "cbc-aes-accel", 1);

/* OCF must not use this, by any name, although its priority is the highest. */
static struct skcipher_alg ours = ALG("cbc(aes)", "ocf-cbc-aes", 10000);

/*
 * ---- RSA: the kernel's own implementation computes it at once; the job
 * reports the result later ----
 */

struct rsa_ctx {
	struct crypto_akcipher	*child;
};

static int compute_rsa(struct job *job)
{
	return job->err;
}

static int ask_child(struct akcipher_request *req, bool encrypt)
{
	struct rsa_ctx *ctx = akcipher_tfm_ctx(crypto_akcipher_reqtfm(req));
	struct akcipher_request *sub;
	int err;

	sub = akcipher_request_alloc(ctx->child, GFP_KERNEL);
	if (!sub)
		return -ENOMEM;
	akcipher_request_set_callback(sub, 0, NULL, NULL);
	akcipher_request_set_crypt(sub, req->src, req->dst, req->src_len,
				   req->dst_len);
	err = encrypt ? crypto_akcipher_encrypt(sub) :
			crypto_akcipher_decrypt(sub);
	req->dst_len = sub->dst_len;
	akcipher_request_free(sub);
	return err;
}

static int start_rsa(struct akcipher_request *req, bool encrypt)
{
	struct job *job = akcipher_request_ctx(req);

	job->base = &req->base;
	job->compute = compute_rsa;
	job->err = ask_child(req, encrypt);
	return start(job);
}

static int rsa_encrypt(struct akcipher_request *req)
{
	return start_rsa(req, true);
}

static int rsa_decrypt(struct akcipher_request *req)
{
	return start_rsa(req, false);
}

static int rsa_set_public(struct crypto_akcipher *tfm, const void *key,
			  unsigned int len)
{
	struct rsa_ctx *ctx = akcipher_tfm_ctx(tfm);

	return crypto_akcipher_set_pub_key(ctx->child, key, len);
}

static int rsa_set_private(struct crypto_akcipher *tfm, const void *key,
			   unsigned int len)
{
	struct rsa_ctx *ctx = akcipher_tfm_ctx(tfm);

	return crypto_akcipher_set_priv_key(ctx->child, key, len);
}

static unsigned int rsa_max_size(struct crypto_akcipher *tfm)
{
	struct rsa_ctx *ctx = akcipher_tfm_ctx(tfm);

	return crypto_akcipher_maxsize(ctx->child);
}

static int rsa_init(struct crypto_akcipher *tfm)
{
	struct rsa_ctx *ctx = akcipher_tfm_ctx(tfm);

	akcipher_set_reqsize(tfm, sizeof(struct job));
	ctx->child = crypto_alloc_akcipher("rsa-generic", 0, 0);
	return PTR_ERR_OR_ZERO(ctx->child);
}

static void rsa_exit(struct crypto_akcipher *tfm)
{
	struct rsa_ctx *ctx = akcipher_tfm_ctx(tfm);

	crypto_free_akcipher(ctx->child);
}

static struct akcipher_alg accel_rsa = {
	.base.cra_name = "rsa", .base.cra_driver_name = "rsa-accel",
	.base.cra_priority = 1, .base.cra_flags = CRYPTO_ALG_ASYNC,
	.base.cra_ctxsize = sizeof(struct rsa_ctx),
	.base.cra_module = THIS_MODULE,
	.encrypt = rsa_encrypt, .decrypt = rsa_decrypt,
	.set_pub_key = rsa_set_public, .set_priv_key = rsa_set_private,
	.max_size = rsa_max_size, .init = rsa_init, .exit = rsa_exit,
};

/* ---- parameters ---- */

static int fault_set(const char *text, const struct kernel_param *kp)
{
	int i = __sysfs_match_string(names, ARRAY_SIZE(names), text);

	if (i < 0)
		return i;
	fault = i;
	return 0;
}

static int fault_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", names[fault]);
}

static const struct kernel_param_ops fault_ops = {
	.set = fault_set, .get = fault_get,
};
module_param_cb(fault, &fault_ops, NULL, 0644);
module_param(count, uint, 0644);
module_param(bad_key, uint, 0644);
module_param(marked, bool, 0444);
module_param(loop, bool, 0444);
module_param(rsa, bool, 0444);

/* Does the jobs that were kept. */
static int release_set(const char *text, const struct kernel_param *kp)
{
	spin_lock_bh(&lock);
	list_splice_tail_init(&held, &begun);
	spin_unlock_bh(&lock);
	queue_work(system_bh_wq, &work);
	return 0;
}

static int held_get(char *buf, const struct kernel_param *kp)
{
	unsigned int n;

	spin_lock_bh(&lock);
	n = list_count_nodes(&held);
	spin_unlock_bh(&lock);
	return sysfs_emit(buf, "%u\n", n);
}

static const struct kernel_param_ops release_ops = {
	.set = release_set, .get = held_get,
};
module_param_cb(held, &release_ops, NULL, 0644);

static int __init accel_init(void)
{
	int err;

	if (marked) {
		accel.base.cra_flags |= CRYPTO_ALG_KERN_DRIVER_ONLY;
		accel_rsa.base.cra_flags |= CRYPTO_ALG_KERN_DRIVER_ONLY;
	}
	ours.base.cra_flags |= CRYPTO_ALG_KERN_DRIVER_ONLY;
	err = crypto_register_skcipher(&accel);
	if (err)
		return err;
	if (loop)
		err = crypto_register_skcipher(&ours);
	if (err)
		goto drop_accel;
	if (rsa)
		err = crypto_register_akcipher(&accel_rsa);
	if (!err)
		return 0;
	if (loop)
		crypto_unregister_skcipher(&ours);
drop_accel:
	crypto_unregister_skcipher(&accel);
	return err;
}

static void __exit accel_exit(void)
{
	if (rsa)
		crypto_unregister_akcipher(&accel_rsa);
	if (loop)
		crypto_unregister_skcipher(&ours);
	crypto_unregister_skcipher(&accel);
	flush_work(&work);
}

module_init(accel_init);
module_exit(accel_exit);

MODULE_DESCRIPTION("An accelerator that works as it is told to, for tests");
MODULE_LICENSE("GPL");
