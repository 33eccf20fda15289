/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Differential runs: what is common to both ABIs.
 *
 * A trial is one operation drawn by chance and all that is needed to repeat it.
 * Its buffers lie between fences, so that a byte read or written outside of
 * them is a fault.  A frame of known bytes around the result shows what was
 * written beside it.
 */
#ifndef DIFFER_H
#define DIFFER_H

#include "dev.h"
#include "random.h"

enum alg_kind { CIPHER = 1, AEAD = 2, DIGEST = 4, MAC = 8 };

/**
 * struct alg - what a caller must know about an algorithm; the values are from
 * its standard
 * @name: the framework's
 * @kind: of which kind
 * @key_min: bytes of key
 * @key_max: bytes of key
 * @key_step: between the two, bytes
 * @block: bytes
 * @iv: bytes of IV or nonce
 * @digest: bytes of digest, MAC or tag
 * @chains: an operation can continue where the one before it ended
 */
struct alg {
	const char	*name;
	enum alg_kind	kind;
	uint32_t	key_min, key_max, key_step;
	uint32_t	block, iv, digest;
	bool		chains;
};

extern const struct alg algs[];
extern const int nalgs;

/**
 * struct area - memory between two fences
 * @start: a page's first byte, before which nothing is mapped
 * @size: bytes, after which nothing is mapped
 */
struct area {
	uint8_t	*start;
	size_t	size;
};

/**
 * struct watch - what some memory must contain after an operation
 * @from: its first byte
 * @len: bytes
 * @image: the bytes that must be there
 */
struct watch {
	const uint8_t	*from;
	size_t		len;
	uint8_t		*image;
};

/**
 * struct trial - one operation
 * @seed: of the round
 * @cipher: cipher or AEAD algorithm, or NULL
 * @mac: MAC or digest, or NULL
 * @encrypt: the direction
 * @flags: the ABI's
 * @keylen: bytes of @key
 * @mackeylen: bytes of @mackey
 * @ivlen: bytes of @iv
 * @taglen: bytes of MAC or tag
 * @len: bytes of data
 * @aadlen: bytes that are only authenticated
 * @src: the data
 * @dst: the result; NULL if there is none
 * @aad: what is only authenticated
 * @key: of the cipher
 * @mackey: of the MAC
 * @iv: IV, nonce or counter block
 */
struct trial {
	uint64_t		seed;
	const struct alg	*cipher, *mac;
	bool			encrypt;
	int			flags;
	uint32_t		keylen, mackeylen, ivlen, taglen, len, aadlen;
	uint8_t			*src, *dst, *aad;
	uint8_t			key[64], mackey[512], iv[16];
};

#define DIFFER_MAX	(16u << 20)	/* bytes of data */
#define TAG_MAX		64		/* bytes */

/**
 * struct differ - where trials run
 * @fd: the device
 * @seed: of the first round
 * @ses: the session
 * @src: where sources are
 * @dst: where destinations are, those that are not in @src
 * @aad: the area of data that are only authenticated
 * @tag: where MACs, digests and tags are
 * @on_src: the expected bytes of the source and around it
 * @on_dst: the same for the destination
 * @on_tag: the same for the tag
 * @want: OpenSSL's result
 * @text: room for the text of any trial with its AAD
 * @t: the operation
 */
struct differ {
	int		fd;
	uint64_t	seed;
	uint32_t	ses;
	struct area	src, dst, aad, tag;
	struct watch	on_src, on_dst, on_tag;
	uint8_t		*want, *text;
	struct trial	t;
};

/*
 * Allocates all memory, for data of up to @max bytes, and opens the device.
 * Returns false if the device or OpenSSL is missing.
 */
bool differ_init(struct differ *d, size_t max);

/*
 * Runs @round_ @usual_ times, or as often as OCF_ROUNDS says.  @round_ returns
 * what was wrong, or "".
 */
#define DIFFER_REPEAT(d_, round_, usual_)				\
do {									\
	int n_, rounds_ = rounds_given(usual_);				\
	for (n_ = 0; n_ < rounds_; n_++) {				\
		trial_begin(d_, n_);					\
		ASSERT_STREQ("", round_(d_))				\
			TH_LOG("%s", trial_text(&(d_)->t));		\
	}								\
} while (0)

void trial_begin(struct differ *d, int round);
/* Returns, as text, all that is needed to repeat @t. */
const char *trial_text(const struct trial *t);

/*
 * Returns whether a kernel that was started with fips=1 does not offer
 * algorithm @name
 */
bool fips_forbids(const char *name);

#define FIPS_HMAC_KEY_MIN	14	/* bytes: 112 bits, SP 800-131A, 10 */

/*
 * Draws an algorithm of @kinds for which @has() does not return 0.  If
 * OCF_ALGS, a list of names separated by spaces, has any of @kinds, draws only
 * from these.
 */
const struct alg *pick_alg(int kinds, unsigned int (*has)(const char *name));
const struct alg *alg_named(const char *name);
bool is_alg(const struct alg *alg, const char *name);

/* Draws keys for the algorithms of @t, and an IV. */
void pick_keys(struct trial *t);
void pick_iv(struct trial *t);

/*
 * Draws a length from 0 to a little above @max.  Most are small and multiples
 * of @block.  Many are near a limit: of a block, of a page, of the size that is
 * pinned, or @max.  Where OCF_LEN_MAX is set, nothing is longer.
 */
uint32_t pick_len(uint32_t max, uint32_t block);

/* Room for @len bytes in @area: at one of its ends, or anywhere */
uint8_t *place(const struct area *area, uint32_t len);
/* Draws @len bytes. */
void noise(uint8_t *to, uint32_t len);

/*
 * Puts @len bytes of source and @all of destination somewhere: apart, the
 * same, or one over the other.  The source has noise in it.
 */
void place_data(struct differ *d, uint32_t len, uint32_t all);
/*
 * Puts source and destination at the same address: @len bytes of noise, and
 * room for @all bytes.
 */
void place_in_place(struct differ *d, uint32_t len, uint32_t all);
/* Draws up to @max bytes that are only authenticated, and places them. */
void place_aad(struct differ *d, uint32_t max);
/* Room for a tag of the trial's. */
uint8_t *place_tag(struct differ *d);

/*
 * From now on the @len bytes at @at, and the bytes around them, must not
 * change.
 */
void watch(struct watch *w, const struct area *area, const uint8_t *at,
	   size_t len);
/* Declares that the @len bytes at @at must become @bytes. */
void watch_expect(struct watch *w, const uint8_t *at, const uint8_t *bytes,
		  size_t len);
/*
 * Watch the trial's source and destination, and the tag with its present bytes.
 */
void watch_data(struct differ *d, uint32_t all);
void watch_tag(struct differ *d, const uint8_t *tag);
/* Declares that the first @len bytes of the destination must become @d->want */
void expect_result(struct differ *d, uint32_t len);
/* Returns "", or a text about the first wrong byte of the watched memory */
const char *differs(const struct differ *d);

/*
 * Draws a tag length that the standard allows; for an HMAC any length from 4
 * bytes on.
 */
uint32_t pick_taglen(const struct trial *t);
/* Whether CCM's block has room for a length of @len beside the nonce (RFC
 * 3610); true of any other cipher.
 */
bool fits_nonce(const struct trial *t, uint32_t len);
/* Flips a bit of @len bytes. */
void flip(uint8_t *at, uint32_t len);

/*
 * Compute OpenSSL's results with @t's keys and IV; abort if OpenSSL has no such
 * algorithm.
 */
void want_cipher(const struct trial *t, bool encrypt, const uint8_t *iv,
		 const uint8_t *in, uint32_t len, uint8_t *out);
void want_mac(const struct trial *t, const uint8_t *in, uint32_t len,
	      uint8_t *mac);
void want_seal(const struct trial *t, const uint8_t *in, uint32_t len,
	       uint8_t *out, uint8_t *tag);
/* Replaces @iv by the IV with which the next operation continues. */
void want_next_iv(const struct alg *alg, bool encrypt, uint8_t *iv,
		  const uint8_t *in, const uint8_t *out, uint32_t len);

#endif /* DIFFER_H */
