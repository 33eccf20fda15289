// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sessions and operations of /dev/crypto.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypt.h"

#define NODE	"/dev/crypto"

/* ---- /dev/crypto ---- */

int ocf_open(struct ocf **ocf)
{
	struct ocf *o = calloc(1, sizeof(*o));
	struct stat st;
	int err;

	if (!o)
		return -ENOMEM;
	forget_field();
	o->features.size = sizeof(o->features);
	o->fd = open(NODE, O_RDWR | O_CLOEXEC);
	if (o->fd < 0) {
		err = errno == ENOENT || errno == ENXIO ? -ENODEV : -errno;
		goto free;
	}
	err = fstat(o->fd, &st) ? -errno :
				  call(o, OCF_FEATURES, &o->features);
	if (err) {
		/*
		 * the node belongs to another module, or to a version of our
		 * module that lacks this call
		 */
		err = err == -ENOTTY || err == -EINVAL ? -EPROTO : err;
		close(o->fd);
		goto free;
	}
	o->dev = st.st_dev;
	o->ino = st.st_ino;
	*ocf = o;
	return 0;
free:
	free(o);
	return err;
}

void ocf_close(struct ocf *ocf)
{
	if (!ocf)
		return;
	if (ocf_is_open(ocf))
		close(ocf->fd);
	ocf_forget(ocf);
}

int ocf_is_open(const struct ocf *ocf)
{
	struct ocf_features f = { .size = sizeof(f) };

	/* checks the inode first, so that no other device gets the ioctl() */
	return is_file(ocf->fd, ocf->dev, ocf->ino) &&
	       !call(ocf, OCF_FEATURES, &f) &&
	       f.file == ocf->features.file;
}

void ocf_forget(struct ocf *ocf)
{
	free(ocf);
}

int ocf_fd(const struct ocf *ocf)
{
	return ocf->fd;
}

const struct ocf_features *ocf_features(const struct ocf *ocf)
{
	return &ocf->features;
}

int ocf_algorithm(const struct ocf *ocf, const char *name,
		  struct ocf_algorithm *algorithm)
{
	uint32_t i;
	int err;

	for (i = 0; i < ocf->features.algorithms; i++) {
		/* no more fields than every program has room for */
		memset(algorithm, 0, OCF_ALGORITHM_SIZE_VER0);
		algorithm->size = OCF_ALGORITHM_SIZE_VER0;
		algorithm->index = i;
		err = call(ocf, OCF_ALGORITHM, algorithm);
		if (err)
			return err;
		if (!strncmp(algorithm->name, name, OCF_NAME_MAX))
			return 0;
	}
	return -ENOENT;
}

static const struct {
	int		err;
	const char	*what;
} sentences[] = {
	{ ENODEV,
	  "No device can do this now, or no " NODE ": modprobe ocf_cdev" },
	{ EACCES, "Only members of the group crypto may open " NODE },
	{ EPROTO, NODE " is not OCF's, or is of an older version" },
	{ EOPNOTSUPP, "No device is capable of this: see ocfctl list" },
	{ EPERM,
	  "Weak (allow_weak), not in FIPS 140, or another process's queue" },
	{ EINVAL, "An invalid value, or the command does not fit its session" },
	{ EBADMSG, "The tag, MAC, padding or signature is wrong" },
	{ EKEYREJECTED, "The key, or the peer's value, must not be used" },
	{ EDOM, "An operand is out of range" },
	{ EDQUOT,
	  "The user has too many sessions, or too much memory or work" },
	{ E2BIG, "The operation is larger than the limit" },
	{ ENOSPC, "No room for the result, or for another session" },
	{ EBUSY, "All devices, or the queue, are full" },
	{ EIO, "The devices have failed" },
};

static const char * const fields[OCF_FIELD_COUNT] = {
	[OCF_FIELD_MODE] = "There is no such mode",
	[OCF_FIELD_CIPHER] =
	  "The cipher is unknown or missing, or the mode does not take it",
	[OCF_FIELD_MAC] =
	  "The digest or MAC is unknown or missing, or the mode does not take it",
	[OCF_FIELD_DEVICE] = "There is no device with this name",
	[OCF_FIELD_POLICY] = "There is no such policy",
	[OCF_FIELD_FLAGS] = "A flag is unknown, or the mode does not take it",
	[OCF_FIELD_KEY] = "The cipher does not take a key of this length",
	[OCF_FIELD_MACKEY] =
	  "The digest or MAC does not take a key of this length",
	[OCF_FIELD_IV] = "The algorithm does not take an IV of this length",
	[OCF_FIELD_MACLEN] = "The algorithm has no MAC or tag of this length",
	[OCF_FIELD_ROUNDS] = "The cipher does not take this number of rounds",
	[OCF_FIELD_SESSION] =
	  "There is no such session, or the number of a new session is not 0",
	[OCF_FIELD_OP] = "There is no such operation",
	[OCF_FIELD_LEN] = "The algorithm does not take data of this length",
	[OCF_FIELD_AUTH] =
	  "The mode takes no additional authenticated data, or not of this length",
	[OCF_FIELD_DST] =
	  "The mode has no destination, or it overlaps the source",
	[OCF_FIELD_DST_LEN] = "The mode does not take a result of this length",
	[OCF_FIELD_TAG] = "The mode has no tag",
	[OCF_FIELD_PAD] = "A reserved field is not zero",
	[OCF_FIELD_CODE] = "There is no such public-key operation",
	[OCF_FIELD_SCHEME] =
	  "The padding is unknown, or the operation does not take it",
	[OCF_FIELD_CURVE] =
	  "The curve is unknown or missing, or the operation does not take it",
	[OCF_FIELD_HASH] =
	  "The hash is unknown or missing, or the operation does not take it",
	[OCF_FIELD_SALT] = "The operation does not take a salt of this length",
	[OCF_FIELD_VALUES] =
	  "The operation has another number of operands or results",
};

/* By the index of an operand or a result; the results follow the operands. */
static const char * const values[] = {
	"The operation does not take its first value, or not of this length",
	"The operation does not take its second value, or not of this length",
	"The operation does not take its third value, or not of this length",
	"The operation does not take its fourth value, or not of this length",
	"The operation does not take its fifth value, or not of this length",
	"The operation does not take its sixth value, or not of this length",
	"The operation does not take its seventh value, or not of this length",
};

_Thread_local struct last_error last_error;

/* Returns NULL if the error itself says as much as the field. */
static const char *field_strerror(int err, uint32_t field)
{
	uint32_t value = field - OCF_FIELD_VALUE;

	if (field < OCF_FIELD_COUNT)
		return err == EPERM ? NULL : fields[field];
	if (value < sizeof(values) / sizeof(*values) &&
	    (err == EINVAL || err == E2BIG))
		return values[value];
	return NULL;
}

const char *ocf_strerror(int err)
{
	const char *what = NULL;
	size_t i;

	err = err < 0 ? -err : err;
	if (err == last_error.err)
		what = field_strerror(err, last_error.field);
	if (what)
		return what;
	for (i = 0; i < sizeof(sentences) / sizeof(*sentences); i++)
		if (sentences[i].err == err)
			return sentences[i].what;
	what = strerrordesc_np(err);
	return what ? what : "Unknown error";
}

/* ---- sessions ---- */

int ocf_session_create(struct ocf *ocf, struct ocf_session_open *params)
{
	struct ocf_session_open o = {};
	uint32_t size;
	int err;

	/* programs that know more fields say so */
	if (!params->size)
		params->size = OCF_SESSION_OPEN_SIZE_VER0;
	params->session = 0;
	size = params->size;
	if (size < OCF_SESSION_OPEN_SIZE_VER0 || size > sizeof(o))
		return crypt_remember(call(ocf, OCF_SESSION_OPEN, params), 0);
	/* a structure with the field that names the wrong parameter */
	memcpy(&o, params, size);
	o.size = sizeof(o);
	err = call(ocf, OCF_SESSION_OPEN, &o);
	o.size = size;
	memcpy(params, &o, size);
	return crypt_remember(err, o.wrong);
}

int ocf_session_destroy(struct ocf *ocf, uint32_t session)
{
	return call(ocf, OCF_SESSION_CLOSE, &session);
}

int ocf_session_change(struct ocf *ocf, uint32_t session, const void *key,
		       size_t keylen, const void *mackey, size_t mackeylen)
{
	struct ocf_session_rekey r = {
		.size = sizeof(r), .session = session,
		.key = addr(key), .keylen = keylen,
		.mackey = addr(mackey), .mackeylen = mackeylen,
	};
	int err;

	if (keylen > UINT_MAX || mackeylen > UINT_MAX)
		return crypt_remember(-EINVAL, keylen > UINT_MAX ?
						       OCF_FIELD_KEY :
						       OCF_FIELD_MACKEY);
	err = call(ocf, OCF_SESSION_REKEY, &r);
	return crypt_remember(err, r.wrong);
}

int ocf_session_info(struct ocf *ocf, uint32_t session,
		     struct ocf_session_query *info)
{
	/* no more fields than every program has room for */
	memset(info, 0, OCF_SESSION_QUERY_SIZE_VER0);
	info->size = OCF_SESSION_QUERY_SIZE_VER0;
	info->session = session;
	return call(ocf, OCF_SESSION_QUERY, info);
}

/* ---- operations ---- */

int ocf_run(struct ocf *ocf, const struct ocf_command *command)
{
	struct ocf_result r = {};
	int err = ocf_run_many(ocf, command, &r, 1);

	if (err)
		return err;
	return r.res < 0 ? crypt_remember(r.res, r.wrong) : r.res;
}

int ocf_run_many(struct ocf *ocf, const struct ocf_command *commands,
		 struct ocf_result *results, size_t count)
{
	size_t most = ocf->features.vector_max, i, n;
	int err;

	for (i = 0; i < count; i += n) {
		struct ocf_vector v = {
			.commands = addr(commands + i),
			.results = addr(results + i),
		};

		n = count - i < most ? count - i : most;
		v.count = n;
		err = call(ocf, OCF_RUN, &v);
		if (err)
			return err;
	}
	return 0;
}

static int put_len(struct ocf_command *c, size_t len)
{
	c->len = len;
	return len > UINT_MAX ? crypt_remember(-E2BIG, OCF_FIELD_LEN) : 0;
}

static int put_iv(struct ocf *ocf, struct ocf_command *c, const void *iv,
		  size_t ivlen)
{
	struct ocf_session_query info;
	int err;

	if (ivlen > sizeof(c->iv) || (ivlen && !iv))
		return crypt_remember(-EINVAL, OCF_FIELD_IV);
	/* the kernel compares the length; 0 means the session's */
	c->ivlen = ivlen;
	if (ivlen) {
		memcpy(c->iv, iv, ivlen);
		return 0;
	}
	err = ocf_session_info(ocf, c->session, &info);
	if (!err && info.ivlen)
		err = crypt_remember(-EINVAL, OCF_FIELD_IV);
	return err;
}

/*
 * Runs a command for sessions of one mode.  In a session of another mode the
 * kernel would miss memory that the program did not pass, for a tag for
 * instance, and its error would mislead.  So this returns -EINVAL then.
 */
static int run_as(struct ocf *ocf, struct ocf_command *c, enum ocf_mode mode)
{
	struct ocf_session_query info;
	int err = ocf_run(ocf, c);

	if (err != -EFAULT || ocf_session_info(ocf, c->session, &info))
		return err;
	return info.mode == mode ? err : -EINVAL;
}

int ocf_cipher(struct ocf *ocf, uint32_t session, enum ocf_op op,
	       const void *iv, size_t ivlen, const void *src, void *dst,
	       size_t len)
{
	struct ocf_command c = {
		.session = session, .op = op, .src = addr(src),
		.dst = addr(dst),
	};
	int err = put_len(&c, len) ?: put_iv(ocf, &c, iv, ivlen);

	return err ? err : run_as(ocf, &c, OCF_MODE_CIPHER);
}

int ocf_digest(struct ocf *ocf, uint32_t session, const void *data, size_t len,
	       void *tag)
{
	return ocf_mac(ocf, session, NULL, 0, data, len, tag);
}

int ocf_mac(struct ocf *ocf, uint32_t session, const void *iv, size_t ivlen,
	    const void *data, size_t len, void *tag)
{
	struct ocf_command c = {
		.session = session, .src = addr(data), .tag = addr(tag),
	};
	int err = put_len(&c, len) ?: put_iv(ocf, &c, iv, ivlen);

	return err ? err : run_as(ocf, &c, OCF_MODE_DIGEST);
}

static int sealed(struct ocf *ocf, struct ocf_command *c, const void *iv,
		  size_t ivlen, size_t aadlen, size_t len)
{
	int err;

	if (aadlen > UINT_MAX)
		return crypt_remember(-E2BIG, OCF_FIELD_AUTH);
	c->auth_len = aadlen;
	err = put_len(c, len) ?: put_iv(ocf, c, iv, ivlen);
	return err ? err : ocf_run(ocf, c);
}

int ocf_seal(struct ocf *ocf, uint32_t session, const void *iv, size_t ivlen,
	     const void *aad, size_t aadlen, const void *src, size_t len,
	     void *dst, void *tag)
{
	struct ocf_command c = {
		.session = session, .op = OCF_OP_ENCRYPT, .src = addr(src),
		.dst = addr(dst), .aad = addr(aad), .tag = addr(tag),
	};

	return sealed(ocf, &c, iv, ivlen, aadlen, len);
}

int ocf_unseal(struct ocf *ocf, uint32_t session, const void *iv, size_t ivlen,
	       const void *aad, size_t aadlen, const void *src, size_t len,
	       void *dst, const void *tag)
{
	struct ocf_command c = {
		.session = session, .op = OCF_OP_DECRYPT, .src = addr(src),
		.dst = addr(dst), .aad = addr(aad), .tag = addr(tag),
	};

	return sealed(ocf, &c, iv, ivlen, aadlen, len);
}

/* ---- several buffers ---- */

/* Bytes in all of @iov, or SIZE_MAX if there are too many to count. */
static size_t bytes_of(const struct iovec *iov, int n)
{
	size_t all = 0;

	for (; n > 0; n--, iov++)
		if (__builtin_add_overflow(all, iov->iov_len, &all))
			return SIZE_MAX;
	return all;
}

static void gather(uint8_t *to, const struct iovec *from, int n)
{
	for (; n > 0; n--, from++) {
		if (from->iov_len)
			memcpy(to, from->iov_base, from->iov_len);
		to += from->iov_len;
	}
}

static void scatter(const struct iovec *to, int n, const uint8_t *from,
		    size_t len)
{
	size_t part;

	for (; n > 0 && len; n--, to++) {
		part = to->iov_len < len ? to->iov_len : len;
		memcpy(to->iov_base, from, part);
		from += part;
		len -= part;
	}
}

/* Whether a chain's ranges are in the source. */
static bool fits(const struct ocf_command *c, size_t len)
{
	return c->data_start <= len && c->len <= len - c->data_start &&
	       c->auth_start <= len && c->auth_len <= len - c->auth_start;
}

/* Bytes of the result; the bytes around a chain's data do not change. */
static size_t result_of(const struct ocf_command *c, uint32_t mode, size_t len,
			int res)
{
	if (mode == OCF_MODE_DIGEST)
		return 0;
	return mode == OCF_MODE_CHAIN ? len : (size_t)res;
}

int ocf_run_scatter(struct ocf *ocf, const struct ocf_command *command,
		    const struct iovec *src, int srcs,
		    const struct iovec *dst, int dsts)
{
	struct ocf_command c = *command;
	struct ocf_session_query info;
	size_t len = bytes_of(src, srcs), room, out, all;
	uint8_t *mem;
	int res;

	res = ocf_session_info(ocf, c.session, &info);
	if (res)
		return res;
	if (len > ocf->features.len_max || c.dst_len > ocf->features.len_max)
		return -E2BIG;
	if (info.mode == OCF_MODE_CHAIN && !fits(&c, len))
		return -EINVAL;
	if (!dst) {
		dst = src;
		dsts = srcs;
	}
	out = info.mode == OCF_MODE_MTE || info.mode == OCF_MODE_COMPRESS ?
	      c.dst_len : 0;
	room = len > out ? len : out;
	/* compression always has a destination of its own */
	all = info.mode == OCF_MODE_COMPRESS ? len + out : room;
	mem = malloc(all + 1);
	if (!mem)
		return -ENOMEM;
	gather(mem, src, srcs);
	c.src = addr(mem);
	c.dst = info.mode == OCF_MODE_DIGEST ? 0 :
		info.mode == OCF_MODE_COMPRESS ? addr(mem + len) : c.src;
	if (info.mode != OCF_MODE_CHAIN)
		c.len = len;
	res = ocf_run(ocf, &c);
	if (res >= 0) {
		out = result_of(&c, info.mode, len, res);
		if (bytes_of(dst, dsts) < out)
			res = -ENOSPC;
		else
			scatter(dst, dsts, (void *)(uintptr_t)c.dst, out);
	}
	explicit_bzero(mem, all);
	free(mem);
	return res;
}

/* ---- random numbers ---- */

int ocf_random(void *data, size_t len)
{
	uint8_t *at = data;
	ssize_t n;

	while (len) {
		n = getrandom(at, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= n;
	}
	return 0;
}
