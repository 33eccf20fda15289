// SPDX-License-Identifier: BSD-2-Clause
/*
 * The machine's side of test_hotplug.py: gives work to cards, and prints their
 * number when it changes.  Ends after a card has come back TIMES times.
 *
 *	virtio_plug TIMES
 */
#include "card.h"
#include "load.h"

#define CARDS	2

static int cards_ready(void)
{
	char name[16];
	int i, n = 0;

	for (i = 0; i < CARDS; i++) {
		snprintf(name, sizeof(name), "virtio%d", i);
		n += card_is(name, "ready");
	}
	return n;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, was = 0, is;
	struct load load;

	load_begin(&load);
	while (!load.wrong) {
		is = cards_ready();
		if (is != was) {
			printf("cards %d\n", is);
			fflush(stdout);
			if (is == CARDS && !times--)
				break;
			was = is;
		}
		usleep(2000);
	}
	load_end(&load);
	printf("%ld right, %ld without a card, error %d\n", load.done,
	       load.gone, load.wrong);
	return load.wrong || load.gone || !load.done;
}
