/* SPDX-License-Identifier: BSD-2-Clause */
#include_next <linux/types.h>
#include "../shim.h"
