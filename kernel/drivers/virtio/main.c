// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: parameters, counters, and the driver on the bus.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/sysfs.h>

#include "virtio.h"

#define DEPTH_MAX	1024
#define BUFFER_MAX	SZ_4M
#define PATIENCE_MIN	100	/* ms */
#define PATIENCE_MAX	60000

unsigned int ocf_virtio_depth = 64;
module_param_named(depth, ocf_virtio_depth, uint, 0444);
MODULE_PARM_DESC(depth, "requests a card gets at a time, 1 to 1024");

unsigned int ocf_virtio_buffer = SZ_64K;
module_param_named(buffer, ocf_virtio_buffer, uint, 0444);
MODULE_PARM_DESC(buffer, "bytes a request may have, a power of two from 4096 to 4194304");

unsigned int ocf_virtio_patience = 1000;
module_param_named(patience, ocf_virtio_patience, uint, 0444);
MODULE_PARM_DESC(patience, "ms a card has to answer, 100 to 60000");

static bool takeover = true;
static bool loaded;

/*
 * If the parameter is set to Y at run time, this returns 0 only if all cards
 * were taken over.
 */
static int takeover_set(const char *text, const struct kernel_param *kp)
{
	int err = param_set_bool(text, kp);

	return err || !takeover || !READ_ONCE(loaded) ? err :
							vcrypt_takeover_all();
}

static const struct kernel_param_ops takeover_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = takeover_set,
	.get = param_get_bool,
};
module_param_cb(takeover, &takeover_ops, &takeover, 0644);
MODULE_PARM_DESC(takeover, "take cards over from Linux's own driver while nothing uses it there");

/* In /sys/bus/virtio/devices/virtioN/card ---------------------------------- */

#define COUNTER(type_)							\
static ssize_t type_##_show(struct device *d,				\
			    struct device_attribute *attr, char *buf)	\
{									\
	struct vcrypt_card *card = dev_to_virtio(d)->priv;		\
									\
	if (!card)							\
		return -ENODEV;						\
	return sysfs_emit(buf, "%u\n", atomic_read(&card->type_));	\
}									\
static OCF_ATTR_PRIVATE(type_)

COUNTER(interrupts);
COUNTER(kicks);
COUNTER(nudges);
COUNTER(late);
COUNTER(wrong);
COUNTER(detached);
COUNTER(keys);

static struct attribute *counters[] = {
	&dev_attr_interrupts.attr,
	&dev_attr_kicks.attr,
	&dev_attr_nudges.attr,
	&dev_attr_late.attr,
	&dev_attr_wrong.attr,
	&dev_attr_detached.attr,
	&dev_attr_keys.attr,
	NULL
};

static const struct attribute_group counter_group = {
	.name = "card",
	.attrs = counters,
};

static const struct attribute_group *counter_groups[] = {
	&counter_group,
	NULL
};

static const struct virtio_device_id ids[] = {
	{ VIRTIO_ID_CRYPTO, VIRTIO_DEV_ANY_ID },
	{ 0 },
};
MODULE_DEVICE_TABLE(virtio, ids);

struct virtio_driver ocf_virtio_driver = {
	.driver = {
		.name = KBUILD_MODNAME,
		.dev_groups = counter_groups,
	},
	.id_table = ids,
	.probe = vcrypt_card_probe,
	.remove = vcrypt_card_remove,
	.config_changed = vcrypt_card_config_changed,
#ifdef CONFIG_PM_SLEEP
	.freeze = vcrypt_card_freeze,
	.restore = vcrypt_card_probe,
#endif
};

static int __init virtio_init(void)
{
	int err;

	if (!ocf_virtio_depth || ocf_virtio_depth > DEPTH_MAX ||
	    ocf_virtio_buffer < SZ_4K || ocf_virtio_buffer > BUFFER_MAX ||
	    !is_power_of_2(ocf_virtio_buffer) ||
	    ocf_virtio_patience < PATIENCE_MIN ||
	    ocf_virtio_patience > PATIENCE_MAX)
		return -EINVAL;
	err = register_virtio_driver(&ocf_virtio_driver);
	if (err)
		return err;
	WRITE_ONCE(loaded, true);
	/* a card that cannot be taken over now is named in the log */
	if (takeover)
		vcrypt_takeover_all();
	return 0;
}

static void __exit virtio_exit(void)
{
	/* the parameter can be written until the module is unloaded */
	kernel_param_lock(THIS_MODULE);
	WRITE_ONCE(loaded, false);
	kernel_param_unlock(THIS_MODULE);
	unregister_virtio_driver(&ocf_virtio_driver);
}

module_init(virtio_init);
module_exit(virtio_exit);

OCF_IMPORT();
MODULE_DESCRIPTION("OCF for Linux: virtio-crypto cards");
MODULE_LICENSE("GPL");
