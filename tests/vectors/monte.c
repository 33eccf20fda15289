// SPDX-License-Identifier: BSD-2-Clause
/*
 * One checkpoint of NIST's Monte Carlo tests: a thousand digests, each computed
 * from earlier digests.
 */
#include <string.h>

#include "vectors.h"

#define ROUNDS		1000
#define SIZE_MAX_	64

/* SHAVS, 6.4: each digest is computed from the three digests before it */
static bool monte2(struct run *r, hash_fn hash, uint8_t *out)
{
	size_t n = r->v->alg->size;
	uint8_t last[3 * SIZE_MAX_];
	int i;

	for (i = 0; i < 3; i++)
		memcpy(last + i * n, r->v->f[TEXT].p, n);
	for (i = 0; i < ROUNDS; i++) {
		if (!hash(r, last, 3 * n, out))
			return false;
		memmove(last, last + n, 2 * n);
		memcpy(last + 2 * n, out, n);
	}
	return true;
}

/* SHA3VS, 6.2.3: each digest is computed from the digest before it */
static bool monte3(struct run *r, hash_fn hash, uint8_t *out)
{
	size_t n = r->v->alg->size;
	uint8_t last[SIZE_MAX_];
	int i;

	memcpy(last, r->v->f[TEXT].p, n);
	for (i = 0; i < ROUNDS; i++) {
		if (!hash(r, last, n, out))
			return false;
		memcpy(last, out, n);
	}
	return true;
}

/* False if @hash could not; the seed must be as long as a digest. */
bool monte(struct run *r, hash_fn hash, uint8_t *out)
{
	if (r->v->f[TEXT].len != r->v->alg->size)
		return false;
	return r->v->kind == KIND_MONTE2 ? monte2(r, hash, out) :
					   monte3(r, hash, out);
}
