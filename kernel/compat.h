/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels we build for, 6.12 and newer.  No other
 * file asks for a kernel version.
 */
#ifndef OCF_COMPAT_H
#define OCF_COMPAT_H

#include <linux/export.h>
#include <linux/module.h>
#include <linux/tls.h>
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

/* Since 6.13 hrtimer_setup() initialises a timer and sets its function. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define ocf_hrtimer_setup	hrtimer_setup
#else
#define ocf_hrtimer_setup(timer, fn, clock, mode) do {	\
	hrtimer_init(timer, clock, mode);		\
	(timer)->function = fn;				\
} while (0)
#endif

/* Since 6.16 from_timer() is called timer_container_of(). */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define ocf_timer_container_of	timer_container_of
#else
#define ocf_timer_container_of	from_timer
#endif

/* An option of kTLS's since 6.19. */
#ifndef TLS_TX_MAX_PAYLOAD_LEN
#define TLS_TX_MAX_PAYLOAD_LEN		5
#define TLS_INFO_TX_MAX_PAYLOAD_LEN	7
#endif

#endif /* OCF_COMPAT_H */
