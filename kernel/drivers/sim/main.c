// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds and removes cards.  Each card is a platform device.  A write to the
 * driver's file "add" makes one, a write to "remove" removes one, and the
 * parameter "cards" makes some when the module is loaded.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sim.h"

#define NAME		"ocf_sim"
#define OPTIONS_MAX	512

static unsigned int cards;
module_param(cards, uint, 0444);
MODULE_PARM_DESC(cards, "cards to begin with, 0 to 64 (0)");

/*
 * Held while a card is added or removed.  So a card's number here is the number
 * that the core gives it, the lowest free one.
 */
static DEFINE_MUTEX(sim_mutex);
static struct platform_device *sim_cards[OCF_DEVICES_MAX];
static bool closing;		/* the module is being unloaded: add no card */
static int probe_error;		/* the driver core drops it */

struct sim_card *sim_card_of(struct device *dev)
{
	return dev_get_drvdata(dev);
}

/* ---- one card ---- */

static const struct ocf_device_ops sim_ops = {
	.ctx_init = sim_ctx_init,
	.ctx_exit = sim_ctx_exit,
	.submit = sim_submit,
	.quiesce = sim_quiesce,
	.reset = sim_reset,
};

/* operations of a card that may go on working when it should have stopped */
static const struct ocf_device_ops sim_bounce_ops = {
	.ctx_init = sim_ctx_init,
	.ctx_exit = sim_ctx_exit,
	.submit = sim_submit,
	.detach = sim_detach,
	.quiesce = sim_quiesce,
	.reset = sim_reset,
};

static struct sim_card *make_card(const struct sim_config *config)
{
	struct sim_card *card;
	int i;

	card = kzalloc(sizeof(*card), GFP_KERNEL);
	if (!card)
		return NULL;
	card->config = *config;
	for (i = 0; i < SIM_FAULTS; i++)
		card->armed |= config->trouble[i].count ? BIT(i) : 0;
	if (sim_ring_init(card))
		goto free;
	if (!sim_pk_init(card))
		return card;
	sim_ring_exit(card);
free:
	kfree(card);
	return NULL;
}

static void free_card(struct sim_card *card)
{
	sim_ring_exit(card);
	sim_pk_exit(card);
	kfree_sensitive(card);
}

static int sim_probe(struct platform_device *pdev)
{
	const struct sim_config *config = dev_get_platdata(&pdev->dev);
	struct ocf_device_info info = {
		.name = "sim", .owner = THIS_MODULE, .parent = &pdev->dev,
		.ops = config->bounce ? &sim_bounce_ops : &sim_ops,
		.kind = OCF_KIND_HARDWARE, .depth = config->knob[SIM_DEPTH],
		.ctx_size = sim_ctx_size(), .patience = config->patience,
		.max_len = SIM_LEN_MAX,
	};
	struct sim_card *card = make_card(config);

	lockdep_assert_held(&sim_mutex);
	probe_error = -ENOMEM;
	if (!card)
		return probe_error;
	sim_algs(config->algs, &info);
	info.pk = config->public_key ? &sim_pk_ops : NULL;
	info.priv = card;
	card->dev = ocf_device_register(&info);
	if (IS_ERR(card->dev)) {
		probe_error = PTR_ERR(card->dev);
		free_card(card);
		return probe_error;
	}
	platform_set_drvdata(pdev, card);
	sim_listen(card, true);
	return 0;
}

static void sim_remove(struct platform_device *pdev)
{
	struct sim_card *card = platform_get_drvdata(pdev);

	sim_listen(card, false);
	ocf_device_unregister(card->dev);
	free_card(card);
}

/* ---- adding and removing cards ---- */

static int add_card(const struct sim_config *config)
{
	struct platform_device *pdev;
	int id;

	lockdep_assert_held(&sim_mutex);
	for (id = 0; id < OCF_DEVICES_MAX && sim_cards[id]; id++)
		;
	if (id == OCF_DEVICES_MAX)
		return -ENOSPC;
	pdev = platform_device_register_data(NULL, NAME, id, config,
					     sizeof(*config));
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	if (!platform_get_drvdata(pdev)) {
		platform_device_unregister(pdev);
		return probe_error;
	}
	sim_cards[id] = pdev;
	return 0;
}

static int remove_card(int id)
{
	lockdep_assert_held(&sim_mutex);
	if (id < 0 || id >= OCF_DEVICES_MAX || !sim_cards[id])
		return -ENODEV;
	platform_device_unregister(sim_cards[id]);
	sim_cards[id] = NULL;
	return 0;
}

static void remove_all(void)
{
	int id;

	mutex_lock(&sim_mutex);
	closing = true;
	for (id = 0; id < OCF_DEVICES_MAX; id++)
		remove_card(id);
	mutex_unlock(&sim_mutex);
}

static ssize_t add_store(struct device_driver *driver, const char *buf,
			 size_t n)
{
	struct sim_config config;
	char text[OPTIONS_MAX];
	int err;

	if (strscpy(text, buf, sizeof(text)) < 0)
		return -EINVAL;
	sim_config_init(&config);
	err = sim_config_parse(&config, text);
	if (err)
		return err;
	mutex_lock(&sim_mutex);
	err = closing ? -ENODEV : add_card(&config);
	mutex_unlock(&sim_mutex);
	return err ?: n;
}
static DRIVER_ATTR_WO(add);

/* "sim3" */
static ssize_t remove_store(struct device_driver *driver, const char *buf,
			    size_t n)
{
	unsigned int id;
	int err;

	if (strncmp(buf, "sim", 3) || kstrtouint(buf + 3, 10, &id))
		return -EINVAL;
	mutex_lock(&sim_mutex);
	err = id < OCF_DEVICES_MAX ? remove_card(id) : -ENODEV;
	mutex_unlock(&sim_mutex);
	return err ?: n;
}
static DRIVER_ATTR_WO(remove);

static ssize_t falsified_show(struct device_driver *driver, char *buf)
{
	return sysfs_emit(buf, "%ld\n", atomic_long_read(&sim_falsified));
}
static DRIVER_ATTR_RO(falsified);

static ssize_t add_source_store(struct device_driver *driver, const char *buf,
				size_t n)
{
	return sim_add_source(buf) ?: n;
}
static DRIVER_ATTR_WO(add_source);

static ssize_t remove_source_store(struct device_driver *driver,
				   const char *buf, size_t n)
{
	return sim_remove_source(buf) ?: n;
}
static DRIVER_ATTR_WO(remove_source);

static struct attribute *driver_attrs[] = {
	&driver_attr_add.attr,
	&driver_attr_remove.attr,
	&driver_attr_falsified.attr,
	&driver_attr_add_source.attr,
	&driver_attr_remove_source.attr,
	NULL
};
ATTRIBUTE_GROUPS(driver);

static struct platform_driver sim_driver = {
	.probe = sim_probe,
	.remove = sim_remove,
	.driver = {
		.name = NAME,
		.groups = driver_groups,
		.dev_groups = sim_groups,
		/* its number here would differ from the core's */
		.suppress_bind_attrs = true,
	},
};

static int __init sim_init(void)
{
	struct sim_config config;
	unsigned int i;
	int err;

	if (cards > OCF_DEVICES_MAX)
		return -EINVAL;
	err = platform_driver_register(&sim_driver);
	if (err)
		return err;
	sim_config_init(&config);
	mutex_lock(&sim_mutex);
	for (i = 0; i < cards && !err; i++)
		err = add_card(&config);
	mutex_unlock(&sim_mutex);
	if (err) {
		remove_all();
		platform_driver_unregister(&sim_driver);
	}
	return err;
}

static void __exit sim_exit(void)
{
	remove_all();
	platform_driver_unregister(&sim_driver);
	sim_remove_sources();
}

module_init(sim_init);
module_exit(sim_exit);

OCF_IMPORT();
MODULE_DESCRIPTION("OCF for Linux: a card in software, for experiments and tests");
MODULE_LICENSE("GPL");
