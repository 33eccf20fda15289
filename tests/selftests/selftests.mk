# SPDX-License-Identifier: BSD-2-Clause
#
# Selftests of /dev/crypto: programs for the test machine, one per behaviour.
# Those named after an ABI exist twice, the second time as 32-bit programs.

SELF_linux := session crypt auth async
SELF_bsd := session crypt
SELFTESTS := $(SELF_linux:%=linux_%) $(SELF_bsd:%=bsd_%)

# These fail allocations, which only the debug kernel can.
SELF_FAILING := $(B)/selftests/linux_fail $(B)/selftests/bsd_fail

SELF_CFLAGS := -std=gnu11 -g -O1 $(TEST_WARN) -Iinclude/uapi $(HARNESS)
SELF_DEPS := $(wildcard tests/selftests/*.h tests/lib/*.[ch]) \
	     $(wildcard include/uapi/*/*.h) tests/unit/ids.h

define self_build
$(B)/selftests/$(1)_$(2): tests/selftests/$(1)_$(2).c $$(SELF_DEPS) \
			  tests/unit/ids_$(1).c $(B)/linux-tools/version
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(SELF_CFLAGS) -o $$@ $$< tests/unit/ids_$(1).c \
		tests/lib/oracle.c -lcrypto -lpthread

$(B)/selftests/$(1)_$(2).32: tests/selftests/$(1)_$(2).c $$(SELF_DEPS) \
			     tests/unit/ids_$(1).c $(B)/linux-tools/version
	@mkdir -p $$(@D)
	$$(Q)$$(CC) -m32 $$(SELF_CFLAGS) -o $$@ $$< tests/unit/ids_$(1).c \
		-lpthread
endef

$(foreach a,linux bsd,$(foreach t,$(SELF_$(a)) fail,\
	$(eval $(call self_build,$(a),$(t)))))

SELF_BUILT := $(foreach t,$(SELFTESTS),$(B)/selftests/$(t) $(B)/selftests/$(t).32)
SELF_RUNS := tests/kernel/kernel_api $(SELF_BUILT)

# What finds a stray write or read on the stock kernel.
WATCHFUL := --append "kfence.sample_interval=1 kfence.skip_covered_thresh=100 \
	slab_debug=FZPU"

selftests: modules machine $(SELF_BUILT)
	@$(VM) $(WATCHFUL) -- tests/selftests/run $(SELF_RUNS)

selftests-debug: debug-modules machine $(SELF_BUILT) $(SELF_FAILING)
	@$(VM) --debug --timeout 1800 --append "panic_on_warn=1" -- \
		tests/selftests/run $(SELF_RUNS) $(SELF_FAILING)
