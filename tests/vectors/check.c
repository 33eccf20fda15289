// SPDX-License-Identifier: BSD-2-Clause
/*
 * What both ABIs need to look at results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

#define TOLD_MAX	20	/* vectors of a file that are told in full */
#define SHOWN		32	/* bytes from the first that differs */
#define UNTOUCHED	0xa5

int failures;

/*
 * Counts a failure.  Returns whether to print it.  Only the first failure of a
 * vector is printed, because the others usually follow from it.
 */
static bool fail(struct run *r, const char *what)
{
	static const char *file;
	static int told;
	bool first = !r->failed;

	r->failed = true;
	failures++;
	if (file != r->file) {
		file = r->file;
		told = 0;
	}
	if (!first || told++ >= TOLD_MAX)
		return false;
	fprintf(stderr, "FAIL %s: %s (%s) %s, %s: ", r->file, r->v->id,
		r->v->alg->name, r->abi, what);
	return true;
}

void expect_errno(struct run *r, const char *what, int want, int got)
{
	if (want != got && fail(r, what))
		fprintf(stderr, "expected errno %d (%s), got %d (%s)\n", want,
			strerror(want), got, strerror(got));
}

/* Of lengths, and of what is true or false */
void expect_equal(struct run *r, const char *what, size_t want, size_t got)
{
	if (want != got && fail(r, what))
		fprintf(stderr, "expected %zu, got %zu\n", want, got);
}

static void show(const char *name, const uint8_t *p, size_t len)
{
	size_t i;

	fprintf(stderr, "  %-8s ", name);
	for (i = 0; i < len && i < SHOWN; i++)
		fprintf(stderr, "%02x", p[i]);
	fprintf(stderr, "%s\n", len > SHOWN ? "..." : "");
}

void expect_bytes(struct run *r, const char *what, const uint8_t *want,
		  const uint8_t *got, size_t len)
{
	size_t at = 0;

	while (at < len && want[at] == got[at])
		at++;
	if (at == len || !fail(r, what))
		return;
	fprintf(stderr, "differs from byte %zu of %zu on\n", at, len);
	show("expected", want + at, len - at);
	show("got", got + at, len - at);
}

/* ---- rooms ---- */

struct room room_new(size_t len)
{
	struct room room = { .len = len };

	room.base = malloc(len + 2 * SLACK);
	if (!room.base)
		abort();
	room.at = room.base + SLACK;
	memset(room.base, UNTOUCHED, len + 2 * SLACK);
	return room;
}

/* A room with @data at its start, and @more bytes after them. */
struct room room_with(const uint8_t *data, size_t len, size_t more)
{
	struct room room = room_new(len + more);

	memcpy(room.at, data, len);
	return room;
}

/*
 * Checks that all bytes but the first @written still have their initial value.
 */
void expect_untouched(struct run *r, const char *what, const struct room *room,
		      size_t written)
{
	const uint8_t *end = room->base + room->len + 2 * SLACK, *p;

	for (p = room->base; p < end; p++) {
		if (p == room->at)
			p += written;
		if (*p != UNTOUCHED)
			break;
	}
	if (p < end && fail(r, what))
		fprintf(stderr, "byte %td of %zu was written to\n",
			p - room->at, room->len);
}

void room_free(struct room *room)
{
	free(room->base);
}

/* ---- values ---- */

struct bytes join(const struct bytes *a, const struct bytes *b)
{
	struct bytes both = { malloc(a->len + b->len + 1), a->len + b->len };

	if (!both.p)
		abort();
	memcpy(both.p, a->p, a->len);
	memcpy(both.p + a->len, b->p, b->len);
	return both;
}

/* PKCS #7 (RFC 5652, 6.3) */
bool padding_is_right(const uint8_t *p, size_t len, size_t block)
{
	uint8_t n = len ? p[len - 1] : 0;
	size_t i;

	if (!n || n > block || n > len)
		return false;
	for (i = 0; i < n; i++)
		if (p[len - 1 - i] != n)
			return false;
	return true;
}

struct bytes padded(const struct bytes *text, size_t block)
{
	uint8_t n = block - text->len % block, pad[256];

	memset(pad, n, sizeof(pad));
	return join(text, &(struct bytes){ pad, n });
}
