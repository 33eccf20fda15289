// SPDX-License-Identifier: BSD-2-Clause
/*
 * /dev/crypto, by cryptodev-linux's ABI: whoever serves that is measured.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include <crypto/cryptodev.h>

#include "way.h"

static int fd;
static uint32_t ses;
static struct crypt_op cop;
static struct crypt_auth_op auth;

static bool init(void)
{
	fd = open("/dev/crypto", O_RDWR | O_CLOEXEC);
	return fd >= 0;
}

static bool begin(const struct job *job)
{
	struct session_op s = { .cipher = job->id, .keylen = job->keylen,
				.key = key };

	if (job->kind == DIGEST)
		s = (struct session_op){ .mac = job->id, .mackey = key,
					 .mackeylen = job->keylen };
	if (ioctl(fd, CIOCGSESSION, &s))
		return false;
	ses = s.ses;
	return true;
}

static void end(void)
{
	ioctl(fd, CIOCFSESSION, &ses);
}

static void aim_with(const struct job *job, size_t len, int flags)
{
	cop = (struct crypt_op){ .ses = ses, .len = len, .src = src,
				 .flags = flags };
	if (job->kind == DIGEST)
		cop.mac = dst;
	else
		cop.dst = dst;
	if (job->kind == CIPHER)
		cop.iv = iv;
	auth = (struct crypt_auth_op){
		.ses = job->kind == AEAD ? ses : 0, .len = len, .src = src,
		.dst = dst, .auth_src = aad, .auth_len = AAD_LEN, .iv = iv,
		.iv_len = GCM_IV_LEN, .flags = flags,
	};
}

static void aim(const struct job *job, size_t len)
{
	aim_with(job, len, 0);
}

static void aim_copy(const struct job *job, size_t len)
{
	aim_with(job, len, COP_FLAG_NO_ZC);
}

static bool run(void)
{
	if (!auth.ses)
		return !ioctl(fd, CIOCCRYPT, &cop);
	/* it tells how long the result is in the same place */
	auth.len = cop.len;
	return !ioctl(fd, CIOCAUTHCRYPT, &auth);
}

const struct way way_devcrypto = {
	"devcrypto", init, begin, aim, run, end,
};

/* The same, when the caller asks that its pages are not pinned. */
const struct way way_devcrypto_copy = {
	"devcrypto-copy", init, begin, aim_copy, run, end,
};
