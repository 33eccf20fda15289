/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/crypto: a tracepoint for each call that ends with an error.  The
 * tracepoints of events/ocf show what happened to its request and session in
 * the core.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ocf_cdev

#if !defined(_TRACE_OCF_CDEV_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_OCF_CDEV_H

#include <linux/tracepoint.h>

TRACE_EVENT(ocf_cdev_refuse,
	TP_PROTO(unsigned int cmd, long err),
	TP_ARGS(cmd, err),
	TP_STRUCT__entry(
		__field(unsigned int, cmd)
		__field(long, err)
	),
	TP_fast_assign(
		__entry->cmd = cmd;
		__entry->err = err;
	),
	TP_printk("cmd=%#x err=%ld", __entry->cmd, __entry->err)
);

#endif /* _TRACE_OCF_CDEV_H */

#include <trace/define_trace.h>
