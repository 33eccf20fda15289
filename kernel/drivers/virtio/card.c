// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a card: it is probed, registered with the core, fails, is reset,
 * and removed.
 *
 * A reset of a virtio device waits for the device, for ever if it does not
 * answer.  So a worker does it, and only remove() waits for the worker longer
 * than a second.  Until the reset has ended, the memory that the card knows is
 * not freed.
 */
#include <linux/cpumask.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "virtio.h"

#define SGS_DIRECT	4	/* descriptors of a request without indirect */

/**
 * vcrypt_card_fail() - report that a card does not work
 * @card: the card
 * @why: the reason, for the log
 *
 * Context: process or BH, no lock held.
 */
void vcrypt_card_fail(struct vcrypt_card *card, const char *why)
{
	struct ocf_device *dev = READ_ONCE(card->dev);

	dev_warn_ratelimited(&card->vdev->dev, "%s\n", why);
	if (dev)
		ocf_device_fail(dev);
}

/* The card has answered an order for which no task waits any more. */
void vcrypt_card_revive(struct vcrypt_card *card)
{
	struct ocf_device *dev = READ_ONCE(card->dev);

	if (dev)
		ocf_device_revive(dev);
}

/* What the core calls ------------------------------------------------------ */

static bool card_capable(struct ocf_device *dev,
			 const struct ocf_session_params *p)
{
	return vcrypt_alg_fits(vcrypt_card_of(dev), p);
}

static int card_ctx_init(struct ocf_context *ctx,
			 const struct ocf_session_params *p)
{
	vcrypt_control_claim(vcrypt_card_of(ctx->dev), ctx->dev);
	return vcrypt_session_make_all(ctx, p);
}

static void reset_work(struct work_struct *work)
{
	struct vcrypt_card *card =
		container_of(work, struct vcrypt_card, reset);

	virtio_reset_device(card->vdev);
	complete(&card->reset_done);
	if (READ_ONCE(card->left_over))
		queue_work(system_long_wq, &card->config);
}

/*
 * Whether the card is off its bus.  If all its registers read ones, that is no
 * proof: a faulty card may do so for a moment, and go on writing to memory.
 */
static bool is_gone(struct vcrypt_card *card)
{
	struct device *parent = card->vdev->dev.parent;

	return parent && dev_is_pci(parent) &&
	       !pci_device_is_present(to_pci_dev(parent));
}

/* 0 if the card cannot access our memory any more */
static int reset_in_time(struct vcrypt_card *card)
{
	lockdep_assert_held(&card->life);
	if (!card->resetting && is_gone(card)) {
		card->gone = true;
		return 0;
	}
	if (!card->resetting) {
		card->resetting = true;
		reinit_completion(&card->reset_done);
		queue_work(system_unbound_wq, &card->reset);
	}
	if (!wait_for_completion_timeout(&card->reset_done,
					 msecs_to_jiffies(RESET_MS)))
		return -ETIMEDOUT;
	card->resetting = false;
	card->gone = false;
	return 0;
}

/* The card may be back on the bus, without having been reset. */
static int reset_what_was_gone(struct vcrypt_card *card)
{
	lockdep_assert_held(&card->life);
	if (!card->gone)
		return 0;
	return reset_in_time(card) ?: card->gone ? -ENODEV : 0;
}

/*
 * Takes back the slots that the card has, and has it forget our keys, if it
 * answers.
 */
static void say_goodbye(struct vcrypt_card *card)
{
	wait_event_timeout(card->idle, READ_ONCE(card->nfree) == card->depth,
			   msecs_to_jiffies(DRAIN_MS));
	vcrypt_session_drop_everybodys(card);
	vcrypt_rsa_sessions_drop(card);
	vcrypt_control_settle(card);
}

/*
 * Stops the card: afterwards it gets no requests, and its answers are ignored.
 * Returns 0, or an errno if the card may go on writing to the slots.
 */
static int stop(struct vcrypt_card *card)
{
	int err;

	lockdep_assert_held(&card->life);
	if (!card->ready)
		return 0;
	vcrypt_queues_stop(card);
	if (card->awake)
		say_goodbye(card);
	vcrypt_control_stop(card);
	card->awake = false;
	err = reset_in_time(card);
	vcrypt_queues_mute(card);
	vcrypt_control_mute(card);
	vcrypt_session_forget_everybodys(card);
	if (!err) {
		vcrypt_queues_reclaim(card);
		vcrypt_control_reclaim(card);
	}
	/*
	 * a task that waits for a key's session has been woken, or is about to
	 * be
	 */
	vcrypt_rsa_sessions_forget(card);
	if (err)
		return err;
	card->vdev->config->del_vqs(card->vdev);
	card->ready = false;
	return 0;
}

static int card_quiesce(struct ocf_device *dev)
{
	struct vcrypt_card *card = vcrypt_card_of(dev);
	int err;

	mutex_lock(&card->life);
	err = stop(card);
	mutex_unlock(&card->life);
	/* no work is left that could report a failure to the core */
	WRITE_ONCE(card->dev, NULL);
	return err;
}

/* Finds its rings, 5.9.2: data queues, and the control queue after them */
static int find_queues(struct vcrypt_card *card)
{
	struct virtqueue_info *info;
	struct virtqueue **vqs;
	unsigned int i;
	int err = -ENOMEM;

	info = kcalloc(card->total + 1, sizeof(*info), GFP_KERNEL);
	vqs = kcalloc(card->total + 1, sizeof(*vqs), GFP_KERNEL);
	if (!info || !vqs)
		goto out;
	for (i = 0; i < card->total; i++) {
		info[i].name = "data";
		if (i < card->nqueues)
			info[i].callback = vcrypt_queue_interrupt;
	}
	info[i].name = "control";
	info[i].callback = vcrypt_control_interrupt;
	err = virtio_find_vqs(card->vdev, card->total + 1, vqs, info, NULL);
	if (!err) {
		vcrypt_queues_set(card, vqs);
		vcrypt_control_set(card, vqs[card->total]);
		card->ready = true;
	}
out:
	kfree(vqs);
	kfree(info);
	return err;
}

static bool hardware_ready(struct vcrypt_card *card)
{
	u32 status;

	virtio_cread_le(card->vdev, struct virtio_crypto_config, status,
			&status);
	return status & VIRTIO_CRYPTO_S_HW_READY;
}

/* 2.1.2; a status of all ones means nothing */
static bool needs_reset(struct vcrypt_card *card)
{
	u8 status = card->vdev->config->get_status(card->vdev);

	return status != 0xff && status & VIRTIO_CONFIG_S_NEEDS_RESET;
}

static void card_wants_reset(struct vcrypt_card *card)
{
	struct ocf_device *dev = READ_ONCE(card->dev);

	dev_warn_ratelimited(&card->vdev->dev, "asks for a reset\n");
	if (dev)
		ocf_device_needs_reset(dev);
}

/* Lets requests enter, if the card is ready for them: 5.9.4.2 */
static int start(struct vcrypt_card *card)
{
	lockdep_assert_held(&card->life);
	if (!hardware_ready(card))
		return -EAGAIN;
	vcrypt_control_start(card);
	vcrypt_queues_start(card);
	card->awake = true;
	return 0;
}

/* Sets the card up as after a reset: 3.1.1, steps 2 to 6 */
static int negotiate(struct virtio_device *vdev)
{
	int err;

	virtio_add_status(vdev, VIRTIO_CONFIG_S_ACKNOWLEDGE);
	virtio_add_status(vdev, VIRTIO_CONFIG_S_DRIVER);
	err = vdev->config->finalize_features(vdev);
	if (err)
		return err;
	virtio_add_status(vdev, VIRTIO_CONFIG_S_FEATURES_OK);
	return vdev->config->get_status(vdev) & VIRTIO_CONFIG_S_FEATURES_OK ?
	       0 : -EIO;
}

static int restart(struct vcrypt_card *card)
{
	int err;

	lockdep_assert_held(&card->life);
	err = stop(card) ?: reset_what_was_gone(card) ?:
	      negotiate(card->vdev) ?: find_queues(card);
	if (err)
		return err;
	virtio_device_ready(card->vdev);
	return start(card);
}

static int card_reset(struct ocf_device *dev)
{
	struct vcrypt_card *card = vcrypt_card_of(dev);
	int err;

	mutex_lock(&card->life);
	err = restart(card);
	mutex_unlock(&card->life);
	return err;
}

static const struct ocf_device_ops card_ops = {
	.capable = card_capable,
	.ctx_init = card_ctx_init,
	.ctx_exit = vcrypt_session_drop_all,
	.submit = vcrypt_queue_submit,
	.kick = vcrypt_queue_kick,
	.nudge = vcrypt_queue_nudge,
	.detach = vcrypt_queue_detach,
	.quiesce = card_quiesce,
	.reset = card_reset,
};

/* What the bus calls ------------------------------------------------------- */

static void read_limits(struct vcrypt_card *card)
{
	struct virtio_device *vdev = card->vdev;
	struct vcrypt_limits *l = &card->limits;
	u32 low, high;

	virtio_cread_le(vdev, struct virtio_crypto_config, max_dataqueues,
			&card->total);
	card->total = max(card->total, 1);
	virtio_cread_le(vdev, struct virtio_crypto_config, crypto_services,
			&l->services);
	virtio_cread_le(vdev, struct virtio_crypto_config, cipher_algo_l, &low);
	virtio_cread_le(vdev, struct virtio_crypto_config, cipher_algo_h,
			&high);
	l->ciphers = (u64)high << 32 | low;
	virtio_cread_le(vdev, struct virtio_crypto_config, hash_algo,
			&l->hashes);
	virtio_cread_le(vdev, struct virtio_crypto_config, mac_algo_l, &low);
	virtio_cread_le(vdev, struct virtio_crypto_config, mac_algo_h, &high);
	l->macs = (u64)high << 32 | low;
	virtio_cread_le(vdev, struct virtio_crypto_config, max_cipher_key_len,
			&l->cipher_key);
	virtio_cread_le(vdev, struct virtio_crypto_config, max_auth_key_len,
			&l->mac_key);
	virtio_cread_le(vdev, struct virtio_crypto_config, max_size, &l->size);
	if (l->services & BIT(VIRTIO_CRYPTO_SERVICE_AKCIPHER))
		virtio_cread_le(vdev, struct virtio_crypto_config,
				akcipher_algo, &l->akciphers);
}

/*
 * Limits requests to what the ring and the card take.  The card's @max_size
 * must hold IV, source, destination and MAC (5.9.4).
 */
static int fit(struct vcrypt_card *card)
{
	unsigned int room = virtqueue_get_vring_size(card->queues[0].vq), i;
	u64 size = card->limits.size;

	for (i = 1; i < card->nqueues; i++)
		room = min(room, virtqueue_get_vring_size(card->queues[i].vq));
	if (!virtio_has_feature(card->vdev, VIRTIO_RING_F_INDIRECT_DESC))
		room /= SGS_DIRECT;
	if (!room || size < OCF_IV_MAX + 2 * PAGE_SIZE + OCF_TAG_MAX)
		return -EINVAL;
	size = (size - OCF_IV_MAX - OCF_TAG_MAX) / 2;
	card->depth = min(ocf_virtio_depth, room);
	card->buffer = min_t(u64, ocf_virtio_buffer,
			     rounddown_pow_of_two(min_t(u64, size, SZ_1G)));
	return 0;
}

static int offer(struct vcrypt_card *card)
{
	struct ocf_device_info info = {
		.name = "virtio",
		.owner = THIS_MODULE,
		.ops = &card_ops,
		.parent = &card->vdev->dev,
		.priv = card,
		.kind = OCF_KIND_HARDWARE,
		.depth = card->depth,
		.ctx_size = sizeof(struct vcrypt_context),
		.max_len = card->buffer,
		.patience = ocf_virtio_patience,
	};
	struct ocf_device *dev;

	vcrypt_alg_offer(card, &info);
	vcrypt_akcipher_offer(card, &info);
	if (!info.modes && !info.pk)
		return -ENODEV;
	WRITE_ONCE(card->ending, false);
	dev = ocf_device_register(&info);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	card->registered = dev;
	return 0;
}

static void wake_up_card(struct vcrypt_card *card)
{
	int err;

	if (card->registered) {
		vcrypt_card_revive(card);
		return;
	}
	err = offer(card);
	if (err)
		dev_err(&card->vdev->dev, "not used: %d\n", err);
}

/*
 * Starts a card that was left over, after its reset.  Returns whether the card
 * is ready.
 */
static bool begin_anew(struct vcrypt_card *card)
{
	int err = restart(card);

	/* it may not be ready yet, like a new card */
	card->left_over = err && err != -EAGAIN;
	return !err;
}

/*
 * The card may have changed its ready status.  This does not run while the card
 * is being probed or removed: the bus delays such changes, and remove() waits.
 */
static void config_work(struct work_struct *work)
{
	struct vcrypt_card *card =
		container_of(work, struct vcrypt_card, config);
	bool was, is, broken;

	mutex_lock(&card->life);
	broken = card->ready && needs_reset(card);
	was = card->awake;
	is = was;
	if (card->left_over) {
		is = begin_anew(card);
	} else if (card->ready && !was) {
		is = !start(card);
	} else if (card->ready && !hardware_ready(card)) {
		/* 5.9.4.2: the driver must not send requests now */
		vcrypt_queues_stop(card);
		vcrypt_control_stop(card);
		card->awake = false;
		is = false;
	}
	mutex_unlock(&card->life);
	if (broken)
		card_wants_reset(card);
	else if (was && !is)
		vcrypt_card_fail(card, "not ready any more");
	else if (is && !was)
		wake_up_card(card);
}

void vcrypt_card_config_changed(struct virtio_device *vdev)
{
	struct vcrypt_card *card = vdev->priv;

	queue_work(system_long_wq, &card->config);
}

static struct vcrypt_card *alloc(struct virtio_device *vdev)
{
	struct vcrypt_card *card = kzalloc(sizeof(*card), GFP_KERNEL);

	if (!card)
		return NULL;
	card->vdev = vdev;
	vdev->priv = card;
	mutex_init(&card->life);
	mutex_init(&card->contexts_lock);
	INIT_LIST_HEAD(&card->contexts);
	vcrypt_rsa_sessions_init(card);
	vcrypt_control_init(card);
	spin_lock_init(&card->slots_lock);
	INIT_LIST_HEAD(&card->free);
	init_waitqueue_head(&card->idle);
	INIT_WORK(&card->config, config_work);
	INIT_WORK(&card->reset, reset_work);
	init_completion(&card->reset_done);
	read_limits(card);
	return card;
}

/*
 * Stops what has not been stopped yet, however long that takes.  Afterwards the
 * bus unmaps the registers that the worker of a reset uses.
 */
static void take_down(struct vcrypt_card *card)
{
	mutex_lock(&card->life);
	while (stop(card) == -ETIMEDOUT)
		dev_warn_ratelimited(&card->vdev->dev,
				     "does not answer a reset\n");
	mutex_unlock(&card->life);
	flush_work(&card->reset);
	cancel_work_sync(&card->config);
	vcrypt_rsa_sessions_exit(card);
	vcrypt_room_exit(card);
	vcrypt_control_exit(card);
	vcrypt_queues_free(card);
	vcrypt_slots_free(card);
	mutex_destroy(&card->contexts_lock);
	mutex_destroy(&card->life);
	card->vdev->priv = NULL;
	kfree(card);
}

static int set_up(struct vcrypt_card *card)
{
	int err;

	if (card->total > QUEUES_MAX)
		return -E2BIG;
	err = vcrypt_queues_alloc(card, min(card->total, num_online_cpus())) ?:
		      find_queues(card)					     ?:
		      fit(card)						     ?:
		      vcrypt_slots_alloc(card);
	if (!err)
		virtio_device_ready(card->vdev);
	return err;
}

int vcrypt_card_probe(struct virtio_device *vdev)
{
	struct vcrypt_card *card;
	int err;

	if (!virtio_has_feature(vdev, VIRTIO_F_VERSION_1) ||
	    !vdev->config->get)
		return -ENODEV;
	card = alloc(vdev);
	if (!card)
		return -ENOMEM;
	mutex_lock(&card->life);
	err = set_up(card) ?: start(card);
	mutex_unlock(&card->life);
	if (!err)
		err = offer(card);
	else if (err == -EAGAIN)
		err = 0;	/* config_work() goes on when it is ready */
	if (err)
		take_down(card);
	return err;
}

void vcrypt_card_remove(struct virtio_device *vdev)
{
	struct vcrypt_card *card = vdev->priv;

	/* the card could not be restored after a sleep */
	if (!card)
		return;
	WRITE_ONCE(card->left_over, false);
	cancel_work_sync(&card->config);
	vcrypt_control_end(card);
	ocf_device_unregister(card->registered);
	take_down(card);
}

/*
 * If a card does not end its reset, this fails, and the machine does not sleep.
 * The card keeps its memory, and is registered again when its reset has ended.
 */
int vcrypt_card_freeze(struct virtio_device *vdev)
{
	struct vcrypt_card *card = vdev->priv;
	int err;

	if (!card)
		return 0;
	WRITE_ONCE(card->left_over, false);
	cancel_work_sync(&card->config);
	vcrypt_control_end(card);
	ocf_device_unregister(card->registered);
	card->registered = NULL;
	mutex_lock(&card->life);
	/* from here on the worker of a reset may end the reset */
	WRITE_ONCE(card->left_over, true);
	err = stop(card);
	WRITE_ONCE(card->left_over, err);
	mutex_unlock(&card->life);
	if (!err)
		take_down(card);
	return err;
}
