// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes over cards that Linux's own driver has.  The bus gives a card to the
 * driver that is there first, and has no driver_override.
 */
#include <linux/crypto.h>
#include <linux/device.h>
#include <linux/module.h>

#include "virtio.h"

/* The names by which Linux's driver registers its algorithms. */
static const char *const others_algs[] = {
	"virtio_crypto_aes_cbc",
	"virtio-crypto-rsa",
	"virtio-pkcs1-rsa",
};

static bool is_others(struct device *d)
{
	return dev_to_virtio(d)->id.device == VIRTIO_ID_CRYPTO && d->driver &&
	       d->driver != &ocf_virtio_driver.driver;
}

/*
 * A user of an algorithm holds the module of its driver.  For a built-in driver
 * this cannot be found out, so it counts as in use.
 */
static bool in_use(const struct device_driver *drv)
{
	return !drv->owner || module_refcount(drv->owner) > 0;
}

static bool is_busy(struct device *d)
{
	bool busy = true;

	device_lock(d);
	if (d->driver)
		busy = in_use(d->driver);
	device_unlock(d);
	return busy;
}

/*
 * A driver that was given a card just now is held by the self-tests of its
 * algorithms, and RSA's take seconds.  Looking an algorithm up waits for its
 * test.
 */
static void wait_for_selftests(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(others_algs); i++)
		crypto_has_alg(others_algs[i], 0, 0);
}

/*
 * A user that comes between this check and the release is not noticed.  No lock
 * of ours helps: crypto_alg_sem would keep users out, but the driver needs it
 * to unregister its algorithms.
 */
static int take_over(struct device *d)
{
	wait_for_selftests();
	if (is_busy(d)) {
		dev_warn(d, "left to another driver, which something uses\n");
		return -EBUSY;
	}
	device_release_driver(d);
	return device_driver_attach(&ocf_virtio_driver.driver, d);
}

static int takeover_find(struct device *d, void *data)
{
	struct device **next = data;

	if (*next || !is_others(d))
		return 0;
	*next = get_device(d);
	return 1;
}

/**
 * vcrypt_takeover_all() - take over all cards that another driver has
 *
 * Context: process; may sleep.
 * Return: 0, -EBUSY if one had to be left, or the error of its probe.
 */
int vcrypt_takeover_all(void)
{
	const struct bus_type *bus = ocf_virtio_driver.driver.bus;
	struct device *next;
	int err;

	do {
		next = NULL;
		bus_for_each_dev(bus, NULL, &next, takeover_find);
		if (!next)
			return 0;
		err = take_over(next);
		put_device(next);
	} while (!err);
	return err;
}
