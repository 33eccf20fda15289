/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Costs inside the kernel: the map of the module.
 */
#ifndef BENCH_CORE_H
#define BENCH_CORE_H

#include <linux/ocf_driver.h>

#include "../../kernel/compat.h"

/* card.c */
int card_offer(void);
void card_withdraw(void);
void card_measured(bool on);
struct ocf_request *card_taken(void);

#endif /* BENCH_CORE_H */
