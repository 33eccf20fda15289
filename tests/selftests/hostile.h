/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of each ABI that a hostile user makes: their valid form, the fields
 * that can be spoiled, and the errors that may be returned.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <stddef.h>
#include <sys/uio.h>

#include "dev.h"

enum field_kind {
	NUMBER,		/* any */
	LENGTH,		/* of a buffer */
	SESSION,
	POINTER,
};

struct field {
	uint16_t	at, size;
	enum field_kind	kind;
};

#define FIELD(type_, name_, kind_) \
	{ offsetof(type_, name_), sizeof(((type_ *)0)->name_), kind_ }

/**
 * struct hostile_call - a call
 * @name: in the header
 * @number: in the header
 * @size: bytes of its structure
 * @weight: how often it is made, beside the others
 * @never: true if the test passes even though no call succeeds
 * @valid: fills a structure of zeroes with valid arguments
 * @made: a valid call has succeeded; notes what it has made
 * @make: makes the call if it is not an ioctl(); returns 0 or an errno
 * @result: returns the result of the i-th operation of the call: 0, an errno,
 *	or -1 if there is none
 * @fields: fields that can be spoiled; the last one has size 0
 * @errs: what may be answered besides 0; ends with 0
 * @results: errors that @result may return; ends with 0
 */
struct hostile_call {
	const char	*name;
	unsigned long	number;
	unsigned int	size;
	unsigned int	weight;
	bool		never;
	void		(*valid)(void *arg);
	void		(*made)(int fd, const void *arg);
	int		(*make)(int fd, void *arg);
	int		(*result)(const void *arg, int i);
	struct field	fields[40];
	int		errs[20], results[20];
};

extern const struct hostile_call hostile_linux[], hostile_bsd[],
	hostile_native[], hostile_uring[];
extern const int nhostile_linux, nhostile_bsd, nhostile_native, nhostile_uring;

/* Opens the io_uring of the calling thread */
void hostile_open_ring(void);

/* Arguments of valid calls. */
#define ABI_LINUX	0
#define ABI_BSD		1
#define ABI_NATIVE	2
#define ABIS		3
#define A_BUFFER	65536	/* bytes at a_buffer(), at least */

/*
 * Returns a session of this ABI, or 0; *@kind gets the kind that new_session()
 * was given
 */
uint32_t a_session(int abi, int *kind);
/*
 * Remembers a new session.  Returns the one that it replaces, which the caller
 * must close, or 0.
 */
uint32_t new_session(int abi, uint32_t id, int kind);
void gone_session(int abi, uint32_t id);
void *a_buffer(void);
/* Memory that is always mapped, and memory that is unmapped and remapped */
extern struct iovec regions[2];
/*
 * Tells the rewriting thread to change the current call at @arg, not in the
 * caller's structure.
 */
#define REWRITTEN	128	/* bytes at @arg that may be rewritten */
void rewritten_at(void *arg);
void new_descriptor(int fd);

#endif /* HOSTILE_H */
