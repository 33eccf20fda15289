# SPDX-License-Identifier: BSD-2-Clause
#
# Programs that others wrote for the old ABIs, from unmodified sources as
# Debian has them, built against the two headers and run on the module.

THIRD := $(B)/thirdparty
THIRD_PACKAGES := openssl wolfssl gnutls28

.PHONY: thirdparty-built

$(THIRD)/%.fetched: tests/thirdparty/fetch | deps
	@tests/thirdparty/fetch $*
	@touch $@

THIRD_DEPS := $(wildcard tests/thirdparty/*.c tests/thirdparty/*/*/*.h) \
	      tests/thirdparty/build \
	      $(wildcard include/uapi/*/*.h include/uapi/*/*/*.h)

$(THIRD)/%.built: $(THIRD)/%.fetched $(THIRD_DEPS)
	@CC="$(CC)" tests/thirdparty/build $*
	@touch $@

# of the same sources
$(THIRD)/openssl-tests.built: $(THIRD)/openssl.fetched $(THIRD_DEPS)
	@CC="$(CC)" tests/thirdparty/build openssl-tests
	@touch $@

thirdparty-built: $(THIRD_PACKAGES:%=$(THIRD)/%.built)

# A real file, 4 MiB unless THIRD_MIB says otherwise: the kernel, its modules.
THIRD_MIB ?= 4

$(THIRD)/file: $(B)/stock/release
	@mkdir -p $(@D)
	@find $(B)/kernel/ -type f | sort | xargs cat 2>/dev/null | \
		head -c $(THIRD_MIB)M > $@
	@[ $$(stat -c %s $@) = $$(($(THIRD_MIB) << 20)) ] || { rm $@; exit 1; }

