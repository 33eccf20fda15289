// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to use the core by way of the crypto API, beside the
 * implementation that a user has without us: in ticks, as core.c.
 *
 * debugfs file bench_alg has the results, a line each.
 */
#include <crypto/aead.h>
#include <crypto/authenc.h>
#include <crypto/skcipher.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <asm/msr.h>

#define LEN	64	/* bytes of data */
#define AAD	8
#define TAG	16
#define ROUNDS	128	/* the least of them counts */

/**
 * struct bench - what is measured
 * @data: associated data, data, tag; encrypted in place
 * @iv: as the operation before has left it
 * @sg: of @data
 * @cipher: a request, or NULL
 * @aead: a request, or NULL
 */
struct bench {
	u8			data[AAD + LEN + TAG];
	u8			iv[16];
	struct scatterlist	sg;
	struct skcipher_request	*cipher;
	struct aead_request	*aead;
};

static const struct {
	const char	*name;	/* in the results */
	const char	*driver;
	bool		is_aead;
	unsigned int	mackey;	/* bytes, put before the cipher's key */
} jobs[] = {
	{ "crypto/aes-128-cbc/64", "cbc(aes)" },
	{ "alg/aes-128-cbc/64", "ocf-cbc-aes" },
	{ "crypto/aes-128-gcm/64", "gcm(aes)", true },
	{ "alg/aes-128-gcm/64", "ocf-gcm-aes", true },
	{ "crypto/aes-128-cbc+hmac-sha256/64",
	  "authenc(hmac(sha256),cbc(aes))", true, 32 },
	{ "alg/aes-128-cbc+hmac-sha256/64",
	  "ocf-authenc-hmac-sha256-cbc-aes", true, 32 },
};

static u64 results[ARRAY_SIZE(jobs)];
static struct dentry *file;
static const u8 key[16] = "sixteen bytes...";

static int encrypt(struct bench *b)
{
	return b->aead ? crypto_aead_encrypt(b->aead) :
			 crypto_skcipher_encrypt(b->cipher);
}

static int least(struct bench *b, u64 *ticks)
{
	int i, err = 0;
	u64 begun;

	*ticks = U64_MAX;
	for (i = 0; i < ROUNDS && !err; i++) {
		begun = rdtsc_ordered();
		err = encrypt(b);
		*ticks = min(*ticks, rdtsc_ordered() - begun);
	}
	return err;
}

static int bench_cipher(struct bench *b, int job)
{
	struct crypto_skcipher *tfm;
	int err;

	tfm = crypto_alloc_skcipher(jobs[job].driver, 0, 0);
	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	err = crypto_skcipher_setkey(tfm, key, sizeof(key));
	b->cipher = skcipher_request_alloc(tfm, GFP_KERNEL);
	if (!err && !b->cipher)
		err = -ENOMEM;
	if (!err) {
		skcipher_request_set_callback(b->cipher,
					      CRYPTO_TFM_REQ_MAY_SLEEP,
					      NULL, NULL);
		skcipher_request_set_crypt(b->cipher, &b->sg, &b->sg, LEN,
					   b->iv);
		err = least(b, &results[job]);
	}
	skcipher_request_free(b->cipher);
	b->cipher = NULL;
	crypto_free_skcipher(tfm);
	return err;
}

/* As <crypto/authenc.h> has it, if there is a key for the MAC */
static int set_keys(struct crypto_aead *tfm, unsigned int mackey)
{
	struct {
		struct rtattr			attr;
		struct crypto_authenc_key_param	param;
		u8				keys[32 + sizeof(key)];
	} both = {
		.attr.rta_len = RTA_LENGTH(sizeof(both.param)),
		.attr.rta_type = CRYPTO_AUTHENC_KEYA_PARAM,
		.param.enckeylen = cpu_to_be32(sizeof(key)),
	};

	if (!mackey)
		return crypto_aead_setkey(tfm, key, sizeof(key));
	return crypto_aead_setkey(tfm, (u8 *)&both, sizeof(both));
}

static int bench_aead(struct bench *b, int job)
{
	struct crypto_aead *tfm = crypto_alloc_aead(jobs[job].driver, 0, 0);
	int err;

	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	err = crypto_aead_setauthsize(tfm, TAG) ?:
	      set_keys(tfm, jobs[job].mackey);
	b->aead = aead_request_alloc(tfm, GFP_KERNEL);
	if (!err && !b->aead)
		err = -ENOMEM;
	if (!err) {
		aead_request_set_callback(b->aead, CRYPTO_TFM_REQ_MAY_SLEEP,
					  NULL, NULL);
		aead_request_set_ad(b->aead, AAD);
		aead_request_set_crypt(b->aead, &b->sg, &b->sg, LEN, b->iv);
		err = least(b, &results[job]);
	}
	aead_request_free(b->aead);
	b->aead = NULL;
	crypto_free_aead(tfm);
	return err;
}

/*
 * Runs in a kernel thread, because the stack offset in a system call is random
 * and would change the count.
 */
static long bench_work(void *b)
{
	int job, err = 0;

	for (job = 0; job < ARRAY_SIZE(jobs) && !err; job++)
		err = jobs[job].is_aead ? bench_aead(b, job) :
					  bench_cipher(b, job);
	return err;
}

static int results_show(struct seq_file *m, void *unused)
{
	int job;

	for (job = 0; job < ARRAY_SIZE(jobs); job++)
		seq_printf(m, "%s %llu\n", jobs[job].name, results[job]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(results);

static int __init bench_init(void)
{
	struct bench *b = kzalloc(sizeof(*b), GFP_KERNEL);
	int err;

	if (!b)
		return -ENOMEM;
	sg_init_one(&b->sg, b->data, sizeof(b->data));
	err = work_on_cpu(raw_smp_processor_id(), bench_work, b);
	kfree(b);
	if (!err)
		file = debugfs_create_file("bench_alg", 0400, NULL, NULL,
					   &results_fops);
	return err;
}

static void __exit bench_exit(void)
{
	debugfs_remove(file);
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_DESCRIPTION("OCF for Linux: what ocf_alg costs");
MODULE_LICENSE("GPL");
