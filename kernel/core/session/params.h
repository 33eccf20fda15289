/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks the parameters of sessions and requests.  Pure.
 */
#ifndef OCF_PARAMS_H
#define OCF_PARAMS_H

#include <linux/errno.h>
#include <linux/ocf.h>

/* Says what is wrong with the parameters of a session. */
static inline int ocf_params_refuse(const struct ocf_session_params *p,
				    enum ocf_field field)
{
	if (p->wrong)
		*p->wrong = field;
	return -EINVAL;
}

int ocf_check_params(struct ocf_session_params *p);
int ocf_check_request(const struct ocf_request *req,
		      const struct ocf_session_params *p, u32 block);

#endif /* OCF_PARAMS_H */
