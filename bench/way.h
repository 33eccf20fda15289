/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs, and the ways there are to have them done: /dev/crypto, AF_ALG and
 * OpenSSL.  The programs that measure (count.c, speed.c) go through all of
 * them alike.
 */
#ifndef BENCH_WAY_H
#define BENCH_WAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "rounds.h"

#define LEN_MAX		(1u << 20)	/* bytes of data */
#define AAD_LEN		16		/* bytes, of AEAD */
#define TAG_LEN		16		/* bytes, of AEAD */
#define IV_LEN		16		/* bytes; of GCM the first twelve */
#define GCM_IV_LEN	12
#define OUT_MAX		(LEN_MAX + TAG_LEN)

enum job_kind { CIPHER, DIGEST, AEAD };

/**
 * struct job - what is to be done
 * @name: as it is printed
 * @kind: of algorithm
 * @alg: the framework's name, as tests/lib/oracle.h has it
 * @id: number in cryptodev-linux's ABI, of the cipher or of the digest
 * @kernel: name in the kernel's crypto API, for AF_ALG
 * @openssl: OpenSSL's name, NULL if it has none
 * @keylen: bytes
 * @result: bytes of a digest, or more than the data of anything else
 */
struct job {
	const char	*name;
	enum job_kind	kind;
	const char	*alg;
	unsigned int	id;
	const char	*kernel;
	const char	*openssl;
	size_t		keylen;
	size_t		result;
};

extern const struct job jobs[];
extern const int njobs;

/* Source and destination are distinct, and on pages of their own. */
extern uint8_t src[LEN_MAX], dst[OUT_MAX];
extern uint8_t key[64], iv[IV_LEN], aad[AAD_LEN];

/**
 * struct way - a way to have jobs done, one at a time
 * @name: as it is printed
 * @init: once; false if there is no such way here
 * @begin: makes a session with the key
 * @aim: points it at the first @len bytes of src, and dst
 * @run: does the job once
 * @end: ends the session
 *
 * All but @aim return whether they succeeded, errno says why not.
 */
struct way {
	const char	*name;
	bool		(*init)(void);
	bool		(*begin)(const struct job *job);
	void		(*aim)(const struct job *job, size_t len);
	bool		(*run)(void);
	void		(*end)(void);
};

extern const struct way way_devcrypto, way_devcrypto_copy;
extern const struct way way_afalg, way_afalg_splice;
extern const struct way way_openssl;

/* job.c */
const struct job *job_find(const char *name);
void job_data(void);
size_t job_outlen(const struct job *job, size_t len);
bool job_check(const struct job *job, size_t len);

#endif /* BENCH_WAY_H */
