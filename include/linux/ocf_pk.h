/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OCF for Linux: public-key operations.
 *
 * They have no sessions.  A request has its operation and all operands.  The
 * core chooses a device for it, and another one if that device fails.
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
 * struct ocf_pk_operand - a number or another octet string
 * @data: kernel memory
 * @len: bytes
 */
struct ocf_pk_operand {
	const u8	*data;
	u32		len;
};

/**
 * ocf_pk_number() - strip the zeros in front of a number
 * @data: the number
 * @len: bytes
 *
 * Return: the rest of @data, which is empty for zero.
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
 * struct ocf_pk_result - the buffer of a result
 * @data: kernel memory
 * @size: bytes of @data
 * @len: set on success: bytes of the result; @size if it is a number
 */
struct ocf_pk_result {
	u8		*data;
	u32		size;
	u32		len;
};

/**
 * struct ocf_pk_op - an operation with its operands and results
 * @code: the operation
 * @scheme: the padding; RSA only
 * @curve: the curve; EC only
 * @hash: a digest, for RSA signatures with PKCS1 (OCF_ALG_NONE: @in[0] is
 *	padded as it is), PSS and OAEP
 * @salt: PSS: bytes of salt; U32_MAX: verification accepts any length
 * @in: operands, as many as the operation has
 * @out: results, as many as the operation has
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
 * @op: the operation
 * @flags: OCF_SESSION_HARDWARE, OCF_SESSION_SOFTWARE; neither means both
 * @policy: OCF_POLICY_CPU: a card, as long as one keeps up
 * @device: the only device to use, or OCF_DEVICE_ANY
 * @owner: as ocf_session_params.owner
 * @workers: as ocf_request.workers: they do all work of the CPU, unless a task
 *	waits for the request
 * @done: called once, see ocf_pk_submit()
 * @cookie: the consumer's own
 * @used: set when it is over: number of the device that did it, or -ENODEV
 * @wrong: set after an error: the field or the operand that caused it,
 *	OCF_FIELD_*, or OCF_FIELD_NONE
 *
 * All memory is the consumer's from allocation to ocf_pk_submit() and from
 * @done on.
 */
struct ocf_pk_request {
	struct ocf_pk_op	op;
	u32			flags;
	enum ocf_policy		policy;
	int			device;
	u32			owner;
	struct ocf_workers	*workers;
	ocf_pk_done_t		done;
	void			*cookie;
	int			used;
	u32			wrong;

	/* private: the core's, see kernel/core/pk/pk.c */
	struct ocf_pk_op	*now;		/* what the device is to do */
	struct ocf_pk_plain	*plain;		/* RSA without its padding */
	struct ocf_device	*dev;		/* where it is */
	struct ocf_device	*testing;
	struct ocf_job		job;
	struct work_struct	work;
	struct completion	over;
	u64			tried;		/* devices, a bit each */
	u64			started;	/* ns */
	u64			due;		/* ns, when it is late */
	u8			class;
	u8			at;
	bool			cancelled;
	bool			waiter;
	bool			entering;	/* in the driver's submit() */
	bool			returned;	/* by a card to the submitter */
	int			err;

	/* the driver's, while it has the request */
	void			*priv;
};

/**
 * ocf_pk_alloc() - allocate a request
 * @gfp: allocation flags
 *
 * Context: process, or any with GFP_ATOMIC.
 * Return: a zeroed request with @device set to OCF_DEVICE_ANY, or NULL.
 */
struct ocf_pk_request *ocf_pk_alloc(gfp_t gfp);

/**
 * ocf_pk_free() - free a request that is not in flight
 * @req: the request, or NULL
 *
 * Context: any.
 */
void ocf_pk_free(struct ocf_pk_request *req);

/**
 * ocf_pk_submit() - submit a request
 * @req: the request
 *
 * Context: process; may sleep.
 * Return: 0: @done is called once, perhaps before this returns.  After an error
 * it is not called:
 * * -EINVAL: operation, scheme, curve, hash or flags do not fit together, or
 *   an operand is missing
 * * -E2BIG: an operand is too large
 * * -EOPNOTSUPP: no device that may be used is capable of it
 * * -ENODEV: @device does not exist, or all capable devices are out of use
 * * -EBUSY: too many requests wait already
 * * an error of an RSA key or message, as in ocf_pk_done_t
 * * -ENOMEM: no memory
 */
int ocf_pk_submit(struct ocf_pk_request *req);

/**
 * ocf_pk_run() - submit a request and wait for its result
 * @req: the request; @done is not called
 *
 * Context: process; may sleep.
 * Return: the result, an error of ocf_pk_submit(), or -EINTR: the task is being
 * killed.  The request has ended in any case.
 */
int ocf_pk_run(struct ocf_pk_request *req);

/**
 * ocf_pk_cancel() - cancel a request
 * @req: a request that was submitted and not freed
 *
 * It ends with -ECANCELED, immediately unless the CPU works on it.
 *
 * Context: process; may sleep.
 */
void ocf_pk_cancel(struct ocf_pk_request *req);

/**
 * ocf_pk_flush() - wait until all running callbacks have returned
 *
 * A module calls this before it is unloaded, when the last of its requests has
 * called back.
 *
 * Context: process; sleeps; not inside a callback.
 */
void ocf_pk_flush(void);

/**
 * ocf_pk_shape() - the numbers of operands and results of an operation
 * @code: the operation
 * @in: set: how many operands it has
 * @out: set: how many results
 *
 * Context: any.
 * Return: 0, or -EINVAL if there is no such operation.
 */
int ocf_pk_shape(u32 code, u32 *in, u32 *out);

/**
 * ocf_pk_codes() - the operations that a device can do now
 * @flags: as ocf_pk_request.flags
 *
 * Context: process or BH.
 * Return: BIT(OCF_PK_*) of each.
 */
u32 ocf_pk_codes(u32 flags);

/* ---- for drivers ---- */

/**
 * struct ocf_pk_ops - the public-key operations of a driver
 * @codes: BIT(OCF_PK_*) for each operation.  The self-test decides: an
 *	operation without a right answer is removed, and a wrong answer makes
 *	the registration fail
 * @schemes: BIT(OCF_PK_*) of the paddings of RSA that the device does.  For a
 *	device with OCF_PK_RAW the core does all other paddings.  It uses
 *	OCF_PK_RSA_ENCRYPT and OCF_PK_RSA_DECRYPT for that, also for signatures,
 *	with numbers as long as the modulus and less than it; the device need
 *	not have the other two operations
 * @depth: requests in the device at a time; ignored for software
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
	 * ocf_pk_complete() later, once.  A device without capacity returns
	 * -EBUSY and touches nothing.  The core submits the request again when
	 * the device has completed another one, or after a while.  Any other
	 * return is the result.  A card accesses only memory of its driver.
	 * The driver copies operands there before this returns, and copies
	 * results out on completion.
	 * Context: process; may sleep.  For hardware, a worker of the device
	 * makes these calls, one at a time.
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
 * ocf_pk_complete() - complete a request
 * @req: a request for which submit() has returned -EINPROGRESS, or will
 * @err: 0; or an error, after which another device does the request: -EBADMSG
 *	for a wrong signature, -EIO if the device failed, or any other
 *
 * Context: process or BH.
 */
void ocf_pk_complete(struct ocf_pk_request *req, int err);

/**
 * ocf_pk_put() - write a number into a result
 * @out: the result; on success @out->len is @out->size
 * @data: the number
 * @len: bytes
 *
 * Context: any.
 * Return: 0, or -ENOSPC if it does not fit.
 */
int ocf_pk_put(struct ocf_pk_result *out, const u8 *data, u32 len);

#endif /* _LINUX_OCF_PK_H */
