# SPDX-License-Identifier: BSD-2-Clause
#
# The long runs: `make soak`, or shorter with CYCLES=50 SOAK_S=60.
#
#	soak-unplug	two cards of QEMU's, pulled out and plugged in (30 min)
#	soak-kills	three cards that are processes, killed, stopped and
#			faulty (15 min)
#	soak-faults	four cards in software, each fault (12 min)

SOAK_SOURCES := $(wildcard tests/soak/*.c)

$(B)/soak/soak_work: $(SOAK_SOURCES) tests/soak/work.h $(SELF_DEPS) \
		     tools/lib/ids_linux.c $(B)/linux-tools/version
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_CFLAGS) -D_GNU_SOURCE -o $@ $(SOAK_SOURCES) \
		tools/lib/ids_linux.c tools/lib/oracle.c -luring -lcrypto \
		-lpthread

SOAK_S ?= 600

.PHONY: soak soak-unplug soak-kills soak-faults
soak: soak-unplug soak-kills soak-faults

soak-unplug: modules machine $(B)/soak/soak_work $(B)/card/card
	@tests/soak/unplug --cycles $(or $(CYCLES),1000)

soak-kills: modules machine $(B)/soak/soak_work $(B)/card/card
	@tests/soak/kills --cycles $(or $(CYCLES),200)

soak-faults: debug-modules machine $(B)/soak/soak_work
	@$(VM) --debug --timeout $$(($(SOAK_S) + 900)) \
		--append "panic_on_warn=1" -- tests/soak/faults $(SOAK_S)
