// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cards are plugged in, pulled out and fall silent while they work: all
 * requests end, on another card, with the right result.
 */
#include <kselftest_harness.h>
#include <limits.h>

#include "../selftests/modules.h"
#include "../selftests/random.h"
#include "card.h"
#include "load.h"

#define TIMEOUT		1800	/* s: the debug kernel is slow */
#define SOON		300000	/* ms to come back */
#define DRIVER		"/sys/bus/virtio/drivers/ocf_virtio/"
#define PCI_COMMAND	4	/* in the configuration space; PCI 3.0, 6.2.2 */
#define BUS_MASTER	4	/* bit of PCI_COMMAND: the card may do DMA */

FIXTURE(life)
{
	struct load load;
	char pci[PATH_MAX];	/* of virtio0, in sysfs */
	char name[64];		/* on the virtio bus */
};

FIXTURE_SETUP(life)
{
	char path[PATH_MAX];

	chance_from(seed_given());
	/* a test that failed may have left devices drained */
	ASSERT_EQ(0, others("", "resume"));
	ASSERT_TRUE(card_becomes("virtio0", "ready", SOON));
	ASSERT_TRUE(card_becomes("virtio1", "ready", SOON));
	ASSERT_NE(NULL, realpath(card_path("virtio0", "device"), path));
	snprintf(self->name, sizeof(self->name), "%.63s", base_of(path));
	*strrchr(path, '/') = 0;
	snprintf(self->pci, sizeof(self->pci), "%s", path);
	load_begin(&self->load);
}

/* Some operations were done, and none has failed. */
FIXTURE_TEARDOWN(life)
{
	EXPECT_TRUE(load_has_done(&self->load));
	load_end(&self->load);
	EXPECT_EQ(0, self->load.wrong);
	EXPECT_EQ(0, self->load.gone);
	EXPECT_TRUE(card_becomes("virtio0", "ready", 60000));
	EXPECT_TRUE(card_becomes("virtio1", "ready", 60000));
}

typedef struct _test_data_life Self;

static int pci_write(const Self *self, const char *file, const char *text)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s", self->pci, file);
	return put_line(path, text);
}

/* Waits until virtio0 has done more operations.  Returns whether it has. */
static bool at_work(void)
{
	long long before = card_count("virtio0", "operations");
	int i;

	for (i = 0; i < SOON / 10; i++) {
		if (card_count("virtio0", "operations") > before)
			return true;
		usleep(10000);
	}
	return false;
}

/* So often that QEMU's 256 sessions would be used up if any were left behind */
TEST_F_TIMEOUT(life, taken_from_its_driver, TIMEOUT)
{
	int i, n = rounds_given(20);

	for (i = 0; i < n; i++) {
		ASSERT_TRUE(at_work());
		usleep(below(20000));
		ASSERT_EQ(0, put_line(DRIVER "unbind", self->name));
		ASSERT_EQ(-1, access(card_path("virtio0", "state"), F_OK));
		usleep(below(20000));
		ASSERT_EQ(0, put_line(DRIVER "bind", self->name));
		ASSERT_TRUE(card_becomes("virtio0", "ready", 60000));
	}
}

TEST_F_TIMEOUT(life, taken_off_the_bus, TIMEOUT)
{
	int i, n = rounds_given(5);

	for (i = 0; i < n; i++) {
		ASSERT_TRUE(at_work());
		usleep(below(20000));
		ASSERT_EQ(0, pci_write(self, "remove", "1"));
		ASSERT_EQ(-1, access(card_path("virtio0", "state"), F_OK));
		ASSERT_EQ(0, put_line("/sys/bus/pci/rescan", "1"));
		ASSERT_TRUE(card_becomes("virtio0", "ready", SOON));
	}
}

/* If it may not use the memory, QEMU's card falls silent. */
static void let_use_memory(const Self *self, bool let)
{
	char path[PATH_MAX + 16];
	uint16_t command = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/config", self->pci);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (pread(fd, &command, 2, PCI_COMMAND) != 2)
		abort();
	command = let ? command | BUS_MASTER : command & ~BUS_MASTER;
	if (pwrite(fd, &command, 2, PCI_COMMAND) != 2)
		abort();
	close(fd);
}

TEST_F_TIMEOUT(life, falls_silent_and_is_reset, TIMEOUT)
{
	int i, n = rounds_given(2);

	for (i = 0; i < n; i++) {
		ASSERT_TRUE(at_work());
		let_use_memory(self, false);
		ASSERT_TRUE(card_becomes("virtio0", "suspect", SOON));
		let_use_memory(self, true);
		ASSERT_TRUE(card_becomes("virtio0", "ready", SOON));
		ASSERT_TRUE(at_work());
	}
}

/* A silent card is pulled out: that takes some seconds and no more. */
TEST_F_TIMEOUT(life, falls_silent_and_goes, TIMEOUT)
{
	double begun;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(at_work());
		let_use_memory(self, false);
		usleep(i ? 3000000 : 100000);
		begun = now();
		ASSERT_EQ(0, put_line(DRIVER "unbind", self->name));
		EXPECT_GT(120, now() - begun);
		let_use_memory(self, true);
		ASSERT_EQ(0, put_line(DRIVER "bind", self->name));
		ASSERT_TRUE(card_becomes("virtio0", "ready", 60000));
	}
}

/* ---- no card is left ---- */

FIXTURE(module)
{
	struct modules modules;
	struct load load;
};

FIXTURE_SETUP(module)
{
	chance_from(seed_given());
	ASSERT_TRUE(modules_find(&self->modules));
	load_begin(&self->load);
}

FIXTURE_TEARDOWN(module)
{
	EXPECT_TRUE(load_has_done(&self->load));
	load_end(&self->load);
	EXPECT_EQ(0, self->load.wrong);
}

TEST_F_TIMEOUT(module, unloaded_with_its_cards, TIMEOUT)
{
	int i, n = rounds_given(6);

	for (i = 0; i < n; i++) {
		usleep(below(100000));
		ASSERT_EQ(0, module_unload("ocf_virtio"));
		EXPECT_EQ(-1, access(card_path("virtio0", "state"), F_OK));
		usleep(below(2000));
		ASSERT_EQ(0, module_load(&self->modules, "ocf_virtio",
					 i % 2 ? "patience=5000 depth=3" :
						 "patience=5000"));
		ASSERT_TRUE(card_becomes("virtio0", "ready", 60000));
		ASSERT_TRUE(card_becomes("virtio1", "ready", 60000));
	}
	ASSERT_EQ(0, module_unload("ocf_virtio"));
	ASSERT_EQ(0, module_load(&self->modules, "ocf_virtio",
				 "patience=5000"));
}

TEST(refuses_parameters_that_make_no_sense)
{
	static const char * const args[] = {
		"depth=0", "depth=1025", "buffer=0", "buffer=2048",
		"buffer=65535", "buffer=8388608", "patience=99",
		"patience=60001",
	};
	struct modules modules;
	int i;

	ASSERT_TRUE(modules_find(&modules));
	ASSERT_EQ(0, module_unload("ocf_virtio"));
	for (i = 0; i < COUNT(args); i++)
		EXPECT_EQ(EINVAL, module_load(&modules, "ocf_virtio", args[i]));
	ASSERT_EQ(0, module_load(&modules, "ocf_virtio", "patience=5000"));
}

TEST_HARNESS_MAIN
