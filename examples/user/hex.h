/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys and IVs on the command line: for examples only, everybody sees them.
 */
#ifndef HEX_H
#define HEX_H

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Turns hexadecimal digits into at most @max bytes; returns how many. */
static inline size_t from_hex(const char *hex, uint8_t *buf, size_t max)
{
	size_t n = strlen(hex) / 2, i;

	if (strlen(hex) % 2 || n > max)
		errx(2, "%s: too long, or half a byte", hex);
	for (i = 0; i < n; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &buf[i]) != 1)
			errx(2, "%s: not hexadecimal", hex);
	return n;
}

#endif /* HEX_H */
