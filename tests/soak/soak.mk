# SPDX-License-Identifier: BSD-2-Clause
#
# What works in the machine while cards come and go.

SOAK_SOURCES := $(filter-out tests/soak/sweep.c,$(wildcard tests/soak/*.c))

$(B)/soak/soak_work: $(SOAK_SOURCES) tests/soak/work.h $(SELF_DEPS) \
		     tools/lib/ids_linux.c $(B)/linux-tools/version
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_CFLAGS) -D_GNU_SOURCE -o $@ $(SOAK_SOURCES) \
		tools/lib/ids_linux.c tools/lib/oracle.c -luring -lcrypto \
		-lpthread

$(B)/soak/sweep: tests/soak/sweep.c $(SELF_DEPS) $(B)/linux-tools/version
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_CFLAGS) -o $@ $< -luring -lpthread
