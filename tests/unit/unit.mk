# SPDX-License-Identifier: BSD-2-Clause
#
# Unit tests: the core's pure files in user space, each under the address and
# undefined-behaviour sanitizers and under the thread sanitizer; test_mte under
# valgrind too, which follows what is secret.

UNITS := alg params route learn pace health mte nonce kat docs framing

UNIT_alg := kernel/core/session/alg.c tools/lib/ids_linux.c tools/lib/ids_bsd.c
UNIT_params := kernel/core/session/params.c kernel/core/session/alg.c
UNIT_route := kernel/core/sched/cost.c
UNIT_learn := kernel/core/sched/cost.c
UNIT_pace := kernel/core/sched/pace.c kernel/core/sched/cost.c
UNIT_health := kernel/core/random/health.c
UNIT_mte := kernel/core/request/mte.c
UNIT_framing := kernel/consumers/socrypt/framing.c
UNIT_nonce :=
UNIT_kat := tests/unit/sm4.c kernel/core/session/params.c kernel/core/session/alg.c
UNIT_docs := kernel/core/session/params.c kernel/core/session/alg.c

UNIT_CFLAGS := -std=gnu11 -g -O1 $(TEST_WARN) -Itests/unit/include \
	       -Iinclude -Iinclude/uapi $(HARNESS)
UNIT_LIBS := -lcrypto -lz -lm -lpthread

UNIT_asan := -fsanitize=address,undefined -fno-sanitize-recover=undefined
UNIT_tsan := -fsanitize=thread
UNIT_valgrind := -O2

define unit_objects
$(B)/unit/$(1)/%.o: %.c | $(B)/linux-tools/version
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(UNIT_CFLAGS) $$(UNIT_$(1)) -MMD -MP -c -o $$@ $$<
endef

define unit_program
$(B)/unit/$(1)-$(2): $(patsubst %.c,$(B)/unit/$(2)/%.o,\
		tests/unit/test_$(1).c $(UNIT_$(1)) tools/lib/oracle.c)
	$$(Q)$$(CC) $$(UNIT_$(2)) -o $$@ $$^ $$(UNIT_LIBS)
endef

$(foreach k,asan tsan valgrind,$(eval $(call unit_objects,$(k))))
$(foreach k,asan tsan,$(foreach u,$(UNITS),\
	$(eval $(call unit_program,$(u),$(k)))))
$(eval $(call unit_program,mte,valgrind))
-include $(shell find $(B)/unit -name '*.d' 2>/dev/null)

UNIT_RUNS := $(UNITS:%=$(B)/unit/%-asan) $(UNITS:%=$(B)/unit/%-tsan) \
	     $(B)/unit/mte-valgrind

.PHONY: unit unit-built unit-run
unit-built: $(UNIT_RUNS)

unit-run:
	@scripts/unit $(UNIT_RUNS)

unit: unit-built unit-run
