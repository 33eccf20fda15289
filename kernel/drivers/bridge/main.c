// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds and removes devices.  Each is a platform device.  It is made of
 * implementations that were named, or that are marked as an accelerator's.
 */
#include <crypto/algapi.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/platform_device.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "bridge.h"

#define NAME		"ocf_bridge"
#define DEPTH_MAX	1024
#define BUFFER_MAX	SZ_2M
#define PATIENCE_MIN	100	/* ms */
#define PATIENCE_MAX	60000
#define FOUND_MAX	256	/* implementations found at a time */
#define SETTLE_TIME	HZ	/* jiffies: drivers register one by one */

unsigned int ocf_bridge_depth = 64;
module_param_named(depth, ocf_bridge_depth, uint, 0444);
MODULE_PARM_DESC(depth, "requests an accelerator gets at a time, 1 to 1024");

unsigned int ocf_bridge_buffer = SZ_64K;
module_param_named(buffer, ocf_bridge_buffer, uint, 0444);
MODULE_PARM_DESC(buffer, "bytes a request may have, a power of two from 4096 to 2097152");

unsigned int ocf_bridge_patience = 1000;
module_param_named(patience, ocf_bridge_patience, uint, 0444);
MODULE_PARM_DESC(patience, "ms an accelerator has to answer, 100 to 60000");

static char *implementations;
module_param(implementations, charp, 0444);
MODULE_PARM_DESC(implementations, "names of the crypto API's implementations to use, with commas between");

static bool automatic = true;
module_param_named(auto, automatic, bool, 0444);
MODULE_PARM_DESC(auto, "use what is marked as an accelerator (Y)");

struct workqueue_struct *ocf_bridge_wq;

/*
 * Held while a device is added or removed.  So its number here is the number
 * that the core gives it, the lowest free one.
 */
static DEFINE_MUTEX(bridges_mutex);
static struct platform_device *bridges[OCF_DEVICES_MAX];
static bool closing;		/* the module is being unloaded: add none */
static int probe_error;		/* the driver core drops it */

/* A module whose implementations are ignored: they were removed, or failed */
struct ignored {
	struct list_head	node;
	char			module[MODULE_NAME_LEN];
};

static LIST_HEAD(ignored);

/* ---- one device ---- */

static int bridge_probe(struct platform_device *pdev)
{
	struct bridge *b;

	lockdep_assert_held(&bridges_mutex);
	b = bridge_make(&pdev->dev, dev_get_platdata(&pdev->dev));
	probe_error = PTR_ERR_OR_ZERO(b);
	if (!probe_error)
		platform_set_drvdata(pdev, b);
	return probe_error;
}

static void bridge_remove(struct platform_device *pdev)
{
	bridge_drop(platform_get_drvdata(pdev));
}

static int make_device(int id, const struct bridge_family *family)
{
	struct platform_device *pdev;

	lockdep_assert_held(&bridges_mutex);
	pdev = platform_device_register_data(NULL, NAME, id, family,
					     sizeof(*family));
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	if (!platform_get_drvdata(pdev)) {
		platform_device_unregister(pdev);
		return probe_error;
	}
	bridges[id] = pdev;
	return 0;
}

static int drop_device(int id)
{
	lockdep_assert_held(&bridges_mutex);
	if (id < 0 || id >= OCF_DEVICES_MAX || !bridges[id])
		return -ENODEV;
	platform_device_unregister(bridges[id]);
	bridges[id] = NULL;
	return 0;
}

static const struct bridge_family *family_of(int id)
{
	return dev_get_platdata(&bridges[id]->dev);
}

/* Returns the number of a module's device, or the lowest free one; -ENOSPC. */
static int place_of(const char *module)
{
	int id, place = -ENOSPC;

	lockdep_assert_held(&bridges_mutex);
	for (id = OCF_DEVICES_MAX - 1; id >= 0; id--)
		if (!bridges[id])
			place = id;
	for (id = 0; id < OCF_DEVICES_MAX; id++)
		if (bridges[id] && !strcmp(family_of(id)->module, module))
			return id;
	return place;
}

/* Replaces the device of a module.  If @family fails, the old one is remade. */
static int replace(const struct bridge_family *family)
{
	struct bridge_family *old = NULL;
	int id = place_of(family->module), err;

	lockdep_assert_held(&bridges_mutex);
	if (closing)
		return -ENODEV;
	if (id < 0)
		return id;
	if (bridges[id]) {
		old = kmemdup(family_of(id), sizeof(*old), GFP_KERNEL);
		if (!old)
			return -ENOMEM;
		drop_device(id);
	}
	err = make_device(id, family);
	if (err && old && make_device(id, old))
		pr_err("ocf_bridge: bridge%d could not be restored after a failed change\n",
		       id);
	kfree(old);
	return err;
}

/* ---- the implementations of a device ---- */

/* Adds @f to a family.  False: it adds nothing new. */
static bool add_found(struct bridge_family *family,
		      const struct bridge_found *f)
{
	char *driver = family->driver[f->alg];

	if (!strcmp(driver, f->driver)) {
		family->priority[f->alg] = max(family->priority[f->alg],
					       f->priority);
		return false;
	}
	if (*driver && f->priority <= family->priority[f->alg] &&
	    f->priority != PRIORITY_NAMED)
		return false;
	strscpy(driver, f->driver, CRYPTO_MAX_ALG_NAME);
	family->priority[f->alg] = f->priority;
	return true;
}

/*
 * Takes out of @f the implementations of one module, that of the first.  Makes
 * a device of them, or adds them to the device of that module.
 */
static int add_family(struct bridge_found *f, unsigned int n)
{
	struct bridge_family *family = kzalloc(sizeof(*family), GFP_KERNEL);
	bool changed = false;
	unsigned int i;
	int id, err = 0;

	lockdep_assert_held(&bridges_mutex);
	if (!family)
		return -ENOMEM;
	strscpy(family->module, f->module);
	id = place_of(f->module);
	if (id >= 0 && bridges[id])
		*family = *family_of(id);
	for (i = 0; i < n; i++) {
		if (!f[i].alg || strcmp(f[i].module, family->module))
			continue;
		changed |= add_found(family, &f[i]);
		f[i].alg = 0;
	}
	if (changed)
		err = replace(family);
	else
		bridge_revive(platform_get_drvdata(bridges[id]));
	kfree(family);
	return err;
}

static struct ignored *find_ignored(const char *module)
{
	struct ignored *i;

	lockdep_assert_held(&bridges_mutex);
	list_for_each_entry(i, &ignored, node)
		if (!strcmp(i->module, module))
			return i;
	return NULL;
}

static void ignore(const char *module)
{
	struct ignored *i;

	if (find_ignored(module))
		return;
	i = kzalloc(sizeof(*i), GFP_KERNEL);
	if (!i)
		return;
	strscpy(i->module, module);
	list_add(&i->node, &ignored);
}

/* Stops ignoring a module's implementations; @module: NULL for all */
static void heed(const char *module)
{
	struct ignored *i, *next;

	lockdep_assert_held(&bridges_mutex);
	list_for_each_entry_safe(i, next, &ignored, node) {
		if (module && strcmp(i->module, module))
			continue;
		list_del(&i->node);
		kfree(i);
	}
}

/* Cuts the first name off @text.  It ends at a comma outside parentheses. */
static char *next_name(char **text)
{
	char *name = *text, *p;
	int depth = 0;

	if (!name)
		return NULL;
	for (p = name; *p && *p != '\n' && (*p != ',' || depth); p++)
		depth += (*p == '(') - (*p == ')');
	*text = *p == ',' ? p + 1 : NULL;
	*p = 0;
	return name;
}

/* Adds the implementations named; if one is wrong, nothing changes. */
static int add_names(const char *names)
{
	char *text = kstrdup(names, GFP_KERNEL), *rest = text, *name;
	struct bridge_found *f = kvcalloc(ALGS, sizeof(*f), GFP_KERNEL);
	unsigned int n = 0, i;
	int err = f && text ? 0 : -ENOMEM;

	while (!err && (name = next_name(&rest))) {
		err = n < ALGS ? bridge_find_named(name, &f[n]) : -E2BIG;
		if (!err)
			f[n++].priority = PRIORITY_NAMED;
	}
	mutex_lock(&bridges_mutex);
	for (i = 0; i < n && !err; i++) {
		if (!f[i].alg)
			continue;
		heed(f[i].module);
		err = add_family(&f[i], n - i);
	}
	mutex_unlock(&bridges_mutex);
	kvfree(f);
	kfree(text);
	return err;
}

/* ---- implementations that are marked as an accelerator's ---- */

static void scan(struct work_struct *work)
{
	struct bridge_found *f;
	int n, i;

	f = kvcalloc(FOUND_MAX, sizeof(*f), GFP_KERNEL);
	if (!f)
		return;
	n = bridge_find_all(f, FOUND_MAX);
	mutex_lock(&bridges_mutex);
	for (i = 0; i < n; i++)
		if (f[i].alg && !closing && !find_ignored(f[i].module) &&
		    add_family(&f[i], n - i))
			ignore(f[i].module);
	mutex_unlock(&bridges_mutex);
	kvfree(f);
}

static DECLARE_DELAYED_WORK(scan_work, scan);

/* Context: process; under the crypto API's lock. */
static int crypto_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	if (event == CRYPTO_MSG_ALG_LOADED && bridge_find_is_wanted(data))
		mod_delayed_work(ocf_bridge_wq, &scan_work, SETTLE_TIME);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = crypto_event };

/* ---- files ---- */

static ssize_t add_store(struct device_driver *driver, const char *buf,
			 size_t n)
{
	return add_names(buf) ?: n;
}
static DRIVER_ATTR_WO(add);

/* "bridge3" */
static ssize_t remove_store(struct device_driver *driver, const char *buf,
			    size_t n)
{
	unsigned int id;
	int err = -ENODEV;

	if (strncmp(buf, "bridge", 6) || kstrtouint(buf + 6, 10, &id))
		return -EINVAL;
	mutex_lock(&bridges_mutex);
	if (id < OCF_DEVICES_MAX && bridges[id]) {
		ignore(family_of(id)->module);
		err = drop_device(id);
	}
	mutex_unlock(&bridges_mutex);
	return err ?: n;
}
static DRIVER_ATTR_WO(remove);

/*
 * When any text is written: looks for implementations, also of devices that
 * were removed.
 */
static ssize_t scan_store(struct device_driver *driver, const char *buf,
			  size_t n)
{
	mutex_lock(&bridges_mutex);
	heed(NULL);
	mutex_unlock(&bridges_mutex);
	scan(NULL);
	return n;
}
static DRIVER_ATTR_WO(scan);

static struct attribute *driver_attrs[] = {
	&driver_attr_add.attr,
	&driver_attr_remove.attr,
	&driver_attr_scan.attr,
	NULL
};
ATTRIBUTE_GROUPS(driver);

static struct platform_driver bridge_driver = {
	.probe = bridge_probe,
	.remove = bridge_remove,
	.driver = {
		.name = NAME,
		.groups = driver_groups,
		.dev_groups = bridge_groups,
		/* its number here would differ from the core's */
		.suppress_bind_attrs = true,
	},
};

/* ---- the module ---- */

static void drop_all(void)
{
	int id;

	mutex_lock(&bridges_mutex);
	closing = true;
	for (id = 0; id < OCF_DEVICES_MAX; id++)
		drop_device(id);
	heed(NULL);
	mutex_unlock(&bridges_mutex);
	bridge_wait_all();
}

static int add_first(void)
{
	int err = 0;

	if (implementations && *implementations)
		err = add_names(implementations);
	if (!err && automatic) {
		err = crypto_register_notifier(&notifier);
		if (!err)
			scan(NULL);
	}
	return err;
}

static bool parameters_fit(void)
{
	return ocf_bridge_depth && ocf_bridge_depth <= DEPTH_MAX &&
	       ocf_bridge_buffer >= SZ_4K && ocf_bridge_buffer <= BUFFER_MAX &&
	       is_power_of_2(ocf_bridge_buffer) &&
	       ocf_bridge_patience >= PATIENCE_MIN &&
	       ocf_bridge_patience <= PATIENCE_MAX;
}

static int __init bridge_init(void)
{
	int err;

	if (!parameters_fit())
		return -EINVAL;
	ocf_bridge_wq = alloc_workqueue(NAME, WQ_UNBOUND, 0);
	if (!ocf_bridge_wq)
		return -ENOMEM;
	err = platform_driver_register(&bridge_driver);
	if (err)
		goto destroy;
	err = add_first();
	if (!err)
		return 0;
	drop_all();
	platform_driver_unregister(&bridge_driver);
destroy:
	destroy_workqueue(ocf_bridge_wq);
	return err;
}

static void __exit bridge_exit(void)
{
	if (automatic)
		crypto_unregister_notifier(&notifier);
	cancel_delayed_work_sync(&scan_work);
	drop_all();
	platform_driver_unregister(&bridge_driver);
	destroy_workqueue(ocf_bridge_wq);
}

module_init(bridge_init);
module_exit(bridge_exit);

OCF_IMPORT();
MODULE_DESCRIPTION("OCF for Linux: accelerators that Linux's crypto API drives");
MODULE_LICENSE("GPL");
