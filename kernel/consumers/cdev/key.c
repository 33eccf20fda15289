// SPDX-License-Identifier: GPL-2.0-only
/*
 * CIOCKEY: public-key operations.  Both older ABIs have the same structure and
 * numbers; our own additions are in both.
 */
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/ocf_pk.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <uapi/crypto/cryptodev.h>

#include "cdev.h"

#define PARAM_MAX	OCF_PK_KEY_MAX	/* bytes */
#define OURS		CRK_OCF_RSA_SIGN /* from here on numbers are ours */

/**
 * struct row - an operation of the ABI
 * @code: the core's
 * @in: number of input parameters
 * @more: number of optional ones after them
 * @out: results
 * @octets: parameters that are no numbers, a bit each; our own operations have
 *	only such
 */
struct row {
	enum ocf_pk_code	code;
	u8			in, more, out;
	u8			octets;
};

static const struct row rows[] = {
	[CRK_MOD_EXP]		= { OCF_PK_MOD_EXP, 3, 0, 1 },
	[CRK_MOD_EXP_CRT]	= { OCF_PK_MOD_EXP_CRT, 6, 0, 1 },
	[CRK_DSA_SIGN]		= { OCF_PK_DSA_SIGN, 5, 0, 2, BIT(0) },
	[CRK_DSA_VERIFY]	= { OCF_PK_DSA_VERIFY, 7, 0, 0, BIT(0) },
	[CRK_DH_COMPUTE_KEY]	= { OCF_PK_DH, 3, 0, 1 },
	[CRK_MOD_ADD]		= { OCF_PK_MOD_ADD, 3, 0, 1 },
	[CRK_MOD_ADDINV]	= { OCF_PK_MOD_NEG, 2, 0, 1 },
	[CRK_MOD_SUB]		= { OCF_PK_MOD_SUB, 3, 0, 1 },
	[CRK_MOD_MULT]		= { OCF_PK_MOD_MUL, 3, 0, 1 },
	[CRK_MOD_MULTINV]	= { OCF_PK_MOD_INV, 2, 0, 1 },
	[CRK_MOD]		= { OCF_PK_MOD, 2, 0, 1 },
	[CRK_OCF_RSA_SIGN]	= { OCF_PK_RSA_SIGN, 2, 1, 1 },
	[CRK_OCF_RSA_VERIFY]	= { OCF_PK_RSA_VERIFY, 3, 1, 0 },
	[CRK_OCF_RSA_ENCRYPT]	= { OCF_PK_RSA_ENCRYPT, 2, 1, 1 },
	[CRK_OCF_RSA_DECRYPT]	= { OCF_PK_RSA_DECRYPT, 2, 1, 1 },
	[CRK_OCF_EC_PUBLIC]	= { OCF_PK_EC_PUBLIC, 1, 0, 1 },
	[CRK_OCF_ECDH]		= { OCF_PK_ECDH, 2, 0, 1 },
	[CRK_OCF_ECDSA_SIGN]	= { OCF_PK_ECDSA_SIGN, 2, 0, 2 },
	[CRK_OCF_ECDSA_VERIFY]	= { OCF_PK_ECDSA_VERIFY, 4, 0, 0 },
	[CRK_OCF_X25519]	= { OCF_PK_X25519, 2, 0, 1 },
};

static const enum ocf_alg hashes[] = {
	[CRK_HASH_NONE]		= OCF_ALG_NONE,
	[CRK_HASH_MD5]		= OCF_MD5,
	[CRK_HASH_SHA1]		= OCF_SHA1,
	[CRK_HASH_SHA224]	= OCF_SHA224,
	[CRK_HASH_SHA256]	= OCF_SHA256,
	[CRK_HASH_SHA384]	= OCF_SHA384,
	[CRK_HASH_SHA512]	= OCF_SHA512,
	[CRK_HASH_SHA3_224]	= OCF_SHA3_224,
	[CRK_HASH_SHA3_256]	= OCF_SHA3_256,
	[CRK_HASH_SHA3_384]	= OCF_SHA3_384,
	[CRK_HASH_SHA3_512]	= OCF_SHA3_512,
	[CRK_HASH_RIPEMD160]	= OCF_RIPEMD160,
};

static const enum ocf_pk_curve curves[] = {
	[CRK_CURVE_NONE]	= OCF_PK_NO_CURVE,
	[CRK_CURVE_P256]	= OCF_PK_P256,
	[CRK_CURVE_P384]	= OCF_PK_P384,
	[CRK_CURVE_P521]	= OCF_PK_P521,
};

static const enum ocf_pk_scheme schemes[] = {
	[CRK_SCHEME_RAW]	= OCF_PK_RAW,
	[CRK_SCHEME_PKCS1]	= OCF_PK_PKCS1,
	[CRK_SCHEME_PSS]	= OCF_PK_PSS,
	[CRK_SCHEME_OAEP]	= OCF_PK_OAEP,
};

/* ---- what is asked for ---- */

static const struct row *row_of(const struct cdev_kop *kop)
{
	u32 op = kop->op & 0xff;

	if (op >= ARRAY_SIZE(rows) || (op < OURS && kop->op != op))
		return NULL;
	op = array_index_nospec(op, ARRAY_SIZE(rows));
	return rows[op].in ? &rows[op] : NULL;
}

static bool is_rsa(enum ocf_pk_code code)
{
	return code >= OCF_PK_RSA_SIGN && code <= OCF_PK_RSA_DECRYPT;
}

static int key_set_op(struct ocf_pk_op *op, const struct row *row, u32 crk_op)
{
	u32 scheme = crk_op >> 8 & 0xff, what = crk_op >> 16;
	u32 i = array_index_nospec(scheme, ARRAY_SIZE(schemes));

	op->code = row->code;
	if (scheme >= ARRAY_SIZE(schemes))
		return -EINVAL;
	op->scheme = schemes[i];
	if (is_rsa(op->code)) {
		if (what >= ARRAY_SIZE(hashes))
			return -EINVAL;
		i = array_index_nospec(what, ARRAY_SIZE(hashes));
		op->hash = hashes[i];
	} else {
		if (what >= ARRAY_SIZE(curves))
			return -EINVAL;
		i = array_index_nospec(what, ARRAY_SIZE(curves));
		op->curve = curves[i];
	}
	return 0;
}

/* The salt's length: as given, or the digest's, or any. */
static int set_salt(struct ocf_pk_op *op, const struct row *row, bool given)
{
	const struct ocf_pk_operand *salt = &op->in[row->in];
	u32 i, n = 0;

	if (op->code != OCF_PK_RSA_SIGN && op->code != OCF_PK_RSA_VERIFY)
		return 0;
	if (op->scheme != OCF_PK_PSS)
		return given ? -EINVAL : 0;
	if (!given) {
		op->salt = op->code == OCF_PK_RSA_VERIFY ? U32_MAX :
							   op->in[0].len;
		return 0;
	}
	for (i = 0; i < salt->len; i++) {
		n = n << 8 | salt->data[i];
		if (n > OCF_PK_NUMBER_MAX)
			return -EINVAL;
	}
	op->salt = n;
	return 0;
}

/* ---- parameters ---- */

/**
 * struct job - an operation under way
 * @row: which
 * @kop: the user's structure
 * @req: the core's
 * @octets: parameters that are no numbers, a bit each
 * @mem: memory for all parameters
 * @total: bytes of @mem
 */
struct job {
	const struct row	*row;
	struct cdev_kop	*kop;
	struct ocf_pk_request	*req;
	u32			octets;
	u8			*mem;
	u32			total;
};

static u32 size_of(const struct cdev_param *param)
{
	return DIV_ROUND_UP((u64)param->bits, 8);
}

/*
 * The user's first byte is the least significant, the core's the most
 * significant.
 */
static void reverse(u8 *data, u32 len)
{
	u32 i;

	for (i = 0; i < len / 2; i++)
		swap(data[i], data[len - 1 - i]);
}

static bool is_number(const struct job *job, int i)
{
	return !(job->octets & BIT(i));
}

static int key_add_up(struct job *job)
{
	const struct cdev_kop *kop = job->kop;
	int i;

	for (i = 0; i < kop->in + kop->out; i++) {
		if (size_of(&kop->param[i]) > PARAM_MAX)
			return -E2BIG;
		job->total += size_of(&kop->param[i]);
	}
	return job->total ? 0 : -EINVAL;
}

static int read_in(struct job *job)
{
	const struct cdev_kop *kop = job->kop;
	struct ocf_pk_op *op = &job->req->op;
	u8 *at = job->mem;
	u32 size;
	int i;

	for (i = 0; i < kop->in; i++) {
		size = size_of(&kop->param[i]);
		if (copy_from_user(at, kop->param[i].p, size))
			return -EFAULT;
		if (is_number(job, i))
			reverse(at, size);
		op->in[i] = (struct ocf_pk_operand){ at, size };
		at += size;
	}
	for (i = 0; i < kop->out; i++) {
		size = size_of(&kop->param[kop->in + i]);
		op->out[i] = (struct ocf_pk_result){ at, size };
		at += size;
	}
	return 0;
}

static int write_out(struct job *job)
{
	struct cdev_kop *kop = job->kop;
	struct ocf_pk_result *out;
	struct cdev_param *param;
	int i, at;

	for (i = 0; i < kop->out; i++) {
		at = kop->in + i;
		out = &job->req->op.out[i];
		param = &kop->param[at];
		if (is_number(job, at))
			reverse(out->data, out->len);
		else
			param->bits = 8 * out->len;
		if (copy_to_user(param->p, out->data, out->len))
			return -EFAULT;
	}
	return 0;
}

/* ---- the call ---- */

static int work(struct job *job, const struct cdev_file *file, int device,
		u32 flags)
{
	struct ocf_pk_request *req = job->req;
	bool given = job->kop->in > job->row->in;
	int err;

	err = key_set_op(&req->op, job->row, job->kop->op) ?:
		      read_in(job)			   ?:
		      set_salt(&req->op, job->row, given);
	if (err)
		return err;
	req->device = device;
	req->flags = flags;
	req->owner = cdev_owner(file);
	err = ocf_pk_run(req);
	return err == -EOPNOTSUPP ? -ENODEV : err;
}

static int with_memory(struct job *job, struct cdev_file *file, int device,
		       u32 flags)
{
	struct cdev_user *user = file->user;
	int err;

	err = cdev_user_add_bytes(user, job->total);
	if (err)
		return err;
	err = -ENOMEM;
	job->req = ocf_pk_alloc(GFP_KERNEL_ACCOUNT);
	job->mem = kvzalloc(job->total, GFP_KERNEL_ACCOUNT);
	if (job->req && job->mem)
		err = work(job, file, device, flags);
	if (!err)
		err = write_out(job);
	if (job->req)
		job->kop->crid = job->req->used;
	kvfree_sensitive(job->mem, job->total);
	ocf_pk_free(job->req);
	cdev_user_sub_bytes(user, job->total);
	return err;
}

static int do_key(struct cdev_file *file, struct cdev_kop *kop, int device,
		  u32 flags)
{
	struct job job = { .row = row_of(kop), .kop = kop };
	int err;

	kop->crid = -ENODEV;
	if (kop->in + kop->out > CRK_MAXPARAM)
		return -EFBIG;
	if (!job.row || kop->in < job.row->in ||
	    kop->in > job.row->in + job.row->more ||
	    kop->out != job.row->out)
		return -EINVAL;
	job.octets = (kop->op & 0xff) < OURS ? job.row->octets : ~0u;
	err = key_add_up(&job) ?: cdev_user_add_key(file->user);
	if (err)
		return err;
	err = with_memory(&job, file, device, flags);
	cdev_user_sub_key(file->user);
	return err;
}

/* Ends @kop, which has failed before it began. */
void cdev_kop_fail(struct cdev_kop *kop, int err)
{
	kop->status = -err;
	kop->crid = -ENODEV;
}

/**
 * cdev_key() - do a public-key operation
 * @file: the file
 * @kop: the operation; its status, device and lengths of results are set
 * @device: the only device to use, or OCF_DEVICE_ANY
 * @flags: OCF_SESSION_HARDWARE, OCF_SESSION_SOFTWARE
 *
 * Context: process; may sleep.
 * Return: 0; -EFBIG for too many parameters; -EINVAL for an operation that does
 * not exist, or other parameters than it has; -E2BIG for one that is too large;
 * -EFAULT; -EDQUOT; -ENODEV; what ocf_pk_run() says.
 */
int cdev_key(struct cdev_file *file, struct cdev_kop *kop, int device,
	     u32 flags)
{
	int err = do_key(file, kop, device, flags);

	kop->status = -err;
	return err;
}

/**
 * cdev_key_features() - CIOCASYMFEAT: the operations that some device can do
 *
 * Context: process.
 * Return: a bit for each CRK_*.
 */
u32 cdev_key_features(void)
{
	u32 codes = ocf_pk_codes(0), features = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].in && codes & BIT(rows[i].code))
			features |= BIT(i);
	return features;
}

/* ---- the structure, from and to user space ---- */

/*
 * If the numbers of parameters were refused, they are written back as they
 * were.
 */
static u32 bits_of(const struct cdev_kop *kop, u32 i)
{
	return kop->param[array_index_nospec(i, CRK_MAXPARAM)].bits;
}

#ifdef CONFIG_COMPAT

static int read_compat(struct cdev_kop *kop, const void __user *arg)
{
	struct cdev_compat_kop c;
	int i;

	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	*kop = (struct cdev_kop){
		.op = c.op, .in = c.in, .out = c.out, .crid = c.crid,
	};
	for (i = 0; i < CRK_MAXPARAM; i++) {
		kop->param[i].p = compat_ptr(c.param[i].p);
		kop->param[i].bits = c.param[i].bits;
	}
	return 0;
}

static int write_compat(const struct cdev_kop *kop, void __user *arg)
{
	struct cdev_compat_kop __user *c = arg;
	int i, err;

	err = put_user(kop->status, &c->status) | put_user(kop->crid, &c->crid);
	for (i = kop->in; i < kop->in + kop->out && !kop->status; i++)
		err |= put_user(bits_of(kop, i), &c->param[i].bits);
	return err ? -EFAULT : 0;
}

#else

static int read_compat(struct cdev_kop *kop, const void __user *arg)
{
	return -ENOIOCTLCMD;
}

static int write_compat(const struct cdev_kop *kop, void __user *arg)
{
	return -ENOIOCTLCMD;
}

#endif

/**
 * cdev_kop_read() - read the structure, once
 * @kop: where to
 * @arg: where from
 * @compat: the caller is a 32-bit program
 *
 * Context: process; may sleep.
 * Return: 0 or -EFAULT.
 */
int cdev_kop_read(struct cdev_kop *kop, const void __user *arg, bool compat)
{
	if (compat)
		return read_compat(kop, arg);
	return copy_from_user(kop, arg, sizeof(*kop)) ? -EFAULT : 0;
}

/**
 * cdev_kop_write() - write the results back
 * @kop: what
 * @arg: where to
 * @compat: the caller is a 32-bit program
 *
 * Context: process; may sleep.
 * Return: 0 or -EFAULT.
 */
int cdev_kop_write(const struct cdev_kop *kop, void __user *arg, bool compat)
{
	struct cdev_kop __user *to = arg;
	int i, err;

	if (compat)
		return write_compat(kop, arg);
	err = put_user(kop->status, &to->status) |
	      put_user(kop->crid, &to->crid);
	for (i = kop->in; i < kop->in + kop->out && !kop->status; i++)
		err |= put_user(bits_of(kop, i), &to->param[i].bits);
	return err ? -EFAULT : 0;
}
