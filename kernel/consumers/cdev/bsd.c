// SPDX-License-Identifier: GPL-2.0-only
/*
 * The BSD ABI, of OpenBSD and FreeBSD, for 64-bit and 32-bit callers.
 *
 * All of it is described in <bsd/crypto/cryptodev.h>; differences from the
 * originals are in docs/porting.md.
 */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include <bsd/crypto/cryptodev.h>

#include "cdev.h"
#include "uaccess.h"

static_assert(offsetof(struct session2_op, ses) ==
	      offsetof(struct session_op, ses));

#define OP_FLAGS	(COP_F_CIPHER_FIRST | COP_F_BATCH)
#define KEY_MAX		((u32)OCF_KEY_MAX)
#define MACKEY_MAX	((u32)OCF_MACKEY_MAX)
#define XTS_IV_LEN	16	/* the whole tweak of XTS; BSD has half of it */

/* BSD's <sys/ioccom.h> encodes _IOW and _IOR the other way round. */
#define BSD_CIOCFSESSION	_IOR('c', 102, u32)
#define BSD_CIOCASYMFEAT	_IOW('c', 105, u32)

struct compat_session_op {
	u32		cipher;
	u32		mac;
	u32		keylen;
	compat_uptr_t	key;
	s32		mackeylen;
	compat_uptr_t	mackey;
	u32		ses;
};

struct compat_session2_op {
	struct compat_session_op	op;
	s32				crid;
	s32				ivlen;
	s32				maclen;
	s32				pad[2];
};

struct compat_crypt_op {
	u32		ses;
	u16		op;
	u16		flags;
	u32		len;
	compat_uptr_t	src;
	compat_uptr_t	dst;
	compat_uptr_t	mac;
	compat_uptr_t	iv;
};

struct compat_crypt_aead {
	u32		ses;
	u16		op;
	u16		flags;
	u32		len;
	u32		aadlen;
	u32		ivlen;
	compat_uptr_t	src;
	compat_uptr_t	dst;
	compat_uptr_t	aad;
	compat_uptr_t	tag;
	compat_uptr_t	iv;
};

#define COMPAT_CIOCGSESSION	_IOWR('c', 101, struct compat_session_op)
#define COMPAT_CIOCCRYPT	_IOWR('c', 103, struct compat_crypt_op)
#define COMPAT_CIOCKEY		_IOWR('c', 104, struct cdev_compat_kop)
#define COMPAT_CIOCGSESSION2	_IOWR('c', 106, struct compat_session2_op)
#define COMPAT_CIOCKEY2		_IOWR('c', 107, struct cdev_compat_kop)
#define COMPAT_CIOCCRYPTAEAD	_IOWR('c', 109, struct compat_crypt_aead)

/* ---- sessions ---- */

/*
 * Whether the MAC is only the one inside GCM or CCM: FreeBSD 12 required
 * programs to name it too, with the same key
 */
static bool is_mac_side(const struct session2_op *sop)
{
	if (sop->mackeylen != sop->keylen)
		return false;
	if (sop->cipher == CRYPTO_AES_NIST_GCM_16)
		return sop->mac >= CRYPTO_AES_128_NIST_GMAC &&
		       sop->mac <= CRYPTO_AES_256_NIST_GMAC;
	return sop->cipher == CRYPTO_AES_CCM_16 &&
	       sop->mac == CRYPTO_AES_CCM_CBC_MAC;
}

static enum ocf_mode bsd_mode_of(enum ocf_alg cipher, enum ocf_alg mac)
{
	if (cipher && ocf_alg_info(cipher)->type == OCF_TYPE_AEAD)
		return OCF_MODE_AEAD;
	if (cipher && mac)
		return OCF_MODE_ETA;
	return cipher ? OCF_MODE_CIPHER : OCF_MODE_DIGEST;
}

static int devices_of(s32 crid, struct ocf_session_params *p)
{
	if (crid & ~(CRYPTO_FLAG_HARDWARE | CRYPTO_FLAG_SOFTWARE)) {
		/* a number of a device, without a flag */
		if (crid < 0 || crid >= CRYPTO_FLAG_HARDWARE)
			return -EINVAL;
		p->device = crid;
		return 0;
	}
	if (crid & CRYPTO_FLAG_HARDWARE)
		p->flags |= OCF_SESSION_HARDWARE;
	if (crid & CRYPTO_FLAG_SOFTWARE)
		p->flags |= OCF_SESSION_SOFTWARE;
	if (!crid)
		p->device = 0;
	return 0;
}

static int bsd_params_of(const struct session2_op *sop,
			 struct ocf_session_params *p)
{
	u32 mac = is_mac_side(sop) ? 0 : sop->mac;

	*p = (struct ocf_session_params){
		.cipher = ocf_alg_by_id(OCF_ABI_BSD, sop->cipher),
		.mac = ocf_alg_by_id(OCF_ABI_BSD, mac),
		.device = OCF_DEVICE_ANY,
	};
	if ((!sop->cipher && !mac) || !p->cipher != !sop->cipher ||
	    !p->mac != !mac || sop->ivlen < 0 || sop->maclen < 0 ||
	    sop->mackeylen < 0)
		return -EINVAL;
	p->mode = bsd_mode_of(p->cipher, p->mac);
	p->keylen = p->cipher ? sop->keylen : 0;
	p->mackeylen = p->mac ? sop->mackeylen : 0;
	p->ivlen = sop->ivlen;
	if (p->cipher == OCF_AES_XTS && !p->ivlen)
		p->ivlen = AES_XTS_IV_LEN;
	p->maclen = sop->maclen;
	return devices_of(sop->crid, p);
}

/* Points to keys in @op, which must stay there until the session is open. */
static int bsd_create_session(struct cdev_op *op, struct session2_op *sop)
{
	u8 *key = op->bytes, *mackey = op->bytes + KEY_MAX;
	struct ocf_session_params p;
	struct cdev_session *ses;
	int err;

	static_assert(KEY_MAX + MACKEY_MAX <= CDEV_INLINE);
	err = bsd_params_of(sop, &p);
	if (err)
		return err;
	p.key = key;
	p.mackey = mackey;
	err = cdev_key_copy(key, KEY_MAX, sop->key, p.keylen) ?:
	      cdev_key_copy(mackey, MACKEY_MAX, sop->mackey, p.mackeylen);
	if (err)
		goto wipe;
	ses = cdev_session_create(op->file, OCF_ABI_BSD, &p);
	if (IS_ERR(ses)) {
		err = PTR_ERR(ses);
		goto wipe;
	}
	sop->ses = ses->id;
	sop->crid = ses->info.device;
	cdev_session_put(ses);
wipe:
	memzero_explicit(key, min(p.keylen, KEY_MAX));
	memzero_explicit(mackey, min(p.mackeylen, MACKEY_MAX));
	return err;
}

static int bsd_make_session(struct cdev_file *file, struct session2_op *sop)
{
	struct cdev_op *op = cdev_op_get(file);
	int err;

	if (!op)
		return -ENOMEM;
	err = bsd_create_session(op, sop);
	cdev_op_put(op);
	return err;
}

static long bsd_end_session(struct cdev_file *file, void __user *arg)
{
	u32 id;

	if (get_user(id, (u32 __user *)arg))
		return -EFAULT;
	return cdev_session_end(file, OCF_ABI_BSD, id);
}

static long bsd_new_session(struct cdev_file *file,
			    struct session_op __user *arg)
{
	struct session2_op sop = {
		.crid = CRYPTO_FLAG_HARDWARE | CRYPTO_FLAG_SOFTWARE,
	};
	int err;

	/*
	 * the two structures agree up to ses; the padding of one is crid in the
	 * other
	 */
	if (copy_from_user(&sop, arg, offsetof(struct session2_op, crid)))
		return -EFAULT;
	err = bsd_make_session(file, &sop);
	if (err)
		return err;
	if (put_user(sop.ses, &arg->ses)) {
		cdev_session_end(file, OCF_ABI_BSD, sop.ses);
		return -EFAULT;
	}
	return 0;
}

static long new_session2(struct cdev_file *file, struct session2_op __user *arg)
{
	struct session2_op sop;
	int err;

	if (copy_from_user(&sop, arg, sizeof(sop)))
		return -EFAULT;
	err = bsd_make_session(file, &sop);
	if (err)
		return err;
	if (put_user(sop.ses, &arg->ses) || put_user(sop.crid, &arg->crid)) {
		cdev_session_end(file, OCF_ABI_BSD, sop.ses);
		return -EFAULT;
	}
	return 0;
}

/* ---- CIOCCRYPT and CIOCCRYPTAEAD ---- */

/**
 * struct bsd_op - what both calls ask for
 * @ses: the session's id
 * @op: COP_ENCRYPT or COP_DECRYPT, 0 also for digests
 * @flags: COP_F_*
 * @len: bytes of data
 * @aadlen: bytes of @aad
 * @ivlen: bytes of @iv
 * @src: the data
 * @dst: the result, or NULL
 * @aad: bytes that are only authenticated
 * @mac: MAC or tag
 * @iv: IV
 */
struct bsd_op {
	u32			ses;
	u16			op, flags;
	u32			len, aadlen, ivlen;
	const void __user	*src;
	void __user		*dst;
	const void __user	*aad;
	void __user		*mac;
	const void __user	*iv;
};

static bool verifies(const struct cdev_session *ses, const struct bsd_op *b)
{
	return b->op == COP_DECRYPT && (ses->info.mode == OCF_MODE_AEAD ||
					ses->info.mode == OCF_MODE_ETA);
}

static int bsd_check(const struct cdev_session *ses, const struct bsd_op *b)
{
	bool digest = ses->info.mode == OCF_MODE_DIGEST;

	if (b->len > CRYPTO_MAX_DATA_LEN || b->aadlen > CRYPTO_MAX_DATA_LEN)
		return -E2BIG;
	if (b->flags & ~OP_FLAGS ||
	    (b->flags & COP_F_CIPHER_FIRST && b->op != COP_ENCRYPT) ||
	    (b->op != COP_ENCRYPT && b->op != COP_DECRYPT &&
	     !(digest && !b->op)))
		return -EINVAL;
	if (b->len % ses->info.block || (b->mac && !ses->info.maclen) ||
	    (b->iv && !ses->info.ivlen))
		return -EINVAL;
	/* an AEAD never takes its nonce from the data */
	if (ses->info.mode == OCF_MODE_AEAD && !b->iv)
		return -EINVAL;
	if (!b->iv && b->len < ses->info.ivlen)
		return -EINVAL;
	if (verifies(ses, b) && !b->mac)
		return -EFAULT;
	return 0;
}

/* Without @b->iv the IV is in front of the data: the data begin after it. */
static int get_iv(struct cdev_op *op, struct bsd_op *b)
{
	u32 len = op->ses->info.ivlen;

	memset(op->req.iv, 0, sizeof(op->req.iv));
	if (!len)
		return 0;
	if (cdev_copy_in(op->req.iv, b->iv ?: b->src, len))
		return -EFAULT;
	if (!b->iv) {
		b->src += len;
		b->dst = b->dst ? b->dst + len : NULL;
		b->len -= len;
	}
	return 0;
}

/*
 * Whether the user's own pages can be used: there is nothing to verify first,
 * and no tag has to follow the data.
 */
static bool may_pin(const struct cdev_session *ses, const struct bsd_op *b)
{
	return !b->aadlen && !verifies(ses, b) &&
	       ses->info.mode != OCF_MODE_AEAD && (b->dst || !ses->cipher) &&
	       cdev_buffer_pinnable(b->src, b->dst, b->len,
				    ses->cipher ? b->len : 0);
}

/* Puts AAD, data, and for AEAD the tag into the operation's buffer. */
static int bsd_fill(struct cdev_op *op, struct bsd_op *b)
{
	struct cdev_session *ses = op->ses;
	struct ocf_request *req = &op->req;
	bool aead = ses->info.mode == OCF_MODE_AEAD, verify = verifies(ses, b);
	u32 maclen = ses->info.maclen;
	int err;

	err = get_iv(op, b);
	if (err)
		return err;
	if (b->op == COP_DECRYPT && ses->cipher)
		req->op = OCF_OP_DECRYPT;
	req->data = (struct ocf_range){ b->aadlen, b->len };
	req->auth.len = b->aadlen;
	if (ses->info.mode == OCF_MODE_ETA)
		req->auth.len += b->len;
	if (verify && !aead && cdev_copy_in(req->tag, b->mac, maclen))
		return -EFAULT;
	if (may_pin(ses, b)) {
		err = cdev_buffer_pin(op, 0, b->src, b->len, b->dst,
				      ses->cipher ? b->len : 0);
		if (likely(err != -EAGAIN))
			return err;
	}
	err = cdev_buffer_make(op, b->aadlen + b->len + (aead ? maclen : 0)) ?:
	      cdev_buffer_read(op, 0, b->aad, b->aadlen) ?:
	      cdev_buffer_read(op, b->aadlen, b->src, b->len);
	if (err || !aead)
		return err;
	req->tag_start = b->aadlen + b->len;
	return verify ? cdev_buffer_read(op, req->tag_start, b->mac, maclen) :
			0;
}

static int bsd_deliver(struct cdev_op *op, const struct bsd_op *b)
{
	const struct cdev_session *ses = op->ses;

	if (b->dst && ses->cipher &&
	    cdev_buffer_write(op, b->aadlen, b->dst, b->len))
		return -EFAULT;
	if (!b->mac || verifies(ses, b))
		return 0;
	if (ses->info.mode == OCF_MODE_AEAD)
		return cdev_buffer_write(op, op->req.tag_start, b->mac,
					 ses->info.maclen);
	return cdev_copy_out(b->mac, op->req.tag, ses->info.maclen);
}

static int crypt(struct cdev_file *file, struct bsd_op *b,
		 int (*more_checks)(const struct cdev_session *ses,
				    struct bsd_op *b))
{
	struct cdev_session *ses;
	struct cdev_op *op;
	int err;

	ses = cdev_session_find(file, OCF_ABI_BSD, b->ses);
	if (!ses)
		return -EINVAL;
	err = more_checks ? more_checks(ses, b) : 0;
	err = err ?: bsd_check(ses, b);
	if (err)
		goto put_session;
	err = -ENOMEM;
	op = cdev_op_get(file);
	if (!op)
		goto put_session;
	cdev_op_set(op, ses, ses->ses);
	err = bsd_fill(op, b) ?: cdev_op_run(&op);
	if (!err)
		err = bsd_deliver(op, b);
	cdev_op_put(op);
	return err;

put_session:
	cdev_session_put(ses);
	return err;
}

/* CIOCCRYPTAEAD has stricter rules than CIOCCRYPT. */
static int check_aead(const struct cdev_session *ses, struct bsd_op *b)
{
	/* only the null cipher has no IV */
	if (!ses->cipher || !ses->info.maclen || !b->mac ||
	    !b->iv != !ses->info.ivlen)
		return -EINVAL;
	if (b->ivlen == ses->info.ivlen)
		return 0;
	/*
	 * an XTS session whose IV is 8 bytes also accepts a tweak of 16 bytes,
	 * and uses its first half
	 */
	return ses->info.cipher == OCF_AES_XTS && b->ivlen == XTS_IV_LEN ?
	       0 : -EINVAL;
}

static long bsd_do_crypt(struct cdev_file *file, const struct crypt_op *c)
{
	struct bsd_op b = {
		.ses = c->ses, .op = c->op, .flags = c->flags, .len = c->len,
		.src = c->src, .dst = c->dst, .mac = c->mac, .iv = c->iv,
	};

	return crypt(file, &b, NULL);
}

static long do_aead(struct cdev_file *file, const struct crypt_aead *c)
{
	struct bsd_op b = {
		.ses = c->ses, .op = c->op, .flags = c->flags, .len = c->len,
		.aadlen = c->aadlen, .ivlen = c->ivlen, .src = c->src,
		.dst = c->dst, .aad = c->aad, .mac = c->tag, .iv = c->iv,
	};

	return crypt(file, &b, check_aead);
}

/* ---- CIOCFINDDEV ---- */

static long find_device(struct crypt_find_op __user *arg)
{
	struct crypt_find_op find;
	int err;

	if (copy_from_user(&find, arg, sizeof(find)))
		return -EFAULT;
	if (find.crid == -1) {
		find.name[sizeof(find.name) - 1] = 0;
		find.crid = ocf_device_number(find.name);
		if (find.crid < 0)
			return find.crid;
		return put_user(find.crid, &arg->crid);
	}
	memset(find.name, 0, sizeof(find.name));
	err = ocf_device_name(find.crid, find.name, sizeof(find.name));
	if (err)
		return err;
	return copy_to_user(arg->name, find.name, sizeof(find.name)) ?
	       -EFAULT : 0;
}

/* ---- CIOCKEY, CIOCKEY2, CIOCASYMFEAT ---- */

static_assert(sizeof(struct cdev_kop) == sizeof(struct crypt_kop) &&
	      offsetof(struct cdev_kop, param) ==
	      offsetof(struct crypt_kop, crk_param));

static long bsd_key_op(struct cdev_file *file, void __user *arg, bool compat)
{
	struct cdev_kop kop;
	int err = cdev_kop_read(&kop, arg, compat);
	u32 pad = kop.crid;

	if (err)
		return err;
	err = cdev_key(file, &kop, OCF_DEVICE_ANY, 0);
	kop.crid = pad;
	return cdev_kop_write(&kop, arg, compat) ?: err;
}

/*
 * Does the operation on a device or a kind of device; returns the device that
 * did it.
 */
static long key_op2(struct cdev_file *file, void __user *arg, bool compat)
{
	struct ocf_session_params where = { .device = OCF_DEVICE_ANY };
	struct cdev_kop kop;
	int err;

	err = cdev_kop_read(&kop, arg, compat);
	if (err)
		return err;
	err = devices_of(kop.crid, &where);
	if (err)
		cdev_kop_fail(&kop, err);
	else
		err = cdev_key(file, &kop, where.device, where.flags);
	return cdev_kop_write(&kop, arg, compat) ?: err;
}

/* ---- dispatch ---- */

long cdev_bsd_ioctl(struct file *filp, unsigned int cmd, void __user *arg)
{
	struct cdev_file *file = filp->private_data;
	struct crypt_aead aead;
	struct crypt_op op;

	switch (cmd) {
	case CIOCCRYPT:
		if (copy_from_user(&op, arg, sizeof(op)))
			return -EFAULT;
		return bsd_do_crypt(file, &op);
	case CIOCCRYPTAEAD:
		if (copy_from_user(&aead, arg, sizeof(aead)))
			return -EFAULT;
		return do_aead(file, &aead);
	case CIOCGSESSION:
		return bsd_new_session(file, arg);
	case CIOCGSESSION2:
		return new_session2(file, arg);
	case CIOCFSESSION:
	case BSD_CIOCFSESSION:
		return bsd_end_session(file, arg);
	case CIOCFINDDEV:
		return find_device(arg);
	case CIOCKEY:
		return bsd_key_op(file, arg, false);
	case CIOCKEY2:
		return key_op2(file, arg, false);
	case CIOCASYMFEAT:
	case BSD_CIOCASYMFEAT:
		return put_user(cdev_key_features(), (u32 __user *)arg);
	case CRIOGET:
		return cdev_clone_fd(filp, arg);
	default:
		return -ENOIOCTLCMD;
	}
}

/* ---- 32-bit callers ---- */

#ifdef CONFIG_COMPAT

static void from_compat(struct session2_op *sop,
			const struct compat_session_op *c)
{
	*sop = (struct session2_op){
		.cipher = c->cipher, .mac = c->mac,
		.keylen = c->keylen, .key = compat_ptr(c->key),
		.mackeylen = c->mackeylen, .mackey = compat_ptr(c->mackey),
		.crid = CRYPTO_FLAG_HARDWARE | CRYPTO_FLAG_SOFTWARE,
	};
}

static long bsd_compat_new_session(struct cdev_file *file,
				   struct compat_session_op __user *arg)
{
	struct compat_session_op c;
	struct session2_op sop;
	int err;

	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	from_compat(&sop, &c);
	err = bsd_make_session(file, &sop);
	if (err)
		return err;
	if (put_user(sop.ses, &arg->ses)) {
		cdev_session_end(file, OCF_ABI_BSD, sop.ses);
		return -EFAULT;
	}
	return 0;
}

static long compat_new_session2(struct cdev_file *file,
				struct compat_session2_op __user *arg)
{
	struct compat_session2_op c;
	struct session2_op sop;
	int err;

	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	from_compat(&sop, &c.op);
	sop.crid = c.crid;
	sop.ivlen = c.ivlen;
	sop.maclen = c.maclen;
	err = bsd_make_session(file, &sop);
	if (err)
		return err;
	if (put_user(sop.ses, &arg->op.ses) || put_user(sop.crid, &arg->crid)) {
		cdev_session_end(file, OCF_ABI_BSD, sop.ses);
		return -EFAULT;
	}
	return 0;
}

static long bsd_compat_crypt(struct cdev_file *file, const void __user *arg)
{
	struct compat_crypt_op c;

	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	return bsd_do_crypt(file, &(struct crypt_op){
					  .ses = c.ses,
					  .op = c.op,
					  .flags = c.flags,
					  .len = c.len,
					  .src = compat_ptr(c.src),
					  .dst = compat_ptr(c.dst),
					  .mac = compat_ptr(c.mac),
					  .iv = compat_ptr(c.iv),
				  });
}

static long compat_aead(struct cdev_file *file, const void __user *arg)
{
	struct compat_crypt_aead c;

	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	return do_aead(file, &(struct crypt_aead){
		.ses = c.ses, .op = c.op, .flags = c.flags, .len = c.len,
		.aadlen = c.aadlen, .ivlen = c.ivlen,
		.src = compat_ptr(c.src), .dst = compat_ptr(c.dst),
		.aad = compat_ptr(c.aad), .tag = compat_ptr(c.tag),
		.iv = compat_ptr(c.iv),
	});
}

long cdev_bsd_compat(struct file *filp, unsigned int cmd, void __user *arg)
{
	struct cdev_file *file = filp->private_data;

	switch (cmd) {
	case COMPAT_CIOCCRYPT:
		return bsd_compat_crypt(file, arg);
	case COMPAT_CIOCCRYPTAEAD:
		return compat_aead(file, arg);
	case COMPAT_CIOCGSESSION:
		return bsd_compat_new_session(file, arg);
	case COMPAT_CIOCGSESSION2:
		return compat_new_session2(file, arg);
	case COMPAT_CIOCKEY:
		return bsd_key_op(file, arg, true);
	case COMPAT_CIOCKEY2:
		return key_op2(file, arg, true);
	/* the same for both */
	case CIOCFSESSION:
	case BSD_CIOCFSESSION:
	case CIOCFINDDEV:
	case CIOCASYMFEAT:
	case BSD_CIOCASYMFEAT:
	case CRIOGET:
		return cdev_bsd_ioctl(filp, cmd, arg);
	default:
		return -ENOIOCTLCMD;
	}
}

#endif /* CONFIG_COMPAT */
