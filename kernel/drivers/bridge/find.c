// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds implementations of the crypto API: by name, and all that are marked as
 * an accelerator's.
 */
#include <crypto/algapi.h>
#include <linux/err.h>
#include <linux/string.h>

#include "bridge.h"

/* Flags that an accelerator's algorithm has ... */
#define MARKS	(CRYPTO_ALG_KERN_DRIVER_ONLY | CRYPTO_ALG_TESTED)
/* ... and flags that it does not have */
#define NEVER	(CRYPTO_ALG_LARVAL | CRYPTO_ALG_DEAD | CRYPTO_ALG_DYING | \
		 CRYPTO_ALG_INTERNAL)

/*
 * Whether an implementation is ocf_alg's, or built on one of those:
 * "cryptd(ocf-aes-cbc)".  OCF would call itself.
 */
static bool is_ours(const char *driver)
{
	return strstr(driver, "ocf-");
}

static enum bridge_kind kind_of(const struct crypto_alg *alg)
{
	switch (alg->cra_flags & CRYPTO_ALG_TYPE_MASK) {
	case CRYPTO_ALG_TYPE_LSKCIPHER:
	case CRYPTO_ALG_TYPE_SKCIPHER:
		return KIND_CIPHER;
	case CRYPTO_ALG_TYPE_AEAD:
		return KIND_AEAD;
	case CRYPTO_ALG_TYPE_SHASH:
	case CRYPTO_ALG_TYPE_AHASH:
		return KIND_HASH;
	case CRYPTO_ALG_TYPE_AKCIPHER:
		return KIND_AKCIPHER;
	case CRYPTO_ALG_TYPE_KPP:
		return KIND_KPP;
	default:
		return KIND_NONE;
	}
}

/* Returns our number of the algorithm that @alg implements, or 0. */
static unsigned int number_of(const struct crypto_alg *alg)
{
	enum bridge_kind kind = kind_of(alg);
	unsigned int i;

	for (i = 1; kind && i < ALGS; i++)
		if (bridge_transform_kind(i) == kind &&
		    !strcmp(bridge_transform_impl(i), alg->cra_name))
			return i;
	return 0;
}

/* Drivers do not mark public-key operations as asynchronous. */
static bool is_asynchronous(const struct crypto_alg *alg)
{
	return alg->cra_flags & CRYPTO_ALG_ASYNC ||
	       kind_of(alg) == KIND_AKCIPHER || kind_of(alg) == KIND_KPP;
}

static void describe(struct bridge_found *f, const struct crypto_alg *alg)
{
	f->alg = number_of(alg);
	f->priority = alg->cra_priority;
	strscpy(f->driver, alg->cra_driver_name);
	strscpy(f->module, module_name(alg->cra_module));
}

static int refuse(const char *name, int err, const char *why)
{
	pr_err("ocf_bridge: %s %s (%d)\n", name, why, err);
	return err;
}

static int judge(const char *name, struct bridge_found *f,
		 const struct crypto_alg *alg)
{
	if (is_ours(alg->cra_driver_name))
		return refuse(name, -ELOOP, "is the framework's own");
	describe(f, alg);
	if (!f->alg)
		return refuse(name, -EOPNOTSUPP,
			      "implements no algorithm that OCF knows");
	if (!is_asynchronous(alg))
		return refuse(name, -EINVAL,
			      "is synchronous: ocf_soft does what runs on the CPU");
	return 0;
}

/*
 * Judges the implementation that is in the list by this name.  No transform is
 * made for that: the kernel's virtio_crypto crashes when one of its RSA is
 * freed before it has got a key.  Return: whether there is one.
 */
static bool judge_listed(const char *name, struct bridge_found *f, int *err)
{
	struct crypto_alg *alg;
	bool found = false;

	down_read(&crypto_alg_sem);
	list_for_each_entry(alg, &crypto_alg_list, cra_list) {
		found = !strcmp(alg->cra_driver_name, name) && kind_of(alg) &&
			alg->cra_flags & CRYPTO_ALG_TESTED &&
			!(alg->cra_flags & NEVER);
		if (!found)
			continue;
		*err = judge(name, f, alg);
		break;
	}
	up_read(&crypto_alg_sem);
	return found;
}

/*
 * Returns @err, or @other if @err only means that the crypto API has no such
 * name of this type.
 */
static int worse(int err, int other)
{
	return err == -ENOENT || err == -EINVAL ? other : err;
}

/**
 * bridge_find_named() - find an implementation
 * @name: its name, as in /proc/crypto
 * @f: is filled in
 *
 * If it does not exist yet, tries to have the crypto API make it, as one type
 * after the other.  The kernel log has the reason of a refusal.
 *
 * Context: process; may sleep, may load modules.
 * Return: 0; -ELOOP if it is OCF's own; -EOPNOTSUPP if OCF does not have its
 * algorithm; -EINVAL if it is synchronous; an error of the crypto API, usually
 * -ENOENT, if it does not exist.
 */
int bridge_find_named(const char *name, struct bridge_found *f)
{
	struct bridge_transform *t;
	int err = -ENOENT;
	enum bridge_kind kind;

	if (is_ours(name))
		return refuse(name, -ELOOP, "is the framework's own");
	if (judge_listed(name, f, &err))
		return err;
	for (kind = KIND_CIPHER; kind <= KIND_KPP; kind++) {
		t = bridge_transform_open(name, kind);
		if (IS_ERR(t)) {
			err = worse(err, PTR_ERR(t));
			continue;
		}
		err = judge(name, f, bridge_transform_alg(t));
		bridge_transform_put(t, true);
		return err;
	}
	return refuse(name, err == -EINVAL ? -ENOENT : err,
		      "does not exist, or cannot be allocated by this name");
}

/**
 * bridge_find_is_wanted() - whether an implementation is an accelerator's
 * @alg: the algorithm
 *
 * Context: any; under the crypto API's lock.
 */
bool bridge_find_is_wanted(const struct crypto_alg *alg)
{
	return (alg->cra_flags & MARKS) == MARKS && !(alg->cra_flags & NEVER) &&
	       is_asynchronous(alg) && number_of(alg) &&
	       !is_ours(alg->cra_driver_name);
}

/**
 * bridge_find_all() - find all accelerators' implementations
 * @f: is filled in
 * @max: entries of @f
 *
 * Context: process; may sleep.
 * Return: how many were found, at most @max.
 */
int bridge_find_all(struct bridge_found *f, unsigned int max)
{
	struct crypto_alg *alg;
	unsigned int n = 0;

	down_read(&crypto_alg_sem);
	list_for_each_entry(alg, &crypto_alg_list, cra_list)
		if (n < max && bridge_find_is_wanted(alg))
			describe(&f[n++], alg);
	up_read(&crypto_alg_sem);
	return n;
}
