/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sources of random numbers.
 */
#ifndef OCF_RANDOM_CORE_H
#define OCF_RANDOM_CORE_H

int ocf_random_init(void);
void ocf_random_exit(void);

#endif /* OCF_RANDOM_CORE_H */
