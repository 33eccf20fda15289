/* SPDX-License-Identifier: BSD-2-Clause */
/* The header as programs found it before it had CIOCGSESSINFO. */
#include_next <crypto/cryptodev.h>
#undef CIOCGSESSINFO
