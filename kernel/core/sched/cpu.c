// SPDX-License-Identifier: GPL-2.0-only
/*
 * For consumers that do short requests on the CPU themselves, by a cipher of
 * their own.
 */
#include "select.h"

/* Whether a request of @ses would have to wait for earlier ones. */
static bool is_behind_others(const struct ocf_session *ses)
{
	if (!(ses->params.flags & OCF_SESSION_ORDERED))
		return false;
	/* pairs with leave_order(): their callbacks have returned */
	return smp_load_acquire(&ses->ordered);
}

bool ocf_cpu_takes(struct ocf_session *ses, enum ocf_op op, u32 bytes)
{
	struct ocf_device *dev = NULL;

	ocf_read_lock();
	ocf_session_update(ses);
	if (bytes <= OCF_SHORT && !is_behind_others(ses) &&
	    (READ_ONCE(ses->no_card) ||
	     ocf_skips_comparison(ses, op, bytes, 0)))
		dev = ocf_plain_cpu(READ_ONCE(ses->soft));
	if (dev) {
		ocf_session_count(ses, bytes, 0);
		ocf_device_count(dev, OCF_JOB_SYMMETRIC, bytes, 0);
	}
	ocf_read_unlock();
	return dev;
}
OCF_EXPORT(ocf_cpu_takes);

bool ocf_cpu_is_allowed(struct ocf_session *ses)
{
	bool allowed;

	ocf_read_lock();
	ocf_session_update(ses);
	allowed = ocf_plain_cpu(READ_ONCE(ses->soft));
	ocf_read_unlock();
	return allowed;
}
OCF_EXPORT(ocf_cpu_is_allowed);

void ocf_cpu_failed(struct ocf_session *ses, u32 bytes)
{
	struct ocf_device *dev;
	int soft;

	atomic64_sub(bytes, &ses->bytes);
	atomic64_inc(&ses->errors);
	ocf_read_lock();
	soft = READ_ONCE(ses->soft);
	dev = soft < 0 ? NULL : ocf_device_at(soft);
	if (dev) {
		this_cpu_sub(dev->counters[OCF_JOB_SYMMETRIC].bytes, bytes);
		this_cpu_inc(dev->counters[OCF_JOB_SYMMETRIC].errors);
	}
	ocf_read_unlock();
}
OCF_EXPORT(ocf_cpu_failed);
