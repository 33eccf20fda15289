// SPDX-License-Identifier: GPL-2.0-only
/*
 * The floor under the budgets of /dev/crypto: its system call and its copies,
 * and nothing else.  No session is looked up, no request is made and nothing
 * is enciphered.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../../kernel/consumers/cdev/uaccess.h"
#include "floor.h"

static int floor_open(struct inode *inode, struct file *filp)
{
	filp->private_data = kzalloc(FLOOR_MAX, GFP_KERNEL);
	return filp->private_data ? 0 : -ENOMEM;
}

static int floor_release(struct inode *inode, struct file *filp)
{
	kfree(filp->private_data);
	return 0;
}

static int copy_in(void *to, const void __user *from, u32 len)
{
	return copy_from_user(to, from, len) ? -EFAULT : 0;
}

static int copy_out(void __user *to, const void *from, u32 len)
{
	return copy_to_user(to, from, len) ? -EFAULT : 0;
}

static long floor_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	void *buf = filp->private_data;
	struct crypt_op op;

	if (cmd == FLOOR_EMPTY)
		return 0;
	if (copy_from_user(&op, (void __user *)arg, sizeof(op)))
		return -EFAULT;
	if (op.len > FLOOR_MAX)
		return -E2BIG;
	switch (cmd) {
	case FLOOR_COPY:
		return copy_in(buf, op.src, op.len) ?:
		       copy_out(op.dst, buf, op.len);
	case FLOOR_RAW:
		return cdev_copy_in(buf, op.src, op.len) ?:
		       cdev_copy_out(op.dst, buf, op.len);
	case FLOOR_COPY_IN:
		return copy_in(buf, op.src, op.len);
	case FLOOR_COPY_OUT:
		return copy_out(op.dst, buf, op.len);
	case FLOOR_RAW_IN:
		return cdev_copy_in(buf, op.src, op.len);
	case FLOOR_RAW_OUT:
		return cdev_copy_out(op.dst, buf, op.len);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations floor_fops = {
	.owner		= THIS_MODULE,
	.open		= floor_open,
	.release	= floor_release,
	.unlocked_ioctl	= floor_ioctl,
};

static struct miscdevice floor_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "bench_floor",
	.fops	= &floor_fops,
	.mode	= 0600,
};

module_misc_device(floor_misc);

MODULE_DESCRIPTION("OCF for Linux: the floor under the budgets");
MODULE_LICENSE("GPL");
