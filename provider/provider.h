/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ocf.so, a provider for OpenSSL 3: the map.
 *
 * Each algorithm has two implementations: OpenSSL's own code, in a library
 * context of ours, and a session of /dev/crypto.  OpenSSL's code does
 * operations that are too small for any card, without a system call, and those
 * that the kernel cannot do or fails to do.  The provider keeps the keys, so
 * that a child of fork() can open sessions of its own.  It wipes them when
 * their context is freed.
 *
 * device.c handles the process's open /dev/crypto and its sessions.  cipher.c,
 * aead.c, digest.c, mac.c, key.c, signature.c, exchange.c, asym.c and rand.c
 * are OpenSSL's kinds of algorithms, and provider.c the table of them.
 * blocks.c passes whole blocks of a cipher to the kernel or to OpenSSL's code.
 * cbc_record.c has TLS records of a cipher with a MAC, record.c those of AEAD,
 * pipeline.c many messages at a time.  keyed.c is common to operations with
 * keys, public.c asks the kernel for them, and der.c writes private keys for
 * it.  debug.c logs which operations are left to OpenSSL.
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

/* The most bytes of one command; a multiple of every block length */
#define PART_MAX	(8u << 20)

/*
 * Index into provider.crossings.  Each entry holds the size from which on a
 * card is faster than the CPU.
 */
enum crossing {
	CROSSING_CBC, CROSSING_CTR, CROSSING_ECB, CROSSING_XTS, CROSSING_DES3,
	CROSSING_GCM, CROSSING_CCM, CROSSING_CHACHA,
	CROSSING_DIGEST,			/* one for each of DIGESTS */
	CROSSING_HMAC = CROSSING_DIGEST + 9,	/* likewise */
	CROSSING_CMAC = CROSSING_HMAC + 9,
	CROSSINGS,
};

/**
 * struct crossed - the size from which on a card is worth it
 * @when: when the kernel last gave the size, s; 0: never
 * @last: largest number of bytes that the CPU does faster, outside [0] and
 *	inside [1] an asynchronous job
 * @told: with debug = 1, a hash of the reason printed last
 */
struct crossed {
	_Atomic uint32_t	when, last[2], told;
};

/*
 * Parameters of the provider, beside OpenSSL's: the numbers of operations of
 * this instance in this process, uint64_t
 */
#define PARAM_KERNEL	"operations-kernel"
#define PARAM_OWN	"operations-openssl"

#define NO_CARDS	64	/* entries of provider.no_card */

/**
 * struct provider - one instance, as a program has loaded it
 * @refs: one reference of OpenSSL, and one of each job's wait context, which
 *	may live longer
 * @core: OpenSSL's handle of the provider
 * @soft: our own library context, for OpenSSL's own code.  It is no child of
 *	the program's context: the program may free its context before its last
 *	key, and a child would go with it.
 * @default_provider: the default provider in @soft
 * @legacy: the legacy provider in @soft if openssl.cnf asks for it, or NULL
 * @least: smallest operation that goes to the kernel, bytes; -1: the kernel
 *	says
 * @off: never ask the kernel; OpenSSL's own code does everything
 * @debug: print why OpenSSL's own code does an operation
 * @process: the state of this process; NULL after OpenSSL has unloaded the
 *	provider
 * @ocf: /dev/crypto as this process, or its parent before fork(), opened it
 * @crossings: the sizes from which on a card is worth it, by enum crossing
 * @no_card: public-key operations that no card can do: a hash of each
 *	operation and the second in which the kernel said so
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
 * struct session - a session of /dev/crypto, opened at its first operation
 * @prov: the provider
 * @crossing: index into provider.crossings
 * @describe: fills in the parameters for opening, with the keys of @owner
 * @owner: the context with the keys
 * @generation: process.generation of the process that opened it; 0: not open
 * @looks: how often session_is_worth() was asked about a small operation
 * @id: the number that the kernel gave
 * @other_key: the owner's key has changed since the session was opened
 * @never_pauses: do not pause an asynchronous job for its operations
 * @taglen: length of the tag behind the ciphertext, bytes; 0: none
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
void device_counts(struct provider *prov, uint64_t *kernel, uint64_t *own);
bool session_is_worth(struct session *ses, size_t len);
int session_run(struct session *ses, struct ocf_command *c);
void session_run_many(struct session *ses, struct ocf_command *commands,
		      struct ocf_result *results, size_t n);
void session_left(struct session *ses);
void session_end(struct session *ses);
bool public_is_worth(struct provider *prov, const struct ocf_public *op);
int public_run(struct provider *prov, struct ocf_public *op);

/* debug.c */
void debug_session(struct session *ses, struct crossed *said, bool hardware,
		   int err);
void debug_public(struct provider *prov, const struct ocf_public *op, int err);
void debug_counts(struct provider *prov);

static inline uint64_t addr(const void *p)
{
	return (uintptr_t)p;
}

/* The algorithms of each kind */
extern const OSSL_ALGORITHM cipher_algorithms[];
extern const OSSL_ALGORITHM digest_algorithms[];
extern const OSSL_ALGORITHM mac_algorithms[];
extern const OSSL_ALGORITHM rand_algorithms[];
extern const OSSL_ALGORITHM key_algorithms[];
extern const OSSL_ALGORITHM signature_algorithms[];
extern const OSSL_ALGORITHM exchange_algorithms[];
extern const OSSL_ALGORITHM asym_algorithms[];

/* Functions of OpenSSL 3.5, missing in the headers of 3.0 */
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
 * struct pipe_kind - a kind of context that a pipeline can consist of
 * @make: makes a context for the same cipher as @like
 * @free: frees a context
 * @dup: copies a context
 * @encrypt_init: begins to encrypt a message
 * @decrypt_init: begins to decrypt a message
 * @update: processes data of one context alone
 * @final: ends the message of one context
 * @session: returns the session of a context; all contexts of a pipeline have
 *	the same key, so one session does them all
 * @offer: fills in a command for the context's data; false if the kernel should
 *	not do them
 * @take: turns the result of that command into what the program gets
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
 * struct pipes - the pipelines of a context, the first member of the context
 * @kind: the kind of the contexts in @each
 * @each: one context for each message, or NULL before the first use
 * @count: number of entries of @each
 */
struct pipes {
	const struct pipe_kind	*kind;
	void			**each;
	size_t			count;
};

/* pipeline.c: OpenSSL's calls for a context that begins with struct pipes */
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

/*
 * cipher.c: a context of OpenSSL's own code, without key and IV; NULL if
 * OpenSSL has no such cipher
 */
EVP_CIPHER_CTX *soft_cipher(struct provider *prov, const char *name);

/* aead.c: the calls of each AEAD; cipher.c has the table of names */
extern const OSSL_DISPATCH aes_128_gcm_calls[], aes_192_gcm_calls[],
	aes_256_gcm_calls[], aes_128_ccm_calls[], aes_192_ccm_calls[],
	aes_256_ccm_calls[], chacha_calls[];

/* digest.c */
struct digest_row {
	const char	*name;		/* OpenSSL's name */
	const char	*kernel;	/* the kernel's name */
	unsigned int	size;
};
#define DIGESTS 9
extern const struct digest_row digest_rows[DIGESTS];
const struct digest_row *digest_by_name(struct provider *prov,
					const char *name);
size_t digest_block(const struct digest_row *row);

/**
 * struct gathered - data collected until the length of the message is known
 * @data: the data
 * @len: length of the data, bytes
 * @room: size of the allocation, bytes
 */
struct gathered {
	unsigned char	*data;
	size_t		len;
	size_t		room;
};

#define GATHER_MAX	(1u << 20)	/* longer messages are not collected */

bool gather(struct gathered *g, const void *data, size_t len);
bool gather_dup(struct gathered *to, const struct gathered *from);
void gather_free(struct gathered *g);

/**
 * struct key - a key of the program
 * @prov: the provider
 * @refs: references
 * @pkey: the same key in the default provider; NULL before the import
 * @type: "RSA", ...
 * @has: OSSL_KEYMGMT_SELECT_* of the parts that were imported or generated
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

/*
 * Calls @set with all of @params but the property queries: these name providers
 * of the program's library context, and ours has others.
 */
int without_properties(const OSSL_PARAM params[],
		       int (*set)(void *ctx, const OSSL_PARAM params[]),
		       void *ctx);

/* key.c */
void key_hold(struct key *key);
void key_put(struct key *key);

/**
 * struct keyed - a public-key operation, the first member of its context
 * @prov: the provider
 * @key: the key
 * @soft: the context of OpenSSL's own code; NULL before a key is set
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
 * public.c: does on a card what @ctx, a context of OpenSSL's own code, is set
 * up to do.  Each function returns true if a card has done it.  @valid says
 * whether the signature or the padding was right.
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
