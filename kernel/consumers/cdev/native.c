// SPDX-License-Identifier: GPL-2.0-only
/*
 * The native interface: sessions and queries.
 */
#include <linux/eventfd.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "native.h"

#define COMMAND_FLAGS	(OCF_COMMAND_MAC_FIRST | OCF_COMMAND_VERIFY | \
			 OCF_COMMAND_FIXED_SRC | OCF_COMMAND_FIXED_DST | \
			 OCF_COMMAND_MORE | OCF_COMMAND_CONTINUE)

/* ---- structures that may grow ---- */

static int read_sized(void *to, u32 known, u32 least, const void __user *arg)
{
	u32 size;
	int err;

	if (get_user(size, (const u32 __user *)arg))
		return -EFAULT;
	if (size < least)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(to, known, arg, size);
	/*
	 * copy_struct_from_user() has read the size a second time, and the
	 * program may have changed it meanwhile
	 */
	*(u32 *)to = size;
	return err;
}

static_assert(offsetof(struct ocf_session_open, wrong) ==
	      OCF_SESSION_OPEN_SIZE_VER0);
static_assert(offsetof(struct ocf_session_rekey, wrong) ==
	      OCF_SESSION_REKEY_SIZE_VER0);
static_assert(sizeof(struct ocf_session_query) == OCF_SESSION_QUERY_SIZE_VER0);
static_assert(offsetof(struct ocf_features, file) == OCF_FEATURES_SIZE_VER0);
static_assert(sizeof(struct ocf_algorithm) == OCF_ALGORITHM_SIZE_VER0);

/*
 * Copies a program's structure to *@to_. A program with a shorter version gives
 * only the fields that it knows.
 */
#define READ_SIZED(to_, least_, arg_) \
	read_sized((to_), sizeof(*(to_)), (least_), (arg_))

/* Fields that the caller does not know are not written. */
static int write_sized(void __user *arg, const void *from, u32 known)
{
	u32 size = *(const u32 *)from;

	return copy_to_user(arg, from, min(size, known)) ? -EFAULT : 0;
}

/* ---- sessions ---- */

static int name_of(const char *name, enum ocf_alg *alg)
{
	size_t len = strnlen(name, OCF_NAME_MAX);

	*alg = OCF_ALG_NONE;
	if (!len)
		return 0;
	if (len < OCF_NAME_MAX)
		*alg = ocf_alg_by_name(name, len);
	return *alg ? 0 : -EINVAL;
}

/* The number of the device @name, or OCF_DEVICE_ANY if @name is empty. */
int cdev_device_of(const char *name, int *device)
{
	char found[OCF_NAME_MAX];

	*device = OCF_DEVICE_ANY;
	if (!*name)
		return 0;
	if (strnlen(name, OCF_NAME_MAX) == OCF_NAME_MAX)
		return -EINVAL;
	*device = ocf_device_number(name);
	/* the core's search also takes the beginning of a name */
	if (*device < 0 || ocf_device_name(*device, found, sizeof(found)) ||
	    strcmp(name, found))
		return -ENODEV;
	return 0;
}

static int wrong(struct ocf_session_open *o, enum ocf_field field, int err)
{
	o->wrong = field;
	return err;
}

static int native_params_of(struct ocf_session_open *o,
			    struct ocf_session_params *p)
{
	int err;

	*p = (struct ocf_session_params){
		/* from here on it is an index of tables */
		.mode = array_index_nospec(o->mode, OCF_MODE_COUNT),
		.policy = o->policy, .flags = o->flags,
		.keylen = o->keylen, .mackeylen = o->mackeylen,
		.ivlen = o->ivlen, .maclen = o->maclen, .rounds = o->rounds,
		.wrong = &o->wrong,
	};
	/* the core checks all that is not checked here */
	if (o->mode >= OCF_MODE_COUNT)
		return wrong(o, OCF_FIELD_MODE, -EINVAL);
	if (o->policy > OCF_POLICY_CPU)
		return wrong(o, OCF_FIELD_POLICY, -EINVAL);
	if (o->session)
		return wrong(o, OCF_FIELD_SESSION, -EINVAL);
	if (!o->key && o->keylen)
		return wrong(o, OCF_FIELD_KEY, -EINVAL);
	if (!o->mackey && o->mackeylen)
		return wrong(o, OCF_FIELD_MACKEY, -EINVAL);
	if (name_of(o->cipher, &p->cipher))
		return wrong(o, OCF_FIELD_CIPHER, -EINVAL);
	if (name_of(o->mac, &p->mac))
		return wrong(o, OCF_FIELD_MAC, -EINVAL);
	err = cdev_device_of(o->device, &p->device);
	return err ? wrong(o, OCF_FIELD_DEVICE, err) : 0;
}

/* Both keys of a caller, in memory that is wiped */
struct keys {
	u8 key[OCF_KEY_MAX];
	u8 mackey[OCF_MACKEY_MAX];
};

static int read_keys(struct keys *k, u64 key, u32 keylen, u64 mackey,
		     u32 mackeylen, u32 *wrong)
{
	int err;

	err = cdev_key_copy(k->key, sizeof(k->key), u64_to_user_ptr(key),
			    keylen);
	if (err == -EINVAL)
		*wrong = OCF_FIELD_KEY;
	if (err)
		return err;
	err = cdev_key_copy(k->mackey, sizeof(k->mackey),
			    u64_to_user_ptr(mackey), mackeylen);
	if (err == -EINVAL)
		*wrong = OCF_FIELD_MACKEY;
	return err;
}

static int create(struct cdev_file *file, struct ocf_session_open *o)
{
	struct ocf_session_params p;
	struct cdev_session *ses;
	struct keys *k;
	int err;

	err = native_params_of(o, &p);
	if (err)
		return err;
	k = kmalloc(sizeof(*k), GFP_KERNEL_ACCOUNT);
	if (!k)
		return -ENOMEM;
	err = read_keys(k, o->key, o->keylen, o->mackey, o->mackeylen,
			&o->wrong);
	if (err)
		goto free_keys;
	p.key = k->key;
	p.mackey = k->mackey;
	ses = cdev_session_create(file, CDEV_ABI_NATIVE, &p);
	err = PTR_ERR_OR_ZERO(ses);
	if (err)
		goto free_keys;
	o->session = ses->id;
	cdev_session_put(ses);
free_keys:
	kfree_sensitive(k);
	return err;
}

/*
 * Stores @field at byte @offset of the structure @arg, if the caller's @size
 * includes it.  If storing fails, the caller still gets the first error.
 */
static void tell_wrong(void __user *arg, size_t offset, u32 size, u32 field)
{
	if (size >= offset + sizeof(field))
		(void)put_user(field, (u32 __user *)(arg + offset));
}

static long session_open(struct cdev_file *file, void __user *arg)
{
	struct ocf_session_open o;
	int err = READ_SIZED(&o, OCF_SESSION_OPEN_SIZE_VER0, arg);

	if (err)
		return err;
	o.wrong = OCF_FIELD_NONE;
	err = o.pad ? wrong(&o, OCF_FIELD_PAD, -EINVAL) : create(file, &o);
	if (err) {
		tell_wrong(arg, offsetof(struct ocf_session_open, wrong),
			   o.size, o.wrong);
		return err;
	}
	if (write_sized(arg, &o, sizeof(o))) {
		cdev_session_end(file, CDEV_ABI_NATIVE, o.session);
		return -EFAULT;
	}
	return 0;
}

static long session_close(struct cdev_file *file, void __user *arg)
{
	u32 id;

	if (get_user(id, (u32 __user *)arg))
		return -EFAULT;
	return cdev_session_end(file, CDEV_ABI_NATIVE, id);
}

static int rekey(struct cdev_session *ses, struct ocf_session_rekey *r)
{
	struct keys *k = kmalloc(sizeof(*k), GFP_KERNEL_ACCOUNT);
	int err;

	if (!k)
		return -ENOMEM;
	err = read_keys(k, r->key, r->keylen, r->mackey, r->mackeylen,
			&r->wrong) ?:
	      mutex_lock_killable(&ses->parts);
	if (err)
		goto free_keys;
	err = ocf_session_rekey(ses->ses, r->key ? k->key : NULL, r->keylen,
				r->mackey ? k->mackey : NULL, r->mackeylen,
				&r->wrong);
	/* a digest that was begun contains the old key */
	if (!err && r->mackey && ses->state) {
		ses->begun = false;
		memzero_explicit(ses->state, OCF_STATE_MAX);
	}
	mutex_unlock(&ses->parts);
free_keys:
	kfree_sensitive(k);
	return err;
}

static int find_and_rekey(struct cdev_file *file, struct ocf_session_rekey *r)
{
	struct cdev_session *ses;
	int err;

	r->wrong = OCF_FIELD_NONE;
	if (r->pad)
		r->wrong = OCF_FIELD_PAD;
	else if (!r->key && (r->keylen || !r->mackey))
		r->wrong = OCF_FIELD_KEY;
	else if (!r->mackey && r->mackeylen)
		r->wrong = OCF_FIELD_MACKEY;
	if (r->wrong)
		return -EINVAL;
	ses = cdev_session_find(file, CDEV_ABI_NATIVE, r->session);
	if (!ses) {
		r->wrong = OCF_FIELD_SESSION;
		return -EINVAL;
	}
	err = rekey(ses, r);
	cdev_session_put(ses);
	return err;
}

static long session_rekey(struct cdev_file *file, void __user *arg)
{
	struct ocf_session_rekey r;
	int err = READ_SIZED(&r, OCF_SESSION_REKEY_SIZE_VER0, arg);

	if (err)
		return err;
	err = find_and_rekey(file, &r);
	if (err)
		tell_wrong(arg, offsetof(struct ocf_session_rekey, wrong),
			   r.size, r.wrong);
	return err;
}

static long session_query(struct cdev_file *file, void __user *arg)
{
	struct ocf_session_query q;
	struct ocf_session_info info;
	struct cdev_session *ses;
	u32 one, many;
	int err = READ_SIZED(&q, OCF_SESSION_QUERY_SIZE_VER0, arg);

	if (err)
		return err;
	ses = cdev_session_find(file, CDEV_ABI_NATIVE, q.session);
	if (!ses)
		return -EINVAL;
	ocf_session_info(ses->ses, &info);
	one = ocf_session_crossover(ses->ses, false);
	many = ocf_session_crossover(ses->ses, true);
	cdev_session_put(ses);
	q = (struct ocf_session_query){
		.size = q.size, .session = q.session, .mode = info.mode,
		.ivlen = info.ivlen, .maclen = info.maclen,
		.block = info.block, .hardware = info.hardware,
		.crossover = one, .crossover_many = many,
	};
	if (info.device < 0 ||
	    ocf_device_name(info.device, q.device, sizeof(q.device)))
		memset(q.device, 0, sizeof(q.device));
	return write_sized(arg, &q, sizeof(q));
}

/* ---- what there is ---- */

static long features(const struct cdev_file *file, void __user *arg)
{
	struct ocf_features f;
	int err = READ_SIZED(&f, OCF_FEATURES_SIZE_VER0, arg);

	if (err)
		return err;
	f = (struct ocf_features){
		.size = f.size,
		.modes = GENMASK(OCF_MODE_COUNT - 1, OCF_MODE_NONE + 1),
		.session_flags = OCF_SESSION_FLAGS,
		.command_flags = COMMAND_FLAGS,
		.vector_max = OCF_VECTOR_MAX,
		.commands_max = OCF_COMMANDS_MAX,
		.len_max = CDEV_LEN_MAX,
		.algorithms = OCF_ALG_COUNT - 1,
		.public_key = ocf_pk_codes(0),
		.file = file->number,
	};
	return write_sized(arg, &f, sizeof(f));
}

static long algorithm(void __user *arg)
{
	static const u32 types[] = {
		[OCF_TYPE_CIPHER] = OCF_ALGORITHM_CIPHER,
		[OCF_TYPE_AEAD] = OCF_ALGORITHM_AEAD,
		[OCF_TYPE_DIGEST] = OCF_ALGORITHM_DIGEST,
		[OCF_TYPE_MAC] = OCF_ALGORITHM_MAC,
		[OCF_TYPE_COMPRESS] = OCF_ALGORITHM_COMPRESSION,
	};
	const struct ocf_alg_info *row = NULL;
	struct ocf_algorithm a;
	int err = READ_SIZED(&a, OCF_ALGORITHM_SIZE_VER0, arg);

	if (err)
		return err;
	if (a.index < OCF_ALG_COUNT - 1)
		row = ocf_alg_info(array_index_nospec(a.index,
						      OCF_ALG_COUNT - 1) + 1);
	if (!row)
		return -ENOENT;
	a = (struct ocf_algorithm){
		.size = a.size, .index = a.index, .type = types[row->type],
		.flags = (row->flags & OCF_ALG_WEAK ? OCF_ALGORITHM_WEAK : 0) |
			 (row->flags & OCF_ALG_ROUNDS ? OCF_ALGORITHM_ROUNDS :
							0),
		.key_min = row->key_min, .key_max = row->key_max,
		.key_step = row->key_step, .block = row->block,
		.iv = row->iv, .digest = row->digest,
	};
	strscpy_pad(a.name, row->name);
	return write_sized(arg, &a, sizeof(a));
}

/* ---- results ---- */

static long set_eventfd(struct cdev_file *file, void __user *arg)
{
	struct eventfd_ctx *ctx = NULL;
	s32 fd;

	if (get_user(fd, (s32 __user *)arg))
		return -EFAULT;
	if (fd != -1)
		ctx = eventfd_ctx_fdget(fd);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	spin_lock_bh(&file->ring_lock);
	swap(file->eventfd, ctx);
	spin_unlock_bh(&file->ring_lock);
	if (ctx)
		eventfd_ctx_put(ctx);
	return 0;
}

static long cancel(struct cdev_file *file, void __user *arg)
{
	u64 cookie;

	if (copy_from_user(&cookie, arg, sizeof(cookie)))
		return -EFAULT;
	return cdev_cookie_cancel(file, cookie);
}

/* The file is being closed: results are not delivered any more. */
void cdev_native_close(struct cdev_file *file)
{
	struct eventfd_ctx *ctx;

	spin_lock_bh(&file->ring_lock);
	ctx = file->eventfd;
	file->eventfd = NULL;
	spin_unlock_bh(&file->ring_lock);
	if (ctx)
		eventfd_ctx_put(ctx);
}

/**
 * cdev_native_ioctl() - the calls of <linux/ocf.h>, of 64-bit and 32-bit
 * programs
 * @filp: the file
 * @cmd: which
 * @arg: its argument
 *
 * Context: process; may sleep.
 * Return: as <linux/ocf.h> says, or -ENOIOCTLCMD.
 */
long cdev_native_ioctl(struct file *filp, unsigned int cmd, void __user *arg)
{
	struct cdev_file *file = filp->private_data;

	switch (cmd) {
	case OCF_RUN:
		return cdev_vector_run(file, arg);
	case OCF_SUBMIT:
		return cdev_vector_submit(file, arg);
	case OCF_REAP:
		return cdev_vector_reap(file, arg);
	case OCF_CANCEL:
		return cancel(file, arg);
	case OCF_EVENTFD:
		return set_eventfd(file, arg);
	case OCF_SESSION_OPEN:
		return session_open(file, arg);
	case OCF_SESSION_CLOSE:
		return session_close(file, arg);
	case OCF_SESSION_REKEY:
		return session_rekey(file, arg);
	case OCF_SESSION_QUERY:
		return session_query(file, arg);
	case OCF_FEATURES:
		return features(file, arg);
	case OCF_ALGORITHM:
		return algorithm(arg);
	default:
		return -ENOIOCTLCMD;
	}
}
