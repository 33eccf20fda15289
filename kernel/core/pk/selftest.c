// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device is asked for known answers of public-key operations before it gets
 * a request; a wrong one keeps it out.
 */
#include <linux/slab.h>

#include "pk.h"
#include "vectors.h"

#include <trace/events/ocf.h>

/**
 * struct trial - asking one device
 * @dev: the device
 * @req: for the questions
 * @again: it has answered before
 * @proven: operations of which an answer was right
 * @out: results
 */
struct trial {
	struct ocf_device	*dev;
	struct ocf_pk_request	req;
	bool			again;
	u32			proven;
	u8			out[OCF_PK_OUT_MAX][OCF_PK_NUMBER_MAX];
};

/* Only who is asked has to answer in time. */
static int run(struct trial *t, struct ocf_device *on)
{
	unsigned long time = MAX_SCHEDULE_TIMEOUT;

	if (on)
		time = ocf_selftest_timeout(t->dev);
	return ocf_pk_run_on(&t->req, on, time);
}

static void set_up(struct trial *t, const struct ocf_pk_kat *k)
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

/* Whether what was signed is right: by itself, or by who can tell. */
static int prove(struct trial *t, const struct ocf_pk_kat *k)
{
	struct ocf_pk_op *op = &t->req.op;
	int i, n, err;

	set_up(t, k);
	op->code = k->code + 1;
	n = ocf_pk_rows[op->code].in - OCF_PK_OUT_MAX;
	memcpy(op->in, k->proof, sizeof(k->proof));
	for (i = 0; i < OCF_PK_OUT_MAX; i++)
		op->in[n + i] = (struct ocf_pk_operand){
			t->out[i], OCF_PK_NUMBER_MAX
		};
	err = run(t, t->dev);
	if (err != -EOPNOTSUPP)
		return err;
	err = run(t, NULL);
	/* who could tell is out of use: nothing is known */
	return err == -ENODEV ? -EOPNOTSUPP : err;
}

/* What must not be taken for right: another digest. */
static int refuse(struct trial *t, const struct ocf_pk_kat *k)
{
	u8 digest[64];
	int err;

	memcpy(digest, k->in[0].data, k->in[0].len);
	digest[0] ^= 0x80;
	set_up(t, k);
	t->req.op.in[0].data = digest;
	err = run(t, t->dev);
	if (!err)
		return -EKEYREJECTED;
	return err == -EBADMSG ? 0 : err;
}

static int compare(const struct trial *t, const struct ocf_pk_kat *k)
{
	int i;

	for (i = 0; i < ocf_pk_rows[k->code].out; i++)
		if (t->req.op.out[i].len != k->out[i].len ||
		    memcmp(t->out[i], k->out[i].data, k->out[i].len))
			return -EBADMSG;
	return 0;
}

static int question(struct trial *t, const struct ocf_pk_kat *k)
{
	int err;

	set_up(t, k);
	err = run(t, t->dev);
	if (err)
		return err;
	if (k->proof[0].len)
		return prove(t, k);
	if (k->out[0].len)
		return compare(t, k);
	return refuse(t, k);
}

/* -ENODEV has another meaning to who asked us: see ocf_pk_selftest(). */
static int ask(struct trial *t, const struct ocf_pk_kat *k)
{
	int err = question(t, k);

	return err == -ENODEV ? -EIO : err;
}

/*
 * -EPERM: we do not permit it.  A new device may refuse a key or its size, and
 * is not capable then.  One in use may have others' requests to do first.
 */
static bool is_no_word(const struct trial *t, int err)
{
	return err == -EOPNOTSUPP || err == -EPERM ||
	       (err == -EINVAL && !t->again) ||
	       (err == -ETIMEDOUT &&
		READ_ONCE(t->dev->state) == OCF_DEVICE_READY);
}

static int ask_all(struct trial *t)
{
	const struct ocf_pk_kat *k;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(ocf_pk_kats); i++) {
		k = &ocf_pk_kats[i];
		err = ask(t, k);
		if (is_no_word(t, err))
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
		t->proven |= BIT(k->code);
	}
	return t->proven ? 0 : -ENODEV;
}

/**
 * ocf_pk_selftest() - ask a device for known answers
 * @dev: the device
 * @again: not for the first time; else operations it has shown nothing of are
 *	taken off
 *
 * Context: process; may sleep.
 * Return: 0; -ENODEV if it has no operations; -EBADMSG; -ETIMEDOUT; -ENOMEM;
 * what it failed with.
 */
int ocf_pk_selftest(struct ocf_device *dev, bool again)
{
	struct trial *t;
	int err;

	if (!dev->pk)
		return -ENODEV;
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	t->dev = dev;
	t->again = again;
	err = ask_all(t);
	if ((!err || err == -ENODEV) && !again)
		WRITE_ONCE(dev->pk->codes, dev->pk->codes & t->proven);
	kfree_sensitive(t);
	return err;
}
