// SPDX-License-Identifier: BSD-2-Clause
/*
 * The native interface, and a caller that changes the data while a command
 * runs.
 */
#include <kselftest_harness.h>
#include <pthread.h>

#include "native.h"

#define FLIPPED	16384	/* bytes, which are pinned if possible */

struct flips {
	volatile uint8_t	*at;
	volatile bool		stop;
};

static void *flip(void *arg)
{
	struct flips *f = arg;

	while (!f->stop)
		*f->at ^= 1;
	return NULL;
}

/*
 * A thread changes the source meanwhile.  The plaintext must be that of the
 * verified ciphertext.
 */
TEST(a_source_that_changes)
{
	static const uint8_t key[16] = "sixteen bytes..";
	uint8_t *plain = malloc(FLIPPED), *sealed = malloc(FLIPPED);
	uint8_t *out = malloc(FLIPPED), tag[20] = {};
	struct ocf_session_open o = {
		.mode = OCF_MODE_ETA, .cipher = "aes-cbc", .mac = "hmac-sha1",
		.key = addr(key), .keylen = 16,
		.mackey = addr(key), .mackeylen = 16,
	};
	struct ocf_command c = {
		.src = addr(plain), .dst = addr(sealed), .len = FLIPPED,
		.tag = addr(tag),
	};
	struct flips f = { .at = sealed + FLIPPED / 2 };
	int i, res, good = 0, bad = 0, fd = open_dev();
	pthread_t thread;

	ASSERT_LE(0, fd);
	fill(plain, FLIPPED, 3);
	ASSERT_EQ(0, native_open(fd, &o));
	c.session = o.session;
	ASSERT_EQ(FLIPPED, native_run(fd, &c));
	c.op = OCF_OP_DECRYPT;
	c.src = addr(sealed);
	c.dst = addr(out);
	ASSERT_EQ(0, pthread_create(&thread, NULL, flip, &f));
	for (i = 0; i < 300 || !good || !bad; i++) {
		res = native_run(fd, &c);
		if (res == -EBADMSG) {
			bad++;
			continue;
		}
		ASSERT_EQ(FLIPPED, res);
		ASSERT_EQ(0, memcmp(plain, out, FLIPPED));
		good++;
	}
	f.stop = true;
	pthread_join(thread, NULL);
	close(fd);
	free(plain);
	free(sealed);
	free(out);
}

TEST_HARNESS_MAIN
