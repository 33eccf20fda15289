// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of implementations: "ocf-" and the algorithm's, in which a parenthesis
 * or a comma is a dash.  dm-crypt accepts such names.  It takes what follows
 * the last dash of "ocf-xts-aes-plain64" for the IV mode, and the rest for the
 * name.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/string.h>

#include "alg.h"

#define PREFIX	"ocf-"

static int make_driver_name(const char *name, char *driver)
{
	size_t n = strscpy(driver, PREFIX, CRYPTO_MAX_ALG_NAME);

	for (; *name; name++) {
		if (*name == ')')
			continue;
		if (n == CRYPTO_MAX_ALG_NAME - 1)
			return -ENAMETOOLONG;
		driver[n++] = *name == '(' || *name == ',' ? '-' : *name;
	}
	driver[n] = 0;
	return 0;
}

/**
 * alg_describe() - fill in the fields that all implementations have
 * @base: the implementation
 * @name: the crypto API's name, as in "authenc(hmac(sha1),cbc(aes))"
 * @priority: among the implementations of this name
 * @size: bytes of a transform's context
 *
 * Context: any.
 * Return: 0, or -ENAMETOOLONG.
 */
int alg_describe(struct crypto_alg *base, const char *name, int priority,
		 unsigned int size)
{
	base->cra_priority = priority;
	base->cra_flags = ALG_FLAGS;
	base->cra_ctxsize = size;
	base->cra_module = THIS_MODULE;
	if (strscpy(base->cra_name, name, CRYPTO_MAX_ALG_NAME) < 0)
		return -ENAMETOOLONG;
	return make_driver_name(name, base->cra_driver_name);
}
