// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module.
 */
#include <linux/fips.h>
#include <linux/module.h>

#include "../../compat.h"
#include "alg.h"

struct workqueue_struct *alg_wq;

static int priority = 10;
module_param(priority, int, 0444);
MODULE_PARM_DESC(priority,
		 "priority of the implementations (10); most others have 100 or more, so the kernel prefers those by default");

/*
 * With fips=1 the kernel panics when a module that is not signed registers an
 * implementation.  Any user may have this module loaded, by its alias.
 */
static int __init check_signature(void)
{
	struct module *own = THIS_MODULE;

	if (!fips_enabled || !own || module_sig_ok(own))
		return 0;
	pr_err("ocf_alg: with fips=1 the kernel accepts only a module that is signed with a key it trusts\n");
	return -EKEYREJECTED;
}

/*
 * The kernel tests each implementation when it is registered.  If no device can
 * do it, the kernel warns, or panics with fips=1.  So the CPU has to be a
 * device by then.
 */
static int __init find_software(void)
{
	static const u8 key[16];
	struct ocf_session_params params = {
		.mode = OCF_MODE_CIPHER, .cipher = OCF_AES_CBC,
		.flags = OCF_SESSION_SOFTWARE, .device = OCF_DEVICE_ANY,
		.key = key, .keylen = sizeof(key),
	};
	struct ocf_session *ses = ocf_session_create(&params, GFP_KERNEL);

	if (IS_ERR(ses)) {
		pr_err("ocf_alg: no software for requests that no card can do: load ocf_soft first\n");
		return -ENODEV;
	}
	ocf_session_put(ses);
	return 0;
}

/* No transform is left, but some keys may not be freed yet. */
static void stop_work(void)
{
	alg_backlog_exit();
	rcu_barrier();
	destroy_workqueue(alg_wq);
}

static int __init alg_init(void)
{
	int err;

	err = check_signature() ?: find_software();
	if (err)
		return err;
	alg_wq = alloc_workqueue("ocf_alg", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!alg_wq)
		return -ENOMEM;
	err = alg_skciphers_register(priority);
	if (err)
		goto stop_work;
	err = alg_hashes_register(priority);
	if (err)
		goto unregister_skciphers;
	err = alg_aeads_register(priority);
	if (err)
		goto unregister_hashes;
	err = alg_authencs_register(priority);
	if (err)
		goto unregister_aeads;
	return 0;

unregister_aeads:
	alg_aeads_unregister();
unregister_hashes:
	alg_hashes_unregister();
unregister_skciphers:
	alg_skciphers_unregister();
stop_work:
	stop_work();
	return err;
}

static void __exit alg_exit(void)
{
	alg_authencs_unregister();
	alg_aeads_unregister();
	alg_hashes_unregister();
	alg_skciphers_unregister();
	stop_work();
}

module_init(alg_init);
module_exit(alg_exit);

MODULE_SOFTDEP("pre: ocf_soft");
/* loads the module when a user asks for an implementation by its name */
MODULE_ALIAS_CRYPTO("ocf-*");
MODULE_DESCRIPTION("OCF for Linux: sessions in the kernel's crypto API");
MODULE_LICENSE("GPL");
OCF_IMPORT();
OCF_IMPORT_NS(CRYPTO_INTERNAL);
