/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libocf: public-key operations.  ocf_public(3)
 *
 * Operands and results are octet strings: numbers with the most significant
 * octet first, RSA keys in DER.  enum ocf_pk_code of <linux/ocf.h> lists them.
 */
#ifndef OCF_PUBLIC_H
#define OCF_PUBLIC_H

#include <ocf/crypt.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OCF_PUBLIC_IN_MAX	8
#define OCF_PUBLIC_OUT_MAX	2

/**
 * struct ocf_public - a public-key operation
 * @code: which
 * @scheme: of RSA
 * @curve: of EC
 * @policy: OCF_POLICY_LATENCY or OCF_POLICY_CPU
 * @hash: name of a digest, or NULL
 * @salt: PSS: bytes, or OCF_PK_SALT_ANY
 * @flags: OCF_SESSION_HARDWARE, OCF_SESSION_SOFTWARE
 * @device: the only device to use, or NULL
 * @in: operands
 * @out: buffers for the results
 */
struct ocf_public {
	enum ocf_pk_code	code;
	enum ocf_pk_scheme	scheme;
	enum ocf_pk_curve	curve;
	enum ocf_policy		policy;
	const char		*hash;
	uint32_t		salt;
	uint32_t		flags;
	const char		*device;
	struct iovec		in[OCF_PUBLIC_IN_MAX];
	struct iovec		out[OCF_PUBLIC_OUT_MAX];
};

/**
 * ocf_public_run() - run the operation, and wait for the result
 * @ocf: /dev/crypto
 * @op: the operation
 *
 * Return: bytes of the first result, 0 if there is no result; or -errno:
 * -EBADMSG: the signature is wrong; for other errors see struct ocf_pk_command.
 */
int ocf_public_run(struct ocf *ocf, const struct ocf_public *op);

/**
 * ocf_public_command() - make a command of the operation, for a queue
 * @op: the operation
 * @cookie: the command's
 * @values: OCF_PUBLIC_IN_MAX + OCF_PUBLIC_OUT_MAX entries, which are filled in,
 *	and must stay until the command has begun
 * @command: filled in
 *
 * Return: 0, or -EINVAL: there is no such operation, or a name is too long.
 */
int ocf_public_command(const struct ocf_public *op, uint64_t cookie,
		       struct ocf_pk_value *values,
		       struct ocf_pk_command *command);

#ifdef __cplusplus
}
#endif
#endif /* OCF_PUBLIC_H */
