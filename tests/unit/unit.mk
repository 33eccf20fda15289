# SPDX-License-Identifier: BSD-2-Clause
#
# Unit tests: the core's pure files in user space, each under the address and
# undefined-behaviour sanitizers and under the thread sanitizer; test_mte under
# valgrind too, which follows what is secret.

UNITS := alg params route learn pace health mte nonce kat docs framing

UNIT_alg := kernel/core/alg.c tools/lib/ids_linux.c tools/lib/ids_bsd.c
UNIT_params := kernel/core/params.c kernel/core/alg.c
UNIT_route := kernel/core/route.c
UNIT_learn := kernel/core/route.c
UNIT_pace := kernel/core/pace.c kernel/core/route.c
UNIT_health := kernel/core/health.c
UNIT_mte := kernel/core/mte.c
UNIT_framing := kernel/consumers/socrypt/framing.c
UNIT_nonce :=
UNIT_kat := kernel/core/params.c kernel/core/alg.c
UNIT_docs := kernel/core/params.c kernel/core/alg.c

UNIT_CFLAGS := -std=gnu11 -g -O1 $(TEST_WARN) -Itests/unit/include \
	       -Iinclude -Iinclude/uapi $(HARNESS)
UNIT_LIBS := -lcrypto -lz -lm -lpthread
UNIT_DEPS := $(wildcard tests/unit/*.h tests/unit/include/*.h) \
	     $(wildcard tests/unit/include/*/*.h tools/lib/*) \
	     $(wildcard kernel/core/*.h kernel/drivers/soft/nonce.c kernel/consumers/socrypt/framing.h include/linux/*.h include/uapi/*/*.h) \
	     docs/algorithms.md

ASAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined
TSAN := -fsanitize=thread

define unit_build
$(B)/unit/$(1)-$(2): tests/unit/test_$(1).c $$(UNIT_$(1)) $$(UNIT_DEPS) \
		     $(B)/linux-tools/version
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(UNIT_CFLAGS) $(3) -o $$@ tests/unit/test_$(1).c \
		$$(UNIT_$(1)) tools/lib/oracle.c $$(UNIT_LIBS)
endef

$(foreach u,$(UNITS),$(eval $(call unit_build,$(u),asan,$(ASAN))))
$(foreach u,$(UNITS),$(eval $(call unit_build,$(u),tsan,$(TSAN))))
$(eval $(call unit_build,mte,valgrind,-O2))

UNIT_RUNS := $(UNITS:%=$(B)/unit/%-asan) $(UNITS:%=$(B)/unit/%-tsan) \
	     $(B)/unit/mte-valgrind

unit: $(UNIT_RUNS)
	@scripts/unit $(UNIT_RUNS)
	@$(PYTHON) -m pytest -q -p no:cacheprovider tests/vm/test_pure.py
