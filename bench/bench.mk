# SPDX-License-Identifier: BSD-2-Clause
#
# Benches: docs/bench.md says what is measured and how.
#
#	make budgets		instructions against budgets and bench/baseline.txt
#	make budgets UPDATE=1	write bench/baseline.txt, docs/bench.md
#	make bench-sched	the choice of cards, see bench/sched/sched.mk
#	make bench		throughput over size, by ocfspeed(8): beside AF_ALG
#				and OpenSSL
#	make bench-route	the choice of devices, simulated
#	make bench-ablate	what each constant of the costs is worth there
#	make bench-public-key	the CPU, a real card, simulated ones
#	make bench-choice	the choice between the CPU and a real card
#	make bench-copies	what each way copies of an operation's data
#	make bench-socket	instructions per byte sent, beside kTLS
#	make bench-users	dm-crypt and ESP on four cards, and beside the
#				kernel's own implementations
#	make bench-ipsec	files by HTTP, HTTPS, and HTTP over IPsec

BENCH_WAYS := bench/rounds.c bench/native.c \
	      $(addprefix tools/speed/,data.c linux.c afalg.c openssl.c) \
	      tools/lib/oracle.c tools/lib/ids_linux.c
BENCH_DEPS := $(wildcard bench/*.[ch] bench/floor/*.h tools/*/*.[ch]) \
	      $(wildcard include/uapi/*/*.h)
BENCH_CFLAGS := -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter \
		-D_GNU_SOURCE -Iinclude/uapi

$(B)/bench/count: bench/count.c $(BENCH_DEPS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -o $@ $< $(BENCH_WAYS) -luring -lcrypto

budgets: modules machine $(B)/bench/count
	@$(PYTHON) -m pytest -q -p no:cacheprovider bench/test_budgets.py
	@$(PYTHON) bench/budgets $(if $(UPDATE),--update)

$(B)/bench/choice: bench/choice.c $(BENCH_DEPS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -o $@ $< bench/rounds.c -lpthread

bench-choice: modules machine $(B)/bench/choice
	@$(VM) --cards 1 --timeout 1200 --module-args ocf_virtio:patience=5000 \
		-- $(B)/bench/choice

bench: modules machine tools
	@$(VM) --cpus 1 --timeout 1200 -- tools/ocfspeed --size \
		64,256,1024,4096,16384,65536,262144,1048576

$(B)/bench/route: bench/route/sim.c kernel/core/sched/cost.c kernel/core/sched/cost.h \
		  tests/unit/include/shim.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -Wno-sign-compare -Itests/unit/include -o $@ \
		$< kernel/core/sched/cost.c -lm

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

$(B)/bench/users/flow: bench/users/flow.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -o $@ $<

bench-users: modules machine $(B)/bench/users/flow
	@$(VM) --icount --timeout 1800 -- bench/users/run $(B)/bench/users/flow \
		$(FIGURES)

bench-ipsec: modules machine $(B)/examples/https
	@$(VM) --icount --timeout 1800 -- bench/users/http \
		$(B)/nginx/usr/sbin/nginx $(B)/examples/https

.PHONY: bench-route bench-ablate bench-choice bench-copies bench-public-key \
	bench-socket bench-users bench-ipsec
bench-public-key: modules machine
	@$(VM) --cards 1 --timeout 1200 -- bench/public_key rates
	@$(VM) --cards 1 --cpus 1 --timeout 1200 -- bench/public_key shares

bench-copies: modules machine tools
	@$(VM) --icount -- bench/copies/run

bench-route: $(B)/bench/route
	@$<

bench-ablate:
	@bench/ablate $(CONSTANTS)
