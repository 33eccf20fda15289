/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels we build for, 6.12 and newer.  No other
 * file asks for a kernel version.
 */
#ifndef OCF_COMPAT_H
#define OCF_COMPAT_H

#include <linux/export.h>
#include <linux/module.h>
#include <linux/version.h>

/* Namespaces became strings in 6.13. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define OCF_EXPORT(sym)		EXPORT_SYMBOL_NS_GPL(sym, "OCF")
#define OCF_IMPORT_NS(ns)	MODULE_IMPORT_NS(#ns)
#else
#define OCF_EXPORT(sym)		EXPORT_SYMBOL_NS_GPL(sym, OCF)
#define OCF_IMPORT_NS(ns)	MODULE_IMPORT_NS(ns)
#endif
#define OCF_IMPORT()		OCF_IMPORT_NS(OCF)

#endif /* OCF_COMPAT_H */
