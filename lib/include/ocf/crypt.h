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
 * What is in structures is what <linux/ocf.h> says.  All calls give -errno
 * where something is wrong.  Several threads may call them at a time, and so
 * may a child of the process that opened the handle: both have the same
 * sessions then.
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
 * Return: 0; -ENODEV: there is none; -EACCES: the caller may not; -EPROTO: it
 * is not ours; -EMFILE, -ENOMEM, ...: ocf_strerror() says it in words.
 */
int ocf_open(struct ocf **ocf);

/*
 * Closes it, and with the last descriptor of the open file all its sessions.
 * If the number belongs to another file by now, that stays open.  NULL is
 * nothing.
 */
void ocf_close(struct ocf *ocf);

/*
 * Whether its descriptor is its own: a daemon may have closed all that it did
 * not know, and the number be another file's.  Two system calls.
 */
int ocf_is_open(const struct ocf *ocf);

/*
 * Frees it where its descriptor is not its own any more: a daemon has closed
 * all it did not know, and the number may be another's.  NULL is nothing.
 */
void ocf_forget(struct ocf *ocf);

/* Its descriptor, for ioctl(): close-on-exec, and not to be closed. */
int ocf_fd(const struct ocf *ocf);

/* What the kernel has. */
const struct ocf_features *ocf_features(const struct ocf *ocf);

/**
 * ocf_algorithm() - what the kernel knows of an algorithm
 * @ocf: /dev/crypto
 * @name: its name ("aes-cbc")
 * @algorithm: is filled in
 *
 * That it is known does not mean that a session can be had: it may be weak, or
 * no device may have it.
 *
 * Return: 0, or -ENOENT.
 */
int ocf_algorithm(const struct ocf *ocf, const char *name,
		  struct ocf_algorithm *algorithm);

/**
 * ocf_strerror() - what an error means here
 * @err: what a call has returned, or ocf_result.res
 *
 * If it is what the thread's last call has returned, the sentence says which
 * of the parameters is wrong, as far as that is known.
 *
 * Return: a sentence; for what means nothing special here, strerrordesc_np().
 */
const char *ocf_strerror(int err);

/* ---- sessions ---- */

/**
 * ocf_session_create() - open a session
 * @ocf: /dev/crypto
 * @params: what it is to be; its @session is set, which commands name it by.
 *	A @size of 0 is that of the structure's first version
 *
 * Return: 0, or as OCF_SESSION_OPEN.
 */
int ocf_session_create(struct ocf *ocf, struct ocf_session_open *params);

/**
 * ocf_session_destroy() - close a session; what is under way is finished
 * @ocf: /dev/crypto
 * @session: which
 *
 * Return: 0, or -EINVAL: there is none.
 */
int ocf_session_destroy(struct ocf *ocf, uint32_t session);

/**
 * ocf_session_change() - give a session other keys
 * @ocf: /dev/crypto
 * @session: which
 * @key: the cipher's, or NULL: as it is
 * @keylen: bytes
 * @mackey: the MAC's, or NULL: as it is
 * @mackeylen: bytes
 *
 * Return: 0, or as OCF_SESSION_REKEY.
 */
int ocf_session_change(struct ocf *ocf, uint32_t session, const void *key,
		       size_t keylen, const void *mackey, size_t mackeylen);

/**
 * ocf_session_info() - what a session is, and which device serves it
 * @ocf: /dev/crypto
 * @session: which
 * @info: is filled in
 *
 * Return: 0, or -EINVAL: there is none.
 */
int ocf_session_info(struct ocf *ocf, uint32_t session,
		     struct ocf_session_query *info);

/* ---- operations ---- */

/**
 * ocf_run() - do a command and wait for its result
 * @ocf: /dev/crypto
 * @command: which
 *
 * Return: ocf_result.res.
 */
int ocf_run(struct ocf *ocf, const struct ocf_command *command);

/**
 * ocf_run_many() - do commands and wait for all of them
 * @ocf: /dev/crypto
 * @commands: which
 * @results: are filled in, in the same order
 * @count: how many; any number
 *
 * Return: 0, or -errno of OCF_RUN, with results from some on not filled in.
 */
int ocf_run_many(struct ocf *ocf, const struct ocf_command *commands,
		 struct ocf_result *results, size_t count);

/**
 * ocf_run_scatter() - do a command on what lies in several places
 * @ocf: /dev/crypto
 * @command: which; its @src and @dst are not looked at, nor is its @len but of
 *	OCF_MODE_CHAIN
 * @src: where the source is
 * @srcs: how many places
 * @dst: where the result goes; NULL, and none, for where the source is; not
 *	looked at if the command has no destination
 * @dsts: how many places
 *
 * There is a copy.
 *
 * Return: ocf_result.res; -ENOSPC: @dst has less room than that; -E2BIG;
 * -ENOMEM.
 */
int ocf_run_scatter(struct ocf *ocf, const struct ocf_command *command,
		    const struct iovec *src, int srcs,
		    const struct iovec *dst, int dsts);

/**
 * ocf_cipher() - encrypt or decrypt
 * @ocf: /dev/crypto
 * @session: one of OCF_MODE_CIPHER
 * @op: OCF_OP_ENCRYPT or OCF_OP_DECRYPT
 * @iv: IV or counter block
 * @ivlen: bytes, as many as the session's has
 * @src: what
 * @dst: where to, may be @src
 * @len: bytes
 *
 * Return: @len, or -errno as ocf_result.res.
 */
int ocf_cipher(struct ocf *ocf, uint32_t session, enum ocf_op op,
	       const void *iv, size_t ivlen, const void *src, void *dst,
	       size_t len);

/**
 * ocf_digest() - a digest, or a MAC without a nonce
 * @ocf: /dev/crypto
 * @session: one of OCF_MODE_DIGEST
 * @data: what of
 * @len: bytes
 * @tag: where to, as many bytes as the session's digest has
 *
 * Return: bytes of the digest, or -errno as ocf_result.res.
 */
int ocf_digest(struct ocf *ocf, uint32_t session, const void *data, size_t len,
	       void *tag);

/**
 * ocf_mac() - a MAC with a nonce: AES-GMAC
 * @ocf: /dev/crypto
 * @session: one of OCF_MODE_DIGEST
 * @iv: nonce, another for each message
 * @ivlen: bytes, as many as the session's has
 * @data: what of
 * @len: bytes
 * @tag: where to, as many bytes as the session's MAC has
 *
 * Return: bytes of the MAC, or -errno as ocf_result.res.
 */
int ocf_mac(struct ocf *ocf, uint32_t session, const void *iv, size_t ivlen,
	    const void *data, size_t len, void *tag);

/**
 * ocf_seal() - encrypt, and authenticate
 * @ocf: /dev/crypto
 * @session: one of OCF_MODE_AEAD or OCF_MODE_ETA
 * @iv: IV or nonce
 * @ivlen: bytes, as many as the session's has
 * @aad: what is authenticated besides
 * @aadlen: bytes
 * @src: what is encrypted
 * @len: bytes
 * @dst: where to, may be @src
 * @tag: where the tag goes, as many bytes as the session's has
 *
 * Return: @len, or -errno as ocf_result.res.
 */
int ocf_seal(struct ocf *ocf, uint32_t session, const void *iv, size_t ivlen,
	     const void *aad, size_t aadlen, const void *src, size_t len,
	     void *dst, void *tag);

/**
 * ocf_unseal() - the way back
 * @ocf: /dev/crypto
 * @session: as of ocf_seal()
 * @iv: the same
 * @ivlen: bytes
 * @aad: the same
 * @aadlen: bytes
 * @src: what is decrypted
 * @len: bytes
 * @dst: where to, may be @src
 * @tag: what the tag has to be
 *
 * Return: @len; -EBADMSG: it is another, and nothing was written; or -errno as
 * ocf_result.res.
 */
int ocf_unseal(struct ocf *ocf, uint32_t session, const void *iv, size_t ivlen,
	       const void *aad, size_t aadlen, const void *src, size_t len,
	       void *dst, const void *tag);

/**
 * ocf_random() - random numbers
 * @data: where to
 * @len: bytes
 *
 * They are the kernel's, which the generators of devices feed (random(4)); so
 * no device is needed.
 *
 * Return: 0, or -errno of getrandom().
 */
int ocf_random(void *data, size_t len);

#ifdef __cplusplus
}
#endif
#endif /* OCF_CRYPT_H */
