/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ocf.so, a provider for OpenSSL 3: the map.
 *
 * Each algorithm is two: OpenSSL's own, in a library context of ours, and a
 * session of /dev/crypto.  What is too small for any card goes to the first,
 * without a call of the system; and so does what the second cannot do, or fails
 * to do.  Keys are kept, and wiped, by us: a child of fork() makes sessions of
 * its own.
 *
 * device.c is /dev/crypto, a process's and its sessions.  cipher.c, aead.c,
 * digest.c, mac.c, key.c, signature.c, exchange.c, asym.c and rand.c are
 * OpenSSL's kinds of algorithms, and provider.c the table of them.  In blocks.c
 * ciphers meet the kernel.  cbc_record.c has TLS records of a cipher with a
 * MAC, record.c those of AEAD, pipeline.c many messages at a time.  keyed.c is
 * common to operations with keys, public.c asks the kernel for them, and der.c
 * writes private keys for it.  debug.c logs which operations are left to
 * OpenSSL.
 */
#ifndef PROVIDER_H
#define PROVIDER_H

#include <ocf/crypt.h>
#include <ocf/public.h>
#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/proverr.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define COUNT(a)	(sizeof(a) / sizeof(*(a)))

/* What fits in a command, and is a multiple of every block */
#define PART_MAX	(8u << 20)

/* Where sizes from which on cards are worth it are kept */
enum crossing {
	CROSSING_CBC, CROSSING_CTR, CROSSING_ECB, CROSSING_XTS, CROSSING_DES3,
	CROSSING_GCM, CROSSING_CCM, CROSSING_CHACHA,
	CROSSING_DIGEST,				/* DIGESTS of them */
	CROSSING_HMAC = CROSSING_DIGEST + 9,		/* as many */
	CROSSING_CMAC = CROSSING_HMAC + 9,
	CROSSINGS,
};

/**
 * struct crossed - what the kernel has said of sizes
 * @when: the second in which it was said, or 0
 * @last: bytes up to which the CPU is faster, and so in jobs
 * @told: with debug = 1, a hash of the reason that was last printed
 */
struct crossed {
	_Atomic uint32_t	when, last[2], told;
};

#define NO_CARDS	64	/* operations with keys that are told apart */

/**
 * struct provider - the provider, as a program has loaded it
 * @refs: OpenSSL's, and one of each wait context of a job, which may outlive it
 * @core: OpenSSL's handle of it
 * @soft: a library context of ours with the default provider; not a child of
 *	the program's, which may be freed before the last of its keys, and we
 *	with that
 * @default_provider: that
 * @legacy: the legacy provider, if openssl.cnf wants it there, or NULL
 * @least: bytes from which on the kernel is asked; -1: it has to say
 * @off: OpenSSL's own code does all, and the kernel is never asked
 * @debug: print why OpenSSL's own code does something
 * @process: what a child must not have; NULL once OpenSSL has done with us
 * @ocf: the device of this process, or of the one before fork()
 * @crossings: what the kernel has said, by enum crossing
 * @no_card: operations with keys that no card was found for, by a hash of
 *	them: what it is, and in which second that was
 */
struct provider {
	atomic_int		refs;
	const OSSL_CORE_HANDLE	*core;
	OSSL_LIB_CTX		*soft;
	OSSL_PROVIDER		*default_provider, *legacy;
	long			least;
	bool			off, debug;
	struct process		*process;
	struct ocf		*ocf;
	struct crossed		crossings[CROSSINGS];
	_Atomic uint64_t	no_card[NO_CARDS];
};

/**
 * struct session - one of /dev/crypto, made when it is first needed
 * @prov: whose
 * @crossing: where its size is kept
 * @describe: fills in what it is to be, with the keys of @owner
 * @owner: whose keys
 * @generation: in which process it was made; 0: it was not
 * @looks: how often it was asked whether something small is worth it
 * @id: its number
 * @other_key: the owner has another key than the session
 * @never_pauses: no job is paused while it works
 * @taglen: bytes of tag beside what it encrypts; 0: none
 */
struct session {
	struct provider		*prov;
	enum crossing		crossing;
	void			(*describe)(const void *owner,
					    struct ocf_session_open *params);
	const void		*owner;
	uint64_t		generation;
	unsigned int		looks;
	uint32_t		id;
	bool			other_key, never_pauses;
	size_t			taglen;
};

/* device.c */
int device_init(struct provider *prov);
void device_exit(struct provider *prov);
const char *device_state(struct provider *prov);
bool session_is_worth(struct session *ses, size_t len);
int session_run(struct session *ses, struct ocf_command *c);
void session_run_many(struct session *ses, struct ocf_command *commands,
		      struct ocf_result *results, size_t count);
void session_end(struct session *ses);
bool public_is_worth(struct provider *prov, const struct ocf_public *op);
int public_run(struct provider *prov, struct ocf_public *op);

/* debug.c */
void debug_session(struct session *ses, struct crossed *said, bool hardware,
		   int err);
void debug_public(struct provider *prov, const struct ocf_public *op, int err);

static inline uint64_t addr(const void *p)
{
	return (uintptr_t)p;
}

/* The tables of each kind */
extern const OSSL_ALGORITHM cipher_algorithms[];
extern const OSSL_ALGORITHM digest_algorithms[];
extern const OSSL_ALGORITHM mac_algorithms[];
extern const OSSL_ALGORITHM rand_algorithms[];
extern const OSSL_ALGORITHM key_algorithms[];
extern const OSSL_ALGORITHM signature_algorithms[];
extern const OSSL_ALGORITHM exchange_algorithms[];
extern const OSSL_ALGORITHM asym_algorithms[];

/* OpenSSL 3.5's, which 3.0 does not ask for */
#ifndef OSSL_FUNC_CIPHER_PIPELINE_ENCRYPT_INIT
#define OSSL_FUNC_CIPHER_PIPELINE_ENCRYPT_INIT	15
#define OSSL_FUNC_CIPHER_PIPELINE_DECRYPT_INIT	16
#define OSSL_FUNC_CIPHER_PIPELINE_UPDATE	17
#define OSSL_FUNC_CIPHER_PIPELINE_FINAL		18
#endif
#define PIPELINE_TAG	"pipeline-tag"
#define PIPES_MAX	32		/* EVP_MAX_PIPES */

typedef int (*pipe_init_fn)(void *ctx, const unsigned char *key, size_t keylen,
			    const unsigned char *iv, size_t ivlen,
			    const OSSL_PARAM params[]);

/**
 * struct pipe_kind - contexts that can be in pipelines
 * @make: makes one for the cipher of another
 * @free: ends one
 * @dup: copies one
 * @encrypt_init: begins the message of one
 * @decrypt_init: likewise
 * @update: goes on with one alone
 * @final: ends its message
 * @session: the kernel's of one, which does for all: they have one key
 * @offer: fills in a command, if what one is to go on with is the kernel's
 * @take: makes of its result what the caller sees
 */
struct pipe_kind {
	void		*(*make)(void *like);
	void		(*free)(void *ctx);
	void		*(*dup)(void *ctx);
	pipe_init_fn	encrypt_init, decrypt_init;
	int		(*update)(void *ctx, unsigned char *out, size_t *outl,
				  size_t outsize, const unsigned char *in,
				  size_t len);
	int		(*final)(void *ctx, unsigned char *out, size_t *outl,
				 size_t outsize);
	struct session	*(*session)(void *ctx);
	bool		(*offer)(void *ctx, unsigned char *out, size_t outsize,
				 const unsigned char *in, size_t len,
				 struct ocf_command *c);
	int		(*take)(void *ctx, int res, unsigned char *out,
				size_t *outl, const unsigned char *in,
				size_t len);
};

/**
 * struct pipes - the pipelines of a context: what it begins with
 * @kind: what they are made of
 * @each: their contexts, NULL if there were none yet
 * @count: how many
 */
struct pipes {
	const struct pipe_kind	*kind;
	void			**each;
	size_t			count;
};

/* pipeline.c: a provider's calls, of what begins with struct pipes */
int pipes_encrypt_init(void *ctx, const unsigned char *key, size_t keylen,
		       size_t count, const unsigned char **iv, size_t ivlen,
		       const OSSL_PARAM params[]);
int pipes_decrypt_init(void *ctx, const unsigned char *key, size_t keylen,
		       size_t count, const unsigned char **iv, size_t ivlen,
		       const OSSL_PARAM params[]);
int pipes_update(void *ctx, size_t count, unsigned char **out, size_t *outl,
		 const size_t *outsize, const unsigned char **in,
		 const size_t *inl);
int pipes_final(void *ctx, size_t count, unsigned char **out, size_t *outl,
		const size_t *outsize);
void pipes_end(struct pipes *p);
int pipes_dup(struct pipes *p);
int pipes_set(struct pipes *p, const OSSL_PARAM params[],
	      int (*set)(void *ctx, const OSSL_PARAM params[]));
int pipes_tags(struct pipes *p, const OSSL_PARAM params[],
	       int (*set)(void *ctx, OSSL_PARAM params[]));

/* cipher.c: OpenSSL's own, with neither key nor IV; NULL if there is none */
EVP_CIPHER_CTX *soft_cipher(struct provider *prov, const char *name);

/* aead.c; their rows are in the table of cipher.c */
extern const OSSL_DISPATCH aes_128_gcm_calls[], aes_192_gcm_calls[],
	aes_256_gcm_calls[], aes_128_ccm_calls[], aes_192_ccm_calls[],
	aes_256_ccm_calls[], chacha_calls[];

/* digest.c */
struct digest_row {
	const char	*name;		/* OpenSSL's */
	const char	*kernel;	/* ours */
	unsigned int	size;
};
#define DIGESTS 9
extern const struct digest_row digest_rows[DIGESTS];
const struct digest_row *digest_by_name(struct provider *prov,
					const char *name);
size_t digest_block(const struct digest_row *row);

/**
 * struct gathered - data that are kept until it is known how many there are
 * @data: the data
 * @len: bytes
 * @room: for how many there is memory
 */
struct gathered {
	unsigned char	*data;
	size_t		len;
	size_t		room;
};

#define GATHER_MAX	(1u << 20)	/* what is longer is done as it comes */

bool gather(struct gathered *g, const void *data, size_t len);
bool gather_dup(struct gathered *to, const struct gathered *from);
void gather_free(struct gathered *g);

/**
 * struct key - a key of ours: OpenSSL's
 * @prov: whose
 * @refs: its users
 * @pkey: of the default provider; NULL until it is imported
 * @type: "RSA", ...
 * @has: OSSL_KEYMGMT_SELECT_* of what was imported or made
 */
struct key {
	struct provider	*prov;
	atomic_int	refs;
	EVP_PKEY	*pkey;
	const char	*type;
	int		has;
};

/* provider.c */
void provider_hold(struct provider *prov);
void provider_put(struct provider *prov);

/* For what is in a library context that has not the program's */
int without_properties(const OSSL_PARAM params[],
		       int (*set)(void *ctx, const OSSL_PARAM params[]),
		       void *ctx);

/* key.c */
void key_hold(struct key *key);
void key_put(struct key *key);

/**
 * struct keyed - an operation with a key: the first of its context
 * @prov: whose
 * @key: the key
 * @soft: OpenSSL's own, NULL before there is a key
 */
struct keyed {
	struct provider	*prov;
	struct key	*key;
	EVP_PKEY_CTX	*soft;
};

/* keyed.c */
int keyed_begin(struct keyed *k, struct key *key,
		int (*begin)(EVP_PKEY_CTX *ctx), const OSSL_PARAM params[]);
int keyed_dup(struct keyed *k);
void keyed_end(struct keyed *k);
int keyed_set(void *ctx, const OSSL_PARAM params[]);
int keyed_get(void *ctx, OSSL_PARAM params[]);

/* der.c */
unsigned char *rsa_private_der(const struct key *key, int *len);

/*
 * public.c: what a context of OpenSSL's is set to do, by a card.  All return
 * whether it was done; what may be wrong with @valid.
 */
bool rsa_sign(struct key *key, EVP_PKEY_CTX *ctx, unsigned char *sig,
	      size_t *siglen, size_t room, const unsigned char *tbs,
	      size_t tbslen);
bool rsa_verify(struct key *key, EVP_PKEY_CTX *ctx, const unsigned char *sig,
		size_t siglen, const unsigned char *tbs, size_t tbslen,
		bool *valid);
bool ecdsa_sign(struct key *key, EVP_PKEY_CTX *ctx, unsigned char *sig,
		size_t *siglen, size_t room, const unsigned char *tbs,
		size_t tbslen);
bool ecdsa_verify(struct key *key, EVP_PKEY_CTX *ctx, const unsigned char *sig,
		  size_t siglen, const unsigned char *tbs, size_t tbslen,
		  bool *valid);
bool rsa_encrypt(struct key *key, EVP_PKEY_CTX *ctx, unsigned char *out,
		 size_t *outlen, size_t room, const unsigned char *in,
		 size_t inlen);
bool rsa_decrypt(struct key *key, EVP_PKEY_CTX *ctx, unsigned char *out,
		 size_t *outlen, size_t room, const unsigned char *in,
		 size_t inlen, bool *valid);
bool exchange(struct key *key, struct key *peer, EVP_PKEY_CTX *ctx, bool pad,
	      unsigned char *out, size_t *outlen, size_t room);

#endif /* PROVIDER_H */
