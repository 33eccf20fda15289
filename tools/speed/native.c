// SPDX-License-Identifier: BSD-2-Clause
/*
 * /dev/crypto, by the native interface and libocf: a command at a time, many in
 * a call, and many under way.
 */
#include <errno.h>
#include <ocf/queue.h>
#include <string.h>

#include "way.h"

static struct ocf *ocf;
static struct ocf_queue *queue;
static uint32_t session;
static struct ocf_command commands[DEPTH_MAX];
static struct ocf_result results[DEPTH_MAX];
static unsigned int depth, next;
static int wanted;		/* bytes of a result */
static bool fixed;

static bool find(const struct work *w)
{
	int err = ocf ? 0 : ocf_open(&ocf);

	if (strlen(w->cipher) >= OCF_NAME_MAX ||
	    strlen(w->mac) >= OCF_NAME_MAX ||
	    strlen(w->device) >= OCF_NAME_MAX)
		err = -EINVAL;
	return err ? failed(err) : true;
}

static bool begin_session(const struct work *w)
{
	struct ocf_session_open params = {
		.size = sizeof(params), .mode = w->mode,
		.key = w->keylen ? (uintptr_t)key : 0, .keylen = w->keylen,
		.mackey = w->mackeylen ? (uintptr_t)mackey : 0,
		.mackeylen = w->mackeylen, .maclen = w->maclen,
	};
	int err;

	strcpy(params.cipher, w->cipher);
	strcpy(params.mac, w->mac);
	strcpy(params.device, w->device);
	err = ocf_session_create(ocf, &params);
	if (err)
		return failed(err);
	session = params.session;
	depth = w->depth;
	return true;
}

static bool is_good(int res)
{
	if (wanted ? res == wanted : res > 0)
		return true;
	return failed(res < 0 ? res : -EIO);
}

static int put(struct ocf_queue *to, unsigned int n)
{
	const struct ocf_command *c = &commands[n % DEPTH_MAX];

	return fixed ? ocf_queue_put_fixed(to, c, 0) : ocf_queue_put(to, c);
}

static const struct queue_use use = { put, is_good };

static bool begin_queue(const struct work *w, unsigned int flags)
{
	if (!begin_session(w))
		return false;
	queue = queue_begin(ocf, &use, depth, flags);
	return queue;
}

static bool begin_uring(const struct work *w)
{
	return begin_queue(w, OCF_QUEUE_URING);
}

static bool begin_submit(const struct work *w)
{
	return begin_queue(w, OCF_QUEUE_NO_URING);
}

static bool begin_fixed(const struct work *w)
{
	struct iovec whole = { area, area_size };
	int err;

	if (!begin_uring(w))
		return false;
	err = ocf_queue_register(queue, &whole, 1);
	fixed = true;
	return err ? failed(err) : true;
}

static unsigned int nothing(void)
{
	return 0;
}

static void end(void)
{
	queue_end();
	fixed = false;
	if (session)
		ocf_session_destroy(ocf, session);
	session = 0;
}

/* Where digest, MAC or tag is: behind the data */
static uint8_t *tag_at(const struct work *w, unsigned int i, size_t len)
{
	if (w->mode == OCF_MODE_DIGEST)
		return dst_at(i);
	if (!w->maclen || w->mode == OCF_MODE_MTE)
		return NULL;
	return w->decrypt ? src_at(i) + len : dst_at(i) + len;
}

static bool aim(const struct work *w, size_t len)
{
	bool around = w->mode == OCF_MODE_AEAD || w->mode == OCF_MODE_MTE;
	bool record = w->mode == OCF_MODE_MTE;
	unsigned int i;

	next = 0;
	wanted = w->mode == OCF_MODE_DIGEST ? w->maclen :
		 record && !w->decrypt ? record_len(w, len) : len;
	for (i = 0; i < DEPTH_MAX; i++) {
		struct ocf_command *c = &commands[i];

		*c = (struct ocf_command){
			.cookie = i, .session = session,
			.op = w->decrypt ? OCF_OP_DECRYPT : OCF_OP_ENCRYPT,
			.src = (uintptr_t)src_at(i),
			.dst = w->mode == OCF_MODE_DIGEST ? 0 :
						(uintptr_t)dst_at(i),
			.tag = (uintptr_t)tag_at(w, i, len),
			.aad = around ? (uintptr_t)aad : 0,
			.auth_len = around ? AAD_LEN :
				    w->mode == OCF_MODE_CHAIN ? len : 0,
			.len = record && w->decrypt ? src_len(w, len) : len,
		};
		if (record && !w->decrypt)
			c->dst_len = record_len(w, len);
		if (w->mode == OCF_MODE_COMPRESS) {
			c->dst_len = len + 64;
			wanted = 0;
		}
		memcpy(c->iv, iv, w->ivlen);
	}
	return true;
}

static unsigned int run_one(void)
{
	return is_good(ocf_run(ocf, &commands[next++ % DEPTH_MAX]));
}

static unsigned int run_vector(void)
{
	int err = ocf_run_many(ocf, commands, results, depth);
	unsigned int i;

	if (err)
		return failed(err);
	for (i = 0; i < depth; i++)
		if (!is_good(results[i].res))
			return 0;
	return depth;
}

const struct way way_run = {
	"run", find, begin_session, aim, run_one, nothing, end,
};

const struct way way_vector = {
	"vector", find, begin_session, aim, run_vector, nothing, end,
};

const struct way way_uring = {
	"uring", find, begin_uring, aim, queue_run, queue_drain, end,
};

const struct way way_fixed = {
	"fixed", find, begin_fixed, aim, queue_run, queue_drain, end,
};

const struct way way_submit = {
	"submit", find, begin_submit, aim, queue_run, queue_drain, end,
};
