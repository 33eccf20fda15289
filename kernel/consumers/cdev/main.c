// SPDX-License-Identifier: GPL-2.0-only
/*
 * The node and its open files.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/ocf_cdev.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "native.h"

#define CREATE_TRACE_POINTS
#include <trace/events/ocf_cdev.h>

unsigned int cdev_max_sessions = 4096;
module_param_named(max_sessions, cdev_max_sessions, uint, 0644);
MODULE_PARM_DESC(max_sessions, "sessions a user may have open (4096)");

unsigned long cdev_max_bytes = 128UL << 20;
module_param_named(max_bytes, cdev_max_bytes, ulong, 0644);
MODULE_PARM_DESC(max_bytes, "bytes of operations a user may have under way (128 MiB)");

unsigned int cdev_max_keys = 64;
module_param_named(max_keys, cdev_max_keys, uint, 0644);
MODULE_PARM_DESC(max_keys, "public-key operations a user may have under way (64)");

static int cdev_open(struct inode *inode, struct file *filp)
{
	struct cdev_file *file;
	int err = -ENOMEM;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return err;
	file->number = get_random_u64() | 1;
	/* ids are positive numbers, at first */
	file->sequence = get_random_u32_below(BIT(15));
	kref_init(&file->ref);
	mutex_init(&file->lock);
	mutex_init(&file->cancel);
	spin_lock_init(&file->ring_lock);
	INIT_LIST_HEAD(&file->done);
	INIT_LIST_HEAD(&file->flight);
	init_waitqueue_head(&file->wait);
	err = cdev_table_init(file);
	if (err)
		goto free_file;
	err = -ENOMEM;
	file->user = cdev_user_get(ocf_payer());
	if (!file->user)
		goto free_table;
	filp->private_data = file;
	return stream_open(inode, filp);

free_table:
	cdev_table_exit(file);
free_file:
	kfree(file);
	return err;
}

static void file_free(struct kref *ref)
{
	struct cdev_file *file = container_of(ref, struct cdev_file, ref);

	cdev_user_put(file->user);
	kfree(file);
}

/* Context: process; may sleep. */
void cdev_file_put(struct cdev_file *file)
{
	kref_put(&file->ref, file_free);
}

static int cdev_flush(struct file *filp, fl_owner_t id)
{
	cdev_async_flush(filp->private_data);
	return 0;
}

/*
 * Operations under way finish by themselves and free themselves; sessions end
 * with the last operation that uses them.
 */
static int cdev_release(struct inode *inode, struct file *filp)
{
	struct cdev_file *file = filp->private_data;

	cdev_native_close(file);
	cdev_async_close(file);
	cdev_op_drop_spare(file);
	ocf_workers_put(file->workers);
	cdev_table_exit(file);
	cdev_file_put(file);
	ocf_workers_end();
	return 0;
}

/**
 * cdev_clone_fd() - CRIOGET: another descriptor for the same open file
 * @filp: the file
 * @arg: the address for the descriptor's number
 *
 * Context: process; may sleep.
 * Return: 0, -EFAULT, or what get_unused_fd_flags() says.
 */
long cdev_clone_fd(struct file *filp, u32 __user *arg)
{
	int fd = get_unused_fd_flags(0);

	if (fd < 0)
		return fd;
	if (put_user(fd, arg)) {
		put_unused_fd(fd);
		return -EFAULT;
	}
	fd_install(fd, get_file(filp));
	return 0;
}

static long answer(unsigned int cmd, long ret)
{
	if (ret == -ENOIOCTLCMD)
		ret = -ENOTTY;
	if (unlikely(ret < 0))
		trace_ocf_cdev_refuse(cmd, ret);
	return ret;
}

static long cdev_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	long ret = cdev_linux_ioctl(filp, cmd, (void __user *)arg);

	if (ret == -ENOIOCTLCMD)
		ret = cdev_bsd_ioctl(filp, cmd, (void __user *)arg);
	if (ret == -ENOIOCTLCMD)
		ret = cdev_native_ioctl(filp, cmd, (void __user *)arg);
	return answer(cmd, ret);
}

#ifdef CONFIG_COMPAT
static long cdev_compat_ioctl(struct file *filp, unsigned int cmd,
			      unsigned long arg)
{
	long ret = cdev_linux_compat(filp, cmd, compat_ptr(arg));

	if (ret == -ENOIOCTLCMD)
		ret = cdev_bsd_compat(filp, cmd, compat_ptr(arg));
	if (ret == -ENOIOCTLCMD)
		ret = cdev_native_ioctl(filp, cmd, compat_ptr(arg));
	return answer(cmd, ret);
}
#endif

static __poll_t cdev_poll(struct file *filp, struct poll_table_struct *table)
{
	return cdev_async_poll(filp->private_data, filp, table);
}

static const struct file_operations cdev_fops = {
	.owner		= THIS_MODULE,
	.open		= cdev_open,
	.flush		= cdev_flush,
	.release	= cdev_release,
	.unlocked_ioctl	= cdev_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl	= cdev_compat_ioctl,
#endif
	.poll		= cdev_poll,
	.uring_cmd	= cdev_uring_cmd,
};

static struct ocf_session *session_get(struct file *file, u32 id)
{
	struct cdev_session *ses = NULL;
	struct ocf_session *core;

	if (file->f_op == &cdev_fops)
		ses = cdev_session_find(file->private_data, CDEV_ABI_ANY, id);
	if (!ses)
		return ERR_PTR(-EINVAL);
	core = ocf_session_get(ses->ses);
	cdev_session_put(ses);
	return core;
}

static int session_end(struct file *file, u32 id)
{
	return file->f_op == &cdev_fops ?
	       cdev_session_end(file->private_data, CDEV_ABI_ANY, id) : -EINVAL;
}

const struct ocf_cdev_sessions ocf_cdev_sessions = {
	.get	= session_get,
	.end	= session_end,
};
OCF_EXPORT(ocf_cdev_sessions);

/* A rule of udev sets the group (packaging/udev). */
static struct miscdevice cdev_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "crypto",
	.fops	= &cdev_fops,
	.mode	= 0660,
};

static int __init cdev_init(void)
{
	int err = cdev_ops_init();

	if (err)
		return err;
	err = misc_register(&cdev_misc);
	if (err)
		cdev_ops_drain();
	return err;
}

static void __exit cdev_exit(void)
{
	misc_deregister(&cdev_misc);
	cdev_ops_drain();
}

module_init(cdev_init);
module_exit(cdev_exit);

OCF_IMPORT();
MODULE_DESCRIPTION("OCF for Linux: /dev/crypto");
MODULE_LICENSE("GPL");
