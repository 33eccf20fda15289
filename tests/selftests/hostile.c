// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hostile user makes every call of all ABIs with bad arguments.  Meanwhile
 * other threads rewrite the arguments, unmap the memory and close the files.
 * Calls return only documented errors, read-only memory is not written, and at
 * the end all resources have been given back.
 *
 * The calls of a seed are always the same (random.h); how they race is not.
 */
#include <kselftest_harness.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "census.h"
#include "hostile.h"
#include "linux.h"
#include "random.h"

__thread uint64_t chance_state;

#define HANDS		2	/* threads that call */
#define FILES		4
/* descriptors from here to KEPT - 1 come from calls and may be closed */
#define LOST		16
/* the first descriptor of the test's own files */
#define KEPT		192
#define SESSIONS	16	/* of a file and an ABI, that are remembered */
#define KINDS		48	/* more than there are calls */
#define ODD		KINDS	/* calls that do not exist */
#define WRONG_MAX	16
#define TIMEOUT		3600	/* s: the debug kernel is slow */

/* A card so slow that it usually has requests in flight */
#define SIM		"/sys/bus/platform/drivers/ocf_sim/"
#define CARD		"algs=real depth=16 patience=60000 latency_ns=2000000"

/*
 * The areas that pointers point to.  They are far apart with nothing mapped
 * between them, so an access that is too long faults.
 */
#define APART		(8u << 20)
#define HEAP		(4 * A_BUFFER)
#define SHAKY		(64 * PAGE)
#define SHUT		(16 * PAGE)
#define SHUT_BYTE	0xc3

/**
 * struct hand - a thread that calls
 * @number: which
 * @rounds: how often
 * @slot: where its structure is
 * @rewritten: where another thread rewrites the call: normally @slot
 * @file: the file that it calls
 * @open: the call under way if it may be rewritten, else NULL
 * @rewriting: set while the other thread reads @open and rewrites the call
 */
struct hand {
	int				number, rounds;
	uint8_t				*slot, *rewritten;
	int				file;
	const struct hostile_call	*open;
	bool				rewriting;
};

/*
 * The results of the calls.  Shared with the parent process, which checks them.
 */
struct tally {
	uint32_t	answers[KINDS + 1][134];
	uint32_t	nwrong;
	struct {
		char		name[32];
		int		err;
		uint64_t	seed;
	}		wrong[WRONG_MAX];
};

static struct {
	uint64_t	seed;
	uint8_t		*heap;		/* always there */
	uint8_t		*shaky;		/* comes and goes */
	/* a memfd as large as @shaky, truncated while it is mapped */
	int		cut;
	uint8_t		*shut_file;	/* a file's pages, to be read */
	uint8_t		*shut;		/* pages to be read */
	uint8_t		*hole;		/* nothing */
	struct hand	hands[HANDS];
	int		fds[FILES];
	struct {
		uint32_t	id;
		int		kind;
	}		sessions[FILES][ABIS][SESSIONS];
	struct tally	*tally;
	pthread_barrier_t ready;
	bool		stop;
} world;

static __thread struct hand *me;

struct iovec regions[2];

/* ---- arguments of valid calls ---- */

uint32_t a_session(int abi, int *kind)
{
	int i = below(SESSIONS), tries;

	for (tries = 0; tries < 4; tries++, i = below(SESSIONS))
		if (world.sessions[me->file][abi][i].id)
			break;
	*kind = world.sessions[me->file][abi][i].kind;
	return world.sessions[me->file][abi][i].id;
}

uint32_t new_session(int abi, uint32_t id, int kind)
{
	int i = below(SESSIONS);
	uint32_t old = world.sessions[me->file][abi][i].id;

	world.sessions[me->file][abi][i].id = id;
	world.sessions[me->file][abi][i].kind = kind;
	return old;
}

void gone_session(int abi, uint32_t id)
{
	int i;

	/* sometimes keep the closed session, so that a later call uses it */
	for (i = 0; i < SESSIONS && !one_in(8 * SESSIONS); i++)
		if (world.sessions[me->file][abi][i].id == id)
			world.sessions[me->file][abi][i].id = 0;
}

void *a_buffer(void)
{
	return world.heap + below(HEAP - A_BUFFER - 1024);
}

void rewritten_at(void *arg)
{
	__atomic_store_n(&me->rewritten, arg, __ATOMIC_RELEASE);
}

void new_descriptor(int fd)
{
	/* another thread may have rewritten the number */
	if (fd >= LOST && fd < KEPT)
		close(fd);
}

/* ---- bad arguments ---- */

static const void *bad_pointer(void)
{
	const uintptr_t top = (uintptr_t)1 << (8 * sizeof(long) - 1);
	const void *list[] = {
		NULL, (void *)1, (void *)8, world.hole,
		world.heap + HEAP - below(64), world.heap - below(64),
		world.shaky + below(SHAKY), world.shaky + below(SHAKY),
		world.shaky + below(SHAKY / PAGE) * PAGE,
		world.shaky + SHAKY - below(64), world.shaky - below(64),
		world.shut_file + below(SHUT), world.shut_file,
		world.shut_file + SHUT - below(64),
		world.shut + below(SHUT), world.shut,
		world.shut + SHUT - below(64), world.shut - below(64),
		(void *)-1, (void *)-16, (void *)-4096,
#ifdef __x86_64__
		/* the kernel's: its direct map, its text, and vsyscalls */
		(void *)0xffff888000000000, (void *)0xffffffff81000000,
		(void *)0xffffffffff600000, (void *)0x7ffffffff000,
		(void *)0x7fffffffeff8, (void *)0x800000000000,
		(void *)(top | below(UINT32_MAX)), (void *)top,
#endif
	};

	(void)top;
	return list[below(COUNT(list))];
}

static uint64_t bad_number(void)
{
	switch (below(6)) {
	case 0:
		return below(4);
	case 1:
		return below(300);
	case 2:
		return 1ull << below(33);
	case 3:
		return -1 - (uint64_t)below(20);
	case 4:
		return below(8) - 4;
	default:
		return chance();
	}
}

static uint64_t bad_length(void)
{
	static const uint32_t list[] = { 0, 1, 7, 8, 15, 16, 17, 31, 63, 64,
		512, 513, 1536, 1537, 4095, 4096, 4097, 65535, 65536, 262140,
		262141, 1 << 24, (1 << 24) + 1, (1 << 24) + 16, 1 << 26,
		0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff };

	return one_in(3) ? log_uniform(UINT32_MAX >> 1) :
	       one_in(4) ? bad_number() : list[below(COUNT(list))];
}

/*
 * Returns the id of a session of another file or ABI, of a closed session, or
 * of none
 */
static uint32_t bad_session(void)
{
	int i = below(SESSIONS), kind;
	uint32_t id = world.sessions[below(FILES)][below(ABIS)][i].id;

	if (one_in(2))
		id = a_session(below(ABIS), &kind);

	switch (below(5)) {
	case 0:
		return id + 1;
	case 1:
		return id ^ 1u << below(32);
	case 2:
		return bad_number();
	default:
		return id;
	}
}

static void spoil(uint8_t *arg, const struct field *f)
{
	uint64_t v = f->kind == POINTER ? (uintptr_t)bad_pointer() :
		     f->kind == SESSION ? bad_session() :
		     f->kind == LENGTH ? bad_length() : bad_number();

	/* x86: the lowest byte first */
	memcpy(arg + f->at, &v, f->size);
}

/* Spoils a random field of @c, if it lies within the @room bytes at @arg */
static void spoil_any(uint8_t *arg, const struct hostile_call *c, size_t room)
{
	const struct field *f;
	int n = 0;

	while (c->fields[n].size)
		n++;
	f = &c->fields[below(n)];
	if (f->at + f->size <= room)
		spoil(arg, f);
}

/* ---- a hand ---- */

static bool documented(const int *errs, int err)
{
	/* the file was closed meanwhile */
	if (!err || err == EBADF)
		return true;
	while (*errs && *errs != err)
		errs++;
	return *errs;
}

static void count(int kind, const char *name, int err, bool right,
		  uint64_t seed)
{
	struct tally *t = world.tally;
	uint32_t n;

	__atomic_fetch_add(&t->answers[kind][err < 134 ? err : 133], 1,
			   __ATOMIC_RELAXED);
	if (right)
		return;
	n = __atomic_fetch_add(&t->nwrong, 1, __ATOMIC_RELAXED);
	if (n >= WRONG_MAX)
		return;
	snprintf(t->wrong[n].name, sizeof(t->wrong[n].name), "%s", name);
	t->wrong[n].err = err;
	t->wrong[n].seed = seed;
}

/* Returns call @i of all ABIs, or NULL after the last one */
static const struct hostile_call *call_at(int i)
{
	static const struct {
		const struct hostile_call	*calls;
		const int			*n;
	} abis[] = {
		{ hostile_linux, &nhostile_linux },
		{ hostile_bsd, &nhostile_bsd },
		{ hostile_native, &nhostile_native },
#ifdef __LP64__
		{ hostile_uring, &nhostile_uring },
#endif
	};
	int abi;

	for (abi = 0; abi < COUNT(abis); i -= *abis[abi++].n)
		if (i < *abis[abi].n)
			return &abis[abi].calls[i];
	return NULL;
}

static bool exists(unsigned long number)
{
	int i;

	for (i = 0; call_at(i); i++)
		if (call_at(i)->number == number)
			return true;
	return false;
}

/* Numbers near those that exist: other sizes, other directions */
static void odd_call(uint64_t seed)
{
	unsigned long cmd;
	int err;

	do
		cmd = _IOC(below(4), one_in(8) ? below(256) : 'c',
			   one_in(8) ? below(256) :
			   one_in(2) ? 95 + below(20) : 172 + below(20),
			   one_in(8) ? below(16384) : 4 * below(80));
	while (exists(cmd) || _IOC_TYPE(cmd) == 'T' || _IOC_TYPE(cmd) == 'f' ||
	       _IOC_TYPE(cmd) == 'X' || !_IOC_TYPE(cmd));
	err = call(world.fds[me->file], cmd, one_in(2) ? me->slot :
							 bad_pointer());
	count(ODD, "a call that is none", err, err == ENOTTY || err == EBADF,
	      seed);
}

static int open_file(int i)
{
	int fd = open_dev();

	if (fd < 0)
		return fd;
	dup2(fd, KEPT + i);
	close(fd);
	return KEPT + i;
}

/* Closes a file and opens it again.  Another thread may be in a call on it. */
static void reopen(void)
{
	int i = me->file;

	close(world.fds[i]);
	memset(world.sessions[i], 0, sizeof(world.sessions[i]));
	world.fds[i] = open_file(i);
}

static int pick_call(void)
{
	int i, all = 0, at;

	for (i = 0; call_at(i); i++)
		all += call_at(i)->weight;
	at = below(all);
	for (i = 0; at >= (int)call_at(i)->weight; i++)
		at -= call_at(i)->weight;
	return i;
}

static void one_call(uint64_t seed)
{
	int which, spoilt;
	const struct hostile_call *c;
	const void *arg = me->slot;
	bool raced;
	int err, i, res;

	chance_from(seed);
	me->file = below(FILES);
	if (one_in(32)) {
		odd_call(seed);
		return;
	}
	if (one_in(1500))
		reopen();
	which = pick_call();
	c = call_at(which);
	memset(me->slot, 0, c->size);
	c->valid(me->slot);
	for (spoilt = one_in(2) ? 0 : 1 + below(2); spoilt; spoilt--)
		spoil_any(me->slot, c, PAGE);
	if (one_in(24) && !c->make)
		arg = bad_pointer();
	raced = one_in(3);
	rewritten_at(me->slot);
	__atomic_store_n(&me->open, raced ? c : NULL, __ATOMIC_RELEASE);
	err = c->make ? c->make(world.fds[me->file], me->slot) :
			call(world.fds[me->file], c->number, arg);
	__atomic_store_n(&me->open, NULL, __ATOMIC_SEQ_CST);
	/*
	 * wait for the rewriting thread: the results are read next, and then
	 * the slot is reused
	 */
	while (__atomic_load_n(&me->rewriting, __ATOMIC_SEQ_CST))
		sched_yield();
	count(which, c->name, err, documented(c->errs, err), seed);
	if (err || arg != me->slot)
		goto lost;
	if (c->made)
		c->made(world.fds[me->file], me->slot);
	for (i = 0; c->result && (res = c->result(me->slot, i)) >= 0; i++)
		count(which, c->name, res, documented(c->results, res), seed);
lost:
	/* close descriptors and sessions whose numbers were lost */
	if (err == EMFILE || err == EDQUOT) {
		close_range(LOST, KEPT - 1, 0);
		reopen();
	}
}

static void *hand_main(void *arg)
{
	int i;

	me = arg;
#ifdef __LP64__
	hostile_open_ring();
#endif
	/*
	 * map the ring before shake() unmaps pages, or it could be mapped into
	 * such a hole
	 */
	pthread_barrier_wait(&world.ready);
	for (i = 0; i < me->rounds; i++)
		one_call(world.seed + (uint64_t)i * HANDS + me->number);
	return NULL;
}

/* ---- the thread that rewrites calls and remaps memory ---- */

static void rewrite(void)
{
	struct hand *h = &world.hands[below(HANDS)];
	const struct hostile_call *c;
	uint8_t *at;

	__atomic_store_n(&h->rewriting, true, __ATOMIC_SEQ_CST);
	c = __atomic_load_n(&h->open, __ATOMIC_SEQ_CST);
	at = __atomic_load_n(&h->rewritten, __ATOMIC_ACQUIRE);
	if (c)
		spoil_any(at, c, at == h->slot ? PAGE : REWRITTEN);
	__atomic_store_n(&h->rewriting, false, __ATOMIC_RELEASE);
	fill_by_chance(world.heap + below(HEAP - 64), 64);
}

static void shake(void)
{
	static const int prots[] = { PROT_NONE, PROT_READ,
				     PROT_READ | PROT_WRITE };
	uint32_t first = below(SHAKY / PAGE);
	size_t len = (1 + log_uniform(SHAKY / PAGE - first - 1)) * PAGE;
	uint8_t *at = world.shaky + first * PAGE;

	switch (below(6)) {
	case 0:
		munmap(at, len);
		break;
	case 3:
		mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		     world.cut, first * PAGE);
		break;
	case 4:
		if (one_in(3))
			fallocate(world.cut, FALLOC_FL_PUNCH_HOLE |
				  FALLOC_FL_KEEP_SIZE, first * PAGE, len);
		else if (ftruncate(world.cut, one_in(2) ? SHAKY :
							 below(SHAKY)))
			abort();
		break;
	case 1:
		madvise(at, len, MADV_DONTNEED);
		break;
	case 2:
		mprotect(at, len, prots[below(COUNT(prots))]);
		break;
	default:
		mmap(at, len, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	}
}

static void *in_the_way(void *arg)
{
	me = &world.hands[0];
	while (!__atomic_load_n(&world.stop, __ATOMIC_RELAXED)) {
		rewrite();
		if (one_in(4))
			shake();
		if (one_in(16))
			sched_yield();
	}
	return NULL;
}

/* ---- the world ---- */

static uint8_t *map_at(uint8_t *at, size_t len, int prot, int flags, int fd)
{
	uint8_t *p = mmap(at, len, prot, flags | MAP_FIXED, fd, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static void lay_out(int file)
{
	const int anon = MAP_PRIVATE | MAP_ANONYMOUS;
	uint8_t *base = mmap(NULL, 7 * APART, PROT_NONE, anon, -1, 0);
	int i, rw = PROT_READ | PROT_WRITE;

	if (base == MAP_FAILED)
		abort();
	world.hole = base + APART / 2;
	world.heap = map_at(base + APART, HEAP, rw, anon, -1);
	world.shaky = map_at(base + 2 * APART, SHAKY, rw, anon, -1);
	world.cut = memfd_create("cut", MFD_CLOEXEC);
	if (world.cut < 0 || ftruncate(world.cut, SHAKY))
		abort();
	world.shut = map_at(base + 3 * APART, SHUT, rw, anon, -1);
	memset(world.shut, SHUT_BYTE, SHUT);
	if (mprotect(world.shut, SHUT, PROT_READ))
		abort();
	world.shut_file = map_at(base + 4 * APART, SHUT, PROT_READ, MAP_SHARED,
				 file);
	regions[0] = (struct iovec){ world.heap, HEAP };
	regions[1] = (struct iovec){ world.shaky, SHAKY };
	for (i = 0; i < HANDS; i++)
		world.hands[i].slot = map_at(base + 5 * APART + i * 4 * PAGE,
					     PAGE, rw, anon, -1);
}

/*
 * Runs as the hostile user.  Returns 0 if nothing was written to the read-only
 * pages.
 */
static int attack(int rounds)
{
	pthread_t hands[HANDS], other;
	int i;

	become(SOMEBODY);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 256, 256 });
	for (i = 0; i < FILES; i++)
		world.fds[i] = open_file(i);
	pthread_barrier_init(&world.ready, NULL, HANDS + 1);
	for (i = 0; i < HANDS; i++) {
		world.hands[i].number = i;
		world.hands[i].rounds = rounds / HANDS;
		pthread_create(&hands[i], NULL, hand_main, &world.hands[i]);
	}
	chance_from(world.seed);
	pthread_barrier_wait(&world.ready);
	pthread_create(&other, NULL, in_the_way, NULL);
	for (i = 0; i < HANDS; i++)
		pthread_join(hands[i], NULL);
	__atomic_store_n(&world.stop, true, __ATOMIC_RELAXED);
	pthread_join(other, NULL);
	return !all_are(world.shut, SHUT_BYTE, SHUT);
}

FIXTURE(hostile)
{
	struct census before;
	char path[32];
	int file, keeper;
};

FIXTURE_SETUP(hostile)
{
	uint8_t bytes[SHUT];

	world.seed = seed_given();
	memset(bytes, SHUT_BYTE, sizeof(bytes));
	strcpy(self->path, "/tmp/ocf-hostile-XXXXXX");
	self->file = mkstemp(self->path);
	ASSERT_LE(0, self->file);
	ASSERT_EQ(SHUT, write(self->file, bytes, SHUT));
	world.tally = mmap(NULL, sizeof(*world.tally), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(world.tally != MAP_FAILED);
	ASSERT_EQ(0, put_line(SIM "add", CARD));
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, set_cdev("max_sessions", "200"));
	ASSERT_EQ(0, set_cdev("max_bytes", "33554432"));
	self->keeper = open_as(SOMEBODY);
	ASSERT_LE(0, self->keeper);
	lay_out(self->file);
	self->before = census_begin();
}

FIXTURE_TEARDOWN(hostile)
{
	close(self->keeper);
	unlink(self->path);
	set_cdev("max_sessions", "4096");
	set_cdev("max_bytes", "134217728");
	chmod(DEVICE, 0660);
	EXPECT_EQ(0, put_line(SIM "remove", "sim0"));
}

static void show_tally(const struct tally *t)
{
	int kind, err;

	for (kind = 0; kind <= KINDS; kind++) {
		if (kind != ODD && !call_at(kind))
			continue;
		printf("# %-20s", kind == ODD ? "none" : call_at(kind)->name);
		for (err = 0; err < 134; err++)
			if (t->answers[kind][err])
				printf(" %s %u", err ? strerrorname_np(err) :
						       "ok",
				       t->answers[kind][err]);
		printf("\n");
	}
	for (kind = 0; kind < t->nwrong && kind < WRONG_MAX; kind++)
		printf("# %s answered %s: OCF_SEED=%llu\n", t->wrong[kind].name,
		       strerrorname_np(t->wrong[kind].err),
		       (unsigned long long)t->wrong[kind].seed);
}

/*
 * Everything charged to the user was given back: it can use exactly its whole
 * limit again.
 */
static int check_account(int keeper)
{
	static uint8_t buf[100001];
	uint32_t ses, other;
	int n = 0;

	become(SOMEBODY);
	while (!open_session(keeper, CRYPTO_NULL, 0, 0, 0, &ses)) {
		other = ses;
		n++;
	}
	if (n != 20)
		return 1;
	if (crypt_op(keeper, other, COP_ENCRYPT, COP_FLAG_NO_ZC, buf, buf,
		     100000, NULL, NULL))
		return 2;
	return crypt_op(keeper, other, COP_ENCRYPT, COP_FLAG_NO_ZC, buf, buf,
			100001, NULL, NULL) == EDQUOT ? 0 : 3;
}

/* 0, or what a child process ended with */
static int child_ended(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

TEST_F_TIMEOUT(hostile, everything_meant_ill, TIMEOUT)
{
	uint8_t bytes[SHUT], out[16];
	struct tally *t = world.tally;
	int i, fd, rounds = rounds_given(100000);
	uint32_t ses;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(attack(rounds));
	EXPECT_EQ(0, child_ended(pid));
	show_tally(t);
	EXPECT_EQ(0, t->nwrong);
	/*
	 * each call must have succeeded at least once, or it was not really
	 * tested
	 */
	for (i = 0; rounds > 20000 && call_at(i); i++) {
		EXPECT_TRUE(call_at(i)->never || t->answers[i][0])
			TH_LOG("%s", call_at(i)->name);
	}
	EXPECT_EQ(SHUT, pread(self->file, bytes, SHUT, 0));
	EXPECT_TRUE(all_are(bytes, SHUT_BYTE, SHUT));
	EXPECT_TRUE(census_is(&self->before));

	ASSERT_EQ(0, set_cdev("max_sessions", "20"));
	ASSERT_EQ(0, set_cdev("max_bytes", "100000"));
	pid = fork();
	if (!pid)
		_exit(check_account(self->keeper));
	EXPECT_EQ(0, child_ended(pid));

	fd = open_dev();
	EXPECT_EQ(0, open_session(fd, CRYPTO_AES_CBC, 16, 0, 0, &ses));
	EXPECT_EQ(0, crypt_op(fd, ses, COP_ENCRYPT, 0, key_bytes, out, 16,
			      key_bytes, NULL));
	close(fd);
}

TEST_HARNESS_MAIN
