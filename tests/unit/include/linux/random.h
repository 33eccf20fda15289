/* SPDX-License-Identifier: BSD-2-Clause */
#include "../shim.h"

void get_random_bytes(void *buf, size_t len);
