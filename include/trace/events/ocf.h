/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One tracepoint for each edge in the life of a session, a request, a device:
 *
 *	session_create -> session_rekey* -> session_free
 *	context_create -> context_drop
 *	request_refuse, or request_submit
 *		-> request_park | request_wait | request_offload
 *		-> request_start -> request_end -> request_done
 *	request_split: it is done in two steps
 *	request_replay: taken out of a device or given back, and started again
 *	request_cancel, request_spurious
 *	device_state, device_answer
 *	pk_submit -> pk_start -> pk_replay* -> pk_done: public-key operations
 *
 * No key, IV, tag or data is ever in a trace.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ocf

#if !defined(_TRACE_OCF_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_OCF_H

#include <linux/ocf.h>
#include <linux/ocf_driver.h>
#include <linux/ocf_pk.h>
#include <linux/tracepoint.h>

#define ocf_show_mode(mode)					\
	__print_symbolic(mode,					\
		{ OCF_MODE_CIPHER,	"cipher" },		\
		{ OCF_MODE_DIGEST,	"digest" },		\
		{ OCF_MODE_AEAD,	"aead" },		\
		{ OCF_MODE_ETA,		"eta" },		\
		{ OCF_MODE_MTE,		"mte" },		\
		{ OCF_MODE_CHAIN,	"chain" },		\
		{ OCF_MODE_COMPRESS,	"compress" })

#define ocf_show_state(state)					\
	__print_symbolic(state,					\
		{ 0, "testing" }, { 1, "ready" },		\
		{ 2, "suspect" }, { 3, "draining" }, { 4, "dead" })

DECLARE_EVENT_CLASS(ocf_session_class,
	TP_PROTO(const void *ses, const struct ocf_session_params *p, int err),
	TP_ARGS(ses, p, err),
	TP_STRUCT__entry(
		__field(const void *, ses)
		__field(int, mode)
		__field(int, cipher)
		__field(int, mac)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->ses = ses;
		__entry->mode = p->mode;
		__entry->cipher = p->cipher;
		__entry->mac = p->mac;
		__entry->err = err;
	),
	TP_printk("ses=%p mode=%s cipher=%d mac=%d err=%d", __entry->ses,
		  ocf_show_mode(__entry->mode), __entry->cipher, __entry->mac,
		  __entry->err)
);

DEFINE_EVENT(ocf_session_class, ocf_session_create,
	TP_PROTO(const void *ses, const struct ocf_session_params *p, int err),
	TP_ARGS(ses, p, err));
DEFINE_EVENT(ocf_session_class, ocf_session_rekey,
	TP_PROTO(const void *ses, const struct ocf_session_params *p, int err),
	TP_ARGS(ses, p, err));
DEFINE_EVENT(ocf_session_class, ocf_session_free,
	TP_PROTO(const void *ses, const struct ocf_session_params *p, int err),
	TP_ARGS(ses, p, err));

DECLARE_EVENT_CLASS(ocf_context_class,
	TP_PROTO(const void *keys, int device, int err),
	TP_ARGS(keys, device, err),
	TP_STRUCT__entry(
		__field(const void *, keys)
		__field(int, device)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->keys = keys;
		__entry->device = device;
		__entry->err = err;
	),
	TP_printk("keys=%p device=%d err=%d", __entry->keys, __entry->device,
		  __entry->err)
);

DEFINE_EVENT(ocf_context_class, ocf_context_create,
	TP_PROTO(const void *keys, int device, int err),
	TP_ARGS(keys, device, err));
DEFINE_EVENT(ocf_context_class, ocf_context_drop,
	TP_PROTO(const void *keys, int device, int err),
	TP_ARGS(keys, device, err));

DECLARE_EVENT_CLASS(ocf_request_class,
	TP_PROTO(const struct ocf_request *req, int device, int err),
	TP_ARGS(req, device, err),
	TP_STRUCT__entry(
		__field(const void *, req)
		__field(const void *, ses)
		__field(int, op)
		__field(u32, len)
		__field(int, device)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->req = req;
		__entry->ses = req->session;
		__entry->op = req->op;
		__entry->len = req->data.len;
		__entry->device = device;
		__entry->err = err;
	),
	TP_printk("req=%p ses=%p op=%d len=%u device=%d err=%d", __entry->req,
		  __entry->ses, __entry->op, __entry->len, __entry->device,
		  __entry->err)
);

#define OCF_REQUEST_EVENT(name)						\
DEFINE_EVENT(ocf_request_class, name,					\
	TP_PROTO(const struct ocf_request *req, int device, int err),	\
	TP_ARGS(req, device, err))

OCF_REQUEST_EVENT(ocf_request_submit);
OCF_REQUEST_EVENT(ocf_request_refuse);
OCF_REQUEST_EVENT(ocf_request_replay);
OCF_REQUEST_EVENT(ocf_request_split);
OCF_REQUEST_EVENT(ocf_request_park);
OCF_REQUEST_EVENT(ocf_request_wait);
OCF_REQUEST_EVENT(ocf_request_offload);
OCF_REQUEST_EVENT(ocf_request_start);
OCF_REQUEST_EVENT(ocf_request_end);
OCF_REQUEST_EVENT(ocf_request_done);
OCF_REQUEST_EVENT(ocf_request_cancel);
OCF_REQUEST_EVENT(ocf_request_spurious);

TRACE_EVENT(ocf_device_state,
	TP_PROTO(const char *name, int from, int to),
	TP_ARGS(name, from, to),
	TP_STRUCT__entry(
		__string(name, name)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__assign_str(name);
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("device=%s %s -> %s", __get_str(name),
		  ocf_show_state(__entry->from), ocf_show_state(__entry->to))
);

TRACE_EVENT(ocf_device_answer,
	TP_PROTO(const char *name, const char *test, int err),
	TP_ARGS(name, test, err),
	TP_STRUCT__entry(
		__string(name, name)
		__string(test, test)
		__field(int, err)
	),
	TP_fast_assign(
		__assign_str(name);
		__assign_str(test);
		__entry->err = err;
	),
	TP_printk("device=%s test=%s err=%d", __get_str(name),
		  __get_str(test), __entry->err)
);

TRACE_EVENT(ocf_pk_submit,
	TP_PROTO(const struct ocf_pk_request *req),
	TP_ARGS(req),
	TP_STRUCT__entry(
		__field(const void *, req)
		__field(int, code)
		__field(int, scheme)
		__field(int, curve)
	),
	TP_fast_assign(
		__entry->req = req;
		__entry->code = req->op.code;
		__entry->scheme = req->op.scheme;
		__entry->curve = req->op.curve;
	),
	TP_printk("pk=%p code=%d scheme=%d curve=%d", __entry->req,
		  __entry->code, __entry->scheme, __entry->curve)
);

TRACE_EVENT(ocf_pk_start,
	TP_PROTO(const struct ocf_pk_request *req, int device),
	TP_ARGS(req, device),
	TP_STRUCT__entry(
		__field(const void *, req)
		__field(int, device)
	),
	TP_fast_assign(
		__entry->req = req;
		__entry->device = device;
	),
	TP_printk("pk=%p device=%d", __entry->req, __entry->device)
);

TRACE_EVENT(ocf_pk_replay,
	TP_PROTO(const struct ocf_pk_request *req, int device, int err),
	TP_ARGS(req, device, err),
	TP_STRUCT__entry(
		__field(const void *, req)
		__field(int, device)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->req = req;
		__entry->device = device;
		__entry->err = err;
	),
	TP_printk("pk=%p device=%d err=%d", __entry->req, __entry->device,
		  __entry->err)
);

TRACE_EVENT(ocf_pk_done,
	TP_PROTO(const struct ocf_pk_request *req, int err),
	TP_ARGS(req, err),
	TP_STRUCT__entry(
		__field(const void *, req)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->req = req;
		__entry->err = err;
	),
	TP_printk("pk=%p err=%d", __entry->req, __entry->err)
);

#endif /* _TRACE_OCF_H */

#include <trace/define_trace.h>
