// SPDX-License-Identifier: BSD-2-Clause
/*
 * /dev/crypto, by cryptodev-linux's ABI.  The kernel module that serves this
 * ABI is measured.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include <crypto/cryptodev.h>

#include "../lib/ids.h"
#include "way.h"

static int fd = -1;
static uint32_t ses, cipher_id, mac_id;
static struct crypt_op cop;
static struct crypt_auth_op auth;
static size_t auth_len;
static unsigned int place, under_way, depth;
static uint8_t nonce[IV_MAX];
static bool aead, digest;

static uint32_t id_of(const char *alg)
{
	int i;

	for (i = 0; i < nids_linux; i++)
		if (ids_linux[i].alg && !strcmp(ids_linux[i].alg, alg))
			return ids_linux[i].id;
	return 0;
}

static bool find(const struct work *w)
{
	cipher_id = id_of(w->cipher);
	mac_id = id_of(w->mac);
	if (fd < 0)
		fd = open("/dev/crypto", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	errno = EOPNOTSUPP;
	return !*w->device && w->mode <= OCF_MODE_AEAD &&
	       (!*w->cipher || cipher_id) && (!*w->mac || mac_id);
}

static bool begin(const struct work *w)
{
	struct session_op s = {
		.cipher = cipher_id, .mac = mac_id,
		.keylen = w->keylen, .key = key,
		.mackeylen = w->mackeylen, .mackey = mackey,
	};

	if (ioctl(fd, CIOCGSESSION, &s))
		return false;
	ses = s.ses;
	depth = w->depth;
	return true;
}

static void end(void)
{
	ioctl(fd, CIOCFSESSION, &ses);
	ses = 0;
}

/*
 * For CCM a byte with the size of the length field, minus 1, comes before the
 * nonce (RFC 3610 section 2.3).
 */
static void make_nonce(const struct work *w)
{
	bool ccm = !strcmp(w->cipher, "aes-ccm");

	memset(nonce, 0, sizeof(nonce));
	nonce[0] = 14 - w->ivlen;
	memcpy(nonce + ccm, iv, w->ivlen);
}

/* At the next piece */
static void point(void)
{
	auth.src = cop.src = src_at(place);
	auth.dst = dst_at(place);
	if (digest)
		cop.mac = dst_at(place);
	else
		cop.dst = dst_at(place);
	place++;
}

static bool aim(const struct work *w, size_t len)
{
	int flags = w->copy ? COP_FLAG_NO_ZC : 0;

	place = 0;
	aead = w->mode == OCF_MODE_AEAD;
	digest = w->mode == OCF_MODE_DIGEST;
	make_nonce(w);
	cop = (struct crypt_op){
		.ses = ses, .op = w->decrypt ? COP_DECRYPT : COP_ENCRYPT,
		.flags = flags, .len = len, .iv = w->ivlen ? nonce : NULL,
	};
	auth_len = src_len(w, len);
	auth = (struct crypt_auth_op){
		.ses = ses, .op = cop.op, .flags = flags,
		.auth_src = aad, .auth_len = AAD_LEN, .iv = nonce,
		.iv_len = w->ivlen,
	};
	point();
	return true;
}

static unsigned int run(void)
{
	bool ok;

	if (!aead) {
		ok = !ioctl(fd, CIOCCRYPT, &cop);
	} else {
		/* the call overwrites len with the length of the result */
		auth.len = auth_len;
		ok = !ioctl(fd, CIOCAUTHCRYPT, &auth);
	}
	if (places > 1)
		point();
	return ok;
}

static unsigned int nothing(void)
{
	return 0;
}

const struct way way_linux = {
	"linux", find, begin, aim, run, nothing, end,
};

/* ---- CIOCASYNCCRYPT ---- */

static bool find_async(const struct work *w)
{
	return find(w) && w->mode != OCF_MODE_AEAD;
}

/*
 * Fetches all completed operations, and waits for one if there is none.
 * Returns how many.
 */
static unsigned int take(void)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct crypt_op done;
	unsigned int n = 0;

	for (;;) {
		while (under_way && !ioctl(fd, CIOCASYNCFETCH, &done)) {
			under_way--;
			n++;
		}
		if (n || (under_way && errno != EBUSY && errno != EAGAIN))
			return n;
		if (poll(&p, 1, -1) < 0)
			return 0;
	}
}

static unsigned int run_async(void)
{
	while (under_way < depth) {
		if (ioctl(fd, CIOCASYNCCRYPT, &cop)) {
			/*
			 * the kernel takes fewer operations at a time than
			 * @depth
			 */
			if ((errno != EBUSY && errno != EAGAIN) || !under_way)
				return 0;
			break;
		}
		under_way++;
		point();
	}
	return take();
}

static unsigned int drain(void)
{
	unsigned int all = 0, n;

	while (under_way) {
		n = take();
		if (!n)
			break;
		all += n;
	}
	return all;
}

const struct way way_linux_async = {
	"linux-async", find_async, begin, aim, run_async, drain, end,
};
