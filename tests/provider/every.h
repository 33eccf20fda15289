/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a test has looked at every algorithm that the provider has.
 */
#ifndef EVERY_H
#define EVERY_H

#include <openssl/core_dispatch.h>
#include <openssl/types.h>

/* @name, any of an algorithm's, which stays; @operation: OSSL_OP_* */
void every_saw(int operation, const char *name);
/* Tells of each algorithm that was not seen; how many they are */
int every_missing(OSSL_PROVIDER *prov);

#endif
