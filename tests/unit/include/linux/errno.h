/* SPDX-License-Identifier: BSD-2-Clause */
#include_next <linux/errno.h>
#include "../shim.h"
