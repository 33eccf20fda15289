// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a TLS CBC record in constant time.
 *
 * Decryption gives payload, MAC and padding.  If an attacker can tell from the
 * time which of them was wrong, or how long they are, the attacker can decrypt
 * records (Vaudenay 2002; AlFardan and Paterson, "Lucky Thirteen", 2013).  So
 * the length of the payload is secret here: no branch and no address depends on
 * it.  Only its limits are public: len - maclen - 256 and len - maclen.
 *
 * The MAC is an HMAC over additional data and payload.  Blocks that hold only
 * additional data and payload, whatever the padding, are public; the caller
 * hashes them.  The later blocks are built here byte by byte, with the hash's
 * own padding where the payload ends.  They are compressed one by one, as many
 * as the longest payload needs; a mask keeps the state after the right one.
 *
 * Pure; also compiled for user space, where a tool that follows uninitialised
 * memory checks that nothing depends on what is secret (tests/unit).
 */
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/ocf_driver.h>
#include <linux/string.h>

#include "../../compat.h"

#define PADDING_MAX	256	/* bytes, with the one that tells the length */
#define BLOCK_MAX	128	/* bytes, of a hash */

/*
 * Masks: all ones or zero.  OPTIMIZER_HIDE_VAR() keeps the compiler from
 * turning them into branches.
 */
static u32 mask_of(u32 top_bit)
{
	u32 m = -(top_bit >> 31);

	OPTIMIZER_HIDE_VAR(m);
	return m;
}

static u32 less(u32 a, u32 b)
{
	return mask_of(a ^ ((a ^ b) | ((a - b) ^ b)));
}

static u32 equal(u32 a, u32 b)
{
	u32 x = a ^ b;

	return mask_of(~x & (x - 1));
}

/**
 * ocf_mte_public() - how many bytes of a record may be hashed without a mask
 * @hash: the hash
 * @aad: bytes of additional data
 * @len: bytes decrypted
 * @maclen: bytes of MAC
 *
 * Return: bytes of additional data and payload before the first block of the
 * hash that may hold anything else.
 */
u32 ocf_mte_public(const struct ocf_mte_hash *hash, u32 aad, u32 len,
		   u32 maclen)
{
	u32 least = len > maclen + PADDING_MAX ? len - maclen - PADDING_MAX : 0;

	/* the block of the key comes first, and is complete */
	return (aad + least) & ~(hash->block - 1);
}
OCF_EXPORT(ocf_mte_public);

/**
 * ocf_mte_unpad() - read the padding
 * @end: one past the last byte decrypted; min(@len, PADDING_MAX) before it
 *	are there
 * @len: bytes decrypted
 * @maclen: bytes of MAC, less than @len
 * @payload: is set to the bytes of payload, secret.  If the padding is wrong,
 *	as if there were no padding (RFC 5246 section 6.2.3.2)
 *
 * Return: all ones, or zero if the padding is wrong; secret.
 */
u32 ocf_mte_unpad(const u8 *end, u32 len, u32 maclen, u32 *payload)
{
	u32 pad = end[-1], good, i, n = min_t(u32, len, PADDING_MAX);

	good = ~less(len, maclen + pad + 1);
	for (i = 0; i < n; i++)
		good &= ~less(i, pad + 1) | equal(end[-1 - (int)i], pad);
	*payload = len - maclen - (good & (pad + 1));
	return good;
}
OCF_EXPORT(ocf_mte_unpad);

/*
 * Byte @pos of the hash's input for a message of @total bytes, with its
 * padding.
 */
static u8 padded(u8 byte, u32 pos, u32 total)
{
	return (byte & less(pos, total)) | (0x80 & equal(pos, total));
}

/* The message's length in bits, which ends its last block. */
static void put_length(const struct ocf_mte_hash *hash, u8 *block, u32 in_last,
		       u32 total)
{
	u8 *field = block + hash->block - hash->length;
	u64 bits = (u64)total << 3;
	u32 i;

	for (i = 0; i < 8; i++) {
		u32 at = hash->little ? i : hash->length - 1 - i;

		field[at] |= (u8)(bits >> (8 * i)) & (u8)in_last;
	}
}

/**
 * ocf_mte_inner() - the inner hash of a payload of secret length
 * @hash: the hash, its state after the key's block and @before bytes
 * @tail: additional data and decrypted bytes, from @before on
 * @tail_len: bytes of it, public
 * @before: bytes hashed, as ocf_mte_public() had it
 * @total: bytes of additional data and payload, secret
 * @maclen: bytes of MAC
 * @digest: is set to hash->digest bytes
 */
void ocf_mte_inner(const struct ocf_mte_hash *hash, const u8 *tail,
		   u32 tail_len, u32 before, u32 total, u32 maclen, u8 *digest)
{
	u8 block[BLOCK_MAX], state[OCF_TAG_MAX];
	u32 size = hash->block, most = tail_len - maclen;
	u32 blocks = (most + hash->length) / size + 1;
	u32 last, i, j, in_last;

	/* from here on positions count from the start of @tail */
	total -= before;
	last = (total + hash->length) >> ilog2(size);
	memset(digest, 0, hash->digest);
	for (i = 0; i < blocks; i++) {
		in_last = equal(i, last);
		for (j = 0; j < size; j++) {
			u32 pos = i * size + j;

			block[j] = padded(pos < tail_len ? tail[pos] : 0, pos,
					  total);
		}
		put_length(hash, block, in_last, total + before + size);
		hash->compress(hash->ctx, block);
		hash->peek(hash->ctx, state);
		for (j = 0; j < hash->digest; j++)
			digest[j] |= state[j] & (u8)in_last;
	}
	memzero_explicit(block, sizeof(block));
	memzero_explicit(state, sizeof(state));
}
OCF_EXPORT(ocf_mte_inner);

/**
 * ocf_mte_compare() - compare the MAC behind the payload
 * @end: one past the last byte decrypted
 * @len: bytes decrypted; min(@len, @maclen + PADDING_MAX) before @end are there
 * @maclen: bytes of MAC
 * @payload: bytes of payload, secret
 * @mac: the computed MAC
 *
 * Return: all ones if they are equal, else zero; secret until it is told.
 */
u32 ocf_mte_compare(const u8 *end, u32 len, u32 maclen, u32 payload,
		    const u8 *mac)
{
	u32 scan = min_t(u32, len, maclen + PADDING_MAX), first = len - scan;
	u8 ring[OCF_TAG_MAX] = {};
	u32 begun = 0, turn = 0, diff = 0, i, j, at;

	/*
	 * scans the bytes, copies the MAC among them into a ring, and notes at
	 * which byte of the ring the MAC began
	 */
	for (i = 0, j = 0; i < scan; i++) {
		begun |= equal(first + i, payload);
		turn |= j & equal(first + i, payload);
		ring[j] |= end[(int)i - (int)scan] & (u8)begun &
			   (u8)less(first + i, payload + maclen);
		j = j + 1 == maclen ? 0 : j + 1;
	}
	/*
	 * compares each byte of the ring with each byte of the MAC; for each
	 * byte only one of these comparisons counts
	 */
	for (i = 0; i < maclen; i++)
		for (j = 0; j < maclen; j++) {
			at = turn + j;
			at -= maclen & ~less(at, maclen);
			diff |= (ring[i] ^ mac[j]) & equal(at, i);
		}
	memzero_explicit(ring, sizeof(ring));
	return equal(diff, 0);
}
OCF_EXPORT(ocf_mte_compare);
