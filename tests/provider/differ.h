/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the comparisons with OpenSSL's own share.  Each ends the program if a
 * result differs.
 */
#ifndef DIFFER_H
#define DIFFER_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>

#define LEN		70000
#define OURS		"provider=ocf"
#define THEIRS		"provider=default"
#define AEADS		7
#define DIGESTS		9
#define COUNT(a)	(sizeof(a) / sizeof(*(a)))

/* Input by chance, and two results */
extern unsigned char data[LEN + 64], one[LEN + 256], other[LEN + 256];
/* Names */
extern const char * const aeads[AEADS], * const digests[DIGESTS];
/* What is compared just now */
extern const char *what;

void fail(const char *why, int line);

#define CHECK(cond_) do {						\
	if (!(cond_))							\
		fail(#cond_, __LINE__);					\
} while (0)

/* Less than @n */
size_t below(size_t n);
bool one_in(size_t n);
size_t some_len(void);
void fill(void *to, size_t len);

/* differ_records.c */
void tls_round(void);
void record_round(void);

/* differ_keys.c */
void keys(int rounds);

#endif
