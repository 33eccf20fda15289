/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A virtio-crypto card that is a process: the other end of QEMU's
 * cryptodev-vhost-user.  One thread, several data queues, OpenSSL inside.
 *
 * A request's way: queue.c takes it from the guest's rings and computes when a
 * card with the configured speed would begin and end it.  request.c copies it
 * out of the guest's memory, checks it and has crypt.c compute it.  When it is
 * due, queue.c writes the answer into the guest's memory, with the faults drawn
 * for it.  knobs.c holds speeds and faults and reads the lines that set them.
 *
 * "Virtio" in comments is OASIS Virtio 1.2, section 5.9 (Crypto Device).
 */
#ifndef CARD_H
#define CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <linux/virtio_crypto.h>

/* The maximum of a request; a guest that asks for more is refused. */
#define CARD_MAX_BYTES		(16u << 20)
#define CARD_MAX_SESSIONS	4096
#define CARD_QUEUES		4	/* of data; QEMU may use fewer */
#define CARD_MAX_MAC		64
#define CARD_MAX_LINE		256

/* knobs.c */

enum card_fault {
	CARD_BUSY,		/* status NOSPC */
	CARD_ERROR,		/* any status, ERR if none is given */
	CARD_WRONG,		/* one bit of the result is flipped */
	CARD_LOST,		/* never answered */
	CARD_LATE,		/* answered later than the speed says, ms */
	CARD_DOUBLE,		/* answered twice */
	CARD_REFUSE,		/* a session; of keys of one length, or any */
	CARD_MUTE,		/* an interrupt is not raised */
	CARD_DEAF,		/* a doorbell is not heard */
	CARD_SHORT,		/* so many bytes are said to be written */
	CARD_FAULTS,
};

/*
 * A fault hits the next @left requests, or each @every-th; none if both are 0.
 */
struct card_draw {
	uint64_t left;
	uint64_t every;
	uint64_t seen;
	uint64_t arg;
	uint64_t hits;
};

struct card_knobs {
	uint64_t op_ns;		/* taken by each request */
	uint64_t byte_ps;	/* and by each byte of data in it */
	/*
	 * from the end of the work to the answer, while the card works on
	 * others
	 */
	uint64_t latency_ns;
	uint64_t depth;		/* requests taken from the ring at a time */
	uint64_t sessions;	/* at a time */
	bool stalled;
	struct card_draw faults[CARD_FAULTS];
};

/* Actions that a line can ask for; the loop does them. */
enum card_action {
	CARD_NOTHING,
	CARD_SHOW,		/* answer with figures */
	CARD_FORGET,		/* drop all sessions */
	CARD_STOP,		/* SIGSTOP to itself, for arg ms */
	CARD_DIE,		/* SIGKILL to itself */
};

void card_knobs_init(struct card_knobs *knobs);
/*
 * Carries out a line, which is changed.  Returns NULL, or what is wrong with
 * it.
 */
const char *card_knobs_line(struct card_knobs *knobs, char *line,
			    enum card_action *action, uint64_t *arg);
bool card_draw(struct card_knobs *knobs, enum card_fault fault);
size_t card_knobs_show(const struct card_knobs *knobs, char *buf, size_t size);

/* crypt.c */

/* The parameters of a new session from QEMU, in host byte order */
struct card_params {
	uint32_t cipher, cipher_key_len;
	uint32_t hash, hash_len, auth_key_len;
	uint8_t op_type, direction, hash_mode, order;
	const uint8_t *cipher_key, *auth_key;
};

/*
 * An operation; request.c has checked its lengths against the guest's buffers.
 */
struct card_op {
	bool chain, decrypt;
	uint32_t iv_len, aad_len, data_len, mac_len;
	uint32_t cipher_start, cipher_len;
	uint32_t hash_start, hash_len;
	const uint8_t *iv, *aad, *src;
	uint8_t *dst, *mac;
};

struct card_session;

/* VIRTIO_CRYPTO_OK or another status of virtio's */
int card_session_new(const struct card_params *params,
		     struct card_session **session);
void card_session_free(struct card_session *session);
int card_crypt(struct card_session *session, const struct card_op *op);

/* sessions.c: sessions by id; an id is not used again */

int64_t card_sessions_add(struct card_session *session, size_t most);
struct card_session *card_sessions_find(uint64_t id);
bool card_sessions_drop(uint64_t id);
void card_sessions_forget(void);
size_t card_sessions_count(void);

/* request.c */

/* The answer to a request, in the card's own memory */
struct card_result {
	uint8_t status;
	uint8_t *data;		/* data and MAC, to be freed */
	size_t len;
};

/*
 * Checks and carries out the request at @out; the answer has at most @room
 * bytes besides the status.  Reads each byte of the guest's memory once.
 */
void card_request(const struct iovec *out, unsigned int out_num, size_t room,
		  struct card_result *result);
size_t card_iov_size(const struct iovec *iov, unsigned int num);
size_t card_iov_read(const struct iovec *iov, unsigned int num, size_t from,
		     void *to, size_t len);
size_t card_iov_write(const struct iovec *iov, unsigned int num, size_t to,
		      const void *from, size_t len);

/* queue.c */

struct VuDev;

void card_queue_init(struct VuDev *dev, struct card_knobs *knobs);
/* Call this when a ring has requests, or the knobs have changed. */
void card_queue_kick(struct VuDev *dev, int index);
/* Begins the requests and writes the answers that are due. */
void card_queue_run(struct VuDev *dev);
/*
 * Returns the time of the next request or answer in ns of card_now();
 * UINT64_MAX if there is none.
 */
uint64_t card_queue_next(void);
/* Starts a ring, at the place that the library knows. */
void card_queue_begin(struct VuDev *dev, int index);
/*
 * Stops a ring.  If it goes on later, it does so after the last request that
 * was answered or lost.  Earlier requests without an answer are lost, too: they
 * could be done again only together with those that were answered.
 */
void card_queue_put_back(struct VuDev *dev, int index);
/* Forgets all requests of this queue, without access to the guest's memory. */
void card_queue_drop(int index);
size_t card_queue_show(char *buf, size_t size);
uint64_t card_now(void);

/* vhost.c */

void card_vhost_open(int socket, struct card_knobs *knobs);
void card_vhost_close(void);
struct VuDev *card_vhost_dev(void);

/* loop.c */

typedef void card_ready_fn(int fd, void *arg);

void card_loop_add(int fd, card_ready_fn *ready, void *arg);
void card_loop_remove(int fd);
/*
 * Waits until @due at most, and calls the functions of descriptors that are
 * ready.
 */
void card_loop_once(uint64_t due);

/* control.c */

/* Both return the socket, or -1 with errno. */
int card_control_open(const char *path, struct card_knobs *knobs);
int card_listen(const char *path, card_ready_fn *ready);

#endif /* CARD_H */
