/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known answers: what a vector is, and how it is compared.
 *
 * README describes the files; each ABI is a file of its own (linux.c, bsd.c),
 * as the two headers use the same names for different things.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind {
	KIND_CIPHER, KIND_PADDED, KIND_DIGEST, KIND_MONTE2, KIND_MONTE3,
	KIND_MAC, KIND_AEAD, KIND_ETA, KIND_TLS, KIND_SRTP, KIND_COUNT
};

enum field {
	KEY, MACKEY, IV, AAD, TEXT, TRAILER, RESULT, TAG, FIELD_COUNT
};

/* algs.c */

enum type { CIPHER, AEAD, DIGEST, MAC };

/**
 * struct alg - an algorithm, as its standard has it
 * @name: the framework's
 * @type: of it
 * @key_min: least bytes of key
 * @key_max: most bytes of key
 * @key_step: bytes between one length and the next
 * @block: bytes that data are a multiple of
 * @iv: bytes of IV, the usual length
 * @iv_min: least bytes of IV
 * @iv_max: most bytes of IV
 * @iv_step: bytes between one length and the next
 * @size: bytes of digest, MAC or tag
 * @tags: lengths it may be cut to, bit n for n bytes
 */
struct alg {
	const char	*name;
	enum type	type;
	unsigned int	key_min, key_max, key_step;
	unsigned int	block;
	unsigned int	iv, iv_min, iv_max, iv_step;
	unsigned int	size;
	uint32_t	tags;
};

extern const struct alg algs[];
extern const int nalgs;

#define ALGS_MAX	64

const struct alg *alg_find(const char *name);
bool alg_takes_key(const struct alg *alg, size_t len);
bool alg_takes_iv(const struct alg *alg, size_t len);
bool alg_takes_tag(const struct alg *alg, size_t len);

/* parse.c */

/**
 * struct bytes - a value
 * @p: allocated, or NULL if the field is not known
 * @len: bytes
 */
struct bytes {
	uint8_t	*p;
	size_t	len;
};

/**
 * struct vector - a known answer
 * @id: its name in the file
 * @alg: the algorithm
 * @mac: the MAC beside a cipher, or NULL
 * @kind: how it is to be understood
 * @bad: must not verify
 * @f: values
 */
struct vector {
	const char		*id;
	const struct alg	*alg, *mac;
	enum kind		kind;
	bool			bad;
	struct bytes		f[FIELD_COUNT];
};

/*
 * Calls @see for each vector.  Returns the number of vectors, or -1 after
 * printing the reason.
 */
int parse_file(const char *path, void (*see)(const struct vector *v, void *arg),
	       void *arg);

/* check.c */

#define SLACK	64	/* bytes around results, which must not change */

/**
 * struct verdict - how it went with a vector
 * @as: what README says
 * @why: why it was not asked
 */
struct verdict {
	enum { RIGHT, REFUSED, UNSAID, WRONG, VERDICTS } as;
	const char	*why;
};

#define right()		((struct verdict){ RIGHT, NULL })
#define wrong()		((struct verdict){ WRONG, NULL })
#define refused(why_)	((struct verdict){ REFUSED, why_ })
#define unsaid(why_)	((struct verdict){ UNSAID, why_ })

/**
 * struct run - a vector on its way through an ABI
 * @file: where it is from
 * @abi: which ABI
 * @v: the vector
 * @fd: /dev/crypto
 * @failed: something was not as it should be
 */
struct run {
	const char		*file, *abi;
	const struct vector	*v;
	int			fd;
	bool			failed;
};

extern int failures;

void expect_errno(struct run *r, const char *what, int want, int got);
void expect_equal(struct run *r, const char *what, size_t want, size_t got);
void expect_bytes(struct run *r, const char *what, const uint8_t *want,
		  const uint8_t *got, size_t len);

/**
 * struct room - where a result goes
 * @base: SLACK bytes, the result, and SLACK bytes
 * @at: of the result
 * @len: of the result
 */
struct room {
	uint8_t	*base, *at;
	size_t	len;
};

struct room room_new(size_t len);
struct room room_with(const uint8_t *data, size_t len, size_t more);
void expect_untouched(struct run *r, const char *what, const struct room *room,
		      size_t written);
void room_free(struct room *room);

struct bytes join(const struct bytes *a, const struct bytes *b);
bool padding_is_right(const uint8_t *p, size_t len, size_t block);
struct bytes padded(const struct bytes *text, size_t block);

/* monte.c: the outer loop of NIST's Monte Carlo tests for hashes */
typedef bool (*hash_fn)(struct run *r, const uint8_t *in, size_t len,
			uint8_t *out);
bool monte(struct run *r, hash_fn hash, uint8_t *out);

/* linux.c, bsd.c */
struct verdict linux_run(struct run *r);
struct verdict bsd_run(struct run *r);
bool linux_has(const char *alg);
bool bsd_has(const char *alg);

#endif /* VECTORS_H */
