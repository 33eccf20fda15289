// SPDX-License-Identifier: BSD-2-Clause
/*
 * Encrypts a file with AES-256-CTR through all devices at once, many pieces
 * under way, as "openssl enc -aes-256-ctr -K KEY -iv IV" does.
 *
 *	flow KEY IV IN OUT [AT FILE GONE]
 *
 * KEY and IV are in hex.  When AT per cent are done, the program creates FILE,
 * which asks somebody outside to pull a card.  It then encrypts IN again until
 * /sys/class/ocf/GONE has disappeared.  Each round writes the output again.
 * Progress goes to standard error, MiB/s to standard output.
 */
#include <crypto/cryptodev.h>

#include <endian.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	16
#define PIECE	(64 << 10)	/* bytes */
#define FLYING	48		/* pieces under way */
#define BAR	40		/* characters of progress, on a terminal */

struct flow {
	int		crypto;
	uint32_t	ses;
	uint8_t		iv[BLOCK];
	uint8_t		*in, *out;
	size_t		size, sent, done;
	int		flying, shown;
};

/* A piece that is under way; free if it has no length */
static struct piece {
	uint8_t		iv[BLOCK];
	size_t		len;
} pieces[FLYING];

static void unhex(const char *hex, uint8_t *to, size_t len)
{
	size_t i;

	if (strlen(hex) != 2 * len)
		errx(2, "%zu hex digits are wanted", 2 * len);
	for (i = 0; i < len; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &to[i]) != 1)
			errx(2, "not hex: %s", hex);
}

static void open_session(struct flow *f, const char *key_hex)
{
	uint8_t key[32];
	struct session_op sop = {
		.cipher = CRYPTO_AES_CTR, .keylen = sizeof(key), .key = key,
	};

	unhex(key_hex, key, sizeof(key));
	f->crypto = open("/dev/crypto", O_RDWR | O_CLOEXEC);
	if (f->crypto < 0)
		err(1, "/dev/crypto");
	if (ioctl(f->crypto, CIOCGSESSION, &sop))
		err(1, "a session");
	f->ses = sop.ses;
	explicit_bzero(key, sizeof(key));
}

static uint8_t *map(const char *path, size_t *size, bool out)
{
	int fd = open(path, (out ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY) |
		      O_CLOEXEC, 0600);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) || (out && ftruncate(fd, *size)))
		err(1, "%s", path);
	if (!out)
		*size = st.st_size;
	p = mmap(NULL, *size, PROT_READ | (out ? PROT_WRITE : 0),
		 out ? MAP_SHARED : MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
	return p;
}

/* The counter block @offset bytes on (NIST SP 800-38A, appendix B.1) */
static void counter_at(const uint8_t *iv, size_t offset, uint8_t *to)
{
	uint64_t high, low;

	memcpy(&high, iv, 8);
	memcpy(&low, iv + 8, 8);
	high = be64toh(high);
	low = be64toh(low);
	if (__builtin_add_overflow(low, offset / BLOCK, &low))
		high++;
	high = htobe64(high);
	low = htobe64(low);
	memcpy(to, &high, 8);
	memcpy(to + 8, &low, 8);
}

static void send_piece(struct flow *f, struct piece *p)
{
	struct crypt_op cop = {
		.ses = f->ses, .op = COP_ENCRYPT, .iv = p->iv,
		.src = f->in + f->sent, .dst = f->out + f->sent,
	};

	p->len = f->size - f->sent < PIECE ? f->size - f->sent : PIECE;
	cop.len = p->len;
	counter_at(f->iv, f->sent, p->iv);
	if (ioctl(f->crypto, CIOCASYNCCRYPT, &cop))
		err(1, "CIOCASYNCCRYPT");
	f->sent += p->len;
	f->flying++;
}

static void fill(struct flow *f)
{
	struct piece *p;

	for (p = pieces; p < pieces + FLYING && f->sent < f->size; p++)
		if (!p->len)
			send_piece(f, p);
}

/* Fetches one finished operation, and waits if none has finished. */
static void take(struct flow *f)
{
	struct pollfd p = { .fd = f->crypto, .events = POLLIN };
	struct crypt_op cop;

	while (ioctl(f->crypto, CIOCASYNCFETCH, &cop)) {
		if (errno != EBUSY)
			err(1, "an operation");
		if (poll(&p, 1, 600000) != 1)
			errx(1, "no result in ten minutes");
	}
	/* the IV tells whose it was */
	((struct piece *)cop.iv)->len = 0;
	f->done += cop.len;
	f->flying--;
}

static void show(struct flow *f)
{
	int part = f->size ? f->done * BAR / f->size : BAR, i;

	/*
	 * the virtual machine has no terminal; demo/run says whether its caller
	 * has one
	 */
	if (!getenv("OCF_TERMINAL") || part == f->shown)
		return;
	f->shown = part;
	fprintf(stderr, "\r  [");
	for (i = 0; i < BAR; i++)
		fputc(i < part ? '#' : '.', stderr);
	fprintf(stderr, "] %zu MiB ", f->done >> 20);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void ask(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		err(1, "%s", path);
	close(fd);
}

/* Once through the file; @path is made when @at bytes are done. */
static void go_through(struct flow *f, size_t at, const char *path)
{
	f->sent = f->done = 0;
	while (f->done < f->size) {
		fill(f);
		take(f);
		show(f);
		if (path && f->done >= at) {
			ask(path);
			path = NULL;
		}
	}
}

int main(int argc, char **argv)
{
	char gone[256];
	struct flow f = { .shown = -1 };
	int rounds = 1;
	double begun;

	if (argc != 5 && argc != 8)
		errx(2, "flow KEY IV IN OUT [AT FILE GONE]");
	open_session(&f, argv[1]);
	unhex(argv[2], f.iv, sizeof(f.iv));
	f.in = map(argv[3], &f.size, false);
	f.out = map(argv[4], &f.size, true);
	begun = now();
	if (argc == 5) {
		go_through(&f, 0, NULL);
	} else {
		snprintf(gone, sizeof(gone), "/sys/class/ocf/%s", argv[7]);
		go_through(&f, f.size * atoi(argv[5]) / 100, argv[6]);
		for (; !access(gone, F_OK); rounds++) {
			if (rounds == 100)
				errx(1, "%s is still there", argv[7]);
			memset(f.out, 0, f.size);
			go_through(&f, 0, NULL);
		}
	}
	if (getenv("OCF_TERMINAL"))
		fputc('\n', stderr);
	printf("%.1f\n", rounds * f.size / 1048576.0 / (now() - begun));
	return 0;
}
