# SPDX-License-Identifier: BSD-2-Clause
#
# Benches: docs/bench.md says what is measured and how.
#
#	make budgets		instructions against budgets and bench/baseline.txt
#	make budgets UPDATE=1	write bench/baseline.txt anew
#	make bench-sched	the choice of cards, see bench/sched/sched.mk
#	make bench		throughput over size, beside AF_ALG and OpenSSL
#	make bench-route	the choice of devices, simulated
#	make bench-public-key	the CPU, a real card, simulated ones
#	make bench-choice	the choice between the CPU and a real card
#	make bench-socket	instructions per byte sent, beside kTLS

BENCH_WAYS := rounds job devcrypto afalg openssl native
BENCH_DEPS := $(wildcard bench/*.[ch] bench/floor/*.h tests/lib/oracle.[ch]) \
	      $(wildcard include/uapi/*/*.h)
BENCH_CFLAGS := -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter \
		-D_GNU_SOURCE -Iinclude/uapi

$(B)/bench/count $(B)/bench/speed: $(B)/bench/%: bench/%.c $(BENCH_DEPS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -o $@ $< $(BENCH_WAYS:%=bench/%.c) \
		tests/lib/oracle.c -luring -lcrypto

budgets: modules machine $(B)/bench/count
	@$(PYTHON) -m pytest -q -p no:cacheprovider bench/test_budgets.py
	@$(PYTHON) bench/budgets $(if $(UPDATE),--update)

$(B)/bench/choice: bench/choice.c $(BENCH_DEPS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -o $@ $< bench/rounds.c -lpthread

bench-choice: modules machine $(B)/bench/choice
	@$(VM) --cards 1 --timeout 1200 --module-args ocf_virtio:patience=5000 \
		-- $(B)/bench/choice

bench: modules machine $(B)/bench/speed
	@$(VM) --cpus 1 --timeout 1200 -- $(B)/bench/speed

$(B)/bench/route: bench/route/sim.c kernel/core/route.c kernel/core/route.h \
		  tests/unit/include/shim.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -Wno-sign-compare -Itests/unit/include -o $@ \
		$< kernel/core/route.c -lm

SOCKET_BENCHES := $(addprefix $(B)/bench/socket/,copies file many small)

$(SOCKET_BENCHES): $(B)/bench/socket/%: bench/socket/%.c bench/socket/link.c \
		bench/socket/way.c bench/socket/way.h tests/lib/tcp.h lib \
		$(wildcard include/uapi/*/*.h)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -Wno-deprecated-declarations -o $@ \
		$(filter %.c,$^) -Ilib/include -L$(LIB) -locf-openssl -locf \
		-lssl -lcrypto -Wl,-rpath,'$$ORIGIN/../../lib'

bench-socket: modules machine $(SOCKET_BENCHES)
	@$(VM) --icount -- bench/socket/run $(B)

.PHONY: bench-route bench-choice bench-public-key bench-socket
bench-public-key: modules machine
	@$(VM) --cards 1 --timeout 1200 -- bench/public_key rates
	@$(VM) --cards 1 --cpus 1 --timeout 1200 -- bench/public_key shares

bench-route: $(B)/bench/route
	@$<
