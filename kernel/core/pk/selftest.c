// SPDX-License-Identifier: GPL-2.0-only
/*
 * Known-answer tests of public-key operations.  A device passes them before it
 * gets a request.  One wrong answer keeps the device out.
 */
#include <linux/slab.h>

#include "pk.h"
#include "vectors.h"

#include <trace/events/ocf.h>

/**
 * struct pk_test - tests of one device
 * @dev: the device
 * @req: of each test
 * @again: it has passed before
 * @passed: operations with a right answer
 * @out: results
 */
struct pk_test {
	struct ocf_device	*dev;
	struct ocf_pk_request	req;
	bool			again;
	u32 passed;
	u8			out[OCF_PK_OUT_MAX][OCF_PK_NUMBER_MAX];
};

/*
 * Runs @t->req on @on within the self-test's timeout.  If @on is NULL, runs it
 * on any device, without a timeout.
 */
static int run_on(struct pk_test *t, struct ocf_device *on)
{
	unsigned long time = MAX_SCHEDULE_TIMEOUT;

	if (on)
		time = ocf_selftest_timeout(t->dev);
	return ocf_pk_run_on(&t->req, on, time);
}

static void set_up_request(struct pk_test *t, const struct ocf_pk_kat *k)
{
	struct ocf_pk_op *op = &t->req.op;
	int i;

	memset(&t->req, 0, sizeof(t->req));
	t->req.device = OCF_DEVICE_ANY;
	op->code = k->code;
	op->scheme = k->scheme;
	op->curve = k->curve;
	op->hash = k->hash;
	memcpy(op->in, k->in, sizeof(op->in));
	for (i = 0; i < ocf_pk_rows[k->code].out; i++)
		op->out[i] = (struct ocf_pk_result){
			.data = t->out[i],
			.size = k->out[i].len ?: OCF_PK_NUMBER_MAX,
		};
}

/* Verifies a signature: by the device itself or, if it cannot, by another. */
static int verify_signature(struct pk_test *t, const struct ocf_pk_kat *k)
{
	struct ocf_pk_op *op = &t->req.op;
	int i, n, err;

	set_up_request(t, k);
	op->code = k->code + 1;
	n = ocf_pk_rows[op->code].in - OCF_PK_OUT_MAX;
	memcpy(op->in, k->proof, sizeof(k->proof));
	for (i = 0; i < OCF_PK_OUT_MAX; i++)
		op->in[n + i] = (struct ocf_pk_operand){
			t->out[i], OCF_PK_NUMBER_MAX
		};
	err = run_on(t, t->dev);
	if (err != -EOPNOTSUPP)
		return err;
	err = run_on(t, NULL);
	/* no device can verify it now: the test says nothing */
	return err == -ENODEV ? -EOPNOTSUPP : err;
}

/* A device must not accept the signature of another digest. */
static int test_refusal(struct pk_test *t, const struct ocf_pk_kat *k)
{
	u8 digest[64];
	int err;

	memcpy(digest, k->in[0].data, k->in[0].len);
	digest[0] ^= 0x80;
	set_up_request(t, k);
	t->req.op.in[0].data = digest;
	err = run_on(t, t->dev);
	if (!err)
		return -EKEYREJECTED;
	return err == -EBADMSG ? 0 : err;
}

static int compare_results(const struct pk_test *t, const struct ocf_pk_kat *k)
{
	int i;

	for (i = 0; i < ocf_pk_rows[k->code].out; i++)
		if (t->req.op.out[i].len != k->out[i].len ||
		    memcmp(t->out[i], k->out[i].data, k->out[i].len))
			return -EBADMSG;
	return 0;
}

static int try_vector(struct pk_test *t, const struct ocf_pk_kat *k)
{
	int err;

	set_up_request(t, k);
	err = run_on(t, t->dev);
	if (err)
		return err;
	if (k->proof[0].len)
		return verify_signature(t, k);
	if (k->out[0].len)
		return compare_results(t, k);
	return test_refusal(t, k);
}

/* -ENODEV has another meaning for ocf_pk_selftest()'s caller. */
static int test_one(struct pk_test *t, const struct ocf_pk_kat *k)
{
	int err = try_vector(t, k);

	return err == -ENODEV ? -EIO : err;
}

/*
 * Whether @err neither passes nor fails the device.  -EPERM: FIPS forbids the
 * operation.  -EINVAL, -EKEYREJECTED: a new device may refuse a key or its
 * size, and is not capable then.  -ETIMEDOUT: a device in use may have much to
 * do.
 */
static bool is_inconclusive(const struct pk_test *t, int err)
{
	return err == -EOPNOTSUPP || err == -EPERM ||
	       ((err == -EINVAL || err == -EKEYREJECTED) && !t->again) ||
	       (err == -ETIMEDOUT &&
		READ_ONCE(t->dev->state) == OCF_DEVICE_READY);
}

static int test_all(struct pk_test *t)
{
	const struct ocf_pk_kat *k;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(ocf_pk_kats); i++) {
		k = &ocf_pk_kats[i];
		err = test_one(t, k);
		if (is_inconclusive(t, err))
			continue;
		trace_ocf_device_answer(t->dev->name,
					ocf_pk_rows[k->code].name, err);
		if (err) {
			pr_err("ocf: %s: %s: %s (%d), the device is not used\n",
			       t->dev->name, ocf_pk_rows[k->code].name,
			       err == -EBADMSG ? "wrong answer" : "no answer",
			       err);
			return err;
		}
		t->passed |= BIT(k->code);
	}
	return t->passed ? 0 : -ENODEV;
}

/**
 * ocf_pk_selftest() - run the known-answer tests on a device
 * @dev: the device
 * @again: it has passed before.  In the first test, operations without a right
 *	answer are removed from the device
 *
 * Context: process; may sleep.
 * Return: 0; -ENODEV if it has no operations; -EBADMSG; -ETIMEDOUT; -ENOMEM;
 * what it failed with.
 */
int ocf_pk_selftest(struct ocf_device *dev, bool again)
{
	struct pk_test *t;
	int err;

	if (!dev->pk)
		return -ENODEV;
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	t->dev = dev;
	t->again = again;
	err = test_all(t);
	if ((!err || err == -ENODEV) && !again)
		WRITE_ONCE(dev->pk->codes, dev->pk->codes & t->passed);
	kfree_sensitive(t);
	return err;
}
