/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the processes of a soak: the time, the texts, and a tally of the
 * results.
 */
#ifndef SOAK_WORK_H
#define SOAK_WORK_H

#include <stdbool.h>
#include <stdint.h>

#define LEN_MAX		65536u	/* bytes of an operation */
#define ROOM		(LEN_MAX + 4096)
#define TEXTS		16	/* lengths and IVs, of each kind of work */
#define FLYING		48	/* operations under way of a process */

/* Tasks with a text */
enum task { MAKE, OPEN, FORGED, TASKS };

extern uint8_t *plain;		/* LEN_MAX bytes */

/* Returns true until the file STOP exists. */
bool wanted(void);

/* @right: whether the result was right; @err: 0 or an errno; @took: seconds */
void judge(enum task what, bool right, int err, double took);

/* Prints where @got differs from @want, in @len bytes. */
void explain(const char *alg, enum task what, const uint8_t *got,
	     const uint8_t *want, uint32_t len);

/* Returns the ms to wait for a result. */
int patience(void);
void lost(int n);

/* Ends the soak if the preparation has failed. */
void unprepared(const char *what, int err);

/* Compares a cipher with OpenSSL; if they differ, the soak ends. */
void agree_with_openssl(const char *cipher, const uint8_t *key, int keylen,
			const uint8_t *iv, uint32_t len, const uint8_t *out);

/*
 * For each interface: prepare() is called once, before fork(), while all cards
 * are drained; work() does all kinds of work for a while, in a child.
 */
void linux_prepare(void);
void linux_work(void);
void native_prepare(void);
void native_work(void);

#endif /* SOAK_WORK_H */
