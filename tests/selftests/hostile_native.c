// SPDX-License-Identifier: BSD-2-Clause
/*
 * Valid calls of the native interface: sessions of every mode, and vectors of
 * commands for them.  Commands and results lie in memory behind the call's
 * structure, where other threads rewrite them.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "hostile_native.h"

/* Results, and where they go */
struct few {
	struct ocf_reap		reap;
	struct ocf_result	r[COMMANDS];
};

static const struct {
	enum ocf_mode	mode;
	const char	*cipher, *mac;
	uint32_t	keylen, mackeylen;
} sessions[] = {
	{ OCF_MODE_CIPHER, "aes-cbc", "", 16, 0 },
	{ OCF_MODE_CIPHER, "aes-xts", "", 64, 0 },
	{ OCF_MODE_CIPHER, "chacha20", "", 32, 0 },
	{ OCF_MODE_CIPHER, "null", "", 0, 0 },
	{ OCF_MODE_DIGEST, "", "sha256", 0, 0 },
	{ OCF_MODE_DIGEST, "", "hmac-sha1", 0, 20 },
	{ OCF_MODE_AEAD, "aes-gcm", "", 16, 0 },
	{ OCF_MODE_AEAD, "chacha20-poly1305", "", 32, 0 },
	{ OCF_MODE_ETA, "aes-cbc", "hmac-sha1", 16, 20 },
	{ OCF_MODE_ETA, "null", "hmac-sha256", 0, 32 },
	{ OCF_MODE_MTE, "aes-cbc", "hmac-sha256", 16, 32 },
	{ OCF_MODE_CHAIN, "aes-ctr", "hmac-sha512", 32, 64 },
	{ OCF_MODE_COMPRESS, "deflate", "", 0, 0 },
};

static void valid_open(void *arg)
{
	static const uint32_t flags[] = { 0, 0, OCF_SESSION_HARDWARE,
		OCF_SESSION_SOFTWARE, OCF_SESSION_ORDERED,
		OCF_SESSION_ORDERED | OCF_SESSION_HARDWARE };
	struct ocf_session_open *o = arg;
	int i = below(COUNT(sessions));

	*o = (struct ocf_session_open){
		.size = sizeof(*o), .mode = sessions[i].mode,
		.policy = below(2), .flags = flags[below(COUNT(flags))],
		.key = sessions[i].keylen ? addr(a_buffer()) : 0,
		.mackey = sessions[i].mackeylen ? addr(a_buffer()) : 0,
		.keylen = sessions[i].keylen,
		.mackeylen = sessions[i].mackeylen,
	};
	strcpy(o->cipher, sessions[i].cipher);
	strcpy(o->mac, sessions[i].mac);
	if (one_in(16))
		strcpy(o->device, "sim0");
}

static void made_open(int fd, const void *arg)
{
	const struct ocf_session_open *o = arg;
	uint32_t old = new_session(ABI_NATIVE, o->session, o->mode);

	if (old)
		ioctl(fd, OCF_SESSION_CLOSE, &old);
}

static void valid_session(void *arg)
{
	int kind;

	*(uint32_t *)arg = a_session(ABI_NATIVE, &kind);
}

static void made_close(int fd, const void *arg)
{
	gone_session(ABI_NATIVE, *(const uint32_t *)arg);
}

static void valid_rekey(void *arg)
{
	struct ocf_session_rekey *r = arg;
	int kind, i = below(COUNT(sessions));

	*r = (struct ocf_session_rekey){
		.size = sizeof(*r), .session = a_session(ABI_NATIVE, &kind),
		.key = sessions[i].keylen ? addr(a_buffer()) : 0,
		.mackey = sessions[i].mackeylen ? addr(a_buffer()) : 0,
		.keylen = sessions[i].keylen,
		.mackeylen = sessions[i].mackeylen,
	};
}

static void valid_query(void *arg)
{
	struct ocf_session_query *q = arg;
	int kind;

	q->size = sizeof(*q);
	q->session = a_session(ABI_NATIVE, &kind);
}

static void valid_features(void *arg)
{
	((struct ocf_features *)arg)->size = sizeof(struct ocf_features);
}

static void valid_algorithm(void *arg)
{
	struct ocf_algorithm *a = arg;

	a->size = sizeof(*a);
	a->index = below(32);
}

void a_command(struct ocf_command *c)
{
	uint32_t len = log_uniform(A_BUFFER) & ~15u;
	int kind;

	*c = (struct ocf_command){
		.cookie = below(COOKIES),
		.session = a_session(ABI_NATIVE, &kind), .op = below(2),
		.src = addr(a_buffer()), .dst = addr(a_buffer()), .len = len,
	};
	if (one_in(3))
		c->dst = c->src;
	if (kind == OCF_MODE_AEAD || kind == OCF_MODE_ETA) {
		c->aad = addr(a_buffer());
		c->auth_len = one_in(4) ? log_uniform(A_BUFFER) : 16;
		c->tag = addr(a_buffer());
	} else if (kind == OCF_MODE_DIGEST) {
		c->dst = 0;
		c->tag = addr(a_buffer());
		c->flags = one_in(4) ? below(4) * OCF_COMMAND_MORE : 0;
		if (c->flags & OCF_COMMAND_MORE)
			c->tag = 0;
	} else if (kind == OCF_MODE_MTE) {
		c->aad = addr(a_buffer());
		c->auth_len = 13;
		/* SHA-256, and a byte of padding at the least */
		if (c->op == OCF_OP_ENCRYPT)
			c->dst_len = (len + 32 + 16) & ~15u;
	} else if (kind == OCF_MODE_CHAIN) {
		c->tag = addr(a_buffer());
		c->data_start = below(64);
		c->auth_start = below(64);
		c->auth_len = len;
		c->flags = below(4) * OCF_COMMAND_MAC_FIRST;
	} else if (kind == OCF_MODE_COMPRESS) {
		c->dst = addr(a_buffer());
		c->dst_len = A_BUFFER;
	}
}

static void a_public_command(struct many *m)
{
	int i;

	for (i = 0; i < 4; i++)
		m->values[i] = (struct ocf_pk_value){ addr(a_buffer()), 32, 0 };
	m->pk = (struct ocf_pk_command){
		.cookie = below(COOKIES), .op = OCF_OP_PUBLIC_KEY,
		.code = one_in(2) ? OCF_PK_MOD_EXP : below(OCF_PK_COUNT),
		.in = 3, .out = 1, .values = addr(m->values),
	};
}

void a_vector(struct many *m)
{
	int i;

	m->v.commands = addr(m->c);
	m->v.results = addr(m->r);
	m->v.count = 1 + below(COMMANDS + 1);
	for (i = 0; i < COMMANDS; i++)
		a_command(&m->c[i]);
	a_public_command(m);
}

static void valid_run(void *arg)
{
	a_vector(arg);
}

static void valid_submit(void *arg)
{
	struct many *m = arg;

	a_vector(m);
	m->v.results = 0;
}

static int result_of(const struct ocf_result *r)
{
	return r->res < 0 ? -r->res : 0;
}

static int run_result(const void *arg, int i)
{
	const struct many *m = arg;

	return i <= COMMANDS ? result_of(&m->r[i]) : -1;
}

static void valid_reap(void *arg)
{
	struct few *f = arg;

	f->reap.results = addr(f->r);
	f->reap.count = COMMANDS;
	/*
	 * sometimes fetch many results without checking them: an open file
	 * holds a limited number of operations, and submissions would soon fail
	 * with EBUSY
	 */
	if (one_in(3)) {
		f->reap.results = addr(a_buffer());
		f->reap.count = 256;
	}
}

static int reap_result(const void *arg, int i)
{
	const struct few *f = arg;

	return i < COMMANDS ? result_of(&f->r[i]) : -1;
}

static void valid_eventfd(void *arg)
{
	*(int32_t *)arg = one_in(2) ? -1 : eventfd(0, EFD_NONBLOCK);
}

/*
 * The device's file has its own reference to the eventfd, so the descriptor can
 * be closed.
 */
static void made_eventfd(int fd, const void *arg)
{
	new_descriptor(*(const int32_t *)arg);
}

static void valid_cookie(void *arg)
{
	*(uint64_t *)arg = below(COOKIES);
}

#define VECTOR_FIELDS					\
	FIELD(struct many, v.commands, POINTER),	\
	FIELD(struct many, v.results, POINTER),		\
	FIELD(struct many, v.count, LENGTH),		\
	FIELD(struct many, v.flags, NUMBER)

/*
 * the fields of what the vector points to: commands, and the values of a
 * public-key command
 */
#define MANY_FIELDS					\
	COMMAND_FIELDS(struct many, c[0]),		\
	FIELD(struct many, c[1].src, POINTER),		\
	FIELD(struct many, c[1].dst, POINTER),		\
	FIELD(struct many, c[1].len, LENGTH),		\
	FIELD(struct many, pk.none, NUMBER),		\
	FIELD(struct many, pk.op, NUMBER),		\
	FIELD(struct many, pk.scheme, NUMBER),		\
	FIELD(struct many, pk.curve, NUMBER),		\
	FIELD(struct many, pk.policy, NUMBER),		\
	FIELD(struct many, pk.code, NUMBER),		\
	FIELD(struct many, pk.in, NUMBER),		\
	FIELD(struct many, pk.out, NUMBER),		\
	FIELD(struct many, pk.flags, NUMBER),		\
	FIELD(struct many, pk.salt, LENGTH),		\
	{ offsetof(struct many, pk.hash), 8, NUMBER },	\
	FIELD(struct many, pk.values, POINTER),		\
	{ offsetof(struct many, pk.device), 8, NUMBER }, \
	FIELD(struct many, values[0].addr, POINTER),	\
	FIELD(struct many, values[0].len, LENGTH),	\
	FIELD(struct many, values[3].addr, POINTER),	\
	FIELD(struct many, values[3].len, LENGTH)

#define SIZED		EFAULT, EINVAL, E2BIG

const struct hostile_call hostile_native[] = {
	{ .name = "OCF_FEATURES", .number = OCF_FEATURES,
	  .size = sizeof(struct ocf_features), .weight = 1,
	  .valid = valid_features, .fields = {
		FIELD(struct ocf_features, size, LENGTH),
		FIELD(struct ocf_features, algorithms, NUMBER),
	  }, .errs = { SIZED } },
	{ .name = "OCF_ALGORITHM", .number = OCF_ALGORITHM,
	  .size = sizeof(struct ocf_algorithm), .weight = 1,
	  .valid = valid_algorithm, .fields = {
		FIELD(struct ocf_algorithm, size, LENGTH),
		FIELD(struct ocf_algorithm, index, NUMBER),
	  }, .errs = { SIZED, ENOENT } },
	{ .name = "OCF_SESSION_OPEN", .number = OCF_SESSION_OPEN,
	  .size = sizeof(struct ocf_session_open), .weight = 10,
	  .valid = valid_open, .made = made_open, .fields = {
		FIELD(struct ocf_session_open, size, LENGTH),
		FIELD(struct ocf_session_open, mode, NUMBER),
		{ offsetof(struct ocf_session_open, cipher), 4, NUMBER },
		{ offsetof(struct ocf_session_open, mac), 4, NUMBER },
		{ offsetof(struct ocf_session_open, device), 4, NUMBER },
		{ offsetof(struct ocf_session_open, device) + 28, 4, NUMBER },
		FIELD(struct ocf_session_open, policy, NUMBER),
		FIELD(struct ocf_session_open, flags, NUMBER),
		FIELD(struct ocf_session_open, key, POINTER),
		FIELD(struct ocf_session_open, mackey, POINTER),
		FIELD(struct ocf_session_open, keylen, LENGTH),
		FIELD(struct ocf_session_open, mackeylen, LENGTH),
		FIELD(struct ocf_session_open, ivlen, LENGTH),
		FIELD(struct ocf_session_open, maclen, LENGTH),
		FIELD(struct ocf_session_open, rounds, NUMBER),
		FIELD(struct ocf_session_open, session, NUMBER),
		FIELD(struct ocf_session_open, wrong, NUMBER),
		FIELD(struct ocf_session_open, pad, NUMBER),
	  }, .errs = { SIZED, EPERM, EOPNOTSUPP, ENODEV, EDQUOT, ENOSPC,
		       ENOMEM } },
	{ .name = "OCF_SESSION_CLOSE", .number = OCF_SESSION_CLOSE, .size = 4,
	  .weight = 2, .valid = valid_session, .made = made_close,
	  .fields = { { 0, 4, SESSION } }, .errs = { EFAULT, EINVAL } },
	{ .name = "OCF_SESSION_REKEY", .number = OCF_SESSION_REKEY,
	  .size = sizeof(struct ocf_session_rekey), .weight = 3,
	  .valid = valid_rekey, .fields = {
		FIELD(struct ocf_session_rekey, size, LENGTH),
		FIELD(struct ocf_session_rekey, session, SESSION),
		FIELD(struct ocf_session_rekey, key, POINTER),
		FIELD(struct ocf_session_rekey, mackey, POINTER),
		FIELD(struct ocf_session_rekey, keylen, LENGTH),
		FIELD(struct ocf_session_rekey, mackeylen, LENGTH),
		FIELD(struct ocf_session_rekey, wrong, NUMBER),
		FIELD(struct ocf_session_rekey, pad, NUMBER),
	  }, .errs = { SIZED, ENOMEM } },
	{ .name = "OCF_SESSION_QUERY", .number = OCF_SESSION_QUERY,
	  .size = sizeof(struct ocf_session_query), .weight = 2,
	  .valid = valid_query, .fields = {
		FIELD(struct ocf_session_query, size, LENGTH),
		FIELD(struct ocf_session_query, session, SESSION),
	  }, .errs = { SIZED } },
	{ .name = "OCF_RUN", .number = OCF_RUN, .size = sizeof(struct many),
	  .weight = 20, .valid = valid_run, .result = run_result,
	  .fields = { VECTOR_FIELDS, MANY_FIELDS }, .errs = { EFAULT, EINVAL },
	  .results = { RESULTS } },
	{ .name = "OCF_SUBMIT", .number = OCF_SUBMIT,
	  .size = sizeof(struct many), .weight = 14, .valid = valid_submit,
	  .fields = { VECTOR_FIELDS, MANY_FIELDS }, .errs = { RESULTS } },
	{ .name = "OCF_REAP", .number = OCF_REAP, .size = sizeof(struct few),
	  .weight = 14, .valid = valid_reap, .result = reap_result,
	  .fields = {
		FIELD(struct few, reap.results, POINTER),
		FIELD(struct few, reap.count, LENGTH),
		FIELD(struct few, reap.flags, NUMBER),
	  }, .errs = { EFAULT, EINVAL }, .results = { RESULTS } },
	{ .name = "OCF_EVENTFD", .number = OCF_EVENTFD, .size = 4, .weight = 1,
	  .valid = valid_eventfd, .made = made_eventfd,
	  .fields = { { 0, 4, NUMBER } }, .errs = { EFAULT, EINVAL } },
	/*
	 * may never succeed: operations often end before they can be cancelled
	 */
	{ .name = "OCF_CANCEL", .number = OCF_CANCEL, .size = 8, .weight = 2,
	  .never = true, .valid = valid_cookie, .fields = { { 0, 8, NUMBER } },
	  .errs = { EFAULT, ENOENT } },
};
const int nhostile_native = COUNT(hostile_native);
