# SPDX-License-Identifier: BSD-2-Clause
#
# The provider for OpenSSL: docs/provider.md.

PROVIDER_TESTS := $(B)/provider/differ $(B)/provider/uses \
		  $(B)/provider/processes $(B)/provider/asked \
		  $(B)/provider/wiped $(B)/provider/confined \
		  $(B)/provider/closefrom $(B)/provider/orders
PROVIDER_ENV := --memory 2G --env OPENSSL_MODULES=$(CURDIR)/$(B)/provider

$(PROVIDER_TESTS): $(B)/provider/%: tests/provider/%.c \
		   $(wildcard tests/provider/*.h) tests/selftests/random.h
	@mkdir -p $(@D)
	$(Q)$(CC) -O1 -g -Wall -Wextra -Werror -o $@ $(filter %.c,$^) \
		-lcrypto -lpthread
$(B)/provider/differ: tests/provider/differ_records.c \
		      tests/provider/differ_keys.c tests/provider/every.c
$(B)/provider/asked: tests/provider/every.c

.PHONY: provider-tests
provider-tests: $(PROVIDER_TESTS)

.PHONY: bench-provider
bench-provider: modules machine provider
	@$(VM) --timeout 3600 --cards 2 $(PROVIDER_ENV) -- bench/provider/run
