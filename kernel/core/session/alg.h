/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the algorithm table that only the core uses.  The only state is
 * the set of weak algorithms that are allowed.  Also compiled for user space.
 */
#ifndef OCF_ALG_H
#define OCF_ALG_H

#include <linux/ocf.h>

bool ocf_alg_permitted(enum ocf_alg alg);
u64 ocf_algs_with(u32 flag);
int ocf_weak_set(const char *list);
int ocf_weak_show(char *buf, size_t size);
int ocf_algs_parse(const char *list, u64 of, u64 *set);
int ocf_algs_show(u64 set, char *buf, size_t size);

#endif /* OCF_ALG_H */
