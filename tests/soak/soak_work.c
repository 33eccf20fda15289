// SPDX-License-Identifier: BSD-2-Clause
/*
 * The machine's side of a soak: processes that give /dev/crypto all kinds of
 * work as long as it is wanted, and look at each result.
 *
 *	soak_work PROCESSES STOP [LATE [LIES]]
 *
 * Half of the processes use cryptodev-linux's interface, the others the native
 * one.  They seal messages, open them, and try to open forged ones, which must
 * be refused.  The results of the ciphers and of RSA are checked against
 * OpenSSL.  The expected results of the rest come from the CPU alone, while all
 * cards are drained.  Ends when the file STOP appears, prints what was done,
 * and fails if anything was wrong, lost, refused, or later than LATE seconds.
 * The file LIES has the number of answers that the cards themselves have
 * falsified: as many may be wrong, and not one more.
 */
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../../tools/lib/oracle.h"
#include "../selftests/dev.h"
#include "../selftests/random.h"
#include "../virtio/card.h"
#include "work.h"

__thread uint64_t chance_state;

#define LATE_S		20.0	/* for one operation, on an emulated machine */
#define WEIGHT		"/sys/class/ocf/cryptosoft0/weight"
#define REPLAY		"/sys/kernel/tracing/events/ocf/ocf_request_replay/"

/* A tally of all processes, in shared memory */
struct tally {
	atomic_long	right[TASKS], wrong, late, failed;
	atomic_long	worst_us;
	atomic_int	first_error;
};

static struct tally *tally;
uint8_t *plain;
static const char *stop;
static double late = LATE_S;
static const char *lies;

bool wanted(void)
{
	return access(stop, F_OK);
}

/* ---- what came of it ---- */

void judge(enum task what, bool right, int err, double took)
{
	long us = took * 1e6, worst = tally->worst_us;
	int none = 0;

	while (us > worst &&
	       !atomic_compare_exchange_weak(&tally->worst_us, &worst, us))
		;
	if (took > late)
		tally->late++;
	if (err == EBADMSG && what == OPEN) {
		/* a valid message was refused */
		tally->wrong++;
	} else if (err && (what != FORGED || err != EBADMSG)) {
		tally->failed++;
		atomic_compare_exchange_strong(&tally->first_error, &none, err);
	} else if (what == FORGED ? err : right) {
		tally->right[what]++;
	} else {
		tally->wrong++;
	}
}

void explain(const char *alg, enum task what, const uint8_t *got,
	     const uint8_t *want, uint32_t len)
{
	uint32_t i, n = 0, first = len, last = 0;

	/* no explanation if a card may have given a wrong result */
	if (lies)
		return;
	for (i = 0; i < len; i++)
		if (got[i] != want[i]) {
			first = n ? first : i;
			last = i;
			n++;
		}
	fprintf(stderr, "%s, task %d, %u bytes: %u are wrong, from %u to %u\n",
		alg, what, len, n, first, last);
	for (i = first; i < len && i < first + 16; i++)
		fprintf(stderr, "%02x/%02x ", got[i], want[i]);
	fprintf(stderr, "\n");
}

int patience(void)
{
	return late * 2000;
}

void lost(int n)
{
	tally->late += n;
	exit(1);
}

void unprepared(const char *what, int err)
{
	fprintf(stderr, "%s: %s\n", what, strerror(err));
	exit(1);
}

void agree_with_openssl(const char *cipher, const uint8_t *key, int keylen,
			const uint8_t *iv, uint32_t len, const uint8_t *out)
{
	uint8_t *want = malloc(LEN_MAX);

	if (!oracle_cipher(cipher, true, key, keylen, iv, plain, len, want) ||
	    memcmp(out, want, len)) {
		fprintf(stderr, "%s is not OpenSSL's\n", cipher);
		exit(1);
	}
	free(want);
}

static void work(int number)
{
	chance_from(number + 1);
	while (wanted())
		if (number % 2)
			native_work();
		else
			linux_work();
	exit(0);
}

/* ---- who carried it ---- */

#define DEVICES_MAX	16

/* A device, also one that was removed */
static struct device {
	char		name[NAME_MAX + 1];
	long long	bytes, bytes_was;
} devices[DEVICES_MAX];

static struct device *device_named(const char *name)
{
	struct device *d;

	for (d = devices; d < devices + DEVICES_MAX; d++) {
		if (!d->name[0])
			snprintf(d->name, sizeof(d->name), "%s", name);
		if (!strcmp(d->name, name))
			return d;
	}
	return NULL;
}

/*
 * Adds what a card has done since its counters were last read, because they go
 * with the card.
 */
static void keep(struct device *d, long long bytes)
{
	/* it was removed */
	bytes = bytes < 0 ? 0 : bytes;
	d->bytes += bytes >= d->bytes_was ? bytes - d->bytes_was : bytes;
	d->bytes_was = bytes;
}

static void look(void)
{
	DIR *dir = opendir("/sys/class/ocf");
	struct dirent *e;
	struct device *d;

	while (dir && (e = readdir(dir))) {
		d = e->d_name[0] == '.' ? NULL : device_named(e->d_name);
		if (d)
			keep(d, card_count(d->name, "bytes"));
	}
	if (dir)
		closedir(dir);
}

/*
 * Returns how many requests were replayed, or -1 if that is not known: a card's
 * counter goes with the card.
 */
static long replayed(void)
{
	FILE *f = fopen(REPLAY "hist", "r");
	char line[256];
	long hits = -1;

	while (f && hits < 0 && fgets(line, sizeof(line), f))
		sscanf(line, " Hits: %ld", &hits);
	if (f)
		fclose(f);
	return hits;
}

/* Returns how many answers may be wrong. */
static long falsified(void)
{
	FILE *f = lies ? fopen(lies, "r") : NULL;
	long n = 0;

	if (lies && (!f || fscanf(f, "%ld", &n) != 1))
		unprepared(lies, errno);
	if (f)
		fclose(f);
	return n;
}

static int report(void)
{
	struct device *d;
	long long all = 0;
	long may_be_wrong = falsified();

	for (d = devices; d < devices + DEVICES_MAX; d++)
		all += d->bytes;
	for (d = devices; d < devices + DEVICES_MAX && d->name[0]; d++)
		printf("%s: %lld %% of %lld MiB\n", d->name,
		       all ? d->bytes * 100 / all : 0, all >> 20);
	printf("requests: %ld replayed\n", replayed());
	printf("%ld made and %ld opened right, %ld forged ones refused, ",
	       tally->right[MAKE], tally->right[OPEN], tally->right[FORGED]);
	printf("%ld wrong of %ld that cards made so, ", tally->wrong,
	       may_be_wrong);
	printf("%ld late, %ld failed (%s), ", tally->late, tally->failed,
	       tally->failed ? strerror(tally->first_error) : "none");
	printf("the latest after %.2f s\n", tally->worst_us / 1e6);
	return !tally->right[MAKE] || !tally->right[OPEN] ||
	       !tally->right[FORGED] || tally->wrong > may_be_wrong ||
	       tally->late || tally->failed;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, i, status, bad = 0;

	if (!n)
		return 2;
	stop = argv[2];
	late = argc > 3 ? atof(argv[3]) : LATE_S;
	lies = argc > 4 ? argv[4] : NULL;
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	plain = malloc(LEN_MAX);
	fill(plain, LEN_MAX, 1);
	chance_from(seed_given());
	if (others(SOFTWARE, "drain"))
		return 2;
	linux_prepare();
	native_prepare();
	/* or the CPU would do most of the work: see docs/admin.md on weights */
	if (others(SOFTWARE, "resume") || put_line(WEIGHT, "10000") ||
	    put_line(REPLAY "trigger", "hist:keys=device"))
		return 2;
	puts("ready");
	fflush(stdout);
	for (i = 0; i < n; i++)
		if (!fork())
			work(i);
	while (wanted()) {
		look();
		usleep(10000);
	}
	for (i = 0; i < n; i++) {
		wait(&status);
		bad |= status;
	}
	bad |= put_line(WEIGHT, "100");
	look();
	return report() || bad;
}
