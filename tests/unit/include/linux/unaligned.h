/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef UNIT_UNALIGNED_H
#define UNIT_UNALIGNED_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void put_unaligned_be64(uint64_t value, void *to)
{
	value = htobe64(value);
	memcpy(to, &value, sizeof(value));
}

static inline uint64_t get_unaligned_be64(const void *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return be64toh(value);
}

#endif
