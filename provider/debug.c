// SPDX-License-Identifier: BSD-2-Clause
/*
 * With debug = 1 the provider says on standard error which operations it leaves
 * to OpenSSL's own code, and why.  It says so once, and again when the reason
 * changes.  At the end of the process it says how many there were.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "provider.h"

static const char *const public_names[] = {
	[OCF_PK_DSA_SIGN]	= "dsa-sign",
	[OCF_PK_DSA_VERIFY]	= "dsa-verify",
	[OCF_PK_DH]		= "dh",
	[OCF_PK_RSA_SIGN]	= "rsa-sign",
	[OCF_PK_RSA_VERIFY]	= "rsa-verify",
	[OCF_PK_RSA_ENCRYPT]	= "rsa-encrypt",
	[OCF_PK_RSA_DECRYPT]	= "rsa-decrypt",
	[OCF_PK_EC_PUBLIC]	= "ec-public",
	[OCF_PK_ECDH]		= "ecdh",
	[OCF_PK_ECDSA_SIGN]	= "ecdsa-sign",
	[OCF_PK_ECDSA_VERIFY]	= "ecdsa-verify",
	[OCF_PK_X25519]		= "x25519",
};

/* In one write, so that the lines of processes do not mix. */
static void say(const char *what, const char *why)
{
	fprintf(stderr, "ocf[%d]: %s: OpenSSL's own code: %s\n", (int)getpid(),
		what, why);
}

/* FNV-1a */
static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619;
	return hash;
}

/*
 * Returns why the kernel does not do every operation of this kind; "" if it
 * does
 */
static const char *too_small(const struct crossed *said, char *text,
			     size_t room)
{
	uint32_t last = said->last[false], job = said->last[true];
	static const char faster[] = "the CPU is faster";

	if (!last && !job)
		return "";
	if (last == UINT32_MAX && job == UINT32_MAX)
		return "the CPU is faster at every size";
	if (last == UINT32_MAX)
		snprintf(text, room,
			 "at every size, but in jobs up to %u bytes only: %s",
			 job, faster);
	else
		snprintf(text, room, "up to %u bytes, in jobs up to %u: %s",
			 last, job, faster);
	return text;
}

/* After -ENODEV: this process has no /dev/crypto, or no card is there. */
static const char *without_device(struct provider *prov)
{
	const char *state = device_state(prov);

	return strncmp(state, "/dev/crypto is open", 19) ? state :
							   "no card can do it";
}

/**
 * debug_session() - say what a session leaves to OpenSSL's own code
 * @ses: the session
 * @said: what was found out about sizes
 * @hardware: a card can do it
 * @err: why there is no session, or 0
 */
void debug_session(struct session *ses, struct crossed *said, bool hardware,
		   int err)
{
	struct ocf_session_open params = {};
	char text[96], what[2 * OCF_NAME_MAX + 8];
	const char *why;
	uint32_t hash;

	if (!ses->prov->debug)
		return;
	if (err == -ENODEV)
		why = without_device(ses->prov);
	else if (err)
		why = ocf_strerror(err);
	else if (!hardware)
		why = "no card can do it";
	else
		why = too_small(said, text, sizeof(text));
	hash = hash_of(why);
	if (atomic_exchange(&said->told, hash) == hash || !*why)
		return;
	ses->describe(ses->owner, &params);
	snprintf(what, sizeof(what), "%s%s%s", params.cipher,
		 *params.cipher && *params.mac ? "+" : "", params.mac);
	say(what, why);
}

/**
 * debug_public() - say that OpenSSL's own code does a public-key operation
 * @prov: the provider
 * @op: the operation
 * @err: what the kernel said
 */
void debug_public(struct provider *prov, const struct ocf_public *op, int err)
{
	const char *name = NULL;

	if (!prov->debug)
		return;
	if (op->code < COUNT(public_names))
		name = public_names[op->code];
	say(name ? name : "public key",
	    err == -ENODEV ? without_device(prov) : "no card can do it");
}

/**
 * debug_counts() - say how many operations the kernel did
 * @prov: the provider
 */
void debug_counts(struct provider *prov)
{
	uint64_t kernel, own;

	if (!prov->debug)
		return;
	device_counts(prov, &kernel, &own);
	if (kernel || own)
		fprintf(stderr,
			"ocf[%d]: operations: %ju by the kernel, %ju left to OpenSSL's own code\n",
			(int)getpid(), (uintmax_t)kernel, (uintmax_t)own);
}
