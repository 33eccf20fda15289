// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtio's entropy device as a source of random numbers (OASIS, Virtual I/O
 * Device 1.2, 5.4).  Linux's own driver gives the bytes to the kernel untested,
 * and counts all of their bits as entropy.  With this driver the core tests
 * them.
 *
 * The driver has one buffer.  It gives the buffer to the device again when all
 * bytes in it were read.
 */
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/ocf_random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/virtio.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ids.h>

#include "../../compat.h"

#define SIZE	256	/* bytes asked for at a time */
/* the status read from a device that is not on the bus */
#define STATUS_GONE	0xff

static unsigned int entropy = 512;
module_param(entropy, uint, 0444);
MODULE_PARM_DESC(entropy,
		 "bits of min-entropy that 1024 bits of the device have, 16 to 1024");

/**
 * struct source - a device
 * @src: registered
 * @vq: its only queue
 * @answered: it has filled the buffer
 * @len: bytes in the buffer, as it says; under @answered
 * @asked: it has the buffer; by the reader
 * @left: bytes in the buffer that were not read; by the reader
 * @data: the buffer, in memory that has nothing else
 */
struct source {
	struct ocf_random	*src;
	struct virtqueue	*vq;
	struct completion	answered;
	unsigned int		len;
	bool			asked;
	unsigned int		left;
	u8			*data;
};

static void answered(struct virtqueue *vq)
{
	struct source *s = vq->vdev->priv;
	unsigned int len;

	if (!virtqueue_get_buf(vq, &len))
		return;
	s->len = len;
	complete(&s->answered);
}

static int ask(struct source *s)
{
	struct scatterlist sg;
	int err;

	sg_init_one(&sg, s->data, SIZE);
	err = virtqueue_add_inbuf(s->vq, &sg, 1, s, GFP_KERNEL);
	if (err)
		return err;
	s->asked = true;
	return virtqueue_kick(s->vq) ? 0 : -EIO;
}

static bool is_answered(struct source *s, bool wait)
{
	struct completion *c = &s->answered;

	return wait ? wait_for_completion_interruptible_timeout(c, HZ) > 0 :
		      try_wait_for_completion(c);
}

static int read_random(void *priv, u8 *buf, u32 len, bool wait)
{
	struct source *s = priv;
	int err;

	if (!s->left) {
		err = s->asked ? 0 : ask(s);
		if (err)
			return err;
		if (!is_answered(s, wait))
			return 0;
		s->asked = false;
		/* a byte at least (5.4.6.2), and no more than it was given */
		if (!s->len || s->len > SIZE)
			return -EIO;
		s->left = s->len;
	}
	len = min(len, s->left);
	memcpy(buf, s->data + s->len - s->left, len);
	s->left -= len;
	return len;
}

static struct source *make_source(void)
{
	struct source *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	init_completion(&s->answered);
	s->data = kmalloc(SIZE, GFP_KERNEL);
	if (s->data)
		return s;
	kfree(s);
	return NULL;
}

static void free_source(struct source *s)
{
	kfree_sensitive(s->data);
	kfree(s);
}

static int probe(struct virtio_device *vdev)
{
	struct ocf_random_info info = {
		.name = "virtio", .parent = &vdev->dev, .entropy = entropy,
		.read_random = read_random,
	};
	struct source *s = make_source();
	int err;

	if (!s)
		return -ENOMEM;
	vdev->priv = s;
	info.priv = s;
	s->vq = virtio_find_single_vq(vdev, answered, "input");
	if (IS_ERR(s->vq)) {
		err = PTR_ERR(s->vq);
		goto free_source;
	}
	virtio_device_ready(vdev);
	s->src = ocf_random_register(&info);
	if (!IS_ERR(s->src))
		return 0;
	err = PTR_ERR(s->src);
	virtio_reset_device(vdev);
	vdev->config->del_vqs(vdev);
free_source:
	vdev->priv = NULL;
	free_source(s);
	return err;
}

static void remove(struct virtio_device *vdev)
{
	struct source *s = vdev->priv;

	/* the device could not be restored after a sleep */
	if (!s)
		return;
	ocf_random_unregister(s->src);
	/*
	 * the reset of a device that is not on the bus any more would never end
	 */
	if (vdev->config->get_status(vdev) != STATUS_GONE)
		virtio_reset_device(vdev);
	vdev->config->del_vqs(vdev);
	vdev->priv = NULL;
	free_source(s);
}

#ifdef CONFIG_PM_SLEEP
static int freeze(struct virtio_device *vdev)
{
	remove(vdev);
	return 0;
}
#endif

static const struct virtio_device_id ids[] = {
	{ VIRTIO_ID_RNG, VIRTIO_DEV_ANY_ID },
	{ 0 },
};
MODULE_DEVICE_TABLE(virtio, ids);

static struct virtio_driver rng_driver = {
	.driver.name = KBUILD_MODNAME,
	.id_table = ids,
	.probe = probe,
	.remove = remove,
#ifdef CONFIG_PM_SLEEP
	.freeze = freeze,
	.restore = probe,
#endif
};
module_virtio_driver(rng_driver);

OCF_IMPORT();
MODULE_DESCRIPTION("OCF for Linux: virtio entropy devices");
MODULE_LICENSE("GPL");
