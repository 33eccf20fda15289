// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares the algorithms that the provider offers with those that a test has
 * used.
 */
#include <openssl/core.h>
#include <openssl/provider.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "every.h"

#define MOST	64

static struct {
	int		operation;
	const char	*name;
} seen[MOST];
static int nseen;

void every_saw(int operation, const char *name)
{
	int i;

	for (i = 0; i < nseen; i++)
		if (seen[i].operation == operation &&
		    !strcasecmp(seen[i].name, name))
			return;
	if (nseen == MOST)
		abort();
	seen[nseen].operation = operation;
	seen[nseen++].name = name;
}

/*
 * Returns whether @name is in @names, an algorithm's names with colons between
 * them.
 */
static bool has_name(const char *names, const char *name)
{
	size_t len;

	for (; *names; names += len + (names[len] == ':')) {
		len = strcspn(names, ":");
		if (strlen(name) == len && !strncasecmp(names, name, len))
			return true;
	}
	return false;
}

static bool was_seen(int operation, const char *names)
{
	int i;

	for (i = 0; i < nseen; i++)
		if (seen[i].operation == operation &&
		    has_name(names, seen[i].name))
			return true;
	return false;
}

int every_missing(OSSL_PROVIDER *prov)
{
	int operation, no_cache, missing = 0;
	const OSSL_ALGORITHM *all, *a;

	for (operation = 1; operation <= OSSL_OP__HIGHEST; operation++) {
		all = OSSL_PROVIDER_query_operation(prov, operation, &no_cache);
		for (a = all; a && a->algorithm_names; a++) {
			if (was_seen(operation, a->algorithm_names))
				continue;
			fprintf(stderr, "not tested: operation %d, %s\n",
				operation, a->algorithm_names);
			missing++;
		}
		OSSL_PROVIDER_unquery_operation(prov, operation, all);
	}
	return missing;
}
