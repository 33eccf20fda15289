# SPDX-License-Identifier: BSD-2-Clause
#
# The choice of cards, on cards in software: docs/bench.md.
#
#	make test-sim		the cards are what docs/sim.md says
#	make bench-sched	the figures, as tables and build/sched.json

.PHONY: test-sim bench-sched
test-sim: modules machine
	@$(VM) --icount --timeout 1800 -- tests/selftests/sim

$(B)/bench/sched: bench/sched/sched.c $(wildcard include/uapi/*/*.h)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -o $@ $< -luring -lpthread

bench-sched: modules machine $(B)/bench/sched
	@bash -o pipefail -c '$(VM) --icount --timeout 3600 -- \
		bench/sched/run $(FIGURES) | tee $(B)/sched.json | \
		bench/sched/table'
