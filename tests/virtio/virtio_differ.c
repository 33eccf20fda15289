// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each card alone against OpenSSL, at random.  It tries every algorithm the
 * card says it can, with every key length, size, alignment and way in and out,
 * one at a time and many at once.  How to repeat a failure is in random.h.
 */
#include <kselftest_harness.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include "../selftests/linux_differ.h"
#include "card.h"

#define CARD_MAX	65536	/* bytes of a slot */

static const char *card;

FIXTURE(virtio)
{
	struct differ d;
	long long before, errors;
};

FIXTURE_VARIANT(virtio)
{
	const char *card;
};

FIXTURE_VARIANT_ADD(virtio, first) { .card = "virtio0" };
FIXTURE_VARIANT_ADD(virtio, second) { .card = "virtio1" };

FIXTURE_SETUP(virtio)
{
	card = variant->card;
	ASSERT_TRUE(differ_init(&self->d, CARD_MAX));
	ASSERT_EQ(0, allow_weak("all"));
	/* the self-test has a wrong tag, which would count as an error */
	ASSERT_EQ(0, put_line("/sys/module/ocf/parameters/recheck", "0"));
	/* a test that failed may have left devices drained */
	ASSERT_EQ(0, others("", "resume"));
	ASSERT_TRUE(card_is(card, "ready"));
	ASSERT_EQ(0, others(card, "drain"));
	self->before = card_count(card, "operations");
	self->errors = card_count(card, "errors");
}

FIXTURE_TEARDOWN(virtio)
{
	EXPECT_EQ(self->errors, card_count(card, "errors"));
	EXPECT_EQ(0, driver_count(card, "wrong"));
	EXPECT_EQ(0, others(card, "resume"));
	allow_weak("none");
	close(self->d.fd);
}

typedef struct _test_data_virtio Self;

/* Returns the operations that the card has done since the test began. */
static long long done_by_card(const Self *self)
{
	return card_count(card, "operations") - self->before;
}

static unsigned int card_id(const char *name)
{
	return card_can(card, name) ? linux_id(name) : 0;
}

static int run_async(int fd, const struct crypt_op *cop)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct crypt_op done;
	int err = call(fd, CIOCASYNCCRYPT, cop);

	if (err)
		return err;
	if (poll(&p, 1, 60000) != 1)
		return ETIME;
	return call(fd, CIOCASYNCFETCH, &done);
}

static int run(struct differ *d, uint8_t *iv, uint8_t *mac)
{
	struct trial *t = &d->t;
	struct crypt_op cop = {
		.ses = d->ses, .flags = t->flags, .len = t->len,
		.op = t->encrypt ? COP_ENCRYPT : COP_DECRYPT,
		.src = t->src, .dst = t->dst, .iv = iv, .mac = mac,
	};

	return one_in(5) ? run_async(d->fd, &cop) :
			   call(d->fd, CIOCCRYPT, &cop);
}

/* Like pick_len(), but never 0, and never more than a card takes. */
static uint32_t some_len(uint32_t block)
{
	uint32_t n;

	do {
		n = pick_len(CARD_MAX, block);
		n -= n % block;
	} while (!n || n > CARD_MAX);
	return n;
}

static const char *one_op(struct differ *d)
{
	struct trial *t = &d->t;
	uint8_t iv[16], next[16];

	t->encrypt = one_in(2);
	t->flags = (one_in(3) ? COP_FLAG_NO_ZC : 0) |
		   (one_in(2) ? COP_FLAG_WRITE_IV : 0);
	t->len = some_len(t->cipher->block);
	pick_iv(t);
	memcpy(iv, t->iv, 16);
	memcpy(next, t->iv, 16);
	place_data(d, t->len, t->len);
	want_cipher(t, t->encrypt, t->iv, t->src, t->len, d->want);
	want_next_iv(t->cipher, t->encrypt, next, t->src, d->want, t->len);
	watch_data(d, t->len);
	expect_result(d, t->len);
	if (run(d, iv, NULL))
		return "errno";
	if (memcmp(iv, t->flags & COP_FLAG_WRITE_IV ? next : t->iv, t->ivlen))
		return "next IV";
	return differs(d);
}

/* Runs a cipher and the MAC of the plaintext in one request of the card. */
static const char *one_chain(struct differ *d)
{
	struct trial *t = &d->t;
	uint8_t *mac = place_tag(d), iv[16];

	t->encrypt = one_in(2);
	t->flags = one_in(3) ? COP_FLAG_NO_ZC : 0;
	t->len = some_len(t->cipher->block);
	pick_iv(t);
	memcpy(iv, t->iv, 16);
	expect_chain(d, mac);
	return run(d, iv, mac) ? "errno" : differs(d);
}

static const char *in_one_session(struct differ *d,
				  const char *(*op)(struct differ *d))
{
	struct trial *t = &d->t;
	const char *wrong;

	do
		pick_keys(t);
	while (is_alg(t->cipher, "aes-xts") && t->keylen == 48);
	if (new_session(d))
		return "errno of the session";
	wrong = op(d);
	if (close_session(d->fd, d->ses) && !*wrong)
		wrong = "errno of closing the session";
	return wrong;
}

static const char *one_round(struct differ *d)
{
	d->t.cipher = pick_alg(CIPHER, card_id);
	return in_one_session(d, one_op);
}

static const char *chain_round(struct differ *d)
{
	d->t.cipher = pick_alg(CIPHER, card_id);
	d->t.mac = pick_alg(MAC, card_id);
	return in_one_session(d, one_chain);
}

TEST_F_TIMEOUT(virtio, every_algorithm_by_chance, TIMEOUT)
{
	int n = rounds_given(600);

	DIFFER_REPEAT(&self->d, one_round, 600);
	EXPECT_LE(n, done_by_card(self));
}

/* QEMU's builtin backend has no MACs; a card that is a process has. */
TEST_F_TIMEOUT(virtio, every_chain_by_chance, TIMEOUT)
{
	int n = rounds_given(300);

	if (!card_can(card, "hmac-sha256")) {
		/* the names of cards that are processes */
		ASSERT_EQ(NULL, getenv("OCF_CARDS"));
		SKIP(return, "has no chains");
	}
	DIFFER_REPEAT(&self->d, chain_round, 300);
	EXPECT_LE(n, done_by_card(self));
}

/*
 * QEMU's builtin backend can do several algorithms but advertises the first
 * only.
 */
TEST_F(virtio, has_what_it_does_not_advertise)
{
	static const char * const algs[] = { "aes-cbc", "aes-ctr", "aes-ecb",
					     "aes-xts", "des3-cbc" };
	int i;

	for (i = 0; i < COUNT(algs); i++)
		EXPECT_TRUE(card_can(card, algs[i]));
	EXPECT_FALSE(card_can(card, "sha1"));
}

/* Cards have XTS with AES-128 and AES-256 only, as IEEE 1619 defines. */
TEST_F(virtio, two_keys_of_aes192_are_not_for_cards)
{
	uint32_t ses;

	/* the CPU has it, but is drained */
	EXPECT_EQ(ENODEV, open_session(self->d.fd, CRYPTO_AES_XTS, 48, 0, 0,
				       &ses));
	EXPECT_EQ(0, open_session(self->d.fd, CRYPTO_AES_XTS, 64, 0, 0, &ses));
	EXPECT_EQ(0, close_session(self->d.fd, ses));
}

/*
 * A card refuses more data than a slot holds, and there is no other device
 * here.
 */
TEST_F(virtio, too_much_is_not_for_cards)
{
	size_t len = CARD_MAX + 16;
	uint8_t iv[16] = "", *buf = calloc(1, len);
	uint32_t ses;

	ASSERT_EQ(0, open_session(self->d.fd, CRYPTO_AES_CBC, 16, 0, 0, &ses));
	EXPECT_EQ(E2BIG, crypt_op(self->d.fd, ses, COP_ENCRYPT, 0, buf, buf,
				   len, iv, NULL));
	ASSERT_EQ(0, others(card, "resume"));
	EXPECT_EQ(0, crypt_op(self->d.fd, ses, COP_ENCRYPT, 0, buf, buf, len,
			      iv, NULL));
	free(buf);
}

/* ---- many at once ---- */

#define RING	64	/* operations of a descriptor */
#define MANY	4096	/* bytes of one */

struct crowd {
	int		cpu, rounds, wrong;
	uint8_t		key;
	pthread_t	thread;
};

/* Submits @n operations, and fetches the results as they come. */
static int burst(int fd, uint32_t ses, const uint8_t *text, uint8_t *out, int n)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint8_t iv[16] = "the same for all";
	struct crypt_op cop = { .ses = ses, .op = COP_ENCRYPT, .len = MANY,
				.src = (void *)text, .iv = iv }, done;
	int i, err;

	for (i = 0; i < n; i++) {
		cop.dst = out + i * MANY;
		err = call(fd, CIOCASYNCCRYPT, &cop);
		if (err)
			return err;
	}
	while (n--) {
		if (poll(&p, 1, 60000) != 1)
			return ETIME;
		err = call(fd, CIOCASYNCFETCH, &done);
		if (err)
			return err;
	}
	return 0;
}

static void *work(void *arg)
{
	uint8_t *text = malloc(MANY), *want = malloc(MANY);
	uint8_t *out = malloc(RING * MANY), key[16];
	struct crowd *c = arg;
	struct session_op sop = { .cipher = CRYPTO_AES_CBC, .keylen = 16,
				  .key = key };
	int fd = open_dev(), i;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(c->cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	memset(key, c->key, sizeof(key));
	fill(text, MANY, c->key);
	oracle_cipher("aes-cbc", true, key, 16,
		      (const uint8_t *)"the same for all", text, MANY, want);
	c->wrong = call(fd, CIOCGSESSION, &sop);
	while (c->rounds-- && !c->wrong) {
		memset(out, 0, RING * MANY);
		c->wrong = burst(fd, sop.ses, text, out, RING);
		for (i = 0; i < RING && !c->wrong; i++)
			if (memcmp(out + i * MANY, want, MANY))
				c->wrong = -1;
	}
	close(fd);
	free(out);
	free(want);
	free(text);
	return NULL;
}

TEST_F_TIMEOUT(virtio, many_in_flight_from_both_processors, TIMEOUT)
{
	long long interrupts = driver_count(card, "interrupts");
	int i, n = rounds_given(20);
	struct crowd c[6];

	for (i = 0; i < COUNT(c); i++) {
		c[i] = (struct crowd){ .cpu = i % 2, .rounds = n,
				       .key = i + 1 };
		ASSERT_EQ(0, pthread_create(&c[i].thread, NULL, work, &c[i]));
	}
	for (i = 0; i < COUNT(c); i++) {
		pthread_join(c[i].thread, NULL);
		EXPECT_EQ(0, c[i].wrong);
	}
	interrupts = driver_count(card, "interrupts") - interrupts;
	TH_LOG("%lld operations, %lld interrupts", done_by_card(self),
	       interrupts);
	EXPECT_LE(COUNT(c) * n * RING, done_by_card(self));
	/* the card and its host decide how many answers an interrupt brings */
	EXPECT_LE(interrupts, done_by_card(self));
}

/*
 * Each session needs two of the 256 sessions of QEMU's backend, so contexts are
 * evicted in turns.
 */
TEST_F_TIMEOUT(virtio, more_sessions_than_it_has_room_for, TIMEOUT)
{
	enum { SESSIONS = 150, LEN = 4096 };
	static uint8_t text[LEN], want[LEN], out[LEN];
	long long evictions = card_count(card, "evictions");
	uint32_t ses[SESSIONS];
	uint8_t iv[16] = "";
	int i, round;

	fill(text, LEN, 1);
	oracle_cipher("aes-cbc", true, key_bytes, 16, iv, text, LEN, want);
	for (i = 0; i < SESSIONS; i++)
		ASSERT_EQ(0, open_session(self->d.fd, CRYPTO_AES_CBC, 16, 0, 0,
					  &ses[i]));
	for (round = 0; round < 2; round++)
		for (i = 0; i < SESSIONS; i++) {
			memset(iv, 0, sizeof(iv));
			ASSERT_EQ(0, crypt_op(self->d.fd, ses[i], COP_ENCRYPT,
					      0, text, out, LEN, iv, NULL))
				TH_LOG("round %d, %d", round, i);
			ASSERT_EQ(0, memcmp(out, want, LEN));
		}
	EXPECT_LT(evictions, card_count(card, "evictions"));
	EXPECT_TRUE(card_is(card, "ready"));
	for (i = 0; i < SESSIONS; i++)
		EXPECT_EQ(0, close_session(self->d.fd, ses[i]));
}

TEST_HARNESS_MAIN
