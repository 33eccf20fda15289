# SPDX-License-Identifier: BSD-2-Clause
#
# The provider for OpenSSL: docs/provider.md.

PROVIDER_TESTS := $(B)/provider/differ $(B)/provider/uses \
		  $(B)/provider/processes
PROVIDER_ENV := --memory 2G --env OPENSSL_MODULES=$(CURDIR)/$(B)/provider
SIM_ADD := /sys/bus/platform/drivers/ocf_sim/add

$(PROVIDER_TESTS): $(B)/provider/%: tests/provider/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O1 -g -Wall -Wextra -Werror -o $@ $< -lcrypto -lpthread

# Without the device, with all in the kernel, and with a card beside the CPU
.PHONY: test-provider
test-provider: modules machine provider $(PROVIDER_TESTS)
	@OPENSSL_MODULES=$(B)/provider valgrind -q --error-exitcode=1 \
		--leak-check=full --errors-for-leak-kinds=definite,indirect \
		$(B)/provider/differ 20
	@OPENSSL_MODULES=$(B)/provider $(B)/provider/uses
	@$(VM) $(WATCHFUL) $(PROVIDER_ENV) --env OCF_LEAST=0 -- \
		sh -ec '$(B)/provider/differ; $(B)/provider/uses; \
		$(B)/provider/processes'
	@$(VM) $(PROVIDER_ENV) -- sh -ec 'echo algs=real public_key=1 \
		> $(SIM_ADD); $(B)/provider/differ; $(B)/provider/uses; \
		$(B)/provider/processes'
	@$(VM) $(WATCHFUL) $(PROVIDER_ENV) \
		--env NGINX=$(CURDIR)/$(B)/nginx/usr/sbin/nginx -- \
		tests/provider/programs.py

.PHONY: bench-provider
bench-provider: modules machine provider
	@$(VM) --timeout 3600 --cards 2 $(PROVIDER_ENV) -- bench/provider/run
