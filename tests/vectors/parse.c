// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of vectors, in the format that README describes.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

#define VALUE_MAX	(4u << 20)	/* bytes */

static const char * const kinds[KIND_COUNT] = {
	[KIND_CIPHER] = "cipher", [KIND_PADDED] = "padded",
	[KIND_DIGEST] = "digest", [KIND_MONTE2] = "monte2",
	[KIND_MONTE3] = "monte3", [KIND_MAC] = "mac", [KIND_AEAD] = "aead",
	[KIND_ETA] = "eta", [KIND_TLS] = "tls", [KIND_SRTP] = "srtp",
};

static const char * const fields[FIELD_COUNT] = {
	[KEY] = "key", [MACKEY] = "mackey", [IV] = "iv", [AAD] = "aad",
	[TEXT] = "text", [TRAILER] = "trailer", [RESULT] = "result",
	[TAG] = "tag",
};

#define HAS(field_)	(1u << (field_))

/* What a vector of a kind must have; the second only if it is not "bad" */
static const struct {
	unsigned int must, good;
} needs[KIND_COUNT] = {
	[KIND_CIPHER]	= { HAS(TEXT) | HAS(RESULT), 0 },
	[KIND_PADDED]	= { HAS(KEY) | HAS(IV) | HAS(RESULT), HAS(TEXT) },
	[KIND_DIGEST]	= { HAS(TEXT) | HAS(TAG), 0 },
	[KIND_MONTE2]	= { HAS(TEXT) | HAS(TAG), 0 },
	[KIND_MONTE3]	= { HAS(TEXT) | HAS(TAG), 0 },
	[KIND_MAC]	= { HAS(KEY) | HAS(TEXT) | HAS(TAG), 0 },
	[KIND_AEAD]	= { HAS(KEY) | HAS(IV) | HAS(AAD) | HAS(RESULT) |
			    HAS(TAG), HAS(TEXT) },
	[KIND_ETA]	= { HAS(KEY) | HAS(MACKEY) | HAS(IV) | HAS(AAD) |
			    HAS(TEXT) | HAS(RESULT) | HAS(TAG), 0 },
	[KIND_TLS]	= { HAS(KEY) | HAS(MACKEY) | HAS(IV) | HAS(AAD) |
			    HAS(TEXT) | HAS(RESULT), 0 },
	[KIND_SRTP]	= { HAS(KEY) | HAS(MACKEY) | HAS(IV) | HAS(AAD) |
			    HAS(TEXT) | HAS(TRAILER) | HAS(RESULT) | HAS(TAG),
			    0 },
};

/* A file in the course of being read; @v has what the directives said. */
struct parser {
	const char	*path;
	int		line;
	long		expected;	/* -1 before %count */
	int		seen;
	struct vector	v;
	void		(*see)(const struct vector *v, void *arg);
	void		*arg;
};

static bool complain(const struct parser *p, const char *what,
		     const char *about)
{
	fprintf(stderr, "%s:%d: %s%s%s\n", p->path, p->line, what,
		about ? ": " : "", about ?: "");
	return false;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The number at @text, which nothing follows; 0 if there is none. */
static size_t number(const char *text)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno &&
	       n <= VALUE_MAX ? n : 0;
}

static bool parse_count_up(const char *text, struct bytes *b)
{
	size_t i;

	b->len = number(text);
	if (!b->len)
		return false;
	b->p = malloc(b->len);
	if (!b->p)
		return false;
	for (i = 0; i < b->len; i++)
		b->p[i] = i;
	return true;
}

static bool parse_value(const char *text, struct bytes *b)
{
	const char *star = strchr(text, '*');
	size_t digits = star ? (size_t)(star - text) : strlen(text);
	size_t i, unit = digits / 2, times = star ? number(star + 1) : 1;

	if (*text == '+')
		return parse_count_up(text + 1, b);
	if (digits % 2 || !times || unit * times > VALUE_MAX)
		return false;
	b->len = unit * times;
	b->p = malloc(b->len + 1);
	if (!b->p)
		return false;
	for (i = 0; i < b->len; i++) {
		const char *at = text + 2 * (i % unit);
		int high = nibble(at[0]), low = nibble(at[1]);

		if (high < 0 || low < 0)
			return false;
		b->p[i] = high << 4 | low;
	}
	return true;
}

static bool parse_field(struct parser *p, char *word)
{
	char *value = strchr(word, '=');
	int i;

	if (!value)
		return complain(p, "no value", word);
	*value++ = 0;
	for (i = 0; i < FIELD_COUNT; i++)
		if (!strcmp(fields[i], word))
			break;
	if (i == FIELD_COUNT)
		return complain(p, "no such field", word);
	if (p->v.f[i].p)
		return complain(p, "twice", word);
	if (!parse_value(value, &p->v.f[i]))
		return complain(p, "not a value", word);
	return true;
}

static bool complete(struct parser *p)
{
	const struct vector *v = &p->v;
	unsigned int have = 0, need;
	int i;

	if (!v->alg || v->kind == KIND_COUNT)
		return complain(p, "no %alg or no %kind before it", v->id);
	if (v->kind >= KIND_ETA && !v->mac)
		return complain(p, "no %mac before it", v->id);
	for (i = 0; i < FIELD_COUNT; i++)
		if (v->f[i].p)
			have |= HAS(i);
	need = needs[v->kind].must | (v->bad ? 0 : needs[v->kind].good);
	if ((have & need) != need)
		return complain(p, "a field is missing", v->id);
	return true;
}

static void forget(struct vector *v)
{
	int i;

	for (i = 0; i < FIELD_COUNT; i++) {
		free(v->f[i].p);
		v->f[i] = (struct bytes){};
	}
	v->bad = false;
}

static bool parse_vector(struct parser *p, char *line)
{
	char *save, *word;
	bool ok = true;

	p->v.id = strtok_r(line, " ", &save);
	while (ok && (word = strtok_r(NULL, " ", &save))) {
		if (!strcmp(word, "bad"))
			p->v.bad = true;
		else
			ok = parse_field(p, word);
	}
	ok = ok && complete(p);
	if (ok) {
		p->seen++;
		p->see(&p->v, p->arg);
	}
	forget(&p->v);
	return ok;
}

static bool parse_kind(struct parser *p, const char *name)
{
	int i;

	for (i = 0; i < KIND_COUNT; i++)
		if (!strcmp(kinds[i], name)) {
			p->v.kind = i;
			return true;
		}
	return complain(p, "no such kind", name);
}

static bool parse_directive(struct parser *p, char *line)
{
	char *value = strchr(line, ' ');

	if (!value)
		return complain(p, "no value", line);
	*value++ = 0;
	if (!strcmp(line, "%count") && p->expected < 0) {
		p->expected = number(value);
		return p->expected || complain(p, "not a count", value);
	}
	if (!strcmp(line, "%alg")) {
		p->v.alg = alg_find(value);
		return p->v.alg || complain(p, "no such algorithm", value);
	}
	if (!strcmp(line, "%mac")) {
		p->v.mac = alg_find(value);
		return p->v.mac || complain(p, "no such algorithm", value);
	}
	if (!strcmp(line, "%kind"))
		return parse_kind(p, value);
	return complain(p, "no such directive", line);
}

static bool parse_line(struct parser *p, char *line)
{
	line[strcspn(line, "\n")] = 0;
	if (!*line || *line == '#')
		return true;
	return *line == '%' ? parse_directive(p, line) : parse_vector(p, line);
}

int parse_file(const char *path, void (*see)(const struct vector *v, void *arg),
	       void *arg)
{
	struct parser p = {
		.path = path, .expected = -1, .see = see, .arg = arg,
		.v.kind = KIND_COUNT,
	};
	FILE *file = fopen(path, "r");
	bool ok = true;
	char *line = NULL;
	size_t room = 0;

	if (!file) {
		perror(path);
		return -1;
	}
	while (ok && getline(&line, &room, file) > 0) {
		p.line++;
		ok = parse_line(&p, line);
	}
	if (ok && (ferror(file) || p.seen != p.expected)) {
		fprintf(stderr, "%s: %d vectors, %ld expected\n", path, p.seen,
			p.expected);
		ok = false;
	}
	free(line);
	fclose(file);
	return ok ? p.seen : -1;
}
