// SPDX-License-Identifier: BSD-2-Clause
/*
 * The vhost-user side: libvhost-user speaks it, but does not know the two
 * messages that make and end sessions (QEMU's docs/interop/vhost-user.rst).
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/virtio_config.h>

#include "card.h"
#include "libvhost-user.h"

#define MAX_CIPHER_KEY	64
#define MAX_AUTH_KEY	512

/*
 * The "crypto session description", which the document leaves to QEMU's own
 * structures (CryptoDevBackendSymSessionInfo), as they lie on 64 bits.
 */
struct session_msg {
	int64_t id;
	uint32_t cipher, cipher_key_len;
	uint32_t hash, hash_len, auth_key_len, aad_len;
	uint8_t op_type, direction, hash_mode, order;
	uint8_t hole[4];
	uint64_t pointers[2];	/* into QEMU; the keys follow */
	uint8_t cipher_key[MAX_CIPHER_KEY];
	uint8_t auth_key[MAX_AUTH_KEY];
};
static_assert(sizeof(struct session_msg) == 632, "as QEMU has it");

static struct card_knobs *knobs;
static VuDev device;
static bool connected;

static bool read_all(int sock, void *to, size_t len)
{
	ssize_t n;

	do
		n = recv(sock, to, len, MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	return n >= 0 && (size_t)n == len;
}

static bool read_head(int sock, VhostUserMsg *msg)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(msg->fds))];
	} control;
	struct iovec iov = { msg, VHOST_USER_HDR_SIZE };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(sock, &m, MSG_WAITALL | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		msg->fd_num = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(msg->fds, CMSG_DATA(c), msg->fd_num * sizeof(int));
	}
	return n == (ssize_t)VHOST_USER_HDR_SIZE;
}

/*
 * Reads a message like the library's function, which has no space for sessions.
 */
static bool read_msg(VuDev *dev, int sock, VhostUserMsg *msg)
{
	void *to = &msg->payload;
	size_t room = sizeof(msg->payload);

	(void)dev;
	if (!read_head(sock, msg))
		goto close_fds;
	if (msg->request == VHOST_USER_CREATE_CRYPTO_SESSION) {
		room = sizeof(struct session_msg);
		to = msg->data = calloc(1, room);
	}
	if (!to || msg->size > room ||
	    /* a read of 0 bytes would wait */
	    (msg->size && !read_all(sock, to, msg->size)))
		goto close_fds;
	return true;

close_fds:
	while (msg->fd_num > 0)
		close(msg->fds[--msg->fd_num]);
	return false;
}

static bool refuses(const struct card_params *params)
{
	uint64_t len = knobs->faults[CARD_REFUSE].arg;

	return (!len || len == params->cipher_key_len) &&
	       card_draw(knobs, CARD_REFUSE);
}

static int64_t create(const struct session_msg *msg)
{
	struct card_params params = {
		.cipher = msg->cipher,
		.cipher_key_len = msg->cipher_key_len,
		.hash = msg->hash,
		.hash_len = msg->hash_len,
		.auth_key_len = msg->auth_key_len,
		.op_type = msg->op_type,
		.direction = msg->direction,
		.hash_mode = msg->hash_mode,
		.order = msg->order,
		.cipher_key = msg->cipher_key,
		.auth_key = msg->auth_key,
	};
	struct card_session *session;
	int64_t id;

	/*
	 * card_session_new() refuses a cipher's key whose length is not in its
	 * table of ciphers
	 */
	if (msg->auth_key_len > MAX_AUTH_KEY ||
	    refuses(&params) ||
	    card_session_new(&params, &session) != VIRTIO_CRYPTO_OK)
		return -1;
	id = card_sessions_add(session, knobs->sessions);
	if (id < 0)
		card_session_free(session);
	return id;
}

/*
 * A reset and a pause of the machine look the same here.  Requests inside are
 * put back before the library says where the ring has ended: after a pause the
 * ring begins there again, and after a reset at 0.
 */
static void put_back(VuDev *dev, unsigned int index)
{
	if (index >= CARD_QUEUES)
		return;		/* the library has told */
	card_queue_put_back(dev, index);
}

static int process_msg(VuDev *dev, VhostUserMsg *msg, int *do_reply)
{
	struct session_msg *session = (struct session_msg *)msg->data;

	switch (msg->request) {
	case VHOST_USER_SET_FEATURES:
		/*
		 * QEMU 7.2 does not pass on the features that the guest has
		 * accepted
		 */
		msg->payload.u64 |= 1ull << VIRTIO_F_VERSION_1;
		return 0;
	case VHOST_USER_GET_VRING_BASE:
		put_back(dev, msg->payload.state.index);
		return 0;
	case VHOST_USER_CREATE_CRYPTO_SESSION:
		session->id = create(session);
		explicit_bzero(session->cipher_key, MAX_CIPHER_KEY);
		explicit_bzero(session->auth_key, MAX_AUTH_KEY);
		msg->size = sizeof(*session);
		*do_reply = 1;
		return 1;
	case VHOST_USER_CLOSE_CRYPTO_SESSION:
		card_sessions_drop(msg->payload.u64);
		return 1;
	case VHOST_USER_NONE:
		return 1;	/* the library would exit */
	}
	return 0;
}

static bool from_the_beginning(VuDev *dev)
{
	int i;

	for (i = 0; i < CARD_QUEUES; i++)
		if (vu_get_queue(dev, i)->last_avail_idx)
			return false;
	return true;
}

static void queue_set_started(VuDev *dev, int index, bool started)
{
	VuVirtq *vq = vu_get_queue(dev, index);

	fprintf(stderr, "card: queue %d %s at %u\n", index,
		started ? "begins" : "ends", vq->last_avail_idx);
	vu_set_queue_handler(dev, vq, started ? card_queue_kick : NULL);
	if (!started)
		return;
	dev->broken = false;
	card_queue_begin(dev, index);
	/* a pause before the first answer looks like a reset */
	if (from_the_beginning(dev))
		card_sessions_forget();
}

static uint64_t protocol_features(VuDev *dev)
{
	(void)dev;
	return 1ull << VHOST_USER_PROTOCOL_F_CRYPTO_SESSION |
	       1ull << VHOST_USER_PROTOCOL_F_MQ;
}

static const VuDevIface iface = {
	.get_protocol_features = protocol_features,
	.process_msg = process_msg,
	.queue_set_started = queue_set_started,
};

/* The guest's ring is invalid; the card ignores it until a reset. */
static void panic(VuDev *dev, const char *why)
{
	(void)dev;
	fprintf(stderr, "card: %s\n", why);
}

struct watch {
	vu_watch_cb call;
	void *data;
} watches[64];

static void watched(int fd, void *arg)
{
	(void)arg;
	watches[fd].call(&device, VU_WATCH_IN, watches[fd].data);
}

static void set_watch(VuDev *dev, int fd, int condition, vu_watch_cb call,
		      void *data)
{
	(void)dev;
	(void)condition;
	if ((size_t)fd >= sizeof(watches) / sizeof(*watches))
		abort();
	watches[fd] = (struct watch){ call, data };
	card_loop_add(fd, watched, NULL);
}

static void remove_watch(VuDev *dev, int fd)
{
	(void)dev;
	card_loop_remove(fd);
}

static void dispatch(int fd, void *arg)
{
	(void)fd;
	(void)arg;
	if (!vu_dispatch(&device))
		card_vhost_close();
}

void card_vhost_open(int socket, struct card_knobs *set)
{
	/* a new connection may come sooner than the end of the one before */
	if (connected)
		card_vhost_close();
	knobs = set;
	if (!vu_init(&device, CARD_QUEUES, socket, panic, read_msg, set_watch,
		     remove_watch, &iface))
		abort();
	connected = true;
	card_loop_add(socket, dispatch, NULL);
	card_queue_init(&device, knobs);
	fprintf(stderr, "card: connected\n");
}

void card_vhost_close(void)
{
	int i;

	for (i = 0; i < CARD_QUEUES; i++)
		card_queue_drop(i);
	card_sessions_forget();
	card_loop_remove(device.sock);
	vu_deinit(&device);
	connected = false;
	fprintf(stderr, "card: disconnected\n");
}

VuDev *card_vhost_dev(void)
{
	return connected ? &device : NULL;
}
