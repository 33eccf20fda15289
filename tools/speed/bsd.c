// SPDX-License-Identifier: BSD-2-Clause
/*
 * /dev/crypto, by the ABI of the BSDs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <bsd/crypto/cryptodev.h>

#include "../lib/ids.h"
#include "way.h"

static int fd = -1;
static uint32_t ses, cipher_id, mac_id;
static struct crypt_op cop;
static struct crypt_aead aead;
static unsigned int place;
static size_t tag_off;
static bool digest, decrypt;

static uint32_t id_of(const char *alg)
{
	int i;

	for (i = 0; i < nids_bsd; i++)
		if (ids_bsd[i].alg && !strcmp(ids_bsd[i].alg, alg))
			return ids_bsd[i].id;
	return 0;
}

/*
 * The number of the device called @name, or -1.  Without a name: flags that
 * allow every device.
 */
static int device_id(const char *name)
{
	struct crypt_find_op find = { .crid = -1 };

	if (!*name)
		return CRYPTO_FLAG_HARDWARE | CRYPTO_FLAG_SOFTWARE;
	snprintf(find.name, sizeof(find.name), "%s", name);
	return ioctl(fd, CIOCFINDDEV, &find) ? -1 : find.crid;
}

static bool find(const struct work *w)
{
	cipher_id = id_of(w->cipher);
	mac_id = id_of(w->mac);
	if (fd < 0)
		fd = open("/dev/crypto", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	errno = EOPNOTSUPP;
	return w->mode <= OCF_MODE_AEAD && (!*w->cipher || cipher_id) &&
	       (!*w->mac || mac_id);
}

static bool begin(const struct work *w)
{
	struct session2_op s = {
		.cipher = cipher_id, .mac = mac_id,
		.keylen = w->keylen, .key = key,
		.mackeylen = w->mackeylen, .mackey = mackey,
		.crid = device_id(w->device),
	};

	if (w->mode == OCF_MODE_AEAD)
		s.ivlen = w->ivlen;
	if (s.crid < 0 || ioctl(fd, CIOCGSESSION2, &s))
		return false;
	ses = s.ses;
	return true;
}

static void end(void)
{
	ioctl(fd, CIOCFSESSION, &ses);
	ses = 0;
}

static bool aim(const struct work *w, size_t len)
{
	place = 0;
	digest = w->mode == OCF_MODE_DIGEST;
	decrypt = w->decrypt;
	tag_off = len;
	cop = (struct crypt_op){
		.ses = ses, .op = decrypt ? COP_DECRYPT : COP_ENCRYPT,
		.len = len, .iv = w->ivlen ? iv : NULL,
	};
	aead = (struct crypt_aead){
		.ses = w->mode == OCF_MODE_AEAD ? ses : 0, .op = cop.op,
		.len = len, .aadlen = AAD_LEN, .ivlen = w->ivlen, .aad = aad,
		.iv = iv,
	};
	if (len > CRYPTO_MAX_DATA_LEN) {
		errno = E2BIG;
		return false;
	}
	return true;
}

static unsigned int run(void)
{
	uint8_t *src = src_at(place), *dst = dst_at(place++);

	if (aead.ses) {
		aead.src = src;
		aead.dst = dst;
		aead.tag = (decrypt ? src : dst) + tag_off;
		return !ioctl(fd, CIOCCRYPTAEAD, &aead);
	}
	cop.src = src;
	if (digest)
		cop.mac = dst;
	else
		cop.dst = dst;
	return !ioctl(fd, CIOCCRYPT, &cop);
}

static unsigned int nothing(void)
{
	return 0;
}

const struct way way_bsd = {
	"bsd", find, begin, aim, run, nothing, end,
};
