# SPDX-License-Identifier: BSD-2-Clause
#
# Programs that others wrote for the old ABIs, from unmodified sources as
# Debian has them, built against the two headers and run on the module.

THIRD := $(B)/thirdparty
THIRD_PACKAGES := openssl wolfssl gnutls28

.PHONY: thirdparty thirdparty-built

# Another make may be at it: what it has made need not be made again.
once = mkdir -p $(THIRD); flock $(THIRD)/$(1).lock sh -ec '\
	[ -e $@ ] && [ -z "$$(find $^ -newer $@)" ] || { $(2); touch $@; }'

# fetched anew only when it is not there
$(THIRD_PACKAGES:%=$(THIRD)/%.fetched): tests/thirdparty/fetch
	@$(call once,fetch,tests/thirdparty/fetch $(@F:.fetched=))

$(THIRD)/%.built: $(THIRD)/%.fetched $(wildcard tests/thirdparty/*.c) \
		  tests/thirdparty/build tests/thirdparty/before_info/crypto/cryptodev.h \
		  $(wildcard include/uapi/*/*.h include/uapi/*/*/*.h)
	@$(call once,$*,echo "thirdparty: building $*"; \
		CC="$(CC)" tests/thirdparty/build $*)

# of the same sources
$(THIRD)/openssl-tests.built: $(THIRD)/openssl.built tests/thirdparty/build
	@$(call once,openssl-tests,echo "thirdparty: building openssl-tests"; \
		tests/thirdparty/build openssl-tests)

thirdparty-built: $(THIRD_PACKAGES:%=$(THIRD)/%.built)

# A real file, 16 MiB unless THIRD_MIB says otherwise: the kernel, its modules.
THIRD_MIB ?= 16

$(THIRD)/file: $(B)/stock/release
	@mkdir -p $(@D)
	@find $(B)/kernel -type f | sort | xargs cat 2>/dev/null | \
		head -c $(THIRD_MIB)M > $@
	@[ $$(stat -c %s $@) = $$(($(THIRD_MIB) << 20)) ] || { rm $@; exit 1; }

thirdparty: modules machine $(THIRD_PACKAGES:%=$(THIRD)/%.built) $(THIRD)/file
	@$(VM) --memory 2G --append kfence.sample_interval=1 -- \
		tests/thirdparty/run $(THIRD)/file
