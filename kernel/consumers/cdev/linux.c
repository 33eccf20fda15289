// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cryptodev-linux ABI, for 64-bit and 32-bit callers.
 *
 * All of it is described in <crypto/cryptodev.h>; differences from the
 * original are in docs/porting.md.
 */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "linux.h"

#define KEY_MAX		((u32)CRYPTO_CIPHER_MAX_KEY_LEN)
#define MACKEY_MAX	((u32)CRYPTO_HMAC_MAX_KEY_LEN)

static_assert(sizeof(struct session_info_op) == 268);

struct compat_session_op {
	u32		cipher;
	u32		mac;
	u32		keylen;
	compat_uptr_t	key;
	u32		mackeylen;
	compat_uptr_t	mackey;
	u32		ses;
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

struct compat_crypt_auth_op {
	u32		ses;
	u16		op;
	u16		flags;
	u32		len;
	u32		auth_len;
	compat_uptr_t	auth_src;
	compat_uptr_t	src;
	compat_uptr_t	dst;
	compat_uptr_t	tag;
	u32		tag_len;
	compat_uptr_t	iv;
	u32		iv_len;
};

#define COMPAT_CIOCGSESSION	_IOWR('c', 102, struct compat_session_op)
#define COMPAT_CIOCCRYPT	_IOWR('c', 104, struct compat_crypt_op)
#define COMPAT_CIOCKEY		_IOWR('c', 105, struct cdev_compat_kop)
#define COMPAT_CIOCAUTHCRYPT	_IOWR('c', 109, struct compat_crypt_auth_op)
#define COMPAT_CIOCASYNCCRYPT	_IOW('c', 110, struct compat_crypt_op)
#define COMPAT_CIOCASYNCFETCH	_IOR('c', 111, struct compat_crypt_op)

/* ---- sessions ---- */

static enum ocf_mode linux_mode_of(enum ocf_alg cipher, enum ocf_alg mac)
{
	if (cipher && ocf_alg_info(cipher)->type == OCF_TYPE_AEAD)
		return OCF_MODE_AEAD;
	if (cipher && mac)
		return OCF_MODE_CHAIN;
	return cipher ? OCF_MODE_CIPHER : OCF_MODE_DIGEST;
}

static int linux_params_of(const struct session_op *sop,
			   struct ocf_session_params *p)
{
	const struct ocf_alg_info *mac;

	*p = (struct ocf_session_params){
		.cipher = ocf_alg_by_id(OCF_ABI_LINUX, sop->cipher),
		.mac = ocf_alg_by_id(OCF_ABI_LINUX, sop->mac),
		.device = OCF_DEVICE_ANY,
	};
	if ((!sop->cipher && !sop->mac) || !p->cipher != !sop->cipher ||
	    !p->mac != !sop->mac)
		return -EINVAL;
	p->mode = linux_mode_of(p->cipher, p->mac);
	/* the original ignored a MAC beside an AEAD algorithm */
	if (p->mode == OCF_MODE_AEAD)
		p->mac = OCF_ALG_NONE;
	if (p->cipher)
		p->keylen = sop->keylen;
	mac = ocf_alg_info(p->mac);
	if (mac && mac->key_max)
		p->mackeylen = sop->mackeylen;
	return 0;
}

/* Points to keys in @op, which must stay there until the session is open. */
static int linux_create_session(struct cdev_op *op, struct session_op *sop)
{
	u8 *key = op->bytes, *mackey = op->bytes + KEY_MAX;
	struct ocf_session_params p;
	struct cdev_session *ses;
	int err;

	static_assert(KEY_MAX + MACKEY_MAX <= CDEV_INLINE);
	err = linux_params_of(sop, &p);
	if (err)
		return err;
	p.key = key;
	p.mackey = mackey;
	err = cdev_key_copy(key, KEY_MAX, sop->key, p.keylen) ?:
	      cdev_key_copy(mackey, MACKEY_MAX, sop->mackey, p.mackeylen);
	if (err)
		goto wipe;
	ses = cdev_session_create(op->file, OCF_ABI_LINUX, &p);
	if (IS_ERR(ses)) {
		err = PTR_ERR(ses);
		goto wipe;
	}
	sop->ses = ses->id;
	cdev_session_put(ses);
wipe:
	memzero_explicit(key, min(p.keylen, KEY_MAX));
	memzero_explicit(mackey, min(p.mackeylen, MACKEY_MAX));
	return err;
}

static int linux_make_session(struct cdev_file *file, struct session_op *sop)
{
	struct cdev_op *op = cdev_op_get(file);
	int err;

	if (!op)
		return -ENOMEM;
	err = linux_create_session(op, sop);
	cdev_op_put(op);
	return err;
}

static long linux_new_session(struct cdev_file *file, void __user *arg)
{
	struct session_op __user *usop = arg;
	struct session_op sop;
	int err;

	if (copy_from_user(&sop, arg, sizeof(sop)))
		return -EFAULT;
	err = linux_make_session(file, &sop);
	if (err)
		return err;
	if (put_user(sop.ses, &usop->ses)) {
		cdev_session_end(file, OCF_ABI_LINUX, sop.ses);
		return -EFAULT;
	}
	return 0;
}

static long linux_end_session(struct cdev_file *file, void __user *arg)
{
	u32 id;

	if (get_user(id, (u32 __user *)arg))
		return -EFAULT;
	/* 0 is no id: programs end sessions that they have not opened */
	return id ? cdev_session_end(file, OCF_ABI_LINUX, id) : 0;
}

static void name_alg(struct alg_info *info, const struct ocf_alg_info *row,
		     int device)
{
	if (!row)
		return;
	strscpy(info->cra_name, row->impl ?: row->name);
	if (ocf_device_name(device, info->cra_driver_name,
			    sizeof(info->cra_driver_name)))
		strscpy(info->cra_driver_name, "none");
}

static long session_info(struct cdev_file *file, void __user *arg)
{
	struct session_info_op siop = {};
	struct ocf_session_info info;
	struct cdev_session *ses;

	if (get_user(siop.ses, (u32 __user *)arg))
		return -EFAULT;
	ses = cdev_session_find(file, OCF_ABI_LINUX, siop.ses);
	if (!ses)
		return -EINVAL;
	ocf_session_info(ses->ses, &info);
	name_alg(&siop.cipher_info, ses->cipher, info.device);
	name_alg(&siop.hash_info, ses->mac, info.device);
	siop.alignmask = 15;	/* no block of a cipher then spans two pages */
	if (info.hardware)
		siop.flags |= SIOP_FLAG_KERNEL_DRIVER_ONLY;
	cdev_session_put(ses);
	return copy_to_user(arg, &siop, sizeof(siop)) ? -EFAULT : 0;
}

/* ---- CIOCKEY, CIOCASYMFEAT ---- */

static_assert(sizeof(struct cdev_kop) == sizeof(struct crypt_kop) &&
	      offsetof(struct cdev_kop, param) ==
	      offsetof(struct crypt_kop, crk_param));

static long linux_key_op(struct cdev_file *file, void __user *arg, bool compat)
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

/* ---- dispatch ---- */

static long get_async(struct cdev_file *file, void __user *arg)
{
	struct crypt_op cop;
	int err = cdev_linux_async_fetch(file, &cop);

	if (err != -EBUSY && copy_to_user(arg, &cop, sizeof(cop)))
		return -EFAULT;
	return err;
}

static long linux_do_crypt(struct cdev_file *file, void __user *arg,
			   int (*work)(struct cdev_op *op))
{
	struct cdev_op *op = cdev_op_get(file);

	if (!op)
		return -ENOMEM;
	if (!copy_from_user(op->user, arg, sizeof(struct crypt_op)))
		return work(op);
	cdev_op_put(op);
	return -EFAULT;
}

static long do_auth_crypt(struct cdev_file *file, void __user *arg)
{
	struct crypt_auth_op caop;
	int err;

	if (copy_from_user(&caop, arg, sizeof(caop)))
		return -EFAULT;
	err = cdev_linux_auth_crypt(file, &caop);
	if (!err && copy_to_user(arg, &caop, sizeof(caop)))
		return -EFAULT;
	return err;
}

long cdev_linux_ioctl(struct file *filp, unsigned int cmd, void __user *arg)
{
	struct cdev_file *file = filp->private_data;

	switch (cmd) {
	case CIOCCRYPT:
		return linux_do_crypt(file, arg, cdev_linux_crypt);
	case CIOCAUTHCRYPT:
		return do_auth_crypt(file, arg);
	case CIOCASYNCCRYPT:
		return linux_do_crypt(file, arg, cdev_linux_async_crypt);
	case CIOCASYNCFETCH:
		return get_async(file, arg);
	case CIOCGSESSION:
		return linux_new_session(file, arg);
	case CIOCFSESSION:
		return linux_end_session(file, arg);
	case CIOCGSESSINFO:
		return session_info(file, arg);
	case CIOCCPHASH:
		return cdev_linux_cphash(file, arg);
	case CIOCKEY:
		return linux_key_op(file, arg, false);
	case CIOCASYMFEAT:
		return put_user(cdev_key_features(), (u32 __user *)arg);
	case CRIOGET:
		return cdev_clone_fd(filp, arg);
	default:
		return -ENOIOCTLCMD;
	}
}

/* ---- 32-bit callers ---- */

#ifdef CONFIG_COMPAT

static long linux_compat_crypt(struct cdev_file *file, void __user *arg,
			       int (*work)(struct cdev_op *op))
{
	struct compat_crypt_op c;
	struct cdev_op *op;

	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	op = cdev_op_get(file);
	if (!op)
		return -ENOMEM;
	/* bytes between the fields may be fetched, too */
	memset(op->user, 0, sizeof(struct crypt_op));
	*(struct crypt_op *)op->user = (struct crypt_op){
		.ses = c.ses, .op = c.op, .flags = c.flags, .len = c.len,
		.src = compat_ptr(c.src), .dst = compat_ptr(c.dst),
		.mac = compat_ptr(c.mac), .iv = compat_ptr(c.iv),
	};
	return work(op);
}

static int put_compat_cop(void __user *arg, const struct crypt_op *cop)
{
	struct compat_crypt_op c = {
		.ses = cop->ses, .op = cop->op, .flags = cop->flags,
		.len = cop->len,
		.src = ptr_to_compat(cop->src), .dst = ptr_to_compat(cop->dst),
		.mac = ptr_to_compat(cop->mac), .iv = ptr_to_compat(cop->iv),
	};

	return copy_to_user(arg, &c, sizeof(c)) ? -EFAULT : 0;
}

static long compat_async_fetch(struct cdev_file *file, void __user *arg)
{
	struct crypt_op cop;
	int err = cdev_linux_async_fetch(file, &cop);

	if (err != -EBUSY && put_compat_cop(arg, &cop))
		return -EFAULT;
	return err;
}

static long compat_auth_crypt(struct cdev_file *file, void __user *arg)
{
	struct compat_crypt_auth_op c;
	struct crypt_auth_op caop;
	int err;

	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	caop = (struct crypt_auth_op){
		.ses = c.ses, .op = c.op, .flags = c.flags, .len = c.len,
		.auth_len = c.auth_len, .auth_src = compat_ptr(c.auth_src),
		.src = compat_ptr(c.src), .dst = compat_ptr(c.dst),
		.tag = compat_ptr(c.tag), .tag_len = c.tag_len,
		.iv = compat_ptr(c.iv), .iv_len = c.iv_len,
	};
	err = cdev_linux_auth_crypt(file, &caop);
	if (err)
		return err;
	c.len = caop.len;
	c.tag_len = caop.tag_len;
	c.tag = ptr_to_compat(caop.tag);
	return copy_to_user(arg, &c, sizeof(c)) ? -EFAULT : 0;
}

static long linux_compat_new_session(struct cdev_file *file, void __user *arg)
{
	struct compat_session_op __user *usop = arg;
	struct compat_session_op c;
	struct session_op sop;
	int err;

	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	sop = (struct session_op){
		.cipher = c.cipher, .mac = c.mac,
		.keylen = c.keylen, .key = compat_ptr(c.key),
		.mackeylen = c.mackeylen, .mackey = compat_ptr(c.mackey),
	};
	err = linux_make_session(file, &sop);
	if (err)
		return err;
	if (put_user(sop.ses, &usop->ses)) {
		cdev_session_end(file, OCF_ABI_LINUX, sop.ses);
		return -EFAULT;
	}
	return 0;
}

long cdev_linux_compat(struct file *filp, unsigned int cmd, void __user *arg)
{
	struct cdev_file *file = filp->private_data;

	switch (cmd) {
	case COMPAT_CIOCCRYPT:
		return linux_compat_crypt(file, arg, cdev_linux_crypt);
	case COMPAT_CIOCASYNCCRYPT:
		return linux_compat_crypt(file, arg, cdev_linux_async_crypt);
	case COMPAT_CIOCASYNCFETCH:
		return compat_async_fetch(file, arg);
	case COMPAT_CIOCAUTHCRYPT:
		return compat_auth_crypt(file, arg);
	case COMPAT_CIOCGSESSION:
		return linux_compat_new_session(file, arg);
	case COMPAT_CIOCKEY:
		return linux_key_op(file, arg, true);
	/* the same for both */
	case CIOCFSESSION:
	case CIOCGSESSINFO:
	case CIOCCPHASH:
	case CIOCASYMFEAT:
	case CRIOGET:
		return cdev_linux_ioctl(filp, cmd, arg);
	default:
		return -ENOIOCTLCMD;
	}
}

#endif /* CONFIG_COMPAT */
