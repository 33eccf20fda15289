# SPDX-License-Identifier: BSD-2-Clause
#
# libocf: sessions, queues and public keys.

LIBOCF_TESTS := $(B)/libocf/crypt $(B)/libocf/queue

$(LIBOCF_TESTS): $(B)/libocf/%: tests/libocf/%.c tests/libocf/libocf.h \
		 tests/selftests/dev.h lib $(B)/linux-tools/version
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_CFLAGS) -Ilib/include -o $@ $< -L$(LIB) -locf \
		-lpthread -Wl,-rpath,'$$ORIGIN/../lib'

.PHONY: calls-check test-libocf
calls-check: lib
	@tests/libocf/calls.py

check: calls-check

test-libocf: modules machine calls-check $(LIBOCF_TESTS)
	@tests/libocf/abi.py
	@scripts/wheel $(B)/libocf >$(B)/libocf/wheel.log 2>&1 || \
		{ cat $(B)/libocf/wheel.log; exit 1; }
	@$(VM) $(WATCHFUL) -- tests/selftests/run $(LIBOCF_TESTS)
	@$(VM) $(WATCHFUL) --memory 2G -- sh -ec ' \
		insmod $(B)/stock/src/kernel/consumers/socrypt/ocf_socrypt.ko; \
		PYTHONWARNINGS=ignore LD_LIBRARY_PATH=$(CURDIR)/$(LIB) \
		PYTHONPATH=$$(echo $(B)/libocf/*.whl) tests/libocf/differ.py'
