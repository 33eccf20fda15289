/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a test has looked at every algorithm that the provider has.
 */
#ifndef EVERY_H
#define EVERY_H

#include <openssl/core_dispatch.h>
#include <openssl/types.h>

/*
 * Notes that an algorithm was tested.  @name: any of its names, a string that
 * stays valid; @operation: OSSL_OP_*
 */
void every_saw(int operation, const char *name);
/* Prints each algorithm that was not seen.  Returns how many there are. */
int every_missing(OSSL_PROVIDER *prov);

#endif
