// SPDX-License-Identifier: BSD-2-Clause
/*
 * A soak by cryptodev-linux's interface: ciphers, a MAC beside a cipher, TLS
 * records, SRTP packets, AEAD and digests.  In place and not, copied and
 * pinned, one at a time and many under way.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>

#include "../selftests/linux.h"
#include "../selftests/random.h"
#include "work.h"

#define HEADER		12u	/* bytes of a packet before its payload */

struct kind {
	const char	*cipher, *mac;
	int		keylen, maclen;
	enum { PLAIN, TLS, SRTP, AEAD } type;
};

static const struct kind kinds[] = {
	{ "aes-cbc", NULL, 16, 0, PLAIN },
	{ "aes-cbc", NULL, 32, 0, PLAIN },
	{ "aes-ctr", NULL, 24, 0, PLAIN },
	{ "aes-ecb", NULL, 16, 0, PLAIN },
	{ "aes-xts", NULL, 32, 0, PLAIN },
	{ "des3-cbc", NULL, 24, 0, PLAIN },
	{ "aes-cbc", "hmac-sha1", 16, 20, PLAIN },
	{ "aes-ctr", "hmac-sha256", 16, 32, PLAIN },
	{ "aes-cbc", "hmac-sha256", 16, 32, TLS },
	{ "aes-ctr", "hmac-sha1", 16, 20, SRTP },
	{ "aes-gcm", NULL, 16, 16, AEAD },
	{ NULL, "sha256", 0, 32, PLAIN },
};

#define CIPHERS		6	/* the first of those */

/* A text and its expected result */
struct text {
	uint32_t	len, outlen;
	uint8_t		iv[16];
	uint8_t		*out;
	uint8_t		mac[64];
};

static struct text texts[COUNT(kinds)][TEXTS];

static int open_kind(int fd, const struct kind *k, uint32_t *ses)
{
	return open_session(fd, k->cipher ? linux_id(k->cipher) : 0, k->keylen,
			    k->mac ? linux_id(k->mac) : 0,
			    k->mac && k->cipher ? 20 : 0, ses);
}

static int operation(enum task what)
{
	return what == MAKE ? COP_ENCRYPT : COP_DECRYPT;
}

/* Returns where in @buf a text begins. */
static uint8_t *begins(const struct kind *k, uint8_t *buf)
{
	return buf + (k->type == SRTP ? HEADER : 0);
}

/*
 * Runs a CIOCAUTHCRYPT operation, in place if @src is @dst.  A record grows by
 * IV, MAC and padding; a packet has its tag elsewhere.
 */
static int run_auth(int fd, uint32_t ses, const struct kind *k, enum task what,
		    struct crypt_auth_op *c, const struct text *t,
		    uint8_t *src, uint8_t *dst, uint8_t *mac)
{
	uint8_t header[13] = { 0, 0, 0, 0, 0, 0, 0, 1, 23, 3, 3,
			       t->len >> 8, t->len };

	c->ses = ses;
	c->op = operation(what);
	c->src = src;
	c->dst = dst;
	c->iv = (void *)t->iv;
	c->iv_len = k->type == AEAD ? 12 : 16;
	if (k->type == TLS) {
		c->flags |= COP_FLAG_AEAD_TLS_TYPE;
		c->auth_src = header;
		c->auth_len = 13;
	} else if (k->type == SRTP) {
		c->flags |= COP_FLAG_AEAD_SRTP_TYPE;
		c->auth_src = src - HEADER;
		c->auth_len = HEADER + c->len;
		c->tag = mac;
		c->tag_len = k->maclen;
	} else {
		c->auth_src = plain;
		c->auth_len = 100;
	}
	return call(fd, CIOCAUTHCRYPT, c);
}

/* Runs one operation; the result is in @buf and the MAC in @mac. */
static int run(int fd, uint32_t ses, const struct kind *k, enum task what,
	       const struct text *t, uint8_t *buf, uint8_t *mac,
	       uint32_t *outlen)
{
	uint8_t *from = what == MAKE ? plain : t->out, *to = begins(k, buf);
	uint32_t len = what == MAKE ? t->len : t->outlen;
	struct crypt_auth_op c = {
		.len = len, .flags = one_in(4) ? COP_FLAG_NO_ZC : 0,
	};
	int err;

	memset(mac, 0, 64);
	if (k->type == TLS || k->type == SRTP || what == FORGED || one_in(2)) {
		memcpy(to, from, len);
		from = to;
	}
	if (k->type == SRTP) {
		memcpy(buf, plain, HEADER);
		if (what != MAKE)
			memcpy(mac, t->mac, k->maclen);
	}
	if (what == FORGED)
		to[below(len)] ^= 1 << below(8);
	*outlen = k->cipher ? len : 0;
	if (k->type == PLAIN)
		return crypt_op(fd, ses, operation(what), c.flags, from, to,
				len, t->iv, k->mac ? mac : NULL);
	err = run_auth(fd, ses, k, what, &c, t, from, to, mac);
	*outlen = c.len;
	return err;
}

static bool is_made(const struct kind *k, const struct text *t,
		    const uint8_t *out, const uint8_t *mac, uint32_t outlen)
{
	return outlen == t->outlen && !memcmp(out, t->out, outlen) &&
	       (!k->mac || k->type == TLS || !memcmp(mac, t->mac, k->maclen));
}

static bool is_right(const struct kind *k, enum task what, const struct text *t,
		     const uint8_t *out, const uint8_t *mac, uint32_t outlen)
{
	if (what == OPEN)
		return outlen == t->len && !memcmp(out, plain, outlen);
	return is_made(k, t, out, mac, outlen);
}

static void land(const struct kind *k, enum task what, const struct text *t,
		 const uint8_t *out, const uint8_t *mac, uint32_t outlen,
		 int err, double begun)
{
	bool right = !err && is_right(k, what, t, out, mac, outlen);

	if (!err && !right)
		explain(k->cipher ?: k->mac, what, out,
			what == MAKE ? t->out : plain, outlen);
	judge(what, right, err, now() - begun);
}

void linux_prepare(void)
{
	int fd = open_dev(), i, j, err;
	uint8_t *buf = malloc(ROOM);
	uint32_t ses;

	for (i = 0; i < COUNT(kinds); i++) {
		err = open_kind(fd, &kinds[i], &ses);
		if (err)
			unprepared(kinds[i].cipher ?: kinds[i].mac, err);
		for (j = 0; j < TEXTS; j++) {
			struct text *t = &texts[i][j];

			t->len = 16 * (1 + log_uniform(LEN_MAX / 16 - 1));
			if (kinds[i].type == TLS)
				t->len = 1 + below(16000);
			fill_by_chance(t->iv, 16);
			t->out = malloc(ROOM);
			err = run(fd, ses, &kinds[i], MAKE, t, buf, t->mac,
				  &t->outlen);
			if (err)
				unprepared(kinds[i].cipher ?: kinds[i].mac,
					   err);
			memcpy(t->out, begins(&kinds[i], buf), t->outlen);
			if (!kinds[i].mac && kinds[i].type == PLAIN)
				agree_with_openssl(kinds[i].cipher, key_bytes,
						   kinds[i].keylen, t->iv,
						   t->len, t->out);
		}
		close_session(fd, ses);
	}
	free(buf);
	close(fd);
}

/* ---- work ---- */

/* Draws a kind; three of four are ciphers that cards do. */
static int draw_kind(void)
{
	return one_in(4) ? below(COUNT(kinds)) : below(CIPHERS);
}

/*
 * Draws a task.  A MAC beside a cipher covers the result, so it cannot be
 * opened.
 */
static enum task draw_task(const struct kind *k)
{
	if (!k->cipher || (k->mac && k->type == PLAIN) || one_in(2))
		return MAKE;
	return k->type != PLAIN && one_in(3) ? FORGED : OPEN;
}

static void one_at_a_time(int fd, const uint32_t *ses)
{
	static uint8_t buf[ROOM], mac[64];
	int i, k;

	for (i = 0; i < 50; i++) {
		struct text *t;
		uint32_t outlen;
		double begun = now();
		enum task what;
		int err;

		k = draw_kind();
		t = &texts[k][below(TEXTS)];
		what = draw_task(&kinds[k]);
		err = run(fd, ses[k], &kinds[k], what, t, buf, mac, &outlen);
		land(&kinds[k], what, t, begins(&kinds[k], buf), mac, outlen,
		     err, begun);
	}
}

struct flight {
	const struct text	*t;
	const struct kind	*k;
	enum task		what;
	uint8_t			*buf, mac[64];
	uint8_t			iv[16];
	double			begun;
};

static int take_off(int fd, const uint32_t *ses, struct flight *f)
{
	struct crypt_op cop = {};
	int k;

	do
		k = draw_kind();
	while (kinds[k].type != PLAIN);
	f->k = &kinds[k];
	f->t = &texts[k][below(TEXTS)];
	f->what = draw_task(f->k);
	f->begun = now();
	memcpy(f->iv, f->t->iv, 16);
	cop.ses = ses[k];
	cop.op = operation(f->what);
	cop.len = f->t->len;
	cop.src = f->what == MAKE ? plain : f->t->out;
	cop.dst = f->buf;
	cop.iv = f->iv;
	cop.mac = f->k->mac ? f->mac : NULL;
	cop.flags = one_in(4) ? COP_FLAG_NO_ZC : 0;
	if (one_in(2)) {
		memcpy(f->buf, cop.src, cop.len);
		cop.src = f->buf;
	}
	return call(fd, CIOCASYNCCRYPT, &cop);
}

static void many_at_once(int fd, const uint32_t *ses, struct flight *all)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int i, flying = 0, err;

	for (i = 0; i < FLYING; i++) {
		err = take_off(fd, ses, &all[i]);
		if (err)
			judge(all[i].what, false, err, 0);
		else
			flying++;
	}
	while (flying) {
		struct crypt_op cop = {};
		struct flight *f;

		if (poll(&p, 1, patience()) != 1)
			lost(flying);
		err = call(fd, CIOCASYNCFETCH, &cop);
		if (err == EBUSY)
			continue;
		f = (void *)((uint8_t *)cop.iv - offsetof(struct flight, iv));
		land(f->k, f->what, f->t, f->buf, f->mac,
		     f->k->cipher ? cop.len : 0, err, f->begun);
		flying--;
	}
}

/* Opens and closes sessions, too. */
void linux_work(void)
{
	static struct flight all[FLYING];
	uint32_t ses[COUNT(kinds)];
	int fd = open_dev(), i, err;

	for (i = 0; i < FLYING && !all[i].buf; i++)
		all[i].buf = malloc(ROOM);
	for (i = 0; i < COUNT(kinds); i++) {
		err = open_kind(fd, &kinds[i], &ses[i]);
		if (err)
			judge(MAKE, false, err, 0);
	}
	for (i = 0; i < 20 && wanted(); i++)
		if (one_in(4))
			one_at_a_time(fd, ses);
		else
			many_at_once(fd, ses, all);
	for (i = 0; i < COUNT(kinds); i++)
		close_session(fd, ses[i]);
	close(fd);
}
