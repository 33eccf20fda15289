# SPDX-License-Identifier: BSD-2-Clause
#
# Benches: docs/bench.md says what is measured and how.
#
#	make budgets		instructions against budgets and bench/baseline.txt
#	make budgets UPDATE=1	write bench/baseline.txt anew
#	make bench		throughput over size, beside AF_ALG and OpenSSL

BENCH_WAYS := job devcrypto afalg openssl
BENCH_DEPS := $(wildcard bench/*.[ch] bench/floor/*.h tests/lib/oracle.[ch]) \
	      $(wildcard include/uapi/*/*.h)
BENCH_CFLAGS := -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter \
		-D_GNU_SOURCE -Iinclude/uapi

$(B)/bench/count $(B)/bench/speed: $(B)/bench/%: bench/%.c $(BENCH_DEPS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -o $@ $< $(BENCH_WAYS:%=bench/%.c) \
		tests/lib/oracle.c -lcrypto

budgets: modules machine $(B)/bench/count
	@$(PYTHON) -m pytest -q -p no:cacheprovider bench/test_budgets.py
	@$(PYTHON) bench/budgets $(if $(UPDATE),--update)

bench: modules machine $(B)/bench/speed
	@$(VM) --cpus 1 --timeout 1200 -- $(B)/bench/speed
