/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OCF for Linux: public-key operations.
 *
 * They have no sessions: a request carries its operation and all operands, the
 * core chooses a device for it and gives it to another if that one dies.
 *
 *	struct ocf_pk_request *req = ocf_pk_alloc(GFP_KERNEL);
 *
 *	req->op.code = OCF_PK_MOD_EXP;
 *	req->op.in[0] = (struct ocf_pk_operand){ base, base_len };
 *	req->op.in[1] = (struct ocf_pk_operand){ exponent, exponent_len };
 *	req->op.in[2] = (struct ocf_pk_operand){ modulus, modulus_len };
 *	req->op.out[0] = (struct ocf_pk_result){ result, result_size };
 *	err = ocf_pk_run(req);
 *	ocf_pk_free(req);
 *
 * Numbers are octet strings, most significant octet first (RFC 8017 section
 * 4.1); leading zeros are allowed.  A result that is a number fills its whole
 * buffer, with zeros in front.
 */
#ifndef _LINUX_OCF_PK_H
#define _LINUX_OCF_PK_H

#include <linux/bits.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/ocf.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#define OCF_PK_IN_MAX		8	/* operands */
#define OCF_PK_OUT_MAX		2	/* results */
#define OCF_PK_NUMBER_MAX	1024	/* bytes of a number: 8192 bits */
#define OCF_PK_KEY_MAX		5120	/* bytes of an RSA key of that size */
#define OCF_PK_RSA_MIN		64	/* bytes of an RSA modulus: 512 bits */

/**
 * enum ocf_pk_code - the operations, with their operands and results
 * @OCF_PK_MOD_EXP: base, exponent, modulus: base ^ exponent mod modulus
 * @OCF_PK_MOD_EXP_CRT: p, q, base, dp, dq, qinv: the same by the Chinese
 *	remainder theorem, modulo p * q (RFC 8017 section 5.1.2, 2 b); p and q
 *	are primes
 * @OCF_PK_DSA_SIGN: digest, p, q, g, x: r, s (FIPS 186-4 section 4.6)
 * @OCF_PK_DSA_VERIFY: digest, p, q, g, y, r, s: nothing
 * @OCF_PK_DH: own private, peer's public, p: public ^ private mod p (PKCS #3);
 *	-EKEYREJECTED for a public value that is not between 1 and p - 1
 * @OCF_PK_MOD_ADD: a, b, modulus: a + b mod modulus
 * @OCF_PK_MOD_NEG: a, modulus: -a mod modulus
 * @OCF_PK_MOD_SUB: a, b, modulus: a - b mod modulus
 * @OCF_PK_MOD_MUL: a, b, modulus: a * b mod modulus
 * @OCF_PK_MOD_INV: a, modulus: a ^ -1 mod modulus, or -EDOM if there is none
 * @OCF_PK_MOD: a, modulus: a mod modulus
 * @OCF_PK_RSA_SIGN: digest, private key: signature
 * @OCF_PK_RSA_VERIFY: digest, signature, public key: nothing
 * @OCF_PK_RSA_ENCRYPT: message, public key, label: ciphertext
 * @OCF_PK_RSA_DECRYPT: ciphertext, private key, label: message
 * @OCF_PK_EC_PUBLIC: private: public
 * @OCF_PK_ECDH: own private, peer's public: x coordinate of the shared point
 *	(SP 800-56A section 5.7.1.2)
 * @OCF_PK_ECDSA_SIGN: digest, private: r, s (FIPS 186-5 section 6.4)
 * @OCF_PK_ECDSA_VERIFY: digest, public, r, s: nothing
 * @OCF_PK_X25519: own private, peer's public: shared secret (RFC 7748 section
 *	5), 32 octets each, least significant first as the RFC has them
 * @OCF_PK_COUNT: how many there are
 *
 * Who verifies gets 0 or -EBADMSG.  An RSA key is DER, RSAPrivateKey or
 * RSAPublicKey of RFC 8017 appendix A.1; its label is that of OAEP and may be
 * empty.  A private key of a curve is a number between 1 and the order, less
 * two at each end (as the kernel's library has it); a public one an
 * uncompressed point (SEC 1 section 2.3.3: 04, x, y).
 */
enum ocf_pk_code {
	OCF_PK_MOD_EXP,
	OCF_PK_MOD_EXP_CRT,
	OCF_PK_DSA_SIGN,
	OCF_PK_DSA_VERIFY,
	OCF_PK_DH,
	OCF_PK_MOD_ADD,
	OCF_PK_MOD_NEG,
	OCF_PK_MOD_SUB,
	OCF_PK_MOD_MUL,
	OCF_PK_MOD_INV,
	OCF_PK_MOD,
	OCF_PK_RSA_SIGN,
	OCF_PK_RSA_VERIFY,
	OCF_PK_RSA_ENCRYPT,
	OCF_PK_RSA_DECRYPT,
	OCF_PK_EC_PUBLIC,
	OCF_PK_ECDH,
	OCF_PK_ECDSA_SIGN,
	OCF_PK_ECDSA_VERIFY,
	OCF_PK_X25519,
	OCF_PK_COUNT
};

/**
 * enum ocf_pk_scheme - what goes around a number before RSA is applied to it
 * @OCF_PK_RAW: nothing: as long as the modulus, and less than it
 * @OCF_PK_PKCS1: RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2), RSAES-PKCS1-v1_5
 *	(section 7.2); a padding that is wrong gives a random message and no
 *	error, the same one for the same ciphertext and key
 * @OCF_PK_PSS: RSASSA-PSS (section 8.1), MGF1 with the same hash
 * @OCF_PK_OAEP: RSAES-OAEP (section 7.1), likewise
 * @OCF_PK_SCHEMES: how many there are
 */
enum ocf_pk_scheme {
	OCF_PK_RAW,
	OCF_PK_PKCS1,
	OCF_PK_PSS,
	OCF_PK_OAEP,
	OCF_PK_SCHEMES
};

/**
 * enum ocf_pk_curve - the curves of SP 800-186
 * @OCF_PK_NO_CURVE: where none is asked for
 * @OCF_PK_P256: secp256r1
 * @OCF_PK_P384: secp384r1
 * @OCF_PK_P521: secp521r1
 * @OCF_PK_CURVES: how many numbers there are
 */
enum ocf_pk_curve {
	OCF_PK_NO_CURVE,
	OCF_PK_P256,
	OCF_PK_P384,
	OCF_PK_P521,
	OCF_PK_CURVES
};

/**
 * struct ocf_pk_operand - a number or another octet string
 * @data: kernel memory
 * @len: bytes
 */
struct ocf_pk_operand {
	const u8	*data;
	u32		len;
};

/**
 * ocf_pk_number() - a number without the zeros in front
 * @data: the number
 * @len: bytes
 *
 * Return: the rest of @data; no bytes for zero.
 */
static inline struct ocf_pk_operand ocf_pk_number(const u8 *data, size_t len)
{
	while (len && !*data) {
		data++;
		len--;
	}
	return (struct ocf_pk_operand){ data, len };
}

/**
 * struct ocf_pk_result - where a result goes
 * @data: kernel memory
 * @size: room, bytes
 * @len: set on success: bytes of it; @size if it is a number
 */
struct ocf_pk_result {
	u8		*data;
	u32		size;
	u32		len;
};

/**
 * struct ocf_pk_op - an operation with all that goes into it
 * @code: which
 * @scheme: RSA only
 * @curve: EC only
 * @hash: of RSA signatures with PKCS1 (OCF_ALG_NONE: @in[0] is all of what is
 *	padded), of PSS and of OAEP: an unkeyed digest
 * @salt: PSS: bytes of salt; U32_MAX on verification: any
 * @in: operands, as many as the operation has
 * @out: results, likewise
 */
struct ocf_pk_op {
	enum ocf_pk_code	code;
	enum ocf_pk_scheme	scheme;
	enum ocf_pk_curve	curve;
	enum ocf_alg		hash;
	u32			salt;
	struct ocf_pk_operand	in[OCF_PK_IN_MAX];
	struct ocf_pk_result	out[OCF_PK_OUT_MAX];
};

struct ocf_pk_request;

/**
 * typedef ocf_pk_done_t - a request's callback
 * @req: the request, which belongs to its consumer again
 * @err: 0, or why there is no result: -EBADMSG (a signature or an OAEP padding
 *	is wrong), -EKEYREJECTED (a key or a peer's value that must not be
 *	used), -EDOM (an operand is out of range: a modulus of zero, a message
 *	not less than its modulus, no inverse), -EINVAL (an operand makes no
 *	sense), -ENOSPC (the result does not fit), -ECANCELED, -ENODEV,
 *	-EOPNOTSUPP (no device can do it), -EIO, -ENOMEM
 *
 * Results of a request that failed are zeroed.
 *
 * Context: process; must not wait for another request.  May free the request,
 * and may submit it or others.
 */
typedef void (*ocf_pk_done_t)(struct ocf_pk_request *req, int err);

/**
 * struct ocf_pk_request - one public-key operation
 * @op: what is to be done
 * @flags: OCF_SESSION_HARDWARE, OCF_SESSION_SOFTWARE; neither means both
 * @policy: OCF_POLICY_CPU: cards, as long as one takes it
 * @device: the only device to use, or OCF_DEVICE_ANY
 * @done: called once, see ocf_pk_submit()
 * @cookie: the consumer's own
 * @used: set when it is over: number of the device that did it, or -ENODEV
 *
 * All memory is the consumer's from allocation to ocf_pk_submit() and from
 * @done on.
 */
struct ocf_pk_request {
	struct ocf_pk_op	op;
	u32			flags;
	enum ocf_policy		policy;
	int			device;
	ocf_pk_done_t		done;
	void			*cookie;
	int			used;

	/* private: the core's, see kernel/core/pk.c */
	struct ocf_pk_op	*now;		/* what the device is to do */
	struct ocf_pk_plain	*plain;		/* RSA without its padding */
	struct ocf_device	*dev;		/* where it is */
	struct ocf_device	*testing;
	struct list_head	node;
	struct work_struct	work;
	struct completion	over;
	u64			tried;		/* devices, a bit each */
	u64			started;	/* ns */
	u64			expected;	/* ns of work */
	unsigned long		deadline;	/* jiffies */
	u8			class;
	u8			at;
	bool			cancelled;
	bool			waiter;
	bool			entering;	/* in the driver's submit() */
	bool			late;
	int			err;

	/* the driver's, while it has the request */
	void			*priv;
};

/**
 * ocf_pk_alloc() - allocate a request
 * @gfp: how
 *
 * Context: process, or any with GFP_ATOMIC.
 * Return: a request of zeros, @device set to OCF_DEVICE_ANY, or NULL.
 */
struct ocf_pk_request *ocf_pk_alloc(gfp_t gfp);

/**
 * ocf_pk_free() - free a request that is not under way
 * @req: the request, or NULL
 *
 * Context: any.
 */
void ocf_pk_free(struct ocf_pk_request *req);

/**
 * ocf_pk_submit() - hand a request in
 * @req: the request
 *
 * Context: process; may sleep.
 * Return: 0: @done is called once, perhaps before this returns; or, and then it
 * is not:
 * * -EINVAL: operation, scheme, curve, hash or flags do not fit together, or
 *   an operand is missing
 * * -E2BIG: an operand is too large
 * * -EOPNOTSUPP: no device that may be used is capable of it
 * * -ENODEV: @device does not exist, or all that are capable are out of use
 * * -EBUSY: too many wait already
 * * what is wrong with an RSA key or message, as of ocf_pk_done_t
 * * -ENOMEM: no memory
 */
int ocf_pk_submit(struct ocf_pk_request *req);

/**
 * ocf_pk_run() - hand a request in and wait for its result
 * @req: the request; @done is not called
 *
 * Context: process; may sleep.
 * Return: the result, an error of ocf_pk_submit(), or -EINTR: the task is being
 * killed.  The request is over in any case.
 */
int ocf_pk_run(struct ocf_pk_request *req);

/**
 * ocf_pk_cancel() - give a request up
 * @req: a request whose memory is still there
 *
 * It ends with -ECANCELED, at once unless the CPU works on it.
 *
 * Context: process; may sleep.
 */
void ocf_pk_cancel(struct ocf_pk_request *req);

/**
 * ocf_pk_codes() - which operations there is a device for
 * @flags: as ocf_pk_request.flags
 *
 * Context: process or BH.
 * Return: BIT(OCF_PK_*) of each.
 */
u32 ocf_pk_codes(u32 flags);

/* ---- for drivers ---- */

/**
 * struct ocf_pk_ops - what a driver does
 * @codes: BIT(OCF_PK_*) for each operation.  Known answers decide: one of which
 *	none was right is taken off; a wrong answer keeps the device out
 * @schemes: BIT(OCF_PK_*) of the schemes RSA is done with.  Of a device with
 *	OCF_PK_RAW the core asks OCF_PK_RSA_ENCRYPT and OCF_PK_RSA_DECRYPT, as
 *	long as the modulus and less than it, and does all paddings itself:
 *	such a device need not have the other two
 * @depth: requests it takes at a time; ignored for software
 */
struct ocf_pk_ops {
	u32	codes;
	u32	schemes;
	u32	depth;

	/**
	 * @capable: may refuse what @codes allow (a modulus that is too long, a
	 * curve, a hash).  Optional.  Context: process; may sleep.
	 */
	bool (*capable)(struct ocf_device *dev, const struct ocf_pk_op *op);

	/**
	 * @submit: starts what @req->now says.  Software works on it here and
	 * now and returns its result.  Hardware returns -EINPROGRESS and calls
	 * ocf_pk_complete() later, once; or -EBUSY, having touched nothing,
	 * when it has no room: it is called again when something of it has
	 * completed, or after a while.  Any other return is the result.
	 * A card reads and writes memory of its driver's own: operands are
	 * copied in before this returns, results out by the completion.
	 * Context: process; may sleep.
	 */
	int (*submit)(struct ocf_pk_request *req);

	/**
	 * @detach: hardware only.  Takes a request back while the device still
	 * has it: from here on the driver touches neither it nor its operands,
	 * and does not complete it.  Context: process; must not sleep.
	 * Return: whether the request is the core's now; false if the driver is
	 * about to complete it.
	 */
	bool (*detach)(struct ocf_pk_request *req);
};

/**
 * ocf_pk_complete() - a device is done with a request
 * @req: a request that submit() returned -EINPROGRESS for, or will
 * @err: 0, -EBADMSG for a signature that is wrong, -EIO if the device failed;
 *	any other: another device is asked
 *
 * Context: process or BH.
 */
void ocf_pk_complete(struct ocf_pk_request *req, int err);

/**
 * ocf_pk_put() - write a number into a result
 * @out: where to; on success @out->len is @out->size
 * @data: the number
 * @len: bytes
 *
 * Context: any.
 * Return: 0, or -ENOSPC if it does not fit.
 */
int ocf_pk_put(struct ocf_pk_result *out, const u8 *data, u32 len);

#endif /* _LINUX_OCF_PK_H */
