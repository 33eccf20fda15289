# SPDX-License-Identifier: BSD-2-Clause
#
# The provider for OpenSSL: docs/provider.md.

PROVIDER_TESTS := $(B)/provider/differ $(B)/provider/uses \
		  $(B)/provider/processes $(B)/provider/asked \
		  $(B)/provider/wiped
PROVIDER_ENV := --memory 2G --env OPENSSL_MODULES=$(CURDIR)/$(B)/provider
# A card that has what it can do, although it is simulated by the CPU beside it;
# and then the CPU does none of it
CARD_ADD := echo algs=real public_key=1 patience=60000 > \
	/sys/bus/platform/drivers/ocf_sim/add; \
	echo 10000 > /sys/class/ocf/cryptosoft0/weight; \
	echo 0 > /sys/module/ocf/parameters/recheck
CARD_ALONE := echo aes-cbc > /sys/class/ocf/cryptosoft0/forbid
CARD := /sys/class/ocf/sim0

$(PROVIDER_TESTS): $(B)/provider/%: tests/provider/%.c \
		   $(wildcard tests/provider/*.h)
	@mkdir -p $(@D)
	$(Q)$(CC) -O1 -g -Wall -Wextra -Werror -o $@ $(filter %.c,$^) \
		-lcrypto -lpthread
$(B)/provider/differ: tests/provider/differ_records.c \
		      tests/provider/differ_keys.c tests/provider/every.c
$(B)/provider/asked: tests/provider/every.c

LEAKS := valgrind -q --error-exitcode=1 --leak-check=full \
	 --errors-for-leak-kinds=definite,indirect
# What an ioctl() writes, valgrind does not know to be written, nor what
# OpenSSL's GMAC does.
LEAKS_ONLY := $(LEAKS) --undef-value-errors=no

# Without the device, with all in the kernel, and with a card beside the CPU
.PHONY: test-provider
test-provider: modules machine provider $(PROVIDER_TESTS)
	@OPENSSL_MODULES=$(B)/provider $(LEAKS) $(B)/provider/differ 20
	@OPENSSL_MODULES=$(B)/provider $(LEAKS_ONLY) $(B)/provider/uses
	@OPENSSL_MODULES=$(B)/provider $(B)/provider/wiped
	@$(VM) $(PROVIDER_ENV) --env OCF_LEAST=0 -- \
		$(LEAKS_ONLY) $(B)/provider/processes
	@$(VM) $(WATCHFUL) $(PROVIDER_ENV) --env OCF_LEAST=0 -- \
		sh -ec '$(B)/provider/asked; $(B)/provider/wiped; \
		$(B)/provider/differ; $(B)/provider/differ 30 job; \
		$(B)/provider/uses; $(B)/provider/processes'
	@$(VM) $(PROVIDER_ENV) --env OCF_LEAST=1024 -- $(B)/provider/uses
	@$(VM) $(PROVIDER_ENV) -- sh -ec '$(CARD_ADD); \
		before=$$(grep ^operations $(CARD)/counters); \
		$(B)/provider/differ; $(B)/provider/uses; \
		test "$$before" != "$$(grep ^operations $(CARD)/counters)"; \
		$(CARD_ALONE); $(B)/provider/processes; \
		echo 1000000000 > $(CARD)/device/latency_ns; \
		$(B)/provider/processes slow'
	@$(VM) --cards 2 $(PROVIDER_ENV) -- tests/provider/handshakes
	@$(VM) $(WATCHFUL) $(PROVIDER_ENV) \
		--env NGINX=$(CURDIR)/$(B)/nginx/usr/sbin/nginx -- \
		tests/provider/programs.py

# All of them under valgrind, with all in the kernel: five minutes
.PHONY: valgrind-provider
valgrind-provider: modules machine provider $(PROVIDER_TESTS)
	@$(VM) --timeout 1800 $(PROVIDER_ENV) --env OCF_LEAST=0 -- \
		sh -ec '$(LEAKS_ONLY) $(B)/provider/differ 10; \
		$(LEAKS_ONLY) $(B)/provider/uses; \
		$(LEAKS_ONLY) $(B)/provider/processes'

# OpenSSL's own tests: all that goes to the kernel by the kernel, and without the
# device all there is.  Then ours, on newer OpenSSLs.
OPENSSL_TESTS := $(B)/thirdparty/openssl-tests
RECIPES := test_evp test_evp_extra test_mac test_hmac test_cmac test_aesgcm \
	   test_bio_enc test_rsapss test_enc test_dgst test_rsa test_ec test_dh \
	   test_req test_pkeyutl test_rand test_ssl_old test_sslapi

.PHONY: test-openssl
test-openssl: modules machine provider $(OPENSSL_TESTS).built
	@JOBS=$(JOBS) tests/provider/recipes $(OPENSSL_TESTS)
	@$(VM) --memory 2G --env OCF_LEAST=0 -- \
		tests/provider/recipes $(OPENSSL_TESTS) $(RECIPES)
	@for v in 3.5=~300.5 4.0=~400.0; do \
		dir=$(CURDIR)/$(B)/openssl-$${v%=*}; \
		tests/provider/newer "$${v#*=}" $$dir || exit; \
		LD_LIBRARY_PATH=$$dir/lib OPENSSL_MODULES=$$dir $$dir/bin/differ || exit; \
		$(VM) --memory 2G --env LD_LIBRARY_PATH=$$dir/lib \
			--env OPENSSL_MODULES=$$dir --env OCF_LEAST=0 -- \
			sh -ec "$$dir/bin/differ; $$dir/bin/uses; \
			$$dir/bin/processes; $$dir/bin/pipes" || exit; \
	done

.PHONY: bench-provider
bench-provider: modules machine provider
	@$(VM) --timeout 3600 --cards 2 $(PROVIDER_ENV) -- bench/provider/run
