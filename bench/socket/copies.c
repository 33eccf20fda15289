// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the kernel does for a program that sends a file: copies from and to the
 * process's memory, system calls, and switches to other tasks.
 *
 *	bench/socket/copies [MIB]	make bench-socket
 *
 * In the test machine, under --icount, with bench_copies.ko.  The paper on
 * SO_CRYPT says that sending a file of p bytes with a buffer of n bytes takes
 * 4p/n copies.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "way.h"

#define COUNT	"/sys/kernel/debug/bench_copies"

struct counts {
	long	copies, bytes, calls, switches;
};

static long switches(void)
{
	struct rusage r;

	if (getrusage(RUSAGE_SELF, &r))
		err(1, "getrusage");
	return r.ru_nvcsw + r.ru_nivcsw;
}

static void begin(struct counts *c)
{
	FILE *f = fopen(COUNT, "w");

	if (!f || fprintf(f, "%d", getpid()) < 0 || fclose(f))
		err(1, COUNT);
	*c = (struct counts){ .switches = -switches() };
}

static void end(struct counts *c)
{
	char name[16];
	long calls, bytes;
	FILE *f;

	c->switches += switches();
	f = fopen(COUNT, "r");
	if (!f)
		err(1, COUNT);
	while (fscanf(f, "%15s %ld %ld", name, &calls, &bytes) == 3) {
		if (!strcmp(name, "copy")) {
			c->copies = calls;
			c->bytes = bytes;
		} else if (strcmp(name, "iter")) {
			c->calls += calls;
		}
	}
	fclose(f);
}

static void measure(const struct way *w, int file, size_t size)
{
	struct link l = { .suite = &suite_gcm, .file = file, .size = size };
	pid_t pid = link_open(&l, w);
	struct counts c;
	char buffer[32] = "";

	begin(&c);
	w->send(&l, w->buffer);
	shutdown(l.to, SHUT_WR);
	end(&c);
	link_wait(pid);
	if (w->end)
		w->end(&l);
	close(l.to);
	if (w->buffer)
		snprintf(buffer, sizeof(buffer), "%zu KiB", w->buffer >> 10);
	printf("  %-31s %7s %7ld %7.2f %7ld %8ld\n", w->name, buffer,
	       c.copies, (double)c.bytes / size, c.calls, c.switches);
}

int main(int argc, char **argv)
{
	size_t mib = argc > 1 ? atoi(argv[1]) : 10;
	int file, i;

	link_prepare();
	file = link_file(mib);
	printf("%s, %zu MiB, by the CPU\n%48s %7s %7s %7s\n", suite_gcm.name,
	       mib, "copies", "bytes", "calls", "switches");
	for (i = 0; i < WAYS; i++)
		measure(&ways[i], file, mib << 20);
	return 0;
}
