/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cards in tests: their files in sysfs, and how to have one of them do all
 * work.
 */
#ifndef VIRTIO_CARD_H
#define VIRTIO_CARD_H

#include <dirent.h>

#include "../selftests/dev.h"

#define SOFTWARE	"cryptosoft0"

static inline const char *card_path(const char *card, const char *file)
{
	static char path[512];

	snprintf(path, sizeof(path), "/sys/class/ocf/%s/%s", card, file);
	return path;
}

/* Returns a counter of a card; -1 if there is no such card. */
static inline long long card_count(const char *card, const char *name)
{
	char file[64];
	long long n = -1;
	FILE *f;

	snprintf(file, sizeof(file), "counters/%s", name);
	f = fopen(card_path(card, file), "re");
	if (f && fscanf(f, "%lld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* Returns a counter of the driver. */
static inline long long driver_count(const char *card, const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), "device/card/%s", name);
	return atoll(get_line(card_path(card, file)));
}

static inline bool card_can(const char *card, const char *alg)
{
	char line[64];
	bool can = false;
	FILE *f = fopen(card_path(card, "algorithms"), "re");

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		can |= !strcmp(line, alg);
	}
	if (f)
		fclose(f);
	return can;
}

static inline bool card_is(const char *card, const char *state)
{
	return !strcmp(get_line(card_path(card, "state")), state);
}

static inline bool card_becomes(const char *card, const char *state, int ms)
{
	for (; ms > 0; ms -= 10) {
		if (card_is(card, state))
			return true;
		usleep(10000);
	}
	return card_is(card, state);
}

/*
 * Writes "drain" or "resume" to all devices but @card.  Returns 0 or an errno.
 */
__attribute__((warn_unused_result))
static inline int others(const char *card, const char *order)
{
	DIR *dir = opendir("/sys/class/ocf");
	struct dirent *e;
	int err = dir ? 0 : errno;

	while (!err && (e = readdir(dir)))
		if (e->d_name[0] != '.' && strcmp(e->d_name, card))
			err = put_line(card_path(e->d_name, "state"), order);
	if (dir)
		closedir(dir);
	return err;
}

#endif /* VIRTIO_CARD_H */
