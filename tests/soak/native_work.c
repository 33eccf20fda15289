// SPDX-License-Identifier: BSD-2-Clause
/*
 * A soak by the native interface: every mode, and RSA.  One at a time, vectors
 * that are waited for or fetched, and io_uring's commands and vectors with
 * registered buffers and without.
 */
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "../selftests/native.h"
#include "../selftests/random.h"
#include "work.h"

#define TAG_MAX		64
#define AUTH_LEN	13u	/* as TLS has it before a record */
#define MODULUS		256	/* bytes */

struct kind {
	enum ocf_mode	mode;
	const char	*cipher, *mac;
	uint32_t	keylen, mackeylen, taglen;
};

static const struct kind kinds[] = {
	{ OCF_MODE_CIPHER, "aes-cbc", "", 16, 0, 0 },
	{ OCF_MODE_CIPHER, "aes-ctr", "", 32, 0, 0 },
	{ OCF_MODE_CIPHER, "aes-ecb", "", 24, 0, 0 },
	{ OCF_MODE_CIPHER, "aes-xts", "", 64, 0, 0 },
	{ OCF_MODE_CIPHER, "des3-cbc", "", 24, 0, 0 },
	{ OCF_MODE_AEAD, "aes-gcm", "", 32, 0, 16 },
	{ OCF_MODE_AEAD, "aes-ccm", "", 16, 0, 16 },
	{ OCF_MODE_AEAD, "chacha20-poly1305", "", 32, 0, 16 },
	{ OCF_MODE_ETA, "aes-cbc", "hmac-sha256", 16, 32, 32 },
	{ OCF_MODE_ETA, "aes-ctr", "hmac-sha1", 32, 20, 20 },
	{ OCF_MODE_MTE, "aes-cbc", "hmac-sha256", 16, 32, 32 },
	{ OCF_MODE_CHAIN, "aes-cbc", "hmac-sha1", 16, 20, 20 },
	{ OCF_MODE_DIGEST, "", "sha256", 0, 0, 32 },
	{ OCF_MODE_DIGEST, "", "hmac-sha512", 0, 64, 64 },
	{ OCF_MODE_COMPRESS, "deflate", "", 0, 0, 0 },
};

#define CIPHERS		5	/* the first of those */
#define SLOW		4	/* of those: the slowest on a card */

/* A text and its expected result */
struct text {
	uint32_t	len, outlen;
	uint8_t		iv[16];
	uint8_t		*out, tag[TAG_MAX];
};

/*
 * A command in flight.  Its data are in @buf, a part of the registered buffer.
 * A command without @kind is RSA.
 */
struct flight {
	const struct kind	*kind;
	const struct text	*text;
	enum task		what;
	uint8_t			*buf, tag[TAG_MAX];
	double			begun;
	struct ocf_pk_value	values[4];
};

/* A process, and its sessions by kind */
static struct worker {
	int			fd;
	struct io_uring		ring;
	uint32_t		ses[COUNT(kinds)];
	uint8_t			*area;
	struct flight		flights[FLYING];
	struct ocf_command	commands[FLYING];
	struct ocf_result	results[FLYING];
} worker;

static struct text texts[COUNT(kinds)][TEXTS];
static uint8_t key[64];
static uint8_t *der, message[MODULUS], ciphertext[MODULUS];
static int der_len;

_Static_assert(sizeof(struct ocf_command) == sizeof(struct ocf_pk_command),
	       "one stands for the other in a vector");

static int open_kind(int fd, const struct kind *k, uint32_t *ses)
{
	struct ocf_session_open o = {
		.mode = k->mode, .key = addr(key), .keylen = k->keylen,
		.mackey = addr(key), .mackeylen = k->mackeylen,
		.maclen = k->taglen,
	};
	int err;

	strcpy(o.cipher, k->cipher);
	strcpy(o.mac, k->mac);
	err = native_open(fd, &o);
	*ses = o.session;
	return err;
}

/* ---- commands ---- */

/*
 * Returns the length of a record: payload, MAC and padding (RFC 5246, 6.2.3.2).
 */
static uint32_t record_len(const struct kind *k, uint32_t len)
{
	return (len + k->taglen) / 16 * 16 + 16;
}

static void add_auth(const struct flight *f, struct ocf_command *c)
{
	switch (f->kind->mode) {
	case OCF_MODE_CHAIN:
		c->auth_len = c->len;
		break;
	case OCF_MODE_MTE:
		if (f->what == MAKE)
			c->dst_len = record_len(f->kind, c->len);
		c->tag = 0;
		/* fall through */
	case OCF_MODE_AEAD:
	case OCF_MODE_ETA:
		c->aad = addr(plain);
		c->auth_len = AUTH_LEN;
		break;
	case OCF_MODE_COMPRESS:
		c->dst_len = ROOM;
		/* fall through */
	default:
		break;
	}
}

static bool may_be_in_place(const struct kind *k)
{
	return k->mode != OCF_MODE_COMPRESS;
}

static void prepare_command(struct flight *f, uint32_t ses,
			    struct ocf_command *c)
{
	const struct kind *k = f->kind;
	const struct text *t = f->text;
	const uint8_t *src = f->what == MAKE ? plain : t->out;
	uint32_t len = f->what == MAKE ? t->len : t->outlen;

	if (f->what == FORGED || (may_be_in_place(k) && one_in(2))) {
		memcpy(f->buf, src, len);
		src = f->buf;
	}
	memcpy(f->tag, t->tag, TAG_MAX);
	if (f->what == FORGED)
		f->buf[below(len)] ^= 1 << below(8);
	else if (f->what == MAKE)
		memset(f->tag, 0, TAG_MAX);
	*c = (struct ocf_command){
		.session = ses,
		.op = f->what == MAKE ? OCF_OP_ENCRYPT : OCF_OP_DECRYPT,
		.src = addr(src),
		.dst = k->mode == OCF_MODE_DIGEST ? 0 : addr(f->buf),
		.tag = k->taglen ? addr(f->tag) : 0,
		.len = len,
	};
	memcpy(c->iv, t->iv, k->mode == OCF_MODE_AEAD ? 12 : 16);
	add_auth(f, c);
}

/*
 * Makes a command that decrypts with the private key what was encrypted with
 * the public one.
 */
static void prepare_rsa(struct flight *f, struct ocf_command *c)
{
	struct ocf_pk_command pk = {
		.op = OCF_OP_PUBLIC_KEY, .code = OCF_PK_RSA_DECRYPT,
		.scheme = OCF_PK_RAW, .in = 3, .out = 1,
		.values = addr(f->values),
	};

	f->values[0] = (struct ocf_pk_value){ addr(ciphertext), MODULUS, 0 };
	f->values[1] = (struct ocf_pk_value){ addr(der), der_len, 0 };
	f->values[2] = (struct ocf_pk_value){};
	f->values[3] = (struct ocf_pk_value){ addr(f->buf), MODULUS, 0 };
	memcpy(c, &pk, sizeof(pk));
}

static bool is_right(const struct flight *f, int res)
{
	const struct text *t = f->text;
	const struct kind *k = f->kind;

	if (!k)
		return res == MODULUS && !memcmp(f->buf, message, MODULUS);
	if (k->mode == OCF_MODE_DIGEST)
		return res == (int)k->taglen &&
		       !memcmp(f->tag, t->tag, k->taglen);
	if (f->what == OPEN)
		return res == (int)t->len && !memcmp(f->buf, plain, res);
	return res == (int)t->outlen && !memcmp(f->buf, t->out, res) &&
	       (k->mode == OCF_MODE_MTE || !memcmp(f->tag, t->tag, k->taglen));
}

static void land(struct flight *f, int res)
{
	bool right = res >= 0 && is_right(f, res);

	if (res >= 0 && !right && f->kind)
		explain(f->kind->cipher, f->what, f->buf,
			f->what == MAKE ? f->text->out : plain, res);
	judge(f->what, right, res < 0 ? -res : 0, now() - f->begun);
}

/* ---- what is right ---- */

static void make_text(const struct kind *k, uint32_t ses, struct text *t,
		      bool longest)
{
	struct worker *w = &worker;
	struct flight f = { .kind = k, .text = t, .buf = malloc(ROOM) };
	struct ocf_command c;
	int res;

	t->len = longest ? LEN_MAX : 16 * (1 + log_uniform(LEN_MAX / 16 - 1));
	if (k->mode == OCF_MODE_MTE)
		t->len = 1 + below(16000);
	fill_by_chance(t->iv, 16);
	prepare_command(&f, ses, &c);
	res = native_run(w->fd, &c);
	if (res < 0)
		unprepared(*k->cipher ? k->cipher : k->mac, -res);
	t->outlen = k->mode == OCF_MODE_DIGEST ? t->len : res;
	t->out = k->mode == OCF_MODE_DIGEST ? plain : f.buf;
	memcpy(t->tag, f.tag, TAG_MAX);
	if (k->mode == OCF_MODE_CIPHER)
		agree_with_openssl(k->cipher, key, k->keylen, t->iv, t->len,
				   t->out);
}

static void make_rsa(void)
{
	EVP_PKEY *pkey = EVP_RSA_gen(MODULUS * 8);
	EVP_PKEY_CTX *ctx = pkey ? EVP_PKEY_CTX_new(pkey, NULL) : NULL;
	size_t len = MODULUS;

	/* less than any modulus of that length */
	fill_by_chance(message + 1, MODULUS - 1);
	der_len = pkey ? i2d_PrivateKey(pkey, &der) : -1;
	if (!ctx || der_len < 0 || EVP_PKEY_encrypt_init(ctx) <= 0 ||
	    EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_NO_PADDING) <= 0 ||
	    EVP_PKEY_encrypt(ctx, ciphertext, &len, message, MODULUS) <= 0)
		unprepared("an RSA key", EINVAL);
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(pkey);
}

void native_prepare(void)
{
	struct worker *w = &worker;
	uint32_t ses;
	int i, j, err;

	fill(key, sizeof(key), 2);
	make_rsa();
	w->fd = open_dev();
	for (i = 0; i < COUNT(kinds); i++) {
		err = open_kind(w->fd, &kinds[i], &ses);
		if (err)
			unprepared(*kinds[i].cipher ? kinds[i].cipher :
						      kinds[i].mac, err);
		for (j = 0; j < TEXTS; j++)
			make_text(&kinds[i], ses, &texts[i][j], !j);
	}
	close(w->fd);
}

/* ---- ways ---- */

static void run_vector(struct worker *w, int n)
{
	struct ocf_vector v = {
		.commands = addr(w->commands), .results = addr(w->results),
		.count = n,
	};
	int i, err = call(w->fd, OCF_RUN, &v);

	for (i = 0; i < n; i++)
		land(&w->flights[i], err ? -err : w->results[i].res);
}

static void submit_and_reap(struct worker *w, int n)
{
	struct ocf_vector v = { .commands = addr(w->commands), .count = n };
	struct ocf_reap reap = { .results = addr(w->results), .count = FLYING };
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	int i, got, sent = ioctl(w->fd, OCF_SUBMIT, &v);

	for (i = sent < 0 ? 0 : sent; i < n; i++)
		land(&w->flights[i], sent < 0 ? -errno : -ENOSPC);
	for (; sent > 0; sent -= got) {
		if (poll(&p, 1, patience()) != 1)
			lost(sent);
		got = ioctl(w->fd, OCF_REAP, &reap);
		if (got < 0)
			lost(sent);
		for (i = 0; i < got; i++)
			land(&w->flights[w->results[i].cookie],
			     w->results[i].res);
	}
}

/*
 * Has all or a part of the data in the registered buffer.  Returns whether any
 * are.
 */
static bool fix(struct worker *w, struct ocf_command *c)
{
	const struct flight *f = &w->flights[c->cookie];

	if (!f->kind || f->kind->mode == OCF_MODE_CHAIN ||
	    f->kind->mode == OCF_MODE_COMPRESS || one_in(2))
		return false;
	if (c->src == addr(f->buf))
		c->flags |= OCF_COMMAND_FIXED_SRC;
	if (c->dst)
		c->flags |= OCF_COMMAND_FIXED_DST;
	return c->flags;
}

static int ring_take(struct worker *w, int left, uint64_t *data)
{
	struct __kernel_timespec most = { .tv_sec = patience() / 1000 };
	struct io_uring_cqe *cqe;
	int res;

	io_uring_submit(&w->ring);
	if (io_uring_wait_cqe_timeout(&w->ring, &cqe, &most))
		lost(left);
	*data = cqe->user_data;
	res = cqe->res;
	io_uring_cqe_seen(&w->ring, cqe);
	return res;
}

static void ring_commands(struct worker *w, int n)
{
	struct io_uring_sqe *sqe;
	uint64_t which;
	int i, res;

	for (i = 0; i < n; i++) {
		bool fixed = fix(w, &w->commands[i]);

		sqe = ring_prepare(&w->ring, w->fd, OCF_URING_COMMAND,
				   &w->commands[i], sizeof(w->commands[i]));
		ring_fixed(sqe, fixed ? 0 : -1);
		sqe->user_data = i;
	}
	for (; n; n--) {
		res = ring_take(w, n, &which);
		land(&w->flights[which], res);
	}
}

static void ring_of_vectors(struct worker *w, int n)
{
	struct ocf_vector v = {
		.commands = addr(w->commands), .results = addr(w->results),
		.count = n,
	};
	struct io_uring_sqe *sqe;
	bool fixed = false;
	uint64_t data;
	int i, res;

	for (i = 0; i < n; i++)
		fixed |= fix(w, &w->commands[i]);
	sqe = ring_prepare(&w->ring, w->fd, OCF_URING_VECTOR, &v, sizeof(v));
	ring_fixed(sqe, fixed ? 0 : -1);
	res = ring_take(w, n, &data);
	for (i = 0; i < n; i++)
		land(&w->flights[i], res < 0 ? res : w->results[i].res);
}

/* ---- work ---- */

/*
 * Draws a task.  It never opens a chain: there the MAC covers the output, which
 * is the plaintext when decrypting, so the tag would not match.
 */
static enum task draw_task(const struct kind *k)
{
	if (k->mode == OCF_MODE_CHAIN || one_in(2))
		return MAKE;
	return k->mode >= OCF_MODE_AEAD && k->mode <= OCF_MODE_MTE &&
	       one_in(3) ? FORGED : OPEN;
}

/*
 * Begins a command; three of four are ciphers that cards do, or all if @much.
 */
static void take_off(struct worker *w, int i, bool much)
{
	int kind = much ? SLOW :
		   one_in(4) ? below(COUNT(kinds)) : below(CIPHERS);
	struct flight *f = &w->flights[i];
	struct ocf_command *c = &w->commands[i];

	f->begun = now();
	if (!much && one_in(100)) {
		f->kind = NULL;
		f->what = OPEN;
		prepare_rsa(f, c);
	} else {
		f->kind = &kinds[kind];
		f->text = &texts[kind][much ? 0 : below(TEXTS)];
		f->what = draw_task(f->kind);
		prepare_command(f, w->ses[kind], c);
	}
	c->cookie = i;
}

static void some(struct worker *w)
{
	static void (*const ways[])(struct worker *w, int n) = {
		run_vector, submit_and_reap, ring_commands, ring_of_vectors,
	};
	int i, n = one_in(4) ? 1 + log_uniform(FLYING - 1) : FLYING;
	/* much work, so that a card that is removed has some */
	bool much = one_in(4);

	for (i = 0; i < n; i++)
		take_off(w, i, much);
	ways[below(COUNT(ways))](w, n);
}

static void begin(struct worker *w)
{
	struct iovec all = { .iov_len = FLYING * ROOM };
	int i;

	if (!w->area)
		w->area = malloc(FLYING * ROOM);
	for (i = 0; i < FLYING; i++)
		w->flights[i].buf = w->area + i * ROOM;
	all.iov_base = w->area;
	w->fd = open_dev();
	if (!ring_init(&w->ring) ||
	    io_uring_register_buffers(&w->ring, &all, 1))
		unprepared("a ring", ENOMEM);
}

/* Opens and closes sessions, too. */
void native_work(void)
{
	struct worker *w = &worker;
	int i, err;

	begin(w);
	for (i = 0; i < COUNT(kinds); i++) {
		err = open_kind(w->fd, &kinds[i], &w->ses[i]);
		if (err)
			judge(MAKE, false, err, 0);
	}
	for (i = 0; i < 40 && wanted(); i++)
		some(w);
	for (i = 0; i < COUNT(kinds); i++)
		call(w->fd, OCF_SESSION_CLOSE, &w->ses[i]);
	io_uring_queue_exit(&w->ring);
	close(w->fd);
}
