// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random operations of the cryptodev-linux ABI, compared with OpenSSL:
 * CIOCCRYPT with every algorithm, key length, size, alignment and way of
 * passing data.  random.h says how to repeat a failure.
 */
#include <kselftest_harness.h>
#include <poll.h>

#include "linux_differ.h"

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

/* Runs CIOCCRYPT, or its asynchronous form. */
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

/* The errno that an operation of this length must have, or 0 */
static int err_of_len(const struct trial *t)
{
	if (t->len > DIFFER_MAX)
		return E2BIG;
	if (t->cipher && t->len % t->cipher->block)
		return EINVAL;
	/* empty data can be hashed, but not encrypted */
	return t->len || t->mac ? 0 : EINVAL;
}

/* Runs an operation that must be refused for its length and write nothing. */
static const char *refused(struct differ *d, int err, uint8_t *iv, uint8_t *mac)
{
	place_data(d, d->t.len, d->t.len);
	watch_data(d, d->t.len);
	return run(d, iv, mac) == err ? differs(d) : "errno of a length";
}

/* Draws direction, flags, length and IV. */
static void pick_op(struct trial *t, uint8_t *iv)
{
	t->encrypt = one_in(2);
	t->flags = one_in(3) ? COP_FLAG_NO_ZC : 0;
	t->len = pick_len(DIFFER_MAX, t->cipher ? t->cipher->block : 1);
	pick_iv(t);
	memcpy(iv, t->iv, 16);
}

/* ---- ciphers ---- */

static const char *run_cipher(struct differ *d, uint8_t *iv)
{
	struct trial *t = &d->t;
	uint8_t given[16], next[16];

	place_data(d, t->len, t->len);
	memcpy(given, t->iv, 16);
	memcpy(next, t->iv, 16);
	want_cipher(t, t->encrypt, t->iv, t->src, t->len, d->want);
	want_next_iv(t->cipher, t->encrypt, next, t->src, d->want, t->len);
	watch_data(d, t->len);
	expect_result(d, t->len);
	memcpy(t->iv, next, 16);
	if (run(d, iv, NULL))
		return "errno";
	if (iv && memcmp(iv, t->flags & COP_FLAG_WRITE_IV ? next : given,
			 t->ivlen))
		return "next IV";
	return differs(d);
}

/* Runs an operation, and others that continue it. */
static const char *cipher_op(struct differ *d)
{
	struct trial *t = &d->t;
	const char *wrong;
	uint8_t iv[16];
	int err;

	pick_op(t, iv);
	if (one_in(2))
		t->flags |= COP_FLAG_WRITE_IV;
	err = err_of_len(t);
	if (err)
		return refused(d, err, iv, NULL);
	wrong = run_cipher(d, iv);
	while (!*wrong && t->cipher->chains && one_in(2)) {
		t->len = t->cipher->block * (1 + log_uniform(4096));
		t->encrypt = one_in(2);
		wrong = run_cipher(d, NULL);
	}
	return wrong;
}

static const char *cipher_round(struct differ *d)
{
	d->t.cipher = pick_alg(CIPHER, linux_id);
	return in_session(d, cipher_op);
}

TEST_F_TIMEOUT(differ, ciphers, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, cipher_round, 700);
}

/* ---- digests and MACs ---- */

static const char *digest_op(struct differ *d)
{
	struct trial *t = &d->t;
	uint8_t *mac = place_tag(d), want[TAG_MAX], iv[16];
	int err;

	pick_op(t, iv);
	err = err_of_len(t);
	if (err)
		return refused(d, err, iv, mac);
	place_data(d, t->len, 0);
	t->dst = NULL;
	want_mac(t, t->src, t->len, want);
	watch_data(d, 0);
	watch_tag(d, mac);
	watch_expect(&d->on_tag, mac, want, t->taglen);
	return run(d, iv, mac) ? "errno" : differs(d);
}

static const char *digest_round(struct differ *d)
{
	d->t.mac = pick_alg(DIGEST | MAC, linux_id);
	return in_session(d, digest_op);
}

TEST_F_TIMEOUT(differ, digests, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, digest_round, 600);
}

/* Continues in another session, which gets a copy of the state. */
static const char *change_session(struct differ *d)
{
	struct cphash_op c = { .src_ses = d->ses };

	if (new_session(d))
		return "errno of a second session";
	c.dst_ses = d->ses;
	if (call(d->fd, CIOCCPHASH, &c))
		return "errno of a copy";
	close_session(d->fd, c.src_ses);
	return "";
}

/* Adds up to @left bytes to the digest. */
static const char *digest_part(struct differ *d, uint32_t left, bool first)
{
	struct trial *t = &d->t;

	t->len = pick_len(left, 1);
	/* an empty part would mean the end of the digest */
	if (!t->len || t->len > left)
		t->len = 0;
	t->flags = COP_FLAG_UPDATE | (one_in(3) ? COP_FLAG_NO_ZC : 0);
	if (first && one_in(2))
		t->flags |= COP_FLAG_RESET;
	if (t->len && run(d, t->iv, NULL))
		return "errno of a part";
	return one_in(4) ? change_session(d) : "";
}

static const char *parts_op(struct differ *d)
{
	struct trial *t = &d->t;
	uint32_t all = pick_len(1u << 20, 1);
	uint8_t *mac = place_tag(d), want[TAG_MAX];
	int n = below(6), i;
	const char *wrong = "";

	pick_iv(t);
	place_data(d, all, 0);
	t->dst = NULL;
	want_mac(t, t->src, all, want);
	for (i = 0; i < n && !*wrong; i++) {
		wrong = digest_part(d, all, !i);
		t->src += t->len;
		all -= t->len;
	}
	t->len = all;
	t->flags = COP_FLAG_FINAL | (one_in(2) ? COP_FLAG_UPDATE : 0);
	watch_data(d, 0);
	watch_tag(d, mac);
	watch_expect(&d->on_tag, mac, want, t->taglen);
	if (!*wrong && run(d, t->iv, mac))
		wrong = "errno of the last part";
	return *wrong ? wrong : differs(d);
}

static const char *parts_round(struct differ *d)
{
	d->t.mac = pick_alg(DIGEST | MAC, linux_id);
	d->t.encrypt = true;
	return in_session(d, parts_op);
}

TEST_F_TIMEOUT(differ, digests_in_parts, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, parts_round, 1500);
}

/* ---- a cipher and a MAC: the MAC is that of the plaintext ---- */

static const char *chain_op(struct differ *d)
{
	struct trial *t = &d->t;
	uint8_t *mac = place_tag(d), iv[16];
	int err;

	pick_op(t, iv);
	err = err_of_len(t);
	if (err)
		return refused(d, err, iv, mac);
	expect_chain(d, mac);
	if (run(d, iv, mac))
		return "errno";
	return memcmp(iv, t->iv, 16) ? "IV" : differs(d);
}

static const char *chain_round(struct differ *d)
{
	d->t.cipher = pick_alg(CIPHER, linux_id);
	d->t.mac = pick_mac_beside();
	return in_session(d, chain_op);
}

TEST_F_TIMEOUT(differ, ciphers_and_macs, TIMEOUT)
{
	DIFFER_REPEAT(&self->d, chain_round, 500);
}

/* The tables of the kernel and of this test have the same algorithms. */
TEST(no_algorithm_is_left_out)
{
	int i;

	for (i = 0; i < nids_linux; i++)
		if (ids_linux[i].alg)
			EXPECT_NE(NULL, alg_named(ids_linux[i].alg));
}

TEST_HARNESS_MAIN
