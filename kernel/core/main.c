// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: starts before everything that uses it, and ends last.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "core.h"
#include "pk/pk.h"

#define CREATE_TRACE_POINTS
#include <trace/events/ocf.h>

struct workqueue_struct *ocf_wq, *ocf_dispatch_wq, *ocf_free_wq;
const struct ocf_request_ops *ocf_request_ops __ro_after_init;

static int weak_param_set(const char *val, const struct kernel_param *kp)
{
	return ocf_weak_set(val);
}

static int weak_param_get(char *buf, const struct kernel_param *kp)
{
	return ocf_weak_show(buf, PAGE_SIZE);
}

static const struct kernel_param_ops weak_param = {
	.set = weak_param_set,
	.get = weak_param_get,
};

module_param_cb(allow_weak, &weak_param, NULL, 0644);
MODULE_PARM_DESC(allow_weak,
		 "weak algorithms that new sessions may use: names with commas between, all, or none");

/* In this order, because work on one may queue work on the next. */
static void destroy_workqueues(void)
{
	struct workqueue_struct *all[] = {
		ocf_wq, ocf_dispatch_wq, ocf_free_wq
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i])
			destroy_workqueue(all[i]);
}

/* Unbound: this work is long, or waits. */
static int __init make_workqueues(void)
{
	const unsigned int flags = WQ_UNBOUND | WQ_MEM_RECLAIM;

	ocf_wq = alloc_workqueue("ocf", flags, 0);
	ocf_dispatch_wq = alloc_workqueue("ocf_dispatch",
					  flags | WQ_HIGHPRI, 0);
	ocf_free_wq = alloc_workqueue("ocf_free", flags, 0);
	if (ocf_wq && ocf_dispatch_wq && ocf_free_wq)
		return 0;
	destroy_workqueues();
	return -ENOMEM;
}

static int __init ocf_init(void)
{
	int err;

	ocf_accounts_init();
	ocf_request_ops = &ocf_request_calls;
	ocf_offload_init();
	err = make_workqueues();
	if (err)
		return err;
	err = ocf_deliver_init();
	if (err)
		goto destroy_workqueues;
	err = ocf_keys_init();
	if (err)
		goto exit_deliver;
	err = ocf_recovery_init();
	if (err)
		goto exit_keys;
	err = ocf_pk_init();
	if (err)
		goto exit_recovery;
	err = class_register(&ocf_class);
	if (err)
		goto exit_pk;
	err = ocf_random_init();
	if (err)
		goto unregister_class;
	ocf_debug_init();
	ocf_fips_tell();
	return 0;

unregister_class:
	class_unregister(&ocf_class);
exit_pk:
	ocf_pk_exit();
exit_recovery:
	ocf_recovery_exit();
exit_keys:
	ocf_keys_exit();
exit_deliver:
	ocf_deliver_exit();
destroy_workqueues:
	destroy_workqueues();
	return err;
}

/*
 * All users of the module are gone, so no request is in flight; frees may be.
 */
static void __exit ocf_exit(void)
{
	ocf_debug_exit();
	ocf_random_exit();
	class_unregister(&ocf_class);
	ocf_pk_exit();
	ocf_recovery_exit();
	ocf_keys_exit();
	ocf_deliver_exit();
	ocf_workers_exit();
	destroy_workqueues();
}

module_init(ocf_init);
module_exit(ocf_exit);

MODULE_DESCRIPTION("OCF for Linux: sessions, requests and devices");
MODULE_LICENSE("GPL");
