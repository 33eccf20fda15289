// SPDX-License-Identifier: GPL-2.0-only
/*
 * A virtio-crypto card inside the kernel, with faults that QEMU's cannot have
 * on demand: registers that read all ones, a reset that does not end, a control
 * queue without answers.  It can also forget its sessions, and its max_size can
 * be set.
 *
 * It has SHA-256, and RSA of a number with public keys (VIRTIO 1.2, 5.9; the
 * service AKCIPHER as in <linux/virtio_crypto.h>).  Parameters are its knobs.
 *
 * With rng=1 it is an entropy device instead (5.4), which lies about lengths.
 */
#include <crypto/internal/rsa.h>
#include <crypto/sha2.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/mpi.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/virtio.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <uapi/linux/virtio_crypto.h>
#include <uapi/linux/virtio_ids.h>

#define QUEUES		2	/* data, and control after it */
#define CONTROL		1
#define RING		64	/* descriptors of a queue */
#define PIECES		4	/* of a request, no more */

/**
 * struct ring - the card's side of a queue
 * @vq: the queue; NULL if there is none
 * @seen: requests that were taken from it
 * @done: that were answered
 */
struct ring {
	struct virtqueue	*vq;
	u16			seen, done;
};

/* A request: pieces to read, then pieces to write. */
struct request {
	u16		head;
	unsigned int	count, out;
	struct {
		u8	*data;
		u32	len;
	} piece[PIECES];
};

/* A session; without a key it is for SHA-256. */
struct session {
	MPI	n, e;
};

/**
 * struct vcard - the card
 * @vdev: on the bus
 * @parent: where it hangs there
 * @lock: protects what follows
 * @status: the device status, 2.1
 * @ring: its queues
 * @sessions: by id
 * @next: the id to look for a free one from
 * @work: does what there is to do
 */
static struct vcard {
	struct virtio_device	vdev;
	struct device		*parent;
	struct mutex		lock;
	u8			status;
	struct ring		ring[QUEUES];
	struct xarray		sessions;
	u32			next;
	struct work_struct	work;
} card;

/* Knobs ------------------------------------------------------------------- */

static bool gone, hang, broken;
static unsigned int refuse, pace;

module_param(gone, bool, 0644);
MODULE_PARM_DESC(gone, "the device status reads all ones; resets do not end");
module_param(hang, bool, 0644);
MODULE_PARM_DESC(hang, "resets do not end");
module_param(refuse, uint, 0644);
MODULE_PARM_DESC(refuse, "RSA keys of so many bytes are refused with ERR");
module_param(pace, uint, 0644);
MODULE_PARM_DESC(pace, "ms between answers to the control queue");

static bool rng;
static unsigned int excess;

module_param(rng, bool, 0444);
MODULE_PARM_DESC(rng, "an entropy device");
module_param(excess, uint, 0644);
MODULE_PARM_DESC(excess, "bytes it says it has written beyond its buffer");

static unsigned long long max_size = U64_MAX;
module_param(max_size, ullong, 0444);
MODULE_PARM_DESC(max_size, "what the configuration says");

static int work_set(const char *text, const struct kernel_param *kp)
{
	int err = param_set_bool(text, kp);

	if (!err && card.parent)
		schedule_work(&card.work);
	return err;
}

static const struct kernel_param_ops work_ops = {
	.set = work_set,
	.get = param_get_bool,
};

static bool stall_data, stall_control;
module_param_cb(stall_data, &work_ops, &stall_data, 0644);
MODULE_PARM_DESC(stall_data, "the data queue is not answered");
module_param_cb(stall_control, &work_ops, &stall_control, 0644);
MODULE_PARM_DESC(stall_control, "the control queue is not answered");

/* Knobs whose change raises a configuration interrupt */
static int config_set(const char *text, const struct kernel_param *kp)
{
	int err = param_set_bool(text, kp);

	if (!err && card.parent)
		virtio_config_changed(&card.vdev);
	return err;
}

static const struct kernel_param_ops config_ops = {
	.set = config_set,
	.get = param_get_bool,
};

static bool ready = true; module_param_cb(ready, &config_ops, &ready, 0644);
MODULE_PARM_DESC(ready, "HW_READY of the configuration");
module_param_cb(broken, &config_ops, &broken, 0644); MODULE_PARM_DESC(broken,
"the status has DEVICE_NEEDS_RESET until the next reset");

#ifdef CONFIG_PM_SLEEP
/* As the bus does when the machine goes to sleep and comes back */
static int asleep_set(const char *text, const struct kernel_param *kp)
{
	bool asleep;
	int err = kstrtobool(text, &asleep);

	if (err)
		return err;
	return asleep ? virtio_device_freeze(&card.vdev) :
			virtio_device_restore(&card.vdev);
}

static const struct kernel_param_ops asleep_ops = { .set = asleep_set };
module_param_cb(asleep, &asleep_ops, NULL, 0200);
MODULE_PARM_DESC(asleep, "1: suspends the card; 0: resumes it");
#endif

static void forget(void);

static int forget_set(const char *text, const struct kernel_param *kp)
{
	mutex_lock(&card.lock);
	forget();
	mutex_unlock(&card.lock);
	return 0;
}

static int sessions_get(char *buf, const struct kernel_param *kp)
{
	struct session *s;
	unsigned long id;
	int n = 0;

	mutex_lock(&card.lock);
	xa_for_each(&card.sessions, id, s)
		n++;
	mutex_unlock(&card.lock);
	return sysfs_emit(buf, "%d\n", n);
}

static const struct kernel_param_ops sessions_ops = {
	.set = forget_set,
	.get = sessions_get,
};
module_param_cb(sessions, &sessions_ops, NULL, 0644);
MODULE_PARM_DESC(sessions, "how many it has; writing forgets them");

/* Sessions ---------------------------------------------------------------- */

static void free_session(struct session *s)
{
	if (!s)
		return;
	mpi_free(s->n);
	mpi_free(s->e);
	kfree(s);
}

static void forget(void)
{
	struct session *s;
	unsigned long id;

	lockdep_assert_held(&card.lock);
	xa_for_each(&card.sessions, id, s)
		free_session(xa_erase(&card.sessions, id));
}

static u32 read_key(struct session *s,
		    const struct virtio_crypto_akcipher_session_para *para,
		    const u8 *der)
{
	struct rsa_key key = {};

	if (para->keytype !=
		    cpu_to_le32(VIRTIO_CRYPTO_AKCIPHER_KEY_TYPE_PUBLIC) ||
	    para->u.rsa.padding_algo !=
		    cpu_to_le32(VIRTIO_CRYPTO_RSA_RAW_PADDING))
		return VIRTIO_CRYPTO_NOTSUPP;
	if (rsa_parse_pub_key(&key, der, le32_to_cpu(para->keylen)) ||
	    key.n_sz - !key.n[0] == refuse)
		return VIRTIO_CRYPTO_ERR;
	s->n = mpi_read_raw_data(key.n, key.n_sz);
	s->e = mpi_read_raw_data(key.e, key.e_sz);
	return s->n && s->e ? VIRTIO_CRYPTO_OK : VIRTIO_CRYPTO_ERR;
}

static u32 create(const struct virtio_crypto_op_ctrl_req *req, u32 *id)
{
	struct session *s = kzalloc(sizeof(*s), GFP_KERNEL);
	u32 status = VIRTIO_CRYPTO_NOTSUPP;

	if (!s)
		return VIRTIO_CRYPTO_ERR;
	if (req->header.opcode ==
	    cpu_to_le32(VIRTIO_CRYPTO_AKCIPHER_CREATE_SESSION))
		status = read_key(s, &req->u.akcipher_create_session.para,
				  (const u8 *)(req + 1));
	else if (req->u.hash_create_session.para.algo ==
		 cpu_to_le32(VIRTIO_CRYPTO_HASH_SHA_256))
		status = VIRTIO_CRYPTO_OK;
	if (!status && xa_alloc_cyclic(&card.sessions, id, s, xa_limit_31b,
				       &card.next, GFP_KERNEL) < 0)
		status = VIRTIO_CRYPTO_ERR;
	if (status)
		free_session(s);
	return status;
}

static u32 control(struct request *r)
{
	struct virtio_crypto_op_ctrl_req *req = (void *)r->piece[0].data;
	struct virtio_crypto_session_input *in = (void *)r->piece[1].data;
	u32 id = 0, opcode = le32_to_cpu(req->header.opcode);

	switch (opcode) {
	case VIRTIO_CRYPTO_HASH_DESTROY_SESSION:
	case VIRTIO_CRYPTO_AKCIPHER_DESTROY_SESSION:
		id = le64_to_cpu(req->u.destroy_session.session_id);
		free_session(xa_erase(&card.sessions, id));
		r->piece[1].data[0] = VIRTIO_CRYPTO_OK;
		return sizeof(struct virtio_crypto_inhdr);
	}
	in->status = cpu_to_le32(create(req, &id));
	in->session_id = cpu_to_le64(id);
	return sizeof(*in);
}

/* Work -------------------------------------------------------------------- */

static u32 hash(struct request *r, u8 *status)
{
	u8 *out = r->piece[r->count - 1].data;
	bool some = r->out > 1;

	sha256(some ? r->piece[1].data : NULL, some ? r->piece[1].len : 0, out);
	*status = VIRTIO_CRYPTO_OK;
	return SHA256_DIGEST_SIZE + sizeof(*status);
}

/*
 * Writes x^e mod n without leading zeros.  Return: bytes written, with the
 * status.
 */
static u32 power(struct request *r, const struct session *s, u8 *status)
{
	MPI x = mpi_read_raw_data(r->piece[1].data, r->piece[1].len);
	MPI y = mpi_alloc(0);
	unsigned int made = 0;
	int sign;

	if (x && y && !mpi_powm(y, x, s->e, s->n) &&
	    !mpi_read_buffer(y, r->piece[2].data, r->piece[2].len, &made,
			     &sign))
		*status = VIRTIO_CRYPTO_OK;
	mpi_free(x);
	mpi_free(y);
	return made + sizeof(*status);
}

static u32 data(struct request *r)
{
	struct virtio_crypto_op_data_req *req = (void *)r->piece[0].data;
	u8 *status = r->piece[r->count - 1].data + r->piece[r->count - 1].len -
		     1;
	struct session *s;

	s = xa_load(&card.sessions, le64_to_cpu(req->header.session_id));
	*status = s ? VIRTIO_CRYPTO_ERR : VIRTIO_CRYPTO_INVSESS;
	if (!s)
		return sizeof(*status);
	if (!s->n)
		return hash(r, status);
	if (req->header.opcode != cpu_to_le32(VIRTIO_CRYPTO_AKCIPHER_ENCRYPT))
		return sizeof(*status);
	return power(r, s, status);
}

static u32 entropy(struct request *r)
{
	get_random_bytes(r->piece[0].data, r->piece[0].len);
	return r->piece[0].len + excess;
}

/* Addresses are physical, of the kernel's memory: no ACCESS_PLATFORM. */
static bool next(struct ring *ring, struct request *r)
{
	const struct vring *v = virtqueue_get_vring(ring->vq);
	struct virtio_device *vdev = &card.vdev;
	u16 at, flags, place = ring->seen % v->num;

	if (ring->seen == virtio16_to_cpu(vdev, READ_ONCE(v->avail->idx)))
		return false;
	virt_rmb();
	*r = (struct request){};
	r->head = virtio16_to_cpu(vdev, v->avail->ring[place]);
	ring->seen++;
	at = r->head;
	do {
		flags = virtio16_to_cpu(vdev, v->desc[at].flags);
		r->out += !(flags & VRING_DESC_F_WRITE);
		r->piece[r->count].data =
			phys_to_virt(virtio64_to_cpu(vdev, v->desc[at].addr));
		r->piece[r->count++].len =
			virtio32_to_cpu(vdev, v->desc[at].len);
		at = virtio16_to_cpu(vdev, v->desc[at].next);
	} while (flags & VRING_DESC_F_NEXT && r->count < PIECES);
	return true;
}

static void push(struct ring *ring, const struct request *r, u32 len)
{
	const struct vring *v = virtqueue_get_vring(ring->vq);
	struct virtio_device *vdev = &card.vdev;
	vring_used_elem_t *used = &v->used->ring[ring->done++ % v->num];

	used->id = cpu_to_virtio32(vdev, r->head);
	used->len = cpu_to_virtio32(vdev, len);
	virt_wmb();
	WRITE_ONCE(v->used->idx, cpu_to_virtio16(vdev, ring->done));
}

/* Answers @most requests; whether there may be more. */
static bool serve(struct ring *ring, u32 (*fn)(struct request *r),
		  unsigned int most)
{
	unsigned int left = most;
	struct request r;

	lockdep_assert_held(&card.lock);
	while (left && ring->vq && next(ring, &r)) {
		push(ring, &r, fn(&r));
		left--;
	}
	if (left < most)
		vring_interrupt(0, ring->vq);
	return !left;
}

static void work(struct work_struct *unused)
{
	unsigned int ms = READ_ONCE(pace);
	bool more = false;

	if (ms)
		msleep(ms);
	mutex_lock(&card.lock);
	if (!gone && !stall_control)
		more = serve(&card.ring[CONTROL], control, ms ? 1 : UINT_MAX);
	if (!gone && !stall_data)
		serve(&card.ring[0], rng ? entropy : data, UINT_MAX);
	mutex_unlock(&card.lock);
	if (more)
		schedule_work(&card.work);
}

/* The bus ----------------------------------------------------------------- */

static bool notify(struct virtqueue *vq)
{
	schedule_work(&card.work);
	return true;
}

static void vcard_get(struct virtio_device *vdev, unsigned int offset,
		      void *buf, unsigned int len)
{
	struct virtio_crypto_config config = {
		.status = cpu_to_le32(ready ? VIRTIO_CRYPTO_S_HW_READY : 0),
		.max_dataqueues = cpu_to_le32(1),
		.crypto_services =
			cpu_to_le32(BIT(VIRTIO_CRYPTO_SERVICE_HASH) |
				    BIT(VIRTIO_CRYPTO_SERVICE_AKCIPHER)),
		.hash_algo = cpu_to_le32(BIT(VIRTIO_CRYPTO_HASH_SHA_256)),
		.akcipher_algo = cpu_to_le32(BIT(VIRTIO_CRYPTO_AKCIPHER_RSA)),
		.max_size = cpu_to_le64(max_size),
	};

	memcpy(buf, (u8 *)&config + offset, len);
}

static u8 vcard_get_status(struct virtio_device *vdev)
{
	if (gone)
		return 0xff;
	return card.status | (broken ? VIRTIO_CONFIG_S_NEEDS_RESET : 0);
}

static void vcard_set_status(struct virtio_device *vdev, u8 status)
{
	card.status = status;
}

/* Waits as long as the reset takes, as a real bus does. */
static void vcard_reset(struct virtio_device *vdev)
{
	while (READ_ONCE(gone) || READ_ONCE(hang))
		msleep(20);
	mutex_lock(&card.lock);
	card.status = 0;
	broken = false;
	card.ring[0] = card.ring[CONTROL] = (struct ring){};
	forget();
	mutex_unlock(&card.lock);
}

static void vcard_del_vqs(struct virtio_device *vdev)
{
	struct virtqueue *vq, *more;

	mutex_lock(&card.lock);
	card.ring[0] = card.ring[CONTROL] = (struct ring){};
	mutex_unlock(&card.lock);
	list_for_each_entry_safe(vq, more, &vdev->vqs, list)
		vring_del_virtqueue(vq);
}

static int vcard_find_vqs(struct virtio_device *vdev, unsigned int n,
			  struct virtqueue *vqs[],
			  struct virtqueue_info info[], struct irq_affinity *a)
{
	unsigned int i;

	if (n != (rng ? 1 : QUEUES))
		return -EINVAL;
	for (i = 0; i < n; i++) {
		vqs[i] = vring_create_virtqueue(i, RING, PAGE_SIZE, vdev, true,
						false, false, notify,
						info[i].callback, info[i].name);
		if (!vqs[i]) {
			vcard_del_vqs(vdev);
			return -ENOMEM;
		}
	}
	mutex_lock(&card.lock);
	for (i = 0; i < n; i++)
		card.ring[i] = (struct ring){ .vq = vqs[i] };
	mutex_unlock(&card.lock);
	return 0;
}

static u64 vcard_get_features(struct virtio_device *vdev)
{
	return BIT_ULL(VIRTIO_F_VERSION_1);
}

static int vcard_finalize_features(struct virtio_device *vdev)
{
	return 0;
}

static const struct virtio_config_ops vcard_ops = {
	.get = vcard_get,
	.get_status = vcard_get_status,
	.set_status = vcard_set_status,
	.reset = vcard_reset,
	.find_vqs = vcard_find_vqs,
	.del_vqs = vcard_del_vqs,
	.get_features = vcard_get_features,
	.finalize_features = vcard_finalize_features,
};

/* It is static: there is nothing to free. */
static void release(struct device *d)
{
}

static int __init vcard_init(void)
{
	int err;

	mutex_init(&card.lock);
	xa_init_flags(&card.sessions, XA_FLAGS_ALLOC);
	INIT_WORK(&card.work, work);
	card.parent = root_device_register("ocf_vcard");
	if (IS_ERR(card.parent))
		return PTR_ERR(card.parent);
	card.vdev.id.device = rng ? VIRTIO_ID_RNG : VIRTIO_ID_CRYPTO;
	card.vdev.config = &vcard_ops;
	card.vdev.dev.parent = card.parent;
	card.vdev.dev.release = release;
	err = register_virtio_device(&card.vdev);
	if (err)
		root_device_unregister(card.parent);
	return err;
}

static void __exit vcard_exit(void)
{
	unregister_virtio_device(&card.vdev);
	cancel_work_sync(&card.work);
	root_device_unregister(card.parent);
	forget_set(NULL, NULL);
	xa_destroy(&card.sessions);
}

module_init(vcard_init);
module_exit(vcard_exit);

MODULE_DESCRIPTION("OCF for Linux: a virtio-crypto card for tests");
MODULE_LICENSE("GPL");
