/* SPDX-License-Identifier: BSD-2-Clause */
/* Work for cards only, as long as a test wants; every result is checked. */
#ifndef VIRTIO_LOAD_H
#define VIRTIO_LOAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "../selftests/bsd.h"

#define LOAD_THREADS	4
#define LOAD_MAX	65536	/* bytes of an operation */

/**
 * struct load - threads that encrypt and decrypt on cards
 * @thread: them
 * @stop: they end
 * @done: right results
 * @gone: operations refused with ENODEV
 * @begun: threads that have their session
 * @wrong: the first errno of another kind, or -1 for wrong data
 */
struct load {
	pthread_t	thread[LOAD_THREADS];
	atomic_bool	stop;
	atomic_long	done, gone;
	atomic_int	begun, wrong;
};

/* Opens a session that only cards may serve.  Returns 0 or an errno. */
static inline int card_session(int fd, uint32_t *ses)
{
	struct session2_op sop = {
		.cipher = CRYPTO_AES_CBC, .keylen = 16, .key = key_bytes,
		.crid = CRYPTO_FLAG_HARDWARE,
	};
	int err = call(fd, CIOCGSESSION2, &sop);

	*ses = sop.ses;
	return err;
}

/* Encrypts and decrypts.  Returns 0, an errno, or -1 for wrong data. */
static inline int there_and_back(int fd, uint32_t ses, const uint8_t *text,
				 const uint8_t *want, uint8_t *out,
				 uint32_t len)
{
	static const uint8_t iv[16];
	int err = crypt_op(fd, ses, COP_ENCRYPT, 0, text, out, len, iv, NULL);

	if (err)
		return err;
	if (memcmp(out, want, len))
		return -1;
	err = crypt_op(fd, ses, COP_DECRYPT, 0, out, out, len, iv, NULL);
	return err ?: memcmp(out, text, len) ? -1 : 0;
}

static void *load_work(void *arg)
{
	uint8_t *text = malloc(LOAD_MAX), *want = malloc(LOAD_MAX);
	uint8_t *out = malloc(LOAD_MAX);
	static const uint8_t iv[16];
	struct load *load = arg;
	uint32_t ses, len = 16;
	int fd = open_dev(), err;

	fill(text, LOAD_MAX, 1);
	oracle_cipher("aes-cbc", true, key_bytes, 16, iv, text, LOAD_MAX, want);
	err = card_session(fd, &ses);
	if (err)
		load->wrong = err;
	load->begun++;
	while (!load->stop && !load->wrong) {
		err = there_and_back(fd, ses, text, want, out, len);
		len = len % LOAD_MAX + 16;
		if (!err)
			load->done++;
		else if (err == ENODEV)
			load->gone++;
		else
			load->wrong = err;
		if (err)
			usleep(1000);
	}
	close(fd);
	free(out);
	free(want);
	free(text);
	return NULL;
}

static inline void load_begin(struct load *load)
{
	int i;

	memset(load, 0, sizeof(*load));
	for (i = 0; i < LOAD_THREADS; i++)
		pthread_create(&load->thread[i], NULL, load_work, load);
	while (load->begun < LOAD_THREADS)
		usleep(1000);
}

/* Waits for some work to be done.  Returns whether it was. */
static inline bool load_has_done(const struct load *load)
{
	int tries;

	for (tries = 0; tries < 60000 && !load->done && !load->wrong; tries++)
		usleep(1000);
	return load->done;
}

static inline void load_end(struct load *load)
{
	int i;

	load->stop = true;
	for (i = 0; i < LOAD_THREADS; i++)
		pthread_join(load->thread[i], NULL);
}

#endif /* VIRTIO_LOAD_H */
