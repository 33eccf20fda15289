// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs files of known answers through /dev/crypto, over both of its ABIs.
 *
 *	run_vectors FILE...
 *
 * It prints a line for each file, and each wrong result.  README explains the
 * output.
 */
#include <glob.h>
#include <libgen.h>

#include "../selftests/dev.h"
#include "vectors.h"

#define REASONS	8

/**
 * struct tally - how the vectors of a file did, over an ABI
 * @n: by verdict
 * @reasons: why some were refused or unsaid, and how many
 * @nreasons: of them
 */
struct tally {
	int		n[VERDICTS];
	struct {
		struct verdict	v;
		int		n;
	}		reasons[REASONS];
	int		nreasons;
};

static const struct abi {
	const char	*name;
	struct verdict	(*run)(struct run *r);
	bool		(*has)(const char *alg);
} abis[] = {
	{ "linux", linux_run, linux_has },
	{ "bsd", bsd_run, bsd_has },
};

#define NABIS	COUNT(abis)

/* One file's work. */
struct work {
	const char	*file;
	int		fd;
	struct tally	tally[NABIS];
};

static int answered[NABIS][ALGS_MAX];	/* vectors that were right */
static int total[VERDICTS];

/* ---- counting ---- */

static void count_reason(struct tally *t, struct verdict v)
{
	int i;

	for (i = 0; i < t->nreasons; i++)
		if (t->reasons[i].v.as == v.as &&
		    !strcmp(t->reasons[i].v.why, v.why))
			break;
	if (i == REASONS)
		abort();
	if (i == t->nreasons)
		t->reasons[t->nreasons++].v = v;
	t->reasons[i].n++;
}

static void count(struct tally *t, int abi, const struct vector *v,
		  struct verdict verdict)
{
	t->n[verdict.as]++;
	total[verdict.as]++;
	if (verdict.why)
		count_reason(t, verdict);
	if (verdict.as != RIGHT)
		return;
	answered[abi][v->alg - algs]++;
	if (v->mac)
		answered[abi][v->mac - algs]++;
}

static void see(const struct vector *v, void *arg)
{
	struct work *w = arg;
	int abi;

	for (abi = 0; abi < NABIS; abi++) {
		struct run r = {
			.file = w->file, .abi = abis[abi].name, .v = v,
			.fd = w->fd,
		};
		struct verdict verdict = abis[abi].run(&r);

		if (verdict.as == WRONG && !r.failed)
			expect_equal(&r, "the vector makes sense", true, false);
		count(&w->tally[abi], abi, v, r.failed ? wrong() : verdict);
	}
}

/* ---- telling ---- */

static void tell_tally(const char *abi, const struct tally *t)
{
	static const char * const names[] = {
		[REFUSED] = "refused", [UNSAID] = "unsaid",
	};
	int i;

	printf("  %s %d right", abi, t->n[RIGHT]);
	if (t->n[WRONG])
		printf(" %d WRONG", t->n[WRONG]);
	for (i = 0; i < t->nreasons; i++)
		printf("%s %d %s: %s", i ? ";" : ",", t->reasons[i].n,
		       names[t->reasons[i].v.as], t->reasons[i].v.why);
}

static bool run_file(const char *path)
{
	char name[64];
	struct work w = { .file = path, .fd = open_dev() };
	int abi, n;

	if (w.fd < 0) {
		perror(DEVICE);
		return false;
	}
	n = parse_file(path, see, &w);
	snprintf(name, sizeof(name), "%s", strrchr(path, '/') ?
		 strrchr(path, '/') + 1 : path);
	name[strcspn(name, ".")] = 0;
	printf("%-28s %5d", name, n);
	for (abi = 0; abi < NABIS; abi++)
		tell_tally(abis[abi].name, &w.tally[abi]);
	printf("\n");
	fflush(stdout);
	close(w.fd);
	return n > 0;
}

/* ---- no algorithm without a vector ---- */

/* Whether a vector was right over each ABI that has a number for @name. */
static bool is_covered(const char *name)
{
	const struct alg *alg = alg_find(name);
	bool covered = true, reached = false;
	int abi;

	for (abi = 0; abi < NABIS; abi++) {
		if (!abis[abi].has(name))
			continue;
		reached = true;
		if (!alg || !answered[abi][alg - algs]) {
			fprintf(stderr, "FAIL %s: no vector over %s\n", name,
				abis[abi].name);
			covered = false;
		}
	}
	if (!reached)
		printf("%s: /dev/crypto has no number for it\n", name);
	return covered;
}

static int check_device(const char *path, bool *seen)
{
	FILE *file = fopen(path, "r");
	char name[64];
	int uncovered = 0;

	if (!file) {
		perror(path);
		return 1;
	}
	while (fscanf(file, "%63s", name) == 1) {
		const struct alg *alg = alg_find(name);

		if (alg && seen[alg - algs])
			continue;
		if (alg)
			seen[alg - algs] = true;
		uncovered += !is_covered(name);
	}
	fclose(file);
	return uncovered;
}

/*
 * Checks that each algorithm of the devices has a right vector, and that a
 * device has each algorithm of algs[].
 */
static int check_devices(void)
{
	bool seen[ALGS_MAX] = {};
	int i, uncovered = 0;
	glob_t devices;

	if (glob("/sys/class/ocf/*/algorithms", 0, NULL, &devices)) {
		fprintf(stderr, "FAIL: no devices in /sys/class/ocf\n");
		return 1;
	}
	for (i = 0; i < devices.gl_pathc; i++)
		uncovered += check_device(devices.gl_pathv[i], seen);
	globfree(&devices);
	for (i = 0; i < nalgs; i++)
		if (!seen[i]) {
			fprintf(stderr, "FAIL %s: no device has it\n",
				algs[i].name);
			uncovered++;
		}
	return uncovered;
}

int main(int argc, char **argv)
{
	int i, err, lost = 0;

	err = allow_weak("all");
	if (err) {
		fprintf(stderr, "allow_weak: %s\n", strerror(err));
		return 1;
	}
	for (i = 1; i < argc; i++)
		lost += !run_file(argv[i]);
	lost += check_devices();
	allow_weak("none");
	if (failures)
		fprintf(stderr, "%d differences\n", failures);
	printf("vectors: %d passed, %d failed, %d skipped\n",
	       total[RIGHT] + total[REFUSED], total[WRONG] + lost,
	       total[UNSAID]);
	return failures || lost;
}
