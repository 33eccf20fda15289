/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libocf: sessions and operations of /dev/crypto.  ocf_crypt(3)
 *
 *	err = ocf_open(&ocf);
 *	if (err)
 *		errx(1, "%s", ocf_strerror(err));
 *	struct ocf_session_open params = {
 *		.mode = OCF_MODE_AEAD, .cipher = "aes-gcm",
 *		.key = (uintptr_t)key, .keylen = 16,
 *	};
 *	err = ocf_session_create(ocf, &params);
 *	n = ocf_seal(ocf, params.session, iv, 12, aad, aadlen, text, len, out,
 *		     tag);
 *
 * The structures are those of <linux/ocf.h>.  All calls return -errno for an
 * error.  Several threads may call them at a time, and so may a child of the
 * process that opened the handle: both have the same sessions then.
 */
#ifndef OCF_CRYPT_H
#define OCF_CRYPT_H

#include <linux/ocf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* /dev/crypto, opened */
struct ocf;

/**
 * ocf_open() - open /dev/crypto
 * @ocf: is set
 *
 * Return: 0; -ENODEV: the machine has no /dev/crypto; -EACCES: the caller has
 * no permission; -EPROTO: it belongs to another module; -EMFILE, -ENOMEM, ...:
 * ocf_strerror() explains it.
 */
int ocf_open(struct ocf **ocf);

/*
 * Closes the handle.  The sessions end when the last descriptor of the open
 * file is closed.  If the number of the descriptor belongs to another file by
 * now, that file stays open.  With NULL, it does nothing.
 */
void ocf_close(struct ocf *ocf);

/*
 * Whether the descriptor is still the handle's.  A daemon may have closed
 * descriptors that it does not know, and the number may be another file's.  Two
 * system calls.
 */
int ocf_is_open(const struct ocf *ocf);

/*
 * Frees a handle whose descriptor is not its own any more: a daemon has closed
 * it, and the number may be another file's.  With NULL, it does nothing.
 */
void ocf_forget(struct ocf *ocf);

/*
 * The handle's descriptor, for ioctl(): it is close-on-exec, and must not be
 * closed.
 */
int ocf_fd(const struct ocf *ocf);

/* The features of the kernel's module. */
const struct ocf_features *ocf_features(const struct ocf *ocf);

/**
 * ocf_algorithm() - describe an algorithm of the kernel
 * @ocf: /dev/crypto
 * @name: its name ("aes-cbc")
 * @algorithm: is filled in
 *
 * An algorithm that is known may still be unavailable: it may be weak, or no
 * device may have it.
 *
 * Return: 0, or -ENOENT.
 */
int ocf_algorithm(const struct ocf *ocf, const char *name,
		  struct ocf_algorithm *algorithm);

/**
 * ocf_strerror() - explain an error
 * @err: the return value of a call, or ocf_result.res
 *
 * If @err is what the thread's last call has returned, the sentence names the
 * wrong parameter, as far as it is known.
 *
 * Return: a sentence; strerrordesc_np() for an error that has no special
 * meaning here.
 */
const char *ocf_strerror(int err);

/* ---- sessions ---- */

/**
 * ocf_session_create() - open a session
 * @ocf: /dev/crypto
 * @params: its parameters; @session is set to the number that commands use for
 *	it.  A @size of 0 is that of the structure's first version
 *
 * Return: 0, or an error of OCF_SESSION_OPEN.
 */
int ocf_session_create(struct ocf *ocf, struct ocf_session_open *params);

/**
 * ocf_session_destroy() - close a session; commands under way finish
 * @ocf: /dev/crypto
 * @session: which
 *
 * Return: 0, or -EINVAL: there is no such session.
 */
int ocf_session_destroy(struct ocf *ocf, uint32_t session);

/**
 * ocf_session_change() - change the keys of a session
 * @ocf: /dev/crypto
 * @session: which
 * @key: the cipher's new key; NULL: the present one
 * @keylen: bytes
 * @mackey: the MAC's new key; NULL: the present one
 * @mackeylen: bytes
 *
 * Return: 0, or an error of OCF_SESSION_REKEY.
 */
int ocf_session_change(struct ocf *ocf, uint32_t session, const void *key,
		       size_t keylen, const void *mackey, size_t mackeylen);

/**
 * ocf_session_info() - what a session is, and which device serves it
 * @ocf: /dev/crypto
 * @session: which
 * @info: is filled in
 *
 * Return: 0, or -EINVAL: there is no such session.
 */
int ocf_session_info(struct ocf *ocf, uint32_t session,
		     struct ocf_session_query *info);

/* ---- operations ---- */

/**
 * ocf_run() - run a command and wait for its result
 * @ocf: /dev/crypto
 * @command: which
 *
 * Return: ocf_result.res.
 */
int ocf_run(struct ocf *ocf, const struct ocf_command *command);

/**
 * ocf_run_many() - run commands and wait for all of them
 * @ocf: /dev/crypto
 * @commands: which
 * @results: are filled in, in the same order
 * @count: how many; any number
 *
 * Return: 0, or -errno of OCF_RUN; then the later results are not filled in.
 */
int ocf_run_many(struct ocf *ocf, const struct ocf_command *commands,
		 struct ocf_result *results, size_t count);

/**
 * ocf_run_scatter() - run a command on data in several buffers
 * @ocf: /dev/crypto
 * @command: the command; its @src and @dst are ignored, and so is its @len,
 *	except in OCF_MODE_CHAIN
 * @src: the source's buffers
 * @srcs: how many buffers
 * @dst: the destination's buffers; NULL with @dsts == 0: in place.  Ignored if
 *	the command has no destination
 * @dsts: how many buffers
 *
 * The data are copied.
 *
 * Return: ocf_result.res; -ENOSPC: the result does not fit into @dst; -E2BIG;
 * -ENOMEM.
 */
int ocf_run_scatter(struct ocf *ocf, const struct ocf_command *command,
		    const struct iovec *src, int srcs,
		    const struct iovec *dst, int dsts);

/**
 * ocf_cipher() - encrypt or decrypt
 * @ocf: /dev/crypto
 * @session: a session of OCF_MODE_CIPHER
 * @op: OCF_OP_ENCRYPT or OCF_OP_DECRYPT
 * @iv: IV or counter block
 * @ivlen: bytes of it, which must be the session's
 * @src: what
 * @dst: the destination, may be @src
 * @len: bytes
 *
 * Return: @len, or -errno as ocf_result.res.
 */
int ocf_cipher(struct ocf *ocf, uint32_t session, enum ocf_op op,
	       const void *iv, size_t ivlen, const void *src, void *dst,
	       size_t len);

/**
 * ocf_digest() - compute a digest, or a MAC without a nonce
 * @ocf: /dev/crypto
 * @session: a session of OCF_MODE_DIGEST
 * @data: the data
 * @len: bytes
 * @tag: the destination: as many bytes as the session's digest has
 *
 * Return: bytes of the digest, or -errno as ocf_result.res.
 */
int ocf_digest(struct ocf *ocf, uint32_t session, const void *data, size_t len,
	       void *tag);

/**
 * ocf_mac() - compute a MAC with a nonce: AES-GMAC
 * @ocf: /dev/crypto
 * @session: a session of OCF_MODE_DIGEST
 * @iv: nonce, another for each message
 * @ivlen: bytes of it, which must be the session's
 * @data: the data
 * @len: bytes
 * @tag: the destination: as many bytes as the session's MAC has
 *
 * Return: bytes of the MAC, or -errno as ocf_result.res.
 */
int ocf_mac(struct ocf *ocf, uint32_t session, const void *iv, size_t ivlen,
	    const void *data, size_t len, void *tag);

/**
 * ocf_seal() - encrypt, and authenticate
 * @ocf: /dev/crypto
 * @session: a session of OCF_MODE_AEAD or OCF_MODE_ETA
 * @iv: IV or nonce
 * @ivlen: bytes of it, which must be the session's
 * @aad: additional data, which are only authenticated
 * @aadlen: bytes
 * @src: the plaintext
 * @len: bytes
 * @dst: the destination, may be @src
 * @tag: the destination of the tag: as many bytes as the session's tag has
 *
 * Return: @len, or -errno as ocf_result.res.
 */
int ocf_seal(struct ocf *ocf, uint32_t session, const void *iv, size_t ivlen,
	     const void *aad, size_t aadlen, const void *src, size_t len,
	     void *dst, void *tag);

/**
 * ocf_unseal() - verify, and decrypt
 * @ocf: /dev/crypto
 * @session: a session of OCF_MODE_AEAD or OCF_MODE_ETA
 * @iv: the same
 * @ivlen: bytes
 * @aad: the same
 * @aadlen: bytes
 * @src: the ciphertext
 * @len: bytes
 * @dst: the destination, may be @src
 * @tag: the expected tag
 *
 * Return: @len; -EBADMSG: the tag is wrong, and nothing was written; or -errno
 * as ocf_result.res.
 */
int ocf_unseal(struct ocf *ocf, uint32_t session, const void *iv, size_t ivlen,
	       const void *aad, size_t aadlen, const void *src, size_t len,
	       void *dst, const void *tag);

/**
 * ocf_random() - get random numbers
 * @data: where to
 * @len: bytes
 *
 * They come from the kernel, which the generators of devices feed (random(4)),
 * so no device is needed.
 *
 * Return: 0, or -errno of getrandom().
 */
int ocf_random(void *data, size_t len);

#ifdef __cplusplus
}
#endif
#endif /* OCF_CRYPT_H */
