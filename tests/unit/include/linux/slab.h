/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include "../shim.h"

#define GFP_KERNEL		0

static inline void *kzalloc(size_t size, gfp_t gfp)
{
	assert(gfp == GFP_KERNEL);
	return calloc(1, size);
}

static inline void kfree(void *p)
{
	free(p);
}

static inline void kfree_sensitive(void *p)
{
	free(p);
}

#endif /* SHIM_LINUX_SLAB_H */
