// SPDX-License-Identifier: BSD-2-Clause
/*
 * The machine's side of a soak: processes that give /dev/crypto all kinds of
 * work as long as it is wanted, and look at each result.
 *
 *	soak_work PROCESSES STOP [LATE]
 *
 * Ciphers, a MAC beside a cipher, TLS records, SRTP packets, AEAD and digests;
 * made, opened, and forged, which must be refused; in place and not, copied and
 * pinned, one at a time and many under way.  What is right is OpenSSL's opinion
 * of the ciphers, and what the CPU alone has made of the rest, while all cards
 * were drained.  Ends when the file STOP appears, prints what was done, and
 * fails if anything was wrong, lost, refused, or later than LATE seconds.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "../../tools/lib/oracle.h"
#include "../selftests/linux.h"
#include "../selftests/random.h"
#include "../virtio/card.h"

__thread uint64_t chance_state;

#define LEN_MAX		65536u	/* bytes of an operation */
#define ROOM		(LEN_MAX + 4096)
#define TEXTS		16	/* lengths and IVs, of each kind of work */
#define FLYING		48	/* asynchronous operations of a process */
#define LATE_S		20.0	/* for one operation, on an emulated machine */
#define HEADER		12u	/* bytes of a packet before its payload */
#define WEIGHT		"/sys/class/ocf/cryptosoft0/weight"

struct kind {
	const char	*cipher, *mac;
	int		keylen, maclen;
	enum { PLAIN, TLS, SRTP, AEAD } type;
};

static const struct kind kinds[] = {
	{ "aes-cbc", NULL, 16, 0, PLAIN },
	{ "aes-cbc", NULL, 32, 0, PLAIN },
	{ "aes-ctr", NULL, 24, 0, PLAIN },
	{ "aes-ecb", NULL, 16, 0, PLAIN },
	{ "aes-xts", NULL, 32, 0, PLAIN },
	{ "des3-cbc", NULL, 24, 0, PLAIN },
	{ "aes-cbc", "hmac-sha1", 16, 20, PLAIN },
	{ "aes-ctr", "hmac-sha256", 16, 32, PLAIN },
	{ "aes-cbc", "hmac-sha256", 16, 32, TLS },
	{ "aes-ctr", "hmac-sha1", 16, 20, SRTP },
	{ "aes-gcm", NULL, 16, 16, AEAD },
	{ NULL, "sha256", 0, 32, PLAIN },
};

#define CIPHERS		6	/* of those, the first */

/* A piece of work and its result. */
struct text {
	uint32_t	len, outlen;
	uint8_t		iv[16];
	uint8_t		*out;
	uint8_t		mac[64];
};

/* What is done with a text */
enum task { MAKE, OPEN, FORGED, TASKS };

/* What all processes have done; shared. */
struct tally {
	atomic_long	right[TASKS], wrong, late, failed;
	atomic_long	worst_us;
	atomic_int	first_error;
};

static struct tally *tally;
static struct text texts[COUNT(kinds)][TEXTS];
static uint8_t *plain;
static const char *stop;
static double late = LATE_S;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static int open_kind(int fd, const struct kind *k, uint32_t *ses)
{
	return open_session(fd, k->cipher ? linux_id(k->cipher) : 0, k->keylen,
			    k->mac ? linux_id(k->mac) : 0,
			    k->mac && k->cipher ? 20 : 0, ses);
}

static int operation(enum task what)
{
	return what == MAKE ? COP_ENCRYPT : COP_DECRYPT;
}

/* Where in @buf a text begins */
static uint8_t *begins(const struct kind *k, uint8_t *buf)
{
	return buf + (k->type == SRTP ? HEADER : 0);
}

/*
 * What is more than a cipher, in place where @src is @dst.  A record grows by
 * IV, MAC and padding, a packet has its tag elsewhere.
 */
static int run_auth(int fd, uint32_t ses, const struct kind *k, enum task what,
		    struct crypt_auth_op *c, const struct text *t,
		    uint8_t *src, uint8_t *dst, uint8_t *mac)
{
	uint8_t header[13] = { 0, 0, 0, 0, 0, 0, 0, 1, 23, 3, 3,
			       t->len >> 8, t->len };

	c->ses = ses;
	c->op = operation(what);
	c->src = src;
	c->dst = dst;
	c->iv = (void *)t->iv;
	c->iv_len = k->type == AEAD ? 12 : 16;
	if (k->type == TLS) {
		c->flags |= COP_FLAG_AEAD_TLS_TYPE;
		c->auth_src = header;
		c->auth_len = 13;
	} else if (k->type == SRTP) {
		c->flags |= COP_FLAG_AEAD_SRTP_TYPE;
		c->auth_src = src - HEADER;
		c->auth_len = HEADER + c->len;
		c->tag = mac;
		c->tag_len = k->maclen;
	} else {
		c->auth_src = plain;
		c->auth_len = 100;
	}
	return call(fd, CIOCAUTHCRYPT, c);
}

/* One operation; the result in @buf, the MAC in @mac. */
static int run(int fd, uint32_t ses, const struct kind *k, enum task what,
	       const struct text *t, uint8_t *buf, uint8_t *mac,
	       uint32_t *outlen)
{
	uint8_t *from = what == MAKE ? plain : t->out, *to = begins(k, buf);
	uint32_t len = what == MAKE ? t->len : t->outlen;
	struct crypt_auth_op c = {
		.len = len, .flags = one_in(4) ? COP_FLAG_NO_ZC : 0,
	};
	int err;

	memset(mac, 0, 64);
	if (k->type == TLS || k->type == SRTP || what == FORGED || one_in(2)) {
		memcpy(to, from, len);
		from = to;
	}
	if (k->type == SRTP) {
		memcpy(buf, plain, HEADER);
		if (what != MAKE)
			memcpy(mac, t->mac, k->maclen);
	}
	if (what == FORGED)
		to[below(len)] ^= 1 << below(8);
	*outlen = k->cipher ? len : 0;
	if (k->type == PLAIN)
		return crypt_op(fd, ses, operation(what), c.flags, from, to,
				len, t->iv, k->mac ? mac : NULL);
	err = run_auth(fd, ses, k, what, &c, t, from, to, mac);
	*outlen = c.len;
	return err;
}

static bool is_made(const struct kind *k, const struct text *t,
		    const uint8_t *out, const uint8_t *mac, uint32_t outlen)
{
	return outlen == t->outlen && !memcmp(out, t->out, outlen) &&
	       (!k->mac || k->type == TLS || !memcmp(mac, t->mac, k->maclen));
}

static void judge(const struct kind *k, enum task what, const struct text *t,
		  const uint8_t *out, const uint8_t *mac, uint32_t outlen,
		  int err, double took)
{
	long us = took * 1e6, worst = tally->worst_us;
	int none = 0;
	bool right;

	while (us > worst &&
	       !atomic_compare_exchange_weak(&tally->worst_us, &worst, us))
		;
	if (took > late)
		tally->late++;
	if (err && (what != FORGED || err != EBADMSG)) {
		tally->failed++;
		atomic_compare_exchange_strong(&tally->first_error, &none, err);
		return;
	}
	if (what == FORGED)
		right = err;
	else if (what == OPEN)
		right = outlen == t->len && !memcmp(out, plain, outlen);
	else
		right = is_made(k, t, out, mac, outlen);
	if (right)
		tally->right[what]++;
	else
		tally->wrong++;
}

/* ---- what is right ---- */

static void agree_with_openssl(const struct kind *k, const struct text *t)
{
	uint8_t *out = malloc(LEN_MAX);

	if (!k->mac && k->type == PLAIN &&
	    (!oracle_cipher(k->cipher, true, key_bytes, k->keylen, t->iv, plain,
			    t->len, out) || memcmp(out, t->out, t->len))) {
		fprintf(stderr, "%s is not OpenSSL's\n", k->cipher);
		exit(1);
	}
	free(out);
}

static void prepare(void)
{
	int fd = open_dev(), i, j, err;
	uint8_t *buf = malloc(ROOM);
	uint32_t ses;

	others("cryptosoft0", "drain");
	for (i = 0; i < COUNT(kinds); i++) {
		err = open_kind(fd, &kinds[i], &ses);
		if (err) {
			fprintf(stderr, "kind %d: %s\n", i, strerror(err));
			exit(1);
		}
		for (j = 0; j < TEXTS; j++) {
			struct text *t = &texts[i][j];

			t->len = 16 * (1 + log_uniform(LEN_MAX / 16 - 1));
			if (kinds[i].type == TLS)
				t->len = 1 + below(16000);
			fill_by_chance(t->iv, 16);
			t->out = malloc(ROOM);
			err = run(fd, ses, &kinds[i], MAKE, t, buf, t->mac,
				  &t->outlen);
			if (err) {
				fprintf(stderr, "kind %d: %s\n", i,
					strerror(err));
				exit(1);
			}
			memcpy(t->out, begins(&kinds[i], buf), t->outlen);
			agree_with_openssl(&kinds[i], t);
		}
		close_session(fd, ses);
	}
	others("cryptosoft0", "resume");
	free(buf);
	close(fd);
}

/* ---- work ---- */

/* Of four, three are ciphers that cards do. */
static int draw_kind(void)
{
	return one_in(4) ? below(COUNT(kinds)) : below(CIPHERS);
}

/* A MAC beside a cipher is of what comes out: there is nothing to open. */
static enum task draw_task(const struct kind *k)
{
	if (!k->cipher || (k->mac && k->type == PLAIN) || one_in(2))
		return MAKE;
	return k->type != PLAIN && one_in(3) ? FORGED : OPEN;
}

static bool wanted(void)
{
	return access(stop, F_OK);
}

static void one_at_a_time(int fd, const uint32_t *ses)
{
	static uint8_t buf[ROOM], mac[64];
	int i, k;

	for (i = 0; i < 50; i++) {
		struct text *t;
		uint32_t outlen;
		double begun = now();
		enum task what;
		int err;

		k = draw_kind();
		t = &texts[k][below(TEXTS)];
		what = draw_task(&kinds[k]);
		err = run(fd, ses[k], &kinds[k], what, t, buf, mac, &outlen);
		judge(&kinds[k], what, t, begins(&kinds[k], buf), mac, outlen,
		      err, now() - begun);
	}
}

struct flight {
	const struct text	*t;
	const struct kind	*k;
	enum task		what;
	uint8_t			*buf, mac[64];
	uint8_t			iv[16];
	double			begun;
};

static int take_off(int fd, const uint32_t *ses, struct flight *f)
{
	struct crypt_op cop = {};
	int k;

	do
		k = draw_kind();
	while (kinds[k].type != PLAIN);
	f->k = &kinds[k];
	f->t = &texts[k][below(TEXTS)];
	f->what = draw_task(f->k);
	f->begun = now();
	memcpy(f->iv, f->t->iv, 16);
	cop.ses = ses[k];
	cop.op = operation(f->what);
	cop.len = f->t->len;
	cop.src = f->what == MAKE ? plain : f->t->out;
	cop.dst = f->buf;
	cop.iv = f->iv;
	cop.mac = f->k->mac ? f->mac : NULL;
	cop.flags = one_in(4) ? COP_FLAG_NO_ZC : 0;
	if (one_in(2)) {
		memcpy(f->buf, cop.src, cop.len);
		cop.src = f->buf;
	}
	return call(fd, CIOCASYNCCRYPT, &cop);
}

static void many_at_once(int fd, const uint32_t *ses, struct flight *all)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int i, flying = 0, err;

	for (i = 0; i < FLYING; i++) {
		err = take_off(fd, ses, &all[i]);
		if (err)
			judge(all[i].k, all[i].what, all[i].t, all[i].buf,
			      all[i].mac, 0, err, 0);
		else
			flying++;
	}
	while (flying) {
		struct crypt_op cop = {};
		struct flight *f;

		if (poll(&p, 1, late * 2000) != 1) {
			/* lost */
			tally->late += flying;
			return;
		}
		err = call(fd, CIOCASYNCFETCH, &cop);
		if (err == EBUSY)
			continue;
		f = (void *)((uint8_t *)cop.iv - offsetof(struct flight, iv));
		judge(f->k, f->what, f->t, f->buf, f->mac,
		      f->k->cipher ? cop.len : 0, err, now() - f->begun);
		flying--;
	}
}

static void work(int number)
{
	uint32_t ses[COUNT(kinds)];
	struct flight all[FLYING];
	int fd = open_dev(), i;

	chance_from(number + 1);
	for (i = 0; i < FLYING; i++)
		all[i].buf = malloc(ROOM);
	while (wanted()) {
		/* sessions come and go, too */
		for (i = 0; i < COUNT(kinds); i++)
			if (open_kind(fd, &kinds[i], &ses[i]))
				tally->failed++;
		for (i = 0; i < 20 && wanted(); i++)
			if (one_in(4))
				one_at_a_time(fd, ses);
			else
				many_at_once(fd, ses, all);
		for (i = 0; i < COUNT(kinds); i++)
			close_session(fd, ses[i]);
	}
	exit(0);
}

/* ---- who carried it ---- */

static long long counted(const char *device, const char *what)
{
	char path[128], line[128], name[32];
	long long n = 0, value;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/ocf/%s/counters", device);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%31s %lld", name, &value) == 2 &&
		    !strcmp(name, what))
			n = value;
	if (f)
		fclose(f);
	return n;
}

#define DEVICES_MAX	16

/* A device, also one that has gone */
static struct device {
	char		name[NAME_MAX + 1];
	long long	bytes, bytes_was, replays, replays_was;
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

/* A card's counters go with it: what it has done since they were last seen */
static void keep(long long *sum, long long *was, long long is)
{
	*sum += is >= *was ? is - *was : is;
	*was = is;
}

static void look(void)
{
	DIR *dir = opendir("/sys/class/ocf");
	struct dirent *e;
	struct device *d;

	while (dir && (e = readdir(dir))) {
		d = e->d_name[0] == '.' ? NULL : device_named(e->d_name);
		if (!d)
			continue;
		keep(&d->bytes, &d->bytes_was, counted(d->name, "bytes"));
		keep(&d->replays, &d->replays_was,
		     counted(d->name, "replays"));
	}
	if (dir)
		closedir(dir);
}

static int report(void)
{
	struct device *d;
	long long all = 0;

	for (d = devices; d < devices + DEVICES_MAX; d++)
		all += d->bytes;
	for (d = devices; d < devices + DEVICES_MAX && d->name[0]; d++)
		printf("%s: %lld %% of %lld MiB, %lld replayed\n", d->name,
		       all ? d->bytes * 100 / all : 0, all >> 20, d->replays);
	printf("%ld made and %ld opened right, %ld forged ones refused, ",
	       tally->right[MAKE], tally->right[OPEN], tally->right[FORGED]);
	printf("%ld wrong, %ld late, %ld failed (%s), ", tally->wrong,
	       tally->late, tally->failed,
	       tally->failed ? strerror(tally->first_error) : "none");
	printf("the latest after %.2f s\n", tally->worst_us / 1e6);
	return !tally->right[MAKE] || !tally->right[OPEN] ||
	       !tally->right[FORGED] || tally->wrong || tally->late ||
	       tally->failed;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, i, status, bad = 0;

	if (!n)
		return 2;
	stop = argv[2];
	late = argc > 3 ? atof(argv[3]) : LATE_S;
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	plain = malloc(LEN_MAX);
	fill(plain, LEN_MAX, 1);
	chance_from(seed_given());
	prepare();
	/* or the CPU would do most of it: see docs/admin.md on weights */
	put_line(WEIGHT, "10000");
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
	put_line(WEIGHT, "100");
	look();
	return report() || bad;
}
