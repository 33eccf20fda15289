/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work, and the ways there are to have it done: the interfaces of /dev/crypto,
 * AF_ALG and OpenSSL.  Programs that measure use all of them in the same way.
 */
#ifndef SPEED_WAY_H
#define SPEED_WAY_H

#include <linux/ocf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEN_MAX		(1u << 20)	/* bytes of data */
#define DEPTH_MAX	OCF_VECTOR_MAX	/* operations at a time */
#define AAD_LEN		16		/* bytes before the data: AEAD, MTE */
#define IV_MAX		16
#define KEY_MAX		512

/**
 * struct work - what is to be done
 * @mode: OCF_MODE_*, or OCF_MODE_NONE for a public-key operation
 * @cipher: the framework's name of the cipher or of the public-key operation,
 *	or ""
 * @mac: the framework's name, or ""
 * @device: the only one to use, or ""
 * @keylen: bytes; of a public-key operation bits
 * @mackeylen: bytes
 * @ivlen: bytes
 * @maclen: bytes of digest, MAC or tag
 * @block: bytes
 * @decrypt: the direction
 * @copy: ask for no pages to be pinned
 * @depth: operations under way at a time, by ways that have several
 */
struct work {
	enum ocf_mode	mode;
	const char	*cipher, *mac, *device;
	size_t		keylen, mackeylen, ivlen, maclen, block;
	bool		decrypt, copy;
	unsigned int	depth;
};

/**
 * struct way - a way to have work done
 * @name: as it is asked for
 * @find: looks up this interface's names for the algorithms; false, with errno,
 *	if it lacks them or cannot do such work.  Called before everything else
 * @begin: makes a session
 * @aim: points it at pieces of so many bytes (lay_out())
 * @run: does one operation, or keeps several under way and finishes some;
 *	returns how many are finished; 0: failed, errno says why
 * @drain: finishes what is under way, and returns how many that were
 * @end: ends the session
 */
struct way {
	const char	*name;
	bool		(*find)(const struct work *work);
	bool		(*begin)(const struct work *work);
	bool		(*aim)(const struct work *work, size_t len);
	unsigned int	(*run)(void);
	unsigned int	(*drain)(void);
	void		(*end)(void);
};

/* native.c: one at a time; a vector; a queue by io_uring, with registered
 * buffers, by ioctl()
 */
extern const struct way way_run, way_vector, way_uring, way_fixed, way_submit;
/* linux.c, bsd.c */
extern const struct way way_linux, way_linux_async, way_bsd;
/* afalg.c: copied; by way of a pipe */
extern const struct way way_afalg, way_afalg_splice;
/* openssl.c */
extern const struct way way_openssl;
/* public.c: as those of native.c; OpenSSL */
extern const struct way way_public_run, way_public_uring, way_public_submit,
			way_public_openssl;

/* ---- many under way: queue.c ---- */

struct ocf;
struct ocf_queue;

/**
 * struct queue_use - what is in a queue
 * @put: puts in the @n-th; -errno
 * @is_good: whether a result is what it should be; sets errno if not
 */
struct queue_use {
	int	(*put)(struct ocf_queue *queue, unsigned int n);
	bool	(*is_good)(int res);
};

/* Sets errno to -@err, and returns false. */
bool failed(int err);

/* The queue, or NULL and errno; @flags are OCF_QUEUE_* */
struct ocf_queue *queue_begin(struct ocf *ocf, const struct queue_use *use,
			      unsigned int depth, unsigned int flags);
void queue_end(void);
/* As struct way's */
unsigned int queue_run(void);
unsigned int queue_drain(void);

/* ---- memory: data.c ---- */

extern uint8_t key[KEY_MAX], mackey[KEY_MAX], iv[IV_MAX], aad[AAD_LEN];

/*
 * Sources and destinations lie in one area, each on places of their own as far
 * as it has room.  Behind each destination there is room for a digest, MAC or
 * tag.  There is no room in front of anything.
 */
extern uint8_t area[];
extern const size_t area_size;

/* Fills keys and sources; all pages are there afterwards. */
bool data_init(void);
/* Lays out the buffers for pieces of @len bytes, at @most places at most. */
void lay_out(size_t len, unsigned int most);
extern unsigned int places;	/* how many there are */
uint8_t *src_at(unsigned int place);
uint8_t *dst_at(unsigned int place);

/* Bytes of a source, and of a destination with digest, MAC or tag */
size_t src_len(const struct work *work, size_t len);
size_t dst_len(const struct work *work, size_t len);

/* Bytes of a record of TLS with so many of payload */
size_t record_len(const struct work *work, size_t len);

/**
 * data_prepare() - fill the sources (for decryption with OpenSSL's ciphertext)
 * and compute the expected result
 * @work: what will be done; by OpenSSL first
 * @len: bytes of payload, as lay_out() was told
 *
 * Return: 1; 0: OpenSSL cannot do it, so results are not compared; -1: OpenSSL
 * cannot do it, and without its ciphertext there is nothing valid to decrypt.
 */
int data_prepare(const struct work *work, size_t len);

/* Whether the first destination has what OpenSSL has there. */
bool data_right(const struct work *work, size_t len);

#endif /* SPEED_WAY_H */
