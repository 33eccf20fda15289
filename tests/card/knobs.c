// SPDX-License-Identifier: BSD-2-Clause
/* Speeds and faults, and the lines that set them (README has the list). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"

#define N(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *name;
	size_t offset;
	uint64_t most;
} speeds[] = {
	{ "op_ns", offsetof(struct card_knobs, op_ns), 60000000000 },
	{ "byte_ps", offsetof(struct card_knobs, byte_ps), 1000000000 },
	{ "latency_ns", offsetof(struct card_knobs, latency_ns), 60000000000 },
	{ "depth", offsetof(struct card_knobs, depth), 1024 },
	{ "sessions", offsetof(struct card_knobs, sessions),
	  CARD_MAX_SESSIONS },
};

static const struct {
	const char *name;
	uint64_t arg, most;	/* the default; the maximum */
} faults[CARD_FAULTS] = {
	[CARD_BUSY] = { "busy", VIRTIO_CRYPTO_NOSPC, 255 },
	[CARD_ERROR] = { "error", VIRTIO_CRYPTO_ERR, 255 },
	[CARD_WRONG] = { "wrong", 0, UINT32_MAX },
	[CARD_LOST] = { "lost", 0, 0 },
	[CARD_LATE] = { "late", 100, 3600000 },
	[CARD_DOUBLE] = { "double", 0, 0 },
	[CARD_REFUSE] = { "refuse", 0, 64 },
	[CARD_MUTE] = { "mute", 0, 0 },
	[CARD_DEAF] = { "deaf", 0, 0 },
	[CARD_SHORT] = { "short", 1, UINT32_MAX },
};

static const struct {
	const char *name;
	enum card_action action;
	int stalled;		/* or -1: as it was */
} words[] = {
	{ "stall", CARD_NOTHING, 1 },
	{ "go", CARD_NOTHING, 0 },
	{ "stats", CARD_SHOW, -1 },
	{ "forget", CARD_FORGET, -1 },
	{ "stop", CARD_STOP, -1 },
	{ "die", CARD_DIE, -1 },
};

void card_knobs_init(struct card_knobs *knobs)
{
	*knobs = (struct card_knobs){
		.depth = 1024,
		.sessions = 1024,
	};
}

static bool number(const char *text, uint64_t most, uint64_t *value)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end && *value <= most;
}

static uint64_t *speed(struct card_knobs *knobs, size_t i)
{
	return (uint64_t *)((char *)knobs + speeds[i].offset);
}

static const char *set_one(struct card_knobs *knobs, char *name)
{
	char *value = strchr(name, '=');
	size_t i;

	if (!value)
		return "not KEY=VALUE";
	*value++ = 0;
	for (i = 0; i < N(speeds); i++) {
		if (strcmp(name, speeds[i].name))
			continue;
		return number(value, speeds[i].most, speed(knobs, i))
			       ? NULL
			       : "no such value";
	}
	return "no such key";
}

/* Carries out the whole line or nothing. */
static const char *set(struct card_knobs *knobs, char **rest)
{
	struct card_knobs changed = *knobs;
	const char *why = NULL;
	char *word;

	while (!why && (word = strtok_r(NULL, " ", rest)))
		why = set_one(&changed, word);
	if (!why)
		*knobs = changed;
	return why;
}

static bool count(const char *text, struct card_draw *draw)
{
	if (!text)
		return false;
	if (!strcmp(text, "always")) {
		draw->every = 1;
		return true;
	}
	if (!strncmp(text, "1/", 2))
		return number(text + 2, UINT32_MAX, &draw->every) &&
		       draw->every;
	return number(text, UINT32_MAX, &draw->left);
}

static const char *fault(struct card_knobs *knobs, char **rest)
{
	const char *kind = strtok_r(NULL, " ", rest);
	const char *many = strtok_r(NULL, " ", rest);
	const char *arg = strtok_r(NULL, " ", rest);
	struct card_draw draw = { 0 };
	size_t i;

	for (i = 0; kind && i < CARD_FAULTS; i++) {
		if (strcmp(kind, faults[i].name))
			continue;
		draw.hits = knobs->faults[i].hits;
		draw.arg = faults[i].arg;
		if (!count(many, &draw))
			return "COUNT is a number, 1/N or always";
		if (arg && !number(arg, faults[i].most, &draw.arg))
			return "no such argument";
		knobs->faults[i] = draw;
		return NULL;
	}
	return "no such fault";
}

static const char *other(struct card_knobs *knobs, const char *word,
			 char **rest, enum card_action *action, uint64_t *arg)
{
	const char *value;
	size_t i;

	for (i = 0; i < N(words); i++) {
		if (strcmp(word, words[i].name))
			continue;
		value = strtok_r(NULL, " ", rest);
		if (words[i].action == CARD_STOP) {
			if (!number(value, 3600000, arg) || !*arg)
				return "stop takes ms";
		} else if (value) {
			return "too many words";
		}
		*action = words[i].action;
		if (words[i].stalled >= 0)
			knobs->stalled = words[i].stalled;
		return NULL;
	}
	return "no such command";
}

const char *card_knobs_line(struct card_knobs *knobs, char *line,
			    enum card_action *action, uint64_t *arg)
{
	const char *why;
	char *rest, *word = strtok_r(line, " ", &rest);

	*action = CARD_NOTHING;
	if (!word)
		return "an empty line";
	if (!strcmp(word, "set"))
		why = set(knobs, &rest);
	else if (!strcmp(word, "fault"))
		why = fault(knobs, &rest);
	else
		why = other(knobs, word, &rest, action, arg);
	if (!why && strtok_r(NULL, " ", &rest))
		why = "too many words";
	return why;
}

bool card_draw(struct card_knobs *knobs, enum card_fault f)
{
	struct card_draw *draw = &knobs->faults[f];

	if (draw->every) {
		if (++draw->seen % draw->every)
			return false;
	} else {
		if (!draw->left)
			return false;
		draw->left--;
	}
	draw->hits++;
	return true;
}

size_t card_knobs_show(const struct card_knobs *knobs, char *buf, size_t size)
{
	struct card_knobs *k = (struct card_knobs *)knobs;
	size_t i, len = 0;

	for (i = 0; i < N(speeds); i++)
		len += snprintf(buf + len, size - len, " %s=%" PRIu64,
				speeds[i].name, *speed(k, i));
	len += snprintf(buf + len, size - len, " stalled=%d", knobs->stalled);
	for (i = 0; i < CARD_FAULTS; i++)
		len += snprintf(buf + len, size - len, " %s=%" PRIu64,
				faults[i].name, knobs->faults[i].hits);
	return len;
}
