// SPDX-License-Identifier: GPL-2.0-only
/* Devices: registration, self-tests, and removal while requests are inside. */
#include <linux/slab.h>

#include "test.h"

/* A card that gives one wrong answer in its self-test is not registered. */
static void device_known_answers(struct test *t)
{
	static const struct {
		enum card_fault fault;
		int err;
	} row[] = {
		{ CARD_LIES, -EBADMSG },
		{ CARD_TRUSTS, -EBADMSG },
		{ CARD_FAILS, -EIO },
		{ CARD_FAILS_AT_ONCE, -EIO },
		{ CARD_STALLS, -ETIMEDOUT },
		{ CARD_BUSY, 0 },
		{ CARD_WORKS, 0 },
	};
	struct card *card;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		card = card_alloc(4);
		card->name = "bogus";
		card_faults(card, row[i].fault, row[i].fault == CARD_BUSY ?
			    5 : UINT_MAX);
		/* the card never answers, so the test need not wait for long */
		if (row[i].fault == CARD_STALLS)
			card->patience = 1;
		err = card_register(card);
		EQUAL(t, err, row[i].err);
		CHECK(t, (ocf_device_number("bogus0") >= 0) == !row[i].err);
		if (!err)
			card_unregister(card);
		card_free(card);
	}
}

/*
 * Each answer of the self-test counts.  A card that lies from answer n on is
 * not registered.  The exception: all answers from n on only measure the cost,
 * and their data is not checked.
 */
static void device_late_lie(struct test *t)
{
	struct card *card = card_alloc(4);
	unsigned int answers, from, kept_out = 0;
	int err;

	card->name = "bogus";
	card_faults(card, CARD_WORKS, UINT_MAX);
	EQUAL(t, card_register(card), 0);
	answers = UINT_MAX - card->faults;
	card_unregister(card);
	CHECK(t, answers > 20);
	for (from = 0; from < answers; from += 7) {
		card_faults(card, CARD_LIES, UINT_MAX);
		card->honest = from;
		err = card_register(card);
		CHECK(t, !err || err == -EBADMSG);
		kept_out += !!err;
		if (!err)
			card_unregister(card);
	}
	CHECK(t, kept_out >= answers / 14);
	card_free(card);
}

static void nothing(struct ocf_context *ctx)
{
}

static int accept(struct ocf_context *ctx, const struct ocf_session_params *p)
{
	return 0;
}

static int never(struct ocf_request *req, bool more)
{
	return -EOPNOTSUPP;
}

static int stopped(struct ocf_device *dev)
{
	return 0;
}

static int registers(struct ocf_device_info info, bool with_algs)
{
	struct ocf_device *dev;

	info.owner = THIS_MODULE;
	if (with_algs)
		set_bit(OCF_AES_CBC, info.algs);
	dev = ocf_device_register(&info);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	ocf_device_unregister(dev);
	return 0;
}

static void device_info(struct test *t)
{
	static const struct ocf_device_ops whole = {
		.ctx_init = accept, .ctx_exit = nothing, .submit = never,
		.quiesce = stopped,
	}, no_quiesce = {
		.ctx_init = accept, .ctx_exit = nothing, .submit = never,
	}, no_submit = {
		.ctx_init = accept, .ctx_exit = nothing, .quiesce = stopped,
	};
	const struct ocf_device_info good = {
		.name = "info", .ops = &whole, .kind = OCF_KIND_HARDWARE,
		.depth = 1, .modes = BIT(OCF_MODE_CIPHER),
	};
	struct ocf_device_info bad;

	/*
	 * its submit() refuses every request, so the self-test proves no
	 * algorithm
	 */
	EQUAL(t, registers(good, true), -ENODEV);
	EQUAL(t, registers(good, false), -EINVAL);
	bad = good;
	bad.name = NULL;
	EQUAL(t, registers(bad, true), -EINVAL);
	bad.name = "a name of more than the bytes there are for one";
	EQUAL(t, registers(bad, true), -EINVAL);
	bad = good;
	bad.ops = NULL;
	EQUAL(t, registers(bad, true), -EINVAL);
	bad.ops = &no_submit;
	EQUAL(t, registers(bad, true), -EINVAL);
	bad.ops = &no_quiesce;
	EQUAL(t, registers(bad, true), -EINVAL);
	bad = good;
	bad.depth = 0;
	EQUAL(t, registers(bad, true), -EINVAL);
	bad.depth = OCF_DEPTH_MAX + 1;
	EQUAL(t, registers(bad, true), -EINVAL);
	bad = good;
	bad.modes = 0;
	EQUAL(t, registers(bad, true), -EINVAL);
	bad = good;
	bad.kind = 7;
	EQUAL(t, registers(bad, true), -EINVAL);
}

/* As many devices as the table can hold; each gets the lowest free number. */
static void device_many(struct test *t)
{
	struct card *card[OCF_DEVICES_MAX];
	int n, err = 0, second;

	for (n = 0; n < OCF_DEVICES_MAX; n++) {
		card[n] = card_alloc(1);
		card[n]->name = "many";
		err = card_register(card[n]);
		if (err)
			break;
	}
	EQUAL(t, err, -ENOSPC);
	CHECK(t, n > OCF_DEVICES_MAX / 2 && n < OCF_DEVICES_MAX);
	card_free(card[n]);
	second = ocf_device_number("many1");
	CHECK(t, second >= 0);
	card_unregister(card[1]);
	EQUAL(t, ocf_device_number("many1"), -ENOENT);
	EQUAL(t, card_register(card[1]), 0);
	EQUAL(t, ocf_device_number("many1"), second);
	while (n--)
		card_drop(card[n]);
	EQUAL(t, ocf_device_number("many"), -ENOENT);
}

static void device_names(struct test *t)
{
	struct card *card = card_make(t, 1);
	char name[OCF_DEVICE_NAME_MAX];

	if (!card)
		return;
	EQUAL(t, ocf_device_name(card_number(card), name, sizeof(name)), 0);
	CHECK(t, !strcmp(name, "test0"));
	EQUAL(t, ocf_device_number("test"), card_number(card));
	EQUAL(t, ocf_device_number("test0"), card_number(card));
	EQUAL(t, ocf_device_number("test1"), -ENOENT);
	EQUAL(t, ocf_device_number("tes"), -ENOENT);
	EQUAL(t, ocf_device_number(""), -ENOENT);
	EQUAL(t, ocf_device_name(-1, name, sizeof(name)), -ENOENT);
	EQUAL(t, ocf_device_name(OCF_DEVICES_MAX, name, sizeof(name)), -ENOENT);
	card_drop(card);
}

/* A session for one device uses this device or none. */
static void device_chosen(struct test *t)
{
	struct card *card = card_make(t, 4);
	struct ocf_session *ses;
	struct work *w;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, 0, card_number(card));
	w = work_make(ses, 64, 0);
	EQUAL(t, ocf_run(&w->req), 0);
	EQUAL(t, card->submits, 1);
	card_drop(card);
	EQUAL(t, ocf_run(&w->req), -ENODEV);
	EQUAL(t, work_submit(w), -ENODEV);
	EQUAL(t, atomic_read(&w->calls), 0);
	work_free(w);
	ocf_session_put(ses);
}

/*
 * Requests in a card that is removed are done again, on the CPU or on another
 * card.
 */
static void device_unplugged(struct test *t)
{
	enum { N = 12 };
	struct card *card = card_make(t, 4), *other;
	struct ocf_session *ses;
	struct work *w[N];
	int i;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	card_hold(card);
	for (i = 0; i < N; i++) {
		w[i] = work_make(ses, 512, 0);
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
	}
	other = card_alloc(2);
	other->name = "other";
	EQUAL(t, card_register(other), 0);
	card_drop(card);
	for (i = 0; i < N; i++) {
		EQUAL(t, work_wait(w[i]), 0);
		EQUAL(t, atomic_read(&w[i]->calls), 1);
		CHECK(t, work_right(w[i], WORK_KEY));
	}
	/*
	 * the same in place: if the card had encrypted a part of the data, the
	 * replay would encrypt this part twice
	 */
	card_hold(other);
	for (i = 0; i < N; i++) {
		memcpy(w[i]->out, w[i]->buf, 512);
		w[i]->req.src = &w[i]->dst;
		memset(w[i]->req.iv, WORK_IV, OCF_IV_MAX);
		EQUAL(t, work_submit(w[i]), -EINPROGRESS);
	}
	card_drop(other);
	for (i = 0; i < N; i++) {
		EQUAL(t, work_wait(w[i]), -ENODEV);
		EQUAL(t, atomic_read(&w[i]->calls), 2);
		work_free(w[i]);
	}
	ocf_session_put(ses);
}

/* A session that may use any device goes on with the CPU. */
static void device_gone_for_software(struct test *t)
{
	struct card *card = card_make(t, 4);
	struct ocf_session *ses;
	struct work *w;

	if (!card)
		return;
	ses = work_session(t, OCF_AES_CBC, 0, OCF_DEVICE_ANY);
	w = work_make(ses, 64, 0);
	EQUAL(t, ocf_run(&w->req), 0);
	card_drop(card);
	memset(w->req.iv, WORK_IV, OCF_IV_MAX);
	EQUAL(t, ocf_run(&w->req), 0);
	CHECK(t, work_right(w, WORK_KEY));
	work_free(w);
	ocf_session_put(ses);
}

/* A session uses a card that was registered after it was opened. */
static void device_arrives(struct test *t)
{
	struct ocf_session *ses = work_session(t, OCF_AES_GCM, 0,
					       OCF_DEVICE_ANY);
	struct ocf_session_info info;
	struct card *card;

	ocf_session_info(ses, &info);
	CHECK(t, !info.hardware);
	card = card_make(t, 4);
	ocf_session_info(ses, &info);
	CHECK(t, info.hardware);
	card_drop(card);
	ocf_session_put(ses);
}

struct going {
	struct work_struct	work;
	struct card		*card;
};

static void card_goes(struct work_struct *work)
{
	card_unregister(container_of(work, struct going, work)->card);
}

/*
 * While one card takes long to be removed, another can be registered.  It gets
 * another name and number.
 */
static void device_goes_slowly(struct test *t)
{
	DECLARE_COMPLETION_ONSTACK(forget);
	struct going going = { .card = card_make(t, 4) };
	struct card *card = going.card, *other;
	struct ocf_session *ses;
	int number;

	if (!card)
		return;
	number = card_number(card);
	ses = work_session(t, OCF_AES_CBC, OCF_SESSION_HARDWARE,
			   OCF_DEVICE_ANY);
	card->forget = &forget;
	INIT_WORK_ONSTACK(&going.work, card_goes);
	queue_work(system_unbound_wq, &going.work);
	while (!READ_ONCE(card->forgetting))
		schedule_timeout_uninterruptible(1);
	other = card_make(t, 4);
	CHECK(t, READ_ONCE(card->forgetting));
	if (other) {
		CHECK(t, card_number(other) != number);
		EQUAL(t, ocf_device_number("test1"), card_number(other));
	}
	complete_all(&forget);
	flush_work(&going.work);
	destroy_work_on_stack(&going.work);
	ocf_session_put(ses);
	card_free(card);
	card_drop(other);
	/* name and number are free again */
	card = card_make(t, 4);
	EQUAL(t, ocf_device_number("test0"), number);
	card_drop(card);
}

struct coming {
	struct work_struct	work;
	struct card		*card;
	int			err;
};

static void card_comes(struct work_struct *work)
{
	struct coming *c = container_of(work, struct coming, work);

	c->err = card_register(c->card);
}

/*
 * While one card takes long in its self-test, others can be registered and
 * removed.
 */
static void device_comes_slowly(struct test *t)
{
	DECLARE_COMPLETION_ONSTACK(learn);
	struct coming coming = { .card = card_alloc(4) };
	struct card *card = coming.card, *other;

	if (!CHECK(t, card))
		return;
	card->learn = &learn;
	INIT_WORK_ONSTACK(&coming.work, card_comes);
	queue_work(system_unbound_wq, &coming.work);
	while (!READ_ONCE(card->learning))
		schedule_timeout_uninterruptible(1);
	other = card_make(t, 4);
	if (other)
		EQUAL(t, ocf_device_number("test1"), card_number(other));
	card_drop(other);
	CHECK(t, READ_ONCE(card->learning));
	EQUAL(t, ocf_device_number("test0"), -ENOENT);
	complete_all(&learn);
	flush_work(&coming.work);
	destroy_work_on_stack(&coming.work);
	if (EQUAL(t, coming.err, 0)) {
		EQUAL(t, ocf_device_number("test0"), card_number(card));
		card_unregister(card);
	}
	card_free(card);
}

const struct test_case device_tests[] = {
	TEST(device_known_answers), TEST(device_late_lie), TEST(device_info),
	TEST(device_many), TEST(device_names), TEST(device_chosen),
	TEST(device_unplugged), TEST(device_gone_for_software),
	TEST(device_arrives), TEST(device_goes_slowly),
	TEST(device_comes_slowly), {}
};
