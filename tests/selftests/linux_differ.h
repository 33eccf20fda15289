/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Differential runs of the cryptodev-linux ABI: sessions of trials.
 */
#ifndef LINUX_DIFFER_H
#define LINUX_DIFFER_H

#include "differ.h"
#include "linux.h"

#define TIMEOUT		1200	/* s: the debug kernel is slow */

static inline int new_session(struct differ *d)
{
	struct trial *t = &d->t;
	struct session_op sop = {
		.cipher = t->cipher ? linux_id(t->cipher->name) : 0,
		.keylen = t->keylen, .key = t->key,
		.mac = t->mac ? linux_id(t->mac->name) : 0,
		.mackeylen = t->mackeylen, .mackey = t->mackey,
	};
	int err = call(d->fd, CIOCGSESSION, &sop);

	d->ses = sop.ses;
	return err;
}

/*
 * Runs one to four operations in one session.  Returns what was wrong, or "".
 */
static inline const char *in_session(struct differ *d,
				     const char *(*op)(struct differ *d))
{
	int n = 1 + below(4);
	const char *wrong = "";

	pick_keys(&d->t);
	if (new_session(d))
		return "errno of the session";
	while (n-- && !*wrong)
		wrong = op(d);
	if (close_session(d->fd, d->ses) && !*wrong)
		return "errno of closing the session";
	return wrong;
}

/* Draws a MAC that a session may have beside a cipher: one without an IV. */
static inline const struct alg *pick_mac_beside(void)
{
	const struct alg *alg;

	do
		alg = pick_alg(DIGEST | MAC, linux_id);
	while (alg->iv);
	return alg;
}

/*
 * Computes the expected result of a cipher with a MAC of the plaintext, which
 * goes to @mac.
 */
static inline void expect_chain(struct differ *d, uint8_t *mac)
{
	struct trial *t = &d->t;
	uint8_t want[TAG_MAX];

	place_data(d, t->len, t->len);
	want_cipher(t, t->encrypt, t->iv, t->src, t->len, d->want);
	want_mac(t, t->encrypt ? t->src : d->want, t->len, want);
	watch_data(d, t->len);
	expect_result(d, t->len);
	watch_tag(d, mac);
	watch_expect(&d->on_tag, mac, want, t->taglen);
}

FIXTURE(differ)
{
	struct differ d;
};

FIXTURE_SETUP(differ)
{
	ASSERT_TRUE(differ_init(&self->d, DIFFER_MAX));
	ASSERT_EQ(0, allow_weak("all"));
}

FIXTURE_TEARDOWN(differ)
{
	allow_weak("none");
	close(self->d.fd);
}

#endif /* LINUX_DIFFER_H */
