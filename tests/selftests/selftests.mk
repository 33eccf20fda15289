# SPDX-License-Identifier: BSD-2-Clause
#
# Selftests of /dev/crypto: programs for the test machine, one per behaviour.
# Those named after an ABI exist twice, the second time as 32-bit programs; the
# differential ones do not, for want of a 32-bit OpenSSL.

SELF_linux := session crypt auth async
SELF_bsd := session crypt
SELF_differ_linux := differ differ_auth
SELF_differ_bsd := differ
SELFTESTS := $(SELF_linux:%=linux_%) $(SELF_bsd:%=bsd_%)
DIFFERS := $(SELF_differ_linux:%=linux_%) $(SELF_differ_bsd:%=bsd_%)
# Not of one ABI; what they are made of beside the file of their name.  Only the
# first hands over what looks different to a 32-bit program.
SELF_others := hostile sharing quota ending card unload
# io_uring: there is no 32-bit liburing either.
SELF64_hostile := tests/selftests/hostile_uring.c -luring
SELF64_quota := -luring
SELF_hostile := $(patsubst %,tests/selftests/hostile_%.c,linux bsd native)

# These fail allocations, which only the debug kernel can.
SELF_FAILING := $(B)/selftests/linux_fail $(B)/selftests/bsd_fail \
		$(B)/selftests/native_fail

SELF_CFLAGS := -std=gnu11 -g -O1 $(TEST_WARN) -Iinclude/uapi $(HARNESS)
SELF_DEPS := $(wildcard tests/selftests/*.h tests/lib/*.[ch]) \
	     $(wildcard include/uapi/*/*.h tools/lib/*.[ch])

define self_build
$(B)/selftests/$(1)_$(2): tests/selftests/$(1)_$(2).c $$(SELF_DEPS) \
			  tools/lib/ids_$(1).c $(B)/linux-tools/version
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(SELF_CFLAGS) -o $$@ $$< tools/lib/ids_$(1).c \
		tools/lib/oracle.c -lcrypto -lpthread

$(B)/selftests/$(1)_$(2).32: tests/selftests/$(1)_$(2).c $$(SELF_DEPS) \
			     tools/lib/ids_$(1).c $(B)/linux-tools/version
	@mkdir -p $$(@D)
	$$(Q)$$(CC) -m32 $$(SELF_CFLAGS) -o $$@ $$< tools/lib/ids_$(1).c \
		-lpthread
endef

define differ_build
$(B)/selftests/$(1)_$(2): tests/selftests/$(1)_$(2).c $$(SELF_DEPS) \
			  tests/selftests/differ.c tools/lib/ids_$(1).c \
			  $(B)/linux-tools/version
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(SELF_CFLAGS) -o $$@ $$< tests/selftests/differ.c \
		tools/lib/ids_$(1).c tools/lib/oracle.c -lcrypto
endef

define other_build
$(B)/selftests/$(1)$(2): tests/selftests/$(1).c $$(SELF_$(1)) $$(SELF_DEPS) \
			 tools/lib/ids_linux.c tools/lib/ids_bsd.c \
			 $(B)/linux-tools/version
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $(if $(2),-m32) $$(SELF_CFLAGS) -o $$@ $$< $$(SELF_$(1)) \
		tools/lib/ids_linux.c tools/lib/ids_bsd.c -lpthread \
		$(if $(2),,$$(SELF64_$(1)))
endef

$(foreach a,linux bsd,$(foreach t,$(SELF_$(a)) fail,\
	$(eval $(call self_build,$(a),$(t)))))
$(foreach a,linux bsd,$(foreach t,$(SELF_differ_$(a)),\
	$(eval $(call differ_build,$(a),$(t)))))

$(foreach t,$(SELF_others),$(eval $(call other_build,$(t),)))
$(eval $(call other_build,hostile,.32))

# The native interface, whose structures are the same for 32-bit programs
SELF_native := session fields source card ring fault public fips differ ending secrets workers
NATIVES := $(SELF_native:%=$(B)/selftests/native_%)

$(NATIVES) $(B)/selftests/native_fail: $(B)/selftests/%: tests/selftests/%.c $(SELF_DEPS) \
			      tests/selftests/differ.c $(B)/linux-tools/version
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_CFLAGS) -o $@ $< $(NATIVE_WITH) -luring -lpthread
$(B)/selftests/native_differ: NATIVE_WITH := tests/selftests/differ.c \
	tools/lib/oracle.c -lcrypto -lz
$(B)/selftests/native_fips: NATIVE_WITH := tests/selftests/differ.c \
	tools/lib/oracle.c -lcrypto

# unload is the last: it leaves everything as if loaded just now
SELF_BUILT := $(foreach t,$(SELFTESTS),$(B)/selftests/$(t) $(B)/selftests/$(t).32) \
	      $(DIFFERS:%=$(B)/selftests/%) $(NATIVES) \
	      $(B)/selftests/hostile.32 $(SELF_others:%=$(B)/selftests/%)
