/* SPDX-License-Identifier: BSD-2-Clause */
#include_next <linux/limits.h>
#include "../shim.h"
